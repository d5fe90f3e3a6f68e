use castile_xsd::components::{Compositor, Content, Particle, Scope, Term};
use castile_xsd::{ElementId, Schema};

use crate::model::{BindingMessage, BindingOperation, PartContent, Pattern, Style, Use, Wrapped};

/// Returns the wrapper elements if a document/literal operation follows the wrapped convention (JAX-WS 2.2 §2.3.1.2).
pub(crate) fn detect(schema: &Schema, operation: &BindingOperation) -> Option<Wrapped> {
    if operation.style != Style::Document {
        return None;
    }
    let input = wrapper(schema, operation.input.as_ref()?)?;
    if schema[input].name.local() != operation.name {
        return None;
    }
    let output = match operation.pattern {
        Pattern::OneWay => None,
        Pattern::RequestResponse => Some(wrapper(schema, operation.output.as_ref()?)?),
        Pattern::SolicitResponse | Pattern::Notification => return None,
    };
    Some(Wrapped { input, output })
}

/// Returns the element of a message if its content is only a sequence of local elements.
fn wrapper(schema: &Schema, message: &BindingMessage) -> Option<ElementId> {
    let [part] = message.body.as_slice() else { return None };
    let PartContent::Element(element) = part.content else { return None };
    let declaration = &schema[element];
    let type_id = declaration.type_id;
    // An element without a type allows any content, and an element with a simple type can't hold arguments.
    if message.use_ != Use::Literal || declaration.nillable || schema[type_id].as_complex().is_none() {
        return None;
    }
    let has_attributes = !schema.attribute_uses(type_id).is_empty() || schema.attribute_wildcard(type_id).is_some();
    if has_attributes {
        return None;
    }
    match schema.content(type_id) {
        Content::Empty => Some(element),
        Content::ElementOnly(Particle { min_occurs: 1, max_occurs: Some(1), term: Term::Group(group) }) => {
            let local = |particle: &Particle| match &particle.term {
                Term::Element(child) => schema[*child].scope == Scope::Local,
                _ => false,
            };
            (group.compositor == Compositor::Sequence && group.particles.iter().all(local)).then_some(element)
        }
        _ => None,
    }
}
