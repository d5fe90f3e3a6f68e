//! What of a generated module reads and writes messages: found in its source.

use std::collections::{HashMap, HashSet};

use quote::ToTokens;
use syn::{
    Expr, ExprCall, GenericArgument, ImplItem, Item, Lit, PathArguments, ReturnType, TraitItem, Type, TypeParamBound,
};

use crate::Error;

/// A type that reads and writes an element.
pub(crate) struct Case {
    /// The operation whose message it is.
    pub(crate) operation: String,
    /// The name of the element: its namespace and its local name.
    pub(crate) element: (String, String),
    /// A call that reads and writes a document, up to its last argument: what is generic and what is specific.
    call: String,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Message,
    /// A call in SOAP encoding, or its answer.
    Call,
    Fault,
    /// What a fault says in SOAP encoding.
    EncodedFault,
}

impl Kind {
    /// Whether it is in SOAP encoding.
    pub(crate) fn is_encoded(self) -> bool {
        matches!(self, Kind::Call | Kind::EncodedFault)
    }
}

impl Case {
    /// An expression that reads and writes the document `document`.
    pub(crate) fn round_trip(&self) -> String {
        let function = match self.kind {
            Kind::Message => "message",
            Kind::Call => "call",
            Kind::Fault => "fault",
            Kind::EncodedFault => "encoded_fault",
        };
        format!("crate::round_trip::{function}{}, document)", self.call)
    }

    /// An expression that reads or writes the message `message` again and again; faults come too seldom.
    pub(crate) fn cost(&self) -> Option<String> {
        (self.kind == Kind::Message).then(|| format!("crate::cost::cost{}, message, writes, times)", self.call))
    }
}

/// The cases of a module, each pair of an element and a type once; `is_encoded` says of what faults say whether it is in SOAP
/// encoding.
pub(crate) fn cases(source: &str, is_encoded: impl Fn(&(String, String)) -> bool) -> Result<Vec<Case>, Error> {
    let file = syn::parse_file(source)?;
    let namespaces = namespaces(&file.items);
    let faults = faults(&file.items, &namespaces);
    let traits = file.items.iter().filter_map(|item| match item {
        Item::Trait(item) => Some(item),
        _ => None,
    });
    let tables = file.items.iter().filter_map(|item| match item {
        // By its type: a table of a type `Operations` has a name like it.
        Item::Static(item) if is_operations(&item.ty) => Some(item),
        _ => None,
    });
    let (mut cases, mut known) = (Vec::new(), HashSet::new());
    // Both are in the order of the services.
    for (port_type, table) in traits.zip(tables) {
        let Expr::Array(operations) = &*table.expr else { return Err("a table of operations is no array".into()) };
        let methods = port_type.items.iter().filter_map(|item| match item {
            TraitItem::Fn(method) => Some(method),
            _ => None,
        });
        for (index, (method, operation)) in methods.zip(&operations.elems).enumerate() {
            let name = method.sig.ident.to_string();
            let (response, fault) = output(&method.sig.output);
            let request = method.sig.inputs.iter().find_map(|input| match input {
                syn::FnArg::Typed(input) => arguments(&input.ty).into_iter().next(),
                syn::FnArg::Receiver(_) => None,
            });
            for (direction, type_) in [("request", request), ("response", response)] {
                let Some((root, kind)) = field(operation, direction) else { continue };
                let element = element(std::iter::once(root), &namespaces).pop();
                let (Some(type_), Some(element)) = (type_, element) else { continue };
                let type_ = type_.to_token_stream().to_string();
                if known.insert((element.clone(), type_.clone())) {
                    let root = match direction {
                        "request" => format!("&{}[{index}].request", table.ident),
                        _ => format!("{}[{index}].response.as_ref().expect(\"it has one\")", table.ident),
                    };
                    let call = format!("::<{type_}>({root}");
                    cases.push(Case { operation: name.clone(), element, call, kind });
                }
            }
            let Some(fault) = fault.map(|fault| fault.to_token_stream().to_string()) else { continue };
            for (index, element) in faults.get(&fault).into_iter().flatten().enumerate() {
                if known.insert((element.clone(), fault.clone())) {
                    let call = format!("::<{fault}>({index}");
                    let kind = if is_encoded(element) { Kind::EncodedFault } else { Kind::Fault };
                    cases.push(Case { operation: name.clone(), element: element.clone(), call, kind });
                }
            }
        }
    }
    Ok(cases)
}

/// Whether `type_` is that of a table of operations, `[Operation; N]`.
fn is_operations(type_: &Type) -> bool {
    matches!(type_, Type::Array(array) if matches!(&*array.elem, Type::Path(path) if path.path.is_ident("Operation")))
}

/// The constants of the namespaces.
fn namespaces(items: &[Item]) -> HashMap<String, String> {
    let constants = items.iter().filter_map(|item| match item {
        Item::Const(item) => Some((item.ident.to_string(), text(&item.expr)?)),
        _ => None,
    });
    constants.collect()
}

/// The elements of the types that details of faults have.
fn faults(items: &[Item], namespaces: &HashMap<String, String>) -> HashMap<String, Vec<(String, String)>> {
    let details = items.iter().filter_map(|item| {
        let Item::Impl(item) = item else { return None };
        let (name, _) = item.trait_.as_ref()?;
        if !name.is_ident("FaultDetail") {
            return None;
        }
        let elements = item.items.iter().find_map(|item| match item {
            ImplItem::Const(item) if item.ident == "ELEMENTS" => Some(&item.expr),
            _ => None,
        })?;
        let Expr::Reference(elements) = elements else { return None };
        let Expr::Array(elements) = &*elements.expr else { return None };
        Some((item.self_ty.to_token_stream().to_string(), element(elements.elems.iter(), namespaces)))
    });
    details.collect()
}

/// The types in `impl Future<Output = Result<Response<Message>, Fault<Detail>>> + Send`.
fn output(output: &ReturnType) -> (Option<&Type>, Option<&Type>) {
    let ReturnType::Type(_, output) = output else { return (None, None) };
    let Type::ImplTrait(output) = &**output else { return (None, None) };
    let result = output.bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().and_then(|segment| match &segment.arguments {
            PathArguments::AngleBracketed(arguments) => arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::AssocType(assigned) => Some(&assigned.ty),
                _ => None,
            }),
            _ => None,
        }),
        _ => None,
    });
    let mut types = result.into_iter().flat_map(arguments);
    let mut argument = || arguments(types.next()?).into_iter().next();
    (argument(), argument())
}

/// The types in angle brackets.
fn arguments(type_: &Type) -> Vec<&Type> {
    let Type::Path(path) = type_ else { return Vec::new() };
    let Some(PathArguments::AngleBracketed(arguments)) = path.path.segments.last().map(|segment| &segment.arguments)
    else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(type_) => Some(type_),
        _ => None,
    });
    types.collect()
}

/// The element of a payload: `Operation::new("a", "", Root::new(…, "<a>", "</a>")).with_response(Root::new(…).encoded())`.
fn field<'a>(mut operation: &'a Expr, direction: &str) -> Option<(&'a Expr, Kind)> {
    let mut response = None;
    while let Expr::MethodCall(call) = operation {
        if call.method == "with_response" {
            response = call.args.first();
        }
        operation = &call.receiver;
    }
    let Expr::Call(ExprCall { args, .. }) = operation else { return None };
    let mut root = if direction == "request" { args.get(2)? } else { response? };
    let mut kind = Kind::Message;
    // Whatever else is called on it is no matter here.
    loop {
        match root {
            Expr::MethodCall(call) => {
                if call.method == "encoded" {
                    kind = Kind::Call;
                }
                root = &call.receiver;
            }
            Expr::Call(ExprCall { func, args, .. }) => match func.to_token_stream().to_string().as_str() {
                "Root :: new" => return Some((args.first()?, kind)),
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// The names in `Element::new(NAMESPACE, "name", 1)`, with whatever is called on it.
fn element<'a>(
    elements: impl Iterator<Item = &'a Expr>,
    namespaces: &HashMap<String, String>,
) -> Vec<(String, String)> {
    let names = elements.filter_map(|mut expression| {
        while let Expr::MethodCall(call) = expression {
            expression = &call.receiver;
        }
        let Expr::Call(ExprCall { args, .. }) = expression else { return None };
        let namespace = match &args[0] {
            Expr::Path(path) => namespaces.get(&path.path.segments.last()?.ident.to_string())?.clone(),
            other => text(other)?,
        };
        Some((namespace, text(&args[1])?))
    });
    names.collect()
}

fn text(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}
