//! Traits as services.

use castile_plan::names::{self, CLIENT_METHODS, ServiceNames};
use castile_plan::plan::{
    Base, Element, Faults, HeaderType, Message, Operation, Payload, Port, Root, Service as Planned,
};
use castile_xml::escape::push_attribute;
use std::collections::HashSet;

use heck::{ToLowerCamelCase, ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericArgument, ItemTrait, LitStr, Pat, PathArguments, ReturnType, Token, TraitItem,
    TraitItemFn, Type, Visibility,
};

use crate::attributes::{documentation, ncname};
use crate::declaration::option;
use crate::expansion::{Expansion, NAMESPACE};
use crate::fields::{held_by, is_called};

/// What is said of a service.
#[derive(Default)]
pub(crate) struct OfService {
    namespace: Option<LitStr>,
    name: Option<LitStr>,
    port_type: Option<LitStr>,
    address: Option<LitStr>,
    /// Versions of SOAP: `"1.1"`, `"1.2"` or both.
    soap: Option<LitStr>,
    /// What the module is called that has the messages.
    module: Option<LitStr>,
    is_rpc: bool,
}

impl Parse for OfService {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut of = OfService::default();
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            let place = match key.to_string().as_str() {
                "namespace" => &mut of.namespace,
                "name" => &mut of.name,
                "port_type" => &mut of.port_type,
                "address" => &mut of.address,
                "soap" => &mut of.soap,
                "module" => &mut of.module,
                "rpc" => {
                    of.is_rpc = true;
                    skip_comma(input)?;
                    continue;
                }
                _ => {
                    let message = "it is not known here; what can be said is namespace, name, port_type, address, soap, module, rpc";
                    return Err(syn::Error::new(key.span(), message));
                }
            };
            if place.is_some() {
                return Err(syn::Error::new(key.span(), "it is said twice"));
            }
            input.parse::<Token![=]>()?;
            *place = Some(input.parse()?);
            skip_comma(input)?;
        }
        Ok(of)
    }
}

fn skip_comma(input: ParseStream<'_>) -> syn::Result<()> {
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(())
}

/// What `#[soap(…)]` says of an operation.
#[derive(Default)]
struct OfOperation {
    name: Option<LitStr>,
    action: Option<LitStr>,
    /// What the element of the answer is called that has the result.
    result: Option<LitStr>,
    /// The elements of the messages, where they are not called as the operation.
    element: Option<LitStr>,
    response_element: Option<LitStr>,
    is_one_way: bool,
    headers: Vec<Type>,
    response_headers: Vec<Type>,
}

impl OfOperation {
    fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut of = OfOperation::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("soap")) {
            attribute.parse_nested_meta(|meta| {
                let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                match key.as_str() {
                    "name" => of.name = Some(meta.value()?.parse()?),
                    "action" => of.action = Some(meta.value()?.parse()?),
                    "result" => of.result = Some(meta.value()?.parse()?),
                    "element" => of.element = Some(meta.value()?.parse()?),
                    "response_element" => of.response_element = Some(meta.value()?.parse()?),
                    "one_way" => of.is_one_way = true,
                    "header" => of.headers.push(meta.value()?.parse()?),
                    "response_header" => of.response_headers.push(meta.value()?.parse()?),
                    _ => {
                        return Err(meta.error(
                            "it is not known here; what can be said is name, action, result, element, response_element, \
                             one_way, header, response_header",
                        ));
                    }
                }
                Ok(())
            })?;
        }
        Ok(of)
    }
}

/// What a method takes or gives.
enum Shape {
    /// A message as it is: `Request<T>`, `Response<T>`.
    Whole(Box<Type>),
    /// Values, of which a message is made.
    Values(Vec<Value>),
}

struct Value {
    ident: Ident,
    of: Type,
    attributes: Vec<Attribute>,
    /// Whether it is a header block.
    is_header: bool,
}

/// A method as an operation.
struct Method {
    ident: Ident,
    name: String,
    action: String,
    documentation: String,
    request: Shape,
    response: Option<Shape>,
    /// Whether the method may fail, and what its faults say.
    is_fallible: bool,
    detail: Option<Type>,
    of: OfOperation,
}

pub(crate) fn service(of: &OfService, mut item: ItemTrait) -> syn::Result<TokenStream> {
    let Some(namespace) = of.namespace.clone() else {
        let message =
            "it is not said in which namespace the service is: write `#[castile::service(namespace = \"urn:…\")]`";
        return Err(syn::Error::new(item.ident.span(), message));
    };
    if let Some(parameter) = item.generics.params.first() {
        return Err(syn::Error::new_spanned(parameter, "a service has no parameters"));
    }
    if namespace.value().is_empty() {
        return Err(syn::Error::new(
            namespace.span(),
            "a service is in a namespace: its port type and its bindings are",
        ));
    }
    let name = named(of.name.as_ref(), || item.ident.to_string(), item.ident.span())?;
    let port_type = named(of.port_type.as_ref(), || item.ident.to_string(), item.ident.span())?;
    let actions = Actions::of(&namespace.value(), &port_type);
    let mut methods = Vec::new();
    for trait_item in &mut item.items {
        let TraitItem::Fn(function) = trait_item else {
            return Err(syn::Error::new_spanned(trait_item, "a service has methods alone"));
        };
        methods.push(method(function, &actions)?);
        rewrite(function);
    }
    if methods.is_empty() {
        return Err(syn::Error::new(item.ident.span(), "a service without methods does nothing"));
    }
    item.supertraits.push(syn::parse_quote!(::core::marker::Send));
    item.supertraits.push(syn::parse_quote!(::core::marker::Sync));
    item.supertraits.push(syn::parse_quote!('static));
    Service { of, namespace, name, port_type, actions, methods: &methods, item: &item }.code()
}

/// A name of XML: what was said, or else another one.
fn named(said: Option<&LitStr>, other: impl FnOnce() -> String, span: Span) -> syn::Result<String> {
    ncname(said.map_or_else(other, LitStr::value), said.map_or(span, LitStr::span))
}

/// The actions of messages (1.0 Metadata §4.4.4).
struct Actions {
    begin: String,
}

impl Actions {
    fn of(namespace: &str, port_type: &str) -> Self {
        let delimiter = if namespace.starts_with("urn:") { ':' } else { '/' };
        let namespace = namespace.trim_end_matches(delimiter);
        Actions { begin: format!("{namespace}{delimiter}{port_type}{delimiter}") }
    }
}

/// Makes an `async fn` one whose future can be sent to another thread, and takes off it what this macro reads.
fn rewrite(function: &mut TraitItemFn) {
    let output = match &function.sig.output {
        ReturnType::Default => quote! { () },
        ReturnType::Type(_, of) => quote! { #of },
    };
    function.sig.asyncness = None;
    function.sig.output = syn::parse_quote!(-> impl ::core::future::Future<Output = #output> + ::core::marker::Send);
    function.attrs.retain(|attribute| !attribute.path().is_ident("soap"));
    for input in &mut function.sig.inputs {
        if let FnArg::Typed(argument) = input {
            let is_read =
                |attribute: &Attribute| ["xml", "soap", "doc"].iter().any(|name| attribute.path().is_ident(name));
            argument.attrs.retain(|attribute| !is_read(attribute));
        }
    }
}

fn method(function: &TraitItemFn, actions: &Actions) -> syn::Result<Method> {
    let signature = &function.sig;
    let of = OfOperation::read(&function.attrs)?;
    if signature.asyncness.is_none() {
        return Err(syn::Error::new(signature.fn_token.span(), "an operation is an `async fn`"));
    }
    if let Some(body) = &function.default {
        return Err(syn::Error::new_spanned(
            body,
            "an operation has no body here: whoever implements the service has one",
        ));
    }
    if let Some(parameter) = signature.generics.params.first() {
        return Err(syn::Error::new_spanned(parameter, "an operation has no parameters of types or lifetimes"));
    }
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) if quote! { #receiver }.to_string().replace(' ', "") == "&self" => {}
        _ => {
            return Err(syn::Error::new(
                signature.ident.span(),
                "an operation takes `&self` first: many requests come at once",
            ));
        }
    }
    let (request, mut of) = (request(function)?, of);
    if let Shape::Values(values) = &request {
        for value in values.iter().filter(|value| value.is_header) {
            of.headers.push(held_by(&value.of, "Option").unwrap_or(&value.of).clone());
        }
    }
    let (response, is_fallible, detail) = response(&signature.output)?;
    let of_rust = || signature.ident.to_string().trim_start_matches("r#").to_lower_camel_case();
    let name = named(of.name.as_ref(), of_rust, signature.ident.span())?;
    if CLIENT_METHODS.iter().any(|known| signature.ident == known) {
        let message =
            "clients have a method of this name already: give this one another, and say `#[soap(name = \"…\")]` at it";
        return Err(syn::Error::new(signature.ident.span(), message));
    }
    let response = match (of.is_one_way, response) {
        (false, response) => Some(response),
        (true, Shape::Values(values)) if values.is_empty() => None,
        (true, _) => {
            return Err(syn::Error::new_spanned(&signature.output, "what is not answered gives `()`"));
        }
    };
    if of.is_one_way {
        if let Some(detail) = &detail {
            return Err(syn::Error::new_spanned(
                detail,
                "of what is not answered nobody hears a fault (WSDL 1.1 §2.4)",
            ));
        }
        if let Some(said) = of.response_element.as_ref().or(of.result.as_ref()) {
            return Err(syn::Error::new(said.span(), "what is not answered has no response"));
        }
        if let Some(header) = of.response_headers.first() {
            return Err(syn::Error::new_spanned(header, "what is not answered has no response"));
        }
    }
    let action = of.action.as_ref().map_or_else(|| format!("{}{name}", actions.begin), LitStr::value);
    Ok(Method {
        ident: signature.ident.clone(),
        name,
        action,
        documentation: documentation(&function.attrs),
        request,
        response,
        is_fallible,
        detail,
        of,
    })
}

fn request(function: &TraitItemFn) -> syn::Result<Shape> {
    let arguments = function.sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(argument) => Some(argument),
        FnArg::Receiver(_) => None,
    });
    let arguments: Vec<_> = arguments.collect();
    if let [only] = arguments[..]
        && let Some(held) = held_by(&only.ty, "Request")
    {
        return Ok(Shape::Whole(Box::new(held.clone())));
    }
    let mut values = Vec::new();
    for argument in arguments {
        let Pat::Ident(pattern) = &*argument.pat else {
            return Err(syn::Error::new_spanned(
                &argument.pat,
                "a parameter needs a name, which is that of its element",
            ));
        };
        if held_by(&argument.ty, "Request").is_some() {
            return Err(syn::Error::new_spanned(
                &argument.ty,
                "a `Request` has all that there is: nothing else is beside it",
            ));
        }
        if let Type::Reference(reference) = &*argument.ty {
            return Err(syn::Error::new_spanned(
                reference,
                "values are made while a message is read, so a method takes them as its own",
            ));
        }
        let mut is_header = false;
        for attribute in argument.attrs.iter().filter(|attribute| attribute.path().is_ident("soap")) {
            attribute.parse_nested_meta(|meta| match meta.path.is_ident("header") {
                true => {
                    is_header = true;
                    Ok(())
                }
                false => Err(meta.error("of a parameter it can be said that it is a `header`")),
            })?;
        }
        if let Some(said) = argument.attrs.iter().find(|attribute| is_header && attribute.path().is_ident("xml")) {
            return Err(syn::Error::new_spanned(said, "what a header block is called says its type"));
        }
        let attributes = argument.attrs.iter().filter(|attribute| !attribute.path().is_ident("soap"));
        values.push(Value {
            ident: pattern.ident.clone(),
            of: (*argument.ty).clone(),
            attributes: attributes.cloned().collect(),
            is_header,
        });
    }
    Ok(Shape::Values(values))
}

/// What a method gives, whether it may fail, and what its faults say.
fn response(output: &ReturnType) -> syn::Result<(Shape, bool, Option<Type>)> {
    let ReturnType::Type(_, of) = output else { return Ok((Shape::Values(Vec::new()), false, None)) };
    let (value, fault) = match arguments_of(of, "Result").as_slice() {
        [] => ((**of).clone(), None),
        [value, fault] => ((*value).clone(), Some(*fault)),
        _ => {
            let message = "write both types of the `Result`: what is answered, and a `castile::Fault`";
            return Err(syn::Error::new_spanned(of, message));
        }
    };
    let detail = match fault {
        None => None,
        Some(fault) => match (is_called(fault, "Fault"), arguments_of(fault, "Fault").as_slice()) {
            (true, []) => None,
            (true, [detail]) => Some((*detail).clone()),
            _ => return Err(syn::Error::new_spanned(fault, "an operation fails with a `castile::Fault`")),
        },
    };
    let shape = match held_by(&value, "Response") {
        Some(held) => Shape::Whole(Box::new(held.clone())),
        None if matches!(&value, Type::Tuple(tuple) if tuple.elems.is_empty()) => Shape::Values(Vec::new()),
        None => Shape::Values(vec![Value {
            ident: format_ident!("result"),
            of: value,
            attributes: Vec::new(),
            is_header: false,
        }]),
    };
    Ok((shape, fault.is_some(), detail))
}

/// The types in the brackets of one that is called so.
fn arguments_of<'t>(of: &'t Type, name: &str) -> Vec<&'t Type> {
    let Type::Path(path) = of else { return Vec::new() };
    let Some(last) = path.path.segments.last().filter(|last| last.ident == name) else { return Vec::new() };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(of) => Some(of),
        _ => None,
    });
    types.collect()
}

struct Service<'a> {
    of: &'a OfService,
    namespace: LitStr,
    name: String,
    port_type: String,
    actions: Actions,
    methods: &'a [Method],
    item: &'a ItemTrait,
}

const REQUEST: &str = "Request";
const RESPONSE: &str = "Response";

/// What the type of a message is called that is made here.
fn message_of(method: &Method, what: &str) -> Ident {
    format_ident!("{}{what}", method.name.to_upper_camel_case())
}

/// What a value is called that a method takes, so that no name of a program is hidden by it.
fn bound(number: usize) -> Ident {
    format_ident!("castile_{number}")
}

/// A message of an operation as it is declared and planned.
struct Planning {
    /// The type that stands for it.
    of: TokenStream,
    /// That type, if it is made here.
    made: Option<TokenStream>,
    element: String,
}

impl Service<'_> {
    fn code(&self) -> syn::Result<TokenStream> {
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
                "another operation is called {:?} too (R2304): say `#[soap(name = \"…\")]` at one of them",
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
        let code =
            expansion.rendered(Vec::new(), &|plan, namespace| castile_codegen::client_of(&service, plan, namespace));
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
        let of_server = format!("A [`{ident}`] as a tower service that speaks SOAP over HTTP.");
        let of_contract = format!("The contract of [`{ident}`](super::{ident}).");
        let visible = visible_inside(vis);
        Ok(quote! {
            #item

            #[doc = #of_server]
            #[allow(dead_code, reason = "a program may be a client alone")]
            #vis type #server<T> = ::castile::codegen::ContractServer<#module::CastileContract, T>;

            #[allow(unused_imports, reason = "a program may be a server alone")]
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
                        service: ::std::sync::Arc<T>,
                        operation: usize,
                        payload: ::castile::codegen::Payload<'_>,
                    ) -> ::core::result::Result<::castile::soap::Pending, ::castile::soap::Error> {
                        match operation { #(#arms)* }
                    }
                }

                #code

                /// What is known of the service before any message comes.
                #visible static SERVICE: ::castile::soap::Description =
                    ::castile::soap::Description::new(#name, #namespace, &OPERATIONS)
                        .with_documents(&[::castile::codegen::SoapDocument::made(document)], #address)
                        .with_documentation(#documentation)
                        .with_version(#version);

                static CONTRACT: ::castile::codegen::contract::Contract = ::castile::codegen::contract::Contract {
                    name: #name,
                    namespace: #namespace,
                    port_type: #port_type,
                    documentation: #documentation,
                    versions: &[#(#versions),*],
                    address: #address,
                    operations: &[#(#declared),*],
                };

                /// The contract: WSDL 1.1 with the schemas of all types.
                ///
                /// # Errors
                /// What no contract can declare: two types of one name, a type that is flattened into itself.
                #[allow(dead_code, reason = "a program may not ask")]
                #visible fn wsdl() -> ::core::result::Result<::std::string::String, ::castile::ContractError> {
                    ::castile::codegen::contract::write(&CONTRACT)
                }

                fn document() -> &'static str {
                    static TEXT: ::std::sync::LazyLock<::std::string::String> =
                        ::std::sync::LazyLock::new(|| ::castile::codegen::contract::document(&CONTRACT));
                    &TEXT
                }
            }
        })
    }

    /// The versions of SOAP, as plans and as programs call them.
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
                format!("{other:?} is no version of SOAP: \"1.1\", \"1.2\" or \"1.1, 1.2\""),
            )),
        });
        let versions: Vec<_> = versions.collect::<syn::Result<_>>()?;
        match &versions[..] {
            [one, other] if one.0 != other.0 => Ok(versions),
            [_] => Ok(versions),
            _ => Err(syn::Error::new(said.span(), "each version of SOAP is said once")),
        }
    }

    /// The type of a message, and the element that has it.
    fn planning(&self, method: &Method, shape: &Shape, is_request: bool) -> syn::Result<Planning> {
        let (said, other) = match is_request {
            true => (&method.of.element, method.name.clone()),
            false => (&method.of.response_element, format!("{}Response", method.name)),
        };
        if let Some(said) = said.as_ref().filter(|_| self.of.is_rpc) {
            return Err(syn::Error::new(
                said.span(),
                "in rpc style the element is called as the operation (WSDL 1.1 §3.5)",
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
            true => format!("What the operation `{}` takes.", method.name),
            false => format!("What the operation `{}` gives.", method.name),
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
            // Rust's literal has what XML can carry, or the contract is refused.
            let _ = push_attribute(&mut namespace, &self.namespace.value());
            let root = Root {
                element,
                is_encoded: false,
                wraps_parts: self.of.is_rpc,
                type_name: None,
                start: format!("<{name} xmlns=\"{}\">", String::from_utf8_lossy(&namespace)),
                end: format!("</{name}>"),
            };
            let headers = headers.iter().map(|of| HeaderType::Own(expansion.of(of))).collect();
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

    /// That a type of a method means something else in the module of the messages.
    fn check_type(&self, of: &Type) -> syn::Result<()> {
        for method in self.methods {
            let made = [(Some(&method.request), REQUEST), (method.response.as_ref(), RESPONSE)];
            let made = made.into_iter().filter(|(shape, _)| matches!(shape, Some(Shape::Values(_))));
            if let Some(ident) = made.map(|(_, what)| message_of(method, what)).find(|ident| mentions(of, ident)) {
                let message = format!(
                    "a message of the method `{}` is called `{ident}` too: say `#[soap(name = \"…\")]` at it, or give the type \
                     another name",
                    method.ident
                );
                return Err(syn::Error::new_spanned(of, message));
            }
        }
        for relative in ["super", "self"] {
            if mentions(of, &Ident::new(relative, Span::call_site())) {
                let message = format!(
                    "the type is named in another module too, where `{relative}` means something else: begin with `crate`"
                );
                return Err(syn::Error::new_spanned(of, message));
            }
        }
        Ok(())
    }

    /// How a request is handed to the method.
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
                    match held_by(of, "Option") {
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

/// Documentation for a method of the client.
fn documentation_of(documentation: &str, name: &str) -> String {
    if documentation.is_empty() { format!("The operation `{name}`.") } else { documentation.to_owned() }
}

/// How items within the module are visible that are as visible as the trait beside it.
fn visible_inside(vis: &Visibility) -> Visibility {
    match vis {
        Visibility::Inherited => syn::parse_quote!(pub(super)),
        _ => syn::parse_quote!(pub),
    }
}

/// Whether a type is, or has in it, one that is called so.
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
