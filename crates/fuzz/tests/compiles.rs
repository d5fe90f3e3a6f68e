//! The code that is generated from changed contracts compiles. The check `generate` only parses it. The compiler also
//! checks names and types, but takes seconds, so it compiles a few modules in one crate.
//!
//! `FUZZ_CONTRACTS=NUMBER` compiles that many; `FUZZ_SEED=NUMBER` selects other contracts.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use castile_fuzz::{generated, mutate, seeds};

/// How many changed contracts are compiled.
const CONTRACTS: u64 = 24;
/// How many changes are tried for each module.
const TRIES: u64 = 50;
/// The longest contract, in bytes.
const MAX_LENGTH: usize = 16 << 10;

#[test]
fn code_generated_from_changed_contracts_compiles() {
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name} is {value:?}, expected a number")),
        Err(_) => default,
    };
    let (count, first) = (number("FUZZ_CONTRACTS", CONTRACTS), number("FUZZ_SEED", 1));
    let seeds = seeds("generate");
    let mut seen: HashSet<String> = seeds.iter().filter_map(|seed| generated(seed)).collect();
    let mut modules = Vec::new();
    for tried in 0..count * TRIES {
        if modules.len() as u64 == count {
            break;
        }
        let seed = first.wrapping_mul(1 << 32).wrapping_add(tried);
        let mut random = fastrand::Rng::with_seed(seed);
        let [one, other] = [(); 2].map(|()| &seeds[random.usize(..seeds.len())]);
        let contract = mutate(one, other, seed, MAX_LENGTH);
        // The code of the unchanged contracts is skipped, because it is known to compile.
        if let Some(source) = generated(&contract)
            && seen.insert(source.clone())
        {
            modules.push((contract, source));
        }
    }
    assert_eq!(modules.len() as u64, count, "code is generated from too few changed contracts");

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated");
    let path = |name: String| project.join(name);
    fs::create_dir_all(path("src".into())).expect("a directory for the crate");
    let castile = root.join("crates/castile").canonicalize().expect("the crate beside this one");
    let manifest = format!(
        "[package]\nname = \"generated\"\nedition = \"2024\"\n\n[dependencies]\ncastile = {{ path = {castile:?} }}\n\n\
         [workspace]\n"
    );
    fs::write(path("Cargo.toml".into()), manifest).expect("a manifest is written");
    fs::copy(root.join("Cargo.lock"), path("Cargo.lock".into())).expect("the versions of this workspace");
    let mut library = String::new();
    for (number, (contract, source)) in modules.iter().enumerate() {
        library += &format!("pub mod contract{number};\n");
        fs::write(path(format!("src/contract{number}.rs")), source).expect("a module is written");
        fs::write(path(format!("src/contract{number}.wsdl")), contract).expect("a contract is written");
    }
    fs::write(path("src/lib.rs".into()), library).expect("the root is written");
    // All modules include their documents by the same names. The content of these files does not matter here.
    for (_, source) in &modules {
        for name in source.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(name.starts_with("contract.") && !name.contains(['/', '\\']), "a module includes {name:?}");
            fs::write(path(format!("src/{name}")), "").expect("a document is written");
        }
    }
    // The dependencies of Castile may already be checked in this directory.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a folder in the target directory");
    let done = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet"])
        .current_dir(&project)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "the contracts stand beside the modules in {}:\n{said}", project.display());
}
