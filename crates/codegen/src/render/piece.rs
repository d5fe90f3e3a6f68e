//! Pieces of source: each is formatted by itself.
//!
//! A contract that is formatted as a whole has all of its syntax in memory at once, and one thread has all the work.

use proc_macro2::TokenStream;

use super::{Context, layout};

/// Formatted items.
pub(super) struct Piece {
    pub(super) source: String,
}

impl Piece {
    /// Items as they stand in their module.
    pub(super) fn new(items: TokenStream, context: Context<'_>) -> Self {
        let is_root = context.module == 0;
        let source = match syn::parse2::<syn::File>(items) {
            Ok(file) if is_root => prettyplease::unparse(&file),
            // How much fits on a line depends on where it begins.
            Ok(file) => prettyplease::unparse(&around(file)),
            Err(error) => unreachable!("the parts are Rust: {error}"),
        };
        let inside = source.strip_prefix("mod module {\n").and_then(|inside| inside.strip_suffix("}\n"));
        Piece { source: layout::join(inside.filter(|_| !is_root).unwrap_or(&source)) }
    }

    /// Adds an item that is formatted already, and imports nothing.
    pub(super) fn with(mut self, item: &str, context: Context<'_>) -> Self {
        let margin = if context.module == 0 { "" } else { "    " };
        for line in item.lines() {
            self.source.extend([margin, line, "\n"]);
        }
        self
    }
}

/// A module with these items. It is put around what was read: around tokens, all of them would be copied.
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
