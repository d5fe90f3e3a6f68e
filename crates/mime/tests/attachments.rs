//! Attachments are taken in any order, early or late, and forwarded.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use bytes::Bytes;
use castile_budget::Budget;
use castile_mime::{
    Attachments, Boundary, Charges, Error, ErrorKind, Limits, Message, Package, Packaging, Part, Related,
};
use futures_util::{FutureExt, StreamExt, stream};
use http_body::{Body, Frame};
use http_body_util::{Full, StreamBody};

/// Creates a package with a root and attachments `1` to `count`, whose content is their repeated number. The root
/// follows the first `before` of them.
fn package(count: usize, before: usize, length: usize) -> (Related, Vec<u8>) {
    let mut body = String::new();
    let mut part = |head: &str, content: &str| body.push_str(&format!("--b\r\n{head}\r\n\r\n{content}\r\n"));
    for number in 1..=count + 1 {
        match number {
            root if root == before + 1 => part("Content-ID: <root>", "<E/>"),
            number => {
                let number = if number > before { number - 1 } else { number };
                let head = format!("Content-ID: <{number}@b>\r\nContent-Location: http://b/{number}");
                part(&head, &number.to_string().repeat(length));
            }
        }
    }
    body.push_str("--b--\r\n");
    (Related::parse("multipart/related; boundary=b; start=\"<root>\"").unwrap(), body.into_bytes())
}

/// Returns the body in chunks, ending with an error if `breaks_off` is set.
fn pieces(body: &[u8], length: usize, breaks_off: bool) -> impl Body<Data = Bytes, Error = std::io::Error> + use<> {
    let pieces: Vec<_> = body.chunks(length).map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect();
    let end = breaks_off.then(|| Err(std::io::Error::other("reset by peer")));
    StreamBody::new(stream::iter(pieces).chain(stream::iter(end)))
}

fn run<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    work.now_or_never().expect("all is at hand")
}

fn number(content: &[u8]) -> usize {
    content.iter().all(|byte| *byte == content[0]).then(|| usize::from(content[0] - b'0')).expect("one number")
}

#[test]
fn in_the_order_in_which_they_come() {
    for before in 0..=3 {
        for length in [1, 1 << 10] {
            let (related, body) = package(3, before, length);
            let read = async {
                let mut message = Message::read(&related, pieces(&body, 100, false), Limits::default()).await?;
                assert_eq!(message.root, "<E/>");
                let mut numbers = Vec::new();
                while let Some(attachment) = message.attachments.next().await? {
                    numbers.push(number(&attachment.collect(length).await?));
                }
                assert!(message.attachments.next().await?.is_none());
                Ok(numbers)
            };
            assert_eq!(run(read).unwrap(), [1, 2, 3]);
        }
    }
}

#[test]
fn by_url_in_any_order_from_memory_and_from_a_file() {
    let (length, orders) = (1_000_000, [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]]);
    for before in [0, 2] {
        let (related, body) = package(3, before, length);
        for (order, memory) in orders.iter().zip([0, 1, 300_000, 1_500_000, 10_000_000, 0]) {
            let mut limits = Limits::default();
            limits.memory = memory;
            let read = async {
                let mut message = Message::read(&related, pieces(&body, 70_000, false), limits).await?;
                for wanted in order {
                    let url = if wanted % 2 == 0 { format!("cid:{wanted}@b") } else { format!("http://b/{wanted}") };
                    let attachment = message.attachments.by_url(&url).await?;
                    assert_eq!(attachment.head().content_id().unwrap().to_url(), format!("cid:{wanted}@b"));
                    let content = attachment.collect(length).await?;
                    assert_eq!((number(&content), content.len()), (*wanted, length));
                }
                message.attachments.by_url("cid:1@b").await
            };
            // Once taken, it no longer exists.
            assert_eq!(run(read).unwrap_err().kind(), ErrorKind::Missing);
        }
    }
}

#[tokio::test]
async fn files_are_read_away_from_the_loop() {
    let (related, body) = package(3, 3, 500_000);
    let mut limits = Limits::default();
    limits.memory = 1_000;
    let message = Message::read(&related, pieces(&body, 70_000, false), limits).await.unwrap();
    let all = message.attachments.collect(1_500_000).await.unwrap();
    assert_eq!(all.iter().map(|(_, content)| number(content)).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn unread_attachments_are_skipped() {
    let (related, body) = package(3, 0, 1_000);
    let read = async {
        let mut message = Message::read(&related, pieces(&body, 100, false), Limits::default()).await?;
        let mut first = message.attachments.next().await?.expect("an attachment");
        assert!(first.data().await?.is_some());
        let second = message.attachments.next().await?.expect("an attachment");
        assert_eq!(first.data().await.unwrap_err().kind(), ErrorKind::Passed);
        assert!(first.data().await?.is_none(), "an error is the end");
        drop(second);
        let third = message.attachments.by_url("cid:3@b").await?;
        Ok(number(&third.collect(1_000).await?))
    };
    assert_eq!(run(read).unwrap(), 3);
}

#[test]
fn readers_of_a_skipped_part_are_woken() {
    let (related, body) = package(2, 0, 10);
    let cut = body.windows(5).position(|window| window == b"11111").unwrap() + 5;
    let known = stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::copy_from_slice(&body[..cut])))]);
    let body = StreamBody::new(known.chain(stream::pending()));
    let mut message = run(Message::read(&related, body, Limits::default())).unwrap();
    let mut first = run(message.attachments.next()).unwrap().expect("an attachment");
    assert_eq!(run(first.data()).unwrap().unwrap(), "11111");

    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    assert!(Pin::new(&mut first).poll_frame(&mut Context::from_waker(&waker)).is_pending());
    assert!(!woken.0.load(Ordering::Relaxed));
    assert!(message.attachments.next().now_or_never().is_none());
    assert!(woken.0.load(Ordering::Relaxed));
    assert_eq!(run(first.data()).unwrap_err().kind(), ErrorKind::Passed);
}

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn limits_of_the_caller() {
    let (related, body) = package(2, 0, 100);
    let message = || run(Message::read(&related, Full::new(Bytes::from(body.clone())), Limits::default())).unwrap();
    assert_eq!(run(message().attachments.collect(200)).unwrap().len(), 2);
    let error = run(message().attachments.collect(199)).unwrap_err();
    assert_eq!((error.kind(), error.part()), (ErrorKind::Limit, Some(3)));
}

#[test]
fn none_at_all() {
    let mut attachments = Attachments::none();
    assert!(run(attachments.next()).unwrap().is_none());
    let error = run(attachments.by_url("cid:a")).unwrap_err();
    assert_eq!(error.to_string(), "no attachment has the name \"cid:a\", and no part has a Content-ID");
    assert!(run(attachments.collect(0)).unwrap().is_empty());
}

#[test]
fn a_body_that_breaks_off() {
    let (related, body) = package(3, 1, 1_000);
    let mut kinds = std::collections::BTreeMap::new();
    for end in (0..body.len() - 2).step_by(13) {
        let read = async {
            let body = pieces(&body[..end], 100, true);
            let mut message = Message::read(&related, body, Limits::default()).await?;
            let result = loop {
                match message.attachments.next().await {
                    Ok(Some(attachment)) => match attachment.collect(1_000).await {
                        Ok(_) => {}
                        Err(error) => break error,
                    },
                    Ok(None) => panic!("the end is missing"),
                    Err(error) => break error,
                }
            };
            // The error is repeated.
            let again = message.attachments.next().await.unwrap_err();
            assert_eq!(again.to_string(), result.to_string());
            Err::<(), _>(result)
        };
        let error = run(read).unwrap_err();
        *kinds.entry(format!("{:?}", error.kind())).or_insert(0) += 1;
        assert_eq!(error.offset(), Some(end as u64));
        let source = std::error::Error::source(&error).expect("what the connection said");
        assert_eq!(source.to_string(), "reset by peer");
    }
    assert_eq!(kinds.len(), 1, "{kinds:?}");
}

/// An attachment is forwarded while it arrives, or from where it was stored.
#[test]
fn an_attachment_that_is_sent_on() {
    let (related, body) = package(2, 1, 10_000);
    let read = async {
        let mut message = Message::read(&related, pieces(&body, 1_000, false), Limits::default()).await?;
        let mut lengths = Vec::new();
        for _ in 0..2 {
            let attachment = message.attachments.next().await?.expect("an attachment");
            lengths.push(attachment.size_hint().exact());
            let mut package = Package::new(Packaging::Mtom, "text/xml", Bytes::new().into())?;
            package.attach(Part::new(package.next_id(), "a/b", attachment.into())?)?;
            let related = Related::parse(&package.content_type())?;
            let body = package.into_body();
            assert_eq!(body.size_hint().exact().is_some(), lengths.last().unwrap().is_some());
            let mut message = Message::read(&related, body, Limits::default()).await?;
            let attachment = message.attachments.next().await?.expect("an attachment");
            assert_eq!(attachment.collect(10_000).await?.len(), 10_000);
        }
        Ok(lengths)
    };
    assert_eq!(run(read).unwrap(), [Some(10_000), None]);
}

#[test]
fn actions_of_soap_12() {
    let message = |package: &str, root: &str| {
        let related = Related::parse(&format!("multipart/related; boundary=b{package}")).unwrap();
        let body = format!("--b\r\nContent-Type: {root}\r\n\r\n<E/>\r\n--b--");
        let message = run(Message::read(&related, Full::new(Bytes::from(body)), Limits::default())).unwrap();
        message.action(&related)
    };
    let within = r#""application/soap+xml; action=\"urn:a\"""#;
    for (package, root) in [
        ("; action=\"urn:a\"", "application/soap+xml; action=\"urn:b\""),
        ("", "application/soap+xml; action=\"urn:a\""),
        ("", &format!("application/xop+xml; type={within}")),
        (&format!("; start-info={within}"), "application/xop+xml"),
    ] {
        assert_eq!(message(package, root).as_deref(), Some("urn:a"), "{package} {root}");
    }
    assert_eq!(message("; start-info=\"application/soap+xml\"", "broken"), None);
}

#[test]
fn media_types_of_envelopes() {
    let envelope = |package: &str, root: &str| {
        let related = Related::parse(&format!("multipart/related; boundary=b{package}")).unwrap();
        let body = format!("--b\r\n{root}\r\n<E/>\r\n--b--");
        let message = run(Message::read(&related, Full::new(Bytes::from(body)), Limits::default())).unwrap();
        message.envelope(&related).map(|(packaging, envelope)| (packaging, envelope.essence().to_owned()))
    };
    let xop = "Content-Type: application/xop+xml";
    for (package, root, expected) in [
        ("", "Content-Type: text/xml; charset=utf-8\r\n", (Packaging::Attachments, "text/xml")),
        ("; type=text/xml", "", (Packaging::Attachments, "text/xml")),
        ("", &format!("{xop}; type=\"text/xml; charset=utf-8\"\r\n"), (Packaging::Mtom, "text/xml")),
        ("; start-info=\"application/soap+xml\"", &format!("{xop}\r\n"), (Packaging::Mtom, "application/soap+xml")),
    ] {
        assert_eq!(envelope(package, root).unwrap(), (expected.0, expected.1.to_owned()), "{package} {root}");
    }
    for (package, root, message) in [
        ("", "", "neither the root part nor the package has a media type (part 1)"),
        (
            "; type=\"application/xop+xml\"",
            "",
            "neither the root part nor the package has a media type of the XOP content (part 1)",
        ),
        ("", "Content-Type: xml\r\n", "found \"xml\", expected a media type such as text/xml (part 1)"),
    ] {
        assert_eq!(envelope(package, root).unwrap_err().to_string(), message, "{package} {root}");
    }
}

#[test]
fn a_boundary_of_another_length_than_its_parts() {
    // The shortest and the longest allowed.
    for boundary in ["b".to_owned(), "b".repeat(70)] {
        let boundary = Boundary::new(&boundary).unwrap();
        let related = Related::parse(&format!("multipart/related; boundary={}", boundary.as_str())).unwrap();
        let body = format!("--{0}\r\n\r\n{0}\r\n--{0}--", boundary.as_str());
        let message = run(Message::read(&related, Full::new(Bytes::from(body)), Limits::default())).unwrap();
        assert_eq!(message.root, boundary.as_str());
    }
}

#[test]
fn content_is_a_stream() {
    let (related, body) = package(1, 0, 1_000);
    let read = async {
        let mut message = Message::read(&related, pieces(&body, 100, false), Limits::default()).await?;
        let mut attachment = message.attachments.next().await?.expect("an attachment");
        let mut length = 0;
        while let Some(data) = attachment.next().await {
            length += data?.len();
        }
        Ok(length)
    };
    assert_eq!(run(read).unwrap(), 1_000);
}

/// The duplicate is detected only when the rest is read.
#[test]
fn a_second_part_with_a_content_id_is_an_error_when_it_is_come_to() {
    let related = Related::parse("multipart/related; boundary=b").unwrap();
    let parts = ["<E/>", "Content-ID: <a@b>\r\n\r\n1", "\r\n2", "Content-ID: a@b\r\n\r\n3"];
    let body = parts.map(|part| match part {
        "<E/>" => "--b\r\n\r\n<E/>\r\n".to_owned(),
        part => format!("--b\r\n{part}\r\n"),
    });
    let body = body.concat() + "--b--\r\n";
    let message = run(Message::read(&related, pieces(body.as_bytes(), 10, false), Limits::default())).unwrap();
    let mut attachments = message.attachments;
    assert_eq!(run(run(attachments.by_url("cid:a@b")).unwrap().collect(10)).unwrap(), "1");
    assert_eq!(run(run(attachments.next()).unwrap().unwrap().collect(10)).unwrap(), "2");
    assert_eq!(run(attachments.next()).unwrap_err().kind(), ErrorKind::Duplicate);
}

/// Returns the charge for the head of a waiting part of a [`package`].
fn head() -> usize {
    let (related, body) = package(1, 1, 0);
    let [memory, disk] = [(); 2].map(|()| Arc::new(Budget::new(1_000).reserve(0).unwrap()));
    let charges = Charges { memory: memory.clone(), disk };
    let message = run(Message::read_charged(&related, pieces(&body, 100, false), Limits::default(), Some(charges)));
    let waiting = memory.bytes() - "<E/>".len();
    drop(message);
    let fields = "Content-ID<1@b>Content-Locationhttp://b/1".len();
    assert!(waiting > fields, "{waiting} bytes");
    waiting
}

/// Regression: collected content stayed charged until the end of the request, and content that had waited was charged
/// twice.
#[test]
fn collected_content_is_charged_once_and_returned() {
    const LENGTH: usize = 100_000;
    // Arriving, and stored.
    for before in [0, 3] {
        let (related, body) = package(3, before, LENGTH);
        let (memory, disk) = (Budget::new(4 * LENGTH - 50_000), Budget::new(0));
        let kept = |parts: usize| if before == 0 { 0 } else { parts * (LENGTH + head()) };
        let [of_memory, of_disk] = [&memory, &disk].map(|budget| Arc::new(budget.reserve(0).unwrap()));
        let charges = Charges { memory: of_memory, disk: of_disk };
        let mut limits = Limits::default();
        limits.memory = 3 * LENGTH;
        let body = pieces(&body, 7_000, false);
        let mut message = run(Message::read_charged(&related, body, limits, Some(charges))).unwrap();
        assert_eq!(memory.used(), "<E/>".len() + kept(3));
        for number in 1..=3 {
            let mut next = || run(message.attachments.next()).unwrap().unwrap();
            let content = match number {
                // Too long: nothing is stored.
                2 => run(next().collect(LENGTH / 2)).map_err(|error| error.kind()),
                _ => run(next().collect(LENGTH)).map_err(|error| error.kind()),
            };
            let left = kept(3 - number);
            match number {
                2 => assert_eq!(content, Err(ErrorKind::Limit)),
                _ => assert_eq!(content.as_ref().map(Bytes::len), Ok(LENGTH)),
            }
            let collected = content.as_ref().map_or(0, |content| if before == 0 { content.len() } else { kept(1) });
            assert_eq!(memory.used(), "<E/>".len() + left + collected, "{before} {number}");
            let part = content.unwrap_or_default().slice(..0);
            drop(part);
            assert_eq!(memory.used(), "<E/>".len() + left, "{before} {number}");
        }
    }
}

/// Regression: waiting packages used 959 MB of disk space.
#[test]
fn stored_parts_are_charged_and_returned() {
    const MEGABYTE: usize = 1_000_000;
    let (related, body) = package(3, 2, MEGABYTE);
    let read = |memory: usize, disk: usize| {
        let (memory, disk) = (Budget::new(memory), Budget::new(disk));
        let [of_memory, of_disk] = [&memory, &disk].map(|budget| Arc::new(budget.reserve(0).unwrap()));
        let charges = Charges { memory: of_memory, disk: of_disk };
        let body = pieces(&body, 70_000, false);
        let message = run(Message::read_charged(&related, body, Limits::default(), Some(charges)));
        (message, memory, disk)
    };
    // 256 KiB wait in memory, as many are written at a time, and the rest waits in a file.
    let (message, memory, disk) = read(MEGABYTE, 2 * MEGABYTE);
    let mut message = message.unwrap();
    assert_eq!((memory.used(), disk.used()), (2 * ((256 << 10) + head()) + "<E/>".len(), 2 * MEGABYTE - (256 << 10)));
    let first = run(async { message.attachments.next().await?.expect("an attachment").collect(MEGABYTE).await });
    assert_eq!(first.unwrap_err().kind(), ErrorKind::Exhausted);
    drop(message);
    assert_eq!((memory.used(), disk.used()), (0, 0));

    let (message, memory, disk) = read(2 * MEGABYTE, 2 * MEGABYTE);
    let mut message = message.unwrap();
    let first = run(async { message.attachments.next().await?.expect("an attachment").collect(MEGABYTE).await });
    assert_eq!(first.unwrap().len(), MEGABYTE);
    drop(message);
    assert_eq!((memory.used(), disk.used()), (0, 0));

    for (memory, disk) in [(MEGABYTE, MEGABYTE), (300_000, 2 * MEGABYTE), (0, 2 * MEGABYTE)] {
        let (message, memory, disk) = read(memory, disk);
        assert_eq!(message.unwrap_err().kind(), ErrorKind::Exhausted);
        assert_eq!((memory.used(), disk.used()), (0, 0));
    }
}

/// Regression: heads were not charged, and the data of a file was charged only when it was written.
#[test]
fn stored_parts_are_charged_while_they_arrive() {
    let related = Related::parse("multipart/related; boundary=b; start=\"<root>\"").unwrap();
    let field = format!("X-Long: {}\r\n", "x".repeat(900));
    let parts = |head: &str, content: &str, count: usize| {
        format!("--b\r\n{head}\r\n{content}\r\n").repeat(count) + "--b\r\nContent-ID: <root>\r\n\r\n<E/>\r\n--b--\r\n"
    };
    let mut in_a_file = Limits::default();
    in_a_file.memory = 0;
    for (body, limits, memory, is_charged) in [
        (parts(&field.repeat(7), "", 50), Limits::default(), 100_000, true),
        (parts("", "", 50), Limits::default(), 100_000, false),
        (parts("", &"x".repeat(100_000), 1), in_a_file, 200_000, true),
        (parts("", &"x".repeat(100_000), 1), in_a_file, 300_000, false),
        (parts("", &"x".repeat(60_000), 2), Limits::default(), 150_000, false),
    ] {
        let (memory, disk) = (Budget::new(memory), Budget::new(1_000_000));
        let [of_memory, of_disk] = [&memory, &disk].map(|budget| Arc::new(budget.reserve(0).unwrap()));
        let charges = Charges { memory: of_memory, disk: of_disk };
        let body = pieces(body.as_bytes(), 7_000, false);
        let message = run(Message::read_charged(&related, body, limits, Some(charges)));
        let exhausted = message.as_ref().err().is_some_and(|error| error.kind() == ErrorKind::Exhausted);
        assert_eq!(exhausted, is_charged, "{:?} with {} bytes", message.as_ref().err(), memory.limit());
        drop(message);
        assert_eq!(memory.used(), 0);
    }
}

/// Identifiers of parts are stored until the end, to detect duplicates.
#[test]
fn identifiers_are_charged() {
    let related = Related::parse("multipart/related; boundary=b").unwrap();
    let part = |number: usize| format!("--b\r\nContent-ID: <{number}{}>\r\n\r\n\r\n", "x".repeat(900));
    let body = "--b\r\n\r\n<E/>\r\n".to_owned() + &(10..60).map(part).collect::<String>() + "--b--\r\n";
    for (memory, is_enough) in [(44_000, false), (46_000, true)] {
        let memory = Budget::new(memory);
        let [of_memory, disk] = [&memory, &Budget::new(0)].map(|budget| Arc::new(budget.reserve(0).unwrap()));
        let body = pieces(body.as_bytes(), 7_000, false);
        let charges = Charges { memory: of_memory, disk };
        let mut message = run(Message::read_charged(&related, body, Limits::default(), Some(charges))).unwrap();
        let passed = run(message.attachments.pass_over(0)).map_err(|error| error.kind());
        assert_eq!(passed, if is_enough { Ok(()) } else { Err(ErrorKind::Exhausted) });
        drop(message);
        assert_eq!(memory.used(), 0);
    }
}
