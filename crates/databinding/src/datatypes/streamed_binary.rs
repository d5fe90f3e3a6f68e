use super::{Base64Binary, SimpleType};
use crate::xop::{Binary, Reference};

/// `xs:base64Binary` whose bytes may be in an attachment, which is then read and sent as it comes: what it may take is not
/// bounded by memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum StreamedBinary {
    /// The bytes, which stand in the document.
    Inline(Vec<u8>),
    /// The URL of an attachment: the `href` of an `xop:Include`. A message with one is sent as MTOM, and the attachment
    /// with it.
    Attached(String),
}

impl Default for StreamedBinary {
    fn default() -> Self {
        StreamedBinary::Inline(Vec::new())
    }
}

crate::simple_type!(StreamedBinary);
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
            // It has no form as text.
            StreamedBinary::Attached(_) => false,
        }
    }
}
