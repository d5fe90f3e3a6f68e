//! The report: data first ([`Results`]), then a table for a terminal, a page for a browser, JSON for programs.

mod csv;
pub(crate) mod format;
mod judge;
mod junit;
mod label;
mod page;
mod results;
mod table;

use std::fs;
use std::path::{Path, PathBuf};

pub use judge::Failed;
pub use results::{
    Client, FLOOR, Interval, Lag, Latency, Method, Pass, Published, PublishedFigure, Quantile, Results, Row, Spread,
    Step, Suite,
};

use crate::{Error, ErrorKind};

impl Results {
    /// Writes `results.json` and `index.html` into a directory, which is made if it is not there; gives their paths.
    pub fn write(&self, directory: &Path) -> Result<[PathBuf; 2], Error> {
        let report = |path: &Path| Error::new(ErrorKind::Report, format!("can't write {}", path.display()));
        fs::create_dir_all(directory).map_err(|error| report(directory).because(error))?;
        let json = directory.join("results.json");
        let text = serde_json::to_string_pretty(self).map_err(|error| report(&json).because(error))?;
        fs::write(&json, text + "\n").map_err(|error| report(&json).because(error))?;
        let html = directory.join("index.html");
        fs::write(&html, self.page()?).map_err(|error| report(&html).because(error))?;
        Ok([json, html])
    }
}
