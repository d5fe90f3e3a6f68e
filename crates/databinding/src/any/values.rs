//! Elements of any kind from values, and values from them.

use castile_xml::{Reader, Token};

use super::{Any, AnyType, is_of_names};
use crate::deviations::Deviations;
use crate::encoded::{Encoding, SOAP11, SOAP12, is_of_references};
use crate::error::Error;
use crate::fragment::unlimited;
use crate::from_xml::{Decoder, FromXml};
use crate::schema::{ANY_ELEMENT, Attributes, Element, XSD_NAMESPACE};
use crate::to_xml::{Encoder, ToXml};

impl Any {
    /// Creates an element from a value. `start` and `end` are its tags, with declarations of all prefixes that the value is
    /// written with, such as the tags of an operation's request or response. In SOAP encoding these tags lack `soapenc`, the
    /// prefix of its attributes, which depends on the version of SOAP. If it is used, that of SOAP 1.1 is declared here.
    ///
    /// # Errors
    /// The value contains something that XML can't represent, or the tags are not tags.
    pub fn from_value<T: ToXml>(start: &str, value: &T, end: &str) -> Result<Self, Error> {
        let write = |start: &str| {
            let mut out = Encoder::default();
            out.element(start, value, end);
            out.finish().map(|written| String::from_utf8_lossy(&written).into_owned())
        };
        let mut xml = write(start)?;
        if xml.contains("soapenc:") && !start.contains(" xmlns:soapenc=") {
            let start = start.strip_suffix('>').unwrap_or(start);
            xml = write(&format!("{start} xmlns:soapenc=\"{}\">", Encoding::Soap11.namespace()))?;
        }
        Any::parse(&xml)
    }

    /// Reads the element as a `T`. The name of the element is not checked.
    ///
    /// # Errors
    /// The element doesn't match the type.
    pub fn read<T: FromXml>(&self) -> Result<T, Error> {
        read(&self.xml(), Decoder::new).map(|(value, _)| value)
    }

    /// Reads the element as a `T`, tolerating deviations, which are returned ([`Decoder::lenient`]). The name of the element
    /// is not checked.
    ///
    /// # Errors
    /// A deviation that can't be tolerated.
    pub fn read_lenient<T: FromXml>(&self) -> Result<(T, Deviations), Error> {
        read(&self.xml(), Decoder::lenient)
    }
}

impl AnyType {
    /// Reads the value as a `T`. If [`type_name`](Self::type_name) is a type of a contract, it must be the type of `T`. If it
    /// is a built-in type, the value is converted as in SOAP encoding: `T` may be any type whose value can be read from the
    /// text, or from the bytes that the text encodes.
    ///
    /// # Errors
    /// The value doesn't match the type, or contains something that XML can't represent.
    pub fn read<T: FromXml>(&self) -> Result<T, Error> {
        read(&self.to_text()?, Decoder::new).map(|(value, _)| value)
    }

    /// Reads the value as a `T`, like [`read`](Self::read), tolerating deviations, which are returned ([`Decoder::lenient`]).
    ///
    /// # Errors
    /// A deviation that can't be tolerated, or something that XML can't represent.
    pub fn read_lenient<T: FromXml>(&self) -> Result<(T, Deviations), Error> {
        read(&self.to_text()?, Decoder::lenient)
    }

    /// Writes the value as an element, with its attributes and content.
    fn to_text(&self) -> Result<String, Error> {
        let mut out = Encoder::default();
        let AnyType { type_name, attributes, content } = self;
        // These types say nothing about the value.
        let type_name = type_name
            .as_ref()
            .filter(|name| {
                ![SOAP11, SOAP12].iter().any(|encoding| name.is(encoding, "Array") || name.is(encoding, "Struct"))
            })
            .filter(|name| !name.is(XSD_NAMESPACE, "anyType"));
        out.raw("<any");
        out.any_start(type_name, attributes, &self.names());
        out.raw(">");
        match self.name() {
            Some(name) => out.simple(&name),
            None => out.any_content(content),
        }
        out.raw("</any>");
        Ok(String::from_utf8_lossy(&out.finish()?).into_owned())
    }
}

fn read<'a, T: FromXml>(xml: &'a str, decoder: fn(Reader<'a>) -> Decoder<'a>) -> Result<(T, Deviations), Error> {
    let limits = unlimited();
    let read = || {
        let mut reader = Reader::new(xml.as_bytes(), limits)?;
        while !matches!(reader.next()?, Token::StartTag(_)) {}
        let mut decoder = decoder(reader);
        let value = decoder.root(&ANY_ELEMENT)?;
        Ok((value, decoder.take_deviations().locate(xml.as_bytes(), limits, None)))
    };
    read().map_err(|error: Error| error.locate(xml.as_bytes(), limits, None))
}

impl FromXml for AnyType {
    const ATTRIBUTES: &'static Attributes = &Attributes::ANY;

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let mut type_name = decoder.type_name()?;
        if decoder.is_encoded() && type_name.is_none() {
            type_name = decoder.type_of_name();
        }
        let mut attributes = decoder.any_attributes(Self::ATTRIBUTES);
        if decoder.is_encoded() {
            attributes.retain(|attribute| !is_of_references(attribute));
        }
        let scope = decoder.scope_of_names(&attributes, type_name.as_ref().is_some_and(is_of_names))?;
        let content = decoder.complex(element, |decoder| decoder.any_content(scope))?;
        Ok(AnyType { type_name, attributes, content })
    }
}

impl ToXml for AnyType {
    const HAS_ATTRIBUTES: bool = true;

    fn element(&self, out: &mut Encoder, start: &str, end: &str) {
        let names = self.names();
        let other = out.with_other_prefix(start, &names);
        let (start, end) = other.as_ref().map_or((start, end), |(start, end)| (start.as_str(), end.as_str()));
        out.raw(start.strip_suffix('>').unwrap_or(start));
        out.any_start(self.type_name.as_ref(), &self.attributes, &names);
        self.rest(out, end);
    }

    fn attributes(&self, out: &mut Encoder) {
        out.any_start(self.type_name.as_ref(), &self.attributes, &self.names());
    }

    fn content(&self, out: &mut Encoder) {
        match self.name() {
            Some(name) => out.simple(&name),
            None => out.any_content(&self.content),
        }
    }
}
