//! What a connection is doing, seen from outside hyper.
//!
//! hyper owns the stream and the service while it serves a connection; both report here, and the connection's task
//! reads it to know which time limit applies. All of it happens in one task, so relaxed loads and stores are enough;
//! they are atomics only because tasks move between threads.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::StatusCode;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;

use super::listener::Connection;

/// The state of one connection.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// Requests begun so far.
    requests: AtomicU32,
    /// Whether a request is being answered.
    busy: AtomicBool,
    /// Whether bytes came that belong to no request yet.
    reading: AtomicBool,
    /// Whether the client has to read before more can be written.
    write_blocked: AtomicBool,
    /// Writes that got through so far.
    writes: AtomicU32,
    /// Whether a request was refused, or came in a package, so that its body may be unread.
    refused: AtomicBool,
}

/// What a connection waits for. Two equal phases at different times are the same wait: the count tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The next request, after so many.
    Idle(u32),
    /// The rest of a head, after so many requests.
    Head(u32),
    /// The answer to the request with this number.
    Answer(u32),
    /// The client, to read what was written after so many writes.
    Client(u32),
}

impl Activity {
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

    /// Whether the last response was one that may leave the body of its request unread.
    pub(super) fn refused(&self) -> bool {
        self.refused.load(Relaxed)
    }

    /// A request's head is read.
    pub(super) fn begin(&self) {
        let requests = self.requests.load(Relaxed);
        self.requests.store(requests.wrapping_add(1), Relaxed);
        self.busy.store(true, Relaxed);
    }

    /// A request is answered, with `status` unless its future was dropped.
    pub(super) fn end(&self, status: Option<StatusCode>, is_package: bool) {
        self.busy.store(false, Relaxed);
        self.reading.store(false, Relaxed);
        let refused =
            status.is_some_and(|status| status.is_client_error() || status == StatusCode::SERVICE_UNAVAILABLE);
        self.refused.store(refused || is_package, Relaxed);
    }

    fn read(&self) {
        self.reading.store(true, Relaxed);
    }

    fn wrote<T>(&self, result: &Poll<T>) {
        self.write_blocked.store(result.is_pending(), Relaxed);
        if result.is_ready() {
            let writes = self.writes.load(Relaxed);
            self.writes.store(writes.wrapping_add(1), Relaxed);
        }
    }
}

/// Up to so many bytes, head and body of an answer are copied into one piece: that takes less time than for the kernel to take a
/// list of two.
const JOINED: usize = 8 << 10;

thread_local! {
    /// Where they are copied to, on this thread.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A connection that reports its reads and writes, and gives back bytes that were read too early.
pub(super) struct Watched<T> {
    stream: TokioIo<T>,
    early: Bytes,
    activity: Arc<Activity>,
}

impl<T: Connection> Watched<T> {
    /// `early` comes before all that `stream` has yet to give.
    pub(super) fn new(stream: T, early: Bytes, activity: Arc<Activity>) -> Self {
        Watched { stream: TokioIo::new(stream), early, activity }
    }

    /// The stream, and what is left of the early bytes.
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
        if result.is_pending() {
            self.activity.wrote(&result);
        }
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
