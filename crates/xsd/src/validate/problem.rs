//! What is wrong with a document, and where.

use std::collections::HashMap;
use std::fmt;

use castile_xml::{Error, Reader, Token};

/// One problem of a document: what was found, what was expected, where.
///
/// Its `Display` is one line: `14:22: order/line[2]/quantity: "ten" is not a valid xs:int [cvc-type.3.1.3]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule that is broken, as XSD 1.0 Part 1 Appendix C.1 calls it, with the clause: `cvc-complex-type.2.4`.
    /// `well-formed` if the document is none.
    pub rule: &'static str,
    /// The elements that are open at the place, outermost first, each with its number among siblings of its name where
    /// that is not the first: `order/line[2]/quantity`.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The byte of the document, in UTF-8.
    pub offset: usize,
    /// What was found, and what was expected.
    pub message: String,
}

impl Problem {
    /// That the bytes of a document are not in its encoding.
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

/// The problems that were found so far. Where they are is worked out at the end, for all of them together.
#[derive(Debug)]
pub struct Problems {
    found: Vec<Found>,
    most: usize,
}

#[derive(Debug)]
struct Found {
    rule: &'static str,
    message: String,
    /// The byte in the document.
    offset: usize,
}

impl Problems {
    /// None yet; more than `most` are not kept.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Problems { found: Vec::new(), most }
    }

    /// Adds what is wrong at a byte of the document, with the rule that is broken.
    pub fn add(&mut self, rule: &'static str, offset: usize, message: String) {
        if !self.is_full() {
            self.found.push(Found { rule, message, offset });
        }
    }

    /// Whether no more are kept.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.found.len() >= self.most
    }

    /// That the document could not be read any further.
    pub(super) fn not_well_formed(&mut self, error: &Error) {
        self.add(WELL_FORMED, error.offset(), error.message().to_owned());
    }

    /// All of them, in the order of their places. If there are any, `reader` is asked for two more readers of the document.
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

/// Lines and columns of places, which are in order.
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

/// An element on the way to a place.
#[derive(Debug, Clone, Copy)]
struct Step<'d> {
    local: &'d str,
    offset: usize,
}

/// What is open at each of the places, which are in order.
fn open_at<'d>(mut reader: Reader<'d>, offsets: &[usize]) -> Vec<Vec<Step<'d>>> {
    let mut open: Vec<Step<'d>> = Vec::new();
    let mut chains = Vec::new();
    while chains.len() < offsets.len() {
        let token = reader.next();
        // An end tag still belongs to its element.
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

/// The numbers, among siblings of their names, of the elements in these chains, by where they begin.
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
