//! Spans and events of `tracing`.

use std::sync::Arc;

use castile_soap::{
    Description, FaultCode, Layer, Options, Pending, ReplyMessage, RequestMessage, Service, Step, Trace,
};
use tracing::{Instrument, Level, Span, field};

use super::access_log::{fault_name, method, path};
use super::{Exchange, HandshakeFailure, Observer, Outcome};

/// A layer that runs each request of a service in a `tracing` span. Everything in the handler, also after an `await`,
/// is in the span.
///
/// The span is `soap`, at the level INFO. Its fields have the names of OpenTelemetry's conventions for RPC.
/// `rpc.system.name` is `soap`. `rpc.method` is `service/operation`, or `service/_OTHER` if no operation is known.
/// `otel.kind` is `server`, and `client.address` the address of the client. When the reply is there,
/// `rpc.response.status_code` and `error.type` are the code of its fault.
///
/// A layer outside of this one can enter its own span as the parent of this span. That continues a trace of another
/// process (`docs/observability.md`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Spans;

impl Spans {
    /// Creates the layer.
    pub fn new() -> Self {
        Spans
    }
}

impl<S: Service> Layer<S> for Spans {
    type Service = Spanned<S>;

    fn layer(&self, service: S) -> Spanned<S> {
        Spanned(Arc::new(service))
    }
}

/// A service with [`Spans`] around it.
#[derive(Debug)]
pub struct Spanned<S>(Arc<S>);

impl<S: Service> Service for Spanned<S> {
    fn description(&self) -> &'static Description {
        self.0.description()
    }

    fn call(&self, mut request: RequestMessage, options: &Options) -> Pending {
        let span = tracing::info_span!(
            "soap",
            otel.name = field::Empty,
            otel.kind = "server",
            rpc.system.name = "soap",
            rpc.method = field::Empty,
            client.address = field::Empty,
            rpc.response.status_code = field::Empty,
            error.r#type = field::Empty,
        );
        if span.is_disabled() {
            return self.0.call(request, options);
        }
        if let Some(peer) = request.peer {
            span.record("client.address", field::display(peer));
        }
        let trace = request.trace();
        // Called outside of the span: a collector may fix the name of the span when it is first entered.
        let pending = self.0.call(request, options);
        let service = self.description().name;
        // A large message is decoded by workers, so its operation is known only later. The field is recorded once,
        // because some collectors show it twice otherwise.
        let is_known = trace.operation().is_some();
        if is_known {
            name(&span, service, &trace);
        }
        let of_reply = span.clone();
        let reply = async move {
            let reply = pending.await;
            if !is_known {
                name(&of_reply, service, &trace);
            }
            close(&of_reply, &reply);
            reply
        };
        Box::pin(reply.instrument(span))
    }
}

fn name(span: &Span, service: &str, trace: &Trace) {
    let operation = trace.operation().map_or("_OTHER", |operation| operation.name);
    let method = format!("{service}/{operation}");
    span.record("rpc.method", &*method);
    span.record("otel.name", &*method);
}

fn close(span: &Span, reply: &ReplyMessage) {
    if let Some(code) = &reply.fault {
        span.record("rpc.response.status_code", fault_name(code));
        span.record("error.type", fault_name(code));
    }
}

/// An observer that reports each exchange as a `tracing` event. Its level is INFO, or WARN for a receiver fault, for a
/// rejection with a status of 500 or more, and for a broken exchange.
#[derive(Clone, Copy, Debug, Default)]
pub struct Events;

impl Events {
    /// Creates the observer.
    pub fn new() -> Self {
        Events
    }
}

impl Observer for Events {
    fn handshake_failed(&self, failure: &HandshakeFailure<'_>) {
        let HandshakeFailure { peer, reason } = failure;
        tracing::event!(Level::INFO, peer = peer.map(field::display), reason, "TLS handshake failed");
    }

    fn observe(&self, exchange: &Exchange<'_>) {
        macro_rules! event {
            ($level:expr) => {
                tracing::event!(
                    $level,
                    service = exchange.service().map(|service| service.name),
                    operation = exchange.operation().map(|operation| operation.name),
                    outcome = exchange.outcome().name(),
                    fault = exchange.fault().map(fault_name),
                    status = exchange.status().map(|status| status.as_u16()),
                    method = method(exchange),
                    path = path(exchange),
                    peer = exchange.peer().map(field::display),
                    request_bytes = exchange.request_size(),
                    response_bytes = exchange.response_size(),
                    decode_s = exchange.duration(Step::Decode).map(|duration| duration.as_secs_f64()),
                    handle_s = exchange.duration(Step::Handle).map(|duration| duration.as_secs_f64()),
                    encode_s = exchange.duration(Step::Encode).map(|duration| duration.as_secs_f64()),
                    elapsed_s = exchange.elapsed().as_secs_f64(),
                    "exchange"
                )
            };
        }
        let is_ours = match exchange.outcome() {
            Outcome::Ok => false,
            Outcome::Broken => true,
            // SOAP 1.1 sends all faults with 500.
            Outcome::Fault => exchange.fault() == Some(&FaultCode::Receiver),
            Outcome::Refused => exchange.status().is_some_and(|status| status.is_server_error()),
        };
        if is_ours {
            event!(Level::WARN);
        } else {
            event!(Level::INFO);
        }
    }
}
