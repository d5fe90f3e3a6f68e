/// The limits of a reader. The defaults suit messages from untrusted senders.
///
/// A document that exceeds a limit causes an error of [`ErrorKind::Limit`](crate::ErrorKind::Limit), which names the
/// limit. Nothing is allocated for the part beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a whole message, in bytes. At most 4 GiB − 1, because offsets are 32 bits wide.
    pub message_size: usize,
    /// How many elements may be open at a time. XML 1.0 §3 sets no limit.
    pub depth: usize,
    /// How many attributes, namespace declarations included, one tag may have.
    pub attributes: usize,
    /// How many namespace declarations may be in scope at a time.
    pub namespaces: usize,
    /// The length of a name with its prefix, of a namespace name, and of a reference, in bytes. References of up to 32
    /// bytes are always allowed.
    pub name_length: usize,
    /// The length of a text, attribute value, comment or processing instruction, in bytes, as written in the document.
    /// Comments, instructions and CDATA boundaries split texts.
    pub text_length: usize,
    /// The length of a tag, comment or processing instruction, in bytes, from `<` to `>`. The push parser
    /// ([`PushReader`](crate::PushReader)) buffers it until it is complete. At least `name_length` + 16 bytes are always
    /// allowed.
    pub markup_length: usize,
    /// How many bytes entities and attribute defaults may add to a document. An entity is counted each time it is
    /// expanded, also within other entities. Only a [`DocumentEntity`](crate::DocumentEntity) can have entities.
    pub entity_expansion: usize,
    /// How many bytes SOAP encoding may add to a document. Each reading of an element through a reference adds the
    /// length of the element. An absent array item adds its memory and its form when written. The sum may exceed the
    /// length of the document by a 16th of this limit and twice that length, but by no more than this limit. A reader
    /// ignores it.
    pub encoding_expansion: usize,
    /// The size of a document that is written as the response to a message, in bytes. A reader ignores it.
    pub written_size: usize,
    /// How many deviations from the schema are recorded when a document is read in lenient mode; further ones are only
    /// counted. A reader ignores it.
    pub deviations: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message_size: 16 << 20,
            depth: 512,
            attributes: 256,
            namespaces: 128,
            name_length: 1_000,
            text_length: 16 << 20,
            markup_length: 16 << 20,
            entity_expansion: 1 << 20,
            encoding_expansion: 4 << 20,
            written_size: 64 << 20,
            deviations: 100,
        }
    }
}
