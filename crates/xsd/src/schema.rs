//! All components of a set of documents, and the properties that are computed from several components.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Index;
use std::sync::Arc;

use crate::components::{
    AttributeDeclaration, AttributeGroupDefinition, AttributeGroupId, AttributeId, AttributeUse, ComplexType,
    Compositor, Content, Derivation, DerivationSet, ElementDeclaration, ElementId, Facet, FacetKind, GroupId,
    ModelGroup, ModelGroupDefinition, NOWHERE, NamespaceConstraint, Notation, Particle, ProcessContents, SimpleType,
    Term, TypeDefinition, TypeId, Use, Variety, WhiteSpace, Wildcard,
};
use crate::definition::CompiledTypes;
use crate::parse::{Components, SymbolSpace};
use crate::{Builtin, Defect, ExpandedName, Limits, XSD_NAMESPACE};

/// A schema in the sense of Part 1 §2.2: a set of components from any number of documents and namespaces.
///
/// Every id that a schema returns, or that one of its components holds, can index it: `schema[type_id]`. Circular
/// types, groups and substitution groups have been reported and cut, so following references always ends.
#[derive(Debug, Clone)]
pub struct Schema {
    pub(crate) limits: Limits,
    pub(crate) types: Vec<TypeDefinition>,
    pub(crate) elements: Vec<ElementDeclaration>,
    pub(crate) attributes: Vec<AttributeDeclaration>,
    pub(crate) groups: Vec<ModelGroupDefinition>,
    pub(crate) attribute_groups: Vec<AttributeGroupDefinition>,
    pub(crate) notations: Vec<Notation>,
    /// The namespaces of all components.
    pub(crate) namespaces: HashSet<String>,
    pub(crate) type_names: HashMap<ExpandedName, u32>,
    pub(crate) element_names: HashMap<ExpandedName, u32>,
    pub(crate) attribute_names: HashMap<ExpandedName, u32>,
    pub(crate) group_names: HashMap<ExpandedName, u32>,
    pub(crate) attribute_group_names: HashMap<ExpandedName, u32>,
    pub(crate) global_types: Vec<u32>,
    pub(crate) global_elements: Vec<u32>,
    pub(crate) global_attributes: Vec<u32>,
    /// Types by base type, and elements by the head of their substitution group.
    pub(crate) derived: HashMap<TypeId, Vec<TypeId>>,
    pub(crate) substitutes: HashMap<ElementId, Vec<ElementId>>,
    /// Why a component can't be used: an error in it, or in a component that it depends on.
    pub(crate) defects: HashMap<(SymbolSpace, u32), Arc<Defect>>,
    /// Whether a limit was exceeded.
    pub(crate) is_truncated: bool,
    pub(crate) definitions: CompiledTypes,
}

macro_rules! index {
    ($($id:ident $field:ident $component:ident;)*) => {$(
        impl Index<$id> for Schema {
            type Output = $component;

            fn index(&self, id: $id) -> &$component {
                &self.$field[id.index()]
            }
        }
    )*};
}

index! {
    TypeId types TypeDefinition;
    ElementId elements ElementDeclaration;
    AttributeId attributes AttributeDeclaration;
    GroupId groups ModelGroupDefinition;
    AttributeGroupId attribute_groups AttributeGroupDefinition;
}

/// Access to components by name and as lists.
impl Schema {
    /// Returns the limits that the contract was read with. They also apply to what is generated from it.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns true if the schema has a component in this namespace.
    #[must_use]
    pub fn has_namespace(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace)
    }

    /// Returns the type with this name.
    #[must_use]
    pub fn find_type(&self, name: &ExpandedName) -> Option<TypeId> {
        self.type_names.get(name).copied().map(TypeId)
    }

    /// Returns the global element with this name.
    #[must_use]
    pub fn find_element(&self, name: &ExpandedName) -> Option<ElementId> {
        self.element_names.get(name).copied().map(ElementId)
    }

    /// Returns the global attribute with this name.
    #[must_use]
    pub fn find_attribute(&self, name: &ExpandedName) -> Option<AttributeId> {
        self.attribute_names.get(name).copied().map(AttributeId)
    }

    /// Returns the model group with this name.
    #[must_use]
    pub fn find_group(&self, name: &ExpandedName) -> Option<GroupId> {
        self.group_names.get(name).copied().map(GroupId)
    }

    /// Returns the attribute group with this name.
    #[must_use]
    pub fn find_attribute_group(&self, name: &ExpandedName) -> Option<AttributeGroupId> {
        self.attribute_group_names.get(name).copied().map(AttributeGroupId)
    }

    /// Returns the named types in the order of their definitions, without the built-in types.
    pub fn global_types(&self) -> impl ExactSizeIterator<Item = TypeId> + '_ {
        self.global_types.iter().copied().map(TypeId)
    }

    /// Returns the global elements in the order of their declarations.
    pub fn global_elements(&self) -> impl ExactSizeIterator<Item = ElementId> + '_ {
        self.global_elements.iter().copied().map(ElementId)
    }

    /// Returns the global attributes in the order of their declarations.
    pub fn global_attributes(&self) -> impl ExactSizeIterator<Item = AttributeId> + '_ {
        self.global_attributes.iter().copied().map(AttributeId)
    }

    /// Returns all types, including built-in and anonymous ones.
    pub fn types(&self) -> impl ExactSizeIterator<Item = (TypeId, &TypeDefinition)> {
        self.types.iter().enumerate().map(|(index, definition)| (TypeId(index as u32), definition))
    }

    /// Returns all elements, including local ones.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = (ElementId, &ElementDeclaration)> {
        self.elements.iter().enumerate().map(|(index, declaration)| (ElementId(index as u32), declaration))
    }

    /// Returns the notations.
    #[must_use]
    pub fn notations(&self) -> &[Notation] {
        &self.notations
    }

    /// Returns the error that makes this type unusable: an error in the type, or in a component that it depends on.
    #[must_use]
    pub fn type_defect(&self, id: TypeId) -> Option<&Defect> {
        self.defects.get(&(SymbolSpace::Type, id.0)).map(|defect| &**defect)
    }

    /// Returns the error that makes this element unusable: an error in the element, or in a component that it depends
    /// on.
    #[must_use]
    pub fn element_defect(&self, id: ElementId) -> Option<&Defect> {
        self.defects.get(&(SymbolSpace::Element, id.0)).map(|defect| &**defect)
    }

    /// Returns true if a limit was exceeded. The schema is then incomplete, and nothing in it can be used.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Returns the types whose base is this type, without those that have a [defect](Self::type_defect).
    #[must_use]
    pub fn derived_types(&self, base: TypeId) -> &[TypeId] {
        self.derived.get(&base).map_or(&[], Vec::as_slice)
    }

    /// Returns all elements in the substitution group of `head`, without `head` itself (§3.3.6).
    ///
    /// The list includes abstract elements and elements that `block` excludes. It leaves out elements that have a
    /// [defect](Self::element_defect).
    #[must_use]
    pub fn substitutes(&self, head: ElementId) -> Vec<ElementId> {
        let mut found = Vec::new();
        let mut open = vec![head];
        while let Some(head) = open.pop() {
            let members = self.substitutes.get(&head).map_or(&[][..], Vec::as_slice);
            found.extend(members);
            open.extend(members);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns true if `type_id` is `base` or is derived from it.
    #[must_use]
    pub fn is_derived_from(&self, type_id: TypeId, base: TypeId) -> bool {
        self.bases(type_id).any(|ancestor| ancestor == base)
    }

    /// Returns the type itself, its base, the base's base and so on up to `xs:anyType`.
    pub fn bases(&self, type_id: TypeId) -> impl Iterator<Item = TypeId> + '_ {
        std::iter::successors(Some(type_id), |&id| {
            let base = self[id].base();
            (base != id).then_some(base)
        })
    }
}

/// Complex types, together with what they inherit from their bases.
impl Schema {
    /// Returns the {content type} of a type (§3.4.2): the content of the base, followed by what each extension adds.
    ///
    /// References to groups are replaced by the groups, and redundant groups are removed ([`Schema::flatten`]). The
    /// term of the particle is always a group. A simple type is its own simple content.
    #[must_use]
    pub fn content(&self, type_id: TypeId) -> Content {
        self.content_by(type_id, Self::flatten)
    }

    /// Returns the {content type} of a type, without pointless groups ([`Schema::without_pointless`]).
    pub(crate) fn content_as_declared(&self, type_id: TypeId) -> Content {
        self.content_by(type_id, Self::without_pointless)
    }

    fn content_by(&self, type_id: TypeId, flatten: fn(&Self, &Particle) -> Particle) -> Content {
        let mut steps = Vec::new();
        let mut mixed = false;
        for id in self.bases(type_id) {
            let TypeDefinition::Complex(complex) = &self[id] else { return Content::Simple(id) };
            mixed |= matches!(complex.content, Content::Mixed(_));
            match &complex.content {
                Content::Simple(simple) => return Content::Simple(*simple),
                Content::ElementOnly(particle) | Content::Mixed(particle) => steps.push(particle),
                Content::Empty => {}
            }
            if complex.derivation == Derivation::Restriction {
                break;
            }
        }
        steps.reverse();
        let particle = match steps.as_slice() {
            [] => None,
            [one] => Some(flatten(self, one)),
            _ => Some(self.joined(steps.into_iter().map(|step| flatten(self, step)).collect(), flatten)),
        };
        match (particle, mixed) {
            (Some(particle), false) if is_nothing(&particle) => Content::Empty,
            (Some(particle), false) => Content::ElementOnly(particle),
            (Some(particle), true) => Content::Mixed(particle),
            (None, true) => Content::Mixed(Particle::once(Term::Group(ModelGroup::empty()))),
            (None, false) => Content::Empty,
        }
    }

    /// Joins the content of a base and the content of its extensions. They become a sequence, or one `<all>` if both
    /// are an `<all>` (allowed in XSD 1.1).
    fn joined(&self, steps: Vec<Particle>, flatten: fn(&Self, &Particle) -> Particle) -> Particle {
        let all = |step: &Particle| match &step.term {
            Term::Group(group) => group.compositor == Compositor::All && step.is_once(),
            _ => false,
        };
        if !steps.iter().all(all) {
            let group = ModelGroup { compositor: Compositor::Sequence, particles: steps };
            return flatten(self, &Particle::once(Term::Group(group)));
        }
        let groups = steps.into_iter().filter_map(|step| match step.term {
            Term::Group(group) => Some(group.particles),
            _ => None,
        });
        let group = ModelGroup { compositor: Compositor::All, particles: groups.flatten().collect() };
        Particle::once(Term::Group(group))
    }

    /// Returns an equivalent particle in which references to groups are replaced by the groups and redundant groups are
    /// removed.
    ///
    /// A group is redundant if it is empty, if it has one particle, or if it occurs once directly in a group of the
    /// same kind (a sequence in a sequence, a choice in a choice). The outermost term is a group.
    #[must_use]
    pub fn flatten(&self, particle: &Particle) -> Particle {
        self.flattened(particle, true)
    }

    /// Returns a particle in which references to groups are replaced by the groups and pointless groups are removed
    /// (XSD 1.0 Part 1 §3.9.6).
    ///
    /// A group with one particle is pointless only if it occurs once. The outermost term is a group.
    pub(crate) fn without_pointless(&self, particle: &Particle) -> Particle {
        self.flattened(particle, false)
    }

    fn flattened(&self, particle: &Particle, moves: bool) -> Particle {
        let flat = self.flat(particle, moves);
        match flat.term {
            Term::Group(_) => flat,
            _ => Particle::once(Term::Group(ModelGroup { compositor: Compositor::Sequence, particles: vec![flat] })),
        }
    }

    /// Flattens a particle. If `moves` is set, a group with a single particle that occurs once is replaced by that
    /// particle, which takes over the group's occurrence.
    fn flat(&self, particle: &Particle, moves: bool) -> Particle {
        let group = match &particle.term {
            Term::Element(_) | Term::Wildcard(_) => return particle.clone(),
            Term::Group(group) => group,
            Term::GroupReference(id) => &self[*id].group,
        };
        let mut particles = Vec::new();
        let (mut min_occurs, mut empty_branch) = (particle.min_occurs, false);
        for inner in &group.particles {
            let inner = self.flat(inner, moves);
            if is_nothing(&inner) {
                empty_branch = true;
                continue;
            }
            match inner.term {
                Term::Group(ModelGroup { compositor, particles: inner_particles })
                    if compositor == group.compositor
                        && compositor != Compositor::All
                        && inner.min_occurs == 1
                        && inner.max_occurs == Some(1) =>
                {
                    particles.extend(inner_particles);
                }
                term => particles.push(Particle { term, ..inner }),
            }
        }
        if group.compositor == Compositor::Choice && empty_branch {
            min_occurs = 0;
        }
        if let [one] = particles.as_slice() {
            // (a{i,j}){m,n} equals a{im,jn} if one of the two occurs once, but not in general.
            if moves && one.is_once() {
                return Particle { min_occurs, max_occurs: particle.max_occurs, term: one.term.clone() };
            }
            if min_occurs == 1 && particle.max_occurs == Some(1) {
                return one.clone();
            }
        }
        let group = ModelGroup { compositor: group.compositor, particles };
        Particle { min_occurs, max_occurs: particle.max_occurs, term: Term::Group(group) }
    }

    /// Returns all attributes of a type: those of its bases first, with attribute groups replaced by their attributes.
    /// Prohibited attributes are left out (§3.4.2).
    #[must_use]
    pub fn attribute_uses(&self, type_id: TypeId) -> Vec<AttributeUse> {
        let mut chain: Vec<&ComplexType> = self.bases(type_id).map_while(|id| self[id].as_complex()).collect();
        chain.reverse();
        let mut uses: Vec<Option<AttributeUse>> = Vec::new();
        let mut known: HashMap<&ExpandedName, usize> = HashMap::new();
        for attribute_use in chain.into_iter().flat_map(|complex| self.own_attribute_uses(complex)) {
            let is_prohibited = attribute_use.use_ == Use::Prohibited;
            match known.entry(&self[attribute_use.attribute].name) {
                // A prohibited attribute removes the inherited one. Without an inherited one it has no effect.
                Entry::Occupied(index) if is_prohibited => uses[index.remove()] = None,
                Entry::Occupied(index) => uses[*index.get()] = Some(attribute_use),
                Entry::Vacant(_) if is_prohibited => {}
                Entry::Vacant(entry) => {
                    entry.insert(uses.len());
                    uses.push(Some(attribute_use));
                }
            }
        }
        uses.into_iter().flatten().collect()
    }

    /// Returns the {attribute wildcard} of a type (§3.4.2). Within one type it is the intersection of all wildcards; an
    /// extension allows what the type or its base allows.
    #[must_use]
    pub fn attribute_wildcard(&self, type_id: TypeId) -> Option<Wildcard> {
        let mut result: Option<Wildcard> = None;
        let mut chain: Vec<&ComplexType> = self.bases(type_id).map_while(|id| self[id].as_complex()).collect();
        chain.reverse();
        for complex in chain {
            let own = self.own_attribute_wildcard(complex);
            result = match (complex.derivation, result, own) {
                (Derivation::Restriction, _, own) | (Derivation::Extension, None, own) => own,
                (Derivation::Extension, base, None) => base,
                (Derivation::Extension, Some(base), Some(own)) => Some(Wildcard {
                    namespaces: base.namespaces.union(&own.namespaces),
                    process_contents: own.process_contents,
                }),
            };
        }
        result
    }

    /// Returns the attributes that the type's own definition declares, including those of its attribute groups.
    pub(crate) fn own_attribute_uses(&self, complex: &ComplexType) -> Vec<AttributeUse> {
        let mut own = complex.attribute_uses.clone();
        for group in self.attribute_groups_of(&complex.attribute_groups) {
            own.extend(group.attribute_uses.iter().cloned());
        }
        own
    }

    /// Returns the wildcard that the type's own definition declares (§3.4.2, the complete wildcard).
    pub(crate) fn own_attribute_wildcard(&self, complex: &ComplexType) -> Option<Wildcard> {
        let groups = self.attribute_groups_of(&complex.attribute_groups);
        let parts =
            complex.attribute_wildcard.iter().chain(groups.iter().filter_map(|g| g.attribute_wildcard.as_ref()));
        parts.cloned().reduce(|one, two| Wildcard {
            namespaces: one.namespaces.intersection(&two.namespaces),
            process_contents: one.process_contents,
        })
    }

    /// Returns these attribute groups and those that they refer to, each once.
    fn attribute_groups_of(&self, ids: &[AttributeGroupId]) -> Vec<&AttributeGroupDefinition> {
        let mut seen = HashSet::new();
        let mut open: Vec<_> = ids.iter().rev().copied().collect();
        let mut groups = Vec::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                groups.push(&self[id]);
                open.extend(self[id].attribute_groups.iter().rev());
            }
        }
        groups
    }
}

/// Simple types, together with what they inherit from their bases.
impl Schema {
    /// Returns the nearest built-in type that a type is derived from. It determines how an atomic value is read.
    #[must_use]
    pub fn builtin(&self, type_id: TypeId) -> Builtin {
        self.bases(type_id).find_map(TypeId::builtin).unwrap_or(Builtin::AnyType)
    }

    /// Returns the facets of a simple type from all steps of derivation: the innermost facet of each kind, and all
    /// patterns.
    ///
    /// The patterns of one step are alternatives; [`patterns`](Self::patterns) returns them grouped by step.
    #[must_use]
    pub fn facets(&self, type_id: TypeId) -> Vec<&Facet> {
        let mut facets: Vec<&Facet> = Vec::new();
        for simple in self.simple_steps(type_id) {
            let covered: HashSet<FacetKind> = facets.iter().map(|facet| facet.kind).collect();
            facets.extend(
                simple.facets.iter().filter(|facet| facet.kind == FacetKind::Pattern || !covered.contains(&facet.kind)),
            );
        }
        facets
    }

    /// Returns the values of the innermost enumeration of a simple type. The list is empty if there is no enumeration.
    #[must_use]
    pub fn enumeration(&self, type_id: TypeId) -> Vec<&Facet> {
        let mut facets = self.facets(type_id);
        facets.retain(|facet| facet.kind == FacetKind::Enumeration);
        facets
    }

    /// Returns the patterns of a simple type. A value must match at least one pattern of each inner list.
    #[must_use]
    pub fn patterns(&self, type_id: TypeId) -> Vec<Vec<&str>> {
        let mut steps: Vec<Vec<&str>> = Vec::new();
        for simple in self.simple_steps(type_id) {
            let patterns = simple.facets.iter().filter(|facet| facet.kind == FacetKind::Pattern);
            let step: Vec<&str> = patterns.map(|facet| facet.value.as_str()).collect();
            if !step.is_empty() {
                steps.push(step);
            }
        }
        steps
    }

    /// Returns how white space is normalized before a value of a simple type is read.
    #[must_use]
    pub fn white_space(&self, type_id: TypeId) -> WhiteSpace {
        for simple in self.simple_steps(type_id) {
            if let Some(facet) = simple.facets.iter().find(|facet| facet.kind == FacetKind::WhiteSpace) {
                return match facet.value.trim() {
                    "preserve" => WhiteSpace::Preserve,
                    "replace" => WhiteSpace::Replace,
                    _ => WhiteSpace::Collapse,
                };
            }
        }
        match &self[type_id] {
            TypeDefinition::Simple(simple) if simple.variety != Variety::Atomic => WhiteSpace::Collapse,
            _ => self.builtin(type_id).white_space(),
        }
    }

    /// Returns the steps of derivation of a simple type, innermost first.
    fn simple_steps(&self, type_id: TypeId) -> impl Iterator<Item = &SimpleType> {
        self.bases(type_id).map_while(|id| self[id].as_simple())
    }
}

/// Returns true if only empty content matches.
fn is_nothing(particle: &Particle) -> bool {
    match &particle.term {
        // An empty choice that must occur can't be satisfied (§3.8.4), so it is not empty content.
        Term::Group(group) => {
            group.particles.is_empty() && (group.compositor != Compositor::Choice || particle.min_occurs == 0)
        }
        _ => particle.max_occurs == Some(0),
    }
}

/// Defines the built-in types in the first slots.
pub(crate) fn define_builtins(components: &mut Components) {
    for &builtin in Builtin::ALL {
        let name = Some(ExpandedName::new(XSD_NAMESPACE, builtin.name()));
        let slot = components.types.named(&ExpandedName::new(XSD_NAMESPACE, builtin.name()));
        let definition = match builtin {
            Builtin::AnyType => TypeDefinition::Complex(any_type(name)),
            _ => TypeDefinition::Simple(SimpleType {
                name,
                owner: None,
                base: builtin.base().into(),
                variety: builtin.variety(),
                facets: Vec::new(),
                final_: DerivationSet::default(),
                annotation: Default::default(),
                location: NOWHERE,
            }),
        };
        components.types.define(slot, definition);
    }
    // The data sets of .NET use `<element ref="xs:schema"/>` for a schema within a message.
    let name = ExpandedName::new(XSD_NAMESPACE, "schema");
    let slot = components.elements.named(&name);
    components.elements.define(slot, ElementDeclaration::of_any_type(name));
}

/// Returns the ur-type (§3.4.7), which also replaces a type that isn't defined.
pub(crate) fn any_type(name: Option<ExpandedName>) -> ComplexType {
    let any = Wildcard { namespaces: NamespaceConstraint::Any, process_contents: ProcessContents::Lax };
    let elements = Particle { min_occurs: 0, max_occurs: None, term: Term::Wildcard(any.clone()) };
    let group = ModelGroup { compositor: Compositor::Sequence, particles: vec![elements] };
    ComplexType {
        name,
        owner: None,
        base: Builtin::AnyType.into(),
        derivation: Derivation::Restriction,
        is_abstract: false,
        final_: DerivationSet::default(),
        block: DerivationSet::default(),
        content: Content::Mixed(Particle::once(Term::Group(group))),
        attribute_uses: Vec::new(),
        attribute_groups: Vec::new(),
        attribute_wildcard: Some(any),
        annotation: Default::default(),
        location: NOWHERE,
    }
}

/// Returns the name of a type for diagnostics.
pub(crate) fn called(schema: &Schema, type_id: TypeId) -> String {
    match schema[type_id].name() {
        Some(name) if name.namespace() == XSD_NAMESPACE => format!("type xs:{}", name.local()),
        Some(name) => format!("type {name}"),
        None => "a type without a name".to_owned(),
    }
}
