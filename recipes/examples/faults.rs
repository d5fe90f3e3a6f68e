//! Distinguishes the faults of a service from all other errors of a call. `Shop::place` answers with these
//! faults.

use castile::{CallError, Detail};
use castile_recipes::orders::{OrdersClient, OrdersServer, Place, PlaceFault, SoldOut};
use castile_recipes::{Shop, order};

async fn place(client: &OrdersClient<impl castile::HttpService>, order: &Place) {
    match client.place(order).await {
        Ok(response) => println!("order {}", response.number),
        Err(CallError::Fault { fault, .. }) => match fault.detail {
            // The contract declares these.
            Detail::Declared(PlaceFault::SoldOut(SoldOut { item, left })) => println!("{left} of {item} are left"),
            Detail::Declared(PlaceFault::UnknownCustomer(name)) => println!("{name} is unknown"),
            // It doesn't declare this one, or there is no detail.
            _ => println!("{:?}: {}", fault.code, fault.reason.as_str()),
        },
        // The request can't be written, or the answer is not what the contract says. To try again is of no use.
        Err(CallError::Protocol { error, .. }) => println!("a bug on either side: {error}"),
        // The server was not reached, or answered with something that is no message.
        Err(CallError::Transport(error)) => println!("try later: {error}"),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = OrdersClient::with_transport("http://localhost/orders", OrdersServer::new(Shop))?;
    place(&client, &order(2)).await;
    place(&client, &order(200)).await;
    place(&client, &Place { customer: "nobody".into(), ..order(2) }).await;
    place(&client, &Place { line: Vec::new(), ..order(2) }).await;
    Ok(())
}
