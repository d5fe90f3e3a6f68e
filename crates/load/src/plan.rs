//! How a case is driven. Each property of a load is a value of its own.

use std::fmt;
use std::iter::StepBy;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use humantime::format_duration;

use crate::Arrivals;
use crate::arrivals::exponential;
use castile_report::Method;
use castile_report::format::plain;

/// How a case is driven.
#[derive(Clone, Debug)]
pub struct Plan {
    /// When requests are due.
    pub pace: Pace,
    /// How long the run lasts before it is measured. Requests of that time don't count, but errors do.
    pub warmup: Duration,
    /// When the run ends, counted from the end of the warm-up.
    pub stop: Stop,
    /// The largest number of users of all parts. Each has its own connection and at most one request in flight.
    pub connections: usize,
    /// When users begin.
    pub start: Start,
    /// Whether a connection serves more than one request.
    pub keep_alive: bool,
    /// The addresses that users connect from, in turn. If empty, the system chooses.
    pub sources: Arc<[IpAddr]>,
    /// The number of driver threads. The users are distributed among them.
    pub threads: usize,
    /// How long a request may take, including its connection.
    pub timeout: Duration,
    /// One of this many answers is decoded and compared, in addition to the first of each connection.
    pub verify_one_in: u64,
    /// The seed of all random numbers, so that a run can be repeated.
    pub seed: u64,
    /// Which part of the plan this driver has, if several divide it.
    pub division: Division,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            pace: Pace::Closed,
            warmup: Duration::ZERO,
            stop: Stop::after(Duration::from_secs(1)),
            connections: 1,
            start: Start::Together,
            keep_alive: true,
            sources: Arc::new([]),
            threads: 1,
            timeout: Duration::from_secs(10),
            verify_one_in: 1000,
            seed: 5,
            division: Division::default(),
        }
    }
}

/// A part of a plan that several drivers divide: every `count`th of its users, arrivals and requests, from this number on. All parts
/// together are the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// The number of the part, counted from 0.
    pub number: usize,
    /// How many parts there are, at least 1.
    pub count: usize,
}

impl Default for Division {
    /// The whole plan.
    fn default() -> Self {
        Division { number: 0, count: 1 }
    }
}

/// When the next request is due.
///
/// Latency always counts from that time, so a stall shows in every request that it delayed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pace {
    /// A *closed* workload: each user sends its next request when the answer to the last one has arrived.
    Closed,
    /// A closed workload with a pause before each request, including the first.
    Think(Think),
    /// A closed workload with pacing: a user's requests start at this interval. A late request is sent immediately, and the
    /// schedule of the following ones doesn't change.
    Every(Duration),
    /// An *open* workload: requests are due at fixed times, however fast the server answers.
    Arrivals(Arrivals),
}

impl Pace {
    /// Returns the least mean time from one request of a user to the next.
    pub fn period(&self) -> Duration {
        match self {
            Pace::Closed | Pace::Arrivals(_) => Duration::ZERO,
            Pace::Think(think) => think.mean(),
            Pace::Every(period) => *period,
        }
    }
}

/// How long a user pauses between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Think {
    /// Always the same time.
    Fixed(Duration),
    /// A random time between these two, uniformly distributed.
    Uniform(Duration, Duration),
    /// An exponentially distributed time with this mean, as of independent people: most pauses are short and a few are very
    /// long.
    Exponential(Duration),
}

impl Think {
    /// Returns the mean.
    pub fn mean(&self) -> Duration {
        match *self {
            Think::Fixed(time) | Think::Exponential(time) => time,
            Think::Uniform(shortest, longest) => (shortest + longest) / 2,
        }
    }

    pub(crate) fn next(&self, random: &mut fastrand::Rng) -> Duration {
        match *self {
            Think::Fixed(time) => time,
            Think::Uniform(shortest, longest) => shortest + longest.saturating_sub(shortest).mul_f64(random.f64()),
            Think::Exponential(mean) => mean.mul_f64(exponential(random)),
        }
    }
}

impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Think::Fixed(time) => write!(f, "thinks for {}", format_duration(time)),
            Think::Uniform(shortest, longest) => {
                write!(f, "thinks for {} to {}", format_duration(shortest), format_duration(longest))
            }
            Think::Exponential(mean) => write!(f, "thinks for a random time, {} on average,", format_duration(mean)),
        }
    }
}

/// When users begin.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Start {
    /// All at the same time.
    Together,
    /// Evenly spread over this time, so that users with the same rhythm are not in step.
    Within(Duration),
    /// This many users each second: a ramp.
    PerSecond(f64),
    /// When [`Counter::want`](crate::Counter::want) asks for them. They end when it asks for fewer, and may come back.
    OnDemand,
}

impl Start {
    /// Returns when the user of this number begins, counted from the start; `None` means never.
    fn of(&self, number: usize, users: usize) -> Option<Duration> {
        match *self {
            Start::Together | Start::OnDemand => Some(Duration::ZERO),
            Start::Within(time) => Some(time.mul_f64(number as f64 / users.max(1) as f64)),
            Start::PerSecond(rate) => Duration::try_from_secs_f64(number as f64 / rate).ok(),
        }
    }
}

/// When to stop sending: at the first of these conditions. Requests in flight are always completed, within their time limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stop {
    /// After this time.
    pub after: Option<Duration>,
    /// After this many requests of all users.
    pub requests: Option<u64>,
    /// After this many failed requests.
    pub errors: Option<u64>,
    /// When the server has used this share of its cores for an interval of the [`Timeline`](crate::Timeline); 1 is all of them.
    pub server_cpu: Option<f64>,
}

impl Stop {
    /// Stops after this time.
    pub fn after(time: Duration) -> Self {
        Stop { after: Some(time), ..Stop::default() }
    }

    /// Stops after this many requests of all users.
    pub fn requests(count: u64) -> Self {
        Stop { requests: Some(count), ..Stop::default() }
    }

    /// Stops also after this many failed requests.
    pub fn or_errors(self, count: u64) -> Self {
        Stop { errors: Some(count), ..self }
    }

    /// Stops also when the server has used this share of its cores.
    pub fn or_server_cpu(self, share: f64) -> Self {
        Stop { server_cpu: Some(share), ..self }
    }
}

/// Why a run ended before its plan was completed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum End {
    /// This many requests failed.
    Errors(u64),
    /// The server used this share of its cores.
    ServerCpu(f64),
    /// All users sent everything they had.
    NothingLeft,
    /// The run was interrupted.
    Interrupted,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Errors(1) => f.write_str("the first failed transaction"),
            End::Errors(count) => write!(f, "{count} failed transactions"),
            End::ServerCpu(share) => write!(f, "the server used {:.0} % of its cores", share * 100.0),
            End::NothingLeft => f.write_str("nothing left to send"),
            End::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl Plan {
    /// Returns the name of the load model.
    pub fn method(&self) -> Method {
        match (&self.pace, self.start) {
            (Pace::Arrivals(_), _) => Method::Open,
            (_, Start::PerSecond(_)) => Method::Ramp,
            (Pace::Think(_) | Pace::Every(_), _) | (_, Start::OnDemand) => Method::Users,
            (Pace::Closed, _) => Method::Closed,
        }
    }

    /// Describes the pace, in words; `None` if each user sends as fast as it is answered.
    pub(crate) fn rhythm(&self) -> Option<String> {
        let pace = match &self.pace {
            Pace::Closed => None,
            Pace::Think(think) => Some(format!("each {think} before a request")),
            Pace::Every(period) => Some(format!("each sends a request every {}", format_duration(*period))),
            Pace::Arrivals(arrivals) => arrivals.words(),
        };
        let start = match self.start {
            Start::Together => None,
            Start::OnDemand => Some("started and stopped by the master".to_owned()),
            Start::Within(time) => Some(format!("started one after another within {}", format_duration(time))),
            Start::PerSecond(rate) if rate < 1.0 => Some(format!("{} more per minute", plain(rate * 60.0))),
            Start::PerSecond(rate) => Some(format!("{} more per second", plain(rate))),
        };
        let words: Vec<_> = [pace, start].into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(", "))
    }

    /// Returns the numbers of the users of this [part](Division).
    pub(crate) fn users(&self) -> StepBy<Range<usize>> {
        (self.division.number..self.connections).step_by(self.division.count)
    }

    /// Returns when the user of this number begins, counted from the start; `None` means never.
    pub(crate) fn begin(&self, number: usize) -> Option<Duration> {
        self.start.of(number, self.connections)
    }

    /// Returns the address that the user of this number connects from; `None` if the system chooses.
    pub(crate) fn source(&self, number: usize) -> Option<IpAddr> {
        self.sources.get(number % self.sources.len().max(1)).copied()
    }

    /// Returns how many requests this [part](Division) is to send, if there is a number.
    pub(crate) fn requests(&self) -> Option<u64> {
        let Division { number, count } = self.division;
        let count = count as u64;
        self.stop.requests.map(|all| all / count + u64::from((number as u64) < all % count))
    }

    /// Returns how many threads of the driver have users.
    pub fn threads(&self) -> usize {
        self.threads.clamp(1, self.users().len().max(1))
    }

    /// Returns how long a run takes including its warm-up, if that is planned.
    pub fn planned(&self) -> Duration {
        let measured = match (self.stop.after, self.stop.requests, &self.pace) {
            (Some(time), ..) => time,
            (None, Some(count), Pace::Arrivals(arrivals)) => match arrivals.rate() {
                Some(rate) => Duration::try_from_secs_f64(count as f64 / rate).unwrap_or_default(),
                None => arrivals.planned(),
            },
            (None, ..) => Duration::ZERO,
        };
        self.warmup + measured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts once numbered their users from 0 each: users began in groups, and some sources were never used.
    #[test]
    fn parts_of_a_plan_are_the_plan() {
        let sources = ["127.0.0.1", "127.0.0.2", "127.0.0.3"].map(|source| source.parse().unwrap());
        let stop = Stop { requests: Some(11), ..Stop::after(Duration::from_secs(5)) };
        let whole = Plan { connections: 10, stop, sources: Arc::new(sources), ..Plan::default() };
        for start in [Start::Together, Start::Within(Duration::from_secs(6)), Start::PerSecond(3.0)] {
            let whole = Plan { start, ..whole.clone() };
            let users =
                |plan: &Plan| plan.users().map(|user| (user, plan.begin(user), plan.source(user))).collect::<Vec<_>>();
            for count in 1..=10 {
                let parts = (0..count).map(|number| Plan { division: Division { number, count }, ..whole.clone() });
                let parts: Vec<Plan> = parts.collect();
                let mut all: Vec<_> = parts.iter().flat_map(users).collect();
                all.sort_unstable();
                assert_eq!(all, users(&whole), "{count} parts, {start:?}");
                let shares: Vec<_> = parts.iter().map(|part| part.users().len()).collect();
                let requests: Vec<_> = parts.iter().map(|part| part.requests().unwrap()).collect();
                assert!(shares.is_sorted_by(|a, b| a >= b) && shares[0] - shares[count - 1] <= 1, "{shares:?}");
                assert!(requests.is_sorted_by(|a, b| a >= b) && requests[0] - requests[count - 1] <= 1, "{requests:?}");
                assert_eq!(requests.iter().sum::<u64>(), 11);
            }
        }
    }
}
