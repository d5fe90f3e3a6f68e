//! Types and traits of a program as those of a SOAP contract.
//!
//! `castile` has these with the feature `macros`; its documentation says how they are used. A macro plans a type as the generator
//! plans one of a contract, and the same renderer writes how it is read and written.

mod attributes;
mod declaration;
mod enums;
mod expansion;
mod fields;
mod messages;
mod service;
mod simple;
mod structs;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "only tests come here")]
mod tests;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, ItemTrait, parse_macro_input};

/// Lets a struct or an enum be read from XML, be written as XML, and be declared by a contract.
#[proc_macro_derive(Xml, attributes(xml))]
pub fn xml(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derived(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Lets a struct or an enum be what faults of an operation say.
#[proc_macro_derive(FaultDetail, attributes(xml))]
pub fn fault_detail(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    messages::fault_detail(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Lets a struct that derives `Xml` be a header block.
#[proc_macro_derive(Header, attributes(xml))]
pub fn header(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    messages::header(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Lets a type that derives `Xml` be a document.
#[proc_macro_derive(Document, attributes(xml))]
pub fn document(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    messages::document(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a service of a trait.
#[proc_macro_attribute]
pub fn service(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let of = parse_macro_input!(attribute as service::OfService);
    let item = parse_macro_input!(item as ItemTrait);
    service::service(&of, item).unwrap_or_else(|error| error.to_compile_error()).into()
}

fn derived(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    if let Some(parameter) = input.generics.params.first() {
        let message = "a type with parameters is many types for a contract: derive `Xml` for a type that has none";
        return Err(syn::Error::new_spanned(parameter, message));
    }
    match &input.data {
        Data::Struct(data) => structs::derived(input, data),
        Data::Enum(data) => enums::derived(input, data),
        Data::Union(data) => {
            Err(syn::Error::new_spanned(data.union_token, "`Xml` is for structs and enums; a union has no such form"))
        }
    }
}
