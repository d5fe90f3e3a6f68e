//! Checks that a type of a program extends another one (XSD Part 1 §3.4.6). The check runs at compile time.

use super::equality::{are_of, find, has_same_occurrence, is_same, is_type};
use super::{
    AttributeDeclaration, ComplexDefinition, ContentDefinition, Declaration, Definition, ElementDeclaration, Members,
    ParticleDeclaration, TermDeclaration, TypeKind,
};

/// The maximum length of a chain of types that extend each other. A cycle has no end.
const MAX_BASES: usize = 64;

/// The messages for a type that doesn't extend another one.
#[derive(Clone, Copy, Debug)]
pub struct NotExtended {
    /// The base is not an enum of types that extend each other.
    pub no_enum: &'static str,
    /// The type extends itself.
    pub itself: &'static str,
    /// The base is in another namespace.
    pub namespace: &'static str,
    /// An attribute of the base is missing or differs.
    pub attributes: &'static str,
    /// One has text and the other has elements or another type of text.
    pub text: &'static str,
    /// The elements don't begin with those of the base.
    pub elements: &'static str,
}

/// Checks that a type extends `base`: it must have all attributes of the base, and begin with its elements. Panics with a
/// message otherwise, which is a compile error in a constant.
pub const fn extends(own: &Declaration, base: &Declaration, not: &NotExtended) {
    if let Some(message) = problem(own, base, not) {
        panic!("{}", message)
    }
}

/// Checks that a type extends `base`, directly or indirectly. Panics with the message otherwise, which is a compile error in
/// a constant.
pub const fn is_derived_from(own: &Declaration, base: &Declaration, message: &str) {
    if !has_base(own, base) {
        panic!("{}", message)
    }
}

const fn problem(own: &Declaration, base: &Declaration, not: &NotExtended) -> Option<&'static str> {
    let (Definition::Complex(own_type), Definition::Complex(base_type)) = (&own.definition, &base.definition) else {
        return Some(not.no_enum);
    };
    if !base_type.is_abstract && base_type.itself.is_none() {
        return Some(not.no_enum);
    }
    let (Some(own_name), Some(base_name)) = (own.name, base.name) else { return Some(not.no_enum) };
    if is_type(own_name, base_name) || has_base(base, own) {
        return Some(not.itself);
    }
    if !is_same(own_name.namespace, base_name.namespace) {
        return Some(not.namespace);
    }
    if !has_attributes(own_type, base_type) {
        return Some(not.attributes);
    }
    match (&own_type.content, &base_type.content) {
        (ContentDefinition::Simple(_, own), ContentDefinition::Simple(_, base)) if is_same_type(own, base) => None,
        (ContentDefinition::Simple(..), _) | (_, ContentDefinition::Simple(..)) => Some(not.text),
        (ContentDefinition::Elements(own), ContentDefinition::Elements(base)) => match (&own.term, &base.term) {
            (TermDeclaration::Sequence(own), TermDeclaration::Sequence(base)) if begins_with(*own, *base) => None,
            // An `<all>` group can't be extended by elements (cos-all-limited).
            (TermDeclaration::All(own), TermDeclaration::All(base))
                if own.len() == base.len() && begins_with(*own, *base) =>
            {
                None
            }
            (_, TermDeclaration::Sequence(base)) if base.is_empty() => None,
            _ => Some(not.elements),
        },
        _ => Some(not.elements),
    }
}

/// Whether a type extends `base`, directly or indirectly. Also true if the chain of bases is too long or a cycle.
const fn has_base(own: &Declaration, base: &Declaration) -> bool {
    let Some(name) = base.name else { return false };
    let (mut of, mut row) = (own, 0);
    while row < MAX_BASES {
        let Definition::Complex(ComplexDefinition { base: Some(next), .. }) = &of.definition else { return false };
        if let Some(of_next) = next.name
            && is_type(of_next, name)
        {
            return true;
        }
        (of, row) = (next, row + 1);
    }
    true
}

const fn has_attributes(own: &ComplexDefinition, base: &ComplexDefinition) -> bool {
    let mut index = 0;
    while let Some(attribute) = base.attributes.get(index) {
        match find(&own.attributes, index, attribute.namespace, attribute.name) {
            Some(own) if is_same_attribute(&own, &attribute) => {}
            _ => return false,
        }
        index += 1;
    }
    match (&own.any_attributes, &base.any_attributes) {
        (_, None) => true,
        (Some(own), Some(base)) => are_of(own, base),
        (None, Some(_)) => false,
    }
}

const fn is_same_attribute(own: &AttributeDeclaration, base: &AttributeDeclaration) -> bool {
    own.is_required == base.is_required
        && own.is_fixed == base.is_fixed
        && is_same_default(own.default, base.default)
        && is_same_type(&own.kind, &base.kind)
}

const fn begins_with(mut own: Members, mut first: Members) -> bool {
    while let Some((base, other_first)) = first.split_first() {
        match own.split_first() {
            Some((particle, rest)) if is_same_particle(&particle, &base) => own = rest,
            _ => return false,
        }
        first = other_first;
    }
    true
}

const fn is_same_particle(own: &ParticleDeclaration, base: &ParticleDeclaration) -> bool {
    has_same_occurrence((own.min_occurs, own.max_occurs), (base.min_occurs, base.max_occurs))
        && match (&own.term, &base.term) {
            (TermDeclaration::Element(own), TermDeclaration::Element(base)) => is_same_element(own, base),
            (TermDeclaration::Any(own), TermDeclaration::Any(base)) => are_of(own, base),
            (TermDeclaration::ContentOf(_, own), TermDeclaration::ContentOf(_, base)) => is_same_type(own, base),
            (TermDeclaration::Sequence(own), TermDeclaration::Sequence(base))
            | (TermDeclaration::Choice(own), TermDeclaration::Choice(base))
            | (TermDeclaration::All(own), TermDeclaration::All(base)) => {
                own.len() == base.len() && begins_with(*own, *base)
            }
            _ => false,
        }
}

const fn is_same_element(own: &ElementDeclaration, base: &ElementDeclaration) -> bool {
    is_same(own.name, base.name)
        && is_same(own.namespace, base.namespace)
        && own.is_nillable == base.is_nillable
        && own.is_fixed == base.is_fixed
        && is_same_default(own.default, base.default)
        && is_same_type(&own.kind, &base.kind)
}

const fn is_same_type(own: &TypeKind, base: &TypeKind) -> bool {
    match (own, base) {
        (TypeKind::Simple(own), TypeKind::Simple(base)) => is_same(own, base),
        (TypeKind::List(own), TypeKind::List(base)) => is_same_type(own, base),
        (TypeKind::Restriction(own, _), TypeKind::Restriction(base, _))
        | (TypeKind::Named(own), TypeKind::Named(base)) => is_type(*own, *base),
        // An anonymous type is declared anew wherever it is used, so only the content is compared.
        (TypeKind::Unnamed(own), TypeKind::Unnamed(base)) => is_same_content(own, base),
        _ => false,
    }
}

const fn is_same_content(own: &Declaration, base: &Declaration) -> bool {
    let (Definition::Complex(own), Definition::Complex(base)) = (&own.definition, &base.definition) else {
        return false;
    };
    let are_attributes = own.attributes.len() == base.attributes.len()
        && own.any_attributes.is_some() == base.any_attributes.is_some()
        && has_attributes(own, base);
    are_attributes
        && match (&own.content, &base.content) {
            (ContentDefinition::Simple(_, own), ContentDefinition::Simple(_, base)) => is_same_type(own, base),
            (ContentDefinition::Elements(own), ContentDefinition::Elements(base))
            | (ContentDefinition::Mixed(own), ContentDefinition::Mixed(base)) => is_same_particle(own, base),
            _ => false,
        }
}

const fn is_same_default(own: Option<&str>, base: Option<&str>) -> bool {
    match (own, base) {
        (Some(own), Some(base)) => is_same(own, base),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatypes::List;
    use crate::declared::Declared;
    use crate::declared::{AttributeUses, Flattened, Of, Particle, Row};
    use crate::schema::{self, Namespaces, TypeName};

    const NOT: NotExtended = NotExtended {
        no_enum: "no enum",
        itself: "itself",
        namespace: "namespace",
        attributes: "attributes",
        text: "text",
        elements: "elements",
    };

    type Attributes = Vec<AttributeDeclaration>;
    type Particles = Vec<ParticleDeclaration>;

    fn leaked<T>(values: Vec<T>) -> &'static [T] {
        Box::leak(values.into_boxed_slice())
    }

    fn leaked_declaration(declaration: Declaration) -> &'static Declaration {
        Box::leak(Box::new(declaration))
    }

    fn attribute<T: Declared>(name: &'static str, is_required: bool) -> AttributeDeclaration {
        let ElementDeclaration { of, kind, .. } = declared::<T>();
        let (namespace, default, is_fixed, documentation) = ("", None, false, "");
        AttributeDeclaration { namespace, name, of, kind, is_required, default, is_fixed, documentation }
    }

    fn declared<T: Declared>() -> ElementDeclaration {
        let TermDeclaration::Element(element) = Of::<T>::PARTICLE.term else { panic!() };
        element
    }

    fn row(particles: impl Iterator<Item = ParticleDeclaration>) -> &'static Row {
        let particles = particles.map(|particle| &*Box::leak(Box::new(particle)));
        Box::leak(Box::new(Row { particles: leaked(particles.collect()), rest: None }))
    }

    fn uses(attributes: Attributes) -> AttributeUses {
        let types = attributes.iter().map(|attribute| ParticleDeclaration {
            min_occurs: u32::from(attribute.is_required),
            ..with(*Of::<()>::PARTICLE, |of| (of.of, of.kind) = (attribute.of, attribute.kind))
        });
        let said = attributes.iter().map(|of| (of.default, of.is_fixed, of.documentation)).collect();
        let names = attributes.iter().map(|of| schema::Attribute::new(of.namespace, of.name)).collect();
        let names = Box::leak(Box::new(schema::Attributes::new(leaked(names))));
        AttributeUses { row: row(types), names, details: leaked(said) }
    }

    fn complex(name: &'static str, attributes: Attributes, content: ContentDefinition) -> Declaration {
        let Definition::Complex(nothing) = <()>::DECLARATION.definition else { panic!() };
        let definition = Definition::Complex(ComplexDefinition { attributes: uses(attributes), content, ..nothing });
        Declaration { name: Some(TypeName::new("urn:a", name)), definition, ..*<()>::DECLARATION }
    }

    fn members(particles: Particles) -> Members {
        Members { row: row(particles.into_iter()), ..Members::NONE }
    }

    fn sequence(particles: Particles) -> ContentDefinition {
        elements(TermDeclaration::Sequence(members(particles)))
    }

    fn elements(term: TermDeclaration) -> ContentDefinition {
        ContentDefinition::Elements(ParticleDeclaration { term, ..*Of::<()>::PARTICLE })
    }

    fn element(name: &'static str) -> ParticleDeclaration {
        element_of::<i32>(name)
    }

    fn element_of<T: Declared>(name: &'static str) -> ParticleDeclaration {
        with(*Of::<T>::PARTICLE, |element| (element.namespace, element.name) = ("urn:a", name))
    }

    fn with(mut particle: ParticleDeclaration, change: impl FnOnce(&mut ElementDeclaration)) -> ParticleDeclaration {
        if let TermDeclaration::Element(element) = &mut particle.term {
            change(element);
        }
        particle
    }

    /// Declares an enum of a type and those that extend it.
    fn extended(itself: Declaration) -> &'static Declaration {
        let extended = Declaration::extended::<()>(Some(leaked_declaration(itself)), &[], false);
        leaked_declaration(Declaration { name: itself.name, ..extended })
    }

    fn changed(of: Declaration, change: impl FnOnce(&mut ComplexDefinition)) -> Declaration {
        let Definition::Complex(mut complex) = of.definition else { panic!("{of:?}") };
        change(&mut complex);
        Declaration { definition: Definition::Complex(complex), ..of }
    }

    /// Returns the message for a type with the members `own` that extends one with the members `base`.
    fn extension_error(
        own: (Attributes, ContentDefinition),
        base: (Attributes, ContentDefinition),
    ) -> Option<&'static str> {
        problem(&complex("Own", own.0, own.1), extended(complex("Base", base.0, base.1)), &NOT)
    }

    #[test]
    fn a_type_has_the_attributes_of_the_one_that_it_extends() {
        let attribute = |is_required| attribute::<i32>("a", is_required);
        let nothing = || sequence(Vec::new());
        let all = |own: Attributes, base: Attributes| extension_error((own, nothing()), (base, nothing()));
        let more = self::attribute::<String>("b", true);
        let default = AttributeDeclaration { default: Some("1"), ..attribute(false) };
        let fixed = AttributeDeclaration { is_fixed: true, ..default };
        assert_eq!(all(vec![more, attribute(false)], vec![attribute(false)]), None);
        for other in [
            attribute(true),
            default,
            AttributeDeclaration { namespace: "urn:o", ..attribute(false) },
            self::attribute::<i64>("a", false),
            self::attribute::<List<i32>>("a", false),
        ] {
            assert_eq!(all(vec![other], vec![attribute(false)]), Some("attributes"), "{other:?}");
            assert_eq!(all(vec![attribute(false)], vec![other]), Some("attributes"), "{other:?}");
        }
        assert_eq!(all(vec![default], vec![fixed]), Some("attributes"));
        let open = |name, namespaces: Option<Namespaces>| {
            changed(complex(name, Vec::new(), nothing()), |of| of.any_attributes = namespaces)
        };
        for (own, base, expected) in [
            (Some(Namespaces::Any), None, None),
            (Some(Namespaces::Any), Some(Namespaces::Any), None),
            (None, Some(Namespaces::Any), Some("attributes")),
            (Some(Namespaces::Not("urn:a")), Some(Namespaces::Any), Some("attributes")),
        ] {
            assert_eq!(problem(&open("Own", own), extended(open("Base", base)), &NOT), expected, "{own:?} {base:?}");
        }
    }

    #[test]
    fn a_type_begins_with_the_elements_of_the_one_that_it_extends() {
        let of = |own: Particles, base: Particles| {
            extension_error((Vec::new(), sequence(own)), (Vec::new(), sequence(base)))
        };
        let [a, b] = [element("a"), element("b")];
        assert_eq!(of(vec![a, b], vec![a]), None);
        assert_eq!(of(vec![a], vec![]), None);
        assert_eq!(of(vec![b, a], vec![a]), Some("elements"));
        assert_eq!(of(vec![a], vec![a, b]), Some("elements"));
        static LISTED: TypeKind = TypeKind::Listed(&[("enumeration", "x")]);
        let named = |name| {
            with(element_of::<String>("a"), |of| of.kind = TypeKind::Restriction(TypeName::new("urn:a", name), &LISTED))
        };
        let around = |name| {
            let inner = complex("", Vec::new(), sequence(vec![element(name)]));
            with(a, |of| of.kind = TypeKind::Unnamed(leaked_declaration(inner)))
        };
        let default = with(a, |of| of.default = Some("1"));
        let any = |namespaces| ParticleDeclaration { term: TermDeclaration::Any(namespaces), ..a };
        let different = [
            a,
            ParticleDeclaration { min_occurs: 0, ..a },
            ParticleDeclaration { min_occurs: 0, max_occurs: None, ..a },
            ParticleDeclaration { max_occurs: None, ..a },
            default,
            with(default, |of| of.is_fixed = true),
            with(a, |of| of.namespace = "urn:o"),
            element_of::<crate::Nillable<i32>>("a"),
            element_of::<i64>("a"),
            element_of::<String>("a"),
            element_of::<List<String>>("a"),
            named("Status"),
            named("Other"),
            around("x"),
            around("y"),
            any(Namespaces::Any),
            any(Namespaces::Not("urn:a")),
            *Flattened::<(), 1, 1>::PARTICLE,
        ];
        for (index, own) in different.iter().enumerate() {
            for (other, base) in different.iter().enumerate() {
                let expected = (index != other).then_some("elements");
                assert_eq!(of(vec![*own, b], vec![*base]), expected, "{own:?} {base:?}");
            }
        }
        // Types with equal content are the same, wherever they are declared.
        assert_eq!(of(vec![around("x")], vec![around("x")]), None);
    }

    #[test]
    fn content_of_other_kinds_is_extended_by_attributes_alone() {
        let [a, b] = [element("a"), element("b")];
        let all = |particles: Particles| elements(TermDeclaration::All(members(particles)));
        let choice = |particles: Particles| elements(TermDeclaration::Choice(members(particles)));
        let text = ContentDefinition::text::<i32>;
        for (own, base, expected) in [
            (all(vec![a]), all(vec![a]), None),
            (all(vec![a, b]), all(vec![a]), Some("elements")),
            (all(vec![a]), sequence(vec![]), None),
            (all(vec![a]), sequence(vec![a]), Some("elements")),
            (choice(vec![a]), sequence(vec![]), None),
            (choice(vec![a]), choice(vec![a]), Some("elements")),
            (ContentDefinition::mixed::<()>(), sequence(vec![]), Some("elements")),
            (text(), text(), None),
            (text(), ContentDefinition::text::<i64>(), Some("text")),
            (text(), sequence(vec![]), Some("text")),
            (sequence(vec![]), text(), Some("text")),
        ] {
            assert_eq!(extension_error((Vec::new(), own), (Vec::new(), base)), expected, "{own:?} {base:?}");
        }
    }

    #[test]
    fn an_abstract_type_has_no_members() {
        let base = Declaration::extended::<()>(None, &[], false);
        let base = Declaration { name: Some(TypeName::new("urn:a", "Base")), ..base };
        assert_eq!(problem(&complex("Own", Vec::new(), sequence(vec![element("a")])), &base, &NOT), None);
        assert_eq!(problem(&complex("Own", Vec::new(), ContentDefinition::text::<i32>()), &base, &NOT), Some("text"));
    }

    #[test]
    fn a_row_of_types_that_extend_each_other_ends_and_stays_in_its_namespace() {
        let nothing = || sequence(Vec::new());
        let own = complex("Own", Vec::new(), nothing());
        let base = complex("Base", Vec::new(), nothing());
        assert_eq!(problem(&own, &base, &NOT), Some("no enum"));
        let simple = Declaration::simple::<()>(TypeName::new("urn:a", "Base"), "", Definition::BuiltIn);
        assert_eq!(problem(&own, &simple, &NOT), Some("no enum"));
        let elsewhere = Declaration { name: Some(TypeName::new("urn:o", "Base")), ..base };
        assert_eq!(problem(&own, extended(elsewhere), &NOT), Some("namespace"));
        assert_eq!(problem(&own, extended(own), &NOT), Some("itself"));

        let based = |of, on| changed(of, |of| of.base = Some(on));
        let first = extended(base);
        let second = extended(based(complex("Second", Vec::new(), nothing()), first));
        let third = leaked_declaration(based(complex("Third", Vec::new(), nothing()), second));
        assert!(
            has_base(third, first) && has_base(third, second) && !has_base(second, third) && !has_base(first, first)
        );
        assert_eq!(problem(&complex("Base", Vec::new(), nothing()), second, &NOT), Some("itself"));
        let mut last = first;
        for _ in 0..=MAX_BASES {
            last = extended(based(complex("Next", Vec::new(), nothing()), last));
        }
        assert_eq!(problem(&own, last, &NOT), Some("itself"));
    }
}
