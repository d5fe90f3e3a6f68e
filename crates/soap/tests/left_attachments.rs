//! Tests of attachments that a handler doesn't read.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use castile_databinding::schema::Element;
use castile_mime::{Limits, Message, Packaging, Related};
use castile_soap::{
    Description, Dispatch, Error, Fault, NoDetail, Offload, Offloading, Operation, Options, Payload, Pending, Request,
    RequestMessage, Root, Service, Version, Work,
};
use futures_util::future::BoxFuture;
use http_body::Frame;

const ROOT: Root = Root::new(Element::new("urn:t", "text", 1), "<text xmlns=\"urn:t\">", "</text>");

static OPERATIONS: [Operation; 1] = [Operation::new("take", "take", ROOT).with_response(ROOT)];

/// Answers without reading the attachments.
struct Taker;

impl Dispatch for Taker {
    fn description(&self) -> &'static Description {
        const { &Description::new("Taker", "urn:t", &OPERATIONS) }
    }

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, Error> {
        payload.handle(|request: Request<String>| async move { Ok::<_, Fault<NoDetail>>(request.into_inner().into()) })
    }
}

/// A body that returns these chunks and then never continues.
struct Stalling(VecDeque<Bytes>);

impl http_body::Body for Stalling {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.pop_front().map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(Frame::data(piece)))))
    }
}

/// Has no threads. Every timeout elapses immediately.
struct Impatient;

impl Offload for Impatient {
    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        work();
        Box::pin(std::future::ready(()))
    }

    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        assert_eq!(time, Duration::from_secs(10));
        Box::pin(std::future::ready(()))
    }
}

/// Returns the answer to a package with these attachments.
fn answer(attachments: &str) -> (bool, String) {
    let message = "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><text xmlns='urn:t'>t</text></e:Body></e:Envelope>";
    let body = Stalling([format!("--b\r\n\r\n{message}\r\n--b\r\n"), attachments.to_owned()].map(Bytes::from).into());
    let related = Related::parse("multipart/related; type=\"text/xml\"; boundary=b").unwrap();
    let mut options = Options::default();
    options.offload = Some(Offloading::new(10_000, Arc::new(Impatient)));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let reply = runtime.block_on(async {
        let Message { root, attachments, .. } = Message::read(&related, body, Limits::default()).await.unwrap();
        let request = RequestMessage::new(Version::Soap11, root).with_attachments(Packaging::Attachments, attachments);
        Taker.call(request, &options).await
    });
    (reply.fault.is_some(), String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap())
}

/// Regression test: errors in unread attachments caused a fault, although the handler had succeeded. A stalled attachment was
/// waited for.
#[test]
fn errors_in_unread_attachments_do_not_affect_the_answer() {
    for (attachments, expected) in [
        ("Content-ID: <a@b>\r\n\r\nx\r\n--b--\r\n", None),
        ("Content-ID: <a@b>\r\n\r\nstalled", None),
        ("Content-Transfer-Encoding: base64\r\n\r\n!\r\n--b--\r\n", None),
        ("no head\r\n\r\nx\r\n--b--\r\n", None),
        (
            "Content-ID: <a@b>\r\n\r\nx\r\n--b\r\nContent-ID: <a@b>\r\n\r\ny\r\n--b--\r\n",
            Some("a second part has the Content-ID"),
        ),
    ] {
        let (is_fault, answer) = answer(attachments);
        assert_eq!(is_fault, expected.is_some(), "{attachments}: {answer}");
        assert!(answer.contains(expected.unwrap_or(">t</text>")), "{attachments}: {answer}");
    }
}
