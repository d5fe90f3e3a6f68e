//! The rules that select answers.

mod reader;
mod toml;

use serde_json::Value as Json;

use super::answer::{Answer, Asks, FaultTemplate, Node};
use super::beside::Beside;
use super::chance::Latency;
use super::place::{Facts, Text, text_of};
use super::store::Action;
use crate::contracts::expression::Expression;
use crate::contracts::path::{self, Step};
pub(super) use reader::{Of, Reader};

/// A rule of an operation.
#[derive(Debug)]
pub(super) struct Rule {
    /// The rule answers a request if all of these are true.
    conditions: Vec<Condition>,
    pub(super) latency: Option<Latency>,
    pub(super) stores: Option<Stored>,
    /// The answer; `None` for the operation's default answer.
    pub(super) answer: Option<Outcome>,
    /// The header blocks and attachments of the answer.
    pub(super) beside: Beside,
}

/// A response or a fault.
#[derive(Debug)]
pub(super) enum Outcome {
    Response(Answer),
    Fault(FaultTemplate),
}

/// What a rule does with the store.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) action: Action,
    pub(super) kind: String,
    pub(super) key: Text,
    /// The value for the entry.
    pub(super) value: Option<Node>,
    /// The fault if the action fails.
    pub(super) otherwise: Option<FaultTemplate>,
}

#[derive(Debug)]
enum Condition {
    Field(Vec<Step>, Json),
    XPath(Expression),
}

impl Rule {
    /// Returns whether the rule answers a request.
    pub(super) fn holds(&self, facts: &Facts<'_>) -> Result<bool, String> {
        for condition in &self.conditions {
            let holds = match condition {
                Condition::Field(path, expected) => {
                    facts.request.is_some_and(|request| path::holds(request, path, &|found| is_equal(found, expected)))
                }
                Condition::XPath(expression) => match facts.tree {
                    Some(tree) => expression.holds(tree)?,
                    None => false,
                },
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns what the rule needs from a request.
    pub(super) fn asks(&self) -> Asks {
        let conditions = self.conditions.iter().map(|condition| Asks {
            value: matches!(condition, Condition::Field(..)),
            tree: matches!(condition, Condition::XPath(_)),
            url: false,
        });
        let of_store = self.stores.iter().flat_map(|stored| {
            [
                Asks::of_text(&stored.key),
                stored.value.as_ref().map(Node::asks).unwrap_or_default(),
                stored.otherwise.as_ref().map(FaultTemplate::asks).unwrap_or_default(),
            ]
        });
        let of_answer = self.answer.iter().map(Outcome::asks).chain([self.beside.asks()]);
        conditions.chain(of_store).chain(of_answer).collect()
    }
}

impl Outcome {
    pub(super) fn asks(&self) -> Asks {
        match self {
            Outcome::Response(answer) => answer.asks(),
            Outcome::Fault(fault) => fault.asks(),
        }
    }
}

/// Compares a value with the one in a rule: as numbers, or as text.
fn is_equal(found: &Json, expected: &Json) -> bool {
    match (found, expected) {
        // Any of the items may be equal.
        (Json::Array(items), expected) => items.iter().any(|item| is_equal(item, expected)),
        (Json::Number(found), Json::Number(expected)) => found.as_f64() == expected.as_f64(),
        (found, expected) => text_of(found).is_some_and(|found| Some(found) == text_of(expected)),
    }
}
