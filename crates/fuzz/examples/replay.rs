//! Runs a check once on each file in the given directories: `replay TARGET DIRECTORY…`. `fuzz/run --coverage` uses it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(check) = castile_fuzz::CHECKS.into_iter().find(|check| check.name == name) else {
        let names = castile_fuzz::CHECKS.map(|check| check.name).join(", ");
        eprintln!("found {name:?}, expected one of {names}");
        return ExitCode::FAILURE;
    };
    for directory in arguments {
        let files = match std::fs::read_dir(&directory) {
            Ok(files) => files,
            Err(error) => {
                eprintln!("{directory}: {error}");
                return ExitCode::FAILURE;
            }
        };
        for file in files.flatten() {
            if let Ok(input) = std::fs::read(file.path()) {
                (check.run)(&input);
            }
        }
    }
    ExitCode::SUCCESS
}
