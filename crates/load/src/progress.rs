//! Shows how a bench progresses: one live line on a terminal, plain lines when piped.

use std::convert::Infallible;
use std::fmt;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::run::{Counter, Outcome, Run};
use crate::{Error, Interrupt, Recorder};
use castile_report::format::{count, figure, microseconds};
use castile_report::{Interval, Method, Row};

/// How often the live line is updated. Each update costs the driver some CPU time.
const TICK: Duration = Duration::from_millis(250);
/// How often a long run prints a line when piped.
const LINE: Duration = Duration::from_secs(10);

/// Reports the progress of a bench on standard error.
#[derive(Debug)]
pub struct Progress {
    display: Display,
    /// The total time; 0 if it is not known.
    total: Duration,
    done: Duration,
    label: String,
    /// The errors of the [seconds](Progress::second) so far.
    errors: u64,
    on_run: Option<OnRun>,
}

/// What is called with the counter of each run.
struct OnRun(Box<dyn Fn(&Counter) + Send>);

impl fmt::Debug for OnRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnRun").finish_non_exhaustive()
    }
}

#[derive(Debug)]
enum Display {
    Live(ProgressBar),
    Lines,
    Silent,
}

/// The state of a run.
#[derive(Clone, Copy, Debug)]
struct Moment {
    /// Requests per second since the measurement began; `None` during the warm-up.
    per_second: Option<f64>,
    errors: u64,
    users: usize,
    /// The last complete interval.
    last: Option<Interval>,
}

impl Progress {
    /// Creates a display for a bench of this length, 0 if it is not known: live on a terminal, lines otherwise.
    pub fn new(total: Duration) -> Self {
        let display = if std::io::stderr().is_terminal() {
            let bar = match total.is_zero() {
                true => ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()),
                false => ProgressBar::with_draw_target(Some(milliseconds(total)), ProgressDrawTarget::stderr()),
            };
            let template = match total.is_zero() {
                true => "{spinner:.cyan} {elapsed:>4}  {wide_msg}",
                false => "{bar:8.cyan/dim} {percent:>3} %  {wide_msg}",
            };
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            Display::Live(bar)
        } else {
            Display::Lines
        };
        Progress::with(display, total)
    }

    /// Creates a display that prints nothing.
    pub fn silent() -> Self {
        Progress::with(Display::Silent, Duration::ZERO)
    }

    fn with(display: Display, total: Duration) -> Self {
        Progress { display, total, done: Duration::ZERO, label: String::new(), errors: 0, on_run: None }
    }

    /// Calls a function with the counter of each run when the run begins.
    #[must_use]
    pub fn on_run(mut self, function: impl Fn(&Counter) + Send + 'static) -> Self {
        self.on_run = Some(OnRun(Box::new(function)));
        self
    }

    /// Shows a second of a run that takes place elsewhere: what was recorded in it, and how many users there were.
    pub fn second(&mut self, label: &str, record: &Recorder, users: usize) {
        self.done += Duration::from_secs(1);
        self.errors += record.errors;
        label.clone_into(&mut self.label);
        let quantile =
            |share: f64| (!record.latency.is_empty()).then(|| record.latency.value_at_quantile(share) as f64 / 1e3);
        let last = Interval {
            requests_per_second: record.requests as f64,
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            ..Interval::default()
        };
        let moment = Moment { per_second: None, errors: self.errors, users, last: Some(last) };
        self.show(&moment, self.done, self.done.as_secs().is_multiple_of(LINE.as_secs()));
    }

    /// Updates the live line, or prints a line if one is due.
    fn show(&self, moment: &Moment, done: Duration, is_due: bool) {
        match &self.display {
            Display::Live(bar) => {
                bar.set_position(milliseconds(done));
                bar.set_message(format!("{} · {}", self.figures(moment, done), self.label));
            }
            Display::Lines if is_due => note(format_args!("{}: {}", self.label, self.figures(moment, done))),
            Display::Lines | Display::Silent => {}
        }
    }

    pub(crate) fn begin(&mut self, suite: &str, case: &str, target: &str, run: usize) {
        self.label = format!("{suite} {case} · {target} · run {run}");
    }

    /// Reports the start of a warm-up lap of a target. Only one line is printed for all of its cases.
    pub(crate) fn warm_up(&mut self, suite: &str, case: &str, target: &str, lap: u32) {
        let label = format!("{suite} · {target} · warm-up, pass {lap}");
        if let Display::Lines = self.display
            && !self.label.starts_with(&label)
        {
            let left = self.left(self.done).map(|left| format!(" ({left})")).unwrap_or_default();
            note(format_args!("{label}{left}"));
        }
        self.label = format!("{label} · {case}");
    }

    /// Reports that the last run is repeated because other processes used the cores, and adds its time to the
    /// total.
    pub(crate) fn again(&mut self, time: Duration) {
        if !self.total.is_zero() {
            self.total += time;
        }
        let left = self.left(self.done).map(|left| format!(" ({left})")).unwrap_or_default();
        let line = format!("{}: repeated, because other processes used the cores{left}", self.label);
        match &self.display {
            Display::Live(bar) => {
                bar.println(line);
                if !self.total.is_zero() {
                    bar.set_length(milliseconds(self.total));
                }
            }
            Display::Lines => note(format_args!("{line}")),
            Display::Silent => {}
        }
    }

    /// Subtracts time that was planned but isn't needed.
    pub fn leave_out(&mut self, time: Duration) {
        self.total = self.total.saturating_sub(time);
        if let Display::Live(bar) = &self.display
            && !self.total.is_zero()
        {
            bar.set_length(milliseconds(self.total));
        }
    }

    /// Follows a run to its end. The end is planned after `planned`, or follows an interruption.
    pub(crate) async fn watch(&mut self, run: Run, planned: Duration, interrupt: &Interrupt) -> Result<Outcome, Error> {
        let start = Instant::now();
        let counter = run.counter();
        if let Some(OnRun(function)) = &self.on_run {
            function(&counter);
        }
        let mut finish = std::pin::pin!(run.finish());
        let mut interrupted = std::pin::pin!(async {
            interrupt.wait().await;
            counter.interrupt();
            std::future::pending::<Infallible>().await
        });
        let mut last_line = Duration::ZERO;
        let outcome = loop {
            tokio::select! {
                outcome = &mut finish => break outcome,
                never = &mut interrupted => match never {},
                () = tokio::time::sleep(TICK) => {
                    let elapsed = start.elapsed();
                    let is_due = elapsed >= last_line + LINE;
                    if is_due {
                        last_line = elapsed;
                    }
                    self.show(&Moment::of(&counter), self.done + elapsed.min(planned), is_due);
                }
            }
        };
        self.done += planned;
        outcome
    }

    /// Puts the most important figures first, since what doesn't fit is cut off.
    fn figures(&self, moment: &Moment, done: Duration) -> String {
        let mut parts: Vec<String> = self.left(done).into_iter().collect();
        let rate = moment.last.map(|last| last.requests_per_second).or(moment.per_second);
        parts.push(rate.map_or("warming up".to_owned(), |rate| format!("{} req/s", count(rate))));
        parts.push(errors(moment.errors));
        if let Some(Interval { p50_us: Some(p50), p99_us: Some(p99), .. }) = moment.last {
            parts.push(format!("p50 {}, p99 {}", microseconds(p50), microseconds(p99)));
        }
        if moment.users > 1 {
            parts.push(format!("{} users", count(moment.users as f64)));
        }
        parts.join(" · ")
    }

    /// Reports a complete row.
    pub(crate) fn row(&self, suite: &str, row: &Row) {
        if let Display::Lines = self.display {
            // After the last row no time is left, so it isn't shown.
            let left = self.left(self.done).filter(|_| self.done < self.total);
            let left = left.map(|left| format!(" ({left})")).unwrap_or_default();
            note(format_args!("{suite} {} ({}): {}{left}", row.case, row.properties(), result(row)));
        }
    }

    fn left(&self, done: Duration) -> Option<String> {
        let seconds = self.total.saturating_sub(done).as_secs_f64().ceil() as u64;
        match (self.total.is_zero(), seconds / 60, seconds % 60) {
            (true, ..) => None,
            (false, 0, seconds) => Some(format!("{seconds} s left")),
            (false, minutes, seconds) => Some(format!("{minutes} min {seconds} s left")),
        }
    }
}

impl Drop for Progress {
    /// Removes the live line, however the bench ends.
    fn drop(&mut self) {
        if let Display::Live(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

impl Moment {
    fn of(counter: &Counter) -> Self {
        let measured = counter.measured();
        Moment {
            per_second: (!measured.is_zero()).then(|| counter.sent() as f64 / measured.as_secs_f64()),
            errors: counter.errors(),
            users: counter.users().unwrap_or_default(),
            last: counter.timeline().last(),
        }
    }
}

/// Returns the main figure of a row for its method.
fn result(row: &Row) -> String {
    let rate = count(row.requests_per_second.mean);
    let users = |users: Option<usize>| users.map_or("?".to_owned(), |users| count(users as f64));
    let mut text = match row.method {
        Method::Users if row.users_at_peak.is_some() => {
            format!("{rate} req/s at the peak with {} users", users(row.users_at_peak))
        }
        Method::Closed | Method::Open | Method::Users if row.requests == 0 => "no right answer".to_owned(),
        Method::Closed | Method::Open | Method::Users => {
            format!("{rate} req/s, p99 {}", microseconds(row.latency_us.p99))
        }
        Method::Ramp => {
            let reason = row.exit_reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("{} users at the end{reason}", users(row.users_at_exit))
        }
        Method::Sequence => {
            let matches = row.matches.map(|matches| format!(", {} matches", count(matches as f64)));
            format!("{} s{}", figure(row.elapsed_s.unwrap_or_default()), matches.unwrap_or_default())
        }
    };
    if row.errors > 0 {
        text += &format!(", {}", errors(row.errors));
    }
    text
}

fn errors(number: u64) -> String {
    match number {
        0 => "no errors".to_owned(),
        1 => "1 ERROR".to_owned(),
        many => format!("{} ERRORS", count(many as f64)),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Prints a line on standard error. If nobody reads it any more, the measurement continues.
fn note(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The width of the progress bar and the percentage, in columns.
    const BEFORE_FIGURES: usize = 16;

    #[test]
    fn a_row_without_an_answer_has_no_latency() {
        let row = Row { requests: 3, ..Row::default() };
        assert_eq!(result(&row), "0 req/s, p99 0.00 µs");
        assert_eq!(result(&Row { requests: 0, errors: 2, ..row.clone() }), "no right answer, 2 ERRORS");
    }

    #[test]
    fn the_line_has_the_time_left_rate_errors_percentiles_and_users() {
        let mut progress = Progress::silent();
        progress.total = Duration::from_secs(200);
        let mut moment = Moment { per_second: None, errors: 0, users: 1, last: None };
        let figures = progress.figures(&moment, Duration::from_secs(180));
        assert_eq!(figures, "20 s left · warming up · no errors");
        moment.per_second = Some(12_345.6);
        let figures = progress.figures(&moment, Duration::from_secs(190));
        assert_eq!(figures, "10 s left · 12,346 req/s · no errors");
        moment.last = Some(Interval {
            requests_per_second: 900.0,
            p50_us: Some(174.2),
            p99_us: Some(12_345.0),
            ..Interval::default()
        });
        moment.errors = 3;
        moment.users = 1_400;
        progress.total = Duration::ZERO;
        let figures = progress.figures(&moment, Duration::from_secs(1));
        assert_eq!(figures, "900 req/s · 3 ERRORS · p50 174 µs, p99 12.3 ms · 1,400 users");
        progress.total = Duration::from_secs(200);
        assert_eq!(progress.left(Duration::from_secs(5)).as_deref(), Some("3 min 15 s left"));
        // On a terminal of 80 columns the errors were once cut off.
        moment.errors = 1_234_567;
        let figures = progress.figures(&moment, Duration::from_secs(5));
        let errors = figures.find(" ERRORS").unwrap() + " ERRORS".len();
        assert!(BEFORE_FIGURES + figures[..errors].chars().count() <= 80, "{figures}");
        moment.errors = 0;
        moment.last.as_mut().unwrap().requests_per_second = 12_345.6;
        let figures = progress.figures(&moment, Duration::from_secs(190));
        let percentiles = figures.find(" ms").unwrap() + " ms".len();
        assert!(BEFORE_FIGURES + figures[..percentiles].chars().count() <= 80, "{figures}");
        // Two minutes were once shown for four.
        progress.again(Duration::from_secs(60));
        assert_eq!(progress.left(Duration::from_secs(5)).as_deref(), Some("4 min 15 s left"));
    }
}
