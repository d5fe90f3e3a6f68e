//! Who is there, and who receives: all connections of a server, and what may be received at once.
//!
//! A connection that waits for its peer says so in its [`Wait`]. When there are too many, the slowest of those that wait
//! is dropped. Connections that work are never dropped.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::IpAddr;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use castile_budget::Budget;
use http::HeaderMap;
use tokio::time::Instant;

use super::activity::{Activity, Turn};
use super::proxies::Proxies;

/// What every peer that waits is taken to have moved already, in bytes. So a newcomer is fast, and becomes slow with time
/// unless it moves something.
const CREDIT: u64 = 1_000;

/// After how many milliseconds of waiting what a peer moved counts for half as much. So who was fast and stalls is slow soon, and a
/// pause of a network is passed over.
const HALF_LIFE: f64 = 500.0;

/// In what the bytes are counted that were moved lately, so that less than one is told from none.
const PARTS: u64 = 1 << 10;

/// What may be received at once.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// Requests whose body is waited for.
    pub(super) requests: usize,
    /// Bytes that such requests hold together.
    pub(super) bytes: usize,
    pub(super) requests_per_peer: Option<usize>,
    pub(super) connections_per_peer: Option<usize>,
    /// Those whose connections are not limited, since they are everybody's.
    pub(super) proxies: Option<Proxies>,
}

/// The connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    limits: Limits,
    started: Instant,
    /// Requests that receive, and what they hold.
    receiving: AtomicUsize,
    bytes: AtomicUsize,
    /// From when on holders of a budget may be looked for again, in milliseconds since the server began.
    relief: AtomicU64,
    open: Mutex<Known>,
    slowest: Slowest,
    /// How many requests receive of each peer, where that is limited.
    receiving_of: Mutex<Counts>,
}

/// The connections that are open.
#[derive(Debug, Default)]
struct Known {
    all: Vec<Arc<Activity>>,
    /// How many there are of each peer, where that is limited.
    of_peers: Counts,
}

/// How often each peer is there.
#[derive(Debug, Default)]
struct Counts(HashMap<IpAddr, usize>);

impl Counts {
    fn of(&self, peer: IpAddr) -> usize {
        self.0.get(&peer).copied().unwrap_or_default()
    }

    /// One more.
    fn add(&mut self, peer: IpAddr) {
        *self.0.entry(peer).or_default() += 1;
    }

    /// One less.
    fn take(&mut self, peer: IpAddr) {
        if let Entry::Occupied(mut count) = self.0.entry(peer) {
            match count.get() {
                0 | 1 => drop(count.remove()),
                _ => *count.get_mut() -= 1,
            }
        }
    }
}

/// Those that were the slowest when they were looked for, the very slowest last: among all that wait, those whose body is waited for,
/// those of one peer, and those that hold much.
#[derive(Debug, Default)]
struct Slowest {
    connections: Mutex<Vec<Candidate>>,
    bodies: Mutex<Vec<Candidate>>,
    of_peer: Mutex<Vec<Candidate>>,
    large: Mutex<Vec<Candidate>>,
}

/// One that may be dropped, with its pace when it was looked at.
type Candidate = (Pace, Arc<Activity>);

/// How slowly a peer that waits moves: what it moved lately, and when its wait began. The slowest has least.
type Pace = (u64, u64);

/// How many of the slowest are looked for at once: all connections are looked at.
const SLOWEST: usize = 64;

/// How long holders of a budget are not looked for again, in milliseconds: at least, and at most. All connections are looked at.
const RELIEF_PAUSE: u64 = 2;
const LONGEST_RELIEF_PAUSE: u64 = 20;

/// How many times longer than a look the pause behind it is.
const RELIEF_SHARE: u32 = 16;

/// The share of a budget that comes free at least when somebody makes way: an eighth.
const HEADROOM: usize = 8;

/// How long an answer is left to a client that reads it slowly, however short of memory others are, in milliseconds.
const READING: u64 = 1_000;

impl Connections {
    pub(super) fn new(limits: Limits) -> Self {
        Connections {
            limits,
            started: Instant::now(),
            receiving: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            relief: AtomicU64::new(0),
            open: Mutex::default(),
            slowest: Slowest::default(),
            receiving_of: Mutex::default(),
        }
    }

    /// Whose request it is that came from `peer`, if proxies say that.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Option<IpAddr> {
        self.limits.proxies.as_ref().map(|proxies| proxies.client(peer, headers))
    }

    /// Whether `peer` is none of the proxies that are believed, where there are some.
    pub(super) fn is_stranger(&self, peer: IpAddr) -> bool {
        self.limits.proxies.as_ref().is_some_and(|proxies| !proxies.contain(peer))
    }

    /// Adds a connection, unless its peer has as many as it may.
    pub(super) fn open(&self, activity: Arc<Activity>) -> Option<Open> {
        let mut open = self.lock();
        if activity.peer().is_some_and(|peer| !self.admit(&mut open, peer)) {
            return None;
        }
        activity.index.store(open.all.len(), Relaxed);
        open.all.push(activity.clone());
        Some(Open(activity))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.lock().all.len()
    }

    /// Learns the peer of a connection that was open before. `false` if that has as many others as it may.
    pub(super) fn meet(&self, activity: &Activity, peer: IpAddr) -> bool {
        let mut open = self.lock();
        let is_welcome = self.admit(&mut open, peer);
        if is_welcome {
            activity.meet(peer);
        }
        is_welcome
    }

    /// Counts a connection of a peer, unless that has as many as it may.
    fn admit(&self, open: &mut Known, peer: IpAddr) -> bool {
        let Some(max) = self.limits.connections_per_peer else { return true };
        let is_proxy = || self.limits.proxies.as_ref().is_some_and(|proxies| proxies.contain(peer));
        let is_welcome = open.of_peers.of(peer) < max || is_proxy();
        if is_welcome {
            open.of_peers.add(peer);
        }
        is_welcome
    }

    /// Closes the connection that has been waiting most slowly, if one waits, to make room for another one.
    pub(super) fn make_room(&self) {
        // Closed, not answered: an answer may wait for its reader.
        self.drop_slowest(&self.slowest.connections, Wait::CLOSED, |_| true);
    }

    /// Drops those who hold much of a budget, the slowest first, until so many bytes of it come free, if that many can, and an
    /// eighth of it: a request whose body is waited for is answered, and a connection whose answer is read too slowly is
    /// closed. To hold much is to hold at least half as much as the others on average. The one that asks is not dropped.
    #[cold]
    pub(super) fn relieve(&self, asks: &Activity, budget: &Budget, bytes: usize) {
        // More than was asked: what comes free is for others too until who asked is back, and a message wants room for its values.
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
        self.make_way(asks, budget, bytes - free, wanted.saturating_sub(free));
        let pause = u64::try_from((begun.elapsed() * RELIEF_SHARE).as_millis()).unwrap_or(u64::MAX);
        self.relief.fetch_max(self.now() + pause.min(LONGEST_RELIEF_PAUSE), Relaxed);
    }

    /// Drops holders of a budget until as many bytes come free as are `wanted`, if those that are `needed` can.
    fn make_way(&self, asks: &Activity, budget: &Budget, needed: usize, wanted: usize) {
        let now = self.now();
        let open = self.lock();
        let others = open.all.iter().filter(|other| !ptr::eq(&***other, asks) && other.wait.is_waiting_or_over());
        let held = others.map(|other| (other.holdings.of(budget), other)).filter(|(held, _)| *held > 0);
        // What those hold who were dropped before is as good as free.
        let (mut holders, dropped): (Vec<_>, Vec<_>) = held.partition(|(_, other)| other.wait.is_on());
        let sum = |holders: &[(usize, _)]| holders.iter().fold(0, |all: usize, (held, _)| all.saturating_add(*held));
        let gone = sum(&dropped);
        let (wanted, needed) = (wanted.saturating_sub(gone), needed.saturating_sub(gone));
        let much = sum(&holders) / holders.len().max(1) / 2;
        holders.retain(|(held, other)| *held >= much && (other.wait.is_for_body() || other.reads_slowly(*held, now)));
        // What doesn't help is not done.
        if needed == 0 || sum(&holders) < needed {
            return;
        }
        holders.sort_by_cached_key(|(_, other)| other.wait.pace(now));
        let mut freed = 0;
        for (held, holder) in holders {
            // Either ends another kind of wait as well.
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

    /// Drops the slowest of the requests that hold much of so many bytes: at least half as much as those on average that don't
    /// ask. Where the one that asks holds all of them nobody is dropped.
    #[cold]
    fn drop_largest(&self, asks: &Activity, all: usize) {
        let others = all.saturating_sub(asks.wait.held());
        if others == 0 {
            return;
        }
        let much = others / (self.receiving.load(Relaxed).max(2) - 1) / 2;
        let holds_much = |other: &Activity| other.wait.is_for_body() && other.wait.held() >= much;
        self.drop_slowest(&self.slowest.large, Wait::DROPPED, holds_much);
    }

    /// Drops the slowest of those that wait and are `among` the ones that may be dropped, if there is one. A flood asks for each of its
    /// requests, so the slowest are looked for once for many.
    #[cold]
    fn drop_slowest(&self, slowest: &Mutex<Vec<Candidate>>, how: u8, among: impl Fn(&Activity) -> bool) {
        let mut slowest = slowest.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.now();
        // Who moved something since is no longer the slowest.
        let drop_it = |(pace, activity): Candidate| {
            let is_dropped = activity.wait.is_on()
                && among(&activity)
                && activity.wait.pace(now) <= pace
                && activity.wait.drop_it(how);
            if is_dropped {
                // What it holds is as good as gone: nobody else has to go for that.
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
        slowest.extend(waiting.map(|activity| (activity.wait.pace(now), activity.clone())));
        drop(open);
        if slowest.len() > SLOWEST {
            slowest.select_nth_unstable_by_key(SLOWEST, |(pace, _)| *pace);
            slowest.truncate(SLOWEST);
        }
        slowest.sort_unstable_by_key(|(pace, _)| Reverse(*pace));
        // One may have gone on in the meantime.
        while slowest.pop().is_some_and(|candidate| !drop_it(candidate)) {}
    }

    /// What a connection holds of an incomplete message doesn't count any more.
    pub(super) fn give_up(&self, activity: &Activity) {
        self.bytes.fetch_sub(activity.wait.held.swap(0, Acquire), Relaxed);
    }

    /// Milliseconds since the server began.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn receiving_of(&self) -> MutexGuard<'_, Counts> {
        self.receiving_of.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that is open until this is dropped.
#[derive(Debug)]
pub(super) struct Open(pub(super) Arc<Activity>);

impl Drop for Open {
    fn drop(&mut self) {
        let connections = &self.0.shared.admission.connections;
        let mut open = connections.lock();
        // Who is known as slow is not closed once more.
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

/// A request whose body is waited for. It counts until this is dropped.
#[derive(Debug)]
pub(super) struct Received {
    activity: Arc<Activity>,
    /// A task that a handler has begun may have it for longer than the connection has the request.
    turn: Turn,
    /// For whom it counts, where requests of each are limited.
    client: Option<IpAddr>,
}

impl Received {
    /// A request of which so many bytes came. If there are too many of them, the slowest is dropped.
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
        if connections.receiving.fetch_add(1, Relaxed) >= limits.requests {
            connections.drop_slowest(&connections.slowest.bodies, Wait::DROPPED, |other| other.wait.is_for_body());
        }
        let received = Received { activity, turn, client };
        if let Some(activity) = received.current() {
            activity.wait.begin_anew(activity.shared.admission.connections.now());
        }
        received.hold(bytes);
        received
    }

    /// The connection, until it has a further request, whose wait is nothing to this one.
    fn current(&self) -> Option<&Activity> {
        Some(&*self.activity).filter(|activity| activity.wait.turn() == self.turn)
    }

    /// So many more bytes are held. If all hold too many, the slowest of those that hold much is dropped.
    pub(super) fn hold(&self, bytes: usize) {
        let Some(activity) = self.current() else { return };
        let connections = &activity.shared.admission.connections;
        let all = connections.bytes.fetch_add(bytes, Relaxed) + bytes;
        // Behind the sum, so that this is never less than what is taken off it.
        activity.wait.held.fetch_add(bytes, Release);
        if all > connections.limits.bytes {
            connections.drop_largest(activity, all);
        }
    }

    /// So many bytes are held now, if that is more than before.
    pub(super) fn hold_in_all(&self, bytes: usize) {
        if let more @ 1.. = bytes.saturating_sub(self.activity.wait.held()) {
            self.hold(more);
        }
    }

    /// The body is waited for, and was for so long already; so many bytes came of it.
    pub(super) fn wait(&self, waited: Duration, came: u64) {
        if let Some(activity) = self.current() {
            activity.wait_for_body(self.turn, waited, came);
        }
    }

    /// So many bytes came of the body by now, which is still waited for.
    pub(super) fn moved(&self, came: u64) {
        if let Some(activity) = self.current() {
            activity.moved(came);
        }
    }

    /// The body isn't waited for, of which so many bytes came.
    pub(super) fn go_on(&self, came: u64) {
        if let Some(activity) = self.current() {
            activity.moved(came);
            activity.wait.end_of_body(self.turn);
        }
    }

    /// Whether the request is to be given up, told once: who is told has it answered.
    pub(super) fn take_drop(&self) -> bool {
        self.activity.wait.take_drop(self.turn)
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        let connections = &self.activity.shared.admission.connections;
        if let Some(activity) = self.current() {
            activity.message_came(self.turn);
        }
        connections.receiving.fetch_sub(1, Relaxed);
        if let Some(client) = self.client {
            connections.receiving_of().take(client);
        }
    }
}

/// What a connection waits for: its peer, or nothing. It is read by whoever has to drop one.
///
/// A task of a handler may have the body of a request still when the next one begins. So a wait is begun, ended and given up in one
/// step with a look at whose it is. The other fields are hints of who is slow and who holds much: what such a task says of a request
/// that has ended at this moment may count for the next one until its message is there. At worst another one of those that wait is
/// dropped.
#[derive(Debug, Default)]
pub(super) struct Wait {
    /// The kind in the lowest 8 bits, and above them the turn of the last request, with or without an answer.
    state: AtomicU64,
    /// In milliseconds since the server began.
    since: AtomicU64,
    /// The bytes that came, or went, while this was waited for.
    moved: AtomicU64,
    /// What of them counts still, in [`PARTS`] of a byte, and when that was reckoned, in milliseconds since the server began.
    lately: AtomicU64,
    reckoned: AtomicU64,
    /// The bytes of an incomplete message that are held, as [`Connections`] counts them.
    held: AtomicUsize,
    /// The task of the connection. An `AtomicWaker` gives it to one of those who wake it, and has none for the next.
    waker: Mutex<Option<Waker>>,
}

impl Wait {
    const NONE: u8 = 0;
    /// For a request, a head, or the reader of an answer: the task of the connection itself.
    const PEER: u8 = 1;
    /// For a body: whoever reads that.
    const BODY: u8 = 2;
    /// Given up, to be answered.
    const DROPPED: u8 = 3;
    /// Given up, to be closed.
    const CLOSED: u8 = 4;

    /// How many bits the kind has.
    const KIND: u32 = u8::BITS;

    fn state(Turn(turn): Turn, kind: u8) -> u64 {
        u64::from(turn) << Wait::KIND | u64::from(kind)
    }

    fn kind(&self) -> u8 {
        self.state.load(Relaxed) as u8
    }

    /// The turn of the last request, with or without an answer.
    fn turn(&self) -> Turn {
        Turn((self.state.load(Relaxed) >> Wait::KIND) as u32)
    }

    /// The kind becomes what `next` makes of it, if that is another one, and if the last request is that `of` a turn, where one is given.
    /// `false` if all stays as it is.
    fn change(&self, of: Option<Turn>, next: impl Fn(u8) -> Option<u8>) -> bool {
        let change = |state: u64| {
            let turn = Turn((state >> Wait::KIND) as u32);
            let kind = next(state as u8).filter(|_| of.is_none_or(|of| of == turn))?;
            Some(Wait::state(turn, kind))
        };
        self.state.fetch_update(Relaxed, Relaxed, change).is_ok()
    }

    fn is_on(&self) -> bool {
        matches!(self.kind(), Wait::PEER | Wait::BODY)
    }

    /// Whether the connection waits, or was given up and has not gone yet.
    fn is_waiting_or_over(&self) -> bool {
        self.kind() != Wait::NONE
    }

    fn is_for_body(&self) -> bool {
        self.kind() == Wait::BODY
    }

    /// Whether the connection is given up.
    pub(super) fn is_over(&self) -> bool {
        self.kind() >= Wait::DROPPED
    }

    /// The bytes of an incomplete message that are held.
    pub(super) fn held(&self) -> usize {
        self.held.load(Relaxed)
    }

    /// What the slowest has least of: what it moved lately, and of those that moved nothing, when its wait began.
    fn pace(&self, now: u64) -> Pace {
        (self.lately(now), self.since.load(Relaxed))
    }

    /// In bytes per second, lately.
    fn rate(&self, now: u64) -> u64 {
        (self.lately(now) as f64 / PARTS as f64 / HALF_LIFE * 1_000.0 * std::f64::consts::LN_2) as u64
    }

    fn lately(&self, now: u64) -> u64 {
        let passed = now.saturating_sub(self.reckoned.load(Relaxed));
        (self.lately.load(Relaxed) as f64 * (-(passed as f64) / HALF_LIFE).exp2()) as u64
    }

    /// So many bytes came or went by now. Called by whoever waits, and by nobody else.
    fn note_moved(&self, now: u64, moved: u64) {
        let more = moved.saturating_sub(self.moved.swap(moved, Relaxed));
        self.lately.store(self.lately(now).saturating_add(more.saturating_mul(PARTS)), Relaxed);
        self.reckoned.store(now, Relaxed);
    }

    /// Nothing came or went yet.
    fn begin_anew(&self, now: u64) {
        self.moved.store(0, Relaxed);
        self.lately.store(CREDIT * PARTS, Relaxed);
        self.reckoned.store(now, Relaxed);
    }

    /// A request begins, whose turn this is. Nothing of it is waited for yet.
    pub(super) fn begin_turn(&self, turn: Turn) {
        self.state.store(Wait::state(turn, Wait::NONE), Relaxed);
    }

    /// Begins or goes on, at `now`, after so many milliseconds of waiting in which so many bytes came or went.
    fn begin(&self, kind: u8, turn: Turn, now: u64, waited: u64, moved: u64) {
        if waited == 0 && moved == 0 {
            self.begin_anew(now);
        } else if self.kind() == Wait::NONE {
            // Nobody waited in the meantime.
            self.reckoned.store(now, Relaxed);
        }
        self.note_moved(now, moved);
        self.since.store(now.saturating_sub(waited), Relaxed);
        // What was dropped in the meantime stays so.
        self.change(Some(turn), |now| (now < Wait::DROPPED).then_some(kind));
    }

    /// There is no wait any more, and nothing to be dropped for it.
    pub(super) fn end(&self) {
        self.change(None, |_| Some(Wait::NONE));
    }

    /// There is no wait for a body of this turn any more. One that was to be dropped for it came in time.
    fn end_of_body(&self, turn: Turn) {
        self.change(Some(turn), |kind| matches!(kind, Wait::BODY | Wait::DROPPED).then_some(Wait::NONE));
    }

    /// Whether the request of this turn is given up, told once.
    fn take_drop(&self, turn: Turn) -> bool {
        let [dropped, none] = [Wait::DROPPED, Wait::NONE].map(|kind| Wait::state(turn, kind));
        self.state.load(Relaxed) == dropped && self.state.compare_exchange(dropped, none, Relaxed, Relaxed).is_ok()
    }

    /// Gives the connection up, unless it goes on at this moment. Several tasks may try it at once, since each list of candidates has a
    /// lock of its own: one of them does it for each wait.
    fn drop_it(&self, how: u8) -> bool {
        let is_dropped = self.change(None, |kind| matches!(kind, Wait::PEER | Wait::BODY).then_some(how));
        if is_dropped {
            // Not taken: the connection may go on all the same, and be dropped later.
            let waker = self.waker().clone();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        is_dropped
    }

    /// The task of the connection is woken when that is to be dropped.
    pub(super) fn wake(&self, waker: &Waker) {
        let mut known = self.waker();
        match &mut *known {
            Some(known) => known.clone_from(waker),
            None => *known = Some(waker.clone()),
        }
    }

    fn waker(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Activity {
    /// The connection waits for its peer, and did so for so long already; so many bytes came or went in that time.
    pub(super) fn wait(&self, waited: Duration, moved: u64) {
        // The task of the connection is here, which alone begins turns.
        self.wait_for(Wait::PEER, self.wait.turn(), waited, moved);
    }

    /// The body of the request whose turn this is is waited for, and was for so long already; so many bytes came of it.
    fn wait_for_body(&self, turn: Turn, waited: Duration, came: u64) {
        self.wait_for(Wait::BODY, turn, waited, came);
    }

    fn wait_for(&self, kind: u8, turn: Turn, waited: Duration, moved: u64) {
        let waited = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        self.wait.begin(kind, turn, self.shared.admission.connections.now(), waited, moved);
    }

    /// So many bytes came or went by now in a wait that goes on.
    pub(super) fn moved(&self, moved: u64) {
        self.wait.note_moved(self.shared.admission.connections.now(), moved);
    }

    /// Whether an answer is read so slowly that what is `held` for it would be held for longer than a client may read nothing. The
    /// system takes an answer in pieces, and so its rate is the larger one: lately, or since the client was waited for.
    fn reads_slowly(&self, held: usize, now: u64) -> bool {
        let limit = u64::try_from(self.shared.timeouts.write.as_millis()).unwrap_or(u64::MAX);
        let waited = now.saturating_sub(self.wait.since.load(Relaxed));
        let mean = self.wait.moved.load(Relaxed).saturating_mul(1_000) / waited.max(1);
        waited >= READING && self.wait.rate(now).max(mean).saturating_mul(limit) / 1_000 < held as u64
    }

    /// The message of this turn is complete: it isn't waited for, and what is held of it is at work.
    pub(super) fn message_came(&self, turn: Turn) {
        self.shared.admission.connections.give_up(self);
        self.wait.end_of_body(turn);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use tokio::net::{TcpListener, TcpStream};

    use super::super::Server;
    use super::super::connection::Shared;
    use super::*;

    /// That of the first request.
    const TURN: Turn = Turn(0);

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// The second was not heard: the waker was used up.
    #[test]
    fn each_drop_is_heard() {
        let (wait, woken) = (Wait::default(), Arc::new(Woken::default()));
        wait.wake(&woken.clone().into());
        for (times, kind) in [(1, Wait::PEER), (2, Wait::BODY), (3, Wait::BODY)] {
            wait.begin(kind, TURN, 0, 0, 0);
            wait.drop_it(Wait::DROPPED);
            assert_eq!(woken.0.load(Relaxed), times);
            wait.end();
        }
    }

    /// It was closed while it was at work.
    #[test]
    fn what_comes_in_time_is_not_dropped() {
        let wait = Wait::default();
        wait.begin(Wait::BODY, TURN, 0, 0, 0);
        wait.drop_it(Wait::DROPPED);
        assert!(wait.is_over());
        wait.end_of_body(TURN);
        assert!(!wait.is_over());
        wait.begin(Wait::PEER, TURN, 0, 0, 0);
        wait.drop_it(Wait::CLOSED);
        wait.end_of_body(TURN);
        assert!(wait.is_over());
    }

    /// The waker was lost where one drop met another, and the connection heard of no further one.
    #[test]
    fn drops_that_meet_leave_the_waker() {
        let (wait, woken) = (Wait::default(), Arc::new(Woken::default()));
        wait.wake(&woken.clone().into());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..300_000 {
                        wait.begin(Wait::BODY, TURN, 0, 0, 0);
                        wait.drop_it(Wait::DROPPED);
                        wait.end();
                    }
                });
            }
        });
        let before = woken.0.load(Relaxed);
        wait.begin(Wait::BODY, TURN, 0, 0, 0);
        assert!(wait.drop_it(Wait::DROPPED));
        assert_eq!(woken.0.load(Relaxed), before + 1);
    }

    /// A connection with its server.
    async fn connection() -> (Arc<Shared>, Arc<Activity>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let shared = Arc::new(Server::new().into_shared());
        (shared.clone(), Arc::new(Activity::new(shared, &stream)))
    }

    /// The pace of the next request began anew.
    #[tokio::test]
    async fn who_reads_an_old_body_late_changes_no_pace() {
        let (_, activity) = connection().await;
        let first = activity.begin();
        activity.answered();
        let second = Received::new(activity.clone(), activity.begin(), 0);
        second.moved(50_000);
        assert!(activity.wait.lately(0) > 50_000 * PARTS);
        drop(Received::new(activity.clone(), first, 1_000));
        assert!(activity.wait.lately(0) > 50_000 * PARTS);
        assert_eq!(activity.wait.held(), 0);
    }

    /// A look at whose turn it is came first, so that the next request could begin between the two.
    #[test]
    fn an_old_turn_neither_begins_nor_ends_a_wait() {
        let (wait, next) = (Wait::default(), Turn(2));
        wait.begin(Wait::BODY, TURN, 0, 0, 0);
        wait.begin_turn(next);
        wait.begin(Wait::BODY, TURN, 0, 0, 0);
        assert!(!wait.is_on() && !wait.drop_it(Wait::DROPPED), "it works");
        wait.begin(Wait::BODY, next, 0, 0, 0);
        assert!(wait.drop_it(Wait::DROPPED));
        wait.end_of_body(TURN);
        assert!(!wait.take_drop(TURN) && wait.is_over());
        assert!(wait.take_drop(next) && !wait.take_drop(next));
    }

    /// The next request was taken for one that is at work, and what it held for nothing.
    #[tokio::test]
    async fn what_is_left_of_a_request_changes_nothing_for_the_next() {
        let (shared, activity) = connection().await;
        let first = Received::new(activity.clone(), activity.begin(), 1_000);
        activity.answered();
        assert_eq!(activity.wait.held(), 1_000, "it may come to its end behind its answer");
        let second = Received::new(activity.clone(), activity.begin(), 5_000);
        second.wait(Duration::ZERO, 0);
        assert!(activity.wait.drop_it(Wait::DROPPED));
        first.go_on(1_000);
        assert!(!first.take_drop() && activity.wait.is_over());
        drop(first);
        assert_eq!((activity.wait.held(), shared.admission.connections.bytes.load(Relaxed)), (5_000, 5_000));
        assert!(second.take_drop());
        drop(second);
        assert_eq!(shared.admission.connections.bytes.load(Relaxed), 0);
    }
}
