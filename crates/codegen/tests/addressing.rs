//! Generated code at work: WS-Addressing as a contract declares it, what handlers know of a request, and layers.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::sync::{Arc, Mutex};

use castile::codegen::HttpService;
use castile::http::Body;
use castile::http::server::{Endpoint, Options};
use castile::soap::addressing::{Usage, Version as Addressing};
use castile::soap::{self, Description, Layer, Pending, ReplyMessage, RequestMessage, Service, Version, layer_fn};
use castile::{CallError, Fault, NoDetail, Request, Response};
use http_body_util::{BodyExt, Full};

/// The module that was generated for a feature.
macro_rules! generated {
    ($feature:ident) => {
        #[deny(warnings)]
        #[allow(unreachable_pub, reason = "nobody reaches into a test")]
        mod $feature {
            include!(concat!("features/", stringify!($feature), "/expected.rs"));
            include!(concat!("features/", stringify!($feature), "/sizes.rs"));
        }
    };
}

generated!(addressing);

use addressing::{AgainFault, EchoFault, Feature, FeatureClient, FeatureServer, Value};

/// Answers with what it knows of the request.
struct Knowing;

/// Who asks, as a layer found out.
#[derive(Clone, Debug)]
struct User(String);

/// The fault that a request asks for. Both operations declare the same ones, so both have one type.
fn as_told(text: &str) -> Option<EchoFault> {
    match text {
        "closed" => Some(EchoFault::Closed("until nine".into())),
        "broken" => Some(EchoFault::Broken("badly".into())),
        _ => None,
    }
}

impl Feature for Knowing {
    async fn echo(&self, request: Request<Value>) -> Result<Response<Value>, Fault<EchoFault>> {
        match as_told(&request.get_ref().text) {
            Some(detail) => Err(Fault::receiver("as it was told").with_detail(detail)),
            None => {
                let user = request.extensions().get().map_or("nobody", |User(name)| name);
                let addressing = request.addressing().map(|properties| properties.version);
                let text = format!("{} by {user} in {:?}, {addressing:?}", request.action(), request.version());
                Ok(Value { text }.into())
            }
        }
    }

    async fn again(&self, request: Request<Value>) -> Result<Response<Value>, Fault<AgainFault>> {
        match as_told(&request.get_ref().text) {
            Some(detail) => Err(Fault::receiver("as it was told, again").with_detail(detail)),
            None => Ok(Value { text: format!("again {}", request.get_ref().text) }.into()),
        }
    }

    async fn tell(&self, request: Request<Value>) -> Result<Response<()>, Fault> {
        if request.action() == "urn:addressing/tell" { Ok(().into()) } else { Err(Fault::sender("another action")) }
    }
}

fn value(text: &str) -> Value {
    Value { text: text.to_owned() }
}

/// Contracts say that addressing is required, and generated clients do it.
#[tokio::test]
async fn generated_clients_do_what_the_contract_requires() {
    let client = FeatureClient::with_transport("http://localhost/here", FeatureServer::new(Knowing)).unwrap();
    let answer = client.echo(&value("")).await.unwrap();
    assert_eq!(answer.text, "urn:addressing/ask by nobody in Soap11, Some(Recommendation)");
    // Both take the same element, and the binding has no action for either.
    assert_eq!(client.again(&value("said")).await.unwrap().text, "again said");
    let Err(CallError::Fault { fault, .. }) = client.again(&value("broken")).await else { panic!("there is a fault") };
    assert_eq!(fault.detail, castile::Detail::Declared(AgainFault::Broken("badly".into())));
    client.tell(&value("")).await.unwrap();
    let client = client.with_options(support::options(|options| options.addressing = Some(Addressing::Submission)));
    let answer = client.echo(&value("")).await.unwrap();
    assert_eq!(answer.text, "urn:addressing/ask by nobody in Soap11, Some(Submission)");
    let Err(CallError::Fault { fault, .. }) = client.echo(&value("closed")).await else { panic!("there is a fault") };
    assert_eq!(fault.detail, castile::Detail::Declared(EchoFault::Closed("until nine".into())));
}

const ENVELOPE: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// Sends an envelope with this header and text, and gives the status and the answer.
async fn ask<S: HttpService<Body = Body>>(server: &S, header: &str, text: &str) -> (u16, String) {
    let body = format!(
        "<s:Envelope xmlns:s=\"{ENVELOPE}\"><s:Header>{header}</s:Header><s:Body><echo xmlns=\"urn:addressing\">\
         <text>{text}</text></echo></s:Body></s:Envelope>"
    );
    let request = http::Request::post("/").header("content-type", "text/xml").body(Body::from(body)).unwrap();
    let Ok(response) = tower_service::Service::call(&mut server.service(), request).await else {
        panic!("servers answer");
    };
    let status = response.status().as_u16();
    let Ok(body) = response.into_body().collect().await else { panic!("it has a body") };
    (status, String::from_utf8(body.to_bytes().to_vec()).unwrap())
}

fn properties(action: &str) -> String {
    let namespace = Addressing::Recommendation.namespace();
    format!("<Action xmlns=\"{namespace}\">{action}</Action><MessageID xmlns=\"{namespace}\">urn:id</MessageID>")
}

#[tokio::test]
async fn replies_have_the_actions_of_the_contract() {
    let server = FeatureServer::new(Knowing);
    for (action, text, status, expected) in [
        ("urn:addressing/ask", "", 200, "urn:addressing/answer"),
        ("urn:addressing:Feature:againRequest", "", 200, "urn:addressing:Feature:Said"),
        ("urn:addressing/ask", "closed", 500, "urn:addressing/closed"),
        ("urn:addressing/ask", "broken", 500, "urn:addressing:Feature:echo:Fault:Broken"),
        ("urn:addressing:Feature:againRequest", "closed", 500, "urn:addressing:Feature:again:Fault:Closed"),
        ("urn:addressing:Feature:againRequest", "broken", 500, "urn:addressing/broken"),
        ("urn:addressing/ask", "<a/>", 500, "http://www.w3.org/2005/08/addressing/soap/fault"),
        ("urn:addressing:Feature:tellRequest", "", 500, "http://www.w3.org/2005/08/addressing/fault"),
    ] {
        let (found, answer) = ask(&server, &properties(action), text).await;
        assert!(found == status && answer.contains(&format!(">{expected}</wsa:Action>")), "{action} {text}: {answer}");
    }
}

#[tokio::test]
async fn requirements_of_the_contract_are_enforced_unless_the_server_disables_them() {
    let (status, answer) = ask(&FeatureServer::new(Knowing), "", "").await;
    assert!(status == 500 && answer.contains("wsa:MessageAddressingHeaderRequired"), "{answer}");
    let mut options = Options::default();
    options.messages.addressing.usage = Usage::Supported;
    let (status, answer) = ask(&FeatureServer::with_options(Knowing, options), "", "").await;
    assert!(status == 200 && answer.contains(" by nobody in Soap11, None"), "{answer}");
}

/// Takes those who say who they are.
#[derive(Clone)]
struct Named<S>(S);

impl<S: Service> Service for Named<S> {
    fn description(&self) -> &'static Description {
        self.0.description()
    }

    fn call(&self, mut request: RequestMessage, options: &soap::Options) -> Pending {
        let header = request.headers(options).unwrap_or_default();
        let user = header.iter().find(|block| block.block.name().to_string() == "{urn:users}user");
        let Some(user) = user.and_then(|user| user.block.read::<String>().ok()) else {
            return request.refuse(options, &Fault::<NoDetail>::sender("say who you are"));
        };
        request.understand("urn:users", "user");
        request.extensions.insert(User(user));
        self.0.call(request, options)
    }
}

/// Writes a name when something passes.
struct Watching(&'static str, Arc<Mutex<String>>);

impl<S> Layer<S> for Watching {
    type Service = Seen<S>;

    fn layer(&self, service: S) -> Seen<S> {
        Seen(service, self.0, self.1.clone())
    }
}

struct Seen<S>(S, &'static str, Arc<Mutex<String>>);

impl<S: Service> Service for Seen<S> {
    fn description(&self) -> &'static Description {
        self.0.description()
    }

    fn call(&self, request: RequestMessage, options: &soap::Options) -> Pending {
        let (name, seen) = (self.1, self.2.clone());
        seen.lock().unwrap().push_str(&format!("{name} in, "));
        let pending = self.0.call(request, options);
        Box::pin(async move {
            let reply: ReplyMessage = pending.await;
            seen.lock().unwrap().push_str(&format!("{name} out, "));
            reply
        })
    }
}

#[tokio::test]
async fn a_layer_rejects_requests_and_passes_data_to_handlers() {
    let server = FeatureServer::new(Knowing).layer(layer_fn(Named));
    let (status, answer) = ask(&server, &properties("urn:addressing/ask"), "").await;
    assert!(status == 500 && answer.contains("say who you are"), "{answer}");
    // The refusal is an answer as any other.
    assert!(answer.contains(">urn:id</wsa:RelatesTo>"), "{answer}");
    let user = "<user xmlns=\"urn:users\" s:mustUnderstand=\"1\">Ada</user>";
    let header = properties("urn:addressing/ask") + user;
    let (status, answer) = ask(&server, &header, "").await;
    assert!(status == 200 && answer.contains("urn:addressing/ask by Ada in Soap11"), "{answer}");
    // Without the layer nobody understands the block.
    let (_, answer) = ask(&FeatureServer::new(Knowing), &header, "").await;
    assert!(answer.contains("soap:MustUnderstand"), "{answer}");

    let refused = RequestMessage::new(
        Version::Soap11,
        "<e:Envelope xmlns:e='http://www.w3.org/2003/05/soap-envelope'><e:Body/></e:Envelope>",
    );
    let reply = server.service().call(refused, &soap::Options::default()).await;
    assert_eq!(reply.version, Version::Soap12, "a refusal is in the version of the message");
}

#[tokio::test]
async fn the_layer_that_is_added_last_is_outermost() {
    let seen = Arc::<Mutex<String>>::default();
    let server = FeatureServer::new(Knowing);
    let server = server.layer(Watching("inner", seen.clone())).layer(Watching("outer", seen.clone()));
    // It is an endpoint as any other.
    let server: Endpoint<dyn Service> = server.boxed();
    let (status, _) = ask(&server, &properties("urn:addressing/ask"), "").await;
    assert_eq!((status, seen.lock().unwrap().as_str()), (200, "outer in, inner in, inner out, outer out, "));
}

#[tokio::test]
async fn handlers_get_the_http_data_of_a_request() {
    let body = format!(
        "<s:Envelope xmlns:s=\"{ENVELOPE}\"><s:Header>{}</s:Header><s:Body><echo xmlns=\"urn:addressing\"><text/></echo>\
         </s:Body></s:Envelope>",
        properties("urn:addressing/ask")
    );
    let mut request = http::Request::post("/").header("content-type", "text/xml").body(Full::from(body)).unwrap();
    request.extensions_mut().insert(User("the proxy".into()));
    let response = tower_service::Service::call(&mut FeatureServer::new(Knowing), request).await.unwrap();
    let answer = response.into_body().collect().await.unwrap_or_else(|_| panic!("it has a body")).to_bytes();
    assert!(String::from_utf8_lossy(&answer).contains("by the proxy in Soap11"));
}
