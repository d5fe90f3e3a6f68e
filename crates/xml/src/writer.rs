//! Tokens to bytes.

mod prefixes;
mod scope;
mod tags;

pub use prefixes::Prefixes;

use crate::error::{Error, ErrorKind, shown};
use crate::name::end_of_ncname;
use crate::{Limits, Location, escape};

use scope::Scope;

/// Writes a document, piece after piece: the counterpart of [`Reader`](crate::Reader).
///
/// Whatever the names and values are, what comes out is well-formed and namespace-correct, and reads back as what was
/// written; what XML can't carry is an error that says where. After an error every call says the same one, so that no
/// part of a document can be taken for a whole.
///
/// Names are expanded names. Prefixes come from a plan, [`Prefixes`], and a namespace that nobody planned for is
/// declared where it is needed, with a prefix that means nothing else there. Only the default namespace is ever
/// declared anew further in, so a prefix that stands in a value keeps its meaning.
///
/// `depth`, `attributes`, `namespaces` and `name_length` of the [`Limits`] hold, so that its own work is linear in what
/// it writes. A writer is ready for the next document after [`finish`](Self::finish), and allocates nothing then but
/// the document.
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
/// let document = r#"<o:order xmlns:o="urn:orders" note="2 &lt; 3&#10;"><o:line>a &amp; b</o:line></o:order>"#;
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
    /// How many of the declarations in scope wait for the next start tag.
    waiting: usize,
    /// The attributes of the open start tag.
    attributes: Vec<Written>,
    /// How many declarations it has.
    declarations: usize,
    failed: Option<Error>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Start,
    Prolog,
    /// In a start tag whose `>` is not written.
    Tag,
    Content,
    Epilog,
}

/// An element whose end was not written.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Where its name, as written, lies in the document.
    name: usize,
    name_length: usize,
    /// How many declarations were in scope around it.
    outside: usize,
}

/// An attribute that stands in the document already.
#[derive(Clone, Copy, Debug)]
struct Written {
    prefix: Prefix,
    /// Where its local name lies.
    local: usize,
    local_length: usize,
}

/// What stands before a local name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    None,
    Xml,
    /// The prefix of a declaration in scope, which is empty for the default namespace.
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

/// What went wrong, still without its place.
type Problem = (ErrorKind, String);

impl Writer {
    /// A writer of documents with these prefixes.
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

    /// Begins a document in the emptied `buffer`. What was written and not finished is dropped.
    pub fn restart(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.out = buffer;
        self.stage = Stage::Start;
        self.open.clear();
        self.scope.restart(self.prefixes.highest_number());
        self.waiting = 0;
        self.failed = None;
    }

    /// Writes the XML declaration (XML 1.0 §2.8), which comes before all else or not at all.
    ///
    /// # Errors
    /// That something was written before.
    pub fn declaration(&mut self) -> Result<(), Error> {
        let at = self.begin()?;
        if self.stage != Stage::Start {
            return Err(self.misplaced(at, "an XML declaration", "behind the beginning of the document"));
        }
        self.stage = Stage::Prolog;
        self.out.extend_from_slice(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        Ok(())
    }

    /// Writes text into the open element. Texts in a row are one text, an empty one is none.
    ///
    /// # Errors
    /// A character that XML can't carry, or that no element is open.
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

    /// Writes a qualified name as text (XSD part 2 §3.2.18), by a prefix that is in scope or can still be declared on
    /// the open start tag.
    ///
    /// # Errors
    /// That there is no such prefix, that `local` is no name, or that no element is open.
    pub fn qname(&mut self, namespace: &str, local: &str) -> Result<(), Error> {
        let prefix = self.prefix_of_value(namespace, local)?;
        self.begin_content("a qualified name")?;
        self.push_name(prefix, local);
        Ok(())
    }

    /// Writes a comment.
    ///
    /// # Errors
    /// That `text` has what a comment can't carry: `--`, `-` at its end (XML 1.0 §2.5), a carriage return, a character
    /// that XML lacks.
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
    /// That `target` is not the name of one (XML 1.0 §2.6), or that `data` has what none can carry: `?>`, white space
    /// at its beginning, a carriage return, a character that XML lacks.
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

    /// The document. The writer is ready for the next one.
    ///
    /// # Errors
    /// The first error of the document, or that it isn't complete.
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

    // ---- what may come where ----

    /// Checks that nothing failed and that no declarations wait; returns where the document ends.
    fn begin(&mut self) -> Result<usize, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let at = self.out.len();
        if self.waiting > 0 {
            let message = "found something else where a start tag was expected that the declarations are for";
            return Err(self.fail(at, (ErrorKind::Syntax, message.into())));
        }
        Ok(at)
    }

    /// Begins what may stand in an element only.
    fn begin_content(&mut self, what: &str) -> Result<usize, Error> {
        let at = self.begin()?;
        match self.stage {
            Stage::Content => Ok(at),
            Stage::Tag => Ok(self.close_tag()),
            Stage::Start | Stage::Prolog => Err(self.misplaced(at, what, "where the root element was expected")),
            Stage::Epilog => Err(self.misplaced(at, what, "behind the root element")),
        }
    }

    /// Begins what may stand anywhere between tags.
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

    /// Ends the open start tag; returns where the document ends then.
    fn close_tag(&mut self) -> usize {
        self.out.push(b'>');
        self.stage = Stage::Content;
        self.out.len()
    }

    /// The name of an open element, as written.
    fn name(&self, open: &Open) -> &str {
        std::str::from_utf8(&self.out[open.name..open.name + open.name_length]).unwrap_or_default()
    }

    // ---- errors ----

    #[cold]
    fn misplaced(&mut self, at: usize, what: &str, place: &str) -> Error {
        self.fail(at, (ErrorKind::Syntax, format!("found {what} {place}")))
    }

    /// Ends the document with an error, which is located in what was written before `at`.
    #[cold]
    fn fail(&mut self, at: usize, (kind, message): Problem) -> Error {
        self.out.truncate(at);
        if self.stage == Stage::Tag {
            self.close_tag();
        }
        // What the writer doesn't limit can't be too much here.
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

/// Checks text that stands as it is, so that no carriage return can be told from a line end (XML 1.0 §2.11).
fn check_verbatim(text: &str, what: &str) -> Result<(), Problem> {
    match text.char_indices().find(|&(_, c)| c == '\r' || !escape::is_char(c)) {
        None => Ok(()),
        Some((place, _)) => Err(unwritable(text, place, what)),
    }
}

/// That the character at `place` can't be carried.
#[cold]
fn unwritable(text: &str, place: usize, what: &str) -> Problem {
    let c = text[place..].chars().next().map_or(0, u32::from);
    (ErrorKind::Syntax, format!("found U+{c:04X} at byte {place} of {what}, which can't carry it"))
}

/// A name of strangers, for messages.
fn quoted(name: &str) -> String {
    format!("{:?}", shown(name))
}
