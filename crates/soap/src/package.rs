//! Messages in packages: SOAP Messages with Attachments, and MTOM (SOAP Message Transmission Optimization Mechanism).
//!
//! A message is decoded in one step, while its parts arrive one after another. A message with `xop:Include` elements is therefore
//! decoded twice. The first pass collects the parts that the elements refer to, and these parts are then read. Parts without a
//! reference are left for the handler, which reads them as attachments.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use castile_budget::{Reservation, Share};
use castile_databinding::xop::Includes;
use castile_mime::ErrorKind::{Limit, Missing};
use castile_mime::{Attachments, Content, ContentId, Packaging, Part};
use castile_xml::Charset;

use crate::{Error, Options};

/// A written message with its parts.
#[derive(Debug)]
pub struct Written {
    /// The envelope.
    pub message: Content,
    /// The parts of the package.
    pub parts: Vec<Part>,
    /// How the envelope and the parts are packaged. `None` leaves this to the transport.
    pub packaging: Option<Packaging>,
}

impl Written {
    /// Inserts parts before the existing parts.
    pub(crate) fn with(mut self, mut parts: Vec<Part>) -> Self {
        parts.append(&mut self.parts);
        Written { parts, ..self }
    }
}

/// A received message with the data from its transport.
#[derive(Debug)]
pub struct Received {
    /// The envelope.
    pub message: Bytes,
    /// The charset of the media type, if there is one, as in [`RequestMessage`](crate::RequestMessage).
    pub charset: Option<Charset>,
    /// How the envelope and its parts are packaged, if the message arrived in a package.
    pub packaging: Option<Packaging>,
    /// The attachments, which may still be arriving.
    pub attachments: Attachments,
}

impl From<Bytes> for Received {
    fn from(message: Bytes) -> Self {
        Received { message, charset: None, packaging: None, attachments: Attachments::none() }
    }
}

/// A package whose root part was read, and may have to be read again.
pub(crate) struct Package {
    pub(crate) received: Received,
    pub(crate) options: Options,
    pub(crate) included: Option<Arc<Included>>,
    /// The reservation to which the package is charged.
    pub(crate) reservation: Option<Arc<Reservation>>,
}

impl Package {
    /// Reads the parts that the first pass found references to. Unless `is_taken`, the remaining parts are skipped. Returns `true`
    /// if the message must be read again.
    pub(crate) async fn fetch(&mut self, is_taken: bool) -> Result<bool, Error> {
        let limit = self.options.attachments.included;
        let wanted = self.included.as_ref().map(|included| included.lock().wanted.clone()).unwrap_or_default();
        let mut left = limit;
        for url in &wanted {
            let content = match self.content(url, left).await {
                Ok(content) => Ok(content),
                // The error belongs to the reference. The second pass reports it with the place of the element.
                Err(error) if matches!(error.kind(), Missing | Limit) => Err(error.to_string()),
                Err(error) => return Err(error.into()),
            };
            left -= content.as_ref().map_or(0, |(content, _)| content.len());
            let is_wrong = content.is_err();
            if let Some(included) = &self.included {
                included.lock().come(url, content);
            }
            if is_wrong {
                return Ok(true);
            }
        }
        if !is_taken {
            self.received.attachments.pass_over(limit).await?;
        }
        Ok(!wanted.is_empty())
    }

    async fn content(&mut self, url: &str, limit: usize) -> Result<Charged, castile_mime::Error> {
        self.received.attachments.by_url(url).await?.collect_with(limit).await
    }
}

/// How many copies of the URL of a part are in memory: in `wanted`, in the list of parts being read, and in `known`.
const URL_COPIES: usize = 3;

/// The content of the parts that a message's `xop:Include` elements refer to, if it is known.
pub(crate) struct Included(Mutex<State>);

#[derive(Debug)]
struct State {
    /// The URLs that were requested, each once.
    wanted: Vec<String>,
    known: HashMap<String, Wanted>,
    /// Whether the content may be requested again.
    is_kept: bool,
    /// The maximum number of parts that may be referred to, which is the maximum number of parts in a package.
    parts: usize,
    limit: usize,
    /// How many bytes may still be returned.
    left: usize,
}

#[derive(Debug, Default)]
struct Wanted {
    /// How many times the content was requested before it was there.
    times: usize,
    content: Option<Result<Charged, String>>,
}

/// The content, and the reservation to which it is charged until it is returned for the last time. Returned content is charged as a
/// value.
type Charged = (Bytes, Option<Share>);

impl Included {
    /// Creates the state for a message with this packaging. Returns `None` if such messages have no references.
    pub(crate) fn of(packaging: Option<Packaging>, options: &Options) -> Option<Arc<Self>> {
        (packaging == Some(Packaging::Mtom)).then(|| {
            let castile_mime::Limits { included: limit, parts, .. } = options.attachments;
            let (parts, is_kept) = (parts as usize, options.leniency.is_some());
            let state = State { wanted: Vec::new(), known: HashMap::new(), is_kept, parts, limit, left: limit };
            Arc::new(Included(Mutex::new(state)))
        })
    }

    /// Returns whether all requested content is there.
    pub(crate) fn is_complete(&self) -> bool {
        self.lock().known.values().all(|wanted| wanted.content.is_some())
    }

    /// Must be called before the message is read from its beginning.
    pub(crate) fn begin(&self) {
        let mut state = self.lock();
        state.left = state.limit;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn come(&mut self, url: &str, content: Result<Charged, String>) {
        self.known.entry(url.to_owned()).or_default().content = Some(content);
    }
}

impl Includes for Included {
    fn content(&self, href: &str, charge: &mut dyn FnMut(usize) -> bool) -> Result<Option<Vec<u8>>, String> {
        let id = ContentId::from_url(href).ok_or_else(|| format!("found href {href:?}, expected a cid: URL"))?;
        let url = id.to_url();
        let mut state = self.lock();
        let State { wanted, known, is_kept, parts, left, .. } = &mut *state;
        if !known.contains_key(&url) {
            if wanted.len() >= *parts {
                return Err(format!("found references to more than {parts} parts, which is the limit"));
            }
            if !charge(url.len().saturating_mul(URL_COPIES)) {
                return Ok(None);
            }
            wanted.push(url.clone());
        }
        let entry = known.entry(url).or_default();
        let content = match &mut entry.content {
            None => {
                entry.times += 1;
                return Ok(None);
            }
            Some(Err(problem)) => return Err(problem.clone()),
            Some(Ok(content)) => content,
        };
        // A short reference may stand for long content, so the total length is limited.
        let length = content.0.len();
        *left = left.checked_sub(length).ok_or("the references stand for more bytes than are allowed")?;
        entry.times = entry.times.saturating_sub(1);
        if entry.times == 0 && !*is_kept {
            // The last request gets the content without a copy.
            let (content, share) = std::mem::take(content);
            drop(share);
            return Ok(charge(length).then(|| content.into()));
        }
        Ok(charge(length).then(|| content.0.to_vec()))
    }
}

impl fmt::Debug for Included {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Included").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn included() -> Arc<Included> {
        Included::of(Some(Packaging::Mtom), &Options::default()).expect("MTOM has references")
    }

    /// Regression test: the URLs were stored three times without being charged.
    #[test]
    fn no_more_parts_are_referred_to_than_may_come() {
        let included = included();
        for number in 0..100 {
            assert_eq!(included.content(&format!("cid:{number}"), &mut |_| true), Ok(None));
        }
        assert_eq!(included.content("cid:7", &mut |_| true), Ok(None));
        let problem = included.content("cid:100", &mut |_| true).unwrap_err();
        assert_eq!(problem, "found references to more than 100 parts, which is the limit");
        assert_eq!(included.lock().wanted.len(), 100);
    }

    #[test]
    fn what_is_referred_to_is_charged() {
        let (included, mut charged) = (included(), Vec::new());
        for url in ["cid:abcdefgh", "cid:abcdefgh", "cid:1"] {
            let mut charge = |bytes| {
                charged.push(bytes);
                bytes > 20
            };
            assert_eq!(included.content(url, &mut charge), Ok(None));
        }
        assert_eq!((charged, included.lock().wanted.as_slice()), (vec![36, 15], &["cid:abcdefgh".to_owned()][..]));
    }
}
