//! Writes tokens as bytes.

mod prefixes;
mod scope;
mod tags;

pub use prefixes::Prefixes;

use crate::error::{Error, ErrorKind, shown};
use crate::name::end_of_ncname;
use crate::{Limits, Location, escape};

use scope::Scope;

/// Writes a document. It is the counterpart of [`Reader`](crate::Reader).
///
/// The document is well-formed and namespace-correct, and a reader returns what was written, for all names and values.
/// It is an error to write something that XML can't represent. Errors have a path. After an error, every call returns
/// that error, so an incomplete document can't be taken for a complete one.
///
/// Names are expanded names. Prefixes are planned with [`Prefixes`]. A namespace without a planned prefix is declared
/// where it is needed, with a prefix that is not in use there. Only the default namespace is ever redeclared on inner
/// elements, so a prefix in a value keeps its meaning.
///
/// The limits `depth`, `attributes`, `namespaces` and `name_length` of [`Limits`] apply, so that the time is linear in
/// the size of the document. After [`finish`](Self::finish), a writer can be used for the next document, and allocates
/// only the document itself.
///
/// ```
/// use castile_xml::{Limits, Prefixes, Writer};
///
/// let mut writer = Writer::new(Prefixes::default().on_root("o", "urn:orders")?, Limits::default());
/// writer.start("urn:orders", "order")?;
/// writer.attribute("", "note", "2 < 3\n")?;
/// writer.start("urn:orders", "line")?;
/// writer.text("a & b")?;
/// writer.end()?;
/// writer.end()?;
/// let document = r#"<o:order xmlns:o="urn:orders" note="2 &lt; 3&#xA;"><o:line>a &amp; b</o:line></o:order>"#;
/// assert_eq!(writer.finish()?, document.as_bytes());
/// # Ok::<(), castile_xml::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer {
    out: Vec<u8>,
    prefixes: Prefixes,
    limits: Limits,
    stage: Stage,
    open: Vec<Open>,
    scope: Scope,
    /// How many of the declarations in scope are for the next start tag.
    waiting: usize,
    /// The attributes of the open start tag.
    attributes: Vec<Written>,
    /// How many declarations the open start tag has.
    declarations: usize,
    failed: Option<Error>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Start,
    Prolog,
    /// In a start tag whose `>` was not written yet.
    Tag,
    Content,
    Epilog,
}

/// An element whose end was not written yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// The offset in the document of its name, as written.
    name: usize,
    name_length: usize,
    /// How many declarations were in scope outside it.
    outside: usize,
}

/// An attribute that was written.
#[derive(Clone, Copy, Debug)]
struct Written {
    prefix: Prefix,
    /// The offset of its local name.
    local: usize,
    local_length: usize,
}

/// The prefix of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    None,
    Xml,
    /// The prefix of the declaration in scope with this index. It is empty for the default namespace.
    Declared(usize),
}

impl Prefix {
    fn text(self, scope: &Scope) -> &str {
        match self {
            Prefix::None => "",
            Prefix::Xml => "xml",
            Prefix::Declared(index) => scope.prefix(index),
        }
    }
}

/// An error without its location.
type Problem = (ErrorKind, String);

impl Writer {
    /// Creates a writer of documents with these prefixes.
    pub fn new(prefixes: Prefixes, limits: Limits) -> Self {
        let mut writer = Writer {
            out: Vec::new(),
            prefixes,
            limits,
            stage: Stage::Start,
            open: Vec::new(),
            scope: Scope::default(),
            waiting: 0,
            attributes: Vec::new(),
            declarations: 0,
            failed: None,
        };
        writer.restart(Vec::new());
        writer
    }

    /// Begins a document in `buffer`, which is cleared. A document that was not finished is dropped.
    pub fn restart(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.out = buffer;
        self.stage = Stage::Start;
        self.open.clear();
        self.scope.restart(self.prefixes.highest_number());
        self.waiting = 0;
        self.failed = None;
    }

    /// Writes the XML declaration (XML 1.0 §2.8). It must be the first call.
    ///
    /// # Errors
    /// If something was written before.
    pub fn declaration(&mut self) -> Result<(), Error> {
        let at = self.begin()?;
        if self.stage != Stage::Start {
            return Err(self.misplaced(at, "an XML declaration", "after the beginning of the document"));
        }
        self.stage = Stage::Prolog;
        self.out.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        Ok(())
    }

    /// Writes text into the open element. Consecutive texts become one. An empty text writes nothing.
    ///
    /// # Errors
    /// If the text has a character that XML can't represent, or if no element is open.
    pub fn text(&mut self, text: &str) -> Result<(), Error> {
        if text.is_empty() {
            return self.begin().map(|_| ());
        }
        let at = self.begin_content("text")?;
        match escape::push_text(&mut self.out, text) {
            Ok(()) => Ok(()),
            Err(place) => Err(self.fail(at, unwritable(text, place, "a text"))),
        }
    }

    /// Writes a qualified name as text (XSD part 2 §3.2.18). Its prefix is one in scope, or is declared on the open
    /// start tag.
    ///
    /// # Errors
    /// If no prefix is in scope and none can be declared, if `local` is not a name without a colon,
    /// or if no element is open.
    pub fn qname(&mut self, namespace: &str, local: &str) -> Result<(), Error> {
        let prefix = self.prefix_of_value(namespace, local)?;
        self.begin_content("a qualified name")?;
        self.push_name(prefix, local);
        Ok(())
    }

    /// Writes a comment.
    ///
    /// # Errors
    /// If `text` has something that a comment can't have: `--`, `-` at its end (XML 1.0 §2.5), a carriage return, or a
    /// character that XML can't represent.
    pub fn comment(&mut self, text: &str) -> Result<(), Error> {
        let at = self.begin_misc("a comment")?;
        if text.contains("--") || text.ends_with('-') {
            let message = "found \"--\" in a comment, or \"-\" at its end, which would end it (XML 1.0 §2.5)";
            return Err(self.fail(at, (ErrorKind::Syntax, message.into())));
        }
        check_verbatim(text, "a comment").map_err(|problem| self.fail(at, problem))?;
        for piece in ["<!--", text, "-->"] {
            self.out.extend_from_slice(piece.as_bytes());
        }
        Ok(())
    }

    /// Writes a processing instruction.
    ///
    /// # Errors
    /// If `target` is not a valid target (XML 1.0 §2.6), or if `data` has something that an instruction can't have:
    /// `?>`, white space at its beginning, a carriage return, or a character that XML can't represent.
    pub fn instruction(&mut self, target: &str, data: &str) -> Result<(), Error> {
        let at = self.begin_misc("a processing instruction")?;
        let problem = if !is_ncname(target) || target.eq_ignore_ascii_case("xml") {
            let message = format!("found {}, where the target of an instruction was expected", quoted(target));
            Some((ErrorKind::Syntax, message))
        } else if target.len() > self.limits.name_length {
            Some(self.name_too_long(target.len()))
        } else if data.contains("?>") {
            Some((ErrorKind::Syntax, "found \"?>\" in a processing instruction, which would end it".into()))
        } else if data.starts_with([' ', '\t', '\n', '\r']) {
            let message = "found white space where the data of a processing instruction was expected to begin";
            Some((ErrorKind::Syntax, message.into()))
        } else {
            check_verbatim(data, "a processing instruction").err()
        };
        if let Some(problem) = problem {
            return Err(self.fail(at, problem));
        }
        let blank = if data.is_empty() { "" } else { " " };
        for piece in ["<?", target, blank, data, "?>"] {
            self.out.extend_from_slice(piece.as_bytes());
        }
        Ok(())
    }

    /// Returns the document. The writer can then be used for the next one.
    ///
    /// # Errors
    /// The first error of the document, or an error if the document is incomplete.
    pub fn finish(&mut self) -> Result<Vec<u8>, Error> {
        let result = self.check_complete();
        let out = std::mem::take(&mut self.out);
        self.restart(Vec::new());
        result.map(|()| out)
    }

    fn check_complete(&mut self) -> Result<(), Error> {
        let at = self.begin()?;
        let place = match self.open.last() {
            None if self.stage == Stage::Epilog => return Ok(()),
            None => "where the root element was expected".to_owned(),
            Some(open) => format!("where the end of <{}> was expected", shown(self.name(open))),
        };
        Err(self.misplaced(at, "the end of the document", &place))
    }

    // ---- order of calls ----

    /// Checks that nothing failed and that no declarations are pending. Returns the length of the document.
    fn begin(&mut self) -> Result<usize, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let at = self.out.len();
        if self.waiting > 0 {
            let message = "found declarations that no start tag follows";
            return Err(self.fail(at, (ErrorKind::Syntax, message.into())));
        }
        Ok(at)
    }

    /// Begins something that may only be in an element.
    fn begin_content(&mut self, what: &str) -> Result<usize, Error> {
        let at = self.begin()?;
        match self.stage {
            Stage::Content => Ok(at),
            Stage::Tag => Ok(self.close_tag()),
            Stage::Start | Stage::Prolog => Err(self.misplaced(at, what, "where the root element was expected")),
            Stage::Epilog => Err(self.misplaced(at, what, "after the root element")),
        }
    }

    /// Begins something that may be anywhere between tags.
    fn begin_misc(&mut self, what: &str) -> Result<usize, Error> {
        match self.stage {
            Stage::Tag | Stage::Content => self.begin_content(what),
            Stage::Start | Stage::Prolog | Stage::Epilog => {
                let at = self.begin()?;
                self.stage = if self.stage == Stage::Epilog { Stage::Epilog } else { Stage::Prolog };
                Ok(at)
            }
        }
    }

    /// Ends the open start tag. Returns the length of the document after that.
    fn close_tag(&mut self) -> usize {
        self.out.push(b'>');
        self.stage = Stage::Content;
        self.out.len()
    }

    /// Returns the name of an open element, as written.
    fn name(&self, open: &Open) -> &str {
        std::str::from_utf8(&self.out[open.name..open.name + open.name_length]).unwrap_or_default()
    }

    // ---- errors ----

    #[cold]
    fn misplaced(&mut self, at: usize, what: &str, place: &str) -> Error {
        self.fail(at, (ErrorKind::Syntax, format!("found {what} {place}")))
    }

    /// Ends the document with an error, and locates it after the first `at` bytes of the document.
    #[cold]
    fn fail(&mut self, at: usize, (kind, message): Problem) -> Error {
        self.out.truncate(at);
        if self.stage == Stage::Tag {
            self.close_tag();
        }
        // Limits that do not apply to writing must not stop the search for the location.
        let limits = Limits { message_size: usize::MAX, text_length: usize::MAX, ..self.limits };
        let path = Location::of(&self.out, self.out.len(), limits, None).path;
        let error = Error::new(kind, at, message).with_path(path);
        self.failed = Some(error.clone());
        error
    }

    #[cold]
    fn name_too_long(&self, length: usize) -> Problem {
        let limit = self.limits.name_length;
        (ErrorKind::Limit, format!("found a name of {length} bytes, more than the limit of {limit}"))
    }
}

fn is_ncname(name: &str) -> bool {
    !name.is_empty() && end_of_ncname(name, 0) == name.len()
}

/// Checks text that is not escaped. In such text, a carriage return can't be distinguished from a line end (XML 1.0
/// §2.11).
fn check_verbatim(text: &str, what: &str) -> Result<(), Problem> {
    match text.char_indices().find(|&(_, c)| c == '\r' || !escape::is_char(c)) {
        None => Ok(()),
        Some((place, _)) => Err(unwritable(text, place, what)),
    }
}

/// Returns the error for the character at `place`, which can't be written.
#[cold]
fn unwritable(text: &str, place: usize, what: &str) -> Problem {
    let c = text[place..].chars().next().map_or(0, u32::from);
    (ErrorKind::Syntax, format!("found U+{c:04X} at byte {place} of {what}, which is not allowed there"))
}

/// Returns a name in quotes, for error messages.
fn quoted(name: &str) -> String {
    format!("{:?}", shown(name))
}
