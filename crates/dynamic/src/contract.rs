//! Contracts that are read at run time, with their services and operations.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;

use castile_databinding::schema::{Element, First};
use castile_databinding::{Any, AnyType, Decoder, Encoder, ExpandedName};
use castile_plan::plan::{self, Plan};
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

use crate::compile::{Maker, Types};
use crate::json::{CONTENT, JsonError, escaped_from_json};
use crate::leak::{leak, leak_all, leak_text};
use crate::options::Options;
use crate::plan_cache::{self, StoredPlan};
use crate::types::Nil;
use crate::value::Value;

/// A contract that was read at run time.
///
/// A type is made when a message first needs it. Types stay in memory until the process ends, because decoder tables
/// are static. A program that reads many contracts should do so in separate processes.
#[derive(Debug)]
pub struct Contract {
    /// The services. Each has one binding.
    pub services: Vec<Service>,
    definitions: Option<Definitions>,
    /// Warnings about the contract, and about parts that were left out. Empty if a plan stored in a bundle was used,
    /// because its documents were not read then.
    pub diagnostics: Vec<Diagnostic>,
    /// The operations that were left out.
    pub left_out: Vec<plan::LeftOut>,
    /// How many operations are included and what is left out, in one line. `None` if nothing is left out.
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

/// The address of a service for a SOAP version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Port {
    /// The name of the `wsdl:port`.
    pub name: &'static str,
    /// The SOAP version at this port.
    pub version: Version,
    /// The address, which is empty if the contract has none.
    pub address: &'static str,
}

/// An operation of a service.
#[derive(Debug)]
pub struct Operation {
    soap: &'static SoapOperation,
    label: &'static str,
    /// Its index in the port type.
    number: usize,
    /// The SOAP version that clients use by default.
    version: Version,
    /// The documentation in the contract, which may be empty.
    pub documentation: &'static str,
    faults: &'static [Entry],
    /// The header blocks that requests may have.
    blocks: &'static [Entry],
    /// The header blocks that responses may have.
    response_blocks: &'static [Entry],
}

/// An element in the detail of a fault, or in a header.
#[derive(Debug)]
struct Entry {
    element: Element,
    is_encoded: bool,
    /// The start tag, as written.
    start: &'static str,
    end: &'static str,
}

/// The detail of a fault: its elements, and text beside them.
#[derive(Debug)]
pub struct FaultDetail {
    /// The text directly in the detail, without surrounding white space. Empty if there is none.
    pub text: String,
    /// The elements, in order.
    pub entries: Vec<FaultEntry>,
}

/// An element in the detail of a fault.
#[derive(Debug)]
pub struct FaultEntry {
    /// The local name of the element, or `{namespace}local` if several elements have this local name.
    pub name: String,
    /// The value, if the contract declares the element for the operation and the element is valid.
    pub value: Option<Value>,
    /// The element as XML.
    pub element: Any,
}

/// Serializes as an object with a member for each name. The member of an element is its value, or its XML if it has no
/// value. The member of several elements with one name is an array. `$` is the text.
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

/// Serializes as the value, or as XML if there is no value.
impl Serialize for FaultEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_str(&self.element.xml()),
        }
    }
}

/// Reads a payload from an envelope, or from the content of a body.
fn read_payload(root: &'static Root, xml: &str, version: Version) -> Result<Value, castile_soap::Error> {
    let name = root_name(xml);
    let is_envelope = |version: &Version| name.as_ref().is_some_and(|name| name.is(version.namespace(), "Envelope"));
    if Version::ALL.iter().any(is_envelope) {
        return message::read_str(root, xml, Limits::default());
    }
    let is_root = name.is_some_and(|name| name.is(root.element.namespace, root.element.name));
    // A single element is read directly, so that errors have positions in the text. In SOAP encoding, other elements
    // may follow the payload; such a text is read in an envelope.
    if root.body.is_none() && is_root && (!root.is_encoded || Tree::parse(xml).is_ok()) {
        let read = read_alone(root, xml);
        return read.map_err(|error| error.locate(xml.as_bytes(), Limits::default(), None).into());
    }
    let namespace = version.namespace();
    // An XML declaration or other prolog is not allowed inside an envelope, so only the root element is taken.
    let document = Tree::parse(xml);
    let xml = document.as_ref().map_or(xml, |document| document.root().source());
    let envelope = format!("<s:Envelope xmlns:s=\"{namespace}\"><s:Body>{xml}</s:Body></s:Envelope>");
    message::read_str(root, &envelope, Limits::default())
}

/// Reads a payload that is a document of its own, without an envelope.
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

/// Returns the name of the first element in a text, if there is one.
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
    /// Reads the element on its own.
    fn read(&'static self, xml: &str) -> Result<Value, castile_databinding::Error> {
        let mut reader = Reader::decoded(xml, Limits::default(), &mut Memory::default())?;
        while !matches!(reader.next()?, Token::StartTag(_)) {}
        let mut decoder = Decoder::new(reader);
        match self.is_encoded {
            false => decoder.root(&self.element),
            true => decoder.independent_value(&self.element),
        }
    }

    /// Returns the element as XML.
    fn write(&self, value: &Value, version: Version) -> Result<String, castile_databinding::Error> {
        let mut encoder = Encoder::new(Vec::new());
        encoder.payload(self.start);
        match self.is_encoded {
            false => encoder.element(self.start, value, self.end),
            true => {
                encoder.encode(version.encoding());
                // The encoding is an attribute in the envelope's namespace. That namespace must be declared here,
                // because the place where the element will be inserted may not declare it.
                let start = self.start.strip_suffix('>').unwrap_or(self.start);
                encoder.independent(&format!("{start} xmlns:soap=\"{}\">", version.namespace()), Some(value), self.end);
            }
        }
        encoder.finish().map(|xml| String::from_utf8_lossy(&xml).into_owned())
    }
}

/// Stores the plan of a contract in its bundle, so that opening a large contract takes a quarter of the time.
///
/// If nothing in the contract can be used, the bundle is not changed. A plan that is too large is not stored.
pub fn store_plan(bundle: &mut Bundle) {
    if let Ok((_, plan, _)) = castile_plan::planned_of(bundle, &Options::default().of_plan()) {
        plan_cache::store(plan, bundle);
    }
}

/// Returns the bundle in a file, if the file is a bundle without errors.
fn bundle(path: &Path, files: &Files) -> Option<Bundle> {
    let name = path.to_string_lossy();
    let bytes = files.read(&name).ok().filter(|bytes| Bundle::is_bundle(bytes))?;
    Bundle::read(&name, &bytes).0
}

fn has_operation(plan: &Plan, name: &str) -> bool {
    plan.services.iter().flat_map(|service| &service.operations).any(|operation| operation.name == name)
}

impl Contract {
    /// Reads the contract at `path`, a WSDL document or a bundle. `files` finds imported documents.
    ///
    /// If a bundle has a stored plan ([`store_plan`]), its documents are read only if an option requires them.
    ///
    /// # Errors
    /// Returns all problems of the contract with their positions. At least one is an error.
    pub fn open(path: &Path, files: &Files, options: &Options) -> Result<Self, Vec<Diagnostic>> {
        if !options.needs_documents()
            && let Some(StoredPlan { plan, items }) = bundle(path, files).as_ref().and_then(plan_cache::plan)
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

    /// Makes the services of a plan. `kept` has items that are not in the plan itself, serialized as in a bundle.
    pub(crate) fn of(
        mut plan: Plan,
        kept: Vec<(plan::Path, &'static [u8])>,
        options: &Options,
        shown: &'static [Document],
        page: Option<String>,
    ) -> Self {
        let is_wanted = |name: &String| options.operations.is_empty() || options.operations.contains(name);
        // A stored plan has all operations, so those that were not requested are removed here.
        for service in &mut plan.services {
            service.operations.retain(|operation| is_wanted(&operation.name));
        }
        plan.left_out.retain(|one| is_wanted(&one.name));
        let summary = plan.summary();
        let left_out = std::mem::take(&mut plan.left_out);
        let plan: &'static Plan = leak(plan);
        let page = page.map(leak_text);
        let types = leak(Types::new(plan, kept));
        // The plan also has services without requested operations, because their header blocks may be used in messages
        // of other services. They are left out here.
        let of_wanted = plan.services.iter().enumerate();
        let of_wanted = of_wanted.filter(|(_, of)| options.operations.is_empty() || !of.operations.is_empty());
        let services = of_wanted.map(|(number, service)| {
            let page = page.map(|text| Page::new(text, number));
            types.maker().service(service, shown, page)
        });
        let services = services.collect();
        Contract { services, definitions: None, diagnostics: Vec::new(), left_out, summary }
    }

    /// Returns the service model of the documents, if they are available ([`Options::documents`]).
    pub fn definitions(&self) -> Option<&Definitions> {
        self.definitions.as_ref()
    }

    /// Returns the service model and the operation in it, if the documents are available.
    pub fn bound(&self, service: &Service, operation: &Operation) -> Option<(&Definitions, &BindingOperation)> {
        let definitions = self.definitions.as_ref()?;
        let mut bound = definitions[service.binding].operations.iter();
        Some((definitions, bound.find(|bound| bound.operation == operation.number)?))
    }
}

impl Service {
    /// Returns its static description.
    pub fn description(&self) -> &'static Description {
        self.description
    }

    /// Returns its operations, in the order of the contract.
    pub fn operations(&self) -> &'static [Operation] {
        self.operations
    }

    /// Returns its ports, at least one. The first port determines the address and SOAP version of the service.
    pub fn ports(&self) -> &'static [Port] {
        self.ports
    }
}

impl Operation {
    /// Returns the name in the port type.
    pub fn name(&self) -> &'static str {
        self.soap.name
    }

    /// Returns a unique label in the binding: the name, followed by a number if it isn't the first operation with this
    /// name. Operations that are left out or not requested count, too.
    pub fn label(&self) -> &'static str {
        self.label
    }

    /// Reads the value of a request from JSON.
    ///
    /// # Errors
    /// The JSON is not a valid request. The error has the path and the problem.
    pub fn request_from_json(&self, json: &serde_json::Value) -> Result<Value, JsonError> {
        Value::from_json(json, &self.soap.request.element)
    }

    /// Returns all problems in a request as JSON. They include the problem that
    /// [`request_from_json`](Self::request_from_json) returns. At most 100 problems are returned, followed by the
    /// number of the others.
    pub fn request_problems(&self, json: &serde_json::Value) -> Vec<JsonError> {
        Value::problems_of_json(json, &self.soap.request.element)
    }

    /// Reads the value of a response from JSON.
    ///
    /// # Errors
    /// The JSON is not a valid response. The error has the path and the problem.
    pub fn response_from_json(&self, json: &serde_json::Value) -> Result<Value, JsonError> {
        match &self.soap.response {
            Some(root) => Value::from_json(json, &root.element),
            None => Ok(Value::Empty),
        }
    }

    /// Reads the value of a request from XML: an envelope without header blocks that must be understood, or the content
    /// of its body.
    ///
    /// # Errors
    /// The XML is not a valid request. The error has the position and the problem.
    pub fn request_from_xml(&self, xml: &str) -> Result<Value, castile_soap::Error> {
        read_payload(&self.soap.request, xml, self.version)
    }

    /// Reads the value of a response from XML: an envelope without header blocks that must be understood, or the
    /// content of its body.
    ///
    /// # Errors
    /// The XML is not a valid response. The error has the position and the problem.
    pub fn response_from_xml(&self, xml: &str) -> Result<Value, castile_soap::Error> {
        match &self.soap.response {
            Some(root) => read_payload(root, xml, self.version),
            None => Ok(Value::Empty),
        }
    }

    /// Reads the detail of a fault from the XML between its tags. XML that can't be read gives an empty detail.
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
    /// The element is invalid. The error has the position and the problem.
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

    /// Returns the declared elements with this name in fault details. In SOAP encoding several may have the same name
    /// and different types.
    fn faults_of<'n>(&self, name: &'n ExpandedName) -> impl Iterator<Item = &'static Entry> + use<'n> {
        let faults = self.faults;
        faults.iter().filter(|part| name.is(part.element.namespace, part.element.name))
    }

    /// Returns the elements that the detail of a fault may have.
    pub fn faults(&self) -> impl Iterator<Item = &'static Element> {
        self.faults.iter().map(|part| &part.element)
    }

    /// Returns the XML between the tags of a fault's detail, from JSON.
    ///
    /// The JSON is an object with a member for each element. A member's name is the element's local name or
    /// `{namespace}local`, and its value may be an array for several elements. `$` is text before the elements.
    ///
    /// # Errors
    /// The JSON is not a valid detail. The error has the path and the problem.
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

    /// Returns the header blocks of a request as XML, from JSON: an object with a member for each block, named like its
    /// element.
    ///
    /// # Errors
    /// The JSON is not valid for the declared header blocks. The error has the path and the problem.
    pub fn header_from_json(&self, json: &serde_json::Value) -> Result<Vec<String>, JsonError> {
        elements_from_json(self.blocks, self.version, members_of(json)?.iter(), |known| match known.is_empty() {
            true => format!("{} declares no header blocks, so they are XML", self.name()),
            false => format!("{} declares no such header block, expected one of {}", self.name(), known.join(", ")),
        })
    }

    /// Returns at most 100 problems in the header blocks of a request as JSON. They include the problem that
    /// [`header_from_json`](Self::header_from_json) returns.
    pub fn header_problems(&self, json: &serde_json::Value) -> Vec<JsonError> {
        let Some(members) = json.as_object() else { return self.header_from_json(json).err().into_iter().collect() };
        let of_member = |(name, json): (&String, &serde_json::Value)| {
            let alone = serde_json::Value::Object([(name.clone(), json.clone())].into_iter().collect());
            let first = self.header_from_json(&alone).err()?;
            let mut of_name = self.blocks.iter().filter(|entry| entry.element.name == name.as_str());
            // If the name is ambiguous or there are several blocks, only the first problem is reported.
            let (Some(entry), None, false) = (of_name.next(), of_name.next(), json.is_array()) else {
                return Some(vec![first]);
            };
            let problems = Value::problems_of_json(json, &entry.element);
            let problems: Vec<JsonError> = problems.into_iter().map(|problem| problem.within(name)).collect();
            Some(if problems.is_empty() { vec![first] } else { problems })
        };
        members.iter().filter_map(of_member).flatten().take(100).collect()
    }

    /// Returns the header blocks of a response as XML, from JSON: an object with a member for each block, named like
    /// its element.
    ///
    /// # Errors
    /// The JSON is not valid for the declared header blocks. The error has the path and the problem.
    pub fn response_header_from_json(&self, json: &serde_json::Value) -> Result<Vec<String>, JsonError> {
        elements_from_json(self.response_blocks, self.version, members_of(json)?.iter(), |known| {
            let response = format!("the response of {}", self.name());
            match known.is_empty() {
                true => format!("{response} declares no header blocks, so they are XML"),
                false => format!("{response} declares no such header block, expected one of {}", known.join(", ")),
            }
        })
    }

    /// Returns the operation with which `castile_soap` reads and writes messages.
    pub fn soap(&self) -> &'static SoapOperation {
        self.soap
    }
}

fn members_of(json: &serde_json::Value) -> Result<&serde_json::Map<String, serde_json::Value>, JsonError> {
    let message = || "expected an object with a member for each element".to_owned();
    json.as_object().ok_or_else(|| JsonError { path: String::new(), message: message() })
}

/// Writes elements as XML from members of an object. `unknown` returns the error message for a member that isn't among
/// the given names.
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
        // In SOAP encoding several elements may have the same name and different types. The first one for which the
        // value is valid is used.
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
            // An array that isn't a valid value is a list of values.
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

/// Returns the documents in the form that a server serves.
fn documents(documents: Vec<castile_plan::Document>) -> &'static [Document] {
    let kept = documents.into_iter().map(|castile_plan::Document { query, text, imports, .. }| {
        let imports = imports.into_iter().map(|(location, query)| (leak_text(location), leak_text(query)));
        Document::new(leak_text(query), leak_text(text), leak_all(imports.collect()))
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

    /// Returns the elements of the header blocks that are declared for a message. These blocks are understood.
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

/// A handler for the requests of a service whose contract is read at run time.
pub trait Handler: Send + Sync + 'static {
    /// Handles a request.
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

/// A service whose contract is read at run time, with its handler. It is a [`Service`](castile_soap::Service), so an
/// HTTP endpoint can serve it.
pub struct Served<H> {
    service: Service,
    handler: std::sync::Arc<H>,
}

impl<H: Handler> Served<H> {
    /// Creates a service whose requests are handled by `handler`.
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
