//! The plan as Rust source.

mod documentation;
mod enums;
mod layout;
mod service;
mod types;

use std::collections::HashSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

use crate::Options;
use crate::names::IMPORTS;
use crate::plan::{Base, Element, Field, Item, Module, Occurrence, Path, Plan, Term, Value, Wildcard};

/// The source of a module, formatted. `wsdl` is the file name of the contract beside it.
pub(crate) fn render(plan: &Plan, wsdl: &str, options: &Options) -> String {
    let root = Context { plan, module: 0 };
    let constants = root.constants();
    let services = plan.services.iter().map(|service| service::render(service, wsdl, options, root));
    let tables = plan.services.iter().map(|service| service::tables(service, root));
    let items = items(root);
    let root = with_imports(quote! { #constants #(#services)* #items #(#tables)* }, None);
    let modules = (1..plan.modules.len()).filter_map(|module| {
        let items = self::items(Context { plan, module });
        if items.is_empty() {
            return None;
        }
        let Module { namespace, ident } = &plan.modules[module];
        let documentation = match namespace.as_str() {
            "" => " Types of no namespace.".to_owned(),
            namespace => format!(" Types of the namespace `{namespace}`."),
        };
        let items = with_imports(items, Some(plan));
        Some(quote! {
            #[doc = #documentation]
            #[allow(clippy::module_inception, reason = "the module around it may be called the same")]
            pub mod #ident { #items }
        })
    });
    match syn::parse2(quote! { #root #(#modules)* }) {
        Ok(file) => layout::lay_out(&prettyplease::unparse(&file)),
        Err(error) => unreachable!("the parts are Rust, so the whole is: {error}"),
    }
}

/// The types of a module.
fn items(context: Context<'_>) -> TokenStream {
    let items = context.plan.items.iter().filter(|item| item.path().module == context.module);
    let items = items.map(|item| match item {
        Item::Struct(planned) => types::render(planned, context),
        Item::Choice(planned) => enums::choice(planned, context),
        Item::Derived(planned) => enums::derived(planned, context),
        Item::Enumeration(planned) => enums::enumeration(planned, context),
        Item::Union(planned) => enums::union(planned, context),
    });
    quote! { #(#items)* }
}

/// Items with what they take from the library, and from the module of a plan around them.
fn with_imports(body: TokenStream, outside: Option<&Plan>) -> TokenStream {
    let mut used = HashSet::new();
    idents(body.clone(), &mut used);
    // A field may have this name too.
    let is_used = |name: &&&str| used.contains(**name) && (**name != "xs" || body.to_string().contains("xs :: "));
    let imports: Vec<TokenStream> =
        IMPORTS.iter().filter(is_used).map(|name| name.parse().unwrap_or_default()).collect();
    let imports = (!imports.is_empty()).then(|| quote! { use ::castile::codegen::{#(#imports),*}; });
    let constants = outside.map(|plan| {
        let names = (0..plan.namespaces.len()).map(constant);
        let names: Vec<TokenStream> = names.filter(|name| used.contains(&name.to_string())).collect();
        (!names.is_empty()).then(|| quote! { use super::{#(#names),*}; })
    });
    quote! { #imports #constants #body }
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

fn base(base: &Base, context: Context<'_>) -> TokenStream {
    match base {
        Base::Primitive(name) => name.parse().unwrap_or_default(),
        Base::Datatype(name) => {
            let path: TokenStream = name.parse().unwrap_or_default();
            quote! { ::castile::datatypes::#path }
        }
        Base::List(item) => {
            let item = self::base(item, context);
            quote! { ::castile::datatypes::List<#item> }
        }
        Base::AnyType => quote! { ::castile::AnyType },
        Base::Item(path) => context.path(path),
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

fn value(value: &Value, context: Context<'_>) -> TokenStream {
    let rendered = recursive(base(&value.base, context), value.recursive);
    if value.nillable {
        quote! { Nillable<#rendered> }
    } else {
        rendered
    }
}

fn recursive(of: TokenStream, recursive: bool) -> TokenStream {
    if recursive {
        quote! { Recursive<#of> }
    } else {
        of
    }
}

/// The type of one value of a particle.
fn one(field: &Field, context: Context<'_>) -> TokenStream {
    match &field.term {
        Term::Element { value, .. } => self::value(value, context),
        Term::Group { path, recursive } => self::recursive(context.path(path), *recursive),
        Term::Any(_) => quote! { ::castile::Any },
    }
}

/// The type of a field.
fn held(field: &Field, context: Context<'_>) -> TokenStream {
    let one = one(field, context);
    match field.occurrence() {
        Occurrence::Required => one,
        Occurrence::Optional => quote! { Option<#one> },
        Occurrence::Repeated => quote! { Vec<#one> },
    }
}

/// The type of what a variant holds.
fn variant_held(variant: &Field, context: Context<'_>) -> TokenStream {
    let one = one(variant, context);
    match variant.occurrence() {
        Occurrence::Required | Occurrence::Optional => one,
        Occurrence::Repeated => quote! { Vec<#one> },
    }
}

fn group_trait() -> TokenStream {
    quote! { ::castile::codegen::Group }
}

/// A text as a literal: what makes it look like other code is escaped.
fn literal(text: &str) -> TokenStream {
    let literal = proc_macro2::Literal::string(text);
    quote! { #literal }
}

fn occurs(field: &Field) -> (TokenStream, TokenStream) {
    let min = proc_macro2::Literal::u32_unsuffixed(field.min_occurs);
    let max = match field.max_occurs {
        Some(max) => {
            let max = proc_macro2::Literal::u32_unsuffixed(max);
            quote! { Some(#max) }
        }
        None => quote! { None },
    };
    (quote! { #min }, max)
}

fn wildcard(wildcard: &Wildcard) -> TokenStream {
    let namespaces = match wildcard {
        Wildcard::Any => quote! { Any },
        Wildcard::Not(target) => quote! { Not(#target) },
        Wildcard::OneOf(list) => quote! { OneOf(&[#(#list),*]) },
    };
    quote! { xs::Wildcard::new(xs::Namespaces::#namespaces) }
}

/// The table of those fields that are elements, if there are any.
fn element_table(table: &proc_macro2::Ident, fields: &[Field], context: Context<'_>) -> Option<TokenStream> {
    let elements: Vec<TokenStream> = fields
        .iter()
        .filter_map(|field| {
            let element = element(field.element()?, context);
            Some(match field.occurrence() {
                Occurrence::Required => element,
                _ => {
                    let (min, max) = occurs(field);
                    quote! { #element.occurs(#min, #max) }
                }
            })
        })
        .collect();
    let count = proc_macro2::Literal::usize_unsuffixed(elements.len());
    (!elements.is_empty()).then(|| quote! { static #table: [Element; #count] = [#(#elements),*]; })
}

/// What is rendered, and in which module.
#[derive(Clone, Copy)]
struct Context<'a> {
    plan: &'a Plan,
    module: usize,
}

impl Context<'_> {
    /// A constant for each namespace.
    fn constants(self) -> TokenStream {
        let named = self.plan.namespaces.iter().enumerate().filter(|(_, namespace)| !namespace.is_empty());
        let constants = named.map(|(index, namespace)| {
            let name = constant(index);
            quote! { const #name: &str = #namespace; }
        });
        quote! { #(#constants)* }
    }

    /// The constant of a namespace, or nothing to be named for no namespace.
    fn namespace(self, namespace: &str) -> TokenStream {
        if namespace.is_empty() {
            return quote! { "" };
        }
        match self.plan.namespaces.iter().position(|known| known == namespace) {
            Some(index) => constant(index),
            None => literal(namespace),
        }
    }

    /// Where nothing refers to the types, none of them is dead code.
    fn allow_unused(self) -> Option<TokenStream> {
        let allow = quote! { #[allow(dead_code, reason = "a program may use some types and not the rest")] };
        self.plan.services.is_empty().then_some(allow)
    }

    /// A type as it is called here.
    fn path(self, path: &Path) -> TokenStream {
        let Path { module, ident } = path;
        let of = &self.plan.modules[*module].ident;
        match (self.module, *module) {
            (here, there) if here == there => quote! { #ident },
            (0, _) => quote! { #of::#ident },
            (_, 0) => quote! { super::#ident },
            _ => quote! { super::#of::#ident },
        }
    }
}

fn constant(index: usize) -> TokenStream {
    match index {
        0 => quote! { NAMESPACE },
        _ => {
            let name = quote::format_ident!("NAMESPACE_{}", index + 1);
            quote! { #name }
        }
    }
}

fn element(element: &Element, context: Context<'_>) -> TokenStream {
    let Element { namespace, name, slot, constraint } = element;
    let namespace = context.namespace(namespace);
    let slot = proc_macro2::Literal::u16_unsuffixed(*slot);
    let constraint = types::constraint(constraint);
    quote! { Element::new(#namespace, #name, #slot) #constraint }
}
