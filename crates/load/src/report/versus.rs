//! Targets side by side: what the same requests cost each of them, beside the one that a bench is about.

use std::collections::{HashMap, HashSet};
use std::fmt;

use super::format::figure;
use super::label::{self, Labels};
use super::{FLOOR, Method, Ratio, Results, Row, Suite, Target};

/// The targets of one suite.
#[derive(Debug)]
pub(super) struct Versus<'a> {
    pub(super) suite: &'a str,
    /// What a bench is about, and the others are beside.
    pub(super) subject: &'a str,
    /// Least CPU time first, by the mean of the ratios; then those without one; the floor last.
    pub(super) targets: Vec<&'a str>,
    /// For each target its CPU time as a multiple of the subject's.
    means: Vec<Option<Mean>>,
    pub(super) lines: Vec<Line<'a>>,
}

/// More columns nobody reads; and there is a cell for each case and target, of which a file may have as many as rows.
const MOST_TARGETS: usize = 64;

/// The rows that differ in nothing but the target.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// The case, and what tells it from others of this name.
    pub(super) name: String,
    pub(super) method: Method,
    /// One for each target.
    pub(super) rows: Vec<Option<&'a Row>>,
    /// For each target its CPU time as a multiple of the subject's; `None` where one of the two is not known, or wrong.
    pub(super) ratios: Vec<Option<Ratio>>,
}

impl Line<'_> {
    /// The CPU time of a target as a multiple of the subject's, without what tells how sure it is.
    fn ratio(&self, place: usize) -> Option<f64> {
        self.ratios[place].map(|ratio| ratio.ratio)
    }

    /// The target that takes least CPU time, if there are several; the floor does no work and is none.
    pub(super) fn cheapest(&self, versus: &Versus<'_>) -> Option<usize> {
        let places = (0..self.rows.len()).filter(|place| versus.targets[*place] != FLOOR);
        let known = places.filter_map(|place| Some((place, self.ratio(place)?)));
        let known: Vec<_> = known.collect();
        let best = known.iter().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        (known.len() > 1).then_some(best.0)
    }
}

/// A geometric mean: that of ratios doesn't depend on which of two is divided by the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mean {
    pub(super) ratio: f64,
    /// How many ratios it is of.
    pub(super) count: usize,
}

impl Mean {
    /// Nothing of no ratios.
    pub(super) fn of(ratios: impl Iterator<Item = f64>) -> Option<Self> {
        let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| (sum + ratio.ln(), count + 1));
        (count > 0).then(|| Mean { ratio: (sum / count as f64).exp(), count })
    }
}

/// What is known of a target over all suites.
#[derive(Debug)]
pub(super) struct Standing<'a> {
    pub(super) name: &'a str,
    about: Option<&'a Target>,
    /// Its CPU time as a multiple of the subject's; `None` for the subject, and where they have no case in common.
    pub(super) mean: Option<Mean>,
    /// The most memory that it had resident in any row.
    pub(super) peak_memory: Option<u64>,
}

impl Standing<'_> {
    /// `Apache CXF: CXF 4.1.3 on its Jetty 12`; what is said twice is said once.
    pub(super) fn what(&self) -> String {
        let about = self.about.map(|about| (&about.title, &about.versions));
        match about {
            Some((Some(title), Some(versions))) if versions.starts_with(&**title) => versions.clone(),
            Some((title, versions)) => title.iter().chain(versions).cloned().collect::<Vec<_>>().join(": "),
            None => String::new(),
        }
    }

    pub(super) fn language(&self) -> &str {
        self.about.and_then(|about| about.language.as_deref()).unwrap_or_default()
    }

    /// With its unit.
    pub(super) fn first_answer(&self) -> Option<String> {
        Some(format!("{} ms", figure(self.about?.first_answer_ms?)))
    }
}

/// What a target is called in headings.
pub(super) fn title(target: &str) -> &str {
    if target == FLOOR { "HTTP floor" } else { target }
}

/// How many times something is, with its sign: `0.64×`, `12.3×`.
pub(super) fn times(ratio: f64) -> String {
    multiple(ratio) + "×"
}

/// How many times something is, with how sure that is: `1.59× (1.55–1.63)`.
pub(super) fn sure(ratio: &Ratio) -> String {
    ratio.written(multiple, "×")
}

fn multiple(ratio: f64) -> String {
    if ratio < 0.9995 { format!("{ratio:.2}") } else { figure(ratio) }
}

impl Results {
    /// The target that the bench is about: Castile's own server, else the first that was measured.
    pub(super) fn subject(&self) -> Option<&str> {
        let measured = || self.rows().filter(|row| row.target != FLOOR).map(|row| &*row.target);
        measured().find(|target| *target == "castile").or_else(|| measured().next())
    }

    /// The targets of each suite.
    pub(super) fn versus(&self) -> Vec<Versus<'_>> {
        let Some(subject) = self.subject() else { return Vec::new() };
        self.suites.iter().map(|suite| Versus::of(suite, subject)).collect()
    }

    /// The targets: the subject, then those that have cases in common with it, least CPU time first, then the others.
    pub(super) fn standings<'a>(&'a self, overall: &Overall<'a>) -> Vec<Standing<'a>> {
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
        let standing = |(name, mean)| Standing {
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
            if targets.len() < MOST_TARGETS && !places.contains_key(target) {
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

    /// Whether there is more than one target, the floor not counted.
    pub(super) fn has_others(&self) -> bool {
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

    /// The lines in which CPU time was measured.
    pub(super) fn costs(&self) -> impl Iterator<Item = &Line<'a>> {
        let known = |row: &&Row| row.server_cpu_us_per_request.is_some() && row.requests > 0;
        self.lines.iter().filter(move |line| line.rows.iter().flatten().any(known))
    }

    /// What a line's case cost a target: `22.9 µs`; `None` where it was not measured.
    pub(super) fn cpu(&self, line: &Line<'a>, place: usize) -> Option<String> {
        let row = line.rows[place].filter(|row| row.requests > 0)?;
        Some(format!("{} µs", figure(row.server_cpu_us_per_request?)))
    }

    /// What a line's case cost a target, as a multiple of what it cost the subject: `1.59× (1.55–1.63)`; `None` for the subject.
    pub(super) fn multiple(&self, line: &Line<'a>, place: usize) -> Option<String> {
        line.ratios[place].filter(|_| self.targets[place] != self.subject).map(|ratio| sure(&ratio))
    }

    /// The mean of a target beside the subject; `None` for the subject.
    pub(super) fn mean(&self, place: usize) -> Option<Mean> {
        self.means[place].filter(|_| self.targets[place] != self.subject)
    }

    /// The lines in which not all answers are equally long.
    pub(super) fn unequal(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| {
            let mut sizes = line.rows.iter().flatten().map(|row| row.response_bytes).filter(|size| *size > 0);
            let first = sizes.next();
            sizes.any(|size| Some(size) != first)
        })
    }

    /// All ratios between the others and the subject; those of the floor are not among them.
    pub(super) fn ratios_of_others(&self) -> impl Iterator<Item = Ratio> {
        let is_other = |place: &usize| self.targets[*place] != self.subject && self.targets[*place] != FLOOR;
        let places: Vec<usize> = (0..self.targets.len()).filter(is_other).collect();
        self.lines.iter().flat_map(move |line| places.clone().into_iter().filter_map(|place| line.ratios[place]))
    }

    /// Each case that others serve too, with the one of them that it costs least.
    pub(super) fn rivals(&self) -> impl Iterator<Item = Rival<'a>> {
        self.lines.iter().filter_map(|line| {
            let others = self.targets.iter().zip(&line.ratios);
            let others = others.filter(|(target, _)| **target != self.subject && **target != FLOOR);
            let best = others.filter_map(|(target, ratio)| Some((*target, ratio.as_ref()?.ratio)));
            let (name, ratio) = best.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
            Some(Rival { case: format!("{} {}", self.suite, line.name), name, share: 1.0 / ratio })
        })
    }
}

/// The best of the others in one case.
#[derive(Debug)]
pub(super) struct Rival<'a> {
    pub(super) case: String,
    pub(super) name: &'a str,
    /// The subject's CPU time as a share of its: below 1, the subject takes less.
    pub(super) share: f64,
}

impl fmt::Display for Rival<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {:.2})", self.case, self.name, self.share)
    }
}

/// What all suites come to.
#[derive(Debug)]
pub(super) struct Overall<'a> {
    /// The mean over all suites for each target but subject and floor, least first.
    pub(super) means: Vec<(&'a str, Mean)>,
    /// The mean share of the best of the others' CPU time, case by case.
    pub(super) share: Option<Mean>,
    /// The cases in order of that share.
    pub(super) rivals: Vec<Rival<'a>>,
}

impl<'a> Overall<'a> {
    pub(super) fn of(suites: &[Versus<'a>]) -> Self {
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

    /// The cases in which another takes less CPU time than the subject, the worst first.
    pub(super) fn lost(&self) -> impl Iterator<Item = &Rival<'a>> {
        self.rivals.iter().rev().take_while(|rival| rival.share > 1.0)
    }
}

/// All that rows can differ in beside the target.
type Key<'a> = (&'a str, Option<&'a str>, Option<&'a str>, [&'static str; 2], Option<usize>, Option<u64>, bool);

fn key(row: &Row) -> Key<'_> {
    let (connections, rate) = row.given_load();
    let kind = [label::client(row.client), label::method(row.method)];
    let (network, style) = (row.network.as_deref(), row.style.as_deref());
    (&row.case, network, style, kind, connections, rate.map(f64::to_bits), row.keep_alive)
}

/// Nothing is said of what was answered wrongly.
fn ratio(row: &Row, subject: &Row) -> Option<Ratio> {
    let right = [row, subject].iter().all(|row| row.wrong() == 0 && row.requests > 0);
    row.cpu_ratio(subject).filter(|ratio| right && ratio.ratio > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of one suite: case, target, CPU time in microseconds, errors.
    fn results(rows: &[(&str, &str, f64, u64)]) -> Results {
        let mut results: Results = serde_json::from_str(include_str!("../../tests/data/results.json")).unwrap();
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
        // The floor was driven for one of the cases, and stands for the other that moves as many bytes.
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
    fn the_cases_that_others_win_are_told_worst_first() {
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
