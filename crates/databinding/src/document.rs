//! Documents: XML without SOAP, whose root element has a type.
//!
//! A [`Document`] is read as a whole ([`from_str`], [`from_slice`]) and written ([`to_string`], [`to_vec`]). A document with
//! many elements of one kind can be read one element at a time, in memory that doesn't grow with the document ([`open`]).

mod split;
mod stream;

use std::cell::RefCell;
use std::sync::Arc;

use castile_budget::{Allowance, Budget, Reservation};
use castile_xml::{Limits, Memory, Reader, Token};

use crate::expected::Expected;
use crate::schema::Element;
use crate::{Decoder, Encoder, Error, ErrorKind};

#[doc(hidden)]
pub use split::{SplitItem, Splitter, Step};
pub use stream::{Items, Source, open};

/// How many bytes of values are not charged, so that small documents never use the budget.
const FREE: usize = 16 << 10;

thread_local! {
    /// The buffers and caches of the last reader on this thread.
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// A type whose values are documents: the type of a global element, or one that derives `castile::Document`.
///
/// ```ignore
/// let order: Order = castile::document::from_str(text)?;
/// let text = castile::document::to_string(&order)?;
/// ```
#[diagnostic::on_unimplemented(
    message = "no element of a schema has `{Self}` as its type",
    note = "derive `castile::Document` to use it as a document"
)]
pub trait Document: Sized {
    /// The root element.
    #[doc(hidden)]
    const ELEMENT: &'static Element;

    /// Reads the element. Its start tag was read.
    ///
    /// # Errors
    /// The document doesn't match the schema or is not well-formed.
    #[doc(hidden)]
    fn read(decoder: &mut Decoder<'_>) -> Result<Self, Error>;

    /// Writes the element.
    #[doc(hidden)]
    fn write(&self, out: &mut Encoder);
}

/// A document, or the payload of a message, with an element of type `T` that may occur any number of times, in one place.
///
/// The values can be read one at a time: those of a document with [`Source::items`], those of an answer with `Call::items`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no repeated element with values of type `{T}`",
    note = "mark the field of your own type with `#[xml(items)]`"
)]
pub trait Repeats<T> {
    /// The path to the repeated element.
    #[doc(hidden)]
    const PATH: &'static ItemPath;
}

/// A path from an element to a repeated element inside it.
#[doc(hidden)]
#[derive(Debug)]
pub struct ItemPath {
    /// The namespaces and local names of the elements on the path.
    through: &'static [(&'static str, &'static str)],
    end: End,
}

#[derive(Debug)]
enum End {
    Items(&'static Element),
    /// The path continues.
    Path(&'static ItemPath),
}

impl ItemPath {
    /// Creates a path through elements of these namespaces and names to a repeated element.
    pub const fn to(through: &'static [(&'static str, &'static str)], items: &'static Element) -> Self {
        ItemPath { through, end: End::Items(items) }
    }

    /// Creates a path through one element, which another path continues.
    pub const fn through(element: &'static [(&'static str, &'static str); 1], way: &'static ItemPath) -> Self {
        ItemPath { through: element, end: End::Path(way) }
    }

    /// Appends the steps of the path to `before`. Returns them with the repeated element.
    pub fn steps(&'static self, before: Vec<Step>) -> (Vec<Step>, &'static Element) {
        let (mut steps, mut at) = (before, self);
        loop {
            steps.extend(at.through.iter().map(|(namespace, local)| Step::new(namespace, local)));
            match at.end {
                End::Path(next) => at = next,
                End::Items(element) => {
                    steps.push(Step::new(element.namespace, element.name));
                    return (steps, element);
                }
            }
        }
    }
}

/// Options for reading documents.
///
/// ```
/// # use castile_databinding::document::Options;
/// let mut options = Options::default();
/// options.limits.message_size = 1 << 20;
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Limits on a document. A document that is read item by item may have any size: the limits then hold for each item, and
    /// for everything around the items together.
    pub limits: Limits,
    /// The budget that values are charged to while a document or an item is read. The default is the budget of the process.
    pub budget: Budget,
}

impl Options {
    /// Reads a document in UTF-8, UTF-16 or the encoding that it declares.
    ///
    /// # Errors
    /// The document doesn't match its schema or is not well-formed. The error has path, line and column.
    pub fn read<D: Document>(&self, document: &[u8]) -> Result<D, Error> {
        let text = castile_xml::decode(document, None)?;
        let reservation = self.reservation()?;
        read(&text, None, self.limits, &reservation).map_err(|error| error.locate(text.as_bytes(), self.limits, None))
    }

    fn reservation(&self) -> Result<Arc<Reservation>, Error> {
        // A reservation of no bytes is never refused.
        let reservation = self.budget.reserve(0);
        reservation.map(Arc::new).map_err(|exhausted| Error::new(ErrorKind::Exhausted, 0, exhausted.to_string()))
    }
}

/// Reads a document from text.
///
/// # Errors
/// The document doesn't match its schema or is not well-formed. The error has path, line and column.
pub fn from_str<D: Document>(document: &str) -> Result<D, Error> {
    let options = Options::default();
    let reservation = options.reservation()?;
    let read = read(document, None, options.limits, &reservation);
    read.map_err(|error| error.locate(document.as_bytes(), options.limits, None))
}

/// Reads a document in UTF-8, UTF-16 or the encoding that it declares.
///
/// # Errors
/// The document doesn't match its schema or is not well-formed. The error has path, line and column.
pub fn from_slice<D: Document>(document: &[u8]) -> Result<D, Error> {
    Options::default().read(document)
}

/// Writes a document in UTF-8, with an XML declaration.
///
/// # Errors
/// A value contains something that XML can't represent.
pub fn to_vec<D: Document>(document: &D) -> Result<Vec<u8>, Error> {
    let mut out = Encoder::default();
    out.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    document.write(&mut out);
    out.finish()
}

/// Writes a document as text, with an XML declaration.
///
/// # Errors
/// A value contains something that XML can't represent.
pub fn to_string<D: Document>(document: &D) -> Result<String, Error> {
    // An encoder writes only UTF-8.
    Ok(String::from_utf8(to_vec(document)?).unwrap_or_default())
}

/// Reads a document that is decoded. `cut` is the element whose occurrences were cut out of it.
fn read<D: Document>(
    text: &str,
    cut: Option<&'static Element>,
    limits: Limits,
    reservation: &Arc<Reservation>,
) -> Result<D, Error> {
    let reader = MEMORY.with_borrow_mut(|memory| Reader::decoded(text, limits, memory));
    let mut reader = reader?;
    let tag = loop {
        match reader.next()? {
            Token::StartTag(tag) => break tag,
            Token::End => return Err(Error::new(ErrorKind::Structure, reader.offset(), "the document has no element")),
            _ => {}
        }
    };
    let (namespace, expected) = (reader.namespace(tag.namespace), D::ELEMENT);
    if !expected.is(namespace, tag.name.local()) {
        return Err(other_root(namespace, tag.name.local(), tag.offset, expected));
    }
    let mut decoder = Decoder::new(reader).within(Allowance::of(reservation.clone(), FREE));
    decoder.cut_out(cut);
    let value = D::read(&mut decoder)?;
    while decoder.reader().next()? != Token::End {}
    MEMORY.set(decoder.into_memory());
    Ok(value)
}

/// Returns the error for an unexpected root element.
#[cold]
fn other_root(namespace: &str, local: &str, offset: usize, expected: &'static Element) -> Error {
    let named = if namespace.is_empty() { "no namespace" } else { namespace };
    let expected = Expected::elements([expected]).instead_of(namespace);
    Error::new(ErrorKind::Structure, offset, format!("found <{local}> of {named}, where {expected} was expected"))
}
