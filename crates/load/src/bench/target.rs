//! A target of a bench: an endpoint and what is known of its server.

use std::collections::HashSet;
use std::time::Duration;

use super::load::{Against, Load};
use super::warm::Warmup;
use crate::connection::open;
use crate::usage::Usage;
use crate::{Case, Endpoint, Error, ErrorKind, Plan, Server};
use castile_report::FLOOR;

/// An endpoint under test.
#[derive(Debug)]
pub struct Target {
    pub(super) name: String,
    endpoint: Endpoint,
    route: Route,
    pub(super) server: Option<Server>,
    /// The network between driver and server, in words; `None` for a loopback interface.
    pub(super) network: Option<String>,
    /// The id of a process on this machine that was not started by the bench, if it is known.
    process: Option<u32>,
    /// The cases that it serves, by path and name. `None` means all.
    cases: Option<HashSet<(String, String)>>,
    /// The warm-up it needs before its figures count, if it gets faster under load.
    pub(super) warmup: Option<Warmup>,
    /// Whether it still got faster when the warm-up ended.
    pub(super) rising: bool,
    /// The time from the start of its process to its first right answer.
    first_answer: Option<Duration>,
    /// Whether the bench continues without this target when it fails.
    is_guest: bool,
    /// Why the target was dropped.
    pub(super) lost: Option<String>,
}

/// The path at which a target answers a load.
#[derive(Clone, Debug)]
enum Route {
    /// The path of the case.
    Case,
    /// The number under which the floor has the answer for each load, if it has one.
    Numbered(Vec<Option<usize>>),
    /// The path of the endpoint.
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

    /// Returns a target for a server that we started and that answers each case at the case's path.
    pub fn server(name: impl Into<String>, server: Server) -> Self {
        let endpoint = server.endpoint().clone();
        Target::new(name.into(), endpoint, Route::Case, Some(server))
    }

    /// Returns the HTTP floor. It answers the load with index `i` at `/N`, where N is `numbers[i]`, and doesn't serve it if
    /// that is `None`.
    pub fn floor(server: Server, numbers: Vec<Option<usize>>) -> Self {
        let endpoint = server.endpoint().clone();
        let route = Route::Numbered(numbers);
        Target::new(FLOOR.to_owned(), endpoint, route, Some(server))
    }

    /// Returns a target for an endpoint that we didn't start, under a name. Only what the network shows is measured.
    pub fn external(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Target::new(name.into(), endpoint, Route::Fixed, None)
    }

    /// Names the process on this machine that serves the endpoint, so that its CPU time and memory are measured.
    ///
    /// # Errors
    /// There is no such process.
    pub fn of_process(self, id: u32) -> Result<Self, Error> {
        if cfg!(target_os = "linux") && Usage::of(id).is_none() {
            let text = format!("found the process id {id}, expected a process of this machine");
            return Err(Error::new(ErrorKind::Input, text));
        }
        Ok(Target { process: Some(id), ..self })
    }

    /// Describes the network between driver and server, in words.
    pub fn across(self, network: impl Into<String>) -> Self {
        Target { network: Some(network.into()), ..self }
    }

    /// Restricts the target to these cases, if it doesn't serve all of them.
    pub fn for_cases<'a>(self, cases: impl IntoIterator<Item = &'a Case>) -> Self {
        let names = cases.into_iter().map(|case| (case.path.clone(), case.name.clone()));
        Target { cases: Some(names.collect()), ..self }
    }

    /// Puts load on the target before its first figures, for a target that gets faster under load.
    pub fn warmed_by(self, warmup: Warmup) -> Self {
        Target { warmup: Some(warmup), ..self }
    }

    /// Lets the bench continue without this target when it fails. The failure is reported.
    pub fn as_guest(self) -> Self {
        Target { is_guest: true, ..self }
    }

    /// Opens a connection as a plan would, to check that the endpoint accepts it, and sends nothing.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn reach(&self, plan: &Plan) -> Result<(), Error> {
        let Endpoint { address, .. } = self.endpoint;
        let error = |why| Error::new(ErrorKind::Server, format!("no server answers at {address}: {why}"));
        match tokio::time::timeout(plan.timeout, open(address, plan.sources.first().copied())).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(why)) => Err(error(why.to_string())),
            Err(_) => Err(error(format!("no connection within {}", humantime::format_duration(plan.timeout)))),
        }
    }

    /// Returns the time from the start of its process to its first right answer. Returns `None` if no request was sent yet,
    /// or if we didn't start the server.
    pub fn first_answer(&self) -> Option<Duration> {
        self.first_answer
    }

    /// Records that a right answer arrived.
    pub(super) fn has_answered(&mut self) {
        if let (None, Some(server)) = (self.first_answer, &self.server) {
            self.first_answer = Some(server.age());
        }
    }

    /// Passes on a success. Drops the target on an error if it is a guest; otherwise returns the error, which ends the
    /// bench.
    pub(super) fn survives<T>(&mut self, result: Result<T, Error>, suite: &str) -> Result<Option<T>, Error> {
        match result {
            Ok(result) => Ok(Some(result)),
            Err(error) if self.is_guest => {
                self.lost = Some(format!("{} was dropped, so it has no further rows of {suite}: {error}", self.name));
                self.server = None;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Returns the id of the server's process, if it is on this machine.
    pub(super) fn process(&self) -> Option<u32> {
        self.server.as_ref().map(Server::id).or(self.process)
    }

    /// Returns the endpoint for a load. Returns `None` if the load is not for this target, or if the target was dropped.
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
