use super::*;
use crate::{Foreseen, Known};

/// A document as a line of tokens, or the error.
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
fn errors_say_what_was_found_and_what_was_expected() {
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
fn many_attributes_are_told_apart() {
    let tag = |last: &str| {
        let names: Vec<String> = (0..40).map(|n| format!("a{n}='{n}'")).collect();
        format!("<e {} {last}/>", names.join(" "))
    };
    assert!(tokens(&tag("a40=''")).is_ok());
    let error = tokens(&tag("a17=''")).unwrap_err();
    assert_eq!(error.message(), "the attribute \"a17\" stands twice in one tag");
    assert_eq!(error.offset(), tag("").len() - 2);
}

#[test]
fn a_second_attribute_of_one_name_is_found_wherever_it_stands() {
    // All of one length, with the same letters at both ends and in the middle.
    let name = |n: usize| format!("a{}b{}c", n / 8, n % 8);
    for count in [1, 2, 8, 31, 32, 33, 60] {
        let names: Vec<String> = (0..count).map(|n| format!("p:{0}='' {0}='{n}'", name(n))).collect();
        let tag = |last: String| format!("<e xmlns:p='urn:p' xmlns:q='urn:p' {} {last}=''/>", names.join(" "));
        assert!(tokens(&tag(name(count))).is_ok());
        for again in 0..count {
            for prefix in ["", "p:", "q:"] {
                let again = format!("{prefix}{}", name(again));
                let error = tokens(&tag(again.clone())).unwrap_err();
                assert_eq!(error.message(), format!("the attribute \"{again}\" stands twice in one tag"));
            }
        }
    }
}

#[test]
fn an_attribute_with_the_place_of_its_element_leaves_namespaces_alone() {
    // Among so many names some take the place of the element's, whatever the places are.
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
fn what_encoding_a_decoded_text_declares_does_not_matter() {
    let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>\u{e9}</a>";
    let mut reader = Reader::decoded(text, Limits::default(), &mut Memory::default()).unwrap();
    let Token::StartTag(tag) = reader.next().unwrap() else { panic!() };
    reader.remember(tag, tag.namespace);
    // What was learned from it doesn't hold for bytes that nobody decoded.
    let mut bytes = Reader::with_memory(text.as_bytes(), Limits::default(), &mut reader.into_memory()).unwrap();
    assert_eq!(bytes.resume(), None);
    assert_eq!(bytes.next().unwrap_err().kind(), ErrorKind::Encoding);
    let ascii = "<?xml version='1.0' encoding='US-ASCII'?><a>\u{e9}</a>";
    let error = tokens(ascii).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Encoding, ascii.find('\u{e9}').unwrap()));
}

/// Memory is kept for each thread: what one message took must not stay taken.
#[test]
fn an_unusual_document_leaves_usual_buffers() {
    let limits = Limits { depth: 100_000, ..Limits::default() };
    let deep = "<a>".repeat(100_000) + &"</a>".repeat(100_000);
    let wide = format!("<a b='&amp;{}'/>", "x".repeat(1 << 20));
    for input in [deep, wide] {
        let mut reader = Reader::new(input.as_bytes(), limits).unwrap();
        while reader.next().unwrap() != Token::End {}
        let buffers = reader.into_memory().0.unwrap();
        assert!(buffers.open.capacity() <= 2 * KEPT_DEPTH, "{}", buffers.open.capacity());
        assert!(buffers.values.capacity() <= 2 * KEPT_VALUES, "{}", buffers.values.capacity());
    }
}

mod learned {
    use super::*;

    const ITEM: Known = Known { slot: 0, identity: 1 };

    fn at_payload(input: &str, mut memory: Memory) -> Reader<'_> {
        let mut reader = Reader::with_memory(input.as_bytes(), Limits::default(), &mut memory).unwrap();
        reader.next().unwrap();
        reader.begin_layout();
        reader
    }

    /// Reads `<…>text</…>` the long way and learns it.
    fn learn(reader: &mut Reader<'_>) {
        while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
        reader.learn_start(ITEM);
        while !matches!(reader.next().unwrap(), Token::EndTag(_)) {}
        reader.learn_end(ITEM, true);
    }

    fn text(input: &str, at: usize) -> Option<(&str, usize)> {
        let end = at + input[at..].find('<')?;
        Some((&input[at..end], end))
    }

    #[test]
    fn what_was_read_once_is_recognised() {
        let input =
            "<p:r xmlns:p='u' xmlns:q='u'>\n <p:i>one</p:i>\n <p:i>two</p:i>\n <p:i></p:i></p:r>  <!-- room -->";
        let mut reader = at_payload(input, Memory::default());
        assert_eq!(reader.known_element(ITEM, text, |_| None), None, "nothing was learned yet");
        learn(&mut reader);
        assert_eq!(reader.known_element(ITEM, text, |_| None), Some("two"));
        assert_eq!(reader.known_element(ITEM, text, |_| None), Some(""));
        assert_eq!(reader.known_element(ITEM, text, |_| None), None);
        assert!(matches!(reader.next(), Ok(Token::EndTag(_))));
        let mut again = at_payload(input, reader.into_memory());
        assert_eq!(again.known_element(ITEM, text, |_| None), Some("one"), "across documents");
    }

    #[test]
    fn a_start_tag_is_never_closed_by_the_end_tag_of_another_prefix() {
        let first = "<p:r xmlns:p='u' xmlns:q='u'><p:i>1</p:i></p:r>                ";
        let mut reader = at_payload(first, Memory::default());
        learn(&mut reader);
        let bad = "<p:r xmlns:p='u' xmlns:q='u'><q:i>1</p:i></p:r>                ";
        let mut reader = at_payload(bad, reader.into_memory());
        assert_eq!(reader.known_element(ITEM, text, |_| None), None);
        reader.next().unwrap();
        reader.learn_start(ITEM);
        reader.next().unwrap();
        assert!(!reader.known_end(ITEM));
        assert!(reader.next().is_err());
    }

    #[test]
    fn other_declarations_make_other_tags() {
        let mut reader = at_payload("<r xmlns='u'><i>1</i></r>                ", Memory::default());
        learn(&mut reader);
        let mut other = at_payload("<r xmlns='v'><i>1</i></r>                ", reader.into_memory());
        assert_eq!(other.known_element(ITEM, text, |_| None), None);
        let mut same = at_payload("<r xmlns='u'><i>1</i></r>                ", other.into_memory());
        assert_eq!(same.known_element(ITEM, text, |_| None), Some("1"));
    }

    #[test]
    fn a_declaration_inside_suspends_what_was_learned() {
        let mut reader = at_payload("<r xmlns='u'><i>1</i></r>                ", Memory::default());
        learn(&mut reader);
        let inside = "<r xmlns='u'><g xmlns='v'><i>1</i></g><i>2</i></r>                ";
        let mut reader = at_payload(inside, reader.into_memory());
        reader.next().unwrap();
        assert_eq!(reader.known_element(ITEM, text, |_| None), None, "<i> means v:i here");
        reader.skip_element().unwrap();
        assert_eq!(reader.known_element(ITEM, text, |_| None), Some("2"));
    }

    #[test]
    fn names_are_measured_where_a_learned_one_could_be_too_long() {
        let input = "<r><a-long-name>1</a-long-name></r>                ";
        let mut reader = at_payload(input, Memory::default());
        learn(&mut reader);
        let limits = Limits { name_length: 8, ..Limits::default() };
        let mut reader = Reader::with_memory(input.as_bytes(), limits, &mut reader.into_memory()).unwrap();
        reader.next().unwrap();
        reader.begin_layout();
        assert_eq!(reader.known_element(ITEM, text, |_| None), None);
        assert_eq!(reader.next().unwrap_err().kind(), ErrorKind::Limit);
    }

    #[test]
    fn a_text_that_is_too_long_is_not_recognised() {
        let input = |text: &str| format!("<r><i>{text}</i></r>                ");
        let (short, long) = (input("1"), input(&"1".repeat(100)));
        let limits = Limits { text_length: 50, ..Limits::default() };
        let read = |input: &'static str, mut memory: Memory| {
            let mut reader = Reader::with_memory(input.as_bytes(), limits, &mut memory).unwrap();
            reader.next().unwrap();
            reader.begin_layout();
            reader
        };
        let mut reader = read(short.leak(), Memory::default());
        learn(&mut reader);
        let mut reader = read(long.leak(), reader.into_memory());
        assert_eq!(reader.known_element(ITEM, text, |_| None), None);
        reader.next().unwrap();
        assert_eq!(reader.next().unwrap_err().kind(), ErrorKind::Limit);
    }

    /// Reads the next start tag the long way, learns it and leaves the element.
    fn learn_tag(reader: &mut Reader<'_>) {
        while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
        reader.learn_start(ITEM);
        reader.skip_element().unwrap();
    }

    /// The name of a tag, its attributes, and whether it is empty.
    type Seen = (String, Vec<(String, String)>, bool);

    /// The tag at [`ITEM`] if it is known.
    fn known(reader: &mut Reader<'_>) -> Option<Seen> {
        let before = reader.offset();
        let Some(tag) = reader.known_tag(ITEM) else {
            assert_eq!(reader.offset(), before);
            return None;
        };
        assert!(reader.input()[tag.offset..].starts_with(&format!("<{}", tag.name.as_str())));
        let attributes = reader.attributes().map(|a| {
            assert!(reader.input()[a.offset..].starts_with(a.name.as_str()));
            (format!("{{{}}}{}", a.namespace, a.name.local()), a.value.to_owned())
        });
        let attributes = attributes.collect();
        let name = format!("{{{}}}{}", reader.namespace(tag.namespace), tag.name.local());
        let end = reader.offset();
        reader.skip_element().unwrap();
        Some((name, attributes, reader.offset() == end))
    }

    #[test]
    fn a_tag_is_recognised_whatever_the_values_of_its_attributes_are() {
        let root = "<p:r xmlns:p='u' xmlns:q='v'>";
        let learned = "\n <p:i a='1' q:b = \"2\"/>";
        for (tag, expected) in [
            ("\n <p:i a='' q:b = \"other value\"/>", Some(("", "other value"))),
            ("\n <p:i a='&amp;\t&#9;' q:b = \"'\"/>", Some(("& \t", "'"))),
            ("\n <p:i a='\"' q:b = \"\u{FF0C}\"/>", Some(("\"", "\u{FF0C}"))),
            ("\n <p:i a='1' q:b = \"2\" />", None),
            ("\n <p:i a='1' q:b = \"2\"></p:i>", None),
            ("\n <p:i a='1' q:b = '2'/>", None),
            ("\n <p:i a='1'/>", None),
            ("\n <p:i a='1' q:b = \"2\" c='3'/>", None),
            ("\n <q:i a='1' q:b = \"2\"/>", None),
            ("\n <p:i a='1' q:c = \"2\"/>", None),
        ] {
            let input = format!("{root}{learned}{tag}</p:r>                ");
            let mut reader = at_payload(&input, Memory::default());
            learn_tag(&mut reader);
            let found = known(&mut reader);
            let expected = expected.map(|(a, b)| {
                let attributes = [("{}a", a), ("{v}b", b)].map(|(name, value)| (name.to_owned(), value.to_owned()));
                ("{u}i".to_owned(), attributes.to_vec(), true)
            });
            assert_eq!(found, expected, "{tag}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_value_is_left_to_the_tokeniser() {
        for value in ["<", "&", "&x;", "\u{1}", "\u{FFFE}"] {
            let input = format!("<r><i a='1'>2</i><i a='{value}'>3</i></r>                ");
            let mut reader = at_payload(&input, Memory::default());
            learn_tag(&mut reader);
            assert_eq!(reader.known_tag(ITEM), None, "{value:?}");
            let plain = Reader::new(input.as_bytes(), Limits::default()).and_then(|mut reader| {
                while !matches!(reader.next()?, Token::End) {}
                Ok(())
            });
            assert_eq!(reader.next().unwrap_err(), plain.unwrap_err(), "{value:?}");
        }
    }

    #[test]
    fn a_place_has_tags_with_and_without_attributes() {
        let input = "<r><i a='1'>2</i><i>3</i><i/><i b='4'/><i a='5'>6</i><i>7</i><i/><i b='8'/></r>                ";
        let mut reader = at_payload(input, Memory::default());
        for _ in 0..4 {
            assert_eq!(known(&mut reader), None);
            learn_tag(&mut reader);
        }
        let names = |found: Option<Seen>| found.map(|(_, names, empty)| (names, empty));
        let attribute = |name: &str, value: &str| vec![(format!("{{}}{name}"), value.to_owned())];
        assert_eq!(names(known(&mut reader)), Some((attribute("a", "5"), false)));
        assert!(reader.known_start(ITEM));
        reader.skip_element().unwrap();
        assert_eq!(names(known(&mut reader)), Some((vec![], true)));
        assert_eq!(names(known(&mut reader)), Some((attribute("b", "8"), true)));
    }

    #[test]
    fn tags_that_declare_are_not_learned() {
        for declaration in ["xmlns='u'", "xmlns:p='u'"] {
            let input = format!("<r><i {declaration}/><i {declaration}/></r>                ");
            let mut reader = at_payload(&input, Memory::default());
            learn_tag(&mut reader);
            assert_eq!(reader.known_tag(ITEM), None);
        }
    }

    #[test]
    fn limits_hold_for_tags_that_were_learned_under_others() {
        let input = format!("<r><i a='1' b='{}'/><i a='1' b='{}'/></r>                ", "1", "2".repeat(2_000));
        for (limits, is_known) in [
            (Limits::default(), true),
            (Limits { attributes: 1, ..Limits::default() }, false),
            (Limits { markup_length: 1_500, ..Limits::default() }, false),
            (Limits { depth: 1, ..Limits::default() }, false),
        ] {
            let mut reader = at_payload(&input, Memory::default());
            learn_tag(&mut reader);
            let offset = reader.offset();
            let mut reader = Reader::with_memory(input.as_bytes(), limits, &mut reader.into_memory()).unwrap();
            reader.next().unwrap();
            reader.begin_layout();
            reader.go_to(offset);
            assert_eq!(reader.known_tag(ITEM).is_some(), is_known, "{limits:?}");
            if !is_known {
                assert_eq!(reader.next().unwrap_err().kind(), ErrorKind::Limit, "{limits:?}");
            }
        }
    }

    #[test]
    fn an_element_without_content_is_recognised() {
        let input = "<r><i/><i/> <i/><i a='1'/><i></i><i /></r>                ";
        let mut reader = at_payload(input, Memory::default());
        assert_eq!(reader.known_empty(ITEM, || Some(())), None, "nothing was learned yet");
        learn_tag(&mut reader);
        assert_eq!(reader.known_empty(ITEM, || None::<()>), None, "nothing is no value here");
        assert_eq!(reader.known_empty(ITEM, || Some(1)), Some(1));
        assert_eq!(reader.depth(), 1);
        for _ in 0..4 {
            let before = reader.offset();
            assert_eq!(reader.known_empty(ITEM, || Some(())), None, "{}", &input[before..]);
            assert_eq!(reader.offset(), before);
            learn_tag(&mut reader);
        }
        while !matches!(reader.next().unwrap(), Token::End) {}
    }

    #[test]
    fn references_are_resolved_as_the_tokeniser_does() {
        let pairs = [
            ("a &amp;&lt;&#233; z", Some("a &<é z")),
            ("]]&gt;", Some("]]>")),
            ("&#13;\t", Some("\r\t")),
            ("", Some("")),
            ("&x;", None),
            ("&#0;", None),
            ("&amp;\r\n", None),
            ("&amp;]]>", None),
            ("&amp;\u{1}", None),
            ("&amp;<![CDATA[x]]>", None),
            ("&amp;<b/>", None),
            ("&amp;<!--x-->", None),
        ];
        for (content, expected) in pairs {
            let input = format!("<r><i>1</i><i>{content}</i></r>                ");
            let mut reader = at_payload(&input, Memory::default());
            learn(&mut reader);
            let before = reader.offset();
            let refused = reader.known_element(ITEM, |_, _| None, |_| None::<()>);
            assert_eq!((refused, reader.offset()), (None, before), "{content:?}");
            let found = reader.known_element(ITEM, |_, _| None, |text| Some(text.to_owned()));
            assert_eq!(found.as_deref(), expected, "{content:?}");
            if expected.is_none() {
                assert_eq!(reader.offset(), before, "{content:?}");
                continue;
            }
            reader.go_to(before);
            reader.next().unwrap();
            if let Token::Text(text) = reader.next().unwrap() {
                assert_eq!(Some(&*text), expected, "{content:?}");
            }
        }
    }
}

mod foreseen {
    use super::*;

    const A: Known = Known { slot: 0, identity: 1 };
    const B: Known = Known { slot: 1, identity: 2 };
    const G: Known = Known { slot: 2, identity: 3 };

    /// Reads `<g>…</g>` with elements `a` and `b` in it, and learns all that comes.
    fn learn(input: &str) -> Memory {
        let mut reader = Reader::new(input.as_bytes(), Limits::default()).unwrap();
        reader.next().unwrap();
        reader.begin_layout();
        let mut open = Vec::new();
        loop {
            let is_foreseen = reader.foresee();
            assert!(!matches!(is_foreseen, Some(Foreseen::Tag(..))));
            match reader.next().unwrap() {
                Token::StartTag(tag) => {
                    let known = match tag.name.local() {
                        "a" => A,
                        "b" => B,
                        _ => G,
                    };
                    open.push(known);
                    reader.learn_start(known);
                    reader.learn_next(known, false);
                }
                Token::EndTag(_) => match open.pop() {
                    Some(known) => {
                        reader.learn_end(known, known != G);
                        reader.learn_next(known, true);
                    }
                    None => return reader.into_memory(),
                },
                _ => {}
            }
        }
    }

    fn at_payload<'a>(input: &'a str, memory: &mut Memory) -> Reader<'a> {
        let mut reader = Reader::with_memory(input.as_bytes(), Limits::default(), memory).unwrap();
        reader.next().unwrap();
        reader.begin_layout();
        reader
    }

    #[test]
    fn what_came_behind_a_tag_is_foreseen_there() {
        let text = |input: &str, at: usize| Some(((), at + input[at..].find('<')?));
        let input = "<r><g><a>1</a><b>2</b></g><g><b>3</b></g></r>                ";
        let mut reader = at_payload(input, &mut learn(input));
        assert!(reader.foresee().is_none(), "what the payload's own tag is isn't known");
        assert!(reader.known_start(G));
        assert!(matches!(reader.foresee(), Some(Foreseen::Start(1, _))));
        assert!(reader.foresees_another(crate::look("b")) && !reader.foresees_another(crate::look("a")));
        assert!(reader.known_element(A, text, |_| None).is_some());
        assert!(!reader.foresees_another(crate::look("a")), "that was at another place");
        assert!(matches!(reader.foresee(), Some(Foreseen::Start(2, _))));
        assert!(reader.known_element(B, text, |_| None).is_some());
        assert!(matches!(reader.foresee(), Some(Foreseen::End)));
        assert!(reader.foresees_another(crate::look("a")) && reader.foresees_another(crate::look("b")));
        assert!(reader.known_end(G));
        assert!(matches!(reader.foresee(), Some(Foreseen::Start(3, _))));
        assert!(reader.known_start(G));
        assert!(matches!(reader.foresee(), Some(Foreseen::Start(2, _))), "one of two that came behind the tag");
    }

    #[test]
    fn only_what_stands_there_is_foreseen() {
        let learned = "<r><g><a>1</a><b>2</b></g></r>                ";
        for other in
            ["<g><c>1</c></g>", "<g> <a>1</a></g>", "<g><!-- --><a>1</a></g>", "<g><p:a xmlns:p='u'/></g>", "<g>"]
        {
            let input = format!("<r>{other}</r>                ");
            let mut reader = at_payload(&input, &mut learn(learned));
            assert!(reader.known_start(G));
            assert!(reader.foresee().is_none(), "{other}");
            assert!(!reader.foresees_another(crate::look("x")), "{other}");
        }
        let mut reader = at_payload("<r><g><g><a>1</a></g></g></r>                ", &mut learn(learned));
        assert!(reader.known_start(G) && reader.known_start(G));
        assert!(matches!(reader.foresee(), Some(Foreseen::Start(1, _))));
    }

    #[test]
    fn what_has_no_place_is_overlooked() {
        let input = "<r><g><a>1</a><x>y</x><b>2</b></g></r>                ";
        let text = |input: &str, at: usize| Some(((), at + input[at..].find('<')?));
        let mut memory = learn(&input.replace("<x>y</x>", ""));
        for is_overlooked in [false, true] {
            let mut reader = at_payload(input, &mut memory);
            assert!(reader.known_start(G) && reader.known_element(A, text, |_| None).is_some());
            assert!(reader.foresee().is_none(), "<b> came here");
            reader.next().unwrap();
            reader.skip_element().unwrap();
            if is_overlooked {
                reader.overlook();
            }
            assert_eq!(matches!(reader.foresee(), Some(Foreseen::Start(2, _))), is_overlooked);
            memory = reader.into_memory();
        }
    }

    #[test]
    fn the_end_of_an_empty_element_is_foreseen_until_it_is_read() {
        let input = "<r><g><a/><b x='1'/><a/></g></r>                ";
        let mut reader = at_payload(input, &mut learn(input));
        assert!(reader.known_start(G) && !reader.known_empty_start(A), "it was not looked for");
        assert!(matches!(reader.foresee(), Some(Foreseen::Start(1, _))));
        assert!(!reader.known_empty_start(B), "another one comes");
        assert!(reader.known_empty_start(A) && reader.is_plain());
        assert!(reader.foresees_another(crate::look("a")) && reader.foresees_another(crate::look("b")));
        assert!(reader.end_of_empty());
        reader.learn_end(A, true);
        assert!(!reader.foresees_another(crate::look("b")), "what comes behind the end was not looked for");

        assert!(matches!(reader.foresee(), Some(Foreseen::Tag(_, 2))));
        assert!(!reader.foresees_another(crate::look("a")), "the tag was read, and may not be used yet");
        reader.foresee_end_of_empty();
        assert!(reader.foresees_another(crate::look("a")));
        assert_eq!(reader.next().unwrap(), Token::EndTag(QName::new("b", 0)));
        reader.learn_end(B, true);
        assert!(matches!(reader.foresee(), Some(Foreseen::Start(1, _))));
    }

    #[test]
    fn tags_with_attributes_are_read_when_they_are_foreseen() {
        let input = "<r><g><a x='1'>1</a><b/></g><g><a x='2'>2</a><b/></g></r>                ";
        let mut reader = at_payload(input, &mut learn(&input.replace("</g><g><a x='2'>2</a><b/>", "")));
        assert!(reader.known_start(G));
        let Some(Foreseen::Tag(tag, 1)) = reader.foresee() else { panic!("<a> came here") };
        assert_eq!((tag.name.local(), reader.attributes().next().unwrap().value), ("a", "1"));
        assert!(reader.foresee().is_none(), "a text follows");
        reader.skip_element().unwrap();
        reader.learn_end(A, true);
        assert!(matches!(reader.foresee(), Some(Foreseen::Start(2, _))), "<b/> came here");
        assert_eq!(reader.known_tag(B).map(|tag| tag.name.local()), Some("b"));
        assert!(reader.foresee().is_none(), "its end is due");
        assert!(reader.end_of_empty() && !reader.end_of_empty());
        reader.learn_end(B, true);
        assert!(matches!(reader.foresee(), Some(Foreseen::End)));
    }
}
