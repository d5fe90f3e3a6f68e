//! The declarations of an internal DTD subset (XML 1.0 §2.8, §3.2, §3.3, §4.2) that a non-validating processor needs:
//! entities, types and defaults of attributes, and notations.

mod content;
mod cursor;
mod declarations;
mod subset;
mod value;

use std::collections::HashMap;

use crate::error::shown;

pub(crate) use value::{Expansion, Failure, Reference, collapse, general_reference};

/// The document type declaration of one document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dtd {
    /// The declared name of the root element.
    pub(crate) name: String,
    /// The offset of its `<!DOCTYPE`, and of the end of its `>`.
    pub(crate) start: usize,
    pub(crate) end: usize,
    entities: HashMap<Box<str>, usize>,
    declared_entities: Vec<Entity>,
    elements: HashMap<Box<str>, Attributes>,
    attributes: Vec<AttributeDeclaration>,
    pub(crate) notations: Vec<Notation>,
    /// The target and data of each processing instruction in it.
    pub(crate) instructions: Vec<(String, String)>,
    /// Whether the XML declaration has `standalone="yes"` (XML 1.0 §2.9).
    standalone: bool,
    /// Whether there is an external subset, or a reference to a parameter entity. What is not declared here may then be
    /// declared elsewhere.
    incomplete: bool,
    /// How many bytes its own entities used of the limit on expansion.
    pub(crate) expanded: usize,
}

/// A general entity.
#[derive(Clone, Debug)]
struct Entity {
    kind: EntityKind,
    /// Whether it is declared in the replacement text of a parameter entity.
    in_parameter_entity: bool,
}

#[derive(Clone, Debug)]
enum EntityKind {
    /// An entity with its replacement text (XML 1.0 §4.5).
    Internal(Box<str>),
    External,
    Unparsed,
}

/// The attributes that are declared for elements of one name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    by_name: HashMap<Box<str>, usize>,
    /// The attributes with a default value, in the order of their declarations.
    pub(crate) defaults: Vec<usize>,
}

/// A declared attribute.
#[derive(Clone, Debug)]
pub(crate) struct AttributeDeclaration {
    pub(crate) name: Box<str>,
    /// The offset of its local name.
    pub(crate) local: usize,
    /// Whether its type is not CDATA, so that white space around and between its tokens is collapsed (XML 1.0 §3.3.3).
    pub(crate) is_tokenized: bool,
    /// The default value, normalised.
    pub(crate) default: Option<Box<str>>,
}

/// A notation that a document type declaration declares (XML 1.0 §4.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notation {
    /// Its name.
    pub name: String,
    /// Its public identifier, with normalised white space (XML 1.0 §4.2.2).
    pub public_id: Option<String>,
    /// Its system identifier.
    pub system_id: Option<String>,
}

impl Dtd {
    /// Returns the attributes that are declared for elements of this name.
    pub(crate) fn attributes_of(&self, element: &str) -> Option<&Attributes> {
        self.elements.get(element)
    }

    pub(crate) fn attribute(&self, index: usize) -> &AttributeDeclaration {
        &self.attributes[index]
    }

    /// Returns how many attributes are declared.
    pub(crate) fn attribute_count(&self) -> usize {
        self.attributes.len()
    }

    /// Returns what a reference to the general entity `name` stands for, in the document or in an attribute value.
    ///
    /// # Errors
    /// The reason why the reference is not allowed (XML 1.0 §4.1, Entity Declared and Parsed Entity).
    pub(crate) fn entity(&self, name: &str) -> Result<Reference<'_>, String> {
        let Some(&index) = self.entities.get(name) else {
            return if self.incomplete && !self.standalone {
                Ok(Reference::Unread)
            } else {
                Err(format!("reference to an entity \"{}\" that is not declared", shown(name)))
            };
        };
        let entity = &self.declared_entities[index];
        if self.standalone && entity.in_parameter_entity {
            return Err(format!(
                "reference to the entity \"{name}\", which is declared in a parameter entity, in a standalone document"
            ));
        }
        match &entity.kind {
            EntityKind::Internal(text) => Ok(Reference::Internal { index, text }),
            EntityKind::External => Ok(Reference::External),
            EntityKind::Unparsed => {
                Err(format!("reference to the unparsed entity \"{name}\"; only attributes of type ENTITY name one"))
            }
        }
    }
}

impl Attributes {
    /// Returns the declaration of the attribute `name`.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

#[cfg(test)]
mod tests;
