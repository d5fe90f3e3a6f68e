//! Tests what a report says of the results in `data/results.json`, in every form.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use castile_report::{Interval, Results};

/// A share of 392 % was once explained by the number of requests that a server finds at a time, and "60 % (± 46.8 %)"
/// was in bold type.
#[test]
fn the_lead_says_first_that_others_used_the_cores() {
    let lead = |results: &Results| {
        let page = results.page().unwrap();
        let (_, lead) = page.split_once("<p class=\"lead\">").unwrap();
        lead.split_once("</p>").unwrap().0.to_owned()
    };
    let mut results: Results = serde_json::from_str(include_str!("data/results.json")).unwrap();
    for row in &mut results.suites[0].cases {
        row.disturbed = None;
    }
    let quiet = lead(&results);
    assert!(quiet.contains("<strong>") && !quiet.contains("Other processes used the cores"), "{quiet}");
    for row in &mut results.suites[0].cases {
        row.disturbed = Some(0.94);
    }
    let disturbed = lead(&results);
    let at = |text: &str| disturbed.find(text);
    assert!(
        at("Other processes used the cores") < at("The typical case reaches") && at("Other processes used").is_some(),
        "{disturbed}"
    );
    assert!(!disturbed.contains("<strong>"), "{disturbed}");
}

#[test]
fn the_page_and_the_table_compare_with_the_floor() {
    let results: Results = serde_json::from_str(include_str!("data/results.json")).unwrap();
    let page = results.page().unwrap();
    for text in ["75.0 ± 0.3 %", "1.25 × floor", "30,000 ± 100", "echoInts-100", "results.json"] {
        assert!(page.contains(text), "{text}");
    }
    let table = results.table();
    for text in ["echoInts-100", "30,000", "40,000", "75 %", "1.25", "25 connections, kept alive"] {
        assert!(table.contains(text), "{text} in\n{table}");
    }
}

#[test]
fn the_report_is_written_where_it_is_asked_for() {
    let results: Results = serde_json::from_str(include_str!("data/results.json")).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let files = results.write(&directory.path().join("new/report")).unwrap();
    let json = std::fs::read_to_string(&files[0]).unwrap();
    assert_eq!(serde_json::from_str::<Results>(&json).unwrap(), results);
    assert!(std::fs::read_to_string(&files[1]).unwrap().starts_with("<!doctype html>"));
    results.write(&files[0]).unwrap_err();
}

/// Returns the results of the sample, whose two rows took turns in nine slices.
fn taken_in_turns() -> Results {
    let mut results: Results = serde_json::from_str(include_str!("data/results.json")).unwrap();
    let times = [1.14, 1.10, 1.12, 1.13, 1.11, 9.0, 1.12, 1.15, 1.09];
    for row in &mut results.suites[0].cases {
        let slice = |times: &f64| Interval {
            server_cpu_us_per_request: Some(if row.target == "floor" { 8.0 } else { 8.0 * times }),
            ..Interval::default()
        };
        row.series = times.iter().map(slice).collect();
    }
    results.slice_s = Some(0.05);
    results
}

#[test]
fn every_form_of_the_report_says_how_sure_a_ratio_is() {
    let results = taken_in_turns();
    let page = results.page().unwrap();
    for text in ["1.12 (1.10–1.15) × floor", "in slices of 50.0 ms", "lies within ± 2.23 % of the one given here"] {
        assert!(page.contains(text), "{text}");
    }
    let table = results.table();
    assert!(table.contains("1.12 (1.10–1.15)"), "{table}");
    let csv = results.csv();
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (names, first) = (lines.next().unwrap(), lines.next().unwrap());
    let cell = |name: &str| first[names.iter().position(|known| *known == name).unwrap()].parse::<f64>().unwrap();
    let figures = ["times_floor", "times_floor_low", "times_floor_high"].map(|name| (cell(name) * 1e6).round() / 1e6);
    assert_eq!(figures, [1.12, 1.10, 1.15]);
}

#[test]
fn targets_side_by_side_say_how_sure_their_ratios_are() {
    let mut results = taken_in_turns();
    for row in &mut results.suites[0].cases {
        row.target = if row.target == "floor" { "castile".to_owned() } else { "other".to_owned() };
    }
    let markdown = results.markdown();
    assert!(markdown.contains("1.12× (1.10–1.15)"), "{markdown}");
    assert!(markdown.contains("in slices of 50 ms"), "{markdown}");
    let (table, page) = (results.table(), results.page().unwrap());
    assert!(table.contains("1.12× (1.10–1.15)"), "{table}");
    assert!(page.contains("1.12× (1.10–1.15)"));
}
