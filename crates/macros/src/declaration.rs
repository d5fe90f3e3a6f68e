//! What a type says of itself, for the contract that is written from it.

use castile_plan::plan::Wildcard;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Path, Type};

use crate::expansion::{ATTRIBUTES, ELEMENTS, Expansion};
use crate::fields::{Kind, Member};

/// A complex type.
pub(crate) struct Complex<'a> {
    pub(crate) ident: &'a Ident,
    /// None for a type that is declared where it stands.
    pub(crate) name: Option<String>,
    pub(crate) documentation: &'a str,
    pub(crate) extends: Option<&'a Path>,
    pub(crate) attributes: &'a [AttributeOf],
    pub(crate) any_attributes: Option<&'a Wildcard>,
    pub(crate) content: ContentOf<'a>,
}

pub(crate) enum ContentOf<'a> {
    Text(&'a Type),
    /// Text, and the elements of an enum.
    Mixed(&'a Type),
    Sequence(&'a [Member]),
    Choice(&'a [Member]),
    All(&'a [Member]),
}

pub(crate) struct AttributeOf {
    pub(crate) name: String,
    /// None for an attribute in no namespace.
    pub(crate) namespace: Option<Expr>,
    pub(crate) of: Type,
    pub(crate) is_required: bool,
    pub(crate) default: Option<String>,
    pub(crate) is_fixed: bool,
    pub(crate) documentation: String,
    pub(crate) span: Span,
}

impl Complex<'_> {
    /// The declaration. `checks` are expressions that the compiler evaluates beside it.
    pub(crate) fn code(&self, expansion: &Expansion, checks: &TokenStream) -> TokenStream {
        self.code_with(&quote::format_ident!("{ELEMENTS}"), expansion, checks)
    }

    /// The declaration of a type whose elements are in this table.
    pub(crate) fn code_with(&self, table: &Ident, expansion: &Expansion, checks: &TokenStream) -> TokenStream {
        let Complex { ident, extends, any_attributes, .. } = self;
        let declared = quote! { castile_codegen_::declared };
        let (content, members): (_, &[Member]) = match self.content {
            ContentOf::Text(of) => (Some(quote! { text::<#of>() }), &[]),
            ContentOf::Mixed(of) => (Some(quote! { mixed::<#of>() }), &[]),
            ContentOf::Sequence(members) => (None, members),
            ContentOf::Choice(members) => (Some(quote! { choice(Self::MEMBERS) }), members),
            ContentOf::All(members) => (Some(quote! { all(Self::MEMBERS) }), members),
        };
        let content = content.map(|content| {
            quote! { const CONTENT: #declared::ContentDefinition = #declared::ContentDefinition::#content; }
        });
        let members = (!members.is_empty()).then(|| {
            let members = members_of(members, table, expansion);
            quote! { const MEMBERS: #declared::Members = #members; }
        });
        let attributes = (!self.attributes.is_empty()).then(|| {
            let types = self.attributes.iter().map(|attribute| &attribute.of);
            let uses = self.attributes.iter().map(|attribute| {
                let AttributeOf { is_required, default, is_fixed, documentation, .. } = attribute;
                let default = default.iter();
                quote! { (#is_required, &[#(#default)*], #is_fixed, #documentation) }
            });
            let table = quote::format_ident!("{ATTRIBUTES}");
            quote! {
                const ATTRIBUTES: #declared::AttributeUses = #declared::AttributeUses(
                    &[#(<#types as #declared::Declared>::ELEMENT),*],
                    &#table,
                    &[#(#uses),*],
                );
            }
        });
        let any_attributes = any_attributes.map(|any| {
            let namespaces = namespaces(any, expansion);
            quote! {
                const ANY_ATTRIBUTES: ::core::option::Option<castile_codegen_::xs::Namespaces> =
                    ::core::option::Option::Some(#namespaces);
            }
        });
        let base = extends.map(|base| {
            quote! {
                const BASE: ::core::option::Option<&'static #declared::Declaration> =
                    ::core::option::Option::Some(<#base as #declared::Declared>::DECLARATION);
            }
        });
        let name = match &self.name {
            Some(name) => named(expansion, name),
            None => quote! { const KIND: #declared::Kind = #declared::Kind::Unnamed(Self::DECLARATION); },
        };
        let documentation = documentation(self.documentation);
        let extension = extends.map(|base| extension(ident, base));
        let checks = checked(&quote! { #checks #extension });
        quote! {
            impl #declared::Declared for #ident { #name #documentation #base #attributes #any_attributes #members #content }
            #checks
        }
    }
}

/// An enum of types that extend each other. `itself` is the one that has its values without `xsi:type`.
pub(crate) fn extended(
    expansion: &Expansion,
    name: &str,
    documentation: &str,
    itself: Option<&Type>,
    by: &[Type],
    is_open: bool,
) -> TokenStream {
    let (ident, name, documentation) = (expansion.ident(), named(expansion, name), self::documentation(documentation));
    let itself =
        option(itself.map(|of| quote! { <#of as castile_codegen_::declared::Declared>::DECLARATION }).as_ref());
    quote! {
        impl castile_codegen_::declared::Declared for #ident {
            #name
            #documentation
            const DECLARATION: &'static castile_codegen_::declared::Declaration =
                &castile_codegen_::declared::Declaration::extended::<Self>(
                    #itself,
                    &[#(<#by as castile_codegen_::declared::Declared>::declaration),*],
                    #is_open,
                );
        }
    }
}

/// That a type extends another one.
fn extension(ident: &Ident, base: &Path) -> TokenStream {
    let shown = shown(base);
    let no_enum = format!(
        "`{ident}` extends `{shown}`, which is no enum with `#[xml(derived)]`: make an enum of both types, a variant of which is \
         `#[xml(itself)]`, and extend that"
    );
    let itself = format!(
        "`{ident}` extends itself: leave out `extends` at the type that is `itself` in an enum. At most 64 types extend each other in a row"
    );
    let namespace = format!("`{ident}` is in another namespace than `{shown}`, which it extends");
    let attributes = format!(
        "`{ident}` lacks an attribute of `{shown}`, or has another one in its place: a type has all attributes of the one that it extends, \
         and its `any_attributes`"
    );
    let text = format!("`{ident}` extends `{shown}`: either both have the same text, or both have elements");
    let elements = format!(
        "`{ident}` doesn't begin with the elements of `{shown}`: they come first and in their order, with the same types and \
         defaults, and as often. A choice and elements in any order are not extended by more elements"
    );
    quote_spanned! { base.span() =>
        castile_codegen_::declared::extends(
            <#ident as castile_codegen_::declared::Declared>::DECLARATION,
            <#base as castile_codegen_::declared::Declared>::DECLARATION,
            &castile_codegen_::declared::NotExtended {
                no_enum: #no_enum,
                itself: #itself,
                namespace: #namespace,
                attributes: #attributes,
                text: #text,
                elements: #elements,
            },
        );
    }
}

/// A type as a program writes it.
pub(crate) fn shown(of: &impl quote::ToTokens) -> String {
    of.to_token_stream().to_string().replace(' ', "")
}

/// The declaration of a simple type.
pub(crate) fn simple(
    expansion: &Expansion,
    name: &str,
    documentation: &str,
    kind: &TokenStream,
    definition: &TokenStream,
) -> TokenStream {
    let (ident, name) = (expansion.ident(), type_name(expansion, name));
    quote! {
        impl castile_codegen_::declared::Declared for #ident {
            const KIND: castile_codegen_::declared::Kind = castile_codegen_::declared::Kind::Restriction(#name, &#kind);
            const DECLARATION: &'static castile_codegen_::declared::Declaration =
                &castile_codegen_::declared::Declaration::simple::<Self>(#name, #documentation, #definition);
        }
    }
}

/// Expressions that the compiler evaluates.
pub(crate) fn checked(checks: &TokenStream) -> Option<TokenStream> {
    (!checks.is_empty()).then(|| quote! { const _: () = { #checks }; })
}

/// The constant that is the name of a complex type.
fn named(expansion: &Expansion, name: &str) -> TokenStream {
    let namespace = expansion.namespace();
    quote! { const NAME: (&'static str, &'static str) = (#namespace, #name); }
}

/// The constant that is the documentation of a complex type, if there is some.
fn documentation(documentation: &str) -> Option<TokenStream> {
    (!documentation.is_empty()).then(|| quote! { const DOCUMENTATION: &'static str = #documentation; })
}

fn type_name(expansion: &Expansion, name: &str) -> TokenStream {
    let namespace = expansion.namespace();
    quote! { castile_codegen_::xs::TypeName::new(#namespace, #name) }
}

/// The namespaces of what a wildcard takes.
fn namespaces(any: &Wildcard, expansion: &Expansion) -> TokenStream {
    let namespace = expansion.namespace();
    let namespaces = match any {
        Wildcard::Any => quote! { Any },
        Wildcard::Not(_) => quote! { Not(#namespace) },
        Wildcard::OneOf(list) => quote! { OneOf(&[#(#list),*]) },
    };
    quote! { castile_codegen_::xs::Namespaces::#namespaces }
}

/// The particles, of which those that are elements are in a table.
fn members_of(members: &[Member], table: &Ident, expansion: &Expansion) -> TokenStream {
    let particles = members.iter().map(|member| {
        let Member { of, kind, min, max, any, .. } = member;
        let what = match kind {
            Kind::Element => return quote! { <#of as castile_codegen_::declared::Declared>::ELEMENT },
            Kind::Flattened => quote! { content_of::<#of>() },
            Kind::Any => {
                let namespaces = any.as_ref().map(|any| namespaces(any, expansion));
                quote! { any(#namespaces) }
            }
        };
        let occurs = ((*min, *max) != (1, Some(1))).then(|| {
            let max = option(max.as_ref());
            quote! { .occurs(#min, #max) }
        });
        quote! { &castile_codegen_::declared::ParticleDeclaration::#what #occurs }
    });
    let elements = members.iter().any(|member| member.kind == Kind::Element).then_some(table);
    let elements = elements.map_or_else(|| quote! { [] }, |table| quote! { #table });
    let is_documented = members.iter().any(|member| !member.documentation.is_empty());
    let documentation = members.iter().filter(|_| is_documented).map(|member| &member.documentation);
    quote! { castile_codegen_::declared::Members(&[#(#particles),*], &#elements, &[#(#documentation),*]) }
}

pub(crate) fn option<T: quote::ToTokens>(value: Option<&T>) -> TokenStream {
    match value {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    }
}
