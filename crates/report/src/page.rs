//! Writes the results as one HTML page. Templates are filled with data, and nothing is loaded from elsewhere.
//!
//! The code turns figures into positions and words; the templates decide their appearance. The charts are SVG without
//! text. Texts are HTML beside them, so that they stay readable at any width of the chart.
//!
//! `block` shows a suite's rows of one method, which `material` collects. `bars`, `plot` and `axis` draw charts, `detail` shows one case,
//! `figures` and `stacks` write tables. `summary` is the head of the page, `forest` the page of a comparison.

mod axis;
mod bars;
mod block;
mod detail;
mod figures;
mod forest;
mod material;
mod plot;
mod stacks;
mod summary;

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use self::block::{Block, blocks};
use self::figures::{Table, history};
use self::forest::Forest;
use self::summary::Summary;
use crate::compare::Comparison;
use crate::format::{bytes, count, figure, microseconds, percent, ratio};
use crate::versus::{Overall, Versus};
use crate::{Client, Error, FLOOR, Method, Published, Results, Suite, Worker, label};

/// The extension `.html` enables escaping of all inserted values.
const TEMPLATES: [(&str, &str); 5] = [
    ("style.css", include_str!("templates/style.css")),
    ("base.html", include_str!("templates/base.html")),
    ("charts.html", include_str!("templates/charts.html")),
    ("report.html", include_str!("templates/report.html")),
    ("compare.html", include_str!("templates/compare.html")),
];

/// Returns a template filled with data.
fn fill(name: &str, data: impl Serialize) -> Result<String, Error> {
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
        .map_err(|error| Error::new(format!("can't fill {name}")).because(error))
}

impl Results {
    /// Returns the results as a self-contained HTML page.
    pub fn page(&self) -> Result<String, Error> {
        let versus = self.versus();
        let overall = Overall::of(&versus);
        let stacks = self.subject().filter(|_| versus.iter().any(Versus::has_others));
        let suites = self.suites.iter().zip(&versus).enumerate().map(|(number, (suite, versus))| Section {
            name: suite.suite.clone(),
            about: suite.about.as_deref(),
            terms: terms(suite),
            stacks: versus.has_others().then(|| Stacks::of(versus)),
            blocks: blocks(suite, number),
            history: history(suite),
            published: &suite.published,
        });
        let suites: Vec<_> = suites.collect();
        let targets = stacks.map(|subject| stacks::targets(self, subject, &overall));
        fill(
            "report.html",
            Page {
                results: self,
                choices: suites.iter().flat_map(|suite| &suite.blocks).map(Block::choices).max().unwrap_or(0),
                summary: Summary::of(self, &versus, &overall),
                sections: sections(&suites, targets.is_some()),
                targets,
                lost: overall.lost().map(|rival| rival.to_string()).collect(),
                scheduled: self.rows().any(|row| row.method == Method::Open),
                typed: self.rows().any(|row| row.client == Client::Typed),
                has_floor: self.rows().any(|row| row.target == FLOOR),
                workers: self.workers.iter().map(|worker| (&*worker.name, worker.figures())).collect(),
                worker_headings: Worker::HEADINGS,
                suites,
            },
        )
    }
}

impl Comparison {
    /// Returns the comparison as a self-contained HTML page.
    pub fn page(&self) -> Result<String, Error> {
        fill("compare.html", Forest::of(self, &self.suites))
    }
}

/// The data of the page's template.
#[derive(Serialize)]
struct Page<'a> {
    results: &'a Results,
    /// The largest number of baselines that a block's bars have.
    choices: usize,
    summary: Summary,
    /// The sections of the page: the id and the title of each.
    sections: Vec<(String, String)>,
    /// `None` if there is only one target.
    targets: Option<Table>,
    /// The cases in which another target takes less CPU time.
    lost: Vec<String>,
    /// Whether any requests were due at fixed times.
    scheduled: bool,
    /// Whether any answers were decoded by generated clients.
    typed: bool,
    has_floor: bool,
    worker_headings: [&'static str; 8],
    workers: Vec<(&'a str, [String; 8])>,
    suites: Vec<Section<'a>>,
}

/// One suite.
#[derive(Serialize)]
struct Section<'a> {
    name: String,
    /// What the suite measures.
    about: Option<&'a str>,
    /// The meanings of names that occur in the section.
    terms: Vec<(&'a str, &'a str)>,
    /// `None` if only one target was measured.
    stacks: Option<Stacks>,
    blocks: Vec<Block>,
    history: Vec<Table>,
    published: &'a [Published],
}

/// Returns the sections of the page in their order. With several suites these are the suites, otherwise the blocks of
/// the only one.
fn sections(suites: &[Section<'_>], with_targets: bool) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut section = |id: &str, name: &str| sections.push((id.to_owned(), name.to_owned()));
    if suites.len() > 1 {
        section("overview", "All suites");
    }
    if with_targets {
        section("targets", "Side by side");
    }
    for (index, suite) in suites.iter().enumerate() {
        match suites.len() {
            1 => suite.blocks.iter().for_each(|block| section(&block.id, block.title)),
            _ => section(&format!("suite-{}", index + 1), &suite.name),
        }
    }
    section("method", "How it was measured");
    sections
}

/// Returns the meanings of names: those that the suite declares, and those of the clients if there are several.
fn terms(suite: &Suite) -> Vec<(&str, &str)> {
    let mut clients: Vec<Client> = Vec::new();
    for row in suite.cases.iter().filter(|row| row.target != FLOOR) {
        if !clients.contains(&row.client) {
            clients.push(row.client);
        }
    }
    if clients.len() < 2 {
        clients.clear();
    }
    let clients = clients.into_iter().map(|client| (label::client(client), client.about()));
    let known = suite.terms.iter().map(|term| (&*term.name, &*term.meaning));
    let is_there =
        |name: &str| suite.cases.iter().any(|row| row.case.starts_with(name) || row.style.as_deref() == Some(name));
    known.filter(|(name, _)| is_there(name)).chain(clients).collect()
}

/// Tables that compare the targets of a suite.
#[derive(Serialize)]
struct Stacks {
    /// `None` if no CPU time was measured.
    costs: Option<Table>,
    /// `None` if all answers have the same length.
    sizes: Option<Table>,
}

impl Stacks {
    fn of(versus: &Versus<'_>) -> Self {
        let some = |table: Table| Some(table).filter(|table| !table.is_empty());
        Stacks { costs: some(stacks::costs(versus)), sizes: some(stacks::sizes(versus)) }
    }
}
