//! The rules that select answers.

mod reader;
mod toml;

use serde_json::Value as Json;

use super::answer::{Answer, FaultTemplate, Needs, Node};
use super::extras::Extras;
use super::placeholder::{Facts, Text, text_of};
use super::random::Latency;
use super::store::Action;
use crate::contracts::expression::Expression;
use crate::contracts::path::{self, Step};
pub(super) use reader::{Reader, RuleTarget};

/// A rule of an operation.
#[derive(Debug)]
pub(super) struct Rule {
    /// The rule answers a request if all of these are true.
    conditions: Vec<Condition>,
    pub(super) latency: Option<Latency>,
    pub(super) store: Option<StoreAccess>,
    /// The answer; `None` for the operation's default answer.
    pub(super) answer: Option<Outcome>,
    /// The header blocks and attachments of the answer.
    pub(super) extras: Extras,
}

/// A response or a fault.
#[derive(Debug)]
pub(super) enum Outcome {
    Response(Answer),
    Fault(FaultTemplate),
}

/// What a rule does with the store.
#[derive(Debug)]
pub(super) struct StoreAccess {
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
    pub(super) fn needs(&self) -> Needs {
        let conditions = self.conditions.iter().map(|condition| Needs {
            value: matches!(condition, Condition::Field(..)),
            tree: matches!(condition, Condition::XPath(_)),
            url: false,
        });
        let of_store = self.store.iter().flat_map(|stored| {
            [
                Needs::of_text(&stored.key),
                stored.value.as_ref().map(Node::needs).unwrap_or_default(),
                stored.otherwise.as_ref().map(FaultTemplate::needs).unwrap_or_default(),
            ]
        });
        let of_answer = self.answer.iter().map(Outcome::needs).chain([self.extras.needs()]);
        conditions.chain(of_store).chain(of_answer).collect()
    }
}

impl Outcome {
    pub(super) fn needs(&self) -> Needs {
        match self {
            Outcome::Response(answer) => answer.needs(),
            Outcome::Fault(fault) => fault.needs(),
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
