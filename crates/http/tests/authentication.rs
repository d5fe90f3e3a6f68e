//! Endpoints that authenticate clients, and clients with credentials.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use castile_http::client::{self, Credentials, Proxies, Transport};
use castile_http::server::{Authentication, Endpoint, Options, Routes, Server};
use castile_http::{Error, ErrorKind};
use castile_soap::{Description, Layer, ReplyMessage, RequestMessage, Service, Version};
use futures_util::future::BoxFuture;
use http::{Request, StatusCode, Uri, header};
use http_body_util::Full;
use support::{Host, ask, echo, echo_with};
use tokio::net::TcpListener;

#[derive(Clone)]
struct Caller(String);

/// Answers with the identity of the client.
struct Who;

static DESCRIPTION: Description = Description::new("Who", "urn:who", &[]);

impl Service for Who {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn call(&self, request: RequestMessage, _: &castile_soap::Options) -> BoxFuture<'static, ReplyMessage> {
        let Caller(name) = request.extensions.get().cloned().unwrap();
        Box::pin(async move { ReplyMessage::new(request.version, Bytes::from(name)) })
    }
}

fn basic() -> Authentication {
    Authentication::basic("a \"realm\"", |user: String, password: String| async move {
        (password == "open sesame").then_some(Caller(user))
    })
}

fn bearer() -> Authentication {
    Authentication::bearer("r", |token: String| async move { (token == "good").then(|| Caller("token".into())) })
}

async fn password(user: String) -> Option<(String, Caller)> {
    matches!(&*user, "Mufasa" | "Jäsøn Doe").then(|| ("Circle of Life".to_owned(), Caller(user)))
}

fn digest() -> Authentication {
    Authentication::digest("r", password)
}

async fn asked(authentication: &Authentication, credentials: &[&str]) -> (StatusCode, Vec<String>, String) {
    let mut options = Options::default();
    options.authentication = Some(authentication.clone());
    let mut request = Request::post("/who?x").header("content-type", "text/xml");
    for value in credentials {
        request = request.header("authorization", *value);
    }
    let request = request.body(Full::new(Bytes::from("<a/>"))).unwrap();
    let response = ask(&Endpoint::with_options(Who, options), request).await;
    let challenges = response.headers().get_all(header::WWW_AUTHENTICATE).iter();
    let challenges = challenges.map(|value| value.to_str().unwrap().to_owned()).collect();
    (response.status(), challenges, response.into_body())
}

#[tokio::test]
async fn only_those_who_are_known_get_in() {
    let good = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==";
    let (status, _, body) = asked(&basic(), &[good]).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "Aladdin"));
    assert_eq!(asked(&basic(), &[&good.replace("Basic", "basic")]).await.0, StatusCode::OK);
    assert_eq!(asked(&bearer(), &["Bearer good"]).await.2, "token");
    for credentials in [
        &[][..],
        &[""],
        &["Basic"],
        &["Basic QWxhZGRpbjpvcGVuIHNlc2FtZ"],
        &["Basic !"],
        &["Basic QWxhZGRpbg=="],
        &["Basic QWxhZGRpbjpv"],
        &["Bearer good"],
        &[good, good],
    ] {
        let (status, challenges, body) = asked(&basic(), credentials).await;
        assert_eq!((status, body.as_str()), (StatusCode::UNAUTHORIZED, "found no valid credentials\n"));
        assert_eq!(challenges, ["Basic realm=\"a \\\"realm\\\"\", charset=\"UTF-8\""]);
    }
    assert_eq!(asked(&bearer(), &["Bearer bad"]).await.1, ["Bearer realm=\"r\""]);
    let long = format!("Bearer {}", "x".repeat(17 << 10));
    assert_eq!(asked(&bearer(), &[&long]).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn there_may_be_several_schemes() {
    let all = bearer().or(basic()).or(Authentication::digest_with_md5("r", password));
    assert_eq!(asked(&all, &["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]).await.2, "Aladdin");
    assert_eq!(asked(&all, &["Bearer good"]).await.2, "token");
    let (_, challenges, _) = asked(&all, &[]).await;
    let begins: Vec<_> = challenges.iter().map(|challenge| challenge.split(", nonce").next().unwrap()).collect();
    assert_eq!(
        begins,
        [
            "Bearer realm=\"r\"",
            "Basic realm=\"a \\\"realm\\\"\", charset=\"UTF-8\"",
            "Digest realm=\"r\", qop=\"auth\", algorithm=SHA-256",
            "Digest realm=\"r\", qop=\"auth\", algorithm=MD5",
        ]
    );
}

/// Regression: only the first of several schemes with one name was tried.
#[tokio::test]
async fn there_may_be_several_of_one_scheme() {
    let other =
        Authentication::bearer("o", |token: String| async move { (token == "old").then(|| Caller("o".into())) });
    let both = bearer().or(other);
    for (token, expected) in [("Bearer good", "token"), ("Bearer old", "o")] {
        assert_eq!(asked(&both, &[token]).await.2, expected);
    }
    let (status, challenges, _) = asked(&both, &["Bearer bad"]).await;
    assert_eq!((status.as_u16(), challenges), (401, vec!["Bearer realm=\"r\"".into(), "Bearer realm=\"o\"".into()]));
}

#[tokio::test]
async fn any_service_may_ask_who_its_clients_are() {
    let service = bearer().layer(Routes::new().health("/health"));
    let status = async |credentials: &str| {
        let request = Request::get("/health").header("authorization", credentials);
        ask(&service, request.body(Full::<Bytes>::default()).unwrap()).await.status().as_u16()
    };
    assert_eq!((status("Bearer good").await, status("Bearer bad").await), (200, 401));
    let request = Request::post("/health").body(Full::from("<a/>")).unwrap();
    let refused = ask(&service, request).await;
    assert_eq!(refused.headers()[header::WWW_AUTHENTICATE], "Bearer realm=\"r\"");
}

/// A realm can't end the header or put invalid characters into it.
#[tokio::test]
async fn a_realm_is_harmless() {
    let odd = Authentication::bearer("é\r\nx\"", |_| async { None::<Caller> });
    assert_eq!(asked(&odd, &[]).await.1, ["Bearer realm=\"???x\\\"\""]);
}

#[tokio::test]
async fn a_contract_is_shown_to_those_who_are_known() {
    let endpoint = echo_with(|options| options.authentication = Some(bearer()));
    let get = |token: Option<&str>| {
        let mut request = Request::get("/echo?wsdl").header("host", "h");
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        request.body(Full::<Bytes>::default()).unwrap()
    };
    assert_eq!(ask(&endpoint, get(None)).await.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(ask(&endpoint, get(Some("Bearer good"))).await.status(), StatusCode::OK);
    assert_eq!(ask(&echo(), get(None)).await.status(), StatusCode::OK);
}

/// The message of an unknown client is not read.
#[tokio::test]
async fn the_message_of_strangers_is_not_read() {
    let host = Host::start(Server::new(), echo_with(|options| options.authentication = Some(basic())));
    let mut client = host.connect();
    client.send("POST / HTTP/1.1\r\nhost: h\r\ncontent-type: text/xml\r\ncontent-length: 1000\r\n\r\n<").await;
    let (head, _) = client.response().await;
    assert!(head.starts_with("http/1.1 401 ") && head.contains("connection: close"), "{head}");
}

#[tokio::test(start_paused = true)]
async fn a_check_has_the_time_of_a_request() {
    let endpoint = echo_with(|options| {
        options.authentication = Some(Authentication::bearer("r", |_| std::future::pending::<Option<Caller>>()));
        options.request_timeout = Duration::from_secs(7);
    });
    let mut request = support::post("<a/>");
    request.headers_mut().insert("authorization", "Bearer x".parse().unwrap());
    assert_eq!(ask(&endpoint, request).await.status(), StatusCode::SERVICE_UNAVAILABLE);
}

async fn served(authentication: Authentication) -> Uri {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/who?x=1", listener.local_addr().unwrap()).parse().unwrap();
    let mut options = Options::default();
    options.authentication = Some(authentication);
    let routes = Routes::new().route("/who", Endpoint::with_options(Who, options));
    tokio::spawn(Server::new().serve(listener, routes, std::future::pending()));
    url
}

async fn called(url: &Uri, credentials: Credentials, times: u32) -> Result<Bytes, Error> {
    let mut options = client::Options::default();
    options.credentials = Some(credentials);
    options.proxies = Proxies::none();
    let transport = Transport::with_options(options);
    let mut last = Bytes::new();
    for _ in 0..times {
        let reply = client::call(transport.clone(), url, Version::Soap11, "", "<a/>", 100).await?;
        last = reply.received.message;
    }
    Ok(last)
}

#[tokio::test]
async fn our_client_gets_in_and_a_wrong_password_does_not() {
    for authentication in [digest(), Authentication::digest_with_md5("r", password)] {
        let url = served(authentication).await;
        for user in ["Mufasa", "Jäsøn Doe"] {
            assert_eq!(called(&url, Credentials::digest(user, "Circle of Life"), 3).await.unwrap(), user);
            let error = called(&url, Credentials::digest(user, "circle of life"), 1).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Status(StatusCode::UNAUTHORIZED));
        }
        assert!(called(&url, Credentials::digest("Scar", "Circle of Life"), 1).await.is_err());
    }
    let url = served(basic()).await;
    assert!(called(&url, Credentials::basic("ä:b", "open sesame"), 2).await.is_err());
    assert_eq!(called(&url, Credentials::basic("ä", "open sesame"), 2).await.unwrap(), "ä");
    let url = served(bearer()).await;
    assert_eq!(called(&url, Credentials::bearer("good").unwrap(), 2).await.unwrap(), "token");
}

/// Concurrent calls of one client may arrive out of order, and each is admitted.
#[tokio::test(flavor = "multi_thread")]
async fn calls_at_a_time_share_a_challenge() {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = asked.clone();
    let url = served(Authentication::digest("r", move |user| {
        counted.fetch_add(1, Ordering::Relaxed);
        password(user)
    }))
    .await;
    let mut options = client::Options::default();
    options.credentials = Some(Credentials::digest("Mufasa", "Circle of Life"));
    options.proxies = Proxies::none();
    let transport = Transport::with_options(options);
    client::call(transport.clone(), &url, Version::Soap11, "", "<a/>", 100).await.unwrap();
    let calls = (0..30).map(|_| client::call(transport.clone(), &url, Version::Soap11, "", "<a/>", 100));
    for result in futures_util::future::join_all(calls).await {
        assert_eq!(result.unwrap().received.message, "Mufasa");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 31);
}

/// A recorded proof can't be used again, for the same or another request.
#[tokio::test]
async fn a_proof_is_for_one_request() {
    let authentication = digest();
    let (_, challenges, _) = asked(&authentication, &[]).await;
    let nonce = challenges[0].split("nonce=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let proof = |method: &str, uri: &str, shown: &str, nc: &str| {
        use sha2::Digest;
        let hash =
            |text: String| sha2::Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let secret = hash("Mufasa:r:Circle of Life".to_owned());
        let request = hash(format!("{method}:{uri}"));
        let response = hash(format!("{secret}:{nonce}:{nc}:c:auth:{request}"));
        format!(
            "Digest username=\"Mufasa\", realm=\"r\", nonce=\"{nonce}\", uri=\"{shown}\", algorithm=SHA-256, \
             qop=auth, nc={nc}, cnonce=\"c\", response=\"{response}\""
        )
    };
    let good = proof("POST", "/who?x", "/who?x", "00000001");
    assert_eq!(asked(&authentication, &[&good]).await.0, StatusCode::OK);
    let (status, challenges, _) = asked(&authentication, &[&good]).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(challenges[0].ends_with(", stale=true"), "{challenges:?}");
    assert_eq!(asked(&authentication, &[&proof("POST", "/who?x", "/who?x", "00000002")]).await.0, StatusCode::OK);
    let whole = "http://host/who?x";
    assert_eq!(asked(&authentication, &[&proof("POST", whole, whole, "00000003")]).await.0, StatusCode::OK);
    for wrong in [
        proof("GET", "/who?x", "/who?x", "00000004"),
        proof("POST", "/who?y", "/who?y", "00000004"),
        proof("POST", "/who?y", "/who?x", "00000004"),
        proof("POST", "/who?x", "/who?x", "00000000"),
        proof("POST", "/who?x", "/who?x", "4"),
        proof("POST", "/who?x", "/who?x", "00000004").replace("qop=auth, ", ""),
        proof("POST", "/who?x", "/who?x", "00000004").replace("realm=\"r\"", "realm=\"s\""),
        proof("POST", "/who?x", "/who?x", "00000004").replace("algorithm=SHA-256", "algorithm=MD5"),
        proof("POST", "/who?x", "/who?x", "00000004").replace(&nonce, "bm9uZQ"),
        format!("{}, Basic x", proof("POST", "/who?x", "/who?x", "00000004")),
    ] {
        assert_eq!(asked(&authentication, &[&wrong]).await.0, StatusCode::UNAUTHORIZED, "{wrong}");
    }
    assert_eq!(asked(&authentication, &[&proof("POST", "/who?x", "/who?x", "00000004")]).await.0, StatusCode::OK);
}

/// Answers with the received headers, formatted as in a log.
struct Headers;

impl Service for Headers {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn call(&self, request: RequestMessage, _: &castile_soap::Options) -> BoxFuture<'static, ReplyMessage> {
        let shown = format!("{:?}", request.http_headers());
        Box::pin(async move { ReplyMessage::new(request.version, Bytes::from(shown)) })
    }
}

#[tokio::test]
async fn credentials_are_not_shown_in_logs() {
    let mut options = Options::default();
    options.authentication = Some(basic());
    assert_eq!(format!("{:?}", options.authentication), "Some([\"Basic\"])");
    let mut request = support::post("<a/>");
    request.headers_mut().insert("authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==".parse().unwrap());
    let response = ask(&Endpoint::with_options(Headers, options), request).await;
    assert!(response.body().contains("\"authorization\": Sensitive"), "{}", response.body());
}

/// Checking a login is work and needs a slot.
#[tokio::test(start_paused = true)]
async fn logins_are_checked_as_slots_are_free() {
    static CHECKED: AtomicU32 = AtomicU32::new(0);
    static MOST: AtomicU32 = AtomicU32::new(0);
    let check = Authentication::bearer("r", |_| async {
        MOST.fetch_max(CHECKED.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(10)).await;
        CHECKED.fetch_sub(1, Ordering::SeqCst);
        Some(Caller("token".into()))
    });
    let server = Server::new().max_requests_in_flight(2);
    let host = Host::start(server, echo_with(|options| options.authentication = Some(check)));
    let mut clients: Vec<_> = (0..6).map(|_| host.connect()).collect();
    for client in &mut clients {
        client.post("authorization: Bearer good\r\n", "<a/>").await;
    }
    for client in &mut clients {
        let (head, body) = client.response().await;
        assert!(head.starts_with("http/1.1 200 "), "{head}");
        assert_eq!(body, "<a/>");
    }
    assert_eq!(MOST.load(Ordering::SeqCst), 2);
}
