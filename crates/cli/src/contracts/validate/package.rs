//! A message in a file: an envelope, or a package of an envelope and its attachments.

use std::collections::HashMap;

use anyhow::{Context, bail};
use castile_mime as mime;
use castile_mime::ContentId;
use castile_xml::Charset;

/// An envelope and its attachments.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) root: Vec<u8>,
    pub(super) charset: Option<Charset>,
    pub(super) parts: Vec<Part>,
    by_id: HashMap<ContentId, usize>,
    /// Whether the file is a package.
    pub(super) is_package: bool,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) id: Option<ContentId>,
    pub(super) content: Vec<u8>,
}

impl Package {
    /// Reads a file. It may begin with an HTTP or MIME header, with the boundary of a package, or with the envelope.
    pub(super) fn read(mut bytes: Vec<u8>, content_type: Option<&str>) -> anyhow::Result<Self> {
        let mut stated = content_type.map(str::to_owned);
        let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        if stated.is_none() && bytes[start..].first().is_some_and(|first| is_of_head(*first)) {
            // A boundary line may contain a colon, like a header field.
            if bytes[start..].starts_with(b"--") {
                stated =
                    boundary(&bytes[start..]).map(|boundary| format!("multipart/related; boundary=\"{boundary}\""));
            } else if let Some((length, of_head)) = head(&bytes[start..])? {
                stated = of_head;
                bytes.drain(..start + length);
            }
        }
        let Some(content_type) = stated else {
            return Ok(Package::plain(bytes, None));
        };
        let media_type =
            mime::MediaType::parse(&content_type).with_context(|| format!("the Content-Type {content_type:?}"))?;
        if media_type.essence() != "multipart/related" {
            let charset = media_type.parameter("charset").and_then(Charset::of_label);
            return Ok(Package::plain(bytes, charset));
        }
        Package::unpack(bytes, &content_type)
    }

    fn plain(root: Vec<u8>, charset: Option<Charset>) -> Self {
        Package { root, charset, parts: Vec::new(), by_id: HashMap::new(), is_package: false }
    }

    fn unpack(bytes: Vec<u8>, content_type: &str) -> anyhow::Result<Self> {
        let related = mime::Related::parse(content_type)?;
        let mut limits = mime::Limits::default();
        limits.parts = 1_000;
        let mut parser = mime::Parser::new(related.boundary(), limits);
        parser.feed(bytes.into());
        parser.finish();
        let mut root: Option<(Vec<u8>, Option<Charset>)> = None;
        let mut parts: Vec<Part> = Vec::new();
        // Whether the current part is the root part.
        let mut is_root = false;
        while let Some(event) = parser.next()? {
            match event {
                mime::Event::Part(head) => {
                    let is_start = related.start().is_none_or(|start| head.content_id() == Some(start));
                    is_root = root.is_none() && is_start;
                    if is_root {
                        let charset = head
                            .media_type()?
                            .and_then(|media_type| media_type.parameter("charset").and_then(Charset::of_label));
                        root = Some((Vec::new(), charset));
                    } else {
                        parts.push(Part { id: head.content_id().cloned(), content: Vec::new() });
                    }
                }
                mime::Event::Data(data) => match (is_root, &mut root, parts.last_mut()) {
                    (true, Some((root, _)), _) => root.extend_from_slice(&data),
                    (_, _, Some(part)) => part.content.extend_from_slice(&data),
                    _ => {}
                },
                mime::Event::PartEnd => {}
                mime::Event::End => break,
            }
        }
        match root {
            Some((root, charset)) => {
                let mut by_id = HashMap::new();
                for (number, part) in parts.iter().enumerate() {
                    part.id.iter().for_each(|id| {
                        by_id.entry(id.clone()).or_insert(number);
                    });
                }
                Ok(Package { root, charset, parts, by_id, is_package: true })
            }
            None => bail!("the package has no root part: none has the Content-ID that `start` names"),
        }
    }

    /// Returns the part with this Content-ID.
    pub(super) fn part(&self, id: &ContentId) -> Option<&Part> {
        self.by_id.get(id).map(|number| &self.parts[*number])
    }
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
        let is_first = number == 0 && (line.starts_with("HTTP/") || line.contains(" HTTP/"));
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
        let package = Package::read(text.as_bytes().to_vec(), content_type).unwrap();
        (String::from_utf8(package.root).unwrap(), package.parts.len())
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
        assert_eq!(read(packed, Some("multipart/related; boundary=b; start=\"<a>\"")), ("x".to_owned(), 1));
    }
}
