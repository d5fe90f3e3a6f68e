//! Attachments are stored, seen as they arrive, and taken afterwards.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::sync::Arc;

use bytes::Bytes;
use castile_budget::Budget;
use castile_mime::{
    Attachments, Charges, ContentId, Error, ErrorKind, Limits, Message, Part, PartHead, Related, SpoolVisitor,
};
use futures_util::{FutureExt, stream};
use http_body::{Body, Frame};
use http_body_util::StreamBody;

/// Stores what it sees, and refuses an attachment with this name.
#[derive(Default)]
struct Seen {
    parts: Vec<(String, Vec<u8>)>,
    ended: usize,
    refused: Option<&'static str>,
}

#[derive(Debug, PartialEq)]
enum Stopped {
    Refused,
    Mime(ErrorKind),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Stopped::Mime(error.kind())
    }
}

impl SpoolVisitor for Seen {
    type Error = Stopped;

    fn begin(&mut self, head: &PartHead) -> Result<(), Stopped> {
        let id = head.content_id().unwrap().as_str();
        assert_eq!(self.ended, self.parts.len());
        self.parts.push((id.to_owned(), Vec::new()));
        if self.refused == Some(id) { Err(Stopped::Refused) } else { Ok(()) }
    }

    fn data(&mut self, data: &[u8]) -> Result<(), Stopped> {
        self.parts.last_mut().unwrap().1.extend(data);
        Ok(())
    }

    async fn end(&mut self) -> Result<(), Stopped> {
        self.ended += 1;
        Ok(())
    }
}

/// Returns what is shown of an attachment.
fn show(attachments: &Attachments, id: &str) -> Result<Option<Vec<u8>>, Stopped> {
    let mut content = Vec::new();
    let id = ContentId::parse(id).unwrap();
    let shown = attachments.show::<Stopped>(&id, |data| {
        content.extend(data);
        Ok(())
    });
    Ok(shown.now_or_never().unwrap()?.then_some(content))
}

const LENGTHS: [usize; 3] = [700_000, 0, 30_000];

fn content(number: usize) -> Vec<u8> {
    (0..LENGTHS[number]).map(|at| (at * 7 + number) as u8).collect()
}

/// Returns the body of a package with three attachments, `before` of them before the root, in chunks.
fn package(before: usize, end: Option<usize>) -> impl Body<Data = Bytes, Error = std::io::Error> + use<> {
    let mut body = Vec::new();
    let mut part = |id: &str, content: &[u8]| {
        body.extend(format!("--b\r\nContent-ID: <{id}>\r\n\r\n").as_bytes());
        body.extend(content);
        body.extend(b"\r\n");
    };
    for number in 0..=LENGTHS.len() {
        if number == before {
            part("root", b"<E/>");
        }
        if number < LENGTHS.len() {
            part(&number.to_string(), &content(number));
        }
    }
    body.extend(b"--b--\r\n");
    body.truncate(end.unwrap_or(body.len()));
    let chunks: Vec<_> =
        body.chunks(50_000).map(|chunk| Ok(Frame::data(Bytes::copy_from_slice(chunk)))).collect::<Vec<_>>();
    StreamBody::new(stream::iter(chunks))
}

fn read(before: usize, end: Option<usize>, limits: Limits, charges: Option<Charges>) -> Result<Message, Error> {
    let related = Related::parse("multipart/related; boundary=b; start=\"<root>\"").unwrap();
    Message::read_charged(&related, package(before, end), limits, charges).now_or_never().unwrap()
}

fn spool(attachments: &mut Attachments, seen: &mut Seen) -> Result<(), Stopped> {
    attachments.spool(seen).now_or_never().unwrap()
}

fn stored_in_memory(memory: usize) -> Limits {
    let mut limits = Limits::default();
    limits.memory = memory;
    limits
}

#[test]
fn all_is_seen_and_stays() {
    for before in 0..=3 {
        for memory in [0, 1_000, 710_000, 1_000_000] {
            let mut attachments = read(before, None, stored_in_memory(memory), None).unwrap().attachments;
            // What is stored is shown again.
            for _ in 0..2 {
                let mut seen = Seen::default();
                spool(&mut attachments, &mut seen).unwrap();
                let all: Vec<_> = (0..3).map(|number| (number.to_string(), content(number))).collect();
                assert!(seen.parts == all && seen.ended == 3, "{before} {memory}");
            }
            // One of them alone, as often as it is wanted.
            for number in [1, 0, 2, 0] {
                let shown = show(&attachments, &number.to_string());
                assert!(shown == Ok(Some(content(number))), "{before} {memory} {number}");
            }
            assert_eq!(show(&attachments, "3"), Ok(None));
            let last = attachments.by_url("cid:2").now_or_never().unwrap().unwrap();
            assert_eq!(show(&attachments, "2"), Ok(None));
            assert_eq!(last.collect(1_000_000).now_or_never().unwrap().unwrap(), content(2));
            let rest = attachments.collect(1_000_000).now_or_never().unwrap().unwrap();
            let rest: Vec<_> = rest.into_iter().map(|(_, content)| content).collect();
            assert!(rest == [content(0), content(1)], "{before} {memory}");
        }
    }
}

#[tokio::test]
async fn files_are_read_away_from_the_loop() {
    let related = Related::parse("multipart/related; boundary=b; start=\"<root>\"").unwrap();
    let mut message = Message::read(&related, package(2, None), stored_in_memory(1_000)).await.unwrap();
    let mut seen = Seen::default();
    message.attachments.spool(&mut seen).await.unwrap();
    assert!(seen.parts[0].1 == content(0) && seen.parts[2].1 == content(2));
}

#[test]
fn there_may_be_nothing() {
    let mut seen = Seen::default();
    spool(&mut Attachments::none(), &mut seen).unwrap();
    assert!(seen.parts.is_empty());
    let parts = vec![Part::attachment("text/plain", "It rains.").unwrap()];
    let mut attachments = Attachments::of(parts).unwrap();
    attachments.next().now_or_never().unwrap().unwrap();
    spool(&mut attachments, &mut seen).unwrap();
    assert!(seen.parts.is_empty(), "what was taken is not shown");
}

#[test]
fn a_visitor_ends_it() {
    for before in [0, 3] {
        let mut attachments = read(before, None, Limits::default(), None).unwrap().attachments;
        let mut seen = Seen { refused: Some("1"), ..Seen::default() };
        assert_eq!(spool(&mut attachments, &mut seen), Err(Stopped::Refused));
        assert_eq!((seen.parts.len(), seen.ended), (2, 1));
    }
}

#[test]
fn limits_and_budgets_hold() {
    let mut limits = Limits::default();
    limits.stored = LENGTHS.iter().sum::<usize>() as u64;
    assert_eq!(spool(&mut read(0, None, limits, None).unwrap().attachments, &mut Seen::default()), Ok(()));
    limits.stored -= 1;
    let spooled = spool(&mut read(0, None, limits, None).unwrap().attachments, &mut Seen::default());
    assert_eq!(spooled, Err(Stopped::Mime(ErrorKind::Limit)));

    for (memory, disk, is_enough) in [(700_000, 700_000, true), (100_000, 700_000, false), (700_000, 400_000, false)] {
        let (memory, disk) = (Budget::new(memory), Budget::new(disk));
        let [of_memory, of_disk] = [&memory, &disk].map(|budget| Arc::new(budget.reserve(0).unwrap()));
        let charges = Charges { memory: of_memory, disk: of_disk };
        let mut message = read(0, None, Limits::default(), Some(charges)).unwrap();
        let spooled = spool(&mut message.attachments, &mut Seen::default());
        assert_eq!(spooled, if is_enough { Ok(()) } else { Err(Stopped::Mime(ErrorKind::Exhausted)) });
        let mut share = message.attachments.memory_share().unwrap();
        assert!(share.grow(10_000_000).is_err());
        drop((message, share));
        assert_eq!((memory.used(), disk.used()), (0, 0));
    }
}

#[test]
fn a_body_that_breaks_off_is_an_error() {
    for end in [100, 60_000, 700_200, 730_000] {
        let mut attachments = read(0, Some(end), Limits::default(), None).unwrap().attachments;
        let spooled = spool(&mut attachments, &mut Seen::default());
        assert_eq!(spooled, Err(Stopped::Mime(ErrorKind::BrokenOff)), "{end}");
        // What is complete is there.
        assert_eq!(attachments.next().now_or_never().unwrap().is_ok(), end > 700_000, "{end}");
    }
}
