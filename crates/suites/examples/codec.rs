//! Decodes or encodes one message again and again, to be measured from outside.
//!
//! ```text
//! cargo run --release -p castile-suites --example codec -- echo|order FILE decode|encode|roundtrip N
//! ```
//!
//! `decode` and `encode` do nothing but that, N times; the output buffer is used again. `roundtrip` prints the message
//! as it is encoded again. Under `valgrind --tool=callgrind`, the difference between two N, divided by their
//! difference, is the cost of one message in instructions.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;

use castile_suites::codec::Message;
use castile_suites::codec::contract::{EchoStructs, Order};

const USAGE: &str = "usage: codec echo|order FILE decode|encode|roundtrip N";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, file, work, count] = arguments.as_slice() else { return Err(USAGE.into()) };
    let message = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    let count = count.parse().map_err(|error| format!("N is {count:?}, where a number was expected: {error}"))?;
    match kind.as_str() {
        "echo" => run::<EchoStructs>(&message, work, count),
        "order" => run::<Order>(&message, work, count),
        _ => Err(USAGE.into()),
    }
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
