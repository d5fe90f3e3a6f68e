//! Payloads as XML: received bytes, or bytes or a stream to be sent.

mod scope;
mod tokens;

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use castile_databinding::schema::{Element, Namespaces, Wildcard};
use castile_databinding::{Any, Decoder, Encoder, ExpandedName, FromXml};
use castile_mime::{Content, Packaging};
use castile_xml::{Limits, StartTag};

use self::scope::Scope;
pub use self::tokens::Tokens;
use crate::blocks::{self, Headers};
use crate::description::Root;
use crate::envelope::{self, Envelope};
use crate::error::{Error, ErrorKind};
use crate::payload::{FromPayload, ToPayload};
use crate::version::Version;
use crate::writer::Written;

/// Content of up to this size in bytes is copied into its envelope. Sending it as separate chunks costs more than the copy.
const COPY_THRESHOLD: usize = 16 << 10;

/// The payload of a message as XML: the content of its body. In SOAP encoding this is the call and the elements that it refers to.
///
/// A received payload was parsed once, to find its end and to check that it is well-formed and within the limits. It is not copied.
/// It may use prefixes that the envelope declares. [`tokens`](Self::tokens), [`read`](Self::read) and [`to_any`](Self::to_any)
/// resolve them. If the payload is sent again, the new envelope declares them.
///
/// A payload to be sent is not checked.
///
/// ```
/// use castile_soap::Raw;
///
/// let raw = Raw::new("<size xmlns='urn:s'>12</size>");
/// assert_eq!(raw.name()?.to_string(), "{urn:s}size");
/// assert_eq!(raw.read::<i32>()?, 12);
/// # Ok::<(), castile_soap::Error>(())
/// ```
#[derive(Debug)]
pub struct Raw {
    content: Kind,
    scope: Scope,
}

#[derive(Debug)]
enum Kind {
    /// The whole message, the range of the payload in it, and the limits for reading it.
    InMemory { message: Bytes, payload: Range<usize>, limits: Limits },
    /// A stream to be sent; `None` after it was sent.
    Stream(Mutex<Option<Content>>),
}

impl Raw {
    /// Creates a payload to be sent from the element that the operation expects, in UTF-8 and without an XML declaration. It must
    /// declare all prefixes that it uses. The XML is not checked.
    pub fn new(xml: impl Into<Bytes>) -> Self {
        let message = xml.into();
        let content = Kind::InMemory { payload: 0..message.len(), message, limits: Limits::default() };
        Raw { content, scope: Scope::default() }
    }

    /// Creates a payload from a stream, which can be sent only once.
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<castile_mime::BoxError>,
    {
        Raw { content: Kind::Stream(Mutex::new(Some(Content::stream(body)))), scope: Scope::default() }
    }

    /// Returns the bytes in UTF-8, or `None` for a stream.
    pub fn bytes(&self) -> Option<Bytes> {
        match &self.content {
            Kind::InMemory { message, payload, .. } => Some(message.slice(payload.clone())),
            Kind::Stream(_) => None,
        }
    }

    /// Returns the namespace declarations in scope around the bytes: each prefix, which is empty for the default namespace, with
    /// its namespace name.
    pub fn declarations(&self) -> impl Iterator<Item = (&str, &str)> {
        self.scope.iter()
    }

    /// Returns the tokens of the payload. A received payload is read within the limits of its message, another one within the
    /// default limits.
    ///
    /// # Errors
    /// Returns an error if the payload is a stream.
    pub fn tokens(&self) -> Result<Tokens<'_>, Error> {
        match &self.content {
            Kind::InMemory { message, payload, limits } => Tokens::new(message, payload.clone(), *limits),
            Kind::Stream(_) => Err(unwritable("a streamed payload can't be read")),
        }
    }

    /// Returns the name of the first element.
    ///
    /// # Errors
    /// Returns an error if there is no element.
    pub fn name(&self) -> Result<ExpandedName, Error> {
        let mut tokens = self.tokens()?;
        let tag = tokens.first()?;
        Ok(ExpandedName::new(tokens.reader().namespace(tag.namespace), tag.name.local()))
    }

    /// Reads the first element as a `T`. The name of the element is ignored.
    ///
    /// # Errors
    /// Returns an error if the element is not a valid `T`.
    pub fn read<T: FromXml>(&self) -> Result<T, Error> {
        static ELEMENT: Element = Element::new("", "*", u16::MAX);
        let mut tokens = self.tokens()?;
        tokens.first()?;
        decode(tokens, |decoder| decoder.root(&ELEMENT))
    }

    /// Returns a copy of the element that declares all namespaces that it uses.
    ///
    /// # Errors
    /// Returns an error if there is no element.
    pub fn to_any(&self) -> Result<Any, Error> {
        static ANY: Wildcard = Wildcard::new(Namespaces::Any);
        decode(self.tokens()?, |decoder| decoder.any(&ANY))
    }

    /// Returns the content to be sent.
    fn content(&self) -> Result<Content, Error> {
        match &self.content {
            Kind::InMemory { message, payload, .. } => Ok(Content::Bytes(message.slice(payload.clone()))),
            Kind::Stream(content) => content
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
                .ok_or_else(|| unwritable("a streamed payload can be sent only once")),
        }
    }
}

impl FromPayload for Raw {
    fn read<'a>(
        decoder: &mut Decoder<'a>,
        root: &'static Root,
        first: Option<StartTag<'a>>,
        message: &Bytes,
    ) -> Result<Self, Error> {
        // A call in SOAP encoding may refer to elements after it.
        let holds_all = root.body.is_some() || root.is_encoded;
        let reader = decoder.reader();
        let scope = Scope::around(reader);
        let start = first.map_or_else(|| reader.offset(), |tag| tag.offset);
        let mut end = start;
        let mut next = first;
        while next.is_some() {
            reader.skip_element()?;
            end = reader.offset();
            // After a single element, `read_end` checks what follows.
            next = if holds_all { envelope::next_tag(reader)? } else { None };
        }
        match holds_all {
            false => Envelope::read_end(reader)?,
            true => Envelope::read_end_after_body(reader)?,
        }
        // Decoded text is not part of the received message.
        let text = reader.input().as_bytes();
        let message =
            if text.as_ptr_range() == message.as_ptr_range() { message.clone() } else { Bytes::copy_from_slice(text) };
        let limits = reader.limits();
        Ok(Raw { content: Kind::InMemory { message, payload: start..end, limits }, scope })
    }
}

impl ToPayload for Raw {
    /// In an MTOM message, the caller is responsible for references in the XML.
    fn write(
        &self,
        version: Version,
        header: Headers<'_>,
        _: &Root,
        mut before: Encoder,
        mtom: Option<usize>,
    ) -> Result<Written, Error> {
        let packaging = mtom.map(|_| Packaging::Mtom);
        let written = |message: Content| Written { packaging, ..Written::new(message) };
        let content = self.content()?;
        blocks::write_before_body(version, header, &mut before);
        let end = self.scope.write_body(version, &mut before);
        let mut before = before.finish()?;
        let after = format!("{end}</soap:Envelope>");
        if let Some(bytes) = content.bytes()
            && bytes.len() <= COPY_THRESHOLD
        {
            before.extend_from_slice(bytes);
            before.extend_from_slice(after.as_bytes());
            return Ok(written(before.into()));
        }
        Ok(written(content.between(before.into(), after.into())))
    }
}

fn decode<T>(
    tokens: Tokens<'_>,
    read: impl FnOnce(&mut Decoder<'_>) -> Result<T, castile_databinding::Error>,
) -> Result<T, Error> {
    let reader = tokens.into_reader();
    let (input, limits) = (reader.input().as_bytes(), reader.limits());
    read(&mut Decoder::new(reader)).map_err(|error| Error::from(error).locate(input, limits))
}

fn unwritable(message: &str) -> Error {
    Error::at(0, ErrorKind::Unwritable, message)
}
