//! The results as one page for a browser: templates filled with data, nothing fetched from anywhere.
//!
//! Here figures become positions and words; what they look like is the templates' business. The charts are SVG without
//! text: texts stand beside them in HTML, so that they stay readable however wide a chart is.

mod axis;
mod bars;
mod block;
mod detail;
mod figures;
mod forest;
mod material;
mod plot;
mod summary;

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use self::block::{Block, blocks};
use self::figures::{Table, history};
pub(super) use self::forest::Forest;
use self::summary::Summary;
use super::format::{bytes, count, figure, microseconds, percent, ratio};
use super::{Client, FLOOR, Method, Published, Results};
use crate::{Error, ErrorKind};

/// Names ending in `.html` turn on the escaping of everything that is filled in.
const TEMPLATES: [(&str, &str); 5] = [
    ("style.css", include_str!("templates/style.css")),
    ("base.html", include_str!("templates/base.html")),
    ("charts.html", include_str!("templates/charts.html")),
    ("report.html", include_str!("templates/report.html")),
    ("compare.html", include_str!("templates/compare.html")),
];

/// A template filled with data.
pub(super) fn fill(name: &str, data: impl Serialize) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.add_filter("count", count);
    environment.add_filter("figure", figure);
    environment.add_filter("percent", percent);
    environment.add_filter("ratio", ratio);
    environment.add_filter("microseconds", microseconds);
    environment.add_filter("bytes", bytes);
    environment.add_filter("position", |percent: f64| format!("{percent:.2}"));
    TEMPLATES
        .iter()
        .try_for_each(|(name, text)| environment.add_template(name, text))
        .and_then(|()| environment.get_template(name))
        .and_then(|template| template.render(Serde(data)))
        .map_err(|error| Error::new(ErrorKind::Report, format!("can't fill {name}")).because(error))
}

impl Results {
    /// The results as an HTML page of its own.
    pub fn page(&self) -> Result<String, Error> {
        fill(
            "report.html",
            Page {
                results: self,
                summary: Summary::of(self),
                scheduled: self.rows().any(|row| row.method == Method::Open),
                typed: self.rows().any(|row| row.client == Client::Typed),
                has_floor: self.rows().any(|row| row.target == FLOOR),
                suites: self
                    .suites
                    .iter()
                    .enumerate()
                    .map(|(number, suite)| Section {
                        name: suite.suite.clone(),
                        blocks: blocks(suite, number),
                        history: history(suite),
                        published: &suite.published,
                    })
                    .collect(),
            },
        )
    }
}

/// All that the template is filled with.
#[derive(Serialize)]
struct Page<'a> {
    results: &'a Results,
    summary: Summary,
    /// Whether any requests were due by the clock.
    scheduled: bool,
    /// Whether any answers were read by generated clients.
    typed: bool,
    has_floor: bool,
    suites: Vec<Section<'a>>,
}

/// One suite.
#[derive(Serialize)]
struct Section<'a> {
    name: String,
    blocks: Vec<Block>,
    history: Vec<Table>,
    published: &'a [Published],
}
