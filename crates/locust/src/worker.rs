//! A worker: its connection to a master.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Report;
use crate::error::Violation;
use crate::link::{Event, Link, Users};

/// How long a worker waits before it connects again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How much is read at once.
const CHUNK: usize = 16 << 10;

/// A connection that is being made.
type Connecting = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// A worker of a master. It connects while [`Worker::next`] waits, and again after each loss.
pub struct Worker {
    address: String,
    link: Link,
    socket: Socket,
    /// Whether the loss of the connection was reported.
    is_lost: bool,
    chunk: Vec<u8>,
}

enum Socket {
    /// There is no connection before this time.
    Closed(Instant),
    Opening(Connecting),
    Open(TcpStream),
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("address", &self.address).field("link", &self.link).finish_non_exhaustive()
    }
}

impl Worker {
    /// Creates a worker of this name for the master at `HOST:PORT`. No two workers of a master may have the same name.
    pub fn new(address: impl Into<String>, name: impl Into<String>) -> Self {
        let now = Instant::now();
        let (address, link) = (address.into(), Link::new(name.into(), now));
        Worker { address, link, socket: Socket::Closed(now), is_lost: false, chunk: vec![0; CHUNK] }
    }

    /// Waits for the next event. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Event {
        loop {
            // Messages of which no event follows leave time for others, however many there are.
            tokio::task::consume_budget().await;
            match self.step().await {
                Ok(Some(event)) => return event,
                Ok(None) => {}
                Err(why) => {
                    self.socket = Socket::Closed(Instant::now() + PAUSE);
                    self.link.disconnected();
                    if !std::mem::replace(&mut self.is_lost, true) {
                        return Event::Disconnected(why.to_string());
                    }
                }
            }
        }
    }

    async fn step(&mut self) -> io::Result<Option<Event>> {
        let now = Instant::now();
        // The next loss is another one.
        self.is_lost &= !self.link.is_up(now);
        if let Some(event) = self.link.event(now).map_err(violation)? {
            return Ok(Some(event));
        }
        if self.link.tick(now) {
            return Ok(Some(Event::Lost));
        }
        if self.link.is_unanswered(now) {
            return Ok(Some(Event::Unanswered));
        }
        if self.link.is_broken() {
            return Err(io::Error::other("the connection is made again"));
        }
        let tick = tokio::time::sleep_until(self.link.next_tick().into());
        match &mut self.socket {
            Socket::Closed(until) if now >= *until => {
                let connect = TcpStream::connect(self.address.clone());
                self.socket = Socket::Opening(Box::pin(async {
                    let late = |_| io::Error::new(io::ErrorKind::TimedOut, "there is no connection in time");
                    tokio::time::timeout(CONNECT, connect).await.map_err(late)?
                }));
            }
            Socket::Closed(until) => {
                let until = *until;
                tokio::select! {
                    () = tick => {}
                    () = tokio::time::sleep_until(until.into()) => {}
                }
            }
            Socket::Opening(connecting) => tokio::select! {
                stream = connecting => {
                    let stream = stream?;
                    stream.set_nodelay(true)?;
                    self.socket = Socket::Open(stream);
                    self.link.connected(Instant::now());
                }
                () = tick => {}
            },
            Socket::Open(stream) => {
                let output = self.link.output();
                tokio::select! {
                    read = stream.readable() => {
                        read?;
                        match stream.try_read(&mut self.chunk) {
                            Ok(0) => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the master closed the connection")),
                            Ok(length) => self.link.push(&self.chunk[..length]),
                            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                            Err(error) => return Err(error),
                        }
                    }
                    written = write(stream, output), if !output.is_empty() => written?,
                    () = tick => {}
                }
            }
        }
        Ok(None)
    }

    /// Sends what waits to be sent, and waits until the master has closed the connection: for at most this long.
    pub async fn close(&mut self, most: Duration) {
        let Socket::Open(stream) = &mut self.socket else { return };
        let all = async {
            while !self.link.output().is_empty() {
                write(stream, self.link.output()).await?;
            }
            stream.shutdown().await?;
            // If something that was received isn't read, the system may take back what was sent.
            while stream.read(&mut self.chunk).await? > 0 {}
            io::Result::Ok(())
        };
        // What can't be sent in time is lost with the connection.
        let _ = tokio::time::timeout(most, all).await;
    }

    /// Returns whether the master would get a report now: it knows this worker, and has answered one of the last three heartbeats.
    /// Otherwise the report should be kept.
    pub fn is_up(&self) -> bool {
        self.link.is_up(Instant::now())
    }

    /// Sets what the worker uses: the share of a core in percent, and memory in bytes. A master warns above 90 %.
    pub fn usage(&mut self, cpu: f64, memory: u64) {
        self.link.usage(cpu, memory);
    }

    /// Reports that these users have been spawned.
    pub fn running(&mut self, users: Users) {
        self.link.running(users);
    }

    /// Reports what the users did since the last report.
    pub fn report(&mut self, report: &Report) {
        self.link.report(report);
    }

    /// Sends something to [Castile's plugin](crate::PLUGIN), if the master has it.
    pub fn send_to_plugin(&mut self, data: &impl Serialize) {
        self.link.send_to_plugin(data);
    }

    /// Returns the last time of the [plugin](crate::PLUGIN)'s clock, in seconds since 1970, and how long ago it arrived. If a report has both
    /// and the worker's own time, the plugin can compare the clocks.
    pub fn plugin_time(&self) -> Option<(f64, Duration)> {
        self.link.plugin_time(Instant::now())
    }

    /// Reports that the users have stopped. The worker offers itself for the next test.
    pub fn stopped(&mut self) {
        self.link.stopped(Instant::now());
    }

    /// Reports that the worker as a whole has failed.
    pub fn failed(&mut self, why: &str) {
        self.link.failed(why);
    }

    /// Reports that the worker ends.
    pub fn quit(&mut self) {
        self.link.quit();
    }
}

fn violation(violation: Violation) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, violation)
}

/// Sends a part of the output, and removes it.
async fn write(stream: &TcpStream, output: &mut Vec<u8>) -> io::Result<()> {
    poll_fn(|cx| stream.poll_write_ready(cx)).await?;
    match stream.try_write(output) {
        Ok(length) => drop(output.drain(..length)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        Err(error) => return Err(error),
    }
    Ok(())
}
