//! Signatures of any document, without SOAP: enveloped, enveloping and detached (XML Signature §1).
//!
//! ```
//! use castile_wss::document::{DocumentSigner, DocumentVerifier};
//! use castile_wss::{Secret, Trust};
//!
//! # async fn run() -> Result<(), castile_wss::Error> {
//! let secret = Secret::new(*b"0123456789abcdef");
//! let signed = DocumentSigner::new(secret.clone()).sign(b"<invoice><total>12</total></invoice>").await?;
//!
//! let verifier = DocumentVerifier::new(Trust::new().with_secret("accounting", secret));
//! let verified = verifier.verify(&signed)?;
//! assert!(verified.covers_document());
//! assert!(verifier.verify(&[b"<!-- paid -->", signed.as_slice()].concat()).is_ok());
//! let changed = String::from_utf8(signed).unwrap().replace("12", "13");
//! assert_eq!(verifier.verify(changed.as_bytes()).unwrap_err().kind(), castile_wss::ErrorKind::Digest);
//! # Ok(())
//! # }
//! # futures_util::FutureExt::now_or_never(run()).unwrap().unwrap();
//! ```

mod sign;
mod verify;

pub use sign::{DocumentSigner, Place};
pub use verify::{DocumentVerifier, VerifiedDocument};
