//! Contracts of a family that fit together: types that they share are generated once.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use castile_codegen::{Files, Severity};
use castile_wsdl::{Definitions, PartContent, Protocol, Style, Use};
use castile_xsd::{ElementId, ExpandedName, TypeId, XSD_NAMESPACE, builtin_namespaces};

use crate::Error;
use crate::contracts::{Contract, defined_twice};

const NAMESPACE: &str = "urn:castile:group";

/// Contracts that one other imports.
pub(crate) struct Group {
    /// The name of the module: `m` for contracts with operations, `t` for those that give types alone.
    pub(crate) name: String,
    /// The contract that imports all.
    pub(crate) path: PathBuf,
    /// Whether there are operations.
    pub(crate) has_operations: bool,
    /// Files and their target namespaces.
    members: Vec<(PathBuf, String)>,
    twice: usize,
}

impl Group {
    /// The folders that its contracts are in.
    pub(crate) fn folders(&self) -> BTreeSet<&Path> {
        self.members.iter().filter_map(|(path, _)| path.parent()).collect()
    }

    /// Writes the contract that imports all, and nothing else.
    fn write(&self) -> Result<(), Error> {
        Ok(std::fs::write(&self.path, document(&self.members, ""))?)
    }

    /// Writes a contract that has elements for the messages of rpc style too. `None` if there are none.
    pub(crate) fn write_wrappers(&self, definitions: &Definitions) -> Result<Option<PathBuf>, Error> {
        let wrappers = wrappers(definitions)?;
        if wrappers.is_empty() {
            return Ok(None);
        }
        let schema = &definitions.schema;
        let namespaces: BTreeSet<&str> =
            schema.global_types().filter_map(|id| schema[id].name()).map(|name| name.namespace()).collect();
        let mut schemas = String::new();
        for (name, declared) in &wrappers {
            let target = name.namespace();
            match target {
                "" => schemas += "<xs:schema>\n",
                _ => writeln!(schemas, "<xs:schema targetNamespace='{}'>", escaped(target))?,
            }
            for namespace in namespaces.iter().filter(|namespace| **namespace != target && !namespace.is_empty()) {
                writeln!(schemas, "<xs:import namespace='{}'/>", escaped(namespace))?;
            }
            writeln!(schemas, "<xs:element name='{}' {declared}\n</xs:schema>", name.local())?;
        }
        let path = self.path.with_file_name(format!("{}_rpc.wsdl", self.name));
        std::fs::write(&path, document(&self.members, &format!("<w:types>\n{schemas}</w:types>\n")))?;
        Ok(Some(path))
    }

    /// Writes a contract with an operation for each two global elements, and for elements of its own, one of each complex
    /// type: so what no service of the group asks for is read and written too. `None` if there is nothing.
    pub(crate) fn write_exchange(&self, definitions: &Definitions) -> Result<Option<PathBuf>, Error> {
        let schema = &definitions.schema;
        // What is built in is nobody's message.
        let is_of_contract = |name: &ExpandedName| !builtin_namespaces().any(|known| known == name.namespace());
        let elements = schema.global_elements().filter(|&id| !schema[id].is_abstract).map(|id| &schema[id].name);
        let mut messages: Vec<_> = elements.filter(|name| is_of_contract(name)).cloned().collect();
        let is_concrete = |id: &TypeId| schema[*id].as_complex().is_some_and(|complex| !complex.is_abstract);
        let types = schema.global_types().filter(is_concrete).filter_map(|id| schema[id].name());
        let types: Vec<_> = types.filter(|name| is_of_contract(name)).collect();
        let mut declared = String::new();
        let namespaces: BTreeSet<&str> = types.iter().map(|name| name.namespace()).collect();
        for namespace in namespaces {
            match namespace {
                "" => declared += "<xs:import/>\n",
                _ => writeln!(declared, "<xs:import namespace='{}'/>", escaped(namespace))?,
            }
        }
        for (number, name) in types.into_iter().enumerate() {
            let (declaration, reference) = reference(name);
            writeln!(declared, "<xs:element name='type{number}' {declaration} type='{reference}'/>")?;
            messages.push(ExpandedName::new(NAMESPACE, format!("type{number}")));
        }
        if messages.is_empty() {
            return Ok(None);
        }
        let path = self.path.with_file_name(format!("{}_exchange.wsdl", self.name));
        std::fs::write(&path, document(&self.members, &exchange(&declared, &messages)?))?;
        Ok(Some(path))
    }
}

/// What operations of rpc style have as the child of the body, which no schema declares (WSDL 1.1 §3.5), and what faults say
/// in SOAP encoding: the names, and what a declaration says behind the name.
type Wrappers = BTreeMap<ExpandedName, String>;

fn wrappers(definitions: &Definitions) -> Result<Wrappers, Error> {
    let mut wrappers = Wrappers::new();
    let soap = definitions.bindings.iter().filter(|binding| matches!(binding.protocol, Protocol::Soap { .. }));
    for operation in soap.flat_map(|binding| &binding.operations).filter(|operation| operation.style == Style::Rpc) {
        for (message, behind) in [(&operation.input, ""), (&operation.output, "Response")] {
            let Some(message) = message else { continue };
            // Whatever is encoded may be nil.
            let nillable = if message.use_ == Use::Encoded { " nillable='true'" } else { "" };
            let name = ExpandedName::new(
                message.namespace.as_deref().unwrap_or_default(),
                format!("{}{behind}", operation.name),
            );
            let mut parts = String::new();
            for part in &message.body {
                let (name, id) = match part.content {
                    PartContent::Type(id) => (part.name.as_str(), id),
                    PartContent::Element(id) if message.use_ == Use::Encoded => {
                        (definitions.schema[id].name.local(), definitions.schema[id].type_id)
                    }
                    PartContent::Element(_) => continue,
                };
                let Some(type_) = definitions.schema[id].name() else { continue };
                let (declaration, reference) = reference(type_);
                writeln!(
                    parts,
                    "<xs:element name='{name}' {declaration} type='{reference}'{nillable} form='unqualified'/>",
                )?;
            }
            let declared =
                format!("><xs:complexType><xs:sequence>\n{parts}</xs:sequence></xs:complexType></xs:element>");
            wrappers.entry(name).or_insert(declared);
        }
        for fault in operation.faults.iter().filter(|fault| fault.use_ == Use::Encoded) {
            let Some(part) = &fault.part else { continue };
            let PartContent::Type(id) = part.content else { continue };
            let Some(type_) = definitions.schema[id].name() else { continue };
            let (declaration, reference) = reference(type_);
            let name = ExpandedName::new(fault.namespace.as_deref().unwrap_or_default(), part.name.as_str());
            wrappers.entry(name).or_insert(format!("{declaration} type='{reference}'/>"));
        }
    }
    Ok(wrappers)
}

/// A schema with elements, and a service with an operation for each two messages.
fn exchange(declared: &str, messages: &[ExpandedName]) -> Result<String, Error> {
    let (mut parts, mut operations, mut bound) = (String::new(), String::new(), String::new());
    for (number, pair) in messages.chunks(2).enumerate() {
        for (direction, name) in ["In", "Out"].into_iter().zip([&pair[0], &pair[pair.len() - 1]]) {
            let (declaration, reference) = reference(name);
            writeln!(
                parts,
                "<w:message name='{direction}{number}'><w:part name='body' {declaration} element='{reference}'/></w:message>"
            )?;
        }
        let name = format!("exchange{number}");
        writeln!(
            operations,
            "<w:operation name='{name}'><w:input message='g:In{number}'/><w:output message='g:Out{number}'/></w:operation>"
        )?;
        writeln!(
            bound,
            "<w:operation name='{name}'><soap:operation soapAction='{name}'/><w:input><soap:body use='literal'/></w:input>\
             <w:output><soap:body use='literal'/></w:output></w:operation>"
        )?;
    }
    Ok(format!(
        "<w:types><xs:schema targetNamespace='{NAMESPACE}'>\n{declared}</xs:schema></w:types>\n{parts}\
         <w:portType name='Exchange'>\n{operations}</w:portType>\n<w:binding name='Exchange' type='g:Exchange'>\n\
         <soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>\n{bound}</w:binding>\n\
         <w:service name='Exchange'><w:port name='Exchange' binding='g:Exchange'>\
         <soap:address location='http://localhost/'/></w:port></w:service>\n"
    ))
}

/// A namespace declaration, and a name by it.
fn reference(name: &ExpandedName) -> (String, String) {
    match name.namespace() {
        "" => (String::new(), name.local().to_owned()),
        // The document has a prefix for it, and lxml would take the second one away.
        XSD_NAMESPACE => (String::new(), format!("xs:{}", name.local())),
        namespace => (format!("xmlns:e='{}'", escaped(namespace)), format!("e:{}", name.local())),
    }
}

/// Puts each contract into the first group that it fits into: what they define twice is alike. Contracts of which the same
/// comes are taken once.
pub(crate) fn group(contracts: &[Contract], files: &Files, out: &Path) -> Result<Vec<Group>, Error> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known = HashSet::new();
    for contract in contracts {
        let Ok(generated) = &contract.result else { continue };
        // What is generated of a contract that is broken in parts can't be told from its documents. `tests/defects` has such.
        let (_, problems) = castile_wsdl::read(&contract.path.to_string_lossy(), files);
        if problems.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            continue;
        }
        // The file's own name stands in the comment at the top, and in those of the documents that are included.
        let file = contract.path.file_name().unwrap_or_default().to_string_lossy();
        let mut source = generated.source.replace(&*file, "");
        for document in &generated.documents {
            source = source.replace(&document.file, "");
        }
        let has_operations = contract.generated_operations() > 0;
        if !known.insert(source) || crate::contracts::types(&generated.source) == 0 && !has_operations {
            continue;
        }
        let member = (contract.path.clone(), contract.namespace.clone());
        let mut is_placed = false;
        for group in groups.iter_mut().filter(|group| group.has_operations == has_operations) {
            group.members.push(member.clone());
            group.write()?;
            let (definitions, diagnostics) = castile_wsdl::read(&group.path.to_string_lossy(), files);
            let twice = diagnostics.iter().map(defined_twice).sum();
            let is_broken = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
            if definitions.is_some() && !is_broken && twice <= group.twice + contract.twice() {
                group.twice = twice;
                is_placed = true;
                break;
            }
            group.members.pop();
            group.write()?;
        }
        if !is_placed {
            let kind = if has_operations { "m" } else { "t" };
            let number = groups.iter().filter(|group| group.has_operations == has_operations).count();
            let name = format!("{kind}{number}");
            let path = out.join("src").join(format!("{name}.wsdl"));
            let group = Group { name, path, has_operations, members: vec![member], twice: contract.twice() };
            group.write()?;
            groups.push(group);
        }
    }
    Ok(groups)
}

/// The global elements by name.
pub(crate) fn elements(definitions: &Definitions) -> HashMap<(String, String), ElementId> {
    let schema = &definitions.schema;
    let name = |id: ElementId| (schema[id].name.namespace().to_owned(), schema[id].name.local().to_owned());
    schema.global_elements().map(|id| (name(id), id)).collect()
}

/// A WSDL document that imports others. No name in it is in a default namespace.
fn document(members: &[(PathBuf, String)], more: &str) -> String {
    let mut imports = String::new();
    for (path, namespace) in members {
        let (namespace, location) = (escaped(namespace), escaped(&path.to_string_lossy()));
        imports += &format!("<w:import namespace='{namespace}' location='{location}'/>\n");
    }
    format!(
        "<w:definitions name='group' targetNamespace='{NAMESPACE}' xmlns:g='{NAMESPACE}'\n    \
         xmlns:w='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/'\n    \
         xmlns:xs='http://www.w3.org/2001/XMLSchema'>\n{imports}{more}</w:definitions>\n"
    )
}

fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    // These texts came out of XML, or are paths: XML can carry them.
    let _ = castile_xml::escape::push_attribute(&mut out, text);
    String::from_utf8_lossy(&out).replace('\'', "&apos;")
}
