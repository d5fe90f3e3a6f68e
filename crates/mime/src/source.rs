//! A body and its parser, shared by the readers of its parts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;

use crate::charges::charge;
use crate::inspect::Inspection;
use crate::{BoxError, Charges, ContentId, Error, ErrorKind, Event, Inspector, Parser, PartHead};

/// How many bytes of Content-IDs per package are not charged. Most packages have fewer.
const SHORT_IDS: usize = 512;

/// The parts of a body, as they arrive.
#[derive(Clone, Debug)]
pub(crate) struct Source(Arc<Mutex<Inner>>);

#[derive(Debug)]
struct Inner {
    /// The body; `None` after its end or a failure.
    body: Option<UnsyncBoxBody<Bytes, BoxError>>,
    received: u64,
    parser: Parser,
    failed: Option<Error>,
    /// The part whose content is being read.
    open: Option<u32>,
    /// The task that waits for the body.
    waiting: Option<Waker>,
    /// Whether the rest is being skipped, so that nobody else can read from it.
    is_taken: bool,
    /// Who sees what is read, until the end of the package.
    inspection: Option<Inspection>,
    /// The identifiers of the parts so far. The parser also stores them, to detect duplicates, and so do the heads of
    /// waiting parts.
    content_ids: Vec<ContentId>,
    /// The total length of the identifiers, and what they are charged to.
    ids_length: usize,
    charges: Option<Charges>,
}

impl Source {
    pub(crate) fn new<B>(parser: Parser, body: B, charges: Option<Charges>) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Source(Arc::new(Mutex::new(Inner {
            body: Some(body.map_err(Into::into).boxed_unsync()),
            received: 0,
            parser,
            failed: None,
            open: None,
            waiting: None,
            is_taken: false,
            inspection: None,
            content_ids: Vec::new(),
            ids_length: 0,
            charges,
        })))
    }

    /// Returns the next part, after skipping the rest of the previous one; `None` if there are no more.
    pub(crate) async fn part(&self) -> Result<Option<PartHead>, Error> {
        std::future::poll_fn(|cx| self.lock().poll_part(cx)).await
    }

    /// Returns more content of a part; `None` at its end.
    pub(crate) async fn data(&self, part: u32) -> Result<Option<Bytes>, Error> {
        std::future::poll_fn(|cx| self.poll_data(part, cx)).await
    }

    pub(crate) fn poll_data(&self, part: u32, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        self.lock().poll_data(part, cx)
    }

    /// Has an inspector see all that is read from now on.
    ///
    /// # Errors
    /// There is one that has not seen all of it yet.
    pub(crate) fn inspect(&self, inspector: impl Inspector + 'static) -> Result<(), Error> {
        let inspection = &mut self.lock().inspection;
        if inspection.is_some() {
            let message = "a second inspector of attachments, where the first has not seen all of them";
            return Err(Error::new(ErrorKind::Unverified, message));
        }
        *inspection = Some(Inspection::new(inspector));
        Ok(())
    }

    /// Returns whether an inspector sees what is read.
    pub(crate) fn is_inspected(&self) -> bool {
        self.lock().inspection.is_some()
    }

    /// Skips up to `limit` bytes of content, which has to be all that is left. Nobody else can read from then on.
    pub(crate) async fn skip(&self, limit: usize) -> Result<(), Error> {
        let mut left = limit;
        std::future::poll_fn(|cx| self.lock().poll_skip(&mut left, cx)).await
    }

    /// Returns the Content-IDs of the parts so far.
    pub(crate) fn content_ids(&self) -> Vec<ContentId> {
        self.lock().content_ids.clone()
    }

    /// Returns whether other owners may still read from it.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<PartHead>, Error>> {
        if self.is_taken {
            return Poll::Ready(Err(Error::new(
                ErrorKind::Passed,
                "the rest of a package that was skipped can't be read",
            )));
        }
        self.leave(cx);
        loop {
            match ready!(self.poll_event(cx))? {
                Some(Event::Part(head)) => {
                    self.open = Some(head.number());
                    if let Some(id) = head.content_id()
                        && let Err(error) = self.store_id(id)
                    {
                        return Poll::Ready(Err(self.fail(error.in_part(head.number()))));
                    }
                    return Poll::Ready(Ok(Some(head)));
                }
                // Text after the last boundary is read too, so that the connection can be reused.
                Some(Event::Data(_) | Event::PartEnd | Event::End) => {}
                None => return Poll::Ready(Ok(None)),
            }
        }
    }

    /// Leaves the part that is being read. Who waits for its content gets an error.
    fn leave(&mut self, cx: &Context<'_>) {
        self.open = None;
        if let Some(waker) = self.waiting.take_if(|waker| !waker.will_wake(cx.waker())) {
            waker.wake();
        }
    }

    fn poll_skip(&mut self, left: &mut usize, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if !std::mem::replace(&mut self.is_taken, true) {
            self.leave(cx);
        }
        while let Some(event) = ready!(self.poll_event(cx))? {
            let Event::Data(data) = event else { continue };
            match left.checked_sub(data.len()) {
                Some(less) => *left = less,
                None => {
                    return Poll::Ready(Err(
                        self.fail(Error::new(ErrorKind::Limit, "too much of a package is left unread"))
                    ));
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Stores an error, which all further reads return.
    fn fail(&mut self, error: Error) -> Error {
        (self.failed, self.body) = (Some(error.clone()), None);
        error
    }

    fn store_id(&mut self, id: &ContentId) -> Result<(), Error> {
        let length = id.as_str().len();
        self.ids_length += length;
        if self.ids_length > SHORT_IDS {
            charge(self.charges.as_ref(), length)?;
        }
        self.content_ids.push(id.clone());
        Ok(())
    }

    fn poll_data(&mut self, part: u32, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        if self.open != Some(part) {
            let message = "the rest of a skipped part can't be read";
            return Poll::Ready(Err(Error::new(ErrorKind::Passed, message).in_part(part)));
        }
        Poll::Ready(Ok(match ready!(self.poll_event(cx))? {
            Some(Event::Data(data)) => Some(data),
            _ => None,
        }))
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Event>, Error>> {
        if let Some(error) = &self.failed {
            return Poll::Ready(Err(error.clone()));
        }
        match self.poll_inspected(cx) {
            Poll::Pending => {
                self.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
            Poll::Ready(event) => Poll::Ready(event.map_err(|error| self.fail(error))),
        }
    }

    fn poll_inspected(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Event>, Error>> {
        let is_ending = self.inspection.as_ref().is_some_and(|inspection| inspection.is_ending);
        let event = if is_ending { Some(Event::PartEnd) } else { ready!(self.poll_body(cx))? };
        if let Some(inspection) = &mut self.inspection {
            ready!(inspection.see(event.as_ref(), cx))?;
            // Nothing comes after the end.
            if event.is_none() {
                self.inspection = None;
            }
        }
        Poll::Ready(Ok(event))
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Event>, Error>> {
        loop {
            if let Some(event) = self.parser.next()? {
                return Poll::Ready(Ok(Some(event)));
            }
            let Some(body) = &mut self.body else {
                return Poll::Ready(Ok(None));
            };
            match ready!(std::pin::Pin::new(body).poll_frame(cx)) {
                None => {
                    self.body = None;
                    self.parser.finish();
                }
                Some(Err(source)) => {
                    let error = Error::new(ErrorKind::Body, "the body broke off").at(self.received).because(source);
                    return Poll::Ready(Err(error));
                }
                // Parts don't use trailers.
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.received += data.len() as u64;
                        self.parser.feed(data);
                    }
                }
            }
        }
    }
}
