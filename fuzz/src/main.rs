//! The checks of `castile_fuzz` as targets of libFuzzer. `FUZZ_TARGET` selects one.
//!
//! Each target counts the work of its check and fails if it is too much. Inputs are mutated at the level of messages.
#![no_main]

mod libxml2;
mod work;

use std::cell::RefCell;
use std::sync::LazyLock;

use castile_fuzz::{CHECKS, Check};

libfuzzer_sys::fuzz_target!(init: LazyLock::force(&TARGET), |input: &[u8]| run(input));
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

static TARGET: LazyLock<Check> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let check = CHECKS.into_iter().find(|check| check.name == name);
    check.or_else(|| (name == "libxml2").then(libxml2::target)).unwrap_or_else(|| {
        let names: Vec<_> = CHECKS.iter().map(|check| check.name).chain(["libxml2"]).collect();
        eprintln!("FUZZ_TARGET is {name:?}; it names one of {}", names.join(", "));
        std::process::exit(2);
    })
});

/// Runs the check within its limit of work.
fn run(input: &[u8]) {
    let limit = TARGET.work + TARGET.work_per_byte * input.len() as u64;
    let work = work::limited(limit, || (TARGET.run)(input));
    assert!(work > 0, "the work is not counted: see the flags in fuzz/run");
    work::report(work, input.len());
}

/// Mutates the first `size` bytes of `data`, and returns their new number. Every third time it uses libFuzzer's own
/// mutations.
fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    thread_local! {
        /// An earlier input, parts of which are inserted into others.
        static OTHER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    if seed % 3 == 0 || !TARGET.is_structured {
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
