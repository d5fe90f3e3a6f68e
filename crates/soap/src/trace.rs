//! What is noted of a request while it is answered.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use http::Extensions;

use crate::{Description, FaultCode, Operation, ReplyMessage, Version};

/// Notes of one request, for those who observe it: which operation it was for, and how long each [`Step`] took.
///
/// Whoever begins a request puts it among the extensions of that, where a service finds it. A request without one is not timed.
/// Clones are of the same notes.
///
/// ```
/// use castile_soap::{Next, RequestMessage, Step, Trace, from_fn};
///
/// let layer = from_fn(|mut request: RequestMessage, next: Next| async move {
///     let trace = Trace::of(&mut request.extensions);
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
    /// When each step was over, in nanoseconds since the beginning. 0 says that it was not.
    ends: [AtomicU64; Step::ALL.len()],
    request_size: AtomicU64,
    service: OnceLock<&'static Description>,
    operation: OnceLock<&'static Operation>,
    /// What the reply said.
    reply: OnceLock<(Version, Option<FaultCode>)>,
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
    /// The trace among these extensions. One that begins now is added where there is none.
    pub fn of(extensions: &mut Extensions) -> Self {
        extensions.get_or_insert_with(|| Trace::begin(Instant::now())).clone()
    }

    /// A trace of a request that began at `begun`.
    pub fn begin(begun: Instant) -> Self {
        Trace(Arc::new(Notes {
            begun,
            ends: Default::default(),
            request_size: AtomicU64::new(0),
            service: OnceLock::new(),
            operation: OnceLock::new(),
            reply: OnceLock::new(),
        }))
    }

    /// When the request began.
    pub fn begun(&self) -> Instant {
        self.0.begun
    }

    /// The service that the request came to, if it was one.
    pub fn service(&self) -> Option<&'static Description> {
        self.0.service.get().copied()
    }

    /// The operation that the request is for, as soon as that is known.
    pub fn operation(&self) -> Option<&'static Operation> {
        self.0.operation.get().copied()
    }

    /// The version of SOAP of the reply, if there was one.
    pub fn version(&self) -> Option<Version> {
        self.0.reply.get().map(|(version, _)| *version)
    }

    /// The code of the fault that was the reply, if it was one.
    pub fn fault(&self) -> Option<&FaultCode> {
        self.0.reply.get().and_then(|(_, fault)| fault.as_ref())
    }

    /// The size of the message in bytes, out of its gzip and without its attachments; 0 if it did not come.
    pub fn request_size(&self) -> u64 {
        self.0.request_size.load(Relaxed)
    }

    /// How long a step took; `None` if it didn't end, or there was none.
    pub fn duration(&self, step: Step) -> Option<Duration> {
        let ends = &self.0.ends[..=step as usize];
        let (end, before) = ends.split_last().map(|(end, before)| (end.load(Relaxed), before))?;
        // A step that was left out took no time.
        let begun = before.iter().rev().map(|end| end.load(Relaxed)).find(|end| *end > 0).unwrap_or(0);
        (end > 0).then(|| Duration::from_nanos(end.saturating_sub(begun)))
    }

    /// When the last of the steps was over, since the beginning.
    pub fn elapsed(&self) -> Duration {
        let ends = self.0.ends.iter().map(|end| end.load(Relaxed));
        Duration::from_nanos(ends.max().unwrap_or(0))
    }

    /// A step is over.
    pub fn end(&self, step: Step) {
        let elapsed = self.0.begun.elapsed().as_nanos();
        self.0.ends[step as usize].store(u64::try_from(elapsed).unwrap_or(u64::MAX).max(1), Relaxed);
    }

    /// The request came to this service. What is noted first stays.
    pub fn came_to(&self, service: &'static Description) {
        let _ = self.0.service.set(service);
    }

    /// The message of the request has come, so many bytes.
    pub fn came(&self, size: usize) {
        self.0.request_size.store(size as u64, Relaxed);
        self.end(Step::Read);
    }

    /// The request is for this operation of a service.
    pub(crate) fn is_for(&self, service: &'static Description, operation: &'static Operation) {
        self.came_to(service);
        let _ = self.0.operation.set(operation);
    }

    /// The request has this reply.
    pub fn replied(&self, reply: &ReplyMessage) {
        let _ = self.0.reply.set((reply.version, reply.fault.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_begins_where_the_one_before_ended() {
        let trace = Trace::begin(Instant::now());
        for (step, end) in [(Step::Read, 10), (Step::Decode, 30), (Step::Handle, 100)] {
            trace.0.ends[step as usize].store(end, Relaxed);
        }
        let durations = Step::ALL.map(|step| trace.duration(step).map(|duration| duration.as_nanos()));
        assert_eq!(durations, [Some(10), None, Some(20), Some(70), None]);
        assert_eq!(trace.elapsed(), Duration::from_nanos(100));
    }

    #[test]
    fn extensions_have_one_trace() {
        let mut extensions = Extensions::new();
        let trace = Trace::of(&mut extensions);
        Trace::of(&mut extensions).came(7);
        assert_eq!(trace.request_size(), 7);
    }
}
