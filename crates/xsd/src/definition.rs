//! Simple types as what values can be read by.

use castile_databinding::datatypes::{Datatype, Invalid, Scope};
use castile_databinding::facets::{Constraint, SimpleTypeDefinition};

use crate::components::{Facet, TypeDefinition, Variety};
use crate::{Builtin, Schema, TypeId};

impl Schema {
    /// A simple type with all that it is derived from, ready to read values. A complex type counts as
    /// `xs:anySimpleType`.
    ///
    /// # Errors
    /// A facet whose value is none: a pattern that is no regular expression, a bound that is not of the type.
    pub fn simple_type_definition(&self, type_id: TypeId) -> Result<SimpleTypeDefinition, Invalid> {
        if let Some(builtin) = type_id.builtin() {
            return Ok(built_in(builtin));
        }
        let TypeDefinition::Simple(simple) = &self[type_id] else { return Ok(built_in(Builtin::AnySimpleType)) };
        let name = simple.name.as_ref().map_or("value", |name| name.local());
        // A list or a union is made of other types, unless it restricts one that is.
        let is_primary = simple.base.builtin() == Some(Builtin::AnySimpleType);
        match &simple.variety {
            Variety::List { item } if is_primary => {
                SimpleTypeDefinition::list(name, self.simple_type_definition(*item)?)
            }
            Variety::Union { members } if is_primary => {
                let members = members.iter().map(|&member| self.simple_type_definition(member));
                SimpleTypeDefinition::union(name, members.collect::<Result<_, _>>()?)
            }
            _ => {
                let constraints: Vec<Constraint<'_>> = simple
                    .facets
                    .iter()
                    .map(|facet| Constraint { facet: facet.kind.name(), value: &facet.value, scope: facet })
                    .collect();
                self.simple_type_definition(simple.base)?.restriction(name, &constraints)
            }
        }
    }
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
