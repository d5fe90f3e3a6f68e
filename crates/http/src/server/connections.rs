//! Who is there, and who receives: all connections of a server, and what may be received at once.
//!
//! A connection that waits for its peer says so in its [`Wait`]. When there are too many, the slowest of those that wait
//! is dropped. Connections that work are never dropped.

use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use futures_util::task::AtomicWaker;
use tokio::time::Instant;

use super::activity::Activity;

/// What every peer that waits is taken to have moved already, in bytes. So a newcomer is fast, and becomes slow with time
/// unless it moves something.
const CREDIT: u64 = 1_000;

/// What may be received at once.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// Requests whose body is waited for.
    pub(super) requests: usize,
    /// Bytes that such requests hold together.
    pub(super) bytes: usize,
    pub(super) requests_per_peer: Option<usize>,
    pub(super) connections_per_peer: Option<usize>,
}

/// The connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    limits: Limits,
    started: Instant,
    /// Requests that receive, and what they hold.
    receiving: AtomicUsize,
    bytes: AtomicUsize,
    open: Mutex<Vec<Arc<Activity>>>,
}

impl Connections {
    pub(super) fn new(limits: Limits) -> Self {
        Connections {
            limits,
            started: Instant::now(),
            receiving: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            open: Mutex::default(),
        }
    }

    /// Adds a connection, unless its peer has as many as it may.
    pub(super) fn open(&self, activity: Arc<Activity>) -> Option<Open> {
        let mut open = self.lock();
        if let (Some(max), Some(peer)) = (self.limits.connections_per_peer, activity.peer)
            && open.iter().filter(|other| other.peer == Some(peer)).count() >= max
        {
            return None;
        }
        activity.index.store(open.len(), Relaxed);
        open.push(activity.clone());
        Some(Open(activity))
    }

    /// Closes the connection that has been waiting most slowly, if one waits, to make room for another one.
    pub(super) fn make_room(&self) {
        // Closed, not answered: an answer may wait for its reader.
        self.drop_slowest(Wait::CLOSED, |_| true);
    }

    /// Drops the slowest of the requests that hold much of what is received, if they hold so many bytes.
    pub(super) fn make_room_for(&self, bytes: usize) {
        let all = self.bytes.load(Relaxed);
        if all >= bytes {
            self.drop_largest(all);
        }
    }

    /// Drops the slowest of the requests that hold at least half as much as they do on average, of so many bytes that all
    /// hold.
    fn drop_largest(&self, all: usize) {
        let much = (all / self.receiving.load(Relaxed).max(1) / 2) as u64;
        self.drop_slowest(Wait::DROPPED, |other| other.wait.is_for_body() && other.wait.moved() >= much);
    }

    /// Drops the slowest of those that wait and are `among` the ones that may be dropped.
    #[cold]
    fn drop_slowest(&self, how: u8, among: impl Fn(&Activity) -> bool) {
        let now = self.now();
        let open = self.lock();
        let waiting = open.iter().filter(|activity| activity.wait.is_on() && among(activity));
        let slowest = waiting.min_by_key(|activity| activity.wait.rate(now));
        if let Some(activity) = slowest {
            activity.wait.drop_it(how);
        }
    }

    /// Milliseconds since the server began.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Activity>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that is open until this is dropped.
#[derive(Debug)]
pub(super) struct Open(pub(super) Arc<Activity>);

impl Drop for Open {
    fn drop(&mut self) {
        let mut open = self.0.shared.admission.connections.lock();
        let index = self.0.index.load(Relaxed);
        open.swap_remove(index);
        if let Some(moved) = open.get(index) {
            moved.index.store(index, Relaxed);
        }
    }
}

/// A request whose body is waited for. It counts until this is dropped.
#[derive(Debug)]
pub(super) struct Received {
    activity: Arc<Activity>,
    bytes: usize,
}

impl Received {
    /// A request of which so many bytes came. If there are too many of them, the slowest is dropped.
    pub(super) fn new(activity: Arc<Activity>, bytes: usize) -> Self {
        let connections = &activity.shared.admission.connections;
        let limits = &connections.limits;
        if let (Some(max), Some(peer)) = (limits.requests_per_peer, activity.peer) {
            let is_same = |other: &Activity| other.peer == Some(peer) && other.wait.is_for_body();
            if connections.lock().iter().filter(|other| is_same(other)).count() >= max {
                connections.drop_slowest(Wait::DROPPED, is_same);
            }
        }
        if connections.receiving.fetch_add(1, Relaxed) >= limits.requests {
            connections.drop_slowest(Wait::DROPPED, |other| other.wait.is_for_body());
        }
        let mut received = Received { activity, bytes: 0 };
        received.hold(bytes);
        received
    }

    /// So many more bytes are held. If all hold too many, the slowest of those that hold much is dropped.
    pub(super) fn hold(&mut self, bytes: usize) {
        self.bytes += bytes;
        let connections = &self.activity.shared.admission.connections;
        let all = connections.bytes.fetch_add(bytes, Relaxed) + bytes;
        if all > connections.limits.bytes {
            connections.drop_largest(all);
        }
    }

    /// Nothing is held any more: what came is at work.
    pub(super) fn hand_over(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        self.activity.shared.admission.connections.bytes.fetch_sub(bytes, Relaxed);
    }

    /// The body is waited for, and was for so long already; so many bytes came of it.
    pub(super) fn wait(&self, waited: Duration, came: u64) {
        self.activity.wait(Wait::BODY, waited, came);
    }

    /// So many bytes came of the body by now, which is still waited for.
    pub(super) fn moved(&self, came: u64) {
        self.activity.wait.moved.store(came, Relaxed);
    }

    /// The body isn't waited for.
    pub(super) fn go_on(&self) {
        self.activity.wait.end();
    }

    /// Whether the request is to be given up, asked once.
    pub(super) fn is_dropped(&self) -> bool {
        let kind = &self.activity.wait.kind;
        kind.load(Relaxed) == Wait::DROPPED
            && kind.compare_exchange(Wait::DROPPED, Wait::NONE, Relaxed, Relaxed).is_ok()
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        self.hand_over();
        self.activity.shared.admission.connections.receiving.fetch_sub(1, Relaxed);
        self.activity.wait.end_of(Wait::BODY);
    }
}

/// What a connection waits for: its peer, or nothing. It is read by whoever has to drop one.
#[derive(Debug, Default)]
pub(super) struct Wait {
    kind: AtomicU8,
    /// In milliseconds since the server began.
    since: AtomicU64,
    /// The bytes that came, or went, while this was waited for.
    moved: AtomicU64,
    /// The task of the connection.
    waker: AtomicWaker,
}

impl Wait {
    const NONE: u8 = 0;
    /// For a request, a head, or the reader of an answer: the task of the connection itself.
    pub(super) const PEER: u8 = 1;
    /// For a body: whoever reads that.
    pub(super) const BODY: u8 = 2;
    /// Given up, to be answered.
    const DROPPED: u8 = 3;
    /// Given up, to be closed.
    const CLOSED: u8 = 4;

    fn is_on(&self) -> bool {
        matches!(self.kind.load(Relaxed), Wait::PEER | Wait::BODY)
    }

    fn is_for_body(&self) -> bool {
        self.kind.load(Relaxed) == Wait::BODY
    }

    /// Whether the connection is given up.
    pub(super) fn is_over(&self) -> bool {
        self.kind.load(Relaxed) >= Wait::DROPPED
    }

    fn moved(&self) -> u64 {
        self.moved.load(Relaxed)
    }

    /// In bytes per second.
    fn rate(&self, now: u64) -> u64 {
        let milliseconds = now.saturating_sub(self.since.load(Relaxed)).max(1);
        self.moved().saturating_add(CREDIT).saturating_mul(1_000) / milliseconds
    }

    fn begin(&self, kind: u8, since: u64, moved: u64) {
        self.since.store(since, Relaxed);
        self.moved.store(moved, Relaxed);
        // What was dropped in the meantime stays so.
        let _ = self.kind.fetch_update(Relaxed, Relaxed, |now| (now < Wait::DROPPED).then_some(kind));
    }

    /// There is no wait any more, and nothing to be dropped for it.
    pub(super) fn end(&self) {
        self.kind.store(Wait::NONE, Relaxed);
    }

    fn end_of(&self, kind: u8) {
        let _ = self.kind.compare_exchange(kind, Wait::NONE, Relaxed, Relaxed);
    }

    /// Gives the connection up, unless it goes on at this moment.
    fn drop_it(&self, how: u8) {
        let give_up = |kind| matches!(kind, Wait::PEER | Wait::BODY).then_some(how);
        if self.kind.fetch_update(Relaxed, Relaxed, give_up).is_ok() {
            self.waker.wake();
        }
    }

    /// The task of the connection is woken when that is to be dropped.
    pub(super) fn wake(&self, waker: &Waker) {
        self.waker.register(waker);
    }
}

impl Activity {
    /// The connection waits for its peer, and did so for so long already; so many bytes came or went in that time.
    pub(super) fn wait(&self, kind: u8, waited: Duration, moved: u64) {
        let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        self.wait.begin(kind, self.shared.admission.connections.now().saturating_sub(waited), moved);
    }
}
