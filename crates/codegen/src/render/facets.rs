//! Renders restrictions: the facets of simple types, as statics that tables refer to.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::{Context, base};
use castile_plan::plan::{Base, Facet, Path, Restriction, Rule};

pub(super) fn restriction(plan: &Restriction, context: Context<'_>) -> TokenStream {
    let Restriction { path, name, base: of, rule } = plan;
    let ident = &path.ident;
    let visible = (context.module != 0).then(|| quote! { pub(super) });
    match rule {
        Rule::Facets { facets, of: before } => {
            let of = base(of, context);
            let (new, before) = match before {
                None => (quote! { new }, None),
                Some(path) => {
                    let path = context.path(path);
                    (quote! { of }, Some(quote! { &#path, }))
                }
            };
            let facets: Vec<TokenStream> = facets.iter().map(facet).collect();
            let facets = if facets.is_empty() {
                quote! { xs::Facets::default }
            } else {
                quote! { || xs::Facets { #(#facets,)* ..xs::Facets::default() } }
            };
            quote! {
                #visible static #ident: xs::Restriction<#of> = xs::Restriction::#new(#before #name, || {
                    static FACETS: xs::LazyLock<xs::Facets<#of>> = xs::LazyLock::new(#facets);
                    &FACETS
                });
            }
        }
        Rule::Items(item) => {
            let of = match of {
                Base::List(of) => base(of, context),
                of => base(of, context),
            };
            let item = context.path(item);
            quote! { #visible static #ident: xs::Items<#of> = xs::Items::new(#name, &#item); }
        }
        Rule::AnyOf(members) => {
            let members = members.iter().map(|path| context.path(path));
            quote! { #visible static #ident: xs::AnyOf = xs::AnyOf::new(#name, &[#(&#members),*]); }
        }
    }
}

/// Renders the reference to the facets of a type in a table.
pub(super) fn reference(facets: &Option<Path>, context: Context<'_>) -> Option<TokenStream> {
    let path = context.path(facets.as_ref()?);
    Some(quote! { .facets(&#path) })
}

fn facet(facet: &Facet) -> TokenStream {
    match facet {
        Facet::WhiteSpace(name) => {
            let name = format_ident!("{name}");
            quote! { white_space: xs::WhiteSpace::#name }
        }
        Facet::Number(field, number) => {
            let (field, number) = (format_ident!("{field}"), Literal::u64_unsuffixed(*number));
            quote! { #field: Some(#number) }
        }
        Facet::Patterns(steps) => {
            let steps = steps.iter().map(|alternatives| quote! { &[#(#alternatives),*] });
            quote! { patterns: xs::patterns(&[#(#steps),*]) }
        }
        Facet::Bound(field, value) => {
            let field = format_ident!("{field}");
            quote! { #field: xs::bound(#value) }
        }
        Facet::Enumeration(values) => quote! { enumeration: xs::values(&[#(#values),*]) },
        Facet::Names(names) => {
            let names = names.iter().map(|(namespace, local)| quote! { (#namespace, #local) });
            quote! { enumeration: xs::names(&[#(#names),*]) }
        }
        Facet::Scoped(values) => {
            let values = values.iter().map(|(text, declarations)| {
                let declarations = declarations.iter().map(|(prefix, namespace)| quote! { (#prefix, #namespace) });
                quote! { (#text, &[#(#declarations),*]) }
            });
            quote! { enumeration: xs::scoped_values(&[#(#values),*]) }
        }
    }
}
