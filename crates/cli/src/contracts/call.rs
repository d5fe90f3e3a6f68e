//! `castile call`: calls an operation of a service whose contract is read at run time.

mod answer;
mod arguments;
mod cookies;
mod editor;
mod envelopes;
mod files;
mod parts;
mod saved;
mod tap;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use bytes::Bytes;
use castile::codegen::{Caller, Encoder, NoDetail, Root};
use castile::http::client::{self, Transport};
use castile::mime::{ContentId, Part};
use castile::{Any, AnyHeader, Call, CallError, ClientOptions, Raw, Response, soap};
use castile_dynamic::{JsonError, Operation, Options, Service, Value};
use castile_soap::{FromPayload, Headers, MessageSecurity, ToPayload, Written};
use http::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use serde_json::Value as Json;

use crate::contracts::contract::{self, Selection};
use crate::contracts::{envelope, source};
use crate::signatures::messages;
use crate::{login, outcome, quantity, tls};
use cookies::Jar;
use envelopes::Changes;
use files::{content, text};
use tap::Tap;
use tempfile::NamedTempFile;

/// Call an operation of a service with arguments from the command line, and print the answer
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract: a WSDL 1.1 file or a bundle; `-` is standard input
    #[arg(value_name = "WSDL")]
    wsdl: PathBuf,
    /// The operation, by its name in the contract. If several operations share a name, NAME.2 is the second
    #[arg(value_name = "OPERATION")]
    operation: Option<String>,
    /// A value of the request: PATH=TEXT, PATH:=JSON, or PATH@=FILE for the content of a file. Examples: customer.name=Ann
    /// item[0].quantity=2 @priority=high
    #[arg(value_name = "PATH=VALUE")]
    values: Vec<String>,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// Read the request from this JSON file; `-` is standard input. Values from the command line override it
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    json: Option<PathBuf>,
    /// Send the XML element in this file unchanged. An envelope is sent as it is, unless options add header blocks. `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "values"], help_heading = "Request")]
    xml: Option<PathBuf>,
    /// Check values in the request and the answer against the facets of their types
    #[arg(long, help_heading = "Request")]
    facets: bool,
    /// Write the request in an editor, which starts with a sample request. VISUAL or EDITOR names the editor
    #[arg(long, conflicts_with_all = ["json", "xml", "values"], help_heading = "Request")]
    edit: bool,
    /// Send the request to this URL instead of the address in the contract
    #[arg(long, value_name = "URL", help_heading = "Request")]
    url: Option<String>,
    /// The service to use if several have the operation
    #[arg(long, value_name = "NAME", help_heading = "Request")]
    service: Option<String>,
    /// The port to use if the service has several; it determines the address and the SOAP version
    #[arg(long, value_name = "NAME", help_heading = "Request")]
    port: Option<String>,
    /// The SOAP version [default: that of the port]
    #[arg(long, value_name = "VERSION", value_parser = version, help_heading = "Request")]
    soap: Option<soap::Version>,
    /// An HTTP header field; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE", help_heading = "Request")]
    headers: Vec<String>,
    /// SOAP header blocks: a file that contains the XML element, or a JSON object of blocks that the contract declares, such as {"session":
    /// {"user": "ann"}}; may be repeated
    #[arg(long = "soap-header", value_name = "FILE|JSON", help_heading = "Request")]
    blocks: Vec<String>,
    /// Attach this file; ;type= gives its media type; may be repeated
    #[arg(long = "attach", value_name = "FILE[;part=NAME][;id=ID][;type=TYPE]", help_heading = "Request")]
    attachments: Vec<String>,
    /// Send the cookies that this file has for the server, and save the cookies that the answer sets. The file need not exist
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    cookies: Option<PathBuf>,
    /// How long the call may take. Saving attachments may take longer, as long as data arrives
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = quantity::positive_time, help_heading = "Request")]
    timeout: Duration,
    /// Print the request and send nothing
    #[arg(long, help_heading = "Output")]
    dry_run: bool,
    /// Print the answer as JSON, even in a terminal
    #[arg(long = "as-json", help_heading = "Output")]
    as_json: bool,
    /// Print the received message unchanged
    #[arg(long, conflicts_with = "as_json", help_heading = "Output")]
    raw: bool,
    /// Write the attachments of the answer, and its large binary values, to files in this folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Print timings to standard error: host lookup, connect, TLS handshake, first byte, total
    #[arg(long, conflicts_with = "dry_run", help_heading = "Output")]
    time: bool,
    /// Print the sent and received data to standard error
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,
    #[command(flatten)]
    saved: saved::Arguments,
    #[command(flatten)]
    security: messages::Outgoing,
    #[command(flatten)]
    answer_security: messages::Answers,
    #[command(flatten)]
    peer: messages::Peer,
    #[command(flatten)]
    login: login::Credentials,
    #[command(flatten)]
    tls: tls::ClientArguments,
}

fn version(text: &str) -> Result<soap::Version, String> {
    match text {
        "1.1" => Ok(soap::Version::Soap11),
        "1.2" => Ok(soap::Version::Soap12),
        _ => Err("expected 1.1 or 1.2".to_owned()),
    }
}

/// Makes the call and prints the answer.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    outcome::run(prepare(arguments).map(Some), |call| call.make(arguments))
}

/// A call that is ready to be sent.
struct Prepared {
    /// The file written in the editor, which is kept until there is an answer.
    written: Option<NamedTempFile>,
    service: Service,
    operation: &'static Operation,
    request: Payload,
    url: String,
    version: Option<soap::Version>,
    blocks: Vec<AnyHeader>,
    headers: Vec<(HeaderName, HeaderValue)>,
    parts: Vec<Part>,
    transport: Transport,
    security: Option<Arc<dyn MessageSecurity>>,
    cookies: Option<Jar>,
}

enum Payload {
    Value(Value),
    Xml(Raw),
    /// A whole envelope.
    Message(Bytes),
}

fn prepare(arguments: &Arguments) -> anyhow::Result<Prepared> {
    let mut options = Options::default();
    options.facets = arguments.facets;
    // The sample that the editor starts with needs the documents.
    options.documents = arguments.edit;
    let wanted = Selection { service: arguments.service.as_deref(), port: arguments.port.as_deref() };
    let Some(name) = &arguments.operation else {
        let contract = contract::open(&arguments.wsdl, &arguments.catalogs, &options)?;
        let services = contract::services(&contract, wanted)?;
        let known: Vec<&str> =
            services.iter().flat_map(|service| service.operations()).map(|operation| operation.label()).collect();
        bail!("found no operation, expected one of {}", known.join(", "));
    };
    let others = [&arguments.json, &arguments.xml].into_iter().flatten();
    if others.chain([&arguments.wsdl]).filter(|path| *path == Path::new("-")).count() > 1 {
        bail!("the contract and the request can't both be read from standard input: save one of them to a file");
    }
    let mut contract = contract::open_for(name, &arguments.wsdl, &arguments.catalogs, &options)?;
    let (service, operation) = match contract::find(&contract, wanted, name) {
        Ok(found) => found,
        // `contract` has only the operation. The full contract is read to report a named service or port that lacks the operation.
        Err(_) if (wanted.service.is_some() || wanted.port.is_some()) && arguments.wsdl != Path::new("-") => {
            contract = contract::open(&arguments.wsdl, &arguments.catalogs, &options)?;
            contract::find(&contract, wanted, name)?
        }
        Err(error) => return Err(error),
    };
    let port = wanted.port_of(&service, arguments.soap);
    let address = port.map_or("", |port| port.address);
    let url = match &arguments.url {
        Some(url) => url.clone(),
        // Nothing is sent to this address.
        None if arguments.dry_run && address.is_empty() => "http://localhost/".to_owned(),
        None => address.to_owned(),
    };
    if url.is_empty() {
        bail!("the contract has no address for the service {}, expected --url", service.description().name);
    }
    let given: Vec<Vec<AnyHeader>> =
        arguments.blocks.iter().map(|given| blocks(operation, given)).collect::<Result<_, _>>()?;
    let mut blocks: Vec<AnyHeader> = given.into_iter().flatten().collect();
    let parts = arguments.attachments.iter().map(|given| attachment(given)).collect::<Result<_, _>>()?;
    let headers = arguments.headers.iter().map(|line| header(line)).collect::<Result<_, _>>()?;
    expect_url(&url)?;
    let first_files = arguments.save.as_deref().map(answer::first_files);
    if let Some(first) = first_files.iter().flatten().find(|first| first.exists()) {
        bail!("{} exists already, and --save overwrites no file", first.display());
    }
    arguments.saved.expect_places()?;
    arguments.security.warn_in_clear(&url);
    let security = arguments.security.of_client(&arguments.answer_security, &arguments.peer, arguments.dry_run)?;
    let version = arguments.soap.or(port.map(|port| port.version));
    let transport = transport(arguments, &url)?;
    let cookies = arguments.cookies.as_deref().map(|file| Jar::open(&transport, file)).transpose()?;
    let mut written = None;
    // The editor is opened last, after all other inputs were checked, so that no input typed there is lost.
    let request = match &arguments.xml {
        Some(file) => {
            let adds = match (arguments.security.first(), arguments.blocks.is_empty()) {
                (Some(option), _) => Some(option),
                (None, false) => Some("--soap-header"),
                (None, true) if service.description().addressing.required => {
                    Some("WS-Addressing, which the contract requires,")
                }
                (None, true) => None,
            };
            let (request, of_file) = envelopes::request(
                operation,
                file,
                Changes { version: version.unwrap_or(service.description().version), adds },
            )?;
            add_blocks(&mut blocks, of_file);
            request
        }
        None if arguments.edit => {
            let (value, of_file, file) = editor::request(&contract, &service, operation)?;
            add_blocks(&mut blocks, of_file);
            written = Some(file);
            Payload::Value(value)
        }
        None => Payload::Value(value(operation, arguments)?),
    };
    Ok(Prepared {
        written,
        service,
        operation,
        request,
        blocks,
        headers,
        parts,
        transport,
        security: security.map(|security| -> Arc<dyn MessageSecurity> { Arc::new(security) }),
        cookies,
        url,
        version,
    })
}

fn expect_url(url: &str) -> anyhow::Result<()> {
    if is_url(url) {
        return Ok(());
    }
    // The part before `@` may be a login, which isn't printed.
    let shown = url.rsplit_once('@').map_or(url, |(_, behind)| behind);
    let completed = format!("http://{shown}");
    let has_scheme = shown.contains("://");
    let example = if !has_scheme && is_url(&completed) { &completed } else { "http://127.0.0.1:8080/orders" };
    bail!("found the address {shown:?}, expected a URL such as {example}")
}

fn is_url(url: &str) -> bool {
    let Ok(url) = url.parse::<http::Uri>() else { return false };
    matches!(url.scheme_str(), Some("http" | "https")) && url.host().is_some_and(|host| !host.is_empty())
}

/// Reads the value of `--attach`: a file and its options.
fn attachment(given: &str) -> anyhow::Result<Part> {
    let Attached { file, part, id, media_type } = attached(given)?;
    let id = match (id, part) {
        (Some(id), _) => ContentId::parse(id)?,
        (None, None) => ContentId::random()?,
        // The Content-ID names the part of the message that this attachment is (Attachments Profile 1.0 §3.8).
        (None, Some(part)) => ContentId::parse(&format!("{part}={}", ContentId::random()?.as_str()))?,
    };
    Ok(Part::new(id, &media_type, content(Path::new(file))?.into())?)
}

/// The parsed value of `--attach`.
#[derive(Debug, PartialEq)]
struct Attached<'a> {
    file: &'a str,
    part: Option<&'a str>,
    id: Option<&'a str>,
    media_type: Cow<'a, str>,
}

/// Splits the value of `--attach`. Options may have any order. A media type may be followed by its own parameters.
fn attached(given: &str) -> anyhow::Result<Attached<'_>> {
    const NAMES: [&str; 3] = ["part=", "id=", "type="];
    let starts = |text: &str| NAMES.iter().any(|name| text.starts_with(name));
    // A file name may contain semicolons.
    let end = given.match_indices(';').map(|(at, _)| at).find(|at| starts(&given[at + 1..])).unwrap_or(given.len());
    let (file, options) = given.split_at(end);
    let (mut part, mut id, mut media_type) = (None, None, None::<Cow<'_, str>>);
    let mut is_behind_type = false;
    for option in options.split(';').skip(1) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let of = match name {
            "part" => &mut part,
            "id" => &mut id,
            "type" if media_type.is_none() => {
                media_type = Some(value.into());
                is_behind_type = true;
                continue;
            }
            _ => match media_type.as_mut().filter(|_| is_behind_type) {
                Some(of) => {
                    let of = of.to_mut();
                    of.push(';');
                    of.push_str(option);
                    continue;
                }
                None => bail!("found {option:?} in --attach {given}, expected part=NAME, id=ID or type=TYPE"),
            },
        };
        if of.replace(value).is_some() {
            bail!("found {name}= twice in --attach {given}");
        }
        is_behind_type = false;
    }
    if let (Some(part), Some(id)) = (part, id) {
        // The part name is in the Content-ID, which `id` sets.
        bail!(
            "found part={part} and id={id} in --attach {given}, expected one of them: part={part} makes the \
             Content-ID {part}=…, and id={part}={id} makes one with your own ID, so that cid:{part}={id} refers to it"
        );
    }
    Ok(Attached { file, part, id, media_type: media_type.unwrap_or("application/octet-stream".into()) })
}

/// Adds the header blocks of a file, except those that the command line also gives.
fn add_blocks(given: &mut Vec<AnyHeader>, of_file: Vec<Any>) {
    let of_file = of_file.into_iter().map(AnyHeader::from);
    let others: Vec<AnyHeader> =
        of_file.filter(|block| given.iter().all(|one| one.block.name() != block.block.name())).collect();
    given.extend(others);
}

/// Reads header blocks from JSON, or from an XML file, which may contain an envelope.
fn blocks(operation: &'static Operation, given: &str) -> anyhow::Result<Vec<AnyHeader>> {
    let parsed = |element: &str| Any::parse(element).with_context(|| format!("{given} is not a header block"));
    if given.trim_start().starts_with('{') {
        let json =
            serde_json::from_str(given).with_context(|| format!("the header blocks {given:?} are not valid JSON"))?;
        let elements = operation.header_from_json(&json).map_err(|first| {
            let reasons = several(first, &operation.header_problems(&json));
            anyhow::anyhow!("the header blocks can't be sent:{reasons}")
        })?;
        return elements.iter().map(|element| parsed(element).map(AnyHeader::from)).collect();
    }
    let element = parsed(&envelopes::element(Path::new(given))?)?;
    let blocks = match envelope::blocks(&element)? {
        Some(blocks) if blocks.is_empty() => bail!("{given} is an envelope without header blocks"),
        Some(blocks) => blocks,
        None => vec![element],
    };
    Ok(blocks.into_iter().map(AnyHeader::from).collect())
}

/// Returns the value of the request: the JSON file, overridden by values of the command line.
fn value(operation: &'static Operation, arguments: &Arguments) -> anyhow::Result<Value> {
    let mut json = match &arguments.json {
        None => Json::Object(serde_json::Map::new()),
        Some(file) => {
            let text = text(file)?;
            serde_json::from_str(&text).with_context(|| format!("{} is not valid JSON", file.display()))?
        }
    };
    arguments::put_all(&mut json, &arguments.values, operation)?;
    operation.request_from_json(&json).map_err(|first| {
        let reasons = several(first, &operation.request_problems(&json));
        anyhow::anyhow!("{} can't be called with this:{reasons}", operation.name())
    })
}

/// Formats the problems. If there are several, each is on its own line.
fn several(first: JsonError, problems: &[JsonError]) -> String {
    match problems {
        several @ [_, _, ..] => several.iter().map(|problem| format!("\n  {problem}")).collect(),
        _ => format!(" {first}"),
    }
}

fn header(line: &str) -> anyhow::Result<(HeaderName, HeaderValue)> {
    let Some((name, value)) = line.split_once(':') else {
        bail!("found the header {line:?}, expected NAME: VALUE");
    };
    let name: HeaderName = name.trim().parse().with_context(|| format!("{name:?} is not a valid header name"))?;
    if name == http::header::CONTENT_TYPE {
        bail!("found the header Content-Type, which is derived from the message and can't be set");
    }
    let value: HeaderValue =
        value.trim().parse().with_context(|| format!("{line:?} has characters that are not allowed in a header"))?;
    if name == "soapaction" && value.to_str().is_err() {
        bail!("{line:?} has characters that are not allowed in a SOAPAction, expected ASCII");
    }
    Ok((name, value))
}

fn transport(arguments: &Arguments, url: &str) -> anyhow::Result<Transport> {
    let mut options = client::Options::default();
    options.request_timeout = arguments.timeout;
    options.credentials = arguments.login.credentials(url, arguments.dry_run)?;
    options.cookies = arguments.cookies.is_some();
    options.times = arguments.time;
    if let Some(tls) = arguments.tls.for_url(url)? {
        options.tls = tls;
    }
    Ok(Transport::with_options(options))
}

impl Prepared {
    /// Sends the call and prints its answer. The exit code distinguishes a fault from a response.
    fn make(self, arguments: &Arguments) -> anyhow::Result<u8> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(self.exchange(arguments))
    }

    async fn exchange(self, arguments: &Arguments) -> anyhow::Result<u8> {
        let Prepared {
            written,
            service,
            operation,
            request,
            url,
            blocks,
            headers,
            parts,
            transport,
            security,
            cookies,
            version,
        } = self;
        let added = added_headers(arguments, cookies.as_ref(), &url);
        let tap = match arguments.dry_run {
            true => Tap::dry(transport, added),
            false => {
                let records = arguments.raw || arguments.verbose || arguments.saved.are_given();
                Tap::new(transport, records, added)
            }
        };
        let has_secrets = arguments.security.is_given() || !blocks.is_empty() || matches!(request, Payload::Message(_));
        let tap = if has_secrets { tap.redacted() } else { tap };
        let begun = Instant::now();
        let mut options = ClientOptions::default();
        options.timeout = Some(arguments.timeout);
        options.version = version;
        options.security = security;
        let caller = Caller::with_transport(&url, tap.clone(), service.description());
        let caller = caller.map_err(outcome::not_started)?.with_options(options);
        let soap = operation.soap();
        let (actions, headers): (Vec<_>, Vec<_>) = headers.into_iter().partition(|(name, _)| name == "soapaction");
        let action = actions.last().and_then(|(_, value)| value.to_str().ok()).map(|value| value.trim_matches('"'));
        let extras = CallExtras { blocks: &blocks, headers, action, parts };
        let answer = match soap.response {
            Some(_) => extras.send(caller.call(soap, &request)).await.map(Some),
            None => extras.send(caller.one_way(soap, &request)).await.map(|response: Response<()>| {
                let (message, attachments) = response.into_parts();
                let () = message;
                drop(attachments);
                None
            }),
        };
        tap.save(&arguments.saved)?;
        if arguments.dry_run {
            return match (tap.print_request(), answer) {
                (true, _) => Ok(0),
                (false, Err(error)) => Err(outcome::not_started(error)),
                (false, Ok(_)) => bail!("the request can't be written"),
            };
        }
        // After an error, the request is kept so that it can be edited again.
        if let (Some(file), Err(_)) = (written, &answer) {
            editor::keep_file(file)?;
        }
        if arguments.time {
            tap.print_times();
        }
        if arguments.verbose {
            tap.print();
        }
        let kept = cookies.map_or(Ok(()), Jar::save);
        let code = answer::print(operation, answer, &tap, arguments, begun).await?;
        kept.map(|()| code)
    }
}

/// Returns the header fields that the transport adds, without their secrets.
fn added_headers(arguments: &Arguments, cookies: Option<&Jar>, url: &str) -> Vec<(HeaderName, String)> {
    let login = arguments.login.shown().map(|shown| (AUTHORIZATION, shown.to_owned()));
    let cookies = cookies.and_then(|cookies| cookies.shown(url)).map(|shown| (COOKIE, shown));
    login.into_iter().chain(cookies).collect()
}

/// What is sent beside the payload.
struct CallExtras<'a> {
    blocks: &'a [AnyHeader],
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Replaces the action of the contract.
    action: Option<&'a str>,
    parts: Vec<Part>,
}

impl<'a> CallExtras<'a> {
    async fn send<R: FromPayload + Send + 'static>(
        self,
        mut call: Call<'a, Payload, R, NoDetail, Tap>,
    ) -> Result<Response<R>, CallError> {
        for block in self.blocks {
            call = call.header(block);
        }
        for (name, value) in self.headers {
            call = call.http_header(name, value);
        }
        if let Some(action) = self.action {
            call = call.soap_action(action);
        }
        for part in self.parts {
            call = call.attach(part);
        }
        call.send().await
    }
}

impl ToPayload for Payload {
    fn write(
        &self,
        version: soap::Version,
        header: Headers<'_>,
        root: &Root,
        out: Encoder,
        mtom: Option<usize>,
    ) -> Result<Written, castile_soap::Error> {
        match self {
            Payload::Value(value) => value.write(version, header, root, out, mtom),
            Payload::Xml(xml) => xml.write(version, header, root, out, mtom),
            Payload::Message(message) => Ok(Written::new(message.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `type=` once took the rest of the text, so an ID became part of the media type.
    #[test]
    fn attachment_options_have_any_order() {
        let of = |given| {
            let Attached { file, part, id, media_type } = attached(given).unwrap();
            (file, part, id, media_type.into_owned())
        };
        let octets = "application/octet-stream".to_owned();
        assert_eq!(of("a;b.bin"), ("a;b.bin", None, None, octets.clone()));
        assert_eq!(of("a;b.bin;id=x@y"), ("a;b.bin", None, Some("x@y"), octets.clone()));
        assert_eq!(of("a.bin;type=image/png;id=x"), ("a.bin", None, Some("x"), "image/png".to_owned()));
        let text = "text/xml; charset=utf-8;v=1".to_owned();
        assert_eq!(of("a;type=text/xml; charset=utf-8;v=1;part=p"), ("a", Some("p"), None, text));
        // Media types have parameters with this name.
        let xop = "application/xop+xml;type=text/xml".to_owned();
        assert_eq!(of("a;part=p;type=application/xop+xml;type=text/xml"), ("a", Some("p"), None, xop));
        assert_eq!(of("a;id=p=x"), ("a", None, Some("p=x"), octets));
        for (given, expected) in [
            ("a;id=x;id=y", "found id= twice in --attach a;id=x;id=y"),
            ("a;id=x;q=1", "found \"q=1\" in --attach a;id=x;q=1, expected part=NAME, id=ID or type=TYPE"),
            ("a;type=b/c;id=x;q=1", "expected part=NAME, id=ID or type=TYPE"),
            (
                "a;part=p;id=x",
                "expected one of them: part=p makes the Content-ID p=…, and id=p=x makes one with your own ID",
            ),
        ] {
            let error = attached(given).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
