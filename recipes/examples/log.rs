//! Logs and measures every request with a layer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use castile::soap::{Next, RequestMessage, from_fn};
use castile_recipes::orders::{OrdersClient, OrdersServer};
use castile_recipes::{Shop, order};

/// What was measured.
#[derive(Debug, Default)]
struct Metrics {
    requests: AtomicU64,
    faults: AtomicU64,
    microseconds: AtomicU64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let metrics = Arc::new(Metrics::default());
    let noted = metrics.clone();
    let measured = from_fn(move |request: RequestMessage, next: Next| {
        let metrics = noted.clone();
        async move {
            let (action, begin) = (request.action.clone(), Instant::now());
            let reply = next.run(request).await;
            metrics.requests.fetch_add(1, Relaxed);
            metrics.faults.fetch_add(u64::from(reply.is_fault()), Relaxed);
            metrics.microseconds.fetch_add(begin.elapsed().as_micros() as u64, Relaxed);
            println!("{action}: {:?}", reply.fault);
            reply
        }
    });
    let client = OrdersClient::with_transport("http://localhost/orders", OrdersServer::new(Shop).layer(measured))?;

    client.place(&order(2)).await?;
    client.place(&order(200)).await.expect_err("so much tea is not there");
    println!("requests: {}, faults: {}", metrics.requests.load(Relaxed), metrics.faults.load(Relaxed));
    Ok(())
}
