//! Elements of a message that stand for parts of its package (`xop:Include`, XML-binary Optimized Packaging 1.0).
//!
//! What is signed is the document that has the base64 text of the parts in place of these elements (§5).

use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, Write};

use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use base64::write::EncoderWriter;
use castile_databinding::xop::NAMESPACE;
use castile_mime::{Attachments, ContentId};
use castile_soap::Offloading;
use castile_xml::{Reader, StartTag, excerpt};

use crate::crypto::Digest;
use crate::limits::Limits;
use crate::message::run;
use crate::{Error, ErrorKind};

/// What an element costs at least, in bytes of content: its part may have to be read from a file, however short it is.
pub(crate) const READING: usize = 16 << 10;

/// The `xop:Include` elements of a message.
#[derive(Debug, Default)]
pub(crate) struct Includes {
    /// In document order.
    elements: Vec<Include>,
    /// Why none of them may be signed: what one of them stands for would be unclear.
    problem: Option<Error>,
    previous: Previous,
}

#[derive(Debug)]
struct Include {
    /// The offset of the start tag.
    offset: usize,
    /// The part. `None` if there is a problem.
    id: Option<ContentId>,
    is_in_body: bool,
}

/// What was read last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Previous {
    /// A start tag.
    Start,
    /// The start tag of an `Include`.
    Include,
    /// The end tag of an `Include`.
    IncludeEnd,
    #[default]
    Other,
}

impl Includes {
    /// Notes a start tag. It must be inside the body, because only the payload is read with its parts.
    ///
    /// # Errors
    /// There are too many of them.
    pub(crate) fn start(
        &mut self,
        reader: &Reader<'_>,
        tag: StartTag<'_>,
        is_in_body: bool,
        limits: Limits,
    ) -> Result<(), Error> {
        let is_include = tag.name.local() == "Include" && reader.namespace(tag.namespace) == NAMESPACE;
        let before =
            std::mem::replace(&mut self.previous, if is_include { Previous::Include } else { Previous::Start });
        if matches!(before, Previous::Include | Previous::IncludeEnd) || is_include && before != Previous::Start {
            self.is_not_alone(tag.offset);
        }
        if !is_include {
            return Ok(());
        }
        if self.elements.len() == limits.includes {
            let message = format!("more than {} elements <Include>, which is the limit", limits.includes);
            return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
        }
        if !is_in_body {
            self.is_wrong(tag.offset, "an <Include> outside the body, which is not supported in a signed message");
        }
        // As the decoder does.
        let mut attributes = reader.attributes();
        let href = attributes.find(|attribute| attribute.name.local() == "href" && attribute.namespace.is_empty());
        let id = href.as_ref().and_then(|href| ContentId::from_url(href.value));
        if id.is_none() {
            let href = excerpt(href.as_ref().map_or("", |href| href.value), 60);
            self.is_wrong(tag.offset, format!("an <Include> with href \"{href}\", where a cid: URL was expected"));
        }
        self.elements.push(Include { offset: tag.offset, id, is_in_body });
        Ok(())
    }

    /// Notes an end tag.
    pub(crate) fn end(&mut self) {
        self.previous = match self.previous {
            Previous::Include => Previous::IncludeEnd,
            _ => Previous::Other,
        };
    }

    /// Notes text, a comment or an instruction.
    pub(crate) fn other(&mut self, offset: usize) {
        let before = std::mem::take(&mut self.previous);
        if matches!(before, Previous::Include | Previous::IncludeEnd) {
            self.is_not_alone(offset);
        }
    }

    fn is_not_alone(&mut self, offset: usize) {
        self.is_wrong(offset, "an <Include> that is not the only content of its element, or is not empty itself");
    }

    fn is_wrong(&mut self, offset: usize, message: impl Into<Cow<'static, str>>) {
        self.problem.get_or_insert_with(|| Error::new(ErrorKind::Malformed, message).at(offset));
    }

    /// Returns the number of the element that begins at this offset, if it is one of them.
    pub(crate) fn number_at(&self, offset: usize) -> Option<usize> {
        self.elements.binary_search_by_key(&offset, |include| include.offset).ok()
    }

    /// Returns the offset of the first element from this offset on.
    pub(crate) fn next_from(&self, offset: usize) -> Option<usize> {
        let before = self.elements.partition_point(|include| include.offset < offset);
        Some(self.elements.get(before)?.offset)
    }

    /// Returns the part that an element stands for.
    ///
    /// # Errors
    /// One of them is not as XOP requires (§3.2), or has no meaning for those who read the message.
    pub(crate) fn part(&self, number: usize) -> Result<&ContentId, Error> {
        match (&self.problem, self.elements.get(number)) {
            (None, Some(Include { id: Some(id), .. })) => Ok(id),
            (Some(problem), _) => Err(problem.clone()),
            _ => Err(Error::new(ErrorKind::Malformed, "an <Include> without a part")),
        }
    }

    /// Returns the parts that are in gaps, each with the text after it.
    ///
    /// # Errors
    /// Those of [`part`](Self::part).
    pub(crate) fn parts(&self, gaps: Vec<Gap>) -> Result<Vec<(ContentId, String)>, Error> {
        gaps.into_iter().map(|gap| Ok((self.part(gap.number)?.clone(), gap.text))).collect()
    }

    /// Returns whether one of them in the body stands for this part.
    pub(crate) fn body_has(&self, id: &ContentId) -> bool {
        self.elements.iter().any(|include| include.is_in_body && include.id.as_ref() == Some(id))
    }

    /// Returns the offsets of all of them.
    pub(crate) fn offsets(&self) -> Vec<usize> {
        self.elements.iter().map(|include| include.offset).collect()
    }
}

/// The elements that stand for parts, while content is digested.
pub(crate) struct PartsInside<'i> {
    pub(crate) includes: &'i Includes,
    /// How many bytes of canonical text may still be kept, because parts come before them. `None` if there were more.
    pub(crate) kept: Cell<Option<usize>>,
}

/// Canonical text that a part comes before.
#[derive(Debug)]
pub(crate) struct Gap {
    /// The number of the element that stands for the part.
    pub(crate) number: usize,
    pub(crate) text: String,
}

/// The digest of content with parts, which are still to come.
pub(crate) struct OpenDigest {
    /// The digest of the text before the first part.
    pub(crate) digest: Box<dyn Digest>,
    /// The parts, each with the canonical text after it.
    pub(crate) parts: Vec<(ContentId, String)>,
    pub(crate) uri: String,
    pub(crate) stated: Vec<u8>,
    /// The offset of the reference.
    pub(crate) offset: usize,
}

impl OpenDigest {
    /// Returns how many bytes of memory the text takes.
    pub(crate) fn kept(&self) -> usize {
        self.parts.iter().map(|(_, text)| text.capacity()).sum()
    }

    /// Adds the parts, which are stored, and compares the digest. `left` is how many bytes of content there may still be.
    pub(crate) async fn verify(
        self,
        attachments: &Attachments,
        left: &mut usize,
        offload: Option<&Offloading>,
    ) -> Result<(), Error> {
        let OpenDigest { mut digest, parts, uri, stated, offset } = self;
        for (id, text) in parts {
            let mut encoder = encoder(&mut *digest);
            let mut paid = READING;
            spend(left, paid)?;
            let is_there = attachments.show(&id, |data| {
                let length = data.len().div_ceil(3) * 4;
                let more = length.saturating_sub(paid);
                paid -= length - more;
                spend(left, more)?;
                encoder.write_all(data).map_err(|error| unwritable(&error))
            });
            if !is_there.await? {
                let message =
                    format!("no part of the package is what <Include> with \"{}\" means", excerpt(id.as_str(), 60));
                return Err(Error::new(ErrorKind::Reference, message).at(offset));
            }
            encoder.finish().map_err(|error| unwritable(&error))?;
            drop(encoder);
            let length = text.len();
            let update = move || {
                digest.update(text.as_bytes());
                digest
            };
            digest = run(offload, length, update).await?;
        }
        match digest.finish() == stated {
            true => Ok(()),
            false => {
                let uri = excerpt(&uri, 60);
                let message = format!(
                    "the content of the reference \"{uri}\", or a part in it, was changed: it has another digest"
                );
                Err(Error::new(ErrorKind::Digest, message).at(offset))
            }
        }
    }
}

/// Counts bytes of content.
fn spend(left: &mut usize, bytes: usize) -> Result<(), Error> {
    *left = left.checked_sub(bytes).ok_or_else(|| {
        Error::new(ErrorKind::Limit, "with its parts, signed content is longer than the limit of content")
    })?;
    Ok(())
}

/// Adds the text of a part that is in memory.
pub(crate) fn update_with(digest: &mut dyn Digest, content: &[u8]) -> Result<(), Error> {
    let mut encoder = encoder(digest);
    encoder.write_all(content).and_then(|()| encoder.finish().map(drop)).map_err(|error| unwritable(&error))
}

fn encoder(digest: &mut dyn Digest) -> EncoderWriter<'static, GeneralPurpose, Digesting<'_>> {
    EncoderWriter::new(Digesting(digest), &STANDARD)
}

/// Digests what is written.
struct Digesting<'d>(&'d mut dyn Digest);

impl Write for Digesting<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.update(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cold]
fn unwritable(error: &io::Error) -> Error {
    Error::new(ErrorKind::Crypto, format!("a part can't be digested: {error}"))
}
