//! Replaces names of the library and the prelude by paths, for code that is inserted in a program which may use the
//! same names.

use proc_macro2::{Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

use castile_plan::names::IMPORTS;

/// Returns the tokens with absolute paths for names of the library and the prelude. `library` is the path of the
/// library. Names for which `meant` returns tokens are replaced by these.
pub(super) fn absolute(tokens: TokenStream, library: &str, meant: &dyn Fn(&str) -> Option<TokenStream>) -> TokenStream {
    changed(tokens.clone(), library, meant).unwrap_or(tokens)
}

/// Returns the changed tokens, or `None` if nothing changes.
fn changed(tokens: TokenStream, library: &str, meant: &dyn Fn(&str) -> Option<TokenStream>) -> Option<TokenStream> {
    // Each call on a stream goes to the compiler, so tokens are collected in vectors.
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut out: Vec<TokenTree> = Vec::with_capacity(tokens.len() + SPARE_TOKENS);
    let mut is_changed = false;
    // Whether the next token continues a path or a field access.
    let mut is_within = false;
    let (mut colons, mut dots) = (0, 0);
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        if let TokenTree::Punct(punct) = &token {
            colons = if punct.as_char() == ':' { colons + 1 } else { 0 };
            dots = if punct.as_char() == '.' { dots + 1 } else { 0 };
            // Two dots are a range or the rest of a struct.
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
                // Names of types start with a capital letter. This check skips most names, which matters because macros
                // are seldom optimized.
                let may_be_other = matches!(name.as_bytes(), [b'A'..=b'Z', ..] | b"xs");
                if let Some(meant) = may_be_other.then(|| meant(&name)).flatten() {
                    out.extend(meant);
                    is_changed = true;
                } else if may_be_other
                    && !is_within
                    && let Some(path) = path(&name)
                    && !is_field(tokens.as_slice())
                {
                    push(path.unwrap_or(library), &mut out);
                    out.extend([colon(Spacing::Joint), colon(Spacing::Alone), TokenTree::Ident(ident)]);
                    is_changed = true;
                } else {
                    out.push(TokenTree::Ident(ident));
                }
            }
            token => out.push(token),
        }
        (is_within, colons, dots) = (false, 0, 0);
    }
    is_changed.then(|| out.into_iter().collect())
}

/// Spare capacity for added tokens.
const SPARE_TOKENS: usize = 16;

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

/// Returns true if a name before these tokens is the name of a field and not a path.
fn is_field(behind: &[TokenTree]) -> bool {
    matches!(behind, [colon, rest @ ..] if is_colon(colon) && !rest.first().is_some_and(is_colon))
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':')
}

/// Returns the path of a name in the prelude, or `Some(None)` for a name in the library.
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
        name if IMPORTS.binary_search(&name).is_ok() => return Some(None),
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn imports_are_sorted() {
        assert!(IMPORTS.is_sorted());
    }

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
