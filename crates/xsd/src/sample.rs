//! Sample instances of an element, generated from a schema. Together they show everything that the schema allows.
//!
//! ```
//! use castile_xsd::sample::Samples;
//! use castile_xsd::{Documents, ExpandedName};
//!
//! let documents = Documents::new().with(
//!     "a.xsd",
//!     r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
//!          <xs:element name="a"><xs:complexType><xs:choice>
//!            <xs:element name="b" type="xs:boolean"/>
//!            <xs:element name="c" type="xs:int" minOccurs="0"/>
//!          </xs:choice></xs:complexType></xs:element>
//!        </xs:schema>"#,
//! );
//! let (schema, _) = castile_xsd::read("a.xsd", &documents);
//! let element = schema.find_element(&ExpandedName::new("", "a")).expect("it is declared");
//! let samples: Vec<String> = Samples::new(&schema, element).collect::<Result<_, _>>()?;
//! assert_eq!(samples[..3], ["<a><b>true</b></a>", "<a><c>42</c></a>", "<a><b>false</b></a>"]);
//! assert!(samples.contains(&"<a/>".to_owned()));
//! # Ok::<(), castile_xsd::sample::Error>(())
//! ```

mod coverage;
mod encoded;
mod height;
mod keys;
mod pattern;
mod steps;
mod values;

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use castile_xml::{Limits, Prefixes, Writer};

use crate::builtin::XSI_NAMESPACE;
use crate::components::{
    AttributeDeclaration, AttributeUse, Compositor, Content, Particle, ProcessContents, Term, Use, ValueConstraint,
    Wildcard,
};
use crate::encoded::TypeKind;
use crate::{Builtin, ElementId, ExpandedName, Schema, TypeId, XSD_NAMESPACE};
use coverage::{Coverage, Decision};
use encoded::Graph;
use height::{Heights, UNDECLARED, namespace_for};
use keys::{Keys, Written};
use steps::{BYTES_PER_STEP, MAX_STEPS, MAX_TOTAL_STEPS};
use values::Text;

/// The namespace of SOAP 1.1 encoding.
const SOAP_ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";

/// From this depth, or after `MANY` elements, the smallest alternative is chosen.
const DEEP: usize = 12;
const MANY: usize = 400;
/// Maximum number of instances.
const MAX_INSTANCES: usize = 200;
/// How many instances in a row may show nothing new, in SOAP encoding and if there are keys.
const TRIES: usize = 4;
/// An iterator over sample instances of an element, as text.
///
/// The first instance has one of everything. Each following one takes the alternatives that were chosen least often:
/// optional parts present, absent and repeated, all branches of choices, all types that may replace a base type, nil,
/// and various values. The iterator ends when every reachable alternative was chosen, or after 200 instances.
///
/// Keys, key references and unique constraints hold. Whether an `IDREF` refers to an existing `ID` is not ensured.
pub struct Samples<'s> {
    schema: &'s Schema,
    of: Subject,
    /// From this depth the smallest alternative is chosen.
    deep: usize,
    /// Whether all elements and attributes of a type get the same value.
    is_plain: bool,
    coverage: Coverage,
    heights: Heights<'s>,
    keys: Keys<'s>,
    contents: HashMap<TypeId, Rc<Content>>,
    values: HashMap<TypeId, Rc<[Text]>>,
    /// The elements that may replace a declared element, and the types that an element may have.
    substitutes: HashMap<ElementId, Rc<[ElementId]>>,
    types: HashMap<ElementId, Rc<[TypeId]>>,
    /// The kinds of types in SOAP encoding.
    kinds: HashMap<TypeId, Rc<TypeKind>>,
    /// The open elements, outermost first.
    open: Vec<ElementId>,
    /// The number of IDs and of elements in the current instance.
    ids: usize,
    elements: usize,
    /// The step count at the start of the current instance.
    begun: usize,
    /// The state of SOAP encoding.
    graph: Graph,
    made: usize,
    /// Whether an instance, or an error instead, was returned.
    is_given: bool,
    is_done: bool,
}

/// The subject of the samples.
#[derive(Clone, Debug)]
enum Subject {
    Element(ElementId),
    /// An element with this name and type.
    Typed(ExpandedName, TypeId),
    /// An element with this name and type in SOAP encoding.
    Encoded(ExpandedName, TypeId),
    /// A call in SOAP encoding: its name, and the names and types of its parts.
    Call(ExpandedName, Rc<[(String, TypeId)]>),
}

impl<'s> Samples<'s> {
    /// Creates samples of `element`, a global element of `schema`.
    pub fn new(schema: &'s Schema, element: ElementId) -> Self {
        Self::of(schema, Subject::Element(element))
    }

    /// Creates samples of an element with this name and type that the schema doesn't declare. WSDL derives such
    /// elements from message parts.
    pub fn of_type(schema: &'s Schema, name: ExpandedName, type_id: TypeId) -> Self {
        Self::of(schema, Subject::Typed(name, type_id))
    }

    /// Sets the depth from which the smallest alternative is chosen and optional parts are left out, so that samples
    /// stay small. The default is 12.
    #[must_use]
    pub fn with_depth(self, deep: usize) -> Self {
        Samples { deep, ..self }
    }

    /// Uses plausible values, always the same one for a type, and leaves out optional attributes that refer to
    /// something.
    ///
    /// By default values vary. They include the boundaries of what a type allows: the least, the greatest and the
    /// longest value, text with markup, and empty text.
    #[must_use]
    pub fn with_plain_values(self) -> Self {
        Samples { is_plain: true, ..self }
    }

    /// Returns how many steps were taken so far, including those of discarded instances. Some millions take a second.
    pub fn steps(&self) -> usize {
        self.heights.steps()
    }

    fn of(schema: &'s Schema, of: Subject) -> Self {
        Samples {
            schema,
            of,
            deep: DEEP,
            is_plain: false,
            coverage: Coverage::default(),
            heights: Heights::new(schema),
            keys: Keys::new(schema),
            contents: HashMap::new(),
            values: HashMap::new(),
            substitutes: HashMap::new(),
            types: HashMap::new(),
            kinds: HashMap::new(),
            open: Vec::new(),
            ids: 0,
            elements: 0,
            begun: 0,
            graph: Graph::default(),
            made: 0,
            is_given: false,
            is_done: false,
        }
    }

    /// Makes the next instance. Returns `None` if its keys can't be satisfied.
    fn instance(&mut self) -> Result<Option<String>, Error> {
        if !self.has_keys() {
            return self.made().map(Some);
        }
        self.coverage.note();
        self.keys.record();
        let instance = self.made()?;
        let is_mended = self.keys.mended();
        self.step_of_keys()?;
        let instance = match is_mended {
            None => None,
            Some(false) => Some(instance),
            Some(true) => {
                self.coverage.repeat();
                self.keys.replace();
                Some(self.made()?)
            }
        };
        self.coverage.forget();
        Ok(instance)
    }

    /// Returns true if identity constraints apply. They don't in SOAP encoding.
    fn has_keys(&self) -> bool {
        self.keys.are_there && matches!(self.of, Subject::Element(_) | Subject::Typed(..))
    }

    fn made(&mut self) -> Result<String, Error> {
        (self.ids, self.elements, self.begun) = (0, 0, self.heights.steps());
        self.open.clear();
        let mut out = writer()?;
        match self.of.clone() {
            Subject::Element(id) => self.element(&mut out, id, 0)?,
            Subject::Typed(name, type_id) => {
                self.start(&mut out, &name, None)?;
                self.inside(&mut out, &name, None, type_id, 0)?;
                self.end(&mut out)?;
            }
            Subject::Encoded(name, type_id) => return self.independent(&name, type_id),
            Subject::Call(name, parts) => return self.call(&name, &parts),
        }
        text(&mut out)
    }

    /// Counts steps. Fails if the instance exceeds its limit.
    fn step(&self, count: usize) -> Result<(), Error> {
        self.heights.step(count);
        if self.heights.steps() - self.begun > MAX_STEPS {
            let message = format!("an instance takes more than {MAX_STEPS} steps, expected fewer");
            return Err(Error { message });
        }
        Ok(())
    }

    fn step_of_text(&self, text: &str) -> Result<(), Error> {
        self.step(text.len() / BYTES_PER_STEP)
    }

    fn step_of_keys(&mut self) -> Result<(), Error> {
        let steps = self.keys.take_steps();
        self.step(steps)
    }

    // ---- elements ----

    fn start(&mut self, out: &mut Writer, name: &ExpandedName, declared: Option<ElementId>) -> Result<(), Error> {
        self.keys.start(name, declared);
        self.step_of_keys()?;
        Ok(out.start(name.namespace(), name.local())?)
    }

    fn end(&mut self, out: &mut Writer) -> Result<(), Error> {
        self.keys.end();
        self.step_of_keys()?;
        Ok(out.end()?)
    }

    /// Writes an element where `declared` is referred to: `declared` itself, or an element that may substitute for it.
    fn element(&mut self, out: &mut Writer, declared: ElementId, depth: usize) -> Result<(), Error> {
        let schema = self.schema;
        let candidates = self.substitutes.entry(declared);
        let candidates = candidates.or_insert_with(|| height::elements_for(schema, declared).collect()).clone();
        self.step(1 + candidates.len())?;
        let chosen =
            self.pick(Decision::Substitution(declared), &candidates, depth, |heights, &id| heights.element(id));
        let Some(id) = chosen else {
            let name = &schema[declared].name;
            return Err(match candidates.is_empty() {
                true => Error::new(name, "is abstract, and no element is declared that may substitute it"),
                false => self.endless(name),
            });
        };
        let declaration = &schema[id];
        let types = self.types.entry(id).or_insert_with(|| height::types_for(schema, declaration).into()).clone();
        self.step(types.len())?;
        let chosen = self.pick(Decision::Type(id), &types, depth, |heights, &type_id| heights.type_(type_id));
        let Some(type_id) = chosen else { return Err(self.endless(&declaration.name)) };
        self.elements += 1;
        self.step_of_text(declaration.name.local())?;
        self.start(out, &declaration.name, Some(id))?;
        if type_id != declaration.type_id
            && let Some(name) = self.schema[type_id].name()
        {
            self.keys.undeclared(XSI_NAMESPACE, "type");
            out.qname_attribute(XSI_NAMESPACE, "type", (name.namespace(), name.local()))?;
        }
        let is_fixed = matches!(declaration.value_constraint, Some(ValueConstraint::Fixed(_)));
        let is_nil = declaration.nillable && !is_fixed && self.coverage.choose(Decision::Nil(id), 2) == 1;
        if is_nil {
            self.keys.undeclared(XSI_NAMESPACE, "nil");
            self.keys.nil();
            out.attribute(XSI_NAMESPACE, "nil", "true")?;
        }
        if is_nil && type_id.builtin() != Some(Builtin::AnyType) {
            self.attributes(out, type_id)?;
        } else if !is_nil {
            self.open.push(id);
            self.inside(out, &declaration.name, Some(id), type_id, depth)?;
            self.open.pop();
        }
        self.end(out)
    }

    /// Returns the error for an element that has no finite instance.
    fn endless(&self, name: &ExpandedName) -> Error {
        // The search for a finite instance may have been cut off by the step limit; then that is the error.
        let never =
            || Error::new(name, "has no finite instance: each possible content requires the element itself again");
        self.step(0).err().unwrap_or_else(never)
    }

    /// Writes the attributes and the content of an element with this type.
    fn inside(
        &mut self,
        out: &mut Writer,
        name: &ExpandedName,
        declared: Option<ElementId>,
        type_id: TypeId,
        depth: usize,
    ) -> Result<(), Error> {
        // For `xs:anyType` the attributes are written together with the content.
        if type_id.builtin() != Some(Builtin::AnyType) {
            self.attributes(out, type_id)?;
        }
        self.content(out, name, declared, type_id, depth)
    }

    /// Chooses among the candidates in turn, or the smallest one at a large depth.
    fn pick<T: Copy>(
        &mut self,
        decision: Decision,
        candidates: &[T],
        depth: usize,
        height: impl Fn(&mut Heights<'s>, &T) -> usize,
    ) -> Option<T> {
        if self.is_enough(depth) {
            let heights = &mut self.heights;
            let heights = candidates.iter().map(|candidate| (height(heights, candidate), *candidate));
            let least = heights.min_by_key(|(height, _)| *height);
            return least.filter(|(height, _)| *height < usize::MAX).map(|(_, candidate)| candidate);
        }
        let heights: Vec<usize> = candidates.iter().map(|candidate| height(&mut self.heights, candidate)).collect();
        // Undeclared elements are chosen only if there is no declared one.
        let has_declared = heights.iter().any(|&height| height < UNDECLARED);
        let end = if has_declared { UNDECLARED } else { usize::MAX };
        let finite: Vec<T> = candidates
            .iter()
            .zip(&heights)
            .filter(|&(_, &height)| height < end)
            .map(|(&candidate, _)| candidate)
            .collect();
        match finite.len() {
            0 => None,
            count => finite.get(self.coverage.choose(decision, count)).copied(),
        }
    }

    fn is_enough(&self, depth: usize) -> bool {
        depth >= self.deep || self.elements >= MANY
    }

    // ---- attributes ----

    fn attributes(&mut self, out: &mut Writer, type_id: TypeId) -> Result<(), Error> {
        for (index, attribute_use) in self.schema.attribute_uses(type_id).iter().enumerate() {
            self.step(1)?;
            let is_required = attribute_use.use_ == Use::Required;
            let declaration = &self.schema[attribute_use.attribute];
            let has_default = attribute_use.value_constraint.is_some() || declaration.value_constraint.is_some();
            let leads_nowhere = self.is_plain && self.refers_outside(type_id, declaration);
            let is_there = is_required
                || !leads_nowhere && self.coverage.choose(Decision::Attribute(type_id, index), 2) == 0
                || self.keys.needs_attribute(&declaration.name, has_default);
            if self.coverage.settle(is_there.into()) == 1 {
                self.attribute(out, attribute_use)?;
            }
        }
        if let Some(wildcard) = self.schema.attribute_wildcard(type_id)
            && wildcard.process_contents != ProcessContents::Strict
            && self.coverage.choose(Decision::AnyAttribute(type_id), 2) == 1
            && let Some(namespace) = namespace_for(&wildcard)
        {
            self.keys.undeclared(namespace, "sample");
            out.attribute(namespace, "sample", "any attribute")?;
        }
        Ok(())
    }

    /// Returns true if an attribute refers to something that a sample doesn't have: an ID or, in SOAP encoding, another
    /// element.
    fn refers_outside(&self, type_id: TypeId, declaration: &AttributeDeclaration) -> bool {
        let is_href = declaration.name.namespace().is_empty() && declaration.name.local() == "href";
        let is_encoded = |id: TypeId| self.schema[id].name().is_some_and(|name| name.namespace() == SOAP_ENCODING);
        matches!(self.schema.builtin(declaration.type_id), Builtin::Idref | Builtin::Idrefs)
            || is_href && self.schema.bases(type_id).any(is_encoded)
    }

    fn attribute(&mut self, out: &mut Writer, attribute_use: &AttributeUse) -> Result<(), Error> {
        let declaration = &self.schema[attribute_use.attribute];
        let (namespace, local) = (declaration.name.namespace(), declaration.name.local());
        let constraint = attribute_use.value_constraint.as_ref().or(declaration.value_constraint.as_ref());
        let fixed = match constraint {
            Some(ValueConstraint::Fixed(value)) => Some(value),
            _ => None,
        };
        let value = match fixed {
            Some(value) => {
                self.step_of_text(value)?;
                Text::Plain(value.clone())
            }
            None => self.value(declaration.type_id, &declaration.name)?,
        };
        let written = Written {
            attribute: Some(&declaration.name),
            type_id: declaration.type_id,
            is_fixed: fixed.is_some() || self.schema.builtin(declaration.type_id) == Builtin::Id,
            is_optional: attribute_use.use_ != Use::Required && constraint.is_none(),
        };
        match self.keys.value(&written, value) {
            Some(Text::Plain(text)) => out.attribute(namespace, local, &text)?,
            Some(Text::Name(name)) => out.qname_attribute(namespace, local, (name.namespace(), name.local()))?,
            None => {}
        }
        Ok(())
    }

    // ---- content ----

    fn content(
        &mut self,
        out: &mut Writer,
        name: &ExpandedName,
        declared: Option<ElementId>,
        type_id: TypeId,
        depth: usize,
    ) -> Result<(), Error> {
        let schema = self.schema;
        match declared.and_then(|id| Some((id, schema[id].value_constraint.as_ref()?))) {
            Some((_, ValueConstraint::Fixed(value))) => {
                self.step_of_text(value)?;
                self.keys.unwritten(type_id, value);
                return Ok(out.text(value)?);
            }
            Some((id, ValueConstraint::Default(value))) if self.coverage.choose(Decision::Default(id), 2) == 1 => {
                self.step_of_text(value)?;
                self.keys.unwritten(type_id, value);
                return Ok(());
            }
            _ => {}
        }
        if type_id.builtin() == Some(Builtin::AnyType) {
            return self.any_type(out, declared);
        }
        match &*self.content_of(type_id) {
            Content::Empty => Ok(()),
            Content::Simple(simple) => {
                let is_fixed = schema.builtin(*simple) == Builtin::Id;
                let written = Written { attribute: None, type_id: *simple, is_fixed, is_optional: false };
                let value = self.value(*simple, name)?;
                match self.keys.value(&written, value) {
                    Some(Text::Plain(text)) => Ok(out.text(&text)?),
                    Some(Text::Name(name)) => Ok(out.qname(name.namespace(), name.local())?),
                    None => Ok(()),
                }
            }
            Content::ElementOnly(particle) => self.particle(out, particle, type_id, &mut 0, depth),
            Content::Mixed(particle) => {
                out.text("some text ")?;
                self.particle(out, particle, type_id, &mut 0, depth)?;
                Ok(out.text(if self.is_plain { " and more" } else { " & more" })?)
            }
        }
    }

    /// Writes `xs:anyType` in turn as text, a value with its type, an element, an attribute, or nothing.
    fn any_type(&mut self, out: &mut Writer, id: Option<ElementId>) -> Result<(), Error> {
        match self.coverage.choose(Decision::AnyType(id), 5) {
            0 => out.text("any type")?,
            1 => {
                out.qname_attribute(XSI_NAMESPACE, "type", (XSD_NAMESPACE, "int"))?;
                out.text("42")?;
            }
            2 => {
                out.start("urn:sample", "sample")?;
                out.end()?;
            }
            3 => out.attribute("urn:sample", "sample", "any attribute")?,
            _ => {}
        }
        Ok(())
    }

    fn content_of(&mut self, type_id: TypeId) -> Rc<Content> {
        let schema = self.schema;
        self.contents.entry(type_id).or_insert_with(|| Rc::new(schema.content(type_id))).clone()
    }

    /// Writes a particle, on a new stack segment if the current one is nearly full.
    ///
    /// `index` numbers the particles of a type in the order of the schema.
    fn particle(
        &mut self,
        out: &mut Writer,
        particle: &Particle,
        type_id: TypeId,
        index: &mut usize,
        depth: usize,
    ) -> Result<(), Error> {
        /// The stack that may be needed until the next nested particle, and the size of a new segment, in bytes.
        const RED_ZONE: usize = 128 << 10;
        const SEGMENT: usize = 1 << 20;
        self.step(1)?;
        stacker::maybe_grow(RED_ZONE, SEGMENT, || self.particle_here(out, particle, type_id, index, depth))
    }

    fn particle_here(
        &mut self,
        out: &mut Writer,
        particle: &Particle,
        type_id: TypeId,
        index: &mut usize,
        depth: usize,
    ) -> Result<(), Error> {
        let number = *index;
        let mut count = self.count(particle, Decision::Occurrence(type_id, number), depth);
        if let Term::Element(id) = &particle.term {
            let needed = self.keys.occurrence(&self.schema[*id].name, count).max(particle.min_occurs);
            count = if needed > 0 && self.heights.particle_once(particle) == usize::MAX { count } else { needed };
        }
        let count = self.coverage.settle(count);
        for _ in 0..count {
            *index = number + 1;
            match &particle.term {
                Term::Element(id) => self.element(out, *id, depth + 1)?,
                Term::Wildcard(wildcard) => self.wildcard(out, wildcard, depth)?,
                Term::GroupReference(id) => {
                    let inner = Particle::once(Term::Group(self.schema[*id].group.clone()));
                    self.particle(out, &inner, type_id, index, depth)?;
                }
                Term::Group(group) if group.compositor == Compositor::Choice => {
                    let branches: Vec<usize> = (0..group.particles.len()).collect();
                    let decision = Decision::Branch(type_id, number);
                    let branch = self.pick(decision, &branches, depth, |heights, &branch| {
                        heights.particle(&group.particles[branch])
                    });
                    let skipped = &group.particles[..branch.unwrap_or_default()];
                    *index += skipped.iter().map(particles_in).sum::<usize>();
                    if let Some(branch) = branch {
                        self.particle(out, &group.particles[branch], type_id, index, depth)?;
                    }
                }
                Term::Group(group) => {
                    for inner in &group.particles {
                        self.particle(out, inner, type_id, index, depth)?;
                    }
                }
            }
        }
        *index = number + particles_in(particle);
        Ok(())
    }

    /// Chooses how often a particle occurs, in turn: once, the minimum, more often, the maximum.
    fn count(&mut self, particle: &Particle, decision: Decision, depth: usize) -> u32 {
        let (min, max) = (particle.min_occurs, particle.max_occurs);
        if self.is_enough(depth) || self.heights.particle_once(particle) >= UNDECLARED {
            return min;
        }
        let mut counts = vec![min.max(1).min(max.unwrap_or(u32::MAX)), min, min.saturating_add(2).max(2)];
        counts.extend(max);
        counts.retain(|&count| max.is_none_or(|max| count <= max) && (count == min || count <= 20));
        let mut distinct = Vec::new();
        for count in counts {
            if !distinct.contains(&count) {
                distinct.push(count);
            }
        }
        distinct.get(self.coverage.choose(decision, distinct.len())).copied().unwrap_or(min)
    }

    /// Writes an element that a wildcard allows. If the wildcard is strict it is a declared element, if there is one.
    fn wildcard(&mut self, out: &mut Writer, wildcard: &Wildcard, depth: usize) -> Result<(), Error> {
        if wildcard.process_contents != ProcessContents::Strict
            && let Some(namespace) = namespace_for(wildcard)
        {
            self.start(out, &ExpandedName::new(namespace, "sample"), None)?;
            out.text("any element")?;
            return self.end(out);
        }
        let declared = self.heights.declared_for(wildcard, &self.open);
        self.step(0)?;
        if let Some(id) = declared {
            return self.element(out, id, depth.max(self.deep));
        }
        let Some(name) = height::undeclared_for(self.schema, wildcard) else {
            let message = "no element that the strict wildcard allows has a finite instance".to_owned();
            return Err(Error { message });
        };
        // An undeclared element is valid by its `xsi:type` (Part 1 §3.10.4).
        self.start(out, &name, None)?;
        self.keys.undeclared(XSI_NAMESPACE, "type");
        out.qname_attribute(XSI_NAMESPACE, "type", (XSD_NAMESPACE, "string"))?;
        out.text("any element")?;
        self.end(out)
    }

    // ---- values ----

    fn value(&mut self, type_id: TypeId, name: &ExpandedName) -> Result<Text, Error> {
        let schema = self.schema;
        if schema.builtin(type_id) == Builtin::Id && schema.facets(type_id).is_empty() {
            self.ids += 1;
            return Ok(Text::Plain(format!("id-{}", self.ids)));
        }
        let values = match self.values.get(&type_id) {
            Some(known) => known.clone(),
            None => {
                let (values, steps) = values::values(schema, type_id);
                let values = self.values.entry(type_id).or_insert(values.into()).clone();
                self.step(steps)?;
                values
            }
        };
        if values.is_empty() {
            return Err(Error::new(name, "has a type for which no value was found"));
        }
        let chosen = match self.is_plain {
            true => values.iter().position(|value| !value.is_empty()).unwrap_or_default(),
            false => self.coverage.choose(Decision::Value(type_id), values.len()),
        };
        let value = values.get(chosen).cloned().ok_or_else(|| Error::new(name, "has no such value"))?;
        if let Text::Plain(text) = &value {
            self.step_of_text(text)?;
        }
        Ok(value)
    }
}

impl Iterator for Samples<'_> {
    type Item = Result<String, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        // A nil value hides its content, but only for a few instances. Values that keys require replace the chosen
        // ones. So an instance that shows nothing new doesn't mean that nothing new follows.
        let is_encoded = matches!(self.of, Subject::Call(..) | Subject::Encoded(..));
        let tries = if is_encoded || self.has_keys() { TRIES } else { 1 };
        let mut tried = 0;
        while tried < tries {
            let covered = self.coverage.covered();
            let instance = self.instance().transpose();
            self.made += 1;
            self.is_done = matches!(instance, Some(Err(_)))
                || self.made == MAX_INSTANCES
                || self.heights.steps() > MAX_TOTAL_STEPS
                || self.coverage.is_complete();
            let is_something_new = self.made == 1 || self.coverage.covered() > covered;
            match instance {
                Some(instance) if is_something_new || instance.is_err() => {
                    self.is_given = true;
                    return Some(instance);
                }
                _ if self.is_done => break,
                // The instance was discarded, but its new choices may work in other combinations.
                None if is_something_new => {}
                _ => tried += 1,
            }
        }
        // At a large depth only the smallest alternative is chosen, so some alternatives may never be reached.
        self.is_done = true;
        match self.is_given {
            true => None,
            false => Some(Err(Error { message: "no instance was found whose identity constraints hold".to_owned() })),
        }
    }
}

/// Counts the particles in a particle, including itself.
fn particles_in(particle: &Particle) -> usize {
    match &particle.term {
        Term::Group(group) => 1 + group.particles.iter().map(particles_in).sum::<usize>(),
        _ => 1,
    }
}

fn writer() -> Result<Writer, Error> {
    let prefixes = Prefixes::default().where_needed("xsi", XSI_NAMESPACE)?.where_needed("xs", XSD_NAMESPACE)?;
    Ok(Writer::new(prefixes, Limits::default()))
}

/// Returns the written text.
fn text(out: &mut Writer) -> Result<String, Error> {
    Ok(String::from_utf8_lossy(&out.finish()?).into_owned())
}

/// The reason why no instance can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    /// Creates an error with this message.
    pub fn of(message: &str) -> Self {
        Error { message: message.to_owned() }
    }

    fn new(name: &ExpandedName, problem: &str) -> Self {
        Error { message: format!("the element or attribute {name} {problem}") }
    }
}

impl From<castile_xml::Error> for Error {
    fn from(error: castile_xml::Error) -> Self {
        Error { message: error.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
