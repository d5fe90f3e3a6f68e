//! `xs:QName` in documents: prefixes are resolved in the scope of the element, and are declared where they are written.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use castile_databinding::datatypes::{List, Notation, QName};
use castile_databinding::schema::Element;
use castile_databinding::{AnyAttribute, Decoder, Encoder, Error, ExpandedName, FromXml, Nillable};
use castile_xml::{Limits, Reader, Token};

#[derive(Debug, PartialEq)]
struct Names {
    one: Option<QName>,
    nil: Option<Nillable<QName>>,
    list: Option<List<QName>>,
    notation: Option<Notation>,
}

static NAMES: [Element; 4] = [
    Element::new("urn:n", "one", 0).occurs(0, Some(1)),
    Element::new("urn:n", "nil", 1).occurs(0, Some(1)),
    Element::new("urn:n", "list", 2).occurs(0, Some(1)),
    Element::new("urn:n", "notation", 3).occurs(0, Some(1)),
];

static ROOT: Element = Element::new("urn:n", "names", 4);

impl FromXml for Names {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| {
            Ok(Names {
                one: decoder.optional(&NAMES, 0)?,
                nil: decoder.optional(&NAMES, 1)?,
                list: decoder.optional(&NAMES, 2)?,
                notation: decoder.optional(&NAMES, 3)?,
            })
        })
    }
}

/// Writes names between these tags.
fn write(names: &Names, [root, root_end]: [&str; 2], prefix: &str) -> Result<String, Error> {
    let mut out = Encoder::new(Vec::new());
    let tag = |local: &str| [format!("<{prefix}{local}>"), format!("</{prefix}{local}>")];
    out.raw(root);
    let [start, end] = tag("one");
    out.optional(&start, &names.one, &end);
    let [start, end] = tag("nil");
    out.optional(&start, &names.nil, &end);
    let [start, end] = tag("list");
    out.optional(&start, &names.list, &end);
    let [start, end] = tag("notation");
    out.optional(&start, &names.notation, &end);
    out.raw(root_end);
    out.finish().map(|out| String::from_utf8(out).unwrap())
}

const DEFAULT: [&str; 2] = ["<names xmlns=\"urn:n\">", "</names>"];
const PREFIXED: [&str; 2] = ["<n:names xmlns:n=\"urn:n\">", "</n:names>"];

fn read(document: &str) -> Result<Names, Error> {
    let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
    let Token::StartTag(_) = reader.next().unwrap() else { panic!() };
    Decoder::new(reader).root(&ROOT)
}

fn name(namespace: &str, local: &str) -> QName {
    QName::new(namespace, local).unwrap()
}

fn one(name: QName) -> Names {
    Names { one: Some(name), nil: None, list: None, notation: None }
}

#[test]
fn prefixes_have_the_namespace_of_their_scope() {
    let names = read(
        "<names xmlns='urn:n' xmlns:a='urn:a'><one xmlns:b='urn:b'> b:x </one><nil>a:x</nil>\
         <n:list xmlns='urn:c' xmlns:n='urn:n'>a:x<!-- and --> y\n<![CDATA[xml:z]]></n:list>\
         <notation>gif</notation></names>",
    )
    .unwrap();
    assert_eq!(names.one, Some(name("urn:b", "x")));
    assert_eq!(names.one.as_ref().unwrap().prefix, "b");
    assert_eq!(names.nil, Some(Nillable::Value(name("urn:a", "x"))));
    let xml = "http://www.w3.org/XML/1998/namespace";
    assert_eq!(names.list, Some(List(vec![name("urn:a", "x"), name("urn:c", "y"), name(xml, "z")])));
    assert_eq!(names.notation, Some(Notation(name("urn:n", "gif"))));
}

#[test]
fn a_list_may_be_empty_and_a_name_may_not() {
    assert_eq!(read("<names xmlns='urn:n'><list/></names>").unwrap().list, Some(List(Vec::new())));
    let error = read("<names xmlns='urn:n'><one/></names>").unwrap_err();
    assert_eq!(error.message(), "\"\" is not a valid xs:QName");
}

#[test]
fn a_prefix_that_is_not_declared_is_refused() {
    // A declaration of the preceding element is out of scope.
    let error = read("<names xmlns='urn:n'><one xmlns:a='urn:a'>a:x</one><nil>a:x</nil></names>").unwrap_err();
    assert_eq!(error.message(), "\"a:x\" is not a valid xs:QName: no namespace is declared for its prefix \"a\"");
    for bad in [":x", "a:", "a:b:c", "1", "a b"] {
        assert!(read(&format!("<names xmlns='urn:n' xmlns:a='urn:a'><one>{bad}</one></names>")).is_err(), "{bad}");
    }
}

#[test]
fn written_names_declare_their_prefixes() {
    let prefixed = |prefix: &str| QName { prefix: prefix.into(), ..name("urn:a&b", "x") };
    for (value, root, prefix, expected) in [
        (name("urn:a&b", "x"), DEFAULT, "", "<one xmlns:q1=\"urn:a&amp;b\">q1:x</one>"),
        (prefixed("a"), DEFAULT, "", "<one xmlns:a=\"urn:a&amp;b\">a:x</one>"),
        // The prefix of the tag itself and an invalid prefix are not available.
        (prefixed("n"), PREFIXED, "n:", "<n:one xmlns:q1=\"urn:a&amp;b\">q1:x</n:one>"),
        (prefixed("xmlfoo"), DEFAULT, "", "<one xmlns:q1=\"urn:a&amp;b\">q1:x</one>"),
        (prefixed("a b"), DEFAULT, "", "<one xmlns:q1=\"urn:a&amp;b\">q1:x</one>"),
        (name("http://www.w3.org/XML/1998/namespace", "lang"), DEFAULT, "", "<one>xml:lang</one>"),
        (name("", "x"), PREFIXED, "n:", "<n:one>x</n:one>"),
    ] {
        let names = one(value);
        let written = write(&names, root, prefix).unwrap();
        assert_eq!(written, format!("{}{expected}{}", root[0], root[1]));
        assert_eq!(read(&written), Ok(names));
    }
}

#[test]
fn names_in_a_list_share_declarations() {
    let at = |namespace, prefix: &str| QName { prefix: prefix.into(), ..name(namespace, "x") };
    let list = List(vec![at("urn:a", "p"), at("urn:b", "p"), at("urn:a", "q"), at("", "")]);
    let names = Names { one: None, nil: None, list: Some(list), notation: None };
    let written = write(&names, PREFIXED, "n:").unwrap();
    let expected = "<n:list xmlns:p=\"urn:a\" xmlns:q1=\"urn:b\">p:x q1:x p:x x</n:list>";
    assert_eq!(written, format!("{}{expected}{}", PREFIXED[0], PREFIXED[1]));
    assert_eq!(read(&written), Ok(names));
}

/// A tag without a prefix is in the default namespace, so a name without a namespace can't be inside it.
#[test]
fn a_name_in_no_namespace_needs_a_tag_with_a_prefix() {
    let error = write(&one(name("", "x")), DEFAULT, "").unwrap_err();
    assert_eq!(error.message(), "a value with a name that is not allowed in XML");
    let root = ["<names xmlns=\"urn:d\" xmlns:n=\"urn:n\">", "</names>"];
    let written = write(&one(name("", "x")), root, "n:").unwrap();
    assert_eq!(written, "<names xmlns=\"urn:d\" xmlns:n=\"urn:n\"><n:one xmlns=\"\">x</n:one></names>");
}

#[test]
fn invalid_names_are_not_written() {
    assert!(write(&one(QName { local: "a b".into(), ..name("urn:a", "x") }), DEFAULT, "").is_err());
    assert!(write(&one(name("urn:\u{1}", "x")), DEFAULT, "").is_err());
}

/// The cost of a name doesn't depend on the number of namespaces.
#[test]
fn many_namespaces_take_no_square_of_time() {
    let names = Names {
        one: None,
        nil: None,
        list: Some((0..20_000).map(|number| name(&format!("urn:{number}"), "x")).collect()),
        notation: None,
    };
    let written = write(&names, DEFAULT, "").unwrap();
    assert!(written.contains("xmlns:q20000=\"urn:19999\""));
}

/// An element with an attribute that is a name, and a child with the prefix `ns2`, which the payload declares.
#[test]
fn a_name_does_not_use_a_prefix_that_inner_tags_may_use() {
    const PAYLOAD: &str = "<ns1:query xmlns:ns1=\"urn:q\" xmlns:ns2=\"urn:o\" xmlns:own=\"urn:own\">";
    for (prefix, namespace, declared) in [
        ("ns2", "urn:w", "q1"),
        ("ns2", "urn:o", "q1"),
        ("own", "urn:w", "q1"),
        // These are not declared here, but around other payloads.
        ("ns17", "urn:w", "q1"),
        ("a0", "urn:w", "q1"),
        ("t0", "urn:w", "q1"),
        ("xsi", "urn:w", "q1"),
        ("soapenc", "urn:w", "q1"),
        ("xsd", "urn:w", "q1"),
        ("xsd", "http://www.w3.org/2001/XMLSchema", "xsd"),
        ("nsx", "urn:w", "nsx"),
        ("ns", "urn:w", "ns"),
        ("w", "urn:w", "w"),
    ] {
        let document = format!("<names xmlns='urn:n' xmlns:{prefix}='{namespace}'><one>{prefix}:x</one></names>");
        let value = read(&document).unwrap().one.unwrap();
        let mut out = Encoder::new(Vec::new());
        out.payload(PAYLOAD);
        out.raw(PAYLOAD);
        out.raw("<ns1:parameter");
        out.attribute("type", &value);
        out.any_attributes(&[AnyAttribute { name: ExpandedName::new("urn:o", "more"), value: "1".into() }]);
        out.raw("><ns2:metadata/></ns1:parameter></ns1:query>");
        let written = String::from_utf8(out.finish().unwrap()).unwrap();
        assert!(written.contains(&format!(" xmlns:{declared}=\"{namespace}\" type=\"{declared}:x\"")), "{written}");
        let mut reader = Reader::new(written.as_bytes(), Limits::default()).unwrap();
        for expected in [("urn:q", "query"), ("urn:q", "parameter"), ("urn:o", "metadata")] {
            let Token::StartTag(tag) = reader.next().unwrap() else { panic!("{written}") };
            let (prefix, local) = (tag.name.prefix().to_owned(), tag.name.local().to_owned());
            assert_eq!((reader.resolve(&prefix), &*local), (Some(expected.0), expected.1), "{written}");
        }
    }
}
