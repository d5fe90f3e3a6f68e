use std::fmt::Write as _;

use super::prefixes::number;

/// The declarations of all open elements, innermost last, and which of them hold.
///
/// Prefixes and names lie one after another in one buffer. There are never more than the limit on namespaces in scope,
/// so that looking through all of them is bounded; most documents have three.
#[derive(Debug, Default)]
pub(super) struct Scope {
    text: String,
    bindings: Vec<Binding>,
    /// No generated prefix in scope has a higher number, and no other that looks like one.
    highest: u64,
}

#[derive(Debug)]
struct Binding {
    prefix: usize,
    namespace: usize,
    end: usize,
    /// A later declaration of the prefix hides this one.
    is_hidden: bool,
    /// The earlier declaration that this one hides.
    hides: Option<usize>,
    /// What [`Scope::highest`] was before.
    highest: u64,
}

impl Scope {
    /// Forgets all. Generated prefixes get numbers above `highest`.
    pub(super) fn restart(&mut self, highest: u64) {
        self.text.clear();
        self.bindings.clear();
        self.highest = highest;
    }

    /// How many declarations are in scope.
    pub(super) fn len(&self) -> usize {
        self.bindings.len()
    }

    pub(super) fn prefix(&self, index: usize) -> &str {
        self.bindings.get(index).map_or("", |binding| self.prefix_of(binding))
    }

    pub(super) fn namespace(&self, index: usize) -> &str {
        self.bindings.get(index).map_or("", |binding| self.namespace_of(binding))
    }

    /// The declaration of `prefix` that holds.
    pub(super) fn bound(&self, prefix: &str) -> Option<usize> {
        self.bindings.iter().rposition(|binding| !binding.is_hidden && self.prefix_of(binding) == prefix)
    }

    /// A declaration of `namespace` that holds; one of the default namespace only for elements.
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

    /// Adds a declaration with a prefix that means nothing else here.
    pub(super) fn declare_generated(&mut self, namespace: &str) -> usize {
        let start = self.text.len();
        let mut number = self.highest;
        loop {
            number += 1;
            self.text.truncate(start);
            // Writing to a string can't fail.
            let _ = write!(self.text, "ns{number}");
            // Numbers are above all others in scope; past those of 32 bits, which are all that is kept account of, one
            // more may be needed.
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

    /// Forgets all but the first `len` declarations.
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
