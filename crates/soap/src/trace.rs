//! The trace of a request: what is recorded while it is answered.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::description::{Description, Operation};
use crate::fault::FaultCode;
use crate::reply_message::ReplyMessage;
use crate::version::Version;

/// The trace of one request, for observers: its operation, and how long each [`Step`] took.
///
/// A request has a trace if somebody observes it ([`RequestMessage::trace`](crate::RequestMessage::trace)). Clones share the same
/// data.
///
/// ```
/// use castile_soap::{Next, RequestMessage, Step, from_fn};
///
/// let layer = from_fn(|mut request: RequestMessage, next: Next| async move {
///     let trace = request.trace();
///     let reply = next.run(request).await;
///     if let (Some(operation), Some(handled)) = (trace.operation(), trace.duration(Step::Handle)) {
///         println!("{}: {handled:?} in the handler", operation.name);
///     }
///     reply
/// });
/// # drop(layer);
/// ```
#[derive(Clone, Debug)]
pub struct Trace(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    begun: Instant,
    /// Whether steps are timed.
    is_timed: bool,
    /// When each step ended, in nanoseconds since the beginning. 0 means that the step has not ended.
    ends: [AtomicU64; Step::ALL.len()],
    data: Mutex<TraceData>,
}

/// The properties of a request and its reply that are known so far.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TraceData {
    /// The service of the request, if there is one.
    pub service: Option<&'static Description>,
    /// The operation that the request is for.
    pub operation: Option<&'static Operation>,
    /// The version of SOAP of the reply.
    pub version: Option<Version>,
    /// The fault code, if the reply is a fault.
    pub fault: Option<FaultCode>,
    /// The size of the message in bytes, decompressed and without attachments; 0 until it has arrived.
    pub request_size: u64,
}

/// A step of answering a request. Each step begins where the previous one ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Receiving the message, or the root part of its package.
    Read,
    /// Waiting for a slot of work.
    Queue,
    /// Decoding the message into values.
    Decode,
    /// Running the handler, including its waiting.
    Handle,
    /// Writing the reply message.
    Encode,
}

impl Step {
    /// All steps in order.
    pub const ALL: [Step; 5] = [Step::Read, Step::Queue, Step::Decode, Step::Handle, Step::Encode];

    /// Returns the name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Step::Read => "read",
            Step::Queue => "queue",
            Step::Decode => "decode",
            Step::Handle => "handle",
            Step::Encode => "encode",
        }
    }
}

impl Trace {
    /// Creates a trace of a request that began at `begun`. The trace costs less if steps are not timed.
    pub fn begin(begun: Instant, is_timed: bool) -> Self {
        Trace(Arc::new(Inner { begun, is_timed, ends: Default::default(), data: Mutex::default() }))
    }

    /// Returns when the request began.
    pub fn begun(&self) -> Instant {
        self.0.begun
    }

    /// Returns what is known so far.
    pub fn data(&self) -> TraceData {
        self.lock().clone()
    }

    /// Returns the operation of the request, as soon as it is known.
    pub fn operation(&self) -> Option<&'static Operation> {
        self.lock().operation
    }

    fn lock(&self) -> MutexGuard<'_, TraceData> {
        self.0.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how long a step took, or `None` if it didn't end, didn't take place, or steps are not timed.
    pub fn duration(&self, step: Step) -> Option<Duration> {
        let ends = &self.0.ends[..=step as usize];
        let (end, before) = ends.split_last().map(|(end, before)| (end.load(Relaxed), before))?;
        // A step that was skipped took no time.
        let begun = before.iter().rev().map(|end| end.load(Relaxed)).find(|end| *end > 0).unwrap_or(0);
        (end > 0).then(|| Duration::from_nanos(end.saturating_sub(begun)))
    }

    /// Records the end of a step.
    pub fn end(&self, step: Step) {
        if self.0.is_timed {
            let elapsed = self.0.begun.elapsed().as_nanos();
            self.0.ends[step as usize].store(u64::try_from(elapsed).unwrap_or(u64::MAX).max(1), Relaxed);
        }
    }

    /// Records the service of the request.
    pub fn record_service(&self, service: &'static Description) {
        self.lock().service = Some(service);
    }

    /// Records the arrival of the message, and its size in bytes.
    pub fn record_request(&self, size: usize) {
        self.lock().request_size = size as u64;
        self.end(Step::Read);
    }

    /// Records the service and the operation of the request.
    pub(crate) fn record_operation(&self, service: &'static Description, operation: &'static Operation) {
        let mut known = self.lock();
        (known.service, known.operation) = (Some(service), Some(operation));
    }

    /// Records the reply.
    pub fn record_reply(&self, reply: &ReplyMessage) {
        let mut known = self.lock();
        known.version = Some(reply.version);
        known.fault.clone_from(&reply.fault);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_begins_where_the_one_before_ended() {
        let trace = Trace::begin(Instant::now(), true);
        for (step, end) in [(Step::Read, 10), (Step::Decode, 30), (Step::Handle, 100)] {
            trace.0.ends[step as usize].store(end, Relaxed);
        }
        let durations = Step::ALL.map(|step| trace.duration(step).map(|duration| duration.as_nanos()));
        assert_eq!(durations, [Some(10), None, Some(20), Some(70), None]);
    }

    #[test]
    fn steps_are_timed_where_that_is_asked_for() {
        for is_timed in [false, true] {
            let trace = Trace::begin(Instant::now(), is_timed);
            trace.record_request(7);
            assert_eq!((trace.data().request_size, trace.duration(Step::Read).is_some()), (7, is_timed));
        }
    }
}
