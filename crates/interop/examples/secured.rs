//! Castile in the tests of `tests/interop/security`, as a server and as a client.
//!
//! ```text
//! secured serve FOLDER           prints `listening on http://ADDRESS` and serves until it is killed
//! secured call FOLDER SCENARIO,… URL [NOTE]
//!                                calls a service, and prints a line for each case
//! ```
//!
//! FOLDER has the keys and certificates, which `tests/interop/security/run` makes. That script also defines the URLs and the lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use castile::datatypes::Base64Binary;
use castile::http::server::{Routes, Server};
use castile::soap::{Mtom, Version, addressing};
use castile::wss::message::{
    CertificateForm, ClientSecurity, OutgoingSecurity, Part, PasswordForm, Policy, SecurityLayer, UsernameToken,
};
use castile::wss::{Algorithms, Certificate, DigestAlgorithm, PrivateKey, Secret, SignatureAlgorithm, Trust};
use castile::{CallError, ClientOptions, Detail, Fault, Request, Response};
use tokio::net::TcpListener;

mod contract {
    castile::include_contract!("orders");
}
use contract::*;

const USER: &str = "bookkeeper";
const PASSWORD: &str = "secret-password";
/// What the canonical form of a text may differ in. The answer must have the same note.
const NOTE: &str = " \u{e9} \u{20ac} \u{1d11e} <&> \"'\t|\r\n ";
const VERSIONS: [(&str, Version); 2] = [("11", Version::Soap11), ("12", Version::Soap12)];

/// What messages have.
struct Scenario {
    name: &'static str,
    signature: Option<(Key, CertificateForm)>,
    password: Option<PasswordForm>,
}

#[derive(Clone, Copy)]
enum Key {
    Rsa,
    RsaPss,
    Ec,
    Ed25519,
}

const SCENARIOS: [Scenario; 18] = [
    signed("token", Key::Rsa, CertificateForm::Token),
    signed("issuer", Key::Rsa, CertificateForm::IssuerSerial),
    signed("identifier", Key::Rsa, CertificateForm::KeyIdentifier),
    signed("thumbprint", Key::Rsa, CertificateForm::Thumbprint),
    signed("str", Key::Rsa, CertificateForm::Token),
    signed("path", Key::Rsa, CertificateForm::Token),
    signed("embedded", Key::Rsa, CertificateForm::Token),
    signed("inclusive", Key::Rsa, CertificateForm::Token),
    signed(LEGACY, Key::Rsa, CertificateForm::Token),
    signed(ADDRESSING, Key::Rsa, CertificateForm::Token),
    signed(MTOM, Key::Rsa, CertificateForm::Token),
    signed("pss", Key::RsaPss, CertificateForm::Token),
    signed("ecdsa", Key::Ec, CertificateForm::Token),
    signed("ed25519", Key::Ed25519, CertificateForm::Token),
    Scenario { name: "text", signature: None, password: Some(PasswordForm::Text) },
    Scenario { name: "digest", signature: None, password: Some(PasswordForm::Digest) },
    Scenario {
        name: "both",
        signature: Some((Key::Rsa, CertificateForm::Token)),
        password: Some(PasswordForm::Digest),
    },
    Scenario {
        name: UNSIGNED_USER,
        signature: Some((Key::Rsa, CertificateForm::Token)),
        password: Some(PasswordForm::Digest),
    },
];

/// The scenario whose signature doesn't cover the user name.
const UNSIGNED_USER: &str = "beside";

/// The scenario whose requests are signed with SHA-1.
const LEGACY: &str = "sha1";

/// The scenario whose messages have signed header blocks of WS-Addressing.
const ADDRESSING: &str = "addressing";

/// The scenario whose messages have a photo as a part.
const MTOM: &str = "mtom";

const fn signed(name: &'static str, key: Key, form: CertificateForm) -> Scenario {
    Scenario { name, signature: Some((key, form)), password: None }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", folder] => serve(&Store(folder.into())).await,
        ["call", folder, scenarios, url] => call(&Store(folder.into()), scenarios, url, NOTE).await,
        ["call", folder, scenarios, url, note] => call(&Store(folder.into()), scenarios, url, note).await,
        _ => bail!("usage: secured serve FOLDER | call FOLDER SCENARIO,… URL [NOTE]"),
    }
}

async fn serve(store: &Store) -> anyhow::Result<()> {
    let mut routes = Routes::new();
    for scenario in &SCENARIOS {
        for (version, _) in VERSIONS {
            let path = format!("/{}/{version}", scenario.name);
            let place = path.clone();
            let mut layer = SecurityLayer::new(store.policy(scenario, "client")?)
                .on_refusal(move |error| eprintln!("{place}: refused: {error}"));
            // A service that checks passwords has nothing to sign with.
            let reply = match scenario.signature {
                Some(_) => store.signing(scenario, "server")?,
                None => OutgoingSecurity::new().with_timestamp(),
            };
            layer = layer.with_reply_security(reply);
            routes = routes.route(&path, OrdersServer::new(Shop).layer(layer));
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.context("can't listen on 127.0.0.1")?;
    println!("listening on http://{}", listener.local_addr()?);
    let _ = Server::new().serve(listener, routes, std::future::pending()).await;
    Ok(())
}

/// A shop that sells at most 100 at once.
struct Shop;

impl Orders for Shop {
    async fn order(&self, request: Request<Order>) -> Result<Response<OrderResponse>, Fault<OrderFault>> {
        let Order { customer, quantity, note, photo } = request.into_inner();
        match quantity {
            ..=100 => Ok(OrderResponse { customer, number: 7, note, photo }.into()),
            _ => Err(Fault::sender("order less").with_detail(OrderFault::SoldOut(SoldOut { left: 100 }))),
        }
    }
}

async fn call(store: &Store, scenarios: &str, url: &str, note: &str) -> anyhow::Result<()> {
    for name in scenarios.split(',') {
        let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
        let scenario = scenario.with_context(|| format!("there is no scenario {name}"))?;
        for (version, soap) in VERSIONS {
            let caller = Caller { store, scenario, url, version, soap, note };
            let security = caller.security("client", PASSWORD)?;
            caller.tell("order", caller.right(caller.order("plain", security.clone(), 2).await?));
            caller.tell("fault", sold_out(caller.order("plain", security.clone(), 200).await?));
            if scenario.signature.is_some() {
                caller.tell("altered request", refused(caller.order("altered-request", security.clone(), 2).await?));
                caller.tell("altered answer", refused(caller.order("altered-answer", security.clone(), 2).await?));
                let stranger = caller.security("stranger", PASSWORD)?;
                caller.tell("stranger", refused(caller.order("refused", stranger, 2).await?));
            }
            // Nothing in the other messages is different each time.
            if scenario.name != "text" {
                caller.tell("sent twice", refused(caller.order("twice", security, 2).await?));
            }
            if scenario.password.is_some() {
                let wrong = caller.security("client", "wrong horse")?;
                caller.tell("wrong password", refused(caller.order("refused", wrong, 2).await?));
            }
        }
    }
    Ok(())
}

type Outcome = Result<OrderResponse, CallError<OrderFault>>;

struct Caller<'c> {
    store: &'c Store,
    scenario: &'c Scenario,
    url: &'c str,
    version: &'static str,
    soap: Version,
    note: &'c str,
}

impl Caller<'_> {
    /// Returns what is sent by MTOM.
    fn photo(&self) -> Option<Base64Binary> {
        (self.scenario.name == MTOM).then(|| Base64Binary("A photo of Ada ".repeat(200).into_bytes()))
    }

    fn security(&self, name: &str, password: &str) -> anyhow::Result<ClientSecurity> {
        let Scenario { signature, password: form, .. } = self.scenario;
        let mut requests = self.store.signing(self.scenario, name)?;
        if let Some(form) = form {
            requests = requests.with_username(UsernameToken::new(USER, password).with_form(*form));
        }
        let answers = match signature {
            Some(_) => self.store.signed(self.scenario, "server")?,
            None => Policy::timestamped(),
        };
        Ok(ClientSecurity::new(requests).with_answer_policy(answers))
    }

    /// Orders in one of the ways that the script offers between client and server.
    async fn order(&self, treatment: &str, security: ClientSecurity, quantity: i32) -> anyhow::Result<Outcome> {
        let mut options = ClientOptions::default();
        options.version = Some(self.soap);
        options.security = Some(Arc::new(security));
        if self.scenario.name == ADDRESSING {
            options.addressing = Some(addressing::Version::Recommendation);
        }
        if self.scenario.name == MTOM {
            options.messages.mtom = Mtom::Always(1);
        }
        let url = format!("{}/{treatment}/{}/{}", self.url, self.scenario.name, self.version);
        let client = OrdersClient::new(&url)?.with_options(options);
        let order = Order { customer: "Ada".to_owned(), quantity, note: self.note.to_owned(), photo: self.photo() };
        Ok(client.order(&order).await)
    }

    fn right(&self, outcome: Outcome) -> String {
        match outcome {
            Ok(OrderResponse { customer, number: 7, note, photo })
                if customer == "Ada" && note == self.note && photo == self.photo() =>
            {
                String::new()
            }
            Ok(other) => format!("answered {other:?}"),
            Err(error) => error.to_string(),
        }
    }

    fn tell(&self, case: &str, wrong: String) {
        let wrong = wrong.replace(['\n', '\t'], " ");
        println!("{}\t{}: {case}\t{wrong}", self.version, self.scenario.name);
    }
}

fn sold_out(outcome: Outcome) -> String {
    match outcome {
        Err(CallError::Fault { fault, .. }) => match fault.detail {
            Detail::Declared(OrderFault::SoldOut(SoldOut { left: 100 })) => String::new(),
            other => format!("a fault with the detail {other:?}"),
        },
        Err(error) => error.to_string(),
        Ok(other) => format!("answered {other:?}"),
    }
}

fn refused(outcome: Outcome) -> String {
    match outcome {
        Err(_) => String::new(),
        Ok(other) => format!("accepted: {other:?}"),
    }
}

/// The folder with keys and certificates.
struct Store(PathBuf);

impl Store {
    fn path(&self, name: &str, key: Key) -> PathBuf {
        let kind = match key {
            Key::Rsa | Key::RsaPss => "rsa",
            Key::Ec => "ec",
            Key::Ed25519 => "ed25519",
        };
        self.0.join(format!("{name}-{kind}"))
    }

    /// Signs with the key of this name, if the scenario has a signature.
    fn signing(&self, scenario: &Scenario, name: &str) -> anyhow::Result<OutgoingSecurity> {
        let security = OutgoingSecurity::new().with_timestamp();
        let Some((key, form)) = scenario.signature else { return Ok(security) };
        let path = self.path(name, key);
        let mut private = PrivateKey::from_pem(&read(&path.with_extension("key"))?)?;
        if let Key::RsaPss = key {
            private = private.with_algorithm(SignatureAlgorithm::RsaPss(DigestAlgorithm::Sha256))?;
        }
        let certificate = certificate(&path.with_extension("pem"))?;
        let security = security.with_signature(private).with_certificate(certificate).with_certificate_form(form);
        Ok(match scenario.name {
            UNSIGNED_USER => security.with_signed([Part::Body, Part::Timestamp]),
            _ => security,
        })
    }

    /// Requires a signature by somebody who has a certificate of the authority. That of `name` is known, if it is only described.
    fn signed(&self, scenario: &Scenario, name: &str) -> anyhow::Result<Policy> {
        let mut trust = Trust::new().with_authority(certificate(&self.0.join("authority.pem"))?);
        if let Some((key, _)) = scenario.signature {
            trust = trust.with_intermediate(certificate(&self.path(name, key).with_extension("pem"))?);
        }
        let policy = Policy::signed_by(trust);
        Ok(match scenario.name {
            UNSIGNED_USER => policy.with_signed([Part::Body, Part::Timestamp]),
            LEGACY => policy.with_algorithms(Algorithms::default().with_legacy()),
            _ => policy,
        })
    }

    /// Requires what messages of the scenario have.
    fn policy(&self, scenario: &Scenario, name: &str) -> anyhow::Result<Policy> {
        let passwords = BTreeMap::from([(USER.to_owned(), Secret::new(PASSWORD))]);
        Ok(match (&scenario.signature, &scenario.password) {
            (None, _) => Policy::authenticated_by(passwords),
            (Some(_), None) => self.signed(scenario, name)?,
            (Some(_), Some(_)) => self.signed(scenario, name)?.with_passwords(passwords),
        })
    }
}

fn certificate(path: &Path) -> anyhow::Result<Certificate> {
    Certificate::from_pem(&read(path)?).with_context(|| path.display().to_string())
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("can't read {}", path.display()))
}
