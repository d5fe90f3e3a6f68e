//! Documents that a contract imports by URL are found where the catalogs say that the options name.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::{Path, PathBuf};

use castile_codegen::{Options, generate};

#[test]
fn catalogs_locate_imported_documents() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/catalogs");
    let contract = folder.join("orders.wsdl");
    let mut options = Options::default();
    let without = generate(&contract, &options).unwrap_err();
    let notes: Vec<&str> = without.iter().filter_map(|problem| problem.note.as_deref()).collect();
    assert!(notes.iter().any(|note| note.contains("in a catalog")), "{notes:?}");

    options.catalogs = vec![folder.join("catalog.tsv")];
    let generated = generate(&contract, &options).unwrap();
    assert!(generated.source.contains("pub struct Order "), "{}", generated.source);
    assert_eq!(generated.module, "orders");
    assert!(generated.files.iter().any(|file| file.ends_with("types.xsd")), "{:?}", generated.files);

    options.catalogs = vec![PathBuf::from("nowhere.xml")];
    let absent = generate(&contract, &options).unwrap_err();
    assert!(absent.iter().any(|problem| problem.file.contains("nowhere.xml")), "{absent:?}");
}
