//! The answers of services: futures of responses, and what happens to a body that is not read.

use std::convert::Infallible;
use std::future::ready;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Response, header};

use crate::body::{self, Body};

/// The future answer of an endpoint.
pub(super) type Answer = BoxFuture<'static, Result<Response<Body>, Infallible>>;

/// Answers a request without reading its body. If more of the body than has arrived is outstanding, the response closes
/// the connection. A client that waits for `100 Continue` gets none.
pub(super) fn answer_unread<B>(mut response: Response<Body>, body: B, has_expect: bool) -> Answer
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    if body.is_end_stream() {
        return Box::pin(ready(Ok(response)));
    }
    Box::pin(async move {
        if has_expect || !body::is_over(body).await {
            close(&mut response);
        }
        Ok(response)
    })
}

/// Marks the connection to be closed after the response.
pub(super) fn close<B>(response: &mut Response<B>) {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
}
