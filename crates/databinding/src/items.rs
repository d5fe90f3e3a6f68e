//! Repeated values that may be made while they are sent.

use std::fmt;
use std::mem;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::{Encoder, ToXml};

/// Any error, as those who make values report it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

type Values<T> = Pin<Box<dyn Stream<Item = Result<T, BoxError>> + Send>>;

/// How many bytes of values that are there are sent at once, about.
const PIECE: usize = 16 << 10;

/// Repeated values: all of them, or a stream that makes them while the message that they are in is sent.
///
/// Binary values of a stream stand in its elements, not beside the message (MTOM), and none may refer to an attachment. How long the next
/// value may take is for the stream to say: the time that a service has to answer ends with the first byte.
///
/// A message can have one stream. Once its first byte is sent an error can't be told any more: the connection is closed before
/// the end of the message. What is received is there as a whole.
///
/// ```
/// use castile_databinding::Items;
///
/// let items: Items<i32> = vec![1, 2].into();
/// assert_eq!(items.get(), Some(&[1, 2][..]));
/// ```
pub struct Items<T>(Kind<T>);

enum Kind<T> {
    Here(Vec<T>),
    /// `None` once it is being sent.
    Coming(Arc<Mutex<Option<Values<T>>>>),
}

impl<T> Items<T> {
    /// Values that come one after another. A clone is the same stream, which can be sent once.
    pub fn stream<E: Into<BoxError>>(values: impl Stream<Item = Result<T, E>> + Send + 'static) -> Self {
        Items(Kind::Coming(Arc::new(Mutex::new(Some(Box::pin(Boxed(Box::pin(values))))))))
    }

    /// The values, if they are there.
    pub fn get(&self) -> Option<&[T]> {
        match &self.0 {
            Kind::Here(values) => Some(values),
            Kind::Coming(_) => None,
        }
    }

    /// The values by themselves.
    ///
    /// # Errors
    /// The stream, if they come as one.
    pub fn into_vec(self) -> Result<Vec<T>, Self> {
        match self.0 {
            Kind::Here(values) => Ok(values),
            coming @ Kind::Coming(_) => Err(Items(coming)),
        }
    }
}

/// A stream whose errors are boxed.
struct Boxed<S>(Pin<Box<S>>);

impl<T, E: Into<BoxError>, S: Stream<Item = Result<T, E>>> Stream for Boxed<S> {
    type Item = Result<T, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context).map(|next| next.map(|value| value.map_err(Into::into)))
    }
}

impl<T> From<Vec<T>> for Items<T> {
    fn from(values: Vec<T>) -> Self {
        Items(Kind::Here(values))
    }
}

impl<T> FromIterator<T> for Items<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Items(Kind::Here(values.into_iter().collect()))
    }
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Items(Kind::Here(Vec::new()))
    }
}

impl<T: Clone> Clone for Items<T> {
    fn clone(&self) -> Self {
        Items(match &self.0 {
            Kind::Here(values) => Kind::Here(values.clone()),
            Kind::Coming(values) => Kind::Coming(values.clone()),
        })
    }
}

/// Streams are equal if they are the same one.
impl<T: PartialEq> PartialEq for Items<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Here(values), Kind::Here(others)) => values == others,
            (Kind::Coming(values), Kind::Coming(others)) => Arc::ptr_eq(values, others),
            _ => false,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Here(values) => values.fmt(f),
            Kind::Coming(_) => f.write_str("a stream"),
        }
    }
}

/// What is written while a message is sent: the elements of a stream, at a place in what was written before.
pub struct Streamed {
    offset: usize,
    elements: Pin<Box<dyn Elements>>,
}

impl Streamed {
    /// How many bytes of the document stand before the elements.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Moves the elements by `added` bytes, if they are in `moved`.
    pub(crate) fn shift(&mut self, moved: Range<usize>, added: usize) {
        if moved.contains(&self.offset) {
            self.offset += added;
        }
    }
}

/// The next elements, as bytes.
impl Stream for Streamed {
    type Item = Result<Vec<u8>, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.elements.as_mut().poll(context)
    }
}

impl fmt::Debug for Streamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamed").field("offset", &self.offset).finish_non_exhaustive()
    }
}

trait Elements: Send {
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, BoxError>>>;
}

/// The elements that are made of values.
struct Written<T> {
    /// The stream, until the first one is asked for.
    coming: Arc<Mutex<Option<Values<T>>>>,
    values: Option<Values<T>>,
    tags: (&'static str, &'static str),
    /// How each is written, where it stands.
    encoder: Box<dyn Fn() -> Encoder + Send>,
    piece: Vec<u8>,
    /// How many bytes the document may still get.
    left: usize,
    is_over: bool,
}

impl<T> Unpin for Written<T> {}

impl<T: ToXml + Send> Elements for Written<T> {
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, BoxError>>> {
        let this = &mut *self;
        if this.is_over {
            return Poll::Ready(None);
        }
        if this.values.is_none() {
            this.values = this.coming.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        let Some(values) = &mut this.values else {
            this.is_over = true;
            return Poll::Ready(Some(Err("a stream of values can be sent once, and was sent before".into())));
        };
        while this.piece.len() < PIECE {
            let next = match values.as_mut().poll_next(context) {
                Poll::Pending if !this.piece.is_empty() => break,
                next => ready!(next),
            };
            let Some(value) = next else {
                this.is_over = true;
                break;
            };
            let written = value.and_then(|value| {
                let mut encoder = (this.encoder)().limited(this.left);
                encoder.out = mem::take(&mut this.piece);
                encoder.element(this.tags.0, &value, this.tags.1);
                if encoder.has_references {
                    encoder.fail_with("a reference to an attachment in a stream, where none can be sent");
                }
                encoder.finish().map_err(BoxError::from)
            });
            match written {
                Ok(piece) => this.piece = piece,
                Err(error) => {
                    this.is_over = true;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        let piece = mem::take(&mut this.piece);
        this.left -= piece.len().min(this.left);
        Poll::Ready((!piece.is_empty()).then_some(Ok(piece)))
    }
}

impl Encoder {
    /// An encoder that can write a stream: [`take_streamed`](Self::take_streamed) has it. Others refuse one.
    pub fn streaming(mut self) -> Self {
        self.streams = true;
        self
    }

    /// Writes an element for each value: now if they are there, else while the message is sent.
    pub fn items<T: ToXml + Send + 'static>(&mut self, start: &'static str, items: &Items<T>, end: &'static str) {
        let coming = match &items.0 {
            Kind::Here(values) => return self.repeated(start, values, end),
            Kind::Coming(coming) => coming.clone(),
        };
        if !self.streams || self.streamed.is_some() {
            return self.fail_with("a stream of values where none can be sent");
        }
        let here = self.here();
        let elements = Written {
            coming,
            values: None,
            tags: (start, end),
            encoder: Box::new(move || here.encoder()),
            piece: Vec::new(),
            left: self.limit.saturating_sub(self.out.len()),
            is_over: false,
        };
        self.streamed = Some(Box::new(Streamed { offset: self.out.len(), elements: Box::pin(elements) }));
    }

    /// Writes an element of a type of a program for each value: those that are here, or a stream of values whose tags have the
    /// namespace that is the default one here.
    #[doc(hidden)]
    pub fn own_items<T: ToXml + Send + 'static>(
        &mut self,
        namespace: &'static str,
        start: &'static str,
        items: &Items<T>,
        end: &'static str,
    ) {
        match &items.0 {
            Kind::Here(values) => self.own_repeated(namespace, start, values, end),
            Kind::Coming(_) if self.is_undeclared() || T::NAMESPACE.is_some_and(|own| own != namespace) => {
                self.fail_with("a stream of values whose namespace is not the one around them");
            }
            Kind::Coming(_) => self.items(start, items, end),
        }
    }

    /// What was to be written while the document is sent, if there was a stream.
    pub fn take_streamed(&mut self) -> Option<Streamed> {
        self.streamed.take().map(|streamed| *streamed)
    }
}
