//! Renders how a struct is read.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use castile_plan::names::Ident;
use castile_plan::plan::{Content, Field, Occurrence, Presence, Storage, Struct, Term, Wildcard};

use super::first_of;
use crate::render::{Context, base, boxed_reader, by_index, occurs, wildcard};

pub(super) fn read_content(plan: &Struct, context: Context<'_>) -> TokenStream {
    let ident = &plan.path.ident;
    let table = &plan.attribute_table;
    let checks = plan.attributes.iter().enumerate().filter_map(|(index, attribute)| {
        let Presence::Fixed { required, .. } = attribute.presence else { return None };
        let (of, index) = (base(&attribute.base, context), Literal::usize_unsuffixed(index));
        Some(if required {
            quote! { decoder.required_attribute::<#of>(&#table, #index)?; }
        } else {
            quote! { decoder.attribute::<#of>(&#table, #index)?; }
        })
    });
    let checks: Vec<TokenStream> = checks.collect();
    match &plan.content {
        Content::Simple { ident: value, facets, .. } => {
            let attributes = attribute_values(plan, context);
            let read = match facets {
                None => quote! { decoder.simple(element)? },
                Some(path) => {
                    let path = context.path(path);
                    quote! { decoder.restricted(element, &#path)? }
                }
            };
            quote! {
                #(#checks)*
                Ok(#ident { #(#attributes,)* #value: #read })
            }
        }
        Content::Mixed { ident: content, .. } => {
            let attributes = attribute_values(plan, context);
            quote! {
                #(#checks)*
                Ok(#ident { #(#attributes,)* #content: decoder.mixed()? })
            }
        }
        Content::Sequence(fields) => {
            let attributes = attribute_values(plan, context);
            let reads = sequence(&plan.table, fields, context);
            quote! {
                #(#checks)*
                Ok(#ident { #(#attributes,)* #(#reads),* })
            }
        }
        Content::All(fields) => {
            // Attributes are available until the first child is read.
            let (locals, attributes): (Vec<TokenStream>, Vec<TokenStream>) =
                attribute_locals(plan, context).into_iter().unzip();
            let (all, value) = all(ident, &plan.table, fields, &attributes, context);
            quote! {
                #(#checks)*
                #(#locals)*
                #all
                Ok(#value)
            }
        }
    }
}

/// Renders how each attribute that has a field is read.
fn attribute_reads<'a>(plan: &'a Struct, context: Context<'a>) -> impl Iterator<Item = (&'a Ident, TokenStream)> {
    let table = &plan.attribute_table;
    let declared = plan.attributes.iter().enumerate().filter_map(move |(index, attribute)| {
        let index = Literal::usize_unsuffixed(index);
        let read = match attribute.presence {
            Presence::Required => quote! { required_attribute },
            Presence::Optional => quote! { attribute },
            Presence::Default(_) => quote! { attribute_or_default },
            Presence::Fixed { .. } => return None,
        };
        let read = quote! { decoder.#read(&#table, #index)? };
        let adapter = attribute.adapter.as_ref().map(|adapter| base(adapter, context));
        let read = match (adapter, &attribute.presence) {
            (None, _) => read,
            (Some(adapter), Presence::Optional) => quote! { #read.map(<#adapter>::value) },
            (Some(adapter), _) => quote! { <#adapter>::value(#read) },
        };
        Some((&attribute.ident, read))
    });
    let any = plan.any_attributes.iter();
    declared.chain(any.map(move |(ident, _)| (ident, quote! { decoder.any_attributes(&#table) })))
}

fn attribute_values(plan: &Struct, context: Context<'_>) -> Vec<TokenStream> {
    attribute_reads(plan, context).map(|(ident, read)| quote! { #ident: #read }).collect()
}

fn attribute_locals(plan: &Struct, context: Context<'_>) -> Vec<(TokenStream, TokenStream)> {
    let locals = attribute_reads(plan, context).map(|(ident, read)| {
        let local = local(ident);
        let value = if *ident == local {
            quote! { #ident }
        } else {
            quote! { #ident: #local }
        };
        (quote! { let #local = #read; }, value)
    });
    locals.collect()
}

/// Renders how each field of a sequence is read.
pub(super) fn sequence(table: &Ident, fields: &[Field], context: Context<'_>) -> Vec<TokenStream> {
    let mut elements = 0;
    let reads = fields.iter().enumerate().map(|(number, field)| {
        let name = &field.ident;
        let read = match &field.term {
            Term::Any(any) => {
                read_any(any, field, &after(any, &fields[number + 1..], table, elements, context), context)
            }
            _ => read(field, table, elements, context),
        };
        elements += usize::from(field.element().is_some());
        let read = unboxed(field, quote! { #read? }, context);
        quote! { #name: #read }
    });
    reads.collect()
}

/// Renders the value of a field from the result of `read`, taking it from its box or applying the adapter.
pub(crate) fn unboxed(field: &Field, read: TokenStream, context: Context<'_>) -> TokenStream {
    if let Some(adapter) = &field.adapter {
        let adapter = base(adapter, context);
        return match field.occurrence() {
            Occurrence::Required => quote! { <#adapter>::value(#read) },
            Occurrence::Optional => quote! { #read.map(<#adapter>::value) },
            Occurrence::Repeated => quote! { #read.into_iter().map(<#adapter>::value).collect() },
        };
    }
    let boxed = boxed_reader();
    match (field.storage, &field.term, field.occurrence()) {
        (Storage::Boxed, Term::Element { .. }, Occurrence::Required) => quote! { #boxed::value(#read) },
        (Storage::Boxed, Term::Element { .. }, Occurrence::Optional) => quote! { #boxed::optional(#read) },
        _ => read,
    }
}

/// Returns which of the fields after a wildcard could also match the wildcard. The table has this many
/// `elements` before the wildcard.
fn after(any: &Wildcard, fields: &[Field], table: &Ident, elements: usize, context: Context<'_>) -> Vec<TokenStream> {
    let mut declared = fields.iter().filter_map(Field::element);
    // A program may use constants for its namespaces, so the listed ones may be unknown here.
    let is_listed = context.own.is_some() && matches!(any, Wildcard::OneOf(_));
    let elements = declared.any(|element| is_listed || any.allows(&element.namespace)).then(|| {
        let elements = Literal::usize_unsuffixed(elements);
        quote! { xs::First::Elements(#table.split_at(#elements).1) }
    });
    // A group beside a wildcard for other namespaces seldom has elements of other namespaces.
    let groups = fields.iter().filter(|field| matches!(field.term, Term::Group(_)) && !matches!(any, Wildcard::Not(_)));
    elements.into_iter().chain(groups.filter_map(|field| first_of(field, context))).collect()
}

/// Renders the call that reads a field of a sequence. `index` is the index of its element in the table.
pub(crate) fn read(field: &Field, table: &Ident, index: usize, context: Context<'_>) -> TokenStream {
    let index = Literal::usize_unsuffixed(index);
    let occurrence = field.occurrence();
    let streamed = field.streams.then(|| quote! { .map(::castile::Items::from) });
    match (&field.term, occurrence) {
        (Term::Element { .. }, Occurrence::Required) => quote! { decoder.required(&#table, #index) },
        (Term::Element { .. }, Occurrence::Optional) => quote! { decoder.optional(&#table, #index) },
        (Term::Element { counted: true, .. }, Occurrence::Repeated) => {
            quote! { decoder.counted(&#table, #index) #streamed }
        }
        (Term::Element { .. }, Occurrence::Repeated) => quote! { decoder.repeated(&#table, #index) #streamed },
        (Term::Group(_), Occurrence::Required) => quote! { decoder.group() },
        (Term::Group(_), Occurrence::Optional) => quote! { decoder.optional_group() },
        (Term::Group(_), Occurrence::Repeated) => {
            let (min, max) = occurs(field);
            quote! { decoder.repeated_group(#min, #max) }
        }
        (Term::Any(any), _) => read_any(any, field, &[], context),
    }
}

/// Renders the call that reads what a wildcard matches, up to the elements in `after`.
fn read_any(any: &Wildcard, field: &Field, after: &[TokenStream], context: Context<'_>) -> TokenStream {
    let any = wildcard(any, context);
    let before = (!after.is_empty() && field.occurrence() != Occurrence::Required)
        .then(|| quote! { .before(const { &[#(#after),*] }) });
    match field.occurrence() {
        Occurrence::Required => quote! { decoder.any(const { &#any }) },
        Occurrence::Optional => quote! { decoder.optional_any(const { &#any #before }) },
        Occurrence::Repeated => {
            let (min, max) = occurs(field);
            quote! { decoder.repeated_any(const { &#any.occurs(#min, #max) #before }) }
        }
    }
}

pub(super) fn all(
    ident: &Ident,
    table: &Ident,
    fields: &[Field],
    attributes: &[TokenStream],
    context: Context<'_>,
) -> (TokenStream, TokenStream) {
    let locals: Vec<Ident> = fields.iter().map(|field| local(&field.ident)).collect();
    let in_order = locals.iter().enumerate().map(|(index, local)| {
        let index = Literal::usize_unsuffixed(index);
        quote! { let mut #local = decoder.in_order(&#table, #index)?; }
    });
    let arms = locals.iter().enumerate().map(|(index, local)| {
        let index = Literal::usize_unsuffixed(index);
        quote! { decoder.once(&mut #local, &#table, #index)? }
    });
    let arms: Vec<TokenStream> = arms.collect();
    let read = by_index(&quote! { index }, &arms);
    let others = match arms.len() {
        1 => quote! { while decoder.one_of(&#table)?.is_some() { #read; } },
        _ => quote! { while let Some(index) = decoder.one_of(&#table)? { #read } },
    };
    let values = fields.iter().zip(&locals).enumerate().map(|(index, (field, local))| {
        let (name, number) = (&field.ident, Literal::usize_unsuffixed(index));
        match field.occurrence() {
            Occurrence::Required => {
                let value = unboxed(field, quote! { decoder.present(#local, &#table, #number)? }, context);
                quote! { #name: #value }
            }
            _ if field.storage == Storage::Boxed || field.adapter.is_some() => {
                let value = unboxed(field, quote! { #local }, context);
                quote! { #name: #value }
            }
            _ if name == local => quote! { #name },
            _ => quote! { #name: #local },
        }
    });
    let read = quote! {
        #(#in_order)*
        #others
    };
    (read, quote! { #ident { #(#attributes,)* #(#values),* } })
}

/// Returns the variable that holds a field's value until all values are read.
pub(crate) fn local(field: &Ident) -> Ident {
    match field.as_str() {
        // These names are used for other variables. No field has a name that ends with an underscore.
        name @ ("decoder" | "element" | "index" | "outer" | "parts") => Ident::new(&format!("{name}_")),
        _ => field.clone(),
    }
}
