//! Decodes or encodes one message repeatedly by a contract that is read at run time, for measurements from outside.
//!
//! ```text
//! cargo run --release -p castile-dynamic --example values -- WSDL OPERATION FILE decode|encode|json|open N
//! ```
//!
//! FILE is a request in its envelope. `decode` and `encode` only decode or encode, N times. `json` writes the value as
//! JSON, and `open` reads the contract. To get the cost of one run in instructions, use `valgrind --tool=callgrind`
//! with two values of N, and divide the difference of the costs by the difference of N. The example `codec` of
//! castile-suites does the same with generated code.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use castile_dynamic::{Contract, Options, Value};
use castile_soap::{Version, message};
use castile_xml::Limits;
use castile_xsd::Files;

const USAGE: &str = "usage: values WSDL OPERATION FILE decode|encode|json|open N";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [wsdl, operation, file, work, count] = arguments.as_slice() else { return Err(USAGE.into()) };
    let open = || {
        Contract::open(Path::new(wsdl), &Files::new(), &Options::default()).map_err(|diagnostics| {
            let texts: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            texts.join("\n")
        })
    };
    let contract = open()?;
    let count: usize = count.parse()?;
    if work == "open" {
        for _ in 0..count {
            black_box(open()?);
        }
        return Ok(());
    }
    let mut operations = contract.services.iter().flat_map(|service| service.operations());
    let operation = operations.find(|known| known.name() == operation).ok_or("no such operation")?;
    let root = &operation.soap().request;
    let message = std::fs::read(file)?;
    let decode = || message::read::<Value>(root, black_box(&message), Limits::default());
    let value = decode()?;
    match work.as_str() {
        "decode" => {
            for _ in 0..count {
                black_box(decode()?);
            }
        }
        "encode" => {
            let mut out = Vec::new();
            for _ in 0..count {
                out = black_box(message::write(Version::default(), root, black_box(&value), out)?);
            }
        }
        "json" => {
            for _ in 0..count {
                black_box(serde_json::to_vec(black_box(&value))?);
            }
        }
        _ => return Err(USAGE.into()),
    }
    Ok(())
}
