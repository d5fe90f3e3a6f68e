//! Writes the results as GitHub Markdown: the tables of a comparison, for a document.

use crate::format::{NONE, bytes, count, microseconds};
use crate::label::ways;
use crate::measure::Measure;
use crate::versus::{Line, Overall, Rival, Versus, times, title};
use crate::{FLOOR, Method, Results, Row};

/// A mark for a doubtful figure: the sign after it, its meaning, and when it applies.
type Mark = (char, &'static str, fn(&Row) -> bool);

const MARKS: [Mark; 4] = [
    ('ᵈ', "the driver was the limit, so the server can do more", |row| row.driver_limited),
    ('ᵒ', "other processes used the cores of server or driver", |row| row.disturbed.is_some()),
    ('ʳ', "was still getting faster when it was measured, so it can do more", |row| row.rising),
    ('ᵉ', "answers were wrong or missing, so the figure is not valid", |row| row.wrong() > 0),
];

impl Results {
    /// Returns the results as Markdown: how they were made, a table of the targets, and for each suite tables with
    /// the targets as columns. The order of columns is by server CPU time.
    pub fn markdown(&self) -> String {
        let suites = self.versus();
        let overall = Overall::of(&suites);
        let mut text = format!("# {}\n\n", escaped(&format!("Castile {}, measured {}", self.castile, self.date)));
        text += &self.circumstances();
        if let Some(subject) = self.subject() {
            text += &headline(subject, &overall);
            text += &self.targets(subject, &overall);
            text += &memory(self, &suites, subject);
        }
        for versus in suites.iter().filter(|versus| !versus.lines.is_empty()) {
            text += &self.suite(versus);
        }
        text
    }

    fn circumstances(&self) -> String {
        let machine = &self.machine;
        let memory = machine.memory_bytes.map(|size| format!(", {} of memory", bytes(size as f64))).unwrap_or_default();
        let cores = if machine.cores == 1 { "1 core".to_owned() } else { format!("{} cores", machine.cores) };
        let each = if self.duration_s > 0.0 { format!(" of {} s", self.duration_s) } else { String::new() };
        let facts = [
            ("Machine", format!("{}, {cores}{memory}, {}", machine.cpu, machine.os)),
            ("Placement", self.placement.clone()),
            (
                "Runs",
                format!(
                    "{}{each} for each row unless stated otherwise, each after {} s of warm-up; the targets take \
                     turns{}",
                    self.runs,
                    self.warmup_s,
                    self.turns()
                ),
            ),
            ("Answers", self.answers()),
        ];
        let mut text = format!("Repeat it with\n\n    {}\n\n", self.command.replace(['\r', '\n'], " "));
        for (name, fact) in facts {
            text += &format!("- {name}: {}\n", escaped(&fact));
        }
        for warning in &self.warnings {
            text += &format!("- **Warning**: {}\n", escaped(warning));
        }
        text + "\n"
    }

    /// Returns how long a slice is, and the effect of slices.
    fn turns(&self) -> String {
        self.slice_s.map_or_else(String::new, |time| {
            format!(
                " in slices of {} ms, or longer if the slowest target needs it; if server and driver have their own \
                 cores, the driver is on the server's cores for half of each slice, to measure CPU time; a ratio is \
                 the median of the ratios of paired slices, with its 95 % interval in brackets",
                time * 1e3
            )
        })
    }

    fn answers(&self) -> String {
        let sum = |of: fn(&Row) -> u64| self.wholes().map(of).sum::<u64>();
        let (requests, verified) = (sum(|row| row.requests), count(sum(|row| row.verified) as f64));
        match self.errors() {
            0 => format!("all {} had the right status and length; {verified} were decoded", count(requests as f64)),
            errors => {
                let (not_sent, sent) = (sum(|row| row.not_sent), sum(Row::sent));
                let wrong = count(errors.saturating_sub(not_sent) as f64);
                let text = format!("{wrong} of {} were wrong or missing", count(sent as f64));
                match not_sent {
                    0 => text,
                    not_sent => format!("{text}; {} more requests could not be sent", count(not_sent as f64)),
                }
            }
        }
    }

    /// Returns the table of the targets with their overall results.
    fn targets(&self, subject: &str, overall: &Overall<'_>) -> String {
        let cpu = format!("CPU time, × {subject}");
        let mut table = Table::new(["target", "software", "language", &cpu, "cases", "first answer", "peak memory"]);
        table.words = 3;
        for standing in self.target_summaries(overall) {
            table.lines.push(vec![
                title(standing.name).to_owned(),
                standing.what(),
                standing.language().to_owned(),
                optional(standing.mean, |mean| times(mean.ratio)),
                optional(standing.mean, |mean| mean.count.to_string()),
                standing.first_answer().unwrap_or_else(|| NONE.to_owned()),
                optional(standing.peak_memory, |size| bytes(size as f64)),
            ]);
        }
        let note = format!(
            "CPU time: of the server per request, as a multiple of {subject}’s; the geometric mean over the cases \
             that both have. First answer: from the start of the process to the first right answer."
        );
        format!("## Targets\n\n{}\n{}\n\n", table.text(), escaped(&note))
    }

    fn suite(&self, versus: &Versus<'_>) -> String {
        let mut text = format!("## {}\n\n", escaped(versus.suite));
        if let Some(about) =
            self.suites.iter().find(|known| known.suite == versus.suite).and_then(|suite| suite.about.as_ref())
        {
            text += &format!("{}\n\n", escaped(about));
        }
        let rows = || versus.lines.iter().flat_map(|line| line.rows.iter().copied().flatten());
        let mut methods: Vec<Method> = Vec::new();
        for row in rows() {
            if !methods.contains(&row.method) {
                methods.push(row.method);
            }
        }
        for way in ways(rows().filter(|row| row.target != FLOOR)) {
            text += &format!("- {}\n", escaped(&way));
        }
        text += "\n";
        text += &cpu(versus);
        for method in methods {
            let lines: Vec<_> = versus.lines.iter().filter(|line| line.method == method).collect();
            let measure = Measure::of_method(method, lines.iter().flat_map(|line| line.rows.iter().copied().flatten()));
            let less = if measure.less_is_better { "less is better" } else { "more is better" };
            let caption = format!("{}, in {}; {less}", measure.title, measure.unit);
            text += &figures(versus, &lines, &caption, true, |row| measure.written(row));
            text += &figures(versus, &lines, "Latency: median / 99th percentile", true, |row| {
                let latency = &row.latency_us;
                (row.requests > 0).then(|| format!("{} / {}", microseconds(latency.p50), microseconds(latency.p99)))
            });
        }
        let lines: Vec<_> = versus.unequal().collect();
        text += &figures(versus, &lines, "Bytes of a response, if the targets differ", false, |row| {
            (row.response_bytes > 0).then(|| count(row.response_bytes as f64))
        });
        let signs = MARKS.iter().filter(|(_, _, holds)| rows().any(holds));
        let signs: Vec<_> = signs.map(|(sign, meaning, _)| format!("{sign} {meaning}")).collect();
        if !signs.is_empty() {
            text += &format!("{}.\n\n", signs.join("; "));
        }
        text
    }
}

/// Returns the main result in a sentence; empty if there are no other targets.
fn headline(subject: &str, overall: &Overall<'_>) -> String {
    let (Some(best), Some(worst), Some(mean)) = (overall.rivals.first(), overall.rivals.last(), overall.share) else {
        return String::new();
    };
    let mut text = format!(
        "{subject} takes {:.2} times the server CPU time per request of the best other target of each case: the \
         geometric mean of {} cases, from {:.2} ({}; the best is {}) to {:.2} ({}; the best is {}).",
        mean.ratio, mean.count, best.share, best.case, best.name, worst.share, worst.case, worst.name
    );
    let lost: Vec<_> = overall.lost().map(Rival::to_string).collect();
    if !lost.is_empty() {
        text += &format!(" Another target takes less in {}: {}.", lost.len(), lost.join("; "));
    }
    format!("{}\n\n", escaped(&text))
}

/// Returns the table of each target's peak resident memory by suite. Each suite has its own server process.
fn memory(results: &Results, suites: &[Versus<'_>], subject: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in suites.iter().flat_map(|versus| versus.targets.iter().copied()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let peak = |suite: &str, name: &str| {
        let rows = results.suites.iter().filter(|known| known.suite == suite).flat_map(|known| &known.cases);
        rows.filter(|row| row.target == name).filter_map(|row| row.server_peak_rss_bytes).max()
    };
    names.retain(|name| suites.iter().any(|versus| peak(versus.suite, name).is_some()));
    if names.is_empty() {
        return String::new();
    }
    let mut table = Table::new(std::iter::once("suite").chain(names.iter().map(|name| title(name))));
    for versus in suites {
        let own = peak(versus.suite, subject);
        let cells = names.iter().map(|name| {
            let Some(size) = peak(versus.suite, name) else { return NONE.to_owned() };
            match own {
                Some(own) if own > 0 && *name != subject => {
                    format!("{} · {}", bytes(size as f64), times(size as f64 / own as f64))
                }
                _ => bytes(size as f64),
            }
        });
        table.lines.push(std::iter::once(versus.suite.to_owned()).chain(cells).collect());
    }
    format!("**{}**\n\n{}\n", escaped(&format!("Peak memory, and its multiple of {subject}’s")), table.text())
}

/// Returns the table of server CPU time by case and target, with the lowest of each case in bold.
fn cpu(versus: &Versus<'_>) -> String {
    let mut table = Table::of_targets(versus);
    for line in versus.costs() {
        let best = line.cheapest(versus);
        let cells = line.rows.iter().enumerate().map(|(place, row)| {
            let Some((row, cpu)) = row.zip(versus.cpu(line, place)) else { return NONE.to_owned() };
            let multiple = versus.multiple(line, place).map(|multiple| format!(" · {multiple}")).unwrap_or_default();
            let text = cpu + &multiple + &signs(row, false);
            if best == Some(place) { format!("**{text}**") } else { text }
        });
        table.lines.push(std::iter::once(escaped(&line.name)).chain(cells).collect());
    }
    if table.lines.is_empty() {
        return String::new();
    }
    let caption = match versus.has_others() {
        true => format!("Server CPU time per request, and its multiple of {}’s; less is better", versus.subject),
        false => "Server CPU time per request; less is better".to_owned(),
    };
    if versus.has_others() {
        let mean = |place| optional(versus.mean(place), |mean| format!("{}, of {}", times(mean.ratio), mean.count));
        let cells = (0..versus.targets.len()).map(mean);
        table.lines.push(std::iter::once("*geometric mean, number of cases*".to_owned()).chain(cells).collect());
    }
    table.is_escaped = true;
    format!("**{}**\n\n{}\n", escaped(&caption), table.text())
}

/// Returns the table of a figure by case and target.
fn figures(
    versus: &Versus<'_>,
    lines: &[&Line<'_>],
    caption: &str,
    marked: bool,
    text: impl Fn(&Row) -> Option<String>,
) -> String {
    let mut table = Table::of_targets(versus);
    for line in lines {
        let cells = line.rows.iter().map(|row| row.and_then(|row| Some((row, text(row)?))));
        let cells: Vec<_> = cells
            .map(|cell| match cell {
                Some((row, text)) if marked => text + &signs(row, true),
                Some((_, text)) => text,
                None => NONE.to_owned(),
            })
            .collect();
        if cells.iter().any(|cell| cell != NONE) {
            table.lines.push(std::iter::once(line.name.clone()).chain(cells).collect());
        }
    }
    match table.lines.is_empty() {
        true => String::new(),
        false => format!("**{}**\n\n{}\n", escaped(caption), table.text()),
    }
}

/// Returns the signs of the marks that apply. A limit of the driver doesn't affect CPU time.
fn signs(row: &Row, of_speed: bool) -> String {
    let limits = if of_speed { &MARKS[..] } else { &MARKS[1..] };
    limits.iter().filter(|(_, _, holds)| holds(row)).map(|(sign, ..)| sign).collect()
}

fn optional<T>(figure: Option<T>, text: impl Fn(T) -> String) -> String {
    figure.map_or_else(|| NONE.to_owned(), text)
}

/// A table that is also readable in the source: each column is as wide as its widest cell.
struct Table {
    headings: Vec<String>,
    lines: Vec<Vec<String>>,
    /// The number of leading columns that contain words, which are left-aligned.
    words: usize,
    /// Whether the cells are Markdown already.
    is_escaped: bool,
}

impl Table {
    fn new<'a>(headings: impl IntoIterator<Item = &'a str>) -> Self {
        let headings = headings.into_iter().map(escaped).collect();
        Table { headings, lines: Vec::new(), words: 1, is_escaped: false }
    }

    /// Creates a table whose first column has the names of the cases.
    fn of_targets(versus: &Versus<'_>) -> Self {
        Table::new(std::iter::once("case").chain(versus.targets.iter().map(|target| title(target))))
    }

    /// Returns the table without its empty columns.
    fn text(self) -> String {
        let Table { headings, mut lines, words, is_escaped } = self;
        if !is_escaped {
            lines.iter_mut().flatten().for_each(|cell| *cell = escaped(cell));
        }
        let kept: Vec<usize> = (0..headings.len())
            .filter(|column| lines.iter().any(|line| !line[*column].is_empty() && line[*column] != NONE))
            .collect();
        let length = |text: &String| text.chars().count();
        let widths: Vec<usize> = kept
            .iter()
            .map(|column| lines.iter().chain([&headings]).map(|line| length(&line[*column])).max().unwrap_or(0).max(3))
            .collect();
        let written = |line: &Vec<String>| {
            let cells = kept.iter().zip(&widths).map(|(column, width)| match *column < words {
                true => format!(" {:<width$} ", line[*column]),
                false => format!(" {:>width$} ", line[*column]),
            });
            format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
        };
        let rules = kept.iter().zip(&widths).map(|(column, width)| match *column < words {
            true => "-".repeat(width + 2),
            false => format!("{}:", "-".repeat(width + 1)),
        });
        let rule = format!("|{}|\n", rules.collect::<Vec<_>>().join("|"));
        written(&headings) + &rule + &lines.iter().map(written).collect::<String>()
    }
}

/// Escapes text so that it is shown literally, on one line. Names may come from untrusted contracts and URLs.
fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' => written.extend(['\\', c]),
            '<' => written += "&lt;",
            '>' => written += "&gt;",
            '&' => written += "&amp;",
            c if c.is_control() => written.push(' '),
            c => written.push(c),
        }
    }
    written
}
