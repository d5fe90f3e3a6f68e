//! Decodes or encodes one message again and again, to be measured from outside.
//!
//! ```text
//! cargo run --release -p castile-suites --example codec -- echo|order FILE decode|encode|roundtrip N
//! cargo run --release -p castile-suites --example codec -- literal|encoded|multiref|axis STRUCTS decode|encode|roundtrip N
//! ```
//!
//! The messages of the second form are made here, of the same structs: document/literal, in SOAP encoding, and with each
//! struct behind the call, its namespaces declared in the envelope or, as Apache Axis does it, in each struct.
//!
//! `decode` and `encode` do nothing but that, N times; the output buffer is used again. `roundtrip` prints the message
//! as it is encoded again. Under `valgrind --tool=callgrind`, the difference between two N, divided by their
//! difference, is the cost of one message in instructions.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;

use castile_suites::codec::contract::{EchoStructs, Order};
use castile_suites::codec::encoded::EchoStructsRequest;
use castile_suites::codec::{self, Declared, Message};

const USAGE: &str = "usage: codec echo|order FILE decode|encode|roundtrip N\n       codec literal|encoded|multiref|axis STRUCTS decode|encode|roundtrip N";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, of, work, count] = arguments.as_slice() else { return Err(USAGE.into()) };
    let read = || std::fs::read(of).map_err(|error| format!("{of}: {error}"));
    let count = number("N", count)?;
    match kind.as_str() {
        "echo" => run::<EchoStructs>(&read()?, work, count),
        "order" => run::<Order>(&read()?, work, count),
        "literal" => run::<EchoStructs>(&codec::structs(number("STRUCTS", of)?).encode(Vec::new())?, work, count),
        "encoded" => {
            let message = codec::encoded_structs(number("STRUCTS", of)?).encode(Vec::new())?;
            run::<EchoStructsRequest>(&message, work, count)
        }
        "multiref" | "axis" => {
            let declared = if kind == "axis" { Declared::Each } else { Declared::Once };
            run::<EchoStructsRequest>(codec::multiref(number("STRUCTS", of)?, declared).as_bytes(), work, count)
        }
        _ => Err(USAGE.into()),
    }
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
