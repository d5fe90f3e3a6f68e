//! Attachments are stored, seen as they arrive, and taken afterwards.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use castile_budget::Budget;
use castile_mime::{
    Attachments, Charges, ContentId, Error, ErrorKind, Inspector, Limits, Message, Part, PartHead, Related,
};
use futures_util::{FutureExt, StreamExt, stream};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, StreamBody};

/// What was seen of the attachments.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    parts: Vec<(String, Vec<u8>)>,
    ended: usize,
    is_over: bool,
}

/// Notes what it sees. It refuses an attachment with this name, at its beginning or at its end, or a package that ends without it.
#[derive(Clone, Default)]
struct Noting {
    seen: Arc<Mutex<Seen>>,
    refused: Option<&'static str>,
    at_end: Option<&'static str>,
    missing: Option<&'static str>,
    /// Whether it was asked about the end of an attachment, and had work to do elsewhere.
    waited: bool,
}

impl Noting {
    fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }

    fn check(name: &str, refused: Option<&str>) -> Result<(), Error> {
        if refused == Some(name) { Err(Error::refused(format!("not {name}"))) } else { Ok(()) }
    }
}

impl Inspector for Noting {
    fn begin(&mut self, head: &PartHead) -> Result<(), Error> {
        let id = head.content_id().unwrap().as_str();
        let mut seen = self.seen.lock().unwrap();
        assert_eq!(seen.ended, seen.parts.len());
        seen.parts.push((id.to_owned(), Vec::new()));
        Noting::check(id, self.refused)
    }

    fn data(&mut self, data: &[u8]) -> Result<(), Error> {
        self.seen.lock().unwrap().parts.last_mut().unwrap().1.extend(data);
        Ok(())
    }

    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.waited = !self.waited;
        if self.waited {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut seen = self.seen.lock().unwrap();
        seen.ended += 1;
        Poll::Ready(Noting::check(&seen.parts.last().unwrap().0, self.at_end))
    }

    fn finish(&mut self) -> Result<(), Error> {
        let mut seen = self.seen.lock().unwrap();
        assert!(!std::mem::replace(&mut seen.is_over, true), "a package ends once");
        self.missing.map_or(Ok(()), |name| Err(Error::refused(format!("no {name}"))))
    }
}

fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Returns what is shown of an attachment.
fn show(attachments: &Attachments, id: &str) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    let id = ContentId::parse(id).unwrap();
    let shown = attachments.show::<Error>(&id, |data| {
        content.extend(data);
        Ok(())
    });
    run(shown).unwrap().then_some(content)
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

/// Stores the attachments, seen by an inspector.
async fn spool(attachments: &mut Attachments, noting: &Noting) -> Result<(), ErrorKind> {
    let spool = async {
        attachments.inspect(noting.clone()).await?;
        attachments.spool().await
    };
    spool.await.map_err(|error| error.kind())
}

fn stored_in_memory(memory: usize) -> Limits {
    let mut limits = Limits::default();
    limits.memory = memory;
    limits
}

/// What is seen of the whole package.
fn all() -> Seen {
    let parts = (0..3).map(|number| (number.to_string(), content(number))).collect();
    Seen { parts, ended: 3, is_over: true }
}

#[test]
fn all_is_seen_and_stays() {
    for before in 0..=3 {
        for memory in [0, 1_000, 710_000, 1_000_000] {
            let mut attachments = read(before, None, stored_in_memory(memory), None).unwrap().attachments;
            // What is stored is shown again.
            for _ in 0..2 {
                let noting = Noting::default();
                run(spool(&mut attachments, &noting)).unwrap();
                assert!(noting.seen() == all(), "{before} {memory}");
            }
            // One of them alone, as often as it is wanted.
            for number in [1, 0, 2, 0] {
                assert!(show(&attachments, &number.to_string()) == Some(content(number)), "{before} {memory} {number}");
            }
            assert_eq!(show(&attachments, "3"), None);
            let last = run(attachments.by_url("cid:2")).unwrap();
            assert_eq!(show(&attachments, "2"), None);
            assert_eq!(run(last.collect(1_000_000)).unwrap(), content(2));
            let rest = run(attachments.collect(1_000_000)).unwrap();
            let rest: Vec<_> = rest.into_iter().map(|(_, content)| content).collect();
            assert!(rest == [content(0), content(1)], "{before} {memory}");
        }
    }
}

#[test]
fn there_may_be_nothing() {
    let noting = Noting::default();
    run(spool(&mut Attachments::none(), &noting)).unwrap();
    assert_eq!(noting.seen(), Seen { is_over: true, ..Seen::default() });
    let wanted = Noting { missing: Some("it"), ..Noting::default() };
    assert_eq!(run(spool(&mut Attachments::none(), &wanted)), Err(ErrorKind::Refused));
    let parts = vec![Part::attachment("text/plain", "It rains.").unwrap()];
    let mut attachments = Attachments::of(parts).unwrap();
    run(attachments.next()).unwrap();
    let noting = Noting::default();
    run(spool(&mut attachments, &noting)).unwrap();
    assert!(noting.seen().parts.is_empty(), "what was taken is not shown");
}

#[test]
fn a_second_inspector_is_refused_until_the_first_has_seen_all() {
    let mut attachments = read(3, None, Limits::default(), None).unwrap().attachments;
    let first = Noting::default();
    run(attachments.inspect(first.clone())).unwrap();
    let refused = run(attachments.inspect(Noting::default())).map_err(|error| error.kind());
    assert_eq!(refused, Err(ErrorKind::Unverified));
    run(attachments.spool()).unwrap();
    assert!(first.seen() == all());
    let second = Noting::default();
    run(attachments.inspect(second.clone())).unwrap();
    assert_eq!(second.seen().parts.len(), all().parts.len());
}

#[test]
fn an_inspector_ends_it() {
    for before in [0, 3] {
        let mut attachments = read(before, None, Limits::default(), None).unwrap().attachments;
        let noting = Noting { refused: Some("1"), ..Noting::default() };
        assert_eq!(run(spool(&mut attachments, &noting)), Err(ErrorKind::Refused));
        let seen = noting.seen();
        assert_eq!((seen.parts.len(), seen.ended), (2, 1));
    }
}

/// Reads what an inspector sees as it arrives.
#[tokio::test]
async fn attachments_are_inspected_while_they_are_read() {
    use ErrorKind::{Passed, Refused, Unverified};
    let inspected = async |noting: &Noting| {
        let mut message = read(0, None, Limits::default(), None).unwrap();
        message.attachments.inspect(noting.clone()).await.unwrap();
        (message.attachments.rest().unwrap(), message.attachments)
    };
    const MUCH: usize = 1_000_000;
    // Only what is complete is content. The pieces are not, except for those who say so.
    let noting = Noting::default();
    let (rest, mut attachments) = inspected(&noting).await;
    let mut first = attachments.next().await.unwrap().unwrap();
    for _ in 0..2 {
        assert_eq!(first.data().await.unwrap_err().kind(), Unverified);
    }
    assert_eq!(StreamExt::next(&mut first).await.unwrap().unwrap_err().kind(), Unverified);
    assert_eq!(first.frame().await.unwrap().unwrap_err().kind(), Unverified);
    let mut first = first.into_unverified();
    let mut bytes = Vec::new();
    while let Some(data) = first.data().await.unwrap() {
        bytes.extend(data);
    }
    first.finish().await.unwrap();
    assert!(bytes == content(0));
    assert_eq!(attachments.by_url("cid:2").await.unwrap().collect(MUCH).await.unwrap(), content(2));
    // One that had to be stored was seen to its end.
    let mut second = attachments.next().await.unwrap().unwrap();
    assert!(second.data().await.unwrap().is_none(), "it is empty");
    assert!(!noting.seen().is_over);
    assert!(attachments.next().await.unwrap().is_none());
    assert!(noting.seen() == all());
    rest.inspected(0).await.unwrap();

    // What nobody reads is seen, too.
    for read in 0..4 {
        let noting = Noting::default();
        let (rest, mut attachments) = inspected(&noting).await;
        let mut held = Vec::new();
        if read > 0 {
            let mut first = attachments.next().await.unwrap().unwrap().into_unverified();
            first.data().await.unwrap();
            held.extend((read > 1).then_some(first));
        }
        let attachments = (read > 2).then_some(attachments);
        rest.inspected(MUCH).await.unwrap();
        assert!(noting.seen() == all(), "{read}");
        for first in held {
            assert_eq!(first.finish().await.unwrap_err().kind(), Passed);
        }
        if let Some(mut attachments) = attachments {
            assert_eq!(attachments.next().await.unwrap_err().kind(), Passed);
        }
    }
    // But not too much of it.
    let (rest, mut attachments) = inspected(&Noting::default()).await;
    let more = rest.inspected(LENGTHS.iter().sum::<usize>() - 1).await;
    assert_eq!(more.unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(rest.inspected(MUCH).await.unwrap_err().kind(), ErrorKind::Limit, "it stays so");
    assert_eq!(attachments.next().await.unwrap_err().kind(), Passed);

    // What is refused stays so, however it is read.
    let refused = |error: Error| {
        assert_eq!(error.kind(), Refused);
        std::error::Error::source(&error).unwrap().to_string()
    };
    let begins = || Noting { refused: Some("0"), ..Noting::default() };
    let ends = || Noting { at_end: Some("0"), ..Noting::default() };
    let last = || Noting { at_end: Some("2"), ..Noting::default() };
    let lacks = || Noting { missing: Some("3"), ..Noting::default() };
    let cases: [(&dyn Fn() -> Noting, &str); 4] =
        [(&begins, "not 0"), (&ends, "not 0"), (&last, "not 2"), (&lacks, "no 3")];
    for (noting, reason) in cases {
        let (rest, attachments) = inspected(&noting()).await;
        assert_eq!(refused(attachments.collect(MUCH).await.unwrap_err()), reason);
        assert_eq!(refused(rest.inspected(MUCH).await.unwrap_err()), reason);
        let (rest, mut attachments) = inspected(&noting()).await;
        assert_eq!(refused(rest.inspected(MUCH).await.unwrap_err()), reason);
        assert!(attachments.next().await.is_err());
    }
    let (rest, mut attachments) = inspected(&ends()).await;
    let mut first = attachments.next().await.unwrap().unwrap().into_unverified();
    let error = loop {
        if let Err(error) = first.data().await {
            break error;
        }
    };
    assert_eq!(refused(error), "not 0");
    assert_eq!(refused(first.data().await.unwrap_err()), "not 0", "nobody takes it for the end");
    assert_eq!(refused(first.finish().await.unwrap_err()), "not 0");
    assert_eq!(refused(attachments.next().await.unwrap_err()), "not 0");
    assert_eq!(refused(rest.inspected(0).await.unwrap_err()), "not 0");
    // Without an inspector nothing is read.
    let message = read(0, None, Limits::default(), None).unwrap();
    message.attachments.rest().unwrap().inspected(0).await.unwrap();
    assert_eq!(message.attachments.collect(MUCH).await.unwrap().len(), 3);
}

/// Whoever waits for an attachment gets an error when the rest is skipped.
#[tokio::test]
async fn waiting_readers_are_woken() {
    for is_next in [false, true] {
        let (send, mut receive) = tokio::sync::mpsc::unbounded_channel();
        let body = StreamBody::new(stream::poll_fn(move |cx| receive.poll_recv(cx)));
        let related = Related::parse("multipart/related; boundary=b").unwrap();
        let frame = |text: &'static str| Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(text.as_bytes())));
        send.send(frame("--b\r\n\r\n<E/>\r\n--b\r\nContent-ID: <0>\r\n\r\nIt rains")).unwrap();
        let mut message = Message::read(&related, body, Limits::default()).await.unwrap();
        let noting = Noting::default();
        message.attachments.inspect(noting.clone()).await.unwrap();
        let rest = message.attachments.rest().unwrap();
        let mut attachments = message.attachments;
        let reader = tokio::spawn(async move {
            let mut first = attachments.next().await?.unwrap().into_unverified();
            first.data().await?;
            if is_next { attachments.next().await.map(drop) } else { first.data().await.map(drop) }
        });
        tokio::task::yield_now().await;
        let skipped = tokio::spawn(async move { rest.inspected(1_000).await });
        tokio::task::yield_now().await;
        assert_eq!(reader.await.unwrap().unwrap_err().kind(), ErrorKind::Passed, "{is_next}");
        send.send(frame(".\r\n--b--\r\n")).unwrap();
        drop(send);
        skipped.await.unwrap().unwrap();
        assert_eq!(noting.seen().parts, [("0".to_owned(), b"It rains.".to_vec())]);
    }
}

#[test]
fn limits_and_budgets_hold() {
    let spooled = |message: Result<Message, Error>| run(spool(&mut message.unwrap().attachments, &Noting::default()));
    let mut limits = Limits::default();
    limits.stored = LENGTHS.iter().sum::<usize>() as u64;
    assert_eq!(spooled(read(0, None, limits, None)), Ok(()));
    limits.stored -= 1;
    assert_eq!(spooled(read(0, None, limits, None)), Err(ErrorKind::Limit));

    for (memory, disk, is_enough) in [(700_000, 700_000, true), (100_000, 700_000, false), (700_000, 400_000, false)] {
        let (memory, disk) = (Budget::new(memory), Budget::new(disk));
        let [of_memory, of_disk] = [&memory, &disk].map(|budget| Arc::new(budget.reserve(0).unwrap()));
        let charges = Charges { memory: of_memory, disk: of_disk };
        let mut message = read(0, None, Limits::default(), Some(charges)).unwrap();
        let spooled = run(spool(&mut message.attachments, &Noting::default()));
        assert_eq!(spooled, if is_enough { Ok(()) } else { Err(ErrorKind::Exhausted) });
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
        let noting = Noting::default();
        assert_eq!(run(spool(&mut attachments, &noting)), Err(ErrorKind::BrokenOff), "{end}");
        assert!(!noting.seen().is_over);
        // What is complete is there.
        assert_eq!(run(attachments.next()).is_ok(), end > 700_000, "{end}");
    }
}
