//! A proxy that is itself reached over TLS.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/authority.rs"]
mod authority;

use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use authority::{Authority, Issued};
use bytes::Bytes;
use castile_http::client::{Options, Proxies, Roots, Tls, TlsOptions, Transport};
use castile_http::tls::{Identity, Pem};
use castile_http::{Body, Error, ErrorKind};
use http::Request;
use http_body_util::BodyExt;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tower_service::Service;

static AUTHORITY: LazyLock<Authority> = LazyLock::new(|| Authority::new("authority"));
const ENDED: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhere";

/// Creates the TLS of a server that requests client certificates but doesn't require them.
fn acceptor(issued: &Issued) -> TlsAcceptor {
    let root = CertificateDer::from_pem_slice(AUTHORITY.root().as_bytes()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let asks = WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
    let chain = vec![CertificateDer::from(issued.der.clone())];
    let key = PrivateKeyDer::from_pem_slice(issued.key.as_bytes()).unwrap();
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_client_cert_verifier(asks.allow_unauthenticated().build().unwrap());
    Arc::new(builder.with_single_cert(chain, key).unwrap()).into()
}

async fn head(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

/// Starts a server that reports whether the client sent a certificate.
async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = acceptor(&AUTHORITY.issue("inner.example", |_| {}));
    tokio::spawn(async move {
        loop {
            let mut stream = acceptor.accept(listener.accept().await.unwrap().0).await.unwrap();
            let answer = if stream.get_ref().1.peer_certificates().is_some() { "known" } else { "nobody" };
            head(&mut stream).await;
            let length = answer.len();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{answer}");
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    address
}

/// A proxy that opens tunnels to one server, and answers other requests itself.
struct Proxy {
    address: SocketAddr,
    /// The heads of the requests, and whether the client sent a certificate.
    seen: Arc<Mutex<Vec<(String, bool)>>>,
}

impl Proxy {
    async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Proxy { address: listener.local_addr().unwrap(), seen: Arc::default() };
        let seen = proxy.seen.clone();
        let acceptor = acceptor(&AUTHORITY.issue("127.0.0.1", |_| {}));
        tokio::spawn(async move {
            loop {
                let stream = listener.accept().await.unwrap().0;
                // A client that doesn't trust the proxy disconnects.
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let has_certificate = stream.get_ref().1.peer_certificates().is_some();
                let head = head(&mut stream).await;
                let is_tunnel = head.starts_with("CONNECT ");
                seen.lock().unwrap().push((head, has_certificate));
                tokio::spawn(async move {
                    match is_tunnel {
                        true => tunnel(stream, server).await,
                        false => stream.write_all(ENDED.as_bytes()).await.unwrap(),
                    }
                });
            }
        });
        proxy
    }

    fn url(&self) -> String {
        format!("https://u:p@{}", self.address)
    }

    fn seen(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

async fn tunnel(mut stream: impl AsyncRead + AsyncWrite + Unpin, server: SocketAddr) {
    let mut server = TcpStream::connect(server).await.unwrap();
    stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
    let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
}

fn options() -> TlsOptions {
    let mut options = TlsOptions::default();
    options.roots = Roots::Only(vec![Pem::bytes(AUTHORITY.root())]);
    options
}

fn transport(tls: TlsOptions, proxies: Proxies) -> Transport {
    let mut options = Options::default();
    options.tls = Tls::with_options(tls).unwrap();
    options.proxies = proxies;
    options.connect_timeout = Duration::from_secs(1);
    Transport::with_options(options)
}

async fn ask(transport: &Transport, url: &str) -> Result<String, Error> {
    let request = Request::get(url).body(Body::from(Bytes::new())).unwrap();
    let body = transport.clone().call(request).await?.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn tunnels_and_requests_go_to_the_proxy_over_tls() {
    let proxy = Proxy::start(server().await).await;
    let client = AUTHORITY.issue("client", |_| {});
    let mut tls = options();
    tls.identity = Some(Identity::new(Pem::bytes(&client.chain), Pem::bytes(&client.key)));
    tls.server_name = Some("inner.example".to_owned());
    let through = transport(tls, Proxies::all(&proxy.url()).unwrap());
    // The server's name and the client certificate are for the server, not for the proxy.
    assert_eq!(ask(&through, "https://service.example/x").await.unwrap(), "known");
    let [(head, false)] = &proxy.seen()[..] else { panic!("the client's certificate is not for the proxy") };
    assert!(head.starts_with("CONNECT service.example:443 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nProxy-Authorization: Basic dTpw\r\n"), "{head}");
    assert_eq!(ask(&through, "http://service.example/x").await.unwrap(), "here");
    let [(head, false)] = &proxy.seen()[..] else { panic!("the client's certificate is not for the proxy") };
    assert!(head.starts_with("GET http://service.example/x HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nproxy-authorization: Basic dTpw\r\n"), "{head}");
}

#[tokio::test]
async fn a_proxy_that_is_not_trusted_is_named() {
    let proxy = Proxy::start(server().await).await;
    let stranger = Authority::new("another");
    let mut tls = TlsOptions::default();
    tls.roots = Roots::Only(vec![Pem::bytes(stranger.root())]);
    let through = transport(tls, Proxies::all(&proxy.url()).unwrap());
    for url in ["https://service.example/", "http://service.example/"] {
        let error = ask(&through, url).await.unwrap_err();
        let expected = format!(
            "no connection to {url}: no connection to the proxy {}: the certificate is not issued by a trusted \
             authority",
            proxy.address
        );
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Connect, expected));
    }
}

/// It accepts connections and sends nothing.
#[tokio::test]
async fn a_proxy_that_is_silent_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let through = transport(options(), Proxies::all(&format!("https://{address}")).unwrap());
    for url in ["https://service.example/", "http://service.example/"] {
        let begun = Instant::now();
        let error = ask(&through, url).await.unwrap_err();
        let expected =
            format!("no connection to {url}: no connection to the proxy {address}: no TLS handshake within 1s");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Connect, expected));
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }
}

/// The environment is read in a separate process.
#[tokio::test]
async fn the_environment_may_name_a_proxy_over_tls() {
    const NAME: &str = "the_environment_may_name_a_proxy_over_tls";
    const ROOT: &str = "CASTILE_TEST_ROOT";
    if let Ok(root) = std::env::var(ROOT) {
        let mut tls = TlsOptions::default();
        tls.roots = Roots::Only(vec![Pem::bytes(root)]);
        tls.server_name = Some("inner.example".to_owned());
        let through = transport(tls, Proxies::from_environment());
        assert_eq!(ask(&through, "https://service.example/x").await.unwrap(), "nobody");
        return;
    }
    let proxy = Proxy::start(server().await).await;
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", NAME]).env(ROOT, AUTHORITY.root());
    child.env("HTTPS_PROXY", proxy.url()).env_remove("https_proxy").env_remove("NO_PROXY").env_remove("no_proxy");
    let output = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(proxy.seen().len(), 1);
}
