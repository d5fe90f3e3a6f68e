//! `castile merge`: one report of what several workers of a load measured.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use castile_load::{Merging, Share, with_warnings};
use castile_report::Results;
use castile_xml::visible;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Reports;
use crate::outcome;

/// The largest file of shares. A worker has some hundred kilobytes.
const MAX_SIZE: u64 = 1 << 30;
/// The most workers of a file.
const MAX_SHARES: usize = 100_000;
/// How many workers are named that are left out.
const NAMED: usize = 10;

/// Merge what the workers of a load measured at the same time into one report. Workers whose figures are impossible or of another load
/// than most are left out with a warning
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
    let files = arguments.files.iter().map(|path| read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut shares = Vec::new();
    for (path, bytes) in arguments.files.iter().zip(&files) {
        let texts: Result<Texts<'_>, _> = serde_json::from_slice(bytes);
        let texts = texts.with_context(|| format!("{} isn't what workers of one load measured", path.display()))?;
        shares.extend(texts.0);
    }
    // Each is parsed twice, so that one at a time is in memory: a short text can have a record that takes much more.
    let (mut merging, mut left_out) = (Merging::default(), Vec::new());
    shares.retain(|text| {
        let announced = parsed(text).and_then(|share| Ok(merging.announce(&share)?));
        announced.map_err(|error| left_out.push(error)).is_ok()
    });
    let mut merged = 0;
    for text in shares {
        match parsed(text).and_then(|share| Ok(merging.add(share)?)) {
            Ok(()) => merged += 1,
            Err(error) => left_out.push(error),
        }
    }
    if merged == 0 && !left_out.is_empty() {
        return Err(left_out.swap_remove(0));
    }
    let mut results = merging.results()?;
    let named = left_out.iter().take(NAMED).map(|error| format!("Left out: {error:#}"));
    let more = left_out.len().checked_sub(NAMED + 1).map(|more| format!("Left out: {} more workers", more + 1));
    results.warnings.splice(0..0, named.chain(more));
    let mut results = serde_json::to_value(results)?;
    make_visible(&mut results);
    Ok(serde_json::from_value(results)?)
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let mut bytes = Vec::new();
    // The length of a pipe isn't known before.
    let file = File::open(path).and_then(|file| file.take(MAX_SIZE + 1).read_to_end(&mut bytes));
    file.with_context(|| format!("{shown} can't be read"))?;
    if bytes.len() as u64 > MAX_SIZE {
        bail!("{shown} has more than {MAX_SIZE} bytes, expected at most as many");
    }
    Ok(bytes)
}

fn parsed(text: &RawValue) -> anyhow::Result<Share> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }

    serde_json::from_str(text.get()).map_err(|error| match serde_json::from_str::<Named>(text.get()) {
        Ok(Named { name }) => anyhow!("the worker {name} has no possible figures: {error}"),
        Err(_) => anyhow!("a worker without a name has no possible figures: {error}"),
    })
}

/// The texts of shares.
struct Texts<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Texts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Texts(Vec::new()))
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Texts<'a> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of what at most {MAX_SHARES} workers measured")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut texts: A) -> Result<Self, A::Error> {
        while let Some(text) = texts.next_element()? {
            if self.0.len() == MAX_SHARES {
                return Err(A::Error::invalid_length(MAX_SHARES + 1, &self));
            }
            self.0.push(text);
        }
        Ok(self)
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
