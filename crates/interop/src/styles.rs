//! The service and the client in each style. Generated code has a different form of messages in each style: an element
//! around the value, parts, or the value itself. The macros here handle the differences.

use std::error::Error;
use std::time::Duration;

use anyhow::bail;
use castile::codegen::{Operation, ToXml};
use castile::soap::Version;
use castile::{Any, ClientOptions};

use crate::plan::{Job, Outcome};

/// What every style uses.
mod prelude {
    pub(super) use std::error::Error;

    pub(super) use castile::datatypes::{Base64Binary, Date, DateTime, Decimal, HexBinary, Integer};
    pub(super) use castile::{Any, CallError, Detail, Fault, Request, Response};
    pub(super) use serde_json::{Value, json};
    pub(super) use tokio::time::sleep;

    pub(super) use super::{NOTICE_PAUSE, NOTICE_TRIES, as_xml, options};
    pub(super) use crate::operations::{client, echoes, header_call, header_method, literal_echoes, present, service};
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

    pub(super) use {answer, request, request_type, response, response_type, result, value};

    literal_echoes!(service);
    literal_echoes!(client);
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
}

/// Rpc style in SOAP encoding: every part may be absent.
pub(crate) mod encoded {
    pub(crate) mod contract {
        castile::include_contract!("encoded");
    }

    use super::prelude::{
        Any, CallError, Case, Detail, Error, Fault, Job, NOTICE_PAUSE, NOTICE_TRIES, Outcome, REFUSAL_CODE, Request,
        Response, Service, Value, as_xml, client, echoes, header_call, header_method, json, options, receipt, report,
        service, sleep,
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
    macro_rules! present {
        ($value:expr) => {
            Some($value)
        };
    }

    encoded_echoes!(service);
    encoded_echoes!(client);
}

/// Document style as in [`wrapped`], with WS-Addressing. The contract requires it, and no further code is needed.
pub(crate) mod addressing {
    pub(crate) mod contract {
        castile::include_contract!("addressing");
    }

    use super::prelude::{
        Any, CallError, Case, Detail, Error, Fault, Job, NOTICE_PAUSE, NOTICE_TRIES, Outcome, REFUSAL_CODE, Request,
        Response, Service, Value, as_xml, client, json, options, present, report, service, sleep,
    };
    use super::wrapped::{answer, request, request_type, response, response_type, result, value};
    use crate::operations::addressing_echoes;
    use contract::*;

    macro_rules! header_method {
        () => {};
    }
    macro_rules! header_call {
        ($client:ident, $case:ident) => {
            Outcome::Error("the contract has no header blocks".to_owned())
        };
    }

    addressing_echoes!(service);
    addressing_echoes!(client);
}

/// How many times, and at what interval, a client asks for a notice that it has sent, because one-way messages may be
/// delayed.
const NOTICE_TRIES: usize = 40;
const NOTICE_PAUSE: Duration = Duration::from_millis(50);

/// Returns the client's options for a job.
pub(crate) fn options(job: &Job) -> anyhow::Result<ClientOptions> {
    let mut options = ClientOptions::default();
    options.version = Some(match job.version.as_str() {
        "11" => Version::Soap11,
        "12" => Version::Soap12,
        other => bail!("no version of SOAP is called {other}"),
    });
    Ok(options)
}

/// Returns a response as XML, in the element in which it was received.
pub(crate) fn as_xml<T: ToXml>(operations: &[Operation], name: &str, response: &T) -> Result<Outcome, Box<dyn Error>> {
    let root = operations.iter().find(|operation| operation.name == name).and_then(|found| found.response.as_ref());
    let root = root.ok_or("the operation has no response")?;
    Ok(Outcome::Xml(Any::from_value(root.start, response, root.end)?.xml().into_owned()))
}
