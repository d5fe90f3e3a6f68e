//! The memory of a hostile document's value: at most three times the size of the document, plus a constant.
//!
//! Allocations of the whole process are counted. So there is no test harness, whose thread allocates at any time.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::datatypes::QName;
use castile_databinding::schema::{Attributes, Element, First, Namespaces, Wildcard};
use castile_databinding::{Any, AnyAttribute, AnyElements, AnyType, Decoder, Encoder, Error, FromXml, Group, Mixed};
use castile_xml::{Limits, Memory};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// The approximate size of documents, in bytes.
const SIZE: usize = 1 << 20;
/// The constant part: buffers of a reader, and the first copies of declarations.
const CONSTANT: usize = 256 << 10;

/// Any number of values, read in one of several ways.
struct Many<T>(T);

static VALUE: [Element; 1] = [Element::new("urn:t", "a", 0).occurs(0, None)];
static ANY: Wildcard = Wildcard::new(Namespaces::Any).occurs(0, None);

macro_rules! many {
    ($($type:ty: $how:ident($($argument:expr),*);)*) => {
        $(impl FromXml for Many<$type> {
            const ATTRIBUTES: &'static Attributes = &Attributes::ANY;

            fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
                decoder.complex(element, |decoder| decoder.$how($($argument),*).map(Many))
            }
        })*
    };
}

many! {
    AnyElements: repeated_any(&ANY);
    Vec<Piece>: mixed();
    Vec<QName>: repeated(&VALUE, 0);
    Vec<AnyType>: repeated(&VALUE, 0);
    Vec<Many<Vec<AnyAttribute>>>: repeated(&VALUE, 0);
    Vec<Many<AnyElements>>: repeated(&VALUE, 0);
}

impl FromXml for Many<Vec<AnyAttribute>> {
    const ATTRIBUTES: &'static Attributes = &Attributes::ANY;

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let attributes = decoder.any_attributes(Self::ATTRIBUTES);
        decoder.complex(element, |_| Ok(Many(attributes)))
    }
}

/// A piece of mixed content, as in generated code.
enum Piece {
    Text(String),
    Any(Any),
}

impl Group for Piece {
    const FIRST: &'static [First] = &[First::Wildcard(&ANY)];

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        Ok(decoder.optional_any(&ANY)?.map(Piece::Any))
    }

    fn write(&self, out: &mut Encoder) {
        match self {
            Piece::Text(text) => out.text(text),
            Piece::Any(any) => out.any([any]),
        }
    }
}

impl Mixed for Piece {
    fn text(text: String) -> Self {
        Piece::Text(text)
    }
}

/// Creates the item with a number.
type Item = fn(usize) -> String;
/// Returns the maximum number of bytes allocated while a document is read.
type Peak = fn(&str) -> usize;

/// The item that is repeated, the declarations around it, and the type as which it is read.
struct Shape {
    name: &'static str,
    declarations: String,
    item: Item,
    peak: Peak,
}

/// Content that is stored as XML.
fn kept() -> Vec<Shape> {
    let default = "xmlns='urn:t'".to_owned();
    let long = format!("xmlns='urn:t' xmlns:p='{}'", "n".repeat(900));
    let many: String = (0..120).map(|number| format!(" xmlns:p{number}='urn:{}'", "n".repeat(900))).collect();
    let many = format!("xmlns='urn:t'{many}");
    let elements: [(&str, &String, Item); 9] = [
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
    let content: [(&str, &String, Item); 5] = [
        ("text between elements", &default, |_| "<a/>b".into()),
        ("text of references", &default, |_| "&lt;<a/>".into()),
        ("sections of text", &default, |_| "<![CDATA[<<<<<<<<<<<<<<<<]]>".into()),
        ("text between elements of a long namespace", &long, |_| "<p:a/>b".into()),
        ("names of a long namespace between elements", &long, |_| "<a/>p:b".into()),
    ];
    let shape = |(name, declarations, item): (_, &String, _), peak| Shape {
        name,
        declarations: declarations.clone(),
        item,
        peak,
    };
    let anything = elements.into_iter().chain(content).map(|of| shape(of, peak::<AnyType>));
    elements.into_iter().map(|of| shape(of, peak::<Many<AnyElements>>)).chain(anything).collect()
}

/// Content that is read value by value. Its memory depends on the type, but not on the length of declarations.
fn values() -> Vec<Shape> {
    let shapes: [(&str, Item, Peak); 5] = [
        ("pieces of mixed content", |_| "<p:a/>b".into(), peak::<Many<Vec<Piece>>>),
        ("names", |_| "<a>p:b</a>".into(), peak::<Many<Vec<QName>>>),
        ("names in values of any type", |_| "<a>p:b</a>".into(), peak::<Many<Vec<AnyType>>>),
        ("attributes", |_| "<a p:b=''/>".into(), peak::<Many<Vec<Many<Vec<AnyAttribute>>>>>),
        ("wildcards", |number| format!("<a xmlns:q='{number}'><p:a/></a>"), peak::<Many<Vec<Many<AnyElements>>>>),
    ];
    shapes.map(|(name, item, peak)| Shape { name, declarations: String::new(), item, peak }).into()
}

/// Returns the maximum number of bytes allocated while a document is read.
fn peak<T: FromXml>(document: &str) -> usize {
    let before = dhat::HeapStats::get();
    let value = common::decode_with::<T>(document, Limits::default(), Memory::default()).unwrap();
    let after = dhat::HeapStats::get();
    drop(value);
    after.max_bytes - before.curr_bytes
}

fn main() {
    for size in [SIZE, 8 * SIZE] {
        for Shape { name, declarations, item, peak } in kept() {
            let (peak, length) = measure(&declarations, item, peak, size);
            println!("{name}: {peak} bytes for {length}, {:.2} times", peak as f64 / length as f64);
            assert!(peak <= 3 * length + CONSTANT, "{name}: {peak} bytes for a document of {length}");
        }
    }
    for Shape { name, item, peak, .. } in values() {
        let declarations = |length| format!("xmlns='urn:t' xmlns:p='{}'", "n".repeat(length));
        let (long, length) = measure(&declarations(900), item, peak, SIZE);
        let (short, _) = measure(&declarations(9), item, peak, SIZE);
        println!("{name}: {long} bytes for {length}, {:.2} times", long as f64 / length as f64);
        assert!(long <= short + short / 2, "{name}: {long} bytes under a long declaration, {short} under a short one");
    }
}

/// Returns the maximum number of bytes allocated for items of a size, and that size.
fn measure(declarations: &str, item: Item, peak: Peak, size: usize) -> (usize, usize) {
    let mut document = format!("<root {declarations}>");
    for number in 0.. {
        document += &item(number);
        if document.len() >= size {
            break;
        }
    }
    document += "</root>";
    // Each counted allocation takes a backtrace, so it is kept as short as possible.
    let _profiler = dhat::Profiler::builder().testing().trim_backtraces(Some(4)).build();
    (peak(&document), document.len())
}
