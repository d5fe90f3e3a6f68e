//! The plan as Rust source.

mod documentation;
mod layout;
mod service;
mod types;

use std::collections::HashSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

use crate::Options;
use crate::names::IMPORTS;
use crate::plan::{Base, Element, Occurrence, Plan, Value};

/// The source of a module, formatted. `wsdl` is the file name of the contract beside it.
pub(crate) fn render(plan: &Plan, wsdl: &str, options: &Options) -> String {
    let namespaces = Namespaces(&plan.namespaces);
    let constants = namespaces.constants();
    let services = plan.services.iter().map(|service| service::render(service, wsdl, options));
    let structs = plan.structs.iter().map(|planned| types::render(planned, namespaces));
    let tables = plan.services.iter().map(|service| service::tables(service, namespaces));
    let body = quote! { #constants #(#services)* #(#structs)* #(#tables)* };
    let mut used = HashSet::new();
    idents(body.clone(), &mut used);
    let used: Vec<TokenStream> =
        IMPORTS.iter().filter(|name| used.contains(**name)).map(|name| name.parse().unwrap_or_default()).collect();
    let imports = (!used.is_empty()).then(|| quote! { use ::castile::codegen::{#(#used),*}; });
    match syn::parse2(quote! { #imports #body }) {
        Ok(file) => layout::lay_out(&prettyplease::unparse(&file)),
        Err(error) => unreachable!("the parts are Rust, so the whole is: {error}"),
    }
}

/// Adds all identifiers in `tokens` that could be names of imports: neither declared there nor inside a path.
fn idents(tokens: TokenStream, found: &mut HashSet<String>) {
    let mut previous = String::new();
    let mut in_enum = false;
    for token in tokens {
        match &token {
            // Variants are declared, what they hold is not.
            TokenTree::Group(variants) if in_enum && variants.delimiter() == Delimiter::Brace => {
                in_enum = false;
                for token in variants.stream() {
                    if let TokenTree::Group(held) = token {
                        idents(held.stream(), found);
                    }
                }
            }
            TokenTree::Ident(ident) if previous != "type" && previous != "::" => {
                in_enum |= ident == "enum";
                found.insert(ident.to_string());
            }
            TokenTree::Group(group) => idents(group.stream(), found),
            _ => {}
        }
        previous = match &token {
            TokenTree::Punct(colon) if colon.as_char() == ':' && previous == ":" => "::".to_owned(),
            token => token.to_string(),
        };
    }
}

fn base(base: &Base) -> TokenStream {
    match base {
        Base::Primitive(name) => name.parse().unwrap_or_default(),
        Base::Datatype(name) => {
            let path: TokenStream = name.parse().unwrap_or_default();
            quote! { ::castile::datatypes::#path }
        }
        Base::Struct(ident) => quote! { #ident },
    }
}

/// What is done for each index of a table: the last arm is for the rest, of which there is none.
fn by_index(index: &TokenStream, arms: &[TokenStream]) -> TokenStream {
    match arms {
        [only] => quote! { #only },
        _ => {
            let last = arms.len().saturating_sub(1);
            let patterns = (0..arms.len()).map(|number| {
                if number == last {
                    return quote! { _ };
                }
                let number = proc_macro2::Literal::usize_unsuffixed(number);
                quote! { #number }
            });
            quote! { match #index { #(#patterns => #arms,)* } }
        }
    }
}

fn value(value: &Value) -> TokenStream {
    let mut rendered = base(&value.base);
    if value.recursive {
        rendered = quote! { Recursive<#rendered> };
    }
    if value.nillable {
        rendered = quote! { Nillable<#rendered> };
    }
    rendered
}

fn held(held: &Value, occurrence: Occurrence) -> TokenStream {
    let value = value(held);
    match occurrence {
        Occurrence::Required => value,
        Occurrence::Optional => quote! { Option<#value> },
        Occurrence::Repeated => quote! { Vec<#value> },
    }
}

/// The namespaces of elements, each a constant.
#[derive(Clone, Copy)]
struct Namespaces<'a>(&'a [String]);

impl Namespaces<'_> {
    fn constants(self) -> TokenStream {
        let named = self.0.iter().filter(|namespace| !namespace.is_empty());
        let constants = named.map(|namespace| {
            let name = self.name(namespace);
            quote! { const #name: &str = #namespace; }
        });
        quote! { #(#constants)* }
    }

    /// The constant, or nothing to be named for no namespace.
    fn name(self, namespace: &str) -> TokenStream {
        match self.0.iter().position(|known| known == namespace) {
            _ if namespace.is_empty() => quote! { "" },
            Some(0) | None => quote! { NAMESPACE },
            Some(index) => {
                let name = quote::format_ident!("NAMESPACE_{}", index + 1);
                quote! { #name }
            }
        }
    }
}

fn element(element: &Element, namespaces: Namespaces<'_>) -> TokenStream {
    let Element { namespace, name, min_occurs, max_occurs, slot } = element;
    let namespace = namespaces.name(namespace);
    let slot = proc_macro2::Literal::u16_unsuffixed(*slot);
    let occurs = match (min_occurs, max_occurs) {
        (1, Some(1)) => quote! {},
        (min, max) => {
            let min = proc_macro2::Literal::u32_unsuffixed(*min);
            let max = match max {
                Some(max) => {
                    let max = proc_macro2::Literal::u32_unsuffixed(*max);
                    quote! { Some(#max) }
                }
                None => quote! { None },
            };
            quote! { .occurs(#min, #max) }
        }
    };
    quote! { Element::new(#namespace, #name, #slot) #occurs }
}
