//! Security of a client.

use castile_databinding::ExpandedName;
use castile_soap::{Error, MessageSecurity};
use castile_xml::Charset;
use futures_util::future::BoxFuture;

use super::envelope::Envelope;
use super::policy::Policy;
use super::sign::Security;
use crate::ErrorKind;
use crate::limits::Limits;
use crate::uris::WSSE;

/// Adds [`Security`] to the requests of a client, and applies a [`Policy`] to the answers, for the option `security` of clients.
#[derive(Clone, Debug)]
pub struct ClientSecurity {
    requests: Security,
    answers: Option<Policy>,
}

impl ClientSecurity {
    /// Adds security to requests. Answers need none: TLS has to tell who made them.
    #[must_use]
    pub fn new(requests: Security) -> Self {
        ClientSecurity { requests, answers: None }
    }

    /// Requires that answers fulfil a policy, faults included.
    #[must_use]
    pub fn with_answers(self, policy: Policy) -> Self {
        ClientSecurity { answers: Some(policy), ..self }
    }
}

impl MessageSecurity for ClientSecurity {
    fn secure<'a>(&'a self, request: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
        Box::pin(async move {
            let secured = self.requests.secure(request).await;
            secured.map_err(|error| Error::of_security(format!("the request can't be secured: {error}")))
        })
    }

    fn verify(&self, answer: &[u8], charset: Option<Charset>) -> Result<(), Error> {
        let Some(policy) = &self.answers else { return Ok(()) };
        let error = match policy.verify_in(answer, charset) {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        let is_fault = || {
            let text = castile_xml::decode(answer, charset)?;
            Ok::<_, crate::Error>(Envelope::read(&text, Limits::default())?.0.is_fault)
        };
        Err(match error.kind() {
            ErrorKind::Unsigned if is_fault().unwrap_or_default() => {
                Error::of_unsecured_fault(format!("the answer is a fault that anybody may have made: {error}"))
            }
            _ => Error::of_security(format!("the answer doesn't have the security that is required: {error}")),
        })
    }

    fn understood(&self) -> Vec<ExpandedName> {
        vec![ExpandedName::new(WSSE.to_owned(), "Security")]
    }
}
