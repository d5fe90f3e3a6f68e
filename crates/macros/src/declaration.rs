//! Generates the declaration of a type, from which the contract is written.

use castile_plan::plan::Wildcard;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Path, Type};

use crate::expansion::Expansion;
use crate::fields::{self, Member, MemberKind};
use crate::placeholders::{ATTRIBUTES, ELEMENTS};

/// A complex type.
pub(crate) struct Complex<'a> {
    pub(crate) ident: &'a Ident,
    /// The name, or `None` for a type that is declared inline.
    pub(crate) name: Option<String>,
    pub(crate) documentation: &'a str,
    pub(crate) extends: Option<&'a Path>,
    pub(crate) attributes: &'a [AttributeOf],
    pub(crate) any_attributes: Option<&'a Wildcard>,
    pub(crate) content: ContentOf<'a>,
}

pub(crate) enum ContentOf<'a> {
    Text(&'a Type),
    /// Mixed content: text, and the elements of an enum.
    Mixed(&'a Type),
    Sequence(&'a [Member]),
    Choice(&'a [Member]),
    All(&'a [Member]),
}

pub(crate) struct AttributeOf {
    pub(crate) name: String,
    /// The namespace, or `None` for an attribute without a namespace.
    pub(crate) namespace: Option<Expr>,
    pub(crate) of: Type,
    pub(crate) is_required: bool,
    pub(crate) default: Option<String>,
    pub(crate) is_fixed: bool,
    pub(crate) documentation: String,
    pub(crate) span: Span,
}

impl Complex<'_> {
    /// Generates the declaration. `checks` are expressions that the compiler evaluates too.
    pub(crate) fn code(&self, expansion: &Expansion, checks: &TokenStream) -> TokenStream {
        self.code_with(&quote::format_ident!("{ELEMENTS}"), expansion, checks)
    }

    /// Generates the declaration of a type whose elements are in `table`.
    pub(crate) fn code_with(&self, table: &Ident, expansion: &Expansion, checks: &TokenStream) -> TokenStream {
        let Complex { ident, extends, any_attributes, .. } = self;
        let declared = quote! { castile_codegen_::declared };
        let (content, members): (_, &[Member]) = match self.content {
            ContentOf::Text(of) => (Some(quote! { text::<#of>() }), &[]),
            ContentOf::Mixed(of) => (Some(quote! { mixed::<#of>() }), &[]),
            ContentOf::Sequence(members) => (None, members),
            ContentOf::Choice(members) => (Some(quote! { choice::<Self>() }), members),
            ContentOf::All(members) => (Some(quote! { all::<Self>() }), members),
        };
        let content = content.map(|content| {
            quote! { const CONTENT: #declared::ContentDefinition = #declared::ContentDefinition::#content; }
        });
        let (wildcards, types) = types(self.attributes, members, expansion);
        let parts = (!self.attributes.is_empty() || !members.is_empty()).then(|| {
            let attributes = match self.attributes {
                [] => quote! { castile_codegen_::xs::Attributes::NONE },
                _ => quote::format_ident!("{ATTRIBUTES}").into_token_stream(),
            };
            let elements = match members.iter().any(|member| member.kind == MemberKind::Element) {
                true => quote! { #table },
                false => quote! { [] },
            };
            quote! { const PARTS: #declared::Parts = #declared::Parts::of::<#types>(&#attributes, &#elements); }
        });
        let said = members.iter().any(|member| !member.documentation.is_empty()).then(|| {
            let said = members.iter().map(|member| &member.documentation);
            quote! { const MEMBER_DOCUMENTATION: &'static [&'static str] = &[#(#said),*]; }
        });
        let is_said = |attribute: &AttributeOf| attribute.default.is_some() || !attribute.documentation.is_empty();
        let said_of_attributes = self.attributes.iter().any(is_said).then(|| {
            let said = self.attributes.iter().map(|attribute| {
                let AttributeOf { default, is_fixed, documentation, .. } = attribute;
                let default = option(default.as_ref());
                quote! { (#default, #is_fixed, #documentation) }
            });
            quote! { const ATTRIBUTE_DETAILS: &'static [#declared::AttributeDetails] = &[#(#said),*]; }
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
            None => quote! { const KIND: #declared::TypeKind = #declared::TypeKind::Unnamed(Self::DECLARATION); },
        };
        let documentation = documentation(self.documentation);
        let extension = extends.map(|base| extension(ident, base));
        // The compiler reports these errors at the fields.
        let declared_members = members.iter().filter(|member| member.kind != MemberKind::Any).map(|member| &member.of);
        let types_of_parts = declared_members.chain(self.attributes.iter().map(|attribute| &attribute.of));
        let doubtful = types_of_parts.filter(|of| fields::max_bytes(of).is_none());
        let doubtful = doubtful.map(|of| quote_spanned! { of.span() => castile_codegen_::can_be_declared::<#of>(); });
        let checks = checked(&quote! { #checks #(#doubtful)* #extension });
        quote! {
            #wildcards
            impl #declared::Declared for #ident {
                #name #documentation #base #parts #said_of_attributes #any_attributes #said #content
            }
            #checks
        }
    }
}

/// Generates the declaration of an enum of derived types. Values of the type `itself` have no `xsi:type`.
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

/// Generates the check that a type extends its base type.
fn extension(ident: &Ident, base: &Path) -> TokenStream {
    let shown = shown(base);
    let no_enum = format!(
        "`{ident}` extends `{shown}`, which is not an enum with `#[xml(derived)]`: make an enum of both types with \
         one variant `#[xml(itself)]`, and extend the enum"
    );
    let itself = format!(
        "`{ident}` extends itself, or is in a chain of more than 64 types that extend each other: remove `extends` \
         from the type that is `#[xml(itself)]` in its enum"
    );
    let namespace = format!("`{ident}` is in a different namespace than `{shown}`, which it extends");
    let attributes = format!(
        "`{ident}` lacks an attribute of `{shown}`, or has a different one in its place: a type has all attributes of \
         the type that it extends, and its `any_attributes`"
    );
    let text = format!("`{ident}` extends `{shown}`: either both have the same text, or both have elements");
    let elements = format!(
        "`{ident}` doesn't begin with the elements of `{shown}`: they come first, in the same order, with the same \
         types, defaults and occurrence. A choice and elements in any order can't be extended by more elements"
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

/// Returns a type as the program writes it.
pub(crate) fn shown(of: &impl quote::ToTokens) -> String {
    of.to_token_stream().to_string().replace(' ', "")
}

/// Generates the declaration of a simple type.
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
            const KIND: castile_codegen_::declared::TypeKind = castile_codegen_::declared::TypeKind::Restriction(#name, &#kind);
            const DECLARATION: &'static castile_codegen_::declared::Declaration =
                &castile_codegen_::declared::Declaration::simple::<Self>(#name, #documentation, #definition);
        }
    }
}

/// Wraps expressions in a constant, so that the compiler evaluates them.
pub(crate) fn checked(checks: &TokenStream) -> Option<TokenStream> {
    (!checks.is_empty()).then(|| quote! { const _: () = { #checks }; })
}

/// Generates the constant with the name of a complex type.
fn named(expansion: &Expansion, name: &str) -> TokenStream {
    let namespace = expansion.namespace();
    quote! { const NAME: (&'static str, &'static str) = (#namespace, #name); }
}

/// Generates the constant with the documentation of a complex type, if there is any.
fn documentation(documentation: &str) -> Option<TokenStream> {
    (!documentation.is_empty()).then(|| quote! { const DOCUMENTATION: &'static str = #documentation; })
}

fn type_name(expansion: &Expansion, name: &str) -> TokenStream {
    let namespace = expansion.namespace();
    quote! { castile_codegen_::xs::TypeName::new(#namespace, #name) }
}

/// Generates the namespaces that a wildcard accepts.
fn namespaces(any: &Wildcard, expansion: &Expansion) -> TokenStream {
    let namespace = expansion.namespace();
    let namespaces = match any {
        Wildcard::Any => quote! { Any },
        Wildcard::Not(_) => quote! { Not(#namespace) },
        Wildcard::OneOf(list) => quote! { OneOf(&[#(#list),*]) },
    };
    quote! { castile_codegen_::xs::Namespaces::#namespaces }
}

/// Generates the types of attributes and of members, and the namespaces of their wildcards.
fn types(attributes: &[AttributeOf], members: &[Member], expansion: &Expansion) -> (TokenStream, TokenStream) {
    let mut wildcards = TokenStream::new();
    let types_of_attributes = attributes.iter().map(|AttributeOf { of, is_required, .. }| match is_required {
        true => quote! { castile_codegen_::declared::Of<#of> },
        false => quote! { castile_codegen_::declared::Optional<#of> },
    });
    let mut types: Vec<TokenStream> = types_of_attributes.collect();
    types.extend(members.iter().enumerate().map(|(number, Member { of, kind, min, max, any, .. })| {
        let max = match max {
            Some(max) => quote! { #max },
            None => quote! { { castile_codegen_::declared::UNBOUNDED } },
        };
        match kind {
            MemberKind::Element => quote! { castile_codegen_::declared::Of<#of> },
            MemberKind::Flattened => {
                quote! { castile_codegen_::declared::Flattened<#of, #min, #max> }
            }
            MemberKind::Any => {
                let namespaces = any.as_ref().map(|any| namespaces(any, expansion));
                let takes = quote::format_ident!("CastileTakes{number}");
                wildcards.extend(quote! {
                    struct #takes;

                    impl castile_codegen_::declared::Takes for #takes {
                        const NAMESPACES: castile_codegen_::xs::Namespaces = #namespaces;
                    }
                });
                quote! { castile_codegen_::declared::Wildcard<#takes, #min, #max> }
            }
        }
    }));
    (wildcards, row(types))
}

/// The number of types in the longest tuple that is supported.
const MAX_TUPLE: usize = 12;

/// Combines the types into one tuple, or into several nested ones.
fn row(types: Vec<TokenStream>) -> TokenStream {
    let tuples = types.chunks(MAX_TUPLE).map(|types| quote! { (#(#types,)*) });
    let together = |rest, first| quote! { castile_codegen_::declared::And<#first, #rest> };
    tuples.rev().reduce(together).unwrap_or_else(|| quote! { () })
}

pub(crate) fn option<T: quote::ToTokens>(value: Option<&T>) -> TokenStream {
    match value {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    }
}
