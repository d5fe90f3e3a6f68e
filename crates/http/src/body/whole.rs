//! Reads whole bodies, up to a size limit.

use std::pin::pin;

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;

use crate::error::BoxError;

/// The most memory that is reserved because of a Content-Length and the first two frames. Beyond it, memory grows with
/// the bytes that arrive. Reserved memory that is never written costs hardly anything.
const TRUSTED_LENGTH: usize = 256 * 1024;

/// Why a body could not be read.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The body has more bytes than allowed. `declared` is the size if the head declares it.
    TooLarge { declared: Option<u64> },
    /// The body broke off after this many bytes.
    BrokenOff { after: usize, source: BoxError },
}

/// Reads the whole of `body`, at most `limit` bytes.
///
/// A body of one frame is returned without a copy. The frames of other bodies are collected in one buffer.
pub(crate) async fn read<B>(body: B, limit: usize) -> Result<Bytes, Failure>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let declared = body.size_hint().lower();
    if declared > limit as u64 {
        return Err(Failure::TooLarge { declared: Some(declared) });
    }
    let mut body = pin!(body);
    let mut first = Bytes::new();
    let mut gathered = BytesMut::new();
    // `is_end_stream` saves the poll that would only report the end.
    while !body.is_end_stream() {
        let Some(frame) = body.frame().await else {
            break;
        };
        let after = first.len() + gathered.len();
        let frame = frame.map_err(|error| Failure::BrokenOff { after, source: error.into() })?;
        // SOAP doesn't use trailers.
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if data.len() > limit - after {
            return Err(Failure::TooLarge { declared: None });
        }
        if after == 0 {
            first = data;
            continue;
        }
        if gathered.is_empty() {
            let rest = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
            gathered.reserve(first.len() + data.len() + rest.min(TRUSTED_LENGTH));
            gathered.extend_from_slice(&std::mem::take(&mut first));
        }
        gathered.extend_from_slice(&data);
    }
    Ok(if gathered.is_empty() { first } else { gathered.freeze() })
}

/// Reads about `enough` bytes of `body` for an error message. Failures and the rest of the body are ignored.
pub(crate) async fn read_some<B: Body<Data = Bytes>>(body: B, enough: usize) -> Bytes {
    let mut body = pin!(body);
    let mut some = BytesMut::new();
    while some.len() < enough
        && let Some(Ok(frame)) = body.frame().await
    {
        if let Ok(data) = frame.into_data() {
            some.extend_from_slice(&data[..data.len().min(enough - some.len())]);
        }
    }
    some.freeze()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use http_body::{Frame, SizeHint};

    use super::*;

    struct Frames {
        frames: VecDeque<Bytes>,
        declared: u64,
    }

    impl Frames {
        fn new(frames: &[&'static str], declared: u64) -> Self {
            let frames = frames.iter().map(|frame| Bytes::from_static(frame.as_bytes()));
            Frames { frames: frames.collect(), declared }
        }
    }

    impl Body for Frames {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(self.frames.pop_front().map(|frame| Ok(Frame::data(frame))))
        }

        fn size_hint(&self) -> SizeHint {
            let mut hint = SizeHint::new();
            hint.set_lower(self.declared);
            hint
        }
    }

    #[tokio::test]
    async fn one_frame_is_not_copied() {
        let message = Bytes::from(vec![b'x'; 100]);
        let body = http_body_util::Full::new(message.clone());
        let read = read(body, 100).await.unwrap();
        assert_eq!(read.as_ptr(), message.as_ptr());
    }

    #[tokio::test]
    async fn frames_are_gathered_in_order() {
        for frames in [&["ab", "", "cd", "e"][..], &["", "abcde"], &["abcde"], &["a", "bcde", ""]] {
            assert_eq!(read(Frames::new(frames, 0), 5).await.unwrap(), "abcde");
        }
        assert_eq!(read(Frames::new(&[], 0), 5).await.unwrap(), "");
    }

    #[tokio::test]
    async fn a_declared_length_reserves_little() {
        let read = read(Frames::new(&["ab", "cd"], 1 << 40), usize::MAX).await.unwrap();
        assert_eq!(read, "abcd");
        assert!(read.try_into_mut().unwrap().capacity() <= 2 * TRUSTED_LENGTH);
    }

    #[tokio::test]
    async fn the_limit_holds_for_what_is_declared_and_for_what_comes() {
        let declared = read(Frames::new(&["abc"], 6), 5).await.unwrap_err();
        assert!(matches!(declared, Failure::TooLarge { declared: Some(6) }));
        for frames in [&["abcdef"][..], &["abc", "def"]] {
            let came = read(Frames::new(frames, 0), 5).await.unwrap_err();
            assert!(matches!(came, Failure::TooLarge { declared: None }));
        }
    }
}
