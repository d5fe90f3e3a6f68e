//! Names of the library and of the language as paths: for code that stands among names of a program, which may be the same.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use std::iter::Peekable;

use castile_plan::names::IMPORTS;

/// The tokens with absolute paths in place of what they take from the library, which is called so, and from the prelude; and with what
/// `meant` has in place of other names.
pub(super) fn absolute(
    tokens: TokenStream,
    library: &dyn Fn() -> TokenStream,
    meant: &dyn Fn(&str) -> Option<TokenStream>,
) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    // Whether what comes is a part of a path, or of a value.
    let mut is_within = false;
    let (mut colons, mut dots) = (0, 0);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), absolute(group.stream(), library, meant));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
                (is_within, colons, dots) = (false, 0, 0);
            }
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                match meant(&name).or_else(|| path(&name, library).filter(|_| !is_within && !is_field(&tokens))) {
                    Some(path) => out.extend(path),
                    None => out.extend([TokenTree::Ident(ident)]),
                }
                (is_within, colons, dots) = (false, 0, 0);
            }
            TokenTree::Punct(punct) => {
                colons = if punct.as_char() == ':' { colons + 1 } else { 0 };
                dots = if punct.as_char() == '.' { dots + 1 } else { 0 };
                // Two dots are what is left of a struct, or a range.
                is_within = colons == 2 || dots == 1;
                out.extend([TokenTree::Punct(punct)]);
            }
            TokenTree::Literal(literal) => {
                out.extend([TokenTree::Literal(literal)]);
                (is_within, colons, dots) = (false, 0, 0);
            }
        }
    }
    out
}

/// Whether what was read is the name of a field, and not a path.
fn is_field(behind: &Peekable<proc_macro2::token_stream::IntoIter>) -> bool {
    let mut behind = behind.clone();
    is_colon(behind.next().as_ref()) && !is_colon(behind.next().as_ref())
}

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
}

/// The path of a name that is one of the library or of the prelude.
fn path(name: &str, library: &dyn Fn() -> TokenStream) -> Option<TokenStream> {
    // Types have capital letters: most names are told by that, in code that is seldom optimised.
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) && name != "xs" {
        return None;
    }
    let ident = || Ident::new(name.trim_start_matches("r#"), Span::call_site());
    Some(match name {
        "Box" => quote! { ::std::boxed::Box },
        "Clone" => quote! { ::core::clone::Clone },
        "Default" => quote! { ::core::default::Default },
        "Err" => quote! { ::core::result::Result::Err },
        "Ok" => quote! { ::core::result::Result::Ok },
        "From" => quote! { ::core::convert::From },
        "Into" => quote! { ::core::convert::Into },
        "None" => quote! { ::core::option::Option::None },
        "Some" => quote! { ::core::option::Option::Some },
        "Option" => quote! { ::core::option::Option },
        "Result" => quote! { ::core::result::Result },
        "Send" => quote! { ::core::marker::Send },
        "Sync" => quote! { ::core::marker::Sync },
        "String" => quote! { ::std::string::String },
        "Vec" => quote! { ::std::vec::Vec },
        name if IMPORTS.contains(&name) => {
            let (library, ident) = (library(), ident());
            quote! { #library::#ident }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(absolute(tokens, &|| quote! { ::castile::codegen }, &|_| None).to_string(), expected.to_string());
    }
}
