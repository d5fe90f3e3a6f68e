//! The memory of values is charged before it is retained, and the charge is close to what the allocator provides.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::fmt::Debug;
use std::sync::Arc;

use castile_budget::{Allowance, Budget};
use castile_databinding::datatypes::{Base64Binary, List, Nmtoken, QName};
use castile_databinding::encoded::ArrayType;
use castile_databinding::schema::{Attributes, Content, Element, Namespaces, TypeName, Wildcard};
use castile_databinding::{AnyAttribute, AnyElements, AnyType, Decoder, Error, ErrorKind, FromXml};
use castile_xml::{Limits, Reader};
use common::Tree;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

static ROOT: Element = Element::new("urn:t", "root", 1_000);
static ITEM: [Element; 1] = [Element::new("urn:t", "i", 1_001).occurs(0, None)];
static ANY: Wildcard = Wildcard::new(Namespaces::Any).occurs(0, None);

/// A sequence of elements.
#[derive(Debug)]
struct Items<T>(#[allow(dead_code, reason = "it is kept, not looked at")] Vec<T>);

impl<T: FromXml> FromXml for Items<T> {
    const CONTENT: &'static Content = &Content::Sequence(&ITEM);

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| decoder.repeated(&ITEM, 0).map(Items))
    }
}

#[derive(Debug)]
struct Anything(#[allow(dead_code, reason = "it is kept, not looked at")] AnyElements);

impl FromXml for Anything {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| decoder.repeated_any(&ANY).map(Anything))
    }
}

#[derive(Debug)]
struct WithAttributes(#[allow(dead_code, reason = "it is kept, not looked at")] Vec<AnyAttribute>);

impl FromXml for WithAttributes {
    const ATTRIBUTES: &'static Attributes = &Attributes::ANY;

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let attributes = decoder.any_attributes(Self::ATTRIBUTES);
        decoder.complex(element, |_| Ok(WithAttributes(attributes)))
    }
}

static ARRAY: ArrayType = ArrayType {
    item: Element::new("urn:t", "i", 1_001),
    item_type: TypeName::new("http://www.w3.org/2001/XMLSchema", "int"),
    ranks: "",
    rank: 1,
};

/// An array of SOAP encoding.
#[derive(Debug)]
struct Encoded(#[allow(dead_code, reason = "it is kept, not looked at")] Vec<Option<i32>>);

impl FromXml for Encoded {
    const ATTRIBUTES: &'static Attributes = &Attributes::ANY;

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.items(element, &ARRAY).map(Encoded)
    }
}

fn read<T: FromXml>(document: &str, budget: &Budget) -> (Result<T, Error>, usize) {
    read_as(document, budget, false)
}

fn read_as<T: FromXml>(document: &str, budget: &Budget, is_lenient: bool) -> (Result<T, Error>, usize) {
    let reservation = Arc::new(budget.reserve(0).unwrap());
    let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
    reader.next().unwrap();
    let decoder = if is_lenient { Decoder::lenient(reader) } else { Decoder::new(reader) };
    let mut decoder = decoder.within(Allowance::of(reservation.clone(), 0));
    let value = decoder.root::<T>(&ROOT);
    drop(decoder);
    let charged = reservation.bytes();
    (value, charged)
}

fn check<T: FromXml + Debug>(name: &str, content: &str) {
    let document = format!("<root xmlns='urn:t' xmlns:p='urn:{}'>{content}</root>", "long".repeat(200));
    let before = dhat::HeapStats::get().curr_bytes;
    let (value, charged) = read::<T>(&document, &Budget::unlimited());
    let taken = dhat::HeapStats::get().curr_bytes - before;
    let value = value.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(taken > 50_000, "{name}: {taken}");
    // Texts take no more than the document, and are charged with it.
    let all = charged + document.len();
    assert!(all + 4_096 >= taken && charged <= 3 * taken, "{name}: {charged} were charged and {taken} taken");
    drop(value);

    let small = Budget::new(charged / 2);
    let (refused, _) = read::<T>(&document, &small);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Exhausted, "{name}");
    assert_eq!(small.used(), 0);
}

const ARRAY_OF_5_000: &str = "<root xmlns='urn:t' xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' \
    xmlns:x='http://www.w3.org/2001/XMLSchema' e:arrayType='x:int[5000]'><i e:position='[9]'>1</i></root>";

#[test]
fn charges_equal_the_allocated_memory() {
    let _profiler = dhat::Profiler::builder().testing().build();
    check::<Tree>("trees", &"<n><n/></n>".repeat(5_000));
    check::<Tree>("one after another", &"<n></n>".repeat(5_000));
    check::<Items<i32>>("numbers", &"<i>1</i>".repeat(50_000));
    check::<Items<String>>("texts", &format!("<i>{}</i>", "x".repeat(50)).repeat(5_000));
    check::<Items<String>>("short texts", &"<i>x</i><i/>".repeat(5_000));
    check::<Items<String>>("escaped texts", &"<i>x&amp;y</i>".repeat(5_000));
    check::<Items<Base64Binary>>("bytes", &"<i>AAAA</i>".repeat(5_000));
    check::<Items<QName>>("names", &"<i>p:x</i>".repeat(1_000));
    check::<Items<List<i32>>>("a list", &format!("<i>{}</i>", "1 ".repeat(50_000)));
    check::<Items<List<i32>>>("lists", &"<i>1 2 3</i>".repeat(5_000));
    check::<Items<List<Nmtoken>>>("a list of texts", &format!("<i>{}</i>", "x ".repeat(50_000)));
    check::<Items<List<QName>>>("a list of names", &format!("<i>{}</i>", "p:x ".repeat(1_000)));
    check::<Items<WithAttributes>>("attributes", &"<i p:a='b'/>".repeat(1_000));
    // A lenient decoder makes plans, which takes more memory.
    let items = format!("<root xmlns='urn:t'>{}</root>", "<i>1</i>".repeat(20_000));
    for (is_lenient, bytes, is_read) in [(false, 1_000_000, true), (true, 1_000_000, false), (true, 10_000_000, true)] {
        let value = read_as::<Items<i32>>(&items, &Budget::new(bytes), is_lenient).0;
        assert_eq!(value.map_err(|error| error.kind()).err(), (!is_read).then_some(ErrorKind::Exhausted), "{bytes}");
    }
    // The capacity for missing items is charged once.
    let (value, charged) = read::<Encoded>(ARRAY_OF_5_000, &Budget::unlimited());
    let taken = 5_000 * size_of::<Option<i32>>();
    assert_eq!(value.unwrap().0.len(), 5_000);
    assert!((taken..taken * 5 / 4).contains(&charged), "{charged} were charged and {taken} taken");
    check::<Anything>("wildcards", &"<a/>".repeat(50_000));
    check::<Items<AnyType>>("mixed", &format!("<i>{}</i>", "<a/>b".repeat(50_000)));
}
