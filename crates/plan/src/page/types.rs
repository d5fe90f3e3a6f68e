//! Describes types as rows of text.

use castile_xsd::components::NamespaceConstraint;
use castile_xsd::components::{
    AttributeUse, Compositor, Content, ElementDeclaration, Facet, FacetKind, Owner, Particle, Scope, Term,
    TypeDefinition, Use, ValueConstraint, Variety, Wildcard,
};
use castile_xsd::encoded::{Items, TypeKind, encoding_type};
use castile_xsd::{ElementId, TypeId};

use super::{MAX_IN_ROW, Writer, shortened};
use crate::grown;

/// Maximum number of rows of a type or message.
const MAX_ROWS: usize = 500;
/// Maximum depth of anonymous types that are described inline.
const MAX_DEPTH: usize = 16;
/// Maximum length of the list of a value's facets, in characters.
const MAX_FACETS: usize = 200;

/// A row of a type's description.
#[derive(Debug, Default)]
pub(super) struct Row {
    depth: usize,
    kind: RowKind,
    name: String,
    occurs: String,
    pub(super) of: Reference,
    notes: Vec<String>,
    pub(super) documentation: Option<String>,
}

/// The kind of a row. The text has a letter for it.
#[derive(Clone, Copy, Debug, Default)]
enum RowKind {
    #[default]
    Element,
    Attribute,
    /// A group. The rows in it have a greater depth and follow it.
    Group,
    /// The value of a simple type, or the text of a complex type.
    Value,
    /// A value of an enumeration.
    Listed,
    /// A type or an element that may replace another one.
    Instead,
}

/// A reference to a type: its name, and its number if it is described.
#[derive(Debug, Default)]
pub(super) struct Reference {
    name: String,
    number: Option<usize>,
}

impl Row {
    fn new(depth: usize, kind: RowKind, name: &str) -> Self {
        Row { depth, kind, name: name.to_owned(), ..Row::default() }
    }

    pub(super) fn element(depth: usize, name: &str) -> Self {
        Row::new(depth, RowKind::Element, name)
    }

    /// Returns the row as one line, without empty columns at its end.
    pub(super) fn line(&self) -> String {
        let letter = match self.kind {
            RowKind::Element => 'e',
            RowKind::Attribute => 'a',
            RowKind::Group => 'g',
            RowKind::Value => 'v',
            RowKind::Listed => 'l',
            RowKind::Instead => 'i',
        };
        let number = self.of.number.map(|number| number.to_string()).unwrap_or_default();
        let documentation = self.documentation.as_deref().unwrap_or_default();
        let documentation = shortened(&in_one_line(documentation), MAX_IN_ROW);
        let columns = [
            in_one_line(&self.name),
            self.occurs.clone(),
            in_one_line(&self.of.name),
            number,
            in_one_line(&self.notes.join(", ")),
            documentation,
        ];
        format!("{}{letter}\t{}", self.depth, columns.join("\t")).trim_end_matches('\t').to_owned()
    }
}

/// Replaces tabs and line ends in a text.
fn in_one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

impl Writer<'_> {
    /// Describes a type.
    pub(super) fn type_of(&mut self, type_id: TypeId) {
        let definition = &self.definitions.schema[type_id];
        let name = definition.name().or_else(|| match definition.owner() {
            Some(Owner::Element(id)) => Some(&self.definitions.schema[id].name),
            _ => None,
        });
        let line = name.map(|name| format!("{}\t{}", name.local(), in_one_line(name.namespace())));
        self.key("type", &line.unwrap_or_default());
        self.documentation(definition.annotation().documentation.as_ref());
        let mut rows = Vec::new();
        self.content_of(type_id, 0, &mut rows);
        self.rows("rows", &rows);
    }

    /// Returns a reference to a type. If it is a type of the contract with a name, or with an element that others can
    /// refer to, it gets a number and is described.
    pub(super) fn reference(&mut self, type_id: TypeId) -> Reference {
        let schema = &self.definitions.schema;
        let definition = &schema[type_id];
        let named = |name: String, number| Reference { name, number };
        if let Some(builtin) = type_id.builtin() {
            return named(format!("xs:{}", builtin.name()), None);
        }
        if let Some(name) = definition.name() {
            if encoding_type(name).is_some() {
                return named(name.local().to_owned(), None);
            }
            return named(name.local().to_owned(), Some(self.number(type_id)));
        }
        let of_global = matches!(definition.owner(), Some(Owner::Element(id)) if schema[id].scope == Scope::Global);
        match definition {
            TypeDefinition::Complex(_) if of_global => named(String::new(), Some(self.number(type_id))),
            TypeDefinition::Complex(_) => named(String::new(), None),
            TypeDefinition::Simple(simple) => match &simple.variety {
                Variety::Atomic => named(format!("xs:{}", schema.builtin(type_id).name()), None),
                Variety::List { item } => {
                    let of = self.reference(*item);
                    named(format!("list of {}", of.name), of.number)
                }
                Variety::Union { .. } => named("union".to_owned(), None),
            },
        }
    }

    fn number(&mut self, type_id: TypeId) -> usize {
        *self.numbers.entry(type_id).or_insert_with(|| {
            self.types.push(type_id);
            self.types.len() - 1
        })
    }

    /// Adds a row for an element and, if its type is anonymous, for its content.
    pub(super) fn whole_element(&mut self, id: ElementId, depth: usize, rows: &mut Vec<Row>) {
        let schema = &self.definitions.schema;
        let ElementDeclaration { type_id, .. } = schema[id];
        if schema[type_id].name().is_some() || schema[type_id].as_complex().is_none() {
            rows.push(self.element(id, depth));
            return;
        }
        let mut row = Row::element(depth, schema[id].name.local());
        row.documentation = schema[id].annotation.documentation.clone();
        rows.push(row);
        self.content_of(type_id, depth + 1, rows);
    }

    /// Returns the row for an element without its content.
    pub(super) fn element(&mut self, id: ElementId, depth: usize) -> Row {
        let schema = &self.definitions.schema;
        let ElementDeclaration { name, type_id, nillable, is_abstract, value_constraint, annotation, .. } = &schema[id];
        let mut row = Row::element(depth, name.local());
        row.of = self.reference(*type_id);
        row.notes.extend(is_abstract.then(|| "abstract".to_owned()));
        row.notes.extend(nillable.then(|| "nillable".to_owned()));
        row.notes.extend(value_constraint.as_ref().map(constraint));
        if schema[*type_id].name().is_none() {
            row.notes.extend(self.facets(*type_id));
        }
        row.documentation = annotation.documentation.clone();
        row
    }

    /// Adds rows for the content of a type: attributes, elements, values, and types that may replace it.
    fn content_of(&mut self, type_id: TypeId, depth: usize, rows: &mut Vec<Row>) {
        let schema = &self.definitions.schema;
        let complex = match &schema[type_id] {
            TypeDefinition::Simple(simple) => {
                self.value(type_id, depth, rows);
                if let Variety::Union { members } = &simple.variety {
                    for member in members {
                        let mut row = Row::new(depth, RowKind::Instead, "");
                        row.of = self.reference(*member);
                        push(rows, row);
                    }
                }
                return;
            }
            TypeDefinition::Complex(complex) => complex,
        };
        if complex.is_abstract {
            push(rows, Row::new(depth, RowKind::Group, "abstract"));
        }
        // The rest of an array is not defined by the contract.
        if let TypeKind::Array(Items { type_id, .. }) = TypeKind::of(schema, type_id) {
            let mut row = Row::element(depth, "item");
            (row.of, row.occurs) = (self.reference(type_id), "0..*".to_owned());
            return push(rows, row);
        }
        for attribute_use in schema.attribute_uses(type_id) {
            let row = self.attribute(&attribute_use, depth);
            push(rows, row);
        }
        if let Some(wildcard) = schema.attribute_wildcard(type_id) {
            push(rows, any("any attribute", &wildcard, depth));
        }
        let content = schema.content(type_id);
        if matches!(content, Content::Mixed(_)) {
            push(rows, Row::new(depth, RowKind::Value, "text between the elements"));
        }
        match &content {
            Content::Simple(simple) => self.value(*simple, depth, rows),
            content => {
                if let Some(particle) = content.particle() {
                    self.outermost(particle, depth, rows);
                }
            }
        }
        for &derived in schema.derived_types(type_id) {
            let mut row = Row::new(depth, RowKind::Instead, "");
            row.of = self.reference(derived);
            if row.of.number.is_some() {
                push(rows, row);
            }
            if rows.len() > MAX_ROWS {
                break;
            }
        }
    }

    /// Adds rows for the values of a simple type.
    fn value(&mut self, type_id: TypeId, depth: usize, rows: &mut Vec<Row>) {
        let schema = &self.definitions.schema;
        let mut row = Row::new(depth, RowKind::Value, "");
        row.of = match &schema[type_id] {
            TypeDefinition::Simple(simple) if type_id.builtin().is_none() => match &simple.variety {
                Variety::List { item } => {
                    let of = self.reference(*item);
                    Reference { name: format!("list of {}", of.name), number: of.number }
                }
                Variety::Union { .. } => Reference { name: "union".to_owned(), number: None },
                Variety::Atomic => Reference { name: format!("xs:{}", schema.builtin(type_id).name()), number: None },
            },
            _ => self.reference(type_id),
        };
        row.notes.extend(self.facets(type_id));
        push(rows, row);
        for facet in schema.enumeration(type_id) {
            let mut row = Row::new(depth + 1, RowKind::Listed, &facet.value);
            row.documentation = facet.annotation.documentation.clone();
            push(rows, row);
        }
    }

    /// Returns the facets of a simple type, except enumerations. Long facets are left out, because the contract is
    /// clearer.
    fn facets(&self, type_id: TypeId) -> Vec<String> {
        let schema = &self.definitions.schema;
        if type_id.builtin().is_some() || schema[type_id].as_simple().is_none() {
            return Vec::new();
        }
        let is_told =
            |facet: &&Facet| !matches!(facet.kind, FacetKind::Enumeration | FacetKind::Pattern | FacetKind::WhiteSpace);
        let facets = schema.facets(type_id);
        let facets =
            facets.iter().copied().filter(is_told).map(|facet| format!("{} {}", facet.kind.name(), facet.value));
        let patterns = schema.patterns(type_id);
        let mut all: Vec<String> =
            facets.chain(patterns.iter().map(|step| format!("pattern {}", step.join("|")))).collect();
        all.retain(|facet| facet.chars().count() <= MAX_FACETS);
        all
    }

    fn attribute(&mut self, attribute_use: &AttributeUse, depth: usize) -> Row {
        let declaration = &self.definitions.schema[attribute_use.attribute];
        let mut row = Row::new(depth, RowKind::Attribute, declaration.name.local());
        row.of = self.reference(declaration.type_id);
        row.occurs = if attribute_use.use_ == Use::Required { String::new() } else { "0..1".to_owned() };
        let value = attribute_use.value_constraint.as_ref().or(declaration.value_constraint.as_ref());
        row.notes.extend(value.map(constraint));
        if self.definitions.schema[declaration.type_id].name().is_none() {
            row.notes.extend(self.facets(declaration.type_id));
        }
        let documentation = attribute_use.annotation.documentation.as_ref();
        row.documentation = documentation.or(declaration.annotation.documentation.as_ref()).cloned();
        row
    }

    // ---- particles ----

    /// Adds rows for the particle of a type. A sequence that occurs once needs no row of its own.
    fn outermost(&mut self, particle: &Particle, depth: usize, rows: &mut Vec<Row>) {
        match &particle.term {
            Term::Group(group) if particle.is_once() && group.compositor == Compositor::Sequence => {
                for inner in &group.particles {
                    self.particle(inner, depth, rows);
                }
            }
            _ => self.particle(particle, depth, rows),
        }
    }

    fn particle(&mut self, particle: &Particle, depth: usize, rows: &mut Vec<Row>) {
        if rows.len() > MAX_ROWS {
            return;
        }
        let schema = &self.definitions.schema;
        let occurs = occurs(particle);
        match &particle.term {
            Term::Element(id) => {
                let type_id = schema[*id].type_id;
                let row = Row { occurs, ..self.element(*id, depth) };
                let is_told = row.of.number.is_none() && schema[type_id].as_complex().is_some();
                push(rows, row);
                if is_told && type_id.builtin().is_none() && schema[type_id].name().is_none() && depth < MAX_DEPTH {
                    grown(|| self.content_of(type_id, depth + 1, rows));
                } else if schema[type_id].name().is_none() {
                    for facet in schema.enumeration(type_id) {
                        push(rows, Row::new(depth + 1, RowKind::Listed, &facet.value));
                    }
                }
                for substitute in schema.substitutes(*id) {
                    if rows.len() > MAX_ROWS {
                        break;
                    }
                    let row = self.element(substitute, depth + 1);
                    push(rows, Row { kind: RowKind::Instead, ..row });
                }
            }
            Term::Wildcard(wildcard) => push(rows, Row { occurs, ..any("any element", wildcard, depth) }),
            Term::Group(group) => {
                push(rows, Row { occurs, ..Row::new(depth, RowKind::Group, group.compositor.name()) });
                for inner in &group.particles {
                    grown(|| self.particle(inner, depth + 1, rows));
                }
            }
            Term::GroupReference(id) => {
                let flat = schema.flatten(&Particle { term: Term::Group(schema[*id].group.clone()), ..*particle });
                grown(|| self.particle(&flat, depth, rows));
            }
        }
    }
}

/// Adds a row, unless the limit is reached.
fn push(rows: &mut Vec<Row>, row: Row) {
    match rows.len() {
        0..MAX_ROWS => rows.push(row),
        MAX_ROWS => rows.push(Row::new(0, RowKind::Group, "and more, see the contract")),
        _ => {}
    }
}

fn any(what: &str, wildcard: &Wildcard, depth: usize) -> Row {
    let mut row = Row::new(depth, RowKind::Group, what);
    let listed = |namespace: &str| if namespace.is_empty() { "no namespace".to_owned() } else { namespace.to_owned() };
    row.notes.extend(match &wildcard.namespaces {
        NamespaceConstraint::Any => None,
        NamespaceConstraint::Not(target) => Some(format!("not of {}", listed(target))),
        NamespaceConstraint::OneOf(list) => {
            let list: Vec<String> = list.iter().map(|namespace| listed(namespace)).collect();
            Some(format!("of {}", list.join(" or ")))
        }
    });
    row
}

fn constraint(value: &ValueConstraint) -> String {
    match value {
        ValueConstraint::Default(value) => format!("default {}", shortened(value, MAX_FACETS)),
        ValueConstraint::Fixed(value) => format!("always {}", shortened(value, MAX_FACETS)),
    }
}

/// Returns the occurrence of a particle, which is empty for exactly once.
fn occurs(particle: &Particle) -> String {
    match (particle.min_occurs, particle.max_occurs) {
        (1, Some(1)) => String::new(),
        (min, Some(max)) if min == max => min.to_string(),
        (min, Some(max)) => format!("{min}..{max}"),
        (min, None) => format!("{min}..*"),
    }
}
