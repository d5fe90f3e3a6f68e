//! What all commands that measure need: the end of an interrupted measurement, and the command line that repeats it.

use std::io::IsTerminal;

use anyhow::anyhow;
use castile_load::Interrupt;

use crate::{login, output, process};

/// On the first signal, ends the measurement and reports what was measured. On the second, ends immediately.
pub(crate) async fn interrupted(interrupt: &Interrupt) -> anyhow::Error {
    if let Err(error) = process::end_signal().await {
        return anyhow::Error::new(error).context("can't wait for signals");
    }
    interrupt.now();
    note_interrupted();
    match process::end_signal().await {
        Ok(()) => {
            end_line();
            anyhow!("interrupted twice, so nothing was reported")
        }
        Err(error) => anyhow::Error::new(error).context("can't wait for signals"),
    }
}

/// Says after the first signal how a measurement goes on.
pub(crate) fn note_interrupted() {
    end_line();
    note!("interrupted: reporting the results so far; interrupt again to stop without a report");
}

/// Ends the line of a terminal that has the live line and ^C.
pub(crate) fn end_line() {
    if std::io::stderr().is_terminal() {
        note!("");
    }
}

/// Returns the command line that repeats this measurement, without secrets.
pub(crate) fn own_command() -> String {
    let arguments = login::without_secrets(std::env::args().skip(1));
    let arguments = arguments.iter().map(|argument| output::shell_quoted(argument));
    std::iter::once("castile".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}
