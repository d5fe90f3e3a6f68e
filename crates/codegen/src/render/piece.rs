//! Pieces of source: each is formatted by itself.
//!
//! A contract that is formatted as a whole has all of its syntax in memory at once, and one thread has all the work.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Context, layout};

/// Formatted items.
pub(super) struct Piece {
    pub(super) source: String,
}

impl Piece {
    /// Items as they stand in their module.
    pub(super) fn new(items: TokenStream, context: Context<'_>) -> Self {
        let is_root = context.module == 0;
        // How much fits on a line depends on where it begins.
        let source = match syn::parse2(if is_root {
            items
        } else {
            quote! { mod module { #items } }
        }) {
            Ok(file) => prettyplease::unparse(&file),
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
