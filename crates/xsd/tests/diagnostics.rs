//! What is said of broken schemas, word by word: `diagnostics/NAME.xsd` gives `diagnostics/NAME.txt`.
//! `BLESS=1` writes the latter anew; the difference is to be read.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::path::Path;

use castile_xsd::Documents;

#[test]
fn diagnostics_are_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut failures = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "xsd") {
            continue;
        }
        count += 1;
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let documents = Documents::new().with(&name, std::fs::read(&path).unwrap());
        let (_, diagnostics) = castile_xsd::read(&name, &documents);
        let found: String = diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n\n")).collect();
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
