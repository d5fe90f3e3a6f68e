//! Security of a service.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use castile_datatypes::QName;
use castile_mime::Rest;
use castile_soap::addressing::Replies;
use castile_soap::{Description, Fault, FaultCode, Options, Pending, ReplyMessage, RequestMessage, Service, Version};
use futures_util::future::BoxFuture;
use tower_layer::Layer;

use super::policy::{Checked, Policy};
use super::sent_parts::SentParts;
use super::sign::OutgoingSecurity;
use crate::uris::WSSE;
use crate::{Error, ErrorKind};

/// Applies a [`Policy`] to the requests of a service. Handlers find the [`VerifiedMessage`](super::VerifiedMessage) in the request's
/// extensions. If there are several layers, for several roles, it is that of the innermost one, which leads to the
/// [others](super::VerifiedMessage::outer).
///
/// Every request that doesn't fulfil the policy gets the same fault, so that its sender learns nothing. The fault is sent on the connection,
/// whatever address WS-Addressing has. [`on_refusal`](Self::on_refusal) gets the
/// reason. If memory is too short to verify a request, or memory or disk space for the attachments of somebody who is trusted,
/// the answer is that of any exhausted server: HTTP sends status 503.
///
/// Attachments whose signatures are verified are stored before the handler is called, which then reads them from there. With
/// [`Policy::with_streamed_attachments`], the handler reads them while they arrive. Its reply is sent when all of them have arrived and are
/// what was signed. The request is refused otherwise, whatever the handler answered. What the handler leaves of them is read up to the
/// limit of content, and a task that still reads them then gets an error.
#[derive(Clone)]
pub struct SecurityLayer {
    policy: Arc<Policy>,
    reply: Option<Arc<OutgoingSecurity>>,
    /// Whether replies confirm the signatures of requests.
    confirms_signatures: bool,
    on_refusal: Option<OnError>,
    on_unsecured_reply: Option<OnError>,
}

type OnError = Arc<dyn Fn(&Error) + Send + Sync>;

/// A service with a [`SecurityLayer`] around it.
#[derive(Clone, Debug)]
pub struct Secured<S> {
    service: Arc<S>,
    layer: SecurityLayer,
}

impl SecurityLayer {
    /// Creates a layer that applies this policy.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let policy = Arc::new(policy);
        SecurityLayer { policy, reply: None, confirms_signatures: false, on_refusal: None, on_unsecured_reply: None }
    }

    /// Also adds security to replies, faults included, and those that WS-Addressing sends to another address. Attachments of a reply are
    /// signed, too, and must not be streams. The fault for a request that is refused has none: strangers would otherwise have the server
    /// sign as often as they like.
    #[must_use]
    pub fn with_reply_security(self, reply: OutgoingSecurity) -> Self {
        SecurityLayer { reply: Some(Arc::new(reply)), ..self }
    }

    /// Has replies confirm the signatures of their requests (WS-Security 1.1 §8.5), so that nobody can take the reply to one request
    /// for that to another. It needs [reply security](Self::with_reply_security) with a signature, without which replies become
    /// faults. Clients must understand it.
    #[must_use]
    pub fn with_signature_confirmation(self) -> Self {
        SecurityLayer { confirms_signatures: true, ..self }
    }

    /// Calls a function with the reason for which a request is refused, for a log.
    #[must_use]
    pub fn on_refusal(self, function: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        SecurityLayer { on_refusal: Some(Arc::new(function)), ..self }
    }

    /// Calls a function with the reason for which a reply can't be secured, for a log. The request was accepted then, and its handler
    /// called; its sender gets a fault.
    #[must_use]
    pub fn on_unsecured_reply(self, function: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        SecurityLayer { on_unsecured_reply: Some(Arc::new(function)), ..self }
    }

    fn check(&self, request: &RequestMessage) -> Result<Checked, Error> {
        let RequestMessage { message, charset, packaging, reservation, .. } = request;
        self.policy.check(message, *charset, *packaging, reservation.as_ref())
    }

    /// Answers a request that doesn't fulfil the policy.
    async fn refuse(&self, request: &RequestMessage, options: &Options, error: Error) -> ReplyMessage {
        report(self.on_refusal.as_ref(), &error);
        // Only attachments that somebody trusted has signed are stored, so this tells strangers nothing but that the server has
        // little memory.
        match error.kind() {
            ErrorKind::Exhausted => ReplyMessage::exhausted(request.version),
            _ => {
                // Strangers don't choose where an answer goes.
                let mut options = options.clone();
                options.addressing.replies = None;
                request.refuse(&options, &refusal(request.version)).await
            }
        }
    }

    /// Returns the reply with security, or a fault without it, if it can't be secured. `request` has the signature values of the
    /// request.
    async fn secure(&self, reply: ReplyMessage, request: &[Vec<u8>]) -> ReplyMessage {
        let version = reply.version;
        self.secured(reply, request).await.unwrap_or_else(|| {
            let fault = Fault::<castile_soap::NoDetail>::receiver("the reply could not be secured");
            ReplyMessage::from_fault(version, &fault)
        })
    }

    /// Returns the reply with security. `None` if it can't be secured, which is reported.
    async fn secured(&self, mut reply: ReplyMessage, request: &[Vec<u8>]) -> Option<ReplyMessage> {
        let Some(security) = &self.reply else {
            if !self.confirms_signatures {
                return Some(reply);
            }
            let message = "a reply that confirms signatures, and no reply security to sign it with";
            report(self.on_unsecured_reply.as_ref(), &Error::new(ErrorKind::Key, message));
            return None;
        };
        let known = reply.take_canonical_content();
        let secured = match reply.message.bytes() {
            Some(message) if message.is_empty() => return Some(reply),
            Some(message) => {
                let parts = SentParts::of(reply.packaging, &reply.parts);
                security.secured(message, known, parts, self.confirms_signatures.then_some(request)).await
            }
            None => Err(Error::new(ErrorKind::Unsupported, "a reply that is sent as a stream can't be secured")),
        };
        match secured {
            Ok(secured) => reply.message = Bytes::from(secured.message).into(),
            Err(error) => {
                report(self.on_unsecured_reply.as_ref(), &error);
                return None;
            }
        }
        Some(reply)
    }
}

impl<S: Service> Layer<S> for SecurityLayer {
    type Service = Secured<S>;

    fn layer(&self, service: S) -> Secured<S> {
        Secured { service: Arc::new(service), layer: self.clone() }
    }
}

impl<S: Service> Service for Secured<S> {
    fn description(&self) -> &'static Description {
        self.service.description()
    }

    /// Checks signatures at once: a large message is on a worker then, if offloading is configured.
    fn call(&self, mut request: RequestMessage, options: &Options) -> Pending {
        let checked = self.layer.check(&request);
        let (service, layer, mut options) = (self.service.clone(), self.layer.clone(), options.clone());
        options.notes_canonical |= layer.reply.is_some();
        options.confines_references = true;
        Box::pin(async move {
            let verified = match checked {
                Ok(checked) => {
                    let offload = options.offload.as_ref();
                    layer.policy.finish(checked, Some(&mut request.attachments), offload).await
                }
                Err(error) => Err(error),
            };
            let values = match verified {
                Ok(mut verified) => {
                    verified.block().into_iter().for_each(|offset| request.understand_block(offset));
                    verified.outer = request.extensions.remove().map(Box::new);
                    request.require_includes(verified.required_includes());
                    let values = verified.values().to_vec();
                    request.extensions.insert(verified);
                    values
                }
                Err(error) => return layer.refuse(&request, &options, error).await,
            };
            let streamed = Streamed::of(&request, &options).map(Arc::new);
            if let Some(replies) = options.addressing.replies.take_if(|_| layer.reply.is_some() || streamed.is_some()) {
                let (layer, request, streamed) = (layer.clone(), values.clone(), streamed.clone());
                options.addressing.replies = Some(Arc::new(SecuredReplies { replies, layer, request, streamed }));
            }
            let reply = service.call(request, &options).await;
            if let Some(Streamed { rest, request, options }) = streamed.as_deref()
                && let Err(error) = layer.policy.verified(rest).await
            {
                return layer.refuse(request, options, error).await;
            }
            layer.secure(reply, &values).await
        })
    }
}

fn report(function: Option<&OnError>, error: &Error) {
    if let Some(function) = function {
        function(error);
    }
}

/// Attachments that are compared with their signatures while a handler reads them.
struct Streamed {
    rest: Rest,
    /// What is needed of the request to refuse it.
    request: RequestMessage,
    options: Options,
}

impl Streamed {
    /// Returns `None` if everything is known of the attachments of a request, or nothing has to be.
    fn of(request: &RequestMessage, options: &Options) -> Option<Self> {
        let rest = request.attachments.rest().filter(Rest::is_inspected)?;
        let RequestMessage { version, message, charset, action, reservation, .. } = request;
        let mut request =
            RequestMessage::new(*version, message.clone()).with_charset(*charset).with_action(action.clone());
        request.reservation.clone_from(reservation);
        Some(Streamed { rest, request, options: options.clone() })
    }
}

/// Adds security to the replies that WS-Addressing sends to other addresses.
struct SecuredReplies {
    replies: Arc<dyn Replies>,
    layer: SecurityLayer,
    /// The signature values of the request.
    request: Vec<Vec<u8>>,
    streamed: Option<Arc<Streamed>>,
}

impl Replies for SecuredReplies {
    fn allows(&self, address: &str) -> bool {
        self.replies.allows(address)
    }

    fn send(&self, address: String, action: String, reply: ReplyMessage) -> BoxFuture<'static, ()> {
        let SecuredReplies { replies, layer, request, streamed } = self;
        let (replies, layer, request) = (replies.clone(), layer.clone(), request.clone());
        let streamed = streamed.clone();
        Box::pin(async move {
            // The layer then refuses the request.
            if let Some(streamed) = streamed
                && layer.policy.verified(&streamed.rest).await.is_err()
            {
                return;
            }
            // Without security nobody there would accept it.
            if let Some(reply) = layer.secured(reply, &request).await {
                replies.send(address, action, reply).await;
            }
        })
    }
}

/// The fault for every failure (WS-Security §12).
fn refusal(version: Version) -> Fault {
    let name = QName { namespace: WSSE.into(), local: "InvalidSecurity".into(), prefix: "wsse".into() };
    let reason = "An error was discovered processing the <wsse:Security> header.";
    match version {
        Version::Soap11 => Fault::new(FaultCode::Other(name.into()), reason).about_header(),
        _ => Fault::sender(reason).with_subcode(name),
    }
}

impl fmt::Debug for SecurityLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SecurityLayer { policy, reply, confirms_signatures, .. } = self;
        f.debug_struct("SecurityLayer")
            .field("policy", policy)
            .field("reply", reply)
            .field("confirms_signatures", confirms_signatures)
            .finish_non_exhaustive()
    }
}
