//! Which types are generated: those that operations reach, and those that were asked for.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::Path;

use castile_codegen::{FaultTypes, Options, Severity, cost, generate};

fn contract() -> &'static Path {
    Path::new("tests/reach/vm.wsdl")
}

fn options(change: impl FnOnce(&mut Options)) -> Options {
    let mut options = Options::default();
    options.server = false;
    change(&mut options);
    options
}

/// The types of a module, but for its client.
fn types(options: &Options) -> String {
    let source = generate(contract(), options).unwrap().source;
    let lines = source.lines().map(str::trim);
    let names = lines.filter_map(|line| line.strip_prefix("pub struct ").or(line.strip_prefix("pub enum ")));
    let mut names: Vec<&str> = names.filter_map(|name| name.split([' ', ';', '<']).next()).collect();
    names.retain(|name| *name != "VmClient");
    names.sort_unstable();
    names.join(" ")
}

#[test]
fn faults_have_types_as_far_as_that_is_wanted() {
    for (faults, expected) in [
        (
            FaultTypes::All,
            "AnyFault AnyFaultOrDerived Full GetFault Host NoHost NotFound NotFoundOrDerived Property PutFault",
        ),
        (FaultTypes::Declared, "AnyFault AnyFaultOrDerived Full GetFault NotFound NotFoundOrDerived Property PutFault"),
        (FaultTypes::None, "AnyFault AnyFaultOrDerived Property"),
    ] {
        assert_eq!(types(&options(|options| options.faults = faults)), expected, "{faults:?}");
    }
    let of_get = options(|options| {
        options.operations = vec!["get".to_owned()];
        options.faults = FaultTypes::Declared;
    });
    assert_eq!(types(&of_get), "AnyFault AnyFaultOrDerived GetFault NotFound NotFoundOrDerived Property");
}

#[test]
fn types_that_no_operation_names_can_be_asked_for() {
    let with = |name: &str| {
        options(|options| {
            options.types = vec![name.to_owned()];
            options.faults = FaultTypes::None;
        })
    };
    let expected = "AnyFault AnyFaultOrDerived LongSummary Property Summary SummaryOrDerived";
    assert_eq!(types(&with("Summary")), expected);
    assert_eq!(types(&with("{urn:vm}Summary")), expected);
    // A fault that was asked for is one that may come.
    assert_eq!(types(&with("NoHost")), "AnyFault AnyFaultOrDerived Host NoHost Property");
    let diagnostics = generate(contract(), &with("Sumary")).unwrap_err();
    assert_eq!(diagnostics[0].message, "there is no type Sumary, which was requested");
    assert_eq!(diagnostics[0].severity, Severity::Error);
}

#[test]
fn the_cost_of_each_part_of_a_contract_is_known() {
    let costs = cost(contract(), &castile_codegen::Files::new(), &options(|_| {})).unwrap();
    let of = |name: &str| costs.iter().find(|cost| cost.name == name).unwrap_or_else(|| panic!("{name} in {costs:?}"));
    // The cause of a fault is in messages too, so faults alone lead to those that they declare.
    let (host, no_host, operation) = (of("type Host"), of("type NoHost"), of("operation get"));
    assert!(no_host.alone == no_host.lines + host.lines && host.alone == host.lines, "{costs:?}");
    assert!(operation.lines == 0 && operation.alone >= of("type Property").lines, "{costs:?}");
    let all: usize = costs.iter().map(|cost| cost.lines).sum();
    let source = generate(contract(), &options(|_| {})).unwrap().source;
    let total = source.lines().filter(|line| !line.is_empty()).count();
    assert!(all <= total && all * 10 > total * 8, "{all} of {total}");
}
