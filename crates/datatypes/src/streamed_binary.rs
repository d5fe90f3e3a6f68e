use crate::{Base64Binary, Binary, Reference, SimpleType};

/// An `xs:base64Binary` value whose bytes may be in an attachment. The attachment is streamed in both directions, so its size
/// is not bounded by memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum StreamedBinary {
    /// Bytes in the document.
    Inline(Vec<u8>),
    /// The URL of an attachment: the `href` of an `xop:Include`. A message with such a value is sent as MTOM, together with
    /// the attachment.
    Attached(String),
}

impl Default for StreamedBinary {
    fn default() -> Self {
        StreamedBinary::Inline(Vec::new())
    }
}

crate::facet_value!(StreamedBinary);

impl SimpleType for StreamedBinary {
    const NAME: &'static str = Base64Binary::NAME;
    const BINARY: Option<Binary<Self>> = Some(Binary {
        from: StreamedBinary::Inline,
        bytes: |value| match value {
            StreamedBinary::Inline(bytes) => bytes,
            StreamedBinary::Attached(_) => &[],
        },
        reference: Some(Reference {
            from: StreamedBinary::Attached,
            url: |value| match value {
                StreamedBinary::Inline(_) => None,
                StreamedBinary::Attached(url) => Some(url),
            },
        }),
    });

    fn parse(text: &str) -> Result<Self, Option<String>> {
        Base64Binary::parse(text).map(|bytes| StreamedBinary::Inline(bytes.0))
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        match self {
            StreamedBinary::Inline(bytes) => Base64Binary(bytes.clone()).write(out),
            // An attachment has no text form.
            StreamedBinary::Attached(_) => false,
        }
    }
}
