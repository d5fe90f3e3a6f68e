use crate::error::{Error, ErrorKind};
use crate::{XML_NAMESPACE, XMLNS_NAMESPACE, escape};

use super::{Problem, is_ncname, quoted, unwritable};

/// The prefixes that a [`Writer`](super::Writer) uses for namespaces.
///
/// The empty prefix stands for the default namespace, which is used for elements only. A namespace may have several
/// prefixes. The one that was planned last is used, if possible.
#[derive(Clone, Debug, Default)]
pub struct Prefixes {
    planned: Vec<Planned>,
}

#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) prefix: String,
    pub(super) namespace: String,
    pub(super) on_root: bool,
}

impl Prefixes {
    /// Plans `prefix` for `namespace`, to be declared on the root element.
    ///
    /// # Errors
    /// If the prefix can't be bound to the namespace, or if it is planned already.
    pub fn on_root(self, prefix: &str, namespace: &str) -> Result<Self, Error> {
        self.plan(prefix, namespace, true)
    }

    /// Plans `prefix` for `namespace`, to be declared on each element that needs it, unless it is in scope there.
    ///
    /// # Errors
    /// If the prefix can't be bound to the namespace, or if it is planned already.
    pub fn where_needed(self, prefix: &str, namespace: &str) -> Result<Self, Error> {
        self.plan(prefix, namespace, false)
    }

    fn plan(mut self, prefix: &str, namespace: &str, on_root: bool) -> Result<Self, Error> {
        let error = |(kind, message): Problem| Error::new(kind, 0, message);
        check_binding(prefix, namespace).map_err(error)?;
        if let Some(other) = self.planned.iter().find(|planned| planned.prefix == prefix) {
            let (other, namespace) = (quoted(&other.namespace), quoted(namespace));
            let message = format!("the prefix {prefix:?} is planned for {other}, and can't be planned for {namespace}");
            return Err(error((ErrorKind::Namespace, message)));
        }
        if prefix != "xml" {
            self.planned.push(Planned { prefix: prefix.into(), namespace: namespace.into(), on_root });
        }
        Ok(self)
    }

    /// Returns the planned prefixes, last first.
    pub(super) fn last_first(&self) -> impl Iterator<Item = &Planned> {
        self.planned.iter().rev()
    }

    pub(super) fn planned(&self) -> &[Planned] {
        &self.planned
    }

    /// Returns the highest number of a planned prefix that has the form of a generated one.
    pub(super) fn highest_number(&self) -> u64 {
        self.planned.iter().filter_map(|planned| number(&planned.prefix)).max().unwrap_or(0)
    }
}

/// Returns the number of a prefix that has the form of a generated one.
pub(super) fn number(prefix: &str) -> Option<u64> {
    prefix.strip_prefix("ns")?.parse::<u32>().ok().map(u64::from)
}

/// Checks that `prefix` may be bound to `namespace` (Namespaces in XML 1.0 §2.1, §3, §5).
pub(super) fn check_binding(prefix: &str, namespace: &str) -> Result<(), Problem> {
    let problem = if !prefix.is_empty() && !is_ncname(prefix) {
        format!("found {}, where a prefix was expected", quoted(prefix))
    } else if prefix == "xmlns" || namespace == XMLNS_NAMESPACE {
        format!("the prefix xmlns and the namespace {XMLNS_NAMESPACE:?} can't be declared")
    } else if (prefix == "xml") != (namespace == XML_NAMESPACE) {
        format!("only the prefix xml can be bound to {XML_NAMESPACE:?}, and to no other namespace")
    } else if !prefix.is_empty() && namespace.is_empty() {
        format!("the prefix {} can't be declared with an empty namespace", quoted(prefix))
    } else {
        return check_namespace(namespace);
    };
    Err((ErrorKind::Namespace, problem))
}

/// Checks that XML can represent the name of a namespace.
pub(super) fn check_namespace(namespace: &str) -> Result<(), Problem> {
    match namespace.char_indices().find(|&(_, c)| !escape::is_char(c)) {
        None => Ok(()),
        Some((place, _)) => Err(unwritable(namespace, place, "the name of a namespace")),
    }
}
