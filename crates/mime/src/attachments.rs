//! The parts beside the root.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use castile_budget::Share;
use futures_util::Stream;
use http_body::{Body, Frame, SizeHint};

use crate::charges::{begin, charged, grow};
use crate::error::shown;
use crate::package::body_of_parts;
use crate::source::Source;
use crate::store::{Kept, Store};
use crate::{Charges, ContentId, Error, ErrorKind, Limits, Parser, Part, PartHead};

/// How many Content-IDs an error tells.
const MOST_SHOWN: usize = 5;

/// The attachments of a message, taken up in the order in which they come, or by name.
///
/// They are read off the connection as they are asked for. An attachment may be taken to another task; what isn't read of
/// it once the next one is asked for is passed over. Dropping all of them, and their [`Rest`], gives up the body.
#[derive(Debug)]
pub struct Attachments {
    /// Most messages come without a package, and are handed on with no more than this.
    package: Option<Box<Package>>,
}

/// What is left of a package.
#[derive(Debug)]
struct Package {
    /// Where more come from.
    source: Source,
    /// Those that came before they were wanted.
    kept: VecDeque<(PartHead, Kept)>,
    store: Store,
}

/// An attachment: a head, and content that comes in pieces.
///
/// It is a [`Stream`] of bytes and a [`Body`], so that it can be sent on as it comes.
pub struct Attachment {
    head: PartHead,
    content: Content,
    charges: Option<Charges>,
}

enum Content {
    Coming(Source),
    Kept(Kept),
    Over,
}

/// What of a package is left to be read when nobody takes attachments from it any more.
#[derive(Debug)]
pub struct Rest(Source);

impl Rest {
    /// Reads it, up to about `limit` bytes, and keeps nothing of it. Nothing is read while somebody has the attachments, or
    /// one that still comes.
    ///
    /// # Errors
    /// What is wrong with the body up to there.
    pub async fn pass_over(self, limit: usize) -> Result<(), Error> {
        let Rest(source) = self;
        let mut left = limit;
        while !source.is_shared()
            && let Some(head) = source.part().await?
        {
            while let Some(data) = source.data(head.number()).await? {
                let Some(less) = left.checked_sub(data.len()) else { return Ok(()) };
                left = less;
            }
        }
        Ok(())
    }
}

impl Attachments {
    /// No attachments.
    pub fn none() -> Self {
        Attachments { package: None }
    }

    /// Attachments as they come with a message that has these parts, for tests. No part comes twice, and there are limits, as with those
    /// of others.
    ///
    /// ```
    /// use castile_mime::{Attachments, Part};
    ///
    /// # async fn read() -> Result<(), castile_mime::Error> {
    /// let mut attachments = Attachments::of(vec![Part::attachment("text/plain", "It rains.")?])?;
    /// while let Some(mut attachment) = attachments.next().await? {
    ///     assert_eq!(attachment.data().await?.unwrap(), "It rains.");
    /// }
    /// # Ok(())
    /// # }
    /// # futures_util::FutureExt::now_or_never(read()).unwrap().unwrap();
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::System`] if the system has no random numbers.
    pub fn of(parts: Vec<Part>) -> Result<Self, Error> {
        if parts.is_empty() {
            return Ok(Attachments::none());
        }
        let limits = Limits::default();
        let (boundary, body) = body_of_parts(parts)?;
        let source = Source::new(Parser::new(&boundary, limits), body, None);
        Ok(Attachments::new(source, VecDeque::new(), Store::new(limits, None)))
    }

    pub(crate) fn new(source: Source, kept: VecDeque<(PartHead, Kept)>, store: Store) -> Self {
        Attachments { package: Some(Box::new(Package { source, kept, store })) }
    }

    /// What will be left when these are dropped; `None` if there never were any.
    pub fn rest(&self) -> Option<Rest> {
        self.package.as_ref().map(|package| Rest(package.source.clone()))
    }

    /// The next attachment; `None` if there are no more.
    ///
    /// # Errors
    /// What is wrong with the body up to there.
    pub async fn next(&mut self) -> Result<Option<Attachment>, Error> {
        let Some(package) = &mut self.package else { return Ok(None) };
        if let Some((head, kept)) = package.kept.pop_front() {
            return Ok(Some(package.kept(head, kept)));
        }
        package.coming().await
    }

    /// The attachment that a reference in the message names: a `cid:` URL (RFC 2392), or the URL of a Content-Location
    /// (RFC 2557 §4), which must be written alike.
    ///
    /// A later part with the same Content-ID is an error ([`ErrorKind::Duplicate`]) when it is read or passed over, which may be
    /// after this one was handed out: who acts upon attachments should read all of them first.
    ///
    /// Attachments that come before it are kept, within [`Limits::stored`](crate::Limits::stored), and stay to be asked for.
    ///
    /// # Cancel safety
    /// It is not cancel safe: if the future is dropped before it is done, the attachment that was being kept is lost.
    ///
    /// # Errors
    /// [`ErrorKind::Missing`] if there is none, or none any more; [`ErrorKind::Limit`] if too much comes before it; or
    /// what is wrong with the body up to there.
    pub async fn by_url(&mut self, url: &str) -> Result<Attachment, Error> {
        let Some(package) = &mut self.package else { return Err(missing(url, &[])) };
        let wanted = Reference::new(url);
        if let Some(index) = package.kept.iter().position(|(head, _)| wanted.names(head))
            && let Some((head, kept)) = package.kept.remove(index)
        {
            return Ok(package.kept(head, kept));
        }
        while let Some(attachment) = package.coming().await? {
            if wanted.names(&attachment.head) {
                return Ok(attachment);
            }
            package.keep(attachment).await?;
        }
        Err(missing(url, &package.source.content_ids()))
    }

    /// All attachments that are left, in memory.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if they have more than `limit` bytes together, or what is wrong with the body.
    pub async fn collect(mut self, limit: usize) -> Result<Vec<(PartHead, Bytes)>, Error> {
        let mut all = Vec::new();
        let mut left = limit;
        while let Some(attachment) = self.next().await? {
            let head = attachment.head.clone();
            let content = attachment.collect(left).await?;
            left -= content.len();
            all.push((head, content));
        }
        Ok(all)
    }

    /// Reads what is left and keeps nothing of it, so that a package that doesn't come to its end is found out.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if it has more than `limit` bytes, or what is wrong with the body.
    pub async fn pass_over(&mut self, limit: usize) -> Result<(), Error> {
        let mut left = limit;
        while let Some(mut attachment) = self.next().await? {
            while let Some(data) = attachment.data().await? {
                left = left.checked_sub(data.len()).ok_or_else(|| {
                    let message = format!("attachments that nobody takes have more than {limit} bytes");
                    Error::new(ErrorKind::Limit, message).in_part(attachment.head.number())
                })?;
            }
        }
        Ok(())
    }
}

impl Package {
    /// The next attachment that was not kept.
    async fn coming(&mut self) -> Result<Option<Attachment>, Error> {
        let head = self.source.part().await?;
        let charges = self.store.charges().cloned();
        Ok(head.map(|head| Attachment { head, content: Content::Coming(self.source.clone()), charges }))
    }

    fn kept(&self, head: PartHead, kept: Kept) -> Attachment {
        Attachment { head, content: Content::Kept(kept), charges: self.store.charges().cloned() }
    }

    async fn keep(&mut self, mut attachment: Attachment) -> Result<(), Error> {
        let part = attachment.head.number();
        let mut keeping = self.store.begin(&attachment.head).map_err(|error| error.in_part(part))?;
        while let Some(data) = attachment.data().await? {
            self.store.push(&mut keeping, &data).await.map_err(|error| error.in_part(part))?;
        }
        self.kept.push_back((attachment.head, self.store.end(keeping).await?));
        Ok(())
    }
}

impl Attachment {
    /// The head.
    pub fn head(&self) -> &PartHead {
        &self.head
    }

    /// The next piece of the content, decoded; `None` at the end.
    ///
    /// # Errors
    /// What is wrong with the body, or [`ErrorKind::Passed`] if other attachments were asked for in the meantime.
    pub async fn data(&mut self) -> Result<Option<Bytes>, Error> {
        std::future::poll_fn(|cx| self.poll_data(cx)).await
    }

    /// All of the content, in memory, which is charged for until the last of it is dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if it has more than `limit` bytes, [`ErrorKind::Exhausted`] if there is no memory for them, or as
    /// for [`data`](Self::data).
    pub async fn collect(self, limit: usize) -> Result<Bytes, Error> {
        let (content, share) = self.collect_with(limit).await?;
        Ok(charged(content, share))
    }

    /// All of the content, in memory, and what it is charged to, for whoever makes of it what is charged otherwise.
    ///
    /// # Errors
    /// As for [`collect`](Self::collect).
    pub async fn collect_with(mut self, limit: usize) -> Result<(Bytes, Option<Share>), Error> {
        let part = self.head.number();
        let too_long = || {
            let message = format!("an attachment has more bytes than the {limit} that are left for it");
            Error::new(ErrorKind::Limit, message).in_part(part)
        };
        if let Content::Kept(kept) = &mut self.content
            && let Some((content, share)) = kept.whole()
        {
            return if content.len() > limit { Err(too_long()) } else { Ok((content, share)) };
        }
        let mut share = begin(self.charges.as_ref());
        let mut content = Gathered::default();
        while let Some(data) = self.data().await? {
            if data.len() > limit - content.length() {
                return Err(too_long());
            }
            grow(&mut share, data.len()).map_err(|error| error.in_part(part))?;
            content.push(data);
        }
        Ok((content.into_bytes(), share))
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        let data = match &mut self.content {
            Content::Coming(source) => ready!(source.poll_data(self.head.number(), cx)),
            Content::Kept(kept) => ready!(kept.poll_data(cx)),
            Content::Over => Ok(None),
        };
        if !matches!(data, Ok(Some(_))) {
            self.content = Content::Over;
        }
        Poll::Ready(data)
    }
}

impl Stream for Attachment {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_data(cx).map(Result::transpose)
    }
}

impl Body for Attachment {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.poll_data(cx).map(|data| data.map(|data| data.map(Frame::data)).transpose())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Coming(_) => SizeHint::default(),
            Content::Kept(kept) => SizeHint::with_exact(kept.length()),
            Content::Over => SizeHint::with_exact(0),
        }
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment").field("head", &self.head).finish_non_exhaustive()
    }
}

/// What a URL in a message names.
enum Reference<'a> {
    Id(ContentId),
    Location(&'a str),
}

impl<'a> Reference<'a> {
    fn new(url: &'a str) -> Self {
        ContentId::from_url(url).map_or(Reference::Location(url.trim()), Reference::Id)
    }

    fn names(&self, head: &PartHead) -> bool {
        match self {
            Reference::Id(id) => head.content_id() == Some(id),
            Reference::Location(url) => head.content_location() == Some(url),
        }
    }
}

/// Content that is put together: one piece is left as it is.
#[derive(Default)]
pub(crate) struct Gathered {
    first: Bytes,
    all: BytesMut,
}

impl Gathered {
    pub(crate) fn length(&self) -> usize {
        self.first.len() + self.all.len()
    }

    pub(crate) fn push(&mut self, data: Bytes) {
        if self.length() == 0 {
            self.first = data;
            return;
        }
        let first = std::mem::take(&mut self.first);
        self.all.reserve(first.len() + data.len());
        self.all.extend_from_slice(&first);
        self.all.extend_from_slice(&data);
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.freeze() }
    }
}

#[cold]
fn missing(url: &str, ids: &[ContentId]) -> Error {
    let message = format!("no attachment is named by {}, {}", shown(url.as_bytes()), among(ids));
    Error::new(ErrorKind::Missing, message)
}

/// Which Content-IDs there were, for messages of errors.
pub(crate) fn among(ids: &[ContentId]) -> String {
    let some: Vec<String> = ids.iter().take(MOST_SHOWN).map(|id| shown(id.as_str().as_bytes())).collect();
    match ids.len() {
        0 => "and no part has a Content-ID".to_owned(),
        more if more > MOST_SHOWN => format!("among {more} parts: {} …", some.join(", ")),
        _ => format!("among the parts {}", some.join(", ")),
    }
}
