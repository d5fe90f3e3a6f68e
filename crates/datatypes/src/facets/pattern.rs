//! Regular expressions (XSD Part 2 appendix F), translated for a library that matches in linear time.

use std::fmt;
use std::fmt::Write;

use regex::{Regex, RegexBuilder};

use super::blocks;

/// A `pattern` facet: regular expressions, one of which must match the whole text (XSD Part 2 §4.3.4).
///
/// ```
/// use castile_datatypes::facets::Pattern;
///
/// let pattern = Pattern::new(&[r"\d{5}(-\d{4})?"])?;
/// assert!(pattern.matches("20500-0005"));
/// assert!(!pattern.matches("20500-"));
/// # Ok::<(), castile_datatypes::facets::PatternError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    regex: Regex,
}

/// The maximum memory of a compiled pattern, in bytes. `\c{0,500}` takes a hundredth of it for each hundred.
const SIZE_LIMIT: usize = 16 << 20;
/// How deep character classes may be nested, as in `[a-z-[b-y-[c]]]`.
const MAX_CLASS_DEPTH: usize = 32;

/// The characters of `\i`: those that may begin a name, and the colon.
const NAME_START: &str = r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}";
/// The further characters of `\c`.
const NAME_MORE: &str = r"\-.0-9\x{B7}\x{300}-\x{36F}\x{203F}-\x{2040}";

/// The general categories of characters. XSD has none for surrogates.
const CATEGORIES: [&str; 36] = [
    "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe", "Pi",
    "Pf", "Po", "Z", "Zs", "Zl", "Zp", "S", "Sm", "Sc", "Sk", "So", "C", "Cc", "Cf", "Co", "Cn",
];

impl Pattern {
    /// Compiles the `pattern` facets of one derivation step.
    ///
    /// # Errors
    /// An alternative is not a regular expression of XSD; or the pattern takes too much memory.
    pub fn new(alternatives: &[&str]) -> Result<Self, PatternError> {
        let mut translated = String::from(r"\A(?:");
        for (index, source) in alternatives.iter().enumerate() {
            translated.push_str(if index > 0 { "|" } else { "" });
            Translator::new(source, &mut translated).expression()?;
        }
        translated.push_str(r")\z");
        let source = alternatives.join("|");
        let regex = RegexBuilder::new(&translated).size_limit(SIZE_LIMIT).build();
        let regex = regex.map_err(|error| {
            let message = match error {
                regex::Error::CompiledTooBig(limit) => format!("it takes more than {} MiB to match", limit >> 20),
                // The other reason is that groups are nested too deep.
                other => other.to_string().lines().last().unwrap_or_default().trim().to_owned(),
            };
            PatternError { source: source.clone(), position: 1, message }
        })?;
        Ok(Pattern { source, regex })
    }

    /// Whether the whole text matches. The time is linear in its length.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the pattern in the syntax of the `regex` crate, anchored at both ends.
    pub fn regex(&self) -> &str {
        self.regex.as_str()
    }

    /// Returns the regular expressions as they were given, joined with `|`.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.source)
    }
}

/// The reason why a text is not a regular expression, and the position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    source: String,
    position: usize,
    message: String,
}

impl PatternError {
    /// Returns the position of the wrong character, counted from 1.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns what is wrong.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PatternError { source, position, message } = self;
        write!(f, "the pattern \"{source}\" is not a regular expression: {message} (character {position})")
    }
}

impl std::error::Error for PatternError {}

/// Parses XSD's grammar and writes that of the library. Characters other than letters and digits are written as numbers.
struct Translator<'a> {
    source: &'a str,
    /// The unread input.
    rest: &'a str,
    out: &'a mut String,
}

impl<'a> Translator<'a> {
    fn new(source: &'a str, out: &'a mut String) -> Self {
        Translator { source, rest: source, out }
    }

    /// Parses a `regExp` to the end (productions 1 to 9).
    fn expression(mut self) -> Result<(), PatternError> {
        self.out.push_str("(?:");
        let mut open = 0_usize;
        // Whether an atom precedes, which a quantifier may follow.
        let mut atom = false;
        while let Some(c) = self.next() {
            let is_atom = match c {
                '(' => {
                    open += 1;
                    self.out.push_str("(?:");
                    false
                }
                ')' => {
                    open = open.checked_sub(1).ok_or_else(|| self.wrong_here("a \")\" that closes nothing"))?;
                    self.out.push(')');
                    true
                }
                '|' => {
                    self.out.push('|');
                    false
                }
                '?' | '*' | '+' | '{' if !atom => {
                    return Err(self.wrong_here(format!("a \"{c}\" with nothing before it to repeat")));
                }
                '?' | '*' | '+' => {
                    self.out.push(c);
                    false
                }
                '{' => {
                    self.quantity()?;
                    false
                }
                '}' | ']' => {
                    return Err(self.wrong_here(format!("a \"{c}\" that closes nothing; it is written \"\\{c}\"")));
                }
                '.' => {
                    self.out.push_str(r"[^\n\r]");
                    true
                }
                '[' => {
                    self.class(1)?;
                    true
                }
                '\\' => {
                    match self.escape()? {
                        Escape::Char(c) => self.literal(c),
                        Escape::Class(class) => self.out.push_str(&class),
                    }
                    true
                }
                other => {
                    self.literal(other);
                    true
                }
            };
            atom = is_atom;
        }
        if open > 0 {
            return Err(self.wrong("a \"(\" that is not closed"));
        }
        self.out.push(')');
        Ok(())
    }

    /// Parses what follows `{` (productions 5 to 8).
    fn quantity(&mut self) -> Result<(), PatternError> {
        let Some(end) = self.rest.find('}') else { return Err(self.wrong_here("a \"{\" that is not closed")) };
        let quantity = &self.rest[..end];
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| digits.parse::<u32>().unwrap_or(u32::MAX))
        };
        let (min, max) = quantity.split_once(',').unwrap_or((quantity, quantity));
        let fits = match (number(min), max, number(max)) {
            (Some(min), _, Some(max)) => min <= max,
            (Some(_), "", None) => true,
            _ => false,
        };
        if !fits {
            let message =
                format!("\"{{{quantity}}}\" is not a quantity; expected {{n}}, {{n,}} or {{n,m}}, with n at most m");
            return Err(self.wrong_here(message));
        }
        self.rest = &self.rest[end + 1..];
        let _ = write!(self.out, "{{{quantity}}}");
        Ok(())
    }

    /// Parses what follows `[`, up to the `]` (productions 11 to 22).
    fn class(&mut self, depth: usize) -> Result<(), PatternError> {
        if depth > MAX_CLASS_DEPTH {
            return Err(self.wrong_here(format!("classes nested more than {MAX_CLASS_DEPTH} deep")));
        }
        // The outer brackets are for subtraction.
        let is_negated = self.take('^');
        self.out.push_str(if is_negated { "[[^" } else { "[[" });
        let mut is_empty = true;
        loop {
            let Some(c) = self.next() else { return Err(self.wrong("a \"[\" that is not closed")) };
            match c {
                ']' if is_empty => return Err(self.wrong_here("a class without characters")),
                ']' => {
                    self.out.push_str("]]");
                    return Ok(());
                }
                '-' if self.rest.starts_with('[') && !is_empty => {
                    self.next();
                    self.out.push_str("]--");
                    self.class(depth + 1)?;
                    if !self.take(']') {
                        return Err(self.wrong("a class continues after its subtraction"));
                    }
                    self.out.push(']');
                    return Ok(());
                }
                '[' => return Err(self.wrong_here("a \"[\" in a class; it is written \"\\[\"")),
                '\\' => match self.escape()? {
                    Escape::Char(first) => self.range(first)?,
                    Escape::Class(class) => self.out.push_str(&class),
                },
                first => self.range(first)?,
            }
            is_empty = false;
        }
    }

    /// Parses a character of a class, or a range that begins with it.
    fn range(&mut self, first: char) -> Result<(), PatternError> {
        self.literal(first);
        let mut ahead = self.rest.chars();
        if ahead.next() != Some('-') || matches!(ahead.next(), None | Some(']' | '[')) {
            return Ok(());
        }
        if first == '-' {
            return Err(self.wrong_here("a range from \"-\"; it is written \"\\-\""));
        }
        self.next();
        let last = match self.next() {
            Some('\\') => match self.escape()? {
                Escape::Char(last) => last,
                Escape::Class(_) => return Err(self.wrong_here("a range that ends with a class")),
            },
            Some('-') => return Err(self.wrong_here("a range to \"-\"; it is written \"\\-\"")),
            Some(last) => last,
            None => first,
        };
        if last < first {
            return Err(self.wrong_here(format!("a range from \"{first}\" down to \"{last}\"")));
        }
        self.out.push('-');
        self.literal(last);
        Ok(())
    }

    /// Parses what follows a backslash (productions 23 to 37).
    fn escape(&mut self) -> Result<Escape, PatternError> {
        let Some(c) = self.next() else { return Err(self.wrong("a \"\\\" at the end")) };
        let class = match c {
            'n' => return Ok(Escape::Char('\n')),
            'r' => return Ok(Escape::Char('\r')),
            't' => return Ok(Escape::Char('\t')),
            '\\' | '|' | '.' | '?' | '*' | '+' | '(' | ')' | '{' | '}' | '-' | '[' | ']' | '^' => {
                return Ok(Escape::Char(c));
            }
            's' => r"[ \t\n\r]".to_owned(),
            'S' => r"[^ \t\n\r]".to_owned(),
            'i' => format!("[{NAME_START}]"),
            'I' => format!("[^{NAME_START}]"),
            'c' => format!("[{NAME_START}{NAME_MORE}]"),
            'C' => format!("[^{NAME_START}{NAME_MORE}]"),
            'd' => r"\p{Nd}".to_owned(),
            'D' => r"\P{Nd}".to_owned(),
            'w' => r"[^\p{P}\p{Z}\p{C}]".to_owned(),
            'W' => r"[\p{P}\p{Z}\p{C}]".to_owned(),
            'p' | 'P' => self.property(c == 'P')?,
            other => return Err(self.wrong_here(format!("\"\\{other}\", which is not a known escape"))),
        };
        Ok(Escape::Class(class))
    }

    /// Parses what follows `\p` or `\P`: a category or a block.
    fn property(&mut self, negated: bool) -> Result<String, PatternError> {
        let named = self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let Some((name, rest)) = named else {
            return Err(self.wrong_here("a \"\\p\" without a name in braces"));
        };
        let class = match name.strip_prefix("Is") {
            None if CATEGORIES.contains(&name) => {
                let escape = if negated { 'P' } else { 'p' };
                format!("\\{escape}{{{name}}}")
            }
            None => return Err(self.wrong_here(format!("\"{name}\", which is not a category of characters"))),
            Some(block) => {
                let Some(ranges) = blocks::find(block) else {
                    return Err(self.wrong_here(format!("\"{block}\", which is not a block of characters")));
                };
                let ranges: String = ranges.map(|(first, last)| format!("\\x{{{first:X}}}-\\x{{{last:X}}}")).collect();
                format!("[{}{ranges}]", if negated { "^" } else { "" })
            }
        };
        self.rest = rest;
        Ok(class)
    }

    fn literal(&mut self, c: char) {
        if c.is_ascii_alphanumeric() {
            self.out.push(c);
        } else {
            let _ = write!(self.out, "\\x{{{:X}}}", u32::from(c));
        }
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next();
        self.rest = chars.as_str();
        c
    }

    fn take(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Returns an error at the next character.
    fn wrong(&self, message: impl Into<String>) -> PatternError {
        let read = &self.source[..self.source.len() - self.rest.len()];
        PatternError { source: self.source.to_owned(), position: read.chars().count() + 1, message: message.into() }
    }

    /// Returns an error at the character that was read last.
    fn wrong_here(&self, message: impl Into<String>) -> PatternError {
        let error = self.wrong(message);
        PatternError { position: error.position - 1, ..error }
    }
}

enum Escape {
    Char(char),
    Class(String),
}
