//! Several readers of one document, and tags that hold where more is declared.
//!
//! SOAP encoding has values stand in other places than those that refer to them. Each is read by another reader, which
//! goes on there with buffers of its own.

use std::borrow::Cow;

use crate::layout::Known;
use crate::namespaces::Namespaces;

use super::{Memory, Open, Prefix, Reader, Source};

/// How many buffers of other readers are kept from one document to the next.
const MOST_OTHERS: usize = 2;

impl Memory {
    /// Keeps the buffers of another reader of the same document, unless there are many.
    pub fn keep_other(&mut self, other: Memory) {
        let others = &mut self.0.get_or_insert_default().others;
        if others.len() < MOST_OTHERS {
            others.push(other);
        }
    }
}

impl<'a> Reader<'a> {
    /// The buffers of other readers that were kept ([`Memory::keep_other`]), to be taken.
    #[doc(hidden)]
    pub fn other_memories(&mut self) -> Vec<Memory> {
        std::mem::take(&mut self.memory.others)
    }

    /// A reader of the same document, at its beginning, with other buffers.
    #[doc(hidden)]
    pub fn another(&self, memory: Memory) -> Reader<'a> {
        // What it is encoded in was checked here.
        Reader::over(self.input, self.memory.limits, memory, true)
    }

    /// The value of an attribute, as [`attribute_value`](Self::attribute_value) has it, to be kept beyond the next token.
    #[doc(hidden)]
    pub fn kept_attribute_value(&self, number: usize) -> Option<(Cow<'a, str>, usize)> {
        let raw = self.memory.attributes.get(number)?;
        let value = match raw.value.source {
            Source::Input => Cow::Borrowed(&self.input[raw.value.start as usize..raw.value.end as usize]),
            _ => Cow::Owned(self.value(raw.value).to_owned()),
        };
        Some((value, self.attribute_offset(raw)))
    }

    /// As [`begin_layout`](Self::begin_layout), for the content of an element that was opened where a layout had begun.
    /// What it declares itself is left out of what learned tags are known by, if it changes the meaning of none: so
    /// elements that each have a prefix of their own share what is learned.
    #[doc(hidden)]
    pub fn extend_layout(&mut self) {
        let outside = self.memory.open.last().map(|open| open.namespaces as usize);
        match outside {
            Some(outside)
                if self.layout_scope == Some(outside)
                    && self.layout_outside == outside
                    && self.memory.namespaces.only_adds(outside) =>
            {
                self.layout_scope = Some(self.memory.namespaces.len());
                self.layout_holds = !self.end_is_due;
            }
            _ => self.begin_layout(),
        }
    }
}

/// A start tag that was read, to open elements whose tags are like it.
#[derive(Debug)]
pub struct Alike<'a> {
    name_length: u32,
    local: u32,
    /// What it declares: prefixes and names.
    declarations: Box<[(&'a str, &'a str)]>,
    /// The number of the declaration whose prefix may be another.
    changes: Option<usize>,
    /// Whether it changes the meaning of no prefix.
    only_adds: bool,
}

impl<'a> Reader<'a> {
    /// What [`open_alike`](Self::open_alike) needs, right behind the start tag that was read last. `prefix` is one that others
    /// may declare by another name, empty if there is none. `None` if the tag is the whole element, or what it declares is
    /// not as it stands.
    #[doc(hidden)]
    pub fn alike(&self, prefix: &str) -> Option<Alike<'a>> {
        let open = self.memory.open.last()?;
        let outside = open.namespaces as usize;
        let mut declarations = Vec::new();
        for raw in self.memory.attributes.iter().filter(|raw| raw.prefix == Prefix::Declares) {
            if raw.value.source != Source::Input {
                return None;
            }
            let name = self.raw_name(raw);
            let prefix = if name.prefix().is_empty() { "" } else { name.local() };
            declarations.push((prefix, &self.input[raw.value.start as usize..raw.value.end as usize]));
        }
        if self.end_is_due || self.memory.namespaces.len() - outside != declarations.len() {
            return None;
        }
        let changes = declarations.iter().position(|(declared, _)| *declared == prefix && !prefix.is_empty());
        if changes.is_none() && !prefix.is_empty() {
            return None;
        }
        let only_adds = self.memory.namespaces.only_adds(outside);
        let Open { name_length, local, .. } = *open;
        let declarations = declarations.into();
        Some(Alike { name_length, local, declarations, changes, only_adds })
    }

    /// Reads a start tag of `length` bytes that comes next, in the place of `known`. It is known to be like the one that `alike` is of, in the same
    /// scope of namespaces: equal but for `prefix`, where one may change, and for values of attributes that are legal as they
    /// stand and matter to nobody, since there are no attributes then. The layout goes on in it. `false` where learned tags
    /// don't hold, if `prefix` means something already, or if limits ask for another way; then nothing is read.
    #[doc(hidden)]
    pub fn open_alike(&mut self, alike: &Alike<'a>, known: Known, length: usize, prefix: &'a str) -> bool {
        let outside = self.memory.namespaces.len();
        let is_within = self.layout_holds
            && length < self.memory.limits.markup_length.min(self.memory.limits.text_length)
            && self.memory.open.len() < self.memory.limits.depth
            && outside + alike.declarations.len() <= self.memory.limits.namespaces
            && self.input.len() - self.at >= length;
        if !is_within || alike.changes.is_some() && !self.is_new_prefix(alike, prefix) {
            return false;
        }
        let Alike { name_length, local, .. } = *alike;
        let name = &self.input.as_bytes()[self.at + 1..][..name_length as usize];
        // What another reader learned of such tags is nothing that this one knows.
        let learned = self.memory.layouts.name_in(known, name);
        let namespaces = outside as u32;
        self.memory.open.push(Open { name: (self.at + 1) as u32, name_length, local, namespaces, learned });
        self.memory.attributes.clear();
        self.at += length;
        self.note_tag();
        if !alike.declarations.is_empty() {
            for (number, &(declared, name)) in alike.declarations.iter().enumerate() {
                let declared = if alike.changes == Some(number) { prefix } else { declared };
                self.memory.namespaces.declare(declared, name);
            }
            match alike.only_adds && self.layout_outside == outside {
                true => self.layout_scope = Some(self.memory.namespaces.len()),
                false => self.begin_layout(),
            }
        }
        true
    }

    /// Whether a prefix has no meaning where a tag is read, nor in the tag.
    fn is_new_prefix(&self, alike: &Alike<'a>, prefix: &str) -> bool {
        let mut others = alike.declarations.iter().enumerate().filter(|(number, _)| alike.changes != Some(*number));
        !others.any(|(_, (declared, _))| *declared == prefix)
            && prefix != "xmlns"
            && self.memory.namespaces.resolve(prefix).is_none()
    }

    /// Where the elements begin that are open, outermost first.
    #[doc(hidden)]
    pub fn open_offsets(&self) -> impl Iterator<Item = usize> {
        self.memory.open.iter().map(|open| open.name as usize - '<'.len_utf8())
    }

    /// The local names of the attributes of the start tag that was read last, declarations left out, with their numbers.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_locals(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.memory.attributes.iter().enumerate();
        let attributes = numbered.filter(|(_, raw)| raw.prefix != Prefix::Declares);
        attributes.map(|(number, raw)| (number, self.raw_name(raw).local()))
    }

    /// The namespace of the attribute of a number, empty for none.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_namespace(&self, number: usize) -> &str {
        self.memory.attributes.get(number).map_or("", |raw| self.namespace(raw.namespace))
    }
}

/// Whether a tag means the same where only the first `outside` declarations are in scope: it has no prefix of a later
/// one. What only looks like that is taken for it.
#[inline]
pub(super) fn holds_outside(namespaces: &Namespaces, outside: usize, tag: &[u8]) -> bool {
    namespaces.len() == outside || names_none_of(namespaces, outside, tag)
}

fn names_none_of(namespaces: &Namespaces, outside: usize, tag: &[u8]) -> bool {
    let has = |prefix: &str| {
        let prefix = prefix.as_bytes();
        tag.windows(prefix.len() + 1).any(|name| name.starts_with(prefix) && name.ends_with(b":"))
    };
    // A reference to a character may stand for one of a prefix.
    !tag.contains(&b'&') && !namespaces.inside(outside).any(|(prefix, _)| prefix.is_empty() || has(prefix))
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Reader, Token};

    use super::Known;

    const KNOWN: Known = Known { slot: 0, identity: 1 };

    /// Opens the children of the root one after another, with `<c>` in each. Tells where it was known, and its namespace.
    fn read(document: &str) -> Vec<(bool, String)> {
        let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
        let mut found = Vec::new();
        reader.next().unwrap();
        loop {
            reader.begin_layout();
            match reader.next().unwrap() {
                Token::StartTag(_) => {}
                _ => return found,
            }
            reader.extend_layout();
            let is_known = reader.known_tag(KNOWN).is_some();
            if !is_known {
                reader.next().unwrap();
                reader.learn_start(KNOWN);
            }
            let attribute = reader.attributes().next().unwrap();
            found.push((is_known, attribute.namespace.to_owned()));
            reader.skip_element().unwrap();
            reader.skip_element().unwrap();
        }
    }

    #[test]
    fn tags_are_known_where_more_is_declared() {
        for (inside, known) in [
            // Nothing, prefixes of their own, and what is declared already.
            (["", ""], true),
            ([" xmlns:a='urn:a'", " xmlns:b='urn:b'"], true),
            (["", " xmlns:p='urn:p'"], true),
            ([" xmlns:a='urn:a'", ""], true),
            // Its prefix is declared where it is learned, so that nobody else knows what it means.
            ([" xmlns:p='urn:p'", ""], false),
            ([" xmlns:p='urn:p'", " xmlns:p='urn:p'"], false),
            // It means something else.
            (["", " xmlns:p='urn:q'"], false),
            ([" xmlns:p='urn:q'", ""], false),
            (["", " xmlns='urn:q'"], false),
            ([" xmlns=''", ""], false),
        ] {
            let [one, other] = inside;
            let document =
                format!("<r xmlns:p='urn:p'><x{one}><c p:a='1'></c></x><x{other}><c p:a='2'></c></x><x/></r>");
            // Tags are not looked for near to the end.
            let document = document.replace("<x/>", "") + &" ".repeat(100);
            let found = read(&document);
            let namespace =
                |inside: &str| if inside.contains("xmlns:p='urn:q'") { "urn:q" } else { "urn:p" }.to_owned();
            assert_eq!(found, [(false, namespace(one)), (known, namespace(other))], "{document}");
        }
    }
}
