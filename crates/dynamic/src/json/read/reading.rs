//! What is known while JSON is read: the nodes of a graph, and what is wrong so far.

use std::collections::HashMap;

use castile_databinding::encoded::Shared;

use super::{At, JsonError, NONE_OF};
use crate::types::ElementType;
use crate::value::Node;

/// So many problems of a value are told. More are counted.
const MOST_TOLD: usize = 100;

/// After so many problems nothing more is read.
const MOST_COUNTED: usize = 10_000;

pub(super) struct Reading {
    /// The nodes that were read so far and their types, by their numbers.
    pub(super) nodes: HashMap<u64, (Shared<Node>, &'static ElementType)>,
    problems: Vec<JsonError>,
    count: usize,
    /// The problem behind so many ends it.
    most: usize,
}

impl Reading {
    /// Ends at the first problem.
    pub(super) fn to_first() -> Self {
        Reading { nodes: HashMap::new(), problems: Vec::new(), count: 0, most: 0 }
    }

    /// Goes on behind problems.
    pub(super) fn to_end() -> Self {
        Reading { most: MOST_COUNTED, ..Reading::to_first() }
    }

    /// How many problems there are so far.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How many of them are told.
    pub(super) fn told(&self) -> usize {
        self.problems.len()
    }

    /// Keeps what is wrong, and goes on without the value. The problem that ends the reading comes back.
    pub(super) fn keep<T>(&mut self, read: Result<T, JsonError>) -> Result<Option<T>, JsonError> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(problem) => self.tell(self.told(), || problem).map(|_| None),
        }
    }

    /// Tells a problem before others. Whether there was room for it.
    pub(super) fn tell(&mut self, before: usize, problem: impl FnOnce() -> JsonError) -> Result<bool, JsonError> {
        if self.count == self.most {
            return Err(problem());
        }
        self.count += 1;
        let has_room = self.told() < MOST_TOLD;
        if has_room {
            self.problems.insert(before, problem());
        }
        Ok(has_room)
    }

    /// Takes back that a member of an object is missing: another one was meant to be it.
    pub(super) fn take_back(&mut self, from: usize, meant: &str, at: &At<'_>) {
        let (object, member) = (at.to_string(), At::Member(at, meant).to_string());
        let is_it = |problem: &JsonError| match problem.message.strip_prefix(NONE_OF) {
            Some(names) => problem.path == object && names.split([' ', ',']).any(|name| name == meant),
            None => problem.path == member,
        };
        if let Some(number) = self.problems.iter().skip(from).position(is_it) {
            self.problems.remove(from + number);
            self.count -= 1;
        }
    }

    /// All problems, that which has ended the reading among them. The last one says how many there are beside those that are told.
    pub(super) fn problems(mut self, last: Option<JsonError>) -> Vec<JsonError> {
        let has_ended = last.is_some();
        self.count += usize::from(has_ended);
        self.problems.extend(last.filter(|_| self.problems.len() < MOST_TOLD));
        let more = self.count - self.problems.len();
        if more > 0 {
            let message = match (has_ended, more) {
                (true, _) => format!("there are at least {more} more problems"),
                (false, 1) => "there is 1 more problem".to_owned(),
                (false, _) => format!("there are {more} more problems"),
            };
            self.problems.push(JsonError { path: String::new(), message });
        }
        self.problems
    }
}
