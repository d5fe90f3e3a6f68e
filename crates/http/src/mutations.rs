//! Mutated inputs for tests of parsers. The mutations are the same in each run.
//!
//! `FUZZ_MUTATIONS=NUMBER` sets the number of mutated inputs per test, `FUZZ_SEED=NUMBER` selects different ones.

use std::time::{Duration, Instant};

use fastrand::Rng;

/// How many mutated inputs each test reads.
const MUTATIONS: u64 = 2_000;

/// The longest input, in bytes.
const MAX_LENGTH: usize = 4 << 10;

/// Strings that may end, open or escape something in a header.
const SIGNS: [&str; 32] = [
    " ",
    "\t",
    ",",
    ";",
    ":",
    "=",
    "\"",
    "\\",
    "/",
    "//",
    "..",
    ".",
    "?",
    "&",
    "#",
    "%",
    "%00",
    "%2F",
    "+",
    "-",
    "@",
    "[",
    "]",
    "<",
    ">",
    "'",
    "*",
    "://",
    "0",
    "18446744073709551616",
    "é",
    "\u{7f}",
];

/// Calls `check` with texts made from `seeds` by a few changes each.
pub(crate) fn check_mutations(seeds: &[&[u8]], mut check: impl FnMut(&[u8], &mut Rng)) {
    let number = |name: &str, default| std::env::var(name).map_or(default, |value| value.parse().expect("a number"));
    let (count, first): (u64, u64) = (number("FUZZ_MUTATIONS", MUTATIONS), number("FUZZ_SEED", 1));
    let (mut longest, mut slowest) = (Duration::ZERO, Vec::new());
    for at in 0..count {
        let mut random = Rng::with_seed(first.wrapping_mul(1 << 32).wrapping_add(at));
        let mut text = seeds[random.usize(..seeds.len())].to_vec();
        for _ in 0..random.usize(1..6) {
            let other = seeds[random.usize(..seeds.len())];
            change(&mut text, other, &mut random);
        }
        text.truncate(MAX_LENGTH);
        let begun = Instant::now();
        check(&text, &mut random);
        if begun.elapsed() > longest {
            (longest, slowest) = (begun.elapsed(), text);
        }
    }
    // Visible with `--nocapture`.
    println!("{count} mutated texts, at most {longest:?} for {} bytes", slowest.len());
}

/// Picks the start and end of a part of a text.
fn part(text: &[u8], random: &mut Rng) -> (usize, usize) {
    let from = random.usize(..=text.len());
    let most = if random.bool() { 4 } else { text.len() };
    (from, (from + random.usize(..=most)).min(text.len()))
}

fn change(text: &mut Vec<u8>, other: &[u8], random: &mut Rng) {
    let (from, to) = part(text, random);
    match random.u32(0..12) {
        0..2 if from < text.len() => text[from] ^= 1 << random.u32(0..8),
        2 => text.insert(from, random.u8(..)),
        3..6 => {
            let sign = SIGNS[random.usize(..SIGNS.len())].as_bytes();
            let times = if random.u32(0..8) == 0 { random.usize(1..200) } else { 1 };
            text.splice(from..from, sign.repeat(times));
        }
        6 => drop(text.drain(from..to)),
        7 => {
            let again = text[from..to].to_vec();
            let times = random.usize(1..(2 + MAX_LENGTH / again.len().max(16)).min(100));
            text.splice(from..from, again.repeat(times));
        }
        8 => text.truncate(from),
        9 => {
            let (begin, end) = part(other, random);
            text.splice(from..to, other[begin..end].iter().copied());
        }
        10 => text[from..to].make_ascii_uppercase(),
        _ => text[from..to].fill(random.u8(..)),
    }
}
