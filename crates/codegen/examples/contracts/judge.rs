//! Has messages judged by Castile's own validator, which knows the schema and nothing of generated code.
//!
//! Those in SOAP encoding, of which a schema knows nothing, are taken as `tests/contracts/encoded.py` has unrolled them, with the
//! schemas that it has told of the encoding.

use std::path::Path;

use castile_xsd::Files;
use castile_xsd::validate::Validator;
use serde_json::{Value, json};

use crate::{Error, contracts};

/// Judges what was made and what was written in a project, and says what is wrong.
pub(crate) fn judge(family: &Path, project: &Path) -> Result<Value, Error> {
    let files = contracts::files(family);
    let facts: Value = serde_json::from_str(&std::fs::read_to_string(project.join("facts.json"))?)?;
    let (mut judged, mut again, mut invalid) = (0, 0, Vec::new());
    for module in facts["modules"].as_array().into_iter().flatten() {
        let name = module["name"].as_str().unwrap_or_default();
        let paths = ["_exchange", "_rpc", ""].map(|kind| project.join(format!("src/{name}{kind}.wsdl")));
        let Some(path) = paths.into_iter().find(|path| path.is_file()) else { continue };
        let Some(definitions) = castile_wsdl::read(&path.to_string_lossy(), &files).0 else { continue };
        let told = project.join(format!("schemas/{name}/encoded/whole.xsd"));
        let told = told.is_file().then(|| castile_xsd::read(&told.to_string_lossy(), &Files::new()).0);
        let mut validator = Validator::new(&definitions.schema);
        let mut of_encoded = told.as_ref().map(Validator::new);
        for case in module["cases"].as_array().into_iter().flatten() {
            let id = case["id"].as_str().unwrap_or_default();
            let (validator, place) = match (case["encoded"].as_bool(), &mut of_encoded) {
                (Some(true), Some(of_encoded)) => (of_encoded, project.join("unrolled")),
                // Without lxml nothing was unrolled.
                (Some(true), None) => continue,
                _ => (&mut validator, project.to_owned()),
            };
            for (folder, what, count) in [("samples", "sample", &mut judged), ("again", "written", &mut again)] {
                let messages = std::fs::read_to_string(place.join(folder).join(id))?;
                for (number, message) in messages.split_terminator('\0').enumerate() {
                    if message.is_empty() {
                        continue;
                    }
                    *count += 1;
                    // Messages have no IDs for their references.
                    let problems = validator.validate(message.as_bytes());
                    if let Some(problem) = problems.iter().find(|problem| problem.rule != "cvc-id.1") {
                        invalid.push(json!([id, number, what, problem.to_string()]));
                    }
                }
            }
        }
    }
    Ok(json!({ "judged": judged, "judged again": again, "invalid": invalid }))
}
