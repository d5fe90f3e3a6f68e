//! Attachments that are answered with: SOAP Messages with Attachments and MTOM, of any size.

use castile::Fault;
use castile::datatypes::StreamedBinary;
use castile::mime::{Attachment, Attachments, ContentId, Part};

use self::contract::{Stream, Value};

/// The contract.
pub mod contract {
    castile::include_contract!("attachments");
}

/// Answers with what came. What comes as a stream goes as one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

impl contract::Attachments for Service {
    async fn echo(&self, mut attachments: Attachments) -> Result<Vec<Part>, Fault> {
        let first = attachments.next().await?;
        first.into_iter().map(|attachment| back(attachment).map_err(Fault::from)).collect()
    }

    async fn echo_value(&self, request: Value, _: Attachments) -> Result<(Value, Vec<Part>), Fault> {
        Ok((request, Vec::new()))
    }

    async fn echo_stream(&self, request: Stream, mut attachments: Attachments) -> Result<(Stream, Vec<Part>), Fault> {
        let StreamedBinary::Attached(url) = &request.data else { return Ok((request, Vec::new())) };
        let part = back(attachments.by_url(url).await?)?;
        Ok((Stream { data: StreamedBinary::Attached(part.id().to_url()) }, vec![part]))
    }
}

/// An attachment as one of the answer.
fn back(attachment: Attachment) -> Result<Part, castile::mime::Error> {
    let content_type = attachment.head().content_type().unwrap_or("application/octet-stream").to_owned();
    Part::new(ContentId::random()?, &content_type, attachment.into())
}
