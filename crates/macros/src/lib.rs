//! Macros that map the types and traits of a program to those of a SOAP contract.
//!
//! `castile` exports these macros with the feature `macros`, and its documentation describes their use. A macro plans a type as the
//! generator plans a type of a contract. The same renderer then writes the code that reads and writes it.

mod attributes;
mod declaration;
mod enums;
mod expansion;
mod fields;
mod messages;
mod placeholders;
mod service;
mod simple;
mod structs;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "only tests come here")]
mod tests;

use proc_macro::TokenStream;
use syn::{Data, DeriveInput, ItemTrait, parse_macro_input};

/// Makes a struct or an enum a type that is read from XML, written as XML, and declared in a contract.
#[proc_macro_derive(Xml, attributes(xml))]
pub fn xml(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derived(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a struct or an enum the detail of an operation's faults.
#[proc_macro_derive(FaultDetail, attributes(xml))]
pub fn fault_detail(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    messages::fault_detail(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a struct that derives `Xml` a header block.
#[proc_macro_derive(Header, attributes(xml))]
pub fn header(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    messages::header(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a type that derives `Xml` a document.
#[proc_macro_derive(Document, attributes(xml))]
pub fn document(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    messages::document(&input).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Turns a trait into a service.
#[proc_macro_attribute]
pub fn service(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let of = parse_macro_input!(attribute as service::ServiceAttributes);
    let item = parse_macro_input!(item as ItemTrait);
    service::service(&of, item).unwrap_or_else(|error| error.to_compile_error()).into()
}

fn derived(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    if let Some(parameter) = input.generics.params.first() {
        let message = "a generic type would be many types in a contract: derive `Xml` for a type without parameters";
        return Err(syn::Error::new_spanned(parameter, message));
    }
    match &input.data {
        Data::Struct(data) => structs::derived(input, data),
        Data::Enum(data) => enums::derived(input, data),
        Data::Union(data) => Err(syn::Error::new_spanned(
            data.union_token,
            "`Xml` can only be derived for structs and enums, not for unions",
        )),
    }
}
