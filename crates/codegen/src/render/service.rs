//! Services: the trait to be implemented, the server and the client.

use castile_wsdl::{Addressing, Responses, Version};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::documentation::{self, documentation};
use super::{Context, base, by_index, messages};
use crate::Options;
use crate::documents::Document;
use crate::names::ServiceNames;
use crate::plan::{Base, Message, Operation, Service};

/// The trait, the server and the client. A program may use one half and not the other: nothing of that is dead code.
pub(super) fn render(plan: &Service, documents: &[Document], options: &Options, context: Context<'_>) -> TokenStream {
    let server = options.server.then(|| server(plan, documents, options, context));
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
    /// Whether attachments go with the request.
    has_attachments: bool,
    answer: TokenStream,
}

impl Signature {
    /// `parts` is the type of the attachments of a response.
    fn of(operation: &Operation, parts: &TokenStream, context: Context<'_>) -> Self {
        let payload = |message: &Message| match &message.base {
            Base::Nothing => None,
            of => Some(base(of, context)),
        };
        let header = |message: &Message| message.header.as_ref().map(|header| messages::header_type(header, context));
        let answer = operation
            .response
            .as_ref()
            .map(|response| [payload(response), header(response), response.has_attachments.then(|| parts.clone())]);
        let Message { has_attachments, .. } = operation.request;
        Signature {
            request: payload(&operation.request),
            header: header(&operation.request),
            has_attachments,
            answer: together(answer.into_iter().flatten().flatten().collect()),
        }
    }
}

/// Several things, or one, or nothing.
fn together(things: Vec<TokenStream>) -> TokenStream {
    match things.as_slice() {
        [one] => one.clone(),
        _ => quote! { (#(#things),*) },
    }
}

/// Makes one of the other, if they differ.
fn map(from: &TokenStream, to: &TokenStream) -> Option<TokenStream> {
    (from.to_string() != to.to_string()).then(|| quote! { .map(|#from| #to) })
}

/// The names of what a message has, payload, header and attachments, and what stands for all three.
fn names_of(message: &Message, attachments: TokenStream) -> (TokenStream, TokenStream) {
    let present = [!is_nothing(message), message.header.is_some(), message.has_attachments];
    let names = [quote! { response }, quote! { header }, attachments];
    let mut some = Vec::new();
    let mut all = [quote! { () }, quote! { () }, quote! { () }];
    for ((is_present, name), place) in present.into_iter().zip(names).zip(&mut all) {
        if is_present {
            some.push(name.clone());
            *place = name;
        }
    }
    (together(some), quote! { (#(#all),*) })
}

/// Whether attachments go with a request or its response.
fn has_attachments(operation: &Operation) -> bool {
    operation.request.has_attachments || operation.response.as_ref().is_some_and(|response| response.has_attachments)
}

/// What comes with a message.
fn attachments() -> TokenStream {
    quote! { ::castile::mime::Attachments }
}

/// What goes with one.
fn parts() -> TokenStream {
    quote! { Vec<::castile::mime::Part> }
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
    let (attachments, attachments_argument) = match request.has_attachments {
        false => (quote! { () }, None),
        true => (quote! { attachments }, Some(quote! { , attachments })),
    };
    // Named by the trait: a method that is called `clone` or `into` is not the one of `Arc`.
    let context = options.context.then(|| quote! { , &context });
    let answer = quote! { T::#ident(&service #argument #header_argument #attachments_argument #context).await };
    let Some(response) = response else {
        return match request.has_attachments {
            false => quote! { payload.accept(async move |#pattern, #header| #answer) },
            true => quote! { payload.accept_with(async move |#pattern, #header, #attachments| #answer) },
        };
    };
    if has_attachments(operation) {
        let (some, all) = names_of(response, quote! { parts });
        let map = map(&some, &all);
        return quote! { payload.exchange(async move |#pattern, #header, #attachments| #answer #map) };
    }
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
    let parts = if request.has_attachments {
        quote! { parts }
    } else {
        quote! { () }
    };
    let Some(response) = response else {
        return match request.has_attachments {
            false => quote! { self.0.send(#table, #value, #header).await },
            true => quote! { self.0.send_with(#table, #value, #header, #parts).await },
        };
    };
    if has_attachments(operation) {
        let (some, all) = names_of(response, quote! { attachments });
        let map = map(&all, &some);
        return quote! { self.0.exchange(#table, #value, #header, #parts).await #map };
    }
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

fn server(plan: &Service, documents: &[Document], options: &Options, context: Context<'_>) -> TokenStream {
    let documents = documents.iter().map(|Document { file, query, imports, .. }| {
        if imports.is_empty() && query == "wsdl" {
            return quote! { SoapDocument::wsdl(include_str!(#file)) };
        }
        let imports = imports.iter().map(|(location, query)| quote! { (#location, #query) });
        quote! { SoapDocument { query: #query, text: include_str!(#file), imports: &[#(#imports),*] } }
    });
    let Service { name, namespace, address, .. } = plan;
    let ServiceNames { port_type, server, dispatch, operations, .. } = &plan.names;
    let documentation_text = &plan.documentation;
    let trait_documentation = documentation(&plan.port_type_documentation);
    let methods = plan.operations.iter().map(|operation| {
        let Operation { ident, .. } = operation;
        let documentation = documentation(&operation.documentation);
        let Signature { request, header, has_attachments, answer } = Signature::of(operation, &parts(), context);
        let (request, header) =
            (request.map(|of| quote! { , request: #of }), header.map(|of| quote! { , header: #of }));
        let attachments = attachments();
        let attachments = has_attachments.then(|| quote! { , attachments: #attachments });
        let fault = fault(operation);
        let context = options.context.then(|| quote! { , context: &::castile::Context });
        quote! {
            #documentation
            fn #ident(&self #request #header #attachments #context)
                -> impl Future<Output = Result<#answer, #fault>> + Send;
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
    let is_mtom = plan.is_mtom.then(|| quote! { const IS_MTOM: bool = true; });
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
            #is_mtom
            const DESCRIPTION: &'static Description = &Description {
                name: #name,
                namespace: #namespace,
                documentation: #documentation_text,
                documents: &[#(#documents),*],
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
        let Signature { request, header, has_attachments, answer } = Signature::of(operation, &attachments(), context);
        let (request, header) =
            (request.map(|of| quote! { , request: &#of }), header.map(|of| quote! { , header: &#of }));
        let parts = parts();
        let parts = has_attachments.then(|| quote! { , parts: #parts });
        let detail = operation.faults.as_ref().map(|faults| {
            let ident = &faults.ident;
            quote! { <#ident> }
        });
        let call = call(operation, &quote! { &#operations[#index] });
        quote! {
            #documentation
            pub async fn #ident(&self #request #header #parts) -> Result<#answer, CallError #detail> {
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
        [] | [Version::Soap11] => format!("A client of `{}` over any HTTP transport.", plan.name),
        _ => format!("A client of `{}` over any HTTP transport, in {speaks}.", plan.name),
    };
    let client_documentation = documentation::line(&client_documentation);
    let with_version = (plan.versions.len() > 1).then(|| {
        let documentation = format!(" Calls in another version of SOAP than {speaks}; the service has both.");
        quote! {
            #[doc = #documentation]
            pub fn with_version(self, version: SoapVersion) -> Self {
                Self(self.0.with_version(version))
            }
        }
    });
    let takes_attachments = plan.operations.iter().any(has_attachments);
    let has_binaries = context.plan.holds_binaries();
    let with_mtom = has_binaries.then(|| {
        quote! {
            /// Sends requests as MTOM, with binary values of at least `threshold` bytes beside them.
            pub fn with_mtom(self, threshold: usize) -> Self {
                Self(self.0.with_mtom(threshold))
            }
        }
    });
    let with_attachment_limits = (has_binaries || takes_attachments).then(|| {
        quote! {
            /// Sets the limits on what attachments of responses may take.
            pub fn with_attachment_limits(self, limits: ::castile::mime::Limits) -> Self {
                Self(self.0.with_attachment_limits(limits))
            }
        }
    });
    let mtom = plan.is_mtom.then(|| quote! { .map(|caller| caller.with_mtom(::castile::soap::DEFAULT_THRESHOLD)) });
    let connect_documentation = match plan.address.as_str() {
        "" => "A client of the service at `url`.".to_owned(),
        address => format!("A client of the service at `url`; the contract names `{}`.", address.replace('`', "%60")),
    };
    let connect_documentation = documentation::line(&connect_documentation);
    quote! {
        #client_documentation
        #[derive(Clone, Debug)]
        pub struct #client<S = Transport>(Caller<S>);

        #[allow(dead_code, reason = "a program may bring a transport of its own")]
        impl #client {
            #connect_documentation
            ///
            /// # Errors
            /// That `url` is not an absolute `http` URL.
            pub fn new(url: &str) -> Result<Self, HttpError> {
                Caller::new(url) #version #addressing #mtom .map(Self)
            }
        }

        #[allow(dead_code, reason = "a program may use some of this and not the rest")]
        impl<S: HttpService> #client<S> {
            /// A client over a transport of your own: any tower service that answers HTTP requests.
            ///
            /// # Errors
            /// That `url` is not a URL.
            pub fn with_transport(url: &str, transport: S) -> Result<Self, HttpError> {
                Caller::with_transport(url, transport) #version #addressing #mtom .map(Self)
            }

            /// Sets the limits on what responses may take.
            pub fn with_limits(self, limits: Limits) -> Self {
                Self(self.0.with_limits(limits))
            }

            /// Takes responses that deviate from the contract, and reports the deviations.
            pub fn with_leniency(self, leniency: Leniency) -> Self {
                Self(self.0.with_leniency(leniency))
            }

            #with_version
            #with_mtom
            #with_attachment_limits

            /// Has requests say their action, a name and whom they are for, in this version of WS-Addressing.
            /// What says to be the answer to another request is refused.
            pub fn with_addressing(self, version: ::castile::soap::addressing::Version) -> Self {
                Self(self.0.with_addressing(version))
            }

            #(#methods)*
        }
    }
}
