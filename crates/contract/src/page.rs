//! Writes the content of a service's page for people, in the format of the generator (`castile-plan`, module `page`).

use std::collections::HashMap;

use castile_databinding::declared::{
    AttributeDeclaration, ComplexDefinition, ContentDefinition, Declaration, DeclaredElement, Definition,
    ElementDeclaration, ParticleDeclaration, Reference, TermDeclaration,
};
use castile_databinding::schema::{Namespaces, TypeName, XSD_NAMESPACE};

use crate::collect::{self, Types};
use crate::{Body, Contract, Message};

/// The maximum number of rows of a type or message, and the maximum nesting of unnamed types inside it.
const MAX_ROWS: usize = 500;
const MAX_DEPTH: usize = 16;

/// Returns the text of the page. It has no example messages.
pub(crate) fn page(contract: &Contract) -> String {
    // Even if the contract can't be written, there is a page.
    let mut page = Page { all: collect::types(contract).unwrap_or_default(), ..Page::default() };
    page.key("service", contract.name);
    for operation in contract.operations {
        page.key("operation", operation.name);
        page.content("documentation", operation.documentation.trim());
        page.message("input", operation.name, &operation.request);
        let headers: Vec<_> = operation.request.headers.iter().map(|element| element()).collect();
        page.blocks("headers", &headers);
        if let Some(response) = &operation.response {
            page.message("output", &format!("{}Response", operation.name), response);
        }
        page.blocks("faults", &(operation.faults)());
    }
    // The rows of a type can add further types.
    let mut number = 0;
    while let Some((name, declaration)) = page.types.get(number).copied() {
        page.key("type", &format!("{}\t{}", name.name, in_one_line(name.namespace)));
        page.content("documentation", declaration.documentation.trim());
        let mut rows = Vec::new();
        page.rows_of(declaration, 0, &mut rows);
        page.content("rows", &rows.join("\n"));
        number += 1;
    }
    page.out
}

#[derive(Default)]
struct Page {
    out: String,
    /// All named types.
    all: Types,
    /// The types that the page describes, and their indexes.
    types: Vec<(TypeName, &'static Declaration)>,
    numbers: HashMap<(&'static str, &'static str), usize>,
}

/// The columns of a row after the name.
#[derive(Default)]
struct Columns<'a> {
    occurs: String,
    of: String,
    notes: Vec<String>,
    documentation: &'a str,
}

impl Page {
    fn key(&mut self, key: &str, value: &str) {
        self.out += &format!("{key} {value}\n");
    }

    fn content(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.out += &format!("{key}\n");
            text.split('\n').for_each(|line| self.out += &format!("\t{line}\n"));
        }
    }

    fn message(&mut self, key: &str, name: &str, message: &Message) {
        let mut rows = Vec::new();
        match &message.body {
            Body::Element(element) => self.element(element.name.name, element.of, Columns::default(), 0, &mut rows),
            Body::Parts(of) => {
                push(&mut rows, 0, 'e', name, &Columns::default());
                self.rows_of(of(), 1, &mut rows);
            }
        }
        self.content(key, &rows.join("\n"));
    }

    fn blocks(&mut self, key: &str, elements: &[DeclaredElement]) {
        let mut rows = Vec::new();
        for element in elements {
            self.element(element.name.name, element.of, Columns::default(), 0, &mut rows);
        }
        self.content(key, &rows.join("\n"));
    }

    /// Adds a row for an element, and rows for its content if its type has no name.
    fn element(&mut self, name: &str, of: Reference, columns: Columns<'_>, depth: usize, rows: &mut Vec<String>) {
        let declaration = of();
        let of = self.reference(declaration);
        push(rows, depth, 'e', name, &Columns { of, ..columns });
        let is_list = matches!(declaration.definition, Definition::List(_));
        if declaration.name.is_none() && !is_list && depth < MAX_DEPTH {
            self.rows_of(declaration, depth + 1, rows);
        }
    }

    /// Returns the name of a type, and its index if the page describes it.
    fn reference(&mut self, declaration: &'static Declaration) -> String {
        let Some(name) = declaration.name else {
            return match &declaration.definition {
                Definition::List(item) => {
                    let of = self.reference(item());
                    format!("list of {of}")
                }
                _ => "\t".to_owned(),
            };
        };
        if name.namespace == XSD_NAMESPACE {
            return format!("xs:{}\t", name.name);
        }
        // The declaration of a field may cover only a base type itself. Show the enum with all derived types.
        let whole = self.all.get(name.namespace).and_then(|types| types.get(name.name)).copied().unwrap_or(declaration);
        let types = &mut self.types;
        let number = *self.numbers.entry((name.namespace, name.name)).or_insert_with(|| {
            types.push((name, whole));
            types.len() - 1
        });
        format!("{}\t{number}", name.name)
    }

    /// Adds the rows of a type: attributes, elements, values, and derived types.
    fn rows_of(&mut self, declaration: &'static Declaration, depth: usize, rows: &mut Vec<String>) {
        match &declaration.definition {
            Definition::BuiltIn => {}
            Definition::Restriction { base, facets } => {
                let (listed, others): (Vec<_>, Vec<_>) = facets.iter().partition(|(facet, _)| *facet == "enumeration");
                let notes = others.iter().map(|(facet, value)| format!("{facet} {value}")).collect();
                let of = self.reference(base());
                push(rows, depth, 'v', "", &Columns { of, notes, ..Columns::default() });
                for (_, value) in listed {
                    push(rows, depth + 1, 'l', value, &Columns::default());
                }
            }
            Definition::List(item) => {
                let of = self.reference(item());
                push(rows, depth, 'v', "", &Columns { of: format!("list of {of}"), ..Columns::default() });
            }
            Definition::Union(members) => {
                push(rows, depth, 'v', "", &Columns { of: "union\t".to_owned(), ..Columns::default() });
                self.instead(members, depth, rows);
            }
            Definition::Complex(complex) => self.complex(complex, depth, rows),
        }
    }

    fn complex(&mut self, complex: &'static ComplexDefinition, depth: usize, rows: &mut Vec<String>) {
        let ComplexDefinition { extended_by, is_abstract, attributes, any_attributes, content, .. } = complex;
        if *is_abstract {
            push(rows, depth, 'g', "abstract", &Columns::default());
        }
        for AttributeDeclaration { name, of, is_required, default, documentation, .. } in attributes.iter() {
            let columns = Columns {
                occurs: if is_required { String::new() } else { "0..1".to_owned() },
                of: self.reference(of()),
                notes: default.iter().map(|value| format!("default {value}")).collect(),
                documentation,
            };
            push(rows, depth, 'a', name, &columns);
        }
        if any_attributes.is_some() {
            push(rows, depth, 'g', "any attribute", &Columns::default());
        }
        if let ContentDefinition::Mixed(_) = content {
            push(rows, depth, 'v', "text between the elements", &Columns::default());
        }
        match content {
            ContentDefinition::Simple(of, _) => {
                let of = self.reference(of());
                push(rows, depth, 'v', "", &Columns { of, ..Columns::default() });
            }
            ContentDefinition::Elements(particle) | ContentDefinition::Mixed(particle) => match &particle.term {
                TermDeclaration::Sequence(particles) => {
                    particles.iter().for_each(|particle| self.particle(&particle, depth, rows));
                }
                _ => self.particle(particle, depth, rows),
            },
        }
        self.instead(extended_by, depth, rows);
    }

    fn instead(&mut self, types: &[Reference], depth: usize, rows: &mut Vec<String>) {
        for of in types {
            let of = self.reference(of());
            push(rows, depth, 'i', "", &Columns { of, ..Columns::default() });
        }
    }

    fn particle(&mut self, particle: &ParticleDeclaration, depth: usize, rows: &mut Vec<String>) {
        if rows.len() > MAX_ROWS || depth > MAX_DEPTH {
            return;
        }
        let columns = Columns { occurs: occurs(particle), ..Columns::default() };
        let (group, particles) = match &particle.term {
            TermDeclaration::Element(ElementDeclaration { name, of, is_nillable, default, documentation, .. }) => {
                let mut notes: Vec<String> = is_nillable.then(|| "nillable".to_owned()).into_iter().collect();
                notes.extend(default.iter().map(|value| format!("default {value}")));
                return self.element(name, *of, Columns { notes, documentation, ..columns }, depth, rows);
            }
            TermDeclaration::Any(namespaces) => {
                let notes = match namespaces {
                    Namespaces::Not(target) => vec![format!("not of {target}")],
                    _ => Vec::new(),
                };
                return push(rows, depth, 'g', "any element", &Columns { notes, ..columns });
            }
            TermDeclaration::ContentOf(of, _) => {
                push(rows, depth, 'g', "sequence", &columns);
                return self.rows_of(of(), depth + 1, rows);
            }
            TermDeclaration::Sequence(particles) => ("sequence", particles),
            TermDeclaration::Choice(particles) => ("choice", particles),
            TermDeclaration::All(particles) => ("all", particles),
        };
        push(rows, depth, 'g', group, &columns);
        particles.iter().for_each(|particle| self.particle(&particle, depth + 1, rows));
    }
}

/// Adds a row, unless there are too many.
fn push(rows: &mut Vec<String>, depth: usize, kind: char, name: &str, columns: &Columns<'_>) {
    let Columns { occurs, of, notes, documentation } = columns;
    let of = if of.is_empty() { "\t" } else { of };
    let (name, notes, documentation) = (in_one_line(name), in_one_line(&notes.join(", ")), in_one_line(documentation));
    let row = format!("{depth}{kind}\t{name}\t{occurs}\t{of}\t{notes}\t{documentation}");
    match rows.len() {
        0..MAX_ROWS => rows.push(row.trim_end_matches('\t').to_owned()),
        MAX_ROWS => rows.push("0g\tand more, see the contract".to_owned()),
        _ => {}
    }
}

/// Returns how often a particle occurs; an empty string means once.
fn occurs(particle: &ParticleDeclaration) -> String {
    match (particle.min_occurs, particle.max_occurs) {
        (1, Some(1)) => String::new(),
        (min, Some(max)) if min == max => min.to_string(),
        (min, Some(max)) => format!("{min}..{max}"),
        (min, None) => format!("{min}..*"),
    }
}

/// Replaces tabs and line ends with spaces.
fn in_one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
