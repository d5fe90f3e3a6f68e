//! Makes a cargo project of a family of contracts: what is generated from them, messages made from their schemas or put
//! beside them by somebody, and a program that reads and writes each message. `tests/contracts/run` calls it and goes on from there.
//!
//!     cargo run -p castile-codegen --example contracts -- FAMILY CASTILE OUT [MOST [facets]]
//!
//! `FAMILY` is a folder of contracts with the catalogs in it and above it, `CASTILE` the crate that generated code needs,
//! `OUT` where the project goes, `MOST` how many messages are made of one element at most, and `facets` has generated code check
//! those. What was found stands in `OUT/facts.json`.
//!
//!     cargo run -p castile-codegen --example contracts -- judge FAMILY OUT
//!
//! prints what Castile's own validator says about the messages, once the program has run.
//!
//!     cargo run -p castile-codegen --example contracts -- agree FAMILY OUT
//!
//! prints where reading and writing them by the contract alone differs from what the program did.

mod agree;
mod cases;
mod contracts;
mod encoded;
mod given;
mod groups;
mod judge;
mod project;

use std::path::{Path, PathBuf};

use castile_codegen::Options;
use serde_json::json;

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut options = Options::default();
    let (family, castile, out, most) = match &arguments[..] {
        [judge, family, out] if judge == "judge" => {
            println!("{}", judge::judge(&Path::new(family).canonicalize()?, Path::new(out))?);
            return Ok(());
        }
        [agree, family, out] if agree == "agree" => {
            println!("{}", agree::agree(&Path::new(family).canonicalize()?, Path::new(out))?);
            return Ok(());
        }
        [family, castile, out] => (family, castile, out, usize::MAX),
        [family, castile, out, most] => (family, castile, out, most.parse()?),
        [family, castile, out, most, facets] if facets == "facets" => {
            options.facets = true;
            (family, castile, out, most.parse()?)
        }
        _ => return Err("the arguments FAMILY CASTILE OUT [MOST [facets]] were expected".into()),
    };
    let (family, castile) = (Path::new(family).canonicalize()?, Path::new(castile).canonicalize()?);
    let out = PathBuf::from(out);
    if out.exists() {
        std::fs::remove_dir_all(&out)?;
    }
    std::fs::create_dir_all(out.join("src"))?;
    let out = out.canonicalize()?;

    let files = contracts::files(&family);
    let contracts: Vec<_> = contracts::find(&family)?.iter().map(|path| contracts::generate(path, &files)).collect();
    let groups = groups::group(&contracts, &files, &out)?;
    let mut modules = Vec::new();
    for group in &groups {
        modules.push(project::write_group(group, &files, &out, most, &options)?);
    }
    project::write(&groups, &castile, &out)?;
    let facts = json!({
        "contracts": contracts.iter().map(|contract| contract.facts(&family)).collect::<Vec<_>>(),
        "modules": modules,
    });
    std::fs::write(out.join("facts.json"), serde_json::to_string_pretty(&facts)?)?;
    Ok(())
}
