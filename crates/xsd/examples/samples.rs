//! Prints samples of every global element of a schema, each followed by a zero byte, and reports elements without
//! samples.
//!
//!     cargo run -p castile-xsd --example samples -- SCHEMA

use std::io::Write;

use castile_xsd::sample::Samples;
use castile_xsd::{Files, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Some(schema) = std::env::args().nth(1) else { return Err("one argument was expected: SCHEMA".into()) };
    let (schema, _) = read(&schema, &Files::new());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for element in schema.global_elements() {
        for sample in Samples::new(&schema, element) {
            match sample {
                Ok(sample) => write!(out, "{sample}\0")?,
                Err(error) => eprintln!("no sample: {}: {error}", schema[element].name),
            }
        }
    }
    Ok(out.flush()?)
}
