//! Contracts, each taken by itself.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use castile_codegen::{Diagnostic, Files, Generated, Options, Severity, generate_from};
use castile_wsdl::{Definitions, Protocol};
use castile_xsd::Catalog;
use serde_json::{Value, json};

use crate::Error;

/// A contract and what came of it.
pub(crate) struct Contract {
    /// Its file.
    pub(crate) path: PathBuf,
    /// `targetNamespace`, empty if the contract can't be read.
    pub(crate) namespace: String,
    /// How many operations of port types are bound to SOAP.
    operations: usize,
    /// What reading and generating took.
    took: Duration,
    /// What was generated, or what is wrong with the contract.
    pub(crate) result: Result<Generated, Vec<Diagnostic>>,
}

impl Contract {
    /// How many operations were generated.
    pub(crate) fn generated_operations(&self) -> usize {
        self.result.as_ref().map_or(0, |generated| operations(&generated.source))
    }

    /// How many components are defined twice.
    pub(crate) fn twice(&self) -> usize {
        self.diagnostics().map(defined_twice).sum()
    }

    fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        match &self.result {
            Ok(generated) => generated.diagnostics.iter(),
            Err(diagnostics) => diagnostics.iter(),
        }
    }

    /// What the table needs.
    pub(crate) fn facts(&self, family: &Path) -> Value {
        let count = |severity| self.diagnostics().filter(|diagnostic| diagnostic.severity == severity).count();
        let error = self.diagnostics().find(|diagnostic| diagnostic.severity == Severity::Error);
        let source = self.result.as_ref().map_or("", |generated| generated.source.as_str());
        json!({
            "name": self.path.strip_prefix(family).unwrap_or(&self.path).to_string_lossy(),
            "milliseconds": self.took.as_secs_f64() * 1000.0,
            "operations": self.operations,
            "generated_operations": self.generated_operations(),
            "types": types(source),
            "lines": source.lines().count(),
            "errors": count(Severity::Error),
            "warnings": count(Severity::Warning),
            "error": error.filter(|_| self.result.is_err()).map(ToString::to_string),
        })
    }
}

/// All files below `folder` that look like WSDL documents, in order.
pub(crate) fn find(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            if path.is_dir() {
                open.push(path);
            } else if name.ends_with(".wsdl") || name.ends_with(".wsdl.xml") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Files with the catalogs of a family: its own, those above it, and that of well-known schemas beside.
pub(crate) fn files(family: &Path) -> Files {
    let mut files = Files::new();
    for folder in family.ancestors().take(4).flat_map(|folder| [folder.to_owned(), folder.join("wellknown")]) {
        let path = folder.join("catalog.tsv");
        if path.is_file() {
            files.add_catalog(Catalog::read(&path).0);
        }
    }
    files
}

/// Generates a contract, with the time that it takes.
pub(crate) fn generate(path: &Path, files: &Files) -> Contract {
    // The machine has other work: the best of three says what this takes.
    let mut took = Duration::MAX;
    let mut result = Err(Vec::new());
    for _ in 0..3 {
        let begun = Instant::now();
        result = generate_from(path, files, &Options::default());
        took = took.min(begun.elapsed());
    }
    let definitions = castile_wsdl::read(&path.to_string_lossy(), files).0;
    let operations = definitions.as_ref().map_or(0, bound);
    let namespace = definitions.map(|definitions| definitions.target_namespace).unwrap_or_default();
    Contract { path: path.to_owned(), namespace, operations, took, result }
}

/// How many operations of port types are bound to SOAP: most are twice, to both versions.
fn bound(definitions: &Definitions) -> usize {
    let bindings = definitions.bindings.iter().filter(|binding| matches!(binding.protocol, Protocol::Soap { .. }));
    let names = bindings.flat_map(|binding| {
        let port_type = format!("{:?}", binding.port_type);
        binding.operations.iter().map(move |operation| (port_type.clone(), operation.name.clone()))
    });
    names.collect::<HashSet<_>>().len()
}

/// How many components a diagnostic says are defined twice, which happens when contracts that don't fit come together.
pub(crate) fn defined_twice(diagnostic: &Diagnostic) -> usize {
    let message = &diagnostic.message;
    let several = message.split_once(" define ").and_then(|(_, rest)| rest.split_once(" components of "));
    match several {
        Some((count, _)) => count.parse().unwrap_or(1),
        None => usize::from(message.contains("defined twice")),
    }
}

/// How many types a source has.
pub(crate) fn types(source: &str) -> usize {
    let is_type =
        |line: &&str| line.trim_start().starts_with("pub struct ") || line.trim_start().starts_with("pub enum ");
    source.lines().filter(is_type).count()
}

/// How many operations a source has: each stands in a table of its service.
pub(crate) fn operations(source: &str) -> usize {
    source.matches("Operation::new(").count()
}
