//! All connections of a server, and the limits on what is received at a time.
//!
//! A connection that waits for its peer records that in its [`Wait`]. If there are too many connections, the slowest
//! one that waits is dropped. Connections at work are never dropped.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::ptr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use castile_budget::{Budget, Pool};
use http::HeaderMap;
use tokio::time::Instant;

use super::activity::Activity;
use super::proxies::Proxies;
use super::state::Apart;
use super::wait::{Pace, Turn, Wait};

/// The limits on what may be received at a time.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// Requests whose body is being received.
    pub(super) requests: usize,
    /// Bytes that these requests hold together.
    pub(super) bytes: usize,
    pub(super) requests_per_peer: Option<usize>,
    pub(super) connections_per_peer: Option<usize>,
    /// The proxies, whose connections are not limited because they carry requests of many clients.
    pub(super) proxies: Option<Proxies>,
}

/// The connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    limits: Limits,
    started: Instant,
    /// The requests being received, and the bytes that they hold. Both may exceed their limits until the slowest request is gone.
    receiving: Pool,
    bytes: Pool,
    /// The earliest time of the next search for holders of a budget, in milliseconds since the server began.
    relief: AtomicU64,
    open: Apart<Mutex<OpenConnections>>,
    slowest: Slowest,
    /// The number of requests being received per peer, if that is limited.
    receiving_of: Apart<Mutex<Counts>>,
}

/// The open connections.
#[derive(Debug, Default)]
struct OpenConnections {
    all: Vec<Arc<Activity>>,
    /// The number of connections per peer, if that is limited.
    of_peers: Counts,
}

/// A count per peer.
#[derive(Debug, Default)]
struct Counts(HashMap<IpAddr, usize>);

impl Counts {
    fn of(&self, peer: IpAddr) -> usize {
        self.0.get(&peer).copied().unwrap_or_default()
    }

    /// Adds one.
    fn add(&mut self, peer: IpAddr) {
        *self.0.entry(peer).or_default() += 1;
    }

    /// Subtracts one.
    fn take(&mut self, peer: IpAddr) {
        if let Entry::Occupied(mut count) = self.0.entry(peer) {
            match count.get() {
                0 | 1 => drop(count.remove()),
                _ => *count.get_mut() -= 1,
            }
        }
    }
}

/// The slowest connections of the last searches, slowest last: among all that wait, those whose body is being received,
/// those of one peer, and those that hold much.
#[derive(Debug, Default)]
struct Slowest {
    connections: Mutex<Vec<Candidate>>,
    bodies: Mutex<Vec<Candidate>>,
    of_peer: Mutex<Vec<Candidate>>,
    large: Mutex<Vec<Candidate>>,
}

/// A connection that may be dropped, with its pace at the time of the search. Weak, because the connection refers to the server that has the
/// list.
type Candidate = (Pace, Weak<Activity>);

/// The most candidates per search, because each search goes through all connections.
const SLOWEST: usize = 64;

/// The shortest and longest pause between two searches for holders of a budget, in milliseconds. Each search goes
/// through all connections.
const RELIEF_PAUSE: u64 = 2;
const MAX_RELIEF_PAUSE: u64 = 20;

/// How many times as long as a search the pause after it is.
const RELIEF_SHARE: u32 = 16;

/// The share of a budget that is freed at least when holders are dropped: an eighth.
const HEADROOM: usize = 8;

impl Connections {
    pub(super) fn new(limits: Limits) -> Self {
        Connections {
            receiving: Pool::new(limits.requests),
            bytes: Pool::new(limits.bytes),
            limits,
            started: Instant::now(),
            relief: AtomicU64::new(0),
            open: Apart::default(),
            slowest: Slowest::default(),
            receiving_of: Apart::default(),
        }
    }

    /// Returns the client of a request from `peer`, if a proxy names it.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Option<IpAddr> {
        self.limits.proxies.as_ref().map(|proxies| proxies.client(peer, headers))
    }

    /// Returns whether there are trusted proxies and `peer` isn't one of them.
    pub(super) fn is_untrusted(&self, peer: IpAddr) -> bool {
        self.limits.proxies.as_ref().is_some_and(|proxies| !proxies.contain(peer))
    }

    /// Adds a connection, unless its peer has too many.
    pub(super) fn open(&self, activity: Arc<Activity>) -> Option<Open> {
        let mut open = self.lock();
        if activity.peer().is_some_and(|peer| !self.admit(&mut open, peer)) {
            return None;
        }
        activity.index.store(open.all.len(), Relaxed);
        open.all.push(activity.clone());
        Some(Open(activity))
    }

    /// Returns the number of open connections.
    pub(super) fn count(&self) -> usize {
        self.lock().all.len()
    }

    /// Wakes the tasks of all open connections. A connection that opens meanwhile sees what was stored before this call.
    pub(super) fn wake_all(&self) {
        for activity in &self.lock().all {
            activity.wait.wake();
        }
    }

    /// Records the peer of an open connection. Returns `false` if that peer has too many others.
    pub(super) fn record_peer(&self, activity: &Activity, peer: IpAddr) -> bool {
        let mut open = self.lock();
        let is_welcome = self.admit(&mut open, peer);
        if is_welcome {
            activity.set_peer(peer);
        }
        is_welcome
    }

    /// Counts a connection of a peer, unless the peer has too many.
    fn admit(&self, open: &mut OpenConnections, peer: IpAddr) -> bool {
        let Some(max) = self.limits.connections_per_peer else { return true };
        let is_proxy = || self.limits.proxies.as_ref().is_some_and(|proxies| proxies.contain(peer));
        let is_welcome = open.of_peers.of(peer) < max || is_proxy();
        if is_welcome {
            open.of_peers.add(peer);
        }
        is_welcome
    }

    /// Closes the slowest connection that waits, if there is one, to make room for another one.
    pub(super) fn free_slot(&self) {
        // Closed without an answer, because it may be a client that doesn't read its answer.
        self.drop_slowest(&self.slowest.connections, Wait::CLOSED, |_| true);
    }

    /// Drops slow holders of much of a budget until `bytes` are free, or an eighth of the budget if that is more. Does
    /// nothing if `bytes` can't be freed. A request whose body is being received is answered; a connection whose answer
    /// is read too slowly is closed. To hold much is to hold at least half of the average. `asks` itself is not
    /// dropped.
    #[cold]
    pub(super) fn relieve(&self, asks: &Activity, budget: &Budget, bytes: usize) {
        // More than requested: other requests take some of it before `asks` returns, and a message needs memory for its
        // values.
        let wanted = bytes.max(budget.limit() / HEADROOM);
        let free = budget.limit().saturating_sub(budget.used());
        if free >= bytes {
            return;
        }
        let now = self.now();
        let is_due = |next| (now >= next).then_some(now + RELIEF_PAUSE);
        if self.relief.fetch_update(Relaxed, Relaxed, is_due).is_err() {
            return;
        }
        let begun = Instant::now();
        self.free_memory(asks, budget, bytes - free, wanted.saturating_sub(free));
        let pause = u64::try_from((begun.elapsed() * RELIEF_SHARE).as_millis()).unwrap_or(u64::MAX);
        self.relief.fetch_max(self.now() + pause.min(MAX_RELIEF_PAUSE), Relaxed);
    }

    /// Drops holders of a budget until `wanted` bytes are free, if at least `needed` can be freed.
    fn free_memory(&self, asks: &Activity, budget: &Budget, needed: usize, wanted: usize) {
        let now = self.now();
        let open = self.lock();
        let others = open.all.iter().filter(|other| !ptr::eq(&***other, asks) && other.wait.is_waiting_or_over());
        let held = others.map(|other| (other.reservations.of(budget), other)).filter(|(held, _)| *held > 0);
        // Holders that were dropped before will free their bytes soon.
        let (mut holders, dropped): (Vec<_>, Vec<_>) = held.partition(|(_, other)| other.wait.is_on());
        let sum = |holders: &[(usize, _)]| holders.iter().fold(0, |all: usize, (held, _)| all.saturating_add(*held));
        let gone = sum(&dropped);
        let (wanted, needed) = (wanted.saturating_sub(gone), needed.saturating_sub(gone));
        let much = sum(&holders) / holders.len().max(1) / 2;
        holders.retain(|(held, other)| {
            *held >= much
                && (other.wait.is_for_body() || other.wait.reads_slowly(*held, now, other.shared.timeouts.write))
        });
        // Don't drop anyone if that can't free enough.
        if needed == 0 || sum(&holders) < needed {
            return;
        }
        holders.sort_by_cached_key(|(_, other)| other.wait.pace(now));
        let mut freed = 0;
        for (held, holder) in holders {
            // If the kind of wait has changed meanwhile, either way still ends it.
            let how = if holder.wait.is_for_body() { Wait::DROPPED } else { Wait::CLOSED };
            if holder.wait.drop_it(how) {
                self.give_up(holder);
                freed += held;
                if freed >= wanted {
                    break;
                }
            }
        }
    }

    /// Drops the slowest of the requests that hold much of `all` bytes: at least half of the average of the others. If
    /// `asks` holds all of them, nothing is dropped.
    #[cold]
    fn drop_largest(&self, asks: &Activity, all: usize) {
        let others = all.saturating_sub(asks.wait.bytes());
        if others == 0 {
            return;
        }
        let much = others / (self.receiving.taken().max(2) - 1) / 2;
        let holds_much = |other: &Activity| other.wait.is_for_body() && other.wait.bytes() >= much;
        self.drop_slowest(&self.slowest.large, Wait::DROPPED, holds_much);
    }

    /// Drops the slowest waiting connection that `among` accepts, if there is one. The candidates of one search are
    /// used for many calls, because a flood makes a call for each of its requests.
    #[cold]
    fn drop_slowest(&self, slowest: &Mutex<Vec<Candidate>>, how: u8, among: impl Fn(&Activity) -> bool) {
        let mut slowest = slowest.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now();
        // A connection that moved bytes since the search is no longer the slowest.
        let drop_it = |(pace, activity): Candidate| {
            let Some(activity) = activity.upgrade() else { return false };
            let is_dropped = activity.wait.is_on()
                && among(&activity)
                && activity.wait.pace(now) <= pace
                && activity.wait.drop_it(how);
            if is_dropped {
                // Its bytes will be free soon, so no other connection has to be dropped for them.
                self.give_up(&activity);
            }
            is_dropped
        };
        while let Some(candidate) = slowest.pop() {
            if drop_it(candidate) {
                return;
            }
        }
        let open = self.lock();
        let waiting = open.all.iter().filter(|activity| activity.wait.is_on() && among(activity));
        slowest.extend(waiting.map(|activity| (activity.wait.pace(now), Arc::downgrade(activity))));
        drop(open);
        if slowest.len() > SLOWEST {
            slowest.select_nth_unstable_by_key(SLOWEST, |(pace, _)| *pace);
            slowest.truncate(SLOWEST);
        }
        slowest.sort_unstable_by_key(|(pace, _)| Reverse(*pace));
        // A candidate may have continued in the meantime.
        while slowest.pop().is_some_and(|candidate| !drop_it(candidate)) {}
    }

    /// Stops counting the bytes of an incomplete message on this connection.
    pub(super) fn give_up(&self, activity: &Activity) {
        self.bytes.give(activity.wait.take_bytes());
    }

    /// Returns the milliseconds since the server began.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn receiving_of(&self) -> MutexGuard<'_, Counts> {
        self.receiving_of.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open connection. Dropping it removes it from the list.
#[derive(Debug)]
pub(super) struct Open(pub(super) Arc<Activity>);

impl Drop for Open {
    fn drop(&mut self) {
        let connections = &self.0.shared.admission.connections;
        let mut open = connections.lock();
        // A later search must not close it again.
        self.0.wait.end();
        let index = self.0.index.load(Relaxed);
        open.all.swap_remove(index);
        if let Some(moved) = open.all.get(index) {
            moved.index.store(index, Relaxed);
        }
        if let (Some(_), Some(peer)) = (connections.limits.connections_per_peer, self.0.peer()) {
            open.of_peers.take(peer);
        }
    }
}

/// A request whose body is being received. It counts until this is dropped.
#[derive(Debug)]
pub(super) struct Received {
    activity: Arc<Activity>,
    /// The turn of the request. A task of the handler may hold the body even after the request has ended.
    turn: Turn,
    /// The client that it counts for, if requests per client are limited.
    client: Option<IpAddr>,
}

impl Received {
    /// Counts a request, of which `bytes` have arrived. If there are too many requests, the slowest is dropped.
    pub(super) fn new(activity: Arc<Activity>, turn: Turn, bytes: usize) -> Self {
        let connections = &activity.shared.admission.connections;
        let limits = &connections.limits;
        let mut client = None;
        if let (Some(max), Some(of)) = (limits.requests_per_peer, activity.client()) {
            client = Some(of);
            let mut receiving = connections.receiving_of();
            let is_full = receiving.of(of) >= max;
            receiving.add(of);
            drop(receiving);
            if is_full {
                let is_same = |other: &Activity| other.wait.is_for_body() && other.client() == client;
                connections.drop_slowest(&connections.slowest.of_peer, Wait::DROPPED, is_same);
            }
        }
        if !connections.receiving.take_anyway(1) {
            connections.drop_slowest(&connections.slowest.bodies, Wait::DROPPED, |other| other.wait.is_for_body());
        }
        let received = Received { activity, turn, client };
        if let Some(activity) = received.current() {
            activity.wait.begin_anew(activity.shared.admission.connections.now());
        }
        received.add(bytes);
        received
    }

    /// Returns the connection, unless it has begun another request.
    fn current(&self) -> Option<&Activity> {
        Some(&*self.activity).filter(|activity| activity.wait.turn() == self.turn)
    }

    /// Counts `bytes` more. If all requests together hold too many, the slowest of the large ones is dropped.
    pub(super) fn add(&self, bytes: usize) {
        let Some(activity) = self.current() else { return };
        let connections = &activity.shared.admission.connections;
        let is_within = connections.bytes.take_anyway(bytes);
        // Added after the sum, so that the sum is never less than what is subtracted from it.
        activity.wait.add_bytes(bytes);
        if !is_within {
            connections.drop_largest(activity, connections.bytes.taken());
        }
    }

    /// Raises the held bytes to `bytes`, if that is more than before.
    pub(super) fn raise_to(&self, bytes: usize) {
        if let more @ 1.. = bytes.saturating_sub(self.activity.wait.bytes()) {
            self.add(more);
        }
    }

    /// Begins to wait for the body. `waited` is the previous waiting time, and `came` the bytes that have arrived.
    pub(super) fn wait(&self, waited: Duration, came: u64) {
        if let Some(activity) = self.current() {
            activity.wait_for_body(self.turn, waited, came);
        }
    }

    /// Updates the number of bytes that have arrived, during a wait.
    pub(super) fn moved(&self, came: u64) {
        if let Some(activity) = self.current() {
            activity.moved(came);
        }
    }

    /// Ends the wait for the body, of which `came` bytes have arrived.
    pub(super) fn go_on(&self, came: u64) {
        if let Some(activity) = self.current() {
            activity.moved(came);
            activity.wait.end_of_body(self.turn);
        }
    }

    /// Returns whether the request is to be dropped, only once. The caller answers it.
    pub(super) fn take_drop(&self) -> bool {
        self.activity.wait.take_drop(self.turn)
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        let connections = &self.activity.shared.admission.connections;
        if let Some(activity) = self.current() {
            activity.message_received(self.turn);
        }
        connections.receiving.give(1);
        if let Some(client) = self.client {
            connections.receiving_of().take(client);
        }
    }
}

impl Activity {
    /// Begins to wait for the peer. `waited` is the previous waiting time, and `moved` the bytes that were moved in it.
    pub(super) fn wait(&self, waited: Duration, moved: u64) {
        // This is the task of the connection, and only that begins turns.
        self.wait_for(Wait::PEER, self.wait.turn(), waited, moved);
    }

    /// Begins to wait for the body of the request with this turn. `waited` is the previous waiting time, and `came` the
    /// bytes that have arrived.
    fn wait_for_body(&self, turn: Turn, waited: Duration, came: u64) {
        self.wait_for(Wait::BODY, turn, waited, came);
    }

    fn wait_for(&self, kind: u8, turn: Turn, waited: Duration, moved: u64) {
        let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        self.wait.begin(kind, turn, self.shared.admission.connections.now(), waited, moved);
    }

    /// Updates the number of moved bytes, during a wait.
    pub(super) fn moved(&self, moved: u64) {
        self.wait.note_moved(self.shared.admission.connections.now(), moved);
    }

    /// Marks the message of this turn as complete: the wait ends, and its bytes no longer count.
    pub(super) fn message_received(&self, turn: Turn) {
        self.shared.admission.connections.give_up(self);
        self.wait.end_of_body(turn);
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpStream};

    use super::super::Server;
    use super::super::state::ServerState;
    use super::super::wait::PARTS;
    use super::*;

    /// Creates a connection and its server.
    async fn connection() -> (Arc<ServerState>, Arc<Activity>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let shared = Arc::new(Server::new().into_shared());
        (shared.clone(), Arc::new(Activity::new(shared, &stream)))
    }

    /// Regression: the pace of the next request was reset.
    #[tokio::test]
    async fn reading_an_old_body_late_does_not_change_the_pace() {
        let (_, activity) = connection().await;
        let first = activity.begin();
        activity.answered();
        let second = Received::new(activity.clone(), activity.begin(), 0);
        second.moved(50_000);
        assert!(activity.wait.pace(0).0 > 50_000 * PARTS);
        drop(Received::new(activity.clone(), first, 1_000));
        assert!(activity.wait.pace(0).0 > 50_000 * PARTS);
        assert_eq!(activity.wait.bytes(), 0);
    }

    /// Regression: the next request was treated as being at work, and its bytes were not counted.
    #[tokio::test]
    async fn the_rest_of_a_request_does_not_affect_the_next() {
        let (shared, activity) = connection().await;
        let first = Received::new(activity.clone(), activity.begin(), 1_000);
        activity.answered();
        assert_eq!(activity.wait.bytes(), 1_000, "it may come to its end behind its answer");
        let second = Received::new(activity.clone(), activity.begin(), 5_000);
        second.wait(Duration::ZERO, 0);
        assert!(activity.wait.drop_it(Wait::DROPPED));
        first.go_on(1_000);
        assert!(!first.take_drop() && activity.wait.is_over());
        drop(first);
        assert_eq!((activity.wait.bytes(), shared.admission.connections.bytes.taken()), (5_000, 5_000));
        assert!(second.take_drop());
        drop(second);
        assert_eq!(shared.admission.connections.bytes.taken(), 0);
    }
}
