/// What a reader accepts at most. The defaults suit messages from strangers.
///
/// A document that passes a limit ends in an error of [`ErrorKind::Limit`](crate::ErrorKind::Limit) that names the
/// limit; nothing is allocated for what lies behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a whole message, in bytes. Never more than 4 GiB − 1: offsets are 32 bits wide.
    pub message_size: usize,
    /// How many elements may be open at a time. XML 1.0 §3 lets them nest without end.
    pub depth: usize,
    /// How many attributes, namespace declarations included, one tag may have.
    pub attributes: usize,
    /// How many namespace declarations may be in scope at a time.
    pub namespaces: usize,
    /// The length of a name, its prefix included, of the name of a namespace, and of a reference, in bytes. References
    /// may have 32 bytes in any case.
    pub name_length: usize,
    /// The length of a text, attribute value, comment or processing instruction, in bytes, as it stands in the
    /// document. Comments, instructions and CDATA borders split texts.
    pub text_length: usize,
    /// The length of a tag, comment or processing instruction, in bytes, from `<` to `>`: what a reader of pieces
    /// ([`Pieces`](crate::Pieces)) holds until it is complete. There is room for a name and 16 bytes in any case.
    pub markup_length: usize,
    /// How many bytes entities and attribute defaults may add to a document, those within others counted again. Only
    /// a [`DocumentEntity`](crate::DocumentEntity) has any.
    pub entity_expansion: usize,
    /// How many bytes SOAP encoding may add to a document: elements that several references lead to are read, and counted,
    /// once for each beyond the size of the document, and so are items that an array has and doesn't show: the room for them, and
    /// what they are written as. A document may take a 16th of the limit, and 2 bytes for each of its own. A reader has no use
    /// for it.
    pub encoding_expansion: usize,
    /// The size of a document that is written as the answer to a message, in bytes. A reader has no use for it.
    pub written_size: usize,
    /// How many deviations from its schema are kept of a document that is read leniently; further ones are counted. A
    /// reader has no use for it.
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
