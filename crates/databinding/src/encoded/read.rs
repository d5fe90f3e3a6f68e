//! SOAP encoding (SOAP 1.1 §5 and §7, SOAP 1.2 Part 2 §3 and §4): accessors identified by name, and references.

mod array;
mod references;
mod unrolled;

use std::any::{Any, TypeId};

use castile_datatypes::{SimpleType, quoted};
use castile_xml::StartTag;

use super::{ItemType, RPC, SOAP11, SOAP12};
use crate::error::{Error, ErrorKind};
use crate::from_xml::types::{Rules, is_simple};
use crate::from_xml::{Decoder, FromXml, Next, RootType};
use crate::schema::{Element, TypeName, XSI_NAMESPACE};

use references::{Opened, Reference};
pub(crate) use unrolled::{is_of_references, may_refer};

/// The parameters of a call that were read so far. Clients that don't know the contract choose their own names. As long as no
/// known name occurred, parameters are identified by position (SOAP 1.1 §7.1, SOAP 1.2 Part 2 §4.2.1: the name of the result
/// is not significant).
#[derive(Debug, Default)]
pub struct Parts {
    position: usize,
    are_named: bool,
}

/// What is known about the type of a value.
#[derive(Clone, Copy)]
struct Typed {
    /// [`FromXml::TYPE`].
    name: Option<TypeName>,
    /// Whether a tag whose only attribute is an `xsi:type` with this name is cached as a plain tag:
    /// [`FromXml::TYPE_IS_FIXED`].
    is_fixed: bool,
    /// Whether any other type may be named.
    is_any: bool,
}

impl Typed {
    const ANY: Typed = Typed { name: None, is_fixed: false, is_any: true };

    #[inline]
    fn of<T: FromXml>(element: &Element) -> Self {
        let (name, is_fixed) = match element.run_time_type() {
            None => (T::TYPE, T::TYPE_IS_FIXED),
            Some(of) => (of.type_name(), of.type_is_fixed()),
        };
        Typed { name, is_fixed, is_any: false }
    }
}

/// Where the value of an element is, according to its start tag.
enum ValueLocation<'a> {
    Nil,
    /// In the element. `as_plain`: its attributes add nothing to the contract.
    Inline {
        as_plain: bool,
    },
    /// In another element.
    Reference(Reference<'a>),
}

impl<'a> Decoder<'a> {
    /// Reads up to the next accessor of a struct. Returns its index in `table`, or `None` at the end of the struct. Accessors
    /// have no namespace, or an arbitrary one if the sender doesn't know that, so only local names are compared. Accessors
    /// that are not in the contract are skipped.
    ///
    /// # Errors
    /// The document is not well-formed, or text is next.
    pub fn next_accessor(&mut self, table: &'static [Element]) -> Result<Option<usize>, Error> {
        loop {
            if let Some(next) = self.cached_accessor(table) {
                return Ok(next);
            }
            let Next::Start(tag) = self.peek()? else { return Ok(None) };
            let local = tag.name.local();
            if let Some(index) = table.iter().position(|element| element.name == local) {
                return Ok(Some(index));
            }
            self.pass_over()?;
        }
    }

    /// Reads up to the next parameter of a call. Returns its index in `table`, or `None` at the end of the call. `table` has
    /// the parameters in the order of the contract.
    ///
    /// # Errors
    /// The document is not well-formed, or text is next.
    pub fn next_part(&mut self, table: &'static [Element], parts: &mut Parts) -> Result<Option<usize>, Error> {
        loop {
            if let Some(next) = self.cached_accessor(table) {
                parts.are_named |= next.is_some();
                return Ok(next);
            }
            let Next::Start(tag) = self.peek()? else { return Ok(None) };
            // An `rpc:result` names the accessor with the result, which is known from the contract. A part may have the same
            // local name.
            if self.reader.namespace(tag.namespace) == RPC {
                self.pass_over()?;
                continue;
            }
            let local = tag.name.local();
            if let Some(index) = table.iter().position(|element| element.name == local) {
                parts.are_named = true;
                return Ok(Some(index));
            }
            let index = parts.position;
            parts.position += 1;
            if !parts.are_named && index < table.len() {
                return Ok(Some(index));
            }
            self.pass_over()?;
        }
    }

    /// Returns the next accessor or the end, if the cached tag is next.
    fn cached_accessor(&mut self, table: &'static [Element]) -> Option<Option<usize>> {
        if self.next.is_some() {
            return None;
        }
        if self.is_at_cached_end() {
            return Some(None);
        }
        // Another end tag is not an accessor.
        if self.reader.is_at_end_tag() {
            return None;
        }
        let index = table.iter().position(|element| self.is_at_cached_start(element))?;
        // The tag cached in a slot may have any name: that of the target of a reference, or one that a client chose.
        self.is_next_by_name(&table[index]).then_some(Some(index))
    }

    /// Whether the next start tag, which was recognised as one of `element`, has its name.
    fn is_next_by_name(&self, element: &'static Element) -> bool {
        if let Some(Next::Start(tag)) = self.next {
            return tag.name.local() == element.name;
        }
        self.reader.name_ahead().is_some_and(|name| name.local() == element.name)
    }

    /// Reads the accessor `table[index]`, which is next, into `value`. Nil leaves it `None`.
    ///
    /// # Errors
    /// The accessor is invalid, or occurred before.
    #[inline]
    pub fn accessor<T: FromXml>(
        &mut self,
        value: &mut Option<T>,
        table: &'static [Element],
        index: usize,
    ) -> Result<(), Error> {
        if value.is_some() {
            return Err(self.second(&table[index]));
        }
        *value = self.encoded(&table[index])?;
        Ok(())
    }

    /// Reads the accessor `table[index]`, which is next, and appends it to `values`.
    ///
    /// # Errors
    /// The accessor is invalid.
    #[inline]
    pub fn accessor_of<T: FromXml>(
        &mut self,
        values: &mut Vec<Option<T>>,
        table: &'static [Element],
        index: usize,
    ) -> Result<(), Error> {
        let value = self.encoded(&table[index])?;
        self.push(values, value)
    }

    /// Reads the next element, whatever its name, or the element that it refers to. Returns `None` if it is nil.
    #[inline]
    fn encoded<T: FromXml>(&mut self, element: &'static Element) -> Result<Option<T>, Error> {
        if self.next.is_none()
            && let Some(value) = T::cached(self, element)
        {
            return value.map(Some);
        }
        self.unknown_encoded(element)
    }

    #[inline(never)]
    fn unknown_encoded<T: FromXml>(&mut self, element: &'static Element) -> Result<Option<T>, Error> {
        let reference = match self.open_encoded(element, Typed::of::<T>(element))? {
            ValueLocation::Inline { .. } => return T::content(self, element).map(Some),
            ValueLocation::Nil => return Ok(None),
            ValueLocation::Reference(reference) => reference,
        };
        self.referred(&reference, element)
    }

    /// Reads the target of a reference.
    fn referred<T: FromXml>(
        &mut self,
        reference: &Reference<'a>,
        element: &'static Element,
    ) -> Result<Option<T>, Error> {
        let place = self.find(reference)?;
        if let Some(value) = T::referenced(self, element, self.start_of(place)) {
            return Ok(Some(value));
        }
        let value =
            self.follow(place, reference, element, Typed::of::<T>(element), |decoder| T::content(decoder, element));
        self.note_reference(reference);
        value
    }

    /// Reads an independent element (a header block or a fault detail), or the element that it refers to. Its start tag was
    /// read. Returns `None` if it is nil.
    ///
    /// # Errors
    /// The element is invalid.
    pub fn independent<T: FromXml>(&mut self, element: &'static Element) -> Result<Option<T>, Error> {
        // SOAP encoding has its own rules for what is tolerated.
        self.of_types = self.lenient.take();
        self.is_encoded = true;
        let value = self.independent_by_rules(element);
        self.is_encoded = false;
        self.lenient = self.of_types.take();
        self.is_granted()?;
        value
    }

    /// Reads the content of `element`, the element of a call or its answer. The caller has read its start tag and checked its
    /// name. If it is nil it has no accessors. A lenient decoder tolerates only deviations in named types here.
    ///
    /// # Errors
    /// The content doesn't match the schema or is not well-formed.
    pub fn call<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.open_call(element, &RootType::of::<T>())?;
        let value = T::content(self, element)?;
        self.is_granted().map(|()| value)
    }

    /// Reads the attributes of `element` as [`call`](Self::call) does. The content is read next.
    ///
    /// # Errors
    /// The attributes don't match the schema or are not well-formed.
    #[doc(hidden)]
    pub fn open_call(&mut self, element: &'static Element, of: &RootType) -> Result<(), Error> {
        self.of_types = self.lenient.take();
        self.is_encoded = true;
        self.reader.use_cached_tags();
        self.attributes(element, of.attributes)?;
        self.nil_has_no_children(element)
    }

    fn independent_by_rules<T: FromXml>(&mut self, element: &'static Element) -> Result<Option<T>, Error> {
        self.reader.use_cached_tags();
        let offset = self.reader.innermost_tag().map_or(0, |(offset, _)| offset);
        match self.value_location(offset, element, Typed { is_fixed: false, ..Typed::of::<T>(element) }, false)? {
            ValueLocation::Inline { .. } => T::content(self, element).map(Some),
            ValueLocation::Nil => Ok(None),
            ValueLocation::Reference(reference) => {
                let place = self.find(&reference)?;
                self.follow(place, &reference, element, Typed::of::<T>(element), |decoder| T::content(decoder, element))
            }
        }
    }

    /// Reads an independent element, or the element that it refers to. Its start tag was read.
    ///
    /// # Errors
    /// The element is nil or invalid.
    pub fn independent_value<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        let offset = self.reader.offset();
        self.independent(element)?.ok_or_else(|| {
            let message = format!("<{}> is nil, where a value was expected", element.name);
            Error::new(ErrorKind::Structure, self.inside(offset), message)
        })
    }

    /// Reads the next element, or the element that it refers to, with `read`. Returns `None` if it is nil.
    fn encoded_by<T>(
        &mut self,
        element: &'static Element,
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        match self.open_encoded(element, Typed::ANY)? {
            ValueLocation::Inline { .. } => read(self).map(Some),
            ValueLocation::Nil => Ok(None),
            ValueLocation::Reference(reference) => {
                let place = self.find(&reference)?;
                self.follow(place, &reference, element, Typed::ANY, read)
            }
        }
    }

    /// Reads the target of a reference with `read`. If the type is fixed, its attributes don't matter.
    fn follow<T>(
        &mut self,
        place: u32,
        reference: &Reference<'a>,
        element: &'static Element,
        typed: Typed,
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let typed = Typed { is_fixed: typed.is_fixed && self.item_type.is_none(), ..typed };
        let (outer, opened) = self.enter_target(place, reference, element, typed.is_fixed)?;
        let offset = self.start_of(place);
        if let Opened::Uncached(tag) = &opened {
            self.apply_type_name(*tag, element, typed);
        }
        let said = match opened {
            Opened::Template => {
                self.nil = false;
                self.note_identity(Some(offset));
                ValueLocation::Inline { as_plain: true }
            }
            Opened::Cached => self.value_location(offset, element, Typed { is_fixed: false, ..typed }, true)?,
            Opened::Uncached(_) => self.value_location(offset, element, Typed { is_fixed: false, ..typed }, false)?,
        };
        let value = match said {
            ValueLocation::Inline { as_plain } => {
                if !matches!(opened, Opened::Template) {
                    if typed.is_fixed && as_plain {
                        self.store_template(place, element);
                    }
                    self.reader.extend_cached_tags();
                }
                Some(read(self)?)
            }
            ValueLocation::Nil => None,
            // `find` has followed the references up to the final target.
            ValueLocation::Reference(_) => return Err(self.circular_reference(reference)),
        };
        self.leave_target(outer)?;
        Ok(value)
    }

    /// Looks at the name of a reference's target. An independent element may be called like its type (SOAP 1.1 §5.3), which
    /// determines the conversion of its text.
    fn apply_type_name(&mut self, tag: StartTag<'a>, element: &'static Element, typed: Typed) {
        let namespace = self.reader.namespace(tag.namespace);
        if !matches!(namespace, SOAP11 | SOAP12) || typed.is_any {
            return;
        }
        let Some(rules) = is_simple(element, typed.name.as_ref(), Rules::Encoded) else { return };
        let judged = self.check_named_type(element, typed.name.as_ref(), rules, namespace, tag.name.local());
        if let Some(reading) = judged.reading {
            self.item_type = Some(ItemType::Simple(reading));
        }
    }

    /// Reads the next start tag. If the element is nil or refers to another one, reads the whole element.
    fn open_encoded(&mut self, element: &'static Element, typed: Typed) -> Result<ValueLocation<'a>, Error> {
        match self.peek()? {
            Next::Start(tag) => {
                self.next = None;
                let is_known = self.recognised == element.identity();
                self.value_location(tag.offset, element, typed, is_known)
            }
            Next::End { offset } => Err(self.ends_early(offset, element)),
        }
    }

    /// Returns where the value is, according to the start tag at `offset`, which was read last. `is_known` means that it was
    /// recognised as a cached one. Attributes that don't belong to the encoding are ignored.
    fn value_location(
        &mut self,
        offset: usize,
        element: &'static Element,
        typed: Typed,
        is_known: bool,
    ) -> Result<ValueLocation<'a>, Error> {
        self.nil = false;
        self.note_identity(None);
        let item_type = self.item_type.take();
        if self.reader.is_plain() && item_type.is_none() {
            self.reader.cache_start(element.slot_id());
            return Ok(ValueLocation::Inline { as_plain: true });
        }
        let (mut nil, mut reference, mut type_attribute) = (None, None, None);
        let (mut has_id, mut says_more) = (false, false);
        for (number, name) in self.reader.attribute_locals() {
            let namespace = || self.reader.attribute_namespace(number);
            match name {
                "type" if namespace() == XSI_NAMESPACE => {
                    type_attribute = Some(number);
                    continue;
                }
                "nil" if namespace() == XSI_NAMESPACE => nil = Some(number),
                "href" if namespace().is_empty() => reference = Some(number),
                "ref" if namespace() == SOAP12 => reference = Some(number),
                "id" => has_id |= matches!(namespace(), "" | SOAP12),
                _ => {}
            }
            says_more = true;
        }
        if has_id {
            self.note_identity(Some(offset));
        }
        // The attributes of a tag matter unless the type is fixed.
        let is_as_plain = typed.is_fixed && !says_more && item_type.is_none();
        if !is_known && !is_as_plain && item_type.is_none() {
            self.reader.cache_start(element.slot_id());
        }
        if let Some((text, place)) = nil.and_then(|number| self.reader.attribute_value(number)) {
            let is_nil = bool::parse(text).map_err(|_| {
                let message = format!("{} is not a valid xs:boolean for xsi:nil", quoted(text));
                Error::new(ErrorKind::Lexical, place, message)
            })?;
            if is_nil {
                self.nil_content(element)?;
                return Ok(ValueLocation::Nil);
            }
        }
        if let Some((to, place)) = reference.and_then(|number| self.reader.attribute_value_cow(number)) {
            let reference = Reference { to, at: offset, attribute: place };
            self.expect_empty(&reference, element)?;
            // The target of the reference is the item.
            self.item_type = item_type;
            return Ok(ValueLocation::Reference(reference));
        }
        let as_plain = match type_attribute {
            Some(said) if !typed.is_any => self.admit_encoded_type(said, element, typed.name)?,
            Some(_) => true,
            None => match item_type {
                None => true,
                Some(ItemType::Simple(reading)) => {
                    self.reading = Some(reading);
                    false
                }
                Some(ItemType::Derived(name)) => {
                    self.given = Some((self.reader.offset(), name));
                    false
                }
            },
        };
        if is_as_plain && as_plain {
            self.reader.cache_start_as_plain(element.slot_id());
        }
        Ok(ValueLocation::Inline { as_plain })
    }

    /// Reads up to the end of an element that refers to another one, and so must be empty.
    fn expect_empty(&mut self, reference: &Reference<'a>, element: &'static Element) -> Result<(), Error> {
        if self.reader.end_of_empty() {
            return Ok(());
        }
        let text = self.text(element)?;
        if text.trim_matches([' ', '\t', '\n', '\r']).is_empty() {
            return Ok(());
        }
        let message =
            format!("<{}> refers to {} and has text {} of its own", element.name, quoted(&reference.to), quoted(&text));
        Err(Error::new(ErrorKind::Structure, reference.attribute, message))
    }

    /// Whether an attribute names this type. Returns `false` if that takes a closer look, for example at white space.
    fn names_type(&self, attribute: usize, expected: &TypeName) -> bool {
        let Some((text, _)) = self.reader.attribute_value(attribute) else { return false };
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        local == expected.name && self.reader.resolve(prefix) == Some(expected.namespace)
    }

    /// Checks the type that an attribute names. Returns `true` if it is the expected one, or if none is expected. A struct
    /// may also be called `SOAP-ENC:Struct` (SOAP 1.1 §5.4.1).
    fn admit_encoded_type(
        &mut self,
        attribute: usize,
        element: &'static Element,
        expected: Option<TypeName>,
    ) -> Result<bool, Error> {
        if expected.as_ref().is_some_and(|expected| self.names_type(attribute, expected)) {
            return Ok(true);
        }
        if let Some(rules) = is_simple(element, expected.as_ref(), Rules::Encoded) {
            return self.admit_simple_type(element, expected.as_ref(), rules);
        }
        let Some(expected) = expected else { return Ok(true) };
        match self.type_name()? {
            Some(found) if found.is(SOAP11, "Struct") || found.is(SOAP12, "Struct") => Ok(true),
            Some(_) => self.refuse_other_type(element, Some(expected)).map(|()| false),
            None => Ok(false),
        }
    }

    // ---- shared values ----

    /// Returns the offset of the element whose start tag was read last, if it has an id.
    pub(crate) fn identified(&self) -> Option<usize> {
        self.graph.as_ref()?.identified()
    }

    fn note_identity(&mut self, offset: Option<usize>) {
        match (&mut self.graph, offset) {
            (None, None) => {}
            (Some(graph), offset) => graph.note_identity(offset),
            (None, Some(_)) => self.graph().note_identity(offset),
        }
    }

    /// Returns the node that was stored for the element at `offset` and a type.
    pub(crate) fn shared(&self, offset: usize, type_id: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.graph.as_ref()?.shared(offset, type_id)
    }

    /// Stores a node for the element at `offset` and a type.
    pub(crate) fn share(&mut self, offset: usize, type_id: TypeId, node: Box<dyn Any + Send + Sync>) {
        self.graph().share(offset, type_id, node);
    }
}
