//! The state of reading JSON: the nodes of a graph, and the problems found so far.

use std::collections::HashMap;

use castile_databinding::encoded::Shared;

use super::{At, JsonError, NONE_OF};
use crate::types::ElementType;
use crate::value::Node;

/// Maximum number of problems that are stored. Further ones are only counted.
const MAX_STORED: usize = 100;

/// Maximum number of problems before reading stops.
const MAX_COUNTED: usize = 10_000;

pub(super) struct Reading {
    /// The nodes read so far with their types, by number.
    pub(super) nodes: HashMap<u64, (Shared<Node>, &'static ElementType)>,
    problems: Vec<JsonError>,
    count: usize,
    /// The number of problems that are tolerated. The next one ends reading.
    max: usize,
}

impl Reading {
    /// Creates a state that ends reading at the first problem.
    pub(super) fn to_first() -> Self {
        Reading { nodes: HashMap::new(), problems: Vec::new(), count: 0, max: 0 }
    }

    /// Creates a state that continues reading after problems.
    pub(super) fn to_end() -> Self {
        Reading { max: MAX_COUNTED, ..Reading::to_first() }
    }

    /// Returns the number of problems found so far.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of stored problems.
    pub(super) fn stored(&self) -> usize {
        self.problems.len()
    }

    /// Records a problem and returns `None` instead of the value. Returns the problem as an error if it ends reading.
    pub(super) fn record<T>(&mut self, read: Result<T, JsonError>) -> Result<Option<T>, JsonError> {
        match read {
            Ok(value) => Ok(Some(value)),
            Err(problem) => self.insert(self.stored(), || problem).map(|_| None),
        }
    }

    /// Inserts a problem at an index. Returns whether it was stored.
    pub(super) fn insert(&mut self, before: usize, problem: impl FnOnce() -> JsonError) -> Result<bool, JsonError> {
        if self.count == self.max {
            return Err(problem());
        }
        self.count += 1;
        let has_room = self.stored() < MAX_STORED;
        if has_room {
            self.problems.insert(before, problem());
        }
        Ok(has_room)
    }

    /// Removes the problem that a member is missing, because a misspelled member probably stands for it.
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

    /// Returns all problems, including the one that ended reading. The last one states how many others were not stored.
    pub(super) fn problems(mut self, last: Option<JsonError>) -> Vec<JsonError> {
        let has_ended = last.is_some();
        self.count += usize::from(has_ended);
        self.problems.extend(last.filter(|_| self.problems.len() < MAX_STORED));
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
