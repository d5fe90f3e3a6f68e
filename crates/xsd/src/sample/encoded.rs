//! Sample values in SOAP encoding (SOAP 1.1 §5 and §7, SOAP 1.2 Part 2 §3 and §4), in the form that peers which know
//! the contract send: accessors in schema order, any of them nil, types declared or not, sized arrays, references.

use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

use castile_xml::Writer;

use super::coverage::{Aspect, Decision, Position};
use super::values::Text;
use super::{Error, Samples, Subject, height, writer};
use crate::builtin::XSI_NAMESPACE;
use crate::components::{Content, DerivationSet, Particle, ValueConstraint};
use crate::encoded::{Encoding, Items, TypeKind, encoding_type};
use crate::{Builtin, ExpandedName, Schema, TypeId, XSD_NAMESPACE};

const MESSAGES: [&str; 2] = ["http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope"];

/// The graph of the current instance.
#[derive(Debug, Default)]
pub(super) struct Graph {
    encoding: Encoding,
    has_references: bool,
    /// The number of values with an id.
    ids: usize,
    /// The id of a value of each type, for further references.
    ids_by_type: HashMap<TypeId, String>,
    /// Referenced values that will follow the call.
    waiting: VecDeque<Independent>,
}

/// A value that follows the call.
#[derive(Debug)]
struct Independent {
    id: String,
    value: Value,
    depth: usize,
}

/// A value to write: its actual type is `type_id`, and `declared` is expected.
#[derive(Clone, Copy, Debug)]
struct Value {
    position: Position,
    declared: TypeId,
    type_id: TypeId,
}

impl<'s> Samples<'s> {
    /// Creates samples of a call or its answer in SOAP encoding: an element with this name and parts with these names
    /// and types. Referenced values follow the element, so an instance is the content of a message's body.
    pub fn of_call(
        schema: &'s Schema,
        encoding: Encoding,
        name: ExpandedName,
        parts: impl IntoIterator<Item = (String, TypeId)>,
    ) -> Self {
        let graph = Graph { encoding, ..Graph::default() };
        Samples { graph, ..Self::of(schema, Subject::Call(name, parts.into_iter().collect())) }
    }

    /// Creates samples of an independent value in SOAP encoding, for a header block or the detail of a fault.
    pub fn of_encoded(schema: &'s Schema, encoding: Encoding, name: ExpandedName, type_id: TypeId) -> Self {
        let graph = Graph { encoding, ..Graph::default() };
        Samples { graph, ..Self::of(schema, Subject::Encoded(name, type_id)) }
    }

    /// Uses references between values in SOAP encoding.
    ///
    /// With SOAP 1.1 a referenced value follows the call, as Apache Axis writes it. With SOAP 1.2 it is at its first
    /// use. Several references may lead to the same value, or to one that contains them.
    #[must_use]
    pub fn with_references(mut self) -> Self {
        self.graph.has_references = true;
        self
    }

    pub(super) fn call(&mut self, name: &ExpandedName, parts: &[(String, TypeId)]) -> Result<String, Error> {
        self.begin();
        let mut out = self.outermost(name)?;
        for (number, (name, type_id)) in parts.iter().enumerate() {
            self.accessor(&mut out, name, Position::Part(number), *type_id, 0)?;
        }
        out.end()?;
        self.finish(out)
    }

    pub(super) fn independent(&mut self, name: &ExpandedName, type_id: TypeId) -> Result<String, Error> {
        self.begin();
        let mut out = self.outermost(name)?;
        let position = Position::Part(0);
        let value = Value { position, declared: type_id, type_id: self.type_of(position, type_id, 0)? };
        self.encode(&mut out, value, 0)?;
        out.end()?;
        self.finish(out)
    }

    fn begin(&mut self) {
        let Graph { encoding, has_references, .. } = self.graph;
        self.graph = Graph { encoding, has_references, ..Graph::default() };
    }

    /// Starts an element that declares its encoding.
    fn outermost(&self, name: &ExpandedName) -> Result<Writer, Error> {
        let mut out = writer()?;
        out.start(name.namespace(), name.local())?;
        out.attribute(self.envelope(), "encodingStyle", self.graph.encoding.namespace())?;
        Ok(out)
    }

    fn envelope(&self) -> &'static str {
        match self.graph.encoding {
            Encoding::Soap11 => MESSAGES[0],
            Encoding::Soap12 => MESSAGES[1],
        }
    }

    /// Returns the written text, followed by the values that it refers to.
    fn finish(&mut self, mut out: Writer) -> Result<String, Error> {
        let mut text = super::text(&mut out)?;
        while let Some(Independent { id, value, depth }) = self.graph.waiting.pop_front() {
            let mut out = self.outermost(&ExpandedName::new("", "multiRef"))?;
            out.attribute("", "id", &id)?;
            out.attribute(self.graph.encoding.namespace(), "root", "0")?;
            self.encode(&mut out, value, depth)?;
            out.end()?;
            text += &super::text(&mut out)?;
        }
        Ok(text)
    }

    // ---- accessors ----

    /// Writes an accessor, a part or an item: nil, a reference, or a value. At a large depth it is nil, except for
    /// text.
    fn accessor(
        &mut self,
        out: &mut Writer,
        name: &str,
        position: Position,
        declared: TypeId,
        depth: usize,
    ) -> Result<(), Error> {
        self.step(1)?;
        out.start("", name)?;
        self.elements += 1;
        if let Some(fixed) = self.fixed(position) {
            self.step_of_text(&fixed)?;
            out.text(&fixed)?;
            return Ok(out.end()?);
        }
        let is_text = matches!(*self.kind(declared), TypeKind::Simple);
        let is_nil = match self.is_enough(depth) {
            true => !is_text,
            // A nil value hides its content, so it is chosen less often.
            false => self.coverage.choose(Decision::Encoded(position, Aspect::Nil), 3) == 1,
        };
        if is_nil {
            out.attribute(XSI_NAMESPACE, "nil", "true")?;
            return Ok(out.end()?);
        }
        let value = Value { position, declared, type_id: self.type_of(position, declared, depth)? };
        if !self.refer(out, value, depth)? {
            self.encode(out, value, depth)?;
        }
        Ok(out.end()?)
    }

    /// Returns the kind of a type, from a cache.
    fn kind(&mut self, type_id: TypeId) -> Rc<TypeKind> {
        let schema = self.schema;
        self.kinds.entry(type_id).or_insert_with(|| Rc::new(TypeKind::of(schema, type_id))).clone()
    }

    fn fixed(&self, position: Position) -> Option<String> {
        let Position::Accessor(id) = position else { return None };
        match &self.schema[id].value_constraint {
            Some(ValueConstraint::Fixed(value)) => Some(value.clone()),
            _ => None,
        }
    }

    /// Chooses the type of a value. A struct may have a type derived from the declared one.
    fn type_of(&mut self, position: Position, declared: TypeId, depth: usize) -> Result<TypeId, Error> {
        let schema = self.schema;
        let types = match *self.kind(declared) {
            TypeKind::Struct(_) | TypeKind::Literal => height::types_of(schema, declared, DerivationSet::default()),
            TypeKind::Simple | TypeKind::Any | TypeKind::Array(_) => vec![declared],
        };
        self.step(types.len())?;
        let decision = Decision::Encoded(position, Aspect::Type);
        self.pick(decision, &types, depth, |_, _| 0).ok_or_else(|| Error {
            message: "a type in SOAP encoding is abstract, and no type is derived from it".to_owned(),
        })
    }

    /// Writes a reference to a value and returns true, or writes the id of a value that follows here and returns false.
    fn refer(&mut self, out: &mut Writer, value: Value, depth: usize) -> Result<bool, Error> {
        if !self.graph.has_references || self.is_enough(depth) {
            return Ok(false);
        }
        let encoding = self.graph.encoding;
        let (namespace, id, reference) = match encoding {
            Encoding::Soap11 => ("", "id", "href"),
            Encoding::Soap12 => (self.graph.encoding.namespace(), "id", "ref"),
        };
        let link = |id: &str| match encoding {
            Encoding::Soap11 => format!("#{id}"),
            Encoding::Soap12 => id.to_owned(),
        };
        let again = Decision::Encoded(value.position, Aspect::Again);
        if let Some(known) = self.graph.ids_by_type.get(&value.declared)
            && self.coverage.choose(again, 2) == 1
        {
            out.attribute(namespace, reference, &link(known))?;
            return Ok(true);
        }
        if self.coverage.choose(Decision::Encoded(value.position, Aspect::Reference), 2) == 1 {
            return Ok(false);
        }
        let own = format!("id{}", self.graph.ids);
        self.graph.ids += 1;
        if self.can_be_shared(value.declared) {
            self.graph.ids_by_type.insert(value.declared, own.clone());
        }
        if encoding == Encoding::Soap12 {
            out.attribute(namespace, id, &own)?;
            return Ok(false);
        }
        out.attribute(namespace, reference, &link(&own))?;
        self.graph.waiting.push_back(Independent { id: own, value, depth });
        Ok(true)
    }

    /// Returns true if several references may lead to one value of this type. A circle leads through structs, which the
    /// reader treats as shared.
    fn can_be_shared(&mut self, type_id: TypeId) -> bool {
        match &*self.kind(type_id) {
            TypeKind::Simple | TypeKind::Struct(_) => true,
            TypeKind::Array(items) => matches!(*self.kind(items.type_id), TypeKind::Simple),
            TypeKind::Any | TypeKind::Literal => false,
        }
    }

    // ---- values ----

    /// Writes the attributes and the content of a value into the open start tag.
    fn encode(&mut self, out: &mut Writer, value: Value, depth: usize) -> Result<(), Error> {
        let schema = self.schema;
        let Value { type_id, .. } = value;
        let kind = self.kind(type_id);
        // The name is used in error messages.
        let name = schema[type_id].name().cloned().unwrap_or_else(|| ExpandedName::new("", "value"));
        self.write_type_attribute(out, value, &kind)?;
        match &*kind {
            TypeKind::Any => self.any_type(out, value.position.element()),
            TypeKind::Simple => {
                let simple = match schema.content(type_id) {
                    Content::Simple(simple) => simple,
                    _ => type_id,
                };
                match self.value(simple, &name)? {
                    Text::Plain(text) => Ok(out.text(&text)?),
                    Text::Name(name) => Ok(out.qname(name.namespace(), name.local())?),
                }
            }
            TypeKind::Literal => self.inside(out, &name, None, type_id, depth),
            TypeKind::Array(items) => self.array(out, type_id, items, depth),
            TypeKind::Struct(accessors) => {
                for (number, accessor) in accessors.iter().enumerate() {
                    let declaration = &schema[accessor.element];
                    let occurrence = Decision::Occurrence(type_id, number);
                    for _ in 0..self.times(&accessor.particle, occurrence, depth) {
                        let position = Position::Accessor(accessor.element);
                        self.accessor(out, declaration.name.local(), position, declaration.type_id, depth + 1)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Chooses how often an accessor occurs, in turn: once, the minimum, more often.
    fn times(&mut self, particle: &Particle, decision: Decision, depth: usize) -> u32 {
        let min = particle.min_occurs;
        if self.is_enough(depth) {
            return min;
        }
        let mut counts = vec![min.max(1)];
        counts.extend((min == 0).then_some(0));
        counts.extend(particle.is_repeated().then_some(min + 2));
        counts.retain(|&count| particle.max_occurs.is_none_or(|max| count <= max));
        counts.get(self.coverage.choose(decision, counts.len().max(1))).copied().unwrap_or(min)
    }

    /// Writes `xsi:type`, in turn with leaving it out where the type is known. For an array the type may also be
    /// `soapenc:Array`.
    fn write_type_attribute(&mut self, out: &mut Writer, value: Value, kind: &TypeKind) -> Result<(), Error> {
        let Value { position, declared, type_id } = value;
        let array = (self.graph.encoding.namespace(), "Array");
        let own = self.name_of(type_id, kind);
        let own = own.as_ref().map(|(namespace, local)| (namespace.as_str(), local.as_str()));
        let mut ways = vec![own];
        match kind {
            // It is written together with the content.
            TypeKind::Any => return Ok(()),
            TypeKind::Array(_) => ways.extend([Some(array), None]),
            _ if type_id == declared => ways.push(None),
            _ => {}
        }
        let way = self.coverage.choose(Decision::Encoded(position, Aspect::TypeAttribute), ways.len());
        match ways.get(way).copied().flatten() {
            Some(name) => Ok(out.qname_attribute(XSI_NAMESPACE, "type", name)?),
            None => Ok(()),
        }
    }

    /// Returns the name of a type in a message: its own name, the built-in type that an anonymous type is derived from,
    /// or `soapenc:Array`. Returns `None` if it has none of these.
    fn name_of(&self, type_id: TypeId, kind: &TypeKind) -> Option<(String, String)> {
        let owned = |namespace: &str, local: &str| Some((namespace.to_owned(), local.to_owned()));
        let name = self.schema[type_id].name();
        match (name, kind) {
            // The encoding's own types are in its namespace, which depends on the SOAP version of the message.
            (Some(name), _) if encoding_type(name).is_some() => {
                match (name.local(), self.graph.encoding) {
                    // SOAP 1.2 doesn't have this type.
                    ("base64", Encoding::Soap12) => owned(XSD_NAMESPACE, "base64Binary"),
                    (local, encoding) => owned(encoding.namespace(), local),
                }
            }
            (Some(name), _) => owned(name.namespace(), name.local()),
            (None, TypeKind::Simple) => owned(XSD_NAMESPACE, self.schema.builtin(type_id).name()),
            (None, TypeKind::Array(_)) => owned(self.graph.encoding.namespace(), "Array"),
            (None, _) => None,
        }
    }

    // ---- arrays ----

    /// Writes the attributes of an array, and its items.
    fn array(&mut self, out: &mut Writer, type_id: TypeId, items: &Items, depth: usize) -> Result<(), Error> {
        let count = match self.is_enough(depth) {
            true => 0,
            false => [2, 0, 1, 3][self.coverage.choose(Decision::Items(type_id, items.ranks.len()), 4)],
        };
        let is_sized = self.coverage.choose(Decision::Size(type_id, items.ranks.len()), 2) == 0;
        // Each dimension after the first has size two.
        self.step(items.rank)?;
        let mut sizes = vec![2; items.rank.max(1)];
        sizes[0] = count;
        let mut first = 0;
        match self.graph.encoding {
            Encoding::Soap11 => {
                let size = |(index, size): (usize, &usize)| match index == 0 && !is_sized {
                    true => String::new(),
                    false => size.to_string(),
                };
                let sizes: Vec<String> = sizes.iter().enumerate().map(size).collect();
                let (namespace, local) = self.item_name(items.type_id);
                let prefix = out.prefix(&namespace)?.to_owned();
                let text = format!("{}{local}{}[{}]", colon(&prefix), items.ranks, sizes.join(","));
                out.attribute(self.graph.encoding.namespace(), "arrayType", &text)?;
                // An array with an offset doesn't have the items before the first one that is sent.
                if items.rank == 1 && count > 2 {
                    first = 1;
                    out.attribute(self.graph.encoding.namespace(), "offset", "[1]")?;
                }
            }
            Encoding::Soap12 => {
                if items.ranks.is_empty() {
                    let (namespace, local) = self.item_name(items.type_id);
                    out.qname_attribute(self.graph.encoding.namespace(), "itemType", (&namespace, &local))?;
                }
                let mut sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
                if !is_sized {
                    "*".clone_into(&mut sizes[0]);
                }
                out.attribute(self.graph.encoding.namespace(), "arraySize", &sizes.join(" "))?;
            }
        }
        // The product of all dimensions may exceed the number range. Each item takes steps, so the loop ends at the
        // step limit.
        let count = sizes.iter().fold(1, |count: usize, &size| count.saturating_mul(size));
        for _ in first..count {
            self.item(out, type_id, items, depth + 1)?;
        }
        Ok(())
    }

    /// Writes an item: a value of the item type, or a nested array without a name.
    fn item(&mut self, out: &mut Writer, array: TypeId, items: &Items, depth: usize) -> Result<(), Error> {
        self.step(1)?;
        let Some(last) = items.ranks.rfind('[') else {
            return self.accessor(out, "item", Position::Item(array), items.type_id, depth);
        };
        let inner = Items {
            type_id: items.type_id,
            rank: items.ranks[last..].matches(',').count() + 1,
            ranks: items.ranks[..last].to_owned(),
        };
        out.start("", "item")?;
        self.array(out, array, &inner, depth)?;
        Ok(out.end()?)
    }

    /// Returns the declared type of the items of an array.
    fn item_name(&mut self, type_id: TypeId) -> (String, String) {
        let kind = self.kind(type_id);
        self.name_of(type_id, &kind).unwrap_or_else(|| (XSD_NAMESPACE.to_owned(), Builtin::AnyType.name().to_owned()))
    }
}

/// Returns a prefix with its colon, as written before a local name.
fn colon(prefix: &str) -> String {
    if prefix.is_empty() { String::new() } else { format!("{prefix}:") }
}
