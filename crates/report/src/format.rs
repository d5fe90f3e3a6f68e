//! Formats numbers for people.

/// The text for a missing figure.
pub(crate) const NONE: &str = "–";

/// A whole number with separators between thousands: `12,345`.
pub fn count(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    if number <= -0.5 {
        text.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A round number without unnecessary digits: `0.5`, `20`, `15,000`.
pub fn plain(number: f64) -> String {
    match number {
        large if large >= 1_000.0 => count(large),
        // Rounded, because sums and products of steps are not exact.
        small => format!("{}", (small * 1e9).round() / 1e9),
    }
}

/// A number with three significant digits, more for large numbers: `0.123`, `1.23`, `12.3`, `1,234`.
pub fn figure(number: f64) -> String {
    match number.abs() {
        size if size >= 99.95 => count(number),
        size if size >= 9.995 => format!("{number:.1}"),
        size if size >= 0.9995 || size == 0.0 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// A mean and its standard deviation with the same number of decimals, so that the deviation has one significant digit:
/// `1,234 ± 56`, `29.1 ± 0.4`.
pub(crate) fn spread(mean: f64, deviation: f64) -> String {
    let digits = |number: f64, most: f64| match number.abs() {
        size if size >= most => 0,
        size if size >= most / 10.0 => 1,
        size if size >= most / 100.0 => 2,
        size if size > 0.0 => 3,
        _ => 0,
    };
    match digits(mean, 99.95).max(digits(deviation, 0.95)) {
        0 => format!("{} ± {}", count(mean), count(deviation)),
        digits => format!("{} ± {deviation:.digits$}", decimal(mean, digits)),
    }
}

/// A number with this many decimals, and separators between thousands: `2,773.5`.
fn decimal(number: f64, digits: usize) -> String {
    let text = format!("{number:.digits$}");
    match text.split_once('.') {
        // Already rounded, so nothing is carried into the whole part.
        Some((whole, fraction)) => format!("{}.{fraction}", count(whole.parse().unwrap_or(0.0))),
        None => count(number),
    }
}

/// A share as a percentage: `71 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// A ratio: `0.96`, `1.30`, `101`.
pub(crate) fn ratio(ratio: f64) -> String {
    if ratio < 99.995 { format!("{ratio:.2}") } else { count(ratio) }
}

/// Microseconds, converted to the unit that fits: `174 µs`, `3.37 ms`, `1.20 s`.
pub fn microseconds(time: f64) -> String {
    match time {
        time if time < 9_999.5 => format!("{} µs", figure(time)),
        time if time < 999_950.0 => format!("{} ms", figure(time / 1e3)),
        time => format!("{} s", figure(time / 1e6)),
    }
}

/// Bytes, converted to the unit that fits: `168 B`, `11.1 KB`, `14.2 MB` (powers of ten).
pub(crate) fn bytes(size: f64) -> String {
    match size {
        size if size < 1e3 => format!("{size:.0} B"),
        size if size < 1e6 => format!("{} KB", figure(size / 1e3)),
        size if size < 1e9 => format!("{} MB", figure(size / 1e6)),
        size => format!("{} GB", figure(size / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let counts = [(0.0, "0"), (999.6, "1,000"), (12.0, "12"), (1234567.0, "1,234,567"), (-1e3, "-1,000")];
        for (number, text) in counts {
            assert_eq!(count(number), text);
        }
        let figures = [(0.0, "0.00"), (0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234")];
        for (number, text) in figures {
            assert_eq!(figure(number), text);
        }
        let spreads = [
            ((1_234.5, 56.2), "1,234 ± 56"),
            ((29.14, 0.36), "29.1 ± 0.4"),
            ((284.707, 0.192), "284.7 ± 0.2"),
            ((2_773.98, 0.541), "2,774.0 ± 0.5"),
            ((0.0901, 0.0012), "0.090 ± 0.001"),
            ((100.0, 0.0), "100 ± 0"),
            ((0.0, 0.0), "0 ± 0"),
        ];
        for ((mean, deviation), text) in spreads {
            assert_eq!(spread(mean, deviation), text);
        }
        assert_eq!([ratio(0.956), ratio(1.3), ratio(101.46)], ["0.96", "1.30", "101"]);
        assert_eq!(percent(0.714), "71 %");
        let times = [(174.2, "174 µs"), (3371.0, "3,371 µs"), (12_345.0, "12.3 ms"), (1.2e6, "1.20 s")];
        for (time, text) in times {
            assert_eq!(microseconds(time), text);
        }
        assert_eq!([bytes(168.0), bytes(11_087.0), bytes(14.2e6)], ["168 B", "11.1 KB", "14.2 MB"]);
    }
}
