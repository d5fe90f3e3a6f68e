//! Stores in the program its commit, its compiler and how it was built, for reports.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let git = |arguments: &[&str]| output_of(Command::new("git").arg("-C").arg(&root).args(arguments));
    println!("cargo::rerun-if-changed=build.rs");
    // The source may be in a repository of another project, or in none.
    let is_own = git(&["rev-parse", "--show-toplevel"]).is_some_and(|top| is_same(Path::new(&top), &root));
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| is_own);
    if let Some(commit) = commit {
        println!("cargo::rustc-env=CASTILE_COMMIT={commit}");
        if git(&["status", "--porcelain", "--", "crates", "Cargo.toml", "Cargo.lock"])
            .is_none_or(|changes| !changes.is_empty())
        {
            println!("cargo::rustc-env=CASTILE_CHANGED=yes");
        }
        // A commit, a checkout, and changes to the sources trigger a new build.
        let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).map(|log| root.join(log));
        let sources = std::fs::read_dir(root.join("crates"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path().join("src"));
        let watched = log.into_iter().chain(sources).chain([root.join("Cargo.lock")]);
        for path in watched.filter(|path: &PathBuf| path.exists()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let compiler = output_of(Command::new(variable("RUSTC")).arg("--version")).unwrap_or_else(|| "rustc".to_owned());
    println!("cargo::rustc-env=CASTILE_COMPILER={compiler}, {}", variable("TARGET"));
    println!("cargo::rustc-env=CASTILE_PROFILE={}, opt-level {}", variable("PROFILE"), variable("OPT_LEVEL"));
}

/// Returns the standard output of a command, if it succeeds.
fn output_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
