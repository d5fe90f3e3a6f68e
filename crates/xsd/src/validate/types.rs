//! The parts of a schema in the form that validation needs. Each part is computed once.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use castile_datatypes::{Invalid, Scope as Declarations, Value};

use super::model::Model;
use super::names::{NameId, Names};
use super::selection::Constraint;
use crate::check::is_derived;
use crate::components::{
    AttributeId, Content, Derivation, DerivationSet, IdentityConstraintCategory, TypeDefinition, Use, ValueConstraint,
    Wildcard,
};
use crate::definition::Compiled;
use crate::{ElementId, ExpandedName, Schema, TypeId};

/// Maximum length of a chain of substitution group heads.
const MAX_HEADS: usize = 256;

/// The parts requested so far.
#[derive(Debug)]
pub(super) struct Types<'s> {
    pub(super) schema: &'s Schema,
    pub(super) names: Names,
    elements: Vec<Option<ElementId>>,
    attributes: Vec<Option<AttributeId>>,
    types: HashMap<TypeId, Rc<Type>>,
    /// Those that read values. The schema has them behind a lock.
    definitions: HashMap<TypeId, Arc<Compiled>>,
    heads: HashMap<ElementId, Rc<[ElementId]>>,
    constraints: HashMap<ElementId, Rc<[Constraint]>>,
    /// The keys that a keyref refers to.
    referred: HashSet<ExpandedName>,
    pub(super) id_kinds: HashMap<TypeId, Rc<IdKind>>,
    /// A namespace whose attributes are ignored.
    pub(super) passed: Option<String>,
}

/// A type with everything that it inherits.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) id: TypeId,
    pub(super) content: TypeContent,
    pub(super) uses: Vec<AttributeUse>,
    by_name: HashMap<NameId, usize>,
    pub(super) wildcard: Option<Wildcard>,
}

#[derive(Debug)]
pub(super) enum TypeContent {
    Empty,
    Simple(TypeId),
    Elements { model: Model, is_mixed: bool },
}

/// An attribute that a type declares.
#[derive(Debug)]
pub(super) struct AttributeUse {
    pub(super) name: ExpandedName,
    pub(super) type_id: TypeId,
    pub(super) is_required: bool,
    pub(super) constraint: Option<ValueConstraint>,
}

/// Whether a value of a type contains IDs or references.
#[derive(Debug)]
pub(super) enum IdKind {
    Nothing,
    Id,
    Idref,
    List(Rc<IdKind>),
    /// The members. The first one that accepts the value decides.
    Union(Vec<(TypeId, Rc<IdKind>)>),
}

impl Type {
    /// Returns the use of this attribute and its index.
    pub(super) fn attribute(&self, name: NameId) -> Option<(usize, &AttributeUse)> {
        let index = *self.by_name.get(&name)?;
        Some((index, self.uses.get(index)?))
    }

    /// Returns the content model of a type with element content.
    pub(super) fn model(&self) -> Option<&Model> {
        match &self.content {
            TypeContent::Elements { model, .. } => Some(model),
            TypeContent::Empty | TypeContent::Simple(_) => None,
        }
    }
}

impl<'s> Types<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        let names = Names::of(schema);
        let (mut elements, mut attributes) = (vec![None; names.len()], vec![None; names.len()]);
        // Names that are only referred to are left out.
        for (name, &id) in &schema.element_names {
            names.get(name).into_iter().for_each(|name| elements[name.index()] = Some(ElementId(id)));
        }
        for (name, &id) in &schema.attribute_names {
            names.get(name).into_iter().for_each(|name| attributes[name.index()] = Some(AttributeId(id)));
        }
        let constraints = schema.elements().flat_map(|(_, element)| &element.identity_constraints);
        let referred = constraints.filter_map(|constraint| match &constraint.category {
            IdentityConstraintCategory::Keyref { refer } => Some(refer.clone()),
            _ => None,
        });
        Types {
            schema,
            elements,
            attributes,
            names,
            types: HashMap::new(),
            definitions: HashMap::new(),
            heads: HashMap::new(),
            constraints: HashMap::new(),
            referred: referred.collect(),
            id_kinds: HashMap::new(),
            passed: None,
        }
    }

    /// Returns the global element with this name.
    pub(super) fn element(&self, name: Option<NameId>) -> Option<ElementId> {
        name.and_then(|name| self.elements[name.index()])
    }

    /// Returns the global attribute with this name.
    pub(super) fn attribute(&self, name: Option<NameId>) -> Option<AttributeId> {
        name.and_then(|name| self.attributes[name.index()])
    }

    pub(super) fn of(&mut self, id: TypeId) -> Rc<Type> {
        if let Some(known) = self.types.get(&id) {
            return known.clone();
        }
        let made = Rc::new(self.make(id));
        self.types.insert(id, made.clone());
        made
    }

    fn make(&self, id: TypeId) -> Type {
        let schema = self.schema;
        let model = |particle| Model::new(schema, &self.names, particle);
        let content = match schema.content(id) {
            Content::Empty => TypeContent::Empty,
            Content::Simple(simple) => TypeContent::Simple(simple),
            Content::ElementOnly(particle) => TypeContent::Elements { model: model(&particle), is_mixed: false },
            Content::Mixed(particle) => TypeContent::Elements { model: model(&particle), is_mixed: true },
        };
        let uses: Vec<AttributeUse> = schema
            .attribute_uses(id)
            .into_iter()
            .map(|attribute_use| {
                let declaration = &schema[attribute_use.attribute];
                AttributeUse {
                    name: declaration.name.clone(),
                    type_id: declaration.type_id,
                    is_required: attribute_use.use_ == Use::Required,
                    constraint: attribute_use.value_constraint.or_else(|| declaration.value_constraint.clone()),
                }
            })
            .collect();
        let numbered = uses.iter().enumerate();
        let by_name = numbered.filter_map(|(index, attribute)| Some((self.names.get(&attribute.name)?, index)));
        Type { id, content, by_name: by_name.collect(), wildcard: schema.attribute_wildcard(id), uses }
    }

    /// Reads a value of a simple type.
    pub(super) fn read(&mut self, id: TypeId, text: &str, scope: &dyn Declarations) -> Result<Value, Invalid> {
        let schema = self.schema;
        self.definitions.entry(id).or_insert_with(|| schema.compiled(id)).read_of_document(text, scope)
    }

    /// Returns the identity constraints of an element.
    pub(super) fn constraints(&mut self, id: ElementId) -> Rc<[Constraint]> {
        let schema = self.schema;
        let referred = &self.referred;
        let made = || schema[id].identity_constraints.iter().map(|one| Constraint::new(one, referred)).collect();
        self.constraints.entry(id).or_insert_with(made).clone()
    }

    /// Returns the elements that this one may replace (§3.3.6, Substitution Group OK).
    pub(super) fn heads(&mut self, member: ElementId) -> Rc<[ElementId]> {
        if let Some(known) = self.heads.get(&member) {
            return known.clone();
        }
        let schema = self.schema;
        let chain = std::iter::successors(schema[member].substitution_group, |&head| schema[head].substitution_group);
        let heads: Rc<[ElementId]> = chain.take(MAX_HEADS).filter(|&head| self.may_substitute(member, head)).collect();
        self.heads.insert(member, heads.clone());
        heads
    }

    fn may_substitute(&self, member: ElementId, head: ElementId) -> bool {
        let schema = self.schema;
        let (member_type, head) = (schema[member].type_id, &schema[head]);
        if head.block.substitution {
            return false;
        }
        // The methods that the head, its type and the types between them exclude.
        let mut excluded = head.block;
        let mut taken = DerivationSet::default();
        for id in schema.bases(member_type) {
            let complex = schema[id].as_complex();
            if let Some(complex) = complex.filter(|_| id != member_type || id == head.type_id) {
                excluded.extension |= complex.block.extension;
                excluded.restriction |= complex.block.restriction;
            }
            if id == head.type_id {
                return !(taken.extension && excluded.extension || taken.restriction && excluded.restriction);
            }
            match complex.map(|complex| complex.derivation) {
                Some(Derivation::Extension) => taken.extension = true,
                Some(Derivation::Restriction) | None => taken.restriction = true,
            }
        }
        // The type is a member of a union, so there is no derivation step.
        is_derived(schema, member_type, head.type_id, head.block)
    }

    /// Returns true if `xsi:type` may replace the `declared` type of an element by `type_id` (cvc-elt 4.3).
    pub(super) fn may_replace(&self, type_id: TypeId, declared: TypeId, block: DerivationSet) -> bool {
        let of_type = match &self.schema[declared] {
            TypeDefinition::Complex(complex) => complex.block,
            TypeDefinition::Simple(_) => DerivationSet::default(),
        };
        let excluded = DerivationSet {
            extension: block.extension || of_type.extension,
            restriction: block.restriction || of_type.restriction,
            ..DerivationSet::default()
        };
        is_derived(self.schema, type_id, declared, excluded)
    }
}
