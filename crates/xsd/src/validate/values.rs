//! Simple values that have a meaning for the whole document: IDs and references to them (cvc-id).

use std::collections::HashSet;
use std::rc::Rc;

use castile_datatypes::Scope;

use super::problem::Problems;
use super::types::{IdKind, Types};
use crate::components::Variety;
use crate::{Builtin, TypeId};

/// Maximum nesting depth of lists and unions that are visited; it equals the limit for reading values.
const MAX_DEPTH: usize = 64;
/// Maximum number of IDs and references, and of keys, that are stored.
pub(super) const MAX_STORED: usize = 1_000_000;

impl Types<'_> {
    /// Returns how the values of a type relate to IDs.
    pub(super) fn id_kind(&mut self, id: TypeId) -> Rc<IdKind> {
        self.id_kind_within(id, 0)
    }

    fn id_kind_within(&mut self, id: TypeId, depth: usize) -> Rc<IdKind> {
        if let Some(known) = self.id_kinds.get(&id) {
            return known.clone();
        }
        let builtin = self.schema.builtin(id);
        let variety = self.schema[id].as_simple().map(|simple| &simple.variety);
        let kind = match variety {
            _ if builtin.is_derived_from(Builtin::Id) => IdKind::Id,
            _ if builtin.is_derived_from(Builtin::Idref) => IdKind::Idref,
            Some(Variety::List { item }) if depth < MAX_DEPTH => match self.id_kind_within(*item, depth + 1) {
                kind if matches!(*kind, IdKind::Nothing) => IdKind::Nothing,
                kind => IdKind::List(kind),
            },
            Some(Variety::Union { members }) if depth < MAX_DEPTH => {
                let kinds: Vec<_> =
                    members.iter().map(|&member| (member, self.id_kind_within(member, depth + 1))).collect();
                match kinds.iter().any(|(_, kind)| !matches!(**kind, IdKind::Nothing)) {
                    true => IdKind::Union(kinds),
                    false => IdKind::Nothing,
                }
            }
            _ => IdKind::Nothing,
        };
        let kind = Rc::new(kind);
        self.id_kinds.insert(id, kind.clone());
        kind
    }
}

/// The IDs of a document, and the references without an ID so far.
#[derive(Debug, Default)]
pub(super) struct Ids {
    defined: HashSet<Box<str>>,
    references: Vec<(Box<str>, usize)>,
}

impl Ids {
    /// Records the IDs and references in a valid value of a type of this kind.
    pub(super) fn take(
        &mut self,
        kind: &IdKind,
        text: &str,
        offset: usize,
        (types, scope): (&mut Types<'_>, &dyn Scope),
        problems: &mut Problems,
    ) {
        match kind {
            IdKind::Nothing => {}
            _ if self.defined.len() + self.references.len() >= MAX_STORED => {
                let message = format!("there are more than {MAX_STORED} IDs and references to them");
                problems.add("cvc-id", offset, message);
            }
            IdKind::Id => {
                if !self.defined.insert(text.trim().into()) {
                    let message = format!("the ID \"{}\" is already used by another element", text.trim());
                    problems.add("cvc-id.2", offset, message);
                }
            }
            IdKind::Idref => {
                if !self.defined.contains(text.trim()) {
                    self.references.push((text.trim().into(), offset));
                }
            }
            IdKind::List(item) => {
                for text in text.split_ascii_whitespace() {
                    self.take(item, text, offset, (types, scope), problems);
                }
            }
            IdKind::Union(members) => {
                let taken = members.iter().find(|(member, _)| types.read(*member, text, scope).is_ok());
                if let Some((_, kind)) = taken {
                    self.take(kind, text, offset, (types, scope), problems);
                }
            }
        }
    }

    /// Checks, at the end of the document, that each reference has an ID.
    pub(super) fn finish(self, problems: &mut Problems) {
        for (name, offset) in self.references {
            if !self.defined.contains(&name) {
                problems.add(
                    "cvc-id.1",
                    offset,
                    format!("no element has the ID \"{name}\", to which a reference points"),
                );
            }
        }
    }
}
