//! Random values of the contracts' types.

use castile::Nillable;
use castile::datatypes::DateTime;
use castile_suites::{benchmark1, codec, wstest};

use super::Random;

pub fn int(random: &mut Random) -> i32 {
    match random.below(6) {
        0 => i32::MIN,
        1 => i32::MAX,
        2 => random.next() as i32,
        _ => random.below(200) as i32 - 100,
    }
}

pub fn double(random: &mut Random) -> f64 {
    match random.below(8) {
        0 => f64::INFINITY,
        1 => f64::NEG_INFINITY,
        2 => f64::NAN,
        3 => -0.0,
        4 => f64::from_bits(random.next() << 3),
        _ => f64::from(int(random)) / 8.0,
    }
}

pub fn string(random: &mut Random) -> String {
    let parts = [
        "",
        " ",
        "a",
        "wstest",
        "é€😀",
        "a<b&c>",
        "]]>",
        "x\ty\nz",
        "\r",
        "<i>1</i>",
        "</s>",
        "-1",
        "Message #17",
        "a text that is longer than what is looked at in one step",
    ];
    (0..random.below(3)).map(|_| random.pick(&parts)).collect()
}

fn nillable<T>(random: &mut Random, make: impl Fn(&mut Random) -> T) -> Nillable<T> {
    if random.once_in(5) { Nillable::Nil } else { Nillable::Value(make(random)) }
}

fn moment(random: &mut Random) -> DateTime {
    let mut moment = DateTime::utc(1900 + random.below(300) as i64, 2, 28, 1, 2, random.below(60) as u8).unwrap();
    moment.nanosecond = if random.once_in(3) { random.below(1_000_000_000) as u32 } else { 0 };
    moment.offset_minutes = [None, Some(0), Some(-90), Some(840)][random.below(4)];
    moment
}

pub fn echo_struct(random: &mut Random) -> wstest::contract::EchoStruct {
    use wstest::contract::*;
    let item = |random: &mut Random| {
        let (i, f) = (int(random), nillable(random, |r| double(r) as f32));
        TestStruct { i, f, s: nillable(random, string) }.into()
    };
    EchoStruct { array: COfTestStruct { l: random.list(1, item) } }
}

pub fn echo_list(random: &mut Random) -> wstest::contract::EchoList {
    use wstest::contract::*;
    let node = |random: &mut Random| TestNode {
        i: int(random),
        f: nillable(random, |r| double(r) as f32),
        s: nillable(random, string),
        next: None,
    };
    let nodes = random.list(0, node);
    let list = nodes
        .into_iter()
        .fold(None, |next: Option<TestNode>, node| Some(TestNode { next: next.map(Into::into), ..node }));
    EchoList { list }
}

pub fn order(random: &mut Random) -> wstest::contract::GetOrderResponse {
    use wstest::contract::*;
    let address = |random: &mut Random| Address {
        first_name: string(random),
        last_name: string(random),
        address1: string(random),
        address2: string(random),
        city: string(random),
        state: string(random),
        zip: string(random),
    };
    let line = |random: &mut Random| LineItem {
        order_id: int(random),
        item_id: int(random),
        product_id: int(random),
        product_description: string(random),
        order_quantity: int(random),
        unit_price: double(random) as f32,
    };
    GetOrderResponse {
        get_order_result: Order {
            order_id: int(random),
            order_status: int(random),
            order_date: moment(random),
            order_total_amount: double(random) as f32,
            customer: Customer {
                customer_id: int(random),
                contact_first_name: string(random),
                contact_last_name: string(random),
                contact_phone: string(random),
                last_activity_date: moment(random),
                credit_card_number: string(random),
                credit_card_expiration_date: string(random),
                billing_address: address(random),
                shipping_address: address(random),
            },
            line_items: COfLineItem { line_item: random.list(0, |random| nillable(random, line)) },
        },
    }
}

pub fn ints(random: &mut Random) -> benchmark1::contract::EchoInts {
    benchmark1::contract::EchoInts { input: random.list(1, int) }
}

pub fn doubles(random: &mut Random) -> benchmark1::contract::EchoDoublesResponse {
    benchmark1::contract::EchoDoublesResponse { echo_doubles_return: random.list(1, double) }
}

pub fn strings(random: &mut Random) -> benchmark1::contract::EchoStrings {
    benchmark1::contract::EchoStrings { input: random.list(1, string) }
}

pub fn bytes(random: &mut Random) -> benchmark1::contract::EchoBase64 {
    benchmark1::contract::EchoBase64 { input: random.list(0, |random| random.next() as u8).into() }
}

pub fn mesh(random: &mut Random) -> benchmark1::contract::EchoMeshInterfaceObjectsRequest {
    use benchmark1::contract::*;
    let object = |random: &mut Random| MeshInterfaceObject { x: int(random), y: int(random), value: double(random) };
    EchoMeshInterfaceObjectsRequest { input: random.list(1, object) }
}

pub fn events(random: &mut Random) -> benchmark1::contract::EchoSimpleEventsRequest {
    use benchmark1::contract::*;
    let event = |random: &mut Random| SimpleEvent {
        sequence_number: int(random),
        timestamp: double(random),
        message: string(random),
    };
    EchoSimpleEventsRequest { input: ArrayOfSimpleEvent { item: random.list(0, |random| nillable(random, event)) } }
}

pub fn structs(random: &mut Random) -> codec::contract::EchoStructs {
    use codec::contract::*;
    EchoStructs { item: random.list(0, |random| Item { i: int(random), f: double(random), s: string(random) }) }
}
