//! Long work is done elsewhere than where messages are waited for.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::future::pending;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, select};

/// Something that is to be done once.
pub type Work = Box<dyn FnOnce() + Send>;

/// A turn to make a large answer. The next one comes when it is dropped.
pub type Turn = Box<dyn Any + Send>;

/// What a runtime does for services: work on other threads than those that drive connections, and time. `castile-http` implements it
/// for tokio.
pub trait Offload: Send + Sync + 'static {
    /// Does `work`, in the order of calls, and is ready when it is done. It may be dropped undone if the future is dropped,
    /// or if there is nobody left to do it.
    fn run(&self, work: Work) -> BoxFuture<'static, ()>;

    /// Is ready when the time is over. Where nobody measures time, as by default, it never is.
    fn pause(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(pending())
    }

    /// Is ready when few large answers are made or wait to be written, in the order of calls. A handler whose answers are
    /// large is called then, so that not more of them are in memory than are soon written.
    ///
    /// The default is ready at once.
    fn turn(&self) -> BoxFuture<'static, Turn> {
        Box::pin(std::future::ready(Box::new(()) as Turn))
    }
}

/// Which messages are read and written elsewhere, and where.
#[derive(Clone)]
pub struct Offloading {
    above: usize,
    to: Arc<dyn Offload>,
}

thread_local! {
    /// Whether this thread does such work now: what that leads to is done with it.
    static IS_ELSEWHERE: Cell<bool> = const { Cell::new(false) };
}

impl Offloading {
    /// Messages of more than `above` bytes are read and written by `to`.
    pub fn new(above: usize, to: Arc<dyn Offload>) -> Self {
        Offloading { above, to }
    }

    /// The size of messages, in bytes, above which they are read and written elsewhere.
    pub fn above(&self) -> usize {
        self.above
    }

    /// Whether work on so many bytes is done elsewhere.
    pub(crate) fn takes(&self, size: usize) -> bool {
        size > self.above && !IS_ELSEWHERE.get()
    }

    /// Drives `future` for a limited time. `None` if that is over.
    pub(crate) async fn within<F: Future>(&self, limit: Duration, future: F) -> Option<F::Output> {
        match select(pin!(future), self.to.pause(limit)).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    }

    /// A turn to make an answer of up to so many bytes, if that is a large one.
    pub(crate) fn turn(&self, size: usize) -> Option<BoxFuture<'static, Turn>> {
        (size > self.above).then(|| self.to.turn())
    }

    /// Does `work` elsewhere. `None` if it panicked, or there was nobody to do it.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let result = Arc::new(Mutex::new(None));
        let told = result.clone();
        let work = Box::new(move || {
            let _here = Elsewhere::begin();
            let value = work();
            *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        });
        self.to.run(work).await;
        result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Marks this thread until it is dropped, by a panic too.
struct Elsewhere(bool);

impl Elsewhere {
    fn begin() -> Self {
        Elsewhere(IS_ELSEWHERE.replace(true))
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        IS_ELSEWHERE.set(self.0);
    }
}

impl fmt::Debug for Offloading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Offloading").field("above", &self.above).finish_non_exhaustive()
    }
}
