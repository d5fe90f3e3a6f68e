//! What the request loop needs of a client of one user, whatever the client is.

use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::connection::{Connection, Failure};
use crate::response::Response;
use crate::script::{NoRequest, Request, Script};
use crate::typed::{Answer, Connect, TypedClient, User};
use crate::{Case, Endpoint, Plan, Requests};

/// Sends the requests of one user, one at a time.
pub(crate) trait Exchange {
    /// Sends the request of this number and waits for the complete answer.
    fn send(&mut self, number: usize) -> impl Future<Output = Result<(), Failure>>;

    /// Judges the last answer, outside of the measured time. A cheaper check is enough unless `in_full` is true.
    fn judge(&mut self, number: usize, in_full: bool) -> Result<Judged, String>;

    /// Returns whether the server answered that it has nothing at this URL, or nothing for this client.
    fn is_refused(&self) -> bool {
        false
    }

    /// Does what remains before the next request and isn't part of it, such as closing a connection that served its
    /// last one.
    fn rest(&mut self) -> impl Future<Output = ()>;
}

/// A right answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) answer: Answer,
    /// Whether its content was decoded and compared.
    pub(crate) verified: bool,
}

/// The length and item count that answers to the raw requests of a case must have. They are those of the first
/// right answer to each request. All runs of one case against one target share them.
#[derive(Clone, Debug)]
pub struct Expected(Arc<[ExpectedAnswer]>);

#[derive(Debug)]
struct ExpectedAnswer {
    length: AtomicU64,
    matches: AtomicU64,
}

impl Expected {
    const UNKNOWN: u64 = u64::MAX;

    /// Creates expectations for a case without any answers yet.
    pub fn of(case: &Case) -> Self {
        let unknown = |_| ExpectedAnswer { length: AtomicU64::new(Self::UNKNOWN), matches: AtomicU64::new(0) };
        Expected((0..case.count()).map(unknown).collect())
    }

    /// Returns the length of the body of the answer to the request of this number, once it is known.
    pub fn length(&self, number: usize) -> Option<u64> {
        self.get(number).map(|(length, _)| length)
    }

    fn get(&self, number: usize) -> Option<(u64, u64)> {
        let answer = self.0.get(number)?;
        let length = answer.length.load(Ordering::Acquire);
        (length != Self::UNKNOWN).then(|| (length, answer.matches.load(Ordering::Relaxed)))
    }

    pub(crate) fn learn(&self, number: usize, length: u64, matches: u64) {
        let Some(answer) = self.0.get(number) else { return };
        // The first answer decides and the others compare with it. Concurrent first answers all found the same
        // number of matches.
        if answer.length.load(Ordering::Acquire) == Self::UNKNOWN {
            answer.matches.store(matches, Ordering::Relaxed);
            let _ = answer.length.compare_exchange(Self::UNKNOWN, length, Ordering::Release, Ordering::Relaxed);
        }
    }
}

/// State that the raw users of one thread share.
pub(crate) struct RawRequests {
    case: Case,
    requests: Vec<Bytes>,
    expected: Expected,
    keep_alive: bool,
}

impl RawRequests {
    pub(crate) fn new(case: &Case, endpoint: &Endpoint, plan: &Plan, expected: &Expected) -> Self {
        let write = |message: &crate::Message| message.request(endpoint, plan.keep_alive);
        RawRequests {
            requests: case.messages().iter().map(write).collect(),
            case: case.clone(),
            expected: expected.clone(),
            keep_alive: plan.keep_alive,
        }
    }
}

/// Sends requests that were written beforehand.
pub(crate) struct RawExchange {
    requests: Rc<RawRequests>,
    connection: Connection,
    last: Option<Response>,
}

impl RawExchange {
    pub(crate) fn new(requests: Rc<RawRequests>, user: &User) -> Self {
        RawExchange { requests, connection: Connection::new(user), last: None }
    }
}

impl Exchange for RawExchange {
    async fn send(&mut self, number: usize) -> Result<(), Failure> {
        self.last = None;
        let request = &self.requests.requests[number];
        self.last = Some(self.connection.exchange(request).await?);
        Ok(())
    }

    fn judge(&mut self, number: usize, in_full: bool) -> Result<Judged, String> {
        let RawRequests { case, expected, .. } = &*self.requests;
        let Some(response) = &self.last else { return Err("no answer".to_owned()) };
        let message = &case.messages()[number];
        let body = self.connection.body(response);
        if response.status != 200 {
            return Err(wrong_status(response, body));
        }
        let known = expected.get(number);
        let length = body.len() as u64;
        if let Some((expected, _)) = known
            && expected != length
        {
            return Err(format!("body of {length} bytes, expected {expected}"));
        }
        let (matches, verified) = match known {
            Some((_, matches)) if !in_full && !self.connection.is_first_response() => (matches, false),
            _ => ((message.check)(body)?, true),
        };
        expected.learn(number, length, matches);
        let answer = Answer { bytes_out: message.body.len() as u64, bytes_in: length, matches };
        Ok(Judged { answer, verified })
    }

    async fn rest(&mut self) {
        if let Some(response) = &self.last
            && (response.close || !self.requests.keep_alive)
        {
            self.connection.close(response).await;
        }
    }
}

impl RawExchange {
    /// Returns a copy of the body of the last answer.
    fn body(&self) -> Bytes {
        self.last.as_ref().map(|response| Bytes::copy_from_slice(self.connection.body(response))).unwrap_or_default()
    }
}

fn wrong_status(response: &Response, body: &[u8]) -> String {
    let start = String::from_utf8_lossy(&body[..body.len().min(300)]);
    let said = if start.is_empty() { String::new() } else { format!(": {start}") };
    format!("status {}, expected 200{said}", response.status)
}

/// Sends requests that a script writes.
pub(crate) struct ScriptedExchange {
    script: Box<dyn Script>,
    endpoint: Endpoint,
    keep_alive: bool,
    request: Request,
    wire: Vec<u8>,
    connection: Connection,
    last: Option<Response>,
}

impl ScriptedExchange {
    pub(crate) fn new(script: Box<dyn Script>, user: &User, keep_alive: bool) -> Self {
        ScriptedExchange {
            script,
            endpoint: user.endpoint.clone(),
            keep_alive,
            request: Request::default(),
            wire: Vec::new(),
            connection: Connection::new(user),
            last: None,
        }
    }
}

impl Exchange for ScriptedExchange {
    async fn send(&mut self, number: usize) -> Result<(), Failure> {
        self.last = None;
        self.request.clear();
        self.script.write(number, &mut self.request).map_err(|none| match none {
            NoRequest::Done => Failure::Done,
            NoRequest::Failed(why) => Failure::Unwritten(why),
        })?;
        self.request.write(&self.endpoint, self.keep_alive, &mut self.wire);
        self.last = Some(self.connection.exchange(&self.wire).await?);
        Ok(())
    }

    fn judge(&mut self, number: usize, in_full: bool) -> Result<Judged, String> {
        let Some(response) = &self.last else { return Err("no answer".to_owned()) };
        let in_full = in_full || self.connection.is_first_response();
        let answer = self.script.judge(number, &self.connection.whole(response), in_full)?;
        Ok(Judged { answer, verified: in_full })
    }

    fn is_refused(&self) -> bool {
        let status = self.last.as_ref().map(|response| response.status);
        matches!(status, Some(300..=399 | 401 | 403 | 404 | 405 | 407))
    }

    async fn rest(&mut self) {
        if let Some(response) = &self.last
            && (response.close || !self.keep_alive)
        {
            self.connection.close(response).await;
        }
    }
}

/// Sends requests through a typed client.
pub(crate) struct TypedExchange {
    connect: Connect,
    user: User,
    keep_alive: bool,
    client: Option<Box<dyn TypedClient>>,
    last: Option<Answer>,
}

impl TypedExchange {
    pub(crate) fn new(connect: Connect, user: User, keep_alive: bool) -> Self {
        TypedExchange { connect, user, keep_alive, client: None, last: None }
    }
}

impl Exchange for TypedExchange {
    async fn send(&mut self, number: usize) -> Result<(), Failure> {
        self.last = None;
        let client = match &mut self.client {
            Some(client) => client,
            None => self.client.insert((self.connect)(&self.user).map_err(Failure::Client)?),
        };
        match tokio::time::timeout(self.user.timeout, client.call(number)).await {
            Ok(result) => self.last = Some(result.map_err(Failure::Client)?),
            Err(_) => {
                self.client = None;
                return Err(Failure::Timeout(self.user.timeout));
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: usize, _: bool) -> Result<Judged, String> {
        let answer = self.last.take().ok_or("no answer")?;
        Ok(Judged { answer, verified: true })
    }

    async fn rest(&mut self) {
        if !self.keep_alive {
            self.client = None;
        }
    }
}

/// Sends each request of a case once, and calls `answered` after each right answer. Returns the bodies of the raw answers, or what was
/// wrong.
pub(crate) async fn ask(
    case: &Case,
    endpoint: &Endpoint,
    plan: &Plan,
    mut answered: impl FnMut(),
) -> Result<Vec<Bytes>, String> {
    let user = User { number: 0, endpoint: endpoint.clone(), source: None, timeout: plan.timeout };
    let count = case.count();
    let mut bodies = Vec::new();
    match &case.requests {
        Requests::Raw(_) => {
            let requests = RawRequests::new(case, endpoint, plan, &Expected::of(case));
            let mut exchange = RawExchange::new(Rc::new(requests), &user);
            for number in 0..count {
                exchange.send(number).await.map_err(|failure| failure.to_string())?;
                exchange.judge(number, true)?;
                answered();
                bodies.push(exchange.body());
                exchange.rest().await;
            }
        }
        Requests::Typed { connect, .. } => {
            let mut exchange = TypedExchange::new(connect.clone(), user, true);
            for number in 0..count {
                exchange.send(number).await.map_err(|failure| failure.to_string())?;
                exchange.judge(number, true)?;
                answered();
            }
        }
        Requests::Scripted { begin, .. } => {
            let mut exchange = ScriptedExchange::new(begin(&user), &user, true);
            for number in 0..count {
                exchange.send(number).await.map_err(|failure| failure.to_string())?;
                exchange.judge(number, true)?;
                answered();
                exchange.rest().await;
            }
        }
    }
    Ok(bodies)
}
