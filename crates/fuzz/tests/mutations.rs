//! Runs the checks on changed messages. This is a short form of fuzzing: it takes seconds, needs only a stable
//! toolchain, and does the same each time.
//!
//! `FUZZ_MUTATIONS=NUMBER` runs that many for each check, `FUZZ_SEED=NUMBER` runs others, and `FUZZ_TARGET=NAME` runs
//! only one check.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use castile_fuzz::{CHECKS, Check, mutate, mutate_plan, plan, plans, seeds};

/// How many changed inputs each check runs.
const MUTATIONS: u64 = 150;
/// How many changed plans are opened.
const PLANS: u64 = 500;
/// The longest input, in bytes.
const MAX_LENGTH: usize = 16 << 10;
/// How much processor time an input may take. A usual one takes milliseconds; one that hangs exceeds any limit.
const MAX_TIME: Duration = Duration::from_secs(20);

#[test]
fn valid_inputs_pass() {
    for check in CHECKS {
        run(check, seeds(check.name).into_iter());
    }
}

fn number(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name} is {value:?}, expected a number")),
        Err(_) => default,
    }
}

/// A bundle contains a plan, which anybody could have written.
#[test]
fn changed_plans_pass_in_bounded_time() {
    let check = Check { name: "plan", run: plan, work: 0, work_per_byte: 0, is_structured: false };
    if std::env::var("FUZZ_TARGET").is_ok_and(|target| target != check.name) {
        return;
    }
    run(check, plans().into_iter());
    let (count, first, plans) = (number("FUZZ_MUTATIONS", PLANS), number("FUZZ_SEED", 1), plans());
    let changed = (0..count).map(move |number| {
        let seed = first.wrapping_mul(1 << 32).wrapping_add(number);
        mutate_plan(&plans[number as usize % plans.len()], seed)
    });
    run(check, changed);
}

#[test]
fn changed_inputs_pass_in_bounded_time() {
    let (count, first) = (number("FUZZ_MUTATIONS", MUTATIONS), number("FUZZ_SEED", 1));
    let target = std::env::var("FUZZ_TARGET").ok();
    for check in CHECKS {
        let seeds = seeds(check.name);
        let is_asked = target.as_deref().is_none_or(|target| target == check.name);
        if seeds.is_empty() || !is_asked {
            continue;
        }
        let changed = (0..count).map(move |number| {
            let seed = first.wrapping_mul(1 << 32).wrapping_add(number);
            let mut random = fastrand::Rng::with_seed(seed);
            let [one, other] = [(); 2].map(|()| &seeds[random.usize(..seeds.len())]);
            mutate(one, other, seed, MAX_LENGTH)
        });
        run(check, changed);
    }
}

/// Runs a check on a separate thread and watches it, so that an input that hangs fails the test.
fn run(check: Check, inputs: impl Iterator<Item = Vec<u8>> + Send + 'static) {
    let (sender, receiver) = channel();
    let worker = thread::spawn(move || {
        let clock = Clock::of_this_thread();
        for (number, input) in inputs.enumerate() {
            // The receiver is gone if the test has failed.
            let _ = sender.send((number, input.clone(), clock.clone()));
            (check.run)(&input);
        }
    });
    let mut current = None;
    loop {
        match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok((number, input, clock)) => {
                let begun = clock.processor_time();
                current = Some((number, input, clock, begun));
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let Some((number, input, clock, begun)) = &current else { continue };
                let taken = clock.processor_time().saturating_sub(*begun);
                let shown = String::from_utf8_lossy(input);
                assert!(taken < MAX_TIME, "{}: input {number} has taken {taken:?}: {shown:?}", check.name);
            }
        }
    }
    if worker.join().is_err() {
        let (number, input, ..) = current.expect("it panicked at an input");
        panic!("{}: input {number} fails: {:?}", check.name, String::from_utf8_lossy(&input));
    }
}

/// Reads the processor time of a thread from the system, so that other work on the machine does not count.
#[derive(Clone)]
struct Clock(std::path::PathBuf);

impl Clock {
    fn of_this_thread() -> Self {
        let thread = std::fs::read_link("/proc/thread-self").expect("Linux tells the number of a thread");
        Clock(std::path::Path::new("/proc").join(thread).join("schedstat"))
    }

    fn processor_time(&self) -> Duration {
        let stat = std::fs::read_to_string(&self.0).unwrap_or_default();
        let nanoseconds = stat.split(' ').next().and_then(|first| first.parse().ok());
        Duration::from_nanos(nanoseconds.unwrap_or_default())
    }
}
