//! XML 1.0 (fifth edition) with Namespaces: bytes to tokens and back.
//!
//! [`Reader`] pulls [`Token`]s out of a document that lies in memory. It checks everything that well-formedness and
//! namespaces ask for, refuses document type declarations and stays within [`Limits`]. Schemas and contracts may have
//! one: they are read through [`DocumentEntity`]. [`Pieces`] reads what comes in pieces. [`decode`] comes before a reader,
//! for what is not UTF-8. [`Writer`] is the counterpart: whatever it is given, what it writes is well-formed. [`escape`]
//! is for those who write constant tags themselves: what stands between them is made safe there. [`c14n`] writes documents
//! in their canonical form. [`visible`] makes text of strangers safe to show.
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
pub use reader::pieces::{Piece, Pieces};
pub use reader::{Memory, Reader};
pub use token::{Attribute, Raw, StartTag, Token};
pub use visible::{excerpt, turns_text, visible, visible_lines};
pub use writer::{Prefixes, Writer};
