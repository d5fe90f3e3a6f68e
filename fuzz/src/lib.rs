//! What all targets share: they count the work of a check and fail when it is too much, and change inputs as messages are.

mod work;

use std::cell::RefCell;

use castile_fuzz::{CHECKS, Check};

/// A fuzz target that runs the check of this name. A check that is structured has a mutator that knows messages.
#[macro_export]
macro_rules! target {
    ($name:literal) => {
        libfuzzer_sys::fuzz_target!(|input: &[u8]| $crate::run($name, input));
        libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            $crate::mutate($name, data, size, max_size, seed)
        });
    };
}

fn check(name: &str) -> Check {
    CHECKS.into_iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check is called {name}"))
}

/// Runs a check within its limit on work.
pub fn run(name: &str, input: &[u8]) {
    let check = check(name);
    within((check.work, check.work_per_byte), input, || (check.run)(input));
}

/// Runs a check that has no name: it may take this much work in all, and this much for each byte of its input.
pub fn within((work, work_per_byte): (u64, u64), input: &[u8], check: impl FnOnce()) {
    let limit = work + work_per_byte * input.len() as u64;
    let work = work::limited(limit, check);
    assert!(work > 0, "the work is not counted: see the flags in fuzz/run");
    work::report(work, input.len());
}

/// Changes the first `size` bytes of `data`, and returns how many there are then. Every third time as libFuzzer does.
pub fn mutate(name: &str, data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    thread_local! {
        /// An input from before, of which parts are put into others.
        static OTHER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    if seed % 3 == 0 || !check(name).is_structured {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    OTHER.with_borrow_mut(|other| {
        let input = data[..size].to_vec();
        let changed = castile_fuzz::mutate(&input, other, seed.into(), max_size);
        if seed % 5 == 1 {
            *other = input;
        }
        data[..changed.len()].copy_from_slice(&changed);
        changed.len()
    })
}
