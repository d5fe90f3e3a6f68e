//! Parses a schema document into declarations in the tables (XSD 1.0 Part 1 §3, the XML representation of each
//! component). References between components become slots; missing components are detected later.

mod attributes;
mod complex;
mod context;
mod particles;
mod redefine;
mod simple;
mod versions;
mod xpath;

pub(crate) use context::Defaults;
pub use context::tidy;
pub(crate) use redefine::{Redefinitions, SymbolSpace};
pub(crate) use versions::Versions;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use castile_xml::tree::Element;

use crate::components::{
    AttributeDeclaration, AttributeGroupDefinition, ElementDeclaration, ElementId, GroupId, IdentityConstraint,
    IdentityConstraintCategory, ModelGroup, ModelGroupDefinition, Notation, Owner, Path, Scope, TypeDefinition, TypeId,
};
use crate::structure::{self, Misplaced};
use crate::table::Table;
use crate::{Builtin, Diagnostics, ExpandedName, FileId, Location};

use versions::Clash;

/// All components found while documents are parsed.
#[derive(Debug, Default)]
pub(crate) struct Components {
    pub(crate) types: Table<TypeDefinition>,
    pub(crate) elements: Table<ElementDeclaration>,
    pub(crate) attributes: Table<AttributeDeclaration>,
    pub(crate) groups: Table<ModelGroupDefinition>,
    pub(crate) attribute_groups: Table<AttributeGroupDefinition>,
    pub(crate) notations: Vec<Notation>,
    /// Elements that take their type from the head of their substitution group.
    pub(crate) typed_by_head: Vec<ElementId>,
    /// The positions of global components, to find the component that an error is in.
    pub(crate) extents: Vec<Extent>,
}

/// The position of a global component.
#[derive(Debug)]
pub(crate) struct Extent {
    pub(crate) component: (SymbolSpace, u32),
    pub(crate) file: FileId,
    /// The byte range of its element.
    pub(crate) bytes: Range<u32>,
}

impl Components {
    /// Returns the number of components, including those that are only referred to so far.
    pub(crate) fn len(&self) -> usize {
        self.types.len() + self.elements.len() + self.attributes.len() + self.groups.len() + self.attribute_groups.len()
    }

    /// Returns the namespaces of names that are referred to but not defined so far.
    pub(crate) fn undefined_namespaces(&self) -> std::collections::BTreeSet<String> {
        let types = self.types.undefined_namespaces().chain(self.elements.undefined_namespaces());
        let attributes = self.attributes.undefined_namespaces().chain(self.attribute_groups.undefined_namespaces());
        types.chain(attributes).chain(self.groups.undefined_namespaces()).map(str::to_owned).collect()
    }
}

/// Parses one schema document into the tables.
pub(crate) struct Parser<'p> {
    pub(crate) components: &'p mut Components,
    pub(crate) diagnostics: &'p mut Diagnostics,
    pub(crate) redefinitions: &'p Redefinitions,
    /// The definitions so far, to distinguish copies from conflicts.
    pub(crate) definitions: &'p mut Definitions,
    /// Misplaced elements, which were already reported and are skipped.
    pub(crate) misplaced: &'p Misplaced,
    pub(crate) file: FileId,
    /// The number of the `<schema>` element, since a WSDL may have many.
    pub(crate) schema: usize,
    pub(crate) target_namespace: Arc<str>,
    /// The document has no target namespace and takes that of the including document (§4.2.1).
    pub(crate) chameleon: bool,
    pub(crate) defaults: Defaults,
    /// The position of an error in the defaults, which affects all definitions of the document.
    pub(crate) defaults_defect: Option<Location>,
    /// The namespaces that may be referred to (§4.2.3, src-resolve 4).
    pub(crate) imported: HashSet<String>,
    /// The definition that is being redefined. References to this name lead to the original.
    pub(crate) redefining: Option<(SymbolSpace, ExpandedName, u32)>,
    /// The current nesting depth of types and groups.
    pub(crate) depth: usize,
}

/// Where each global component was first defined, and the conflicting definitions in other schemas.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    first: HashMap<(SymbolSpace, ExpandedName), Definition>,
    clashes: Vec<Clash>,
}

#[derive(Debug)]
struct Definition {
    schema: usize,
    location: Location,
    /// The text without white space.
    text: String,
}

impl Parser<'_> {
    /// Parses the children of `<schema>`. Imports and includes were followed before.
    pub(crate) fn schema(&mut self, schema: Element<'_>) {
        for child in self.children(schema) {
            match child.local() {
                "annotation" | "import" | "include" => {}
                "redefine" => self.redefine(child),
                _ => self.global(child),
            }
        }
    }

    fn redefine(&mut self, redefine: Element<'_>) {
        for child in self.children(redefine) {
            let kind = match child.local() {
                "annotation" => continue,
                "simpleType" | "complexType" => SymbolSpace::Type,
                "group" => SymbolSpace::Group,
                "attributeGroup" => SymbolSpace::AttributeGroup,
                _ => continue,
            };
            let Some(name) = self.name_of(child) else { continue };
            let Some((slot, original)) = self.redefinitions.slots(child, self.file) else { continue };
            self.redefining = Some((kind, name.clone(), original));
            self.define(child, kind, name, slot);
            self.redefining = None;
        }
    }

    /// Parses a child of `<schema>` that defines a component.
    fn global(&mut self, child: Element<'_>) {
        let kind = match child.local() {
            "simpleType" | "complexType" => SymbolSpace::Type,
            "element" => SymbolSpace::Element,
            "attribute" => SymbolSpace::Attribute,
            "group" => SymbolSpace::Group,
            "attributeGroup" => SymbolSpace::AttributeGroup,
            "notation" => SymbolSpace::Notation,
            _ => return,
        };
        let Some(name) = self.name_of(child) else { return };
        if self.is_duplicate(child, kind, &name) {
            return;
        }
        let slot = match self.redefinitions.original(kind, &name) {
            Some(slot) => slot,
            None => self.components.slot(kind, &name),
        };
        self.define(child, kind, name, slot);
    }

    /// Records the position of a component.
    fn record_extent(&mut self, child: Element<'_>, kind: SymbolSpace, slot: u32) {
        // Offsets in a document tree have 32 bits.
        let start = u32::try_from(child.offset()).unwrap_or(u32::MAX);
        let end = start.saturating_add(u32::try_from(child.source().len()).unwrap_or(u32::MAX));
        let (component, file) = ((kind, slot), self.file);
        self.components.extents.push(Extent { component, file, bytes: start..end });
        if let Some(start) = self.defaults_defect.and_then(|location| location.offset) {
            self.components.extents.push(Extent { component, file, bytes: start..start.saturating_add(1) });
        }
    }

    fn define(&mut self, child: Element<'_>, kind: SymbolSpace, name: ExpandedName, slot: u32) {
        self.record_extent(child, kind, slot);
        // A redefined definition loses its name, because it is part of its redefinition.
        let owner = self.redefinitions.owner(kind, slot).map(|slot| Owner::Type(TypeId(slot)));
        match kind {
            SymbolSpace::Type => {
                let named = if owner.is_some() { None } else { Some(name) };
                let definition = match child.local() {
                    "simpleType" => TypeDefinition::Simple(self.simple_type(child, named, owner, TypeId(slot))),
                    _ => TypeDefinition::Complex(self.complex_type(child, named, owner, TypeId(slot))),
                };
                match owner {
                    Some(_) => self.components.types.define(slot, definition),
                    None => self.components.types.define_global(slot, definition),
                }
            }
            SymbolSpace::Element => {
                let declaration = self.element_declaration(child, name, Scope::Global, ElementId(slot));
                self.components.elements.define_global(slot, declaration);
            }
            SymbolSpace::Attribute => {
                let declaration = self.attribute_declaration(child, name, Scope::Global, slot);
                self.components.attributes.define_global(slot, declaration);
            }
            SymbolSpace::Group => {
                let definition = self.group_definition(child, name);
                self.components.groups.define_global(slot, definition);
            }
            SymbolSpace::AttributeGroup => {
                let definition = self.attribute_group_definition(child, name);
                self.components.attribute_groups.define_global(slot, definition);
            }
            SymbolSpace::Notation => {
                let notation = self.notation(child, name);
                self.components.notations.push(notation);
            }
        }
    }

    /// Returns true if the name is already defined; the first definition counts. Contracts often have copies of a
    /// schema, which are harmless.
    fn is_duplicate(&mut self, child: Element<'_>, kind: SymbolSpace, name: &ExpandedName) -> bool {
        let location = self.location(child);
        if kind == SymbolSpace::Type && self.components.slot(kind, name) < Builtin::ALL.len() as u32 {
            return true;
        }
        let text: String = child.source().split_whitespace().collect();
        let first = match self.definitions.first.entry((kind, name.clone())) {
            Entry::Vacant(entry) => {
                entry.insert(Definition { schema: self.schema, location, text });
                return false;
            }
            Entry::Occupied(entry) => entry.into_mut(),
        };
        if first.schema != self.schema && first.text == text {
            return true;
        }
        // Two definitions in one schema are an error (sch-props-correct 2). Conflicts between schemas are reported
        // after all were read.
        if first.schema != self.schema {
            let (schemas, first) = ((first.schema, self.schema), first.location);
            let (name, slot) = (name.clone(), self.components.slot(kind, name));
            self.definitions.clashes.push(Clash { kind, name, slot, schemas, first, second: location });
            return true;
        }
        let is_alike = first.text == text;
        let message = format!("{} {name} is defined twice", kind.name());
        let note = format!("the first one, which is used, is in {}", self.diagnostics.sources.describe(first.location));
        let mark = self.diagnostics.mark();
        self.diagnostics.error(location, message).with_note(note);
        if is_alike {
            self.diagnostics.forgive(mark);
        } else {
            // It is unclear which of the two definitions is intended.
            let slot = self.components.slot(kind, name);
            self.record_extent(child, kind, slot);
        }
        true
    }

    /// Parses `<element name="…">` (§3.3.2).
    pub(crate) fn element_declaration(
        &mut self,
        element: Element<'_>,
        name: ExpandedName,
        scope: Scope,
        id: ElementId,
    ) -> ElementDeclaration {
        let location = self.location(element);
        let mut type_id = self.reference(element, "type", SymbolSpace::Type).map(TypeId);
        let substitution_group = match scope {
            Scope::Global => self.reference(element, "substitutionGroup", SymbolSpace::Element).map(ElementId),
            Scope::Local => None,
        };
        let mut identity_constraints = Vec::new();
        for child in self.children(element) {
            match child.local() {
                "annotation" => {}
                "simpleType" | "complexType" => {
                    if type_id.is_some() {
                        let message = format!("element {} has two types, expected one", name.local());
                        self.error(child, message).with_note("give it `type` or an inner type, not both");
                        continue;
                    }
                    type_id = Some(self.anonymous_type(child, Owner::Element(id)));
                }
                "key" | "keyref" | "unique" => identity_constraints.extend(self.identity_constraint(child)),
                _ => {}
            }
        }
        if type_id.is_none() && substitution_group.is_some() {
            self.components.typed_by_head.push(id);
        }
        ElementDeclaration {
            name,
            scope,
            type_id: type_id.unwrap_or(Builtin::AnyType.into()),
            nillable: self.boolean(element, "nillable"),
            value_constraint: self.value_constraint(element),
            identity_constraints,
            substitution_group,
            is_abstract: self.boolean(element, "abstract"),
            block: self.derivation_set(element, "block", self.defaults.block, context::ELEMENT_BLOCK),
            final_: self.derivation_set(element, "final", self.defaults.final_, context::COMPLEX),
            annotation: self.annotation(element),
            location,
        }
    }

    /// Parses a type without a name.
    pub(crate) fn anonymous_type(&mut self, element: Element<'_>, owner: Owner) -> TypeId {
        let id = TypeId(self.components.types.reserve());
        if element.attribute("name").is_some() {
            self.error(element, "the inner type of a declaration has a name, expected none");
        }
        let definition = match element.local() {
            "simpleType" => TypeDefinition::Simple(self.simple_type(element, None, Some(owner), id)),
            _ => TypeDefinition::Complex(self.complex_type(element, None, Some(owner), id)),
        };
        self.components.types.define(id.0, definition);
        id
    }

    /// Parses `<group name="…">` (§3.7.2).
    fn group_definition(&mut self, element: Element<'_>, name: ExpandedName) -> ModelGroupDefinition {
        let mut group = None;
        for child in self.children(element) {
            match child.local() {
                "annotation" => {}
                "sequence" | "choice" | "all" if group.is_none() => {
                    for attribute in ["minOccurs", "maxOccurs"] {
                        if child.attribute(attribute).is_some() {
                            let message = format!("the model group of a group definition has {attribute}");
                            self.error(child, message).with_note("give it to the <group ref> instead");
                        }
                    }
                    group = self.model_group(child);
                }
                _ => {}
            }
        }
        ModelGroupDefinition {
            name,
            group: group.unwrap_or_else(ModelGroup::empty),
            annotation: self.annotation(element),
            location: self.location(element),
        }
    }

    /// Parses `<group ref="…">` (§3.7.2).
    pub(crate) fn group_reference(&mut self, element: Element<'_>) -> Option<GroupId> {
        match self.reference(element, "ref", SymbolSpace::Group) {
            Some(slot) => Some(GroupId(slot)),
            None => {
                if element.attribute("ref").is_none() {
                    self.error(element, "<group> has no `ref`, expected the name of a group");
                }
                None
            }
        }
    }

    fn notation(&mut self, element: Element<'_>, name: ExpandedName) -> Notation {
        if element.attribute("public").is_none() {
            self.warning(element, "<notation> has no `public`").with_rule(structure::RULE);
        }
        Notation {
            name,
            public: element.attribute("public").map(str::to_owned),
            system: element.attribute("system").map(str::to_owned),
            annotation: self.annotation(element),
            location: self.location(element),
        }
    }

    /// Parses `<key>`, `<keyref>` or `<unique>` (§3.11.2).
    fn identity_constraint(&mut self, element: Element<'_>) -> Option<IdentityConstraint> {
        let name = self.name_of(element)?;
        let category = match element.local() {
            "key" => IdentityConstraintCategory::Key,
            "unique" => IdentityConstraintCategory::Unique,
            _ => match element.attribute("refer") {
                Some(refer) => IdentityConstraintCategory::Keyref { refer: self.resolve(element, "refer", refer)? },
                None => {
                    self.error(element, "<keyref> has no `refer`, expected the name of a key");
                    return None;
                }
            },
        };
        let (mut selector, mut fields) = (None, Vec::new());
        for child in self.children(element) {
            let xpath = self.xpath(child);
            match child.local() {
                "annotation" => {}
                "selector" if selector.is_none() && fields.is_empty() => selector = Some(xpath),
                "field" if selector.is_some() => fields.push(xpath),
                _ => {}
            }
        }
        if selector.is_none() || fields.is_empty() {
            let message = format!("<{}> {} lacks a selector or a field", element.local(), name.local());
            self.error(element, message);
        }
        Some(IdentityConstraint {
            name,
            category,
            selector: selector?,
            fields,
            annotation: self.annotation(element),
            location: self.location(element),
        })
    }

    /// Parses the path of a selector or a field.
    fn xpath(&mut self, element: Element<'_>) -> Path {
        let Some(path) = element.attribute("xpath") else {
            self.error(element, format!("<{}> has no `xpath`", element.local())).with_rule(structure::RULE);
            return Path { text: String::new(), namespaces: Vec::new() };
        };
        let problem = match element.local() {
            "field" => xpath::check_field(path, element),
            _ => xpath::check_selector(path, element),
        };
        if let Err(message) = problem {
            let rule = if element.local() == "field" { "c-fields-xpaths" } else { "c-selector-xpath" };
            self.error_in(element, "xpath", format!("xpath {path:?} is not valid: {message}"))
                .with_rule(rule)
                .with_note("expected names, `*` and `.` with `/` between, `.//` at the start; `@` last in a field");
        }
        let namespaces = element.namespaces_in(path).into_iter().map(|(p, n)| (p.to_owned(), n.to_owned()));
        Path { text: path.to_owned(), namespaces: namespaces.collect() }
    }
}
