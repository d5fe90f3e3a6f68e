//! Documents of a contract from files, from catalogs and, if requested, from the network.

mod secured;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

use castile::http::client::Tls;
use castile_wsdl::Files;
use castile_xml::visible;
use castile_xsd::{Request, Resolver, builtin_namespaces, join};
use rustls::CertificateError;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, TcpConnector};
use ureq::{Agent, Error, ResponseExt};

use crate::contracts::size::kilobytes;
use crate::contracts::source::{is_html, is_url};
use secured::Secured;

/// The maximum number of fetched documents. A malicious server could generate further imports without end.
const MAX_DOCUMENTS: usize = 1_000;
const MAX_REDIRECTS: u32 = 5;
const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);

/// The limits of fetching.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// For one document, from the host lookup to the last byte.
    pub(crate) timeout: Duration,
    /// For all documents together, from the first request.
    pub(crate) max_time: Duration,
    /// For all documents together, in bytes.
    pub(crate) max_size: u64,
}

/// A resolver that searches catalogs and files first, then fetches documents within limits. It lists the documents that it doesn't find.
pub(crate) struct Fetch {
    files: Files,
    network: Option<(Agent, Limits)>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    fetched: HashMap<String, Result<Vec<u8>, String>>,
    /// The final URLs after redirects. References in a document are relative to its final URL (RFC 3986 §5.1.3).
    redirected: HashMap<String, String>,
    /// The number of received bytes, including those of failed documents.
    size: u64,
    started: Option<Instant>,
    missing: BTreeSet<String>,
}

impl Fetch {
    /// Makes a resolver. Without `network`, nothing is fetched. Without TLS settings, the system's authorities are trusted.
    pub(crate) fn new(files: Files, network: Option<(Limits, Option<Tls>)>) -> Self {
        let network = network.map(|(limits, tls)| {
            let config = Agent::config_builder()
                .timeout_global(Some(limits.timeout))
                .timeout_connect(Some(limits.timeout.min(MAX_CONNECT_TIME)))
                .max_redirects(MAX_REDIRECTS)
                .user_agent(concat!("castile/", env!("CARGO_PKG_VERSION")))
                .build();
            let connector = ().chain(ConnectProxyConnector::default()).chain(TcpConnector::default());
            (Agent::with_parts(config, connector.chain(Secured::new(tls)), DefaultResolver::default()), limits)
        });
        Self { files, network, state: RefCell::default() }
    }

    /// Returns the locations that led to no document, and the documents that can't be read.
    pub(crate) fn missing(&self) -> BTreeSet<String> {
        self.state.borrow().missing.clone()
    }

    /// Finds a file, or a URL that may be fetched.
    fn find(&self, request: &Request<'_>) -> Option<String> {
        let Some(location) = request.location.map(str::trim).filter(|location| !location.is_empty()) else {
            return self.files.locate(request);
        };
        if !is_url(request.base) {
            return self.files.locate(request).or_else(|| self.fetchable(location));
        }
        let state = self.state.borrow();
        let base = state.redirected.get(request.base).map_or(request.base, String::as_str);
        let url = join(base, location);
        // A fetched document must not select local files; catalogs may.
        self.files.catalogued(&url).or_else(|| self.fetchable(&url))
    }

    fn fetchable(&self, location: &str) -> Option<String> {
        let without_fragment = location.split('#').next().unwrap_or_default();
        (self.network.is_some() && is_url(location)).then(|| without_fragment.to_owned())
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        let Some((agent, limits)) = &self.network else { return Err("nothing is fetched without --fetch".into()) };
        let mut state = self.state.borrow_mut();
        if state.fetched.len() >= MAX_DOCUMENTS {
            return Err(format!("the contract has more than {MAX_DOCUMENTS} documents to fetch"));
        }
        let started = Instant::now();
        let spent = started - *state.started.get_or_insert(started);
        let Some(left) = limits.max_time.checked_sub(spent).filter(|left| !left.is_zero()) else {
            return Err(format!(
                "all documents together took longer than {:?}; --max-time allows more",
                limits.max_time
            ));
        };
        let too_large = || {
            let megabytes = limits.max_size / 1_000_000;
            format!("all documents together are larger than {megabytes} MB; --max-size allows more")
        };
        if state.size >= limits.max_size {
            return Err(too_large());
        }
        if let Some(port) = no_port(&host(url)) {
            return Err(format!("found the port {port:?}, expected a number up to 65535"));
        }
        note!("fetching {}", visible(url));
        let as_reason = |error: Error| match error {
            Error::StatusCode(status) => unexpected(status),
            Error::Timeout(_) if left < limits.timeout => {
                format!("all documents together took longer than {:?}; --max-time allows more", limits.max_time)
            }
            Error::Timeout(_) => format!("it took longer than {:?}; --timeout allows more", limits.timeout),
            Error::TooManyRedirects => format!("it was redirected more than {MAX_REDIRECTS} times"),
            Error::RequireHttpsOnly(to) => format!("it was redirected from https to {to}, expected https"),
            Error::HostNotFound => format!("the host {} has no address", host(url)),
            Error::ConnectionFailed => format!("no connection to {}", host(url)),
            Error::Io(error) => match error.kind() {
                ErrorKind::ConnectionRefused => {
                    format!("{} refused the connection: no server listens there", host(url))
                }
                _ if error.to_string().contains("lookup address") => format!("the host {} has no address", host(url)),
                _ => format!("the exchange with {} failed: {error}", host(url)),
            },
            Error::Other(error) => {
                let others = if is_unknown_issuer(&*error) { "; --ca FILE trusts other certificates" } else { "" };
                format!("no connection to {}: {error}{others}", host(url))
            }
            error => format!("the request to {} failed: {error}", host(url)),
        };
        let request = agent.get(url).config().timeout_global(Some(limits.timeout.min(left)));
        // An https document must not redirect to http.
        let request = request.https_only(url.starts_with("https://")).build();
        let mut response = request.call().map_err(as_reason)?;
        // A partial or empty response isn't a document.
        if response.status() != 200 {
            return Err(unexpected(response.status().as_u16()));
        }
        let coding =
            response.headers().get("content-encoding").map(|coding| String::from_utf8_lossy(coding.as_bytes()));
        if let Some(coding) = coding.filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
            return Err(format!("the server answered with the content encoding {coding}, which was not requested"));
        }
        // One more byte shows that the document exceeds the limit. Received bytes count even if the document fails.
        let room = limits.max_size.saturating_sub(state.size);
        let mut bytes = Vec::new();
        let result = response.body_mut().as_reader().take(room + 1).read_to_end(&mut bytes);
        state.size = state.size.saturating_add(bytes.len() as u64);
        if bytes.len() as u64 > room {
            return Err(too_large());
        }
        result.map_err(|error| as_reason(error.into()))?;
        let last = response.get_uri().to_string();
        if last != url {
            state.redirected.insert(url.to_owned(), last);
        }
        note!("         {}, {:.1} s", kilobytes(bytes.len()), started.elapsed().as_secs_f64());
        if castile_xsd::decode(&bytes).is_ok_and(|text| is_html(&text)) {
            return Err("the server answered with an HTML page, expected XML: it may be a sign-in page".into());
        }
        Ok(bytes)
    }
}

/// Returns whether a TLS handshake failed because the certificate's issuer isn't trusted.
fn is_unknown_issuer(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.source().and_then(|error| error.downcast_ref::<std::io::Error>()?.get_ref());
    let error = error.and_then(|error| error.downcast_ref::<rustls::Error>());
    matches!(error, Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)))
}

/// Returns the host of a URL, with its port if there is one.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // The user information is omitted, because it may contain a password.
    authority.rsplit('@').next().unwrap_or_default().to_owned()
}

/// Returns the message for an unexpected status.
fn unexpected(status: u16) -> String {
    // The message doesn't suggest a password in the URL, because the bundle would store it.
    const LOGIN: &str = "the server answered 401 (login required), and --fetch can't log in: save the document with a \
        program that can, and use the file; if the document is imported, --catalog FILE maps its location to the file";
    match status {
        401 => LOGIN.to_owned(),
        _ => format!("the server answered {status}, expected 200"),
    }
}

/// Returns an invalid port. Without this check, the scheme's default port would be used.
fn no_port(host: &str) -> Option<&str> {
    let (_, port) = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'))?;
    (!port.is_empty() && port.parse::<u16>().is_err()).then_some(port)
}

impl Resolver for Fetch {
    fn locate(&self, request: &Request<'_>) -> Option<String> {
        let is_builtin = builtin_namespaces().any(|namespace| namespace == request.namespace);
        let found = self.find(request);
        // A local copy takes precedence over a built-in document; a fetched one doesn't.
        let found = found.filter(|uri| !(is_builtin && is_url(uri)));
        if let (None, Some(location), false) = (&found, request.location, is_builtin) {
            self.state.borrow_mut().missing.insert(location.to_owned());
        }
        found
    }

    fn suggest(&self, request: &Request<'_>) -> Option<String> {
        // A fetched document must not reveal names of local files.
        self.files.suggest(request).filter(|_| !is_url(request.base))
    }

    fn read(&self, uri: &str) -> Result<Vec<u8>, String> {
        let known = self.state.borrow().fetched.get(uri).cloned();
        let read = known.unwrap_or_else(|| match is_url(uri) {
            true => {
                let fetched = self.fetch(uri);
                self.state.borrow_mut().fetched.insert(uri.to_owned(), fetched.clone());
                fetched
            }
            false => self.files.read(uri),
        });
        if read.is_err() {
            self.state.borrow_mut().missing.insert(uri.to_owned());
        }
        read
    }
}
