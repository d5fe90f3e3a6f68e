//! XML 1.0 (fifth edition) with Namespaces: bytes to tokens and back.
//!
//! [`Reader`] is a pull reader: it returns the [`Token`]s of a document in memory. It checks well-formedness and
//! namespaces, rejects document type declarations and enforces [`Limits`].
//!
//! [`DocumentEntity`] reads schemas and contracts, which may have a document type declaration. [`PushReader`] reads a
//! document that arrives in chunks. [`decode`] converts other encodings to UTF-8 before a document is read.
//!
//! [`Writer`] writes documents that are well-formed, whatever it is given. [`escape`] is for callers that write
//! constant tags themselves and need to escape the text between them. [`c14n`] writes documents in canonical form.
//! [`visible`] escapes text from untrusted sources before it is shown.
//!
//! ```
//! use castile_xml::{Limits, Reader, Token};
//!
//! let mut reader = Reader::new(b"<a xmlns='urn:x'><b>1 &lt; 2</b></a>", Limits::default())?;
//! let Token::StartTag(tag) = reader.next()? else { panic!() };
//! assert_eq!((reader.namespace(tag.namespace), tag.name.local()), ("urn:x", "a"));
//! reader.next()?;
//! let Token::Text(text) = reader.next()? else { panic!() };
//! assert_eq!(text, "1 < 2");
//! # Ok::<(), castile_xml::Error>(())
//! ```

pub mod c14n;
mod cached;
mod document;
mod dtd;
mod encoding;
mod error;
pub mod escape;
#[doc(hidden)]
pub mod ids;
mod interner;
mod limits;
mod location;
mod name;
mod namespaces;
mod reader;
pub mod scan;
mod token;
pub mod tree;
mod visible;
mod writer;

#[doc(hidden)]
pub use cached::{AttributeIndex, CachedReader, CachedText, Caches, Predicted, SlotId, Template, name_hash};
pub use document::DocumentEntity;
pub use dtd::Notation;
pub use encoding::{Charset, decode};
pub use error::{Error, ErrorKind};
pub use limits::Limits;
pub use location::Location;
pub use name::{QName, is_name_char, is_name_start_char};
pub use namespaces::{NamespaceId, Scope, XML_NAMESPACE, XMLNS_NAMESPACE};
pub use reader::push::{Chunk, PushReader};
pub use reader::{Memory, Reader};
pub use token::{Attribute, Raw, StartTag, Token};
pub use visible::{changes_direction, excerpt, visible, visible_lines};
pub use writer::{Prefixes, Writer};
