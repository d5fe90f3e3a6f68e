//! The meaning of `xsi:type` on an element of a simple type (XSD Part 1 §2.6.1, §3.3.4).
//!
//! In literal use it names the type of the element or one derived from it. Senders of SOAP encoding may not know the contract
//! and derive the type from the value. There it may name any built-in type from whose text the value can be read.

use std::fmt::Display;

use castile_datatypes::{Base64Binary, HexBinary, Invalid, SimpleType, base_of, is_derived, quoted};

use crate::encoded::{SOAP11, SOAP12};
use crate::name::ExpandedName;
use crate::schema::{ANY_ELEMENT, Element, TypeName, XSD_NAMESPACE, is_same};

use super::reading::Reading;
use super::{Decoder, Error, ErrorKind};

/// The namespaces of built-in types in SOAP encoding. Those of drafts of XML Schema are in use, too.
const BUILTIN: [&str; 5] =
    [XSD_NAMESPACE, SOAP11, SOAP12, "http://www.w3.org/1999/XMLSchema", "http://www.w3.org/2000/10/XMLSchema"];

/// The rules by which a named type is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    Literal,
    Encoded,
    /// The caller reads content that the schema leaves open, and states the expected type. The caller knows the types of the
    /// contract.
    Requested,
}

/// Whether SOAP encoding has a type of this name: a built-in type, or one of its own.
pub(crate) fn is_of_encoding(namespace: &str, local: &str) -> bool {
    matches!(namespace, SOAP11 | SOAP12) && (matches!(local, "base64" | "Array" | "Struct") || base_of(local).is_some())
}

/// How the text of a built-in type is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextForm {
    /// As it is.
    Text,
    Binary(Reading),
    /// As a name, which depends on namespace declarations.
    Name,
}

impl TextForm {
    /// Returns the form of a built-in type, or `None` if there is no such type. The encoding of SOAP 1.1 has `base64`
    /// (§5.2.3).
    fn of(name: &str) -> Option<Self> {
        match name {
            "base64Binary" | "base64" => Some(TextForm::Binary(Reading::Base64)),
            "hexBinary" => Some(TextForm::Binary(Reading::Hex)),
            "QName" | "NOTATION" => Some(TextForm::Name),
            "anyType" | "ur-type" => Some(TextForm::Text),
            _ => base_of(name).map(|_| TextForm::Text),
        }
    }
}

/// The result of checking the type named for a simple one.
pub(crate) struct CheckedType {
    /// The error that it is another type.
    pub(crate) error: Option<Error>,
    /// The conversion of the text, if it is not in the form of the element's own type.
    pub(crate) reading: Option<Reading>,
}

/// Returns the rules for checking a named type, or `None` if the element isn't known to be of a simple type. They are
/// `rules`, or [`Rules::Requested`] if a caller asked for the value. `expected` is the type that the Rust type of its values
/// declares.
#[inline]
pub(crate) fn is_simple(element: &Element, expected: Option<&TypeName>, rules: Rules) -> Option<Rules> {
    let is_asked = std::ptr::eq(element, &raw const ANY_ELEMENT);
    let is_simple = expected.map_or(element.types.is_some(), TypeName::is_builtin);
    is_simple.then_some(if is_asked { Rules::Requested } else { rules })
}

impl Decoder<'_> {
    /// Checks the type named by the start tag that was read last, for an element of a simple type. `made_of` is the built-in
    /// type of its values, if it is one. Returns `true` if the named type adds nothing to the element's own.
    ///
    /// # Errors
    /// It names another type.
    #[cold]
    pub(crate) fn admit_simple_type(
        &mut self,
        element: &'static Element,
        made_of: Option<&TypeName>,
        rules: Rules,
    ) -> Result<bool, Error> {
        let (namespace, name) = match self.named_type() {
            Ok(None) => return Ok(true),
            Ok(Some(said)) => said,
            Err(error) => return self.tolerate_type(error).map(|()| false),
        };
        let judged = self.check_named_type(element, made_of, rules, namespace, name);
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

    /// Returns the type of SOAP encoding that the name of the current element is (SOAP 1.1 §5.1, §5.2). Such an element needs
    /// no `xsi:type`. Its start tag was read last.
    pub(crate) fn type_of_name(&self) -> Option<ExpandedName> {
        let (prefix, local) = self.tag_name();
        let namespace = self.reader.resolve(prefix)?;
        is_of_encoding(namespace, local).then(|| ExpandedName::new(namespace, local))
    }

    /// Returns prefix and local name of the start tag that was read last. Nothing was read after it.
    pub(super) fn tag_name(&self) -> (&str, &str) {
        self.reader.innermost_tag().map_or(("", ""), |(_, name)| (name.prefix(), name.local()))
    }

    /// Returns a message that the element whose start tag was read last is something other than expected for `element`. The
    /// message names both if they differ: targets of references, and arguments in positional order, may have any name.
    #[cold]
    pub(crate) fn is_instead(&self, element: &Element, found: impl Display, expected: impl Display) -> String {
        let (_, name) = self.tag_name();
        let called = if name == element.name || std::ptr::eq(element, &raw const ANY_ELEMENT) {
            String::new()
        } else {
            format!(" for <{}>", element.name)
        };
        format!("<{name}> is {found}, where {expected} was expected{called}")
    }

    /// Determines what a type named for an element of a simple type means for its text.
    pub(crate) fn check_named_type(
        &self,
        element: &Element,
        made_of: Option<&TypeName>,
        rules: Rules,
        namespace: &str,
        name: &str,
    ) -> CheckedType {
        let is_allowed = match element.types {
            Some(types) => types.allow(namespace, name),
            None => made_of.is_some_and(|of| is_same(namespace, XSD_NAMESPACE) && is_derived(name, of.name)),
        };
        if is_allowed {
            return CheckedType { error: None, reading: None };
        }
        let is_builtin = match rules {
            Rules::Literal => is_same(namespace, XSD_NAMESPACE),
            Rules::Encoded | Rules::Requested => BUILTIN.contains(&namespace),
        };
        let own = made_of.and_then(|of| TextForm::of(of.name)).unwrap_or(TextForm::Text);
        let said = if is_builtin { TextForm::of(name) } else { None };
        let is_readable = match said {
            Some(TextForm::Text) => true,
            Some(TextForm::Binary(_)) => own != TextForm::Name,
            Some(TextForm::Name) => own == TextForm::Name,
            None => rules == Rules::Requested && !is_builtin,
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
            Some(said @ TextForm::Binary(reading)) if said != own && own != TextForm::Name => Some(reading),
            Some(TextForm::Text) if rules != Rules::Literal && made_of.is_some_and(|of| is_float(of.name)) => {
                match name {
                    name if is_float(name) => Some(Reading::Float),
                    name => is_derived(name, "decimal").then_some(Reading::Decimal),
                }
            }
            _ => None,
        };
        CheckedType { error, reading }
    }

    /// Converts a text to the form of the type that messages call `name`. Bytes become that type's binary form, or text,
    /// which must be UTF-8. A number must be representable.
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
                f32::NAME => represents(text, reading, text.trim().parse::<f32>().ok().map(f64::from)),
                _ => represents(text, reading, text.trim().parse::<f64>().ok()),
            };
            if !is_held {
                let message = format!("{} is not a valid number for {name}", quoted(text));
                return Err(self.lexical(&Invalid::new(message), offset));
            }
            self.charge(text.len())?;
            return Ok(text.to_owned());
        }
        // The bytes, and two digits for each of them.
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
            let message = format!("{} refers to bytes that are not UTF-8, where {name} was expected", quoted(text));
            self.lexical(&Invalid::new(message), offset)
        })
    }
}

/// Whether a value represents the number in its text: a whole decimal number exactly; any other number within range, so that
/// it becomes neither infinite nor zero. Fractions are rounded. A text that is not a number is left to the parser.
fn represents(text: &str, reading: Reading, value: Option<f64>) -> bool {
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
