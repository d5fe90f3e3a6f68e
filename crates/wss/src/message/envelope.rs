//! Where the parts of an envelope are.

use std::collections::BTreeMap;
use std::ops::Range;

use castile_mime::Packaging;
use castile_soap::{MAX_HEADER_BLOCKS, MAX_HEADER_SIZE, Version};
use castile_xml::c14n::{CanonicalRuns, FindRuns};
use castile_xml::{Memory, Reader, StartTag, Token};

use super::part::Part;
use crate::included::Includes;
use crate::index::{IdAttributes, Index, Visitor};
use crate::limits::Limits;
use crate::uris::{WSA, WSA_2004, WSU};
use crate::{Error, ErrorKind};

/// Maximum number of prefixes that begin with `wsu` and are noted. With more of them, new ids have a prefix that nobody can guess.
pub(super) const MAX_ID_PREFIXES: usize = 256;

/// The parts of an envelope, as byte ranges.
#[derive(Debug)]
pub(crate) struct Envelope<'t> {
    pub(crate) version: Version,
    /// The prefix of the envelope, which is empty for a default namespace.
    pub(crate) prefix: String,
    /// The range of the header, if there is one.
    pub(crate) header: Option<Range<usize>>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) body: Range<usize>,
    /// Where other elements begin that are called `Body`, as the body is, and have attributes.
    pub(crate) other_bodies: Vec<usize>,
    /// The prefixes that begin with `wsu`, each with whether it always stands for the namespace of ids.
    pub(crate) id_prefixes: BTreeMap<String, bool>,
    /// Whether the first element of the body is a fault.
    pub(crate) is_fault: bool,
    /// The elements that stand for parts, if the message has MTOM.
    pub(crate) includes: Option<Includes>,
    /// What is canonical as it is written.
    pub(crate) canonical: CanonicalRuns<'t>,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) namespace: String,
    pub(crate) local: String,
    /// The role that the block is for.
    pub(crate) role: Option<String>,
    pub(crate) range: Range<usize>,
}

struct EnvelopeVisitor<'t> {
    limits: Limits,
    version: Option<Version>,
    prefix: String,
    id_prefixes: BTreeMap<String, bool>,
    header: Option<Range<usize>>,
    blocks: Vec<Block>,
    body: Option<Range<usize>>,
    other_bodies: Vec<usize>,
    /// Whether the first element of the body is a fault, if it has one.
    is_fault: Option<bool>,
    /// What the element at depth 2 is.
    current: Current,
    includes: Option<Includes>,
    canonical: FindRuns<'t>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Current {
    #[default]
    Other,
    Header,
    Body,
}

impl<'t> Envelope<'t> {
    /// Reads a message to its end, and indexes its ids. Elements `xop:Include` have a meaning only in MTOM.
    ///
    /// # Errors
    /// It is not an envelope, or has two bodies, or two elements have the same id.
    pub(crate) fn read(text: &'t str, packaging: Option<Packaging>, limits: Limits) -> Result<(Self, Index), Error> {
        let mut reader = Reader::decoded(text, limits.document, &mut Memory::default())?;
        let includes = (packaging == Some(Packaging::Mtom)).then(Includes::default);
        let mut visitor = EnvelopeVisitor::new(limits, includes);
        let index = Index::with(&mut reader, &IdAttributes::OF_MESSAGES, limits, &mut visitor)?;
        if let Some(header) = visitor.header.as_ref().filter(|header| header.end > MAX_HEADER_SIZE) {
            let message = format!("a header that ends after more than {MAX_HEADER_SIZE} bytes, which is the limit");
            return Err(Error::new(ErrorKind::Limit, message).at(header.start));
        }
        let EnvelopeVisitor {
            version,
            prefix,
            id_prefixes,
            header,
            blocks,
            body,
            other_bodies,
            is_fault,
            includes,
            canonical,
            ..
        } = visitor;
        let canonical = canonical.finish(&reader);
        match (version, body) {
            (Some(version), Some(body)) => {
                let is_fault = is_fault.unwrap_or_default();
                let envelope = Envelope {
                    version,
                    prefix,
                    header,
                    blocks,
                    body,
                    other_bodies,
                    id_prefixes,
                    is_fault,
                    includes,
                    canonical,
                };
                Ok((envelope, index))
            }
            _ => Err(Error::new(ErrorKind::Malformed, "an envelope without a body")),
        }
    }

    /// Returns the byte ranges of a part, each with its name for errors. The block of WS-Security and the package have the others.
    pub(crate) fn ranges(&self, part: &Part) -> Vec<(&Range<usize>, String)> {
        let named = |is_wanted: &dyn Fn(&Block) -> bool| {
            let blocks = self.blocks.iter().filter(|block| is_wanted(block));
            blocks.map(|block| (&block.range, format!("the header block {}", block.local))).collect()
        };
        match part {
            Part::Body => vec![(&self.body, "the body".to_owned())],
            Part::Addressing => named(&|block| [WSA, WSA_2004].contains(&block.namespace.as_str())),
            Part::Header { namespace, local } => named(&|block| block.namespace == *namespace && block.local == *local),
            Part::Timestamp | Part::Username | Part::Assertion | Part::Attachments => Vec::new(),
        }
    }

    /// Returns the block of WS-Security for a role.
    ///
    /// # Errors
    /// There are several.
    pub(crate) fn security(&self, namespace: &str, role: Option<&str>) -> Result<Option<&Block>, Error> {
        let is_for_us = |block: &&Block| match (&block.role, role) {
            (None, None) => true,
            (Some(found), Some(role)) => found == role,
            (Some(found), None) => self.version.is_role_of_recipient(found),
            (None, Some(_)) => false,
        };
        let mut found = self.blocks.iter().filter(|block| block.namespace == namespace && block.local == "Security");
        let mut found = found.by_ref().filter(is_for_us);
        match (found.next(), found.next()) {
            (Some(_), Some(second)) => {
                let message = "a second <Security> for the same role, where one was expected";
                Err(Error::new(ErrorKind::Malformed, message).at(second.range.start))
            }
            (first, _) => Ok(first),
        }
    }
}

impl EnvelopeVisitor<'_> {
    fn new(limits: Limits, includes: Option<Includes>) -> Self {
        EnvelopeVisitor {
            limits,
            version: None,
            prefix: String::new(),
            id_prefixes: BTreeMap::new(),
            header: None,
            blocks: Vec::new(),
            body: None,
            other_bodies: Vec::new(),
            is_fault: None,
            current: Current::Other,
            includes,
            canonical: FindRuns::default(),
        }
    }
}

impl<'t> Visitor<'t> for EnvelopeVisitor<'t> {
    fn next(&mut self, reader: &mut Reader<'t>) -> Result<Token<'t>, castile_xml::Error> {
        match self.includes {
            None => self.canonical.next(reader, |reader, tag| {
                let may_have_id = || {
                    !reader.is_plain()
                        && reader.attributes().any(|attribute| IdAttributes::OF_MESSAGES.may_be_id(&attribute))
                };
                reader.depth() <= 3 || tag.name.local() == "Signature" || may_have_id()
            }),
            // What is around these elements is noted.
            Some(_) => reader.next(),
        }
    }

    fn start(&mut self, reader: &Reader<'_>, tag: StartTag<'_>) -> Result<(), Error> {
        // Nothing is to be noted of most tags.
        if reader.is_plain() && reader.depth() > 3 && self.includes.is_none() {
            return Ok(());
        }
        let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
        let malformed = |message: &'static str| Err(Error::new(ErrorKind::Malformed, message).at(tag.offset));
        for (prefix, name) in reader.declarations().filter(|(prefix, _)| prefix.starts_with("wsu")) {
            if self.id_prefixes.len() < MAX_ID_PREFIXES || self.id_prefixes.contains_key(prefix) {
                *self.id_prefixes.entry(prefix.to_owned()).or_insert(true) &= name == WSU;
            }
        }
        let range = tag.offset..tag.offset;
        match reader.depth() {
            1 => {
                self.version = Version::of_namespace(namespace).filter(|_| local == "Envelope");
                self.prefix = tag.name.prefix().to_owned();
                if self.version.is_none() {
                    return malformed("a root element that is not an envelope of SOAP 1.1 or 1.2");
                }
            }
            2 => {
                self.current = match local {
                    _ if self.version.is_none_or(|version| version.namespace() != namespace) => Current::Other,
                    "Header" => Current::Header,
                    "Body" => Current::Body,
                    _ => Current::Other,
                };
                // What reads the message afterwards takes the first of each, in this order.
                match self.current {
                    Current::Header if self.header.is_some() || self.body.is_some() => {
                        return malformed("a second <Header>, or one after the <Body>");
                    }
                    Current::Body if self.body.is_some() => return malformed("a second <Body>"),
                    Current::Other if self.body.is_none() => {
                        return malformed("an element before the <Body> that is not the <Header>");
                    }
                    Current::Header => self.header = Some(range),
                    Current::Body => self.body = Some(range),
                    Current::Other => {}
                }
            }
            3 if self.current == Current::Header => {
                if self.blocks.len() == MAX_HEADER_BLOCKS {
                    let message = format!("more than {MAX_HEADER_BLOCKS} header blocks, which is the limit");
                    return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
                }
                let version = self.version.unwrap_or(Version::Soap11);
                let role = reader.attributes().find(|attribute| {
                    attribute.namespace == version.namespace() && attribute.name.local() == version.role_attribute()
                });
                self.blocks.push(Block {
                    namespace: namespace.to_owned(),
                    local: local.to_owned(),
                    role: role.map(|role| role.value.trim().to_owned()),
                    range,
                });
            }
            3 if self.current == Current::Body => {
                let is_fault = self.version.is_some_and(|version| version.namespace() == namespace) && local == "Fault";
                self.is_fault.get_or_insert(is_fault);
            }
            _ => {}
        }
        // That of the other version, too: another receiver may read it.
        if local == "Body" && reader.depth() > 2 && Version::of_namespace(namespace).is_some() {
            self.other_bodies.push(tag.offset);
        }
        let is_in_body = self.current == Current::Body && reader.depth() > 2;
        let limits = self.limits;
        self.includes.as_mut().map_or(Ok(()), |includes| includes.start(reader, tag, is_in_body, limits))
    }

    fn other(&mut self, offset: usize) {
        if let Some(includes) = &mut self.includes {
            includes.other(offset);
        }
    }

    fn end(&mut self, depth: usize, offset: usize) {
        if let Some(includes) = &mut self.includes {
            includes.end();
        }
        match depth {
            1 => {
                let part = match self.current {
                    Current::Header => self.header.as_mut(),
                    Current::Body => self.body.as_mut(),
                    Current::Other => None,
                };
                // Only the element that has just ended is still empty.
                if let Some(part) = part.filter(|part| part.start == part.end) {
                    part.end = offset;
                }
                self.current = Current::Other;
            }
            2 if self.current == Current::Header => {
                if let Some(block) = self.blocks.last_mut() {
                    block.range.end = offset;
                }
            }
            _ => {}
        }
    }
}

/// Returns the length of `<` and the name at the beginning of a start tag.
pub(super) fn end_of_name(tag: &str) -> usize {
    tag.find([' ', '\t', '\r', '\n', '/', '>']).unwrap_or(tag.len())
}
