//! Renders checks, evaluated by the compiler, that types of a program match the types of the contract that they
//! replace.

use castile_plan::plan::{
    Attribute, Base, Content, Field, Item, Nil, Presence, Role, Struct, Term, TypeName, Value, ValueConstraint,
    Wildcard,
};
use proc_macro2::TokenStream;
use quote::quote;

use super::{Context, base, literal, namespaces, occurs};

/// Renders the check for the type that replaces an item.
pub(super) fn check(item: &Item, context: Context<'_>) -> TokenStream {
    let Item::Struct(planned) = item else { return TokenStream::new() };
    let own = context.path(&planned.path);
    let subject =
        format!("`{}` doesn't match `{}` of the contract", own.to_string().replace(' ', ""), planned.path.ident);
    let expected = expected(planned, &subject, context);
    quote! {
        const _: () = {
            use ::castile::codegen::declared::*;
            fits(<#own as Declared>::DECLARATION, &#expected);
        };
    }
}

fn expected(planned: &Struct, subject: &str, context: Context<'_>) -> TokenStream {
    let Struct { attributes, any_attributes, content, role, .. } = planned;
    let attributes = attributes.iter().map(|attribute| self::attribute(attribute, subject, context));
    let content = match content {
        Content::Simple { value, .. } => {
            let kind = kind(value, subject, context);
            quote! { Text(#kind) }
        }
        Content::Sequence(fields) => {
            let elements = elements(fields, subject, context);
            quote! { Sequence(&[#(#elements),*]) }
        }
        Content::All(fields) => {
            let elements = elements(fields, subject, context);
            quote! { All(&[#(#elements),*]) }
        }
        // The planner rejects mixed content.
        Content::Mixed { .. } => quote! { Sequence(&[]) },
    };
    let (name, called) = match role {
        Role::Type(Some(TypeName { namespace, name })) => {
            let called = format!("{subject}: its name must be {name:?}, in the namespace {namespace:?}");
            let namespace = context.namespace(namespace);
            (quote! { Some(xs::TypeName::new(#namespace, #name)) }, called)
        }
        Role::Type(None) | Role::Group => (quote! { None }, String::new()),
    };
    let any_attributes = match any_attributes.as_ref().map(|(_, namespaces)| self::namespaces(namespaces, context)) {
        Some(namespaces) => quote! { Some(xs::Namespaces::#namespaces) },
        None => quote! { None },
    };
    let more_attributes = literal(&format!("{subject}: it has other attributes"));
    let other_content = literal(&format!("{subject}: its content has a different kind, or more elements"));
    let called = literal(&called);
    quote! {
        ExpectedType {
            name: #name,
            attributes: &[#(#attributes),*],
            any_attributes: #any_attributes,
            content: ExpectedContent::#content,
            other_name: #called,
            more_attributes: #more_attributes,
            other_content: #other_content,
        }
    }
}

fn attribute(attribute: &Attribute, subject: &str, context: Context<'_>) -> TokenStream {
    let Attribute { namespace, name, base: of, presence, .. } = attribute;
    let is_required = matches!(presence, Presence::Required | Presence::Fixed { required: true, .. });
    let must = if is_required { "required" } else { "not required" };
    let (said, constraint) = match presence {
        Presence::Default(value) => {
            (format!(", {value:?} by default"), quote! { Some(xs::ValueConstraint::Default(#value)) })
        }
        Presence::Fixed { value, .. } => {
            (format!(", always {value:?}"), quote! { Some(xs::ValueConstraint::Fixed(#value)) })
        }
        Presence::Required | Presence::Optional => (String::new(), quote! { None }),
    };
    let of_type = of_type(of, context);
    let message = literal(&format!("{subject}: it must have the attribute `{name}`, {must}{said}, {of_type}"));
    let (namespace, kind) = (context.namespace(namespace), kind(of, subject, context));
    quote! {
        ExpectedAttribute {
            namespace: #namespace,
            name: #name,
            is_required: #is_required,
            kind: #kind,
            constraint: #constraint,
            message: #message,
        }
    }
}

fn elements(fields: &[Field], subject: &str, context: Context<'_>) -> Vec<TokenStream> {
    let elements = fields.iter().zip(1..).map(|(field, number)| {
        let (min, max) = occurs(field);
        let often = match (field.min_occurs, field.max_occurs) {
            (1, Some(1)) => "once".to_owned(),
            (0, Some(1)) => "at most once".to_owned(),
            (0, None) => "any number of times".to_owned(),
            (min, None) => format!("{min} times or more"),
            (min, Some(max)) => format!("{min} to {max} times"),
        };
        let mut constraint = quote! { None };
        let (name, is_nillable, kind, what) = match &field.term {
            Term::Element { element, value: Value { base: of, nil }, .. } => {
                let mut said = String::new();
                match &element.constraint {
                    Some(ValueConstraint::Default(value)) => {
                        said = format!(", {value:?} by default");
                        constraint = quote! { Some(xs::ValueConstraint::Default(#value)) };
                    }
                    Some(ValueConstraint::Fixed(value)) => {
                        said = format!(", always {value:?}");
                        constraint = quote! { Some(xs::ValueConstraint::Fixed(#value)) };
                    }
                    None => {}
                }
                let namespace = context.namespace(&element.namespace);
                let (name, is_nillable) = (&element.name, *nil != Nil::Never);
                let nil = if is_nillable { ", nillable" } else { "" };
                let within = format!("{subject}, in `{name}`");
                let what = format!("`{name}`, {often}{nil}{said}, {}", of_type(of, context));
                (quote! { ExpectedName::Is(#namespace, #name) }, is_nillable, kind(of, &within, context), what)
            }
            // The planner rejects groups.
            Term::Group(_) => return TokenStream::new(),
            Term::Any(wildcard) => {
                let namespaces = namespaces(wildcard, context);
                let said = match wildcard {
                    Wildcard::Any => "any namespace".to_owned(),
                    Wildcard::Not(target) => format!("namespaces other than {target:?}"),
                    Wildcard::OneOf(list) => format!("the namespaces {list:?}"),
                };
                let name = quote! { ExpectedName::Any(xs::Namespaces::#namespaces) };
                (name, false, quote! { ExpectedTypeKind::Simple }, format!("elements of {said}, {often}"))
            }
        };
        let message = literal(&format!("{subject}: element {number} must be {what}"));
        quote! {
            ExpectedElement {
                name: #name,
                min_occurs: #min,
                max_occurs: #max,
                is_nillable: #is_nillable,
                kind: #kind,
                constraint: #constraint,
                message: #message,
            }
        }
    });
    elements.collect()
}

/// Describes a type for error messages.
fn of_type(of: &Base, context: Context<'_>) -> String {
    match of {
        Base::Item(path) if !context.is_own(of) => match context.items.get(path) {
            Some(Item::Enumeration(planned)) => {
                let values: Vec<String> = planned.variants.iter().map(|one| format!("{:?}", one.value)).collect();
                format!("one of {}", values.join(", "))
            }
            Some(Item::Struct(_)) => format!("with the content of `{}`", path.ident),
            _ => format!("a `{}`", path.ident),
        },
        of => format!("a `{}`", base(of, context).to_string().replace(' ', "")),
    }
}

fn kind(of: &Base, subject: &str, context: Context<'_>) -> TokenStream {
    match of {
        Base::Nothing => quote! {
            ExpectedTypeKind::Within(&ExpectedType {
                name: None,
                attributes: &[],
                any_attributes: None,
                content: ExpectedContent::Sequence(&[]),
                other_name: "",
                more_attributes: "",
                other_content: "",
            })
        },
        Base::Item(path) if !context.is_own(of) => match context.items.get(path) {
            Some(Item::Struct(planned)) => {
                let expected = expected(planned, subject, context);
                quote! { ExpectedTypeKind::Within(&#expected) }
            }
            _ => simple_kind(of, context),
        },
        of => simple_kind(of, context),
    }
}

fn simple_kind(of: &Base, context: Context<'_>) -> TokenStream {
    match declared(of, context) {
        Some(kind) => quote! { ExpectedTypeKind::Is(#kind) },
        None => quote! { ExpectedTypeKind::Simple },
    }
}

/// Renders what a type declares, or `None` if it is only known to be a simple type.
fn declared(of: &Base, context: Context<'_>) -> Option<TokenStream> {
    match of {
        Base::List(item) => declared(item, context).map(|item| quote! { TypeKind::List(&#item) }),
        Base::Rust(_) => None,
        Base::Item(path) if !context.is_own(of) => match context.items.get(path)? {
            Item::Enumeration(planned) => {
                let values = planned.variants.iter().map(|one| {
                    let value = literal(&one.value);
                    quote! { ("enumeration", #value) }
                });
                Some(quote! { TypeKind::Listed(&[#(#values),*]) })
            }
            Item::Restriction(planned) => declared(&planned.base, context),
            _ => None,
        },
        of => {
            let of = base(of, context);
            Some(quote! { <#of as Declared>::KIND })
        }
    }
}
