//! Security of SOAP messages (WS-Security 1.1).
//!
//! A [`Policy`] says what a received message must have: a signature by somebody who is trusted, a password, a SAML assertion, a
//! time stamp.
//! [`SecurityLayer`] applies it to a service: a handler is called only if a request fulfils it, and finds the [`VerifiedMessage`] in
//! the request's extensions. [`OutgoingSecurity`] adds tokens and signatures to messages that are sent. [`ClientSecurity`] applies both
//! to the messages of a client.
//!
//! ```
//! use castile_wss::message::{Policy, OutgoingSecurity};
//! use castile_wss::{Secret, Trust};
//!
//! # async fn run() -> Result<(), castile_wss::Error> {
//! let message = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><order/></s:Body></s:Envelope>";
//! let secret = Secret::new(*b"0123456789abcdef");
//! let sent = OutgoingSecurity::new().with_timestamp().with_signature(secret.clone()).secure(message.as_bytes()).await?;
//!
//! let policy = Policy::signed_by(Trust::new().with_secret("orders", secret));
//! let verified = policy.verify(&sent).await?;
//! assert_eq!(verified.signatures().len(), 1);
//! assert!(policy.verify(message.as_bytes()).await.is_err());
//! # Ok(())
//! # }
//! # futures_util::FutureExt::now_or_never(run()).unwrap().unwrap();
//! ```

mod assertions;
mod attachments;
mod client;
mod confirmed;
mod envelope;
mod fault;
mod header;
mod layer;
mod memory;
mod outline;
mod part;
mod policy;
mod replay;
mod sent_parts;
mod sign;
mod signed;
mod stored;
mod username;
mod verified;

pub use crate::assertion::{
    Assertion, AssertionAttribute, AttributeValue, Authentication, ConfirmationMethod, SamlVersion, Subject,
};
pub use assertions::AssertionPolicy;
pub use client::ClientSecurity;
pub use layer::{Secured, SecurityLayer};
pub(crate) use memory::run;
pub(crate) use outline::{Outline, OutlinedSignature, is_envelope};
pub use part::Part;
pub use policy::Policy;
pub use replay::{Remembered, ReplayCache, ReplayMemory};
pub(crate) use sent_parts::SentIncludes;
pub use sign::{CertificateForm, OutgoingSecurity};
pub(crate) use signed::Places;
pub(crate) use stored::StoredParts;
pub use username::{PasswordForm, Passwords, UsernameToken};
pub use verified::VerifiedMessage;
