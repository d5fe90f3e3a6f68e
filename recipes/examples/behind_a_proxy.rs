//! Serves behind a proxy that terminates TLS, and behind one that passes it through: client addresses, probes, gzip and new
//! certificates.

use std::net::SocketAddr;

use axum::Router;
use axum::routing::get;
use castile::http::client::{self, Roots, Transport};
use castile::http::server::{self, Address, Proxies, ProxyHeader, ProxyProtocol, Routes, Server};
use castile::http::tls::{Identity, Pem};
use castile::soap::{Next, RequestMessage, from_fn};
use castile::{ClientOptions, ServerOptions};
use castile_recipes::orders::{OrdersClient, OrdersServer};
use castile_recipes::{Shop, certificates, order};
use http::header::{CONTENT_ENCODING, FORWARDED};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// What the proxy that ends TLS says of its client (RFC 7239). `X-Forwarded-For` and its kind are known as well.
const FORWARDED_VALUE: &str = "for=192.0.2.7;proto=https;host=orders.example.org";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = ServerOptions::default();
    // Contracts name the address that clients know, as the proxy says it, and no other host than this one.
    options.address = Address::Asked {
        scheme: http::uri::Scheme::HTTPS,
        hosts: vec!["orders.example.org".to_owned()],
        trusted: vec![ProxyHeader::Forwarded],
    };
    // Larger answers go as gzip to those who take it. 64 KiB is a better beginning where messages are larger than here.
    options.gzip_above = Some(100);
    let service = OrdersServer::with_options(Shop, options);
    let routes = Routes::new()
        .route(
            "/orders",
            service.layer(from_fn(|request: RequestMessage, next: Next| async move {
                println!("a call from {:?}", request.peer);
                next.run(request).await
            })),
        )
        // For those who restart it, and for those who send it requests: the latter is told 503 once the server is to stop.
        .health("/health")
        .ready("/ready", || true)
        // Whatever else there is.
        .fallback_service(Router::new().route("/about", get(async || "tea")));

    // Behind a proxy that ends TLS. From elsewhere the header is not believed.
    let server = Server::new().proxies(Proxies::forwarded(["127.0.0.1"])?);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let plain = listener.local_addr()?;
    tokio::spawn(server.serve(listener, routes.clone(), std::future::pending()));

    // Behind a proxy that passes TLS through. Who connects from elsewhere is closed.
    let folder = std::env::temp_dir().join(format!("castile-recipe-{}", std::process::id()));
    certificates::write(&folder)?;
    let pem = |name: &str| Pem::file(folder.join(name));
    let tls = server::Tls::with_options(server::TlsOptions::new(Identity::new(pem("server.pem"), pem("server.key"))))?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let passed_to = listener.local_addr()?;
    let listener = tls.listen(ProxyProtocol::new(listener, ["127.0.0.1"])?);
    tokio::spawn(Server::new().serve(listener, routes, std::future::pending()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let outside = listener.local_addr()?;
    tokio::spawn(pass_through(listener, passed_to));

    // Through the first one, which says who it is.
    let mut options = ClientOptions::default();
    options.accept_gzip = true;
    options.http_headers.insert(FORWARDED, FORWARDED_VALUE.parse()?);
    let client = OrdersClient::new(&format!("http://{plain}/orders"))?.with_options(options);
    let response = client.place(&order(2)).send().await?;
    println!("order {}, {:?}", response.get_ref().number, response.http_headers().get(CONTENT_ENCODING));
    let contract = fetch(plain, "/orders?wsdl").await?;
    println!("the address is that outside: {}", contract.contains("\"https://orders.example.org/orders\""));
    for path in ["/health", "/ready", "/about", "/nowhere"] {
        let answer = fetch(plain, path).await?;
        println!("{path}: {}", answer.split(' ').nth(1).unwrap_or_default());
    }

    // Through the second one, when the certificate was renewed: the client trusts the new one alone.
    certificates::write(&folder)?;
    #[cfg(unix)]
    reload_on_hang_up(&tls).await?;
    let mut options = client::TlsOptions::default();
    options.roots = Roots::Only(vec![pem("authority.pem")]);
    let tls = client::Tls::with_options(options)?;
    let mut options = client::Options::default();
    options.tls = tls;
    let url = format!("https://localhost:{}/orders", outside.port());
    let client = OrdersClient::with_transport(&url, Transport::with_options(options))?;
    println!("order {}", client.place(&order(2)).await?.number);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Loads certificates again when the process is sent SIGHUP: `ExecReload=/bin/kill -HUP $MAINPID`. This one is sent it here.
#[cfg(unix)]
async fn reload_on_hang_up(tls: &server::Tls) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    // From now on SIGHUP doesn't end the process.
    let mut hang_ups = signal(SignalKind::hangup())?;
    let tls = tls.clone();
    let (loaded, mut was_loaded) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        while hang_ups.recv().await.is_some() {
            // It reads files, for which no connection should wait.
            let tls = tls.clone();
            match tokio::task::spawn_blocking(move || tls.reload()).await {
                Ok(Ok(is_new)) => println!("there are new certificates: {is_new}"),
                // What was loaded before stays.
                Ok(Err(error)) => eprintln!("{error}"),
                Err(_) => return,
            }
            let _ = loaded.send(()).await;
        }
    });

    std::process::Command::new("sh").arg("-c").arg(format!("kill -HUP {}", std::process::id())).status()?;
    was_loaded.recv().await;
    Ok(())
}

/// Stands for nginx or HAProxy: it passes bytes on, and says first whose they are.
async fn pass_through(listener: TcpListener, to: SocketAddr) -> std::io::Result<()> {
    loop {
        let (mut client, _) = listener.accept().await?;
        let mut server = TcpStream::connect(to).await?;
        server.write_all(b"PROXY TCP4 192.0.2.8 192.0.2.1 50000 443\r\n").await?;
        tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await });
    }
}

/// What is answered to a GET that came by way of the first proxy.
async fn fetch(server: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(server).await?;
    stream.write_all(format!("GET {path} HTTP/1.0\r\nForwarded: {FORWARDED_VALUE}\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
