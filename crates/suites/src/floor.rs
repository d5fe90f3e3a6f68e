//! The HTTP floor: a server that measures the cost of HTTP alone, as a baseline for other servers.
//!
//! A bare hyper server reads each request completely and answers with prepared bytes, without any SOAP work. It has the same runtime,
//! allocator and cores as the server under test.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use castile::http::server::{Connection, Listener};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

/// The pause after a failed accept. The usual cause is a lack of file descriptors, and the pause lets some connections close.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Answers a request for `/N` with the `N`th of `answers`, until `shutdown` completes. It accepts connections with the same listener
/// as the server under test.
pub async fn serve(mut listener: impl Listener, answers: Vec<Bytes>, shutdown: impl Future<Output = ()>) {
    let answers: Arc<[Bytes]> = answers.into();
    let accept = async {
        loop {
            match poll_fn(|context| listener.poll_accept(context)).await {
                Ok(stream) => {
                    tokio::spawn(connection(stream, answers.clone()));
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    };
    tokio::select! {
        () = accept => {}
        () = shutdown => {}
    }
}

/// Serves one connection. Its errors are ignored: the peer notices them, and other connections are unaffected.
async fn connection(stream: impl Connection, answers: Arc<[Bytes]>) {
    let service = service_fn(|request| answer(request, &answers));
    // No timer: a limit for reading the head is a feature that servers add to the floor.
    let _ = http1::Builder::new()
        .header_read_timeout(None)
        // Head and body in one buffer: copying a few KB costs less than a system call with two buffers.
        .writev(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(mut request: Request<Incoming>, answers: &[Bytes]) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::default());
    // A body that is incomplete ends the connection, so there is no one to answer. `is_end_stream` saves a poll that would only report
    // the end.
    let body = request.body_mut();
    while !body.is_end_stream() && matches!(body.frame().await, Some(Ok(_))) {}
    let index = request.uri().path().strip_prefix('/').and_then(|index| index.parse::<usize>().ok());
    match index.and_then(|index| answers.get(index)) {
        Some(answer) => {
            let media_type = HeaderValue::from_static("text/xml; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, media_type);
            *response.body_mut() = Full::new(answer.clone());
        }
        None => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    Ok(response)
}
