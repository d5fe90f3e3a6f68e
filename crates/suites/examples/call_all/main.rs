//! Calls every operation of both contracts through the generated clients and checks every answer.
//!
//! ```text
//! cargo run --release -p castile-suites --example call_all -- BASE_URL
//! ```
//!
//! The services are expected at `BASE_URL/benchmark1` and `BASE_URL/wstest`. They may be Castile's own (`castile
//! serve`), or those of another implementation of the contracts. The program prints a line for each check that fails
//! and ends with `N passed, N failed`. The exit code is 0 if none failed.

mod benchmark1;
mod checks;
mod wstest;

use std::error::Error;
use std::process::ExitCode;

use checks::Checks;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [base] = arguments.as_slice() else { return Err("usage: call_all BASE_URL".into()) };

    let mut checks = Checks::default();
    benchmark1::call_all(&mut checks, base.trim_end_matches('/')).await?;
    wstest::call_all(&mut checks, base.trim_end_matches('/')).await?;
    println!("{} passed, {} failed", checks.passed, checks.failed);
    Ok(if checks.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Texts that incorrect writers or readers change.
const TEXTS: [&str; 9] = [
    "",
    "<&>\"'",
    "]]>",
    "  two  spaces  ",
    "\ttab\nline\r\nreturn\r",
    "žluťoučký kůň",
    "漢字かな",
    "🦀",
    "&amp; &#65; <![CDATA[x]]>",
];
