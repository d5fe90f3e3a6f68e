//! The cases of the suites, as command lines and `peer.json` name them.

/// Returns the names of all suites, separated by commas.
pub(crate) fn suites() -> String {
    castile_suites::SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ")
}

/// Returns whether `operation` is the name of a case or the operation that its name begins with.
pub(crate) fn selects(operation: &str, case: &str) -> bool {
    case.strip_prefix(operation).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_selected_by_name_or_operation() {
        assert!(selects("echoInts", "echoInts-100") && selects("echoInts-1", "echoInts-1"));
        assert!(!selects("echoInts-1", "echoInts-100") && !selects("echo", "echoVoid"));
    }
}
