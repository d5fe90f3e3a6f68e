//! `castile merge`: one report of what several workers of a load measured.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use castile_load::{Merging, with_warnings};
use castile_report::Results;
use castile_xml::visible;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;

use super::Reports;
use crate::outcome;

/// The largest file of shares. A worker has some hundred kilobytes.
const MAX_SIZE: u64 = 1 << 30;

/// Merge what the workers of a load measured at the same time into one report
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What workers measured, as Castile's plugin of a Locust master writes it
    #[arg(value_name = "SHARES.json", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    reports: Reports,
}

/// Merges, reports, and returns the exit code.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    outcome::run(prepare(arguments).map(Some), |results| {
        let mut results = with_warnings(results);
        arguments.reports.outcome.record(&mut results);
        arguments.reports.report(&results)
    })
}

fn prepare(arguments: &Arguments) -> anyhow::Result<Results> {
    arguments.reports.expect_files()?;
    let mut merging = Merging::default();
    arguments.files.iter().try_for_each(|path| read(path, &mut merging))?;
    let mut results = serde_json::to_value(merging.results()?)?;
    make_visible(&mut results);
    Ok(serde_json::from_value(results)?)
}

/// Adds the shares of a file.
fn read(path: &Path, merging: &mut Merging) -> anyhow::Result<()> {
    let shown = path.display();
    let mut bytes = Vec::new();
    // The length of a pipe isn't known before.
    let file = File::open(path).and_then(|file| file.take(MAX_SIZE + 1).read_to_end(&mut bytes));
    file.with_context(|| format!("{shown} can't be read"))?;
    if bytes.len() as u64 > MAX_SIZE {
        bail!("{shown} has more than {MAX_SIZE} bytes, expected at most as many");
    }
    let mut json = serde_json::Deserializer::from_slice(&bytes);
    let added = Shares(merging).deserialize(&mut json).and_then(|()| json.end());
    added.with_context(|| format!("{shown} isn't what workers of one load measured"))
}

/// Merges each share as soon as it is read: a short text can have a record that takes much more memory.
struct Shares<'a>(&'a mut Merging);

impl<'de> DeserializeSeed<'de> for Shares<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Shares<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of what workers measured")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut shares: A) -> Result<(), A::Error> {
        while let Some(share) = shares.next_element()? {
            self.0.add(share).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}

/// Escapes what could change how other text looks. Names in the file are from whoever reached the port of a master.
fn make_visible(value: &mut Value) {
    match value {
        Value::String(text) => *text = visible(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(make_visible),
        // Reasons may have several lines. The record of a load makes them visible.
        Value::Object(fields) => {
            fields.iter_mut().filter(|(name, _)| *name != "reasons").for_each(|(_, value)| make_visible(value));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
