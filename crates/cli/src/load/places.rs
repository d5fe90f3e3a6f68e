//! Which types the places of a template have, and whether the values of a feed are of them.

use anyhow::bail;
use castile_databinding::datatypes::Scope;
use castile_databinding::facets::SimpleTypeDefinition;
use castile_wsdl::{Definitions, PartContent};
use castile_xml::tree::{Document, Element};
use castile_xsd::components::{Content, Particle, Term};
use castile_xsd::{ElementId, ExpandedName, Schema, TypeId};

use super::envelope;
use super::feed::Feed;
use super::service::Shape;
use super::template::split;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// How many problems are told.
const MOST: usize = 10;

/// An element or attribute with a place of the feed in its value.
#[derive(Debug)]
struct Value {
    /// Which, as `GetOrder/line/@quantity`.
    path: String,
    pieces: Vec<Piece>,
    /// Its type; `None` where the schema says nothing.
    definition: Option<SimpleTypeDefinition>,
    declarations: Declarations,
}

#[derive(Debug)]
enum Piece {
    Literal(String),
    Column(usize),
}

/// The prefixes in scope around a value.
#[derive(Debug)]
struct Declarations(Vec<(String, String)>);

impl Scope for Declarations {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == prefix).map(|(_, namespace)| &**namespace);
        found.or((prefix.is_empty()).then_some(""))
    }
}

/// Checks every row of a feed against the types of all places that it fills in an envelope.
///
/// # Errors
/// The rows that have values of other types.
pub(super) fn check(definitions: &Definitions, shape: &Shape, envelope: &str, feed: &Feed) -> anyhow::Result<()> {
    let document = Document::parse(envelope)?;
    let values = values(definitions, shape, &document, feed)?;
    let mut problems = Vec::new();
    let mut text = String::new();
    for row in 0..feed.len() {
        for value in &values {
            text.clear();
            let mut columns = Vec::new();
            for piece in &value.pieces {
                match piece {
                    Piece::Literal(literal) => text += literal,
                    Piece::Column(column) => {
                        text += feed.value(row, *column);
                        columns.push(&*feed.columns()[*column]);
                    }
                }
            }
            if let Err(problem) = value.read(&text) {
                let columns = columns.join(", ");
                problems.push(feed.wrong_row(row, &format!("{columns}: {problem}, where {} is filled", value.path)));
            }
        }
        if problems.len() >= MOST {
            break;
        }
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("\n"));
    }
    Ok(())
}

impl Value {
    fn read(&self, text: &str) -> Result<(), String> {
        if let Some(bad) = text.chars().find(|c| !castile_xml::escape::is_char(*c)) {
            return Err(format!("found the character {bad:?}, which XML can't carry"));
        }
        match &self.definition {
            None => Ok(()),
            Some(definition) => match definition.read(text, &self.declarations) {
                Ok(_) => Ok(()),
                Err(problem) => Err(problem.to_string()),
            },
        }
    }
}

/// An element to be looked at, with what is known of it.
struct Open<'d> {
    element: Element<'d>,
    path: String,
    known: Known,
}

#[derive(Clone, Copy)]
enum Known {
    Type(TypeId),
    /// The wrapper of rpc style.
    Wrapper,
    Nothing,
}

fn values(definitions: &Definitions, shape: &Shape, document: &Document, feed: &Feed) -> anyhow::Result<Vec<Value>> {
    let schema = &definitions.schema;
    let global = |element: Element<'_>| schema.find_element(&envelope::name(element)).map(|id| schema[id].type_id);
    let (body, blocks) = envelope::parts(document)?;
    let mut open: Vec<Open<'_>> = Vec::new();
    for (element, is_body) in body.into_iter().map(|one| (one, true)).chain(blocks.into_iter().map(|one| (one, false)))
    {
        let known = match (shape, is_body) {
            (Shape::Call { .. }, true) => Known::Wrapper,
            _ => global(element).map_or(Known::Nothing, Known::Type),
        };
        open.push(Open { element, path: element.local().to_owned(), known });
    }
    let mut found = Vec::new();
    while let Some(Open { element, path, known }) = open.pop() {
        let type_id = own_type(schema, element).or(match known {
            Known::Type(type_id) => Some(type_id),
            Known::Wrapper | Known::Nothing => None,
        });
        for attribute in element.attributes() {
            let name = ExpandedName::new(attribute.namespace(), attribute.local());
            let uses = type_id.map(|id| schema.attribute_uses(id)).unwrap_or_default();
            let used = uses.iter().map(|one| one.attribute).find(|id| schema[*id].name == name);
            let declared = used.or_else(|| schema.find_attribute(&name)).map(|id| schema[id].type_id);
            let path = format!("{path}/@{}", attribute.local());
            found.extend(value(schema, element, path, attribute.value(), declared, feed));
        }
        let content = type_id.map(|id| schema.content(id));
        let is_leaf = element.elements().next().is_none();
        if is_leaf {
            let simple = match &content {
                Some(Content::Simple(id)) => Some(*id),
                _ => None,
            };
            found.extend(value(schema, element, path, &element.text(), simple, feed));
            continue;
        }
        for child in element.elements() {
            let child_type = match (known, shape, &content) {
                (Known::Wrapper, Shape::Call { parts, .. }, _) => {
                    let part = parts.iter().find(|(name, _)| name == child.local());
                    part.map(|(_, content)| match content {
                        PartContent::Element(id) => schema[*id].type_id,
                        PartContent::Type(type_id) => *type_id,
                    })
                }
                (_, _, Some(content)) => content
                    .particle()
                    .and_then(|particle| declared_in(schema, particle, &envelope::name(child)))
                    .map(|id| schema[id].type_id)
                    .or_else(|| global(child)),
                _ => global(child),
            };
            let known = child_type.map_or(Known::Nothing, Known::Type);
            open.push(Open { element: child, path: format!("{path}/{}", child.local()), known });
        }
    }
    Ok(found)
}

/// The type that an element says it has.
fn own_type(schema: &Schema, element: Element<'_>) -> Option<TypeId> {
    let value = element.find_attribute(XSI, "type")?.value();
    let (namespace, local) = element.resolve_qname(value).ok()?;
    schema.find_type(&ExpandedName::new(namespace, local))
}

/// The element of this name in a content model. All of one name have one type there (Part 1 §3.8.6).
fn declared_in(schema: &Schema, particle: &Particle, name: &ExpandedName) -> Option<ElementId> {
    let mut open = vec![particle];
    while let Some(particle) = open.pop() {
        match &particle.term {
            Term::Element(id) if schema[*id].name == *name => return Some(*id),
            Term::Element(id) => {
                if let Some(found) = schema.substitutes(*id).into_iter().find(|id| schema[*id].name == *name) {
                    return Some(found);
                }
            }
            Term::Group(group) => open.extend(&group.particles),
            Term::GroupReference(_) | Term::Wildcard(_) => {}
        }
    }
    None
}

/// A value with places of the feed in it. Of one that also has a place for a value of an earlier answer, nothing is known
/// before that comes.
fn value(
    schema: &Schema,
    element: Element<'_>,
    path: String,
    text: &str,
    type_id: Option<TypeId>,
    feed: &Feed,
) -> Option<Value> {
    if !text.contains("{{") {
        return None;
    }
    let mut pieces = Vec::new();
    for piece in split(text) {
        pieces.push(match piece {
            Ok(literal) => Piece::Literal(literal.to_owned()),
            Err(name) => Piece::Column(feed.column(name)?),
        });
    }
    let declarations =
        element.namespaces().into_iter().map(|(prefix, namespace)| (prefix.to_owned(), namespace.to_owned()));
    Some(Value {
        path,
        pieces,
        definition: type_id.and_then(|id| schema.simple_type_definition(id).ok()),
        declarations: Declarations(declarations.collect()),
    })
}
