use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use castile_xml::tree::{Element, Lines, Position};
use castile_xml::visible;

use crate::Limits;

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
/// Its `Display` is laid out as the compiler's own messages are, and safe to print: what could steer a terminal or change
/// the direction of writing is escaped ([`visible`]).
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
    /// The rule that is broken, as XSD 1.0 Part 1 Appendix C calls it (`cos-nonambig`), or WS-I Basic Profile 1.1 (`R2204`).
    /// None where there is no such name, or where no rule is broken: a document that isn't at hand.
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
            // What is escaped has another width.
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

/// The first so many characters of a text, and the rest.
fn split_at(text: &str, count: usize) -> (&str, &str) {
    text.split_at(text.char_indices().nth(count).map_or(text.len(), |(at, _)| at))
}

/// How much of a message or a note is kept, in bytes: names of a contract may be of any length.
const LONGEST: usize = 2_000;

/// The text, or its beginning.
fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}

/// The part of a line to show, of a text with the line's first byte and the byte that is meant, and how many characters from
/// its start the caret stands.
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
    // A place behind a carriage return is shown at the end of the line.
    let caret = (before[from..].chars().count() + usize::from(from > 0)).min(shown.chars().count());
    (shown, caret)
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
    /// Found when somebody asks for a position.
    lines: OnceLock<Lines>,
    /// The documents that it imports.
    imports: BTreeMap<Reference, FileId>,
}

impl Source {
    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.text))
    }
}

/// How a document names another one that it imports or includes.
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

    /// All documents, in the order they were read.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (1..self.files.len() as u32).map(FileId)
    }

    /// Notes that a document imports or includes another one.
    pub fn add_import(&mut self, from: FileId, by: Reference, to: FileId) {
        // A document that is included into several namespaces is followed for each.
        self.files[from.0 as usize].imports.entry(by).or_insert(to);
    }

    /// The document that was read first.
    #[must_use]
    pub fn first(&self) -> Option<FileId> {
        (self.files.len() > 1).then_some(FileId(1))
    }

    /// The documents that a document imports or includes.
    pub fn imports(&self, file: FileId) -> impl Iterator<Item = (&Reference, FileId)> {
        self.files[file.0 as usize].imports.iter().map(|(by, to)| (by, *to))
    }

    /// The text of a document.
    #[must_use]
    pub fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    /// Line and column, unless the document as a whole is meant.
    #[must_use]
    pub fn position(&self, location: Location) -> Option<Position> {
        let (source, offset) = (&self.files[location.file.0 as usize], location.offset?);
        Some(source.lines().position(&source.text, offset as usize))
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
            message: cut(message.into()),
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

/// Gathers the problems of a contract: the front end doesn't stop at the first. Of each severity it keeps
/// [`Limits::diagnostics`] and counts the rest.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    /// The documents that locations name.
    pub sources: Sources,
    list: Vec<Diagnostic>,
    /// How many there were of each severity.
    counts: [usize; 3],
    /// How many are kept of each.
    limit: usize,
    /// What becomes of those that are only counted.
    uncounted: Diagnostic,
    /// The errors on which something may depend, in the order in which they were found.
    defects: Vec<Defect>,
    /// The namespaces of which no document is at hand, with their first errors and how many references there are.
    lost: BTreeMap<String, (Option<usize>, usize)>,
    /// Whether a limit was passed.
    is_cut: bool,
}

/// An error of a contract, as the reason why what depends on it can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// Where it is.
    pub location: Location,
    /// What is wrong. Empty for one of so many that they are only counted.
    pub message: Arc<str>,
}

impl Default for Diagnostics {
    fn default() -> Self {
        Self::within(&Limits::default())
    }
}

impl Diagnostics {
    /// None so far; as many are kept as `limits` says.
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
            is_cut: false,
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

    /// Adds an error that says that a limit was passed: what was read is not the whole contract, so nothing of it can be
    /// used.
    pub fn cut(&mut self, location: Location, message: impl Into<String>) -> &mut Diagnostic {
        self.is_cut = true;
        self.error(location, message)
    }

    /// Adds an error of a reference to something of a namespace of which no document is at hand. The first stands for all of that
    /// namespace.
    pub fn lost(&mut self, location: Location, namespace: &str, message: impl Into<String>) {
        if let Some((_, references)) = self.lost.get_mut(namespace) {
            *references += 1;
            return self.depends(location, message.into());
        }
        let note = format!("no document of namespace {namespace:?} is at hand");
        let listed = self.list.len();
        self.error(location, message).with_rule("src-resolve").with_note(note);
        let first = (self.list.len() > listed).then_some(listed);
        self.lost.insert(namespace.to_owned(), (first, 1));
    }

    /// Whether a limit was passed.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// A point in time, for [`defect_since`](Self::defect_since) and [`forgive`](Self::forgive).
    #[must_use]
    pub fn mark(&self) -> usize {
        self.defects.len()
    }

    /// The first error since `mark` on which something may depend.
    #[must_use]
    pub fn defect_since(&self, mark: usize) -> Option<Defect> {
        self.defects.get(mark).cloned()
    }

    /// Notes that what stands at `location` depends on something of which an error has been said.
    pub fn depends(&mut self, location: Location, message: impl Into<Arc<str>>) {
        self.defects.push(Defect { location, message: message.into() });
    }

    /// Says that nothing depends on the errors since `mark`. They stay errors.
    pub fn forgive(&mut self, mark: usize) {
        self.defects.truncate(mark);
    }

    /// The errors on which something may depend, by place.
    pub(crate) fn defects_by_place(&self) -> Vec<Defect> {
        let mut defects = self.defects.clone();
        defects.sort_by_key(|defect| defect.location);
        defects
    }

    /// How many there are so far, those counted that are not kept.
    pub(crate) fn len(&self) -> usize {
        self.counts.iter().sum()
    }

    /// What was gathered, by place, errors and notes mixed as a reader of the document meets them. Behind them stands how
    /// many more there were of each severity.
    #[must_use]
    pub fn finish(mut self) -> (Sources, Vec<Diagnostic>) {
        for (first, references) in self.lost.values() {
            let first = first.and_then(|first| self.list.get_mut(first)?.note.as_mut());
            if let (Some(note), 2..) = (first, *references) {
                let more = references - 1;
                let (plural, verb) = if more == 1 { ("", "leads") } else { ("s", "lead") };
                note.push_str(&format!(", where {more} more reference{plural} {verb}"));
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

    /// Where the first of two is that have one name, as a note.
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
    /// Says how many diagnostics of a severity there are beyond the `limit` of those that are listed.
    #[must_use]
    pub fn more(severity: Severity, more: usize, limit: usize, file: &str) -> Self {
        let what = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let plural = if more == 1 { "" } else { "s" };
        Self::of_document(severity, file, format!("{more} more {what}{plural}: {limit} are listed at most"))
    }

    /// Says what to do, or why it is so.
    pub fn with_note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = Some(cut(note.into()));
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
        assert_eq!(list.last().map(|last| last.message.as_str()), Some("39000 more errors: 1000 are listed at most"));
    }

    #[test]
    fn a_message_of_a_long_name_is_cut() {
        let mut diagnostics = Diagnostics::default();
        let file = diagnostics.sources.add("a.xsd", "<a/>".into());
        diagnostics.error(Location::at(file, 0), "é".repeat(9_999)).with_note("n".repeat(9_999));
        let (_, list) = diagnostics.finish();
        assert!(
            list[0].message.len() < LONGEST + 4 && list[0].note.as_ref().is_some_and(|note| note.len() < LONGEST + 4)
        );
    }
}
