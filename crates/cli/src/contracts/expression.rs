//! XPath 1.0 expressions on messages.

use oxml::XPath;
use oxml::xpath::{EvalContext, EvalLimits};

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    text: String,
    compiled: XPath,
}

/// A message parsed for expressions.
pub(crate) struct Tree(oxml::Document);

impl Expression {
    /// Compiles an expression with these prefixes. `remedy` returns how to declare an unknown prefix, for the error message.
    pub(crate) fn new(
        text: &str,
        prefixes: &[(String, String)],
        remedy: impl Fn(&str) -> String,
    ) -> anyhow::Result<Self> {
        let known: Vec<_> = prefixes.iter().map(|(prefix, namespace)| (&**prefix, &**namespace)).collect();
        let compiled = XPath::compile_with_namespaces(text, &known).map_err(|error| {
            let error = error.to_string();
            let why = unbound(&error).map(|prefix| {
                let known: Vec<_> = known.iter().map(|(prefix, _)| *prefix).collect();
                format!(
                    "the prefix {prefix} has no namespace; known prefixes are {}; {}",
                    known.join(", "),
                    remedy(prefix)
                )
            });
            anyhow::anyhow!("found {text:?}, expected an XPath 1.0 expression: {}", why.unwrap_or(error))
        })?;
        if !compiled.variables().is_empty() {
            anyhow::bail!("found {text:?}, expected an XPath expression without variables");
        }
        Ok(Expression { text: text.to_owned(), compiled })
    }

    /// Returns the expression as written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the result is true: `true()`, a number other than 0, or non-empty text or nodes.
    pub(crate) fn holds(&self, tree: &Tree) -> Result<bool, String> {
        Ok(self.evaluate(tree)?.to_boolean())
    }

    /// Returns the result as text; `None` if the expression selects nothing.
    pub(crate) fn value(&self, tree: &Tree) -> Result<Option<String>, String> {
        let value = self.evaluate(tree)?;
        let is_nothing = value.nodes().is_some_and(<[_]>::is_empty);
        Ok((!is_nothing).then(|| value.to_str(&tree.0)))
    }

    /// The answer is untrusted, so evaluation has limits.
    fn evaluate(&self, tree: &Tree) -> Result<oxml::xpath::Value, String> {
        let context = EvalContext::new().with_limits(EvalLimits::default());
        self.compiled.evaluate_with(&tree.0, &context).map_err(|error| format!("{}: {error}", self.text))
    }
}

impl Tree {
    /// Parses a message, which must not have a document type declaration.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        oxml::parse(text).map(Tree).map_err(|error| format!("no document for XPath: {error}"))
    }
}

/// Returns the prefix in an error about an unbound prefix.
fn unbound(error: &str) -> Option<&str> {
    Some(error.split_once("unbound namespace prefix `")?.1.split_once('`')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_hold_and_have_values() {
        let prefixes = [("t".to_owned(), "urn:t".to_owned())];
        let tree = Tree::read("<a xmlns='urn:t'><b k='1'>x</b><b>y</b></a>").unwrap();
        let of = |text: &str| Expression::new(text, &prefixes, |_| String::new()).unwrap();
        for (text, holds, value) in [
            ("/t:a/t:b[2]", true, Some("y")),
            ("//@k", true, Some("1")),
            ("count(//t:b) = 2", true, Some("true")),
            ("//t:c", false, None),
            ("string(//t:c)", false, Some("")),
            ("//*[local-name()='b'][1]", true, Some("x")),
        ] {
            assert_eq!(of(text).holds(&tree), Ok(holds), "{text}");
            assert_eq!(of(text).value(&tree).unwrap().as_deref(), value, "{text}");
        }
        for (wrong, expected) in [
            ("//", "expected an XPath 1.0 expression: "),
            ("u:a", "the prefix u has no namespace; known prefixes are t; add u"),
            ("$v", "expected an XPath expression without variables"),
            ("nothing()", "expected an XPath 1.0 expression: "),
        ] {
            let error = Expression::new(wrong, &prefixes, |prefix| format!("add {prefix}")).unwrap_err().to_string();
            assert!(error.contains(expected), "{wrong}: {error}");
        }
    }
}
