//! Cases for the load kit, made of typed requests and judged by typed responses.

use std::sync::Arc;

use bytes::Bytes;
use castile::codegen::{FromXml, NoDetail, Operation, SoapVersion, ToXml};
use castile::soap::Options;
use castile_load::{Case, Message, Requests};

/// The operation of this name in a contract's table.
///
/// # Panics
/// If there is none: names of operations are written in the suites.
pub(crate) fn operation_named(operations: &'static [Operation], name: &str) -> &'static Operation {
    match operations.iter().find(|operation| operation.name == name) {
        Some(operation) => operation,
        None => panic!("the contract has no operation {name}"),
    }
}

/// A case that sends `request` and takes an answer for right if it decodes and `is_right` says so.
pub(crate) fn case<Q: ToXml, R: FromXml + 'static>(
    suite: &str,
    path: &str,
    name: String,
    operation: &'static Operation,
    request: &Q,
    is_right: impl Fn(&R) -> bool + Send + Sync + 'static,
) -> Case {
    let body = match castile::soap::client::request(SoapVersion::Soap11, operation, request) {
        Ok(body) => body,
        Err(error) => panic!("the request of {suite} {name} can't be written: {error}"),
    };
    of_body(suite, path, name, operation, body, is_right)
}

/// The same where the request is written already.
pub(crate) fn of_body<R: FromXml + 'static>(
    suite: &str,
    path: &str,
    name: String,
    operation: &'static Operation,
    body: Bytes,
    is_right: impl Fn(&R) -> bool + Send + Sync + 'static,
) -> Case {
    let check = move |message: &[u8]| match castile::soap::client::response::<R, NoDetail>(
        operation,
        message,
        None,
        &Options::default(),
    ) {
        Ok(Ok(response)) if is_right(&response) => Ok(0),
        Ok(Ok(_)) => Err("the answer is not what was sent".to_owned()),
        Ok(Err(fault)) => Err(format!("a fault, where an answer was expected: {fault}")),
        Err(error) => Err(error.to_string()),
    };
    let message = Message {
        action: operation.action.into(),
        content_type: "text/xml; charset=utf-8".into(),
        body,
        check: Arc::new(check),
    };
    Case { suite: suite.into(), name, style: None, path: path.into(), requests: Requests::Raw(vec![message]) }
}
