//! Descriptions of what was expected, for messages.

use std::fmt;

use crate::schema::{Element, First};

/// A list of alternatives, shown as `<a>, <b> or <c>`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Expected(Vec<Word>);

#[derive(Clone, Debug, PartialEq)]
struct Word {
    text: String,
    /// The namespace of an element, empty for none. `None` if the word is not an element.
    namespace: Option<&'static str>,
}

impl Expected {
    /// Expects something other than an element.
    #[cold]
    pub(crate) fn words(text: impl Into<String>) -> Self {
        Expected(vec![Word { text: text.into(), namespace: None }])
    }

    /// Expects the end tag of an element.
    #[cold]
    pub(crate) fn end_of(element: &Element) -> Self {
        Self::words(format!("</{}>", element.name))
    }

    /// Expects one of these elements.
    #[cold]
    pub(crate) fn elements<'e>(elements: impl IntoIterator<Item = &'e Element>) -> Self {
        let word = |element: &Element| Word { text: format!("<{}>", element.name), namespace: Some(element.namespace) };
        Expected(elements.into_iter().map(word).collect())
    }

    /// Expects one of the elements that a group may begin with.
    #[cold]
    pub(crate) fn first<'f>(first: impl IntoIterator<Item = &'f First>) -> Self {
        let mut expected = Self::default();
        for first in first {
            let words = match first {
                First::Elements(table) => Self::elements(*table),
                First::Wildcard(_) => Self::words("any element"),
                First::Group(first) => Self::first(*first),
            };
            expected.0.extend(words.0);
        }
        expected.0.dedup();
        expected
    }

    /// Adds an element in front of the others, unless it is among them.
    #[cold]
    pub(crate) fn also(mut self, element: &Element) -> Self {
        for word in Self::elements([element]).0 {
            if !self.0.contains(&word) {
                self.0.insert(0, word);
            }
        }
        self
    }

    /// Adds an alternative that is not an element.
    #[cold]
    pub(crate) fn or(mut self, text: &str) -> Self {
        self.0.extend(Self::words(text).0);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Describes what was expected where an element of namespace `found` is. Namespaces other than `found` are named.
    #[cold]
    pub(crate) fn instead_of(&self, found: &str) -> String {
        let other_namespace = |word: &Word| word.namespace.filter(|namespace| *namespace != found);
        match self.0.split_first() {
            // A namespace that all share is named once.
            Some((first, rest)) if rest.iter().all(|word| word.namespace == first.namespace) => {
                other_namespace(first).map_or_else(|| self.to_string(), |namespace| format!("{self}{}", of(namespace)))
            }
            _ => {
                let word = |word: &Word| format!("{}{}", word.text, other_namespace(word).map_or_else(String::new, of));
                joined(&self.0.iter().map(word).collect::<Vec<_>>())
            }
        }
    }
}

impl First {
    /// Lists the elements that the group may begin with, for messages: `<a>, <b> or <c>`.
    #[cold]
    pub fn list(first: &[First]) -> String {
        Expected::first(first).to_string()
    }
}

fn of(namespace: &str) -> String {
    format!(" of {}", if namespace.is_empty() { "no namespace" } else { namespace })
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.0.iter().map(|word| word.text.clone()).collect::<Vec<_>>()))
    }
}

/// Joins names for messages: `a, b or c`.
fn joined(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_shown_if_it_differs() {
        let (a, b) = (Element::new("urn:a", "a", 0), Element::new("urn:b", "b", 1));
        let (bare, other) = (Element::new("", "c", 2), Element::new("urn:a", "d", 3));
        for (elements, found, expected) in [
            (vec![&a], "urn:a", "<a>"),
            (vec![&a], "urn:b", "<a> of urn:a"),
            (vec![&bare], "urn:a", "<c> of no namespace"),
            (vec![&a, &other], "", "<a> or <d> of urn:a"),
            (vec![&a, &other, &b], "urn:a", "<a>, <d> or <b> of urn:b"),
            (vec![&a, &b, &bare], "urn:x", "<a> of urn:a, <b> of urn:b or <c> of no namespace"),
            (vec![], "urn:x", ""),
        ] {
            assert_eq!(Expected::elements(elements).instead_of(found), expected);
        }
        assert_eq!(Expected::elements([&a]).or("another element").instead_of(""), "<a> of urn:a or another element");
        assert_eq!(Expected::end_of(&a).instead_of("urn:b"), "</a>");
        assert_eq!(Expected::end_of(&a).also(&b).instead_of(""), "<b> of urn:b or </a>");
        assert_eq!(Expected::elements([&a, &b]).also(&b).instead_of(""), "<a> of urn:a or <b> of urn:b");
        assert_eq!(Expected::elements([&a, &b, &bare]).to_string(), "<a>, <b> or <c>");
    }
}
