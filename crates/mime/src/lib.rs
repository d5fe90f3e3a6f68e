//! MIME packages for SOAP messages with attachments: multipart/related (RFC 2387), for SOAP Messages with Attachments
//! and for MTOM.
//!
//! [`Parser`] and the modules below it do no I/O: they turn bytes into parts. [`Message`] reads an HTTP body with the
//! parser: it has the root part, and streams the attachments as they arrive. [`Package`] is a package to be sent.
//!
//! ```
//! use castile_mime::{Limits, Message, Package, Packaging, Part, Related};
//!
//! # async fn run() -> Result<(), castile_mime::Error> {
//! let mut package = Package::new(Packaging::Attachments, "text/xml", "<Envelope/>".into())?;
//! package.attach(Part::new(package.next_id(), "image/png", vec![1, 2, 3].into())?)?;
//! let related = Related::parse(&package.content_type())?;
//!
//! let mut message = Message::read(&related, package.into_body(), Limits::default()).await?;
//! assert_eq!(message.root, "<Envelope/>");
//! while let Some(attachment) = message.attachments.next().await? {
//!     assert_eq!(attachment.head().content_type(), Some("image/png"));
//!     assert_eq!(attachment.collect(1 << 20).await?, [1, 2, 3][..]);
//! }
//! # Ok(())
//! # }
//! # futures_util::FutureExt::now_or_never(run()).expect("all is at hand").expect("a package is read");
//! ```

mod attachments;
mod charges;
mod content_id;
mod error;
mod head;
mod inspect;
mod limits;
mod media_type;
mod message;
mod package;
mod parser;
mod related;
mod source;
mod store;
mod transfer;

pub use attachments::{Attachment, Attachments, Rest, UnverifiedAttachment};
pub use charges::{Charges, DISK, disk};
pub use content_id::ContentId;
pub use error::{BoxError, Error, ErrorKind};
pub use head::PartHead;
pub use inspect::Inspector;
pub use limits::Limits;
pub use media_type::MediaType;
pub use message::Message;
pub use package::{Content, Package, PackageBody, Packaging, Part};
pub use parser::{Event, Parser};
pub use related::{Boundary, Related};
pub use transfer::TransferEncoding;
