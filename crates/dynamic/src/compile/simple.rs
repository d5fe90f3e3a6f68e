//! Makes simple types and what restricts them.

use castile_databinding::Lexical;
use castile_databinding::datatypes::{Datatype, QName, Unscoped, Value, WhiteSpace};
use castile_databinding::facets::{Check, Facets, Pattern};
use castile_databinding::schema::SimpleTypes;
use castile_plan::plan::{self, Item, Path};

use super::Maker;
use crate::leak::{leak, leak_all};
use crate::simple::{Declared, FacetedValue, Listed, Member, Restriction, Rule, SimpleType, SimpleTypeKind};

// Limits for plans that are read from a file, which may contain anything. Plans of contracts stay below them.

/// Maximum number of types and restrictions that are tried for a text. They count as often as they are used.
const MAX_TRIED: usize = 10_000;

/// Maximum number of types and restrictions tried for all values in the facets of a type.
const MAX_PARSED: usize = 10_000_000;

impl Maker {
    pub(super) fn simple(&mut self, base: &plan::Base) -> &'static SimpleType {
        if let Some(known) = self.made.simple.get(base) {
            return known;
        }
        // While a type is being made, a reference to itself leads to the type for text.
        let text = self.types.text;
        self.made.simple.insert(base.clone(), text);
        let made = match base {
            plan::Base::Primitive(name) | plan::Base::Datatype(name) => Some(SimpleType::built_in(datatype(name))),
            plan::Base::List(item) => {
                // A list can't contain lists (XML Schema Part 1 §3.14.6), but a plan from a file may have them.
                let item = match **item {
                    plan::Base::List(_) => text,
                    _ => self.simple(item),
                };
                let item = if item.has_lists { text } else { item };
                Some(SimpleType::new("list", SimpleTypeKind::List(item), item.has_names))
            }
            plan::Base::Item(path) => match self.types.item(path) {
                Some((_, Item::Enumeration(of))) => Some(self.enumeration(of)),
                Some((_, Item::Union(of))) => self.deeper(|maker| maker.union(of)),
                _ => None,
            },
            // Options for this crate can't name Rust types.
            _ => None,
        };
        let made = made.map_or(text, leak);
        self.made.simple.insert(base.clone(), made);
        made
    }

    fn enumeration(&mut self, of: &'static plan::Enumeration) -> SimpleType {
        let listed = of.variants.iter().map(|variant| variant.value.as_str()).collect();
        let white_space = if of.collapses { WhiteSpace::Collapse } else { WhiteSpace::Preserve };
        let kind = SimpleTypeKind::Enumeration { listed: Listed::new(listed), white_space, is_strict: of.is_strict };
        SimpleType::new(&of.name, kind, false)
    }

    fn union(&mut self, of: &'static plan::Union) -> Option<SimpleType> {
        let members = of
            .members
            .iter()
            .map(|member| Member { of: self.simple(&member.base), facets: self.restriction(member.facets.as_ref()) });
        let kind = SimpleTypeKind::Union { members: members.collect(), has_facets: of.has_facets };
        let made = SimpleType::new(&of.name, kind, of.has_names);
        (made.size <= MAX_TRIED).then_some(made)
    }

    pub(super) fn facets(&mut self, path: Option<&Path>) -> Option<&'static dyn Check> {
        self.restriction(path).map(|known| -> &'static dyn Check { known })
    }

    pub(super) fn restriction(&mut self, path: Option<&Path>) -> Option<&'static Restriction> {
        let (path, item) = self.types.item(path?)?;
        if let Some(known) = self.made.checks.get(path) {
            return *known;
        }
        let Item::Restriction(of) = item else { return None };
        self.made.checks.insert(path, None);
        let made = leak(self.deeper(|maker| maker.make_restriction(of))?);
        self.made.checks.insert(path, Some(made));
        Some(made)
    }

    fn make_restriction(&mut self, of: &'static plan::Restriction) -> Option<Restriction> {
        let base = match (&of.rule, &of.base) {
            (plan::Rule::Items(_), base) if !matches!(base, plan::Base::List(_)) => {
                plan::Base::List(Box::new(base.clone()))
            }
            (_, base) => base.clone(),
        };
        let simple = self.simple(&base);
        let rule = match &of.rule {
            plan::Rule::Facets { facets, of: before } => {
                if facets.iter().map(values).sum::<usize>().saturating_mul(simple.size) > MAX_PARSED {
                    return None;
                }
                let before = self.restriction(before.as_ref());
                Rule::Facets { facets: Box::new(self::facets(facets, simple)), before }
            }
            plan::Rule::Items(item) => Rule::Items(self.restriction(Some(item))?),
            plan::Rule::AnyOf(members) => {
                let members = members.iter().map(|member| self.restriction(Some(member)));
                Rule::AnyOf(members.collect::<Option<_>>()?)
            }
        };
        let made = Restriction::new(&of.name, simple, rule);
        (made.size <= MAX_TRIED).then_some(made)
    }

    pub(super) fn named(&mut self, path: &Path) -> Option<&'static SimpleTypes> {
        let (path, item) = self.types.item(path)?;
        if let Some(known) = self.made.named.get(path) {
            return Some(known);
        }
        let Item::NamedTypes(plan::NamedTypes { name, builtin, of_contract, .. }) = item else { return None };
        let of_contract = of_contract.iter().map(|(namespace, names)| (namespace.as_str(), names.as_str()));
        let of_contract = leak_all(of_contract.collect());
        let made = leak(SimpleTypes::new(name, builtin, of_contract));
        self.made.named.insert(path, made);
        Some(made)
    }
}

/// Returns how many values of a facet are parsed by the type.
fn values(facet: &plan::Facet) -> usize {
    match facet {
        plan::Facet::WhiteSpace(_) | plan::Facet::Number(..) | plan::Facet::Patterns(_) | plan::Facet::Names(_) => 0,
        plan::Facet::Bound(..) => 1,
        plan::Facet::Enumeration(values) => values.len(),
        plan::Facet::Scoped(values) => values.len(),
    }
}

fn facets(facets: &[plan::Facet], of: &'static SimpleType) -> Facets<FacetedValue> {
    let parse = |text: &str| of.parse_in(text, &Unscoped).ok().map(|value| FacetedValue::new(value, of));
    let mut made = Facets::default();
    for facet in facets {
        match facet {
            plan::Facet::WhiteSpace(name) => {
                made.white_space = match *name {
                    "Preserve" => WhiteSpace::Preserve,
                    "Replace" => WhiteSpace::Replace,
                    _ => WhiteSpace::Collapse,
                };
            }
            plan::Facet::Number(field, number) => {
                let field = match *field {
                    "length" => &mut made.length,
                    "min_length" => &mut made.min_length,
                    "max_length" => &mut made.max_length,
                    "total_digits" => &mut made.total_digits,
                    _ => &mut made.fraction_digits,
                };
                *field = Some(*number);
            }
            plan::Facet::Patterns(steps) => {
                let patterns = steps.iter().filter_map(|alternatives| {
                    let alternatives: Vec<&str> = alternatives.iter().map(String::as_str).collect();
                    Pattern::new(&alternatives).ok()
                });
                made.patterns = patterns.collect();
            }
            plan::Facet::Bound(field, text) => {
                let field = match *field {
                    "min_inclusive" => &mut made.min_inclusive,
                    "min_exclusive" => &mut made.min_exclusive,
                    "max_inclusive" => &mut made.max_inclusive,
                    _ => &mut made.max_exclusive,
                };
                *field = parse(text);
            }
            plan::Facet::Enumeration(values) => {
                made.enumeration = values.iter().filter_map(|text| parse(text)).collect();
            }
            plan::Facet::Names(names) => {
                let names = names.iter().filter_map(|(namespace, local)| {
                    QName::new(namespace.as_str(), local).ok().map(|name| FacetedValue::new(name_value(of, name), of))
                });
                made.enumeration = names.collect();
            }
            plan::Facet::Scoped(values) => {
                let values = values.iter().filter_map(|(text, declared)| of.parse_in(text, &Declared(declared)).ok());
                made.enumeration = values.map(|value| FacetedValue::new(value, of)).collect();
            }
        }
    }
    made
}

fn name_value(of: &SimpleType, name: QName) -> Value {
    match of.kind {
        SimpleTypeKind::Datatype(Datatype::Notation) => Value::Notation(name.into()),
        _ => Value::QName(name),
    }
}

/// Returns the built-in type for a Rust type of generated code.
fn datatype(name: &str) -> Datatype {
    match name {
        "bool" => Datatype::Boolean,
        "f32" => Datatype::Float,
        "f64" => Datatype::Double,
        "i8" => Datatype::Byte,
        "i16" => Datatype::Short,
        "i32" => Datatype::Int,
        "i64" => Datatype::Long,
        "u8" => Datatype::UnsignedByte,
        "u16" => Datatype::UnsignedShort,
        "u32" => Datatype::UnsignedInt,
        "u64" => Datatype::UnsignedLong,
        "StreamedBinary" => Datatype::Base64Binary,
        name => {
            let is_it = |datatype: &&Datatype| datatype.name().eq_ignore_ascii_case(name);
            Datatype::ALL.iter().find(is_it).copied().unwrap_or(Datatype::String)
        }
    }
}
