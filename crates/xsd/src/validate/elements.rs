//! Validates a document: the open elements, and the rules at their start and end (cvc-elt, cvc-type, cvc-complex-type 1
//! and 2).

mod assessment;
mod content;
mod expected;

use std::rc::Rc;

use castile_datatypes::model::Matcher;
use castile_xml::{NamespaceId, QName, Reader, StartTag};

use self::assessment::Assessment;
use super::identity::{FieldValue, Identity};
use super::names::NameId;
use super::problem::Problems;
use super::types::{Type, TypeContent, Types};
use super::values::Ids;
use crate::components::ValueConstraint;
use crate::{ElementId, TypeId};

/// The validation of one document.
pub(super) struct Validation<'r, 's, 'd> {
    pub(super) types: &'r mut Types<'s>,
    pub(super) problems: &'r mut Problems,
    pub(super) ids: Ids,
    identity: Identity,
    frames: Vec<Frame<'d>>,
}

/// An open element.
struct Frame<'d> {
    name: QName<'d>,
    namespace: NamespaceId,
    offset: usize,
    /// `None` if the element is not validated.
    assessed: Option<Assessed>,
}

/// An element that is validated by a type.
struct Assessed {
    declaration: Option<ElementId>,
    type_: Rc<Type>,
    matcher: Matcher,
    is_nil: bool,
    /// The text of the element, if the end tag needs it; otherwise empty.
    text: String,
    /// The offset of the first text.
    text_offset: Option<usize>,
    has_children: bool,
    /// Whether text in element-only content was already reported.
    is_text_reported: bool,
    /// The namespace declarations on the start tag of an element with simple content. Its value is read at the end tag,
    /// when they are no longer in scope.
    declarations: Vec<(String, String)>,
}

impl<'r, 's, 'd> Validation<'r, 's, 'd> {
    pub(super) fn new(types: &'r mut Types<'s>, problems: &'r mut Problems) -> Self {
        Validation { types, problems, ids: Ids::default(), identity: Identity::default(), frames: Vec::new() }
    }

    /// Returns true if the rest of the document need not be validated.
    pub(super) fn is_enough(&self) -> bool {
        self.problems.is_full()
    }

    /// Returns true if no element is open.
    pub(super) fn is_outside(&self) -> bool {
        self.frames.is_empty()
    }

    /// Handles `tag`, the start tag that `reader` has just returned.
    pub(super) fn start(&mut self, reader: &Reader<'d>, tag: StartTag<'d>) {
        let name = self.types.names.find(reader.namespace(tag.namespace), tag.name.local());
        let assessment = self.assessment(reader, tag, name);
        self.begin(reader, tag, name, assessment);
    }

    /// Handles the start tag of an outermost element that is validated by the type `type_id`.
    pub(super) fn start_of_type(&mut self, reader: &Reader<'d>, tag: StartTag<'d>, type_id: TypeId) {
        let name = self.types.names.find(reader.namespace(tag.namespace), tag.name.local());
        self.begin(reader, tag, name, Assessment::OfType(type_id));
    }

    fn begin(&mut self, reader: &Reader<'d>, tag: StartTag<'d>, name: Option<NameId>, assessment: Assessment) {
        let assessed = self.assessed(reader, tag, name, assessment);
        let depth = self.frames.len();
        let declaration = assessed.as_ref().and_then(|assessed| assessed.declaration);
        let constraints = declaration.filter(|&id| !self.types.schema[id].identity_constraints.is_empty());
        let constraints = constraints.map(|id| self.types.constraints(id));
        let is_needed = constraints.is_some() || !self.identity.is_idle();
        let attributes = match &assessed {
            Some(assessed) => self.attributes(reader, tag.offset, &assessed.type_.clone(), is_needed),
            None => Vec::new(),
        };
        self.frames.push(Frame { name: tag.name, namespace: tag.namespace, offset: tag.offset, assessed });
        if is_needed {
            let frames = &self.frames;
            let name = |depth: usize| match frames.get(depth) {
                Some(frame) => (reader.namespace(frame.namespace), frame.name.local()),
                None => ("", ""),
            };
            self.identity.start((depth, tag.offset), constraints, &attributes, name, self.problems);
        }
    }

    /// Handles character data at `offset`.
    pub(super) fn text(&mut self, text: &str, offset: usize) {
        let Some(assessed) = self.frames.last_mut().and_then(|frame| frame.assessed.as_mut()) else { return };
        let is_blank = || text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        let problem = match &assessed.type_.content {
            _ if text.is_empty() => None,
            _ if assessed.is_nil => {
                Some(("cvc-elt.3.2.1", "found text where nothing was expected because the element is nil"))
            }
            TypeContent::Simple(_) | TypeContent::Elements { is_mixed: true, .. } => {
                assessed.text_offset.get_or_insert(offset);
                if assessed.needs_text(self.types) {
                    assessed.text.push_str(text);
                }
                None
            }
            TypeContent::Elements { .. } if is_blank() => None,
            TypeContent::Elements { .. } => {
                Some(("cvc-complex-type.2.3", "found text, where only elements were expected"))
            }
            TypeContent::Empty => Some(("cvc-complex-type.2.1", "found text, where nothing was expected")),
        };
        if let Some((rule, problem)) = problem
            && !assessed.is_text_reported
        {
            assessed.is_text_reported = true;
            self.problems.add(rule, offset, problem.to_owned());
        }
    }

    /// Handles the end tag at `offset`.
    pub(super) fn end(&mut self, reader: &Reader<'d>, offset: usize) {
        let depth = self.frames.len().saturating_sub(1);
        let Some(frame) = self.frames.pop() else { return };
        // Problems at the end of an empty-element tag are reported at its start.
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
            let value = if self.identity.is_needed(depth) { value } else { FieldValue::Unknown };
            self.identity.end((depth, frame.offset), &value, is_nillable, self.problems);
        }
    }

    /// Handles the end of the document.
    pub(super) fn finish(&mut self) {
        std::mem::take(&mut self.ids).finish(self.problems);
    }
}

impl Assessed {
    /// Returns the default or fixed value that the declaration of the element has.
    fn constraint<'s>(&self, types: &Types<'s>) -> Option<&'s ValueConstraint> {
        self.declaration.and_then(|id| types.schema[id].value_constraint.as_ref())
    }

    /// Returns true if the text is needed at the end of the element.
    fn needs_text(&self, types: &Types<'_>) -> bool {
        self.type_.is_simple() || matches!(self.constraint(types), Some(ValueConstraint::Fixed(_)))
    }
}
