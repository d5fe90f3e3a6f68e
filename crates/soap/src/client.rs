//! The client's half: a request to be sent, and the answer that came.

use bytes::Bytes;
use castile_databinding::{Decoder, FromXml, ToXml};
use castile_xml::{Charset, Limits, Reader, Token};

use crate::envelope::end_tag;
use crate::{Detail, Envelope, Error, ErrorKind, Fault, FaultCode, FaultDetail, Operation, Options, Version, message};

/// Writes a request message.
///
/// # Errors
/// [`ErrorKind::Unwritable`] if a value holds what XML can't carry.
pub fn request<Q: ToXml>(operation: &Operation, request: &Q) -> Result<Bytes, Error> {
    Ok(message::write(Version::default(), &operation.request, request, Vec::new())?.into())
}

/// Reads the answer to a request: a response, or a fault. `charset` is what the media type says, as in
/// [`Request`](crate::Request).
///
/// # Errors
/// That the message is neither, with the place.
pub fn response<R: FromXml, D: FaultDetail>(
    operation: &'static Operation,
    message: &[u8],
    charset: Option<Charset>,
    options: &Options,
) -> Result<Result<R, Fault<D>>, Error> {
    message::read_with(message, charset, options, |mut reader, leniency| {
        let answer = match answer(&mut reader, operation) {
            Ok(Answer::Response) => {
                let decoder = message::decoder(reader, leniency);
                let tell = |deviations: &_| leniency.iter().for_each(|leniency| leniency.tell(operation, deviations));
                return message::read_payload(decoder, &operation.response, tell).map(Ok);
            }
            Ok(Answer::Fault) => read_fault(&mut reader, options.limits)
                .and_then(|fault| Envelope::read_end(&mut reader).map(|()| Err(fault))),
            Err(error) => Err(error),
        };
        message::keep(reader.into_memory());
        answer
    })
}

/// What the body of an answer holds.
enum Answer {
    Response,
    Fault,
}

/// Reads up to the payload, its start tag included.
fn answer(reader: &mut Reader<'_>, operation: &'static Operation) -> Result<Answer, Error> {
    let (envelope, payload) = Envelope::read(reader)?;
    envelope.check_understood(|_, _| false)?;
    let expected = &operation.response.element;
    let Some(tag) = payload else {
        let message = format!("the body is empty, where <{}> was expected", expected.name);
        return Err(Error::at(end_tag(reader), ErrorKind::Document, message));
    };
    let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
    if (namespace, local) == (expected.namespace, expected.name) {
        return Ok(Answer::Response);
    }
    if local == "Fault" && namespace == envelope.version.namespace() {
        return Ok(Answer::Fault);
    }
    let message =
        format!("found <{local}> of {namespace:?}, where <{}> of {:?} was expected", expected.name, expected.namespace);
    Err(Error::at(tag.offset, ErrorKind::Document, message))
}

/// Reads the children of a fault, whose start tag was read. Their order is not insisted on: many servers have their own.
fn read_fault<D: FaultDetail>(reader: &mut Reader<'_>, limits: Limits) -> Result<Fault<D>, Error> {
    let mut fault = Fault::receiver(String::new());
    loop {
        match reader.next()? {
            Token::StartTag(tag) => match tag.name.local() {
                "faultcode" => fault.code = code(&text(reader)?),
                "faultstring" => fault.reason = text(reader)?,
                "faultactor" => fault.role = Some(text(reader)?),
                "detail" => fault.detail = read_detail(reader, limits)?,
                _ => reader.skip_element()?,
            },
            Token::EndTag(_) | Token::End => return Ok(fault),
            _ => {}
        }
    }
}

fn code(qname: &str) -> FaultCode {
    let name = qname.trim();
    match name.rsplit_once(':').map_or(name, |(_, local)| local) {
        "VersionMismatch" => FaultCode::VersionMismatch,
        "MustUnderstand" => FaultCode::MustUnderstand,
        "Client" => FaultCode::Sender,
        "Server" => FaultCode::Receiver,
        other => FaultCode::Other(other.to_owned()),
    }
}

/// The text of an element whose start tag was read; children are passed over.
fn text(reader: &mut Reader<'_>) -> Result<String, Error> {
    let outside = reader.depth().saturating_sub(1);
    let mut text = String::new();
    while reader.depth() > outside {
        if let Token::Text(more) = reader.next()? {
            text.push_str(&more);
        }
    }
    Ok(text)
}

/// Reads `detail`: the first child if the contract declares it, otherwise everything as it came.
fn read_detail<D: FaultDetail>(reader: &mut Reader<'_>, limits: Limits) -> Result<Detail<D>, Error> {
    let start = reader.offset();
    let scope: Vec<(String, String)> =
        reader.namespaces().map(|(prefix, name)| (prefix.to_owned(), name.to_owned())).collect();
    let depth = reader.depth();
    let mut end = start;
    while reader.depth() >= depth {
        end = reader.offset();
        reader.next()?;
    }
    let inner = reader.input().get(start..end).unwrap_or_default();
    Ok(match declared(inner, &scope, limits) {
        Some(detail) => Detail::Declared(detail),
        None if inner.trim().is_empty() => Detail::None,
        None => Detail::Other(inner.to_owned()),
    })
}

/// The declared detail that `inner` begins with, read as a document of its own with the namespaces that were in scope.
fn declared<D: FaultDetail>(inner: &str, scope: &[(String, String)], limits: Limits) -> Option<D> {
    let mut document = Vec::from(b"<detail");
    for (index, (prefix, name)) in scope.iter().enumerate() {
        if scope[..index].iter().all(|(nearer, _)| nearer != prefix) {
            document.extend_from_slice(if prefix.is_empty() { b" xmlns" } else { b" xmlns:" });
            document.extend_from_slice(prefix.as_bytes());
            document.extend_from_slice(b"=\"");
            castile_xml::escape::push_attribute(&mut document, name).ok()?;
            document.push(b'"');
        }
    }
    document.push(b'>');
    document.extend_from_slice(inner.as_bytes());
    document.extend_from_slice(b"</detail>");
    let mut reader = Reader::new(&document, limits).ok()?;
    let mut tags = std::iter::from_fn(|| {
        loop {
            match reader.next().ok()? {
                Token::StartTag(tag) => {
                    return Some((reader.namespace(tag.namespace).to_owned(), tag.name.local().to_owned()));
                }
                Token::EndTag(_) | Token::End => return None,
                _ => {}
            }
        }
    });
    let (namespace, local) = tags.nth(1)?;
    let index = D::ELEMENTS.iter().position(|element| element.namespace == namespace && element.name == local)?;
    D::read(&mut Decoder::new(reader), index).ok()
}
