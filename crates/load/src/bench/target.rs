//! What is measured: an endpoint, and what is known of who answers there.

use std::collections::HashSet;
use std::time::Duration;

use super::{Against, Load, Warmup};
use crate::connection::open;
use crate::report::FLOOR;
use crate::usage::Usage;
use crate::{Case, Endpoint, Error, ErrorKind, Plan, Server};

/// An endpoint under test.
#[derive(Debug)]
pub struct Target {
    pub(super) name: String,
    endpoint: Endpoint,
    route: Route,
    pub(super) server: Option<Server>,
    /// What is between driver and server, in words, where it is no loopback interface.
    pub(super) network: Option<String>,
    /// The id of somebody else's process on this machine, if it is known.
    process: Option<u32>,
    /// The cases it serves, by path and name; all where there is no list.
    cases: Option<HashSet<(String, String)>>,
    /// What it needs before its figures count, if it gets faster under load.
    pub(super) warmup: Option<Warmup>,
    /// Whether it still got faster when the time for that was over.
    pub(super) rising: bool,
    /// From the start of its process to its first right answer.
    first_answer: Option<Duration>,
    /// Whether the bench goes on without it when it fails.
    is_guest: bool,
    /// Why it takes no part any more.
    pub(super) lost: Option<String>,
}

/// The path at which a target answers a load.
#[derive(Clone, Debug)]
enum Route {
    /// That of the case.
    Case,
    /// The number of the answer it was given for the load, if it was given one.
    Numbered(Vec<Option<usize>>),
    /// That of the endpoint.
    Fixed,
}

impl Target {
    fn new(name: String, endpoint: Endpoint, route: Route, server: Option<Server>) -> Self {
        Target {
            name,
            endpoint,
            route,
            server,
            network: None,
            process: None,
            cases: None,
            warmup: None,
            rising: false,
            first_answer: None,
            is_guest: false,
            lost: None,
        }
    }

    /// A server of ours that answers each case at the case's own path.
    pub fn server(name: impl Into<String>, server: Server) -> Self {
        let endpoint = server.endpoint().clone();
        Target::new(name.into(), endpoint, Route::Case, Some(server))
    }

    /// The HTTP floor: it answers a load at `/N`, where N is what `numbers` has for it, and not where that has nothing.
    pub fn floor(server: Server, numbers: Vec<Option<usize>>) -> Self {
        let endpoint = server.endpoint().clone();
        let route = Route::Numbered(numbers);
        Target::new(FLOOR.to_owned(), endpoint, route, Some(server))
    }

    /// Somebody else's endpoint, under a name. Only what comes over the network is known of it.
    pub fn foreign(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Target::new(name.into(), endpoint, Route::Fixed, None)
    }

    /// An endpoint that is served by this process on this machine, whose use of processors and memory is measured.
    ///
    /// # Errors
    ///
    /// There is no such process.
    pub fn of_process(self, id: u32) -> Result<Self, Error> {
        if cfg!(target_os = "linux") && Usage::of(id).is_none() {
            let text = format!("found the process {id}, expected one that runs on this machine");
            return Err(Error::new(ErrorKind::Input, text));
        }
        Ok(Target { process: Some(id), ..self })
    }

    /// This target, reached across a network of these properties, in words.
    pub fn across(self, network: impl Into<String>) -> Self {
        Target { network: Some(network.into()), ..self }
    }

    /// This target for these cases alone, where it doesn't serve all that are measured.
    pub fn for_cases<'a>(self, cases: impl IntoIterator<Item = &'a Case>) -> Self {
        let names = cases.into_iter().map(|case| (case.path.clone(), case.name.clone()));
        Target { cases: Some(names.collect()), ..self }
    }

    /// This target with load before its first figures, for one that gets faster meanwhile.
    pub fn warmed_by(self, warmup: Warmup) -> Self {
        Target { warmup: Some(warmup), ..self }
    }

    /// This target, without which the bench goes on when it fails, and says so.
    pub fn as_guest(self) -> Self {
        Target { is_guest: true, ..self }
    }

    /// Sees whether somebody takes connections there, as a plan would make them, and sends nothing.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn reach(&self, plan: &Plan) -> Result<(), Error> {
        let Endpoint { address, .. } = self.endpoint;
        let error = |why| Error::new(ErrorKind::Server, format!("nobody answers at {address}: {why}"));
        match tokio::time::timeout(plan.timeout, open(address, plan.sources.first().copied())).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(why)) => Err(error(why.to_string())),
            Err(_) => Err(error(format!("no connection within {}", humantime::format_duration(plan.timeout)))),
        }
    }

    /// From the start of its process to its first right answer; `None` where it was not asked yet, or is no server of ours.
    pub fn first_answer(&self) -> Option<Duration> {
        self.first_answer
    }

    /// Notes that a right answer came.
    pub(super) fn has_answered(&mut self) {
        if let (None, Some(server)) = (self.first_answer, &self.server) {
            self.first_answer = Some(server.age());
        }
    }

    /// What went right goes on; what went wrong in a suite ends a guest, and else the bench.
    pub(super) fn survives<T>(&mut self, result: Result<T, Error>, suite: &str) -> Result<Option<T>, Error> {
        match result {
            Ok(result) => Ok(Some(result)),
            Err(error) if self.is_guest => {
                self.lost = Some(format!("{} was dropped, so its rows of {suite} end there: {error}", self.name));
                self.server = None;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// The process that serves, if it is on this machine.
    pub(super) fn process(&self) -> Option<u32> {
        self.server.as_ref().map(Server::id).or(self.process)
    }

    /// Where it answers a load; `None` where the load is not for it, or it doesn't answer any more.
    pub(super) fn endpoint(&self, index: usize, load: &Load) -> Option<Endpoint> {
        let case = &load.case;
        if self.is_lost() {
            return None;
        }
        if self.cases.as_ref().is_some_and(|cases| !cases.contains(&(case.path.clone(), case.name.clone()))) {
            return None;
        }
        match (&self.route, load.against) {
            (Route::Numbered(numbers), Against::All | Against::Floor) => {
                numbers.get(index)?.map(|number| self.endpoint.at(format!("/{number}")))
            }
            (Route::Numbered(_), Against::Servers) | (_, Against::Floor) => None,
            (Route::Case, _) => Some(self.endpoint.at(&*case.path)),
            (Route::Fixed, _) => Some(self.endpoint.clone()),
        }
    }
}
