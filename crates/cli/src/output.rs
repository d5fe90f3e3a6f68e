//! Standard output and standard error, for all commands.
//!
//! Whoever reads them may have seen enough and go away. What is printed then is dropped, and the command goes on: a measurement is
//! still judged and written into files. Any other failure to print, such as a full disk, is an error at the end.

use std::fmt::Arguments;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// The first failure to print that is not a reader who went away.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Prints a line on standard output.
macro_rules! out {
    ($($what:tt)*) => { $crate::output::line(format_args!($($what)*)) };
}

/// Prints a line on standard error.
macro_rules! note {
    ($($what:tt)*) => { $crate::output::note_line(format_args!($($what)*)) };
}

/// Prints a text on standard output, as it is.
pub(crate) fn text(text: &str) {
    with(|output| output.write_all(text.as_bytes()));
}

/// Prints what `write` writes on standard output.
pub(crate) fn with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
    let mut output = anstream::stdout().lock();
    let written = write(&mut output).and_then(|()| output.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        // A second failure says nothing new.
        let _ = FAILURE.set(error);
    }
}

/// What [`out!`] calls.
pub(crate) fn line(what: Arguments<'_>) {
    with(|output| writeln!(output, "{what}"));
}

/// What [`note!`] calls. There is nowhere to tell that standard error can't be written.
pub(crate) fn note_line(what: Arguments<'_>) {
    let _ = writeln!(anstream::stderr(), "{what}");
}

/// The exit code of a command: `code`, unless its output is not complete for a reason that matters.
pub(crate) fn end(code: ExitCode) -> ExitCode {
    let Some(error) = FAILURE.get() else { return code };
    let style = crate::problems::ERROR;
    note!("{style}error{style:#}: can't write to standard output: {error}");
    // What came out wrong was not told either.
    let has_judged = [ExitCode::SUCCESS, ExitCode::from(crate::outcome::FAILED)].contains(&code);
    if has_judged { ExitCode::from(crate::outcome::INCOMPLETE) } else { code }
}

/// A name of a contract as that of a file, which leads to no other folder.
pub(crate) fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    match plain.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => plain,
    }
}

/// An argument as a shell takes it, whatever is in it.
pub(crate) fn shell_quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    match argument.chars().all(plain) && !argument.is_empty() {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', r"'\''")),
    }
}
