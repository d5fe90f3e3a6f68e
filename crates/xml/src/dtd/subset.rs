//! The document type declaration from `<!DOCTYPE` to `>` (XML 1.0, productions 28 to 31).

use std::collections::HashMap;
use std::sync::Arc;

use super::cursor::{Cursor, Result};
use super::{Dtd, Expansion};
use crate::error::{Error, ErrorKind, shown};
use crate::reader::read_misc;
use crate::token::Token;
use crate::{Limits, escape};

pub(super) struct Subset {
    pub(super) limits: Limits,
    pub(super) dtd: Dtd,
    pub(super) expansion: Expansion,
    /// Parameter entities are expanded while the subset is read, and are not stored in the [`Dtd`].
    pub(super) parameters: HashMap<Box<str>, usize>,
    pub(super) declared_parameters: Vec<Parameter>,
    /// The parameter entities that are being read, innermost last.
    pub(super) open: Vec<OpenParameter>,
    /// Whether a parameter entity was not read. Declarations after it are then ignored (XML 1.0 §5.1).
    pub(super) unread: bool,
}

pub(super) struct Parameter {
    /// The replacement text; `None` for an external entity.
    pub(super) text: Option<Arc<str>>,
    pub(super) is_open: bool,
}

pub(super) struct OpenParameter {
    index: usize,
    text: Arc<str>,
    at: usize,
}

const CONTEXT: &str = "in the document type declaration";

impl Dtd {
    /// Reads the document type declaration at `start`.
    ///
    /// # Errors
    /// The first error in it. An error within a parameter entity has the offset of the reference to the entity.
    pub(crate) fn read(text: &str, start: usize, standalone: bool, limits: Limits) -> Result<Dtd> {
        let dtd = Dtd { start, standalone, ..Dtd::default() };
        let subset = Subset {
            limits,
            dtd,
            expansion: Expansion::new(0, limits.entity_expansion),
            parameters: HashMap::new(),
            declared_parameters: Vec::new(),
            open: Vec::new(),
            unread: false,
        };
        subset.read(Cursor::new(text, start + "<!DOCTYPE".len(), limits))
    }
}

impl Subset {
    fn read(mut self, mut document: Cursor<'_>) -> Result<Dtd> {
        document.need_space(CONTEXT)?;
        self.dtd.name = document.qname(CONTEXT)?.0.to_owned();
        let spaced = document.space();
        if matches!(document.peek(), Some(b'S' | b'P')) {
            if !spaced {
                return Err(document.unexpected("white space", CONTEXT));
            }
            self.external_id(&mut document, false)?;
            self.dtd.incomplete = true;
            document.space();
        }
        if document.take("[") {
            self.internal_subset(&mut document)?;
            document.space();
        }
        document.expect(">", CONTEXT)?;
        self.dtd.end = document.at;
        self.dtd.expanded = self.expansion.used();
        Ok(self.dtd)
    }

    fn internal_subset(&mut self, document: &mut Cursor<'_>) -> Result<()> {
        // The offset of the reference to the outermost parameter entity that is being read.
        let mut reference = document.at;
        loop {
            let Some(open) = self.open.last() else {
                document.space();
                if document.take("]") {
                    return Ok(());
                }
                reference = document.at;
                self.part(document)?;
                continue;
            };
            // The replacement text is shared, so that entities can be declared while it is being read.
            let text = Arc::clone(&open.text);
            let mut cursor = Cursor::new(&text, open.at, self.limits);
            let depth = self.open.len();
            cursor.space();
            if cursor.at == text.len() {
                if let Some(open) = self.open.pop() {
                    self.declared_parameters[open.index].is_open = false;
                }
                continue;
            }
            self.part(&mut cursor).map_err(|error| error.relocated(reference))?;
            self.open[depth - 1].at = cursor.at;
        }
    }

    /// Reads a declaration, comment, instruction or reference.
    fn part(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let rest = &cursor.text.as_bytes()[cursor.at..];
        if rest.starts_with(b"<!--") || rest.starts_with(b"<?") {
            let (token, end) = read_misc(cursor.text, cursor.at, self.limits)?;
            if let Token::Instruction { target, data } = token {
                self.dtd.instructions.push((target.to_owned(), data.text().into_owned()));
            }
            cursor.at = end;
            Ok(())
        } else if cursor.take("%") {
            self.parameter_reference(cursor)
        } else if cursor.take("<!ELEMENT") {
            self.element(cursor)
        } else if cursor.take("<!ATTLIST") {
            self.attribute_list(cursor)
        } else if cursor.take("<!ENTITY") {
            self.entity(cursor)
        } else if cursor.take("<!NOTATION") {
            self.notation(cursor)
        } else if rest.starts_with(b"<![") {
            // XML 1.0 §3.4.
            Err(Error::new(ErrorKind::Syntax, cursor.at, "a conditional section in an internal subset"))
        } else {
            Err(cursor.unexpected("a markup declaration", "in the internal subset"))
        }
    }

    /// Reads the rest of `%name;` between declarations (XML 1.0, production 28a).
    fn parameter_reference(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let start = cursor.at - 1;
        let name = cursor.ncname("in a parameter-entity reference")?;
        cursor.expect(";", "in a parameter-entity reference")?;
        self.dtd.incomplete = true;
        let failure = |kind, message: String| Err(Error::new(kind, start, message));
        let Some(&index) = self.parameters.get(name) else {
            if self.dtd.standalone {
                let message = format!("reference to a parameter entity \"{}\" that is not declared", shown(name));
                return failure(ErrorKind::WellFormedness, message);
            }
            self.unread = true;
            return Ok(());
        };
        let parameter = &mut self.declared_parameters[index];
        let Some(text) = &parameter.text else {
            self.unread = !self.dtd.standalone;
            return Ok(());
        };
        if std::mem::replace(&mut parameter.is_open, true) {
            let message = format!("the parameter entity \"{name}\" contains a reference to itself");
            return failure(ErrorKind::WellFormedness, message);
        }
        if let Err((kind, message)) = self.expansion.add(text.len()) {
            return failure(kind, message);
        }
        self.open.push(OpenParameter { index, text: Arc::clone(text), at: 0 });
        Ok(())
    }

    /// Reads an `ExternalID` (production 75) or, with `public_alone`, also a `PublicID` (83). Returns the public and
    /// the system identifier.
    pub(super) fn external_id<'s>(
        &self,
        cursor: &mut Cursor<'s>,
        public_alone: bool,
    ) -> Result<(Option<&'s str>, Option<&'s str>)> {
        const CONTEXT: &str = "in an external identifier";
        if cursor.take("SYSTEM") {
            cursor.need_space(CONTEXT)?;
            return Ok((None, Some(cursor.literal(CONTEXT)?.0)));
        }
        cursor.expect("PUBLIC", CONTEXT)?;
        cursor.need_space(CONTEXT)?;
        let (public, start) = cursor.literal(CONTEXT)?;
        if let Some(at) = public.find(|c| !is_public_id_char(c)) {
            let message = "a character that is not allowed in a public identifier";
            return Err(Error::new(ErrorKind::Syntax, start + at, message));
        }
        let spaced = cursor.space();
        if public_alone && !matches!(cursor.peek(), Some(b'"' | b'\'')) {
            return Ok((Some(public), None));
        }
        if !spaced {
            return Err(cursor.unexpected("white space", CONTEXT));
        }
        Ok((Some(public), Some(cursor.literal(CONTEXT)?.0)))
    }
}

/// Whether `c` may be in a public identifier (production 13).
fn is_public_id_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || " \r\n-'()+,./:=?;!*#@$_%".contains(c)
}

/// Returns the replacement text of an entity whose declaration has the literal `value` (XML 1.0 §4.5). References to
/// characters are resolved. References to entities stay, and are resolved where the entity is used.
pub(super) fn replacement_text(value: &str, start: usize) -> Result<String> {
    let mut text = String::with_capacity(value.len());
    let mut at = 0;
    loop {
        let rest = &value[at..];
        let length = rest.find(['&', '%', '\r']).unwrap_or(rest.len());
        text.push_str(&rest[..length]);
        at += length;
        match value.as_bytes().get(at) {
            None => return Ok(text),
            Some(b'\r') => {
                text.push('\n');
                at += 1 + usize::from(rest[length..].starts_with("\r\n"));
            }
            Some(b'%') => {
                let message = "\"%\" in an entity value: parameter entities are not allowed within declarations of an \
                    internal subset";
                return Err(Error::new(ErrorKind::WellFormedness, start + at, message));
            }
            Some(_) if value[at..].starts_with("&#") => {
                let (c, end) = escape::reference(value, at, usize::MAX)
                    .map_err(|(kind, message)| Error::new(kind, start + at, message))?;
                text.push(c);
                at = end;
            }
            Some(_) => {
                let Some((_, end)) = super::value::general_reference(value, at) else {
                    let message = "\"&\" that begins no reference in an entity value; it is written \"&#38;\"";
                    return Err(Error::new(ErrorKind::Syntax, start + at, message));
                };
                text.push_str(&value[at..end]);
                at = end;
            }
        }
    }
}
