//! What a stranger's document takes as a value: at most three times its size, and something that doesn't grow with it.
//!
//! Allocations of the whole process are counted, so there is no test harness, whose own thread allocates when it likes.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::schema::{Element, Namespaces, Wildcard};
use castile_databinding::{AnyElements, Decoder, Error, FromXml};
use castile_xml::{Limits, Memory};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// What doesn't grow: buffers of a reader, and the first copies of declarations.
const CONSTANT: usize = 256 << 10;

#[derive(Debug)]
struct Wildcards {
    _elements: AnyElements,
}

impl FromXml for Wildcards {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let any = const { &Wildcard::new(Namespaces::Any).occurs(0, None) };
        decoder.complex(element, |decoder| decoder.repeated_any(any).map(|elements| Wildcards { _elements: elements }))
    }
}

/// What is repeated, under which declarations, and as what it is read.
struct Shape {
    name: &'static str,
    declarations: String,
    item: fn(usize) -> String,
    peak: fn(&str) -> usize,
}

fn shapes() -> Vec<Shape> {
    let default = "xmlns='urn:t'".to_owned();
    let long = format!("xmlns='urn:t' xmlns:p='{}'", "n".repeat(900));
    let many: String = (0..120).map(|number| format!(" xmlns:p{number}='urn:{}'", "n".repeat(900))).collect();
    let many = format!("xmlns='urn:t'{many}");
    let elements: [(&str, &String, fn(usize) -> String); 9] = [
        ("empty elements", &default, |_| "<a/>".into()),
        ("empty elements apart", &default, |_| "<a/>\n".into()),
        ("empty elements of no namespace", &default, |_| "<a xmlns=''/>".into()),
        ("elements with text", &default, |number| format!("<a>{number}</a>")),
        ("elements of a long namespace", &long, |_| "<p:a/>".into()),
        ("names of a long namespace as text", &long, |_| "<a>p:b</a>".into()),
        ("attributes of a long namespace", &long, |_| "<a p:b=''/>".into()),
        ("elements of many long namespaces", &many, |number| format!("<p{}:a/>", number % 120)),
        ("elements that declare a prefix", &long, |_| "<p:a xmlns:q='u'/>".into()),
    ];
    let shapes = elements.map(|(name, declarations, item)| Shape {
        name,
        declarations: declarations.clone(),
        item,
        peak: peak::<Wildcards>,
    });
    shapes.into()
}

/// The most bytes that are held at a time while a document is read.
fn peak<T: FromXml>(document: &str) -> usize {
    let before = dhat::HeapStats::get();
    let value = common::decode_with::<T>(document, Limits::default(), Memory::default()).unwrap();
    let after = dhat::HeapStats::get();
    drop(value);
    after.max_bytes - before.curr_bytes
}

fn main() {
    for size in [1 << 20, 8 << 20] {
        for Shape { name, declarations, item, peak } in shapes() {
            let mut document = format!("<root {declarations}>");
            for number in 0.. {
                document += &item(number);
                if document.len() >= size {
                    break;
                }
            }
            document += "</root>";
            let _profiler = dhat::Profiler::builder().testing().build();
            let (peak, length) = (peak(&document), document.len());
            println!("{name}: {peak} bytes for {length}, {:.2} times", peak as f64 / length as f64);
            dhat::assert!(peak <= 3 * length + CONSTANT, "{name}: {peak} bytes for a document of {length}");
        }
    }
}
