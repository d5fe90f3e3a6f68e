//! Standard output and standard error, for all commands.
//!
//! A reader of the output may close it early. Further output is then dropped, and the command continues: a measurement is still judged and
//! written to files. Any other failure, such as a full disk, is reported as an error at the end.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

use anyhow::Context;
use castile_xml::{changes_direction, visible_lines};
use serde::Serialize;

use crate::indented;

/// The first failure to print other than a closed output.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Prints a line to standard output.
macro_rules! out {
    ($($what:tt)*) => { $crate::output::line(format_args!($($what)*)) };
}

/// Prints a line to standard error.
macro_rules! note {
    ($($what:tt)*) => { $crate::output::note_line(format_args!($($what)*)) };
}

/// Prints a text to standard output unchanged.
pub(crate) fn text(text: &str) {
    with(|output| output.write_all(text.as_bytes()));
}

/// Prints foreign bytes to standard output: unchanged, or in a terminal as text whose control characters are escaped.
pub(crate) fn bytes(bytes: &[u8]) {
    match io::stdout().is_terminal() {
        true => line(format_args!("{}", visible_lines(&String::from_utf8_lossy(bytes)))),
        // Not through `anstream`, which would leave control characters out.
        false => to(&mut io::stdout().lock(), |output| output.write_all(bytes)),
    }
}

/// Prints to standard output what `write` writes.
pub(crate) fn with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    to(&mut anstream::stdout().lock(), write);
}

fn to(output: &mut dyn Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let written = write(output).and_then(|()| output.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        // Only the first failure is reported.
        let _ = FAILURE.set(error);
    }
}

/// Returns the first failure to print, other than a closed output.
pub(crate) fn failure() -> Option<&'static io::Error> {
    FAILURE.get()
}

/// Prints a line to standard output; [`out!`] calls it.
pub(crate) fn line(what: Arguments<'_>) {
    with(|output| writeln!(output, "{what}"));
}

/// Prints a line to standard error; [`note!`] calls it. A failure can't be reported anywhere.
pub(crate) fn note_line(what: Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "{what}");
}

/// Serializes to JSON. Control and bidirectional characters, which could affect a terminal, are written as JSON escapes; they only occur in
/// strings.
pub(crate) fn json(what: &impl Serialize) -> anyhow::Result<String> {
    let text = indented::json(what).context("can't write JSON")? + "\n";
    let is_raw =
        |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{2028}' | '\u{2029}') || changes_direction(c);
    if !text.contains(is_raw) {
        return Ok(text);
    }
    let escape = |c: char| if is_raw(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Ok(text.chars().map(escape).collect())
}

/// Quotes an argument for a shell.
pub(crate) fn shell_quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    match argument.chars().all(plain) && !argument.is_empty() {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}
