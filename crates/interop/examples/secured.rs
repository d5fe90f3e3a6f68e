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
use castile::mime::Part;
use castile::soap::{Mtom, Version, addressing};
use castile::wss::message::{
    AssertionPolicy, CertificateForm, ClientSecurity, OutgoingSecurity, Part as SignedPart, PasswordForm, Policy,
    SecurityLayer, UsernameToken,
};
use castile::wss::{Algorithms, Certificate, DigestAlgorithm, PrivateKey, Secret, SignatureAlgorithm, Trust};
use castile::{Call, CallError, ClientOptions, Detail, Fault, Request, Response};
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
    assertion: Option<Confirmation>,
}

/// How the subject of an assertion is confirmed.
#[derive(Clone, Copy)]
enum Confirmation {
    HolderOfKey,
    SenderVouches,
    Bearer,
}

#[derive(Clone, Copy)]
enum Key {
    Rsa,
    RsaPss,
    Ec,
    Ed25519,
}

const SCENARIOS: [Scenario; 25] = [
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
    Scenario { password: Some(PasswordForm::Text), ..unsigned("text") },
    Scenario { password: Some(PasswordForm::Digest), ..unsigned("digest") },
    Scenario { password: Some(PasswordForm::Digest), ..signed("both", Key::Rsa, CertificateForm::Token) },
    Scenario { password: Some(PasswordForm::Digest), ..signed(UNSIGNED_USER, Key::Rsa, CertificateForm::Token) },
    asserted("holder", Confirmation::HolderOfKey),
    asserted("saml1", Confirmation::HolderOfKey),
    asserted("vouches", Confirmation::SenderVouches),
    asserted("bearer", Confirmation::Bearer),
    signed("attached-text", Key::Rsa, CertificateForm::Token),
    signed("attached-xml", Key::Rsa, CertificateForm::Token),
    signed("attached-bytes", Key::Rsa, CertificateForm::Token),
];

/// What is attached in a scenario, and its media type. The canonical form of the text and of the document is another one.
const ATTACHED: [(&str, &str, &[u8]); 3] = [
    ("attached-text", "text/plain; charset=utf-8", b"A note of Ada \nin two lines\n"),
    (
        "attached-xml",
        "text/xml",
        b"<?xml version=\"1.0\"?>\n<note to='b' about=\"a\"><!-- none -->A note of Ada <empty/></note>\n",
    ),
    ("attached-bytes", "application/octet-stream", b"A photo of Ada \0\r\n\n\xff"),
];
/// How many bytes attachments may have together.
const ATTACHED_BYTES: usize = 10_000;

/// The scenario whose signature doesn't cover the user name.
const UNSIGNED_USER: &str = "beside";

/// The scenario whose requests are signed with SHA-1.
const LEGACY: &str = "sha1";

/// The scenario whose messages have signed header blocks of WS-Addressing.
const ADDRESSING: &str = "addressing";

/// The scenario whose messages have a photo as a part.
const MTOM: &str = "mtom";

/// Who makes assertions, and whom they are for.
const ISSUER: &str = "https://sts.example";
const AUDIENCE: &str = "urn:castile:secured";

const fn unsigned(name: &'static str) -> Scenario {
    Scenario { name, signature: None, password: None, assertion: None }
}

const fn signed(name: &'static str, key: Key, form: CertificateForm) -> Scenario {
    Scenario { signature: Some((key, form)), ..unsigned(name) }
}

const fn asserted(name: &'static str, confirmation: Confirmation) -> Scenario {
    Scenario { assertion: Some(confirmation), ..signed(name, Key::Rsa, CertificateForm::Token) }
}

impl Scenario {
    fn has_signed_request(&self) -> bool {
        self.signature.is_some() && !matches!(self.assertion, Some(Confirmation::Bearer))
    }
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
    /// Sends the attachments back.
    async fn order(&self, request: Request<Order>) -> Result<Response<OrderResponse>, Fault<OrderFault>> {
        let (Order { customer, quantity, note, photo }, attachments) = request.into_parts();
        let mut response = Response::from(OrderResponse { customer, number: 7, note, photo });
        for (head, content) in attachments.collect(ATTACHED_BYTES).await? {
            response =
                response.with_attachment(Part::attachment(head.content_type().unwrap_or("text/plain"), content)?);
        }
        match quantity {
            ..=100 => Ok(response),
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
            let security = caller.security("client", PASSWORD, "issuer")?;
            caller.tell("order", caller.right(caller.order("plain", security.clone(), 2).await?));
            caller.tell("fault", sold_out(caller.order("plain", security.clone(), 200).await?));
            if scenario.signature.is_some() {
                caller.tell("altered answer", refused(caller.order("altered-answer", security.clone(), 2).await?));
            }
            if scenario.has_signed_request() {
                caller.tell("altered request", refused(caller.order("altered-request", security.clone(), 2).await?));
                let stranger = caller.security("stranger", PASSWORD, "issuer")?;
                caller.tell("stranger", refused(caller.order("refused", stranger, 2).await?));
            }
            if scenario.assertion.is_some() {
                let altered = caller.order("altered-assertion", security.clone(), 2).await?;
                caller.tell("altered assertion", refused(altered));
                let another = caller.security("client", PASSWORD, "stranger")?;
                caller.tell("another issuer", refused(caller.order("refused", another, 2).await?));
            }
            // Nothing in the other messages is different each time.
            if scenario.has_signed_request() || matches!(scenario.password, Some(PasswordForm::Digest)) {
                caller.tell("sent twice", refused(caller.order("twice", security, 2).await?));
            }
            if scenario.password.is_some() {
                let wrong = caller.security("client", "wrong horse", "issuer")?;
                caller.tell("wrong password", refused(caller.order("refused", wrong, 2).await?));
            }
        }
    }
    Ok(())
}

/// An answer, and the content of its attachments.
type Outcome = anyhow::Result<(OrderResponse, Vec<Vec<u8>>)>;

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

    /// Signs with the key of this name, and sends an assertion by this issuer.
    fn security(&self, name: &str, password: &str, issuer: &str) -> anyhow::Result<ClientSecurity> {
        let Scenario { signature, password: form, assertion, .. } = self.scenario;
        let mut requests = match assertion {
            Some(Confirmation::Bearer) => OutgoingSecurity::new().with_timestamp(),
            _ => self.store.signing(self.scenario, name)?,
        };
        if assertion.is_some() {
            requests = requests.with_assertion(self.store.assertion(self.scenario, issuer)?);
        }
        if let Some(Confirmation::HolderOfKey) = assertion {
            requests = requests.with_key_of_subject();
        }
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
        let mut call = client.order(&order);
        if let Some((_, media_type, content)) = self.attached() {
            call = call.attach(Part::attachment(media_type, content.to_vec())?);
        }
        Ok(answer(call).await)
    }

    fn attached(&self) -> Option<&'static (&'static str, &'static str, &'static [u8])> {
        ATTACHED.iter().find(|(scenario, ..)| *scenario == self.scenario.name)
    }

    fn right(&self, outcome: Outcome) -> String {
        match outcome {
            Ok((OrderResponse { customer, number: 7, note, photo }, attached))
                if customer == "Ada"
                    && note == self.note
                    && photo == self.photo()
                    && attached.iter().eq(self.attached().map(|(.., content)| content)) =>
            {
                String::new()
            }
            Ok(other) => format!("answered {other:?}"),
            Err(error) => format!("{error:#}"),
        }
    }

    fn tell(&self, case: &str, wrong: String) {
        let wrong = wrong.replace(['\n', '\t'], " ");
        println!("{}\t{}: {case}\t{wrong}", self.version, self.scenario.name);
    }
}

async fn answer(call: Call<'_, Order, OrderResponse, OrderFault>) -> Outcome {
    let (message, attachments) = call.send().await?.into_parts();
    let attached = attachments.collect(ATTACHED_BYTES).await?;
    Ok((message, attached.into_iter().map(|(_, content)| content.into()).collect()))
}

fn sold_out(outcome: Outcome) -> String {
    let error = match outcome {
        Ok(other) => return format!("answered {other:?}"),
        Err(error) => error,
    };
    match error.downcast_ref::<CallError<OrderFault>>() {
        Some(CallError::Fault { fault, .. }) => match &fault.detail {
            Detail::Declared(OrderFault::SoldOut(SoldOut { left: 100 })) => String::new(),
            other => format!("a fault with the detail {other:?}"),
        },
        _ => format!("{error:#}"),
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
            UNSIGNED_USER => security.with_signed([SignedPart::Body, SignedPart::Timestamp]),
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
            UNSIGNED_USER => policy.with_signed([SignedPart::Body, SignedPart::Timestamp]),
            LEGACY => policy.with_algorithms(Algorithms::default().with_legacy()),
            _ => policy,
        })
    }

    /// Accepts assertions by the issuer.
    fn issuers(&self, confirmation: Confirmation) -> anyhow::Result<AssertionPolicy> {
        let issuer = certificate(&self.path("issuer", Key::Rsa).with_extension("pem"))?;
        let issuers =
            AssertionPolicy::new().with_issuer(ISSUER, Trust::new().with_certificate(issuer)).with_audience(AUDIENCE);
        Ok(match confirmation {
            Confirmation::HolderOfKey => issuers,
            Confirmation::Bearer => issuers.with_bearer(),
            Confirmation::SenderVouches => {
                let authority = certificate(&self.0.join("authority.pem"))?;
                issuers.with_sender_vouches(Trust::new().with_authority(authority))
            }
        })
    }

    /// Reads the assertion that a partner has made for the client.
    fn assertion(&self, scenario: &Scenario, issuer: &str) -> anyhow::Result<Vec<u8>> {
        read(&self.0.join(format!("{}-{issuer}.xml", scenario.name)))
    }

    /// Requires what messages of the scenario have.
    fn policy(&self, scenario: &Scenario, name: &str) -> anyhow::Result<Policy> {
        if let Some(confirmation) = scenario.assertion {
            return Ok(Policy::asserted_by(self.issuers(confirmation)?));
        }
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
