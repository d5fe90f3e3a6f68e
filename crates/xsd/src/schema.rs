//! All components of a set of documents, and what follows from them together.

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
use crate::parse::{Components, Kind};
use crate::{Builtin, Defect, ExpandedName, Limits, XSD_NAMESPACE};

/// A schema in the sense of Part 1 §2.2: a set of components, from however many documents and namespaces.
///
/// Every id that it gives out, or that a component in it holds, is good for indexing: `schema[type_id]`. Types,
/// groups and substitution groups that go round in circles have been reported and cut, so whatever follows them ends.
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
    /// Types by base, elements by head of their substitution group.
    pub(crate) derived: HashMap<TypeId, Vec<TypeId>>,
    pub(crate) substitutes: HashMap<ElementId, Vec<ElementId>>,
    /// Why a component can't be used: what is wrong with it, or with one that it depends on.
    pub(crate) defects: HashMap<(Kind, u32), Arc<Defect>>,
    /// Whether a limit was passed.
    pub(crate) is_cut: bool,
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

/// Components by name and all together.
impl Schema {
    /// The limits within which the contract was read, for what is made of it.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether there is a component of this namespace.
    #[must_use]
    pub fn has_namespace(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace)
    }

    /// The type of this name.
    #[must_use]
    pub fn find_type(&self, name: &ExpandedName) -> Option<TypeId> {
        self.type_names.get(name).copied().map(TypeId)
    }

    /// The global element of this name.
    #[must_use]
    pub fn find_element(&self, name: &ExpandedName) -> Option<ElementId> {
        self.element_names.get(name).copied().map(ElementId)
    }

    /// The global attribute of this name.
    #[must_use]
    pub fn find_attribute(&self, name: &ExpandedName) -> Option<AttributeId> {
        self.attribute_names.get(name).copied().map(AttributeId)
    }

    /// The model group of this name.
    #[must_use]
    pub fn find_group(&self, name: &ExpandedName) -> Option<GroupId> {
        self.group_names.get(name).copied().map(GroupId)
    }

    /// The attribute group of this name.
    #[must_use]
    pub fn find_attribute_group(&self, name: &ExpandedName) -> Option<AttributeGroupId> {
        self.attribute_group_names.get(name).copied().map(AttributeGroupId)
    }

    /// The types that have a name, in the order of their definitions, without the built-in ones.
    pub fn global_types(&self) -> impl ExactSizeIterator<Item = TypeId> + '_ {
        self.global_types.iter().copied().map(TypeId)
    }

    /// The global elements, in the order of their declarations.
    pub fn global_elements(&self) -> impl ExactSizeIterator<Item = ElementId> + '_ {
        self.global_elements.iter().copied().map(ElementId)
    }

    /// The global attributes, in the order of their declarations.
    pub fn global_attributes(&self) -> impl ExactSizeIterator<Item = AttributeId> + '_ {
        self.global_attributes.iter().copied().map(AttributeId)
    }

    /// All types, those built in and those without a name too.
    pub fn types(&self) -> impl ExactSizeIterator<Item = (TypeId, &TypeDefinition)> {
        self.types.iter().enumerate().map(|(index, definition)| (TypeId(index as u32), definition))
    }

    /// All elements, local ones too.
    pub fn elements(&self) -> impl ExactSizeIterator<Item = (ElementId, &ElementDeclaration)> {
        self.elements.iter().enumerate().map(|(index, declaration)| (ElementId(index as u32), declaration))
    }

    /// The notations.
    #[must_use]
    pub fn notations(&self) -> &[Notation] {
        &self.notations
    }

    /// Why values of this type can't be read as the contract means them: an error in it, or in what it depends on.
    #[must_use]
    pub fn type_defect(&self, id: TypeId) -> Option<&Defect> {
        self.defects.get(&(Kind::Type, id.0)).map(|defect| &**defect)
    }

    /// Why this element can't be read as the contract means it: an error in it, or in what it depends on.
    #[must_use]
    pub fn element_defect(&self, id: ElementId) -> Option<&Defect> {
        self.defects.get(&(Kind::Element, id.0)).map(|defect| &**defect)
    }

    /// Whether a limit was passed: it is not the whole contract, and nothing of it can be used.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The types whose base is this one, without those that have a [defect](Self::type_defect).
    #[must_use]
    pub fn derived_types(&self, base: TypeId) -> &[TypeId] {
        self.derived.get(&base).map_or(&[], Vec::as_slice)
    }

    /// All elements that may stand where `head` is referred to, itself left out (§3.3.6, substitution groups):
    /// those that `block` excludes and abstract ones are among them, those that have a [defect](Self::element_defect) are
    /// not.
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

    /// True if `type_id` is `base` or derived from it.
    #[must_use]
    pub fn is_derived_from(&self, type_id: TypeId, base: TypeId) -> bool {
        self.bases(type_id).any(|ancestor| ancestor == base)
    }

    /// The type itself, its base, the base of that and so on to `xs:anyType`.
    pub fn bases(&self, type_id: TypeId) -> impl Iterator<Item = TypeId> + '_ {
        std::iter::successors(Some(type_id), |&id| {
            let base = self[id].base();
            (base != id).then_some(base)
        })
    }
}

/// Complex types with what they take from their bases.
impl Schema {
    /// The {content type} of a type (§3.4.2): that of the base first, then what each extension adds; references to
    /// groups are replaced by the groups, and groups that say nothing are dissolved ([`Schema::flatten`]).
    /// The term of its particle is always a group. A simple type is its own simple content.
    #[must_use]
    pub fn content(&self, type_id: TypeId) -> Content {
        self.content_by(type_id, Self::flatten)
    }

    /// The {content type} of a type, in which only pointless groups are dissolved ([`Schema::without_pointless`]).
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

    /// The content of a base and of what extends it: one after the other, or together where both are an `<all>`,
    /// which XSD 1.1 allows.
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

    /// A particle with every group in the place of its reference and without groups that say nothing: a
    /// sequence in a sequence or a choice in a choice that occurs once, a group of one. What is valid stays the same.
    /// The outermost term is a group.
    #[must_use]
    pub fn flatten(&self, particle: &Particle) -> Particle {
        self.flattened(particle, true)
    }

    /// A particle with every group in the place of its reference and without pointless groups (XSD 1.0 Part 1 §3.9.6). A
    /// group of one is pointless only where it occurs once. The outermost term is a group.
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

    /// `moves` says whether a group of one that occurs more or less than once gives its occurrence to that one.
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
            // (a{i,j}){m,n} is a{im,jn} when one of the two occurs once, and not in general.
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

    /// All attributes of a type: those of its bases first, those of attribute groups in place; prohibited ones are
    /// gone (§3.4.2).
    #[must_use]
    pub fn attribute_uses(&self, type_id: TypeId) -> Vec<AttributeUse> {
        let mut chain: Vec<&ComplexType> = self.bases(type_id).map_while(|id| self[id].as_complex()).collect();
        chain.reverse();
        let mut uses: Vec<Option<AttributeUse>> = Vec::new();
        let mut known: HashMap<&ExpandedName, usize> = HashMap::new();
        for attribute_use in chain.into_iter().flat_map(|complex| self.own_attribute_uses(complex)) {
            let is_prohibited = attribute_use.use_ == Use::Prohibited;
            match known.entry(&self[attribute_use.attribute].name) {
                // A prohibited attribute takes that of the base away, and says nothing when it has none.
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

    /// The {attribute wildcard} of a type (§3.4.2): within a type all that are given must agree, and an extension
    /// takes what either it or its base takes.
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

    /// The attributes that a type itself gives, those of attribute groups too.
    pub(crate) fn own_attribute_uses(&self, complex: &ComplexType) -> Vec<AttributeUse> {
        let mut own = complex.attribute_uses.clone();
        for group in self.attribute_groups_of(&complex.attribute_groups) {
            own.extend(group.attribute_uses.iter().cloned());
        }
        own
    }

    /// The wildcard that a type itself gives (§3.4.2, the complete wildcard).
    pub(crate) fn own_attribute_wildcard(&self, complex: &ComplexType) -> Option<Wildcard> {
        let groups = self.attribute_groups_of(&complex.attribute_groups);
        let parts =
            complex.attribute_wildcard.iter().chain(groups.iter().filter_map(|g| g.attribute_wildcard.as_ref()));
        parts.cloned().reduce(|one, two| Wildcard {
            namespaces: one.namespaces.intersection(&two.namespaces),
            process_contents: one.process_contents,
        })
    }

    /// The attribute groups of these ids and those that they refer to, each once.
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

/// Simple types with what they take from their bases.
impl Schema {
    /// The nearest built-in type that a type is derived from: what its values are read as if it is atomic.
    #[must_use]
    pub fn builtin(&self, type_id: TypeId) -> Builtin {
        self.bases(type_id).find_map(TypeId::builtin).unwrap_or(Builtin::AnyType)
    }

    /// The facets of a simple type, all steps of derivation together: of each kind the innermost, but every pattern.
    /// Patterns of one step, which [`patterns`](Self::patterns) tells apart, are alternatives.
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

    /// The values that a simple type is restricted to, those of its innermost enumeration; none if it isn't.
    #[must_use]
    pub fn enumeration(&self, type_id: TypeId) -> Vec<&Facet> {
        let mut facets = self.facets(type_id);
        facets.retain(|facet| facet.kind == FacetKind::Enumeration);
        facets
    }

    /// The patterns of a simple type: a value matches one of each inner list.
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

    /// What becomes of white space before a value of a simple type is read.
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

    /// The steps of derivation of a simple type, innermost first.
    fn simple_steps(&self, type_id: TypeId) -> impl Iterator<Item = &SimpleType> {
        self.bases(type_id).map_while(|id| self[id].as_simple())
    }
}

/// True if nothing can match but nothing.
fn is_nothing(particle: &Particle) -> bool {
    match &particle.term {
        // A choice of nothing that must occur can't be satisfied (§3.8.4): that is not nothing.
        Term::Group(group) => {
            group.particles.is_empty() && (group.compositor != Compositor::Choice || particle.min_occurs == 0)
        }
        _ => particle.max_occurs == Some(0),
    }
}

/// Fills the first slots with the built-in types.
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
    // .NET's data sets say `<element ref="xs:schema"/>` for a schema within the message.
    let name = ExpandedName::new(XSD_NAMESPACE, "schema");
    let slot = components.elements.named(&name);
    components.elements.define(slot, ElementDeclaration::of_any_type(name));
}

/// The ur-type (§3.4.7), or what stands in for a type that isn't defined.
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
