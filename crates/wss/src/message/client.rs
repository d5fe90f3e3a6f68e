//! Security of a client.

use castile_soap::{Error, MessageSecurity, Received, SecuredRequest, Written};
use futures_util::future::BoxFuture;

use super::part::Part;
use super::policy::Policy;
use super::sent_parts::SentParts;
use super::sign::OutgoingSecurity;
use crate::ErrorKind;

/// Adds [`OutgoingSecurity`] to the requests of a client, and applies a [`Policy`] to the answers, for the option `security` of clients.
#[derive(Clone, Debug)]
pub struct ClientSecurity {
    requests: OutgoingSecurity,
    answers: Option<Policy>,
    confirms_signatures: bool,
}

impl ClientSecurity {
    /// Adds security to requests. Answers need none: only TLS authenticates their sender.
    #[must_use]
    pub fn new(requests: OutgoingSecurity) -> Self {
        ClientSecurity { requests, answers: None, confirms_signatures: false }
    }

    /// Requires that answers fulfil a policy, faults included. Callers find the [`VerifiedMessage`](super::VerifiedMessage) in
    /// [`Response::extensions`](castile_soap::Response::extensions) or [`Fault::extensions`](castile_soap::Fault::extensions). Without a
    /// policy, an answer with a `Security` that must be understood is an error; [`Policy::any`] understands it and requires nothing.
    #[must_use]
    pub fn with_answer_policy(self, policy: Policy) -> Self {
        ClientSecurity { answers: Some(policy), ..self }
    }

    /// Requires that answers confirm the signature of their request (WS-Security 1.1 §8.5), so that nobody can exchange the signed
    /// answers to two requests. It needs requests with a signature, and an [answer policy](Self::with_answer_policy) that requires
    /// one; otherwise calls fail. Services have to be asked for it: CXF calls it `enableSignatureConfirmation`.
    #[must_use]
    pub fn with_signature_confirmation(self) -> Self {
        ClientSecurity { confirms_signatures: true, ..self }
    }
}

impl MessageSecurity for ClientSecurity {
    fn secure<'a>(&'a self, request: &'a Written) -> BoxFuture<'a, Result<SecuredRequest, Error>> {
        let parts = SentParts::of(request.packaging, &request.parts);
        let known = request.canonical.as_ref().and_then(|canonical| canonical.within(&request.message));
        let message = request.message.bytes();
        Box::pin(async move {
            if self.confirms_signatures && !self.requests.signs(&Part::Body) {
                return Err(Error::of_security(
                    "answers are to be confirmed, and no signature covers the body of the request: a service confirms no signature that fits other requests, too",
                ));
            }
            let Some(message) = message else {
                return Err(Error::of_security("a request that is sent as a stream can't be secured"));
            };
            let secured = self.requests.secured(message, known, parts, None).await;
            let secured =
                secured.map_err(|error| Error::of_security(format!("the request can't be secured: {error}")))?;
            Ok(SecuredRequest::new(secured.message.into_bytes()).with_signatures(secured.value))
        })
    }

    fn verify<'a>(&'a self, answer: &'a mut Received, signatures: &'a [Vec<u8>]) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let Some(policy) = &self.answers else {
                return match self.confirms_signatures {
                    true => Err(Error::of_security("answers are to be confirmed, and there is no policy for them")),
                    false => Ok(()),
                };
            };
            let verified = policy.verify_received(answer).await;
            let verified = verified.and_then(|verified| match self.confirms_signatures {
                true => verified.check_confirmed(signatures).map(|()| verified),
                false => Ok(verified),
            });
            let error = match verified {
                Ok(verified) => {
                    answer.extensions.insert(verified);
                    return Ok(());
                }
                Err(error) => error,
            };
            let fault = match error.kind() {
                ErrorKind::Unsecured | ErrorKind::Unsigned => {
                    let options = policy.document_limits().into();
                    castile_soap::client::unverified_fault(&answer.message, answer.charset, &options)
                }
                _ => None,
            };
            Err(match fault {
                Some(fault) => Error::of_unsecured_fault(
                    format_args!("the answer is a fault that anybody may have made: {error}"),
                    fault,
                ),
                None => Error::of_security(format!("the answer doesn't have the security that is required: {error}")),
            })
        })
    }
}
