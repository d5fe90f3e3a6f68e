//! Requests that arrive in packages.

use std::sync::Arc;
use std::time::Instant;

use castile_mime::{Charges, ErrorKind, Message, Related};
use castile_soap::{Fault, ReplyMessage, RequestMessage, Step, Version};

use super::request_head::RequestHead;
use super::state::EndpointState;
use crate::error::BoxError;
use crate::headers::UnreadReason;
use crate::package::{Contained, declared_version};
use crate::server::receiving::{PackageState, Receiving};
use crate::server::refusal::{Refusal, Stalled};
use crate::timeout::within_progress;

impl<S: castile_soap::Service + ?Sized> EndpointState<S> {
    /// Answers a request as soon as its envelope is there. The handler reads the remaining parts on demand.
    pub(super) async fn answer_package<B>(
        &self,
        request_head: RequestHead,
        related: &Related,
        body: B,
        coming: &Arc<PackageState>,
    ) -> Result<ReplyMessage, Refusal>
    where
        B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let options = &self.options;
        let reservation = self.reservation(&request_head.ticket)?;
        Self::charge_coding(&request_head, &reservation).await?;
        let body = self.coded(body, &request_head);
        let body =
            Receiving::package(body, options.pace(), request_head.ticket.clone(), reservation.clone(), coming.clone());
        let mut limits = options.messages.attachments;
        limits.root_size = limits.root_size.min(options.messages.limits.message_size);
        let disk = self.disk(&request_head.ticket)?;
        request_head.ticket.register_package(&reservation, &disk);
        let relieve =
            || [&reservation, &disk].into_iter().for_each(|charged| request_head.ticket.relieve_if_refused(charged));
        let charges = Charges { memory: reservation.clone(), disk: disk.clone() };
        let message = match Message::read_charged(related, body, limits, Some(charges)).await {
            Ok(message) => message,
            Err(error) => {
                relieve();
                let refused = refuse(declared_version(related), error);
                if let (Some(trace), Ok(reply)) = (&request_head.trace, &refused) {
                    trace.record_reply(reply);
                }
                return refused;
            }
        };
        if let Some(trace) = &request_head.trace {
            trace.record_request(message.root.len());
        }
        let Contained { packaging, message_type } = Contained::read(related, &message).map_err(Refusal::ContentType)?;
        let action = message_type.action.unwrap_or(request_head.action);
        let mut request = RequestMessage::new(message_type.version, message.root)
            .with_action(action)
            .with_charset(message_type.charset)
            .with_http_headers(request_head.headers.unwrap_or_default())
            .with_attachments(packaging, message.attachments)
            .with_trace(request_head.trace.clone());
        request.reservation = Some(reservation.clone());
        request.accepts_mtom = request_head.accepts_mtom;
        request.extensions = request_head.extensions;
        request.peer = request_head.ticket.peer();
        coming.begin_work(&request_head.ticket);
        request_head.ticket.work().await?;
        if let Some(trace) = &request_head.trace {
            trace.end(Step::Queue);
        }
        let limit = options.request_timeout;
        request.deadline = Instant::now().checked_add(limit);
        let reply = coming.work(&request_head.ticket, self.call(request));
        let reply = within_progress(limit, &coming.progress, reply).await;
        relieve();
        reservation.release();
        drop((reservation, disk));
        let reply = reply.map_err(|_| Refusal::HandlerTimeout { limit })?;
        request_head.ticket.register_answer(&reply);
        if let Some(trace) = &request_head.trace {
            trace.record_reply(&reply);
        }
        Ok(reply)
    }
}

/// Maps an error: a failed transfer becomes an HTTP error, and an invalid package becomes a SOAP fault.
pub(super) fn refuse(version: Version, error: castile_mime::Error) -> Result<ReplyMessage, Refusal> {
    let source = std::error::Error::source(&error);
    let after = error.offset().unwrap_or_default();
    match (error.kind(), source) {
        (_, Some(source)) if source.is::<Stalled>() => Err(Refusal::broken_off(after, source)),
        (ErrorKind::Body, Some(source)) => Err(Refusal::broken_off(after, source)),
        (ErrorKind::Body, None) => Err(Refusal::BrokenOff { after, reason: String::new() }),
        (ErrorKind::Exhausted, _) => Err(Refusal::Exhausted),
        (ErrorKind::Limit, _) => Err(Refusal::Limit { message: error.to_string() }),
        (ErrorKind::ContentType, _) => Err(Refusal::ContentType(UnreadReason::Package(error.to_string()))),
        _ => Ok(ReplyMessage::from_fault(version, &Fault::<castile_soap::NoDetail>::from(error))),
    }
}
