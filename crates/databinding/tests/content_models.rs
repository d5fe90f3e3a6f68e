//! Content that a content model allows is read; other content is rejected with its location. Every document is read with and
//! without caches, and `common::decode` asserts that both give the same result.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::Nillable;
use common::{All, Inner, Nils, Sequence, decode, pretty};

const WHOLE: &str = "<one>1</one><maybe>m</maybe><any>1</any><any>2</any><some>true</some><some>0</some>\
    <last><x>1.5</x><y xmlns=''>why</y></last>";
const LEAST: &str = "<one>1</one><some>1</some><some>0</some>";

/// Reads a [`Sequence`] after documents in both layouts.
fn sequence(input: &str) -> Result<Sequence, String> {
    let _ = decode::<Sequence>(&[&pretty(WHOLE), &pretty(LEAST)], input);
    decode(&[WHOLE, LEAST], input)
}

#[test]
fn a_sequence_holds_what_came() {
    let whole = Sequence {
        one: 1,
        maybe: Some("m".into()),
        any: vec![1, 2],
        some: vec![true, false],
        last: Some(Inner { x: 1.5, y: Some("why".into()) }),
    };
    let least = Sequence { one: 1, some: vec![true, false], ..Sequence::default() };
    for (content, expected) in [(WHOLE, &whole), (LEAST, &least)] {
        assert_eq!(sequence(content).as_ref(), Ok(expected));
        assert_eq!(sequence(&pretty(content)).as_ref(), Ok(expected));
        assert_eq!(sequence(&pretty(content).replace('\n', "\r\n\t")).as_ref(), Ok(expected));
    }
    let three = "<one>1</one><some>1</some><some>1</some><some>1</some>";
    assert_eq!(sequence(three).map(|value| value.some.len()), Ok(3));
}

#[test]
fn comments_and_instructions_make_no_difference() {
    let expected = sequence(WHOLE);
    assert!(expected.is_ok());
    for (plain, same) in [
        ("<one>1</one>", "<!-- a --><?b c?><one>1</one><!---->"),
        ("<one>1</one>", "<one >1</one\n>"),
        ("<one>1</one>", "<one\t>&#49;</one>"),
        ("<one>1</one>", "<one><![CDATA[1]]></one>"),
        ("<one>1</one>", "<one> <!-- a -->1<?b?>\r\n</one>"),
        ("<one>1</one>", "<t:one xmlns:t='urn:t'>1</t:one>"),
        ("<one>1</one>", "<one xmlns='urn:t'>1</one>"),
        (
            "<one>1</one>",
            "<one xmlns:d='http://www.w3.org/2001/XMLSchema' xsi:type='d:short' xsi:nil='false' xml:lang='en'>1</one>",
        ),
        ("<maybe>m</maybe>", "<maybe>&#109;</maybe>"),
        ("<maybe>m</maybe>", "<maybe><![CDATA[]]>m<!-- not part of it --></maybe>"),
        ("<maybe>m</maybe>", " \u{9}\r\n <maybe>m</maybe>&#32;"),
        ("<y xmlns=''>why</y>", "<y xmlns=''>w<![CDATA[h]]>&#x79;</y>"),
        ("<any>2</any>", "<any>&#x20;+2 </any>"),
    ] {
        assert!(WHOLE.contains(plain));
        assert_eq!(sequence(&WHOLE.replace(plain, same)), expected, "{same}");
        assert_eq!(sequence(&pretty(WHOLE).replace(&pretty(plain), same)), expected, "{same}");
    }
}

#[test]
fn white_space_of_strings_is_preserved() {
    for (text, expected) in [
        (" a \n b ", " a \n b "),
        ("\r\n\r", "\n\n"),
        ("&#13;<![CDATA[ < ]]>&lt;&amp;", "\r < <&"),
        ("", ""),
        ("<!-- nothing -->", ""),
    ] {
        let content = LEAST.replace("</one>", &format!("</one><maybe>{text}</maybe>"));
        assert_eq!(sequence(&content).unwrap().maybe.as_deref(), Some(expected), "{text}");
    }
    let content = LEAST.replace("</one>", "</one><maybe/>");
    assert_eq!(sequence(&content).unwrap().maybe.as_deref(), Some(""));
}

#[test]
fn a_sequence_is_refused_with_its_place() {
    let some = "<some>1</some><some>1</some>";
    for (content, expected) in [
        ("", "<item> ends, where <one> was expected (line 2, column 8)"),
        ("\n<one>ten</one>", "one: \"ten\" is not a valid xs:int (line 3, column 6)"),
        ("<one/>", "one: \"\" is not a valid xs:int (line 2, column 12)"),
        ("<one>1</one>\n<two>2</two>", "two: found <two> of urn:t, where <some> was expected (line 3, column 1)"),
        ("<maybe>m</maybe>", "maybe: found <maybe> of urn:t, where <one> was expected (line 2, column 8)"),
        (
            "<one xmlns=''>1</one>",
            "one: found <one> of no namespace, where <one> of urn:t was expected (line 2, column 8)",
        ),
        (
            "<one xmlns='urn:T'>1</one>",
            "one: found <one> of urn:T, where <one> of urn:t was expected (line 2, column 8)",
        ),
        ("<one>1</one><one>1</one>", "one[2]: found <one> of urn:t, where <some> was expected (line 2, column 20)"),
        ("<one>1<b/></one>", "one/b: found <b> of urn:t, where text was expected (line 2, column 14)"),
        ("stray", "text \"stray\", where only elements were expected (line 2, column 8)"),
        ("<one>1</one>stray", "text \"stray\", where only elements were expected (line 2, column 20)"),
        ("<one>1</one>&#65;", "text \"A\", where only elements were expected (line 2, column 20)"),
        ("<one a='1'>1</one>", "one: an attribute \"a\", which <one> does not have (line 2, column 13)"),
        ("<one xsi:nil='true'/>", "one: <one> is nil, where a value was expected (line 2, column 27)"),
        ("<one xsi:nil='maybe'>1</one>", "one: \"maybe\" is not a valid xs:boolean for xsi:nil (line 2, column 13)"),
        ("<one>1</one><some>1</some>", "1 of <some>, where at least 2 were expected (line 2, column 34)"),
        ("<one>1</one>", "0 of <some>, where at least 2 were expected (line 2, column 20)"),
        (
            "<one>1</one><some>1</some><some>1</some><some>1</some><some>1</some>",
            "4 of <some>, where at most 3 were expected (line 2, column 76)",
        ),
        (
            "<one>1</one><some>1</some><some>yes</some>",
            "some[2]: \"yes\" is not a valid xs:boolean (line 2, column 40)",
        ),
        ("<one>1</one><any>1</any><any>x</any>", "any[2]: \"x\" is not a valid xs:int (line 2, column 37)"),
        (
            &format!("<one>1</one>{some}<last><x>1</x><y>2</y></last>"),
            "last/y: found <y> of urn:t, where <y> of no namespace or </last> was expected (line 2, column 62)",
        ),
        (&format!("<one>1</one>{some}<last></last>"), "last: <last> ends, where <x> was expected (line 2, column 54)"),
        (
            &format!("<one>1</one>{some}<last><x>1</x>"),
            "last: end tag </item> where </last> was expected (line 2, column 62)",
        ),
        (
            &format!("<one>1</one>{some}<last>\n<x>1</t:x></last>"),
            "last/x: end tag </t:x> where </x> was expected (line 3, column 5)",
        ),
    ] {
        assert_eq!(sequence(content).expect_err(content), expected, "{content}");
    }
}

#[test]
fn an_optional_child_in_another_namespace_is_reported_with_its_namespace() {
    let some = "<some>1</some><some>1</some>";
    for (content, expected) in [
        (
            format!("<one>1</one><maybe xmlns=''>m</maybe>{some}"),
            "maybe: found <maybe> of no namespace, where <maybe> or <some> of urn:t was expected (line 2, column 20)",
        ),
        (
            format!("<one>1</one>{some}<last xmlns='urn:o'/>"),
            "last: found <last> of urn:o, where <last> of urn:t or </item> was expected (line 2, column 48)",
        ),
        (
            format!("<one>1</one>{some}<last><x>1</x><y>why</y></last>"),
            "last/y: found <y> of urn:t, where <y> of no namespace or </last> was expected (line 2, column 62)",
        ),
        // An element that may occur once occurs again.
        (
            format!("<one>1</one><maybe/>{some}<maybe xmlns=''/>"),
            "maybe[2]: found <maybe> of no namespace, where </item> was expected (line 2, column 56)",
        ),
    ] {
        assert_eq!(sequence(&content).expect_err(&content), expected, "{content}");
    }
}

#[test]
fn all_comes_in_any_order() {
    let familiar = ["<a>1</a><b>x</b><c><x>1</x></c>", "<a>1</a><b>x</b>"];
    let read = |content: &str| decode::<All>(&familiar, content);
    let expected = All { a: 1, b: "x".into(), c: Some(Inner { x: 1.0, y: None }) };
    let parts = ["<a>1</a>", "<b>x</b>", "<c><x>1</x></c>"];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let content = order.map(|part| parts[part]);
        assert_eq!(read(&content.concat()).as_ref(), Ok(&expected), "{order:?}");
        assert_eq!(read(&content.join("\n<!-- -->")).as_ref(), Ok(&expected), "{order:?}");
    }
    assert_eq!(read("<b>x</b><a>1</a>"), Ok(All { c: None, ..expected }));
}

#[test]
fn all_is_refused_with_its_place() {
    let familiar = ["<a>1</a><b>x</b><c><x>1</x></c>", "<a>1</a><b>x</b>"];
    for (content, expected) in [
        ("<a>1</a>", "the element ends without <b> (line 2, column 16)"),
        ("", "the element ends without <a> (line 2, column 8)"),
        ("<a>1</a><b/><a>1</a>", "a[2]: a second <a>, where one was expected (line 2, column 20)"),
        ("<a>1</a><b/><d/>", "d: found <d> of urn:t, where <a>, <b> or <c> was expected (line 2, column 20)"),
        ("<a>1</a>b", "text \"b\", where only elements were expected (line 2, column 16)"),
        ("<a>b</a>", "a: \"b\" is not a valid xs:int (line 2, column 11)"),
    ] {
        assert_eq!(decode::<All>(&familiar, content).expect_err(content), expected, "{content}");
    }
}

#[test]
fn nil_empty_and_absent_are_distinguished() {
    let familiar = [
        "<text>t</text><number>1</number><inner><x>1</x></inner><plain>p</plain>",
        "<text>t</text>",
        "<text xsi:nil='1'/><number xsi:nil='1'/><inner xsi:nil='1'/>",
    ];
    let read = |content: &str| decode::<Nils>(&familiar, content);
    let inner = |x| Nillable::Value(Inner { x, y: None });
    for (content, expected) in [
        ("<text xsi:nil='true'/>", Nils { text: Nillable::Nil, ..Nils::default() }),
        ("<text xsi:nil=' 1 '></text>", Nils { text: Nillable::Nil, ..Nils::default() }),
        ("<text xsi:nil='true'><!-- --></text>", Nils { text: Nillable::Nil, ..Nils::default() }),
        ("<text xsi:nil='false'></text>", Nils { text: "".into(), ..Nils::default() }),
        ("<text/>", Nils { text: "".into(), ..Nils::default() }),
        (
            "<text>t</text><number xsi:nil='1'/>",
            Nils { text: "t".into(), number: Some(Nillable::Nil), ..Nils::default() },
        ),
        ("<text>t</text><number>7</number>", Nils { text: "t".into(), number: Some(7.into()), ..Nils::default() }),
        (
            "<text>t</text><inner xsi:nil='1'/><inner><x>1</x></inner><inner xsi:nil='true'></inner><inner><x>2</x></inner>",
            Nils {
                text: "t".into(),
                inner: vec![Nillable::Nil, inner(1.0), Nillable::Nil, inner(2.0)],
                ..Nils::default()
            },
        ),
        (
            "<text xsi:nil='1'/><inner xsi:nil='0'><x>1</x></inner><plain/>",
            Nils { text: Nillable::Nil, inner: vec![inner(1.0)], plain: Some("".into()), ..Nils::default() },
        ),
    ] {
        assert_eq!(read(content).as_ref(), Ok(&expected), "{content}");
    }
    for (content, expected) in [
        ("<text xsi:nil='1'>t</text>", "text: <text> is nil and has content (line 2, column 26)"),
        ("<text xsi:nil='1'> </text>", "text: <text> is nil and has content (line 2, column 26)"),
        ("<text xsi:nil='1'><b/></text>", "text/b: found <b> of urn:t, where text was expected (line 2, column 26)"),
        ("<text>t</text><plain xsi:nil='1'/>", "plain: <plain> is nil, where a value was expected (line 2, column 40)"),
        ("<text>t</text><inner/>", "inner: <inner> ends, where <x> was expected (line 2, column 28)"),
        ("<text>t</text><number/>", "number: \"\" is not a valid xs:int (line 2, column 29)"),
    ] {
        assert_eq!(read(content).expect_err(content), expected, "{content}");
    }
}
