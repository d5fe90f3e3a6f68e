//! A reader returns what was written, and what XML can't represent is never written.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod calls;
mod round_trip;

use castile_xml::{Error, ErrorKind, Limits, Prefixes, Reader, Token, Writer, XML_NAMESPACE, XMLNS_NAMESPACE};

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

type Write = fn(&mut Writer) -> Result<(), Error>;

fn written(prefixes: &Prefixes, write: Write) -> Result<String, Error> {
    let mut writer = Writer::new(prefixes.clone(), Limits::default());
    // Ignoring an error must not lead to a document.
    let _ = write(&mut writer);
    let document = String::from_utf8(writer.finish()?).unwrap();
    let mut reader = Reader::new(document.as_bytes(), Limits::default())?;
    while reader.next()? != Token::End {}
    Ok(document)
}

#[test]
fn prefixes_are_declared_where_they_were_planned() {
    let none = Prefixes::default();
    let root = none.clone().on_root("p", "urn:p").unwrap().on_root("", "urn:d").unwrap();
    let needed = none.clone().where_needed("p", "urn:p").unwrap().where_needed("", "urn:d").unwrap();
    let both = none.clone().where_needed("d", "urn:d").unwrap().where_needed("", "urn:d").unwrap();
    let generated = none.clone().on_root("ns7", "urn:7").unwrap();
    let cases: &[(&Prefixes, Write, &str)] = &[
        (&none, |w| w.start("", "a").and_then(|()| w.end()), "<a/>"),
        (&none, |w| w.start("urn:p", "a").and_then(|()| w.end()), r#"<ns1:a xmlns:ns1="urn:p"/>"#),
        (&root, |w| w.start("urn:p", "a").and_then(|()| w.end()), r#"<p:a xmlns:p="urn:p" xmlns="urn:d"/>"#),
        (&root, |w| w.start("urn:d", "a").and_then(|()| w.end()), r#"<a xmlns:p="urn:p" xmlns="urn:d"/>"#),
        // The root is in no namespace, so the default namespace can't be declared on it.
        (
            &root,
            |w| {
                w.start("", "a")?;
                w.start("urn:d", "b")?;
                w.start("", "c")?;
                w.start("urn:d", "d")?;
                w.end()?;
                w.end()?;
                w.end()?;
                w.end()
            },
            r#"<a xmlns:p="urn:p"><b xmlns="urn:d"><c xmlns=""><d xmlns="urn:d"/></c></b></a>"#,
        ),
        (
            &needed,
            |w| {
                w.start("", "a")?;
                for namespace in ["urn:p", "urn:d", "urn:p"] {
                    w.start(namespace, "b")?;
                    w.attribute("urn:p", "c", "1")?;
                    w.end()?;
                }
                w.end()
            },
            r#"<a><p:b xmlns:p="urn:p" p:c="1"/><b xmlns="urn:d" xmlns:p="urn:p" p:c="1"/><p:b xmlns:p="urn:p" p:c="1"/></a>"#,
        ),
        // The default namespace does not apply to attributes.
        (
            &needed,
            |w| {
                w.start("urn:d", "a")?;
                w.attribute("urn:d", "b", "1")?;
                w.end()
            },
            r#"<a xmlns="urn:d" xmlns:ns1="urn:d" ns1:b="1"/>"#,
        ),
        (
            &both,
            |w| {
                w.start("urn:d", "a")?;
                w.attribute("urn:d", "b", "1")?;
                w.end()
            },
            r#"<a xmlns="urn:d" xmlns:d="urn:d" d:b="1"/>"#,
        ),
        // Generated prefixes have higher numbers than all others of that form, and are used again in siblings.
        (
            &generated,
            |w| {
                w.start("", "a")?;
                for namespace in ["urn:a", "urn:b"] {
                    w.start(namespace, "b")?;
                    w.attribute("urn:c", "c", "")?;
                    w.end()?;
                }
                w.end()
            },
            r#"<a xmlns:ns7="urn:7"><ns8:b xmlns:ns8="urn:a" xmlns:ns9="urn:c" ns9:c=""/><ns8:b xmlns:ns8="urn:b" xmlns:ns9="urn:c" ns9:c=""/></a>"#,
        ),
        // A declaration for the element itself takes precedence over the plan.
        (
            &root,
            |w| {
                w.declare("p", "urn:q")?;
                w.start("urn:q", "a")?;
                w.attribute("urn:p", "b", "")?;
                w.declare("", "")?;
                w.start("", "c")?;
                w.end()?;
                w.end()
            },
            r#"<p:a xmlns:p="urn:q" xmlns="urn:d" xmlns:ns1="urn:p" ns1:b=""><c xmlns=""/></p:a>"#,
        ),
        (
            &none,
            |w| {
                w.start("urn:x", "a")?;
                w.attribute(XML_NAMESPACE, "lang", "en")?;
                w.qname_attribute(XSI, "type", ("urn:t", "T"))?;
                w.end()
            },
            r#"<ns1:a xmlns:ns1="urn:x" xml:lang="en" xmlns:ns2="urn:t" xmlns:ns3="http://www.w3.org/2001/XMLSchema-instance" ns3:type="ns2:T"/>"#,
        ),
    ];
    for (prefixes, write, expected) in cases {
        assert_eq!(written(prefixes, *write).as_deref(), Ok(*expected));
    }
}

#[test]
fn a_plan_is_checked() {
    let plan = Prefixes::default().on_root("p", "urn:p").unwrap();
    for (prefix, namespace, expected) in [
        ("p", "urn:q", "the prefix \"p\" is planned for \"urn:p\", and can't be planned for \"urn:q\" (byte 0)"),
        ("q", "", "the prefix \"q\" can't be declared with an empty namespace (byte 0)"),
        ("q", "\u{1}", "found U+0001 at byte 0 of the name of a namespace, which is not allowed there (byte 0)"),
        ("1", "urn:q", "found \"1\", where a prefix was expected (byte 0)"),
        ("q", XML_NAMESPACE, "only the prefix xml can be bound to"),
    ] {
        let error = plan.clone().where_needed(prefix, namespace).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    assert!(plan.clone().on_root("xml", XML_NAMESPACE).is_ok());
    assert!(plan.on_root("q", "urn:p").is_ok());
}

#[test]
fn values_have_their_prefixes() {
    let none = Prefixes::default();
    let default = none.clone().where_needed("", "urn:d").unwrap();
    let cases: &[(&Prefixes, Write, &str)] = &[
        (
            &none,
            |w| {
                w.start("", "a")?;
                let prefix = w.prefix("urn:q")?.to_owned();
                w.text(&format!("{prefix}:x "))?;
                w.qname("urn:q", "y")?;
                w.qname(XML_NAMESPACE, "lang")?;
                w.end()
            },
            r#"<a xmlns:ns1="urn:q">ns1:x ns1:yxml:lang</a>"#,
        ),
        // The element has a prefix, so its default namespace can be undeclared.
        (
            &default,
            |w| {
                w.start("urn:d", "a")?;
                w.start("urn:p", "b")?;
                w.qname_attribute("", "c", ("", "d"))?;
                w.end()?;
                w.end()
            },
            r#"<a xmlns="urn:d"><ns1:b xmlns:ns1="urn:p" xmlns="" c="d"/></a>"#,
        ),
        // The default namespace is never used for a value.
        (
            &default,
            |w| {
                w.start("urn:d", "a")?;
                w.qname("urn:d", "b")?;
                w.end()
            },
            r#"<a xmlns="urn:d" xmlns:ns1="urn:d">ns1:b</a>"#,
        ),
    ];
    for (prefixes, write, expected) in cases {
        assert_eq!(written(prefixes, *write).as_deref(), Ok(*expected));
    }
}

#[test]
fn markup_characters_are_escaped() {
    let write: Write = |w| {
        w.declaration()?;
        w.comment(" - ")?;
        w.instruction("p", "")?;
        w.start("", "a")?;
        w.attribute("", "b", "<>&\"'\t\r\n ]]>")?;
        w.text("")?;
        w.attribute("", "c", "")?;
        w.text("]]")?;
        w.text(">\r\n&<\t")?;
        w.start("", "b")?;
        w.text("")?;
        w.end()?;
        w.instruction("p", "x ? > ")?;
        w.end()?;
        w.comment("")
    };
    let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!-- - --><?p?>\
        <a b=\"&lt;&gt;&amp;&quot;'&#x9;&#xD;&#xA; ]]&gt;\" c=\"\">]]&gt;&#xD;\n&amp;&lt;\t<b/><?p x ? > ?></a><!---->";
    assert_eq!(written(&Prefixes::default(), write).as_deref(), Ok(expected));
}

/// These are calls of a writer in which the second `b` of the root `a` is open and empty.
#[test]
fn invalid_writes_are_errors_with_a_position() {
    let cases: &[(Write, ErrorKind, &str)] = &[
        (
            |w| w.text("x").and_then(|()| w.attribute("", "x", "")),
            ErrorKind::Syntax,
            "a/b[2]: found the attribute \"x\" where no start tag is open (byte 11)",
        ),
        (
            |w| w.text("é\u{1}"),
            ErrorKind::Syntax,
            "a/b[2]: found U+0001 at byte 2 of a text, which is not allowed there (byte 10)",
        ),
        (
            |w| w.attribute("", "x", "\u{FFFE}"),
            ErrorKind::Syntax,
            "a/b[2]: found U+FFFE at byte 0 of the value of the attribute \"x\", which is not allowed there (byte 9)",
        ),
        (
            |w| w.comment("a--b"),
            ErrorKind::Syntax,
            "a/b[2]: found \"--\" in a comment, or \"-\" at its end, which would end it (XML 1.0 §2.5) (byte 10)",
        ),
        (|w| w.comment("-"), ErrorKind::Syntax, "a/b[2]: found \"--\" in a comment, or \"-\" at its end"),
        (
            |w| w.comment("\r"),
            ErrorKind::Syntax,
            "a/b[2]: found U+000D at byte 0 of a comment, which is not allowed there",
        ),
        (|w| w.instruction("p", "?>"), ErrorKind::Syntax, "a/b[2]: found \"?>\" in a processing instruction"),
        (|w| w.instruction("p", " x"), ErrorKind::Syntax, "a/b[2]: found white space where the data"),
        (|w| w.instruction("p", "\0"), ErrorKind::Syntax, "a/b[2]: found U+0000 at byte 0 of a processing instruction"),
        (|w| w.instruction("xMl", ""), ErrorKind::Syntax, "a/b[2]: found \"xMl\", where the target"),
        (|w| w.instruction("a:b", ""), ErrorKind::Syntax, "a/b[2]: found \"a:b\", where the target"),
        (|w| w.instruction("", ""), ErrorKind::Syntax, "a/b[2]: found \"\", where the target"),
        (|w| w.declaration(), ErrorKind::Syntax, "a/b[2]: found an XML declaration after the beginning"),
        (
            |w| w.start("", ""),
            ErrorKind::Syntax,
            "a/b[2]: found \"\", where a name without a colon was expected (byte 10)",
        ),
        (|w| w.start("", "a:b"), ErrorKind::Syntax, "a/b[2]: found \"a:b\", where a name"),
        (|w| w.start("", "1"), ErrorKind::Syntax, "a/b[2]: found \"1\", where a name"),
        (|w| w.start("", "a b"), ErrorKind::Syntax, "a/b[2]: found \"a b\", where a name"),
        (|w| w.attribute("", "a=", ""), ErrorKind::Syntax, "a/b[2]: found \"a=\", where a name"),
        (|w| w.qname("", "a:b"), ErrorKind::Syntax, "a/b[2]: found \"a:b\", where a name"),
        (
            |w| w.attribute("", "x", "").and_then(|()| w.attribute("", "x", "")),
            ErrorKind::WellFormedness,
            "a/b[2]: found a second attribute \"x\" of \"\" (byte 14)",
        ),
        (
            |w| w.attribute("urn:a", "x", "").and_then(|()| w.attribute("urn:a", "x", "")),
            ErrorKind::WellFormedness,
            "a/b[2]: found a second attribute \"x\" of \"urn:a\" (byte 36)",
        ),
        (|w| w.attribute("", "xmlns", "urn:a"), ErrorKind::Namespace, "a/b[2]: found the attribute \"xmlns\""),
        (|w| w.attribute(XMLNS_NAMESPACE, "a", "urn:a"), ErrorKind::Namespace, "a/b[2]: found a name in"),
        (|w| w.start(XMLNS_NAMESPACE, "a"), ErrorKind::Namespace, "a/b[2]: found a name in"),
        (|w| w.start("urn:\0", "a"), ErrorKind::Syntax, "a/b[2]: found U+0000 at byte 4 of the name of a namespace"),
        (|w| w.declare("xmlns", "urn:a"), ErrorKind::Namespace, "a/b[2]: the prefix xmlns and the namespace"),
        (|w| w.declare("a", XMLNS_NAMESPACE), ErrorKind::Namespace, "a/b[2]: the prefix xmlns and the namespace"),
        (|w| w.declare("xml", "urn:a"), ErrorKind::Namespace, "a/b[2]: only the prefix xml can be bound to"),
        (|w| w.declare("a", XML_NAMESPACE), ErrorKind::Namespace, "a/b[2]: only the prefix xml can be bound to"),
        (|w| w.declare("", XML_NAMESPACE), ErrorKind::Namespace, "a/b[2]: only the prefix xml can be bound to"),
        (
            |w| w.declare("a", ""),
            ErrorKind::Namespace,
            "a/b[2]: the prefix \"a\" can't be declared with an empty namespace",
        ),
        (|w| w.declare("a:b", "urn:a"), ErrorKind::Namespace, "a/b[2]: found \"a:b\", where a prefix"),
        (
            |w| w.declare("a", "urn:a").and_then(|()| w.declare("a", "urn:b")),
            ErrorKind::Namespace,
            "a/b[2]: the prefix \"a\" is declared for \"urn:a\" on the same element",
        ),
        (
            |w| w.declare("a", "urn:a").and_then(|()| w.text("x")),
            ErrorKind::Syntax,
            "a/b[2]: found declarations that no start tag follows (byte 9)",
        ),
        (
            |w| w.declare("", "urn:a").and_then(|()| w.start("", "c")),
            ErrorKind::Namespace,
            "a/b[2]: found a name in no namespace where \"urn:a\" is declared as the default (byte 10)",
        ),
        (
            |w| w.text("x").and_then(|()| w.qname("urn:a", "x")),
            ErrorKind::Namespace,
            "a/b[2]: found no prefix for \"urn:a\" in scope, and no open start tag (byte 11)",
        ),
        (
            |w| w.end().and_then(|()| w.end()).and_then(|()| w.start("", "a")),
            ErrorKind::Syntax,
            "found the element \"a\" after the root element (byte 15)",
        ),
        (
            |w| w.end().and_then(|()| w.end()).and_then(|()| w.end()),
            ErrorKind::Syntax,
            "found the end of an element where the end of the document was expected (byte 15)",
        ),
        (
            |w| w.end().and_then(|()| w.end()).and_then(|()| w.text(" ")),
            ErrorKind::Syntax,
            "found text after the root element (byte 15)",
        ),
        (
            |w| w.end().and_then(|()| w.end()).and_then(|()| w.declare("a", "urn:a")),
            ErrorKind::Syntax,
            "found a declaration after the root element (byte 15)",
        ),
    ];
    for (write, kind, expected) in cases {
        let mut writer = Writer::new(Prefixes::default(), Limits::default());
        writer.start("", "a").unwrap();
        for end in [true, false] {
            writer.start("", "b").unwrap();
            if end {
                writer.end().unwrap();
            }
        }
        let told = write(&mut writer);
        // Nothing that follows an error makes a document.
        for _ in 0..2 {
            let _ = writer.end();
        }
        let error = writer.finish().unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}\n{expected}");
        assert_eq!((error.kind(), told), (*kind, Err(error.clone())), "{error}");
        // The error does not affect the next document.
        writer.start("", "c").and_then(|()| writer.end()).unwrap();
        assert_eq!(writer.finish().unwrap(), b"<c/>");
    }
}

#[test]
fn documents_have_one_root_and_its_end() {
    let cases: &[(Write, ErrorKind, &str)] = &[
        (|_| Ok(()), ErrorKind::Syntax, "found the end of the document where the root element was expected (byte 0)"),
        (|w| w.text("x"), ErrorKind::Syntax, "found text where the root element was expected (byte 0)"),
        (|w| w.end(), ErrorKind::Syntax, "found the end of an element where the root element was expected (byte 0)"),
        (
            |w| w.attribute("", "x", ""),
            ErrorKind::Syntax,
            "found the attribute \"x\" where no start tag is open (byte 0)",
        ),
        (
            |w| w.comment("").and_then(|()| w.declaration()),
            ErrorKind::Syntax,
            "found an XML declaration after the beginning of the document (byte 7)",
        ),
    ];
    for (write, kind, expected) in cases {
        let error = written(&Prefixes::default(), *write).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (*kind, *expected));
    }
}

#[test]
fn a_default_namespace_in_the_way_of_a_value_is_refused() {
    let prefixes = Prefixes::default().on_root("", "urn:d").unwrap();
    for write in [
        (|w| w.qname("", "b")) as Write,
        |w| w.qname_attribute("", "b", ("", "c")),
        |w| w.prefix("").map(|_| ()),
        |w| w.text("x").and_then(|()| w.qname("", "b")),
    ] {
        let mut writer = Writer::new(prefixes.clone(), Limits::default());
        writer.start("urn:d", "a").unwrap();
        let error = write(&mut writer).unwrap_err();
        assert_eq!(error.message(), "found a name in no namespace where \"urn:d\" is declared as the default");
        assert_eq!(error.path(), "a");
    }
}

#[test]
fn documents_written_within_limits_are_read_within_them() {
    let limits = || {
        let mut limits = Limits::default();
        (limits.depth, limits.attributes, limits.namespaces, limits.name_length) = (5, 5, 3, 12);
        limits
    };
    let over: &[(Write, &str)] = &[
        (|w| (0..6).try_for_each(|_| w.start("", "a")), "a/a/a/a/a: more than 5 open elements, which is the limit"),
        (
            |w| w.start("", "a").and_then(|()| (0..6).try_for_each(|n| w.attribute("", &format!("a{n}"), ""))),
            "a: a tag with more than 5 attributes, which is the limit",
        ),
        (
            |w| {
                w.declare("p", "urn:p")?;
                w.start("", "a")?;
                (0..5).try_for_each(|n| w.attribute("", &format!("a{n}"), ""))
            },
            "a: a tag with more than 5 attributes, which is the limit",
        ),
        (
            |w| w.start("", "a").and_then(|()| (0..4).try_for_each(|n| w.start(&format!("urn:{n}"), "a"))),
            "a/a/a/a: more than 3 declarations in scope, which is the limit",
        ),
        (|w| w.start("", "a234567890123"), "found a name of 13 bytes, more than the limit of 12"),
        (|w| w.start("urn:4567890123", "a"), "found a name of 14 bytes, more than the limit of 12"),
        (
            |w| w.declare("p234567890", "urn:p").and_then(|()| w.start("urn:p", "a")),
            "found a name of 16 bytes, more than the limit of 12",
        ),
        (
            |w| w.declare("p23456", "urn:p").and_then(|()| w.start("urn:p", "a23456")),
            "found a name of 13 bytes, more than the limit of 12",
        ),
        (|w| w.instruction("a234567890123", ""), "found a name of 13 bytes, more than the limit of 12"),
    ];
    for (write, expected) in over {
        let error = write(&mut Writer::new(Prefixes::default(), limits())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    let within: &[(usize, Write)] = &[
        (5, |w| (0..5).try_for_each(|_| w.start("", "a"))),
        (1, |w| w.start("", "a").and_then(|()| (0..5).try_for_each(|n| w.attribute("", &format!("a{n}"), "")))),
        (4, |w| w.start("", "a").and_then(|()| (0..3).try_for_each(|n| w.start(&format!("urn:{n}"), "a")))),
        (1, |w| w.start("urn:56789012", "a2345678")),
        (1, |w| w.declare("p23456", "urn:p").and_then(|()| w.start("urn:p", "a2345"))),
        (1, |w| w.instruction("a23456789012", "").and_then(|()| w.start("", "a"))),
    ];
    for (depth, write) in within {
        let mut writer = Writer::new(Prefixes::default(), limits());
        write(&mut writer).unwrap();
        for _ in 0..*depth {
            writer.end().unwrap();
        }
        let document = writer.finish().unwrap();
        let mut reader = Reader::new(&document, limits()).unwrap();
        while reader.next().unwrap() != Token::End {}
    }
}

#[test]
fn depth_does_not_use_the_stack() {
    const DEPTH: usize = 200_000;
    let mut limits = Limits::default();
    limits.depth = DEPTH;
    let mut writer = Writer::new(Prefixes::default().on_root("p", "urn:p").unwrap(), limits);
    for _ in 0..DEPTH {
        writer.start("urn:p", "a").unwrap();
    }
    for _ in 0..DEPTH {
        writer.end().unwrap();
    }
    let document = writer.finish().unwrap();
    let mut reader = Reader::new(&document, limits).unwrap();
    while reader.next().unwrap() != Token::End {}
}
