//! Simple types in the form that reads values.

use std::collections::HashMap;
use std::str::Chars;
use std::sync::{Arc, Mutex, PoisonError};

use castile_datatypes::facets::{Constraint, SimpleTypeDefinition};
use castile_datatypes::{Datatype, Invalid, Scope, Value, quoted};

use crate::components::{Facet, FacetKind, SimpleType, TypeDefinition, Variety};
use crate::{Builtin, Schema, TypeId};

/// Maximum number of member types of a union, nested ones included. In unions of unions their number grows
/// exponentially.
const MAX_MEMBERS: usize = 10_000;

/// Maximum cost of all patterns of a contract: the number of compiled characters, classes and repetitions. A character
/// that may occur up to 500 times costs 500. The contracts of the corpus use at most a quarter of this limit.
const MAX_PATTERN_COST: u64 = 500_000;

/// Maximum cost of reading the facets of a contract, and of reading the other values of it, such as defaults, for one
/// purpose: bytes of text, multiplied by the number of facets and member types that check them. The most expensive contract of the corpus uses a fifth of this
/// limit.
const MAX_READING_COST: u64 = 50_000_000;

/// The fixed cost of a value, in bytes, in addition to its length.
const COST_OF_VALUE: u64 = 8;

/// A pattern counts as one more reader for each 4 units of its compile cost.
const COST_OF_READER: u64 = 4;

/// Comparing a text with this many enumeration values takes as long as checking another facet.
const VALUES_AT_ONCE: usize = 16;

impl Schema {
    /// Returns a simple type, with everything that it is derived from, in the form that reads values. It is made once for
    /// the schema.
    ///
    /// A complex type is treated as `xs:anySimpleType`.
    ///
    /// # Errors
    /// A facet of this type, or of a type that it is made of, has an invalid value, for example a pattern that is not a
    /// regular expression or a bound that is not of the type. Or the patterns or facet values of all types so far exceed a
    /// cost limit.
    pub fn simple_type_definition(&self, type_id: TypeId) -> Result<SimpleTypeDefinition, Invalid> {
        let made = self.compiled(type_id);
        match &made.any_problem {
            None => Ok(made.definition.clone()),
            Some(problem) => Err(problem.clone()),
        }
    }

    /// Returns a simple type in the form that reads values. A complex type is treated as `xs:anySimpleType`.
    pub(crate) fn compiled(&self, type_id: TypeId) -> Arc<Compiled> {
        // A panic leaves complete definitions.
        self.definitions.0.lock().unwrap_or_else(PoisonError::into_inner).of(self, type_id)
    }
}

/// Reads the values that a contract has, such as defaults, within a cost limit.
#[derive(Debug)]
pub struct ContractValues<'s> {
    schema: &'s Schema,
    /// The cost of the values read so far.
    cost: u64,
}

impl<'s> ContractValues<'s> {
    /// Creates a reader of values whose types are in `schema`.
    #[must_use]
    pub fn new(schema: &'s Schema) -> Self {
        Self { schema, cost: 0 }
    }

    /// Reads a text of the contract as a value of a simple type. If a facet of the type has an invalid value, the type's
    /// own facets are ignored. Returns `None` if the texts read so far exceed the cost limit.
    pub fn read(&mut self, type_id: TypeId, text: &str, scope: &dyn Scope) -> Option<Result<Value, Invalid>> {
        let made = self.schema.compiled(type_id);
        add_reading_cost(&mut self.cost, std::iter::once(text.len()), made.readers)?;
        Some(made.definition.read(text, scope))
    }
}

/// The simple types of a schema in the form that reads values. Each is compiled on demand, and once, as a part of the
/// schema: the limits of cost hold for the schema and not for each use of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CompiledTypes(Arc<Mutex<Compiler>>);

#[derive(Debug, Default)]
struct Compiler {
    definitions: HashMap<TypeId, Arc<Compiled>>,
    /// The cost of the patterns compiled so far.
    pattern_cost: u64,
    /// The cost of the facets read so far.
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

impl Compiler {
    /// Returns the definition of a type; a complex type is treated as `xs:anySimpleType`. It doesn't recurse, because
    /// derivation chains can be long.
    fn of(&mut self, schema: &Schema, type_id: TypeId) -> Arc<Compiled> {
        let mut open = vec![type_id];
        while let Some(&id) = open.last() {
            let before = open.len();
            if !self.definitions.contains_key(&id) {
                open.extend(parts(schema, id).into_iter().filter(|part| !self.definitions.contains_key(part)));
            }
            if open.len() == before {
                open.pop();
                if !self.definitions.contains_key(&id) {
                    let mut made = self.make(schema, id);
                    let of_parts =
                        || parts(schema, id).iter().find_map(|part| self.definitions[part].any_problem.clone());
                    made.any_problem = made.problem.clone().or_else(of_parts);
                    made.has_unchecked |= parts(schema, id).iter().any(|part| self.definitions[part].has_unchecked);
                    self.definitions.insert(id, Arc::new(made));
                }
            }
        }
        self.definitions[&type_id].clone()
    }

    /// Creates the definition of a type whose parts are in the cache.
    fn make(&mut self, schema: &Schema, id: TypeId) -> Compiled {
        let Some(simple) = restrictable(schema, id) else {
            return Compiled::of(built_in(id.builtin().unwrap_or(Builtin::AnySimpleType)), 1);
        };
        let name = simple.name.as_ref().map_or("value", |name| name.local());
        if let Err(problem) = self.add_cost(simple, name) {
            let base = self.definitions.get(&simple.base).map(|base| &**base);
            let of_base = |base: &Compiled| Compiled {
                members: base.members,
                ..Compiled::of(base.definition.clone(), base.readers)
            };
            let made = base.map_or_else(|| Compiled::of(built_in(Builtin::AnySimpleType), 1), of_base);
            return Compiled { problem: Some(Invalid::new(problem)), is_unchecked: true, has_unchecked: true, ..made };
        }
        let part = |id: &TypeId| &self.definitions[id];
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
        let readers = self.definitions.get(&simple.base).map_or(1, |base| base.readers);
        let texts = simple.facets.iter().map(|facet| facet.value.len());
        match add_reading_cost(&mut self.reading_cost, texts, readers) {
            Some(()) => Ok(()),
            None => Err(format!("the values up to those of {name} cost more than {MAX_READING_COST} to read")),
        }
    }
}

/// Adds the cost of checking texts with these lengths in bytes by `readers`. Returns `None` if the total exceeds the limit.
fn add_reading_cost(total: &mut u64, texts: impl Iterator<Item = usize>, readers: u64) -> Option<()> {
    let lengths = texts.map(|length| length as u64 + COST_OF_VALUE).fold(0, u64::saturating_add);
    let cost = total.saturating_add(lengths.saturating_mul(readers));
    (cost <= MAX_READING_COST).then(|| *total = cost)
}

impl Compiled {
    /// Reads a text of a document as a value of this type. Fails if its facets, or those of a type that it is made of,
    /// were not checked.
    pub(crate) fn read_of_document(&self, text: &str, scope: &dyn Scope) -> Result<Value, Invalid> {
        match &self.any_problem {
            Some(problem) if self.has_unchecked => {
                Err(Invalid::new(format!("{} can't be validated: {}", quoted(text), problem.message())))
            }
            _ => self.definition.read(text, scope),
        }
    }

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

/// The cost of `\p{L}` and similar classes, which expand to hundreds of ranges.
const COST_OF_CLASS: u64 = 200;

/// Estimates the cost of compiling a pattern: one for each character and more for character classes, multiplied by the
/// maximum repetitions.
pub(crate) fn pattern_cost(pattern: &str) -> u64 {
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
                last = match c {
                    '[' => class_cost(&mut rest),
                    '\\' => escape_cost(&mut rest).unwrap_or(1),
                    _ => 1,
                };
            }
        }
    }
    outside.into_iter().fold(sum.saturating_add(last), u64::saturating_add)
}

/// Estimates the cost of a character class, and reads from after its `[` to the end of it. A class is compiled to the
/// sequences of bytes that it has in UTF-8.
fn class_cost(rest: &mut Chars<'_>) -> u64 {
    /// The characters that are not in the class.
    const NEGATED: u64 = 16;
    /// How many ASCII characters cost as much as one other character.
    const ASCII: u64 = 8;
    let (mut cost, mut ascii) = (1, 0);
    let mut depth = 1;
    while depth > 0
        && let Some(c) = rest.next()
    {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            '^' => cost += NEGATED,
            '\\' => match escape_cost(rest) {
                Some(class) => cost += class,
                None => ascii += 1,
            },
            c if c.is_ascii() => ascii += 1,
            _ => cost += 1,
        }
    }
    cost + ascii / ASCII
}

/// Returns the cost of an escape for a class of characters, and reads from after its backslash to the end of it. Returns
/// `None` for the escape of a single character.
fn escape_cost(rest: &mut Chars<'_>) -> Option<u64> {
    match rest.next() {
        Some('p' | 'P') => {
            let _ = rest.take_while(|&c| c != '}').count();
            Some(COST_OF_CLASS)
        }
        Some('i' | 'I' | 'c' | 'C' | 'w' | 'W' | 'd' | 'D' | 's' | 'S') => Some(COST_OF_CLASS),
        _ => None,
    }
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
            ("[0-9]{5}", 105, 105),
            ("[-0-9A-Za-z.]{5}", 110, 110),
            ("[é]{5}", 110, 110),
            ("[^a]{5}", 185, 185),
            ("[(a]{5}", 105, 105),
            (r"[\]a]{5}b", 106, 106),
            (r"[\p{L}-[\p{Lu}]]{0,1000}", 401_100, 401_100),
            ("(ab){10}", 120, 120),
            ("((a{100}){100}){100}", 1_000_100, 1_000_100),
            ("a{2,30}b{7,}", 137, 137),
            (r"\p{Lu}{3}", 700, 700),
            ("\\{a{2", 103, 104),
            (")(", 101, 102),
            ("[[a", 101, 101),
            ("a{99999999999999999999999}", u64::MAX, u64::MAX),
        ] {
            let cost = pattern_cost(pattern);
            assert!((least..=most).contains(&cost), "{pattern}: {cost}");
        }
    }
}
