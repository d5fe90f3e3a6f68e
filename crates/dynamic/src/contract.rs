//! A contract that is read while the program runs: its services and their operations.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;

use castile_databinding::schema::{Element, First};
use castile_databinding::{Any, AnyType, Decoder, Encoder, ExpandedName};
use castile_plan::plan::{self, Plan};
use castile_plan::{FaultTypes, Options as PlanOptions};
use castile_soap::addressing::{Declared, Responses};
use castile_soap::{
    Description, Dispatch, Document, Fault, Operation as SoapOperation, Page, Payload, Pending, Request, Response,
    Root, Version, message,
};
use castile_wsdl::{BindingId, BindingOperation, Definitions, Diagnostic};
use castile_xml::tree::Document as Tree;
use castile_xml::{Limits, Memory, Reader, Token};
use castile_xsd::{Bundle, Files, Resolver};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::compile::{Maker, Types, leak, leak_all, leaked};
use crate::json::{CONTENT, JsonError, escaped_from_json};
use crate::kept::{self, Kept};
use crate::types::Nil;
use crate::value::Value;

/// What a contract is read for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Whether values are held against the facets of their types while they are read, and values that an enumeration doesn't list are
    /// refused. Structure and lexical spaces are always checked.
    pub facets: bool,
    /// The operations that are there, by their names, with the types that they reach. None stands for all.
    pub operations: Vec<String>,
    /// Types that are there though no operation names them, by their local names or as `{namespace}local`, each with all types that
    /// are derived from it.
    pub types: Vec<String>,
    /// Whether any error of the contract refuses all of it. Else what an error is in is left out, with all that depends on it.
    pub strict: bool,
    /// Whether the documents are at hand: what they say ([`Contract::definitions`]), and what servers show of them (`?wsdl`). Without
    /// them a large bundle is opened in a quarter of the time.
    pub documents: bool,
    /// Whether services have a page for people, which servers with the feature `page` show.
    pub page: bool,
}

/// A contract that was read at run time.
///
/// A type is made when a message first needs it. All of them stay in memory until the process ends, since the tables that a decoder reads
/// by do. A program that reads one contract after another should do so in processes of their own.
#[derive(Debug)]
pub struct Contract {
    /// Its services, each with one binding.
    pub services: Vec<Service>,
    definitions: Option<Definitions>,
    /// What could be better in the contract, or was left out. Nothing is told of a bundle of which what is kept was taken: its documents
    /// were not read.
    pub diagnostics: Vec<Diagnostic>,
    /// The operations that are left out.
    pub left_out: Vec<plan::LeftOut>,
    /// How many of the operations there are and what is left out, in one line. `None` if nothing is left out.
    pub summary: Option<String>,
}

/// A service of a contract.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    binding: BindingId,
    description: &'static Description,
    operations: &'static [Operation],
    ports: &'static [Port],
}

/// Where a service is, in a version of SOAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Port {
    /// The name of the `wsdl:port`.
    pub name: &'static str,
    /// The version of SOAP that is spoken there.
    pub version: Version,
    /// The address, empty if the contract says none.
    pub address: &'static str,
}

/// An operation of a service.
#[derive(Debug)]
pub struct Operation {
    soap: &'static SoapOperation,
    label: &'static str,
    /// Which it is of its port type.
    number: usize,
    /// The version of SOAP that clients speak unless they are told otherwise.
    version: Version,
    /// What the contract says about it, empty if nothing.
    pub documentation: &'static str,
    faults: &'static [Entry],
    /// The header blocks that requests may have.
    blocks: &'static [Entry],
    /// Those that responses may have.
    response_blocks: &'static [Entry],
}

/// An element in the detail of a fault, or in a header.
#[derive(Debug)]
struct Entry {
    element: Element,
    is_encoded: bool,
    /// Its tags as they are written.
    start: &'static str,
    end: &'static str,
}

/// What a fault says: an element for each thing, and a text that stands beside them.
#[derive(Debug)]
pub struct FaultDetail {
    /// The text directly in it, without white space around; empty if there is none.
    pub text: String,
    /// The elements, in their order.
    pub entries: Vec<FaultEntry>,
}

/// An element in the detail of a fault.
#[derive(Debug)]
pub struct FaultEntry {
    /// The local name of the element, or `{namespace}local` where others have that.
    pub name: String,
    /// Its value, if the contract declares it for the operation.
    pub value: Option<Value>,
    /// The element as XML.
    pub element: Any,
}

/// An object with a member for each name: the value of the element, or its XML; an array where there are several. `$` is the text.
impl Serialize for FaultDetail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members: Vec<(&str, Vec<&FaultEntry>)> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for entry in &self.entries {
            let number = *numbers.entry(entry.name.as_str()).or_insert(members.len());
            match members.get_mut(number) {
                Some((_, entries)) => entries.push(entry),
                None => members.push((entry.name.as_str(), vec![entry])),
            }
        }
        let has_text = !self.text.is_empty();
        let mut map = serializer.serialize_map(Some(members.len() + usize::from(has_text)))?;
        if has_text {
            map.serialize_entry(CONTENT, &self.text)?;
        }
        for (name, entries) in members {
            match entries[..] {
                [entry] => map.serialize_entry(name, entry)?,
                _ => map.serialize_entry(name, &entries)?,
            }
        }
        map.end()
    }
}

/// Its value, or its XML.
impl Serialize for FaultEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_str(&self.element.xml()),
        }
    }
}

/// Reads what stands in a body.
fn read_payload(root: &'static Root, xml: &str, version: Version) -> Result<Value, castile_soap::Error> {
    let name = root_name(xml);
    let is_envelope = |version: &Version| name.as_ref().is_some_and(|name| name.is(version.namespace(), "Envelope"));
    if Version::ALL.iter().any(is_envelope) {
        return message::read_str(root, xml, Limits::default());
    }
    let is_root = name.is_some_and(|name| name.is(root.element.namespace, root.element.name));
    // An element alone is read by itself, so that errors have the places of the text. In SOAP encoding others may stand beside it.
    if root.body.is_none() && is_root && (!root.is_encoded || Tree::parse(xml).is_ok()) {
        let read = read_alone(root, xml);
        return read.map_err(|error| error.locate(xml.as_bytes(), Limits::default(), None).into());
    }
    let namespace = version.namespace();
    // What may stand before a document may not stand in one.
    let document = Tree::parse(xml);
    let xml = document.as_ref().map_or(xml, |document| document.root().source());
    let envelope = format!("<s:Envelope xmlns:s=\"{namespace}\"><s:Body>{xml}</s:Body></s:Envelope>");
    message::read_str(root, &envelope, Limits::default())
}

/// Reads a payload that is a document.
fn read_alone(root: &'static Root, xml: &str) -> Result<Value, castile_databinding::Error> {
    let mut reader = Reader::decoded(xml, Limits::default(), &mut Memory::default())?;
    while !matches!(reader.next()?, Token::StartTag(_)) {}
    let mut decoder = Decoder::new(reader);
    let value = match (root.is_encoded, root.wraps_parts) {
        (true, _) => return decoder.call(&root.element),
        (false, true) => decoder.wrapper(&root.element)?,
        (false, false) => decoder.root(&root.element)?,
    };
    while !matches!(decoder.reader().next()?, Token::End) {}
    Ok(value)
}

/// The name of the element that a text is, if it is one.
fn root_name(xml: &str) -> Option<ExpandedName> {
    let mut reader = Reader::decoded(xml, Limits::default(), &mut Memory::default()).ok()?;
    loop {
        match reader.next().ok()? {
            Token::StartTag(tag) => return Some(ExpandedName::new(reader.namespace(tag.namespace), tag.name.local())),
            Token::End => return None,
            _ => {}
        }
    }
}

impl Entry {
    /// Reads the element by itself.
    fn read(&'static self, xml: &str) -> Result<Value, castile_databinding::Error> {
        let mut reader = Reader::decoded(xml, Limits::default(), &mut Memory::default())?;
        while !matches!(reader.next()?, Token::StartTag(_)) {}
        let mut decoder = Decoder::new(reader);
        match self.is_encoded {
            false => decoder.root(&self.element),
            true => decoder.independent_value(&self.element),
        }
    }

    /// The element as XML.
    fn write(&self, value: &Value, version: Version) -> Result<String, castile_databinding::Error> {
        let mut encoder = Encoder::new(Vec::new());
        encoder.payload(self.start);
        match self.is_encoded {
            false => encoder.element(self.start, value, self.end),
            true => {
                encoder.encode(version.encoding());
                // Its encoding is an attribute of the envelope's namespace, and nobody knows where it will stand.
                let start = self.start.strip_suffix('>').unwrap_or(self.start);
                encoder.independent(&format!("{start} xmlns:soap=\"{}\">", version.namespace()), Some(value), self.end);
            }
        }
        encoder.finish().map(|xml| String::from_utf8_lossy(&xml).into_owned())
    }
}

/// Keeps in a bundle what is made of the contract that it is, so that a large one is opened in a quarter of the time.
///
/// A contract in which nothing can be used is left as it is. So is one that takes too much room.
pub fn keep(bundle: &mut Bundle) {
    if let Ok((_, plan, _)) = castile_plan::planned_of(bundle, &Options::default().of_plan()) {
        kept::keep(plan, bundle);
    }
}

/// The bundle that a file is, if it is one without a defect.
fn bundle(path: &Path, files: &Files) -> Option<Bundle> {
    let name = path.to_string_lossy();
    let bytes = files.read(&name).ok().filter(|bytes| Bundle::is_bundle(bytes))?;
    Bundle::read(&name, &bytes).0
}

fn has_operation(plan: &Plan, name: &str) -> bool {
    plan.services.iter().flat_map(|service| &service.operations).any(|operation| operation.name == name)
}

impl Options {
    pub(crate) fn of_plan(&self) -> PlanOptions {
        let mut of_plan = PlanOptions::default();
        of_plan.facets = self.facets;
        of_plan.operations.clone_from(&self.operations);
        of_plan.types.clone_from(&self.types);
        of_plan.strict = self.strict;
        of_plan.faults = FaultTypes::All;
        of_plan
    }

    /// Whether a plan that knows none of these options won't do.
    fn needs_documents(&self) -> bool {
        let Options { facets, operations: _, types, strict, documents, page } = self;
        *facets || *strict || *documents || *page || !types.is_empty()
    }
}

impl Contract {
    /// Reads the contract at `path`, a WSDL or a bundle; `files` knows what is imported.
    ///
    /// A bundle may keep what is made of its documents ([`keep`]). If so, they are read only where an option needs them.
    ///
    /// # Errors
    /// All problems of the contract, with their places; one at least is an error.
    pub fn open(path: &Path, files: &Files, options: &Options) -> Result<Self, Vec<Diagnostic>> {
        if !options.needs_documents()
            && let Some(Kept { plan, items }) = bundle(path, files).as_ref().and_then(kept::plan)
            && options.operations.iter().all(|name| has_operation(&plan, name))
        {
            return Ok(Contract::of(plan, items, options, &[], None));
        }
        let (definitions, plan, diagnostics) = castile_plan::planned(path, files, &options.of_plan())?;
        let mut shown: &'static [Document] = &[];
        if options.documents || options.page {
            shown = documents(castile_plan::documents(&definitions.sources, &castile_plan::stem(path)));
        }
        let page = (options.page && !plan.services.is_empty()).then(|| castile_plan::page(&definitions, &plan));
        let contract = Contract::of(plan, Vec::new(), options, shown, page);
        let definitions = options.documents.then_some(definitions);
        Ok(Contract { definitions, diagnostics, ..contract })
    }

    /// The services of a plan, which may have more items as a bundle keeps them.
    pub(crate) fn of(
        mut plan: Plan,
        kept: Vec<(plan::Path, &'static [u8])>,
        options: &Options,
        shown: &'static [Document],
        page: Option<String>,
    ) -> Self {
        let is_wanted = |name: &String| options.operations.is_empty() || options.operations.contains(name);
        // A plan that was kept has all.
        for service in &mut plan.services {
            service.operations.retain(|operation| is_wanted(&operation.name));
        }
        plan.left_out.retain(|one| is_wanted(&one.name));
        let summary = plan.summary();
        let left_out = std::mem::take(&mut plan.left_out);
        let plan: &'static Plan = leak(plan);
        let page = page.map(leaked);
        let types = leak(Types::new(plan, kept));
        // A service without an operation that is wanted may still have a header block of another one's messages.
        let of_wanted = plan.services.iter().enumerate();
        let of_wanted = of_wanted.filter(|(_, of)| options.operations.is_empty() || !of.operations.is_empty());
        let services = of_wanted.map(|(number, service)| {
            let page = page.map(|text| Page::new(text, number));
            types.maker().service(service, shown, page)
        });
        let services = services.collect();
        Contract { services, definitions: None, diagnostics: Vec::new(), left_out, summary }
    }

    /// What its documents say, if they are at hand ([`Options::documents`]).
    pub fn definitions(&self) -> Option<&Definitions> {
        self.definitions.as_ref()
    }

    /// What the documents say, and what they say of an operation of a service, if they are at hand.
    pub fn bound(&self, service: &Service, operation: &Operation) -> Option<(&Definitions, &BindingOperation)> {
        let definitions = self.definitions.as_ref()?;
        let mut bound = definitions[service.binding].operations.iter();
        Some((definitions, bound.find(|bound| bound.operation == operation.number)?))
    }
}

impl Service {
    /// What is known of it before any message comes.
    pub fn description(&self) -> &'static Description {
        self.description
    }

    /// Its operations, in the order of the contract.
    pub fn operations(&self) -> &'static [Operation] {
        self.operations
    }

    /// Where it is: at one port at least. The first one is what the contract's own address and version of the service are taken from.
    pub fn ports(&self) -> &'static [Port] {
        self.ports
    }
}

impl Operation {
    /// The name in the port type.
    pub fn name(&self) -> &'static str {
        self.soap.name
    }

    /// What it is called where only one may be meant: by its name, and a number behind it if it isn't the first that has the name in the
    /// binding. The operations that the service lacks count, and so do those that nobody asked for.
    pub fn label(&self) -> &'static str {
        self.label
    }

    /// The value of a request, out of JSON.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn request_from_json(&self, json: &serde_json::Value) -> Result<Value, JsonError> {
        Value::from_json(json, &self.soap.request.element)
    }

    /// All that is wrong with JSON as a request: what [`request_from_json`](Self::request_from_json) says first, and what else is found if
    /// reading goes on. The hundred first are told, and behind them how many more there are.
    pub fn request_problems(&self, json: &serde_json::Value) -> Vec<JsonError> {
        Value::problems_of_json(json, &self.soap.request.element)
    }

    /// The value of a response, out of JSON.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn response_from_json(&self, json: &serde_json::Value) -> Result<Value, JsonError> {
        match &self.soap.response {
            Some(root) => Value::from_json(json, &root.element),
            None => Ok(Value::Empty),
        }
    }

    /// The value of a request, out of XML: an envelope without header blocks that must be understood, or what stands in its body.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn request_from_xml(&self, xml: &str) -> Result<Value, castile_soap::Error> {
        read_payload(&self.soap.request, xml, self.version)
    }

    /// The value of a response, out of XML as for [`request_from_xml`](Self::request_from_xml).
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn response_from_xml(&self, xml: &str) -> Result<Value, castile_soap::Error> {
        match &self.soap.response {
            Some(root) => read_payload(root, xml, self.version),
            None => Ok(Value::Empty),
        }
    }

    /// The detail of a fault, out of the XML between its tags.
    pub fn fault_detail(&self, xml: &str) -> FaultDetail {
        let whole = Any::parse(&format!("<detail>{xml}</detail>"));
        let detail = whole.and_then(|whole| whole.read::<AnyType>()).map(|detail| {
            let declared = self.faults.iter().map(|part| (part.element.namespace, part.element.name));
            let mut namespaces: HashMap<String, HashSet<String>> = HashMap::new();
            let there = detail.elements().map(|element| element.name().clone());
            let declared = declared.map(|(namespace, local)| ExpandedName::new(namespace, local));
            for ExpandedName { namespace, local } in declared.chain(there) {
                namespaces.entry(local.to_string()).or_default().insert(namespace.to_string());
            }
            let entries = detail.elements().map(|element| {
                let name = element.name();
                let value = self.faults_of(name).find_map(|part| part.read(&element.xml()).ok());
                let is_one = namespaces.get(&*name.local).is_none_or(|namespaces| namespaces.len() == 1);
                let name =
                    if is_one { name.local.to_string() } else { format!("{{{}}}{}", name.namespace, name.local) };
                FaultEntry { name, value, element }
            });
            FaultDetail { text: detail.text().trim().to_owned(), entries: entries.collect() }
        });
        detail.unwrap_or_else(|_| FaultDetail { text: String::new(), entries: Vec::new() })
    }

    /// Checks an element in the detail of a fault, if the contract declares it for the operation.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn check_fault_detail(&self, xml: &str) -> Result<(), castile_soap::Error> {
        let Some(name) = root_name(xml) else { return Ok(()) };
        let mut first = None;
        for part in self.faults_of(&name) {
            match part.read(xml) {
                Ok(_) => return Ok(()),
                Err(error) => first = first.or(Some(error)),
            }
        }
        first.map_or(Ok(()), |error| Err(error.locate(xml.as_bytes(), Limits::default(), None).into()))
    }

    /// What the contract says of an element in the detail of a fault. In SOAP encoding several may have one name, whose types differ.
    fn faults_of<'n>(&self, name: &'n ExpandedName) -> impl Iterator<Item = &'static Entry> + use<'n> {
        let faults = self.faults;
        faults.iter().filter(|part| name.is(part.element.namespace, part.element.name))
    }

    /// The elements that the detail of a fault may have.
    pub fn faults(&self) -> impl Iterator<Item = &'static Element> {
        self.faults.iter().map(|part| &part.element)
    }

    /// The XML between the tags of the detail of a fault, out of JSON: an object with a member for each element, which is called as
    /// that is, or `{namespace}local`, and an array where there are several. `$` is a text before them.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn fault_detail_from_json(&self, json: &serde_json::Value) -> Result<String, JsonError> {
        let members = members_of(json)?;
        let text = members.get(CONTENT).map_or(Ok(String::new()), |text| escaped_from_json(text, CONTENT))?;
        let elements = members.iter().filter(|(name, _)| *name != CONTENT);
        let elements = elements_from_json(self.faults, self.version, elements, |known| match known.is_empty() {
            true => format!("{} declares no faults, so their details are XML", self.name()),
            false => {
                format!("{} declares no fault with such an element, expected one of {}", self.name(), known.join(", "))
            }
        });
        elements.map(|elements| text + &elements.concat())
    }

    /// The header blocks of a request as XML, out of JSON: an object with a member for each block, which is called as its element is.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn header_from_json(&self, json: &serde_json::Value) -> Result<Vec<String>, JsonError> {
        elements_from_json(self.blocks, self.version, members_of(json)?.iter(), |known| match known.is_empty() {
            true => format!("{} declares no header blocks, so they are XML", self.name()),
            false => format!("{} declares no such header block, expected one of {}", self.name(), known.join(", ")),
        })
    }

    /// What is wrong with header blocks, that which [`header_from_json`](Self::header_from_json) tells among it, and 100 problems
    /// at most.
    pub fn header_problems(&self, json: &serde_json::Value) -> Vec<JsonError> {
        let Some(members) = json.as_object() else { return self.header_from_json(json).err().into_iter().collect() };
        let of_member = |(name, json): (&String, &serde_json::Value)| {
            let alone = serde_json::Value::Object([(name.clone(), json.clone())].into_iter().collect());
            let first = self.header_from_json(&alone).err()?;
            let mut of_name = self.blocks.iter().filter(|entry| entry.element.name == name.as_str());
            // Of what is in several namespaces, or is several, the first one is told.
            let (Some(entry), None, false) = (of_name.next(), of_name.next(), json.is_array()) else {
                return Some(vec![first]);
            };
            let problems = Value::problems_of_json(json, &entry.element);
            let problems: Vec<JsonError> = problems.into_iter().map(|problem| problem.within(name)).collect();
            Some(if problems.is_empty() { vec![first] } else { problems })
        };
        members.iter().filter_map(of_member).flatten().take(100).collect()
    }

    /// The header blocks of a response as XML, out of JSON as for [`header_from_json`](Self::header_from_json).
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn response_header_from_json(&self, json: &serde_json::Value) -> Result<Vec<String>, JsonError> {
        elements_from_json(self.response_blocks, self.version, members_of(json)?.iter(), |known| {
            let response = format!("the response of {}", self.name());
            match known.is_empty() {
                true => format!("{response} declares no header blocks, so they are XML"),
                false => format!("{response} declares no such header block, expected one of {}", known.join(", ")),
            }
        })
    }

    /// What messages are read and written by.
    pub fn soap(&self) -> &'static SoapOperation {
        self.soap
    }
}

fn members_of(json: &serde_json::Value) -> Result<&serde_json::Map<String, serde_json::Value>, JsonError> {
    let message = || "expected an object with a member for each element".to_owned();
    json.as_object().ok_or_else(|| JsonError { path: String::new(), message: message() })
}

/// Elements as XML, out of members of an object, one for each. `unknown` says of a member that there is no such element among those of
/// these names.
fn elements_from_json<'j>(
    declared: &'static [Entry],
    version: Version,
    members: impl Iterator<Item = (&'j String, &'j serde_json::Value)>,
    unknown: impl Fn(&[&str]) -> String,
) -> Result<Vec<String>, JsonError> {
    let wrong = |path: &str, message: String| JsonError { path: path.to_owned(), message };
    let mut elements = Vec::new();
    for (name, json) in members {
        let is_it = |entry: &&Entry| match name.strip_prefix('{').and_then(|name| name.split_once('}')) {
            Some((namespace, local)) => entry.element.namespace == namespace && entry.element.name == local,
            None => entry.element.name == name.as_str(),
        };
        let Some(entry) = declared.iter().find(is_it) else {
            let mut seen = HashSet::new();
            let known = declared.iter().map(|entry| entry.element.name).filter(|name| seen.insert(*name));
            return Err(wrong(name, unknown(&known.collect::<Vec<_>>())));
        };
        if let Some(other) =
            declared.iter().filter(is_it).find(|other| other.element.namespace != entry.element.namespace)
        {
            let message = format!(
                "it is in several namespaces, expected {{{}}}{name} or {{{}}}{name}",
                entry.element.namespace, other.element.namespace
            );
            return Err(wrong(name, message));
        }
        // In SOAP encoding several may have one name, whose types differ: it is the first one that has such values.
        let read = |json: &serde_json::Value| {
            let first = Value::from_json(json, &entry.element);
            first.map(|value| (entry, value)).or_else(|error| {
                let mut others = declared.iter().filter(is_it).skip(1);
                let other = others.find_map(|other| Some((other, Value::from_json(json, &other.element).ok()?)));
                other.ok_or(error)
            })
        };
        let mut write = |(entry, value): (&Entry, Value)| {
            elements.push(entry.write(&value, version).map_err(|error| wrong(name, error.to_string()))?);
            Ok(())
        };
        match (read(json), json) {
            (Ok(read), _) => write(read)?,
            // What is no value of its own is several.
            (Err(_), serde_json::Value::Array(items)) => {
                for (number, json) in items.iter().enumerate() {
                    let one = read(json).map_err(|error| error.within(&format!("[{number}]")).within(name))?;
                    write(one)?;
                }
            }
            (Err(error), _) => return Err(error.within(name)),
        }
    }
    Ok(elements)
}

/// The documents as a server shows them.
fn documents(documents: Vec<castile_plan::Document>) -> &'static [Document] {
    let kept = documents.into_iter().map(|castile_plan::Document { query, text, imports, .. }| {
        let imports = imports.into_iter().map(|(location, query)| (leaked(location), leaked(query)));
        Document::new(leaked(query), leaked(text), leak_all(imports.collect()))
    });
    leak_all(kept.collect())
}

impl Maker {
    fn service(
        &mut self,
        service: &'static plan::Service,
        documents: &'static [Document],
        page: Option<Page>,
    ) -> Service {
        let operations: Vec<SoapOperation> =
            service.operations.iter().map(|operation| self.operation(operation)).collect();
        let operations = leak_all(operations);
        let mut description = Description::new(&service.name, &service.namespace, operations)
            .with_documents(documents, service.address())
            .with_documentation(&service.documentation);
        if let Some(castile_wsdl::Version::Soap12) = service.versions.first() {
            description = description.with_version(castile_soap::Version::Soap12);
        }
        if let Some(page) = page {
            description = description.with_page(page);
        }
        if service.is_mtom {
            description = description.with_mtom();
        }
        if let Some(addressing) = service.addressing {
            let responses = match addressing.responses {
                castile_wsdl::Responses::Anywhere => Responses::Anywhere,
                castile_wsdl::Responses::Anonymous => Responses::Anonymous,
                castile_wsdl::Responses::NonAnonymous => Responses::NonAnonymous,
            };
            description = description.with_addressing(Declared { required: addressing.required, responses });
        }
        let made = service.operations.iter().zip(operations).map(|(operation, soap)| Operation {
            soap,
            label: &operation.label,
            number: operation.number,
            version: description.version,
            documentation: &operation.documentation,
            faults: self.faults(operation.faults.as_ref()),
            blocks: self.blocks(&operation.request),
            response_blocks: operation.response.as_ref().map_or(&[], |response| self.blocks(response)),
        });
        let made = made.collect();
        let ports = service.ports.iter().map(|port| Port {
            name: &port.name,
            version: match port.version {
                castile_wsdl::Version::Soap11 => Version::Soap11,
                castile_wsdl::Version::Soap12 => Version::Soap12,
            },
            address: &port.address,
        });
        Service {
            binding: service.binding.unwrap_or_default(),
            description: leak(description),
            operations: leak_all(made),
            ports: leak_all(ports.collect()),
        }
    }

    fn operation(&mut self, operation: &'static plan::Operation) -> SoapOperation {
        let plan::Operation { name, action, request_action, response_action, request, response, .. } = operation;
        let root = self.payload(request);
        let mut made = SoapOperation::new(name, action, root);
        let of_request = self.understood(request);
        let of_response: &'static [_] = match response {
            None => &[],
            Some(response) => {
                made = made.with_response(self.payload(response));
                self.understood(response)
            }
        };
        made.with_actions(request_action, response_action).with_headers(of_request, of_response)
    }

    fn payload(&mut self, message: &'static plan::Message) -> Root {
        let of = self.element_type(&message.base, Nil::Never);
        match &message.payload {
            plan::Payload::Element(plan::Root { element, is_encoded, wraps_parts, start, end, .. }) => {
                let mut root = Root::new(self.element(element, of), start, end);
                if *is_encoded {
                    root = root.encoded();
                }
                if *wraps_parts {
                    root = root.wrapping_parts();
                }
                root
            }
            plan::Payload::Nothing => of_type(Root::of_body("<soap:Body>", &[]), of),
            plan::Payload::Content { path, start } => {
                let first: &'static [First] = self.first_of(path);
                of_type(Root::of_body(start, first), of)
            }
        }
    }

    /// The elements of header blocks that are understood.
    fn understood(&mut self, message: &'static plan::Message) -> &'static [&'static Element] {
        let elements: Vec<&'static Element> = self.blocks(message).iter().map(|entry| &entry.element).collect();
        leak_all(elements)
    }

    fn blocks(&mut self, message: &'static plan::Message) -> &'static [Entry] {
        let declared: Vec<_> = message.headers.iter().filter_map(|of| self.header(of)).collect();
        leak_all(declared.into_iter().map(|block| self.entry(&block.root, &block.base)).collect())
    }

    fn faults(&mut self, faults: Option<&'static plan::Faults>) -> &'static [Entry] {
        let variants = faults.iter().flat_map(|faults| &faults.variants);
        let entries = variants.map(|variant| self.entry(&variant.root, &variant.base)).collect();
        leak_all(entries)
    }

    fn entry(&mut self, root: &'static plan::Root, base: &'static plan::Base) -> Entry {
        let of = self.element_type(base, Nil::Never);
        let plan::Root { element, is_encoded, start, end, .. } = root;
        Entry { element: self.element(element, of), is_encoded: *is_encoded, start, end }
    }
}

fn of_type(root: Root, of: &'static crate::types::ElementType) -> Root {
    Root { element: root.element.run_time(of), ..root }
}

/// Answers the requests of a service that is known at run time only.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request.
    fn call(
        &self,
        operation: &'static Operation,
        request: Request<Value>,
    ) -> impl Future<Output = Result<Response<Value>, Fault>> + Send;
}

impl<F, A> Handler for F
where
    F: Fn(&'static Operation, Request<Value>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<Response<Value>, Fault>> + Send + 'static,
{
    fn call(
        &self,
        operation: &'static Operation,
        request: Request<Value>,
    ) -> impl Future<Output = Result<Response<Value>, Fault>> + Send {
        self(operation, request)
    }
}

/// A service that is known at run time only, with what answers its requests: a [`Service`](castile_soap::Service), which an endpoint
/// of HTTP carries.
pub struct Served<H> {
    service: Service,
    handler: std::sync::Arc<H>,
}

impl<H: Handler> Served<H> {
    /// A service whose requests `handler` answers.
    pub fn new(service: Service, handler: H) -> Self {
        Served { service, handler: std::sync::Arc::new(handler) }
    }
}

impl<H> fmt::Debug for Served<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("service", &self.service.description.name).finish_non_exhaustive()
    }
}

impl<H: Handler> Dispatch for Served<H> {
    fn description(&self) -> &'static Description {
        self.service.description
    }

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, castile_soap::Error> {
        let handler = self.handler.clone();
        let operation = &self.service.operations[operation];
        payload.handle(async move |request: Request<Value>| handler.call(operation, request).await)
    }
}
