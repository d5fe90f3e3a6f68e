//! Tests attachments that are larger than the memory they pass through. Server and client are separate processes, whose
//! peak memory Linux reports.
//!
//! `cargo test -p castile-suites --test attachments -- --ignored a_gibibyte --nocapture` sends a gibibyte.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use bytes::Bytes;
use castile::ClientOptions;
use castile::datatypes::StreamedBinary;
use castile::http::server::{Routes, Server};
use castile_mime::{Attachment, Content, ContentId, Part};
use castile_soap::Version;
use castile_suites::attachments::Service;
use castile_suites::attachments::contract::{AttachmentsClient, AttachmentsServer, Stream};
use http_body::Frame;
use http_body_util::StreamBody;

/// The role of a process that this test started.
const ROLE: &str = "CASTILE_ATTACHMENTS";

#[test]
fn much_goes_through_little_memory() {
    both_processes(&["swa", "mtom12"], 64, 32);
}

#[test]
#[ignore = "takes seconds when optimised, and minutes otherwise"]
fn a_gibibyte_goes_through_64_mebibytes() {
    both_processes(&["swa", "swa12", "mtom", "mtom12"], 1024, 64);
}

/// Sends this many mebibytes in each of these ways. Each process may use at most `most` mebibytes.
fn both_processes(kinds: &[&str], mebibytes: usize, most: usize) {
    let (mut server, mut of_server) = start("server");
    let address = line(&mut of_server, "at ");
    for kind in kinds {
        let begun = Instant::now();
        let (mut client, mut of_client) = start(&format!("{kind} {address} {mebibytes}"));
        let peak: usize = line(&mut of_client, "peak ").parse().unwrap();
        assert!(client.wait().unwrap().success());
        let seconds = begun.elapsed().as_secs_f64();
        println!("{kind}: {mebibytes} MiB in {seconds:.1} s, the client took {:.1} MiB", peak as f64 / 1024.0);
        assert!(peak <= most << 10, "the client took {peak} KiB");
    }
    let peak = peak(&server.id().to_string());
    println!("the server took {:.1} MiB", peak as f64 / 1024.0);
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(peak <= most << 10, "the server took {peak} KiB");
}

fn start(role: &str) -> (Child, impl BufRead + use<>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_process_of_this_test", "--ignored", "--nocapture"]).env(ROLE, role);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// Returns the rest of the next line that contains `start`.
fn line(output: &mut impl BufRead, start: &str) -> String {
    let line = output.lines().map(Result::unwrap).find(|line| line.contains(start)).expect("it says so");
    line.split_once(start).unwrap().1.to_owned()
}

/// Returns the peak memory of a process, in KiB.
fn peak(process: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// The work of the processes that are started above.
#[tokio::test]
#[ignore = "the other tests start it"]
async fn a_process_of_this_test() {
    let Ok(role) = std::env::var(ROLE) else { return };
    match role.split(' ').collect::<Vec<_>>()[..] {
        [kind, address, mebibytes] => {
            let url = format!("http://{address}/");
            let version = if kind.ends_with("12") { Version::Soap12 } else { Version::Soap11 };
            let mut options = ClientOptions::default();
            options.version = Some(version);
            options.messages.attachments.body_size = 2 << 30;
            let client = AttachmentsClient::new(&url).unwrap().with_options(options);
            exchange(client, kind.starts_with("mtom"), mebibytes.parse().unwrap()).await;
            println!("peak {}", peak("self"));
        }
        _ => {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            println!("at {}", listener.local_addr().unwrap());
            let routes = Routes::new().route("/", AttachmentsServer::new(Service));
            let _ = Server::new().serve(listener, routes, std::future::pending()).await;
        }
    }
}

async fn exchange(client: AttachmentsClient, is_mtom: bool, mebibytes: usize) {
    let count = (mebibytes << 20) / PIECE;
    let frames = (0..count).map(piece).map(|piece| Ok::<_, std::io::Error>(Frame::data(piece)));
    let content = Content::stream(StreamBody::new(futures_util::stream::iter(frames)));
    let part = Part::new(ContentId::random().unwrap(), "application/octet-stream", content).unwrap();
    let (mut attachments, url) = if is_mtom {
        let request = Stream { data: StreamedBinary::Attached(part.id().to_url()) };
        let (response, attachments) = client.echo_stream(&request).attach(part).send().await.unwrap().into_parts();
        let StreamedBinary::Attached(url) = response.data else { panic!("the answer has the bytes in it") };
        (attachments, Some(url))
    } else {
        (client.echo().attach(part).send().await.unwrap().into_parts().1, None)
    };
    let attachment = match url {
        Some(url) => attachments.by_url(&url).await.unwrap(),
        None => attachments.next().await.unwrap().unwrap(),
    };
    let expected = (0..count).fold(Sum::default(), |sum, number| sum.with(&piece(number)));
    assert_eq!(sum(attachment).await, expected, "what came is not what was sent");
    assert!(attachments.next().await.unwrap().is_none());
}

const PIECE: usize = 64 << 10;

/// Returns bytes with line ends that sometimes look like the beginning of a boundary.
fn piece(number: usize) -> Bytes {
    let line = format!("{number:016x}\r\n--MIME_\r");
    Bytes::from(line.into_bytes().repeat(PIECE / 26 + 1)).slice(..PIECE)
}

async fn sum(mut attachment: Attachment) -> Sum {
    let mut sum = Sum::default();
    while let Some(data) = attachment.data().await.unwrap() {
        sum = sum.with(&data);
    }
    sum
}

/// A length and a checksum (Fletcher's, of 64 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum(u64, u64, u64);

impl Sum {
    fn with(self, data: &[u8]) -> Self {
        data.iter().fold(self, |Sum(length, a, b), &byte| {
            let a = a.wrapping_add(u64::from(byte) + 1);
            Sum(length + 1, a, b.wrapping_add(a))
        })
    }
}
