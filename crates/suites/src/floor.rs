//! The HTTP floor: what HTTP alone costs, as the measure for everything that is done on top of it.
//!
//! A bare hyper server reads each request to its end and answers bytes it was given beforehand, with no SOAP work.
//! It runs in the same process setting as the server under test: same runtime, allocator and cores.

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

/// When connections can't be accepted, most likely because files have run out, a pause lets some close.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Answers a request for `/N` with the `N`th of `answers`, until `shutdown` is ready. It accepts connections with the same listener as
/// the server under test.
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

/// Failures of one connection are its peer's to notice, and concern no other.
async fn connection(stream: impl Connection, answers: Arc<[Bytes]>) {
    let service = service_fn(|request| answer(request, &answers));
    // No timer: a limit on the time of a head is what a server adds to the floor.
    let _ = http1::Builder::new()
        .header_read_timeout(None)
        // Head and body in one buffer: to copy a few KB costs less than to hand the kernel a list of two.
        .writev(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(mut request: Request<Incoming>, answers: &[Bytes]) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::default());
    // A body that breaks off ends the connection; there is nobody left to answer.
    // `is_end_stream` spares the poll that would only say that nothing is left.
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
