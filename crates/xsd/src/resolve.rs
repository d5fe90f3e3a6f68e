//! Resolves what is known only after all documents were read: missing components, circular references, and properties
//! that components inherit (§3.4.2, §3.4.6, §3.14.6, §5.3).

mod circles;
mod defects;
mod derivation;
mod size;

use std::collections::{HashMap, HashSet};

use crate::components::{
    AttributeDeclaration, AttributeGroupDefinition, ElementDeclaration, ElementId, ModelGroup, ModelGroupDefinition,
    NOWHERE, Scope, TypeDefinition, TypeId,
};
use crate::definition::CompiledTypes;
use crate::parse::{Components, Versions};
use crate::schema::any_type;
use crate::table::Finished;
use crate::{Builtin, Diagnostics, ExpandedName, Limits, Schema, check};

/// Builds the schema from the components.
pub(crate) fn resolve(
    components: Components,
    versions: &Versions,
    limits: Limits,
    diagnostics: &mut Diagnostics,
) -> Schema {
    let Components { types, elements, attributes, groups, attribute_groups, notations, typed_by_head, extents } =
        components;
    let types = types.finish(|name| TypeDefinition::Complex(any_type(name.cloned())));
    let elements = elements.finish(missing_element);
    let attributes = attributes.finish(missing_attribute);
    let groups = groups.finish(missing_group);
    let attribute_groups = attribute_groups.finish(missing_attribute_group);

    let mut namespaces: HashSet<&str> = HashSet::new();
    for names in [&types.names, &elements.names, &attributes.names, &groups.names, &attribute_groups.names] {
        namespaces.extend(names.keys().map(ExpandedName::namespace));
    }
    report(&types, "type", &namespaces, diagnostics);
    report(&elements, "element", &namespaces, diagnostics);
    report(&attributes, "attribute", &namespaces, diagnostics);
    report(&groups, "group", &namespaces, diagnostics);
    report(&attribute_groups, "attribute group", &namespaces, diagnostics);
    let namespaces = namespaces.into_iter().map(str::to_owned).collect();
    let mut missing: HashSet<TypeId> = types.dangling.iter().map(|&(slot, ..)| TypeId(slot)).collect();

    let mut schema = Schema {
        limits,
        types: types.components,
        elements: elements.components,
        attributes: attributes.components,
        groups: groups.components,
        attribute_groups: attribute_groups.components,
        notations,
        namespaces,
        type_names: types.names,
        element_names: elements.names,
        attribute_names: attributes.names,
        group_names: groups.names,
        attribute_group_names: attribute_groups.names,
        global_types: types.globals,
        global_elements: elements.globals,
        global_attributes: attributes.globals,
        derived: HashMap::new(),
        substitutes: HashMap::new(),
        defects: HashMap::new(),
        is_truncated: false,
        definitions: CompiledTypes::default(),
    };
    circles::break_circles(&mut schema, diagnostics);
    type_by_head(&mut schema, &typed_by_head);
    size::limit(&mut schema, diagnostics);
    missing.retain(|id| id.index() < schema.types.len());
    derivation::settle(&mut schema, &missing, diagnostics);
    index(&mut schema);
    check::check(&schema, &missing, versions, diagnostics);
    schema.is_truncated = diagnostics.is_truncated();
    defects::spread(&mut schema, &extents, &diagnostics.defects_by_location());
    schema
}

/// Reports an error for each reference to a missing component.
fn report<T>(table: &Finished<T>, kind: &str, namespaces: &HashSet<&str>, diagnostics: &mut Diagnostics) {
    if table.dangling.is_empty() {
        return;
    }
    let similar = Similar::of(table.names.keys());
    for (_, name, location) in &table.dangling {
        let namespace = name.namespace();
        let message = format!("{kind} {name} is not defined");
        if !namespace.is_empty() && !namespaces.contains(namespace) {
            diagnostics.lost(*location, namespace, message);
            continue;
        }
        let note = match similar.to(name) {
            Some(other) => format!("there is {other}"),
            None if namespace.is_empty() => "it was searched for in no namespace".to_owned(),
            None => format!("its namespace is known, but has no {kind} of this name"),
        };
        diagnostics.error(*location, message).with_rule("src-resolve").with_note(note);
    }
}

/// Names that differ only in case or namespace, for hints.
struct Similar<'n>(HashMap<String, &'n ExpandedName>);

impl<'n> Similar<'n> {
    fn of(names: impl Iterator<Item = &'n ExpandedName>) -> Self {
        let mut first: HashMap<String, &ExpandedName> = HashMap::new();
        for name in names {
            let known = first.entry(name.local().to_ascii_lowercase()).or_insert(name);
            *known = (*known).min(name);
        }
        Self(first)
    }

    fn to(&self, name: &ExpandedName) -> Option<&'n ExpandedName> {
        self.0.get(&name.local().to_ascii_lowercase()).copied()
    }
}

/// Gives each element without a type the type of the head of its substitution group (§3.3.2), which may itself take it
/// from its own head. Circular groups have been cut.
fn type_by_head(schema: &mut Schema, typed_by_head: &[ElementId]) {
    let mut untyped: HashSet<ElementId> = typed_by_head.iter().copied().collect();
    for &element in typed_by_head {
        let mut waiting = Vec::new();
        let mut head = element;
        while untyped.remove(&head) {
            waiting.push(head);
            head = schema[head].substitution_group.unwrap_or(head);
        }
        let type_id = schema[head].type_id;
        for element in waiting {
            schema.elements[element.index()].type_id = type_id;
        }
    }
}

fn index(schema: &mut Schema) {
    for (slot, definition) in schema.types.iter().enumerate().skip(Builtin::ALL.len()) {
        schema.derived.entry(definition.base()).or_default().push(TypeId(slot as u32));
    }
    for (slot, declaration) in schema.elements.iter().enumerate() {
        if let Some(head) = declaration.substitution_group {
            schema.substitutes.entry(head).or_default().push(ElementId(slot as u32));
        }
    }
}

fn name_or_none(name: Option<&ExpandedName>) -> ExpandedName {
    name.cloned().unwrap_or_else(|| ExpandedName::new("", ""))
}

fn missing_element(name: Option<&ExpandedName>) -> ElementDeclaration {
    ElementDeclaration::of_any_type(name_or_none(name))
}

fn missing_attribute(name: Option<&ExpandedName>) -> AttributeDeclaration {
    AttributeDeclaration {
        name: name_or_none(name),
        scope: Scope::Global,
        type_id: Builtin::AnySimpleType.into(),
        value_constraint: None,
        annotation: Default::default(),
        location: NOWHERE,
    }
}

fn missing_group(name: Option<&ExpandedName>) -> ModelGroupDefinition {
    ModelGroupDefinition {
        name: name_or_none(name),
        group: ModelGroup::empty(),
        annotation: Default::default(),
        location: NOWHERE,
    }
}

fn missing_attribute_group(name: Option<&ExpandedName>) -> AttributeGroupDefinition {
    AttributeGroupDefinition {
        name: name_or_none(name),
        attribute_uses: Vec::new(),
        attribute_groups: Vec::new(),
        attribute_wildcard: None,
        annotation: Default::default(),
        location: NOWHERE,
    }
}
