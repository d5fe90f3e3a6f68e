//! The HTTP response to a reply message.

use std::mem;

use bytes::Bytes;
use castile_budget::Exhausted;
use castile_mime::ErrorKind;
use castile_soap::{Fault, NoDetail, ReplyMessage, Version};
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use super::package;
use crate::body::Body;
use crate::gzip::GZIP;
use crate::headers::{message_type, remove_own};
use crate::package as packages;
use crate::server::refusal::RETRY_AFTER;

/// Converts a reply to a response.
///
/// # Errors
/// The body is streamed. The returned future waits for its first frames.
pub(super) fn respond_with(reply: ReplyMessage) -> Result<Response<Body>, BoxFuture<'static, Response<Body>>> {
    let version = reply.version;
    let response = message(reply);
    if response.body().is_whole() { Ok(response) } else { Err(Box::pin(begun(version, response))) }
}

/// Waits for the first frames of a streamed body. If it fails within them, another answer is sent instead.
async fn begun(version: Version, response: Response<Body>) -> Response<Body> {
    let (head, body) = response.into_parts();
    match body.begun().await {
        Ok(body) => Response::from_parts(head, body),
        Err(error) if error.is::<Exhausted>() => message(ReplyMessage::exhausted(version)),
        Err(error) => match of_request(&*error).map(|error| package::refuse(version, error)) {
            Some(Ok(reply)) => message(reply),
            Some(Err(refusal)) => refusal.into_response(),
            // The request is not to blame, so this is a receiver fault.
            None => message(ReplyMessage::from_fault(version, &Fault::<NoDetail>::receiver("the answer broke off"))),
        },
    }
}

/// Returns the error in the request, if an answer fails because of it.
fn of_request(error: &(dyn std::error::Error + 'static)) -> Option<castile_mime::Error> {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    // An error while sending a package has no offset in the request.
    let is_of_request = |error: &&castile_mime::Error| error.kind() != ErrorKind::Body || error.offset().is_some();
    causes.find_map(|error| error.downcast_ref().filter(is_of_request)).cloned()
}

fn message(mut reply: ReplyMessage) -> Response<Body> {
    let packed = packages::packaging(reply.packaging, &reply.parts).map(|packaging| {
        let message = mem::replace(&mut reply.message, Bytes::new().into());
        let parts = mem::take(&mut reply.parts);
        packages::pack(packaging, reply.version, None, message, parts)
    });
    let packed = match packed.transpose() {
        Ok(packed) => packed,
        // Two parts have the same name, or there are no random numbers. The request is not to blame.
        Err(error) => {
            let reason = Fault::<NoDetail>::receiver(format!("the package of the answer can't be made: {error}"));
            return message(ReplyMessage::from_fault(reply.version, &reason));
        }
    };
    let http_headers = reply.take_http_headers();
    if packed.is_none() && reply.message.bytes().is_some_and(Bytes::is_empty) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::ACCEPTED;
        extend(&mut response, http_headers);
        return response;
    }
    let (content_type, body) = packed.unwrap_or_else(|| (message_type(reply.version), Body::from(reply.message)));
    let mut response = Response::new(body.charged(reply.reservation));
    if let Some(code) = reply.fault {
        let status = StatusCode::from_u16(reply.version.fault_status(&code));
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    }
    if reply.is_exhausted {
        *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
    }
    extend(&mut response, http_headers);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// Compresses a response that is larger than `above` bytes, if the client accepts gzip.
pub(super) async fn compressed(response: Response<Body>, above: usize, is_accepted: bool) -> Response<Body> {
    let (mut head, mut body) = response.into_parts();
    head.headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if is_accepted && !head.headers.contains_key(header::CONTENT_ENCODING) {
        let is_gzip;
        (body, is_gzip) = body.compressed(above).await;
        if is_gzip {
            head.headers.insert(header::CONTENT_ENCODING, GZIP);
        }
    }
    Response::from_parts(head, body)
}

/// Adds the headers that the service set.
fn extend(response: &mut Response<Body>, headers: Option<HeaderMap>) {
    let Some(mut headers) = headers else { return };
    remove_own(&mut headers);
    response.headers_mut().extend(headers);
}
