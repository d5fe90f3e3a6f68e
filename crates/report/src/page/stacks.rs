//! Tables that compare targets: what they are, what the same requests cost each of them, and how long
//! their answers are.

use super::figures::{Cell, Line, Table};
use crate::Results;
use crate::format::{bytes, count};
use crate::versus::{Overall, Versus, times, title};

/// Returns the table of the targets with their overall results.
pub(super) fn targets(results: &Results, subject: &str, overall: &Overall<'_>) -> Table {
    let headings = ["target", "CPU time per request", "cases", "first answer", "peak memory", "language", "software"];
    let lines = results.target_summaries(overall).into_iter().map(|standing| {
        let mean = standing.mean;
        let cells = [
            Cell::of(mean.map(|mean| times(mean.ratio))),
            Cell::of(mean.map(|mean| mean.count.to_string())),
            Cell::of(standing.first_answer()),
            Cell::of(standing.peak_memory.map(|size| bytes(size as f64))),
            Cell::words(standing.language().to_owned()),
            Cell::words(standing.what()),
        ];
        Line::new(title(standing.name).to_owned(), cells)
    });
    Table::new(format!("The targets; CPU time as a multiple of {subject}’s"), headings, lines.collect()).without_empty()
}

/// Returns the table of server CPU time by case and target, with the lowest of each case marked.
pub(super) fn costs(versus: &Versus<'_>) -> Table {
    let mut lines: Vec<Line> = versus
        .costs()
        .map(|line| {
            let best = line.cheapest(versus);
            let cells = (0..line.rows.len()).map(|place| {
                let mut cell = Cell::of(versus.cpu(line, place));
                cell.below = versus.multiple(line, place);
                cell.bad = line.rows[place].is_some_and(|row| row.wrong() > 0);
                cell.good = best == Some(place);
                cell
            });
            Line::new(line.name.clone(), cells)
        })
        .collect();
    if !lines.is_empty() {
        let means = (0..versus.targets.len()).map(|place| {
            let mean = versus.mean(place);
            let mut cell = Cell::of(mean.map(|mean| times(mean.ratio)));
            cell.below = mean.map(|mean| format!("of {}", mean.count));
            cell
        });
        lines.push(Line::new("geometric mean, number of cases".to_owned(), means));
    }
    Table::new(format!("Server CPU time per request, and its multiple of {}’s", versus.subject), heads(versus), lines)
        .without_empty()
}

/// Returns the table of the lengths of answers, for lines in which they differ.
pub(super) fn sizes(versus: &Versus<'_>) -> Table {
    let lines = versus.unequal().map(|line| {
        let size = |place: usize| line.rows[place].map(|row| row.response_bytes).filter(|size| *size > 0);
        let cells = (0..line.rows.len()).map(|place| Cell::of(size(place).map(|size| count(size as f64))));
        Line::new(line.name.clone(), cells)
    });
    Table::new("Bytes of a response, if the targets differ".to_owned(), heads(versus), lines.collect()).without_empty()
}

fn heads<'a>(versus: &Versus<'a>) -> impl Iterator<Item = &'a str> {
    std::iter::once("case").chain(versus.targets.iter().map(|target| title(target)))
}
