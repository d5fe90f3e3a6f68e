//! A toy service and an in-memory network, so that tests with a paused clock are exact.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(dead_code, unreachable_pub, reason = "every test file has a copy of its own and uses a part of it")]

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use castile_http::server::{Connection, Endpoint, Listener, Options, Server, Shutdown};
use castile_mime::{Content, Part};
use castile_soap::{Description, FaultCode, ReplyMessage, Service};
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, ReadBuf};
use tokio::net::TcpSocket;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// A service that does what the action demands, and answers with the received bytes.
pub struct Echo;

static DESCRIPTION: Description = Description::new("Echo", "urn:echo", &[]).with_documents(
    &[castile_soap::Document::wsdl(
        r#"<definitions><documentation>at http://example.invalid/echo</documentation><soap:address location="http://example.invalid/echo"/></definitions>"#,
    )],
    "http://example.invalid/echo",
);

impl Service for Echo {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn call(
        &self,
        request: castile_soap::RequestMessage,
        _: &castile_soap::Options,
    ) -> BoxFuture<'static, ReplyMessage> {
        let castile_soap::RequestMessage { action, version, message, mut attachments, reservation, deadline, .. } =
            request;
        Box::pin(async move {
            match action.as_str() {
                "back" => {
                    let attachment = attachments.next().await.unwrap().unwrap();
                    let id = attachment.head().content_id().unwrap().clone();
                    let part = Part::new(id, "text/plain", attachment.into()).unwrap();
                    let mut reply = ReplyMessage::new(version, message);
                    reply.parts.push(part);
                    return reply;
                }
                "attachment" => {
                    let attachment = attachments.next().await;
                    let content = match attachment {
                        Ok(attachment) => attachment.unwrap().collect(1 << 20).await,
                        Err(error) => Err(error),
                    };
                    return match content {
                        Ok(content) => ReplyMessage::new(version, Bytes::from(format!("{} bytes", content.len()))),
                        Err(error) => {
                            let source = std::error::Error::source(&error).map(ToString::to_string);
                            let said = format!("{error}: {}", source.unwrap_or_default());
                            ReplyMessage::of_fault(version, FaultCode::Sender, Bytes::from(said))
                        }
                    };
                }
                "task" => {
                    let read = async move { attachments.next().await.unwrap().unwrap().collect(1 << 20).await };
                    let content = tokio::spawn(read).await.unwrap().unwrap();
                    return ReplyMessage::new(version, Bytes::from(format!("{} bytes", content.len())));
                }
                "impatient" => {
                    let read = async { attachments.next().await.unwrap().unwrap().collect(1 << 20).await };
                    let _ = tokio::time::timeout(Duration::from_secs(1), read).await;
                    tokio::time::sleep(Duration::from_secs(5)).await;
                }
                "by name" => {
                    let named = attachments.by_url("cid:named@part").await;
                    let read = async { named?.collect(1 << 20).await };
                    return match read.await {
                        Ok(content) => ReplyMessage::new(version, Bytes::from(format!("{} bytes", content.len()))),
                        Err(error) => {
                            ReplyMessage::of_fault(version, FaultCode::Receiver, Bytes::from(error.to_string()))
                        }
                    };
                }
                "charged" => {
                    let mut reply = ReplyMessage::new(version, message);
                    reply.reservation = reservation;
                    return reply;
                }
                "sleep 5" => tokio::time::sleep(Duration::from_secs(5)).await,
                "hang" => std::future::pending().await,
                "read and hang" => {
                    attachments.next().await.unwrap().unwrap().collect(1 << 20).await.unwrap();
                    std::future::pending().await
                }
                "deadline" => {
                    let left = deadline.map(|deadline| deadline.saturating_duration_since(std::time::Instant::now()));
                    let said = left.map_or("none".into(), |left| format!("{} s", left.as_secs_f64().round()));
                    return ReplyMessage::new(version, Bytes::from(said));
                }
                _ => {}
            }
            if action == "broken stream" {
                let failed = futures_util::stream::iter([Err::<http_body::Frame<Bytes>, _>(io::Error::other(
                    "secret-password",
                ))]);
                return ReplyMessage::new(version, Content::stream(http_body_util::StreamBody::new(failed)));
            }
            if let Some(pieces) = action.strip_prefix("stream ") {
                let pieces = pieces.parse().unwrap();
                let frames = futures_util::stream::unfold(0, move |number| async move {
                    if number == pieces {
                        return None;
                    }
                    tokio::time::sleep(Duration::from_secs(10)).await;
                    let frame = http_body::Frame::data(Bytes::from_static(b"piece"));
                    Some((Ok::<_, io::Error>(frame), number + 1))
                });
                return ReplyMessage::new(version, Content::stream(http_body_util::StreamBody::new(frames)));
            }
            let message = if action == "action" { format!("[{action}]").into() } else { message };
            let fault = match action.as_str() {
                "fault" => Some(FaultCode::Receiver),
                "sender's fault" => Some(FaultCode::Sender),
                _ => None,
            };
            match fault {
                None => ReplyMessage::new(version, message),
                Some(code) => ReplyMessage::of_fault(version, code, message),
            }
        })
    }
}

pub fn echo() -> Endpoint<Echo> {
    Endpoint::new(Echo)
}

pub fn echo_with(change: impl FnOnce(&mut Options)) -> Endpoint<Echo> {
    let mut options = Options::default();
    change(&mut options);
    Endpoint::with_options(Echo, options)
}

/// Answers with the address of the client and a full stop.
struct Peers;

impl Service for Peers {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn call(
        &self,
        request: castile_soap::RequestMessage,
        _: &castile_soap::Options,
    ) -> BoxFuture<'static, ReplyMessage> {
        let said = request.peer.map_or("nobody.".to_owned(), |peer| format!("{peer}."));
        Box::pin(async move { ReplyMessage::new(request.version, Bytes::from(said)) })
    }
}

pub fn peers() -> Endpoint<dyn Service> {
    Endpoint::new(Peers).boxed()
}

/// Creates a POST of `message` as a SOAP 1.1 client sends it, without a SOAPAction.
pub fn post(message: &'static str) -> Request<Full<Bytes>> {
    Request::post("/echo").header("content-type", "text/xml; charset=utf-8").body(Full::from(message)).unwrap()
}

/// Returns the response of `endpoint` with its body read.
pub async fn ask<E, B>(endpoint: &E, request: Request<B>) -> Response<String>
where
    E: tower_service::Service<Request<B>, Response = Response<castile_http::Body>, Error = Infallible> + Clone,
{
    let (head, body) = endpoint.clone().call(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Response::from_parts(head, String::from_utf8(body.to_vec()).unwrap())
}

/// A socket that refuses connections: it has a port, so that no other test gets it, and doesn't listen.
pub fn refusing() -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    socket
}

/// A server running in the runtime of this task, with connections in memory.
pub struct Host {
    connect: mpsc::UnboundedSender<io::Result<Accepted>>,
    stop: Option<oneshot::Sender<()>>,
    pub server: JoinHandle<Shutdown>,
}

impl Host {
    pub fn start<S, B>(server: Server, service: S) -> Self
    where
        S: tower_service::Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + 'static,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (connect, incoming) = mpsc::unbounded_channel();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async move {
            let _ = stopped.await;
        };
        let server = tokio::spawn(server.serve(Memory { incoming }, service, shutdown));
        Host { connect, stop: Some(stop), server }
    }

    /// Opens a connection.
    pub fn connect(&self) -> Client {
        // Small, so that an unread response soon blocks the server.
        self.connect_over(16 * 1024)
    }

    /// Opens a connection that buffers `capacity` bytes.
    pub fn connect_over(&self, capacity: usize) -> Client {
        let (client, server) = tokio::io::duplex(capacity);
        let _ = self.connect.send(Ok((server, None)));
        Client(client)
    }

    /// Opens a connection from an address.
    pub fn connect_from(&self, peer: [u8; 4]) -> Client {
        let (client, server) = tokio::io::duplex(16 * 1024);
        let _ = self.connect.send(Ok((server, Some(peer.into()))));
        Client(client)
    }

    /// Makes the next accept fail.
    pub fn fail_accept(&self, error: io::Error) {
        self.connect.send(Err(error)).unwrap();
    }

    pub fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }
}

pub struct Client(DuplexStream);

impl Client {
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.try_send(bytes).await.unwrap();
    }

    /// Sends bytes to a server that may close the connection meanwhile.
    pub async fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), String> {
        let sent = self.0.write_all(bytes.as_ref()).await;
        sent.map_err(|error| format!("nothing more can be sent: {error}"))
    }

    /// Reads at most `most` bytes; none if the connection is closed.
    pub async fn read(&mut self, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let length = self.0.read(&mut bytes).await.unwrap_or(0);
        bytes.truncate(length);
        bytes
    }

    /// Sends a POST with additional header lines, each ended by CR LF.
    pub async fn post(&mut self, headers: &str, message: &str) {
        let length = message.len();
        let head = format!("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: {length}\r\n");
        self.send(format!("{head}{headers}\r\n{message}")).await;
    }

    /// Closes the writing half.
    pub async fn finish(&mut self) {
        self.0.shutdown().await.unwrap();
    }

    /// Reads one response with a Content-Length. Returns its head and its body.
    pub async fn response(&mut self) -> (String, String) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.expect("a response"));
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).await.unwrap();
        (head, String::from_utf8(body).unwrap())
    }

    /// Reads the next response; `None` if the connection is closed instead. One without a Content-Length has no body.
    pub async fn next_response(&mut self) -> Option<(String, String)> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let length = head.split("content-length: ").nth(1).map_or("0", |rest| rest.split("\r\n").next().unwrap());
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).await.ok()?;
        Some((head, String::from_utf8(body).unwrap()))
    }

    /// Reads until the server closes the connection.
    pub async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        let _ = self.0.read_to_end(&mut rest).await;
        String::from_utf8(rest).unwrap()
    }
}

/// The server's end of a connection, and the address of the peer.
type Accepted = (DuplexStream, Option<IpAddr>);

struct Memory {
    incoming: mpsc::UnboundedReceiver<io::Result<Accepted>>,
}

impl Listener for Memory {
    type Connection = Buffered;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Buffered>> {
        match ready!(self.incoming.poll_recv(cx)) {
            Some(stream) => Poll::Ready(stream.map(|(stream, peer)| Buffered {
                stream: BufReader::new(stream),
                peer,
                is_unflushed: false,
            })),
            None => Poll::Pending,
        }
    }
}

/// A stream whose flush blocks once after a write, as that of TLS may.
pub struct Buffered {
    stream: BufReader<DuplexStream>,
    peer: Option<IpAddr>,
    is_unflushed: bool,
}

impl Connection for Buffered {
    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_fill_buf(cx).map_ok(|_| ())
    }

    fn peer(&self) -> Option<IpAddr> {
        self.peer
    }
}

impl AsyncRead for Buffered {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Buffered {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.is_unflushed = true;
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.is_unflushed = true;
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if std::mem::take(&mut self.is_unflushed) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
