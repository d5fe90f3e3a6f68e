//! Details of one case: the distribution of latency, the course over time, and curves over users or rates.

use serde::Serialize;

use super::axis::{self, Axis, Tick, plain, seconds, share, size, time};
use super::bars::{Mark, marks};
use super::figures::{Table, curve_points, distribution_points, one_case, series_points};
use super::material::{Case, Series};
use super::plot::{Course, Frame, Plot, Text};
use crate::{Interval, Row, Step};

/// More points than this are merged, since a screen can't show them separately.
const POINTS: usize = 240;

/// All details of one case.
#[derive(Debug, Serialize)]
pub(super) struct Detail {
    case: String,
    series: Vec<Series>,
    marks: Vec<Mark>,
    errors: Vec<String>,
    figures: Table,
    plots: Vec<Plot>,
    /// The length of each point in time, if points were merged.
    merged: Option<String>,
    /// The figures of the plots.
    tables: Vec<Table>,
}

/// Throughput and latency of one case over the number of users or the rate.
#[derive(Debug, Serialize)]
pub(super) struct Curves {
    case: String,
    series: Vec<Series>,
    outcome: Vec<String>,
    plots: Vec<Plot>,
    tables: Vec<Table>,
}

impl Detail {
    pub(super) fn of(case: &Case<'_>, series: &[Series]) -> Self {
        let rows: Vec<(&Series, &Row)> = case.rows.iter().map(|(index, row)| (&series[*index], *row)).collect();
        let courses: Vec<(&Series, Vec<Interval>)> = rows
            .iter()
            .filter(|(_, row)| !row.series.is_empty())
            .map(|(series, row)| (*series, merged(&row.series)))
            .collect();
        let longest = rows.iter().map(|(_, row)| row.series.len()).max().unwrap_or(0);
        let step =
            courses.iter().filter_map(|(_, intervals)| intervals.first()).map(|first| first.at_s).fold(0.0, f64::max);
        let errors = rows
            .iter()
            .flat_map(|(series, row)| row.reasons.iter().map(move |reason| format!("{}: {reason}", series.name)));
        Detail {
            case: case.name.to_owned(),
            series: rows.iter().map(|(series, _)| (*series).clone()).collect(),
            marks: rows.iter().flat_map(|(_, row)| marks(row)).collect(),
            errors: errors.collect(),
            figures: one_case(case.name, &rows),
            plots: distribution(&rows).into_iter().chain(over_time(&courses)).collect(),
            merged: (longest > POINTS).then(|| seconds(step)),
            tables: distribution_points(case.name, &rows)
                .into_iter()
                .chain(courses.iter().map(|(series, intervals)| series_points(case.name, series, intervals)))
                .collect(),
        }
    }
}

/// Merges neighbouring intervals until few enough are left. Errors are added, and the largest 99th percentile is
/// used.
fn merged(intervals: &[Interval]) -> Vec<Interval> {
    let each = intervals.len().div_ceil(POINTS).max(1);
    let mean = |figures: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = figures.fold((0.0, 0), |(sum, count), figure| (sum + figure, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    let chunks = intervals.chunks(each).filter_map(|chunk| {
        let last = chunk.last()?;
        Some(Interval {
            at_s: last.at_s,
            requests_per_second: mean(&mut chunk.iter().map(|interval| interval.requests_per_second))?,
            errors: chunk.iter().map(|interval| interval.errors).sum(),
            p50_us: mean(&mut chunk.iter().filter_map(|interval| interval.p50_us)),
            p99_us: chunk.iter().filter_map(|interval| interval.p99_us).reduce(f64::max),
            users: last.users,
            server_cpu_share: mean(&mut chunk.iter().filter_map(|interval| interval.server_cpu_share)),
            server_rss_bytes: chunk.iter().filter_map(|interval| interval.server_rss_bytes).max(),
            server_cpu_us_per_request: mean(
                &mut chunk.iter().filter_map(|interval| interval.server_cpu_us_per_request),
            ),
        })
    });
    chunks.collect()
}

/// Returns latency by percentile, on an axis where each further nine has the same width.
fn distribution(rows: &[(&Series, &Row)]) -> Option<Plot> {
    let rows: Vec<_> = rows.iter().filter(|(_, row)| !row.distribution.is_empty()).collect();
    // The slowest of N requests is shown at the share 1 - 1/N.
    let finest = rows.iter().map(|(_, row)| row.requests.max(10) as f64).fold(10.0, f64::max);
    let nines = |quantile: f64, row: &Row| -(1.0 - quantile).max(1.0 / row.requests.max(10) as f64).log10();
    let x = Axis::linear([finest.log10()].into_iter());
    let texts = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %"];
    // Few enough to fit on a phone.
    let every = if finest.log10() < 5.0 { 1 } else { 2 };
    let ticks = texts.iter().enumerate().step_by(every).filter(|(index, _)| *index as f64 <= finest.log10());
    let ticks = ticks.map(|(index, text)| Tick { position: x.position(index as f64), text: (*text).to_owned() });
    let courses: Vec<_> = rows
        .iter()
        .map(|(series, row)| Course {
            series: series.index,
            name: series.name.clone(),
            dashed: false,
            points: row.distribution.iter().map(|point| (nines(point.quantile, row), Some(point.us))).collect(),
        })
        .collect();
    let y = Axis::logarithmic(figures(&courses));
    let frame = Frame {
        title: "Latency distribution",
        note: "the latency that this share of requests did not exceed; both axes are logarithmic".to_owned(),
        x_name: "share of requests",
        x_ticks: ticks.collect(),
        x,
        y,
        y_text: time,
    };
    Plot::of(frame, &courses)
}

/// A line of a chart for each series: the text after the series' name, whether the line is dashed, and its figure.
type Line<T> = (&'static str, bool, fn(&T) -> Option<f64>);

fn courses<T>(series: &[(&Series, Vec<T>)], x: impl Fn(&T) -> f64, lines: &[Line<T>]) -> Vec<Course> {
    let course = |series: &Series, points: &[T], (name, dashed, figure): &Line<T>| Course {
        series: series.index,
        name: if name.is_empty() { series.name.clone() } else { format!("{} {name}", series.name) },
        dashed: *dashed,
        points: points.iter().map(|point| (x(point), figure(point))).collect(),
    };
    series.iter().flat_map(|(series, points)| lines.iter().map(move |line| course(series, points, line))).collect()
}

fn figures(courses: &[Course]) -> impl Iterator<Item = f64> {
    courses.iter().flat_map(|course| &course.points).filter_map(|(_, figure)| *figure)
}

fn over_time(series: &[(&Series, Vec<Interval>)]) -> Vec<Plot> {
    let x = Axis::linear(series.iter().flat_map(|(_, intervals)| intervals).map(|interval| interval.at_s));
    let plot = |title, note: &str, y: fn(&[Course]) -> Axis, text: Text, lines: &[Line<Interval>]| {
        let courses = courses(series, |interval| interval.at_s, lines);
        let frame = Frame {
            title,
            note: note.to_owned(),
            x_name: "time",
            x_ticks: x.ticks(seconds),
            x,
            y: y(&courses),
            y_text: text,
        };
        Plot::of(frame, &courses)
    };
    let from_zero = |courses: &[Course]| Axis::linear(figures(courses)).rounded();
    let decades = |courses: &[Course]| Axis::logarithmic(figures(courses));
    let any_errors = series.iter().any(|(_, intervals)| intervals.iter().any(|interval| interval.errors > 0));
    let errors = || {
        plot(
            "Errors",
            "wrong or missing answers in each interval",
            from_zero,
            plain,
            &[("", false, |interval| Some(interval.errors as f64))],
        )
    };
    [
        plot(
            "Throughput",
            "right answers per second",
            from_zero,
            plain,
            &[("", false, |interval| Some(interval.requests_per_second))],
        ),
        any_errors.then(errors).flatten(),
        plot(
            "Latency",
            "median dashed, 99th percentile solid; the axis is logarithmic",
            decades,
            time,
            &[("99 %", false, |interval| interval.p99_us), ("median", true, |interval| interval.p50_us)],
        ),
        plot(
            "Users",
            "at the end of each interval",
            from_zero,
            plain,
            &[("", false, |interval| interval.users.map(|users| users as f64))],
        ),
        plot(
            "CPU of the server",
            "share of its cores",
            from_zero,
            share,
            &[("", false, |interval| interval.server_cpu_share)],
        ),
        plot(
            "Memory of the server",
            "resident",
            from_zero,
            size,
            &[("", false, |interval| interval.server_rss_bytes.map(|bytes| bytes as f64))],
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Curves {
    /// Returns the curves of a case; `None` if it has none.
    pub(super) fn of(case: &Case<'_>, series: &[Series]) -> Option<Self> {
        let rows: Vec<(&Series, &Row)> = case.rows.iter().map(|(index, row)| (&series[*index], *row)).collect();
        let rows: Vec<_> = rows.into_iter().filter(|(_, row)| !row.curve.is_empty()).collect();
        if rows.is_empty() {
            return None;
        }
        let curves: Vec<(&Series, Vec<Step>)> = rows.iter().map(|(series, row)| (*series, row.curve.clone())).collect();
        Some(Curves {
            case: case.name.to_owned(),
            series: rows.iter().map(|(series, _)| (*series).clone()).collect(),
            outcome: rows.iter().filter_map(|(series, row)| outcome(series, row)).collect(),
            plots: over_load(&curves),
            tables: curves.iter().map(|(series, steps)| curve_points(case.name, series, steps)).collect(),
        })
    }
}

/// Returns the result of a search or a ramp, in a sentence.
fn outcome(series: &Series, row: &Row) -> Option<String> {
    let rate = plain(row.requests_per_second.mean.round());
    let reason = row.exit_reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    if let Some(users) = row.users_at_peak {
        return Some(format!(
            "{}: most throughput, {rate} requests/s, with {} users{reason}",
            series.name,
            plain(users as f64)
        ));
    }
    let users = row.users_at_exit?;
    let failed = row.failed.unwrap_or(0);
    Some(format!("{}: ended with {} users and {failed} failed requests{reason}", series.name, plain(users as f64)))
}

fn over_load(curves: &[(&Series, Vec<Step>)]) -> Vec<Plot> {
    let by_users = curves.iter().flat_map(|(_, steps)| steps).any(|step| step.users.is_some());
    let load = |step: &Step| match by_users {
        true => step.users.unwrap_or(0) as f64,
        false => step.rate.unwrap_or(0.0),
    };
    let x = Axis::linear(curves.iter().flat_map(|(_, steps)| steps).map(load));
    let plot = |title, note: &str, y: fn(&[Course]) -> Axis, text: Text, lines: &[Line<Step>]| {
        let courses = courses(curves, load, lines);
        let frame = Frame {
            title,
            note: note.to_owned(),
            x_name: if by_users { "users" } else { "requests scheduled per second" },
            x_ticks: x.ticks(axis::plain),
            x,
            y: y(&courses),
            y_text: text,
        };
        Plot::of(frame, &courses)
    };
    let from_zero = |courses: &[Course]| Axis::linear(figures(courses)).rounded();
    let decades = |courses: &[Course]| Axis::logarithmic(figures(courses));
    let any_errors = curves.iter().any(|(_, steps)| steps.iter().any(|step| step.errors > 0));
    let errors = || {
        plot(
            "Errors",
            "wrong or missing answers at each step",
            from_zero,
            plain,
            &[("", false, |step| Some(step.errors as f64))],
        )
    };
    [
        plot(
            "Throughput against load",
            "right answers per second",
            from_zero,
            plain,
            &[("", false, |step| Some(step.requests_per_second))],
        ),
        plot(
            "Latency against load",
            "mean dashed, 99th percentile solid; the axis is logarithmic",
            decades,
            time,
            &[("99 %", false, |step| Some(step.p99_us)), ("mean", true, |step| Some(step.mean_us))],
        ),
        any_errors.then(errors).flatten(),
        plot(
            "CPU of the server against load",
            "share of its cores",
            from_zero,
            share,
            &[("", false, |step| step.server_cpu_share)],
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_courses_are_merged_without_losing_errors_or_the_worst() {
        let intervals: Vec<Interval> = (1..=1000)
            .map(|index| Interval {
                at_s: f64::from(index),
                requests_per_second: 100.0,
                errors: u64::from(index == 500),
                p99_us: Some(if index == 500 { 9e6 } else { 1e3 }),
                ..Interval::default()
            })
            .collect();
        let merged = merged(&intervals);
        assert_eq!(merged.len(), 200);
        assert_eq!(merged.iter().map(|interval| interval.errors).sum::<u64>(), 1);
        assert_eq!(merged.iter().filter_map(|interval| interval.p99_us).reduce(f64::max), Some(9e6));
        assert!(merged.iter().all(|interval| (interval.requests_per_second - 100.0).abs() < 1e-9));
        assert_eq!(merged.last().map(|interval| interval.at_s), Some(1000.0));
    }
}
