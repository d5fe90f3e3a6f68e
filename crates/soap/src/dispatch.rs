//! From a request message to a handler and back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use castile_databinding::{Decoder, Encoder, FromXml, ToXml};
use castile_xml::Reader;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::envelope::end_tag;
use crate::{
    Description, Envelope, Error, ErrorKind, Fault, FaultDetail, Leniency, NoDetail, Operation, Options, Reply,
    Request, Service, Version, header, message,
};

/// A service as generated code writes it: which operations there are, and a handler for each.
pub trait Dispatch: Send + Sync + 'static {
    /// What the service offers.
    const DESCRIPTION: &'static Description;

    /// Hands the payload to the handler of `DESCRIPTION.operations[operation]`.
    ///
    /// # Errors
    /// That the payload is not what the operation takes.
    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, Error>;

    /// Whether header blocks of this name are understood, so that they may say `mustUnderstand`.
    fn understands(&self, _namespace: &str, _local: &str) -> bool {
        false
    }
}

/// A reply that is being worked on.
pub type Pending = BoxFuture<'static, Reply>;

/// The payload of a request, not yet read.
#[derive(Debug)]
pub struct Payload<'a> {
    decoder: Decoder<'a>,
    operation: &'static Operation,
    version: Version,
    leniency: Option<Leniency>,
}

impl<D: Dispatch> Service for D {
    fn description(&self) -> &'static Description {
        D::DESCRIPTION
    }

    fn call(&self, request: Request<'_>, options: &Options) -> Pending {
        // A panic while reading is an error of this engine or of a handler's own types; it ends this request only.
        let error = match catch_unwind(AssertUnwindSafe(|| start(self, &request, options))) {
            Ok(Ok(pending)) => return pending,
            Ok(Err(error)) => Some(error),
            Err(_) => None,
        };
        std::future::ready(refuse(&request, options, error)).boxed()
    }
}

/// Reads a request as far as it needs to be to find its operation, and hands it on.
fn start<D: Dispatch>(service: &D, request: &Request<'_>, options: &Options) -> Result<Pending, Error> {
    message::read_with(&request.message, request.charset, options, |mut reader, leniency| {
        match open(service, request.action, &mut reader) {
            Ok((envelope, operation)) => {
                let payload = Payload {
                    decoder: message::decoder(reader, leniency),
                    operation: &D::DESCRIPTION.operations[operation],
                    version: envelope.version,
                    leniency: leniency.cloned(),
                };
                service.dispatch(operation, payload)
            }
            Err(error) => {
                message::keep(reader.into_memory());
                Err(error)
            }
        }
    })
}

/// The answer to a message that can't be read, or to one that makes us panic, in the version that it is in.
#[cold]
fn refuse(request: &Request<'_>, options: &Options, error: Option<Error>) -> Reply {
    let version = message::version(&request.message, request.charset, options.limits).unwrap_or(request.version);
    match error {
        None => fault_reply(version, &panicked()),
        Some(error) => {
            let header = header::of_refusal(version, &error);
            fault_reply_with(version, &header, &Fault::<NoDetail>::from(error))
        }
    }
}

fn open<D: Dispatch>(service: &D, action: &str, reader: &mut Reader<'_>) -> Result<(Envelope, usize), Error> {
    let (envelope, payload) = Envelope::read(reader)?;
    envelope.check_understood(|namespace, local| service.understands(namespace, local))?;
    let Some(tag) = payload else {
        let message = "the body is empty, where the element of an operation was expected";
        return Err(Error::at(end_tag(reader), ErrorKind::UnknownOperation, message));
    };
    let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
    let operations = D::DESCRIPTION.operations;
    let by_name = |operation: &&Operation| {
        operation.request.element.name == local && operation.request.element.namespace == namespace
    };
    let mut candidates = operations.iter().enumerate().filter(|(_, operation)| by_name(operation));
    let operation = match (candidates.next(), candidates.next()) {
        (Some((index, _)), None) => index,
        // Operations that take the same element are told apart by their action.
        (Some(_), Some(_)) => {
            let meant = operations.iter().position(|operation| operation.action == action && by_name(&operation));
            meant.ok_or_else(|| {
                let actions = operations.iter().filter(by_name).map(|operation| format!("{:?}", operation.action));
                let actions = actions.collect::<Vec<_>>().join(" or ");
                let message = format!("found the action {action:?} with <{local}>, where {actions} was expected");
                Error::at(tag.offset, ErrorKind::UnknownOperation, message)
            })?
        }
        (None, _) => {
            let expected = operations.iter().find(|operation| !action.is_empty() && operation.action == action);
            let expected = match expected {
                Some(operation) => format!(
                    "<{}> of {:?} for the action {action:?}",
                    operation.request.element.name, operation.request.element.namespace
                ),
                None => format!("the element of an operation of {}", D::DESCRIPTION.name),
            };
            let message = format!("found <{local}> of {namespace:?}, where {expected} was expected");
            return Err(Error::at(tag.offset, ErrorKind::UnknownOperation, message));
        }
    };
    Ok((envelope, operation))
}

impl Payload<'_> {
    /// Reads the payload and the rest of the message, and calls the handler with it.
    ///
    /// # Errors
    /// That the payload is not a `Q`, or the message not well-formed. The handler is not called then.
    pub fn handle<Q, R, D, F>(self, handler: impl FnOnce(Q) -> F + Send + 'static) -> Result<Pending, Error>
    where
        Q: FromXml + Send + 'static,
        R: ToXml + Send,
        D: FaultDetail,
        F: Future<Output = Result<R, Fault<D>>> + Send,
    {
        let Payload { decoder, operation, version, leniency } = self;
        let request: Q = message::read_payload(decoder, &operation.request, |deviations| {
            leniency.iter().for_each(|leniency| leniency.tell(operation, deviations));
        })?;
        Ok(Box::pin(async move {
            // A handler's panic is its own affair: it answers with a fault and leaves no state of ours behind. So is
            // one of its types while they are written.
            let reply = async move {
                match handler(request).await {
                    Ok(response) => response_reply(version, operation, &response),
                    Err(fault) => fault_reply(version, &fault),
                }
            };
            AssertUnwindSafe(reply).catch_unwind().await.unwrap_or_else(|_| fault_reply(version, &panicked()))
        }))
    }
}

fn response_reply<R: ToXml>(version: Version, operation: &Operation, response: &R) -> Reply {
    match message::write(version, &operation.response, response, operation.response_size.buffer()) {
        Ok(message) => {
            operation.response_size.note(message.len());
            Reply { version, fault: None, message: message.into() }
        }
        Err(error) => fault_reply::<NoDetail>(version, &error.into()),
    }
}

fn fault_reply<D: FaultDetail>(version: Version, fault: &Fault<D>) -> Reply {
    fault_reply_with(version, "", fault)
}

/// A fault with the content of a header, which may be empty.
fn fault_reply_with<D: FaultDetail>(version: Version, header: &str, fault: &Fault<D>) -> Reply {
    let mut out = Encoder::default();
    header::write_prologue(version, header, &mut out);
    fault.write(version, &mut out);
    out.raw(version.epilogue());
    match out.finish() {
        Ok(message) => Reply { version, fault: Some(fault.code.clone()), message: message.into() },
        // Only what a handler said can be unwritable: reasons are made printable.
        Err(error) => {
            fault_reply::<NoDetail>(version, &Fault::receiver(format!("the fault can't be written: {error}")))
        }
    }
}

fn panicked() -> Fault {
    // What the panic says has been printed for the operator by the panic hook; it is not for the client.
    Fault::receiver("the service failed; the request may be tried again")
}
