/// Limits of what is read to verify or to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum number of signatures in a document, and of `SignatureConfirmation` in a message. The default is 8.
    pub signatures: usize,
    /// Maximum number of references of a signature. The default is 30.
    pub references: usize,
    /// Maximum number of elements with an id in a document. The default is 10,000.
    pub ids: usize,
    /// Maximum number of transforms of a reference. The default is 4.
    pub transforms: usize,
    /// Maximum number of keys and certificates that describe the key of a signature. The default is 16.
    pub keys: usize,
    /// Maximum length of the canonical content of all references of all signatures together, in bytes. References may overlap, and a piece
    /// of less than 16 bytes, such as a tag, counts as 16. The attachments that the signatures of a message cover, and the texts of the
    /// parts in what they cover, have the same limit, together. A part counts as at least 16 KiB. The default is 256 MiB.
    pub content: usize,
    /// Maximum number of `xop:Include` elements in a message with MTOM. The default is 1,000.
    pub includes: usize,
    /// Limits of the document itself, and of each attachment that is XML.
    pub document: castile_xml::Limits,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            signatures: 8,
            references: 30,
            ids: 10_000,
            transforms: 4,
            keys: 16,
            content: 256 << 20,
            includes: 1_000,
            document: castile_xml::Limits::default(),
        }
    }
}
