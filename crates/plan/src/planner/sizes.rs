//! Computes the sizes of values, and boxes large ones. Without boxes a value would be as large as everything that it
//! may contain, and a small message could overflow the stack.
//!
//! Sizes are computed for 64 bits. They don't depend on the machine that generates, or on the requested operations, so
//! a type is the same everywhere.

use std::collections::HashMap;

use crate::plan::{
    Attribute, Base, Content, Field, Item, Nil, Occurrence, Path, Presence, RootType, Service, Storage, Struct, Term,
    TypedRoot,
};

/// Maximum size in bytes before fields of complex types are boxed, largest first. Fields of simple types are not boxed,
/// so a type with very many of them is larger.
const MAX_SIZE: usize = 1024;
/// Maximum size in bytes of an unboxed variant, which is the limit of clippy's `large_enum_variant`.
const MAX_VARIANT_SIZE: usize = 200;

const POINTER: usize = 8;

/// Boxes large fields and variants. In `order`, each item must follow those that its values contain. Returns the size
/// of each type.
pub(super) fn box_large_fields(
    items: &mut [Item],
    order: &[usize],
    services: &mut [Service],
    documents: &[TypedRoot],
) -> Vec<(Path, usize)> {
    let mut sizes = Sizes::default();
    let mut found = Vec::new();
    for &number in order {
        let item = &mut items[number];
        let path = item.path().clone();
        let Some(known) = sizes.of_item(item) else { continue };
        found.push((path.clone(), known.actual.size));
        sizes.layouts.insert(path, known);
    }
    let headers = services.iter().flat_map(|service| &service.headers);
    for root in headers.chain(documents) {
        if let RootType::Wrapper(ident) = &root.of {
            let size = sizes.base(&root.base).actual.size;
            found.push((Path { module: 0, ident: ident.clone() }, size));
        }
    }
    for service in services {
        for faults in service.operations.iter_mut().filter_map(|operation| operation.faults.as_mut()) {
            let variants = faults.variants.iter_mut();
            let variants = variants.map(|variant| variant_of(sizes.base(&variant.base), &mut variant.storage));
            let size = enumeration(variants.collect()).actual.size;
            found.push((Path { module: 0, ident: faults.ident.clone() }, size));
        }
    }
    found
}

/// The size and alignment of a type in bytes, and its niche: how many more values its bytes can represent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Layout {
    size: usize,
    align: usize,
    spare: Spare,
}

/// The size of a niche.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Spare {
    #[default]
    None,
    One,
    Many,
}

const fn layout(size: usize, align: usize, spare: Spare) -> Layout {
    Layout { size, align, spare }
}

/// A `String` or a `Vec`.
const TEXT: Layout = layout(24, 8, Spare::Many);
const ANY: Layout = layout(48, 8, Spare::Many);
const ANY_ELEMENTS: Layout = layout(40, 8, Spare::Many);
const ANY_TYPE: Layout = layout(104, 8, Spare::Many);
const BOX: Layout = layout(POINTER, 8, Spare::One);
/// A `Recursive` is a pointer to the value and a pointer to its table.
const RECURSIVE: Layout = layout(2 * POINTER, 8, Spare::One);

impl Layout {
    /// Adds one more value, for absent or nil.
    fn or_none(self) -> Layout {
        match self.spare {
            Spare::Many => self,
            Spare::One => Layout { spare: Spare::None, ..self },
            Spare::None => layout(self.size.saturating_add(self.align), self.align, Spare::Many),
        }
    }

    /// Returns the layout of an enum, which needs a tag.
    fn one_of(variants: impl IntoIterator<Item = Layout>) -> Layout {
        let largest = variants.into_iter().map(|variant| variant.size).max().unwrap_or(0);
        Layout::all_of([layout(largest.saturating_add(POINTER), POINTER, Spare::Many)])
    }

    /// Returns the layout of a struct.
    fn all_of(fields: impl IntoIterator<Item = Layout>) -> Layout {
        let all = fields.into_iter().fold(Layout { align: 1, ..Layout::default() }, |all, field| Layout {
            size: all.size.saturating_add(field.size),
            align: all.align.max(field.align),
            spare: all.spare.max(field.spare),
        });
        // Without any boxes the size of a type may exceed the number range.
        Layout { size: all.size.checked_next_multiple_of(all.align).unwrap_or(usize::MAX), ..all }
    }
}

/// The layouts of a type's values.
#[derive(Clone, Copy, Debug)]
struct TypeLayout {
    /// The actual layout.
    actual: Layout,
    /// The layout without any boxes. Boxing is decided by it, so that a box inside a value doesn't affect the types
    /// around it.
    whole: Layout,
}

impl From<Layout> for TypeLayout {
    fn from(layout: Layout) -> Self {
        TypeLayout { actual: layout, whole: layout }
    }
}

impl TypeLayout {
    fn map(self, change: impl Fn(Layout) -> Layout) -> TypeLayout {
        TypeLayout { actual: change(self.actual), whole: change(self.whole) }
    }

    fn optional(self) -> TypeLayout {
        self.map(Layout::or_none)
    }
}

/// A field or an accessor.
struct Slot<'a> {
    of: TypeLayout,
    storage: &'a mut Storage,
    may_be_boxed: bool,
}

impl Slot<'_> {
    fn is_in_place(&self) -> bool {
        self.may_be_boxed && *self.storage == Storage::InPlace
    }

    fn layout(&self) -> Layout {
        if *self.storage == Storage::Boxed { BOX.or_none() } else { self.of.actual }
    }
}

/// Boxes large fields, and then the largest of the others until the struct is small enough. `rest` is the part without
/// fields.
fn structure(mut slots: Vec<Slot<'_>>, rest: TypeLayout) -> TypeLayout {
    let whole = Layout::all_of(slots.iter().map(|slot| slot.of.whole).chain([rest.whole]));
    for slot in &mut slots {
        if slot.is_in_place() && slot.of.whole.size > MAX_SIZE {
            *slot.storage = Storage::Boxed;
        }
    }
    loop {
        let storage = Layout::all_of(slots.iter().map(Slot::layout).chain([rest.actual]));
        let in_place = slots.iter().filter(|slot| slot.is_in_place());
        let largest = in_place.map(|slot| slot.of.actual.size).max().filter(|size| *size > POINTER);
        let Some(largest) = largest.filter(|_| storage.size > MAX_SIZE) else {
            return TypeLayout { actual: storage, whole };
        };
        // Fields of the same size are treated the same.
        for slot in slots.iter_mut().filter(|slot| slot.is_in_place() && slot.of.actual.size == largest) {
            *slot.storage = Storage::Boxed;
        }
    }
}

/// Boxes a variant if it is large. Returns its layout.
fn variant_of(of: TypeLayout, storage: &mut Storage) -> TypeLayout {
    if *storage == Storage::InPlace && of.whole.size > MAX_VARIANT_SIZE {
        *storage = Storage::Boxed;
    }
    if *storage == Storage::Boxed { BOX.into() } else { of }
}

fn enumeration(variants: Vec<TypeLayout>) -> TypeLayout {
    TypeLayout {
        actual: Layout::one_of(variants.iter().map(|variant| variant.actual)),
        whole: Layout::one_of(variants.iter().map(|variant| variant.whole)),
    }
}

/// Returns the layout of a collection of values of a particle.
fn many(field: &Field) -> TypeLayout {
    match field.term {
        Term::Element { .. } | Term::Group(_) => TEXT.into(),
        Term::Any(_) => ANY_ELEMENTS.into(),
    }
}

/// Returns true if values of a type may contain other values.
fn is_complex(base: &Base) -> bool {
    matches!(base, Base::Item(_))
}

/// The layouts of the types processed so far.
#[derive(Default)]
struct Sizes {
    layouts: HashMap<Path, TypeLayout>,
}

impl Sizes {
    /// Returns the layout of an item, or `None` if it is not a type.
    fn of_item(&self, item: &mut Item) -> Option<TypeLayout> {
        Some(match item {
            Item::Struct(planned) => self.of_struct(planned),
            Item::Choice(planned) => {
                let variants = planned.variants.iter_mut();
                let variants = variants.map(|variant| match variant.occurrence() {
                    Occurrence::Repeated => many(variant),
                    Occurrence::Required | Occurrence::Optional => variant_of(self.one(variant), &mut variant.storage),
                });
                enumeration(variants.chain(planned.text.is_some().then(|| TEXT.into())).collect())
            }
            Item::Derived(planned) => {
                let variants = planned.variants.iter_mut();
                let variants = variants.map(|variant| match variant.storage {
                    Storage::Recursive => RECURSIVE.into(),
                    _ => variant_of(self.base(&variant.base), &mut variant.storage),
                });
                enumeration(variants.chain([ANY_TYPE.into()]).collect())
            }
            Item::Enumeration(_) => TEXT.into(),
            Item::Union(planned) => enumeration(planned.members.iter().map(|member| self.base(&member.base)).collect()),
            Item::EncodedStruct(planned) => {
                let accessors = planned.accessors.iter_mut().map(|accessor| {
                    let of = match (accessor.is_repeated, accessor.value.is_shared, accessor.storage) {
                        (true, _, _) => TEXT.into(),
                        (false, true, _) => self.base(&Base::Shared(Box::new(Base::Nothing))).optional(),
                        (false, false, Storage::Recursive) => TypeLayout::from(RECURSIVE).optional(),
                        // Each value of a struct in SOAP encoding may be nil.
                        (false, false, _) => self.base(&accessor.value.base).optional(),
                    };
                    let may_be_boxed =
                        !accessor.is_repeated && !accessor.value.is_shared && is_complex(&accessor.value.base);
                    Slot { of, storage: &mut accessor.storage, may_be_boxed }
                });
                structure(accessors.collect(), Layout { align: 1, ..Layout::default() }.into())
            }
            // An array has its items and, if it has several dimensions, their sizes.
            Item::EncodedArray(planned) if planned.rank == 1 => TEXT.into(),
            Item::EncodedArray(_) => Layout::all_of([TEXT, TEXT]).into(),
            Item::Restriction(_) | Item::NamedTypes(_) => return None,
        })
    }

    fn of_struct(&self, planned: &mut Struct) -> TypeLayout {
        let attributes = planned.attributes.iter().filter_map(|attribute| self.attribute(attribute));
        let any_attributes = planned.any_attributes.iter().map(|_| TEXT);
        let content = match &planned.content {
            Content::Simple { value, .. } => Some(self.base(value).actual),
            Content::Mixed { .. } => Some(TEXT),
            Content::Sequence(_) | Content::All(_) => None,
        };
        let rest = Layout::all_of(attributes.chain(any_attributes).chain(content));
        let fields: &mut [Field] = match &mut planned.content {
            Content::Sequence(fields) | Content::All(fields) => fields,
            Content::Simple { .. } | Content::Mixed { .. } => &mut [],
        };
        let slots = fields.iter_mut().map(|field| {
            let is_one = field.occurrence() != Occurrence::Repeated;
            let may_be_boxed = match &field.term {
                Term::Element { value, .. } => is_one && is_complex(&value.base),
                Term::Group(_) => is_one,
                Term::Any(_) => false,
            };
            Slot { of: self.field(field), storage: &mut field.storage, may_be_boxed }
        });
        structure(slots.collect(), rest.into())
    }

    fn attribute(&self, attribute: &Attribute) -> Option<Layout> {
        let of = self.base(&attribute.base).actual;
        match attribute.presence {
            Presence::Required | Presence::Default(_) => Some(of),
            Presence::Optional => Some(of.or_none()),
            Presence::Fixed { .. } => None,
        }
    }

    /// Returns the layout of an unboxed field.
    fn field(&self, field: &Field) -> TypeLayout {
        match field.occurrence() {
            Occurrence::Required => self.one(field),
            Occurrence::Optional => self.one(field).optional(),
            Occurrence::Repeated => many(field),
        }
    }

    /// Returns the layout of one value of a particle.
    fn one(&self, field: &Field) -> TypeLayout {
        let nil = match &field.term {
            Term::Element { value, .. } => value.nil,
            Term::Group(_) | Term::Any(_) => Nil::Never,
        };
        let of = match &field.term {
            _ if field.storage == Storage::Recursive => RECURSIVE.into(),
            Term::Element { value, .. } => self.base(&value.base),
            Term::Group(path) => self.item(path),
            Term::Any(_) => ANY.into(),
        };
        match nil {
            Nil::Never => of,
            Nil::Plain => of.optional(),
            // A nil value still has attributes.
            Nil::WithAttributes => of.map(|of| Layout::one_of([of, TEXT])),
        }
    }

    fn base(&self, base: &Base) -> TypeLayout {
        let layout = match base {
            Base::Primitive(name) => match *name {
                "bool" => layout(1, 1, Spare::Many),
                "i8" | "u8" => layout(1, 1, Spare::None),
                "i16" | "u16" => layout(2, 2, Spare::None),
                "i32" | "u32" | "f32" => layout(4, 4, Spare::None),
                "i64" | "u64" | "f64" => layout(8, 8, Spare::None),
                _ => TEXT,
            },
            Base::Datatype(name) => match *name {
                "GMonthDay" | "GDay" | "GMonth" => layout(6, 2, Spare::Many),
                "Time" => layout(12, 4, Spare::Many),
                "Date" | "GYearMonth" | "GYear" => layout(16, 8, Spare::Many),
                "StreamedBinary" => layout(32, 8, Spare::Many),
                "QName" | "Notation" => layout(64, 8, Spare::Many),
                _ => TEXT,
            },
            // An estimate: types for decimals and points in time have 8 to 32 bytes.
            Base::Rust(_) => layout(32, 8, Spare::None),
            Base::List(_) => TEXT,
            Base::AnyType => ANY_TYPE,
            Base::Nothing => layout(0, 1, Spare::None),
            Base::Raw => layout(160, 8, Spare::Many),
            Base::Shared(_) => layout(2 * POINTER, 8, Spare::Many),
            Base::Item(path) => return self.item(path),
        };
        layout.into()
    }

    fn item(&self, path: &Path) -> TypeLayout {
        self.layouts.get(path).copied().unwrap_or_else(|| RECURSIVE.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use castile::{Any, AnyElements, AnyType, Array, NillableWithAttributes, Raw, Recursive, Shared, datatypes};

    /// Returns the compiler's layout of a type.
    fn real<T>() -> Layout {
        let (size, align) = (size_of::<T>(), align_of::<T>());
        let spare = match (size_of::<Option<T>>() == size, size_of::<Option<Option<T>>>() == size) {
            (true, true) => Spare::Many,
            (true, false) => Spare::One,
            (false, _) => Spare::None,
        };
        layout(size, align, spare)
    }

    #[test]
    fn sizes_of_datatypes_are_those_of_the_compiler() {
        let sizes = Sizes::default();
        macro_rules! check {
            ($base:ident: $($type:ident),*) => {
                $(assert_eq!(sizes.base(&Base::$base(stringify!($type))).actual, real::<datatypes::$type>(), stringify!($type));)*
            };
        }
        macro_rules! check_primitives {
            ($($type:ident),*) => {
                $(assert_eq!(sizes.base(&Base::Primitive(stringify!($type))).actual, real::<$type>(), stringify!($type));)*
            };
        }
        check_primitives!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, String);
        check!(Datatype: Decimal, Duration, DateTime, Time, Date, GYearMonth, GYear, GMonthDay, GDay, GMonth, HexBinary);
        check!(Datatype: Base64Binary, StreamedBinary, AnyUri, QName, Notation, NormalizedString, Token, Language, Nmtoken);
        check!(Datatype: Nmtokens, Name, NcName, Id, Idref, Idrefs, Entity, Entities);
        check!(Datatype: Integer, NonPositiveInteger, NegativeInteger, NonNegativeInteger, PositiveInteger);
        let list = Base::List(Box::new(Base::Primitive("i32")));
        assert_eq!(sizes.base(&list).actual, real::<datatypes::List<i32>>());
        assert_eq!(sizes.base(&Base::AnyType).actual, real::<AnyType>());
        assert_eq!(sizes.base(&Base::Nothing).actual, real::<()>());
        assert_eq!(sizes.base(&Base::Raw).actual, real::<Raw>());
        assert_eq!(sizes.base(&Base::Shared(Box::new(list))).actual, real::<Shared<i32>>());
        assert_eq!((TEXT, ANY), (real::<Vec<u8>>(), real::<Any>()));
        assert_eq!(ANY_ELEMENTS, real::<AnyElements>());
        assert_eq!((BOX, RECURSIVE), (real::<Box<i32>>(), real::<Recursive<i32>>()));
        assert_eq!(Layout::all_of([TEXT, TEXT]), real::<Array<i32>>());
    }

    #[test]
    fn optional_and_nillable_values_have_the_size_that_the_compiler_gives_them() {
        let of = |name| Sizes::default().base(&Base::Primitive(name)).actual;
        assert_eq!(of("i32").or_none(), real::<Option<i32>>());
        assert_eq!(of("u8").or_none().or_none(), real::<Option<Option<u8>>>());
        assert_eq!(BOX.or_none(), real::<Option<Box<i32>>>());
        assert_eq!(RECURSIVE.or_none(), real::<Option<Recursive<i32>>>());
        assert_eq!(Layout::one_of([TEXT, TEXT]), real::<NillableWithAttributes<String>>());
        assert_eq!(Layout::all_of([of("i32"), of("bool"), of("i64")]), real::<(i32, bool, i64)>());
    }
}
