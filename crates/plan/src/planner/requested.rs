//! Plans types that no operation needs: those that options name, and all of them if there is no service.

use std::collections::{HashMap, HashSet};

use castile_wsdl::{BindingOperation, PartContent, Severity};
use castile_xsd::components::TypeDefinition;
use castile_xsd::{ElementId, ExpandedName, TypeId};

use super::{Planner, is_of_contract};
use crate::FaultTypes;
use crate::plan::{Base, RootType, TypedRoot};

impl Planner<'_> {
    /// Returns the types with these names, each with all types derived from it.
    pub(super) fn requested_types(&mut self, names: &[String]) -> Vec<TypeId> {
        let schema = self.schema;
        let mut asked = Vec::new();
        for name in names {
            let is_asked = |id: &TypeId| {
                schema[*id].name().is_some_and(|known| known.local() == name || known.to_string() == *name)
            };
            let found: Vec<TypeId> = schema.global_types().filter(is_asked).collect();
            if found.is_empty() {
                self.report_contract(Severity::Error, format!("there is no type {name}, which was requested"));
            }
            for id in found {
                if let Some(defect) = schema.type_defect(id) {
                    let message = format!("type {name}, which was requested, is left out: {}", defect.message);
                    self.report(Severity::Error, defect.location, message);
                } else {
                    asked.push(id);
                }
            }
        }
        self.with_derived(asked)
    }

    /// Returns the types and all types derived from them.
    pub(super) fn with_derived(&self, types: Vec<TypeId>) -> Vec<TypeId> {
        let mut known: HashSet<TypeId> = HashSet::new();
        let (mut found, mut open) = (Vec::new(), types);
        while let Some(id) = open.pop() {
            if known.insert(id) {
                found.push(id);
                open.extend(self.schema.derived_types(id));
            }
        }
        found.sort_unstable();
        found
    }

    /// Determines which fault types are stored as XML: not those that were requested, nor, with [`FaultTypes::Declared`], those that
    /// an operation declares.
    pub(super) fn leave_untyped(&mut self, faults: FaultTypes, asked: &[TypeId]) {
        if faults == FaultTypes::All {
            return;
        }
        let (definitions, schema, wanted) = (self.definitions, self.schema, self.wanted);
        let operations = || definitions.bindings.iter().flat_map(|binding| &binding.operations);
        let declared = |operation: &BindingOperation| -> Vec<TypeId> {
            let messages = operation.input.iter().chain(&operation.output);
            let headers = messages.flat_map(|message| &message.headers).flat_map(|header| &header.faults);
            let parts = operation.faults.iter().filter_map(|fault| fault.part.as_ref());
            let parts = parts.chain(headers.map(|header| &header.part));
            let types = parts.map(|part| match part.content {
                PartContent::Element(element) => schema[element].type_id,
                PartContent::Type(type_id) => type_id,
            });
            types.collect()
        };
        let is_struct = |id: &TypeId| id.builtin().is_none() && schema[*id].as_complex().is_some();
        let all =
            operations().flat_map(declared).flat_map(|id| schema.bases(id).take_while(is_struct).collect::<Vec<_>>());
        self.untyped = self.with_derived(all.collect()).into_iter().collect();
        if faults == FaultTypes::Declared {
            let is_wanted = |operation: &&BindingOperation| wanted.is_empty() || wanted.contains(&operation.name);
            for id in operations().filter(is_wanted).flat_map(declared) {
                self.untyped.remove(&id);
            }
        }
        for id in asked {
            self.untyped.remove(id);
        }
    }

    /// Plans the documents of a standalone schema: its global elements, and all types of its namespace. Imported
    /// schemas contribute only what these need.
    pub(super) fn documents(&mut self) {
        let (schema, target) = (self.schema, self.definitions.target_namespace.as_str());
        let is_document = |id: &ElementId| {
            let declared = &schema[*id];
            declared.name.namespace() == target
                && !declared.is_abstract
                && is_of_contract(declared.location)
                && schema.element_defect(*id).is_none()
        };
        let elements: Vec<ElementId> = schema.global_elements().filter(is_document).collect();
        let mut of_types: HashMap<TypeId, usize> = HashMap::new();
        for element in &elements {
            *of_types.entry(schema[*element].type_id).or_default() += 1;
        }
        for element in elements {
            let declared = &schema[element];
            self.location = declared.location;
            if !self.count(1) {
                return;
            }
            let base = self.base(declared.type_id, element);
            let name = declared.name.local();
            let of = match &base {
                Base::Item(path)
                    if schema[declared.type_id].as_complex().is_some()
                        && of_types.get(&declared.type_id) == Some(&1) =>
                {
                    RootType::Own(path.clone())
                }
                _ => RootType::Wrapper(self.names[0].item(&format!("{name} document"))),
            };
            let documentation = self.text(&[&declared.annotation.documentation]);
            let documentation = documentation.unwrap_or_else(|| format!("The document `{name}`."));
            let root = self.root(element);
            self.documents.push(TypedRoot { of, documentation, base, root });
        }
        self.types_of(|name| name.namespace() == target);
    }

    /// Plans all types and elements of the contract.
    pub(super) fn all_types(&mut self) {
        let schema = self.schema;
        let elements = schema.global_elements().filter(|id| schema.element_defect(*id).is_none());
        for element in elements.filter(|id| is_of_contract(schema[*id].location)) {
            self.base(schema[element].type_id, element);
        }
        self.types_of(|_| true);
    }

    /// Plans the types of the contract whose names satisfy `is_wanted`.
    fn types_of(&mut self, is_wanted: impl Fn(&ExpandedName) -> bool) {
        let schema = self.schema;
        let types = schema.global_types().filter(|id| schema.type_defect(*id).is_none());
        let types = types.filter(|id| schema[*id].name().is_some_and(&is_wanted));
        for id in types.filter(|id| is_of_contract(schema[*id].location())) {
            match &schema[id] {
                TypeDefinition::Simple(_) => drop(self.simple(id)),
                TypeDefinition::Complex(_) => drop(self.complex_type(id)),
            }
        }
    }

    /// Reports that there is nothing to generate.
    pub(super) fn nothing(&mut self, is_strict: bool) {
        let has_operations = self.definitions.bindings.iter().any(|binding| !binding.operations.is_empty());
        let message = "no service uses SOAP over HTTP and there are no types, so there is nothing to generate";
        // A contract may have only policies or nothing at all.
        let is_expected = !is_strict && !has_operations && self.definitions.services.is_empty();
        self.report_contract(if is_expected { Severity::Warning } else { Severity::Error }, message.to_owned());
    }
}
