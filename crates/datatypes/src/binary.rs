/// Conversions between a binary type and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Binary<T> {
    /// Creates a value from bytes.
    pub from: fn(Vec<u8>) -> T,
    /// Returns the bytes of a value.
    pub bytes: fn(&T) -> &[u8],
    /// Present if a value may be a reference to content that is read later.
    pub reference: Option<Reference<T>>,
}

/// Conversions between a binary type and references.
#[derive(Clone, Copy, Debug)]
pub struct Reference<T> {
    /// Creates a value that is a reference to a URL.
    pub from: fn(String) -> T,
    /// Returns the URL, if the value is a reference.
    pub url: fn(&T) -> Option<&str>,
}
