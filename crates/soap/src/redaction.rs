//! Messages for logs: without what is secret.

use std::fmt;
use std::sync::Arc;

use castile_databinding::ExpandedName;
use castile_xml::{Limits, Reader, Token};

use crate::{Description, Layer, Options, Pending, RequestMessage, Service};

/// What stands where something secret was.
const REDACTED: &str = "***";

/// The elements of WS-Security and its relatives that hold passwords, nonces and tokens.
const ELEMENTS: [(&str, &str); 6] = [
    (WSSE, "Password"),
    (WSSE, "Nonce"),
    (WSSE, "BinarySecurityToken"),
    ("urn:oasis:names:tc:SAML:1.0:assertion", "Assertion"),
    ("urn:oasis:names:tc:SAML:2.0:assertion", "Assertion"),
    ("urn:oasis:names:tc:SAML:2.0:assertion", "EncryptedAssertion"),
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
/// By default these are the passwords, nonces and tokens of WS-Security and SAML, and every element or attribute whose local name says
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

    /// The content of these elements is secret, whatever is in it.
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
    pub fn redact(&self, message: &[u8]) -> String {
        self.shown(message, Quotes::Shown).0
    }

    /// A message as text, and whether that is all of it.
    fn shown(&self, message: &[u8], quotes: Quotes) -> (String, bool) {
        let shown = castile_xml::decode(message, None).map_err(|error| error.to_string());
        let shown = shown.and_then(|text| self.redacted(&text, quotes).map_err(|error| error.to_string()));
        // What is wrong may quote what is there.
        shown.unwrap_or_else(|_| (format!("{} bytes that are no XML", message.len()), false))
    }

    fn redacted(&self, text: &str, quotes: Quotes) -> Result<(String, bool), castile_xml::Error> {
        let mut reader = Reader::new(text.as_bytes(), self.limits)?;
        let text = reader.input();
        let (mut out, mut copied) = (String::new(), 0);
        let mut leave_out = |from: usize, to: usize| {
            out += text.get(copied..from).unwrap_or_default();
            out += REDACTED;
            copied = to;
        };
        loop {
            match reader.next()? {
                Token::StartTag(tag) => {
                    for attribute in reader.attributes() {
                        let local = attribute.name.local();
                        let is_secret = self.by_name && says_secret(local)
                            || is_among(&self.attributes, attribute.namespace, local);
                        if is_secret && let Some((from, to)) = value(text, attribute.offset) {
                            leave_out(from, to);
                        }
                    }
                    let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
                    if self.by_name && says_secret(local) || is_among(&self.elements, namespace, local) {
                        let content = reader.offset();
                        reader.skip_element()?;
                        // `<a/>` has no end tag, and no content.
                        if let Some(end) = text.get(content..reader.offset()).and_then(|rest| rest.rfind("</")) {
                            leave_out(content, content + end);
                        }
                    } else if quotes == Quotes::LeftOut && REASONS.contains(&local) {
                        let content = reader.offset();
                        reader.skip_element()?;
                        let content_end = text.get(content..reader.offset()).and_then(|rest| rest.rfind("</"));
                        if let Some((from, to)) = content_end.and_then(|end| quoted(text.get(content..content + end)?))
                        {
                            leave_out(content + from, content + to);
                        }
                    }
                }
                Token::End => return Ok((out + text.get(copied..).unwrap_or_default(), copied == 0)),
                _ => {}
            }
        }
    }
}

/// Whether what the reason of a fault quotes is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Shown,
    LeftOut,
}

/// The elements that have the reason of a fault.
const REASONS: [&str; 2] = ["faultstring", "Text"];

/// From the first quotation mark of a text to behind its last one. What is behind a single one is a quotation.
fn quoted(text: &str) -> Option<(usize, usize)> {
    let marks = || ["\"", "&quot;", "&#34;", "&#x22;"].into_iter();
    let from = marks().filter_map(|mark| text.find(mark)).min()?;
    let to = marks().filter_map(|mark| text.rfind(mark).filter(|at| *at > from).map(|at| at + mark.len())).max();
    Some((from, to.unwrap_or(text.len())))
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

fn is_among(names: &[ExpandedName], namespace: &str, local: &str) -> bool {
    names.iter().any(|name| name.is(namespace, local))
}

/// Where the value of the attribute is whose name begins at `offset`, between its quotes.
fn value(text: &str, offset: usize) -> Option<(usize, usize)> {
    let rest = text.get(offset..)?;
    let quote_at = rest.find(['"', '\''])?;
    let quote = rest[quote_at..].chars().next()?;
    let from = quote_at + 1;
    let length = rest.get(from..)?.find(quote)?;
    Some((offset + from, offset + from + length))
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
/// It is for finding out what is wrong: each message is read once more. Attachments are not shown. A fault quotes what is wrong in its
/// request: where not all of that was shown, what the reason of the fault has between quotation marks isn't either.
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

impl MessageLog {
    /// A layer that calls `show` with each message of up to 64 KiB, and with the size of a larger one.
    pub fn new(redaction: Redaction, show: impl Fn(Direction, &str) + Send + Sync + 'static) -> Self {
        MessageLog(Arc::new(Log { redaction, largest: 64 << 10, show: Box::new(show) }))
    }
}

impl Log {
    /// Shows a message. Whether all of it is shown.
    fn show(&self, direction: Direction, message: Option<&[u8]>, quotes: Quotes) -> bool {
        let (shown, is_all) = match message {
            // What is sent while it is made is not at hand here.
            None => ("a stream".to_owned(), false),
            Some(message) if message.len() > self.largest => (format!("{} bytes", message.len()), false),
            Some(message) => self.redaction.shown(message, quotes),
        };
        (self.show)(direction, &shown);
        is_all
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
        let is_all_shown = self.log.show(Direction::Request, Some(&request.message), Quotes::Shown);
        let (pending, log) = (self.service.call(request, options), self.log.clone());
        Box::pin(async move {
            let reply = pending.await;
            let quotes = if is_all_shown || reply.fault.is_none() { Quotes::Shown } else { Quotes::LeftOut };
            log.show(Direction::Reply, reply.message.bytes().map(|bytes| &**bytes), quotes);
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
    use std::sync::Mutex;

    use futures_util::FutureExt;

    use super::*;
    use crate::Version;

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

    /// What its request was shown without stood in the reason.
    #[test]
    fn a_fault_tells_no_secret_of_its_request() {
        struct Refuses(&'static str);

        impl Service for Refuses {
            fn description(&self) -> &'static Description {
                static DESCRIPTION: Description = Description::new("Refuses", "urn:r", &[]);
                &DESCRIPTION
            }

            fn call(&self, request: RequestMessage, _: &Options) -> Pending {
                let fault = crate::Fault::<crate::NoDetail>::sender(self.0);
                Box::pin(std::future::ready(crate::ReplyMessage::from_fault(request.version, &fault)))
            }
        }

        let shown = |version, request: &str, reason| {
            let said = Arc::new(Mutex::new(Vec::new()));
            let kept = said.clone();
            let show = move |_, message: &str| kept.lock().unwrap().push(message.to_owned());
            let service = MessageLog::new(Redaction::new(), show).layer(Refuses(reason));
            let request = RequestMessage::new(version, request.to_owned().into());
            service.call(request, &Options::default()).now_or_never().unwrap();
            let said = said.lock().unwrap();
            said[1].clone()
        };
        for version in [Version::Soap11, Version::Soap12] {
            for request in ["<a><pin>s3cret</pin></a>", "<a pin='s3cret'/>", "<a><pin>s3cret"] {
                for reason in [
                    "a/pin: \"s3cret\" is not a valid xs:int: \"s3cret\" (line 1)",
                    "a/pin: \"s3c\"ret\" (line 1)",
                    "(line 1) \"s3cret",
                ] {
                    let said = shown(version, request, reason);
                    assert!(!said.contains("s3c") && !said.contains("ret"), "{said}");
                    assert!(said.contains("***") && said.contains("(line 1)"), "{said}");
                }
            }
            let said = shown(version, "<a><b>1</b></a>", "a/b: \"1\" is wrong");
            assert!(said.contains("a/b: ") && said.contains('1') && !said.contains("***"), "{said}");
        }
    }
}
