//! The results as one page for a browser: `report.html` filled with data, nothing fetched from anywhere.
//!
//! Here figures become positions and words; what they look like is the template's business.

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use super::format::{bytes, count, figure, microseconds, percent, ratio};
use super::table::method;
use super::{FLOOR, Results, Row, Suite};
use crate::{Error, ErrorKind};

const TEMPLATE: &str = include_str!("report.html");

impl Results {
    /// The results as an HTML page of its own.
    pub fn page(&self) -> Result<String, Error> {
        let mut environment = Environment::new();
        environment.add_filter("count", count);
        environment.add_filter("figure", figure);
        environment.add_filter("percent", percent);
        environment.add_filter("ratio", ratio);
        environment.add_filter("microseconds", microseconds);
        environment.add_filter("bytes", bytes);
        environment.add_filter("position", |percent: f64| format!("{percent:.2}"));
        // The name's ending turns on the escaping of everything that is filled in.
        environment
            .add_template("report.html", TEMPLATE)
            .and_then(|()| environment.get_template("report.html"))
            .and_then(|template| {
                template.render(Serde(Page {
                    results: self,
                    errors: self.errors(),
                    summary: Summary::of(self),
                    suites: self.suites.iter().map(Charts::of).collect(),
                }))
            })
            .map_err(|error| Error::new(ErrorKind::Report, "can't fill report.html").because(error))
    }
}

/// All that the template is filled with.
#[derive(Serialize)]
struct Page<'a> {
    results: &'a Results,
    errors: u64,
    summary: Summary,
    suites: Vec<Charts>,
}

/// What a manager reads.
#[derive(Serialize)]
struct Summary {
    cases: usize,
    requests: u64,
    verified: u64,
    /// Lowest, median and highest share of the floor's throughput.
    shares: Option<[f64; 3]>,
    /// Lowest, median and highest multiple of the floor's CPU time per request.
    ratios: Option<[f64; 3]>,
    fastest: Option<Row>,
    peak_memory: Option<u64>,
}

impl Summary {
    fn of(results: &Results) -> Self {
        let pairs = || results.suites.iter().flat_map(Suite::against_floor);
        let measured = || results.rows().filter(|row| row.target != FLOOR);
        let fastest = measured().max_by(|a, b| a.requests_per_second.mean.total_cmp(&b.requests_per_second.mean));
        Summary {
            cases: measured().count(),
            requests: results.rows().map(|row| row.requests).sum(),
            verified: results.rows().map(|row| row.verified).sum(),
            shares: range(pairs().filter_map(|(row, floor)| row.share_of(floor?))),
            ratios: range(pairs().filter_map(|(row, floor)| row.cpu_ratio(floor?))),
            fastest: fastest.cloned(),
            peak_memory: measured().filter_map(|row| row.server_peak_rss_bytes).max(),
        }
    }
}

/// Lowest, median and highest.
fn range(figures: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    Some([*figures.first()?, figures[figures.len() / 2], *figures.last()?])
}

/// The charts of one suite.
#[derive(Serialize)]
struct Charts {
    name: String,
    method: String,
    /// What is compared with the floor.
    measured: &'static str,
    groups: Vec<Group>,
    /// Whether any bar of CPU time can be drawn.
    has_cpu: bool,
    has_floor: bool,
    ticks: Vec<Tick>,
}

/// One case: its figures and those of the floor, with positions in percent of a chart's width.
#[derive(Serialize)]
struct Group {
    name: String,
    row: Row,
    floor: Option<Row>,
    share: Option<f64>,
    ratio: Option<f64>,
    throughput: Option<Bullet>,
    cpu: Option<Bullet>,
    latency: Vec<Strip>,
}

/// A bar before the bar of the floor.
#[derive(Serialize)]
struct Bullet {
    width: f64,
    floor: Option<f64>,
    /// From the mean less to the mean plus one standard deviation.
    spread: Option<[f64; 2]>,
}

/// Percentiles on an axis of time.
#[derive(Serialize)]
struct Strip {
    is_floor: bool,
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

#[derive(Serialize)]
struct Tick {
    position: f64,
    text: String,
}

impl Charts {
    fn of(suite: &Suite) -> Self {
        let axis = LogAxis::over(suite.cases.iter().flat_map(|row| [row.latency_us.p50, row.latency_us.max]));
        let most = |figure: fn(&Row) -> Option<f64>| suite.cases.iter().filter_map(figure).fold(0.0, f64::max);
        let most_requests = most(|row| Some(row.requests_per_second.mean + row.requests_per_second.stddev));
        let most_cpu = most(|row| row.server_cpu_us_per_request);
        let several =
            suite.cases.iter().filter(|row| row.target != FLOOR).any(|row| row.target != suite.cases[0].target);
        let groups: Vec<_> = suite
            .against_floor()
            .map(|(row, floor)| Group {
                name: match several {
                    true => format!("{} · {}", row.case, row.target),
                    false => row.case.clone(),
                },
                share: floor.and_then(|floor| row.share_of(floor)),
                ratio: floor.and_then(|floor| row.cpu_ratio(floor)),
                throughput: throughput(row, floor, most_requests),
                cpu: cpu(row, floor, most_cpu),
                latency: [Some(row), floor].into_iter().flatten().filter_map(|row| axis.strip(row)).collect(),
                row: row.clone(),
                floor: floor.cloned(),
            })
            .collect();
        Charts {
            name: suite.suite.clone(),
            method: suite.cases.first().map(method).unwrap_or_default(),
            measured: match suite.cases.iter().all(|row| row.target == FLOOR || row.target == "castile") {
                true => "Castile",
                false => "the endpoint measured",
            },
            has_cpu: groups.iter().any(|group| group.cpu.is_some()),
            has_floor: groups.iter().any(|group| group.floor.is_some()),
            ticks: axis.ticks(),
            groups,
        }
    }
}

fn throughput(row: &Row, floor: Option<&Row>, most: f64) -> Option<Bullet> {
    let scale = |figure: f64| (figure / most * 100.0).clamp(0.0, 100.0);
    let own = &row.requests_per_second;
    (most > 0.0).then(|| Bullet {
        width: scale(own.mean),
        floor: floor.map(|floor| scale(floor.requests_per_second.mean)),
        spread: (own.stddev > 0.0).then(|| [scale(own.mean - own.stddev), scale(own.mean + own.stddev)]),
    })
}

fn cpu(row: &Row, floor: Option<&Row>, most: f64) -> Option<Bullet> {
    let scale = |figure: f64| figure / most * 100.0;
    Some(Bullet {
        width: scale(row.server_cpu_us_per_request?),
        floor: floor.and_then(|floor| floor.server_cpu_us_per_request).map(scale),
        spread: None,
    })
    .filter(|_| most > 0.0)
}

/// Latencies span decades, so equal distances are equal factors.
struct LogAxis {
    low: f64,
    high: f64,
}

impl LogAxis {
    /// An axis that holds all these microseconds.
    fn over(figures: impl Iterator<Item = f64>) -> Self {
        let (low, high) = figures
            .filter(|figure| *figure > 0.0)
            .fold((f64::MAX, 0.0_f64), |(low, high), figure| (low.min(figure), high.max(figure)));
        if high <= 0.0 {
            return LogAxis { low: 1.0, high: 10.0 };
        }
        // Some room at both ends; and never less than a factor of two, so that it can be divided.
        LogAxis { low: low / 1.15, high: (high * 1.15).max(low * 2.0) }
    }

    fn position(&self, figure: f64) -> f64 {
        let position = (figure / self.low).ln() / (self.high / self.low).ln() * 100.0;
        position.clamp(0.0, 100.0)
    }

    /// Nothing when no request was answered.
    fn strip(&self, row: &Row) -> Option<Strip> {
        let latency = &row.latency_us;
        (row.requests > 0).then(|| Strip {
            is_floor: row.target == FLOOR,
            p50: self.position(latency.p50),
            p90: self.position(latency.p90),
            p99: self.position(latency.p99),
            p999: self.position(latency.p999),
            max: self.position(latency.max),
        })
    }

    /// Marks at powers of ten, and between them where the axis is short.
    fn ticks(&self) -> Vec<Tick> {
        // As many as fit on a phone.
        let steps: &[f64] = match self.high / self.low {
            short if short < 30.0 => &[1.0, 2.0, 5.0],
            long if long < 2_000.0 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let decades = (self.low.log10().floor() as i32)..=(self.high.log10().ceil() as i32);
        decades
            .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
            .filter(|time| (self.low..=self.high).contains(time))
            .map(|time| Tick { position: self.position(time), text: short_time(time) })
            .collect()
    }
}

/// A round time for an axis: `50 µs`, `2 ms`, `1 s`.
fn short_time(microseconds: f64) -> String {
    match microseconds {
        time if time < 1e3 => format!("{time} µs"),
        time if time < 1e6 => format!("{} ms", time / 1e3),
        time => format!("{} s", time / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_of_time() {
        let axis = LogAxis::over([100.0, 10_000.0].into_iter());
        assert!((axis.position(1_000.0) - 50.0).abs() < 1e-9);
        let texts: Vec<_> = axis.ticks().into_iter().map(|tick| tick.text).collect();
        assert_eq!(texts, ["100 µs", "300 µs", "1 ms", "3 ms", "10 ms"]);
        let short = LogAxis::over([150.0, 600.0].into_iter());
        let texts: Vec<_> = short.ticks().into_iter().map(|tick| tick.text).collect();
        assert_eq!(texts, ["200 µs", "500 µs"]);
    }
}
