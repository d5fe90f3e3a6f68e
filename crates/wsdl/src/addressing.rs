//! WS-Addressing in a contract (1.0 Metadata; its predecessor, the WSDL Binding; the submission).

use std::collections::HashMap;

use castile_xml::tree::Element;

use crate::extensions::{is_addressing, is_policy};
use crate::model::{
    Addressing, AddressingDeclarations, Binding, BindingOperation, Definitions, Extension, OperationMessage, Port,
    Responses,
};

/// Maximum depth of policies that are examined. Policy operators need not be nested at all (WS-Policy 1.5 §4.1).
const MAX_DEPTH: usize = 16;

impl Definitions {
    /// Returns the WS-Addressing declaration of a port or its binding, made by an extension or a policy (1.0 Metadata
    /// §3). `None` if there is none.
    #[must_use]
    pub fn addressing(&self, port: &Port) -> Option<Addressing> {
        let AddressingDeclarations { of_policies, of_bindings } =
            self.addressing_declarations.get_or_init(|| self.addressing_declarations());
        let own = port.extensions.iter().find_map(|extension| extension_addressing(extension, of_policies));
        own.or_else(|| of_bindings.get(port.binding.index()).copied().flatten())
    }

    /// Reads the declarations of policies and bindings. The result is cached, because many ports may refer to them.
    fn addressing_declarations(&self) -> AddressingDeclarations {
        let mut of_policies = HashMap::new();
        for document in
            self.extensions.iter().filter(|known| is_policy(known.name.namespace())).filter_map(Extension::document)
        {
            let Some(policy) = document.root().elements().next() else { continue };
            let Some(said) = all(policy, MAX_DEPTH) else { continue };
            for id in policy.attributes().filter(|attribute| attribute.local().eq_ignore_ascii_case("id")) {
                of_policies.entry(id.value().trim().to_owned()).or_insert(said);
            }
        }
        let of_binding = |binding: &Binding| {
            binding.extensions.iter().find_map(|extension| extension_addressing(extension, &of_policies))
        };
        let of_bindings = self.bindings.iter().map(of_binding).collect();
        AddressingDeclarations { of_policies, of_bindings }
    }

    /// Returns the action of a request (1.0 Metadata §4.4; WSDL Binding §4.4): the declared action, or the
    /// `soapAction`, or the default action.
    #[must_use]
    pub fn request_action(&self, binding: &Binding, operation: &BindingOperation) -> String {
        let input = self[binding.port_type].operations[operation.operation].input.as_ref();
        let said =
            input.and_then(declared_action).or(operation.soap_action.as_deref().filter(|action| !action.is_empty()));
        said.map_or_else(|| self.action(binding, &[input.map_or("", |input| &input.name)]), str::to_owned)
    }

    /// Returns the action of a response: the declared or the default action. `None` if there is no response.
    #[must_use]
    pub fn response_action(&self, binding: &Binding, operation: &BindingOperation) -> Option<String> {
        let output = self[binding.port_type].operations[operation.operation].output.as_ref()?;
        Some(declared_action(output).map_or_else(|| self.action(binding, &[&output.name]), str::to_owned))
    }

    /// Returns the action of a fault: the declared or the default action.
    #[must_use]
    pub fn fault_action(&self, binding: &Binding, operation: &BindingOperation, fault: &str) -> String {
        let faults = &self[binding.port_type].operations[operation.operation].faults;
        let said = faults.iter().find(|known| known.name == fault).and_then(declared_action);
        said.map_or_else(|| self.action(binding, &[&operation.name, "Fault", fault]), str::to_owned)
    }

    /// Returns the default action (1.0 Metadata §4.4.4): namespace, port type and names, joined by the separator that
    /// the namespace uses.
    fn action(&self, binding: &Binding, names: &[&str]) -> String {
        let port_type = &self[binding.port_type].name;
        let namespace = port_type.namespace();
        let is_urn = namespace.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("urn:"));
        let delimiter = if is_urn { ":" } else { "/" };
        let namespace = namespace.strip_suffix(delimiter).unwrap_or(namespace);
        let parts: Vec<&str> = [namespace, port_type.local()].iter().chain(names).copied().collect();
        parts.join(delimiter)
    }
}

fn extension_addressing(extension: &Extension, of_policies: &HashMap<String, Addressing>) -> Option<Addressing> {
    if is_addressing(extension.name.namespace()) && extension.name.local() == "UsingAddressing" {
        return Some(Addressing { required: extension.required, responses: Responses::Anywhere });
    }
    if !is_policy(extension.name.namespace()) {
        return None;
    }
    let document = extension.document()?;
    let element = document.root().elements().next()?;
    match element.local() {
        "Policy" => all(element, MAX_DEPTH),
        "PolicyReference" => of_policies.get(element.attribute("URI")?.trim().strip_prefix('#')?).copied(),
        _ => None,
    }
}

/// Returns the value of `wsam:Action` or one of its predecessors.
fn declared_action(message: &OperationMessage) -> Option<&str> {
    let mut attributes = message.attributes.iter();
    let action = attributes.find(|(name, _)| name.local() == "Action" && is_addressing(name.namespace()));
    action.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

/// Returns the declaration made by all of these policies and assertions together (WS-Policy 1.5 §4.3).
fn all(element: Element<'_>, deepest: usize) -> Option<Addressing> {
    element.elements().find_map(|child| match (is_policy(child.namespace()), child.local()) {
        _ if deepest == 0 => None,
        (true, "All" | "Policy") => all(child, deepest - 1),
        (true, "ExactlyOne") => one(child, deepest - 1),
        (false, "Addressing" | "UsingAddressing") if is_addressing(child.namespace()) => {
            Some(Addressing { required: !is_optional(child), responses: responses(child) })
        }
        _ => None,
    })
}

/// Returns the declaration made by alternatives. WS-Addressing is required only if all alternatives require it.
fn one(element: Element<'_>, deepest: usize) -> Option<Addressing> {
    let alternatives: Vec<Option<Addressing>> = element
        .elements()
        .map(|child| match child.local() {
            "All" | "Policy" if is_policy(child.namespace()) => all(child, deepest),
            // A single assertion is an alternative by itself.
            _ if is_addressing(child.namespace()) => {
                Some(Addressing { required: !is_optional(child), responses: responses(child) })
            }
            _ => None,
        })
        .collect();
    let required = alternatives.iter().all(|said| said.is_some_and(|said| said.required));
    alternatives.into_iter().flatten().next().map(|said| Addressing { required, ..said })
}

fn is_optional(assertion: Element<'_>) -> bool {
    let mut attributes = assertion.attributes();
    let optional = attributes.find(|attribute| attribute.local() == "Optional" && is_policy(attribute.namespace()));
    optional.is_some_and(|attribute| matches!(attribute.value().trim(), "true" | "1"))
}

/// Returns where responses are sent, by the policy in an assertion. Both kinds together mean anywhere.
fn responses(assertion: Element<'_>) -> Responses {
    let mut pending: Vec<(Element<'_>, usize)> = vec![(assertion, MAX_DEPTH)];
    let (mut anonymous, mut non_anonymous) = (false, false);
    while let Some((element, deepest)) = pending.pop() {
        if is_addressing(element.namespace()) && !is_optional(element) {
            anonymous |= element.local() == "AnonymousResponses";
            non_anonymous |= element.local() == "NonAnonymousResponses";
        }
        if deepest > 0 {
            pending.extend(element.elements().map(|child| (child, deepest - 1)));
        }
    }
    match (anonymous, non_anonymous) {
        (true, false) => Responses::Anonymous,
        (false, true) => Responses::NonAnonymous,
        _ => Responses::Anywhere,
    }
}
