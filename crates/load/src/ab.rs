//! Drives a case with `ab`, the load generator of the Apache HTTP server. Some benchmarks were published with it.

use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::background::BackgroundLoad;
use crate::recorder::nanoseconds;
use crate::{Case, Endpoint, Error, ErrorKind, Outcome, Placement, Plan, Recorder, Timeline, usage};

/// Returns whether `ab` is installed.
pub fn is_installed() -> bool {
    Command::new("ab").arg("-V").output().is_ok_and(|output| output.status.success())
}

/// Sends one message repeatedly, for as many requests as the plan says.
pub(crate) async fn run(
    case: &Case,
    endpoint: &Endpoint,
    plan: &Plan,
    server: Option<(u32, &Placement)>,
) -> Result<Outcome, Error> {
    let [message] = case.messages() else {
        return Err(Error::new(ErrorKind::Input, format!("{}: ab can only send one raw message", case.name)));
    };
    let machine = |error: std::io::Error| Error::new(ErrorKind::Machine, "ab can't be run").because(error);
    let mut body = tempfile::NamedTempFile::new().map_err(machine)?;
    body.write_all(&message.body).map_err(machine)?;
    let percentiles = tempfile::NamedTempFile::new().map_err(machine)?;
    let requests = plan.stop.requests.unwrap_or(1).max(plan.connections as u64);
    let mut command = Command::new("ab");
    // "-l" accepts answers of different lengths, which dates and similar content cause. "-q" suppresses progress output.
    // "-r" keeps going when a connection breaks.
    command.args(["-q", "-l", "-r", "-n", &requests.to_string(), "-c", &plan.connections.to_string()]);
    if plan.keep_alive {
        command.arg("-k");
    }
    command.args(["-s", &plan.timeout.as_secs().max(1).to_string(), "-T", &message.content_type]);
    command.arg("-H").arg(format!("SOAPAction: \"{}\"", message.action));
    command.arg("-p").arg(body.path()).arg("-e").arg(percentiles.path());
    command.arg(format!("http://{}{}", endpoint.authority, endpoint.path));
    let cpu_time = || server.and_then(|(process, _)| usage::cpu_time(process));
    let before = cpu_time();
    let others = server.map(|(process, placement)| BackgroundLoad::for_server(process, false, placement));
    let look = others.as_ref().map(BackgroundLoad::sample);
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.map_err(|error| Error::new(ErrorKind::Machine, "ab can't be run").because(error))?;
    let output = output.map_err(machine)?;
    let others = others.zip(look).and_then(|(others, before)| others.share_since(&before));
    let server_cpu = cpu_time().zip(before).map(|(after, before)| after.saturating_sub(before));
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(Error::new(ErrorKind::Machine, format!("ab failed: {}", message.trim())));
    }
    let percentiles = std::fs::read_to_string(percentiles.path()).map_err(machine)?;
    let (record, elapsed) = read(&String::from_utf8_lossy(&output.stdout), &percentiles, message.body.len())
        .ok_or_else(|| Error::new(ErrorKind::Machine, "ab's report lacks figures that version 2.3 prints"))?;
    Ok(Outcome {
        record,
        timeline: Arc::new(Timeline::new(None)),
        elapsed,
        unsent: 0,
        dropped: 0,
        users: plan.connections,
        opened: plan.connections,
        ended: None,
        first_error: None,
        driver_cpu: None,
        server_cpu,
        others,
    })
}

/// Reads `ab`'s report and its table of percentages (whole numbers, 0 to 99) and milliseconds.
fn read(report: &str, percentiles: &str, body: usize) -> Option<(Recorder, Duration)> {
    let field = |name: &str| {
        let line = report.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let complete = field("Complete requests")? as u64;
    // `ab` counts answers with a status other than 2xx as complete. It prints this line only if there were any.
    let wrong = field("Failed requests")? + field("Non-2xx responses").unwrap_or(0.0);
    let elapsed = Duration::try_from_secs_f64(field("Time taken for tests")?).ok()?;
    let mut record = Recorder { errors: (wrong as u64).min(complete), ..Recorder::default() };
    record.requests = complete - record.errors;
    record.bytes_out = record.requests * body as u64;
    // What `ab` calls HTML is the total size of the bodies.
    record.bytes_in = field("HTML transferred")? as u64;
    let rows = percentiles.lines().skip(1).filter_map(|line| {
        let (percent, milliseconds) = line.split_once(',')?;
        let milliseconds: f64 = milliseconds.trim().parse().ok()?;
        Some((percent.trim().parse::<f64>().ok()?, Duration::try_from_secs_f64(milliseconds / 1e3).ok()?))
    });
    // `ab` reports the latency at each percentage, not of each request. So each row is counted as one percent of the
    // requests.
    let mut counted = 0;
    for (percent, latency) in rows {
        let upto = (complete as f64 * (percent + 1.0) / 100.0).round() as u64;
        record.latency.saturating_record_n(nanoseconds(latency), upto.saturating_sub(counted));
        counted = counted.max(upto);
    }
    if record.errors > 0 {
        record.reason("ab counted wrong answers", record.errors);
    }
    Some((record, elapsed))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "This is ApacheBench, Version 2.3\n\nConcurrency Level:      25\nTime taken for tests:   2.500 seconds\n\
        Complete requests:      5000\nFailed requests:        0\nKeep-Alive requests:    5000\nTotal transferred:      1500000 bytes\n\
        Total body sent:        1700000\nHTML transferred:       840000 bytes\nRequests per second:    2000.00 [#/sec] (mean)\n";

    #[test]
    fn a_report_is_read() {
        let percentiles: String =
            (0..100).map(|percent| format!("{percent},{}\n", 1.0 + percent as f64 / 10.0)).collect();
        let percentiles = format!("Percentage served,Time in ms\n{percentiles}");
        let (record, elapsed) = read(REPORT, &percentiles, 160).unwrap();
        assert_eq!((record.requests, record.errors, elapsed), (5_000, 0, Duration::from_millis(2_500)));
        assert_eq!((record.bytes_out, record.bytes_in), (800_000, 840_000));
        assert_eq!(record.latency.len(), 5_000);
        let median = record.latency.value_at_quantile(0.5) as f64 / 1e6;
        assert!((median - 6.0).abs() < 0.1, "{median}");
    }

    #[test]
    fn wrong_answers_are_errors() {
        let report =
            REPORT.replace("Failed requests:        0", "Failed requests:        3\nNon-2xx responses:      7");
        let (record, _) = read(&report, "", 160).unwrap();
        assert_eq!((record.requests, record.errors), (4_990, 10));
        assert!(read("nothing", "", 160).is_none());
    }
}
