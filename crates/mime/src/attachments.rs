//! Attachments: the parts of a package besides the root.

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
use crate::package::{self, body_of_parts};
use crate::source::Source;
use crate::store::{Store, Stored};
use crate::{Charges, ContentId, Error, ErrorKind, Inspector, Limits, Parser, Part, PartHead};

/// The most Content-IDs that an error lists.
const MAX_LISTED: usize = 5;

/// The attachments of a message, which are taken in order of arrival or by name.
///
/// They are read from the connection on demand. An attachment may be moved to another task. When the next attachment is
/// requested, unread content of the previous one is skipped. Dropping the attachments and their [`Rest`] drops the
/// body.
#[derive(Debug)]
pub struct Attachments {
    /// Boxed, because most messages have no package and should move cheaply.
    package: Option<Box<Package>>,
}

/// The rest of a package.
#[derive(Debug)]
struct Package {
    /// The source of further attachments.
    source: Source,
    /// The attachments that arrived before they were requested.
    stored: VecDeque<(PartHead, Stored)>,
    store: Store,
}

/// An attachment: its head and its content as a stream.
///
/// It is a [`Stream`] of bytes and a [`Body`], so it can be forwarded as it arrives.
///
/// If it is compared with a signature while it arrives, only all of it [in memory](Self::collect) is known to be what was signed.
/// Reading it in pieces is an error then ([`ErrorKind::Unverified`]), except [as what it is](Self::into_unverified).
pub struct Attachment {
    head: PartHead,
    content: Content,
    charges: Option<Charges>,
    /// Whether its content is known to be right only at its end.
    is_unverified: bool,
}

/// An attachment whose content is read before it is known whether it is what was signed. The end tells.
///
/// ```
/// use castile_mime::{Attachments, Part};
///
/// # async fn read() -> Result<(), castile_mime::Error> {
/// # let mut attachments = Attachments::of(vec![Part::attachment("text/plain", "It rains.")?])?;
/// let mut scan = attachments.by_url("cid:scan@example").await;
/// # scan = attachments.next().await.map(|attachment| attachment.unwrap());
/// let mut scan = scan?.into_unverified();
/// let mut length = 0;
/// while let Some(data) = scan.data().await? {
///     length += data.len(); // Write it to where nobody uses it yet.
/// }
/// scan.finish().await?; // Now it is known to be right.
/// # assert_eq!(length, 9);
/// # Ok(())
/// # }
/// # futures_util::FutureExt::now_or_never(read()).unwrap().unwrap();
/// ```
#[derive(Debug)]
#[must_use = "only `finish` tells whether the content is what was signed"]
pub struct UnverifiedAttachment {
    attachment: Attachment,
    /// Why its content is not right, which stays so.
    failed: Option<Error>,
}

enum Content {
    Streamed(Source),
    Stored(Stored),
    Over,
}

/// The unread rest of a package, after its attachments have been dropped.
#[derive(Debug)]
pub struct Rest(Source);

impl Rest {
    /// Reads and discards up to about `limit` bytes. Nothing is read while the [`Attachments`] still exist, or an
    /// attachment that is being received.
    ///
    /// # Errors
    /// The body is invalid or broke off.
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

    /// Returns whether an [inspector](Attachments::inspect) has not seen the end of the package yet.
    pub fn is_inspected(&self) -> bool {
        self.0.is_inspected()
    }

    /// Returns once an [inspector](Attachments::inspect) has seen all of the package. What is left is read and discarded. Whoever still
    /// reads an attachment gets an error. Without an inspector nothing is read.
    ///
    /// # Errors
    /// The inspector refused an attachment, now or before. [`ErrorKind::Limit`] if more than `limit` bytes are left. Other errors if the
    /// body is invalid or broke off.
    pub async fn inspected(&self, limit: usize) -> Result<(), Error> {
        if self.is_inspected() { self.0.skip(limit).await } else { Ok(()) }
    }
}

impl Attachments {
    /// Creates an empty list of attachments.
    pub fn none() -> Self {
        Attachments { package: None }
    }

    /// Creates attachments for tests, as if they had arrived with a message. Duplicate Content-IDs and exceeded limits
    /// are errors, as in a received message.
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

    pub(crate) fn new(source: Source, stored: VecDeque<(PartHead, Stored)>, store: Store) -> Self {
        Attachments { package: Some(Box::new(Package { source, stored, store })) }
    }

    /// Returns the rest that remains after these are dropped; `None` if there is no package.
    pub fn rest(&self) -> Option<Rest> {
        self.package.as_ref().map(|package| Rest(package.source.clone()))
    }

    /// Returns the next attachment; `None` if there are no more.
    ///
    /// # Errors
    /// The body is invalid or broke off.
    pub async fn next(&mut self) -> Result<Option<Attachment>, Error> {
        let Some(package) = &mut self.package else { return Ok(None) };
        if let Some((head, kept)) = package.stored.pop_front() {
            return Ok(Some(package.stored_attachment(head, kept)));
        }
        package.next_streamed().await
    }

    /// Returns the attachment that a reference in the message names: a `cid:` URL (RFC 2392), or the URL of a
    /// Content-Location (RFC 2557 §4), which must be spelled the same.
    ///
    /// A later part with the same Content-ID is an error ([`ErrorKind::Duplicate`]) when it is read or skipped. That
    /// may be after this attachment was returned. If that matters, read all attachments before acting on one.
    ///
    /// Attachments that arrive before it are stored, within [`Limits::stored`](crate::Limits::stored), and can be
    /// requested later.
    ///
    /// # Cancel safety
    /// This method is not cancel safe: if the future is dropped before it is done, the attachment being stored is lost.
    ///
    /// # Errors
    /// [`ErrorKind::Missing`] if there is no such attachment, or it was taken already. [`ErrorKind::Limit`] if too much
    /// arrives before it. Other errors if the body is invalid or broke off.
    pub async fn by_url(&mut self, url: &str) -> Result<Attachment, Error> {
        let Some(package) = &mut self.package else { return Err(missing(url, &[])) };
        let wanted = Reference::new(url);
        if let Some(index) = package.stored.iter().position(|(head, _)| wanted.names(head))
            && let Some((head, kept)) = package.stored.remove(index)
        {
            return Ok(package.stored_attachment(head, kept));
        }
        while let Some(attachment) = package.next_streamed().await? {
            if wanted.names(&attachment.head) {
                return Ok(attachment);
            }
            package.store_attachment(attachment).await?;
        }
        Err(missing(url, &package.source.content_ids()))
    }

    /// Stores all remaining attachments. Afterwards the package has been read to its end, and the attachments can be requested as
    /// before.
    ///
    /// They are stored in memory or in a temporary file, within [`Limits::stored`](crate::Limits::stored) and the
    /// [`Charges`] of the message.
    ///
    /// # Cancel safety
    /// This method is not cancel safe: if the future is dropped before it is done, the attachment being stored is lost.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if they are too large, and [`ErrorKind::Exhausted`] if the budget has too little memory or disk
    /// space. [`ErrorKind::Duplicate`] if two parts have the same Content-ID. Other errors if the body is invalid or
    /// broke off, and those of an [inspector](Self::inspect).
    pub async fn spool(&mut self) -> Result<(), Error> {
        let Some(package) = &mut self.package else { return Ok(()) };
        while let Some(attachment) = package.next_streamed().await? {
            package.store_attachment(attachment).await?;
        }
        Ok(())
    }

    /// Has an inspector see all attachments that are read from now on, however they are read. Those that are stored already are shown
    /// to it at once. What is stored, or [collected](Attachment::collect), is what it accepted.
    ///
    /// # Errors
    /// Those of the inspector. The temporary file can't be read. [`ErrorKind::Unverified`] if an inspector that was given before has
    /// not seen all attachments.
    pub async fn inspect(&mut self, mut inspector: impl Inspector + 'static) -> Result<(), Error> {
        let Some(package) = &mut self.package else { return inspector.finish() };
        for (head, stored) in &package.stored {
            inspector.begin(head)?;
            stored.show(|data| inspector.data(data)).await?;
            std::future::poll_fn(|cx| inspector.poll_end(cx)).await?;
        }
        package.source.inspect(inspector)
    }

    /// Returns the heads of the attachments that are [stored](Self::spool), in order of arrival.
    pub fn heads(&self) -> impl Iterator<Item = &PartHead> {
        self.package.iter().flat_map(|package| &package.stored).map(|(head, _)| head)
    }

    /// Shows the content of an attachment that is [stored](Self::spool), and stays so. Returns `false` if none with this
    /// Content-ID is.
    ///
    /// # Errors
    /// The temporary file can't be read. The errors of `see`.
    pub async fn show<E: From<Error>>(
        &self,
        id: &ContentId,
        see: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut stored = self.package.iter().flat_map(|package| &package.stored);
        match stored.find(|(head, _)| head.content_id() == Some(id)) {
            Some((_, content)) => content.show(see).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Returns a share, without bytes yet, of the memory that stored attachments are charged to. It is for those who copy
    /// their content. `None` if nothing is charged.
    pub fn memory_share(&self) -> Option<Share> {
        begin(self.package.as_ref().and_then(|package| package.store.charges()))
    }

    /// Reads all remaining attachments into memory.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if they have more than `limit` bytes together. Other errors if the body is invalid or broke
    /// off.
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

    /// Reads and discards the rest, which detects a package that is incomplete or invalid.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the rest has more than `limit` bytes. Other errors if the body is invalid or broke off.
    pub async fn pass_over(&mut self, limit: usize) -> Result<(), Error> {
        let mut left = limit;
        while let Some(mut attachment) = self.next().await? {
            while let Some(data) = attachment.unverified_data().await? {
                left = left.checked_sub(data.len()).ok_or_else(|| {
                    let message = format!("unread attachments have more than {limit} bytes");
                    Error::new(ErrorKind::Limit, message).in_part(attachment.head.number())
                })?;
            }
        }
        Ok(())
    }
}

impl Package {
    /// Returns the next attachment that is not stored.
    async fn next_streamed(&mut self) -> Result<Option<Attachment>, Error> {
        let head = self.source.part().await?;
        let charges = self.store.charges().cloned();
        let is_unverified = self.source.is_inspected();
        Ok(head.map(|head| Attachment {
            head,
            content: Content::Streamed(self.source.clone()),
            charges,
            is_unverified,
        }))
    }

    fn stored_attachment(&self, head: PartHead, kept: Stored) -> Attachment {
        let charges = self.store.charges().cloned();
        Attachment { head, content: Content::Stored(kept), charges, is_unverified: false }
    }

    async fn store_attachment(&mut self, mut attachment: Attachment) -> Result<(), Error> {
        let part = attachment.head.number();
        let mut keeping = self.store.begin(&attachment.head).map_err(|error| error.in_part(part))?;
        while let Some(data) = attachment.unverified_data().await? {
            self.store.push(&mut keeping, &data).await.map_err(|error| error.in_part(part))?;
        }
        self.stored.push_back((attachment.head, self.store.end(keeping).await?));
        Ok(())
    }
}

impl Attachment {
    /// Returns the head.
    pub fn head(&self) -> &PartHead {
        &self.head
    }

    /// Returns the next chunk of the content, decoded; `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Unverified`] if it is not known yet whether it is what was signed. [`ErrorKind::Passed`] if the next attachment was
    /// requested in the meantime. Other errors if the body is invalid or broke off.
    pub async fn data(&mut self) -> Result<Option<Bytes>, Error> {
        std::future::poll_fn(|cx| self.poll_verified(cx)).await
    }

    /// Allows its content to be read before it is known whether it is what was signed.
    pub fn into_unverified(self) -> UnverifiedAttachment {
        UnverifiedAttachment { attachment: self, failed: None }
    }

    async fn unverified_data(&mut self) -> Result<Option<Bytes>, Error> {
        std::future::poll_fn(|cx| self.poll_data(cx)).await
    }

    /// Reads all of the content into memory. It is charged until the last clone of the bytes is dropped.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if it has more than `limit` bytes, and [`ErrorKind::Exhausted`] if the budget has too
    /// little memory. [`ErrorKind::Passed`] if the next attachment was requested in the meantime. Other errors if the
    /// body is invalid or broke off.
    pub async fn collect(self, limit: usize) -> Result<Bytes, Error> {
        let (content, share) = self.collect_with(limit).await?;
        Ok(charged(content, share))
    }

    /// Reads all of the content into memory, and returns it with its charge. Use this if the content is converted to
    /// something that is charged separately.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if it has more than `limit` bytes, and [`ErrorKind::Exhausted`] if the budget has too
    /// little memory. [`ErrorKind::Passed`] if the next attachment was requested in the meantime. Other errors if the
    /// body is invalid or broke off.
    pub async fn collect_with(mut self, limit: usize) -> Result<(Bytes, Option<Share>), Error> {
        let part = self.head.number();
        let too_long = || {
            let message = format!("an attachment has more than the remaining {limit} bytes");
            Error::new(ErrorKind::Limit, message).in_part(part)
        };
        if let Content::Stored(kept) = &mut self.content
            && let Some((content, share)) = kept.whole()
        {
            return if content.len() > limit { Err(too_long()) } else { Ok((content, share)) };
        }
        let mut share = begin(self.charges.as_ref());
        let mut content = Gathered::default();
        while let Some(data) = self.unverified_data().await? {
            if data.len() > limit - content.length() {
                return Err(too_long());
            }
            grow(&mut share, data.len()).map_err(|error| error.in_part(part))?;
            content.push(data);
        }
        Ok((content.into_bytes(), share))
    }

    fn poll_verified(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        match self.is_unverified {
            false => self.poll_data(cx),
            true => {
                let message = "an attachment that is compared with its signature while it arrives, and is read as if that were done";
                Poll::Ready(Err(Error::new(ErrorKind::Unverified, message).in_part(self.head.number())))
            }
        }
    }

    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        let data = match &mut self.content {
            Content::Streamed(source) => ready!(source.poll_data(self.head.number(), cx)),
            Content::Stored(kept) => ready!(kept.poll_data(cx)),
            Content::Over => Ok(None),
        };
        if !matches!(data, Ok(Some(_))) {
            self.content = Content::Over;
        }
        Poll::Ready(data)
    }
}

impl UnverifiedAttachment {
    /// Returns the head.
    pub fn head(&self) -> &PartHead {
        self.attachment.head()
    }

    /// Returns the next chunk of the content, decoded; `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] if it is not what was signed. Forget what was read of it before. [`ErrorKind::Passed`] if the next attachment
    /// was requested in the meantime. Other errors if the body is invalid or broke off.
    pub async fn data(&mut self) -> Result<Option<Bytes>, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.attachment.unverified_data().await.inspect_err(|error| self.failed = Some(error.clone()))
    }

    /// Skips what was not read of the content. Returns once all of it is known to be what was signed, if it is signed: what no signature
    /// covers is compared with nothing.
    ///
    /// # Errors
    /// Those of [`data`](Self::data).
    pub async fn finish(mut self) -> Result<(), Error> {
        while self.data().await?.is_some() {}
        Ok(())
    }
}

impl Stream for Attachment {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_verified(cx).map(Result::transpose)
    }
}

impl Body for Attachment {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.poll_verified(cx).map(|data| data.map(|data| data.map(Frame::data)).transpose())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Streamed(_) => SizeHint::default(),
            Content::Stored(kept) => SizeHint::with_exact(kept.length()),
            Content::Over => SizeHint::with_exact(0),
        }
    }
}

/// Forwards a received attachment.
impl From<Attachment> for package::Content {
    fn from(attachment: Attachment) -> Self {
        package::Content::stream(attachment)
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment").field("head", &self.head).finish_non_exhaustive()
    }
}

/// The target of a URL in a message.
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

/// Collects chunks of content. A single chunk is not copied.
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
    let message = format!("no attachment has the name {}, {}", shown(url.as_bytes()), among(ids));
    Error::new(ErrorKind::Missing, message)
}

/// Lists the existing Content-IDs in an error message.
pub(crate) fn among(ids: &[ContentId]) -> String {
    let some: Vec<String> = ids.iter().take(MAX_LISTED).map(|id| shown(id.as_str().as_bytes())).collect();
    match ids.len() {
        0 => "and no part has a Content-ID".to_owned(),
        more if more > MAX_LISTED => format!("among {more} parts: {} …", some.join(", ")),
        _ => format!("among the parts {}", some.join(", ")),
    }
}
