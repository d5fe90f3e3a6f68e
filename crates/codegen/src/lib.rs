//! The service model to Rust source.
//!
//! A build script calls [`compile`], and the crate takes in what came out with `castile::include_contract!`:
//!
//! ```no_run
//! // build.rs
//! castile_codegen::compile("contracts/orders.wsdl");
//! ```
//!
//! What is written is types, tables and thin glue; the decisions are in `castile`. Only what the operations reach is
//! written. [`generate`] gives the source without touching files.

mod names;
mod plan;
mod planner;
mod render;
mod tags;

use std::fs;
use std::path::{Path, PathBuf};

pub use castile_wsdl::{Diagnostic, Severity};

/// What is generated.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The trait to be implemented, and the server.
    pub server: bool,
    /// The client.
    pub client: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { server: true, client: true }
    }
}

/// What came out of a contract.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The source of a module. It includes the contract from a file beside it: `stem.wsdl`.
    pub source: String,
    /// The contract itself.
    pub wsdl: String,
    /// All files that were read.
    pub files: Vec<String>,
    /// What could be better in the contract, or was left out without harm.
    pub diagnostics: Vec<Diagnostic>,
}

/// Generates a module from the WSDL file at `path`.
///
/// # Errors
/// All problems of the contract, with their places; one at least is an error.
pub fn generate(path: &Path, options: &Options) -> Result<Generated, Vec<Diagnostic>> {
    let (definitions, mut diagnostics) = castile_wsdl::read_file(path);
    let Some(definitions) = definitions else { return Err(diagnostics) };
    let plan = planner::plan(&definitions, &mut diagnostics);
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(diagnostics);
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let source = render::render(&plan, &format!("{stem}.wsdl"), options);
    let files: Vec<String> = definitions.sources.names().map(str::to_owned).collect();
    let wsdl = fs::read(path)
        .ok()
        .and_then(|bytes| castile_xsd::decode(&bytes).ok().map(|text| text.into_owned()))
        .unwrap_or_default();
    Ok(Generated { source, wsdl, files, diagnostics })
}

/// Compiles the contract at `path`, relative to the package, into the build script's output directory. To be called
/// from a build script.
///
/// Problems of the contract are printed as the compiler's own, and end the build script if one is an error.
pub fn compile(path: impl AsRef<Path>) {
    compile_with(path, &Options::default());
}

/// The same with [`Options`].
pub fn compile_with(path: impl AsRef<Path>, options: &Options) {
    let path = path.as_ref();
    println!("cargo:rerun-if-changed={}", path.display());
    match generate(path, options) {
        Ok(generated) => {
            for file in &generated.files {
                println!("cargo:rerun-if-changed={file}");
            }
            for diagnostic in generated.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning)
            {
                println!("cargo:warning={}:{}: {}", diagnostic.file, diagnostic.line, diagnostic.message);
            }
            if let Err(error) = write(path, &generated) {
                fail(&format!("the generated module can't be written: {error}"));
            }
        }
        Err(diagnostics) => {
            let text: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            fail(&text.join("\n\n"));
        }
    }
}

fn write(path: &Path, generated: &Generated) -> std::io::Result<()> {
    let directory = std::env::var_os("OUT_DIR").map(PathBuf::from);
    let directory = directory.ok_or_else(|| std::io::Error::other("OUT_DIR is not set; this is for build scripts"))?;
    let target = directory.join(path.file_name().unwrap_or_default());
    fs::write(target.with_extension("rs"), &generated.source)?;
    fs::write(target.with_extension("wsdl"), &generated.wsdl)
}

/// Ends the build script: cargo shows what it printed.
fn fail(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(1)
}
