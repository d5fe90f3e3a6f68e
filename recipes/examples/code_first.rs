//! Serves and calls a trait: the program defines the types, and the contract is generated from
//! them.

use castile::datatypes::{Date, Decimal};
use castile::{CallError, Detail, Fault, FaultDetail, Xml, service};

const NAMESPACE: &str = "urn:example:rooms";

/// A room that can be booked.
#[derive(Clone, Debug, Xml)]
#[xml(namespace = NAMESPACE)]
struct Room {
    #[xml(attribute)]
    number: u16,
    price: Decimal,
    view: View,
}

#[derive(Clone, Copy, Debug, PartialEq, Xml)]
#[xml(namespace = NAMESPACE)]
enum View {
    Sea,
    Garden,
}

#[derive(Clone, Debug, Xml, FaultDetail)]
#[xml(namespace = NAMESPACE)]
struct Booked {
    until: Date,
}

/// Rooms of a small hotel.
#[service(namespace = "urn:example:rooms")]
trait Rooms {
    /// The rooms that are free on a day.
    async fn free(&self, day: Date, view: Option<View>) -> Vec<Room>;

    /// Books a room, and gives the number of the booking.
    async fn book(&self, room: u16, day: Date) -> Result<u64, Fault<Booked>>;
}

struct Hotel;

impl Rooms for Hotel {
    async fn free(&self, _: Date, view: Option<View>) -> Vec<Room> {
        let rooms =
            [(1, View::Sea), (2, View::Garden)].into_iter().filter(|(_, has)| view.is_none_or(|view| view == *has));
        rooms.map(|(number, view)| Room { number, price: 90.into(), view }).collect()
    }

    async fn book(&self, room: u16, day: Date) -> Result<u64, Fault<Booked>> {
        match room {
            1 => Ok(17),
            _ => Err(Fault::sender("the room is taken").with_detail(Booked { until: day })),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = RoomsClient::with_transport("http://localhost/rooms", RoomsServer::new(Hotel))?;
    let day: Date = "2026-12-24".parse()?;
    let free = client.free(&rooms::FreeRequest { day, view: Some(View::Sea) }).await?;
    println!("{:?}", free.result);
    match client.book(&rooms::BookRequest { room: 2, day }).await {
        Err(CallError::Fault { fault: Fault { detail: Detail::Declared(Booked { until }), reason, .. }, .. }) => {
            println!("{} until {until}", reason.as_str());
        }
        other => println!("{other:?}"),
    }
    // What `?wsdl` answers.
    let wsdl = rooms::wsdl()?;
    println!("{}", wsdl.lines().find(|line| line.contains("portType")).unwrap_or_default().trim());
    Ok(())
}
