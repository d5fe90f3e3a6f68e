//! Creates cases for the load kit from typed requests, judged by typed responses.

use std::sync::Arc;

use bytes::Bytes;
use castile::codegen::{FromXml, NoDetail, Operation, SoapVersion, ToXml};
use castile_load::{Case, Message, Requests};
use castile_soap::Options;

/// The media type of SOAP 1.1, which all suites use.
pub(crate) const TEXT_XML: &str = "text/xml; charset=utf-8";

/// Returns the operation of this name in a contract's table.
///
/// # Panics
/// There is no such operation. The names are constants of the suites.
pub(crate) fn operation_named(operations: &'static [Operation], name: &str) -> &'static Operation {
    match operations.iter().find(|operation| operation.name == name) {
        Some(operation) => operation,
        None => panic!("the contract has no operation {name}"),
    }
}

/// Creates a case that sends `request`. An answer is right if it decodes and `is_right` returns
/// true.
pub(crate) fn case<Q: ToXml, R: FromXml + 'static>(
    suite: &str,
    path: &str,
    name: String,
    operation: &'static Operation,
    request: &Q,
    is_right: impl Fn(&R) -> bool + Send + Sync + 'static,
) -> Case {
    of_body(suite, path, name, operation, body(operation, request), is_right)
}

/// Creates a case whose request is already written.
pub(crate) fn of_body<R: FromXml + 'static>(
    suite: &str,
    path: &str,
    name: String,
    operation: &'static Operation,
    body: Bytes,
    is_right: impl Fn(&R) -> bool + Send + Sync + 'static,
) -> Case {
    let judge = move |response: &R| match is_right(response) {
        true => Ok(0),
        false => Err(NOT_WHAT_WAS_SENT.to_owned()),
    };
    let message = message(operation, TEXT_XML, body, &Options::default(), judge);
    Case { suite: suite.into(), name, style: None, path: path.into(), requests: Requests::Raw(vec![message]) }
}

/// The message for a wrong answer of an echo service.
pub(crate) const NOT_WHAT_WAS_SENT: &str = "the answer is not what was sent";

/// Returns the body of a request.
pub(crate) fn body<Q: ToXml>(operation: &'static Operation, request: &Q) -> Bytes {
    match castile_soap::client::request(SoapVersion::Soap11, operation, request) {
        Ok(body) => body,
        Err(error) => panic!("a request of {} can't be written: {error}", operation.name),
    }
}

/// Creates a message from a written request and a judge of its decoded answers.
pub(crate) fn message<R: FromXml + 'static>(
    operation: &'static Operation,
    content_type: &str,
    body: Bytes,
    options: &Options,
    judge: impl Fn(&R) -> Result<u64, String> + Send + Sync + 'static,
) -> Message {
    let options = options.clone();
    let check = move |answer: &[u8]| {
        let decoded = castile_soap::client::response::<R, NoDetail>(operation, answer, None, &options);
        match decoded.map_err(|error| error.to_string())? {
            Ok(response) => judge(&response),
            Err(fault) => Err(format!("a fault, where an answer was expected: {fault}")),
        }
    };
    Message { action: operation.action.into(), content_type: content_type.into(), body, check: Arc::new(check) }
}
