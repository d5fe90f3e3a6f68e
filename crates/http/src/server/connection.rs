//! The life of one connection: without buffers while it is idle, served by hyper while requests arrive, and closed in
//! time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, Sleep, sleep, timeout};

use super::activity::{Activity, Phase, Watched};
use super::exchange::Exchanges;
use super::listener::Connection;
use super::state::{ServerState, Timeouts};
use super::stop::Order;
use crate::error::BoxError;
use crate::timeout::{after, allowed};

/// How long a connection that the server closes may be silent before it is dropped, see [`linger`].
const LINGER: Duration = Duration::from_secs(2);

/// The total time for which such a connection is read.
const LINGER_TIME: Duration = Duration::from_secs(5);

/// The most bytes that are read from such a connection: the default size limit of a message.
const LINGER_BYTES: usize = 16 << 20;

/// How long a connection without a request stays open after the order to finish. A request may be on its way.
const LAST_CALL: Duration = Duration::from_millis(500);

/// Serves one connection until its end.
///
/// A connection that waits for a request has no hyper state and no buffers: it waits for the stream to become readable.
/// Then hyper serves it, until nothing has happened for a tick of the [`Clock`].
pub(super) async fn serve<T, S, B>(mut stream: T, service: S, shared: Arc<ServerState>)
where
    T: Connection,
    S: tower_service::Service<Request<Incoming>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<BoxError>,
{
    let (timeouts, service) = (&shared.timeouts, Arc::new(Mutex::new(service)));
    let activity = Arc::new(Activity::new(shared.clone(), &stream));
    let Some(_open) = shared.admission.connections.open(activity.clone()) else {
        return;
    };
    let mut alarm = pin!(sleep(timeouts.header_read));
    let mut early = Bytes::new();
    loop {
        activity.wait(Duration::ZERO, 0);
        let (mut is_last, mut is_welcome) = (false, true);
        let is_readable = poll_fn(|cx| {
            // Before the order is read, so that the next order wakes this task. A task has only one waker, so it needs to be set only here.
            activity.wait.set_waker(cx.waker());
            if activity.wait.is_over() {
                return Poll::Ready(Err(LeaveReason::Ordered));
            }
            match shared.stop.order() {
                Order::Run => {}
                Order::Finish if is_last => {}
                Order::Finish => {
                    is_last = true;
                    let until = alarm.deadline().min(Instant::now() + LAST_CALL);
                    alarm.as_mut().reset(until);
                }
                Order::Close => return Poll::Ready(Err(LeaveReason::Ordered)),
            }
            if !early.is_empty() {
                return Poll::Ready(Ok(()));
            }
            if let Poll::Ready(readable) = stream.poll_readable(cx) {
                return Poll::Ready(readable.map_err(|_| LeaveReason::Broken));
            }
            // A proxy names the client before the TLS handshake. Check the limit first, because a handshake costs more.
            is_welcome = record_peer(&activity, &stream);
            if !is_welcome {
                return Poll::Ready(Err(LeaveReason::Ordered));
            }
            match stream.handshake_bytes() {
                0 => {}
                came => activity.moved(came),
            }
            alarm.as_mut().poll(cx).map(|()| Err(if is_last { LeaveReason::Ordered } else { LeaveReason::Late }))
        });
        let is_readable = is_readable.await;
        if let Err(leave) = is_readable
            && is_welcome
        {
            shared.observers.no_request(&stream, leave == LeaveReason::Late);
        }
        if is_readable.is_err() || !record_peer(&activity, &stream) {
            return send_end(stream);
        }
        activity.wait.end();
        let service = Exchanges::new(service.clone(), activity.clone(), stream.tls_peer());
        let io = Watched::new(stream, early, activity.clone());
        // Boxed, so that an idle connection needs no memory for it.
        let mut http = Box::new(shared.http.serve_connection(io, service));
        let mut clock = Clock::new(timeouts, &activity);
        let mut order = Order::Run;
        let end = poll_fn(|cx| {
            if shared.stop.order() != order {
                order = shared.stop.order();
                clock.limit_wait();
                // `graceful_shutdown` would close an idle connection whose next request may be on its way. That request
                // is answered with `Connection: close`.
                if matches!(activity.phase(), Phase::Answer(_) | Phase::Client(_)) {
                    Pin::new(&mut *http).graceful_shutdown();
                }
            }
            if order == Order::Close {
                return Poll::Ready(End::Late);
            }
            // Check before polling hyper: a connection that is dropped during the poll is woken, and handles that at
            // the next poll.
            let was_over = activity.wait.is_over();
            match Pin::new(&mut *http).poll(cx) {
                Poll::Ready(result) => Poll::Ready(End::Closed { in_order: result.is_ok() }),
                // A reader of the body has been notified by now. If there is none, close the connection.
                Poll::Pending if was_over && activity.wait.is_over() => Poll::Ready(End::Late),
                Poll::Pending => clock.poll(alarm.as_mut(), cx),
            }
        });
        let end = end.await;
        let parts = http.into_parts();
        (stream, early) = parts.io.into_parts();
        match end {
            End::Idle if order > Order::Run => return send_end(stream),
            End::Idle => {
                early = joined(parts.read_buf, early);
                let passed = timeouts.tick();
                alarm.as_mut().reset(after(timeouts.keep_alive.saturating_sub(passed)));
            }
            End::Closed { in_order } if activity.refused() || !in_order => {
                activity.wait(Duration::ZERO, 0);
                let ordered = poll_fn(|_| match shared.stop.order() {
                    _ if activity.wait.is_over() => Poll::Ready(()),
                    Order::Close => Poll::Ready(()),
                    Order::Run | Order::Finish => Poll::Pending,
                });
                // The connection is closed in either case.
                return tokio::select! {
                    () = ordered => {}
                    _ = timeout(LINGER_TIME, linger(stream)) => {}
                };
            }
            // A truncated answer must not seem complete.
            End::Late if !matches!(activity.phase(), Phase::Answer(_) | Phase::Client(_)) => return send_end(stream),
            End::Closed { .. } | End::Late => return,
        }
    }
}

/// Records the peer of a connection as soon as it is known. Returns `false` if that peer has too many connections.
fn record_peer(activity: &Activity, stream: &impl Connection) -> bool {
    activity.peer().is_some()
        || stream.peer().is_none_or(|peer| activity.shared.admission.connections.record_peer(activity, peer))
}

/// Sends the end of the stream without waiting. With TLS, the peer can then tell a closed connection from a broken one.
fn send_end<T: Connection>(mut stream: T) {
    // Nobody could handle an error here.
    let _ = Pin::new(&mut stream).poll_shutdown(&mut Context::from_waker(Waker::noop()));
}

/// Why the server stops waiting for a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeaveReason {
    Broken,
    Late,
    /// Another connection needs the place, or the server ends.
    Ordered,
}

/// Why hyper stops serving a connection.
enum End {
    /// No request arrived for a while.
    Idle,
    /// The connection is closed; `in_order` unless hyper reported an error.
    Closed { in_order: bool },
    /// The client or the shutdown has exceeded its time limit.
    Late,
}

/// The only timer of a connection.
///
/// While requests arrive, it is set once per tick, and then checks whether anything happened. It is set immediately
/// only for rare waits: for the rest of a head, and for a client that doesn't read.
struct Clock<'a> {
    timeouts: &'a Timeouts,
    activity: &'a Activity,
    /// The phase of the connection when the timer was set.
    set_in: Option<Phase>,
    /// When the client stopped reading, and how many bytes had been written by then.
    unread: Option<(Instant, u64)>,
    tick: Duration,
}

impl<'a> Clock<'a> {
    fn new(timeouts: &'a Timeouts, activity: &'a Activity) -> Self {
        Clock { timeouts, activity, set_in: None, unread: None, tick: timeouts.tick() }
    }

    /// From now on, waits at most [`LAST_CALL`] for a request.
    fn limit_wait(&mut self) {
        self.set_in = None;
        self.tick = LAST_CALL;
    }

    /// Must be polled whenever hyper is pending.
    fn poll(&mut self, mut alarm: Pin<&mut Sleep>, cx: &mut Context<'_>) -> Poll<End> {
        loop {
            let phase = self.activity.phase();
            let is_same = self.set_in == Some(phase);
            if self.unread.is_some() && !matches!(phase, Phase::Client(_)) {
                self.unread = None;
                self.activity.wait.end();
            }
            let (limit, is_strict) = match phase {
                // The service has its own time limits, and hyper continues when it has answered.
                Phase::Answer(_) => return Poll::Pending,
                Phase::Idle(_) => (self.tick, false),
                Phase::Head(_) => (self.timeouts.header_read, true),
                Phase::Client(_) if is_same => (Duration::ZERO, true),
                Phase::Client(_) => (self.remaining_wait(), true),
            };
            // A timer that was set for another phase may end later than the tick.
            let ticks = !is_strict && matches!(self.set_in, Some(Phase::Idle(_)));
            if is_same || ticks {
                // The timer has stored the waker, so a check is enough.
                if !alarm.is_elapsed() {
                    return Poll::Pending;
                }
                if is_same {
                    return Poll::Ready(if is_strict { End::Late } else { End::Idle });
                }
            }
            self.set_in = Some(phase);
            if matches!(phase, Phase::Head(_)) {
                self.activity.wait(Duration::ZERO, 0);
            }
            alarm.as_mut().reset(after(limit));
            if alarm.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl Clock<'_> {
    /// Returns how long the client may still leave the written bytes unread.
    fn remaining_wait(&mut self) -> Duration {
        let Timeouts { write, write_rate, .. } = *self.timeouts;
        let sent = self.activity.sent();
        let (since, before) = *self.unread.get_or_insert_with(|| (Instant::now(), sent));
        let (waited, moved) = (since.elapsed(), sent - before);
        self.activity.wait(waited, moved);
        write.min(allowed(write, write, write_rate, moved).saturating_sub(waited))
    }
}

fn joined(first: Bytes, second: Bytes) -> Bytes {
    if second.is_empty() {
        return first;
    }
    let mut both = BytesMut::from(first);
    both.extend_from_slice(&second);
    both.freeze()
}

/// Closes the writing half and reads what still arrives, up to a number of bytes.
///
/// After a rejection the client may still be sending its body. Closing a socket with unread bytes resets the
/// connection, and the reset can overtake the response (RFC 9112 §9.6). A client that reads while it sends has stopped
/// by then.
async fn linger<T: Connection>(mut stream: T) {
    let mut unread = vec![0; 8 * 1024];
    // hyper has closed it in most cases. An error also shows when reading.
    let _ = timeout(LINGER, stream.shutdown()).await;
    let mut left = LINGER_BYTES;
    while let Ok(Ok(length @ 1..)) = timeout(LINGER, stream.read(&mut unread)).await
        && let Some(less) = left.checked_sub(length)
    {
        left = less;
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    use castile_soap::{Description, Pending, ReplyMessage, RequestMessage};
    use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader, DuplexStream, ReadBuf, duplex};

    use super::super::connections::Received;
    use super::super::{Endpoint, Server};
    use super::*;

    /// A stream that begins another request in its flush, after hyper has polled the body. Its own connection is then
    /// dropped to make room.
    struct Crowded {
        stream: BufReader<DuplexStream>,
        shared: Arc<ServerState>,
        makes_room: Arc<AtomicBool>,
    }

    impl AsyncRead for Crowded {
        fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_read(cx, out)
        }
    }

    impl AsyncWrite for Crowded {
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.stream).poll_write(cx, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            if self.makes_room.swap(false, Relaxed) {
                let other = Arc::new(Activity::new(self.shared.clone(), &*self));
                drop(Received::new(other.clone(), other.begin(), 0));
            }
            Pin::new(&mut self.stream).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_shutdown(cx)
        }
    }

    impl Connection for Crowded {
        fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_fill_buf(cx).map_ok(|_| ())
        }
    }

    struct Nothing;

    impl castile_soap::Service for Nothing {
        fn description(&self) -> &'static Description {
            static DESCRIPTION: Description = Description::new("Nothing", "urn:nothing", &[]);
            &DESCRIPTION
        }

        fn call(&self, request: RequestMessage, _: &castile_soap::Options) -> Pending {
            Box::pin(std::future::ready(ReplyMessage::empty(request.version)))
        }
    }

    /// Regression: the connection was cut off if it was to be dropped just between polling the body and checking for
    /// that.
    #[tokio::test(start_paused = true)]
    async fn a_client_dropped_while_hyper_reads_is_answered() {
        let shared = Arc::new(Server::new().max_requests_receiving(1).into_shared());
        let (mut client, server) = duplex(16 << 10);
        let makes_room = Arc::new(AtomicBool::new(false));
        let crowded =
            Crowded { stream: BufReader::new(server), shared: shared.clone(), makes_room: makes_room.clone() };
        tokio::spawn(serve(crowded, Endpoint::new(Nothing), shared));
        let head = b"POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 100\r\n\r\n<a>";
        client.write_all(head).await.unwrap();
        sleep(Duration::from_secs(1)).await;
        makes_room.store(true, Relaxed);
        client.write_all(b"<b>").await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer:?}");
    }
}
