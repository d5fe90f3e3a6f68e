//! The parts of a message, for validation.

use std::collections::HashMap;

use bytes::Bytes;
use castile_mime::ContentId;
use castile_soap::Received;
use castile_xml::Charset;

use crate::package::{StoredMessage, at_once};

/// An envelope and its attachments.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) root: Bytes,
    pub(super) charset: Option<Charset>,
    pub(super) parts: Vec<Part>,
    by_id: HashMap<ContentId, usize>,
    /// Whether the file is a package.
    pub(super) is_package: bool,
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) id: Option<ContentId>,
    pub(super) content: Bytes,
}

impl Package {
    /// Reads all parts.
    pub(super) fn read(message: &StoredMessage) -> Result<Self, castile_mime::Error> {
        let Received { message: root, charset, packaging, attachments, .. } = message.received()?;
        let parts = at_once(attachments.collect(usize::MAX))?.into_iter();
        let parts: Vec<Part> = parts.map(|(head, content)| Part { id: head.content_id().cloned(), content }).collect();
        let ids = parts.iter().enumerate().filter_map(|(number, part)| Some((part.id.clone()?, number)));
        Ok(Package { root, charset, by_id: ids.collect(), parts, is_package: packaging.is_some() })
    }

    /// Returns the part with this Content-ID.
    pub(super) fn part(&self, id: &ContentId) -> Option<&Part> {
        self.by_id.get(id).map(|number| &self.parts[*number])
    }
}
