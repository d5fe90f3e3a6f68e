//! Who is told of each request and its answer, once, when it is over.

mod access_log;
mod layer;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "tracing")]
mod spans;
mod status;

use std::cell::Cell;
use std::fmt;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use castile_soap::{Description, FaultCode, Known, Operation, Step, Trace, Version};
use http::uri::PathAndQuery;
use http::{Extensions, Method, Request, StatusCode};

use super::listener::Connection;

pub use access_log::AccessLog;
pub(super) use layer::Left;
pub use layer::{Observed, ObservedBody, ObservedFuture, ObserverLayer};
#[cfg(feature = "metrics")]
pub use metrics::Metrics;
#[cfg(feature = "tracing")]
pub use spans::{Events, Spanned, Spans};
pub use status::{Load, Status};

/// Is told of each exchange when it is over: that its answer was sent, or that there won't be one.
///
/// A [`Server`](super::Server) tells of every request whose head could be read, also of those that no service saw: to a path that is not
/// there, or refused since there was too much to do. Functions are observers.
///
/// It is called where connections are driven, so it must neither wait nor take long. That it panics is nothing to the answer.
///
/// ```
/// use castile_http::server::{Exchange, Server};
///
/// let server = Server::new().observer(|exchange: &Exchange<'_>| {
///     if let Some(operation) = exchange.operation() {
///         println!("{} took {:?}", operation.name, exchange.elapsed());
///     }
/// });
/// ```
pub trait Observer: Send + Sync + 'static {
    /// Called once per exchange, after the answer was sent or given up. A panic in `observe` is caught.
    fn observe(&self, exchange: &Exchange<'_>);

    /// A server begins to serve. `status` tells what it is doing for as long as it does.
    fn serving(&self, status: &Status) {
        let _ = status;
    }

    /// A TLS handshake failed, so no request came of its connection. That counts as failed, too, whose certificate was revoked since its
    /// session began: it is resumed, and answered 403. Nothing is done about it by default.
    fn handshake_failed(&self, failure: &HandshakeFailure<'_>) {
        let _ = failure;
    }

    /// Whether it wants to know how long each step took. Steps are timed where one of several observers does. `true` by default.
    fn wants_steps(&self) -> bool {
        true
    }
}

impl<F: Fn(&Exchange<'_>) + Send + Sync + 'static> Observer for F {
    fn observe(&self, exchange: &Exchange<'_>) {
        self(exchange);
    }
}

/// A request and its answer, as far as they came.
#[derive(Debug)]
pub struct Exchange<'a> {
    observation: &'a Observation,
    known: Known,
    elapsed: Duration,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// An answer that is neither of the others was sent.
    Ok,
    /// A fault was sent.
    Fault,
    /// It was answered by a status of HTTP of 400 or more, and by no fault.
    Refused,
    /// There was no answer, or not all of it was sent: the client has gone, or the server has ended.
    Broken,
}

impl Outcome {
    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Fault => "fault",
            Outcome::Refused => "refused",
            Outcome::Broken => "broken",
        }
    }
}

impl Exchange<'_> {
    /// The method of HTTP.
    pub fn method(&self) -> &Method {
        &self.observation.method
    }

    /// The path of the target as the client wrote it, without its query, which may hold what is secret.
    pub fn path(&self) -> &str {
        self.observation.target.as_ref().map_or("", PathAndQuery::path)
    }

    /// The address of the client, where it is known.
    pub fn peer(&self) -> Option<IpAddr> {
        self.observation.peer
    }

    /// The service that the request came to; `None` where no [`Endpoint`](super::Endpoint) saw it.
    pub fn service(&self) -> Option<&'static Description> {
        self.known.service
    }

    /// The operation that was called; `None` of a request that failed before it was known, or that is no message.
    pub fn operation(&self) -> Option<&'static Operation> {
        self.known.operation
    }

    /// The version of SOAP of the answer; `None` where it is no message.
    pub fn version(&self) -> Option<Version> {
        self.known.version
    }

    /// The status of HTTP; `None` where there was no answer.
    pub fn status(&self) -> Option<StatusCode> {
        self.observation.answered.map(|(status, _)| status)
    }

    /// How it ended.
    pub fn outcome(&self) -> Outcome {
        match self.status() {
            _ if !self.observation.is_sent => Outcome::Broken,
            None => Outcome::Broken,
            Some(_) if self.fault().is_some() => Outcome::Fault,
            Some(status) if status.as_u16() >= 400 => Outcome::Refused,
            Some(_) => Outcome::Ok,
        }
    }

    /// The code of the fault that was the answer, if it was one.
    pub fn fault(&self) -> Option<&FaultCode> {
        self.known.fault.as_ref()
    }

    /// The size of the message that came, in bytes: out of its gzip, without its attachments. 0 where none came whole.
    pub fn request_size(&self) -> u64 {
        self.known.request_size
    }

    /// The size of the body of the answer that was handed to the connection, in bytes.
    pub fn response_size(&self) -> u64 {
        self.observation.sent
    }

    /// How long a step took that a service makes; `None` where it was not made, or no observer
    /// [wants](Observer::wants_steps) steps.
    pub fn duration(&self, step: Step) -> Option<Duration> {
        self.observation.trace.duration(step)
    }

    /// How long it took to hand the answer to the connection, from when it was there. What the system and the network keep is not in it.
    /// `None` as for steps.
    pub fn write(&self) -> Option<Duration> {
        self.observation.answered.and_then(|(_, at)| at).map(|at| self.elapsed.saturating_sub(at))
    }

    /// How long the exchange took, from when its head was read.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

/// A TLS handshake that failed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HandshakeFailure<'a> {
    /// The address of the client, where it is known.
    pub peer: Option<IpAddr>,
    /// Why it failed.
    pub reason: &'a str,
}

/// All observers of a server.
#[derive(Clone, Default)]
pub(super) struct Observers(Option<Arc<All>>);

#[derive(Clone, Default)]
struct All {
    observers: Vec<Arc<dyn Observer>>,
    want_steps: bool,
}

thread_local! {
    /// The trace of the request that a service is called with on this thread.
    static CALLED: Cell<Option<Trace>> = const { Cell::new(None) };
}

/// Says that a service is at work on an observed request on this thread: one that panics leaves its trace to nobody.
struct Called;

impl Drop for Called {
    fn drop(&mut self) {
        CALLED.take();
    }
}

/// The trace of the request that this thread calls a service with, if somebody observes it: a server says so by the thread, which costs
/// less, and who is nearer to the service by the extensions.
pub(super) fn called(extensions: &Extensions) -> Option<Trace> {
    let by_thread = CALLED.take();
    extensions.get::<Trace>().cloned().or(by_thread)
}

impl Observers {
    pub(super) fn add(&mut self, observer: Arc<dyn Observer>) {
        let all = Arc::make_mut(self.0.get_or_insert_default());
        all.want_steps |= observer.wants_steps();
        all.observers.push(observer);
    }

    /// A server begins to serve.
    pub(super) fn serving(&self, status: &Status) {
        for observer in self.0.iter().flat_map(|all| &all.observers) {
            // A panic is the observer's affair, and no reason not to serve.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.serving(status)));
        }
    }

    /// A connection is over without a further request; `is_late` says that there was no more time for one.
    pub(super) fn no_request(&self, connection: &impl Connection, is_late: bool) {
        let Some(all) = &self.0 else { return };
        let late = || (is_late && connection.is_in_handshake()).then(|| "it was not done in time".to_owned());
        let Some(reason) = connection.handshake_failure().or_else(late) else { return };
        let failure = HandshakeFailure { peer: connection.peer(), reason: &reason };
        for observer in &all.observers {
            // A panic is the observer's affair, and ends no task here.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.handshake_failed(&failure)));
        }
    }

    /// Observes a request that was read at `begun`. Where nobody does, nothing is noted.
    pub(super) fn begin<B>(
        &self,
        request: &Request<B>,
        begun: impl FnOnce() -> Instant,
        peer: impl FnOnce() -> Option<IpAddr>,
    ) -> Option<Observation> {
        let all = self.0.clone()?;
        let peer = peer();
        let trace = Trace::begin(begun(), all.want_steps);
        let target = request.uri().path_and_query().cloned();
        let method = request.method().clone();
        Some(Observation { all, trace, method, target, peer, is_found: false, answered: None, sent: 0, is_sent: false })
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} observers", self.0.as_ref().map_or(0, |all| all.observers.len()))
    }
}

/// An exchange under way. The observers are told when it is dropped.
pub(super) struct Observation {
    all: Arc<All>,
    trace: Trace,
    method: Method,
    target: Option<PathAndQuery>,
    peer: Option<IpAddr>,
    /// Whether a service has found the trace by its thread.
    is_found: bool,
    /// The status of the answer, and when it was there if steps are timed.
    answered: Option<(StatusCode, Option<Duration>)>,
    sent: u64,
    is_sent: bool,
}

impl Observation {
    /// Has a service do something, such as to call an endpoint, which finds the trace by this thread. One finds it and no more.
    pub(super) fn at_work<T>(&mut self, work: impl FnOnce() -> T) -> T {
        if self.is_found {
            return work();
        }
        CALLED.set(Some(self.trace.clone()));
        let _called = Called;
        let done = work();
        self.is_found = CALLED.take().is_none();
        done
    }

    /// The answer is there. One without a body is sent by that.
    pub(super) fn answered(&mut self, status: StatusCode, is_empty: bool) {
        self.answered = Some((status, self.all.want_steps.then(|| self.trace.begun().elapsed())));
        self.is_sent = is_empty || self.method == Method::HEAD;
    }

    /// So much of the answer was handed to the connection; `is_last` says that it was the last of it.
    pub(super) fn sent(&mut self, bytes: usize, is_last: bool) {
        self.sent += bytes as u64;
        self.is_sent = is_last;
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        let exchange = Exchange { elapsed: self.trace.begun().elapsed(), known: self.trace.known(), observation: self };
        for observer in &self.all.observers {
            // A panic within a drop would end the process.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.observe(&exchange)));
        }
    }
}

impl fmt::Debug for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Observation { trace, method, target, answered, sent, is_sent, .. } = self;
        let path = target.as_ref().map(PathAndQuery::path);
        f.debug_struct("Observation")
            .field("method", method)
            .field("path", &path)
            .field("trace", trace)
            .field("answered", answered)
            .field("sent", sent)
            .field("is_sent", is_sent)
            .finish()
    }
}
