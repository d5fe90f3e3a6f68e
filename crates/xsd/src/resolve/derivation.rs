//! Computes what a type inherits from its base, and checks that the derivation is allowed (§3.4.2, §3.4.6, §3.14.6).

use std::collections::HashSet;

use crate::components::{Compositor, Content, Derivation, FacetKind, Particle, Term, TypeDefinition, TypeId, Variety};
use crate::schema::called;
use crate::{Builtin, Diagnostics, Location, Schema};

/// Resolves all types, bases before derived types. Errors that result from `missing` types are not reported, because
/// the missing types were.
pub(super) fn settle(schema: &mut Schema, missing: &HashSet<TypeId>, diagnostics: &mut Diagnostics) {
    let mut settled = vec![false; schema.types.len()];
    for done in settled.iter_mut().take(Builtin::ALL.len()) {
        *done = true;
    }
    for slot in 0..schema.types.len() {
        // Circles have been cut and the built-in types are settled, so every chain of bases ends.
        let mut chain: Vec<TypeId> = Vec::new();
        let mut id = TypeId(slot as u32);
        while !settled[id.index()] {
            chain.push(id);
            id = schema[id].base();
        }
        for id in chain.into_iter().rev() {
            settled[id.index()] = true;
            settle_one(schema, id, missing, diagnostics);
        }
    }
    for slot in Builtin::ALL.len()..schema.types.len() {
        check_parts(schema, TypeId(slot as u32), missing, diagnostics);
        check_facets(schema, TypeId(slot as u32), missing, diagnostics);
        check_all(schema, TypeId(slot as u32), diagnostics);
    }
    for slot in 0..schema.attributes.len() {
        let declaration = &schema.attributes[slot];
        let type_id = declaration.type_id;
        if schema[type_id].as_complex().is_some() {
            if !missing.contains(&type_id) && type_id != Builtin::AnyType.into() {
                let message = format!(
                    "attribute {} has complex {}, expected a simple type",
                    declaration.name,
                    called(schema, type_id)
                );
                diagnostics.error(declaration.location, message);
            }
            schema.attributes[slot].type_id = Builtin::AnySimpleType.into();
        }
    }
}

fn settle_one(schema: &mut Schema, id: TypeId, missing: &HashSet<TypeId>, diagnostics: &mut Diagnostics) {
    let base = schema[id].base();
    let location = schema[id].location();
    check_final(schema, id, diagnostics);
    match &schema.types[id.index()] {
        TypeDefinition::Simple(_) => settle_simple(schema, id, missing, diagnostics),
        TypeDefinition::Complex(complex) => {
            let base_is_simple = schema[base].as_simple().is_some();
            match complex.content {
                Content::Simple(value) => {
                    let value = settle_value(schema, id, value, missing, diagnostics);
                    if let TypeDefinition::Complex(complex) = &mut schema.types[id.index()] {
                        complex.content = Content::Simple(value);
                        if base_is_simple && complex.derivation == Derivation::Restriction {
                            let message = "simple content restricts a simple type, expected a complex one as its base";
                            diagnostics.error(location, message).with_note("use <extension>, or a <simpleType>");
                        }
                    }
                }
                _ if base_is_simple => {
                    let message = format!("complex content is derived from simple {}", called(schema, base));
                    diagnostics.error(location, message).with_note("use <simpleContent>");
                    if let TypeDefinition::Complex(complex) = &mut schema.types[id.index()] {
                        complex.base = Builtin::AnyType.into();
                        complex.derivation = Derivation::Restriction;
                    }
                }
                _ => check_complex(schema, id, diagnostics),
            }
        }
    }
}

/// Determines the simple type of simple content. Until now the content refers to the base: a simple type, or a complex
/// type whose value type is used.
fn settle_value(
    schema: &mut Schema,
    id: TypeId,
    value: TypeId,
    missing: &HashSet<TypeId>,
    diagnostics: &mut Diagnostics,
) -> TypeId {
    let base = schema[id].base();
    if value != base {
        // A restriction has its own value type, whose base may still be the complex base.
        let value_base = schema[value].base();
        if schema[value_base].as_complex().is_some() {
            let simple_base = value_of(schema, id, value_base, missing, diagnostics);
            if let TypeDefinition::Simple(simple) = &mut schema.types[value.index()] {
                simple.base = simple_base;
            }
        }
        return value;
    }
    value_of(schema, id, base, missing, diagnostics)
}

fn value_of(
    schema: &Schema,
    id: TypeId,
    base: TypeId,
    missing: &HashSet<TypeId>,
    diagnostics: &mut Diagnostics,
) -> TypeId {
    match &schema[base] {
        TypeDefinition::Simple(_) => base,
        TypeDefinition::Complex(complex) => match complex.content {
            Content::Simple(value) => value,
            _ => {
                if !missing.contains(&base) {
                    let message =
                        format!("simple content is derived from {}, which has no simple content", called(schema, base));
                    diagnostics.error(schema[id].location(), message).with_note("use <complexContent>");
                }
                Builtin::AnySimpleType.into()
            }
        },
    }
}

/// Gives a restriction the variety of its base.
fn settle_simple(schema: &mut Schema, id: TypeId, missing: &HashSet<TypeId>, diagnostics: &mut Diagnostics) {
    let base = schema[id].base();
    let location = schema[id].location();
    let owned_by_complex = matches!(schema[id].owner(), Some(crate::components::Owner::Type(owner)) if schema[owner].as_complex().is_some());
    let variety = match &schema[base] {
        TypeDefinition::Simple(simple) => Some(simple.variety.clone()),
        TypeDefinition::Complex(complex) => match complex.content {
            // This is the value type of a complex type with simple content. It is resolved together with that type.
            Content::Simple(_) if owned_by_complex => return,
            _ => None,
        },
    };
    if variety.is_none() && !owned_by_complex && !missing.contains(&base) {
        let message = format!("a simple type restricts complex {}", called(schema, base));
        diagnostics.error(location, message).with_note("expected a simple type as its base");
    }
    let TypeDefinition::Simple(simple) = &mut schema.types[id.index()] else { return };
    match variety {
        Some(_) if base == TypeId::from(Builtin::AnySimpleType) => {}
        Some(variety) => simple.variety = variety,
        None if owned_by_complex => {}
        None => simple.base = Builtin::AnySimpleType.into(),
    }
}

/// Checks ct-props-correct, cos-ct-extends and derivation-ok-restriction for the kinds of content.
fn check_complex(schema: &Schema, id: TypeId, diagnostics: &mut Diagnostics) {
    let TypeDefinition::Complex(complex) = &schema[id] else { return };
    let TypeDefinition::Complex(base) = &schema[complex.base] else { return };
    if complex.base == TypeId::from(Builtin::AnyType) {
        return;
    }
    if let (Content::Simple(_), Some(_)) = (&base.content, complex.content.particle()) {
        let message =
            format!("complex content is derived from {}, which has simple content", called(schema, complex.base));
        diagnostics.error(complex.location, message).with_note("use <simpleContent>");
    }
    if complex.derivation == Derivation::Extension && complex.content != Content::Empty {
        let (own, base_mixed) = (&complex.content, matches!(schema.content(complex.base), Content::Mixed(_)));
        let base_elements = matches!(schema.content(complex.base), Content::ElementOnly(_));
        let clash = (matches!(own, Content::Mixed(_)) && base_elements)
            || (matches!(own, Content::ElementOnly(_)) && base_mixed);
        if clash {
            let (own, other) = if base_mixed { ("elements only", "mixed") } else { ("mixed", "elements only") };
            let message =
                format!("the content is {own}, but that of its base, {}, is {other}", called(schema, complex.base));
            diagnostics
                .warning(complex.location, message)
                .with_rule("cos-ct-extends")
                .with_note("expected both mixed or neither; it is read as mixed");
        }
    }
}

/// Checks that the base allows this method of derivation.
fn check_final(schema: &Schema, id: TypeId, diagnostics: &mut Diagnostics) {
    let base = schema[id].base();
    let (forbidden, how) = match (&schema[id], &schema[base]) {
        (TypeDefinition::Complex(complex), TypeDefinition::Complex(base)) => match complex.derivation {
            Derivation::Extension => (base.final_.extension, "extended"),
            Derivation::Restriction => (base.final_.restriction, "restricted"),
        },
        (TypeDefinition::Complex(_), TypeDefinition::Simple(base)) => (base.final_.extension, "extended"),
        (TypeDefinition::Simple(_), TypeDefinition::Simple(base)) => (base.final_.restriction, "restricted"),
        (TypeDefinition::Simple(_), TypeDefinition::Complex(_)) => (false, ""),
    };
    if forbidden {
        let message = format!("{} is {how}, which its `final` forbids", called(schema, base));
        diagnostics.error(schema[id].location(), message);
    }
}

/// Checks that items of lists and members of unions are simple types (cos-st-restricts).
fn check_parts(schema: &mut Schema, id: TypeId, missing: &HashSet<TypeId>, diagnostics: &mut Diagnostics) {
    let TypeDefinition::Simple(simple) = &schema[id] else { return };
    let own = simple.base == TypeId::from(Builtin::AnySimpleType);
    let parts = match &simple.variety {
        Variety::Atomic => return,
        Variety::List { item } => vec![*item],
        Variety::Union { members } => members.clone(),
    };
    let (location, is_list) = (simple.location, matches!(simple.variety, Variety::List { .. }));
    for &part in &parts {
        match &schema[part] {
            TypeDefinition::Complex(_) if own && !missing.contains(&part) => {
                let message =
                    format!("complex {} is part of a simple type, expected a simple type", called(schema, part));
                diagnostics.error(location, message);
            }
            TypeDefinition::Simple(simple) if own && is_list && matches!(simple.variety, Variety::List { .. }) => {
                let message =
                    format!("{} is a list and the item of a list, expected an atomic type", called(schema, part));
                diagnostics.error(location, message);
            }
            TypeDefinition::Simple(simple) if own => {
                let forbidden = if is_list { simple.final_.list } else { simple.final_.union };
                if forbidden {
                    let how = if is_list { "the item of a list" } else { "a member of a union" };
                    let message = format!("{} is {how}, which its `final` forbids", called(schema, part));
                    diagnostics.error(location, message);
                }
            }
            _ => {}
        }
    }
    let simple_part =
        |part: TypeId| if schema[part].as_simple().is_some() { part } else { Builtin::AnySimpleType.into() };
    let variety = match is_list {
        true => Variety::List { item: simple_part(parts[0]) },
        false => Variety::Union { members: parts.into_iter().map(simple_part).collect() },
    };
    if let TypeDefinition::Simple(simple) = &mut schema.types[id.index()] {
        simple.variety = variety;
    }
}

/// Checks that the facets apply to the type (Part 2 §4.1.5) and that each occurs once, except patterns and
/// enumerations.
fn check_facets(schema: &Schema, id: TypeId, missing: &HashSet<TypeId>, diagnostics: &mut Diagnostics) {
    let TypeDefinition::Simple(simple) = &schema[id] else { return };
    if schema.bases(id).any(|base| missing.contains(&base)) {
        return;
    }
    let mut seen: Vec<(FacetKind, Location)> = Vec::new();
    for facet in &simple.facets {
        let kind = facet.kind;
        let many = matches!(kind, FacetKind::Pattern | FacetKind::Enumeration);
        if !many {
            match seen.iter().find(|(other, _)| *other == kind) {
                None => seen.push((kind, facet.location)),
                Some((_, first)) => {
                    let note = diagnostics.the_first(*first);
                    diagnostics.error(facet.location, format!("{kind} occurs twice")).with_note(note);
                }
            }
        }
        let applies = match &simple.variety {
            Variety::Atomic => kind.applies_to(schema.builtin(id)),
            Variety::List { .. } => {
                many || matches!(
                    kind,
                    FacetKind::Length | FacetKind::MinLength | FacetKind::MaxLength | FacetKind::WhiteSpace
                )
            }
            Variety::Union { .. } => many,
        };
        if !applies {
            let of = match &simple.variety {
                Variety::Atomic => format!("xs:{}", schema.builtin(id).name()),
                Variety::List { .. } => "a list".to_owned(),
                Variety::Union { .. } => "a union".to_owned(),
            };
            diagnostics.error(facet.location, format!("{kind} is not a facet of {of}"));
        }
    }
}

/// Checks that `<all>` is not a part of a larger content model (cos-all-limited).
fn check_all(schema: &Schema, id: TypeId, diagnostics: &mut Diagnostics) {
    let Some(complex) = schema[id].as_complex() else { return };
    let Some(particle) = complex.content.particle() else { return };
    let group = match &particle.term {
        Term::GroupReference(group) => &schema[*group].group,
        Term::Group(group) => group,
        _ => return,
    };
    let base = match complex.derivation {
        Derivation::Extension => schema.content(complex.base),
        Derivation::Restriction => Content::Empty,
    };
    let base_compositor = match base.particle() {
        Some(Particle { term: Term::Group(group), .. }) => Some(group.compositor),
        _ => None,
    };
    let is_all = group.compositor == Compositor::All;
    if is_all && particle.is_repeated() {
        diagnostics.error(complex.location, "<all> occurs more than once, expected maxOccurs=\"1\"");
    }
    match base_compositor {
        Some(Compositor::All) if is_all => {
            let message = "<all> extends a base that also has an <all>";
            diagnostics
                .warning(complex.location, message)
                .with_note("XSD 1.1 allows this, so it is accepted, as one <all>");
        }
        Some(other) if is_all || other == Compositor::All => {
            let message = "an extension and its base combine <all> with elements in a fixed order";
            diagnostics.error(complex.location, message).with_note("an <all> is the whole content of its type");
        }
        _ => {}
    }
    if !is_all && group.particles.iter().any(|inner| refers_to_all(schema, inner)) {
        diagnostics.error(complex.location, "a group that is an <all> is used within another group");
    }
}

fn refers_to_all(schema: &Schema, particle: &Particle) -> bool {
    match &particle.term {
        Term::GroupReference(group) => schema[*group].group.compositor == Compositor::All,
        _ => false,
    }
}
