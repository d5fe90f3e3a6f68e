//! A worker and a master over TCP: connections that fail, break and are made again.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::time::Duration;

use castile_locust::{Event, Report, Worker};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A greeting of ZMTP 3.1 without security, and the READY of a ROUTER.
fn greeting() -> Vec<u8> {
    let mut bytes = vec![0; 64];
    (bytes[0], bytes[9], bytes[10], bytes[11]) = (0xff, 0x7f, 3, 1);
    bytes[12..16].copy_from_slice(b"NULL");
    bytes.extend_from_slice(b"\x04\x29\x05READY\x0bSocket-Type\0\0\0\x06ROUTER\x08Identity\0\0\0\0");
    bytes
}

const ACK: &[u8] = b"\x93\xa3ack\x81\xa5index\x00\xa1w";
const HEARTBEAT: &[u8] = b"\x93\xa9heartbeat\xc0\xa1w";
const SPAWN: &[u8] = b"\x93\xa5spawn\x82\xa9timestamp\x01\xb2user_classes_count\x81\xa1C\x02\xa1w";
const QUIT: &[u8] = b"\x93\xa4quit\xc0\xa1w";

async fn send(stream: &mut TcpStream, message: &[u8]) {
    let head = [0, u8::try_from(message.len()).unwrap()];
    stream.write_all(&[&head, message].concat()).await.unwrap();
}

/// Accepts a worker and reads its part of the handshake, which ends with its name.
async fn accept(listener: &TcpListener) -> TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.write_all(&greeting()).await.unwrap();
    read_until(&mut stream, b"\x08Identity\0\0\0\x01w").await;
    stream
}

async fn read_until(stream: &mut TcpStream, text: &[u8]) {
    let mut seen = Vec::new();
    while !seen.windows(text.len()).any(|window| window == text) {
        assert!(stream.read_buf(&mut seen).await.unwrap() > 0, "{}", seen.escape_ascii());
    }
}

/// Returns the worker's next event that isn't about the connection.
async fn event(worker: &mut Worker) -> Event {
    loop {
        match worker.next().await {
            Event::Disconnected(_) => {}
            event => return event,
        }
    }
}

async fn with_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.unwrap()
}

#[tokio::test]
async fn a_worker_survives_what_is_no_master_and_a_connection_that_breaks() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let master = async {
        // Something else listens there at first, and then nobody reads what it sends.
        let (mut other, _) = listener.accept().await.unwrap();
        other.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        let mut stream = accept(&listener).await;
        read_until(&mut stream, b"client_ready").await;
        send(&mut stream, ACK).await;
        send(&mut stream, SPAWN).await;
        read_until(&mut stream, b"spawning_complete").await;
        drop(stream);
        // The worker is the same, and doesn't offer itself again.
        let mut stream = accept(&listener).await;
        let mut seen = Vec::new();
        while !seen.windows(9).any(|window| window == b"heartbeat") {
            assert!(stream.read_buf(&mut seen).await.unwrap() > 0);
        }
        assert!(!seen.windows(12).any(|window| window == b"client_ready"), "{}", seen.escape_ascii());
        send(&mut stream, HEARTBEAT).await;
        send(&mut stream, QUIT).await;
        read_until(&mut stream, b"user_count\x02\xa1w").await;
    };
    let worker = async {
        let mut worker = Worker::new(address, "w");
        assert!(matches!(worker.next().await, Event::Disconnected(why) if why == "the peer doesn't speak ZeroMQ"));
        assert!(!worker.is_up());
        assert_eq!(event(&mut worker).await, Event::Known { index: Some(0) });
        let Event::Users(users) = event(&mut worker).await else { panic!() };
        assert_eq!((users.count(), worker.is_up()), (2, true));
        worker.running(users);
        assert_eq!(event(&mut worker).await, Event::Quit);
        worker.report(&Report::default());
        worker.close(Duration::from_secs(10)).await;
    };
    with_time(async { tokio::join!(master, worker) }).await;
}

/// A worker once had time for nothing else while messages came that it doesn't know.
#[tokio::test]
async fn a_flood_of_messages_that_mean_nothing_leaves_time_for_others() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    // Faster than the worker, because it has a thread of its own.
    let flood = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut stream = accept(&listener).await;
            let mut many = Vec::new();
            while many.len() < 1 << 20 {
                many.extend_from_slice(b"\0\x0a\x93\xa5other\xc0\xa1w");
            }
            while stream.write_all(&many).await.is_ok() {}
        });
    });
    let mut worker = Worker::new(address, "w");
    let ticks = async {
        let mut tick = tokio::time::interval(Duration::from_millis(10));
        for _ in 0..50 {
            tick.tick().await;
        }
    };
    with_time(async {
        tokio::select! {
            event = worker.next() => panic!("{event:?}"),
            () = ticks => {}
        }
    })
    .await;
    drop(worker);
    flood.join().unwrap();
}
