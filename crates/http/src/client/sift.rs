//! Answers of which a part is taken out while they come.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use castile_xml::Charset;
use http_body::Frame;

use crate::BoxError;

/// Takes something out of the message of an answer while it comes. What is left is the message.
pub trait Sift: Send {
    /// The message begins. `charset` is that of its media type.
    fn begin(&mut self, charset: Option<Charset>);

    /// Takes the bytes that come next, and gives those that stay, in UTF-8.
    ///
    /// # Errors
    /// Why the message can't be read.
    fn sift(&mut self, bytes: &[u8]) -> Result<Bytes, BoxError>;

    /// Takes the end of the message, and gives what stays behind it.
    ///
    /// # Errors
    /// Why the message can't be read.
    fn end(&mut self) -> Result<Bytes, BoxError>;

    /// Whether something was taken out that nobody has fetched yet. Then nothing more is read. Who fetches it polls the exchange again:
    /// nobody is woken.
    fn is_full(&self) -> bool;
}

/// Says to a transport that the answer may be long, and takes as long as it comes ([`Options::response_rate`](super::Options)).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sifted;

/// How many bytes are sifted at a time. What is found in them is held until it is fetched.
const CHUNK: usize = 64 << 10;

/// What is left of a body.
pub(super) struct Sieved<'s, B> {
    body: B,
    /// What came and was not sifted yet.
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
