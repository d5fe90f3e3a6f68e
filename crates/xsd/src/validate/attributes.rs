//! Validates the attributes of an element (cvc-complex-type 3 to 5, cvc-attribute).

use castile_datatypes::{Value, quoted};
use castile_xml::{Attribute, Reader};

use super::elements::Validation;
use super::identity::{FieldAttribute, FieldValue};
use super::types::{IdKind, Type, TypeContent};
use crate::TypeId;
use crate::builtin::XSI_NAMESPACE;
use crate::components::{ProcessContents, ValueConstraint};

impl Validation<'_, '_, '_> {
    /// Validates the attributes of the last start tag. Returns their values if `is_needed`.
    pub(super) fn attributes(
        &mut self,
        reader: &Reader<'_>,
        offset: usize,
        type_: &Type,
        is_needed: bool,
    ) -> Vec<FieldAttribute> {
        let mut values = Vec::new();
        let mut seen = Vec::new();
        let mut ids = 0;
        for attribute in reader.attributes() {
            if self.types.passed.as_deref() == Some(attribute.namespace) {
                continue;
            }
            if is_hint(&attribute) {
                if is_needed {
                    let value = FieldValue::Value(Value::String(attribute.value.to_owned()));
                    values.push(FieldAttribute::new(attribute.namespace, attribute.name.local(), value));
                }
                continue;
            }
            let name = self.types.names.find(attribute.namespace, attribute.name.local());
            let known = name.and_then(|name| type_.attribute(name));
            let value = match known {
                Some((index, known)) => {
                    seen.push(index);
                    self.attribute(reader, &attribute, known.type_id, known.constraint.as_ref())
                }
                None => match self.by_wildcard(&attribute, type_) {
                    Ok(Some(declared)) => {
                        let declaration = &self.types.schema[declared];
                        ids += usize::from(matches!(*self.types.id_kind(declaration.type_id), IdKind::Id));
                        let constraint = declaration.value_constraint.as_ref();
                        self.attribute(reader, &attribute, declaration.type_id, constraint)
                    }
                    Ok(None) => FieldValue::NotSimple,
                    Err((rule, problem)) => {
                        let message = format!("attribute {} {problem}", named(&attribute));
                        self.problems.add(rule, attribute.offset, message);
                        FieldValue::Unknown
                    }
                },
            };
            if is_needed {
                values.push(FieldAttribute::new(attribute.namespace, attribute.name.local(), value));
            }
        }
        self.wildcard_ids(ids, offset, type_, &seen);
        for (_, absent) in type_.uses.iter().enumerate().filter(|(index, _)| !seen.contains(index)) {
            if absent.is_required {
                let message = format!("attribute {} is missing", absent.name);
                self.problems.add("cvc-complex-type.4", offset, message);
            } else if let Some(ValueConstraint::Default(text) | ValueConstraint::Fixed(text)) = &absent.constraint {
                // An absent attribute with a default counts like one in the document.
                let kind = self.types.id_kind(absent.type_id);
                self.ids.take(&kind, text, offset, (&mut *self.types, reader), self.problems);
                if is_needed {
                    let value = self.types.read(absent.type_id, text, reader);
                    let value = value.map_or(FieldValue::Unknown, FieldValue::Value);
                    values.push(FieldAttribute::new(absent.name.namespace(), absent.name.local(), value));
                }
            }
        }
        values
    }

    /// Reads the value of an attribute (cvc-attribute, cvc-au).
    fn attribute(
        &mut self,
        reader: &Reader<'_>,
        attribute: &Attribute<'_>,
        type_id: TypeId,
        constraint: Option<&ValueConstraint>,
    ) -> FieldValue {
        let (text, offset) = (attribute.value, attribute.offset);
        let value = match self.types.read(type_id, text, reader) {
            Ok(value) => value,
            Err(problem) => {
                let message = format!("the attribute {}: {problem}", named(attribute));
                self.problems.add("cvc-attribute.3", offset, message);
                return FieldValue::Unknown;
            }
        };
        let kind = self.types.id_kind(type_id);
        self.ids.take(&kind, text, offset, (&mut *self.types, reader), self.problems);
        if let Some(ValueConstraint::Fixed(fixed)) = constraint
            && self.types.read(type_id, fixed, reader).is_ok_and(|fixed| fixed != value)
        {
            let message =
                format!("the attribute {} is {}, but fixed to {}", named(attribute), quoted(text), quoted(fixed));
            self.problems.add("cvc-au", offset, message);
        }
        FieldValue::Value(value)
    }

    /// Returns the declaration of an attribute that the wildcard of a type allows, or `None` if it isn't validated.
    fn by_wildcard(
        &self,
        attribute: &Attribute<'_>,
        type_: &Type,
    ) -> Result<Option<crate::AttributeId>, (&'static str, &'static str)> {
        let rule = match self.types.schema[type_.id].as_simple() {
            Some(_) => "cvc-type.3.1.1",
            None => "cvc-complex-type.3.2.2",
        };
        let Some(wildcard) = type_.wildcard.as_ref().filter(|wildcard| wildcard.namespaces.allows(attribute.namespace))
        else {
            return Err((rule, "is not allowed here"));
        };
        let name = self.types.names.find(attribute.namespace, attribute.name.local());
        match (wildcard.process_contents, self.types.attribute(name)) {
            (ProcessContents::Skip, _) | (ProcessContents::Lax, None) => Ok(None),
            (_, Some(declared)) => Ok(Some(declared)),
            (ProcessContents::Strict, None) => {
                Err((rule, "is not declared, but the wildcard that matches it requires a declaration"))
            }
        }
    }

    /// cvc-complex-type 5: at most one ID may match a wildcard, and none if the type declares an ID attribute.
    fn wildcard_ids(&mut self, ids: usize, offset: usize, type_: &Type, seen: &[usize]) {
        if ids == 0 {
            return;
        }
        let mut named = seen.iter().filter_map(|&index| type_.uses.get(index));
        let is_named = named.any(|one| matches!(*self.types.id_kind(one.type_id), IdKind::Id));
        if ids > 1 || is_named {
            let message = "this element has two attributes of type ID, expected one".to_owned();
            self.problems.add(if ids > 1 { "cvc-complex-type.5.1" } else { "cvc-complex-type.5.2" }, offset, message);
        }
    }
}

impl Type {
    /// Returns true for a simple type or a type with simple content.
    pub(super) fn is_simple(&self) -> bool {
        matches!(self.content, TypeContent::Simple(_))
    }
}

impl FieldAttribute {
    fn new(namespace: &str, local: &str, value: FieldValue) -> Self {
        FieldAttribute { namespace: namespace.to_owned(), local: local.to_owned(), value }
    }
}

/// Returns true for the `xsi` attributes that every element may have (§2.6).
fn is_hint(attribute: &Attribute<'_>) -> bool {
    attribute.namespace == XSI_NAMESPACE
        && matches!(attribute.name.local(), "type" | "nil" | "schemaLocation" | "noNamespaceSchemaLocation")
}

fn named<'a>(attribute: &Attribute<'a>) -> &'a str {
    attribute.name.as_str()
}
