//! The results as one table for a terminal.

use comfy_table::{Attribute, Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use super::format::{bytes, count, figure, percent, ratio};
use super::label::driven;
use super::{FLOOR, Results, Row};

/// Numbers in columns need no lines between them.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// Shown where there is no figure.
const NONE: &str = "–";

/// A column after the first, which holds the names of the cases.
struct Column {
    heading: &'static str,
    /// Columns of the highest rank go first when the terminal is narrow; those of rank 0 stay.
    rank: u8,
    needs_floor: bool,
    text: fn(&Row, Option<&Row>) -> String,
}

const COLUMNS: [Column; 17] = [
    column("req/s", 0, |row, _| count(row.requests_per_second.mean)),
    column("± sd", 1, |row, _| count(row.requests_per_second.stddev)),
    beside_floor("floor\nreq/s", 3, |_, floor| optional(floor.map(|floor| floor.requests_per_second.mean), count)),
    beside_floor("of\nfloor", 0, |row, floor| optional(floor.and_then(|floor| row.share_of(floor)), percent)),
    column("latency\np50 µs", 1, |row, _| figure(row.latency_us.p50)),
    column("p90\nµs", 5, |row, _| figure(row.latency_us.p90)),
    column("p99\nµs", 1, |row, _| figure(row.latency_us.p99)),
    column("p99.9\nµs", 4, |row, _| figure(row.latency_us.p999)),
    column("max\nµs", 4, |row, _| figure(row.latency_us.max)),
    column("CPU/req\nµs", 0, |row, _| optional(row.server_cpu_us_per_request, figure)),
    beside_floor("floor\nµs", 3, |_, floor| optional(floor.and_then(|floor| floor.server_cpu_us_per_request), figure)),
    beside_floor("×\nfloor", 0, |row, floor| optional(floor.and_then(|floor| row.cpu_ratio(floor)), ratio)),
    column("peak\nmemory", 2, |row, _| optional(row.server_peak_rss_bytes.map(|size| size as f64), bytes)),
    column("server\nbusy", 6, |row, _| optional(row.server_cpu_share, percent)),
    column("driver\nbusy", 2, |row, _| {
        let mark = if row.driver_limited { "!" } else { "" };
        format!("{mark}{}", optional(row.driver_cpu_share, percent))
    }),
    column("driver\nµs/req", 6, |row, _| optional(row.driver_cpu_us_per_request, figure)),
    column("errors", 0, |row, floor| count((row.errors + floor.map_or(0, |floor| floor.errors)) as f64)),
];

const fn column(heading: &'static str, rank: u8, text: fn(&Row, Option<&Row>) -> String) -> Column {
    Column { heading, rank, needs_floor: false, text }
}

const fn beside_floor(heading: &'static str, rank: u8, text: fn(&Row, Option<&Row>) -> String) -> Column {
    Column { heading, rank, needs_floor: true, text }
}

fn optional(value: Option<f64>, write: fn(f64) -> String) -> String {
    value.map_or(NONE.to_owned(), write)
}

impl Results {
    /// The results as one table. On a narrow terminal the less important columns are left out.
    pub fn table(&self) -> String {
        let width = Table::new().width().map_or(usize::MAX, usize::from);
        self.table_within(width)
    }

    fn table_within(&self, width: usize) -> String {
        let highest = COLUMNS.iter().map(|column| column.rank).max().unwrap_or(0);
        let fits = |table: &Table| {
            // Bold type takes no room.
            let mut plain = table.clone();
            plain.force_no_tty();
            plain.lines().all(|line| line.trim_end().chars().count() <= width)
        };
        let narrowest = self.table_of_rank(0);
        let table = (1..=highest).rev().map(|rank| self.table_of_rank(rank)).find(fits).unwrap_or(narrowest);
        let methods =
            self.suites.iter().filter_map(|suite| Some(format!("{}: {}", suite.suite, driven(suite.cases.first()?))));
        format!("{table}\n{}", methods.collect::<Vec<_>>().join("; "))
    }

    fn table_of_rank(&self, rank: u8) -> Table {
        let with_floor = self.rows().any(|row| row.target == FLOOR);
        let columns: Vec<_> =
            COLUMNS.iter().filter(|column| column.rank <= rank && (with_floor || !column.needs_floor)).collect();
        let bold = |text: &str| Cell::new(text).add_attribute(Attribute::Bold);
        let mut table = Table::new();
        table.load_style(STYLE);
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(std::iter::once("case").chain(columns.iter().map(|column| column.heading)).map(bold));
        for suite in &self.suites {
            table.add_row([bold(&suite.suite)]);
            for (row, floor) in suite.against_floor() {
                let name = match row.target.as_str() {
                    "castile" => format!("  {}", row.case),
                    target => format!("  {} · {target}", row.case),
                };
                let figures = columns.iter().map(|column| (column.text)(row, floor));
                table.add_row(std::iter::once(name).chain(figures));
            }
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 1));
            if column.index > 0 {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table
    }
}
