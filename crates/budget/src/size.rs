use std::fmt;
use std::str::FromStr;

/// A number of bytes, displayed and parsed with its unit.
///
/// The units are `B`, `KiB`, `MiB`, `GiB` and `TiB` with a factor of 1,024, and `kB`, `MB`, `GB` and `TB` with a factor
/// of 1,000. A size is displayed in the largest binary unit that isn't larger than the size. It has one decimal place if
/// it isn't a whole number of units.
///
/// ```
/// use castile_budget::Size;
///
/// assert_eq!("512MiB".parse::<Size>()?, Size(512 << 20));
/// assert_eq!("1.5 GB".parse::<Size>()?, Size(1_500_000_000));
/// assert_eq!(Size(1536).to_string(), "1.5 KiB");
/// assert_eq!("512".parse::<Size>().unwrap_err().to_string(), r#""512" is not a size: expected a number with a unit, such as "512MiB""#);
/// # Ok::<(), castile_budget::InvalidSize>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub usize);

/// The units by which sizes are displayed come first, from the largest to the smallest.
const UNITS: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let bytes = self.0 as u64;
        let (name, unit) = UNITS.into_iter().find(|&(_, unit)| bytes >= unit).unwrap_or(("B", 1));
        if bytes.is_multiple_of(unit) {
            write!(f, "{} {name}", bytes / unit)
        } else {
            write!(f, "{:.1} {name}", bytes as f64 / unit as f64)
        }
    }
}

impl FromStr for Size {
    type Err = InvalidSize;

    /// Parses a size. A size too large for `usize` becomes `usize::MAX`.
    fn from_str(text: &str) -> Result<Self, InvalidSize> {
        read(text.trim()).map(Size).ok_or_else(|| InvalidSize(text.to_owned()))
    }
}

fn read(text: &str) -> Option<usize> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, name) = text.split_at(digits);
    let (_, unit) = UNITS.into_iter().find(|(unit, _)| *unit == name.trim_start())?;
    // A whole number is multiplied without a loss of precision. The cast from `f64` below saturates.
    if let Ok(whole) = number.parse::<u64>() {
        return Some(usize::try_from(whole.saturating_mul(unit)).unwrap_or(usize::MAX));
    }
    Some((number.parse::<f64>().ok()? * unit as f64) as usize)
}

/// The error when a text isn't a [`Size`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSize(String);

impl fmt::Display for InvalidSize {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:?} is not a size: expected a number with a unit, such as \"512MiB\"", self.0)
    }
}

impl std::error::Error for InvalidSize {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_sizes_are_read_again() {
        for bytes in [0, 1, 1023, 1024, 512 << 10, 64 << 20, 3 << 30, 5 << 40] {
            assert_eq!(Size(bytes).to_string().parse(), Ok(Size(bytes)), "{bytes}");
        }
    }

    #[test]
    fn a_size_needs_a_number_and_a_known_unit() {
        for text in ["", "MiB", "12", "-1 MiB", "1 mib", "1 MiB/s", "1..5 GB", ".", ". B", "1 G", "NaN B"] {
            assert!(text.parse::<Size>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn too_large_sizes_are_all_of_the_memory() {
        assert_eq!("99999999999999 TiB".parse(), Ok(Size(usize::MAX)));
        assert_eq!("99999999999999999999999.5 TiB".parse(), Ok(Size(usize::MAX)));
    }
}
