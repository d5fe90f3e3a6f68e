//! Contracts of a family that fit together: types that they share are generated once.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use castile_codegen::{Files, Severity};
use castile_wsdl::Definitions;
use castile_xsd::ElementId;

use crate::Error;
use crate::contracts::{Contract, is_twice};

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
    /// Writes the contract that imports all, and nothing else.
    fn write(&self) -> Result<(), Error> {
        Ok(std::fs::write(&self.path, document(&self.members, ""))?)
    }

    /// Writes a contract with an operation for each two global elements, so that elements which no service of the group
    /// asks for are read and written too. `None` if there is no element.
    pub(crate) fn write_exchange(&self, definitions: &Definitions) -> Result<Option<PathBuf>, Error> {
        let schema = &definitions.schema;
        // What is built in is nobody's message.
        let is_of_contract = |id: &ElementId| {
            let declaration = &schema[*id];
            !declaration.is_abstract
                && !castile_xsd::builtin_namespaces().any(|known| known == declaration.name.namespace())
        };
        let elements: Vec<ElementId> = schema.global_elements().filter(is_of_contract).collect();
        if elements.is_empty() {
            return Ok(None);
        }
        let (mut messages, mut operations, mut bound) = (String::new(), String::new(), String::new());
        for (number, pair) in elements.chunks(2).enumerate() {
            for (direction, id) in ["In", "Out"].into_iter().zip([pair[0], pair[pair.len() - 1]]) {
                let (namespace, local) = (escaped(schema[id].name.namespace()), schema[id].name.local());
                writeln!(
                    messages,
                    "<message name='{direction}{number}'><part name='body' xmlns:e='{namespace}' element='{}{local}'/></message>",
                    if namespace.is_empty() { "" } else { "e:" }
                )?;
            }
            let name = format!("exchange{number}");
            writeln!(
                operations,
                "<operation name='{name}'><input message='g:In{number}'/><output message='g:Out{number}'/></operation>"
            )?;
            writeln!(
                bound,
                "<operation name='{name}'><soap:operation soapAction='{name}'/><input><soap:body use='literal'/></input>\
                 <output><soap:body use='literal'/></output></operation>"
            )?;
        }
        let more = format!(
            "{messages}<portType name='Exchange'>\n{operations}</portType>\n<binding name='Exchange' type='g:Exchange'>\n\
             <soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>\n{bound}</binding>\n<service name='Exchange'>\
             <port name='Exchange' binding='g:Exchange'><soap:address location='http://localhost/'/></port></service>\n"
        );
        let path = self.path.with_file_name(format!("{}_exchange.wsdl", self.name));
        std::fs::write(&path, document(&self.members, &more))?;
        Ok(Some(path))
    }
}

/// Puts each contract into the first group that it fits into: what they define twice is alike. Contracts of which the same
/// comes are taken once.
pub(crate) fn group(contracts: &[Contract], files: &Files, out: &Path) -> Result<Vec<Group>, Error> {
    let mut groups: Vec<Group> = Vec::new();
    let mut known = HashSet::new();
    for contract in contracts {
        let Ok(generated) = &contract.result else { continue };
        // The file's own name stands in the comment at the top and where it is included.
        let file = contract.path.file_name().unwrap_or_default().to_string_lossy();
        let stem = contract.path.file_stem().unwrap_or_default().to_string_lossy();
        let source = generated.source.replace(&*file, "").replace(&format!("{stem}.wsdl"), "");
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
            let twice = diagnostics.iter().filter(|diagnostic| is_twice(diagnostic)).count();
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

/// A WSDL document that imports others.
fn document(members: &[(PathBuf, String)], more: &str) -> String {
    let mut imports = String::new();
    for (path, namespace) in members {
        let (namespace, location) = (escaped(namespace), escaped(&path.to_string_lossy()));
        imports += &format!("<import namespace='{namespace}' location='{location}'/>\n");
    }
    format!(
        "<definitions name='group' targetNamespace='urn:castile:group' xmlns:g='urn:castile:group'\n    \
         xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/'>\n{imports}{more}</definitions>\n"
    )
}

fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    // These texts came out of XML, or are paths: XML can carry them.
    let _ = castile_xml::escape::push_attribute(&mut out, text);
    String::from_utf8_lossy(&out).replace('\'', "&apos;")
}
