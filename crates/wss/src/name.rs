//! Distinguished names. Stacks write them in different orders, with different names of attributes and different
//! encodings, so they are compared by their attributes.

use std::fmt;
use std::fmt::Write;

use x509_cert::der::{Any, Decode, Encode, Tag, Tagged};
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
    value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Text {
        value: String,
        /// The value [as it is compared](normalised). It is made once, because anybody can describe a certificate many times.
        compared: String,
    },
    /// What is not a text: its encoding, in hexadecimal digits.
    Encoded(String),
}

impl DistinguishedName {
    pub(crate) fn of(name: &Name) -> Self {
        let attributes = name
            .iter()
            .map(|attribute| Attribute { oid: attribute.oid.to_string(), value: Value::of(&attribute.value) });
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
            let (value, end) = Value::parse(value.trim_start())?;
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
            one.oid == other.oid
                && match (&one.value, &other.value) {
                    (Value::Text { compared: one, .. }, Value::Text { compared: other, .. }) => one == other,
                    (one, other) => one == other,
                }
        };
        let DistinguishedName(other) = other;
        self.0.len() == other.len()
            && (self.0.iter().zip(other).all(is_same) || self.0.iter().zip(other.iter().rev()).all(is_same))
    }
}

impl Value {
    fn of(value: &Any) -> Self {
        text(value).map_or_else(|| Value::Encoded(hexadecimal(&value.to_der().unwrap_or_default())), Value::text)
    }

    fn text(value: String) -> Self {
        Value::Text { compared: normalised(&value), value }
    }

    /// Parses a value, and returns it with what follows. A value after `#` is in hexadecimal digits (RFC 4514 §2.4).
    fn parse(text: &str) -> Option<(Self, &str)> {
        let Some(digits) = text.strip_prefix('#') else {
            let (value, rest) = self::value(text)?;
            return Some((Value::text(value), rest));
        };
        let (digits, rest) = digits.split_at(digits.find([',', ';', '+']).unwrap_or(digits.len()));
        let digits = digits.trim_end();
        let byte = |at: usize| digits.get(at..at + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok());
        let encoded: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        Some((Value::of(&Any::from_der(&encoded?).ok()?), rest))
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
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

/// Returns the text of a value of any type of strings. `None` if it is something else.
fn text(value: &Any) -> Option<String> {
    let bytes = value.value();
    match value.tag() {
        Tag::Utf8String => String::from_utf8(bytes.to_vec()).ok(),
        Tag::PrintableString | Tag::Ia5String | Tag::NumericString | Tag::VisibleString | Tag::GeneralString => {
            String::from_utf8(bytes.to_vec()).ok().filter(|text| text.is_ascii())
        }
        // T.61 has other characters, but everybody takes it for Latin-1.
        Tag::TeletexString => Some(bytes.iter().map(|&byte| char::from(byte)).collect()),
        Tag::BmpString => {
            let (units, rest) = bytes.as_chunks();
            let units = units.iter().copied().map(u16::from_be_bytes);
            char::decode_utf16(units).collect::<Result<_, _>>().ok().filter(|_| rest.is_empty())
        }
        _ => None,
    }
}

/// Writes the name as RFC 4514 does: the last attribute first.
impl fmt::Display for DistinguishedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Attribute { oid, value }) in self.0.iter().rev().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let name = ATTRIBUTES.iter().find(|(_, known)| known == oid).map_or(oid.as_str(), |(name, _)| name);
            write!(f, "{comma}{name}=")?;
            let value = match value {
                Value::Text { value, .. } => value,
                Value::Encoded(digits) => {
                    write!(f, "#{digits}")?;
                    continue;
                }
            };
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
        let attribute =
            |(oid, value): &(&str, &str)| Attribute { oid: (*oid).to_owned(), value: Value::text((*value).to_owned()) };
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

    /// No value is taken for an empty one, whatever its type is.
    #[test]
    fn values_have_several_types() {
        let text = |text: &str| Some(Value::text(text.to_owned()));
        let encoded = |digits: &str| Some(Value::Encoded(digits.to_owned()));
        for (der, expected) in [
            ("0c03c3bc78", text("\u{fc}x")),
            ("130178", text("x")),
            ("160178", text("x")),
            ("120137", text("7")),
            ("1a0178", text("x")),
            ("1b0178", text("x")),
            // Latin-1
            ("1402fc78", text("\u{fc}x")),
            ("1e0400fc0078", text("\u{fc}x")),
            ("1e04d83dde00", text("\u{1f600}")),
            ("1300", text("")),
            // What is not a text stays as it is.
            ("1e0300fc00", encoded("1e0300fc00")),
            ("1e02d83d", encoded("1e02d83d")),
            ("0c01fc", encoded("0c01fc")),
            ("1301fc", encoded("1301fc")),
            ("03020780", encoded("03020780")),
            ("020107", encoded("020107")),
            // UniversalString: certificates with it can't be read.
            ("1c0400000078", None),
            ("1302", None),
            ("13017", None),
            ("", None),
        ] {
            let value = format!("#{der} ,C=DE");
            let parsed = Value::parse(&value);
            assert_eq!(parsed.as_ref().map(|(value, _)| value), expected.as_ref(), "{der}");
            assert!(parsed.is_none_or(|(_, rest)| rest == ",C=DE"));
        }
        let binary = |digits: &str| {
            DistinguishedName(vec![Attribute { oid: "2.5.4.45".to_owned(), value: Value::Encoded(digits.to_owned()) }])
        };
        let written = binary("03020780").to_string();
        assert_eq!(written, "2.5.4.45=#03020780");
        assert_eq!(DistinguishedName::parse(&written), Some(binary("03020780")));
        assert!(!binary("03020780").is_same_as(&binary("03020781")));
        assert!(!binary("03020780").is_same_as(&name(&[("2.5.4.45", "")])));
        assert!(!binary("03020780").is_same_as(&name(&[("2.5.4.45", "#03020780")])));
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
