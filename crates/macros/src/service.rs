//! Generates services from traits. Parses the attributes of traits and methods.

mod code;

use castile_plan::names::CLIENT_METHODS;
use heck::ToLowerCamelCase;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericArgument, ItemTrait, LitStr, Pat, PathArguments, ReturnType, Token, TraitItem,
    TraitItemFn, Type,
};

use crate::attributes::{documentation, ncname};
use crate::fields::{generic_argument, is_called};
use code::Service;

/// The attributes of a service.
#[derive(Default)]
pub(crate) struct ServiceAttributes {
    namespace: Option<LitStr>,
    name: Option<LitStr>,
    port_type: Option<LitStr>,
    address: Option<LitStr>,
    /// The versions of SOAP: `"1.1"`, `"1.2"` or both.
    soap: Option<LitStr>,
    /// The name of the module with the messages.
    module: Option<LitStr>,
    is_rpc: bool,
}

impl Parse for ServiceAttributes {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut of = ServiceAttributes::default();
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
                    let message =
                        "this is unknown here, expected one of namespace, name, port_type, address, soap, module, rpc";
                    return Err(syn::Error::new(key.span(), message));
                }
            };
            if place.is_some() {
                return Err(syn::Error::new(key.span(), "this is given twice"));
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

/// The `#[soap(…)]` attributes of an operation.
#[derive(Default)]
struct OperationAttributes {
    name: Option<LitStr>,
    action: Option<LitStr>,
    /// The name of the response's element that has the result.
    result: Option<LitStr>,
    /// The names of the message elements, if they are not derived from the operation's name.
    element: Option<LitStr>,
    response_element: Option<LitStr>,
    is_one_way: bool,
    headers: Vec<Type>,
    response_headers: Vec<Type>,
}

impl OperationAttributes {
    fn read(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut of = OperationAttributes::default();
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
                            "this is unknown here, expected one of name, action, result, element, response_element, \
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

/// The parameters or the result of a method.
enum Shape {
    /// A complete message: `Request<T>`, `Response<T>`.
    Whole(Box<Type>),
    /// Values from which the macro creates a message.
    Values(Vec<Value>),
}

struct Value {
    ident: Ident,
    of: Type,
    attributes: Vec<Attribute>,
    /// Whether the value is a header block.
    is_header: bool,
}

/// A method that is an operation.
struct Method {
    ident: Ident,
    name: String,
    action: String,
    documentation: String,
    request: Shape,
    response: Option<Shape>,
    /// Whether the method can fail, and the details of its faults.
    is_fallible: bool,
    detail: Option<Type>,
    of: OperationAttributes,
}

pub(crate) fn service(of: &ServiceAttributes, mut item: ItemTrait) -> syn::Result<TokenStream> {
    let Some(namespace) = of.namespace.clone() else {
        let message = "the service has no namespace: write `#[castile::service(namespace = \"urn:…\")]`";
        return Err(syn::Error::new(item.ident.span(), message));
    };
    if let Some(parameter) = item.generics.params.first() {
        return Err(syn::Error::new_spanned(parameter, "a service can't have generic parameters"));
    }
    if namespace.value().is_empty() {
        return Err(syn::Error::new(
            namespace.span(),
            "a service must be in a namespace, because its port type and its bindings are",
        ));
    }
    let name = named(of.name.as_ref(), || item.ident.to_string(), item.ident.span())?;
    let port_type = named(of.port_type.as_ref(), || item.ident.to_string(), item.ident.span())?;
    let actions = Actions::of(&namespace.value(), &port_type);
    let mut methods = Vec::new();
    for trait_item in &mut item.items {
        let TraitItem::Fn(function) = trait_item else {
            return Err(syn::Error::new_spanned(trait_item, "a service can only have methods"));
        };
        methods.push(method(function, &actions)?);
        rewrite(function);
    }
    if methods.is_empty() {
        return Err(syn::Error::new(item.ident.span(), "a service must have at least one method"));
    }
    item.supertraits.push(syn::parse_quote!(::core::marker::Send));
    item.supertraits.push(syn::parse_quote!(::core::marker::Sync));
    item.supertraits.push(syn::parse_quote!('static));
    Service { of, namespace, name, port_type, actions, methods: &methods, item: &item }.code()
}

/// Returns the name in the attribute, or `other` if there is none. Checks that it is an XML name.
fn named(said: Option<&LitStr>, other: impl FnOnce() -> String, span: Span) -> syn::Result<String> {
    ncname(said.map_or_else(other, LitStr::value), said.map_or(span, LitStr::span))
}

/// Creates the actions of messages (1.0 Metadata §4.4.4).
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

/// Changes an `async fn` so that its future is `Send`, and removes the attributes that this macro reads.
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
    let of = OperationAttributes::read(&function.attrs)?;
    if signature.asyncness.is_none() {
        return Err(syn::Error::new(signature.fn_token.span(), "an operation must be an `async fn`"));
    }
    if let Some(body) = &function.default {
        return Err(syn::Error::new_spanned(
            body,
            "an operation has no body here; the implementation of the service has it",
        ));
    }
    if let Some(parameter) = signature.generics.params.first() {
        return Err(syn::Error::new_spanned(parameter, "an operation can't have type parameters or lifetimes"));
    }
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) if quote! { #receiver }.to_string().replace(' ', "") == "&self" => {}
        _ => {
            return Err(syn::Error::new(
                signature.ident.span(),
                "an operation must take `&self` first, because requests are concurrent",
            ));
        }
    }
    let (request, mut of) = (request(function)?, of);
    if let Shape::Values(values) = &request {
        for value in values.iter().filter(|value| value.is_header) {
            of.headers.push(generic_argument(&value.of, "Option").unwrap_or(&value.of).clone());
        }
    }
    let (response, is_fallible, detail) = response(&signature.output)?;
    let of_rust = || signature.ident.to_string().trim_start_matches("r#").to_lower_camel_case();
    let name = named(of.name.as_ref(), of_rust, signature.ident.span())?;
    if CLIENT_METHODS.iter().any(|known| signature.ident == known) {
        let message =
            "clients already have a method with this name: rename this one, and add `#[soap(name = \"…\")]` to it";
        return Err(syn::Error::new(signature.ident.span(), message));
    }
    let response = match (of.is_one_way, response) {
        (false, response) => Some(response),
        (true, Shape::Values(values)) if values.is_empty() => None,
        (true, _) => {
            return Err(syn::Error::new_spanned(&signature.output, "a one-way operation must return `()`"));
        }
    };
    if of.is_one_way {
        if let Some(detail) = &detail {
            return Err(syn::Error::new_spanned(detail, "a one-way operation can't have faults (WSDL 1.1 §2.4)"));
        }
        if let Some(said) = of.response_element.as_ref().or(of.result.as_ref()) {
            return Err(syn::Error::new(said.span(), "a one-way operation has no response"));
        }
        if let Some(header) = of.response_headers.first() {
            return Err(syn::Error::new_spanned(header, "a one-way operation has no response"));
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
        && let Some(held) = generic_argument(&only.ty, "Request")
    {
        return Ok(Shape::Whole(Box::new(held.clone())));
    }
    let mut values = Vec::new();
    for argument in arguments {
        let Pat::Ident(pattern) = &*argument.pat else {
            return Err(syn::Error::new_spanned(
                &argument.pat,
                "a parameter needs a name, which becomes the name of its element",
            ));
        };
        if generic_argument(&argument.ty, "Request").is_some() {
            return Err(syn::Error::new_spanned(
                &argument.ty,
                "a `Request` contains the whole message, so it must be the only parameter",
            ));
        }
        if let Type::Reference(reference) = &*argument.ty {
            return Err(syn::Error::new_spanned(
                reference,
                "values are decoded from the message, so a method must take them by value",
            ));
        }
        let mut is_header = false;
        for attribute in argument.attrs.iter().filter(|attribute| attribute.path().is_ident("soap")) {
            attribute.parse_nested_meta(|meta| match meta.path.is_ident("header") {
                true => {
                    is_header = true;
                    Ok(())
                }
                false => Err(meta.error("this is unknown here, expected `header`")),
            })?;
        }
        if let Some(said) = argument.attrs.iter().find(|attribute| is_header && attribute.path().is_ident("xml")) {
            return Err(syn::Error::new_spanned(said, "the name of a header block is declared by its type"));
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

/// Returns the result of a method, whether it can fail, and the details of its faults.
fn response(output: &ReturnType) -> syn::Result<(Shape, bool, Option<Type>)> {
    let ReturnType::Type(_, of) = output else { return Ok((Shape::Values(Vec::new()), false, None)) };
    let (value, fault) = match arguments_of(of, "Result").as_slice() {
        [] => ((**of).clone(), None),
        [value, fault] => ((*value).clone(), Some(*fault)),
        _ => {
            let message = "write both types of the `Result`: the answer, and a `castile::Fault`";
            return Err(syn::Error::new_spanned(of, message));
        }
    };
    let detail = match fault {
        None => None,
        Some(fault) => match (is_called(fault, "Fault"), arguments_of(fault, "Fault").as_slice()) {
            (true, []) => None,
            (true, [detail]) => Some((*detail).clone()),
            _ => return Err(syn::Error::new_spanned(fault, "the error of an operation must be a `castile::Fault`")),
        },
    };
    let shape = match generic_argument(&value, "Response") {
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

/// Returns the generic arguments of a type with this name.
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
