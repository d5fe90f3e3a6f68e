//! Documents of a contract from files and catalogs and, where it is asked for, from the network.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use castile_wsdl::Files;
use castile_xsd::{Request, Resolver, builtin_namespaces, join};
use ureq::{Agent, Error, ResponseExt};

use crate::bundle::kilobytes;
use crate::source::{is_html, is_url};

/// A contract that asks for more documents than this doesn't end.
const MAX_DOCUMENTS: usize = 1_000;
const MAX_REDIRECTS: u32 = 5;
const MAX_CONNECT_TIME: Duration = Duration::from_secs(10);

/// What the network may cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// For one document, from its name to its last byte.
    pub(crate) timeout: Duration,
    /// For all documents together, in bytes.
    pub(crate) max_size: u64,
}

/// Files first, as catalogs say; then the network, within limits, or a list of what is missing.
pub(crate) struct Fetch {
    files: Files,
    network: Option<(Agent, Limits)>,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    fetched: HashMap<String, Result<Vec<u8>, String>>,
    /// Where redirects led: what the document says is relative to that (RFC 3986 §5.1.3).
    moved: HashMap<String, String>,
    size: u64,
    missing: BTreeSet<String>,
}

impl Fetch {
    /// Without limits there is no network.
    pub(crate) fn new(files: Files, limits: Option<Limits>) -> Self {
        let network = limits.map(|limits| {
            let config = Agent::config_builder()
                .timeout_global(Some(limits.timeout))
                .timeout_connect(Some(limits.timeout.min(MAX_CONNECT_TIME)))
                .max_redirects(MAX_REDIRECTS)
                .user_agent(concat!("castile/", env!("CARGO_PKG_VERSION")))
                .tls_config(
                    // Contracts come from servers within organisations, whose authorities the system knows.
                    ureq::tls::TlsConfig::builder().root_certs(ureq::tls::RootCerts::PlatformVerifier).build(),
                )
                .build();
            (config.new_agent(), limits)
        });
        Self { files, network, state: RefCell::default() }
    }

    /// The locations that led to no document.
    pub(crate) fn missing(&self) -> BTreeSet<String> {
        self.state.borrow().missing.clone()
    }

    /// A file, or a URL that may be fetched.
    fn find(&self, request: &Request<'_>) -> Option<String> {
        let Some(location) = request.location.map(str::trim).filter(|location| !location.is_empty()) else {
            return self.files.locate(request);
        };
        if !is_url(request.base) {
            return self.files.locate(request).or_else(|| self.fetchable(location));
        }
        let state = self.state.borrow();
        let base = state.moved.get(request.base).map_or(request.base, String::as_str);
        let url = join(base, location);
        // What comes from the network doesn't choose files of this machine; catalogs do.
        if url.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
            return None;
        }
        let request = Request { base: "", location: Some(&url), namespace: request.namespace };
        self.files.locate(&request).or_else(|| self.fetchable(&url))
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
        anstream::eprintln!("fetching {url}");
        let started = Instant::now();
        let told = |error: Error| match error {
            Error::StatusCode(status) => format!("the server answered {status}, expected 200"),
            Error::BodyExceedsLimit(_) => {
                format!(
                    "it goes beyond the {} MB that may be fetched; --max-size allows more",
                    limits.max_size / 1_000_000
                )
            }
            Error::Timeout(_) => format!("it took longer than {:?}; --timeout allows more", limits.timeout),
            Error::TooManyRedirects => format!("it was redirected more than {MAX_REDIRECTS} times"),
            error => error.to_string(),
        };
        let mut response = agent.get(url).call().map_err(told)?;
        let bytes = response.body_mut().with_config().limit(limits.max_size - state.size).read_to_vec();
        let bytes = bytes.map_err(told)?;
        state.size += bytes.len() as u64;
        let last = response.get_uri().to_string();
        if last != url {
            state.moved.insert(url.to_owned(), last);
        }
        anstream::eprintln!("         {}, {:.1} s", kilobytes(bytes.len()), started.elapsed().as_secs_f64());
        if castile_xsd::decode(&bytes).is_ok_and(|text| is_html(&text)) {
            return Err("the server answered with an HTML page, expected XML: it may ask to sign in".into());
        }
        Ok(bytes)
    }
}

impl Resolver for Fetch {
    fn locate(&self, request: &Request<'_>) -> Option<String> {
        let is_builtin = builtin_namespaces().any(|namespace| namespace == request.namespace);
        let found = self.find(request);
        // A copy at hand goes before the one that is built in; one on the network doesn't.
        let found = found.filter(|uri| !(is_builtin && is_url(uri)));
        if let (None, Some(location), false) = (&found, request.location, is_builtin) {
            self.state.borrow_mut().missing.insert(location.to_owned());
        }
        found
    }

    fn read(&self, uri: &str) -> Result<Vec<u8>, String> {
        if !is_url(uri) {
            return self.files.read(uri);
        }
        if let Some(known) = self.state.borrow().fetched.get(uri) {
            return known.clone();
        }
        let fetched = self.fetch(uri);
        self.state.borrow_mut().fetched.insert(uri.to_owned(), fetched.clone());
        fetched
    }
}
