//! The service and the client in each style. Generated code gives messages another form in each: an element around the
//! value, parts, or the value itself; the macros here say which.

use std::error::Error;
use std::time::Duration;

use anyhow::bail;
use castile::Any;
use castile::codegen::{Operation, ToXml};
use castile::soap::Version;

use crate::plan::{Job, Outcome};

/// What every style uses.
mod prelude {
    pub(super) use std::error::Error;

    pub(super) use castile::datatypes::{Base64Binary, Date, DateTime, Decimal, HexBinary, Integer};
    pub(super) use castile::{Any, CallError, Detail, Fault};
    pub(super) use serde_json::{Value, json};
    pub(super) use tokio::time::sleep;

    pub(super) use super::{NOTICE_PAUSE, NOTICE_TRIES, as_xml, version};
    pub(super) use crate::operations::{
        client, echoes, literal_echoes, literal_header_and_fault as header_and_fault, literal_header_and_fault_calls,
        service,
    };
    pub(super) use crate::plan::{Case, Job, Outcome, report};
    pub(super) use crate::{REFUSAL_CODE, Service, receipt};
}

/// Document style: the request is an element of the operation's name around the value.
pub(crate) mod wrapped {
    pub(crate) mod contract {
        castile::include_contract!("wrapped");
    }

    use super::prelude::*;
    use contract::*;

    macro_rules! request_type {
        ($wrapped:ident $rpc:ident $bare:ident) => {
            $wrapped
        };
    }
    macro_rules! response_type {
        ($response:ident $bare:ident) => {
            $response
        };
    }
    macro_rules! value {
        ($request:expr) => {
            $request.value
        };
    }
    macro_rules! response {
        ($response:ident, $value:expr) => {
            $response { answer: $value }
        };
    }
    macro_rules! answer {
        ($response:ident, $request:expr) => {
            $response { answer: $request.value }
        };
    }
    macro_rules! request {
        ($wrapped:ident $rpc:ident, $value:expr) => {
            $wrapped { value: $value }
        };
    }
    macro_rules! result {
        ($response:expr) => {
            $response.answer
        };
    }

    literal_echoes!(service);
    literal_echoes!(client);
    literal_header_and_fault_calls!();
}

/// Document style: the request is an element of the value's type.
pub(crate) mod bare {
    pub(crate) mod contract {
        castile::include_contract!("bare");
    }

    use super::prelude::*;
    use contract::*;

    macro_rules! request_type {
        ($wrapped:ident $rpc:ident $bare:ident) => {
            $bare
        };
    }
    macro_rules! response_type {
        ($response:ident $bare:ident) => {
            $bare
        };
    }
    macro_rules! value {
        ($request:expr) => {
            $request
        };
    }
    macro_rules! response {
        ($response:ident, $value:expr) => {
            $value
        };
    }
    macro_rules! answer {
        ($response:ident, $request:expr) => {
            $request
        };
    }
    macro_rules! request {
        ($wrapped:ident $rpc:ident, $value:expr) => {
            $value
        };
    }
    macro_rules! result {
        ($response:expr) => {
            $response
        };
    }

    literal_echoes!(service);
    literal_echoes!(client);
    literal_header_and_fault_calls!();
}

/// Rpc style: the request has a part for the value.
pub(crate) mod rpc {
    pub(crate) mod contract {
        castile::include_contract!("rpc");
    }

    use super::prelude::*;
    use contract::*;

    macro_rules! request_type {
        ($wrapped:ident $rpc:ident $bare:ident) => {
            $rpc
        };
    }
    macro_rules! response_type {
        ($response:ident $bare:ident) => {
            $response
        };
    }
    macro_rules! value {
        ($request:expr) => {
            $request.value
        };
    }
    macro_rules! response {
        ($response:ident, $value:expr) => {
            $response { answer: $value }
        };
    }
    macro_rules! answer {
        ($response:ident, $request:expr) => {
            $response { answer: $request.value }
        };
    }
    macro_rules! request {
        ($wrapped:ident $rpc:ident, $value:expr) => {
            $rpc { value: $value }
        };
    }
    macro_rules! result {
        ($response:expr) => {
            $response.answer
        };
    }

    literal_echoes!(service);
    literal_echoes!(client);
    literal_header_and_fault_calls!();
}

/// Rpc style in SOAP encoding: every part may be absent.
pub(crate) mod encoded {
    pub(crate) mod contract {
        castile::include_contract!("encoded");
    }

    use super::prelude::{
        Any, Case, Error, Fault, Job, NOTICE_PAUSE, NOTICE_TRIES, Outcome, Service, Value, as_xml, client, echoes,
        report, service, sleep, version,
    };
    use crate::operations::encoded_echoes;
    use contract::*;

    macro_rules! request_type {
        ($wrapped:ident $rpc:ident $bare:ident) => {
            $rpc
        };
    }
    macro_rules! response_type {
        ($response:ident $bare:ident) => {
            $response
        };
    }
    macro_rules! value {
        ($request:expr) => {
            $request.value.unwrap_or_default()
        };
    }
    macro_rules! response {
        ($response:ident, $value:expr) => {
            $response { answer: Some($value) }
        };
    }
    macro_rules! answer {
        ($response:ident, $request:expr) => {
            $response { answer: $request.value }
        };
    }
    macro_rules! request {
        ($wrapped:ident $rpc:ident, $value:expr) => {
            $rpc { value: Some($value) }
        };
    }
    macro_rules! result {
        ($response:expr) => {
            $response.answer.unwrap_or_default()
        };
    }
    // Castile's generator knows no header blocks and faults that are encoded: it leaves them out and says so.
    macro_rules! header_and_fault {
        () => {
            async fn echo_header(&self, request: EchoHeaderRequest) -> Result<EchoHeaderResponse, Fault> {
                Ok(answer!(EchoHeaderResponse, request))
            }

            async fn fail(&self, request: FailRequest) -> Result<FailResponse, Fault> {
                Err(Fault::receiver(value!(request)))
            }
        };
    }

    encoded_echoes!(service);
    encoded_echoes!(client);

    async fn header(client: &EchoClient, case: &Case) -> Result<Outcome, Box<dyn Error>> {
        let response = client.echo_header(&EchoHeaderRequest { value: Some(case.text("value")) }).await?;
        Ok(Outcome::Error(format!("the response has {:?}, and no header block", response.answer)))
    }

    async fn fault(client: &EchoClient, case: &Case) -> Result<Outcome, Box<dyn Error>> {
        let answer = client.fail(&FailRequest { value: Some(case.text("")) }).await;
        Ok(Outcome::Error(format!("found {answer:?}, expected the declared fault")))
    }
}

/// How often, and after what pause, a client asks for a notice that it has sent: one-way messages may take a while.
const NOTICE_TRIES: usize = 40;
const NOTICE_PAUSE: Duration = Duration::from_millis(50);

fn version(job: &Job) -> anyhow::Result<Version> {
    match job.version.as_str() {
        "11" => Ok(Version::Soap11),
        "12" => Ok(Version::Soap12),
        other => bail!("no version of SOAP is called {other}"),
    }
}

/// A response as the element that it came as. The tags of encoded ones have prefixes that the envelope declares.
fn as_xml<T: ToXml>(operations: &[Operation], name: &str, response: &T) -> Result<Outcome, Box<dyn Error>> {
    const PREFIXES: [(&str, &str); 3] = [
        ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
        ("xsd", "http://www.w3.org/2001/XMLSchema"),
        ("soapenc", "http://schemas.xmlsoap.org/soap/encoding/"),
    ];
    let root = operations.iter().find(|operation| operation.name == name).and_then(|found| found.response.as_ref());
    let root = root.ok_or("the operation has no response")?;
    let mut start = root.start.trim_end_matches('>').to_owned();
    for (prefix, namespace) in PREFIXES {
        if !start.contains(&format!("xmlns:{prefix}=")) {
            start += &format!(" xmlns:{prefix}=\"{namespace}\"");
        }
    }
    Ok(Outcome::Xml(Any::from_value(&(start + ">"), response, root.end)?.xml().to_owned()))
}
