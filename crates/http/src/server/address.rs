//! The address that a served contract names.

use std::net::SocketAddr;

use castile_soap::{Description, Document};
use http::request::Parts;
use http::uri::Scheme;
use http::{HeaderName, header};

const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Where clients that read the contract are sent (`soap:address`, WSDL 1.1 §3.8).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// The path that was asked, at the host that was asked if that is one of `hosts`.
    ///
    /// Other requests are told the first of `hosts`. If there is none, they are told the address of this machine that their
    /// connection came to, which only a [`Server`](super::Server) knows: elsewhere the contract stays as it is. So no request
    /// decides where others are sent, even if a cache hands its answer on to them.
    Asked {
        /// The scheme, which a request doesn't tell.
        scheme: Scheme,
        /// The hosts that clients may use, as their URLs name them: `example.org`, or `example.org:8080` with a port. Upper
        /// and lower case are the same.
        hosts: Vec<String>,
        /// Whether an X-Forwarded-Proto header overrides the scheme. Only right behind a proxy that sets the header on
        /// every request; anyone else can write what they like there.
        trust_forwarded_proto: bool,
    },
    /// Always this URL: for a server behind a proxy that rewrites paths, or under axum's `nest_service`, which hides
    /// the path that was asked.
    Fixed(String),
}

impl Default for Address {
    /// The address that a connection came to, over plain http.
    fn default() -> Self {
        Address::Asked { scheme: Scheme::HTTP, hosts: Vec::new(), trust_forwarded_proto: false }
    }
}

/// The address that a connection came to, as an extension of its requests.
#[derive(Clone, Copy)]
pub(super) struct Local(pub(super) SocketAddr);

/// A document of the contract with its `soap:address` replaced, and where the documents are that it imports. The address stays
/// as it is where none is known, and the documents are beside this one then.
pub(super) fn rewrite(description: &Description, document: &Document, address: &Address, head: &Parts) -> String {
    let url = match address {
        Address::Fixed(url) => Some(url.clone()),
        Address::Asked { scheme, hosts, trust_forwarded_proto } => asked(head, scheme, hosts, *trust_forwarded_proto),
    };
    let beside = url.as_deref().and_then(|url| url.split('?').next()).unwrap_or_default();
    replace_locations(document.text, |attribute, location| {
        let imported = document.imports.iter().find(|(of_import, _)| *of_import == location);
        match (imported, &url) {
            (Some((_, query)), _) => Some(escape(&format!("{beside}?{query}"))),
            (None, Some(url)) if attribute == LOCATION && location == description.address => Some(escape(url)),
            _ => None,
        }
    })
}

fn asked(head: &Parts, scheme: &Scheme, hosts: &[String], trust_forwarded_proto: bool) -> Option<String> {
    // An absolute request target wins over Host (RFC 9112 §3.2.2).
    let named = match head.uri.authority() {
        Some(authority) => authority.as_str().as_bytes(),
        None => head.headers.get(header::HOST).map_or(&b""[..], |host| host.as_bytes()),
    };
    let allowed = hosts.iter().find(|host| host.as_bytes().eq_ignore_ascii_case(named)).or(hosts.first());
    let authority = match allowed {
        Some(host) => host.clone(),
        None => {
            let Local(local) = *head.extensions.get()?;
            // A socket that takes both kinds of addresses has one kind; and a zone means nothing elsewhere.
            SocketAddr::new(local.ip().to_canonical(), local.port()).to_string()
        }
    };
    let forwarded = head.headers.get(X_FORWARDED_PROTO).map(|proto| proto.as_bytes());
    let scheme = match forwarded.filter(|_| trust_forwarded_proto) {
        Some(b"http") => &Scheme::HTTP,
        Some(b"https") => &Scheme::HTTPS,
        _ => scheme,
    };
    Some(format!("{scheme}://{authority}{}", head.uri.path()))
}

/// The attribute that has an address in a `soap:address`, and the location of a document in an `import` of WSDL.
const LOCATION: &str = "location";
/// The attribute that has the location of a document in a schema.
const SCHEMA_LOCATION: &str = "schemaLocation";

/// Replaces the values of `location` and `schemaLocation` attributes by what `of` makes of the attribute and its value, however
/// that is written.
fn replace_locations(text: &str, of: impl Fn(&str, &str) -> Option<String>) -> String {
    let mut rewritten = String::with_capacity(text.len() + 64);
    let mut rest = text;
    while let Some((attribute, before, value, after)) = next_location(rest) {
        rewritten.push_str(before);
        // What was read is trimmed.
        let url = of(attribute, unescape(value).trim_matches(WHITE_SPACE));
        rewritten.push_str(url.as_deref().unwrap_or(value));
        rest = after;
    }
    rewritten + rest
}

/// White space of XML (XML 1.0 §2.3).
const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// The next attribute `location` or `schemaLocation`, its value, and what stands before and after that.
fn next_location(text: &str) -> Option<(&'static str, &str, &str, &str)> {
    const END: &str = "ocation";
    text.match_indices(END).find_map(|(start, _)| {
        let end = start + END.len();
        let is_named = |name: &&str| {
            let before = text[..end].strip_suffix(*name);
            before.is_some_and(|before| before.ends_with(WHITE_SPACE))
        };
        let attribute = [LOCATION, SCHEMA_LOCATION].into_iter().find(is_named)?;
        let equals = text[end..].trim_start_matches(WHITE_SPACE).strip_prefix('=')?;
        let quoted = equals.trim_start_matches(WHITE_SPACE);
        let quote = quoted.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
        let (value, _) = quoted[1..].split_once(quote)?;
        let start = text.len() - quoted.len() + 1;
        let (before, from) = text.split_at(start);
        let (value, after) = from.split_at(value.len());
        Some((attribute, before, value, after))
    })
}

/// The value of an attribute from how it is written: references resolved, white space made spaces (XML 1.0 §3.3.3).
fn unescape(value: &str) -> String {
    let mut parts = value.split('&');
    let mut unescaped = parts.next().unwrap_or_default().replace(WHITE_SPACE, " ");
    for part in parts {
        let reference = part.split_once(';').and_then(|(name, rest)| Some((referred(name)?, rest)));
        let (c, rest) = reference.unwrap_or(('&', part));
        unescaped.push(c);
        unescaped.push_str(&rest.replace(WHITE_SPACE, " "));
    }
    unescaped
}

/// What a reference to a character or a predefined entity means (XML 1.0 §4.1, §4.6).
fn referred(name: &str) -> Option<char> {
    let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => match name.strip_prefix('#')? {
            decimal if !decimal.starts_with('x') => number(decimal, 10),
            hexadecimal => number(&hexadecimal[1..], 16),
        },
    }
}

fn escape(url: &str) -> String {
    url.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\'', "&apos;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(wsdl: &str, address: &str) -> String {
        replace_locations(wsdl, |attribute, value| {
            (attribute == LOCATION && value == address).then(|| "URL".to_owned())
        })
    }

    #[test]
    fn the_address_is_found_however_it_is_written() {
        for (address, wsdl, expected) in [
            ("http://a/", "<b location=\"http://a/\"/>", "<b location=\"URL\"/>"),
            ("http://a/", "<b location='http://a/'/>", "<b location='URL'/>"),
            ("http://a/", "<b\n  location =\r\n\t' http://a/\n'/>", "<b\n  location =\r\n\t'URL'/>"),
            ("http://a/?b&c", "<b location='http://a/?b&amp;c'/>", "<b location='URL'/>"),
            ("http://a/?b&c", "<b location='http://a/?b&#38;c'/>", "<b location='URL'/>"),
            ("http://a/?b&c", "<b location='http:&#x2f;/a/?b&#x26;c'/>", "<b location='URL'/>"),
            ("<>\"'&lt;", "<b location='&lt;&gt;&quot;&apos;&amp;lt;'/>", "<b location='URL'/>"),
            ("http://é/", "<é location='http://é/'>é</é>", "<é location='URL'>é</é>"),
            (
                "http://a/",
                "<b location='http://c/'/><b location='http://a/'/><b location='http://a/'/>",
                "<b location='http://c/'/><b location='URL'/><b location='URL'/>",
            ),
        ] {
            assert_eq!(replaced(wsdl, address), expected, "{wsdl}");
        }
    }

    #[test]
    fn nothing_else_is_replaced() {
        for wsdl in [
            "",
            "<b location='http://a/b'/>",
            "<b schemaLocation='http://a/' x:location='http://a/' locations='http://a/'/>",
            "<b>location http://a/</b>",
            "the location = http://a/",
            "<b location='http://a/",
            "<b location='&&; &#; &#x; &#xD800; &none;'/>",
            "<b location",
        ] {
            assert_eq!(replaced(wsdl, "http://a/"), wsdl);
        }
    }
}
