//! The body of a package.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;

use super::{Content, Package, Part};
use crate::{BoxError, Error, ErrorKind};

/// The bytes of a [`Package`] to be sent: heads, boundaries and content.
#[derive(Debug)]
pub struct PackageBody {
    segments: VecDeque<Segment>,
}

#[derive(Debug)]
enum Segment {
    Bytes(Bytes),
    /// A stream of content, with the number of remaining bytes if that is known.
    Stream {
        part: u32,
        body: UnsyncBoxBody<Bytes, BoxError>,
        due: Option<u64>,
    },
}

impl PackageBody {
    pub(super) fn new(package: Package) -> Self {
        let (boundary, head) = (package.boundary(), package.root_head());
        let parts = package.parts.into_iter().map(|Part { head, content, .. }| (head, content));
        PackageBody::of_parts(&boundary, std::iter::once((head, package.root)).chain(parts))
    }

    /// Creates the body of parts, each with the lines of its head and its content.
    pub(super) fn of_parts(boundary: &str, parts: impl Iterator<Item = (String, Content)>) -> Self {
        let mut segments = VecDeque::with_capacity(parts.size_hint().0 * 2 + 1);
        for (number, (head, content)) in (1..).zip(parts) {
            let line_end = if number == 1 { "" } else { "\r\n" };
            segments.push_back(Segment::Bytes(format!("{line_end}--{boundary}\r\n{head}\r\n").into()));
            segments.push_back(Segment::new(number, content));
        }
        segments.push_back(Segment::Bytes(format!("\r\n--{boundary}--\r\n").into()));
        PackageBody { segments }
    }

    /// Creates a body of one content between bytes.
    pub(super) fn of_content(before: Bytes, content: Content, after: Bytes) -> Self {
        PackageBody { segments: [Segment::Bytes(before), Segment::new(1, content), Segment::Bytes(after)].into() }
    }
}

impl Segment {
    fn new(part: u32, content: Content) -> Self {
        match content {
            Content::Bytes(bytes) => Segment::Bytes(bytes),
            Content::Body(body) => Segment::Stream { part, due: body.size_hint().exact(), body },
        }
    }

    /// Returns the next bytes; `None` at the end.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Error>>> {
        match self {
            Segment::Bytes(bytes) if bytes.is_empty() => Poll::Ready(None),
            Segment::Bytes(bytes) => Poll::Ready(Some(Ok(std::mem::take(bytes)))),
            Segment::Stream { part, body, due } => loop {
                let wrong = |message: String| Error::new(ErrorKind::Body, message).in_part(*part);
                let frame = match ready!(Pin::new(&mut *body).poll_frame(cx)) {
                    Some(frame) => frame,
                    None => {
                        let early = due.filter(|due| *due > 0);
                        let early =
                            early.map(|due| Err(wrong(format!("the content of a part ends {due} bytes early"))));
                        return Poll::Ready(early);
                    }
                };
                let data = match frame {
                    // Parts have no trailers.
                    Ok(frame) => frame.into_data().unwrap_or_default(),
                    Err(error) => {
                        let error = wrong("the content of a part broke off".to_owned()).because(error);
                        return Poll::Ready(Some(Err(error)));
                    }
                };
                if let Some(due) = due {
                    *due = match due.checked_sub(data.len() as u64) {
                        Some(rest) => rest,
                        None => {
                            let message = "the content of a part is longer than its body declared";
                            return Poll::Ready(Some(Err(wrong(message.to_owned()))));
                        }
                    };
                }
                if !data.is_empty() {
                    return Poll::Ready(Some(Ok(data)));
                }
            },
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Segment::Bytes(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Segment::Stream { body, .. } => body.size_hint(),
        }
    }
}

impl Body for PackageBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        while let Some(segment) = self.segments.front_mut() {
            match ready!(segment.poll(cx)) {
                Some(Ok(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Some(Err(error)) => {
                    // Nothing is sent after a failure.
                    self.segments.clear();
                    return Poll::Ready(Some(Err(error)));
                }
                None => self.segments.pop_front(),
            };
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.segments.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let mut sum = SizeHint::with_exact(0);
        for hint in self.segments.iter().map(Segment::size_hint) {
            let upper = sum.upper().zip(hint.upper()).and_then(|(a, b)| a.checked_add(b));
            let lower = sum.lower().saturating_add(hint.lower());
            sum = SizeHint::new();
            sum.set_lower(lower);
            if let Some(upper) = upper {
                sum.set_upper(upper.max(lower));
            }
        }
        sum
    }
}
