//! What to do about a problem of `castile-wss`, which knows no options of commands.

/// Which options a command has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Options {
    /// Those for documents, such as `--legacy`.
    Documents,
    /// Those for messages, such as `--wss-legacy`.
    Messages,
}

/// Returns what to do about a problem, by its text: the error of a call has nothing else of it.
pub(crate) fn advice(problem: &str, options: Options) -> Option<&'static str> {
    let has = |texts: &[&str]| texts.iter().any(|text| problem.contains(text));
    let is_of_documents = options == Options::Documents;
    if has(&["a second element with the id", "a second <Body>", "a second <Header>", "<Body> in <Security>"]) {
        return Some(
            "signature wrapping looks like this: an attacker moves what is signed, and puts something else in its place",
        );
    }
    if has(&["no element has the id"]) && is_of_documents {
        return Some("an id is an attribute Id or xml:id; --id-attribute NAME is for one with another name");
    }
    if has(&[" is not allowed", "2048 are the least that is allowed"]) {
        return Some(match options {
            Options::Documents => "--legacy accepts it, for partners that have nothing better",
            Options::Messages => "--wss-legacy accepts it, for partners that have nothing better",
        });
    }
    if has(&["the message was made at", " was valid until ", ", which has not come"]) {
        return Some(
            "--wss-clock says how far the clock of the other side is ahead of ours, and --wss-skew how far times may differ",
        );
    }
    if has(&["the message expired at"]) {
        return Some("--wss-clock says how far the clock of the other side is ahead of ours, if one of them is wrong");
    }
    if has(&["needs the feature `openssl`"]) {
        return Some("this castile was built without OpenSSL: castile-cli has it with its feature openssl");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_are_those_of_the_command() {
        let problem = "a signature by RSA with SHA-1 is not allowed (byte 7)";
        assert!(advice(problem, Options::Documents).unwrap().starts_with("--legacy"));
        assert!(advice(problem, Options::Messages).unwrap().starts_with("--wss-legacy"));
        let absent = "no element has the id \"a\"";
        assert!(advice(absent, Options::Documents).unwrap().contains("--id-attribute"));
        // Messages have ids of their own.
        assert_eq!(advice(absent, Options::Messages), None);
        assert_eq!(advice("the document has no signature", Options::Documents), None);
    }
}
