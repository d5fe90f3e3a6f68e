//! Counts checks. A failed check is reported and doesn't end the run.

use std::fmt::Debug;

use castile::codegen::Operation;
use castile::{CallError, FaultCode};

/// The checks so far.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    names: Vec<String>,
}

impl Checks {
    /// Checks that a call returned the expected answer. `name` must begin with the name of the operation.
    pub(crate) fn equal<T: Debug>(&mut self, name: impl Into<String>, answer: Result<T, CallError>, expected: T) {
        let problem = match answer {
            // Compared as text, which distinguishes 0.0 from -0.0 and treats NaN as equal to NaN. Fields
            // are all printed.
            Ok(found) => difference(&format!("{found:?}"), &format!("{expected:?}")),
            Err(error) => Some(format!("{error:?}")),
        };
        self.note(name.into(), problem);
    }

    /// Checks that a call returned a sender fault with a reason.
    pub(crate) fn refused<T: Debug>(&mut self, name: impl Into<String>, answer: Result<T, CallError>) {
        let problem = match answer {
            Err(CallError::Fault { fault, .. })
                if fault.code == FaultCode::Sender && !fault.reason.as_str().is_empty() =>
            {
                None
            }
            other => Some(difference(&format!("{other:?}"), "a fault of the sender with a reason").unwrap_or_default()),
        };
        self.note(name.into(), problem);
    }

    /// Checks that every operation of a contract was called.
    pub(crate) fn all_called(&mut self, operations: &[Operation], expected: usize) {
        let called = |operation: &&Operation| {
            self.names.iter().any(|name| name.split(' ').next().is_some_and(|first| first == operation.name))
        };
        let called = operations.iter().filter(called).count();
        self.note(
            format!("operations called, of {expected}"),
            difference(&format!("{called} of {}", operations.len()), &format!("{expected} of {expected}")),
        );
    }

    fn note(&mut self, name: String, problem: Option<String>) {
        match problem {
            None => self.passed += 1,
            Some(problem) => {
                self.failed += 1;
                println!("FAILED {name}: {problem}");
            }
        }
        self.names.push(name);
    }
}

/// Returns the place where two texts differ, instead of both texts.
fn difference(found: &str, expected: &str) -> Option<String> {
    const BEFORE: usize = 40;
    const SHOWN: usize = 200;
    if found == expected {
        return None;
    }
    let same = found.chars().zip(expected.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(BEFORE);
    let excerpt = |text: &str| text.chars().skip(from).take(SHOWN).collect::<String>();
    Some(format!("at character {from}: found {}, expected {}", excerpt(found), excerpt(expected)))
}
