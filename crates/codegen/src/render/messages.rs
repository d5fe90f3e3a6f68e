//! Renders messages: the table of operations, and types for header blocks and fault details.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::documentation::{self, documentation};
use super::types::{begins, first_of};
use super::{Context, base, boxed, boxed_reader, by_index, element, value as value_of};
use castile_plan::plan::{
    Base, Content, Element, FaultVariant, Faults, Field, Item, Message, Operation, Payload, Repeats, Root, RootType,
    Service, Storage, Struct, TypedRoot,
};

/// Renders the table of a service's operations.
pub(super) fn table(plan: &Service, context: Context<'_>) -> TokenStream {
    let operations = plan.operations.iter().map(|operation| {
        let Operation { name, action, request_action, response_action, .. } = operation;
        let request = payload(&operation.request, context);
        let response = operation.response.as_ref().map(|response| {
            let response = payload(response, context);
            quote! { .with_response(#response) }
        });
        let of_request = understood(&operation.request, context);
        let of_response = operation.response.iter().flat_map(|response| understood(response, context));
        let of_response: Vec<_> = of_response.collect();
        let headers = (!of_request.is_empty() || !of_response.is_empty())
            .then(|| quote! { .with_headers(&[#(#of_request),*], &[#(#of_response),*]) });
        let actions = (request_action != action || !response_action.is_empty())
            .then(|| quote! { .with_actions(#request_action, #response_action) });
        let of_faults = operation.faults.iter().flat_map(|faults| &faults.variants);
        let of_faults: Vec<_> = of_faults.filter_map(|variant| variant.action.as_ref()).collect();
        let fault_actions = (!of_faults.is_empty()).then(|| quote! { .with_fault_actions(&[#(#of_faults),*]) });
        quote! { Operation::new(#name, #action, #request) #response #actions #fault_actions #headers }
    });
    let name = &plan.names.operations;
    let count = Literal::usize_unsuffixed(plan.operations.len());
    let documentation =
        format!("The operations of `{}`, for programs that make and read messages themselves.", plan.name);
    let documentation = documentation::line(&documentation);
    quote! {
        #documentation
        pub static #name: [Operation; #count] = [#(#operations),*];
    }
}

/// Returns the elements of the header blocks that are understood.
fn understood(message: &Message, context: Context<'_>) -> Vec<TokenStream> {
    let elements = message.headers.iter().map(|of| {
        let of = root_type(of, context);
        quote! { <#of as ::castile::Header>::ELEMENT }
    });
    elements.collect()
}

fn payload(message: &Message, context: Context<'_>) -> TokenStream {
    match &message.payload {
        Payload::Element(Root { element: of, is_encoded, wraps_parts, start, end, .. }) => {
            let element = element(of, context);
            let encoded = is_encoded.then(|| quote! { .encoded() });
            let wrapping_parts = wraps_parts.then(|| quote! { .wrapping_parts() });
            quote! { Root::new(#element, #start, #end) #encoded #wrapping_parts }
        }
        Payload::Nothing => quote! { Root::of_body("<soap:Body>", &[]) },
        Payload::Content { path, start } => {
            let first = match context.items.get(path) {
                Some(Item::Struct(Struct { content: Content::Sequence(fields), .. })) => first(begins(fields), context),
                Some(Item::Struct(Struct { content: Content::All(fields), .. })) => first(fields, context),
                _ => Vec::new(),
            };
            quote! { Root::of_body(#start, &[#(#first),*]) }
        }
    }
}

/// Returns what fields may start with. It doesn't use the table of their type, which may be private in another module.
fn first(fields: &[Field], context: Context<'_>) -> Vec<TokenStream> {
    let elements: Vec<TokenStream> =
        fields.iter().filter_map(Field::element).map(|declared| element(declared, context)).collect();
    let elements = (!elements.is_empty()).then(|| quote! { xs::First::Elements(&[#(#elements),*]) });
    elements.into_iter().chain(fields.iter().filter_map(|field| first_of(field, context))).collect()
}

fn root_type(of: &RootType, context: Context<'_>) -> TokenStream {
    match of {
        RootType::Own(path) => context.path(path),
        RootType::Wrapper(ident) => quote! { #ident },
    }
}

/// Returns, for an independent element, the wrapper type around its value, the conversion to it, and the expression for
/// the value. The first two are `None` if there is no wrapper.
fn typed(plan: &TypedRoot, context: Context<'_>) -> (Option<TokenStream>, Option<TokenStream>, TokenStream) {
    let TypedRoot { of, documentation: text, base: value, .. } = plan;
    let RootType::Wrapper(ident) = of else { return (None, None, quote! { self }) };
    let (text, unused, of_value) = (documentation(text), context.allow_unused(), base(value, context));
    let wrapper = quote! {
        #text
        #[derive(Clone, Debug, PartialEq)]
        #unused
        pub struct #ident(pub #of_value);
    };
    (Some(wrapper), Some(quote! { .map(Self) }), quote! { &self.0 })
}

/// Renders the call that writes an independent element.
fn write_root(root: &Root, base: &Base, inner: &TokenStream, context: Context<'_>) -> TokenStream {
    let Root { element: Element { namespace, name, .. }, start, end, .. } = root;
    if context.own.is_some() || context.is_own(base) {
        let (namespace, start) = (context.namespace(namespace), format!("<{name}>"));
        return quote! { out.own_root(#namespace, #start, #inner, #end) };
    }
    quote! { out.element(#start, #inner, #end) }
}

/// Renders a header block as a value.
pub(super) fn header(plan: &TypedRoot, context: Context<'_>) -> TokenStream {
    let Root { element: declared, is_encoded, start, end, .. } = &plan.root;
    let (wrapper, wrap, inner) = typed(plan, context);
    let (read, write) = match (is_encoded, &wrap) {
        (false, None) => {
            (quote! { decoder.root(Self::ELEMENT).map(Some) }, write_root(&plan.root, &plan.base, &inner, context))
        }
        (false, Some(_)) => (
            quote! { Ok(Some(Self(decoder.root(Self::ELEMENT)?))) },
            write_root(&plan.root, &plan.base, &inner, context),
        ),
        (true, None) => {
            (quote! { decoder.independent(Self::ELEMENT) }, quote! { out.independent(#start, Some(#inner), #end) })
        }
        (true, Some(wrap)) => (
            quote! { Ok(decoder.independent(Self::ELEMENT)? #wrap) },
            quote! { out.independent(#start, Some(#inner), #end) },
        ),
    };
    let (element, of) = (element(declared, context), root_type(&plan.of, context));
    quote! {
        #wrapper
        impl ::castile::Header for #of {
            const ELEMENT: &'static Element = &#element;

            fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
                #read
            }

            fn write(&self, out: &mut Encoder) {
                #write;
            }
        }
    }
}

/// Renders a document as a value.
pub(super) fn document(plan: &TypedRoot, context: Context<'_>) -> TokenStream {
    let (wrapper, wrap, inner) = typed(plan, context);
    let write = write_root(&plan.root, &plan.base, &inner, context);
    let (element, of) = (element(&plan.root.element, context), root_type(&plan.of, context));
    quote! {
        #wrapper
        impl ::castile::Document for #of {
            const ELEMENT: &'static Element = &#element;

            fn read(decoder: &mut Decoder<'_>) -> Result<Self, Error> {
                decoder.root(Self::ELEMENT) #wrap
            }

            fn write(&self, out: &mut Encoder) {
                #write;
            }
        }
    }
}

/// Renders the implementation for reading repeated elements of a document or message item by item.
pub(super) fn repeats(plan: &Repeats, context: Context<'_>) -> TokenStream {
    let Repeats { of, through, element: declared, value } = plan;
    let (of, value) = (root_type(of, context), value_of(value, Storage::InPlace, context));
    let through = through.iter().map(|(namespace, name)| {
        let namespace = context.namespace(namespace);
        quote! { (#namespace, #name) }
    });
    let element = element(declared, context);
    quote! {
        impl ::castile::document::Repeats<#value> for #of {
            const PATH: &'static ::castile::codegen::ItemPath = {
                static ITEMS: Element = #element;
                &::castile::codegen::ItemPath::to(&[#(#through),*], &ITEMS)
            };
        }
    }
}

/// Renders the fault details of an operation.
pub(super) fn fault_detail(plan: &Faults, context: Context<'_>) -> TokenStream {
    let Faults { ident, variants, .. } = plan;
    let declared = variants.iter().map(|variant| {
        let documentation = documentation(&variant.documentation);
        let (name, held) = (&variant.ident, boxed(base(&variant.base, context), variant.storage));
        quote! { #documentation #name(#held) }
    });
    let implementation = implementation_of_faults(plan, context);
    quote! {
        /// What a fault can say.
        #[allow(clippy::enum_variant_names, reason = "the contract requires it")]
        #[derive(Clone, Debug, PartialEq)]
        pub enum #ident { #(#declared),* }

        #implementation
    }
}

/// Renders the implementations for reading and writing fault details.
pub(super) fn implementation_of_faults(plan: &Faults, context: Context<'_>) -> TokenStream {
    let Faults { ident, variants, details } = plan;
    let elements = variants.iter().map(|variant| element(&variant.root.element, context));
    let boxed_reader = boxed_reader();
    let reads = variants.iter().map(|FaultVariant { ident, storage, root, .. }| {
        let read = match root.is_encoded {
            false => quote! { decoder.root(element) },
            true => quote! { decoder.independent_value(element) },
        };
        let unboxed = (*storage == Storage::Boxed).then(|| quote! { .map(#boxed_reader::value) });
        quote! { #read #unboxed .map(Self::#ident) }
    });
    let read = by_index(&quote! { index }, &reads.collect::<Vec<_>>());
    let writes = variants.iter().map(|variant| {
        let FaultVariant { ident: name, storage, root: Root { start, end, is_encoded, .. }, .. } = variant;
        let value = if *storage == Storage::Boxed {
            quote! { &**detail }
        } else {
            quote! { detail }
        };
        match is_encoded {
            false => {
                let write = write_root(&variant.root, &variant.base, &value, context);
                quote! { Self::#name(detail) => #write }
            }
            true => quote! { Self::#name(detail) => out.independent(#start, Some(#value), #end) },
        }
    });
    let count = variants.len().saturating_sub(*details);
    let header_blocks = (count > 0).then(|| {
        let count = Literal::usize_unsuffixed(count);
        quote! { const HEADER_BLOCKS: usize = #count; }
    });
    let index = match &variants[..] {
        [_] => quote! { 0 },
        _ => {
            let indices = variants.iter().enumerate().map(|(index, FaultVariant { ident, .. })| {
                let index = Literal::usize_unsuffixed(index);
                quote! { Self::#ident(_) => #index }
            });
            quote! { match self { #(#indices,)* } }
        }
    };
    quote! {
        impl FaultDetail for #ident {
            const ELEMENTS: &'static [Element] = &[#(#elements),*];
            #header_blocks

            fn read(decoder: &mut Decoder<'_>, index: usize) -> Result<Self, Error> {
                let element = &Self::ELEMENTS[index];
                #read
            }

            fn write(&self, out: &mut Encoder) {
                match self { #(#writes,)* }
            }

            fn index(&self) -> usize {
                #index
            }
        }
    }
}

/// Renders an alias for the fault details of an operation that equal those of another operation.
pub(super) fn same_faults(operation: &str, plan: &Faults, like: &Faults) -> TokenStream {
    let (ident, of) = (&plan.ident, &like.ident);
    let documentation =
        documentation::line(&format!("The detail of a fault of `{operation}`, which is that of `{of}`."));
    quote! {
        #documentation
        pub type #ident = #of;
    }
}
