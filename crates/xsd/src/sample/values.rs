//! Generates values of simple types, including the boundaries that the facets set.

use castile_datatypes::Scope;
use castile_datatypes::facets::SimpleTypeDefinition;

use super::pattern;
use crate::components::{Facet, FacetKind, Variety};
use crate::definition::pattern_cost;
use crate::{Builtin, ExpandedName, Schema, TypeId, XSD_NAMESPACE};

/// Maximum number of values of a type.
const VALUES_PER_TYPE: usize = 24;
/// Maximum number of candidates that are validated.
const CANDIDATES: usize = 1_000;
/// Maximum cost of matching candidates against the patterns of a type: the length in bytes, multiplied by the pattern
/// cost.
const MAX_MATCHING_COST: u64 = 20_000_000;
/// Maximum number of texts generated for a pattern.
const VARIANTS: u32 = 40;
/// Maximum nesting depth of lists and unions that are visited.
const MAX_DEPTH: usize = 16;
/// Maximum length in characters of a text generated for a length facet.
const MAX_LENGTH: usize = 4096;

/// A text, or a name that is written with a prefix in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Plain(String),
    Name(ExpandedName),
}

impl Text {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Text::Plain(text) if text.is_empty())
    }
}

/// Returns distinct valid values of a simple type, and the number of steps taken. There are no values if none was found
/// that the facets allow.
pub(super) fn values(schema: &Schema, type_id: TypeId) -> (Vec<Text>, usize) {
    if matches!(schema.builtin(type_id), Builtin::QName | Builtin::Notation) {
        let names = schema.enumeration(type_id).into_iter().filter_map(Facet::name);
        let names: Vec<Text> = names.map(Text::Name).collect();
        if !names.is_empty() {
            return (names, 0);
        }
        // A name in no namespace is avoided, because it can't be written where a default namespace is declared.
        if schema.facets(type_id).is_empty() {
            let names = [("urn:sample", "sample"), (XSD_NAMESPACE, "string")];
            return (names.map(|(namespace, local)| Text::Name(ExpandedName::new(namespace, local))).into(), 0);
        }
    }
    let Ok(definition) = schema.simple_type_definition(type_id) else { return (Vec::new(), 0) };
    let mut found: Vec<Text> = Vec::new();
    let mut matching = Matching::new(schema, type_id);
    for candidate in candidates(schema, type_id, &definition, 0).into_iter().take(CANDIDATES) {
        if !matching.may_try(&candidate) {
            continue;
        }
        let text = Text::Plain(candidate);
        if let Text::Plain(plain) = &text
            && !found.contains(&text)
            && definition.read(plain, &Unprefixed).is_ok()
        {
            found.push(text);
            if found.len() == VALUES_PER_TYPE {
                break;
            }
        }
    }
    // A unit of matching cost is much less than a step.
    (found, usize::try_from(matching.done / 100).unwrap_or(usize::MAX))
}

/// Limits the work of matching texts against the patterns of a type. A pattern with counted repetitions may examine
/// that many states per character.
struct Matching {
    cost: u64,
    done: u64,
}

impl Matching {
    fn new(schema: &Schema, type_id: TypeId) -> Self {
        let members = match variety(schema, type_id) {
            Variety::Union { members } => members,
            Variety::List { item } => vec![item],
            Variety::Atomic => Vec::new(),
        };
        let types = members.into_iter().chain([type_id]);
        let patterns = types.flat_map(|id| schema.patterns(id)).flatten();
        Matching { cost: patterns.map(pattern_cost).fold(0, u64::saturating_add), done: 0 }
    }

    fn may_try(&mut self, text: &str) -> bool {
        let done = self.done.saturating_add(self.cost.saturating_mul(text.len() as u64));
        let may_try = done <= MAX_MATCHING_COST;
        if may_try {
            self.done = done;
        }
        may_try
    }
}

/// Returns a text similar to `text`, valid or not, a different one for each number.
pub(super) fn further(text: &str, number: usize) -> String {
    const FORMS: usize = 5;
    let (form, number) = (number % FORMS, number / FORMS + 2);
    match form {
        0 if text.is_empty() => number.to_string(),
        0 => format!("{text} {number}"),
        1 => format!("{text}-{number}"),
        2 => number.to_string(),
        // Replaces trailing digits, or letters, with the number.
        3 => replaced(text, number, 10, |c| c.is_ascii_digit(), |digit, _| (b'0' + digit).into()),
        _ => replaced(
            text,
            number,
            26,
            |c| c.is_ascii_alphabetic(),
            |letter, old| {
                let first = if old.is_ascii_uppercase() { b'A' } else { b'a' };
                (first + letter).into()
            },
        ),
    }
}

/// Replaces the trailing characters of a kind with the number, using as many digits as there are characters.
fn replaced(
    text: &str,
    mut number: usize,
    base: usize,
    is_digit: impl Fn(char) -> bool,
    digit: impl Fn(u8, char) -> char,
) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for place in chars.iter_mut().rev().filter(|c| is_digit(**c)) {
        *place = digit((number % base) as u8, *place);
        number /= base;
        if number == 0 {
            break;
        }
    }
    chars.into_iter().collect()
}

/// Returns candidates for values, the most significant first.
fn candidates(schema: &Schema, type_id: TypeId, definition: &SimpleTypeDefinition, depth: usize) -> Vec<String> {
    let facets = schema.facets(type_id);
    let of = |kind: FacetKind| facets.iter().filter(move |facet| facet.kind == kind).map(|facet| facet.value.clone());
    let enumeration: Vec<String> = of(FacetKind::Enumeration).collect();
    if !enumeration.is_empty() || depth == MAX_DEPTH {
        return enumeration;
    }
    let number = |kind: FacetKind| of(kind).next().and_then(|value| value.trim().parse::<usize>().ok());
    let length = number(FacetKind::Length);
    let (least, most) = (length.or(number(FacetKind::MinLength)), length.or(number(FacetKind::MaxLength)));
    let lengths = || [least, most].into_iter().flatten().filter(|&length| length <= MAX_LENGTH);

    let mut candidates = Vec::new();
    for pattern in definition.patterns().rev() {
        candidates.extend(pattern::texts(pattern.regex(), 0..VARIANTS));
    }
    let of_type = |inner: TypeId| match schema.simple_type_definition(inner) {
        Ok(definition) => candidates_of(schema, inner, &definition, depth + 1),
        Err(_) => Vec::new(),
    };
    match variety(schema, type_id) {
        Variety::List { item } => {
            let items = of_type(item);
            let list = |length: usize| -> Option<String> {
                let words: Vec<&str> = items.iter().map(String::as_str).cycle().take(length).collect();
                (words.len() == length).then(|| words.join(" "))
            };
            candidates.extend(lengths().chain([2, 1, 0, 5]).filter_map(list));
        }
        Variety::Union { members } => candidates.extend(members.into_iter().flat_map(of_type).take(CANDIDATES)),
        Variety::Atomic => {
            let builtin = schema.builtin(type_id);
            candidates.extend(bounds(&facets));
            candidates.extend(usual(builtin).iter().map(|&text| text.to_owned()));
            candidates.extend(lengths().flat_map(|length| of_length(builtin, length)));
            let digits = number(FacetKind::TotalDigits).filter(|&digits| digits <= MAX_LENGTH);
            candidates.extend(digits.map(|digits| "9".repeat(digits)));
            let fraction = number(FacetKind::FractionDigits).filter(|&digits| (1..=MAX_LENGTH).contains(&digits));
            candidates.extend(fraction.map(|digits| format!("0.{}", "1".repeat(digits))));
        }
    }
    candidates
}

/// Returns the valid candidates, to make lists and unions from them.
fn candidates_of(schema: &Schema, type_id: TypeId, definition: &SimpleTypeDefinition, depth: usize) -> Vec<String> {
    let mut valid = candidates(schema, type_id, definition, depth);
    valid.truncate(CANDIDATES);
    let mut matching = Matching::new(schema, type_id);
    valid.retain(|text| matching.may_try(text) && definition.read(text, &Unprefixed).is_ok());
    valid.truncate(VALUES_PER_TYPE);
    valid
}

fn variety(schema: &Schema, type_id: TypeId) -> Variety {
    match (schema[type_id].as_simple(), type_id.builtin()) {
        (_, Some(builtin)) => builtin.variety(),
        (Some(simple), None) => simple.variety.clone(),
        (None, None) => Variety::Atomic,
    }
}

/// Returns the inclusive bounds, and the values next to exclusive bounds.
fn bounds(facets: &[&Facet]) -> Vec<String> {
    let next_to = |value: &str, step: i8| match value.parse::<i128>() {
        Ok(number) => number.checked_add(step.into()).map(|number| number.to_string()),
        Err(_) => value.parse::<f64>().ok().map(|number| (number + f64::from(step) / 2.0).to_string()),
    };
    let bound = |facet: &&Facet| match facet.kind {
        FacetKind::MinInclusive | FacetKind::MaxInclusive => Some(facet.value.clone()),
        FacetKind::MinExclusive => next_to(facet.value.trim(), 1),
        FacetKind::MaxExclusive => next_to(facet.value.trim(), -1),
        _ => None,
    };
    facets.iter().filter_map(bound).collect()
}

/// Returns plausible values.
fn usual(builtin: Builtin) -> &'static [&'static str] {
    use Builtin as B;
    match builtin {
        B::Boolean => &["true", "false", "1", "0"],
        B::Decimal => &["12.5", "0", "0.5", "-0.01", "123456789012345678901234567890.5", "1"],
        B::Float => &["1.5", "0", "-INF", "NaN", "1E-3"],
        B::Double => &["1.5", "0", "INF", "NaN", "-1.25E300"],
        B::Duration => &["P1Y2M3DT4H5M6.7S", "P0D", "-P1M", "PT36H"],
        B::DateTime => &["2004-02-29T23:59:59Z", "2004-12-31T12:00:00", "1999-01-01T00:00:00.123+14:00"],
        B::Time => &["13:20:00", "00:00:00Z", "23:59:59.999-05:00"],
        B::Date => &["2004-02-29", "1999-12-31Z", "2020-01-01+01:00"],
        B::GYearMonth => &["2004-02", "1999-12Z"],
        B::GYear => &["2004", "1999Z", "-0044"],
        B::GMonthDay => &["--02-29", "--12-31Z"],
        B::GDay => &["---31", "---01Z"],
        B::GMonth => &["--12", "--01Z"],
        B::HexBinary => &["0FB7", "", "00"],
        B::Base64Binary => &["Y2FzdGlsZQ==", "", "AAAA"],
        B::AnyUri => &["urn:sample", "http://example.com/a?b=c#d", ""],
        B::QName | B::Notation | B::Name | B::NcName | B::Nmtoken | B::Entity | B::Idref | B::Id => {
            &["sample", "a-1.b"]
        }
        B::Language => &["en", "pt-BR"],
        B::Nmtokens | B::Idrefs | B::Entities => &["a b", "a"],
        B::Integer => &["42", "0", "-1", "123456789012345678901234567890"],
        B::NonPositiveInteger => &["0", "-42"],
        B::NegativeInteger => &["-1", "-42"],
        B::Long => &["42", "0", "-9223372036854775808", "9223372036854775807"],
        B::Int => &["42", "0", "-2147483648", "2147483647"],
        B::Short => &["42", "0", "-32768", "32767"],
        B::Byte => &["42", "0", "-128", "127"],
        B::NonNegativeInteger => &["42", "0", "123456789012345678901234567890"],
        B::UnsignedLong => &["42", "0", "18446744073709551615"],
        B::UnsignedInt => &["42", "0", "4294967295"],
        B::UnsignedShort => &["42", "0", "65535"],
        B::UnsignedByte => &["42", "0", "255"],
        B::PositiveInteger => &["42", "1"],
        B::Token => &["a sample", "é & <ü>", ""],
        B::NormalizedString => &["a sample", " é & <ü> ", ""],
        B::String | B::AnySimpleType | B::AnyType => &["a sample", " é & <ü>\n ]]> ", ""],
    }
}

/// Returns texts with this length in characters, bytes or items.
fn of_length(builtin: Builtin, length: usize) -> Vec<String> {
    match builtin.primitive() {
        Builtin::HexBinary => vec!["A0".repeat(length)],
        Builtin::Base64Binary => {
            // Three bytes are four characters; the last ones are padded.
            let mut text = "AAAA".repeat(length / 3);
            text.push_str(["", "AA==", "AAA="][length % 3]);
            vec![text]
        }
        _ => vec!["a".repeat(length), "1".repeat(length)],
    }
}

/// A scope in which names have no prefix and are in no namespace.
pub(super) struct Unprefixed;

impl Scope for Unprefixed {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        prefix.is_empty().then_some("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Documents;

    /// Matching forty texts against such a pattern took seconds for each type and message.
    #[test]
    fn few_texts_are_held_against_a_pattern_that_counts() {
        for (pattern, least, most) in
            [("[ab]*a[ab]{4000}", 1, 1), ("[ab]*a[ab]{40000}", 0, 0), ("[a-z]{2,4}", 3, VALUES_PER_TYPE)]
        {
            let text = format!(
                "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:simpleType name='T'>\
                 <xs:restriction base='xs:string'><xs:pattern value='{pattern}'/></xs:restriction></xs:simpleType></xs:schema>"
            );
            let schema = crate::read("t.xsd", &Documents::new().with("t.xsd", text)).0;
            let type_id = schema.find_type(&ExpandedName::new("", "T")).unwrap();
            let (found, steps) = values(&schema, type_id);
            assert!((least..=most).contains(&found.len()), "{pattern}: {} values", found.len());
            assert!(steps <= 200_000, "{pattern}: {steps} steps");
        }
    }
}
