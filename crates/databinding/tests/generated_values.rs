//! Generated values are unchanged after writing and reading. No input makes reading panic or take long.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::fmt::Debug;
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

use castile_databinding::datatypes::*;
use castile_databinding::facets::Pattern;

/// A deterministic pseudo-random number generator (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// Returns a number of random size. Small numbers are as frequent as large ones.
    fn any(&mut self) -> u64 {
        let shift = self.below(64);
        self.next() >> shift
    }

    fn year(&mut self) -> i64 {
        let year = (self.any() % 999_999_999_999_999_999) as i64 + 1;
        if self.below(4) == 0 { -year } else { year }
    }

    fn zone(&mut self) -> Option<i16> {
        (self.below(2) == 0).then(|| self.below(1681) as i16 - 840)
    }

    fn nanosecond(&mut self) -> u32 {
        (self.any() % 1_000_000_000) as u32
    }

    fn text(&mut self, alphabet: &[char], longest: u64) -> String {
        (0..self.below(longest + 1)).map(|_| alphabet[self.below(alphabet.len() as u64) as usize]).collect()
    }
}

fn survives<T: SimpleType + PartialEq + Debug>(value: T) {
    let mut out = Vec::new();
    assert!(value.write(&mut out), "{value:?}");
    let text = String::from_utf8(out).unwrap();
    // Replaces references as the reader does.
    let unescaped = text.replace("&lt;", "<").replace("&gt;", ">").replace("&#xD;", "\r").replace("&amp;", "&");
    assert_eq!(T::parse(&unescaped).as_ref(), Ok(&value), "{text}");
    assert_eq!(T::parse(&format!("\n {unescaped}\t")).is_ok(), T::parse(&unescaped).is_ok());
}

#[test]
fn values_survive() {
    let mut random = Random(0x5DEE_CE66);
    for _ in 0..5_000 {
        let r = &mut random;
        let scale = r.below(60) as u8;
        let coefficient = i128::from(r.any() as i64) * i128::from(r.any() as i64);
        survives(Decimal::new(coefficient, scale));
        survives(Integer::from(coefficient));
        survives(r.any() as i64);
        survives(f64::from_bits(r.next()).max(f64::MIN));
        survives(Duration::new(r.below(2) == 0, r.any(), r.any(), r.nanosecond()).unwrap());
        let (year, month, day) = (r.year(), r.below(12) as u8 + 1, r.below(28) as u8 + 1);
        let (hour, minute, second) = (r.below(24) as u8, r.below(60) as u8, r.below(60) as u8);
        let (nanosecond, offset_minutes) = (r.nanosecond(), r.zone());
        survives(DateTime { year, month, day, hour, minute, second, nanosecond, offset_minutes });
        survives(Time { hour, minute, second, nanosecond, offset_minutes });
        survives(Date { year, month, day, offset_minutes });
        survives(GYearMonth { year, month, offset_minutes });
        survives(GYear { year, offset_minutes });
        survives(GMonthDay { month, day, offset_minutes });
        survives(GDay { day: day + 3, offset_minutes });
        survives(GMonth { month, offset_minutes });
        let bytes: Vec<u8> = (0..r.below(40)).map(|_| r.next() as u8).collect();
        survives(HexBinary(bytes.clone()));
        survives(Base64Binary(bytes));
        let text = r.text(&['a', 'é', '😀', '<', '&', '>', '\r', ' ', '\n', ']', '"'], 12);
        survives(text.clone());
        survives(NormalizedString::new(text.clone()).unwrap());
        survives(Token::new(text).unwrap());
        survives(List::<i32>((0..r.below(5)).map(|_| r.any() as i32).collect()));
    }
}

#[test]
fn order_of_numbers_is_that_of_machine_integers() {
    let mut random = Random(7);
    for _ in 0..5_000 {
        let (a, b) = (random.any() as i64, random.any() as i64);
        let scale = random.below(30) as u8;
        assert_eq!(Integer::from(a).cmp(&Integer::from(b)), a.cmp(&b));
        let zeros = 10_i128.pow(u32::from(scale % 10));
        let padded = Decimal::new(i128::from(a) * zeros, scale + scale % 10);
        let plain = Decimal::new(i128::from(b), scale);
        assert_eq!(padded.cmp(&plain), a.cmp(&b), "{padded} {plain}");
        assert_eq!(i64::try_from(Integer::from(a)), Ok(a));
    }
}

#[test]
fn no_text_makes_anything_panic() {
    let mut random = Random(99);
    let alphabet: Vec<char> = "0019+-.:TZPYMDHSEeINFna _é😀\t\n%#=/".chars().collect();
    let mut read = 0;
    for _ in 0..8_000 {
        let text = random.text(&alphabet, 12);
        for datatype in Datatype::ALL {
            read += usize::from(datatype.parse(&text, &Everything).is_ok());
        }
    }
    assert!(read > 40_000, "only {read} of the texts were values");
    let alphabet: Vec<char> = r"ab01-^[]{}()|*+?,.\\\pPdIsciLu$ é".chars().collect();
    let mut compiled = 0;
    for _ in 0..5_000 {
        let source = random.text(&alphabet, 10);
        if let Ok(pattern) = Pattern::new(&[&source]) {
            compiled += 1;
            pattern.matches("ab-1");
        }
    }
    assert!(compiled > 100, "only {compiled} of the texts were patterns");
}

/// A scope in which every prefix is declared.
struct Everything;

impl Scope for Everything {
    fn namespace(&self, _: &str) -> Option<&str> {
        Some("urn:x")
    }
}

#[test]
fn long_values_take_memory_for_their_length_only() {
    const LENGTH: usize = 256 << 10;
    // Ten times the time of an unoptimised build, and far below that of a quadratic algorithm.
    const LONG: std::time::Duration = std::time::Duration::from_secs(30);
    let start = Instant::now();
    let digits = "7".repeat(LENGTH);
    let decimal: Decimal = format!("{digits}.{digits}0").parse().unwrap();
    let other: Decimal = format!("{digits}.{digits}1").parse().unwrap();
    assert!(decimal < other);
    assert_ne!(RandomState::new().hash_one(&decimal), 0);
    let zeros: Integer = format!("-{}", "0".repeat(LENGTH)).parse().unwrap();
    assert_eq!(zeros, Integer::from(0));
    let blanks = format!("{}1", " ".repeat(LENGTH));
    let words = "a ".repeat(LENGTH / 2);
    for datatype in Datatype::ALL {
        for text in [&digits, &blanks, &words, &"P".repeat(LENGTH), &"2000-01-01".repeat(LENGTH / 10)] {
            let _ = datatype.parse(text, &Everything);
        }
    }
    let pattern = Pattern::new(&["(a*)*b|(a|aa)+c"]).unwrap();
    assert!(!pattern.matches(&"a".repeat(LENGTH)));
    assert!(start.elapsed() < LONG, "{:?}", start.elapsed());
}
