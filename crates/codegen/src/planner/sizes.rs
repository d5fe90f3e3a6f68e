//! How large values are. What is large is boxed where it is one of several: otherwise all of them would be as large, and be
//! copied as a whole each time one is handed on.
//!
//! Sizes are reckoned for 64 bits and don't depend on the machine that generates, nor on which operations are asked for. So
//! a type has the same form everywhere.

use std::collections::HashMap;

use crate::plan::{Accessor, Base, Content, Field, Item, Occurrence, Path, Presence, Struct, Term, Value};

/// What a variant holds in place at most, in bytes: so much that clippy's `large_enum_variant` has nothing to say.
const MOST_IN_PLACE: usize = 200;

const POINTER: usize = 8;
/// A text or a vector.
const TEXT: usize = 24;
/// `castile::Shared`: a pointer, and which way it looks.
const SHARED: usize = 2 * POINTER;
/// `castile::Any`, and `castile::AnyType`.
const ANY: usize = 3 * TEXT;
const ANY_TYPE: usize = 4 * TEXT;

/// Boxes what is large among the variants of choices and of derived types.
pub(super) fn box_large(items: &mut [Item]) {
    let mut sizes = Sizes::default();
    // What a type holds in place was planned before it.
    for item in items {
        let size = match item {
            Item::Struct(planned) => sizes.structure(planned),
            Item::Choice(planned) => {
                let variants = planned.variants.iter_mut();
                let largest = variants.map(|variant| sizes.variant(variant)).max().unwrap_or(0);
                POINTER + largest.max(if planned.text.is_some() { TEXT } else { 0 })
            }
            Item::Derived(planned) => {
                let variants = planned.variants.iter_mut();
                let sizes = variants.map(|variant| {
                    let size = if variant.recursive { POINTER } else { sizes.base(&variant.base) };
                    variant.is_boxed = size > MOST_IN_PLACE;
                    if variant.is_boxed { POINTER } else { size }
                });
                POINTER + sizes.max().unwrap_or(0).max(ANY_TYPE)
            }
            Item::Enumeration(_) => TEXT,
            Item::Union(planned) => {
                let members = planned.members.iter().map(|member| sizes.base(&member.base));
                POINTER + members.max().unwrap_or(0)
            }
            Item::EncodedStruct(planned) => planned.accessors.iter().map(|accessor| sizes.accessor(accessor)).sum(),
            // The items, and the sizes of its dimensions if there are several.
            Item::EncodedArray(planned) => {
                if planned.rank == 1 {
                    TEXT
                } else {
                    2 * TEXT
                }
            }
            // That is no type.
            Item::Restriction(_) => continue,
        };
        sizes.known.insert(item.path().clone(), size.next_multiple_of(POINTER));
    }
}

/// The sizes of the types that were looked at, in bytes.
#[derive(Default)]
struct Sizes {
    known: HashMap<Path, usize>,
}

impl Sizes {
    fn structure(&self, planned: &Struct) -> usize {
        let attributes = planned.attributes.iter().map(|attribute| match attribute.presence {
            Presence::Required | Presence::Default(_) => self.base(&attribute.base),
            Presence::Optional => self.optional(&attribute.base),
            Presence::Fixed { .. } => 0,
        });
        let content = match &planned.content {
            Content::Simple { value, .. } => self.base(value),
            Content::Mixed { .. } => TEXT,
            Content::Sequence(fields) | Content::All(fields) => fields.iter().map(|field| self.field(field)).sum(),
        };
        attributes.sum::<usize>() + content + if planned.any_attributes.is_some() { TEXT } else { 0 }
    }

    fn field(&self, field: &Field) -> usize {
        match (field.occurrence(), &field.term) {
            (Occurrence::Repeated, _) => TEXT,
            (Occurrence::Optional, Term::Element { value: Value { base, recursive: false, .. }, .. }) => {
                self.optional(base)
            }
            _ => self.one(field),
        }
    }

    /// Decides whether a variant is boxed, and says how large it is then.
    fn variant(&self, variant: &mut Field) -> usize {
        let size = match variant.occurrence() {
            Occurrence::Repeated => TEXT,
            Occurrence::Required | Occurrence::Optional => self.one(variant),
        };
        variant.is_boxed = size > MOST_IN_PLACE;
        if variant.is_boxed { POINTER } else { size }
    }

    /// The size of one value of a particle.
    fn one(&self, field: &Field) -> usize {
        match &field.term {
            Term::Element { value: Value { recursive: true, .. }, .. } | Term::Group { recursive: true, .. } => POINTER,
            Term::Element { value, .. } => self.base(&value.base),
            Term::Group { path, .. } => self.item(path),
            Term::Any(_) => ANY,
        }
    }

    /// Each value of a struct in SOAP encoding may be nil.
    fn accessor(&self, Accessor { value, is_repeated, .. }: &Accessor) -> usize {
        match (is_repeated, value.is_shared) {
            (true, _) => TEXT,
            (false, true) => SHARED,
            (false, false) => self.optional(&value.base),
        }
    }

    /// A value that may be absent: texts and vectors have room for that.
    fn optional(&self, base: &Base) -> usize {
        match base {
            Base::Primitive(_) => (2 * self.base(base)).min(TEXT),
            _ => self.base(base),
        }
    }

    fn base(&self, base: &Base) -> usize {
        match base {
            Base::Primitive(name) => match *name {
                "bool" | "i8" | "u8" => 1,
                "i16" | "u16" => 2,
                "i32" | "u32" | "f32" => 4,
                "i64" | "u64" | "f64" => 8,
                _ => TEXT,
            },
            Base::Datatype("QName" | "Notation") => 3 * TEXT,
            Base::Datatype("StreamedBinary") => TEXT + POINTER,
            Base::Datatype(_) | Base::List(_) => TEXT,
            Base::AnyType => ANY_TYPE,
            Base::Nothing => 0,
            Base::Raw => POINTER,
            Base::Shared(_) => SHARED,
            Base::Item(path) => self.item(path),
        }
    }

    fn item(&self, path: &Path) -> usize {
        self.known.get(path).copied().unwrap_or(POINTER)
    }
}
