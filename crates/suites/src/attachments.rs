//! A service that returns attachments: SOAP Messages with Attachments and MTOM, of any size.

use bytes::{Bytes, BytesMut};
use castile::datatypes::StreamedBinary;
use castile::{Fault, Response};
use castile_mime::{Attachment, ContentId, Error, Package, Packaging, Part};
use http_body_util::BodyExt;

use self::contract::{Stream, Value};

/// The contract.
pub mod contract {
    castile::include_contract!("attachments");
}

/// The path of the service.
pub const PATH: &str = "/attachments";

/// Echoes its requests. A streamed attachment is returned as a stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

impl contract::Attachments for Service {
    async fn echo(&self, mut request: castile::Request<()>) -> Result<Response<()>, Fault> {
        match request.attachments().next().await? {
            Some(attachment) => Ok(Response::default().with_attachment(echo_attachment(attachment)?)),
            None => Ok(Response::default()),
        }
    }

    async fn echo_value(&self, request: castile::Request<Value>) -> Result<Response<Value>, Fault> {
        Ok(request.into_inner().into())
    }

    async fn echo_stream(&self, request: castile::Request<Stream>) -> Result<Response<Stream>, Fault> {
        let (message, mut attachments) = request.into_parts();
        let StreamedBinary::Attached(url) = &message.data else { return Ok(message.into()) };
        let part = echo_attachment(attachments.by_url(url).await?)?;
        let message = Stream { data: StreamedBinary::Attached(part.id().to_url()) };
        Ok(Response::new(message).with_attachment(part))
    }
}

/// Returns an attachment as a part of the answer.
fn echo_attachment(attachment: Attachment) -> Result<Part, Error> {
    let content_type = attachment.head().content_type().unwrap_or("application/octet-stream").to_owned();
    Part::attachment(&content_type, attachment)
}

/// How a request carries its attachment, and how the service handles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// SOAP Messages with Attachments, returned as a stream.
    Attached,
    /// MTOM, decoded as a value of the request.
    Value,
    /// MTOM, returned as a stream.
    Streamed,
}

/// A request as sent over the wire.
#[derive(Clone, Debug)]
pub struct Request {
    /// The value of the `Content-Type` header.
    pub content_type: String,
    /// The body with all its parts.
    pub body: Bytes,
}

/// Creates a request with an attachment of this many bytes.
///
/// # Errors
/// The system has no random numbers.
pub async fn request(kind: Kind, bytes: usize) -> Result<Request, Error> {
    let id = ContentId::random()?;
    let include = |name: &str| {
        format!(
            "<{name} xmlns='urn:castile:attachments'><data><x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' \
             href='{}'/></data></{name}>",
            id.to_url()
        )
    };
    let (packaging, payload) = match kind {
        Kind::Attached => (Packaging::Attachments, String::new()),
        Kind::Value => (Packaging::Mtom, include("echoValue")),
        Kind::Streamed => (Packaging::Mtom, include("echoStream")),
    };
    let envelope = format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>{payload}</s:Body></s:Envelope>"
    );
    let mut package = Package::new(packaging, "text/xml", Bytes::from(envelope).into())?;
    let data: Vec<u8> = (0..bytes).map(|number| (number * 7) as u8).collect();
    package.attach(Part::new(id, "application/octet-stream", data.into())?)?;
    let content_type = package.content_type();
    let mut body = BytesMut::new();
    let mut parts = package.into_body();
    while let Some(frame) = parts.frame().await {
        // The content is in memory, so reading it can't fail.
        body.extend(frame.ok().and_then(|frame| frame.into_data().ok()));
    }
    Ok(Request { content_type, body: body.freeze() })
}
