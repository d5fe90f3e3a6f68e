//! Writes values as XML, with the functions that generated code calls.

use castile_databinding::schema::First;
use castile_databinding::{Decoder, Encoder, Error, Group as GroupTrait, ToXml, deeper};

use crate::simple;
use crate::types::{Content, GroupKind, Particle, Particles, Presence, Struct, Term};
use crate::value::{
    ArrayValue, ContentValue, DerivedValue, EncodedValue, GroupContent, GroupValue, Node, Slot, StructValue, Value,
};

impl Value {
    fn has_attributes(&self) -> bool {
        match self {
            Value::Struct(value) => !value.of.attributes.is_empty() || value.of.has_others,
            Value::Derived(_) | Value::Array(_) | Value::Any(_) | Value::Nil(_) => true,
            Value::Simple(_) | Value::Encoded(_) | Value::Shared(_) | Value::Empty => false,
        }
    }

    fn has_content(&self) -> bool {
        match self {
            Value::Struct(value) => value.of.may_have_content(),
            Value::Empty => false,
            _ => true,
        }
    }
}

impl Struct {
    fn may_have_content(&self) -> bool {
        match &self.content {
            Content::Sequence(Particles { list, .. }) | Content::All(Particles { list, .. }) => !list.is_empty(),
            Content::Simple { .. } | Content::Mixed(_) => true,
        }
    }
}

impl ToXml for Value {
    const HAS_ATTRIBUTES: bool = true;

    fn attributes(&self, out: &mut Encoder) {
        match self {
            Value::Struct(value) => value.attributes(out),
            Value::Derived(value) => {
                let DerivedValue { of, value } = &**value;
                if let Some(tag) = of.and_then(|variant| variant.tag) {
                    out.type_of(tag);
                }
                value.attributes(out);
            }
            Value::Array(value) => {
                let ArrayValue { of, dimensions, .. } = &**value;
                out.array_type(of.tag, of.array.ranks, of.array.rank, dimensions);
            }
            Value::Shared(value) => value.attributes(out),
            Value::Any(value) => value.attributes(out),
            Value::Nil(attributes) => out.any_attributes(&attributes.0),
            Value::Simple(_) | Value::Encoded(_) | Value::Empty => {}
        }
    }

    fn content(&self, out: &mut Encoder) {
        match self {
            Value::Simple(value) => simple::write(&value.value, out),
            Value::Struct(value) => value.content(out),
            Value::Derived(value) => value.value.content(out),
            Value::Encoded(value) => value.content(out),
            Value::Array(value) => out.accessors(value.of.start, &value.items, value.of.end),
            Value::Shared(value) => value.content(out),
            Value::Any(value) => value.content(out),
            Value::Nil(_) | Value::Empty => {}
        }
    }

    fn element(&self, out: &mut Encoder, start: &str, end: &str) {
        match self {
            Value::Nil(attributes) if attributes.0.is_empty() => out.nil(start),
            Value::Nil(attributes) => out.nil_with(start, &attributes.0),
            Value::Shared(value) => value.element(out, start, end),
            Value::Any(value) => value.element(out, start, end),
            value if value.has_attributes() || !value.has_content() => {
                out.tag(start.strip_suffix('>').unwrap_or(start));
                value.attributes(out);
                value.rest(out, end);
            }
            value => {
                out.tag(start);
                value.content(out);
                out.tag(end);
            }
        }
    }

    fn rest(&self, out: &mut Encoder, end: &str) {
        if self.has_content() {
            out.tag(">");
            self.content(out);
            out.tag(end);
        } else {
            out.end_empty(end);
        }
    }
}

impl ToXml for Node {
    const HAS_ATTRIBUTES: bool = true;

    fn attributes(&self, out: &mut Encoder) {
        self.0.attributes(out);
    }

    fn content(&self, out: &mut Encoder) {
        self.0.content(out);
    }

    fn rest(&self, out: &mut Encoder, end: &str) {
        self.0.rest(out, end);
    }
}

impl StructValue {
    fn attributes(&self, out: &mut Encoder) {
        for &number in &self.of.written {
            let (attribute, value) = (&self.of.attributes[number], &self.attributes[number]);
            match (attribute.presence, value) {
                (Presence::Fixed { written, .. }, _) => out.tag(written),
                (_, Some(value)) => simple::write_attribute(attribute.tag, value, out),
                (_, None) => {}
            }
        }
        if self.of.has_others {
            out.any_attributes(&self.others.0);
        }
    }

    fn content(&self, out: &mut Encoder) {
        match (&self.content, &self.of.content) {
            (ContentValue::Simple(value), _) => simple::write(value, out),
            (ContentValue::Particles(slots), Content::Sequence(particles) | Content::All(particles)) => {
                write_all(slots, particles, out);
            }
            (ContentValue::Mixed(pieces), _) => out.groups(pieces),
            (ContentValue::Particles(_), Content::Simple { .. } | Content::Mixed(_)) => {}
        }
    }
}

fn write_all(slots: &[Slot], particles: &Particles, out: &mut Encoder) {
    for (slot, particle) in slots.iter().zip(&particles.list) {
        write(slot, particle, out);
    }
}

fn write(slot: &Slot, particle: &Particle, out: &mut Encoder) {
    match (slot, &particle.term) {
        (Slot::One(value), Term::Element { start, end, .. }) => value.element(out, start, end),
        (Slot::Many(values), Term::Element { start, end, .. }) => out.repeated(start, values, end),
        (Slot::Group(group), _) => group.write(out),
        (Slot::Groups(groups), _) => out.groups(groups),
        (Slot::Any(any), _) => out.any([any]),
        (Slot::Elements(elements), _) => out.any_elements(elements),
        (Slot::Absent | Slot::Accessors(_) | Slot::One(_) | Slot::Many(_), _) => {}
    }
}

/// Groups are read by their types, so only writing is implemented here, as in generated code.
impl GroupTrait for GroupValue {
    const FIRST: &'static [First] = &[];

    fn read(_: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        Ok(None)
    }

    fn write(&self, out: &mut Encoder) {
        deeper::<GroupValue, _>(|| match (&self.content, &self.of.kind) {
            (GroupContent::Text(text), _) => out.text(text),
            (GroupContent::Particles(slots), GroupKind::Sequence(particles) | GroupKind::All(particles)) => {
                write_all(slots, particles, out);
            }
            (GroupContent::Choice(number, slot), GroupKind::Choice(particles) | GroupKind::MixedPart(particles, _)) => {
                if let Some(particle) = particles.list.get(*number) {
                    write(slot, particle, out);
                }
            }
            (GroupContent::Particles(_) | GroupContent::Choice(..), _) => {}
        });
    }
}

impl EncodedValue {
    fn content(&self, out: &mut Encoder) {
        let EncodedValue { of, accessors } = self;
        if let Some(result) = of.result {
            out.rpc_result(result);
        }
        for (slot, accessor) in accessors.iter().zip(&of.accessors) {
            let (start, end) = (accessor.start, accessor.end);
            match slot {
                Slot::Accessors(values) => out.accessors(start, values, end),
                Slot::One(value) => value.element(out, start, end),
                _ if accessor.is_optional => {}
                _ => out.accessor::<Value>(start, &None, end),
            }
        }
    }
}
