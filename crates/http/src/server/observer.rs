//! Observers, which are notified of each exchange when it is over.

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

use castile_soap::{Description, FaultCode, Operation, Step, Trace, TraceData, Version};
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

/// An observer is notified of each exchange when it is over: when the answer was sent, or when there won't be one.
///
/// A [`Server`](super::Server) reports every request whose head could be read. That includes requests that no service
/// saw: to an unknown path, or rejected because of too much load. Functions are observers.
///
/// The observer is called on the threads that drive connections, so it must not block or take long. A panic in it
/// doesn't affect the answer.
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

    /// Called when a server begins to serve. `status` reports the current load of the server while it runs.
    fn serving(&self, status: &Status) {
        let _ = status;
    }

    /// Called when a TLS handshake failed, so the connection made no request. A resumed session whose client
    /// certificate was revoked since then also counts as failed: it is answered with 403. Does nothing by default.
    fn handshake_failed(&self, failure: &HandshakeFailure<'_>) {
        let _ = failure;
    }

    /// Returns whether the observer needs the duration of each step. Steps are timed if any observer needs them. `true`
    /// by default.
    fn wants_steps(&self) -> bool {
        true
    }
}

impl<F: Fn(&Exchange<'_>) + Send + Sync + 'static> Observer for F {
    fn observe(&self, exchange: &Exchange<'_>) {
        self(exchange);
    }
}

/// A request and its answer, as far as they are known.
#[derive(Debug)]
pub struct Exchange<'a> {
    observation: &'a Observation,
    known: TraceData,
    elapsed: Duration,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// A successful answer was sent.
    Ok,
    /// A fault was sent.
    Fault,
    /// The answer has an HTTP status of 400 or more and isn't a fault.
    Refused,
    /// There was no answer or it was not sent completely: the client disconnected, or the server ended.
    Broken,
}

impl Outcome {
    /// Returns the name in lower case.
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
    /// Returns the HTTP method.
    pub fn method(&self) -> &Method {
        &self.observation.method
    }

    /// Returns the path of the target as the client wrote it. The query is left out, because it may contain secrets.
    pub fn path(&self) -> &str {
        self.observation.target.as_ref().map_or("", PathAndQuery::path)
    }

    /// Returns the address of the client, if it is known.
    pub fn peer(&self) -> Option<IpAddr> {
        self.observation.peer
    }

    /// Returns the service that received the request; `None` if no [`Endpoint`](super::Endpoint) saw it.
    pub fn service(&self) -> Option<&'static Description> {
        self.known.service
    }

    /// Returns the operation that was called; `None` if the request failed before it was known, or is not a message.
    pub fn operation(&self) -> Option<&'static Operation> {
        self.known.operation
    }

    /// Returns the SOAP version of the answer; `None` if it is not a message.
    pub fn version(&self) -> Option<Version> {
        self.known.version
    }

    /// Returns the HTTP status; `None` if there was no answer.
    pub fn status(&self) -> Option<StatusCode> {
        self.observation.answered.map(|(status, _)| status)
    }

    /// Returns how the exchange ended.
    pub fn outcome(&self) -> Outcome {
        match self.status() {
            _ if !self.observation.is_sent => Outcome::Broken,
            None => Outcome::Broken,
            Some(_) if self.fault().is_some() => Outcome::Fault,
            Some(status) if status.as_u16() >= 400 => Outcome::Refused,
            Some(_) => Outcome::Ok,
        }
    }

    /// Returns the fault code of the answer, if it is a fault.
    pub fn fault(&self) -> Option<&FaultCode> {
        self.known.fault.as_ref()
    }

    /// Returns the size of the request's message in bytes: decoded from gzip, without attachments. 0 if no whole
    /// message arrived.
    pub fn request_size(&self) -> u64 {
        self.known.request_size
    }

    /// Returns the number of bytes of the answer's body that were passed to the connection.
    pub fn response_size(&self) -> u64 {
        self.observation.sent
    }

    /// Returns how long a step of the service took; `None` if the step was not reached, or no observer
    /// [wants](Observer::wants_steps) steps.
    pub fn duration(&self, step: Step) -> Option<Duration> {
        self.observation.trace.duration(step)
    }

    /// Returns how long it took to pass the whole answer to the connection. Time in buffers of the system and in the
    /// network is not included. `None` if there was no answer, or no observer [wants](Observer::wants_steps) steps.
    pub fn write(&self) -> Option<Duration> {
        self.observation.answered.and_then(|(_, at)| at).map(|at| self.elapsed.saturating_sub(at))
    }

    /// Returns how long the exchange took, from the end of its head.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

/// A TLS handshake that failed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HandshakeFailure<'a> {
    /// The address of the client, if it is known.
    pub peer: Option<IpAddr>,
    /// The reason.
    pub reason: &'a str,
}

/// All observers of a server. The outer count of references is that of the clones of one [handle](Observers::handle).
#[derive(Clone, Default)]
pub(super) struct Observers(Option<ListHandle>);

/// All cores would change the inner count with each request.
type ListHandle = Arc<Arc<ObserverList>>;

#[derive(Clone, Default)]
struct ObserverList {
    observers: Vec<Arc<dyn Observer>>,
    want_steps: bool,
}

thread_local! {
    /// The trace of the request that is handled on this thread.
    static CALLED: Cell<Option<Trace>> = const { Cell::new(None) };
}

/// Removes the trace when the call of a service ends, also by a panic.
struct Called;

impl Drop for Called {
    fn drop(&mut self) {
        CALLED.take();
    }
}

/// Returns the trace of the request that is handled on this thread, if it is observed. A server sets it per thread,
/// which costs less. An [`ObserverLayer`] is closer to the service and sets it in the extensions.
pub(super) fn called(extensions: &Extensions) -> Option<Trace> {
    let by_thread = CALLED.take();
    extensions.get::<Trace>().cloned().or(by_thread)
}

impl Observers {
    pub(super) fn add(&mut self, observer: Arc<dyn Observer>) {
        let all = Arc::make_mut(Arc::make_mut(self.0.get_or_insert_default()));
        all.want_steps |= observer.wants_steps();
        all.observers.push(observer);
    }

    /// Returns the same observers with a count of references of their own, for one connection.
    pub(super) fn handle(&self) -> Self {
        Observers(self.0.as_deref().map(|all| Arc::new(Arc::clone(all))))
    }

    /// Notifies the observers that a server begins to serve.
    pub(super) fn serving(&self, status: &Status) {
        for observer in self.0.iter().flat_map(|all| &all.observers) {
            // A panic of an observer must not keep the server from serving.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.serving(status)));
        }
    }

    /// Reports that a connection ended without another request. `is_late` is whether it exceeded its time limit.
    pub(super) fn no_request(&self, connection: &impl Connection, is_late: bool) {
        let Some(all) = &self.0 else { return };
        let late = || (is_late && connection.is_in_handshake()).then(|| "it was not done in time".to_owned());
        let Some(reason) = connection.handshake_failure().or_else(late) else { return };
        let failure = HandshakeFailure { peer: connection.peer(), reason: &reason };
        for observer in &all.observers {
            // A panic of an observer must not end the task of the connection.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.handshake_failed(&failure)));
        }
    }

    /// Begins to observe a request that was read at `begun`. Returns `None` if there are no observers.
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

/// An exchange in progress. Dropping it notifies the observers.
pub(super) struct Observation {
    all: ListHandle,
    trace: Trace,
    method: Method,
    target: Option<PathAndQuery>,
    peer: Option<IpAddr>,
    /// Whether a service has taken the trace from its thread.
    is_found: bool,
    /// The status of the answer, and the time until it was there if steps are timed.
    answered: Option<(StatusCode, Option<Duration>)>,
    sent: u64,
    is_sent: bool,
}

impl Observation {
    /// Runs `work`, such as the call of an endpoint, which finds the trace on this thread. Only one service takes it.
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

    /// Records the answer. An answer without a body counts as sent.
    pub(super) fn answered(&mut self, status: StatusCode, is_empty: bool) {
        self.answered = Some((status, self.all.want_steps.then(|| self.trace.begun().elapsed())));
        self.is_sent = is_empty || self.method == Method::HEAD;
    }

    /// Records that `bytes` of the answer were passed to the connection. `is_last` is whether they were the last ones.
    pub(super) fn sent(&mut self, bytes: usize, is_last: bool) {
        self.sent += bytes as u64;
        self.is_sent = is_last;
    }
}

impl Drop for Observation {
    fn drop(&mut self) {
        let exchange = Exchange { elapsed: self.trace.begun().elapsed(), known: self.trace.data(), observation: self };
        for observer in &self.all.observers {
            // A panic in `drop` could end the process.
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
