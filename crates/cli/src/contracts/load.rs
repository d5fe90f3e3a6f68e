//! `castile load`: a load test for any SOAP service that has a contract.

mod calendar;
mod feed;
mod feed_values;
mod judge;
pub(crate) mod locust;
pub(super) mod merge;
pub(crate) mod metrics;
mod mix;
mod pace;
mod peak;
mod reports;
mod sample;
mod script;
mod service;
mod template;
mod workers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use castile_load::{Bench, Case, ErrorKind, Interrupt, Load, Placement, Progress, Requests, Target, with_warnings};
use castile_report::Results;
use castile_soap::Redaction;
use castile_wsdl::{Definitions, Diagnostic, Severity};
use castile_xml::{visible, visible_lines};

use crate::contracts::expression::Expression;
use crate::contracts::{envelope, problems, source};
use crate::quantity::{count, status};
use crate::signatures::messages;
use crate::{errors, login, measurement, outcome, process, tls};
use feed::{Feed, FeedCursor};
use judge::{Extract, Judge};
use metrics::Live;
use mix::{Mix, Sources};
use reports::Reports;
use script::UserScript;
use service::{Named, Service};
use template::Template;

/// Load-test a SOAP service that has a contract, and report the results; docs/load.md is the guide
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract: a WSDL 1.1 file or a bundle; `-` is standard input
    #[arg(value_name = "WSDL")]
    wsdl: PathBuf,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// An operation to call. With several, each user calls them in the given order; WEIGHT is how often each is called in a round
    #[arg(long = "operation", value_name = "OP[=WEIGHT]", required = true)]
    operations: Vec<Named>,
    /// The URL to send requests to [default: the address of the port]
    #[arg(long)]
    url: Option<String>,
    /// The service to use if the contract has several
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// The port to use [default: the first port that speaks SOAP and has the operations]
    #[arg(long, value_name = "NAME")]
    port: Option<String>,
    /// Show the first request of each operation and send nothing
    #[arg(long)]
    dry_run: bool,

    /// The message to send: a file with a payload or an envelope, or a folder of such files, which are sent in turn [default: a sample made
    /// from the schema]
    #[arg(long = "message", value_name = "[OP=]FILE", help_heading = "Messages")]
    messages: Vec<PathBuf>,
    /// A message, or a folder of messages, with placeholders. {{NAME}} is replaced by a column of --feed or a value of --extract
    #[arg(long = "template", value_name = "[OP=]FILE", help_heading = "Messages")]
    templates: Vec<PathBuf>,
    /// Data for the templates: a CSV file with column names in the first row, or a file of JSON lines
    #[arg(long, value_name = "FILE", help_heading = "Messages")]
    feed: Option<PathBuf>,
    /// What to do at the end of the feed, and whether users share its rows [default: recycle,shared]
    #[arg(long, value_name = "MODE", value_delimiter = ',', requires = "feed", help_heading = "Messages")]
    feed_mode: Vec<feed::Mode>,
    /// When to take a row of the feed
    #[arg(long, value_name = "WHAT", default_value = "request", requires = "feed", help_heading = "Messages")]
    feed_per: FeedPer,
    /// Extract a value from the answers of OP, or of all operations, for later requests of the same user
    #[arg(long = "extract", value_name = "[OP:]NAME=XPATH", help_heading = "Messages")]
    extracts: Vec<String>,
    /// A namespace prefix for XPath expressions [default: the prefixes of the contract's root element, soap, and tns for its target
    /// namespace]
    #[arg(long = "namespace", value_name = "PREFIX=URI", help_heading = "Messages")]
    namespaces: Vec<String>,
    /// A header field for each HTTP request
    #[arg(long = "header", value_name = "NAME: VALUE", help_heading = "Messages")]
    headers: Vec<String>,
    /// A SOAP header block for each envelope: a file that contains the element
    #[arg(long = "soap-header", value_name = "FILE", help_heading = "Messages")]
    blocks: Vec<PathBuf>,

    #[command(flatten)]
    load: pace::Arguments,
    #[command(flatten)]
    locust: locust::Arguments,
    #[command(flatten)]
    workers: workers::Arguments,

    /// Whether answers must be faults
    #[arg(long, value_name = "WHAT", default_value = "no-fault", help_heading = "Assertions")]
    expect: judge::Expected,
    /// A status code that answers may have; may be repeated [default: 200, or 202 without a response; with --expect fault 200, 400 or 500]
    #[arg(long, value_name = "CODE", value_parser = status, help_heading = "Assertions")]
    expect_status: Vec<u16>,
    /// A text that answers must contain; may be repeated
    #[arg(long, value_name = "TEXT", help_heading = "Assertions")]
    expect_contains: Vec<String>,
    /// Require answers to be valid against the schema; checked for a sample of the answers
    #[arg(long, help_heading = "Assertions")]
    expect_valid: bool,
    /// An XPath expression that must be true for answers; checked for a sample of the answers; may be repeated
    #[arg(long, value_name = "XPATH", help_heading = "Assertions")]
    expect_xpath: Vec<String>,
    /// The size of the sample: one in N answers, and the first answer of each connection
    #[arg(long, value_name = "N", default_value = "100", value_parser = count::<u64>, help_heading = "Assertions")]
    check_one_in: u64,
    #[command(flatten)]
    security: messages::Outgoing,
    #[command(flatten)]
    answer_security: messages::Answers,
    #[command(flatten)]
    peer: messages::Peer,
    #[command(flatten)]
    login: login::Arguments,
    #[command(flatten)]
    tls: tls::ClientArguments,
    #[command(flatten)]
    reports: Reports,
    #[command(flatten)]
    metrics: metrics::Arguments,
}

/// When to take a row of a feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FeedPer {
    /// For each request made from a template with feed columns
    Request,
    /// For each round of all operations of a user
    Round,
}

/// Runs the load, reports the results, and returns the exit code.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    outcome::run(prepare(arguments), |(bench, warnings)| {
        if let Some(part) = arguments.workers.part() {
            return workers::take_part(&bench, part);
        }
        let live = arguments.metrics.serve().map_err(outcome::not_started)?;
        if let Some(address) = arguments.locust.address() {
            return locust::work(bench, address, arguments.locust.worker_name(), live);
        }
        let mut results = match arguments.workers.count() {
            Some(workers) => workers::lead(&bench, workers, &arguments.reports.outcome, &live)?,
            None => measure(bench, &arguments.reports.outcome, live)?,
        };
        process::end_on_signal();
        // The report must also contain the warnings that were printed at the start.
        results.warnings.splice(..0, warnings);
        arguments.reports.report(&results)
    })
}

/// Reads all inputs without sending anything. Returns the bench to run and warnings about the messages, or `None` for a dry run.
fn prepare(arguments: &Arguments) -> anyhow::Result<Option<(Bench, Vec<String>)>> {
    arguments.reports.expect_files()?;
    if arguments.workers.count().is_some()
        && let Some(option) = arguments.login.asks().or_else(|| arguments.security.asks())
    {
        bail!("found {option}, expected a file with the secret: each of the --workers reads it");
    }
    for criterion in arguments.reports.outcome.fail_if() {
        arguments.load.expect_measured("--fail-if", criterion)?;
    }
    arguments.load.until().map_or(Ok(()), |criterion| arguments.load.expect_measured("--until", criterion))?;
    let definitions = contract(arguments)?;
    let operations = service::merged(&arguments.operations);
    let service = Service::choose(
        definitions,
        arguments.service.as_deref(),
        arguments.port.as_deref(),
        &operations,
        arguments.url.is_some(),
    )?;
    let url = arguments.url.clone().or_else(|| service.address.clone());
    let url = url.context("the port has no address, expected --url")?;
    let (processes, files) = (arguments.workers.processes(), arguments.metrics.files());
    // The process that starts the others has the figures and no users.
    let of_each = if arguments.workers.count().is_some() { 0 } else { files };
    let (plan, search) = arguments.load.plan(arguments.check_one_in, processes, of_each)?;
    arguments.workers.check(&plan)?;
    let plan = match arguments.workers.part() {
        Some(part) => part.of(plan),
        None if arguments.locust.address().is_some() => locust::plan(plan, files),
        None => plan,
    };
    let mix = Arc::new(mix(arguments, service)?);
    let warnings = mix::warnings(&mix);
    // One of several processes leaves it to the one that started them.
    for warning in warnings.iter().filter(|_| arguments.workers.part().is_none()) {
        let style = errors::WARNING;
        note!("{style}warning{style:#}: {warning}");
    }
    if arguments.dry_run {
        show(&mix, &url)?;
        return Ok(None);
    }
    let parts: Arc<[String]> = mix.service.operations.iter().map(|operation| operation.name.clone()).collect();
    let case = Case {
        suite: mix.service.name.clone(),
        name: parts.join(" + "),
        style: None,
        path: String::new(),
        requests: Requests::Scripted {
            parts,
            list: mix.round.clone(),
            begin: Arc::new(move |_| Box::new(UserScript::new(&mix))),
        },
    };
    // Header fields from the command line may contain placeholders, so the mix writes them.
    if arguments.workers.part().is_none() {
        arguments.security.warn_in_clear(&url);
    }
    let endpoint = arguments.login.endpoint(&url, &arguments.tls, "")?;
    arguments.load.expect_sources(endpoint.address.ip())?;
    let target = Target::external(&url, endpoint);
    let target = match arguments.load.server_pid {
        Some(process) => target.of_process(process).context("--server-pid")?,
        None => target,
    };
    let bench = Bench {
        loads: vec![Load { search, ..Load::new(case, plan) }],
        targets: vec![target],
        placement: Placement::external(),
        // The command line decides how much load there is and for how long, so no run is repeated.
        repeats: 0,
        command: measurement::own_command(),
        interrupt: Interrupt::default(),
    };
    Ok(Some((bench, warnings)))
}

fn contract(arguments: &Arguments) -> anyhow::Result<&'static Definitions> {
    if arguments.workers.count().is_some() && arguments.wsdl.as_os_str() == "-" {
        bail!("found a contract on standard input, expected a file: each of the --workers reads it");
    }
    let (path, files) = arguments.catalogs.contract(&arguments.wsdl)?;
    let (definitions, mut diagnostics) = castile_wsdl::open(&path, &files);
    let shown = path.display().to_string();
    let errors = |diagnostics: &[Diagnostic]| {
        diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    };
    let defects = errors(&diagnostics);
    if definitions.as_ref().is_some_and(Definitions::is_usable) {
        castile_wsdl::forgive(&mut diagnostics);
    }
    // Only errors matter here; `castile describe` shows the warnings.
    diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
    problems::report(&shown, &diagnostics, Severity::Error)?;
    let Some(definitions) = definitions else { bail!("{shown} is not a contract") };
    problems::warn_of_defects(&shown, defects);
    // All threads use the definitions until the process ends.
    Ok(Box::leak(Box::new(definitions)))
}

fn expression(text: &str, prefixes: &[(String, String)]) -> anyhow::Result<Expression> {
    Expression::new(text, prefixes, |prefix| format!("--namespace {prefix}=URI adds it"))
}

fn mix(arguments: &Arguments, service: Service) -> anyhow::Result<Mix> {
    let mut prefixes = Vec::new();
    for given in &arguments.namespaces {
        let (prefix, namespace) =
            given.split_once('=').with_context(|| format!("found the namespace {given:?}, expected PREFIX=URI"))?;
        if prefix.is_empty() || namespace.is_empty() {
            bail!("found the namespace {given:?}, expected PREFIX=URI, with a prefix and a URI");
        }
        prefixes.push((prefix.to_owned(), namespace.to_owned()));
    }
    let known = service.prefixes().into_iter();
    let unknown: Vec<_> = known.filter(|(prefix, _)| prefixes.iter().all(|(own, _)| own != prefix)).collect();
    prefixes.extend(unknown);

    let mut values: Vec<String> = Vec::new();
    let mut extracts = Vec::new();
    for given in &arguments.extracts {
        extracts.push(extract(given, &service, &prefixes, &mut values)?);
    }
    let feed = arguments.feed.as_deref().map(Feed::read).transpose()?;
    if let Some(name) = feed.iter().flat_map(Feed::columns).find(|name| values.contains(name)) {
        bail!("{name} is both a column of the feed and an --extract, expected different names");
    }
    let mut blocks = Vec::new();
    for path in &arguments.blocks {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).with_context(|| format!("{shown} can't be read"))?;
        blocks.push(envelope::fragment(&bytes, &shown)?.text);
    }
    let sources = Sources {
        messages: &arguments.messages,
        templates: &arguments.templates,
        blocks: &blocks,
        values: &values,
        feed: feed.as_ref(),
    };
    let messages = sources.messages(&service)?;
    let headers = login::headers(&arguments.headers)?;
    arguments.login.expect_no_other(&headers)?;
    let headers = sources.headers(&service, &headers)?;
    let mut templates = messages.iter().flatten().map(|message| &message.template).chain(&headers);
    if feed.is_some() && !templates.any(Template::uses_feed) {
        bail!("no --template and no --header uses a column of the --feed");
    }
    let feed = match feed {
        Some(feed) => {
            let turns = FeedCursor::new(feed.len(), &arguments.feed_mode)?;
            let part = arguments.workers.part();
            Some((feed, part.map_or(turns.clone(), |part| turns.part(part.number, part.count))))
        }
        None => None,
    };
    let expressions = arguments.expect_xpath.iter().map(|text| expression(text, &prefixes));
    let judge = Judge {
        definitions: service.definitions,
        fault: arguments.expect,
        statuses: arguments.expect_status.clone(),
        contains: arguments.expect_contains.clone(),
        is_valid: arguments.expect_valid,
        expressions: expressions.collect::<Result<_, _>>()?,
        extracts,
    };
    if judge.is_valid {
        judge::can_be_valid(&service)?;
    }
    let security = arguments.security.of_users(&arguments.answer_security, &arguments.peer, arguments.dry_run)?;
    let mut mix = Mix::new(service, messages, headers, feed, arguments.feed_per == FeedPer::Round, values, judge);
    mix.secures_requests = arguments.security.is_given();
    mix.security = security;
    Ok(mix)
}

/// Parses `[OP:]NAME=XPATH`.
fn extract(
    given: &str,
    service: &Service,
    prefixes: &[(String, String)],
    values: &mut Vec<String>,
) -> anyhow::Result<Extract> {
    let wrong = || format!("found the value {given:?}, expected [OP:]NAME=XPATH");
    let (name, text) = given.split_once('=').with_context(wrong)?;
    let (operation, name) = match name.split_once(':') {
        None => (None, name),
        Some((operation, name)) => {
            let found = service.operations.iter().position(|known| known.name == operation);
            (
                Some(found.with_context(|| format!("{given:?} belongs to {operation}, which is not an --operation"))?),
                name,
            )
        }
    };
    if name.is_empty() || name.contains(['{', '}']) || name.trim() != name {
        bail!("{}", wrong());
    }
    let value = values.iter().position(|known| known == name).unwrap_or_else(|| {
        values.push(name.to_owned());
        values.len() - 1
    });
    Ok(Extract { value, operation, expression: expression(text, prefixes)? })
}

/// Prints the first request of each operation.
fn show(mix: &Arc<Mix>, url: &str) -> anyhow::Result<()> {
    use castile_load::{NoRequest, Request, Script};

    let mut script = UserScript::new(mix);
    let mut shown = Vec::new();
    for (number, operation) in mix.round.iter().enumerate() {
        let mut request = Request::default();
        let written = script.write(number, &mut request);
        if shown.contains(operation) {
            continue;
        }
        shown.push(*operation);
        let Request { headers, body } = request;
        out!("POST {url}\n{}", visible_lines(&headers.replace('\r', "")));
        match written {
            Ok(()) if mix.secures_requests => out!("{}\n", visible_lines(&Redaction::new().redact(&body))),
            Ok(()) => out!("{}\n", visible_lines(&String::from_utf8_lossy(&body))),
            Err(NoRequest::Failed(why)) => out!("({})\n", visible(&why)),
            Err(NoRequest::Done) => bail!("the feed has no row for the first round"),
        }
    }
    Ok(())
}

fn measure(mut bench: Bench, outcome: &outcome::Arguments, live: Live) -> anyhow::Result<Results> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let interrupt = bench.interrupt.clone();
    let measured = async {
        // A load without a reachable server measures nothing.
        for target in &bench.targets {
            target.reach(&bench.loads[0].plan).await.map_err(outcome::not_started)?;
        }
        let mut progress = Progress::new(bench.planned()).on_run(move |counter| live.watch(counter));
        let results = bench.run(&mut progress).await.map_err(|error| match error.kind() {
            ErrorKind::Answer => outcome::not_started(error),
            _ => error.into(),
        });
        let mut results = with_warnings(results?);
        outcome.record(&mut results);
        Ok(results)
    };
    runtime.block_on(async {
        tokio::select! {
            results = measured => results,
            error = measurement::interrupted(&interrupt) => Err(error),
        }
    })
}
