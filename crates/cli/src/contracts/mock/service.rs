//! A service that answers from rules, files and samples.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use anyhow::Context;
use castile::Raw;
use castile::codegen::{Encoder, Root};
use castile::http::Workers;
use castile::http::server::Address;
use castile_dynamic::{Contract, Operation, Service, Value};
use castile_mime::Part;
use castile_soap::{
    AnyHeader, Description, Detail, Dispatch, Error, Fault, Headers, Payload, Pending, Request, Response, ToPayload,
    Version, WriteHeader, Written, message,
};
use castile_xml::escape;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use serde_json::Value as Json;

use super::answer::Needs;
use super::extras::Extras;
use super::placeholder::{Facts, RemainingSize, RequestAddress};
use super::random::{Latency, Random};
use super::request_url;
use super::rules::{Outcome, Rule, StoreAccess};
use super::store::{Action, Store};
use crate::contracts::expression::Tree;
use crate::contracts::{sample, shape};

/// The maximum size of a request as JSON, in bytes of memory.
const MAX_REQUEST_SIZE: usize = 64 << 20;
/// The maximum size, in bytes, of an envelope for XPath expressions. Its tree takes about thirty times the memory.
const MAX_XPATH_SIZE: usize = 4 << 20;

/// The data that all services of a mock share.
pub(super) struct Shared {
    pub(super) contract: &'static Contract,
    pub(super) store: Mutex<Store>,
    pub(super) random: Random,
    pub(super) latency: Latency,
    /// Whether requests that violate the contract are answered with a fault.
    pub(super) is_strict: bool,
    /// Whether violations in answered requests are printed.
    pub(super) is_verbose: bool,
    /// The address configuration of the server, after it is set up.
    pub(super) address: OnceLock<Address>,
}

/// A service of a mock.
pub(super) struct Mock {
    service: Service,
    /// The path of the service.
    path: Arc<str>,
    operations: Arc<[MockOperation]>,
    shared: Arc<Shared>,
}

/// An operation of a mock.
pub(super) struct MockOperation {
    service: Service,
    operation: &'static Operation,
    rules: Vec<Rule>,
    /// The default answer; `None` for a sample.
    default: Option<Outcome>,
    needs: Needs,
    /// The number of requests so far.
    number: AtomicU64,
    /// Samples made from the schema. They are made on first use, because that takes time with large contracts.
    sample: OnceLock<Result<Arc<Value>, String>>,
    faults: OnceLock<Vec<String>>,
}

impl MockOperation {
    pub(super) fn new(
        service: Service,
        operation: &'static Operation,
        rules: Vec<Rule>,
        default: Option<Outcome>,
    ) -> Self {
        let needs = rules.iter().map(Rule::needs).chain(default.as_ref().map(Outcome::needs)).collect();
        MockOperation {
            service,
            operation,
            rules,
            default,
            needs,
            number: AtomicU64::new(0),
            sample: OnceLock::new(),
            faults: OnceLock::new(),
        }
    }

    /// Returns the longest latency of all rules.
    pub(super) fn max_latency(&self) -> Duration {
        self.rules.iter().filter_map(|rule| rule.latency).map(Latency::maximum).max().unwrap_or_default()
    }
}

impl Mock {
    pub(super) fn new(service: Service, path: &str, operations: Arc<[MockOperation]>, shared: Arc<Shared>) -> Self {
        Mock { service, path: path.into(), operations, shared }
    }
}

impl Dispatch for Mock {
    fn description(&self) -> &'static Description {
        self.service.description()
    }

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, Error> {
        let pending = PendingRequest {
            operations: self.operations.clone(),
            operation,
            shared: self.shared.clone(),
            path: self.path.clone(),
        };
        match self.shared.is_strict {
            true => payload.handle(async move |request: Request<Value>| {
                pending.answer(request, |value, _, _, _| Message::Value(value)).await
            }),
            false => payload.handle(async move |request: Request<Raw>| {
                pending
                    .answer(request, |raw, mocked, shared, version| {
                        let value = mocked.operation.request_from_xml(&envelope(&raw, version, &[]));
                        if let (Err(error), true) = (&value, shared.is_verbose) {
                            note!("{}: answered in spite of an error: {error}", mocked.operation.name());
                        }
                        Message::Raw(raw, value.ok())
                    })
                    .await
            }),
        }
    }
}

/// A request that is to be answered.
struct PendingRequest {
    operations: Arc<[MockOperation]>,
    /// The index of the operation.
    operation: usize,
    shared: Arc<Shared>,
    /// The path of the service.
    path: Arc<str>,
}

impl PendingRequest {
    async fn answer<T: Send + 'static>(
        self,
        request: Request<T>,
        message: impl FnOnce(T, &MockOperation, &Shared, Version) -> Message + Send + 'static,
    ) -> Result<Response<ResponseValue>, Fault> {
        let PendingRequest { operations, operation, shared, path } = self;
        let (context, address) = operations[operation].request_context(&shared, &request, path)?;
        let (is_large, of_all) = (is_large(&request), shared.clone());
        let content = request.into_inner();
        let decide = move || {
            let mocked = &operations[operation];
            let message = message(content, mocked, &shared, context.version);
            mocked.decide(&shared, &ReceivedRequest { message, context, address })
        };
        // Rules may read a large message more than once, so it is processed on a worker thread.
        let decided = match is_large {
            true => Workers::shared().above(0).run(decide).await,
            false => Some(decide()),
        };
        let (latency, answer) = decided.ok_or_else(|| Fault::receiver("the mock failed at this request"))?;
        let wait = of_all.random.pick_latency(latency);
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        answer.map(MockResponse::response)
    }
}

/// Returns whether the message may be large. The size of a compressed or chunked message isn't known.
fn is_large<T>(request: &Request<T>) -> bool {
    /// The default threshold of servers, in bytes.
    const OFFLOAD_THRESHOLD: usize = 256 << 10;
    let headers = request.http_headers();
    let length = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    headers.contains_key(CONTENT_ENCODING) || length.is_none_or(|length| length > OFFLOAD_THRESHOLD)
}

/// Builds an envelope around unchanged header blocks and payload.
fn envelope(raw: &Raw, version: Version, blocks: &[AnyHeader]) -> String {
    let own = version.namespace();
    let is_free = |name: &String| raw.declarations().all(|(prefix, namespace)| prefix != name || namespace == own);
    // One of the numbers is free, because a payload has finitely many declarations.
    let soap = (0..).map(|number| format!("soap{number}")).find(is_free).unwrap_or_default();
    let mut body = format!("<{soap}:Body");
    for (prefix, namespace) in raw.declarations().filter(|(prefix, _)| *prefix != soap) {
        let mut escaped = Vec::new();
        // The namespace was read from XML, so it can be written to XML.
        let _ = escape::push_attribute(&mut escaped, namespace);
        let colon = if prefix.is_empty() { "" } else { ":" };
        let _ = write!(body, " xmlns{colon}{prefix}=\"{}\"", String::from_utf8_lossy(&escaped));
    }
    let payload = raw.bytes().unwrap_or_default();
    let payload = String::from_utf8_lossy(&payload);
    let blocks: String = blocks.iter().map(|header| header.block.xml()).collect();
    let header = if blocks.is_empty() { blocks } else { format!("<{soap}:Header>{blocks}</{soap}:Header>") };
    format!("<{soap}:Envelope xmlns:{soap}=\"{own}\">{header}{body}>{payload}</{soap}:Body></{soap}:Envelope>")
}

/// A received request.
struct ReceivedRequest {
    message: Message,
    context: RequestContext,
    /// The address of the request, if it is needed and known.
    address: Option<RequestAddress>,
}

enum Message {
    Value(Value),
    /// The raw message, with its value if it is valid.
    Raw(Raw, Option<Value>),
}

/// The properties of a request other than its message.
struct RequestContext {
    version: Version,
    /// The header blocks, if an expression needs the envelope.
    blocks: Vec<AnyHeader>,
}

impl ReceivedRequest {
    fn value(&self) -> Option<&Value> {
        match &self.message {
            Message::Value(value) => Some(value),
            Message::Raw(_, value) => value.as_ref(),
        }
    }

    fn tree(&self, operation: &'static Operation) -> Result<Tree, String> {
        let RequestContext { version, blocks } = &self.context;
        let envelope = match &self.message {
            Message::Raw(raw, _) => envelope(raw, *version, blocks),
            Message::Value(value) => {
                let blocks: Vec<&dyn WriteHeader> = blocks.iter().map(|block| block as &dyn WriteHeader).collect();
                let (header, root) = (Headers::new(&blocks), &operation.soap().request);
                let written = message::write_with(*version, header, root, value, Vec::new());
                String::from_utf8_lossy(&written.map_err(|error| error.to_string())?).into_owned()
            }
        };
        if envelope.len() > MAX_XPATH_SIZE {
            let (found, most) = (envelope.len(), MAX_XPATH_SIZE >> 20);
            return Err(format!("it has {found} bytes, but XPath expressions read at most {most} MiB"));
        }
        Tree::read(&envelope)
    }
}

/// A response.
pub(super) struct ResponseValue(Arc<Value>);

impl ToPayload for ResponseValue {
    fn write(
        &self,
        version: Version,
        header: Headers<'_>,
        root: &Root,
        out: Encoder,
        mtom: Option<usize>,
    ) -> Result<Written, Error> {
        self.0.write(version, header, root, out, mtom)
    }
}

/// A response with its header blocks and attachments.
struct MockResponse {
    value: Arc<Value>,
    blocks: Vec<AnyHeader>,
    parts: Vec<Part>,
}

impl MockResponse {
    fn response(self) -> Response<ResponseValue> {
        let MockResponse { value, blocks, parts } = self;
        let response = blocks.into_iter().fold(Response::new(ResponseValue(value)), Response::with_header);
        parts.into_iter().fold(response, Response::with_attachment)
    }
}

impl MockOperation {
    /// Returns the properties of a request and its URL, if they are needed.
    fn request_context<T>(
        &self,
        shared: &Shared,
        request: &Request<T>,
        path: Arc<str>,
    ) -> Result<(RequestContext, Option<RequestAddress>), Fault> {
        let blocks = match self.needs.tree {
            true => request.headers().map_err(|error| Fault::receiver(error.to_string()))?,
            false => Vec::new(),
        };
        let address = shared.address.get().filter(|_| self.needs.url);
        let base = address.and_then(|address| request_url::base(address, request, self.service.description().address));
        let address = base.map(|base| RequestAddress { base, path });
        Ok((RequestContext { version: request.version(), blocks }, address))
    }

    /// Returns the latency of an answer, and the answer.
    fn decide(&self, shared: &Shared, received: &ReceivedRequest) -> (Latency, Result<MockResponse, Fault>) {
        let number = self.number.fetch_add(1, Ordering::Relaxed) + 1;
        if shared.random.is_fault() {
            return (shared.latency, Err(self.random_fault(shared)));
        }
        let mut latency = shared.latency;
        let answer = self.make_answer(shared, received, number, &mut latency);
        let wrong = |message: String| {
            let name = self.operation.name();
            Fault::receiver(format!("the mock has no answer for this request of {name}: {message}"))
        };
        (latency, answer.unwrap_or_else(|message| Err(wrong(message))))
    }

    /// Makes the answer. The outer error is a problem of a rule; the inner one is a fault to send.
    fn make_answer(
        &self,
        shared: &Shared,
        received: &ReceivedRequest,
        number: u64,
        latency: &mut Latency,
    ) -> Result<Result<MockResponse, Fault>, String> {
        let request = match (self.needs.value, received.value()) {
            (true, Some(value)) => {
                let json = value.to_json(MAX_REQUEST_SIZE);
                Some(json.map_err(|error| format!("the request is too large for rules: {error}"))?)
            }
            _ => None,
        };
        let tree = if self.needs.tree { Some(received.tree(self.operation)?) } else { None };
        let (request, tree, address) = (request.as_ref(), tree.as_ref(), received.address.as_ref());
        let mut facts = Facts { request, tree, stored: None, key: None, address, number };
        for rule in &self.rules {
            if !rule.holds(&facts)? {
                continue;
            }
            *latency = rule.latency.unwrap_or(*latency);
            let (key, entry);
            if let Some(stored) = &rule.store {
                key = facts.fill(&stored.key, &mut RemainingSize::new())?;
                facts.key = Some(&key);
                match access_store(shared, stored, &key, &facts)? {
                    Ok(found) => {
                        entry = found;
                        facts.stored = Some(&entry);
                    }
                    Err(refused) => {
                        return Ok(Err(match &stored.otherwise {
                            Some(fault) => fault.make(self.operation, &facts)?,
                            None => Fault::sender(refused),
                        }));
                    }
                }
            }
            return self.make_response(shared, rule.answer.as_ref().or(self.default.as_ref()), &rule.extras, &facts);
        }
        self.make_response(shared, self.default.as_ref(), &Extras::default(), &facts)
    }

    fn make_response(
        &self,
        shared: &Shared,
        outcome: Option<&Outcome>,
        extras: &Extras,
        facts: &Facts<'_>,
    ) -> Result<Result<MockResponse, Fault>, String> {
        let value = match self.outcome(shared, outcome, facts)? {
            Ok(value) => value,
            Err(fault) => return Ok(Err(fault)),
        };
        let (blocks, parts) = extras.make(self.operation, facts)?;
        Ok(Ok(MockResponse { value, blocks, parts }))
    }

    fn outcome(
        &self,
        shared: &Shared,
        outcome: Option<&Outcome>,
        facts: &Facts<'_>,
    ) -> Result<Result<Arc<Value>, Fault>, String> {
        match outcome {
            Some(Outcome::Response(answer)) => answer.make(self.operation, facts).map(Ok),
            Some(Outcome::Fault(fault)) => fault.make(self.operation, facts).map(Err),
            None => {
                let make = || sample_of(shared.contract, &self.service, self.operation);
                self.sample.get_or_init(|| make().map(Arc::new).map_err(|error| format!("{error:#}"))).clone().map(Ok)
            }
        }
    }

    /// Returns a random fault that the operation declares, or a fault with only a reason.
    fn random_fault(&self, shared: &Shared) -> Fault {
        let faults = self.faults.get_or_init(|| fault_samples(shared.contract, &self.service, self.operation));
        let mut fault = Fault::receiver("the mock answers some requests with a fault (--fault-rate)");
        if let Some(detail) = faults.get(shared.random.pick_index(faults.len())) {
            fault.detail = Detail::Other(detail.clone());
        }
        fault
    }
}

/// Performs the store action of a rule. The inner error is a refusal, which becomes a fault.
fn access_store(
    shared: &Shared,
    stored: &StoreAccess,
    key: &str,
    facts: &Facts<'_>,
) -> Result<Result<Json, String>, String> {
    let value = match &stored.value {
        None => None,
        Some(node) => Some(node.fill(facts, &mut RemainingSize::new())?.unwrap_or(Json::Null)),
    };
    if key.is_empty() && stored.action != Action::List {
        return Ok(Err("the request has no key".to_owned()));
    }
    let mut store = shared.store.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(store.perform(stored.action, &stored.kind, key, value))
}

/// Returns a response of an operation, made from the schema.
pub(super) fn sample_of(
    contract: &Contract,
    service: &Service,
    operation: &'static Operation,
) -> anyhow::Result<Value> {
    let name = operation.name();
    let (definitions, bound) =
        contract.bound(service, operation).with_context(|| format!("the contract has no operation {name}"))?;
    let Some((_, shape)) = sample::message(bound, true) else { return Ok(Value::Empty) };
    let payload = shape.sample(shape::sampler(definitions), service.description().version);
    let payload = payload.context("no sample can be made from the schema, and there is no file with an answer")?;
    Ok(operation.response_from_xml(&payload)?)
}

/// Returns samples of the details of the faults that an operation declares.
pub(super) fn fault_samples(contract: &Contract, service: &Service, operation: &'static Operation) -> Vec<String> {
    let Some((definitions, bound)) = contract.bound(service, operation) else { return Vec::new() };
    let version = service.description().version;
    let details = shape::faults(definitions, bound);
    details.filter_map(|(_, detail)| detail.sample(shape::sampler(definitions), version).ok()).collect()
}
