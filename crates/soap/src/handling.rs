//! The steps of a request after its payload was decoded: the rest of its package, the handler, the reply.
//!
//! Only a [`Call`] knows the types of an operation. The steps use it through the trait [`Typed`], so that they are compiled once and
//! not for each operation.

use std::any::Any;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use castile_budget::Reservation;
use castile_mime::Attachments;
use futures_util::future::BoxFuture;
use pin_project_lite::pin_project;

use crate::addressing::Exchange;
use crate::blocks::Blocks;
use crate::error::Error;
use crate::fault::{Fault, FaultDetail, View};
use crate::offload::Turn;
use crate::package::{Complete, Package, Unread};
use crate::payload::{Decoded, FromPayload, Slot, ToPayload};
use crate::reply::{self, ReplyExtras, Responding};
use crate::reply_message::{Pending, ReplyMessage};
use crate::request::{Request, RequestContext};
use crate::response::Response;
use crate::trace::{Step, Trace};

/// The typed part of a call.
pub(crate) trait Typed: Send {
    /// Moves the message out, to be read again.
    fn take_message(self: Pin<&mut Self>) -> Option<Box<dyn Decoded>>;

    /// Moves the message back.
    fn set_message(self: Pin<&mut Self>, message: Box<dyn Decoded>);

    /// Calls the handler.
    fn call_handler(self: Pin<&mut Self>, header: Blocks, attachments: Attachments, request_context: RequestContext);

    /// Polls the answer of the handler, and stores its message or its fault. Returns the rest of a response.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response<()>>;

    /// Returns what was stored.
    fn answer(&self) -> Option<Answer<'_>>;

    /// Moves the message of the response out, to be written on another thread.
    fn take_response(self: Pin<&mut Self>) -> Option<Box<dyn ToPayload + Send>>;

    /// Drops all values.
    fn end(self: Pin<&mut Self>);
}

/// The answer of a handler.
pub(crate) enum Answer<'c> {
    Response(&'c dyn ToPayload),
    Fault(View<'c>),
}

pin_project! {
    /// A call of a handler `H`, from its message to its answer.
    #[project = CallAt]
    pub(crate) enum Call<Q, R, D, H, F> {
        Decoded { message: Slot<Q>, handler: Option<H> },
        Called { #[pin] answer: F },
        Answered { answer: Option<Result<R, Fault<D>>> },
        Finished,
    }
}

impl<Q, R, D, H, F> Typed for Call<Q, R, D, H, F>
where
    Q: FromPayload + Send + 'static,
    R: ToPayload + Send + 'static,
    D: FaultDetail,
    H: FnOnce(Request<Q>) -> F + Send,
    F: Future<Output = Result<Response<R>, Fault<D>>> + Send,
{
    fn take_message(self: Pin<&mut Self>) -> Option<Box<dyn Decoded>> {
        let CallAt::Decoded { message, .. } = self.project() else { return None };
        Some(Box::new(Slot(message.0.take())))
    }

    fn set_message(self: Pin<&mut Self>, message: Box<dyn Decoded>) {
        let message: Box<dyn Any> = message;
        match (self.project(), message.downcast::<Slot<Q>>()) {
            (CallAt::Decoded { message: slot, .. }, Ok(message)) => *slot = *message,
            _ => debug_assert!(false, "the message that was moved out comes back before the handler is called"),
        }
    }

    fn call_handler(
        mut self: Pin<&mut Self>,
        header: Blocks,
        attachments: Attachments,
        request_context: RequestContext,
    ) {
        let taken = match self.as_mut().project() {
            CallAt::Decoded { message, handler } => message.0.take().zip(handler.take()),
            _ => None,
        };
        debug_assert!(taken.is_some(), "a handler is called once, with a message");
        if let Some((message, handler)) = taken {
            let answer = handler(Request::received(message, header, attachments, request_context));
            self.set(Call::Called { answer });
        }
    }

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response<()>> {
        let CallAt::Called { answer } = self.as_mut().project() else {
            debug_assert!(false, "only a handler that was called has an answer");
            return Poll::Ready(Response::default());
        };
        let (answer, rest) = match ready!(answer.poll(context)) {
            Ok(response) => {
                let (message, rest) = response.split();
                (Ok(message), rest)
            }
            Err(fault) => (Err(fault), Response::default()),
        };
        self.set(Call::Answered { answer: Some(answer) });
        Poll::Ready(rest)
    }

    fn answer(&self) -> Option<Answer<'_>> {
        match self {
            Call::Answered { answer: Some(Ok(message)) } => Some(Answer::Response(message)),
            Call::Answered { answer: Some(Err(fault)) } => Some(Answer::Fault(fault.view())),
            _ => None,
        }
    }

    fn take_response(self: Pin<&mut Self>) -> Option<Box<dyn ToPayload + Send>> {
        let CallAt::Answered { answer } = self.project() else { return None };
        match answer.take() {
            Some(Ok(message)) => Some(Box::new(message)),
            _ => None,
        }
    }

    fn end(mut self: Pin<&mut Self>) {
        self.set(Call::Finished);
    }
}

/// What is awaited next.
enum State {
    /// Nothing was awaited yet.
    Started,
    /// The parts that the message refers to.
    Completing(BoxFuture<'static, Result<Complete, Error>>),
    /// The turn to create a large response.
    Waiting(BoxFuture<'static, Turn>),
    /// The handler.
    Calling,
    /// The attachments that the handler didn't read.
    Skipping(BoxFuture<'static, Result<(), Error>>),
    /// A response that is written on a worker.
    Writing(Pending),
}

/// The steps of one call.
pub(crate) struct Handling {
    state: State,
    trace: Option<Trace>,
    /// The package of the message, and how many bytes its value takes.
    package: Option<(Box<Package>, usize)>,
    header: Blocks,
    attachments: Attachments,
    request_context: RequestContext,
    unread: Option<Unread>,
    turn: Option<Turn>,
    /// The memory for the values of a large response.
    values: Option<Reservation>,
    /// The response without its message.
    rest: Response<()>,
    // Dropped last, because the memory of the others is charged to its reservation.
    responding: Responding,
}

impl Handling {
    pub(crate) fn new(
        responding: Responding,
        trace: Option<Trace>,
        package: Option<Box<Package>>,
        charged: usize,
        header: Blocks,
        request_context: RequestContext,
    ) -> Self {
        Handling {
            state: State::Started,
            responding,
            trace,
            package: package.map(|package| (package, charged)),
            header,
            attachments: Attachments::none(),
            request_context,
            unread: None,
            turn: None,
            values: None,
            rest: Response::default(),
        }
    }

    /// Returns the WS-Addressing properties of the request.
    pub(crate) fn exchange(&self) -> Option<Arc<Exchange>> {
        self.responding.exchange.clone()
    }

    /// Drives the call to its reply.
    pub(crate) fn poll(&mut self, mut call: Pin<&mut dyn Typed>, context: &mut Context<'_>) -> Poll<ReplyMessage> {
        let reply = loop {
            let next = match &mut self.state {
                State::Started => self.complete(call.as_mut()),
                State::Completing(complete) => match ready!(complete.as_mut().poll(context)) {
                    Ok(Complete { message, attachments, unread }) => {
                        (self.attachments, self.unread) = (attachments, unread);
                        call.as_mut().set_message(message);
                        self.wait(call.as_mut())
                    }
                    Err(error) => Err(self.of_error(error)),
                },
                State::Waiting(turn) => {
                    self.turn = Some(ready!(turn.as_mut().poll(context)));
                    self.responding.reserve_values().map(|values| {
                        self.values = values;
                        self.call_handler(call.as_mut())
                    })
                }
                State::Calling => {
                    let rest = call.as_mut().poll(context);
                    // If the handler waits for something else, give up the turn so that it blocks no other answer.
                    if self.turn.is_some() && (rest.is_pending() || self.unread.is_some()) {
                        (self.turn, self.values) = (None, None);
                    }
                    self.rest = ready!(rest);
                    self.answered(call.as_mut())
                }
                // A duplicate name among them means that the handler may have read the wrong part.
                State::Skipping(passed) => match ready!(passed.as_mut().poll(context)) {
                    Ok(()) => self.respond(call.as_mut()),
                    Err(duplicate) => Err(self.of_error(duplicate)),
                },
                State::Writing(reply) => {
                    let reply = ready!(reply.as_mut().poll(context));
                    self.ended(Step::Encode);
                    Err(reply)
                }
            };
            match next {
                Ok(state) => self.state = state,
                Err(reply) => break reply,
            }
        };
        call.end();
        self.turn = None;
        Poll::Ready(reply)
    }

    /// Reads the rest of a package. This step and those below return what is awaited next.
    ///
    /// # Errors
    /// Returns the reply, if there is nothing more to do.
    fn complete(&mut self, mut call: Pin<&mut dyn Typed>) -> Result<State, ReplyMessage> {
        let Some((package, charged)) = self.package.take() else { return self.wait(call) };
        match call.as_mut().take_message() {
            Some(message) => {
                Ok(State::Completing(Box::pin(package.complete(message, charged, self.responding.operation))))
            }
            None => self.wait(call),
        }
    }

    /// Waits for the turn of a response that may be large.
    fn wait(&mut self, call: Pin<&mut dyn Typed>) -> Result<State, ReplyMessage> {
        match self.responding.turn() {
            Some(turn) => Ok(State::Waiting(turn)),
            None => Ok(self.call_handler(call)),
        }
    }

    /// Calls the handler.
    fn call_handler(&mut self, call: Pin<&mut dyn Typed>) -> State {
        let attachments = mem::replace(&mut self.attachments, Attachments::none());
        call.call_handler(mem::take(&mut self.header), attachments, mem::take(&mut self.request_context));
        State::Calling
    }

    /// Continues with the answer of the handler.
    fn answered(&mut self, call: Pin<&mut dyn Typed>) -> Result<State, ReplyMessage> {
        self.ended(Step::Handle);
        // The values are charged when they are written.
        self.values = None;
        let Responding { version, operation, exchange, offload, .. } = &self.responding;
        if let Some(Answer::Fault(fault)) = call.as_ref().get_ref().answer() {
            return Err(reply::of_view(*version, exchange.as_deref(), Some(operation), fault));
        }
        match self.unread.take() {
            Some(unread) => Ok(State::Skipping(Box::pin(unread.skip(offload.clone())))),
            None => self.respond(call),
        }
    }

    /// Writes the response.
    fn respond(&mut self, call: Pin<&mut dyn Typed>) -> Result<State, ReplyMessage> {
        let Response { blocks, parts, http_headers, .. } = mem::take(&mut self.rest);
        let mut extras = ReplyExtras { parts, http_headers };
        if let Some(Answer::Response(message)) = call.as_ref().get_ref().answer()
            && let Some(reply) = self.responding.response(message, &blocks, &mut extras)
        {
            self.ended(Step::Encode);
            return Err(reply);
        }
        match call.take_response() {
            Some(message) => Ok(State::Writing(self.responding.clone().response_on_worker(message, blocks, extras))),
            None => Err(self.panicked()),
        }
    }

    fn ended(&self, step: Step) {
        if let Some(trace) = &self.trace {
            trace.end(step);
        }
    }

    fn of_error(&self, error: Error) -> ReplyMessage {
        reply::of_error(self.responding.version, self.responding.exchange.as_deref(), error)
    }

    /// Returns the reply for a panic, and gives up what is held for the request.
    #[cold]
    pub(crate) fn panicked(&mut self) -> ReplyMessage {
        (self.turn, self.values, self.unread, self.package) = (None, None, None, None);
        self.attachments = Attachments::none();
        let Responding { version, exchange, .. } = &self.responding;
        reply::of_fault(*version, exchange.as_deref(), None, &reply::panicked())
    }
}
