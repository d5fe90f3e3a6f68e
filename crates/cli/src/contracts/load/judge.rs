//! Checks answers, and extracts values for later requests.

use std::borrow::Cow;
use std::cell::RefCell;

use bytes::Bytes;
use castile_load::HttpResponse;
use castile_mime as mime;
use castile_soap::{Envelope, Received, Version};
use castile_wsdl::Definitions;
use castile_wss::message::ClientSecurity;
use castile_xml::{CachedReader, Charset, Limits, Memory, Token};
use castile_xsd::ExpandedName;
use castile_xsd::validate::{Chosen, Problem, Validator};

use super::service::{Operation, Service};
use crate::contracts::envelope;
use crate::contracts::expression::{Expression, Tree};
use crate::contracts::shape::Shape;
use crate::package;
use crate::signatures::messages;

/// The maximum number of quoted bytes of an answer that isn't a SOAP message.
const MAX_QUOTED: usize = 200;
/// The maximum number of reported problems of an answer.
const MAX_REPORTED: usize = 3;

/// The conditions for answers.
#[derive(Debug)]
pub(super) struct Judge {
    pub(super) definitions: &'static Definitions,
    pub(super) fault: Expected,
    /// The allowed status codes. If empty, they follow from the other conditions.
    pub(super) statuses: Vec<u16>,
    pub(super) contains: Vec<String>,
    /// Whether answers must be valid against the schema; checked for a sample.
    pub(super) is_valid: bool,
    /// Expressions that must be true; checked for a sample.
    pub(super) expressions: Vec<Expression>,
    /// The values to extract from answers.
    pub(super) extracts: Vec<Extract>,
}

/// Whether a fault is expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Expected {
    /// A response that isn't a SOAP fault
    #[default]
    NoFault,
    /// A SOAP fault
    Fault,
}

/// A value that is extracted from answers.
#[derive(Clone, Debug)]
pub(super) struct Extract {
    /// The index of the value.
    pub(super) value: usize,
    /// The operation, or `None` for all. If an operation is given, an expression that selects nothing is an error.
    pub(super) operation: Option<usize>,
    pub(super) expression: Expression,
}

thread_local! {
    /// The validator compiles a schema once for all users of a thread.
    static VALIDATOR: RefCell<Option<(&'static Definitions, Validator<'static>)>> = const { RefCell::new(None) };
}

impl Judge {
    /// Checks an answer to the operation with this number. With `in_full`, also makes the checks for a sample, such as that of its
    /// security, for a request with these signatures. Extracted values are stored in `values`.
    pub(super) fn judge(
        &self,
        (number, operation): (usize, &Operation),
        response: &HttpResponse<'_>,
        in_full: bool,
        security: Option<(&ClientSecurity, &[Vec<u8>])>,
        values: &mut [Option<String>],
        memory: &mut Memory,
    ) -> Result<(), String> {
        let (message, charset) = message(response)?;
        self.status(response, &message)?;
        if message.is_empty() {
            return self.no_message(operation);
        }
        let text = castile_xml::decode(&message, charset).map_err(|error| error.to_string())?;
        let mut reader = CachedReader::decoded(&text, Limits::default(), memory).map_err(|error| error.to_string())?;
        let is_fault = read_to_payload(&mut reader)?;
        if in_full && let Some((security, signatures)) = security {
            check_security(security, signatures, response, charset)?;
        }
        self.fault(is_fault, &message, charset)?;
        if in_full {
            while !matches!(reader.next().map_err(|error| error.to_string())?, Token::End) {}
        }
        *memory = reader.into_memory();
        if let Some(missing) = self.contains.iter().find(|text_of| !text.contains(text_of.as_str())) {
            return Err(format!("found no {missing:?} in the answer: {}", quoted(text.as_bytes())));
        }
        if in_full && self.is_valid && !is_fault {
            self.validity(operation, &text)?;
        }
        self.expressions(number, &text, in_full, is_fault, values)
    }

    fn status(&self, response: &HttpResponse<'_>, message: &[u8]) -> Result<(), String> {
        let status = response.status;
        let (fits, expected) = match (&*self.statuses, self.fault) {
            ([], Expected::NoFault) => (matches!(status, 200 | 202), "200".to_owned()),
            // SOAP 1.1 §6.2 requires 500; SOAP 1.2 also has 400, and some servers use neither.
            ([], Expected::Fault) => (matches!(status, 200 | 400 | 500), "500 or 400".to_owned()),
            (statuses, _) => {
                let expected = statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ");
                (statuses.contains(&status), expected)
            }
        };
        if fits {
            return Ok(());
        }
        match fault(message, None) {
            Some(fault) => Err(format!("status {status}, expected {expected}: {fault}")),
            None if message.is_empty() => Err(format!("status {status}, expected {expected}")),
            None => Err(format!("status {status}, expected {expected}: {}", quoted(message))),
        }
    }

    /// Checks an answer without a message.
    fn no_message(&self, operation: &Operation) -> Result<(), String> {
        match (&operation.output, self.fault) {
            (_, Expected::Fault) => Err("found an empty answer, expected a fault".to_owned()),
            (Some(_), _) if self.statuses.is_empty() => Err("found an empty answer, expected a response".to_owned()),
            _ => Ok(()),
        }
    }

    fn fault(&self, is_fault: bool, message: &[u8], charset: Option<Charset>) -> Result<(), String> {
        match (self.fault, is_fault) {
            (Expected::NoFault, true) => Err(match fault(message, charset) {
                Some(fault) => format!("fault {fault}"),
                None => format!("a fault: {}", quoted(message)),
            }),
            (Expected::Fault, false) => Err("found a response, expected a fault".to_owned()),
            _ => Ok(()),
        }
    }

    fn validity(&self, operation: &Operation, text: &str) -> Result<(), String> {
        let Some(shape) = &operation.output else { return Ok(()) };
        let problems = problems(self.definitions, shape, text);
        if problems.is_empty() {
            return Ok(());
        }
        let messages: Vec<String> = problems.iter().take(MAX_REPORTED).map(ToString::to_string).collect();
        Err(format!("not valid against the schema: {}", messages.join("; ")))
    }

    fn expressions(
        &self,
        number: usize,
        text: &str,
        in_full: bool,
        is_fault: bool,
        values: &mut [Option<String>],
    ) -> Result<(), String> {
        let extracts: Vec<&Extract> =
            self.extracts.iter().filter(|one| one.operation.is_none_or(|of| of == number) && !is_fault).collect();
        let expressions = if in_full { &*self.expressions } else { &[] };
        if extracts.is_empty() && expressions.is_empty() {
            return Ok(());
        }
        let tree = Tree::read(text)?;
        for expression in expressions {
            if !expression.holds(&tree)? {
                return Err(format!("{} is false for the answer: {}", expression.text(), quoted(text.as_bytes())));
            }
        }
        for extract in extracts {
            match extract.expression.value(&tree)? {
                Some(value) => values[extract.value] = Some(value),
                None if extract.operation.is_some() => {
                    let expression = extract.expression.text();
                    return Err(format!("{expression} selects nothing in the answer: {}", quoted(text.as_bytes())));
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// Checks the security of an answer, with its attachments.
fn check_security(
    security: &ClientSecurity,
    signatures: &[Vec<u8>],
    response: &HttpResponse<'_>,
    charset: Option<Charset>,
) -> Result<(), String> {
    let mut answer = match package_type(response) {
        Some(content_type) => packaged(content_type, response.body)?,
        None => Received { charset, ..Received::from(Bytes::copy_from_slice(response.body)) },
    };
    messages::verify_answer(security, &mut answer, signatures).map_err(|error| error.to_string())
}

/// Checks that the schema defines the answers of all operations.
///
/// # Errors
/// The answers of an operation are encoded, or have no element of their own.
pub(super) fn can_be_valid(service: &Service) -> anyhow::Result<()> {
    let knows = |shape: &Shape| !matches!(shape, Shape::Content | Shape::Call { is_encoded: true, .. });
    match service.operations.iter().find(|operation| !operation.output.as_ref().is_none_or(knows)) {
        Some(operation) => anyhow::bail!(
            "the schema doesn't define the answers of {}, because they are encoded or have no element of their own: \
             remove --expect-valid",
            operation.name
        ),
        None => Ok(()),
    }
}

/// Validates the header blocks of a message that the schema declares.
pub(super) fn problems_of_header(definitions: &'static Definitions, envelope: &str) -> Vec<Problem> {
    let is_declared = |name: &ExpandedName| definitions.schema.find_element(name).is_some();
    validated(definitions, envelope, |around, namespace, local| match (around, local) {
        (0, _) | (1, "Header") => Chosen::Within,
        (2, _) if is_declared(&ExpandedName::new(namespace, local)) => Chosen::Declared,
        _ => Chosen::Skip,
    })
}

/// Validates a message except its header. The schema doesn't define SOAP encoding, so encoded content isn't checked.
pub(super) fn problems(definitions: &'static Definitions, shape: &Shape, envelope: &str) -> Vec<Problem> {
    let roots = shape.roots(definitions);
    validated(definitions, envelope, |around, namespace, local| match (around, local) {
        (0, _) | (1, "Body") => Chosen::Within,
        (1, _) => Chosen::Skip,
        _ => shape.chosen(roots.as_deref(), around, namespace, local),
    })
}

fn validated(
    definitions: &'static Definitions,
    envelope: &str,
    choose: impl FnMut(usize, &str, &str) -> Chosen,
) -> Vec<Problem> {
    VALIDATOR.with_borrow_mut(|known| {
        let (_, validator) = match known.take() {
            Some(same) if std::ptr::eq(same.0, definitions) => known.insert(same),
            _ => known.insert((definitions, Validator::new(&definitions.schema))),
        };
        validator.validate_within(envelope, choose)
    })
}

/// Reads up to the payload. Returns whether it is a fault.
fn read_to_payload(reader: &mut CachedReader<'_>) -> Result<bool, String> {
    let (envelope, payload) = Envelope::read(reader).map_err(|error| error.to_string())?;
    let name = payload.map(|tag| (reader.namespace(tag.namespace), tag.name.local()));
    Ok(name == Some((envelope.version.namespace(), "Fault")))
}

/// Returns the code and the reason of a fault, or `None` if the message isn't a fault.
fn fault(message: &[u8], charset: Option<Charset>) -> Option<String> {
    let text = castile_xml::decode(message, charset).ok()?;
    let mut reader = CachedReader::decoded(&text, Limits::default(), &mut Memory::default()).ok()?;
    if !read_to_payload(&mut reader).ok()? {
        return None;
    }
    let (mut code, mut reason) = (None, None);
    let mut element = "";
    loop {
        match reader.next() {
            Ok(Token::StartTag(tag)) => element = tag.name.local(),
            Ok(Token::Text(text)) if !text.trim().is_empty() => match element {
                // In SOAP 1.2, the first value is the code; nested values are subcodes.
                "faultcode" | "Value" => code = code.or(Some(text.into_owned())),
                "faultstring" | "Text" => reason = reason.or(Some(text.into_owned())),
                _ => {}
            },
            Ok(Token::End) | Err(_) => break,
            Ok(_) => {}
        }
    }
    let code = code.unwrap_or_default();
    let local = code.rsplit(':').next().unwrap_or_default().trim();
    // Codes are reported by their SOAP 1.2 names.
    let local = envelope::fault_code(local).map_or(local, |code| Version::Soap12.fault_code(&code));
    Some(format!("{}: {}", quoted(local.as_bytes()), quoted(reason.unwrap_or_default().trim().as_bytes())))
}

/// Returns the envelope, which is the whole body or the root part of a package, and the charset of its media type.
fn message<'a>(response: &HttpResponse<'a>) -> Result<(Cow<'a, [u8]>, Option<Charset>), String> {
    let Some(content_type) = package_type(response) else {
        return Ok((Cow::Borrowed(response.body), response.header("content-type").and_then(charset)));
    };
    let Received { message, charset, .. } = packaged(content_type, response.body)?;
    Ok((Cow::Owned(message.into()), charset))
}

/// Reads a package.
fn packaged(content_type: &str, body: &[u8]) -> Result<Received, String> {
    let related = mime::Related::parse(content_type);
    let received = related.and_then(|related| package::received(&related, Bytes::copy_from_slice(body)));
    received.map_err(|error| error.to_string())
}

/// Returns the Content-Type of an answer that is a package.
fn package_type<'r>(response: &'r HttpResponse<'_>) -> Option<&'r str> {
    response.header("content-type").filter(|content_type| {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        essence.eq_ignore_ascii_case("multipart/related")
    })
}

fn charset(content_type: &str) -> Option<Charset> {
    let media_type = mime::MediaType::parse(content_type).ok()?;
    media_type.parameter("charset").and_then(Charset::of_label)
}

/// Returns the beginning of an untrusted text, on one line.
fn quoted(bytes: &[u8]) -> String {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_QUOTED)]);
    let line: String = start.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if bytes.len() > MAX_QUOTED { format!("{line} …") } else { line.trim_end().to_owned() }
}

/// Returns the header fields with the content type and the action (SOAP 1.1 §6.1.1, SOAP 1.2 Part 2 §7.1.4).
pub(super) fn header_lines(version: Version, action: &str, own: &str) -> String {
    let has = |name: &str| {
        own.lines().any(|line| line.split(':').next().is_some_and(|found| found.eq_ignore_ascii_case(name)))
    };
    let mut lines = String::new();
    if !has("Content-Type") {
        lines += &match version {
            Version::Soap12 if !action.is_empty() => {
                format!("Content-Type: application/soap+xml; charset=utf-8; action=\"{action}\"\r\n")
            }
            version => format!("Content-Type: {}; charset=utf-8\r\n", version.media_type()),
        };
    }
    if version == Version::Soap11 && !has("SOAPAction") {
        lines += &format!("SOAPAction: \"{action}\"\r\n");
    }
    lines + own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_states_its_kind() {
        let table = [
            (Version::Soap11, "", "Content-Type: text/xml; charset=utf-8\r\nSOAPAction: \"a\"\r\n"),
            (Version::Soap12, "", "Content-Type: application/soap+xml; charset=utf-8; action=\"a\"\r\n"),
            (Version::Soap11, "soapaction: b\r\n", "Content-Type: text/xml; charset=utf-8\r\nsoapaction: b\r\n"),
            (Version::Soap12, "Content-Type: x/y\r\n", "Content-Type: x/y\r\n"),
        ];
        for (version, own, expected) in table {
            assert_eq!(header_lines(version, "a", own), expected);
        }
    }

    #[test]
    fn a_fault_is_summarised() {
        let of = |namespace: &str, body: &str| {
            let text = format!("<s:Envelope xmlns:s='{namespace}'><s:Body>{body}</s:Body></s:Envelope>");
            fault(text.as_bytes(), None)
        };
        let [one, two] = Version::ALL.map(Version::namespace);
        let soap11 = "<s:Fault><faultcode>s:Server</faultcode><faultstring>full &amp; busy</faultstring></s:Fault>";
        assert_eq!(of(one, soap11).as_deref(), Some("Receiver: full & busy"));
        let soap12 = "<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>s:x</s:Value></s:Subcode></s:Code>\
                      <s:Reason><s:Text xml:lang='en'>no\u{0009}order</s:Text></s:Reason></s:Fault>";
        assert_eq!(of(two, soap12).as_deref(), Some("Sender: no order"));
        assert_eq!(of(one, "<a/>"), None);
    }

    #[test]
    fn the_root_part_of_a_package_is_the_message() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: Multipart/Related; boundary=x; start=\"<r>\"\r\n\r\n";
        let body = b"--x\r\nContent-ID: <a>\r\n\r\nno\r\n--x\r\nContent-ID: <r>\r\nContent-Type: text/xml; charset=latin1\r\n\r\n<e/>\r\n--x--";
        let response = HttpResponse { status: 200, head, body };
        // The charset is that of the part.
        assert_eq!(message(&response).unwrap(), (Cow::Borrowed(&b"<e/>"[..]), Charset::of_label("latin1")));
        let plain = HttpResponse { status: 200, head: b"HTTP/1.1 200 OK\r\n\r\n", body };
        assert_eq!(message(&plain).unwrap(), (Cow::Borrowed(&body[..]), None));
    }
}
