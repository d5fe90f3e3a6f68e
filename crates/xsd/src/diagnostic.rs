use std::fmt;
use std::sync::Arc;

use castile_xml::tree::{Element, Position};

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
/// error[src-resolve]: type {urn:t}Nothing is not defined
///  --> service.wsdl:7:30
///   |
/// 7 |         <xs:element name="a" type="t:Nothing"/>
///   |                              ^^^^^^^^^^^^^^^^
///   = note: namespace "urn:t" has no type of this name
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// The rule that is broken, as XSD 1.0 Part 1 Appendix C and WSDL call it: `cos-nonambig`. None where there is no such
    /// name, or where no rule is broken: a document that isn't at hand.
    pub rule: Option<&'static str>,
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
    /// The text of the line, or of what is near the column if the line is long: some contracts come on one.
    pub source_line: String,
    /// How many characters of `source_line` stand before the place.
    pub caret: usize,
    /// How many characters the tag or the attribute has that is meant; 1 if it is another place.
    pub length: usize,
}

impl Diagnostic {
    /// A problem of a document as a whole.
    #[must_use]
    pub fn of_document(severity: Severity, file: &str, message: impl Into<String>) -> Self {
        Self {
            severity,
            rule: None,
            file: file.into(),
            line: 0,
            column: 0,
            message: message.into(),
            note: None,
            source_line: String::new(),
            caret: 0,
            length: 0,
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        match self.rule {
            Some(rule) => writeln!(f, "{severity}[{rule}]: {}", self.message)?,
            None => writeln!(f, "{severity}: {}", self.message)?,
        }
        let digits = self.line.to_string();
        let margin = " ".repeat(digits.len());
        if self.line == 0 {
            write!(f, "{margin}--> {}", self.file)?;
        } else {
            writeln!(f, "{margin}--> {}:{}:{}", self.file, self.line, self.column)?;
            writeln!(f, "{margin} |")?;
            writeln!(f, "{digits} | {}", self.source_line)?;
            let carets = "^".repeat(self.length.max(1));
            write!(f, "{margin} | {}{carets}", " ".repeat(self.caret))?;
        }
        match &self.note {
            Some(note) => write!(f, "\n{margin} = note: {note}"),
            None => Ok(()),
        }
    }
}

/// The part of a line to show and how far from its start the caret stands.
fn excerpt(line: &str, column: usize) -> (String, usize) {
    const WIDTH: usize = 120;
    const BEFORE: usize = 40;
    let at = column.saturating_sub(1);
    let first = if at < WIDTH { 0 } else { at - BEFORE };
    let mut shown: String = if first > 0 { "…".into() } else { String::new() };
    let mut rest = line.chars().skip(first);
    shown.extend(rest.by_ref().take(WIDTH).map(|c| if c == '\t' { ' ' } else { c }));
    if rest.next().is_some() {
        shown.push('…');
    }
    (shown, at - first + usize::from(first > 0))
}

/// A place in one of the documents a [`Sources`] holds: [`Sources::position`] has its line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Which document.
    pub file: FileId,
    /// The byte in it; none means the document as a whole.
    pub offset: Option<u32>,
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
    files: Vec<Source>,
}

#[derive(Debug, Clone)]
struct Source {
    name: Arc<str>,
    text: Arc<str>,
    /// Byte offset of the first byte of each line.
    lines: Vec<u32>,
}

impl Default for Sources {
    fn default() -> Self {
        let mut sources = Self { files: Vec::new() };
        sources.add("built in", "".into());
        sources
    }
}

impl Sources {
    /// Adds a document.
    pub fn add(&mut self, name: &str, text: Arc<str>) -> FileId {
        let starts = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        self.files.push(Source { name: name.into(), text, lines });
        FileId(self.files.len() as u32 - 1)
    }

    /// What a document is called.
    #[must_use]
    pub fn name(&self, file: FileId) -> &Arc<str> {
        &self.files[file.0 as usize].name
    }

    /// All documents, in the order they were read.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().skip(1).map(|source| &*source.name)
    }

    /// The texts of all documents, in the order they were read.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().skip(1).map(|source| &*source.text)
    }

    /// Line and column, unless the document as a whole is meant.
    #[must_use]
    pub fn position(&self, location: Location) -> Option<Position> {
        let (source, offset) = (&self.files[location.file.0 as usize], location.offset?);
        let line = source.lines.partition_point(|&start| start <= offset).max(1);
        let before = source.text.get(source.lines[line - 1] as usize..offset as usize).unwrap_or_default();
        Some(Position { line: line as u32, column: before.chars().count() as u32 + 1 })
    }

    /// `file, line n`
    #[must_use]
    pub fn describe(&self, location: Location) -> String {
        let name = self.name(location.file);
        self.position(location).map_or_else(|| name.to_string(), |position| format!("{name}, line {}", position.line))
    }

    /// A diagnostic at `location`.
    pub fn diagnostic(&self, severity: Severity, location: Location, message: impl Into<String>) -> Diagnostic {
        let source = &self.files[location.file.0 as usize];
        let position = self.position(location);
        let (source_line, caret) = position.map_or_else(Default::default, |position| {
            let start = source.lines[position.line as usize - 1] as usize;
            excerpt(source.text[start..].lines().next().unwrap_or_default(), position.column as usize)
        });
        let place = location.offset.and_then(|offset| source.text.get(offset as usize..)).unwrap_or_default();
        let room = source_line.trim_end_matches('…').chars().count().saturating_sub(caret);
        Diagnostic {
            severity,
            rule: None,
            file: source.name.clone(),
            line: position.map_or(0, |position| position.line),
            column: position.map_or(0, |position| position.column),
            message: message.into(),
            note: None,
            length: extent(place).min(room).max(1),
            source_line,
            caret,
        }
    }
}

/// How many characters the tag or the attribute has that `text` begins with, on its line: `<xs:element` or
/// `type="t:Nothing"`.
fn extent(text: &str) -> usize {
    let line = text.lines().next().unwrap_or_default();
    if line.starts_with('<') {
        return line.find([' ', '\t', '>', '/']).map_or(line.chars().count(), |end| line[..end].chars().count());
    }
    let quoted = line.find(['"', '\'']).filter(|&at| line[..at].trim_end().ends_with('='));
    let Some(open) = quoted else { return 1 };
    let close = line[open + 1..].find(line.as_bytes()[open] as char);
    close.map_or(line.chars().count(), |close| line[..open + close + 2].chars().count())
}

impl Location {
    /// A document as a whole.
    #[must_use]
    pub fn file(file: FileId) -> Self {
        Self { file, offset: None }
    }

    /// The start tag of an element.
    #[must_use]
    pub fn of(file: FileId, element: Element<'_>) -> Self {
        Self::at(file, element.offset())
    }

    /// A byte offset in a document.
    #[must_use]
    pub fn at(file: FileId, offset: usize) -> Self {
        // A tree's offsets are 32 bits wide.
        Self { file, offset: u32::try_from(offset).ok() }
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

    /// How many there are so far.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// What was gathered, by place, errors and notes mixed as a reader of the document meets them.
    #[must_use]
    pub fn finish(mut self) -> (Sources, Vec<Diagnostic>) {
        let order: std::collections::HashMap<_, _> =
            self.sources.files.iter().enumerate().map(|(index, source)| (source.name.clone(), index)).collect();
        self.list.sort_by_key(|d| (order.get(&d.file).copied(), d.line, d.column));
        self.list.dedup();
        (self.sources, self.list)
    }

    /// Adds a diagnostic.
    pub fn add(&mut self, severity: Severity, location: Location, message: impl Into<String>) -> &mut Diagnostic {
        let diagnostic = self.sources.diagnostic(severity, location, message);
        self.list.push(diagnostic);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }
}

impl Diagnostic {
    /// Says what to do, or why it is so.
    pub fn with_note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = Some(note.into());
        self
    }

    /// Says which rule of the specification is broken.
    pub fn with_rule(&mut self, rule: &'static str) -> &mut Self {
        self.rule = Some(rule);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_as_rustc_does() {
        let mut diagnostics = Diagnostics::default();
        let file = diagnostics.sources.add("a.xsd", "<a>\n\t<b/>\n</a>".into());
        diagnostics.error(Location::at(file, 5), "no b").with_note("use c");
        diagnostics.warning(Location::file(file), "all of it");
        let (_, list) = diagnostics.finish();
        assert_eq!(list[1].to_string(), "error: no b\n --> a.xsd:2:2\n  |\n2 |  <b/>\n  |  ^^\n  = note: use c");
        assert_eq!(list[0].to_string(), "warning: all of it\n --> a.xsd");
    }

    #[test]
    fn what_is_meant_is_underlined() {
        for (text, expected) in [
            ("<a b='c'/>", 2),
            ("<p:a>", 4),
            ("<a/>", 2),
            ("<a", 2),
            ("b='c' d='e'", 5),
            ("b = \"é\"/>", 7),
            ("b='c\n d'", 4),
            ("text", 1),
            ("", 1),
        ] {
            assert_eq!(extent(text), expected, "{text}");
        }
    }

    #[test]
    fn long_lines_are_cut() {
        let line = "x".repeat(1000);
        let (shown, caret) = excerpt(&line, 500);
        assert_eq!((shown.chars().count(), caret), (122, 41));
        assert_eq!(excerpt("abc", 1), ("abc".to_owned(), 0));
    }
}
