//! Catches panics while a request is handled and while its values are written.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use crate::handling::{Handling, Typed};
use crate::reply_message::ReplyMessage;

pin_project! {
    /// The future of a reply. The typed part of a call is generic, and the steps that drive it are not. This is a struct and not an
    /// async block, because a state machine of its own for each operation is much code.
    pub(crate) struct Guarded<T> {
        // Dropped first, because the memory of its values is charged to what the steps hold.
        #[pin]
        call: T,
        handling: Handling,
    }
}

impl<T> Guarded<T> {
    pub(crate) fn new(call: T, handling: Handling) -> Self {
        Guarded { call, handling }
    }
}

impl<T: Typed> Future for Guarded<T> {
    type Output = ReplyMessage;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ReplyMessage> {
        let this = self.project();
        poll(this.call, this.handling, context)
    }
}

/// Polls the steps. A panic of a handler, or while its values are written, is answered with a fault, and all values are dropped.
fn poll(mut call: Pin<&mut dyn Typed>, handling: &mut Handling, context: &mut Context<'_>) -> Poll<ReplyMessage> {
    let polled = catch_unwind(AssertUnwindSafe(|| handling.poll(call.as_mut(), context)));
    polled.unwrap_or_else(|_| {
        // A destructor of the values may panic, too.
        let _ = catch_unwind(AssertUnwindSafe(|| call.end()));
        Poll::Ready(handling.panicked())
    })
}
