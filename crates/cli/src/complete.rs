//! `castile complete`: what a shell offers behind `castile call WSDL`. The scripts of `castile completions` ask for it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;

use castile_dynamic::{Contract, Operation, Options};
use castile_wsdl::Files;

use crate::path;

/// Commands whose first argument is a contract and whose second is an operation of it.
const OF_OPERATION: [&str; 2] = ["call", "sample"];
/// The one whose further arguments are values.
const OF_VALUES: &str = "call";

/// How many paths are offered.
const MOST: usize = 200;

/// Print what may stand in place of the last word of a command, one in a line
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The words behind `castile`, up to the one that is typed
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// What is no contract has nothing to offer, and nobody wants to read errors between the words of a command.
pub(crate) fn run(arguments: &Arguments) {
    let words: Vec<String> = arguments.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    // Nobody types what is left out, and a shell might run it.
    let is_plain = |c: char| c.is_alphanumeric() || "._-@=[]{}:/".contains(c);
    for candidate in candidates(&words).into_iter().filter(|candidate| candidate.chars().all(is_plain)) {
        out!("{}", castile_xml::visible(&candidate));
    }
}

fn candidates(words: &[String]) -> Vec<String> {
    let Some((typed, before)) = words.split_last() else { return Vec::new() };
    if typed.starts_with('-') {
        return Vec::new();
    }
    let mut before = before.iter().filter(|word| !word.starts_with('-'));
    let command = before.next().filter(|command| OF_OPERATION.contains(&command.as_str()));
    let (Some(command), Some(contract)) = (command, before.next()) else { return Vec::new() };
    let Ok(contract) = Contract::open(&PathBuf::from(contract), &Files::new(), &Options::default()) else {
        return Vec::new();
    };
    let operations = || contract.services.iter().flat_map(|service| service.operations());
    match before.next() {
        None => {
            let mut names: Vec<String> = operations().map(|operation| operation.name().to_owned()).collect();
            names.retain(|name| name.starts_with(typed.as_str()));
            let mut seen = HashSet::new();
            names.retain(|name| seen.insert(name.clone()));
            names
        }
        Some(name) if command == OF_VALUES => {
            operations().find(|operation| operation.name() == name).map_or_else(Vec::new, |one| members(one, typed))
        }
        Some(_) => Vec::new(),
    }
}

/// The paths that a word may become: `customer.na` becomes `customer.name=`.
fn members(operation: &'static Operation, typed: &str) -> Vec<String> {
    if typed.contains('=') {
        return Vec::new();
    }
    // A namespace may have dots.
    let last = typed.rfind('}').map_or(0, |end| end + 1);
    let at = typed[last..].rfind('.').map(|at| last + at);
    let (path, begun) = at.map_or(("", typed), |at| (&typed[..at], &typed[at + 1..]));
    let steps = if path.is_empty() { Vec::new() } else { path::steps(path).unwrap_or_default() };
    let names: Vec<&str> = steps.iter().filter_map(path::Step::name).collect();
    let before = if path.is_empty() { String::new() } else { format!("{path}.") };
    let expected = expected(operation, &names).into_iter().filter(|member| member.starts_with(begun) && member != "*");
    // What stands behind each is another look at the contract; nobody reads as many.
    let whole = expected.take(MOST).map(|member| {
        let inner: Vec<&str> = names.iter().copied().chain([&*member]).collect();
        let end = if self::expected(operation, &inner).is_empty() { '=' } else { '.' };
        format!("{before}{member}{end}")
    });
    whole.collect()
}

/// The names that may stand behind these.
fn expected(operation: &'static Operation, names: &[&str]) -> Vec<String> {
    // A name that no member has.
    let names: Vec<&str> = names.iter().copied().chain([""]).collect();
    match operation.find_in_request(&names) {
        Err(error) if error.known + 1 == names.len() => error.expected,
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_and_paths_come_from_the_contract() {
        let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/validate/orders.wsdl");
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| word.replace("WSDL", contract)).collect();
            candidates(&words).join(" ")
        };
        assert_eq!(of(&["call", "WSDL", ""]), "Place Count");
        assert_eq!(of(&["sample", "--json", "WSDL", "P"]), "Place");
        assert_eq!(of(&["call", "WSDL", "Place", ""]), "@priority= customer= item. scan=");
        assert_eq!(of(&["call", "WSDL", "Place", "customer=a", "item[1].n"]), "item[1].name=");
        for nothing in [&["call", "WSDL", "Place", "customer=a"][..], &["call", "none", ""], &["load", "WSDL", ""], &[]]
        {
            assert_eq!(of(nothing), "", "{nothing:?}");
        }
    }
}
