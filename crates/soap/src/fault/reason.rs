use std::fmt;

/// What happened, for people, in one language or in several (SOAP 1.1 §4.4 `faultstring`, SOAP 1.2 Part 1 §5.4.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
// Boxed, since faults are in the results of all methods.
pub struct Reason(Box<[ReasonText]>);

/// A reason in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonText {
    /// The language (RFC 5646), empty if it isn't known.
    pub language: String,
    /// What happened, in that language.
    pub text: String,
}

impl Reason {
    /// A reason in one language.
    pub fn new(language: impl Into<String>, text: impl Into<String>) -> Self {
        Reason::default().with(language, text)
    }

    /// This reason in one more language. SOAP 1.1 carries the first one alone.
    pub fn with(self, language: impl Into<String>, text: impl Into<String>) -> Self {
        let more = ReasonText { language: language.into(), text: text.into() };
        Reason(self.0.into_iter().chain([more]).collect())
    }

    /// The first text; empty if there is none.
    pub fn as_str(&self) -> &str {
        self.0.first().map_or("", |first| &first.text)
    }

    /// The texts in all languages.
    pub fn texts(&self) -> &[ReasonText] {
        &self.0
    }
}

impl FromIterator<ReasonText> for Reason {
    fn from_iter<I: IntoIterator<Item = ReasonText>>(texts: I) -> Self {
        Reason(texts.into_iter().collect())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
