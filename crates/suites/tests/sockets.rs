//! Tests what only sockets show: connections that idle, send garbage, stop in the middle or disconnect.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use castile::http::server::Server;
use common::layout::SOAP;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// As many as the load generators of the published reports kept open.
const IDLE: usize = 3_500;
/// File descriptors that a test process needs for other purposes.
const OTHERS: usize = 100;
/// The longest time that a client waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server on separate threads.
struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: std::thread::JoinHandle<()>,
}

impl Running {
    fn start(server: Server) -> Running {
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                tell.send(listener.local_addr().unwrap()).unwrap();
                let stopped = async { stopped.await.unwrap_or(()) };
                let _ = server.serve(listener, castile_suites::routes(), stopped).await;
            });
        });
        Running { address: told.recv().unwrap(), stop: Some(stop), thread }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    fn stop(mut self) {
        self.stop.take().unwrap().send(()).unwrap();
        self.thread.join().unwrap();
    }
}

fn request() -> String {
    let message = format!(
        "<e:Envelope xmlns:e='{SOAP}'><e:Body><echoInts xmlns='http://www.extreme.indiana.edu/wsdl/Benchmark1'>\
         <input>7</input></echoInts></e:Body></e:Envelope>"
    );
    let length = message.len();
    format!(
        "POST /benchmark1 HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: {length}\r\n\r\n{message}"
    )
}

/// Sends a request and reads its answer, which leaves the connection open.
fn ask(stream: &mut TcpStream) {
    stream.write_all(request().as_bytes()).unwrap();
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    while !answer.ends_with(b"</soap:Envelope>") {
        let length = stream.read(&mut buffer).unwrap();
        assert!(length > 0, "closed after {}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&buffer[..length]);
    }
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("<echoIntsReturn>7<"), "{answer}");
}

/// Returns what is received until the server closes. A reset counts as the end, since the server may close with
/// unread bytes.
fn rest(stream: &mut TcpStream) -> String {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the server did not close: {error}"),
    }
    String::from_utf8_lossy(&rest).into_owned()
}

/// Returns the resident memory of this process in bytes, on Linux.
fn resident() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()? << 10)
}

/// Returns how many idle connections this process can hold both ends of.
fn possible() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap_or_default();
    let soft = line.split_whitespace().next().and_then(|soft| soft.parse().ok()).unwrap_or(1_024);
    IDLE.min(usize::saturating_sub(soft, OTHERS) / 2)
}

#[test]
fn idle_connections_cost_little() {
    let count = possible();
    if count < IDLE {
        println!("SCALED DOWN: {count} idle connections in place of {IDLE}; `ulimit -n` allows no more");
    }
    let server = Running::start(Server::new());
    // The first connections include one-time costs.
    let mut idle: Vec<TcpStream> = (0..count / 4).map(|_| server.connect()).collect();
    idle.iter_mut().for_each(ask);
    let before = resident();
    idle.extend((count / 4..count).map(|_| {
        let mut stream = server.connect();
        ask(&mut stream);
        stream
    }));
    if let (Some(before), Some(after)) = (before, resident()) {
        let each = after.saturating_sub(before) / (count - count / 4);
        assert!(each < 64 << 10, "{each} bytes for each idle connection");
    }
    let start = Instant::now();
    let mut stream = server.connect();
    (0..100).for_each(|_| ask(&mut stream));
    // 100 answers take some milliseconds. They would take much longer only if each had to check all connections.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?} for 100 requests", start.elapsed());
    ask(&mut idle[count / 2]);

    let start = Instant::now();
    server.stop();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?} to stop", start.elapsed());
    for mut stream in idle {
        assert_eq!(rest(&mut stream), "");
    }
}

#[test]
fn nonsense_ends_its_own_connection() {
    let server = Running::start(Server::new());
    for nonsense in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03"[..],
        b"hello\r\n\r\n",
        b"POST\r\n\r\n",
        b"POST /benchmark1 HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /benchmark1 HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST /benchmark1 HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\ncontent-type: text/xml\r\n\r\nxyz\r\n",
        b"POST /benchmark1 HTTP/7.1\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ] {
        let mut other = server.connect();
        ask(&mut other);
        let mut stream = server.connect();
        stream.write_all(nonsense).unwrap();
        let answer = rest(&mut stream);
        let shown = String::from_utf8_lossy(nonsense);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{shown}\n{answer}");
        ask(&mut other);
    }
    // A head without an end.
    let mut stream = server.connect();
    let line = b"x-header: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n".repeat(100);
    let sent =
        stream.write_all(b"POST / HTTP/1.1\r\n").and_then(|()| (0..1_000).try_for_each(|_| stream.write_all(&line)));
    assert!(sent.is_err() || rest(&mut stream).starts_with("HTTP/1.1 4"));
    ask(&mut server.connect());
    server.stop();
}

#[test]
fn half_a_head_and_half_a_body_are_not_waited_for_without_end() {
    let server = Running::start(Server::new().header_read_timeout(Duration::from_secs(1)));
    let start = Instant::now();
    let mut waiting: Vec<TcpStream> = ["", "P", "POST /benchmark1 HTTP/1.1\r\nhost: h\r\n"]
        .map(|half| {
            let mut stream = server.connect();
            stream.write_all(half.as_bytes()).unwrap();
            stream
        })
        .into();
    ask(&mut server.connect());
    for stream in &mut waiting {
        assert_eq!(rest(stream), "");
    }
    assert!(start.elapsed() < PATIENCE / 2, "{:?}", start.elapsed());

    let request = request();
    for length in [request.len() - 1, request.len() - 100] {
        let mut stream = server.connect();
        stream.write_all(&request.as_bytes()[..length]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let answer = rest(&mut stream);
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("the message broke off after"), "{answer}");
    }
    // Disconnected without notice.
    let mut stream = server.connect();
    stream.write_all(&request.as_bytes()[..request.len() - 1]).unwrap();
    drop(stream);
    ask(&mut server.connect());
    server.stop();
}

#[test]
fn requests_in_pieces_and_in_one_piece_are_served() {
    let server = Running::start(Server::new());
    let mut stream = server.connect();
    for byte in request().as_bytes() {
        stream.write_all(std::slice::from_ref(byte)).unwrap();
    }
    // Its answer and the next one are sent one after the other.
    stream.write_all(request().replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n").as_bytes()).unwrap();
    let answers = rest(&mut stream);
    assert_eq!(answers.matches("HTTP/1.1 200 ").count(), 2, "{answers}");
    assert_eq!(answers.matches("<echoIntsReturn>7<").count(), 2, "{answers}");
    server.stop();
}
