//! Tests that every format of a report shows the figures of every method, and escapes all text.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

#[path = "support/sample.rs"]
mod sample;
#[path = "support/stacks.rs"]
mod stacks;

use castile_report::{
    Client, Comparison, Criterion, FLOOR, Interval, Method, Reason, ReportFormat, Results, Row, Spread, wrong_answers,
};

fn rows(results: &Results) -> Vec<&Row> {
    results.rows().filter(|row| row.target != FLOOR).collect()
}

/// Returns a copy in which each row of one case was measured again with other runs.
fn with_runs(mut results: Results, case: &str, runs: &[f64]) -> Results {
    for row in results.suites.iter_mut().flat_map(|suite| &mut suite.cases).filter(|row| row.case == case) {
        row.requests_per_second = Spread::of(runs.to_vec());
    }
    results
}

/// Returns a copy in which the raw rows of one case were measured in slices: 10 µs per request on the floor, and `cpu`
/// elsewhere.
fn in_slices(mut results: Results, case: &str, cpu: f64) -> Results {
    let rows = results.suites.iter_mut().flat_map(|suite| &mut suite.cases);
    for row in rows.filter(|row| row.case == case && row.client == Client::Raw) {
        let noise = if row.target == FLOOR { [1.0; 8] } else { [0.98, 1.0, 1.02, 0.99, 1.01, 1.0, 1.0, 1.0] };
        let cpu = if row.target == FLOOR { 10.0 } else { cpu };
        let slice = |factor| Interval { server_cpu_us_per_request: Some(cpu * factor), ..Interval::default() };
        row.series = noise.map(slice).into();
    }
    results
}

#[test]
fn each_form_knows_what_castile_wrote_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let results = sample::results();
    let comparison = Comparison::of(&[("a".to_owned(), results.clone()), ("b".to_owned(), results.clone())]);
    let texts = [
        (ReportFormat::Results, results.json().unwrap()),
        (ReportFormat::Page, results.page().unwrap()),
        (ReportFormat::Page, comparison.page().unwrap()),
        (ReportFormat::Csv, results.csv()),
        (ReportFormat::Junit, results.junit(&[], Row::wrong).unwrap()),
    ];
    for form in [ReportFormat::Results, ReportFormat::Page, ReportFormat::Csv, ReportFormat::Junit] {
        form.expect_own(&path).unwrap();
        form.expect_own(folder.path()).unwrap();
    }
    for (form, text) in &texts {
        std::fs::write(&path, text).unwrap();
        for other in [ReportFormat::Results, ReportFormat::Page, ReportFormat::Csv, ReportFormat::Junit] {
            assert_eq!(other.expect_own(&path).is_ok(), other == *form, "{form:?} for {other:?}");
        }
    }
}

/// The results of a day were once replaced by the next run.
#[test]
fn results_in_a_file_of_any_name_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("night.json");
    let (first, second) = (sample::results_of(1), sample::results_of(2));
    assert_eq!(first.write_json(&path).unwrap(), std::slice::from_ref(&path));
    let kept = folder.path().join("night.1.json");
    assert_eq!(second.write_json(&path).unwrap(), [path.clone(), kept.clone()]);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), first.json().unwrap());
    std::fs::write(&path, "{}").unwrap();
    assert!(second.write_json(&path).unwrap_err().to_string().contains("was not written by Castile"));
}

#[test]
fn the_page_has_every_case_and_fetches_nothing() {
    let results = sample::results();
    let first = ("before".to_owned(), results.clone());
    let comparison = Comparison::of(&[first, ("after".to_owned(), sample::results_of(11))]);
    for page in [results.page().unwrap(), comparison.page().unwrap()] {
        for outside in ["<script", "src=", "url(", "@import", "href=\"http", "http-equiv"] {
            assert!(!page.contains(outside), "found {outside}");
        }
        for row in rows(&results) {
            assert!(page.contains(&format!(">{}<", row.case)), "{}", row.case);
        }
    }
}

#[test]
fn the_page_describes_each_method() {
    let page = sample::results().page().unwrap();
    let texts = [
        // The deviation of a mean, published figures beside ours, and discarded passes.
        "29,200 ± 383",
        "19,621 ± 49",
        "(discarded)",
        // A sequence, a search, a ramp, and scheduled requests.
        "Time for the whole list",
        "121,289",
        "Throughput against load",
        "with 14,000 users (throughput stopped growing)",
        "first failed request",
        "10,000 dropped",
        "service time p99",
        "the driver was the limit: its cores were 99 % busy",
        "Latency distribution",
        "99.99 %",
        "&lt;script&gt;alert",
    ];
    for text in texts {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn each_method_has_a_table_of_its_own() {
    let table = sample::results().table();
    for text in ["users at", "why it ended", "matches", "dropped", "echoOrder500 · typed", ".01x200 · rpc-encoded"] {
        assert!(table.contains(text), "{text} in\n{table}");
    }
    assert!(table.contains("benchmark1: 25 connections, kept alive; 25 connections, one request each"), "{table}");
}

#[test]
fn comma_separated_values_have_a_line_for_each_row() {
    let results = sample::results();
    let csv = results.csv();
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + results.rows().count());
    let column = |name: &str| lines[0].iter().position(|heading| *heading == name).unwrap();
    for (line, row) in lines[1..].iter().zip(results.rows()) {
        // No text of the sample has a comma, so each is one field.
        assert_eq!(line.len(), lines[0].len(), "{line:?}");
        assert_eq!((line[column("case")], line[column("target")]), (&*row.case, &*row.target));
        assert_eq!(line[column("latency_p99_us")].parse::<f64>().unwrap(), row.latency_us.p99);
        let users = row.users_at_exit.map(|users| users.to_string()).unwrap_or_default();
        assert_eq!(line[column("users_at_exit")], users);
    }
}

/// Returns the tests of JUnit XML: suite, name, and whether they failed.
fn tests(junit: &str) -> Vec<(String, String, bool)> {
    let document = roxmltree::Document::parse(junit).unwrap();
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase")).map(|case| {
        let attribute = |name| case.attribute(name).unwrap().to_owned();
        let failed = case.children().any(|node| node.has_tag_name("failure"));
        (attribute("classname"), attribute("name"), failed)
    });
    let tests: Vec<_> = cases.collect();
    let failed = tests.iter().filter(|(.., failed)| *failed).count();
    assert_eq!(document.root_element().attribute("tests"), Some(&*tests.len().to_string()));
    assert_eq!(document.root_element().attribute("failures"), Some(&*failed.to_string()));
    tests
}

#[test]
fn junit_has_a_test_for_the_answers_and_for_each_condition_of_a_row() {
    let mut results = sample::results();
    results.suites[4].cases[0].reasons = vec![Reason { count: 2, text: "\u{0}\u{1b}[31m]]>".into() }];
    results.suites[4].cases[0].errors = 2;
    let criteria: Vec<Criterion> = vec!["rps<1000".parse().unwrap(), "mean>10s".parse().unwrap()];
    let text = results.junit(&criteria, |row| row.errors).unwrap();
    let tests = tests(&text);
    let rows = rows(&results);
    assert_eq!(tests.len(), rows.len() * 3);
    for (tests, row) in tests.chunks(3).zip(&rows) {
        let failed: Vec<bool> = tests.iter().map(|(.., failed)| *failed).collect();
        assert_eq!(failed, [row.errors > 0, row.requests_per_second.mean < 1000.0, false], "{}", row.case);
    }
    let names: std::collections::HashSet<_> = tests.iter().map(|(suite, name, _)| (suite, name)).collect();
    assert_eq!(names.len(), tests.len(), "each has a name of its own");
    assert!(text.contains("rps &lt; 1,000 requests"), "the criterion is told");
    // A condition on errors replaces the test of the answers.
    let lenient = results.junit(&["errors>100".parse().unwrap()], |row| row.errors).unwrap();
    assert!(!lenient.contains("<failure"), "41 errors are not more than 100");
}

#[test]
fn requests_that_were_never_sent_are_no_wrong_answers() {
    for (wrong, not_sent, expected) in [
        (5, 0, "5 wrong or missing answers"),
        (7, 7, "7 requests could not be sent"),
        (1200, 1, "1,199 wrong or missing answers, and 1 more request could not be sent"),
    ] {
        assert_eq!(wrong_answers(wrong, not_sent), expected);
    }
}

/// Names once contained the URL, users and connections, so a build server saw new tests whenever one of these changed.
#[test]
fn names_of_junit_are_the_same_with_other_settings() {
    let names = |results: &Results| -> Vec<String> {
        let junit = results.junit(&["p99>2s".parse().unwrap()], Row::wrong).unwrap();
        tests(&junit).into_iter().map(|(suite, name, _)| format!("{suite}/{name}")).collect()
    };
    let mut results = sample::load();
    let before = names(&results);
    assert_eq!(before[2..4], ["Orders/GetOrder: answers are right", "Orders/GetOrder: fails if p99 > 2.00 s"]);
    for row in &mut results.suites[0].cases {
        (row.target, row.connections, row.keep_alive) = ("http://127.0.0.1:9/".to_owned(), 7, false);
        (row.method, row.rhythm, row.rate) = (Method::Open, None, Some(50.0));
    }
    assert_eq!(names(&results), before);
}

#[test]
fn the_page_begins_with_conditions_and_reasons_of_failures() {
    let results = sample::load();
    let page = results.page().unwrap();
    let (first, _) = page.split_once("class=\"card\" role=\"group\"").unwrap();
    for text in [
        "<h1>Load: GetOrder + EchoVoid of Orders</h1>",
        "Conditions for failing: 1 of 3 true",
        "failed in 2 of 3 rows",
        "GetOrder + EchoVoid 41; GetOrder 41",
        "nearest: ",
        "order 17 is unknown</td><td class=\"words\">GetOrder + EchoVoid</td>",
    ] {
        assert!(first.contains(text), "{text} in {first}");
    }
    assert!(!first.contains("castile load"), "the command is no heading");
    let json: serde_json::Value = serde_json::from_str(&results.json().unwrap()).unwrap();
    let conditions: Vec<_> =
        json["conditions"].as_array().unwrap().iter().map(|one| (&one["fail_if"], &one["failed"])).collect();
    assert_eq!(conditions[1], (&"errors > 0".into(), &true.into()));
    assert_eq!(json["conditions"][1]["rows"][1]["found"], 41.0);
    let reasons = &json["suites"][0]["cases"][1]["reasons"];
    assert_eq!((&reasons[0]["count"], &reasons[1]["text"]), (&40.into(), &"no response within 10s".into()));
}

/// The report once spoke of benches: "compared with what was sent", "raised until throughput stops growing", "the driver
/// was the limit".
#[test]
fn the_report_of_a_load_has_its_own_wording() {
    let mut results = sample::load();
    let (page, table) = (results.page().unwrap(), results.table());
    for text in [
        "compared with the expected values",
        "stops growing",
        "at the peak",
        "was the limit",
        "not pinned",
        "run by run",
    ] {
        assert!(!page.contains(text) && !table.contains(text), "{text}");
    }
    assert!(table.contains("50 users, kept alive, each thinks for 20ms before a request"), "{table}");
    assert!(page.contains("the driver sent late: 1 % of requests by more than 40.0 ms"));
    for row in &mut results.suites[0].cases {
        (row.errors, row.reasons, row.lag_us) = (0, Vec::new(), None);
    }
    let page = results.page().unwrap();
    assert!(page.contains("answers were as expected;") && !page.contains("sent late"));
}

#[test]
fn the_page_explains_names_and_shows_uncertainty_and_build() {
    let page = sample::results().page().unwrap();
    for text in [
        "<h1>Bench of wspex, seismic, benchmark1, wstest and styles</h1>",
        "<li><a href=\"#suite-2\">seismic</a></li>",
        "<a class=\"up\" href=\"#top\">",
        "One client asks for earthquakes",
        "<dt>.01x200</dt><dd>200 queries",
        "<dt>typed</dt><dd>the generated client",
        "Uncertainty: unknown.",
        "commit <code>0123456789ab</code> with later changes; rustc 1.95.0",
        "allocator: an allocator",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("what no row has"));
}

#[test]
fn rows_fail_by_conditions_and_by_what_is_not_known() {
    let mut results = sample::results();
    results.suites.truncate(1);
    for row in &mut results.suites[0].cases {
        row.server_cpu_share = None;
    }
    let measured = rows(&results).len();
    let mut failed = |text: &str| {
        results.judge(&[text.parse().unwrap()]);
        results.conditions[0].failures().cloned().collect::<Vec<_>>()
    };
    assert_eq!((failed("errors>0").len(), failed("max>1us").len()), (0, measured));
    let unknown = failed("cpu > 80%");
    assert_eq!(unknown.len(), measured);
    let first = unknown[0].to_string();
    assert_eq!(first, "wspex echoVoid (castile, typed, 32 connections, kept alive, closed): not measured");
    let slow = failed("p99.99>20ms");
    assert!(slow.iter().all(|failed| failed.found > Some(20_000.0)) && !slow.is_empty() && slow.len() < measured);
}

/// Returns whether a line of a table begins with a name and contains a text, ignoring the widths of columns.
fn says(table: &str, name: &str, text: &str) -> bool {
    let spaced = |line: &str| format!(" {} ", line.split_whitespace().collect::<Vec<_>>().join(" "));
    table.lines().map(spaced).any(|line| line.contains(name) && line.contains(text))
}

#[test]
fn a_difference_is_shown_only_if_the_runs_leave_no_doubt() {
    let first = with_runs(sample::results(), "echoVoid", &[100.0, 101.0, 99.0]);
    let second = with_runs(sample::results(), "echoVoid", &[110.0, 111.0, 109.0]);
    let second = with_runs(second, "GetOrder", &[5.0]);
    let compare = |second: Results| Comparison::of(&[("a".to_owned(), first.clone()), ("b".to_owned(), second)]);
    let table = compare(second).table();
    let says = |name: &str, text: &str| says(&table, name, text);
    // Means 100 and 110, standard errors of √(2/3): ±2.776 of them at 4 degrees of freedom.
    assert!(says("echoVoid", "+10.0 % (+7.7 to +12.3) req/s: more"), "{table}");
    assert!(says("echoInteger", "req/s: no difference seen") && !says("echoInteger", "more"), "{table}");
    assert!(says("GetOrder", "unknown"), "one run tells nothing of its spread: {table}");
    let mut searched = sample::results();
    for row in searched.suites.iter_mut().flat_map(|suite| &mut suite.cases).filter(|row| row.method == Method::Users) {
        row.connections += 100;
    }
    assert!(!compare(searched).table().contains("unknown"), "what was found may differ, and is compared");
    let mut other = sample::results();
    other.machine.cores = 64;
    assert!(compare(other).warnings()[0].contains("machine"));
    // Use of the cores by other processes was once reported for the bench only, and not for its comparison.
    let mut disturbed = sample::results();
    disturbed.suites[0].cases[0].disturbed = Some(0.4);
    let compared = compare(disturbed);
    let [warning] = compared.warnings() else { panic!("{:?}", compared.warnings()) };
    assert!(warning.starts_with("Other processes used the cores") && warning.ends_with(": b"), "{warning}");
}

/// Requests per second depend on how busy the machine was. A higher rate was once called better although the server used
/// more CPU time.
#[test]
fn benches_are_judged_by_processor_time_where_both_have_it_beside_the_floor() {
    let bench = |cpu: f64, rate: f64| {
        let results = with_runs(sample::results(), "echoVoid", &[rate, rate + 1.0, rate - 1.0]);
        in_slices(results, "echoVoid", cpu)
    };
    let compare = |first: &Results, second: &Results| {
        Comparison::of(&[("a".to_owned(), first.clone()), ("b".to_owned(), second.clone())])
    };
    let (first, second) = (bench(12.0, 100.0), bench(15.0, 200.0));
    let comparison = compare(&first, &second);
    let table = comparison.table();
    // 15 µs against 12 µs, each with an error of up to 2 %.
    assert!(says(&table, " echoVoid · castile · raw ", "+25.0 % (+20.1 to +30.1) CPU: more"), "{table}");
    assert!(says(&table, " echoVoid · castile · typed ", "req/s: more"), "the floor has no typed client: {table}");
    for note in ["CPU: server CPU time per request", "req/s: requests per second, for"] {
        assert!(table.contains(note), "{note} in\n{table}");
    }
    let json: serde_json::Value = serde_json::from_str(&comparison.json().unwrap()).unwrap();
    let row = json["suites"][0]["rows"].as_array().unwrap().iter().find(|row| row["row"] == "castile · raw").unwrap();
    assert_eq!(row["differences"][0]["by"], "cpu-beside-floor", "{row}");
    assert_eq!(row["differences"][0]["verdict"], "worse", "{row}");
    assert_eq!(row["figures"][1]["times_floor"]["pairs"], 8, "{row}");
    let page = comparison.page().unwrap();
    assert!(page.contains("CPU: more") && page.contains("1.50 (1.47–1.53)"), "{page}");

    let table = compare(&second, &first).table();
    assert!(says(&table, " echoVoid · castile · raw ", "-20.0 % (-23.1 to -16.7) CPU: less"), "{table}");
    let table = compare(&first, &bench(12.1, 200.0)).table();
    assert!(says(&table, " echoVoid · castile · raw ", "CPU: no difference seen"), "{table}");
    // Errors are answered very quickly.
    let mut wrong = second.clone();
    for row in wrong.suites[0].cases.iter_mut().filter(|row| row.case == "echoVoid") {
        row.errors = 1;
    }
    let table = compare(&first, &wrong).table();
    assert!(says(&table, " echoVoid · castile · raw ", "req/s: more"), "{table}");
    let without = compare(&sample::results(), &sample::results_of(11)).table();
    assert!(!without.contains("CPU: "), "{without}");
}

#[test]
fn files_that_are_not_reports_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let absent = Results::read(directory.path()).unwrap_err();
    assert!(absent.to_string().ends_with("results.json"), "{absent}");
    std::fs::write(directory.path().join("results.json"), "{}").unwrap();
    assert!(Results::read(directory.path()).unwrap_err().to_string().contains("expected the results of a bench"));
    let results = sample::results();
    results.write(directory.path()).unwrap_err();
    std::fs::remove_file(directory.path().join("results.json")).unwrap();
    results.write(directory.path()).unwrap();
    let again = Results::read(directory.path()).unwrap();
    let rows = |results: &Results| -> Vec<_> {
        results.rows().map(|row| (row.case.clone(), row.method, row.requests, row.curve.len())).collect()
    };
    assert_eq!(rows(&again), rows(&results));
}

#[test]
fn bars_are_relative_to_any_of_many_targets() {
    let results = stacks::results();
    let page = results.page().unwrap();
    for (index, target) in
        ["HTTP floor"].into_iter().chain(results.targets.iter().map(|target| &*target.name)).enumerate()
    {
        assert!(page.contains(&format!("aria-label=\"{target} is 100 percent\"")), "{target}");
        assert!(page.contains(&format!(".c{index}:checked ~ .p{index}")), "a style for the choice of {target}");
    }
}

#[test]
fn the_headline_is_about_castile_and_no_peer() {
    let mut results = stacks::results();
    let page = results.page().unwrap();
    assert!(page.contains("All suites: castile") && page.contains("of castile had the right status"));
    // Figures of other targets change the comparison, but not the figures of Castile alone.
    let tiles = |page: &str| page[page.find("<dl class=\"tiles\"").unwrap()..page.find("</dl>").unwrap()].to_owned();
    for row in results.suites.iter_mut().flat_map(|suite| &mut suite.cases).filter(|row| row.target == "larch") {
        row.requests_per_second = Spread::of(vec![9e9]);
        row.server_peak_rss_bytes = Some(9_000_000_000);
        row.errors = 7;
    }
    assert_eq!(tiles(&results.page().unwrap()), tiles(&page));
}

#[test]
fn markdown_has_all_targets_side_by_side() {
    let results = stacks::results();
    let text = results.markdown();
    for known in results.targets.iter().flat_map(|target| [&target.name, target.versions.as_ref().unwrap()]) {
        assert!(text.contains(known), "{known}");
    }
    for warning in &results.warnings {
        assert!(text.contains(warning), "{warning}");
    }
    assert!(text.contains(&results.command) && text.contains(&results.machine.cpu));
    for suite in &results.suites {
        assert!(text.contains(&format!("\n## {}\n", suite.suite)));
    }
    // The CPU time relative to Castile is that of the rows, and the lowest of each case is highlighted.
    let cpu = |target: &str| {
        let row = results.rows().find(|row| (&*row.case, &*row.target) == ("EchoVoid", target)).unwrap();
        row.server_cpu_us_per_request.unwrap()
    };
    let line = text.lines().find(|line| line.starts_with("| EchoVoid ") && line.contains("µs · ")).unwrap();
    assert!(line.contains(&format!("**{:.1} µs**", cpu("castile"))), "{line}");
    assert!(line.contains(&format!("{:.1} µs · {:.2}×", cpu("rowan"), cpu("rowan") / cpu("castile"))), "{line}");
    // The signs after figures are explained below the table.
    for (sign, meaning) in
        [('ᵈ', "the driver was the limit"), ('ᵒ', "other processes"), ('ʳ', "was still getting faster"), ('ᵉ', "wrong")]
    {
        assert!(text.contains(&format!("{sign} ")) && text.contains(meaning), "{sign}");
    }
}

#[test]
fn markdown_tables_are_whole_whatever_names_are_in_them() {
    let mut results = stacks::results();
    let hostile = "a|b\n| c <b>*d*</b> `e` [f](http://g)";
    for row in results.suites.iter_mut().flat_map(|suite| &mut suite.cases) {
        row.case = format!("{hostile} {}", row.case);
        if row.target == "yew" {
            row.target = hostile.to_owned();
        }
    }
    results.command = hostile.to_owned();
    results.warnings.push(hostile.to_owned());
    let text = results.markdown();
    let mut tables = 0;
    let mut columns = 0;
    for line in text.lines() {
        // The command is shown as code, where Markdown has no meaning.
        let shown = line.strip_prefix("    ").map_or(line, |_| "");
        assert!(!shown.contains("<b>") && !shown.contains(" `e`") && !shown.contains(" [f]"), "{line}");
        let bars = shown.replace("\\|", "").matches('|').count();
        if bars == 0 {
            columns = 0;
        } else if columns == 0 {
            (tables, columns) = (tables + 1, bars);
        }
        assert_eq!(bars, columns, "{line}");
    }
    assert!(tables > results.suites.len() * 3, "{tables} tables");
}

#[test]
fn the_terminal_has_costs_side_by_side_for_several_targets_alone() {
    let heading = "server CPU time per request in µs, × castile’s";
    let text = stacks::results().table();
    assert_eq!(text.matches(heading).count(), stacks::results().suites.len(), "{text}");
    for mark in ["~ other processes used", "^ was still getting faster"] {
        assert!(text.contains(mark), "{mark}");
    }
    assert!(!sample::results().table().contains(heading));
    assert!(!sample::results().page().unwrap().contains("Side by side"));
}
