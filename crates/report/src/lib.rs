//! The results of load tests and benchmarks, and reports of them.
//!
//! [`Results`] are the content of a `results.json`, which `castile-load` measures. Reports of them are pages for browsers
//! ([`Results::page`]), tables for terminals ([`Results::table`]), Markdown, CSV, and JUnit XML for build servers. A [`Criterion`]
//! decides which rows count as failed. A [`Comparison`] compares several results.
//!
//! ```no_run
//! use std::path::Path;
//! use castile_report::{Comparison, Results};
//!
//! # fn main() -> Result<(), castile_report::Error> {
//! let before = Results::read(Path::new("before/results.json"))?;
//! let after = Results::read(Path::new("after/results.json"))?;
//! println!("{}", after.table());
//! let comparison = Comparison::of(&[("before".to_owned(), before), ("after".to_owned(), after)]);
//! comparison.write(Path::new("comparison"))?;
//! # Ok(())
//! # }
//! ```

mod clients;
mod compare;
mod criterion;
mod csv;
mod error;
mod files;
pub mod format;
mod judge;
mod junit;
mod label;
mod markdown;
mod measure;
mod origin;
mod own;
mod page;
mod ratio;
mod results;
mod student;
mod table;
mod versus;

pub use clients::{Called, ClientRow, Clients, Lap};
pub use compare::Comparison;
pub use criterion::{Criterion, InvalidCriterion, Metric, Operator};
pub use error::Error;
pub use files::{FILES, write_whole};
pub use origin::{Build, Machine, Worker};
pub use own::{ReportFormat, expect_own};
pub use results::{
    Client, Condition, FLOOR, Interval, Judged, Lag, Latency, Method, Pass, Published, PublishedFigure, Quantile,
    Ratio, Reason, Results, ResultsKind, Row, SearchEnd, Spread, Step, Suite, Target, Term, wrong_answers,
};
pub use table::note;
