//! Compares targets: what the same requests cost each of them, relative to the target that the bench is about.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::format::figure;
use crate::label::{self, Labels};
use crate::{FLOOR, Method, Ratio, Results, Row, Suite, Target};

/// The targets of one suite.
#[derive(Debug)]
pub(crate) struct Versus<'a> {
    pub(crate) suite: &'a str,
    /// The target that the bench is about, with which the others are compared.
    pub(crate) subject: &'a str,
    /// Ordered by CPU time, using the mean of the ratios; then targets without a mean; the floor last.
    pub(crate) targets: Vec<&'a str>,
    /// For each target, its CPU time as a multiple of the subject's.
    means: Vec<Option<Mean>>,
    pub(crate) lines: Vec<Line<'a>>,
}

/// The limit of columns. More of them are unreadable, and each case has a cell for each target, of which a file may have as many
/// as rows.
const MAX_TARGETS: usize = 64;

/// The rows that differ only in the target.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    /// The case, and what distinguishes it from others of this name.
    pub(crate) name: String,
    pub(crate) method: Method,
    /// One for each target.
    pub(crate) rows: Vec<Option<&'a Row>>,
    /// For each target, its CPU time as a multiple of the subject's; `None` if one of the two is unknown or has wrong answers.
    pub(crate) ratios: Vec<Option<Ratio>>,
}

impl Line<'_> {
    /// Returns the CPU time of a target as a multiple of the subject's, without its interval.
    fn ratio(&self, place: usize) -> Option<f64> {
        self.ratios[place].map(|ratio| ratio.ratio)
    }

    /// Returns the target with the least CPU time, if there are several. The floor is excluded, since it does no work.
    pub(crate) fn cheapest(&self, versus: &Versus<'_>) -> Option<usize> {
        let places = (0..self.rows.len()).filter(|place| versus.targets[*place] != FLOOR);
        let known = places.filter_map(|place| Some((place, self.ratio(place)?)));
        let known: Vec<_> = known.collect();
        let best = known.iter().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        (known.len() > 1).then_some(best.0)
    }
}

/// A geometric mean. For ratios, it doesn't matter which side is the divisor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mean {
    pub(crate) ratio: f64,
    /// The number of ratios.
    pub(crate) count: usize,
}

impl Mean {
    /// Returns the mean of ratios; `None` if there are none.
    pub(crate) fn of(ratios: impl Iterator<Item = f64>) -> Option<Self> {
        let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| (sum + ratio.ln(), count + 1));
        (count > 0).then(|| Mean { ratio: (sum / count as f64).exp(), count })
    }
}

/// A target's results over all suites.
#[derive(Debug)]
pub(crate) struct TargetSummary<'a> {
    pub(crate) name: &'a str,
    about: Option<&'a Target>,
    /// Its CPU time as a multiple of the subject's; `None` for the subject, and if they have no case in common.
    pub(crate) mean: Option<Mean>,
    /// Its peak resident memory over all rows.
    pub(crate) peak_memory: Option<u64>,
}

impl TargetSummary<'_> {
    /// Returns `Apache CXF: CXF 4.1.3 on its Jetty 12`, without repeating the title.
    pub(crate) fn what(&self) -> String {
        let about = self.about.map(|about| (&about.title, &about.versions));
        match about {
            Some((Some(title), Some(versions))) if versions.starts_with(&**title) => versions.clone(),
            Some((title, versions)) => title.iter().chain(versions).cloned().collect::<Vec<_>>().join(": "),
            None => String::new(),
        }
    }

    pub(crate) fn language(&self) -> &str {
        self.about.and_then(|about| about.language.as_deref()).unwrap_or_default()
    }

    /// Returns the time to its first answer with the unit.
    pub(crate) fn first_answer(&self) -> Option<String> {
        Some(format!("{} ms", figure(self.about?.first_answer_ms?)))
    }
}

/// Returns the heading of a target.
pub(crate) fn title(target: &str) -> &str {
    if target == FLOOR { "HTTP floor" } else { target }
}

/// Formats a ratio with its sign: `0.64×`, `12.3×`.
pub(crate) fn times(ratio: f64) -> String {
    multiple(ratio) + "×"
}

/// Formats a ratio with its interval: `1.59× (1.55–1.63)`.
pub(crate) fn sure(ratio: &Ratio) -> String {
    ratio.written(multiple, "×")
}

fn multiple(ratio: f64) -> String {
    if ratio < 0.9995 { format!("{ratio:.2}") } else { figure(ratio) }
}

impl Results {
    /// Returns the target that the bench is about: Castile's own server, otherwise the first that was measured.
    pub(crate) fn subject(&self) -> Option<&str> {
        let measured = || self.rows().filter(|row| row.target != FLOOR).map(|row| &*row.target);
        measured().find(|target| *target == "castile").or_else(|| measured().next())
    }

    /// Returns the targets of each suite.
    pub(crate) fn versus(&self) -> Vec<Versus<'_>> {
        let Some(subject) = self.subject() else { return Vec::new() };
        self.suites.iter().map(|suite| Versus::of(suite, subject)).collect()
    }

    /// Returns the targets: the subject, then those that have cases in common with it by increasing CPU time, then the others.
    pub(crate) fn target_summaries<'a>(&'a self, overall: &Overall<'a>) -> Vec<TargetSummary<'a>> {
        let mut peaks: HashMap<&str, Option<u64>> = HashMap::new();
        for row in self.rows() {
            let peak = peaks.entry(&row.target).or_default();
            *peak = (*peak).max(row.server_peak_rss_bytes);
        }
        let subject = self.subject().map(|name| (name, None));
        let others = overall.means.iter().map(|(name, mean)| (*name, Some(*mean)));
        let rest = self.rows().map(|row| &*row.target).chain(self.targets.iter().map(|target| &*target.name));
        let mut known = HashSet::new();
        let names = subject.into_iter().chain(others).chain(rest.map(|name| (name, None)));
        let names = names.filter(|(name, _)| known.insert(*name));
        let standing = |(name, mean)| TargetSummary {
            name,
            about: self.targets.iter().find(|target| target.name == name),
            mean,
            peak_memory: peaks.get(name).copied().flatten(),
        };
        names.map(standing).collect()
    }
}

impl<'a> Versus<'a> {
    fn of(suite: &'a Suite, subject: &'a str) -> Self {
        let measured = || suite.cases.iter().filter(|row| row.target != FLOOR);
        let mut targets: Vec<&str> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for target in measured().map(|row| &*row.target) {
            if targets.len() < MAX_TARGETS && !places.contains_key(target) {
                places.insert(target, targets.len());
                targets.push(target);
            }
        }
        let floor = suite.cases.iter().any(|row| row.target == FLOOR).then_some(FLOOR);
        targets.extend(floor);
        let subject_place = places.get(subject).copied();

        let labels = Labels::among(measured());
        let mut methods = measured().map(|row| row.method);
        let first = methods.next();
        let several_methods = methods.any(|method| Some(method) != first);
        let mut lines: Vec<Line<'a>> = Vec::new();
        let mut known: HashMap<_, usize> = HashMap::new();
        for row in measured() {
            let Some(place) = places.get(&*row.target).copied() else { continue };
            let line = *known.entry(key(row)).or_insert_with(|| {
                let mut name = labels.of_case(row);
                if several_methods {
                    name = format!("{name} · {}", label::method(row.method));
                }
                lines.push(Line { name, method: row.method, rows: vec![None; targets.len()], ratios: Vec::new() });
                lines.len() - 1
            });
            lines[line].rows[place].get_or_insert(row);
        }
        for line in &mut lines {
            let subject = subject_place.and_then(|place| line.rows[place]);
            if let (Some(_), Some(row)) = (floor, subject.or_else(|| line.rows.iter().flatten().next().copied()))
                && let Some(last) = line.rows.last_mut()
            {
                *last = suite.floor_of(row);
            }
            line.ratios = line.rows.iter().map(|row| ratio((*row)?, subject?)).collect();
        }
        Versus { suite: &suite.suite, subject, means: Vec::new(), targets, lines }.best_first()
    }

    /// Returns whether there is more than one target besides the floor.
    pub(crate) fn has_others(&self) -> bool {
        self.targets.iter().filter(|target| **target != FLOOR).count() > 1
    }

    fn best_first(mut self) -> Self {
        let mean = |place: usize| Mean::of(self.lines.iter().filter_map(|line| line.ratio(place)));
        let mut order: Vec<(usize, Option<Mean>)> = (0..self.targets.len()).map(|place| (place, mean(place))).collect();
        let rank = |(place, mean): &(usize, Option<Mean>)| {
            (self.targets[*place] == FLOOR, mean.map_or(f64::INFINITY, |mean| mean.ratio))
        };
        order.sort_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        self.targets = order.iter().map(|(place, _)| self.targets[*place]).collect();
        for line in &mut self.lines {
            line.rows = order.iter().map(|(place, _)| line.rows[*place]).collect();
            line.ratios = order.iter().map(|(place, _)| line.ratios[*place]).collect();
        }
        self.means = order.into_iter().map(|(_, mean)| mean).collect();
        self
    }

    /// Returns the lines in which CPU time was measured.
    pub(crate) fn costs(&self) -> impl Iterator<Item = &Line<'a>> {
        let known = |row: &&Row| row.server_cpu_us_per_request.is_some() && row.requests > 0;
        self.lines.iter().filter(move |line| line.rows.iter().flatten().any(known))
    }

    /// Returns the CPU time of a line's case on a target: `22.9 µs`; `None` if it was not measured.
    pub(crate) fn cpu(&self, line: &Line<'a>, place: usize) -> Option<String> {
        let row = line.rows[place].filter(|row| row.requests > 0)?;
        Some(format!("{} µs", figure(row.server_cpu_us_per_request?)))
    }

    /// Returns the CPU time of a line's case on a target, as a multiple of the subject's: `1.59× (1.55–1.63)`; `None` for the
    /// subject.
    pub(crate) fn multiple(&self, line: &Line<'a>, place: usize) -> Option<String> {
        line.ratios[place].filter(|_| self.targets[place] != self.subject).map(|ratio| sure(&ratio))
    }

    /// Returns the mean ratio of a target to the subject; `None` for the subject.
    pub(crate) fn mean(&self, place: usize) -> Option<Mean> {
        self.means[place].filter(|_| self.targets[place] != self.subject)
    }

    /// Returns the lines in which answers differ in length.
    pub(crate) fn unequal(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| {
            let mut sizes = line.rows.iter().flatten().map(|row| row.response_bytes).filter(|size| *size > 0);
            let first = sizes.next();
            sizes.any(|size| Some(size) != first)
        })
    }

    /// Returns all ratios between the other targets and the subject, without those of the floor.
    pub(crate) fn ratios_of_others(&self) -> impl Iterator<Item = Ratio> {
        let is_other = |place: &usize| self.targets[*place] != self.subject && self.targets[*place] != FLOOR;
        let places: Vec<usize> = (0..self.targets.len()).filter(is_other).collect();
        self.lines.iter().flat_map(move |line| places.clone().into_iter().filter_map(|place| line.ratios[place]))
    }

    /// Returns each case that other targets serve too, with the one that it costs least.
    pub(crate) fn rivals(&self) -> impl Iterator<Item = Rival<'a>> {
        self.lines.iter().filter_map(|line| {
            let others = self.targets.iter().zip(&line.ratios);
            let others = others.filter(|(target, _)| **target != self.subject && **target != FLOOR);
            let best = others.filter_map(|(target, ratio)| Some((*target, ratio.as_ref()?.ratio)));
            let (name, ratio) = best.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
            Some(Rival { case: format!("{} {}", self.suite, line.name), name, share: 1.0 / ratio })
        })
    }
}

/// The best of the other targets in one case.
#[derive(Debug)]
pub(crate) struct Rival<'a> {
    pub(crate) case: String,
    pub(crate) name: &'a str,
    /// The subject's CPU time as a share of this target's. Below 1, the subject takes less.
    pub(crate) share: f64,
}

impl fmt::Display for Rival<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {:.2})", self.case, self.name, self.share)
    }
}

/// The results over all suites.
#[derive(Debug)]
pub(crate) struct Overall<'a> {
    /// The mean over all suites for each target except subject and floor, in increasing order.
    pub(crate) means: Vec<(&'a str, Mean)>,
    /// The mean share of the CPU time of the best other target, over all cases.
    pub(crate) share: Option<Mean>,
    /// The cases in order of that share.
    pub(crate) rivals: Vec<Rival<'a>>,
}

impl<'a> Overall<'a> {
    pub(crate) fn of(suites: &[Versus<'a>]) -> Self {
        let mut ratios: HashMap<&str, Vec<f64>> = HashMap::new();
        for versus in suites {
            for (place, target) in versus.targets.iter().enumerate() {
                if *target != versus.subject && *target != FLOOR {
                    let own = ratios.entry(target).or_default();
                    own.extend(versus.lines.iter().filter_map(|line| line.ratio(place)));
                }
            }
        }
        let means = ratios.into_iter().filter_map(|(target, ratios)| Some((target, Mean::of(ratios.into_iter())?)));
        let mut means: Vec<_> = means.collect();
        means.sort_by(|(a, one), (b, other)| one.ratio.total_cmp(&other.ratio).then(a.cmp(b)));
        let mut rivals: Vec<_> = suites.iter().flat_map(Versus::rivals).collect();
        rivals.sort_by(|a, b| a.share.total_cmp(&b.share));
        Overall { means, share: Mean::of(rivals.iter().map(|rival| rival.share)), rivals }
    }

    /// Returns the cases in which another target takes less CPU time than the subject, the worst first.
    pub(crate) fn lost(&self) -> impl Iterator<Item = &Rival<'a>> {
        self.rivals.iter().rev().take_while(|rival| rival.share > 1.0)
    }
}

/// All properties in which rows can differ besides the target.
type Key<'a> = (&'a str, Option<&'a str>, Option<&'a str>, [&'static str; 2], Option<usize>, Option<u64>, bool);

fn key(row: &Row) -> Key<'_> {
    let (connections, rate) = row.given_load();
    let kind = [label::client(row.client), label::method(row.method)];
    let (network, style) = (row.network.as_deref(), row.style.as_deref());
    (&row.case, network, style, kind, connections, rate.map(f64::to_bits), row.keep_alive)
}

/// Returns the ratio of two rows; `None` if one of them has wrong answers.
fn ratio(row: &Row, subject: &Row) -> Option<Ratio> {
    let right = [row, subject].iter().all(|row| row.wrong() == 0 && row.requests > 0);
    row.cpu_ratio(subject).filter(|ratio| right && ratio.ratio > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates results of one suite from tuples of case, target, CPU time in microseconds, and errors.
    fn results(rows: &[(&str, &str, f64, u64)]) -> Results {
        let mut results: Results = serde_json::from_str(include_str!("../tests/data/results.json")).unwrap();
        let template = results.suites[0].cases[0].clone();
        let row = |(case, target, cpu, errors): &(&str, &str, f64, u64)| Row {
            case: (*case).to_owned(),
            target: (*target).to_owned(),
            server_cpu_us_per_request: Some(*cpu),
            errors: *errors,
            ..template.clone()
        };
        results.suites[0].cases = rows.iter().map(row).collect();
        results
    }

    #[test]
    fn targets_come_best_first_and_the_floor_last() {
        let results = results(&[
            ("a", "floor", 1.0, 0),
            ("a", "slow", 80.0, 0),
            ("a", "castile", 10.0, 0),
            ("b", "castile", 10.0, 0),
            ("b", "slow", 20.0, 0),
            ("b", "fast", 5.0, 0),
            ("c", "elsewhere", 5.0, 0),
        ]);
        let versus = &results.versus()[0];
        assert_eq!(versus.targets, ["fast", "castile", "slow", "elsewhere", "floor"]);
        let mean = |ratio: f64, count| Some(Mean { ratio, count });
        let means: Vec<_> = (0..5).map(|place| versus.mean(place)).collect();
        // The floor was driven for one of the cases. Its row is used for the other case too, since that transfers as many bytes.
        let expected = [mean(0.5, 1), None, mean(4.0, 2), None, mean(0.1, 2)];
        for (mean, expected) in means.iter().zip(&expected) {
            let close = |a: Mean, b: Mean| (a.ratio - b.ratio).abs() < 1e-9 && a.count == b.count;
            assert!(mean.zip(*expected).map_or(mean == expected, |(a, b)| close(a, b)), "{means:?}");
        }
        let names: Vec<_> = versus.lines.iter().map(|line| &*line.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(versus.lines[1].cheapest(versus), Some(0));
    }

    #[test]
    fn nothing_is_made_of_wrong_answers() {
        let results = results(&[("a", "castile", 10.0, 0), ("a", "wrong", 1.0, 3), ("a", "right", 20.0, 0)]);
        let suites = results.versus();
        let overall = Overall::of(&suites);
        let names: Vec<_> = overall.means.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["right"]);
        assert_eq!(overall.rivals.len(), 1);
        assert_eq!((overall.rivals[0].name, overall.rivals[0].share), ("right", 0.5));
        assert_eq!(overall.lost().count(), 0);
    }

    #[test]
    fn cases_that_other_targets_win_are_listed_worst_first() {
        let results = results(&[
            ("a", "castile", 10.0, 0),
            ("a", "other", 8.0, 0),
            ("b", "castile", 10.0, 0),
            ("b", "other", 5.0, 0),
            ("c", "castile", 10.0, 0),
            ("c", "other", 11.0, 0),
        ]);
        let suites = results.versus();
        let lost: Vec<_> = Overall::of(&suites).lost().map(|rival| (rival.case.clone(), rival.share)).collect();
        let suite = suites[0].suite;
        assert_eq!(lost, [(format!("{suite} b"), 2.0), (format!("{suite} a"), 1.25)]);
    }

    #[test]
    fn the_bench_is_about_castile_or_what_was_measured_first() {
        assert_eq!(
            results(&[("a", "floor", 1.0, 0), ("a", "x", 1.0, 0), ("a", "castile", 1.0, 0)]).subject(),
            Some("castile")
        );
        assert_eq!(results(&[("a", "floor", 1.0, 0), ("a", "x", 1.0, 0), ("a", "y", 1.0, 0)]).subject(), Some("x"));
        assert_eq!(results(&[("a", "floor", 1.0, 0)]).subject(), None);
    }

    #[test]
    fn multiples() {
        assert_eq!([times(0.6381), times(1.0), times(12.34), times(1234.5)], ["0.64×", "1.00×", "12.3×", "1,234×"]);
    }
}
