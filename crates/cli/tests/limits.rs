//! The tables in docs/limits.md contain exactly the defaults of the code.

#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// The headings of the tables, and the values they document.
fn documented() -> Vec<(&'static str, String)> {
    vec![
        ("Server", shown(&castile::http::server::Server::new())),
        ("Endpoint", shown(&castile::http::server::Options::default())),
        ("Messages", shown(&castile::xml::Limits::default())),
        ("Packages", shown(&castile::mime::Limits::default())),
        ("Contracts", shown(&castile_xsd::Limits::default())),
        ("Client", shown(&castile::http::client::Options::default())),
        ("Signatures", shown(&castile_wss::Limits::default())),
    ]
}

/// Fields of these structures that aren't limits, or have their own table.
const NO_LIMITS: [&str; 8] =
    ["document", "messages", "local_address", "budget", "used", "credentials", "authentication", "proxies"];

/// Limits of the server whose fields have other names than their setters.
const METHODS: [(&str, &str); 8] = [
    ("header_read", "header_read_timeout"),
    ("write", "write_timeout"),
    ("keep_alive", "keep_alive_timeout"),
    ("requests", "max_requests_receiving"),
    ("bytes", "max_bytes_receiving"),
    ("requests_per_peer", "max_requests_receiving_per_peer"),
    ("connections_per_peer", "max_connections_per_peer"),
    ("limit", "disk_budget"),
];

#[test]
fn the_tables_of_limits_hold_the_defaults_of_the_code() {
    let document = read(&repository().join("docs/limits.md"));
    let mut wrong = Vec::new();
    for (heading, shown) in documented() {
        let table = table(&document, heading);
        let code = fields(&shown);
        for (name, value) in &code {
            match table.get(name) {
                None => wrong.push(format!("{heading}: {name} is missing, whose default is {value}")),
                Some(text) if quantity(text) != Some(*value) => {
                    wrong.push(format!("{heading}: {name} is {text:?} in the table, and {value} in the code"));
                }
                Some(_) => {}
            }
        }
        let unknown = table.keys().filter(|name| !code.contains_key(*name));
        wrong.extend(
            unknown.map(|name| format!("{heading}: {name} stands in the table, and the code has no such limit")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_of_fixed_limits_holds_the_constants_of_the_code() {
    let document = read(&repository().join("docs/limits.md"));
    let table = table(&document, "Fixed limits");
    assert!(!table.is_empty());
    for (place, text) in table {
        let (file, name) = place.split_once("` `").unwrap_or_else(|| panic!("{place:?} is no file and constant"));
        let source = read(&repository().join("crates").join(file));
        let definition = source.lines().find(|line| line.contains(&format!("const {name}:")));
        let definition = definition.unwrap_or_else(|| panic!("{file} has no constant {name}"));
        let value = definition.rsplit('=').next().unwrap_or_default().trim().trim_end_matches(';');
        assert_eq!(quantity(&text), Some(constant(value)), "{place} is {text:?} in the table, and {value} in the code");
    }
}

/// Finds limits that are missing in docs/limits.md. Constants that are named like limits but aren't limits are in a list, with an
/// explanation.
#[test]
fn each_constant_that_limits_is_in_the_table_of_fixed_limits() {
    const NAMES: [&str; 7] = ["MOST", "MAX", "LONGEST", "LARGEST", "DEEPEST", "LIMIT", "DEPTH"];
    let crates = repository().join("crates");
    let document = read(&repository().join("docs/limits.md"));
    let table = table(&document, "Fixed limits");
    let list = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/no_limits.tsv"));
    let rows = list.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>());
    let mut others: BTreeSet<(String, String)> = rows.map(|row| (row[0].to_owned(), row[1].to_owned())).collect();
    let mut missing = Vec::new();
    // Crates for tests and measurements have no users.
    let all = std::fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path());
    let all =
        all.filter(|path| !["fuzz", "suites", "interop", "corpus", "recipes"].iter().any(|name| path.ends_with(name)));
    for file in all.flat_map(|path| sources(&path.join("src"))) {
        let shown = file.strip_prefix(&crates).unwrap().display().to_string();
        for line in read(&file).lines() {
            let Some((before, definition)) = line.trim_start().split_once("const ") else { continue };
            let Some((name, of)) = definition.split_once(": ") else { continue };
            let is_number =
                ["usize", "u64", "u32", "u16", "f64", "Duration", "Limits"].iter().any(|one| of.starts_with(one));
            let is_limit = NAMES.iter().any(|one| name.starts_with(one)) && is_number;
            if !is_limit || !(before.is_empty() || before.starts_with("pub")) {
                continue;
            }
            let is_known = table.contains_key(&format!("{shown}` `{name}"));
            if !is_known && !others.remove(&(shown.clone(), name.to_owned())) {
                missing.push(format!("{shown} {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "docs/limits.md has no row of\n{}", missing.join("\n"));
    assert!(others.is_empty(), "tests/no_limits.tsv names what is not there: {others:?}");
}

/// New attacks once had no rows.
#[test]
fn each_attack_is_in_the_table_of_attacks() {
    let attacks = repository().join("tests/hostile/attacks");
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(attacks).unwrap() {
        let file = entry.unwrap().path();
        let group = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = read(&file);
        let named = text.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
        names.extend(named.map(|name| format!("{group}/{name}")));
    }
    let document = read(&repository().join("docs/limits.md"));
    let (_, section) = document.split_once("\n## What attacks cost\n").unwrap();
    let rows = section.lines().take_while(|line| !line.starts_with("## ")).filter_map(|line| line.strip_prefix("| "));
    let rows: BTreeSet<String> = rows.filter_map(|row| row.split_once(" |")).map(|(name, _)| name.to_owned()).collect();
    let missing: Vec<&String> = names.difference(&rows).collect();
    assert!(!names.is_empty() && missing.is_empty(), "docs/limits.md has no row of {missing:?}");
    let gone: Vec<&String> = rows.difference(&names).filter(|name| *name != "attack").collect();
    assert!(gone.is_empty(), "docs/limits.md has rows of attacks that are not there: {gone:?}");
}

/// Returns the Rust files in a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(sources(&path)),
            false if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
            false => {}
        }
    }
    files
}

fn shown(limits: &impl Debug) -> String {
    format!("{limits:#?}")
}

/// Returns the numbers and times in a structure, including nested ones, by name, in bytes and seconds. A disabled limit is infinite.
fn fields(shown: &str) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    let mut left_out = None;
    for line in shown.lines().skip(1) {
        let indent = line.len() - line.trim_start().len();
        if left_out.is_some_and(|outer| indent > outer) {
            continue;
        }
        let Some((name, value)) = line.trim().split_once(": ") else { continue };
        left_out = NO_LIMITS.contains(&name).then_some(indent);
        if left_out.is_none()
            && let Some(value) = debugged(value.trim_end_matches(','))
        {
            let method = METHODS.iter().find(|(field, _)| *field == name).map_or(name, |(_, method)| method);
            found.insert(method.to_owned(), value);
        }
    }
    found
}

/// Parses a number or time in `Debug` format: `16777216`, `30s`, `1.5ms`.
fn debugged(text: &str) -> Option<f64> {
    if text == "None" {
        return Some(f64::INFINITY);
    }
    let text = text.strip_prefix("Some(").map_or(text, |text| text.trim_end_matches(')'));
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
    let scale = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        _ => return None,
    };
    Some(number * scale)
}

/// Parses the value of a constant: `16 << 20`, `1_000`, `Duration::from_secs(10)`.
fn constant(text: &str) -> f64 {
    let text = text.replace('_', "");
    let number = |text: &str| text.trim().parse::<f64>().unwrap_or_else(|_| panic!("{text:?} is no number"));
    if let Some(seconds) = text.strip_prefix("Duration::fromsecs(") {
        return number(seconds.trim_end_matches(')'));
    }
    match text.split_once("<<") {
        Some((number_of, places)) => number(number_of) * number(places).exp2(),
        None => text.split('*').map(number).product(),
    }
}

/// Parses `10,000`, `16 MiB`, `100 B/s` or `30 s`, in bytes and seconds.
fn quantity(text: &str) -> Option<f64> {
    if text == "off" {
        return Some(f64::INFINITY);
    }
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number: f64 = number.replace(',', "").parse().ok()?;
    let scale = match unit.trim_end_matches("/s") {
        "" | "B" | "s" => 1.0,
        "ms" => 1e-3,
        "min" => 60.0,
        "KB" => 1e3,
        "MB" => 1e6,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => return None,
    };
    Some(number * scale)
}

/// Returns the first table below a heading: the name of each limit, and its default.
fn table(document: &str, heading: &str) -> BTreeMap<String, String> {
    let section = document.split("\n## ").find(|section| section.lines().next() == Some(heading));
    let section = section.unwrap_or_else(|| panic!("docs/limits.md has no section {heading:?}"));
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let name = cells.next().unwrap_or_default().trim_matches('`');
        (name.to_owned(), cells.next().unwrap_or_default().to_owned())
    })
    .collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
