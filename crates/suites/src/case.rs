//! Creates cases for the load kit from typed requests, judged by typed responses.

use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use castile::Call;
use castile::codegen::{FromXml, HttpError, NoDetail, Operation, SoapVersion, ToXml};
use castile_load::{Case, Message, Requests};
use castile_soap::Options;

use crate::client::{self, Counting};

/// The media type of SOAP 1.1, which all suites use.
pub(crate) const TEXT_XML: &str = "text/xml; charset=utf-8";

/// A port of a suite's service, with its generated client `C`. It makes cases whose right answer is known beforehand.
pub(crate) struct Port<C> {
    pub(crate) suite: &'static str,
    /// The style of the cases, if the suite compares styles.
    pub(crate) style: Option<&'static str>,
    pub(crate) path: &'static str,
    pub(crate) operations: &'static [Operation],
    pub(crate) client: Make<C>,
}

/// Makes a generated client `C` of a URL.
pub(crate) type Make<C> = fn(&str, Counting) -> Result<C, HttpError>;

/// A method of a generated client `C`.
pub(crate) type Method<C, Q, R> = for<'a> fn(&'a C, &'a Q) -> Call<'a, Q, R, NoDetail, Counting>;

/// A case whose request is written beforehand, and the same case with a client that writes its requests.
pub(crate) type Pair = (Case, Case);

impl<C: 'static> Port<C> {
    /// Creates a case of a request, which is written beforehand, and its right answer. Its name is that of the operation,
    /// then `size`.
    pub(crate) fn raw<Q, R>(&self, operation: &str, size: impl Display, (request, expected): (Q, R)) -> Case
    where
        Q: ToXml,
        R: FromXml + PartialEq + Clone + Send + Sync + 'static,
    {
        let name = format!("{operation}{size}");
        let operation = operation_named(self.operations, operation);
        let judge = equal_to(expected, 0);
        let message = message(operation, TEXT_XML, body(operation, &request), &Options::default(), judge);
        self.case(name, Requests::Raw(vec![message]))
    }

    /// Creates a case in both forms, of a request and its right answer, which counts as `items`.
    pub(crate) fn pair<Q, R>(
        &self,
        operation: &str,
        size: impl Display,
        (request, expected): (Q, R),
        items: u64,
        call: Method<C, Q, R>,
    ) -> Pair
    where
        Q: ToXml + Send + Sync + 'static,
        R: FromXml + PartialEq + Clone + Send + Sync + 'static,
    {
        let name = format!("{operation}{size}");
        let operation = operation_named(self.operations, operation);
        let judge = equal_to(expected, items);
        let message = message(operation, TEXT_XML, body(operation, &request), &Options::default(), judge.clone());
        let connect =
            client::connect(self.client, async move |client: &C, _| Ok(judge(&call(client, &request).await?)?));
        let typed = Requests::Typed { count: 1, connect };
        (self.case(name.clone(), Requests::Raw(vec![message])), self.case(name, typed))
    }

    fn case(&self, name: String, requests: Requests) -> Case {
        let style = self.style.map(str::to_owned);
        Case { suite: self.suite.into(), name, style, path: self.path.into(), requests }
    }
}

/// Returns a check of answers that must be `expected`.
fn equal_to<R: PartialEq + Clone>(expected: R, items: u64) -> impl Fn(&R) -> Result<u64, String> + Clone {
    move |answer| match *answer == expected {
        true => Ok(items),
        false => Err("the answer is not the expected one".to_owned()),
    }
}

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
