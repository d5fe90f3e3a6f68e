//! Macros for tests that need files from outside the project. If these are absent, the tests are ignored, with the reason.
//!
//! ```text
//! #[castile_corpus::needs("corpus/wsdl")]
//! #[test]
//! fn contracts_are_read() {
//!     let folder = Path::new(castile_corpus::path!("corpus/wsdl"));
//!     // …
//! }
//! ```
//!
//! The corpus consists of contracts and messages of other projects. It is in the folder that the environment variable
//! `CASTILE_CORPUS_DIR` names. Without the variable it is in `tests/corpus/files`, where `tests/corpus/fetch` puts it, or else in
//! `../shared/corpus`, beside the project. A path that doesn't begin with `corpus/` is in `../shared`.
//!
//! Rust's test harness must know at compile time which tests are ignored, so the macros check then. The crates that use them are
//! compiled again when files are added to these folders or removed.

use std::path::{Path, PathBuf};

use proc_macro::{Delimiter, Literal, TokenStream, TokenTree};

/// Ignores a test if a file or folder is absent. It must be above `#[test]`, which has to see the added attribute.
#[proc_macro_attribute]
pub fn needs(path: TokenStream, test: TokenStream) -> TokenStream {
    let Some(path) = text(&path) else { return expected_a_path() };
    if place(&path).exists() {
        return test;
    }
    let whence = if is_of_corpus(&path) { "which tests/corpus/fetch gets" } else { "which is not published" };
    let reason = Literal::string(&format!("needs {path}, {whence}"));
    let mut ignored: TokenStream = format!("#[ignore = {reason}]").parse().unwrap_or_default();
    ignored.extend(without_ignore(test));
    ignored
}

/// Removes the test's own reason for being ignored if a file is absent, because the compiler warns of two reasons.
fn without_ignore(test: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in test {
        let is_ignore = match &token {
            TokenTree::Group(group) => {
                let attribute = group.stream().into_iter().next();
                group.delimiter() == Delimiter::Bracket && attribute.is_some_and(|name| name.to_string() == "ignore")
            }
            _ => false,
        };
        match is_ignore {
            // Also removes the # before it.
            true => drop(kept.pop()),
            false => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

/// Returns the path of a file or folder as a string, whether it exists or not.
#[proc_macro]
pub fn path(path: TokenStream) -> TokenStream {
    match text(&path) {
        Some(path) => TokenTree::from(Literal::string(&place(&path).to_string_lossy())).into(),
        None => expected_a_path(),
    }
}

fn place(path: &str) -> PathBuf {
    match path.strip_prefix("corpus") {
        Some(inside) if is_of_corpus(path) => Path::new(env!("CORPUS")).join(inside.trim_start_matches('/')),
        _ => Path::new(env!("SHARED")).join(path),
    }
}

fn is_of_corpus(path: &str) -> bool {
    path == "corpus" || path.starts_with("corpus/")
}

/// Returns the content of a string literal without escapes, if there is nothing else.
fn text(tokens: &TokenStream) -> Option<String> {
    let text = tokens.to_string();
    Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

fn expected_a_path() -> TokenStream {
    r#"compile_error!("expected the path of a file or folder, as \"corpus/wsdl\"");"#.parse().unwrap_or_default()
}
