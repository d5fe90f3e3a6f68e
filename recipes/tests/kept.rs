//! Fails if the stored code differs from what the contract generates. `BLESS=1 cargo test` updates it.

use std::path::Path;

use castile_codegen::{Options, generate};

#[test]
fn the_committed_code_is_that_of_its_contract() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = package.join("examples/kept/quotes.rs");
    let generated = generate(&package.join("examples/kept/quotes.wsdl"), &Options::default()).expect("it is right");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&kept, &generated.source).expect("the file can be written");
    }
    assert_eq!(std::fs::read_to_string(kept).unwrap_or_default(), generated.source);
}
