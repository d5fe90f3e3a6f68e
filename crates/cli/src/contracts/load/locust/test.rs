//! One test of a master, from its first user to its last answer.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use castile_load::{Counter, Crew, Error, Outcome, Progress, Recorder, Run};

type Boxed<T> = Pin<Box<dyn Future<Output = Result<T, Error>>>>;

/// What a test ends for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Another test may follow.
    Stop,
    /// The worker ends with this code.
    Quit { code: u8 },
}

/// A test that runs.
pub(super) struct Test {
    crew: Arc<Crew>,
    users: usize,
    state: State,
    /// What it ends for, and until when requests may be under way.
    ending: Option<(Ending, Instant)>,
    /// The live line, and what it calls the test.
    progress: Progress,
    label: String,
}

enum State {
    /// The first request is under way.
    Begins(Boxed<Run>),
    Runs(Counter, Boxed<Outcome>),
    /// No request is under way any more, and none will follow.
    Ended(Box<Outcome>),
}

/// What is left of a test.
pub(super) struct Rest {
    pub(super) record: Recorder,
    /// How many requests were given up.
    pub(super) in_flight: u64,
    pub(super) ending: Ending,
    /// The users with their connections, if they can take part in another test.
    pub(super) crew: Option<Arc<Crew>>,
}

impl Test {
    /// Begins with one request.
    pub(super) fn begin(crew: Arc<Crew>, label: String) -> Self {
        let begins = crew.clone();
        let state = State::Begins(Box::pin(async move { begins.begin().await }));
        // How long it takes is up to the master.
        Test { crew, users: 0, state, ending: None, progress: Progress::new(Duration::ZERO), label }
    }

    /// Spawns users, or stops some, so that there are this many.
    pub(super) fn spawn(&mut self, users: usize) {
        self.users = users;
        if let State::Runs(counter, _) = &self.state {
            counter.want(users);
        }
    }

    /// Returns how many users there are to be.
    pub(super) fn users(&self) -> u64 {
        self.users as u64
    }

    /// Sends nothing more. What is under way may take until `deadline`.
    pub(super) fn end(&mut self, ending: Ending, deadline: Instant) {
        // A worker that is to quit doesn't stay for another test, and its first reason to quit is its exit code.
        self.ending = Some(match self.ending {
            Some((quit @ Ending::Quit { .. }, until)) => (quit, deadline.min(until)),
            Some((Ending::Stop, _)) | None => (ending, deadline),
        });
        if let State::Runs(counter, _) = &self.state {
            counter.interrupt();
        }
    }

    /// Waits until something has changed. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// The first request was refused, or the driver failed.
    pub(super) async fn changed(&mut self) -> Result<(), Error> {
        if self.is_over() {
            return Ok(());
        }
        let deadline = self.ending.map(|(_, deadline)| deadline);
        let late = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => pending().await,
            }
        };
        let next = async {
            match &mut self.state {
                State::Begins(run) => {
                    let run = run.await?;
                    let counter = run.counter();
                    counter.want(self.users);
                    if deadline.is_some() {
                        counter.interrupt();
                    }
                    Ok(State::Runs(counter, Box::pin(run.finish())))
                }
                State::Runs(_, outcome) => Ok(State::Ended(Box::new(outcome.await?))),
                State::Ended(_) => pending().await,
            }
        };
        let next: Result<State, Error> = tokio::select! {
            // At the deadline, what has ended is better than what is given up.
            biased;
            next = next => next,
            () = late => return Ok(()),
        };
        self.state = next?;
        if let (State::Ended(outcome), None) = (&self.state, self.ending) {
            let why = outcome.ended.map_or("it is over".to_owned(), |end| end.to_string());
            note!("the users have stopped before the test: {why}");
        }
        Ok(())
    }

    /// Takes what was recorded in the last second, and shows it.
    pub(super) async fn second(&mut self) -> Recorder {
        let record = match &self.state {
            State::Runs(counter, _) => counter.take().await.0,
            State::Begins(_) | State::Ended(_) => Recorder::default(),
        };
        self.progress.second(&self.label, &record, self.users);
        record
    }

    /// Returns whether it was ended, and nothing is under way any more or it has taken too long.
    pub(super) fn is_over(&self) -> bool {
        let has_ended = matches!(self.state, State::Ended(_));
        self.ending.is_some_and(|(_, deadline)| has_ended || Instant::now() >= deadline)
    }

    /// Returns what is left. It gives up requests that are still under way.
    pub(super) async fn finish(self) -> Rest {
        let ending = self.ending.map_or(Ending::Stop, |(ending, _)| ending);
        let (record, in_flight, crew) = match self.state {
            State::Begins(_) => (Recorder::default(), 1, None),
            State::Runs(counter, _) => {
                let (record, in_flight) = counter.take().await;
                (record, in_flight, None)
            }
            State::Ended(outcome) => (outcome.record, 0, Some(self.crew)),
        };
        Rest { record, in_flight, ending, crew }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use castile_load::{
        Bench, Case, Endpoint, Interrupt, Load, Message, Placement, Plan, Requests, Start, Stop, Target,
    };

    use super::*;

    /// Returns users who send a single request, and a server that answers it.
    fn crew() -> Arc<Crew> {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", server.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let mut request = [0; 4096];
            while stream.read(&mut request).unwrap_or_default() > 0 {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
            }
        });
        let message = Message {
            action: String::new(),
            content_type: String::new(),
            body: "ping".into(),
            check: Arc::new(|_| Ok(0)),
        };
        let requests = Requests::Raw(vec![message]);
        let case = Case { suite: "tests".into(), name: "ping".into(), style: None, path: "/".into(), requests };
        let stop = Stop { requests: Some(1), ..Stop::default() };
        let plan = Plan { start: Start::OnDemand, connections: 1, stop, ..Plan::default() };
        let bench = Bench {
            loads: vec![Load::new(case, plan)],
            targets: vec![Target::external("there", Endpoint::resolve(&url).unwrap())],
            placement: Placement::external(),
            repeats: 0,
            command: "castile load".into(),
            interrupt: Interrupt::default(),
        };
        Arc::new(bench.crew().unwrap())
    }

    #[test]
    fn a_worker_that_is_to_quit_does_not_stay() {
        let mut test = Test::begin(crew(), "worker".to_owned());
        let now = Instant::now();
        test.end(Ending::Stop, now + Duration::from_secs(9));
        test.end(Ending::Quit { code: 3 }, now + Duration::from_secs(8));
        assert_eq!(test.ending, Some((Ending::Quit { code: 3 }, now + Duration::from_secs(8))));
        for other in [Ending::Stop, Ending::Quit { code: 0 }] {
            test.end(other, now + Duration::from_secs(60));
            assert_eq!(test.ending, Some((Ending::Quit { code: 3 }, now + Duration::from_secs(8))));
        }
        test.end(Ending::Quit { code: 0 }, now);
        assert_eq!(test.ending, Some((Ending::Quit { code: 3 }, now)));
    }

    /// It once waited until the end of the grace.
    #[test]
    fn a_test_whose_users_have_ended_is_over_at_once() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let rest = runtime.block_on(async {
            let mut test = Test::begin(crew(), "worker".to_owned());
            test.spawn(1);
            while !matches!(test.state, State::Ended(_)) {
                test.changed().await.unwrap();
            }
            assert!(!test.is_over());
            test.end(Ending::Stop, Instant::now() + Duration::from_secs(3_600));
            tokio::time::timeout(Duration::from_secs(60), test.changed()).await.unwrap().unwrap();
            assert!(test.is_over());
            test.finish().await
        });
        assert_eq!((rest.record.requests, rest.in_flight, rest.ending), (1, 0, Ending::Stop));
    }
}
