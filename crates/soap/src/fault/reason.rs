use std::fmt;

/// The reason of a fault, for people, in one or more languages (SOAP 1.1 §4.4 `faultstring`, SOAP 1.2 Part 1 §5.4.2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
// Only one word in size, because faults are in the results of all methods. `None` is an empty list.
#[allow(clippy::box_collection, reason = "a boxed slice has two words")]
pub struct Reason(Option<Box<Vec<ReasonText>>>);

/// A reason in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonText {
    /// The language (RFC 5646), empty if it is unknown.
    pub language: String,
    /// The text in that language.
    pub text: String,
}

impl Reason {
    /// Creates a reason in one language.
    pub fn new(language: impl Into<String>, text: impl Into<String>) -> Self {
        Reason::default().with(language, text)
    }

    /// Adds the reason in another language. SOAP 1.1 writes only the first one.
    pub fn with(mut self, language: impl Into<String>, text: impl Into<String>) -> Self {
        self.0.get_or_insert_default().push(ReasonText { language: language.into(), text: text.into() });
        self
    }

    /// Returns the first text, or an empty string if there is none.
    pub fn as_str(&self) -> &str {
        self.texts().first().map_or("", |first| &first.text)
    }

    /// Returns the texts in all languages.
    pub fn texts(&self) -> &[ReasonText] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl FromIterator<ReasonText> for Reason {
    fn from_iter<I: IntoIterator<Item = ReasonText>>(texts: I) -> Self {
        let texts: Vec<ReasonText> = texts.into_iter().collect();
        Reason((!texts.is_empty()).then(|| Box::new(texts)))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
