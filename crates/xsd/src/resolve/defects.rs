//! Finds unusable components: those with errors, and all that depend on them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::components::{AttributeGroupId, AttributeUse, Content, ModelGroup, Term, TypeDefinition, Variety};
use crate::parse::{Extent, SymbolSpace};
use crate::{Defect, Schema};

type Component = (SymbolSpace, u32);

/// Records the defect of each component that has an error or depends on one that does. Such types and elements are
/// removed from the lists of substitutes. `defects` must be sorted by position.
pub(super) fn spread(schema: &mut Schema, extents: &[Extent], defects: &[Defect]) {
    if defects.is_empty() {
        return;
    }
    let mut open: Vec<(Component, Arc<Defect>)> = Vec::new();
    for Extent { component, file, bytes } in extents {
        let first =
            defects.partition_point(|one| (one.location.file, one.location.offset) < (*file, Some(bytes.start)));
        let inside = |one: &&Defect| {
            one.location.file == *file && one.location.offset.is_some_and(|offset| bytes.contains(&offset))
        };
        if let Some(defect) = defects.get(first).filter(inside) {
            open.push((*component, Arc::new(defect.clone())));
        }
    }
    if open.is_empty() {
        return;
    }
    let dependents = dependents(schema);
    while let Some((component, defect)) = open.pop() {
        if schema.defects.contains_key(&component) {
            continue;
        }
        for &dependent in dependents.get(&component).map_or(&[][..], Vec::as_slice) {
            open.push((dependent, defect.clone()));
        }
        schema.defects.insert(component, defect);
    }
    let known = &schema.defects;
    schema.derived.values_mut().for_each(|types| types.retain(|id| !known.contains_key(&(SymbolSpace::Type, id.0))));
    schema
        .substitutes
        .values_mut()
        .for_each(|elements| elements.retain(|id| !known.contains_key(&(SymbolSpace::Element, id.0))));
}

/// Returns the components that depend on each component.
fn dependents(schema: &Schema) -> HashMap<Component, Vec<Component>> {
    let mut edges = Edges { schema, dependents: HashMap::new() };
    for (slot, definition) in (0..).zip(&schema.types) {
        let own = (SymbolSpace::Type, slot);
        edges.add(own, (SymbolSpace::Type, definition.base().0));
        match definition {
            TypeDefinition::Simple(simple) => match &simple.variety {
                Variety::Atomic => {}
                Variety::List { item } => edges.add(own, (SymbolSpace::Type, item.0)),
                Variety::Union { members } => members.iter().for_each(|id| edges.add(own, (SymbolSpace::Type, id.0))),
            },
            TypeDefinition::Complex(complex) => {
                match &complex.content {
                    Content::Empty => {}
                    Content::Simple(id) => edges.add(own, (SymbolSpace::Type, id.0)),
                    Content::ElementOnly(particle) | Content::Mixed(particle) => edges.term(own, &particle.term),
                }
                edges.attributes(own, &complex.attribute_uses, &complex.attribute_groups);
            }
        }
    }
    for (slot, element) in (0..).zip(&schema.elements) {
        edges.add((SymbolSpace::Element, slot), (SymbolSpace::Type, element.type_id.0));
    }
    for (slot, attribute) in (0..).zip(&schema.attributes) {
        edges.add((SymbolSpace::Attribute, slot), (SymbolSpace::Type, attribute.type_id.0));
    }
    for (slot, definition) in (0..).zip(&schema.groups) {
        edges.group((SymbolSpace::Group, slot), &definition.group);
    }
    for (slot, group) in (0..).zip(&schema.attribute_groups) {
        edges.attributes((SymbolSpace::AttributeGroup, slot), &group.attribute_uses, &group.attribute_groups);
    }
    edges.dependents
}

struct Edges<'s> {
    schema: &'s Schema,
    dependents: HashMap<Component, Vec<Component>>,
}

impl Edges<'_> {
    fn add(&mut self, dependent: Component, on: Component) {
        self.dependents.entry(on).or_default().push(dependent);
    }

    fn term(&mut self, own: Component, term: &Term) {
        match term {
            Term::Element(id) => self.add(own, (SymbolSpace::Element, id.0)),
            Term::GroupReference(id) => self.add(own, (SymbolSpace::Group, id.0)),
            Term::Group(group) => self.group(own, group),
            Term::Wildcard(_) => {}
        }
    }

    /// The recursion is limited by the parser's nesting limit.
    fn group(&mut self, own: Component, group: &ModelGroup) {
        group.particles.iter().for_each(|particle| self.term(own, &particle.term));
    }

    fn attributes(&mut self, own: Component, uses: &[AttributeUse], groups: &[AttributeGroupId]) {
        for one in uses {
            self.add(own, (SymbolSpace::Attribute, one.attribute.0));
            let item = one.array_type.as_ref().and_then(|array| self.schema.find_type(&array.item));
            if let Some(item) = item {
                self.add(own, (SymbolSpace::Type, item.0));
            }
        }
        groups.iter().for_each(|id| self.add(own, (SymbolSpace::AttributeGroup, id.0)));
    }
}
