//! Line charts, for time series, curves and distributions.

use serde::Serialize;

use super::axis::{Axis, Tick};

/// One line chart.
#[derive(Debug, Serialize)]
pub(super) struct Plot {
    pub(super) title: &'static str,
    /// Further notes for the reader, with the unit first.
    pub(super) note: String,
    /// The name of the horizontal axis.
    pub(super) x_name: &'static str,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    lines: Vec<Line>,
    /// Both ends of each line in words, for screen readers.
    pub(super) spoken: String,
}

/// The data of a line, before it is placed on axes.
#[derive(Debug)]
pub(super) struct Course {
    /// The number of its series, which decides its style.
    pub(super) series: usize,
    /// The name of the line.
    pub(super) name: String,
    /// Whether it is the less important of two lines of its series.
    pub(super) dashed: bool,
    /// From left to right; the line has a gap at a point without a figure.
    pub(super) points: Vec<(f64, Option<f64>)>,
}

#[derive(Debug, Serialize)]
struct Line {
    series: usize,
    name: String,
    dashed: bool,
    /// Continuous segments.
    pieces: Vec<Vec<[f64; 2]>>,
    /// Whether its points are few enough to be marked.
    dots: bool,
}

/// Formats the figures of an axis.
pub(super) type Text = fn(f64) -> String;

/// A line with at most this many points has them marked.
const DOTTED: usize = 16;

/// The title and the axes of a chart.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) title: &'static str,
    pub(super) note: String,
    pub(super) x_name: &'static str,
    pub(super) x: Axis,
    pub(super) x_ticks: Vec<Tick>,
    pub(super) y: Axis,
    pub(super) y_text: Text,
}

impl Plot {
    /// Returns the chart; `None` if no line has a point.
    pub(super) fn of(frame: Frame, courses: &[Course]) -> Option<Self> {
        let spoken: Vec<_> = courses.iter().filter_map(|course| description(course, frame.y_text)).collect();
        if spoken.is_empty() {
            return None;
        }
        let place = |(x, y): (f64, f64)| [frame.x.position(x), 100.0 - frame.y.position(y)];
        let lines = courses.iter().map(|course| Line {
            series: course.series,
            name: course.name.clone(),
            dashed: course.dashed,
            pieces: segments(&course.points).into_iter().map(|piece| piece.into_iter().map(place).collect()).collect(),
            // Dots would hide the dashes.
            dots: course.points.len() <= DOTTED && !course.dashed,
        });
        Some(Plot {
            title: frame.title,
            note: frame.note,
            x_name: frame.x_name,
            x_ticks: frame.x_ticks,
            y_ticks: frame.y.ticks(frame.y_text),
            lines: lines.collect(),
            spoken: spoken.join("; "),
        })
    }
}

fn description(course: &Course, text: Text) -> Option<String> {
    let mut figures = course.points.iter().filter_map(|(_, figure)| *figure);
    let first = figures.next()?;
    let (low, high, last) =
        figures.fold((first, first, first), |(low, high, _), figure| (low.min(figure), high.max(figure), figure));
    let rounded = |figure: f64| text(three_digits(figure));
    Some(format!(
        "{} from {} to {}, between {} and {}",
        course.name,
        rounded(first),
        rounded(last),
        rounded(low),
        rounded(high)
    ))
}

fn three_digits(figure: f64) -> f64 {
    if figure == 0.0 || !figure.is_finite() {
        return 0.0;
    }
    let unit = 10_f64.powf(figure.abs().log10().floor() - 2.0);
    (figure / unit).round() * unit
}

fn segments(points: &[(f64, Option<f64>)]) -> Vec<Vec<(f64, f64)>> {
    points
        .split(|(_, figure)| figure.is_none())
        .map(|piece| piece.iter().filter_map(|(x, figure)| Some((*x, (*figure)?))).collect::<Vec<_>>())
        .filter(|piece| !piece.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::axis::plain;

    #[test]
    fn a_line_is_interrupted_where_there_is_nothing() {
        let points = [(0.0, Some(1.0)), (1.0, None), (2.0, Some(2.0)), (3.0, Some(1234.0))];
        assert_eq!(segments(&points), [vec![(0.0, 1.0)], vec![(2.0, 2.0), (3.0, 1234.0)]]);
        let course = Course { series: 0, name: "castile".to_owned(), dashed: false, points: points.to_vec() };
        assert_eq!(description(&course, plain).unwrap(), "castile from 1 to 1,230, between 1 and 1,230");
    }
}
