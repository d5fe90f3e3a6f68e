//! Tests that requests that need much more memory than their size, and answers that nobody reads, stay within the budget.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::time::{Duration, Instant};

use castile::Budget;
use castile::http::server::Server;
use common::load::serve;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MEGABYTE: usize = 1_000_000;
/// The longest time to wait.
const PATIENCE: Duration = Duration::from_secs(60);

struct Host {
    address: std::net::SocketAddr,
    budget: Budget,
}

impl Host {
    async fn start(memory: usize) -> Self {
        let budget = Budget::new(memory);
        let address = serve(Server::new().budget(budget.clone()), castile_suites::routes()).await;
        Host { address, budget }
    }

    /// Returns a connection on which a request was sent.
    async fn sent(&self, path: &str, payload: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let message = format!(
            "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>{payload}</e:Body></e:Envelope>"
        );
        let length = message.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-type: text/xml\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The request may be rejected before it is sent completely.
        let _ = stream.write_all(message.as_bytes()).await;
        stream
    }

    async fn ask(&self, path: &str, payload: &str) -> String {
        answer(self.sent(path, payload).await).await
    }

    /// Waits until nothing is charged any more.
    async fn is_empty(&self) {
        let start = Instant::now();
        while self.budget.used() > 0 {
            assert!(start.elapsed() < PATIENCE, "{} bytes are still in use", self.budget.used());
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

async fn answer(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

fn repeated(start: &str, of: &str, size: usize, end: &str) -> String {
    format!("{start}{}{end}", of.repeat(size / of.len()))
}

const OPEN: &str = " xmlns='urn:castile:open'>";

/// Messages that grow to many times their size, each in a different way.
fn bombs(size: usize) -> Vec<(&'static str, String)> {
    let open = |name: &str, of: &str| repeated(&format!("<{name}{OPEN}"), of, size, &format!("</{name}>"));
    let array = "<t:echoStructArray xmlns:t='http://soapinterop.org/'><inputStructArray \
        xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:s='http://soapinterop.org/xsd' \
        e:arrayType='s:SOAPStruct[]'>";
    vec![
        ("/open", open("takeTree", "<tree/>")),
        ("/open", open("takeAny", "<a/>")),
        ("/open", open("takeMixed", "<a/>b")),
        ("/open", open("takeValues", "<value><uri/></value>")),
        ("/open", open("takeValues", &format!("<value><either>{}</either></value>", "1 ".repeat(10_000)))),
        ("/open", format!("<takeAny{OPEN}<x xmlns=''>{}</x></takeAny>", "<a/>".repeat(size / 4))),
        ("/interop/base", repeated(array, "<i/>", size, "</inputStructArray></t:echoStructArray>")),
        ("/open", open("takeValues", &format!("<value><ints>{}</ints></value>", "1 ".repeat(10_000)))),
    ]
}

/// Three requests of 16 MB once killed a process that was limited to 2 GiB.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_become_many_times_their_size_are_refused() {
    let host = Host::start(5 * MEGABYTE).await;
    let mut refused = 0;
    for (path, bomb) in bombs(MEGABYTE) {
        let name = &bomb[..bomb.len().min(40)];
        let asked = (0..3).map(|_| host.ask(path, &bomb));
        let answers = futures_util::future::join_all(asked).await;
        for answer in &answers {
            // A request that is dropped in favour of others while it is being answered may get no answer.
            assert!(matches!(status(answer), "200" | "503" | "408" | ""), "{name}: {answer}");
            if status(answer) == "503" {
                assert!(answer.contains("retry-after: 1\r\n"), "{name}: {answer}");
                refused += 1;
            }
        }
        host.is_empty().await;
    }
    assert!(refused > 0);
    let answer = host.ask("/open", &format!("<takeTree{OPEN}<tree/></takeTree>")).await;
    assert_eq!(status(&answer), "200", "{answer}");
    host.is_empty().await;
}

/// Each of these messages is smaller than the budget but still rejected, which shows that its values are charged.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_them_is_charged() {
    let host = Host::start(3 * MEGABYTE).await;
    for (path, bomb) in bombs(2 * MEGABYTE) {
        let answer = host.ask(path, &bomb).await;
        let name = &bomb[..bomb.len().min(40)];
        assert_eq!(status(&answer), "503", "{name}: {}", &answer[..answer.len().min(500)]);
        assert!(answer.contains("retry-after: 1\r\n") && answer.contains("try again later"), "{name}: {answer}");
        host.is_empty().await;
    }
}

fn echo_string(size: usize) -> String {
    let text = "x".repeat(size);
    format!("<t:echoString xmlns:t='http://soapinterop.org/'><inputString>{text}</inputString></t:echoString>")
}

/// 20 clients that don't read answers of 67 MB once took 1.85 GB.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unread_answers_stay_within_the_budget() {
    // More than systems buffer for a connection.
    let size = 8 * MEGABYTE;
    let host = Host::start(70 * MEGABYTE).await;
    let mut unread = Vec::new();
    for _ in 0..10 {
        unread.push(host.sent("/interop/base", &echo_string(size)).await);
    }
    // Until each request is answered or rejected, those at work may leave no memory for another.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let start = Instant::now();
    loop {
        // The answers within the budget are held, and the others were rejected.
        let used = host.budget.used();
        // Clients that read are answered.
        let answer = host.ask("/interop/base", &echo_string(100)).await;
        assert!(matches!(status(&answer), "200" | "503"), "{answer}");
        if used > 2 * size && status(&answer) == "200" {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{used} bytes are in use: {answer}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(unread);
    host.is_empty().await;
}

/// A large answer is charged while it grows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_answer_is_charged_or_refused() {
    let host = Host::start(20 * MEGABYTE).await;
    for (size, expected) in [(2 * MEGABYTE, "200"), (12 * MEGABYTE, "503")] {
        let answer = host.ask("/interop/base", &echo_string(size)).await;
        assert_eq!(status(&answer), expected, "{size}: {}", &answer[..answer.len().min(500)]);
        host.is_empty().await;
    }
}
