use std::collections::HashMap;

use castile_datatypes::quoted;

use super::Checker;
use super::elements::kind_of;
use crate::components::{
    AttributeUse, ComplexType, Derivation, DerivationSet, NamespaceConstraint, ProcessContents, TypeId, Use,
    ValueConstraint, Wildcard,
};
use crate::{Builtin, ExpandedName, Location};

impl Checker<'_> {
    /// Checks the attributes of a type (ct-props-correct 4 and 5, derivation-ok-restriction 2 to 4, au-props-correct).
    pub(super) fn attributes(&mut self, id: TypeId, complex: &ComplexType) {
        let schema = self.schema;
        let own = schema.own_attribute_uses(complex);
        let mut names: HashMap<&ExpandedName, Location> = HashMap::new();
        for attribute_use in own.iter().filter(|attribute_use| attribute_use.use_ != Use::Prohibited) {
            let name = &schema[attribute_use.attribute].name;
            if let Some(first) = names.insert(name, attribute_use.location) {
                let message = format!("attribute {name} is declared twice in one type");
                let note = self.diagnostics.the_first(first);
                self.diagnostics.error(complex.location, message).with_rule("ct-props-correct").with_note(note);
            }
            self.value_of_use(attribute_use);
        }
        let has_base = schema[complex.base].as_complex().is_some() && complex.base != Builtin::AnyType.into();
        if !has_base || self.is_unknown(complex.base) || self.is_of_two_versions(complex.base) {
            self.one_id(complex, &own);
            return;
        }
        let inherited = schema.attribute_uses(complex.base);
        if !self.step(inherited.len() + own.len()) {
            return;
        }
        match complex.derivation {
            Derivation::Extension => {
                for attribute_use in &inherited {
                    let name = &schema[attribute_use.attribute].name;
                    if let Some(location) = names.get(name) {
                        let message = format!("attribute {name} is already declared in a base of this type");
                        self.diagnostics.warning(*location, message).with_rule("ct-props-correct");
                    }
                }
                self.wildcards_together(id, complex);
            }
            Derivation::Restriction => self.restricted_attributes(id, complex, &own, &inherited),
        }
        self.one_id(complex, &schema.attribute_uses(id));
    }

    /// Checks that at most one attribute has type ID.
    fn one_id(&mut self, complex: &ComplexType, uses: &[AttributeUse]) {
        let schema = self.schema;
        let is_id = |attribute_use: &&AttributeUse| {
            attribute_use.use_ != Use::Prohibited
                && schema.builtin(schema[attribute_use.attribute].type_id).is_derived_from(Builtin::Id)
        };
        if uses.iter().filter(is_id).count() > 1 {
            let message = "a type has two attributes of type ID, expected one";
            self.diagnostics.warning(complex.location, message).with_rule("ct-props-correct");
        }
    }

    /// Checks that an ID has no default and that a fixed value is kept (§3.2.6 a-props-correct 3, §3.5.6
    /// au-props-correct 2).
    fn value_of_use(&mut self, attribute_use: &AttributeUse) {
        let declaration = &self.schema[attribute_use.attribute];
        if let Some(constraint) = &attribute_use.value_constraint {
            self.no_default_for_id(&declaration.name, declaration.type_id, constraint, attribute_use.location);
            let (name, location) = (&declaration.name, attribute_use.location);
            self.value_of_type(name, declaration.type_id, constraint, location, "au-props-correct");
        }
        if let (Some(ValueConstraint::Fixed(fixed)), Some(own)) =
            (&declaration.value_constraint, &attribute_use.value_constraint)
            && !self.is_fixed_to(Some(own), fixed, declaration.type_id)
        {
            let message =
                format!("attribute {} is fixed to {}, but has a different value here", declaration.name, quoted(fixed));
            self.diagnostics.error(attribute_use.location, message).with_rule("au-props-correct");
        }
    }

    fn no_default_for_id(&mut self, name: &ExpandedName, type_id: TypeId, value: &ValueConstraint, at: Location) {
        if !self.is_unknown(type_id) && self.schema.builtin(type_id).is_derived_from(Builtin::Id) {
            let kind = kind_of(value);
            let message = format!(
                "attribute {name} is of type ID and has a {kind} value, but two elements can't have the same ID"
            );
            self.diagnostics.warning(at, message).with_rule("a-props-correct");
        }
    }

    /// Checks global attribute declarations.
    pub(super) fn attribute_declarations(&mut self) {
        let schema = self.schema;
        for declaration in &schema.attributes {
            if let Some(constraint) = &declaration.value_constraint {
                self.no_default_for_id(&declaration.name, declaration.type_id, constraint, declaration.location);
                let (name, location) = (&declaration.name, declaration.location);
                self.value_of_type(name, declaration.type_id, constraint, location, "a-props-correct");
            }
            // The specification itself declares `xsi:type` and the other attributes of this namespace.
            if declaration.name.namespace() == "http://www.w3.org/2001/XMLSchema-instance" {
                let message = format!("attribute {} is declared, but XML Schema itself declares it", declaration.name);
                self.diagnostics.warning(declaration.location, message).with_rule("no-xsi");
            }
        }
        for group in &schema.attribute_groups {
            let mut names = HashMap::new();
            for attribute_use in &group.attribute_uses {
                let name = &schema[attribute_use.attribute].name;
                if let Some(first) = names.insert(name, attribute_use.location) {
                    let message = format!("attribute {name} is declared twice in one group");
                    let note = self.diagnostics.the_first(first);
                    self.diagnostics.error(group.location, message).with_rule("ag-props-correct").with_note(note);
                }
            }
        }
    }

    /// Checks derivation-ok-restriction 2, 3 and 4.
    fn restricted_attributes(
        &mut self,
        id: TypeId,
        complex: &ComplexType,
        own: &[AttributeUse],
        inherited: &[AttributeUse],
    ) {
        const RULE: &str = "derivation-ok-restriction";
        let schema = self.schema;
        let of_base: HashMap<&ExpandedName, &AttributeUse> =
            inherited.iter().map(|attribute_use| (&schema[attribute_use.attribute].name, attribute_use)).collect();
        let base_wildcard = schema.attribute_wildcard(complex.base);
        for attribute_use in own {
            let declaration = &schema[attribute_use.attribute];
            let name = &declaration.name;
            let problem = match (of_base.get(name), attribute_use.use_) {
                (Some(base_use), Use::Prohibited) if base_use.use_ == Use::Required => {
                    Some("is prohibited, but the base requires it".to_owned())
                }
                (_, Use::Prohibited) => None,
                (Some(base_use), own) if base_use.use_ == Use::Required && own != Use::Required => {
                    Some("is optional, but the base requires it".to_owned())
                }
                (Some(base_use), _) => {
                    let base_declaration = &schema[base_use.attribute];
                    let value = |attribute_use: &AttributeUse| {
                        let declared = schema[attribute_use.attribute].value_constraint.clone();
                        attribute_use.value_constraint.clone().or(declared)
                    };
                    let excluded = DerivationSet::default();
                    match value(base_use) {
                        Some(ValueConstraint::Fixed(fixed))
                            if !self.is_fixed_to(value(attribute_use).as_ref(), &fixed, declaration.type_id) =>
                        {
                            Some(format!("is not fixed to {} as in the base", quoted(&fixed)))
                        }
                        _ if !self.is_derived(declaration.type_id, base_declaration.type_id, excluded) => {
                            Some("has a type that is not derived from its type in the base".to_owned())
                        }
                        _ => None,
                    }
                }
                (None, _) => match &base_wildcard {
                    Some(wildcard) if wildcard.namespaces.allows(name.namespace()) => None,
                    _ => Some("is not in the base, which has no wildcard for it".to_owned()),
                },
            };
            if let Some(problem) = problem {
                let message = format!("a restriction allows more than its base: attribute {name} {problem}");
                self.diagnostics.warning(attribute_use.location, message).with_rule(RULE);
            }
        }
        let own_wildcard = schema.attribute_wildcard(id);
        let problem = match (&own_wildcard, &base_wildcard) {
            (None, _) => None,
            (Some(_), None) => Some("the base has none"),
            (Some(own), Some(base)) if !own.namespaces.is_subset_of(&base.namespaces) => {
                Some("it allows namespaces that the one of the base doesn't allow")
            }
            (Some(own), Some(base)) if is_weaker(own.process_contents, base.process_contents) => {
                Some("its processContents is weaker than in the base")
            }
            _ => None,
        };
        if let Some(problem) = problem {
            let message =
                format!("a restriction allows more than its base: <anyAttribute> is not allowed, because {problem}");
            self.diagnostics.warning(complex.location, message).with_rule(RULE);
        }
    }

    /// Checks that the wildcards of an extension and its base have an expressible union (cos-aw-union).
    fn wildcards_together(&mut self, id: TypeId, complex: &ComplexType) {
        let base = self.schema.attribute_wildcard(complex.base);
        let own = self.schema.own_attribute_wildcard(complex);
        let (Some(base), Some(own)) = (base, own) else { return };
        if !can_be_united(&base, &own) {
            let message = "the attribute wildcards of an extension and its base have no expressible union";
            let location = self.schema[id].location();
            self.diagnostics.warning(location, message).with_rule("cos-aw-union");
        }
    }
}

/// Returns true if `own` is less strict than `base`.
pub(super) fn is_weaker(own: ProcessContents, base: ProcessContents) -> bool {
    let strength = |contents| match contents {
        ProcessContents::Skip => 0,
        ProcessContents::Lax => 1,
        ProcessContents::Strict => 2,
    };
    strength(own) < strength(base)
}

/// Returns true if the union can be expressed. "Any except this one, and no namespace" can't (§3.10.6, 5.3).
fn can_be_united(one: &Wildcard, two: &Wildcard) -> bool {
    match (&one.namespaces, &two.namespaces) {
        (NamespaceConstraint::OneOf(list), NamespaceConstraint::Not(target))
        | (NamespaceConstraint::Not(target), NamespaceConstraint::OneOf(list)) => {
            target.is_empty() || list.contains(target) || !list.iter().any(|namespace| namespace.is_empty())
        }
        _ => true,
    }
}
