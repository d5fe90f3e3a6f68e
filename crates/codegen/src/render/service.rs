//! Services: the trait to be implemented, the server and the client.

use castile_wsdl::Version;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::documentation::documentation;
use super::{Context, base, by_index, element};
use crate::Options;
use crate::names::ServiceNames;
use crate::plan::{FaultVariant, Faults, Operation, Root, Service};

/// The trait, the server and the client. A program may use one half and not the other: nothing of that is dead code.
pub(super) fn render(plan: &Service, wsdl: &str, options: &Options, context: Context<'_>) -> TokenStream {
    let server = options.server.then(|| server(plan, wsdl, context));
    let client = options.client.then(|| client(plan, context));
    quote! { #server #client }
}

/// What faults can say, and the table of operations.
pub(super) fn tables(plan: &Service, context: Context<'_>) -> TokenStream {
    let faults = plan.operations.iter().filter_map(|operation| operation.faults.as_ref());
    let faults = faults.map(|faults| fault_detail(faults, context));
    let table = table(plan, context);
    quote! { #(#faults)* #table }
}

fn table(plan: &Service, context: Context<'_>) -> TokenStream {
    let operations = plan.operations.iter().map(|operation| {
        let Operation { name, action, .. } = operation;
        let (request, response) = (root(&operation.request.root, context), root(&operation.response.root, context));
        quote! {
            Operation {
                name: #name,
                action: #action,
                request: #request,
                response: #response,
                response_size: SizeHint::new(),
            }
        }
    });
    let name = &plan.names.operations;
    let count = Literal::usize_unsuffixed(plan.operations.len());
    let documentation = format!(" The operations of `{}`, for those who make and read messages themselves.", plan.name);
    quote! {
        #[doc = #documentation]
        pub static #name: [Operation; #count] = [#(#operations),*];
    }
}

fn root(root: &Root, context: Context<'_>) -> TokenStream {
    let Root { start, end, .. } = root;
    let element = element(&root.element, context);
    quote! { Root { element: #element, start: #start, end: #end } }
}

fn fault(operation: &Operation) -> TokenStream {
    match &operation.faults {
        None => quote! { Fault },
        Some(faults) => {
            let ident = &faults.ident;
            quote! { Fault<#ident> }
        }
    }
}

fn server(plan: &Service, wsdl: &str, context: Context<'_>) -> TokenStream {
    let Service { name, namespace, address, .. } = plan;
    let ServiceNames { port_type, server, dispatch, operations, .. } = &plan.names;
    let documentation_text = &plan.documentation;
    let trait_documentation = documentation(&plan.port_type_documentation);
    let methods = plan.operations.iter().map(|operation| {
        let Operation { ident, .. } = operation;
        let documentation = documentation(&operation.documentation);
        let (request, response) = (base(&operation.request.base, context), base(&operation.response.base, context));
        let fault = fault(operation);
        quote! {
            #documentation
            fn #ident(&self, request: #request) -> impl Future<Output = Result<#response, #fault>> + Send;
        }
    });
    let arms = plan.operations.iter().map(|Operation { ident, .. }| {
        // Named by the trait: a method that is called `clone` or `into` is not the one of `Arc`.
        quote! { payload.handle(async move |request| T::#ident(&service, request).await) }
    });
    let dispatched = by_index(&quote! { operation }, &arms.collect::<Vec<_>>());
    let operation = if plan.operations.len() > 1 {
        quote! { operation }
    } else {
        quote! { _ }
    };
    let dispatch_documentation = format!(" Hands each request to the method of a [`{port_type}`] that answers it.");
    let server_documentation = format!(" A [`{port_type}`] as a tower service that speaks SOAP over HTTP.");
    quote! {
        #trait_documentation
        #[allow(dead_code, reason = "a program may be a client alone")]
        pub trait #port_type: Send + Sync + 'static { #(#methods)* }

        #[doc = #server_documentation]
        pub struct #server<T>(Endpoint<#dispatch<T>>);

        #[allow(dead_code, reason = "a program may use one constructor and not the other")]
        impl<T: #port_type> #server<T> {
            /// A server with the default options.
            pub fn new(service: T) -> Self {
                Self::with_options(service, EndpointOptions::default())
            }

            /// A server with limits and timeouts of its own.
            pub fn with_options(service: T, options: EndpointOptions) -> Self {
                Self(Endpoint::with_options(#dispatch(Arc::new(service)), options))
            }
        }

        impl<T> Clone for #server<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T: #port_type> From<#server<T>> for Endpoint<dyn SoapService> {
            fn from(server: #server<T>) -> Self {
                server.0.boxed()
            }
        }

        impl<T: #port_type, B: RequestBody> TowerService<HttpRequest<B>>
            for #server<T>
        {
            type Response = HttpResponse;
            type Error = Infallible;
            type Future = ResponseFuture;

            fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
                Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: HttpRequest<B>) -> Self::Future {
                TowerService::call(&mut self.0, request)
            }
        }

        #[doc = #dispatch_documentation]
        struct #dispatch<T>(Arc<T>);

        impl<T: #port_type> Dispatch for #dispatch<T> {
            const DESCRIPTION: &'static Description = &Description {
                name: #name,
                namespace: #namespace,
                documentation: #documentation_text,
                wsdl: include_str!(#wsdl),
                address: #address,
                operations: &#operations,
            };

            fn dispatch(&self, #operation: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
                let service = self.0.clone();
                #dispatched
            }
        }
    }
}

fn client(plan: &Service, context: Context<'_>) -> TokenStream {
    let ServiceNames { client, operations, .. } = &plan.names;
    let methods = plan.operations.iter().enumerate().map(|(index, operation)| {
        let Operation { ident, .. } = operation;
        let index = Literal::usize_unsuffixed(index);
        let documentation = documentation(&operation.documentation);
        let (request, response) = (base(&operation.request.base, context), base(&operation.response.base, context));
        let detail = operation.faults.as_ref().map(|faults| {
            let ident = &faults.ident;
            quote! { <#ident> }
        });
        quote! {
            #documentation
            pub async fn #ident(&self, request: &#request) -> Result<#response, CallError #detail> {
                self.0.call(&#operations[#index], request).await
            }
        }
    });
    let (version, speaks) = match plan.versions.first() {
        Some(Version::Soap12) => (quote! { .map(|caller| caller.with_version(SoapVersion::Soap12)) }, "SOAP 1.2"),
        _ => (quote! {}, "SOAP 1.1"),
    };
    let client_documentation = match plan.versions.as_slice() {
        [] | [Version::Soap11] => format!(" A client of `{}` over any HTTP transport.", plan.name),
        _ => format!(" A client of `{}` over any HTTP transport, in {speaks}.", plan.name),
    };
    let with_version = (plan.versions.len() > 1).then(|| {
        let documentation = format!(" The same in another version of SOAP than {speaks}; the service has both.");
        quote! {
            #[doc = #documentation]
            pub fn with_version(self, version: SoapVersion) -> Self {
                Self(self.0.with_version(version))
            }
        }
    });
    let connect_documentation = match plan.address.as_str() {
        "" => " A client of the service at `url`.".to_owned(),
        address => format!(" A client of the service at `url`; the contract names `{}`.", address.replace('`', "%60")),
    };
    quote! {
        #[doc = #client_documentation]
        #[derive(Clone, Debug)]
        pub struct #client<S = Transport>(Caller<S>);

        #[allow(dead_code, reason = "a program may bring a transport of its own")]
        impl #client {
            #[doc = #connect_documentation]
            ///
            /// # Errors
            /// That `url` is not an absolute `http` URL.
            pub fn new(url: &str) -> Result<Self, HttpError> {
                Caller::new(url) #version .map(Self)
            }
        }

        #[allow(dead_code, reason = "a program may use some of this and not the rest")]
        impl<S: HttpService> #client<S> {
            /// A client over a transport of your own: any tower service that answers HTTP requests.
            ///
            /// # Errors
            /// That `url` is not a URL.
            pub fn with_transport(url: &str, transport: S) -> Result<Self, HttpError> {
                Caller::with_transport(url, transport) #version .map(Self)
            }

            /// The same with other limits on what responses may take.
            pub fn with_limits(self, limits: Limits) -> Self {
                Self(self.0.with_limits(limits))
            }

            /// The same that takes responses which deviate from the contract, and tells what it tolerated.
            pub fn with_leniency(self, leniency: Leniency) -> Self {
                Self(self.0.with_leniency(leniency))
            }

            #with_version

            #(#methods)*
        }
    }
}

fn fault_detail(plan: &Faults, context: Context<'_>) -> TokenStream {
    let Faults { ident, variants } = plan;
    let declared = variants.iter().map(|variant| {
        let documentation = documentation(&variant.documentation);
        let (name, base) = (&variant.ident, base(&variant.base, context));
        quote! { #documentation #name(#base) }
    });
    let elements = variants.iter().map(|variant| element(&variant.root.element, context));
    let reads = variants.iter().map(|FaultVariant { ident, .. }| quote! { decoder.root(element).map(Self::#ident) });
    let read = by_index(&quote! { index }, &reads.collect::<Vec<_>>());
    let writes = variants.iter().map(|variant| {
        let (name, start, end) = (&variant.ident, &variant.root.start, &variant.root.end);
        quote! { Self::#name(detail) => out.element(#start, detail, #end) }
    });
    quote! {
        /// What a fault of the operation can say.
        #[derive(Clone, Debug, PartialEq)]
        pub enum #ident { #(#declared),* }

        impl FaultDetail for #ident {
            const ELEMENTS: &'static [Element] = &[#(#elements),*];

            fn read(decoder: &mut Decoder<'_>, index: usize) -> Result<Self, Error> {
                let element = &Self::ELEMENTS[index];
                #read
            }

            fn write(&self, out: &mut Encoder) {
                match self { #(#writes,)* }
            }
        }
    }
}
