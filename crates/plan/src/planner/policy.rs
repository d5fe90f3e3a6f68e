//! Detects policies which require MTOM messages (WS-Policy Attachment 1.5 §4).

use std::collections::HashSet;

use castile_wsdl::{Definitions, Extension};
use castile_xml::{Limits, Reader, StartTag, Token};

/// The assertions of WS-MTOMPolicy 1.0 and 1.1, by namespace and local name.
const ASSERTIONS: [(&str, &str); 2] = [
    ("http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization", "OptimizedMimeSerialization"),
    ("http://www.w3.org/2007/08/soap12-mtom-policy", "MTOM"),
];

/// The policies of a contract that references can name.
pub(super) struct Policies {
    /// The names of policies that assert MTOM.
    asserting: HashSet<String>,
}

impl Policies {
    pub(super) fn of(definitions: &Definitions) -> Self {
        let policies = definitions.extensions.iter().filter(|policy| policy.name.local() == "Policy");
        let asserting = policies.filter(|policy| asserts_mtom(policy)).filter_map(|policy| attribute(policy, "Id"));
        Policies { asserting: asserting.collect() }
    }

    /// Returns true if a policy in one of these `places` asserts MTOM. An endpoint has the policies of its port,
    /// binding, port type and service (Attachment §4.1).
    pub(super) fn are_mtom(&self, places: &[&[Extension]]) -> bool {
        places.iter().copied().flatten().any(|extension| match extension.name.local() {
            "Policy" => asserts_mtom(extension),
            "PolicyReference" => {
                let target = attribute(extension, "URI");
                let target = target.as_deref().and_then(|uri| uri.trim().strip_prefix('#'));
                target.is_some_and(|target| self.asserting.contains(target))
            }
            _ => false,
        })
    }
}

/// Returns true if a policy has the assertion and it is not optional.
fn asserts_mtom(policy: &Extension) -> bool {
    tags(policy, |reader, tag| {
        let name = (reader.namespace(tag.namespace), tag.name.local());
        let mut attributes = reader.attributes();
        let is_optional =
            attributes.any(|attribute| attribute.name.local() == "Optional" && matches!(attribute.value, "true" | "1"));
        (ASSERTIONS.contains(&name) && !is_optional).then_some(())
    })
    .is_some()
}

/// Returns the value of an attribute of the first tag, by its local name.
fn attribute(extension: &Extension, local: &str) -> Option<String> {
    let value = tags(extension, |reader, _| {
        let mut attributes = reader.attributes();
        let found = attributes.find(|attribute| attribute.name.local() == local);
        Some(found.map(|attribute| attribute.value.to_owned()))
    });
    value.flatten()
}

/// Returns the first result of `find` for the tags of an extension.
fn tags<T>(extension: &Extension, find: impl Fn(&Reader<'_>, StartTag<'_>) -> Option<T>) -> Option<T> {
    let document = self_contained(extension);
    let mut reader = Reader::new(document.as_bytes(), Limits::default()).ok()?;
    let mut is_wrapper = true;
    loop {
        match reader.next().ok()? {
            Token::StartTag(_) if is_wrapper => is_wrapper = false,
            Token::StartTag(tag) => {
                if let Some(found) = find(&reader, tag) {
                    return Some(found);
                }
            }
            Token::End => return None,
            _ => {}
        }
    }
}

/// Returns the extension in an element that declares the prefixes in scope.
fn self_contained(extension: &Extension) -> String {
    let mut document = "<scope".to_owned();
    for (prefix, namespace) in &extension.namespaces {
        let mut value = Vec::new();
        if castile_xml::escape::push_attribute(&mut value, namespace).is_ok() && prefix != "xml" {
            let colon = if prefix.is_empty() { "" } else { ":" };
            document.push_str(&format!(" xmlns{colon}{prefix}=\"{}\"", String::from_utf8_lossy(&value)));
        }
    }
    document + ">" + &extension.source + "</scope>"
}
