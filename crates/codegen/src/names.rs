//! Names of the contract as names of Rust.

use std::collections::HashSet;

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, Span};

/// What generated code takes from the library, in the order in which it is imported.
pub(crate) const IMPORTS: [&str; 37] = [
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
    "Limits",
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

/// What generated clients have beside the operations.
const CLIENT_METHODS: [&str; 3] = ["new", "with_limits", "with_transport"];

/// The table of constants has these to itself: `NAMESPACE`, `NAMESPACE_2`.
const NAMESPACE: &str = "NAMESPACE";

/// The names of a module: each is given once.
///
/// A type that is called as something else that the module needs gets the suffix `Type`; whatever else collides gets a
/// number, in the order of asking.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Types and traits.
    items: Scope,
    /// What services are made of.
    services: HashSet<String>,
    /// Tables.
    statics: Scope,
}

/// What the parts of a service are called.
#[derive(Debug)]
pub(crate) struct ServiceNames {
    pub(crate) port_type: Ident,
    pub(crate) server: Ident,
    pub(crate) dispatch: Ident,
    pub(crate) client: Ident,
    pub(crate) operations: Ident,
}

impl Names {
    /// Names for a service after its port type. To be asked for before any type: people write these names most.
    pub(crate) fn service(&mut self, port_type: &str) -> ServiceNames {
        let base = upper(port_type);
        let parts = |base: &str| ["", "Server", "Dispatch", "Client"].map(|suffix| format!("{base}{suffix}"));
        let is_free = |base: &str| parts(base).iter().all(|part| !is_reserved(part) && !self.services.contains(part));
        let free = candidates(if is_reserved(&base) { format!("{base}Type") } else { base }).find(|base| is_free(base));
        let parts = parts(&free.unwrap_or_default());
        self.services.extend(parts.clone());
        let operations = self.table(&format!("{} operations", parts[0]));
        let [port_type, server, dispatch, client] = parts.map(|part| ident(&part));
        ServiceNames { port_type, server, dispatch, client, operations }
    }

    /// A name for a type.
    pub(crate) fn item(&mut self, name: &str) -> Ident {
        let name = upper(name);
        let is_taken = is_reserved(&name) || self.services.contains(&name);
        self.items.unique(if is_taken { format!("{name}Type") } else { name })
    }

    /// A name for the details of an operation's faults: many contracts call an element `…Fault`.
    pub(crate) fn faults(&mut self, operation: &str) -> Ident {
        let name = format!("{}Fault", upper(operation));
        let is_taken = self.items.0.contains(&name) || self.services.contains(&name);
        self.items.unique(if is_taken { format!("{name}Detail") } else { name })
    }

    /// A name for a table.
    pub(crate) fn table(&mut self, name: &str) -> Ident {
        let name = legal(&name.to_shouty_snake_case());
        // A static that looks like a variable can't be shadowed by one.
        let is_variable = name.to_lowercase() == name;
        self.statics.unique(if name == NAMESPACE || is_variable { format!("{name}_TABLE") } else { name })
    }
}

/// Names that stand beside each other: fields, variants, methods.
#[derive(Debug, Default)]
pub(crate) struct Scope(HashSet<String>);

impl Scope {
    /// The methods of a service.
    pub(crate) fn of_methods() -> Self {
        Scope(CLIENT_METHODS.map(str::to_owned).into())
    }

    /// A name for a variant: always written behind its type's, so the library's names are free here.
    pub(crate) fn variant(&mut self, name: &str) -> Ident {
        self.unique(upper(name))
    }

    /// A name for a field or a method.
    pub(crate) fn lower(&mut self, name: &str) -> Ident {
        self.unique(legal(&name.to_snake_case()))
    }

    fn unique(&mut self, name: String) -> Ident {
        match candidates(name).find(|candidate| self.0.insert(candidate.clone())) {
            Some(name) => ident(&name),
            None => unreachable!("there are more numbers than names"),
        }
    }
}

/// A name, and then the same with numbers.
fn candidates(name: String) -> impl Iterator<Item = String> {
    let numbered = name.clone();
    std::iter::once(name).chain((2u64..).map(move |number| format!("{numbered}{number}")))
}

fn upper(name: &str) -> String {
    legal(&name.to_upper_camel_case())
}

fn is_reserved(name: &str) -> bool {
    IMPORTS.contains(&name) || PRELUDE.contains(&name)
}

/// Names of XML may begin with what names of Rust can't, hold what they can't, or have nothing left when marks are
/// taken away.
fn legal(name: &str) -> String {
    let is_legal = |c: &char| c.is_ascii_alphanumeric() || syn::parse_str::<Ident>(&format!("a{c}")).is_ok();
    let name: String = name.chars().map(|c| if is_legal(&c) { c } else { '_' }).collect();
    match name.chars().next() {
        Some(first) if first == '_' || first.is_alphabetic() => name,
        _ => format!("_{name}"),
    }
}

fn ident(name: &str) -> Ident {
    match name {
        // These can't be written raw.
        "self" | "Self" | "super" | "crate" | "_" => Ident::new(&format!("{name}_"), Span::call_site()),
        // A keyword since the edition of 2024.
        "gen" => Ident::new_raw(name, Span::call_site()),
        _ if syn::parse_str::<Ident>(name).is_ok() => Ident::new(name, Span::call_site()),
        _ => Ident::new_raw(name, Span::call_site()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names_of_their_own() {
        let mut names = Names::default();
        let service = names.service("Order");
        assert_eq!(service.operations.to_string(), "ORDER_OPERATIONS");
        for (name, expected) in [
            ("echoVoid", "EchoVoid"),
            ("EchoVoid", "EchoVoid2"),
            ("error", "ErrorType"),
            ("OrderClient", "OrderClientType"),
            ("order", "OrderType"),
            ("COfTestStruct", "COfTestStruct"),
            ("min-date", "MinDate"),
            ("3D", "_3d"),
            ("self", "SelfType"),
            ("x\u{2070}", "X_"),
            ("-", "__"),
        ] {
            assert_eq!(names.item(name).to_string(), expected);
        }
    }

    #[test]
    fn services_have_all_their_names_or_none() {
        let mut names = Names::default();
        for (port_type, expected) in [
            ("Order", "OrderServer OrderDispatch OrderClient"),
            ("OrderServer", "OrderServer2Server OrderServer2Dispatch OrderServer2Client"),
            ("order", "Order2Server Order2Dispatch Order2Client"),
            ("Fault", "FaultTypeServer FaultTypeDispatch FaultTypeClient"),
        ] {
            let ServiceNames { server, dispatch, client, .. } = names.service(port_type);
            assert_eq!(format!("{server} {dispatch} {client}"), expected);
        }
    }

    #[test]
    fn tables_have_names_of_their_own() {
        let mut names = Names::default();
        for (name, expected) in
            [("A1b", "A1B"), ("A1B", "A1B2"), ("_3d", "_3D"), ("Namespace", "NAMESPACE_TABLE"), ("日本", "日本_TABLE")]
        {
            assert_eq!(names.table(name).to_string(), expected);
        }
    }

    #[test]
    fn variants_collide_with_each_other_alone() {
        let mut names = Scope::default();
        for (name, expected) in
            [("error", "Error"), ("Error", "Error2"), ("none", "None"), ("self", "Self_"), ("3D", "_3d")]
        {
            assert_eq!(names.variant(name).to_string(), expected);
        }
    }

    #[test]
    fn fields_and_methods_are_named_as_rust_names_them() {
        let mut names = Scope::of_methods();
        for (name, expected) in [
            ("OrderId", "order_id"),
            ("type", "r#type"),
            ("gen", "r#gen"),
            ("self", "self_"),
            ("new", "new2"),
            ("Address1", "address1"),
            ("order.id", "order_id2"),
        ] {
            assert_eq!(names.lower(name).to_string(), expected);
        }
    }
}
