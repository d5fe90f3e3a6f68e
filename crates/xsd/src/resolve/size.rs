//! Computes the sizes of types, including what they inherit from bases and groups, and the substitutes of their
//! elements.
//!
//! Types that exceed [`Limits`] are reported and cut. So later steps can process each type as a whole, and can recurse
//! into nested groups. Sizes are summed up from parts to wholes, which takes one step per component and reference,
//! however large the sums are.

use super::circles::references;
use crate::components::{
    Annotation, AttributeUse, Content, Derivation, ElementId, FacetKind, ModelGroup, NamespaceConstraint, Particle,
    SimpleType, Term, TypeDefinition, TypeId, ValueConstraint, Variety, Wildcard,
};
use crate::limits::BYTES_OF_TEXT;
use crate::schema::called;
use crate::{Builtin, Diagnostics, ExpandedName, Limits, Location, Schema};

/// Maximum nesting depth of groups, including referenced ones. It allows functions that visit them to recurse.
const MAX_NESTING: u32 = 100;

/// Cuts types that are too deep or too large. Circles have been cut before.
pub(super) fn limit(schema: &mut Schema, diagnostics: &mut Diagnostics) {
    let limits = schema.limits;
    limit_derivation(schema, &limits, diagnostics);
    limit_parts(schema, &limits, diagnostics);
    limit_substitutions(schema, &limits, diagnostics);
    let substitutes =
        descendants(schema.elements.len(), |slot| Some(schema.elements[slot].substitution_group?.index()));
    let mut sizes =
        Sizes { limits, substitutes, elements: Vec::new(), groups: Vec::new(), attribute_groups: Vec::new() };
    sizes.elements(schema);
    sizes.groups(schema, diagnostics);
    sizes.attribute_groups(schema, diagnostics);
    let total = sizes.types(schema, diagnostics);
    let derived = descendants(schema.types.len(), |slot| match schema.types[slot].base().index() {
        base if base < Builtin::ALL.len() => None,
        base => Some(base),
    });
    let in_place_of = |slot: usize| 1 + sizes.substitutes[slot] + derived[schema.elements[slot].type_id.index()];
    let total = (0..schema.elements.len()).map(in_place_of).fold(total, u64::saturating_add);
    if total > limits.total_size as u64 {
        let message = format!(
            "the types have {total} particles, attributes, facets and alternatives (each use counts, and so does each \
             {BYTES_OF_TEXT} bytes of text), expected at most {}",
            limits.total_size
        );
        let first = schema.types.get(Builtin::ALL.len()).map(TypeDefinition::location);
        diagnostics
            .limit_exceeded(first.unwrap_or(crate::components::NOWHERE), message)
            .with_note("this is the limit `total_size`; of a larger contract, no type is read");
        schema.clear();
    }
}

/// Sorts the nodes of a graph without circles, so that each node follows those that it leads to.
fn parts_first(nodes: usize, edges: impl Fn(usize) -> Vec<usize>) -> Vec<usize> {
    let mut is_known = vec![false; nodes];
    let mut order = Vec::with_capacity(nodes);
    for root in 0..nodes {
        if std::mem::replace(&mut is_known[root], true) {
            continue;
        }
        let mut open = vec![(root, edges(root).into_iter())];
        while let Some((node, targets)) = open.last_mut() {
            match targets.next() {
                Some(target) if std::mem::replace(&mut is_known[target], true) => {}
                Some(target) => open.push((target, edges(target).into_iter())),
                None => {
                    order.push(*node);
                    open.pop();
                }
            }
        }
    }
    order
}

/// Returns the number of descendants of each node of a forest.
fn descendants(nodes: usize, parent: impl Fn(usize) -> Option<usize>) -> Vec<u64> {
    let mut counts = vec![0; nodes];
    for node in parts_first(nodes, |node| parent(node).into_iter().collect()).into_iter().rev() {
        if let Some(parent) = parent(node) {
            counts[parent] += 1 + counts[node];
        }
    }
    counts
}

fn too_deep(diagnostics: &mut Diagnostics, location: Location, message: String, limit: usize) {
    let message = format!("{message} more than {limit} steps, expected fewer");
    diagnostics.error(location, message).with_note("this is the limit `derivation`; the step is left out");
}

fn limit_derivation(schema: &mut Schema, limits: &Limits, diagnostics: &mut Diagnostics) {
    let any_type = TypeId::from(Builtin::AnyType).index();
    let base = |schema: &Schema, node: usize| match schema.types[node].base().index() {
        _ if node == any_type => None,
        base => Some(base),
    };
    let order = parts_first(schema.types.len(), |node| base(schema, node).into_iter().collect());
    let mut depths = vec![0_usize; schema.types.len()];
    for slot in order {
        let Some(base) = base(schema, slot) else { continue };
        depths[slot] = depths[base] + usize::from(slot >= Builtin::ALL.len());
        if depths[slot] > limits.derivation {
            let id = TypeId(slot as u32);
            let message = format!("{} is derived from others in", called(schema, id));
            too_deep(diagnostics, schema[id].location(), message, limits.derivation);
            schema.reset_base(id);
            depths[slot] = 1;
        }
    }
}

/// Returns the members of a union or the items of a list.
fn parts_of(schema: &Schema, node: usize) -> Vec<usize> {
    match &schema.types[node] {
        TypeDefinition::Simple(simple) => match &simple.variety {
            Variety::Atomic => Vec::new(),
            Variety::List { item } => vec![item.index()],
            Variety::Union { members } => members.iter().map(|member| member.index()).collect(),
        },
        TypeDefinition::Complex(_) => Vec::new(),
    }
}

fn limit_parts(schema: &mut Schema, limits: &Limits, diagnostics: &mut Diagnostics) {
    let order = parts_first(schema.types.len(), |node| parts_of(schema, node));
    let mut depths = vec![0_usize; schema.types.len()];
    let limit = limits.derivation.min(MAX_NESTING as usize);
    for slot in order {
        let inner = parts_of(schema, slot).into_iter().map(|part| depths[part] + 1);
        depths[slot] = inner.max().unwrap_or(0);
        if depths[slot] > limit {
            let id = TypeId(slot as u32);
            let message = format!("{} is made of lists and unions in", called(schema, id));
            too_deep(diagnostics, schema[id].location(), message, limit);
            schema.remove_content(id);
            depths[slot] = 0;
        }
    }
}

fn limit_substitutions(schema: &mut Schema, limits: &Limits, diagnostics: &mut Diagnostics) {
    let head = |schema: &Schema, slot: usize| Some(schema.elements[slot].substitution_group?.index());
    let order = parts_first(schema.elements.len(), |node| head(schema, node).into_iter().collect());
    let mut depths = vec![0_usize; schema.elements.len()];
    for slot in order {
        let Some(head) = head(schema, slot) else { continue };
        depths[slot] = depths[head] + 1;
        if depths[slot] > limits.derivation {
            let element = &schema[ElementId(slot as u32)];
            let message = format!("element {} stands for others in", element.name);
            too_deep(diagnostics, element.location, message, limits.derivation);
            schema.elements[slot].substitution_group = None;
            depths[slot] = 0;
        }
    }
}

struct Sizes {
    limits: Limits,
    /// The number of substitutes of each element.
    substitutes: Vec<u64>,
    /// The sizes of elements, including their substitutes.
    elements: Vec<u64>,
    /// The sizes of groups and attribute groups, including those that they refer to.
    groups: Vec<u64>,
    attribute_groups: Vec<u64>,
}

impl Sizes {
    fn is_too_large(&self, size: u64) -> bool {
        size > self.limits.type_size as u64
    }

    fn too_large(&self, diagnostics: &mut Diagnostics, location: Location, what: &str, size: u64) {
        let limit = self.limits.type_size;
        let message = format!(
            "{what} has {size} particles, attributes, facets and member types (each {BYTES_OF_TEXT} bytes of text \
             count as one), expected at most {limit}"
        );
        diagnostics.error(location, message).with_note("this is the limit `type_size`; the content is left out");
    }

    fn elements(&mut self, schema: &Schema) {
        let size = |(slot, substitutes): (usize, &u64)| {
            let element = &schema.elements[slot];
            let texts = size_of_texts(&element.annotation, element.value_constraint.as_ref());
            let constraints = element.identity_constraints.iter().map(|constraint| {
                let fields = constraint.fields.iter().map(|field| 1 + size_of_text(&field.text));
                1 + size_of_name(&constraint.name) + size_of_text(&constraint.selector.text) + fields.sum::<u64>()
            });
            1 + substitutes + size_of_name(&element.name) + texts + constraints.sum::<u64>()
        };
        self.elements = self.substitutes.iter().enumerate().map(size).collect();
    }

    fn groups(&mut self, schema: &mut Schema, diagnostics: &mut Diagnostics) {
        self.groups = vec![1; schema.groups.len()];
        let mut depths = vec![0_u32; schema.groups.len()];
        for slot in parts_first(schema.groups.len(), |node| references(&schema.groups[node].group)) {
            let definition = &schema.groups[slot];
            let size = self.group(&definition.group).saturating_add(size_of_texts(&definition.annotation, None));
            let depth = depth_of(&definition.group, &depths);
            let what = format!("group {}", definition.name);
            if depth > MAX_NESTING {
                let message = format!("{what} has groups {depth} deep, expected at most {MAX_NESTING}");
                diagnostics.error(definition.location, message).with_note("the content is left out");
            } else if self.is_too_large(size) {
                self.too_large(diagnostics, definition.location, &what, size);
            } else {
                (self.groups[slot], depths[slot]) = (size, depth);
                continue;
            }
            schema.groups[slot].group = ModelGroup::empty();
            depths[slot] = 1;
        }
    }

    fn group(&self, group: &ModelGroup) -> u64 {
        group.particles.iter().map(|particle| self.particle(particle)).fold(1, u64::saturating_add)
    }

    /// The recursion is limited by the document's nesting depth.
    fn particle(&self, particle: &Particle) -> u64 {
        match &particle.term {
            Term::Element(id) => self.elements[id.index()],
            Term::Wildcard(wildcard) => 1 + size_of_wildcard(wildcard),
            Term::GroupReference(id) => self.groups[id.index()],
            Term::Group(group) => self.group(group),
        }
    }

    fn attribute_groups(&mut self, schema: &mut Schema, diagnostics: &mut Diagnostics) {
        self.attribute_groups = vec![1; schema.attribute_groups.len()];
        let parts = |node: usize| -> Vec<usize> {
            schema.attribute_groups[node].attribute_groups.iter().map(|part| part.index()).collect()
        };
        for slot in parts_first(schema.attribute_groups.len(), parts) {
            let group = &schema.attribute_groups[slot];
            let inner = group.attribute_groups.iter().map(|part| self.attribute_groups[part.index()]);
            let any = group.attribute_wildcard.as_ref().map_or(0, size_of_wildcard);
            let own = 1 + any + size_of_attributes(schema, &group.attribute_uses);
            let size = inner.fold(own, u64::saturating_add);
            if self.is_too_large(size) {
                self.too_large(diagnostics, group.location, &format!("attribute group {}", group.name), size);
                schema.attribute_groups[slot].attribute_groups.clear();
                schema.attribute_groups[slot].attribute_uses.clear();
            } else {
                self.attribute_groups[slot] = size;
            }
        }
    }

    /// Returns the total size of all types.
    fn types(&self, schema: &mut Schema, diagnostics: &mut Diagnostics) -> u64 {
        let any_type = TypeId::from(Builtin::AnyType).index();
        let parts = |node: usize| -> Vec<usize> {
            let base = (node != any_type).then(|| schema.types[node].base().index());
            parts_of(schema, node).into_iter().chain(base).collect()
        };
        let mut sizes = vec![0_u64; schema.types.len()];
        let mut total = 0_u64;
        for slot in parts_first(schema.types.len(), parts) {
            if slot < Builtin::ALL.len() {
                continue;
            }
            let size = self.type_size(schema, slot, &sizes);
            let id = TypeId(slot as u32);
            if self.is_too_large(size) {
                self.too_large(diagnostics, schema[id].location(), &called(schema, id), size);
                schema.reset_base(id);
                schema.remove_content(id);
                sizes[slot] = 1;
            } else {
                sizes[slot] = size;
            }
            total = total.saturating_add(sizes[slot]);
        }
        total
    }

    fn type_size(&self, schema: &Schema, slot: usize, sizes: &[u64]) -> u64 {
        let definition = &schema.types[slot];
        let base = sizes[definition.base().index()];
        let own = match definition {
            TypeDefinition::Simple(simple) => {
                let is_enumeration = simple.facets.iter().any(|facet| facet.kind == FacetKind::Enumeration);
                let members = parts_of(schema, slot).into_iter().map(|part| 1 + sizes[part]);
                // An enumeration replaces that of the base, but is compared with it.
                let base = if is_enumeration { base.min(schema_steps(schema, slot)) } else { base };
                let own = base.saturating_add(size_of_facets(simple));
                return members.fold(1 + own, u64::saturating_add);
            }
            TypeDefinition::Complex(complex) => {
                let groups = complex.attribute_groups.iter().map(|group| self.attribute_groups[group.index()]);
                let attributes = groups.fold(size_of_attributes(schema, &complex.attribute_uses), u64::saturating_add);
                let any = complex.attribute_wildcard.as_ref().map_or(0, size_of_wildcard);
                attributes
                    .saturating_add(any)
                    .saturating_add(complex.content.particle().map_or(0, |particle| self.particle(particle)))
            }
        };
        base.saturating_add(1 + own)
    }
}

fn size_of_text(text: &str) -> u64 {
    (text.len() / BYTES_OF_TEXT) as u64
}

fn size_of_name(name: &ExpandedName) -> u64 {
    size_of_text(name.namespace()) + size_of_text(name.local())
}

fn size_of_wildcard(wildcard: &Wildcard) -> u64 {
    match &wildcard.namespaces {
        NamespaceConstraint::Any => 0,
        NamespaceConstraint::Not(target) => size_of_text(target),
        NamespaceConstraint::OneOf(list) => list.iter().map(|one| 1 + size_of_text(one)).sum(),
    }
}

/// Returns the size of a component's annotation and value constraint.
fn size_of_texts(annotation: &Annotation, value: Option<&ValueConstraint>) -> u64 {
    let value = value.map_or(0, |(ValueConstraint::Default(text) | ValueConstraint::Fixed(text))| size_of_text(text));
    value + annotation.documentation.as_deref().map_or(0, size_of_text)
}

fn size_of_attributes(schema: &Schema, uses: &[AttributeUse]) -> u64 {
    let size = |one: &AttributeUse| {
        let declaration = &schema[one.attribute];
        let value = one.value_constraint.as_ref().or(declaration.value_constraint.as_ref());
        let texts = size_of_texts(&one.annotation, value) + size_of_texts(&declaration.annotation, None);
        1 + size_of_name(&declaration.name) + texts
    };
    uses.iter().map(size).sum()
}

fn size_of_facets(simple: &SimpleType) -> u64 {
    simple.facets.iter().map(|facet| 1 + size_of_text(&facet.value) + size_of_texts(&facet.annotation, None)).sum()
}

/// Returns the nesting depth of a group, including itself.
fn depth_of(group: &ModelGroup, depths: &[u32]) -> u32 {
    let inner = group.particles.iter().map(|particle| match &particle.term {
        Term::Group(inner) => depth_of(inner, depths),
        Term::GroupReference(id) => depths[id.index()],
        Term::Element(_) | Term::Wildcard(_) => 0,
    });
    1 + inner.max().unwrap_or(0)
}

/// Returns the number of derivation steps between a simple type and a built-in one.
fn schema_steps(schema: &Schema, slot: usize) -> u64 {
    schema.bases(TypeId(slot as u32)).count() as u64
}

impl Schema {
    /// Replaces the base of a type by the ur-type.
    pub(super) fn reset_base(&mut self, id: TypeId) {
        match &mut self.types[id.index()] {
            TypeDefinition::Simple(simple) => simple.base = Builtin::AnySimpleType.into(),
            TypeDefinition::Complex(complex) => {
                complex.base = Builtin::AnyType.into();
                complex.derivation = Derivation::Restriction;
                if let Content::Simple(_) = complex.content {
                    complex.content = Content::Simple(Builtin::AnySimpleType.into());
                }
            }
        }
    }

    /// Removes the content that a type itself declares.
    fn remove_content(&mut self, id: TypeId) {
        match &mut self.types[id.index()] {
            TypeDefinition::Simple(simple) => {
                simple.facets.clear();
                simple.variety = Variety::Atomic;
                simple.base = Builtin::String.into();
            }
            TypeDefinition::Complex(complex) => {
                complex.content = Content::Empty;
                complex.attribute_uses.clear();
                complex.attribute_groups.clear();
            }
        }
    }

    /// Removes everything that is not built in.
    fn clear(&mut self) {
        // The first element is the built-in `xs:schema`.
        let (types, elements) = (Builtin::ALL.len(), 1);
        self.types.truncate(types);
        self.elements.truncate(elements);
        self.attributes.clear();
        self.groups.clear();
        self.attribute_groups.clear();
        self.type_names.retain(|_, slot| (*slot as usize) < types);
        self.element_names.retain(|_, slot| (*slot as usize) < elements);
        self.attribute_names.clear();
        self.group_names.clear();
        self.attribute_group_names.clear();
        self.global_types.clear();
        self.global_elements.clear();
        self.global_attributes.clear();
    }
}
