//! A service for tests of layers, and what they need besides.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(dead_code, unreachable_pub, reason = "every test file has a copy of its own and uses a part of it")]

use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use castile_databinding::schema::Element;
use castile_mime::{Attachments, Packaging};
use castile_soap::addressing::Replies;
use castile_soap::{
    Description, Dispatch, Fault, NoDetail, Operation, Payload, Pending, Received, ReplyMessage, Request, Response,
    Root, Service,
};
use castile_wss::Error;
use castile_wss::message::{Policy, VerifiedMessage};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rcgen::{KeyPair, PublicKeyData};

/// Describes a key by its value (XML Signature 1.1 §4.5.9).
pub fn key_value(key: &KeyPair) -> String {
    let value = STANDARD.encode(key.subject_public_key_info());
    format!("<d:DEREncodedKeyValue xmlns:d='http://www.w3.org/2009/xmldsig11#'>{value}</d:DEREncodedKeyValue>")
}

/// Verifies a message of a package.
pub fn verify_package(
    policy: &Policy,
    message: impl AsRef<[u8]>,
    packaging: Packaging,
    attachments: &mut Attachments,
) -> Result<VerifiedMessage, Error> {
    let mut received = Received::from(Bytes::copy_from_slice(message.as_ref()));
    received.packaging = Some(packaging);
    received.attachments = std::mem::replace(attachments, Attachments::none());
    let verified = policy.verify_received(&mut received).now_or_never().unwrap();
    *attachments = received.attachments;
    verified
}

const ORDER: Root = Root::new(Element::new("urn:o", "order", 1), "<order xmlns=\"urn:o\">", "</order>");

static OPERATIONS: [Operation; 1] = [Operation::new("order", "order", ORDER).with_response(ORDER)];

pub type Answer = Result<Response<String>, Fault<NoDetail>>;

/// A service with one operation, whose request and response are a text.
struct Orders<H>(Arc<H>);

impl<H> Dispatch for Orders<H>
where
    H: Fn(Request<String>) -> BoxFuture<'static, Answer> + Send + Sync + 'static,
{
    fn description(&self) -> &'static Description {
        const { &Description::new("Orders", "urn:o", &OPERATIONS) }
    }

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, castile_soap::Error> {
        let handler = self.0.clone();
        payload.handle(move |request| handler(request))
    }
}

/// Returns a service with this handler.
pub fn orders<F>(handler: impl Fn(Request<String>) -> F + Send + Sync + 'static) -> impl Service
where
    F: Future<Output = Answer> + Send + 'static,
{
    Orders(Arc::new(move |request| handler(request).boxed()))
}

/// Returns a service that answers with the text of the request.
pub fn echo() -> impl Service {
    orders(async |request| Ok(request.into_inner().into()))
}

/// Stores replies that are sent to another address.
#[derive(Default)]
pub struct Outbox(pub Mutex<Vec<(String, String)>>);

impl Outbox {
    pub const ADDRESS: &str = "http://elsewhere/";

    /// Returns the addresses and the messages, and forgets them.
    pub fn take(&self) -> Vec<(String, String)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Replies for Outbox {
    fn allows(&self, address: &str) -> bool {
        address == Outbox::ADDRESS
    }

    fn send(&self, address: String, _: String, reply: ReplyMessage) -> BoxFuture<'static, ()> {
        self.0.lock().unwrap().push((address, text_of(&reply)));
        std::future::ready(()).boxed()
    }
}

/// Returns the message of a reply.
pub fn text_of(reply: &ReplyMessage) -> String {
    String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap()
}
