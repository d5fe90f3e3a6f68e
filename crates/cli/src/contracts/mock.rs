//! `castile mock`: a server for any contract.

mod answer;
mod data;
mod extras;
mod json;
mod log;
mod placeholder;
mod random;
mod refusals;
mod request_url;
mod rules;
mod service;
mod store;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use anyhow::bail;
use castile::ExpandedName;
use castile::http::server::{Endpoint, Routes};
use castile::soap::Layer;
use castile_dynamic::{Contract, Operation, Options, Service};
use castile_wsdl::Attachment;
use castile_wss::message::SecurityLayer;
use http::Uri;
use serde_json::Value as Json;

use crate::contracts::contract::{self, Selection};
use crate::contracts::{WSSE, source};
use crate::errors::WARNING;
use crate::signatures::messages;
use crate::{outcome, server};
use data::Data;
use log::Log;
use placeholder::Names;
use random::{Latency, Random, share};
use refusals::Refusals;
use rules::{Reader, RuleTarget};
use service::{Mock, MockOperation, Shared};
use store::Store;

/// The path of the page that shows received requests.
const LOG: &str = "/requests";

/// How long an answer may take, in addition to its latency.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Serve a contract without its implementation: answers are samples or come from files
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract: a WSDL 1.1 file or a bundle; `-` is standard input
    #[arg(value_name = "WSDL")]
    wsdl: PathBuf,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// Serve only this service
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// The folder with answers, OPERATION.json or OPERATION.xml, and with rules.toml, which selects answers by request [default: answers
    /// are samples made from the schema]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The latency of answers: a time, such as 50ms, or a random time in a range, such as 20ms..80ms
    #[arg(long, value_name = "TIME[..TIME]", default_value = "0")]
    latency: Latency,
    /// The share of requests that are answered with a fault, such as 5%
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    fault_rate: f64,
    /// The seed for random latencies and faults. Runs with the same seed and the same requests have the same latencies and faults
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Answer requests that violate the contract with a fault; this is the default
    #[arg(long, conflicts_with = "lenient")]
    strict: bool,
    /// Also answer requests that violate the contract, if their operation can be determined
    #[arg(long)]
    lenient: bool,
    /// Check values in requests and answers against their facets: lengths, patterns, bounds, enumerations
    #[arg(long)]
    facets: bool,
    /// Write a line for each request to standard error; this is the default in a terminal
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    request_security: messages::Incoming,
    #[command(flatten)]
    users: messages::Users,
    #[command(flatten)]
    reply_security: messages::Outgoing,
    #[command(flatten)]
    peer: messages::Peer,
    #[command(flatten)]
    server: server::Arguments,
}

/// Serves until a signal asks the process to end.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut options = Options::default();
    options.facets = arguments.facets;
    (options.documents, options.page) = (true, true);
    let contract = contract::open(&arguments.wsdl, &arguments.catalogs, &options)?;
    // The contract is used until the process ends.
    let contract: &'static Contract = Box::leak(Box::new(contract));
    let services = contract::services(contract, Selection { service: arguments.service.as_deref(), port: None })?;
    let data = arguments.data.as_deref().map(Data::read).transpose()?.unwrap_or_default();
    let is_strict = !arguments.lenient;
    let (mocked, store, problems) = mocked(contract, &services, &data, is_strict);
    if !problems.is_empty() {
        problems.iter().for_each(|problem| outcome::print_message("error", problem));
        bail!("the answers can't be used");
    }
    let is_verbose = arguments.verbose || std::io::stderr().is_terminal();
    let shared = Arc::new(Shared {
        contract,
        store: Mutex::new(store),
        random: Random::new(arguments.seed, arguments.fault_rate),
        latency: arguments.latency,
        is_strict,
        is_verbose,
        address: OnceLock::new(),
    });
    let security = security(&arguments)?;
    let longest = mocked.iter().flatten().map(MockOperation::max_latency).chain([arguments.latency.maximum()]).max();
    let log = Log::default();
    let mut routes = Routes::new();
    let mut served: Vec<(String, &Service)> = Vec::new();
    for (service, operations) in services.into_iter().zip(mocked) {
        let operations: Arc<[MockOperation]> = operations.into();
        for port in service.ports() {
            let Some(path) = path(service, port.address, &served) else { continue };
            served.push((path.clone(), service));
            let mock = Mock::new(*service, &path, operations.clone(), shared.clone());
            routes = match &security {
                Some(security) => routes.route(path, Endpoint::new(log.layer(security.layer(mock)))),
                None => routes.route(path, Endpoint::new(log.layer(mock))),
            };
        }
    }
    let routes = routes.configure(|options| {
        options.request_timeout = ANSWER_TIMEOUT + longest.unwrap_or_default();
        if security.is_none() {
            // The mock checks no identity, but clients of services with logins send this block with mustUnderstand.
            options.messages.understood.push(ExpandedName::new(WSSE, "Security"));
        }
    });
    let mut setup = arguments.server.load()?;
    if is_verbose {
        setup.log_by_default();
    }
    let routes = setup.configure(routes, Some(LOG))?;
    // All services have the same address.
    let routes = routes.configure(|options| {
        shared.address.get_or_init(|| options.address.clone());
    });
    let routes = setup.add_page(routes, LOG, log.charged_to(setup.budget().clone()));
    setup.serve(routes, None)
}

/// Returns what requests must have and what is added to replies, if any option is given.
fn security(arguments: &Arguments) -> anyhow::Result<Option<SecurityLayer>> {
    let Arguments { request_security, users, reply_security, peer, .. } = arguments;
    let replies = reply_security.read(peer, false)?;
    let Some(policy) = reply_security.of_requests(request_security, users, peer)? else {
        if replies.is_some() {
            bail!(
                "replies are secured only if requests are: expected --wss-trust, --wss-ca, --wss-issuer or --wss-users, too"
            );
        }
        return Ok(None);
    };
    let mut layer = SecurityLayer::new(policy);
    if let Some(replies) = replies {
        layer = layer.with_reply_security(replies);
    }
    if reply_security.confirms() {
        layer = layer.with_signature_confirmation();
    }
    let refusals = Refusals::new(arguments.verbose);
    let unsecured = refusals.clone();
    let layer = layer
        .on_refusal(move |reason| refusals.say("refused", reason))
        .on_unsecured_reply(move |reason| unsecured.say("a reply can't be secured", reason));
    Ok(Some(layer))
}

/// Returns the operations of each service with their answers, the initial store, and all problems of the data folder.
fn mocked(
    contract: &'static Contract,
    services: &[&'static Service],
    data: &Data,
    is_strict: bool,
) -> (Vec<Vec<MockOperation>>, Store, Vec<String>) {
    struct DeclaredOperation {
        service: Service,
        operation: &'static Operation,
        prefixes: Arc<[(String, String)]>,
        attachments: &'static [Attachment],
    }
    let mut reader = Reader::new(data, is_strict);
    let declared = reader.prefixes();
    let mut all = Vec::new();
    for service in services {
        let version = service.description().version;
        let known = contract.definitions().map(|known| source::prefixes_of_messages(known, version));
        let known = known.into_iter().flatten().filter(|(prefix, _)| declared.iter().all(|(other, _)| other != prefix));
        let prefixes: Arc<[_]> = declared.iter().cloned().chain(known).collect();
        all.extend(service.operations().iter().map(|operation| {
            let response = contract.bound(service, operation).and_then(|(_, bound)| bound.output.as_ref());
            let attachments = response.map_or(&[][..], |response| &response.attachments[..]);
            DeclaredOperation { service: **service, operation, prefixes: prefixes.clone(), attachments }
        }));
    }
    let samples: Vec<_> = all
        .iter()
        .map(|DeclaredOperation { service, operation, .. }| {
            let sample = move || -> Option<Json> {
                serde_json::to_value(service::sample_of(contract, service, operation).ok()?).ok()
            };
            let fault = move |name: &str| -> Option<Json> {
                let samples = service::fault_samples(contract, service, operation);
                let json = samples.iter().filter_map(|xml| serde_json::to_value(operation.fault_detail(xml)).ok());
                json.filter_map(|mut json| json.get_mut(name).map(Json::take)).next()
            };
            (sample, fault)
        })
        .collect();
    let targets: Vec<RuleTarget<'_>> = all
        .iter()
        .zip(&samples)
        .map(|(DeclaredOperation { service, operation, prefixes, attachments }, (sample, fault_sample))| RuleTarget {
            service: service.description().name,
            names: Names { operation, prefixes },
            sample,
            fault_sample,
            attachments,
        })
        .collect();
    let defaults: Vec<_> = targets.iter().map(|target| reader.default_of(target)).collect();
    let rules = reader.rules(&targets);
    let store = reader.store();
    let mut labels: Vec<&str> = all.iter().map(|known| known.operation.label()).collect();
    labels.sort_unstable();
    labels.dedup();
    let unused = reader.unused(&labels);
    reader.problems.extend(unused);
    // Two services may share an operation and its files, so a problem may be reported twice.
    let mut problems: Vec<String> = Vec::new();
    for problem in reader.problems {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    let mut made = all.iter().zip(rules).zip(defaults);
    let mocked = services.iter().map(|service| {
        let of_service = made.by_ref().take(service.operations().len());
        of_service
            .map(|((known, rules), default)| MockOperation::new(known.service, known.operation, rules, default))
            .collect()
    });
    (mocked.collect(), store, problems)
}

/// The paths of the mock's own pages.
const OWN: [&str; 4] = ["/requests", "/health", "/ready", "/metrics"];

/// Returns the path of a service at a port: the path of its address in the contract, so that clients change only host and port. Returns
/// `None` if a service with the same operations is already served there, because an endpoint accepts all SOAP versions.
fn path(service: &Service, address: &str, served: &[(String, &Service)]) -> Option<String> {
    let named = format!("/{}", service.description().name);
    let address = address.parse::<Uri>().ok();
    let path = address.map_or_else(|| named.clone(), |address| address.path().to_owned());
    let path = match path.starts_with('/') {
        _ if OWN.contains(&&*path) && OWN.contains(&&*named) => format!("/service{named}"),
        _ if OWN.contains(&&*path) => named,
        true => path,
        false => format!("/{path}"),
    };
    let Some((_, other)) = served.iter().find(|(known, _)| *known == path) else { return Some(path) };
    let takes = |service: &Service| -> Vec<_> {
        let operations = service.operations().iter();
        let names = operations.map(|one| (one.soap().request.element.namespace, one.soap().request.element.name));
        names.collect()
    };
    if takes(other) == takes(service) {
        return None;
    }
    let own = format!("{}/{}", path.trim_end_matches('/'), service.description().name);
    if served.iter().any(|(known, _)| *known == own) {
        note!("{WARNING}warning{WARNING:#}: {own} is defined twice; only the first is served");
        return None;
    }
    Some(own)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use castile_xsd::Files;

    use super::*;
    use crate::mutations::check_mutations;

    const RULES: [&str; 5] = [
        include_str!("../../tests/mock/rules/rules.toml"),
        include_str!("../../tests/mock/store/rules.toml"),
        include_str!("../../tests/mock/entries/rules.toml"),
        include_str!("../../tests/mock/security/rules.toml"),
        r#"
[[rule]]
operation = "Price"
headers = ["Price.xml", { Price = { item = "{{url /prices}}" } }]
attachments = [{ file = "Price.json", id = "1@prices", part = "price", type = "text/plain" }, { file = "rules.toml" }]
"#,
    ];

    fn contract() -> &'static Contract {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mock/orders.wsdl");
        Box::leak(Box::new(open(&path).unwrap()))
    }

    fn open(path: &Path) -> Option<Contract> {
        let mut options = Options::default();
        options.documents = true;
        Contract::open(path, &Files::new(), &options).ok()
    }

    /// Wrong input from a user is reported and causes no panic.
    #[test]
    fn rules_and_answers_may_be_anything() {
        let contract = contract();
        let services: Vec<&Service> = contract.services.iter().collect();
        let mut wrong = 0;
        for (name, seeds) in [
            ("rules.toml", &RULES[..]),
            ("GetOrder.json", &[include_str!("../../tests/mock/files/GetOrder.json")]),
            ("Price.xml", &[include_str!("../../tests/mock/files/Price.xml")]),
        ] {
            check_mutations(seeds, |text, random| {
                // Each takes a millisecond or more.
                if random.below(4) == 0 {
                    let (.., problems) = mocked(contract, &services, &Data::of(&[(name, text)]), true);
                    wrong += problems.len();
                }
            });
        }
        assert!(wrong > 0);
    }

    /// The contracts of the suites and of the generator's feature tests.
    fn contracts() -> Vec<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let files = |folder: &str| std::fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let features = files("codegen/tests/features").map(|feature| feature.join("service.wsdl"));
        let mut contracts: Vec<PathBuf> = files("suites/contracts").chain(features).collect();
        contracts.retain(|path| path.extension().is_some_and(|extension| extension == "wsdl") && path.exists());
        // One requires WS-Addressing; the other declares an element twice that may occur once.
        contracts.retain(|path| {
            !["addressing", "ambiguous"].iter().any(|feature| path.ends_with(format!("{feature}/service.wsdl")))
        });
        contracts.sort();
        contracts
    }

    /// Each operation of each contract accepts its sample and answers with one.
    #[tokio::test]
    async fn samples_are_answered_with_samples() {
        let (mut answered, mut different) = (0, Vec::new());
        for path in contracts() {
            let Some(contract) = open(&path) else { continue };
            let contract: &'static Contract = Box::leak(Box::new(contract));
            for service in &contract.services {
                for is_strict in [true, false] {
                    let mut mocked = mocked(contract, &[service], &Data::default(), is_strict).0;
                    let shared = Shared {
                        contract,
                        store: Mutex::default(),
                        random: Random::new(None, 0.0),
                        latency: Latency::default(),
                        is_strict,
                        is_verbose: false,
                        address: OnceLock::new(),
                    };
                    let mut endpoint =
                        Endpoint::new(Mock::new(*service, "/", mocked.remove(0).into(), Arc::new(shared)));
                    for operation in service.operations() {
                        let Some(message) = request(contract, service, operation) else { continue };
                        let (status, answer) = post(&mut endpoint, service, operation, message.clone()).await;
                        answered += 1;
                        let expected = if operation.soap().response.is_some() { 200 } else { 202 };
                        if status != expected {
                            different.push(format!(
                                "{}: {} (strict: {is_strict}): {status} {answer}\nto {message}",
                                path.display(),
                                operation.name()
                            ));
                        }
                    }
                }
            }
        }
        assert!(answered > 200, "{answered}");
        assert!(different.is_empty(), "{} of {answered}\n{}", different.len(), different.join("\n"));
    }

    /// The output of `castile sample` is accepted as an answer, both as JSON and as an envelope.
    #[test]
    fn samples_are_answers() {
        let mut checked = 0;
        for path in contracts() {
            let Some(contract) = open(&path) else { continue };
            let contract: &'static Contract = Box::leak(Box::new(contract));
            for service in &contract.services {
                for operation in service.operations() {
                    let Ok(value) = service::sample_of(contract, service, operation) else { continue };
                    let Some((definitions, bound)) = contract.bound(service, operation) else { continue };
                    let Some((_, shape)) = crate::contracts::sample::message(bound, true) else { continue };
                    let (version, name) = (service.description().version, operation.label());
                    // If several operations share a name, its file answers those without a file of their own, too.
                    if service.operations().iter().filter(|other| other.name() == name).count() > 1 {
                        continue;
                    }
                    let payload = shape.sample(crate::contracts::shape::sampler(definitions), version).unwrap();
                    for (file, text) in [
                        (format!("{name}.json"), serde_json::to_string(&value).unwrap()),
                        (format!("{name}.xml"), crate::contracts::envelope::write(version, &[], &payload)),
                    ] {
                        let (.., problems) = mocked(contract, &[service], &Data::of(&[(&file, &text)]), true);
                        assert!(problems.is_empty(), "{}: {problems:?}\n{text}", path.display());
                        checked += 1;
                    }
                }
            }
        }
        assert!(checked > 200, "{checked}");
    }

    /// A message made from the schema.
    fn request(contract: &Contract, service: &Service, operation: &'static Operation) -> Option<String> {
        let (definitions, bound) = contract.bound(service, operation)?;
        let (message, shape) = crate::contracts::sample::message(bound, false)?;
        let version = service.description().version;
        let payload = shape.sample(crate::contracts::shape::sampler(definitions), version).ok()?;
        let blocks = crate::contracts::shape::blocks(message).into_iter();
        let blocks = blocks.map(|id| crate::contracts::shape::sampler(definitions).element(id).ok());
        Some(crate::contracts::envelope::write(version, &blocks.collect::<Option<Vec<_>>>()?, &payload))
    }

    async fn post(
        endpoint: &mut Endpoint<Mock>,
        service: &Service,
        operation: &Operation,
        message: String,
    ) -> (u16, String) {
        use http_body_util::BodyExt;
        use tower_service::Service;

        let media_type = service.description().version.media_type();
        let action = http::HeaderValue::from_str(&format!("\"{}\"", operation.soap().action));
        let request = http::Request::post("/")
            .header("content-type", format!("{media_type}; charset=utf-8"))
            .header("soapaction", action.unwrap_or(http::HeaderValue::from_static("\"\"")));
        let body = castile::http::Body::from(bytes::Bytes::from(message));
        let (head, body) = endpoint.call(request.body(body).unwrap()).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (head.status.as_u16(), String::from_utf8_lossy(&body).into_owned())
    }

    #[test]
    fn a_path_is_that_of_the_address() {
        let contract = contract();
        let service = &contract.services[0];
        assert_eq!(path(service, service.description().address, &[]).as_deref(), Some("/orders"));
        // An endpoint accepts all SOAP versions.
        assert_eq!(path(service, service.description().address, &[("/orders".to_owned(), service)]), None);
    }
}
