//! What was chosen before.

use std::collections::HashMap;

use crate::{ElementId, TypeId};

/// Where there is something to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Decision {
    /// Which element stands where this one is referred to.
    Substitution(ElementId),
    /// Which type it has.
    Type(ElementId),
    Nil(ElementId),
    /// Whether its default applies.
    Default(ElementId),
    /// Of an element that is declared, or of one that isn't.
    AnyType(Option<ElementId>),
    /// Whether an attribute is there.
    Attribute(TypeId, usize),
    AnyAttribute(TypeId),
    /// How often a particle of a type comes.
    Occurrence(TypeId, usize),
    /// Which branch of a choice.
    Branch(TypeId, usize),
    Value(TypeId),
    /// Of a place in SOAP encoding.
    Encoded(Place, Aspect),
    /// How many items an array has, or one of those without a name that it has at a depth.
    Items(TypeId, usize),
    /// Whether it says so.
    Size(TypeId, usize),
}

/// Where a value stands in SOAP encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// The part of a call with this number.
    Part(usize),
    /// An accessor of a struct.
    Accessor(ElementId),
    /// An item of an array of this type.
    Item(TypeId),
}

impl Place {
    /// The declaration of the element, if there is one.
    pub(super) fn element(self) -> Option<ElementId> {
        match self {
            Place::Accessor(id) => Some(id),
            Place::Part(_) | Place::Item(_) => None,
        }
    }
}

/// What there is to choose for a value in SOAP encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Aspect {
    Nil,
    Type,
    SaysType,
    /// Whether it is referred to.
    Reference,
    /// Whether another of its type stands for it.
    Again,
}

/// How often each alternative was chosen.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    chosen: HashMap<Decision, Vec<u32>>,
    covered: usize,
    known: usize,
    log: Log,
}

/// What is chosen in an instance, so that the same can be chosen again.
#[derive(Debug, Default)]
enum Log {
    #[default]
    Off,
    Writing(Vec<u32>),
    Reading(std::vec::IntoIter<u32>),
}

impl Coverage {
    /// The first of those among `count` alternatives that were chosen least often; `count` is at least 1.
    pub(super) fn choose(&mut self, decision: Decision, count: usize) -> usize {
        if let Log::Reading(log) = &mut self.log {
            return log.next().unwrap_or_default() as usize;
        }
        let index = self.choose_anew(decision, count);
        self.settle(index as u32) as usize
    }

    /// What was settled here before, where the same is chosen again, and otherwise this.
    pub(super) fn settle(&mut self, choice: u32) -> u32 {
        match &mut self.log {
            Log::Off => choice,
            Log::Writing(log) => {
                log.push(choice);
                choice
            }
            Log::Reading(log) => log.next().unwrap_or_default(),
        }
    }

    /// Choices are noted from here on.
    pub(super) fn note(&mut self) {
        self.log = Log::Writing(Vec::new());
    }

    /// Those that were noted are made again.
    pub(super) fn repeat(&mut self) {
        if let Log::Writing(log) = std::mem::take(&mut self.log) {
            self.log = Log::Reading(log.into_iter());
        }
    }

    /// Choices are no longer noted or repeated.
    pub(super) fn forget(&mut self) {
        self.log = Log::Off;
    }

    fn choose_anew(&mut self, decision: Decision, count: usize) -> usize {
        let chosen = self.chosen.entry(decision).or_default();
        if chosen.len() < count {
            self.known += count - chosen.len();
            chosen.resize(count, 0);
        }
        let least = chosen.iter().take(count).copied().min().unwrap_or_default();
        let index = chosen.iter().position(|&times| times == least).unwrap_or_default();
        self.covered += usize::from(least == 0);
        if let Some(times) = chosen.get_mut(index) {
            *times += 1;
        }
        index
    }

    /// How many alternatives were chosen at least once.
    pub(super) fn covered(&self) -> usize {
        self.covered
    }

    /// Whether that is all that were met.
    pub(super) fn is_complete(&self) -> bool {
        self.covered == self.known
    }
}
