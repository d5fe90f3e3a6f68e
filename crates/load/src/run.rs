//! One run of a case against an endpoint by a plan, on threads of the driver's own.

use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::iter::{Skip, StepBy};
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use crate::alarm::Alarm;
use crate::background::BackgroundLoad;
use crate::clock::{Clock, CoarseClock, SystemClock};
use crate::connection::Failure;
use crate::drive::{Begun, Thread};
use crate::exchange::{Exchange, Judged, RawExchange, RawRequests, ScriptedExchange, TypedExchange};
use crate::placement::Cores;
use crate::schedule::Schedule;
use crate::timeline::{self, Timeline};
use crate::typed::User;
use crate::usage::{self, Usage};
use crate::{Case, End, Endpoint, Error, ErrorKind, Expected, Placement, Plan, Recorder, Requests, Stop};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Counts, latencies and errors.
    pub record: Recorder,
    /// The run interval by interval.
    pub timeline: Arc<Timeline>,
    /// From the start of the measurement to the end of the last request.
    pub elapsed: Duration,
    /// Arrivals that were due within the run but found no free user. Only counted if arrivals wait.
    pub unsent: u64,
    /// Arrivals that were dropped because every user was busy.
    pub dropped: u64,
    /// The number of users who began.
    pub users: usize,
    /// The number of users who sent something, each over its own connection.
    pub opened: usize,
    /// Why the run ended early, if it did.
    pub ended: Option<End>,
    /// The error of the first failed request, including the warm-up.
    pub first_error: Option<String>,
    /// User and system time of this process during the measurement; `None` if it is not known.
    pub driver_cpu: Option<Duration>,
    /// User and system time of the server's process, if it is observed.
    pub server_cpu: Option<Duration>,
    /// The share of the server's or the driver's cores, whichever is larger, that other processes used. `None` if they have no
    /// cores of their own, or if the time was too short.
    pub others: Option<f64>,
}

impl Outcome {
    /// Returns the outcome of a run that took this long and did nothing.
    pub(crate) fn empty(elapsed: Duration) -> Self {
        Outcome {
            record: Recorder::default(),
            timeline: Arc::new(Timeline::new(None)),
            elapsed,
            unsent: 0,
            dropped: 0,
            users: 0,
            opened: 0,
            ended: None,
            first_error: None,
            driver_cpu: None,
            server_cpu: None,
            others: None,
        }
    }

    /// Returns right answers per second.
    pub fn requests_per_second(&self) -> f64 {
        self.record.requests as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// A run in progress on its own threads. Dropping it stops the run and gives up the requests that are under way. Its crew then has no users
/// any more.
#[derive(Debug)]
pub struct Run {
    schedule: Arc<Schedule>,
    timeline: Arc<Timeline>,
    workers: Vec<oneshot::Receiver<Result<(), Error>>>,
    askers: Arc<[UnboundedSender<Asked>]>,
    server: Option<(u32, Placement)>,
    untaken: Untaken,
}

impl Run {
    /// Starts to drive `case` against `endpoint`.
    pub fn start(case: &Case, endpoint: &Endpoint, plan: &Plan, expected: &Expected) -> Result<Run, Error> {
        Ok(Crew::start(case, endpoint, plan, expected)?.run(plan.warmup, plan.stop, None, None))
    }

    /// Measures the CPU time of the server's process during the run, and how much of its cores other processes use.
    pub fn observe(&mut self, process: u32, placement: &Placement) {
        self.server = Some((process, placement.clone()));
    }

    /// Returns a counter, which can be read during the run.
    pub fn counter(&self) -> Counter {
        Counter {
            schedule: self.schedule.clone(),
            timeline: self.timeline.clone(),
            askers: self.askers.clone(),
            untaken: self.untaken.clone(),
            empty: Arc::default(),
        }
    }

    /// Waits for the end of the run.
    pub async fn finish(mut self) -> Result<Outcome, Error> {
        let server = self.server.take();
        let process = server.as_ref().map(|(process, _)| *process);
        let others = server.as_ref().map(|(process, placement)| BackgroundLoad::for_server(*process, true, placement));
        let before = Cell::new(None);
        let measured = self.schedule.measured;
        let look = async {
            tokio::time::sleep_until(measured.into()).await;
            before.set(others.as_ref().map(BackgroundLoad::sample));
            std::future::pending::<Infallible>().await
        };
        let observer = Observer {
            clock: CoarseClock,
            schedule: self.schedule.clone(),
            timeline: self.timeline.clone(),
            cores: server.as_ref().map_or(1, |(_, placement)| placement.server_cores()),
            driver: usage::own_cpu_time,
            server: || Usage::of(process?),
            begun: Cell::default(),
        };
        tokio::select! {
            ended = self.ended() => ended?,
            never = observer.run() => match never {},
            never = look => match never {},
        }
        let others = others.as_ref().zip(before.take()).and_then(|(others, before)| others.share_since(&before));
        let elapsed = self.schedule.measured.elapsed();
        self.timeline.finish(self.schedule.length(elapsed));
        let is_whole = self.schedule.time_limit().is_some_and(|limit| Instant::now() >= limit);
        let (record, took) = self.untaken.take();
        // A run that ends by the clock takes the planned time.
        let elapsed = elapsed + if is_whole { Duration::ZERO } else { took };
        let (driver_cpu, server_cpu) = observer.used();
        let (unsent, dropped) = self.schedule.missed();
        Ok(Outcome {
            record,
            timeline: self.timeline.clone(),
            elapsed,
            unsent,
            dropped,
            users: self.schedule.users(),
            opened: self.schedule.opened(),
            ended: self.schedule.ended(),
            first_error: self.schedule.first_error().map(str::to_owned),
            driver_cpu,
            server_cpu,
            others,
        })
    }

    /// Completes when all threads have ended, or when one has failed.
    async fn ended(&mut self) -> Result<(), Error> {
        poll_fn(|cx| {
            let mut result = Ok(());
            self.workers.retain_mut(|worker| {
                let Poll::Ready(ended) = pin!(worker).poll(cx) else { return true };
                if let Err(error) = ended.map_err(thread_panicked).and_then(|ended| ended) {
                    result = Err(error);
                }
                false
            });
            match result {
                Ok(()) if !self.workers.is_empty() => Poll::Pending,
                result => Poll::Ready(result),
            }
        })
        .await
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.schedule.finish(End::Interrupted, Instant::now());
    }
}

/// Records that no thread has any more: those of threads that have ended, and of the request before the start, with the time that it took.
/// Each is taken once, during the run or at its end.
#[derive(Clone, Debug, Default)]
struct Untaken(Arc<Mutex<Vec<(Recorder, Duration)>>>);

impl Untaken {
    fn add(&self, record: Recorder, took: Duration) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((record, took));
    }

    fn take(&self) -> (Recorder, Duration) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut sum = (Recorder::default(), Duration::ZERO);
        for (record, took) in all {
            sum.0.merge(record);
            sum.1 += took;
        }
        sum
    }
}

/// Asks a thread for its records since the last time, and for its number of requests under way. It goes on with this empty record.
type Asked = (Recorder, oneshot::Sender<(Recorder, u64)>);

/// Shows the progress of a run, and can end it.
#[derive(Clone, Debug)]
pub struct Counter {
    schedule: Arc<Schedule>,
    timeline: Arc<Timeline>,
    askers: Arc<[UnboundedSender<Asked>]>,
    untaken: Untaken,
    /// Records for the threads to go on with.
    empty: Arc<Mutex<Vec<Recorder>>>,
}

impl Counter {
    /// Returns how many requests users have taken so far.
    pub fn sent(&self) -> u64 {
        self.schedule.taken()
    }

    /// Returns how long the measurement has lasted; zero during the warm-up.
    pub fn measured(&self) -> Duration {
        self.schedule.measured.elapsed()
    }

    /// Returns how many requests failed so far.
    pub fn errors(&self) -> u64 {
        self.schedule.errors()
    }

    /// Returns how many users have begun; `None` for an open workload, where it doesn't matter which user sends a request.
    pub fn users(&self) -> Option<usize> {
        (!self.schedule.has_arrivals()).then(|| self.schedule.users())
    }

    /// Asks for this many users, if the plan starts them [on demand](crate::Start::OnDemand): further users begin now, and superfluous ones
    /// end after their current request.
    pub fn want(&self, users: usize) {
        self.schedule.want(users);
    }

    /// Takes what was recorded since the last call out of the run, and counts the requests that are under way. The outcome has only what
    /// nobody took.
    pub async fn take(&self) -> (Recorder, u64) {
        let (mut record, mut in_flight) = (Recorder::default(), 0);
        for asker in &*self.askers {
            let (asked, answer) = oneshot::channel();
            let empty = self.empty().pop().unwrap_or_default();
            let _ = asker.send((empty, asked));
            if let Ok((mut its_record, its_in_flight)) = answer.await {
                record.add(&its_record);
                in_flight += its_in_flight;
                its_record.clear();
                self.empty().push(its_record);
            }
        }
        // A thread that doesn't answer has left its record there.
        record.merge(self.untaken.take().0);
        (record, in_flight)
    }

    fn empty(&self) -> MutexGuard<'_, Vec<Recorder>> {
        self.empty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run. Answers to requests in flight are still awaited.
    pub fn interrupt(&self) {
        self.schedule.finish(End::Interrupted, Instant::now());
    }

    /// Returns the run interval by interval.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }
}

/// Samples driver and server at each interval.
pub(crate) struct Observer<C, D, S> {
    pub(crate) clock: C,
    pub(crate) schedule: Arc<Schedule>,
    pub(crate) timeline: Arc<Timeline>,
    /// The number of the server's cores.
    pub(crate) cores: usize,
    pub(crate) driver: D,
    pub(crate) server: S,
    /// What driver and server had used when the measurement began.
    pub(crate) begun: Cell<(Option<Duration>, Option<Usage>)>,
}

impl<C: Clock, D: Fn() -> Option<Duration>, S: Fn() -> Option<Usage>> Observer<C, D, S> {
    /// Samples forever.
    pub(crate) async fn run(&self) -> Infallible {
        let start = self.schedule.measured;
        self.clock.wait_until(start).await;
        let (mut before, mut at) = ((self.server)(), start);
        self.begun.set(((self.driver)(), before));
        let tick = self.timeline.tick();
        loop {
            let number = timeline::number(at - start, tick);
            self.clock.wait_until(start + tick * (number as u32 + 1)).await;
            let (usage, now) = ((self.server)(), self.clock.now());
            let used = usage.zip(before).map(|(usage, before)| usage.cpu.saturating_sub(before.cpu));
            let share = used.map(|used| used.as_secs_f64() / ((now - at).as_secs_f64() * self.cores.max(1) as f64));
            self.timeline.sample(number, self.schedule.users(), usage, share);
            if let Some(share) = share {
                self.schedule.server_cpu(share, now);
            }
            (before, at) = (usage, now);
        }
    }

    /// Returns what driver and server have used since the measurement began.
    fn used(&self) -> (Option<Duration>, Option<Duration>) {
        let (driver, server) = self.begun.get();
        let driver = (self.driver)().zip(driver).map(|(after, before)| after.saturating_sub(before));
        let server = (self.server)().zip(server).map(|(after, before)| after.cpu.saturating_sub(before.cpu));
        (driver, server)
    }
}

/// The users of a case against one endpoint, on threads of the driver's own. They stay between runs and keep their
/// connections.
#[derive(Debug)]
pub struct Crew {
    plan: Plan,
    threads: Vec<mpsc::Sender<Job>>,
}

impl Crew {
    /// Starts the threads. Nothing is sent yet.
    pub fn start(case: &Case, endpoint: &Endpoint, plan: &Plan, expected: &Expected) -> Result<Self, Error> {
        if case.count() == 0 {
            return Err(Error::new(ErrorKind::Input, format!("{} {} sends nothing", case.suite, case.name)));
        }
        usage::allow_descriptors();
        let mut crew = Crew { plan: plan.clone(), threads: Vec::new() };
        let threads = plan.threads();
        for thread in 0..threads {
            let (sender, jobs) = mpsc::channel();
            let event_loop = EventLoop::new()?;
            let worker = Worker {
                case: case.clone(),
                endpoint: endpoint.clone(),
                plan: plan.clone(),
                expected: expected.clone(),
                users: plan.users().skip(thread).step_by(threads),
                jobs,
            };
            std::thread::Builder::new()
                .name(format!("driver-{thread}"))
                .spawn(move || worker.run(event_loop))
                .map_err(|error| Error::new(ErrorKind::Machine, "no thread for the driver").because(error))?;
            crew.threads.push(sender);
        }
        Ok(crew)
    }

    /// Starts a run by the plan. The previous run must be over. The first request is sent alone, and counts.
    ///
    /// # Errors
    /// The first request was refused, as all others would be: there is no connection, or nothing at this URL or for this client.
    pub async fn begin(&self) -> Result<Run, Error> {
        Ok(self.begin_after(self.first().await?))
    }

    /// Starts a run by the plan after the first request, which counts.
    pub fn begin_after(&self, first: Option<First>) -> Run {
        self.run(self.plan.warmup, self.plan.stop, None, first)
    }

    /// Lets the first user send its first request, before a run and alone. Returns `None` if it has none.
    ///
    /// # Errors
    /// The request was refused, as all others would be: there is no connection, or nothing at this URL or for this client.
    pub async fn first(&self) -> Result<Option<First>, Error> {
        let (done, result) = oneshot::channel();
        // If the thread has ended, the receiver reports it.
        let _ = self.threads[0].send(Job::First(done));
        result.await.map_err(thread_panicked)?
    }

    /// Starts a run on these cores, or on those of the thread that started the crew. The previous run must be over. The run
    /// continues even if the crew is dropped. The request that was sent before is counted as the first of the run, or of its
    /// warm-up.
    pub(crate) fn run(&self, warmup: Duration, stop: Stop, cores: Option<Cores>, first: Option<First>) -> Run {
        let plan = Plan { warmup, stop, ..self.plan.clone() };
        let schedule = Arc::new(Schedule::new(&plan, Instant::now()));
        let timeline = Arc::new(Timeline::new(stop.after));
        let begun = first.as_ref().map_or(Begun::default(), |first| Begun { had: 1, is_open: first.was_sent });
        if let Some(First { judged, was_sent, .. }) = &first {
            schedule.take_first(*was_sent, judged.as_ref().err().map(String::as_str));
        }
        let untaken = Untaken::default();
        if let Some((record, took)) = first.map(|first| first.noted(warmup.is_zero())) {
            untaken.add(record, took);
        }
        let (mut workers, mut askers) = (Vec::new(), Vec::new());
        for thread in &self.threads {
            let (done, result) = oneshot::channel();
            let (asker, asked) = unbounded_channel();
            let (schedule, timeline, untaken) = (schedule.clone(), timeline.clone(), untaken.clone());
            // If the thread has ended, the receiver reports it and the run fails.
            let part =
                Part { plan: plan.clone(), schedule, timeline, begun, cores: cores.clone(), asked, untaken, done };
            let _ = thread.send(Job::Part(Box::new(part)));
            workers.push(result);
            askers.push(asker);
        }
        Run { schedule, timeline, workers, askers: askers.into(), server: None, untaken }
    }
}

fn thread_panicked(error: oneshot::error::RecvError) -> Error {
    Error::new(ErrorKind::Machine, "a thread of the driver panicked").because(error)
}

/// The result of the request that was sent before a run.
#[derive(Debug)]
pub struct First {
    judged: Result<Judged, String>,
    was_sent: bool,
    took: Duration,
    /// The part of a mix that it belongs to.
    part: Option<usize>,
}

impl First {
    /// Returns its record and how long it took; a right answer only if it `counts`. A wrong answer is an error at any time.
    fn noted(self, counts: bool) -> (Recorder, Duration) {
        let mut record = Recorder::default();
        let note = |record: &mut Recorder| match &self.judged {
            Ok(judged) if counts => record.answer(judged, self.took, self.took),
            Ok(_) => {}
            Err(why) => record.error(self.was_sent, why),
        };
        note(&mut record);
        if let Some(part) = self.part {
            note(record.part(part));
        }
        record.warmup_errors += u64::from(!counts && self.judged.is_err());
        (record, if counts { self.took } else { Duration::ZERO })
    }
}

/// A job for a thread.
enum Job {
    /// The first request of the first user.
    First(oneshot::Sender<Result<Option<First>, Error>>),
    Part(Box<Part>),
}

/// A thread's part of a run.
struct Part {
    plan: Plan,
    schedule: Arc<Schedule>,
    timeline: Arc<Timeline>,
    begun: Begun,
    cores: Option<Cores>,
    asked: UnboundedReceiver<Asked>,
    untaken: Untaken,
    done: oneshot::Sender<Result<(), Error>>,
}

/// The runtime and the timer of a thread. They are created before users begin, who may use all remaining file descriptors.
struct EventLoop {
    runtime: Runtime,
    alarm: Alarm,
}

impl EventLoop {
    fn new() -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(no_event_loop)?;
        let alarm = {
            let _guard = runtime.enter();
            Alarm::new().map_err(no_event_loop)?
        };
        Ok(EventLoop { runtime, alarm })
    }
}

/// One thread of the driver.
struct Worker {
    case: Case,
    endpoint: Endpoint,
    plan: Plan,
    expected: Expected,
    /// The numbers of its users.
    users: StepBy<Skip<StepBy<Range<usize>>>>,
    jobs: mpsc::Receiver<Job>,
}

impl Worker {
    fn run(self, event_loop: EventLoop) {
        let Worker { case, endpoint, plan, expected, .. } = &self;
        let (keep_alive, raw) = (plan.keep_alive, Rc::new(RawRequests::new(case, endpoint, plan, expected)));
        match case.requests.clone() {
            Requests::Raw(_) => self.serve(event_loop, move |user| RawExchange::new(raw.clone(), &user)),
            Requests::Typed { connect, .. } => {
                self.serve(event_loop, move |user| TypedExchange::new(connect.clone(), user, keep_alive));
            }
            Requests::Scripted { begin, .. } => {
                self.serve(event_loop, move |user| ScriptedExchange::new(begin(&user), &user, keep_alive));
            }
        }
    }

    /// Does its jobs one after the other, until the sender is dropped.
    fn serve<E: Exchange + 'static>(&self, event_loop: EventLoop, connect: impl Fn(User) -> E + 'static) {
        let EventLoop { runtime, mut alarm } = event_loop;
        let connect = Rc::new(connect);
        let local = LocalSet::new();
        let mut exchanges: Vec<Option<E>> = Vec::new();
        while let Ok(job) = self.jobs.recv() {
            let mut job = match job {
                Job::Part(part) => part,
                Job::First(mut done) => {
                    let first = async {
                        tokio::select! {
                            biased;
                            first = self.first(&mut exchanges, &connect) => Some(first),
                            () = done.closed() => None,
                        }
                    };
                    match local.block_on(&runtime, first) {
                        // The receiver is dropped after an interruption.
                        Some(first) => drop(done.send(first)),
                        None => exchanges.clear(),
                    }
                    continue;
                }
            };
            let result = job.cores.as_ref().map_or(Ok(()), Cores::enter).and_then(|()| {
                let work = self.work(&mut job, &mut alarm, &mut exchanges, &connect);
                local.block_on(&runtime, work)
            });
            let Some(record) = result.transpose() else { break };
            let result = record.map(|record| job.untaken.add(record, Duration::ZERO));
            // The receiver is dropped with the run.
            let _ = job.done.send(result);
        }
        // A client may need the runtime when it is dropped.
        let _guard = runtime.enter();
        drop(exchanges);
        drop(local);
    }

    async fn first<E: Exchange>(
        &self,
        exchanges: &mut Vec<Option<E>>,
        connect: &Rc<impl Fn(User) -> E>,
    ) -> Result<Option<First>, Error> {
        let refused = |why: &dyn fmt::Display| {
            Error::new(ErrorKind::Answer, format!("the first request failed, so no other was sent: {why}"))
        };
        if exchanges.is_empty() {
            exchanges.push(None);
        }
        let exchange = exchanges[0].get_or_insert_with(|| connect(self.user(self.plan.division.number)));
        let begun = Instant::now();
        let result = exchange.send(0).await;
        let took = begun.elapsed();
        let (judged, was_sent) = match result {
            Ok(()) => (exchange.judge(0, true), true),
            Err(Failure::Done) => return Ok(None),
            Err(failure) if failure.is_refusal() => {
                return Err(refused(&format_args!("{failure}, at {}", self.endpoint.address)));
            }
            Err(failure) => (Err(failure.to_string()), !failure.is_immediate()),
        };
        if let Err(why) = &judged
            && was_sent
            && exchange.is_refused()
        {
            return Err(refused(why));
        }
        exchange.rest().await;
        Ok(Some(First { judged, was_sent, took, part: self.case.parts().first().copied() }))
    }

    /// Returns the record; `None` if the run was dropped.
    async fn work<E: Exchange + 'static>(
        &self,
        job: &mut Part,
        alarm: &mut Alarm,
        exchanges: &mut Vec<Option<E>>,
        connect: &Rc<impl Fn(User) -> E + 'static>,
    ) -> Result<Option<Recorder>, Error> {
        let Part { plan, schedule, timeline, begun, asked, done, .. } = job;
        let clock = SystemClock::default();
        let thread = Thread::new(clock.clone(), schedule.clone(), plan.clone(), self.case.count(), timeline.clone());
        let thread = Rc::new(thread.with_parts(self.case.parts()).with_begun(*begun));
        let drive = |(number, mut exchange): (usize, Option<E>)| {
            let (thread, connect, user) = (thread.clone(), connect.clone(), self.user(number));
            tokio::task::spawn_local(async move {
                thread.drive(number, &mut exchange, || connect(user.clone())).await;
                exchange
            })
        };
        let all = async {
            let mut loops = Vec::new();
            let earlier = std::mem::take(exchanges).into_iter().chain(std::iter::repeat_with(|| None));
            for (number, exchange) in self.users.clone().zip(earlier) {
                // Users who may never be wanted take no memory.
                if !schedule.wanted(number).await {
                    break;
                }
                loops.push(drive((number, exchange)));
            }
            for user in loops {
                match user.await {
                    Ok(exchange) => exchanges.push(exchange),
                    Err(error) => std::panic::resume_unwind(error.into_panic()),
                }
            }
        };
        let answers = async {
            while let Some((empty, asker)) = asked.recv().await {
                // Who asked may have given up.
                let _ = asker.send(thread.take(empty));
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            () = all => Ok(Some(thread.finish())),
            () = done.closed() => Ok(None),
            never = answers => match never {},
            error = clock.run(alarm) => Err(no_event_loop(error)),
        }
    }

    fn user(&self, number: usize) -> User {
        User { number, endpoint: self.endpoint.clone(), source: self.plan.source(number), timeout: self.plan.timeout }
    }
}

fn no_event_loop(error: io::Error) -> Error {
    Error::new(ErrorKind::Machine, "the driver has no event loop").because(error)
}
