//! Tests that requests find their operation, and that a failing handler fails only its own request.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::schema::Element;
use castile_soap::{
    Description, Dispatch, Error, Fault, Layer, Next, NoDetail, Operation, Options, Payload, Pending, Request,
    RequestMessage, Root, Service, Version, from_fn,
};
use common::{Note, Notes, OK, ask, assert_fault, body, note, operation};
use futures_util::FutureExt;

#[test]
fn the_element_selects_the_operation() {
    for action in ["", "urn:n/echo", "urn:n/first", "urn:other", "\"\""] {
        assert_eq!(ask(action, note("t")), (false, OK.replace("TEXT", "t")), "{action}");
    }
}

#[test]
fn the_action_distinguishes_operations_with_the_same_element() {
    let message = body("<shared><text>t</text></shared>");
    for (action, operation) in [("urn:n/first", "first"), ("urn:n/second", "second")] {
        assert_eq!(ask(action, &message[..]), (false, OK.replace("TEXT", &format!("{operation}: t"))), "{action}");
    }
    // A message without enough information must not run an operation that might not be intended.
    for action in ["", "urn:n/echo", "urn:x"] {
        let (is_fault, answer) = ask(action, &message[..]);
        let expected = format!(
            "found the action {action:?} with &lt;shared&gt;, where \"urn:n/first\" or \"urn:n/second\" was expected"
        );
        assert!(is_fault && answer.contains("soap:Client") && answer.contains(&expected), "{answer}");
    }
}

#[test]
fn unknown_elements_are_refused_with_what_was_expected() {
    assert_fault(
        body("\n<other/>"),
        "Client",
        "other: found <other> of \"urn:n\", where the element of an operation of Notes was expected (line 2, column 1)",
    );
    assert_fault(
        body("<echo xmlns=''/>"),
        "Client",
        "echo: found <echo> of no namespace, where <echo> of \"urn:n\" was expected (line 1, column 87)",
    );
    let (is_fault, answer) = ask("urn:n/second", body("<other/>"));
    assert!(is_fault);
    let expected = "found &lt;other&gt; of \"urn:n\", where &lt;shared&gt; of \"urn:n\" for the action \"urn:n/second\" was expected";
    assert!(answer.contains(expected), "{answer}");
}

/// Six operations with the same SOAPAction, as contracts have them if only the element determines the operation.
struct Alike;

/// Regression test: a layer that decided by the action let other operations pass.
#[test]
fn a_layer_learns_which_operation_is_called() {
    let named = |action: &str, message: String| {
        let layer = from_fn(|request: RequestMessage, next: Next| async move {
            let name = match next.operation(&request) {
                Ok(operation) => operation.name.to_owned(),
                Err(error) => error.to_string(),
            };
            request.refuse(next.options(), &Fault::<NoDetail>::sender(name)).await
        });
        let request = RequestMessage::new(Version::Soap11, message).with_action(action);
        let reply = layer.layer(Notes).call(request, &Options::default()).now_or_never().unwrap();
        String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap()
    };
    for action in ["", "urn:n/echo", "urn:n/first", "urn:other"] {
        let answer = named(action, note("t"));
        assert!(answer.contains(">echo<"), "{answer}");
    }
    let shared = body("<shared><text>t</text></shared>");
    for (action, name) in [("urn:n/first", ">first<"), ("urn:n/second", ">second<"), ("", "was expected")] {
        let answer = named(action, shared.clone());
        assert!(answer.contains(name), "{answer}");
    }
    assert!(named("urn:n/echo", body("<other/>")).contains("was expected"));
    let answer = named("urn:n/echo", "<".to_owned());
    assert!(answer.contains("(line 1, column 2)"), "{answer}");
}

const fn alike(name: &'static str) -> Operation {
    operation(name, "urn:n/all", Root::new(Element::new("urn:n", name, 1), "", ""))
}

static ALIKE: [Operation; 6] = [alike("a"), alike("b"), alike("c"), alike("d"), alike("e"), alike("f")];

impl Dispatch for Alike {
    fn description(&self) -> &'static Description {
        const { &Description::new("Notes", "urn:n", &ALIKE) }
    }

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, Error> {
        payload.handle(async move |request: Request<Note>| Ok::<_, Fault<NoDetail>>(request.into_inner().into()))
    }
}

#[test]
fn an_unknown_operation_was_reported_as_the_first_with_its_action() {
    for (payload, expected) in [
        (
            "<other/>",
            "found &lt;other&gt; of \"urn:n\", where &lt;a&gt; of \"urn:n\", &lt;b&gt; of \"urn:n\", &lt;c&gt; of \"urn:n\" or the \
             element of one of 3 more operations for the action \"urn:n/all\" was expected",
        ),
        ("<b xmlns='urn:x'/>", "found &lt;b&gt; of \"urn:x\", where &lt;b&gt; of \"urn:n\" was expected"),
    ] {
        let request = RequestMessage::new(Version::Soap11, body(payload)).with_action("urn:n/all");
        let reply = Alike.call(request, &Options::default()).now_or_never().unwrap();
        let answer = common::text(&reply.message);
        assert!(reply.is_fault() && answer.contains(expected), "{answer}");
    }
}

#[test]
fn panics_end_their_own_request() {
    for text in ["panic at once", "panic", "panic later", "panic when written"] {
        let (is_fault, answer) = ask("", note(text));
        assert!(is_fault && answer.contains("soap:Server") && answer.contains("the service failed"), "{answer}");
        assert_eq!(ask("", note("next")), (false, OK.replace("TEXT", "next")));
    }
}

#[test]
fn a_response_that_cant_be_written_is_a_fault() {
    assert_fault(
        note("unwritable"),
        "Server",
        "Envelope/Body/answer/text: a value with characters that XML 1.0 doesn't allow (line 1, column 111)",
    );
}

#[test]
fn bad_payloads_never_reach_the_handler() {
    // If the handler were called, it would answer "the service failed".
    for (message, reason) in [
        (
            body("<echo><text>panic</text></echo><more/>"),
            "more: found <more> of \"urn:n\", where </Body> was expected (line 1, column 118)",
        ),
        (note("panic") + "<", "a second root element"),
        (
            body("<echo><text>panic</text><text/></echo>"),
            "echo/text[2]: found <text> of urn:n, where </echo> was expected",
        ),
    ] {
        assert_fault(message, "Client", reason);
    }
}
