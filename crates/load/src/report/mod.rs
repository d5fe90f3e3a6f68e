//! The report: data first ([`Results`]), then what is made of them.
//!
//! `table` is for terminals, `page` for browsers (`block` is a suite's rows of one method, made of `material`: `bars`, `plot`
//! and `axis` are its drawings, `detail` one case, `figures` the tables behind all, `stacks` those of targets side by side;
//! `templates/` say what it looks like), `markdown` for documents, `csv` and `junit` for other programs. `versus` puts targets
//! of a bench side by side, with the ratios of `ratio`, `compare` benches, with the intervals of `student`; `judge` decides what counts as failed. `label`
//! names rows by what tells them apart, `measure` has the figure that a method is about.

mod clients;
mod compare;
mod csv;
pub(crate) mod format;
mod judge;
mod junit;
pub(crate) mod label;
mod markdown;
mod measure;
mod page;
mod ratio;
mod results;
mod student;
mod table;
mod versus;

use std::fs;
use std::path::{Path, PathBuf};

pub use clients::{Called, ClientRow, Clients};
pub use compare::Comparison;
pub use judge::{Condition, Judged};
pub use ratio::Ratio;
pub use results::{
    Build, Client, FLOOR, Interval, Kind, Lag, Latency, Method, Pass, Published, PublishedFigure, Quantile, Reason,
    Results, Row, Spread, Step, Suite, Target, Term, wrong_answers,
};
pub use table::note;

use serde::Serialize;

use crate::{Error, ErrorKind};

impl Results {
    /// Writes `results.json` and `index.html` into a directory, which is made if it is not there; gives their paths.
    pub fn write(&self, directory: &Path) -> Result<[PathBuf; 2], Error> {
        let json = save(directory, "results.json", &self.json()?)?;
        Ok([json, save(directory, "index.html", &self.page()?)?])
    }

    /// What `results.json` holds.
    pub fn json(&self) -> Result<String, Error> {
        json(self)
    }

    /// Reads a `results.json`, or that of a directory.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let file = if path.is_dir() { path.join("results.json") } else { path.to_owned() };
        let wrong = |what: &str| Error::new(ErrorKind::Report, format!("{what} {}", file.display()));
        let text = fs::read_to_string(&file).map_err(|error| wrong("can't read").because(error))?;
        serde_json::from_str(&text).map_err(|error| match text.trim_start().starts_with('{') {
            true => wrong("expected the results of a bench in").because(error),
            // What a reader of JSON says of other files is of no use.
            false => {
                let file = file.display();
                Error::new(ErrorKind::Report, format!("{file} is no JSON, expected the results.json of a bench"))
            }
        })
    }
}

impl Comparison {
    /// Writes `comparison.html` into a directory, which is made if it is not there; gives its path.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, Error> {
        save(directory, "comparison.html", &self.page()?)
    }

    /// The comparison as data.
    pub fn json(&self) -> Result<String, Error> {
        json(self)
    }
}

fn json(data: &impl Serialize) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(data);
    text.map(|text| text + "\n").map_err(|error| Error::new(ErrorKind::Report, "can't write JSON").because(error))
}

fn save(directory: &Path, name: &str, text: &str) -> Result<PathBuf, Error> {
    let wrong = |path: &Path| Error::new(ErrorKind::Report, format!("can't write {}", path.display()));
    fs::create_dir_all(directory).map_err(|error| wrong(directory).because(error))?;
    let path = directory.join(name);
    fs::write(&path, text).map_err(|error| wrong(&path).because(error))?;
    Ok(path)
}
