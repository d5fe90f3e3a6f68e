use crate::{ErrorKind, QName, Token};

use super::*;

#[test]
fn a_prologue_of_a_decoded_text_is_none_of_bytes() {
    let text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>\u{e9}</a>";
    let mut reader = CachedReader::decoded(text, Limits::default(), &mut Memory::default()).unwrap();
    let Token::StartTag(tag) = reader.next().unwrap() else { panic!() };
    reader.cache_prologue(tag, tag.namespace);
    let mut bytes = CachedReader::with_memory(text.as_bytes(), Limits::default(), &mut reader.into_memory()).unwrap();
    assert_eq!(bytes.cached_prologue(), None);
    assert_eq!(bytes.next().unwrap_err().kind(), ErrorKind::Encoding);
}

mod tags {
    use super::*;

    const ITEM: SlotId = SlotId { index: 0, owner: 1 };

    fn at_payload(input: &str, mut memory: Memory) -> CachedReader<'_> {
        let mut reader = CachedReader::with_memory(input.as_bytes(), Limits::default(), &mut memory).unwrap();
        reader.next().unwrap();
        reader.use_cached_tags();
        reader
    }

    /// Reads `<…>text</…>` with the tokeniser and caches it.
    fn cache_all(reader: &mut CachedReader<'_>) {
        while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
        reader.cache_start(ITEM);
        while !matches!(reader.next().unwrap(), Token::EndTag(_)) {}
        reader.cache_end(ITEM, true);
    }

    fn text(input: &str, at: usize) -> Option<(&str, usize)> {
        let end = at + input[at..].find('<')?;
        Some((&input[at..end], end))
    }

    #[test]
    fn a_tag_that_was_read_once_is_recognised() {
        let input =
            "<p:r xmlns:p='u' xmlns:q='u'>\n <p:i>one</p:i>\n <p:i>two</p:i>\n <p:i></p:i></p:r>  <!-- room -->";
        let mut reader = at_payload(input, Memory::default());
        assert_eq!(reader.cached_leaf(ITEM, text, |_| None), None, "nothing is cached yet");
        cache_all(&mut reader);
        assert_eq!(reader.cached_leaf(ITEM, text, |_| None), Some("two"));
        assert_eq!(reader.cached_leaf(ITEM, text, |_| None), Some(""));
        assert_eq!(reader.cached_leaf(ITEM, text, |_| None), None);
        assert!(matches!(reader.next(), Ok(Token::EndTag(_))));
        let mut again = at_payload(input, reader.into_memory());
        assert_eq!(again.cached_leaf(ITEM, text, |_| None), Some("one"), "across documents");
    }

    #[test]
    fn a_fork_uses_the_same_caches() {
        for (caches, expected) in [(Caches::ALL, Some("two")), (Caches::NONE, None)] {
            let input = "<r><i>one</i><i>two</i></r>                ";
            let mut fork = at_payload(input, Memory::with_caches(caches)).fork(None);
            fork.next().unwrap();
            fork.use_cached_tags();
            cache_all(&mut fork);
            assert_eq!(fork.cached_leaf(ITEM, text, |_| None), expected);
        }
    }

    #[test]
    fn a_start_tag_is_never_closed_by_the_end_tag_of_another_prefix() {
        let first = "<p:r xmlns:p='u' xmlns:q='u'><p:i>1</p:i></p:r>                ";
        let mut reader = at_payload(first, Memory::default());
        cache_all(&mut reader);
        let bad = "<p:r xmlns:p='u' xmlns:q='u'><q:i>1</p:i></p:r>                ";
        let mut reader = at_payload(bad, reader.into_memory());
        assert_eq!(reader.cached_leaf(ITEM, text, |_| None), None);
        reader.next().unwrap();
        reader.cache_start(ITEM);
        reader.next().unwrap();
        assert!(!reader.cached_end(ITEM));
        assert!(reader.next().is_err());
    }

    #[test]
    fn other_declarations_make_other_tags() {
        let mut reader = at_payload("<r xmlns='u'><i>1</i></r>                ", Memory::default());
        cache_all(&mut reader);
        let mut other = at_payload("<r xmlns='v'><i>1</i></r>                ", reader.into_memory());
        assert_eq!(other.cached_leaf(ITEM, text, |_| None), None);
        let mut same = at_payload("<r xmlns='u'><i>1</i></r>                ", other.into_memory());
        assert_eq!(same.cached_leaf(ITEM, text, |_| None), Some("1"));
    }

    #[test]
    fn a_declaration_inside_suspends_cached_tags() {
        let mut reader = at_payload("<r xmlns='u'><i>1</i></r>                ", Memory::default());
        cache_all(&mut reader);
        let inside = "<r xmlns='u'><g xmlns='v'><i>1</i></g><i>2</i></r>                ";
        let mut reader = at_payload(inside, reader.into_memory());
        reader.next().unwrap();
        assert_eq!(reader.cached_leaf(ITEM, text, |_| None), None, "<i> means v:i here");
        reader.skip_element().unwrap();
        assert_eq!(reader.cached_leaf(ITEM, text, |_| None), Some("2"));
    }

    #[test]
    fn names_are_measured_where_a_cached_one_could_be_too_long() {
        let input = "<r><a-long-name>1</a-long-name></r>                ";
        let mut reader = at_payload(input, Memory::default());
        cache_all(&mut reader);
        let limits = Limits { name_length: 8, ..Limits::default() };
        let mut reader = CachedReader::with_memory(input.as_bytes(), limits, &mut reader.into_memory()).unwrap();
        reader.next().unwrap();
        reader.use_cached_tags();
        assert_eq!(reader.cached_leaf(ITEM, text, |_| None), None);
        assert_eq!(reader.next().unwrap_err().kind(), ErrorKind::Limit);
    }

    #[test]
    fn a_text_that_is_too_long_is_not_recognised() {
        let input = |text: &str| format!("<r><i>{text}</i></r>                ");
        let (short, long) = (input("1"), input(&"1".repeat(100)));
        let limits = Limits { text_length: 50, ..Limits::default() };
        let read = |input: &'static str, mut memory: Memory| {
            let mut reader = CachedReader::with_memory(input.as_bytes(), limits, &mut memory).unwrap();
            reader.next().unwrap();
            reader.use_cached_tags();
            reader
        };
        let mut reader = read(short.leak(), Memory::default());
        cache_all(&mut reader);
        let mut reader = read(long.leak(), reader.into_memory());
        assert_eq!(reader.cached_leaf(ITEM, text, |_| None), None);
        reader.next().unwrap();
        assert_eq!(reader.next().unwrap_err().kind(), ErrorKind::Limit);
    }

    /// Reads the next start tag with the tokeniser, caches it and leaves the element.
    fn cache_tag(reader: &mut CachedReader<'_>) {
        while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
        reader.cache_start(ITEM);
        reader.skip_element().unwrap();
    }

    /// The name of a tag, its attributes, and whether it is empty.
    type ReadTag = (String, Vec<(String, String)>, bool);

    /// Returns the tag at [`ITEM`] if it is cached.
    fn cached(reader: &mut CachedReader<'_>) -> Option<ReadTag> {
        let before = reader.offset();
        let Some(tag) = reader.cached_tag(ITEM) else {
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
        let first = "\n <p:i a='1' q:b = \"2\"/>";
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
            let input = format!("{root}{first}{tag}</p:r>                ");
            let mut reader = at_payload(&input, Memory::default());
            cache_tag(&mut reader);
            let found = cached(&mut reader);
            let expected = expected.map(|(a, b)| {
                let attributes = [("{}a", a), ("{v}b", b)].map(|(name, value)| (name.to_owned(), value.to_owned()));
                ("{u}i".to_owned(), attributes.to_vec(), true)
            });
            assert_eq!(found, expected, "{tag}");
        }
    }

    #[test]
    fn errors_in_values_are_reported_by_the_tokeniser() {
        for value in ["<", "&", "&x;", "\u{1}", "\u{FFFE}"] {
            let input = format!("<r><i a='1'>2</i><i a='{value}'>3</i></r>                ");
            let mut reader = at_payload(&input, Memory::default());
            cache_tag(&mut reader);
            assert_eq!(reader.cached_tag(ITEM), None, "{value:?}");
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
            assert_eq!(cached(&mut reader), None);
            cache_tag(&mut reader);
        }
        let names = |found: Option<ReadTag>| found.map(|(_, names, empty)| (names, empty));
        let attribute = |name: &str, value: &str| vec![(format!("{{}}{name}"), value.to_owned())];
        assert_eq!(names(cached(&mut reader)), Some((attribute("a", "5"), false)));
        assert!(reader.cached_start(ITEM));
        reader.skip_element().unwrap();
        assert_eq!(names(cached(&mut reader)), Some((vec![], true)));
        assert_eq!(names(cached(&mut reader)), Some((attribute("b", "8"), true)));
    }

    #[test]
    fn tags_that_declare_are_not_cached() {
        for declaration in ["xmlns='u'", "xmlns:p='u'"] {
            let input = format!("<r><i {declaration}/><i {declaration}/></r>                ");
            let mut reader = at_payload(&input, Memory::default());
            cache_tag(&mut reader);
            assert_eq!(reader.cached_tag(ITEM), None);
        }
    }

    #[test]
    fn limits_hold_for_tags_that_were_cached_under_others() {
        let input = format!("<r><i a='1' b='{}'/><i a='1' b='{}'/></r>                ", "1", "2".repeat(2_000));
        for (limits, is_known) in [
            (Limits::default(), true),
            (Limits { attributes: 1, ..Limits::default() }, false),
            (Limits { markup_length: 1_500, ..Limits::default() }, false),
            (Limits { depth: 1, ..Limits::default() }, false),
        ] {
            let mut reader = at_payload(&input, Memory::default());
            cache_tag(&mut reader);
            let offset = reader.offset();
            let mut reader = CachedReader::with_memory(input.as_bytes(), limits, &mut reader.into_memory()).unwrap();
            reader.next().unwrap();
            reader.use_cached_tags();
            reader.seek(offset);
            assert_eq!(reader.cached_tag(ITEM).is_some(), is_known, "{limits:?}");
            if !is_known {
                assert_eq!(reader.next().unwrap_err().kind(), ErrorKind::Limit, "{limits:?}");
            }
        }
    }

    #[test]
    fn an_element_without_content_is_recognised() {
        let input = "<r><i/><i/> <i/><i a='1'/><i></i><i /></r>                ";
        let mut reader = at_payload(input, Memory::default());
        assert_eq!(reader.cached_empty_leaf(ITEM, || Some(())), None, "nothing is cached yet");
        cache_tag(&mut reader);
        assert_eq!(reader.cached_empty_leaf(ITEM, || None::<()>), None, "nothing is no value here");
        assert_eq!(reader.cached_empty_leaf(ITEM, || Some(1)), Some(1));
        assert_eq!(reader.depth(), 1);
        for _ in 0..4 {
            let before = reader.offset();
            assert_eq!(reader.cached_empty_leaf(ITEM, || Some(())), None, "{}", &input[before..]);
            assert_eq!(reader.offset(), before);
            cache_tag(&mut reader);
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
            cache_all(&mut reader);
            let before = reader.offset();
            let refused = reader.cached_leaf(ITEM, |_, _| None, |_| None::<()>);
            assert_eq!((refused, reader.offset()), (None, before), "{content:?}");
            let found = reader.cached_leaf(ITEM, |_, _| None, |text| Some(text.to_owned()));
            assert_eq!(found.as_deref(), expected, "{content:?}");
            if expected.is_none() {
                assert_eq!(reader.offset(), before, "{content:?}");
                continue;
            }
            reader.seek(before);
            reader.next().unwrap();
            if let Token::Text(text) = reader.next().unwrap() {
                assert_eq!(Some(&*text), expected, "{content:?}");
            }
        }
    }
}

mod predictions {
    use super::*;

    const A: SlotId = SlotId { index: 0, owner: 1 };
    const B: SlotId = SlotId { index: 1, owner: 2 };
    const G: SlotId = SlotId { index: 2, owner: 3 };

    /// Reads `<g>…</g>` with elements `a` and `b` in it, and caches all its tags.
    fn cache_all(input: &str) -> Memory {
        let mut reader = CachedReader::from(Reader::new(input.as_bytes(), Limits::default()).unwrap());
        reader.next().unwrap();
        reader.use_cached_tags();
        let mut open = Vec::new();
        loop {
            let predicted = reader.predict();
            assert!(!matches!(predicted, Some(Predicted::Tag(..))));
            match reader.next().unwrap() {
                Token::StartTag(tag) => {
                    let known = match tag.name.local() {
                        "a" => A,
                        "b" => B,
                        _ => G,
                    };
                    open.push(known);
                    reader.cache_start(known);
                    reader.cache_successor(known, false);
                }
                Token::EndTag(_) => match open.pop() {
                    Some(known) => {
                        reader.cache_end(known, known != G);
                        reader.cache_successor(known, true);
                    }
                    None => return reader.into_memory(),
                },
                _ => {}
            }
        }
    }

    fn at_payload<'a>(input: &'a str, memory: &mut Memory) -> CachedReader<'a> {
        let mut reader = CachedReader::with_memory(input.as_bytes(), Limits::default(), memory).unwrap();
        reader.next().unwrap();
        reader.use_cached_tags();
        reader
    }

    #[test]
    fn the_successors_of_a_tag_are_predicted() {
        let text = |input: &str, at: usize| Some(((), at + input[at..].find('<')?));
        let input = "<r><g><a>1</a><b>2</b></g><g><b>3</b></g></r>                ";
        let mut reader = at_payload(input, &mut cache_all(input));
        assert!(reader.predict().is_none(), "what the payload's own tag is isn't known");
        assert!(reader.cached_start(G));
        assert!(matches!(reader.predict(), Some(Predicted::Start(1, _))));
        assert!(reader.predicts_other(crate::name_hash("b")) && !reader.predicts_other(crate::name_hash("a")));
        assert!(reader.cached_leaf(A, text, |_| None).is_some());
        assert!(!reader.predicts_other(crate::name_hash("a")), "that was at another place");
        assert!(matches!(reader.predict(), Some(Predicted::Start(2, _))));
        assert!(reader.cached_leaf(B, text, |_| None).is_some());
        assert!(matches!(reader.predict(), Some(Predicted::End)));
        assert!(reader.predicts_other(crate::name_hash("a")) && reader.predicts_other(crate::name_hash("b")));
        assert!(reader.cached_end(G));
        assert!(matches!(reader.predict(), Some(Predicted::Start(3, _))));
        assert!(reader.cached_start(G));
        assert!(matches!(reader.predict(), Some(Predicted::Start(2, _))), "one of two that came behind the tag");
    }

    #[test]
    fn a_prediction_is_compared_with_the_document() {
        let first = "<r><g><a>1</a><b>2</b></g></r>                ";
        for other in
            ["<g><c>1</c></g>", "<g> <a>1</a></g>", "<g><!-- --><a>1</a></g>", "<g><p:a xmlns:p='u'/></g>", "<g>"]
        {
            let input = format!("<r>{other}</r>                ");
            let mut reader = at_payload(&input, &mut cache_all(first));
            assert!(reader.cached_start(G));
            assert!(reader.predict().is_none(), "{other}");
            assert!(!reader.predicts_other(crate::name_hash("x")), "{other}");
        }
        let mut reader = at_payload("<r><g><g><a>1</a></g></g></r>                ", &mut cache_all(first));
        assert!(reader.cached_start(G) && reader.cached_start(G));
        assert!(matches!(reader.predict(), Some(Predicted::Start(1, _))));
    }

    #[test]
    fn elements_without_a_slot_are_skipped() {
        let input = "<r><g><a>1</a><x>y</x><b>2</b></g></r>                ";
        let text = |input: &str, at: usize| Some(((), at + input[at..].find('<')?));
        let mut memory = cache_all(&input.replace("<x>y</x>", ""));
        for is_skip_predictioned in [false, true] {
            let mut reader = at_payload(input, &mut memory);
            assert!(reader.cached_start(G) && reader.cached_leaf(A, text, |_| None).is_some());
            assert!(reader.predict().is_none(), "<b> came here");
            reader.next().unwrap();
            reader.skip_element().unwrap();
            if is_skip_predictioned {
                reader.skip_prediction();
            }
            assert_eq!(matches!(reader.predict(), Some(Predicted::Start(2, _))), is_skip_predictioned);
            memory = reader.into_memory();
        }
    }

    #[test]
    fn the_end_of_an_empty_element_is_predicted_until_it_is_read() {
        let input = "<r><g><a/><b x='1'/><a/></g></r>                ";
        let mut reader = at_payload(input, &mut cache_all(input));
        assert!(reader.cached_start(G) && !reader.predicted_empty_start(A), "it was not looked for");
        assert!(matches!(reader.predict(), Some(Predicted::Start(1, _))));
        assert!(!reader.predicted_empty_start(B), "another one comes");
        assert!(reader.predicted_empty_start(A) && reader.is_plain());
        assert!(reader.predicts_other(crate::name_hash("a")) && reader.predicts_other(crate::name_hash("b")));
        assert!(reader.end_of_empty());
        reader.cache_end(A, true);
        assert!(!reader.predicts_other(crate::name_hash("b")), "what comes behind the end was not looked for");

        assert!(matches!(reader.predict(), Some(Predicted::Tag(_, 2))));
        assert!(!reader.predicts_other(crate::name_hash("a")), "the tag was read, and may not be used yet");
        reader.predict_end_of_empty();
        assert!(reader.predicts_other(crate::name_hash("a")));
        assert_eq!(reader.next().unwrap(), Token::EndTag(QName::new("b", 0)));
        reader.cache_end(B, true);
        assert!(matches!(reader.predict(), Some(Predicted::Start(1, _))));
    }

    #[test]
    fn predicted_tags_with_attributes_are_consumed() {
        let input = "<r><g><a x='1'>1</a><b/></g><g><a x='2'>2</a><b/></g></r>                ";
        let mut reader = at_payload(input, &mut cache_all(&input.replace("</g><g><a x='2'>2</a><b/>", "")));
        assert!(reader.cached_start(G));
        let Some(Predicted::Tag(tag, 1)) = reader.predict() else { panic!("<a> came here") };
        assert_eq!((tag.name.local(), reader.attributes().next().unwrap().value), ("a", "1"));
        assert!(reader.predict().is_none(), "a text follows");
        reader.skip_element().unwrap();
        reader.cache_end(A, true);
        assert!(matches!(reader.predict(), Some(Predicted::Start(2, _))), "<b/> came here");
        assert_eq!(reader.cached_tag(B).map(|tag| tag.name.local()), Some("b"));
        assert!(reader.predict().is_none(), "its end is due");
        assert!(reader.end_of_empty() && !reader.end_of_empty());
        reader.cache_end(B, true);
        assert!(matches!(reader.predict(), Some(Predicted::End)));
    }
}

mod templates {
    use super::*;

    const CACHED: SlotId = SlotId { index: 0, owner: 1 };

    /// Opens the children of the root one after another, with `<c>` in each. Returns whether `<c>` was cached, and the
    /// namespace of its attribute.
    fn read(document: &str) -> Vec<(bool, String)> {
        let mut reader = CachedReader::from(Reader::new(document.as_bytes(), Limits::default()).unwrap());
        let mut found = Vec::new();
        reader.next().unwrap();
        loop {
            reader.use_cached_tags();
            match reader.next().unwrap() {
                Token::StartTag(_) => {}
                _ => return found,
            }
            reader.extend_cached_tags();
            let is_known = reader.cached_tag(CACHED).is_some();
            if !is_known {
                reader.next().unwrap();
                reader.cache_start(CACHED);
            }
            let attribute = reader.attributes().next().unwrap();
            found.push((is_known, attribute.namespace.to_owned()));
            reader.skip_element().unwrap();
            reader.skip_element().unwrap();
        }
    }

    #[test]
    fn tags_are_cached_where_more_is_declared() {
        for (inside, known) in [
            // No declarations, other prefixes, and repeated declarations.
            (["", ""], true),
            ([" xmlns:a='urn:a'", " xmlns:b='urn:b'"], true),
            (["", " xmlns:p='urn:p'"], true),
            ([" xmlns:a='urn:a'", ""], true),
            // The prefix is declared on the element where the tag is cached, so its meaning elsewhere is unknown.
            ([" xmlns:p='urn:p'", ""], false),
            ([" xmlns:p='urn:p'", " xmlns:p='urn:p'"], false),
            // The prefix has another meaning.
            (["", " xmlns:p='urn:q'"], false),
            ([" xmlns:p='urn:q'", ""], false),
            (["", " xmlns='urn:q'"], false),
            ([" xmlns=''", ""], false),
        ] {
            let [one, other] = inside;
            let document =
                format!("<r xmlns:p='urn:p'><x{one}><c p:a='1'></c></x><x{other}><c p:a='2'></c></x><x/></r>");
            // Tags are not recognised near the end of a document.
            let document = document.replace("<x/>", "") + &" ".repeat(100);
            let found = read(&document);
            let namespace =
                |inside: &str| if inside.contains("xmlns:p='urn:q'") { "urn:q" } else { "urn:p" }.to_owned();
            assert_eq!(found, [(false, namespace(one)), (known, namespace(other))], "{document}");
        }
    }
}
