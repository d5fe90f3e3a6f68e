//! Reads values from XML, with the functions that generated code calls.

use std::ptr;

use castile_budget::BLOCK;
use castile_databinding::datatypes;
use castile_databinding::encoded::Shared;
use castile_databinding::schema::{Attributes, Element, First};
use castile_databinding::{AnyType, Decoder, Error, FromXml, Recursive, deeper};

use crate::types::{
    Attribute, Base, Complex, Content, Derived, ElementType, EncodedArray, EncodedStruct, Group, GroupKind, Nil,
    Occurrence, Particle, Particles, Presence, Struct, Term,
};
use crate::value::{
    ArrayValue, ContentValue, DerivedValue, EncodedValue, GroupContent, GroupValue, Node, Others, SimpleValue, Slot,
    StructValue, Value,
};

/// Returns the type of an element. An element without a type has any type.
pub(crate) fn type_of(element: &'static Element) -> &'static ElementType {
    static ANY: ElementType = ElementType { base: Base::AnyType, nil: Nil::Never };
    let of: Option<&dyn std::any::Any> = element.run_time_type().map(|of| of as _);
    of.and_then(|of| of.downcast_ref()).unwrap_or(&ANY)
}

impl FromXml for Value {
    const ATTRIBUTES: &'static Attributes = &Attributes::ANY;

    fn cached(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        let ElementType { base, .. } = type_of(element);
        match base {
            Base::Simple(of) => {
                if let Some(value) = of.cached(decoder, element) {
                    return Some(value.map(|value| Value::Simple(SimpleValue { of, value })));
                }
            }
            // The tag must be examined, because it may have an id.
            Base::Shared(_) => return None,
            Base::Complex(_) | Base::AnyType | Base::Nothing => {}
        }
        decoder.cached_start(element).then(|| Self::content(decoder, element))
    }

    fn referenced(decoder: &mut Decoder<'_>, element: &'static Element, offset: usize) -> Option<Self> {
        let Base::Shared(inner) = type_of(element).base else { return None };
        let node = Shared::<Node>::referenced(decoder, element, offset)?;
        // The decoder stores one node for all types. If the value was read with a different type, it is read again.
        node.get().is_none_or(|Node(value)| is_of(value, inner)).then_some(Value::Shared(node))
    }

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let of = type_of(element);
        if of.nil != Nil::Never && decoder.is_nil() {
            let attributes = match of.nil {
                Nil::WithAttributes => Others(decoder.any_attributes(&Attributes::ANY)),
                Nil::Never | Nil::Plain => Others::default(),
            };
            decoder.nil_content(element)?;
            return Ok(Value::Nil(attributes));
        }
        read(decoder, element, of)
    }
}

/// Returns true if a value was read with this complex type.
fn is_of(value: &Value, of: &'static ElementType) -> bool {
    let Base::Complex(lazy) = of.base else { return true };
    match (value, lazy.get()) {
        (Value::Struct(value), Complex::Struct(of)) => ptr::eq(value.of, of),
        (Value::Encoded(value), Complex::EncodedStruct(of)) => ptr::eq(value.of, of),
        (Value::Array(value), Complex::EncodedArray(of)) => ptr::eq(value.of, of),
        (Value::Derived(value), Complex::Derived(of)) => {
            value.of.is_none_or(|variant| of.variants.iter().any(|known| ptr::eq(known, variant)))
        }
        _ => false,
    }
}

/// The value of a node has the inner type of the shared type.
impl FromXml for Node {
    const ATTRIBUTES: &'static Attributes = &Attributes::ANY;

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let of = type_of(element);
        let inner = if let Base::Shared(inner) = of.base { inner } else { of };
        read(decoder, element, inner).map(Node)
    }
}

fn read(decoder: &mut Decoder<'_>, element: &'static Element, of: &'static ElementType) -> Result<Value, Error> {
    match of.base {
        Base::Simple(of) => {
            let value = of.read(decoder, element, element.facets)?;
            Ok(Value::Simple(SimpleValue { of, value }))
        }
        Base::AnyType => {
            decoder.charge(size_of::<AnyType>() + BLOCK)?;
            AnyType::content(decoder, element).map(|any| Value::Any(any.into()))
        }
        Base::Nothing => <()>::content(decoder, element).map(|()| Value::Empty),
        Base::Shared(_) => Shared::content(decoder, element).map(Value::Shared),
        Base::Complex(lazy) => deeper::<StructValue, _>(|| match lazy.get() {
            Complex::Struct(of) => {
                decoder.charge(size_of::<StructValue>() + BLOCK)?;
                structure(decoder, element, of).map(|value| Value::Struct(Recursive::new(value)))
            }
            Complex::Derived(of) => {
                decoder.charge(size_of::<DerivedValue>() + BLOCK)?;
                derived(decoder, element, of).map(|value| Value::Derived(Recursive::new(value)))
            }
            Complex::EncodedStruct(of) => {
                decoder.charge(size_of::<EncodedValue>() + BLOCK)?;
                encoded(decoder, element, of).map(|value| Value::Encoded(Recursive::new(value)))
            }
            Complex::EncodedArray(of) => {
                decoder.charge(size_of::<ArrayValue>() + BLOCK)?;
                array(decoder, element, of).map(|value| Value::Array(Recursive::new(value)))
            }
        }),
    }
}

// ---- complex types ----

fn structure(decoder: &mut Decoder<'_>, element: &'static Element, of: &'static Struct) -> Result<StructValue, Error> {
    if let Content::Simple { of: simple, facets } = of.content {
        let (attributes, others) = attributes(decoder, of)?;
        let value = simple.read(decoder, element, facets.or(element.facets))?;
        return Ok(StructValue { of, attributes, others, content: ContentValue::Simple(value) });
    }
    let outer = decoder.enter(element);
    let (attributes, others) = attributes(decoder, of)?;
    let content = match &of.content {
        Content::Sequence(particles) => ContentValue::Particles(sequence(decoder, particles)?),
        Content::All(particles) => ContentValue::Particles(all(decoder, particles)?),
        Content::Mixed(piece) => ContentValue::Mixed(mixed(decoder, piece)?),
        Content::Simple { .. } => unreachable!("it is read above"),
    };
    decoder.leave(element, outer)?;
    Ok(StructValue { of, attributes, others, content })
}

/// Reads the attributes of the last start tag: the declared ones, and the others.
fn attributes(
    decoder: &mut Decoder<'_>,
    of: &'static Struct,
) -> Result<(Vec<Option<datatypes::Value>>, Others), Error> {
    decoder.charge(of.attributes.len() * size_of::<Option<datatypes::Value>>())?;
    for (index, Attribute { of: simple, presence, .. }) in of.attributes.iter().enumerate() {
        match presence {
            Presence::Fixed { is_required: true, .. } => {
                decoder.required_attribute_of(simple, of.table, index)?;
            }
            Presence::Fixed { is_required: false, .. } => {
                decoder.attribute_of(simple, of.table, index)?;
            }
            Presence::Required | Presence::Optional | Presence::Default => {}
        }
    }
    let mut values = Vec::with_capacity(of.attributes.len());
    for (index, Attribute { of: simple, presence, .. }) in of.attributes.iter().enumerate() {
        values.push(match presence {
            Presence::Required => Some(decoder.required_attribute_of(simple, of.table, index)?),
            Presence::Optional => decoder.attribute_of(simple, of.table, index)?,
            Presence::Default => Some(decoder.attribute_or_default_of(simple, of.table, index)?),
            Presence::Fixed { .. } => None,
        });
    }
    let others = if of.has_others { decoder.any_attributes(of.table) } else { Vec::new() };
    Ok((values, Others(others)))
}

fn sequence(decoder: &mut Decoder<'_>, particles: &'static Particles) -> Result<Vec<Slot>, Error> {
    decoder.charge(particles.list.len() * size_of::<Slot>() + BLOCK)?;
    let mut slots = Vec::with_capacity(particles.list.len());
    for particle in &particles.list {
        slots.push(self::particle(decoder, particles.table, particle)?);
    }
    Ok(slots)
}

fn particle(decoder: &mut Decoder<'_>, table: &'static [Element], particle: &'static Particle) -> Result<Slot, Error> {
    let Particle { min, max, ref term } = *particle;
    match (term, particle.occurrence()) {
        (Term::Element { index, .. }, Occurrence::Required) => decoder.required(table, *index).map(Slot::One),
        (Term::Element { index, .. }, Occurrence::Optional) => {
            Ok(decoder.optional(table, *index)?.map_or(Slot::Absent, Slot::One))
        }
        (Term::Element { index, is_counted: true, .. }, Occurrence::Repeated) => {
            decoder.counted(table, *index).map(Slot::Many)
        }
        (Term::Element { index, .. }, Occurrence::Repeated) => decoder.repeated(table, *index).map(Slot::Many),
        (Term::Group(of), Occurrence::Required) => match group(decoder, of)? {
            Some(group) => Ok(Slot::Group(Box::new(group))),
            None => Err(decoder.missing(of.first)),
        },
        (Term::Group(of), Occurrence::Optional) => {
            Ok(group(decoder, of)?.map_or(Slot::Absent, |group| Slot::Group(Box::new(group))))
        }
        (Term::Group(of), Occurrence::Repeated) => {
            decoder.repeated_group_of(min, max, of.first, |decoder| group(decoder, of)).map(Slot::Groups)
        }
        (Term::Any(wildcard, _), Occurrence::Required) => decoder.any(wildcard).map(Slot::Any),
        (Term::Any(wildcard, _), Occurrence::Optional) => {
            Ok(decoder.optional_any(wildcard)?.map_or(Slot::Absent, Slot::Any))
        }
        (Term::Any(wildcard, _), Occurrence::Repeated) => decoder.repeated_any(wildcard).map(Slot::Elements),
    }
}

fn all(decoder: &mut Decoder<'_>, particles: &'static Particles) -> Result<Vec<Slot>, Error> {
    let Particles { table, list, .. } = particles;
    decoder.charge(list.len() * (size_of::<Slot>() + size_of::<Option<Value>>()) + BLOCK)?;
    let mut values: Vec<Option<Value>> = Vec::with_capacity(list.len());
    for index in 0..list.len() {
        values.push(decoder.in_order(table, index)?);
    }
    while let Some(index) = decoder.one_of(table)? {
        decoder.once(&mut values[index], table, index)?;
    }
    let present = values.into_iter().zip(list).enumerate().map(|(index, (value, particle))| {
        Ok(match particle.occurrence() {
            Occurrence::Required => Slot::One(decoder.present(value, table, index)?),
            _ => value.map_or(Slot::Absent, Slot::One),
        })
    });
    present.collect()
}

fn mixed(decoder: &mut Decoder<'_>, of: &'static Group) -> Result<Vec<GroupValue>, Error> {
    let order = if let GroupKind::MixedPart(_, order) = &of.kind { order.as_ref() } else { None };
    let text = |text| GroupValue { of, content: GroupContent::Text(text) };
    decoder.mixed_of(order, of.all, text, |decoder| group(decoder, of))
}

/// Reads a group, if the next element starts one.
fn group(decoder: &mut Decoder<'_>, of: &'static Group) -> Result<Option<GroupValue>, Error> {
    deeper::<GroupValue, _>(|| {
        let content = match &of.kind {
            GroupKind::Sequence(particles) => {
                if !decoder.begins(of.first)? {
                    return Ok(None);
                }
                GroupContent::Particles(sequence(decoder, particles)?)
            }
            GroupKind::All(particles) => {
                if !decoder.begins(of.first)? {
                    return Ok(None);
                }
                GroupContent::Particles(all(decoder, particles)?)
            }
            GroupKind::Choice(particles) | GroupKind::MixedPart(particles, _) => match choice(decoder, particles)? {
                None => return Ok(None),
                Some((number, slot)) => GroupContent::Choice(number, slot),
            },
        };
        decoder.charge(size_of::<GroupValue>() + BLOCK)?;
        Ok(Some(GroupValue { of, content }))
    })
}

/// Returns the index of the particle that is present, and its content.
fn choice(decoder: &mut Decoder<'_>, particles: &'static Particles) -> Result<Option<(usize, Slot)>, Error> {
    let Particles { table, list, .. } = particles;
    let is_element = |particle: &Particle| matches!(particle.term, Term::Element { .. });
    if !table.is_empty()
        && let Some(index) = decoder.next_of(table)?
    {
        let mut elements = list.iter().enumerate().filter(|(_, particle)| is_element(particle));
        let Some((number, particle)) = elements.nth(index) else { return Ok(None) };
        let slot = match particle.occurrence() {
            Occurrence::Required | Occurrence::Optional => Slot::One(decoder.required(table, index)?),
            Occurrence::Repeated => self::particle(decoder, table, particle)?,
        };
        return Ok(Some((number, slot)));
    }
    for (number, particle) in list.iter().enumerate().filter(|(_, particle)| !is_element(particle)) {
        let slot = match (&particle.term, particle.occurrence()) {
            (Term::Any(wildcard, _), Occurrence::Required | Occurrence::Optional) => {
                decoder.optional_any(wildcard)?.map(Slot::Any)
            }
            (Term::Group(of), Occurrence::Required | Occurrence::Optional) => {
                group(decoder, of)?.map(|group| Slot::Group(Box::new(group)))
            }
            _ => match decoder.begins(first_of(particle))? {
                true => Some(self::particle(decoder, table, particle)?),
                false => None,
            },
        };
        if let Some(slot) = slot {
            return Ok(Some((number, slot)));
        }
    }
    Ok(None)
}

/// Returns what a particle that is not an element may start with.
fn first_of(particle: &'static Particle) -> &'static [First] {
    match &particle.term {
        Term::Group(of) => of.first,
        Term::Any(_, first) => first,
        Term::Element { .. } => &[],
    }
}

fn derived(decoder: &mut Decoder<'_>, element: &'static Element, of: &'static Derived) -> Result<DerivedValue, Error> {
    static OTHER: ElementType = ElementType { base: Base::AnyType, nil: Nil::Never };
    let index = match of.is_abstract {
        true => decoder.concrete_type_of(element, of.names)?,
        false => decoder.type_of(of.names)?,
    };
    let variant = of.variants.get(index);
    let of = variant.map_or(&OTHER, |variant| variant.of);
    decoder.admit_derived(element, of)?;
    let value = read(decoder, element, of)?;
    Ok(DerivedValue { of: variant, value })
}

// ---- SOAP encoding ----

fn encoded(
    decoder: &mut Decoder<'_>,
    element: &'static Element,
    of: &'static EncodedStruct,
) -> Result<EncodedValue, Error> {
    let EncodedStruct { table, accessors, is_call, .. } = of;
    decoder.charge(accessors.len() * size_of::<Slot>() + BLOCK)?;
    let outer = decoder.enter(element);
    // One value of each accessor, or all values of a repeated one.
    let mut values: Vec<(Option<Value>, Vec<Option<Value>>)> = Vec::with_capacity(accessors.len());
    for (index, accessor) in accessors.iter().enumerate() {
        let value = match accessor.is_repeated || *is_call {
            true => None,
            false => decoder.in_order(table, index)?,
        };
        values.push((value, Vec::new()));
    }
    let mut parts = Default::default();
    loop {
        let next = match is_call {
            true => decoder.next_part(table, &mut parts)?,
            false => decoder.next_accessor(table)?,
        };
        let Some(index) = next else { break };
        let (one, many) = &mut values[index];
        match accessors[index].is_repeated {
            true => decoder.accessor_of(many, table, index)?,
            false => decoder.accessor(one, table, index)?,
        }
    }
    decoder.leave(element, outer)?;
    let slots = values.into_iter().zip(accessors).map(|((one, many), accessor)| match accessor.is_repeated {
        true => Slot::Accessors(many),
        false => one.map_or(Slot::Absent, Slot::One),
    });
    Ok(EncodedValue { of, accessors: slots.collect() })
}

fn array(decoder: &mut Decoder<'_>, element: &'static Element, of: &'static EncodedArray) -> Result<ArrayValue, Error> {
    if of.array.rank == 1 {
        let items: Vec<Option<Value>> = decoder.items(element, of.array)?;
        return Ok(ArrayValue { of, dimensions: vec![items.len()], items });
    }
    let array = decoder.array::<Value>(element, of.array)?;
    Ok(ArrayValue { of, dimensions: array.dimensions().to_vec(), items: array.into_items() })
}
