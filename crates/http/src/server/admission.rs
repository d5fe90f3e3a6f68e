//! Decides when a request may work, and when it is rejected.
//!
//! A request takes a slot of work when it has work to do. An [`Endpoint`](super::Endpoint) controls that with a
//! [`Ticket`]: it reads the message without a slot, takes a slot for the work, and frees it while it waits for its
//! peer. Any other service has a slot from the head of a request to its answer.

use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use castile_budget::{Budget, Reservation};
use castile_soap::ReplyMessage;
use futures_util::future::BoxFuture;
use tokio::time::sleep;

use super::activity::Activity;
use super::connections::Received;
use super::slots::Overload;
use super::wait::Turn;

/// The pause between two attempts to get memory for a body, and the number of attempts.
const MEMORY_PAUSE: Duration = Duration::from_millis(10);
const MEMORY_ATTEMPTS: u32 = 10;

thread_local! {
    /// The ticket of the request that a service is called with on this thread, or whose future is polled. Empty after
    /// an endpoint has taken it.
    static CALLED: Cell<Option<Offered>> = const { Cell::new(None) };
}

/// A ticket that an endpoint may take.
struct Offered {
    ticket: Ticket,
    /// Whether the request may have a slot already. It needs that slot only if nobody takes the ticket.
    has_slot: bool,
}

/// A handle to one request on a connection of a server. Outside of a server it allows everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticket(Option<(Arc<Activity>, Turn)>);

/// Removes the ticket when the call of a service ends, also by a panic.
struct Called;

impl Drop for Called {
    fn drop(&mut self) {
        CALLED.take();
    }
}

impl Ticket {
    /// Takes the ticket of the request that is handled on this thread. The caller then controls its slots.
    pub(super) fn take() -> Self {
        let Some(Offered { ticket, has_slot }) = CALLED.take() else { return Ticket(None) };
        if has_slot {
            ticket.rest();
        }
        ticket
    }

    /// Calls a service with a request, which has this turn on its connection. Returns the ticket if the service didn't
    /// take it and so doesn't control its slots.
    pub(super) fn call<T>(activity: Arc<Activity>, turn: Turn, service: impl FnOnce() -> T) -> (T, Option<Self>) {
        CALLED.set(Some(Offered { ticket: Ticket(Some((activity, turn))), has_slot: false }));
        let _called = Called;
        let future = service();
        (future, CALLED.take().map(|offered| offered.ticket))
    }

    /// Polls the future of a request whose ticket nobody has taken yet: a router may call an endpoint only now.
    pub(super) fn offer<T>(ticket: &mut Option<Self>, work: impl FnOnce() -> T) -> T {
        let Some(offered) = ticket.take() else { return work() };
        CALLED.set(Some(Offered { ticket: offered, has_slot: true }));
        let _called = Called;
        let done = work();
        *ticket = CALLED.take().map(|offered| offered.ticket);
        done
    }

    /// Returns the address of the client of the request that is handled on this thread. The ticket can still be taken.
    pub(super) fn client() -> Option<IpAddr> {
        let offered = CALLED.take();
        let client = offered.as_ref().and_then(|offered| offered.ticket.peer());
        CALLED.set(offered);
        client
    }

    /// Returns whether all slots and places in the queue are taken. Reading the message would be useless then.
    pub(super) fn is_hopeless(&self) -> bool {
        self.0.as_ref().is_some_and(|(activity, _)| activity.shared.admission.slots.is_full())
    }

    /// Takes a slot if one is free, and returns whether there was one.
    pub(super) fn try_work(&self) -> bool {
        let Ticket(Some((activity, turn))) = self else { return true };
        let is_free = activity.shared.admission.slots.try_acquire();
        if is_free {
            activity.assign_slot(*turn);
        }
        is_free
    }

    /// Takes a slot. Waits in the queue if none is free.
    pub(super) async fn work(&self) -> Result<(), Overload> {
        if !self.try_work()
            && let Ticket(Some((activity, turn))) = self
        {
            // Boxed, so that the future of requests that find a slot doesn't get larger.
            Box::pin(activity.shared.admission.slots.acquire()).await?;
            activity.assign_slot(*turn);
        }
        Ok(())
    }

    /// Frees the slot while the request waits for its peer.
    pub(super) fn rest(&self) {
        if let Ticket(Some((activity, turn))) = self {
            activity.rest(*turn);
        }
    }

    /// Takes a slot again. Returns `None` if the request has one already or needs none.
    pub(super) fn go_on(&self) -> Option<BoxFuture<'static, ()>> {
        let (activity, turn) = self.0.clone().filter(|(activity, turn)| activity.is_at_rest(*turn))?;
        if self.try_work() {
            return None;
        }
        Some(Box::pin(async move {
            activity.shared.admission.slots.acquire_again().await;
            activity.assign_slot(turn);
        }))
    }

    /// Returns the address of the client, if it is known.
    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.0.as_ref().and_then(|(activity, _)| activity.client())
    }

    /// Returns the memory budget of the server.
    pub(super) fn budget(&self) -> Option<&Budget> {
        self.0.as_ref().map(|(activity, _)| &activity.budget)
    }

    /// Returns the budget of the server for temporary files.
    pub(super) fn disk_budget(&self) -> Option<&Budget> {
        self.0.as_ref().map(|(activity, _)| &activity.disk_budget)
    }

    /// Grows `reservation` as soon as there is memory, for which the slowest senders are dropped. Returns `false` if
    /// there is none soon.
    pub(super) async fn wait_for_memory(self, reservation: Arc<Reservation>, bytes: usize) -> bool {
        for _ in 0..MEMORY_ATTEMPTS {
            self.relieve(reservation.budget(), bytes);
            sleep(MEMORY_PAUSE).await;
            if reservation.grow(bytes).is_ok() {
                reservation.take_refused();
                return true;
            }
        }
        false
    }

    /// If this request was refused memory, drops slow holders of the budget to free memory for later requests.
    pub(super) fn relieve_if_refused(&self, reservation: &Reservation) {
        if let asked @ 1.. = reservation.take_refused() {
            self.relieve(reservation.budget(), asked);
        }
    }

    fn relieve(&self, budget: &Budget, bytes: usize) {
        if let Some((activity, _)) = &self.0 {
            activity.shared.admission.connections.relieve(activity, budget, bytes);
        }
    }

    /// Counts the request as one whose body is being received, of which `bytes` have arrived.
    pub(super) fn receive(&self, bytes: usize) -> Option<Received> {
        let (activity, turn) = self.0.as_ref()?;
        Some(Received::new(activity.clone(), *turn, bytes))
    }

    /// Registers the reservation of the request, so that it is found when memory runs short.
    pub(super) fn register_request(&self, memory: &Arc<Reservation>) {
        if let Some((activity, _)) = &self.0 {
            activity.reservations.request(memory);
        }
    }

    /// Registers the reservations of a package: `memory`, and `disk` for parts that wait in files.
    pub(super) fn register_package(&self, memory: &Arc<Reservation>, disk: &Arc<Reservation>) {
        if let Some((activity, _)) = &self.0 {
            activity.reservations.request(memory);
            activity.reservations.files(disk);
        }
    }

    /// Registers the reservation of an answer until it is sent. Small answers have none.
    pub(super) fn register_answer(&self, reply: &ReplyMessage) {
        if let (Some((activity, _)), Some(memory)) = (&self.0, &reply.reservation) {
            activity.reservations.answer(memory);
        }
    }

    /// Registers the reservation of an answer to a GET until it is sent.
    pub(super) fn register_document(&self, memory: &Arc<Reservation>) {
        if let Some((activity, _)) = &self.0 {
            activity.reservations.answer(memory);
        }
    }

    /// Marks the message of the request as complete. Its body may continue.
    pub(super) fn message_received(&self) {
        if let Some((activity, turn)) = &self.0 {
            activity.message_received(*turn);
        }
    }
}
