//! Compares the reader of messages with libxml2, if that is installed: it is strict and widely used. This target is not
//! part of the replay on stable, so all of it is in this file.
//!
//! What Castile accepts, libxml2 must accept too, with the same content. What libxml2 accepts, Castile must accept,
//! except for the differences in `is_known`.

use castile::xml::{Error, ErrorKind, Limits, Reader, Token};
use castile_fuzz::Check;
use castile_native::{Counts, Parser};

/// Returns the check. Exits if libxml2 is not installed.
pub(crate) fn target() -> Check {
    if parser().is_none() {
        println!("skipped: libxml2 is not installed");
        std::process::exit(0);
    }
    // The work of libxml2 is not counted.
    Check { name: "libxml2", run, work: 2_000_000, work_per_byte: 2_000, is_structured: false }
}

fn parser() -> Option<Parser> {
    let [(_, libxml2), _] = castile_native::parsers();
    libxml2
}

fn run(input: &[u8]) {
    let libxml2 = parser().expect("the target ends at once without libxml2");
    for document in input.split(|&byte| byte == 0xFF) {
        let shown = String::from_utf8_lossy(document);
        match read(document) {
            Ok(ours) => assert_eq!(Some(ours), libxml2(document), "ours and libxml2's content of {shown:?}"),
            Err(error) if is_known(&error, document) => {}
            Err(error) => assert_eq!(None, libxml2(document), "only Castile refuses {shown:?}: {error}"),
        }
    }
}

/// Returns whether libxml2 is more lenient here, or has other rules.
fn is_known(error: &Error, document: &[u8]) -> bool {
    // Messages have limits, no document type declaration, and UTF-8 as their only encoding.
    let is_of_messages = matches!(error.kind(), ErrorKind::Limit | ErrorKind::Doctype | ErrorKind::Encoding);
    // libxml2 treats U+0000 as the end of the document.
    is_of_messages || document.get(error.offset()) == Some(&0)
}

fn read(document: &[u8]) -> Result<Counts, Error> {
    let mut reader = Reader::new(document, Limits::default())?;
    let mut counts = Counts::default();
    loop {
        match reader.next()? {
            Token::StartTag(tag) => {
                counts.elements += 1;
                counts.namespaces += reader.namespace(tag.namespace).len();
                for attribute in reader.attributes() {
                    counts.attributes += 1;
                    counts.namespaces += attribute.namespace.len();
                    counts.values += attribute.value.len();
                }
            }
            Token::Text(text) => counts.text += text.len(),
            Token::EndTag(_) | Token::Comment(_) | Token::Instruction { .. } => {}
            Token::End => return Ok(counts),
        }
    }
}
