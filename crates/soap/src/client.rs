//! The client's half: a request to be sent, and the answer that came.

mod fault;

use bytes::Bytes;
use castile_databinding::{FromXml, ToXml};
use castile_xml::{Charset, Reader};

use crate::envelope::end_tag;
use crate::{Envelope, Error, ErrorKind, Fault, FaultDetail, Operation, Options, Version, message};

/// Writes a request message.
///
/// # Errors
/// [`ErrorKind::Unwritable`] if a value holds what XML can't carry.
pub fn request<Q: ToXml>(version: Version, operation: &Operation, request: &Q) -> Result<Bytes, Error> {
    Ok(message::write(version, &operation.request, request, Vec::new())?.into())
}

/// Reads the answer to a request: a response, or a fault, in whichever version it came. `charset` is what the media type says, as in
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
            Ok(Answer::Fault(version)) => {
                let fault = fault::read(&mut reader, version, options.limits);
                fault.and_then(|fault| Envelope::read_end(&mut reader).map(|()| Err(fault)))
            }
            Err(error) => Err(error),
        };
        message::keep(reader.into_memory());
        answer
    })
}

/// What the body of an answer holds.
enum Answer {
    Response,
    Fault(Version),
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
        return Ok(Answer::Fault(envelope.version));
    }
    let message =
        format!("found <{local}> of {namespace:?}, where <{}> of {:?} was expected", expected.name, expected.namespace);
    Err(Error::at(tag.offset, ErrorKind::Document, message))
}
