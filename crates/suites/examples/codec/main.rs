//! Decodes or encodes one message repeatedly, to be measured from outside.
//!
//! ```text
//! cargo run --release -p castile-suites --example codec -- echo|order|own-echo|own-order|any FILE decode|encode|roundtrip N
//! cargo run --release -p castile-suites --example codec -- structs|list|own-structs|own-list COUNT decode|encode|roundtrip N
//! cargo run --release -p castile-suites --example codec -- quakes|own-quakes QUERY decode|encode|roundtrip N
//! cargo run --release -p castile-suites --example codec -- literal|encoded|multiref|axis STRUCTS decode|encode|roundtrip N
//! cargo run --release -p castile-suites --example codec -- document|cdata 2KB|50KB|200KB serve|tokenise N
//! cargo run --release -p castile-suites --example codec -- swa|mtom|stream BYTES serve N
//! ```
//!
//! Arguments that begin with `own` select types of this program, which derive what the generator writes for the others.
//!
//! The messages of the second form are those of the suite `wstest`, with this many structs or nodes. Those of the third are the answers
//! of the suite `seismic` to the query of this number in its run `.2x20`.
//!
//! The messages of the fourth form are made here, from the same structs: document/literal, in SOAP encoding, and with each struct as an
//! independent element after the call. Its namespaces are declared in the envelope or, as Apache Axis does, in each struct.
//!
//! The documents of the fifth form are those of the suite `styles`; the attachments of the sixth are those that `attachments` measures
//! over a socket. `serve` answers such a request, from the bytes of its body to those of the answer, without a socket: the request is
//! decoded and the answer is encoded. `tokenise` only reads the tokens of the same bytes, as a baseline for further work.
//!
//! `decode` and `encode` do only that, N times, and reuse the output buffer. `roundtrip` prints the message as it is encoded again.
//! Under `valgrind --tool=callgrind`, the difference between two N, divided by their difference, is the cost of one message in
//! instructions. `--without CACHE,…` at the end switches [caches](Caches) off.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;

use bytes::Bytes;
use castile::http::Body;
use castile_soap::message;
use castile_suites::attachments::{self, Kind, contract::AttachmentsServer};
use castile_suites::codec::contract::{EchoStructs, Order};
use castile_suites::codec::encoded::EchoStructsRequest;
use castile_suites::codec::{self, Declared, Message};
use castile_suites::open::contract as open;
use castile_suites::seismic::document::contract::quakes::Results;
use castile_suites::seismic::{self, queries};
use castile_suites::styles::{self, contract::DocPtServer};
use castile_suites::wstest::contract as wstest;
use castile_xml::{Caches, Limits, Memory, Reader, Token};
use http::Request;
use http_body_util::BodyExt;
use tokio::runtime::Builder;
use tower_service::Service;

const USAGE: &str = "usage: codec echo|order|own-echo|own-order|any FILE decode|encode|roundtrip N
       codec structs|list|own-structs|own-list COUNT decode|encode|roundtrip N
       codec quakes|own-quakes QUERY decode|encode|roundtrip N
       codec literal|encoded|multiref|axis STRUCTS decode|encode|roundtrip N
       codec document|cdata 2KB|50KB|200KB serve|tokenise N
       codec swa|mtom|stream BYTES serve N
       each with --without CACHE,…: prologues, tags, attribute_tags, attribute_indexes, predictions, names";

mod own;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut caches = Caches::ALL;
    if let Some(at) = arguments.iter().position(|argument| argument == "--without") {
        let options: Vec<String> = arguments.drain(at..).collect();
        let [_, list] = options.as_slice() else { return Err(USAGE.into()) };
        caches = caches.without(list).ok_or(USAGE)?;
    }
    message::store_memory(Memory::with_caches(caches));
    let [kind, of, work, count] = arguments.as_slice() else { return Err(USAGE.into()) };
    let read = || std::fs::read(of).map_err(|error| format!("{of}: {error}"));
    let count = number("N", count)?;
    match kind.as_str() {
        "echo" => run::<EchoStructs>(&read()?, work, count),
        "order" => run::<Order>(&read()?, work, count),
        "own-echo" => run::<own::EchoStructs>(&read()?, work, count),
        "own-order" => run::<own::Order>(&read()?, work, count),
        "structs" => run::<wstest::EchoStruct>(&of_suite("EchoStruct", of)?, work, count),
        "own-structs" => run::<own::wstest::EchoStruct>(&of_suite("EchoStruct", of)?, work, count),
        "list" => run::<wstest::EchoList>(&of_suite("EchoList", of)?, work, count),
        "own-list" => run::<own::wstest::EchoList>(&of_suite("EchoList", of)?, work, count),
        "quakes" => run::<Results>(&quakes(of)?, work, count),
        "own-quakes" => run::<own::seismic::Results>(&quakes(of)?, work, count),
        "any" => run::<open::Any>(&read()?, work, count),
        "literal" => run::<EchoStructs>(&codec::structs(number("STRUCTS", of)?).encode(Vec::new())?, work, count),
        "encoded" => {
            let message = codec::encoded_structs(number("STRUCTS", of)?).encode(Vec::new())?;
            run::<EchoStructsRequest>(&message, work, count)
        }
        "multiref" | "axis" => {
            let declared = if kind == "axis" { Declared::Each } else { Declared::Once };
            run::<EchoStructsRequest>(codec::multiref(number("STRUCTS", of)?, declared).as_bytes(), work, count)
        }
        "document" | "cdata" => {
            let name = format!("{kind}-{of}");
            let cases = styles::cases();
            let [message] = cases.iter().find(|case| case.name == name).ok_or(USAGE)?.messages() else {
                return Err(USAGE.into());
            };
            match work.as_str() {
                "tokenise" => tokenise(&message.body, count, caches),
                "serve" => {
                    let request = || Request::post("/").header("soapaction", format!("\"{}\"", message.action));
                    serve(DocPtServer::new(styles::Service), request, &message.content_type, &message.body, count)
                }
                _ => Err(USAGE.into()),
            }
        }
        "swa" | "mtom" | "stream" if work == "serve" => {
            let kind = match kind.as_str() {
                "swa" => Kind::Attached,
                "mtom" => Kind::Value,
                _ => Kind::Streamed,
            };
            let request = runtime()?.block_on(attachments::request(kind, number("BYTES", of)?))?;
            let server = AttachmentsServer::new(attachments::Service);
            serve(server, || Request::post("/"), &request.content_type, &request.body, count)
        }
        _ => Err(USAGE.into()),
    }
}

/// Returns a request of the suite `wstest`.
fn of_suite(operation: &str, count: &str) -> Result<Bytes, Box<dyn Error>> {
    let (name, cases) = (format!("{operation}{count}"), castile_suites::wstest::cases());
    let case = cases.iter().find(|case| case.name == name);
    let message = case.and_then(|case| case.messages().first());
    Ok(message.ok_or_else(|| format!("wstest has no case {name}"))?.body.clone())
}

/// Returns the answer of the suite `seismic` to a query.
fn quakes(number: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let set = &queries::SETS[2];
    let query = set.queries().nth(self::number("QUERY", number)?).ok_or("there is no such query")?;
    Ok(seismic::document::answer(seismic::Service::default().catalogue(), &query).encode(Vec::new())?)
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Answers a request repeatedly.
fn serve<S>(
    mut server: S,
    request: impl Fn() -> http::request::Builder,
    content_type: &str,
    body: &Bytes,
    count: usize,
) -> Result<(), Box<dyn Error>>
where
    S: Service<Request<Body>, Response = http::Response<Body>>,
    S::Error: Error + 'static,
{
    runtime()?.block_on(async {
        for _ in 0..count {
            let request = request().header("content-type", content_type).body(Body::from(body.clone()))?;
            let response = server.call(request).await?;
            let status = response.status();
            let mut answer = response.into_body();
            while let Some(frame) = answer.frame().await {
                black_box(frame.map_err(|error| error.to_string())?);
            }
            if !status.is_success() {
                return Err(format!("{status}, where an answer was expected").into());
            }
        }
        Ok(())
    })
}

/// Reads all tokens of a document repeatedly.
fn tokenise(document: &[u8], count: usize, caches: Caches) -> Result<(), Box<dyn Error>> {
    let mut memory = Memory::with_caches(caches);
    for _ in 0..count {
        let mut reader = Reader::with_memory(black_box(document), Limits::default(), &mut memory)?;
        while !matches!(black_box(reader.next()?), Token::End) {}
        memory = reader.into_memory();
    }
    Ok(())
}

fn number(name: &str, text: &str) -> Result<usize, String> {
    text.parse().map_err(|error| format!("{name} is {text:?}, where a number was expected: {error}"))
}

fn run<M: Message>(message: &[u8], work: &str, count: usize) -> Result<(), Box<dyn Error>> {
    match work {
        "decode" => {
            for _ in 0..count {
                black_box(M::decode(black_box(message))?);
            }
        }
        "encode" => {
            let value = M::decode(message)?;
            let mut out = Vec::new();
            for _ in 0..count {
                out = black_box(black_box(&value).encode(out)?);
            }
        }
        "roundtrip" => {
            let mut out = Vec::new();
            for _ in 0..count {
                out = M::decode(message)?.encode(out)?;
            }
            std::io::stdout().write_all(&out)?;
        }
        _ => return Err(USAGE.into()),
    }
    Ok(())
}
