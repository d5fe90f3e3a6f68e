//! Fields of structs and contents of variants: their types and how often they occur.

use std::collections::HashSet;

use castile_datatypes::{Datatype, Unscoped};
use castile_plan::names;
use castile_plan::plan::{Base, Element, Field, Nil, Storage, Term, Value, ValueConstraint, Wildcard};
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, GenericArgument, Ident, LitInt, PathArguments, Type};

use crate::attributes::{Case, FieldAttribute, FieldAttributes, Occurrence, Role, TypeAttributes};
use crate::expansion::Expansion;
use crate::placeholders::NAMESPACE;

/// A field of a struct, or the content of a variant, as a particle.
pub(crate) struct Member {
    pub(crate) name: String,
    /// The namespace, if it differs from that of the surrounding elements.
    pub(crate) namespace: Option<Expr>,
    /// The type of one value.
    pub(crate) of: Type,
    pub(crate) kind: MemberKind,
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    pub(crate) default: Option<String>,
    /// Set if the values can be read item by item, to the place of the attribute.
    pub(crate) items: Option<Span>,
    /// The namespaces that a wildcard accepts.
    pub(crate) any: Option<Wildcard>,
    pub(crate) documentation: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberKind {
    Element,
    Flattened,
    Any,
}

/// The structure of a field's type.
pub(crate) struct Shape {
    pub(crate) occurrence: Occurrence,
    pub(crate) is_boxed: bool,
    is_stream: bool,
    /// The type of one value, without its `Box`.
    pub(crate) of: Type,
}

/// Returns the generic argument of a type with this name: `T` of `Option<T>`.
pub(crate) fn generic_argument<'t>(of: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = bare(of) else { return None };
    let last = path.path.segments.last().filter(|last| path.qself.is_none() && last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(held)) if arguments.args.len() == 1 => Some(held),
        _ => None,
    }
}

pub(crate) fn is_called(of: &Type, name: &str) -> bool {
    last_of(of).is_some_and(|last| last == name)
}

/// Returns the last name of a path.
fn last_of(of: &Type) -> Option<&syn::Ident> {
    match bare(of) {
        Type::Path(path) => path.path.segments.last().map(|last| &last.ident),
        _ => None,
    }
}

/// Returns a type without parentheses and without the invisible groups of macros.
fn bare(mut of: &Type) -> &Type {
    loop {
        of = match of {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            other => return other,
        };
    }
}

/// Returns the Rust name and the XML Schema name of a type of the language. A program may define its own `Date`, but no `i32`.
pub(crate) fn of_language(of: &Type) -> Option<(&'static str, &'static str)> {
    const TYPES: [(&str, &str); 12] = [
        ("String", "string"),
        ("bool", "boolean"),
        ("f32", "float"),
        ("f64", "double"),
        ("i8", "byte"),
        ("i16", "short"),
        ("i32", "int"),
        ("i64", "long"),
        ("u8", "unsignedByte"),
        ("u16", "unsignedShort"),
        ("u32", "unsignedInt"),
        ("u64", "unsignedLong"),
    ];
    // Converting an identifier to a string is slow, so it is done once.
    let called = last_of(of)?.to_string();
    TYPES.into_iter().find(|(name, _)| *name == called)
}

/// Returns the maximum size of a value in bytes on a 64-bit machine, if the name of the type determines it.
pub(crate) fn max_bytes(of: &Type) -> Option<usize> {
    const POINTER: usize = 8;
    /// The small types of `castile::datatypes`. If the program defines a type with such a name, its size is checked where it is
    /// derived.
    const DATATYPES: [&str; 12] = [
        "AnyUri",
        "Base64Binary",
        "Date",
        "DateTime",
        "Decimal",
        "Duration",
        "GYear",
        "GYearMonth",
        "HexBinary",
        "Integer",
        "QName",
        "Time",
    ];
    let inner = generic_argument(of, "Option").unwrap_or(of);
    match last_of(inner)?.to_string().as_str() {
        "Box" => generic_argument(inner, "Box").map(|_| POINTER),
        "Vec" => generic_argument(inner, "Vec").map(|_| 3 * POINTER),
        "String" => Some(3 * POINTER),
        called if DATATYPES.contains(&called) => Some(MAX_DATATYPE_SIZE),
        // A number, and the flag of an `Option`.
        _ => of_language(inner).map(|_| 2 * POINTER),
    }
}

/// The maximum size in bytes of a value of these datatypes, or of an `Option` of one.
pub(crate) const MAX_DATATYPE_SIZE: usize = 64;

/// Checks that a default is a valid value of its type, if the type is known here.
pub(crate) fn check_value(of: &Type, text: &str, span: Span) -> syn::Result<()> {
    let Some(datatype) = of_language(of).and_then(|(_, name)| Datatype::from_name(name)) else { return Ok(()) };
    match datatype.parse(text, &Unscoped) {
        Ok(_) => Ok(()),
        Err(problem) => {
            let problem = problem.map(|problem| format!(": {problem}")).unwrap_or_default();
            Err(syn::Error::new(span, format!("{text:?} is not a valid xs:{}{problem}", datatype.name())))
        }
    }
}

impl Shape {
    pub(crate) fn of(of: &Type, said: &FieldAttributes) -> syn::Result<Self> {
        let unboxed =
            |of: &Type| (generic_argument(of, "Box").is_some(), generic_argument(of, "Box").unwrap_or(of).clone());
        if let Some(held) = generic_argument(of, "Option") {
            if let Some(span) = said.is_repeated {
                return Err(syn::Error::new(span, "an `Option` occurs at most once, so it can't be `repeated`"));
            }
            let (is_boxed, of) = unboxed(held);
            return Ok(Shape { occurrence: Occurrence::Optional, is_boxed, is_stream: false, of });
        }
        let is_stream = generic_argument(of, "Items").is_some();
        if let Some(held) = generic_argument(of, "Vec").or_else(|| generic_argument(of, "Items")) {
            if is_called(held, "u8") && said.is_repeated.is_none() {
                let message = "a `Vec<u8>` would be an element for each number: use \
                    `castile::datatypes::Base64Binary` or `HexBinary` for bytes, or `#[xml(repeated)]` for numbers";
                return Err(syn::Error::new(of.span(), message));
            }
            return Ok(Shape { occurrence: Occurrence::Repeated, is_boxed: false, is_stream, of: held.clone() });
        }
        if let Some(span) = said.is_repeated {
            let message = "the type must be written as `Vec<…>`, so that it shows the type of one value";
            return Err(syn::Error::new(span, message));
        }
        let (is_boxed, of) = unboxed(of);
        Ok(Shape { occurrence: Occurrence::Required, is_boxed, is_stream: false, of })
    }
}

/// Creates a member and its plan.
pub(crate) fn member(
    expansion: &mut Expansion,
    of_type: &TypeAttributes,
    ident: &Ident,
    of: &Type,
    said: &FieldAttributes,
    case: Case,
) -> syn::Result<(Member, Field)> {
    let is_any = said.role() == Some(Role::Any);
    let shape = match is_any && is_called(of, "AnyElements") {
        true => Shape { occurrence: Occurrence::Repeated, is_boxed: false, is_stream: false, of: of.clone() },
        false => Shape::of(of, said)?,
    };
    let (min, max) = bounds(&shape, said)?;
    let is_element = !matches!(said.role(), Some(Role::Any | Role::Flattened));
    let name = if is_element { of_type.name_of(ident, said, case)? } else { String::new() };
    if let Some(default) = &said.default {
        check_value(&shape.of, &default.value(), default.span())?;
    }
    let documentation = said.documentation.clone();
    let default = said.default.as_ref().map(syn::LitStr::value);
    let mut of_value = shape.of.clone();
    let adapter = match &said.with {
        None => None,
        Some(with) if said.role().is_some() => {
            return Err(syn::Error::new(with.span(), "an adapter is only for the value of an element or an attribute"));
        }
        Some(with) if shape.is_boxed => {
            return Err(syn::Error::new(with.span(), "an adapter reads the value itself: remove the `Box`"));
        }
        Some(with) => {
            of_value = type_of_adapted(with, &shape.of);
            Some(adapted(expansion, with, &shape.of))
        }
    };
    if let Some(namespace) = &said.namespace {
        // A reference to an element of another schema can't change the element (XSD Part 1 §3.3.3).
        said.refuse(
            &[FieldAttribute::Name, FieldAttribute::Namespace, FieldAttribute::Repeated, FieldAttribute::Bounds],
            "an element of another namespace",
        )?;
        if !is_element || shape.is_stream {
            return Err(syn::Error::new(namespace.span(), "only elements and attributes can have their own namespace"));
        }
    }
    let held = if shape.is_boxed { Storage::Boxed } else { Storage::InPlace };
    let (kind, term) = match said.role() {
        Some(Role::Any) => {
            said.refuse(&[FieldAttribute::Bounds], "a field with `any`")?;
            if shape.occurrence == Occurrence::Repeated && !is_called(of, "AnyElements") {
                return Err(syn::Error::new(of.span(), "use `castile::AnyElements` for any number of elements"));
            }
            // Elements of the type's own namespace would be ambiguous with its other elements (cos-nonambig).
            let any = said.wildcard(Wildcard::Not(NAMESPACE.to_owned()))?;
            (MemberKind::Any, Term::Any(any))
        }
        Some(Role::Flattened) => {
            said.refuse(&[FieldAttribute::Bounds], "a flattened field")?;
            (MemberKind::Flattened, Term::Group(expansion.of(&shape.of)))
        }
        _ => {
            let namespace = said.namespace.as_ref().map(|namespace| expansion.other(namespace));
            let element = Element {
                namespace: namespace.unwrap_or_else(|| expansion.of_elements().to_owned()),
                name: name.clone(),
                slot: expansion.slot(),
                constraint: default.clone().map(match said.is_fixed {
                    true => ValueConstraint::Fixed,
                    false => ValueConstraint::Default,
                }),
                facets: None,
                types: None,
            };
            // A value without nested values needs no stack guard.
            let base = match of_language(&shape.of).filter(|_| adapter.is_none()) {
                Some((name, _)) => Base::Primitive(name),
                None => expansion.base(&shape.of),
            };
            let value = Value { base, nil: Nil::Never };
            (MemberKind::Element, Term::Element { element, value, tag: name.clone(), counted: false })
        }
    };
    let any = match &term {
        Term::Any(any) => Some(any.clone()),
        _ => None,
    };
    let field = Field {
        ident: names::Ident::new(&ident.to_string()),
        documentation: String::new(),
        min_occurs: min,
        max_occurs: max,
        term,
        storage: held,
        streams: shape.is_stream,
        adapter,
    };
    let (namespace, items) = (said.namespace.clone(), said.is_items);
    Ok((Member { name, namespace, of: of_value, kind, min, max, default, items, any, documentation }, field))
}

/// Adds the type that reads values with an adapter.
pub(crate) fn adapted(expansion: &mut Expansion, with: &Type, of: &Type) -> Base {
    expansion.base(&syn::parse_quote!(castile_codegen_::Adapted<#with, #of>))
}

/// Returns the type that an adapter reads instead of `of`.
pub(crate) fn type_of_adapted(with: &Type, of: &Type) -> Type {
    syn::parse_quote!(<#with as ::castile::Adapter<#of>>::Xml)
}

/// Returns how often a particle occurs.
fn bounds(shape: &Shape, said: &FieldAttributes) -> syn::Result<(u32, Option<u32>)> {
    let number = |number: &LitInt| number.base10_parse::<u32>();
    match shape.occurrence {
        Occurrence::Repeated => {
            let (min, max) = (said.min.as_ref(), said.max.as_ref());
            let (lower, upper) = (min.map(number).transpose()?.unwrap_or(0), max.map(number).transpose()?);
            // A field that occurs once is not a `Vec`.
            match max {
                Some(max) if upper.is_some_and(|upper| upper < lower.max(2)) => {
                    Err(syn::Error::new(max.span(), "the `max` of a `Vec` is at least 2 and at least `min`"))
                }
                _ => Ok((lower, upper)),
            }
        }
        once => match said.min.as_ref().or(said.max.as_ref()) {
            Some(bound) => Err(syn::Error::new(bound.span(), "only a `Vec` can have `min` and `max`")),
            None => Ok((u32::from(once == Occurrence::Required), Some(1))),
        },
    }
}

/// Checks that no two elements, attributes or values have the same name.
pub(crate) fn differ<'m>(names: impl IntoIterator<Item = (Option<&'m Expr>, &'m str, Span)>) -> syn::Result<()> {
    let mut known = HashSet::new();
    for (namespace, name, span) in names {
        if !known.insert((namespace.map(|namespace| namespace.to_token_stream().to_string()), name)) {
            let message = format!("another one has the name {name:?} too: add `#[xml(name = \"…\")]` to one of them");
            return Err(syn::Error::new(span, message));
        }
    }
    Ok(())
}

/// Checks that elements with the same name can be distinguished in a sequence. Either the first one has a fixed count, or a
/// required element separates them. In the first case, its occurrences are counted.
pub(crate) fn check_distinguishable(members: &[(Member, Span)], fields: &mut [Field], is_all: bool) -> syn::Result<()> {
    let is_element = |member: &Member| member.kind == MemberKind::Element;
    let key =
        |member: &Member| (member.namespace.as_ref().map(|of| of.to_token_stream().to_string()), member.name.clone());
    for (index, (member, _)) in members.iter().enumerate().filter(|(_, (member, _))| is_element(member)) {
        let others = members.iter().enumerate().skip(index + 1);
        let is_same = |(_, (other, _)): &(usize, &(Member, Span))| is_element(other) && key(other) == key(member);
        let Some((number, (other, span))) = others.clone().find(is_same) else { continue };
        if other.of.to_token_stream().to_string() != member.of.to_token_stream().to_string() {
            let message = format!(
                "two elements <{}> must have the same type (cos-element-consistent): add `#[xml(name = \"…\")]` to \
                 one of them",
                member.name
            );
            return Err(syn::Error::new(*span, message));
        }
        if let Some(items) = member.items.or(other.items) {
            return Err(syn::Error::new(
                items,
                "items are recognised by their name, but another element has the same name",
            ));
        }
        let must_come = |(other, _): &(Member, Span)| is_element(other) && other.min > 0;
        let is_parted = members[index + 1..number].iter().any(must_come);
        let is_counted = Some(member.min) == member.max;
        if is_all {
            return differ([(None, member.name.as_str(), *span), (None, member.name.as_str(), *span)]);
        }
        if !(is_parted || is_counted) {
            let message = format!(
                "another one has the name {:?} too, and no required element is between them: add `#[xml(name = \
                 \"…\")]` to one of them",
                member.name
            );
            return Err(syn::Error::new(*span, message));
        }
        if let Term::Element { counted, .. } = &mut fields[index].term {
            *counted = is_counted;
        }
    }
    Ok(())
}

/// Returns the names of the members that are elements.
pub(crate) fn elements(members: &[(Member, Span)]) -> impl Iterator<Item = (Option<&Expr>, &str, Span)> {
    let elements = members.iter().filter(|(member, _)| member.kind == MemberKind::Element);
    elements.map(|(member, span)| (member.namespace.as_ref(), member.name.as_str(), *span))
}
