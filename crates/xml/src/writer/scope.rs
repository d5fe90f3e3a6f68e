use std::fmt::Write as _;

use super::prefixes::number;

/// The declarations of all open elements, innermost last, and which of them are hidden.
///
/// Prefixes and names are stored in one buffer. Searching all declarations is bounded, because their number is at most
/// the limit for namespaces in scope. Most documents have three.
#[derive(Debug, Default)]
pub(super) struct Scope {
    text: String,
    bindings: Vec<Binding>,
    /// No generated prefix in scope, or other prefix of that form, has a higher number.
    highest: u64,
}

#[derive(Debug)]
struct Binding {
    prefix: usize,
    namespace: usize,
    end: usize,
    /// Whether a later declaration of the prefix hides this one.
    is_hidden: bool,
    /// The earlier declaration that this one hides.
    hides: Option<usize>,
    /// The previous value of [`Scope::highest`].
    highest: u64,
}

impl Scope {
    /// Removes all declarations. Generated prefixes get numbers above `highest`.
    pub(super) fn restart(&mut self, highest: u64) {
        self.text.clear();
        self.bindings.clear();
        self.highest = highest;
    }

    /// Returns how many declarations are in scope.
    pub(super) fn len(&self) -> usize {
        self.bindings.len()
    }

    pub(super) fn prefix(&self, index: usize) -> &str {
        self.bindings.get(index).map_or("", |binding| self.prefix_of(binding))
    }

    pub(super) fn namespace(&self, index: usize) -> &str {
        self.bindings.get(index).map_or("", |binding| self.namespace_of(binding))
    }

    /// Returns the declaration of `prefix` that is not hidden.
    pub(super) fn bound(&self, prefix: &str) -> Option<usize> {
        self.bindings.iter().rposition(|binding| !binding.is_hidden && self.prefix_of(binding) == prefix)
    }

    /// Returns a declaration of `namespace` that is not hidden. One of the default namespace is returned only for
    /// elements.
    pub(super) fn find(&self, namespace: &str, for_element: bool) -> Option<usize> {
        self.bindings.iter().rposition(|binding| {
            !binding.is_hidden
                && self.namespace_of(binding) == namespace
                && (for_element || binding.prefix != binding.namespace)
        })
    }

    /// Adds a declaration.
    pub(super) fn declare(&mut self, prefix: &str, namespace: &str) -> usize {
        let start = self.text.len();
        self.text.push_str(prefix);
        self.add(start, namespace, number(prefix))
    }

    /// Adds a declaration with a generated prefix that is not in scope.
    pub(super) fn declare_generated(&mut self, namespace: &str) -> usize {
        let start = self.text.len();
        let mut number = self.highest;
        loop {
            number += 1;
            self.text.truncate(start);
            // Writing to a string can't fail.
            let _ = write!(self.text, "ns{number}");
            // The number is above those of all prefixes in scope whose number has up to 32 bits. Higher ones are not
            // tracked, so the prefix may exist.
            if self.bound(&self.text[start..]).is_none() {
                return self.add(start, namespace, Some(number));
            }
        }
    }

    /// Adds the declaration whose prefix was appended to the text at `start`.
    fn add(&mut self, start: usize, namespace: &str, number: Option<u64>) -> usize {
        let hides = self.bound(&self.text[start..]);
        if let Some(hidden) = hides {
            self.bindings[hidden].is_hidden = true;
        }
        let middle = self.text.len();
        self.text.push_str(namespace);
        let (end, highest) = (self.text.len(), self.highest);
        self.bindings.push(Binding { prefix: start, namespace: middle, end, is_hidden: false, hides, highest });
        self.highest = self.highest.max(number.unwrap_or(0));
        self.bindings.len() - 1
    }

    /// Removes all but the first `len` declarations.
    pub(super) fn truncate(&mut self, len: usize) {
        while self.bindings.len() > len
            && let Some(binding) = self.bindings.pop()
        {
            if let Some(hidden) = binding.hides {
                self.bindings[hidden].is_hidden = false;
            }
            self.text.truncate(binding.prefix);
            self.highest = binding.highest;
        }
    }

    fn prefix_of(&self, binding: &Binding) -> &str {
        &self.text[binding.prefix..binding.namespace]
    }

    fn namespace_of(&self, binding: &Binding) -> &str {
        &self.text[binding.namespace..binding.end]
    }
}
