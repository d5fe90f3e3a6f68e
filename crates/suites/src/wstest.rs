//! WSTest 1.1: the benchmark of Microsoft's report of 2005.

use castile::datatypes::DateTime;
use castile::http::server::Options;
use castile::xml::Limits;
use castile::{Fault, Nillable};
use castile_load::Case;

use crate::case::{case, operation_named};

/// The contract, generated.
pub mod contract {
    castile::include_contract!("wstest");
}

use contract::*;

/// Where the service is mounted.
pub const PATH: &str = "/wstest";

/// How many lines every order has, as the report says.
const LINES: i32 = 50;

/// The service of the benchmark: echoes, and an order that is made up anew for each request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

impl TestServiceSoap for Service {
    async fn echo_void(&self, _: EchoVoid) -> Result<EchoVoidResponse, Fault> {
        Ok(EchoVoidResponse {})
    }

    async fn echo_struct(&self, request: EchoStruct) -> Result<EchoStructResponse, Fault> {
        Ok(EchoStructResponse { echo_struct_result: request.array })
    }

    async fn echo_list(&self, request: EchoList) -> Result<EchoListResponse, Fault> {
        Ok(EchoListResponse { echo_list_result: request.list })
    }

    async fn get_order(&self, request: GetOrder) -> Result<GetOrderResponse, Fault> {
        Ok(GetOrderResponse { get_order_result: order(request.order_id, request.customer_id) })
    }
}

/// What messages may take: EchoList nests as deep as its list is long.
pub fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 2_048;
    limits
}

/// The service with these limits.
pub(crate) fn server() -> TestServiceSoapServer<Service> {
    let mut options = Options::default();
    options.limits = limits();
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
    let line = |number| LineItem {
        order_id,
        item_id: number,
        product_id: number,
        product_description: format!("Test Product {customer_id}"),
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

/// The date of all orders: the benchmark takes the present, which would make answers differ in content and length.
const MOMENT: DateTime =
    DateTime { year: 2005, month: 7, day: 1, hour: 12, minute: 0, second: 0, nanosecond: 0, offset_minutes: Some(0) };

/// The sizes of arrays and lists, in elements.
const SIZES: [i32; 2] = [20, 100];

/// What the benchmark measures.
pub fn cases() -> Vec<Case> {
    let operation = |name| operation_named(&TEST_SERVICE_SOAP_OPERATIONS, name);
    let void = operation("EchoVoid");
    let mut cases = vec![case("wstest", PATH, "EchoVoid".into(), void, &EchoVoid {}, |_: &EchoVoidResponse| true)];
    for size in SIZES {
        let array = COfTestStruct { l: (1..=size).map(test_struct).collect() };
        let request = EchoStruct { array: array.clone() };
        let name = format!("EchoStruct{size}");
        let is_right = move |response: &EchoStructResponse| response.echo_struct_result == array;
        cases.push(case("wstest", PATH, name, operation("EchoStruct"), &request, is_right));
    }
    for size in SIZES {
        let list = test_list(size);
        let request = EchoList { list: list.clone() };
        let name = format!("EchoList{size}");
        let is_right = move |response: &EchoListResponse| response.echo_list_result == list;
        cases.push(case("wstest", PATH, name, operation("EchoList"), &request, is_right));
    }
    let request = GetOrder { order_id: 1, customer_id: 2 };
    let is_right = |response: &GetOrderResponse| response.get_order_result == order(1, 2);
    cases.push(case("wstest", PATH, "GetOrder".into(), operation("GetOrder"), &request, is_right));
    cases
}

fn test_struct(i: i32) -> TestStructOrDerived {
    TestStruct { i, f: (i as f32).into(), s: "wstest".into() }.into()
}

/// A list of `size` nodes, numbered from 1.
pub fn test_list(size: i32) -> Option<TestNode> {
    (1..=size).rev().fold(None, |next: Option<TestNode>, i| {
        Some(TestNode { i, f: Nillable::Value(i as f32), s: "wstest".into(), next: next.map(Into::into) })
    })
}
