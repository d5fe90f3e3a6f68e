//! Signed attachments that a handler reads before it is known whether they are what was signed.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use castile_budget::Budget;
use castile_mime::{Attachments, Charges, ContentId, ErrorKind as MimeErrorKind, Message, Packaging, Part, Related};
use castile_soap::addressing::Usage;
use castile_soap::{
    Layer, MessageSecurity, Options, Received, ReplyMessage, Request, RequestMessage, Response, Service, Version,
};
use castile_wss::message::{
    ClientSecurity, OutgoingSecurity, Part as SignedPart, Policy, SecurityLayer, VerifiedMessage,
};
use castile_wss::{ErrorKind, Limits, Secret, Trust};
use futures_util::{FutureExt, StreamExt, stream};
use http_body::Frame;
use http_body_util::StreamBody;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use common::{Answer, Outbox, orders, text_of};

const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn security() -> OutgoingSecurity {
    OutgoingSecurity::new().with_timestamp().with_signature(Secret::new("ann")).with_clock(now)
}

fn stored() -> Policy {
    Policy::signed_by(Trust::new().with_secret("ann", Secret::new("ann"))).with_clock(now).without_replay_cache()
}

fn streamed() -> Policy {
    stored().with_streamed_attachments()
}

/// A content that is longer than the chunks in which it arrives.
fn long() -> Vec<u8> {
    (0..300_000_u32).flat_map(u32::to_le_bytes).collect()
}

/// An attachment: its Content-ID, its media type and its content.
type Attached<'a> = (&'static str, &'static str, &'a [u8]);

const NOTE: Attached<'_> = ("note@b", "text/plain", b"It rains.\r\n");
const LIST: Attached<'_> = ("list@b", "application/xml", b"<list></list>");

fn envelope(header: &str, order: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='{SOAP12}'><s:Header>{header}</s:Header><s:Body><order xmlns='urn:o'>{order}</order></s:Body></s:Envelope>"
    )
}

fn signed_message(message: &str, attached: &[Attached<'_>]) -> Bytes {
    let part = |(id, media_type, content): &Attached<'_>| {
        Part::new(ContentId::parse(id).unwrap(), media_type, content.to_vec().into()).unwrap()
    };
    let parts: Vec<Part> = attached.iter().map(part).collect();
    security()
        .secure_package(message.as_bytes(), Packaging::Attachments, &parts)
        .now_or_never()
        .unwrap()
        .unwrap()
        .into()
}

fn signed(order: &str, attached: &[Attached<'_>]) -> Bytes {
    signed_message(&envelope("", order), attached)
}

/// Returns the body of a package whose root is not what is verified.
fn package(attached: &[Attached<'_>]) -> Vec<u8> {
    let mut body = b"--b\r\n\r\n<E/>\r\n".to_vec();
    for (id, media_type, content) in attached {
        body.extend(format!("--b\r\nContent-ID: <{id}>\r\nContent-Type: {media_type}\r\n\r\n").as_bytes());
        body.extend(*content);
        body.extend(b"\r\n");
    }
    body.extend(b"--b--\r\n");
    body
}

/// Returns the attachments of a package that arrives in chunks, and is charged to a budget.
async fn received(package: &[u8], budget: &Budget) -> Attachments {
    let chunks =
        package.chunks(50_000).map(|chunk| Ok::<_, std::io::Error>(Frame::data(Bytes::copy_from_slice(chunk))));
    let body = StreamBody::new(stream::iter(chunks.collect::<Vec<_>>()));
    let [memory, disk] = [(); 2].map(|()| Arc::new(budget.reserve(0).unwrap()));
    let related = Related::parse("multipart/related; boundary=b").unwrap();
    let read = Message::read_charged(&related, body, castile_mime::Limits::default(), Some(Charges { memory, disk }));
    read.await.unwrap().attachments
}

/// What a handler does with its attachments is the text of the request.
async fn handle(mut request: Request<String>) -> Answer {
    let verified = request.extensions().get::<VerifiedMessage>().unwrap().clone();
    let manner = request.get_ref().clone();
    let attachments = request.attachments();
    let mut length = 0;
    match manner.as_str() {
        "collect" => {
            while let Some(attachment) = attachments.next().await? {
                assert!(verified.is_attachment_signed(attachment.head().content_id().unwrap()));
                length += attachment.collect(10_000_000).await?.len();
            }
        }
        "by name" => length += attachments.by_url("cid:note@b").await?.collect(1_000).await?.len(),
        "pieces" => {
            while let Some(attachment) = attachments.next().await? {
                let mut attachment = attachment.into_unverified();
                while let Some(data) = attachment.data().await? {
                    length += data.len();
                }
                attachment.finish().await?;
            }
        }
        "all at once" => {
            let mut attachment = attachments.next().await?.unwrap();
            assert_eq!(attachment.data().await.unwrap_err().kind(), MimeErrorKind::Unverified);
            assert_eq!(StreamExt::next(&mut attachment).await.unwrap().unwrap_err().kind(), MimeErrorKind::Unverified);
        }
        "errors are ignored" => {
            while let Ok(Some(attachment)) = attachments.next().await {
                let mut attachment = attachment.into_unverified();
                while let Ok(Some(data)) = attachment.data().await {
                    length += data.len();
                }
            }
        }
        "a reader is dropped" => {
            if let Some(attachment) = attachments.next().await? {
                drop(attachment.into_unverified().data().await);
            }
        }
        "a reader is kept" => {
            let (_, mut attachments) = request.into_parts();
            if let Ok(Some(attachment)) = attachments.next().await {
                let mut attachment = attachment.into_unverified();
                drop(attachment.data().await);
                tokio::spawn(async move {
                    std::future::pending::<()>().await;
                    drop((attachment, attachments));
                });
            }
        }
        "nothing" => {}
        "a fault" => return Err(castile_soap::Fault::receiver("no")),
        other => panic!("{other}"),
    }
    Ok(Response::new(format!("{length} bytes")))
}

/// Calls a service with a policy. Returns the reply, and why the request was refused.
async fn call(policy: Policy, message: Bytes, attachments: Attachments) -> (ReplyMessage, Option<ErrorKind>) {
    let refused = Arc::new(Mutex::new(None));
    let log = refused.clone();
    let layer = SecurityLayer::new(policy).on_refusal(move |error| {
        assert!(log.lock().unwrap().replace(error.kind()).is_none(), "a request is refused once");
    });
    let request = RequestMessage::new(Version::Soap12, message).with_attachments(Packaging::Attachments, attachments);
    let reply = layer.layer(orders(handle)).call(request, &Options::default()).await;
    let refused = refused.lock().unwrap().take();
    (reply, refused)
}

const MANNERS: [&str; 7] =
    ["collect", "pieces", "errors are ignored", "a reader is dropped", "a reader is kept", "nothing", "a fault"];

#[tokio::test]
async fn only_what_was_signed_is_answered() {
    use ErrorKind::{Attachment, Digest, Reference, Unsigned};
    let long = long();
    let photo: Attached<'_> = ("photo@b", "image/png", &long);
    let all = [photo, NOTE, LIST];
    let mut last = long.clone();
    *last.last_mut().unwrap() ^= 1;
    let mut first = long.clone();
    first[0] ^= 1;
    let changed = |content| package(&[(photo.0, photo.1, content), NOTE, LIST]);
    let as_sent = package(&all);
    let cut = |length: usize| as_sent[..length].to_vec();
    let cases: Vec<(&str, Vec<u8>, Option<ErrorKind>)> = vec![
        ("as it was sent", as_sent.clone(), None),
        ("in another order", package(&[LIST, NOTE, photo]), None),
        (
            "spelled in another way",
            package(&[photo, (NOTE.0, NOTE.1, b"It rains.\n"), (LIST.0, LIST.1, b"<list/>")]),
            None,
        ),
        ("the last byte is changed", changed(&last), Some(Digest)),
        ("the first byte is changed", changed(&first), Some(Digest)),
        ("it is shorter", changed(&long[1..]), Some(Digest)),
        ("it is empty", changed(b""), Some(Digest)),
        ("XML is changed", package(&[photo, NOTE, (LIST.0, LIST.1, b"<list>1</list>")]), Some(Digest)),
        ("it breaks off", cut(700_000), Some(Attachment)),
        ("it breaks off at the end", cut(as_sent.len() - 4), Some(Attachment)),
        ("one is missing", package(&[photo, LIST]), Some(Reference)),
        ("all are missing", package(&[]), Some(Reference)),
        ("one is there twice", package(&[photo, NOTE, LIST, photo]), Some(Attachment)),
        ("one was added", package(&[photo, NOTE, LIST, ("more@b", "image/png", b"")]), Some(Unsigned)),
        ("two are exchanged", package(&[(photo.0, photo.1, NOTE.2), (NOTE.0, NOTE.1, &long), LIST]), Some(Digest)),
    ];
    for (name, package, expected) in &cases {
        for manner in MANNERS {
            let budget = Budget::new(10_000_000);
            let message = signed(manner, &all);
            let (reply, refused) = call(streamed(), message, received(package, &budget).await).await;
            let reply = text_of(&reply);
            assert_eq!(refused, *expected, "{name}, {manner}: {reply}");
            assert_eq!(reply.contains("InvalidSecurity"), expected.is_some(), "{name}, {manner}: {reply}");
            // Nothing of an answer is in a refusal, and nothing about the reason.
            assert_eq!(
                reply.contains(" bytes"),
                expected.is_none() && manner != "a fault",
                "{name}, {manner}: {reply}"
            );
            assert!(!reply.contains("attachment"), "{name}, {manner}: {reply}");
            // By default it is the same, if the handler reads no further than it may.
            let (_, refused) = call(stored(), signed("nothing", &all), received(package, &budget).await).await;
            assert_eq!(refused, *expected, "{name}");
        }
    }
    let length = long.len() + NOTE.2.len() + LIST.2.len();
    for manner in ["collect", "pieces", "errors are ignored"] {
        let (reply, _) =
            call(streamed(), signed(manner, &all), received(&as_sent, &Budget::new(10_000_000)).await).await;
        assert!(text_of(&reply).contains(&format!("{length} bytes")), "{}", text_of(&reply));
    }
    // Those that come before one are stored. What is stored was compared.
    for (package, expected) in [(&as_sent, None), (&changed(&last), Some(Digest))] {
        let (reply, refused) =
            call(streamed(), signed("by name", &all), received(package, &Budget::new(10_000_000)).await).await;
        assert_eq!(refused, expected);
        assert_eq!(text_of(&reply).contains(&format!("{} bytes", NOTE.2.len())), expected.is_none());
    }
}

/// Who reads an attachment as if it were verified gets no byte of it.
#[tokio::test]
async fn nobody_takes_pieces_for_verified() {
    let budget = Budget::new(10_000_000);
    let (reply, refused) =
        call(streamed(), signed("all at once", &[NOTE]), received(&package(&[NOTE]), &budget).await).await;
    assert_eq!(refused, None);
    assert!(text_of(&reply).contains("0 bytes"), "{}", text_of(&reply));
}

/// Sends the beginning of a package. Returns the attachments, and where the rest is sent to.
async fn arriving(beginning: &[u8]) -> (Attachments, UnboundedSender<Result<Frame<Bytes>, std::io::Error>>) {
    let (send, mut receive) = unbounded_channel();
    send.send(Ok(Frame::data(Bytes::copy_from_slice(beginning)))).unwrap();
    let related = Related::parse("multipart/related; boundary=b").unwrap();
    let body = StreamBody::new(stream::poll_fn(move |cx| receive.poll_recv(cx)));
    let message = Message::read(&related, body, castile_mime::Limits::default()).await.unwrap();
    (message.attachments, send)
}

/// The handler is called, and has answered, while most of the attachment is still to come. Its answer has to wait.
#[tokio::test]
async fn the_answer_waits_for_the_verdict() {
    let long = long();
    let photo: Attached<'_> = ("photo@b", "image/png", &long);
    for (is_changed, expected) in [(false, None), (true, Some(ErrorKind::Digest))] {
        let mut package = package(&[photo]);
        if is_changed {
            let end = package.len() - 20;
            package[end] ^= 1;
        }
        let (attachments, send) = arriving(&package[..1_000]).await;
        let answered = Arc::new(AtomicUsize::new(0));
        let seen = answered.clone();
        let service = orders(move |request: Request<String>| {
            let seen = seen.clone();
            async move {
                let (_, mut attachments) = request.into_parts();
                let mut photo = attachments.next().await?.unwrap().into_unverified();
                let read = photo.data().await?.unwrap().len();
                seen.fetch_add(read, Ordering::SeqCst);
                Ok(Response::new("done".to_owned()))
            }
        });
        let refused = Arc::new(Mutex::new(None));
        let log = refused.clone();
        let layer = SecurityLayer::new(streamed()).on_refusal(move |error| *log.lock().unwrap() = Some(error.kind()));
        let request = RequestMessage::new(Version::Soap12, signed("", &[photo]))
            .with_attachments(Packaging::Attachments, attachments);
        let mut reply = layer.layer(service).call(request, &Options::default());
        for _ in 0..10 {
            assert!((&mut reply).now_or_never().is_none());
        }
        let read = answered.load(Ordering::SeqCst);
        assert!(read > 0 && read < 1_000, "{read}");
        send.send(Ok(Frame::data(Bytes::copy_from_slice(&package[1_000..])))).unwrap();
        drop(send);
        let reply = reply.await;
        assert_eq!(*refused.lock().unwrap(), expected);
        assert_eq!(text_of(&reply).contains("done"), expected.is_none());
    }
}

#[tokio::test]
async fn streams_need_no_memory() {
    let long = long();
    let photo: Attached<'_> = ("photo@b", "image/png", &long);
    for manner in ["pieces", "errors are ignored", "a reader is dropped", "nothing"] {
        let budget = Budget::new(10_000);
        let (reply, refused) =
            call(streamed(), signed(manner, &[photo]), received(&package(&[photo]), &budget).await).await;
        assert!(refused.is_none() && !reply.is_fault(), "{manner}: {}", text_of(&reply));
    }
    // Whoever stores it needs memory, and so does XML.
    let mut document = b"<list>".to_vec();
    document.extend(vec![b'x'; 100_000]);
    document.extend(b"</list>");
    let list: Attached<'_> = (LIST.0, LIST.1, &document);
    for (policy, attached, manner) in
        [(stored(), photo, "pieces"), (streamed(), list, "pieces"), (streamed(), list, "nothing")]
    {
        let budget = Budget::new(10_000);
        let (reply, refused) =
            call(policy, signed(manner, &[attached]), received(&package(&[attached]), &budget).await).await;
        assert!(refused == Some(ErrorKind::Exhausted) && reply.is_exhausted, "{manner}");
        assert_eq!(budget.used(), 0);
    }
}

#[tokio::test]
async fn streams_have_the_limit_of_content() {
    let long = long();
    let photo: Attached<'_> = ("photo@b", "image/png", &long);
    for (content, is_enough) in [(long.len() + 1_000, true), (long.len() - 1, false)] {
        let mut limits = Limits::default();
        limits.content = content;
        for manner in ["pieces", "nothing"] {
            let attachments = received(&package(&[photo]), &Budget::new(1_000_000)).await;
            let (_, refused) = call(streamed().with_limits(limits), signed(manner, &[photo]), attachments).await;
            assert_eq!(refused, (!is_enough).then_some(ErrorKind::Limit), "{manner}");
        }
    }
    // What isn't signed, and need not be, is not read without a limit either.
    let lenient = || streamed().with_signed([SignedPart::Body, SignedPart::Timestamp]);
    for (content, is_enough) in [(long.len() + 1_000, true), (long.len() - 1, false)] {
        let mut limits = Limits::default();
        limits.content = content;
        let attachments = received(&package(&[NOTE, photo]), &Budget::new(1_000_000)).await;
        let (_, refused) = call(lenient().with_limits(limits), signed("nothing", &[NOTE]), attachments).await;
        assert_eq!(refused, (!is_enough).then_some(ErrorKind::Limit));
    }
    // If nothing is signed, nothing is compared, and nothing more is read than without a signature.
    let attachments = received(&package(&[photo])[..1_000_000], &Budget::new(1_000_000)).await;
    let (reply, refused) = call(lenient(), signed("nothing", &[]), attachments).await;
    assert!(refused.is_none() && !reply.is_fault());
}

/// Strangers are refused before anything is read. What is read here never comes.
#[tokio::test]
async fn strangers_stream_nothing() {
    let call = async |message: Bytes| {
        let (attachments, send) = arriving(&package(&[NOTE])[..60]).await;
        let called = call(streamed(), message, attachments).now_or_never();
        drop(send);
        called.map(|(_, refused)| refused)
    };
    let own = signed("pieces", &[NOTE]);
    assert_eq!(call(own.clone()).await, None, "the attachments of who is trusted are read");
    let stranger = OutgoingSecurity::new().with_timestamp().with_signature(Secret::new(*b"stranger")).with_clock(now);
    let part = Part::new(ContentId::parse(NOTE.0).unwrap(), NOTE.1, NOTE.2.to_vec().into()).unwrap();
    let message = envelope("", "pieces");
    let by_stranger = stranger.secure_package(message.as_bytes(), Packaging::Attachments, &[part]);
    for (message, expected) in [
        (Bytes::from(envelope("", "pieces")), ErrorKind::Unsecured),
        (Bytes::from(String::from_utf8(own.to_vec()).unwrap().replace("pieces", "nothing")), ErrorKind::Digest),
        (by_stranger.await.unwrap().into(), ErrorKind::Signature),
    ] {
        assert_eq!(call(message).await, Some(Some(expected)));
    }
}

#[tokio::test]
async fn replies_to_other_addresses_wait_too() {
    let photo: Attached<'_> = ("photo@b", "image/png", b"it");
    let header = format!(
        "<a:Action xmlns:a='http://www.w3.org/2005/08/addressing'>order</a:Action><a:MessageID xmlns:a='http://www.w3.org/2005/08/addressing'>urn:1</a:MessageID><a:ReplyTo xmlns:a='http://www.w3.org/2005/08/addressing'><a:Address>{}</a:Address></a:ReplyTo>",
        Outbox::ADDRESS
    );
    for (content, is_right) in [(b"it", true), (b"at", false)] {
        for is_signed in [false, true] {
            let outbox = Arc::new(Outbox::default());
            let mut options = Options::default();
            options.addressing.usage = Usage::Supported;
            options.addressing.replies = Some(outbox.clone());
            let mut layer = SecurityLayer::new(streamed());
            if is_signed {
                layer = layer.with_reply_security(security());
            }
            let attachments = received(&package(&[(photo.0, photo.1, content)]), &Budget::new(1_000_000)).await;
            let request = RequestMessage::new(Version::Soap12, signed_message(&envelope(&header, "nothing"), &[photo]))
                .with_attachments(Packaging::Attachments, attachments);
            let reply = layer.layer(orders(handle)).call(request, &options).await;
            let sent = outbox.take();
            // The refusal is sent on the connection.
            let message = match &sent[..] {
                [(_, message)] if is_right && text_of(&reply).is_empty() => message.clone(),
                [] if !is_right => text_of(&reply),
                _ => panic!("{sent:?}, {reply:?}"),
            };
            assert_eq!(message.contains("0 bytes"), is_right, "{message}");
            assert_eq!(message.contains("InvalidSecurity"), !is_right, "{message}");
            assert_eq!(message.contains("Security xmlns"), is_right && is_signed, "{message}");
            assert!(message.contains("RelatesTo"), "{message}");
        }
    }
}

/// Without a layer, reading the attachments tells.
#[tokio::test]
async fn programs_without_a_layer_read_to_the_end() {
    let right = package(&[NOTE]);
    let changed = package(&[(NOTE.0, NOTE.1, b"It pours.\r\n")]);
    let message = signed("", &[NOTE]);
    for (package, is_right) in [(right, true), (changed, false)] {
        let budget = Budget::new(1_000_000);
        let mut answer = Received::from(message.clone());
        (answer.packaging, answer.attachments) = (Some(Packaging::Attachments), received(&package, &budget).await);
        let verified = streamed().verify_received(&mut answer).await.unwrap();
        assert!(verified.is_attachment_signed(&ContentId::parse(NOTE.0).unwrap()));
        let read = answer.attachments.collect(1_000).await;
        assert_eq!(read.map_err(|error| error.kind()).err(), (!is_right).then_some(MimeErrorKind::Refused));
    }
    // If there is no package, it is known at once.
    let verified = streamed().verify_received(&mut message.into()).await;
    assert_eq!(verified.unwrap_err().kind(), ErrorKind::Reference);
}

/// The answer to a client is read in the same way.
#[tokio::test]
async fn answers_are_streamed_too() {
    let client = ClientSecurity::new(security()).with_answer_policy(streamed());
    let message = signed("", &[NOTE]);
    for (content, is_right) in [(NOTE.2, true), (b"It pours.\r\n", false)] {
        let attachments = received(&package(&[(NOTE.0, NOTE.1, content)]), &Budget::new(1_000_000)).await;
        let mut answer = Received { attachments, ..message.clone().into() };
        client.verify(&mut answer, &[]).await.unwrap();
        let note = answer.attachments.by_url("cid:note@b").await.unwrap();
        let mut note = note.into_unverified();
        assert_eq!(note.data().await.unwrap().unwrap(), content);
        assert_eq!(note.finish().await.is_ok(), is_right);
    }
}
