use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use castile_xml::tree::{Element, Lines, Position};
use castile_xml::visible;

use crate::Limits;

/// How serious a [`Diagnostic`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something was ignored that doesn't change what is generated.
    Note,
    /// The contract breaks a rule, but its meaning is clear.
    Warning,
    /// A part of the contract is broken or not understood; the rest can be used.
    Error,
}

/// A problem in a contract: what was found, what was expected, and where.
///
/// Its `Display` has the layout of the Rust compiler's messages. It is safe to print: characters that could control a
/// terminal or change the direction of text are escaped ([`visible`]).
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
    /// How serious the problem is.
    pub severity: Severity,
    /// The rule that is broken: its name in XSD 1.0 Part 1 Appendix C (`cos-nonambig`), or in WS-I Basic Profile 1.1
    /// (`R2204`). `None` if the rule has no such name, or if no rule is broken, as for a document that isn't available.
    pub rule: Option<&'static str>,
    /// The document's name, as given when it was read.
    pub file: Arc<str>,
    /// The line, from 1; 0 if the diagnostic concerns the whole document.
    pub line: u32,
    /// The column in characters, from 1; 0 if the diagnostic concerns the whole document.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// A hint how to fix the problem, or its reason.
    pub note: Option<String>,
    /// The text of the line. Of a long line it is the part around the column, because some contracts are a single line.
    pub source_line: String,
    /// How many characters of `source_line` precede the position.
    pub caret: usize,
    /// Length in characters of the tag or attribute at the position; 1 for any other position.
    pub length: usize,
}

impl Diagnostic {
    /// Creates a diagnostic that concerns the whole document.
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
        let message = visible(&self.message);
        match self.rule {
            Some(rule) => writeln!(f, "{severity}[{rule}]: {message}")?,
            None => writeln!(f, "{severity}: {message}")?,
        }
        let digits = self.line.to_string();
        let margin = " ".repeat(digits.len());
        let file = visible(&self.file);
        if self.line == 0 {
            write!(f, "{margin}--> {file}")?;
        } else {
            // Escaping changes the width of the text.
            let (before, behind) = split_at(&self.source_line, self.caret);
            let (meant, behind) = split_at(behind, self.length.max(1));
            let (before, meant, behind) = (visible(before), visible(meant), visible(behind));
            writeln!(f, "{margin}--> {file}:{}:{}", self.line, self.column)?;
            writeln!(f, "{margin} |")?;
            writeln!(f, "{digits} | {before}{meant}{behind}")?;
            let carets = "^".repeat(meant.chars().count().max(self.length).max(1));
            write!(f, "{margin} | {}{carets}", " ".repeat(before.chars().count()))?;
        }
        match &self.note {
            Some(note) => write!(f, "\n{margin} = note: {}", visible(note)),
            None => Ok(()),
        }
    }
}

/// Splits a text after `count` characters.
fn split_at(text: &str, count: usize) -> (&str, &str) {
    text.split_at(text.char_indices().nth(count).map_or(text.len(), |(at, _)| at))
}

/// Maximum length of a message or a note in bytes. It is limited because names in a contract can have any length.
const MAX_LENGTH: usize = 2_000;

/// Shortens the text if it is longer than [`MAX_LENGTH`].
fn shorten(mut text: String) -> String {
    if text.len() > MAX_LENGTH {
        text.truncate(text.floor_char_boundary(MAX_LENGTH));
        text.push('…');
    }
    text
}

/// Returns the excerpt of a line to show, and the caret's position in it in characters. `start` is the first byte of
/// the line in `text`, and `at` the byte that the caret points to.
fn excerpt(text: &str, start: usize, at: usize) -> (String, usize) {
    const WIDTH: usize = 120;
    const BEFORE: usize = 40;
    let before = text.get(start..at).unwrap_or_default();
    let is_near = before.chars().nth(WIDTH - 1).is_none();
    let from = if is_near { 0 } else { before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(at, _)| at) };
    let mut shown: String = if from > 0 { "…".into() } else { String::new() };
    let mut rest = text[start + from..].chars().take_while(|&c| c != '\n').peekable();
    shown.extend(rest.by_ref().take(WIDTH).map(|c| if c == '\t' { ' ' } else { c }));
    if rest.next().is_some_and(|c| c != '\r' || rest.peek().is_some()) {
        shown.push('…');
    }
    if shown.ends_with('\r') {
        shown.pop();
    }
    // A position after a carriage return is shown at the end of the line.
    let caret = (before[from..].chars().count() + usize::from(from > 0)).min(shown.chars().count());
    (shown, caret)
}

/// A position in one of the documents in [`Sources`]. [`Sources::position`] returns its line and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The document.
    pub file: FileId,
    /// The byte offset in the document; `None` for the whole document.
    pub offset: Option<u32>,
}

/// Identifies a document in [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    /// The id of built-in components, which are in no document.
    pub const BUILTIN: FileId = FileId(0);
}

/// The documents that were read. They are used to turn a [`Location`] into a line and a column.
#[derive(Debug, Clone)]
pub struct Sources {
    files: Vec<Source>,
}

#[derive(Debug, Clone)]
struct Source {
    name: Arc<str>,
    text: Arc<str>,
    /// Computed when a position is first requested.
    lines: OnceLock<Lines>,
    /// The documents that it imports.
    imports: BTreeMap<Reference, FileId>,
}

impl Source {
    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.text))
    }
}

/// How a document refers to a document that it imports or includes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    /// By its location.
    Location(String),
    /// By its namespace, without a location.
    Namespace(String),
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
        self.files.push(Source { name: name.into(), text, lines: OnceLock::new(), imports: BTreeMap::new() });
        FileId(self.files.len() as u32 - 1)
    }

    /// Returns the name of a document.
    #[must_use]
    pub fn name(&self, file: FileId) -> &Arc<str> {
        &self.files[file.0 as usize].name
    }

    /// Returns the names of all documents, in the order in which they were read.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().skip(1).map(|source| &*source.name)
    }

    /// Returns the texts of all documents, in the order in which they were read.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().skip(1).map(|source| &*source.text)
    }

    /// Returns the ids of all documents, in the order in which they were read.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (1..self.files.len() as u32).map(FileId)
    }

    /// Records that a document imports or includes another one.
    pub fn add_import(&mut self, from: FileId, by: Reference, to: FileId) {
        // A document that is included into several namespaces is followed once for each.
        self.files[from.0 as usize].imports.entry(by).or_insert(to);
    }

    /// Returns the document that was read first.
    #[must_use]
    pub fn first(&self) -> Option<FileId> {
        (self.files.len() > 1).then_some(FileId(1))
    }

    /// Returns the documents that a document imports or includes.
    pub fn imports(&self, file: FileId) -> impl Iterator<Item = (&Reference, FileId)> {
        self.files[file.0 as usize].imports.iter().map(|(by, to)| (by, *to))
    }

    /// Returns the text of a document.
    #[must_use]
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// Returns the line and column of a location, or `None` if it is a whole document.
    #[must_use]
    pub fn position(&self, location: Location) -> Option<Position> {
        let (source, offset) = (&self.files[location.file.0 as usize], location.offset?);
        Some(source.lines().position(&source.text, offset as usize))
    }

    /// Formats a location as `file, line n`.
    #[must_use]
    pub fn describe(&self, location: Location) -> String {
        let name = self.name(location.file);
        self.position(location).map_or_else(|| name.to_string(), |position| format!("{name}, line {}", position.line))
    }

    /// Creates a diagnostic at `location`.
    pub fn diagnostic(&self, severity: Severity, location: Location, message: impl Into<String>) -> Diagnostic {
        let source = &self.files[location.file.0 as usize];
        let position = self.position(location);
        let (source_line, caret) = match (position, location.offset) {
            (Some(position), Some(offset)) => {
                excerpt(&source.text, source.lines().start(position.line), offset as usize)
            }
            _ => Default::default(),
        };
        let place = location.offset.and_then(|offset| source.text.get(offset as usize..)).unwrap_or_default();
        let room = source_line.trim_end_matches('…').chars().count().saturating_sub(caret);
        Diagnostic {
            severity,
            rule: None,
            file: source.name.clone(),
            line: position.map_or(0, |position| position.line),
            column: position.map_or(0, |position| position.column),
            message: shorten(message.into()),
            note: None,
            length: extent(place).min(room).max(1),
            source_line,
            caret,
        }
    }
}

/// Returns the length in characters, up to the end of the line, of the tag or attribute at the start of `text`:
/// `<xs:element` or `type="t:Nothing"`.
fn extent(text: &str) -> usize {
    let line = text.lines().next().unwrap_or_default();
    if line.starts_with('<') {
        return line.find([' ', '\t', '>', '/']).map_or(line.chars().count(), |end| line[..end].chars().count());
    }
    let is_of_name = |c: char| !c.is_whitespace() && !matches!(c, '<' | '>' | '=');
    let is_attribute = |before: &str| {
        before
            .trim_end()
            .strip_suffix('=')
            .is_some_and(|name| !name.is_empty() && name.trim_end().chars().all(is_of_name))
    };
    let quoted = line.find(['"', '\'']).filter(|&at| is_attribute(&line[..at]));
    let Some(open) = quoted else { return 1 };
    let close = line[open + 1..].find(line.as_bytes()[open] as char);
    close.map_or(line.chars().count(), |close| line[..open + close + 2].chars().count())
}

impl Location {
    /// Returns the location of a whole document.
    #[must_use]
    pub fn file(file: FileId) -> Self {
        Self { file, offset: None }
    }

    /// Returns the location of an element's start tag.
    #[must_use]
    pub fn of(file: FileId, element: Element<'_>) -> Self {
        Self::at(file, element.offset())
    }

    /// Returns the location of a byte offset in a document.
    #[must_use]
    pub fn at(file: FileId, offset: usize) -> Self {
        // Offsets in a document tree have 32 bits.
        Self { file, offset: u32::try_from(offset).ok() }
    }
}

/// Collects the problems of a contract, since the front end doesn't stop at the first one. It stores up to
/// [`Limits::diagnostics`] problems of each severity and only counts further ones.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    /// The documents that locations refer to.
    pub sources: Sources,
    list: Vec<Diagnostic>,
    /// How many problems of each severity were added.
    counts: [usize; 3],
    /// How many problems of each severity are stored.
    limit: usize,
    /// Returned to callers instead of a diagnostic that is only counted.
    uncounted: Diagnostic,
    /// The errors that other components may depend on, in the order in which they were found.
    defects: Vec<Defect>,
    /// The namespaces for which no document is available, with the index of the first error and the number of
    /// references.
    lost: BTreeMap<String, (Option<usize>, usize)>,
    /// Whether a limit was exceeded.
    is_truncated: bool,
}

/// An error in a contract that makes everything that depends on it unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// The position of the error.
    pub location: Location,
    /// The error message. Empty for an error that is only counted.
    pub message: Arc<str>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self::within(&Limits::default())
    }
}

impl Diagnostics {
    /// Creates an empty collection that stores as many diagnostics as `limits` allows.
    #[must_use]
    pub fn within(limits: &Limits) -> Self {
        Self {
            sources: Sources::default(),
            list: Vec::new(),
            counts: [0; 3],
            limit: limits.diagnostics,
            uncounted: Diagnostic::of_document(Severity::Note, "", ""),
            defects: Vec::new(),
            lost: BTreeMap::new(),
            is_truncated: false,
        }
    }

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

    /// Adds an error that reports an exceeded limit. The contract was not read completely, so nothing in it can be
    /// used.
    pub fn limit_exceeded(&mut self, location: Location, message: impl Into<String>) -> &mut Diagnostic {
        self.is_truncated = true;
        self.error(location, message)
    }

    /// Adds an error for a reference into a namespace for which no document is available. Only the first reference into
    /// a namespace becomes an error; further ones are counted in its note.
    pub fn lost(&mut self, location: Location, namespace: &str, message: impl Into<String>) {
        if let Some((_, references)) = self.lost.get_mut(namespace) {
            *references += 1;
            return self.depends(location, message.into());
        }
        let note = format!("no document of namespace {namespace:?} was found");
        let listed = self.list.len();
        self.error(location, message).with_rule("src-resolve").with_note(note);
        let first = (self.list.len() > listed).then_some(listed);
        self.lost.insert(namespace.to_owned(), (first, 1));
    }

    /// Returns true if a limit was exceeded.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Returns the current position, for [`defect_since`](Self::defect_since) and [`forgive`](Self::forgive).
    #[must_use]
    pub fn mark(&self) -> usize {
        self.defects.len()
    }

    /// Returns the first error since `mark` that something may depend on.
    #[must_use]
    pub fn defect_since(&self, mark: usize) -> Option<Defect> {
        self.defects.get(mark).cloned()
    }

    /// Records that the component at `location` depends on something whose error was already reported.
    pub fn depends(&mut self, location: Location, message: impl Into<Arc<str>>) {
        self.defects.push(Defect { location, message: message.into() });
    }

    /// Records that nothing depends on the errors since `mark`. They remain errors.
    pub fn forgive(&mut self, mark: usize) {
        self.defects.truncate(mark);
    }

    /// Returns the errors that something may depend on, sorted by position.
    pub(crate) fn defects_by_location(&self) -> Vec<Defect> {
        let mut defects = self.defects.clone();
        defects.sort_by_key(|defect| defect.location);
        defects
    }

    /// Returns how many diagnostics were added, including those that were only counted.
    pub(crate) fn len(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Returns the documents and the diagnostics, sorted by position regardless of severity. If diagnostics were only
    /// counted, the last entries state how many of each severity.
    #[must_use]
    pub fn finish(mut self) -> (Sources, Vec<Diagnostic>) {
        for (first, references) in self.lost.values() {
            let first = first.and_then(|first| self.list.get_mut(first)?.note.as_mut());
            if let (Some(note), 2..) = (first, *references) {
                let more = references - 1;
                let (plural, verb) = if more == 1 { ("", "leads") } else { ("s", "lead") };
                note.push_str(&format!("; {more} more reference{plural} {verb} to this namespace"));
            }
        }
        let order: std::collections::HashMap<_, _> =
            self.sources.files.iter().enumerate().map(|(index, source)| (source.name.clone(), index)).collect();
        self.list.sort_by_key(|d| (order.get(&d.file).copied(), d.line, d.column));
        self.list.dedup();
        let file = self.sources.names().next().unwrap_or_default();
        for severity in [Severity::Note, Severity::Warning, Severity::Error] {
            let more = self.counts[severity as usize].saturating_sub(self.limit);
            if more > 0 {
                self.list.push(Diagnostic::more(severity, more, self.limit, file));
            }
        }
        (self.sources, self.list)
    }

    /// Returns a note with the position of the first of two definitions that have the same name.
    #[must_use]
    pub fn the_first(&self, first: Location) -> String {
        format!("the first is in {}", self.sources.describe(first))
    }

    /// Adds a diagnostic.
    pub fn add(&mut self, severity: Severity, location: Location, message: impl Into<String>) -> &mut Diagnostic {
        let count = &mut self.counts[severity as usize];
        *count += 1;
        let is_listed = *count <= self.limit;
        if severity == Severity::Error {
            self.defects.push(Defect { location, message: "".into() });
        }
        if !is_listed {
            return &mut self.uncounted;
        }
        let diagnostic = self.sources.diagnostic(severity, location, message);
        if let Some(defect) = self.defects.last_mut().filter(|_| severity == Severity::Error) {
            defect.message = diagnostic.message.as_str().into();
        }
        self.list.push(diagnostic);
        let last = self.list.len() - 1;
        &mut self.list[last]
    }
}

impl Diagnostic {
    /// Creates a diagnostic which states how many diagnostics of a severity were found beyond the `limit`.
    #[must_use]
    pub fn more(severity: Severity, more: usize, limit: usize, file: &str) -> Self {
        let what = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let plural = if more == 1 { "" } else { "s" };
        Self::of_document(severity, file, format!("{more} more {what}{plural}: at most {limit} are listed"))
    }

    /// Sets the note: a hint how to fix the problem, or its reason.
    pub fn with_note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = Some(shorten(note.into()));
        self
    }

    /// Sets the rule of the specification that is broken.
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
    fn the_position_is_underlined() {
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
        let (shown, caret) = excerpt(&line, 0, 499);
        assert_eq!((shown.chars().count(), caret), (122, 41));
        assert_eq!(excerpt("abc", 0, 0), ("abc".to_owned(), 0));
        assert_eq!(excerpt("\r", 0, 1), (String::new(), 0));
        assert_eq!(excerpt("a\n\tbc\r\nd", 2, 4), (" bc".to_owned(), 2));
        let (shown, caret) = excerpt(&"é".repeat(200), 0, 2 * 100);
        assert_eq!((shown.chars().count(), caret), (121, 100));
    }

    #[test]
    fn escapes_are_not_printed_raw() {
        let mut diagnostics = Diagnostics::default();
        let text = "<a b='\u{9b}2J\u{202e}' c='x'/>";
        let file = diagnostics.sources.add("a\n\u{1b}[2J.xsd", text.into());
        let at = text.find("c=").unwrap_or_default();
        diagnostics.error(Location::at(file, at), "value \u{202e} is\nwrong").with_note("not \u{7}");
        let (_, list) = diagnostics.finish();
        assert_eq!(
            list[0].to_string(),
            "error: value \\u{202e} is\\nwrong\n --> a\\n\\u{1b}[2J.xsd:1:13\n  |\n1 | <a b='\\u{9b}2J\\u{202e}' c='x'/>\n  \
             |                         ^^^^^\n  = note: not \\u{7}"
        );
    }

    #[test]
    fn forty_thousand_duplicates_are_counted_and_not_listed() {
        let mut diagnostics = Diagnostics::default();
        let line = "<a/>".repeat(40_000);
        let file = diagnostics.sources.add("a.xsd", line.as_str().into());
        for number in 0..40_000 {
            diagnostics.error(Location::at(file, number * 4), format!("a {number} is defined twice"));
        }
        diagnostics.warning(Location::file(file), "one warning");
        let (_, list) = diagnostics.finish();
        let limit = Limits::default().diagnostics;
        assert_eq!(list.len(), limit + 2);
        assert_eq!(list.last().map(|last| last.message.as_str()), Some("39000 more errors: at most 1000 are listed"));
    }

    #[test]
    fn a_message_of_a_long_name_is_cut() {
        let mut diagnostics = Diagnostics::default();
        let file = diagnostics.sources.add("a.xsd", "<a/>".into());
        diagnostics.error(Location::at(file, 0), "é".repeat(9_999)).with_note("n".repeat(9_999));
        let (_, list) = diagnostics.finish();
        assert!(
            list[0].message.len() < MAX_LENGTH + 4
                && list[0].note.as_ref().is_some_and(|note| note.len() < MAX_LENGTH + 4)
        );
    }
}
