//! Turns names of the contract into Rust names.

use std::collections::{HashMap, HashSet};
use std::fmt;

use heck::{ToShoutySnakeCase, ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Span, TokenStream};
use quote::{IdentFragment, ToTokens, TokenStreamExt};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};
use unicode_ident::{is_xid_continue, is_xid_start};

/// The names that generated code imports from the library. Generated items would hide imported ones, so they never have
/// these names. They are sorted.
pub const IMPORTS: [&str; 28] = [
    "Caller",
    "ComplexType",
    "Contract",
    "ContractServer",
    "Decoder",
    "Description",
    "Element",
    "Encoder",
    "Error",
    "Fault",
    "FaultDetail",
    "FromXml",
    "Future",
    "HttpService",
    "Nillable",
    "NoDetail",
    "Operation",
    "Payload",
    "Pending",
    "Recursive",
    "Root",
    "SimpleType",
    "SoapDocument",
    "SoapError",
    "SoapVersion",
    "ToXml",
    "Transport",
    "xs",
];

/// The names that generated code uses from the Rust prelude.
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

/// The methods of generated clients besides the operations.
pub const CLIENT_METHODS: [&str; 3] = ["new", "with_options", "with_transport"];

/// The name of namespace constants, which no table may have: `NAMESPACE`, `NAMESPACE_2`.
const NAMESPACE: &str = "NAMESPACE";

/// Assigns unique names in a module.
///
/// A type whose name is reserved gets the suffix `Type`. Any other conflict is resolved by a number, in the order of
/// the requests.
#[derive(Debug, Default)]
pub struct Names {
    /// The names of types and traits.
    items: Scope,
    /// The names of the parts of services.
    services: HashSet<String>,
    /// The last number used for services with each name.
    service_numbers: HashMap<String, u64>,
    /// The names of tables.
    statics: Scope,
}

/// The names of the parts of a service.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct ServiceNames {
    pub port_type: Ident,
    pub server: Ident,
    pub contract: Ident,
    pub client: Ident,
    pub operations: Ident,
    pub description: Ident,
}

/// A Rust identifier. Unlike that of `proc_macro2`, it can be sent to another thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Ident(Box<str>);

impl Ident {
    /// Creates an identifier. A keyword becomes a raw identifier.
    pub fn new(name: &str) -> Self {
        let name = match name {
            // These keywords can't be raw identifiers.
            "self" | "Self" | "super" | "crate" | "_" => format!("{name}_"),
            // A keyword since the 2024 edition.
            "gen" => format!("r#{name}"),
            _ if is_plain(name) || syn::parse_str::<proc_macro2::Ident>(name).is_ok() => name.to_owned(),
            _ => format!("r#{name}"),
        };
        Ident(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns true if a name certainly is an identifier and not a keyword. It avoids the slow parser for most names.
/// Keywords are short and, except `Self`, in lower case.
fn is_plain(name: &str) -> bool {
    const MAX_LENGTH: usize = 8;
    let is_identifier = !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    is_identifier && (name.len() > MAX_LENGTH || name.bytes().any(|byte| !byte.is_ascii_lowercase()))
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ToTokens for Ident {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.append(match self.0.strip_prefix("r#") {
            Some(name) => proc_macro2::Ident::new_raw(name, Span::call_site()),
            None => proc_macro2::Ident::new(&self.0, Span::call_site()),
        });
    }
}

impl IdentFragment for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.strip_prefix("r#").unwrap_or(&self.0))
    }
}

impl Names {
    /// Returns names for a service, based on its port type. Call it before any type is named, because people write
    /// these names most.
    pub fn service(&mut self, port_type: &str) -> ServiceNames {
        let base = upper(port_type);
        let parts = |base: &str| ["", "Server", "Contract", "Client"].map(|suffix| format!("{base}{suffix}"));
        let is_free = |base: &str| parts(base).iter().all(|part| !is_reserved(part) && !self.services.contains(part));
        let wanted = if is_reserved(&base) { format!("{base}Type") } else { base };
        // Used numbers are not tried again, because there may be thousands of services with one name.
        let mut number = self.service_numbers.get(&wanted).copied().unwrap_or(1);
        let mut free = if number == 1 { wanted.clone() } else { format!("{wanted}{number}") };
        while !is_free(&free) {
            number += 1;
            free = format!("{wanted}{number}");
        }
        self.service_numbers.insert(wanted, number);
        let parts = parts(&free);
        self.services.extend(parts.clone());
        let [operations, description] =
            ["operations", "service"].map(|what| self.table(&format!("{} {what}", parts[0])));
        let [port_type, server, contract, client] = parts.map(|part| Ident::new(&part));
        ServiceNames { port_type, server, contract, client, operations, description }
    }

    /// Returns a name for a type.
    pub fn item(&mut self, name: &str) -> Ident {
        let name = upper(name);
        let is_taken = is_reserved(&name) || self.services.contains(&name);
        self.items.unique(if is_taken { format!("{name}Type") } else { name })
    }

    /// Returns a name for the details of an operation's faults: `…Fault`, or `…FaultDetail` if the contract already has
    /// that name, as many contracts do for elements.
    pub fn faults(&mut self, operation: &str) -> Ident {
        let name = format!("{}Fault", upper(operation));
        let is_taken = self.items.taken.contains(&name) || self.services.contains(&name);
        self.items.unique(if is_taken { format!("{name}Detail") } else { name })
    }

    /// Returns a name for a table.
    pub fn table(&mut self, name: &str) -> Ident {
        let name = legal(&name.to_shouty_snake_case());
        let is_constant = name.strip_prefix(NAMESPACE).is_some_and(|number| {
            number.is_empty()
                || number.strip_prefix('_').is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
        });
        // A local variable can't shadow a static, so a static must not have a name that a variable may have.
        let is_variable = name.to_lowercase() == name;
        self.statics.unique(if is_constant || is_variable { format!("{name}_TABLE") } else { name })
    }
}

/// Assigns unique names to modules.
#[derive(Debug, Default)]
pub struct Modules(Scope);

impl Modules {
    /// Returns a name for the module of a namespace: the last part of the namespace name that is not a version.
    pub fn module(&mut self, namespace: &str) -> Ident {
        let is_version = |part: &&str| {
            part.is_empty()
                || part
                    .trim_start_matches(['v', 'V'])
                    .chars()
                    .all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '_'))
        };
        let name = namespace.trim_end_matches('#');
        let mut parts = name.rsplit(['/', ':', '#']).filter(|part| !is_version(part));
        let part = parts.next().unwrap_or("no namespace");
        let part = [".xsd", ".wsdl"].iter().find_map(|end| part.strip_suffix(end)).unwrap_or(part);
        let name = legal(&part.to_snake_case());
        // These are the names of crates and of imports in generated code.
        let is_taken = ["xs", "castile", "core", "std", "alloc"].contains(&name.as_str());
        self.0.unique(if is_taken { format!("{name}_types") } else { name })
    }
}

/// Assigns unique names in one place: for fields, variants or methods.
#[derive(Debug, Default)]
pub struct Scope {
    taken: HashSet<String>,
    /// The next number for each name in conflict, since a contract may have thousands with the same name.
    numbers: HashMap<String, u64>,
}

impl Scope {
    /// Creates the scope for the methods of a service.
    pub fn of_methods() -> Self {
        let taken = CLIENT_METHODS.into_iter().map(str::to_owned).collect();
        Scope { taken, numbers: HashMap::new() }
    }

    /// Returns a name for a variant. It may be a name of the library, because it is always written after the name of
    /// its type.
    pub fn variant(&mut self, name: &str) -> Ident {
        self.unique(upper(name))
    }

    /// Returns a name for a value of an enumeration. Symbols without letters are spelled out.
    pub fn value(&mut self, value: &str) -> Ident {
        let has_name = value.chars().any(char::is_alphanumeric);
        let spelt = value.chars().map(|c| match c {
            _ if has_name => c.to_string(),
            '+' => " plus".to_owned(),
            '-' => " minus".to_owned(),
            '*' => " star".to_owned(),
            '/' => " slash".to_owned(),
            '<' => " less".to_owned(),
            '>' => " greater".to_owned(),
            '=' => " equal".to_owned(),
            '!' => " not".to_owned(),
            '%' => " percent".to_owned(),
            c => c.to_string(),
        });
        let spelt: String = spelt.collect();
        self.unique(if spelt.trim().is_empty() { "Empty".to_owned() } else { upper(&spelt) })
    }

    /// Returns a name for the field of an attribute. Elements are named before attributes.
    pub fn attribute(&mut self, name: &str) -> Ident {
        let is_taken = self.taken.contains(&legal(&name.to_snake_case()));
        if is_taken { self.lower(&format!("{name} attribute")) } else { self.lower(name) }
    }

    /// Returns a name for a field or a method.
    pub fn lower(&mut self, name: &str) -> Ident {
        self.unique(legal(&name.to_snake_case()))
    }

    fn unique(&mut self, name: String) -> Ident {
        if self.taken.insert(name.clone()) {
            return Ident::new(&name);
        }
        let next = self.numbers.entry(name.clone()).or_insert(2);
        loop {
            let candidate = format!("{name}{next}");
            *next += 1;
            if self.taken.insert(candidate.clone()) {
                return Ident::new(&candidate);
            }
        }
    }
}

/// Returns a name in the style of types.
pub fn upper(name: &str) -> String {
    legal(&name.to_upper_camel_case())
}

fn is_reserved(name: &str) -> bool {
    IMPORTS.contains(&name) || PRELUDE.contains(&name)
}

/// Makes a valid Rust identifier. An XML name may start with or contain invalid characters, or be empty after
/// punctuation is removed.
fn legal(name: &str) -> String {
    let name: String = name.chars().map(|c| if is_xid_continue(c) { c } else { '_' }).collect();
    match name.chars().next() {
        Some(first) if first == '_' || is_xid_start(first) => name,
        _ => format!("_{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keywords of `syn`, which checks all other names.
    #[test]
    fn keywords_are_not_used_as_plain_names() {
        let keywords = "abstract as async await become box break const continue crate do dyn else enum extern false final fn \
             for if impl in let loop macro match mod move mut override priv pub ref return Self self static struct super trait true \
             try type typeof unsafe unsized use virtual where while yield _";
        for keyword in keywords.split_whitespace() {
            assert!(syn::parse_str::<proc_macro2::Ident>(keyword).is_err(), "{keyword}");
            assert_eq!(
                Ident::new(keyword).as_str().trim_start_matches("r#").trim_end_matches('_'),
                keyword.trim_end_matches('_')
            );
            assert_ne!(Ident::new(keyword).as_str(), keyword);
        }
        for name in ["", "a", "3d", "3_d", "a-b", "_a", "__", "A", "a1", "continued", "typeof_", "größe"] {
            let is_name = syn::parse_str::<proc_macro2::Ident>(name).is_ok();
            assert!(is_name || !is_plain(name), "{name}");
            assert_eq!(Ident::new(name).as_str() == name, is_name, "{name}");
        }
    }

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
            ("日本", "日本"),
            // Unicode letters that can't start an identifier.
            ("\u{903}", "_\u{903}"),
        ] {
            assert_eq!(names.item(name).to_string(), expected);
        }
    }

    #[test]
    fn services_have_all_their_names_or_none() {
        let mut names = Names::default();
        for (port_type, expected) in [
            ("Order", "OrderServer OrderContract OrderClient"),
            ("OrderServer", "OrderServer2Server OrderServer2Contract OrderServer2Client"),
            ("order", "Order2Server Order2Contract Order2Client"),
            ("Fault", "FaultTypeServer FaultTypeContract FaultTypeClient"),
        ] {
            let ServiceNames { server, contract, client, .. } = names.service(port_type);
            assert_eq!(format!("{server} {contract} {client}"), expected);
        }
    }

    #[test]
    fn tables_have_names_of_their_own() {
        let mut names = Names::default();
        for (name, expected) in [
            ("A1b", "A1B"),
            ("A1B", "A1B2"),
            ("_3d", "_3D"),
            ("Namespace", "NAMESPACE_TABLE"),
            ("Namespace_2", "NAMESPACE_2_TABLE"),
            ("日本", "日本_TABLE"),
        ] {
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
    fn modules_are_named_after_the_end_of_their_namespace() {
        let mut names = Modules::default();
        for (namespace, expected) in [
            ("http://www.onvif.org/ver10/schema", "schema"),
            ("http://www.w3.org/2005/08/addressing", "addressing"),
            ("http://docs.oasis-open.org/wsn/b-2", "b_2"),
            ("urn:oasis:names:tc:ebxml-regrep:xsd:rim:3.0", "rim"),
            ("http://www.w3.org/2000/09/xmldsig#", "xmldsig"),
            ("http://example.com/schema/v1.2/", "schema2"),
            ("http://tempuri.org/", "tempuri_org"),
            ("http://example.com/order.xsd", "order"),
            ("http://service/xs", "xs_types"),
            ("urn:type", "r#type"),
            ("", "no_namespace"),
        ] {
            assert_eq!(names.module(namespace).to_string(), expected);
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
