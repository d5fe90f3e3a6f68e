//! References in attribute values (XML 1.0 §3.3.3, §4.4.5).

use super::Dtd;
use crate::error::ErrorKind;
use crate::escape;
use crate::name::end_of_ncname;

/// An error in a reference. Its location is that of the reference.
pub(crate) type Failure = (ErrorKind, String);

/// What a reference to a general entity stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reference<'d> {
    /// The replacement text of the entity with this number.
    Internal {
        /// The number, for [`Expansion::open`].
        index: usize,
        /// The replacement text.
        text: &'d str,
    },
    /// An entity outside the document. It is not fetched.
    External,
    /// An entity that may be declared outside the document.
    Unread,
}

/// How many bytes were expanded, and which entities are being read.
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    used: usize,
    limit: usize,
    open: Vec<bool>,
}

impl Expansion {
    pub(crate) fn new(used: usize, limit: usize) -> Self {
        Expansion { used, limit, open: Vec::new() }
    }

    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Counts bytes that the DTD adds to the document.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Failure> {
        self.used = self.used.saturating_add(bytes);
        if self.used > self.limit {
            let message =
                format!("entities and defaults that expand to more than {} bytes, which is the limit", self.limit);
            return Err((ErrorKind::Limit, message));
        }
        Ok(())
    }

    /// Begins to read an entity. It must not be open already (XML 1.0 §4.1, No Recursion).
    pub(crate) fn open(&mut self, index: usize, name: &str, text: &str) -> Result<(), Failure> {
        if self.open.len() <= index {
            self.open.resize(index + 1, false);
        }
        if std::mem::replace(&mut self.open[index], true) {
            return Err((ErrorKind::WellFormedness, format!("the entity \"{name}\" contains a reference to itself")));
        }
        self.add(text.len())
    }

    /// Ends reading an entity.
    pub(crate) fn close(&mut self, index: usize) {
        self.open[index] = false;
    }
}

impl Dtd {
    /// Reads `text` as an attribute value without quotes, normalises it as CDATA and appends it to `out`. Returns the
    /// first reference that was skipped because its entity may be declared outside the document.
    pub(super) fn push_value<'s>(
        &'s self,
        text: &'s str,
        out: &mut String,
        expansion: &mut Expansion,
    ) -> Result<Option<&'s str>, Failure> {
        let mut walk = vec![OpenText { text, at: 0, entity: None }];
        self.walk(&mut walk, out, expansion)
    }

    /// Appends what the entity `name` stands for in an attribute value. Returns the first reference that was skipped
    /// because its entity may be declared outside the document.
    pub(crate) fn push_entity<'s>(
        &'s self,
        name: &'s str,
        out: &mut String,
        expansion: &mut Expansion,
    ) -> Result<Option<&'s str>, Failure> {
        let mut walk = Vec::new();
        if !self.begin(name, &mut walk, expansion)? {
            return Ok(Some(name));
        }
        self.walk(&mut walk, out, expansion)
    }

    fn walk<'s>(
        &'s self,
        walk: &mut Vec<OpenText<'s>>,
        out: &mut String,
        expansion: &mut Expansion,
    ) -> Result<Option<&'s str>, Failure> {
        let mut unread = None;
        while let Some(piece) = walk.last_mut() {
            let rest = &piece.text[piece.at..];
            let length = rest.find(['&', '<', '\t', '\n', '\r']).unwrap_or(rest.len());
            out.push_str(&rest[..length]);
            let at = piece.at + length;
            match rest.as_bytes().get(length) {
                None => {
                    piece.entity.inspect(|&index| expansion.close(index));
                    walk.pop();
                }
                Some(b'&') => {
                    let (name, end) = match escape::reference(piece.text, at, usize::MAX) {
                        Ok((c, end)) => {
                            out.push(c);
                            piece.at = end;
                            continue;
                        }
                        Err(failure) => general_reference(piece.text, at).ok_or(failure)?,
                    };
                    piece.at = end;
                    if !self.begin(name, walk, expansion)? {
                        unread.get_or_insert(name);
                    }
                }
                Some(b'<') => {
                    let message = "\"<\" in an attribute value, or in an entity that one refers to";
                    return Err((ErrorKind::WellFormedness, message.into()));
                }
                Some(byte) => {
                    out.push(' ');
                    // A line end is one character, but only in the document itself (XML 1.0 §2.11).
                    let pair = *byte == b'\r' && piece.entity.is_none() && rest[length..].starts_with("\r\n");
                    piece.at = at + 1 + usize::from(pair);
                }
            }
        }
        Ok(unread)
    }

    /// Continues with the replacement text of `name`. Returns `false` if the entity may be declared outside the
    /// document.
    fn begin<'s>(
        &'s self,
        name: &str,
        walk: &mut Vec<OpenText<'s>>,
        expansion: &mut Expansion,
    ) -> Result<bool, Failure> {
        match self.entity(name).map_err(|message| (ErrorKind::WellFormedness, message))? {
            Reference::Internal { index, text } => {
                expansion.open(index, name, text)?;
                walk.push(OpenText { text, at: 0, entity: Some(index) });
                Ok(true)
            }
            Reference::External => {
                let message = format!("reference to the external entity \"{name}\" in an attribute value");
                Err((ErrorKind::WellFormedness, message))
            }
            Reference::Unread => Ok(false),
        }
    }
}

/// A text that is being read, and the entity whose replacement text it is.
struct OpenText<'s> {
    text: &'s str,
    at: usize,
    entity: Option<usize>,
}

/// Returns the name in the reference `&name;` at `at`, and where the reference ends.
pub(crate) fn general_reference(text: &str, at: usize) -> Option<(&str, usize)> {
    let end = end_of_ncname(text, at + 1);
    (end > at + 1 && text.as_bytes().get(end) == Some(&b';')).then(|| (&text[at + 1..end], end + 1))
}

/// Removes spaces at both ends of a value, and replaces several spaces by one in between (XML 1.0 §3.3.3, for types
/// other than CDATA). Returns `None` if there is nothing to change.
pub(crate) fn collapse(value: &str) -> Option<String> {
    let is_collapsed = !value.starts_with(' ') && !value.ends_with(' ') && !value.contains("  ");
    (!is_collapsed).then(|| value.split(' ').filter(|token| !token.is_empty()).collect::<Vec<_>>().join(" "))
}
