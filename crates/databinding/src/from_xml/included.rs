//! Simple content that is beside the document (XOP §3.2).

use std::borrow::Cow;

use castile_datatypes::SimpleType;
use castile_datatypes::facets::Check;
use castile_xml::{StartTag, Token};

use super::{Decoder, Error, ErrorKind, Expected};
use crate::schema::Element;
use crate::xop::{Binary, Includes, NAMESPACE};

/// The result of reading an `xop:Include`.
enum Included<T> {
    /// The content, which must be checked.
    Content(T),
    /// A value without the content, which is not checked.
    Reference(T),
}

impl<'a> Decoder<'a> {
    /// Returns the decoder with support for `xop:Include` elements.
    pub fn with_includes(mut self, includes: &'a dyn Includes) -> Self {
        self.includes = Some(includes);
        self
    }

    /// Reads the content and the end tag of `element`: text or one `xop:Include`. White space around the `xop:Include` is
    /// ignored. §2.1 doesn't allow it, but senders that indent their documents write it.
    #[inline(never)]
    pub(super) fn simple_or_included<T: SimpleType>(
        &mut self,
        element: &'static Element,
        facets: Option<&'static dyn Check>,
        binary: Binary<T>,
        includes: &dyn Includes,
    ) -> Result<T, Error> {
        let start = self.reader.offset();
        let mut text = Cow::Borrowed("");
        loop {
            match self.reader.next()? {
                Token::Text(more) if text.is_empty() => text = more,
                Token::Text(more) => text.to_mut().push_str(&more),
                Token::EndTag(_) => {
                    self.reader.cache_end(element.slot_id(), true);
                    return self.value(&text, element, facets, start);
                }
                Token::StartTag(tag) if is_white(&text) && self.is_include(&tag) => {
                    // The included content is bytes, so its text needs no conversion.
                    self.reading = None;
                    let included = self.include(tag.offset, binary, includes)?;
                    self.end_of(element.name)?;
                    return match included {
                        Included::Content(value) => self.included(value, element, facets, tag.offset),
                        Included::Reference(value) => Ok(value),
                    };
                }
                Token::StartTag(tag) => self.stray_element(tag, &Expected::words("text or <Include> of XOP"))?,
                Token::Comment(_) | Token::Instruction { .. } => {}
                Token::End => return Err(self.ended()),
            }
        }
    }

    fn is_include(&self, tag: &StartTag<'_>) -> bool {
        tag.name.local() == "Include" && self.reader.namespace(tag.namespace) == NAMESPACE
    }

    /// Returns the content of the `xop:Include` whose start tag was read last. Consumes its end tag.
    fn include<T>(&mut self, offset: usize, binary: Binary<T>, includes: &dyn Includes) -> Result<Included<T>, Error> {
        let fail = |kind, message: String| Error::new(kind, offset, message);
        let href = self
            .reader
            .attributes()
            .find(|attribute| attribute.name.local() == "href" && attribute.namespace.is_empty());
        let href =
            href.ok_or_else(|| fail(ErrorKind::Structure, "<Include> without the attribute \"href\"".to_owned()))?;
        includes.note(offset);
        let included = match binary.reference {
            Some(reference) => Included::Reference((reference.from)(href.value.to_owned())),
            None => {
                let (allowance, refused) = (&mut self.allowance, &mut self.refused);
                let mut charge = |bytes| {
                    let charged = allowance.charge(bytes);
                    *refused = charged.err().or(*refused);
                    charged.is_ok()
                };
                let content = includes.content(href.value, &mut charge);
                self.is_granted()?;
                match content.map_err(|problem| fail(ErrorKind::Lexical, problem))? {
                    Some(content) => Included::Content((binary.from)(content)),
                    None => Included::Reference((binary.from)(Vec::new())),
                }
            }
        };
        self.end_of("Include")?;
        Ok(included)
    }

    /// Reads up to the end tag. Only white space may precede it.
    fn end_of(&mut self, name: &str) -> Result<(), Error> {
        loop {
            let offset = self.reader.offset();
            match self.reader.next()? {
                Token::EndTag(_) => return Ok(()),
                Token::Text(text) if is_white(&text) => {}
                Token::Comment(_) | Token::Instruction { .. } => {}
                Token::Text(_) => {
                    let message = format!("found text, where </{name}> was expected");
                    self.tolerate(Error::new(ErrorKind::Structure, offset, message))?;
                }
                Token::StartTag(tag) => self.stray_element(tag, &Expected::words(format!("</{name}>")))?,
                Token::End => return Err(self.ended()),
            }
        }
    }

    /// Skips an element that isn't allowed, if the decoder is lenient.
    fn stray_element(&mut self, tag: StartTag<'_>, expected: &Expected) -> Result<(), Error> {
        let error = self.unexpected(tag, expected);
        self.tolerate(error)?;
        Ok(self.reader.skip_element()?)
    }

    /// Checks an included value in the same way as text.
    fn included<T: SimpleType>(
        &mut self,
        value: T,
        element: &'static Element,
        facets: Option<&'static dyn Check>,
        offset: usize,
    ) -> Result<T, Error> {
        // A complex type has facets of its own, which are not those of its element.
        if facets.is_none() && element.is_bare() {
            return Ok(value);
        }
        // Facets check the text that the part stands for: its canonical form.
        let mut text = Vec::new();
        value.write(&mut text);
        let text = String::from_utf8_lossy(&text);
        self.value(&text, element, facets, offset)
    }
}

/// Whether a text consists of white space only.
fn is_white(text: &str) -> bool {
    text.trim_matches([' ', '\t', '\n', '\r']).is_empty()
}
