//! The results as tables for a terminal: one for each method, with the columns that matter for it.

use std::collections::BTreeSet;

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::compare::{Change, Comparison, NOT_KNOWN, in_percent};
use super::format::{NONE, bytes, count, figure, percent};
use super::label::{Labels, driven};
use super::versus::{Versus, sure, times};
use super::{FLOOR, Latency, Method, Results, Row};

/// Numbers in columns need no lines between them.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// A column after the first, which holds the names of the cases.
struct Column {
    heading: &'static str,
    /// What a terminal is too narrow for goes by rank, the highest first; columns of rank 0 stay.
    rank: u8,
    needs_floor: bool,
    /// The methods that it matters for.
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
    beside_floor("floor\nreq/s", 3, |_, floor| optional(floor.map(|floor| floor.requests_per_second.mean), count)),
    beside_floor("of\nfloor", 0, |row, floor| optional(floor.and_then(|floor| row.share_of(floor)), percent)),
    column("latency\nmean µs", 1, &[Method::Users, Method::Ramp], |row, _| {
        optional(row.latency_us.mean.filter(|_| row.requests > 0), figure)
    }),
    column("latency\np50 µs", 1, ALL, |row, _| latency(row, |latency| latency.p50)),
    column("p90\nµs", 5, NOT_SEQUENCE, |row, _| latency(row, |latency| latency.p90)),
    column("p99\nµs", 1, ALL, |row, _| latency(row, |latency| latency.p99)),
    column("p99.9\nµs", 4, NOT_SEQUENCE, |row, _| latency(row, |latency| latency.p999)),
    column("max\nµs", 4, ALL, |row, _| latency(row, |latency| latency.max)),
    column("unsent", 2, &[Method::Open], |row, _| count(row.unsent as f64)),
    column("dropped", 2, &[Method::Open], |row, _| count(row.dropped as f64)),
    column("service\np99 µs", 2, &[Method::Open], |row, _| {
        optional(row.service_us.as_ref().map(|service| service.p99), figure)
    }),
    column("CPU/req\nµs", 0, ALL, |row, _| {
        let marks = [(row.disturbed.is_some(), "~"), (row.rising, "^")];
        let marks: String = marks.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).collect();
        format!("{marks}{}", optional(row.server_cpu_us_per_request, figure))
    }),
    beside_floor("floor\nµs", 3, |_, floor| optional(floor.and_then(|floor| floor.server_cpu_us_per_request), figure)),
    beside_floor("×\nfloor", 0, |row, floor| {
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

const fn beside_floor(heading: &'static str, rank: u8, text: Text) -> Column {
    Column { heading, rank, needs_floor: true, methods: NOT_RAMP, text }
}

fn optional(value: Option<f64>, write: fn(f64) -> String) -> String {
    value.map_or(NONE.to_owned(), write)
}

/// Nothing where no request was answered.
fn latency(row: &Row, of: fn(&Latency) -> f64) -> String {
    optional(Some(of(&row.latency_us)).filter(|_| row.requests > 0), figure)
}

impl Results {
    /// The results as tables, one for each method. On a narrow terminal the less important columns are left out.
    pub fn table(&self) -> String {
        self.table_within(terminal_width())
    }

    fn table_within(&self, width: usize) -> String {
        let methods = ALL.iter().filter(|method| self.measured(**method).next().is_some());
        let mut text = String::new();
        for method in methods {
            let (table, left_out) = self.table_of(*method, width);
            text += &format!("{table}\n");
            if !left_out.is_empty() {
                let note = format!("not shown, for want of width: {}", left_out.join(", "));
                text += &format!("{}\n", wrapped(&note, width));
            }
            for way in self.ways(*method) {
                text += &format!("{}\n", wrapped(&way, width));
            }
        }
        for versus in self.versus().iter().filter(|versus| versus.has_others()) {
            let table = widest(width, |rank| costs(versus, rank));
            text +=
                &format!("\n{}: server CPU time per request in µs, × {}’s\n{table}\n", versus.suite, versus.subject);
        }
        if self.rows().any(|row| row.disturbed.is_some()) {
            text += "~ others used the cores of server or driver\n";
        }
        if self.rows().any(|row| row.rising) {
            text += "^ still got faster when it was measured\n";
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn measured(&self, method: Method) -> impl Iterator<Item = &Row> {
        self.rows().filter(move |row| row.target != FLOOR && row.method == method)
    }

    /// How the rows of a method were driven, suite by suite.
    fn ways(&self, method: Method) -> Vec<String> {
        let ways = self.suites.iter().filter_map(|suite| {
            let mut ways: Vec<String> = Vec::new();
            for way in suite.cases.iter().filter(|row| row.method == method).map(driven) {
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
            let mut targets = suite.cases.iter().filter(|row| row.target != FLOOR).map(|row| &*row.target);
            let target = targets.next().filter(|first| *first != "castile" && targets.all(|other| other == *first));
            let at = target.map(|target| format!(" at {target}")).unwrap_or_default();
            (!ways.is_empty()).then(|| format!("{}{at}: {}", suite.suite, ways.join("; ")))
        });
        ways.collect()
    }

    /// The table of a method with as many columns as fit, and the headings of those that don't. A column without a figure is
    /// none.
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
        wanted.sort_by_key(|&place| COLUMNS[place].rank);

        let (mut shown, mut left_out) = (Vec::new(), Vec::new());
        for place in wanted {
            let more = shown.iter().copied().chain([place]).collect::<BTreeSet<_>>();
            if COLUMNS[place].rank == 0 || fits(&self.table_with(method, &more), width) {
                shown.push(place);
            } else {
                left_out.push(place);
            }
        }
        left_out.sort_unstable();
        let headings = left_out.into_iter().map(|place| COLUMNS[place].heading.replace('\n', " "));
        (self.table_with(method, &shown.into_iter().collect()), headings.collect())
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
                let name = match labels.beside_case(row) {
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

/// The targets of a suite as columns, of which the narrowest is of ratios alone.
fn costs(versus: &Versus<'_>, rank: u8) -> Table {
    let mut table = table("case", versus.targets.iter().copied());
    let own = |place: usize| versus.targets[place] == versus.subject;
    for line in versus.costs() {
        let cells = line.rows.iter().zip(&line.ratios).enumerate().map(|(place, (row, ratio))| {
            let cpu = row.and_then(|row| row.server_cpu_us_per_request).map(figure);
            let multiple = ratio.filter(|_| !own(place));
            match (cpu, multiple) {
                (Some(cpu), Some(multiple)) if rank > 0 => format!("{cpu} · {}", sure(&multiple)),
                (Some(_), Some(multiple)) => times(multiple.ratio),
                (Some(cpu), None) if rank > 0 || own(place) => cpu,
                _ => NONE.to_owned(),
            }
        });
        table.add_row(std::iter::once(format!("  {}", line.name)).chain(cells));
    }
    let means = (0..versus.targets.len()).map(|place| versus.mean(place).map(|mean| times(mean.ratio)));
    let means = means.map(Option::unwrap_or_default);
    table.add_row(std::iter::once("  geometric mean".to_owned()).chain(means));
    aligned(table)
}

/// A comparison as a table.
pub(super) fn comparison(comparison: &Comparison) -> String {
    let names: Vec<&str> = comparison.names().collect();
    let table_of = |rank: u8| {
        let mut headings: Vec<String> = names.iter().map(|name| format!("{name}\nreq/s")).collect();
        for name in &names[1..] {
            headings.extend((rank > 0).then(|| format!("{name}\nagainst {}", names[0])));
            headings.push(format!("{name}\ndifference"));
        }
        let mut table = table("case", headings.iter().map(|heading| &**heading));
        let mut last = "";
        for (suite, row) in comparison.rows() {
            if last != suite {
                table.add_row([bold(suite)]);
                last = suite;
            }
            let rates = row.figures.iter().map(|figures| match figures {
                Some(figures) => figures.rate(),
                None => NONE.to_owned(),
            });
            let mut cells: Vec<String> =
                std::iter::once(format!("  {} · {}", row.case, row.row)).chain(rates).collect();
            for difference in &row.differences {
                let change = difference.as_ref();
                let percent = || change.map_or(NONE.to_owned(), |change| in_percent(&change.difference));
                cells.extend((rank > 0).then(percent));
                cells.push(change.map_or(NOT_KNOWN.to_owned(), Change::words));
            }
            table.add_row(cells);
        }
        aligned(table)
    };
    let width = terminal_width();
    let about = comparison.yardsticks().map(|yardstick| format!("\n{}", wrapped(&yardstick.about(), width)));
    format!("{}{}", widest(width, table_of), about.collect::<String>())
}

/// A note as it stands under tables: in lines of the width of the terminal, where there is one, and no word is broken.
pub fn note(text: &str) -> String {
    wrapped(text, terminal_width())
}

/// A text in lines that are no longer than this, but for a single word that is; those after the first are indented.
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

/// The second of these tables if it fits, and else the first.
fn widest(width: usize, table: impl Fn(u8) -> Table) -> Table {
    let wide = table(1);
    if fits(&wide, width) { wide } else { table(0) }
}

fn fits(table: &Table, width: usize) -> bool {
    // Bold type takes no room.
    let mut plain = table.clone();
    plain.force_no_tty();
    plain.lines().all(|line| line.trim_end().chars().count() <= width)
}

pub(super) fn bold(text: &str) -> Cell {
    Cell::new(text).add_attribute(Attribute::Bold)
}

pub(super) fn table<'a>(first: &'a str, headings: impl Iterator<Item = &'a str>) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(std::iter::once(first).chain(headings).map(bold));
    table
}

/// Names to the left, figures to the right.
pub(super) fn aligned(mut table: Table) -> Table {
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

    /// A load at one URL, of whose server nothing is known.
    fn loaded() -> Results {
        let mut results: Results = serde_json::from_str(include_str!("../../tests/data/results.json")).unwrap();
        let suite = &mut results.suites[0];
        suite.cases.retain(|row| row.target != FLOOR);
        for row in &mut suite.cases {
            row.target = "http://services.example.org:8080/orders/v2".to_owned();
            (row.server_cpu_us_per_request, row.server_peak_rss_bytes, row.server_cpu_share) = (None, None, None);
        }
        results
    }

    #[test]
    fn a_narrow_terminal_shows_what_is_worth_most_and_says_what_is_left_out() {
        for (width, has, lacks) in [
            (60, &["req/s", "p50", "p99", "errors"][..], &["CPU/req", "memory"][..]),
            (80, &["req/s", "p50", "p99", "errors", "± sd"], &["CPU/req"]),
            (usize::MAX, &["p90", "p99.9", "max", "driver"], &["not shown", "CPU/req", "memory"]),
        ] {
            let text = loaded().table_within(width);
            let (table, note) = text.split_once("not shown, for want of width: ").unwrap_or((&text, ""));
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

    /// They had neither p90 nor p99.9 however wide the terminal, a ramp no throughput, and nothing said what was left out.
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
            assert!(narrow.contains("not shown, for want of width: "), "{narrow}");
        }
    }

    #[test]
    fn notes_are_wrapped_at_spaces() {
        assert_eq!(wrapped("latencies have that in them", 16), "latencies have\n  that in them");
        assert_eq!(wrapped("a-word-without-end is", 8), "a-word-without-end\n  is");
        assert_eq!(wrapped("all of it", usize::MAX), "all of it");
    }
}
