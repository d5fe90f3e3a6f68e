//! Reports circular definitions and cuts them, so that following references ends. They occur in base types
//! (ct-props-correct 3, st-props-correct 2), members of unions and items of lists (cos-st-restricts), groups
//! (mg-props-correct 2), attribute groups (src-attribute_group 3) and substitution groups (e-props-correct 6).

use crate::components::{AttributeGroupId, ElementId, GroupId, ModelGroup, Term, TypeDefinition, TypeId, Variety};
use crate::schema::called;
use crate::{Builtin, Diagnostics, Schema};

pub(super) fn break_circles(schema: &mut Schema, diagnostics: &mut Diagnostics) {
    break_base_circles(schema, diagnostics);
    break_member_circles(schema, diagnostics);
    break_substitution_circles(schema, diagnostics);
    break_attribute_group_circles(schema, diagnostics);
    break_group_circles(schema, diagnostics);
}

/// Returns the edges that close a circle in a graph with numbered nodes. It doesn't recurse, because chains can be
/// long.
fn closing_edges(nodes: usize, edges: impl Fn(usize) -> Vec<usize>) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; nodes];
    let mut closing = Vec::new();
    for root in 0..nodes {
        if states[root] != State::New {
            continue;
        }
        states[root] = State::Open;
        let mut stack = vec![(root, edges(root).into_iter())];
        while let Some((node, targets)) = stack.last_mut() {
            match targets.next() {
                Some(target) => match states[target] {
                    State::New => {
                        states[target] = State::Open;
                        stack.push((target, edges(target).into_iter()));
                    }
                    State::Open => closing.push((*node, target)),
                    State::Done => {}
                },
                None => {
                    states[*node] = State::Done;
                    stack.pop();
                }
            }
        }
    }
    closing
}

fn break_base_circles(schema: &mut Schema, diagnostics: &mut Diagnostics) {
    let any_type = TypeId::from(Builtin::AnyType).index();
    let bases = |node: usize| match schema.types[node].base().index() {
        _ if node == any_type => Vec::new(),
        base => vec![base],
    };
    for (slot, _) in closing_edges(schema.types.len(), bases) {
        let id = TypeId(slot as u32);
        let message = format!("{} is derived from itself", called(schema, id));
        diagnostics.error(schema[id].location(), message);
        schema.reset_base(id);
    }
}

fn break_member_circles(schema: &mut Schema, diagnostics: &mut Diagnostics) {
    let any_type = TypeId::from(Builtin::AnyType).index();
    let parts = |node: usize| -> Vec<usize> {
        let mut parts: Vec<usize> = match &schema.types[node] {
            TypeDefinition::Simple(simple) => match &simple.variety {
                Variety::Atomic => Vec::new(),
                Variety::List { item } => vec![item.index()],
                Variety::Union { members } => members.iter().map(|member| member.index()).collect(),
            },
            TypeDefinition::Complex(_) => Vec::new(),
        };
        if node != any_type {
            parts.push(schema.types[node].base().index());
        }
        parts
    };
    for (slot, target) in closing_edges(schema.types.len(), parts) {
        let id = TypeId(slot as u32);
        let message = format!("{} contains itself", called(schema, id));
        diagnostics.error(schema[id].location(), message);
        let TypeDefinition::Simple(simple) = &mut schema.types[slot] else { continue };
        match &mut simple.variety {
            Variety::Union { members } => members.retain(|member| member.index() != target),
            Variety::List { item } if item.index() == target => *item = Builtin::AnySimpleType.into(),
            _ => {}
        }
        if simple.base.index() == target {
            simple.base = Builtin::AnySimpleType.into();
        }
    }
}

fn break_substitution_circles(schema: &mut Schema, diagnostics: &mut Diagnostics) {
    let heads = |node: usize| schema.elements[node].substitution_group.iter().map(|head| head.index()).collect();
    for (slot, _) in closing_edges(schema.elements.len(), heads) {
        let element = &schema[ElementId(slot as u32)];
        let message = format!("element {} is in its own substitution group", element.name);
        diagnostics.error(element.location, message);
        schema.elements[slot].substitution_group = None;
    }
}

fn break_attribute_group_circles(schema: &mut Schema, diagnostics: &mut Diagnostics) {
    let parts = |node: usize| schema.attribute_groups[node].attribute_groups.iter().map(|part| part.index()).collect();
    for (slot, target) in closing_edges(schema.attribute_groups.len(), parts) {
        let group = &mut schema.attribute_groups[slot];
        let message = format!("attribute group {} contains itself", group.name);
        diagnostics.error(group.location, message);
        group.attribute_groups.retain(|part| *part != AttributeGroupId(target as u32));
    }
}

fn break_group_circles(schema: &mut Schema, diagnostics: &mut Diagnostics) {
    let parts = |node: usize| references(&schema.groups[node].group);
    for (slot, target) in closing_edges(schema.groups.len(), parts) {
        let definition = &mut schema.groups[slot];
        let message = format!("group {} contains itself", definition.name);
        diagnostics.error(definition.location, message);
        remove_references(&mut definition.group, GroupId(target as u32));
    }
}

/// Returns the groups that a group refers to, once per reference. The recursion is limited by the document's nesting
/// depth.
pub(super) fn references(group: &ModelGroup) -> Vec<usize> {
    let mut found = Vec::new();
    for particle in &group.particles {
        match &particle.term {
            Term::GroupReference(id) => found.push(id.index()),
            Term::Group(inner) => found.extend(references(inner)),
            Term::Element(_) | Term::Wildcard(_) => {}
        }
    }
    found
}

fn remove_references(group: &mut ModelGroup, target: GroupId) {
    group.particles.retain_mut(|particle| match &mut particle.term {
        Term::GroupReference(id) => *id != target,
        Term::Group(inner) => {
            remove_references(inner, target);
            true
        }
        Term::Element(_) | Term::Wildcard(_) => true,
    });
}
