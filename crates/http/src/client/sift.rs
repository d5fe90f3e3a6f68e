//! Extracts parts of a reply while it arrives.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use castile_xml::Charset;
use http_body::Frame;

use crate::error::BoxError;

/// Extracts parts of a reply while it arrives. The remaining bytes are the message.
pub trait Sift: Send {
    /// Called when the message begins. `charset` is the one of its media type.
    fn begin(&mut self, charset: Option<Charset>);

    /// Takes the next bytes and returns the ones that remain, in UTF-8.
    ///
    /// # Errors
    /// The message can't be read.
    fn sift(&mut self, bytes: &[u8]) -> Result<Bytes, BoxError>;

    /// Called at the end of the message. Returns the bytes that remain after the last extracted part.
    ///
    /// # Errors
    /// The message can't be read.
    fn end(&mut self) -> Result<Bytes, BoxError>;

    /// Returns whether an extracted part has not been fetched yet. Nothing more is read until then. No task is woken:
    /// after fetching the part, the caller polls the exchange again.
    fn is_full(&self) -> bool;
}

/// A request extension: the answer may take longer than the request timeout while it arrives at
/// [`Options::response_rate`](super::Options).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sifted;

/// How many bytes are sifted at a time. The parts found in them are held until they are fetched.
const CHUNK: usize = 64 << 10;

/// The body without the extracted parts.
pub(super) struct Sieved<'s, B> {
    body: B,
    /// Bytes that arrived and are not sifted yet.
    ahead: Bytes,
    sift: &'s mut dyn Sift,
    is_over: bool,
}

impl<'s, B> Sieved<'s, B> {
    pub(super) fn new(body: B, charset: Option<Charset>, sift: &'s mut dyn Sift) -> Self {
        sift.begin(charset);
        Sieved { body, ahead: Bytes::new(), sift, is_over: false }
    }
}

impl<B> http_body::Body for Sieved<'_, B>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let Sieved { body, ahead, sift, is_over } = &mut *self;
        loop {
            if sift.is_full() {
                return Poll::Pending;
            }
            if *is_over {
                return Poll::Ready(None);
            }
            let left = if ahead.is_empty() {
                match ready!(Pin::new(&mut *body).poll_frame(cx)) {
                    None => {
                        *is_over = true;
                        sift.end()
                    }
                    Some(Ok(frame)) => {
                        *ahead = frame.into_data().unwrap_or_default();
                        continue;
                    }
                    Some(Err(error)) => Err(error.into()),
                }
            } else {
                sift.sift(&ahead.split_to(ahead.len().min(CHUNK)))
            };
            match left {
                Ok(left) if left.is_empty() => {}
                left => return Poll::Ready(Some(left.map(Frame::data))),
            }
        }
    }
}
