//! Names of the library and of the language as paths: for code that stands among names of a program, which may be the same.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use castile_plan::names::IMPORTS;

/// The tokens with absolute paths in place of what they take from the library and from the prelude.
pub(super) fn absolute(tokens: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    // Whether what comes is a part of a path, or of a value.
    let mut is_within = false;
    let (mut colons, mut dots) = (0, 0);
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), absolute(group.stream()));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
                (is_within, colons, dots) = (false, 0, 0);
            }
            TokenTree::Ident(ident) => {
                // A field: its name is not a path.
                let is_field = is_colon(tokens.peek()) && {
                    let mut ahead = tokens.clone();
                    ahead.next();
                    !is_colon(ahead.next().as_ref())
                };
                match path(&ident).filter(|_| !is_within && !is_field) {
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

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == ':')
}

/// The path of a name that is one of the library or of the prelude.
fn path(ident: &Ident) -> Option<TokenStream> {
    let name = ident.to_string();
    let ident = Ident::new(name.trim_start_matches("r#"), Span::call_site());
    Some(match name.as_str() {
        "Box" => quote! { ::std::boxed::Box },
        "Clone" => quote! { ::core::clone::Clone },
        "Default" => quote! { ::core::default::Default },
        "Err" | "Ok" => quote! { ::core::result::Result::#ident },
        "From" | "Into" => quote! { ::core::convert::#ident },
        "None" | "Some" => quote! { ::core::option::Option::#ident },
        "Option" => quote! { ::core::option::Option },
        "Result" => quote! { ::core::result::Result },
        "Send" | "Sync" => quote! { ::core::marker::#ident },
        "String" => quote! { ::std::string::String },
        "Vec" => quote! { ::std::vec::Vec },
        name if IMPORTS.contains(&name) => quote! { ::castile::codegen::#ident },
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
        assert_eq!(absolute(tokens).to_string(), expected.to_string());
    }
}
