//! What all requests of an endpoint share: its options, its budgets and its service.

use std::sync::Arc;

use castile_budget::{Budget, Reservation};
use castile_soap::Pending;

use super::request_head::RequestHead;
use crate::gzip::{self, Coded};
use crate::server::admission::Ticket;
use crate::server::options::Options;
use crate::server::refusal::Refusal;
use crate::workers::Workers;

pub(super) struct EndpointState<S: ?Sized> {
    pub(super) options: Options,
    /// The options for calls of the service. Without workers in `options` they have some that only provide timers.
    pub(super) messages: castile_soap::Options,
    /// The budget used if neither the options nor a server have one.
    pub(super) process: Budget,
    pub(super) service: Arc<S>,
}

impl<S: castile_soap::Service + ?Sized> EndpointState<S> {
    /// Creates the state of an endpoint.
    pub(super) fn new(options: Options, service: Arc<S>) -> Self {
        let mut messages = options.messages.clone();
        // No message is large enough for these workers. They only provide timers.
        messages.offload.get_or_insert_with(|| Workers::shared().above(usize::MAX));
        EndpointState { options, messages, process: Budget::process(), service }
    }

    /// Called through the `Arc`, because its implementation moves large messages to workers.
    pub(super) fn call(&self, request: castile_soap::RequestMessage) -> Pending {
        castile_soap::Service::call(&self.service, request, &self.messages)
    }

    /// Creates the reservation of a request, which holds nothing yet.
    pub(super) fn reservation(&self, ticket: &Ticket) -> Result<Arc<Reservation>, Refusal> {
        let budget = self.options.budget.as_ref().or(ticket.budget()).unwrap_or(&self.process);
        budget.reserve(0).map(Arc::new).map_err(|_| Refusal::Exhausted)
    }

    /// Wraps the body in a gzip decoder if it needs one.
    pub(super) fn coded<B>(&self, body: B, request_head: &RequestHead) -> Coded<B> {
        Coded::of(body, request_head.is_gzip, u64::from(self.options.gzip_ratio))
    }

    /// Charges the memory of the gzip decoder if the body needs one. If there is too little, other requests make room
    /// for it.
    pub(super) async fn charge_coding(
        request_head: &RequestHead,
        reservation: &Arc<Reservation>,
    ) -> Result<(), Refusal> {
        if !request_head.is_gzip || reservation.grow(gzip::READING).is_ok() {
            return Ok(());
        }
        // Boxed, so that the future of other requests doesn't get larger.
        let has_room = Box::pin(request_head.ticket.clone().wait_for_memory(reservation.clone(), gzip::READING)).await;
        if has_room { Ok(()) } else { Err(Refusal::Exhausted) }
    }

    /// Creates the reservation for parts that wait in files.
    pub(super) fn disk(&self, ticket: &Ticket) -> Result<Arc<Reservation>, Refusal> {
        let budget = self.options.disk_budget.as_ref().or(ticket.disk_budget());
        let reserved = budget.map_or_else(|| castile_mime::disk().reserve(0), |budget| budget.reserve(0));
        reserved.map(Arc::new).map_err(|_| Refusal::Exhausted)
    }
}
