//! Checks the validation of documents by a schema.

use castile_xsd::Documents;
use castile_xsd::validate::Validator;

use crate::{documents, shown};

/// Reads any bytes as a schema and documents to validate with it. A single document is validated with the
/// contract of `decode`.
///
/// Nothing panics, problems have a position in their document, and validating a document twice gives the same
/// result.
///
/// # Panics
/// One of these properties does not hold.
pub fn validate(input: &[u8]) {
    let inputs = documents(input);
    let (schema, instances) = match &*inputs {
        [] => return,
        [document] => {
            let contract = include_bytes!("../contracts/shapes.wsdl");
            let (definitions, _) =
                castile_wsdl::read("shapes.wsdl", &Documents::new().with("shapes.wsdl", &contract[..]));
            let Some(definitions) = definitions else { return };
            (definitions.schema, vec![*document])
        }
        [schema, instances @ ..] => {
            (castile_xsd::read("main.xsd", &Documents::new().with("main.xsd", *schema)).0, instances.to_vec())
        }
    };
    let mut validator = Validator::new(&schema);
    for instance in instances {
        let problems = validator.validate(instance);
        let lines = instance.iter().filter(|&&byte| byte == b'\n').count() + 1;
        for problem in &problems {
            assert!(problem.line >= 1 && problem.column >= 1 && !problem.message.is_empty());
            // UTF-16 has twice as many bytes, so there are never more lines than bytes.
            assert!(problem.line as usize <= lines.max(instance.len()), "{problem} of {}", shown(input));
        }
        assert_eq!(validator.validate(instance), problems, "judged again, {}", shown(input));
    }
}
