//! The results as tables for a terminal: one for each method, with the columns that matter for it.

use std::collections::BTreeSet;

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::compare::{Change, Compared, Comparison, Figures, UNKNOWN, in_percent};
use crate::format::{NONE, bytes, count, figure, percent, ratio};
use crate::label::{Labels, ways};
use crate::versus::{Versus, sure, times};
use crate::{FLOOR, Latency, Method, Results, Row, Worker};

/// Columns of numbers need no lines between them.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// A column after the first, which holds the names of the cases.
struct Column {
    heading: &'static str,
    /// Columns with the highest rank are dropped first if the terminal is too narrow; columns of rank 0 stay.
    rank: u8,
    needs_floor: bool,
    /// The methods that the column is shown for.
    methods: &'static [Method],
    text: fn(&Row, Option<&Row>) -> String,
}

const ALL: &[Method] = &[Method::Closed, Method::Open, Method::Users, Method::Ramp, Method::Sequence];
const NOT_SEQUENCE: &[Method] = &[Method::Closed, Method::Open, Method::Users, Method::Ramp];
const NOT_RAMP: &[Method] = &[Method::Closed, Method::Open, Method::Users, Method::Sequence];

const COLUMNS: [Column; 30] = [
    column("users\nfound", 0, &[Method::Closed, Method::Users], |row, _| {
        optional(row.users_at_peak.map(|users| users as f64), count)
    }),
    column("users at\nexit", 0, &[Method::Ramp], |row, _| optional(row.users_at_exit.map(|users| users as f64), count)),
    column("failed", 0, &[Method::Ramp], |row, _| optional(row.failed.map(|failed| failed as f64), count)),
    column("whole\nlist s", 0, &[Method::Sequence], |row, _| optional(row.elapsed_s, figure)),
    column("matches", 0, &[Method::Sequence], |row, _| optional(row.matches.map(|matches| matches as f64), count)),
    column("sent", 3, &[Method::Sequence], |row, _| optional(row.bytes_out.map(|size| size as f64), bytes)),
    column("received", 3, &[Method::Sequence], |row, _| optional(row.bytes_in.map(|size| size as f64), bytes)),
    column("req/s", 0, NOT_RAMP, |row, _| figure(row.requests_per_second.mean)),
    column("req/s", 1, &[Method::Ramp], |row, _| figure(row.requests_per_second.mean)),
    column("± sd", 1, NOT_RAMP, |row, _| match row.requests_per_second.runs.len() {
        0 | 1 => NONE.to_owned(),
        _ => figure(row.requests_per_second.stddev),
    }),
    with_floor("floor\nreq/s", 3, |_, floor| optional(floor.map(|floor| floor.requests_per_second.mean), count)),
    with_floor("of\nfloor", 0, |row, floor| optional(floor.and_then(|floor| row.share_of(floor)), percent)),
    column("latency\nmean µs", 1, &[Method::Users, Method::Ramp], |row, _| {
        optional(row.latency_us.mean.filter(|_| row.requests > 0), figure)
    }),
    column("latency\np50 µs", 1, ALL, |row, _| latency(row, |latency| latency.p50)),
    column("p90\nµs", 5, NOT_SEQUENCE, |row, _| latency(row, |latency| latency.p90)),
    column("p99\nµs", 1, ALL, |row, _| latency(row, |latency| latency.p99)),
    column("p99.9\nµs", 4, NOT_SEQUENCE, |row, _| latency(row, |latency| latency.p999)),
    column("max\nµs", 4, ALL, |row, _| latency(row, |latency| latency.max)),
    column("unsent", 2, &[Method::Open], |row, _| optional(some(row.unsent), count)),
    column("dropped", 2, &[Method::Open], |row, _| optional(some(row.dropped), count)),
    column("service\np99 µs", 2, &[Method::Open], |row, _| {
        optional(row.service_us.as_ref().map(|service| service.p99), figure)
    }),
    column("CPU/req\nµs", 0, ALL, |row, _| {
        let marks = [(row.disturbed.is_some(), "~"), (row.rising, "^")];
        let marks: String = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).collect();
        format!("{marks}{}", optional(row.server_cpu_us_per_request, figure))
    }),
    with_floor("floor\nµs", 3, |_, floor| optional(floor.and_then(|floor| floor.server_cpu_us_per_request), figure)),
    with_floor("×\nfloor", 0, |row, floor| {
        floor.and_then(|floor| row.cpu_ratio(floor)).map_or(NONE.to_owned(), |ratio| ratio.to_string())
    }),
    column("peak\nmemory", 2, ALL, |row, _| optional(row.server_peak_rss_bytes.map(|size| size as f64), bytes)),
    column("server\nbusy", 6, ALL, |row, _| optional(row.server_cpu_share, percent)),
    column("driver\nbusy", 2, ALL, |row, _| {
        let mark = if row.driver_limited { "!" } else { "" };
        format!("{mark}{}", optional(row.driver_cpu_share, percent))
    }),
    column("driver\nµs/req", 6, NOT_SEQUENCE, |row, _| optional(row.driver_cpu_us_per_request, figure)),
    column("errors", 0, ALL, |row, floor| count((row.errors + floor.map_or(0, |floor| floor.errors)) as f64)),
    column("why it ended", 1, &[Method::Ramp], |row, _| row.exit_reason.clone().unwrap_or_else(|| NONE.to_owned())),
];

type Text = fn(&Row, Option<&Row>) -> String;

const fn column(heading: &'static str, rank: u8, methods: &'static [Method], text: Text) -> Column {
    Column { heading, rank, needs_floor: false, methods, text }
}

const fn with_floor(heading: &'static str, rank: u8, text: Text) -> Column {
    Column { heading, rank, needs_floor: true, methods: NOT_RAMP, text }
}

fn optional(value: Option<f64>, write: fn(f64) -> String) -> String {
    value.map_or(NONE.to_owned(), write)
}

/// Returns nothing for 0, the usual case.
fn some(count: u64) -> Option<f64> {
    Some(count as f64).filter(|_| count > 0)
}

/// Formats a latency; empty if no request was answered.
fn latency(row: &Row, of: fn(&Latency) -> f64) -> String {
    optional(Some(of(&row.latency_us)).filter(|_| row.requests > 0), figure)
}

impl Results {
    /// Returns the results as tables, one for each method. A narrow terminal leaves out the less important columns.
    pub fn table(&self) -> String {
        self.table_within(terminal_width())
    }

    fn table_within(&self, width: usize) -> String {
        let methods = ALL.iter().filter(|method| self.measured(**method).next().is_some());
        let mut text = String::new();
        for method in methods {
            let (table, left_out) = self.table_of(*method, width);
            text += &format!("{table}\n{}", not_shown(&left_out, width));
            for way in self.load_descriptions(*method) {
                text += &format!("{}\n", wrapped(&way, width));
            }
        }
        if !self.workers.is_empty() {
            text += &format!("{}\n", workers(&self.workers));
        }
        for versus in self.versus().iter().filter(|versus| versus.has_others()) {
            let (table, left_out) = costs(versus, width);
            let what = format!("{}: server CPU time per request in µs, × {}’s", versus.suite, versus.subject);
            text += &format!("\n{what}\n{table}\n{}", not_shown(&left_out, width));
        }
        if self.rows().any(|row| row.disturbed.is_some()) {
            text += "~ other processes used the cores of server or driver\n";
        }
        if self.rows().any(|row| row.rising) {
            text += "^ was still getting faster when it was measured\n";
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn measured(&self, method: Method) -> impl Iterator<Item = &Row> {
        self.rows().filter(move |row| row.target != FLOOR && row.method == method)
    }

    /// Returns how the rows of a method were driven, suite by suite.
    fn load_descriptions(&self, method: Method) -> Vec<String> {
        let ways = self.suites.iter().filter_map(|suite| {
            let ways = ways(suite.cases.iter().filter(|row| row.method == method));
            let mut targets = suite.cases.iter().filter(|row| row.target != FLOOR).map(|row| &*row.target);
            let target = targets.next().filter(|first| *first != "castile" && targets.all(|other| other == *first));
            let at = target.map(|target| format!(" at {target}")).unwrap_or_default();
            (!ways.is_empty()).then(|| format!("{}{at}: {}", suite.suite, ways.join("; ")))
        });
        ways.collect()
    }

    /// Returns the table of a method with as many columns as fit, and the headings of those that don't. A column without any
    /// figure is left out.
    fn table_of(&self, method: Method, width: usize) -> (Table, Vec<String>) {
        let rows = || {
            let pairs = self.suites.iter().flat_map(|suite| suite.against_floor());
            pairs.filter(|(row, _)| row.method == method)
        };
        let with_floor = rows().any(|(_, floor)| floor.is_some());
        let is_known = |column: &Column| rows().any(|(row, floor)| (column.text)(row, floor) != NONE);
        let matters = |column: &Column| column.methods.contains(&method) && (with_floor || !column.needs_floor);
        let mut wanted: Vec<usize> = (0..COLUMNS.len()).collect();
        wanted.retain(|&place| matters(&COLUMNS[place]) && is_known(&COLUMNS[place]));
        let ranked = wanted.into_iter().map(|place| (COLUMNS[place].rank, place));
        let (table, left_out) = chosen(ranked, width, |places| self.table_with(method, places));
        (table, left_out.into_iter().map(|place| COLUMNS[place].heading.to_owned()).collect())
    }

    fn table_with(&self, method: Method, places: &BTreeSet<usize>) -> Table {
        let columns: Vec<_> = places.iter().map(|&place| &COLUMNS[place]).collect();
        let mut table = table("case", columns.iter().map(|column| column.heading));
        for suite in &self.suites {
            let rows = || suite.cases.iter().filter(|row| row.target != FLOOR && row.method == method);
            if rows().next().is_none() {
                continue;
            }
            let labels = Labels::among(rows());
            table.add_row([bold(&suite.suite)]);
            for row in rows() {
                let name = match labels.varying(row) {
                    None => format!("  {}", row.case),
                    Some(label) => format!("  {} · {label}", row.case),
                };
                let figures = columns.iter().map(|column| (column.text)(row, suite.floor_of(row)));
                table.add_row(std::iter::once(name).chain(figures));
            }
        }
        aligned(table)
    }
}

fn workers(workers: &[Worker]) -> Table {
    let mut table = table("worker", Worker::HEADINGS.into_iter());
    for worker in workers {
        table.add_row(std::iter::once(worker.name.clone()).chain(worker.figures()));
    }
    aligned(table)
}

/// Returns the targets of a suite as columns: all with their times and intervals, or as many as fit with ratios only. The subject
/// has priority, then the targets with the least CPU time. The floor is last, since it is in the other table as well.
fn costs(versus: &Versus<'_>, width: usize) -> (Table, Vec<String>) {
    let all: BTreeSet<usize> = (0..versus.targets.len()).collect();
    let wide = costs_of(versus, &all, true);
    if fits(&wide, width) {
        return (wide, Vec::new());
    }
    let rank = |place: usize| match versus.targets[place] {
        target if target == versus.subject => 0,
        FLOOR => u8::MAX,
        _ => u8::try_from(place + 1).unwrap_or(u8::MAX - 1),
    };
    let ranked = all.iter().map(|&place| (rank(place), place));
    let (table, left_out) = chosen(ranked, width, |places| costs_of(versus, places, false));
    let targets = left_out.into_iter().map(|place| versus.targets[place].to_owned());
    (table, targets.chain(["times and intervals of the other targets".to_owned()]).collect())
}

fn costs_of(versus: &Versus<'_>, places: &BTreeSet<usize>, in_full: bool) -> Table {
    let mut table = table("case", places.iter().map(|&place| versus.targets[place]));
    let own = |place: usize| versus.targets[place] == versus.subject;
    for line in versus.costs() {
        let cells = places.iter().map(|&place| {
            let cpu = line.rows[place].and_then(|row| row.server_cpu_us_per_request).map(figure);
            let multiple = line.ratios[place].filter(|_| !own(place));
            match (cpu, multiple) {
                (Some(cpu), Some(multiple)) if in_full => format!("{cpu} · {}", sure(&multiple)),
                (Some(_), Some(multiple)) => times(multiple.ratio),
                (Some(cpu), None) if in_full || own(place) => cpu,
                _ => NONE.to_owned(),
            }
        });
        table.add_row(std::iter::once(format!("  {}", line.name)).chain(cells));
    }
    let means = places.iter().map(|&place| versus.mean(place).map(|mean| times(mean.ratio)));
    let means = means.map(Option::unwrap_or_default);
    table.add_row(std::iter::once("  geometric mean".to_owned()).chain(means));
    aligned(table)
}

/// A column of a comparison.
#[derive(Clone, Copy)]
enum ComparisonColumn {
    /// Requests per second of all benches.
    Rates,
    /// CPU time as a multiple of the floor's, of all benches.
    TimesFloor,
    /// The difference of this bench from the first, in percent.
    Percent(usize),
    /// The verdict on that difference.
    Verdict(usize),
}

impl ComparisonColumn {
    /// Returns the rank of the column, as in [`Column`]. The verdict on the first compared bench has the highest priority, then
    /// the other verdicts, the differences, and the measured figures.
    fn rank(self) -> u8 {
        let number = |bench: usize| u8::try_from(bench).unwrap_or(u8::MAX).min(100);
        match self {
            ComparisonColumn::Verdict(bench) => number(bench) - 1,
            ComparisonColumn::Percent(bench) => 100 + number(bench),
            ComparisonColumn::TimesFloor => 201,
            ComparisonColumn::Rates => 202,
        }
    }

    fn heading(self, names: &[&str]) -> String {
        match self {
            ComparisonColumn::Rates => format!("req/s\n{}", names.join(" → ")),
            ComparisonColumn::TimesFloor => format!("× floor\n{}", names.join(" → ")),
            ComparisonColumn::Percent(bench) => format!("{}\nagainst {}", names[bench], names[0]),
            ComparisonColumn::Verdict(bench) => format!("{}\ndifference", names[bench]),
        }
    }

    fn text(self, row: &Compared) -> String {
        let change = |bench: usize| row.differences[bench - 1].as_ref();
        let each = |text: fn(&Figures) -> Option<String>| {
            let texts: Vec<_> = row.figures.iter().map(|figures| text(figures.as_ref()?)).collect();
            let is_known = texts.iter().any(Option::is_some);
            let texts = texts.into_iter().map(|text| text.unwrap_or_else(|| NONE.to_owned()));
            is_known.then(|| texts.collect::<Vec<_>>().join(" → "))
        };
        let text = match self {
            ComparisonColumn::Rates => each(|figures| Some(figures.rate())),
            ComparisonColumn::TimesFloor => each(|figures| figures.times_floor.map(|times| ratio(times.ratio))),
            ComparisonColumn::Percent(bench) => change(bench).map(|change| in_percent(&change.difference)),
            ComparisonColumn::Verdict(bench) => Some(change(bench).map_or(UNKNOWN.to_owned(), Change::words)),
        };
        text.unwrap_or_else(|| NONE.to_owned())
    }
}

impl Comparison {
    /// Returns the comparison as a table for a terminal, which fits the width of the terminal.
    pub fn table(&self) -> String {
        comparison_within(self, terminal_width())
    }
}

fn comparison_within(comparison: &Comparison, width: usize) -> String {
    let names: Vec<&str> = comparison.names().collect();
    let sides: Vec<ComparisonColumn> = [ComparisonColumn::Rates, ComparisonColumn::TimesFloor]
        .into_iter()
        .chain((1..names.len()).flat_map(|bench| [ComparisonColumn::Percent(bench), ComparisonColumn::Verdict(bench)]))
        .filter(|side| comparison.rows().any(|(_, row)| side.text(row) != NONE))
        .collect();
    let table_with = |places: &BTreeSet<usize>| {
        let headings: Vec<String> = places.iter().map(|&place| sides[place].heading(&names)).collect();
        let mut table = table("case", headings.iter().map(|heading| &**heading));
        let mut last = "";
        for (suite, row) in comparison.rows() {
            if last != suite {
                table.add_row([bold(suite)]);
                last = suite;
            }
            let cells = places.iter().map(|&place| sides[place].text(row));
            // Rows that differ in many properties have long names.
            let name = wrapped(&format!("{} · {}", row.case, row.row), width / 8 * 3);
            table.add_row(std::iter::once(format!("  {}", name.replace('\n', "\n  "))).chain(cells));
        }
        aligned(table)
    };
    let ranked = sides.iter().enumerate().map(|(place, side)| (side.rank(), place));
    let (table, left_out) = chosen(ranked, width, table_with);
    let left_out: Vec<String> = left_out.into_iter().map(|place| sides[place].heading(&names)).collect();
    let about = comparison.yardsticks().map(|yardstick| wrapped(&yardstick.about(), width) + "\n");
    let text = format!("{table}\n{}{}", not_shown(&left_out, width), about.collect::<String>());
    text.trim_end().to_owned()
}

/// Returns a table of as many columns as fit, and the columns that don't. Each column has a rank and a place. The lowest ranks
/// come first, and those of rank 0 stay.
fn chosen(
    columns: impl Iterator<Item = (u8, usize)>,
    width: usize,
    table: impl Fn(&BTreeSet<usize>) -> Table,
) -> (Table, BTreeSet<usize>) {
    let mut columns: Vec<(u8, usize)> = columns.collect();
    columns.sort_by_key(|(rank, _)| *rank);
    let (mut shown, mut left_out) = (BTreeSet::new(), BTreeSet::new());
    for (rank, place) in columns {
        shown.insert(place);
        if rank > 0 && !fits(&table(&shown), width) {
            shown.remove(&place);
            left_out.insert(place);
        }
    }
    (table(&shown), left_out)
}

/// Returns a line under the table with the columns that don't fit, or nothing.
fn not_shown(headings: &[String], width: usize) -> String {
    if headings.is_empty() {
        return String::new();
    }
    let headings: Vec<String> = headings.iter().map(|heading| heading.replace('\n', " ")).collect();
    wrapped(&format!("not shown, because the terminal is too narrow: {}", headings.join(", ")), width) + "\n"
}

/// Wraps a note to the width of the terminal, if there is one, without breaking words.
pub fn note(text: &str) -> String {
    wrapped(text, terminal_width())
}

/// Wraps a text to lines of at most this width, except for a longer single word. All lines after the first are indented.
fn wrapped(text: &str, width: usize) -> String {
    const INDENT: &str = "  ";
    let (mut lines, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > INDENT.len() && column + 1 + length > width {
            lines.push('\n');
            lines.push_str(INDENT);
            column = INDENT.len();
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

fn terminal_width() -> usize {
    Table::new().width().map_or(usize::MAX, usize::from)
}

fn fits(table: &Table, width: usize) -> bool {
    // Bold type has no width.
    let mut plain = table.clone();
    plain.force_no_tty();
    plain.lines().all(|line| line.trim_end().chars().count() <= width)
}

pub(crate) fn bold(text: &str) -> Cell {
    Cell::new(text).add_attribute(Attribute::Bold)
}

pub(crate) fn table<'a>(first: &'a str, headings: impl Iterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(std::iter::once(first).chain(headings).map(bold));
    table
}

/// Aligns names to the left and figures to the right.
pub(crate) fn aligned(mut table: Table) -> Table {
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
        if column.index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns results of a load on one URL, whose server is unknown.
    fn loaded() -> Results {
        let mut results: Results = serde_json::from_str(include_str!("../tests/data/results.json")).unwrap();
        let suite = &mut results.suites[0];
        suite.cases.retain(|row| row.target != FLOOR);
        for row in &mut suite.cases {
            row.target = "http://services.example.org:8080/orders/v2".to_owned();
            (row.server_cpu_us_per_request, row.server_peak_rss_bytes, row.server_cpu_share) = (None, None, None);
        }
        results
    }

    #[test]
    fn a_narrow_terminal_shows_the_most_important_columns_and_names_the_others() {
        for (width, has, lacks) in [
            (60, &["req/s", "p50", "p99", "errors"][..], &["CPU/req", "memory"][..]),
            (80, &["req/s", "p50", "p99", "errors", "± sd"], &["CPU/req"]),
            (usize::MAX, &["p90", "p99.9", "max", "driver"], &["not shown", "CPU/req", "memory"]),
        ] {
            let text = loaded().table_within(width);
            let (table, note) =
                text.split_once("not shown, because the terminal is too narrow: ").unwrap_or((&text, ""));
            let head: String = table.lines().take_while(|line| !line.contains('─')).collect();
            for name in has {
                assert!(head.contains(name), "{name} within {width} in\n{text}");
            }
            for name in lacks {
                assert!(!text.contains(name), "{name} within {width} in\n{text}");
            }
            assert!(text.lines().all(|line| line.trim_end().chars().count() <= width), "within {width}\n{text}");
            assert_eq!(note.is_empty(), width > 1_000, "{text}");
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(" at http://services.example.org:8080/orders/v2: "), "{text}");
        }
    }

    /// Comparisons once ignored the width of the terminal, which broke their lines.
    #[test]
    fn comparisons_narrow_as_well() {
        let with_rate = |factor: f64| {
            let mut results: Results = serde_json::from_str(include_str!("../tests/data/results.json")).unwrap();
            for row in &mut results.suites[0].cases {
                row.case = "a case of which the name has far more words than a line has room for".to_owned();
                let runs = row.requests_per_second.runs.iter().map(|run| run * factor);
                row.requests_per_second = crate::Spread::of(runs.collect());
            }
            results
        };
        let benches = |names: &[&str]| {
            let benches =
                names.iter().zip(1..).map(|(name, number)| ((*name).to_owned(), with_rate(f64::from(number))));
            Comparison::of(&benches.collect::<Vec<_>>())
        };
        for (names, width, has, lacks) in [
            (&["before", "after"][..], 60, &["difference", "req/s: more"][..], &["req/s before → after"][..]),
            (&["before", "after"], 80, &["difference", "against before", "+100.0 %"], &["req/s before → after"]),
            (&["before", "after"], usize::MAX, &["30,000 ± 100 → 60,000 ± 200", "1.25 → 1.25"], &[]),
            (&["a", "b", "c", "d", "e", "f"], 80, &["difference", "req/s: more"], &["f difference", "a → b"]),
        ] {
            let text = comparison_within(&benches(names), width);
            assert!(text.lines().all(|line| line.trim_end().chars().count() <= width), "within {width}\n{text}");
            for name in has {
                assert!(text.contains(name), "{name} within {width} in\n{text}");
            }
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let note = words.split_once("not shown, because the terminal is too narrow: ").map_or("", |(_, note)| note);
            for name in lacks {
                assert!(note.contains(name), "{name} within {width} in\n{text}");
            }
            assert_eq!(note.is_empty(), lacks.is_empty(), "{text}");
        }
    }

    /// All targets were once shown, even on a narrow terminal.
    #[test]
    fn targets_side_by_side_narrow_from_the_last() {
        let mut results: Results = serde_json::from_str(include_str!("../tests/data/results.json")).unwrap();
        let names = ["rowan", "larch", "hornbeam", "elm", "cedar", "maple", "blackthorn", "poplar", "yew", "beech"];
        let own = results.suites[0].cases[0].clone();
        for (name, number) in names.into_iter().zip(2..) {
            let cpu = own.server_cpu_us_per_request.map(|cpu| cpu * f64::from(number));
            let row = Row { target: name.to_owned(), server_cpu_us_per_request: cpu, ..own.clone() };
            results.suites[0].cases.push(row);
        }
        for width in [60, 80, 100, usize::MAX] {
            let text = results.table_within(width);
            let (_, beside) = text.split_once("server CPU time per request in µs").unwrap();
            let (shown, note) =
                beside.split_once("not shown, because the terminal is too narrow: ").unwrap_or((beside, ""));
            assert!(shown.lines().all(|line| line.trim_end().chars().count() <= width), "within {width}\n{text}");
            assert!(shown.contains("castile") && shown.contains("rowan") && shown.contains("2.00×"), "{text}");
            assert_eq!((note.is_empty(), shown.contains("beech")), (width > 1_000, width > 1_000), "{text}");
            let left_out = note.contains("beech") && note.contains("floor");
            assert_eq!(left_out, width <= 100, "within {width}\n{text}");
        }
    }

    /// These tables once lacked p90 and p99.9 at any width, a ramp had no throughput, and no note listed what was left out.
    #[test]
    fn users_and_ramps_have_the_columns_of_other_loads() {
        for method in [Method::Users, Method::Ramp] {
            let mut results = loaded();
            for row in &mut results.suites[0].cases {
                (row.method, row.users_at_peak) = (method, None);
            }
            let wide = results.table_within(usize::MAX);
            for name in ["req/s", "p50", "p90", "p99", "p99.9", "max"] {
                assert!(wide.contains(name), "{name} of {method:?} in\n{wide}");
            }
            let narrow = results.table_within(70);
            assert!(narrow.contains("not shown, because the terminal is too narrow: "), "{narrow}");
        }
    }

    #[test]
    fn notes_are_wrapped_at_spaces() {
        assert_eq!(wrapped("latencies have that in them", 16), "latencies have\n  that in them");
        assert_eq!(wrapped("a-word-without-end is", 8), "a-word-without-end\n  is");
        assert_eq!(wrapped("all of it", usize::MAX), "all of it");
    }
}
