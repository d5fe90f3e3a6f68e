//! The page of a comparison: each difference with its interval, around zero.

use serde::Serialize;

use super::axis::{Axis, Tick, share};
use crate::compare::{Change, Compared, ComparedSuite, Comparison, UNKNOWN, Verdict, Yardstick, in_percent};
use crate::student::{CONFIDENCE, Difference};

/// Larger differences are shown at the end of the axis, so that one outlier doesn't hide all
/// others.
const WIDEST: f64 = 2.0;

/// The data of the template.
#[derive(Debug, Serialize)]
pub(crate) struct Forest<'a> {
    comparison: &'a Comparison,
    confidence: f64,
    /// By chance, one in this many rows without a difference will appear to have one.
    one_in: f64,
    /// The figures that the differences are of.
    yardsticks: Vec<String>,
    /// For each bench after the first.
    counts: Vec<Counts>,
    ticks: Vec<Tick>,
    suites: Vec<Section>,
}

#[derive(Debug, Serialize)]
struct Counts {
    name: String,
    better: usize,
    worse: usize,
    unseen: usize,
    unknown: usize,
}

#[derive(Debug, Serialize)]
struct Section {
    name: String,
    rows: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    case: String,
    name: String,
    differences: Vec<Mark>,
    figures: Vec<Option<Texts>>,
}

/// A difference with positions in percent of the chart's width.
#[derive(Debug, Serialize)]
struct Mark {
    bench: usize,
    name: String,
    at: Option<[f64; 3]>,
    text: String,
    words: String,
    /// `None` if no verdict is possible.
    verdict: Option<Verdict>,
}

#[derive(Debug, Serialize)]
struct Texts {
    rate: String,
    latency: String,
    cpu: Option<String>,
    errors: u64,
    driver_limited: bool,
}

impl<'a> Forest<'a> {
    pub(crate) fn of(comparison: &'a Comparison, suites: &[ComparedSuite]) -> Self {
        let differences = || comparison.rows().flat_map(|(_, row)| &row.differences);
        let ends = differences().flatten().flat_map(|Change { difference, .. }| [difference.low, difference.high]);
        let axis = Axis::linear(ends.map(|end| end.abs().min(WIDEST))).rounded();
        let names: Vec<&str> = comparison.names().collect();
        let counts = names.iter().enumerate().skip(1).map(|(index, name)| {
            let verdicts = comparison.rows().filter_map(|(_, row)| row.differences.get(index - 1));
            let verdicts: Vec<_> = verdicts.map(|change| change.as_ref().map(Change::verdict)).collect();
            let number = |wanted: Option<Verdict>| verdicts.iter().filter(|verdict| **verdict == wanted).count();
            Counts {
                name: (*name).to_owned(),
                better: number(Some(Verdict::Better)),
                worse: number(Some(Verdict::Worse)),
                unseen: number(Some(Verdict::Unseen)),
                unknown: number(None),
            }
        });
        Forest {
            comparison,
            confidence: CONFIDENCE,
            one_in: 1.0 / (1.0 - CONFIDENCE),
            yardsticks: comparison.yardsticks().map(Yardstick::about).collect(),
            counts: counts.collect(),
            ticks: ticks(&axis),
            suites: suites
                .iter()
                .map(|suite| Section {
                    name: suite.suite.clone(),
                    rows: suite.rows.iter().map(|row| line(row, &names, &axis)).collect(),
                })
                .collect(),
        }
    }
}

/// Returns the labels of an axis that is symmetric around zero.
fn ticks(axis: &Axis) -> Vec<Tick> {
    let halves = axis.ticks(share);
    let left = halves
        .iter()
        .skip(1)
        .map(|tick| Tick { position: 50.0 - tick.position / 2.0, text: format!("−{}", tick.text) });
    let right = halves
        .iter()
        .skip(1)
        .map(|tick| Tick { position: 50.0 + tick.position / 2.0, text: format!("+{}", tick.text) });
    let middle = Tick { position: 50.0, text: "0".to_owned() };
    left.chain([middle]).chain(right).collect()
}

fn line(row: &Compared, names: &[&str], axis: &Axis) -> Line {
    let place = |share: f64| 50.0 + axis.position(share.abs()) / 2.0 * share.signum();
    let marks = row.differences.iter().enumerate().map(|(index, change)| {
        let difference = change.as_ref().map(|change| change.difference);
        Mark {
            bench: index + 1,
            name: names[index + 1].to_owned(),
            at: difference.map(|Difference { relative, low, high }| [low, relative, high].map(place)),
            text: difference.as_ref().map(in_percent).unwrap_or_default(),
            words: change.as_ref().map_or(UNKNOWN.to_owned(), Change::words),
            verdict: change.as_ref().map(Change::verdict),
        }
    });
    let texts = row.figures.iter().map(|figures| {
        figures.as_ref().map(|figures| Texts {
            rate: figures.rate(),
            latency: figures.latency(),
            cpu: figures.cpu(),
            errors: figures.errors,
            driver_limited: figures.driver_limited,
        })
    });
    Line { case: row.case.clone(), name: row.row.clone(), differences: marks.collect(), figures: texts.collect() }
}
