//! Threads for large messages.

use std::future::pending;
use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;
use std::time::Duration;

use castile_soap::{Offload, Offloading, Turn, Work};
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::sleep;

/// The default size above which messages are large, in bytes. Such a message takes about a millisecond.
pub const DEFAULT_OFFLOAD_ABOVE: usize = 256 << 10;

/// How many large answers are made or wait to be written, per thread that writes them: while one is written, the next
/// one is made.
const TURNS: usize = 2;

/// Threads that read and write large messages.
///
/// They are tokio's threads for blocking work, which a runtime with a single thread has too. A limited number of
/// messages is processed at a time. Further ones wait in order of arrival. Handlers with large answers are called only
/// as fast as their answers are written.
///
/// Work whose caller has gone continues until it charges memory or is done, and counts until then. Its size is bounded
/// by that of the message.
///
/// Clones share one limit. Outside a tokio runtime the work is done in place.
#[derive(Clone, Debug)]
pub struct Workers {
    free: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

impl Workers {
    /// Creates workers that process at most `at_once` messages at a time, at least 1.
    pub fn new(at_once: usize) -> Self {
        let at_once = at_once.clamp(1, Semaphore::MAX_PERMITS / TURNS);
        let [free, turns] = [at_once, at_once * TURNS].map(|places| Arc::new(Semaphore::new(places)));
        Workers { free, turns }
    }

    /// Returns the workers that all servers and clients of this process share by default. Their limit is the number of
    /// cores.
    pub fn shared() -> Self {
        Workers::of_process().clone()
    }

    fn of_process() -> &'static Self {
        static SHARED: OnceLock<Workers> = OnceLock::new();
        SHARED.get_or_init(|| Workers::new(available_parallelism().map_or(1, usize::from)))
    }

    /// Uses these workers for messages of more than `size` bytes.
    pub fn above(self, size: usize) -> Offloading {
        let shared = Workers::of_process();
        match Arc::ptr_eq(&self.free, &shared.free) {
            true => Offloading::to_process(size, shared),
            false => Offloading::new(size, Arc::new(self)),
        }
    }
}

impl Default for Workers {
    fn default() -> Self {
        Workers::shared()
    }
}

impl Offload for Workers {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            match Handle::try_current() {
                Ok(_) => sleep(time).await,
                Err(_) => pending().await,
            }
        })
    }

    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        let free = self.free.clone();
        Box::pin(async move {
            let Ok(runtime) = Handle::try_current() else {
                return work();
            };
            // The semaphore is never closed.
            let Ok(place) = free.acquire_owned().await else { return };
            // A panic drops the answer; the waiting side notices that.
            let _ = runtime
                .spawn_blocking(move || {
                    let _place = place;
                    work();
                })
                .await;
        })
    }

    fn turn(&self) -> BoxFuture<'static, Turn> {
        let turns = self.turns.clone();
        Box::pin(async move { Box::new(turns.acquire_owned().await) as Turn })
    }
}
