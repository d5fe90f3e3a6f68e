//! Mutates server responses, for tests of the code that reads them. The mutations are the same in
//! each run.
//!
//! `FUZZ_MUTATIONS=NUMBER` sets how many are made for each test, and `FUZZ_SEED=NUMBER` selects
//! others.

use fastrand::Rng;

/// The longest text, in bytes.
const MAX_LENGTH: usize = 4 << 10;

/// Strings that may end, start or escape something in a head.
const SIGNS: [&[u8]; 20] = [
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b",",
    b";",
    b":",
    b"=",
    b"\"",
    b"\\",
    b"/",
    b"\0",
    b"0",
    b"FFFF",
    b"-1",
    b"18446744073709551616",
    b"\xC2\x85",
    b"\xE9",
];

/// Calls `check` with texts made from `seeds` by a few changes each.
pub(crate) fn check_mutations(seeds: &[&[u8]], mut check: impl FnMut(&[u8], &mut Rng)) {
    let number = |name: &str, default| std::env::var(name).map_or(default, |value| value.parse().expect("a number"));
    let (count, first): (u64, u64) = (number("FUZZ_MUTATIONS", 2_000), number("FUZZ_SEED", 1));
    for at in 0..count {
        let mut random = Rng::with_seed(first.wrapping_mul(1 << 32).wrapping_add(at));
        let mut text = seeds[random.usize(..seeds.len())].to_vec();
        for _ in 0..random.usize(0..6) {
            let from = random.usize(..=text.len());
            let to = (from + random.usize(..=30)).min(text.len());
            match random.u32(0..8) {
                0 if from < text.len() => text[from] ^= 1 << random.u32(0..8),
                1 => text.insert(from, random.u8(..)),
                2..5 => {
                    let times = if random.u32(0..8) == 0 { random.usize(1..200) } else { 1 };
                    text.splice(from..from, SIGNS[random.usize(..SIGNS.len())].repeat(times));
                }
                5 => drop(text.drain(from..to)),
                6 => {
                    let again = text[from..to].repeat(random.usize(1..100));
                    text.splice(from..from, again);
                }
                _ => {
                    let other = seeds[random.usize(..seeds.len())];
                    let begin = random.usize(..=other.len());
                    text.splice(from..to, other[begin..].iter().copied());
                }
            }
        }
        text.truncate(MAX_LENGTH);
        check(&text, &mut random);
    }
    // Shown with --nocapture.
    println!("{count} mutated texts");
}
