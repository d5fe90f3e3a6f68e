//! Serves and calls over TLS, each side with a certificate.

use std::time::Duration;

use castile::http::client::{self, Roots, Transport};
use castile::http::server::{self, ClientCertificates, ClientRoots, Server, TlsPeer};
use castile::http::tls::{Identity, Pem};
use castile::soap::{Next, RequestMessage, from_fn};
use castile_recipes::orders::{OrdersClient, OrdersServer, QuotaHeader};
use castile_recipes::{Caller, Shop, certificates, order};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Yours come from your authority.
    let folder = std::env::temp_dir().join(format!("castile-recipe-{}", std::process::id()));
    certificates::write(&folder)?;
    let pem = |name: &str| Pem::file(folder.join(name));

    // The server has a certificate, and only clients with one of the authority get through the handshake.
    let mut options = server::TlsOptions::new(Identity::new(pem("server.pem"), pem("server.key")));
    options.client_certificates = ClientCertificates::Required(ClientRoots::new(pem("authority.pem")));
    let tls = server::Tls::with_options(options)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("https://localhost:{}/orders", listener.local_addr()?.port());

    // A layer sees who it is. A program would look the certificate up.
    let identified = from_fn(|mut request: RequestMessage, next: Next| async move {
        let has_certificate = request.extensions.get::<TlsPeer>().is_some_and(|peer| peer.certificates().count() > 0);
        if has_certificate {
            request.extensions.insert(Caller("Ada".to_owned()));
        }
        next.run(request).await
    });
    let service = OrdersServer::new(Shop).layer(identified);
    tokio::spawn(Server::new().serve(tls.listen(listener), service, std::future::pending()));

    // When the files change, new connections get what is new in them. A broken file leaves what was there.
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(60)).await;
            // It reads files, for which no connection should wait.
            let tls = tls.clone();
            if let Ok(Err(error)) = tokio::task::spawn_blocking(move || tls.reload()).await {
                eprintln!("{error}");
            }
        }
    });

    // The client trusts the authority, and those of the system. Without this it trusts the latter alone.
    let mut options = client::TlsOptions::default();
    options.roots = Roots::PlatformAnd(vec![pem("authority.pem")]);
    let anonymous = client::Tls::with_options(options.clone())?;
    options.identity = Some(Identity::new(pem("client.pem"), pem("client.key")));
    let with_certificate = client::Tls::with_options(options)?;

    for tls in [with_certificate, anonymous] {
        let mut options = client::Options::default();
        options.tls = tls;
        let client = OrdersClient::with_transport(&url, Transport::with_options(options))?;
        match client.place(&order(2)).send().await {
            Ok(response) => println!("order {}, {:?}", response.get_ref().number, response.header::<QuotaHeader>()?),
            Err(error) => println!("{}", error.to_string().replace(&url, "https://…")),
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
