//! Renders the plan of one type as code.
//!
//! The plan uses placeholders for the type, the types of its fields, and its namespace. Names of the program may have another
//! meaning where the code is placed.

use castile_codegen::OfProgram;
use castile_plan::names;
use castile_plan::plan::{Base, Item, Module, Path, Plan};
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, Lit, LitStr, Type};

use crate::attributes::TypeAttributes;
use crate::placeholders::{CONSTANT, ITSELF, NAMESPACE, TYPE};

/// The number of slots in the tag cache for types of programs. Two types of one program that share a slot evict each other's tags.
const SLOTS: u32 = 1024;

/// The name of the library inside a generated block.
const LIBRARY: &str = "castile_codegen_";

pub(crate) struct Expansion {
    ident: Ident,
    namespace: Expr,
    /// The other namespaces, of elements and attributes that are not in the namespace of the type.
    others: Vec<Expr>,
    is_in_none: bool,
    is_qualified: bool,
    types: Vec<TokenStream>,
    slot: u16,
}

impl Expansion {
    pub(crate) fn new(ident: &Ident, of: &TypeAttributes) -> syn::Result<Self> {
        let namespace = of.namespace(ident)?;
        let is_none = is_empty(&namespace);
        let is_qualified = !of.is_unqualified && !is_none;
        let (others, types) = (Vec::new(), Vec::new());
        let slot = (hash(&format!("{ident} {}", namespace.to_token_stream())) % SLOTS) as u16;
        Ok(Expansion { ident: ident.clone(), namespace, others, is_in_none: is_none, is_qualified, types, slot })
    }

    /// Creates an expansion for a service.
    pub(crate) fn of_service(ident: &Ident, namespace: &LitStr) -> Self {
        let namespace = syn::parse_quote!(#namespace);
        let slot = (hash(&ident.to_string()) % SLOTS) as u16;
        let (others, types) = (Vec::new(), Vec::new());
        Expansion { ident: ident.clone(), namespace, others, is_in_none: false, is_qualified: true, types, slot }
    }

    /// Returns the namespace of the type's elements, as a placeholder.
    pub(crate) fn of_elements(&self) -> &'static str {
        if self.is_qualified { NAMESPACE } else { "" }
    }

    /// Adds another namespace and returns its placeholder.
    pub(crate) fn other(&mut self, namespace: &Expr) -> String {
        if is_empty(namespace) {
            return String::new();
        }
        self.others.push(namespace.clone());
        namespace_of(self.others.len())
    }

    pub(crate) fn ident(&self) -> &Ident {
        &self.ident
    }

    /// Returns whether the type is in no namespace.
    pub(crate) fn is_in_none(&self) -> bool {
        self.is_in_none
    }

    pub(crate) fn is_qualified(&self) -> bool {
        self.is_qualified
    }

    /// Returns the namespace of the type as an expression.
    pub(crate) fn namespace(&self) -> TokenStream {
        expression(&self.namespace)
    }

    /// Returns the namespace of the type's elements as an expression.
    pub(crate) fn namespace_of_elements(&self) -> TokenStream {
        if self.is_qualified {
            self.namespace()
        } else {
            quote! { "" }
        }
    }

    /// Returns the placeholder for the type itself.
    pub(crate) fn itself(&self) -> Path {
        path(ITSELF)
    }

    /// Adds a type of the program and returns its placeholder.
    pub(crate) fn of(&mut self, of: &Type) -> Path {
        self.of_tokens(of.to_token_stream())
    }

    /// Adds a type of the program, given as tokens, and returns its placeholder.
    pub(crate) fn of_tokens(&mut self, of: TokenStream) -> Path {
        self.types.push(of);
        path(&format!("{TYPE}{}", self.types.len() - 1))
    }

    /// Adds a type of the program and returns it as a value type.
    pub(crate) fn base(&mut self, of: &Type) -> Base {
        Base::Rust(self.of(of).ident.as_str().into())
    }

    /// Returns the slot of the next element in the tag cache.
    pub(crate) fn slot(&mut self) -> u16 {
        let slot = self.slot;
        self.slot = slot.wrapping_add(1);
        slot
    }

    /// Renders planned types as a block of code, with `rest` in the same block.
    pub(crate) fn code(self, items: Vec<Item>, rest: TokenStream) -> TokenStream {
        let code = self.rendered(items, LIBRARY, |program| program.types());
        Self::block(&code, &rest)
    }

    /// Renders a block of code with `render`, with `rest` in the same block.
    pub(crate) fn code_of(self, render: impl FnOnce(&OfProgram<'_>) -> TokenStream, rest: TokenStream) -> TokenStream {
        let code = self.rendered(Vec::new(), LIBRARY, render);
        Self::block(&code, &rest)
    }

    fn block(code: &TokenStream, rest: &TokenStream) -> TokenStream {
        // A short alias is faster to compile: each of possibly thousands of types uses it dozens of times.
        quote! {
            const _: () = {
                use ::castile::codegen as castile_codegen_;
                #code
                #rest
            };
        }
    }

    /// Calls `render` with a plan that contains `items`. The library is at the path `library`.
    pub(crate) fn rendered(
        &self,
        items: Vec<Item>,
        library: &str,
        render: impl FnOnce(&OfProgram<'_>) -> TokenStream,
    ) -> TokenStream {
        let module = Module { namespace: NAMESPACE.to_owned(), ident: names::Ident::new("module") };
        let plan = Plan {
            namespaces: (0..=self.others.len()).map(namespace_of).collect(),
            modules: vec![module],
            items,
            services: Vec::new(),
            documents: Vec::new(),
            repeats: Vec::new(),
            own: Default::default(),
            unwritten: Default::default(),
            extras: Default::default(),
            sizes: Vec::new(),
            left_out: Vec::new(),
            missing: Vec::new(),
        };
        let meant = |name: &str| self.replacement_for(name);
        render(&OfProgram { plan: &plan, namespace: self.of_elements(), library, replacement: &meant })
    }

    fn replacement_for(&self, name: &str) -> Option<TokenStream> {
        if !name.starts_with('C') {
            return None;
        }
        match name {
            ITSELF => Some(self.ident.to_token_stream()),
            CONSTANT => Some(self.namespace()),
            _ if name.starts_with(CONSTANT) => {
                let number = name.strip_prefix(CONSTANT)?.strip_prefix('_')?.parse::<usize>().ok()?;
                self.others.get(number.checked_sub(1)?).map(expression)
            }
            _ => self.types.get(name.strip_prefix(TYPE)?.parse::<usize>().ok()?).cloned(),
        }
    }
}

/// Returns the placeholder of a namespace: that of the type for 0, the others by their number.
fn namespace_of(number: usize) -> String {
    match number {
        0 => NAMESPACE.to_owned(),
        number => format!("{NAMESPACE}_{number}"),
    }
}

/// Returns whether a namespace is the empty string.
fn is_empty(namespace: &Expr) -> bool {
    matches!(namespace, Expr::Lit(literal) if matches!(&literal.lit, Lit::Str(text) if text.value().is_empty()))
}

/// Wraps an expression in an invisible group, so that it stays one expression in any context.
fn expression(expression: &Expr) -> TokenStream {
    TokenTree::Group(Group::new(Delimiter::None, expression.to_token_stream())).into()
}

fn path(name: &str) -> Path {
    Path { module: 0, ident: names::Ident::new(name) }
}

/// FNV-1a.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
