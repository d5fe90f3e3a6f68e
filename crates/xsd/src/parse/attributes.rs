//! Attribute declarations, uses and groups (§3.2.2, §3.6.2).

use castile_xml::tree::Element;

use super::{Parser, SymbolSpace};
use crate::components::{
    ArrayType, AttributeDeclaration, AttributeGroupDefinition, AttributeGroupId, AttributeId, AttributeUse, Owner,
    Scope, TypeId, Use, Wildcard,
};
use crate::{Builtin, ExpandedName};

const WSDL_NAMESPACE: &str = "http://schemas.xmlsoap.org/wsdl/";

/// The attributes that a complex type or an attribute group declares.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) uses: Vec<AttributeUse>,
    pub(super) groups: Vec<AttributeGroupId>,
    pub(super) wildcard: Option<Wildcard>,
}

/// Maximum nesting depth of arrays.
const MAX_ARRAY_DEPTH: usize = 16;

impl Parser<'_> {
    /// Adds `child` to `attributes` and returns true, if it is one of the elements that declare attributes.
    pub(super) fn attribute_child(&mut self, child: Element<'_>, attributes: &mut Attributes) -> bool {
        match child.local() {
            "attribute" => {
                if let Some(attribute_use) = self.attribute_use(child) {
                    attributes.uses.push(attribute_use);
                }
            }
            "attributeGroup" => {
                if child.attribute("ref").is_none() {
                    self.error(child, "<attributeGroup> has no `ref`, expected the name of an attribute group");
                }
                attributes
                    .groups
                    .extend(self.reference(child, "ref", SymbolSpace::AttributeGroup).map(AttributeGroupId));
            }
            "anyAttribute" => {
                attributes.wildcard = Some(self.wildcard(child));
                return true;
            }
            _ => return false,
        }
        true
    }

    /// Parses `<attribute>` within a type or group.
    fn attribute_use(&mut self, element: Element<'_>) -> Option<AttributeUse> {
        let location = self.location(element);
        let attribute = if element.attribute("ref").is_some() {
            AttributeId(self.reference(element, "ref", SymbolSpace::Attribute)?)
        } else {
            let name = self.name_of(element)?;
            let qualified = self.form(element, "form").unwrap_or(self.defaults.qualified_attributes);
            let name = if qualified { name } else { ExpandedName::new("", name.local()) };
            let slot = self.components.attributes.reserve();
            let declaration = self.attribute_declaration(element, name, Scope::Local, slot);
            self.components.attributes.define(slot, declaration);
            AttributeId(slot)
        };
        let use_ = match element.attribute("use").map(str::trim) {
            None | Some("optional") => Use::Optional,
            Some("required") => Use::Required,
            Some("prohibited") => Use::Prohibited,
            Some(other) => {
                self.error(element, format!("use is {other:?}, expected optional, required or prohibited"));
                Use::Optional
            }
        };
        let value_constraint = self.value_constraint(element);
        if element.attribute("default").is_some() && use_ != Use::Optional {
            self.error(element, "an attribute with a default is not optional, expected use=\"optional\"");
        }
        Some(AttributeUse {
            attribute,
            use_,
            value_constraint,
            array_type: self.array_type(element),
            annotation: self.annotation(element),
            location,
        })
    }

    /// Parses `<attribute name="…">`.
    pub(super) fn attribute_declaration(
        &mut self,
        element: Element<'_>,
        name: ExpandedName,
        scope: Scope,
        slot: u32,
    ) -> AttributeDeclaration {
        if name.local() == "xmlns" {
            self.error(element, "an attribute can't be called xmlns (no-xmlns)");
        }
        let mut type_id = self.reference(element, "type", SymbolSpace::Type).map(TypeId);
        for child in self.children(element) {
            match child.local() {
                "simpleType" if type_id.is_none() => {
                    type_id = Some(self.anonymous_type(child, Owner::Attribute(AttributeId(slot))));
                }
                "simpleType" => self.two_types(child, "type", "src-attribute"),
                _ => {}
            }
        }
        AttributeDeclaration {
            name,
            scope,
            type_id: type_id.unwrap_or(Builtin::AnySimpleType.into()),
            // The constraint of a local declaration belongs to the use (§3.2.2).
            value_constraint: match scope {
                Scope::Global => self.value_constraint(element),
                Scope::Local => None,
            },
            annotation: self.annotation(element),
            location: self.location(element),
        }
    }

    /// Parses `<attributeGroup name="…">`.
    pub(super) fn attribute_group_definition(
        &mut self,
        element: Element<'_>,
        name: ExpandedName,
    ) -> AttributeGroupDefinition {
        let mut attributes = Attributes::default();
        for child in self.children(element) {
            self.attribute_child(child, &mut attributes);
        }
        AttributeGroupDefinition {
            name,
            attribute_uses: attributes.uses,
            attribute_groups: attributes.groups,
            attribute_wildcard: attributes.wildcard,
            annotation: self.annotation(element),
            location: self.location(element),
        }
    }

    fn array_type(&mut self, element: Element<'_>) -> Option<ArrayType> {
        let value = element.find_attribute(WSDL_NAMESPACE, "arrayType")?.value().trim();
        let at = value.find('[').unwrap_or(value.len());
        let item = self.resolve(element, "ref", &value[..at])?;
        // Each level of arrays needs a type of its own.
        let depth = value[at..].matches('[').count();
        if depth > MAX_ARRAY_DEPTH {
            let message = format!("arrayType has arrays {depth} deep, expected at most {MAX_ARRAY_DEPTH}");
            self.error(element, message);
            return None;
        }
        Some(ArrayType { item, dimensions: value[at..].to_owned() })
    }
}
