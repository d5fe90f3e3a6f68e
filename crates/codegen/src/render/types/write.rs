//! Renders how a struct is written.

use proc_macro2::TokenStream;
use quote::quote;

use castile_plan::plan::{
    Attribute, Base, Content, Field, Occurrence, Presence, Storage, Struct, Term, ValueConstraint,
};

use crate::render::{Context, base, literal};

pub(super) fn write_attributes(plan: &Struct, context: Context<'_>) -> Option<TokenStream> {
    let attributes = plan.attributes_as_written().into_iter().map(|(number, attribute)| {
        let Attribute { ident, tag, namespace, .. } = attribute;
        // An attribute without a prefix is in no namespace, regardless of the namespace of the tags.
        if context.own.is_some() && !namespace.is_empty() {
            let (namespace, prefix) = (context.namespace(namespace), format!("n{number}"));
            return match attribute.presence {
                Presence::Optional => quote! {
                    if let Some(value) = &self.#ident { out.own_attribute(#namespace, #tag, #prefix, value); }
                },
                _ => quote! { out.own_attribute(#namespace, #tag, #prefix, &self.#ident); },
            };
        }
        if let Some(adapter) = attribute.adapter.as_ref().map(|adapter| base(adapter, context)) {
            return match &attribute.presence {
                Presence::Optional => {
                    quote! { out.optional_attribute(#tag, &self.#ident.as_ref().map(<#adapter>::of)); }
                }
                _ => quote! { out.attribute(#tag, &<#adapter>::of(&self.#ident)); },
            };
        }
        match &attribute.presence {
            Presence::Required | Presence::Default(_) => quote! { out.attribute(#tag, &self.#ident); },
            Presence::Optional => quote! { out.optional_attribute(#tag, &self.#ident); },
            Presence::Fixed { value, .. } => {
                let mut text = format!(" {tag}=\"").into_bytes();
                // The value is from an XML document, so it has only characters that XML allows.
                let _ = castile_xml::escape::push_attribute(&mut text, value);
                text.push(b'"');
                let text = String::from_utf8_lossy(&text).into_owned();
                quote! { out.tag(#text); }
            }
        }
    });
    let any = plan.any_attributes.iter().map(|(ident, _)| quote! { out.any_attributes(&self.#ident); });
    let attributes: Vec<TokenStream> = attributes.chain(any).collect();
    (!attributes.is_empty()).then(|| quote! { #(#attributes)* })
}

pub(super) fn write_content(plan: &Struct, context: Context<'_>) -> TokenStream {
    match &plan.content {
        Content::Simple { ident, .. } => quote! { out.simple(&self.#ident); },
        Content::Mixed { ident, .. } => quote! { out.groups(&self.#ident); },
        Content::Sequence(fields) | Content::All(fields) => {
            let write = fields.iter().map(|field| write(field, context));
            quote! { #(#write)* }
        }
    }
}

pub(super) fn write(field: &Field, context: Context<'_>) -> TokenStream {
    let name = &field.ident;
    let occurrence = field.occurrence();
    match &field.term {
        Term::Element { tag, .. } => {
            let (start, end) = (format!("<{tag}>"), format!("</{tag}>"));
            if let Some(namespace) = field.element().and_then(|element| context.other_namespace(&element.namespace)) {
                let write = |value| quote! { out.own_in_other_namespace(#namespace, #start, #value, #end); };
                let write_value = write(match field.storage {
                    Storage::Boxed => quote! { &**value },
                    _ => quote! { value },
                });
                return match (occurrence, field.storage) {
                    (Occurrence::Required, Storage::Boxed) => write(quote! { &*self.#name }),
                    (Occurrence::Required, _) => write(quote! { &self.#name }),
                    (Occurrence::Optional, _) => quote! { if let Some(value) = &self.#name { #write_value } },
                    (Occurrence::Repeated, _) => quote! { for value in &self.#name { #write_value } },
                };
            }
            let adapter = field.adapter.as_ref().map(|adapter| base(adapter, context));
            // Values of primitive types contain no elements, so they need no namespace.
            let is_of_language =
                matches!(&field.term, Term::Element { value, .. } if matches!(value.base, Base::Primitive(_)));
            if let Some(namespace) = context.own_namespace().filter(|_| adapter.is_some() || !is_of_language) {
                return match (occurrence, adapter, field.storage) {
                    (Occurrence::Repeated, Some(adapter), _) => {
                        quote! { out.own_adapted(#namespace, #start, self.#name.iter().map(<#adapter>::of), #end); }
                    }
                    (Occurrence::Repeated, None, _) if field.streams => {
                        quote! { out.own_items(#namespace, #start, &self.#name, #end); }
                    }
                    (Occurrence::Repeated, None, _) => {
                        quote! { out.own_repeated(#namespace, #start, &self.#name, #end); }
                    }
                    (Occurrence::Optional, Some(adapter), _) => quote! {
                        out.own_optional(#namespace, #start, &self.#name.as_ref().map(<#adapter>::of), #end);
                    },
                    (Occurrence::Optional, None, Storage::Boxed) => quote! {
                        if let Some(value) = &self.#name { out.own(#namespace, #start, &**value, #end); }
                    },
                    (Occurrence::Optional, None, _) => {
                        quote! { out.own_optional(#namespace, #start, &self.#name, #end); }
                    }
                    (Occurrence::Required, Some(adapter), _) => {
                        quote! { out.own(#namespace, #start, &<#adapter>::of(&self.#name), #end); }
                    }
                    (Occurrence::Required, None, Storage::Boxed) => {
                        quote! { out.own(#namespace, #start, &*self.#name, #end); }
                    }
                    (Occurrence::Required, None, _) => quote! { out.own(#namespace, #start, &self.#name, #end); },
                };
            }
            if let Term::Element { element, value: of, .. } = &field.term
                && context.is_own(&of.base)
            {
                let namespace = context.namespace(&element.namespace);
                let value = match field.storage {
                    Storage::Boxed => quote! { &**value },
                    Storage::InPlace | Storage::Recursive => quote! { value },
                };
                let write = quote! { out.own_within(#namespace, #start, #value, #end); };
                return match occurrence {
                    Occurrence::Required => quote! { { let value = &self.#name; #write } },
                    Occurrence::Optional => quote! { if let Some(value) = &self.#name { #write } },
                    Occurrence::Repeated => quote! { for value in &self.#name { #write } },
                };
            }
            match (occurrence, field.storage) {
                (Occurrence::Required, Storage::Boxed) => quote! { out.element(#start, &*self.#name, #end); },
                (Occurrence::Required, _) => quote! { out.element(#start, &self.#name, #end); },
                (Occurrence::Optional, Storage::Boxed) => quote! { out.optional_boxed(#start, &self.#name, #end); },
                (Occurrence::Optional, _) => quote! { out.optional(#start, &self.#name, #end); },
                (Occurrence::Repeated, _) if field.streams => quote! { out.items(#start, &self.#name, #end); },
                (Occurrence::Repeated, _) => quote! { out.repeated(#start, &self.#name, #end); },
            }
        }
        Term::Group(_) => match occurrence {
            Occurrence::Required => quote! { out.group(&self.#name); },
            Occurrence::Optional => quote! { out.optional_group(&self.#name); },
            Occurrence::Repeated => quote! { out.groups(&self.#name); },
        },
        Term::Any(_) => match occurrence {
            Occurrence::Required => quote! { out.any([&self.#name]); },
            Occurrence::Optional => quote! { out.any(&self.#name); },
            Occurrence::Repeated => quote! { out.any_elements(&self.#name); },
        },
    }
}

/// Renders the default or fixed value of an element.
pub(crate) fn constraint(constraint: &Option<ValueConstraint>) -> TokenStream {
    match constraint {
        None => quote! {},
        Some(ValueConstraint::Default(value)) => {
            let value = literal(value);
            quote! { .default(#value) }
        }
        Some(ValueConstraint::Fixed(value)) => {
            let value = literal(value);
            quote! { .fixed(#value) }
        }
    }
}
