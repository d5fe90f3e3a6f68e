//! Records which alternatives samples have already shown.

use std::collections::HashMap;

use crate::{ElementId, TypeId};

/// A decision in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Decision {
    /// Which element is used where this one is referred to.
    Substitution(ElementId),
    /// Which type the element has.
    Type(ElementId),
    Nil(ElementId),
    /// Whether the default of the element applies.
    Default(ElementId),
    /// The form of an `xs:anyType` value, in a declared element or elsewhere.
    AnyType(Option<ElementId>),
    /// Whether an attribute is present.
    Attribute(TypeId, usize),
    AnyAttribute(TypeId),
    /// How often a particle of a type occurs.
    Occurrence(TypeId, usize),
    /// Which branch of a choice is used.
    Branch(TypeId, usize),
    Value(TypeId),
    /// A decision about a value in SOAP encoding.
    Encoded(Position, Aspect),
    /// How many items an array has, or a nested array without a name at this depth.
    Items(TypeId, usize),
    /// Whether the array declares its size.
    Size(TypeId, usize),
}

/// The position of a value in SOAP encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Position {
    /// The part of a call with this index.
    Part(usize),
    /// An accessor of a struct.
    Accessor(ElementId),
    /// An item of an array of this type.
    Item(TypeId),
}

impl Position {
    /// Returns the declaration of the element, if there is one.
    pub(super) fn element(self) -> Option<ElementId> {
        match self {
            Position::Accessor(id) => Some(id),
            Position::Part(_) | Position::Item(_) => None,
        }
    }
}

/// The decisions about a value in SOAP encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Aspect {
    Nil,
    Type,
    TypeAttribute,
    /// Whether the value is written through a reference.
    Reference,
    /// Whether a reference to an earlier value of the same type replaces the value.
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

/// The choices of an instance, so that they can be repeated.
#[derive(Debug, Default)]
enum Log {
    #[default]
    Off,
    Writing(Vec<u32>),
    Reading(std::vec::IntoIter<u32>),
}

impl Coverage {
    /// Returns the first of the least often chosen alternatives. `count` must be at least 1.
    pub(super) fn choose(&mut self, decision: Decision, count: usize) -> usize {
        if let Log::Reading(log) = &mut self.log {
            return log.next().unwrap_or_default() as usize;
        }
        let index = self.choose_anew(decision, count);
        self.settle(index as u32) as usize
    }

    /// Returns the recorded choice if choices are being repeated, and `choice` otherwise.
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

    /// Starts recording choices.
    pub(super) fn note(&mut self) {
        self.log = Log::Writing(Vec::new());
    }

    /// Starts repeating the recorded choices.
    pub(super) fn repeat(&mut self) {
        if let Log::Writing(log) = std::mem::take(&mut self.log) {
            self.log = Log::Reading(log.into_iter());
        }
    }

    /// Stops recording or repeating choices.
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

    /// Returns how many alternatives were chosen at least once.
    pub(super) fn covered(&self) -> usize {
        self.covered
    }

    /// Returns true if all known alternatives were chosen.
    pub(super) fn is_complete(&self) -> bool {
        self.covered == self.known
    }
}
