//! The HTTP floor: a server that measures the cost of HTTP alone, as a baseline for other servers.
//!
//! A bare hyper server reads each request completely and answers with prepared bytes, without any SOAP work. It has the same runtime,
//! allocator and cores as the server under test. If request and answer are signed, it does the cryptography of that, too: the floor of a
//! server that verifies and signs.

#[cfg(feature = "security")]
mod cryptography;

use std::cell::Cell;
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

/// What the floor does for one request.
#[derive(Debug)]
pub struct Exchange {
    answer: Bytes,
    #[cfg(feature = "security")]
    cryptography: Option<cryptography::Cryptography>,
}

impl Exchange {
    /// Sends an answer. If it and its request are signed, both over time stamp and body, the floor hashes as many bytes as a server
    /// has to, verifies a signature and makes one, with RSA. That needs the feature `security`.
    pub fn new(request: &Bytes, answer: Bytes) -> Self {
        #[cfg(not(feature = "security"))]
        let _ = request;
        Exchange {
            #[cfg(feature = "security")]
            cryptography: cryptography::Cryptography::of(request, &answer),
            answer,
        }
    }

    /// Returns the answer.
    fn run(&self) -> Result<Bytes, StatusCode> {
        #[cfg(feature = "security")]
        if let Some(cryptography) = &self.cryptography {
            cryptography.run().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        }
        Ok(self.answer.clone())
    }
}

/// Answers requests for `/N` by the `N`th list, until `shutdown` completes. Each connection begins with the first exchange of the list, and
/// begins again after the last one. The floor accepts connections with the same listener as the server under test.
pub async fn serve(mut listener: impl Listener, lists: Vec<Vec<Exchange>>, shutdown: impl Future<Output = ()>) {
    let lists: Arc<[Vec<Exchange>]> = lists.into();
    let accept = async {
        loop {
            match poll_fn(|context| listener.poll_accept(context)).await {
                Ok(stream) => {
                    tokio::spawn(connection(stream, lists.clone()));
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
async fn connection(stream: impl Connection, lists: Arc<[Vec<Exchange>]>) {
    let (lists, answered) = (&*lists, Cell::new(0));
    let service = service_fn(move |request| answer(request, lists, answered.replace(answered.get() + 1)));
    // No timer: a limit for reading the head is a feature that servers add to the floor.
    let _ = http1::Builder::new()
        .header_read_timeout(None)
        // Head and body in one buffer: copying a few KB costs less than a system call with two buffers.
        .writev(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

/// Answers a request after `answered` others of its connection.
async fn answer(
    mut request: Request<Incoming>,
    lists: &[Vec<Exchange>],
    answered: usize,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::default());
    // A body that is incomplete ends the connection, so there is no one to answer. `is_end_stream` saves a poll that would only report
    // the end.
    let body = request.body_mut();
    while !body.is_end_stream() && matches!(body.frame().await, Some(Ok(_))) {}
    let index = request.uri().path().strip_prefix('/').and_then(|index| index.parse::<usize>().ok());
    let list = index.and_then(|index| lists.get(index)).filter(|list| !list.is_empty());
    match list.map_or(Err(StatusCode::NOT_FOUND), |list| list[answered % list.len()].run()) {
        Ok(answer) => {
            let media_type = HeaderValue::from_static("text/xml; charset=utf-8");
            response.headers_mut().insert(CONTENT_TYPE, media_type);
            *response.body_mut() = Full::new(answer);
        }
        Err(status) => *response.status_mut() = status,
    }
    Ok(response)
}
