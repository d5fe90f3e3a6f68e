use std::any::TypeId;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use castile_budget::BLOCK;

use crate::Error;
use crate::from_xml::{Decoder, FromXml};
use crate::schema::{Attributes, Element, TypeName};
use crate::stack::deeper;
use crate::to_xml::{Encoder, ToXml};

/// A value that several elements may refer to and that may refer to itself: a node of a graph (SOAP 1.1 §5.4.1, SOAP 1.2 Part
/// 2 §2.1).
///
/// A `Shared` is a strong reference, which [`get`](Self::get) dereferences. References from inside the value to itself are
/// weak, so that cycles are freed; [`upgrade`](Self::upgrade) makes a strong reference of a weak one.
///
/// Two are equal if the graphs that are reachable from them are equal, including cycles. Reading, writing, comparing and
/// dropping use heap instead of stack for each level.
///
/// ```
/// use castile_databinding::encoded::Shared;
///
/// struct Person { name: &'static str, boss: Option<Shared<Person>> }
///
/// let own_boss = Shared::cyclic(|me| Person { name: "Ada", boss: Some(me) });
/// let ada = own_boss.get().unwrap();
/// let boss = ada.boss.as_ref().and_then(Shared::upgrade).unwrap();
/// assert_eq!(boss.get().unwrap().name, "Ada");
/// assert!(boss.is_same(&own_boss));
/// ```
pub struct Shared<T>(Handle<T>);

/// The value is set after it was read, which is after the values inside it.
type Node<T> = OnceLock<T>;

enum Handle<T> {
    /// `None` only while dropping.
    Strong(Option<Arc<Node<T>>>),
    Weak(Weak<Node<T>>),
}

impl<T> Shared<T> {
    /// Creates a value without other references to it.
    pub fn new(value: T) -> Self {
        Shared::strong(Arc::new(OnceLock::from(value)))
    }

    /// Creates a value that refers to itself. `make` gets a weak reference to it.
    pub fn cyclic(make: impl FnOnce(Shared<T>) -> T) -> Self {
        let node = Arc::new(OnceLock::new());
        let value = make(Shared::weak(&node));
        // This always succeeds: a weak reference can't set the value.
        let _ = node.set(value);
        Shared::strong(node)
    }

    fn strong(node: Arc<Node<T>>) -> Self {
        Shared(Handle::Strong(Some(node)))
    }

    fn weak(node: &Arc<Node<T>>) -> Self {
        Shared(Handle::Weak(Arc::downgrade(node)))
    }

    /// Returns the value if this is a strong reference, or `None` if it is weak.
    pub fn get(&self) -> Option<&T> {
        match &self.0 {
            Handle::Strong(node) => node.as_deref().and_then(OnceLock::get),
            Handle::Weak(_) => None,
        }
    }

    /// Returns a strong reference, or `None` if no strong reference is left.
    pub fn upgrade(&self) -> Option<Shared<T>> {
        self.node().map(Shared::strong)
    }

    /// Returns a weak reference, for use inside the value.
    pub fn downgrade(&self) -> Shared<T> {
        match &self.0 {
            Handle::Strong(Some(node)) => Shared::weak(node),
            Handle::Strong(None) => Shared(Handle::Weak(Weak::new())),
            Handle::Weak(node) => Shared(Handle::Weak(Weak::clone(node))),
        }
    }

    /// Whether both refer to the same node. Equal nodes may be different ones.
    pub fn is_same(&self, other: &Shared<T>) -> bool {
        self.address() == other.address()
    }

    fn node(&self) -> Option<Arc<Node<T>>> {
        match &self.0 {
            Handle::Strong(node) => node.clone(),
            Handle::Weak(node) => node.upgrade(),
        }
    }

    fn address(&self) -> usize {
        match &self.0 {
            Handle::Strong(node) => node.as_ref().map_or(0, |node| Arc::as_ptr(node).addr()),
            Handle::Weak(node) => node.as_ptr().addr(),
        }
    }

    /// Whether there may be other references to the value.
    fn is_shared(&self) -> bool {
        match &self.0 {
            Handle::Strong(Some(node)) => Arc::strong_count(node) > 1 || Arc::weak_count(node) > 0,
            Handle::Strong(None) | Handle::Weak(_) => true,
        }
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Shared::new(value)
    }
}

/// A clone refers to the same value.
impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        match &self.0 {
            Handle::Strong(node) => Shared(Handle::Strong(node.clone())),
            Handle::Weak(node) => Shared(Handle::Weak(Weak::clone(node))),
        }
    }
}

impl<T: Default> Default for Shared<T> {
    fn default() -> Self {
        Shared::new(T::default())
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if let Handle::Strong(node) = &mut self.0
            && let Some(node) = node.take().and_then(Arc::into_inner)
        {
            deeper::<T, _>(|| drop(node));
        }
    }
}

// ---- comparing and printing ----

thread_local! {
    /// The pairs of nodes that have been compared since the outermost comparison began. A pair that is met again counts as
    /// equal; if it isn't, the first comparison of the pair detects that.
    static COMPARED: RefCell<HashSet<(usize, usize)>> = RefCell::default();
    /// The numbers of the nodes that have been printed since the outermost one.
    static PRINTED: RefCell<HashMap<usize, usize>> = RefCell::default();
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        if self.is_same(other) {
            return true;
        }
        let (one, two) = match (self.node(), other.node()) {
            (Some(one), Some(two)) => (one, two),
            (one, two) => return one.is_none() && two.is_none(),
        };
        let pair = (Arc::as_ptr(&one).addr(), Arc::as_ptr(&two).addr());
        let (is_first, is_new) = COMPARED.with_borrow_mut(|compared| (compared.is_empty(), compared.insert(pair)));
        if !is_new {
            return true;
        }
        let guard = Outermost(is_first, || COMPARED.with_borrow_mut(HashSet::clear));
        let is_equal = deeper::<T, _>(|| one.get() == two.get());
        drop(guard);
        is_equal
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(node) = self.node() else { return f.write_str("Shared(gone)") };
        let address = Arc::as_ptr(&node).addr();
        let (number, is_new, is_first) = PRINTED.with_borrow_mut(|printed| {
            let count = printed.len();
            match printed.get(&address) {
                Some(number) => (*number, false, false),
                None => {
                    printed.insert(address, count + 1);
                    (count + 1, true, count == 0)
                }
            }
        });
        if !is_new {
            return write!(f, "Shared(#{number})");
        }
        let _guard = Outermost(is_first, || PRINTED.with_borrow_mut(HashMap::clear));
        write!(f, "Shared(#{number} ")?;
        match node.get() {
            Some(value) => deeper::<T, _>(|| value.fmt(f))?,
            None => f.write_str("…")?,
        }
        f.write_str(")")
    }
}

/// Clears the thread-local state at the end of the outermost call, also when it panics.
struct Outermost(bool, fn());

impl Drop for Outermost {
    fn drop(&mut self) {
        if self.0 {
            (self.1)();
        }
    }
}

// ---- reading and writing ----

impl<T: FromXml> FromXml for Shared<T> {
    const ATTRIBUTES: &'static Attributes = T::ATTRIBUTES;
    const TYPE: Option<TypeName> = T::TYPE;

    /// Never uses the cached tag, since its `id` must be read.
    fn cached(_: &mut Decoder<'_>, _: &'static Element) -> Option<Result<Self, Error>> {
        None
    }

    fn referenced(decoder: &mut Decoder<'_>, _: &'static Element, offset: usize) -> Option<Self> {
        let node = decoder.shared(offset, TypeId::of::<T>())?.downcast_ref::<Arc<Node<T>>>()?;
        // A node without a value is being read: the reference is inside it, and so is weak.
        Some(if node.get().is_some() { Shared::strong(Arc::clone(node)) } else { Shared::weak(node) })
    }

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let Some(offset) = decoder.identified() else {
            decoder.charge(size_of::<Node<T>>() + BLOCK)?;
            return deeper::<T, _>(|| T::content(decoder, element).map(Shared::new));
        };
        // The pointer that is stored for later references is boxed.
        decoder.charge(size_of::<Node<T>>() + 2 * BLOCK + size_of::<usize>())?;
        let node: Arc<Node<T>> = Arc::new(OnceLock::new());
        decoder.share(offset, TypeId::of::<T>(), Box::new(Arc::clone(&node)));
        let value = deeper::<T, _>(|| T::content(decoder, element))?;
        // This is the only place that sets the value.
        let _ = node.set(value);
        Ok(Shared::strong(node))
    }
}

impl<T: ToXml + Send + Sync + 'static> ToXml for Shared<T> {
    const HAS_ATTRIBUTES: bool = true;
    const HAS_CONTENT: bool = T::HAS_CONTENT;

    fn attributes(&self, out: &mut Encoder) {
        if let Some(value) = self.get() {
            value.attributes(out);
        }
    }

    /// A weak reference whose value is gone is written as nil.
    fn element(&self, out: &mut Encoder, start: &str, end: &str) {
        let is_shared = self.is_shared();
        let Some(node) = self.node() else { return out.nil_accessor(start) };
        let Some(value) = node.get() else { return out.nil_accessor(start) };
        if is_shared {
            let address = Arc::as_ptr(&node).addr();
            // While `keep` is alive no other node has this address.
            let keep = || Arc::clone(&node) as Arc<dyn std::any::Any + Send + Sync>;
            let Some(id) = out.identify(address, start, keep) else { return };
            out.raw(start.strip_suffix('>').unwrap_or(start));
            out.id(id);
        } else {
            out.raw(start.strip_suffix('>').unwrap_or(start));
        }
        deeper::<T, _>(|| {
            value.attributes(out);
            value.rest(out, end);
        });
    }

    fn content(&self, out: &mut Encoder) {
        if let Some(value) = self.node().as_deref().and_then(OnceLock::get) {
            deeper::<T, _>(|| value.content(out));
        }
    }
}
