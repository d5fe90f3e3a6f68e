//! Signs requests, serves only signed ones, and signs the answers.

use std::path::Path;

use castile::http::server::{Routes, Server};
use castile::soap::{Next, RequestMessage, from_fn};
use castile::wss::message::{ClientSecurity, OutgoingSecurity, Policy, SecurityLayer, VerifiedMessage};
use castile::wss::{Certificate, PrivateKey, Signer, Trust};
use castile::{CallError, ClientOptions};
use castile_recipes::orders::{OrdersClient, OrdersServer};
use castile_recipes::{Caller, Shop, order};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("castile-signed-{}", std::process::id()));
    castile_recipes::certificates::write(&folder)?;
    let authority = certificate(&folder, "authority")?;

    // A request needs a time stamp, and a signature over it, the body and the header blocks of WS-Addressing, by somebody who has
    // a certificate of the authority. Everything else gets the same fault; the log says why.
    let policy = Policy::signed_by(Trust::new().with_authority(authority.clone()));
    let security = SecurityLayer::new(policy)
        .on_refusal(|error| println!("refused: {error}"))
        .with_reply_security(signing(&folder, "server")?);
    // Handlers and layers find who signed in the extensions.
    let who = from_fn(|mut request: RequestMessage, next: Next| async move {
        let signer = request.extensions.get::<VerifiedMessage>().and_then(VerifiedMessage::signer);
        if let Some(Signer::Certificate(certificate)) = signer {
            let caller = Caller(certificate.subject());
            request.extensions.insert(caller);
        }
        next.run(request).await
    });
    let server = OrdersServer::new(Shop).layer(who).layer(security);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/orders", listener.local_addr()?);
    tokio::spawn(Server::new().serve(listener, Routes::new().route("/orders", server), std::future::pending()));

    // The client signs, and requires that answers are signed, faults included.
    let answers = Policy::signed_by(Trust::new().with_authority(authority));
    let security = ClientSecurity::new(signing(&folder, "client")?).with_answer_policy(answers);
    let options = ClientOptions::default().with_security(security);
    let client = OrdersClient::new(&url)?.with_options(options);
    println!("order {}", client.place(&order(2)).await?.number);
    match client.place(&order(200)).await {
        Err(CallError::Fault { fault, .. }) => println!("a signed fault: {fault}"),
        other => println!("{other:?}"),
    }

    let stranger = OrdersClient::new(&url)?;
    if let Err(error) = stranger.place(&order(2)).await {
        println!("{error}");
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Signs with a private key, and sends its certificate along.
fn signing(folder: &Path, name: &str) -> Result<OutgoingSecurity, Box<dyn std::error::Error>> {
    let key = PrivateKey::from_pem(&std::fs::read(folder.join(name).with_extension("key"))?)?;
    let certificate = certificate(folder, name)?;
    Ok(OutgoingSecurity::new().with_timestamp().with_signature(key).with_certificate(certificate))
}

fn certificate(folder: &Path, name: &str) -> Result<Certificate, Box<dyn std::error::Error>> {
    Ok(Certificate::from_pem(&std::fs::read(folder.join(name).with_extension("pem"))?)?)
}
