//! Problems in a document, with their positions.

use std::collections::HashMap;
use std::fmt;

use castile_xml::{Error, Reader, Token};

/// A problem in a document: what was found, what was expected, and where.
///
/// Its `Display` is one line: `14:22: order/line[2]/quantity: "ten" is not a valid xs:int [cvc-type.3.1.3]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule that is broken: its name in XSD 1.0 Part 1 Appendix C.1, with the clause, as in `cvc-complex-type.2.4`.
    /// `well-formed` if the document is not well-formed.
    pub rule: &'static str,
    /// The open elements at the position, outermost first. An element that isn't the first sibling of its name has its
    /// number: `order/line[2]/quantity`.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The byte offset in the document, as UTF-8.
    pub offset: usize,
    /// What was found, and what was expected.
    pub message: String,
}

impl Problem {
    /// Creates the problem that the bytes of a document don't match its encoding.
    pub(super) fn unreadable(error: &Error) -> Self {
        Problem { rule: WELL_FORMED, path: String::new(), line: 1, column: 1, offset: 0, message: error.to_string() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} [{}]", self.message, self.rule)
    }
}

const WELL_FORMED: &str = "well-formed";

/// The problems found so far. Their lines, columns and paths are computed at the end, for all of them together.
#[derive(Debug)]
pub struct Problems {
    found: Vec<Found>,
    max: usize,
}

#[derive(Debug)]
struct Found {
    rule: &'static str,
    message: String,
    /// The byte offset in the document.
    offset: usize,
}

impl Problems {
    /// Creates an empty list that stores at most `max` problems.
    #[must_use]
    pub fn new(max: usize) -> Self {
        Problems { found: Vec::new(), max }
    }

    /// Adds a problem at a byte offset of the document, with the rule that is broken.
    pub fn add(&mut self, rule: &'static str, offset: usize, message: String) {
        if !self.is_full() {
            self.found.push(Found { rule, message, offset });
        }
    }

    /// Returns true if no more problems are stored.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.found.len() >= self.max
    }

    /// Adds the problem that the document is not well-formed.
    pub(super) fn not_well_formed(&mut self, error: &Error) {
        self.add(WELL_FORMED, error.offset(), error.message().to_owned());
    }

    /// Returns all problems, sorted by position. If there are any, `reader` is called twice to create readers of the
    /// document.
    pub fn located<'d>(mut self, reader: impl Fn() -> Result<Reader<'d>, Error>) -> Vec<Problem> {
        self.found.sort_by_key(|found| found.offset);
        let offsets: Vec<usize> = self.found.iter().map(|found| found.offset).collect();
        let (Some(_), Ok(first), Ok(second)) = (offsets.first(), reader(), reader()) else {
            return self.found.into_iter().map(|found| found.at(String::new(), (1, 1))).collect();
        };
        let positions = positions(first.input(), &offsets);
        let chains = open_at(first, &offsets);
        let numbers = numbers(second, &chains);
        let path = |chain: &Vec<Step<'_>>| {
            let step = |step: &Step<'_>| match numbers.get(&step.offset) {
                Some(&number) if number > 1 => format!("{}[{number}]", step.local),
                _ => step.local.to_owned(),
            };
            chain.iter().map(step).collect::<Vec<_>>().join("/")
        };
        let places = chains.iter().map(path).zip(positions);
        self.found.into_iter().zip(places).map(|(found, (path, position))| found.at(path, position)).collect()
    }
}

impl Found {
    fn at(self, path: String, (line, column): (u32, u32)) -> Problem {
        Problem { rule: self.rule, path, line, column, offset: self.offset, message: self.message }
    }
}

/// Returns the lines and columns of offsets, which must be sorted.
fn positions(text: &str, offsets: &[usize]) -> Vec<(u32, u32)> {
    let (mut line, mut column, mut at) = (1, 1, 0);
    let mut position = |&offset: &usize| {
        let end = offset.min(text.len());
        for c in text.get(at..end).unwrap_or_default().chars() {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        at = end.max(at);
        (line, column)
    };
    offsets.iter().map(&mut position).collect()
}

/// An element on the path to a position.
#[derive(Debug, Clone, Copy)]
struct Step<'d> {
    local: &'d str,
    offset: usize,
}

/// Returns the open elements at each offset. The offsets must be sorted.
fn open_at<'d>(mut reader: Reader<'d>, offsets: &[usize]) -> Vec<Vec<Step<'d>>> {
    let mut open: Vec<Step<'d>> = Vec::new();
    let mut chains = Vec::new();
    while chains.len() < offsets.len() {
        let token = reader.next();
        // The end tag belongs to its element.
        let before = match &token {
            Ok(Token::StartTag(tag)) => tag.offset,
            Ok(Token::End) | Err(_) => usize::MAX,
            Ok(_) => reader.offset(),
        };
        while offsets.get(chains.len()).is_some_and(|&offset| offset < before) {
            chains.push(open.clone());
        }
        match token {
            Ok(Token::StartTag(tag)) => open.push(Step { local: tag.name.local(), offset: tag.offset }),
            Ok(Token::EndTag(_)) => drop(open.pop()),
            Ok(Token::End) | Err(_) => chains.resize(offsets.len(), open.clone()),
            Ok(_) => {}
        }
    }
    chains
}

/// Returns the numbers of the elements in these chains among siblings with the same name, by the elements' offsets.
fn numbers(mut reader: Reader<'_>, chains: &[Vec<Step<'_>>]) -> HashMap<usize, u32> {
    const OUTSIDE: usize = usize::MAX;
    let mut numbers: HashMap<usize, u32> = HashMap::new();
    let mut counts: HashMap<usize, HashMap<&str, u32>> = HashMap::new();
    for chain in chains {
        let mut parent = OUTSIDE;
        for step in chain {
            numbers.insert(step.offset, 0);
            counts.entry(parent).or_default().insert(step.local, 0);
            parent = step.offset;
        }
    }
    let mut open = vec![OUTSIDE];
    loop {
        match reader.next() {
            Ok(Token::StartTag(tag)) => {
                let siblings = open.last().and_then(|parent| counts.get_mut(parent));
                if let Some(count) = siblings.and_then(|siblings| siblings.get_mut(tag.name.local())) {
                    *count += 1;
                    numbers.entry(tag.offset).and_modify(|number| *number = *count);
                }
                open.push(tag.offset);
            }
            Ok(Token::EndTag(_)) => drop(open.pop()),
            Ok(Token::End) | Err(_) => return numbers,
            Ok(_) => {}
        }
    }
}
