//! Measures what taking from a pool and giving back costs when several threads do it, with stocks and without.
//!
//! ```text
//! cargo run --release -p castile-budget --example contention -- [THREADS]
//! ```
//!
//! Prints the median of the time that a thread needs to take some and give it back, for each number of threads up to that of the cores.
//! Both kinds of pools take turns.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread::{available_parallelism, scope};
use std::time::{Duration, Instant};

use castile_budget::Pool;

const ROUNDS: usize = 15;
const PAIRS: u32 = 500_000;
/// About what a small request takes of the memory budget, in bytes.
const SOME: usize = 4096;

fn main() {
    let cores = available_parallelism().map_or(1, usize::from);
    let threads = std::env::args().nth(1).and_then(|number| number.parse().ok()).unwrap_or(cores);
    println!("{:>7}  {:>16}  {:>16}", "threads", "with stocks, ns", "one counter, ns");
    for threads in 1..=threads {
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            with.push(pair(&Pool::new(1 << 30), threads));
            without.push(pair(&Pool::without_stocks(1 << 30), threads));
        }
        println!("{threads:>7}  {:>16.1}  {:>16.1}", median(with), median(without));
    }
}

/// Returns how long each thread needs for a pair of calls.
fn pair(pool: &Pool, threads: usize) -> Duration {
    let barrier = Barrier::new(threads);
    let times = scope(|scope| {
        let run = || {
            barrier.wait();
            let begun = Instant::now();
            for _ in 0..PAIRS {
                assert!(pool.take(black_box(SOME)));
                pool.give(black_box(SOME));
            }
            begun.elapsed()
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        running.into_iter().map(|thread| thread.join().unwrap_or_default()).max()
    });
    times.unwrap_or_default()
}

/// Returns the median in nanoseconds for a pair.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e9 / f64::from(PAIRS)
}
