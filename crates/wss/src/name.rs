//! Distinguished names. Stacks write them in different orders, with different names of attributes and different
//! encodings, so they are compared by their attributes.

use std::fmt;

use x509_cert::der::asn1::{BmpString, Ia5StringRef, PrintableStringRef, TeletexStringRef, Utf8StringRef};
use x509_cert::der::{Any, Tag, Tagged};
use x509_cert::name::Name;

/// Names of attributes (RFC 4514 §3, and what OpenSSL, Java and Windows write), with their object identifiers. The first
/// name of each is written.
const ATTRIBUTES: [(&str, &str); 24] = [
    ("CN", "2.5.4.3"),
    ("SN", "2.5.4.4"),
    ("SURNAME", "2.5.4.4"),
    ("SERIALNUMBER", "2.5.4.5"),
    ("C", "2.5.4.6"),
    ("L", "2.5.4.7"),
    ("ST", "2.5.4.8"),
    ("S", "2.5.4.8"),
    ("STREET", "2.5.4.9"),
    ("O", "2.5.4.10"),
    ("OU", "2.5.4.11"),
    ("T", "2.5.4.12"),
    ("TITLE", "2.5.4.12"),
    ("GN", "2.5.4.42"),
    ("G", "2.5.4.42"),
    ("GIVENNAME", "2.5.4.42"),
    ("DNQ", "2.5.4.46"),
    ("ORGANIZATIONIDENTIFIER", "2.5.4.97"),
    ("EMAILADDRESS", "1.2.840.113549.1.9.1"),
    ("E", "1.2.840.113549.1.9.1"),
    ("EMAIL", "1.2.840.113549.1.9.1"),
    ("DC", "0.9.2342.19200300.100.1.25"),
    ("UID", "0.9.2342.19200300.100.1.1"),
    ("USERID", "0.9.2342.19200300.100.1.1"),
];

/// The attributes of a name, in the order of the certificate. Attributes of one set are in the order in which they are
/// written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DistinguishedName(Vec<Attribute>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Attribute {
    /// The object identifier.
    oid: String,
    value: String,
}

impl DistinguishedName {
    pub(crate) fn of(name: &Name) -> Self {
        let attributes = name.iter().map(|attribute| Attribute {
            oid: attribute.oid.to_string(),
            value: text(&attribute.value).unwrap_or_default(),
        });
        DistinguishedName(attributes.collect())
    }

    /// Parses the text of a name (RFC 4514, RFC 2253, RFC 1779). Returns `None` if it is not one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut attributes = Vec::new();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (name, value) = rest.split_once('=')?;
            let name = name.trim().to_ascii_uppercase();
            let name = name.strip_prefix("OID.").unwrap_or(&name);
            let known = ATTRIBUTES.iter().find(|(known, _)| *known == name).map(|(_, oid)| *oid);
            let is_oid = || name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let oid = known.or_else(|| is_oid().then_some(name))?.to_owned();
            let value = value.trim_start();
            let (value, end) = self::value(value)?;
            rest = end.trim_start();
            if !rest.is_empty() {
                rest = rest.strip_prefix([',', ';', '+'])?;
            }
            attributes.push(Attribute { oid, value });
        }
        Some(DistinguishedName(attributes))
    }

    /// Whether both names have the same attributes, in either order.
    pub(crate) fn is_same_as(&self, other: &DistinguishedName) -> bool {
        let is_same = |(one, other): (&Attribute, &Attribute)| {
            one.oid == other.oid && normalised(&one.value) == normalised(&other.value)
        };
        let DistinguishedName(other) = other;
        self.0.len() == other.len()
            && (self.0.iter().zip(other).all(is_same) || self.0.iter().zip(other.iter().rev()).all(is_same))
    }
}

/// Parses the value of an attribute, in quotes or with escapes, and returns it with what follows.
fn value(text: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let is_quoted = text.starts_with('"');
    let text = text.strip_prefix('"').unwrap_or(text);
    let mut chars = text.char_indices();
    // White space at the end is not part of the value, unless it is escaped.
    let mut kept = 0;
    let mut end = text.len();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if is_quoted => {
                kept = bytes.len();
                end = at + 1;
                break;
            }
            ',' | ';' | '+' if !is_quoted => {
                end = at;
                break;
            }
            '\\' => {
                let (at, escaped) = chars.next()?;
                let digits = text.get(at..at + 2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
                match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                    Some(byte) => {
                        chars.next();
                        bytes.push(byte);
                    }
                    None => bytes.extend(escaped.encode_utf8(&mut [0; 4]).bytes()),
                }
                kept = bytes.len();
            }
            c => {
                bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
                if is_quoted || c != ' ' {
                    kept = bytes.len();
                }
            }
        }
    }
    bytes.truncate(kept);
    Some((String::from_utf8(bytes).ok()?, &text[end..]))
}

/// Case and the number of spaces don't matter (RFC 4518 §2, as far as names need it).
fn normalised(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Returns the text of a value of any type of strings.
fn text(value: &Any) -> Option<String> {
    Some(match value.tag() {
        Tag::Utf8String => value.decode_as::<Utf8StringRef<'_>>().ok()?.to_string(),
        Tag::PrintableString => value.decode_as::<PrintableStringRef<'_>>().ok()?.to_string(),
        Tag::Ia5String => value.decode_as::<Ia5StringRef<'_>>().ok()?.to_string(),
        Tag::TeletexString => value.decode_as::<TeletexStringRef<'_>>().ok()?.to_string(),
        Tag::BmpString => value.decode_as::<BmpString>().ok()?.to_string(),
        _ => return None,
    })
}

/// Writes the name as RFC 4514 does: the last attribute first.
impl fmt::Display for DistinguishedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Attribute { oid, value }) in self.0.iter().rev().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let name = ATTRIBUTES.iter().find(|(_, known)| known == oid).map_or(oid.as_str(), |(name, _)| name);
            write!(f, "{comma}{name}=")?;
            let last = value.chars().count().saturating_sub(1);
            for (index, c) in value.chars().enumerate() {
                let is_escaped = match c {
                    ',' | ';' | '+' | '"' | '\\' | '<' | '>' => true,
                    ' ' => index == 0 || index == last,
                    '#' => index == 0,
                    _ => false,
                };
                match c {
                    c if is_escaped => write!(f, "\\{c}")?,
                    c if c.is_control() => {
                        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                            write!(f, "\\{byte:02x}")?;
                        }
                    }
                    c => write!(f, "{c}")?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "only tests come here")]

    use super::*;

    fn name(attributes: &[(&str, &str)]) -> DistinguishedName {
        let attribute = |(oid, value): &(&str, &str)| Attribute { oid: (*oid).to_owned(), value: (*value).to_owned() };
        DistinguishedName(attributes.iter().map(attribute).collect())
    }

    #[test]
    fn names_are_compared_by_their_attributes() {
        let owner = name(&[
            ("2.5.4.6", "DE"),
            ("2.5.4.10", "Müller, Sohn"),
            ("1.2.840.113549.1.9.1", "a@b"),
            ("2.5.4.3", "x  y"),
        ]);
        for (text, is_same) in [
            ("CN=x  y,EMAILADDRESS=a@b,O=M\u{fc}ller\\, Sohn,C=DE", true),
            ("C=DE, O=\"Müller, Sohn\", E=a@b, CN=X Y", true),
            ("c=de; OID.2.5.4.10=M\\C3\\BCller\\, Sohn; 1.2.840.113549.1.9.1=a@b; cn=x y ", true),
            ("C=DE,O=\"Müller, Sohn\",E=a@b,CN=x y,CN=z", false),
            ("C=DE,O=Müller,E=a@b,CN=x y", false),
            ("O=\"Müller, Sohn\",C=DE,E=a@b,CN=x y", false),
            ("C=DE", false),
            ("what=ever", false),
            ("C", false),
            ("C=\\", false),
            ("", false),
        ] {
            let parsed = DistinguishedName::parse(text);
            assert_eq!(parsed.is_some_and(|parsed| parsed.is_same_as(&owner)), is_same, "{text}");
        }
        assert!(DistinguishedName::parse(&owner.to_string()).unwrap().is_same_as(&owner), "{owner}");
    }

    #[test]
    fn written_names_are_read_back() {
        for value in [" a ", "#b", "a\"b\\c", "", "a+b;c", "a\u{1}b", "é ", "<>"] {
            let owner = name(&[("2.5.4.3", value), ("1.2.3", "x")]);
            assert_eq!(
                DistinguishedName::parse(&owner.to_string()),
                {
                    let DistinguishedName(mut attributes) = owner.clone();
                    attributes.reverse();
                    Some(DistinguishedName(attributes))
                },
                "{owner}"
            );
        }
    }
}
