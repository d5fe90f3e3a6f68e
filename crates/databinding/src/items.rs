//! Repeated values that may be produced while the message is sent.

use std::fmt;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use crate::streamed::{BoxError, Elements, Streamed};
use crate::to_xml::{Encoder, ToXml};

type Values<T> = Pin<Box<dyn Stream<Item = Result<T, BoxError>> + Send>>;

/// About how many bytes of available values are sent in one chunk.
const CHUNK: usize = 16 << 10;

/// Repeated values: a vector, or a stream that produces them while the message is sent.
///
/// Binary values of a stream are written inline, not as MTOM parts, and must not refer to attachments. The stream decides how
/// long its next value may take: the service's timeout for an answer ends with the first byte.
///
/// A message can contain one stream. After the first byte was sent, an error can't be reported; the connection is closed
/// before the end of the message. Values that were received are always a vector.
///
/// ```
/// use castile_databinding::Items;
///
/// let items: Items<i32> = vec![1, 2].into();
/// assert_eq!(items.get(), Some(&[1, 2][..]));
/// ```
pub struct Items<T>(ItemSource<T>);

enum ItemSource<T> {
    Values(Vec<T>),
    /// `None` after sending has begun.
    Stream(Arc<Mutex<Option<Values<T>>>>),
}

impl<T> Items<T> {
    /// Creates items from a stream. Clones share the stream, which can be sent once.
    pub fn stream<E: Into<BoxError>>(values: impl Stream<Item = Result<T, E>> + Send + 'static) -> Self {
        Items(ItemSource::Stream(Arc::new(Mutex::new(Some(Box::pin(Boxed(Box::pin(values))))))))
    }

    /// Returns the values, unless they are a stream.
    pub fn get(&self) -> Option<&[T]> {
        match &self.0 {
            ItemSource::Values(values) => Some(values),
            ItemSource::Stream(_) => None,
        }
    }

    /// Returns the values as a vector.
    ///
    /// # Errors
    /// Returns the items unchanged if they are a stream.
    pub fn into_vec(self) -> Result<Vec<T>, Self> {
        match self.0 {
            ItemSource::Values(values) => Ok(values),
            coming @ ItemSource::Stream(_) => Err(Items(coming)),
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
        Items(ItemSource::Values(values))
    }
}

impl<T> FromIterator<T> for Items<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Items(ItemSource::Values(values.into_iter().collect()))
    }
}

impl<T> Default for Items<T> {
    fn default() -> Self {
        Items(ItemSource::Values(Vec::new()))
    }
}

impl<T: Clone> Clone for Items<T> {
    fn clone(&self) -> Self {
        Items(match &self.0 {
            ItemSource::Values(values) => ItemSource::Values(values.clone()),
            ItemSource::Stream(values) => ItemSource::Stream(values.clone()),
        })
    }
}

/// Two streams are equal if they are clones of each other.
impl<T: PartialEq> PartialEq for Items<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (ItemSource::Values(values), ItemSource::Values(others)) => values == others,
            (ItemSource::Stream(values), ItemSource::Stream(others)) => Arc::ptr_eq(values, others),
            _ => false,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ItemSource::Values(values) => values.fmt(f),
            ItemSource::Stream(_) => f.write_str("a stream"),
        }
    }
}

/// Elements that are written from a stream of values.
struct WrittenItems<T> {
    /// The shared stream, taken when the first element is polled.
    stream: Arc<Mutex<Option<Values<T>>>>,
    values: Option<Values<T>>,
    tags: (&'static str, &'static str),
    /// Creates the encoder for an element, with the namespaces in scope at the position of the stream.
    encoder: Box<dyn Fn() -> Encoder + Send>,
    chunk: Vec<u8>,
    /// How many bytes may still be added to the document.
    left: usize,
    is_over: bool,
}

impl<T> Unpin for WrittenItems<T> {}

impl<T: ToXml + Send> Elements for WrittenItems<T> {
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, BoxError>>> {
        let this = &mut *self;
        if this.is_over {
            return Poll::Ready(None);
        }
        if this.values.is_none() {
            this.values = this.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
        let Some(values) = &mut this.values else {
            this.is_over = true;
            return Poll::Ready(Some(Err("a stream of values can be sent only once".into())));
        };
        while this.chunk.len() < CHUNK {
            let next = match values.as_mut().poll_next(context) {
                Poll::Pending if !this.chunk.is_empty() => break,
                next => ready!(next),
            };
            let Some(value) = next else {
                this.is_over = true;
                break;
            };
            let written = value.and_then(|value| {
                let mut encoder = (this.encoder)().limited(this.left);
                encoder.out = mem::take(&mut this.chunk);
                encoder.element(this.tags.0, &value, this.tags.1);
                if encoder.has_references {
                    encoder.fail_with("a reference to an attachment in a stream, which can't have attachments");
                }
                encoder.finish().map_err(BoxError::from)
            });
            match written {
                Ok(piece) => this.chunk = piece,
                Err(error) => {
                    this.is_over = true;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
        let piece = mem::take(&mut this.chunk);
        this.left -= piece.len().min(this.left);
        Poll::Ready((!piece.is_empty()).then_some(Ok(piece)))
    }
}

impl Encoder {
    /// Returns the encoder with support for one stream, which [`take_streamed`](Self::take_streamed) returns. Without it a
    /// stream is an error.
    pub fn streaming(mut self) -> Self {
        self.streams = true;
        self
    }

    /// Writes an element for each value: those of a vector now, those of a stream while the message is sent.
    pub fn items<T: ToXml + Send + 'static>(&mut self, start: &'static str, items: &Items<T>, end: &'static str) {
        let coming = match &items.0 {
            ItemSource::Values(values) => return self.repeated(start, values, end),
            ItemSource::Stream(coming) => coming.clone(),
        };
        if !self.streams || self.streamed.is_some() {
            return self.fail_with("a stream of values at a place where streams are not supported");
        }
        let here = self.namespace_context();
        let elements = WrittenItems {
            stream: coming,
            values: None,
            tags: (start, end),
            encoder: Box::new(move || here.encoder()),
            chunk: Vec::new(),
            left: self.limit.saturating_sub(self.out.len()),
            is_over: false,
        };
        self.streamed = Some(Box::new(Streamed::new(self.out.len(), elements)));
    }

    /// Writes an element of a type of a program for each value. For a stream, the namespace of the tags must be the default
    /// namespace here.
    #[doc(hidden)]
    pub fn own_items<T: ToXml + Send + 'static>(
        &mut self,
        namespace: &'static str,
        start: &'static str,
        items: &Items<T>,
        end: &'static str,
    ) {
        match &items.0 {
            ItemSource::Values(values) => self.own_repeated(namespace, start, values, end),
            ItemSource::Stream(_) if self.is_undeclared() || T::NAMESPACE.is_some_and(|own| own != namespace) => {
                self.fail_with("a stream of values in a different namespace than the element around it");
            }
            ItemSource::Stream(_) => self.items(start, items, end),
        }
    }

    /// Returns the stream in the document, if there is one.
    pub fn take_streamed(&mut self) -> Option<Streamed> {
        self.streamed.take().map(|streamed| *streamed)
    }
}
