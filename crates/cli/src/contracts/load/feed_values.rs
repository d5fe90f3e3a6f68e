//! The types of template placeholders, and checks of the feed's values.

use anyhow::bail;
use castile_databinding::datatypes::Scope;
use castile_databinding::facets::SimpleTypeDefinition;
use castile_wsdl::Definitions;
use castile_xml::tree::{Document, Element};
use castile_xsd::components::Content;
use castile_xsd::{ExpandedName, Schema, TypeId};

use super::feed::Feed;
use crate::contracts::shape::Shape;
use crate::contracts::template::split;
use crate::contracts::typed::{self, Typed};

/// The maximum number of reported problems.
const MAX_PROBLEMS: usize = 10;

/// An element or attribute whose value contains placeholders of the feed.
#[derive(Debug)]
struct Value {
    /// The path, such as `GetOrder/line/@quantity`.
    path: String,
    pieces: Vec<Piece>,
    /// The type; `None` if the schema doesn't define it.
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

/// Checks every row of a feed against the types of all its placeholders in an envelope.
///
/// # Errors
/// Rows have values of other types.
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
                problems.push(feed.row_error(row, &format!("{columns}: {problem}, in {}", value.path)));
            }
        }
        if problems.len() >= MAX_PROBLEMS {
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
            return Err(format!("found the character {bad:?}, which is not allowed in XML"));
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

fn values(definitions: &Definitions, shape: &Shape, document: &Document, feed: &Feed) -> anyhow::Result<Vec<Value>> {
    let schema = &definitions.schema;
    let mut found = Vec::new();
    typed::walk(schema, shape, document, |Typed { element, path, type_id, .. }| {
        for attribute in element.attributes() {
            let name = ExpandedName::new(attribute.namespace(), attribute.local());
            let uses = type_id.map(|id| schema.attribute_uses(id)).unwrap_or_default();
            let used = uses.iter().map(|one| one.attribute).find(|id| schema[*id].name == name);
            let declared = used.or_else(|| schema.find_attribute(&name)).map(|id| schema[id].type_id);
            let path = format!("{path}/@{}", attribute.local());
            found.extend(value(schema, element, path, attribute.value(), declared, feed));
        }
        if element.elements().next().is_none() {
            let simple = match type_id.map(|id| schema.content(id)) {
                Some(Content::Simple(id)) => Some(id),
                _ => None,
            };
            found.extend(value(schema, element, path.to_owned(), &element.text(), simple, feed));
        }
    })?;
    Ok(found)
}

/// Returns a value with placeholders of the feed. A value that also contains an extracted value isn't checked, because that is unknown
/// before the run.
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
