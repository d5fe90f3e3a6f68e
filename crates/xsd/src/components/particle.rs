use std::collections::HashSet;
use std::sync::Arc;

use super::{ElementId, GroupId};

/// A term and how often it occurs (Part 1 §3.9).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Particle {
    /// {min occurs}
    pub min_occurs: u32,
    /// {max occurs}; `None` is unbounded.
    pub max_occurs: Option<u32>,
    /// {term}
    pub term: Term,
}

impl Particle {
    /// Creates a particle that occurs exactly once.
    #[must_use]
    pub fn once(term: Term) -> Self {
        Self { min_occurs: 1, max_occurs: Some(1), term }
    }

    /// Returns true if it occurs exactly once.
    #[must_use]
    pub fn is_once(&self) -> bool {
        self.min_occurs == 1 && self.max_occurs == Some(1)
    }

    /// Returns true if it may be left out.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.min_occurs == 0
    }

    /// Returns true if it may occur more than once.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.max_occurs.is_none_or(|max| max > 1)
    }
}

/// The term of a particle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// An element: a local declaration, or a reference to a global one.
    Element(ElementId),
    /// A group written inline.
    Group(ModelGroup),
    /// `<group ref="…">`; [`Schema::content`](crate::Schema::content) replaces it by the group.
    GroupReference(GroupId),
    /// `<any>`.
    Wildcard(Wildcard),
}

/// A group of particles with a compositor (Part 1 §3.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelGroup {
    /// {compositor}
    pub compositor: Compositor,
    /// {particles}
    pub particles: Vec<Particle>,
}

impl ModelGroup {
    /// Creates an empty sequence.
    #[must_use]
    pub fn empty() -> Self {
        Self { compositor: Compositor::Sequence, particles: Vec::new() }
    }
}

/// How the particles of a group are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compositor {
    /// All, one after another.
    Sequence,
    /// One of them.
    Choice,
    /// All, in any order.
    All,
}

impl Compositor {
    /// Returns the local name of its element.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sequence => "sequence",
            Self::Choice => "choice",
            Self::All => "all",
        }
    }
}

/// Any element or any attribute of some namespaces (Part 1 §3.10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wildcard {
    /// {namespace constraint}
    pub namespaces: NamespaceConstraint,
    /// {process contents}
    pub process_contents: ProcessContents,
}

/// The namespaces that a wildcard allows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NamespaceConstraint {
    /// `##any`.
    Any,
    /// `##other`: any namespace except this one; names without a namespace are not allowed.
    Not(Arc<str>),
    /// The listed namespaces; an empty string means no namespace.
    OneOf(Vec<Arc<str>>),
}

impl NamespaceConstraint {
    /// Returns true if names in `namespace` (empty for no namespace) are allowed (Part 1 §3.10.4).
    #[must_use]
    pub fn allows(&self, namespace: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Not(target) => !namespace.is_empty() && namespace != &**target,
            Self::OneOf(list) => list.iter().any(|one| &**one == namespace),
        }
    }

    /// Returns a function that checks whether a namespace is allowed. It is faster for many namespaces, because the
    /// list may be as long as its document.
    pub(crate) fn allows_each(&self) -> impl Fn(&str) -> bool + '_ {
        let listed: Option<HashSet<&str>> = match self {
            Self::OneOf(list) if list.len() > 8 => Some(list.iter().map(|one| &**one).collect()),
            _ => None,
        };
        move |namespace| match &listed {
            Some(listed) => listed.contains(namespace),
            None => self.allows(namespace),
        }
    }

    /// Returns the number of listed namespaces.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::OneOf(list) => list.len(),
            Self::Any | Self::Not(_) => 0,
        }
    }

    /// Returns true if `other` allows everything that `self` allows (Part 1 §3.10.6, wildcard subset).
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        match (self, other) {
            (_, Self::Any) => true,
            (Self::Any, _) | (Self::Not(_), Self::OneOf(_)) => false,
            (Self::Not(one), Self::Not(two)) => one == two || two.is_empty(),
            (Self::OneOf(list), _) => {
                let allows = other.allows_each();
                list.iter().all(|namespace| allows(namespace))
            }
        }
    }

    /// Returns true if there is a namespace that both allow.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::OneOf(list), constraint) | (constraint, Self::OneOf(list)) => {
                let allows = constraint.allows_each();
                list.iter().any(|namespace| allows(namespace))
            }
            // Two negations can't exclude all namespaces.
            _ => true,
        }
    }

    /// Returns the namespaces that both allow (Part 1 §3.10.6, attribute wildcard intersection).
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Any, one) | (one, Self::Any) => one.clone(),
            (Self::OneOf(list), constraint) | (constraint, Self::OneOf(list)) => {
                let allows = constraint.allows_each();
                Self::OneOf(list.iter().filter(|namespace| allows(namespace)).cloned().collect())
            }
            // "not absent" is the weaker of two negations. Two different excluded names can't be expressed (§3.10.6,
            // 5).
            (Self::Not(one), Self::Not(two)) => Self::Not(if one.is_empty() { two.clone() } else { one.clone() }),
        }
    }

    /// Returns the namespaces that either allows (Part 1 §3.10.6, attribute wildcard union).
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::OneOf(one), Self::OneOf(two)) => {
                let (mut list, allows) = (one.clone(), self.allows_each());
                list.extend(two.iter().filter(|namespace| !allows(namespace)).cloned());
                Self::OneOf(list)
            }
            (Self::Not(one), Self::Not(two)) if one == two => self.clone(),
            (Self::Not(_), Self::Not(_)) => Self::Not("".into()),
            (Self::OneOf(list), Self::Not(target)) | (Self::Not(target), Self::OneOf(list)) => {
                match (list.contains(target), list.iter().any(|namespace| namespace.is_empty())) {
                    (true, true) => Self::Any,
                    (true, false) => Self::Not("".into()),
                    // "Any except this one" can't be expressed together with no namespace. Leaving out no namespace
                    // loses less (5.3).
                    (false, _) => Self::Not(target.clone()),
                }
            }
        }
    }
}

/// How an element or attribute that matches a wildcard is validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProcessContents {
    /// It must be declared and valid.
    Strict,
    /// It must be valid if it is declared.
    Lax,
    /// It is not validated.
    Skip,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcard_algebra() {
        use NamespaceConstraint::{Any, Not, OneOf};
        let ab = OneOf(vec!["a".into(), "b".into()]);
        assert!(Any.allows("") && ab.allows("a") && !ab.allows(""));
        assert!(!Not("a".into()).allows("a") && !Not("a".into()).allows("") && Not("a".into()).allows("b"));
        assert_eq!(ab.intersection(&Not("a".into())), OneOf(vec!["b".into()]));
        assert_eq!(Any.intersection(&ab), ab);
        assert_eq!(ab.union(&OneOf(vec!["b".into(), "".into()])), OneOf(vec!["a".into(), "b".into(), "".into()]));
        assert_eq!(Not("a".into()).union(&OneOf(vec!["a".into(), "".into()])), Any);
        assert_eq!(Not("a".into()).union(&ab), Not("".into()));
    }
}
