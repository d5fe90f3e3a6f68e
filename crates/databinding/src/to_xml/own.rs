//! Elements of types of a program. Their tags have no prefix, so each needs its namespace as the default namespace at its
//! position, or declares it.

use castile_datatypes::SimpleType;

use super::{Encoder, ToXml};
use crate::name::ExpandedName;

/// How deep elements without a namespace may be nested if a default namespace is in scope between them. Their content is
/// written twice.
const MAX_REWRITES: u32 = 16;

/// Whether the attributes of a start tag contain a declaration of a default namespace.
fn declares_default(attributes: &[u8]) -> bool {
    let (mut quote, mut from) = (None, 0);
    for (at, &byte) in attributes.iter().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'=') if attributes[from..at].trim_ascii() == b"xmlns" => return true,
            (Some(open), _) if open == byte => (quote, from) = (None, at + 1),
            _ => {}
        }
    }
    false
}

/// Returns the length of the markup at the beginning of `markup`, as written by an encoder.
fn markup_length(markup: &[u8]) -> usize {
    let until = |end: &[u8]| memchr::memmem::find(markup, end).map_or(markup.len(), |at| at + end.len());
    match markup {
        _ if markup.starts_with(b"<!--") => until(b"-->"),
        _ if markup.starts_with(b"<![CDATA[") => until(b"]]>"),
        _ if markup.starts_with(b"<?") => until(b"?>"),
        _ => {
            // An attribute value may contain `>`.
            let mut quote = None;
            let is_end = |&byte: &u8| match (quote, byte) {
                (None, b'>') => true,
                (None, b'"' | b'\'') => {
                    quote = Some(byte);
                    false
                }
                (Some(open), _) if open == byte => {
                    quote = None;
                    false
                }
                _ => false,
            };
            markup.iter().position(is_end).map_or(markup.len(), |at| at + 1)
        }
    }
}

/// Writes a value between two tags. Rarely called functions take this type, so that they are compiled once for all types.
type Value<'v> = &'v mut dyn FnMut(&mut Encoder, &str, &str);

fn element_of<T: ToXml>(value: &T) -> impl FnMut(&mut Encoder, &str, &str) {
    |out, start, end| value.element(out, start, end)
}

impl Encoder {
    /// Writes an element of a type of a program. Without a prefix, its tags are in `namespace`, the default namespace here.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn own<T: ToXml>(&mut self, namespace: &'static str, start: &str, value: &T, end: &str) {
        match T::NAMESPACE {
            Some(other) if other != namespace => {
                self.in_other_namespace(namespace, other, start, &mut element_of(value))
            }
            _ => value.element(self, start, end),
        }
    }

    /// Writes an element with [`own`](Self::own), if there is a value.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn own_optional<T: ToXml>(&mut self, namespace: &'static str, start: &str, value: &Option<T>, end: &str) {
        if let Some(value) = value {
            self.own(namespace, start, value, end);
        }
    }

    /// Writes an element of generated code whose value is of a type of a program. The tag is that of generated code: without
    /// a prefix it is in the default namespace.
    #[doc(hidden)]
    pub fn own_within<T: ToXml>(&mut self, namespace: &'static str, start: &str, value: &T, end: &str) {
        match T::NAMESPACE {
            Some(own) if start.contains(':') => {
                self.declares_more = true;
                let start = self.with_declarations(start, &[(own, "")]);
                value.element(self, &start, end);
            }
            Some(own) if own != namespace => self.in_other_namespace(namespace, own, start, &mut element_of(value)),
            _ => value.element(self, start, end),
        }
    }

    /// Writes an element of a type of a program, in a context that doesn't declare its namespace.
    #[doc(hidden)]
    pub fn own_root<T: ToXml>(&mut self, namespace: &'static str, start: &str, value: &T, end: &str) {
        match T::NAMESPACE {
            Some(other) if other != namespace => {
                self.in_other_namespace(namespace, other, start, &mut element_of(value))
            }
            _ => {
                let start = self.with_declarations(start, &[(namespace, "")]);
                let was_undeclared = std::mem::take(&mut self.undeclared);
                value.element(self, &start, end);
                self.undeclared = was_undeclared;
            }
        }
    }

    /// Writes an element with [`own`](Self::own) for each value.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn own_repeated<T: ToXml>(&mut self, namespace: &'static str, start: &str, values: &[T], end: &str) {
        match T::NAMESPACE {
            Some(other) if other != namespace => {
                for value in values {
                    if self.is_outgrown() {
                        return;
                    }
                    self.in_other_namespace(namespace, other, start, &mut element_of(value));
                }
            }
            _ => self.repeated(start, values, end),
        }
    }

    /// Writes an element with [`own`](Self::own) for each value of an iterator. Used for values that an adapter converts.
    #[doc(hidden)]
    pub fn own_adapted<T: ToXml>(
        &mut self,
        namespace: &'static str,
        start: &str,
        values: impl Iterator<Item = T>,
        end: &str,
    ) {
        for value in values {
            if self.is_outgrown() {
                return;
            }
            self.own(namespace, start, &value, end);
        }
    }

    /// Writes an element whose namespace is not that of the elements around it.
    #[doc(hidden)]
    pub fn own_in_other_namespace<T: ToXml>(&mut self, namespace: &'static str, start: &str, value: &T, end: &str) {
        if self.is_outgrown() {
            return;
        }
        match T::NAMESPACE {
            // There may be a default namespace around the element, and the element has no namespace.
            Some(within) if namespace.is_empty() && within != namespace => {
                let start = self.with_declarations(start, &[(namespace, "")]);
                self.in_no_namespace(within, &start, &mut element_of(value), end);
            }
            _ => self.own_root(namespace, start, value, end),
        }
    }

    /// Writes an attribute that has a namespace. `prefix` differs from the prefixes of the other attributes in the tag.
    #[doc(hidden)]
    pub fn own_attribute<T: SimpleType>(&mut self, namespace: &'static str, name: &str, prefix: &str, value: &T) {
        let name = self.declared(&ExpandedName::new(namespace, name), prefix);
        self.attribute(&name, value);
    }

    /// Writes `xsi:type` for a type of a program, which is in `namespace`.
    #[doc(hidden)]
    pub fn own_type_of(&mut self, namespace: &str, name: &str) {
        if !self.undeclared {
            return self.type_of(name);
        }
        if !self.declare(vec![(namespace.to_owned(), "own".to_owned())]) {
            self.fail();
        }
        self.type_of(&format!("own:{name}"));
    }

    /// Writes an element of `namespace` whose content has the default namespace `within`.
    #[cold]
    fn in_other_namespace(&mut self, namespace: &str, within: &str, start: &str, value: Value<'_>) {
        let name = start.trim_matches(['<', '>']).split(' ').next().unwrap_or_default();
        let name = name.split_once(':').map_or(name, |(_, local)| local);
        if namespace.is_empty() {
            return self.in_no_namespace(within, &format!("<{name}>"), value, &format!("</{name}>"));
        }
        // The declarations of the payload may be overridden here.
        self.declares_more = true;
        let was_undeclared = std::mem::take(&mut self.undeclared);
        let declared = [(namespace, "own"), (within, "")];
        let start = self.with_declarations(&format!("<own:{name}>"), &declared);
        value(self, &start, &format!("</own:{name}>"));
        self.undeclared = was_undeclared;
    }

    /// Writes an element without a namespace whose content has the default namespace `within`. The element has no prefix and
    /// so can't declare `within` itself; each of its children does. The encoder assumes a default namespace in the
    /// content.
    fn in_no_namespace(&mut self, within: &str, start: &str, value: Value<'_>, end: &str) {
        if self.rewrites == MAX_REWRITES {
            return self.fail_with("elements in no namespace that are nested more than 16 deep");
        }
        self.rewrites += 1;
        (self.declares_more, self.default_namespace.1) = (true, true);
        let was_undeclared = std::mem::replace(&mut self.undeclared, true);
        let begin = self.out.len();
        value(self, start, end);
        self.declare_in_children(begin, within);
        self.undeclared = was_undeclared;
        self.rewrites -= 1;
    }

    /// Declares a default namespace in each child of the element that was written from `begin` on. Tags that have a prefix or
    /// a default namespace of their own are left alone.
    fn declare_in_children(&mut self, begin: usize, namespace: &str) {
        let written = self.out.split_off(begin);
        if !self.declare(vec![(namespace.to_owned(), String::new())]) {
            self.fail();
        }
        let declaration = self.out.split_off(begin);
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(length) = memchr::memchr(b'<', &written[at..]) {
            let (text, markup) = written[at..].split_at(length);
            self.out.extend_from_slice(text);
            let markup = &markup[..markup_length(markup)];
            at += length + markup.len();
            match markup {
                [b'<', b'!' | b'?', ..] => self.out.extend_from_slice(markup),
                [b'<', b'/', ..] => {
                    depth = depth.saturating_sub(1);
                    self.out.extend_from_slice(markup);
                }
                _ => {
                    let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'/' | b'>');
                    let name = markup.iter().position(is_end).unwrap_or(markup.len());
                    let is_bare = !markup[..name].contains(&b':') && !declares_default(&markup[name..]);
                    self.out.extend_from_slice(&markup[..name]);
                    if depth == 1 && is_bare {
                        self.out.extend_from_slice(&declaration);
                    }
                    self.out.extend_from_slice(&markup[name..]);
                    depth += usize::from(!markup.ends_with(b"/>"));
                }
            }
        }
        self.out.extend_from_slice(&written[at..]);
    }

    /// Returns a start tag with declarations added.
    fn with_declarations(&mut self, start: &str, declarations: &[(&str, &str)]) -> String {
        let before = self.out.len();
        self.raw(start.strip_suffix('>').unwrap_or(start));
        let declarations =
            declarations.iter().map(|(namespace, prefix)| ((*namespace).to_owned(), (*prefix).to_owned()));
        if !self.declare(declarations.collect()) {
            self.fail();
        }
        self.raw(">");
        String::from_utf8_lossy(&self.out.split_off(before)).into_owned()
    }

    /// Whether elements of a type of a program must declare their default namespace themselves.
    pub(crate) fn is_undeclared(&self) -> bool {
        self.undeclared
    }
}

#[cfg(test)]
mod tests {
    use super::declares_default;

    #[test]
    fn a_default_namespace_is_declared_by_an_attribute_of_that_name() {
        for declares in [" xmlns=\"urn:a\"", "\txmlns = 'urn:a'", " a='>' \n xmlns=''", " xmlns:a='b'xmlns='c'"] {
            assert!(declares_default(declares.as_bytes()), "{declares}");
        }
        for other in ["", " xmlns:a='b'", " a=' xmlns='", " axmlns='b'", " a=\"' xmlns='b'\"", " xmlns"] {
            assert!(!declares_default(other.as_bytes()), "{other}");
        }
    }
}
