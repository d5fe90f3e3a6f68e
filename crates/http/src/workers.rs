//! Threads for large messages.

use std::sync::{Arc, OnceLock};
use std::thread::available_parallelism;

use castile_soap::{Offload, Work};
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// The size above which messages are large, in bytes, unless something else is said: they take about a millisecond.
pub const DEFAULT_OFFLOAD_ABOVE: usize = 256 << 10;

/// Reads and writes large messages on tokio's threads for blocking work, so many at once; others wait in the order in
/// which they came. Runtimes with one thread have such threads, too.
///
/// Work that was begun is finished, also when nobody waits for it any more: it counts until then. Its size is bounded by
/// that of the message.
///
/// A clone counts with what it is cloned from. Outside a tokio runtime the work is done in place.
#[derive(Clone, Debug)]
pub struct Workers {
    free: Arc<Semaphore>,
}

impl Workers {
    /// Workers of their own, so many at once, at least 1.
    pub fn new(at_once: usize) -> Self {
        Workers { free: Arc::new(Semaphore::new(at_once.clamp(1, Semaphore::MAX_PERMITS))) }
    }

    /// The workers that all servers and clients of this process share unless they are given others: as many as there are
    /// cores.
    pub fn shared() -> Self {
        static SHARED: OnceLock<Workers> = OnceLock::new();
        SHARED.get_or_init(|| Workers::new(available_parallelism().map_or(1, usize::from))).clone()
    }
}

impl Default for Workers {
    fn default() -> Self {
        Workers::shared()
    }
}

impl Offload for Workers {
    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        let free = self.free.clone();
        Box::pin(async move {
            let Ok(runtime) = Handle::try_current() else {
                return work();
            };
            // The semaphore is never closed.
            let Ok(place) = free.acquire_owned().await else { return };
            // A panic is an answer that isn't there.
            let _ = runtime
                .spawn_blocking(move || {
                    let _place = place;
                    work();
                })
                .await;
        })
    }
}
