//! The parts of a package that stand for elements of its message (`xop:Include`).

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use castile_budget::Share;
use castile_databinding::xop::Includes;
use castile_mime::{ContentId, Packaging};

use crate::error::{Error, ErrorKind};
use crate::options::Options;

/// How many copies of the URL of a part are in memory: in `requested`, in the list of parts being read, and in `by_url`.
const URL_COPIES: usize = 3;

/// The content of the parts that a message's `xop:Include` elements refer to, if it is known.
pub(crate) struct Included(Mutex<State>);

#[derive(Debug)]
struct State {
    /// The URLs that were requested, each once.
    requested: Vec<String>,
    by_url: HashMap<String, RequestedPart>,
    /// Whether the content may be requested again.
    is_kept: bool,
    /// The maximum number of parts that may be referred to, which is the maximum number of parts in a package.
    max_parts: usize,
    limit: usize,
    /// How many bytes may still be returned.
    bytes_left: usize,
    /// The byte offsets of the elements that must be read as binary values.
    required: Vec<usize>,
    /// Those of them that were not read yet.
    unread: BTreeSet<usize>,
}

#[derive(Debug, Default)]
struct RequestedPart {
    /// How many times the content was requested before it was there.
    times: usize,
    content: Option<Result<Charged, String>>,
}

/// The content, and the reservation to which it is charged until it is returned for the last time. Returned content is charged as a
/// value.
pub(crate) type Charged = (Bytes, Option<Share>);

impl Included {
    /// Creates the state for a message with this packaging. Returns `None` if such messages have no references. `required` are the
    /// byte offsets of the elements that must be read as binary values.
    pub(crate) fn of(packaging: Option<Packaging>, options: &Options, required: &[usize]) -> Option<Arc<Self>> {
        (packaging == Some(Packaging::Mtom)).then(|| {
            let castile_mime::Limits { included: limit, parts, .. } = options.attachments;
            let (parts, is_kept) = (parts as usize, options.leniency.is_some());
            let state = State {
                requested: Vec::new(),
                by_url: HashMap::new(),
                is_kept,
                max_parts: parts,
                limit,
                bytes_left: limit,
                required: required.to_vec(),
                unread: BTreeSet::new(),
            };
            Arc::new(Included(Mutex::new(state)))
        })
    }

    /// Returns whether all requested content is there.
    pub(crate) fn is_complete(&self) -> bool {
        self.lock().by_url.values().all(|requested| requested.content.is_some())
    }

    /// Allows for as many included bytes as before, and requires the same elements again. Must be called each time before the message
    /// is read.
    pub(crate) fn restart(&self) {
        let mut state = self.lock();
        state.bytes_left = state.limit;
        state.unread = state.required.iter().copied().collect();
    }

    /// Checks that no element must be read as a binary value, before a message is read in which none is.
    ///
    /// # Errors
    /// One must be.
    pub(crate) fn refuse_required(&self) -> Result<(), Error> {
        self.restart();
        self.check()
    }

    /// Checks that all elements were read as binary values that must be.
    ///
    /// # Errors
    /// One was not, so that it may have been taken for something else than what it stands for.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.lock().unread.first() {
            None => Ok(()),
            Some(offset) => {
                let message = "found <Include> of XOP in a signed message, where no binary value was expected";
                Err(Error::at(*offset, ErrorKind::Document, message.to_owned()))
            }
        }
    }

    /// Returns the URLs of the parts that were requested.
    pub(crate) fn requested(&self) -> Vec<String> {
        self.lock().requested.clone()
    }

    /// Adds the content of a part, or the reason why it can't be read.
    pub(crate) fn insert(&self, url: &str, content: Result<Charged, String>) {
        self.lock().by_url.entry(url.to_owned()).or_default().content = Some(content);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Includes for Included {
    fn content(&self, href: &str, charge: &mut dyn FnMut(usize) -> bool) -> Result<Option<Vec<u8>>, String> {
        let id = ContentId::from_url(href).ok_or_else(|| format!("found href {href:?}, expected a cid: URL"))?;
        let url = id.to_url();
        let mut state = self.lock();
        let State { requested, by_url, is_kept, max_parts, bytes_left, .. } = &mut *state;
        if !by_url.contains_key(&url) {
            if requested.len() >= *max_parts {
                return Err(format!("found references to more than {max_parts} parts, which is the limit"));
            }
            if !charge(url.len().saturating_mul(URL_COPIES)) {
                return Ok(None);
            }
            requested.push(url.clone());
        }
        let entry = by_url.entry(url).or_default();
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
        *bytes_left = bytes_left.checked_sub(length).ok_or("the referenced parts have more bytes than are allowed")?;
        entry.times = entry.times.saturating_sub(1);
        if entry.times == 0 && !*is_kept {
            // The last request gets the content without a copy.
            let (content, share) = std::mem::take(content);
            drop(share);
            return Ok(charge(length).then(|| content.into()));
        }
        Ok(charge(length).then(|| content.0.to_vec()))
    }

    fn note(&self, offset: usize) {
        self.lock().unread.remove(&offset);
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
        Included::of(Some(Packaging::Mtom), &Options::default(), &[]).expect("MTOM has references")
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
        assert_eq!(included.lock().requested.len(), 100);
    }

    #[test]
    fn referenced_parts_are_charged() {
        let (included, mut charged) = (included(), Vec::new());
        for url in ["cid:abcdefgh", "cid:abcdefgh", "cid:1"] {
            let mut charge = |bytes| {
                charged.push(bytes);
                bytes > 20
            };
            assert_eq!(included.content(url, &mut charge), Ok(None));
        }
        assert_eq!((charged, included.lock().requested.as_slice()), (vec![36, 15], &["cid:abcdefgh".to_owned()][..]));
    }
}
