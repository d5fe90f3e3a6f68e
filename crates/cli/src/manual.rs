//! Help with examples, shell completions, and manual pages. All are made from the same definition.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::CommandFactory;

use crate::{outcome, output};

/// Ends the program after a result of argument parsing: prints help and version to standard output, anything else as an error.
pub(crate) fn end(error: clap::Error) -> ExitCode {
    if error.use_stderr() {
        error.exit();
    }
    output::text(&error.render().ansi().to_string());
    ExitCode::SUCCESS
}

/// Removes hidden commands from the suggestions of an argument error.
pub(crate) fn without_hidden(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue};

    let all = crate::Arguments::command();
    let is_shown = |name: &String| all.get_subcommands().any(|one| one.get_name() == name && !one.is_hide_set());
    let names = match error.remove(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::String(name)) => vec![name],
        Some(ContextValue::Strings(names)) => names,
        _ => return error,
    };
    let shown: Vec<String> = names.into_iter().filter(is_shown).collect();
    if !shown.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(shown));
    }
    error
}

/// The number of commands whose first example is in the help of `castile` itself: those from `describe` to `bench`.
const IN_SUMMARY: usize = 12;

/// The maximum width of help lines, because longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// Examples for each command that isn't hidden.
const EXAMPLES: [(&str, &[&str]); 21] = [
    (
        "describe",
        &[
            "castile describe orders.wsdl",
            "castile describe orders.wsdl --operation GetOrder --documentation",
            "castile describe orders.wsdl --json",
            "castile describe orders.wsdl --cost",
        ],
    ),
    (
        "gen",
        &[
            "castile gen orders.wsdl -o src/contracts",
            "castile gen orders.wsdl -o - --client --operation GetOrder",
            "castile gen orders.castile -o src/orders.rs --facets --strict",
        ],
    ),
    (
        "bundle",
        &[
            "castile bundle orders.wsdl -o orders.castile --catalog catalog.xml",
            "castile bundle 'https://example.org/orders?wsdl' --fetch -o orders.castile",
        ],
    ),
    (
        "diff",
        &[
            "castile diff orders-1.wsdl orders-2.wsdl",
            "castile diff orders-1.castile orders-2.castile --lenient --fail-if old-clients",
            "castile diff orders-1.wsdl orders-2.wsdl --json",
        ],
    ),
    (
        "lint",
        &[
            "castile lint orders.wsdl",
            "castile lint orders.castile --allow R2706 --fail-if error",
            "castile lint orders.wsdl --json",
        ],
    ),
    (
        "call",
        &[
            "castile call orders.wsdl GetOrder orderId=7",
            "castile call orders.wsdl Place customer.name=Ann item[0].quantity=2",
            "castile call orders.castile GetOrder --json order.json --as-json",
            "castile call orders.wsdl GetOrder orderId=7 --dry-run",
            "castile call orders.wsdl GetOrder orderId=7 --save-request sent.xml",
            "castile call orders.wsdl GetOrder orderId=7 --user ann --password-file pw.txt",
        ],
    ),
    (
        "mock",
        &[
            "castile mock orders.wsdl",
            "castile mock orders.wsdl --latency 20ms..80ms --fault-rate 5%",
            "castile mock orders.wsdl --data answers --addr 127.0.0.1:8081",
            "castile mock orders.wsdl --data answers --lenient --access-log json",
        ],
    ),
    (
        "sample",
        &[
            "castile sample orders.wsdl GetOrder",
            "castile sample orders.wsdl GetOrder --response --json",
            "castile sample orders.wsdl Place --comments",
            "castile sample orders.castile --all -o samples",
        ],
    ),
    (
        "validate",
        &[
            "castile validate request.xml --contract orders.wsdl",
            "castile validate *.xml --contract orders.castile --response --json",
            "castile validate order.xml --contract orders.xsd",
            "castile sample orders.wsdl Place | castile validate - --contract orders.wsdl",
        ],
    ),
    (
        "sign",
        &[
            "castile sign invoice.xml --key key.pem --cert cert.pem -o signed.xml",
            "castile sign nfe.xml --key key.pem --cert cert.pem --id NFe1 --prefix=",
            "castile sign data.bin --key key.pem --detached data.bin",
        ],
    ),
    (
        "verify",
        &[
            "castile verify signed.xml --ca ca.pem",
            "castile verify *.xml --cert partner.pem --json",
            "castile verify data.sig --key public.pem --content data.bin=data.bin",
        ],
    ),
    (
        "sec",
        &[
            "castile sec explain message.xml --ca ca.pem",
            "castile sec explain message.mime --cert partner.pem",
            "castile sec explain message.xml --at 2026-11-30T12:00:00Z --json",
            "castile sec explain message.xml --canonical '#body-1'",
            "castile sec explain message.xml --expected '#body-1=sent.txt'",
        ],
    ),
    ("merge", &["castile merge shares.json --out report"]),
    ("locust-plugin", &["castile locust-plugin > castile.py"]),
    (
        "load",
        &[
            "castile load orders.wsdl --operation GetOrder --dry-run",
            "castile load orders.wsdl --operation GetOrder --users 16 --duration 1m",
            "castile load orders.wsdl --operation GetOrder --rate 600/min --out report",
            "castile load orders.wsdl --operation GetOrder --users 1 --until 'p99>50ms'",
            "castile load orders.wsdl --operation GetOrder --template a.xml --feed a.csv",
            "castile load orders.wsdl --operation GetOrder --locust master.example",
        ],
    ),
    (
        "serve",
        &[
            "castile serve",
            "castile serve --addr 0.0.0.0:8080 --host orders.example.org",
            "castile serve --tls-cert a.pem --tls-key a.key --client-ca ca.pem",
            "castile serve --metrics --access-log json",
            "castile serve --tls-cert a.pem --tls-key a.key --auth basic --users users.txt",
            "castile serve --proxy-header x-forwarded-for --trusted-proxy 10.0.0.0/24",
        ],
    ),
    (
        "bench",
        &[
            "castile bench wstest",
            "castile bench wstest --op GetOrder --method closed --runs 6",
            "castile bench --profile standard --out before",
            "castile bench wstest --fail-if 'p99>20ms' --junit results.xml",
            "castile bench wstest --op EchoVoid --tls --no-keepalive --full-handshakes",
        ],
    ),
    (
        "report",
        &[
            "castile report castile-report",
            "castile report before after -o compared",
            "castile report before --markdown",
        ],
    ),
    ("peers", &["castile peers", "castile peers build cxf", "castile peers check cxf"]),
    (
        "completions",
        &[
            "castile completions bash > ~/.local/share/bash-completion/completions/castile",
            "castile completions zsh > ~/.zfunc/_castile",
            "castile completions fish > ~/.config/fish/completions/castile.fish",
        ],
    ),
    ("man", &["castile man load", "castile man --out ~/.local/share/man/man1"]),
];

/// Returns the definition of all commands, with their examples and exit codes.
pub(crate) fn command() -> clap::Command {
    // A negative number is reported as a wrong number, not as an unknown option.
    let command = crate::Arguments::command().mut_subcommands(|one| {
        one.mut_args(|argument| match argument.get_action().takes_values() {
            true => argument.allow_negative_numbers(true),
            false => argument,
        })
    });
    // A build without the feature `contracts` has fewer commands.
    let examples = EXAMPLES.iter().filter(|(name, _)| command.find_subcommand(name).is_some());
    let examples: Vec<_> = examples.collect();
    let command = examples.iter().fold(command, |command, (name, examples)| {
        let is_taken = |example: &&str| cfg!(feature = "tls") || !example.contains(" --tls");
        let examples = listed(examples.iter().copied().filter(is_taken));
        let at_length = format!("{examples}\n\n{}", outcome::EXIT_CODES);
        command.mut_subcommand(name, |one| one.after_help(examples).after_long_help(at_length))
    });
    let first = examples.iter().take(IN_SUMMARY).filter_map(|(_, examples)| examples.first().copied());
    let examples = listed(first);
    command.max_term_width(MAX_WIDTH).after_help(format!("{examples}\n\n{}", outcome::EXIT_CODES))
}

fn listed(examples: impl Iterator<Item = &'static str>) -> String {
    std::iter::once("Examples:").chain(examples).collect::<Vec<_>>().join("\n  ")
}

/// The text after the functions of a script for zsh.
const ZSH_END: &str = "\nif [ \"$funcstack[1]\"";

/// Write the completions for a shell to standard output
#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

impl Completions {
    /// Writes the completions.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut visible(), "castile", &mut text);
        let mut text = String::from_utf8(text).context("the completions are no text")?;
        if self.shell == clap_complete::Shell::Zsh {
            // The end registers clap's completion function; ours registers another.
            let end = text.rfind(ZSH_END).context("found another end of zsh's completions than was expected")?;
            text.truncate(end);
        }
        text += match self.shell {
            clap_complete::Shell::Bash => include_str!("contracts/complete/castile.bash"),
            clap_complete::Shell::Fish => include_str!("contracts/complete/castile.fish"),
            clap_complete::Shell::Zsh => include_str!("contracts/complete/castile.zsh"),
            _ => "",
        };
        output::text(&text);
        Ok(())
    }
}

/// Write the manual page of a command to standard output, or all pages to a folder
#[derive(clap::Args)]
pub(crate) struct Man {
    /// The command [default: castile itself]
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    names: Vec<String>,
    /// Write the pages of all commands to this folder
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    /// Writes the pages.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut command = visible().disable_help_subcommand(true);
        command.build();
        if let Some(folder) = &self.out {
            outcome::expect_folder(folder)?;
            let pages = pages(&command, folder)?;
            // Nothing is written if any page would replace a foreign file.
            let is_own = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("\n.TH castile");
            pages.iter().try_for_each(|(path, _)| castile_report::expect_own(path, is_own))?;
            outcome::make_folder(folder)?;
            for (path, text) in pages {
                outcome::list(&[outcome::write(&path, &text).map_err(outcome::incomplete)?]);
            }
            return Ok(());
        }
        let mut chosen = &command;
        for name in &self.names {
            let Some(found) = chosen.find_subcommand(name) else {
                let known: Vec<&str> = chosen.get_subcommands().map(clap::Command::get_name).collect();
                match known.is_empty() {
                    true => bail!("found command {name:?} of {}, which has no commands", chosen.get_name()),
                    false => bail!("found command {name:?}, expected one of {}", known.join(", ")),
                }
            };
            chosen = found;
        }
        output::text(&page(chosen)?);
        Ok(())
    }
}

/// Returns the pages of a command and all its subcommands, each with its path.
fn pages(command: &clap::Command, folder: &Path) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let mut pages = vec![(folder.join(format!("{name}.1")), page(command)?)];
    for one in command.get_subcommands() {
        pages.extend(self::pages(one, folder)?);
    }
    Ok(pages)
}

/// Renders a page as roff.
fn page(command: &clap::Command) -> anyhow::Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    String::from_utf8(text).context("the page is no text")
}

/// Returns the definition without hidden commands.
fn visible() -> clap::Command {
    let all = command();
    let shown: Vec<_> = all.get_subcommands().filter(|one| !one.is_hide_set()).cloned().collect();
    clap::Command::new("castile")
        .version(env!("CARGO_PKG_VERSION"))
        .about(all.get_about().cloned().unwrap_or_default())
        .after_help(all.get_after_help().cloned().unwrap_or_default())
        .subcommands(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_examples_that_it_takes() {
        let all = command();
        let commands = all.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name);
        let commands: Vec<_> = commands.collect();
        match cfg!(feature = "contracts") {
            true => assert_eq!(commands, EXAMPLES.map(|(name, _)| name)),
            false => assert!(!commands.is_empty()),
        }
        for (name, examples) in EXAMPLES.into_iter().filter(|(name, _)| commands.contains(name)) {
            for example in examples.iter().filter(|example| cfg!(feature = "tls") || !example.contains(" --tls")) {
                let typed = example.rsplit(" | ").next().unwrap_or_default();
                let typed = typed.split(" > ").next().unwrap_or_default();
                let words: Vec<_> = typed.split(' ').map(|word| word.trim_matches('\'')).collect();
                assert_eq!(words[..2], ["castile", name]);
                if let Err(error) = command().try_get_matches_from(words) {
                    panic!("{example}: {error}");
                }
            }
        }
    }
}
