use crate::{Binary, Invalid, Prefixes, Scope};

/// A simple type: the conversions between its values and their text. The macro `simple_type!` of
/// `castile-databinding` implements the traits for elements with such values.
pub trait SimpleType: Sized + PartialEq + Send + Sync + 'static {
    /// The name for messages, such as `xs:int`.
    const NAME: &'static str;
    /// Whether values are names or contain names, and so depend on namespace declarations: `xs:QName`, `xs:NOTATION`, and
    /// types made of them.
    const HAS_NAMES: bool = false;
    /// The conversions to and from bytes, for types whose values may travel beside the document (XOP):
    /// `xs:base64Binary`.
    #[doc(hidden)]
    const BINARY: Option<Binary<Self>> = None;
    /// Whether the text of every value needs no escaping in an attribute. This is the case for numbers, dates, times and
    /// booleans.
    const IS_PLAIN: bool = false;

    /// Whether the type is declared by a contract. A contract may declare thousands of types, so they get less code than the
    /// built-in ones, and don't use [`parse_prefix`](Self::parse_prefix).
    #[doc(hidden)]
    const IS_OF_CONTRACT: bool = false;

    /// Parses a text whose white space is not normalised.
    ///
    /// # Errors
    /// The text is not in the lexical space. The error says what is wrong, if that is known.
    fn parse(text: &str) -> Result<Self, Option<String>>;

    /// Parses a text that may contain names. `scope` has the namespace declarations around it. Types with names must
    /// implement this.
    ///
    /// # Errors
    /// The text is not in the lexical space. The error says what is wrong, if that is known.
    #[inline]
    fn parse_in(text: &str, scope: &dyn Scope) -> Result<Self, Option<String>> {
        let _ = scope;
        Self::parse(text)
    }

    /// Returns the value of a text that [`parse`](Self::parse) rejects only because of facets that the type itself checks: a
    /// value that is not in an enumeration, or that the members of a union exclude.
    #[doc(hidden)]
    fn parse_beyond_facets(text: &str) -> Option<Self> {
        let _ = text;
        None
    }

    /// Parses the value that begins at `at` and ends at a `<`. Returns it with the offset of its end. The result must be
    /// `None` if [`parse`](Self::parse) would return something else, or if a byte before the `<` is not plain character data.
    /// The caller then uses [`parse`](Self::parse).
    #[doc(hidden)]
    #[inline]
    fn parse_prefix(input: &str, at: usize) -> Option<(Self, usize)> {
        let (text, end) = plain_text(input, at)?;
        Some((Self::parse(text).ok()?, end))
    }

    /// Returns the maximum heap memory of a text's value in bytes, excluding a copy of the text. It is called before the
    /// value is created.
    #[inline]
    fn heap_size(text: &str) -> usize {
        let _ = text;
        0
    }

    /// Appends the text of the value. Returns `false` if it contains a character that XML can't represent, or if the value is
    /// invalid.
    fn write(&self, out: &mut Vec<u8>) -> bool;

    /// Appends the text of the value, with prefixes for the names in it. Types with names must implement this.
    #[inline]
    fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
        let _ = prefixes;
        self.write(out)
    }
}

/// Parses a text, with the error for messages.
pub(crate) fn parse<T: SimpleType>(text: &str) -> Result<T, Invalid> {
    T::parse(text).map_err(|problem| Invalid::text(text, T::NAME, problem))
}

/// Returns the character data from `at` to the next tag, if it needs no processing.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) fn plain_text(input: &str, at: usize) -> Option<(&str, usize)> {
    let end = castile_xml::scan::end_of_character_data(input.as_bytes(), at);
    (input.as_bytes().get(end) == Some(&b'<')).then(|| (&input[at..end], end))
}

/// Returns the text of a value for display. Names have their preferred prefixes.
pub fn text_of<T: SimpleType>(value: &T) -> String {
    let mut text = Vec::new();
    // If a part can't be written, the rest is shown.
    let _ = value.write_in(&mut text, &mut Prefixes::for_display());
    String::from_utf8_lossy(&text).into_owned()
}
