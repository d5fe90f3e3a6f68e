use std::borrow::Cow;
use std::fmt;

/// How a master breaks the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation(Cow<'static, str>);

impl Violation {
    pub(crate) fn new(what: impl Into<Cow<'static, str>>) -> Self {
        Violation(what.into())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Violation {}
