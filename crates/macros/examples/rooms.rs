//! The service of docs/code-first.md: a program in another language calls it.

use castile::datatypes::Decimal;
use castile::http::server::{Routes, Server, shutdown_signal};
use castile::{Fault, Xml, service};

const NAMESPACE: &str = "http://example.com/rooms";

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

/// Rooms of a small hotel.
#[service(namespace = "http://example.com/rooms")]
trait Rooms {
    /// The rooms that are free.
    async fn free(&self, view: Option<View>) -> Vec<Room>;

    /// Books a room for a guest, and gives the number of the booking.
    async fn book(&self, room: u16, guest: String) -> Result<u64, Fault>;
}

struct Hotel;

impl Rooms for Hotel {
    async fn free(&self, view: Option<View>) -> Vec<Room> {
        let rooms = [(1, View::Sea), (2, View::Garden)];
        let rooms = rooms.into_iter().filter(|(_, has)| view.is_none_or(|view| view == *has));
        rooms.map(|(number, view)| Room { number, price: 90.into(), view }).collect()
    }

    async fn book(&self, room: u16, guest: String) -> Result<u64, Fault> {
        match room {
            1 => Ok(17),
            _ => Err(Fault::sender(format!("{guest} comes too late: the room is taken"))),
        }
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    println!("http://127.0.0.1:8080/rooms?wsdl");
    let routes = Routes::new().route("/rooms", RoomsServer::new(Hotel));
    let shutdown = Server::new().serve(listener, routes, shutdown_signal()).await;
    println!("{} requests were cut off", shutdown.cut_off.len());
    Ok(())
}
