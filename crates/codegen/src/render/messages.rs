//! Messages: the table of operations, and types for header blocks and for what faults say.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::documentation::{self, documentation};
use super::types::{begins, first_of};
use super::{Context, base, boxed, boxed_reader, by_index, element};
use crate::plan::{
    Content, FaultVariant, Faults, Field, Header, HeaderBlock, HeaderStruct, Held, Item, Message, Operation, Payload,
    Root, Service, Struct,
};

/// The table of a service's operations.
pub(super) fn table(plan: &Service, context: Context<'_>) -> TokenStream {
    let operations = plan.operations.iter().map(|operation| {
        let Operation { name, action, request_action, response_action, .. } = operation;
        let request = payload(&operation.request, context);
        let response = match &operation.response {
            None => quote! { None },
            Some(response) => {
                let response = payload(response, context);
                quote! { Some(#response) }
            }
        };
        let request_header = match &operation.request.header {
            Some(header @ Header::Declared(_)) => {
                let (of, header_trait) = (header_type(header, context), header_trait());
                quote! { <#of as #header_trait>::ELEMENTS }
            }
            Some(Header::Any) | None => quote! { &[] },
        };
        quote! {
            Operation {
                name: #name,
                action: #action,
                actions: ::castile::codegen::Actions { request: #request_action, response: #response_action },
                request: #request,
                response: #response,
                request_header: #request_header,
                response_size: SizeHint::new(),
            }
        }
    });
    let name = &plan.names.operations;
    let count = Literal::usize_unsuffixed(plan.operations.len());
    let documentation = format!("The operations of `{}`, for those who make and read messages themselves.", plan.name);
    let documentation = documentation::line(&documentation);
    quote! {
        #documentation
        pub static #name: [Operation; #count] = [#(#operations),*];
    }
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
            let item = context.plan.items.iter().find(|item| item.path() == path);
            let first = match item {
                Some(Item::Struct(Struct { content: Content::Sequence(fields), .. })) => first(begins(fields), context),
                Some(Item::Struct(Struct { content: Content::All(fields), .. })) => first(fields, context),
                _ => Vec::new(),
            };
            quote! { Root::of_body(#start, &[#(#first),*]) }
        }
    }
}

/// What fields may begin with. The type may be in another module, and its table is its own affair.
fn first(fields: &[Field], context: Context<'_>) -> Vec<TokenStream> {
    let elements: Vec<TokenStream> =
        fields.iter().filter_map(Field::element).map(|declared| element(declared, context)).collect();
    let elements = (!elements.is_empty()).then(|| quote! { xs::First::Elements(&[#(#elements),*]) });
    elements.into_iter().chain(fields.iter().filter_map(|field| first_of(field, context))).collect()
}

fn header_trait() -> TokenStream {
    quote! { ::castile::codegen::Header }
}

/// The type for the header of a message.
pub(super) fn header_type(header: &Header, context: Context<'_>) -> TokenStream {
    match header {
        Header::Any => quote! { Vec<::castile::AnyHeader> },
        Header::Declared(path) => context.path(path),
    }
}

/// The struct of those header blocks that are declared.
pub(super) fn header(plan: &HeaderStruct, context: Context<'_>) -> TokenStream {
    let HeaderStruct { path, documentation: text, blocks, others } = plan;
    let ident = &path.ident;
    let text = documentation(text);
    let fields = blocks.iter().map(|HeaderBlock { ident, documentation: text, base: of, held, .. }| {
        let (text, of) = (documentation(text), boxed(base(of, context), *held));
        quote! { #text pub #ident: Option<#of>, }
    });
    let names: Vec<_> = blocks.iter().map(|block| &block.ident).collect();
    let elements = blocks.iter().map(|block| element(&block.root.element, context));
    let boxed_reader = boxed_reader();
    let reads = blocks.iter().map(|HeaderBlock { ident, held, root, .. }| match (root.is_encoded, held) {
        (false, Held::Boxed) => quote! { self.#ident = Some(#boxed_reader::value(decoder.root(element)?)) },
        (false, _) => quote! { self.#ident = Some(decoder.root(element)?) },
        (true, Held::Boxed) => quote! { self.#ident = #boxed_reader::optional(decoder.independent(element)?) },
        (true, _) => quote! { self.#ident = decoder.independent(element)? },
    });
    let read = by_index(&quote! { index }, &reads.collect::<Vec<_>>());
    let writes =
        blocks.iter().map(|HeaderBlock { ident, held, root: Root { start, end, is_encoded, .. }, .. }| {
            match (is_encoded, held) {
                (false, Held::Boxed) => quote! { out.optional_boxed(#start, &self.#ident, #end); },
                (false, _) => quote! { out.optional(#start, &self.#ident, #end); },
                (true, Held::Boxed) => quote! { out.independent(#start, self.#ident.as_deref(), #end); },
                (true, _) => quote! { out.independent(#start, self.#ident.as_ref(), #end); },
            }
        });
    let header_trait = header_trait();
    quote! {
        #text
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct #ident {
            #(#fields)*
            /// Header blocks that the contract doesn't declare.
            pub #others: Vec<::castile::AnyHeader>,
        }

        impl #header_trait for #ident {
            const ELEMENTS: &'static [Element] = &[#(#elements),*];

            fn read(&mut self, decoder: &mut Decoder<'_>, index: usize) -> Result<(), Error> {
                let element = &Self::ELEMENTS[index];
                #read;
                Ok(())
            }

            fn keep(&mut self, block: ::castile::AnyHeader) {
                self.#others.push(block);
            }

            fn is_empty(&self) -> bool {
                #(self.#names.is_none() &&)* self.#others.is_empty()
            }

            fn write(&self, out: &mut Encoder) {
                #(#writes)*
            }

            fn others(&self) -> &[::castile::AnyHeader] {
                &self.#others
            }
        }
    }
}

/// What the faults of an operation can say.
pub(super) fn fault_detail(plan: &Faults, context: Context<'_>) -> TokenStream {
    let Faults { ident, variants, details } = plan;
    let declared = variants.iter().map(|variant| {
        let documentation = documentation(&variant.documentation);
        let (name, held) = (&variant.ident, boxed(base(&variant.base, context), variant.held));
        quote! { #documentation #name(#held) }
    });
    let elements = variants.iter().map(|variant| element(&variant.root.element, context));
    let boxed_reader = boxed_reader();
    let reads = variants.iter().map(|FaultVariant { ident, held, root, .. }| {
        let read = match root.is_encoded {
            false => quote! { decoder.root(element) },
            true => quote! { decoder.independent_value(element) },
        };
        let unboxed = (*held == Held::Boxed).then(|| quote! { .map(#boxed_reader::value) });
        quote! { #read #unboxed .map(Self::#ident) }
    });
    let read = by_index(&quote! { index }, &reads.collect::<Vec<_>>());
    let writes = variants.iter().map(|variant| {
        let FaultVariant { ident: name, held, root: Root { start, end, is_encoded, .. }, .. } = variant;
        let value = if *held == Held::Boxed {
            quote! { &**detail }
        } else {
            quote! { detail }
        };
        match is_encoded {
            false => quote! { Self::#name(detail) => out.element(#start, #value, #end) },
            true => quote! { Self::#name(detail) => out.independent(#start, Some(#value), #end) },
        }
    });
    let count = variants.len().saturating_sub(*details);
    let header_blocks = (count > 0).then(|| {
        let count = Literal::usize_unsuffixed(count);
        quote! { const HEADER_BLOCKS: usize = #count; }
    });
    let names = variants[*details..].iter().map(|variant| &variant.ident);
    let is_header = (count > 0).then(|| {
        quote! {
            fn is_header(&self) -> bool {
                matches!(self, #(Self::#names(_))|*)
            }
        }
    });
    let actions = variants.iter().map(|FaultVariant { ident, action, .. }| match action {
        Some(action) => quote! { Self::#ident(_) => Some(#action) },
        None => quote! { Self::#ident(_) => None },
    });
    quote! {
        /// What a fault of the operation can say.
        #[derive(Clone, Debug, PartialEq)]
        pub enum #ident { #(#declared),* }

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

            #is_header

            fn action(&self) -> Option<&'static str> {
                match self { #(#actions,)* }
            }
        }
    }
}
