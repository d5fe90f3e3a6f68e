//! Matches the paths of identity constraints (§3.11.6) against the names of open elements.

use std::sync::Arc;

/// A path such as `.//a/b/@c`: steps to descendants, and possibly an attribute.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// Whether it starts with `.//`, so that its steps may start at any depth.
    is_anywhere: bool,
    steps: Vec<NameTest>,
    pub(super) attribute: Option<NameTest>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum NameTest {
    Any,
    Namespace(Arc<str>),
    Name(Arc<str>, Arc<str>),
}

impl NameTest {
    pub(super) fn matches(&self, namespace: &str, local: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Namespace(of) => **of == *namespace,
            Self::Name(of, name) => **of == *namespace && **name == *local,
        }
    }

    fn new(text: &str, namespaces: &[(String, String)]) -> Self {
        let namespace = |prefix: &str| -> Arc<str> {
            let bound = namespaces.iter().find(|(known, _)| known == prefix);
            bound.map_or("", |(_, namespace)| namespace.as_str()).into()
        };
        match text.split_once(':') {
            None if text == "*" => Self::Any,
            // As in XPath, names without a prefix are in no namespace.
            None => Self::Name("".into(), text.into()),
            Some((prefix, "*")) => Self::Namespace(namespace(prefix)),
            Some((prefix, local)) => Self::Name(namespace(prefix), local.into()),
        }
    }
}

impl Path {
    /// Parses the alternatives of a path. The path was checked when the schema was read; an invalid one matches
    /// nothing.
    pub(super) fn alternatives(text: &str, namespaces: &[(String, String)]) -> Vec<Path> {
        let text: String = text.split_ascii_whitespace().collect();
        text.split('|').map(|path| Self::new(path, namespaces)).collect()
    }

    fn new(text: &str, namespaces: &[(String, String)]) -> Self {
        let (is_anywhere, text) = match text.strip_prefix(".//") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut path = Path { is_anywhere, steps: Vec::new(), attribute: None };
        for step in text.split('/').filter(|&step| step != ".") {
            match step.strip_prefix('@').or_else(|| step.strip_prefix("attribute::")) {
                Some(name) => path.attribute = Some(NameTest::new(name, namespaces)),
                None => {
                    let name = step.strip_prefix("child::").unwrap_or(step);
                    path.steps.push(NameTest::new(name, namespaces));
                }
            }
        }
        path
    }

    /// Returns true if the first steps match these `depth` elements. A path that starts at any depth has no first step.
    pub(super) fn begins_with<'n>(&self, depth: usize, name: impl Fn(usize) -> (&'n str, &'n str)) -> bool {
        let matches = |(index, test): (usize, &NameTest)| {
            let (namespace, local) = name(index);
            test.matches(namespace, local)
        };
        !self.is_anywhere && depth <= self.steps.len() && self.steps.iter().enumerate().take(depth).all(matches)
    }

    /// Returns true if the steps match `depth` elements from the outermost to the innermost. `name` returns their
    /// names.
    pub(super) fn matches<'n>(&self, depth: usize, name: impl Fn(usize) -> (&'n str, &'n str)) -> bool {
        let Some(start) = depth.checked_sub(self.steps.len()) else { return false };
        if start > 0 && !self.is_anywhere {
            return false;
        }
        let matches = |(index, test): (usize, &NameTest)| {
            let (namespace, local) = name(start + index);
            test.matches(namespace, local)
        };
        self.steps.iter().enumerate().rev().all(matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_where_they_say() {
        let namespaces = [("p".to_owned(), "urn:p".to_owned())];
        for (path, below, expected) in [
            (".", "", true),
            (".", "a", false),
            ("a", "a", true),
            ("a", "a b", false),
            ("./a / b", "a b", true),
            ("child::a/child::b", "a b", true),
            (".//b", "a b", true),
            (".//b", "b", true),
            (".//b", "b a", false),
            (".//.", "", true),
            ("*", "a", true),
            ("p:*", "a", false),
            ("a|b/c", "b c", true),
            ("p:a", "a", false),
        ] {
            let names: Vec<&str> = below.split_whitespace().collect();
            let paths = Path::alternatives(path, &namespaces);
            let is_met = paths.iter().any(|path| path.matches(names.len(), |index| ("", names[index])));
            assert_eq!(is_met, expected, "{path} in {below:?}");
        }
        let [path] = &Path::alternatives("p:a/@p:id", &namespaces)[..] else { panic!() };
        assert!(path.matches(1, |_| ("urn:p", "a")));
        assert!(path.attribute.as_ref().is_some_and(|test| test.matches("urn:p", "id") && !test.matches("", "id")));
    }
}
