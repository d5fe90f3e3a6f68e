//! Writes the report of a bench that never was, with everything a report can hold: `sample_report DIRECTORY`.
//! `tests/report/run` looks at it in a browser.

#[path = "../tests/support/sample.rs"]
mod sample;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args_os().nth(1).ok_or("expected a directory")?;
    for file in sample::results().write(directory.as_ref())? {
        println!("{}", file.display());
    }
    Ok(())
}
