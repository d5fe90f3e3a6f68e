//! Finds the operation that a message is for.

use castile_xml::{Reader, StartTag};

use crate::description::{Description, Operation};
use crate::envelope::end_tag;
use crate::error::{Error, ErrorKind, Named, RPC};

/// Returns the index of the operation of a message. `first` is the start tag of the first element in its body.
pub(crate) fn find(
    description: &Description,
    action: &str,
    first: Option<StartTag<'_>>,
    reader: &Reader<'_>,
) -> Result<usize, Error> {
    let payload = first.map(|tag| (reader.namespace(tag.namespace), tag.name.local()));
    let offset = first.map_or_else(|| end_tag(reader), |tag| tag.offset);
    let operations = description.operations;
    let unknown = |message: String| {
        let error = Error::at(offset, ErrorKind::UnknownOperation, message);
        let are_calls = operations.iter().any(|operation| operation.request.is_encoded);
        if are_calls { error.with_subcode(RPC, "ProcedureNotPresent") } else { error }
    };
    let fits = |operation: &&Operation| operation.request.accepts(payload);
    let mut candidates = operations.iter().enumerate().filter(|(_, operation)| fits(operation));
    match (candidates.next(), candidates.next()) {
        (Some((index, _)), None) => Ok(index),
        // Operations with the same payload are distinguished by their action.
        (Some(_), Some(_)) => {
            let meant = operations.iter().position(|operation| operation.has_action(action) && fits(&operation));
            meant.ok_or_else(|| {
                let actions = operations.iter().filter(fits).map(|operation| format!("{:?}", operation.action));
                let actions = actions.collect::<Vec<_>>().join(" or ");
                let with = payload.map_or("an empty body".to_owned(), |(_, local)| format!("<{local}>"));
                unknown(format!("found the action {action:?} with {with}, where {actions} was expected"))
            })
        }
        (None, _) => {
            let meant = || operations.iter().filter(|operation| !action.is_empty() && operation.has_action(action));
            let named = payload.and_then(|(_, local)| operations.iter().find_map(|one| one.request.named(local)));
            let expected = match (meant().count(), named) {
                (count @ 2.., None) | (count @ 1, _) => format!("{} for the action {action:?}", any_of(meant(), count)),
                (_, Some(element)) => format!("<{}> of {}", element.name, Named(element.namespace)),
                (0, None) if payload.is_some() => format!("the element of an operation of {}", description.name),
                (0, None) => "the element of an operation".to_owned(),
            };
            Err(unknown(match payload {
                Some((namespace, local)) => {
                    format!("found <{local}> of {}, where {expected} was expected", Named(namespace))
                }
                None => format!("the body is empty, where {expected} was expected"),
            }))
        }
    }
}

/// Describes how the requests of these operations begin, for error messages. Lists only the first few operations.
#[cold]
fn any_of<'o>(operations: impl Iterator<Item = &'o Operation>, count: usize) -> String {
    const MAX_NAMED: usize = 4;
    // At least two operations are omitted, because the text is in the plural.
    let named = if count <= MAX_NAMED { count } else { MAX_NAMED - 1 };
    let mut expected: Vec<String> = operations.take(named).map(|operation| operation.request.expected()).collect();
    if count > named {
        expected.push(format!("the element of one of {} more operations", count - named));
    }
    match expected.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} or {last}", rest.join(", ")),
        _ => expected.concat(),
    }
}
