//! Names of the library and of the language as paths: for code that stands among names of a program, which may be the same.

use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};
use std::iter::Peekable;

use castile_plan::names::IMPORTS;

/// The tokens with absolute paths in place of what they take from the library, which is called so, and from the prelude; and with what
/// `meant` has in place of other names.
pub(super) fn absolute(tokens: TokenStream, library: &str, meant: &dyn Fn(&str) -> Option<TokenStream>) -> TokenStream {
    // The compiler is asked for each stream, so what becomes of one is kept apart until it is whole.
    let mut out: Vec<TokenTree> = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    // Whether what comes is a part of a path, or of a value.
    let mut is_within = false;
    let (mut colons, mut dots) = (0, 0);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), absolute(group.stream(), library, meant));
                inner.set_span(group.span());
                out.push(TokenTree::Group(inner));
                (is_within, colons, dots) = (false, 0, 0);
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                match (meant(&name), path(&name)) {
                    (Some(meant), _) => out.extend(meant),
                    (None, Some(path)) if !is_within && !is_field(&tokens) => {
                        push(path.unwrap_or(library), &mut out);
                        out.extend([colon(Spacing::Joint), colon(Spacing::Alone), TokenTree::Ident(ident)]);
                    }
                    _ => out.push(TokenTree::Ident(ident)),
                }
                (is_within, colons, dots) = (false, 0, 0);
            }
            TokenTree::Punct(punct) => {
                colons = if punct.as_char() == ':' { colons + 1 } else { 0 };
                dots = if punct.as_char() == '.' { dots + 1 } else { 0 };
                // Two dots are what is left of a struct, or a range.
                is_within = colons == 2 || dots == 1;
                out.push(TokenTree::Punct(punct));
            }
            TokenTree::Literal(literal) => {
                out.push(TokenTree::Literal(literal));
                (is_within, colons, dots) = (false, 0, 0);
            }
        }
    }
    out.into_iter().collect()
}

fn colon(spacing: Spacing) -> TokenTree {
    TokenTree::Punct(Punct::new(':', spacing))
}

/// Adds a path, which may begin with two colons.
fn push(path: &str, out: &mut Vec<TokenTree>) {
    for (number, name) in path.split("::").enumerate() {
        if number > 0 {
            out.extend([colon(Spacing::Joint), colon(Spacing::Alone)]);
        }
        if !name.is_empty() {
            out.push(TokenTree::Ident(Ident::new(name, Span::call_site())));
        }
    }
}

/// Whether what was read is the name of a field, and not a path.
fn is_field(behind: &Peekable<proc_macro2::token_stream::IntoIter>) -> bool {
    let mut behind = behind.clone();
    is_colon(behind.next().as_ref()) && !is_colon(behind.next().as_ref())
}

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
}

/// Where a name stands that is one of the prelude, or of the library: that is `Some(None)`.
fn path(name: &str) -> Option<Option<&'static str>> {
    // Types have capital letters: most names are told by that, in code that is seldom optimised.
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) && name != "xs" {
        return None;
    }
    Some(Some(match name {
        "Box" => "::std::boxed",
        "Clone" => "::core::clone",
        "Default" => "::core::default",
        "Err" | "Ok" => "::core::result::Result",
        "From" | "Into" => "::core::convert",
        "None" | "Some" => "::core::option::Option",
        "Option" => "::core::option",
        "Result" => "::core::result",
        "Send" | "Sync" => "::core::marker",
        "String" => "::std::string",
        "Vec" => "::std::vec",
        name if IMPORTS.contains(&name) => return Some(None),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn names_that_are_no_paths_stay() {
        let tokens = quote! {
            impl FromXml for Order {
                fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
                    let value = Self::Ok(decoder.Some(xs::Model::None));
                    Ok(Some(Order { Error: None, xs: Vec::new(), value }))
                }
            }
        };
        let expected = quote! {
            impl ::castile::codegen::FromXml for Order {
                fn read(decoder: &mut ::castile::codegen::Decoder<'_>)
                    -> ::core::result::Result<::core::option::Option<Self>, ::castile::codegen::Error>
                {
                    let value = Self::Ok(decoder.Some(::castile::codegen::xs::Model::None));
                    ::core::result::Result::Ok(::core::option::Option::Some(
                        Order { Error: ::core::option::Option::None, xs: ::std::vec::Vec::new(), value }
                    ))
                }
            }
        };
        assert_eq!(absolute(tokens, "::castile::codegen", &|_| None).to_string(), expected.to_string());
    }
}
