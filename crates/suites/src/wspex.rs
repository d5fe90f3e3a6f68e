//! WSpex: Sun's benchmark, with which the JAX-WS reference implementation and Axis2 were compared in 2007.

use castile::datatypes::DateTime;
use castile::{Fault, Request, Response};
use castile_load::Case;
use castile_report::{Method, Published, PublishedFigure};

use crate::case::{Pair, Port};
use crate::client::Counting;
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

/// The date and time in all messages. The benchmark uses the same one, without a time zone.
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

/// Returns the cases in the order of the publication, with requests that are encoded before the measurement.
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
    KIBIBYTES.map(|size| of_bytes(&format!("{size}K-random"), random_bytes(size << 10)).0).into()
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

type Client = TestServiceClient<Counting>;

const PORT: Port<Client> = Port {
    suite: "wspex",
    style: None,
    path: PATH,
    operations: &TEST_SERVICE_OPERATIONS,
    client: Client::with_transport,
};

fn published() -> Vec<Pair> {
    let text = || "Hello World".to_owned();
    let integer = (EchoInteger { params: 5 }, EchoIntegerResponse { r#return: 5 });
    let float = (EchoFloat { parameters: 2.5 }, EchoFloatResponse { r#return: 2.5 });
    let string = (EchoString { value: text() }, EchoStringResponse { r#return: text() });
    let date = (EchoDate { parameters: MOMENT }, EchoDateResponse { r#return: MOMENT });
    let of_structure = (EchoStruct { parameters: structure() }, EchoStructResponse { r#return: structure() });
    let mut pairs = vec![
        PORT.pair("echoVoid", "", (EchoVoid {}, EchoVoidResponse {}), 0, Client::echo_void),
        PORT.pair("echoInteger", "", integer, 0, Client::echo_integer),
        PORT.pair("echoFloat", "", float, 0, Client::echo_float),
        PORT.pair("echoString", "", string, 0, Client::echo_string),
        PORT.pair("echoDate", "", date, 0, Client::echo_date),
        PORT.pair("echoStruct", "", of_structure, 0, Client::echo_struct),
    ];
    pairs.extend(KIBIBYTES.map(|size| of_bytes(&format!("{size}K"), vec![0; size << 10])));
    pairs.extend(ITEMS.map(|size| {
        let sent = items(size);
        let messages = (EchoArray { items: sent.clone() }, EchoArrayResponse { r#return: sent });
        PORT.pair("echoArray", size, messages, 0, Client::echo_array)
    }));
    pairs.extend(ORDERS.map(|lines| {
        let sent = order(999, 109_292, lines);
        let request = EchoOrderRequest { echo_order_request: sent.clone() };
        let messages = (request, EchoOrderResponse { echo_order_response: sent });
        PORT.pair("echoOrder", lines, messages, 0, Client::echo_order)
    }));
    pairs
}

fn of_bytes(size: &str, bytes: Vec<u8>) -> Pair {
    let sent = synthetic(bytes);
    let messages = (EchoSynthetic { s: sent.clone() }, EchoSyntheticResponse { r#return: sent });
    PORT.pair("echoSynthetic", size, messages, 0, Client::echo_synthetic)
}

/// Returns pseudorandom bytes, which are the same in every run.
fn random_bytes(size: usize) -> Vec<u8> {
    let mut random = JavaRandom::new(0);
    (0..size).map(|_| random.next(8) as u8).collect()
}
