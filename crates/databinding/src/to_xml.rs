//! Encoding: values to XML.

mod canonical;
mod groups;
mod own;
mod parts;

use std::borrow::Cow;
use std::sync::Arc;

use castile_budget::{Reservation, STEP};
use castile_datatypes::SimpleType;
use castile_datatypes::prefixes::{Prefixes, declares, is_free_in};
use castile_xml::{Reader, Token, escape};

use crate::any::{Any, AnyAttribute, AnyContent, AnyElements};
use crate::encoded::{Encoding, Written};
use crate::error::{Error, ErrorKind};
use crate::fragment::{Fragment, unlimited};
use crate::name::ExpandedName;
use crate::schema::XSD_NAMESPACE;
use crate::streamed::Streamed;
use crate::xop::Parts;

/// A value that can be written as an element.
pub trait ToXml {
    /// Whether the type has attributes.
    const HAS_ATTRIBUTES: bool = false;

    /// Whether the type may have content. If not, its elements are written as empty-element tags, the shorter of the two
    /// forms (XML 1.0 §3.1).
    const HAS_CONTENT: bool = true;

    /// The default namespace that tags within the value need, empty for none. Generated types have none here: the payload
    /// declares their namespaces. Types of a program can appear anywhere.
    #[doc(hidden)]
    const NAMESPACE: Option<&'static str> = None;

    /// Writes the attributes.
    fn attributes(&self, out: &mut Encoder) {
        let _ = out;
    }

    /// Writes the content: children or text.
    fn content(&self, out: &mut Encoder);

    /// Writes the whole element between the tags `start` and `end`.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn element(&self, out: &mut Encoder, start: &str, end: &str) {
        if Self::HAS_ATTRIBUTES || !Self::HAS_CONTENT {
            out.tag(&start[..start.len() - 1]);
            self.attributes(out);
            return self.rest(out, end);
        }
        out.tag(start);
        self.content(out);
        out.tag(end);
    }

    /// Writes what follows the attributes: the end of the start tag, the content and the end tag, or the end of an
    /// empty-element tag.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn rest(&self, out: &mut Encoder, end: &str) {
        if Self::HAS_CONTENT {
            out.tag(">");
            self.content(out);
            out.tag(end);
        } else {
            out.end_empty(end);
        }
    }
}

/// An element without content.
impl ToXml for () {
    const HAS_CONTENT: bool = false;

    fn content(&self, _: &mut Encoder) {}
}

/// How many repeated values are written between two checks of the output's size.
pub(crate) const CHECK_INTERVAL: usize = 64;

/// By which factor the buffer of a long document grows.
const GROWTH: usize = 3;

/// Returns a reader that has read the start tag `start`, or `None` if it isn't a start tag.
fn read_tag(start: &str) -> Option<Reader<'_>> {
    let mut reader = Reader::new(start.as_bytes(), unlimited()).ok()?;
    matches!(reader.next(), Ok(Token::StartTag(_))).then_some(reader)
}

impl Default for Encoder {
    fn default() -> Self {
        Encoder::new(Vec::new())
    }
}

/// Writes values as XML.
///
/// Tags are constants of generated code and are written as they are; text is escaped. The methods that take tags are always
/// inlined in optimised builds, so that writing a tag takes a store or two instead of a call. In debug builds they are not
/// inlined, because they would be compiled once per field.
///
/// The methods return no errors. The first value that can't be written is recorded, writing continues, and
/// [`finish`](Self::finish) returns the error.
#[derive(Debug)]
pub struct Encoder {
    pub(crate) out: Vec<u8>,
    /// The size at which the output is checked against the limits.
    check_at: usize,
    /// The maximum size of the output.
    pub(crate) limit: usize,
    /// The reservation that further output is charged to.
    charged: Option<Arc<Reservation>>,
    failed: Option<Error>,
    /// How much of the output was searched for a declaration of a default namespace, and whether one was found.
    default_namespace: (usize, bool),
    /// The values that travel beside the document (XOP), if that is switched on.
    pub(crate) parts: Option<Box<Parts>>,
    /// The nodes that were written in SOAP encoding.
    pub(crate) written: Option<Box<Written>>,
    /// Whether a value that is itself a reference to a part was written.
    pub(crate) has_references: bool,
    /// The version of SOAP encoding.
    pub(crate) encoding: Encoding,
    /// Whether the start tag that is being written declares `xsi`.
    pub(crate) has_xsi: bool,
    /// The start tag of the payload, empty for none.
    payload: &'static str,
    /// Whether further namespaces were declared after the start tag of the payload. Their scope may have ended.
    declares_more: bool,
    /// Whether the next elements of a type of a program must declare their default namespace themselves.
    undeclared: bool,
    /// How many elements without a namespace are open whose children get a declaration after they are written.
    rewrites: u32,
    /// Whether the document may contain a stream.
    pub(crate) streams: bool,
    /// The stream in the document.
    pub(crate) streamed: Option<Box<Streamed>>,
    /// Whether it is noted what is in canonical form.
    notes_canonical: bool,
    /// Whether all that was written since [`begin_canonical`](Self::begin_canonical) is certainly in canonical form.
    is_canonical: bool,
}

/// The namespaces in scope at a position of the output, for an encoder that continues there.
#[derive(Clone, Copy)]
pub(crate) struct NamespaceContext {
    has_default_namespace: bool,
    payload: &'static str,
    declares_more: bool,
}

impl NamespaceContext {
    pub(crate) fn encoder(self) -> Encoder {
        let NamespaceContext { has_default_namespace, payload, declares_more } = self;
        let default_namespace = (0, has_default_namespace);
        Encoder { default_namespace, payload, declares_more, ..Encoder::default() }
    }
}

impl Encoder {
    /// Creates an encoder that appends to `out`.
    pub fn new(out: Vec<u8>) -> Self {
        Encoder {
            out,
            check_at: usize::MAX,
            limit: usize::MAX,
            charged: None,
            failed: None,
            default_namespace: (0, false),
            parts: None,
            written: None,
            encoding: Encoding::Soap11,
            has_xsi: false,
            has_references: false,
            payload: "",
            declares_more: false,
            undeclared: false,
            rewrites: 0,
            streams: false,
            streamed: None,
            notes_canonical: false,
            is_canonical: false,
        }
    }

    pub(crate) fn namespace_context(&mut self) -> NamespaceContext {
        let has_default_namespace = self.has_default_namespace(self.out.len());
        NamespaceContext { has_default_namespace, payload: self.payload, declares_more: self.declares_more }
    }

    /// Returns the encoder with a soft limit: it fails with [`ErrorKind::Outgrown`] soon after more than `most` bytes. What
    /// was written until then is lost. The size is checked between repeated values and before a value is put beside the
    /// document, so a single long value is not cut short.
    pub fn within(self, most: usize) -> Self {
        Encoder { check_at: most.min(self.limit), ..self }
    }

    /// Returns the encoder with a hard limit: it never returns more than `limit` bytes, but fails with
    /// [`ErrorKind::Outgrown`].
    pub fn limited(self, limit: usize) -> Self {
        Encoder { limit, check_at: self.check_at.min(limit), ..self }
    }

    /// Returns an encoder that charges its output, and the values it puts beside the document, to `reservation`, in steps. If
    /// a charge is refused it fails with [`ErrorKind::Exhausted`]. Output is charged between repeated values and at the end.
    pub fn charging(self, reservation: Arc<Reservation>) -> Self {
        Encoder { check_at: 0, charged: Some(reservation), ..self }
    }

    /// Returns what was written.
    ///
    /// # Errors
    /// The first value that XML can't represent, with its offset in the output; or a limit or a charge that stopped the
    /// encoder.
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        if self.charged.is_some() && self.failed.is_none() && self.out.len() > self.check_at {
            self.charge(self.out.len() - self.check_at);
        }
        if self.out.len() > self.limit {
            self.is_too_long();
        }
        match self.failed {
            None => Ok(self.out),
            // These errors are not about a position in the output.
            Some(error) if error.kind() != ErrorKind::Unwritable => Err(error),
            Some(error) => Err(error.locate(&self.out, castile_xml::Limits::default(), None)),
        }
    }

    /// Writes markup as it is.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn raw(&mut self, markup: &str) {
        self.is_canonical = false;
        self.tag(markup);
    }

    /// Writes a tag, or a part of one, as it is. It is written as canonical XML writes tags, and declares nothing unless it is that of a
    /// payload.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn tag(&mut self, tag: &str) {
        self.out.extend_from_slice(tag.as_bytes());
    }

    /// Writes an element.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn element<T: ToXml>(&mut self, start: &str, value: &T, end: &str) {
        value.element(self, start, end);
    }

    /// Writes an element if there is a value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn optional<T: ToXml>(&mut self, start: &str, value: &Option<T>, end: &str) {
        if let Some(value) = value {
            value.element(self, start, end);
        }
    }

    /// Writes an element if there is a value in a box.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn optional_boxed<T: ToXml>(&mut self, start: &str, value: &Option<Box<T>>, end: &str) {
        if let Some(value) = value {
            T::element(value, self, start, end);
        }
    }

    /// Writes an element for each value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn repeated<T: ToXml>(&mut self, start: &str, values: &[T], end: &str) {
        let mut rest = values;
        while !rest.is_empty() && !self.is_outgrown() {
            let (values, behind) = rest.split_at(rest.len().min(CHECK_INTERVAL));
            for value in values {
                value.element(self, start, end);
            }
            rest = behind;
        }
    }

    // ---- attributes ----

    /// Writes an attribute. The name is written as it is.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn attribute<T: SimpleType>(&mut self, name: &str, value: &T) {
        if T::HAS_NAMES {
            return self.attribute_with_names(name, value);
        }
        self.tag(" ");
        self.tag(name);
        self.tag("=\"");
        self.attribute_value(value);
    }

    fn attribute_value<T: SimpleType>(&mut self, value: &T) {
        let start = self.out.len();
        if !value.write(&mut self.out) {
            self.fail_value(T::NAME);
        }
        // Text may contain characters that an attribute value can't. A carriage return is already written as a reference.
        if !T::IS_PLAIN && self.out[start..].iter().any(|byte| matches!(byte, b'"' | b'\t' | b'\n')) {
            let text = self.out.split_off(start);
            for byte in text {
                match byte {
                    b'"' => self.tag("&quot;"),
                    b'\t' => self.tag("&#x9;"),
                    b'\n' => self.tag("&#xA;"),
                    byte => self.out.push(byte),
                }
            }
        }
        self.tag("\"");
    }

    /// Writes an attribute if there is a value.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn optional_attribute<T: SimpleType>(&mut self, name: &str, value: &Option<T>) {
        if let Some(value) = value {
            self.attribute(name, value);
        }
    }

    /// Writes attributes, with declarations for the prefixes of their names.
    pub fn any_attributes(&mut self, attributes: &[AnyAttribute]) {
        self.any_attributes_as(attributes, "a");
    }

    /// Writes attributes into the open start tag, with declarations. Their prefixes begin with `letters`.
    fn any_attributes_as(&mut self, attributes: &[AnyAttribute], letters: &str) {
        for (number, AnyAttribute { name, value }) in attributes.iter().enumerate() {
            let name = self.declared(name, &format!("{letters}{number}"));
            self.attribute(&name, value);
        }
    }

    /// Writes the attributes of an `xs:anyType` value: declarations of `names` (the prefixes used in attribute values and in
    /// the text that follows), `xsi:type`, and the attributes with declarations for their names.
    pub(crate) fn any_start(
        &mut self,
        type_name: Option<&ExpandedName>,
        attributes: &[AnyAttribute],
        names: &[(&str, &str)],
    ) {
        self.declare_names(names, type_name.is_some());
        // Generated prefixes must differ from those in `names`.
        let letters = |mut letters: String| {
            while names.iter().any(|(prefix, _)| prefix.starts_with(&letters)) {
                letters.push('_');
            }
            letters
        };
        if let Some(name) = type_name {
            // Some receivers recognise types of XML Schema by the usual prefix instead of its namespace; govmomi is one.
            let is_usual = *name.namespace == *XSD_NAMESPACE
                && names.iter().all(|(prefix, _)| *prefix != "xsd")
                && is_free_in(&self.open_tag(), "xsd");
            let prefix = if is_usual { "xsd".to_owned() } else { letters("t".into()) + "0" };
            let name = self.declared(name, &prefix);
            self.type_of(&name);
        }
        self.any_attributes_as(attributes, &letters("a".into()));
    }

    /// Returns what was written of the open start tag.
    fn open_tag(&self) -> Cow<'_, str> {
        let start = self.out.iter().rposition(|&byte| byte == b'<').unwrap_or_default();
        String::from_utf8_lossy(&self.out[start..])
    }

    /// Declares prefixes, except those that the payload declares in the same way. A prefix that the start tag itself declares
    /// is left as it is, because the tag needs it.
    fn declare_names(&mut self, names: &[(&str, &str)], says_type: bool) {
        if names.is_empty() {
            return;
        }
        let tag = self.open_tag();
        let mut is_declared = self.declared_by_payload();
        let is_free = |prefix: &str| match prefix {
            "xml" => false,
            "xsi" => !says_type && !self.has_xsi && is_free_in(&tag, prefix),
            _ => is_free_in(&tag, prefix),
        };
        let declared = names.iter().filter(|(prefix, namespace)| !is_declared(prefix, namespace) && is_free(prefix));
        let declared = declared.map(|(prefix, namespace)| ((*namespace).to_owned(), (*prefix).to_owned())).collect();
        drop((is_declared, tag));
        if !self.declare(declared) {
            self.fail();
        }
    }

    /// Returns the tags of an element under another prefix, if `names` bind its prefix to another namespace.
    pub(crate) fn with_other_prefix(&self, start: &str, names: &[(&str, &str)]) -> Option<(String, String)> {
        let name = start.get(1..)?.split([' ', '>']).next()?;
        let (prefix, local) = name.split_once(':')?;
        let (_, meant) = names.iter().find(|(other, _)| *other == prefix)?;
        // The tag may declare its prefix itself.
        let is_declared = declares(start, prefix);
        let reader = read_tag(if is_declared { start } else { self.payload })?;
        let namespace = reader.resolve(prefix).filter(|namespace| namespace != meant)?;
        let mut other = format!("{prefix}_");
        while names.iter().any(|(name, _)| *name == other) {
            other.push('_');
        }
        let rest = &start[1 + name.len()..];
        let rest = if is_declared {
            rest.replacen(&format!(" xmlns:{prefix}="), &format!(" xmlns:{other}="), 1)
        } else {
            let mut declared = Vec::new();
            escape::push_attribute(&mut declared, namespace).ok()?;
            format!(" xmlns:{other}=\"{}\"{rest}", String::from_utf8_lossy(&declared))
        };
        Some((format!("<{other}:{local}{rest}"), format!("</{other}:{local}>")))
    }

    /// Writes `xsi:type`. `name` is written as it is; its prefix must be declared.
    pub fn type_of(&mut self, name: &str) {
        if !self.has_xsi {
            self.raw(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"");
        }
        self.raw(" xsi:type=\"");
        self.raw(name);
        self.raw("\"");
    }

    /// Declares `prefix` for the namespace of a name and returns the prefixed name.
    fn declared(&mut self, name: &ExpandedName, prefix: &str) -> String {
        if !castile_xml::tree::is_ncname(&name.local) {
            self.fail();
        }
        match &*name.namespace {
            "" => name.local.clone(),
            castile_xml::XML_NAMESPACE => format!("xml:{}", name.local),
            namespace => {
                self.declares_more = true;
                self.attribute(&format!("xmlns:{prefix}"), &namespace.to_owned());
                format!("{prefix}:{}", name.local)
            }
        }
    }

    /// Writes an element, then inserts attributes after the name in its start tag. `attributes` gets what was written and
    /// returns names and values.
    #[doc(hidden)]
    pub fn amended(&mut self, write: impl FnOnce(&mut Self), attributes: impl FnOnce(&str) -> Vec<(String, String)>) {
        let start = self.out.len();
        write(self);
        let end = self.out.len();
        let element = String::from_utf8_lossy(&self.out[start..]);
        // `write` may have written nothing.
        let Some(name) = element.find([' ', '\t', '\r', '\n', '/', '>']) else { return };
        let (at, attributes) = (start + name, attributes(&element));
        let rest = self.out.split_off(at);
        for (name, value) in &attributes {
            self.attribute(name, value);
        }
        let added = self.out.len() - at;
        self.out.extend_from_slice(&rest);
        // Recorded offsets after the name move by the inserted length.
        if let Some(error) = &mut self.failed {
            error.shift(at..end, added);
        }
        if let Some(streamed) = &mut self.streamed {
            streamed.shift(at..end, added);
        }
        let (searched, found) = self.default_namespace;
        self.default_namespace = (searched.min(start), found);
    }

    // ---- wildcards ----

    /// Writes elements as they were read.
    pub fn any<'a>(&mut self, elements: impl IntoIterator<Item = &'a Any>) {
        for element in elements {
            self.fragment(element.fragment());
        }
    }

    /// Writes elements as they were read. Declarations that were around them are repeated on each, unless the payload has the
    /// same ones.
    pub fn any_elements(&mut self, elements: &AnyElements) {
        self.fragment(elements.fragment());
    }

    /// Writes elements, and the text between them, as they were read.
    pub fn any_content(&mut self, content: &AnyContent) {
        self.fragment(content.fragment());
        if content.is_unwritable() {
            self.fail();
        }
    }

    fn fragment(&mut self, fragment: &Fragment) {
        match fragment.self_contained() {
            Some(xml) => self.raw(xml),
            None => self.scoped_fragment(fragment),
        }
    }

    #[cold]
    fn scoped_fragment(&mut self, fragment: &Fragment) {
        let wanted = fragment.wanted();
        if fragment.is_equivalent(&wanted, self.declared_by_payload()) {
            return self.raw(fragment.xml());
        }
        let mut write = || -> Result<(), Error> {
            let mut content = fragment.content_under(&wanted)?;
            // With its declarations, an element may become many times as long as it was.
            while !self.is_outgrown() && content.write_next(|piece| self.raw(piece))? {}
            Ok(())
        };
        if write().is_err() {
            self.fail();
        }
    }

    /// Sets the start tag of the payload, which is written next. It declares all prefixes that tags of generated code use.
    pub fn payload(&mut self, start: &'static str) {
        self.payload = start;
        self.declares_more = false;
    }

    /// Returns a function that says whether a prefix (empty for the default namespace) certainly has a namespace at this
    /// position.
    fn declared_by_payload(&self) -> impl FnMut(&str, &str) -> bool {
        let reader = read_tag(if self.declares_more { "" } else { self.payload });
        move |prefix, namespace| reader.as_ref().is_some_and(|reader| reader.resolve(prefix) == Some(namespace))
    }

    // ---- values ----

    /// Writes an empty element with `xsi:nil="true"`.
    #[doc(hidden)]
    pub fn nil(&mut self, start: &str) {
        self.raw(start.strip_suffix('>').unwrap_or(start));
        self.raw(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"true\"/>");
    }

    /// Writes an element with attributes and `xsi:nil="true"`.
    #[doc(hidden)]
    pub fn nil_with(&mut self, start: &str, attributes: &[AnyAttribute]) {
        self.raw(start.strip_suffix('>').unwrap_or(start));
        self.any_attributes(attributes);
        self.nil("");
    }

    /// Writes a value of a simple type as text. The start tag around it must be the last thing that was written.
    #[inline(always)]
    pub fn simple<T: SimpleType>(&mut self, value: &T) {
        if T::HAS_NAMES {
            return self.simple_with_names(value);
        }
        if let Some(binary) = T::BINARY {
            if let Some(reference) = binary.reference
                && self.reference((reference.url)(value))
            {
                return;
            }
            if self.parts.is_some() && self.include((binary.bytes)(value)) {
                return;
            }
        }
        if !value.write(&mut self.out) {
            self.fail_value(T::NAME);
        }
    }

    /// Writes a value that contains names. Reopens the start tag to add the declarations that they need.
    fn simple_with_names<T: SimpleType>(&mut self, value: &T) {
        let start = self.out.iter().rposition(|&byte| byte == b'<').unwrap_or_default();
        let has_default = self.has_default_namespace(start);
        let tag = String::from_utf8_lossy(&self.out[start..]);
        let mut prefixes = Prefixes::new(&tag, self.payload, has_default);
        let mut text = Vec::new();
        let fine = tag.ends_with('>') && value.write_in(&mut text, &mut prefixes);
        let declared = prefixes.into_declared();
        self.out.pop();
        let fine = self.declare(declared) && fine;
        self.raw(">");
        self.out.extend_from_slice(&text);
        if !fine {
            self.fail_with("a value with a name that is not allowed in XML");
        }
    }

    /// Writes an attribute whose value contains names, after the declarations that they need.
    fn attribute_with_names<T: SimpleType>(&mut self, name: &str, value: &T) {
        let start = self.out.iter().rposition(|&byte| byte == b'<').unwrap_or_default();
        let has_default = self.has_default_namespace(start);
        let tag = String::from_utf8_lossy(&self.out[start..]);
        let mut prefixes = Prefixes::new(&tag, self.payload, has_default);
        let mut text = Vec::new();
        let fine = value.write_in(&mut text, &mut prefixes);
        let declared = prefixes.into_declared();
        let fine = self.declare(declared) && fine;
        for piece in [" ", name, "=\"", &String::from_utf8_lossy(&text), "\""] {
            self.raw(piece);
        }
        if !fine {
            self.fail_with("a value with a name that is not allowed in XML");
        }
    }

    /// Writes declarations, given as namespace names and prefixes. Returns `false` if XML can't represent one.
    fn declare(&mut self, declared: Vec<(String, String)>) -> bool {
        let mut fine = true;
        for (namespace, prefix) in declared {
            self.declares_more = true;
            self.raw(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
            self.raw(&prefix);
            self.raw("=\"");
            fine &= escape::push_attribute(&mut self.out, &namespace).is_ok();
            self.raw("\"");
        }
        fine
    }

    /// Whether a default namespace was declared before `end`. Its scope may have ended; then the answer is wrong on the safe
    /// side. No byte is searched twice.
    fn has_default_namespace(&mut self, end: usize) -> bool {
        const DECLARATION: &[u8] = b" xmlns=\"";
        let (searched, found) = self.default_namespace;
        let is_declared = |window: &[u8]| window.starts_with(DECLARATION) && window[DECLARATION.len()] != b'"';
        let found = found || self.out[searched.min(end)..end].windows(DECLARATION.len() + 1).any(is_declared);
        self.default_namespace = (end, found);
        found
    }

    /// Writes text.
    #[inline]
    pub fn text(&mut self, text: &str) {
        if escape::push_text(&mut self.out, text).is_err() {
            self.fail();
        }
    }

    /// Whether the output exceeds a limit. If so, the caller stops writing.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn is_outgrown(&mut self) -> bool {
        self.out.len() > self.check_at && self.outgrow()
    }

    /// Checks the output against the limits and charges more of it. Returns `true` if no more may be written.
    #[cold]
    #[inline(never)]
    fn outgrow(&mut self) -> bool {
        if self.charged.is_none() || self.out.len() > self.limit {
            self.is_too_long();
            return true;
        }
        let wanted = (self.out.len() + (self.out.len() / 2).max(STEP)).min(self.limit);
        if !self.charge(wanted.saturating_sub(self.check_at)) {
            return true;
        }
        self.check_at = wanted;
        // Reserving in advance is cheap, since pages that are never written to take hardly any memory. Moving the contents
        // takes twice their memory.
        if self.out.capacity() < wanted {
            self.out.reserve_exact((GROWTH * self.out.len()).clamp(STEP, self.limit.max(STEP)));
        }
        false
    }

    /// Whether `bytes` more may be put beside the document, of which there are `beside` then.
    pub(crate) fn grants(&mut self, bytes: usize, beside: usize) -> bool {
        if self.charged.is_none() && self.out.len().saturating_add(beside) > self.check_at {
            return !self.outgrow();
        }
        self.charge(bytes)
    }

    #[cold]
    fn is_too_long(&mut self) {
        self.fail_as(ErrorKind::Outgrown, "the document is larger than its limit".into());
    }

    /// Charges memory before it is allocated. Returns `false` if the charge is refused.
    pub(crate) fn charge(&mut self, bytes: usize) -> bool {
        let refused = self.charged.as_ref().and_then(|reservation| reservation.grow(bytes).err());
        if let Some(exhausted) = refused {
            self.fail_as(ErrorKind::Exhausted, format!("there is too little memory: {exhausted}").into());
        }
        refused.is_none()
    }

    #[cold]
    fn fail(&mut self) {
        self.fail_with("a value with characters that XML 1.0 doesn't allow");
    }

    /// Fails for an invalid value of a simple type. Values can be built by hand: a date may have month 13.
    #[cold]
    fn fail_value(&mut self, name: &'static str) {
        match name {
            "xs:string" => self.fail(),
            name => self.fail_as(ErrorKind::Unwritable, format!("a value that is not a valid {name}").into()),
        }
    }

    #[cold]
    pub(crate) fn fail_with(&mut self, message: &'static str) {
        self.fail_as(ErrorKind::Unwritable, message.into());
    }

    #[cold]
    fn fail_as(&mut self, kind: ErrorKind, message: Cow<'static, str>) {
        if self.failed.is_none() {
            self.failed = Some(Error::new(kind, self.out.len(), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use futures_core::Stream;

    use super::*;
    use crate::items::Items;
    use crate::streamed::BoxError;

    #[test]
    fn content_after_an_amended_name_moved() {
        let mut encoder = Encoder::default();
        encoder.raw("<a>");
        encoder.amended(
            |out| {
                out.raw("<b c=\"");
                out.text("\u{0}");
                out.raw("\"/>");
            },
            |element| {
                assert!(element.starts_with("<b c="), "{element}");
                vec![("d".to_owned(), "\"".to_owned())]
            },
        );
        encoder.amended(|_| {}, |_| unreachable!("nothing was written"));
        assert_eq!(String::from_utf8_lossy(&encoder.out), "<a><b d=\"&quot;\" c=\"\"/>");
        assert_eq!(encoder.finish().map_err(|error| error.offset()), Err("<a><b d=\"&quot;\" c=\"".len()));
    }

    struct NoItems;

    impl Stream for NoItems {
        type Item = Result<i32, BoxError>;

        fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            Poll::Ready(None)
        }
    }

    #[test]
    fn a_stream_after_an_amended_name_moved() {
        let mut encoder = Encoder::default().streaming();
        let write = |out: &mut Encoder| {
            out.raw("<b>");
            out.items("<c>", &Items::stream(NoItems), "</c>");
            out.raw("</b>");
        };
        encoder.amended(write, |_| vec![("d".to_owned(), "e".to_owned())]);
        // Another element follows it.
        encoder.amended(|out| out.raw("<f/>"), |_| vec![("d".to_owned(), "e".to_owned())]);
        let offset = encoder.take_streamed().map(|streamed| streamed.offset());
        assert_eq!(offset, Some("<b d=\"e\">".len()));
        assert_eq!(encoder.finish().map_err(|error| error.kind()), Ok(b"<b d=\"e\"></b><f d=\"e\"/>".to_vec()));
    }

    #[test]
    fn a_document_that_outgrows_its_limit_is_given_up_soon() {
        let values = vec!["x".repeat(10); 100_000];
        for (most, expected) in [(usize::MAX, None), (1_700_000, None), (10_000, Some(ErrorKind::Outgrown))] {
            let mut encoder = Encoder::new(Vec::new()).within(most);
            encoder.repeated("<a>", &values, "</a>");
            assert!(encoder.out.len() <= most.saturating_add(17 * CHECK_INTERVAL));
            // Later values don't change the result.
            encoder.repeated("<a>", &values, "</a>");
            encoder.text("\u{0}");
            let error = encoder.finish().map_err(|error| error.kind());
            match expected {
                Some(kind) => assert_eq!(error, Err(kind)),
                None => assert_eq!(error.is_err_and(|kind| kind != ErrorKind::Unwritable), most != usize::MAX),
            }
        }
    }
}
