//! One document: the elements that are open, and the rules for each as it begins and ends (cvc-elt, cvc-type,
//! cvc-complex-type 1 and 2).

use std::rc::Rc;

use castile_databinding::datatypes::{Scope, Value};
use castile_xml::{NamespaceId, QName, Reader, StartTag};

use super::XSI_NAMESPACE;
use super::identity::{FieldValue, Identity};
use super::matching::Matcher;
use super::model::Kind;
use super::names::NameId;
use super::problem::Problems;
use super::types::{Type, TypeContent, Types};
use super::values::Ids;
use crate::components::{NamespaceConstraint, ProcessContents, ValueConstraint};
use crate::{Builtin, ElementId, ExpandedName, TypeId};

/// A document that is being judged.
pub(super) struct Run<'r, 's, 'd> {
    pub(super) types: &'r mut Types<'s>,
    pub(super) problems: &'r mut Problems,
    pub(super) ids: Ids,
    identity: Identity,
    frames: Vec<Frame<'d>>,
}

/// An element that is open.
struct Frame<'d> {
    name: QName<'d>,
    namespace: NamespaceId,
    offset: usize,
    /// None if nothing is asked of it.
    assessed: Option<Assessed>,
}

/// An element that is judged by a type.
struct Assessed {
    declaration: Option<ElementId>,
    type_: Rc<Type>,
    matcher: Matcher,
    is_nil: bool,
    /// Its text, as far as that is looked at, and where it begins.
    text: String,
    text_offset: Option<usize>,
    has_children: bool,
    /// Text where there must be none was told of.
    is_text_told: bool,
    /// The declarations on a tag with a value behind it: at its end they are no longer in scope.
    declarations: Vec<(String, String)>,
}

/// The declarations of an element that has just ended, and those around it.
struct Ended<'a, 'd> {
    own: &'a [(String, String)],
    reader: &'a Reader<'d>,
}

impl Scope for Ended<'_, '_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        match self.own.iter().find(|(own, _)| own == prefix) {
            Some((_, namespace)) => Some(namespace),
            None => self.reader.resolve(prefix),
        }
    }
}

/// How an element is judged, from what stands around it.
enum Assessment {
    /// Not at all.
    Skip,
    /// By this declaration.
    Declared(ElementId),
    /// By its declaration or the type it says that it has, if there is one.
    Lax,
    /// By one that must be there.
    Strict,
    /// It is the outermost one.
    Root,
}

impl<'r, 's, 'd> Run<'r, 's, 'd> {
    pub(super) fn new(types: &'r mut Types<'s>, problems: &'r mut Problems) -> Self {
        Run { types, problems, ids: Ids::default(), identity: Identity::default(), frames: Vec::new() }
    }

    /// Whether the rest of the document need not be looked at.
    pub(super) fn is_enough(&self) -> bool {
        self.problems.is_full()
    }

    /// The start tag that was read last.
    pub(super) fn start(&mut self, reader: &Reader<'d>, tag: StartTag<'d>) {
        let name = self.types.names.find(reader.namespace(tag.namespace), tag.name.local());
        let assessment = self.assessment(reader, tag, name);
        let assessed = self.assessed(reader, tag, name, assessment);
        let depth = self.frames.len();
        let declaration = assessed.as_ref().and_then(|assessed| assessed.declaration);
        let constraints = declaration.filter(|&id| !self.types.schema[id].identity_constraints.is_empty());
        let constraints = constraints.map(|id| self.types.constraints(id));
        let is_asked = constraints.is_some() || !self.identity.is_idle();
        let attributes = match &assessed {
            Some(assessed) => self.attributes(reader, tag.offset, &assessed.type_.clone(), is_asked),
            None => Vec::new(),
        };
        self.frames.push(Frame { name: tag.name, namespace: tag.namespace, offset: tag.offset, assessed });
        if is_asked {
            let frames = &self.frames;
            let name = |depth: usize| match frames.get(depth) {
                Some(frame) => (reader.namespace(frame.namespace), frame.name.local()),
                None => ("", ""),
            };
            self.identity.start((depth, tag.offset), constraints, &attributes, name, self.problems);
        }
    }

    /// Character data, which begins at `offset`.
    pub(super) fn text(&mut self, text: &str, offset: usize) {
        let Some(assessed) = self.frames.last_mut().and_then(|frame| frame.assessed.as_mut()) else { return };
        let is_blank = || text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        let problem = match &assessed.type_.content {
            _ if text.is_empty() => None,
            _ if assessed.is_nil => Some(("cvc-elt.3.2.1", "text stands in an element that is nil")),
            TypeContent::Simple(_) | TypeContent::Elements { is_mixed: true, .. } => {
                assessed.text_offset.get_or_insert(offset);
                if assessed.keeps_text(self.types) {
                    assessed.text.push_str(text);
                }
                None
            }
            TypeContent::Elements { .. } if is_blank() => None,
            TypeContent::Elements { .. } => {
                Some(("cvc-complex-type.2.3", "text stands here, where only elements were expected"))
            }
            TypeContent::Empty => Some(("cvc-complex-type.2.1", "text stands here, where nothing was expected")),
        };
        if let Some((rule, problem)) = problem
            && !assessed.is_text_told
        {
            assessed.is_text_told = true;
            self.problems.add(rule, offset, problem.to_owned());
        }
    }

    /// The end tag at `offset`.
    pub(super) fn end(&mut self, reader: &Reader<'d>, offset: usize) {
        let depth = self.frames.len().saturating_sub(1);
        let Some(frame) = self.frames.pop() else { return };
        // An empty-element tag ends where it begins.
        let offset = if reader.offset() == offset { frame.offset } else { offset };
        let mut is_nillable = false;
        let value = match &frame.assessed {
            None => FieldValue::NotSimple,
            Some(assessed) => {
                is_nillable = assessed.declaration.is_some_and(|id| self.types.schema[id].nillable);
                self.content(reader, frame.name.local(), (frame.offset, offset), assessed)
            }
        };
        if !self.identity.is_idle() {
            let value = if self.identity.is_asked(depth) { value } else { FieldValue::Unknown };
            self.identity.end((depth, frame.offset), &value, is_nillable, self.problems);
        }
    }

    /// The end of the document.
    pub(super) fn finish(&mut self) {
        std::mem::take(&mut self.ids).finish(self.problems);
    }

    // ---- what an element is judged by ----

    /// What the element around says of one that begins in it.
    fn assessment(&mut self, reader: &Reader<'d>, tag: StartTag<'d>, name: Option<NameId>) -> Assessment {
        let Some(frame) = self.frames.last_mut() else { return Assessment::Root };
        let Some(parent) = &mut frame.assessed else { return Assessment::Skip };
        let is_first = !std::mem::replace(&mut parent.has_children, true);
        let problem = match &parent.type_.content {
            _ if parent.is_nil => Some(("cvc-elt.3.2.1", "in an element that is nil")),
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
                    let message = format!("{} stands {problem}", tag.name.as_str());
                    self.problems.add(rule, tag.offset, message);
                }
                Assessment::Lax
            }
        }
    }

    /// The particle that takes the child that begins.
    fn next_child(
        &mut self,
        reader: &Reader<'d>,
        tag: StartTag<'d>,
        name: Option<NameId>,
        model: &super::model::Model,
    ) -> Assessment {
        let namespace = reader.namespace(tag.namespace);
        let mut candidates: Vec<u32> = name.map(|name| model.named(name).to_vec()).unwrap_or_default();
        let global = self.types.element(name);
        if let Some(global) = global {
            for &head in self.types.heads(global).iter() {
                candidates.extend(model.references(head));
            }
        }
        let takes = |wildcard: &&u32| match &model[**wildcard].kind {
            Kind::Wildcard(wildcard) => wildcard.namespaces.allows(namespace),
            _ => false,
        };
        candidates.extend(model.wildcards().iter().filter(takes));
        let Some(parent) = self.frames.last_mut().and_then(|frame| frame.assessed.as_mut()) else {
            return Assessment::Skip;
        };
        let taken = parent.matcher.take(model, &candidates);
        let leaf = match (taken, candidates.first()) {
            (Some(leaf), _) => leaf,
            (None, other) => {
                let expected = self.expected(model);
                let message = format!("{} stands here, where {expected} was expected", tag.name.as_str());
                self.problems.add("cvc-complex-type.2.4", tag.offset, message);
                // It is judged all the same. If the type has such an element the order is lost.
                let Some(&leaf) = other else { return Assessment::Lax };
                self.lose();
                leaf
            }
        };
        match &model[leaf].kind {
            Kind::Element(id) => {
                let is_it = name.is_some() && self.types.names.get(&self.types.schema[*id].name) == name;
                Assessment::Declared(if is_it { *id } else { global.unwrap_or(*id) })
            }
            Kind::Wildcard(wildcard) => match wildcard.process_contents {
                ProcessContents::Skip => Assessment::Skip,
                ProcessContents::Lax => Assessment::Lax,
                ProcessContents::Strict => Assessment::Strict,
            },
            _ => Assessment::Lax,
        }
    }

    fn lose(&mut self) {
        if let Some(parent) = self.frames.last_mut().and_then(|frame| frame.assessed.as_mut()) {
            parent.matcher.lose();
        }
    }

    /// What could come next in the innermost element, in words.
    fn expected(&self, model: &super::model::Model) -> String {
        let Some(frame) = self.frames.last() else { return String::new() };
        let Some(assessed) = &frame.assessed else { return String::new() };
        expected(self.types, &assessed.matcher, model, frame.name.local())
    }

    /// The declaration and the type of an element (cvc-elt, cvc-assess-elt).
    fn assessed(
        &mut self,
        reader: &Reader<'d>,
        tag: StartTag<'d>,
        name: Option<NameId>,
        assessment: Assessment,
    ) -> Option<Assessed> {
        let declaration = match assessment {
            Assessment::Skip => return None,
            Assessment::Declared(id) => Some(id),
            _ => self.types.element(name),
        };
        let said = self.said_type(reader);
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
                    format!("{tag_name} is not declared, as the wildcard that takes it asks"),
                )),
                _ => None,
            };
            if let Some((rule, message)) = problem {
                self.problems.add(rule, tag.offset, message);
            }
        }
        let schema = self.types.schema;
        let mut type_id = TypeId::from(Builtin::AnyType);
        let mut block = Default::default();
        if let Some(id) = declaration {
            let declaration = &schema[id];
            (type_id, block) = (declaration.type_id, declaration.block);
            if declaration.is_abstract {
                let message =
                    format!("{} is abstract, and stands only for others to take its place", tag.name.as_str());
                self.problems.add("cvc-elt.2", tag.offset, message);
            }
        }
        if let Some((said, offset)) = said {
            if self.types.may_replace(said, type_id, block) {
                type_id = said;
            } else {
                let (said, declared) = (self.type_name(said), self.type_name(type_id));
                let message = format!("xsi:type is {said}, expected {declared} or a type derived from it as it allows");
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
            is_text_told: false,
        })
    }

    /// The type that an element says it has by `xsi:type`, and where.
    fn said_type(&mut self, reader: &Reader<'d>) -> Option<(TypeId, usize)> {
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

    /// Whether an element says by `xsi:nil` that it has no content (cvc-elt 3).
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
        // Without a declaration it says nothing (§3.3.4).
        let Some(declaration) = declaration.map(|id| &self.types.schema[id]) else { return false };
        if !declaration.nillable {
            let message = "xsi:nil is given, and the element is not nillable".to_owned();
            self.problems.add("cvc-elt.3.1", attribute.offset, message);
            return false;
        }
        if let (true, Some(ValueConstraint::Fixed(fixed))) = (is_nil, &declaration.value_constraint) {
            let message = format!("the element is nil, and its value is fixed to {fixed:?}");
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

    // ---- what an element has in it ----

    /// Judges the content of an element that ends, whose tags are at `start` and `end`.
    fn content(
        &mut self,
        reader: &Reader<'d>,
        name: &str,
        (start, end): (usize, usize),
        assessed: &Assessed,
    ) -> FieldValue {
        if assessed.is_nil {
            let is_simple = assessed.type_.is_simple();
            return if is_simple { FieldValue::Unknown } else { FieldValue::NotSimple };
        }
        let constraint = assessed.constraint(self.types).cloned();
        let is_empty = assessed.text_offset.is_none() && !assessed.has_children;
        match &assessed.type_.content {
            TypeContent::Empty => FieldValue::NotSimple,
            TypeContent::Simple(type_id) if !assessed.has_children => {
                let text = match &constraint {
                    Some(ValueConstraint::Default(text) | ValueConstraint::Fixed(text)) if is_empty => text,
                    _ => &assessed.text,
                };
                self.simple_content(reader, *type_id, text, assessed.text_offset.unwrap_or(start), assessed)
            }
            TypeContent::Simple(_) => FieldValue::Unknown,
            TypeContent::Elements { model, .. } => {
                let is_default = is_empty && constraint.is_some();
                if !is_default && !assessed.matcher.is_complete(model) {
                    let expected = expected_only(self.types, &assessed.matcher, model);
                    let message = format!("{name} ends here, where {expected} was expected");
                    self.problems.add("cvc-complex-type.2.4", end, message);
                }
                if let Some(ValueConstraint::Fixed(fixed)) = &constraint
                    && !is_empty
                    && (assessed.has_children || assessed.text != *fixed)
                {
                    let (rule, found) = match assessed.has_children {
                        true => ("cvc-elt.5.2.2.1", "elements".to_owned()),
                        false => ("cvc-elt.5.2.2.2", shown(&assessed.text)),
                    };
                    let message = format!("{name} has {found} in it, and is fixed to {fixed:?}");
                    self.problems.add(rule, assessed.text_offset.unwrap_or(start), message);
                }
                FieldValue::NotSimple
            }
        }
    }

    fn simple_content(
        &mut self,
        reader: &Reader<'d>,
        type_id: TypeId,
        text: &str,
        offset: usize,
        assessed: &Assessed,
    ) -> FieldValue {
        let scope = &Ended { own: &assessed.declarations, reader };
        let value = match self.types.read(type_id, text, scope) {
            Ok(value) => value,
            Err(problem) => {
                let rule = match self.types.schema[assessed.type_.id].as_simple() {
                    Some(_) => "cvc-type.3.1.3",
                    None => "cvc-complex-type.2.2",
                };
                self.problems.add(rule, offset, problem.message().to_owned());
                return FieldValue::Unknown;
            }
        };
        let kind = self.types.id_kind(type_id);
        self.ids.take(&kind, text, offset, (&mut *self.types, scope), self.problems);
        if let Some(ValueConstraint::Fixed(fixed)) = assessed.constraint(self.types).cloned()
            && self.types.read(type_id, &fixed, scope).is_ok_and(|fixed| fixed != value)
        {
            let message = format!("the value is {}, and fixed to {fixed:?}", shown(text));
            self.problems.add("cvc-elt.5.2.2.2", offset, message);
        }
        FieldValue::Value(value)
    }
}

impl Assessed {
    /// The default or fixed value of the element.
    fn constraint<'s>(&self, types: &Types<'s>) -> Option<&'s ValueConstraint> {
        self.declaration.and_then(|id| types.schema[id].value_constraint.as_ref())
    }

    /// Whether its text is looked at once it ends.
    fn keeps_text(&self, types: &Types<'_>) -> bool {
        self.type_.is_simple() || matches!(self.constraint(types), Some(ValueConstraint::Fixed(_)))
    }
}

/// What could come next, or that the element could end.
fn expected(types: &Types<'_>, matcher: &Matcher, model: &super::model::Model, element: &str) -> String {
    let or_end = if matcher.is_complete(model) { Some(format!("the end of {element}")) } else { None };
    in_words(types, matcher, model, or_end)
}

fn expected_only(types: &Types<'_>, matcher: &Matcher, model: &super::model::Model) -> String {
    in_words(types, matcher, model, None)
}

fn in_words(types: &Types<'_>, matcher: &Matcher, model: &super::model::Model, end: Option<String>) -> String {
    let (leaves, has_more) = matcher.expected(model);
    let mut words: Vec<String> = Vec::new();
    for leaf in leaves {
        let word = match &model[leaf].kind {
            Kind::Element(id) => types.schema[*id].name.local().to_owned(),
            Kind::Wildcard(wildcard) => match &wildcard.namespaces {
                NamespaceConstraint::Any => "any element".to_owned(),
                _ => "an element of some other namespaces".to_owned(),
            },
            _ => continue,
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if has_more {
        words.push("another element".to_owned());
    }
    words.extend(end);
    match words.split_last() {
        None => "nothing".to_owned(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}

/// Text as messages show it.
pub(super) fn shown(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
