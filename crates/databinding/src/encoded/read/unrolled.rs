//! References inside content that is stored as XML, in SOAP encoding. They are replaced by their targets, since the targets
//! aren't stored.
//!
//! An element is written as it is in the document, except for its references. The target of a reference is written under the
//! name of the reference, with the declarations around it that it uses. A target that was named after its type gets an
//! `xsi:type`.

use std::borrow::Cow;

use castile_xml::{StartTag, Token};

use super::references::{Opened, Reference};
use crate::any::AnyAttribute;
use crate::encoded::{SOAP11, SOAP12};
use crate::error::{Error, ErrorKind};
use crate::fragment::{self, write_declaration};
use crate::from_xml::Decoder;
use crate::from_xml::types::is_of_encoding;
use crate::schema::{ANY_ELEMENT, XSI_NAMESPACE};
use crate::stack::deeper;

/// The name of an element that refers to another one.
struct Name<'a> {
    prefix: &'a str,
    local: &'a str,
    namespace: String,
}

/// Whether an element may contain a reference.
pub(crate) fn may_refer(source: &str) -> bool {
    source.contains("href") || source.contains(":ref")
}

/// Whether an attribute identifies the element for references: `id`, or `root` of SOAP 1.1 (§5.6). After replacement no
/// reference is left.
pub(crate) fn is_of_references(attribute: &AnyAttribute) -> bool {
    let name = &attribute.name;
    name.is("", "id") || name.is(SOAP12, "id") || name.is(SOAP11, "root")
}

/// Returns a prefix that isn't in `taken`.
fn free(prefix: &str, taken: &[Cow<'_, str>]) -> String {
    let mut prefix = prefix.to_owned();
    while taken.iter().any(|one| *one == prefix) {
        prefix.push('_');
    }
    prefix
}

impl<'a> Decoder<'a> {
    /// Whether the rules of SOAP encoding apply.
    pub(crate) fn is_encoded(&self) -> bool {
        self.is_encoded
    }

    /// Writes an element with the targets of its references. It begins with `tag` and was read to its end.
    pub(crate) fn unroll(&mut self, tag: StartTag<'a>, out: &mut String) -> Result<(), Error> {
        self.reader.seek(tag.offset);
        while !matches!(self.reader.next()?, Token::StartTag(_)) {}
        match self.inner_reference(tag.offset) {
            Some(reference) => self.write_referred(tag, &reference, out),
            None => self.write_unrolled(tag, None, out),
        }
    }

    /// Writes the element whose start tag `tag` was read last, and reads it to its end. If a reference led to it, it is
    /// written under the name of the reference.
    fn write_unrolled(
        &mut self,
        tag: StartTag<'a>,
        name: Option<(Name<'a>, usize)>,
        out: &mut String,
    ) -> Result<(), Error> {
        let outside = self.reader.depth() - 1;
        let tag_end = self.reader.offset();
        let default = self.reader.resolve("").unwrap_or_default().to_owned();
        let is_type = name.is_some() && self.is_named_by_type(tag);
        let element = fragment::Element::rest(&mut self.reader, tag)?;
        let is_empty = self.reader.offset() == tag_end;
        let end_tag = if is_empty { tag_end } else { self.reader.offset() - element.end_tag_length() };

        let mut declarations = String::new();
        let mut taken: Vec<Cow<'_, str>> = element.own().map(Cow::Borrowed).collect();
        let has_default = element.borrowed_declarations(&self.reader, |prefix, namespace| {
            taken.push(prefix.to_owned().into());
            write_declaration(prefix, namespace, &mut |piece| declarations.push_str(piece));
        });
        let is_called_bare = name.as_ref().is_some_and(|(name, _)| name.namespace.is_empty());
        if (element.is_bare() || is_called_bare) && !has_default {
            declarations.push_str(fragment::NO_NAMESPACE);
        }
        if is_type {
            let prefix = free("xsi", &taken);
            write_declaration(&prefix, XSI_NAMESPACE, &mut |piece| declarations.push_str(piece));
            declarations.extend([" ", &prefix, ":type=\"", tag.name.as_str(), "\""]);
            taken.push(prefix.into());
        }
        let attributes = self.reader.source(tag.offset + element.name_end()..tag_end);
        let attributes = attributes.trim_end_matches(['/', '>']);
        let (called, attributes) = match &name {
            None => (Cow::Borrowed(tag.name.as_str()), Cow::Borrowed(attributes)),
            Some((name, offset)) => {
                let called = self.called(name, &default, &taken, *offset, &mut declarations)?;
                (called, Cow::Owned(self.without_ids(attributes)))
            }
        };
        self.charge_expansion(declarations.len() + called.len(), tag.offset)?;
        let end = if is_empty { "/>" } else { ">" };
        out.extend(["<", &called, &declarations, &attributes, end]);
        if is_empty {
            return Ok(());
        }
        let mut last = tag_end;
        if may_refer(self.reader.source(tag_end..end_tag)) {
            self.reader.seek(tag.offset);
            while self.reader.offset() < tag_end {
                self.reader.next()?;
            }
            while self.reader.depth() > outside {
                if let Token::StartTag(inner) = self.reader.next()?
                    && let Some(reference) = self.inner_reference(inner.offset)
                {
                    out.push_str(self.reader.source(last..inner.offset));
                    self.write_referred(inner, &reference, out)?;
                    last = self.reader.offset();
                }
            }
        }
        out.extend([self.reader.source(last..end_tag), "</", &called, ">"]);
        Ok(())
    }

    /// Writes the target of a reference in place of the reference. The reference's start tag was read last; it is read to its
    /// end.
    fn write_referred(&mut self, tag: StartTag<'a>, reference: &Reference<'a>, out: &mut String) -> Result<(), Error> {
        let namespace = self.reader.namespace(tag.namespace).to_owned();
        let name = Name { prefix: tag.name.prefix(), local: tag.name.local(), namespace };
        let outside = self.reader.depth() - 1;
        while self.reader.depth() > outside {
            self.reader.next()?;
        }
        let place = self.find(reference)?;
        let (outer, opened) = self.enter_target(place, reference, &ANY_ELEMENT, false)?;
        let Opened::Uncached(tag) = opened else { unreachable!("no tag is learned for an element of any kind") };
        deeper::<Self, _>(|| self.write_unrolled(tag, Some((name, reference.attribute)), out))?;
        self.leave_target(outer)
    }

    /// Whether an element is named after its type and has no `xsi:type`. Its start tag was read last.
    fn is_named_by_type(&self, tag: StartTag<'a>) -> bool {
        let says_type = |(number, name)| name == "type" && self.reader.attribute_namespace(number) == XSI_NAMESPACE;
        is_of_encoding(self.reader.namespace(tag.namespace), tag.name.local())
            && !self.reader.attribute_locals().any(says_type)
    }

    /// Returns the reference of an element, if it refers to this message and is empty. Its start tag, at `offset`, was read
    /// last.
    fn inner_reference(&self, offset: usize) -> Option<Reference<'a>> {
        if self.reader.is_plain() {
            return None;
        }
        let found = self.reader.attribute_locals().find(|&(number, name)| match name {
            "href" => self.reader.attribute_namespace(number).is_empty(),
            "ref" => self.reader.attribute_namespace(number) == SOAP12,
            _ => false,
        });
        let (number, name) = found?;
        let is_empty = self.reader.end_is_due() || self.reader.is_before_end_tag();
        let (to, attribute) = self.reader.attribute_value_cow(number)?;
        // Other references lead out of the message.
        let is_inside = name == "ref" || to.trim_start().starts_with('#');
        (is_empty && is_inside).then_some(Reference { to, at: offset, attribute })
    }

    /// Returns the name under which the target of a reference is written. It gets another prefix if the reference's prefix
    /// has another meaning in the target. `default` is the default namespace there; `taken` are the prefixes that its start
    /// tag declares.
    fn called(
        &self,
        name: &Name<'_>,
        default: &str,
        taken: &[Cow<'_, str>],
        offset: usize,
        declarations: &mut String,
    ) -> Result<Cow<'a, str>, Error> {
        let Name { prefix, local, namespace } = name;
        if prefix.is_empty() && default == namespace {
            return Ok((*local).to_owned().into());
        }
        if namespace.is_empty() {
            let message = format!("a reference from <{local}> of no namespace to an element with a default namespace");
            return Err(Error::new(ErrorKind::Structure, offset, message));
        }
        let prefix = free(if prefix.is_empty() { "r" } else { prefix }, taken);
        write_declaration(&prefix, namespace, &mut |piece| declarations.push_str(piece));
        Ok(format!("{prefix}:{local}").into())
    }

    /// Returns the attributes of an element as they are in the document, without those that identify it for references.
    fn without_ids(&self, attributes: &str) -> String {
        let mut rest = attributes;
        let mut kept = String::with_capacity(rest.len());
        // The attributes were parsed before: each is a name, an equals sign and a quoted value.
        while let Some(quote) = rest.find(['"', '\'']) {
            let value_end = rest[quote + 1..].find(&rest[quote..=quote]).map_or(rest.len(), |at| quote + at + 2);
            let (attribute, more) = rest.split_at(value_end);
            let name = attribute[..quote].trim_matches([' ', '\t', '\n', '\r', '=']);
            let is_of_references = match name.split_once(':') {
                None => name == "id",
                Some((prefix, local)) => match self.reader.resolve(prefix) {
                    Some(SOAP11) => local == "root",
                    Some(SOAP12) => local == "id",
                    _ => false,
                },
            };
            if !is_of_references {
                kept.push_str(attribute);
            }
            rest = more;
        }
        kept
    }
}
