use std::borrow::Cow;
use std::fmt;

use memchr::memchr_iter;

use crate::{NamespaceId, QName};

/// A token that a reader returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// A start tag, or the first half of an empty-element tag. An [`EndTag`](Token::EndTag) for it always follows
    /// later.
    StartTag(StartTag<'a>),
    /// An end tag, or the second half of an empty-element tag.
    EndTag(QName<'a>),
    /// Character data, with references resolved and line ends normalised (XML 1.0 §2.11). CDATA sections are text, too.
    /// Comments, instructions, CDATA borders and the borders of entities split a text into several tokens, some of them
    /// empty.
    Text(Cow<'a, str>),
    /// The text between `<!--` and `-->`.
    Comment(Raw<'a>),
    /// A processing instruction.
    Instruction {
        /// The target.
        target: &'a str,
        /// The text after the target and the white space that follows the target.
        data: Raw<'a>,
    },
    /// The end of the document, which is well-formed.
    End,
}

/// The text of a comment or a processing instruction.
///
/// Line ends are normalised (XML 1.0 §2.11) only when the text is requested, which is rare. So a [`Token`] that is not
/// text owns no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a> {
    written: &'a str,
    /// Whether it is in an entity, whose line ends were normalised when it was declared.
    in_entity: bool,
}

impl<'a> Raw<'a> {
    pub(crate) fn new(written: &'a str, in_entity: bool) -> Self {
        Raw { written, in_entity }
    }

    /// Returns the text with normalised line ends.
    pub fn text(self) -> Cow<'a, str> {
        if self.in_entity { Cow::Borrowed(self.written) } else { normalise_line_ends(self.written) }
    }
}

impl fmt::Display for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// Replaces each line end by one line feed (XML 1.0 §2.11).
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

/// A start tag. [`Reader::attributes`](crate::Reader::attributes) returns its attributes until the next token is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartTag<'a> {
    /// The name as it is written.
    pub name: QName<'a>,
    /// The namespace of the element.
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
