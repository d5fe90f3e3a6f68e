//! The one binary.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[macro_use]
mod output;

mod bench;
mod bundle;
mod client;
mod describe;
mod fetch;
mod floor;
mod generate;
mod load;
mod outcome;
mod peers;
mod problems;
mod process;
mod quakes;
mod quantity;
mod report;
mod serve;
mod source;

/// Servers under test and the floor share the allocator, as all processes of this binary do.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// SOAP services in Rust: look at their contracts, generate their code, serve them, measure them.
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
    Serve(serve::Arguments),
    Bench(Box<bench::Arguments>),
    Report(report::Arguments),
    Load(Box<load::Arguments>),
    Peers(peers::Arguments),
    #[command(hide = true)]
    Floor(floor::Arguments),
    /// Write the quakes that are made up for the seismic suite, for services that others wrote
    #[command(hide = true)]
    Quakes,
    #[command(hide = true)]
    Client(client::Arguments),
}

fn main() -> ExitCode {
    output::end(run(Arguments::parse().command))
}

fn run(command: Command) -> ExitCode {
    let result = match command {
        Command::Describe(arguments) => describe::run(arguments),
        Command::Gen(arguments) => generate::run(arguments),
        Command::Bundle(arguments) => bundle::run(arguments),
        Command::Serve(arguments) => match serve::run(arguments) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Bench(arguments) => return bench::run(&arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Load(arguments) => return load::run(&arguments),
        Command::Peers(arguments) => peers::run(arguments),
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
            let style = problems::ERROR;
            // An error may quote a contract, a peer or a file name.
            let text = format!("{error:#}");
            note!("{style}error{style:#}: {}", castile_xml::visible_lines(&text));
            ExitCode::FAILURE
        }
    }
}
