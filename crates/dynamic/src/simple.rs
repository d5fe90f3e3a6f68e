//! Simple types: parsing, facets, and writing.

use std::any::Any;
use std::cmp::Ordering;
use std::fmt;

use castile_databinding::datatypes::{
    AnyUri, Base64Binary, Datatype, Date, DateTime, Decimal, Duration, Entities, Entity, GDay, GMonth, GMonthDay,
    GYear, GYearMonth, HexBinary, Id, Idref, Idrefs, Integer, Invalid, Language, Name, NcName, NegativeInteger,
    Nmtoken, Nmtokens, NonNegativeInteger, NonPositiveInteger, NormalizedString, Notation, PositiveInteger, Prefixes,
    QName, Scope, Time, Token, Unscoped, Value, WhiteSpace, text_of,
};
use castile_databinding::facets::{Check, Digits, FacetValue, Facets, Length, not_listed};
use castile_databinding::schema::{Element, TypeName, XSD_NAMESPACE};
use castile_databinding::{Decoder, Encoder, Error, FromXml, Lexical, datatypes, deeper};

/// A simple type.
pub(crate) struct SimpleType {
    /// The name for error messages.
    pub(crate) name: &'static str,
    pub(crate) kind: SimpleTypeKind,
    /// Whether values are or contain qualified names.
    pub(crate) has_names: bool,
    /// Whether values are or may be lists.
    pub(crate) has_lists: bool,
    /// Whether values are or may be binary floating-point numbers.
    pub(crate) is_binary_number: bool,
    /// Approximate number of types and restrictions that are tried to read a text.
    pub(crate) size: usize,
}

#[derive(Debug)]
pub(crate) enum SimpleTypeKind {
    Datatype(Datatype),
    List(&'static SimpleType),
    Enumeration { listed: Listed, white_space: WhiteSpace, is_strict: bool },
    Union { members: Vec<Member>, has_facets: bool },
}

/// The values of an enumeration.
#[derive(Debug)]
pub(crate) struct Listed {
    /// The values as in the contract, for error messages.
    pub(crate) values: Vec<&'static str>,
    /// The sorted values for lookups, since there may be thousands and each item of a list is looked up.
    sorted: Vec<&'static str>,
}

impl Listed {
    pub(crate) fn new(values: Vec<&'static str>) -> Self {
        let mut sorted = values.clone();
        sorted.sort_unstable();
        Self { values, sorted }
    }

    fn contains(&self, text: &str) -> bool {
        self.sorted.binary_search(&text).is_ok()
    }
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) of: &'static SimpleType,
    pub(crate) facets: Option<&'static Restriction>,
}

/// Checking this many enumeration values takes as long as trying one type.
const LISTED: usize = 100;

/// It isn't derived, because a type may contain itself.
impl fmt::Debug for SimpleType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SimpleType").field(&self.name).finish()
    }
}

/// Expands to an expression for the Rust type of a built-in type, whose values are converted to those of the run-time
/// type.
macro_rules! by_datatype {
    ($datatype:expr, $type:ident, $value:ident => $work:expr) => {
        match $datatype {
            Datatype::AnySimpleType | Datatype::String => by_datatype!(@ String, Value::String, $type, $value, $work),
            Datatype::Boolean => by_datatype!(@ bool, Value::Boolean, $type, $value, $work),
            Datatype::Decimal => by_datatype!(@ Decimal, Value::Decimal, $type, $value, $work),
            Datatype::Float => by_datatype!(@ f32, Value::Float, $type, $value, $work),
            Datatype::Double => by_datatype!(@ f64, Value::Double, $type, $value, $work),
            Datatype::Duration => by_datatype!(@ Duration, Value::Duration, $type, $value, $work),
            Datatype::DateTime => by_datatype!(@ DateTime, Value::DateTime, $type, $value, $work),
            Datatype::Time => by_datatype!(@ Time, Value::Time, $type, $value, $work),
            Datatype::Date => by_datatype!(@ Date, Value::Date, $type, $value, $work),
            Datatype::GYearMonth => by_datatype!(@ GYearMonth, Value::GYearMonth, $type, $value, $work),
            Datatype::GYear => by_datatype!(@ GYear, Value::GYear, $type, $value, $work),
            Datatype::GMonthDay => by_datatype!(@ GMonthDay, Value::GMonthDay, $type, $value, $work),
            Datatype::GDay => by_datatype!(@ GDay, Value::GDay, $type, $value, $work),
            Datatype::GMonth => by_datatype!(@ GMonth, Value::GMonth, $type, $value, $work),
            Datatype::HexBinary => by_datatype!(@ HexBinary, Value::HexBinary, $type, $value, $work),
            Datatype::Base64Binary => by_datatype!(@ Base64Binary, Value::Base64Binary, $type, $value, $work),
            Datatype::AnyUri => by_datatype!(@ AnyUri, Value::AnyUri, $type, $value, $work),
            Datatype::QName => by_datatype!(@ QName, Value::QName, $type, $value, $work),
            Datatype::Notation => by_datatype!(@ Notation, Value::Notation, $type, $value, $work),
            Datatype::NormalizedString => by_datatype!(@ NormalizedString, string, $type, $value, $work),
            Datatype::Token => by_datatype!(@ Token, string, $type, $value, $work),
            Datatype::Language => by_datatype!(@ Language, string, $type, $value, $work),
            Datatype::Nmtoken => by_datatype!(@ Nmtoken, string, $type, $value, $work),
            Datatype::Nmtokens => by_datatype!(@ Nmtokens, strings, $type, $value, $work),
            Datatype::Name => by_datatype!(@ Name, string, $type, $value, $work),
            Datatype::NcName => by_datatype!(@ NcName, string, $type, $value, $work),
            Datatype::Id => by_datatype!(@ Id, string, $type, $value, $work),
            Datatype::Idref => by_datatype!(@ Idref, string, $type, $value, $work),
            Datatype::Idrefs => by_datatype!(@ Idrefs, strings, $type, $value, $work),
            Datatype::Entity => by_datatype!(@ Entity, string, $type, $value, $work),
            Datatype::Entities => by_datatype!(@ Entities, strings, $type, $value, $work),
            Datatype::Integer => by_datatype!(@ Integer, decimal, $type, $value, $work),
            Datatype::NonPositiveInteger => by_datatype!(@ NonPositiveInteger, decimal, $type, $value, $work),
            Datatype::NegativeInteger => by_datatype!(@ NegativeInteger, decimal, $type, $value, $work),
            Datatype::Long => by_datatype!(@ i64, decimal, $type, $value, $work),
            Datatype::Int => by_datatype!(@ i32, decimal, $type, $value, $work),
            Datatype::Short => by_datatype!(@ i16, decimal, $type, $value, $work),
            Datatype::Byte => by_datatype!(@ i8, decimal, $type, $value, $work),
            Datatype::NonNegativeInteger => by_datatype!(@ NonNegativeInteger, decimal, $type, $value, $work),
            Datatype::UnsignedLong => by_datatype!(@ u64, decimal, $type, $value, $work),
            Datatype::UnsignedInt => by_datatype!(@ u32, decimal, $type, $value, $work),
            Datatype::UnsignedShort => by_datatype!(@ u16, decimal, $type, $value, $work),
            Datatype::UnsignedByte => by_datatype!(@ u8, decimal, $type, $value, $work),
            Datatype::PositiveInteger => by_datatype!(@ PositiveInteger, decimal, $type, $value, $work),
        }
    };
    (@ $rust:ty, $made:expr, $type:ident, $value:ident, $work:expr) => {{
        #[allow(dead_code, reason = "not all work needs both")]
        type $type = $rust;
        #[allow(unused_variables, reason = "not all work needs both")]
        let $value = |value: $rust| $made(value);
        $work
    }};
}

/// Expands to an expression for the value's Rust type.
macro_rules! by_value {
    ($value:expr, $inner:ident => $work:expr, $items:ident => $list:expr) => {
        match $value {
            Value::String($inner) => $work,
            Value::Boolean($inner) => $work,
            Value::Decimal($inner) => $work,
            Value::Float($inner) => $work,
            Value::Double($inner) => $work,
            Value::Duration($inner) => $work,
            Value::DateTime($inner) => $work,
            Value::Time($inner) => $work,
            Value::Date($inner) => $work,
            Value::GYearMonth($inner) => $work,
            Value::GYear($inner) => $work,
            Value::GMonthDay($inner) => $work,
            Value::GDay($inner) => $work,
            Value::GMonth($inner) => $work,
            Value::HexBinary($inner) => $work,
            Value::Base64Binary($inner) => $work,
            Value::AnyUri($inner) => $work,
            Value::QName($inner) => $work,
            Value::Notation($inner) => $work,
            Value::List($items) => $list,
        }
    };
}

fn decimal(value: impl Into<Integer>) -> Value {
    Value::Decimal(Decimal::from(value.into()))
}

fn string(value: impl Into<String>) -> Value {
    Value::String(value.into())
}

fn strings<T: Into<String>>(datatypes::List(items): datatypes::List<T, 1>) -> Value {
    Value::List(items.into_iter().map(string).collect())
}

impl SimpleType {
    /// Creates a built-in type.
    pub(crate) fn built_in(datatype: Datatype) -> Self {
        let name = by_datatype!(datatype, T, value => <T as datatypes::SimpleType>::NAME);
        let has_names = by_datatype!(datatype, T, value => <T as datatypes::SimpleType>::HAS_NAMES);
        SimpleType::new(name, SimpleTypeKind::Datatype(datatype), has_names)
    }

    pub(crate) fn new(name: &'static str, kind: SimpleTypeKind, has_names: bool) -> Self {
        let (has_lists, is_binary_number, size) = match &kind {
            SimpleTypeKind::Datatype(datatype) => {
                let is_list = matches!(datatype, Datatype::Nmtokens | Datatype::Idrefs | Datatype::Entities);
                (is_list, matches!(datatype, Datatype::Float | Datatype::Double), 1)
            }
            SimpleTypeKind::List(item) => (true, false, item.size.saturating_add(1)),
            SimpleTypeKind::Enumeration { listed, .. } => (false, false, 1 + listed.values.len() / LISTED),
            SimpleTypeKind::Union { members, .. } => {
                let sizes = members
                    .iter()
                    .map(|Member { of, facets }| of.size.saturating_add(facets.map_or(0, |facets| facets.size)));
                (
                    members.iter().any(|member| member.of.has_lists),
                    members.iter().any(|member| member.of.is_binary_number),
                    sizes.fold(1, usize::saturating_add),
                )
            }
        };
        SimpleType { name, kind, has_names, has_lists, is_binary_number, size }
    }

    /// Returns the name of the type in `xsi:type`, if it is a built-in type.
    pub(crate) fn type_name(&self) -> Option<TypeName> {
        self.name.strip_prefix("xs:").map(|name| TypeName::new(XSD_NAMESPACE, name))
    }

    /// Reads an element of this type if its tags are cached.
    pub(crate) fn cached(&self, decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Value, Error>> {
        match self.kind {
            SimpleTypeKind::Datatype(datatype) if !self.has_names && element.facets.is_none() => {
                by_datatype!(datatype, T, made => <T as FromXml>::cached(decoder, element).map(|value| value.map(made)))
            }
            _ => None,
        }
    }

    /// Reads the content and the end tag of an element.
    pub(crate) fn read(
        &self,
        decoder: &mut Decoder<'_>,
        element: &'static Element,
        facets: Option<&'static dyn Check>,
    ) -> Result<Value, Error> {
        match self.kind {
            // The bytes may be in an attachment.
            SimpleTypeKind::Datatype(Datatype::Base64Binary) => {
                let value = match facets {
                    None => decoder.simple(element),
                    Some(facets) => decoder.restricted(element, facets),
                };
                value.map(Value::Base64Binary)
            }
            SimpleTypeKind::Datatype(datatype) if !self.has_names && facets.is_none() => {
                by_datatype!(datatype, T, made => decoder.simple::<T>(element).map(made))
            }
            _ => decoder.simple_of_run_time(element, &self, facets),
        }
    }

    /// Returns true if a value is in the enumeration, or if there is none.
    fn lists(&self, value: &Value) -> bool {
        match (&self.kind, value) {
            (SimpleTypeKind::Enumeration { listed, .. }, Value::String(text)) => listed.contains(text),
            _ => true,
        }
    }

    /// Checks that a readable text is in the enumeration, if there is one. A type that isn't strict can also read other
    /// texts.
    pub(crate) fn check_listed(&self, text: &str) -> Result<(), Option<String>> {
        match &self.kind {
            // Enumerations of texts contain no qualified names, and names in braces would not match.
            _ if self.has_names => Ok(()),
            SimpleTypeKind::Datatype(_) => Ok(()),
            SimpleTypeKind::List(item) => {
                let said = |word, problem| Some(Invalid::text(word, item.name, problem).message().to_owned());
                words(text).try_for_each(|word| item.check_listed(word).map_err(|problem| said(word, problem)))
            }
            SimpleTypeKind::Enumeration { listed, white_space, .. } => {
                match listed.contains(&white_space.normalise(text)) {
                    true => Ok(()),
                    false => Err(Some(not_listed(&listed.values))),
                }
            }
            SimpleTypeKind::Union { members, .. } => {
                let takes = |Member { of, facets }: &Member| {
                    let value = of.parse_in(text, &Unscoped);
                    value.is_ok_and(|value| facets.is_none_or(|facets| facets.check(text, &value).is_ok()))
                        && of.check_listed(text).is_ok()
                };
                if deeper::<Value, _>(|| members.iter().any(takes)) { Ok(()) } else { Err(None) }
            }
        }
    }
}

impl Lexical<Value> for &SimpleType {
    fn name(&self) -> &'static str {
        self.name
    }

    fn has_names(&self) -> bool {
        self.has_names
    }

    fn heap_size(&self, text: &str) -> usize {
        match &self.kind {
            SimpleTypeKind::Datatype(datatype) => {
                by_datatype!(*datatype, T, value => <T as datatypes::SimpleType>::heap_size(text))
            }
            SimpleTypeKind::List(item) => {
                let each = |word| 2 * size_of::<Value>() + item.heap_size(word);
                text.split_ascii_whitespace().map(each).sum()
            }
            SimpleTypeKind::Enumeration { .. } => 0,
            SimpleTypeKind::Union { members, .. } => {
                let of_members = || members.iter().map(|member| member.of.heap_size(text)).max();
                deeper::<Value, _>(of_members).unwrap_or_default()
            }
        }
    }

    fn parse_in(&self, text: &str, scope: &dyn Scope) -> Result<Value, Option<String>> {
        match &self.kind {
            SimpleTypeKind::Datatype(datatype) => datatype.parse(text, scope),
            SimpleTypeKind::List(item) => {
                let read = |word| {
                    let said = |problem| Some(Invalid::text(word, item.name, problem).message().to_owned());
                    item.parse_in(word, scope).map_err(said)
                };
                words(text).map(read).collect::<Result<_, _>>().map(Value::List)
            }
            SimpleTypeKind::Enumeration { listed, white_space, is_strict } => {
                let text = white_space.normalise(text);
                if *is_strict && !listed.contains(&text) {
                    return Err(Some(not_listed(&listed.values)));
                }
                Ok(Value::String(text.into_owned()))
            }
            SimpleTypeKind::Union { members, .. } => {
                let last = members.len().saturating_sub(1);
                let mut members = members.iter().enumerate();
                let first = || {
                    members.find_map(|(index, Member { of, facets })| {
                        let value = of.parse_in(text, scope).ok()?;
                        let is_listed = index == last || of.lists(&value);
                        let is_allowed = facets.is_none_or(|facets| facets.check(text, &value).is_ok());
                        (is_listed && is_allowed).then_some(value)
                    })
                };
                deeper::<Value, _>(first).ok_or(None)
            }
        }
    }

    fn parse_beyond_facets(&self, text: &str) -> Option<Value> {
        match &self.kind {
            SimpleTypeKind::Datatype(_) => None,
            SimpleTypeKind::List(item) => {
                let read = |word| item.parse_in(word, &Unscoped).ok().or_else(|| item.parse_beyond_facets(word));
                words(text).map(read).collect::<Option<_>>().map(Value::List)
            }
            SimpleTypeKind::Enumeration { white_space, is_strict, .. } => {
                is_strict.then(|| Value::String(white_space.normalise(text).into_owned()))
            }
            SimpleTypeKind::Union { members, has_facets } => {
                let allowed = || members.iter().find_map(|member| member.of.parse_in(text, &Unscoped).ok());
                let beyond = || members.iter().find_map(|member| member.of.parse_beyond_facets(text));
                has_facets.then(|| deeper::<Value, _>(|| allowed().or_else(beyond))).flatten()
            }
        }
    }

    fn is_fixed(&self, value: &Value, fixed: &str) -> bool {
        self.has_names || self.parse_in(fixed, &Unscoped).is_ok_and(|fixed| fixed == *value)
    }
}

/// Splits a text at white space.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\t', '\n', '\r']).filter(|word| !word.is_empty())
}

// ---- facets ----

/// Constraints on a value in addition to its type.
pub(crate) struct Restriction {
    pub(crate) name: &'static str,
    pub(crate) of: &'static SimpleType,
    pub(crate) rule: Rule,
    /// Approximate number of types and restrictions that are tried, as for a type.
    pub(crate) size: usize,
}

#[derive(Debug)]
pub(crate) enum Rule {
    Facets { facets: Box<Facets<FacetedValue>>, before: Option<&'static Restriction> },
    Items(&'static Restriction),
    AnyOf(Vec<&'static Restriction>),
}

impl Restriction {
    pub(crate) fn new(name: &'static str, of: &'static SimpleType, rule: Rule) -> Self {
        let sizes = match &rule {
            Rule::Facets { facets, before } => {
                let own = facets.patterns.len() + facets.enumeration.len() / LISTED;
                before.map_or(0, |before| before.size).saturating_add(own)
            }
            Rule::Items(item) => item.size,
            Rule::AnyOf(members) => members.iter().map(|member| member.size).fold(0, usize::saturating_add),
        };
        let size = of.size.saturating_add(sizes).saturating_add(1);
        Restriction { name, of, rule, size }
    }
}

/// It isn't derived, because a restriction may refer to many others.
impl fmt::Debug for Restriction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Restriction").field(&self.name).finish()
    }
}

/// A value as seen by facets. For a union, facets only compare values for equality.
#[derive(Clone, Debug)]
pub(crate) enum FacetedValue {
    Value(Value),
    OfUnion(Value),
}

impl FacetedValue {
    pub(crate) fn new(value: Value, of: &SimpleType) -> Self {
        if matches!(of.kind, SimpleTypeKind::Union { .. }) {
            FacetedValue::OfUnion(value)
        } else {
            FacetedValue::Value(value)
        }
    }
}

impl FacetValue for FacetedValue {
    fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (FacetedValue::Value(one), FacetedValue::Value(other)) => one.compare(other),
            (FacetedValue::OfUnion(one), FacetedValue::OfUnion(other)) => (one == other).then_some(Ordering::Equal),
            _ => None,
        }
    }

    fn shown(&self) -> String {
        self.to_string()
    }

    fn length(&self) -> Option<Length> {
        if let FacetedValue::Value(value) = self { value.length() } else { None }
    }

    fn digits(&self) -> Option<Digits> {
        if let FacetedValue::Value(value) = self { value.digits() } else { None }
    }
}

impl fmt::Display for FacetedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FacetedValue::Value(value) => value.fmt(f),
            FacetedValue::OfUnion(value) => {
                by_value!(value, value => f.write_str(&text_of(value)), items => match has_names(items) {
                    false => f.write_str(&text_of(&Items::<false>(items.clone()))),
                    true => f.write_str(&text_of(&Items::<true>(items.clone()))),
                })
            }
        }
    }
}

impl Check for Restriction {
    fn check(&self, text: &str, value: &dyn Any) -> Result<(), Invalid> {
        let of_binary;
        let value = match (value.downcast_ref::<Value>(), value.downcast_ref::<Base64Binary>()) {
            (Some(value), _) => value,
            (None, Some(binary)) => {
                of_binary = Value::Base64Binary(binary.clone());
                &of_binary
            }
            (None, None) => return self.check_text(text),
        };
        deeper::<Value, _>(|| self.check_value(text, value))
    }

    fn check_text(&self, text: &str) -> Result<(), Invalid> {
        if let Rule::AnyOf(members) = &self.rule {
            let is_taken = || members.iter().any(|member| member.check_text(text).is_ok());
            return match deeper::<Value, _>(is_taken) {
                true => Ok(()),
                false => Err(Invalid::text(text, self.name, None)),
            };
        }
        let value = self.of.parse_in(text, &Unscoped).map_err(|problem| Invalid::text(text, self.name, problem))?;
        self.check(text, &value)
    }
}

impl Restriction {
    fn check_value(&self, text: &str, value: &Value) -> Result<(), Invalid> {
        let Restriction { name, of, rule, .. } = self;
        match rule {
            Rule::Facets { facets, before } => {
                if let Some(before) = before {
                    before.check(text, value)?;
                }
                let normal = facets.white_space.normalise(text);
                // The type may keep white space that the facet `whiteSpace` removes.
                let is_same = *normal == *text || of.has_names;
                let changed = if is_same { None } else { of.parse_in(&normal, &Unscoped).ok() };
                let seen = FacetedValue::new(changed.unwrap_or_else(|| value.clone()), of);
                let checked = facets.check(&normal, &seen);
                checked.map_err(|problem| Invalid::text(text, name, Some(problem)))
            }
            Rule::Items(item) => {
                let Value::List(items) = value else { return Ok(()) };
                let checked = words(text).zip(items).try_for_each(|(text, value)| item.check(text, value));
                checked.map_err(|problem| Invalid::text(text, name, Some(problem.message().to_owned())))
            }
            Rule::AnyOf(_) => self.check_text(text),
        }
    }
}

/// Prefixes with their namespaces.
pub(crate) struct Declared<'d>(pub(crate) &'d [(String, String)]);

impl Scope for Declared<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        let (_, namespace) = self.0.iter().find(|(known, _)| known == prefix)?;
        Some(namespace)
    }
}

// ---- writing ----

/// Writes a value as the text of an element, directly after its start tag.
pub(crate) fn write(value: &Value, out: &mut Encoder) {
    by_value!(value, value => out.simple(value), items => match has_names(items) {
        false => out.simple(&Items::<false>(items.clone())),
        true => out.simple(&Items::<true>(items.clone())),
    });
}

/// Writes a value as an attribute.
pub(crate) fn write_attribute(name: &str, value: &Value, out: &mut Encoder) {
    by_value!(value, value => out.attribute(name, value), items => match has_names(items) {
        false => out.attribute(name, &Items::<false>(items.clone())),
        true => out.attribute(name, &Items::<true>(items.clone())),
    });
}

fn has_names(items: &[Value]) -> bool {
    items.iter().any(|item| matches!(item, Value::QName(_) | Value::Notation(_)))
}

/// The items of a list, for writing.
#[derive(PartialEq)]
struct Items<const HAS_NAMES: bool>(Vec<Value>);

impl<const HAS_NAMES: bool> Items<HAS_NAMES> {
    /// Writes the items separated by spaces. Returns false if an item is empty or contains white space, because it
    /// could not be read back.
    fn write_items(&self, out: &mut Vec<u8>, mut write: impl FnMut(&Value, &mut Vec<u8>) -> bool) -> bool {
        let mut fine = true;
        for (index, item) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(b' ');
            }
            let start = out.len();
            fine &= write(item, out);
            let text = &out[start..];
            fine &= !text.is_empty() && !text.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'\n'));
            fine &= !text.windows(5).any(|part| part == b"&#xD;");
        }
        fine
    }
}

impl<const HAS_NAMES: bool> datatypes::SimpleType for Items<HAS_NAMES> {
    const NAME: &'static str = "list";
    const HAS_NAMES: bool = HAS_NAMES;

    fn parse(_: &str) -> Result<Self, Option<String>> {
        Err(None)
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.write_items(out, |item, out| by_value!(item, item => item.write(out), _items => false))
    }

    fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
        self.write_items(out, |item, out| by_value!(item, item => item.write_in(out, prefixes), _items => false))
    }
}
