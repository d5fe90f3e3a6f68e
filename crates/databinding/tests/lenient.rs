//! What a lenient decoder tolerates: the value that it reads, and the deviations that it reports, which are the errors of a
//! strict decoder. `common::decode` asserts for all tests of content models that both decoders agree on valid documents.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::Nillable;
use castile_xml::Limits;
use common::{All, Inner, Nils, Sequence, Tree, decode, decode_lenient, lenient};

const WHOLE: &str = "<one>1</one><maybe>m</maybe><any>1</any><any>2</any><some>true</some><some>0</some>\
    <last><x>1.5</x><y xmlns=''>why</y></last>";

#[test]
fn one_deviation_is_reported_as_its_error() {
    let whole: Sequence = decode(&[], WHOLE).unwrap();
    // The value is the same, and only deviations are reported.
    let same = |_: &mut Sequence| {};
    for (right, wrong, change) in [
        ("<one>1</one>", "<zero/><one>1</one>", same as fn(&mut Sequence)),
        ("<one>1</one>", "<zero xmlns='urn:z'><one>2</one>text</zero><one>1</one>", same),
        ("<maybe>m</maybe>", "<maybe>m</maybe><extra>7</extra>", same),
        ("</last>", "</last><extra/>", same),
        ("</x>", "</x><z><x>2</x></z>", same),
        ("<one>1</one>", "<one unknown='1'>1</one>", same),
        ("<one>1</one>", "<one xmlns=''>1</one>", same),
        ("<y xmlns=''>why</y>", "<y>why</y>", same),
        ("<one>1</one>", "<one>1<b>2</b></one>", same),
        ("<one>1</one>", "stray<one>1</one>", same),
        ("<one>1</one>", "<one>1</one> <!-- -->stray<!-- --> ", same),
        ("</last>", "</last>&#65;", same),
        ("<one>1</one><maybe>m</maybe>", "<maybe>m</maybe><one>1</one>", same),
        ("<some>0</some>", "<some>0</some><some>1</some><some>1</some>", |value| value.some.extend([true, true])),
        ("<some>0</some>", "", |value| value.some.truncate(1)),
        ("<maybe>m</maybe>", "<maybe xsi:nil='true'/>", |value| value.maybe = None),
        ("<one>1</one>", "<one xsi:nil='true'>1</one>", same),
    ] {
        assert!(WHOLE.contains(right));
        let content = WHOLE.replacen(right, wrong, 1);
        let mut expected = whole.clone();
        change(&mut expected);
        let error = decode::<Sequence>(&[WHOLE], &content).expect_err(&content);
        assert_eq!(lenient::<Sequence>(&content), Ok((expected, vec![error])), "{content}");
    }
}

#[test]
fn elements_out_of_order_are_sorted() {
    let parts = ["<one>1</one>", "<maybe>m</maybe>", "<any>1</any><any>2</any>", "<some>1</some><some>0</some>"];
    let expected: Sequence = decode(&[], &parts.concat()).unwrap();
    let mut orders = vec![vec![]];
    for _ in parts {
        let longer = |order: &Vec<usize>| {
            (0..4).filter(|part| !order.contains(part)).map(|part| [&order[..], &[part]].concat()).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    assert_eq!(orders.len(), 24);
    for order in orders {
        let content: String = order.iter().map(|&part| parts[part]).collect();
        let (found, deviations) = lenient::<Sequence>(&content).unwrap();
        assert_eq!(found, expected, "{content}");
        match decode::<Sequence>(&[], &content) {
            Ok(_) => assert!(deviations.is_empty(), "{content}"),
            Err(error) => assert_eq!(deviations[0], error, "{content}"),
        }
    }
    // Each list retains its order.
    let (found, deviations) =
        lenient::<Sequence>("<one>1</one><any>1</any><some>1</some><any>2</any><some>0</some>").unwrap();
    assert_eq!((found.any, found.some), (vec![1, 2], vec![true, false]));
    assert_eq!(deviations, ["any[2]: found <any> of urn:t, where <some> was expected (line 2, column 46)"]);
}

#[test]
fn several_deviations_are_reported_in_document_order() {
    let content = "<x/><some>1</some>text\n<some>0</some><last a='1'><y>why</y><x>1</x></last><one b='2'>1</one>";
    let (found, deviations) = lenient::<Sequence>(content).unwrap();
    let last = Inner { x: 1.0, y: Some("why".into()) };
    assert_eq!(found, Sequence { one: 1, some: vec![true, false], last: Some(last), ..Sequence::default() });
    assert_eq!(
        deviations,
        [
            "x: found <x> of urn:t, where <one> was expected (line 2, column 8)",
            "some: found <some> of urn:t, where <one> was expected (line 2, column 12)",
            "text \"text\", where only elements were expected (line 2, column 26)",
            "last: an attribute \"a\", which <last> does not have (line 3, column 21)",
            "last/y: found <y> of urn:t, where <x> was expected (line 3, column 27)",
            "one: an attribute \"b\", which <one> does not have (line 3, column 57)",
        ]
    );
}

#[test]
fn all_tolerates_what_is_not_in_it() {
    let expected = All { a: 1, b: "x".into(), c: None };
    for content in ["<b>x</b><d/><a>1</a>", "<b xmlns=''>x</b><a>1</a>", "<b>x</b>text<a>1</a>"] {
        let error = decode::<All>(&[], content).unwrap_err();
        assert_eq!(lenient(content), Ok((expected.clone(), vec![error])), "{content}");
    }
}

#[test]
fn deviations_that_lose_data_are_errors() {
    for content in [
        // A required element is absent or invalid.
        "",
        "<maybe>m</maybe><some>1</some><some>1</some>",
        "<one>ten</one><some>1</some><some>1</some>",
        "<one>1</one><some>1</some><some>maybe</some>",
        // The element may occur only once.
        "<one>1</one><one>2</one><some>1</some><some>1</some>",
        "<one>1</one><maybe/><maybe/><some>1</some><some>1</some>",
        "<one>1</one><some>1</some><some>1</some><last><x>1</x><x>2</x></last>",
    ] {
        // Other errors may have other messages.
        let error = decode::<Sequence>(&[], content).unwrap_err();
        let place = |error: &str| error.split_once(": ").map(|(path, _)| path.to_owned());
        assert_eq!(place(&lenient::<Sequence>(content).unwrap_err()), place(&error), "{content}");
    }
    // Nil is tolerated, and the text that remains is not a number.
    let error = lenient::<Sequence>("<one xsi:nil='true'/><some>1</some><some>1</some>").unwrap_err();
    assert_eq!(error, "one: \"\" is not a valid xs:int (line 2, column 27)");
    for content in ["<a>1</a><b/><a>1</a>", "<a>1</a>", "<a>b</a>"] {
        assert_eq!(lenient::<All>(content), decode::<All>(&[], content).map(|_| unreachable!()), "{content}");
    }
    for content in ["<text xsi:nil='1'>t</text>", "<text xsi:nil='1'><b/></text>", "<text xsi:nil='maybe'/>"] {
        assert_eq!(lenient::<Nils>(content), decode::<Nils>(&[], content).map(|_| unreachable!()), "{content}");
    }
}

/// The plan for the content of a nil element is not used.
#[test]
fn nil_among_what_deviates() {
    let content = "<inner xsi:nil='1'/><inner><y xmlns=''>1</y><x>1</x></inner><text>t</text><inner xsi:nil='1'/>";
    let (found, deviations) = lenient::<Nils>(content).unwrap();
    let inner = Nillable::Value(Inner { x: 1.0, y: Some("1".into()) });
    assert_eq!(found.inner, [Nillable::Nil, inner, Nillable::Nil]);
    assert_eq!(found.text, "t".into());
    assert_eq!(
        deviations,
        [
            "inner: found <inner> of urn:t, where <text> was expected (line 2, column 8)",
            "inner[2]/y: found <y> of no namespace, where <x> of urn:t was expected (line 2, column 35)",
        ]
    );
}

/// Time and memory are linear in the size of the document.
#[test]
fn the_number_of_recorded_deviations_is_bounded() {
    let mut limits = Limits::default();
    limits.deviations = 3;
    let document = |count: usize| format!("<r xmlns='urn:t'>{}<n><n/></n></r>", "<x/>".repeat(count));
    let (tree, deviations) = decode_lenient::<Tree>(&document(1_000), limits).unwrap();
    assert_eq!(tree.node.len(), 1);
    assert_eq!((deviations.count(), deviations.iter().count()), (1_000, 3));
    let shown = deviations.locate(document(1_000).as_bytes(), limits, Some("r")).to_string();
    let expected = "x: found <x> of urn:t, where </root> was expected (line 1, column 18)\n\
        x[2]: found <x> of urn:t, where </root> was expected (line 1, column 22)\n\
        x[3]: found <x> of urn:t, where </root> was expected (line 1, column 26)\n… and 997 more";
    assert_eq!(shown, expected);

    // Each level deviates, so each is planned.
    const DEPTH: usize = 400;
    let deep = format!("<r xmlns='urn:t'>{}{}</r>", "<x/><n><x/>".repeat(DEPTH), "<x/></n><x/>".repeat(DEPTH));
    let (_, deviations) = decode_lenient::<Tree>(&deep, limits).unwrap();
    assert_eq!(deviations.count(), 4 * DEPTH);
}

#[test]
fn malformed_documents_are_never_accepted() {
    for content in ["<x><y></x>", "<x a='1' a='2'/>", "<x>&unknown;</x>", "<x:y/>"] {
        let content = WHOLE.replace("<one>", &format!("{content}<one>"));
        assert!(lenient::<Sequence>(&content).is_err(), "{content}");
    }
}
