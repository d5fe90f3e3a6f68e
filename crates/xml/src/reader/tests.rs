use super::*;

/// Returns a document as a line of tokens, or the error.
fn tokens(input: &str) -> Result<String, Error> {
    let mut reader = Reader::new(input.as_bytes(), Limits::default())?;
    let mut line = String::new();
    loop {
        match reader.next()? {
            Token::StartTag(tag) => {
                line.push_str(&format!("<{{{}}}{}", reader.namespace(tag.namespace), tag.name.local()));
                for attribute in reader.attributes() {
                    line.push_str(&format!(
                        " {{{}}}{}={:?}",
                        attribute.namespace,
                        attribute.name.local(),
                        attribute.value
                    ));
                }
                line.push('>');
            }
            Token::EndTag(name) => line.push_str(&format!("</{}>", name.as_str())),
            Token::Text(text) => line.push_str(&format!("{text:?}")),
            Token::Comment(comment) => line.push_str(&format!("<!--{comment}-->")),
            Token::Instruction { target, data } => line.push_str(&format!("<?{target}|{data}?>")),
            Token::End => return Ok(line),
        }
    }
}

#[test]
fn documents_become_tokens() {
    for (input, expected) in [
        ("<a/>", "<{}a></a>"),
        (
            "\u{FEFF}<?xml version='1.0' encoding=\"UTF-8\" standalone='yes' ?>\n<a  />\n<!--x--><?p  d ?>",
            "<{}a></a><!--x--><?p|d ?>",
        ),
        ("<a>x&amp;y&#x41;\r\nz\r]] ></a >", "<{}a>\"x&yA\\nz\\n]] >\"</a>"),
        ("<a><![CDATA[<&]]]]><![CDATA[>]]></a>", "<{}a>\"<&]]\"\">\"</a>"),
        (
            "<p:a xmlns:p='u' xmlns='v' p:b='1' b=\"2\"><c xmlns=''/></p:a>",
            "<{u}a {u}b=\"1\" {}b=\"2\"><{}c></c></p:a>",
        ),
        (
            "<a b=' x\n\ty&#10;&lt;' xml:lang='en'/>",
            "<{}a {}b=\" x  y\\n<\" {http://www.w3.org/XML/1998/namespace}lang=\"en\"></a>",
        ),
        ("<?p a\r\nb?><a><!--a\rb--></a>", "<?p|a\nb?><{}a><!--a\nb--></a>"),
        ("<é.1-b/>", "<{}é.1-b></é.1-b>"),
        ("<a>\u{FFFD}\u{FF0C}</a>", "<{}a>\"\u{FFFD}\u{FF0C}\"</a>"),
    ] {
        assert_eq!(tokens(input).as_deref(), Ok(expected), "{input}");
    }
}

#[test]
fn broken_documents_are_refused() {
    use ErrorKind::*;
    for (input, kind) in [
        ("", Syntax),
        ("  ", Syntax),
        ("x<a/>", Syntax),
        ("<a/>x", Syntax),
        ("<a/><b/>", Syntax),
        ("<a>", Syntax),
        ("<a", Syntax),
        ("<a b", Syntax),
        ("<a b=", Syntax),
        ("<a b='", Syntax),
        ("<a b=c/>", Syntax),
        ("<a b='1'c='2'/>", Syntax),
        ("<a / >", Syntax),
        ("< a/>", Syntax),
        ("</a>", Syntax),
        ("<a></b>", WellFormedness),
        ("<a></a x>", Syntax),
        ("<a></a", Syntax),
        ("<a></ab>", WellFormedness),
        ("<a b='<'/>", WellFormedness),
        ("<a b='&'/>", WellFormedness),
        ("<a>]]></a>", WellFormedness),
        ("<a>&nbsp;</a>", WellFormedness),
        ("<a>&</a>", WellFormedness),
        ("<a>\u{1}</a>", Syntax),
        ("<a>\u{FFFE}</a>", Syntax),
        ("<a b='\u{0}'/>", Syntax),
        ("<a><!-- \u{FFFF} --></a>", Syntax),
        ("<a><!-- -- --></a>", Syntax),
        ("<a><!-- --->", Syntax),
        ("<a><!x></a>", Syntax),
        ("<![CDATA[x]]>", Syntax),
        ("<a><![CDATA[x]]</a>", Syntax),
        ("<a><?xml version='1.0'?></a>", Syntax),
        (" <?xml version='1.0'?><a/>", Syntax),
        ("<?XML version='1.0'?><a/>", Syntax),
        ("<?xml version='1.0'encoding='UTF-8'?><a/>", Syntax),
        ("<?xml encoding='UTF-8'?><a/>", Syntax),
        ("<?xml version='2.0'?><a/>", Syntax),
        ("<?xml version='1.0' x='y'?><a/>", Syntax),
        ("<?xml version='1.0' encoding='latin1'?><a/>", Encoding),
        ("<a><?p:x?></a>", Syntax),
        ("<a><??></a>", Syntax),
        ("<!DOCTYPE a><a/>", Doctype),
        ("<a b='1' b='2'/>", WellFormedness),
        ("<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", WellFormedness),
        ("<a xmlns='u' xmlns='v'/>", WellFormedness),
        ("<p:a/>", Namespace),
        ("<a p:b=''/>", Namespace),
        ("<a:b:c xmlns:a='u'/>", Namespace),
        ("<a: xmlns:a='u'/>", Namespace),
        ("<a:\u{300}/>", Namespace),
        ("<a:", Namespace),
        ("<:a/>", Syntax),
        ("<a xmlns:p=''/>", Namespace),
        ("<a xmlns:xmlns='u'/>", Namespace),
        ("<a xmlns:xml='u'/>", Namespace),
        ("<a xmlns='http://www.w3.org/XML/1998/namespace'/>", Namespace),
        ("<a xmlns:p='http://www.w3.org/2000/xmlns/'/>", Namespace),
        ("<xmlns:a/>", Namespace),
        ("<a><p:b xmlns:p='u'/><p:c/></a>", Namespace),
    ] {
        match tokens(input) {
            Err(error) => assert_eq!(error.kind(), kind, "{input}: {error}"),
            Ok(line) => panic!("{input} was read as {line}"),
        }
    }
}

#[test]
fn errors_state_what_was_found_and_expected() {
    for (input, message, offset) in [
        ("<a><b></a>", "end tag </a> where </b> was expected", 6),
        ("<a b='1' c:d='2'/>", "the prefix \"c\" of \"c:d\" is not declared", 9),
        ("<a>&nbsp;</a>", "reference to an entity \"nbsp\" that is not declared", 3),
        ("<a b 'x'>", "\"'\" after the attribute name \"b\", where \"=\" was expected", 5),
        ("<a><b>", "the document ends where </b> was expected", 6),
        ("<a></a!>", "\"!\" in the end tag </a>, where \">\" was expected", 6),
    ] {
        let error = tokens(input).unwrap_err();
        assert_eq!((error.message(), error.offset()), (message, offset), "{input}");
    }
    let error = Reader::new(b"<a>\xFF</a>", Limits::default()).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Encoding, 3));
}

#[test]
fn many_attributes_are_distinguished() {
    let tag = |last: &str| {
        let names: Vec<String> = (0..40).map(|n| format!("a{n}='{n}'")).collect();
        format!("<e {} {last}/>", names.join(" "))
    };
    assert!(tokens(&tag("a40=''")).is_ok());
    let error = tokens(&tag("a17=''")).unwrap_err();
    assert_eq!(error.message(), "the attribute \"a17\" occurs twice in one tag");
    assert_eq!(error.offset(), tag("").len() - 2);
}

#[test]
fn a_duplicate_attribute_is_found_at_any_position() {
    // All have the same length, with the same letters at both ends and in the middle.
    let name = |n: usize| format!("a{}b{}c", n / 8, n % 8);
    for count in [1, 2, 8, 31, 32, 33, 60] {
        let names: Vec<String> = (0..count).map(|n| format!("p:{0}='' {0}='{n}'", name(n))).collect();
        let tag = |last: String| format!("<e xmlns:p='urn:p' xmlns:q='urn:p' {} {last}=''/>", names.join(" "));
        assert!(tokens(&tag(name(count))).is_ok());
        for again in 0..count {
            for prefix in ["", "p:", "q:"] {
                let again = format!("{prefix}{}", name(again));
                let error = tokens(&tag(again.clone())).unwrap_err();
                assert_eq!(error.message(), format!("the attribute \"{again}\" occurs twice in one tag"));
            }
        }
    }
}

#[test]
fn an_attribute_with_the_place_of_its_element_leaves_namespaces_alone() {
    // Among so many names, some replace the element's name in the cache.
    for number in 0..500 {
        let document = format!("<r xmlns:p='urn:p'><e xmlns='urn:x' p:n{number}=''><p:n{number}/></e></r>");
        let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
        let mut namespaces = Vec::new();
        loop {
            match reader.next().unwrap() {
                Token::StartTag(tag) => namespaces.push(reader.namespace(tag.namespace).to_owned()),
                Token::End => break,
                _ => {}
            }
        }
        assert_eq!(namespaces, ["", "urn:x", "urn:p"], "{document}");
    }
}

#[test]
fn limits_hold() {
    let limits =
        Limits { depth: 3, attributes: 2, namespaces: 2, name_length: 8, message_size: 200, ..Limits::default() };
    let read = |input: &str| {
        let mut reader = Reader::new(input.as_bytes(), limits)?;
        while reader.next()? != Token::End {}
        Ok::<_, Error>(())
    };
    for input in ["<a><a><a/></a></a>", "<a b='' c=''/>", "<a xmlns:b='u'><a xmlns:c='v'/></a>", "<abcdefgh/>"] {
        assert_eq!(read(input), Ok(()), "{input}");
    }
    let large = format!("<a>{}</a>", "x".repeat(194));
    for input in [
        "<a><a><a><a/></a></a></a>",
        "<a b='' c='' d=''/>",
        "<a xmlns:b='u'><a xmlns:c='v'><a xmlns:d='w'/></a></a>",
        "<abcdefghi/>",
        "<a bcdefghij=''/>",
        &large,
    ] {
        assert_eq!(read(input).unwrap_err().kind(), ErrorKind::Limit, "{input}");
    }
}

#[test]
fn the_length_of_text_is_limited() {
    let limits = Limits { text_length: 4, ..Limits::default() };
    let read = |input: &str| {
        let mut reader = Reader::new(input.as_bytes(), limits)?;
        while reader.next()? != Token::End {}
        Ok::<_, Error>(())
    };
    for (text, is_short) in [("1234", true), ("12345", false), ("&lt;", true), ("&#60;", false), ("12\r\n", true)] {
        for input in [
            format!("<a>{text}</a>"),
            format!("<a b='{text}'/>"),
            format!("<a><![CDATA[{text}]]></a>"),
            format!("<a><!--{text}--></a>"),
            format!("<a><?p{}?></a>", text.replacen('1', " ", 1).replacen('&', " ", 1)),
        ] {
            let result = read(&input).map_err(|error| error.kind());
            assert_eq!(result, if is_short { Ok(()) } else { Err(ErrorKind::Limit) }, "{input}");
        }
    }
    assert_eq!(read("<a>1234<!----> 234<b/>1234</a>"), Ok(()));
}

#[test]
fn the_encoding_that_a_decoded_text_declares_is_ignored() {
    let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>\u{e9}</a>";
    let mut reader = Reader::decoded(text, Limits::default(), &mut Memory::default()).unwrap();
    while reader.next().unwrap() != Token::End {}
    let ascii = "<?xml version='1.0' encoding='US-ASCII'?><a>\u{e9}</a>";
    let error = tokens(ascii).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Encoding, ascii.find('\u{e9}').unwrap()));
}

/// Memory is retained for each thread, so the memory for one message must not stay large.
#[test]
fn an_unusual_document_leaves_usual_buffers() {
    let limits = Limits { depth: 100_000, ..Limits::default() };
    let deep = "<a>".repeat(100_000) + &"</a>".repeat(100_000);
    let wide = format!("<a b='&amp;{}'/>", "x".repeat(1 << 20));
    for input in [deep, wide] {
        let mut reader = Reader::new(input.as_bytes(), limits).unwrap();
        while reader.next().unwrap() != Token::End {}
        let buffers = reader.into_memory().buffers.unwrap();
        assert!(buffers.open.capacity() <= 2 * RETAINED_DEPTH, "{}", buffers.open.capacity());
        assert!(buffers.values.capacity() <= 2 * RETAINED_VALUES, "{}", buffers.values.capacity());
    }
}
