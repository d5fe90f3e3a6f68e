//! The structure of a contract's messages, and samples of them.

use castile_soap::Version;
use castile_wsdl::{BindingMessage, BindingOperation, Definitions, Part, PartContent, Sampler, Style, Use};
use castile_xsd::validate::Chosen;
use castile_xsd::{ElementId, ExpandedName, TypeId};

/// Optional content at this depth and below is omitted from samples.
const DEPTH: usize = 4;

/// The content of a message's body.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Document style: these elements, usually one.
    Elements(Vec<ElementId>),
    /// Document style with a part that has a type: the content of the type.
    Content,
    /// Rpc style: a wrapper element with the parts in it.
    Call {
        wrapper: ExpandedName,
        parts: Vec<(String, PartContent)>,
        /// Whether the parts are in SOAP encoding.
        is_encoded: bool,
    },
}

impl Shape {
    /// Returns the shape of a request.
    pub(crate) fn of_request(operation: &BindingOperation, input: &BindingMessage) -> Self {
        Shape::of(operation, input, &operation.name)
    }

    /// Returns the shape of a response.
    pub(crate) fn of_response(operation: &BindingOperation, output: &BindingMessage) -> Self {
        Shape::of(operation, output, &format!("{}Response", operation.name))
    }

    /// Returns the shape of a message. `name` is the wrapper's name in rpc style.
    fn of(operation: &BindingOperation, message: &BindingMessage, name: &str) -> Self {
        match operation.style {
            Style::Rpc => Shape::Call {
                wrapper: ExpandedName::new(message.namespace.clone().unwrap_or_default(), name),
                parts: message.body.iter().map(|part| (part.name.clone(), part.content)).collect(),
                is_encoded: message.use_ == Use::Encoded,
            },
            Style::Document => {
                let is_typed = message.body.iter().any(|part| matches!(part.content, PartContent::Type(_)));
                let elements = message.body.iter().filter_map(element);
                if is_typed { Shape::Content } else { Shape::Elements(elements.collect()) }
            }
        }
    }

    /// Returns the possible names of the first element in the body; `None` for any name.
    pub(crate) fn roots(&self, definitions: &Definitions) -> Option<Vec<ExpandedName>> {
        match self {
            Shape::Elements(elements) => {
                let of = |id: &ElementId| {
                    let substitutes = definitions.schema.substitutes(*id);
                    std::iter::once(*id).chain(substitutes).map(|id| definitions.schema[id].name.clone())
                };
                Some(elements.first().into_iter().flat_map(of).collect())
            }
            Shape::Content => None,
            Shape::Call { wrapper, .. } => Some(vec![wrapper.clone()]),
        }
    }

    /// Chooses how a validator treats an element in the body. `around` is the number of its ancestors, and `roots` is the result of
    /// [`roots`](Self::roots). Content in SOAP encoding is skipped, because schemas don't define it.
    pub(crate) fn chosen(&self, roots: Option<&[ExpandedName]>, around: usize, namespace: &str, local: &str) -> Chosen {
        let is_root = |name: &ExpandedName| (name.namespace(), name.local()) == (namespace, local);
        match (around, self) {
            (_, Shape::Content | Shape::Call { is_encoded: true, .. }) => Chosen::Skip,
            (2, Shape::Call { .. }) if roots.is_none_or(|roots| roots.iter().any(is_root)) => Chosen::Within,
            (_, Shape::Call { parts, .. }) => match parts.iter().find(|(name, _)| name == local) {
                Some((_, PartContent::Type(type_id))) if around == 3 => Chosen::OfType(*type_id),
                // The validator reports an unknown part as undeclared.
                _ => Chosen::Declared,
            },
            (_, Shape::Elements(_)) => Chosen::Declared,
        }
    }

    /// Returns a sample payload. It contains every element once to a few levels, and only required elements below.
    ///
    /// # Errors
    /// There is no finite sample, or a required element is abstract.
    pub(crate) fn sample(&self, sampler: Sampler<'_>, version: Version) -> anyhow::Result<String> {
        Ok(match self {
            Shape::Elements(elements) => elements.iter().map(|id| sampler.element(*id)).collect::<Result<_, _>>()?,
            Shape::Content => anyhow::bail!("its body is the content of a type, without an element"),
            Shape::Call { wrapper, parts, is_encoded: false } => sampler.call(wrapper, parts)?,
            Shape::Call { wrapper, parts, is_encoded: true } => {
                sampler.encoded_call(version.encoding(), wrapper, parts)?
            }
        })
    }
}

/// Returns the header blocks of a message that are elements.
pub(crate) fn blocks(message: &BindingMessage) -> Vec<ElementId> {
    message.headers.iter().filter_map(|header| element(&header.part)).collect()
}

/// The detail of a fault.
#[derive(Debug)]
pub(crate) enum Detail {
    Element(ElementId),
    /// In SOAP encoding: an element with this name and type. If the part has a type, the name is that of the part.
    Encoded(ExpandedName, TypeId),
}

impl Detail {
    /// Returns a sample of the element in the detail.
    ///
    /// # Errors
    /// There is no finite sample, or a required element is abstract.
    pub(crate) fn sample(self, sampler: Sampler<'_>, version: Version) -> anyhow::Result<String> {
        Ok(match self {
            Detail::Element(id) => sampler.element(id)?,
            Detail::Encoded(name, type_id) => sampler.encoded(version.encoding(), name, type_id)?,
        })
    }
}

/// Returns the faults of an operation that have a detail, with their names. A literal part with a type has none.
pub(crate) fn faults<'f>(
    definitions: &'f Definitions,
    operation: &'f BindingOperation,
) -> impl Iterator<Item = (&'f str, Detail)> {
    operation.faults.iter().filter_map(|fault| {
        let part = fault.part.as_ref()?;
        let detail = match (fault.use_, part.content) {
            (Use::Literal, _) => Detail::Element(element(part)?),
            (Use::Encoded, PartContent::Element(id)) => {
                let element = &definitions.schema[id];
                Detail::Encoded(element.name.clone(), element.type_id)
            }
            (Use::Encoded, PartContent::Type(type_id)) => {
                let namespace = fault.namespace.clone().unwrap_or_default();
                Detail::Encoded(ExpandedName::new(namespace, part.name.as_str()), type_id)
            }
        };
        Some((fault.name.as_str(), detail))
    })
}

/// Returns a sampler for a contract.
pub(crate) fn sampler(definitions: &Definitions) -> Sampler<'_> {
    Sampler::new(definitions, DEPTH)
}

fn element(part: &Part) -> Option<ElementId> {
    match part.content {
        PartContent::Element(id) => Some(id),
        PartContent::Type(_) => None,
    }
}
