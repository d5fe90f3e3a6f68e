//! Validation of envelopes by the rules of SOAP, the contract, and its schemas.

use std::collections::HashSet;

use anyhow::bail;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_mime::ContentId;
use castile_soap::{ErrorKind, Version};
use castile_xml::{Limits, Memory, Reader, StartTag, Token};
use castile_xsd::validate::{Chosen, Problem, Problems, Validator};
use castile_xsd::{Documents, ExpandedName, Schema, similar};

use super::contract::{Contract, Expectation, Kind, Message};
use super::package::Package;
use crate::contracts::envelope;
use crate::contracts::shape::Shape;

const XOP: &str = "http://www.w3.org/2004/08/xop/include";
/// The number of validators: the walk, the schema of envelopes twice, the contract's schemas, and the reader of SOAP encoding.
const VALIDATORS: usize = 5;
/// The maximum number of expected names that are reported.
const MAX_EXPECTED: usize = 5;
/// The maximum size of attachments that are inlined into the text for validation.
const MAX_INCLUDED: usize = 256 << 20;

/// The kind of a message, and its problems.
pub(super) struct Found {
    pub(super) kind: Option<&'static str>,
    pub(super) operation: Option<String>,
    pub(super) version: Option<&'static str>,
    pub(super) problems: Vec<Problem>,
}

/// Returns limits for files, which may be larger than the messages that a server accepts.
pub(super) fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.message_size = 1 << 30;
    limits.text_length = 1 << 30;
    limits.markup_length = 1 << 30;
    limits
}

/// Validates a message or another document.
pub(super) fn judge(
    contract: &Contract,
    validator: &mut Validator<'_>,
    expectation: &Expectation<'_>,
    text: &str,
    package: &Package,
) -> anyhow::Result<Found> {
    let reader = || Reader::decoded(text, limits(), &mut Memory::default());
    let root = reader().and_then(|mut reader| {
        loop {
            match reader.next()? {
                Token::StartTag(tag) => {
                    return Ok(Some((reader.namespace(tag.namespace).to_owned(), tag.name.local(), tag.offset)));
                }
                Token::End => return Ok(None),
                _ => {}
            }
        }
    });
    // The problems of all validators are sorted before the list is cut.
    let mut problems = Problems::new(expectation.most.saturating_mul(VALIDATORS));
    let version = match root {
        Ok(Some((namespace, "Envelope", offset))) if is_of_soap(contract, &namespace) => {
            match envelope::is_envelope(&namespace) {
                Some(version) => version,
                None => {
                    let [one, two] = Version::ALL.map(Version::namespace);
                    problems.add(
                        "VersionMismatch",
                        offset,
                        format!("found an envelope in namespace {namespace:?}, expected {one:?} or {two:?}"),
                    );
                    return Ok(Found {
                        kind: None,
                        operation: None,
                        version: None,
                        problems: problems.located(reader),
                    });
                }
            }
        }
        Ok(Some(_)) if expectation.expects_messages() => {
            bail!(
                "found a document without an envelope, expected a message, because --operation, --request or \
                 --response is given"
            )
        }
        _ => {
            validator.pass_attributes_of(None);
            let problems = validator.validate_within(text, |_, _, _| Chosen::Declared);
            return Ok(Found { kind: Some("document"), operation: None, version: None, problems });
        }
    };
    let mut walk = Walk::new(contract, expectation, text, version, package, problems);
    let reads = reader().is_ok_and(|mut reader| walk.read(&mut reader).is_ok());
    if reads {
        walk.attachments();
    }
    let Walk { payload, payload_offset, mut problems, included, .. } = walk;
    let judged = Inlined::new(text, included, package, &mut problems);
    let mut add = |found: Vec<Problem>| {
        for problem in found {
            problems.add(problem.rule, judged.origin(problem.offset), problem.message);
        }
    };
    let schema = of_envelopes(version);
    let mut of_envelope = Validator::new(&schema).with_limits(limits()).with_max_problems(expectation.most);
    add(of_envelope.validate_within(&judged.text, |_, _, _| Chosen::Declared));
    if reads {
        add(of_envelope.validate_within(&judged.text, |around, namespace, local| match (around, local) {
            (0 | 1, _) => {
                if around == 1 && local != "Body" {
                    Chosen::Skip
                } else {
                    Chosen::Within
                }
            }
            (_, "Fault") if namespace == version.namespace() => Chosen::Declared,
            _ => Chosen::Skip,
        }));
        validator.pass_attributes_of(Some(version.namespace()));
        let mut choose = Choose { schema: contract.schema(), version, payload: &payload, zone: Zone::Start };
        add(validator.validate_within(&judged.text, |around, namespace, local| choose.of(around, namespace, local)));
        if let Payload::Known(message) = &payload
            && let Shape::Call { wrapper, is_encoded: true, .. } = &message.shape
        {
            encoded(contract, message, wrapper, text, payload_offset, &mut problems)?;
        }
    }
    let (kind, operation) = match payload {
        Payload::Known(message) => (Some(message.kind.name()), Some(message.operation.clone())),
        Payload::Fault => (Some("fault"), expectation.operation.map(str::to_owned)),
        Payload::None | Payload::Unknown => (None, None),
    };
    Ok(Found {
        kind,
        operation,
        version: Some(number(version)),
        problems: first(expectation, problems.located(reader)),
    })
}

fn first(expectation: &Expectation<'_>, mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.truncate(expectation.most);
    problems
}

/// The content of the body.
#[derive(Clone, Copy)]
enum Payload<'c> {
    /// Nothing so far.
    None,
    Fault,
    Known(&'c Message),
    /// The first element belongs to no message of the contract.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    Start,
    Header,
    Body,
    Detail,
}

/// Chooses the parts of a message that the contract's schemas validate.
struct Choose<'c, 'p> {
    schema: &'c Schema,
    version: Version,
    payload: &'p Payload<'c>,
    zone: Zone,
}

impl Choose<'_, '_> {
    fn of(&mut self, around: usize, namespace: &str, local: &str) -> Chosen {
        let declared = || match self.schema.find_element(&ExpandedName::new(namespace, local)) {
            Some(_) => Chosen::Declared,
            None => Chosen::Skip,
        };
        match (around, self.zone, self.payload) {
            (0, ..) => Chosen::Within,
            (1, ..) if namespace != self.version.namespace() => Chosen::Skip,
            (1, ..) => {
                self.zone = if local == "Header" { Zone::Header } else { Zone::Body };
                Chosen::Within
            }
            (2, Zone::Header, _) => declared(),
            (2, _, Payload::Fault) => Chosen::Within,
            (3, _, Payload::Fault) if matches!(local, "detail" | "Detail") => {
                self.zone = Zone::Detail;
                Chosen::Within
            }
            (4, Zone::Detail, Payload::Fault) => declared(),
            (2.., _, Payload::Known(message)) => {
                match message.shape.chosen(message.roots.as_deref(), around, namespace, local) {
                    // The walk reported the unknown part.
                    Chosen::Declared if is_unknown_part(message, local) => Chosen::Skip,
                    chosen => chosen,
                }
            }
            (2, _, Payload::Unknown) => declared(),
            _ => Chosen::Skip,
        }
    }
}

fn is_unknown_part(message: &Message, local: &str) -> bool {
    match &message.shape {
        Shape::Call { parts, .. } => parts.iter().all(|(name, _)| name != local),
        _ => false,
    }
}

/// Reads an envelope once, and checks what schemas don't define.
struct Walk<'a, 'c> {
    contract: &'c Contract,
    expectation: &'a Expectation<'a>,
    text: &'a str,
    version: Version,
    package: &'a Package,
    problems: Problems,
    zone: Zone,
    payload: Payload<'c>,
    payload_offset: usize,
    /// The number of elements in the body so far.
    count: usize,
    /// The indexes of the call's parts that occurred.
    parts: HashSet<usize>,
    /// The highest of these indexes in the contract's order.
    last_part: usize,
    included: Vec<Include>,
    /// The index of the open include, if there is one.
    include: Option<usize>,
}

/// An `xop:Include` in the text.
struct Include {
    start: usize,
    end: usize,
    part: Option<ContentId>,
}

impl<'a, 'c> Walk<'a, 'c> {
    fn new(
        contract: &'c Contract,
        expectation: &'a Expectation<'a>,
        text: &'a str,
        version: Version,
        package: &'a Package,
        problems: Problems,
    ) -> Self {
        Walk {
            contract,
            expectation,
            text,
            version,
            package,
            problems,
            zone: Zone::Start,
            payload: Payload::None,
            payload_offset: 0,
            count: 0,
            parts: HashSet::new(),
            last_part: 0,
            included: Vec::new(),
            include: None,
        }
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<(), castile_xml::Error> {
        let mut depth: usize = 0;
        loop {
            let offset = reader.offset();
            match reader.next()? {
                Token::StartTag(tag) => {
                    self.start(reader, tag, depth);
                    depth += 1;
                }
                Token::EndTag(_) => {
                    depth = depth.saturating_sub(1);
                    self.end(depth, offset, reader.offset());
                }
                Token::Instruction { target, .. } => {
                    let start = self.text.get(..reader.offset()).and_then(|read| read.rfind("<?"));
                    let message =
                        format!("found the processing instruction {target}, which is not allowed in SOAP messages");
                    self.problems.add("SOAP 1.1 §3, 1.2 §5", start.unwrap_or(offset), message);
                }
                Token::End => return Ok(()),
                Token::Text(_) | Token::Comment(_) => {}
            }
        }
    }

    fn start(&mut self, reader: &Reader<'_>, tag: StartTag<'_>, depth: usize) {
        let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
        match (depth, self.zone) {
            (1, _) if namespace == self.version.namespace() => {
                self.zone = if local == "Header" { Zone::Header } else { Zone::Body };
            }
            // Elements after the body aren't part of it.
            (1, _) => self.zone = Zone::Start,
            (2, Zone::Header) => self.block(reader),
            (2, Zone::Body) => self.in_body(namespace, local, tag.offset),
            (3, Zone::Body) => self.in_payload(namespace, local, tag.offset),
            _ => {}
        }
        let is_include = namespace == XOP && local == "Include";
        let (mut part, mut is_referring) = (None, false);
        for attribute in reader.attributes() {
            let is_reference = attribute.namespace.is_empty() && attribute.name.local() == "href";
            if is_reference && (is_include || attribute.value.trim_start().starts_with("cid:")) {
                part = self.refer(attribute.value, is_include, tag.offset);
                is_referring = true;
            }
        }
        if is_include && !is_referring {
            self.problems.add("XOP 1.0 §2.1", tag.offset, "attribute href is missing".to_owned());
        }
        if is_include && self.include.is_none() {
            self.include = Some(depth);
            self.included.push(Include { start: tag.offset, end: tag.offset, part });
        }
    }

    fn end(&mut self, depth: usize, offset: usize, behind: usize) {
        if self.include == Some(depth) {
            self.include = None;
            if let Some(include) = self.included.last_mut() {
                include.end = behind;
            }
        }
        match (depth, self.zone) {
            (2, Zone::Body) => self.missing_parts(offset),
            (1, Zone::Body) => self.body_ends(offset),
            _ => {}
        }
    }

    /// Checks the attributes of a header block (SOAP 1.1 §4.2.3, SOAP 1.2 Part 1 §5.2.3 and §5.2.4).
    fn block(&mut self, reader: &Reader<'_>) {
        for attribute in reader.attributes().filter(|attribute| attribute.namespace == self.version.namespace()) {
            let value = attribute.value.trim();
            let (rule, expected, fits): (_, _, &[&str]) = match (self.version, attribute.name.local()) {
                (Version::Soap11, "mustUnderstand") => ("SOAP 1.1 §4.2.3", "0 or 1", &["0", "1"]),
                (Version::Soap12, "mustUnderstand") => {
                    ("SOAP 1.2 §5.2.3", "true or false", &["0", "1", "true", "false"])
                }
                (Version::Soap12, "relay") => ("SOAP 1.2 §5.2.4", "true or false", &["0", "1", "true", "false"]),
                _ => continue,
            };
            if !fits.contains(&value) {
                let message = format!("the attribute {}: found {value:?}, expected {expected}", attribute.name.local());
                self.problems.add(rule, attribute.offset, message);
            }
        }
    }

    fn in_body(&mut self, namespace: &str, local: &str, offset: usize) {
        self.count += 1;
        let number = self.count - 1;
        match self.payload {
            Payload::None => {
                self.payload_offset = offset;
                self.payload = self.find(namespace, local, offset);
            }
            Payload::Fault => {
                let message =
                    format!("found {} after the fault, expected the end of the body", shown(namespace, local));
                self.problems.add("SOAP 1.1 §4.4, 1.2 §5.4", offset, message);
            }
            Payload::Known(Message { shape: Shape::Elements(elements), .. }) => {
                let schema = self.contract.schema();
                let Some(id) = elements.get(number) else {
                    let message = format!("found {}, expected the end of the body", shown(namespace, local));
                    self.problems.add("R2712", offset, message);
                    return;
                };
                let fits = std::iter::once(*id)
                    .chain(schema.substitutes(*id))
                    .any(|id| is(&schema[id].name, namespace, local));
                if !fits {
                    let message = format!("found {}, expected {}", shown(namespace, local), schema[*id].name);
                    self.problems.add("R2712", offset, message);
                }
            }
            Payload::Known(Message { shape: Shape::Call { is_encoded: false, .. }, .. }) => {
                let message = format!("found {} after the call, expected the end of the body", shown(namespace, local));
                self.problems.add("WSDL 1.1 §3.5", offset, message);
            }
            Payload::Known(_) | Payload::Unknown => {}
        }
    }

    /// Finds the message by the first element in the body.
    fn find(&mut self, namespace: &str, local: &str, offset: usize) -> Payload<'c> {
        if namespace == self.version.namespace() && local == "Fault" {
            if self.expectation.request {
                self.problems.add("UnknownOperation", offset, "found a fault, expected a request".to_owned());
            }
            return Payload::Fault;
        }
        let admitted = || self.contract.messages.iter().filter(|message| self.expectation.admits(message));
        let begins = |message: &&Message| {
            message.roots.as_ref().is_some_and(|roots| roots.iter().any(|name| is(name, namespace, local)))
        };
        let of_version = admitted().filter(begins).find(|message| message.version == self.version);
        // Content without an element may begin with anything.
        let any = || admitted().find(|message| message.roots.is_none());
        if let Some(message) = of_version.or_else(|| admitted().find(begins)).or_else(any) {
            self.expect_version(message, offset);
            return Payload::Known(message);
        }
        if let Some(other) = self.contract.messages.iter().find(begins) {
            let expected = match (self.expectation.operation, self.expectation.request, self.expectation.response) {
                (Some(name), true, _) => format!("a request of {name}"),
                (Some(name), _, true) => format!("a response of {name}"),
                (Some(name), ..) => format!("a message of {name}"),
                (None, true, _) => "a request".to_owned(),
                (None, ..) => "a response".to_owned(),
            };
            let message = format!("found a {} of {}, expected {expected}", other.kind.name(), other.operation);
            self.problems.add("UnknownOperation", offset, message);
            return Payload::Known(other);
        }
        let mut expected: Vec<String> = Vec::new();
        for name in admitted().flat_map(|message| message.roots.iter().flatten()).map(ToString::to_string) {
            if !expected.contains(&name) {
                expected.push(name);
            }
        }
        let found = shown(namespace, local);
        let known: Vec<&str> = expected.iter().map(String::as_str).collect();
        let same = known.iter().find(|name| name.rsplit('}').next() == Some(local)).copied();
        let near = same.into_iter().next().map_or_else(|| similar(&found, known.iter().copied(), 1), |same| vec![same]);
        let message = match (near.first(), &*known) {
            (Some(near), _) => format!("{found} is in no message of the contract; did you mean {near}?"),
            (None, []) if self.contract.messages.is_empty() => {
                format!(
                    "found {found}, and the contract has no operations: expected a WSDL, or a document without an envelope"
                )
            }
            (None, []) => format!("found {found}, expected the end of the body"),
            (None, known) if known.len() <= MAX_EXPECTED => format!("found {found}, expected {}", known.join(" or ")),
            (None, known) => {
                let more = known.len() - MAX_EXPECTED;
                format!("found {found}, expected one of {} and {more} more", known[..MAX_EXPECTED].join(", "))
            }
        };
        self.problems.add("UnknownOperation", offset, message);
        Payload::Unknown
    }

    fn expect_version(&mut self, message: &Message, offset: usize) {
        if message.version != self.version {
            let [found, expected] = [self.version, message.version].map(number);
            let what = format!("found SOAP {found}, expected SOAP {expected} for {}", message.operation);
            self.problems.add("VersionMismatch", offset, what);
        }
    }

    /// Checks the parts of a call (WSDL 1.1 §3.5; WS-I Basic Profile 1.1 R2735 and R2301).
    fn in_payload(&mut self, namespace: &str, local: &str, offset: usize) {
        let Payload::Known(Message { shape: Shape::Call { parts, is_encoded: false, .. }, .. }) = self.payload else {
            return;
        };
        // Each child is looked up in all parts. Wrong and repeated children are problems, whose number is limited.
        if self.problems.is_full() {
            return;
        }
        let names: Vec<&str> = parts.iter().map(|(name, _)| &**name).collect();
        let Some(number) = names.iter().position(|name| *name == local) else {
            let known = similar(local, names.iter().copied(), 1);
            let message = match (known.first(), &*names) {
                (Some(near), _) => format!("{local} is not a part of the call; did you mean {near}?"),
                (None, []) => format!("found {local}, expected a call without parts"),
                (None, names) => format!("found {local}, expected {}", names.join(", ")),
            };
            self.problems.add("WSDL 1.1 §3.5", offset, message);
            return;
        };
        if !namespace.is_empty() {
            let message = format!("found {}, expected {local} without a namespace", shown(namespace, local));
            self.problems.add("R2735", offset, message);
        }
        if !self.parts.insert(number) {
            self.problems.add("WSDL 1.1 §3.5", offset, format!("found the part {local} twice, expected it once"));
        } else if number < self.last_part {
            let later = names[self.last_part];
            let message = format!("found {local} after {later}, expected the order {}", names.join(", "));
            self.problems.add("R2301", offset, message);
        }
        self.last_part = self.last_part.max(number);
    }

    fn missing_parts(&mut self, offset: usize) {
        let Payload::Known(Message { shape: Shape::Call { parts, is_encoded: false, .. }, .. }) = self.payload else {
            return;
        };
        if self.count > 1 {
            return;
        }
        for (_, (name, _)) in parts.iter().enumerate().filter(|(number, _)| !self.parts.contains(number)) {
            self.problems.add("WSDL 1.1 §3.5", offset, format!("the part {name} is missing"));
        }
    }

    fn body_ends(&mut self, offset: usize) {
        let Walk { contract, expectation, count, .. } = self;
        match self.payload {
            Payload::None => {
                let is_empty =
                    |message: &&Message| matches!(&message.shape, Shape::Elements(elements) if elements.is_empty());
                let mut admitted = contract.messages.iter().filter(|message| expectation.admits(message));
                match admitted.find(is_empty) {
                    Some(message) => {
                        self.payload = Payload::Known(message);
                        self.expect_version(message, offset);
                    }
                    None => self.problems.add(
                        "UnknownOperation",
                        offset,
                        "found an empty body, expected a message".to_owned(),
                    ),
                }
            }
            Payload::Known(Message { shape: Shape::Elements(elements), .. }) => {
                let schema = contract.schema();
                for id in elements.iter().skip(*count) {
                    let message = format!("found the end of the body, expected {}", schema[*id].name);
                    self.problems.add("R2712", offset, message);
                }
            }
            _ => {}
        }
    }

    /// Returns the id of the part that a reference leads to, or reports that it is missing.
    fn refer(&mut self, url: &str, is_include: bool, offset: usize) -> Option<ContentId> {
        let message = match ContentId::from_url(url) {
            Some(id) => match (self.package.part(&id), self.package.is_package) {
                (Some(_), _) => return Some(id),
                (None, true) => format!("{url} refers to no received part"),
                (None, false) => format!("{url} refers to a part, but the message has no parts"),
            },
            None => format!("found the reference {url:?}, expected a URL of a part, such as cid:1@example.org"),
        };
        let rule = if is_include { "XOP 1.0 §2.1" } else { "SOAP Messages with Attachments §3" };
        self.problems.add(rule, offset, message);
        None
    }

    /// Checks that the received parts are those of the contract.
    fn attachments(&mut self) {
        let ids: Vec<_> = self.package.parts.iter().filter_map(|part| part.id.as_ref()).collect();
        for (number, id) in ids.iter().enumerate() {
            if ids[..number].contains(id) {
                let message = format!("two parts have the Content-ID <{}>", id.as_str());
                self.problems.add("RFC 2392 §2", 0, message);
            }
        }
        let Payload::Known(message) = self.payload else { return };
        let (expected, found) = (message.attachments.len(), self.package.parts.len());
        if expected > found {
            let names = message.attachments.join(", ");
            let what = format!("found {found} attachments, expected {expected}: {names}");
            self.problems.add("WSDL 1.1 §5", self.payload_offset, what);
        }
    }
}

/// A text with its attachments inlined (XOP 1.0 §3.2), so that the schema validates them.
struct Inlined<'t> {
    text: std::borrow::Cow<'t, str>,
    /// The start of each piece in the text and in the original.
    origins: Vec<(usize, usize)>,
}

impl<'t> Inlined<'t> {
    fn new(original: &'t str, included: Vec<Include>, package: &Package, problems: &mut Problems) -> Self {
        if included.is_empty() {
            return Inlined { text: original.into(), origins: vec![(0, 0)] };
        }
        let (mut text, mut origins, mut from, mut room) = (String::new(), vec![(0, 0)], 0, MAX_INCLUDED);
        for Include { start, end, part } in included {
            let end = end.max(start);
            text += original.get(from..start).unwrap_or_default();
            origins.push((text.len(), start));
            if let Some(part) = part.and_then(|id| package.part(&id)) {
                match room.checked_sub(part.content.len()) {
                    Some(rest) => {
                        room = rest;
                        STANDARD.encode_string(&part.content, &mut text);
                    }
                    None => {
                        let most = MAX_INCLUDED >> 20;
                        let message =
                            format!("more than {most} MiB of attachments are included: this one was not validated");
                        problems.add("limit", start, message);
                    }
                }
            }
            origins.push((text.len(), end));
            from = end;
        }
        text += original.get(from..).unwrap_or_default();
        Inlined { text: text.into(), origins }
    }

    /// Converts an offset to the original text. Offsets in an inlined attachment become that of the reference.
    fn origin(&self, offset: usize) -> usize {
        let number = self.origins.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
        let (start, origin) = self.origins[number];
        match number % 2 {
            0 => origin + (offset - start),
            _ => origin,
        }
    }
}

/// Reports the first problem of a message in SOAP encoding, as its decoder finds it.
fn encoded(
    contract: &Contract,
    message: &Message,
    wrapper: &ExpandedName,
    text: &str,
    payload: usize,
    problems: &mut Problems,
) -> anyhow::Result<()> {
    let typed = contract.typed()?;
    let operations = typed.services.iter().flat_map(|service| service.operations());
    let mut roots =
        operations.filter(|known| known.name() == message.operation).filter_map(|operation| match message.kind {
            Kind::Request => Some(&operation.soap().request),
            Kind::Response => operation.soap().response.as_ref(),
        });
    // An operation may have another binding.
    let Some(root) = roots.find(|root| root.is_encoded && root.element.namespace == wrapper.namespace()) else {
        bail!(
            "{} has SOAP encoding in a binding that is not used, because another binding of its port type comes first",
            message.operation
        );
    };
    if let Err(error) = castile_soap::message::read_str::<castile_dynamic::Value>(root, text, limits()) {
        match error.decoding() {
            Some(decoding) => problems.add("SOAP encoding", decoding.offset(), decoding.message().to_owned()),
            // This program doesn't know which header blocks the receiver understands.
            None if error.kind() == ErrorKind::MustUnderstand => {}
            None => problems.add("SOAP encoding", payload, error.to_string()),
        }
    }
    Ok(())
}

fn number(version: Version) -> &'static str {
    if version == Version::Soap12 { "1.2" } else { "1.1" }
}

/// Returns the schema of envelopes.
fn of_envelopes(version: Version) -> Schema {
    let (name, text) = match version {
        Version::Soap12 => ("soap12.xsd", include_str!("soap12.xsd")),
        _ => ("soap11.xsd", include_str!("soap11.xsd")),
    };
    castile_xsd::read(name, &Documents::new().with(name, text)).0
}

fn is(name: &ExpandedName, namespace: &str, local: &str) -> bool {
    (name.namespace(), name.local()) == (namespace, local)
}

/// Returns whether an envelope in this namespace is a SOAP envelope rather than a document of the contract.
fn is_of_soap(contract: &Contract, namespace: &str) -> bool {
    contract.schema().find_element(&ExpandedName::new(namespace, "Envelope")).is_none()
}

/// Formats an expanded name as in diagnostics of contracts.
fn shown(namespace: &str, local: &str) -> String {
    match namespace {
        "" => local.to_owned(),
        namespace => format!("{{{namespace}}}{local}"),
    }
}
