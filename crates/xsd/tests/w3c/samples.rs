//! Tests that keys, key references and unique constraints hold in samples of the suite's schemas.

use castile_xsd::sample::Samples;
use castile_xsd::validate::Validator;

use super::instances::schema_of;
use super::suite::{Suite, Validity};

#[castile_corpus::needs("corpus/conformance/xsd/xsdtests-dev.tar.xz")]
#[test]
fn identity_constraints_of_samples_hold() {
    let suite = Suite::open();
    let (mut count, mut failures) = (0, Vec::new());
    for test in suite.schema_tests() {
        let is_asked = test.documents.iter().any(|path| path.to_string_lossy().contains("identityConstraint"));
        if !is_asked || test.validity == Validity::Invalid {
            continue;
        }
        let schema = schema_of(&test.documents);
        let mut validator = Validator::new(&schema);
        for element in schema.global_elements() {
            // If no sample satisfies the constraints the generator reports an error, which is ignored here.
            for sample in Samples::new(&schema, element).flatten() {
                count += 1;
                let problems = validator.validate(sample.as_bytes());
                let problem = problems.iter().find(|problem| problem.rule.starts_with("cvc-identity-constraint"));
                failures.extend(problem.map(|problem| format!("{}: {problem}: {sample}", test.name)));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
    assert!(count > 5_000, "{count}");
}
