//! XML Signature and WS-Security on Castile's own reader and canonical forms.
//!
//! A signature is verified over the bytes that are read afterwards: what was verified is a byte range of the document, so
//! that nobody can read another element than the one that was signed. Nothing is ever fetched. What is not supported is
//! refused with a reason.
//!
//! [`message`] secures SOAP messages, and [`document`] signs and verifies documents without SOAP.

mod algorithm;
mod assertion;
mod canonical;
mod certificate;
mod crypto;
pub mod document;
mod error;
mod explain;
mod included;
mod index;
mod key;
mod known;
mod limits;
pub mod message;
mod moment;
mod name;
mod pem;
mod revocation;
mod signature;
mod trust;
mod uris;
mod verify;

pub use algorithm::{Algorithms, DigestAlgorithm, SignatureAlgorithm};
pub use certificate::Certificate;
pub use crypto::SigningKey;
pub use error::{Error, ErrorKind};
pub use explain::{
    ExplainedAssertion, ExplainedAttachment, ExplainedConfirmation, ExplainedContent, ExplainedKey, ExplainedPart,
    ExplainedReference, ExplainedSecurity, ExplainedSignature, ExplainedUsername, Explainer, Explanation, explain,
    explain_message,
};
pub use key::{Curve, PrivateKey, PublicKey, Secret};
pub use limits::Limits;
pub use revocation::RevocationList;
pub use trust::{Signer, Trust};
pub use verify::{VerifiedContent, VerifiedReference, VerifiedSignature};
