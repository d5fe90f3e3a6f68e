//! The commands of the `castile` binary. It is a library only so that it is compiled while crates below it still are.

// All output goes through the macros of `output`, which handle a closed standard output.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
// Without the commands that read a contract, parts of what all commands share have no caller.
#![cfg_attr(not(feature = "contracts"), allow(dead_code))]

use std::process::ExitCode;

use clap::{FromArgMatches, Parser, Subcommand};

#[macro_use]
mod output;

mod bench;
mod build;
mod cases;
mod client;
#[cfg(feature = "contracts")]
mod contracts;
mod driver;
mod errors;
mod floor;
mod indented;
mod login;
mod manual;
mod measurement;
#[cfg(test)]
mod mutations;
mod outcome;
#[cfg(feature = "contracts")]
mod package;
mod peers;
mod process;
mod quakes;
mod quantity;
mod report;
mod serve;
mod server;
#[cfg(feature = "contracts")]
mod signatures;
#[cfg_attr(not(feature = "tls"), path = "without_tls.rs")]
mod tls;
mod users;

/// SOAP services in Rust: inspect contracts, generate code, call, mock and serve services, and measure them
#[derive(Parser)]
#[command(name = "castile", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "contracts")]
    #[command(flatten)]
    Contracts(contracts::Command),
    Serve(serve::Arguments),
    #[cfg(feature = "contracts")]
    Sign(Box<signatures::sign::Arguments>),
    #[cfg(feature = "contracts")]
    Verify(signatures::verify::Arguments),
    #[cfg(feature = "contracts")]
    Sec(Box<signatures::explain::Security>),
    Bench(Box<bench::Arguments>),
    Report(report::Arguments),
    Peers(peers::Arguments),
    Completions(manual::Completions),
    Man(manual::Man),
    #[command(hide = true)]
    Floor(floor::Arguments),
    /// Write the generated quakes of the seismic suite, for third-party services
    #[command(hide = true)]
    Quakes,
    #[command(hide = true)]
    Client(client::Arguments),
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let matches = match manual::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return outcome::end(manual::end(manual::without_hidden(error))),
    };
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    outcome::end(run(arguments.command))
}

fn run(command: Command) -> ExitCode {
    let result = match command {
        #[cfg(feature = "contracts")]
        Command::Contracts(command) => match command.run() {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Serve(arguments) => match serve::run(arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        #[cfg(feature = "contracts")]
        Command::Sign(arguments) => signatures::sign::run(&arguments),
        #[cfg(feature = "contracts")]
        Command::Verify(arguments) => return signatures::verify::run(&arguments),
        #[cfg(feature = "contracts")]
        Command::Sec(security) => return signatures::explain::run(&security),
        Command::Bench(arguments) => return bench::run(&arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Peers(arguments) => peers::run(arguments),
        Command::Completions(arguments) => arguments.run(),
        Command::Man(arguments) => arguments.run(),
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
            outcome::print_message("error", errors::in_full(&error));
            ExitCode::from(outcome::code_of(&error))
        }
    }
}
