use super::*;

#[test]
fn names_namespaces_and_text() {
    let document = Document::parse(
        "<?xml version='1.0'?>\n<p:a xmlns:p='urn:p' xmlns='urn:d' x='1' p:x='2'><b xmlns=''>one<c/>t&amp;o</b><!-- c --><b/></p:a>",
    )
    .unwrap();
    let a = document.root();
    assert_eq!((a.namespace(), a.local(), a.prefix()), ("urn:p", "a", "p"));
    assert_eq!(a.attribute("x"), Some("1"));
    assert_eq!(a.find_attribute("urn:p", "x").map(Attribute::value), Some("2"));
    let names: Vec<_> = a.elements().map(|b| (b.namespace(), b.local())).collect();
    assert_eq!(names, [("", "b"), ("urn:d", "b")]);
    assert_eq!(a.elements().next().unwrap().text(), "onet&o");
    assert_eq!(a.elements().next().unwrap().namespaces(), [("p", "urn:p")]);
    assert_eq!(a.elements().nth(1).unwrap().source(), "<b/>");
    assert_eq!(a.elements().nth(1).unwrap().parent().unwrap().id(), a.id());
}

#[test]
fn qnames_are_resolved_in_scope() {
    let document = Document::parse("<a xmlns:p='urn:p' xmlns='urn:d'><b xmlns='' xmlns:p='urn:q'/></a>").unwrap();
    let (a, b) = (document.root(), document.root().elements().next().unwrap());
    for (element, value, expected) in [
        (a, "p:x", Ok(("urn:p", "x"))),
        (a, " x\n", Ok(("urn:d", "x"))),
        (b, "p:x", Ok(("urn:q", "x"))),
        (b, "x", Ok(("", "x"))),
        (b, "xml:lang", Ok((XML_NAMESPACE, "lang"))),
        (a, "r:x", Err(QNameError::UndeclaredPrefix("r".into()))),
        (a, ":x", Err(QNameError::NotAQName(":x".into()))),
        (a, "p:", Err(QNameError::NotAQName("p:".into()))),
        (a, "p:x:y", Err(QNameError::NotAQName("p:x:y".into()))),
        (a, "", Err(QNameError::NotAQName("".into()))),
    ] {
        assert_eq!(element.resolve_qname(value), expected, "{value:?}");
    }
}

#[test]
fn errors_have_a_position() {
    let error = Document::parse("<a>\n  <b></c>\n</a>").unwrap_err();
    assert_eq!(error.position().line, 2, "{error}");
    assert!(Document::parse("").is_err());
    assert!(Document::parse("no markup").is_err());
}

#[test]
fn an_internal_subset_is_read() {
    let document = Document::parse("<!DOCTYPE a [\n<!ENTITY e 'urn:e'>\n]>\n<a b='&e;#'>\n <c/></a>").unwrap();
    assert_eq!(document.root().attribute("b"), Some("urn:e#"));
    assert_eq!(document.root().elements().next().unwrap().position(), Position { line: 5, column: 2 });
}

#[test]
fn elements_of_an_entity_are_located_at_the_reference() {
    let text = "<!DOCTYPE a [<!ENTITY e '<b c=\"d\"><f/></b>'>]><a>x&e;y</a>";
    let document = Document::parse(text).unwrap();
    let b = document.root().elements().next().unwrap();
    assert_eq!((b.offset(), b.source(), b.attribute("c")), (text.find("&e;").unwrap(), "&e;", Some("d")));
    assert_eq!(b.elements().next().unwrap().position(), b.position());
    assert_eq!(document.root().text(), "xy");
}

#[test]
fn documents_that_are_not_fetched_are_reported() {
    let error = Document::parse("<!DOCTYPE a [<!ENTITY e SYSTEM 'e.xml'>]><a>&e;</a>").unwrap_err();
    assert_eq!(error.message(), "reference to the entity \"e\" outside the document, which is not fetched");
    assert!(Document::parse("<!DOCTYPE a SYSTEM 'a.dtd'><a b='&c;'/>").is_err());
    assert!(Document::parse("<!DOCTYPE a SYSTEM 'a.dtd'><a/>").is_ok());
}

#[test]
fn the_declared_encoding_of_a_text_does_not_matter() {
    assert!(Document::parse("<?xml version='1.0' encoding='latin1'?><a/>").is_ok());
}

#[test]
fn depth_is_limited() {
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert!(Document::parse(&deep).is_err());
}
