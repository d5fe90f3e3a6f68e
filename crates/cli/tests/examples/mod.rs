//! Tests by example: files that hold a command and all that it prints.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs the command of each `.txt` in a folder and compares what it prints; `BLESS=1` writes the files anew.
///
/// The first line of a file is `$ castile COMMAND ARGUMENTS`; what follows is standard output, then standard error, then the exit
/// code. A `text` that stands for another one, as the address of a server, is replaced in the arguments, and back in what is printed.
pub(crate) fn check(folder: &str, replaced: &[(&str, &str)]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert!(!files.is_empty(), "{} has no example", folder.display());
    let mut different = Vec::new();
    for file in files {
        let expected = std::fs::read_to_string(&file).unwrap();
        let (first, _) = expected.split_once('\n').unwrap_or((&expected, ""));
        let arguments = first.strip_prefix("$ castile ").unwrap_or_else(|| panic!("{}: {first}", file.display()));
        let meant = |word: String| replaced.iter().fold(word, |word, (text, value)| word.replace(text, value));
        let arguments: Vec<String> = words(arguments).into_iter().map(meant).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
        let output = command.args(&arguments).current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        let shown = |text: Vec<u8>| {
            let text = String::from_utf8(text).unwrap();
            replaced.iter().fold(text, |text, (name, value)| text.replace(value, name))
        };
        let (told, noted) = (shown(output.stdout), shown(output.stderr));
        let found = format!("{first}\n{told}{noted}exit code {}\n", output.status.code().unwrap());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &found).unwrap();
        } else if found != expected {
            different.push(format!("{}:\n{found}", file.display()));
        }
    }
    assert!(different.is_empty(), "BLESS=1 writes them anew\n{}", different.join("\n"));
}

/// The words of a shell, of which those in quotes may have blanks.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in text.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}
