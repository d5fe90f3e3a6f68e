//! WSTest 1.1: the benchmark of Microsoft's report of 2005.

use castile::datatypes::DateTime;
use castile::{Fault, Nillable, Request, Response, ServerOptions};
use castile_load::Case;
use castile_xml::Limits;

use crate::case::{Pair, Port};
use crate::client::Counting;

/// The contract, generated.
pub mod contract {
    castile::include_contract!("wstest");
}

use contract::*;

/// The path of the service.
pub const PATH: &str = "/wstest";

/// The number of lines of every order, as in the report.
const LINES: i32 = 50;

/// The service of the benchmark: it echoes values, and creates a new order for each request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

impl TestServiceSoap for Service {
    async fn echo_void(&self, _: Request<EchoVoid>) -> Result<Response<EchoVoidResponse>, Fault> {
        Ok(EchoVoidResponse {}.into())
    }

    async fn echo_struct(&self, request: Request<EchoStruct>) -> Result<Response<EchoStructResponse>, Fault> {
        Ok(EchoStructResponse { echo_struct_result: request.into_inner().array }.into())
    }

    async fn echo_list(&self, request: Request<EchoList>) -> Result<Response<EchoListResponse>, Fault> {
        Ok(EchoListResponse { echo_list_result: request.into_inner().list }.into())
    }

    async fn get_order(&self, request: Request<GetOrder>) -> Result<Response<GetOrderResponse>, Fault> {
        let request = request.into_inner();
        Ok(GetOrderResponse { get_order_result: order(request.order_id, request.customer_id) }.into())
    }
}

/// The limits of messages: EchoList nests as deep as its list is long.
pub fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 2_048;
    limits
}

/// Returns the server with these limits.
pub(crate) fn server() -> TestServiceSoapServer<Service> {
    let mut options = ServerOptions::default();
    options.messages.limits = limits();
    TestServiceSoapServer::with_options(Service, options)
}

fn order(order_id: i32, customer_id: i32) -> Order {
    let address = |kind: &str, last_name: String| Address {
        first_name: format!("{kind} FirstName {customer_id}"),
        last_name,
        address1: format!("{kind} StreetAddress {customer_id}"),
        address2: format!("Street Address Line 2 {customer_id}"),
        city: format!("City {customer_id}"),
        state: format!("State {customer_id}"),
        zip: "12345".into(),
    };
    let product_description = format!("Test Product {customer_id}");
    let line = |number| LineItem {
        order_id,
        item_id: number,
        product_id: number,
        product_description: product_description.clone(),
        order_quantity: 1,
        unit_price: 5.0,
    };
    Order {
        order_id,
        order_status: 1,
        order_date: MOMENT,
        order_total_amount: 50.0,
        customer: Customer {
            customer_id,
            contact_first_name: format!("FirstName {customer_id}"),
            contact_last_name: format!("LastName {customer_id}"),
            contact_phone: "425-882-8080".into(),
            last_activity_date: MOMENT,
            credit_card_number: "892374389740".into(),
            credit_card_expiration_date: "12/12/2012".into(),
            // The benchmark's own spelling, with a digit.
            billing_address: address("Bill", format!("Bil1 LastName {customer_id}")),
            shipping_address: address("Ship", format!("Ship LastName {customer_id}")),
        },
        line_items: COfLineItem { line_item: (1..=LINES).map(|number| line(number).into()).collect() },
    }
}

/// The date of all orders. The benchmark uses the current time, which would make answers differ in content and
/// length.
const MOMENT: DateTime =
    DateTime { year: 2005, month: 7, day: 1, hour: 12, minute: 0, second: 0, nanosecond: 0, offset_minutes: Some(0) };

/// The sizes of arrays and lists, in elements.
const SIZES: [i32; 2] = [20, 100];

/// Returns the cases of the benchmark.
pub fn cases() -> Vec<Case> {
    published().into_iter().map(|(raw, _)| raw).collect()
}

/// Returns the cases for comparing clients: an empty message, an array of 100 structs and an order.
pub fn typed() -> Vec<Case> {
    let compared = |case: &Case| ["EchoVoid", "EchoStruct100", "GetOrder"].contains(&&*case.name);
    published().into_iter().map(|(_, typed)| typed).filter(compared).collect()
}

type Client = TestServiceSoapClient<Counting>;

const PORT: Port<Client> = Port {
    suite: "wstest",
    style: None,
    path: PATH,
    operations: &TEST_SERVICE_SOAP_OPERATIONS,
    client: Client::with_transport,
};

fn published() -> Vec<Pair> {
    let mut pairs = vec![PORT.pair("EchoVoid", "", (EchoVoid {}, EchoVoidResponse {}), 0, Client::echo_void)];
    pairs.extend(SIZES.map(|size| {
        let array = COfTestStruct { l: (1..=size).map(test_struct).collect() };
        let messages = (EchoStruct { array: array.clone() }, EchoStructResponse { echo_struct_result: array });
        PORT.pair("EchoStruct", size, messages, size as u64, Client::echo_struct)
    }));
    pairs.extend(SIZES.map(|size| {
        let list = test_list(size);
        let messages = (EchoList { list: list.clone() }, EchoListResponse { echo_list_result: list });
        PORT.pair("EchoList", size, messages, size as u64, Client::echo_list)
    }));
    let request = GetOrder { order_id: 1, customer_id: 2 };
    let messages = (request, GetOrderResponse { get_order_result: order(1, 2) });
    pairs.push(PORT.pair("GetOrder", "", messages, LINES as u64, Client::get_order));
    pairs
}

fn test_struct(i: i32) -> TestStructOrDerived {
    TestStruct { i, f: (i as f32).into(), s: "wstest".into() }.into()
}

/// Returns a list of `size` nodes, numbered from 1.
pub fn test_list(size: i32) -> Option<TestNode> {
    (1..=size).rev().fold(None, |next: Option<TestNode>, i| {
        Some(TestNode { i, f: Nillable::Value(i as f32), s: "wstest".into(), next: next.map(Into::into) })
    })
}
