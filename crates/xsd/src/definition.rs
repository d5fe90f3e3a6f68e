//! Simple types in the form that reads values.

use std::collections::HashMap;

use castile_datatypes::facets::{Constraint, SimpleTypeDefinition};
use castile_datatypes::{Datatype, Invalid, Scope, Value, quoted};

use crate::components::{Facet, FacetKind, SimpleType, TypeDefinition, Variety};
use crate::{Builtin, Schema, TypeId};

/// Maximum number of member types of a union, nested ones included. In unions of unions their number grows
/// exponentially.
const MAX_MEMBERS: usize = 10_000;

/// Maximum cost of all patterns of a contract: the number of compiled characters, classes and repetitions. A character
/// that may occur up to 500 times costs 500. Contracts of banks, which have the most patterns, use a tenth of this
/// limit.
const MAX_PATTERN_COST: u64 = 500_000;

/// Maximum cost of reading all values of a contract, such as facets and defaults: bytes of text, multiplied by the
/// number of facets and member types that check them. The most expensive contract of the corpus uses a fifth of this
/// limit.
const MAX_READING_COST: u64 = 50_000_000;

/// The fixed cost of a value, in bytes, in addition to its length.
const COST_OF_VALUE: u64 = 8;

/// A pattern counts as one more reader for each 4 units of its compile cost.
const COST_OF_READER: u64 = 4;

/// Comparing a text with this many enumeration values takes as long as checking another facet.
const VALUES_AT_ONCE: usize = 16;

impl Schema {
    /// Returns a simple type, with everything that it is derived from, in the form that reads values.
    ///
    /// A complex type is treated as `xs:anySimpleType`. For many types, [`SimpleTypes`] is faster.
    ///
    /// # Errors
    /// A facet has an invalid value, for example a pattern that is not a regular expression or a bound that is not of
    /// the type.
    pub fn simple_type_definition(&self, type_id: TypeId) -> Result<SimpleTypeDefinition, Invalid> {
        SimpleTypes::new(self).definition(type_id)
    }
}

/// The simple types of a schema in the form that reads values. Each type is converted once.
#[derive(Debug)]
pub struct SimpleTypes<'s> {
    schema: &'s Schema,
    definitions: Definitions,
}

impl<'s> SimpleTypes<'s> {
    /// Creates a cache without types.
    #[must_use]
    pub fn new(schema: &'s Schema) -> Self {
        Self { schema, definitions: Definitions::default() }
    }

    /// Returns the definition of a simple type. A complex type is treated as `xs:anySimpleType`.
    ///
    /// # Errors
    /// A facet of this type, or of a type that it is made of, has an invalid value. Or the patterns or facet values of
    /// all types so far exceed a cost limit.
    pub fn definition(&mut self, type_id: TypeId) -> Result<SimpleTypeDefinition, Invalid> {
        let made = self.definitions.of(self.schema, type_id);
        match &made.any_problem {
            None => Ok(made.definition.clone()),
            Some(problem) => Err(problem.clone()),
        }
    }

    /// Reads a text of the contract as a value of a simple type. Returns `None` if the texts read so far exceed the
    /// cost limit.
    pub fn read(&mut self, type_id: TypeId, text: &str, scope: &dyn Scope) -> Option<Result<Value, Invalid>> {
        self.definitions.read(self.schema, type_id, text, scope)
    }
}

/// A cache of the definitions of simple types.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    cache: HashMap<TypeId, Compiled>,
    /// The cost of the patterns compiled so far.
    pattern_cost: u64,
    /// The cost of the values read so far.
    reading_cost: u64,
}

/// The definition of a type. If its facets have an error, it reads the values of its base, so that the rest of the
/// contract can be used.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) definition: SimpleTypeDefinition,
    /// The error in its own facets.
    pub(crate) problem: Option<Invalid>,
    /// The error in its facets or in a type that it is made of.
    any_problem: Option<Invalid>,
    /// Whether its facets were not checked, because the cost limit was reached.
    pub(crate) is_unchecked: bool,
    /// Whether its facets, or those of a type that it is made of, were not checked because of the cost limit.
    has_unchecked: bool,
    members: usize,
    /// How many facets and member types check a text, including those of items and members.
    readers: u64,
}

impl Definitions {
    /// Returns the definition of a type; a complex type is treated as `xs:anySimpleType`. It doesn't recurse, because
    /// derivation chains can be long.
    pub(crate) fn of(&mut self, schema: &Schema, type_id: TypeId) -> &Compiled {
        let mut open = vec![type_id];
        while let Some(&id) = open.last() {
            let before = open.len();
            if !self.cache.contains_key(&id) {
                open.extend(parts(schema, id).into_iter().filter(|part| !self.cache.contains_key(part)));
            }
            if open.len() == before {
                open.pop();
                if !self.cache.contains_key(&id) {
                    let mut made = self.make(schema, id);
                    let of_parts = || parts(schema, id).iter().find_map(|part| self.cache[part].any_problem.clone());
                    made.any_problem = made.problem.clone().or_else(of_parts);
                    made.has_unchecked |= parts(schema, id).iter().any(|part| self.cache[part].has_unchecked);
                    self.cache.insert(id, made);
                }
            }
        }
        &self.cache[&type_id]
    }

    /// Creates the definition of a type whose parts are in the cache.
    fn make(&mut self, schema: &Schema, id: TypeId) -> Compiled {
        let Some(simple) = restrictable(schema, id) else {
            return Compiled::of(built_in(id.builtin().unwrap_or(Builtin::AnySimpleType)), 1);
        };
        let name = simple.name.as_ref().map_or("value", |name| name.local());
        if let Err(problem) = self.add_cost(simple, name) {
            let base = self.cache.get(&simple.base);
            let of_base = |base: &Compiled| Compiled {
                members: base.members,
                ..Compiled::of(base.definition.clone(), base.readers)
            };
            let made = base.map_or_else(|| Compiled::of(built_in(Builtin::AnySimpleType), 1), of_base);
            return Compiled { problem: Some(Invalid::new(problem)), is_unchecked: true, has_unchecked: true, ..made };
        }
        let part = |id: &TypeId| &self.cache[id];
        let (made, otherwise, members, readers) = match &simple.variety {
            Variety::List { item } if is_primary(simple) => {
                let item = part(item);
                (SimpleTypeDefinition::list(name, item.definition.clone()), None, item.members, item.readers)
            }
            Variety::Union { members: of } if is_primary(simple) => {
                let members = of.iter().map(|member| part(member).members).sum();
                let readers = of.iter().map(|member| part(member).readers).fold(0, u64::saturating_add);
                let union = match members <= MAX_MEMBERS {
                    true => of.iter().map(|member| part(member).definition.clone()).collect(),
                    false => Vec::new(),
                };
                (SimpleTypeDefinition::union(name, union), None, members, readers)
            }
            _ => {
                let base = part(&simple.base);
                let made = base.definition.restriction(name, &constraints(&simple.facets));
                let readers = base.readers.saturating_add(readers_of(&simple.facets));
                (made, Some(base), base.members, readers)
            }
        };
        let otherwise = || match otherwise {
            Some(base) => Compiled::of(base.definition.clone(), base.readers),
            None => Compiled::of(built_in(Builtin::AnySimpleType), 1),
        };
        match made {
            Ok(_) if members > MAX_MEMBERS => {
                let problem =
                    format!("{name} has more than {MAX_MEMBERS} member types, including those of its members");
                Compiled { problem: Some(Invalid::new(problem)), ..otherwise() }
            }
            Ok(definition) => Compiled { members, ..Compiled::of(definition, readers) },
            Err(problem) => Compiled { problem: Some(problem), members, ..otherwise() },
        }
    }

    /// Adds the cost of the facets of a type.
    ///
    /// # Errors
    /// The facets so far exceed a cost limit.
    fn add_cost(&mut self, simple: &SimpleType, name: &str) -> Result<(), String> {
        if simple.facets.is_empty() {
            return Ok(());
        }
        let patterns = simple.facets.iter().filter(|facet| facet.kind == FacetKind::Pattern);
        let cost = patterns.map(|facet| pattern_cost(&facet.value)).fold(0, u64::saturating_add);
        if cost > MAX_PATTERN_COST - self.pattern_cost {
            return Err(format!("the patterns up to that of {name} cost more than {MAX_PATTERN_COST} to compile"));
        }
        self.pattern_cost += cost;
        let readers = self.cache.get(&simple.base).map_or(1, |base| base.readers);
        let texts = simple.facets.iter().map(|facet| facet.value.len());
        match self.can_read(texts, readers) {
            true => Ok(()),
            false => Err(format!("the values up to those of {name} cost more than {MAX_READING_COST} to read")),
        }
    }

    /// Adds the cost of checking texts with these lengths in bytes by `readers`. Returns false if the total exceeds the
    /// limit.
    fn can_read(&mut self, texts: impl Iterator<Item = usize>, readers: u64) -> bool {
        let lengths = texts.map(|length| length as u64 + COST_OF_VALUE).fold(0, u64::saturating_add);
        let cost = self.reading_cost.saturating_add(lengths.saturating_mul(readers));
        let can_read = cost <= MAX_READING_COST;
        if can_read {
            self.reading_cost = cost;
        }
        can_read
    }

    /// Reads a text of the contract as a value of a type. Returns `None` if the total cost exceeds the limit.
    pub(crate) fn read(
        &mut self,
        schema: &Schema,
        type_id: TypeId,
        text: &str,
        scope: &dyn Scope,
    ) -> Option<Result<Value, Invalid>> {
        let readers = self.of(schema, type_id).readers;
        let can_read = self.can_read(std::iter::once(text.len()), readers);
        can_read.then(|| self.cache[&type_id].definition.read(text, scope))
    }

    /// Reads a text of a document as a value of a type. Fails for types whose facets were not checked.
    pub(crate) fn read_of_document(
        &mut self,
        schema: &Schema,
        type_id: TypeId,
        text: &str,
        scope: &dyn Scope,
    ) -> Result<Value, Invalid> {
        let made = self.of(schema, type_id);
        match &made.any_problem {
            Some(problem) if made.has_unchecked => {
                Err(Invalid::new(format!("{} can't be validated: {}", quoted(text), problem.message())))
            }
            _ => made.definition.read(text, scope),
        }
    }
}

impl Compiled {
    fn of(definition: SimpleTypeDefinition, readers: u64) -> Self {
        Compiled {
            definition,
            problem: None,
            any_problem: None,
            is_unchecked: false,
            has_unchecked: false,
            members: 1,
            readers,
        }
    }
}

/// Estimates the cost of compiling a pattern: one for each character and more for character classes, multiplied by the
/// maximum repetitions.
pub(crate) fn pattern_cost(pattern: &str) -> u64 {
    /// `\p{L}` and similar classes expand to hundreds of ranges.
    const CLASS: u64 = 200;
    /// The fixed cost of a pattern.
    const EACH: u64 = 100;
    let mut outside: Vec<u64> = vec![EACH];
    // The cost of the current group and of its last part.
    let (mut sum, mut last) = (0_u64, 0_u64);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '(' => {
                outside.push(sum.saturating_add(last));
                (sum, last) = (0, 0);
            }
            ')' => {
                last = sum.saturating_add(last).max(1);
                sum = if outside.len() > 1 { outside.pop().unwrap_or_default() } else { 0 };
            }
            '{' => {
                let counts: String = rest.by_ref().take_while(|&c| c != '}').collect();
                let most = counts.rsplit(',').find(|count| !count.is_empty()).unwrap_or_default();
                last = last.max(1).saturating_mul(most.parse().unwrap_or(u64::MAX));
            }
            c => {
                sum = sum.saturating_add(last);
                let escaped = if c == '\\' { rest.next() } else { None };
                last = match escaped {
                    Some('p' | 'P') => {
                        let _ = rest.by_ref().take_while(|&c| c != '}').count();
                        CLASS
                    }
                    Some('i' | 'I' | 'c' | 'C' | 'w' | 'W' | 'd' | 'D' | 's' | 'S') => CLASS,
                    _ => 1,
                };
            }
        }
    }
    outside.into_iter().fold(sum.saturating_add(last), u64::saturating_add)
}

/// Returns how many readers the facets of one step count as. A large pattern counts as several.
fn readers_of(facets: &[Facet]) -> u64 {
    let listed = facets.iter().filter(|facet| facet.kind == FacetKind::Enumeration).count();
    let others = facets.iter().filter(|facet| facet.kind != FacetKind::Enumeration).map(|facet| match facet.kind {
        FacetKind::Pattern => 1 + pattern_cost(&facet.value) / COST_OF_READER,
        _ => 1,
    });
    others.fold(listed.div_ceil(VALUES_AT_ONCE) as u64, u64::saturating_add)
}

/// Converts the facets of one step for the facet checker.
pub(crate) fn constraints(facets: &[Facet]) -> Vec<Constraint<'_>> {
    facets.iter().map(|facet| Constraint { facet: facet.kind.name(), value: &facet.value, scope: facet }).collect()
}

/// Returns the types that a type is made of.
fn parts(schema: &Schema, id: TypeId) -> Vec<TypeId> {
    match restrictable(schema, id) {
        None => Vec::new(),
        Some(simple) => match &simple.variety {
            Variety::List { item } if is_primary(simple) => vec![*item],
            Variety::Union { members } if is_primary(simple) => members.clone(),
            _ => vec![simple.base],
        },
    }
}

/// Returns the simple type, unless it is built in.
fn restrictable(schema: &Schema, id: TypeId) -> Option<&SimpleType> {
    match &schema[id] {
        TypeDefinition::Simple(simple) if id.builtin().is_none() => Some(simple),
        _ => None,
    }
}

/// Returns true if a list or union is defined by its parts, and not as a restriction of another list or union.
fn is_primary(simple: &SimpleType) -> bool {
    simple.base.builtin() == Some(Builtin::AnySimpleType)
}

fn built_in(builtin: Builtin) -> SimpleTypeDefinition {
    SimpleTypeDefinition::built_in(Datatype::from_name(builtin.name()).unwrap_or(Datatype::AnySimpleType))
}

impl Scope for Facet {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        let (_, namespace) = self.namespaces.iter().find(|(known, _)| known == prefix)?;
        Some(namespace)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cost_what_they_repeat() {
        for (pattern, least, most) in [
            ("", 100, 100),
            ("abc", 103, 103),
            ("[0-9]{5}", 109, 109),
            ("(ab){10}", 120, 120),
            ("((a{100}){100}){100}", 1_000_100, 1_000_100),
            ("a{2,30}b{7,}", 137, 137),
            ("\\p{Lu}{3}", 700, 700),
            ("\\{a{2", 103, 104),
            (")(", 101, 102),
            ("a{99999999999999999999999}", u64::MAX, u64::MAX),
        ] {
            let cost = pattern_cost(pattern);
            assert!((least..=most).contains(&cost), "{pattern}: {cost}");
        }
    }
}
