//! Generated code at work with attachments: SOAP Messages with Attachments, the MIME binding of WSDL, MTOM.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::fs;
use std::io::Cursor;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use castile::codegen::HttpService;
use castile::datatypes::{Base64Binary, StreamedBinary};
use castile::http::Body;
use castile::http::server::{Endpoint, Options, Routes, Server};
use castile::mime::{Attachments, Content, ContentId, Part};
use castile::soap::{self, Mtom, Version};
use castile::{Call, CallError, Fault, FaultCode, Request, Response};
use http_body_util::BodyExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The module that was generated for a feature.
macro_rules! generated {
    ($feature:ident) => {
        #[deny(warnings)]
        #[allow(unreachable_pub, reason = "nobody reaches into a test")]
        mod $feature {
            include!(concat!("features/", stringify!($feature), "/expected.rs"));
            include!(concat!("features/", stringify!($feature), "/sizes.rs"));
        }
    };
}

generated!(attachments);
generated!(mime_parts);
generated!(mtom);
generated!(stream_binaries);

use attachments::KeyHeader;

const URL: &str = "http://localhost/";

fn part(content: impl Into<Content>) -> Part {
    Part::attachment("application/octet-stream", content).unwrap()
}

/// A text, and the attachments that came with it.
type Told = (String, Vec<Bytes>);

/// Answers with what came.
#[derive(Clone, Default)]
struct Echo {
    told: Arc<Mutex<Vec<Told>>>,
}

async fn same(mut attachments: Attachments) -> Result<Vec<Part>, castile::mime::Error> {
    let mut parts = Vec::new();
    while let Some(attachment) = attachments.next().await? {
        let content_type = attachment.head().content_type().unwrap_or("text/plain").to_owned();
        let id = attachment.head().content_id().cloned().map_or_else(ContentId::random, Ok)?;
        // All but the last must be here before the next one is.
        let content = attachment.collect(1 << 20).await?;
        parts.push(Part::new(id, &content_type, content.into())?);
    }
    Ok(parts)
}

async fn bytes(attachments: Attachments) -> Vec<Bytes> {
    let all = attachments.collect(1 << 20).await.unwrap();
    all.into_iter().map(|(_, content)| content).collect()
}

/// A response with these attachments.
fn with<T>(message: T, parts: Vec<Part>) -> Response<T> {
    parts.into_iter().fold(Response::new(message), Response::with_attachment)
}

impl attachments::Feature for Echo {
    async fn echo(&self, request: Request<String>) -> Result<Response<String>, Fault> {
        let key = request.header::<KeyHeader>()?;
        let (message, attachments) = request.into_parts();
        let response = with(message, same(attachments).await?);
        Ok(match key {
            Some(key) => response.with_header(key),
            None => response,
        })
    }

    async fn tell(&self, request: Request<String>) -> Result<Response<()>, Fault> {
        let (request, attachments) = request.into_parts();
        let all = attachments.collect(1 << 20).await?;
        self.told.lock().unwrap().push((request, all.into_iter().map(|(_, content)| content).collect()));
        Ok(().into())
    }

    async fn store(&self, request: Request<()>) -> Result<Response<()>, Fault> {
        let ((), attachments) = request.into_parts();
        Ok(with((), same(attachments).await?))
    }
}

/// A call with these attachments.
fn attaching<'a, Q, R, D, S>(call: Call<'a, Q, R, D, S>, parts: Vec<Part>) -> Call<'a, Q, R, D, S> {
    parts.into_iter().fold(call, Call::attach)
}

#[tokio::test]
async fn attachments_go_and_come() {
    let echo = Echo::default();
    let server = attachments::FeatureServer::new(echo.clone());
    let client = attachments::FeatureClient::with_transport(URL, server).unwrap();
    for count in [0, 1, 5] {
        let contents: Vec<Bytes> = (0..count).map(|number| vec![number; 1000 * usize::from(number)].into()).collect();
        let parts = || contents.iter().cloned().map(part).collect();
        let (text, key) = ("<a>".to_owned(), KeyHeader(7));
        let answer = attaching(client.echo(&text).header(&key), parts()).send().await.unwrap();
        let key = answer.header::<KeyHeader>().unwrap();
        let (text, attachments) = answer.into_parts();
        assert_eq!((text.as_str(), key), ("<a>", Some(KeyHeader(7))));
        assert_eq!(bytes(attachments).await, contents);
        attaching(client.tell(&"b".into()), parts()).await.unwrap();
        assert_eq!(echo.told.lock().unwrap().pop().unwrap(), ("b".to_owned(), contents.clone()));
        let ((), attachments) = attaching(client.store(), parts()).send().await.unwrap().into_parts();
        assert_eq!(bytes(attachments).await, contents);
    }
    let (first, second) = (part(vec![1]), part(vec![2]));
    let twice = Part::new(first.id().clone(), "text/plain", vec![2].into()).unwrap();
    let error = attaching(client.store(), vec![first, second, twice]).await.unwrap_err();
    assert!(matches!(&error, CallError::Transport(error) if error.kind() == castile::http::ErrorKind::Package));
}

/// Knows what is declared for its operations.
struct Claims;

const PNG: &[u8] = b"\x89PNG\r\n--";

impl mime_parts::Feature for Claims {
    async fn submit(&self, request: Request<mime_parts::Claim>) -> Result<Response<String>, Fault> {
        let (request, mut attachments) = request.into_parts();
        let form = attachments.by_url(request.form.as_ref()).await?;
        let form = form.collect(100).await?;
        Ok(format!("{}: {}", request.number, String::from_utf8_lossy(&form)).into())
    }

    async fn fetch(&self, request: Request<String>) -> Result<Response<String>, Fault> {
        let image = Part::attachment("image/png", PNG.to_vec())?;
        Ok(Response::new(request.into_inner()).with_attachment(image))
    }
}

#[tokio::test]
async fn parts_of_the_mime_binding_are_attachments() {
    let client = mime_parts::FeatureClient::with_transport(URL, mime_parts::FeatureServer::new(Claims)).unwrap();
    let form = part(b"form".to_vec());
    let claim = mime_parts::Claim { number: 3, form: form.id().to_url().parse().unwrap() };
    // What comes before it waits.
    let answer = client.submit(&claim).attach(part(vec![0; 9])).attach(form).await.unwrap();
    assert_eq!(answer, "3: form");
    let missing = client.submit(&claim).attach(part(Vec::new())).await.unwrap_err();
    let CallError::Fault { fault, .. } = missing else { panic!("{missing:?}") };
    assert_eq!(fault.code, FaultCode::Sender);
    assert!(fault.reason.as_str().starts_with("no attachment has the name \"cid:"), "{fault}");

    let (photo, mut attachments) = client.fetch(&"sunset".into()).send().await.unwrap().into_parts();
    assert_eq!(photo, "sunset");
    let image = attachments.next().await.unwrap().unwrap();
    assert_eq!(image.head().content_type(), Some("image/png"));
    assert_eq!(image.collect(100).await.unwrap(), PNG);
}

/// How much may come beside photos.
const LEFT: usize = 1000;

impl mtom::Feature for Echo {
    async fn echo(&self, mut request: Request<mtom::Photos>) -> Result<Response<mtom::Photos>, Fault> {
        // What is wrong with what stands behind the photos is told to who asks.
        request.attachments().pass_over(LEFT).await?;
        Ok(request.into_inner().into())
    }
}

fn photos(sizes: &[usize]) -> mtom::Photos {
    let photo = sizes.iter().map(|size| Base64Binary((0..*size).map(|byte| byte as u8).collect())).collect();
    let typed = mtom::xmlmime::Base64Binary { value: vec![7; 5000].into(), content_type: Some("image/gif".into()) };
    mtom::Photos { photo, typed: Some(typed) }
}

/// Notes what is sent and what is answered.
#[derive(Clone)]
struct Tap<S> {
    service: S,
    seen: Arc<Mutex<Vec<(String, Bytes)>>>,
}

impl<S: HttpService + Send + 'static> Service<http::Request<Body>> for Tap<S>
where
    S::Service: Send,
    <S::Service as Service<http::Request<Body>>>::Future: Send,
{
    type Response = http::Response<Body>;
    type Error = BoxError;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<http::Response<Body>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), BoxError>> {
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (mut service, seen) = (self.service.service(), self.seen.clone());
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let note = |headers: &http::HeaderMap, body: &Bytes| {
                let content_type = headers["content-type"].to_str().unwrap().to_owned();
                seen.lock().unwrap().push((content_type, body.clone()));
            };
            note(&head.headers, &body);
            let response = service.call(http::Request::from_parts(head, body.into())).await.map_err(Into::into)?;
            let (head, body) = response.into_parts();
            let body = body.collect().await.map_err(Into::into)?.to_bytes();
            note(&head.headers, &body);
            Ok(http::Response::from_parts(head, body.into()))
        })
    }
}

/// How often something stands in a message.
fn count(message: &[u8], what: &str) -> usize {
    message.windows(what.len()).filter(|window| *window == what.as_bytes()).count()
}

#[tokio::test]
async fn values_go_beside_a_message_that_is_mtom() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let tap = Tap { service: mtom::FeatureServer::new(Echo::default()), seen: seen.clone() };
    // The contract says that messages are MTOM.
    let client = mtom::FeatureClient::with_transport(URL, tap).unwrap();
    let request = photos(&[0, 1, 1023, 1024, 70_000]);
    for version in [Version::Soap11, Version::Soap12] {
        let mut options = support::options(|options| options.version = Some(version));
        let client = client.clone().with_options(options.clone());
        assert_eq!(client.echo(&request).await.unwrap(), request);
        for (content_type, message) in std::mem::take(&mut *seen.lock().unwrap()) {
            assert!(content_type.starts_with("multipart/related; type=\"application/xop+xml\""), "{content_type}");
            assert!(content_type.contains(&format!("start-info=\"{}\"", version.media_type())), "{content_type}");
            assert_eq!(count(&message, "<xop:Include "), 3);
            assert_eq!(count(&message, "Content-Type: image/gif"), 1);
        }
        // A threshold of one's own: nothing is long enough, and it is MTOM nevertheless.
        options.messages.mtom = Mtom::Always(1 << 20);
        assert_eq!(client.with_options(options).echo(&request).await.unwrap(), request);
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        assert_eq!(seen.iter().map(|(_, message)| count(message, "<xop:Include ")).collect::<Vec<_>>(), [0, 3]);
    }
}

#[tokio::test]
async fn answers_are_mtom_where_that_is_asked_for_or_set() {
    use stream_binaries::{FeatureServer, Photos};
    let message = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body>\
        <echo xmlns='urn:stream_binaries'><photo>AQID</photo></echo></s:Body></s:Envelope>";
    for (mtom, accept, expected) in [
        (Mtom::Asked(2), "text/xml", "text/xml"),
        (Mtom::Asked(2), "multipart/related, Application/XOP+xml;q=0.5", "multipart/related"),
        (Mtom::Never, "application/xop+xml", "text/xml"),
        (Mtom::Always(2), "text/xml", "multipart/related"),
    ] {
        let mut options = Options::default();
        options.messages.mtom = mtom;
        let mut server = FeatureServer::with_options(Echo::default(), options);
        let request = http::Request::post("/").header("content-type", "text/xml").header("accept", accept);
        let response = server.call(request.body(Body::from(Bytes::from(message))).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        let content_type = response.headers()["content-type"].to_str().unwrap();
        assert_eq!(content_type.split(';').next(), Some(expected), "{mtom:?} {accept}");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let inline = if expected == "text/xml" { ("AQID", 1) } else { ("\r\n\x01\x02\x03\r\n", 1) };
        assert_eq!(count(&body, inline.0), inline.1);
    }
    let inline = Photos { photo: vec![StreamedBinary::Inline(vec![1, 2, 3])], typed: None };
    let client = stream_binaries::FeatureClient::with_transport(URL, FeatureServer::new(Echo::default())).unwrap();
    assert_eq!(client.echo(&inline).await.unwrap(), inline);
}

impl stream_binaries::Feature for Echo {
    async fn echo(
        &self,
        request: Request<stream_binaries::Photos>,
    ) -> Result<Response<stream_binaries::Photos>, Fault> {
        let (request, mut attachments) = request.into_parts();
        let mut response = stream_binaries::Photos::default();
        let mut parts = Vec::new();
        for photo in request.photo {
            response.photo.push(match photo {
                StreamedBinary::Attached(url) => {
                    let part = part(attachments.by_url(&url).await?);
                    let url = part.id().to_url();
                    parts.push(part);
                    StreamedBinary::Attached(url)
                }
                inline => inline,
            });
        }
        Ok(with(response, parts))
    }
}

/// Starts a server on a port of its own.
async fn serve(endpoint: Endpoint<dyn soap::Service>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(Server::new().serve(listener, Routes::new().route("/", endpoint), std::future::pending()));
    address
}

/// Bytes that are different everywhere, as they come.
fn stream(pieces: u32) -> Content {
    let frames = (0..pieces).map(piece).map(|piece| Ok::<_, std::io::Error>(http_body::Frame::data(piece)));
    Content::stream(http_body_util::StreamBody::new(futures_util::stream::iter(frames)))
}

const PIECE: usize = 64 << 10;

fn piece(number: u32) -> Bytes {
    number.to_be_bytes().repeat(PIECE / 4).into()
}

/// The answer comes while the request is sent.
#[tokio::test]
async fn an_attachment_goes_through_in_both_directions_at_once() {
    const PIECES: u32 = 200;
    let address = serve(stream_binaries::FeatureServer::new(Echo::default()).into()).await;
    for version in [Version::Soap11, Version::Soap12] {
        let client = stream_binaries::FeatureClient::new(&format!("http://{address}/"))
            .unwrap()
            .with_options(support::options(|options| options.version = Some(version)));
        let sent = part(stream(PIECES));
        let request =
            stream_binaries::Photos { photo: vec![StreamedBinary::Attached(sent.id().to_url())], typed: None };
        let (response, mut attachments) = client.echo(&request).attach(sent).send().await.unwrap().into_parts();
        let [StreamedBinary::Attached(url)] = response.photo.as_slice() else { panic!("{response:?}") };
        let mut attachment = attachments.by_url(url).await.unwrap();
        let (mut length, mut number) = (0, 0);
        while let Some(data) = attachment.data().await.unwrap() {
            for &byte in &data {
                let expected = (length / PIECE) as u32;
                assert_eq!(byte, expected.to_be_bytes()[length % 4]);
                length += 1;
            }
            number += 1;
        }
        assert_eq!(length, PIECE * PIECES as usize);
        assert!(number > 1);
        assert!(attachments.next().await.unwrap().is_none());
    }
}

/// A client that goes away in the middle costs the request, and nothing else.
#[tokio::test]
async fn a_body_that_breaks_off_ends_only_its_request() {
    let echo = Echo::default();
    let address = serve(attachments::FeatureServer::new(echo.clone()).into()).await;
    let client = attachments::FeatureClient::new(&format!("http://{address}/")).unwrap();
    let failing = futures_util::stream::iter([
        Ok(http_body::Frame::data(piece(1))),
        Err(std::io::Error::other("the disk is gone")),
    ]);
    let failing = part(Content::stream(http_body_util::StreamBody::new(failing)));
    let error = client.tell(&"lost".into()).attach(failing).await.unwrap_err();
    assert!(matches!(error, CallError::Transport(_)), "{error:?}");
    client.tell(&"kept".into()).attach(part(vec![1, 2])).await.unwrap();
    assert_eq!(*echo.told.lock().unwrap(), [("kept".to_owned(), vec![Bytes::from(vec![1, 2])])]);
}

/// What waits for its turn is gone with the connection: the files that it was in, too.
#[tokio::test]
async fn a_body_that_breaks_off_leaves_no_file() {
    let files = || {
        let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        open.filter(|target| target.to_string_lossy().ends_with(" (deleted)")).count()
    };
    let address = serve(attachments::FeatureServer::new(Echo::default()).into()).await;
    let before = files();
    let mut streams = Vec::new();
    for _ in 0..8 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 9000000\r\n\
            content-type: multipart/related; type=\"text/xml\"; start=root; boundary=b\r\n\r\n--b\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'x'; 2 << 20]).await.unwrap();
        streams.push(stream);
    }
    let waited = async |done: &dyn Fn(usize) -> bool| {
        for _ in 0..500 {
            if done(files()) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    };
    assert!(waited(&|count| count >= before + 8).await, "{} files, where 8 more than {before} were expected", files());
    drop(streams);
    assert!(waited(&|count| count <= before).await, "{} files, where {before} were expected", files());
}

/// Broken packages over a connection, each in a file: lines of our own up to an empty one, then the body. Beside it stands
/// what the server answers: status and text, or the fault.
#[tokio::test]
async fn broken_packages_are_answered_and_the_server_goes_on() {
    let mut options = Options::default();
    options.messages.attachments.included = LEFT;
    options.messages.attachments.stored = 1000;
    options.body_read_timeout = Duration::from_secs(1);
    let address = serve(mtom::FeatureServer::with_options(Echo::default(), options).into()).await;
    let mut files: Vec<_> = fs::read_dir("tests/packages").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "msg"));
    files.sort();
    assert!(files.len() > 15, "{} files are too few to be all", files.len());
    let mut different = Vec::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let (head, body) = text.split_once("\n\n").unwrap();
        let (head, body) = (head.replace('\n', "\r\n"), body.replace('\n', "\r\n"));
        let answer = ask(address, &head, &body, file.ends_with("says-nothing-more.msg")).await;
        different.extend(support::compare(&file.with_extension("answer"), Some(&answer)));
        // The same server.
        let client = mtom::FeatureClient::new(&format!("http://{address}/")).unwrap();
        let request = mtom::Photos { photo: vec![vec![1; 900].into()], typed: None };
        let client = client.with_options(support::options(|options| options.messages.mtom = Mtom::Always(1)));
        assert_eq!(client.echo(&request).await.unwrap(), request);
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// What is answered to a POST: the status, and what is said. `is_short` promises more than is sent.
async fn ask(address: SocketAddr, head: &str, body: &str, is_short: bool) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len() + usize::from(is_short);
    let head = format!("POST / HTTP/1.1\r\nhost: h\r\ncontent-length: {length}\r\n{head}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    said(head.split(' ').nth(1).unwrap().parse().unwrap(), body)
}

/// Status, code and reason of a fault, or the text of a refusal.
fn said(status: u16, body: &str) -> String {
    let reason = inside(body, "<faultstring>", "</faultstring>");
    let reason = reason.or_else(|| inside(body, "xml:lang=\"en\">", "</soap:Text>"));
    let code = inside(body, "<faultcode>", "</faultcode>").or_else(|| inside(body, "<soap:Value>", "</soap:Value>"));
    format!("{status} {}\n{}\n", code.unwrap_or("refused"), reason.unwrap_or(body).trim())
}

fn inside<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside)
}

/// Messages of other people's engines, from the tests of Apache Axiom, as they stand: the endpoint reads their packages and
/// takes them for what they are.
#[castile_corpus::needs("corpus/conformance/mtom/axiom")]
#[tokio::test]
async fn messages_of_other_engines_are_read() {
    let corpus = Path::new(castile_corpus::path!("corpus/conformance/mtom/axiom"));
    let mut server = attachments::FeatureServer::new(Echo::default());
    let mut answers = String::new();
    for line in fs::read_to_string("tests/packages/axiom.tsv").unwrap().lines() {
        let (file, start) = line.split_once('\t').unwrap();
        let body = fs::read(corpus.join(file)).unwrap();
        let content_type = format!("multipart/related; boundary=\"{}\"{start}", boundary(&body));
        let request = http::Request::post("/").header("content-type", content_type);
        let response = server.call(request.body(Body::from(Bytes::from(body))).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        answers.push_str(&format!("{file}\n{}", said(status, &String::from_utf8_lossy(&body))));
    }
    // None is for an operation of this service: what they ask for is told.
    let different = support::compare(Path::new("tests/packages/axiom.answers"), Some(&answers));
    assert_eq!(different, None);
}

/// Answers any message with the names of its payload and of what came with it.
struct Any<S>(S);

impl<S: soap::Service> soap::Service for Any<S> {
    fn description(&self) -> &'static soap::Description {
        self.0.description()
    }

    fn call(&self, request: soap::RequestMessage, options: &soap::Options) -> soap::Pending {
        let limits = options.limits;
        Box::pin(async move {
            let version = request.version;
            match told(request, limits).await {
                Ok(told) => soap::ReplyMessage::new(version, told),
                Err(error) => soap::ReplyMessage::from_fault(version, &Fault::<castile::NoDetail>::sender(error)),
            }
        })
    }
}

async fn told(request: soap::RequestMessage, limits: castile::xml::Limits) -> Result<String, String> {
    let mut reader = castile_xml::CachedReader::new(&request.message, limits).map_err(|error| error.to_string())?;
    let (_, payload) = castile_soap::Envelope::read(&mut reader).map_err(|error| error.to_string())?;
    let payload = payload.map_or("nothing", |tag| tag.name.local());
    let mut told = format!("{payload} in {:?}", request.packaging);
    // What the XML refers to is there.
    let text = String::from_utf8_lossy(&request.message).into_owned();
    let mut attachments = request.attachments;
    while let Some(attachment) = attachments.next().await.map_err(|error| error.to_string())? {
        let url = attachment.head().content_id().map_or_else(String::new, |id| id.to_url());
        let is_referred_to = text.contains(&url) && !url.is_empty();
        let length = attachment.collect(1 << 20).await.map_err(|error| error.to_string())?.len();
        told += &format!("\n{length} bytes, referred to: {is_referred_to}");
    }
    Ok(told + "\n")
}

/// Messages of other engines at a service that knows all operations: whoever takes them as they stand has payload and attachments.
#[castile_corpus::needs("corpus/conformance/mtom/axiom")]
#[tokio::test]
async fn messages_of_other_engines_are_read_unchanged() {
    let corpus = Path::new(castile_corpus::path!("corpus/conformance/mtom/axiom"));
    let mut server = attachments::FeatureServer::new(Echo::default()).layer(soap::layer_fn(Any));
    let mut answers = String::new();
    for line in fs::read_to_string("tests/packages/axiom.tsv").unwrap().lines() {
        let (file, start) = line.split_once('\t').unwrap();
        let body = fs::read(corpus.join(file)).unwrap();
        let content_type = format!("multipart/related; boundary=\"{}\"{start}", boundary(&body));
        let request = http::Request::post("/").header("content-type", content_type);
        let response = server.call(request.body(Body::from(Bytes::from(body))).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body = String::from_utf8_lossy(&body);
        answers.push_str(&format!("{file}\n{}", if status == 200 { body.into_owned() } else { said(status, &body) }));
    }
    let different = support::compare(Path::new("tests/packages/axiom.told"), Some(&answers));
    assert_eq!(different, None);
}

/// The boundary that a body begins with.
fn boundary(body: &[u8]) -> String {
    use std::io::BufRead;
    let lines = Cursor::new(body).split(b'\n').map(Result::unwrap);
    let line =
        lines.map(|line| String::from_utf8_lossy(&line).trim_end().to_owned()).find(|line| line.starts_with("--"));
    line.unwrap()[2..].to_owned()
}
