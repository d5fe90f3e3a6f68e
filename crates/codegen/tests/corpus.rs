//! Contracts of the corpus are generated: one in eight, and all with `CASTILE_CORPUS=all`. `CASTILE_GENERATED=folder`
//! keeps what comes out, for a compiler. No type is too large.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use castile_codegen::{Catalog, Diagnostic, Files, Generated, Options, Severity, generate_from};

/// The folder of the corpus.
fn corpus() -> PathBuf {
    Path::new(castile_corpus::path!("corpus")).canonicalize().unwrap()
}

/// All files below `folder` that look like WSDL documents, in order.
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

/// Generates with the catalogs that stand beside and above `path`.
fn generate(corpus: &Path, path: &Path) -> Result<Generated, Vec<Diagnostic>> {
    let mut files = Files::new();
    for folder in path.ancestors().take_while(|folder| *folder != corpus) {
        let catalog = folder.join("catalog.tsv");
        if catalog.is_file() {
            let (catalog, problems) = Catalog::read(&catalog);
            assert!(problems.is_empty(), "{problems:?}");
            files.add_catalog(catalog);
        }
    }
    let mut options = Options::default();
    options.facets = true;
    generate_from(path, &files, &options)
}

/// A message without the names in it.
fn kind(message: &str) -> String {
    let is_name = |word: &str| {
        word.contains(['{', '/', '<', '.', '"']) || word.chars().any(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    let words: Vec<&str> = message.split(' ').map(|word| if is_name(word) { "…" } else { word }).collect();
    // What stands behind "operation" or "message" is a name too, whatever it looks like.
    let names = ["operation", "message", "fault", "service", "binding"];
    let kind = words.iter().enumerate().map(|(index, word)| match index.checked_sub(1).map(|before| words[before]) {
        Some(before) if names.contains(&before) && *word != "of" && *word != "that" => "…",
        _ => word,
    });
    kind.collect::<Vec<_>>().join(" ")
}

/// The contracts that are broken themselves, or of which nothing can be generated yet.
const EXCEPTIONS: [&str; 5] = [
    // An HTML page saved under the name of a contract.
    "wsdl/nfe-brazil/cadconsultacadastro4.wsdl",
    // Ends in the middle of a tag, on purpose.
    "wsdl/wcf-tests/wsdl/brokenWsdl.wsdl",
    // Speak SOAP 1.2 alone, and have no types of their own.
    "testservice1.wsdl",
    "testservice2.wsdl",
    "testservice3.wsdl",
];

#[castile_corpus::needs("corpus/wsdl")]
#[test]
fn the_corpus_is_generated() {
    let corpus = corpus();
    let kept = std::env::var_os("CASTILE_GENERATED").map(PathBuf::from);
    let (mut lines, mut clean, mut failing, mut large) = (0, 0, Vec::new(), Vec::new());
    let all = std::env::var("CASTILE_CORPUS").is_ok_and(|value| value == "all");
    let step = if all { 1 } else { 8 };
    let mut count = 0;
    let mut slowest = (Duration::ZERO, String::new());
    let mut kinds: BTreeMap<(Severity, String), (usize, String)> = BTreeMap::new();
    for (number, path) in wsdls(&corpus.join("wsdl")).iter().enumerate().step_by(step) {
        count += 1;
        let name = path.strip_prefix(&corpus).unwrap().display().to_string();
        let started = Instant::now();
        let result = generate(&corpus, path);
        slowest = slowest.max((started.elapsed(), name.clone()));
        let diagnostics = match result {
            Ok(generated) => {
                lines += generated.source.lines().count();
                large.extend(too_large(&generated).map(|type_| format!("{name}: {type_}")));
                if let Some(kept) = &kept {
                    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
                    let file = kept.join(format!("{number:03}"));
                    std::fs::create_dir_all(&file).unwrap();
                    std::fs::write(file.join(format!("{stem}.rs")), &generated.source).unwrap();
                    for document in &generated.documents {
                        std::fs::write(file.join(&document.file), &document.text).unwrap();
                    }
                    std::fs::write(file.join("name"), &name).unwrap();
                }
                generated.diagnostics
            }
            Err(diagnostics) => {
                failing.push(name.clone());
                diagnostics
            }
        };
        let refusals = diagnostics.iter().filter(|diagnostic| diagnostic.severity != Severity::Note);
        let mut refused = false;
        for diagnostic in refusals {
            let kind = kind(&diagnostic.message);
            refused = true;
            let at = format!("{name}: {}:{}: {}", diagnostic.file, diagnostic.line, diagnostic.message);
            kinds.entry((diagnostic.severity, kind)).or_insert((0, at)).0 += 1;
        }
        clean += usize::from(!refused);
    }
    eprintln!("{count} contracts, {lines} lines, {clean} without a word, slowest {slowest:?}");
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    for ((severity, kind), (count, example)) in kinds {
        eprintln!("{count:6} {severity:?} {kind}\n              {example}");
    }
    failing.retain(|name| !EXCEPTIONS.iter().any(|exception| name.ends_with(exception)));
    assert!(failing.is_empty(), "{failing:?}");
    assert!(large.is_empty(), "{large:#?}");
}

/// Types of more than 1 KiB, but for those with so many fields that texts alone take as much.
fn too_large(generated: &Generated) -> impl Iterator<Item = String> {
    generated.sizes.iter().filter(|(_, size)| *size > 1024).filter_map(|(path, size)| {
        let name = path.rsplit(':').next().unwrap();
        let definition = generated.source.split(&format!("pub struct {name} {{")).nth(1).unwrap_or_default();
        let fields = definition.lines().take_while(|line| line.trim() != "}");
        let fields = fields.filter(|line| line.trim_start().starts_with("pub ")).count();
        (*size > fields * size_of::<String>()).then(|| format!("{path} has {size} bytes in {fields} fields"))
    })
}
