//! Plans messages in SOAP encoding (SOAP 1.1 §5 and §7, SOAP 1.2 Part 2 §3 and §4), where schema types become structs
//! and arrays of a graph.

use std::collections::HashSet;
use std::rc::Rc;

use castile_wsdl::{BindingMessage, BindingOperation, Part, PartContent};
use castile_xsd::TypeId;
use castile_xsd::components::Content as SchemaContent;
use castile_xsd::encoded::{self, Items, TypeKind, encoding_type};

use super::{Key, Planner};
use crate::names::Scope;
use crate::plan::{
    Accessor, Base, Derived, DerivedVariant, Element, EncodedArray, EncodedRole, EncodedStruct, EncodedValue, Item,
    Path, Payload, Root, Storage, TypeName,
};

const XSD: &str = "http://www.w3.org/2001/XMLSchema";
/// The namespace of SOAP 1.1 encoding. When a message is written, it is replaced by the namespace for the message's
/// version.
const ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";

impl Planner<'_> {
    /// Plans the element of a call or of its answer: a struct of the parts (SOAP 1.1 §7.1, SOAP 1.2 Part 2 §4.2).
    pub(super) fn call(
        &mut self,
        operation: &BindingOperation,
        message: &BindingMessage,
        parts: &[Part],
        path: Path,
        suffix: &str,
    ) -> (Base, Payload) {
        let name = format!("{}{suffix}", operation.name);
        let mut names = Scope::default();
        let mut accessors = Vec::new();
        for part in parts {
            let (name, type_id) = match part.content {
                PartContent::Type(type_id) => (part.name.as_str(), type_id),
                PartContent::Element(id) => (self.schema[id].name.local(), self.schema[id].type_id),
            };
            let ident = names.lower(name);
            let value = self.encoded(type_id, &format!("{} {name}", path.ident));
            let element = self.accessor_element(name, type_id, &value);
            accessors.push(Accessor {
                documentation: self.value_documentation(&[], "part", &part.name, &ident, type_id),
                ident,
                element,
                value,
                storage: Storage::InPlace,
                is_repeated: false,
                is_optional: false,
                start: String::new(),
            });
        }
        // The result is the part that the call itself doesn't have, if there is exactly one.
        let is_input =
            |name: &str| operation.input.iter().flat_map(|input| &input.body).any(|input| input.name == name);
        let mut results = parts.iter().zip(&accessors).filter(|(part, _)| parts.len() == 1 || !is_input(&part.name));
        let result = match (results.next(), results.next()) {
            (Some((_, result)), None) if !suffix.is_empty() => Some(result.element.name.clone()),
            _ => None,
        };
        let table = self.table(&path.ident.to_string());
        self.items.push(Item::EncodedStruct(EncodedStruct {
            path: path.clone(),
            table,
            documentation: format!("The element `{name}` of rpc style."),
            role: EncodedRole::Call { result },
            accessors,
        }));
        (Base::Item(path), Payload::Element(self.rpc_root(operation, message, suffix, true)))
    }

    /// Returns the type and the element of an independent value: a header block or the detail of a fault.
    pub(super) fn independent(&mut self, namespace: &str, name: &str, type_id: TypeId) -> (Base, Root) {
        let value = self.encoded(type_id, name);
        let mut element = self.accessor_element(name, type_id, &value);
        element.namespace = namespace.to_owned();
        self.namespaces.push(namespace.to_owned());
        let base = if value.is_shared { Base::Shared(Box::new(value.base)) } else { value.base };
        let (start, end) = (String::new(), String::new());
        (base, Root { element, is_encoded: true, wraps_parts: false, type_name: value.type_name, start, end })
    }

    /// Plans the values of a type. `owner` is the name of the containing type, for naming anonymous types.
    fn encoded(&mut self, type_id: TypeId, owner: &str) -> EncodedValue {
        let nothing = || EncodedValue { base: Base::AnyType, is_shared: false, type_name: None, facets: None };
        self.deeper(|planner| planner.encoded_value(type_id, owner)).unwrap_or_else(nothing)
    }

    fn encoded_value(&mut self, type_id: TypeId, owner: &str) -> EncodedValue {
        let schema = self.schema;
        let mut value = EncodedValue { base: Base::AnyType, is_shared: false, type_name: None, facets: None };
        match TypeKind::of(self.schema, type_id) {
            TypeKind::Any => {}
            TypeKind::Simple => {
                let type_id = simple_of(self, type_id);
                value.base = self.simple(type_id);
                value.facets = self.facets(type_id);
                value.type_name = Some(self.simple_type_name(type_id));
            }
            TypeKind::Literal => {
                value.base = self.complex_type(type_id);
                let is_abstract = schema[type_id].as_complex().is_some_and(|complex| complex.is_abstract);
                if !is_abstract && self.derived_types(type_id, Default::default()).is_empty() {
                    value.type_name = self.type_name(type_id);
                }
            }
            TypeKind::Array(items) => {
                value.base = self.encoded_array(type_id, items, owner);
                value.type_name = self.type_name(type_id);
            }
            TypeKind::Struct(members) => {
                value.is_shared = self.is_circular(type_id);
                let derived = self.derived_types(type_id, Default::default());
                let is_abstract = schema[type_id].as_complex().is_some_and(|complex| complex.is_abstract);
                if derived.is_empty() && !is_abstract {
                    value.base = self.encoded_struct(type_id, members, owner);
                    value.type_name = self.type_name(type_id);
                } else {
                    value.base = self.encoded_derived(type_id, derived, is_abstract);
                }
            }
        }
        if let Some(TypeName { namespace, .. }) = &value.type_name {
            self.namespaces.push(namespace.clone());
        }
        value
    }

    // ---- types ----

    fn encoded_struct(&mut self, type_id: TypeId, members: Vec<encoded::Accessor>, owner: &str) -> Base {
        let key = Key::Encoded(type_id);
        if let Some(path) = self.paths.get(&key) {
            return Base::Item(path.clone());
        }
        let definition = &self.schema[type_id];
        let name = definition.name().map_or(owner, |name| name.local());
        let (path, outside) = self.enter(type_id, key, name);
        let mut names = Scope::default();
        let idents: Vec<_> =
            members.iter().map(|member| names.lower(self.schema[member.element].name.local())).collect();
        let mut accessors = Vec::new();
        for (encoded::Accessor { element, particle }, ident) in members.into_iter().zip(idents) {
            if !self.count(1) {
                break;
            }
            let declaration = &self.schema[element];
            let name = declaration.name.local();
            let value = self.encoded(declaration.type_id, &format!("{} {name}", path.ident));
            let texts = [&declaration.annotation.documentation];
            accessors.push(Accessor {
                documentation: self.value_documentation(&texts, "accessor", name, &ident, declaration.type_id),
                ident,
                element: self.accessor_element(name, declaration.type_id, &value),
                value,
                storage: Storage::InPlace,
                is_repeated: particle.is_repeated(),
                is_optional: particle.is_optional(),
                start: String::new(),
            });
        }
        let documentation = self.text(&[&definition.annotation().documentation]);
        let table = self.table(&path.ident.to_string());
        self.items.push(Item::EncodedStruct(EncodedStruct {
            path: path.clone(),
            table,
            documentation: documentation.unwrap_or_else(|| format!("The type `{name}`, encoded.")),
            role: EncodedRole::Value(self.type_name(type_id)),
            accessors,
        }));
        self.module = outside;
        Base::Item(path)
    }

    /// Plans the enum of a struct's type and the types derived from it. Each value declares its type.
    fn encoded_derived(&mut self, type_id: TypeId, derived: Vec<TypeId>, is_abstract: bool) -> Base {
        let key = Key::EncodedDerived(type_id);
        if let Some(path) = self.paths.get(&key) {
            return Base::Item(path.clone());
        }
        let local = self.schema[type_id].name().map_or("Type", |name| name.local());
        let (path, outside) = match self.reserved.get(&type_id) {
            // The type itself keeps the name, so the enum gets another one.
            Some(own) if !is_abstract => {
                let outside = std::mem::replace(&mut self.module, own.module);
                let path = self.item(&format!("{local} or derived"));
                self.paths.insert(key, path.clone());
                (path, outside)
            }
            _ => self.enter(type_id, key, local),
        };
        let mut names = Scope::default();
        let other = names.variant("Other");
        let own = (!is_abstract).then_some(type_id);
        let mut variants = Vec::new();
        for id in own.into_iter().chain(derived) {
            let Some(name) = self.type_name(id) else { continue };
            let base = match TypeKind::of(self.schema, id) {
                TypeKind::Struct(members) => self.encoded_struct(id, members, &name.name),
                _ => self.encoded_literal(id),
            };
            self.namespaces.push(name.namespace.clone());
            variants.push(DerivedVariant {
                ident: names.variant(&name.name),
                documentation: format!("A value of the type `{}`.", name.name),
                base,
                storage: Storage::InPlace,
                tag: Some(String::new()),
                name,
            });
        }
        let documentation = self.text(&[&self.schema[type_id].annotation().documentation]);
        let table = self.table(&format!("{} types", path.ident));
        self.items.push(Item::Derived(Derived {
            table,
            path: path.clone(),
            documentation: documentation
                .unwrap_or_else(|| format!("A value of the type `{local}` or of a type derived from it.")),
            is_abstract,
            variants,
            other: Some(other),
        }));
        self.module = outside;
        Base::Item(path)
    }

    /// Plans a type for which SOAP encoding has no rules.
    fn encoded_literal(&mut self, type_id: TypeId) -> Base {
        self.complex_type(type_id)
    }

    fn encoded_array(&mut self, type_id: TypeId, items: Items, owner: &str) -> Base {
        let key = Key::Encoded(type_id);
        if let Some(path) = self.paths.get(&key) {
            return Base::Item(path.clone());
        }
        let definition = &self.schema[type_id];
        let name = definition.name().map_or(owner, |name| name.local());
        let documentation = self.text(&[&definition.annotation().documentation]);
        let documentation = documentation.unwrap_or_else(|| format!("The array `{name}`."));
        let (path, outside) = self.enter(type_id, key, name);
        self.array_of(path.clone(), items, documentation);
        self.module = outside;
        Base::Item(path)
    }

    /// Plans an array, and the arrays that are its items.
    fn array_of(&mut self, path: Path, items: Items, documentation: String) {
        let Items { type_id, ranks, rank } = items;
        let owner = format!("{} item", path.ident);
        let value = match ranks.rfind('[') {
            None => self.encoded(type_id, &owner),
            Some(last) => {
                let inner = self.item(&owner);
                let rank = ranks[last..].matches(',').count() + 1;
                let documentation = format!("An array in `{}`.", path.ident);
                let items = Items { type_id, ranks: ranks[..last].to_owned(), rank };
                self.array_of(inner.clone(), items, documentation);
                EncodedValue { base: Base::Item(inner), is_shared: false, type_name: None, facets: None }
            }
        };
        let item = self.accessor_element("item", type_id, &value);
        let item_type = self.item_type_name(type_id);
        self.namespaces.push(item_type.namespace.clone());
        let table = self.table(&path.ident.to_string());
        self.items.push(Item::EncodedArray(EncodedArray {
            path,
            table,
            documentation,
            item,
            value,
            storage: Storage::InPlace,
            item_type,
            ranks,
            rank,
            tag: String::new(),
            start: String::new(),
        }));
    }

    // ---- names ----

    /// Returns the element of an accessor. It has no namespace, because its name is local to the type (SOAP 1.1 §5.1).
    /// For an item, the value may be an array of the innermost type.
    fn accessor_element(&mut self, name: &str, type_id: TypeId, value: &EncodedValue) -> Element {
        self.namespaces.push(String::new());
        let is_simple = value.type_name.is_some() && TypeKind::of(self.schema, type_id) == TypeKind::Simple;
        let types = if is_simple { self.named_types(simple_of(self, type_id)) } else { None };
        let facets = value.facets.clone();
        Element { namespace: String::new(), name: name.to_owned(), slot: self.slot(), constraint: None, facets, types }
    }

    fn type_name(&self, type_id: TypeId) -> Option<TypeName> {
        let name = self.schema[type_id].name()?;
        if encoding_type(name).is_some() {
            // The encoding namespace depends on the version of the message.
            return None;
        }
        Some(TypeName { namespace: name.namespace().to_owned(), name: name.local().to_owned() })
    }

    /// Returns the declared type of a simple value: its type, or the built-in type that an anonymous type is derived
    /// from.
    fn simple_type_name(&self, type_id: TypeId) -> TypeName {
        self.type_name(type_id).unwrap_or_else(|| TypeName {
            namespace: XSD.to_owned(),
            name: self.schema.builtin(type_id).name().to_owned(),
        })
    }

    fn item_type_name(&self, type_id: TypeId) -> TypeName {
        match TypeKind::of(self.schema, type_id) {
            TypeKind::Simple => self.simple_type_name(simple_of(self, type_id)),
            TypeKind::Array(_) => self
                .type_name(type_id)
                .unwrap_or_else(|| TypeName { namespace: ENCODING.to_owned(), name: "Array".to_owned() }),
            _ => self
                .type_name(type_id)
                .unwrap_or_else(|| TypeName { namespace: XSD.to_owned(), name: "anyType".to_owned() }),
        }
    }

    // ---- circles ----

    /// Returns true if values of a type may contain values of the same type.
    fn is_circular(&mut self, type_id: TypeId) -> bool {
        if let Some(known) = self.circular.get(&type_id) {
            return *known;
        }
        let mut seen = HashSet::new();
        let mut open = self.contained_types(type_id).to_vec();
        let mut is_circular = false;
        while let Some(next) = open.pop() {
            if next == type_id {
                is_circular = true;
                break;
            }
            if seen.insert(next) {
                open.extend(self.contained_types(next).iter());
            }
        }
        self.circular.insert(type_id, is_circular);
        is_circular
    }

    /// Returns the types that a value contains.
    fn contained_types(&mut self, type_id: TypeId) -> Rc<[TypeId]> {
        if let Some(known) = self.contained_types.get(&type_id) {
            return known.clone();
        }
        let mut types = Vec::new();
        for id in std::iter::once(type_id).chain(self.derived_types(type_id, Default::default())) {
            match TypeKind::of(self.schema, id) {
                TypeKind::Struct(members) => {
                    types.extend(members.iter().map(|member| self.schema[member.element].type_id));
                }
                TypeKind::Array(items) => types.push(items.type_id),
                TypeKind::Simple | TypeKind::Any | TypeKind::Literal => {}
            }
        }
        let types: Rc<[TypeId]> = types.into();
        self.contained_types.insert(type_id, types.clone());
        types
    }
}

/// Returns the simple type of the content of an encoding type such as `soapenc:string`, or the type itself.
fn simple_of(planner: &Planner<'_>, type_id: TypeId) -> TypeId {
    match planner.schema.content(type_id) {
        SchemaContent::Simple(simple) => simple,
        _ => type_id,
    }
}
