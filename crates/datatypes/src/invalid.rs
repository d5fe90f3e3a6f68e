use std::fmt;

/// The reason why a text or a value is not one of a type: `"ten" is not a valid xs:int`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(Box<str>);

impl Invalid {
    /// Creates an error with a message.
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Invalid(message.into())
    }

    /// Creates the error that `text` is not in the lexical space of the type `name`. `problem` says why, if that is known.
    #[cold]
    #[doc(hidden)]
    pub fn text(text: &str, name: &str, problem: Option<String>) -> Self {
        Invalid::new(match problem {
            Some(problem) => format!("{} is not a valid {name}: {problem}", quoted(text)),
            None => format!("{} is not a valid {name}", quoted(text)),
        })
    }

    /// Returns the message.
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

/// Quotes a text of a document or schema for a message. Long texts are cut.
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
