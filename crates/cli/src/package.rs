//! A message in a file: an envelope, or a package of an envelope and its attachments.

use anyhow::{Context, bail};
use bytes::Bytes;
use castile_mime as mime;
use castile_mime::{Packaging, Related};
use castile_soap::Received;
use castile_xml::Charset;
use futures_util::FutureExt;
use http_body_util::Full;

/// The maximum number of parts of a package in a file.
const MAX_PARTS: u32 = 1_000;

/// A message in memory, whose attachments were not read yet.
#[derive(Debug)]
pub(crate) struct StoredMessage {
    /// The envelope, or the package.
    pub(crate) bytes: Bytes,
    /// The charset of an envelope without a package.
    pub(crate) charset: Option<Charset>,
    /// The media type of a package.
    pub(crate) related: Option<Related>,
}

impl StoredMessage {
    /// Reads a file. It may begin with an HTTP or MIME header, with the boundary of a package, or with the envelope.
    pub(crate) fn of(bytes: Vec<u8>, content_type: Option<&str>) -> anyhow::Result<Self> {
        let mut bytes = Bytes::from(bytes);
        let mut stated = content_type.map(str::to_owned);
        let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        if stated.is_none() && bytes[start..].first().is_some_and(|first| is_of_head(*first)) {
            // A boundary line may contain a colon, like a header field.
            if bytes[start..].starts_with(b"--") {
                stated =
                    boundary(&bytes[start..]).map(|boundary| format!("multipart/related; boundary=\"{boundary}\""));
            } else if let Some((length, of_head)) = head(&bytes[start..])? {
                stated = of_head;
                bytes = bytes.slice(start + length..);
            }
        }
        let Some(content_type) = stated else {
            return Ok(StoredMessage { bytes, charset: None, related: None });
        };
        let media_type =
            mime::MediaType::parse(&content_type).with_context(|| format!("the Content-Type {content_type:?}"))?;
        if media_type.essence() != "multipart/related" {
            let charset = media_type.parameter("charset").and_then(Charset::of_label);
            return Ok(StoredMessage { bytes, charset, related: None });
        }
        let related = Related::parse(&content_type)?;
        if bytes.trim_ascii_start().starts_with(b"<") {
            bail!(
                "its Content-Type is that of a package, and it is an envelope alone, as `castile call` shows it: \
                 `castile call --save-request` writes the whole package"
            );
        }
        Ok(StoredMessage { bytes, charset: None, related: Some(related) })
    }

    /// Returns the message as if it had arrived.
    pub(crate) fn received(&self) -> Result<Received, mime::Error> {
        match &self.related {
            Some(related) => received(related, self.bytes.clone()),
            None => Ok(Received { charset: self.charset, ..Received::from(self.bytes.clone()) }),
        }
    }
}

/// Reads a package that is in memory.
pub(crate) fn received(related: &Related, package: Bytes) -> Result<Received, mime::Error> {
    // What is stored of it stays in memory.
    let mut limits = mime::Limits::default();
    limits.parts = MAX_PARTS;
    limits.root_size = package.len();
    limits.memory = package.len();
    limits.stored = package.len() as u64;
    let message = at_once(mime::Message::read(related, Full::new(package), limits))?;
    let media_type = message.head.media_type()?;
    let of_root = media_type.as_ref().map(mime::MediaType::essence).or(related.root_type());
    let is_mtom = of_root.is_some_and(|essence| essence.eq_ignore_ascii_case("application/xop+xml"));
    Ok(Received {
        charset: media_type.and_then(|media_type| media_type.parameter("charset").and_then(Charset::of_label)),
        packaging: Some(if is_mtom { Packaging::Mtom } else { Packaging::Attachments }),
        attachments: message.attachments,
        ..Received::from(message.root)
    })
}

/// Returns what need not be waited for: packages in memory are complete, and keys from files are always ready.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap_or_else(|| unreachable!("nothing has to be waited for"))
}

/// Returns whether a header or boundary may begin with this byte. XML begins with another byte in any encoding.
fn is_of_head(first: u8) -> bool {
    first.is_ascii_alphabetic() || first == b'-'
}

/// Returns the length of the header, including an HTTP start line, and its Content-Type.
fn head(bytes: &[u8]) -> anyhow::Result<Option<(usize, Option<String>)>> {
    /// The maximum length of a header.
    const MAX_HEADER_LENGTH: usize = 64 << 10;
    let near = &bytes[..bytes.len().min(MAX_HEADER_LENGTH)];
    let lines = [&b"\r\n\r\n"[..], b"\n\n"];
    let end = lines.iter().filter_map(|end| Some(find(near, end)? + end.len())).min();
    let Some((end, text)) = end.and_then(|end| Some((end, std::str::from_utf8(&near[..end]).ok()?))) else {
        return Ok(None);
    };
    let mut fields: Vec<(String, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let is_first = number == 0 && (line.starts_with("HTTP/") || is_request_line(line));
        match (line.split_once(':'), fields.last_mut()) {
            _ if is_first || line.is_empty() => {}
            (_, Some((_, value))) if line.starts_with([' ', '\t']) => *value += line,
            (Some((name, value)), _) if !name.contains(char::is_whitespace) => {
                fields.push((name.to_owned(), value.trim().to_owned()));
            }
            _ => return Ok(None),
        }
    }
    let field = |name: &str| fields.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value);
    if let Some(coding) = field("transfer-encoding").or(field("content-encoding")) {
        bail!("its body has the content encoding {coding}, expected the decoded body");
    }
    Ok(Some((end, field("content-type").cloned())))
}

/// Returns whether a line begins a request. `castile call --dry-run` shows it without the version of HTTP.
fn is_request_line(line: &str) -> bool {
    let method = line.split(' ').next().unwrap_or_default();
    line.contains(' ') && !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Returns the boundary of a package without a header.
fn boundary(bytes: &[u8]) -> Option<&str> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim_end();
    line.strip_prefix("--").filter(|boundary| !boundary.is_empty() && boundary.len() <= 70 && !boundary.contains('"'))
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, content_type: Option<&str>) -> (String, usize) {
        let received = StoredMessage::of(text.as_bytes().to_vec(), content_type).unwrap().received().unwrap();
        let attachments = at_once(received.attachments.collect(1 << 20)).unwrap();
        (String::from_utf8(received.message.into()).unwrap(), attachments.len())
    }

    #[test]
    fn a_file_may_begin_with_a_head_a_boundary_or_the_envelope() {
        let packed = "--b\r\nContent-ID: <r>\r\n\r\n<e/>\r\n--b\r\nContent-ID: <a>\r\n\r\nx\r\n--b--\r\n";
        let plain = ("<e/>".to_owned(), 0);
        let one = ("<e/>".to_owned(), 1);
        assert_eq!(read("<e/>", None), plain);
        assert_eq!(read(packed, None), one);
        assert_eq!(read(&packed.replace("--b", "--uuid:0-1"), None), one);
        let related = "multipart/related;\r\n boundary=b";
        assert_eq!(read(&format!("Content-Type: {related}\r\n\r\n{packed}"), None), one);
        assert_eq!(read(&format!("HTTP/1.1 200 OK\r\nContent-Type: {related}\r\n\r\n{packed}"), None), one);
        assert_eq!(read("POST / HTTP/1.1\nContent-Type: text/xml\n\n<e/>", None), plain);
        // As `castile call --dry-run` shows it.
        assert_eq!(read("POST http://a/b\ncontent-type: text/xml\n\n<e/>", None), plain);
        let shown = format!("POST http://a/\nContent-Type: {related}\n\n<e/>\nattachment: image/png");
        let error = StoredMessage::of(shown.into(), None).unwrap_err().to_string();
        assert!(error.contains("--save-request"), "{error}");
        assert_eq!(read(packed, Some("multipart/related; boundary=b; start=\"<a>\"")), ("x".to_owned(), 1));
    }
}
