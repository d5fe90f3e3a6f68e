//! Compares the diagnostics of broken documents with files: `NAME.xsd`, or another extension, gives `NAME.txt`.
//! `BLESS=1` rewrites the text files; review the changes.

use std::path::Path;

use castile_xsd::{Diagnostic, Documents};

/// Compares the diagnostics from `read` with the expected text, for all documents with this extension in a folder.
pub fn compare(folder: &str, extension: &str, read: impl Fn(&str, &Documents) -> Vec<Diagnostic>) {
    let folder = Path::new(folder);
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|found| found != extension) {
            continue;
        }
        count += 1;
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let documents = Documents::new().with(&name, std::fs::read(&path).unwrap());
        let found: String = read(&name, &documents).iter().map(|diagnostic| format!("{diagnostic}\n\n")).collect();
        let expected_path = path.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&expected_path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if found != expected {
            failures.push(format!("{name} gives\n{found}expected\n{expected}"));
        }
    }
    assert!(count > 0);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
