//! Servers for the tests of `castile load`: one with programmable answers that records requests, and `castile serve`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Seen {
    /// Returns the value of a header field.
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value.trim())
    }
}

/// A server whose answers are a status and a body.
pub(crate) struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// `answer` gets the request and the number of earlier requests.
    pub(crate) fn start(answer: impl Fn(&Seen, usize) -> (u16, String) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server { address: listener.local_addr().unwrap(), seen: Arc::default(), is_over: Arc::default() };
        let (seen, is_over, answer) = (server.seen.clone(), server.is_over.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (seen, answer) = (seen.clone(), answer.clone());
                std::thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/service", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // The server checks the flag only at a new connection.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Seen>>, answer: &dyn Fn(&Seen, usize) -> (u16, String)) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let mut request = Seen { head, body: String::new() };
        // A CONNECT has no body.
        let length: u64 = request.header("content-length").parse().unwrap_or_default();
        reader.by_ref().take(length).read_to_string(&mut request.body).ok()?;
        let closes = request.header("connection") == "close";
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        let (status, body) = answer(&request, number);
        let head = format!(
            "HTTP/1.1 {status} Told\r\nContent-Type: text/xml\r\nSet-Cookie: session={number}; Path=/\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).ok()?;
        if closes {
            return None;
        }
    }
}

/// `castile serve`, which ends with the test.
pub(crate) struct Castile {
    child: Child,
    url: String,
}

impl Castile {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_castile"))
            .args(["serve", "--addr", "127.0.0.1:0", "--until-stdin-closes"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Castile { child, url }
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// Returns its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

impl Drop for Castile {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Copies a folder with its subfolders.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &to),
            false => assert!(std::fs::copy(&path, &to).is_ok(), "{}", path.display()),
        }
    }
}

/// Splits a command line into words like a shell: single quotes preserve spaces.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, piece) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(piece.to_owned());
        } else {
            words.extend(piece.split_whitespace().map(str::to_owned));
        }
    }
    words
}
