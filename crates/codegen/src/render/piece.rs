//! Pieces of source: each is formatted by itself, and knows what it needs from elsewhere.
//!
//! A contract that is formatted as a whole has all of its syntax in memory at once, and one thread has all the work.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

use super::{Context, constant, layout};
use crate::names::IMPORTS;

/// Formatted items.
pub(super) struct Piece {
    pub(super) source: String,
    /// What of `IMPORTS` stands in it, by index.
    imports: BTreeSet<usize>,
    /// The constants of namespaces in it, by index.
    constants: BTreeSet<usize>,
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
        let source = layout::join(inside.filter(|_| !is_root).unwrap_or(&source));
        let mut piece = Piece { source: String::new(), imports: BTreeSet::new(), constants: BTreeSet::new() };
        let mut in_enum = None;
        for line in source.lines() {
            piece.note(line, &mut in_enum);
        }
        Piece { source, ..piece }
    }

    /// Adds an item that is formatted already, and imports nothing.
    pub(super) fn with(mut self, item: &str, context: Context<'_>) -> Self {
        let margin = if context.module == 0 { "" } else { "    " };
        for line in item.lines() {
            self.source.extend([margin, line, "\n"]);
        }
        self
    }

    /// Notes the names in a line that could be imported: neither declared there nor inside a path.
    fn note(&mut self, line: &str, in_enum: &mut Option<usize>) {
        let text = line.trim_start();
        if text.starts_with("///") {
            return;
        }
        let depth = line.len() - text.len();
        // Variants are declared, what they hold is not.
        let declared = usize::from(in_enum.is_some_and(|around| depth == around + 4));
        if text.starts_with("pub enum ") {
            *in_enum = Some(depth);
        } else if *in_enum == Some(depth) && text == "}" {
            *in_enum = None;
        }
        for (start, word) in words(text).skip(declared) {
            let (before, behind) = (&text[..start], &text[start + word.len()..]);
            if before.ends_with("::") || before.ends_with("type ") {
                continue;
            }
            // A field may have this name too.
            if let Some(import) = IMPORTS.iter().position(|import| *import == word)
                && (word != "xs" || behind.starts_with("::"))
            {
                self.imports.insert(import);
            }
            self.constants.extend(number(word));
        }
    }
}

/// What pieces take from the library, and from the module around theirs.
pub(super) fn imports(pieces: &[Piece], context: Context<'_>) -> String {
    let imports: BTreeSet<usize> = pieces.iter().flat_map(|piece| piece.imports.iter().copied()).collect();
    let imports: Vec<TokenStream> =
        imports.into_iter().map(|import| IMPORTS[import].parse().unwrap_or_default()).collect();
    let imports = (!imports.is_empty()).then(|| quote! { use ::castile::codegen::{#(#imports),*}; });
    let constants: Vec<TokenStream> = constants(pieces).into_iter().map(constant).collect();
    let constants = (context.module != 0 && !constants.is_empty()).then(|| quote! { use super::{#(#constants),*}; });
    Piece::new(quote! { #imports #constants }, context).source
}

/// The constants of namespaces that stand in pieces, by index.
pub(super) fn constants<'a>(pieces: impl IntoIterator<Item = &'a Piece>) -> BTreeSet<usize> {
    pieces.into_iter().flat_map(|piece| piece.constants.iter().copied()).collect()
}

/// The words of a line of code with their places, without those in texts.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + line[at..].find(|c| c == '"' || is_word(c))?;
            let rest = &line[start..];
            if !rest.starts_with('"') {
                let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
                at = start + word.len();
                return Some((start, word));
            }
            let mut is_escaped = false;
            let end = rest[1..].find(|c| {
                let is_end = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            });
            at = start + end.map_or(rest.len(), |end| end + 2);
        }
    })
}

/// The index of a constant of a namespace.
fn number(name: &str) -> Option<usize> {
    match name.strip_prefix("NAMESPACE")? {
        "" => Some(0),
        number => number.strip_prefix('_')?.parse::<usize>().ok()?.checked_sub(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_texts_are_none() {
        let line = r#"a.b("c \" d", "\\", e::F_1) => 'g'"#;
        assert_eq!(words(line).map(|(_, word)| word).collect::<Vec<_>>(), ["a", "b", "e", "F_1", "g"]);
    }

    #[test]
    fn names_that_are_declared_are_not_imported() {
        let lines = [
            "    pub enum Value {",
            "        /// Decoder",
            "        Encoder(Nillable<x::Root>),",
            "        Fault(",
            "            Recursive<r#type::Root>,",
            "        ),",
            "    }",
            "    type Error = Infallible;",
            "    r#type: Element::new(NAMESPACE_12, NAMESPACE, xs),",
            "    out.text(\"Limits\")",
        ];
        let mut piece = Piece { source: String::new(), imports: BTreeSet::new(), constants: BTreeSet::new() };
        let mut in_enum = None;
        for line in lines {
            piece.note(line, &mut in_enum);
        }
        let imports: Vec<&str> = piece.imports.iter().map(|import| IMPORTS[*import]).collect();
        assert_eq!(imports, ["Element", "Infallible", "Nillable", "Recursive"]);
        assert_eq!(piece.constants.into_iter().collect::<Vec<_>>(), [0, 11]);
    }
}
