//! Rejects requests: the fault is written in the version of the request, and sent to its WS-Addressing address.

use std::sync::Arc;

use futures_util::FutureExt;

use crate::addressing::{self, Exchange};
use crate::envelope::{self, Envelope};
use crate::error::{Error, ErrorKind};
use crate::fault::{Fault, NoDetail};
use crate::options::Options;
use crate::reader::read_envelope;
use crate::reply_message::{Pending, ReplyMessage};
use crate::request_message::RequestMessage;
use crate::version::Version;
use crate::{header, reply};

impl RequestMessage {
    /// Answers with a fault, in the version of the message and with its WS-Addressing.
    pub fn refuse(&self, options: &Options, fault: &Fault) -> Pending {
        refuse_with(self, options, version(self, options), "", fault)
    }
}

/// Answers a request that can't be read (`error`) or that caused a panic, in the version of the request.
#[cold]
pub(crate) fn refuse(request: &RequestMessage, options: &Options, error: Option<Error>) -> Pending {
    let version = version(request, options);
    match error {
        None => refuse_with(request, options, version, "", &reply::panicked()),
        // Parsing the message for a reply address needs memory too.
        Some(error) if error.kind() == ErrorKind::Exhausted => {
            std::future::ready(ReplyMessage::exhausted(version)).boxed()
        }
        Some(error) => {
            let header = header::of_refusal(version, &error);
            let subcode = error.subcode().filter(|_| version.has_subcodes());
            let mut fault = Fault::<NoDetail>::from(error);
            fault.subcodes.extend(subcode);
            refuse_with(request, options, version, &header, &fault)
        }
    }
}

fn refuse_with(
    request: &RequestMessage,
    options: &Options,
    version: Version,
    header: &str,
    fault: &Fault<NoDetail>,
) -> Pending {
    let charge = request.reservation.as_ref();
    let exchange = read_envelope(&request.message, request.charset, options, charge, |reader| {
        let (mut envelope, _) = Envelope::read(reader)?;
        envelope.claim(&options.roles);
        Exchange::open(&envelope, reader.input(), options, charge)
    });
    // If the header can't be read, answer on the connection.
    let mut exchange = exchange.ok().flatten();
    // A fault about WS-Addressing is not sent to another address either.
    if fault.is_of_addressing()
        && let Some(exchange) = exchange.as_mut().and_then(Arc::get_mut)
    {
        exchange.reply_on_connection();
    }
    let reply = reply::write_fault(version, exchange.as_deref(), None, header, fault);
    addressing::delivered(exchange, std::future::ready(reply).boxed())
}

/// Returns the version of the envelope. If the message doesn't begin with one, returns the version of the media type.
#[cold]
fn version(request: &RequestMessage, options: &Options) -> Version {
    let options = options.limits.into();
    let version =
        read_envelope(&request.message, request.charset, &options, None, |reader| Ok(envelope::version(reader)));
    version.ok().flatten().unwrap_or(request.version)
}
