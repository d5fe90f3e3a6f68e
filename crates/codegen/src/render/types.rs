//! Types: a struct, its table, and how it is read and written.

use heck::ToShoutySnakeCase;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Namespaces, documentation, element, held};
use crate::plan::{Field, Occurrence, Order, Struct};

pub(super) fn render(plan: &Struct, namespaces: Namespaces<'_>) -> TokenStream {
    let Struct { ident, fields, .. } = plan;
    let documentation = documentation(&plan.documentation);
    let default = plan.has_default.then(|| quote! { Default, });
    let declared = fields.iter().map(declare);
    let table = format_ident!("{}", ident.to_string().to_shouty_snake_case());
    let elements = fields.iter().map(|field| element(&field.element, namespaces));
    let count = Literal::usize_unsuffixed(fields.len());
    let table_item = (!fields.is_empty()).then(|| quote! { static #table: [Element; #count] = [#(#elements),*]; });
    let read = match plan.order {
        _ if fields.is_empty() => quote! { |_| Ok(#ident {}) },
        Order::Sequence => sequence(ident, &table, fields),
        Order::All => all(ident, &table, fields),
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
                decoder.complex(element, #read)
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
    quote! { |decoder| Ok(#ident { #(#reads),* }) }
}

fn all(ident: &Ident, table: &Ident, fields: &[Field]) -> TokenStream {
    let last = fields.len() - 1;
    let in_order = fields.iter().enumerate().map(|(index, field)| {
        let (name, number) = (&field.ident, Literal::usize_unsuffixed(index));
        quote! { let mut #name = decoder.in_order(&#table, #number)?; }
    });
    let arms = fields.iter().enumerate().map(|(index, field)| {
        let (name, number) = (&field.ident, Literal::usize_unsuffixed(index));
        let pattern = if index == last {
            quote! { _ }
        } else {
            quote! { #number }
        };
        quote! { #pattern => decoder.once(&mut #name, &#table, #number)? }
    });
    let values = fields.iter().enumerate().map(|(index, field)| {
        let (name, number) = (&field.ident, Literal::usize_unsuffixed(index));
        match field.occurrence() {
            Occurrence::Required => quote! { #name: decoder.present(#name, &#table, #number)? },
            _ => quote! { #name },
        }
    });
    quote! {
        |decoder| {
            #(#in_order)*
            while let Some(index) = decoder.one_of(&#table)? {
                match index { #(#arms,)* }
            }
            Ok(#ident { #(#values),* })
        }
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
