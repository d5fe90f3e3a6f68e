//! The content coding gzip (RFC 1952, RFC 9110 §8.4.1.3): decodes and encodes bodies as streams.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use castile_budget::Reservation;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use http::{HeaderMap, HeaderValue, header};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::error::BoxError;
use crate::headers::Field;

/// The name of the coding.
pub(crate) const GZIP: HeaderValue = HeaderValue::from_static("gzip");

/// How many bytes are decoded or encoded at a time.
const CHUNK: usize = 16 << 10;

/// How many chunks are processed before the task yields.
const AT_A_TIME: u32 = 16;

/// How many bytes may be decoded before the ratio is checked.
const FREE: u64 = 64 << 10;

/// How many bytes of a body that isn't gzip are kept for the error.
const BEGINNING: usize = 1024;

/// The window size of deflate, in bits: the largest.
const WINDOW: u8 = 15;

/// Returns whether a Content-Encoding is only gzip, by its current or its old name.
pub(crate) fn is_gzip(coding: &Field<'_>) -> bool {
    let is_named =
        |value: &HeaderValue| [&b"gzip"[..], b"x-gzip"].iter().any(|name| value.as_bytes().eq_ignore_ascii_case(name));
    coding.single().is_ok_and(|value| value.is_some_and(is_named))
}

/// Returns whether an Accept-Encoding accepts gzip (RFC 9110 §12.5.3): by name or by `*`, and not with a quality of 0.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut any = false;
    for coding in values.flat_map(|value| value.split(',')) {
        let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
        let mut parameters = parameters.split(';').filter_map(|parameter| parameter.trim().split_once('='));
        let quality = parameters.find(|(name, _)| name.eq_ignore_ascii_case("q")).map(|(_, quality)| quality);
        let is_taken = quality.is_none_or(|quality| quality.trim().parse().is_ok_and(|quality: f32| quality > 0.0));
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => return is_taken,
            "*" => any = is_taken,
            _ => {}
        }
    }
    any
}

/// Why a body can't be decoded as gzip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GzipError {
    /// The body isn't gzip. `begins` is its beginning, for the error of a client; it is empty if other bytes came
    /// before.
    Corrupt {
        begins: Bytes,
    },
    BrokenOff,
    /// More bytes follow the end of the stream. They could be a second member, but no client sends one, so this isn't
    /// checked.
    Surplus,
    Ratio {
        max: u64,
    },
}

impl fmt::Display for GzipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GzipError::Corrupt { .. } => f.write_str("the body is declared as gzip, but is not"),
            GzipError::BrokenOff => f.write_str("the gzip stream of the body is truncated"),
            GzipError::Surplus => f.write_str("found bytes after the end of the body's gzip stream"),
            GzipError::Ratio { max } => {
                write!(
                    f,
                    "the decompressed body is more than {max} times larger than its gzip stream, which is the limit"
                )
            }
        }
    }
}

impl std::error::Error for GzipError {}

pin_project! {
    /// The decoded bytes of a gzip body.
    pub(crate) struct Decoded<B> {
        #[pin]
        body: B,
        stream: Decompress,
        input: Bytes,
        // How many times as large as the input the output may be.
        max: u64,
        chunks: u32,
        // Whether output may be available without further input.
        has_output: bool,
        is_over: bool,
    }
}

impl<B> Decoded<B> {
    /// Creates a decoder of `body`, whose output may be `max` times as large as its input.
    pub(crate) fn new(body: B, max: u64) -> Self {
        let stream = Decompress::new_gzip(WINDOW);
        Decoded { body, stream, input: Bytes::new(), max, chunks: 0, has_output: false, is_over: false }
    }
}

impl<B> Body for Decoded<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut this = self.project();
        let failed = |unsound: GzipError| Poll::Ready(Some(Err(unsound.into())));
        loop {
            if this.input.is_empty() && !*this.has_output {
                match ready!(this.body.as_mut().poll_frame(cx)) {
                    None if *this.is_over => return Poll::Ready(None),
                    None => return failed(GzipError::BrokenOff),
                    Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                    // SOAP doesn't use trailers.
                    Some(Ok(frame)) => *this.input = frame.into_data().unwrap_or_default(),
                }
                continue;
            }
            if *this.is_over {
                return failed(GzipError::Surplus);
            }
            // A small input can hold a large output, so yield to other tasks.
            *this.chunks += 1;
            if this.chunks.is_multiple_of(AT_A_TIME) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let before = this.stream.total_in();
            let mut output = Vec::with_capacity(CHUNK);
            let status = this.stream.decompress_vec(this.input, &mut output, FlushDecompress::None);
            let Ok(status) = status else {
                let begins = if before == 0 { &this.input[..this.input.len().min(BEGINNING)] } else { &[] };
                return failed(GzipError::Corrupt { begins: Bytes::copy_from_slice(begins) });
            };
            let taken = this.stream.total_in() - before;
            this.input.advance(usize::try_from(taken).unwrap_or(usize::MAX).min(this.input.len()));
            if matches!(status, Status::StreamEnd) {
                *this.is_over = true;
            }
            let stands_still = taken == 0 && output.is_empty();
            if stands_still && !this.input.is_empty() && !*this.is_over {
                return failed(GzipError::Corrupt { begins: Bytes::new() });
            }
            *this.has_output = !*this.is_over && output.len() == output.capacity();
            let came_out = this.stream.total_out();
            if came_out > FREE && came_out / *this.max > this.stream.total_in() {
                return failed(GzipError::Ratio { max: *this.max });
            }
            if !output.is_empty() {
                // A caller that holds a small chunk should not hold a large buffer.
                if output.len() < CHUNK / 2 {
                    output.shrink_to_fit();
                }
                return Poll::Ready(Some(Ok(Frame::data(output.into()))));
            }
        }
    }
}

pin_project! {
    /// A body without a content coding, or the decoded bytes of a gzip body.
    #[project = Projected]
    pub(crate) enum Coded<B> {
        Plain { #[pin] body: B },
        Gzip { body: Pin<Box<Decoded<B>>> },
    }
}

impl<B> Coded<B> {
    /// Wraps `body`. If it is gzip, its output may be `max` times as large as its input.
    pub(crate) fn of(body: B, is_gzip: bool, most: u64) -> Self {
        match is_gzip {
            false => Coded::Plain { body },
            true => Coded::Gzip { body: Box::pin(Decoded::new(body, most)) },
        }
    }
}

impl<B> Body for Coded<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.project() {
            Projected::Plain { body } => body.poll_frame(cx).map_err(Into::into),
            Projected::Gzip { body } => body.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Coded::Plain { body } => body.is_end_stream(),
            Coded::Gzip { body } => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Coded::Plain { body } => body.size_hint(),
            Coded::Gzip { body } => body.size_hint(),
        }
    }
}

/// Compresses `bytes`. Yields to other tasks in between.
pub(crate) async fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut stream = compress();
    let mut output = Vec::new();
    for (chunk, count) in bytes.chunks(CHUNK).zip(1_u32..) {
        run(&mut stream, chunk, FlushCompress::None, &mut output);
        if count.is_multiple_of(AT_A_TIME) {
            tokio::task::yield_now().await;
        }
    }
    run(&mut stream, &[], FlushCompress::Finish, &mut output);
    output
}

/// How many bytes of memory compressing takes, and how many decoding takes.
pub(crate) const COMPRESSING: usize = 384 << 10;
pub(crate) const READING: usize = 64 << 10;

/// Creates an encoder with the fastest level, because each message is sent only once.
fn compress() -> Compress {
    Compress::new_gzip(Compression::fast(), WINDOW)
}

/// Encodes all of `input` and appends the result to `output`.
fn run(stream: &mut Compress, mut input: &[u8], flush: FlushCompress, output: &mut Vec<u8>) {
    loop {
        output.reserve(CHUNK);
        let before = stream.total_in();
        // Encoding can't fail while `output` has capacity.
        let status = stream.compress_vec(input, output, flush);
        let taken = usize::try_from(stream.total_in() - before).unwrap_or(usize::MAX);
        input = input.get(taken..).unwrap_or_default();
        let is_done = input.is_empty() && output.len() < output.capacity();
        if is_done || !matches!(status, Ok(Status::Ok)) {
            return;
        }
    }
}

pin_project! {
    /// A body that is encoded as gzip. Encoded data is flushed when no more input is available for now.
    pub(crate) struct Encoded<B> {
        #[pin]
        body: B,
        // `None` after the end.
        stream: Option<Compress>,
        // Whether the encoder holds input that isn't flushed yet.
        has_unflushed: bool,
        // What the encoder's memory is charged to.
        reservation: Option<Reservation>,
    }
}

impl<B> Encoded<B> {
    pub(crate) fn new(body: B, reservation: Option<Reservation>) -> Self {
        Encoded { body, stream: Some(compress()), has_unflushed: false, reservation }
    }
}

impl<B> Body for Encoded<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut this = self.project();
        let mut output = Vec::new();
        while let Some(stream) = this.stream {
            match this.body.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    let data = frame.into_data().unwrap_or_default();
                    run(stream, &data, FlushCompress::None, &mut output);
                    *this.has_unflushed = true;
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
                Poll::Ready(None) => {
                    run(stream, &[], FlushCompress::Finish, &mut output);
                    *this.stream = None;
                    *this.reservation = None;
                }
                Poll::Pending if *this.has_unflushed => {
                    run(stream, &[], FlushCompress::Sync, &mut output);
                    *this.has_unflushed = false;
                }
                Poll::Pending => return Poll::Pending,
            }
            if !output.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(output.into()))));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io::{Read, Write};

    use http_body_util::{BodyExt, Full, StreamBody};

    use super::*;

    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    /// Returns a body with frames of `size` bytes.
    fn pieces(bytes: &[u8], size: usize) -> impl Body<Data = Bytes, Error = Infallible> {
        let pieces: Vec<_> = bytes.chunks(size).map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect();
        StreamBody::new(futures_util::stream::iter(pieces))
    }

    async fn decoded(body: impl Body<Data = Bytes, Error = Infallible>, most: u64) -> Result<Bytes, String> {
        let collected = Decoded::new(body, most).collect().await;
        collected.map(|all| all.to_bytes()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn content_survives_in_pieces_of_every_size() {
        // Sizes around the chunk size, where output can stay in the encoder.
        for length in [0, 1, 100, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            for text in [vec![b'x'; length], noise(length)] {
                let whole = compressed(&text).await;
                let streamed = Encoded::new(pieces(&text, 1_000), None).collect().await.unwrap().to_bytes();
                for packed in [&whole[..], &streamed] {
                    for size in [7, 4_096, usize::MAX] {
                        let size = size.min(packed.len());
                        assert_eq!(
                            decoded(pieces(packed, size), 2_000).await.unwrap(),
                            text,
                            "{length} in pieces of {size}"
                        );
                    }
                }
            }
        }
    }

    /// Regression: each small chunk held a large buffer.
    #[tokio::test]
    async fn small_pieces_take_little_memory() {
        let mut packed = Vec::new();
        run(&mut Compress::new_gzip(Compression::none(), WINDOW), &noise(1_000), FlushCompress::Finish, &mut packed);
        let (mut body, mut kept) = (Decoded::new(pieces(&packed, 1), 100), Vec::new());
        while let Some(frame) = body.frame().await {
            kept.push(frame.unwrap().into_data().unwrap());
        }
        assert!(kept.len() > 900);
        let room: usize = kept.into_iter().map(|piece| piece.try_into_mut().unwrap().capacity()).sum();
        assert!(room < 64_000, "{room}");
    }

    /// Regression: 2 MB were compressed before other tasks could run.
    #[test]
    fn others_have_their_turn_while_an_answer_is_compressed() {
        use futures_util::FutureExt;

        let large = noise(AT_A_TIME as usize * CHUNK);
        assert!(compressed(&large[1 + CHUNK..]).now_or_never().is_some());
        assert!(compressed(&large).now_or_never().is_none());
    }

    #[test]
    fn gzip_is_accepted_by_name_or_as_any() {
        for (value, expected) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("x-gzip", true),
            ("*", true),
            ("identity, *;q=0.1", true),
            ("gzip;q=0, *", false),
            ("gzip; q=0.000", false),
            ("gzip;Q=0", false),
            ("*;q=0", false),
            ("gzip;q=x", false),
            ("br, deflate", false),
            ("", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            assert_eq!(is_accepted(&headers), expected, "{value}");
        }
    }

    #[tokio::test]
    async fn bodies_that_are_not_gzip_are_errors() {
        let packed = compressed(b"<a/>").await;
        let unpacked = async |bytes: Vec<u8>| decoded(Full::new(Bytes::from(bytes)), 100).await.unwrap_err();
        assert_eq!(unpacked(b"<a/>".to_vec()).await, "the body is declared as gzip, but is not");
        assert_eq!(unpacked(Vec::new()).await, "the gzip stream of the body is truncated");
        for end in 1..packed.len() {
            assert_eq!(unpacked(packed[..end].to_vec()).await, "the gzip stream of the body is truncated", "{end}");
        }
        let twice = [&packed[..], &packed].concat();
        assert_eq!(unpacked(twice).await, "found bytes after the end of the body's gzip stream");
        let mut wrong = packed.clone();
        // The checksum.
        let at = wrong.len() - 5;
        wrong[at] ^= 1;
        assert_eq!(unpacked(wrong).await, "the body is declared as gzip, but is not");
    }

    #[tokio::test]
    async fn streams_that_expand_too_much_end_early() {
        let bomb = compressed(&vec![b' '; 10 << 20]).await;
        let mut body = Decoded::new(Full::new(Bytes::from(bomb)), 100);
        let mut came = 0;
        let error = loop {
            match body.frame().await.unwrap() {
                Ok(frame) => came += frame.into_data().unwrap().len(),
                Err(error) => break error.to_string(),
            }
        };
        assert_eq!(
            error,
            "the decompressed body is more than 100 times larger than its gzip stream, which is the limit"
        );
        assert!(came < 2 << 20, "{came}");
        // A small body may grow by any factor.
        let small = compressed(&vec![b' '; 60_000]).await;
        assert_eq!(decoded(Full::new(Bytes::from(small)), 100).await.unwrap().len(), 60_000);
    }

    /// The first half of a stream arrives before the second one is sent.
    #[tokio::test]
    async fn a_stream_is_not_held_back() {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel::<Result<_, Infallible>>();
        let pieces = futures_util::stream::poll_fn(move |cx| receiver.poll_recv(cx));
        let mut body = Decoded::new(Encoded::new(StreamBody::new(pieces), None), 100);
        sender.send(Ok(Frame::data(Bytes::from("first")))).unwrap();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "first");
        sender.send(Ok(Frame::data(Bytes::from("second")))).unwrap();
        drop(sender);
        assert_eq!(body.collect().await.unwrap().to_bytes(), "second");
    }

    /// Any input gives the same result in chunks of every size, and the same result as another decoder.
    #[test]
    fn changed_streams_are_read_in_any_pieces() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let text = "<a>found</a> ".repeat(50);
        let named = |level: u32, text: &[u8]| {
            let encoder = flate2::GzBuilder::new().filename("name").comment("comment").extra(vec![1, 2, 3, 0, 5]);
            let mut encoder = encoder.mtime(7).write(Vec::new(), Compression::new(level));
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let (stored, packed, none) = (named(0, &noise(300)), named(9, text.as_bytes()), named(6, b""));
        let plain = runtime.block_on(compressed(text.as_bytes()));
        let bomb = runtime.block_on(compressed(&vec![b' '; 1 << 20]));
        let twice = [&plain[..], &none].concat();
        // The header has its own checksum, which is correct here.
        let mut checked = vec![0x1F, 0x8B, 8, 2, 0, 0, 0, 0, 0, 3];
        let mut crc = flate2::Crc::new();
        crc.update(&checked);
        checked.extend_from_slice(&(crc.sum() as u16).to_le_bytes());
        checked.extend_from_slice(&plain[10..]);
        let seeds = [&stored[..], &packed, &none, &plain, &bomb, &twice, &checked];
        let (mut sound, mut all, mut most) = (0, 0, 0);
        let mut check = |bytes: &[u8], random: &mut fastrand::Rng| {
            let sizes = [bytes.len(), 1, 2 + random.usize(..40)].map(|size| size.max(1));
            let [whole, single, few] = sizes.map(|size| runtime.block_on(decoded(pieces(bytes, size), 100)));
            all += 1;
            if let Ok(found) = &whole {
                sound += 1;
                most = most.max(found.len());
                let mut expected = Vec::new();
                flate2::read::GzDecoder::new(bytes).read_to_end(&mut expected).unwrap();
                assert_eq!(found, &expected, "{bytes:?}");
            }
            // The point at which a body exceeds the ratio depends on the chunks.
            let is_ratio =
                |result: &Result<Bytes, String>| result.as_ref().is_err_and(|said| said.contains("100 times"));
            if ![&whole, &single, &few].into_iter().any(is_ratio) {
                assert_eq!(whole, single, "{bytes:?}");
                assert_eq!(whole, few, "{bytes:?}");
            }
        };
        seeds.iter().for_each(|seed| check(seed, &mut fastrand::Rng::with_seed(1)));
        crate::mutations::check_mutations(&seeds, check);
        // There were valid and invalid bodies, and the decompression bomb was stopped.
        assert!(sound > 0 && sound < all && (text.len()..1 << 20).contains(&most), "{sound} of {all}, {most} bytes");
    }
}
