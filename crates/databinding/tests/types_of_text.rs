//! The types that `xsi:type` may name on an element of a simple type, in literal use and in SOAP encoding, and the values
//! that are read.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::datatypes::{Base64Binary, HexBinary, List, QName};
use castile_databinding::encoded::ArrayType;
use castile_databinding::schema::{Element, SimpleTypes, TypeName};
use castile_databinding::{Any, AnyType, Decoder, Error, ExpandedName, FromXml, Nillable};
use castile_xml::{Limits, Memory};
use common::{Item, decode, lenient};

const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// Returns the content of a document with an item that has this `xsi:type` and text.
fn item(named: &str, text: &str) -> String {
    format!("<item xmlns:d='{XSD}' xmlns:o='urn:o' xsi:type='{named}'>{text}</item>")
}

#[test]
fn a_type_in_literal_use_is_the_declared_one_or_derived_from_it() {
    assert_eq!(decode::<Item<String>>(&[&item("d:NCName", "a")], &item("d:token", "a")).unwrap().0, "a");
    assert_eq!(decode::<Item<i64>>(&[&item("d:byte", "1")], &item("d:int", "1")).unwrap().0, 1);
    assert_eq!(decode::<Item<Nillable<i64>>>(&[], &item("d:int", "1")).unwrap().0, Nillable::Value(1));
    for (named, expected) in [
        (
            "d:base64Binary",
            "item: <item> is of the type {http://www.w3.org/2001/XMLSchema}base64Binary, where xs:string was expected",
        ),
        (
            "d:anySimpleType",
            "item: <item> is of the type {http://www.w3.org/2001/XMLSchema}anySimpleType, where xs:string was expected",
        ),
        ("d:none", "item: <item> is of the type {http://www.w3.org/2001/XMLSchema}none, where xs:string was expected"),
        ("o:Row", "item: <item> is of the type {urn:o}Row, where xs:string was expected"),
        ("string", "item: <item> is of the type {urn:t}string, where xs:string was expected"),
        ("n:string", "item: \"n:string\" is not a valid xs:QName for xsi:type: its prefix is not declared"),
    ] {
        let error = decode::<Item<String>>(&[&item("d:string", "w6k=")], &item(named, "w6k=")).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
        let (Item(value), told) = lenient::<Item<String>>(&item(named, "w6k=")).unwrap();
        assert_eq!(told, [error]);
        assert_eq!(value, if named == "d:base64Binary" { "é" } else { "w6k=" });
    }
    // The type that one element names doesn't affect the next one.
    let nil = "<item xmlns:d='http://www.w3.org/2001/XMLSchema' xsi:type='d:base64Binary' xsi:nil='true'/>";
    assert_eq!(lenient::<Item<Nillable<String>>>(nil).unwrap().0.0, Nillable::Nil);
}

static CODE_TYPES: SimpleTypes = SimpleTypes::new("Code", "", &[("urn:t", "Code Short")]);
static SIZE_TYPES: SimpleTypes = SimpleTypes::new("Size", "int", &[("urn:t", "Size"), ("urn:o", "Code")]);
static ITEMS: [Element; 2] =
    [Element::new("urn:t", "code", 0).types(&CODE_TYPES), Element::new("urn:t", "size", 1).types(&SIZE_TYPES)];

#[derive(Debug)]
struct Items;

impl FromXml for Items {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| {
            decoder.required::<String>(&ITEMS, 0)?;
            decoder.required::<String>(&ITEMS, 1).map(|_| Items)
        })
    }
}

#[test]
fn only_types_of_the_contract_may_be_named() {
    let read = |code: &str, size: &str| {
        let document = format!(
            "<root xmlns='urn:t' xmlns:o='urn:o' xmlns:d='{XSD}' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>\
             <code xsi:type='{code}'/><size xsi:type='{size}'/></root>"
        );
        common::decode_with::<Items>(&document, Limits::default(), Memory::default()).is_ok()
    };
    for (code, size) in [("Code", "Size"), ("Short", "o:Code"), ("Code", "d:byte"), ("Code", "d:int")] {
        assert!(read(code, size), "{code} {size}");
    }
    for (code, size) in
        [("o:Code", "Size"), ("d:string", "Size"), ("Code", "Code"), ("Code", "d:long"), ("Cod", "Size")]
    {
        assert!(!read(code, size), "{code} {size}");
    }
}

macro_rules! array {
    ($type:ident, $of:ty, $table:ident) => {
        #[derive(Debug)]
        struct $type(Vec<Option<$of>>);
        static $table: ArrayType = ArrayType {
            item: Element::new("", "item", 60),
            item_type: TypeName::new(XSD, "anyType"),
            ranks: "",
            rank: 1,
        };
        impl FromXml for $type {
            fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
                decoder.items(element, &$table).map($type)
            }
        }
    };
}

array!(Texts, String, TEXTS);
array!(Longs, i64, LONGS);
array!(Bytes, Base64Binary, BYTES);
array!(Digits, HexBinary, DIGITS);
array!(Names, QName, NAMES);
array!(Lists, List<i32>, LISTS);
array!(Floats, f32, FLOATS);
array!(Doubles, f64, DOUBLES);

/// Reads an item after one of the declared type, and after one like it.
fn encoded<T: FromXml>(declared: &str, named: &str, text: &str, last: impl Fn(T) -> String) -> Result<String, String> {
    let item = format!("<item xsi:type='{named}'>{text}</item>");
    let document = format!(
        "<root xmlns='urn:t' xmlns:d='{XSD}' xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:o='urn:o' \
         xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>{declared}{item}{item}</root>"
    );
    let read = common::decode_with::<T>(&document, Limits::default(), Memory::default());
    read.map(|(value, _)| last(value)).map_err(|error| error.message().to_owned())
}

/// A regression test: 1e300 became infinite, and 16777217 another number.
#[test]
fn numbers_of_other_types_were_lost() {
    let floats = |named: &str, text: &str| {
        let read = |Floats(mut items): Floats| items.pop().flatten().unwrap().to_string();
        encoded("<item xsi:type='d:float'>1</item>", named, text, read)
    };
    let doubles = |named: &str, text: &str| {
        let read = |Doubles(mut items): Doubles| items.pop().flatten().unwrap().to_string();
        encoded("<item xsi:type='d:double'>1</item>", named, text, read)
    };
    for (read, expected) in [
        (floats("d:double", "0.1"), "0.1"),
        (floats("d:double", "-1e30"), "-1000000000000000000000000000000"),
        (floats("d:double", "INF"), "inf"),
        (floats("d:double", "0e9"), "0"),
        (floats("d:int", " -16777216 "), "-16777216"),
        (floats("d:int", "+007"), "7"),
        (floats("d:decimal", "1.10"), "1.1"),
        (floats("d:decimal", "2.0"), "2"),
        (floats("d:int", "0"), "0"),
        (doubles("d:int", "16777217"), "16777217"),
        (doubles("d:float", "340282350000000000000000000000000000000"), "340282350000000000000000000000000000000"),
    ] {
        assert_eq!(read.as_deref(), Ok(expected));
    }
    for (read, text) in [
        (floats("d:double", "1e300"), "\"1e300\""),
        (floats("d:double", "-1e300"), "\"-1e300\""),
        (floats("d:double", "1e-300"), "\"1e-300\""),
        (floats("d:int", "16777217"), "\"16777217\""),
        (floats("d:decimal", "16777217.0"), "\"16777217.0\""),
        (doubles("d:long", "9007199254740993"), "\"9007199254740993\""),
        (doubles("d:integer", &"9".repeat(400)), "\"999"),
    ] {
        let error = read.unwrap_err();
        assert!(error.contains(text) && error.contains("is not a valid number for xs:"), "{error}");
    }
}

#[test]
fn a_type_in_soap_encoding_is_any_whose_text_is_a_value() {
    let texts = |named, text| {
        let read = |Texts(mut items): Texts| items.pop().flatten().unwrap();
        encoded("<item xsi:type='d:string'>a</item>", named, text, read)
    };
    let longs = |named, text| {
        let read = |Longs(mut items): Longs| items.pop().flatten().unwrap().to_string();
        encoded("<item xsi:type='d:long'>1</item>", named, text, read)
    };
    let bytes = |named, text| {
        let read = |Bytes(mut items): Bytes| format!("{:?}", items.pop().flatten().unwrap().0);
        encoded("<item xsi:type='d:base64Binary'>AA==</item>", named, text, read)
    };
    let digits = |named, text| {
        let read = |Digits(mut items): Digits| format!("{:?}", items.pop().flatten().unwrap().0);
        encoded("<item xsi:type='d:hexBinary'>00</item>", named, text, read)
    };
    let names = |named, text| {
        let read = |Names(mut items): Names| items.pop().flatten().unwrap().to_string();
        encoded("<item xsi:type='d:QName'>o:a</item>", named, text, read)
    };
    let lists = |named, text| {
        let read = |Lists(mut items): Lists| format!("{}", items.pop().flatten().unwrap().len());
        encoded("<item>1 2</item>", named, text, read)
    };
    for (read, expected) in [
        (texts("d:base64Binary", "Y2Fmw6k="), Ok("café")),
        (texts("e:base64", "Y2Fm w6k=\n"), Ok("café")),
        (texts("d:hexBinary", "636166C3A9"), Ok("café")),
        (texts("d:base64Binary", ""), Ok("")),
        (texts("d:int", "007"), Ok("007")),
        (texts("d:anyType", "a"), Ok("a")),
        (texts("e:string", "a"), Ok("a")),
        (
            texts("d:base64Binary", "/w=="),
            Err("\"/w==\" refers to bytes that are not UTF-8, where xs:string was expected"),
        ),
        (
            texts("d:base64Binary", "café"),
            Err("\"café\" is not a valid xs:base64Binary: invalid symbol 169, offset 4."),
        ),
        (
            texts("d:QName", "o:a"),
            Err("<item> is of the type {http://www.w3.org/2001/XMLSchema}QName, where xs:string was expected"),
        ),
        (texts("o:Row", "a"), Err("<item> is of the type {urn:o}Row, where xs:string was expected")),
        (
            texts("e:Array", "a"),
            Err("<item> is of the type {http://schemas.xmlsoap.org/soap/encoding/}Array, where xs:string was expected"),
        ),
        (texts("n:string", "a"), Err("\"n:string\" is not a valid xs:QName for xsi:type: its prefix is not declared")),
        (longs("d:int", "2"), Ok("2")),
        (longs("d:string", "2"), Ok("2")),
        (longs("d:base64Binary", "MTI="), Ok("12")),
        (longs("d:hexBinary", "12"), Err("\"\\u{12}\" is not a valid xs:long")),
        (longs("d:double", "1.5"), Err("\"1.5\" is not a valid xs:long")),
        (bytes("d:hexBinary", "00ff"), Ok("[0, 255]")),
        (bytes("d:string", "AP8="), Ok("[0, 255]")),
        (digits("d:base64Binary", "AP8="), Ok("[0, 255]")),
        (names("d:string", "o:b"), Ok("{urn:o}b")),
        (
            names("d:base64Binary", "bzpi"),
            Err("<item> is of the type {http://www.w3.org/2001/XMLSchema}base64Binary, where xs:QName was expected"),
        ),
        (lists("d:string", "1 2 3"), Ok("3")),
    ] {
        assert_eq!(read.as_deref().map_err(String::as_str), expected);
    }
}

#[test]
fn values_of_any_type_are_read_by_their_xsi_type() {
    let any = |named: &str, text: &str| {
        common::decode_with::<AnyType>(
            &format!(
                "<root xmlns='urn:t' xmlns:d='{XSD}' xmlns:q='urn:other' xsi:type='{named}' \
                 xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>{text}</root>"
            ),
            Limits::default(),
            Memory::default(),
        )
        .unwrap()
        .0
    };
    assert_eq!(any("d:base64Binary", "Y2Fmw6k=").read::<String>().unwrap(), "café");
    assert_eq!(any("d:base64Binary", "AA==").read::<Base64Binary>().unwrap(), Base64Binary(vec![0]));
    assert_eq!(any("d:int", "7").read::<i64>().unwrap(), 7);
    assert_eq!(any("Size", "7").read::<i64>().unwrap(), 7);
    assert!(any("d:QName", "q:a").read::<String>().is_err());
    assert_eq!(any("d:QName", "q:a").read::<QName>().unwrap(), QName::new("urn:other", "a").unwrap());
    let read: AnyType = any("Size", "7").read().unwrap();
    assert_eq!(read.type_name, Some(ExpandedName::new("urn:t", "Size")));
    let element = Any::parse(&format!(
        "<a xmlns:d='{XSD}' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xsi:type='d:base64Binary'>w6k=</a>"
    ));
    assert_eq!(element.unwrap().read::<String>().unwrap(), "é");
}
