//! Compares the operations of bindings and their messages.

use std::collections::HashSet;

use castile_wsdl::{
    Binding, BindingFault, BindingId, BindingMessage, BindingOperation, Definitions, Header, Part, PartContent,
    Pattern, Style, Use,
};
use castile_xsd::Schema;

use crate::Error;
use crate::change::{Breaks, Changes, Direction, Effect, Reason};
use crate::kinds;
use crate::pairs::pairs;
use crate::policies::PolicyPair;
use crate::types::{NodeId, Types, type_name};

/// Compares bindings, and collects the types to compare.
pub(crate) struct Bindings<'d> {
    old: &'d Definitions,
    new: &'d Definitions,
    types: Types<'d>,
    /// The messages compared so far, because several ports may bind the same operations.
    compared: HashSet<String>,
}

impl<'d> Bindings<'d> {
    pub(crate) fn new(old: &'d Definitions, new: &'d Definitions) -> Self {
        Self { old, new, types: Types::new(&old.schema, &new.schema), compared: HashSet::new() }
    }

    /// Compares the types of messages, and returns all changes, each once.
    ///
    /// # Errors
    /// The contracts are too large to be compared.
    pub(crate) fn finish(self, mut changes: Changes) -> Result<Changes, Error> {
        changes.list.extend(self.types.finish()?);
        let mut seen = HashSet::new();
        changes.list.retain(|one| {
            seen.insert((one.kind, one.group.clone(), one.path.clone(), one.message, one.was.clone(), one.is.clone()))
        });
        Ok(changes)
    }

    pub(crate) fn compare(
        &mut self,
        old: BindingId,
        new: BindingId,
        is_addressed: bool,
        asserted: &PolicyPair<'_>,
        changes: &mut Changes,
    ) {
        let (old, new) = (&self.old[old], &self.new[new]);
        let old_operations: Vec<_> = old.operations.iter().map(|operation| (self.old, operation)).collect();
        let new_operations: Vec<_> = new.operations.iter().map(|operation| (self.new, operation)).collect();
        let name = |(_, operation): &(&Definitions, &BindingOperation)| operation.name.clone();
        // In document style the element in the body determines the operation. The operation's name isn't used on the
        // wire.
        let payload = |(definitions, operation): &(&Definitions, &BindingOperation)| {
            let element = operation.input.as_ref().filter(|_| operation.style == Style::Document)?.element()?;
            Some(definitions.schema[element].name.to_string())
        };
        for pair in pairs((&old_operations, &new_operations), name, payload) {
            let pair = (pair.0.map(|(_, one)| *one), pair.1.map(|(_, one)| *one));
            match pair {
                (Some(one), Some(other)) => {
                    self.operation((old, one), (new, other), is_addressed, changes);
                    let place = (&*format!("operation {}", other.name), &*other.name);
                    asserted.compare(&[&one.extensions], &[&other.extensions], place, changes);
                    for (label, one, other) in
                        [("request", &one.input, &other.input), ("response", &one.output, &other.output)]
                    {
                        let of =
                            |message: &'d Option<BindingMessage>| message.as_ref().map_or(&[][..], |it| &it.extensions);
                        let path = format!("{}/{label}", place.1);
                        asserted.compare(&[of(one)], &[of(other)], (place.0, &path), changes);
                    }
                }
                (Some(gone), None) => {
                    let place = (&*format!("operation {}", gone.name), &*gone.name);
                    let breaks = Breaks::old_clients("old clients call it, but new servers don't have it");
                    changes.add(kinds::OPERATION_REMOVED, place, ("there", "gone"), breaks);
                }
                (_, added) => {
                    let Some(added) = added else { continue };
                    let place = (&*format!("operation {}", added.name), &*added.name);
                    let breaks = Breaks::new_clients("new clients call it, but old servers don't have it");
                    changes.add(kinds::OPERATION_ADDED, place, ("absent", "there"), breaks);
                }
            }
        }
    }

    fn operation(
        &mut self,
        (old_binding, old): (&Binding, &BindingOperation),
        (new_binding, new): (&Binding, &BindingOperation),
        is_addressed: bool,
        changes: &mut Changes,
    ) {
        let group = format!("operation {}", new.name);
        let place = (&*group, &*new.name);
        if old.name != new.name {
            changes.add(kinds::OPERATION_RENAMED, place, (&old.name, &new.name), Breaks::none());
        }
        if old.pattern != new.pattern {
            let why = "one side waits for a message that the other doesn't send";
            changes.add(kinds::PATTERN, place, (pattern(old.pattern), pattern(new.pattern)), Breaks::all(why));
        }
        if old.style != new.style {
            let why = "the body contains different elements";
            changes.add(kinds::STYLE, place, (style(old.style), style(new.style)), Breaks::all(why));
        }
        let action = |one: &BindingOperation| one.soap_action.clone().unwrap_or_default();
        let (was, is) = (action(old), action(new));
        if was != is {
            let why = "servers that dispatch by the action don't know the other one";
            changes.add(kinds::SOAP_ACTION, place, (quoted(&was), quoted(&is)), Breaks::all(why));
        }
        if is_addressed {
            self.actions((old_binding, old), (new_binding, new), place, changes);
        }
        for (label, direction, one, other) in [
            ("request", Direction::Request, &old.input, &new.input),
            ("response", Direction::Response, &old.output, &new.output),
        ] {
            let (Some(one), Some(other)) = (one, other) else { continue };
            let place = At { group: &group, operation: &new.name, label, direction };
            self.message((old.style, one), (new.style, other), place, changes);
        }
        self.faults(&old.faults, &new.faults, &group, &new.name, changes);
    }

    /// Compares actions, where the difference doesn't follow from that of the `SOAPAction`.
    fn actions(
        &self,
        (old_binding, old): (&Binding, &BindingOperation),
        (new_binding, new): (&Binding, &BindingOperation),
        place: (&str, &str),
        changes: &mut Changes,
    ) {
        let requests = (self.old.request_action(old_binding, old), self.new.request_action(new_binding, new));
        let is_told = old.soap_action != new.soap_action && new.soap_action.as_ref() == Some(&requests.1);
        let responses = (
            self.old.response_action(old_binding, old).unwrap_or_default(),
            self.new.response_action(new_binding, new).unwrap_or_default(),
        );
        let why = "the reader of the message doesn't know its action";
        for (path, (was, is), is_told) in [("request", requests, is_told), ("response", responses, false)] {
            if was != is && !is_told {
                let path = format!("{}/{path}", place.1);
                changes.add(kinds::ACTION, (place.0, &path), (quoted(&was), quoted(&is)), Breaks::all(why));
            }
        }
    }

    fn message(
        &mut self,
        (old_style, old): (Style, &BindingMessage),
        (new_style, new): (Style, &BindingMessage),
        at: At<'_>,
        changes: &mut Changes,
    ) {
        // If several ports bind an operation in the same way it is compared for one of them.
        let signature = format!(
            "{} {} {old_style:?}{:?}{:?} {new_style:?}{:?}{:?}",
            at.operation, at.label, old.body, old.headers, new.body, new.headers
        );
        if !self.compared.insert(signature) {
            return;
        }
        if old.use_ != new.use_ {
            let why = "values are written in a different way";
            at.add(kinds::USE, at.operation, (use_name(old.use_), use_name(new.use_)), Breaks::all(why), changes);
        }
        self.headers(&old.headers, &new.headers, at, changes);
        for pair in pairs((&old.attachments, &new.attachments), |one| one.part.clone(), |_| None) {
            let (kind, part, change, effect) = match pair {
                (Some(gone), None) => {
                    let effect = Effect::new_to_old("{r} expect it, but {w} don't send it");
                    (kinds::ATTACHMENT_REMOVED, gone, ("there", "gone"), effect)
                }
                (None, Some(added)) => {
                    let effect = Effect::old_to_new("{r} expect it, but {w} don't send it");
                    (kinds::ATTACHMENT_ADDED, added, ("absent", "there"), effect)
                }
                _ => continue,
            };
            let path = format!("{}/attachment {}", at.operation, part.part);
            at.add(kind, &path, change, effect.breaks(at.direction), changes);
        }
        if old_style != new_style {
            return;
        }
        let root = self.types.root(at.group, &format!("{}/", at.operation), at.label);
        match new_style {
            Style::Document => self.document(&old.body, &new.body, root, at, changes),
            Style::Rpc => self.rpc((old, new), root, at, changes),
        }
    }

    /// Compares the elements of a body in document style.
    fn document(&mut self, old: &[Part], new: &[Part], root: NodeId, at: At<'_>, changes: &mut Changes) {
        let names = |schema: &Schema, parts: &[Part]| -> Vec<String> {
            parts.iter().map(|part| part_name(schema, part)).collect()
        };
        let (was, is) = (names(&self.old.schema, old), names(&self.new.schema, new));
        if was != is {
            let listed = |names: &[String]| if names.is_empty() { "empty".to_owned() } else { names.join(", ") };
            let why = Effect::both("{r} expect a different element than {w} write").breaks(at.direction);
            at.add(kinds::BODY, at.operation, (listed(&was), listed(&is)), why, changes);
        }
        for (old, new) in old.iter().zip(new) {
            self.part(old, new, None, root, at);
        }
    }

    /// Compares the parts in the wrapper in rpc style.
    fn rpc(&mut self, (old, new): (&BindingMessage, &BindingMessage), root: NodeId, at: At<'_>, changes: &mut Changes) {
        let namespace = |message: &BindingMessage| message.namespace.clone().unwrap_or_default();
        if namespace(old) != namespace(new) {
            let why = Effect::both("{r} expect a different element than {w} write").breaks(at.direction);
            let change = (quoted(&namespace(old)), quoted(&namespace(new)));
            at.add(kinds::WRAPPER_NAMESPACE, at.operation, change, why, changes);
        }
        let mut common = (Vec::new(), Vec::new());
        for pair in pairs((&old.body, &new.body), |part| part.name.clone(), |_| None) {
            let path = |part: &Part| format!("{}/{}", at.operation, part.name);
            match pair {
                (Some(old), Some(new)) => {
                    common.0.push(old.name.as_str());
                    self.part(old, new, Some(&new.name), root, at);
                }
                (Some(gone), None) => {
                    let effect = Effect {
                        old_to_new: Some(Reason::Strict("{w} write it, but strict {r} reject unknown elements")),
                        new_to_old: Some(Reason::All("{r} expect it, but {w} don't write it")),
                    };
                    let change = (part_name(&self.old.schema, gone), "gone".to_owned());
                    at.add(kinds::PART_REMOVED, &path(gone), change, effect.breaks(at.direction), changes);
                }
                (_, added) => {
                    let Some(added) = added else { continue };
                    let effect = Effect {
                        old_to_new: Some(Reason::All("{r} expect it, but {w} don't write it")),
                        new_to_old: Some(Reason::Strict("{w} write it, but strict {r} reject unknown elements")),
                    };
                    let change = ("absent".to_owned(), part_name(&self.new.schema, added));
                    at.add(kinds::PART_ADDED, &path(added), change, effect.breaks(at.direction), changes);
                }
            }
        }
        let known: HashSet<&str> = common.0.iter().copied().collect();
        common.1.extend(new.body.iter().map(|part| part.name.as_str()).filter(|name| known.contains(name)));
        if common.0 != common.1 {
            let why = Reason::Strict("strict {r} expect the parts in the order of their contract");
            let why = Effect::both(why).breaks(at.direction);
            let change = (common.0.join(", "), common.1.join(", "));
            at.add(kinds::PART_ORDER, at.operation, change, why, changes);
        }
    }

    /// Compares the contents of a part. `step` is its name, if the part's element has that name.
    fn part(&mut self, old: &Part, new: &Part, step: Option<&str>, root: NodeId, at: At<'_>) {
        match (old.content, new.content) {
            (PartContent::Element(old), PartContent::Element(new)) => {
                let step = self.new.schema[new].name.local();
                let place = self.types.step(root, step);
                self.types.element(old, new, place, at.direction);
            }
            (old, new) => {
                let type_of = |schema: &Schema, content| match content {
                    PartContent::Element(element) => schema[element].type_id,
                    PartContent::Type(type_id) => type_id,
                };
                let place = step.map_or(root, |step| self.types.step(root, step));
                let (old, new) = (type_of(&self.old.schema, old), type_of(&self.new.schema, new));
                self.types.pair(old, new, place, at.direction);
            }
        }
    }

    fn headers(&mut self, old: &[Header], new: &[Header], at: At<'_>, changes: &mut Changes) {
        let (old_schema, new_schema) = (&self.old.schema, &self.new.schema);
        let old: Vec<_> = old.iter().map(|header| (part_name(old_schema, &header.part), header)).collect();
        let new: Vec<_> = new.iter().map(|header| (part_name(new_schema, &header.part), header)).collect();
        let part = |(_, header): &(String, &Header)| Some(header.part.name.clone());
        for pair in pairs((&old, &new), |(name, _)| name.clone(), part) {
            let path = |name: &str| format!("{}/header {name}", at.operation);
            match pair {
                (Some((was, old)), Some((is, new))) => {
                    if was != is {
                        let why =
                            Effect::both("{r} expect a different header block than {w} send").breaks(at.direction);
                        at.add(kinds::HEADER, &path(&new.part.name), (was, is), why, changes);
                    }
                    let root = self.types.root(at.group, &format!("{}/header ", at.operation), at.label);
                    self.part(&old.part, &new.part, Some(&new.part.name), root, at);
                }
                (Some((name, _)), None) => {
                    let effect = Effect::new_to_old("{r} may require it, but {w} don't send it");
                    let breaks = effect.breaks(at.direction);
                    at.add(kinds::HEADER_REMOVED, &path(name), ("there", "gone"), breaks, changes);
                }
                (_, added) => {
                    let Some((name, _)) = added else { continue };
                    let effect = Effect::old_to_new("{r} may require it, but {w} don't send it");
                    let breaks = effect.breaks(at.direction);
                    at.add(kinds::HEADER_ADDED, &path(name), ("absent", "there"), breaks, changes);
                }
            }
        }
    }

    fn faults(
        &mut self,
        old: &[BindingFault],
        new: &[BindingFault],
        group: &str,
        operation: &str,
        changes: &mut Changes,
    ) {
        let at = At { group, operation, label: "fault", direction: Direction::Response };
        for pair in pairs((old, new), |fault| fault.name.clone(), |_| None) {
            let path = |fault: &BindingFault| format!("{operation}/fault {}", fault.name);
            match pair {
                (Some(one), Some(other)) => {
                    let (Some(old), Some(new)) = (&one.part, &other.part) else { continue };
                    if !self.compared.insert(format!("{operation} {} {old:?} {new:?}", other.name)) {
                        continue;
                    }
                    let (was, is) = (part_name(&self.old.schema, old), part_name(&self.new.schema, new));
                    if was != is {
                        let why = Effect::both("{r} expect a different element than {w} write").breaks(at.direction);
                        at.add(kinds::BODY, &path(other), (was, is), why, changes);
                    }
                    let root = self.types.root(group, &format!("{operation}/fault {}.", other.name), at.label);
                    self.part(old, new, None, root, at);
                }
                // A fault without a known type is still received as a fault.
                (Some(gone), None) => {
                    at.add(kinds::FAULT_REMOVED, &path(gone), ("there", "gone"), Breaks::none(), changes);
                }
                (_, added) => {
                    let Some(added) = added else { continue };
                    at.add(kinds::FAULT_ADDED, &path(added), ("absent", "there"), Breaks::none(), changes);
                }
            }
        }
    }
}

/// A message of an operation.
#[derive(Clone, Copy)]
struct At<'a> {
    group: &'a str,
    operation: &'a str,
    label: &'static str,
    direction: Direction,
}

impl At<'_> {
    fn add(
        self,
        kind: &'static str,
        path: &str,
        change: (impl Into<String>, impl Into<String>),
        breaks: Breaks,
        changes: &mut Changes,
    ) {
        changes.add(kind, (self.group, path), change, breaks);
        if let Some(last) = changes.list.last_mut() {
            last.message = Some(self.label);
        }
    }
}

/// Returns the name of a part's element on the wire, or of its type.
fn part_name(schema: &Schema, part: &Part) -> String {
    match part.content {
        PartContent::Element(element) => schema[element].name.to_string(),
        PartContent::Type(type_id) => type_name(schema, type_id),
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

fn pattern(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::OneWay => "one-way",
        Pattern::RequestResponse => "request-response",
        Pattern::SolicitResponse => "solicit-response",
        Pattern::Notification => "notification",
    }
}

fn style(style: Style) -> &'static str {
    match style {
        Style::Document => "document",
        Style::Rpc => "rpc",
    }
}

fn use_name(use_: Use) -> &'static str {
    match use_ {
        Use::Literal => "literal",
        Use::Encoded => "encoded",
    }
}
