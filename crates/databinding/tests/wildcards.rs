//! Elements that are stored as XML: the declarations that they copy, and the cost of that.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::datatypes::QName;
use castile_databinding::schema::{Element, Namespaces, Wildcard};
use castile_databinding::{
    Any, AnyAttribute, AnyContent, AnyElements, AnyPiece, AnyType, Decoder, Encoder, Error, ExpandedName, FromXml,
};
use castile_xml::{Limits, Memory};

#[derive(Debug)]
struct Anything(AnyElements);

impl FromXml for Anything {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let any = const { &Wildcard::new(Namespaces::Any).occurs(0, None) };
        decoder.complex(element, |decoder| decoder.repeated_any(any).map(Anything))
    }
}

#[test]
fn an_element_keeps_only_the_declarations_that_it_needs() {
    let around = "xmlns='urn:t' xmlns:p='urn:p&amp;' xmlns:q='urn:q' xmlns:r='urn:r'";
    for (element, expected) in [
        ("<a/>", "<a xmlns=\"urn:t\"/>"),
        ("<p:a>q:b</p:a>", "<p:a xmlns=\"urn:t\" xmlns:p=\"urn:p&amp;\" xmlns:q=\"urn:q\">q:b</p:a>"),
        ("<a xmlns='' b='1'/>", "<a xmlns='' b='1'/>"),
        ("<a xmlns:p='urn:other'><p:b/></a >", "<a xmlns=\"urn:t\" xmlns:p='urn:other'><p:b/></a >"),
    ] {
        let document = format!("<root {around}>{element}</root>");
        let (Anything(found), _) = common::decode_with(&document, Limits::default(), Memory::default()).unwrap();
        assert_eq!(found.iter().next().unwrap().xml(), expected);
        assert_eq!(Any::parse(expected).unwrap(), found.iter().next().unwrap());
    }
}

/// Each declaration that an element uses is copied once, however many there are and wherever their prefixes are used.
#[test]
fn many_declarations_are_copied_once_each() {
    let declared = |quote: char| -> String { (0..100).map(|n| format!(" xmlns:p{n}={quote}urn:{n}{quote}")).collect() };
    let names = (0..100).map(|n| format!("p{n}:x p{}:y x:z ", n / 2)).collect::<String>();
    let document = format!("<root xmlns='urn:t'{} xmlns:q='urn:q'><p7:a>{names}</p7:a></root>", declared('\''));
    let (Anything(found), _) = common::decode_with(&document, Limits::default(), Memory::default()).unwrap();
    let element = found.iter().next().unwrap();
    let declared = declared('"').replace(" xmlns:p7=\"urn:7\"", "");
    assert_eq!(element.xml(), format!("<p7:a xmlns=\"urn:t\" xmlns:p7=\"urn:7\"{declared}>{names}</p7:a>"));
}

#[test]
fn an_element_in_no_namespace_declares_it() {
    let document = "<t:root xmlns:t='urn:t'><a/><t:b><c/></t:b><t:d/></t:root>";
    let (Anything(found), _) = common::decode_with(document, Limits::default(), Memory::default()).unwrap();
    let found: Vec<String> = found.iter().map(|any| any.xml().into_owned()).collect();
    let expected = ["<a xmlns=\"\"/>", "<t:b xmlns:t=\"urn:t\" xmlns=\"\"><c/></t:b>", "<t:d xmlns:t=\"urn:t\"/>"];
    assert_eq!(found, expected);
}

/// So it stays out of a default namespace wherever it is written.
#[test]
fn a_parsed_element_in_no_namespace_declares_it() {
    let parsed = |xml| Any::parse(xml).unwrap().xml().into_owned();
    assert_eq!(parsed("<a/>"), "<a xmlns=\"\"/>");
    assert_eq!(parsed("<p:a xmlns:p='urn:p'><b/></p:a>"), "<p:a xmlns=\"\" xmlns:p='urn:p'><b/></p:a>");
    for fine in ["<a xmlns=\"\"/>", "<a xmlns='urn:a'><b/></a>", "<p:a xmlns:p='urn:p'/>"] {
        assert_eq!(parsed(fine), fine);
    }
}

/// An element that contains only text is stored by a shorter code path. A colon inside rules that path out.
#[test]
fn an_element_without_children_is_stored_like_others() {
    const COLON: &str = "<!--:-->";
    for around in ["", "xmlns='urn:t' xmlns:q='urn:q'", "xmlns:q='urn:q&lt;'", "xmlns='urn:t' xmlns:r='urn:r'"] {
        for start in ["<a>", "<p:a>", "<p:a >", "<a b='q'>", "<a xmlns='urn:o'>", "<p:a xmlns:p='urn:other'>"] {
            for text in ["", "x", " x\n", "1 &lt; 2", "&#113;", "<![CDATA[<q>]]>", "<!-- q -->", "<?q?>"] {
                let name = if start.starts_with("<p:") { "p:a" } else { "a" };
                let kept = |inside: &str| {
                    let document = format!("<p:root xmlns:p='urn:p' {around}>{start}{text}{inside}</{name}></p:root>");
                    let decoded = common::decode_with::<Anything>(&document, Limits::default(), Memory::default());
                    decoded.unwrap().0.0.iter().next().unwrap()
                };
                let (short, long) = (kept(""), kept(COLON));
                assert_eq!(short.xml(), long.xml().replace(COLON, ""), "{around} {start}{text}");
                assert_eq!(short.name(), long.name());
            }
        }
    }
}

/// Many small elements under a long declaration share it instead of copying it, and have the same meaning.
#[test]
fn declarations_are_shared_where_copies_would_be_large() {
    let (name, count) = ("n".repeat(900), 10_000);
    let document = format!("<root xmlns='urn:t' xmlns:p='{name}'>{}</root>", "<p:a/>".repeat(count));
    let read =
        |document: &str| common::decode_with::<Anything>(document, Limits::default(), Memory::default()).unwrap().0.0;
    let (many, few) = (read(&document), read(&document.replacen("<p:a/>", "", count - 10)));
    assert_eq!((many.len(), few.len()), (count, 10));
    let one = Any::parse(&format!("<p:a xmlns=\"urn:t\" xmlns:p=\"{name}\"/>")).unwrap();
    assert!(many.iter().all(|any| any == one) && few.iter().all(|any| any == one));
    assert_eq!(written(&few, ""), one.xml().repeat(10));
    assert!(written(&many, "") == one.xml().repeat(count));
    // Self-contained elements are equal to those that share declarations.
    let copies: AnyElements = many.iter().collect();
    assert!(copies == many);
    assert!(many != few);
}

/// Writes elements in a payload with this start tag.
fn written(elements: &AnyElements, start: &'static str) -> String {
    let mut out = Encoder::default();
    out.payload(start);
    out.any_elements(elements);
    String::from_utf8(out.finish().unwrap()).unwrap()
}

/// A number of elements that makes them share the declarations around them.
const MANY: usize = 40_000;

#[test]
fn elements_are_written_as_they_came_where_the_payload_declares_the_same() {
    let document = format!("<root xmlns='urn:t' xmlns:p='urn:p'>{}</root>", "<a>p:b</a>".repeat(MANY));
    let (Anything(elements), _) = common::decode_with(&document, Limits::default(), Memory::default()).unwrap();
    let (plain, declared) = ("<a>p:b</a>", "<a xmlns=\"urn:t\" xmlns:p=\"urn:p\">p:b</a>");
    for (start, expected) in [
        ("<r xmlns=\"urn:t\" xmlns:p=\"urn:p\">", plain),
        ("<q:r xmlns:q=\"urn:q\" xmlns:p=\"urn:p\" xmlns=\"urn:t\">", plain),
        ("<r xmlns=\"urn:other\" xmlns:p=\"urn:p\">", declared),
        ("<p:r xmlns:p=\"urn:p\">", declared),
        ("<r xmlns=\"urn:t\" xmlns:p=\"urn:other\">", declared),
        ("<r xmlns=\"urn:t\">", declared),
        ("<p:r xmlns=\"urn:t\">", declared),
        ("", declared),
    ] {
        assert!(written(&elements, start).ends_with(&expected.repeat(100)), "{start}");
    }
    // There may be another declaration in between.
    let mut out = Encoder::default();
    out.payload("<r xmlns=\"urn:t\" xmlns:p=\"urn:p\">");
    out.any_attributes(&[AnyAttribute { name: ExpandedName::new("urn:other", "b"), value: String::new() }]);
    out.any_elements(&elements);
    assert!(String::from_utf8(out.finish().unwrap()).unwrap().ends_with(&declared.repeat(100)));
}

#[test]
fn an_added_element_keeps_its_namespaces() {
    let document = format!("<root xmlns='urn:t'>{}</root>", "<a/>".repeat(MANY));
    let (Anything(mut elements), _) = common::decode_with(&document, Limits::default(), Memory::default()).unwrap();
    for added in ["<a/>", "<p:a xmlns:p='urn:p'><b/></p:a>", "<a xmlns='urn:o'/>", "<a xmlns=''/>"] {
        let added = Any::parse(added).unwrap();
        elements.push(&added);
        let last = elements.iter().last().unwrap();
        assert_eq!(last.name(), added.name());
        assert_eq!(last.xml(), added.xml());
    }
    assert_eq!(elements.len(), MANY + 4);
    assert_eq!(elements.iter().len(), elements.len());
    let names: Vec<String> = elements.iter().skip(MANY - 1).map(|any| any.name().to_string()).collect();
    assert_eq!(names, ["{urn:t}a", "a", "{urn:p}a", "{urn:o}a", "a"]);
}

#[test]
fn content_of_any_type_is_read_on_demand() {
    let content = "1 &lt; 2<!-- gone --> &amp;<a>p:x</a><![CDATA[<]]>\r\n<p:b/>";
    for (around, count) in [("xmlns='urn:t' xmlns:p='urn:p'", 1), ("xmlns='urn:t' xmlns:p='urn:p'", MANY)] {
        let document = format!("<root {around}>{}</root>", content.repeat(count));
        let (value, _) = common::decode_with::<AnyType>(&document, Limits::default(), Memory::default()).unwrap();
        let pieces: Vec<AnyPiece> = value.content.iter().take(4).collect();
        let text = |text: &str| AnyPiece::Text(text.into());
        let element = |xml| AnyPiece::Element(Any::parse(xml).unwrap());
        let expected = [
            text("1 < 2 &"),
            element("<a xmlns=\"urn:t\" xmlns:p=\"urn:p\">p:x</a>"),
            text("<\n"),
            element("<p:b xmlns=\"urn:t\" xmlns:p=\"urn:p\"/>"),
        ];
        assert_eq!(pieces, expected);
        assert_eq!((value.elements().count(), value.text()), (2 * count, "1 < 2 &<\n".repeat(count)));
        // Built from its parts, or written and read, it is the same.
        let mut made = AnyType::default();
        made.content.extend(value.content.iter());
        assert!(made == value);
        let mut out = Encoder::default();
        out.element("<root xmlns=\"urn:t\">", &value, "</root>");
        let written = String::from_utf8(out.finish().unwrap()).unwrap();
        let (again, _) = common::decode_with::<AnyType>(&written, Limits::default(), Memory::default()).unwrap();
        assert!(again == value);
        assert!(value.content.iter().skip(1).collect::<AnyContent>() != value.content);
    }
}

#[test]
fn text_that_xml_does_not_allow_is_an_error_of_writing() {
    for (text, is_fine) in [("a\tb", true), ("a\u{1}b", false)] {
        let value = AnyType::from(text);
        assert!(!value.content.is_empty());
        let mut out = Encoder::default();
        out.element("<a>", &value, "</a>");
        assert_eq!(out.finish().is_ok(), is_fine);
        assert_eq!(value.read::<String>().is_ok(), is_fine);
    }
    assert!(AnyType::from("").content.is_empty());
}

#[derive(Debug)]
struct Other;

impl FromXml for Other {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let any = const { &Wildcard::new(Namespaces::OneOf(&["", "urn:o"])) };
        decoder.complex(element, |decoder| decoder.any(any).map(|_| Other))
    }
}

#[test]
fn errors_show_what_a_wildcard_allows() {
    for (content, expected) in [
        ("<a/>", "found <a> of urn:t, where an element of no namespace or urn:o was expected"),
        ("", "<root> ends, where an element of no namespace or urn:o was expected"),
        ("<a xmlns='urn:o'/><b/>", "found <b> of urn:t, where </root> was expected"),
    ] {
        let document = format!("<root xmlns='urn:t'>{content}</root>");
        let error = common::decode_with::<Other>(&document, Limits::default(), Memory::default()).unwrap_err();
        assert_eq!(error.message(), expected);
    }
}

/// Whether there is content is known without reading all of it.
#[test]
fn content_is_empty_where_nothing_is_but_comments() {
    for around in ["", "xmlns:p='urn:p'"] {
        for (content, is_empty) in [
            ("", true),
            ("<!-- a --><?b c?>", true),
            ("<![CDATA[]]>", true),
            (" ", false),
            ("<!-- a -->b", false),
            ("<p:a/>", false),
            ("<!-- a --><p:a/>", false),
        ] {
            let long = format!("<root xmlns='urn:t' {around}>{}{content}</root>", "<!-- a -->".repeat(20_000));
            for document in [format!("<root xmlns='urn:t' {around}>{content}</root>"), long] {
                if around.is_empty() && content.contains("p:") {
                    continue;
                }
                let (value, _) =
                    common::decode_with::<AnyType>(&document, Limits::default(), Memory::default()).unwrap();
                assert_eq!(value.content.is_empty(), is_empty, "{content}");
                assert_eq!(value.content.iter().next().is_none(), is_empty, "{content}");
            }
        }
    }
}

/// Returns the value of a document, and the value written as an element of a payload.
fn any_type(document: &str) -> (AnyType, String) {
    let (any, _) = common::decode_with::<AnyType>(document, Limits::default(), Memory::default()).unwrap();
    let mut out = Encoder::default();
    out.payload("<p xmlns:ns1=\"urn:payload\" xmlns:same=\"urn:same\">");
    out.element("<ns1:v>", &any, "</ns1:v>");
    let written = String::from_utf8(out.finish().unwrap()).unwrap();
    (any, written)
}

/// govmomi recognises `xsd:string` as a text, but not the same name with another prefix.
#[test]
fn types_of_xml_schema_have_their_usual_prefix() {
    const XSD: &str = "http://www.w3.org/2001/XMLSchema";
    for (document, expected) in [
        (format!("<v xmlns:x='{XSD}' xsi:type='x:string'>a</v>"), format!("xmlns:xsd=\"{XSD}\"")),
        (
            format!("<v xmlns:x='{XSD}' xsi:type='x:string' xmlns:xsd='urn:o'>xsd:a</v>"),
            "xmlns:xsd=\"urn:o\"".to_owned(),
        ),
        ("<v xmlns:xsd='urn:o' xsi:type='xsd:string'>a</v>".to_owned(), "xmlns:t0=\"urn:o\"".to_owned()),
    ] {
        let document = document.replacen("<v", "<v xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'", 1);
        let (read, written) = any_type(&document);
        assert!(written.contains(&expected), "{written}");
        let alone = written.replacen("<ns1:v", "<ns1:v xmlns:ns1='urn:payload'", 1);
        assert_eq!(any_type(&alone).0, read, "{written}");
    }
}

#[test]
fn names_in_a_value_of_any_type_keep_their_namespaces() {
    const XSI: &str = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'";
    let q = "xmlns:q=\"urn:other\"";
    for (attributes, content, expected) in [
        ("", "q:x", format!("<ns1:v {q}>q:x</ns1:v>")),
        ("", "<b/>q:x<b/>", format!("<ns1:v {q}><b xmlns=\"urn:t\"/>q:x<b xmlns=\"urn:t\"/></ns1:v>")),
        ("a='q:x[1]'", "", format!("<ns1:v {q} a=\"q:x[1]\"></ns1:v>")),
        ("a='q:x'", "<b>q:y</b>", format!("<ns1:v {q} a=\"q:x\"><b xmlns=\"urn:t\" {q}>q:y</b></ns1:v>")),
        // A declaration of the payload is not repeated.
        ("", "same:x", "<ns1:v>same:x</ns1:v>".to_owned()),
        // If the prefix of the tag means something else in the value, the tag gets another prefix.
        (
            "xmlns:ns1='urn:o' xmlns:ns1_='urn:p'",
            "ns1:x ns1_:y",
            "<ns1__:v xmlns:ns1__=\"urn:payload\" xmlns:ns1=\"urn:o\" xmlns:ns1_=\"urn:p\">ns1:x ns1_:y</ns1__:v>"
                .to_owned(),
        ),
        ("xmlns:ns1='urn:payload'", "ns1:x", "<ns1:v>ns1:x</ns1:v>".to_owned()),
        // A prefix can't be declared twice.
        (
            "xmlns:a0='urn:o' q:a='a0:x'",
            "",
            "<ns1:v xmlns:a0=\"urn:o\" xmlns:a_0=\"urn:other\" a_0:a=\"a0:x\"></ns1:v>".to_owned(),
        ),
        // Words that are not names.
        ("", "12:30 http://q none:x", "<ns1:v>12:30 http://q none:x</ns1:v>".to_owned()),
    ] {
        let around = format!("{XSI} xmlns='urn:t' xmlns:q='urn:other' xmlns:same='urn:same'");
        let (any, written) = any_type(&format!("<root {around} {attributes}>{content}</root>"));
        assert_eq!(written, expected);
        let mut alone = written.clone();
        for (prefix, namespace) in [("ns1", "urn:payload"), ("same", "urn:same")] {
            if !written.contains(&format!("xmlns:{prefix}=")) {
                alone = alone.replacen(":v", &format!(":v xmlns:{prefix}='{namespace}'"), 1);
            }
        }
        assert_eq!(any_type(&alone).0, any, "{written}");
        // Reads it as its own type.
        let read: AnyType = any.read().unwrap();
        assert_eq!(read, any);
    }
    // The payload itself may be of any type.
    let (any, _) = any_type("<root xmlns='urn:t' xmlns:ns1='urn:o'>ns1:x<ns1:b/></root>");
    const START: &str = "<ns1:v xmlns:ns1=\"urn:payload\">";
    let mut out = Encoder::default();
    out.payload(START);
    out.element(START, &any, "</ns1:v>");
    let written = String::from_utf8(out.finish().unwrap()).unwrap();
    assert!(written.starts_with("<ns1_:v xmlns:ns1_=\"urn:payload\" xmlns:ns1=\"urn:o\">ns1:x<ns1:b"), "{written}");
    assert_eq!(any_type(&written).0, any);
    // A value that is known to be a name always gets a prefix.
    let name = |prefix: &str, text: &str| {
        any_type(&format!(
            "<root xmlns='urn:t' {XSI} xmlns:d='http://www.w3.org/2001/XMLSchema' {prefix} xsi:type='d:QName'>{text}</root>"
        ))
    };
    for (prefix, text, namespace) in [("xmlns:ns1='urn:o'", "ns1:x", "urn:o"), ("", "x", "urn:t")] {
        let (any, written) = name(prefix, text);
        assert_eq!(any.read::<QName>().unwrap(), QName::new(namespace, "x").unwrap());
        assert!(written.ends_with(&format!(" xmlns:q1=\"{namespace}\">q1:x</ns1:v>")), "{written}");
        // The same name with another prefix is equal; the name in another namespace is not.
        let again = any_type(&written.replacen("<ns1:v", "<ns1:v xmlns:ns1='urn:payload'", 1)).0;
        assert_eq!(again, any);
        assert_ne!(name("xmlns:ns1='urn:elsewhere'", "ns1:x").0, any);
        assert_ne!(name(prefix, &format!("{text}y")).0, any);
    }
    // The same text under another declaration is another value.
    let (one, other) = (any_type("<a xmlns:q='urn:1'>q:x</a>").0, any_type("<a xmlns:q='urn:2'>q:x</a>").0);
    assert!(one != other && one == any_type("<b xmlns:q='urn:1' xmlns:r='urn:2'>q:x</b>").0);
}
