//! Offloads long work from the threads that drive connections.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, select};

/// A job that runs once.
pub type Work = Box<dyn FnOnce() + Send>;

/// A turn to create a large answer. Dropping it starts the next turn.
pub type Turn = Box<dyn Any + Send>;

/// The services of a runtime: worker threads and timers. `castile-http` implements this trait for tokio.
pub trait Offload: Send + Sync + 'static {
    /// Runs `work` on a worker. Jobs start in the order of the calls. The future is ready when the job is done. The job may be
    /// dropped if the future is dropped, or if there is no worker.
    fn run(&self, work: Work) -> BoxFuture<'static, ()>;

    /// Returns a future that is ready after this time. The default never is, because it has no timer.
    fn pause(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(pending())
    }

    /// Returns a future that is ready when only few large answers are being created or wait to be written. Turns are granted in the
    /// order of the calls. A handler with large answers is called after its turn is granted, which limits how many large answers
    /// are in memory.
    ///
    /// The default is ready immediately.
    fn turn(&self) -> BoxFuture<'static, Turn> {
        Box::pin(std::future::ready(Box::new(()) as Turn))
    }
}

/// Which messages are offloaded, and to which workers.
#[derive(Clone)]
pub struct Offloading {
    above: usize,
    to: To,
}

/// Each request has a clone.
#[derive(Clone)]
enum To {
    Own(Arc<dyn Offload>),
    /// A clone changes no count of references, which all cores would change.
    Process(&'static dyn Offload),
}

thread_local! {
    /// Whether this thread is a worker that runs a job. Nested work is then not offloaded again.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

impl Offloading {
    /// Offloads reading and writing messages of more than `above` bytes to `to`.
    pub fn new(above: usize, to: Arc<dyn Offload>) -> Self {
        Offloading { above, to: To::Own(to) }
    }

    /// Offloads as [`new`](Self::new) does, to workers that live as long as the process.
    #[doc(hidden)]
    pub fn to_process(above: usize, to: &'static dyn Offload) -> Self {
        Offloading { above, to: To::Process(to) }
    }

    fn to(&self) -> &dyn Offload {
        match &self.to {
            To::Own(to) => &**to,
            To::Process(to) => *to,
        }
    }

    /// Returns the size in bytes above which messages are offloaded.
    pub fn above(&self) -> usize {
        self.above
    }

    /// Returns whether work on this number of bytes is offloaded.
    pub(crate) fn takes(&self, size: usize) -> bool {
        size > self.above && !IS_WORKER.get()
    }

    /// Runs `future` with a timeout. Returns `None` if the timeout elapsed.
    pub(crate) async fn within<F: Future>(&self, limit: Duration, future: F) -> Option<F::Output> {
        match select(pin!(future), self.to().pause(limit)).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    }

    /// Returns a turn for an answer of this expected size, if the answer is large.
    pub(crate) fn turn(&self, size: usize) -> Option<BoxFuture<'static, Turn>> {
        (size > self.above).then(|| self.to().turn())
    }

    /// Runs `work` on a worker. Returns `None` if the work panicked, or if there was no worker.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let result = Arc::new(Mutex::new(None));
        let slot = result.clone();
        let work = Box::new(move || {
            let _here = WorkerGuard::enter();
            let value = work();
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        });
        self.to().run(work).await;
        result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Marks this thread as a worker until the value is dropped, which also happens in a panic.
struct WorkerGuard(bool);

impl WorkerGuard {
    fn enter() -> Self {
        WorkerGuard(IS_WORKER.replace(true))
    }
}

impl Drop for WorkerGuard {
    fn drop(&mut self) {
        IS_WORKER.set(self.0);
    }
}

impl fmt::Debug for Offloading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offloading").field("above", &self.above).finish_non_exhaustive()
    }
}
