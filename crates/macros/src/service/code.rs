//! Generates the code of a service: its messages, the server, the client, and the contract.

use std::collections::HashSet;

use castile_plan::names::{self, ServiceNames};
use castile_plan::plan::{
    Base, Element, Faults, Message, Operation, Payload, Port, Root, RootType, Service as Planned,
};
use castile_xml::escape::push_attribute;
use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{ItemTrait, LitStr, Type, Visibility};

use super::{Actions, Method, ServiceAttributes, Shape, Value, named};
use crate::attributes::documentation;
use crate::declaration::option;
use crate::expansion::Expansion;
use crate::fields::generic_argument;
use crate::placeholders::NAMESPACE;

/// A service to be written as code.
pub(super) struct Service<'a> {
    pub(super) of: &'a ServiceAttributes,
    pub(super) namespace: LitStr,
    pub(super) name: String,
    pub(super) port_type: String,
    pub(super) actions: Actions,
    pub(super) methods: &'a [Method],
    pub(super) item: &'a ItemTrait,
}

const REQUEST: &str = "Request";
const RESPONSE: &str = "Response";

/// Returns the name of the type of a generated message.
fn message_of(method: &Method, what: &str) -> Ident {
    format_ident!("{}{what}", method.name.to_upper_camel_case())
}

/// Returns the variable name of a method's argument. It can't hide a name of the program.
fn bound(number: usize) -> Ident {
    format_ident!("castile_{number}")
}

/// A message of an operation, for its declaration and its plan.
struct Planning {
    /// The type of the message.
    of: TokenStream,
    /// The definition of that type, if it is generated here.
    made: Option<TokenStream>,
    element: String,
}

impl Service<'_> {
    pub(super) fn code(&self) -> syn::Result<TokenStream> {
        let ItemTrait { ident, vis, .. } = self.item;
        let module = match &self.of.module {
            Some(said) => said.parse::<Ident>()?,
            None => {
                let name = ident.to_string().to_snake_case();
                syn::parse_str(&name).unwrap_or_else(|_| format_ident!("r#{name}"))
            }
        };
        let mut known = HashSet::new();
        if let Some(method) = self.methods.iter().find(|method| !known.insert(&method.name)) {
            let message = format!(
                "another operation has the name {:?} too (R2304): add `#[soap(name = \"…\")]` to one of them",
                method.name
            );
            return Err(syn::Error::new(method.ident.span(), message));
        }
        let (client, server) = (format_ident!("{ident}Client"), format_ident!("{ident}Server"));
        let mut expansion = Expansion::of_service(ident, &self.namespace);
        let mut made = Vec::new();
        let mut operations = Vec::new();
        let mut declared = Vec::new();
        let mut arms = Vec::new();
        for method in self.methods {
            let request = self.planning(method, &method.request, true)?;
            let response =
                method.response.as_ref().map(|response| self.planning(method, response, false)).transpose()?;
            operations.push(self.operation(&mut expansion, method, &request, response.as_ref(), operations.len()));
            declared.push(self.declared(method, &request, response.as_ref()));
            arms.push(self.arm(method, &request, response.as_ref()));
            made.extend(request.made);
            made.extend(response.and_then(|response| response.made));
        }
        let path = module.to_string();
        let path = path.trim_start_matches("r#");
        let address = self.of.address.as_ref().map_or_else(|| format!("http://localhost:8080/{path}"), LitStr::value);
        let versions = self.versions()?;
        let service = Planned {
            name: self.name.clone(),
            binding: None,
            namespace: self.namespace.value(),
            versions: versions.iter().map(|(version, _)| *version).collect(),
            addressing: None,
            ports: vec![Port { name: self.name.clone(), version: versions[0].0, address: address.clone() }],
            documentation: String::new(),
            names: ServiceNames {
                port_type: names::Ident::new(&ident.to_string()),
                server: names::Ident::new(&server.to_string()),
                contract: names::Ident::new("CastileContract"),
                client: names::Ident::new(&client.to_string()),
                operations: names::Ident::new("OPERATIONS"),
                description: names::Ident::new("SERVICE"),
            },
            port_type_documentation: String::new(),
            operations,
            headers: Vec::new(),
            is_mtom: false,
        };
        let code = expansion.rendered(Vec::new(), "::castile::codegen", |program| program.client(&service));
        let (namespace, name, port_type) = (&self.namespace, &self.name, &self.port_type);
        let documentation = documentation(&self.item.attrs);
        let version = versions[0].1.clone();
        let versions = versions.iter().map(|(_, version)| version);
        let last = arms.len() - 1;
        let arms = arms.into_iter().enumerate().map(|(index, arm)| {
            let pattern = if index == last {
                quote! { _ }
            } else {
                let index = Literal::usize_unsuffixed(index);
                quote! { #index }
            };
            quote! { #pattern => #arm, }
        });
        let item = self.item;
        let of_module = format!("The messages of [`{ident}`], its client, and its contract.");
        let of_server = format!("A [`{ident}`] as a tower service for SOAP over HTTP.");
        let of_contract = format!("The contract of [`{ident}`](super::{ident}).");
        let visible = visible_inside(vis);
        Ok(quote! {
            #item

            #[doc = #of_server]
            #[allow(dead_code, reason = "a program may be only a client")]
            #vis type #server<T> = ::castile::codegen::ContractServer<#module::CastileContract, T>;

            #[allow(unused_imports, reason = "a program may be only a server")]
            #vis use #module::#client;

            #[doc = #of_module]
            #vis mod #module {
                #[allow(unused_imports, reason = "where the types come from is not known")]
                use super::*;

                #(#made)*

                #[doc = #of_contract]
                #visible enum CastileContract {}

                impl<T: super::#ident> ::castile::codegen::Contract<T> for CastileContract {
                    const DESCRIPTION: &'static ::castile::soap::Description = &SERVICE;

                    fn dispatch(
                        service: ::castile::codegen::Shared<T>,
                        operation: usize,
                        payload: ::castile::codegen::Payload<'_>,
                    ) -> ::core::result::Result<::castile::soap::Pending, ::castile::soap::Error> {
                        match operation { #(#arms)* }
                    }
                }

                #code

                /// The description of the service.
                #visible static SERVICE: ::castile::soap::Description = ::castile::codegen::paged(
                    ::castile::soap::Description::new(#name, #namespace, &OPERATIONS)
                        .with_documents(&[::castile::codegen::SoapDocument::made(document)], #address)
                        .with_documentation(#documentation)
                        .with_version(#version),
                    page,
                );

                static CONTRACT: ::castile::codegen::contract::Contract = ::castile::codegen::contract::Contract {
                    name: #name,
                    namespace: #namespace,
                    port_type: #port_type,
                    documentation: #documentation,
                    versions: &[#(#versions),*],
                    address: #address,
                    operations: &[#(#declared),*],
                };

                /// Returns the contract: WSDL 1.1 with the schemas of all types.
                ///
                /// # Errors
                /// Returns an error if a type can't be declared: two types with the same name, or a type that is flattened into
                /// itself.
                #[allow(dead_code, reason = "a program may not ask")]
                #visible fn wsdl() -> ::core::result::Result<::std::string::String, ::castile::ContractError> {
                    ::castile::codegen::contract::write(&CONTRACT)
                }

                fn document() -> &'static str {
                    static TEXT: ::std::sync::LazyLock<::std::string::String> =
                        ::std::sync::LazyLock::new(|| ::castile::codegen::contract::document(&CONTRACT));
                    &TEXT
                }

                fn page() -> &'static str {
                    static TEXT: ::std::sync::LazyLock<::std::string::String> =
                        ::std::sync::LazyLock::new(|| ::castile::codegen::contract::page(&CONTRACT));
                    &TEXT
                }
            }
        })
    }

    /// Returns the versions of SOAP, for plans and as code.
    fn versions(&self) -> syn::Result<Vec<(castile_plan::plan::Version, TokenStream)>> {
        let soap11 = || (castile_plan::plan::Version::Soap11, quote! { ::castile::soap::Version::Soap11 });
        let soap12 = || (castile_plan::plan::Version::Soap12, quote! { ::castile::soap::Version::Soap12 });
        let Some(said) = &self.of.soap else { return Ok(vec![soap11(), soap12()]) };
        let versions = said.value();
        let versions = versions.split(',').map(|version| match version.trim() {
            "1.1" => Ok(soap11()),
            "1.2" => Ok(soap12()),
            other => Err(syn::Error::new(
                said.span(),
                format!("{other:?} is not a version of SOAP, expected \"1.1\", \"1.2\" or \"1.1, 1.2\""),
            )),
        });
        let versions: Vec<_> = versions.collect::<syn::Result<_>>()?;
        match &versions[..] {
            [one, other] if one.0 != other.0 => Ok(versions),
            [_] => Ok(versions),
            _ => Err(syn::Error::new(said.span(), "found a version of SOAP twice, expected it once")),
        }
    }

    /// Returns the type of a message and the element that has it.
    fn planning(&self, method: &Method, shape: &Shape, is_request: bool) -> syn::Result<Planning> {
        let (said, other) = match is_request {
            true => (&method.of.element, method.name.clone()),
            false => (&method.of.response_element, format!("{}Response", method.name)),
        };
        if let Some(said) = said.as_ref().filter(|_| self.of.is_rpc) {
            return Err(syn::Error::new(
                said.span(),
                "in rpc style the element has the name of the operation (WSDL 1.1 §3.5)",
            ));
        }
        let element = named(said.as_ref(), || other, method.ident.span())?;
        let values = match shape {
            Shape::Whole(of) => {
                self.check_type(of)?;
                return Ok(Planning { of: quote! { #of }, made: None, element });
            }
            Shape::Values(values) => values,
        };
        values.iter().try_for_each(|value| self.check_type(&value.of))?;
        let ident = message_of(method, if is_request { REQUEST } else { RESPONSE });
        let result = method.of.result.as_ref().map_or_else(|| format!("{}Result", method.name), LitStr::value);
        let fields = values.iter().filter(|value| !value.is_header).map(|Value { ident, of, attributes, .. }| {
            let name = (!is_request).then(|| quote! { #[xml(name = #result)] });
            quote! { #(#attributes)* #name pub #ident: #of }
        });
        let namespace = &self.namespace;
        let unqualified = self.of.is_rpc.then(|| quote! { , unqualified });
        let documentation = match is_request {
            true => format!("The request of the operation `{}`.", method.name),
            false => format!("The response of the operation `{}`.", method.name),
        };
        let made = quote! {
            #[doc = #documentation]
            #[derive(Clone, Debug, ::castile::Xml)]
            #[xml(namespace = #namespace, anonymous #unqualified)]
            #[allow(missing_docs, reason = "parameters have no documentation of their own")]
            pub struct #ident { #(#fields),* }
        };
        Ok(Planning { of: quote! { #ident }, made: Some(made), element })
    }

    fn operation(
        &self,
        expansion: &mut Expansion,
        method: &Method,
        request: &Planning,
        response: Option<&Planning>,
        number: usize,
    ) -> Operation {
        let mut message = |planning: &Planning, headers: &[Type]| {
            let name = &planning.element;
            let base = Base::Rust(expansion.of_tokens(planning.of.clone()).ident.as_str().into());
            let element = Element {
                namespace: NAMESPACE.to_owned(),
                name: name.clone(),
                slot: expansion.slot(),
                constraint: None,
                facets: None,
                types: None,
            };
            let mut namespace = Vec::new();
            // The contract rejects characters that XML doesn't allow, so the error can be ignored here.
            let _ = push_attribute(&mut namespace, &self.namespace.value());
            let root = Root {
                element,
                is_encoded: false,
                wraps_parts: self.of.is_rpc,
                type_name: None,
                start: format!("<{name} xmlns=\"{}\">", String::from_utf8_lossy(&namespace)),
                end: format!("</{name}>"),
            };
            let headers = headers.iter().map(|of| RootType::Own(expansion.of(of))).collect();
            Message { base, payload: Payload::Element(root), headers }
        };
        let planned_request = message(request, &method.of.headers);
        let planned_response = response.map(|response| message(response, &method.of.response_headers));
        let Actions { begin, .. } = &self.actions;
        Operation {
            name: method.name.clone(),
            label: method.name.clone(),
            number,
            ident: names::Ident::new(&method.ident.to_string()),
            documentation: documentation_of(&method.documentation, &method.name),
            action: method.action.clone(),
            request_action: method.action.clone(),
            response_action: response.map(|_| format!("{begin}{}Response", method.name)).unwrap_or_default(),
            request: planned_request,
            response: planned_response,
            faults: method.detail.as_ref().map(|detail| Faults {
                ident: expansion.of(detail).ident,
                variants: Vec::new(),
                details: 0,
            }),
        }
    }

    fn declared(&self, method: &Method, request: &Planning, response: Option<&Planning>) -> TokenStream {
        let Method { name, action, documentation, detail, of, .. } = method;
        let namespace = &self.namespace;
        let message = |planning: &Planning, headers: &[Type]| {
            let Planning { of, element, .. } = planning;
            let body = match self.of.is_rpc {
                true => quote! { Parts(<#of as declared::Declared>::declaration) },
                false => quote! {
                    Element(declared::DeclaredElement {
                        name: ::castile::codegen::xs::TypeName::new(#namespace, #element),
                        of: <#of as declared::Declared>::declaration,
                        is_nillable: <#of as declared::Declared>::IS_NILLABLE,
                    })
                },
            };
            quote! {
                contract::Message {
                    body: contract::Body::#body,
                    headers: &[#(<#headers as declared::DeclaredHeader>::element),*],
                }
            }
        };
        let request = message(request, &of.headers);
        let response = response.map(|response| message(response, &of.response_headers));
        let response = option(response.as_ref());
        let detail = detail.as_ref().map_or_else(|| quote! { ::castile::NoDetail }, |detail| quote! { #detail });
        quote! {
            {
                use ::castile::codegen::{contract, declared};
                contract::Operation {
                    name: #name,
                    action: #action,
                    documentation: #documentation,
                    request: #request,
                    response: #response,
                    faults: <#detail as declared::DeclaredDetails>::elements,
                }
            }
        }
    }

    /// Checks that a type of a method has the same meaning in the module of the messages.
    fn check_type(&self, of: &Type) -> syn::Result<()> {
        for method in self.methods {
            let made = [(Some(&method.request), REQUEST), (method.response.as_ref(), RESPONSE)];
            let made = made.into_iter().filter(|(shape, _)| matches!(shape, Some(Shape::Values(_))));
            if let Some(ident) = made.map(|(_, what)| message_of(method, what)).find(|ident| mentions(of, ident)) {
                let message = format!(
                    "a message of the method `{}` has the name `{ident}` too: add `#[soap(name = \"…\")]` to it, or \
                     rename the type",
                    method.ident
                );
                return Err(syn::Error::new_spanned(of, message));
            }
        }
        for relative in ["super", "self"] {
            if mentions(of, &Ident::new(relative, Span::call_site())) {
                let message = format!(
                    "the type is also used in another module, where `{relative}` has a different meaning: begin the \
                     path with `crate`"
                );
                return Err(syn::Error::new_spanned(of, message));
            }
        }
        Ok(())
    }

    /// Generates the match arm that passes a request to the method.
    fn arm(&self, method: &Method, request: &Planning, response: Option<&Planning>) -> TokenStream {
        let (ident, of_trait) = (&method.ident, &self.item.ident);
        let of_request = &request.of;
        let detail = method.detail.as_ref().map_or_else(|| quote! { ::castile::NoDetail }, |detail| quote! { #detail });
        let of_response = response.map_or_else(|| quote! { () }, |response| response.of.clone());
        let (taken, arguments) = match &method.request {
            Shape::Whole(_) => (quote! {}, quote! { castile_request }),
            Shape::Values(values) => {
                let numbered = || values.iter().enumerate().map(|(number, value)| (bound(number), value));
                let headers = numbered().filter(|(_, value)| value.is_header).map(|(ident, value)| {
                    let of = &value.of;
                    match generic_argument(of, "Option") {
                        Some(held) => quote! { let #ident = castile_request.header::<#held>()?; },
                        None => {
                            quote! { let #ident = ::castile::codegen::required_header::<#of, _, _>(&castile_request)?; }
                        }
                    }
                });
                let fields = numbered().filter(|(_, value)| !value.is_header).map(|(ident, value)| {
                    let field = &value.ident;
                    quote! { #field: #ident }
                });
                let all = numbered().map(|(ident, _)| ident);
                (
                    quote! {
                        #(#headers)*
                        let #of_request { #(#fields),* } = castile_request.into_inner();
                    },
                    quote! { #(#all),* },
                )
            }
        };
        let given = match (method.is_fallible, method.response.as_ref(), response) {
            (_, Some(Shape::Whole(_)), _) => quote! { given },
            (_, Some(Shape::Values(values)), Some(_)) if values.is_empty() => {
                quote! { { let () = given; ::castile::Response::from(#of_response {}) } }
            }
            (_, Some(Shape::Values(_)), Some(_)) => {
                quote! { ::castile::Response::from(#of_response { result: given }) }
            }
            _ => quote! { { let () = given; ::castile::Response::from(()) } },
        };
        let question = method.is_fallible.then(|| quote! { ? });
        quote! {
            payload.handle(async move |castile_request: ::castile::Request<#of_request>| {
                #taken
                let given = <T as super::#of_trait>::#ident(&*service, #arguments).await #question;
                ::core::result::Result::<::castile::Response<#of_response>, ::castile::Fault<#detail>>::Ok(#given)
            })
        }
    }
}

/// Returns the documentation of a method of the client.
fn documentation_of(documentation: &str, name: &str) -> String {
    if documentation.is_empty() { format!("The operation `{name}`.") } else { documentation.to_owned() }
}

/// Returns the visibility inside the module for items that must be as visible as the trait.
fn visible_inside(vis: &Visibility) -> Visibility {
    match vis {
        Visibility::Inherited => syn::parse_quote!(pub(super)),
        _ => syn::parse_quote!(pub),
    }
}

/// Returns whether a type contains this name.
fn mentions(of: &Type, ident: &Ident) -> bool {
    fn within(tokens: TokenStream, ident: &Ident) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Ident(found) => found == *ident,
            proc_macro2::TokenTree::Group(group) => within(group.stream(), ident),
            _ => false,
        })
    }
    within(quote! { #of }, ident)
}
