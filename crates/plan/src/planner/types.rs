//! Plans complex types and their members.

use castile_xsd::components::{
    Annotation, ComplexType, Content as SchemaContent, Derivation, DerivationSet, ElementDeclaration,
    NamespaceConstraint, Owner, Particle, TypeDefinition, Use, ValueConstraint as SchemaConstraint,
};
use castile_xsd::{Builtin, ElementId, TypeId};

use super::{Key, Planner, particles};
use crate::names::Scope;
use crate::plan::{
    Attribute, Base, Content, Derived, DerivedVariant, Element, Item, Made, Nil, Path, Presence, Role, Storage, Struct,
    TypeName, Value, ValueConstraint, Wildcard,
};

impl Planner<'_> {
    /// Returns the Rust type for the values of an element.
    pub(super) fn value(&mut self, element: ElementId) -> Value {
        let declaration = &self.schema[element];
        let base = self.base(declaration.type_id, element);
        let nil = match declaration.nillable {
            false => Nil::Never,
            true if self.has_attributes(declaration.type_id, declaration.block) => Nil::WithAttributes,
            true => Nil::Plain,
        };
        Value { base, nil }
    }

    /// Returns true if values of a type, or of a type that may replace it by `xsi:type`, may have attributes.
    fn has_attributes(&self, type_id: TypeId, block: DerivationSet) -> bool {
        // A simple type is never replaced by a type with attributes when it is read.
        if self.schema[type_id].as_complex().is_none() {
            return false;
        }
        let mut types = [type_id].into_iter().chain(self.derived_types(type_id, block));
        types.any(|id| !self.schema.attribute_uses(id).is_empty() || self.schema.attribute_wildcard(id).is_some())
    }

    /// Returns the Rust type for values of a type, which is planned at its first use. `element` is the element that
    /// needs it.
    pub(super) fn base(&mut self, type_id: TypeId, element: ElementId) -> Base {
        match &self.schema[type_id] {
            TypeDefinition::Simple(_) if self.streams(&self.schema[element]) => Base::Datatype("StreamedBinary"),
            TypeDefinition::Simple(_) => self.simple(type_id),
            TypeDefinition::Complex(_) if type_id.builtin() == Some(Builtin::AnyType) => Base::AnyType,
            TypeDefinition::Complex(complex) => {
                let block = self.schema[element].block;
                // The result is cached, because thousands of types may have an element of a type with thousands of
                // derived types.
                let key = Key::Derived(type_id, (block.extension, block.restriction));
                if let Some(path) = self.paths.get(&key) {
                    return Base::Item(path.clone());
                }
                let derived = self.derived_types(type_id, block);
                if derived.is_empty() && !complex.is_abstract && !self.has_untyped(type_id) {
                    return self.structure(type_id, Some(element));
                }
                self.derived(type_id, block, complex, derived)
            }
        }
    }

    /// Returns the Rust type for values of a complex type, for an element that doesn't block derived types.
    pub(super) fn complex_type(&mut self, type_id: TypeId) -> Base {
        let Some(complex) = self.schema[type_id].as_complex() else { return self.simple(type_id) };
        if type_id.builtin() == Some(Builtin::AnyType) {
            return Base::AnyType;
        }
        let block = DerivationSet::default();
        let derived = self.derived_types(type_id, block);
        if derived.is_empty() && !complex.is_abstract && !self.has_untyped(type_id) {
            return self.structure(type_id, None);
        }
        self.derived(type_id, block, complex, derived)
    }

    /// Returns the types that an element of this type may name in `xsi:type`, in the order of their definitions.
    /// Neither the element nor the type may `block` their derivation (Part 1 §3.3.4, cvc-elt 4.3).
    pub(super) fn derived_types(&self, type_id: TypeId, block: DerivationSet) -> Vec<TypeId> {
        let of_type = self.schema[type_id].as_complex().map(|complex| complex.block).unwrap_or_default();
        let mut found = Vec::new();
        let mut open = self.schema.derived_types(type_id).to_vec();
        while let Some(id) = open.pop() {
            let Some(complex) = self.schema[id].as_complex() else { continue };
            let is_blocked = match complex.derivation {
                Derivation::Extension => block.extension || of_type.extension,
                Derivation::Restriction => block.restriction || of_type.restriction,
            };
            // Types derived from it are blocked, too.
            if is_blocked {
                continue;
            }
            open.extend(self.schema.derived_types(id));
            if !complex.is_abstract && complex.name.is_some() && !self.untyped.contains(&id) {
                found.push(id);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns true if types derived from this one are stored as XML.
    fn has_untyped(&self, type_id: TypeId) -> bool {
        let derived = || self.with_derived(self.schema.derived_types(type_id).to_vec());
        !self.untyped.is_empty() && derived().iter().any(|id| self.untyped.contains(id))
    }

    /// Plans the enum of a type and the types derived from it.
    fn derived(&mut self, type_id: TypeId, block: DerivationSet, complex: &ComplexType, derived: Vec<TypeId>) -> Base {
        let key = Key::Derived(type_id, (block.extension, block.restriction));
        if let Some(path) = self.paths.get(&key) {
            return Base::Item(path.clone());
        }
        let planned = self.deeper(|planner| planner.derived_enum(key, type_id, complex, derived));
        planned.unwrap_or(Base::AnyType)
    }

    fn derived_enum(&mut self, key: Key, type_id: TypeId, complex: &ComplexType, derived: Vec<TypeId>) -> Base {
        let local = complex.name.as_ref().map_or("Type", |name| name.local());
        let (path, outside) = match self.reserved.get(&type_id) {
            // The type itself keeps the name, so the enum gets another one.
            Some(own) if !complex.is_abstract => {
                let outside = std::mem::replace(&mut self.module, own.module);
                let path = self.item(&format!("{local} or derived"));
                self.paths.insert(key, path.clone());
                (path, outside)
            }
            _ => self.enter(type_id, key, local),
        };
        let mut names = Scope::default();
        let other = names.variant("Other");
        let own = (!complex.is_abstract).then_some(type_id);
        let mut variants = Vec::new();
        for id in own.into_iter().chain(derived) {
            let Some(name) = self.schema[id].name() else { continue };
            if !self.count(1) {
                break;
            }
            let name = TypeName { namespace: name.namespace().to_owned(), name: name.local().to_owned() };
            self.namespaces.push(name.namespace.clone());
            variants.push(DerivedVariant {
                ident: names.variant(&name.name),
                documentation: format!("A value of the type `{}`.", name.name),
                base: self.structure(id, None),
                storage: Storage::InPlace,
                tag: (id != type_id).then(String::new),
                name,
            });
        }
        let documentation = self.text(&[&complex.annotation.documentation]);
        let table = self.table(&format!("{} types", path.ident));
        self.items.push(Item::Derived(Derived {
            table,
            path: path.clone(),
            documentation: documentation
                .unwrap_or_else(|| format!("A value of the type `{local}` or of a type derived from it.")),
            is_abstract: complex.is_abstract,
            variants,
            other: Some(other),
        }));
        self.module = outside;
        Base::Item(path)
    }

    /// Plans the struct of a type itself.
    fn structure(&mut self, type_id: TypeId, element: Option<ElementId>) -> Base {
        let key = Key::Type(type_id);
        if let Some(path) = self.paths.get(&key) {
            return Base::Item(path.clone());
        }
        let planned = self.deeper(|planner| planner.own_structure(key, type_id, element));
        planned.unwrap_or(Base::AnyType)
    }

    fn own_structure(&mut self, key: Key, type_id: TypeId, element: Option<ElementId>) -> Base {
        let definition = &self.schema[type_id];
        let name = match (definition.name(), definition.owner()) {
            (Some(name), _) => name.local(),
            (None, Some(Owner::Element(owner))) => self.schema[owner].name.local(),
            (None, _) => element.map_or("Type", |element| self.schema[element].name.local()),
        };
        let (path, outside) = self.enter(type_id, key, name);
        let planned = self.complex(type_id, &path);
        self.module = outside;
        self.items.push(Item::Struct(planned));
        Base::Item(path)
    }

    fn complex(&mut self, type_id: TypeId, path: &Path) -> Struct {
        let schema = self.schema;
        let definition = &schema[type_id];
        self.location = definition.location();
        // The implementations for a type count like some fields.
        self.count(10);
        let owner = path.ident.to_string();
        let mut names = Scope::default();
        let (content, attributes) = match schema.content(type_id) {
            SchemaContent::Simple(simple) => {
                let (value, facets) = match self.streams_content(type_id, simple) {
                    true => (Base::Datatype("StreamedBinary"), None),
                    false => (self.simple(simple), self.facets(simple)),
                };
                let content = Content::Simple { ident: names.lower("value"), value, facets };
                (content, self.attributes(type_id, &mut names))
            }
            SchemaContent::Mixed(_) => {
                let group = particles::content(schema, &self.steps(type_id));
                if group.nodes.is_empty() {
                    let content =
                        Content::Simple { ident: names.lower("value"), value: Base::Primitive("String"), facets: None };
                    (content, self.attributes(type_id, &mut names))
                } else {
                    let field = names.lower("content");
                    let attributes = self.attributes(type_id, &mut names);
                    (Content::Mixed { ident: field, piece: self.mixed_content(&group, &owner) }, attributes)
                }
            }
            SchemaContent::Empty | SchemaContent::ElementOnly(_) => {
                let group = particles::content(schema, &self.steps(type_id));
                let elements = self.element_names(&group.nodes, &mut names);
                let attributes = self.attributes(type_id, &mut names);
                (self.content(group, elements, &owner, &mut names, definition.location()), attributes)
            }
        };
        let any_attributes = schema.attribute_wildcard(type_id);
        let any_attributes =
            any_attributes.map(|wildcard| (names.lower("any attributes"), self.wildcard(&wildcard.namespaces)));
        let documentation = definition.annotation().documentation.clone();
        let owner = match definition.owner() {
            Some(Owner::Element(owner)) => schema[owner].annotation.documentation.clone(),
            _ => None,
        };
        let kind = if definition.name().is_some() { "type" } else { "element" };
        let name = match (definition.name(), definition.owner()) {
            (Some(name), _) => name.local().to_owned(),
            (None, Some(Owner::Element(owner))) => schema[owner].name.local().to_owned(),
            (None, _) => path.ident.to_string(),
        };
        let type_name = definition.name();
        let type_name =
            type_name.map(|name| TypeName { namespace: name.namespace().to_owned(), name: name.local().to_owned() });
        let table = self.table(&path.ident.to_string());
        let has_attributes = !attributes.is_empty() || any_attributes.is_some();
        Struct {
            path: path.clone(),
            table,
            attribute_table: has_attributes.then(|| self.table(&format!("{} attributes", path.ident))),
            documentation: self.text(&[&documentation, &owner]).unwrap_or_else(|| format!("The {kind} `{name}`.")),
            role: Role::Type(type_name),
            attributes,
            any_attributes,
            content,
            made: Made::Whole,
        }
    }

    /// Returns the content that the bases of a type and the type itself declare, in order.
    pub(super) fn steps(&self, type_id: TypeId) -> Vec<(TypeId, &'_ Particle)> {
        let mut steps = Vec::new();
        for (id, complex) in self.schema.bases(type_id).map_while(|id| Some((id, self.schema[id].as_complex()?))) {
            steps.extend(complex.content.particle().map(|particle| (id, particle)));
            if complex.derivation == Derivation::Restriction {
                break;
            }
        }
        steps.reverse();
        steps
    }

    // ---- attributes ----

    fn attributes(&mut self, type_id: TypeId, names: &mut Scope) -> Vec<Attribute> {
        let schema = self.schema;
        let mut uses = schema.attribute_uses(type_id);
        if !self.count(uses.len()) {
            uses.clear();
        }
        let planned = uses.iter().map(|attribute_use| {
            let declaration = &schema[attribute_use.attribute];
            let constraint = attribute_use.value_constraint.as_ref().or(declaration.value_constraint.as_ref());
            let required = attribute_use.use_ == Use::Required;
            let presence = match constraint {
                Some(SchemaConstraint::Fixed(value)) => Presence::Fixed { value: self.copy(value), required },
                _ if required => Presence::Required,
                Some(SchemaConstraint::Default(value)) => Presence::Default(self.copy(value)),
                None => Presence::Optional,
            };
            let namespace = self.copy(declaration.name.namespace());
            if !namespace.is_empty() {
                self.attribute_namespaces.insert(namespace.clone());
            }
            let name = self.copy(declaration.name.local());
            let texts = [&attribute_use.annotation.documentation, &declaration.annotation.documentation];
            let ident = names.attribute(&name);
            Attribute {
                documentation: self.value_documentation(&texts, "attribute", &name, &ident, declaration.type_id),
                ident,
                base: self.simple(declaration.type_id),
                facets: self.facets(declaration.type_id),
                presence,
                default: None,
                is_fixed: false,
                adapter: None,
                tag: String::new(),
                namespace,
                name,
            }
        });
        planned.collect()
    }

    // ---- attachments ----

    /// Returns true if the content of an element may be an attachment, because it declares media types.
    fn streams(&self, declaration: &ElementDeclaration) -> bool {
        self.streams_binaries
            && has_content_types(&declaration.annotation)
            && self.schema[declaration.type_id].as_complex().is_none()
            && self.schema.builtin(declaration.type_id) == Builtin::Base64Binary
    }

    /// Returns true if the content of a complex type may be an attachment: the type is the one of the specification, or
    /// it declares media types.
    fn streams_content(&self, type_id: TypeId, simple: TypeId) -> bool {
        let definition = &self.schema[type_id];
        let is_known = definition.name().is_some_and(|name| name.namespace() == XMIME);
        let says = definition.as_complex().is_some_and(|complex| has_content_types(&complex.annotation));
        self.streams_binaries && (is_known || says) && self.schema.builtin(simple) == Builtin::Base64Binary
    }

    // ---- elements ----

    pub(super) fn element(&mut self, declaration: &ElementDeclaration) -> Element {
        let namespace = self.copy(declaration.name.namespace());
        self.namespaces.push(namespace.clone());
        let slot = self.slot();
        let has_text = match &self.schema[declaration.type_id] {
            TypeDefinition::Simple(_) => true,
            TypeDefinition::Complex(_) => matches!(self.schema.content(declaration.type_id), SchemaContent::Simple(_)),
        };
        let constraint = declaration.value_constraint.as_ref().filter(|_| has_text);
        Element {
            // The content of an attachment can't be checked against facets.
            facets: if self.streams(declaration) { None } else { self.facets(declaration.type_id) },
            types: self.named_types(declaration.type_id),
            namespace,
            name: self.copy(declaration.name.local()),
            slot,
            constraint: constraint.map(|constraint| match constraint {
                SchemaConstraint::Default(value) => ValueConstraint::Default(self.copy(value)),
                SchemaConstraint::Fixed(value) => ValueConstraint::Fixed(self.copy(value)),
            }),
        }
    }

    pub(super) fn wildcard(&mut self, namespaces: &NamespaceConstraint) -> Wildcard {
        let listed = if let NamespaceConstraint::OneOf(list) = namespaces { list.len() } else { 0 };
        match namespaces {
            // Nothing is generated for a contract that exceeds a limit.
            _ if !self.count(listed) => Wildcard::Any,
            NamespaceConstraint::Any => Wildcard::Any,
            NamespaceConstraint::Not(target) => Wildcard::Not(self.copy(target)),
            NamespaceConstraint::OneOf(list) => Wildcard::OneOf(list.iter().map(|one| self.copy(one)).collect()),
        }
    }
}

/// The namespace of Describing Media Content of Binary Data in XML.
const XMIME: &str = "http://www.w3.org/2005/05/xmlmime";

fn has_content_types(annotation: &Annotation) -> bool {
    let mut names = annotation.attributes.iter().map(|(name, _)| name);
    names.any(|name| name.namespace() == XMIME && name.local() == "expectedContentTypes")
}
