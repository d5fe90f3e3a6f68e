//! The schema's information about the elements of a message.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use castile_wsdl::PartContent;
use castile_xml::tree::{Document, Element};
use castile_xsd::components::{Compositor, Particle, Term};
use castile_xsd::{ElementId, ExpandedName, Schema, TypeId};

use crate::contracts::envelope;
use crate::contracts::shape::Shape;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// How often an element may occur: minimum and maximum.
pub(crate) type Occurs = (u32, Option<u32>);

/// An element with its declaration.
pub(crate) struct Typed<'d, 'w> {
    pub(crate) element: Element<'d>,
    /// The path, such as `GetOrder/line`.
    pub(crate) path: &'w str,
    /// The type; `None` if the schema doesn't define it.
    pub(crate) type_id: Option<TypeId>,
    /// How often the element may occur, if known.
    pub(crate) occurs: Option<Occurs>,
    /// Whether the element may be nil.
    pub(crate) is_nillable: bool,
    /// The first elements of the alternatives, if the element begins a branch of a choice.
    pub(crate) others: Vec<String>,
}

/// An element that is still to be visited.
struct Open<'d> {
    element: Element<'d>,
    path: String,
    element_type: ElementType,
    occurs: Option<Occurs>,
    is_nillable: bool,
    others: Vec<String>,
}

/// An element of a content model.
struct Declared {
    occurs: Occurs,
    id: ElementId,
    branch: Option<Branch>,
}

/// A branch of a choice: the first element of each branch, and the index of this one.
type Branch = (Rc<[String]>, usize);

#[derive(Clone, Copy)]
enum ElementType {
    Type(TypeId),
    /// The wrapper of rpc style.
    Wrapper,
    Nothing,
}

/// Visits all elements in the body and the header of an envelope whose body has this shape.
///
/// # Errors
/// The document isn't an envelope.
pub(crate) fn walk(
    schema: &Schema,
    shape: &Shape,
    document: &Document,
    mut visit: impl FnMut(Typed<'_, '_>),
) -> anyhow::Result<()> {
    let of = |id: ElementId| (schema[id].type_id, schema[id].nillable);
    let global = |element: Element<'_>| schema.find_element(&envelope::name(element)).map(of);
    let (body, blocks) = envelope::parts(document)?;
    let mut open: Vec<Open<'_>> = Vec::new();
    // Content models by type, so that each is analysed once.
    let mut models = HashMap::new();
    for (element, is_body) in body.into_iter().map(|one| (one, true)).chain(blocks.into_iter().map(|one| (one, false)))
    {
        let (element_type, is_nillable) = match (shape, is_body) {
            (Shape::Call { .. }, true) => (ElementType::Wrapper, false),
            _ => declared_type(global(element)),
        };
        let (path, others) = (element.local().to_owned(), Vec::new());
        open.push(Open { element, path, element_type, occurs: None, is_nillable, others });
    }
    while let Some(Open { element, path, element_type: own, occurs, is_nillable, others }) = open.pop() {
        let type_id = own_type(schema, element).or(match own {
            ElementType::Type(type_id) => Some(type_id),
            ElementType::Wrapper | ElementType::Nothing => None,
        });
        visit(Typed { element, path: &path, type_id, occurs, is_nillable, others });
        if element.elements().next().is_none() {
            continue;
        }
        if let (Some(id), Entry::Vacant(unknown)) = (type_id, models.entry(type_id)) {
            let content = schema.content(id);
            unknown.insert(content.particle().map(|particle| declared_in(schema, particle)));
        }
        let model = models.get(&type_id).and_then(Option::as_ref);
        for child in element.elements() {
            let (mut occurs, mut others) = (None, Vec::new());
            let declaration = match (own, shape, model) {
                (ElementType::Wrapper, Shape::Call { parts, .. }, _) => {
                    let part = parts.iter().find(|(name, _)| name == child.local());
                    part.map(|(_, content)| match content {
                        PartContent::Element(id) => of(*id),
                        PartContent::Type(type_id) => (*type_id, false),
                    })
                }
                (_, _, Some(model)) => model
                    .get(&envelope::name(child))
                    .map(|declared| {
                        occurs = Some(declared.occurs);
                        others = declared.branch.iter().flat_map(others_of).collect();
                        of(declared.id)
                    })
                    .or_else(|| global(child)),
                _ => global(child),
            };
            let (element_type, is_nillable) = declared_type(declaration);
            let path = format!("{path}/{}", child.local());
            open.push(Open { element: child, path, element_type, occurs, is_nillable, others });
        }
    }
    Ok(())
}

/// Returns the type of a declaration, and whether it is nillable.
fn declared_type(declaration: Option<(TypeId, bool)>) -> (ElementType, bool) {
    declaration
        .map_or((ElementType::Nothing, false), |(type_id, is_nillable)| (ElementType::Type(type_id), is_nillable))
}

/// Returns the type that an element states with `xsi:type`.
fn own_type(schema: &Schema, element: Element<'_>) -> Option<TypeId> {
    let value = element.find_attribute(XSI, "type")?.value();
    let (namespace, local) = element.resolve_qname(value).ok()?;
    schema.find_type(&ExpandedName::new(namespace, local))
}

/// Returns the elements of a content model by name. Elements with the same name have the same type there (Part 1 §3.8.6).
fn declared_in(schema: &Schema, particle: &Particle) -> HashMap<ExpandedName, Declared> {
    let mut declared = HashMap::new();
    let mut open: Vec<(&Particle, Occurs, Option<Branch>)> = vec![(particle, (1, Some(1)), None)];
    while let Some((particle, (min, max), branch)) = open.pop() {
        let times = |one: Option<u32>, other: Option<u32>| Some(one?.saturating_mul(other?));
        let occurs = (particle.min_occurs.saturating_mul(min), times(particle.max_occurs, max));
        match &particle.term {
            Term::Element(id) => {
                for id in std::iter::once(*id).chain(schema.substitutes(*id)) {
                    let branch = branch.clone();
                    declared.entry(schema[id].name.clone()).or_insert(Declared { occurs, id, branch });
                }
            }
            Term::Group(group) => {
                let is_choice = group.compositor == Compositor::Choice && group.particles.len() > 1;
                let begin: Rc<[String]> = match is_choice {
                    true => group.particles.iter().map(|particle| beginning(schema, particle)).collect(),
                    false => Rc::default(),
                };
                open.extend(group.particles.iter().enumerate().rev().map(|(number, particle)| {
                    // Only the first element of a branch lists the alternatives.
                    let branch = match is_choice {
                        true => Some((begin.clone(), number)),
                        false => branch.clone().filter(|_| number == 0),
                    };
                    (particle, occurs, branch)
                }));
            }
            Term::GroupReference(_) | Term::Wildcard(_) => {}
        }
    }
    declared
}

/// Returns the name of the first element of a particle.
fn beginning(schema: &Schema, particle: &Particle) -> String {
    let mut first = Some(particle);
    while let Some(particle) = first {
        match &particle.term {
            Term::Element(id) => return schema[*id].name.local().to_owned(),
            Term::Group(group) => first = group.particles.first(),
            Term::GroupReference(_) => break,
            Term::Wildcard(_) => return "any element".to_owned(),
        }
    }
    "others".to_owned()
}

/// Returns the first elements of the other branches, up to a limit.
fn others_of((begin, own): &Branch) -> Vec<String> {
    const MAX_OTHERS: usize = 8;
    let others = begin.iter().enumerate().filter(|(number, _)| number != own).map(|(_, name)| name.clone());
    let mut others: Vec<String> = others.take(MAX_OTHERS + 1).collect();
    if others.len() > MAX_OTHERS {
        others[MAX_OTHERS] = "…".to_owned();
    }
    others
}
