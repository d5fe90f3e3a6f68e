//! Content-IDs and the `cid:` URLs that refer to them (RFC 2392).

use std::fmt;
use std::fmt::Write;
use std::sync::Arc;

use crate::error::shown;
use crate::{Error, ErrorKind};

/// The most bytes of an identifier. All identifiers are stored to detect duplicates.
const MAX_LENGTH: usize = 998;

/// The identifier of a part within its message, without angle brackets: `1.4f6a@example.org`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId(Arc<str>);

impl ContentId {
    /// Parses the value of a Content-ID or of `start`, with angle brackets or, as some senders write it, without.
    ///
    /// # Errors
    /// [`ErrorKind::Head`] if it is empty, has more bytes than a line of a head (998, RFC 5322 §2.1.1), or contains
    /// white space, control characters or more angle brackets.
    pub fn parse(value: &str) -> Result<Self, Error> {
        let trimmed = value.trim();
        let id = trimmed.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).unwrap_or(trimmed);
        let stray = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>');
        if id.is_empty() || id.len() > MAX_LENGTH || id.contains(stray) {
            let message = format!("found {}, expected an identifier such as <1@example.org>", shown(value.as_bytes()));
            return Err(Error::new(ErrorKind::Head, message));
        }
        Ok(ContentId(id.into()))
    }

    /// Creates an identifier with 128 random bits. With a prefix and a dot, such as `1.…`, it is a valid identifier
    /// too.
    ///
    /// # Errors
    /// [`ErrorKind::System`] if the system has no random numbers.
    pub fn random() -> Result<Self, Error> {
        Ok(ContentId(format!("{}@castile", random_digits()?).into()))
    }

    /// Creates an identifier from a text that is known to be valid.
    pub(crate) fn new_unchecked(id: String) -> Self {
        ContentId(id.into())
    }

    /// Returns the identifier in a `cid:` URL, percent-decoded; `None` for other URLs.
    pub fn from_url(url: &str) -> Option<Self> {
        let (scheme, escaped) = url.trim().split_once(':')?;
        if !scheme.eq_ignore_ascii_case("cid") {
            return None;
        }
        ContentId::parse(&unescape(escaped)?).ok()
    }

    /// Returns the `cid:` URL. Characters that a URL can't have, or that XML would have to escape, are percent-encoded.
    pub fn to_url(&self) -> String {
        const UNESCAPED: &[u8] = b"-._~!$*+,;=:@()";
        let mut url = "cid:".to_owned();
        for byte in self.0.bytes() {
            if byte.is_ascii_alphanumeric() || UNESCAPED.contains(&byte) {
                url.push(char::from(byte));
            } else {
                // Writing to a `String` can't fail.
                let _ = write!(url, "%{byte:02X}");
            }
        }
        url
    }

    /// Returns the identifier, without angle brackets.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Shows the identifier as in a Content-ID, with angle brackets.
impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.0)
    }
}

/// Returns 128 random bits as hexadecimal digits.
pub(crate) fn random_digits() -> Result<String, Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)
        .map_err(|error| Error::new(ErrorKind::System, "the system has no random numbers").because(error))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bits)))
}

/// Decodes percent-escapes. Returns `None` if an escape is invalid or the bytes are not UTF-8.
fn unescape(escaped: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(escaped.len());
    let mut rest = escaped.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2)?;
        let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        bytes.push(digit(digits[0])? << 4 | digit(digits[1])?);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_and_their_urls() {
        for (value, id, url) in [
            ("<a@b.org>", "a@b.org", "cid:a@b.org"),
            (" SOAPPart ", "SOAPPart", "cid:SOAPPart"),
            ("-4737226364955758283", "-4737226364955758283", "cid:-4737226364955758283"),
            ("<http://example.org/me.png>", "http://example.org/me.png", "cid:http:%2F%2Fexample.org%2Fme.png"),
            ("<a%20b&c\"'ü>", "a%20b&c\"'ü", "cid:a%2520b%26c%22%27%C3%BC"),
        ] {
            let parsed = ContentId::parse(value).unwrap();
            assert_eq!((parsed.as_str(), parsed.to_url().as_str()), (id, url));
            assert_eq!(ContentId::from_url(url).as_ref(), Some(&parsed));
            assert_eq!(ContentId::parse(&parsed.to_string()).unwrap(), parsed);
        }
        let same =
            ["cid:http://example.org/me.png", "CID:http%3a//example.org/me.png", " cid:http:%2F/example.org/me.png"];
        for url in same {
            assert_eq!(ContentId::from_url(url).unwrap().as_str(), "http://example.org/me.png");
        }
    }

    #[test]
    fn invalid_content_ids_are_errors() {
        for value in ["", "<>", " ", "<a", "a>", "<<a>>", "a b", "a\r\nb", "a\0"] {
            assert_eq!(ContentId::parse(value).unwrap_err().kind(), ErrorKind::Head, "{value:?}");
        }
        for url in ["", "cid", "cid:", "mid:a@b", "http://a", "cid:%4", "cid:%zz", "cid:%ff", "cid:%0a"] {
            assert_eq!(ContentId::from_url(url), None, "{url}");
        }
    }
}
