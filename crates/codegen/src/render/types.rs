//! Types: a struct, its table, and how it is read and written.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::documentation::documentation;
use super::{Namespaces, by_index, element, held};
use crate::plan::{Field, Occurrence, Order, Struct};

pub(super) fn render(plan: &Struct, namespaces: Namespaces<'_>) -> TokenStream {
    let Struct { ident, table, fields, .. } = plan;
    let documentation = documentation(&plan.documentation);
    let default = plan.has_default.then(|| quote! { Default, });
    let declared = fields.iter().map(declare);
    let elements = fields.iter().map(|field| element(&field.element, namespaces));
    let count = Literal::usize_unsuffixed(fields.len());
    let table_item = (!fields.is_empty()).then(|| quote! { static #table: [Element; #count] = [#(#elements),*]; });
    let children = match plan.order {
        Order::Sequence => sequence(ident, table, fields),
        Order::All => all(ident, table, fields),
    };
    let read = if fields.is_empty() {
        quote! { decoder.complex(element, |_| Ok(#ident {})) }
    } else {
        quote! {
            let children = |decoder: &mut Decoder<'_>| { #children };
            decoder.complex(element, children)
        }
    };
    let write = fields.iter().map(write);
    let out = if fields.is_empty() {
        quote! { _ }
    } else {
        quote! { out }
    };
    quote! {
        #documentation
        #[derive(Clone, Debug, #default PartialEq)]
        pub struct #ident { #(#declared),* }

        #table_item

        impl FromXml for #ident {
            fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
                #read
            }
        }

        impl ToXml for #ident {
            fn content(&self, #out: &mut Encoder) {
                #(#write)*
            }
        }
    }
}

fn declare(field: &Field) -> TokenStream {
    let Field { ident, .. } = field;
    let documentation = documentation(&field.documentation);
    let ty = held(&field.value, field.occurrence());
    quote! { #documentation pub #ident: #ty }
}

fn sequence(ident: &Ident, table: &Ident, fields: &[Field]) -> TokenStream {
    let reads = fields.iter().enumerate().map(|(index, field)| {
        let (name, index) = (&field.ident, Literal::usize_unsuffixed(index));
        let read = match field.occurrence() {
            Occurrence::Required => quote! { required },
            Occurrence::Optional => quote! { optional },
            Occurrence::Repeated => quote! { repeated },
        };
        quote! { #name: decoder.#read(&#table, #index)? }
    });
    quote! { Ok(#ident { #(#reads),* }) }
}

fn all(ident: &Ident, table: &Ident, fields: &[Field]) -> TokenStream {
    let locals: Vec<Ident> = fields.iter().map(local).collect();
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
            Occurrence::Required => quote! { #name: decoder.present(#local, &#table, #number)? },
            _ if name == local => quote! { #name },
            _ => quote! { #name: #local },
        }
    });
    quote! {
        #(#in_order)*
        #others
        Ok(#ident { #(#values),* })
    }
}

/// The variable that holds a field's value until all are there.
fn local(field: &Field) -> Ident {
    match field.ident.to_string().as_str() {
        // These have others; no field is named with a mark at the end.
        name @ ("decoder" | "index") => format_ident!("{name}_"),
        _ => field.ident.clone(),
    }
}

fn write(field: &Field) -> TokenStream {
    let (name, tag) = (&field.ident, &field.tag);
    let (start, end) = (format!("<{tag}>"), format!("</{tag}>"));
    let write = match field.occurrence() {
        Occurrence::Required => quote! { element },
        Occurrence::Optional => quote! { optional },
        Occurrence::Repeated => quote! { repeated },
    };
    quote! { out.#write(#start, &self.#name, #end); }
}
