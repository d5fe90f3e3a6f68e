//! Checks the head of a request before it is processed (RFC 9112 §3.2, §6.1).
//!
//! hyper has checked its syntax. It has also rejected requests whose body has no clear end: with a Transfer-Encoding in
//! HTTP/1.0, with one that doesn't end in `chunked`, or with different Content-Lengths. If both headers are present,
//! the body is chunked, and the connection is closed after the answer.

use std::net::Ipv6Addr;

use http::{HeaderMap, HeaderValue, Method, Request, Version, header};

use super::refusal::Refusal;
use crate::headers::{Field, Fields};

/// Checks the requirements of HTTP for every request.
pub(super) fn check<B>(head: &Request<B>, fields: &Fields<'_>) -> Result<(), Refusal> {
    match only(fields.host, "Host")? {
        None if head.version() >= Version::HTTP_11 => return Err(Refusal::NoHost),
        Some(host) if !is_authority(host.as_bytes()) => return Err(Refusal::Authority { of: "Host header" }),
        _ => {}
    }
    check_target(head)?;
    if fields.has_transfer_encoding { check_codings(head.headers()) } else { Ok(()) }
}

/// Returns the value of a header that may occur only once. `name` is used in the error.
///
/// # Errors
/// The header occurs more than once.
pub(super) fn only<'a>(field: Field<'a>, name: &'static str) -> Result<Option<&'a HeaderValue>, Refusal> {
    field.single().map_err(|found| Refusal::Repeated { name, found })
}

/// Checks that the target is a path, an absolute URL, or the `*` of OPTIONS (RFC 9112 §3.2).
fn check_target<B>(head: &Request<B>) -> Result<(), Refusal> {
    let Some(authority) = head.uri().authority() else {
        return Ok(());
    };
    if !is_authority(authority.as_str().as_bytes()) {
        return Err(Refusal::Authority { of: "authority of the target" });
    }
    if head.uri().scheme().is_none() && *head.method() != Method::CONNECT {
        return Err(Refusal::Target);
    }
    Ok(())
}

/// Checks the codings before the last one, which is `chunked` (checked by hyper).
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

/// Returns whether a value is `uri-host [ ":" port ]` (RFC 9110 §7.2). The host may be empty, as in URLs without one.
pub(super) fn is_authority(value: &[u8]) -> bool {
    let port = match value.strip_prefix(b"[") {
        Some(bracketed) => match bracketed.iter().position(|byte| *byte == b']') {
            Some(end) if is_ipv6(&bracketed[..end]) => &bracketed[end + 1..],
            _ => return false,
        },
        None => after_name(value),
    };
    is_port(port)
}

/// Returns whether the text is empty, or a colon and an optional number.
fn is_port(port: &[u8]) -> bool {
    let Some((colon, digits)) = port.split_first() else { return true };
    let number = digits.iter().try_fold(0, |number: u32, byte| {
        let number = number * 10 + u32::from(byte.wrapping_sub(b'0'));
        (byte.is_ascii_digit() && number <= u32::from(u16::MAX)).then_some(number)
    });
    *colon == b':' && number.is_some()
}

/// The unescaped bytes of a `reg-name`: `unreserved` and `sub-delims` (RFC 3986 §2.2, §2.3).
const IS_OF_NAME: [bool; 256] = {
    let mut is_of_name = [false; 256];
    let mut byte = 0_u8;
    while byte.is_ascii() {
        is_of_name[byte as usize] = byte.is_ascii_alphanumeric();
        byte += 1;
    }
    let (marks, mut index) = (b"-._~!$&'()*+,;=", 0);
    while index < marks.len() {
        is_of_name[marks[index] as usize] = true;
        index += 1;
    }
    is_of_name
};

/// Returns the part after a `reg-name` (RFC 3986 §3.2.2). IPv4 addresses match as well.
fn after_name(mut value: &[u8]) -> &[u8] {
    loop {
        let end = value.iter().position(|byte| !IS_OF_NAME[usize::from(*byte)]);
        value = &value[end.unwrap_or(value.len())..];
        match value {
            [b'%', a, b, rest @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => value = rest,
            _ => return value,
        }
    }
}

/// Returns whether a value is an IPv6 address, with or without a zone (RFC 6874).
fn is_ipv6(value: &[u8]) -> bool {
    let (address, zone) = value.split_at(value.iter().position(|byte| *byte == b'%').unwrap_or(value.len()));
    let is_address = std::str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok());
    let is_zone = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(byte);
    is_address && zone.iter().all(is_zone)
}
