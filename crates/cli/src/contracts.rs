//! The commands that read a contract.

mod bundle;
mod call;
mod complete;
mod contract;
mod describe;
mod diff;
mod envelope;
mod expression;
mod fetch;
mod generate;
mod lint;
pub(crate) mod load;
mod mock;
mod path;
mod problems;
mod sample;
mod shape;
mod size;
mod source;
mod template;
mod typed;
mod validate;

use std::process::ExitCode;

use clap::Subcommand;

/// The namespace of WS-Security's header block.
const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";

#[derive(Subcommand)]
pub(crate) enum Command {
    Describe(describe::Arguments),
    Gen(generate::Arguments),
    Bundle(bundle::Arguments),
    Diff(diff::Arguments),
    Lint(lint::Arguments),
    Call(Box<call::Arguments>),
    Mock(Box<mock::Arguments>),
    Sample(sample::Arguments),
    Validate(validate::Arguments),
    Load(Box<load::Arguments>),
    Merge(load::merge::Arguments),
    LocustPlugin(load::locust::Plugin),
    #[command(hide = true)]
    Complete(complete::Arguments),
}

impl Command {
    /// Runs the command and returns its exit code.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Describe(arguments) => describe::run(arguments)?,
            Self::Gen(arguments) => generate::run(arguments)?,
            Self::Bundle(arguments) => bundle::run(arguments)?,
            Self::Diff(arguments) => return Ok(diff::run(&arguments)),
            Self::Lint(arguments) => return Ok(lint::run(&arguments)),
            Self::Call(arguments) => return Ok(call::run(&arguments)),
            Self::Mock(arguments) => return mock::run(*arguments),
            Self::Sample(arguments) => sample::run(arguments)?,
            Self::Validate(arguments) => return Ok(validate::run(&arguments)),
            Self::Load(arguments) => return Ok(load::run(&arguments)),
            Self::Merge(arguments) => return Ok(load::merge::run(&arguments)),
            Self::LocustPlugin(plugin) => plugin.run(),
            Self::Complete(arguments) => complete::run(&arguments),
        }
        Ok(ExitCode::SUCCESS)
    }
}
