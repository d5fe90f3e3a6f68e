//! Checks complete services: any request is answered.

use bytes::Bytes;
use castile::http::server::Endpoint;
use castile::{Fault, NoDetail};
use castile_soap::{Envelope, ReplyMessage, RequestMessage, Service, Version, client};
use castile_suites::wstest::contract::{EchoStructResponse, TEST_SERVICE_SOAP_OPERATIONS};
use castile_suites::{benchmark1, codec, wstest};
use castile_xml::{CachedReader, Limits};
use futures_util::FutureExt;

use crate::{documents, limits_for, shown};

/// Sends any bytes as requests to the suites' services, and as an answer to a client.
///
/// Nothing panics. Every reply is a well-formed envelope with the fault or the response that it claims to be, unless its address
/// is none. The reply is the same when the request is sent again.
pub fn envelope(input: &[u8]) {
    let services: [Endpoint<dyn Service>; 3] = [
        benchmark1::contract::BenchmarkServer::new(benchmark1::Service).into(),
        codec::contract::CodecServer::new(codec::Service).into(),
        wstest::contract::TestServiceSoapServer::new(wstest::Service).into(),
    ];
    for document in documents(input) {
        let limits = limits_for(document);
        let message = Bytes::copy_from_slice(document);
        for service in services.iter().map(Endpoint::service) {
            let [plain, again] = ["", service.description().operations[0].action].map(|action| {
                let reply = call(service, action, message.clone(), limits);
                check_reply(&reply, document);
                reply
            });
            // The action only affects the fault for a payload that no operation has. WS-Addressing compares it with its own
            // action and gives each answer a new message id.
            let is_addressed = plain.message.bytes().is_some_and(Bytes::is_empty) || !plain.action.is_empty();
            if !plain.is_fault() && !is_addressed {
                assert_eq!(plain.message.bytes(), again.message.bytes(), "the answers to {}", shown(document));
            }
        }
        check_client(document, limits);
    }
}

fn call(service: &dyn Service, action: &str, message: Bytes, limits: Limits) -> ReplyMessage {
    let shown = shown(&message);
    // The services of the suites wait for nothing.
    let request = RequestMessage::new(Version::Soap11, message).with_action(action);
    let reply = service.call(request, &limits.into()).now_or_never();
    reply.unwrap_or_else(|| panic!("the service is still at work on {shown}"))
}

fn message(reply: &ReplyMessage) -> &Bytes {
    reply.message.bytes().expect("what is bound is written whole")
}

fn check_reply(reply: &ReplyMessage, request: &[u8]) {
    // All operations here have a response. It is empty only if the request says so with WS-Addressing, in any encoding. The
    // address may be written with references or CDATA sections.
    if message(reply).is_empty() {
        let request: String = String::from_utf8_lossy(request).replace('\0', "");
        let says_nobody = ["/none", "&", "<!", "<?"].iter().any(|part| request.contains(part));
        let request = request.as_bytes();
        assert!(!reply.is_fault() && says_nobody, "{}", shown(request));
        return;
    }
    let answer = shown(message(reply));
    let mut reader = CachedReader::new(message(reply), Limits::default()).expect(&answer);
    let (envelope, payload) = Envelope::read(&mut reader).expect(&answer);
    assert_eq!(envelope.version, reply.version);
    let payload = payload.unwrap_or_else(|| panic!("an empty body in {answer}"));
    let is_fault = payload.name.local() == "Fault" && reader.namespace(payload.namespace) == reply.version.namespace();
    assert_eq!(is_fault, reply.is_fault(), "{answer}");
    reader.skip_element().expect(&answer);
    Envelope::read_end(&mut reader).expect(&answer);
    // A panic becomes a fault with this text.
    for panicked in ["<faultstring>the service failed<", "<soap:Text xml:lang=\"en\">the service failed<"] {
        assert!(!message(reply).windows(panicked.len()).any(|part| part == panicked.as_bytes()), "{}", shown(request));
    }
}

fn check_client(document: &[u8], limits: Limits) {
    let operation = TEST_SERVICE_SOAP_OPERATIONS.iter().find(|operation| operation.name == "EchoStruct");
    let operation = operation.expect("the contract has the operation");
    let read = || {
        let answer: Result<Result<EchoStructResponse, Fault<NoDetail>>, _> =
            client::response(operation, document, None, &limits.into());
        format!("{answer:?}")
    };
    assert_eq!(read(), read(), "the same answer, read twice: {}", shown(document));
}
