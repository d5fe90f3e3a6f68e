//! `castile complete`: the candidates that a shell offers after `castile call WSDL` and `castile sample WSDL`. The scripts of
//! `castile completions` call it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use castile_dynamic::{Contract, Operation, Options};
use castile_wsdl::{Catalog, Files};

use crate::contracts::path;
use crate::manual;

/// Commands whose first argument is a contract and whose second is an operation of it.
const OPERATION_COMMANDS: [&str; 2] = ["call", "sample"];
/// The command whose further arguments are values.
const VALUE_COMMAND: &str = "call";

/// The maximum number of paths that are offered.
const MAX_CANDIDATES: usize = 200;

/// Print the candidates for the last word of a command, one per line
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The words after `castile`, up to the one being typed
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Prints the candidates. For an unreadable contract it prints nothing: an error would appear in the user's command line.
pub(crate) fn run(arguments: &Arguments) {
    let words: Vec<String> = arguments.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    // Candidates with other characters are left out: users seldom type them, and a shell might interpret them.
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
    let Some((command, before)) = before.split_first() else { return Vec::new() };
    let all = manual::command();
    let defined = all.find_subcommand(command).filter(|_| OPERATION_COMMANDS.contains(&command.as_str()));
    let Some(Given { plain, options }) = defined.and_then(|defined| Given::of(defined, before)) else {
        return Vec::new();
    };
    let mut plain = plain.into_iter();
    let Some(contract) = plain.next() else { return Vec::new() };
    let values_of =
        |name: &'static str| options.iter().filter(move |(option, _)| *option == name).map(|(_, value)| *value);
    let mut files = Files::new();
    for catalog in values_of("catalog") {
        let (catalog, _) = Catalog::read(Path::new(catalog));
        files.add_catalog(catalog);
    }
    let Ok(contract) = Contract::open(Path::new(contract), &files, &Options::default()) else { return Vec::new() };
    let service = values_of("service").next_back();
    let services = || contract.services.iter().filter(|one| service.is_none_or(|name| one.description().name == name));
    let operations = || services().flat_map(|service| service.operations());
    match plain.next() {
        None => {
            let mut names: Vec<String> = operations().map(|operation| operation.label().to_owned()).collect();
            names.retain(|name| name.starts_with(typed.as_str()));
            let mut seen = HashSet::new();
            names.retain(|name| seen.insert(name.clone()));
            names
        }
        Some(name) if command == VALUE_COMMAND => {
            operations().find(|one| one.label() == name).map_or_else(Vec::new, |one| members(one, typed))
        }
        Some(_) => Vec::new(),
    }
}

/// The words after a command, parsed by its definition.
struct Given<'w> {
    /// The words that are neither options nor values of options.
    plain: Vec<&'w str>,
    /// The long names of options, with their values.
    options: Vec<(&'w str, &'w str)>,
}

impl<'w> Given<'w> {
    /// Parses the words before the one being typed. Returns `None` if the one being typed is the value of an option.
    fn of(command: &'w clap::Command, words: &'w [String]) -> Option<Self> {
        let takes_value = |option: &&clap::Arg| option.get_action().takes_values();
        let long = |name: &str| command.get_arguments().find(|option| option.get_long() == Some(name));
        let short = |name: char| command.get_arguments().find(|option| option.get_short() == Some(name));
        let mut given = Given { plain: Vec::new(), options: Vec::new() };
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let (option, value) = match (word.strip_prefix("--"), word.strip_prefix('-')) {
                (Some(""), _) => {
                    given.plain.extend(words);
                    break;
                }
                (Some(text), _) => match text.split_once('=') {
                    Some((name, value)) => (long(name), Some(value)),
                    None => (long(text), None),
                },
                // In `-vuann`, `-v` takes no value, and everything after `u` is a value.
                (None, Some(letters)) if !letters.is_empty() => {
                    let mut letters = letters.chars();
                    let option = letters.by_ref().find_map(|letter| short(letter).filter(takes_value));
                    (option, Some(letters.as_str()).filter(|value| !value.is_empty()))
                }
                _ => {
                    given.plain.push(word);
                    continue;
                }
            };
            let Some(option) = option.filter(takes_value) else { continue };
            let value = match value {
                Some(value) => value,
                None => words.next()?,
            };
            given.options.push((option.get_long().unwrap_or_default(), value));
        }
        Some(given)
    }
}

/// Returns the paths that a word can be completed to: `customer.na` becomes `customer.name=`.
fn members(operation: &'static Operation, typed: &str) -> Vec<String> {
    if typed.contains('=') {
        return Vec::new();
    }
    // A namespace may contain dots.
    let last = typed.rfind('}').map_or(0, |end| end + 1);
    let at = typed[last..].rfind('.').map(|at| last + at);
    let (path, begun) = at.map_or(("", typed), |at| (&typed[..at], &typed[at + 1..]));
    let steps = if path.is_empty() { Ok(Vec::new()) } else { path::steps(path) };
    let Ok(steps) = steps else { return Vec::new() };
    let names: Vec<&str> = steps.iter().filter_map(path::Step::name).collect();
    let before = if path.is_empty() { String::new() } else { format!("{path}.") };
    let expected =
        expected(operation, &names).into_iter().filter(|member| member.starts_with(begun) && !member.ends_with('*'));
    // Each candidate needs another lookup in the contract, and more than `MAX_CANDIDATES` candidates are useless.
    let whole = expected.take(MAX_CANDIDATES).map(|member| {
        let inner: Vec<&str> = names.iter().copied().chain([&*member]).collect();
        let end = if self::expected(operation, &inner).is_empty() { '=' } else { '.' };
        format!("{before}{member}{end}")
    });
    whole.collect()
}

/// Returns the names of members that may follow `names` in a path.
fn expected(operation: &'static Operation, names: &[&str]) -> Vec<String> {
    // No member has an empty name, so the lookup fails and lists the expected names.
    let names: Vec<&str> = names.iter().copied().chain([""]).collect();
    match operation.find_in_request(&names) {
        Err(error) if error.found + 1 == names.len() => error.expected,
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
        for (words, expected) in [
            (&["call", "WSDL", "--url", "http://x", "Pl"][..], "Place"),
            (&["call", "--url=http://x", "WSDL", "-u", "ann", "Pl"], "Place"),
            (&["call", "-vuann", "-v", "WSDL", "-uann", "Pl"], "Place"),
            (&["call", "WSDL", "--soap", "1.2", "--dry-run", "Place", "--json", "-", "sc"], "scan="),
            (&["call", "WSDL", "--", "Place", "sc"], "scan="),
            (&["call", "--service", "Orders", "WSDL", ""], "Place Count"),
            (&["call", "--service", "Others", "WSDL", ""], ""),
            // The last word is a value of the option.
            (&["call", "WSDL", "--url", ""], ""),
            (&["call", "WSDL", "Place", "-u", "sc"], ""),
        ] {
            assert_eq!(of(words), expected, "{words:?}");
        }
        for nothing in [&["call", "WSDL", "Place", "customer=a"][..], &["call", "none", ""], &["load", "WSDL", ""], &[]]
        {
            assert_eq!(of(nothing), "", "{nothing:?}");
        }
    }

    #[test]
    fn catalogs_lead_to_what_a_contract_imports() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let orders = include_str!("../../tests/validate/orders.wsdl");
        let kept = file("orders.wsdl", orders);
        let namespaces = "xmlns='http://schemas.xmlsoap.org/wsdl/' targetNamespace='urn:outer'";
        let import = "<import namespace='urn:orders' location='http://a.example/orders.wsdl'/>";
        let contract = file("outer.wsdl", &format!("<definitions {namespaces}>{import}</definitions>"));
        let catalog = file("catalog.tsv", &format!("http://a.example/orders.wsdl\t{kept}\n"));
        let of = |words: &[&str]| candidates(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["call", "--catalog", &catalog, &contract, "P"]), ["Place"]);
        assert!(of(&["call", &contract, "P"]).is_empty());
    }
}
