//! What a head must have before anything is made of it (RFC 9112 §3.2, §6.1).
//!
//! hyper has checked its syntax, and refused what leaves the end of the body in doubt: a Transfer-Encoding in HTTP/1.0 or one
//! that doesn't end in `chunked`, and Content-Lengths that differ. Where both headers are there, chunks count, and the
//! connection is closed behind the answer.

use std::net::Ipv6Addr;

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Version, header};

use super::refusal::Refusal;
use crate::headers::single;

/// Checks what HTTP asks of every request.
pub(super) fn check(head: &Parts) -> Result<(), Refusal> {
    match only(&head.headers, &header::HOST, "Host")? {
        None if head.version >= Version::HTTP_11 => return Err(Refusal::NoHost),
        Some(host) if !is_authority(host.as_bytes()) => return Err(Refusal::Authority { of: "Host header" }),
        _ => {}
    }
    check_target(head)?;
    // A look is enough where there is none.
    if head.headers.contains_key(header::TRANSFER_ENCODING) {
        check_codings(&head.headers)?;
    }
    Ok(())
}

/// The value of a header that may stand once, which `name` shows.
///
/// # Errors
/// That it stands there more often.
pub(super) fn only<'a>(
    headers: &'a HeaderMap,
    header: &HeaderName,
    name: &'static str,
) -> Result<Option<&'a HeaderValue>, Refusal> {
    single(headers, header).map_err(|found| Refusal::Repeated { name, found })
}

/// The target is a path, an absolute URL, or `*` of OPTIONS (RFC 9112 §3.2).
fn check_target(head: &Parts) -> Result<(), Refusal> {
    let Some(authority) = head.uri.authority() else {
        return Ok(());
    };
    if !is_authority(authority.as_str().as_bytes()) {
        return Err(Refusal::Authority { of: "authority of the target" });
    }
    if head.uri.scheme().is_none() && head.method != Method::CONNECT {
        return Err(Refusal::Target);
    }
    Ok(())
}

/// The codings before the last one, which hyper found to be `chunked`.
fn check_codings(headers: &HeaderMap) -> Result<(), Refusal> {
    let values = headers.get_all(header::TRANSFER_ENCODING).iter();
    let codings = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let mut chunked = 0;
    for coding in codings.map(<[u8]>::trim_ascii).filter(|coding| !coding.is_empty()) {
        if !coding.eq_ignore_ascii_case(b"chunked") {
            return Err(Refusal::TransferCoding);
        }
        chunked += 1;
    }
    if chunked > 1 { Err(Refusal::ChunkedTwice) } else { Ok(()) }
}

/// Whether a value is `uri-host [ ":" port ]` (RFC 9110 §7.2). The host may be empty, as in URLs that have none.
pub(super) fn is_authority(value: &[u8]) -> bool {
    let (host, port) = match value.strip_prefix(b"[") {
        Some(bracketed) => match bracketed.iter().position(|byte| *byte == b']') {
            Some(end) if is_ipv6(&bracketed[..end]) => (&b""[..], &bracketed[end + 1..]),
            _ => return false,
        },
        None => value.split_at(value.iter().position(|byte| *byte == b':').unwrap_or(value.len())),
    };
    is_name(host) && is_port(port)
}

/// Whether there is no port, or a colon and a number that may be missing.
fn is_port(port: &[u8]) -> bool {
    match port.split_first() {
        None => true,
        Some((b':', [])) => true,
        Some((b':', digits)) if digits.iter().all(u8::is_ascii_digit) => {
            std::str::from_utf8(digits).is_ok_and(|digits| digits.parse::<u16>().is_ok())
        }
        _ => false,
    }
}

/// Whether a value is a `reg-name` (RFC 3986 §3.2.2), which IPv4 addresses are as well.
fn is_name(mut name: &[u8]) -> bool {
    while let Some((first, rest)) = name.split_first() {
        name = match first {
            b'%' => match rest {
                [a, b, rest @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => rest,
                _ => return false,
            },
            byte if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) => rest,
            _ => return false,
        };
    }
    true
}

/// Whether a value is an address, with or without a zone (RFC 6874).
fn is_ipv6(value: &[u8]) -> bool {
    let (address, zone) = value.split_at(value.iter().position(|byte| *byte == b'%').unwrap_or(value.len()));
    let is_address = std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok());
    let is_zone = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(byte);
    is_address && zone.iter().all(is_zone)
}
