//! Types of a program, for the tests.

#![allow(dead_code, missing_docs, reason = "each test uses some")]

use std::net::IpAddr;

use castile::datatypes::{Date, Decimal, Language, List};
use castile::{Adapter, AnyElements, AnyType, Nillable, Xml};

pub const NAMESPACE: &str = "urn:orders";

/// An order.
#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Order {
    /// Its number.
    #[xml(attribute)]
    pub number: u32,
    #[xml(attribute, default = "EUR")]
    pub currency: String,
    pub customer_name: String,
    #[xml(name = "when")]
    pub date: Option<Date>,
    pub item: Vec<Item>,
    #[xml(flatten)]
    pub payment: Option<Payment>,
    pub note: Nillable<String>,
    pub status: Status,
    #[xml(any)]
    pub rest: AnyElements,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Item {
    pub sku: Sku,
    pub price: Decimal,
    pub tags: Option<List<String>>,
    pub part: Option<Box<Item>>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, pattern = "[A-Z]{3}-[0-9]+", max_length = 8)]
pub struct Sku(pub String);

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub enum Payment {
    Card(Card),
    Cash(()),
    Invoice(String),
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Card {
    #[xml(text)]
    pub number: String,
    #[xml(attribute)]
    pub valid: Option<Date>,
}

#[derive(Clone, Copy, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    New,
    OnItsWay,
}

/// A figure.
#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, derived)]
pub enum Shape {
    Circle(Circle),
    Square(Box<Square>),
    #[xml(other)]
    Other(AnyType),
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, extends = Shape)]
pub struct Circle {
    pub radius: i32,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, extends = Shape)]
pub struct Square {
    #[xml(attribute)]
    pub unit: Option<String>,
    pub side: i32,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Drawing {
    pub shape: Vec<Shape>,
}

/// Somebody, who may be more than that.
#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, name = "Person", derived)]
pub enum Anybody {
    #[xml(itself)]
    Person(Person),
    Employee(Employee),
    Manager(Box<Manager>),
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Person {
    #[xml(attribute)]
    pub id: Option<i32>,
    /// The name.
    pub name: String,
    #[xml(wrap = "mails", name = "mail")]
    pub mails: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, name = "Employee", derived)]
pub enum AnyEmployee {
    #[xml(itself)]
    Employee(Employee),
    Manager(Box<Manager>),
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, extends = Anybody)]
pub struct Employee {
    #[xml(attribute)]
    pub room: Option<String>,
    #[xml(attribute)]
    pub id: Option<i32>,
    pub name: String,
    #[xml(wrap = "mails", name = "mail")]
    pub mails: Vec<String>,
    pub since: Date,
    pub boss: Option<Box<AnyEmployee>>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, extends = AnyEmployee)]
pub struct Manager {
    #[xml(attribute)]
    pub room: Option<String>,
    #[xml(attribute)]
    pub id: Option<i32>,
    pub name: String,
    #[xml(wrap = "mails", name = "mail")]
    pub mails: Vec<String>,
    pub since: Date,
    pub boss: Option<Box<AnyEmployee>>,
    #[xml(name = "report")]
    pub reports: Vec<Anybody>,
}

/// A text that others extend.
#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, derived)]
pub enum Remark {
    #[xml(itself)]
    Plain(PlainRemark),
    Signed(Signed),
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, name = "Remark")]
pub struct PlainRemark {
    #[xml(attribute)]
    pub lang: Option<String>,
    #[xml(text)]
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, extends = Remark)]
pub struct Signed {
    #[xml(attribute)]
    pub lang: Option<String>,
    #[xml(attribute)]
    pub by: String,
    #[xml(text)]
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Staff {
    pub somebody: Vec<Anybody>,
    pub chief: Person,
    pub remark: Remark,
}

/// More members than stand in one tuple of types.
#[derive(Clone, Debug, Default, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Wide {
    #[xml(attribute)]
    pub a0: Option<i32>,
    #[xml(attribute)]
    pub a1: Option<i32>,
    #[xml(attribute)]
    pub a2: Option<i32>,
    #[xml(attribute)]
    pub a3: Option<i32>,
    #[xml(attribute)]
    pub a4: Option<i32>,
    #[xml(attribute)]
    pub a5: Option<i32>,
    #[xml(attribute)]
    pub a6: Option<i32>,
    #[xml(attribute)]
    pub a7: Option<i32>,
    #[xml(attribute)]
    pub a8: Option<i32>,
    #[xml(attribute)]
    pub a9: Option<i32>,
    #[xml(attribute)]
    pub a10: Option<i32>,
    #[xml(attribute)]
    pub a11: Option<i32>,
    #[xml(attribute)]
    pub a12: Option<i32>,
    pub e0: Option<i32>,
    pub e1: Option<i32>,
    pub e2: Option<i32>,
    pub e3: Option<i32>,
    pub e4: Option<i32>,
    pub e5: Option<i32>,
    pub e6: Option<i32>,
    pub e7: Option<i32>,
    pub e8: Option<i32>,
    pub e9: Option<i32>,
    pub e10: Option<i32>,
    pub e11: Option<i32>,
    pub e12: Option<i32>,
    pub e13: Option<i32>,
    pub e14: Option<i32>,
    pub e15: Option<i32>,
    pub e16: Option<i32>,
    pub e17: Option<i32>,
    pub e18: Option<i32>,
    pub e19: Option<i32>,
    pub e20: Option<i32>,
    pub e21: Option<i32>,
    pub e22: Option<i32>,
    pub e23: Option<i32>,
    pub e24: Option<i32>,
    pub e25: Option<i32>,
}

pub mod elsewhere {
    #[derive(Clone, Debug, PartialEq, castile::Xml)]
    #[xml(namespace = "urn:money")]
    pub struct Amount {
        pub value: i32,
    }
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Paid {
    pub amount: elsewhere::Amount,
    pub more: Vec<elsewhere::Amount>,
    pub of: Option<String>,
}

/// Names that the library and the language have are a program's own, too.
pub mod shadows {
    use castile::Xml;

    #[allow(dead_code)]
    type Result<T> = std::result::Result<T, ()>;

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "urn:orders", unqualified)]
    pub struct Element {
        pub xs: Option<Fault>,
        pub r#type: i32,
    }

    #[derive(Clone, Debug, PartialEq, Xml)]
    #[xml(namespace = "", all)]
    pub struct Fault {
        pub error: std::string::String,
        pub decoder: std::option::Option<std::string::String>,
    }
}

pub struct AsText;

impl Adapter<IpAddr> for AsText {
    type Xml = String;

    fn from_xml(xml: String) -> Result<IpAddr, String> {
        xml.parse().map_err(|_| format!("{xml:?} is no IP address"))
    }

    fn to_xml(value: &IpAddr) -> String {
        value.to_string()
    }
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Host {
    #[xml(attribute, with = AsText)]
    pub public: Option<IpAddr>,
    #[xml(with = AsText)]
    pub first: IpAddr,
    #[xml(wrap = "others", name = "other", with = AsText)]
    pub others: Vec<IpAddr>,
    #[xml(wrap = "names")]
    pub name: Option<Vec<String>>,
    #[xml(wrap = "hosts", name = "host")]
    pub hosts: Option<Vec<Host>>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, union)]
pub enum Size {
    Number(i32),
    Name(String),
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Sized_ {
    #[xml(min = 1, max = 3)]
    pub size: Vec<Size>,
}

/// Has attributes and elements of other namespaces, and of none.
#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Titles {
    #[xml(attribute, namespace = "urn:other")]
    pub first: Option<i32>,
    #[xml(attribute, namespace = "urn:other")]
    pub second: Option<i32>,
    pub title: Vec<Translated>,
    #[xml(namespace = "urn:money")]
    pub price: Option<Box<elsewhere::Amount>>,
    #[xml(namespace = "urn:titles")]
    pub amount: Vec<elsewhere::Amount>,
    #[xml(namespace = "")]
    pub paid: Option<Paid>,
    #[xml(flatten)]
    pub end: Option<End>,
}

pub fn titles() -> Titles {
    let amount = |value| elsewhere::Amount { value };
    Titles {
        first: None,
        second: None,
        title: vec![Translated { lang: "de".parse().ok(), text: "Titel".into() }],
        price: Some(Box::new(amount(1))),
        amount: vec![amount(2), amount(3)],
        paid: Some(Paid { amount: amount(4), more: Vec::new(), of: Some("x".into()) }),
        end: Some(End::Last(5)),
    }
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Translated {
    #[xml(attribute, namespace = "http://www.w3.org/XML/1998/namespace")]
    pub lang: Option<Language>,
    #[xml(text)]
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub enum End {
    #[xml(namespace = "urn:titles")]
    Last(i32),
    #[xml(namespace = "urn:titles")]
    Least(Vec<elsewhere::Amount>),
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Nested {
    pub part: Vec<Nested>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, unqualified)]
pub struct Bare {
    pub paid: Paid,
    pub shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
pub struct Open {
    pub first: Option<i32>,
    #[xml(any)]
    pub rest: AnyElements,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, group)]
pub struct Within {
    pub a: i32,
    #[xml(flatten)]
    pub within: Option<Box<Within>>,
}
