//! Axes of charts: the positions of figures, in percent of a chart's width or height, and the labelled
//! round figures.

use serde::Serialize;

pub(super) use crate::format::plain;

/// A scale between two figures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
}

/// A labelled round figure on an axis.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Tick {
    /// In percent, from the start of the axis.
    pub(super) position: f64,
    pub(super) text: String,
}

impl Axis {
    /// Creates an axis from 0 to the highest of these figures.
    pub(super) fn linear(figures: impl Iterator<Item = f64>) -> Self {
        let high = figures.filter(|figure| figure.is_finite()).fold(0.0, f64::max);
        // A smaller range can't be divided into round steps.
        Axis { low: 0.0, high: if high > 1e-9 { high } else { 1.0 }, logarithmic: false }
    }

    /// Creates a logarithmic axis over all these figures, for figures that span decades.
    pub(super) fn logarithmic(figures: impl Iterator<Item = f64>) -> Self {
        let (low, high) = figures
            .filter(|figure| *figure > 0.0 && figure.is_finite())
            .fold((f64::MAX, 0.0_f64), |(low, high), figure| (low.min(figure), high.max(figure)));
        if high <= 0.0 {
            return Axis { low: 1.0, high: 10.0, logarithmic: true };
        }
        // Some margin at both ends, and at least a factor of two, so that the axis can be divided.
        Axis { low: low / 1.15, high: (high * 1.15).max(low * 2.0), logarithmic: true }
    }

    /// Extends the axis to its last round figure.
    pub(super) fn rounded(self) -> Self {
        let step = self.step();
        Axis { high: (self.high / step - 1e-9).ceil() * step, ..self }
    }

    pub(super) fn position(&self, figure: f64) -> f64 {
        let position = match self.logarithmic {
            true => (figure / self.low).ln() / (self.high / self.low).ln(),
            false => (figure - self.low) / (self.high - self.low),
        };
        // A logarithmic axis has no position for 0, so it is shown at the start.
        if position.is_finite() { (position * 100.0).clamp(0.0, 100.0) } else { 0.0 }
    }

    /// Returns the round figures of the axis with their labels.
    pub(super) fn ticks(&self, text: fn(f64) -> String) -> Vec<Tick> {
        let figures = if self.logarithmic { self.decades() } else { self.steps() };
        figures.into_iter().map(|figure| Tick { position: self.position(figure), text: text(figure) }).collect()
    }

    /// Returns few enough figures to fit on a phone.
    fn decades(&self) -> Vec<f64> {
        let steps: &[f64] = match self.high / self.low {
            shortest if shortest < 4.0 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
            short if short < 30.0 => &[1.0, 2.0, 5.0],
            long if long < 2_000.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let decades = (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32);
        decades
            .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
            .filter(|figure| (self.low..=self.high).contains(figure))
            .collect()
    }

    fn steps(&self) -> Vec<f64> {
        let step = self.step();
        let last = (self.high / step + 1e-9).floor() as usize;
        (0..=last).map(|index| index as f64 * step).collect()
    }

    /// Returns a round distance, of which three to six fit on the axis.
    fn step(&self) -> f64 {
        let rough = self.high / 5.0;
        let decade = 10_f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * decade >= rough * 0.999).unwrap_or(10.0);
        factor * decade
    }
}

/// Formats a round time in microseconds: `50 µs`, `2 ms`, `1 s`.
pub(super) fn time(microseconds: f64) -> String {
    match microseconds {
        time if time < 1e3 => format!("{} µs", plain(time)),
        time if time < 1e6 => format!("{} ms", plain(time / 1e3)),
        time => format!("{} s", plain(time / 1e6)),
    }
}

/// Formats a round share as a percentage.
pub(super) fn share(share: f64) -> String {
    format!("{} %", plain(share * 100.0))
}

/// Formats a round size: `20 MB`.
pub(super) fn size(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1e3 => format!("{} B", plain(bytes)),
        bytes if bytes < 1e6 => format!("{} KB", plain(bytes / 1e3)),
        bytes if bytes < 1e9 => format!("{} MB", plain(bytes / 1e6)),
        bytes => format!("{} GB", plain(bytes / 1e9)),
    }
}

/// Formats a round time in seconds: `30 s`, `2 min`.
pub(super) fn seconds(seconds: f64) -> String {
    match seconds {
        long if long >= 120.0 && long % 60.0 == 0.0 => format!("{} min", plain(long / 60.0)),
        short => format!("{} s", plain(short)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: Vec<Tick>) -> Vec<String> {
        ticks.into_iter().map(|tick| tick.text).collect()
    }

    #[test]
    fn an_axis_of_time() {
        let axis = Axis::logarithmic([100.0, 10_000.0].into_iter());
        assert!((axis.position(1_000.0) - 50.0).abs() < 1e-9);
        assert_eq!(axis.position(0.0), 0.0);
        assert_eq!(texts(axis.ticks(time)), ["100 µs", "300 µs", "1 ms", "3 ms", "10 ms"]);
        let shortest = Axis::logarithmic([15_000.0, 34_000.0].into_iter());
        assert_eq!(texts(shortest.ticks(time)), ["15 ms", "20 ms", "30 ms"]);
        let short = Axis::logarithmic([150.0, 600.0].into_iter());
        assert_eq!(texts(short.ticks(time)), ["200 µs", "500 µs"]);
    }

    #[test]
    fn an_axis_from_nothing() {
        let table = [
            (1.0, vec!["0", "0.2", "0.4", "0.6", "0.8", "1"]),
            (37.0, vec!["0", "10", "20", "30", "40"]),
            (23_400.0, vec!["0", "5,000", "10,000", "15,000", "20,000", "25,000"]),
            (0.0, vec!["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ];
        for (high, expected) in table {
            let axis = Axis::linear([high].into_iter()).rounded();
            assert_eq!(texts(axis.ticks(plain)), expected);
        }
        for strange in [f64::MAX, 5e-324, f64::NAN, f64::INFINITY, -1.0] {
            assert!(Axis::linear([strange].into_iter()).rounded().ticks(plain).len() < 10);
            let axis = Axis::logarithmic([strange, 1.0].into_iter());
            assert!((0.0..=100.0).contains(&axis.position(strange)), "{strange}");
        }
        assert_eq!(Axis::linear([200.0].into_iter()).position(50.0), 25.0);
    }

    #[test]
    fn round_figures() {
        assert_eq!([seconds(30.0), seconds(120.0), seconds(90.0)], ["30 s", "2 min", "90 s"]);
        assert_eq!([size(2e7), size(500.0), share(0.5)], ["20 MB", "500 B", "50 %"]);
    }
}
