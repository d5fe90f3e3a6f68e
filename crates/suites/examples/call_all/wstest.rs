//! Calls the 4 operations of wstest.wsdl. Its documentation has the rules for the answers.

use std::error::Error;

use castile::datatypes::DateTime;
use castile::{ClientOptions, Nillable};
use castile_suites::wstest::contract::*;
use castile_suites::wstest::{PATH, limits, test_list};

use crate::TEXTS;
use crate::checks::Checks;

const DATE: DateTime =
    DateTime { year: 2005, month: 7, day: 1, hour: 12, minute: 0, second: 0, nanosecond: 0, offset_minutes: Some(0) };
const LINES: i32 = 50;

pub(crate) async fn call_all(checks: &mut Checks, base: &str) -> Result<(), Box<dyn Error>> {
    let mut options = ClientOptions::default();
    options.messages.limits = limits();
    let client = TestServiceSoapClient::new(&format!("{base}{PATH}"))?.with_options(options);
    checks.equal("EchoVoid", client.echo_void(&EchoVoid {}).await, EchoVoidResponse {});
    for size in [1, 20, 100] {
        let value = |i| structure(i, Nillable::Value(i as f32), "wstest".into());
        echo_struct(checks, &client, (1..=size).map(value).collect()).await;
    }
    echo_struct(checks, &client, extremes()).await;
    for size in [0, 1, 20, 100, 1_000] {
        echo_list(checks, &client, &format!("{size} nodes"), test_list(size)).await;
    }
    let last = TestNode { i: -2, f: Nillable::Value(2.5), s: "<&>".into(), next: None };
    let first = TestNode { i: 1, f: Nillable::Nil, s: Nillable::Nil, next: Some(last.into()) };
    echo_list(checks, &client, "nil values", Some(first)).await;
    for (order_id, customer_id) in [(1, 2), (0, 0), (-7, i32::MAX)] {
        let answer = client.get_order(&GetOrder { order_id, customer_id }).await;
        let expected = GetOrderResponse { get_order_result: order(order_id, customer_id) };
        checks.equal(format!("GetOrder {order_id} of {customer_id}"), answer, expected);
    }
    checks.all_called(&TEST_SERVICE_SOAP_OPERATIONS, 4);
    Ok(())
}

async fn echo_struct(checks: &mut Checks, client: &TestServiceSoapClient, l: Vec<TestStructOrDerived>) {
    let name = format!("EchoStruct of {}", l.len());
    let array = COfTestStruct { l };
    let expected = EchoStructResponse { echo_struct_result: array.clone() };
    checks.equal(name, client.echo_struct(&EchoStruct { array }).await, expected);
}

async fn echo_list(checks: &mut Checks, client: &TestServiceSoapClient, of: &str, list: Option<TestNode>) {
    let expected = EchoListResponse { echo_list_result: list.clone() };
    checks.equal(format!("EchoList of {of}"), client.echo_list(&EchoList { list }).await, expected);
}

/// Values at the limits of their types, and the two forms of absence: nil, and empty, which is not
/// nil.
fn extremes() -> Vec<TestStructOrDerived> {
    let floats = [-0.0, 0.1, -1.5, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    let floats = floats.map(|f| structure(i32::MAX, Nillable::Value(f), Nillable::Nil));
    let texts = TEXTS.map(|text| structure(i32::MIN, Nillable::Nil, text.into()));
    let nothing = structure(-1, Nillable::Nil, Nillable::Nil);
    floats.into_iter().chain(texts).chain([nothing]).collect()
}

fn structure(i: i32, f: Nillable<f32>, s: Nillable<String>) -> TestStructOrDerived {
    TestStruct { i, f, s }.into()
}

fn order(order_id: i32, customer_id: i32) -> Order {
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
        order_date: DATE,
        order_total_amount: 50.0,
        customer: Customer {
            customer_id,
            contact_first_name: format!("FirstName {customer_id}"),
            contact_last_name: format!("LastName {customer_id}"),
            contact_phone: "425-882-8080".into(),
            last_activity_date: DATE,
            credit_card_number: "892374389740".into(),
            credit_card_expiration_date: "12/12/2012".into(),
            // "Bil1" with a digit is the benchmark's own spelling.
            billing_address: address("Bill", "Bil1", customer_id),
            shipping_address: address("Ship", "Ship", customer_id),
        },
        line_items: COfLineItem { line_item: (1..=LINES).map(|number| line(number).into()).collect() },
    }
}

fn address(kind: &str, kind_in_last_name: &str, customer_id: i32) -> Address {
    Address {
        first_name: format!("{kind} FirstName {customer_id}"),
        last_name: format!("{kind_in_last_name} LastName {customer_id}"),
        address1: format!("{kind} StreetAddress {customer_id}"),
        address2: format!("Street Address Line 2 {customer_id}"),
        city: format!("City {customer_id}"),
        state: format!("State {customer_id}"),
        zip: "12345".into(),
    }
}
