//! Names of the contract as names of Rust.

use std::collections::HashSet;

use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, Span};

/// What generated code takes from the library, in the order in which it is imported.
pub(crate) const IMPORTS: [&str; 36] = [
    "Arc",
    "CallError",
    "Caller",
    "Context",
    "Decoder",
    "Description",
    "Dispatch",
    "Element",
    "Encoder",
    "Endpoint",
    "EndpointOptions",
    "Error",
    "Fault",
    "FaultDetail",
    "FromXml",
    "Future",
    "HttpError",
    "HttpRequest",
    "HttpResponse",
    "HttpService",
    "Infallible",
    "Nillable",
    "Operation",
    "Payload",
    "Pending",
    "Poll",
    "Recursive",
    "RequestBody",
    "ResponseFuture",
    "Root",
    "SizeHint",
    "SoapError",
    "SoapService",
    "ToXml",
    "TowerService",
    "Transport",
];

/// What it takes from the language.
const PRELUDE: [&str; 19] = [
    "Box",
    "Clone",
    "Debug",
    "Default",
    "Drop",
    "Err",
    "From",
    "Into",
    "None",
    "Ok",
    "Option",
    "PartialEq",
    "Result",
    "Self",
    "Send",
    "Some",
    "String",
    "Sync",
    "Vec",
];

/// Gives each name once. What collides gets a number, in the order of asking.
#[derive(Debug, Default)]
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// A name for a type, a variant or a trait.
    pub(crate) fn upper(&mut self, name: &str) -> Ident {
        let mut ident = legal(&name.to_upper_camel_case());
        if IMPORTS.contains(&ident.as_str()) || PRELUDE.contains(&ident.as_str()) {
            ident.push_str("Type");
        }
        self.unique(ident)
    }

    /// A name for a field or a method.
    pub(crate) fn lower(&mut self, name: &str) -> Ident {
        self.unique(legal(&name.to_snake_case()))
    }

    fn unique(&mut self, name: String) -> Ident {
        let mut candidate = name.clone();
        let mut number = 2;
        while !self.0.insert(candidate.clone()) {
            candidate = format!("{name}{number}");
            number += 1;
        }
        ident(&candidate)
    }
}

/// Names of XML may begin with what names of Rust can't, or have nothing left when marks are taken away.
fn legal(name: &str) -> String {
    match name.chars().next() {
        Some(first) if first == '_' || first.is_alphabetic() => name.to_owned(),
        _ => format!("_{name}"),
    }
}

fn ident(name: &str) -> Ident {
    if syn::parse_str::<Ident>(name).is_ok() {
        return Ident::new(name, Span::call_site());
    }
    match name {
        // These four can't be written raw.
        "self" | "Self" | "super" | "crate" | "_" => Ident::new(&format!("{name}_"), Span::call_site()),
        _ => Ident::new_raw(name, Span::call_site()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_rusts_own_and_given_once() {
        let mut names = Names::default();
        for (name, expected) in [
            ("echoVoid", "EchoVoid"),
            ("EchoVoid", "EchoVoid2"),
            ("error", "ErrorType"),
            ("COfTestStruct", "COfTestStruct"),
            ("min-date", "MinDate"),
            ("3D", "_3d"),
            ("self", "SelfType"),
        ] {
            assert_eq!(names.upper(name).to_string(), expected);
        }
        for (name, expected) in [
            ("OrderId", "order_id"),
            ("type", "r#type"),
            ("self", "self_"),
            ("Address1", "address1"),
            ("order.id", "order_id2"),
        ] {
            assert_eq!(names.lower(name).to_string(), expected);
        }
    }
}
