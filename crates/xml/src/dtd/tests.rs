use crate::{DocumentEntity, Error, ErrorKind, Limits, Token};

/// Returns a document as a line of tokens, with texts joined, or the error.
fn read_within(text: &str, limits: Limits) -> Result<String, Error> {
    let document = DocumentEntity::new(text, limits)?;
    let mut reader = document.reader();
    let mut line = String::new();
    loop {
        match reader.next()? {
            Token::StartTag(tag) => {
                line.push_str(&format!("<{}", tag.name.as_str()));
                for attribute in reader.attributes() {
                    line.push_str(&format!(" {}={:?}", attribute.name.as_str(), attribute.value));
                }
                line.push('>');
            }
            Token::EndTag(name) => line.push_str(&format!("</{}>", name.as_str())),
            Token::Text(text) => line.push_str(&text),
            Token::Comment(comment) => line.push_str(&format!("<!--{comment}-->")),
            Token::Instruction { target, data } => line.push_str(&format!("<?{target} {data}?>")),
            Token::End => return Ok(line),
        }
    }
}

fn read(text: &str) -> Result<String, Error> {
    read_within(text, Limits::default())
}

/// Returns a document with this internal subset.
fn with(subset: &str, root: &str) -> String {
    format!("<!DOCTYPE a [{subset}]>{root}")
}

#[test]
fn declarations_take_effect() {
    for (subset, root, expected) in [
        ("", "<a/>", "<a></a>"),
        ("<!ENTITY e '1<b/>2'>", "<a>0&e;3&e;</a>", "<a>01<b></b>231<b></b>2</a>"),
        ("<!ENTITY e '&f;&#38;f;'><!ENTITY f 'x'>", "<a b='&e;'>&e;</a>", "<a b=\"xx\">xx</a>"),
        ("<!ENTITY e 'one'><!ENTITY e 'two'>", "<a>&e;</a>", "<a>one</a>"),
        ("<!ENTITY e ''>", "<a>&e;&e;<b/>&e;</a>", "<a><b></b></a>"),
        ("<!ENTITY lt '&#38;#60;'><!ENTITY gt '>'>", "<a>&lt;&gt;</a>", "<a><></a>"),
        // The example of XML 1.0, appendix D.
        (
            "<!ENTITY % xx '&#37;zz;'><!ENTITY % zz '&#60;!ENTITY tricky \"error-prone\" >' > %xx;",
            "<a>&tricky;</a>",
            "<a>error-prone</a>",
        ),
        // White space: line ends of the document are normalised, those from references to characters are not.
        ("<!ENTITY e 'x\r\ny&#13;&#10;z'>", "<a b='&e;'>&e;</a>", "<a b=\"x y  z\">x\ny\r\nz</a>"),
        ("<!ENTITY e '<b c=\"&#13;&#10;\"/>'>", "<a>&e;</a>", "<a><b c=\"  \"></b></a>"),
        ("<!ATTLIST a b NMTOKENS #IMPLIED c CDATA ' d  e '>", "<a b=' x\n y '/>", "<a b=\"x y\" c=\" d  e \"></a>"),
        ("<!ATTLIST a b ID ' &e; '>", "<!--&e;--><a b='y'/>", ""),
        ("<!ENTITY e ' x '><!ATTLIST a b ID '&e; y'>", "<a/>", "<a b=\"x y\"></a>"),
        ("<!ATTLIST a b CDATA 'first' b CDATA 'second'><!ATTLIST a b CDATA 'third'>", "<a/>", "<a b=\"first\"></a>"),
        ("<!ATTLIST p:a xmlns:p CDATA 'u' p:b CDATA #FIXED 'v'>", "<p:a/>", "<p:a p:b=\"v\"></p:a>"),
        ("<!ATTLIST a b (x|y) 'x'><!ATTLIST a c NOTATION (n | m) 'n'>", "<a c='m'/>", "<a c=\"m\" b=\"x\"></a>"),
        (
            "<!ELEMENT a ((b|c)+,(d,(e|f)?)*)><!ELEMENT b (#PCDATA)><!ELEMENT c ( #PCDATA | d )*> <!-- % --> <?p ]> ?>",
            "<a><![CDATA[&e;]]></a>",
            "<a>&e;</a>",
        ),
        ("<!ENTITY % unread SYSTEM 'x'>%unread;<!ENTITY e 'x'>", "<a>&e;&f;</a>", "<a></a>"),
    ] {
        if expected.is_empty() {
            assert!(read(&with(subset, root)).is_err(), "{subset}");
        } else {
            assert_eq!(read(&with(subset, root)).as_deref(), Ok(expected), "{subset}");
        }
    }
}

#[test]
fn malformed_documents_are_rejected() {
    use ErrorKind::*;
    for (subset, root, kind) in [
        ("<!ENTITY e '&e;'>", "<a>&e;</a>", WellFormedness),
        ("<!ENTITY e '&f;'><!ENTITY f '&e;'>", "<a b='&e;'/>", WellFormedness),
        ("<!ENTITY e '<b c=\"&e;\"/>'>", "<a>&e;</a>", WellFormedness),
        ("<!ENTITY e '<b>'>", "<a>&e;</b></a>", WellFormedness),
        ("<!ENTITY e '</a><a>'>", "<a>&e;</a>", WellFormedness),
        ("<!ENTITY e 'xx</a>'>", "<a>&e;", WellFormedness),
        ("<!ENTITY e '<!--'>", "<a>&e;--></a>", Syntax),
        ("<!ENTITY e '<b '>", "<a>&e;/></a>", Syntax),
        ("<!ENTITY e '&#38;'>", "<a>&e;</a>", WellFormedness),
        ("<!ENTITY e '&#60;'>", "<a b='&e;'/>", WellFormedness),
        ("<!ENTITY e 'x'>", "&e;<a/>", Syntax),
        ("<!ENTITY e SYSTEM 'x'>", "<a b='&e;'/>", WellFormedness),
        ("<!NOTATION n SYSTEM ''><!ENTITY e SYSTEM 'x' NDATA n>", "<a>&e;</a>", WellFormedness),
        ("<!ENTITY e '%f;'>", "<a/>", WellFormedness),
        ("<!ENTITY lt '<'>", "<a/>", WellFormedness),
        ("<!ENTITY e:f 'x'>", "<a/>", Namespace),
        ("<!ATTLIST a b CDATA '&e;'><!ENTITY e 'x'>", "<a/>", WellFormedness),
        ("<!ATTLIST a b CDATA '<'>", "<a/>", WellFormedness),
        ("<!ATTLIST a p:b CDATA 'x'>", "<a/>", Namespace),
        ("<!ATTLIST a p:b CDATA 'x'>", "<a xmlns:p='u' xmlns:q='u' q:b=''/>", WellFormedness),
        ("<!ENTITY % e '%e;'>%e;", "<a/>", WellFormedness),
        ("<!ENTITY % e '&#37;e;'>%e;", "<a/>", WellFormedness),
        ("<!ENTITY % e '<!ENTITY f '>%e; 'x'>", "<a/>", Syntax),
        ("<!ENTITY % e 'ANY'><!ELEMENT a %e;>", "<a/>", Syntax),
        ("<![INCLUDE[]]>", "<a/>", Syntax),
        ("<!ELEMENT a (b,c|d)>", "<a/>", Syntax),
        ("<!ELEMENT a (#PCDATA|b)>", "<a/>", Syntax),
        ("<!ELEMENT a ()>", "<a/>", Syntax),
        ("<!ELEMENT a (b", "<a/>", Syntax),
        ("<!ATTLIST a b (x y) #IMPLIED>", "<a/>", Syntax),
        ("<!ATTLIST a b CDATA>", "<a/>", Syntax),
        ("<!NOTATION n>", "<a/>", Syntax),
        ("<!NOTATION n PUBLIC '\t'>", "<a/>", Syntax),
        ("<?xml version='1.0'?>", "<a/>", Syntax),
        ("<!ENTITY e '\u{1}'>", "<a/>", Syntax),
        ("", "<!DOCTYPE a><a/>", Doctype),
        ("", "<a><!DOCTYPE a></a>", Doctype),
        ("", "<a>&e;</a>", WellFormedness),
    ] {
        match read(&with(subset, root)) {
            Err(error) => assert_eq!(error.kind(), kind, "{subset} {root}: {error}"),
            Ok(line) => panic!("{subset} {root} was read as {line}"),
        }
    }
    for text in ["<!DOCTYPE", "<!DOCTYPE a", "<!DOCTYPE a [", "<!DOCTYPE a []", "<!DOCTYPE a SYSTEM>", "<!DOCTYPE a>"] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn errors_in_an_entity_are_located_at_the_reference() {
    let text = with("<!ENTITY e '<b><c></b>'><!ENTITY f '&e;'>", "<a>&f;</a>");
    let error = read(&text).unwrap_err();
    assert_eq!((error.message(), error.offset()), ("end tag </b> where </c> was expected", text.find("&f;").unwrap()));
    let text = with("<!ENTITY % e '<!ENTITY'>\n%e;", "<a/>");
    assert_eq!(read(&text).unwrap_err().offset(), text.find("%e;").unwrap());
}

#[test]
fn a_standalone_document_declares_what_it_refers_to() {
    let head = "<?xml version='1.0' standalone='yes'?>";
    let subset = with("<!ENTITY % p '<!ENTITY e \"x\">'>%p;", "<a>&e;</a>");
    assert_eq!(read(&subset).as_deref(), Ok("<a>x</a>"));
    assert!(read(&format!("{head}{subset}")).is_err());
    let outside = "<!DOCTYPE a SYSTEM 'x'><a>&e;</a>";
    assert_eq!(read(outside).as_deref(), Ok("<a></a>"));
    assert!(read(&format!("{head}{outside}")).is_err());
}

#[test]
fn unread_declarations_are_reported() {
    let text = with("<!ENTITY e SYSTEM 'x'>", "<a>&e;</a>");
    let document = DocumentEntity::new(&text, Limits::default()).unwrap();
    let mut reader = document.reader();
    assert_eq!(reader.unread_entity(), None);
    while reader.next().unwrap() != Token::End {}
    assert_eq!(reader.unread_entity(), Some("e"));
}

#[test]
fn the_attributes_of_a_tag_are_gone_with_the_text_that_it_stood_in() {
    let text = with("<!ENTITY e 'x'>", "<a long='attribute'>&e;</a>");
    let document = DocumentEntity::new(&text, Limits::default()).unwrap();
    let mut reader = document.reader();
    while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
    assert_eq!(reader.attributes().count(), 1);
    reader.next().unwrap();
    assert_eq!(reader.attributes().count(), 0);
}

/// Returns entities that each refer to the previous one many times.
fn laughs(first: &str, times: usize, generations: usize) -> String {
    let mut subset = format!("<!ENTITY e0 '{first}'>");
    for generation in 1..=generations {
        let references = format!("&e{};", generation - 1).repeat(times);
        subset.push_str(&format!("<!ENTITY e{generation} '{references}'>"));
    }
    subset
}

#[test]
fn expansion_is_limited() {
    for (first, times, generations) in [("ha", 10, 30), ("", 10, 30), ("<b/>", 2, 200)] {
        let subset = laughs(first, times, generations);
        for root in [format!("<a>&e{generations};</a>"), format!("<a b='&e{generations};'/>")] {
            if first.starts_with('<') && root.contains('=') {
                continue;
            }
            assert_eq!(read(&with(&subset, &root)).unwrap_err().kind(), ErrorKind::Limit, "{root}");
        }
        if !first.starts_with('<') {
            let subset = format!("{subset}<!ATTLIST a b CDATA '&e{generations};'>");
            assert_eq!(read(&with(&subset, "<a/>")).unwrap_err().kind(), ErrorKind::Limit);
        }
    }
    // Parameter entities, and defaults that every tag gets.
    let mut subset = "<!ENTITY % e0 ' '>".to_owned();
    for generation in 1..30 {
        let references = format!("&#37;e{};", generation - 1).repeat(10);
        subset.push_str(&format!("<!ENTITY % e{generation} '{references}'>"));
    }
    assert_eq!(read(&with(&format!("{subset}%e29;"), "<a/>")).unwrap_err().kind(), ErrorKind::Limit);
    let subset = format!("<!ATTLIST b c CDATA '{}'>", "x".repeat(10_000));
    let root = format!("<a>{}</a>", "<b/>".repeat(200));
    assert_eq!(read(&with(&subset, &root)).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn the_limit_of_expansion_is_exact() {
    let text = with("<!ENTITY e 'ten bytes.'>", "<a b='&e;'>&e;</a>");
    let limits = |entity_expansion| Limits { entity_expansion, ..Limits::default() };
    assert!(read_within(&text, limits(20)).is_ok());
    let error = read_within(&text, limits(19)).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, text.rfind("&e;").unwrap()));
}

#[test]
fn deep_nesting_does_not_use_the_stack() {
    let depth = 100_000;
    let model = format!("<!ELEMENT a {}b{}>", "(".repeat(depth), ")".repeat(depth));
    assert!(read(&with(&model, "<a/>")).is_ok());
    let chain: String = (1..depth).map(|n| format!("<!ENTITY e{n} '&e{};'>", n - 1)).collect();
    let subset = format!("<!ENTITY e0 ''>{chain}");
    let last = depth - 1;
    let limits = Limits { entity_expansion: 1 << 30, ..Limits::default() };
    let text = with(&subset, &format!("<a b='&e{last};'>&e{last};{}</a>", "&e0;".repeat(depth)));
    assert_eq!(read_within(&text, limits).as_deref(), Ok("<a b=\"\"></a>"));
    let declared: String = (1..depth).map(|n| format!("<!ENTITY % p{n} '&#37;p{};'>", n - 1)).collect();
    let subset = format!("<!ENTITY % p0 ''>{declared}%p{last};{}", "%p0;".repeat(depth));
    assert!(read_within(&with(&subset, "<a/>"), limits).is_ok());
}
