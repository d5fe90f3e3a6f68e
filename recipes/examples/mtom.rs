//! Sends binary values as MTOM parts outside of the envelope.

use castile::soap::Mtom;
use castile::{ClientOptions, Fault, Request, Response};
use castile_recipes::photos::{Photos, PhotosClient, PhotosServer, Store, StoreResponse};

struct Album;

impl Photos for Album {
    // A value that came beside the envelope is the value that came in it.
    async fn store(&self, request: Request<Store>) -> Result<Response<StoreResponse>, Fault> {
        let photo = request.into_inner();
        let preview = photo.data.iter().step_by(100).copied().collect::<Vec<u8>>();
        Ok(StoreResponse { bytes: photo.data.len() as i64, preview: preview.into() }.into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = ClientOptions::default();
    // Values of 1,024 bytes and more leave the envelope. The server answers MTOM with MTOM.
    options.messages.mtom = Mtom::Always(1024);
    let client =
        PhotosClient::with_transport("http://localhost/photos", PhotosServer::new(Album))?.with_options(options);

    let photo = Store { name: "harbour.jpg".into(), data: vec![0xFF; 300_000].into() };
    let response = client.store(&photo).await?;
    println!("{} bytes, {} of them in the preview", response.bytes, response.preview.len());
    Ok(())
}
