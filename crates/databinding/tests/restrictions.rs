//! Facets in the tables: values are checked with cached and with uncached tags.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::sync::LazyLock;

use castile_databinding::datatypes::{List, WhiteSpace};
use castile_databinding::facets::{AnyOf, Check, Facets, Items, Restriction};
use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Error, ErrorKind, FromXml, Nillable};
use castile_xml::{Limits, Reader};

static PERCENT: Restriction<i32> = Restriction::new("Percent", || {
    static FACETS: LazyLock<Facets<i32>> =
        LazyLock::new(|| Facets { min_inclusive: Some(1), max_inclusive: Some(100), ..Facets::default() });
    &FACETS
});

static PERCENTS: Items<i32> = Items::new("Percents", &PERCENT);

static FEW: Restriction<List<i32>> = Restriction::of(&PERCENTS, "Few", || {
    static FACETS: LazyLock<Facets<List<i32>>> = LazyLock::new(|| Facets { max_length: Some(2), ..Facets::default() });
    &FACETS
});

static WORD: Restriction<String> = Restriction::new("Word", || {
    static FACETS: LazyLock<Facets<String>> =
        LazyLock::new(|| Facets { white_space: WhiteSpace::Collapse, max_length: Some(3), ..Facets::default() });
    &FACETS
});

static EITHER: AnyOf = AnyOf::new("Either", &[&PERCENT, &WORD]);

#[test]
fn a_text_is_checked_by_its_type() {
    let restrictions: [(&dyn Check, &str, Option<&str>); 9] = [
        (&PERCENT, " 7 ", None),
        (&PERCENT, "0", Some("\"0\" is not a valid Percent: it must be not less than 1, its minInclusive")),
        (&PERCENT, "x", Some("\"x\" is not a valid Percent")),
        (&FEW, "1 2", None),
        (&FEW, "1 2 3", Some("\"1 2 3\" is not a valid Few: it is longer than the 2 items of maxLength")),
        (&WORD, "  a   b ", None),
        (&EITHER, "100", None),
        (&EITHER, "abc", None),
        (&EITHER, "1000", Some("\"1000\" is not a valid Either")),
    ];
    for (restriction, text, expected) in restrictions {
        let problem = restriction.check_text(text).err().map(|problem| problem.message().to_owned());
        assert_eq!(problem.as_deref(), expected, "{restriction:?}");
    }
    let problem = FEW.check_text("1 200").unwrap_err();
    let item = "\"200\" is not a valid Percent: it must be not more than 100, its maxInclusive";
    assert_eq!(problem.message(), format!("\"1 200\" is not a valid Percents: {item}"));
}

/// If the value doesn't have the type that the table expects, its text is parsed and checked.
#[test]
fn a_value_of_another_type_is_read_again() {
    assert!(PERCENT.check("100", &100_i64).is_ok());
    assert!(PERCENT.check("101", &101_i64).is_err());
    assert!(PERCENTS.check("101", &"101".to_owned()).is_err());
}

static VALUES: Element = Element::new("", "values", 0);
static TABLE: [Element; 2] = [
    Element::new("", "value", 1).facets(&PERCENT).occurs(0, None),
    Element::new("", "preset", 2).default("50").facets(&PERCENT).occurs(0, None),
];

#[derive(Debug, PartialEq)]
struct Values(Vec<Nillable<i32>>, Vec<i32>);

impl FromXml for Values {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| Ok(Values(decoder.repeated(&TABLE, 0)?, decoder.repeated(&TABLE, 1)?)))
    }
}

fn read(content: &str) -> Result<Values, Error> {
    let document = format!("<values>{content}</values>");
    let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
    reader.next().unwrap();
    let values = Decoder::new(reader).root(&VALUES);
    values.map_err(|error| error.locate(document.as_bytes(), Limits::default(), None))
}

#[test]
fn tags_that_are_known_change_nothing() {
    let right = "<value>1</value>".repeat(4) + "<preset/><preset>100</preset>";
    assert_eq!(read(&right).unwrap(), Values(vec![Nillable::Value(1); 4], vec![50, 100]));
    for count in 0..4 {
        for (name, text) in [("value", "0"), ("value", "<![CDATA[101]]>"), ("preset", "101")] {
            let right = format!("<{name}>1</{name}>").repeat(count);
            let error = read(&format!("{right}<{name}>{text}</{name}>")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Lexical);
            assert!(error.message().contains("is not a valid Percent: it must be"), "{error}");
            let location = error.location().unwrap();
            let column = "<values>".len() + right.len() + name.len() + "<>".len() + 1;
            assert_eq!((location.line, location.column), (1, column), "{error}");
        }
    }
}
