//! What is noted of a request while it is answered.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{Description, FaultCode, Operation, ReplyMessage, Version};

/// Notes of one request, for those who observe it: which operation it was for, and how long each [`Step`] took.
///
/// A request has one where somebody observes it ([`RequestMessage::trace`](crate::RequestMessage::trace)). Clones are of the same notes.
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
pub struct Trace(Arc<Notes>);

#[derive(Debug)]
struct Notes {
    begun: Instant,
    /// Whether steps are timed.
    is_timed: bool,
    /// When each step was over, in nanoseconds since the beginning. 0 says that it was not.
    ends: [AtomicU64; Step::ALL.len()],
    known: Mutex<Known>,
}

/// What is known of a request and its reply so far.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Known {
    /// The service that the request came to, if it was one.
    pub service: Option<&'static Description>,
    /// The operation that the request is for.
    pub operation: Option<&'static Operation>,
    /// The version of SOAP of the reply.
    pub version: Option<Version>,
    /// The code of the fault that is the reply, if it is one.
    pub fault: Option<FaultCode>,
    /// The size of the message in bytes, out of its gzip and without its attachments; 0 until it has come.
    pub request_size: u64,
}

/// A step on the way from a request to its reply. Each one begins where the one before ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// The message comes, or the root part of its package.
    Read,
    /// The request waits until it may be at work.
    Queue,
    /// Values are made of the message.
    Decode,
    /// The handler is at work, and what it waits for.
    Handle,
    /// The reply is written as a message.
    Encode,
}

impl Step {
    /// All of them, in their order.
    pub const ALL: [Step; 5] = [Step::Read, Step::Queue, Step::Decode, Step::Handle, Step::Encode];

    /// The name, in lower case.
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
    /// A trace of a request that began at `begun`. Where steps are not timed, it costs less.
    pub fn begin(begun: Instant, is_timed: bool) -> Self {
        Trace(Arc::new(Notes { begun, is_timed, ends: Default::default(), known: Mutex::default() }))
    }

    /// When the request began.
    pub fn begun(&self) -> Instant {
        self.0.begun
    }

    /// What is known by now.
    pub fn known(&self) -> Known {
        self.change().clone()
    }

    /// The operation that the request is for, as soon as that is known.
    pub fn operation(&self) -> Option<&'static Operation> {
        self.change().operation
    }

    fn change(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long a step took; `None` if it didn't end, there was none, or steps are not timed.
    pub fn duration(&self, step: Step) -> Option<Duration> {
        let ends = &self.0.ends[..=step as usize];
        let (end, before) = ends.split_last().map(|(end, before)| (end.load(Relaxed), before))?;
        // A step that was left out took no time.
        let begun = before.iter().rev().map(|end| end.load(Relaxed)).find(|end| *end > 0).unwrap_or(0);
        (end > 0).then(|| Duration::from_nanos(end.saturating_sub(begun)))
    }

    /// A step is over.
    pub fn end(&self, step: Step) {
        if self.0.is_timed {
            let elapsed = self.0.begun.elapsed().as_nanos();
            self.0.ends[step as usize].store(u64::try_from(elapsed).unwrap_or(u64::MAX).max(1), Relaxed);
        }
    }

    /// The request came to this service.
    pub fn came_to(&self, service: &'static Description) {
        self.change().service = Some(service);
    }

    /// The message of the request has come, so many bytes.
    pub fn came(&self, size: usize) {
        self.change().request_size = size as u64;
        self.end(Step::Read);
    }

    /// The request is for this operation of a service.
    pub(crate) fn is_for(&self, service: &'static Description, operation: &'static Operation) {
        let mut known = self.change();
        (known.service, known.operation) = (Some(service), Some(operation));
    }

    /// The request has this reply.
    pub fn replied(&self, reply: &ReplyMessage) {
        let mut known = self.change();
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
            trace.came(7);
            assert_eq!((trace.known().request_size, trace.duration(Step::Read).is_some()), (7, is_timed));
        }
    }
}
