//! Documents that are read item by item.

use std::io::{self, Read};
use std::marker::PhantomData;
use std::sync::Arc;

use castile_budget::{Allowance, Reservation};
use castile_xml::{Limits, Memory};

use super::split::{Splitter, Step};
use super::{Document, FREE, Options, Repeats, read};
use crate::schema::Element;
use crate::{Error, ErrorKind, FromXml};

/// The size of a read, in bytes.
const CHUNK: usize = 64 << 10;

/// A document that was opened but not read. [`items`](Self::items) reads it item by item.
#[derive(Debug)]
pub struct Source<D, R> {
    source: R,
    options: Options,
    of: PhantomData<fn() -> D>,
}

impl Options {
    /// Opens a document that is read item by item from `source`.
    pub fn open<D: Document, R: io::Read>(&self, source: R) -> Source<D, R> {
        Source::new(source, self.clone())
    }
}

/// Opens a document that is read item by item, and so may have any size.
///
/// ```ignore
/// for quake in document::open::<Catalogue, _>(File::open("quakes.xml")?).items::<Quake>() {
///     println!("{}", quake?.magnitude);
/// }
/// ```
pub fn open<D: Document, R: io::Read>(source: R) -> Source<D, R> {
    Options::default().open(source)
}

impl<D: Document, R: Read> Source<D, R> {
    fn new(source: R, options: Options) -> Self {
        Source { source, options, of: PhantomData }
    }

    /// Returns an iterator over the values of the elements that hold a `T`. It needs memory for the largest element and for
    /// everything around the elements.
    ///
    /// The whole document is checked for well-formedness and each item against its type. [`Items::rest`] checks what is
    /// around the items.
    pub fn items<T: FromXml>(self) -> Items<D, T, R>
    where
        D: Repeats<T>,
    {
        let Source { source, options, .. } = self;
        let Element { namespace, name, .. } = D::ELEMENT;
        let (steps, element) = D::PATH.steps(vec![Step::new(namespace, name)]);
        Items {
            source,
            chunk: vec![0; CHUNK].into(),
            splitter: Splitter::new(steps, None, options.limits),
            element,
            limits: options.limits,
            reservation: options.reservation(),
            memory: Memory::default(),
            state: State::Open,
            of: PhantomData,
        }
    }
}

/// The items of a document ([`Source::items`]): an iterator that ends with the document, or after the first error.
#[derive(Debug)]
pub struct Items<D, T, R> {
    source: R,
    chunk: Box<[u8]>,
    splitter: Splitter,
    element: &'static Element,
    limits: Limits,
    reservation: Result<Arc<Reservation>, Error>,
    memory: Memory,
    state: State,
    of: PhantomData<fn() -> (D, T)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The whole document was read.
    Read,
    Failed(Error),
}

impl<D: Document, T: FromXml, R: Read> Iterator for Items<D, T, R> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Result<T, Error>> {
        let next = self.advance().transpose();
        if let Some(Err(error)) = &next {
            self.state = State::Failed(error.clone());
        }
        next
    }
}

impl<D: Document, T: FromXml, R: Read> std::iter::FusedIterator for Items<D, T, R> {}

impl<D: Document, T: FromXml, R: Read> Items<D, T, R> {
    fn advance(&mut self) -> Result<Option<T>, Error> {
        if let State::Failed(_) = self.state {
            return Ok(None);
        }
        loop {
            if let Some(item) = self.splitter.pop()? {
                let reservation = self.reservation.as_ref().map_err(Clone::clone)?;
                let allowance = Allowance::of(reservation.clone(), FREE);
                let value = item.read(self.element, self.limits, allowance, &mut self.memory);
                // The caller owns the value from here on.
                reservation.release();
                return value.map(Some);
            }
            if self.state == State::Read {
                return Ok(None);
            }
            self.fill()?;
        }
    }

    /// Reads the next chunk of the document.
    fn fill(&mut self) -> Result<(), Error> {
        let length = loop {
            match self.source.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(source_error)?,
            }
        };
        // A reader may return a wrong length, larger than the buffer. That is treated as the end.
        match self.chunk.get(..length) {
            Some([]) | None => {
                self.state = State::Read;
                self.splitter.end();
            }
            Some(bytes) => self.splitter.push(bytes),
        }
        Ok(())
    }

    /// Returns the document without its items. Items that were not read yet are skipped and not checked against their type.
    ///
    /// # Errors
    /// The document doesn't match its schema, is not well-formed or can't be read. An earlier error is returned again.
    pub fn rest(mut self) -> Result<D, Error> {
        if let State::Failed(error) = self.state {
            return Err(error);
        }
        loop {
            while self.splitter.pop()?.is_some() {}
            if self.state == State::Read {
                break;
            }
            self.fill()?;
        }
        let reservation = self.reservation.as_ref().map_err(Clone::clone)?;
        read(self.splitter.rest(), Some(self.element), self.limits, reservation)
            .map_err(|error| self.splitter.of_rest(error))
    }
}

/// Converts an error of the document's source.
fn source_error(error: io::Error) -> Error {
    Error::new(ErrorKind::Io(error.kind()), 0, format!("the document can't be read: {error}"))
}
