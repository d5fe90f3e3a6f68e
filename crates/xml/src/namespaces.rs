//! Namespace declarations in scope (Namespaces in XML 1.0 §3, §6).

use std::cell::{RefCell, RefMut};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// The namespace of `xml:` (Namespaces in XML 1.0 §3).
pub const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
/// The namespace of `xmlns:`, to which no prefix may be bound.
pub const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";

/// A namespace in scope. It is valid while the element that declared it is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NamespaceId(u32);

impl NamespaceId {
    /// No namespace.
    pub const NONE: NamespaceId = NamespaceId(0);
    pub(crate) const XML: NamespaceId = NamespaceId(1);
}

/// The declarations of all open elements, innermost last. Prefixes and names are copied to one buffer.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    text: String,
    bindings: Vec<Binding>,
    /// Values that were computed for the first bindings.
    lookups: RefCell<Vec<Lookup>>,
    /// An index of the prefixes, if there are many.
    index: Index,
    /// How many declarations were ever made.
    count: u64,
    /// The number of the last declaration in scope, 0 if there is none.
    scope: u64,
}

/// Up to this number of declarations, they are searched one by one.
const LINEAR_SEARCH: usize = 16;
/// The number of lists in an index.
const BUCKETS: usize = 256;

/// The numbers of bindings, from 1 on, in lists by the hash of the prefix, innermost first. Empty if there are few
/// bindings.
#[derive(Debug, Default)]
struct Index {
    /// The first binding in each list, 0 for none.
    first: Vec<usize>,
    /// The next binding in the list, for each binding.
    next: Vec<usize>,
}

impl Index {
    fn clear(&mut self) {
        self.first.clear();
        self.next.clear();
    }

    /// Adds the next binding, which has this prefix.
    fn push(&mut self, prefix: &str) {
        self.first.resize(BUCKETS, 0);
        let list = bucket_of(prefix);
        self.next.push(self.first[list]);
        self.first[list] = self.next.len();
    }

    /// Removes the last binding, which has this prefix.
    fn pop(&mut self, prefix: &str) {
        self.first[bucket_of(prefix)] = self.next.pop().unwrap_or_default();
    }

    /// Returns the bindings that may have this prefix, innermost first.
    fn candidates(&self, prefix: &str) -> impl Iterator<Item = usize> {
        let one = |number: usize| (number > 0).then_some(number);
        let first = self.first.get(bucket_of(prefix)).copied().and_then(one);
        std::iter::successors(first, move |&number| one(self.next[number - 1])).map(|number| number - 1)
    }
}

fn bucket_of(prefix: &str) -> usize {
    hash(prefix) as usize % BUCKETS
}

/// Returns a hash that no sender can predict.
fn hash(text: &str) -> u64 {
    static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    STATE.hash_one(text)
}

#[derive(Clone, Debug)]
struct Binding {
    prefix: Range<u32>,
    name: Range<u32>,
    /// A number that no other binding has, not even an equal one in another place.
    number: u64,
}

/// Values of a binding that are rarely needed, and computed on the first request.
#[derive(Clone, Debug, Default)]
struct Lookup {
    /// The hash of the name.
    hash: Option<u64>,
    /// The name, shared.
    name: Option<Arc<str>>,
    /// The scope that ends with this binding.
    scope: Option<Scope>,
}

/// The declarations in scope at a place in a document. It outlives the document. Declarations that several scopes have
/// in common are stored once.
///
/// ```
/// use castile_xml::{Limits, Reader};
///
/// let mut reader = Reader::new(b"<a xmlns='urn:a' xmlns:b='urn:b'/>", Limits::default())?;
/// reader.next()?;
/// assert_eq!(reader.scope().resolve("b"), Some("urn:b"));
/// # Ok::<(), castile_xml::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scope(Arc<Declaration>);

#[derive(Debug)]
struct Declaration {
    prefix: Box<str>,
    name: Arc<str>,
    outer: Option<Scope>,
}

impl Scope {
    fn new(prefix: &str, name: Arc<str>, outer: Option<Scope>) -> Self {
        Scope(Arc::new(Declaration { prefix: prefix.into(), name, outer }))
    }

    /// Returns the name of the namespace that `prefix` is bound to, or `None` if the prefix is unbound. The empty
    /// prefix stands for the default namespace, whose name is empty if there is none.
    pub fn resolve(&self, prefix: &str) -> Option<&str> {
        let found = self.declarations().find(|(declared, _)| *declared == prefix).map(|(_, name)| name);
        if prefix.is_empty() { Some(found.unwrap_or_default()) } else { found }
    }

    /// Returns every prefix with its namespace name, innermost first. Declarations that are hidden by inner ones are
    /// included. The empty name undeclares the default namespace.
    pub fn declarations(&self) -> impl Iterator<Item = (&str, &str)> {
        std::iter::successors(Some(self), |scope| scope.0.outer.as_ref())
            .map(|scope| (&*scope.0.prefix, &*scope.0.name))
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.declarations().eq(other.declarations())
    }
}

impl Eq for Scope {}

/// Scopes can be nested deeply, so they are dropped without recursion.
impl Drop for Declaration {
    fn drop(&mut self) {
        let mut next = self.outer.take();
        while let Some(Scope(declaration)) = next {
            next = Arc::into_inner(declaration).and_then(|mut declaration| declaration.outer.take());
        }
    }
}

impl Namespaces {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.bindings.clear();
        self.lookups.get_mut().clear();
        self.index.clear();
        self.scope = 0;
    }

    /// Makes this a copy of `other`, and reuses its own buffers.
    pub(crate) fn copy_from(&mut self, other: &Namespaces) {
        self.text.clear();
        self.text.push_str(&other.text);
        self.bindings.clone_from(&other.bindings);
        self.lookups.get_mut().clone_from(&other.lookups.borrow());
        self.index.clear();
        self.update_index();
        self.count = self.count.max(other.count);
        self.scope = other.scope;
    }

    /// Returns how many declarations are in scope.
    pub(crate) fn len(&self) -> usize {
        self.bindings.len()
    }

    /// Returns a number for the declarations in scope, 0 if there are none. Equal numbers mean equal declarations, also
    /// between documents.
    #[inline]
    pub(crate) fn scope(&self) -> u64 {
        self.scope
    }

    /// Returns the number of the scope that only the first `len` declarations make.
    pub(crate) fn scope_of(&self, len: usize) -> u64 {
        len.checked_sub(1).and_then(|last| self.bindings.get(last)).map_or(0, |binding| binding.number)
    }

    /// Returns the declarations in scope, in a form that outlives the document.
    pub(crate) fn shared_scope(&self) -> Scope {
        static NOTHING: LazyLock<Scope> = LazyLock::new(|| Scope::new("", Arc::default(), None));
        let (mut scope, from) = self.last_shared_scope();
        for (index, binding) in self.bindings.iter().enumerate().skip(from) {
            let inner = Scope::new(self.slice(&binding.prefix), self.shared_name_of(index), scope);
            self.known(index).scope = Some(inner.clone());
            scope = Some(inner);
        }
        scope.unwrap_or_else(|| NOTHING.clone())
    }

    /// Returns the innermost scope that was computed already, and how many declarations it has.
    fn last_shared_scope(&self) -> (Option<Scope>, usize) {
        let known = self.lookups.borrow();
        let last = known.iter().rposition(|known| known.scope.is_some());
        (last.and_then(|index| known[index].scope.clone()), last.map_or(0, |index| index + 1))
    }

    /// Returns the computed values of the binding with this index.
    fn known(&self, index: usize) -> RefMut<'_, Lookup> {
        RefMut::map(self.lookups.borrow_mut(), |known| {
            if known.len() <= index {
                known.resize_with(index + 1, Lookup::default);
            }
            &mut known[index]
        })
    }

    /// Returns about how many bytes [`shared_scope`](Self::shared_scope) would allocate.
    pub(crate) fn cost_of_shared_scope(&self) -> usize {
        /// The overhead of an allocation, in bytes.
        const BLOCK: usize = 16;
        let (_, from) = self.last_shared_scope();
        let cost = |binding: &Binding| size_of::<Declaration>() + 4 * BLOCK + binding.prefix.len() + binding.name.len();
        self.bindings[from..].iter().map(cost).sum()
    }

    /// Returns a namespace name as a shared string.
    pub(crate) fn shared_name(&self, id: NamespaceId) -> Arc<str> {
        static XML: LazyLock<Arc<str>> = LazyLock::new(|| XML_NAMESPACE.into());
        match id {
            NamespaceId::NONE => Arc::default(),
            NamespaceId::XML => XML.clone(),
            NamespaceId(index) if index as usize - 2 < self.bindings.len() => self.shared_name_of(index as usize - 2),
            NamespaceId(_) => Arc::default(),
        }
    }

    fn shared_name_of(&self, index: usize) -> Arc<str> {
        let name = || self.slice(&self.bindings[index].name).into();
        self.known(index).name.get_or_insert_with(name).clone()
    }

    /// Returns all declarations in scope as text, which is equal only for equal declarations in equal order.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn declare(&mut self, prefix: &str, name: &str) {
        // `=` can't occur in a prefix, nor the control character in a name. So texts of different declarations differ.
        let start = self.text.len() as u32;
        self.text.push_str(prefix);
        let equals = self.text.len() as u32;
        self.text.push('=');
        self.text.push_str(name);
        let end = self.text.len() as u32;
        self.text.push('\u{1}');
        self.count += 1;
        self.scope = self.count;
        self.bindings.push(Binding { prefix: start..equals, name: equals + 1..end, number: self.count });
        self.update_index();
    }

    /// Adds the missing bindings to the index, if there are many declarations.
    #[inline]
    fn update_index(&mut self) {
        if self.bindings.len() > LINEAR_SEARCH {
            self.index_more();
        }
    }

    #[cold]
    fn index_more(&mut self) {
        for binding in &self.bindings[self.index.next.len()..] {
            self.index.push(&self.text[binding.prefix.start as usize..binding.prefix.end as usize]);
        }
    }

    /// Removes all but the first `len` declarations.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        // This is called at each end tag, and most elements declare nothing.
        if self.bindings.len() > len {
            self.truncate_to_fewer(len);
        }
    }

    #[cold]
    fn truncate_to_fewer(&mut self, len: usize) {
        if self.lookups.get_mut().len() > len || self.index.next.len() > len {
            self.forget(len);
        }
        self.text.truncate(self.bindings[len].prefix.start as usize);
        self.bindings.truncate(len);
        self.scope = self.scope_of(len);
    }

    /// Removes the computed values, and the index, of all but the first `len` declarations.
    #[cold]
    fn forget(&mut self, len: usize) {
        self.lookups.get_mut().truncate(len);
        while self.index.next.len() > len {
            let Range { start, end } = self.bindings[self.index.next.len() - 1].prefix;
            self.index.pop(&self.text[start as usize..end as usize]);
        }
    }

    /// Returns the namespace that `prefix` is bound to. The empty prefix stands for the default namespace.
    pub(crate) fn resolve(&self, prefix: &str) -> Option<NamespaceId> {
        let found = match self.bindings.len() > LINEAR_SEARCH {
            false => (0..self.bindings.len()).rev().find(|&index| self.is_of(&self.bindings[index], prefix)),
            true => self.indexed(prefix),
        };
        match (found, prefix) {
            (Some(index), _) if !self.bindings[index].name.is_empty() => Some(NamespaceId(index as u32 + 2)),
            (_, "") => Some(NamespaceId::NONE),
            (None, "xml") => Some(NamespaceId::XML),
            _ => None,
        }
    }

    #[cold]
    fn indexed(&self, prefix: &str) -> Option<usize> {
        self.index.candidates(prefix).find(|&index| self.is_of(&self.bindings[index], prefix))
    }

    /// Returns a hash of the namespace name, which is computed only once because names may be long.
    pub(crate) fn hash_of(&self, id: NamespaceId) -> u64 {
        match id {
            NamespaceId(index @ 2..) if index as usize - 2 < self.bindings.len() => {
                let name = || hash(self.name(id));
                *self.known(index as usize - 2).hash.get_or_insert_with(name)
            }
            id => hash(self.name(id)),
        }
    }

    /// Returns the namespace name, empty for [`NamespaceId::NONE`].
    #[inline]
    pub(crate) fn name(&self, id: NamespaceId) -> &str {
        match id {
            NamespaceId::NONE => "",
            NamespaceId::XML => XML_NAMESPACE,
            NamespaceId(index) => match self.bindings.get(index as usize - 2) {
                Some(binding) => self.slice(&binding.name),
                None => "",
            },
        }
    }

    /// Returns every prefix in scope with its namespace name, innermost first. Declarations that are hidden by inner
    /// ones are included.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.bindings.iter().rev().map(|binding| (self.slice(&binding.prefix), self.slice(&binding.name)))
    }

    /// Returns the declarations from the index `outside` on, innermost last.
    pub(crate) fn inside(&self, outside: usize) -> impl Iterator<Item = (&str, &str)> {
        let inside = self.bindings.get(outside..).unwrap_or_default();
        inside.iter().map(|binding| (self.slice(&binding.prefix), self.slice(&binding.name)))
    }

    /// Whether no declaration from the index `outside` on changes the meaning of a prefix. Each of them repeats an
    /// outer declaration, or declares a prefix that was unbound.
    pub(crate) fn only_adds(&self, outside: usize) -> bool {
        let before = self.bindings.get(..outside).unwrap_or_default();
        self.inside(outside).all(|(prefix, name)| {
            let known = before.iter().rev().find(|binding| self.is_of(binding, prefix));
            match known {
                Some(known) => self.slice(&known.name) == name,
                None => !prefix.is_empty() || name.is_empty(),
            }
        })
    }

    /// Whether it binds this prefix. Few prefixes have the same length, so the length is compared first.
    #[inline]
    fn is_of(&self, binding: &Binding, prefix: &str) -> bool {
        binding.prefix.len() == prefix.len() && (prefix.is_empty() || self.slice(&binding.prefix) == prefix)
    }

    #[inline]
    fn slice(&self, range: &Range<u32>) -> &str {
        &self.text[range.start as usize..range.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many declarations are searched by an index, few are not.
    #[test]
    fn the_innermost_declaration_holds_however_many_there_are() {
        let mut namespaces = Namespaces::default();
        let mut declared: Vec<(String, String)> = Vec::new();
        let mut state = 1_u32;
        let mut random = |below: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as usize % below
        };
        for step in 0..5_000 {
            match random(4) {
                0 => {
                    let length = random(declared.len() + 1);
                    declared.truncate(length);
                    namespaces.truncate(length);
                }
                1 if declared.len() < 60 => {
                    for _ in 0..random(10) {
                        let prefix = if random(9) == 0 { String::new() } else { format!("p{}", random(40)) };
                        let name = if random(5) == 0 { String::new() } else { format!("urn:{}", random(5)) };
                        namespaces.declare(&prefix, &name);
                        declared.push((prefix, name));
                    }
                }
                2 => {
                    let mut copy = Namespaces::default();
                    copy.copy_from(&namespaces);
                    namespaces = copy;
                }
                _ => {
                    let asked = if random(9) == 0 { String::new() } else { format!("p{}", random(40)) };
                    let found =
                        declared.iter().rev().find(|(prefix, _)| *prefix == asked).map(|(_, name)| name.as_str());
                    let expected =
                        if asked.is_empty() { found.or(Some("")) } else { found.filter(|name| !name.is_empty()) };
                    let id = namespaces.resolve(&asked);
                    assert_eq!(id.map(|id| namespaces.name(id)), expected, "step {step}: {asked:?} of {declared:?}");
                    if let (Some(id), Some(name)) = (id, expected) {
                        assert_eq!(namespaces.hash_of(id), hash(name));
                    }
                }
            }
        }
    }
}
