//! Compares Castile's tokeniser and decoder with other libraries, on the same documents, in one run, in one
//! table.
//!
//! ```text
//! cargo run --release --manifest-path compare/Cargo.toml [-- --quick]
//! ```

mod decoders;
mod documents;
mod hand_typed;
mod instructions;
mod time;
mod tokenisers;
mod with_serde;

use std::process::ExitCode;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use castile_native::Counts;
use documents::Document;

const USAGE: &str = "usage: castile-compare [--quick]
       castile-compare once DOCUMENT CONTESTANT COUNT   (by their numbers, to be measured from outside)";

/// Reads a document and returns its content in numbers.
pub type Run = Box<dyn FnMut(&[u8]) -> Result<Counts, String>>;

/// One way to read a document.
pub struct Contestant {
    pub name: &'static str,
    /// What it checks while reading.
    pub checks: &'static str,
    pub run: Run,
}

impl Contestant {
    fn new(name: &'static str, checks: &'static str, run: Run) -> Self {
        Contestant { name, checks, run }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        [] => compare(false),
        ["--quick"] => compare(true),
        ["once", document, contestant, count] => once(document, contestant, count),
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures all contestants and prints the table. The figures of a quick run are useless: it only shows that
/// everything works.
fn compare(quick: bool) -> Result<(), String> {
    for (name, parser) in castile_native::parsers() {
        if parser.is_none() {
            println!("{name} is left out: its development package was not found when this was built");
        }
    }
    let count_instructions = !quick && instructions::can_be_counted();
    if !count_instructions {
        println!("instructions are not counted: {}", if quick { "a quick run" } else { "valgrind is not installed" });
    }
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─')));
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["", "MB/s", "ns", "instructions", "found", "checks"]);
    for (index, document) in documents::all().iter_mut().enumerate() {
        let found = check(document)?;
        let times = time::measure(document, quick)?;
        eprintln!("{}: timed", document.name);
        table.add_row([format!("{}, {} B", document.name, grouped(document.text.len() as u64))]);
        for (number, (contestant, nanoseconds)) in document.contestants.iter().zip(times).enumerate() {
            let instructions = match count_instructions {
                true => grouped(instructions::count(index, number, document.text.len())?),
                false => String::new(),
            };
            table.add_row([
                format!("  {}", contestant.name),
                format!("{:.0}", document.text.len() as f64 / nanoseconds * 1e3),
                grouped(nanoseconds as u64),
                instructions,
                found[number].clone(),
                contestant.checks.to_owned(),
            ]);
        }
    }
    for column in 1..4 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    println!("{table}");
    println!("MB/s and ns: time of the processor for a document, the median of rounds in which all take turns.");
    Ok(())
}

/// Returns what each contestant finds, or an error if they differ. A contestant without namespace support finds
/// no namespaces.
fn check(document: &mut Document) -> Result<Vec<String>, String> {
    let mut expected: Option<Counts> = None;
    let mut found = Vec::new();
    for contestant in &mut document.contestants {
        let counts = (contestant.run)(&document.text)
            .map_err(|error| format!("{}: {}: {error}", document.name, contestant.name))?;
        let expected = *expected.get_or_insert(counts);
        let without = Counts { namespaces: 0, ..expected };
        if counts != expected && counts != without {
            return Err(format!("{}: {} found {counts:?}, not {expected:?}", document.name, contestant.name));
        }
        found.push(counts.to_string());
    }
    Ok(found)
}

/// Reads one document with one contestant, `count` times.
fn once(document: &str, contestant: &str, count: &str) -> Result<(), String> {
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("{text:?}: {error}\n{USAGE}"));
    let (document, contestant, count) = (number(document)?, number(contestant)?, number(count)?);
    let mut documents = documents::all();
    let document = documents.get_mut(document).ok_or("there is no such document")?;
    let contestant = document.contestants.get_mut(contestant).ok_or("there is no such contestant")?;
    for _ in 0..count {
        std::hint::black_box((contestant.run)(std::hint::black_box(&document.text))?);
    }
    Ok(())
}

/// Formats a number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
