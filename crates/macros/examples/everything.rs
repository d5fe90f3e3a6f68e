//! A service made of a trait, for clients of others: it echoes values of every kind that its types have.
//!
//!     cargo run -p castile-macros --example everything [ADDRESS]

use castile::datatypes::{Base64Binary, Date, DateTime, Decimal, List};
use castile::http::server::{Routes, Server, shutdown_signal};
use castile::{Fault, FaultDetail, Header, Nillable, Request, Response, Xml, service};
use std::sync::{Mutex, PoisonError};

const NAMESPACE: &str = "urn:castile:everything";

/// An order, with what types can have.
#[derive(Clone, Debug, Xml)]
#[xml(namespace = NAMESPACE)]
struct Order {
    #[xml(attribute)]
    number: u32,
    #[xml(attribute, default = "EUR")]
    currency: String,
    customer: String,
    when: Option<Date>,
    line: Vec<Line>,
    #[xml(wrap = "tags", name = "tag")]
    tags: Vec<String>,
    note: Nillable<String>,
    status: Status,
    payment: Option<Payment>,
}

#[derive(Clone, Debug, Xml)]
#[xml(namespace = NAMESPACE)]
struct Line {
    sku: Sku,
    price: Decimal,
    sizes: Option<List<i32>>,
    /// A line may have parts, which are lines.
    part: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE, pattern = "[A-Z]{3}-[0-9]+")]
struct Sku(String);

#[derive(Clone, Copy, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
enum Status {
    New,
    Sent,
}

#[derive(Clone, Debug, Xml)]
#[xml(namespace = NAMESPACE)]
enum Payment {
    Card(String),
    Invoice(Amount),
}

#[derive(Clone, Debug, Xml)]
#[xml(namespace = "urn:castile:money")]
struct Amount {
    #[xml(text)]
    value: Decimal,
    #[xml(attribute)]
    unit: String,
}

#[derive(Clone, Debug, Xml)]
#[xml(namespace = NAMESPACE, derived)]
enum Shape {
    #[xml(itself)]
    Plain(Plain),
    Circle(Circle),
    Square(Square),
}

#[derive(Clone, Debug, Xml)]
#[xml(namespace = NAMESPACE, name = "Shape")]
struct Plain {
    label: Option<String>,
}

#[derive(Clone, Debug, Xml)]
#[xml(namespace = NAMESPACE, extends = Shape)]
struct Circle {
    label: Option<String>,
    radius: f64,
}

#[derive(Clone, Debug, Xml)]
#[xml(namespace = NAMESPACE, extends = Shape)]
struct Square {
    label: Option<String>,
    side: i32,
}

#[derive(Clone, Debug, Xml, FaultDetail)]
#[xml(namespace = NAMESPACE)]
struct DivisionByZero {
    dividend: i32,
}

#[derive(Clone, Debug, Xml, Header)]
#[xml(namespace = NAMESPACE, element = "session")]
struct Session {
    key: String,
}

/// Echoes values of every kind.
#[service(namespace = "urn:castile:everything")]
trait Everything {
    /// Gives the order back.
    async fn echo_order(&self, order: Order) -> Order;

    async fn echo_shapes(&self, shape: Vec<Shape>) -> Vec<Shape>;

    async fn echo_bytes(&self, bytes: Base64Binary, at: DateTime) -> Base64Binary;

    async fn divide(&self, dividend: i32, divisor: i32) -> Result<f64, Fault<DivisionByZero>>;

    async fn key(&self, #[soap(header)] session: Option<Session>) -> Option<String>;

    async fn echo_line(&self, request: Request<Line>) -> Result<Response<Line>, Fault>;

    async fn ping(&self);

    #[soap(one_way)]
    async fn notify(&self, notice: String);

    /// Gives each notice once.
    async fn last_notice(&self) -> Option<String>;
}

#[derive(Default)]
struct Echo {
    notice: Mutex<Option<String>>,
}

impl Everything for Echo {
    async fn echo_order(&self, order: Order) -> Order {
        order
    }

    async fn echo_shapes(&self, shapes: Vec<Shape>) -> Vec<Shape> {
        shapes
    }

    async fn echo_bytes(&self, bytes: Base64Binary, _: DateTime) -> Base64Binary {
        bytes
    }

    async fn divide(&self, dividend: i32, divisor: i32) -> Result<f64, Fault<DivisionByZero>> {
        match divisor {
            0 => Err(Fault::sender("nothing is divided by zero").with_detail(DivisionByZero { dividend })),
            divisor => Ok(f64::from(dividend) / f64::from(divisor)),
        }
    }

    async fn key(&self, session: Option<Session>) -> Option<String> {
        session.map(|session| session.key)
    }

    async fn echo_line(&self, request: Request<Line>) -> Result<Response<Line>, Fault> {
        Ok(request.into_inner().into())
    }

    async fn ping(&self) {}

    async fn notify(&self, notice: String) {
        *self.notice.lock().unwrap_or_else(PoisonError::into_inner) = Some(notice);
    }

    async fn last_notice(&self) -> Option<String> {
        self.notice.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{}/everything", listener.local_addr()?);
    let routes = Routes::new().route("/everything", EverythingServer::new(Echo::default()));
    drop(Server::new().serve(listener, routes, shutdown_signal()).await);
    Ok(())
}
