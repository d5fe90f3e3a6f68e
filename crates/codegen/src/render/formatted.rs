//! Parts of the source, which are formatted independently.
//!
//! Formatting a contract as a whole would need its complete syntax tree in memory, and would use only one thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use proc_macro2::TokenStream;

use super::{Context, layout};

/// Bugs of the generator, collected from all threads.
#[derive(Default)]
pub(super) struct Bugs(Mutex<Vec<String>>);

impl Bugs {
    fn add(&self, bug: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(bug);
    }

    /// Returns `made`, or the bugs if there are any.
    pub(super) fn instead_of<T>(self, made: T) -> Result<T, Vec<String>> {
        let bugs = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        if bugs.is_empty() { Ok(made) } else { Err(bugs) }
    }
}

/// Formatted items.
pub(super) struct FormattedItems {
    pub(super) source: String,
}

impl FormattedItems {
    /// Formats items for their module. A failure is a bug of the generator; it is recorded with the name of the item,
    /// and the result is empty.
    pub(super) fn new(what: &str, context: Context<'_>, items: impl FnOnce() -> TokenStream) -> Self {
        let is_root = context.module == 0;
        let parsed =
            catch_unwind(AssertUnwindSafe(items)).map_err(|_| "the generator panicked".to_owned()).and_then(|items| {
                syn::parse2::<syn::File>(items).map_err(|error| format!("it is not valid Rust: {error}"))
            });
        let source = match parsed {
            Ok(file) if is_root => prettyplease::unparse(&file),
            // How much fits on a line depends on the indentation.
            Ok(file) => prettyplease::unparse(&around(file)),
            Err(problem) => {
                context.bugs.add(format!("a bug in the generator: the code of {what} can't be written: {problem}"));
                String::new()
            }
        };
        let inside = source.strip_prefix("mod module {\n").and_then(|inside| inside.strip_suffix("}\n"));
        FormattedItems { source: layout::join(inside.filter(|_| !is_root).unwrap_or(&source)) }
    }

    /// Adds an item that is already formatted and needs no imports.
    pub(super) fn with(mut self, item: &str, context: Context<'_>) -> Self {
        let margin = if context.module == 0 { "" } else { "    " };
        for line in item.lines() {
            self.source.extend([margin, line, "\n"]);
        }
        self
    }
}

/// Wraps these items in a module. It is done after parsing, because wrapping tokens would copy all of them.
fn around(mut file: syn::File) -> syn::File {
    let module = syn::ItemMod {
        attrs: Vec::new(),
        vis: syn::Visibility::Inherited,
        unsafety: None,
        mod_token: Default::default(),
        ident: quote::format_ident!("module"),
        content: Some((Default::default(), std::mem::take(&mut file.items))),
        semi: None,
    };
    file.items.push(syn::Item::Mod(module));
    file
}
