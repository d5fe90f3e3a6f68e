use std::borrow::Cow;

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
    /// What stands between `<!--` and `-->`, line ends normalised.
    Comment(Cow<'a, str>),
    /// A processing instruction.
    Instruction {
        /// Its target.
        target: &'a str,
        /// What follows the target and the white space behind it, line ends normalised.
        data: Cow<'a, str>,
    },
    /// The document is read, and well-formed.
    End,
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
