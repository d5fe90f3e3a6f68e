//! Errors and counts as text for standard error.

use anstyle::{AnsiColor, Style};
use castile::CallError;
use castile::http::ErrorKind;

pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const NOTE: Style = AnsiColor::Green.on_default().bold();
pub(crate) const MARGIN: Style = AnsiColor::Blue.on_default().bold();

/// Formats an error with its causes, escaped for terminals because it may quote a contract, a peer or a file name. The chain stops at an
/// error that includes its last cause or is a connection error with a reason.
pub(crate) fn in_full(error: &anyhow::Error) -> String {
    let last = error.root_cause().to_string();
    let mut text = String::new();
    for cause in error.chain() {
        let separator = if text.is_empty() { "" } else { ": " };
        text += &format!("{separator}{cause}");
        if text.contains(&last) || has_its_reason(cause) {
            break;
        }
    }
    castile_xml::visible_lines(&text).into_owned()
}

/// Returns whether the error is a connection error, which includes its reason.
fn has_its_reason(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = match error.downcast_ref::<CallError>() {
        Some(CallError::Transport(error)) => Some(error),
        _ => error.downcast_ref::<castile::http::Error>(),
    };
    error.is_some_and(|error| matches!(error.kind(), ErrorKind::Connect | ErrorKind::Exchange))
}

/// Formats a count as `1 error` or `2 errors`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `castile call` once reported three times that a connection was refused.
    #[test]
    fn a_cause_is_printed_once() {
        let refused = || anyhow::anyhow!("refused").context("no TCP").context("no connection");
        assert_eq!(in_full(&refused()), "no connection: no TCP: refused");
        assert_eq!(in_full(&refused().context("nobody at a: refused")), "nobody at a: refused");
        assert_eq!(
            in_full(&refused().context("nobody at a: refused").context("no call")),
            "no call: nobody at a: refused"
        );
    }
}
