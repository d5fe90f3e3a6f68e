use std::fmt;
use std::sync::Arc;

use castile_xml::tree::{Document, Element};

/// How much a [`Diagnostic`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something was passed over that doesn't change what is generated.
    Note,
    /// The contract breaks a rule, but what it means is clear.
    Warning,
    /// A part of the contract is broken or not understood; the rest stands.
    Error,
}

/// One problem of a contract: what was found, what was expected, where.
///
/// Its `Display` is laid out as the compiler's own messages are:
///
/// ```text
/// error: type {urn:t}Nothing is not defined
///  --> service.wsdl:7:9
///   |
/// 7 |         <xs:element name="a" type="t:Nothing"/>
///   |         ^
///   = note: namespace "urn:t" has no type of this name
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// The document, as it was named when it was read.
    pub file: Arc<str>,
    /// The line, from 1; 0 if the document as a whole is meant.
    pub line: u32,
    /// The column in characters, from 1; 0 if the document as a whole is meant.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do, or why it is so.
    pub note: Option<String>,
    /// The text of the line.
    pub source_line: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        writeln!(f, "{severity}: {}", self.message)?;
        let digits = self.line.to_string();
        let margin = " ".repeat(digits.len());
        if self.line == 0 {
            write!(f, "{margin}--> {}", self.file)?;
        } else {
            writeln!(f, "{margin}--> {}:{}:{}", self.file, self.line, self.column)?;
            writeln!(f, "{margin} |")?;
            let (shown, caret) = excerpt(&self.source_line, self.column as usize);
            writeln!(f, "{digits} | {shown}")?;
            write!(f, "{margin} | {}^", " ".repeat(caret))?;
        }
        match &self.note {
            Some(note) => write!(f, "\n{margin} = note: {note}"),
            None => Ok(()),
        }
    }
}

/// The part of a line to show and how far from its start the caret stands. Generated contracts come on one line.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    const WIDTH: usize = 120;
    const BEFORE: usize = 40;
    let at = column.saturating_sub(1);
    let first = if at < WIDTH { 0 } else { at - BEFORE };
    let mut shown: String = if first > 0 { "…".into() } else { String::new() };
    shown.extend(line.chars().skip(first).take(WIDTH).map(|c| if c == '\t' { ' ' } else { c }));
    if line.chars().nth(first + WIDTH).is_some() {
        shown.push('…');
    }
    (shown, at - first + usize::from(first > 0))
}

/// A place in one of the documents a [`Sources`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Which document.
    pub file: FileId,
    /// The line, from 1; 0 means the document as a whole.
    pub line: u32,
    /// The column in characters, from 1; 0 means the document as a whole.
    pub column: u32,
}

/// Names a document of a [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    /// The built-in components, which stand in no document.
    pub const BUILTIN: FileId = FileId(0);
}

/// The documents that were read, to say where something stands.
#[derive(Debug, Clone)]
pub struct Sources {
    files: Vec<(Arc<str>, Arc<str>)>,
}

impl Default for Sources {
    fn default() -> Self {
        Self { files: vec![("built in".into(), "".into())] }
    }
}

impl Sources {
    /// Adds a document.
    pub fn add(&mut self, name: &str, text: Arc<str>) -> FileId {
        self.files.push((name.into(), text));
        FileId(self.files.len() as u32 - 1)
    }

    /// What a document is called.
    #[must_use]
    pub fn name(&self, file: FileId) -> &Arc<str> {
        &self.files[file.0 as usize].0
    }

    /// All documents, in the order they were read.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().skip(1).map(|(name, _)| &**name)
    }

    /// A diagnostic at `location`.
    pub fn diagnostic(&self, severity: Severity, location: Location, message: impl Into<String>) -> Diagnostic {
        let (file, text) = &self.files[location.file.0 as usize];
        let line = location.line.checked_sub(1).and_then(|index| text.lines().nth(index as usize));
        Diagnostic {
            severity,
            file: file.clone(),
            line: location.line,
            column: location.column,
            message: message.into(),
            note: None,
            source_line: line.unwrap_or_default().to_owned(),
        }
    }
}

impl Location {
    /// A document as a whole.
    #[must_use]
    pub fn file(file: FileId) -> Self {
        Self { file, line: 0, column: 0 }
    }

    /// The start tag of an element.
    #[must_use]
    pub fn of(file: FileId, element: Element<'_>) -> Self {
        Self::at(file, element.document(), element.offset())
    }

    /// A byte offset in a document.
    #[must_use]
    pub fn at(file: FileId, document: &Document, offset: usize) -> Self {
        let position = document.position(offset);
        Self { file, line: position.line, column: position.column }
    }
}

/// Gathers the problems of a contract: the front end doesn't stop at the first.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    /// The documents that locations name.
    pub sources: Sources,
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds an error.
    pub fn error(&mut self, location: Location, message: impl Into<String>) -> &mut Diagnostic {
        self.add(Severity::Error, location, message)
    }

    /// Adds a warning.
    pub fn warning(&mut self, location: Location, message: impl Into<String>) -> &mut Diagnostic {
        self.add(Severity::Warning, location, message)
    }

    /// Adds a note.
    pub fn note(&mut self, location: Location, message: impl Into<String>) -> &mut Diagnostic {
        self.add(Severity::Note, location, message)
    }

    /// What was gathered, by place, errors and notes mixed as a reader of the document meets them.
    #[must_use]
    pub fn finish(mut self) -> (Sources, Vec<Diagnostic>) {
        let order: std::collections::HashMap<_, _> =
            self.sources.files.iter().enumerate().map(|(index, (name, _))| (name.clone(), index)).collect();
        self.list.sort_by_key(|d| (order.get(&d.file).copied(), d.line, d.column));
        self.list.dedup();
        (self.sources, self.list)
    }

    fn add(&mut self, severity: Severity, location: Location, message: impl Into<String>) -> &mut Diagnostic {
        let diagnostic = self.sources.diagnostic(severity, location, message);
        self.list.push(diagnostic);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }
}

impl Diagnostic {
    /// Says what to do, or why it is so.
    pub fn with_note(&mut self, note: impl Into<String>) {
        self.note = Some(note.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_as_rustc_does() {
        let mut diagnostics = Diagnostics::default();
        let file = diagnostics.sources.add("a.xsd", "<a>\n\t<b/>\n</a>".into());
        diagnostics.error(Location { file, line: 2, column: 2 }, "no b").with_note("use c");
        diagnostics.warning(Location::file(file), "all of it");
        let (_, list) = diagnostics.finish();
        assert_eq!(list[1].to_string(), "error: no b\n --> a.xsd:2:2\n  |\n2 |  <b/>\n  |  ^\n  = note: use c");
        assert_eq!(list[0].to_string(), "warning: all of it\n --> a.xsd");
    }

    #[test]
    fn long_lines_are_cut() {
        let line = "x".repeat(1000);
        let (shown, caret) = excerpt(&line, 500);
        assert_eq!((shown.chars().count(), caret), (122, 41));
        assert_eq!(excerpt("abc", 1), ("abc".to_owned(), 0));
    }
}
