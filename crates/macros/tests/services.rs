//! A trait is a service: its contract is read by the front end, and what the generator makes of that speaks with it.

#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(missing_docs, reason = "a test")]

use castile::datatypes::{Date, Decimal};
use castile::{Fault, FaultDetail, Header, Request, Response, Xml, service};
use http_body_util::{BodyExt, Full};

const NAMESPACE: &str = "urn:example:orders";

/// A line of an order.
#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Line {
    /// What is ordered.
    item: String,
    quantity: u32,
    price: Option<Decimal>,
}

#[derive(Clone, Debug, PartialEq, Xml, FaultDetail)]
#[xml(namespace = NAMESPACE)]
pub struct SoldOut {
    item: String,
}

#[derive(Clone, Debug, PartialEq, FaultDetail)]
#[xml(namespace = NAMESPACE)]
pub enum Refusal {
    SoldOut(SoldOut),
    TooMany(u32),
}

#[derive(Clone, Debug, PartialEq, Xml, Header)]
#[xml(namespace = NAMESPACE, element = "session")]
pub struct Session {
    key: String,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Status {
    number: u64,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct StatusReport {
    since: Date,
    by: Option<Clerk>,
    seen: Vec<AnyClerk>,
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, name = "Clerk", derived)]
pub enum AnyClerk {
    #[xml(itself)]
    Clerk(Clerk),
    Chief(Chief),
}

/// Who works here.
#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Clerk {
    #[xml(attribute)]
    id: Option<u32>,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, extends = AnyClerk)]
pub struct Chief {
    #[xml(attribute)]
    id: Option<u32>,
    #[xml(attribute)]
    room: u32,
    name: String,
    clerk: Vec<AnyClerk>,
}

/// Takes orders.
#[service(namespace = "urn:example:orders")]
pub trait Orders {
    /// Places an order.
    async fn place_order(
        &self,
        #[soap(header)] session: Session,
        #[xml(name = "line")] lines: Vec<Line>,
        note: Option<String>,
    ) -> Result<u64, Fault<Refusal>>;

    async fn status(&self, request: Request<Status>) -> Result<Response<StatusReport>, Fault>;

    #[soap(one_way)]
    async fn forget(&self, number: u64);

    async fn ping(&self);

    async fn cancel(&self, number: u64) -> Result<(), Fault<SoldOut>>;
}

struct Shop;

impl Orders for Shop {
    async fn place_order(
        &self,
        session: Session,
        lines: Vec<Line>,
        note: Option<String>,
    ) -> Result<u64, Fault<Refusal>> {
        if session.key != "sesame" {
            return Err(Fault::sender("who is there?"));
        }
        match lines.len() {
            0 => Err(Fault::sender("nothing is ordered").with_detail(Refusal::TooMany(0))),
            count => Ok(count as u64 + u64::from(note.is_some())),
        }
    }

    async fn status(&self, request: Request<Status>) -> Result<Response<StatusReport>, Fault> {
        let Status { number } = request.into_inner();
        let line = Line { item: number.to_string(), quantity: 1, price: None };
        Ok(StatusReport { by: None, seen: Vec::new(), since: "2026-01-02".parse().unwrap(), lines: vec![line] }.into())
    }

    async fn forget(&self, _: u64) {}

    async fn ping(&self) {}

    async fn cancel(&self, number: u64) -> Result<(), Fault<SoldOut>> {
        Err(Fault::sender("it is too late").with_detail(SoldOut { item: number.to_string() }))
    }
}

fn client() -> OrdersClient<OrdersServer<Shop>> {
    OrdersClient::with_transport("http://localhost/orders", OrdersServer::new(Shop)).unwrap()
}

#[tokio::test]
async fn a_trait_is_served_and_called() {
    let client = client();
    let line = Line { item: "tea".into(), quantity: 2, price: "1.5".parse().ok() };
    let session = Session { key: "sesame".into() };
    let order = orders::PlaceOrderRequest { lines: vec![line.clone(), line], note: Some("x".into()) };
    let placed = client.place_order(&order).header(&session).await.unwrap();
    assert_eq!(placed.result, 3);
    let error = client.place_order(&order).await.unwrap_err().to_string();
    assert!(error.contains("there is no header block <session>"), "{error}");
    let nothing = orders::PlaceOrderRequest { lines: Vec::new(), note: None };
    match client.place_order(&nothing).header(&session).await.unwrap_err() {
        castile::CallError::Fault { fault, .. } => {
            assert!(matches!(fault.detail, castile::Detail::Declared(Refusal::TooMany(0))), "{fault:?}");
        }
        other => panic!("{other}"),
    }
    let report = client.status(&Status { number: 5 }).await.unwrap();
    assert_eq!(report.lines[0].item, "5");
    client.ping(&orders::PingRequest {}).await.unwrap();
    client.forget(&orders::ForgetRequest { number: 1 }).await.unwrap();
    assert!(client.cancel(&orders::CancelRequest { number: 1 }).await.is_err());
}

#[test]
fn the_contract_equals_the_file() {
    let wsdl = orders::wsdl().unwrap();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/contracts/orders.wsdl");
    castile_diff::assert_contract(file, &wsdl);
}

/// The page of a trait shows what that of its contract does, but for example messages.
#[test]
fn a_page_is_that_of_the_contract() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/contracts/orders.wsdl");
    let mut options = castile_codegen::Options::default();
    options.page = true;
    let generated = castile_codegen::generate(file.as_ref(), &options).unwrap();
    let mut expected = String::new();
    let mut is_example = false;
    for line in generated.page.unwrap().text.lines() {
        if !line.starts_with('\t') {
            is_example = matches!(line, "request" | "answer" | "blocks");
        }
        if !is_example {
            expected += &format!("{line}\n");
        }
    }
    assert_eq!(orders::SERVICE.page.unwrap().text(), expected);
}

#[tokio::test]
async fn the_contract_is_served() {
    use tower_service::Service as _;
    let request = http::Request::get("/orders?wsdl")
        .header("host", "shop.example")
        .body(Full::<bytes::Bytes>::default())
        .unwrap();
    let response = OrdersServer::new(Shop).call(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    assert!(text.contains("<wsdl:portType name=\"Orders\">"), "{text}");
}
