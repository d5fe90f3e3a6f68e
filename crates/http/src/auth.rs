//! Challenges of HTTP authentication (RFC 9110 §11), and the scheme Digest (RFC 7616).

use std::borrow::Cow;
use std::fmt::Write;

use md5::Md5;
use sha2::{Digest as _, Sha256};

/// A challenge of a server: a scheme and its parameters.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Challenge<'a> {
    pub(crate) scheme: &'a str,
    parameters: Vec<(&'a str, Cow<'a, str>)>,
}

impl Challenge<'_> {
    /// Returns the value of a parameter. The case of the name doesn't matter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }
}

/// Parses the challenges in a WWW-Authenticate header, or the credentials in an Authorization header. Invalid text is
/// skipped.
pub(crate) fn challenges(value: &str) -> Vec<Challenge<'_>> {
    let mut challenges: Vec<Challenge<'_>> = Vec::new();
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return challenges;
        }
        let (name, behind) = token(rest);
        if name.is_empty() {
            // No token begins here: skip one character.
            rest = rest.strip_prefix(|_: char| true).unwrap_or_default();
            continue;
        }
        let Some(behind_equals) = behind.trim_start_matches([' ', '\t']).strip_prefix('=') else {
            challenges.push(Challenge { scheme: name, parameters: Vec::new() });
            rest = behind;
            continue;
        };
        let (value, behind) = parameter(behind_equals.trim_start_matches([' ', '\t']));
        rest = behind;
        if let Some(challenge) = challenges.last_mut() {
            challenge.parameters.push((name, value));
        }
    }
}

/// Splits off the token (RFC 9110 §5.6.2) at the start. Slashes count as part of it, because some senders have them in
/// unquoted values.
fn token(text: &str) -> (&str, &str) {
    let is_of_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(c);
    text.split_at(text.find(|c| !is_of_token(c)).unwrap_or(text.len()))
}

/// Reads the value of a parameter: a token or a quoted string. A missing closing quote is tolerated.
fn parameter(text: &str) -> (Cow<'_, str>, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = token(text);
        return (value.into(), rest);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => {
                let rest = quoted.get(at + 1..).unwrap_or_default();
                return (value.into(), rest);
            }
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            _ => value.push(character),
        }
    }
    (value.into(), "")
}

/// Formats a quoted string (RFC 9110 §5.6.4).
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// The hash algorithms of Digest, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hash {
    Md5,
    Sha256,
}

impl Hash {
    /// Returns the hash of the parts, joined with colons, in hexadecimal digits.
    pub(crate) fn of(self, parts: &[&str]) -> String {
        let text = parts.join(":");
        match self {
            Hash::Md5 => hex(&Md5::digest(text)),
            Hash::Sha256 => hex(&Sha256::digest(text)),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Hash::Md5 => "MD5",
            Hash::Sha256 => "SHA-256",
        }
    }
}

/// Reads the parameter `algorithm`: the hash, and whether it is the variant `-sess`.
pub(crate) fn algorithm(found: Option<&str>) -> Option<(Hash, bool)> {
    // MD5 is the default (RFC 7616 §3.3).
    let found = found.unwrap_or("MD5").to_ascii_uppercase();
    let name = found.strip_suffix("-SESS");
    let hash = [Hash::Md5, Hash::Sha256].into_iter().find(|hash| hash.name() == name.unwrap_or(&found))?;
    Some((hash, name.is_some()))
}

/// The values that the proof of a password is computed from (RFC 7616 §3.4.1).
pub(crate) struct Proof<'a> {
    pub(crate) hash: Hash,
    /// The hash of user, realm and password.
    pub(crate) secret: &'a str,
    pub(crate) is_session: bool,
    pub(crate) nonce: &'a str,
    /// The request count for this nonce, the client's nonce, and the quality of protection. `None` as in RFC 2069.
    pub(crate) counted: Option<(&'a str, &'a str, &'a str)>,
    pub(crate) method: &'a str,
    pub(crate) uri: &'a str,
}

impl Proof<'_> {
    pub(crate) fn response(&self) -> String {
        let Proof { hash, secret, is_session, nonce, counted, method, uri } = *self;
        let of_session;
        let secret = match (is_session, counted) {
            (true, Some((_, cnonce, _))) => {
                of_session = hash.of(&[secret, nonce, cnonce]);
                &of_session
            }
            _ => secret,
        };
        let request = hash.of(&[method, uri]);
        match counted {
            Some((count, cnonce, quality)) => hash.of(&[secret, nonce, count, cnonce, quality, &request]),
            None => hash.of(&[secret, nonce, &request]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: &str) -> Vec<(String, Vec<(String, String)>)> {
        let owned = |challenge: Challenge<'_>| {
            let parameters = challenge.parameters.into_iter();
            (
                challenge.scheme.to_owned(),
                parameters.map(|(name, value)| (name.to_owned(), value.into_owned())).collect(),
            )
        };
        challenges(value).into_iter().map(owned).collect()
    }

    #[test]
    fn challenges_are_split() {
        let of = |scheme: &str, parameters: &[(&str, &str)]| {
            (scheme.to_owned(), parameters.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
        };
        for (value, expected) in [
            ("", vec![]),
            ("Basic", vec![of("Basic", &[])]),
            ("Basic realm=\"a, b\\\"c\"", vec![of("Basic", &[("realm", "a, b\"c")])]),
            (
                "Negotiate, Digest realm=x , nonce = \"1\",qop=\"auth,auth-int\", Basic realm=\"y\"",
                vec![
                    of("Negotiate", &[]),
                    of("Digest", &[("realm", "x"), ("nonce", "1"), ("qop", "auth,auth-int")]),
                    of("Basic", &[("realm", "y")]),
                ],
            ),
            // RFC 9110 §11.6.1.
            (
                "Basic realm=\"simple\", Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\"",
                vec![
                    of("Basic", &[("realm", "simple")]),
                    of("Newauth", &[("realm", "apps"), ("type", "1"), ("title", "Login to \"apps\"")]),
                ],
            ),
            ("realm=x, \u{1b}[2J (Basic", vec![of("2J", &[]), of("Basic", &[])]),
            ("Basic realm=\"open", vec![of("Basic", &[("realm", "open")])]),
            ("Basic realm=\"\\", vec![of("Basic", &[("realm", "")])]),
        ] {
            assert_eq!(read(value), expected, "{value}");
        }
        assert_eq!(challenges("Digest Realm=x")[0].get("realm"), Some("x"));
    }

    /// The examples of RFC 7616 §3.9.1.
    #[test]
    fn the_examples_of_the_specification_hold() {
        let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v";
        let cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";
        for (hash, expected) in [
            (Hash::Md5, "8ca523f5e9506fed4657c9700eebdbec"),
            (Hash::Sha256, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let secret = hash.of(&["Mufasa", "http-auth@example.org", "Circle of Life"]);
            let counted = Some(("00000001", cnonce, "auth"));
            let proof = Proof {
                hash,
                secret: &secret,
                is_session: false,
                nonce,
                counted,
                method: "GET",
                uri: "/dir/index.html",
            };
            assert_eq!(proof.response(), expected);
        }
    }

    /// The example of RFC 2617 §3.5 without a quality of protection, computed as in RFC 2069.
    #[test]
    fn a_challenge_without_a_quality_is_met_as_in_the_first_specification() {
        let secret = Hash::Md5.of(&["Mufasa", "testrealm@host.com", "Circle Of Life"]);
        let proof = Proof {
            hash: Hash::Md5,
            secret: &secret,
            is_session: false,
            nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093",
            counted: None,
            method: "GET",
            uri: "/dir/index.html",
        };
        assert_eq!(proof.response(), "670fd8c2df070c60b045671b8b24ff02");
    }

    #[test]
    fn algorithms_have_two_variants() {
        for (found, expected) in [
            (None, Some((Hash::Md5, false))),
            (Some("md5"), Some((Hash::Md5, false))),
            (Some("MD5-sess"), Some((Hash::Md5, true))),
            (Some("SHA-256"), Some((Hash::Sha256, false))),
            (Some("sha-256-SESS"), Some((Hash::Sha256, true))),
            (Some("SHA-512-256"), None),
            (Some(""), None),
        ] {
            assert_eq!(algorithm(found), expected, "{found:?}");
        }
    }

    /// Parsing always ends, and every result is part of the input.
    #[test]
    fn changed_challenges_are_read() {
        let seeds: [&[u8]; 4] = [
            b"Basic realm=\"a, b\\\"c\"",
            b"Negotiate, Digest realm=x , nonce = \"1\",qop=\"auth,auth-int\", Basic realm=\"y\"",
            b"Digest username=\"u\", realm=\"r\", nonce=\"n\", uri=\"/a?b\", response=\"0\", qop=auth, nc=00000001, cnonce=\"c\"",
            b"Bearer realm=\"r\", error=\"invalid_token\", scope=\"a b\"",
        ];
        crate::mutations::check_mutations(&seeds, |text, _| {
            let text = String::from_utf8_lossy(text);
            let read = challenges(&text);
            let said = |challenge: &Challenge<'_>| {
                let parameters = challenge.parameters.iter();
                challenge.scheme.len() + parameters.map(|(name, value)| name.len() + value.len()).sum::<usize>()
            };
            assert!(read.iter().map(said).sum::<usize>() <= text.len(), "{text}");
            assert!(read.iter().all(|challenge| !challenge.scheme.is_empty()), "{text}");
            for value in read.iter().flat_map(|challenge| challenge.parameters.iter().map(|(_, value)| value)) {
                // A quoted value is parsed back to the same value.
                let again = format!("X a={}, b=1", quoted(value));
                let again = challenges(&again);
                assert_eq!(
                    (again.len(), again[0].get("a"), again[0].get("b")),
                    (1, Some(&**value), Some("1")),
                    "{text}"
                );
            }
        });
    }
}
