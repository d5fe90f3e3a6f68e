//! The one binary.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod bench;
mod floor;
mod process;
mod serve;

/// Servers under test and the floor share the allocator, as all processes of this binary do.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// SOAP services in Rust: serve them, measure them.
#[derive(Parser)]
#[command(name = "castile", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Arguments),
    Bench(bench::Arguments),
    #[command(hide = true)]
    Floor(floor::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Serve(arguments) => serve::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Floor(arguments) => floor::run(arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
