//! Compares clients that made the same calls, as data and as a table.

use std::time::Duration;

use comfy_table::Table;
use serde::Serialize;

use crate::format::{NONE, bytes, count, figure, ratio};
use crate::table::{aligned, bold, table};
use crate::{Machine, Spread};

/// The measurements of clients that made the same calls.
#[derive(Clone, Debug, Serialize)]
pub struct Clients {
    /// The version of Castile that made the measurement.
    pub castile: String,
    /// The command that repeats the measurement.
    pub command: String,
    /// The machine it was measured on.
    pub machine: Machine,
    /// Which cores server and clients ran on, in words.
    pub placement: String,
    /// What a reader must know before trusting the figures.
    pub warnings: Vec<String>,
    /// The cases in the order in which they were measured.
    pub cases: Vec<Called>,
}

/// The clients that made the calls of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Called {
    /// The suite of the case.
    pub suite: String,
    /// The name of the case.
    pub case: String,
    /// The clients. The first one is what the others are compared with.
    pub clients: Vec<ClientRow>,
}

/// The measurements of the calls of one client.
#[derive(Clone, Debug, Serialize)]
pub struct ClientRow {
    /// The name of the client, such as `gsoap`.
    pub client: String,
    /// The full name of the client and its versions.
    pub versions: String,
    /// Its protocol, if that isn't SOAP over HTTP. It has its own server then.
    pub protocol: Option<String>,
    /// The number of measured calls, all answered correctly.
    pub calls: u64,
    /// The average number of items in an answer, if the suite counts them.
    pub items_per_call: f64,
    /// Calls per second of processor time, user and system, of all threads of the client.
    pub calls_per_cpu_second: Option<Spread>,
    /// Processor time of a call, in microseconds.
    pub cpu_us_per_call: Option<f64>,
    /// Its processor time as a multiple of that of the first client of the case.
    pub cpu_ratio: Option<f64>,
    /// Calls per second, made one after the other.
    pub calls_per_second: Spread,
    /// Processor time of the server for a call, in microseconds.
    pub server_cpu_us_per_call: Option<f64>,
    /// Peak resident memory of the client, in bytes.
    pub peak_rss_bytes: Option<u64>,
    /// Whether it still got faster while it was measured, so that it can do more.
    pub cold: bool,
}

/// The measurements of one batch of calls.
#[derive(Clone, Copy, Debug)]
pub struct Lap {
    /// How many calls there were.
    pub calls: u64,
    /// How many items their answers had.
    pub items: u64,
    /// From the request to the client's answer.
    pub time: Duration,
    /// User and system time of the client and all processes it started; `None` if it isn't measured.
    pub cpu: Option<Duration>,
    /// User and system time of the server; `None` if it isn't measured.
    pub server_cpu: Option<Duration>,
}

impl Lap {
    /// Returns calls per second.
    pub fn rate(&self) -> f64 {
        self.calls as f64 / self.time.as_secs_f64()
    }
}

impl Clients {
    /// Returns all cases as one table.
    pub fn table(&self) -> String {
        let first = self.cases.iter().find_map(|called| called.clients.first());
        let compared = format!("× {}", first.map_or("first", |row| &row.client));
        let headings = [
            "calls per\nCPU second",
            "± sd",
            "CPU/call\nµs",
            &compared,
            "calls/s",
            "server\nµs/call",
            "items\na call",
            "peak\nmemory",
        ];
        let mut table = table("client", headings.into_iter());
        for called in &self.cases {
            table.add_row([bold(&format!("{} {}", called.suite, called.case))]);
            called.clients.iter().for_each(|row| add(&mut table, row));
        }
        aligned(table).to_string()
    }
}

impl ClientRow {
    /// Returns the row of a client from the laps that were measured.
    pub fn of(client: &str, versions: &str, laps: &[Lap]) -> Self {
        let calls: u64 = laps.iter().map(|lap| lap.calls).sum();
        let each = |total: f64| total / calls.max(1) as f64;
        // The CPU time is summed over all laps, or is `None` if one lap lacks it.
        let cpu_of = |cpu: fn(&Lap) -> Option<Duration>| laps.iter().map(cpu).sum::<Option<Duration>>();
        let micros = |cpu: Duration| each(cpu.as_secs_f64() * 1e6);
        let per_cpu = |lap: &Lap| Some(lap.calls as f64 / lap.cpu.filter(|cpu| !cpu.is_zero())?.as_secs_f64());
        ClientRow {
            client: client.to_owned(),
            versions: versions.to_owned(),
            protocol: None,
            calls,
            items_per_call: each(laps.iter().map(|lap| lap.items as f64).sum()),
            calls_per_cpu_second: laps.iter().map(per_cpu).collect::<Option<_>>().map(Spread::of),
            cpu_us_per_call: cpu_of(|lap| lap.cpu).map(micros),
            cpu_ratio: None,
            calls_per_second: Spread::of(laps.iter().map(Lap::rate).collect()),
            server_cpu_us_per_call: cpu_of(|lap| lap.server_cpu).map(micros),
            peak_rss_bytes: None,
            cold: false,
        }
    }
}

impl Called {
    /// Sets how each client compares with the first one.
    pub fn compare(&mut self) {
        let first = self.clients.first().and_then(|row| row.cpu_us_per_call);
        for row in &mut self.clients {
            row.cpu_ratio = row.cpu_us_per_call.zip(first).map(|(time, first)| time / first);
        }
    }
}

fn add(table: &mut Table, row: &ClientRow) {
    let optional = |value: Option<f64>, write: fn(f64) -> String| value.map_or(NONE.to_owned(), write);
    let name = match &row.protocol {
        None => format!("  {}", row.client),
        Some(protocol) => format!("  {} ({protocol})", row.client),
    };
    let per_cpu = row.calls_per_cpu_second.as_ref();
    table.add_row([
        name,
        optional(per_cpu.map(|rate| rate.mean), figure),
        optional(per_cpu.filter(|rate| rate.runs.len() > 1).map(|rate| rate.stddev), figure),
        optional(row.cpu_us_per_call, figure),
        optional(row.cpu_ratio, ratio),
        figure(row.calls_per_second.mean),
        optional(row.server_cpu_us_per_call, figure),
        count(row.items_per_call),
        optional(row.peak_rss_bytes.map(|size| size as f64), bytes),
    ]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lap(calls: u64, cpu_ms: u64) -> Lap {
        let cpu = Some(Duration::from_millis(cpu_ms));
        Lap { calls, items: calls * 50, time: Duration::from_secs(1), cpu, server_cpu: cpu.map(|cpu| cpu / 2) }
    }

    #[test]
    fn clients_are_compared_by_their_processor_time() {
        let fast = ClientRow::of("fast", "1", &[lap(1_000, 100), lap(3_000, 300)]);
        let slow = ClientRow::of("slow", "2", &[lap(100, 20)]);
        let unmeasured = ClientRow::of("other", "3", &[Lap { cpu: None, server_cpu: None, ..lap(10, 0) }]);
        let mut called = Called { suite: "mine".into(), case: "ping".into(), clients: vec![fast, slow, unmeasured] };
        called.compare();
        let figures = called.clients.iter().map(|row| {
            let per_second = row.calls_per_cpu_second.as_ref().map(|rate| rate.mean);
            (row.calls, row.items_per_call, per_second, row.cpu_us_per_call, row.cpu_ratio, row.server_cpu_us_per_call)
        });
        let expected = [
            (4_000, 50.0, Some(10_000.0), Some(100.0), Some(1.0), Some(50.0)),
            (100, 50.0, Some(5_000.0), Some(200.0), Some(2.0), Some(100.0)),
            (10, 50.0, None, None, None, None),
        ];
        assert_eq!(figures.collect::<Vec<_>>(), expected);
    }
}
