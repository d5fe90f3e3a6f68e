//! The types of the contracts, written as types of a program.

use castile::Xml;
use castile_soap::Root;
use castile_suites::codec::{self, Message};

const NAMESPACE: &str = "http://example.com/bench";

#[derive(Debug, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct EchoStructs {
    item: Vec<Item>,
}

#[derive(Debug, Xml)]
#[xml(namespace = NAMESPACE)]
struct Item {
    i: i32,
    f: f64,
    s: String,
}

#[derive(Debug, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Order {
    order_id: i32,
    order_status: i32,
    order_date: String,
    order_total_amount: f64,
    customer: Customer,
    line_item: Vec<LineItem>,
}

#[derive(Debug, Xml)]
#[xml(namespace = NAMESPACE)]
struct Customer {
    customer_id: i32,
    contact_first_name: String,
    contact_last_name: String,
    contact_phone: String,
    last_activity_date: String,
    credit_card_number: String,
    credit_card_expiration_date: String,
    billing_address: Address,
    shipping_address: Address,
}

#[derive(Debug, Xml)]
#[xml(namespace = NAMESPACE)]
struct Address {
    first_name: String,
    last_name: String,
    #[xml(name = "address1")]
    address_1: String,
    #[xml(name = "address2")]
    address_2: String,
    city: String,
    state: String,
    zip: String,
    country: String,
}

#[derive(Debug, Xml)]
#[xml(namespace = NAMESPACE)]
struct LineItem {
    order_id: i32,
    item_id: i32,
    product_id: i32,
    product_description: String,
    quantity: i32,
    unit_price: f64,
}

impl Message for EchoStructs {
    fn root() -> &'static Root {
        codec::contract::EchoStructs::root()
    }
}

impl Message for Order {
    fn root() -> &'static Root {
        codec::contract::Order::root()
    }
}

/// The types of WSTest.
pub mod wstest {
    use castile::{Nillable, Xml};
    use castile_soap::Root;
    use castile_suites::codec::Message;
    use castile_suites::wstest::contract;

    const NAMESPACE: &str = "uri:WSTestWeb-TestService";

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    pub struct EchoStruct {
        array: Structs,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE, name = "COfTestStruct")]
    struct Structs {
        #[xml(min = 1)]
        l: Vec<Struct>,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE, name = "TestStruct")]
    struct Struct {
        i: i32,
        f: Nillable<f32>,
        s: Nillable<String>,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    pub struct EchoList {
        list: Option<Box<Node>>,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE, name = "TestNode")]
    struct Node {
        i: i32,
        f: Nillable<f32>,
        s: Nillable<String>,
        #[xml(name = "Next")]
        next: Option<Box<Node>>,
    }

    impl Message for EchoStruct {
        fn root() -> &'static Root {
            contract::EchoStruct::root()
        }
    }

    impl Message for EchoList {
        fn root() -> &'static Root {
            contract::EchoList::root()
        }
    }
}

/// The types of the seismic service.
pub mod seismic {
    use castile::Xml;
    use castile::datatypes::{DateTime, Id, Idref, Token};
    use castile_soap::Root;
    use castile_suites::codec::Message;
    use castile_suites::seismic::document::contract::quakes;

    const NAMESPACE: &str = "http://www.sosnoski.com/quakes";

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    pub struct Results {
        #[xml(attribute)]
        count: Option<i32>,
        #[xml(name = "result-set")]
        result_set: Vec<QuakeSet>,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    struct QuakeSet {
        #[xml(name = "area-name")]
        area_name: String,
        regions: Regions,
        quakes: Quakes,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    struct Regions {
        #[xml(attribute)]
        count: Option<i32>,
        region: Vec<Region>,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    struct Region {
        #[xml(attribute)]
        ident: Option<Id>,
        #[xml(attribute)]
        index: Option<i32>,
        #[xml(text)]
        name: String,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    struct Quakes {
        #[xml(attribute)]
        count: Option<i32>,
        quake: Vec<Quake>,
    }

    #[derive(Debug, Xml)]
    #[xml(namespace = NAMESPACE)]
    struct Quake {
        #[xml(attribute)]
        time: Option<DateTime>,
        #[xml(attribute)]
        millis: Option<i32>,
        #[xml(attribute)]
        latitude: Option<f32>,
        #[xml(attribute)]
        longitude: Option<f32>,
        #[xml(attribute)]
        depth: Option<f32>,
        #[xml(attribute)]
        magnitude: Option<f32>,
        #[xml(attribute)]
        method: Option<Token>,
        #[xml(attribute)]
        region: Option<Idref>,
    }

    impl Message for Results {
        fn root() -> &'static Root {
            quakes::Results::root()
        }
    }
}
