//! A count with a limit, for many threads.

use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::thread::available_parallelism;

/// The most stocks of a pool.
const STOCKS: usize = 64;
/// The largest batch: bytes of a few requests.
const BATCH: usize = 1 << 20;
/// The share of the limit that all batches are together.
const SHARE: usize = 16;

/// A limited number of something that requests take and give back: bytes, or places.
///
/// A single counter would be a cache line that each core waits for, with each request. So a pool has as many stocks as the machine runs
/// threads at a time. A thread has one of them, which it may share with others. It takes from its stock and gives back to it, and only a
/// batch now and then comes from the counter, or returns to it. When the counter is used up, all stocks are collected before anything is
/// refused. What another thread moves between the counter and its stock at that moment may be missed.
///
/// A limit below 16 times the number of stocks is too small for any: then all threads change the counter.
///
/// ```
/// use castile_budget::Pool;
///
/// let places = Pool::new(2);
/// assert!(places.take(1) && places.take(1));
/// assert!(!places.take(1));
/// places.give(1);
/// assert_eq!(places.taken(), 1);
/// ```
pub struct Pool {
    limit: usize,
    batch: usize,
    stocks: Box<[Stock]>,
    /// What is taken, or in a stock.
    counted: Counter,
}

/// What a thread may take without the counter.
#[derive(Default)]
struct Stock(Counter);

/// A counter alone in its cache lines, of which processors fetch two at a time.
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicUsize);

impl Pool {
    /// Creates a pool of which `limit` may be taken at a time.
    pub fn new(limit: usize) -> Self {
        Pool::for_threads(limit, available_parallelism().map_or(1, usize::from))
    }

    /// Creates a pool without stocks: all threads change its counter.
    pub fn without_stocks(limit: usize) -> Self {
        Pool::for_threads(limit, 1)
    }

    /// Creates a pool for a number of threads, whatever the machine runs.
    pub fn for_threads(limit: usize, threads: usize) -> Self {
        let threads = threads.min(STOCKS);
        let batch = if threads > 1 { (limit / SHARE / threads).min(BATCH) } else { 0 };
        let stocks = if batch > 0 { threads } else { 0 };
        Pool { limit, counted: Counter::default(), batch, stocks: (0..stocks).map(|_| Stock::default()).collect() }
    }

    /// Returns how much may be taken at a time.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns how much is taken. While other threads take and give, the result may never have been true.
    pub fn taken(&self) -> usize {
        let counted = self.counted.0.load(SeqCst);
        self.stocks.iter().fold(counted, |counted, stock| counted.saturating_sub(stock.0.0.load(SeqCst)))
    }

    /// Returns whether everything is taken. Reads the stocks only if the counter is used up.
    pub fn is_used_up(&self) -> bool {
        self.counted.0.load(SeqCst) >= self.limit && self.taken() >= self.limit
    }

    /// Takes some. Returns whether there was as much.
    pub fn take(&self, some: usize) -> bool {
        let Some(stock) = self.stock() else { return self.count(some) };
        if stock.take(some) {
            return true;
        }
        if some <= self.batch && self.count(some + self.batch) {
            stock.0.0.fetch_add(self.batch, SeqCst);
            return true;
        }
        self.count(some) || self.collect_and_count(some)
    }

    /// Takes some, even beyond the limit. Returns whether there was as much.
    pub fn take_anyway(&self, some: usize) -> bool {
        let is_within = self.take(some);
        if !is_within {
            self.counted.0.fetch_add(some, SeqCst);
        }
        is_within
    }

    /// Gives back some of what was taken.
    pub fn give(&self, some: usize) {
        // What was taken beyond the limit is not for the next one who asks.
        let may_stock = some <= self.batch && self.counted.0.load(SeqCst) <= self.limit;
        let Some(stock) = self.stock().filter(|_| may_stock) else {
            self.counted.0.fetch_sub(some, SeqCst);
            return;
        };
        if stock.0.0.fetch_add(some, SeqCst) + some > 2 * self.batch && stock.take(self.batch) {
            self.counted.0.fetch_sub(self.batch, SeqCst);
        }
    }

    fn count(&self, some: usize) -> bool {
        let within = |counted: usize| counted.checked_add(some).filter(|sum| *sum <= self.limit);
        self.counted.0.fetch_update(SeqCst, SeqCst, within).is_ok()
    }

    #[cold]
    fn collect_and_count(&self, some: usize) -> bool {
        for stock in &self.stocks {
            self.counted.0.fetch_sub(stock.0.0.swap(0, SeqCst), SeqCst);
        }
        self.count(some)
    }

    /// Returns the stock of this thread, which other threads may share.
    fn stock(&self) -> Option<&Stock> {
        if self.stocks.is_empty() {
            return None;
        }
        self.stocks.get(thread_number() % self.stocks.len())
    }
}

/// Returns a number of this thread, for counters of its own. Threads are numbered as they first call this; while one ends, its number is 0.
pub fn thread_number() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = THREADS.fetch_add(1, Relaxed);
    }
    NUMBER.try_with(|number| *number).unwrap_or_default()
}

impl Stock {
    fn take(&self, some: usize) -> bool {
        self.0.0.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(some)).is_ok()
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("limit", &self.limit).field("used", &self.taken()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What one thread may take depends neither on stocks nor on what others keep in them.
    #[test]
    fn stocks_change_nothing_for_one_thread() {
        for limit in [0, 1, 31, 32, 1_000, usize::MAX] {
            for threads in [1, 2, 7] {
                let (plain, pool) = (Pool::without_stocks(limit), Pool::for_threads(limit, threads));
                assert_eq!(pool.stocks.is_empty(), threads == 1 || limit / SHARE < threads);
                let mut held = Vec::new();
                for step in 0_usize..2_000 {
                    // One of the other threads has filled its stock.
                    if let Some(stock) = pool.stocks.get(step % 5).filter(|_| step % 17 == 0) {
                        stock.0.0.fetch_add(if pool.count(pool.batch) { pool.batch } else { 0 }, SeqCst);
                    }
                    let some = (step * 7919 % 101).max(1);
                    if step % 3 == 0 && !held.is_empty() {
                        let given = held.swap_remove(step % held.len());
                        plain.give(given);
                        pool.give(given);
                    } else {
                        let is_forced = step % 7 == 0;
                        let take = |from: &Pool| if is_forced { from.take_anyway(some) } else { from.take(some) };
                        let is_taken = take(&plain);
                        assert_eq!(take(&pool), is_taken, "{some} of {limit} for {threads}, step {step}");
                        held.extend((is_taken || is_forced).then_some(some));
                    }
                    assert_eq!((pool.taken(), pool.is_used_up()), (plain.taken(), plain.is_used_up()));
                }
            }
        }
    }

    /// Regression: with a batch of one, as the places of a server have on a machine with many cores, all went to the counter.
    #[test]
    fn the_counter_is_left_alone_by_what_a_stock_has() {
        for (limit, threads) in [(1_024, 64), (1_024, 33), (1 << 20, 2)] {
            let pool = Pool::for_threads(limit, threads);
            assert!(pool.take(1));
            pool.give(1);
            let counted = pool.counted.0.load(SeqCst);
            assert!(counted > 0);
            for _ in 0..10 {
                assert!(pool.take(1));
                assert_eq!(pool.counted.0.load(SeqCst), counted, "{limit} for {threads}");
                pool.give(1);
                assert_eq!(pool.counted.0.load(SeqCst), counted, "{limit} for {threads}");
            }
        }
    }

    #[test]
    fn threads_never_take_more_than_the_limit() {
        let pool = Pool::for_threads(1_000, 4);
        let held = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for seed in 0..8_usize {
                let (pool, held) = (&pool, &held);
                scope.spawn(move || {
                    for step in 0..5_000 {
                        let some = (step * 31 + seed * 97) % 300;
                        if pool.take(some) {
                            assert!(held.fetch_add(some, SeqCst) + some <= 1_000);
                            held.fetch_sub(some, SeqCst);
                            pool.give(some);
                        }
                    }
                });
            }
        });
        assert_eq!(pool.taken(), 0);
        assert!(pool.take(1_000));
        assert!(!pool.take(1));
    }
}
