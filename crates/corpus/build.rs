//! Finds the corpus, and runs again whenever files are added or removed there.

use std::env;
use std::path::PathBuf;

/// The folders of the corpus. Some of them may be missing.
const FOLDERS: [&str; 4] = ["conformance", "suites", "wellknown", "wsdl"];

fn main() {
    const VARIABLE: &str = "CASTILE_CORPUS_DIR";
    let project = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fetched = project.join("tests/corpus/files");
    let shared = project.join("../shared");
    let named = env::var_os(VARIABLE).map(PathBuf::from);
    let candidates = named.into_iter().chain([fetched.clone(), shared.join("corpus")]);
    let corpus = candidates.clone().find(|folder| FOLDERS.iter().any(|name| folder.join(name).is_dir()));

    println!("cargo:rerun-if-env-changed={VARIABLE}");
    println!("cargo:rerun-if-changed=build.rs");
    // A folder that doesn't exist would count as changed in each build.
    let others = ["workloads", "trials"].map(|name| shared.join(name));
    for folder in candidates.chain(others).filter(|folder| folder.is_dir()) {
        println!("cargo:rerun-if-changed={}", folder.display());
    }
    println!("cargo:rustc-env=CORPUS={}", corpus.unwrap_or(fetched).display());
    println!("cargo:rustc-env=SHARED={}", shared.display());
}
