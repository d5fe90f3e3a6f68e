//! Renders services: the trait to implement, the server and the client.

use castile_wsdl::{Addressing, Responses, Version};
use castile_xml::visible;
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};

use super::documentation::{self, documentation};
use super::{Context, ServerFiles, base, by_index, messages};
use crate::Options;
use castile_plan::Document;
use castile_plan::names::{Ident, ServiceNames};
use castile_plan::plan::{Base, Message, Operation, Service};

/// Renders the trait, the server and the client. Unused code is allowed, because a program may use only the server or
/// only the client.
pub(super) fn render(plan: &Service, options: &Options, context: Context<'_>) -> TokenStream {
    let server = options.server.then(|| server(plan, context));
    let client = options.client.then(|| client(plan, context));
    quote! { #server #client }
}

/// Renders the tables and the description of the service with this number.
pub(super) fn tables(
    plan: &Service,
    number: usize,
    server_files: ServerFiles<'_>,
    options: &Options,
    context: Context<'_>,
) -> TokenStream {
    let table = messages::table(plan, context);
    let description = description(plan, number, server_files, options);
    quote! { #description #table }
}

/// Returns the type of the content of a message.
fn payload(message: &Message, context: Context<'_>) -> TokenStream {
    match &message.base {
        Base::Nothing => quote! { () },
        of => base(of, context),
    }
}

fn answer(operation: &Operation, context: Context<'_>) -> TokenStream {
    operation.response.as_ref().map_or_else(|| quote! { () }, |response| payload(response, context))
}

fn server(plan: &Service, context: Context<'_>) -> TokenStream {
    let ServiceNames { port_type, server, contract, .. } = &plan.names;
    let description = description_name(plan);
    let trait_documentation = documentation(&plan.port_type_documentation);
    let methods = plan.operations.iter().map(|operation| {
        let Operation { ident, .. } = operation;
        let documentation = documentation(&operation.documentation);
        let (request, answer) = (payload(&operation.request, context), answer(operation, context));
        let detail = operation.faults.as_ref().map(|faults| {
            let ident = &faults.ident;
            quote! { <#ident> }
        });
        quote! {
            #documentation
            fn #ident(&self, request: ::castile::Request<#request>)
                -> impl Future<Output = Result<::castile::Response<#answer>, Fault #detail>> + Send;
        }
    });
    // The method is called by its path in the trait. Otherwise a method with the name `clone` or `into` would be that
    // of `Shared`.
    let arms = plan.operations.iter().map(|Operation { ident, .. }| quote! { payload.call(service, T::#ident) });
    let dispatched = by_index(&quote! { operation }, &arms.collect::<Vec<_>>());
    let operation = if plan.operations.len() > 1 {
        quote! { operation }
    } else {
        quote! { _ }
    };
    let server_documentation = format!(" A [`{port_type}`] as a tower service for SOAP over HTTP.");
    let contract_documentation = format!(" The contract of [`{port_type}`].");
    quote! {
        #trait_documentation
        #[allow(dead_code, reason = "a program may be only a client")]
        pub trait #port_type: Send + Sync + 'static { #(#methods)* }

        #[doc = #server_documentation]
        #[allow(dead_code, reason = "a program may be only a client")]
        pub type #server<T> = ContractServer<#contract, T>;

        #[doc = #contract_documentation]
        pub enum #contract {}

        impl<T: #port_type> Contract<T> for #contract {
            const DESCRIPTION: &'static Description = &#description;

            fn dispatch(service: ::castile::codegen::Shared<T>, #operation: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
                #dispatched
            }
        }
    }
}

/// Renders the static description of a service.
fn description(plan: &Service, number: usize, server_files: ServerFiles<'_>, options: &Options) -> TokenStream {
    let Service { name, namespace, documentation, .. } = plan;
    let address = plan.address();
    let ident = description_name(plan);
    let operations = &plan.names.operations;
    // Only a server shows the documents.
    let documents = options.server.then(|| {
        let documents = server_files.documents.iter().map(|Document { file, query, imports, .. }| {
            if imports.is_empty() && query == "wsdl" {
                return quote! { SoapDocument::wsdl(include_str!(#file)) };
            }
            let imports = imports.iter().map(|(location, query)| quote! { (#location, #query) });
            quote! { SoapDocument::new(#query, include_str!(#file), &[#(#imports),*]) }
        });
        quote! { .with_documents(&[#(#documents),*], #address) }
    });
    let documentation = (!documentation.is_empty()).then(|| quote! { .with_documentation(#documentation) });
    let version =
        matches!(plan.versions.first(), Some(Version::Soap12)).then(|| quote! { .with_version(SoapVersion::Soap12) });
    let mtom = plan.is_mtom.then(|| quote! { .with_mtom() });
    let addressing = declared(plan.addressing);
    let page = server_files.page.map(|file| {
        let number = Literal::usize_unsuffixed(number);
        quote! { .with_page(::castile::codegen::ServicePage::new(include_str!(#file), #number)) }
    });
    let own = documentation::line(&format!("The service `{name}`."));
    quote! {
        #own
        pub static #ident: Description =
            Description::new(#name, #namespace, &#operations) #documents #documentation #version #mtom #addressing #page;
    }
}

fn description_name(plan: &Service) -> &Ident {
    &plan.names.description
}

/// Renders the WS-Addressing declaration of the contract, if there is one.
fn declared(addressing: Option<Addressing>) -> Option<TokenStream> {
    let Addressing { required, responses } = addressing?;
    let responses = match responses {
        Responses::Anywhere if !required => return None,
        Responses::Anywhere => quote! { Anywhere },
        Responses::Anonymous => quote! { Anonymous },
        Responses::NonAnonymous => quote! { NonAnonymous },
    };
    let addressing = quote! { ::castile::codegen::addressing };
    Some(quote! {
        .with_addressing(#addressing::Declared { required: #required, responses: #addressing::Responses::#responses })
    })
}

pub(super) fn client(plan: &Service, context: Context<'_>) -> TokenStream {
    let ServiceNames { client, operations, .. } = &plan.names;
    let description = description_name(plan);
    let methods = plan.operations.iter().enumerate().map(|(index, operation)| {
        let Operation { ident, request, .. } = operation;
        let index = Literal::usize_unsuffixed(index);
        let documentation = documentation(&operation.documentation);
        let (of_request, answer) = (payload(request, context), answer(operation, context));
        let detail =
            operation.faults.as_ref().map_or_else(|| quote! { NoDetail }, |faults| faults.ident.to_token_stream());
        let (parameter, value, lifetime) = match request.base {
            Base::Nothing => (None, quote! { &() }, quote! { '_ }),
            _ => (Some(quote! { , request: &'a #of_request }), quote! { request }, quote! { 'a }),
        };
        let (generics, this) = match request.base {
            Base::Nothing => (None, quote! { &self }),
            _ => (Some(quote! { <'a> }), quote! { &'a self }),
        };
        let call = if operation.response.is_some() {
            quote! { call }
        } else {
            quote! { one_way }
        };
        quote! {
            #documentation
            pub fn #ident #generics(#this #parameter) -> ::castile::Call<#lifetime, #of_request, #answer, #detail, S> {
                self.0.#call(&#operations[#index], #value)
            }
        }
    });
    let speaks = match plan.versions.as_slice() {
        [] | [Version::Soap11] => "",
        [Version::Soap12, ..] => ", in SOAP 1.2",
        _ => ", in SOAP 1.1",
    };
    let client_documentation = format!("A client of `{}` over any HTTP transport{speaks}.", plan.name);
    let client_documentation = documentation::line(&client_documentation);
    // The address is written as code in a line of documentation, which a backtick or a line feed would end.
    let address = (!plan.address().is_empty()).then(|| visible(&plan.address().replace('`', "%60")).into_owned());
    let address = address.map(|address| quote! { , #address });
    quote! {
        #client_documentation
        #[derive(Clone, Debug)]
        pub struct #client<S = Transport>(Caller<S>);

        ::castile::codegen::constructors!(#client, #description #address);

        #[allow(dead_code, reason = "a program may use only a part of this")]
        impl<S: HttpService> #client<S> {
            #(#methods)*
        }
    }
}
