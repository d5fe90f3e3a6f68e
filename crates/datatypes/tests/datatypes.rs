//! Table-driven tests of the datatypes and their facets: which texts are valid, how values are written, and how they compare.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use castile_datatypes::facets::{Constraint, FacetValue, Facets, Pattern, SimpleTypeDefinition};
use castile_datatypes::*;

/// A scope without declarations.
struct DefaultNamespace;

impl Scope for DefaultNamespace {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        (prefix.is_empty()).then_some("urn:default")
    }
}

/// Returns the rows of a table, with placeholders replaced by white space.
fn rows(table: &str) -> impl Iterator<Item = Vec<String>> {
    let field = |field: &str| field.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r").replace("\\s", " ");
    table.lines().filter(|line| !line.starts_with('#')).map(move |line| line.split('\t').map(field).collect())
}

/// Reads a text as a Rust type and writes the value, if there is one.
fn rewritten<T: SimpleType>(text: &str) -> Option<String> {
    let mut out = Vec::new();
    assert!(T::parse(text).ok()?.write(&mut out), "{text}");
    Some(String::from_utf8(out).unwrap())
}

#[test]
fn texts_become_values_without_a_result_where_any_text_is_one() {
    for text in ["", "a", " a \t b ", "a\nb"] {
        assert_eq!(Ok(NormalizedString::from(text)), NormalizedString::new(text));
        assert_eq!(Ok(Token::from(text)), Token::new(text));
        assert_eq!(Ok(AnyUri::from(text)), AnyUri::new(text));
        assert_eq!(Token::from(text.to_owned()), Token::from(text));
    }
    assert_eq!(&*Token::from(" a \t b "), "a b");
    assert_eq!(NcName::try_from("a"), NcName::new("a"));
    assert!(NcName::try_from("a:b").is_err());
}

/// Returns the order of two texts as values of a Rust type, and checks that their hashes agree with it.
fn order<T: SimpleType + FacetValue>(a: &str, b: &str) -> Option<Ordering> {
    T::parse(a).unwrap().compare(&T::parse(b).unwrap())
}

type Rewrite = fn(&str) -> Option<String>;
type Order = fn(&str, &str) -> Option<Ordering>;

fn rust_types() -> BTreeMap<&'static str, (Rewrite, Order)> {
    fn of<T: SimpleType + FacetValue>() -> (Rewrite, Order) {
        (rewritten::<T>, order::<T>)
    }
    BTreeMap::from([
        ("decimal", of::<Decimal>()),
        ("integer", of::<Integer>()),
        ("nonNegativeInteger", of::<NonNegativeInteger>()),
        ("positiveInteger", of::<PositiveInteger>()),
        ("nonPositiveInteger", of::<NonPositiveInteger>()),
        ("negativeInteger", of::<NegativeInteger>()),
        ("byte", of::<i8>()),
        ("short", of::<i16>()),
        ("int", of::<i32>()),
        ("long", of::<i64>()),
        ("unsignedByte", of::<u8>()),
        ("unsignedShort", of::<u16>()),
        ("unsignedInt", of::<u32>()),
        ("unsignedLong", of::<u64>()),
        ("float", of::<f32>()),
        ("double", of::<f64>()),
        ("boolean", of::<bool>()),
        ("duration", of::<Duration>()),
        ("dateTime", of::<DateTime>()),
        ("time", of::<Time>()),
        ("date", of::<Date>()),
        ("gYearMonth", of::<GYearMonth>()),
        ("gYear", of::<GYear>()),
        ("gMonthDay", of::<GMonthDay>()),
        ("gDay", of::<GDay>()),
        ("gMonth", of::<GMonth>()),
        ("hexBinary", of::<HexBinary>()),
        ("base64Binary", of::<Base64Binary>()),
        ("string", of::<String>()),
        ("normalizedString", of::<NormalizedString>()),
        ("token", of::<Token>()),
        ("anyURI", of::<AnyUri>()),
        ("language", of::<Language>()),
        ("NMTOKEN", of::<Nmtoken>()),
        ("Name", of::<Name>()),
        ("NCName", of::<NcName>()),
        ("ID", of::<Id>()),
        ("IDREF", of::<Idref>()),
        ("ENTITY", of::<Entity>()),
        ("NMTOKENS", of::<Nmtokens>()),
        ("IDREFS", of::<Idrefs>()),
        ("ENTITIES", of::<Entities>()),
    ])
}

#[test]
fn texts_are_read_and_written_as_in_the_table() {
    let types = rust_types();
    let mut seen = std::collections::BTreeSet::new();
    for row in rows(include_str!("datatypes/lexical.tsv")) {
        let [name, text, expected] = &row[..] else { panic!("{row:?}") };
        let expected = Some(expected.clone()).filter(|expected| expected != "!");
        let (rewrite, _) = types[&**name];
        assert_eq!(rewrite(text), expected, "{name} {text:?}");
        if let Some(expected) = &expected {
            assert_eq!(rewrite(expected), Some(expected.clone()), "{name} {text:?} a second time");
        }
        // The same type as it is known at run time.
        let value = Datatype::from_name(name).unwrap().parse(text, &DefaultNamespace);
        assert_eq!(value.ok().map(|value| value.to_string()), expected, "{name} {text:?}");
        seen.insert(name.clone());
    }
    for name in types.keys() {
        assert!(seen.contains(*name), "the table has nothing of xs:{name}");
    }
}

#[test]
fn values_are_ordered_as_in_the_table() {
    let types = rust_types();
    let hasher = RandomState::new();
    for row in rows(include_str!("datatypes/order.tsv")) {
        let [name, a, relation, b] = &row[..] else { panic!("{row:?}") };
        let expected = match &**relation {
            "<" => Some(Ordering::Less),
            "=" => Some(Ordering::Equal),
            ">" => Some(Ordering::Greater),
            _ => None,
        };
        let (_, order) = types[&**name];
        assert_eq!(order(a, b), expected, "{name}: {a} and {b}");
        assert_eq!(order(b, a), expected.map(Ordering::reverse), "{name}: {b} and {a}");
        assert_eq!(order(a, a), Some(Ordering::Equal), "{name}: {a} and itself");
        let datatype = Datatype::from_name(name).unwrap();
        let [x, y] = [a, b].map(|text| datatype.parse(text, &DefaultNamespace).unwrap());
        assert_eq!(x.compare(&y), expected, "{name}: {a} and {b}");
        let hashes = match (&x, &y) {
            (Value::Decimal(x), Value::Decimal(y)) => [x, y].map(|value| hasher.hash_one(value)),
            (Value::Duration(x), Value::Duration(y)) => [x, y].map(|value| hasher.hash_one(value)),
            (Value::DateTime(x), Value::DateTime(y)) => [x, y].map(|value| hasher.hash_one(value)),
            (Value::Time(x), Value::Time(y)) => [x, y].map(|value| hasher.hash_one(value)),
            (Value::Date(x), Value::Date(y)) => [x, y].map(|value| hasher.hash_one(value)),
            _ => continue,
        };
        assert_eq!(hashes[0] == hashes[1], expected == Some(Ordering::Equal), "{name}: hashes of {a} and {b}");
    }
}

#[test]
fn patterns_match_as_in_the_table() {
    for line in include_str!("datatypes/patterns.tsv").lines().filter(|line| !line.starts_with('#')) {
        // The backslashes of a pattern are retained.
        let [source, text, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line:?}") };
        let text = rows(&format!("x{text}")).next().unwrap().remove(0)[1..].to_owned();
        let found = match Pattern::new(&[source]) {
            Ok(pattern) if pattern.matches(&text) => "yes".to_owned(),
            Ok(_) => "no".to_owned(),
            Err(error) => format!("!{}", error.position()),
        };
        assert_eq!(found, expected, "{source:?} {text:?} {:?}", Pattern::new(&[source]).err());
    }
}

#[test]
fn alternatives_of_a_step_are_one_pattern() {
    let pattern = Pattern::new(&["a|b", "c"]).unwrap();
    assert!(["a", "b", "c"].iter().all(|text| pattern.matches(text)));
    assert!(!pattern.matches("ac"));
    let error = Pattern::new(&["a", "b["]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the pattern \"b[\" is not a regular expression: a \"[\" that is not closed (character 3)"
    );
}

#[test]
fn facets_hold_as_in_the_table() {
    for line in include_str!("datatypes/facets.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [name, facets, text, problem] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line:?}") };
        let text = rows(&format!("x{text}")).next().unwrap().remove(0)[1..].to_owned();
        let built_in = SimpleTypeDefinition::built_in(Datatype::from_name(name).unwrap());
        let restricted = built_in.restriction("Restricted", &constraints(facets)).unwrap();
        let found = match restricted.read(&text, &DefaultNamespace) {
            Ok(_) => String::new(),
            Err(error) => {
                let intro = format!("{text:?} is not a valid Restricted");
                let rest = error.message().strip_prefix(&intro).unwrap();
                rest.strip_prefix(": ").unwrap_or("-").to_owned()
            }
        };
        assert_eq!(found, problem, "{line}");
    }
}

#[test]
fn restrictions_are_consistent_as_in_the_table() {
    for line in include_str!("datatypes/restrictions.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [name, base, facets, problem] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line:?}") };
        let mut definition = SimpleTypeDefinition::built_in(Datatype::from_name(name).unwrap());
        if !base.is_empty() {
            definition = definition.restriction("Base", &constraints(base)).unwrap();
        }
        let found = definition.restriction("Restricted", &constraints(facets));
        let found = found.err().map(|error| error.message().to_owned()).unwrap_or_default();
        assert_eq!(found, problem, "{line}");
    }
}

/// Parses facets as written in the tables: `maxLength=5 pattern=a*`.
fn constraints(facets: &'static str) -> Vec<Constraint<'static>> {
    let constraint = |facet: &'static str| {
        let (facet, value) = facet.split_once('=').unwrap();
        Constraint { facet, value, scope: &DefaultNamespace }
    };
    facets.split(' ').map(constraint).collect()
}

#[test]
fn every_step_of_a_restriction_holds() {
    let constraint = |facet, value| Constraint { facet, value, scope: &DefaultNamespace };
    let token = SimpleTypeDefinition::built_in(Datatype::Token);
    let short = token.restriction("Short", &[constraint("maxLength", "3")]).unwrap();
    let both = short.restriction("Both", &[constraint("pattern", "[a-z]*")]).unwrap();
    let read =
        |text| both.read(text, &DefaultNamespace).map(|value| value.to_string()).map_err(|error| error.to_string());
    assert_eq!(read(" abc "), Ok("abc".into()));
    assert!(read("abcd").unwrap_err().contains("maxLength"));
    assert!(read("AB").unwrap_err().contains("pattern"));
}

#[test]
fn facets_that_are_none_are_refused() {
    let built_in = |datatype| SimpleTypeDefinition::built_in(datatype);
    for (datatype, facet, value, expected) in [
        (Datatype::String, "maxLength", "-1", "it must be 0 or more"),
        (Datatype::Int, "maxInclusive", "ten", "\"ten\" is not a valid xs:int"),
        (Datatype::Int, "enumeration", "2147483648", "its range is -2147483648 to 2147483647"),
        (Datatype::String, "pattern", "a(", "that is not closed"),
        (Datatype::String, "whiteSpace", "trim", "preserve, replace or collapse"),
        (Datatype::String, "assertion", "1", "\"assertion\" is not a facet"),
    ] {
        let error =
            built_in(datatype).restriction("R", &[Constraint { facet, value, scope: &DefaultNamespace }]).unwrap_err();
        assert!(error.message().contains(expected), "{error}");
    }
    // A length that no text reaches is allowed.
    let huge = [Constraint { facet: "maxLength", value: "99999999999999999999999", scope: &DefaultNamespace }];
    assert!(built_in(Datatype::String).restriction("R", &huge).is_ok());
}

#[test]
fn lists_and_unions_are_read_member_by_member() {
    let integer = SimpleTypeDefinition::built_in(Datatype::Integer);
    let year = SimpleTypeDefinition::built_in(Datatype::GYear);
    let token = SimpleTypeDefinition::built_in(Datatype::Token);
    let size = SimpleTypeDefinition::union("Size", vec![integer, year, token.clone()]).unwrap();
    let sizes = SimpleTypeDefinition::list("Sizes", size.clone()).unwrap();
    let Ok(Value::List(items)) = sizes.read(" 0042\n2005Z small ", &DefaultNamespace) else { panic!() };
    assert!(matches!(&items[..], [Value::Decimal(_), Value::GYear(_), Value::String(_)]), "{items:?}");
    let constraint = |facet, value| Constraint { facet, value, scope: &DefaultNamespace };
    let few = sizes.restriction("Few", &[constraint("maxLength", "1"), constraint("pattern", "\\S+")]).unwrap();
    assert!(few.read(" 1 ", &DefaultNamespace).is_ok());
    assert!(few.read("1 2", &DefaultNamespace).is_err());
    // 42 as a number instead of a text.
    let answer = size.restriction("Answer", &[constraint("enumeration", "42")]).unwrap();
    assert!(answer.read("+42", &DefaultNamespace).is_ok());
    assert!(answer.read("42Z", &DefaultNamespace).is_err());
    let mut deep = token;
    let error = loop {
        deep = match SimpleTypeDefinition::union("Deep", vec![deep]) {
            Ok(deeper) => deeper,
            Err(error) => break error,
        };
    };
    assert!(error.message().contains("nested more than"), "{error}");
    let mut long = SimpleTypeDefinition::built_in(Datatype::Token);
    let error = loop {
        long = match long.restriction("Long", &[constraint("minLength", "1")]) {
            Ok(longer) => longer,
            Err(error) => break error,
        };
    };
    assert!(error.message().contains("restrictions away"), "{error}");
}

/// A union as the generator writes it: an enum whose members are tried in order.
#[derive(Debug, PartialEq)]
enum Size {
    Number(u16),
    Word(Token),
    Name(QName),
}

impl SimpleType for Size {
    const NAME: &'static str = "Size";
    const HAS_NAMES: bool = u16::HAS_NAMES || Token::HAS_NAMES || QName::HAS_NAMES;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        Self::parse_in(text, &DefaultNamespace)
    }

    fn parse_in(text: &str, scope: &dyn Scope) -> Result<Self, Option<String>> {
        u16::parse_in(text, scope)
            .map(Size::Number)
            .or_else(|_| QName::parse_in(text, scope).map(Size::Name))
            .or_else(|_| Token::parse_in(text, scope).map(Size::Word))
            .map_err(|_| None)
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        match self {
            Size::Number(value) => value.write(out),
            Size::Word(value) => value.write(out),
            Size::Name(value) => value.write(out),
        }
    }

    fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
        match self {
            Size::Number(value) => value.write_in(out, prefixes),
            Size::Word(value) => value.write_in(out, prefixes),
            Size::Name(value) => value.write_in(out, prefixes),
        }
    }
}

#[test]
fn members_of_a_generated_union_are_tried_in_order() {
    assert_eq!(Size::parse("42"), Ok(Size::Number(42)));
    assert_eq!(Size::parse("65536"), Ok(Size::Word(Token::new("65536").unwrap())));
    assert_eq!(Size::parse(" small "), Ok(Size::Name(QName::new("urn:default", "small").unwrap())));
    assert_eq!(Size::parse("very  small"), Ok(Size::Word(Token::new("very small").unwrap())));
}

#[test]
fn facets_of_rust_types_are_the_same() {
    let range = Facets { min_inclusive: Some(1), max_inclusive: Some(3), ..Facets::default() };
    assert_eq!(range.check("3", &3), Ok(()));
    assert_eq!(range.check("4", &4), Err("it must be not more than 3, its maxInclusive".into()));
    let few: Facets<List<i32>> = Facets { max_length: Some(2), ..Facets::default() };
    assert_eq!(few.check("1 2 3", &List(vec![1, 2, 3])), Err("it is longer than the 2 items of maxLength".into()));
    let two_digits = Facets { total_digits: Some(2), ..Facets::default() };
    assert!(two_digits.check("-100", &-100_i8).is_err());
    let white = WhiteSpace::Preserve;
    let indented = Facets { white_space: white, patterns: vec![Pattern::new(&["  .*"]).unwrap()], ..Facets::default() };
    assert!(indented.check("  a", &"  a".to_owned()).is_ok());
}
