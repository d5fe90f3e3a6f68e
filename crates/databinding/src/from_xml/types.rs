//! What `xsi:type` says of an element of a simple type (XSD Part 1 §2.6.1, §3.3.4).
//!
//! In literal use it names the type of the element or one that is derived from it. SOAP encoding is spoken by those who know
//! no contract and tell a type by the value, so there it may name any built-in type from whose text the value can be told.

use std::fmt::Display;

use crate::any::{ELEMENT, ExpandedName};
use crate::datatypes::{Base64Binary, HexBinary, Invalid, SimpleType, base_of, is_derived, quoted};
use crate::encoded::{SOAP11, SOAP12};
use crate::schema::{Element, TypeName, XSD_NAMESPACE, is_same};

use super::{Decoder, Error, ErrorKind};

/// The namespaces that built-in types have in SOAP encoding: those of drafts of XML Schema are in use, too.
const BUILTIN: [&str; 5] =
    [XSD_NAMESPACE, SOAP11, SOAP12, "http://www.w3.org/1999/XMLSchema", "http://www.w3.org/2000/10/XMLSchema"];

/// How a text stands for a value of another type than that of its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Base64,
    Hex,
    /// It is a number of a type with decimal digits, for an element with binary ones.
    Decimal,
    /// It is a number with binary digits, for another element of these.
    Float,
}

/// By whose rules a type is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    Literal,
    Encoded,
    /// Whoever reads what a schema leaves open says what he expects, and knows what types of a contract are made of.
    Asked,
}

/// Whether SOAP encoding has a type of this name: its own, and the built-in ones.
pub(super) fn is_of_encoding(namespace: &str, local: &str) -> bool {
    matches!(namespace, SOAP11 | SOAP12) && (matches!(local, "base64" | "Array" | "Struct") || base_of(local).is_some())
}

/// What a built-in type that is named means for the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// It stands for itself.
    Text,
    Binary(Reading),
    /// It means nothing without declarations of namespaces.
    Name,
}

impl Form {
    /// That of a built-in type; `None` if there is none of this name. The encoding of SOAP 1.1 has `base64` (§5.2.3).
    fn of(name: &str) -> Option<Self> {
        match name {
            "base64Binary" | "base64" => Some(Form::Binary(Reading::Base64)),
            "hexBinary" => Some(Form::Binary(Reading::Hex)),
            "QName" | "NOTATION" => Some(Form::Name),
            "anyType" | "ur-type" => Some(Form::Text),
            _ => base_of(name).map(|_| Form::Text),
        }
    }
}

/// What a type that is named for a simple one means.
pub(super) struct Judged {
    /// That it is another one.
    pub(super) error: Option<Error>,
    /// How the text stands for the value, if it is not as in its own type.
    pub(super) reading: Option<Reading>,
}

/// By which of the `rules` the type that is named is looked at, or others where somebody has asked for a value; `None` if the
/// element isn't known to be of a simple type. `expected` is what the Rust type of its values says.
#[inline]
pub(super) fn is_simple(element: &Element, expected: Option<&TypeName>, rules: Rules) -> Option<Rules> {
    let is_asked = std::ptr::eq(element, &raw const ELEMENT);
    let is_simple = expected.map_or(element.types.is_some(), TypeName::is_builtin);
    is_simple.then_some(if is_asked { Rules::Asked } else { rules })
}

impl Decoder<'_> {
    /// Looks at the type that the start tag names which was read last, for an element of a simple type whose values are
    /// made of `made_of` if that is a built-in one. `true` if it says nothing that the element doesn't say.
    ///
    /// # Errors
    /// That it is another one.
    #[cold]
    pub(super) fn admit_simple_type(
        &mut self,
        element: &'static Element,
        made_of: Option<&TypeName>,
        rules: Rules,
    ) -> Result<bool, Error> {
        let (namespace, name) = match self.said_type() {
            Ok(None) => return Ok(true),
            Ok(Some(said)) => said,
            Err(error) => return self.tolerate_type(error).map(|()| false),
        };
        let judged = self.judge(element, made_of, rules, namespace, name);
        let is_tolerated = judged.error.is_some();
        if let Some(error) = judged.error {
            self.tolerate_type(error)?;
        }
        if judged.reading.is_some() && !self.nil {
            self.reading = judged.reading;
            return Ok(false);
        }
        Ok(!is_tolerated)
    }

    /// The type that the element is called as whose start tag was read last, if that is one of SOAP encoding (SOAP 1.1 §5.1, §5.2):
    /// it needs no `xsi:type` there.
    pub(crate) fn type_of_name(&self) -> Option<ExpandedName> {
        let (prefix, local) = self.tag_name();
        let namespace = self.reader.resolve(prefix)?;
        is_of_encoding(namespace, local).then(|| ExpandedName::new(namespace, local))
    }

    /// Prefix and local name in the start tag that was read last, behind which nothing was read yet.
    pub(super) fn tag_name(&self) -> (&str, &str) {
        self.reader.innermost_tag().map_or(("", ""), |(_, name)| (name.prefix(), name.local()))
    }

    /// That the element whose start tag was read last is something else than what was expected for `element`, in words of messages:
    /// others call what they refer to, and what they send in order, as they like.
    #[cold]
    pub(super) fn is_instead(&self, element: &Element, found: impl Display, expected: impl Display) -> String {
        let (_, name) = self.tag_name();
        let called = if name == element.name || std::ptr::eq(element, &raw const ELEMENT) {
            String::new()
        } else {
            format!(" for <{}>", element.name)
        };
        format!("<{name}> is {found}, where {expected} was expected{called}")
    }

    /// What a type that is named for an element of a simple type means for its text.
    pub(super) fn judge(
        &self,
        element: &Element,
        made_of: Option<&TypeName>,
        rules: Rules,
        namespace: &str,
        name: &str,
    ) -> Judged {
        let is_allowed = match element.types {
            Some(types) => types.allow(namespace, name),
            None => made_of.is_some_and(|of| is_same(namespace, XSD_NAMESPACE) && is_derived(name, of.name)),
        };
        if is_allowed {
            return Judged { error: None, reading: None };
        }
        let is_builtin = match rules {
            Rules::Literal => is_same(namespace, XSD_NAMESPACE),
            Rules::Encoded | Rules::Asked => BUILTIN.contains(&namespace),
        };
        let own = made_of.and_then(|of| Form::of(of.name)).unwrap_or(Form::Text);
        let said = if is_builtin { Form::of(name) } else { None };
        let is_readable = match said {
            Some(Form::Text) => true,
            Some(Form::Binary(_)) => own != Form::Name,
            Some(Form::Name) => own == Form::Name,
            None => rules == Rules::Asked && !is_builtin,
        };
        let error = (rules == Rules::Literal || !is_readable).then(|| {
            let expected = element.types.map_or_else(
                || made_of.map_or_else(String::new, |of| format!("xs:{}", of.name)),
                |types| types.name().to_owned(),
            );
            let found = ExpandedName::new(namespace, name);
            let message = self.is_instead(element, format_args!("of the type {found}"), expected);
            Error::new(ErrorKind::Structure, self.inside_tag(), message)
        });
        let is_float = |name: &str| matches!(name, "float" | "double");
        let reading = match said {
            Some(said @ Form::Binary(reading)) if said != own && own != Form::Name => Some(reading),
            Some(Form::Text) if rules != Rules::Literal && made_of.is_some_and(|of| is_float(of.name)) => match name {
                name if is_float(name) => Some(Reading::Float),
                name => is_derived(name, "decimal").then_some(Reading::Decimal),
            },
            _ => None,
        };
        Judged { error, reading }
    }

    /// The text, for a type that messages call `name`, of what `text` stands for: bytes, which are UTF-8 where that type isn't binary
    /// itself, or a number, which must not be lost.
    #[cold]
    pub(super) fn converted(
        &mut self,
        text: &str,
        reading: Reading,
        name: &str,
        offset: usize,
    ) -> Result<String, Error> {
        if matches!(reading, Reading::Decimal | Reading::Float) {
            let is_held = match name {
                f32::NAME => holds(text, reading, text.trim().parse::<f32>().ok().map(f64::from)),
                _ => holds(text, reading, text.trim().parse::<f64>().ok()),
            };
            if !is_held {
                let message = format!("{} is no number that {name} holds", quoted(text));
                return Err(self.lexical(&Invalid::new(message), offset));
            }
            self.charge(text.len())?;
            return Ok(text.to_owned());
        }
        // Bytes, and two digits for each.
        self.charge(text.len().saturating_mul(3))?;
        let read = match reading {
            Reading::Hex => HexBinary::parse(text).map(|value| value.0).map_err(|why| (HexBinary::NAME, why)),
            _ => Base64Binary::parse(text).map(|value| value.0).map_err(|why| (Base64Binary::NAME, why)),
        };
        let bytes =
            read.map_err(|(expected, problem)| self.lexical(&Invalid::text(text, expected, problem), offset))?;
        let mut converted = Vec::new();
        match name {
            Base64Binary::NAME => Base64Binary(bytes).write(&mut converted),
            HexBinary::NAME => HexBinary(bytes).write(&mut converted),
            _ => {
                converted = bytes;
                true
            }
        };
        String::from_utf8(converted).map_err(|_| {
            let message = format!("{} stands for bytes that are not UTF-8, where {name} was expected", quoted(text));
            self.lexical(&Invalid::new(message), offset)
        })
    }
}

/// Whether a number is still there in the value that was read from its text: a whole one with decimal digits as it is, any other
/// within the range, so that it is neither infinite nor nothing. Fractions are rounded as ever. What is no number is for others.
fn holds(text: &str, reading: Reading, value: Option<f64>) -> bool {
    let Some(value) = value else { return true };
    let text = text.trim();
    let digits = text.trim_start_matches(['+', '-']);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return true;
    }
    let significant = digits.split(['e', 'E']).next().unwrap_or_default();
    if value.is_infinite() || value == 0.0 && significant.bytes().any(|digit| matches!(digit, b'1'..=b'9')) {
        return false;
    }
    let (whole, fraction) = significant.split_once('.').unwrap_or((significant, ""));
    if reading != Reading::Decimal || fraction.bytes().any(|digit| digit != b'0') {
        return true;
    }
    let written = format!("{:.0}", value.abs());
    written.trim_start_matches('0') == whole.trim_start_matches('0')
}
