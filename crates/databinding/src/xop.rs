//! XOP: binary values that travel beside the document (XML-binary Optimized Packaging 1.0, §3).
//!
//! `<xop:Include href="cid:…"/>` stands for the text of an element whose type is `xs:base64Binary`, or derived from it
//! by restriction. A [`Decoder`](crate::Decoder) that is told what such references lead to reads them as the text would be read; an
//! [`Encoder`] that is told how long a value has to be writes them. Without that, nothing is different from other
//! documents, and costs nothing.

use std::fmt::Debug;

use crate::error::Error;
use crate::to_xml::Encoder;

/// The namespace of `xop:Include`.
pub const NAMESPACE: &str = "http://www.w3.org/2004/08/xop/include";

/// What `xop:Include` elements refer to.
pub trait Includes: Debug {
    /// The content that `href` names: a `cid:` URL, as it was written. `None` if it is not at hand yet: reading goes on
    /// with an empty value that nothing is checked of, and the document is to be read anew once the content is there.
    ///
    /// `charge` is told how many bytes there are before they are handed out, or copied for that. Where it grants no memory for them
    /// what is returned doesn't matter.
    ///
    /// A small document may refer to a large part very often: whoever implements this bounds the sum of what it hands
    /// out, or hands out each part once. A document that is read anew, leniently, asks anew.
    ///
    /// # Errors
    /// Why there is none, in words that follow the place in the document.
    fn content(&self, href: &str, charge: &mut dyn FnMut(usize) -> bool) -> Result<Option<Vec<u8>>, String>;
}

/// How a type of bytes is made of them.
#[derive(Clone, Copy, Debug)]
pub struct Binary<T> {
    /// The value of these bytes.
    pub from: fn(Vec<u8>) -> T,
    /// The bytes of a value.
    pub bytes: fn(&T) -> &[u8],
    /// Present if a value may be a reference, whose content is somebody else's to read.
    pub reference: Option<Reference<T>>,
}

/// How a type holds references.
#[derive(Clone, Copy, Debug)]
pub struct Reference<T> {
    /// The value that is a reference to this URL.
    pub from: fn(String) -> T,
    /// The URL, if the value is a reference.
    pub url: fn(&T) -> Option<&str>,
}

/// A value that an [`Encoder`] put beside the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The Content-ID, without angle brackets, that the document refers to by.
    pub content_id: String,
    /// The media type that the element says with `xmime:contentType` (Describing Media Content of Binary Data in XML §2).
    pub content_type: Option<String>,
    /// The bytes.
    pub content: Vec<u8>,
}

/// What an [`Encoder`] puts beside the document.
#[derive(Debug)]
pub(crate) struct Parts {
    threshold: usize,
    /// How many bytes they have together.
    length: usize,
    id: String,
    parts: Vec<Part>,
}

impl Encoder {
    /// This encoder, which puts binary values of at least `threshold` bytes beside the document:
    /// [`into_parts`](Self::into_parts) has them. Their Content-IDs are a number, a dot and `id`, which should be unlike
    /// that of any other message, and consist of what may stand in a URL as it is.
    pub fn with_parts(mut self, threshold: usize, id: &str) -> Self {
        self.parts = Some(Box::new(Parts { threshold, length: 0, id: id.to_owned(), parts: Vec::new() }));
        self
    }

    /// Whether a value was written that is itself a reference to a part: the document makes sense in an XOP package alone.
    pub fn has_references(&self) -> bool {
        self.has_references
    }

    /// What was written, and the values beside it, in the order in which the document refers to them.
    ///
    /// # Errors
    /// As for [`finish`](Self::finish).
    pub fn into_parts(mut self) -> Result<(Vec<u8>, Vec<Part>), Error> {
        let parts = self.parts.take().map_or_else(Vec::new, |parts| parts.parts);
        self.finish().map(|out| (out, parts))
    }

    /// Writes a value as a reference if it is long enough. `false` if it isn't.
    #[inline(never)]
    pub(crate) fn include(&mut self, content: &[u8]) -> bool {
        if self.parts.as_ref().is_none_or(|parts| content.len() < parts.threshold) {
            return false;
        }
        let Some(parts) = self.parts.as_mut() else { return false };
        parts.length += content.len();
        let length = parts.length;
        if !self.grants(content.len(), length) {
            return true;
        }
        let Some(parts) = self.parts.as_mut() else { return false };
        let content_id = format!("{}.{}", parts.parts.len() + 1, parts.id);
        let url = format!("cid:{content_id}");
        let content_type = content_type(&self.out);
        parts.parts.push(Part { content_id, content_type, content: content.to_vec() });
        self.refer(&url);
        true
    }

    /// Writes a value that is a reference. `false` if it is none.
    #[inline(never)]
    pub(crate) fn reference(&mut self, url: Option<&str>) -> bool {
        let Some(url) = url else { return false };
        self.has_references = true;
        self.refer(url);
        true
    }

    fn refer(&mut self, url: &str) {
        self.raw("<xop:Include");
        self.attribute("xmlns:xop", &NAMESPACE.to_owned());
        self.attribute("href", &url.to_owned());
        self.raw("/>");
    }
}

/// The value of `xmime:contentType` in the start tag that `out` ends with.
fn content_type(out: &[u8]) -> Option<String> {
    const NAME: &str = ":contentType=\"";
    let start = out.iter().rposition(|&byte| byte == b'<')?;
    let tag = std::str::from_utf8(&out[start..]).ok()?;
    let value = &tag[tag.find(NAME)? + NAME.len()..];
    let value = &value[..value.find('"')?];
    // A media type has nothing that would be escaped.
    (!value.contains('&')).then(|| value.to_owned())
}
