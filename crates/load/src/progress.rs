//! What a person sees while a bench runs: one live line on a terminal, plain lines when piped.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::Error;
use crate::report::{Row, format};
use crate::run::{Outcome, Run};

/// How often the live line changes; each time costs the driver some CPU time.
const TICK: Duration = Duration::from_millis(250);

/// Tells how far a bench has come, on standard error.
#[derive(Debug)]
pub struct Progress {
    display: Display,
    total: Duration,
    done: Duration,
    label: String,
}

#[derive(Debug)]
enum Display {
    Live(ProgressBar),
    Lines,
    Silent,
}

impl Progress {
    /// For a bench of this length: live on a terminal, lines elsewhere.
    pub fn new(total: Duration) -> Self {
        let display = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(milliseconds(total)), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:24.cyan/dim} {percent:>3} %  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            Display::Live(bar)
        } else {
            Display::Lines
        };
        Progress { display, total, done: Duration::ZERO, label: String::new() }
    }

    /// Tells nothing.
    pub fn silent() -> Self {
        Progress { display: Display::Silent, total: Duration::ZERO, done: Duration::ZERO, label: String::new() }
    }

    pub(crate) fn begin(&mut self, suite: &str, case: &str, target: &str, run: usize) {
        if let Display::Live(_) = self.display {
            self.label = format!("{suite} {case} · {target} · run {run}");
        }
    }

    /// Follows a run to its end, which is planned after `planned`.
    pub(crate) async fn watch(&mut self, run: Run, planned: Duration) -> Result<Outcome, Error> {
        let start = Instant::now();
        let counter = run.counter();
        let mut finish = std::pin::pin!(run.finish());
        let outcome = loop {
            tokio::select! {
                outcome = &mut finish => break outcome,
                () = tokio::time::sleep(TICK) => {
                    let elapsed = start.elapsed();
                    let rate = counter.sent() as f64 / elapsed.as_secs_f64();
                    self.show(self.done + elapsed.min(planned), rate);
                }
            }
        };
        self.done += planned;
        outcome
    }

    fn show(&self, done: Duration, rate: f64) {
        if let Display::Live(bar) = &self.display {
            bar.set_position(milliseconds(done));
            let left = self.left(done);
            bar.set_message(format!("{} · {} req/s · {left} left", self.label, format::count(rate)));
        }
    }

    /// Notes that a row is complete.
    pub(crate) fn row(&self, suite: &str, row: &Row) {
        if let Display::Lines = self.display {
            let errors = match row.errors {
                0 => String::new(),
                errors => format!(", {errors} ERRORS"),
            };
            eprintln!(
                "{suite} {} · {}: {} req/s{errors} ({} left)",
                row.case,
                row.target,
                format::count(row.requests_per_second.mean),
                self.left(self.done),
            );
        }
    }

    fn left(&self, done: Duration) -> String {
        let seconds = self.total.saturating_sub(done).as_secs_f64().ceil() as u64;
        match (seconds / 60, seconds % 60) {
            (0, seconds) => format!("{seconds} s"),
            (minutes, seconds) => format!("{minutes} min {seconds} s"),
        }
    }
}

impl Drop for Progress {
    /// Leaves no half line behind, however the bench ends.
    fn drop(&mut self) {
        if let Display::Live(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
