//! Enums: enumerations, choices, and base types with their derived types.

use castile_plan::names;
use castile_plan::plan::{Choice, Derived, DerivedVariant, Item, Storage, TypeName};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DataEnum, DeriveInput, Fields, Type, Variant};

use crate::attributes::{Case, FieldAttribute, FieldAttributes, Role, TypeAttributes};
use crate::declaration::{Complex, ContentOf, checked, extended, shown, simple};
use crate::expansion::Expansion;
use crate::fields::{Member, differ, elements, generic_argument, is_called, member};
use crate::placeholders::{ELEMENTS, NAMESPACE};
use crate::simple::WHITE_SPACE;
use crate::structs::{element_of_group, is_small, sound, without_facets};

pub(crate) fn derived(input: &DeriveInput, data: &DataEnum) -> syn::Result<TokenStream> {
    let of = TypeAttributes::read(&input.attrs)?;
    let is_listed = |variant: &Variant| matches!(variant.fields, Fields::Unit);
    let is_enumeration = of.is_derived.is_none() && of.is_union.is_none() && data.variants.iter().any(is_listed);
    // An enumeration restricts a text type. The only facet that it can have is `whiteSpace`.
    if !is_enumeration || of.facets.iter().any(|(facet, ..)| facet != "whiteSpace") {
        without_facets(&of)?;
    }
    if let Some(span) = of.is_all {
        return Err(syn::Error::new(span, "an enum has one variant at a time, so it can't have `all`"));
    }
    if data.variants.is_empty() {
        return Err(syn::Error::new_spanned(&input.ident, "an enum without variants has no values"));
    }
    let ident = &input.ident;
    if let Some(extends) = of.extends.as_ref().filter(|_| of.is_derived.is_some() || of.is_union.is_some()) {
        let message = "an enum of several types can't have `extends`: add it to the type of the variant `itself`";
        return Err(syn::Error::new_spanned(extends, message));
    }
    let of_structs = [(of.is_group, "group"), (of.is_derived.is_some() && of.is_union.is_some(), "union")];
    of.refuse("such an enum", &of_structs, ident)?;
    let of_elements = [(of.rename_all.is_some(), "rename_all"), (of.is_unqualified, "unqualified")];
    if of.is_derived.is_some() || of.is_union.is_some() {
        of.refuse("an enum of several types", &of_elements, ident)?;
    }
    if of.is_derived.is_some() {
        types(input, &of, data)
    } else if of.is_union.is_some() {
        union(input, &of, data)
    } else if is_enumeration {
        enumeration(input, &of, data)
    } else {
        choice(input, &of, data)
    }
}

const ITSELF: &str = "`itself` is only for a variant of an enum with `#[xml(derived)]`";

/// Returns the type that a variant contains.
fn variant_type<'v>(variant: &'v Variant, what: &str) -> syn::Result<&'v Type> {
    match &variant.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => Ok(&fields.unnamed[0].ty),
        _ => Err(syn::Error::new_spanned(
            variant,
            format!("a variant must contain {what}, such as `{}(…)`", variant.ident),
        )),
    }
}

// ---- enumerations ----

fn enumeration(input: &DeriveInput, of: &TypeAttributes, data: &DataEnum) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let expansion = Expansion::new(ident, of)?;
    let mut listed = Vec::new();
    let mut other = None;
    for variant in &data.variants {
        let said = FieldAttributes::read(&variant.attrs)?;
        match (said.role(), &variant.fields) {
            (Some(Role::Other), _) => {
                said.refuse(&[], "the variant for other values")?;
                let of = variant_type(variant, "the text of a value that is not listed")?;
                if other.is_some() {
                    return Err(syn::Error::new_spanned(variant, "another variant is already `other`"));
                }
                other = Some((&variant.ident, of));
            }
            (None, Fields::Unit) => {
                said.refuse(&[FieldAttribute::Name], "a value of an enumeration")?;
                // An enumeration value can be any text, not only a name.
                let value = of.text_of(&variant.ident, &said, Case::AsItIs);
                listed.push((&variant.ident, value));
            }
            (None, _) => {
                let message = "some variants have no value, so this is an enumeration, in which no variant has one; \
                    in a choice, each variant contains the value of its element, which may be `()`";
                return Err(syn::Error::new_spanned(variant, message));
            }
            (Some(Role::Itself), _) => {
                return Err(syn::Error::new(said.role.map_or(variant.span(), |(_, span)| span), ITSELF));
            }
            (Some(_), _) => {
                let span = said.role.map_or(variant.span(), |(_, span)| span);
                return Err(syn::Error::new(span, "a value of an enumeration is a text, so it can't have this option"));
            }
        }
    }
    differ(listed.iter().map(|(variant, value)| (None, value.as_str(), variant.span())))?;
    let name = of.name(ident)?;
    let values: Vec<&String> = listed.iter().map(|(_, value)| value).collect();
    let read = listed.iter().map(|(variant, value)| quote! { #value => ::core::result::Result::Ok(Self::#variant), });
    let write = listed.iter().map(|(variant, value)| quote! { Self::#variant => #value, });
    let (read_other, write_other, beyond) = match other {
        Some((variant, _)) => (
            quote! { other => ::core::result::Result::Ok(Self::#variant(other.into())), },
            Some(quote! { Self::#variant(other) => ::core::convert::AsRef::<str>::as_ref(other), }),
            true,
        ),
        None => (
            quote! {
                _ => ::core::result::Result::Err(::core::option::Option::Some(
                    castile_codegen_::not_listed(&[#(#values),*])
                )),
            },
            None,
            false,
        ),
    };
    let facets = values.iter().map(|value| quote! { ("enumeration", #value) });
    // An enumeration that accepts any other text has no facets.
    let facets = if beyond {
        quote! { &[] }
    } else {
        quote! { &[#(#facets),*] }
    };
    let (white_space, base) = match of.facets.first() {
        None => (quote! { Collapse }, quote! { ::castile::datatypes::Token }),
        Some((_, said, span)) => match said.as_str() {
            "collapse" => (quote! { Collapse }, quote! { ::castile::datatypes::Token }),
            "replace" => (quote! { Replace }, quote! { ::castile::datatypes::NormalizedString }),
            "preserve" => (quote! { Preserve }, quote! { ::std::string::String }),
            _ => return Err(syn::Error::new(*span, WHITE_SPACE)),
        },
    };
    let definition = quote! {
        castile_codegen_::declared::Definition::Restriction {
            base: <#base as castile_codegen_::declared::Declared>::declaration,
            facets: #facets,
        }
    };
    let kind = match beyond {
        true => quote! { <::std::string::String as castile_codegen_::declared::Declared>::KIND },
        false => quote! { castile_codegen_::declared::TypeKind::Listed(#facets) },
    };
    let declaration = simple(&expansion, &name, &of.documentation, &kind, &definition);
    let rest = quote! {
        const _: () = {
            use castile_codegen_::SimpleType;

            impl SimpleType for #ident {
                const NAME: &'static str = #name;
                const IS_OF_CONTRACT: bool = true;

                fn parse(text: &str) -> ::core::result::Result<Self, ::core::option::Option<::std::string::String>> {
                    match &*castile_codegen_::xs::WhiteSpace::#white_space.normalise(text) {
                        #(#read)*
                        #read_other
                    }
                }

                fn write(&self, out: &mut ::std::vec::Vec<u8>) -> bool {
                    let text = match self {
                        #(#write)*
                        #write_other
                    };
                    castile_codegen_::push_text(out, text)
                }
            }

            castile_codegen_::simple_type!(#ident);
            castile_codegen_::facet_value!(#ident);
        };
        #declaration
    };
    Ok(expansion.code(Vec::new(), rest))
}

fn union(input: &DeriveInput, of: &TypeAttributes, data: &DataEnum) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let expansion = Expansion::new(ident, of)?;
    let mut members = Vec::new();
    for variant in &data.variants {
        let said = FieldAttributes::read(&variant.attrs)?;
        said.refuse(&[], "a member of a union")?;
        if let Some((_, span)) = said.role {
            return Err(syn::Error::new(span, "a member of a union is a value of a simple type"));
        }
        members.push((&variant.ident, variant_type(variant, "a value of a simple type")?));
    }
    let name = of.name(ident)?;
    let reads = members.iter().map(|(variant, of)| {
        quote! {
            if let ::core::result::Result::Ok(value) = <#of as SimpleType>::parse_in(text, scope) {
                return ::core::result::Result::Ok(Self::#variant(value));
            }
        }
    });
    let has_names = members.iter().map(|(_, of)| quote! { || <#of as SimpleType>::HAS_NAMES });
    let heap = members.iter().map(|(_, of)| quote! { .max(<#of as SimpleType>::heap_size(text)) });
    let variants: Vec<_> = members.iter().map(|(variant, _)| variant).collect();
    let declared = members.iter().map(|(_, of)| quote! { <#of as castile_codegen_::declared::Declared>::declaration });
    let definition = quote! { castile_codegen_::declared::Definition::Union(&[#(#declared),*]) };
    let kind = quote! { castile_codegen_::declared::TypeKind::Simple("xs:anySimpleType") };
    let declaration = simple(&expansion, &name, &of.documentation, &kind, &definition);
    let rest = quote! {
        const _: () = {
            use ::castile::datatypes::{Prefixes, Scope, SimpleType, Unscoped};

            impl SimpleType for #ident {
                const NAME: &'static str = #name;
                const HAS_NAMES: bool = false #(#has_names)*;
                const IS_OF_CONTRACT: bool = true;

                fn parse(text: &str) -> ::core::result::Result<Self, ::core::option::Option<::std::string::String>> {
                    Self::parse_in(text, &Unscoped)
                }

                fn parse_in(
                    text: &str,
                    scope: &dyn Scope,
                ) -> ::core::result::Result<Self, ::core::option::Option<::std::string::String>> {
                    #(#reads)*
                    ::core::result::Result::Err(::core::option::Option::None)
                }

                fn heap_size(text: &str) -> usize {
                    0usize #(#heap)*
                }

                fn write(&self, out: &mut ::std::vec::Vec<u8>) -> bool {
                    match self { #(Self::#variants(value) => SimpleType::write(value, out),)* }
                }

                fn write_in(&self, out: &mut ::std::vec::Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
                    match self { #(Self::#variants(value) => SimpleType::write_in(value, out, prefixes),)* }
                }
            }

            castile_codegen_::simple_type!(#ident);
            castile_codegen_::facet_value!(#ident);
        };
        #declaration
    };
    Ok(expansion.code(Vec::new(), rest))
}

// ---- choices ----

fn choice(input: &DeriveInput, of: &TypeAttributes, data: &DataEnum) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let mut expansion = Expansion::new(ident, of)?;
    let mut members: Vec<(Member, proc_macro2::Span)> = Vec::new();
    let mut plans = Vec::new();
    let mut sizes = Vec::new();
    let mut text = None;
    for variant in &data.variants {
        let said = FieldAttributes::read(&variant.attrs)?;
        match said.role {
            Some((Role::Text, span)) => {
                said.refuse(&[], "text between elements")?;
                if text.is_some() || !is_called(variant_type(variant, "a text")?, "String") {
                    return Err(syn::Error::new(
                        span,
                        "expected only one variant for the text between elements, with a `String`",
                    ));
                }
                text = Some(names::Ident::new(&variant.ident.to_string()));
                continue;
            }
            None | Some((Role::Flattened | Role::Any, _)) => {}
            Some((Role::Itself, span)) => return Err(syn::Error::new(span, ITSELF)),
            Some((_, span)) => {
                return Err(syn::Error::new(span, "a variant of a choice is an element, `any`, or `flatten`"));
            }
        }
        let of_variant = variant_type(variant, "the value of its element")?;
        if let Some(inner) = generic_argument(of_variant, "Option") {
            return Err(syn::Error::new_spanned(
                inner,
                "a variant of a choice always has a value, expected no `Option`",
            ));
        }
        sizes.push((variant.ident.clone(), of_variant.clone()));
        if let Some(wrap) = &said.wrap {
            return Err(syn::Error::new_spanned(
                wrap,
                "a variant can't have an element around it: use a struct with one field",
            ));
        }
        let (mut member, mut plan) = member(&mut expansion, of, &variant.ident, of_variant, &said, Case::Camel)?;
        if member.max != Some(1) {
            // An empty list would not show which variant it is.
            (member.min, plan.min_occurs) = (member.min.max(1), plan.min_occurs.max(1));
        }
        members.push((member, variant.ident.span()));
        plans.push(plan);
    }
    differ(elements(&members))?;
    if text.is_some() && members.is_empty() {
        return Err(syn::Error::new_spanned(
            ident,
            "text without elements is a `String`, expected variants with elements",
        ));
    }
    let members: Vec<Member> = members.into_iter().map(|(member, _)| member).collect();
    let planned = Choice {
        path: expansion.itself(),
        table: names::Ident::new(ELEMENTS),
        documentation: String::new(),
        text: text.clone(),
        order: None,
        variants: plans,
    };
    let name = of.name(ident)?;
    let declaration = Complex {
        ident,
        name: Some(name.clone()),
        documentation: &of.documentation,
        extends: of.extends.as_ref(),
        attributes: &[],
        any_attributes: None,
        content: ContentOf::Choice(&members),
    };
    let mut checks = is_small(ident, &sizes);
    checks.extend(sound(&expansion, &members));
    let mut rest = declaration.code(&expansion, &checks);
    // A choice with text can only be used in mixed content.
    if text.is_none() {
        rest.extend(element_of_group(&expansion, &name));
    }
    Ok(expansion.code(vec![Item::Choice(planned)], rest))
}

// ---- base types with their derived types ----

fn types(input: &DeriveInput, of: &TypeAttributes, data: &DataEnum) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let mut expansion = Expansion::new(ident, of)?;
    if !expansion.is_qualified() {
        let message =
            "types that extend others need a namespace, and their elements must be in it, because `xsi:type` uses it";
        return Err(syn::Error::new_spanned(ident, message));
    }
    let of_type = of.name(ident)?;
    let mut variants = Vec::new();
    let mut checks = TokenStream::new();
    let all_said =
        data.variants.iter().map(|variant| FieldAttributes::read(&variant.attrs)).collect::<syn::Result<Vec<_>>>()?;
    let has_itself = all_said.iter().any(|said| said.role() == Some(Role::Itself));
    let mut extended_by = Vec::new();
    let mut names = Vec::new();
    let mut itself = None;
    let mut other = None;
    let mut sizes = Vec::new();
    for (variant, said) in data.variants.iter().zip(all_said) {
        sizes.push((variant.ident.clone(), variant_type(variant, "a type that extends this one")?.clone()));
        if said.role() == Some(Role::Other) {
            said.refuse(&[], "the variant for unknown types")?;
            variant_type(variant, "a `castile::AnyType`")?;
            if other.is_some() {
                return Err(syn::Error::new_spanned(variant, "another variant is already `other`"));
            }
            other = Some(names::Ident::new(&variant.ident.to_string()));
            continue;
        }
        let is_itself = said.role() == Some(Role::Itself);
        if let Some((_, span)) = said.role.filter(|_| !is_itself) {
            let message = "a variant is a type that extends this one, `itself`, or `other`";
            return Err(syn::Error::new(span, message));
        }
        let of_variant = variant_type(variant, "a type that extends this one")?;
        let (held, inner) = match generic_argument(of_variant, "Box") {
            Some(inner) => (Storage::Boxed, inner),
            None => (Storage::InPlace, of_variant),
        };
        if ["Nillable", "NillableWithAttributes"].iter().any(|nil| generic_argument(inner, nil).is_some()) {
            let message =
                format!("a variant must contain the type itself: use `Nillable<{ident}>` in a field of this type");
            return Err(syn::Error::new_spanned(inner, message));
        }
        let namespace = expansion.namespace();
        let of_inner = shown(inner);
        let (name, called_so) = if is_itself {
            said.refuse(&[], "the type itself")?;
            if itself.is_some() {
                return Err(syn::Error::new_spanned(variant, "another variant is already `itself`"));
            }
            itself = Some(inner.clone());
            let message = format!(
                "`{of_inner}` is the type {of_type} itself, so both need the same name and namespace: add `#[xml(name \
                 = \"…\")]` to the enum or to `{of_inner}`"
            );
            (of_type.clone(), message)
        } else {
            said.refuse(&[FieldAttribute::Name], "a type")?;
            extended_by.push(inner.clone());
            let message = format!(
                "`{of_inner}` does not extend `{ident}`: add `#[xml(extends = {ident})]` to it, or to a type that it \
                 extends"
            );
            checks.extend(quote_spanned! { inner.span() =>
                castile_codegen_::declared::is_derived_from(
                    <#inner as castile_codegen_::declared::Declared>::DECLARATION,
                    <#ident as castile_codegen_::declared::Declared>::DECLARATION,
                    #message,
                );
            });
            let name = said.name.as_ref().map_or_else(|| Case::AsItIs.name(&variant.ident), syn::LitStr::value);
            if !has_itself && name == of_type {
                let message = format!(
                    "`{of_inner}` has the name of `{ident}`, but no variant is the type itself: add `#[xml(itself)]` \
                     to this one"
                );
                return Err(syn::Error::new_spanned(variant, message));
            }
            let message = format!(
                "the name of `{of_inner}` is not {name}, or its namespace is not that of `{ident}`: add `#[xml(name = \
                 \"…\")]` to the variant"
            );
            (name, message)
        };
        names.push((name.clone(), variant.ident.span()));
        checks.extend(quote_spanned! { inner.span() =>
            castile_codegen_::is_called(<#inner as ::castile::FromXml>::TYPE, #namespace, #name, #called_so);
            castile_codegen_::is_of(<#inner as ::castile::ToXml>::NAMESPACE, #namespace);
        });
        let planned = DerivedVariant {
            ident: names::Ident::new(&variant.ident.to_string()),
            documentation: String::new(),
            name: TypeName { namespace: NAMESPACE.to_owned(), name: name.clone() },
            base: expansion.base(inner),
            storage: held,
            tag: (!is_itself).then_some(name),
        };
        // Values without `xsi:type` are of the first variant.
        variants.insert(if is_itself { 0 } else { variants.len() }, planned);
    }
    differ(names.iter().map(|(name, span)| (None, name.as_str(), *span)))?;
    let is_open = other.is_some();
    let planned = Derived {
        path: expansion.itself(),
        table: names::Ident::new(ELEMENTS),
        documentation: String::new(),
        is_abstract: itself.is_none(),
        variants,
        other,
    };
    checks.extend(is_small(ident, &sizes));
    let mut rest = extended(&expansion, &of_type, &of.documentation, itself.as_ref(), &extended_by, is_open);
    rest.extend(checked(&checks));
    Ok(expansion.code(vec![Item::Derived(planned)], rest))
}
