//! Generates documentation for fields and types without documentation in the contract, and descriptions of facets.

use std::rc::Rc;

use castile_xsd::TypeId;
use castile_xsd::components::{Facet, FacetKind, TypeDefinition, Variety};

use super::Planner;
use crate::names::Ident;

impl Planner<'_> {
    /// Returns the documentation of a field, a variant or an accessor. `kind` is the kind of component, such as an
    /// element. Its `name` is left out if the field has the same name.
    pub(super) fn value_documentation(
        &mut self,
        texts: &[&Option<String>],
        kind: &str,
        name: &str,
        ident: &Ident,
        type_id: TypeId,
    ) -> String {
        let facets = self.facets_in_words(type_id);
        let of = self.type_in_words(type_id);
        let with_facets = |sentence: String| match &*facets {
            "" => format!("{sentence}."),
            facets => format!("{sentence}: {facets}."),
        };
        if let Some(documentation) = self.text(texts) {
            return match (&*facets, of) {
                ("", _) => documentation,
                (_, Some(of)) => format!("{documentation}\n\n{}", with_facets(format!("Of type {of}"))),
                (facets, None) => format!("{documentation}\n\nIt contains {facets}."),
            };
        }
        let is_called_so = ident.as_str().trim_start_matches("r#") == name;
        let article = if kind.starts_with(['a', 'e']) { "An" } else { "A" };
        with_facets(match (is_called_so, of) {
            (true, Some(of)) if kind == "element" => format!("Of type {of}"),
            (true, Some(of)) => format!("{article} {kind} of type {of}"),
            (true, None) => format!("{article} {kind} with its own type"),
            (false, Some(of)) => format!("The {kind} `{name}` of type {of}"),
            (false, None) => format!("The {kind} `{name}`"),
        })
    }

    /// Describes a type by its name and, for a simple type of the contract, its built-in type. Returns `None` for a
    /// complex type without a name.
    fn type_in_words(&self, type_id: TypeId) -> Option<String> {
        let definition = &self.schema[type_id];
        if let Some(builtin) = type_id.builtin() {
            return Some(format!("`xs:{}`", builtin.name()));
        }
        let TypeDefinition::Simple(simple) = definition else {
            return definition.name().map(|name| format!("`{}`", name.local()));
        };
        let of = match &simple.variety {
            Variety::Atomic => format!("`xs:{}`", self.schema.builtin(type_id).name()),
            Variety::List { item } => match self.schema[*item].name() {
                Some(name) if item.builtin().is_some() => format!("list of `xs:{}`", name.local()),
                Some(name) => format!("list of `{}`", name.local()),
                None => "list".to_owned(),
            },
            Variety::Union { .. } => "union".to_owned(),
        };
        Some(match definition.name() {
            // The Rust type of an enumeration shows its values, so the built-in type is left out.
            Some(name) if self.lists_texts(type_id) => format!("`{}`", name.local()),
            Some(name) => format!("`{}`, {of}", name.local()),
            None => of,
        })
    }

    /// Describes the facets of a simple type, including those of its bases. Empty if there are none.
    fn facets_in_words(&mut self, type_id: TypeId) -> Rc<str> {
        if type_id.builtin().is_some() || self.schema[type_id].as_simple().is_none() || self.lists_texts(type_id) {
            return "".into();
        }
        if let Some(known) = self.facets_in_words.get(&type_id) {
            return known.clone();
        }
        let found: Rc<str> = self.find_facets_in_words(type_id).into();
        self.facets_in_words.insert(type_id, found.clone());
        found
    }

    fn find_facets_in_words(&self, type_id: TypeId) -> String {
        /// The maximum length of a description in bytes. Longer ones are left out, because the contract is easier to read.
        const MAX_LENGTH: usize = 200;
        let all = self.schema.facets(type_id);
        let of_kind = |kind| all.iter().find(|facet| facet.kind == kind).map(|facet: &&Facet| facet.value.trim());
        let unit = match (&self.schema[type_id], self.schema.builtin(type_id).name()) {
            (TypeDefinition::Simple(simple), _) if simple.variety != Variety::Atomic => "items",
            (_, "hexBinary" | "base64Binary") => "bytes",
            _ => "characters",
        };
        let mut said = Vec::new();
        said.extend(of_kind(FacetKind::Length).map(|length| format!("{length} {unit}")));
        match (of_kind(FacetKind::MinLength), of_kind(FacetKind::MaxLength)) {
            (Some(min), Some(max)) if min == max => said.push(format!("{max} {unit}")),
            (Some(min), Some(max)) => said.push(format!("{min} to {max} {unit}")),
            (Some(min), None) => said.push(format!("at least {min} {unit}")),
            (None, Some(max)) => said.push(format!("at most {max} {unit}")),
            (None, None) => {}
        }
        for (kind, words) in [
            (FacetKind::MinInclusive, "at least"),
            (FacetKind::MinExclusive, "more than"),
            (FacetKind::MaxInclusive, "at most"),
            (FacetKind::MaxExclusive, "less than"),
        ] {
            said.extend(of_kind(kind).map(|value| format!("{words} {value}")));
        }
        said.extend(of_kind(FacetKind::TotalDigits).map(|digits| format!("at most {digits} digits")));
        said.extend(of_kind(FacetKind::FractionDigits).map(|digits| format!("at most {digits} after the point")));
        let patterns = self.schema.patterns(type_id);
        said.extend(patterns.iter().map(|alternatives| format!("pattern `{}`", alternatives.join("|"))));
        let values: Vec<String> =
            self.schema.enumeration(type_id).iter().map(|facet| format!("`{}`", facet.value)).collect();
        if !values.is_empty() {
            said.push(format!("one of {}", values.join(", ")));
        }
        said.retain(|words| words.len() <= MAX_LENGTH);
        said.join(", ")
    }
}
