//! TLS on both sides: who is trusted, what the peer's certificate shows, and that nobody is blocked.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "support/authority.rs"]
mod authority;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use authority::{Authority, Issued};
use bytes::Bytes;
use castile_http::client::{self, Roots, TlsOptions as ClientOptions, Transport};
use castile_http::server::{
    ClientCertificates, ClientRoots, Exchange, HandshakeFailure, Listener, Observer, ProxyProtocol, Server, Shutdown,
    Tls, TlsOptions, TlsPeer,
};
use castile_http::tls::{Identity, Pem, TlsVersion};
use castile_http::{Body, Error, ErrorKind};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, HandshakeKind, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tower_service::Service;

static AUTHORITY: LazyLock<Authority> = LazyLock::new(|| Authority::new("authority"));
static OTHER_AUTHORITY: LazyLock<Authority> = LazyLock::new(|| Authority::new("another"));
static LOCALHOST: LazyLock<Issued> = LazyLock::new(|| AUTHORITY.issue("localhost", |_| {}));
static CLIENT: LazyLock<Issued> = LazyLock::new(|| AUTHORITY.issue("client", |_| {}));
const REVOKED: u64 = 77;

/// The answer for a client without a certificate that requested localhost.
const ANONYMOUS: &str = "Some((Some(\"localhost\"), None))";

/// Reports the client: the server name it requested, and whether its certificate, if any, is the expected one. `/slow`
/// signals its arrival and takes a while. A POST is echoed.
#[derive(Clone, Default)]
struct Tell {
    came: Arc<Notify>,
}

impl Service<Request<Incoming>> for Tell {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let is_slow = request.uri().path() == "/slow";
        let came = self.came.clone();
        let peer = request.extensions().get::<TlsPeer>().cloned();
        Box::pin(async move {
            if is_slow {
                came.notify_one();
                sleep(Duration::from_millis(300)).await;
            }
            if request.method() == Method::POST {
                let posted = request.into_body().collect().await.unwrap().to_bytes();
                return Ok(Response::new(Full::from(posted)));
            }
            let is_expected = |peer: &TlsPeer| peer.certificates().next().map(|found| found == CLIENT.der);
            let seen = peer.as_ref().map(|peer| (peer.server_name(), is_expected(peer)));
            Ok(Response::new(Full::from(format!("{seen:?}"))))
        })
    }
}

/// A running server.
struct Host {
    address: SocketAddr,
    tell: Tell,
    stop: Option<oneshot::Sender<()>>,
    server: JoinHandle<Shutdown>,
}

impl Host {
    async fn start(tls: &Tls) -> Self {
        Host::start_with(Server::new(), tls).await
    }

    async fn start_with(server: Server, tls: &Tls) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let end = async move {
            let _ = stopped.await;
        };
        let tell = Tell::default();
        let server = tokio::spawn(server.serve(tls.listen(listener), tell.clone(), end));
        Host { address, tell, stop: Some(stop), server }
    }

    fn url(&self, host: &str) -> String {
        format!("https://{host}:{}/", self.address.port())
    }

    /// Makes a connection with a TLS handshake. Returns the reason if that fails.
    async fn connect(&self, config: &Arc<ClientConfig>) -> Result<TlsStream<TcpStream>, String> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(config.clone()).connect(name, stream).await.map_err(|error| error.to_string())
    }
}

fn identity(issued: &Issued) -> Identity {
    Identity::new(Pem::bytes(&issued.chain), Pem::bytes(&issued.key))
}

fn tls(change: impl FnOnce(&mut TlsOptions)) -> Tls {
    let mut options = TlsOptions::new(identity(&LOCALHOST));
    change(&mut options);
    Tls::with_options(options).unwrap()
}

/// Creates a transport that trusts the authority.
fn transport(change: impl FnOnce(&mut ClientOptions)) -> Transport {
    let mut tls = ClientOptions::default();
    tls.roots = Roots::Only(vec![Pem::bytes(AUTHORITY.root())]);
    change(&mut tls);
    let mut options = client::Options::default();
    options.tls = client::Tls::with_options(tls).unwrap();
    Transport::with_options(options)
}

async fn ask(transport: &Transport, url: &str) -> Result<String, Error> {
    let request = Request::get(url).body(Body::from(Bytes::new())).unwrap();
    let response = transport.clone().call(request).await?;
    let body = response.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(body.to_vec()).unwrap())
}

/// Returns the configuration of a plain rustls client, for one version.
fn config(version: &'static rustls::SupportedProtocolVersion) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(LOCALHOST_ROOT.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[version]).unwrap();
    Arc::new(builder.with_root_certificates(roots).with_no_client_auth())
}

static LOCALHOST_ROOT: LazyLock<CertificateDer<'static>> =
    LazyLock::new(|| CertificateDer::from_pem_slice(AUTHORITY.root().as_bytes()).unwrap());

/// Sends a request over a connection and returns the body of its answer.
async fn get(stream: &mut TlsStream<TcpStream>) -> Result<String, String> {
    stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.map_err(|error| error.to_string())?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.map_err(|error| error.to_string())?);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    stream.read_exact(&mut body).await.map_err(|error| error.to_string())?;
    Ok(String::from_utf8(body).unwrap())
}

const TLS12: &rustls::SupportedProtocolVersion = &rustls::version::TLS12;
const TLS13: &rustls::SupportedProtocolVersion = &rustls::version::TLS13;

#[tokio::test]
async fn both_tls_versions_are_supported() {
    let host = Host::start(&tls(|_| {})).await;
    for version in [TLS12, TLS13] {
        let mut stream = host.connect(&config(version)).await.unwrap();
        assert_eq!(stream.get_ref().1.protocol_version(), Some(version.version));
        assert_eq!(get(&mut stream).await.unwrap(), ANONYMOUS);
    }
    let host = Host::start(&tls(|options| options.min_version = TlsVersion::Tls13)).await;
    assert!(host.connect(&config(TLS13)).await.is_ok());
    let error = host.connect(&config(TLS12)).await.unwrap_err();
    assert!(error.contains("ProtocolVersion"), "{error}");
}

#[tokio::test]
async fn the_first_line_of_the_error_states_why_a_client_does_not_trust() {
    let expired = |params: &mut rcgen::CertificateParams| {
        params.not_before = rcgen::date_time_ymd(2001, 1, 1);
        params.not_after = rcgen::date_time_ymd(2002, 1, 1);
    };
    let cases = [
        (AUTHORITY.issue("b.example", |_| {}), "the certificate is for \"b.example\", expected \"localhost\""),
        (
            AUTHORITY.issue("localhost", expired),
            "the certificate expired at Tue, 01 Jan 2002 00:00:00 GMT, and the current time is ",
        ),
        (OTHER_AUTHORITY.issue("localhost", |_| {}), "the certificate is not issued by a trusted authority"),
    ];
    for (issued, expected) in cases {
        let host = Host::start(&tls(|options| options.identity = identity(&issued))).await;
        let url = host.url("localhost");
        let error = ask(&transport(|_| {}), &url).await.unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with(&format!("no connection to {url}: {expected}")), "{message}");
        assert_eq!(error.kind(), ErrorKind::Connect);
    }
}

#[tokio::test]
async fn a_client_may_expect_another_name_and_more_roots() {
    let issued = OTHER_AUTHORITY.issue("b.example", |_| {});
    let host = Host::start(&tls(|options| options.identity = identity(&issued))).await;
    let transport = transport(|options| {
        options.server_name = Some("b.example".to_owned());
        options.roots = Roots::Only(vec![Pem::bytes(AUTHORITY.root()), Pem::bytes(OTHER_AUTHORITY.root())]);
    });
    assert_eq!(ask(&transport, &host.url("127.0.0.1")).await.unwrap(), "Some((Some(\"b.example\"), None))");
    // An IP address is not sent as a server name (RFC 6066 §3), but a certificate may contain it.
    let issued = AUTHORITY.issue("127.0.0.1", |_| {});
    let host = Host::start(&tls(|options| options.identity = identity(&issued))).await;
    assert_eq!(ask(&self::transport(|_| {}), &host.url("127.0.0.1")).await.unwrap(), "Some((None, None))");
}

#[tokio::test]
async fn the_platforms_roots_may_be_extended() {
    let host = Host::start(&tls(|_| {})).await;
    let transport = transport(|options| options.roots = Roots::PlatformAnd(vec![Pem::bytes(AUTHORITY.root())]));
    assert_eq!(ask(&transport, &host.url("localhost")).await.unwrap(), ANONYMOUS);
    // No platform trusts this authority.
    let error = ask(&Transport::new(), &host.url("localhost")).await.unwrap_err().to_string();
    assert!(error.contains(": the certificate is not issued by a trusted authority"), "{error}");
}

/// Certificates made by `openssl req -x509`, or by servers for themselves, declare themselves an authority. Regression:
/// "Other(OtherError(CaUsedAsEndEntity))".
#[tokio::test]
async fn a_certificate_that_is_its_own_authority_is_trusted_if_it_is_named() {
    let own = |until: i32| {
        let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Issued { der: certificate.der().to_vec(), chain: certificate.pem(), key: key.serialize_pem() }
    };
    let (good, expired) = (own(4000), own(2000));
    let host = Host::start(&tls(|options| options.identity = identity(&good))).await;
    for roots in [Roots::Only, Roots::PlatformAnd] {
        let named = transport(|options| options.roots = roots(vec![Pem::bytes(&good.chain)]));
        assert_eq!(ask(&named, &host.url("localhost")).await.unwrap(), ANONYMOUS);
        let error = ask(&named, &host.url("127.0.0.1")).await.unwrap_err().to_string();
        assert!(error.contains(": the certificate is for \"localhost\", expected \"127.0.0.1\""), "{error}");
    }
    let error = ask(&transport(|_| {}), &host.url("localhost")).await.unwrap_err().to_string();
    assert!(
        error.contains(": the certificate is that of an authority, which is only accepted for a server"),
        "{error}"
    );

    let host = Host::start(&tls(|options| options.identity = identity(&expired))).await;
    let named = transport(|options| options.roots = Roots::Only(vec![Pem::bytes(&expired.chain)]));
    let error = ask(&named, &host.url("localhost")).await.unwrap_err().to_string();
    assert!(error.contains(": the certificate expired at "), "{error}");
}

#[tokio::test]
async fn certificates_of_clients_are_checked() {
    let roots =
        || ClientRoots::new(Pem::bytes(AUTHORITY.root())).revocation_lists(Pem::bytes(AUTHORITY.revoke(REVOKED)));
    let revoked = AUTHORITY.issue("client", |params| params.serial_number = Some(REVOKED.into()));
    let stranger = OTHER_AUTHORITY.issue("client", |_| {});
    let clients = [
        (Some(&*CLIENT), None),
        (None, Some("CertificateRequired: it expects a client certificate and got none")),
        (Some(&revoked), Some("CertificateRevoked: our certificate is revoked")),
        (Some(&stranger), Some("UnknownCA: our certificate is not issued by an authority that it trusts")),
    ];
    for (is_required, client_certificates) in
        [(true, ClientCertificates::Required(roots())), (false, ClientCertificates::Optional(roots()))]
    {
        let host = Host::start(&tls(|options| options.client_certificates = client_certificates)).await;
        for (client, refused) in clients {
            let transport = transport(|options| options.identity = client.map(identity));
            let answer = ask(&transport, &host.url("localhost")).await.map_err(|error| error.to_string());
            match refused {
                Some(refused) if client.is_some() || is_required => {
                    let error = answer.unwrap_err();
                    assert!(error.ends_with(&format!("the other end sent the alert {refused}")), "{error}");
                }
                _ if client.is_some() => assert_eq!(answer.unwrap(), "Some((Some(\"localhost\"), Some(true)))"),
                _ => assert_eq!(answer.unwrap(), ANONYMOUS),
            }
        }
    }
}

/// The files of an identity, which change during the test.
struct Files(tempfile::TempDir);

impl Files {
    fn new(issued: &Issued) -> Self {
        let files = Files(tempfile::tempdir().unwrap());
        files.write(issued);
        files
    }

    fn write(&self, issued: &Issued) {
        std::fs::write(self.0.path().join("chain.pem"), &issued.chain).unwrap();
        std::fs::write(self.0.path().join("key.pem"), &issued.key).unwrap();
    }

    fn identity(&self) -> Identity {
        Identity::new(Pem::file(self.0.path().join("chain.pem")), Pem::file(self.0.path().join("key.pem")))
    }
}

#[tokio::test]
async fn a_reload_drops_no_connection_and_no_session() {
    let files = Files::new(&LOCALHOST);
    let tls = tls(|options| options.identity = files.identity());
    let host = Host::start(&tls).await;
    for version in [TLS12, TLS13] {
        files.write(&LOCALHOST);
        let _ = tls.reload();
        let config = config(version);
        let mut open = host.connect(&config).await.unwrap();
        assert_eq!(open.get_ref().1.handshake_kind(), Some(HandshakeKind::Full));
        get(&mut open).await.unwrap();

        let renewed = AUTHORITY.issue("localhost", |_| {});
        files.write(&renewed);
        assert!(tls.reload().unwrap());
        assert!(!tls.reload().unwrap(), "nothing changed");

        get(&mut open).await.unwrap();
        let mut resumed = host.connect(&config).await.unwrap();
        get(&mut resumed).await.unwrap();
        assert_eq!(resumed.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
        let fresh = host.connect(&self::config(version)).await.unwrap();
        assert_eq!(fresh.get_ref().1.peer_certificates().unwrap()[0].as_ref(), renewed.der);
    }
}

#[tokio::test]
async fn a_broken_file_leaves_what_was_loaded() {
    let files = Files::new(&LOCALHOST);
    let tls = tls(|options| options.identity = files.identity());
    let host = Host::start(&tls).await;
    let key = files.0.path().join("key.pem");
    std::fs::write(&key, AUTHORITY.issue("localhost", |_| {}).key).unwrap();
    let error = tls.reload().unwrap_err();
    let chain = files.0.path().join("chain.pem");
    let expected =
        format!("the private key in {} is not that of the certificate in {}", key.display(), chain.display());
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::Tls, expected));
    std::fs::write(&key, "").unwrap();
    let expected = format!("found no private key that is not encrypted in {}: it contains nothing", key.display());
    assert_eq!(tls.reload().unwrap_err().to_string(), expected);
    assert!(host.connect(&config(TLS13)).await.is_ok());
}

/// A ticket contains the certificate of its client, which may no longer be valid.
#[tokio::test]
async fn revoked_clients_can_not_resume_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("revoked.pem");
    let write = |serial| std::fs::write(&list, AUTHORITY.revoke(serial)).unwrap();
    write(1);
    let roots = ClientRoots::new(Pem::bytes(AUTHORITY.root())).revocation_lists(Pem::file(&list));
    let tls = tls(|options| options.client_certificates = ClientCertificates::Required(roots));
    let host = Host::start(&tls).await;
    let client = AUTHORITY.issue("client", |params| params.serial_number = Some(REVOKED.into()));
    let mut roots = RootCertStore::empty();
    roots.add(LOCALHOST_ROOT.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(
            vec![CertificateDer::from(client.der)],
            rustls::pki_types::PrivateKeyDer::from_pem_slice(client.key.as_bytes()).unwrap(),
        )
        .unwrap();
    let config = Arc::new(config);
    for expected in [HandshakeKind::Full, HandshakeKind::Resumed] {
        let mut stream = host.connect(&config).await.unwrap();
        get(&mut stream).await.unwrap();
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(expected));
    }
    write(REVOKED);
    assert!(tls.reload().unwrap());
    let mut resumed = host.connect(&config).await.unwrap();
    assert_eq!(get(&mut resumed).await.unwrap(), "the certificate is revoked\n");
    assert_eq!(resumed.get_ref().1.handshake_kind(), Some(HandshakeKind::Resumed));
    // The client must send a certificate again, which may be a new one.
    let refused = match host.connect(&config).await {
        Ok(mut stream) => get(&mut stream).await,
        Err(error) => Err(error),
    };
    assert!(refused.unwrap_err().contains("CertificateRevoked"));
}

/// A connection stores the certificates of its client.
#[tokio::test]
async fn a_client_shows_few_certificates() {
    let roots = ClientRoots::new(Pem::bytes(AUTHORITY.root()));
    let host =
        Host::start(&tls(|options| options.client_certificates = ClientCertificates::Required(roots.clone()))).await;
    for (more, is_taken) in [(9, true), (10, false)] {
        let chain = CLIENT.chain.clone() + &AUTHORITY.root().repeat(more);
        let identity = Identity::new(Pem::bytes(chain), Pem::bytes(&CLIENT.key));
        let answer = ask(&transport(|options| options.identity = Some(identity)), &host.url("localhost")).await;
        assert_eq!(answer.is_ok(), is_taken, "{answer:?}");
    }
}

/// Regression: ten certificates with one name made the search for a chain take seconds, on both sides.
#[tokio::test]
async fn certificates_of_one_name_are_not_searched() {
    let alike = || {
        let mut params = rcgen::CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "one name");
        let key = rcgen::KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().pem()
    };
    let roots = ClientRoots::new(Pem::bytes(AUTHORITY.root()));
    let host = Host::start(&tls(|options| options.client_certificates = ClientCertificates::Required(roots))).await;
    for (count, is_taken) in [(0, true), (2, true), (3, false), (9, false)] {
        // The correct chain comes first.
        let chain = CLIENT.chain.clone() + &(0..count).map(|_| alike()).collect::<String>();
        let identity = Identity::new(Pem::bytes(chain), Pem::bytes(&CLIENT.key));
        let answer = ask(&transport(|options| options.identity = Some(identity)), &host.url("localhost")).await;
        assert_eq!(answer.is_ok(), is_taken, "{count}: {answer:?}");
    }
    let issued = AUTHORITY.issue("localhost", |_| {});
    for (count, expected) in [(2, None), (3, Some("found more than 2 certificates of issuers with the same name"))] {
        let chain = issued.chain.clone() + &(0..count).map(|_| alike()).collect::<String>();
        let own = Identity::new(Pem::bytes(chain), Pem::bytes(&issued.key));
        let host = Host::start(&tls(|options| options.identity = own)).await;
        let answer = ask(&transport(|_| {}), &host.url("localhost")).await.map_err(|error| error.to_string());
        match expected {
            None => assert!(answer.is_ok(), "{answer:?}"),
            Some(expected) => assert!(answer.clone().unwrap_err().contains(expected), "{answer:?}"),
        }
    }
}

#[tokio::test]
async fn plain_http_is_answered_in_plain_http() {
    let host = Host::start(&tls(|_| {})).await;
    let mut stream = TcpStream::connect(host.address).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\n\r\n<a/>").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{head}");
    assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
    assert_eq!(body, "found plain HTTP, expected TLS: this port is for https://\n");
    let error = ask(&transport(|_| {}), &host.url("localhost").replace("https", "http")).await.unwrap();
    assert_eq!(error, body);
}

/// Collects the reasons of failed handshakes.
#[derive(Clone, Default)]
struct Failures(Arc<Mutex<Vec<String>>>);

impl Observer for Failures {
    fn observe(&self, _: &Exchange<'_>) {}

    fn handshake_failed(&self, failure: &HandshakeFailure<'_>) {
        let HandshakeFailure { peer, reason, .. } = failure;
        let peer = peer.map_or("-".to_owned(), |peer| peer.to_string());
        self.0.lock().unwrap().push(format!("{peer}: {reason}"));
    }
}

#[tokio::test]
async fn failed_handshakes_are_reported() {
    let failures = Failures::default();
    let limit = Duration::from_secs(3);
    let server = Server::new().header_read_timeout(limit).observer(failures.clone());
    let roots = ClientRoots::new(Pem::bytes(AUTHORITY.root()));
    let tls = tls(|options| options.client_certificates = ClientCertificates::Required(roots));
    let host = Host::start_with(server, &tls).await;
    let told = async |expected: &str| {
        for _ in 0..1_000 {
            if let Some(found) = failures.0.lock().unwrap().pop() {
                assert_eq!(found, format!("127.0.0.1: {expected}"));
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("nothing was told, expected {expected:?}");
    };
    let mut plain = TcpStream::connect(host.address).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    plain.read_to_end(&mut Vec::new()).await.unwrap();
    drop(plain);
    told("found plain HTTP, expected TLS").await;
    let mut gone = TcpStream::connect(host.address).await.unwrap();
    gone.write_all(b"\x16\x03\x01").await.unwrap();
    drop(gone);
    told("the client closed the connection during the handshake").await;
    let silent = TcpStream::connect(host.address).await.unwrap();
    told("it was not done in time").await;
    drop(silent);
    ask(&transport(|_| {}), &host.url("localhost")).await.unwrap_err();
    told("found no client certificate, expected one").await;
    let identity = Some(identity(&CLIENT));
    ask(&transport(|tls| tls.identity = identity), &host.url("localhost")).await.unwrap();
    assert_eq!(*failures.0.lock().unwrap(), [""; 0]);
}

#[cfg(feature = "metrics")]
#[tokio::test]
async fn handshakes_that_fail_are_counted_and_logged() {
    let metrics = castile_http::server::Metrics::new();
    let file = tempfile::NamedTempFile::new().unwrap();
    let log = castile_http::server::AccessLog::text(file.reopen().unwrap()).unwrap();
    let host = Host::start_with(Server::new().observer(metrics.clone()).observer(log), &tls(|_| {})).await;
    let mut gone = TcpStream::connect(host.address).await.unwrap();
    gone.write_all(b"\x16\x03\x01").await.unwrap();
    drop(gone);
    let mut line = String::new();
    for _ in 0..500 {
        line = std::fs::read_to_string(file.path()).unwrap();
        if line.ends_with('\n') {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    assert!(
        line.ends_with("Z 127.0.0.1 TLS handshake failed: the client closed the connection during the handshake\n"),
        "{line}"
    );
    let counted = metrics.encode();
    assert!(counted.contains("\ncastile_tls_handshake_failures_total 1\n"), "{counted}");
    assert!(!counted.contains("\ncastile_requests_total{"), "{counted}");
}

/// Regression: behind a proxy, failures had no client address, and the health check of a proxy was reported as a
/// failure.
#[tokio::test]
async fn failed_handshakes_behind_a_proxy_are_reported() {
    let failures = Failures::default();
    let server = Server::new().header_read_timeout(Duration::from_secs(3)).observer(failures.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = tls(|_| {}).listen(ProxyProtocol::new(listener, ["127.0.0.1"]).unwrap());
    tokio::spawn(server.serve(listener, Tell::default(), std::future::pending()));
    let header = "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n";
    for (sent, expected) in [
        ("GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_owned(), &[][..]),
        (format!("{header}GET / HTTP/1.1\r\nhost: a\r\n\r\n"), &["192.0.2.1: found plain HTTP, expected TLS"]),
        (header.to_owned(), &["192.0.2.1: it was not done in time"]),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
        drop(stream);
        // The report comes before the connection is closed, or a moment later.
        sleep(Duration::from_millis(100)).await;
        assert_eq!(std::mem::take(&mut *failures.0.lock().unwrap()), expected, "{sent}");
    }
    drop(TcpStream::connect(address).await.unwrap());
    sleep(Duration::from_millis(100)).await;
    assert_eq!(*failures.0.lock().unwrap(), [""; 0]);
    // TLS to the proxy, which forwards the decrypted bytes.
    let server = Server::new().observer(failures.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = ProxyProtocol::new(tls(|_| {}).listen(listener), ["127.0.0.1"]).unwrap();
    tokio::spawn(server.serve(listener, Tell::default(), std::future::pending()));
    drop(TcpStream::connect(address).await.unwrap());
    for _ in 0..500 {
        if !failures.0.lock().unwrap().is_empty() {
            break;
        }
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(*failures.0.lock().unwrap(), ["-: the client closed the connection during the handshake"]);
}

#[tokio::test]
async fn tls_to_a_plain_port_is_recognised() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    tokio::spawn(Server::new().serve(listener, Tell::default(), std::future::pending()));
    let error = ask(&transport(|_| {}), &url).await.unwrap_err();
    assert_eq!(error.to_string(), format!("no connection to {url}: found plain HTTP, expected TLS"));
}

#[tokio::test]
async fn bytes_that_are_no_tls_end_the_connection() {
    let host = Host::start(&tls(|_| {})).await;
    for bytes in [&[0_u8; 64][..], &[0x16; 64], b"\x16\x03\x01\x00\x09\x01\x00\x00\x05garba"] {
        let mut stream = TcpStream::connect(host.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        // An alert (RFC 8446 §6).
        assert_eq!(answer.first(), Some(&0x15), "{bytes:?}");
    }
}

/// A peer that is silent, or begins a handshake and stops, has only the time limit of a head.
#[tokio::test]
async fn a_silent_client_does_not_delay_others() {
    let limit = Duration::from_secs(3);
    let host = Host::start_with(Server::new().header_read_timeout(limit), &tls(|_| {})).await;
    let begun = Instant::now();
    let mut silent = Vec::new();
    for begun in [&b""[..], b"\x16", b"\x16\x03\x01\x02\x00\x01", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"] {
        let mut stream = TcpStream::connect(host.address).await.unwrap();
        stream.write_all(begun).await.unwrap();
        silent.push(stream);
    }
    // This one completes the handshake and sends nothing more.
    let mut open = host.connect(&config(TLS13)).await.unwrap();
    ask(&transport(|_| {}), &host.url("localhost")).await.unwrap();
    assert!(begun.elapsed() < limit, "{:?}", begun.elapsed());
    for stream in &mut silent {
        let closed = timeout(limit * 10, stream.read_to_end(&mut Vec::new())).await;
        assert!(closed.is_ok());
    }
    // The server sends a close alert. Without it TLS would report an error.
    let closed = timeout(limit * 10, open.read_to_end(&mut Vec::new())).await.unwrap();
    assert_eq!(closed.unwrap(), 0);
}

#[tokio::test]
async fn a_handshake_makes_way_for_a_newcomer() {
    let failures = Failures::default();
    let server = Server::new().max_connections(2).observer(failures.clone());
    let mut host = Host::start_with(server, &tls(|_| {})).await;
    let mut silent = Vec::new();
    for _ in 0..2 {
        silent.push(TcpStream::connect(host.address).await.unwrap());
    }
    let answer = timeout(Duration::from_secs(5), ask(&transport(|_| {}), &host.url("localhost"))).await;
    assert_eq!(answer.unwrap().unwrap(), ANONYMOUS);
    // One of them is still there, and is dropped for the shutdown. Neither was late.
    host.stop.take().unwrap().send(()).unwrap();
    assert!(host.server.await.unwrap().is_complete());
    assert_eq!(*failures.0.lock().unwrap(), [""; 0]);
}

#[tokio::test]
async fn a_shutdown_finishes_what_is_at_work() {
    let mut host = Host::start(&tls(|_| {})).await;
    let (transport, url) = (transport(|_| {}), host.url("localhost"));
    let slow = tokio::spawn(async move { ask(&transport, &format!("{url}slow")).await });
    host.tell.came.notified().await;
    host.stop.take().unwrap().send(()).unwrap();
    assert_eq!(slow.await.unwrap().unwrap(), ANONYMOUS);
    assert!(host.server.await.unwrap().is_complete());
}

#[tokio::test]
async fn connections_are_reused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let accepted = Arc::new(AtomicUsize::new(0));
    let listener = Counted { listener, accepted: accepted.clone() };
    tokio::spawn(Server::new().serve(tls(|_| {}).listen(listener), Tell::default(), std::future::pending()));
    let transport = transport(|_| {});
    for _ in 0..3 {
        ask(&transport, &url).await.unwrap();
    }
    assert_eq!(accepted.load(Relaxed), 1);
}

/// A listener that counts what it accepts.
struct Counted {
    listener: TcpListener,
    accepted: Arc<AtomicUsize>,
}

impl Listener for Counted {
    type Connection = TcpStream;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<TcpStream>> {
        let accepted = Listener::poll_accept(&mut self.listener, cx);
        self.accepted.fetch_add(usize::from(accepted.is_ready()), Relaxed);
        accepted
    }
}

/// Many TLS records in both directions, more than any buffer holds.
#[tokio::test]
async fn large_bodies_come_through() {
    let host = Host::start(&tls(|_| {})).await;
    let sent: Vec<u8> = (0..4 << 20_u32).map(|number| ((number * 7) >> 3) as u8).collect();
    let request = Request::post(host.url("localhost")).body(Body::from(Bytes::from(sent.clone()))).unwrap();
    let response = transport(|_| {}).call(request).await.unwrap();
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), sent);
}

#[tokio::test]
async fn unusable_files_are_named() {
    let wrong = Pem::bytes("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let mut options = TlsOptions::new(identity(&LOCALHOST));
    options.client_certificates = ClientCertificates::Required(ClientRoots::new(wrong.clone()));
    let error = Tls::with_options(options).unwrap_err().to_string();
    assert_eq!(error, "item 1 in PEM of 59 bytes can't be used: expected an X.509 certificate in DER");

    let mut options = ClientOptions::default();
    options.server_name = Some("a b".to_owned());
    let error = client::Tls::with_options(options.clone()).unwrap_err().to_string();
    assert_eq!(error, "found the server name \"a b\", expected a DNS name or an address");
    options.server_name = None;
    options.roots = Roots::Only(Vec::new());
    let error = client::Tls::with_options(options).unwrap_err().to_string();
    assert_eq!(error, "found no root certificate, expected at least one");
}

/// The handshake counts as connecting.
#[tokio::test]
async fn a_server_that_never_answers_the_handshake_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let mut tls = ClientOptions::default();
    tls.roots = Roots::Only(vec![Pem::bytes(AUTHORITY.root())]);
    let mut options = client::Options::default();
    options.tls = client::Tls::with_options(tls).unwrap();
    options.connect_timeout = Duration::from_secs(1);
    let error = ask(&Transport::with_options(options), &url).await.unwrap_err();
    assert_eq!(error.to_string(), format!("no connection to {url}: no TLS handshake within 1s"));
    assert_eq!(error.kind(), ErrorKind::Connect);
}

/// A typing error in the scheme must not send a message unencrypted.
#[tokio::test]
async fn only_http_and_https_are_supported() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(Server::new().serve(listener, Tell::default(), std::future::pending()));
    for scheme in ["htpps", "wss"] {
        let url = format!("{scheme}://localhost:{port}/");
        let error = ask(&transport(|_| {}), &url).await.unwrap_err();
        let expected = format!("no connection to {url}: found the scheme {scheme:?}, expected http or https");
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(ask(&transport(|_| {}), &format!("HTTP://localhost:{port}/")).await.unwrap(), "None");
}

/// Headers of the PROXY protocol that name a client.
const V1: &[u8] = b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x02\xc6\x33\x64\x01\0\x01\0\x02";

/// Starts a server behind a TCP proxy that reports its clients and passes TLS through.
async fn behind_a_proxy(server: Server) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = tls(|_| {}).listen(ProxyProtocol::new(listener, ["127.0.0.1"]).unwrap());
    tokio::spawn(server.serve(listener, Tell::default(), std::future::pending()));
    address
}

/// A handshake costs the server more than the client.
#[tokio::test]
async fn handshakes_count_for_the_client_that_a_proxy_names() {
    let address = behind_a_proxy(Server::new().max_connections_per_peer(2)).await;
    let begin = async |begun: &[u8]| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(begun).await.unwrap();
        stream
    };
    // One is silent, and one is in its handshake.
    let _silent = begin(V1).await;
    let _begun = begin(&[V1, b"\x16\x03\x01\x02\0\x01"].concat()).await;
    sleep(Duration::from_millis(100)).await;
    for begun in [V1, &[V1, b"\x16\x03\x01\x02\0\x01"].concat()] {
        let mut third = begin(begun).await;
        let ended = timeout(Duration::from_secs(3), third.read(&mut [0; 100])).await;
        assert!(matches!(ended, Ok(Ok(0) | Err(_))), "{ended:?}");
    }
    // Other clients are not blocked.
    let mut stream = begin(V2).await;
    let name = ServerName::try_from("localhost").unwrap();
    let shaken = TlsConnector::from(config(&rustls::version::TLS13)).connect(name, &mut stream);
    timeout(Duration::from_secs(3), shaken).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_client_of_a_failed_handshake_behind_a_proxy_is_reported() {
    let failures = Failures::default();
    let told = async || {
        for _ in 0..500 {
            if let Some(found) = failures.0.lock().unwrap().pop() {
                return found;
            }
            sleep(Duration::from_millis(10)).await;
        }
        panic!("nothing was told");
    };
    let address = behind_a_proxy(Server::new().observer(failures.clone())).await;
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(&[V1, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"].concat()).await.unwrap();
    plain.read_to_end(&mut Vec::new()).await.unwrap();
    drop(plain);
    assert_eq!(told().await, "192.0.2.1: found plain HTTP, expected TLS");

    // If the proxy reports the client within its own TLS, the client is not known yet.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let listener = ProxyProtocol::new(tls(|_| {}).listen(listener), ["127.0.0.1"]).unwrap();
    let server = Server::new().observer(failures.clone());
    tokio::spawn(server.serve(listener, Tell::default(), std::future::pending()));
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    plain.read_to_end(&mut Vec::new()).await.unwrap();
    drop(plain);
    assert_eq!(told().await, "-: found plain HTTP, expected TLS");
}
