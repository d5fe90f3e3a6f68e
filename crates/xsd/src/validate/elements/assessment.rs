//! Determines how an element is validated: by the content model of its parent, its declaration, `xsi:type` and
//! `xsi:nil` (cvc-assess-elt, cvc-elt 1 to 4).

use castile_datatypes::model::Matcher;
use castile_datatypes::{Value, quoted};
use castile_xml::{Reader, StartTag};

use super::super::model::{Leaf, Model};
use super::super::names::NameId;
use super::super::types::TypeContent;
use super::expected::expected;
use super::{Assessed, Validation};
use crate::builtin::XSI_NAMESPACE;
use crate::components::{ProcessContents, ValueConstraint};
use crate::{Builtin, ElementId, ExpandedName, TypeId};

/// How an element is validated, as determined by its parent.
pub(super) enum Assessment {
    /// Not validated.
    Skip,
    /// Validated by this declaration.
    Declared(ElementId),
    /// Validated by this type.
    OfType(TypeId),
    /// Validated by its declaration or `xsi:type`, if it has one.
    Lax,
    /// Validated by its declaration or `xsi:type`; one is required.
    Strict,
    /// The outermost element.
    Root,
}

impl<'d> Validation<'_, '_, 'd> {
    /// Returns how the parent requires a new child to be validated.
    pub(super) fn assessment(&mut self, reader: &Reader<'d>, tag: StartTag<'d>, name: Option<NameId>) -> Assessment {
        let Some(frame) = self.frames.last_mut() else { return Assessment::Root };
        let Some(parent) = &mut frame.assessed else { return Assessment::Skip };
        let is_first = !std::mem::replace(&mut parent.has_children, true);
        let problem = match &parent.type_.content {
            _ if parent.is_nil => Some(("cvc-elt.3.2.1", "where nothing was expected because the element is nil")),
            TypeContent::Empty => Some(("cvc-complex-type.2.1", "where nothing was expected")),
            TypeContent::Simple(_) => match self.types.schema[parent.type_.id].as_simple() {
                Some(_) => Some(("cvc-type.3.1.2", "where only text was expected")),
                None => Some(("cvc-complex-type.2.2", "where only text was expected")),
            },
            TypeContent::Elements { .. } => None,
        };
        match (problem, parent.type_.clone().model()) {
            (None, Some(model)) => self.next_child(reader, tag, name, model),
            (problem, _) => {
                if let Some((rule, problem)) = problem.filter(|_| is_first) {
                    let message = format!("found {}, {problem}", tag.name.as_str());
                    self.problems.add(rule, tag.offset, message);
                }
                Assessment::Lax
            }
        }
    }

    /// Finds the particle that matches the new child.
    fn next_child(
        &mut self,
        reader: &Reader<'d>,
        tag: StartTag<'d>,
        name: Option<NameId>,
        model: &Model,
    ) -> Assessment {
        let namespace = reader.namespace(tag.namespace);
        let mut candidates: Vec<usize> = name.map(|name| model.named(name).to_vec()).unwrap_or_default();
        let global = self.types.element(name);
        if let Some(global) = global {
            for &head in self.types.heads(global).iter() {
                candidates.extend(model.references(head));
            }
        }
        let takes = |wildcard: &&usize| match &model[**wildcard] {
            Leaf::Wildcard(wildcard) => wildcard.namespaces.allows(namespace),
            Leaf::Element(_) => false,
        };
        candidates.extend(model.wildcards().iter().filter(takes));
        let Some(parent) = self.frames.last_mut().and_then(|frame| frame.assessed.as_mut()) else {
            return Assessment::Skip;
        };
        let taken = parent.matcher.take(model.particles(), &candidates);
        let leaf = match (taken, candidates.first()) {
            (Some(leaf), _) => leaf,
            (None, other) => {
                let expected = self.expected(model);
                let message = format!("found {}, where {expected} was expected", tag.name.as_str());
                self.problems.add("cvc-complex-type.2.4", tag.offset, message);
                // The child is validated nevertheless. If the type has such an element, the position in the content
                // model is lost.
                let Some(&leaf) = other else { return Assessment::Lax };
                self.lose();
                leaf
            }
        };
        match &model[leaf] {
            Leaf::Element(id) => {
                let is_it = name.is_some() && self.types.names.get(&self.types.schema[*id].name) == name;
                Assessment::Declared(if is_it { *id } else { global.unwrap_or(*id) })
            }
            Leaf::Wildcard(wildcard) => match wildcard.process_contents {
                ProcessContents::Skip => Assessment::Skip,
                ProcessContents::Lax => Assessment::Lax,
                ProcessContents::Strict => Assessment::Strict,
            },
        }
    }

    fn lose(&mut self) {
        if let Some(parent) = self.frames.last_mut().and_then(|frame| frame.assessed.as_mut()) {
            parent.matcher.lose();
        }
    }

    /// Describes what could come next in the innermost element.
    fn expected(&self, model: &Model) -> String {
        let Some(frame) = self.frames.last() else { return String::new() };
        let Some(assessed) = &frame.assessed else { return String::new() };
        expected(self.types, &assessed.matcher, model, frame.name.local())
    }

    /// Returns the declaration and the type of an element (cvc-elt, cvc-assess-elt).
    pub(super) fn assessed(
        &mut self,
        reader: &Reader<'d>,
        tag: StartTag<'d>,
        name: Option<NameId>,
        assessment: Assessment,
    ) -> Option<Assessed> {
        let declaration = match assessment {
            Assessment::Skip => return None,
            Assessment::Declared(id) => Some(id),
            Assessment::OfType(_) => None,
            _ => self.types.element(name),
        };
        let said = self.named_type(reader);
        if declaration.is_none() && said.is_none() {
            let tag_name = tag.name.as_str();
            let problem = match assessment {
                Assessment::Root => {
                    let namespace = reader.namespace(tag.namespace);
                    let message =
                        format!("the schema declares no element {}", ExpandedName::new(namespace, tag.name.local()));
                    Some(("cvc-elt.1", message))
                }
                Assessment::Strict => Some((
                    "cvc-assess-elt.1.1.1",
                    format!("{tag_name} is not declared, but the wildcard that matches it requires a declaration"),
                )),
                _ => None,
            };
            if let Some((rule, message)) = problem {
                self.problems.add(rule, tag.offset, message);
            }
        }
        let schema = self.types.schema;
        let mut type_id = match assessment {
            Assessment::OfType(id) => id,
            _ => TypeId::from(Builtin::AnyType),
        };
        let mut block = Default::default();
        if let Some(id) = declaration {
            let declaration = &schema[id];
            (type_id, block) = (declaration.type_id, declaration.block);
            if declaration.is_abstract {
                let message = format!("{} is abstract, expected a member of its substitution group", tag.name.as_str());
                self.problems.add("cvc-elt.2", tag.offset, message);
            }
        }
        if let Some((said, offset)) = said {
            if self.types.may_replace(said, type_id, block) {
                type_id = said;
            } else {
                let (said, declared) = (self.type_name(said), self.type_name(type_id));
                let message = format!("xsi:type is {said}, expected {declared} or a type that may be derived from it");
                self.problems.add("cvc-elt.4.3", offset, message);
            }
        }
        if schema[type_id].as_complex().is_some_and(|complex| complex.is_abstract) {
            let message = format!("{} is abstract, expected an xsi:type derived from it", self.type_name(type_id));
            self.problems.add("cvc-type.2", tag.offset, message);
        }
        let is_nil = self.is_nil(reader, declaration);
        let type_ = self.types.of(type_id);
        let owned = |(prefix, namespace): (&str, &str)| (prefix.to_owned(), namespace.to_owned());
        let declarations = match type_.is_simple() {
            true => reader.declarations().map(owned).collect(),
            false => Vec::new(),
        };
        Some(Assessed {
            declaration,
            type_,
            declarations,
            matcher: Matcher::default(),
            is_nil,
            text: String::new(),
            text_offset: None,
            has_children: false,
            is_text_reported: false,
        })
    }

    /// Returns the type in the `xsi:type` of an element, and its offset.
    fn named_type(&mut self, reader: &Reader<'d>) -> Option<(TypeId, usize)> {
        let is_it = |attribute: &castile_xml::Attribute<'_>| {
            attribute.namespace == XSI_NAMESPACE && attribute.name.local() == "type"
        };
        let attribute = reader.attributes().find(is_it)?;
        let value = self.types.read(Builtin::QName.into(), attribute.value, reader);
        let problem = match value {
            Ok(Value::QName(name)) => {
                let name = ExpandedName::new(name.namespace, name.local);
                match self.types.schema.find_type(&name) {
                    Some(id) => return Some((id, attribute.offset)),
                    None => ("cvc-elt.4.2", format!("xsi:type is {name}, a type that the schema doesn't have")),
                }
            }
            Ok(value) => ("cvc-elt.4.1", format!("xsi:type is {value}, expected a name")),
            Err(problem) => ("cvc-elt.4.1", format!("xsi:type: {problem}")),
        };
        self.problems.add(problem.0, attribute.offset, problem.1);
        None
    }

    /// Returns true if `xsi:nil` declares that the element has no content (cvc-elt 3).
    fn is_nil(&mut self, reader: &Reader<'d>, declaration: Option<ElementId>) -> bool {
        let is_it = |attribute: &castile_xml::Attribute<'_>| {
            attribute.namespace == XSI_NAMESPACE && attribute.name.local() == "nil"
        };
        let Some(attribute) = reader.attributes().find(is_it) else { return false };
        let is_nil = match self.types.read(Builtin::Boolean.into(), attribute.value, reader) {
            Ok(value) => matches!(value, Value::Boolean(true)),
            Err(problem) => {
                self.problems.add("cvc-attribute.3", attribute.offset, format!("xsi:nil: {problem}"));
                return false;
            }
        };
        // Without a declaration `xsi:nil` has no effect (§3.3.4).
        let Some(declaration) = declaration.map(|id| &self.types.schema[id]) else { return false };
        if !declaration.nillable {
            let message = "found xsi:nil, but the element is not nillable".to_owned();
            self.problems.add("cvc-elt.3.1", attribute.offset, message);
            return false;
        }
        if let (true, Some(ValueConstraint::Fixed(fixed))) = (is_nil, &declaration.value_constraint) {
            let message = format!("the element is nil, but its value is fixed to {}", quoted(fixed));
            self.problems.add("cvc-elt.3.2.2", attribute.offset, message);
        }
        is_nil
    }

    fn type_name(&self, id: TypeId) -> String {
        match self.types.schema[id].name() {
            Some(name) => name.to_string(),
            None => "the element's own type".to_owned(),
        }
    }
}
