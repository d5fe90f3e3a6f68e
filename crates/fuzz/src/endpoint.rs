//! Checks HTTP requests to services of every style, from the head to the end of the answer.

mod services;

use std::cell::RefCell;

use bytes::Bytes;
use castile::http::server::Routes;
use castile_xml::{Limits, Reader, Token};
use futures_util::stream;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio::runtime::{Builder, Runtime};
use tower_service::Service;

use crate::shown;

thread_local! {
    static SERVER: RefCell<Option<(Runtime, Routes)>> = const { RefCell::new(None) };
}

/// Sends any bytes as a request: a line with method and path, header lines, an empty line, and the body. Without an empty line,
/// all bytes are the body of a POST.
///
/// There is an answer without a panic, with a status that the endpoint documents. An answer with an XML media type is
/// well-formed, and its length is as declared.
///
/// # Panics
/// One of these properties does not hold.
pub fn endpoint(input: &[u8]) {
    let Some(request) = request(input) else { return };
    SERVER.with_borrow_mut(|server| {
        let (runtime, routes) = server.get_or_insert_with(|| {
            let runtime =
                Builder::new_current_thread().enable_time().build().expect("a runtime without a driver for I/O");
            (runtime, services::routes())
        });
        let is_head = request.method() == Method::HEAD;
        let (status, body, is_xml) = runtime.block_on(async {
            let Ok(response) = routes.call(request).await;
            let (head, body) = response.into_parts();
            let body = body.collect().await.unwrap_or_else(|error| panic!("{error} in the answer to {}", shown(input)));
            let body = body.to_bytes();
            let value = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
            if let Some(length) = value("content-length").filter(|_| !is_head) {
                assert_eq!(length, body.len().to_string(), "the answer to {}", shown(input));
            }
            let content_type = value("content-type").unwrap_or_default();
            let is_xml = ["text/xml", "application/soap+xml"].iter().any(|xml| content_type.starts_with(xml));
            (head.status.as_u16(), body, is_xml && !is_head)
        });
        // 408 and 503 are impossible: the whole body is available, and the services wait for nothing.
        assert!([200, 202, 400, 404, 405, 413, 415, 500].contains(&status), "{status} answers {}", shown(input));
        if is_xml {
            check_answer(&body, input);
        }
    });
}

const PANICKED: &[u8] = b">the service failed<";

fn check_answer(answer: &[u8], input: &[u8]) {
    let mut limits = Limits::default();
    // Answers repeat the content of the request, in an envelope.
    limits.depth += 8;
    let fail = |error| -> ! { panic!("{error} in {}, the answer to {}", shown(answer), shown(input)) };
    let mut reader = Reader::new(answer, limits).unwrap_or_else(|error| fail(error));
    loop {
        match reader.next() {
            Ok(Token::End) => break,
            Ok(_) => {}
            Err(error) => fail(error),
        }
    }
    // A panic becomes a fault with this text. A request that contains the text may get it back.
    let panicked = |text: &[u8]| text.windows(PANICKED.len()).any(|part| part == PANICKED);
    assert!(!panicked(answer) || panicked(input), "{}", shown(input));
}

type Body = StreamBody<stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, std::convert::Infallible>>>>;

fn request(input: &[u8]) -> Option<Request<Body>> {
    let end = [(&b"\r\n\r\n"[..], 4), (b"\n\n", 2)].into_iter().filter_map(|(end, length)| {
        let at = input.windows(length).position(|window| window == end)?;
        Some((at, at + length))
    });
    let is_head = |head: &(usize, usize)| !input[..head.0].contains(&b'<');
    let (head, body) = match end.min().filter(is_head) {
        Some((end, body)) => (&input[..end], &input[body..]),
        None => (&b""[..], input),
    };
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut words = lines.next().unwrap_or_default().split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    let method = Method::from_bytes(words.next().unwrap_or(b"POST")).ok()?;
    let path = services::PATHS[input.len() % services::PATHS.len()];
    let uri = Uri::try_from(words.next().unwrap_or(path.as_bytes())).ok()?;
    let mut request = Request::builder().method(method).uri(uri);
    if head.is_empty() {
        request = request.header("content-type", "text/xml; charset=utf-8");
    }
    for line in lines {
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default().trim_ascii();
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(&line[..colon]), HeaderValue::from_bytes(value)) {
            request = request.header(name, value);
        }
    }
    // The body arrives in one piece, in a few, or in many.
    let piece = [body.len(), 1 + body.len() / 3, 13][input.len() % 3].max(1);
    let frames: Vec<_> = body.chunks(piece).map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect();
    request.body(StreamBody::new(stream::iter(frames))).ok()
}
