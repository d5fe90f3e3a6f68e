//! One defect each: what is left of a contract of `defects`, and what is said. `BLESS=1` writes `NAME.txt` anew.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use castile_codegen::{Diagnostic, Generated, Options, Severity, generate};

/// The contracts, in order.
fn contracts() -> Vec<PathBuf> {
    let entries = fs::read_dir("tests/defects").unwrap().map(|entry| entry.unwrap().path());
    let mut contracts: Vec<_> = entries.filter(|path| path.extension().is_some_and(|found| found == "wsdl")).collect();
    contracts.sort();
    contracts
}

fn with(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    change(&mut options);
    options
}

/// What a client may call, and the types.
fn names(generated: &Generated) -> String {
    let mut method = "";
    let names = generated.source.lines().map(str::trim).filter_map(|line| {
        if let Some(of_method) = line.strip_prefix("pub fn ") {
            method = until_bracket(of_method);
        }
        if line.starts_with("self.0.call(") || line.starts_with("self.0.one_way(") {
            return Some(method);
        }
        line.strip_prefix("pub struct ").or(line.strip_prefix("pub enum ")).map(until_bracket)
    });
    names.collect::<Vec<_>>().join(" ")
}

/// The name at the beginning of a declaration.
fn until_bracket(declaration: &str) -> &str {
    declaration.split([' ', '(', '<']).next().unwrap_or_default()
}

/// Whether a client may call an operation.
fn calls(generated: &Generated, operation: &str) -> bool {
    names(generated).split(' ').any(|name| name == operation)
}

fn told(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n\n")).collect()
}

#[test]
fn a_defect_removes_only_the_items_that_depend_on_it() {
    let mut different = Vec::new();
    for path in contracts() {
        let mut found = String::new();
        match generate(&path, &with(|options| options.server = false)) {
            Ok(generated) => {
                found.push_str(&told(&generated.diagnostics));
                writeln!(found, "{}", names(&generated)).unwrap();
                writeln!(found, "{}", generated.summary.as_deref().unwrap_or("all there is")).unwrap();
            }
            Err(diagnostics) => writeln!(found, "{}refused", told(&diagnostics)).unwrap(),
        }
        different.extend(support::compare(&path.with_extension("txt"), Some(&found)));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn strictly_each_is_refused() {
    for path in contracts() {
        let diagnostics = generate(&path, &with(|options| options.strict = true)).unwrap_err();
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        assert!(errors.count() > 0, "{}: {}", path.display(), told(&diagnostics));
    }
}

#[test]
fn a_contract_of_an_abstract_part_alone_was_strictly_generated_as_an_empty_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.wsdl");
    let port_type =
        "<message name='M'/><portType name='P'><operation name='o'><input message='t:M'/></operation></portType>";
    let types = "<types><s:schema xmlns:s='http://www.w3.org/2001/XMLSchema'><s:element name='e' type='s:int'/></s:schema></types>";
    for content in [port_type, types, ""] {
        let contract = format!(
            "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:t='urn:shop' targetNamespace='urn:shop'>{content}</definitions>"
        );
        fs::write(&path, contract).unwrap();
        let diagnostics = generate(&path, &with(|options| options.strict = true)).expect_err(content);
        let last = diagnostics.last().unwrap();
        assert!(
            last.severity == Severity::Error && last.message.ends_with("there is nothing to generate"),
            "{}",
            told(&diagnostics)
        );
        assert_eq!(names(&generate(&path, &Options::default()).unwrap()), "");
    }
}

#[test]
fn an_operation_that_is_asked_for_is_not_left_out() {
    let path = Path::new("tests/defects/operation.wsdl");
    let of = |name: &str| generate(path, &with(|options| options.operations = vec![name.to_owned()]));
    let buy = of("buy").unwrap();
    assert_eq!(buy.summary, None);
    let diagnostics = of("sell").unwrap_err();
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let errors: Vec<_> = errors.map(|error| error.message.as_str()).collect();
    let expected =
        "operation sell, which was requested, is left out: element {urn:shop}nowhere of part p is not defined";
    assert!(errors.contains(&expected), "{errors:?}");
}

#[test]
fn a_port_type_without_a_binding_is_generated_when_it_is_asked_for() {
    let path = Path::new("tests/defects/no_binding.wsdl");
    let of = |name: &str| generate(path, &with(|options| options.port_types = vec![name.to_owned()]));
    let shop = of("Shop").unwrap();
    assert!(calls(&shop, "buy") && !calls(&shop, "sell") && !shop.source.contains("fn sell("));
    let expected = "1 of 2 operations; left out: sell (element {urn:shop}nowhere of part p is not defined)";
    assert_eq!(shop.summary.as_deref(), Some(expected));
    let diagnostics = of("Chop").unwrap_err();
    assert!(told(&diagnostics).contains("the requested port type Chop"), "{}", told(&diagnostics));
    assert!(told(&diagnostics).contains("it has Shop"), "{}", told(&diagnostics));
}

/// The small contracts of trials: each has one defect, and something to generate unless it has nothing that speaks SOAP.
#[castile_corpus::needs("trials/strict")]
#[test]
fn the_trials_are_generated() {
    let entries = fs::read_dir(castile_corpus::path!("trials/strict")).unwrap();
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let found = match generate(&path, &Options::default()) {
            Ok(generated) => {
                let without_reason = |summary: String| summary.split(" (").next().map(str::to_owned);
                (calls(&generated, "one"), generated.summary.clone().and_then(without_reason))
            }
            Err(diagnostics) => (false, diagnostics.last().map(|last| last.message.clone())),
        };
        let nothing = "no service uses SOAP over HTTP and there are no types, so there is nothing to generate";
        let expected = match name.as_str() {
            "abstract" => (false, None),
            "httpget" => (false, Some(nothing.to_owned())),
            "one-bad-of-two" => (true, Some("1 of 2 operations; left out: two".to_owned())),
            _ => (true, None),
        };
        assert_eq!(found, expected, "{name}");
        if name == "abstract" || name == "httpget" {
            let generated = generate(&path, &with(|options| options.port_types = vec!["P".to_owned()]));
            assert!(calls(&generated.unwrap(), "one"), "{name}");
        }
    }
}
