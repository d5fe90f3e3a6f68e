//! Start tags and end tags (XML 1.0 §3.1), and the names in them (Namespaces in XML 1.0 §4).

use crate::QName;
use crate::error::{Error, ErrorKind};
use crate::interner;
use crate::name::end_of_ncname;
use crate::namespaces::NamespaceId;
use crate::scan;
use crate::token::{StartTag, Token};

use super::attributes::Prefixes;
use super::{Open, Reader, Stage, end_of_white_space};

impl<'a> Reader<'a> {
    /// Reads a start tag without attributes whose name is cached for the declarations in scope. Returns `None` for any
    /// other tag, which [`start_tag`](Self::start_tag) reads.
    #[inline]
    pub(super) fn cached_start_tag(&mut self) -> Option<StartTag<'a>> {
        let offset = self.at;
        let bytes = self.input.as_bytes();
        let found = self.memory.names.find(bytes, offset + 1)?;
        let end = offset + 1 + found.length();
        if bytes.get(end) != Some(&b'>') {
            return None;
        }
        let namespace = self.memory.names.namespace(found, self.memory.namespaces.scope())?;
        let is_usual = self.stage == Stage::Content
            && self.memory.open.len() < self.memory.limits.depth
            && self.names_are_cached()
            && self.document.is_none();
        if !is_usual {
            return None;
        }
        let name = QName::new(&self.input[offset + 1..end], found.local());
        self.memory.attributes.clear();
        self.open(offset, name, self.memory.namespaces.len());
        self.at = end + 1;
        self.tag_end = self.at;
        Some(StartTag { name, namespace, offset })
    }

    #[inline(never)]
    pub(super) fn start_tag(&mut self) -> Result<Token<'a>, Error> {
        let offset = self.at;
        match self.stage {
            Stage::Epilog => return Err(self.syntax(offset, "a second root element; a document has one")),
            _ => self.stage = Stage::Content,
        }
        let name = self.name(offset + 1)?;
        let mut at = offset + 1 + name.as_str().len();
        self.memory.attributes.clear();
        let outside = self.memory.namespaces.len();
        let bytes = self.input.as_bytes();
        if bytes.get(at) != Some(&b'>') || self.document.is_some() {
            let mut prefixes = Prefixes::default();
            at = self.attribute_list(name, at, &mut prefixes)?;
            if self.document.is_some() {
                self.apply_declarations(name)?;
                prefixes = self.prefixes();
            }
            self.resolve_attributes(prefixes)?;
        }
        let empty = bytes[at] == b'/';
        self.at = at + 1 + usize::from(empty);
        self.end_is_due = empty;
        if self.memory.open.len() >= self.memory.limits.depth {
            return Err(self.limit(offset, "elements nested more than", self.memory.limits.depth, "deep"));
        }
        self.open(offset, name, outside);
        let namespace = self.namespace_of(name, offset + 1)?;
        self.tag_end = self.at;
        Ok(Token::StartTag(StartTag { name, namespace, offset }))
    }

    /// Opens the element whose start tag begins at `offset`, with `outside` declarations in scope around it.
    #[inline]
    fn open(&mut self, offset: usize, name: QName<'a>, outside: usize) {
        self.memory.open.push(Open {
            name: (offset + 1) as u32,
            name_length: name.as_str().len() as u32,
            local: name.local_at(),
            namespaces: outside as u32,
            tag_id: 0,
        });
    }

    #[inline]
    pub(super) fn end_tag(&mut self) -> Result<Token<'a>, Error> {
        let bytes = self.input.as_bytes();
        let offset = self.at;
        let Some(open) = self.memory.open.last() else {
            self.check_markup_length(offset)?;
            return Err(self.syntax(offset, "an end tag where no element is open"));
        };
        let length = open.name_length as usize;
        let mut end = offset + 2 + length;
        if !scan::is_same(bytes, open.name as usize, offset + 2, length) {
            return Err(self.mismatch(offset));
        }
        if bytes.get(end) != Some(&b'>') {
            end = end_of_white_space(bytes, end);
            if bytes.get(end) != Some(&b'>') {
                return Err(self.mismatch(offset));
            }
            if end - offset >= self.memory.limits.markup_length {
                self.check_markup_length(offset)?;
            }
        }
        self.at = end + 1;
        Ok(self.close())
    }

    /// Closes the innermost element, whose end was read.
    #[inline]
    pub(super) fn close(&mut self) -> Token<'a> {
        let Some(open) = self.memory.open.pop() else { return Token::End };
        self.memory.namespaces.truncate(open.namespaces as usize);
        if self.memory.open.is_empty() {
            self.stage = Stage::Epilog;
        }
        self.tag_end = self.at;
        let name = &self.input[open.name as usize..(open.name + open.name_length) as usize];
        Token::EndTag(QName::new(name, open.local as usize))
    }

    /// Returns the error for an end tag that does not match the innermost open element.
    #[cold]
    fn mismatch(&self, offset: usize) -> Error {
        if let Err(error) = self.check_markup_length(offset) {
            return error;
        }
        let expected = self.open_name();
        match self.qname(offset + 2) {
            Ok((found, _)) if found.as_str() != expected => {
                let message = format!("end tag </{}> where </{expected}> was expected", found.as_str());
                Error::new(ErrorKind::WellFormedness, offset, message)
            }
            Ok((_, end)) => {
                let end = end_of_white_space(self.input.as_bytes(), end);
                let message = format!("{} in the end tag </{expected}>, where \">\" was expected", self.found(end));
                Error::new(ErrorKind::Syntax, end, message)
            }
            Err(error) => error,
        }
    }

    /// Reads a qualified name, and caches it if it is short.
    fn name(&mut self, at: usize) -> Result<QName<'a>, Error> {
        let (length, local) = self.name_extent(at)?;
        Ok(QName::new(&self.input[at..at + length], local))
    }

    /// Reads a qualified name. Returns its length, and where its local name begins in it.
    #[inline]
    pub(super) fn name_extent(&mut self, at: usize) -> Result<(usize, usize), Error> {
        if self.names_are_cached()
            && let Some(found) = self.memory.names.find(self.input.as_bytes(), at)
        {
            return Ok((found.length(), found.local()));
        }
        self.new_name(at)
    }

    #[inline(never)]
    fn new_name(&mut self, at: usize) -> Result<(usize, usize), Error> {
        let (name, end) = self.qname(at)?;
        let (length, local) = (end - at, name.local_at() as usize);
        if self.names_are_cached() {
            self.memory.names.insert(self.input.as_bytes(), at, length, local);
        }
        Ok((length, local))
    }

    /// Whether names are cached. The length of a cached name is not checked, so the limit must allow the longest one.
    fn names_are_cached(&self) -> bool {
        self.memory.limits.name_length >= interner::MAX_NAME_LENGTH
    }

    /// Returns the namespace of the name at `at`: that of an element, or of an attribute with a prefix. The
    /// declarations of its tag must be in scope.
    pub(super) fn namespace_of(&mut self, name: QName<'a>, at: usize) -> Result<NamespaceId, Error> {
        let scope = self.memory.namespaces.scope();
        // It is looked up again, because a name in the attributes may have replaced it in the cache.
        let found = self.memory.names.find(self.input.as_bytes(), at);
        if let Some(namespace) = found.and_then(|found| self.memory.names.namespace(found, scope)) {
            return Ok(namespace);
        }
        let namespace = self.resolved(name, at)?;
        if let Some(found) = found {
            self.memory.names.insert_namespace(found, scope, namespace);
        }
        Ok(namespace)
    }

    /// Returns the namespace of a name, which need not be in the input.
    pub(super) fn resolved(&self, name: QName<'a>, at: usize) -> Result<NamespaceId, Error> {
        self.memory.namespaces.resolve(name.prefix()).ok_or_else(|| self.unbound(name, at))
    }

    /// Reads a qualified name (Namespaces in XML 1.0, production 7). Returns it, and where it ends.
    pub(super) fn qname(&self, at: usize) -> Result<(QName<'a>, usize), Error> {
        let bytes = self.input.as_bytes();
        let mut local = at;
        let mut end = end_of_ncname(self.input, at);
        if end > at && bytes.get(end) == Some(&b':') {
            local = end + 1;
            end = end_of_ncname(self.input, local);
        }
        if end == local || bytes.get(end) == Some(&b':') {
            return Err(self.not_a_name(at, end));
        }
        if end - at > self.memory.limits.name_length {
            return Err(self.limit(at, "a name longer than", self.memory.limits.name_length, "bytes"));
        }
        Ok((QName::new(&self.input[at..end], local - at), end))
    }

    #[cold]
    fn not_a_name(&self, at: usize, end: usize) -> Error {
        if end - at > self.memory.limits.name_length {
            return self.limit(at, "a name longer than", self.memory.limits.name_length, "bytes");
        }
        if end > at {
            let next = self.input[end..].chars().next().map_or(0, char::len_utf8);
            let found = &self.input[at..end + next];
            let message = format!("\"{found}\" is not a qualified name: one colon at most, with names around it");
            return Error::new(ErrorKind::Namespace, at, message);
        }
        Error::new(ErrorKind::Syntax, at, format!("{} where a name was expected", self.found(at)))
    }
}
