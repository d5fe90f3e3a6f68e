//! What a worker sends to its master and when, without a network and without a clock.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::Report;
use crate::error::Violation;
use crate::frames::{self, Reader, Received};
use crate::message::{ANY_VERSION, Counts, Exception, FromMaster, Heartbeat, PLUGIN_KIND, Spawn, Stats, write};

/// The time between two heartbeats. A master that misses three gives the worker up.
pub(crate) const BEAT: Duration = Duration::from_secs(1);
/// How long a connection is good after a message that came on it. A master answers each heartbeat.
const HEARD: Duration = Duration::from_secs(3);
/// How often a worker offers itself to a master that doesn't answer.
const OFFER: Duration = Duration::from_secs(5);
/// How long a worker waits after a new connection for an answer to its heartbeats. A master that doesn't answer was restarted.
const FORGOTTEN: Duration = Duration::from_secs(5);
/// After how long without an answer to its offers a worker says so.
const REMARKABLE: Duration = Duration::from_secs(10);
/// How long a worker keeps a connection on which nobody answers its offers. A master answers at once.
const UNANSWERED: Duration = Duration::from_secs(30);
/// How long a worker drives its users without a message of the master, as Locust's own do.
const SILENCE: Duration = Duration::from_secs(60);
/// The longest time that users may have for their last request.
const MAX_GRACE: Duration = Duration::from_secs(3_600);
/// The most bytes that wait to be sent. A master that doesn't read them is given up.
const MAX_OUTPUT: usize = 16 << 20;

/// What a master sends, or what became of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The master knows this worker. It may have given it a number, from 0.
    Known {
        /// The number.
        index: Option<u64>,
    },
    /// The worker is to have this many users from now on. [`Worker::running`](crate::Worker::running) is the answer.
    Users(Users),
    /// The users are to stop. [`Worker::stopped`](crate::Worker::stopped) is the answer, after the last report.
    Stop {
        /// How long a user may take to finish its request.
        grace: Duration,
    },
    /// The worker is to end, after the last report.
    Quit,
    /// The master was restarted, or has sent nothing for a minute: its test is over, and it takes no report of it. The worker waits for a new
    /// test.
    Lost,
    /// There is a connection, but the master doesn't answer: another worker may have this name. The worker tries again.
    Unanswered,
    /// There is no connection, for this reason. It is made again.
    Disconnected(String),
}

/// A number of users for each class of a locustfile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users {
    classes: BTreeMap<String, u64>,
}

impl Users {
    /// Returns the number of users of all classes.
    pub fn count(&self) -> u64 {
        self.classes.values().fold(0, |sum, users| sum.saturating_add(*users))
    }

    /// Returns at most this many users. The last classes lose theirs first.
    pub fn at_most(&self, most: u64) -> Users {
        let mut left = most;
        let limited = |(class, users): (&String, &u64)| {
            let users = (*users).min(left);
            left -= users;
            (class.clone(), users)
        };
        Users { classes: self.classes.iter().map(limited).collect() }
    }
}

/// The state of a worker, as its master knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ready,
    Spawning,
    Running,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Ready => "ready",
            State::Spawning => "spawning",
            State::Running => "running",
        }
    }
}

/// A worker's side of a connection, and what it remembers from one to the next.
#[derive(Debug)]
pub(crate) struct Link {
    id: String,
    /// `None` without a connection.
    reader: Option<Reader>,
    /// What is to be sent.
    output: Vec<u8>,
    is_broken: bool,
    /// When the handshake ended.
    up: Option<Instant>,
    /// Whether the master has acknowledged this worker.
    is_known: bool,
    /// Since when a master could have acknowledged it.
    unknown: Instant,
    /// Whether it was said that the master doesn't answer.
    is_said: bool,
    /// The last time of the plugin's clock, and when it arrived, if the master has the plugin.
    plugin: Option<(f64, Instant)>,
    /// When the last message of the master came that is for a worker which it knows.
    last_message: Instant,
    next_beat: Instant,
    next_offer: Instant,
    state: State,
    users: Users,
    /// The time of the master's last spawn message, by its own clock. Older ones don't count.
    spawned: f64,
    grace: Duration,
    cpu: f64,
    memory: u64,
}

impl Link {
    pub(crate) fn new(id: String, now: Instant) -> Self {
        Link {
            id,
            reader: None,
            output: Vec::new(),
            is_broken: false,
            up: None,
            is_known: false,
            unknown: now,
            is_said: false,
            plugin: None,
            last_message: now,
            next_beat: now,
            next_offer: now,
            state: State::Ready,
            users: Users::default(),
            spawned: 0.0,
            grace: Duration::ZERO,
            cpu: 0.0,
            memory: 0,
        }
    }

    /// Begins a connection.
    pub(crate) fn connected(&mut self, now: Instant) {
        self.disconnected();
        (self.reader, self.unknown) = (Some(Reader::default()), now);
        self.output.extend_from_slice(&frames::greeting());
    }

    /// Ends a connection. What wasn't sent is lost.
    pub(crate) fn disconnected(&mut self) {
        (self.reader, self.up, self.is_broken) = (None, None, false);
        self.output.clear();
    }

    /// Returns whether a report would arrive, as far as that is known. On a dead link, what is sent stays in the system's buffer, and is
    /// lost when the connection fails.
    pub(crate) fn is_up(&self, now: Instant) -> bool {
        let is_heard = |up| self.last_message >= up && now.saturating_duration_since(self.last_message) <= HEARD;
        self.is_known && self.up.is_some_and(is_heard)
    }

    /// Returns whether the connection must be closed, because the master asks for that or doesn't read.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Returns what is to be sent. What was sent must be removed.
    pub(crate) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Returns when [`Link::tick`] has something to do.
    pub(crate) fn next_tick(&self) -> Instant {
        match self.is_known {
            true => self.next_beat,
            false => self.next_offer,
        }
    }

    /// Does what is due. Returns whether the master is lost.
    pub(crate) fn tick(&mut self, now: Instant) -> bool {
        let is_silent = now.saturating_duration_since(self.last_message) > SILENCE;
        let has_forgotten =
            self.up.is_some_and(|up| self.last_message < up && now.saturating_duration_since(up) > FORGOTTEN);
        let is_lost = self.is_known && (is_silent || has_forgotten);
        if is_lost {
            self.is_broken |= is_silent && self.reader.is_some();
            self.forget(now);
        }
        let is_unanswered = !self.is_known && now.saturating_duration_since(self.unknown) > UNANSWERED;
        self.is_broken |= is_unanswered && self.reader.is_some();
        let is_due = |at: &mut Instant, period: Duration| {
            let is_due = *at <= now;
            if is_due {
                *at = now + period;
            }
            is_due
        };
        if self.is_known && is_due(&mut self.next_beat, BEAT) {
            self.beat();
        } else if !self.is_known && is_due(&mut self.next_offer, OFFER) {
            self.send("client_ready", ANY_VERSION);
        }
        is_lost
    }

    /// Returns whether it is to be said that the master doesn't answer. That is so once until a master does.
    pub(crate) fn is_unanswered(&mut self, now: Instant) -> bool {
        self.is_said &= !self.is_known;
        let since = self.up.map(|up| up.max(self.unknown));
        let is_late = since.is_some_and(|since| now.saturating_duration_since(since) >= REMARKABLE);
        let is_new = !self.is_known && is_late && !self.is_said;
        self.is_said |= is_new;
        is_new
    }

    /// Adds bytes that arrived.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if let Some(reader) = &mut self.reader {
            reader.push(bytes);
        }
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// The master breaks the protocol.
    pub(crate) fn event(&mut self, now: Instant) -> Result<Option<Event>, Violation> {
        while let Some(received) = self.reader.as_mut().map_or(Ok(None), Reader::next)? {
            let event = match received {
                Received::Greeting => {
                    self.output.extend_from_slice(&frames::ready(&self.id));
                    None
                }
                Received::Ready => {
                    (self.up, self.next_beat, self.next_offer) = (Some(now), now, now);
                    None
                }
                Received::Message(frame) => self.take(FromMaster::read(&frame)?, now),
            };
            if event.is_some() {
                return Ok(event);
            }
        }
        Ok(None)
    }

    fn take(&mut self, message: FromMaster, now: Instant) -> Option<Event> {
        // A plugin may send messages to a worker that its master doesn't know.
        if !matches!(message, FromMaster::Plugin(_) | FromMaster::Other) {
            self.last_message = now;
        }
        match message {
            FromMaster::Ack(ack) => {
                let was_known = std::mem::replace(&mut self.is_known, true);
                (!was_known).then_some(Event::Known { index: ack.index })
            }
            FromMaster::Spawn(spawn) if self.is_known && spawn.timestamp > self.spawned => Some(self.spawn(spawn)),
            FromMaster::Stop if self.is_known => Some(Event::Stop { grace: self.grace }),
            FromMaster::Quit => Some(Event::Quit),
            FromMaster::Reconnect => {
                self.is_broken = true;
                None
            }
            FromMaster::Plugin(plugin) => {
                self.plugin = Some((plugin.time, now));
                None
            }
            FromMaster::Heartbeat | FromMaster::Spawn(_) | FromMaster::Stop | FromMaster::Other => None,
        }
    }

    fn spawn(&mut self, spawn: Spawn) -> Event {
        self.spawned = spawn.timestamp;
        let grace = Duration::try_from_secs_f64(spawn.stop_timeout.unwrap_or_default());
        self.grace = grace.unwrap_or_default().min(MAX_GRACE);
        self.send("spawning", ());
        self.state = State::Spawning;
        Event::Users(Users { classes: spawn.user_classes_count })
    }

    /// Sets the share of a core that the worker uses, in percent, and its memory in bytes.
    pub(crate) fn usage(&mut self, cpu: f64, memory: u64) {
        (self.cpu, self.memory) = (cpu, memory);
    }

    fn beat(&mut self) {
        let Link { state, cpu, memory, .. } = *self;
        let beat = Heartbeat { state: state.name(), current_cpu_usage: cpu, current_memory_usage: memory };
        self.send("heartbeat", beat);
    }

    /// Reports that these users have been spawned.
    pub(crate) fn running(&mut self, users: Users) {
        let counts = Counts { user_count: users.count(), user_classes_count: &users.classes };
        let message = write("spawning_complete", counts, &self.id);
        self.put(&message);
        (self.users, self.state) = (users, State::Running);
    }

    /// Reports what the users did.
    pub(crate) fn report(&mut self, report: &Report) {
        let stats = Stats {
            stats: &report.entries,
            stats_total: &report.total,
            errors: &report.failures,
            user_count: self.users.count(),
            user_classes_count: &self.users.classes,
        };
        let message = write("stats", stats, &self.id);
        self.put(&message);
    }

    /// Returns the last time of the plugin's clock, and how long ago it arrived.
    pub(crate) fn plugin_time(&self, now: Instant) -> Option<(f64, Duration)> {
        self.plugin.map(|(time, at)| (time, now.saturating_duration_since(at)))
    }

    /// Sends something to Castile's plugin, if the master has it.
    pub(crate) fn send_to_plugin(&mut self, data: impl Serialize) {
        if self.plugin.is_some() {
            self.send(PLUGIN_KIND, data);
        }
    }

    /// Reports that there are no more users. The next test may begin.
    pub(crate) fn stopped(&mut self, now: Instant) {
        self.send("client_stopped", ());
        self.forget(now);
    }

    /// Reports that the worker fails as a whole.
    pub(crate) fn failed(&mut self, why: &str) {
        self.send("exception", Exception { msg: why, traceback: why });
    }

    /// Reports that the worker ends.
    pub(crate) fn quit(&mut self) {
        self.send("quit", ());
    }

    fn send(&mut self, kind: &str, data: impl Serialize) {
        let message = write(kind, data, &self.id);
        self.put(&message);
    }

    /// Sends a message. It is dropped if there is no connection.
    fn put(&mut self, message: &[u8]) {
        match self.up {
            Some(_) if self.output.len() + message.len() > MAX_OUTPUT => self.is_broken = true,
            Some(_) => frames::message(message, &mut self.output),
            None => {}
        }
    }

    /// Becomes a worker that no master knows, and that offers itself at the next tick.
    fn forget(&mut self, now: Instant) {
        (self.is_known, self.state, self.spawned, self.next_offer) = (false, State::Ready, 0.0, now);
        (self.users, self.plugin, self.unknown) = (Users::default(), None, now);
    }
}

#[cfg(test)]
mod tests;
