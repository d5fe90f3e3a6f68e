//! When a request may work, and what it is told when it may not.
//!
//! A request takes a slot of work when there is work to do. An [`Endpoint`](super::Endpoint) says when that is, with a
//! [`Ticket`]: it reads the message without a slot, takes one for the work, and gives it back while it waits for its peer.
//! Any other service has a slot from the head of a request to its answer.

use std::cell::Cell;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use castile_budget::{Budget, Reservation};
use castile_soap::ReplyMessage;
use futures_util::future::BoxFuture;
use tokio::time::sleep;

use super::activity::{Activity, Turn};
use super::connections::{Connections, Received};
use super::slots::{Overload, Slots};

/// Who works, and who receives, over all connections.
#[derive(Debug)]
pub(super) struct Admission {
    pub(super) slots: Slots,
    pub(super) connections: Connections,
    pub(super) budget: Budget,
    pub(super) disk_budget: Budget,
}

/// How long a body waits for memory, and how often it looks.
const ROOM_PAUSE: Duration = Duration::from_millis(10);
const ROOM_LOOKS: u32 = 10;

thread_local! {
    /// The request that a service is called with on this thread, or that it goes on with, unless an endpoint has taken it.
    static CALLED: Cell<Option<Offered>> = const { Cell::new(None) };
}

/// A ticket that an endpoint may take.
struct Offered {
    ticket: Ticket,
    /// Whether the request may have a slot already, which it needs only if nobody takes the ticket.
    has_slot: bool,
}

/// One request on a connection of a server. Outside a server it allows everything.
#[derive(Clone, Debug, Default)]
pub(super) struct Ticket(Option<(Arc<Activity>, Turn)>);

/// Says that a service is being called: one that panics leaves its ticket to nobody.
struct Called;

impl Drop for Called {
    fn drop(&mut self) {
        CALLED.take();
    }
}

impl Ticket {
    /// The ticket of the request that this thread calls a service with. Whoever takes it takes slots by it.
    pub(super) fn take() -> Self {
        let Some(Offered { ticket, has_slot }) = CALLED.take() else { return Ticket(None) };
        if has_slot {
            ticket.rest();
        }
        ticket
    }

    /// Calls a service with a request, whose turn it is on a connection. The ticket is given back if nobody took it: the service
    /// doesn't know of slots.
    pub(super) fn call<T>(activity: Arc<Activity>, turn: Turn, service: impl FnOnce() -> T) -> (T, Option<Self>) {
        CALLED.set(Some(Offered { ticket: Ticket(Some((activity, turn))), has_slot: false }));
        let _called = Called;
        let future = service();
        (future, CALLED.take().map(|offered| offered.ticket))
    }

    /// Goes on with a request whose ticket nobody has taken yet: a router may call an endpoint only now.
    pub(super) fn offer<T>(ticket: &mut Option<Self>, work: impl FnOnce() -> T) -> T {
        let Some(offered) = ticket.take() else { return work() };
        CALLED.set(Some(Offered { ticket: offered, has_slot: true }));
        let _called = Called;
        let done = work();
        *ticket = CALLED.take().map(|offered| offered.ticket);
        done
    }

    /// The address of whoever sent the request that this thread calls a service with. The ticket is left to others.
    pub(super) fn client() -> Option<IpAddr> {
        let offered = CALLED.take();
        let client = offered.as_ref().and_then(|offered| offered.ticket.peer());
        CALLED.set(offered);
        client
    }

    /// Whether there is no hope of a slot, so that the message need not be waited for.
    pub(super) fn is_hopeless(&self) -> bool {
        self.0.as_ref().is_some_and(|(activity, _)| activity.shared.admission.slots.is_full())
    }

    /// Takes a slot if one is free.
    pub(super) fn try_work(&self) -> bool {
        let Ticket(Some((activity, turn))) = self else { return true };
        let is_free = activity.shared.admission.slots.try_acquire();
        if is_free {
            activity.hold(*turn);
        }
        is_free
    }

    /// Takes a slot. If none is free it waits in the queue.
    pub(super) async fn work(&self) -> Result<(), Overload> {
        if !self.try_work()
            && let Ticket(Some((activity, turn))) = self
        {
            // Boxed, so that requests that find a slot don't have the room for it.
            Box::pin(activity.shared.admission.slots.acquire()).await?;
            activity.hold(*turn);
        }
        Ok(())
    }

    /// Gives the slot back while the peer is waited for.
    pub(super) fn rest(&self) {
        if let Ticket(Some((activity, turn))) = self {
            activity.rest(*turn);
        }
    }

    /// Takes a slot again; `None` if there is one already, or none is needed.
    pub(super) fn go_on(&self) -> Option<BoxFuture<'static, ()>> {
        let (activity, turn) = self.0.clone().filter(|(activity, turn)| activity.is_at_rest(*turn))?;
        if self.try_work() {
            return None;
        }
        Some(Box::pin(async move {
            activity.shared.admission.slots.acquire_again().await;
            activity.hold(turn);
        }))
    }

    /// The address of whoever sent the request, if it is known.
    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.0.as_ref().and_then(|(activity, _)| activity.client())
    }

    /// The budget of the server.
    pub(super) fn budget(&self) -> Option<&Budget> {
        self.0.as_ref().map(|(activity, _)| &activity.shared.admission.budget)
    }

    /// The budget of the server for temporary files.
    pub(super) fn disk_budget(&self) -> Option<&Budget> {
        self.0.as_ref().map(|(activity, _)| &activity.shared.admission.disk_budget)
    }

    /// Makes `reservation` larger as soon as there is room for it, for which those make way who send most slowly. `false` if
    /// there is none soon.
    pub(super) async fn make_room(self, reservation: Arc<Reservation>, bytes: usize) -> bool {
        for _ in 0..ROOM_LOOKS {
            self.relieve(reservation.budget(), bytes);
            sleep(ROOM_PAUSE).await;
            if reservation.grow(bytes).is_ok() {
                reservation.take_refused();
                return true;
            }
        }
        false
    }

    /// Has room made for those who come later, by those who hold a budget and are slow, if this request was refused what it asked
    /// for.
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

    /// Counts the request among those whose body is waited for; so many bytes came already.
    pub(super) fn receive(&self, bytes: usize) -> Option<Received> {
        let (activity, turn) = self.0.as_ref()?;
        Some(Received::new(activity.clone(), *turn, bytes))
    }

    /// The request is charged to `memory`. By that it is found when others need room.
    pub(super) fn holds(&self, memory: &Arc<Reservation>) {
        if let Some((activity, _)) = &self.0 {
            activity.holdings.request(memory);
        }
    }

    /// The request is charged to `memory`, and what of its package waits in files to `disk`.
    pub(super) fn holds_package(&self, memory: &Arc<Reservation>, disk: &Arc<Reservation>) {
        if let Some((activity, _)) = &self.0 {
            activity.holdings.request(memory);
            activity.holdings.files(disk);
        }
    }

    /// An answer is charged until it is read, unless it is a small one.
    pub(super) fn holds_answer(&self, reply: &ReplyMessage) {
        if let (Some((activity, _)), Some(memory)) = (&self.0, &reply.reservation) {
            activity.holdings.answer(memory);
        }
    }

    /// What is answered to a GET is charged until it is read.
    pub(super) fn holds_shown(&self, memory: &Arc<Reservation>) {
        if let Some((activity, _)) = &self.0 {
            activity.holdings.answer(memory);
        }
    }

    /// The message of the request is complete, though its body may go on.
    pub(super) fn message_came(&self) {
        if let Some((activity, turn)) = &self.0 {
            activity.message_came(*turn);
        }
    }
}
