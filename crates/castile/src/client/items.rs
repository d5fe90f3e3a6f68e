//! Responses that are read item by item.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use castile_budget::Allowance;
use castile_databinding::FromXml;
use castile_databinding::document::{Repeats, SplitItem, Splitter, Step};
use castile_databinding::schema::Element;
use castile_http::client::Sift;
use castile_soap::{Error, FaultDetail, FromPayload, NoDetail, ToPayload, Version};
use castile_xml::{Charset, Limits, Memory};
use futures_core::Stream;

use super::{BoxError, Call, CallError, HttpService};
use crate::Response;

/// The repeated values of a response, returned as they arrive ([`Call::items`]). Implements [`Stream`].
///
/// ```ignore
/// let mut quakes = client.find(&request).items::<Quake>();
/// while let Some(quake) = quakes.next().await? {
///     println!("{}", quake.magnitude);
/// }
/// ```
///
/// The call is sent when the first item is polled. Dropping the stream before its end closes the connection.
pub struct ItemStream<'a, T, R, D = NoDetail> {
    exchange: Option<Exchange<'a, R, D>>,
    items: Arc<Mutex<VecDeque<SplitItem>>>,
    element: &'static Element,
    limits: Limits,
    memory: Memory,
    /// The result of the exchange, until the caller takes it.
    rest: Option<Result<Response<R>, CallError<D>>>,
    item: std::marker::PhantomData<fn() -> T>,
}

/// The future of the call. It returns the response without its items.
type Exchange<'a, R, D> = Pin<Box<dyn Future<Output = Result<Response<R>, CallError<D>>> + Send + 'a>>;

impl<'a, T: FromXml, R, D> ItemStream<'a, T, R, D>
where
    R: FromPayload + Repeats<T> + Send + 'static,
    D: FaultDetail + 'a,
{
    pub(super) fn new<Q, S>(call: Call<'a, Q, R, D, S>) -> Self
    where
        Q: ToPayload + Sync,
        S: HttpService,
    {
        let limits = call.caller.options.messages.limits;
        let namespaces = [Version::Soap11.namespace(), Version::Soap12.namespace()];
        let mut before = vec![Step::of_either(namespaces, "Envelope"), Step::of_either(namespaces, "Body")];
        before.extend(call.operation.response.iter().map(|root| Step::new(root.element.namespace, root.element.name)));
        let (path, element) = R::PATH.steps(before);
        let items = Arc::default();
        let sift = ItemSift { splitter: Splitter::new(path, None, limits), element, items: Arc::clone(&items) };
        ItemStream {
            exchange: Some(Box::pin(call.run(false, Some(sift)))),
            items,
            element,
            limits,
            memory: Memory::default(),
            rest: None,
            item: std::marker::PhantomData,
        }
    }

    /// Returns the next value. Returns `None` after the last value, if the rest of the response is valid.
    ///
    /// # Errors
    /// Returns a [`CallError`]. No values follow after an error.
    pub async fn next(&mut self) -> Result<Option<T>, CallError<D>> {
        std::future::poll_fn(|cx| self.poll(cx)).await
    }

    /// Returns the response without its items. Items that were not read yet are skipped and not validated.
    ///
    /// # Errors
    /// Returns a [`CallError`], also if `next` returned one before.
    pub async fn rest(mut self) -> Result<Response<R>, CallError<D>> {
        std::future::poll_fn(|cx| {
            while self.exchange.is_some() {
                self.items().clear();
                // New items don't wake this task, so look for them after each poll.
                if self.poll_exchange(cx).is_pending() && self.items().is_empty() {
                    return Poll::Pending;
                }
            }
            Poll::Ready(())
        })
        .await;
        let given_up = || Error::of_message("the response was given up at an error before");
        self.rest.unwrap_or_else(|| Err(CallError::of_message(given_up())))
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<T>, CallError<D>>> {
        loop {
            let next = self.items().pop_front();
            if let Some(item) = next {
                let value = item.read(self.element, self.limits, Allowance::unlimited(), &mut self.memory);
                if value.is_err() {
                    (self.exchange, self.rest) = (None, None);
                    self.items().clear();
                }
                return Poll::Ready(value.map(Some).map_err(|error| CallError::of_message(error.into())));
            }
            if self.exchange.is_none() {
                let failed = self.rest.take_if(|rest| rest.is_err());
                return Poll::Ready(failed.transpose().map(|_| None));
            }
            // New items don't wake this task, so look for them after each poll.
            if self.poll_exchange(cx).is_pending() && self.items().is_empty() {
                return Poll::Pending;
            }
        }
    }

    /// Polls the exchange and stores its result.
    fn poll_exchange(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(exchange) = &mut self.exchange else { return Poll::Ready(()) };
        exchange.as_mut().poll(cx).map(|result| {
            (self.exchange, self.rest) = (None, Some(result.map_err(as_protocol_error)));
        })
    }

    fn items(&self) -> MutexGuard<'_, VecDeque<SplitItem>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Turns a transport error that was caused by an invalid message into a protocol error.
fn as_protocol_error<D>(error: CallError<D>) -> CallError<D> {
    let CallError::Transport(transport) = &error else { return error };
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(transport);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref::<castile_databinding::Error>() {
            return CallError::of_message(found.clone().into());
        }
        cause = error.source();
    }
    error
}

impl<'a, T: FromXml, R, D> Stream for ItemStream<'a, T, R, D>
where
    R: FromPayload + Repeats<T> + Send + 'static,
    D: FaultDetail + 'a,
{
    type Item = Result<T, CallError<D>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll(cx).map(Result::transpose)
    }
}

/// No field is pinned in place: the future is in a `Box`.
impl<T, R, D> Unpin for ItemStream<'_, T, R, D> {}

impl<T, R, D> fmt::Debug for ItemStream<'_, T, R, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ItemStream").field("element", &self.element.name).finish_non_exhaustive()
    }
}

/// Takes the items out of a response.
pub(super) struct ItemSift {
    splitter: Splitter,
    pub(super) element: &'static Element,
    items: Arc<Mutex<VecDeque<SplitItem>>>,
}

impl ItemSift {
    /// Queues the items that were found and returns the remaining bytes. Items found before an error are queued too.
    fn queue_items(&mut self) -> Result<Bytes, BoxError> {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(item) = self.splitter.pop()? {
            items.push_back(item);
        }
        Ok(Bytes::from(self.splitter.take_rest()))
    }
}

impl Sift for ItemSift {
    fn begin(&mut self, charset: Option<Charset>) {
        self.splitter.begin(charset);
    }

    fn sift(&mut self, bytes: &[u8]) -> Result<Bytes, BoxError> {
        self.splitter.push(bytes);
        self.queue_items()
    }

    fn end(&mut self) -> Result<Bytes, BoxError> {
        self.splitter.end();
        self.queue_items()
    }

    fn is_full(&self) -> bool {
        !self.items.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

/// The error for an answer with attachments: its items can refer to parts that arrive after them.
pub(super) fn in_a_package() -> Error {
    Error::of_message(
        "the answer comes with attachments, and its items can't be read one by one: await the call instead",
    )
}
