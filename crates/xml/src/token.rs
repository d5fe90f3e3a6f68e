use std::borrow::Cow;
use std::fmt;

use memchr::memchr_iter;

use crate::{NamespaceId, QName};

/// What the reader yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A start tag, or the first half of an empty-element tag; an [`EndTag`](Token::EndTag) always follows in time.
    StartTag(StartTag<'a>),
    /// An end tag, or the second half of an empty-element tag.
    EndTag(QName<'a>),
    /// Character data: references resolved, line ends normalised (XML 1.0 §2.11), CDATA sections taken as text.
    /// Comments, instructions, CDATA borders and the borders of entities split it, so neighbours belong together; some
    /// are empty.
    Text(Cow<'a, str>),
    /// What stands between `<!--` and `-->`.
    Comment(Raw<'a>),
    /// A processing instruction.
    Instruction {
        /// Its target.
        target: &'a str,
        /// What follows the target and the white space behind it.
        data: Raw<'a>,
    },
    /// The document is read, and well-formed.
    End,
}

/// The text of a comment or a processing instruction.
///
/// Few ask for it, so its line ends are normalised (XML 1.0 §2.11) only then, and a [`Token`] that is not text has
/// nothing to drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    written: &'a str,
    /// It comes from an entity, whose line ends were normalised when it was declared.
    in_entity: bool,
}

impl<'a> Raw<'a> {
    pub(crate) fn new(written: &'a str, in_entity: bool) -> Self {
        Raw { written, in_entity }
    }

    /// The text.
    pub fn text(self) -> Cow<'a, str> {
        if self.in_entity { Cow::Borrowed(self.written) } else { normalise_line_ends(self.written) }
    }
}

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// Each line end as one line feed (XML 1.0 §2.11).
pub(crate) fn normalise_line_ends(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut ends = memchr_iter(b'\r', bytes).peekable();
    if ends.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut normalised = String::with_capacity(text.len());
    let mut copied = 0;
    for end in ends {
        normalised.push_str(&text[copied..end]);
        normalised.push('\n');
        copied = end + 1 + usize::from(bytes.get(end + 1) == Some(&b'\n'));
    }
    normalised.push_str(&text[copied..]);
    Cow::Owned(normalised)
}

/// A start tag. Its attributes are with the reader until the next token: [`Reader::attributes`](crate::Reader::attributes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartTag<'a> {
    /// The name as it is written.
    pub name: QName<'a>,
    /// The namespace that the name is in.
    pub namespace: NamespaceId,
    /// The byte offset of its `<`.
    pub offset: usize,
}

/// An attribute that is not a namespace declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute<'r> {
    /// The namespace name, empty for none.
    pub namespace: &'r str,
    /// The name as it is written.
    pub name: QName<'r>,
    /// The normalised value (XML 1.0 §3.3.3).
    pub value: &'r str,
    /// The byte offset of its name.
    pub offset: usize,
}
