//! Messages for logs: without what is secret.

mod found;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use castile_databinding::ExpandedName;
use castile_xml::{Limits, visible};

use crate::{Description, Layer, Options, Pending, ReplyMessage, RequestMessage, Service, Version};
use found::Found;

/// The elements of WS-Security and its relatives that hold passwords, nonces, tokens and keys.
const ELEMENTS: [(&str, &str); 8] = [
    (WSSE, "Password"),
    (WSSE, "Nonce"),
    (WSSE, "BinarySecurityToken"),
    ("urn:oasis:names:tc:SAML:1.0:assertion", "Assertion"),
    ("urn:oasis:names:tc:SAML:2.0:assertion", "Assertion"),
    ("urn:oasis:names:tc:SAML:2.0:assertion", "EncryptedAssertion"),
    ("http://docs.oasis-open.org/ws-sx/ws-trust/200512", "BinarySecret"),
    ("http://schemas.xmlsoap.org/ws/2005/02/trust", "BinarySecret"),
];

const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

/// Local names, in lower case and without `-` and `_`, of what is secret in whatever namespace.
const NAMES: [&str; 13] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "pin",
    "secret",
    "clientsecret",
    "nonce",
    "token",
    "accesstoken",
    "sessiontoken",
    "apikey",
    "privatekey",
];

/// Which elements and attributes are not shown in logs.
///
/// By default these are the passwords, nonces, tokens and keys of WS-Security, WS-Trust and SAML, and every element or attribute whose local name says
/// that it is one in plain words: `password`, `passwd`, `pwd`, `passphrase`, `pin`, `secret`, `clientSecret`, `nonce`, `token`,
/// `accessToken`, `sessionToken`, `apiKey` or `privateKey`, whatever the case, the hyphens and the underscores.
///
/// ```
/// use castile_soap::Redaction;
///
/// let redaction = Redaction::new().element("urn:example:bank", "iban");
/// let message = "<pay xmlns='urn:example:bank' token='t'><iban>DE02</iban><pin>7</pin><sum>5</sum></pay>";
/// let shown = "<pay xmlns='urn:example:bank' token='***'><iban>***</iban><pin>***</pin><sum>5</sum></pay>";
/// assert_eq!(redaction.redact(message.as_bytes()), shown);
/// ```
#[derive(Clone, Debug)]
pub struct Redaction {
    elements: Vec<ExpandedName>,
    attributes: Vec<ExpandedName>,
    by_name: bool,
    limits: Limits,
}

impl Default for Redaction {
    fn default() -> Self {
        Redaction::new()
    }
}

impl Redaction {
    /// The default.
    pub fn new() -> Self {
        let elements = ELEMENTS.map(|(namespace, local)| ExpandedName::new(namespace.to_owned(), local));
        Redaction { elements: elements.into(), attributes: Vec::new(), by_name: true, limits: Limits::default() }
    }

    /// Nothing is secret until it is added.
    pub fn none() -> Self {
        Redaction { elements: Vec::new(), attributes: Vec::new(), by_name: false, limits: Limits::default() }
    }

    /// The content of these elements is secret, whatever is in it, and that of elements that it refers to (SOAP 1.1 §5.4.1).
    pub fn element(mut self, namespace: impl Into<String>, local: impl Into<String>) -> Self {
        self.elements.push(ExpandedName::new(namespace.into(), local.into()));
        self
    }

    /// The value of these attributes is secret. An attribute without a prefix has no namespace.
    pub fn attribute(mut self, namespace: impl Into<String>, local: impl Into<String>) -> Self {
        self.attributes.push(ExpandedName::new(namespace.into(), local.into()));
        self
    }

    /// A message as text without what is secret. It is read in one pass. Of what can't be read nothing is shown but its size, since nobody
    /// knows what is secret in it.
    ///
    /// Comments and instructions are shown, and so is XML that stands in a text.
    pub fn redact(&self, message: &[u8]) -> String {
        let text = castile_xml::decode(message, None).ok();
        let found = text.as_deref().and_then(|text| Found::read(text, self, false));
        found.map_or_else(|| unread(message), |found| found.shown())
    }

    /// A fault as text without what is secret in it or in the request that it answers. Where it quotes something secret of the request, or
    /// that can't be read, only the code of the fault is shown.
    ///
    /// ```
    /// use castile_soap::Redaction;
    ///
    /// let redaction = Redaction::new();
    /// let fault = b"<Fault><faultcode>Client</faultcode><faultstring>hush is no password</faultstring></Fault>";
    /// let shown = "<Fault><faultcode>Client</faultcode><faultstring>***</faultstring></Fault>";
    /// assert_eq!(redaction.redact_fault(fault, b"<login><password>hush</password></login>"), shown);
    /// ```
    pub fn redact_fault(&self, fault: &[u8], request: &[u8]) -> String {
        let text = castile_xml::decode(request, None).ok();
        let secrets = text.as_deref().and_then(|text| Found::read(text, self, true)).map(|found| found.secrets());
        self.redact_fault_of(fault, &secrets)
    }

    fn redact_fault_of(&self, fault: &[u8], secrets: &Secrets) -> String {
        if !self.tells(fault, secrets) {
            return self.redact(fault);
        }
        let soap12 = Version::Soap12.namespace();
        let of_faults = self.clone().element("", "faultstring").element("", "detail");
        of_faults.element(soap12, "Text").element(soap12, "Detail").redact(fault)
    }

    /// Whether a message, or who writes it, may tell something secret of the request.
    fn tells(&self, message: &[u8], secrets: &Secrets) -> bool {
        let Some(secrets) = secrets else { return true };
        let text = castile_xml::decode(message, None).ok();
        let found = text.as_deref().and_then(|text| Found::read(text, self, true));
        found.is_none_or(|found| found.tells(secrets))
    }
}

/// What is shown of a message that can't be read. What is wrong with it may quote what is there.
fn unread(message: &[u8]) -> String {
    format!("{} bytes that are no XML", message.len())
}

/// Whether a name says in plain words that what it has is secret.
fn says_secret(local: &str) -> bool {
    const LONGEST: usize = 20;
    if local.len() > LONGEST || !local.is_ascii() {
        return false;
    }
    let plain = || local.bytes().filter(|byte| !matches!(byte, b'-' | b'_')).map(|byte| byte.to_ascii_lowercase());
    NAMES.iter().any(|name| name.bytes().eq(plain()))
}

/// Which way a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A request came.
    Request,
    /// A reply goes.
    Reply,
}

/// A layer that shows the messages that pass, without what is secret in them.
///
/// It is for finding out what is wrong: each message is read once more. Attachments are not shown. A fault may quote what is wrong with
/// a request: where that is something secret, or the request can't be shown, only the code of the fault is. Line ends and other control
/// characters are shown as escapes, so that a message is one line of a log.
///
/// ```
/// use castile_soap::{Direction, Layer, MessageLog, Redaction, Service};
///
/// # fn layered(service: impl Service) -> impl Service {
/// let log = MessageLog::new(Redaction::new(), |direction, message| eprintln!("{direction:?}: {message}"));
/// log.layer(service)
/// # }
/// ```
#[derive(Clone)]
pub struct MessageLog(Arc<Log>);

struct Log {
    redaction: Redaction,
    largest: usize,
    show: Box<Show>,
}

type Show = dyn Fn(Direction, &str) + Send + Sync;

/// What is secret in a request, in words; `None` if nobody knows.
type Secrets = Option<BTreeSet<String>>;

impl MessageLog {
    /// A layer that calls `show` with each message of up to 64 KiB, and with the size of a larger one.
    pub fn new(redaction: Redaction, show: impl Fn(Direction, &str) + Send + Sync + 'static) -> Self {
        MessageLog(Arc::new(Log { redaction, largest: 64 << 10, show: Box::new(show) }))
    }
}

impl Log {
    fn request(&self, request: &RequestMessage) -> Secrets {
        let (message, charset) = (&*request.message, request.charset);
        if message.len() > self.largest {
            self.show(Direction::Request, &format!("{} bytes", message.len()));
            return None;
        }
        let text = castile_xml::decode(message, charset).ok();
        let found = text.as_deref().and_then(|text| Found::read(text, &self.redaction, true));
        self.show(Direction::Request, &found.as_ref().map_or_else(|| unread(message), Found::shown));
        found.map(|found| found.secrets())
    }

    fn reply(&self, reply: &ReplyMessage, secrets: &Secrets) {
        let shown = match reply.message.bytes() {
            // What is sent while it is made is not at hand here.
            None => "a stream".to_owned(),
            Some(message) if message.len() > self.largest => format!("{} bytes", message.len()),
            Some(message) if reply.is_fault() => self.redaction.redact_fault_of(message, secrets),
            Some(message) => self.redaction.redact(message),
        };
        self.show(Direction::Reply, &shown);
    }

    fn show(&self, direction: Direction, shown: &str) {
        (self.show)(direction, &visible(shown));
    }
}

impl<S: Service> Layer<S> for MessageLog {
    type Service = Shown<S>;

    fn layer(&self, service: S) -> Shown<S> {
        Shown { service, log: self.0.clone() }
    }
}

/// A service behind a [`MessageLog`].
pub struct Shown<S> {
    service: S,
    log: Arc<Log>,
}

impl<S: Service> Service for Shown<S> {
    fn description(&self) -> &'static Description {
        self.service.description()
    }

    fn call(&self, request: RequestMessage, options: &Options) -> Pending {
        let secrets = self.log.request(&request);
        let (pending, log) = (self.service.call(request, options), self.log.clone());
        Box::pin(async move {
            let reply = pending.await;
            log.reply(&reply, &secrets);
            reply
        })
    }
}

impl fmt::Debug for MessageLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageLog").field("redaction", &self.0.redaction).finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for Shown<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").field("redaction", &self.log.redaction).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_is_not_shown() {
        let redaction = Redaction::new().element("u", "key").attribute("u", "key").attribute("", "key");
        let wsse = format!("<w:Security xmlns:w='{WSSE}'><w:UsernameToken><w:Username>u</w:Username>");
        for (message, expected) in [
            ("<a><key>1</key><b xmlns='u' key='2'>3</b></a>", "<a><key>1</key><b xmlns='u' key='***'>3</b></a>"),
            (
                "<a xmlns:p='u'><p:key>1<key>2</key></p:key><b p:key = \"a'b\" c='d'/></a>",
                "<a xmlns:p='u'><p:key>***</p:key><b p:key = \"***\" c='d'/></a>",
            ),
            (
                "<a><password/><PassWord></PassWord><api-key><![CDATA[</api-key>]]></api-key></a>",
                "<a><password/><PassWord>***</PassWord><api-key>***</api-key></a>",
            ),
            ("<a token='&quot;&#10;' x='1'>t</a>", "<a token='***' x='1'>t</a>"),
            ("<token pin='1'>t</token>", "<token pin='***'>***</token>"),
            ("\u{feff}<nonce>ä</nonce>", "\u{feff}<nonce>***</nonce>"),
            (
                "<t:Entropy xmlns:t='http://docs.oasis-open.org/ws-sx/ws-trust/200512'><t:BinarySecret>k</t:BinarySecret></t:Entropy>",
                "<t:Entropy xmlns:t='http://docs.oasis-open.org/ws-sx/ws-trust/200512'><t:BinarySecret>***</t:BinarySecret></t:Entropy>",
            ),
            ("<a><key>1</a>", "13 bytes that are no XML"),
            ("", "0 bytes that are no XML"),
            (
                &format!(
                    "{wsse}<w:Password Type='t'>p</w:Password><w:Nonce>n</w:Nonce></w:UsernameToken></w:Security>"
                ),
                &format!(
                    "{wsse}<w:Password Type='t'>***</w:Password><w:Nonce>***</w:Nonce></w:UsernameToken></w:Security>"
                ),
            ),
        ] {
            assert_eq!(
                redaction.redact(message.as_bytes()).trim_start_matches('\u{feff}'),
                expected.trim_start_matches('\u{feff}')
            );
        }
        assert_eq!(Redaction::none().redact(b"<password>1</password>"), "<password>1</password>");
    }
}
