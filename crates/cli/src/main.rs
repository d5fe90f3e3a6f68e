//! The `castile` binary.

// All output goes through the macros of `output`, which handle a closed standard output.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

use std::process::ExitCode;

use clap::{FromArgMatches, Parser, Subcommand};

#[macro_use]
mod output;

mod bench;
mod build;
mod bundle;
mod call;
mod cases;
#[cfg(test)]
mod changed;
mod client;
mod complete;
mod contract;
mod describe;
mod diff;
mod envelope;
mod expression;
mod fetch;
mod floor;
mod generate;
mod indented;
mod lint;
mod load;
mod login;
mod manual;
mod measurement;
mod mock;
mod outcome;
mod path;
mod peers;
mod problems;
mod process;
mod quakes;
mod quantity;
mod report;
mod sample;
mod serve;
mod server;
mod shape;
mod size;
mod source;
mod template;
mod tls;
mod typed;
mod users;
mod validate;

/// SOAP services in Rust: inspect contracts, generate code, call, mock and serve services, and measure them
#[derive(Parser)]
#[command(name = "castile", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Describe(describe::Arguments),
    Gen(generate::Arguments),
    Bundle(bundle::Arguments),
    Diff(diff::Arguments),
    Lint(lint::Arguments),
    Call(Box<call::Arguments>),
    Mock(Box<mock::Arguments>),
    Sample(sample::Arguments),
    Validate(validate::Arguments),
    Serve(serve::Arguments),
    Bench(Box<bench::Arguments>),
    Report(report::Arguments),
    Load(Box<load::Arguments>),
    Peers(peers::Arguments),
    Completions(manual::Completions),
    Man(manual::Man),
    #[command(hide = true)]
    Complete(complete::Arguments),
    #[command(hide = true)]
    Floor(floor::Arguments),
    /// Write the generated quakes of the seismic suite, for third-party services
    #[command(hide = true)]
    Quakes,
    #[command(hide = true)]
    Client(client::Arguments),
}

fn main() -> ExitCode {
    let matches = match manual::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return outcome::end(manual::end(manual::without_hidden(error))),
    };
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    outcome::end(run(arguments.command))
}

fn run(command: Command) -> ExitCode {
    let result = match command {
        Command::Describe(arguments) => describe::run(arguments),
        Command::Gen(arguments) => generate::run(arguments),
        Command::Bundle(arguments) => bundle::run(arguments),
        Command::Diff(arguments) => return diff::run(&arguments),
        Command::Lint(arguments) => return lint::run(&arguments),
        Command::Call(arguments) => return call::run(&arguments),
        Command::Mock(arguments) => match mock::run(*arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Sample(arguments) => sample::run(arguments),
        Command::Validate(arguments) => return validate::run(&arguments),
        Command::Serve(arguments) => match serve::run(arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Bench(arguments) => return bench::run(&arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Load(arguments) => return load::run(&arguments),
        Command::Peers(arguments) => peers::run(arguments),
        Command::Completions(arguments) => arguments.run(),
        Command::Man(arguments) => arguments.run(),
        Command::Complete(arguments) => {
            complete::run(&arguments);
            Ok(())
        }
        Command::Floor(arguments) => floor::run(arguments),
        Command::Quakes => {
            quakes::run();
            Ok(())
        }
        Command::Client(arguments) => client::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            outcome::tell("error", problems::in_full(&error));
            ExitCode::from(outcome::code_of(&error))
        }
    }
}
