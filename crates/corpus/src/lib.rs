//! Tests that need files from outside the project. Where these are absent, the tests show as ignored, with the reason.
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
//! The corpus is other people's contracts and messages. It is the folder that the environment variable `CASTILE_CORPUS_DIR` names;
//! without one `tests/corpus/files`, into which `tests/corpus/fetch` puts it; or else `../shared/corpus`, beside the project. What
//! doesn't begin with `corpus/` stands in `../shared`.
//!
//! Rust's harness knows what it ignores when it is compiled, so this looks then. The crates that ask are compiled again when
//! something comes to these folders or goes.

use std::path::{Path, PathBuf};

use proc_macro::{Delimiter, Literal, TokenStream, TokenTree};

/// Has a test ignored where a file or folder is absent. It stands above `#[test]`, which must see what this adds.
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

/// A test without the reason for which it is ignored where all is there: the compiler warns of two.
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
            // With the # before it.
            true => drop(kept.pop()),
            false => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

/// Where a file or folder is, or would be, as a string.
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

/// The content of a string literal without escapes, if that is all there is.
fn text(tokens: &TokenStream) -> Option<String> {
    let text = tokens.to_string();
    Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

fn expected_a_path() -> TokenStream {
    r#"compile_error!("expected the path of a file or folder, as \"corpus/wsdl\"");"#.parse().unwrap_or_default()
}
