//! The documents of the contract and the HTML page, which answer a GET.

use std::sync::Arc;

use bytes::Bytes;
use castile_budget::UNCHARGED;
use castile_soap::{Description, Document, Offloading};
use http::request::Parts;
use http::{Response, header};

use super::state::EndpointState;
use crate::body::Body;
use crate::headers::{Fields, XML_TYPE};
use crate::server::address;
use crate::server::admission::Ticket;
use crate::server::answer::{Answer, answer_unread};
use crate::server::refusal::Refusal;
use crate::timeout::within;

/// How many pairs of a query are compared, each with every document of the contract. Real clients send one.
const PAIRS: usize = 32;

impl<S: castile_soap::Service + ?Sized> EndpointState<S> {
    /// Answers a GET with a document of the contract, or with the page if it asks for none.
    pub(super) fn show<B>(self: &Arc<Self>, head: Parts, body: B, ticket: Ticket) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        let document = requested_document(self.service.description(), &head);
        let size = document.map_or_else(|| self.page_size(), |document| document.text().len());
        let offload = self.options.messages.offload.as_ref();
        match offload.filter(|offload| size > offload.above()).cloned() {
            Some(offload) => self.show_on_worker(offload, document, head, body, ticket),
            None => {
                let has_expect = Fields::of(&head.headers).has_expect;
                answer_unread(self.shown(document, &head, &ticket), body, has_expect)
            }
        }
    }

    /// Returns whether a GET with this head is answered.
    pub(super) fn shows(&self, head: &Parts) -> bool {
        self.has_page() || requested_document(self.service.description(), head).is_some()
    }

    fn shown(&self, document: Option<&Document>, head: &Parts, ticket: &Ticket) -> Response<Body> {
        let shown = match document {
            Some(document) => self.document(document, head),
            None => self.page(head).unwrap_or_else(|| Refusal::Method { shows: false }.into_response()),
        };
        self.charged(shown, ticket).unwrap_or_else(Refusal::into_response)
    }

    /// Answers a GET with a large document or page on another thread: processing a large text would block a thread that
    /// drives connections.
    fn show_on_worker<B>(
        self: &Arc<Self>,
        offload: Offloading,
        document: Option<&'static Document>,
        head: Parts,
        body: B,
        ticket: Ticket,
    ) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        let shared = self.clone();
        Box::pin(async move {
            let (has_expect, limit) = (Fields::of(&head.headers).has_expect, shared.options.request_timeout);
            let response = match ticket.work().await {
                Ok(()) => {
                    let shown = offload.run(move || shared.shown(document, &head, &ticket));
                    let shown = within(limit, shown).await.map_err(|_| Refusal::HandlerTimeout { limit });
                    shown.and_then(|shown| shown.ok_or(Refusal::Unmade))
                }
                Err(overload) => Err(Refusal::from(overload)),
            };
            answer_unread(response.unwrap_or_else(Refusal::into_response), body, has_expect).await
        })
    }

    /// Returns how much text the page is made from: the text of all services in the contract.
    fn page_size(&self) -> usize {
        self.service.description().page.filter(|_| self.has_page()).map_or(0, |page| page.text().len())
    }

    /// Returns the HTML page, if there is one.
    #[cfg(feature = "page")]
    fn page(&self, head: &Parts) -> Option<Response<Body>> {
        let page = || crate::server::page::answer(self.service.description(), &self.options.address, head);
        self.options.page.then(page).flatten()
    }

    #[cfg(feature = "page")]
    fn has_page(&self) -> bool {
        self.options.page && self.service.description().page.is_some()
    }

    #[cfg(not(feature = "page"))]
    fn page(&self, _: &Parts) -> Option<Response<Body>> {
        None
    }

    #[cfg(not(feature = "page"))]
    fn has_page(&self) -> bool {
        false
    }

    /// Charges a response until it is sent, unless it is small.
    fn charged(&self, response: Response<Body>, ticket: &Ticket) -> Result<Response<Body>, Refusal> {
        let size = http_body::Body::size_hint(response.body()).lower() as usize;
        if size <= UNCHARGED {
            return Ok(response);
        }
        let reservation = self.reservation(ticket)?;
        if reservation.grow(size).is_err() {
            ticket.relieve_if_refused(&reservation);
            return Err(Refusal::Exhausted);
        }
        ticket.register_document(&reservation);
        Ok(response.map(|body| body.charged(Some(reservation))))
    }

    fn document(&self, document: &Document, head: &Parts) -> Response<Body> {
        let text = address::rewrite(self.service.description(), document, &self.options.address, head);
        let mut response = Response::new(Body::from(text));
        response.headers_mut().insert(header::CONTENT_TYPE, XML_TYPE);
        response
    }
}

/// Returns the document of the contract that a query asks for. An imported document is found by its exact query, the
/// WSDL by the name `wsdl` with any value.
fn requested_document(description: &Description, head: &Parts) -> Option<&'static Document> {
    let pairs = || head.uri.query().unwrap_or_default().split('&').take(PAIRS);
    let is_asked = |document: &&Document| pairs().any(|pair| pair.eq_ignore_ascii_case(document.query));
    let imported = description.documents.iter().skip(1).find(is_asked);
    let asks_for_wsdl =
        || pairs().any(|pair| pair.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case("wsdl")));
    imported.or_else(|| description.documents.first().filter(|_| asks_for_wsdl()))
}
