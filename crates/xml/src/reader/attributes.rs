//! Attributes and namespace declarations (XML 1.0 §3.1, §3.3.3; Namespaces in XML 1.0 §3, §6).

use crate::error::{Error, ErrorKind};
use crate::namespaces::{NamespaceId, XML_NAMESPACE, XMLNS_NAMESPACE};
use crate::token::Attribute;
use crate::{QName, escape, scan};

use super::{Prefix, RawAttribute, Reader, Source, Span, end_of_white_space};

/// Up to this number of attributes, those with equal fingerprints are compared in pairs. More attributes are sorted.
const PAIRWISE_COMPARED: usize = 32;

/// Which kinds of prefixes the attributes of a tag have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prefixes {
    /// Some attributes declare namespaces.
    declare: bool,
    /// Some attributes are in a namespace.
    qualify: bool,
}

impl Prefixes {
    fn add(&mut self, prefix: Prefix) {
        self.declare |= prefix == Prefix::Declares;
        self.qualify |= prefix == Prefix::Qualifies;
    }
}

impl RawAttribute {
    /// Creates an attribute. `name` is the whole name, and the local name begins at `local` in it.
    #[inline]
    pub(super) fn new(offset: usize, name: &[u8], local: usize, value: Span) -> Self {
        let prefix = match local {
            0 if name != b"xmlns" => Prefix::None,
            0 => Prefix::Declares,
            _ if name.starts_with(b"xmlns:") => Prefix::Declares,
            _ => Prefix::Qualifies,
        };
        RawAttribute {
            name: offset as u32,
            name_length: name.len() as u32,
            local: local as u32,
            fingerprint: fingerprint(&name[local..]),
            prefix,
            namespace: NamespaceId::NONE,
            value,
        }
    }
}

/// Returns a fingerprint of a name: its length and three bytes. Few names in one tag have the same one.
#[inline]
fn fingerprint(name: &[u8]) -> u32 {
    match name {
        [first, .., last] => u32::from_le_bytes([*first, name[name.len() / 2], *last, name.len() as u8]),
        _ => name.first().copied().unwrap_or_default().into(),
    }
}

impl<'a> Reader<'a> {
    /// Reads the attributes after the name of a tag, up to `>` or `/>`. Returns the offset of that.
    pub(super) fn attribute_list(
        &mut self,
        element: QName<'a>,
        mut at: usize,
        prefixes: &mut Prefixes,
    ) -> Result<usize, Error> {
        let bytes = self.input.as_bytes();
        self.memory.values.clear();
        loop {
            let spaced = end_of_white_space(bytes, at);
            match bytes.get(spaced) {
                Some(b'>') => return Ok(spaced),
                Some(b'/') if bytes.get(spaced + 1) == Some(&b'>') => return Ok(spaced),
                Some(_) if spaced > at => at = self.attribute_at(spaced, prefixes)?,
                Some(_) => {
                    let message = format!(
                        "{} in the tag <{}>, where white space, \">\" or \"/>\" was expected",
                        self.found(spaced),
                        element.as_str()
                    );
                    return Err(Error::new(ErrorKind::Syntax, spaced, message));
                }
                None => return Err(self.unexpected_end(&format!("in the tag <{}>", element.as_str()))),
            }
        }
    }

    /// Reads `name = "value"`, and returns where it ends.
    fn attribute_at(&mut self, offset: usize, prefixes: &mut Prefixes) -> Result<usize, Error> {
        if self.memory.attributes.len() >= self.memory.limits.attributes {
            return Err(self.limit(offset, "a tag with more than", self.memory.limits.attributes, "attributes"));
        }
        let bytes = self.input.as_bytes();
        let (length, local) = self.name_extent(offset)?;
        let equals = end_of_white_space(bytes, offset + length);
        if bytes.get(equals) != Some(&b'=') {
            return Err(self.without_value(&self.input[offset..offset + length], equals));
        }
        let quote_at = end_of_white_space(bytes, equals + 1);
        let quote = match bytes.get(quote_at) {
            Some(&quote @ (b'"' | b'\'')) => quote,
            _ => return Err(self.without_quote(&self.input[offset..offset + length], quote_at)),
        };
        let start = quote_at + 1;
        let end = scan::end_of_attribute_part(bytes, start, quote);
        let (value, end) = if bytes.get(end) == Some(&quote) && end - start <= self.memory.limits.text_length {
            (Span { start: start as u32, end: end as u32, source: Source::Input }, end + 1)
        } else {
            self.unusual_value(&self.input[offset..offset + length], start, quote)?
        };
        let raw = RawAttribute::new(offset, &bytes[offset..offset + length], local, value);
        prefixes.add(raw.prefix);
        self.memory.attributes.push(raw);
        Ok(end)
    }

    #[cold]
    fn without_value(&self, name: &str, at: usize) -> Error {
        let message = format!("{} after the attribute name \"{name}\", where \"=\" was expected", self.found(at));
        Error::new(ErrorKind::Syntax, at, message)
    }

    #[cold]
    fn without_quote(&self, name: &str, at: usize) -> Error {
        let found = self.found(at);
        let message = format!("{found}, where the quoted value of the attribute \"{name}\" was expected");
        Error::new(ErrorKind::Syntax, at, message)
    }

    /// Reads a value up to its closing quote and normalises it (XML 1.0 §3.3.3). Returns the value, and where the quote
    /// ends.
    #[inline(never)]
    pub(super) fn unusual_value(&mut self, name: &str, start: usize, quote: u8) -> Result<(Span, usize), Error> {
        let bytes = self.input.as_bytes();
        let normalised_start = self.memory.values.len();
        let mut normalised = false;
        let mut copied = start;
        let mut at = start;
        loop {
            at = scan::end_of_attribute_part(bytes, at, quote);
            let Some(&byte) = bytes.get(at) else {
                return Err(self.unexpected_end(&format!("in the value of the attribute \"{name}\"")));
            };
            let (replacement, end) = match byte {
                _ if byte == quote => break,
                b'<' => {
                    let message = format!("\"<\" in the value of the attribute \"{name}\"; it is written \"&lt;\"");
                    return Err(Error::new(ErrorKind::WellFormedness, at, message));
                }
                b'&' => match escape::reference(self.input, at, self.memory.limits.name_length) {
                    Ok(reference) => reference,
                    Err(failure) => {
                        normalised = true;
                        self.memory.values.push_str(&self.input[copied..at]);
                        at = self.expand_reference(at, failure)?;
                        copied = at;
                        continue;
                    }
                },
                b'\r' if bytes.get(at + 1) == Some(&b'\n') && !self.is_in_entity() => (' ', at + 2),
                b'\t' | b'\n' | b'\r' => (' ', at + 1),
                _ => {
                    at = self.legal(at)?;
                    continue;
                }
            };
            normalised = true;
            self.memory.values.push_str(&self.input[copied..at]);
            self.memory.values.push(replacement);
            copied = end;
            at = end;
        }
        if at - start > self.memory.limits.text_length {
            return Err(self.limit(start, "an attribute value longer than", self.memory.limits.text_length, "bytes"));
        }
        let value = if normalised {
            self.memory.values.push_str(&self.input[copied..at]);
            let end = self.memory.values.len() as u32;
            Span { start: normalised_start as u32, end, source: Source::Values }
        } else {
            Span { start: start as u32, end: at as u32, source: Source::Input }
        };
        Ok((value, at + 1))
    }

    /// Returns which kinds of prefixes the attributes have, those from declared defaults included.
    pub(super) fn prefixes(&self) -> Prefixes {
        let mut prefixes = Prefixes::default();
        self.memory.attributes.iter().for_each(|raw| prefixes.add(raw.prefix));
        prefixes
    }

    /// Declares the namespaces of the tag, resolves the namespaces of its attributes and rejects duplicates.
    pub(super) fn resolve_attributes(&mut self, prefixes: Prefixes) -> Result<(), Error> {
        if prefixes.declare {
            for index in 0..self.memory.attributes.len() {
                let raw = self.memory.attributes[index];
                if raw.prefix == Prefix::Declares {
                    self.declare(raw)?;
                }
            }
        }
        // The default namespace does not apply to attributes (Namespaces in XML 1.0 §6.2).
        if prefixes.qualify {
            for index in 0..self.memory.attributes.len() {
                let raw = self.memory.attributes[index];
                if raw.prefix == Prefix::Qualifies {
                    self.memory.attributes[index].namespace = match raw.value.source {
                        Source::Default => self.resolved(self.raw_name(&raw), raw.name as usize)?,
                        _ => self.namespace_of(self.raw_name(&raw), raw.name as usize)?,
                    };
                }
            }
        }
        self.reject_duplicates()
    }

    fn declare(&mut self, raw: RawAttribute) -> Result<(), Error> {
        let name = self.raw_name(&raw);
        let prefix = if name.prefix().is_empty() { "" } else { name.local() };
        let offset = raw.name as usize;
        let reject = |message: String| Err(Error::new(ErrorKind::Namespace, offset, message));
        if self.memory.namespaces.len() >= self.memory.limits.namespaces {
            return Err(self.limit(
                offset,
                "more than",
                self.memory.limits.namespaces,
                "namespace declarations in scope",
            ));
        }
        let value = match raw.value.source {
            // Not by `self.value`, so that only the buffer of the value is borrowed.
            Source::Input => &self.input[raw.value.start as usize..raw.value.end as usize],
            Source::Values => &self.memory.values[raw.value.start as usize..raw.value.end as usize],
            Source::Default => self.default_value(raw.value),
        };
        if value.len() > self.memory.limits.name_length {
            return Err(self.limit(
                offset,
                "the name of a namespace longer than",
                self.memory.limits.name_length,
                "bytes",
            ));
        }
        match (prefix, value) {
            ("xmlns", _) => return reject("the prefix \"xmlns\" can't be declared".into()),
            ("xml", XML_NAMESPACE) => {}
            ("xml", _) => {
                return reject(format!(
                    "the prefix \"xml\" is bound to \"{value}\", where {XML_NAMESPACE} was expected"
                ));
            }
            (_, XML_NAMESPACE) => return reject(format!("{XML_NAMESPACE} is bound to a prefix other than \"xml\"")),
            (_, XMLNS_NAMESPACE) => return reject(format!("{XMLNS_NAMESPACE} can't be bound to a prefix")),
            ("", _) => {}
            (_, "") => {
                return reject(format!(
                    "the prefix \"{prefix}\" is declared with an empty namespace; only the default namespace can be \
                     undeclared"
                ));
            }
            _ => {}
        }
        self.memory.namespaces.declare(prefix, value);
        Ok(())
    }

    /// Rejects two attributes of one name, as written or as expanded (XML 1.0 §3.1, Namespaces in XML 1.0 §6.3).
    fn reject_duplicates(&mut self) -> Result<(), Error> {
        if self.memory.attributes.len() < 2 {
            return Ok(());
        }
        // Taken out of the memory, so that `duplicate` can borrow `self`.
        let mut order = std::mem::take(&mut self.memory.order);
        let duplicate = self.duplicate(&mut order);
        self.memory.order = order;
        match duplicate {
            None => Ok(()),
            Some(index) => {
                let raw = &self.memory.attributes[index];
                let message = format!("the attribute \"{}\" occurs twice in one tag", self.raw_name(raw).as_str());
                Err(Error::new(ErrorKind::WellFormedness, raw.name as usize, message))
            }
        }
    }

    /// Returns the index of the first attribute that has the name of an earlier one. `order` is a buffer.
    fn duplicate(&self, order: &mut Vec<usize>) -> Option<usize> {
        let attributes = &self.memory.attributes;
        let key = |raw: &RawAttribute| {
            let namespace =
                if raw.prefix == Prefix::Declares { XMLNS_NAMESPACE } else { self.namespace(raw.namespace) };
            (self.raw_name(raw).local(), namespace)
        };
        if attributes.len() <= PAIRWISE_COMPARED {
            let mut looks = 0;
            return (0..attributes.len()).find(|&index| {
                let (earlier, raw) = (&attributes[..index], &attributes[index]);
                let look = 1_u64 << (raw.fingerprint.wrapping_mul(0x9E37_79B9) >> (u32::BITS - u64::BITS.ilog2()));
                let is_new = looks & look == 0;
                looks |= look;
                !is_new
                    && earlier.iter().any(|earlier| earlier.fingerprint == raw.fingerprint && key(earlier) == key(raw))
            });
        }
        order.clear();
        order.extend(0..attributes.len());
        // Names of namespaces may be long and similar. They are compared only if their hashes are equal.
        let namespace = |raw: &RawAttribute| match raw.prefix {
            Prefix::Declares => 0,
            _ => self.memory.namespaces.hash_of(raw.namespace),
        };
        let compare = |a: &RawAttribute, b: &RawAttribute| {
            let locals = self.raw_name(a).local().cmp(self.raw_name(b).local());
            locals.then_with(|| namespace(a).cmp(&namespace(b))).then_with(|| key(a).cmp(&key(b)))
        };
        order.sort_unstable_by(|&a, &b| compare(&attributes[a], &attributes[b]).then(a.cmp(&b)));
        order.windows(2).filter(|pair| key(&attributes[pair[0]]) == key(&attributes[pair[1]])).map(|pair| pair[1]).min()
    }

    #[inline]
    pub(super) fn raw_name(&self, raw: &RawAttribute) -> QName<'a> {
        if raw.value.source == Source::Default {
            return self.default_name(raw.value);
        }
        let name = &self.input[raw.name as usize..(raw.name + raw.name_length) as usize];
        QName::new(name, raw.local as usize)
    }

    pub(super) fn attribute_of(&self, raw: &RawAttribute) -> Attribute<'_> {
        Attribute {
            namespace: self.namespace(raw.namespace),
            name: self.raw_name(raw),
            value: self.value(raw.value),
            offset: self.attribute_offset(raw),
        }
    }

    #[inline]
    pub(super) fn attribute_offset(&self, raw: &RawAttribute) -> usize {
        match &self.document {
            None => raw.name as usize,
            Some(document) => document.offset(raw.name as usize),
        }
    }

    #[inline]
    pub(super) fn value(&self, value: Span) -> &str {
        match value.source {
            Source::Input => &self.input[value.start as usize..value.end as usize],
            Source::Values => &self.memory.values[value.start as usize..value.end as usize],
            Source::Default => self.default_value(value),
        }
    }
}
