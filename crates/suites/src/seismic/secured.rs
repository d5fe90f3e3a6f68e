//! The seismic service with WS-Security, as it was measured in 2009 and 2010: without security, with a user name, with signatures.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use castile::http::server::Routes;
use castile::wss::message::{ClientSecurity, OutgoingSecurity, Part, Policy, SecurityLayer, UsernameToken};
use castile::wss::{Certificate, PrivateKey, Secret, Trust};
use castile::{ClientOptions, ExpandedName};
use castile_load::{Case, Message, Requests};
use castile_soap::{MessageSecurity, Options, Written};
use futures_util::FutureExt;

use super::catalogue::Query;
use super::document::contract::{QUAKE_INTERFACE_OPERATIONS, QuakeInterfaceClient, QuakeInterfaceServer};
use super::document::{self, Whole};
use super::queries::Set;
use super::{Service, connect, limits, of_xml, options};
use crate::client::Counting;

/// The path of the service that requires a user name.
pub const USERNAME_PATH: &str = "/seismic-username";
/// The path of the service that requires and makes signatures.
pub const SIGN_PATH: &str = "/seismic-sign";

/// The two sets of requests. Their fractions were searched for: with the synthetic catalogue, they find as many quakes as were
/// published, 816 and 176,745.
pub const SETS: [Set; 2] = [
    Set { name: "small-1000", fraction: 0.004_651, queries: 1_000 },
    Set { name: "large-100", fraction: 0.198_962_7, queries: 100 },
];

const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
/// How old a message may be. A bench prepares messages when it starts, and may take hours.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);
const USER: &str = "seismologist";
const PASSWORD: &str = "of the seismic suite";

/// The client's key and certificate. Everybody knows the key.
const CLIENT: Party = Party {
    key: include_bytes!("../../data/security/client.key"),
    certificate: include_bytes!("../../data/security/client.cer"),
};
/// Those of the service.
const SERVICE: Party = Party {
    key: include_bytes!("../../data/security/service.key"),
    certificate: include_bytes!("../../data/security/service.cer"),
};

/// Who signs.
struct Party {
    key: &'static [u8],
    certificate: &'static [u8],
}

impl Party {
    fn certificate(&self) -> Certificate {
        Certificate::from_der(self.certificate).expect("it is a file of this crate")
    }

    /// Returns the security of what it sends: a signature over body and time stamp.
    fn signature(&self) -> OutgoingSecurity {
        OutgoingSecurity::new()
            .with_lifetime(MAX_AGE)
            .with_signature(PrivateKey::from_der(self.key).expect("it is a file of this crate"))
            .with_certificate(self.certificate())
            .with_signed([Part::Body, Part::Timestamp])
    }

    /// Requires that it has signed what is received.
    fn is_required(&self) -> Policy {
        let mut limits_of_signatures = castile::wss::Limits::default();
        limits_of_signatures.document = limits();
        Policy::signed_by(Trust::new().with_certificate(self.certificate()))
            .with_signed([Part::Body, Part::Timestamp])
            .with_max_age(MAX_AGE)
            .with_limits(limits_of_signatures)
    }
}

/// What messages have beside their content.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Security {
    Plain,
    Username,
    Sign,
}

impl Security {
    const ALL: [Security; 3] = [Security::Plain, Security::Username, Security::Sign];

    fn style(self) -> &'static str {
        match self {
            Security::Plain => "plain",
            Security::Username => "username",
            Security::Sign => "sign",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Security::Plain => document::PATH,
            Security::Username => USERNAME_PATH,
            Security::Sign => SIGN_PATH,
        }
    }

    /// Returns the security of a client, which requires that answers fulfil a policy if they are signed.
    fn of_client(self, answers: Policy) -> Option<Arc<dyn MessageSecurity>> {
        let username = || OutgoingSecurity::new().with_username(UsernameToken::new(USER, PASSWORD));
        match self {
            Security::Plain => None,
            Security::Username => Some(Arc::new(ClientSecurity::new(username()))),
            Security::Sign => Some(Arc::new(ClientSecurity::new(CLIENT.signature()).with_answer_policy(answers))),
        }
    }
}

/// Returns the key of the service (PKCS #8), for those who sign as it does, without XML.
pub(crate) fn service_key() -> &'static [u8] {
    SERVICE.key
}

/// Adds the services with security. That without is the suite's of 2004.
pub(crate) fn routes(routes: Routes, quakes: &Service) -> Routes {
    let users = HashMap::from([(USER.to_owned(), Secret::new(PASSWORD))]);
    let username = SecurityLayer::new(Policy::authenticated_by(users));
    let sign = SecurityLayer::new(CLIENT.is_required()).with_reply_security(SERVICE.signature());
    routes
        .route(USERNAME_PATH, QuakeInterfaceServer::new(quakes.clone()).layer(username))
        .route(SIGN_PATH, QuakeInterfaceServer::new(Whole(quakes.clone())).layer(sign))
}

/// Returns the cases with requests that are written beforehand, once for this process. A service accepts a signed one once.
pub fn cases() -> Vec<Case> {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
        by_security(|set, security| {
            // The floor repeats its answers.
            let security = security.of_client(SERVICE.is_required().without_replay_cache());
            Requests::Raw(set.queries().map(|query| prepared(query, security.clone())).collect())
        })
    });
    CASES.clone()
}

/// Returns the cases for clients that secure every query and verify every answer, as the articles' clients did.
pub fn typed() -> Vec<Case> {
    by_security(|set, security| {
        let queries: Vec<Query> = set.queries().collect();
        let count = queries.len();
        let mut options: ClientOptions = options();
        options.security = security.of_client(SERVICE.is_required());
        type Client = QuakeInterfaceClient<Counting>;
        let make = move |url: &str, transport: Counting| {
            Ok(Client::with_transport(url, transport)?.with_options(options.clone()))
        };
        let connect = connect(make, Client::process, queries, document::request, document::judge);
        Requests::Typed { count, connect }
    })
}

fn by_security(requests: impl Fn(Set, Security) -> Requests) -> Vec<Case> {
    let case = |security: Security, set: Set| Case {
        suite: "seismic-security".into(),
        name: set.name.into(),
        style: Some(security.style().into()),
        path: security.path().into(),
        requests: requests(set, security),
    };
    Security::ALL.iter().flat_map(|security| SETS.map(|set| case(*security, set))).collect()
}

/// Returns the message of a query with its security. Its check verifies the answer first.
fn prepared(query: Query, security: Option<Arc<dyn MessageSecurity>>) -> Message {
    let mut options = Options::from(limits());
    // The check reads answers whose security was verified.
    options.understood.push(ExpandedName::new(WSSE, "Security"));
    let message = of_xml(&QUAKE_INTERFACE_OPERATIONS, query, &options, document::request, document::judge);
    let Some(security) = security else { return message };
    let written = Written::new(message.body.clone());
    let secured = security.secure(&written).now_or_never().expect("keys in memory take no time");
    let body = match secured {
        Ok(secured) => Bytes::from(secured.message),
        Err(error) => panic!("a query can't be secured: {error}"),
    };
    let check = move |answer: &[u8]| {
        let mut received = Bytes::copy_from_slice(answer).into();
        let verified = security.verify(&mut received, &[]).now_or_never();
        verified.ok_or("the verification waits")?.map_err(|error| error.to_string())?;
        (message.check)(answer)
    };
    Message { body, check: Arc::new(check), action: message.action, content_type: message.content_type }
}
