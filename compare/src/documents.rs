//! The documents: messages of the codec's contract, foreign contracts, and prose.

use std::path::Path;

use crate::{Contestant, decoders, tokenisers};

/// A document and the contestants that read it.
pub struct Document {
    pub name: &'static str,
    pub text: Vec<u8>,
    pub contestants: Vec<Contestant>,
}

/// Returns all documents that are available, and prints which are missing.
pub fn all() -> Vec<Document> {
    let mut documents =
        vec![Document { name: "prose, 1 MB in 100 elements", text: prose(), contestants: tokenisers::all() }];
    let files = [
        ("tokens of echo100", "workloads/codec/echo100.xml", tokenisers::all as fn() -> Vec<Contestant>),
        ("tokens of echo100pretty", "workloads/codec/echo100pretty.xml", tokenisers::all),
        ("tokens of order50", "workloads/codec/order50.xml", tokenisers::all),
        ("tokens of onvif.xsd", "corpus/wsdl/onvif/ver10/schema/onvif.xsd", tokenisers::all),
        ("tokens of EWS types.xsd", "corpus/wsdl/ews/types.xsd", tokenisers::all),
        ("value of echo100", "workloads/codec/echo100.xml", decoders::echo),
        ("value of echo100pretty", "workloads/codec/echo100pretty.xml", decoders::echo),
        ("value of order50", "workloads/codec/order50.xml", decoders::order),
        ("value of order500", "workloads/codec/order500.xml", decoders::order),
    ];
    for (name, path, contestants) in files {
        if let Some(text) = read(path) {
            documents.push(Document { name, text, contestants: contestants() });
        }
    }
    documents
}

/// Returns a file of `../shared`, beside the project; prints a note if it is absent.
pub fn read(path: &str) -> Option<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path);
    match std::fs::read(&path) {
        Ok(text) => Some(text),
        Err(error) => {
            eprintln!("left out: {}: {error}", path.display());
            None
        }
    }
}

/// Returns a megabyte of text, with occasional references and non-ASCII letters.
fn prose() -> Vec<u8> {
    const SENTENCES: [&str; 6] = [
        "The clerk counted the parcels twice and wrote down the number that he liked better. ",
        "Nobody had asked for the letters of the year before, so they stayed where they were. ",
        "On Monday the office was closed; on Tuesday it was open, and nobody came. ",
        "He had learned in Zürich that a message is read by whoever opens it first. ",
        "Fish &amp; chips were served at noon, and the accounts were settled afterwards. ",
        "Some wrote by hand and some by machine, but all of them signed at the end.\n",
    ];
    let mut text = "<book>\n".to_owned();
    let mut next = 0;
    for _ in 0..100 {
        let end = text.len() + 10_485;
        text.push_str("<p>");
        while text.len() < end {
            text.push_str(SENTENCES[next % SENTENCES.len()]);
            // Varies the order of sentences.
            next += 1 + next / 7 % 2;
        }
        text.push_str("</p>\n");
    }
    text.push_str("</book>\n");
    text.into_bytes()
}
