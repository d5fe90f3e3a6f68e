//! The plan as Rust source.

mod service;
mod types;

use proc_macro2::TokenStream;
use quote::quote;

use crate::Options;
use crate::plan::{Base, Element, Occurrence, Plan, Value};

/// What generated code may take from the library, in the order in which it is imported.
const IMPORTS: [&str; 24] = [
    "Caller", "Decoder", "Description", "Dispatch", "Element", "Encoder", "Endpoint", "EndpointOptions", "Error",
    "Fault", "FaultDetail", "FromXml", "NoDetail", "Nillable", "Operation", "Payload", "Pending", "Recursive", "Root",
    "SizeHint", "SoapError", "SoapService", "ToXml", "Transport",
];

/// The source of a module, formatted. `wsdl` is the file name of the contract beside it.
pub(crate) fn render(plan: &Plan, wsdl: &str, options: &Options) -> String {
    let structs = plan.structs.iter().map(types::render);
    let services = plan.services.iter().map(|service| service::render(service, wsdl, options));
    let body = quote! { #(#structs)* #(#services)* };
    let text = body.to_string();
    let used = IMPORTS.iter().filter(|name| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == **name));
    let used: Vec<TokenStream> = used.map(|name| name.parse().unwrap_or_default()).collect();
    let imports = if used.is_empty() { quote! {} } else { quote! { use ::castile::codegen::{#(#used),*}; } };
    match syn::parse2(quote! { #imports #body }) {
        Ok(file) => spaced(&prettyplease::unparse(&file)),
        Err(error) => unreachable!("the parts are Rust, so the whole is: {error}"),
    }
}

/// A blank line before each item that has something before it, as people write it.
fn spaced(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + source.len() / 20);
    let mut previous = "";
    for line in source.lines() {
        let begins_item = !line.starts_with([' ', '}', ')', ']']) && !line.is_empty();
        let continues = previous.is_empty() || previous.starts_with("///") || previous.starts_with("#[");
        if begins_item && !continues {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        previous = line;
    }
    out
}

/// Documentation as attributes, a blank in front of each line.
fn documentation(text: &str) -> TokenStream {
    let lines = text.trim().lines().map(|line| format!(" {}", line.trim_end()));
    quote! { #(#[doc = #lines])* }
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

fn element(element: &Element) -> TokenStream {
    let Element { namespace, name, min_occurs, max_occurs, slot } = element;
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
