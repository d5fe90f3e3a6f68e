//! Simple types: a value with facets, an enumeration, a union.

use castile_datatypes::facets::Pattern;
use castile_plan::names;
use castile_plan::plan::{Facet, Item, Restriction, Rule};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Field, Type};

use crate::attributes::TypeAttributes;
use crate::declaration::simple;
use crate::expansion::Expansion;
use crate::fields::{check_value, is_called, of_language};
use crate::placeholders::FACETS;

pub(crate) const WHITE_SPACE: &str = "expected white space \"preserve\", \"replace\" or \"collapse\"";

/// Generates a struct with one value, which may have facets.
pub(crate) fn restricted(input: &DeriveInput, of: &TypeAttributes, field: &Field) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    if let Some(extends) = &of.extends {
        return Err(syn::Error::new_spanned(
            extends,
            "a simple type restricts the type of its value, so it can't have `extends`",
        ));
    }
    let has_fields = [
        (of.is_all.is_some(), "all"),
        (of.is_group, "group"),
        (of.is_unqualified, "unqualified"),
        (of.rename_all.is_some(), "rename_all"),
    ];
    of.refuse("a struct around one value", &has_fields, ident)?;
    let mut expansion = Expansion::new(ident, of)?;
    let inner = &field.ty;
    let name = of.name(ident)?;
    let base = expansion.base(inner);
    let facets = facets(of, inner)?;
    let has_facets = !facets.is_empty();
    let mut items = Vec::new();
    if has_facets {
        let path = castile_plan::plan::Path { module: 0, ident: names::Ident::new(FACETS) };
        let rule = Rule::Facets { facets, of: None };
        items.push(Item::Restriction(Restriction { path, name: name.clone(), base, rule }));
    }
    let (parse, parse_in) = match has_facets {
        true => {
            let facets = quote::format_ident!("{FACETS}");
            (quote! { #facets.parse(text, &::castile::datatypes::Unscoped) }, quote! { #facets.parse(text, scope) })
        }
        false => {
            (quote! { <#inner as SimpleType>::parse(text) }, quote! { <#inner as SimpleType>::parse_in(text, scope) })
        }
    };
    let declared = of.facets.iter().map(|(facet, value, _)| quote! { (#facet, #value) });
    let definition = quote! {
        castile_codegen_::declared::Definition::Restriction {
            base: <#inner as castile_codegen_::declared::Declared>::declaration,
            facets: &[#(#declared),*],
        }
    };
    let kind = quote! { <#inner as castile_codegen_::declared::Declared>::KIND };
    let declaration = simple(&expansion, &name, &of.documentation, &kind, &definition);
    let rest = quote! {
        const _: () = {
            use ::castile::datatypes::{Prefixes, Scope, SimpleType};

            impl SimpleType for #ident {
                const NAME: &'static str = #name;
                const HAS_NAMES: bool = <#inner as SimpleType>::HAS_NAMES;
                const IS_PLAIN: bool = <#inner as SimpleType>::IS_PLAIN;
                const IS_OF_CONTRACT: bool = true;

                fn parse(text: &str) -> ::core::result::Result<Self, ::core::option::Option<::std::string::String>> {
                    #parse.map(Self)
                }

                fn parse_in(
                    text: &str,
                    scope: &dyn Scope,
                ) -> ::core::result::Result<Self, ::core::option::Option<::std::string::String>> {
                    #parse_in.map(Self)
                }

                fn heap_size(text: &str) -> usize {
                    <#inner as SimpleType>::heap_size(text)
                }

                fn write(&self, out: &mut ::std::vec::Vec<u8>) -> bool {
                    SimpleType::write(&self.0, out)
                }

                fn write_in(&self, out: &mut ::std::vec::Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
                    SimpleType::write_in(&self.0, out, prefixes)
                }
            }

            castile_codegen_::simple_type!(#ident);
            castile_codegen_::facet_value!(#ident as #inner);
        };
        #declaration
    };
    Ok(expansion.code(items, rest))
}

/// Returns the facets as a table contains them.
fn facets(of: &TypeAttributes, inner: &Type) -> syn::Result<Vec<Facet>> {
    let mut facets: Vec<Facet> = Vec::new();
    let mut patterns = Vec::new();
    let mut listed = Vec::new();
    for (facet, value, span) in &of.facets {
        if facet.ends_with("clusive") || facet == "enumeration" {
            check_value(inner, value, *span)?;
        }
        let is_text = of_language(inner).is_none_or(|(_, name)| name == "string");
        if facet.to_lowercase().ends_with("length") && !is_text {
            return Err(syn::Error::new(
                *span,
                format!("{facet} is only for texts and bytes; use bounds and digits for a number"),
            ));
        }
        if (facet.ends_with("Digits") || facet.ends_with("clusive")) && is_called(inner, "String") {
            return Err(syn::Error::new(
                *span,
                format!("{facet} is only for numbers and dates; use lengths and patterns for a text"),
            ));
        }
        let number =
            || value.parse::<u64>().map_err(|_| syn::Error::new(*span, format!("{value:?} is not a valid count")));
        facets.push(match facet.as_str() {
            "length" => Facet::Number("length", number()?),
            "minLength" => Facet::Number("min_length", number()?),
            "maxLength" => Facet::Number("max_length", number()?),
            "totalDigits" => Facet::Number("total_digits", number()?),
            "fractionDigits" => Facet::Number("fraction_digits", number()?),
            "minInclusive" => Facet::Bound("min_inclusive", value.clone()),
            "minExclusive" => Facet::Bound("min_exclusive", value.clone()),
            "maxInclusive" => Facet::Bound("max_inclusive", value.clone()),
            "maxExclusive" => Facet::Bound("max_exclusive", value.clone()),
            "whiteSpace" => match value.as_str() {
                "preserve" => Facet::WhiteSpace("Preserve"),
                "replace" => Facet::WhiteSpace("Replace"),
                "collapse" => Facet::WhiteSpace("Collapse"),
                _ => return Err(syn::Error::new(*span, WHITE_SPACE)),
            },
            "pattern" => {
                Pattern::new(&[value]).map_err(|error| syn::Error::new(*span, error.to_string()))?;
                patterns.push(value.clone());
                continue;
            }
            _ => {
                listed.push(value.clone());
                continue;
            }
        });
    }
    if !patterns.is_empty() {
        // Several patterns in one derivation step are alternatives (XSD Part 2 §4.3.4.3).
        facets.push(Facet::Patterns(vec![patterns]));
    }
    if !listed.is_empty() {
        facets.push(Facet::Enumeration(listed));
    }
    // All other types have the white space `Collapse` (XSD Part 2 §4.3.6).
    let of_base = [("String", "Preserve"), ("NormalizedString", "Replace")];
    let of_base = of_base.into_iter().find(|(name, _)| is_called(inner, name));
    if let Some((_, white_space)) = of_base.filter(|_| !facets.is_empty())
        && !facets.iter().any(|facet| matches!(facet, Facet::WhiteSpace(_)))
    {
        facets.push(Facet::WhiteSpace(white_space));
    }
    Ok(facets)
}
