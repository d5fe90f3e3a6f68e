//! Help, completions and manual pages.
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::process::{Command, Output};

const COMMANDS: [&str; 21] = [
    "describe",
    "gen",
    "bundle",
    "diff",
    "lint",
    "call",
    "mock",
    "sample",
    "validate",
    "serve",
    "sign",
    "verify",
    "sec",
    "bench",
    "report",
    "load",
    "merge",
    "locust-plugin",
    "peers",
    "completions",
    "man",
];
const HIDDEN: [&str; 4] = ["complete", "floor", "quakes", "client"];

/// The completions of bash for a line with the cursor at its end.
#[cfg(unix)]
#[test]
fn bash_completes_what_the_contract_has() {
    let script = r#"
        source <("$1" completions bash)
        castile() { "$castile" "$@"; }
        castile=$1
        COMP_LINE=$2 COMP_POINT=${#2}
        read -r -a COMP_WORDS <<< "$2"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _castile_of_contract castile "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2> /dev/null
        echo "${COMPREPLY[*]}""#;
    for (line, expected) in [
        ("castile call orders.wsdl Pl", "Place"),
        ("castile call orders.wsdl Place item.", "item.name= item.quantity="),
        ("castile sample orders.wsdl C", "Count"),
        ("castile val", "validate"),
    ] {
        let mut bash = Command::new("bash");
        bash.args(["-c", script, "bash", env!("CARGO_BIN_EXE_castile"), line]);
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/validate");
        let output = bash.current_dir(folder).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), expected, "{line}");
    }
}

fn castile(arguments: &[&str], columns: usize) -> Output {
    let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
    castile.args(arguments).env("COLUMNS", columns.to_string()).output().unwrap()
}

fn told(arguments: &[&str], columns: usize) -> String {
    let output = castile(arguments, columns);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Descriptions were once lines of up to 140 columns, which a terminal broke anywhere.
#[test]
fn help_fits_the_terminal_and_ends_with_examples() {
    for command in COMMANDS {
        for (option, columns) in [("-h", 80), ("--help", 80), ("--help", 100), ("--help", 200)] {
            let help = told(&[command, option], columns);
            let widest = help.lines().max_by_key(|line| line.chars().count()).unwrap();
            assert!(widest.chars().count() <= columns.min(100), "{command} {option} at {columns}: {widest:?}");
            let (_, end) = help.split_once("\nExamples:\n").unwrap();
            assert!(end.starts_with(&format!("  castile {command}")), "{end}");
            assert_eq!(end.contains("Exit codes of all commands:"), option == "--help", "{end}");
            assert!(end.lines().all(|line| line.is_empty() || line.starts_with(' ') || line.ends_with(':')), "{end}");
            let begins = |line: &str| line.starts_with("  castile ") || line.as_bytes()[2].is_ascii_digit();
            assert!(end.lines().filter(|line| line.starts_with(' ')).all(begins), "nothing is wrapped: {end}");
        }
    }
    let all = told(&["--help"], 80);
    assert!(all.contains("\nExamples:\n  castile describe") && all.contains("\n  3  it did not finish"), "{all}");
    assert!(HIDDEN.iter().all(|name| !all.contains(&format!("\n  {name} "))), "{all}");
}

#[test]
fn shells_complete_what_a_person_calls() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let completions = told(&["completions", shell], 80);
        for command in COMMANDS {
            assert!(completions.contains(command), "{shell}: {command}");
        }
        assert!(completions.contains("fail-if"), "{shell}");
        for hidden in ["HTTP alone", "castile__floor", "castile,floor", "quakes that are made up for"] {
            assert!(!completions.contains(hidden), "{shell} completes what only the program calls: {hidden}");
        }
    }
    assert_eq!(castile(&["completions", "dos"], 80).status.code(), Some(2));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("man1");
    let listed = told(&["man", "--out", out.to_str().unwrap()], 80);
    let mut names: Vec<_> =
        std::fs::read_dir(&out).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut expected: Vec<_> = COMMANDS.iter().map(|name| format!("castile-{name}.1")).collect();
    expected.extend(["build", "check", "clients", "list"].map(|name| format!("castile-peers-{name}.1")));
    expected.push("castile-sec-explain.1".to_owned());
    expected.push("castile.1".to_owned());
    expected.sort();
    assert_eq!((names, listed.lines().count()), (expected.clone(), expected.len()));
    let page = std::fs::read_to_string(out.join("castile-load.1")).unwrap();
    assert_eq!(page, told(&["man", "load"], 80));
    assert!(page.contains(".SH NAME\ncastile\\-load \\- ") && page.contains("it did not finish"), "{page}");
    let unknown = castile(&["man", "floor"], 80);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("expected one of describe, gen"));
}

/// `floor` was once suggested, which no help lists.
#[test]
fn hidden_options_are_not_completed() {
    let suggested = |given: &str| String::from_utf8(castile(&[given], 100).stderr).unwrap();
    let (of_hidden, of_shown) = (suggested("foo"), suggested("benc"));
    assert!(of_hidden.contains("unrecognized subcommand 'foo'") && !of_hidden.contains("floor"), "{of_hidden}");
    assert!(of_shown.contains("'bench'"), "{of_shown}");
}
