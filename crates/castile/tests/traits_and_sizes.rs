//! Auto traits and sizes of public types. `tests/api/castile.txt` does not list them, and a field can change them.

use castile::codegen::Caller;
use castile::http::client::Transport;
use castile::http::server::{Routes, Server};
use castile::mime::{Attachment, Attachments, Content, ContentId, Part};
use castile::soap::{Next, Options, Pending, ReplyMessage, RequestMessage};
use castile::{
    Any, AnyElements, AnyHeader, AnyType, Array, Call, CallError, ClientOptions, ContractServer, Deviations, Fault,
    Items, Nillable, NoDetail, Raw, Recursive, Request, Response, ServerOptions, Shared,
};

/// Values that are stored and shared between threads.
fn is_owned<T: Send + Sync + Unpin + 'static>() {}

/// Values that move between threads but belong to one task at a time.
fn is_sent<T: Send + Unpin + 'static>() {}

fn is_future<T: Send>(_: &T) {}

#[test]
fn values_cross_threads() {
    is_owned::<Any>();
    is_owned::<AnyElements>();
    is_owned::<AnyHeader>();
    is_owned::<AnyType>();
    is_owned::<Array<String>>();
    is_owned::<Deviations>();
    is_owned::<Fault>();
    is_owned::<Fault<String>>();
    is_owned::<Nillable<String>>();
    is_owned::<Raw>();
    is_owned::<Recursive<String>>();
    is_owned::<Shared<String>>();
    is_owned::<ContentId>();
}

#[test]
fn messages_go_from_task_to_task() {
    is_sent::<Items<String>>();
    is_sent::<Request<String>>();
    is_sent::<Response<String>>();
    is_sent::<RequestMessage>();
    is_sent::<ReplyMessage>();
    is_sent::<Attachments>();
    is_sent::<Attachment>();
    is_sent::<Content>();
    is_sent::<Part>();
    is_sent::<Pending>();
}

#[test]
fn clients_and_servers_are_shared() {
    // Every generated client wraps a `Caller`.
    is_owned::<Caller>();
    is_owned::<Transport>();
    is_owned::<ClientOptions>();
    is_owned::<ServerOptions>();
    is_owned::<Options>();
    is_owned::<Next>();
    is_owned::<Routes>();
    is_owned::<Server>();
    // The contract and the service here implement no traits of the library.
    is_owned::<ContractServer<(), String>>();
}

#[test]
fn errors_are_boxed_by_question_marks() {
    fn is_error<T: std::error::Error + Send + Sync + Unpin + 'static>() {}
    is_error::<CallError>();
    is_error::<Fault>();
    is_error::<castile::http::Error>();
    is_error::<castile::mime::Error>();
    is_error::<castile::soap::Error>();
    is_error::<castile::xml::Error>();
}

/// Clippy warns about results with an error of 128 bytes or more.
#[test]
fn errors_are_small() {
    assert!(size_of::<Fault>() < 120 && size_of::<CallError>() < 128);
}

/// A call can be spawned both before it is awaited and while it runs.
#[test]
fn calls_go_from_thread_to_thread() {
    fn check<'a>(calls: [Call<'a, String, (), NoDetail, Transport>; 3]) {
        let [call, awaited, sent] = calls;
        is_future(&call);
        is_future(&awaited.into_future());
        is_future(&sent.send());
    }
    // The body is only type-checked, never run.
    let _ = check;
}
