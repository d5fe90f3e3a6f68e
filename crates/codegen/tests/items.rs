//! Responses that are read item by item, of the feature `streams`.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use castile::http::Body;
use castile::http::client::Transport;
use castile::http::server::{Routes, Server};
use castile::soap::ErrorKind;
use castile::{CallError, Fault, FaultCode, HttpService, Items, Request, Response};
use futures_util::{StreamExt, TryStreamExt, stream};
use http_body_util::{Full, StreamBody};
use tokio::net::TcpListener;

use streams::{Feature, FeatureClient, FeatureServer, Item, Kind, Value};

#[allow(dead_code, reason = "other tests use the rest")]
#[allow(unreachable_pub, reason = "nobody reaches into a test")]
mod streams {
    include!("features/streams/expected.rs");
}

fn value(count: i32) -> Value {
    Value { kind: Kind::Small, item: Items::default(), count: Some(count) }
}

fn item(text: &str) -> Item {
    Item { text: text.to_owned(), last: false }
}

/// Answers with so many items as it is asked for, or with a fault if they are fewer than none.
struct Many;

impl Feature for Many {
    async fn echo(&self, request: Request<Value>) -> Result<Response<Value>, Fault> {
        let count = request.get_ref().count.unwrap();
        if count < 0 {
            return Err(Fault::new(FaultCode::Sender, "fewer than none"));
        }
        let items = stream::iter(0..count).map(|number| Ok::<_, Infallible>(item(&format!("{number:01000}"))));
        let kind = request.into_inner().kind;
        Ok(Value { kind, item: Items::stream(items), count: Some(count) }.into())
    }
}

/// Answers every request with this message, in pieces of so many bytes.
#[derive(Clone)]
struct Answers(&'static str, Bytes, usize);

impl tower_service::Service<http::Request<Body>> for Answers {
    type Response = http::Response<StreamBody<stream::BoxStream<'static, Result<http_body::Frame<Bytes>, Infallible>>>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        let Answers(content_type, message, length) = self.clone();
        let pieces: Vec<_> =
            message.chunks(length).map(|piece| Ok(http_body::Frame::data(Bytes::copy_from_slice(piece)))).collect();
        // Now and then there is nothing yet.
        let pieces = stream::iter(pieces).then(|piece| async {
            tokio::task::yield_now().await;
            piece
        });
        let response = http::Response::builder().header("content-type", content_type);
        ready(Ok(response.body(StreamBody::new(pieces.boxed())).unwrap()))
    }
}

const XML: &str = "text/xml; charset=utf-8";

fn answers(message: &str, length: usize) -> FeatureClient<Answers> {
    let answers = Answers(XML, Bytes::copy_from_slice(message.as_bytes()), length);
    FeatureClient::with_transport("http://localhost/", answers).unwrap()
}

fn message(header: &str, payload: &str) -> String {
    format!(
        "<?xml version='1.0'?><s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns='urn:streams'>\
         {header}<s:Body>{payload}</s:Body></s:Envelope>"
    )
}

async fn all<S: HttpService>(client: &FeatureClient<S>) -> Result<(Vec<Item>, Response<Value>), CallError> {
    let request = value(3);
    let mut items = client.echo(&request).items::<Item>();
    let mut found = Vec::new();
    while let Some(item) = items.next().await? {
        found.push(item);
    }
    assert!(items.next().await?.is_none(), "the end stays");
    Ok((found, items.rest().await?))
}

const ITEMS: &str = "<echoResponse><kind>small</kind><item><text>a</text></item><item last='1'><text>b</text></item>\
                     <count>2</count></echoResponse>";

#[tokio::test]
async fn an_answer_is_the_same_in_any_chunks() {
    let text = message("", ITEMS);
    let whole = answers(&text, 1 << 20).echo(&value(3)).await.unwrap();
    for length in [1, 3, 50, 1 << 20] {
        let (found, rest) = all(&answers(&text, length)).await.unwrap();
        assert_eq!(found, whole.item.get().unwrap(), "in pieces of {length}");
        assert_eq!(rest.get_ref(), &value(2));
        assert_eq!(rest.status().unwrap(), 200);
    }
}

/// The whole may be larger than any message; memory is bounded by the limits, which are small here.
#[tokio::test]
async fn an_answer_of_any_size_is_read() {
    const MANY: i32 = 20_000;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let routes = Routes::new().route("/", FeatureServer::new(Many));
    let server =
        tokio::spawn(async move { Server::new().serve(listener, routes, async { drop(stopped.await) }).await });
    let client = FeatureClient::with_transport(&url, Transport::new()).unwrap();
    let client = client.with_options(support::options(|options| {
        options.messages.limits.message_size = 4 << 10;
        options.accept_gzip = true;
    }));
    let request = value(MANY);
    let mut items = client.echo(&request).items::<Item>();
    let mut count = 0;
    while let Some(item) = items.next().await.unwrap() {
        assert_eq!(item.text.trim_start_matches('0').parse().unwrap_or(0), count);
        count += 1;
    }
    assert_eq!(count, MANY);
    assert_eq!(items.rest().await.unwrap().get_ref(), &value(MANY));
    // As a stream, and a part of it alone.
    let some: Vec<Item> = client.echo(&value(MANY)).items::<Item>().take(3).try_collect().await.unwrap();
    assert_eq!(some.len(), 3);
    // What nobody asks for is passed over.
    let mut items = client.echo(&request).items::<Item>();
    assert!(items.next().await.unwrap().is_some());
    assert_eq!(items.rest().await.unwrap().get_ref(), &value(MANY));
    // A fault is one.
    let error = client.echo(&value(-1)).items::<Item>().next().await.unwrap_err();
    assert_eq!(error.to_string(), "Sender: fewer than none");
    drop(client);
    stop.send(()).unwrap();
    assert!(server.await.unwrap().is_complete());
}

async fn error(text: &str) -> String {
    let mut said = Vec::new();
    for length in [2, 1 << 20] {
        let error = all(&answers(text, length)).await.unwrap_err();
        assert!(matches!(error, CallError::Protocol { .. }), "{error:?}");
        said.push(error.to_string());
    }
    assert_eq!(said[0], said[1]);
    said.remove(0)
}

#[tokio::test]
async fn errors_are_those_of_the_message() {
    let wrong = ITEMS.replace("<text>b</text>", "<txt/>");
    let expected =
        "echoResponse/item[2]/txt: found <txt> of urn:streams, where <text> was expected (line 1, column 188)";
    assert_eq!(error(&message("", &wrong)).await, expected);
    let wrong = ITEMS.replace("</echoResponse>", "<more/></echoResponse>");
    assert!(error(&message("", &wrong)).await.starts_with("echoResponse/more: found <more>"));
    let wrong = ITEMS.replace("<text>b</text>", "<text>b</tex>");
    assert!(error(&message("", &wrong)).await.contains("</tex>"));
    let cut_off = message("", ITEMS).replace("</echoResponse></s:Body></s:Envelope>", "");
    assert!(error(&cut_off).await.contains("the document ends"));
    let header = "<s:Header><x xmlns='urn:x' s:mustUnderstand='1'/></s:Header>";
    assert!(error(&message(header, ITEMS)).await.contains("must be understood"));
    assert!(error(&message("", "<other/>")).await.starts_with("other: found <other>"));
}

#[tokio::test]
async fn limits_hold_for_each_item() {
    let long = message("", &ITEMS.replace(">b<", &format!(">{}<", "b".repeat(2000))));
    let client = answers(&long, 100).with_options(support::options(|options| {
        options.messages.limits.message_size = 1000;
    }));
    let error = all(&client).await.unwrap_err();
    assert!(error.to_string().starts_with("an element longer than 1000 bytes"), "{error}");
}

#[tokio::test]
async fn an_error_ends_the_items() {
    let client = answers(&message("", &ITEMS.replace("<text>a</text>", "")), 5);
    let request = value(1);
    let mut items = client.echo(&request).items::<Item>();
    assert!(items.next().await.is_err());
    assert!(items.next().await.unwrap().is_none());
    assert!(items.rest().await.unwrap_err().to_string().contains("given up"));
}

#[tokio::test]
async fn items_before_an_error_are_delivered() {
    let broken = message("", &ITEMS.replace("</echoResponse>", "</echo>"));
    let wrong = message("", &ITEMS.replace("</echoResponse>", "<more/></echoResponse>"));
    for text in [broken, wrong] {
        for length in [2, 1 << 20] {
            let client = answers(&text, length);
            let request = value(1);
            let mut items = client.echo(&request).items::<Item>();
            assert!(items.next().await.unwrap().is_some());
            assert!(items.next().await.unwrap().is_some());
            assert!(items.next().await.is_err());
            assert!(items.next().await.unwrap().is_none());
        }
    }
}

#[tokio::test]
async fn a_package_is_refused() {
    let body = format!(
        "--b\r\nContent-Type: application/xop+xml; type=\"text/xml\"\r\nContent-ID: <r>\r\n\r\n{}\r\n--b--\r\n",
        message("", ITEMS)
    );
    let content_type =
        "multipart/related; boundary=b; type=\"application/xop+xml\"; start=\"<r>\"; start-info=\"text/xml\"";
    let answers = Answers(content_type, body.into(), 100);
    let client = FeatureClient::with_transport("http://localhost/", answers).unwrap();
    let error = all(&client).await.unwrap_err();
    assert!(error.to_string().contains("comes with attachments"), "{error}");
    let CallError::Protocol { error, .. } = error else { panic!("{error:?}") };
    assert_eq!(error.kind(), ErrorKind::Document);
}

#[tokio::test]
async fn the_charset_of_the_media_type_counts() {
    let text = message("", &ITEMS.replace(">b<", ">ü<"));
    let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let answers = Answers("text/xml; charset=iso-8859-1", latin1.into(), 7);
    let client = FeatureClient::with_transport("http://localhost/", answers).unwrap();
    assert_eq!(all(&client).await.unwrap().0[1].text, "ü");
}

/// A service that never answers, and what is behind it.
#[tokio::test]
async fn a_call_ends_in_time() {
    let never = Never;
    let client = FeatureClient::with_transport("http://localhost/", never).unwrap();
    let request = value(1);
    let mut items = client.echo(&request).timeout(std::time::Duration::from_millis(50)).items::<Item>();
    let error = items.next().await.unwrap_err();
    assert!(matches!(error, CallError::Transport(_)), "{error:?}");
}

#[derive(Clone)]
struct Never;

impl tower_service::Service<http::Request<Body>> for Never {
    type Response = http::Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = std::future::Pending<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        std::future::pending()
    }
}
