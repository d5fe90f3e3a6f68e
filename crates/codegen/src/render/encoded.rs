//! Renders structs and arrays in SOAP encoding, their tables, and their implementations for reading and writing.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::documentation::documentation;
use super::{Context, base, boxed_reader, by_index, element, pointed};
use castile_plan::plan::{Accessor, EncodedArray, EncodedRole, EncodedStruct, EncodedValue, Storage, TypeName};

pub(super) fn structure(plan: &EncodedStruct, context: Context<'_>) -> TokenStream {
    let EncodedStruct { path, table, accessors, .. } = plan;
    let (derives, attributes_of_type) = context.extras(path);
    let ident = &path.ident;
    let documentation = documentation(&plan.documentation);
    let unused = context.allow_unused();
    let declared = accessors.iter().map(|accessor| {
        let documentation = super::documentation::documentation(&accessor.documentation);
        let (ident, value) = (&accessor.ident, value(&accessor.value, accessor.storage, context));
        let held = if accessor.is_repeated {
            quote! { Vec<Option<#value>> }
        } else {
            quote! { Option<#value> }
        };
        quote! { #documentation pub #ident: #held, }
    });
    let elements = accessors.iter().map(|accessor| element(&accessor.element, context));
    let count = Literal::usize_unsuffixed(accessors.len());
    let read = read(plan);
    let type_name = match &plan.role {
        EncodedRole::Value(Some(name)) => {
            let name = type_name(name, context);
            quote! {
                const TYPE: Option<xs::TypeName> = Some(#name);
                const TYPE_IS_FIXED: bool = true;
            }
        }
        EncodedRole::Value(None) | EncodedRole::Call { .. } => quote! {},
    };
    let result = match &plan.role {
        EncodedRole::Call { result: Some(result) } => Some(quote! { out.rpc_result(#result); }),
        _ => None,
    };
    let write = accessors.iter().map(write);
    let out = if accessors.is_empty() {
        quote! { _ }
    } else {
        quote! { out }
    };
    quote! {
        #documentation
        #[derive(Clone, Debug, Default, PartialEq #derives)]
        #attributes_of_type
        #unused
        pub struct #ident { #(#declared)* }

        static #table: [Element; #count] = [#(#elements),*];

        impl FromXml for #ident {
            const ATTRIBUTES: &'static xs::Attributes = &xs::Attributes::ANY;
            #type_name

            fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
                #read
            }
        }

        impl ToXml for #ident {
            fn content(&self, #out: &mut Encoder) {
                #result
                #(#write)*
            }
        }
    }
}

fn read(plan: &EncodedStruct) -> TokenStream {
    let EncodedStruct { path, table, accessors, role, .. } = plan;
    let ident = &path.ident;
    let is_call = matches!(role, EncodedRole::Call { .. });
    let locals = accessors.iter().enumerate().map(|(index, accessor)| {
        let (local, index) = (super::types::local(&accessor.ident), Literal::usize_unsuffixed(index));
        match (accessor.is_repeated, is_call) {
            (true, _) => quote! { let mut #local = Vec::new(); },
            // For a call it matters which accessors are present.
            (false, true) => quote! { let mut #local = None; },
            (false, false) => quote! { let mut #local = decoder.in_order(&#table, #index)?; },
        }
    });
    let arms = accessors.iter().enumerate().map(|(index, accessor)| {
        let (local, index) = (super::types::local(&accessor.ident), Literal::usize_unsuffixed(index));
        match accessor.is_repeated {
            true => quote! { decoder.accessor_of(&mut #local, &#table, #index)? },
            false => quote! { decoder.accessor(&mut #local, &#table, #index)? },
        }
    });
    let arms: Vec<TokenStream> = arms.collect();
    let next = match is_call {
        true => quote! { decoder.next_part(&#table, &mut parts)? },
        false => quote! { decoder.next_accessor(&#table)? },
    };
    let parts = is_call.then(|| quote! { let mut parts = Default::default(); });
    let others = match arms.len() {
        0 => quote! { while #next.is_some() {} },
        1 => {
            let read = by_index(&quote! { index }, &arms);
            quote! { while #next.is_some() { #read; } }
        }
        _ => {
            let read = by_index(&quote! { index }, &arms);
            quote! { while let Some(index) = #next { #read } }
        }
    };
    let values = accessors.iter().map(|accessor| {
        let (ident, local) = (&accessor.ident, super::types::local(&accessor.ident));
        if accessor.storage == Storage::Boxed {
            let boxed = boxed_reader();
            quote! { #ident: #boxed::optional(#local) }
        } else if *ident == local {
            quote! { #ident }
        } else {
            quote! { #ident: #local }
        }
    });
    quote! {
        let outer = decoder.enter(element);
        #(#locals)*
        #parts
        #others
        let value = #ident { #(#values),* };
        decoder.leave(element, outer)?;
        Ok(value)
    }
}

fn write(accessor: &Accessor) -> TokenStream {
    let Accessor { ident, element, start, .. } = accessor;
    let end = format!("</{}>", element.name);
    let write = match (accessor.is_repeated, accessor.is_optional) {
        (true, _) => quote! { accessors },
        (false, true) if accessor.storage == Storage::Boxed => quote! { optional_boxed },
        (false, true) => quote! { optional },
        (false, false) if accessor.storage == Storage::Boxed => quote! { accessor_boxed },
        (false, false) => quote! { accessor },
    };
    quote! { out.#write(#start, &self.#ident, #end); }
}

pub(super) fn array(plan: &EncodedArray, context: Context<'_>) -> TokenStream {
    let EncodedArray { path, table, ranks, start, tag, .. } = plan;
    let (derives, attributes_of_type) = context.extras(path);
    let ident = &path.ident;
    let documentation = documentation(&plan.documentation);
    let unused = context.allow_unused();
    let item = value(&plan.value, plan.storage, context);
    let element = element(&plan.item, context);
    let item_type = type_name(&plan.item_type, context);
    let rank = Literal::usize_unsuffixed(plan.rank);
    let (held, read, dimensions, items, conversions) = match plan.rank {
        1 => (
            quote! { Vec<Option<#item>> },
            quote! { items },
            quote! { &[self.0.len()] },
            quote! { &self.0 },
            Some(quote! { ::castile::codegen::array! { #ident, #item } }),
        ),
        _ => (
            quote! { ::castile::Array<#item> },
            quote! { array },
            quote! { self.0.dimensions() },
            quote! { self.0.items() },
            None,
        ),
    };
    let end = format!("</{}>", plan.item.name);
    quote! {
        #documentation
        #[derive(Clone, Debug, Default, PartialEq #derives)]
        #attributes_of_type
        #unused
        pub struct #ident(pub #held);

        static #table: xs::ArrayType = xs::ArrayType {
            item: #element,
            item_type: #item_type,
            ranks: #ranks,
            rank: #rank,
        };

        impl FromXml for #ident {
            const ATTRIBUTES: &'static xs::Attributes = &xs::Attributes::ANY;

            fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
                decoder.#read(element, &#table).map(Self)
            }
        }

        impl ToXml for #ident {
            const HAS_ATTRIBUTES: bool = true;

            fn attributes(&self, out: &mut Encoder) {
                out.array_type(#tag, #ranks, #rank, #dimensions);
            }

            fn content(&self, out: &mut Encoder) {
                out.accessors(#start, #items, #end);
            }
        }

        #conversions
    }
}

fn value(value: &EncodedValue, held: Storage, context: Context<'_>) -> TokenStream {
    let base = pointed(base(&value.base, context), held);
    if value.is_shared {
        quote! { ::castile::Shared<#base> }
    } else {
        base
    }
}

fn type_name(name: &TypeName, context: Context<'_>) -> TokenStream {
    let (namespace, name) = (context.namespace(&name.namespace), &name.name);
    quote! { xs::TypeName::new(#namespace, #name) }
}
