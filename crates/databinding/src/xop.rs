//! XOP: binary values that travel beside the document (XML-binary Optimized Packaging 1.0, §3).
//!
//! `<xop:Include href="cid:…"/>` replaces the text of an element whose type is `xs:base64Binary`, or derived from it by
//! restriction. A [`Decoder`] with [`Includes`] reads such references in the same way as the text. An [`Encoder`] with a
//! threshold ([`Encoder::with_parts`]) writes them for long values. Both are off by default and then cost nothing.
//!
//! [`Decoder`]: crate::Decoder
//! [`Encoder`]: crate::Encoder
//! [`Encoder::with_parts`]: crate::Encoder::with_parts

use std::fmt::Debug;

pub use castile_datatypes::{Binary, Reference};

/// The namespace of `xop:Include`.
pub const NAMESPACE: &str = "http://www.w3.org/2004/08/xop/include";

/// The source of the content that `xop:Include` elements refer to.
pub trait Includes: Debug {
    /// Returns the content that `href`, a `cid:` URL as it was written, refers to. `None` means that the content is not
    /// available yet: decoding continues with an empty value that is not checked, and the document must be read again when
    /// the content is there.
    ///
    /// The implementation calls `charge` with the number of bytes before it hands them out or copies them. If `charge`
    /// returns `false` the result is ignored.
    ///
    /// A small document may refer to a large part very often. The implementation must bound the sum of the bytes that it
    /// hands out, or hand out each part once. Content is requested again if a document is read a second time in lenient mode.
    ///
    /// # Errors
    /// A message that says why there is no content. It follows the location in the error.
    fn content(&self, href: &str, charge: &mut dyn FnMut(usize) -> bool) -> Result<Option<Vec<u8>>, String>;

    /// Notes that the `xop:Include` at this byte offset is read as a binary value. An element that is read again is noted again.
    fn note(&self, offset: usize) {
        let _ = offset;
    }
}

/// A value that an [`Encoder`](crate::Encoder) put beside the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The Content-ID by which the document refers to the part, without angle brackets.
    pub content_id: String,
    /// The media type from `xmime:contentType` on the element (Describing Media Content of Binary Data in XML §2).
    pub content_type: Option<String>,
    /// The bytes.
    pub content: Vec<u8>,
}

/// The values that an [`Encoder`](crate::Encoder) has put beside the document.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) threshold: usize,
    /// The sum of their lengths.
    pub(crate) length: usize,
    pub(crate) id: String,
    pub(crate) parts: Vec<Part>,
}
