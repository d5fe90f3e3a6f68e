//! Tests repeated items that are made while their message is sent.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile::http::server::{Routes, Server};
use castile::{Fault, Items, Request, Response};
use castile_suites::seismic::document::contract::quakes::{QuakeSet, Query, Results};
use castile_suites::seismic::document::contract::{QuakeInterface, QuakeInterfaceClient, QuakeInterfaceServer};
use common::load;
use futures_util::{StreamExt, stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Answers with two sets, the second of which is made when the test requests it. The least magnitude of the query selects its
/// result.
struct Slow(watch::Receiver<bool>);

const WELL: f32 = 0.0;
const BROKEN: f32 = 1.0;
const UNWRITABLE: f32 = 2.0;

fn set(area_name: &str) -> QuakeSet {
    QuakeSet { area_name: area_name.into(), ..QuakeSet::default() }
}

impl QuakeInterface for Slow {
    async fn process(&self, request: Request<Query>) -> Result<Response<Results>, Fault> {
        let what = request.get_ref().min_mag.unwrap_or_default();
        let mut go_on = self.0.clone();
        let first = stream::iter([Ok(set("first"))]);
        let second = stream::once(async move {
            go_on.wait_for(|&goes_on| goes_on).await?;
            match what {
                BROKEN => Err(BoxError::from("the catalogue is gone")),
                UNWRITABLE => Ok(set("\u{1}")),
                _ => Ok(set("second")),
            }
        });
        Ok(Results { count: Some(2), result_set: Items::stream(first.chain(second)) }.into())
    }
}

fn query(what: f32) -> Query {
    Query { min_mag: Some(what), ..Query::default() }
}

async fn serve(go_on: watch::Receiver<bool>) -> String {
    let routes = Routes::new().route("/", QuakeInterfaceServer::new(Slow(go_on)));
    load::serve(Server::new(), routes).await.to_string()
}

/// Reads an answer until it contains `enough`, or until its end.
async fn read(stream: &mut TcpStream, enough: &str) -> String {
    let mut came = Vec::new();
    while !String::from_utf8_lossy(&came).contains(enough) && stream.read_buf(&mut came).await.unwrap() > 0 {}
    String::from_utf8(came).unwrap()
}

async fn ask(authority: &str, what: f32) -> TcpStream {
    let operation = &castile_suites::seismic::document::contract::QUAKE_INTERFACE_OPERATIONS[0];
    let message = castile_soap::client::request(castile_soap::Version::Soap11, operation, &query(what)).unwrap();
    let mut stream = TcpStream::connect(authority).await.unwrap();
    let head =
        format!("POST / HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: {}\r\n\r\n", message.len());
    stream.write_all(&[head.as_bytes(), &message].concat()).await.unwrap();
    stream
}

#[tokio::test]
async fn an_answer_leaves_while_it_is_made() {
    let (go_on, goes_on) = watch::channel(false);
    let authority = serve(goes_on).await;
    let mut stream = ask(&authority, WELL).await;
    let begin = read(&mut stream, "first").await;
    assert!(begin.contains("<area-name>first</area-name>"), "{begin}");
    go_on.send(true).unwrap();
    let rest = read(&mut stream, "0\r\n\r\n").await;
    assert!(rest.contains("second") && rest.ends_with("</soap:Envelope>\r\n0\r\n\r\n"), "{begin}{rest}");

    let client = QuakeInterfaceClient::new(&format!("http://{authority}/")).unwrap();
    let results = client.process(&query(WELL)).await.unwrap();
    let sets = results.result_set.get().unwrap();
    assert_eq!((results.count, sets), (Some(2), &[set("first"), set("second")][..]));
}

#[tokio::test]
async fn a_stream_that_fails_after_its_start_ends_the_connection() {
    for what in [BROKEN, UNWRITABLE] {
        let (go_on, goes_on) = watch::channel(false);
        let authority = serve(goes_on).await;
        let mut stream = ask(&authority, what).await;
        let begin = read(&mut stream, "first").await;
        go_on.send(true).unwrap();
        let rest = read(&mut stream, "nothing, to the end").await;
        assert!(begin.starts_with("HTTP/1.1 200") && !format!("{begin}{rest}").contains("</soap:Envelope>"), "{rest}");
        let client = QuakeInterfaceClient::new(&format!("http://{authority}/")).unwrap();
        let error = client.process(&query(what)).await.unwrap_err();
        assert!(error.to_string().contains("broke off"), "{error}");
    }
}

#[tokio::test]
async fn a_stream_is_sent_once() {
    struct Twice(Items<QuakeSet>);

    impl QuakeInterface for Twice {
        async fn process(&self, _: Request<Query>) -> Result<Response<Results>, Fault> {
            Ok(Results { count: None, result_set: self.0.clone() }.into())
        }
    }
    let items = Items::stream(stream::iter([Ok::<_, BoxError>(set("only"))]));
    let client =
        QuakeInterfaceClient::with_transport("http://localhost/", QuakeInterfaceServer::new(Twice(items))).unwrap();
    assert_eq!(client.process(&query(WELL)).await.unwrap().result_set.get(), Some(&[set("only")][..]));
    let error = client.process(&query(WELL)).await.unwrap_err();
    assert!(error.to_string().contains("broke off"), "{error}");
}
