//! Memory that is refused is not allocated first, be it beyond the budget or for an invalid value.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::sync::Arc;

use castile_budget::{Allowance, Budget};
use castile_databinding::encoded::ArrayType;
use castile_databinding::schema::{Attributes, Element, TypeName};
use castile_databinding::{Decoder, Error, ErrorKind, FromXml};
use castile_xml::{Limits, Reader, Token};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

static CALL: Element = Element::new("", "c", 1_000);
static ARRAY: ArrayType = ArrayType {
    item: Element::new("", "i", 1_001),
    item_type: TypeName::new("http://www.w3.org/2001/XMLSchema", "int"),
    ranks: "",
    rank: 1,
};

/// An array in SOAP encoding.
struct Encoded;

impl FromXml for Encoded {
    const ATTRIBUTES: &'static Attributes = &Attributes::ANY;

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.items::<i32>(element, &ARRAY).map(|_| Encoded)
    }
}

/// How many bytes may be charged.
const BUDGET: usize = 256 << 10;
/// The memory that isn't charged: buffers of readers.
const CONSTANT: usize = 64 << 10;

/// Creates a message from a call and the elements after it.
fn envelope(call: &str, behind: &str) -> String {
    format!(
        "<e xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:r='http://www.w3.org/2003/05/soap-encoding' \
        xmlns:x='http://www.w3.org/2001/XMLSchema'><b>{call}{behind}</b></e>"
    )
}

/// Reads an array within the budget. Returns the kind of the error, if any, and the maximum number of bytes allocated.
fn read(document: &str) -> (Option<ErrorKind>, usize) {
    let budget = Budget::new(BUDGET);
    let reservation = Arc::new(budget.reserve(0).unwrap());
    let _profiler = dhat::Profiler::builder().testing().build();
    let before = dhat::HeapStats::get().curr_bytes;
    let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
    for _ in 0..3 {
        assert!(matches!(reader.next().unwrap(), Token::StartTag(_)));
    }
    let mut decoder = Decoder::new(reader).within(Allowance::of(reservation, 0));
    let value = Encoded::content(&mut decoder, &CALL);
    (value.err().map(|error| error.kind()), dhat::HeapStats::get().max_bytes - before)
}

#[test]
fn refused_memory_was_not_allocated_before() {
    let one = "<c><i href='#q'/></c>";
    let many = |item: &str| item.repeat(100_000);
    let ordered: String = (0..100_000).map(|number| format!("<m id='q{number}'>1</m>")).collect();
    let references: String = (0..100_000).map(|number| format!("<i href='#q{number}'/>")).collect();
    let ones = "1,".repeat(500_000);
    let (exhausted, lexical) = (Some(ErrorKind::Exhausted), Some(ErrorKind::Lexical));
    let cases = [
        ("one reference", envelope(one, "<m id='q'>1</m>"), None),
        ("one reference and a comment", envelope(one, "<!-- --><m id='q'>1</m>"), None),
        ("100 ids", envelope(one, &("<m id='a'/>".repeat(100) + "<!-- --><m id='q'>1</m>")), None),
        ("100 ids of SOAP 1.2", envelope(one, &("<m r:id='a'/>".repeat(100) + "<!-- --><m id='q'>1</m>")), None),
        // Each stage of the index.
        ("what may be ids", envelope(one, &("<!-- -->".to_owned() + &many("<m id='a'/>"))), exhausted),
        ("ids found by their tags", envelope(one, &(many("<m id='a!'/>") + "<m id='q'>1</m>")), exhausted),
        ("ids found by a reader", envelope(one, &(many("<m\nid='&#97;'/>") + "<m id='q'>1</m>")), exhausted),
        ("elements around ids", envelope(one, &many("<n><m id='&#97;'/></n>")), exhausted),
        ("elements behind the call", envelope(&format!("<c>{references}</c>"), &ordered), exhausted),
        // Numbers that no position can have.
        ("a position", envelope(&format!("<c><i e:position='[{ones}1]'>1</i></c>"), ""), lexical),
        ("an offset", envelope(&format!("<c e:arrayType='x:int[9]' e:offset='[{ones}1]'/>"), ""), lexical),
    ];
    let mut wrong = Vec::new();
    for (name, document, expected) in cases {
        let (found, peak) = read(&document);
        if found != expected || peak > BUDGET + CONSTANT {
            wrong.push(format!("{name}: {found:?} for {expected:?}, {peak} bytes"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
