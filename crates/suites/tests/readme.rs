//! Tests that the README shows code that is compiled and run.

use std::fs;
use std::path::Path;

#[test]
fn the_readme_shows_the_examples() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(package.join("../../README.md")).expect("the README is there");
    for name in ["echo", "stock"] {
        let example = fs::read_to_string(package.join(format!("examples/{name}.rs"))).expect("the example is there");
        let (_, code) = example.split_once("\n\n").expect("documentation, then code");
        assert!(readme.contains(code), "examples/{name}.rs changed; README.md shows its code behind the documentation");
    }
}
