//! WSpex: Sun's benchmark, with which the JAX-WS reference implementation and Axis2 were compared in 2007.

use castile::codegen::{FromXml, ToXml};
use castile::datatypes::DateTime;
use castile::{Call, Fault, NoDetail, Request, Response};
use castile_load::{Case, Requests, User};
use castile_report::{Method, Published, PublishedFigure};

use crate::case::{NOT_WHAT_WAS_SENT, case, operation_named};
use crate::client::{self, Counting};
use crate::random::JavaRandom;

/// The contract, generated.
pub mod contract {
    castile::include_contract!("wspex");
}

use contract::*;

/// The path of the service.
pub const PATH: &str = "/wspex";

/// The number of lines of every order of `getOrder`.
const LINES: i32 = 50;

/// The service of the benchmark: it echoes values, and creates a new order for each request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

impl TestService for Service {
    async fn echo_void(&self, _: Request<EchoVoid>) -> Result<Response<EchoVoidResponse>, Fault> {
        Ok(EchoVoidResponse {}.into())
    }

    async fn echo_integer(&self, request: Request<EchoInteger>) -> Result<Response<EchoIntegerResponse>, Fault> {
        Ok(EchoIntegerResponse { r#return: request.into_inner().params }.into())
    }

    async fn echo_float(&self, request: Request<EchoFloat>) -> Result<Response<EchoFloatResponse>, Fault> {
        Ok(EchoFloatResponse { r#return: request.into_inner().parameters }.into())
    }

    async fn echo_string(&self, request: Request<EchoString>) -> Result<Response<EchoStringResponse>, Fault> {
        Ok(EchoStringResponse { r#return: request.into_inner().value }.into())
    }

    async fn echo_date(&self, request: Request<EchoDate>) -> Result<Response<EchoDateResponse>, Fault> {
        Ok(EchoDateResponse { r#return: request.into_inner().parameters }.into())
    }

    async fn echo_struct(&self, request: Request<EchoStruct>) -> Result<Response<EchoStructResponse>, Fault> {
        Ok(EchoStructResponse { r#return: request.into_inner().parameters }.into())
    }

    async fn echo_synthetic(&self, request: Request<EchoSynthetic>) -> Result<Response<EchoSyntheticResponse>, Fault> {
        Ok(EchoSyntheticResponse { r#return: request.into_inner().s }.into())
    }

    async fn echo_array(&self, request: Request<EchoArray>) -> Result<Response<EchoArrayResponse>, Fault> {
        Ok(EchoArrayResponse { r#return: request.into_inner().items }.into())
    }

    async fn get_order(&self, request: Request<GetOrder>) -> Result<Response<GetOrderResponse>, Fault> {
        let request = request.into_inner();
        Ok(GetOrderResponse { r#return: order(request.order_id, request.customer_id, LINES) }.into())
    }

    async fn echo_order(&self, request: Request<EchoOrderRequest>) -> Result<Response<EchoOrderResponse>, Fault> {
        Ok(EchoOrderResponse { echo_order_response: request.into_inner().echo_order_request }.into())
    }
}

/// The date and time in all messages. It is the benchmark's own, which has no time zone.
const MOMENT: DateTime =
    DateTime { year: 2005, month: 3, day: 29, hour: 11, minute: 11, second: 11, nanosecond: 0, offset_minutes: None };

fn structure() -> Struct {
    Struct { var_int: 5, var_float: 2.5, var_string: "Hello There!".into() }
}

fn synthetic(bytes: Vec<u8>) -> Synthetic {
    Synthetic { str: "Hello World".into(), s: structure(), bytes: bytes.into() }
}

fn items(size: i32) -> ItemArrayType {
    let location = Location {
        id: "CA95050".into(),
        description: "Santa Clara, California".into(),
        address: "1000, network circle".into(),
    };
    let item = |i: i32| Item {
        id: i.to_string(),
        description: "Item Description".into(),
        price: 100.0,
        inventory: i * 100,
        location: location.clone(),
        creationdate: MOMENT,
    };
    ItemArrayType { items: (0..size).map(item).collect() }
}

fn order(order_id: i32, customer_id: i32, lines: i32) -> Order {
    let address = |kind: &str| Address {
        first_name: format!("{kind} FirstName 1"),
        last_name: format!("{kind} LastName 1"),
        // The benchmark's own spelling.
        address1: format!("{kind} StreetAddres 1"),
        address2: "Street Address Line 2 1".into(),
        city: "City 1".into(),
        state: "State 1".into(),
        zip: "12345".into(),
    };
    let line = |i: i32| LineItem {
        order_id,
        item_id: i + 1,
        product_id: i,
        product_description: format!("Test Product {i}"),
        order_quantity: 1,
        unit_price: 1.0,
    };
    Order {
        order_id,
        order_status: 1,
        order_date: MOMENT,
        order_total_amount: 50.0,
        customer: Customer {
            customer_id,
            contact_first_name: "FirstName 1".into(),
            contact_last_name: "LastName 1".into(),
            contact_phone: "1".into(),
            last_activity_date: MOMENT,
            credit_card_number: "1".into(),
            credit_card_expiration_date: "1".into(),
            billing_address: address("Bill"),
            shipping_address: address("Ship"),
        },
        line_items: ArrayOfLineItem { line_item: (0..lines).map(line).collect() },
    }
}

/// Returns the cases in the order of the publication, with requests that are written beforehand.
pub fn cases() -> Vec<Case> {
    published().into_iter().map(|(raw, _)| raw).collect()
}

/// Returns the cases through the generated client, since the article's clients were generated.
pub fn typed() -> Vec<Case> {
    published().into_iter().map(|(_, typed)| typed).collect()
}

/// Returns the cases of `echoSynthetic` with random bytes. The benchmark's own bytes are all zero, whose base64 is a
/// single repeated letter, which favours compression and branch prediction.
pub fn extras() -> Vec<Case> {
    KIBIBYTES.map(|size| of_bytes(format!("echoSynthetic{size}K-random"), random_bytes(size << 10)).0).into()
}

/// Returns the article's figures, in the order of its cases.
pub fn published_figures() -> Vec<Published> {
    ["Axis2 1.1.1 with XMLBeans", "JAX-WS RI 2.1"]
        .iter()
        .enumerate()
        .map(|(column, system)| Published {
            system: (*system).into(),
            source: "K. Kawaguchi: JAX-WS RI 2.1 benchmark, 2 February 2007".into(),
            machine: "a server with 4 processors, its clients on a machine with 8".into(),
            method: Method::Closed,
            figures: FIGURES.lines().filter_map(|line| figure(line, column)).collect(),
        })
        .collect()
}

/// Case, then mean and standard deviation of requests per second for each system.
const FIGURES: &str = include_str!("../data/wspex-published.tsv");

fn figure(line: &str, column: usize) -> Option<PublishedFigure> {
    let mut fields = line.split('\t');
    let case = fields.next()?.to_owned();
    let mut numbers = fields.skip(2 * column).map(str::parse);
    let (requests_per_second, stddev) = (numbers.next()?.ok(), numbers.next()?.ok());
    Some(PublishedFigure { case, requests_per_second, stddev, ..PublishedFigure::default() })
}

/// The sizes of `echoSynthetic`, `echoArray` and `echoOrder`: KiB, items, lines.
const KIBIBYTES: [usize; 4] = [1, 4, 8, 12];
const ITEMS: [i32; 3] = [40, 80, 120];
const ORDERS: [i32; 2] = [200, 500];

/// A case with requests written beforehand, and one whose requests a client writes.
type Pair = (Case, Case);

type Client = TestServiceClient<Counting>;

fn published() -> Vec<Pair> {
    let integer = |answer: &EchoIntegerResponse| answer.r#return == 5;
    let float = |answer: &EchoFloatResponse| answer.r#return == 2.5;
    let string = |answer: &EchoStringResponse| answer.r#return == "Hello World";
    let date = |answer: &EchoDateResponse| answer.r#return == MOMENT;
    let sent = structure();
    let structure_is_right = move |answer: &EchoStructResponse| answer.r#return == sent;
    let name = str::to_owned;
    let mut pairs = vec![
        pair(name("echoVoid"), "echoVoid", EchoVoid {}, |_: &EchoVoidResponse| true, Client::echo_void),
        pair(name("echoInteger"), "echoInteger", EchoInteger { params: 5 }, integer, Client::echo_integer),
        pair(name("echoFloat"), "echoFloat", EchoFloat { parameters: 2.5 }, float, Client::echo_float),
        pair(name("echoString"), "echoString", EchoString { value: name("Hello World") }, string, Client::echo_string),
        pair(name("echoDate"), "echoDate", EchoDate { parameters: MOMENT }, date, Client::echo_date),
        pair(
            name("echoStruct"),
            "echoStruct",
            EchoStruct { parameters: structure() },
            structure_is_right,
            Client::echo_struct,
        ),
    ];
    pairs.extend(KIBIBYTES.map(|size| of_bytes(format!("echoSynthetic{size}K"), vec![0; size << 10])));
    pairs.extend(ITEMS.map(|size| {
        let sent = items(size);
        let request = EchoArray { items: sent.clone() };
        let is_right = move |answer: &EchoArrayResponse| answer.r#return == sent;
        pair(format!("echoArray{size}"), "echoArray", request, is_right, Client::echo_array)
    }));
    pairs.extend(ORDERS.map(|lines| {
        let sent = order(999, 109_292, lines);
        let request = EchoOrderRequest { echo_order_request: sent.clone() };
        let is_right = move |answer: &EchoOrderResponse| answer.echo_order_response == sent;
        pair(format!("echoOrder{lines}"), "echoOrder", request, is_right, Client::echo_order)
    }));
    pairs
}

fn of_bytes(name: String, bytes: Vec<u8>) -> Pair {
    let sent = synthetic(bytes);
    let request = EchoSynthetic { s: sent.clone() };
    let is_right = move |answer: &EchoSyntheticResponse| answer.r#return == sent;
    pair(name, "echoSynthetic", request, is_right, Client::echo_synthetic)
}

/// Returns pseudorandom bytes, which are the same in every run.
fn random_bytes(size: usize) -> Vec<u8> {
    let mut random = JavaRandom::new(0);
    (0..size).map(|_| random.next(8) as u8).collect()
}

fn pair<Q, R>(
    name: String,
    operation: &str,
    request: Q,
    is_right: impl Fn(&R) -> bool + Clone + Send + Sync + 'static,
    call: impl for<'a> Fn(&'a Client, &'a Q) -> Call<'a, Q, R, NoDetail, Counting> + Send + Sync + 'static,
) -> Pair
where
    Q: ToXml + Send + Sync + 'static,
    R: FromXml + 'static,
{
    let operation = operation_named(&TEST_SERVICE_OPERATIONS, operation);
    let raw = case("wspex", PATH, name, operation, &request, is_right.clone());
    let make = |user: &User, transport| Ok(Client::with_transport(&client::url(user), transport)?);
    let connect = client::connect(make, async move |client: &Client, _| match call(client, &request).await? {
        response if is_right(&response) => Ok(0),
        _ => Err(NOT_WHAT_WAS_SENT.into()),
    });
    let typed = Case { requests: Requests::Typed { count: 1, connect }, ..raw.clone() };
    (raw, typed)
}
