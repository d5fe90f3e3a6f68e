//! Slots of work in a limited number, and a short queue for requests that find none free.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use castile_budget::Pool;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The slots of work of a server.
///
/// While slots are free, taking and freeing one are single atomic operations, which threads rarely share. The lock and the
/// timer are only for the queue.
#[derive(Debug)]
pub(super) struct Slots {
    slots: Pool,
    max_queued: usize,
    queue_timeout: Duration,
    /// The length of the queue, readable without its lock.
    queued: AtomicUsize,
    queue: Mutex<VecDeque<oneshot::Sender<()>>>,
}

/// The error when all slots are taken, and the queue is full or did not move in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overload;

impl Slots {
    pub(super) fn new(max: usize, max_queued: usize, queue_timeout: Duration) -> Self {
        let queue = Mutex::new(VecDeque::new());
        // Without slots, a queue is useless.
        let max_queued = if max == 0 { 0 } else { max_queued };
        Slots { slots: Pool::new(max), max_queued, queue_timeout, queued: AtomicUsize::new(0), queue }
    }

    /// Returns whether all slots and all places in the queue are taken.
    pub(super) fn is_full(&self) -> bool {
        self.queued.load(SeqCst) >= self.max_queued && self.slots.is_used_up()
    }

    /// Returns how many slots are taken, and how many requests wait.
    pub(super) fn taken(&self) -> (usize, usize) {
        (self.slots.taken(), self.queued.load(SeqCst))
    }

    /// Takes a slot if one is free and no request waits. Returns whether there was one.
    pub(super) fn try_acquire(&self) -> bool {
        let is_free = self.queued.load(SeqCst) == 0 && self.slots.take(1);
        // A request that queued meanwhile may have missed slots that this one moved.
        if self.queued.load(SeqCst) > 0 {
            self.grant(&mut self.lock());
        }
        is_free
    }

    /// Takes a slot, or waits in the queue for a limited time.
    pub(super) async fn acquire(&self) -> Result<(), Overload> {
        if self.try_acquire() {
            return Ok(());
        }
        let mut place = self.queue(self.max_queued)?;
        timeout(self.queue_timeout, place.wait()).await.map_err(|_| Overload)
    }

    /// Takes a slot for a request that had one before, without a time limit. It is queued even if the queue is full,
    /// because other limits apply to such requests.
    pub(super) async fn acquire_again(&self) {
        if self.try_acquire() {
            return;
        }
        if let Ok(mut place) = self.queue(usize::MAX) {
            place.wait().await;
        }
    }

    /// Frees a slot.
    pub(super) fn release(&self) {
        self.slots.give(1);
        // A request that queued before the previous line is seen here. One that queues later sees the free slot.
        if self.queued.load(SeqCst) > 0 {
            self.grant(&mut self.lock());
        }
    }

    fn queue(&self, most: usize) -> Result<QueueEntry<'_>, Overload> {
        let mut queue = self.lock();
        if queue.len() >= most {
            return Err(Overload);
        }
        let (sender, granted) = oneshot::channel();
        queue.push_back(sender);
        self.queued.store(queue.len(), SeqCst);
        self.grant(&mut queue);
        Ok(QueueEntry { slots: self, granted, is_done: false })
    }

    /// Gives free slots to the first requests in the queue.
    #[cold]
    fn grant(&self, queue: &mut VecDeque<oneshot::Sender<()>>) {
        while !queue.is_empty() && self.slots.take(1) {
            let granted = queue.pop_front().is_some_and(|first| first.send(()).is_ok());
            if !granted {
                self.slots.give(1);
            }
        }
        self.queued.store(queue.len(), SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<oneshot::Sender<()>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place in the queue. Dropping it leaves the queue, and passes on a slot that it got meanwhile.
struct QueueEntry<'a> {
    slots: &'a Slots,
    granted: oneshot::Receiver<()>,
    is_done: bool,
}

impl QueueEntry<'_> {
    async fn wait(&mut self) {
        // The sender is dropped only after it was used.
        self.is_done = (&mut self.granted).await.is_ok();
    }
}

impl Drop for QueueEntry<'_> {
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        self.granted.close();
        if self.granted.try_recv().is_ok() {
            return self.slots.release();
        }
        let mut queue = self.slots.lock();
        queue.retain(|sender| !sender.is_closed());
        self.slots.queued.store(queue.len(), SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::time::{Instant, sleep};

    use super::*;

    fn slots(max: usize, max_queued: usize) -> Arc<Slots> {
        Arc::new(Slots::new(max, max_queued, Duration::from_millis(100)))
    }

    #[tokio::test(start_paused = true)]
    async fn the_queue_is_bounded_in_number_and_time() {
        let slots = slots(1, 1);
        assert_eq!(slots.acquire().await, Ok(()));
        let waiting = tokio::spawn({
            let slots = slots.clone();
            async move { slots.acquire().await }
        });
        sleep(Duration::from_millis(1)).await;
        assert!(slots.is_full());
        let start = Instant::now();
        assert_eq!(slots.acquire().await, Err(Overload));
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(waiting.await.unwrap(), Err(Overload));
        assert_eq!(start.elapsed().as_millis(), 99);
        // A request that gave up holds neither a place nor a slot.
        assert!(!slots.is_full());
        slots.release();
        assert!(slots.try_acquire());
    }

    #[tokio::test(start_paused = true)]
    async fn slots_are_handed_on_in_order() {
        let slots = slots(1, 10);
        assert!(slots.try_acquire());
        let order = Arc::new(Mutex::new(Vec::new()));
        let waiting = (0..5).map(|number| {
            let (slots, order) = (slots.clone(), order.clone());
            tokio::spawn(async move {
                match number % 2 {
                    0 => slots.acquire().await.unwrap(),
                    _ => slots.acquire_again().await,
                }
                order.lock().unwrap().push(number);
                slots.release();
            })
        });
        let waiting: Vec<_> = waiting.collect();
        sleep(Duration::from_millis(1)).await;
        // No request can overtake the queue.
        assert!(!slots.try_acquire());
        waiting[1].abort();
        sleep(Duration::from_millis(1)).await;
        slots.release();
        for task in waiting {
            let _ = task.await;
        }
        assert_eq!(*order.lock().unwrap(), [0, 2, 3, 4]);
        assert!(slots.try_acquire());
    }

    #[test]
    fn no_slot_is_lost_between_threads() {
        let (max, tasks, threads) = (64, 200, 4);
        let slots = Slots::new(max, 1_000, Duration::from_millis(100));
        // Whatever this machine runs, each thread has a stock.
        let slots = Arc::new(Slots { slots: Pool::for_threads(max, threads), ..slots });
        let held = Arc::new(AtomicUsize::new(0));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_time().build().unwrap();
        runtime.block_on(async {
            let tasks = (0..tasks).map(|_| {
                let (slots, held) = (slots.clone(), held.clone());
                tokio::spawn(async move {
                    for _ in 0..100 {
                        slots.acquire_again().await;
                        assert!(held.fetch_add(1, SeqCst) < max);
                        tokio::task::yield_now().await;
                        held.fetch_sub(1, SeqCst);
                        slots.release();
                    }
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
        });
        assert_eq!(slots.taken(), (0, 0));
    }
}
