//! `castile lint`: finds errors in a contract, violations of the Basic Profile, constructs that other stacks have problems with, and weak
//! algorithms in its policies.

mod bindings;
mod contract;
mod documents;
mod findings;
mod messages;
mod policies;
mod rules;
mod schemas;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use castile_wsdl::{Definitions, Severity};
use clap::ValueEnum;

use crate::contracts::{problems, source};
use crate::{outcome, output};
use contract::{Documents, Parts};
use findings::Findings;

/// Find errors in a contract, constructs that other SOAP stacks have problems with, and weak policies
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract: a WSDL 1.1 file or a bundle; `-` is standard input
    #[arg(value_name = "WSDL")]
    wsdl: PathBuf,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// Ignore findings of this rule, such as R2706; may be repeated. docs/lint.md lists the rules
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Show each finding in full. By default, only the first finding of each rule is shown in full, with the places of the others
    #[arg(long)]
    all: bool,
    /// Write JSON; docs/lint.md explains it
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    /// Print nothing and only set the exit code
    #[arg(short, long)]
    quiet: bool,
    /// The lowest severity that makes the exit code 1
    #[arg(long = "fail-if", value_name = "SEVERITY", default_value = "warning")]
    fail_if: MinSeverity,
}

/// The lowest severity of findings that fail the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MinSeverity {
    Error,
    Warning,
    Note,
}

/// Checks the contract and prints the findings.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    outcome::run(check(arguments).map(Some), Ok)
}

fn check(arguments: &Arguments) -> anyhow::Result<u8> {
    expect_rules(&arguments.allow)?;
    let (path, files) = arguments.catalogs.contract(&arguments.wsdl)?;
    let shown = path.display().to_string();
    let (definitions, diagnostics) = castile_wsdl::open(&path, &files);
    let Some(definitions) = definitions else {
        problems::report(&shown, &diagnostics, Severity::Error)?;
        bail!("{shown} can't be read");
    };
    let documents = Documents::of(&definitions);
    let mut findings = Findings::new(&definitions.sources, &arguments.allow);
    diagnostics.into_iter().for_each(|diagnostic| findings.problem(diagnostic));
    find(&definitions, &documents, &mut findings);
    findings.finish();
    let [errors, warnings, notes] = findings.totals();
    if !arguments.quiet {
        let text = match arguments.json {
            true => output::json(&show::report(&findings, &shown))?,
            false => show::text(&findings, &shown, arguments.all),
        };
        output::text(&text);
    }
    let fails = match arguments.fail_if {
        MinSeverity::Error => errors,
        MinSeverity::Warning => errors + warnings,
        MinSeverity::Note => errors + warnings + notes,
    };
    Ok(u8::from(fails > 0))
}

fn find(definitions: &Definitions, documents: &Documents, findings: &mut Findings<'_>) {
    let parts = Parts::of(documents);
    documents::check(definitions, documents, findings);
    schemas::check(documents, findings);
    messages::check(documents, &parts, findings);
    bindings::check(definitions, documents, &parts, findings);
    policies::check(definitions, findings);
}

/// Returns an error if `allowed` contains an unknown rule, which is likely a typo.
fn expect_rules(allowed: &[String]) -> anyhow::Result<()> {
    let known = || rules::ALL.iter().map(|rule| rule.id).chain(rules::FRONT_END.iter().map(|(id, _)| *id));
    let Some(id) = allowed.iter().find(|id| known().all(|known| known != **id)) else { return Ok(()) };
    let meant = match castile_xsd::similar(id, known(), 1).first() {
        Some(meant) => format!("did you mean {meant}?"),
        None => "expected a rule of docs/lint.md, such as R2706".to_owned(),
    };
    bail!("there is no rule {id:?}: {meant}")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use castile_wsdl::Severity;

    use super::rules;

    /// The rule names of the front end are string literals in its code.
    #[test]
    fn the_rules_of_the_front_end_are_known() {
        fn read(folder: &Path, text: &mut String) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => read(&path, text),
                    false => *text += &std::fs::read_to_string(&path).unwrap(),
                }
            }
        }
        let mut text = String::new();
        for code in ["../xsd/src", "../wsdl/src"] {
            read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(code), &mut text);
        }
        for (rule, _) in rules::FRONT_END.iter().filter(|(rule, _)| *rule != rules::CONTRACT) {
            assert!(text.contains(&format!("{rule:?}")), "the front end has no rule {rule:?}");
        }
        for rest in text.split("with_rule(\"").skip(1) {
            let rule = rest.split('"').next().unwrap();
            let is_known = rules::FRONT_END.iter().any(|(known, _)| *known == rule) || rules::find(rule).is_some();
            assert!(is_known, "--allow takes no {rule:?}");
        }
    }

    /// Each rule has a case that shows it, and docs/lint.md describes it as the code does.
    #[test]
    fn every_rule_is_tested_and_documented() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let page = std::fs::read_to_string(root.join("../../docs/lint.md")).unwrap();
        let mut rows = Vec::new();
        for rule in rules::ALL {
            let severity = match rule.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            };
            rows.push(format!("| {} | {severity} | {} | {} |", rule.id, rule.meaning, rule.mend));
            if rule.id != rules::LIMIT.id {
                let case = root.join("tests/lint").join(rule.id).join("expected.txt");
                let shown = std::fs::read_to_string(&case).unwrap_or_default();
                assert!(shown.contains(&format!("{severity}[{}]: ", rule.id)), "no case shows {}", rule.id);
            }
        }
        let (_, rules) = page.split_once("## Rules").unwrap();
        let (rules, _) = rules.split_once("\n## JSON").unwrap();
        let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| rule");
        let documented: Vec<&str> = rules.lines().filter(is_row).collect();
        assert_eq!(documented, rows, "docs/lint.md is to have these rows:\n{}", rows.join("\n"));
    }
}
