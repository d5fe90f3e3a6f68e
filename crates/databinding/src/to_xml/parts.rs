//! Binary values beside the document (XOP).

use super::Encoder;
use crate::error::Error;
use crate::xop::{NAMESPACE, Part, Parts};

impl Encoder {
    /// Returns the encoder with XOP switched on: binary values of at least `threshold` bytes become parts, which
    /// [`into_parts`](Self::into_parts) returns. Their Content-IDs are a number, a dot and `id`. `id` should differ from that
    /// of any other message and consist of characters that need no escaping in a URL.
    pub fn with_parts(mut self, threshold: usize, id: &str) -> Self {
        self.parts = Some(Box::new(Parts { threshold, length: 0, id: id.to_owned(), parts: Vec::new() }));
        self
    }

    /// Whether a value that is itself a reference to a part was written. The document is then only complete in an XOP
    /// package.
    pub fn has_references(&self) -> bool {
        self.has_references
    }

    /// Returns what was written, and its parts in the order in which the document refers to them.
    ///
    /// # Errors
    /// The first value that XML can't represent, or a limit or a charge that stopped the encoder.
    pub fn into_parts(mut self) -> Result<(Vec<u8>, Vec<Part>), Error> {
        let parts = self.parts.take().map_or_else(Vec::new, |parts| parts.parts);
        self.finish().map(|out| (out, parts))
    }

    /// Writes a value as a part with a reference to it, if it is long enough. Returns `false` otherwise.
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

    /// Writes a reference to a URL. Returns `false` if there is none.
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

/// Returns the value of `xmime:contentType` in the start tag at the end of `out`.
fn content_type(out: &[u8]) -> Option<String> {
    const NAME: &str = ":contentType=\"";
    let start = out.iter().rposition(|&byte| byte == b'<')?;
    let tag = std::str::from_utf8(&out[start..]).ok()?;
    let value = &tag[tag.find(NAME)? + NAME.len()..];
    let value = &value[..value.find('"')?];
    // Media types contain no characters that are escaped.
    (!value.contains('&')).then(|| value.to_owned())
}
