//! Header blocks, documents, and details of faults.

use castile_plan::plan::{Element, FaultVariant, Faults, Root, RootType, Storage, TypedRoot};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Fields, Type};

use crate::attributes::{Case, FieldAttribute, FieldAttributes, TypeAttributes, ncname};
use crate::expansion::Expansion;
use crate::fields::{differ, generic_argument};
use crate::placeholders::NAMESPACE;

/// Creates an element of a message, in the namespace of the type.
pub(crate) fn root(expansion: &mut Expansion, name: &str) -> Root {
    let element = Element {
        namespace: NAMESPACE.to_owned(),
        name: name.to_owned(),
        slot: expansion.slot(),
        constraint: None,
        facets: None,
        types: None,
    };
    Root {
        element,
        is_encoded: false,
        wraps_parts: false,
        type_name: None,
        // The code that writes the element declares the prefixes that the type needs.
        start: format!("<{name}>"),
        end: format!("</{name}>"),
    }
}

/// Generates the declaration of an element in the contract.
fn declared(expansion: &Expansion, name: &str, of: &TokenStream) -> TokenStream {
    let namespace = expansion.namespace();
    quote! {
        castile_codegen_::declared::DeclaredElement {
            name: castile_codegen_::xs::TypeName::new(#namespace, #name),
            of: <#of as castile_codegen_::declared::Declared>::declaration,
            is_nillable: <#of as castile_codegen_::declared::Declared>::IS_NILLABLE,
        }
    }
}

/// Generates a header block from a type.
pub(crate) fn header(input: &DeriveInput) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let of = TypeAttributes::read(&input.attrs)?;
    let mut expansion = Expansion::new(ident, &of)?;
    let name = element_name(&of, ident)?;
    if expansion.is_in_none() {
        return Err(syn::Error::new(ident.span(), "a header block must be in a namespace (SOAP 1.1 §4.2)"));
    }
    let block = TypedRoot {
        of: RootType::Own(expansion.itself()),
        documentation: String::new(),
        base: castile_plan::plan::Base::Rust(expansion.itself().ident.as_str().into()),
        root: root(&mut expansion, &name),
    };
    let element = declared(&expansion, &name, &quote! { #ident });
    let rest = quote! {
        impl castile_codegen_::declared::DeclaredHeader for #ident {
            fn element() -> castile_codegen_::declared::DeclaredElement {
                #element
            }
        }
    };
    Ok(expansion.code_of(|program| program.header(&block), rest))
}

/// Generates a document from a type.
pub(crate) fn document(input: &DeriveInput) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let of = TypeAttributes::read(&input.attrs)?;
    let mut expansion = Expansion::new(ident, &of)?;
    let name = element_name(&of, ident)?;
    let document = TypedRoot {
        of: RootType::Own(expansion.itself()),
        documentation: String::new(),
        base: castile_plan::plan::Base::Rust(expansion.itself().ident.as_str().into()),
        root: root(&mut expansion, &name),
    };
    Ok(expansion.code_of(|program| program.document(&document), TokenStream::new()))
}

/// Returns the name of the element that has this type.
fn element_name(of: &TypeAttributes, ident: &syn::Ident) -> syn::Result<String> {
    match &of.element {
        Some(name) => Ok(name.value()),
        None => ncname(Case::Camel.name(ident), ident.span()),
    }
}

/// Generates fault details from a type: an enum of elements, or one element.
pub(crate) fn fault_detail(input: &DeriveInput) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let of = TypeAttributes::read(&input.attrs)?;
    let mut expansion = Expansion::new(ident, &of)?;
    let Data::Enum(data) = &input.data else {
        return Ok(one_detail(&expansion, &element_name(&of, ident)?));
    };
    let mut variants = Vec::new();
    let mut elements = Vec::new();
    let mut names = Vec::new();
    for variant in &data.variants {
        let said = FieldAttributes::read(&variant.attrs)?;
        said.refuse(&[FieldAttribute::Name], "a fault detail")?;
        if let Some((_, span)) = said.role {
            return Err(syn::Error::new(span, "a fault detail is an element, so it can't have this option"));
        }
        let held: &Type = match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => &fields.unnamed[0].ty,
            _ => {
                let message = format!("a variant must contain the fault detail, such as `{}(…)`", variant.ident);
                return Err(syn::Error::new_spanned(variant, message));
            }
        };
        let (inner, how) = match generic_argument(held, "Box") {
            Some(inner) => (inner, Storage::Boxed),
            None => (held, Storage::InPlace),
        };
        let name = of.name_of(&variant.ident, &said, Case::Camel)?;
        names.push((name.clone(), variant.ident.span()));
        elements.push(declared(&expansion, &name, &quote! { #inner }));
        variants.push(FaultVariant {
            ident: castile_plan::names::Ident::new(&variant.ident.to_string()),
            action: None,
            documentation: String::new(),
            base: expansion.base(inner),
            storage: how,
            root: root(&mut expansion, &name),
        });
    }
    if variants.is_empty() {
        return Err(syn::Error::new_spanned(
            ident,
            "an operation whose faults have no detail uses `castile::Fault` without a type",
        ));
    }
    differ(names.iter().map(|(name, span)| (None, name.as_str(), *span)))?;
    let details = variants.len();
    let planned = Faults { ident: expansion.itself().ident, variants, details };
    let rest = quote! {
        impl castile_codegen_::declared::DeclaredDetails for #ident {
            fn elements() -> ::std::vec::Vec<castile_codegen_::declared::DeclaredElement> {
                ::std::vec::Vec::from([#(#elements),*])
            }
        }
    };
    Ok(expansion.code_of(|program| program.faults(&planned), rest))
}

/// Generates the fault details of a type that is the only detail.
fn one_detail(expansion: &Expansion, name: &str) -> TokenStream {
    let (ident, namespace) = (expansion.ident(), expansion.namespace());
    let element = declared(expansion, name, &quote! { #ident });
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    quote! {
        const _: () = {
            use ::castile::codegen as castile_codegen_;
            use ::castile::codegen::{Decoder, Element, Encoder, Error};

            impl castile_codegen_::FaultDetail for #ident {
                const ELEMENTS: &'static [Element] = &[Element::new(#namespace, #name, 0)];

                fn read(decoder: &mut Decoder<'_>, index: usize) -> ::core::result::Result<Self, Error> {
                    decoder.root(&Self::ELEMENTS[index])
                }

                fn write(&self, out: &mut Encoder) {
                    out.own_root(#namespace, #start, self, #end)
                }

                fn index(&self) -> usize {
                    0
                }
            }

            impl castile_codegen_::declared::DeclaredDetails for #ident {
                fn elements() -> ::std::vec::Vec<castile_codegen_::declared::DeclaredElement> {
                    ::std::vec::Vec::from([#element])
                }
            }
        };
    }
}
