//! Services: the trait to be implemented, the server and the client.

use castile_wsdl::{Addressing, Responses, Version};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::documentation::documentation;
use super::{Context, base, by_index, messages};
use crate::Options;
use crate::names::ServiceNames;
use crate::plan::{Base, Message, Operation, Service};

/// The trait, the server and the client. A program may use one half and not the other: nothing of that is dead code.
pub(super) fn render(plan: &Service, wsdl: &str, options: &Options, context: Context<'_>) -> TokenStream {
    let server = options.server.then(|| server(plan, wsdl, options, context));
    let client = options.client.then(|| client(plan, context));
    quote! { #server #client }
}

/// What headers hold and faults can say, and the table of operations.
pub(super) fn tables(plan: &Service, context: Context<'_>) -> TokenStream {
    let headers = plan.headers.iter().map(|header| messages::header(header, context));
    let faults = plan.operations.iter().filter_map(|operation| operation.faults.as_ref());
    let faults = faults.map(|faults| messages::fault_detail(faults, context));
    let table = messages::table(plan, context);
    quote! { #(#headers)* #(#faults)* #table }
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

/// What a method takes and gives: nothing where there is nothing to be said.
struct Signature {
    request: Option<TokenStream>,
    header: Option<TokenStream>,
    answer: TokenStream,
}

impl Signature {
    fn of(operation: &Operation, context: Context<'_>) -> Self {
        let payload = |message: &Message| match &message.base {
            Base::Nothing => None,
            of => Some(base(of, context)),
        };
        let header = |message: &Message| message.header.as_ref().map(|header| messages::header_type(header, context));
        let answer = match operation.response.as_ref().map(|response| (payload(response), header(response))) {
            None | Some((None, None)) => quote! { () },
            Some((Some(response), None)) => response,
            Some((None, Some(header))) => header,
            Some((Some(response), Some(header))) => quote! { (#response, #header) },
        };
        Signature { request: payload(&operation.request), header: header(&operation.request), answer }
    }
}

fn is_nothing(message: &Message) -> bool {
    message.base == Base::Nothing
}

/// Hands a request to a method.
fn arm(operation: &Operation, options: &Options) -> TokenStream {
    let Operation { ident, request, response, .. } = operation;
    let (pattern, argument) =
        if is_nothing(request) { (quote! { () }, None) } else { (quote! { request }, Some(quote! { , request })) };
    let (header, header_argument) = match request.header {
        None => (quote! { () }, None),
        Some(_) => (quote! { header }, Some(quote! { , header })),
    };
    // Named by the trait: a method that is called `clone` or `into` is not the one of `Arc`.
    let context = options.context.then(|| quote! { , &context });
    let answer = quote! { T::#ident(&service #argument #header_argument #context).await };
    let Some(response) = response else {
        return quote! { payload.accept(async move |#pattern, #header| #answer) };
    };
    match (is_nothing(response), &request.header, &response.header) {
        (_, None, None) => quote! { payload.handle(async move |#pattern| #answer) },
        (_, Some(_), None) => {
            quote! { payload.handle_with(async move |#pattern, #header| #answer.map(|response| (response, ()))) }
        }
        (true, _, Some(_)) => {
            quote! { payload.handle_with(async move |#pattern, #header| #answer.map(|header| ((), header))) }
        }
        (false, _, Some(_)) => quote! { payload.handle_with(async move |#pattern, #header| #answer) },
    }
}

/// Sends a request.
fn call(operation: &Operation, table: &TokenStream) -> TokenStream {
    let Operation { request, response, .. } = operation;
    let value = if is_nothing(request) {
        quote! { &() }
    } else {
        quote! { request }
    };
    let header = if request.header.is_some() {
        quote! { header }
    } else {
        quote! { &() }
    };
    let Some(response) = response else {
        return quote! { self.0.send(#table, #value, #header).await };
    };
    match (is_nothing(response), &request.header, &response.header) {
        (_, None, None) => quote! { self.0.call(#table, #value).await },
        (_, _, None) => {
            quote! { self.0.call_with(#table, #value, #header).await.map(|(response, ())| response) }
        }
        (true, _, Some(_)) => {
            quote! { self.0.call_with(#table, #value, #header).await.map(|((), header)| header) }
        }
        (false, _, Some(_)) => quote! { self.0.call_with(#table, #value, #header).await },
    }
}

fn server(plan: &Service, wsdl: &str, options: &Options, context: Context<'_>) -> TokenStream {
    let Service { name, namespace, address, .. } = plan;
    let ServiceNames { port_type, server, dispatch, operations, .. } = &plan.names;
    let documentation_text = &plan.documentation;
    let trait_documentation = documentation(&plan.port_type_documentation);
    let methods = plan.operations.iter().map(|operation| {
        let Operation { ident, .. } = operation;
        let documentation = documentation(&operation.documentation);
        let Signature { request, header, answer } = Signature::of(operation, context);
        let (request, header) =
            (request.map(|of| quote! { , request: #of }), header.map(|of| quote! { , header: #of }));
        let fault = fault(operation);
        let context = options.context.then(|| quote! { , context: &::castile::Context });
        quote! {
            #documentation
            fn #ident(&self #request #header #context) -> impl Future<Output = Result<#answer, #fault>> + Send;
        }
    });
    let understands = options.headers.then(|| {
        quote! {
            /// Whether header blocks of this name are understood, so that they may say `mustUnderstand`. Those that
            /// the contract declares are.
            fn understands(&self, namespace: &str, local: &str) -> bool {
                let _ = (namespace, local);
                false
            }
        }
    });
    let understood = options.headers.then(|| {
        quote! {
            fn understands(&self, namespace: &str, local: &str) -> bool {
                T::understands(&self.0, namespace, local)
            }
        }
    });
    let arms = plan.operations.iter().map(|operation| arm(operation, options));
    let dispatched = by_index(&quote! { operation }, &arms.collect::<Vec<_>>());
    let operation = if plan.operations.len() > 1 {
        quote! { operation }
    } else {
        quote! { _ }
    };
    let addressing = declared(plan.addressing);
    let context = options.context.then(|| quote! { let context = payload.context(); });
    let dispatch_documentation = format!(" Hands each request to the method of a [`{port_type}`] that answers it.");
    let server_documentation = format!(" A [`{port_type}`] as a tower service that speaks SOAP over HTTP.");
    quote! {
        #trait_documentation
        #[allow(dead_code, reason = "a program may be a client alone")]
        pub trait #port_type: Send + Sync + 'static { #(#methods)* #understands }

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

            /// The server with a layer around it, which sees every request before and every reply after.
            pub fn layer<L>(self, layer: L) -> Endpoint<L::Service>
            where
                L: ::castile::soap::Layer<Arc<dyn SoapService>>,
                L::Service: SoapService,
            {
                self.0.boxed().layer(layer)
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
            #addressing

            fn dispatch(&self, #operation: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
                let service = self.0.clone();
                #context
                #dispatched
            }

            #understood
        }
    }
}

/// What the contract says of WS-Addressing, where it says anything.
fn declared(addressing: Option<Addressing>) -> Option<TokenStream> {
    let Addressing { required, responses } = addressing?;
    let responses = match responses {
        Responses::Anywhere if !required => return None,
        Responses::Anywhere => quote! { Anywhere },
        Responses::Anonymous => quote! { Anonymous },
        Responses::NonAnonymous => quote! { NonAnonymous },
    };
    let addressing = quote! { ::castile::soap::addressing };
    Some(quote! {
        const ADDRESSING: #addressing::Declared =
            #addressing::Declared { required: #required, responses: #addressing::Responses::#responses };
    })
}

fn client(plan: &Service, context: Context<'_>) -> TokenStream {
    let ServiceNames { client, operations, .. } = &plan.names;
    let methods = plan.operations.iter().enumerate().map(|(index, operation)| {
        let Operation { ident, .. } = operation;
        let index = Literal::usize_unsuffixed(index);
        let documentation = documentation(&operation.documentation);
        let Signature { request, header, answer } = Signature::of(operation, context);
        let (request, header) =
            (request.map(|of| quote! { , request: &#of }), header.map(|of| quote! { , header: &#of }));
        let detail = operation.faults.as_ref().map(|faults| {
            let ident = &faults.ident;
            quote! { <#ident> }
        });
        let call = call(operation, &quote! { &#operations[#index] });
        quote! {
            #documentation
            pub async fn #ident(&self #request #header) -> Result<#answer, CallError #detail> {
                #call
            }
        }
    });
    let (version, speaks) = match plan.versions.first() {
        Some(Version::Soap12) => (quote! { .map(|caller| caller.with_version(SoapVersion::Soap12)) }, "SOAP 1.2"),
        _ => (quote! {}, "SOAP 1.1"),
    };
    let addressing = plan.addressing.filter(|said| said.required).map(|_| {
        let version = quote! { ::castile::soap::addressing::Version::Recommendation };
        quote! { .map(|caller| caller.with_addressing(#version)) }
    });
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
                Caller::new(url) #version #addressing .map(Self)
            }
        }

        #[allow(dead_code, reason = "a program may use some of this and not the rest")]
        impl<S: HttpService> #client<S> {
            /// A client over a transport of your own: any tower service that answers HTTP requests.
            ///
            /// # Errors
            /// That `url` is not a URL.
            pub fn with_transport(url: &str, transport: S) -> Result<Self, HttpError> {
                Caller::with_transport(url, transport) #version #addressing .map(Self)
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

            /// The same where requests say their action, a name and whom they are for, in this version of WS-Addressing.
            /// What says to be the answer to another request is refused.
            pub fn with_addressing(self, version: ::castile::soap::addressing::Version) -> Self {
                Self(self.0.with_addressing(version))
            }

            #(#methods)*
        }
    }
}
