//! Reads every WSDL of the corpus completely. Nothing may panic or be left out without a report, and errors are allowed
//! only in contracts that are broken. `CASTILE_VERBOSE=1` prints every diagnostic.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use castile_wsdl::{Bundle, Definitions, Diagnostic, Severity};
use castile_xsd::{Catalog, Files};

/// Returns the folder of the corpus.
fn corpus() -> PathBuf {
    Path::new(castile_corpus::path!("corpus")).canonicalize().unwrap()
}

/// Returns all files below `folder` that may be WSDL documents, in order.
fn wsdls(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
            if path.is_dir() {
                open.push(path);
            } else if name.ends_with(".wsdl") || name.ends_with(".wsdl.xml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns a resolver with the catalogs in the folder of `path` and in its parent folders. The corpus has copies of
/// well-known schemas, which are not used; the built-in ones are used instead.
fn files(corpus: &Path, path: &Path) -> Files {
    let mut files = Files::new();
    for folder in path.ancestors().take_while(|folder| *folder != corpus) {
        let catalog = folder.join("catalog.tsv");
        if catalog.is_file() {
            let (catalog, problems) = Catalog::read(&catalog);
            assert!(problems.is_empty(), "{problems:?}");
            files.add_catalog(catalog);
        }
    }
    files
}

fn read(corpus: &Path, path: &Path) -> (Option<Definitions>, Vec<Diagnostic>) {
    castile_wsdl::read(&path.to_string_lossy(), &files(corpus, path))
}

/// Returns a message without the names in it.
fn kind(message: &str) -> String {
    let mut kind = String::new();
    for (index, piece) in message.split('"').enumerate() {
        kind.push_str(if index % 2 == 0 { piece } else { "…" });
    }
    let words = kind.split(' ').map(|word| match word {
        _ if word.contains(['{', '/', '<', '.'])
            || word.chars().any(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) =>
        {
            "…"
        }
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The contracts that are really broken.
const BROKEN: [&str; 3] = [
    // An HTML page saved under the name of a contract.
    "wsdl/nfe-brazil/cadconsultacadastro4.wsdl",
    // It refers to types of MPEG's query format, whose schema isn't public.
    "wsdl/onvif/ver10/federatedsearch.wsdl",
    // It intentionally ends in the middle of a tag.
    "wsdl/wcf-tests/wsdl/brokenWsdl.wsdl",
];

#[derive(Default)]
struct Tally {
    read: usize,
    clean: usize,
    types: usize,
    operations: usize,
    kinds: BTreeMap<(Severity, String), (usize, String)>,
    slowest: (Duration, String),
    failing: Vec<String>,
}

impl Tally {
    fn add(&mut self, corpus: &Path, path: &Path) {
        let verbose = std::env::var_os("CASTILE_VERBOSE").is_some();
        let name = path.strip_prefix(corpus).unwrap_or(path).display().to_string();
        let started = Instant::now();
        let (definitions, diagnostics) = read(corpus, path);
        let took = started.elapsed();
        if took > self.slowest.0 {
            self.slowest = (took, name.clone());
        }
        self.read += 1;
        if let Some(definitions) = &definitions {
            self.types += definitions.schema.types().len();
            self.operations += definitions.bindings.iter().map(|binding| binding.operations.len()).sum::<usize>();
            walk(definitions);
        }
        for diagnostic in &diagnostics {
            let printed = diagnostic.to_string();
            if verbose {
                eprintln!("{printed}\n");
            }
            let key = (diagnostic.severity, kind(&diagnostic.message));
            let at = format!("{name}: {}:{}: {}", diagnostic.file, diagnostic.line, diagnostic.message);
            self.kinds.entry(key).or_insert((0, at)).0 += 1;
        }
        match diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count() {
            0 => self.clean += 1,
            errors => self.failing.push(format!("{errors:4} {name}")),
        }
    }

    fn print(&self) {
        eprintln!("{} documents, {} without errors", self.read, self.clean);
        eprintln!("{} types, {} bound operations", self.types, self.operations);
        eprintln!("slowest: {:?} {}", self.slowest.0, self.slowest.1);
        for ((severity, kind), (count, example)) in self.kinds.iter().rev() {
            eprintln!("{count:6} {severity:?} {kind}\n              {example}");
        }
        for name in &self.failing {
            eprintln!("{name}");
        }
    }
}

/// Visits everything that a generator uses.
fn walk(definitions: &Definitions) {
    let schema = &definitions.schema;
    for (id, definition) in schema.types() {
        if definition.as_complex().is_some() {
            let _ = (schema.content(id), schema.attribute_uses(id), schema.attribute_wildcard(id));
        } else {
            let _ = (schema.facets(id), schema.patterns(id), schema.enumeration(id), schema.white_space(id));
        }
        let _ = (schema.builtin(id), schema.derived_types(id));
    }
    for (id, _) in schema.elements() {
        let _ = schema.substitutes(id);
    }
}

#[castile_corpus::needs("corpus/wsdl")]
#[test]
fn the_corpus_is_read() {
    let corpus = corpus();
    let mut tally = Tally::default();
    for path in wsdls(&corpus.join("wsdl")) {
        tally.add(&corpus, &path);
    }
    tally.print();
    assert!(tally.read >= 269, "{} documents", tally.read);
    let failing: Vec<&str> = tally.failing.iter().filter_map(|line| line.trim_start().split(' ').nth(1)).collect();
    assert_eq!(failing, BROKEN);
}

/// A bundle gives the same components and the same problems as the contract, wherever it is read. Writing it again
/// gives the same file.
#[castile_corpus::needs("corpus/wsdl")]
#[test]
fn a_bundle_of_each_family_is_the_contract() {
    let corpus = corpus();
    let mut families = BTreeMap::new();
    for path in wsdls(&corpus.join("wsdl")) {
        let family =
            path.strip_prefix(corpus.join("wsdl")).unwrap().components().next().unwrap().as_os_str().to_owned();
        families.entry(family).or_insert(path);
    }
    for path in families.values() {
        let uri = path.to_string_lossy();
        let files = files(&corpus, path);
        let (bundle, problems) = castile_wsdl::bundle(&uri, &files);
        let Some(bundle) = bundle else { continue };
        let text = bundle.write();
        assert!(!text.contains(corpus.to_str().unwrap()), "{uri} tells where it was");
        let (again, none) = Bundle::read("t.castile", text.as_bytes());
        let again = again.unwrap_or_else(|| panic!("{uri}: {none:?}"));
        assert_eq!(again.write(), text, "{uri}");

        let (direct, _) = castile_wsdl::read(&uri, &files);
        let (bundled, bundled_problems) = castile_wsdl::read(again.main(), &again);
        assert_eq!(shape(&direct.unwrap()), shape(&bundled.unwrap()), "{uri}");
        let messages = |problems: &[Diagnostic]| -> Vec<(Severity, u32)> {
            problems.iter().map(|problem| (problem.severity, problem.line)).collect()
        };
        assert_eq!(messages(&problems), messages(&bundled_problems), "{uri}");
    }
    assert!(families.len() >= 37, "{}", families.len());
}

/// Returns the names and counts of all components.
fn shape(definitions: &Definitions) -> Vec<String> {
    let schema = &definitions.schema;
    let types = schema.types().map(|(id, definition)| {
        format!("{:?} {} {:?}", definition.name(), schema.attribute_uses(id).len(), schema.content(id).particle())
    });
    let elements = schema.elements().map(|(_, element)| format!("{} {:?}", element.name, element.type_id));
    let bindings = definitions.bindings.iter().map(|binding| format!("{} {}", binding.name, binding.operations.len()));
    types.chain(elements).chain(bindings).collect()
}

#[castile_corpus::needs("corpus/suites")]
#[test]
fn the_suites_of_other_toolkits_are_read() {
    let corpus = corpus();
    let mut tally = Tally::default();
    for path in wsdls(&corpus.join("suites")) {
        tally.add(&corpus, &path);
    }
    tally.print();
}
