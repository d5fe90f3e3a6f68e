//! Redaction: logs of messages without secrets.

mod found;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use castile_databinding::ExpandedName;
use castile_xml::{Limits, visible};
use tower_layer::Layer;

use self::found::Found;
use crate::description::Description;
use crate::options::Options;
use crate::reply_message::{Pending, ReplyMessage};
use crate::request_message::RequestMessage;
use crate::service::Service;
use crate::version::Version;

/// The elements of WS-Security, WS-Trust and SAML that contain passwords, nonces, tokens and keys.
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

pub(crate) const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

/// The local names of secret elements and attributes in any namespace, in lower case and without `-` and `_`.
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

/// Which elements and attributes are hidden in logs.
///
/// The default hides the passwords, nonces, tokens and keys of WS-Security, WS-Trust and SAML. It also hides every element and
/// attribute with one of these local names: `password`, `passwd`, `pwd`, `passphrase`, `pin`, `secret`, `clientSecret`, `nonce`,
/// `token`, `accessToken`, `sessionToken`, `apiKey` or `privateKey`. Case, hyphens and underscores are ignored.
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
    /// Creates the default redaction.
    pub fn new() -> Self {
        let elements = ELEMENTS.map(|(namespace, local)| ExpandedName::new(namespace.to_owned(), local));
        Redaction { elements: elements.into(), attributes: Vec::new(), by_name: true, limits: Limits::default() }
    }

    /// Creates a redaction that hides nothing until names are added.
    pub fn none() -> Self {
        Redaction { elements: Vec::new(), attributes: Vec::new(), by_name: false, limits: Limits::default() }
    }

    /// Hides the whole content of these elements, and the content of elements that it refers to (SOAP 1.1 §5.4.1).
    pub fn element(mut self, namespace: impl Into<String>, local: impl Into<String>) -> Self {
        self.elements.push(ExpandedName::new(namespace.into(), local.into()));
        self
    }

    /// Hides the value of these attributes. An attribute without a prefix has no namespace.
    pub fn attribute(mut self, namespace: impl Into<String>, local: impl Into<String>) -> Self {
        self.attributes.push(ExpandedName::new(namespace.into(), local.into()));
        self
    }

    /// Returns a message as text without its secrets, which are found in one pass. For a message that can't be parsed, only its
    /// size is returned, because its secrets are unknown.
    ///
    /// Comments and processing instructions are not hidden, nor is XML inside a text.
    pub fn redact(&self, message: &[u8]) -> String {
        let text = castile_xml::decode(message, None).ok();
        let found = text.as_deref().and_then(|text| Found::read(text, self, false));
        found.map_or_else(|| unparsable(message), |found| found.shown())
    }

    /// Returns a fault as text without its own secrets and those of the request that it answers. If the fault quotes a secret of
    /// the request, or if the request or the fault can't be parsed, only the fault code is shown.
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
        if !self.may_contain_secret(fault, secrets) {
            return self.redact(fault);
        }
        let soap12 = Version::Soap12.namespace();
        let of_faults = self.clone().element("", "faultstring").element("", "detail");
        of_faults.element(soap12, "Text").element(soap12, "Detail").redact(fault)
    }

    /// Returns whether a message may contain a secret of the request.
    fn may_contain_secret(&self, message: &[u8], secrets: &Secrets) -> bool {
        let Some(secrets) = secrets else { return true };
        let text = castile_xml::decode(message, None).ok();
        let found = text.as_deref().and_then(|text| Found::read(text, self, true));
        found.is_none_or(|found| found.shows_any(secrets))
    }
}

/// Describes a message that can't be parsed. The error is not shown, because it may quote the message.
fn unparsable(message: &[u8]) -> String {
    format!("{} bytes that are not XML", message.len())
}

/// Returns whether a local name is one of the secret names.
fn is_secret_name(local: &str) -> bool {
    const MAX_LENGTH: usize = 20;
    if local.len() > MAX_LENGTH || !local.is_ascii() {
        return false;
    }
    let plain = || local.bytes().filter(|byte| !matches!(byte, b'-' | b'_')).map(|byte| byte.to_ascii_lowercase());
    NAMES.iter().any(|name| name.bytes().eq(plain()))
}

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// A received request.
    Request,
    /// A sent reply.
    Reply,
}

/// A layer that logs messages without their secrets.
///
/// It is intended for debugging, because each message is parsed once more. Attachments are not shown. A fault may quote the
/// request. If it quotes a secret, or if the request can't be shown, only the fault code is shown. Line ends and other control
/// characters are escaped, so that each message is one line in the log.
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
    max_size: usize,
    show: Box<Show>,
}

type Show = dyn Fn(Direction, &str) + Send + Sync;

/// The words in the secrets of a request; `None` if they are unknown.
type Secrets = Option<BTreeSet<String>>;

impl MessageLog {
    /// Creates a layer that calls `show` with each message of up to 64 KiB, and with only the size of a larger message.
    pub fn new(redaction: Redaction, show: impl Fn(Direction, &str) + Send + Sync + 'static) -> Self {
        MessageLog(Arc::new(Log { redaction, max_size: 64 << 10, show: Box::new(show) }))
    }
}

impl Log {
    fn request(&self, request: &RequestMessage) -> Secrets {
        let (message, charset) = (&*request.message, request.charset);
        if message.len() > self.max_size {
            self.show(Direction::Request, &format!("{} bytes", message.len()));
            return None;
        }
        let text = castile_xml::decode(message, charset).ok();
        let found = text.as_deref().and_then(|text| Found::read(text, &self.redaction, true));
        self.show(Direction::Request, &found.as_ref().map_or_else(|| unparsable(message), Found::shown));
        found.map(|found| found.secrets())
    }

    fn reply(&self, reply: &ReplyMessage, secrets: &Secrets) {
        let shown = match reply.message.bytes() {
            // A streamed message is not in memory.
            None => "a stream".to_owned(),
            Some(message) if message.len() > self.max_size => format!("{} bytes", message.len()),
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

/// A service with a [`MessageLog`] layer.
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
    fn secrets_are_not_shown() {
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
            ("<a><key>1</a>", "13 bytes that are not XML"),
            ("", "0 bytes that are not XML"),
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
