use std::collections::HashSet;

use castile_load::Requests;

use super::*;

#[test]
fn every_case_has_a_method_and_a_name_of_its_own() {
    let counts: Vec<(&str, usize, usize)> =
        SUITES.iter().map(|suite| (suite.name, (suite.cases)().len(), (suite.typed)().len())).collect();
    let expected = [
        ("seismic", 12, 12),
        ("styles", 12, 0),
        ("wstest", 6, 3),
        ("wspex", 15, 15),
        ("benchmark1", 11, 0),
        ("seismic-security", 6, 6),
    ];
    assert_eq!(counts, expected);
    for suite in SUITES {
        let mut names = HashSet::new();
        let raw = [suite.cases, suite.forms, suite.extras].into_iter().flat_map(|cases| cases());
        for case in raw {
            assert_eq!(case.suite, suite.name);
            assert!((suite.methods)().iter().any(|method| (method.applies)(&case.name)), "{}", case.name);
            assert!(case.count() > 0 && case.messages().len() == case.count(), "{}", case.name);
            assert!(names.insert((case.name.clone(), case.style.clone())), "{} {:?}", case.name, case.style);
        }
        for case in (suite.typed)() {
            assert!(matches!(case.requests, Requests::Typed { .. }));
            assert!(names.contains(&(case.name.clone(), case.style)), "{}", case.name);
        }
    }
}

#[test]
fn names_that_tell_nothing_by_themselves_are_explained() {
    for suite in SUITES {
        assert!(suite.about.ends_with('.'), "{}", suite.name);
        let cases: Vec<_> = (suite.cases)().into_iter().chain((suite.forms)()).collect();
        for case in &cases {
            if let Some(style) = &case.style {
                assert!(suite.terms.iter().any(|(name, _)| name == style), "{}: {style}", suite.name);
            }
        }
        for (name, _) in suite.terms {
            let is_meant = |case: &Case| case.name.starts_with(name) || case.style.as_deref() == Some(name);
            assert!(cases.iter().any(is_meant), "{}: no case is called {name}", suite.name);
        }
    }
}

#[test]
fn a_case_of_wspex_runs_for_eight_minutes() {
    let methods = (suite("wspex").unwrap().methods)();
    assert_eq!(methods.len(), 1);
    let Method { plan, passes, discarded, .. } = &methods[0];
    let pass = plan.warmup + plan.stop.after.unwrap();
    assert_eq!((pass * *passes as u32, plan.connections), (8 * MINUTE, 32));
    assert_eq!(passes - discarded, 2);
}

#[test]
fn methods_are_chosen_by_case() {
    let applying = |name: &str, case: &str| {
        let methods = (suite(name).unwrap().methods)();
        methods.iter().filter(|method| (method.applies)(case)).count()
    };
    assert_eq!([applying("wstest", "EchoVoid"), applying("wstest", "GetOrder")], [2, 1]);
    for case in styles::cases() {
        assert_eq!(applying("styles", &case.name), 1, "{}", case.name);
    }
    assert_eq!(applying("benchmark1", "echoVoid"), 2);
}

#[test]
fn published_figures_are_of_cases() {
    for suite in SUITES {
        let names: Vec<String> = (suite.cases)().into_iter().map(|case| case.name).collect();
        for published in (suite.published)() {
            assert!((suite.methods)().iter().any(|method| method.method == published.method), "{}", published.system);
            for figure in &published.figures {
                assert!(names.contains(&figure.case), "{}: {}", published.system, figure.case);
                assert!(figure.requests_per_second.is_some() || figure.mean_us.is_some(), "{figure:?}");
            }
        }
    }
    let all: Vec<String> = wspex::cases().into_iter().map(|case| case.name).collect();
    for published in wspex::published_figures() {
        assert_eq!(published.figures.iter().map(|figure| &*figure.case).collect::<Vec<_>>(), all);
    }
}
