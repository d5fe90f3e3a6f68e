//! One run: a case, an endpoint, a plan, and the one loop that sends requests.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use crate::alarm::Alarm;
use crate::connection::{Connection, Failure};
use crate::response::Response;
use crate::schedule::Schedule;
use crate::{Case, Endpoint, Error, ErrorKind, Pace, Recorder, Stop, usage};

/// A connection that was refused is not tried again at once: a closed loop would do nothing else.
const RECONNECT_PAUSE: Duration = Duration::from_millis(10);

/// How a case is driven.
#[derive(Clone, Debug)]
pub struct Plan {
    /// When requests are sent.
    pub pace: Pace,
    /// When the run ends.
    pub stop: Stop,
    /// Connections open at a time, each with at most one request under way.
    pub connections: usize,
    /// Whether a connection serves more than one request.
    pub keep_alive: bool,
    /// Threads of the driver; the connections are shared out among them.
    pub threads: usize,
    /// How long a request may take, its connection included.
    pub timeout: Duration,
    /// One of this many answers is decoded and compared, beside the first of each connection.
    pub verify_one_in: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            pace: Pace::Closed,
            stop: Stop::After(Duration::from_secs(1)),
            connections: 1,
            keep_alive: true,
            threads: 1,
            timeout: Duration::from_secs(10),
            verify_one_in: 1000,
        }
    }
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Counts, latencies and errors.
    pub record: Recorder,
    /// From the start of the run to the end of its last request.
    pub elapsed: Duration,
    /// Requests that were due within the run but found no free connection; only when arrivals are scheduled.
    pub unsent: u64,
    /// User and system time of this process during the run; `None` where it can't be measured.
    pub driver_cpu: Option<Duration>,
}

impl Outcome {
    /// Right answers per second.
    pub fn requests_per_second(&self) -> f64 {
        self.record.requests as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Sends one request and gives the body of its answer, found right by the case.
pub(crate) async fn ask(case: &Case, endpoint: &Endpoint, timeout: Duration) -> Result<Bytes, Error> {
    let wrong = |what: String| {
        let Case { suite, name, .. } = case;
        let authority = &endpoint.authority;
        Error::new(ErrorKind::Answer, format!("{suite} {name} at {authority}: {what}"))
    };
    let case = case.at(endpoint);
    let mut connection = Connection::new(endpoint.clone(), timeout);
    let request = case.request(&endpoint.authority, false);
    let response = connection.exchange(&request).await.map_err(|failure| wrong(failure.to_string()))?;
    let body = connection.body(&response);
    if response.status != 200 {
        return Err(wrong(wrong_status(&response, body)));
    }
    (case.check)(body).map_err(wrong)?;
    Ok(Bytes::copy_from_slice(body))
}

fn wrong_status(response: &Response, body: &[u8]) -> String {
    let start = String::from_utf8_lossy(&body[..body.len().min(300)]);
    format!("status {}, expected 200: {start}", response.status)
}

/// The length that every answer to a case must have: that of its first answer whose content was found right.
/// It is shared by all runs of one case against one target.
#[derive(Clone, Debug, Default)]
pub struct ExpectedLength(Arc<AtomicUsize>);

impl ExpectedLength {
    const UNKNOWN: usize = 0;

    /// Length of the body in bytes, once it is known.
    pub fn get(&self) -> Option<usize> {
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => None,
            length => Some(length),
        }
    }

    fn learn(&self, length: usize) {
        // Whoever comes first decides; the others compare.
        let _ = self.0.compare_exchange(Self::UNKNOWN, length, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// A run under way on threads of its own. Dropping it stops the run.
#[derive(Debug)]
pub struct Run {
    schedule: Arc<Schedule>,
    workers: Vec<oneshot::Receiver<Result<Recorder, Error>>>,
    start: Instant,
    driver_cpu: Option<Duration>,
}

impl Run {
    /// Starts to drive `case` against `endpoint`.
    pub fn start(case: &Case, endpoint: &Endpoint, plan: &Plan, expected: &ExpectedLength) -> Result<Run, Error> {
        let driver_cpu = usage::own_cpu_time();
        let start = Instant::now();
        let schedule = Arc::new(Schedule::new(plan.pace, plan.stop, start));
        let threads = plan.threads.clamp(1, plan.connections.max(1));
        let mut run = Run { schedule: schedule.clone(), workers: Vec::new(), start, driver_cpu };
        let case = case.at(endpoint);
        for thread in 0..threads {
            let worker = Worker {
                request: case.request(&endpoint.authority, plan.keep_alive),
                case: case.clone(),
                endpoint: endpoint.clone(),
                schedule: schedule.clone(),
                expected: expected.clone(),
                connections: share(plan.connections, threads, thread),
                keep_alive: plan.keep_alive,
                timeout: plan.timeout,
                verify_one_in: plan.verify_one_in.max(1),
            };
            let (done, result) = oneshot::channel();
            std::thread::Builder::new()
                .name(format!("driver-{thread}"))
                .spawn(move || {
                    // Nobody listens any more when the run was dropped.
                    let _ = done.send(worker.run());
                })
                .map_err(|error| Error::new(ErrorKind::Machine, "no thread for the driver").because(error))?;
            run.workers.push(result);
        }
        Ok(run)
    }

    /// Counts while the run goes on.
    pub fn counter(&self) -> Counter {
        Counter(self.schedule.clone())
    }

    /// Waits for the end of the run.
    pub async fn finish(mut self) -> Result<Outcome, Error> {
        let mut record = Recorder::default();
        for worker in &mut self.workers {
            let part = worker
                .await
                .map_err(|error| Error::new(ErrorKind::Machine, "a thread of the driver panicked").because(error))??;
            record.merge(part);
        }
        let elapsed = self.start.elapsed();
        let driver_cpu = usage::own_cpu_time().zip(self.driver_cpu).map(|(after, before)| after.saturating_sub(before));
        Ok(Outcome { record, elapsed, unsent: self.schedule.unsent(), driver_cpu })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.schedule.cancel();
    }
}

/// How far a run has come.
#[derive(Clone, Debug)]
pub struct Counter(Arc<Schedule>);

impl Counter {
    /// Requests handed to connections so far.
    pub fn sent(&self) -> u64 {
        self.0.taken()
    }
}

/// The part of `total` that the thread of this index takes.
fn share(total: usize, threads: usize, index: usize) -> usize {
    total / threads + usize::from(index < total % threads)
}

/// One thread of the driver.
struct Worker {
    case: Case,
    endpoint: Endpoint,
    request: Bytes,
    schedule: Arc<Schedule>,
    expected: ExpectedLength,
    connections: usize,
    keep_alive: bool,
    timeout: Duration,
    verify_one_in: u64,
}

impl Worker {
    fn run(self) -> Result<Recorder, Error> {
        let machine = |error| Error::new(ErrorKind::Machine, "the driver has no event loop").because(error);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().map_err(machine)?;
        let recorder = Rc::new(RefCell::new(Recorder::default()));
        let worker = Rc::new(self);
        let tasks = LocalSet::new();
        let result = tasks.block_on(&runtime, async {
            let loops: Vec<_> = (0..worker.connections)
                .map(|_| tokio::task::spawn_local(drive(worker.clone(), recorder.clone())))
                .collect();
            for task in loops {
                match task.await {
                    Ok(result) => result.map_err(machine)?,
                    Err(error) => std::panic::resume_unwind(error.into_panic()),
                }
            }
            Ok(())
        });
        result.map(|()| recorder.take())
    }

    /// Says what is wrong with a response, and notes how long right ones are.
    fn judge(&self, connection: &Connection, response: &Response, recorder: &mut Recorder) -> Result<(), String> {
        let body = connection.body(response);
        if response.status != 200 {
            return Err(wrong_status(response, body));
        }
        let expected = self.expected.get();
        if let Some(expected) = expected
            && expected != body.len()
        {
            return Err(format!("body of {} bytes, expected {expected}", body.len()));
        }
        let counted = recorder.requests + recorder.errors;
        if expected.is_none() || connection.is_first_response() || counted.is_multiple_of(self.verify_one_in) {
            (self.case.check)(body)?;
            recorder.verified += 1;
            self.expected.learn(body.len());
        }
        Ok(())
    }
}

/// The request loop: one connection, from its first request to its last.
async fn drive(worker: Rc<Worker>, recorder: Rc<RefCell<Recorder>>) -> std::io::Result<()> {
    let mut connection = Connection::new(worker.endpoint.clone(), worker.timeout);
    let mut alarm = Alarm::default();
    let mut now = Instant::now();
    while let Some(due) = worker.schedule.next(now) {
        if due > now {
            alarm.wait_until(due).await?;
        }
        let result = connection.exchange(&worker.request).await;
        now = Instant::now();
        {
            let mut recorder = recorder.borrow_mut();
            let judged = match &result {
                Ok(response) => worker.judge(&connection, response, &mut recorder),
                Err(failure) => Err(failure.to_string()),
            };
            match judged {
                Ok(()) => recorder.answer(now - due),
                Err(message) => recorder.error(|| message),
            }
        }
        // Neither closing nor pausing is part of the next request.
        match &result {
            Ok(response) if response.close || !worker.keep_alive => connection.close(response).await,
            Err(Failure::Connect(_)) => tokio::time::sleep(RECONNECT_PAUSE).await,
            _ => continue,
        }
        now = Instant::now();
    }
    Ok(())
}
