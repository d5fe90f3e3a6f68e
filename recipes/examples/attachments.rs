//! Uploads an attachment while it is read from its source, and reads one while it arrives.

use bytes::Bytes;
use castile::mime::{Content, Part};
use castile_recipes::Shop;
use castile_recipes::orders::{Download, OrdersClient, OrdersServer, Upload};
use http_body::Frame;
use http_body_util::StreamBody;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = OrdersClient::with_transport("http://localhost/orders", OrdersServer::new(Shop))?;

    // What is at hand, as `Vec<u8>`, is content by `into()`. This is content that comes in chunks, 8 MiB of it.
    let chunks = (0..128).map(|_| Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(&[0; 64 << 10]))));
    let content = Content::stream(StreamBody::new(futures_util::stream::iter(chunks)));
    let document = Part::attachment("application/pdf", content)?;
    let response = client.upload(&Upload { number: 7 }).attach(document).await?;
    println!("{} bytes", response.bytes);

    let response = client.download(&Download { number: 7 }).send().await?;
    let (message, mut attachments) = response.into_parts();
    println!("{}:", message.name);
    while let Some(mut document) = attachments.next().await? {
        while let Some(data) = document.data().await? {
            print!("{}", String::from_utf8_lossy(&data));
        }
    }
    Ok(())
}
