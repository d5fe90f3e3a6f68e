//! The service and the client for messages in packages: with MTOM and with attachments.

use std::error::Error;

use castile::datatypes::Base64Binary;
use castile::mime::{ContentId, Part};
use castile::soap::Mtom;
use castile::{Any, Fault, Request, Response};
use serde_json::json;

use crate::Service;
use crate::plan::{Case, Job, Outcome, call_all};
use crate::styles::{as_xml, options};

/// MTOM. The values are those of any contract; only the client decides to send them as parts.
pub(crate) mod mtom {
    pub(crate) mod contract {
        castile::include_contract!("mtom");
    }

    use super::*;
    use contract::{ECHO_OPERATIONS, Echo, EchoClient, EchoData, EchoDataResponse};

    impl Echo for Service {
        async fn echo_data(&self, request: Request<EchoData>) -> Result<Response<EchoDataResponse>, Fault> {
            Ok(EchoDataResponse { answer: request.into_inner().value }.into())
        }
    }

    pub(crate) async fn call(job: &Job) -> anyhow::Result<()> {
        // Every value is sent as a part, even an empty one.
        let mut options = options(job)?;
        options.messages.mtom = Mtom::Always(0);
        let client = EchoClient::new(&job.url)?.with_options(options);
        call_all(job, async |case| outcome(&client, case).await).await
    }

    async fn outcome(client: &EchoClient, case: &Case) -> Result<Outcome, Box<dyn Error>> {
        let response = client.echo_data(&EchoData { value: Any::parse(&case.xml)?.read()? }).await?;
        as_xml(&ECHO_OPERATIONS, "echoData", &response)
    }
}

/// SOAP messages with attachments, which the binding declares.
pub(crate) mod swa {
    pub(crate) mod contract {
        castile::include_contract!("swa");
    }

    use super::*;
    use contract::{Echo, EchoClient, EchoFileRequest, EchoFileResponse};

    /// The size limit of an attachment of the cases.
    const LIMIT: usize = 1 << 20;

    impl Echo for Service {
        async fn echo_file(&self, request: Request<EchoFileRequest>) -> Result<Response<EchoFileResponse>, Fault> {
            let (request, mut attachments) = request.into_parts();
            let file = attachments.next().await?.ok_or_else(|| Fault::sender("the attachment is missing"))?;
            let content = file.collect(LIMIT).await?;
            let copy = Part::new(id("copy")?, "application/octet-stream", content.into())?;
            Ok(Response::new(EchoFileResponse { answer: request.value }).with_attachment(copy))
        }
    }

    pub(crate) async fn call(job: &Job) -> anyhow::Result<()> {
        let client = EchoClient::new(&job.url)?;
        call_all(job, async |case| outcome(&client, case).await).await
    }

    async fn outcome(client: &EchoClient, case: &Case) -> Result<Outcome, Box<dyn Error>> {
        let content: Base64Binary = case.text("file").parse()?;
        let file = Part::new(id("file")?, "application/octet-stream", content.0.into())?;
        let request = EchoFileRequest { value: case.text("value") };
        let (response, mut attachments) = client.echo_file(&request).attach(file).send().await?.into_parts();
        let copy = attachments.next().await?.ok_or("the response has no attachment")?;
        let copy = Base64Binary(copy.collect(LIMIT).await?.to_vec());
        Ok(Outcome::Value(json!({ "result": response.answer, "file": copy.to_string() })))
    }

    /// Returns an identifier that names the message part of the attachment (Attachments Profile 1.0 §3.8).
    fn id(part: &str) -> Result<ContentId, castile::mime::Error> {
        ContentId::parse(&format!("{part}={}", ContentId::random()?.as_str()))
    }
}
