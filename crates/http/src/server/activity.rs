//! The state of a connection, as seen from outside hyper.
//!
//! hyper owns the stream and the service while it serves a connection. Both report their activity here, and the task of
//! the connection reads it to select the current time limit. All of that happens in one task, so relaxed loads and
//! stores are enough. Slots, waits and reservations are used by other tasks too, so they have their own memory orders or
//! locks.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use castile_budget::Budget;
use http::{HeaderMap, StatusCode};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;

use super::listener::Connection;
use super::observer::Observers;
use super::reservations::Reservations;
use super::state::ServerState;
use super::wait::{Turn, Wait};

/// The state of one connection.
#[derive(Debug)]
pub(super) struct Activity {
    pub(super) shared: Arc<ServerState>,
    /// The address of the peer, once it is known.
    peer: OnceLock<IpAddr>,
    /// The client of the current request, once a proxy has named one. A connection may carry requests of many clients.
    client: OnceLock<Mutex<IpAddr>>,
    /// The local address of the connection, if it has one.
    pub(super) local: Option<SocketAddr>,
    /// The index in the list of all connections. The lock of that list guards it.
    pub(super) index: AtomicUsize,
    /// Whether the server waits for the peer.
    pub(super) wait: Wait,
    /// The memory budget of the server, with a count of references that no other connection changes.
    pub(super) budget: Budget,
    /// The observers of the server, with such a count, too.
    pub(super) observers: Observers,
    /// The memory and disk space of the request and its answer.
    pub(super) reservations: Reservations,
    /// Twice the number of the current request, plus 1 while it holds a slot of work. The number changes as soon as the
    /// answer is there, so reading the rest of a package takes no slot.
    turn: AtomicU32,
    /// The bytes written so far.
    sent: AtomicU64,
    /// The number of requests begun so far.
    requests: AtomicU32,
    /// Whether a request is being answered.
    busy: AtomicBool,
    /// Whether bytes arrived that don't belong to a request yet.
    reading: AtomicBool,
    /// Whether writing is blocked until the client reads.
    write_blocked: AtomicBool,
    /// The number of completed writes so far.
    writes: AtomicU32,
    /// Whether a request was rejected or was a package, so that its body may be unread.
    refused: AtomicBool,
}

/// What a connection waits for. The count distinguishes two waits of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The next request, after this many.
    Idle(u32),
    /// The rest of a head, after this many requests.
    Head(u32),
    /// The answer to the request with this number.
    Answer(u32),
    /// The client, which must read before more can be written, after this many writes.
    Client(u32),
}

impl Activity {
    pub(super) fn new(shared: Arc<ServerState>, connection: &impl Connection) -> Self {
        Activity {
            budget: shared.admission.budget.handle(),
            observers: shared.observers.handle(),
            shared,
            peer: connection.peer().map(OnceLock::from).unwrap_or_default(),
            client: OnceLock::new(),
            local: connection.local_addr(),
            index: AtomicUsize::default(),
            wait: Wait::default(),
            reservations: Reservations::default(),
            turn: AtomicU32::default(),
            sent: AtomicU64::default(),
            requests: AtomicU32::default(),
            busy: AtomicBool::default(),
            reading: AtomicBool::default(),
            write_blocked: AtomicBool::default(),
            writes: AtomicU32::default(),
            refused: AtomicBool::default(),
        }
    }

    /// Returns the address of the peer, if it is known.
    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.peer.get().copied()
    }

    /// Sets the address of the peer.
    pub(super) fn set_peer(&self, peer: IpAddr) {
        // It is set only once.
        let _ = self.peer.set(peer);
    }

    /// Returns the address of the client of the request, if it is known.
    pub(super) fn client(&self) -> Option<IpAddr> {
        let said = self.client.get().map(|client| *client.lock().unwrap_or_else(PoisonError::into_inner));
        said.or_else(|| self.peer())
    }

    /// Reads the client of a new request from its headers.
    pub(super) fn receive(&self, headers: &HeaderMap) {
        let Some(peer) = self.peer() else { return };
        if let Some(client) = self.shared.admission.connections.client(peer, headers) {
            let last = self.client.get_or_init(|| Mutex::new(client));
            *last.lock().unwrap_or_else(PoisonError::into_inner) = client;
        }
    }

    pub(super) fn phase(&self) -> Phase {
        let requests = self.requests.load(Relaxed);
        if self.write_blocked.load(Relaxed) {
            Phase::Client(self.writes.load(Relaxed))
        } else if self.busy.load(Relaxed) {
            Phase::Answer(requests)
        } else if self.reading.load(Relaxed) {
            Phase::Head(requests)
        } else {
            Phase::Idle(requests)
        }
    }

    /// Returns whether the body of the last request may be unread.
    pub(super) fn refused(&self) -> bool {
        self.refused.load(Relaxed)
    }

    /// Begins the turn of a request, whose head was read. The turn holds no slot yet.
    pub(super) fn begin(&self) -> Turn {
        let requests = self.requests.load(Relaxed);
        self.requests.store(requests.wrapping_add(1), Relaxed);
        self.busy.store(true, Relaxed);
        // The previous request is over, so this number is new.
        let turn = Turn(self.turn.load(SeqCst));
        self.wait.begin_turn(turn);
        // A handler may still hold the body of the previous request.
        if self.wait.bytes() > 0 {
            self.shared.admission.connections.give_up(self);
        }
        turn
    }

    /// Ends the turn of a request, with or without an answer, and frees its slot.
    pub(super) fn answered(&self) {
        let next = (self.turn.load(SeqCst) | 1).wrapping_add(1);
        if self.turn.swap(next, SeqCst) & 1 == 1 {
            self.shared.admission.slots.release();
        }
    }

    /// Returns the bytes written so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    /// Assigns an acquired slot to a turn. If the turn is over, the slot is freed.
    pub(super) fn assign_slot(&self, Turn(turn): Turn) {
        if self.turn.compare_exchange(turn, turn | 1, SeqCst, SeqCst).is_err() {
            self.shared.admission.slots.release();
        }
    }

    /// Frees the slot of a turn, if it holds one.
    pub(super) fn rest(&self, Turn(turn): Turn) {
        if self.turn.compare_exchange(turn | 1, turn, SeqCst, SeqCst).is_ok() {
            self.shared.admission.slots.release();
        }
    }

    /// Returns whether a turn continues without a slot.
    pub(super) fn is_at_rest(&self, Turn(turn): Turn) -> bool {
        self.turn.load(SeqCst) == turn
    }

    /// Ends a request, with `status` unless its future was dropped.
    pub(super) fn end(&self, status: Option<StatusCode>, is_package: bool) {
        self.busy.store(false, Relaxed);
        self.reading.store(false, Relaxed);
        let refused = status.is_some_and(|status| {
            let of_server = [StatusCode::NOT_IMPLEMENTED, StatusCode::SERVICE_UNAVAILABLE];
            status.is_client_error() || of_server.contains(&status)
        });
        self.refused.store(refused || is_package, Relaxed);
    }

    fn read(&self) {
        self.reading.store(true, Relaxed);
    }

    fn wrote(&self, result: &Poll<io::Result<usize>>) {
        self.write_blocked.store(result.is_pending(), Relaxed);
        if let Poll::Ready(result) = result {
            let writes = self.writes.load(Relaxed);
            self.writes.store(writes.wrapping_add(1), Relaxed);
            let sent = self.sent.load(Relaxed);
            self.sent.store(sent + *result.as_ref().unwrap_or(&0) as u64, Relaxed);
        }
    }
}

/// Up to this size in bytes, the head and body of an answer are copied into one buffer. That is faster than a vectored
/// write of two.
const JOINED: usize = 8 << 10;

thread_local! {
    /// The buffer of this thread for such copies.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A stream that reports its reads and writes, and first returns bytes that were read too early.
pub(super) struct Watched<T> {
    stream: TokioIo<T>,
    early: Bytes,
    activity: Arc<Activity>,
}

impl<T: Connection> Watched<T> {
    /// Creates a stream that returns `early` before the bytes of `stream`.
    pub(super) fn new(stream: T, early: Bytes, activity: Arc<Activity>) -> Self {
        Watched { stream: TokioIo::new(stream), early, activity }
    }

    /// Returns the stream and the remaining early bytes.
    pub(super) fn into_parts(self) -> (T, Bytes) {
        (self.stream.into_inner(), self.early)
    }
}

impl<T: Connection> Read for Watched<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.early.is_empty() {
            let length = self.early.len().min(buffer.remaining());
            buffer.put_slice(&self.early[..length]);
            self.early.advance(length);
            self.activity.read();
            return Poll::Ready(Ok(()));
        }
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if result.is_ready() {
            self.activity.read();
        }
        result
    }
}

impl<T: Connection> Write for Watched<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.activity.wrote(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if slices.iter().map(|slice| slice.len()).sum::<usize>() > JOINED {
            let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
            self.activity.wrote(&result);
            return result;
        }
        let mut joined = BUFFER.take();
        joined.clear();
        slices.iter().for_each(|slice| joined.extend_from_slice(slice));
        let result = self.poll_write(cx, &joined);
        BUFFER.set(joined);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(cx);
        // A stream with its own buffer may block here, and no write follows when it continues.
        self.activity.write_blocked.store(result.is_pending(), Relaxed);
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
