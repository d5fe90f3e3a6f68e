//! Names of the library and of the language as paths: for code that stands among names of a program, which may be the same.

use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

use castile_plan::names::IMPORTS;

/// The tokens with absolute paths in place of what they take from the library, which is called so, and from the prelude; and with what
/// `meant` has in place of other names.
pub(super) fn absolute(tokens: TokenStream, library: &str, meant: &dyn Fn(&str) -> Option<TokenStream>) -> TokenStream {
    changed(tokens.clone(), library, meant).unwrap_or(tokens)
}

/// The tokens, if there is something to be put in place of some.
fn changed(tokens: TokenStream, library: &str, meant: &dyn Fn(&str) -> Option<TokenStream>) -> Option<TokenStream> {
    // The compiler is asked for each stream, so what is in one, and what becomes of it, are kept apart.
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut out: Vec<TokenTree> = Vec::with_capacity(tokens.len() + ROOM);
    let mut is_changed = false;
    // Whether what comes is a part of a path, or of a value.
    let mut is_within = false;
    let (mut colons, mut dots) = (0, 0);
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if let TokenTree::Punct(punct) = &token {
            colons = if punct.as_char() == ':' { colons + 1 } else { 0 };
            dots = if punct.as_char() == '.' { dots + 1 } else { 0 };
            // Two dots are what is left of a struct, or a range.
            is_within = colons == 2 || dots == 1;
            out.push(token);
            continue;
        }
        match token {
            TokenTree::Group(group) => match changed(group.stream(), library, meant) {
                Some(stream) => {
                    let mut inner = Group::new(group.delimiter(), stream);
                    inner.set_span(group.span());
                    out.push(TokenTree::Group(inner));
                    is_changed = true;
                }
                None => out.push(TokenTree::Group(group)),
            },
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                // Types have capital letters: most names are told by that, in code that is seldom optimised.
                let may_be_other = name.starts_with(|c: char| c.is_ascii_uppercase()) || name == "xs";
                let others = if may_be_other { (meant(&name), path(&name)) } else { (None, None) };
                match others {
                    (Some(meant), _) => {
                        out.extend(meant);
                        is_changed = true;
                    }
                    (None, Some(path)) if !is_within && !is_field(tokens.as_slice()) => {
                        push(path.unwrap_or(library), &mut out);
                        out.extend([colon(Spacing::Joint), colon(Spacing::Alone), TokenTree::Ident(ident)]);
                        is_changed = true;
                    }
                    _ => out.push(TokenTree::Ident(ident)),
                }
            }
            token => out.push(token),
        }
        (is_within, colons, dots) = (false, 0, 0);
    }
    is_changed.then(|| out.into_iter().collect())
}

/// How many tokens there is room for beside those that are read.
const ROOM: usize = 16;

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

/// Whether a name before these tokens is that of a field, and not a path.
fn is_field(behind: &[TokenTree]) -> bool {
    matches!(behind, [colon, rest @ ..] if is_colon(colon) && !rest.first().is_some_and(is_colon))
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

/// Where a name stands that is one of the prelude, or of the library: that is `Some(None)`.
fn path(name: &str) -> Option<Option<&'static str>> {
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
