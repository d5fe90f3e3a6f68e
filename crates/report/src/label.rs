//! Names rows by the properties that distinguish them from neighbouring rows.

use std::collections::BTreeMap;

use crate::format::{count, figure};
use crate::{Client, FLOOR, Method, Row};

/// The properties that distinguish rows of one case.
#[derive(Clone, Copy, Debug)]
enum Part {
    Target,
    Network,
    Client,
    Style,
    Connections,
    KeepAlive,
    Rate,
}

const PARTS: [Part; 7] =
    [Part::Target, Part::Network, Part::Client, Part::Style, Part::Connections, Part::KeepAlive, Part::Rate];

impl Part {
    /// Returns this property of a row in words; `None` if it says nothing.
    fn of(self, row: &Row) -> Option<String> {
        match self {
            Part::Target => Some(row.target.clone()),
            Part::Network => match &row.network {
                Some(network) => Some(format!("across {network}")),
                // The location of a foreign endpoint is not known.
                None => (!row.target.contains("://")).then(|| "local".to_owned()),
            },
            // The floor has no types.
            Part::Client if row.target == FLOOR => None,
            Part::Client => Some(client(row.client).to_owned()),
            Part::Style => row.style.clone(),
            Part::Connections => row.given_load().0.map(connections),
            Part::KeepAlive => Some(keep_alive(row).to_owned()),
            Part::Rate => row.given_load().1.map(|rate| format!("{} req/s scheduled", figure(rate))),
        }
    }
}

/// Names rows by the properties in which they differ.
#[derive(Debug)]
pub(crate) struct Labels(Vec<Part>);

impl Labels {
    /// Creates names for all these rows. A property that is the same for all rows of a case is left
    /// out, since the case's name implies it.
    pub(crate) fn among<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> Self {
        let varies = |part: &Part| {
            let mut found: BTreeMap<&str, String> = BTreeMap::new();
            let value = |row| match part {
                // Having no style counts as a style.
                Part::Style => Some(part.of(row).unwrap_or_default()),
                _ => part.of(row),
            };
            let mut values = rows.clone().filter_map(|row| Some((&*row.case, value(row)?)));
            values.any(|(case, value)| *found.entry(case).or_insert_with(|| value.clone()) != value)
        };
        Labels(PARTS.into_iter().filter(varies).collect())
    }

    /// Returns the properties that vary: `castile · typed`. Returns the target if none does.
    pub(crate) fn of(&self, row: &Row) -> String {
        let parts: Vec<_> = self.0.iter().filter_map(|part| part.of(row)).collect();
        match parts.is_empty() {
            true => row.target.clone(),
            false => parts.join(" · "),
        }
    }

    /// Returns the case and the properties that vary, without the target: `echoVoid · typed`.
    pub(crate) fn of_case(&self, row: &Row) -> String {
        let parts = self.0.iter().filter(|part| !matches!(part, Part::Target));
        std::iter::once(row.case.clone()).chain(parts.filter_map(|part| part.of(row))).collect::<Vec<_>>().join(" · ")
    }

    /// Returns the case and all properties that vary. This name is stable from measurement to
    /// measurement.
    pub(crate) fn whole(&self, row: &Row) -> String {
        std::iter::once(row.case.clone()).chain(self.varying(row)).collect::<Vec<_>>().join(" · ")
    }

    /// Returns the properties that vary, if any do.
    pub(crate) fn varying(&self, row: &Row) -> Option<String> {
        (!self.0.is_empty()).then(|| self.of(row))
    }
}

impl Row {
    /// Returns all properties that distinguish rows of a case, in words: `castile, raw, 4 connections, kept alive, closed`.
    pub fn properties(&self) -> String {
        let tells = |part: &Part| !matches!(part, Part::Network) || self.network.is_some();
        let parts = PARTS.into_iter().filter(tells).filter_map(|part| part.of(self));
        parts.chain([method(self.method).to_owned()]).collect::<Vec<_>>().join(", ")
    }
}

/// Returns the ways in which rows were driven, in words, each once. The parts of a mix are driven with it, so they have no own way.
pub(crate) fn ways<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<String> {
    let mut ways: Vec<String> = Vec::new();
    for way in rows.filter(|row| row.part_of.is_none()).map(driven) {
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways
}

/// Returns how a row was driven, in words.
pub(crate) fn driven(row: &Row) -> String {
    let keep_alive = keep_alive(row).to_owned();
    let load = match row.method {
        Method::Closed if row.users_at_peak.is_some() => vec![users(row.connections), keep_alive],
        Method::Closed => vec![opened(row).unwrap_or_else(|| connections(row.connections)), keep_alive],
        Method::Open => {
            let rate = row.rate.map(|rate| format!("{} req/s scheduled", figure(rate)));
            let rate = rate.unwrap_or_else(|| "scheduled arrivals".to_owned());
            vec![rate, format!("at most {} in progress", count(row.connections as f64)), keep_alive]
        }
        // The result of a search is not part of how the row was driven.
        Method::Users if row.curve.is_empty() => {
            std::iter::once(users(row.connections)).chain(opened(row)).chain([keep_alive]).collect()
        }
        Method::Users | Method::Ramp => vec!["users".to_owned(), keep_alive],
        Method::Sequence => {
            vec!["one list of requests in order".to_owned(), connections(row.connections), keep_alive]
        }
    };
    let network = row.network.as_ref().map(|network| format!("across {network}"));
    load.into_iter().chain(row.rhythm.clone()).chain(network).collect::<Vec<_>>().join(", ")
}

pub(crate) fn method(method: Method) -> &'static str {
    match method {
        Method::Closed => "closed",
        Method::Open => "open",
        Method::Users => "users",
        Method::Ramp => "ramp",
        Method::Sequence => "sequence",
    }
}

pub(crate) fn client(client: Client) -> &'static str {
    match client {
        Client::Raw => "raw",
        Client::Typed => "typed",
        Client::Ab => "ab",
    }
}

fn connections(connections: usize) -> String {
    match connections {
        1 => "1 connection".to_owned(),
        many => format!("{many} connections"),
    }
}

/// Returns how many connections were opened, if not every user opened one.
fn opened(row: &Row) -> Option<String> {
    row.opened.map(|opened| {
        let (opened, of) = (count(opened as f64), count(row.connections as f64));
        format!("{opened} of {of} connections opened")
    })
}

fn users(users: usize) -> String {
    match users {
        1 => "1 user".to_owned(),
        many => format!("{} users", count(many as f64)),
    }
}

fn keep_alive(row: &Row) -> &'static str {
    if row.keep_alive { "kept alive" } else { "one request each" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Results;

    #[test]
    fn a_style_distinguishes_rows() {
        let results: Results = serde_json::from_str(include_str!("../tests/data/results.json")).unwrap();
        let plain = Row { style: None, ..results.suites[0].cases[0].clone() };
        let other = Row { style: Some("round2".to_owned()), ..plain.clone() };
        let rows = [plain, other];
        let labels = Labels::among(rows.iter());
        let case = &rows[0].case;
        assert_eq!(rows.each_ref().map(|row| labels.of_case(row)), [case.clone(), format!("{case} · round2")]);
    }
}
