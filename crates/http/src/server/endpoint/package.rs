//! Requests that arrive in packages.

use std::sync::Arc;
use std::time::Instant;

use castile_mime::{Charges, ErrorKind, Message, Related};
use castile_soap::{Fault, ReplyMessage, RequestMessage, Step, Version};

use super::asked::Asked;
use super::shared::Shared;
use crate::error::BoxError;
use crate::headers::Unread;
use crate::package::{Contained, declared_version};
use crate::server::receiving::{Coming, Receiving};
use crate::server::refusal::{Refusal, Stalled};
use crate::timeout::within_progress;

impl<S: castile_soap::Service + ?Sized> Shared<S> {
    /// Answers a request as soon as its envelope is there. The handler reads the remaining parts on demand.
    pub(super) async fn answer_package<B>(
        &self,
        asked: Asked,
        related: &Related,
        body: B,
        coming: &Arc<Coming>,
    ) -> Result<ReplyMessage, Refusal>
    where
        B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let options = &self.options;
        let reservation = self.reservation(&asked.ticket)?;
        Self::charge_coding(&asked, &reservation).await?;
        let body = self.coded(body, &asked);
        let body = Receiving::package(body, options.pace(), asked.ticket.clone(), reservation.clone(), coming.clone());
        let mut limits = options.messages.attachments;
        limits.root_size = limits.root_size.min(options.messages.limits.message_size);
        let disk = self.disk(&asked.ticket)?;
        asked.ticket.holds_package(&reservation, &disk);
        let relieve = || [&reservation, &disk].into_iter().for_each(|charged| asked.ticket.relieve_if_refused(charged));
        let charges = Charges { memory: reservation.clone(), disk: disk.clone() };
        let message = match Message::read_charged(related, body, limits, Some(charges)).await {
            Ok(message) => message,
            Err(error) => {
                relieve();
                let refused = refuse(declared_version(related), error);
                if let (Some(trace), Ok(reply)) = (&asked.trace, &refused) {
                    trace.replied(reply);
                }
                return refused;
            }
        };
        if let Some(trace) = &asked.trace {
            trace.came(message.root.len());
        }
        let Contained { packaging, message_type } = Contained::read(related, &message).map_err(Refusal::ContentType)?;
        let action = message_type.action.unwrap_or(asked.action);
        let mut request = RequestMessage::new(message_type.version, message.root)
            .with_action(action)
            .with_charset(message_type.charset)
            .with_http_headers(asked.headers.unwrap_or_default())
            .with_attachments(packaging, message.attachments)
            .with_trace(asked.trace.clone());
        request.reservation = Some(reservation.clone());
        request.accepts_mtom = asked.accepts_mtom;
        request.extensions = asked.extensions;
        request.peer = asked.ticket.peer();
        coming.begin_work(&asked.ticket);
        asked.ticket.work().await?;
        if let Some(trace) = &asked.trace {
            trace.end(Step::Queue);
        }
        let limit = options.request_timeout;
        request.deadline = Instant::now().checked_add(limit);
        let reply = coming.work(&asked.ticket, self.call(request));
        let reply = within_progress(limit, &coming.progress, reply).await;
        relieve();
        reservation.release();
        drop((reservation, disk));
        let reply = reply.map_err(|_| Refusal::HandlerTimeout { limit })?;
        asked.ticket.holds_answer(&reply);
        if let Some(trace) = &asked.trace {
            trace.replied(&reply);
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
        (ErrorKind::ContentType, _) => Err(Refusal::ContentType(Unread::Package(error.to_string()))),
        _ => Ok(ReplyMessage::from_fault(version, &Fault::<castile_soap::NoDetail>::from(error))),
    }
}
