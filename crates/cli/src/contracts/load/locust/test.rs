//! One test of a master, from its first user to its last answer.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use castile_load::{Counter, Crew, Error, Outcome, Recorder, Run};

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
    pub(super) fn begin(crew: Arc<Crew>) -> Self {
        let begins = crew.clone();
        let state = State::Begins(Box::pin(async move { begins.begin().await }));
        Test { crew, users: 0, state, ending: None }
    }

    /// Asks for this many users.
    pub(super) fn want(&mut self, users: usize) {
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
        self.ending = Some((ending, deadline));
        if let State::Runs(counter, _) = &self.state {
            counter.interrupt();
        }
    }

    /// Waits until something has changed. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// The first request was refused, or the driver failed.
    pub(super) async fn changed(&mut self) -> Result<(), Error> {
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

    /// Takes what was recorded since the last call.
    pub(super) async fn take(&self) -> Recorder {
        match &self.state {
            State::Runs(counter, _) => counter.take().await.0,
            State::Begins(_) | State::Ended(_) => Recorder::default(),
        }
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
