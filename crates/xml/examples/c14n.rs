//! Prints the canonical form of a document:
//!
//!     cargo run -p castile-xml --example c14n -- URI FILE [PREFIXES [APEX [WITHOUT]]]
//!
//! URI is that of the algorithm, PREFIXES is the PrefixList of an InclusiveNamespaces. APEX and WITHOUT are byte
//! offsets of start tags: of an element to be taken out of the document, and of one to be left out. `-` stands for
//! none.

use std::error::Error;
use std::io::{Write, stdout};

use castile_xml::c14n::{Algorithm, Method, Subset};
use castile_xml::{DocumentEntity, Limits, decode};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize| arguments.get(index).map(String::as_str);
    let (Some(uri), Some(file)) = (argument(0), argument(1)) else {
        return Err("expected URI FILE [PREFIXES [APEX [WITHOUT]]]".into());
    };
    let algorithm = Algorithm::from_uri(uri).ok_or_else(|| format!("\"{uri}\" is no algorithm that is known"))?;
    let offset = |index: usize| argument(index).filter(|&text| text != "-").map(str::parse).transpose();
    let subset = Subset { apex: offset(3)?, without: offset(4)? };

    let bytes = std::fs::read(file)?;
    let text = decode(&bytes, None)?;
    let document = DocumentEntity::new(&text, Limits::default())?;
    let mut canonical = String::new();
    Method::new(algorithm).with_inclusive_namespaces(argument(2).unwrap_or_default()).write(
        &mut document.reader(),
        subset,
        |piece| canonical.push_str(piece),
    )?;
    stdout().write_all(canonical.as_bytes())?;
    Ok(())
}
