//! Decodes or encodes one message again and again, to be measured from outside.
//!
//! ```text
//! cargo run --release -p castile-suites --example codec -- echo|order|own-echo|own-order|any FILE decode|encode|roundtrip N
//! cargo run --release -p castile-suites --example codec -- literal|encoded|multiref|axis STRUCTS decode|encode|roundtrip N
//! cargo run --release -p castile-suites --example codec -- document|cdata 2KB|50KB|200KB serve|tokenise N
//! cargo run --release -p castile-suites --example codec -- swa|mtom|stream BYTES serve N
//! ```
//!
//! Those that begin with `own` are read as types of this program, which derive what the generator writes for the others.
//!
//! The messages of the second form are made here, of the same structs: document/literal, in SOAP encoding, and with each
//! struct behind the call, its namespaces declared in the envelope or, as Apache Axis does it, in each struct.
//!
//! The documents of the third form are those of the suite `styles`, the attachments of the fourth what `attachments` measures
//! over a socket. `serve` answers such a request, from the bytes of its body to those of the answer, without a socket:
//! what comes is decoded, what goes is encoded. `tokenise` reads the tokens of the same bytes and nothing else, as the
//! measure for what is done on top of that.
//!
//! `decode` and `encode` do nothing but that, N times; the output buffer is used again. `roundtrip` prints the message
//! as it is encoded again. Under `valgrind --tool=callgrind`, the difference between two N, divided by their
//! difference, is the cost of one message in instructions.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;

use bytes::Bytes;
use castile::http::Body;
use castile_suites::attachments::{self, Kind, contract::AttachmentsServer};
use castile_suites::codec::contract::{EchoStructs, Order};
use castile_suites::codec::encoded::EchoStructsRequest;
use castile_suites::codec::{self, Declared, Message};
use castile_suites::open::contract as open;
use castile_suites::styles::{self, contract::DocPtServer};
use castile_xml::{Limits, Memory, Reader, Token};
use http::Request;
use http_body_util::BodyExt;
use tokio::runtime::Builder;
use tower_service::Service;

const USAGE: &str = "usage: codec echo|order|own-echo|own-order|any FILE decode|encode|roundtrip N
       codec literal|encoded|multiref|axis STRUCTS decode|encode|roundtrip N
       codec document|cdata 2KB|50KB|200KB serve|tokenise N
       codec swa|mtom|stream BYTES serve N";

/// The types of the contract as a program would have them.
mod own {
    use castile::Xml;
    use castile::soap::Operation;
    use castile_suites::codec::{self, Message};

    const NAMESPACE: &str = "http://example.com/bench";

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    pub struct EchoStructs {
        item: Vec<Item>,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    struct Item {
        i: i32,
        f: f64,
        s: String,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    pub struct Order {
        order_id: i32,
        order_status: i32,
        order_date: String,
        order_total_amount: f64,
        customer: Customer,
        line_item: Vec<LineItem>,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    struct Customer {
        customer_id: i32,
        contact_first_name: String,
        contact_last_name: String,
        contact_phone: String,
        last_activity_date: String,
        credit_card_number: String,
        credit_card_expiration_date: String,
        billing_address: Address,
        shipping_address: Address,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    struct Address {
        first_name: String,
        last_name: String,
        #[xml(name = "address1")]
        address_1: String,
        #[xml(name = "address2")]
        address_2: String,
        city: String,
        state: String,
        zip: String,
        country: String,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    struct LineItem {
        order_id: i32,
        item_id: i32,
        product_id: i32,
        product_description: String,
        quantity: i32,
        unit_price: f64,
    }

    impl Message for EchoStructs {
        fn operation() -> &'static Operation {
            codec::contract::EchoStructs::operation()
        }
    }

    impl Message for Order {
        fn operation() -> &'static Operation {
            codec::contract::Order::operation()
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, of, work, count] = arguments.as_slice() else { return Err(USAGE.into()) };
    let read = || std::fs::read(of).map_err(|error| format!("{of}: {error}"));
    let count = number("N", count)?;
    match kind.as_str() {
        "echo" => run::<EchoStructs>(&read()?, work, count),
        "order" => run::<Order>(&read()?, work, count),
        "own-echo" => run::<own::EchoStructs>(&read()?, work, count),
        "own-order" => run::<own::Order>(&read()?, work, count),
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
                "tokenise" => tokenise(&message.body, count),
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

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Answers a request again and again.
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

/// Reads all tokens of a document again and again.
fn tokenise(document: &[u8], count: usize) -> Result<(), Box<dyn Error>> {
    let mut memory = Memory::default();
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
