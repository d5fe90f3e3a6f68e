//! Mutated inputs for tests of parsers. The mutations are the same in each run.
//!
//! `FUZZ_MUTATIONS=NUMBER` sets their number per test, `FUZZ_SEED=NUMBER` changes them.

/// A pseudo-random number generator (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % most.max(1)
    }
}

/// Delimiters, and other texts that parsers treat specially.
const SIGNS: [&str; 16] =
    [" ", "\t", "\r", "\n", "\r\n", ":", ": ", "=", "#", "\"", "\\", "\0", "\u{1b}[2J", "é", "\u{feff}", "--header"];

/// Calls `check` with mutations of `seeds`. Each mutation makes up to five changes.
pub(crate) fn check_mutations(seeds: &[&str], mut check: impl FnMut(&str, &mut Random)) {
    let number = |name: &str, default| std::env::var(name).map_or(default, |value| value.parse().expect("a number"));
    let (count, first): (u64, u64) = (number("FUZZ_MUTATIONS", 2_000), number("FUZZ_SEED", 1));
    for at in 0..count {
        // The state of a xorshift must not be 0.
        let mut random = Random((first << 32 | at).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut text = seeds[random.below(seeds.len())].to_owned();
        for _ in 0..random.below(6) {
            let from = text.floor_char_boundary(random.below(text.len() + 1));
            let to = text.floor_char_boundary((from + random.below(20)).min(text.len()));
            match random.below(6) {
                0..3 => text.insert_str(from, SIGNS[random.below(SIGNS.len())]),
                3 => drop(text.drain(from..to)),
                4 => {
                    let again = text[from..to].repeat(1 + random.below(20));
                    text.insert_str(from, &again);
                }
                _ => {
                    let other = seeds[random.below(seeds.len())];
                    text.insert_str(from, &other[other.floor_char_boundary(random.below(other.len() + 1))..]);
                }
            }
        }
        check(&text, &mut random);
    }
    // Visible with --nocapture.
    println!("{count} mutated texts");
}
