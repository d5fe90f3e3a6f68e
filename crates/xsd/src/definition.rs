//! Simple types as what values can be read by.

use std::collections::HashMap;

use castile_databinding::datatypes::{Datatype, Invalid, Scope};
use castile_databinding::facets::{Constraint, SimpleTypeDefinition};

use crate::components::{Facet, SimpleType, TypeDefinition, Variety};
use crate::{Builtin, Schema, TypeId};

/// How many types a value may be tried with: a union of unions, each of them twice in the next, would take for ever.
const MOST_MEMBERS: usize = 10_000;

impl Schema {
    /// A simple type with all that it is derived from, ready to read values. A complex type counts as
    /// `xs:anySimpleType`.
    ///
    /// # Errors
    /// A facet whose value is none: a pattern that is no regular expression, a bound that is not of the type.
    pub fn simple_type_definition(&self, type_id: TypeId) -> Result<SimpleTypeDefinition, Invalid> {
        let mut definitions = Definitions::default();
        let definition = definitions.of(self, type_id).definition.clone();
        // Nothing else was asked for than this type and what it is made of.
        match definitions.known.into_values().find_map(|made| made.problem) {
            None => Ok(definition),
            Some(problem) => Err(problem),
        }
    }
}

/// Simple types as definitions, each made once.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    known: HashMap<TypeId, Made>,
}

/// A type as a definition. If there is a problem with its facets it reads what its base does, so that the rest of a
/// contract stands.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) definition: SimpleTypeDefinition,
    /// What is wrong with its own facets.
    pub(crate) problem: Option<Invalid>,
    members: usize,
}

impl Definitions {
    /// The definition of a type; a complex type counts as `xs:anySimpleType`. Nothing recurses: chains may be long.
    pub(crate) fn of(&mut self, schema: &Schema, type_id: TypeId) -> &Made {
        let mut open = vec![type_id];
        while let Some(&id) = open.last() {
            let before = open.len();
            if !self.known.contains_key(&id) {
                open.extend(parts(schema, id).into_iter().filter(|part| !self.known.contains_key(part)));
            }
            if open.len() == before {
                open.pop();
                if !self.known.contains_key(&id) {
                    let made = self.make(schema, id);
                    self.known.insert(id, made);
                }
            }
        }
        &self.known[&type_id]
    }

    /// Makes a type whose parts are known.
    fn make(&self, schema: &Schema, id: TypeId) -> Made {
        let Some(simple) = restrictable(schema, id) else {
            let definition = built_in(id.builtin().unwrap_or(Builtin::AnySimpleType));
            return Made { definition, problem: None, members: 1 };
        };
        let name = simple.name.as_ref().map_or("value", |name| name.local());
        let part = |id: &TypeId| &self.known[id];
        let (made, otherwise, members) = match &simple.variety {
            Variety::List { item } if is_primary(simple) => {
                let item = part(item);
                (SimpleTypeDefinition::list(name, item.definition.clone()), None, item.members)
            }
            Variety::Union { members: of } if is_primary(simple) => {
                let members = of.iter().map(|member| part(member).members).sum();
                let union = match members <= MOST_MEMBERS {
                    true => of.iter().map(|member| part(member).definition.clone()).collect(),
                    false => Vec::new(),
                };
                (SimpleTypeDefinition::union(name, union), None, members)
            }
            _ => {
                let base = part(&simple.base);
                let made = base.definition.restriction(name, &constraints(&simple.facets));
                (made, Some(&base.definition), base.members)
            }
        };
        let otherwise = || otherwise.cloned().unwrap_or_else(|| built_in(Builtin::AnySimpleType));
        match made {
            Ok(_) if members > MOST_MEMBERS => {
                let problem = format!("{name} has more than {MOST_MEMBERS} member types, those of members counted");
                Made { definition: otherwise(), problem: Some(Invalid::new(problem)), members: 1 }
            }
            Ok(definition) => Made { definition, problem: None, members },
            Err(problem) => Made { definition: otherwise(), problem: Some(problem), members },
        }
    }
}

/// The facets of one step, for the checker of values.
pub(crate) fn constraints(facets: &[Facet]) -> Vec<Constraint<'_>> {
    facets.iter().map(|facet| Constraint { facet: facet.kind.name(), value: &facet.value, scope: facet }).collect()
}

/// The types that a type is made of.
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

/// The simple type, unless it is built in.
fn restrictable(schema: &Schema, id: TypeId) -> Option<&SimpleType> {
    match &schema[id] {
        TypeDefinition::Simple(simple) if id.builtin().is_none() => Some(simple),
        _ => None,
    }
}

/// A list or a union is made of other types, unless it restricts one that is.
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
