use std::fmt;

use super::SimpleType;

/// Why a text or a value is none of a type's: `"ten" is not a valid xs:int`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(Box<str>);

impl Invalid {
    /// That something isn't what it should be, in a sentence's words.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Invalid(message.into())
    }

    /// That `text` is not in the lexical space of the type with this name, and the problem if it can be told.
    #[cold]
    #[doc(hidden)]
    pub fn text(text: &str, name: &str, problem: Option<String>) -> Self {
        Invalid::new(match problem {
            Some(problem) => format!("{} is not a valid {name}: {problem}", quoted(text)),
            None => format!("{} is not a valid {name}", quoted(text)),
        })
    }

    /// Reads `text` as a `T` where no context is.
    pub(crate) fn or_value<T: SimpleType>(text: &str) -> Result<T, Invalid> {
        T::parse(text).map_err(|problem| Invalid::text(text, T::NAME, problem))
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Invalid {}

/// Text of a document or of a schema for messages: in quotes, and cut where it gets long.
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
