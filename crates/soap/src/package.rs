//! Messages that come and go in packages: SOAP Messages with Attachments, and MTOM (SOAP Message Transmission
//! Optimization Mechanism).
//!
//! A message is decoded at once, and its parts come one after another. So a message with `xop:Include` elements is decoded
//! twice: the first time tells which parts they refer to, and those are read then. Parts that no element stands for wait
//! for whoever takes attachments.

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

/// From which length on binary values go beside a message that is MTOM, in bytes, unless something else is said. A part
/// with its head and the reference to it takes about 350 bytes, and base64 a third of what it stands for.
pub const DEFAULT_THRESHOLD: usize = 1 << 10;

/// Whether messages that are sent are MTOM, and from which length on binary values go beside them, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mtom {
    /// None is; values are in the message.
    Never,
    /// Answers to requests that are MTOM themselves or whose sender says that it takes it, and all messages of services
    /// whose contract says so (WS-MTOMPolicy).
    Asked(usize),
    /// All are.
    Always(usize),
}

impl Default for Mtom {
    fn default() -> Self {
        Mtom::Asked(DEFAULT_THRESHOLD)
    }
}

impl Mtom {
    /// The threshold for a message, if that is MTOM.
    pub fn threshold(self, is_asked: bool) -> Option<usize> {
        match self {
            Mtom::Asked(threshold) if is_asked => Some(threshold),
            Mtom::Always(threshold) => Some(threshold),
            Mtom::Asked(_) | Mtom::Never => None,
        }
    }
}

/// A message that was written, and what goes with it.
#[derive(Debug)]
pub struct Written {
    /// The envelope.
    pub message: Content,
    /// What goes with it.
    pub parts: Vec<Part>,
    /// How it stands to that, if that matters.
    pub packaging: Option<Packaging>,
}

impl Written {
    /// What was written, with parts that go before those it has.
    pub(crate) fn with(mut self, mut parts: Vec<Part>) -> Self {
        parts.append(&mut self.parts);
        Written { parts, ..self }
    }
}

/// What a carrier says of a message that came: to be read as one that is answered, or as an answer.
#[derive(Debug)]
pub struct Received {
    /// The envelope.
    pub message: Bytes,
    /// The charset of the media type, if it has one, as in [`RequestMessage`](crate::RequestMessage).
    pub charset: Option<Charset>,
    /// How the envelope stands to the parts that came with it, if it came in a package.
    pub packaging: Option<Packaging>,
    /// What came with it, and may still be on its way.
    pub attachments: Attachments,
}

impl From<Bytes> for Received {
    fn from(message: Bytes) -> Self {
        Received { message, charset: None, packaging: None, attachments: Attachments::none() }
    }
}

/// A package whose root part was read once, and may have to be read again.
pub(crate) struct Package {
    pub(crate) received: Received,
    pub(crate) options: Options,
    pub(crate) included: Option<Arc<Included>>,
    /// What it is charged to.
    pub(crate) reservation: Option<Arc<Reservation>>,
}

impl Package {
    /// Reads what the first reading found to be referred to and, unless somebody takes the rest, the rest. `true` if the
    /// message is to be read again.
    pub(crate) async fn fetch(&mut self, is_taken: bool) -> Result<bool, Error> {
        let limit = self.options.attachments.included;
        let wanted = self.included.as_ref().map(|included| included.lock().wanted.clone()).unwrap_or_default();
        let mut left = limit;
        for url in &wanted {
            let content = match self.content(url, left).await {
                Ok(content) => Ok(content),
                // The element that refers to it is what is wrong: reading it again tells where that is.
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

/// How often the URL of a part is in memory at a time: as what is wanted, in the list of those that are read, and as what is known.
const URL_COPIES: usize = 3;

/// What the `xop:Include` elements of a message stand for, as far as it is known.
pub(crate) struct Included(Mutex<State>);

#[derive(Debug)]
struct State {
    /// The URLs that were asked for, each once.
    wanted: Vec<String>,
    known: HashMap<String, Wanted>,
    /// Whether content may be asked for anew.
    is_kept: bool,
    /// How many parts may be referred to: no more may come.
    parts: usize,
    limit: usize,
    /// How many bytes may still be handed out.
    left: usize,
}

#[derive(Debug, Default)]
struct Wanted {
    /// How often it was asked for and not there.
    times: usize,
    content: Option<Result<Charged, String>>,
}

/// Content, and what it is charged to until it is handed out for the last time. What is handed out is charged as a value.
type Charged = (Bytes, Option<Share>);

impl Included {
    /// What a message of this packaging may refer to; `None` if it has no references.
    pub(crate) fn of(packaging: Option<Packaging>, options: &Options) -> Option<Arc<Self>> {
        (packaging == Some(Packaging::Mtom)).then(|| {
            let castile_mime::Limits { included: limit, parts, .. } = options.attachments;
            let (parts, is_kept) = (parts as usize, options.leniency.is_some());
            let state = State { wanted: Vec::new(), known: HashMap::new(), is_kept, parts, limit, left: limit };
            Arc::new(Included(Mutex::new(state)))
        })
    }

    /// Whether all was there that was asked for.
    pub(crate) fn is_complete(&self) -> bool {
        self.lock().known.values().all(|wanted| wanted.content.is_some())
    }

    /// The message is read from its beginning.
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
        // A reference is short and what it stands for may be long: the sum is bounded.
        let length = content.0.len();
        *left = left.checked_sub(length).ok_or("the references stand for more bytes than are allowed")?;
        entry.times = entry.times.saturating_sub(1);
        if entry.times == 0 && !*is_kept {
            // The last one has it without a copy.
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

    /// Each of them was kept, three times over, and charged to nobody.
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
