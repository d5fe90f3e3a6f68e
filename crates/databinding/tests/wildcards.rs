//! Elements that are kept as XML: what they take from around them, and what that may cost.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::schema::{Element, Namespaces, Wildcard};
use castile_databinding::{Any, Decoder, Error, FromXml};
use castile_xml::{Limits, Memory};

#[derive(Debug)]
struct Anything(Vec<Any>);

impl FromXml for Anything {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let any = const { &Wildcard::new(Namespaces::Any).occurs(0, None) };
        decoder.complex(element, |decoder| decoder.repeated_any(any).map(Anything))
    }
}

#[test]
fn an_element_takes_with_it_what_it_needs_and_no_more() {
    let around = "xmlns='urn:t' xmlns:p='urn:p&amp;' xmlns:q='urn:q' xmlns:r='urn:r'";
    for (element, expected) in [
        ("<a/>", "<a xmlns=\"urn:t\"/>"),
        ("<p:a>q:b</p:a>", "<p:a xmlns:q=\"urn:q\" xmlns:p=\"urn:p&amp;\" xmlns=\"urn:t\">q:b</p:a>"),
        ("<a xmlns='' b='1'/>", "<a xmlns='' b='1'/>"),
        ("<a xmlns:p='urn:other'><p:b/></a >", "<a xmlns=\"urn:t\" xmlns:p='urn:other'><p:b/></a >"),
    ] {
        let document = format!("<root {around}>{element}</root>");
        let (Anything(found), _) = common::decode_with(&document, Limits::default(), Memory::default()).unwrap();
        assert_eq!(found[0].xml(), expected);
        assert_eq!(Any::parse(expected).unwrap(), found[0]);
    }
}

#[test]
fn an_element_of_no_namespace_says_so() {
    let document = "<t:root xmlns:t='urn:t'><a/><t:b><c/></t:b><t:d/></t:root>";
    let (Anything(found), _) = common::decode_with(document, Limits::default(), Memory::default()).unwrap();
    let found: Vec<&str> = found.iter().map(Any::xml).collect();
    let expected = ["<a xmlns=\"\"/>", "<t:b xmlns:t=\"urn:t\" xmlns=\"\"><c/></t:b>", "<t:d xmlns:t=\"urn:t\"/>"];
    assert_eq!(found, expected);
}

/// An element that holds only text is kept by a shorter way, which a colon inside rules out.
#[test]
fn a_leaf_is_kept_as_any_other_element_is() {
    const COLON: &str = "<!--:-->";
    for around in ["", "xmlns='urn:t' xmlns:q='urn:q'", "xmlns:q='urn:q&lt;'", "xmlns='urn:t' xmlns:r='urn:r'"] {
        for start in ["<a>", "<p:a>", "<p:a >", "<a b='q'>", "<a xmlns='urn:o'>", "<p:a xmlns:p='urn:other'>"] {
            for text in ["", "x", " x\n", "1 &lt; 2", "&#113;", "<![CDATA[<q>]]>", "<!-- q -->", "<?q?>"] {
                let name = if start.starts_with("<p:") { "p:a" } else { "a" };
                let kept = |inside: &str| {
                    let document = format!("<p:root xmlns:p='urn:p' {around}>{start}{text}{inside}</{name}></p:root>");
                    let decoded = common::decode_with::<Anything>(&document, Limits::default(), Memory::default());
                    decoded.unwrap().0.0.remove(0)
                };
                let (short, long) = (kept(""), kept(COLON));
                assert_eq!(short.xml(), long.xml().replace(COLON, ""), "{around} {start}{text}");
                assert_eq!(short.name(), long.name());
            }
        }
    }
}

/// Many small elements under a long declaration would take it each.
#[test]
fn what_is_copied_is_bounded() {
    let (name, count) = ("n".repeat(900), 10_000);
    let document = format!("<root xmlns='urn:t' xmlns:p='{name}'>{}</root>", "<p:a/>".repeat(count));
    let error = common::decode_with::<Anything>(&document, Limits::default(), Memory::default()).unwrap_err();
    assert_eq!(error.message(), "an element that takes too many declarations of namespaces from around it");
    let few = document.replacen("<p:a/>", "", count - 100);
    assert_eq!(common::decode_with::<Anything>(&few, Limits::default(), Memory::default()).unwrap().0.0.len(), 100);
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
fn a_wildcard_says_what_it_takes() {
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
