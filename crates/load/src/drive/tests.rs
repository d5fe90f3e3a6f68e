//! Tests each load model against a server of known behaviour, in simulated time: what is counted and when, independent of this
//! machine's speed. The simulated clock counts milliseconds, which limits the accuracy of times.

use std::rc::Rc;

use tokio::time::{Instant as SimulatedInstant, sleep};

use super::*;
use crate::clock::CoarseClock;
use crate::connection::Failure;
use crate::exchange::Judged;
use crate::run::Observer;
use crate::typed::Answer;
use crate::usage::Usage;
use crate::{Arrivals, Division, End, Spacing, Stage, Stop, Think, WhenBusy};

const SECOND: Duration = Duration::from_secs(1);

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A request as the server saw it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct ReceivedRequest {
    user: usize,
    /// Its number in the list of its case.
    number: usize,
    /// When it arrived, from the start of the run.
    at: Duration,
}

/// The server's behaviour: how long it takes for the request of this index at this time, and whether the answer is right.
type Behaviour = fn(index: usize, at: Duration) -> (Duration, bool);

struct SimulatedServer {
    behaviour: Behaviour,
    start: SimulatedInstant,
    seen: RefCell<Vec<ReceivedRequest>>,
    /// Requests in flight, and the most that there were.
    busy: Cell<(usize, usize)>,
    connected: Cell<usize>,
}

struct SimulatedExchange {
    server: Rc<SimulatedServer>,
    user: usize,
    right: bool,
}

impl Exchange for SimulatedExchange {
    async fn send(&mut self, number: usize) -> Result<(), Failure> {
        let server = &self.server;
        let at = server.start.elapsed();
        let index = server.seen.borrow().len();
        server.seen.borrow_mut().push(ReceivedRequest { user: self.user, number, at });
        let (busy, most) = server.busy.get();
        server.busy.set((busy + 1, most.max(busy + 1)));
        let (time, right) = (server.behaviour)(index, at);
        sleep(time).await;
        let (busy, most) = server.busy.get();
        server.busy.set((busy - 1, most));
        self.right = right;
        Ok(())
    }

    fn judge(&mut self, _: usize, in_full: bool) -> Result<Judged, String> {
        let answer = Answer { bytes_out: 2, bytes_in: 3, matches: 1 };
        if self.right { Ok(Judged { answer, verified: in_full }) } else { Err("wrong".to_owned()) }
    }

    async fn rest(&mut self) {}
}

struct Simulated {
    record: Recorder,
    seen: Vec<ReceivedRequest>,
    most_busy: usize,
    connected: usize,
    users: usize,
    elapsed: Duration,
    missed: (u64, u64),
    ended: Option<End>,
    timeline: Arc<Timeline>,
}

impl Simulated {
    /// Returns how many requests arrived in each second.
    fn per_second(&self) -> Vec<usize> {
        let mut counts = vec![0; self.elapsed.as_secs() as usize + 1];
        for seen in &self.seen {
            counts[seen.at.as_secs() as usize] += 1;
        }
        counts
    }

    fn latency_ms(&self, quantile: f64) -> u64 {
        self.record.latency.value_at_quantile(quantile).div_ceil(1_000_000)
    }

    fn service_ms(&self, quantile: f64) -> u64 {
        self.record.service.value_at_quantile(quantile).div_ceil(1_000_000)
    }
}

/// Drives a server that uses `usage` of one core, with a list of `count` requests.
async fn drive_list(plan: &Plan, count: usize, usage: fn(Duration) -> f64, behaviour: Behaviour) -> Simulated {
    drive_led(plan, count, usage, behaviour, &[]).await
}

/// What a master wants at a time: a number of users, or the end.
type Wish = (Duration, Option<usize>);

/// Drives a server with users who come and go by these wishes.
async fn drive_led(
    plan: &Plan,
    count: usize,
    usage: fn(Duration) -> f64,
    behaviour: Behaviour,
    wishes: &[Wish],
) -> Simulated {
    let start = SimulatedInstant::now();
    let schedule = Arc::new(Schedule::new(plan, start.into_std()));
    let timeline = Arc::new(Timeline::new(plan.stop.after));
    let server = Rc::new(SimulatedServer {
        behaviour,
        start,
        seen: RefCell::default(),
        busy: Cell::default(),
        connected: Cell::default(),
    });
    let thread = Rc::new(Thread::new(CoarseClock, schedule.clone(), plan.clone(), count, timeline.clone()));
    let observer = Observer {
        clock: CoarseClock,
        schedule: schedule.clone(),
        timeline: timeline.clone(),
        cores: 1,
        driver: || None,
        begun: Cell::default(),
        server: || {
            let seconds = start.elapsed().as_secs();
            let used: f64 = (0..seconds).map(|second| usage(Duration::from_secs(second))).sum();
            Some(Usage { cpu: Duration::from_secs_f64(used), memory: Some(seconds) })
        },
    };
    let users = async {
        let tasks = tokio::task::LocalSet::new();
        for user in plan.users() {
            let (thread, server) = (thread.clone(), server.clone());
            tasks.spawn_local(async move {
                let connect = || {
                    server.connected.set(server.connected.get() + 1);
                    SimulatedExchange { server: server.clone(), user, right: false }
                };
                thread.drive(user, &mut None, connect).await;
            });
        }
        tasks.await;
    };
    let leader = async {
        for (at, wish) in wishes {
            CoarseClock.wait_until(start.into_std() + *at).await;
            match wish {
                Some(users) => schedule.want(*users),
                None => schedule.finish(End::Interrupted, CoarseClock.now()),
            }
        }
        std::future::pending::<std::convert::Infallible>().await
    };
    tokio::select! {
        () = users => {}
        never = leader => match never {},
        never = observer.run() => match never {},
    }
    let record = thread.finish();
    let elapsed = start.elapsed() - plan.warmup;
    timeline.finish(schedule.length(elapsed));
    Simulated {
        record,
        seen: server.seen.take(),
        most_busy: server.busy.get().1,
        connected: server.connected.get(),
        users: schedule.users(),
        elapsed,
        missed: schedule.missed(),
        ended: schedule.ended(),
        timeline,
    }
}

async fn drive(plan: &Plan, behaviour: Behaviour) -> Simulated {
    drive_list(plan, 1, |_| 0.0, behaviour).await
}

fn plan(pace: Pace, connections: usize, stop: Stop) -> Plan {
    Plan { pace, connections, stop, ..Plan::default() }
}

#[tokio::test(start_paused = true)]
async fn a_closed_workload_is_as_fast_as_it_is_answered() {
    let run = drive(&plan(Pace::Closed, 4, Stop::after(10 * SECOND)), |_, _| (ms(20), true)).await;
    // 4 users with 50 requests a second each.
    assert_eq!((run.record.requests, run.record.errors, run.most_busy), (2_000, 0, 4));
    assert_eq!((run.latency_ms(0.0), run.latency_ms(1.0), run.service_ms(1.0)), (20, 21, 21));
    assert_eq!(run.elapsed, 10 * SECOND);
    assert!(run.timeline.series().iter().all(|interval| (interval.requests_per_second - 200.0).abs() <= 4.0));
    assert_eq!((run.record.bytes_out, run.record.bytes_in, run.record.matches), (4_000, 6_000, 2_000));
    assert_eq!(run.record.verified, 2, "one in a thousand");
}

#[tokio::test(start_paused = true)]
async fn a_warm_up_counts_for_nothing() {
    // Slow for the first three seconds, of which two are the warm-up.
    let behaviour: Behaviour = |_, at| (if at < 3 * SECOND { ms(100) } else { ms(10) }, at >= 2 * SECOND);
    let plan = Plan { warmup: 2 * SECOND, ..plan(Pace::Closed, 2, Stop::after(5 * SECOND)) };
    let run = drive(&plan, behaviour).await;
    assert_eq!((run.elapsed, run.seen.len()), (5 * SECOND, 2 * (30 + 400)));
    // Errors of the warm-up are reported all the same: a wrong answer is an error at any time.
    assert_eq!((run.record.requests, run.record.errors), (2 * (10 + 400), 2 * 20));
    let rates: Vec<f64> = run.timeline.series().iter().map(|interval| interval.requests_per_second).collect();
    assert!(rates.len() == 50 && (rates[..9].iter().sum::<f64>() / 9.0 - 20.0).abs() < 3.0, "{rates:?}");
    let pace = Pace::Arrivals(Arrivals::constant(100.0));
    let late = Plan { pace, connections: 1, ..plan };
    let run = drive(&late, |_, _| (ms(20), true)).await;
    assert_eq!(run.record.requests + run.missed.0, 500);
}

#[tokio::test(start_paused = true)]
async fn users_think_before_each_request() {
    let pace = Pace::Think(Think::Fixed(ms(900)));
    let plan = Plan { start: Start::Within(ms(900)), ..plan(pace, 90, Stop::after(10 * SECOND)) };
    let run = drive(&plan, |_, _| (ms(100), true)).await;
    assert_eq!(run.users, 90);
    // Each user sends one request each second. They begin spread over the first 0.9 s, and then pause.
    let first: Vec<Duration> = run.seen.iter().take(90).map(|seen| seen.at).collect();
    for (user, at) in first.iter().enumerate() {
        assert_eq!(*at, ms(900 + 10 * user as u64), "{user}");
    }
    assert!(run.per_second()[2..10].iter().all(|count| *count == 90), "{:?}", run.per_second());
    assert_eq!((run.latency_ms(0.0), run.latency_ms(1.0)), (100, 101), "thinking is no part of a latency");
}

#[tokio::test(start_paused = true)]
async fn thinking_is_distributed_as_asked() {
    let mean_gap = |run: &Simulated| {
        // The times between one user's requests, minus the server's time.
        let times: Vec<f64> = run.seen.iter().filter(|seen| seen.user == 0).map(|seen| seen.at.as_secs_f64()).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0] - 0.1).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let longer = gaps.iter().filter(|gap| **gap > mean).count() as f64 / gaps.len() as f64;
        (mean, longer, gaps.iter().cloned().fold(f64::MAX, f64::min), gaps.iter().cloned().fold(0.0, f64::max))
    };
    let stop = Stop::after(4_000 * SECOND);
    let behaviour: Behaviour = |_, _| (ms(100), true);
    let uniform = drive(&plan(Pace::Think(Think::Uniform(ms(500), ms(1_500))), 1, stop), behaviour).await;
    let (mean, longer, least, most) = mean_gap(&uniform);
    assert!((mean - 1.0).abs() < 0.03 && (longer - 0.5).abs() < 0.03, "{mean} {longer}");
    assert!((0.5..0.51).contains(&least) && (1.49..1.502).contains(&most), "{least} {most}");
    let exponential = drive(&plan(Pace::Think(Think::Exponential(SECOND)), 1, stop), behaviour).await;
    let (mean, longer, least, most) = mean_gap(&exponential);
    // 1/e of them are longer than the mean.
    assert!((mean - 1.0).abs() < 0.06 && (longer - 0.368).abs() < 0.03, "{mean} {longer}");
    assert!(least < 0.01 && most > 5.0, "{least} {most}");
}

#[tokio::test(start_paused = true)]
async fn pacing_counts_from_start_to_start() {
    let behaviour: Behaviour = |index, _| (if index == 2 { ms(2_500) } else { ms(300) }, true);
    let run = drive(&plan(Pace::Every(SECOND), 1, Stop::requests(7)), behaviour).await;
    let times: Vec<u128> = run.seen.iter().map(|seen| seen.at.as_millis()).collect();
    // The third request takes 2.5 s. The next two are late and are sent one after the other; then the rhythm is as before.
    assert_eq!(times, [0, 1_000, 2_000, 4_500, 4_800, 5_100, 6_000]);
    let latencies: Vec<u64> = (0..7).map(|rank| run.latency_ms((rank as f64 + 0.5) / 7.0)).collect();
    for (latency, expected) in latencies.iter().zip([300, 300, 300, 400, 1_100, 1_800, 2_500]) {
        assert!(latency.abs_diff(expected) <= 2, "{latencies:?}");
    }
    assert!(run.service_ms(0.7).abs_diff(300) <= 1, "each but one was served in 300 ms");
}

#[tokio::test(start_paused = true)]
async fn a_ramp_adds_users_and_ends_at_the_first_failure() {
    // 25 users a minute with a request each 120 s, as in the report on Axis. The server fails after 100 requests.
    let plan = Plan {
        start: Start::PerSecond(25.0 / 60.0),
        ..plan(Pace::Every(120 * SECOND), 1_000, Stop::after(2_700 * SECOND).or_errors(1))
    };
    let run = drive(&plan, |index, _| (ms(500), index < 100)).await;
    assert_eq!(run.ended, Some(End::Errors(1)));
    // Answers after the end don't make any interval show too high a rate.
    let most = run.timeline.series().iter().map(|interval| interval.requests_per_second).fold(0.0, f64::max);
    assert!(most <= 2.0, "{most}");
    // Requests in flight at the first failure are still answered, and nothing more is sent.
    assert_eq!((run.record.requests, run.record.errors as usize), (100, run.seen.len() - 100));
    let end = run.seen[100].at.as_secs_f64() + 0.5;
    let users = (end * 25.0 / 60.0).floor() as usize + 1;
    assert_eq!(run.users, users);
    // Each user has sent one request for each 120 s since it began.
    let expected: usize = (0..users).map(|user| ((end - user as f64 * 2.4) / 120.0).floor() as usize + 1).sum();
    assert_eq!(run.seen.len(), expected);
    assert!(run.elapsed.as_secs_f64() - end < 0.6, "those who wait for their turn don't go on");
}

#[tokio::test(start_paused = true)]
async fn a_ramp_ends_when_the_server_is_busy() {
    let plan = Plan {
        start: Start::PerSecond(2.05),
        ..plan(Pace::Every(SECOND), 1_000, Stop::after(100 * SECOND).or_server_cpu(0.25))
    };
    // The CPU share grows by 1 % each second.
    let usage = |at: Duration| at.as_secs() as f64 / 100.0;
    let run = drive_list(&plan, 1, usage, |_, _| (ms(10), true)).await;
    let Some(End::ServerCpu(share)) = run.ended else { panic!("{:?}", run.ended) };
    assert!((share - 0.25).abs() < 0.001, "{share}");
    assert!((25.9..=26.1).contains(&run.elapsed.as_secs_f64()), "{:?}", run.elapsed);
    assert_eq!(run.users, 54, "one at the start and two each second, and one each 20 s");
    let series = run.timeline.series();
    assert_eq!((series[9].users, series[9].server_rss_bytes), (Some(21), Some(10)));
    assert!((series[9].server_cpu_share.unwrap() - 0.09).abs() < 0.001);
}

#[tokio::test(start_paused = true)]
async fn arrivals_come_whatever_the_server_does() {
    let pace = Pace::Arrivals(Arrivals::constant(100.0));
    let run = drive(&plan(pace, 50, Stop::after(10 * SECOND)), |_, _| (ms(100), true)).await;
    assert_eq!((run.record.requests, run.missed), (1_000, (0, 0)));
    for (index, seen) in run.seen.iter().enumerate() {
        assert!(seen.at.abs_diff(ms(10 * index as u64)) <= ms(1), "{index}: {:?}", seen.at);
    }
    // Little's law: 100 a second that take 0.1 s each are 10 at a time. No more connections are opened than that needs.
    assert!((10..=11).contains(&run.most_busy) && run.connected <= 12, "{} {}", run.most_busy, run.connected);
}

#[tokio::test(start_paused = true)]
async fn random_arrivals_are_a_poisson_process() {
    let arrivals = Arrivals { spacing: Spacing::Poisson, ..Arrivals::constant(50.0) };
    let run = drive(&plan(Pace::Arrivals(arrivals), 100, Stop::after(400 * SECOND)), |_, _| (ms(5), true)).await;
    let counts: Vec<f64> = run.per_second()[..400].iter().map(|count| *count as f64).collect();
    let mean = counts.iter().sum::<f64>() / 400.0;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 399.0;
    // Mean and variance of the counts are equal, within four standard errors of each.
    assert!((mean - 50.0).abs() < 1.5 && (variance / mean - 1.0).abs() < 0.3, "{mean} {variance}");
}

#[tokio::test(start_paused = true)]
async fn a_profile_ramps_steps_and_spikes() {
    let stages = vec![
        Stage { time: 10 * SECOND, from: 0.0, to: 100.0 },
        Stage { time: 5 * SECOND, from: 100.0, to: 100.0 },
        Stage { time: SECOND, from: 500.0, to: 500.0 },
        Stage { time: SECOND, from: 50.0, to: 50.0 },
    ];
    let arrivals = Arrivals { stages, ..Arrivals::constant(0.0) };
    let run = drive(&plan(Pace::Arrivals(arrivals), 100, Stop::after(18 * SECOND)), |_, _| (ms(5), true)).await;
    let counts = run.per_second();
    for (second, expected) in [(0, 5), (4, 45), (9, 95), (10, 100), (14, 100), (15, 500), (16, 50), (17, 50)] {
        assert!(counts[second].abs_diff(expected) <= 1, "{counts:?}");
    }
}

/// Answers in 1 ms, but stalls from 5 s to 7 s.
fn stalling(_: usize, at: Duration) -> (Duration, bool) {
    let stands_still = at >= 5 * SECOND && at < 7 * SECOND;
    (if stands_still { 7 * SECOND - at } else { Duration::ZERO } + ms(1), true)
}

#[tokio::test(start_paused = true)]
async fn a_stall_shows_in_all_it_delayed_and_only_there() {
    // 100 a second for 10 s: 200 of 1,000 are due during the stall.
    let pace = Pace::Arrivals(Arrivals::constant(100.0));
    let open = drive(&plan(pace, 1, Stop::after(10 * SECOND)), stalling).await;
    assert_eq!((open.record.requests, open.missed), (1_000, (0, 0)));
    let longer_than = |run: &Simulated, time: Duration| {
        let values = run.record.latency.iter_recorded();
        let long = values.filter(|value| value.value_iterated_to() as u128 > time.as_nanos());
        long.map(|value| value.count_at_value()).sum::<u64>()
    };
    // Requests of the last 100 ms of the stall wait less; those right after it wait for those before them.
    assert!(longer_than(&open, ms(500)).abs_diff(170) <= 5, "{}", longer_than(&open, ms(500)));
    assert!((1_000..=1_400).contains(&open.latency_ms(0.9)), "{}", open.latency_ms(0.9));
    assert!(open.latency_ms(1.0).abs_diff(2_001) <= 3, "{}", open.latency_ms(1.0));
    // Counted from the actual sending, only one request was slow, so the stall is hidden: coordinated omission.
    assert_eq!(open.service_ms(0.99), 2);
    assert!(open.service_ms(1.0).abs_diff(2_001) <= 3);

    // A closed workload at the same rate sends nothing during the stall, so it shows only one slow request.
    let closed = drive(&plan(Pace::Think(Think::Fixed(ms(9))), 1, Stop::after(10 * SECOND)), stalling).await;
    assert_eq!(longer_than(&closed, ms(10)), 1);
    assert_eq!(closed.latency_ms(0.99), 2);
}

#[tokio::test(start_paused = true)]
async fn arrivals_that_find_everybody_busy_are_dropped_and_counted() {
    let arrivals = Arrivals { when_busy: WhenBusy::Drop, ..Arrivals::constant(100.0) };
    let run = drive(&plan(Pace::Arrivals(arrivals), 5, Stop::after(10 * SECOND)), stalling).await;
    // Five requests are in flight when the stall begins at 5 s. All other arrivals of those two seconds are dropped.
    assert_eq!(run.missed.0, 0);
    assert!(run.missed.1.abs_diff(195) <= 2, "{:?}", run.missed);
    assert_eq!(run.record.requests + run.missed.1, 1_000);
    assert_eq!(run.most_busy, 5);
    assert!(run.latency_ms(0.99) <= 2, "those that were sent did not wait");
}

/// The user who became free last was asked first, and arrivals due before that were dropped although other users had been free.
#[tokio::test(start_paused = true)]
async fn nothing_is_dropped_while_somebody_is_free() {
    // Several requests are due in each millisecond, the resolution of this clock; about 15 are in flight.
    let arrivals = Arrivals { when_busy: WhenBusy::Drop, ..Arrivals::constant(5_000.0) };
    let run = drive(&plan(Pace::Arrivals(arrivals), 100, Stop::after(SECOND)), |_, _| (ms(2), true)).await;
    assert!(run.most_busy < 30, "{}", run.most_busy);
    assert_eq!((run.record.requests, run.missed), (5_000, (0, 0)));
}

/// Arrivals after the last request were once counted as dropped, or as waiting.
#[tokio::test(start_paused = true)]
async fn nothing_is_missed_once_all_requests_are_sent() {
    for when_busy in [WhenBusy::Drop, WhenBusy::Wait] {
        let arrivals = Arrivals { when_busy, ..Arrivals::constant(100.0) };
        let stop = Stop { requests: Some(50), ..Stop::after(2 * SECOND) };
        for connections in [1, 10] {
            let run = drive(&plan(Pace::Arrivals(arrivals.clone()), connections, stop), |_, _| (ms(5), true)).await;
            assert_eq!((run.record.requests, run.missed), (50, (0, 0)), "{when_busy:?}, {connections}");
            // The run once lasted until its time limit, and throughput was computed for all of that time.
            assert!(run.elapsed < SECOND, "{:?}", run.elapsed);
        }
        // No arrival after a last request that takes long is missed.
        let slow: Behaviour = |index, _| (if index == 49 { SECOND } else { ms(5) }, true);
        let run = drive(&plan(Pace::Arrivals(arrivals), 1, stop), slow).await;
        assert_eq!((run.record.requests, run.missed), (50, (0, 0)), "{when_busy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_that_is_too_high_is_reported() {
    let pace = Pace::Arrivals(Arrivals::constant(1_000.0));
    let run = drive(&plan(pace, 10, Stop::after(SECOND)), |_, _| (ms(100), true)).await;
    assert_eq!(run.record.requests + run.missed.0, 1_000);
    assert_eq!(run.record.requests, 100, "ten at a time, each 0.1 s");
    // The last request waited nearly the whole second: due at 0.1 s, sent at 0.9 s.
    assert!(run.latency_ms(1.0).abs_diff(900) <= 15, "{}", run.latency_ms(1.0));
}

#[tokio::test(start_paused = true)]
async fn each_user_sends_its_list_in_order() {
    let plan = plan(Pace::Closed, 3, Stop::requests(30));
    let run = drive_list(&plan, 5, |_| 0.0, |index, _| (ms(1 + index as u64 % 3), true)).await;
    assert_eq!(run.seen.len(), 30);
    for user in 0..3 {
        let numbers = run.seen.iter().filter(|seen| seen.user == user).map(|seen| seen.number);
        assert!(numbers.zip((0..5).cycle()).all(|(number, expected)| number == expected));
    }
}

#[tokio::test(start_paused = true)]
async fn errors_are_counted_and_end_a_run_when_asked() {
    let behaviour: Behaviour = |index, _| (ms(10), index % 10 != 9);
    let all = drive(&plan(Pace::Closed, 1, Stop::requests(100)), behaviour).await;
    assert_eq!((all.record.requests, all.record.errors, all.ended), (90, 10, None));
    let stopped = drive(&plan(Pace::Closed, 1, Stop::requests(100).or_errors(3)), behaviour).await;
    assert_eq!((stopped.record.requests, stopped.record.errors), (27, 3));
    assert_eq!(stopped.ended, Some(End::Errors(3)));
    let errors: Vec<u64> = stopped.timeline.series().iter().map(|interval| interval.errors).collect();
    assert_eq!(errors, [3]);
}

/// Returns how many users sent something in the middle of each second.
fn senders(run: &Simulated) -> Vec<usize> {
    let of = |second: u64| {
        let middle = ms(1_000 * second + 100)..ms(1_000 * second + 900);
        let seen = run.seen.iter().filter(|seen| middle.contains(&seen.at));
        seen.map(|seen| seen.user).collect::<std::collections::BTreeSet<_>>().len()
    };
    (0..run.elapsed.as_secs()).map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn users_begin_and_end_on_demand() {
    let plan = Plan { start: Start::OnDemand, ..plan(Pace::Closed, 100, Stop::default()) };
    let wishes =
        [(SECOND, Some(2)), (2 * SECOND, Some(5)), (4 * SECOND, Some(1)), (5 * SECOND, Some(3)), (ms(6_005), None)];
    let run = drive_led(&plan, 3, |_| 0.0, |_, _| (ms(10), true), &wishes).await;
    // A request that is under way when its user is to end is finished.
    assert_eq!(senders(&run), [0, 2, 5, 5, 1, 3]);
    assert!((ms(6_005)..ms(6_020)).contains(&run.elapsed), "{:?}", run.elapsed);
    assert_eq!((run.most_busy, run.record.errors, run.ended), (5, 0, Some(End::Interrupted)));
    assert_eq!(run.record.requests as usize, run.seen.len());
    // Users who come back go on where they ended, with the connection that they had.
    assert_eq!((run.connected, run.users), (5, 3));
    for user in 0..5 {
        let numbers = run.seen.iter().filter(|seen| seen.user == user).map(|seen| seen.number);
        assert!(numbers.enumerate().all(|(index, number)| number == index % 3), "{user}");
    }
}

#[tokio::test(start_paused = true)]
async fn users_who_think_end_at_once_if_they_are_not_wanted() {
    let pace = Pace::Think(Think::Fixed(60 * SECOND));
    let plan = Plan { start: Start::OnDemand, ..plan(pace, 10, Stop::default()) };
    let wishes = [(Duration::ZERO, Some(4)), (SECOND, Some(0)), (2 * SECOND, Some(1)), (90 * SECOND, None)];
    let run = drive_led(&plan, 1, |_| 0.0, |_, _| (ms(10), true), &wishes).await;
    // The one that came back has thought anew.
    let seen: Vec<_> = run.seen.iter().map(|seen| (seen.user, seen.at)).collect();
    assert_eq!((seen, run.elapsed), (vec![(0, 62 * SECOND)], 90 * SECOND));
}

/// Drivers that divide a plan once numbered their users from 0 each, so users began in groups.
#[tokio::test(start_paused = true)]
async fn drivers_that_divide_a_plan_send_what_one_would() {
    let spread = Plan { start: Start::Within(SECOND), ..plan(Pace::Every(SECOND), 20, Stop::after(ms(4_525))) };
    let open = plan(Pace::Arrivals(Arrivals::constant(20.0)), 20, Stop::requests(90));
    for whole in [spread, open] {
        let seen = async |division| {
            let run = drive(&Plan { division, ..whole.clone() }, |_, _| (ms(10), true)).await;
            // Which user sends an arrival doesn't matter.
            let is_open = matches!(whole.pace, Pace::Arrivals(_));
            run.seen.iter().map(|seen| (seen.at, if is_open { 0 } else { seen.user })).collect::<Vec<_>>()
        };
        let alone = seen(Division::default()).await;
        assert!(alone.len() >= 90);
        for count in [2, 3, 7, 20] {
            let mut all = Vec::new();
            for number in 0..count {
                all.extend(seen(Division { number, count }).await);
            }
            all.sort_unstable();
            assert_eq!(all, alone, "{count} drivers");
        }
    }
}

/// A master divides its users among its workers, who begin when the master says. They measure what one driver with all users would.
#[tokio::test(start_paused = true)]
async fn merged_workers_measure_what_one_driver_does() {
    const USERS: usize = 1_000;
    // The server is slower at some times than at others, whoever asks.
    let behaviour: Behaviour = |_, at| (ms(20 + 300 * u64::from(at.as_millis() / 100 % 10 == 3)), at.as_secs() != 6);
    let steps: [Wish; 6] = [1, 2, 3, 4, 5, 6].map(|step| (ms(730 * step), Some(USERS * step as usize / 6)));
    let plan = |users| Plan { start: Start::OnDemand, ..plan(Pace::Every(SECOND), users, Stop::default()) };
    let drive = async |workers: usize, worker: usize| {
        let share = |users: usize| (users + workers - 1 - worker) / workers;
        let wishes = steps.map(|(at, users)| (at, users.map(share))).into_iter().chain([(ms(9_550), None)]);
        drive_led(&plan(share(USERS)), 1, |_| 0.0, behaviour, &wishes.collect::<Vec<_>>()).await
    };
    let alone = drive(1, 0).await;
    assert!(alone.record.requests > 5_000 && alone.record.errors > 500);
    for workers in [10, 100, 1_000] {
        let (mut merged, mut seen) = (Recorder::default(), 0);
        for worker in 0..workers {
            let run = drive(workers, worker).await;
            seen += run.seen.len();
            merged.merge(run.record);
        }
        assert_eq!((merged.requests, merged.errors), (alone.record.requests, alone.record.errors), "{workers}");
        assert_eq!(seen, alone.seen.len(), "{workers}");
        assert_eq!(merged.latency, alone.record.latency, "{workers}");
        assert_eq!(merged.service, alone.record.service, "{workers}");
    }
}
