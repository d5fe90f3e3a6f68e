//! Compares the elements and types of messages. Each pair of types is compared once for each direction, so circular
//! types end, and the work is proportional to the size of the contracts.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use castile_xsd::components::{
    ArrayType, AttributeUse, Content, NamespaceConstraint, ProcessContents, Scope, TypeDefinition, Use,
    ValueConstraint, Wildcard,
};
use castile_xsd::{Builtin, ElementId, ExpandedName, Schema, TypeId};

use crate::Error;
use crate::change::{Change, Direction, Effect, Reason, shortened};
use crate::kinds;
use crate::pairs::paired;

/// Maximum number of elements, attributes and values that are compared. Groups that refer to one another can expand to
/// any number.
const MAX_WORK: usize = 2_000_000;
/// Maximum number of changes in types, each of which takes memory. Nobody reads more.
const MAX_CHANGES: usize = 100_000;
/// Maximum number of steps shown at the end of a path.
const STEPS: usize = 12;

pub(crate) const UNKNOWN: Reason = Reason::Strict("{w} may write it, but strict {r} reject unknown elements");
pub(crate) const LEFT_OUT: Reason = Reason::All("{w} may omit it, but {r} require it");
pub(crate) const NOT_WRITTEN: Reason = Reason::All("{w} don't write it, but {r} require it");

/// A position in a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeId(usize);

/// A position, and the direction of its message.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    pub(crate) node: NodeId,
    pub(crate) direction: Direction,
}

enum Node {
    Root { group: String, head: String, message: &'static str },
    Step { parent: NodeId, root: NodeId, step: String },
}

/// A pair of types to compare.
#[derive(Default)]
struct Visit {
    /// The range of the changes in the types themselves.
    changes: Range<usize>,
    /// How often the pair was found again.
    again: usize,
}

type Pair = (TypeId, TypeId, Direction);

pub(crate) struct Types<'d> {
    pub(crate) old: &'d Schema,
    pub(crate) new: &'d Schema,
    nodes: Vec<Node>,
    queue: VecDeque<(Pair, NodeId)>,
    visits: HashMap<Pair, Visit>,
    elements: HashSet<(ElementId, ElementId, Direction)>,
    /// Changed namespaces, with the change that reports each.
    namespaces: HashMap<(String, String, Direction), usize>,
    changes: Vec<Change>,
    /// The work done so far.
    pub(crate) work: usize,
}

impl<'d> Types<'d> {
    pub(crate) fn new(old: &'d Schema, new: &'d Schema) -> Self {
        Self {
            old,
            new,
            nodes: Vec::new(),
            queue: VecDeque::new(),
            visits: HashMap::new(),
            elements: HashSet::new(),
            namespaces: HashMap::new(),
            changes: Vec::new(),
            work: 0,
        }
    }

    /// Returns the start of a message.
    pub(crate) fn root(&mut self, group: &str, head: &str, message: &'static str) -> NodeId {
        self.nodes.push(Node::Root { group: group.to_owned(), head: head.to_owned(), message });
        NodeId(self.nodes.len() - 1)
    }

    /// Returns the position of an element or attribute in another one.
    pub(crate) fn step(&mut self, parent: NodeId, step: &str) -> NodeId {
        let root = match &self.nodes[parent.0] {
            Node::Root { .. } => parent,
            Node::Step { root, .. } => *root,
        };
        self.nodes.push(Node::Step { parent, root, step: step.to_owned() });
        NodeId(self.nodes.len() - 1)
    }

    /// Returns the group, the path and the message of a position.
    fn describe(&self, node: NodeId) -> (String, String, Option<&'static str>) {
        let mut steps = Vec::new();
        let mut next = node;
        while let Node::Step { parent, step, .. } = &self.nodes[next.0] {
            if steps.len() == STEPS {
                steps.push("…");
                break;
            }
            steps.push(step);
            next = *parent;
        }
        steps.reverse();
        let root = match &self.nodes[node.0] {
            Node::Root { .. } => node,
            Node::Step { root, .. } => *root,
        };
        match &self.nodes[root.0] {
            Node::Root { group, head, message } => {
                (group.clone(), format!("{head}{}", steps.join(".")), Some(*message))
            }
            Node::Step { .. } => (String::new(), steps.join("."), None),
        }
    }

    pub(crate) fn add(
        &mut self,
        kind: &'static str,
        here: Position,
        (was, is): (impl Into<String>, impl Into<String>),
        effect: Effect,
    ) {
        let (group, path, message) = self.describe(here.node);
        let breaks = effect.breaks(here.direction);
        let (path, was, is) = (shortened(path), shortened(was.into()), shortened(is.into()));
        self.changes.push(Change { kind, group, path, message, was, is, breaks, also: 0 });
    }

    /// Adds a pair of types to the queue, unless it was added before.
    pub(crate) fn pair(&mut self, old: TypeId, new: TypeId, node: NodeId, direction: Direction) {
        if old.builtin().is_some() && old == new {
            return;
        }
        let pair = (old, new, direction);
        if let Some(visit) = self.visits.get_mut(&pair) {
            visit.again += 1;
            return;
        }
        self.visits.insert(pair, Visit::default());
        self.queue.push_back((pair, node));
    }

    /// Compares all pairs in the queue, and returns the changes.
    ///
    /// # Errors
    /// The contracts are too large to be compared.
    pub(crate) fn finish(mut self) -> Result<Vec<Change>, Error> {
        while let Some((pair, node)) = self.queue.pop_front() {
            let (old, new, direction) = pair;
            let first = self.changes.len();
            self.types(old, new, Position { node, direction });
            if self.work > MAX_WORK {
                return Err(Error(format!(
                    "there are more than {MAX_WORK} pairs of elements, attributes and values to compare"
                )));
            }
            if self.changes.len() > MAX_CHANGES {
                return Err(Error(format!(
                    "found more than {MAX_CHANGES} changes, expected two versions of one contract"
                )));
            }
            let changes = first..self.changes.len();
            if let Some(visit) = self.visits.get_mut(&pair) {
                visit.changes = changes;
            }
        }
        for visit in self.visits.values() {
            for change in &mut self.changes[visit.changes.clone()] {
                change.also += visit.again;
            }
        }
        Ok(self.changes)
    }

    fn types(&mut self, old: TypeId, new: TypeId, here: Position) {
        self.work += 1;
        let (old_schema, new_schema) = (self.old, self.new);
        match (&old_schema[old], &new_schema[new]) {
            (TypeDefinition::Simple(_), TypeDefinition::Simple(_)) => self.simple(old, new, here),
            (TypeDefinition::Complex(one), TypeDefinition::Complex(other)) => {
                match (one.is_abstract, other.is_abstract) {
                    (false, true) => {
                        let why = Effect::old_to_new("{w} may write the type itself, but {r} expect a derived type");
                        self.add(kinds::ABSTRACT, here, ("a type of its own", "abstract"), why);
                    }
                    (true, false) => {
                        let why = Effect::new_to_old("{w} may write the type itself, but {r} expect a derived type");
                        self.add(kinds::CONCRETE, here, ("abstract", "a type of its own"), why);
                    }
                    _ => {}
                }
                self.attributes(old, new, here);
                self.contents(old, new, here);
                self.derived(old, new, here);
            }
            _ => self.other_kind(old, new, here),
        }
    }

    /// Compares a simple type with a complex one.
    fn other_kind(&mut self, old: TypeId, new: TypeId, here: Position) {
        match (self.old.content(old), self.new.content(new)) {
            (Content::Simple(one), Content::Simple(other)) => {
                self.attributes(old, new, here);
                self.pair(one, other, here.node, here.direction);
            }
            _ => self.type_changed(old, new, here),
        }
    }

    /// Reports that a type was replaced by a different one.
    pub(crate) fn type_changed(&mut self, old: TypeId, new: TypeId, here: Position) {
        let is_any = |type_id: TypeId| type_id.builtin() == Some(Builtin::AnyType);
        let effect = Effect::of(!is_any(new), !is_any(old), "{w} write text that is not a valid value for {r}");
        self.add(kinds::TYPE, here, (type_name(self.old, old), type_name(self.new, new)), effect);
    }

    fn contents(&mut self, old: TypeId, new: TypeId, here: Position) {
        let is_any = |type_id: TypeId| type_id.builtin() == Some(Builtin::AnyType);
        if is_any(old) != is_any(new) {
            return self.type_changed(old, new, here);
        }
        let (one, other) = (self.old.content(old), self.new.content(new));
        match (&one, &other) {
            (Content::Simple(one), Content::Simple(other)) => self.pair(*one, *other, here.node, here.direction),
            (Content::Simple(_), _) | (_, Content::Simple(_)) => self.type_changed(old, new, here),
            _ => {
                let is_mixed = |content: &Content| matches!(content, Content::Mixed(_));
                let why = "{w} may write text between the elements, but {r} reject it";
                match (is_mixed(&one), is_mixed(&other)) {
                    (false, true) => {
                        self.add(kinds::MIXED, here, ("elements only", "mixed"), Effect::new_to_old(why));
                    }
                    (true, false) => {
                        self.add(kinds::NOT_MIXED, here, ("mixed", "elements only"), Effect::old_to_new(why));
                    }
                    _ => {}
                }
                self.particles(one.particle(), other.particle(), here);
            }
        }
    }

    /// Compares the types that `xsi:type` may name instead of these types.
    fn derived(&mut self, old: TypeId, new: TypeId, here: Position) {
        if old.builtin().is_some() || new.builtin().is_some() {
            return;
        }
        let of = |schema: &Schema, type_id: TypeId| -> (Vec<ExpandedName>, Vec<TypeId>) {
            let named = schema.derived_types(type_id).iter().filter(|id| schema[**id].as_complex().is_some());
            named.filter_map(|id| Some((schema[*id].name()?.clone(), *id))).unzip()
        };
        let ((names, old), (others, new)) = (of(self.old, old), of(self.new, new));
        self.work += old.len() + new.len();
        let (partners, added) = paired(&names, &others);
        let why = "{w} may write it with xsi:type, but {r} don't know it";
        for ((name, id), partner) in names.iter().zip(old).zip(partners) {
            let node = self.step(here.node, &format!("({})", name.local()));
            match partner {
                Some(partner) => self.pair(id, new[partner], node, here.direction),
                None => {
                    let here = Position { node, ..here };
                    self.add(kinds::DERIVED_REMOVED, here, ("there", "gone"), Effect::old_to_new(why));
                }
            }
        }
        for index in added {
            let node = self.step(here.node, &format!("({})", others[index].local()));
            self.add(kinds::DERIVED_ADDED, Position { node, ..here }, ("absent", "there"), Effect::new_to_old(why));
        }
    }

    /// Compares two declarations of an element.
    pub(crate) fn element(&mut self, old: ElementId, new: ElementId, node: NodeId, direction: Direction) {
        let here = Position { node, direction };
        // Changes in global elements are reported at the first reference only.
        let is_global = self.old[old].scope == Scope::Global && self.new[new].scope == Scope::Global;
        if !is_global {
            return self.declaration(old, new, here);
        }
        if self.elements.insert((old, new, direction)) {
            self.declaration(old, new, here);
            self.substitutes(old, new, here);
        } else {
            self.pair(self.old[old].type_id, self.new[new].type_id, node, direction);
        }
    }

    fn declaration(&mut self, old: ElementId, new: ElementId, here: Position) {
        let (one, other) = (&self.old[old], &self.new[new]);
        self.pair(one.type_id, other.type_id, here.node, here.direction);
        let why = "{w} may write it as nil, but {r} reject this";
        match (one.nillable, other.nillable) {
            (false, true) => self.add(kinds::NILLABLE, here, ("not nillable", "nillable"), Effect::new_to_old(why)),
            (true, false) => self.add(kinds::NOT_NILLABLE, here, ("nillable", "not nillable"), Effect::old_to_new(why)),
            _ => {}
        }
        let why = "{w} may write it, but {r} expect a member of its substitution group";
        match (one.is_abstract, other.is_abstract) {
            (false, true) => {
                let change = ("an element of its own", "abstract");
                self.add(kinds::ABSTRACT_ELEMENT, here, change, Effect::old_to_new(why));
            }
            (true, false) => {
                let change = ("abstract", "an element of its own");
                self.add(kinds::CONCRETE_ELEMENT, here, change, Effect::new_to_old(why));
            }
            _ => {}
        }
        self.values(one.value_constraint.as_ref(), other.value_constraint.as_ref(), here);
    }

    fn substitutes(&mut self, old: ElementId, new: ElementId, here: Position) {
        let (members, others) = (self.old.substitutes(old), self.new.substitutes(new));
        self.work += members.len() + others.len();
        let known: HashMap<&ExpandedName, ElementId> = others.iter().map(|id| (&self.new[*id].name, *id)).collect();
        let (old_schema, new_schema) = (self.old, self.new);
        let why = "{w} may write it in place of the element, but {r} don't know it";
        for member in &members {
            let name = &old_schema[*member].name;
            let node = self.step(here.node, &format!("[{}]", name.local()));
            match known.get(name) {
                Some(other) => self.declaration(*member, *other, Position { node, ..here }),
                None => {
                    let here = Position { node, ..here };
                    self.add(kinds::SUBSTITUTE_REMOVED, here, ("there", "gone"), Effect::old_to_new(why));
                }
            }
        }
        let known: HashSet<&ExpandedName> = members.iter().map(|id| &old_schema[*id].name).collect();
        for member in others.iter().filter(|id| !known.contains(&new_schema[**id].name)) {
            let node = self.step(here.node, &format!("[{}]", new_schema[*member].name.local()));
            self.add(kinds::SUBSTITUTE_ADDED, Position { node, ..here }, ("absent", "there"), Effect::new_to_old(why));
        }
    }

    /// Compares the default and fixed values of an element or attribute.
    fn values(&mut self, old: Option<&ValueConstraint>, new: Option<&ValueConstraint>, here: Position) {
        if old == new {
            return;
        }
        let is_fixed = |one: Option<&ValueConstraint>| matches!(one, Some(ValueConstraint::Fixed(_)));
        let as_text = |one: Option<&ValueConstraint>| match one {
            None => "none".to_owned(),
            Some(ValueConstraint::Default(value)) => format!("default {value:?}"),
            Some(ValueConstraint::Fixed(value)) => format!("fixed {value:?}"),
        };
        let effect = Effect::of(is_fixed(new), is_fixed(old), "{w} may write a different value, but {r} reject it");
        let kind = if is_fixed(old) || is_fixed(new) { kinds::FIXED } else { kinds::DEFAULT };
        self.add(kind, here, (as_text(old), as_text(new)), effect);
    }

    fn attributes(&mut self, old: TypeId, new: TypeId, here: Position) {
        let (old_schema, new_schema) = (self.old, self.new);
        let (uses, others) = (old_schema.attribute_uses(old), new_schema.attribute_uses(new));
        self.work += uses.len() + others.len();
        let (old_any, new_any) = (old_schema.attribute_wildcard(old), new_schema.attribute_wildcard(new));
        let takes = |any: &Option<Wildcard>, name: &ExpandedName| {
            any.as_ref().is_some_and(|any| any.namespaces.allows(name.namespace()))
        };
        let known: HashMap<&ExpandedName, &AttributeUse> =
            others.iter().map(|one| (&new_schema[one.attribute].name, one)).collect();
        for one in &uses {
            let declaration = &old_schema[one.attribute];
            let name = &declaration.name;
            let node = self.step(here.node, &format!("@{}", name.local()));
            let here = Position { node, ..here };
            let Some(other) = known.get(name) else {
                let effect = Effect {
                    old_to_new: (!takes(&new_any, name)).then_some(UNKNOWN),
                    new_to_old: (one.use_ == Use::Required).then_some(LEFT_OUT),
                };
                let was = format!("{} {}", use_name(one.use_), type_name(old_schema, declaration.type_id));
                self.add(kinds::ATTRIBUTE_REMOVED, here, (was, "gone"), effect);
                continue;
            };
            match (one.use_, other.use_) {
                (Use::Required, Use::Required) => {}
                (_, Use::Required) => {
                    self.add(kinds::REQUIRED, here, ("optional", "required"), Effect::old_to_new(LEFT_OUT));
                }
                (Use::Required, _) => {
                    self.add(kinds::OPTIONAL, here, ("required", "optional"), Effect::new_to_old(LEFT_OUT));
                }
                _ => {}
            }
            let of = |schema: &Schema, one: &AttributeUse| {
                one.value_constraint.clone().or_else(|| schema[one.attribute].value_constraint.clone())
            };
            self.values(of(old_schema, one).as_ref(), of(new_schema, other).as_ref(), here);
            self.pair(declaration.type_id, new_schema[other.attribute].type_id, node, here.direction);
            self.array_types(one.array_type.as_ref(), other.array_type.as_ref(), here);
        }
        let known: HashSet<&ExpandedName> = uses.iter().map(|one| &old_schema[one.attribute].name).collect();
        for other in &others {
            let declaration = &new_schema[other.attribute];
            let name = &declaration.name;
            if known.contains(name) {
                continue;
            }
            let node = self.step(here.node, &format!("@{}", name.local()));
            let is_required = other.use_ == Use::Required;
            let effect = Effect {
                old_to_new: is_required.then_some(NOT_WRITTEN),
                new_to_old: (!takes(&old_any, name)).then_some(UNKNOWN),
            };
            let kind = if is_required { kinds::ATTRIBUTE_ADDED_REQUIRED } else { kinds::ATTRIBUTE_ADDED };
            let is = format!("{} {}", use_name(other.use_), type_name(new_schema, declaration.type_id));
            self.add(kind, Position { node, ..here }, ("absent", is), effect);
        }
        self.wildcards((old_any.as_slice(), new_any.as_slice()), "attribute", here);
    }

    /// Compares the items of arrays in SOAP encoding.
    fn array_types(&mut self, old: Option<&ArrayType>, new: Option<&ArrayType>, here: Position) {
        let (Some(old), Some(new)) = (old, new) else { return };
        match (self.old.find_type(&old.item), self.new.find_type(&new.item)) {
            (Some(one), Some(other)) => {
                let node = self.step(here.node, "[]");
                self.pair(one, other, node, here.direction);
            }
            _ if old != new => {
                let as_text = |one: &ArrayType| format!("{}{}", one.item, one.dimensions);
                let effect = Effect::both("{w} write text that is not a valid value for {r}");
                self.add(kinds::TYPE, here, (as_text(old), as_text(new)), effect);
            }
            _ => {}
        }
    }

    /// Compares wildcards in the order of their types.
    pub(crate) fn wildcards(&mut self, (old, new): (&[Wildcard], &[Wildcard]), of: &str, here: Position) {
        let why = "{w} may write elements that {r} reject";
        for (one, other) in old.iter().zip(new).filter(|(one, other)| one != other) {
            let strictness = |one: &Wildcard| match one.process_contents {
                ProcessContents::Skip => 0,
                ProcessContents::Lax => 1,
                ProcessContents::Strict => 2,
            };
            let is_narrower = |one: &Wildcard, other: &Wildcard| {
                !one.namespaces.is_subset_of(&other.namespaces) || strictness(other) > strictness(one)
            };
            let effect = Effect::of(is_narrower(one, other), is_narrower(other, one), why);
            self.add(kinds::WILDCARD, here, (wildcard(one, of), wildcard(other, of)), effect);
        }
        for one in old.iter().skip(new.len()) {
            self.add(kinds::WILDCARD_REMOVED, here, (wildcard(one, of), "gone"), Effect::old_to_new(why));
        }
        for other in new.iter().skip(old.len()) {
            self.add(kinds::WILDCARD_ADDED, here, ("absent", wildcard(other, of)), Effect::new_to_old(why));
        }
    }

    /// Reports, once for each direction, that one namespace was replaced by another.
    pub(crate) fn namespace_changed(&mut self, old: &ExpandedName, new: &ExpandedName, here: Position) {
        let key = (old.namespace().to_owned(), new.namespace().to_owned(), here.direction);
        if let Some(known) = self.namespaces.get(&key) {
            self.changes[*known].also += 1;
            return;
        }
        self.namespaces.insert(key, self.changes.len());
        let effect = Effect::both("{r} expect an element in a different namespace");
        self.add(kinds::NAMESPACE, here, (format!("{:?}", old.namespace()), format!("{:?}", new.namespace())), effect);
    }
}

/// Returns the name of a type, or of its base for an anonymous type, to distinguish types.
pub(crate) fn full_name(schema: &Schema, type_id: TypeId) -> ExpandedName {
    schema[type_id].name().cloned().unwrap_or_else(|| ExpandedName::new("", type_name(schema, type_id)))
}

/// Returns the name of a type for messages.
pub(crate) fn type_name(schema: &Schema, type_id: TypeId) -> String {
    match (type_id.builtin(), schema[type_id].name()) {
        (Some(builtin), _) => format!("xs:{}", builtin.name()),
        (None, Some(name)) => name.local().to_owned(),
        (None, None) => match schema[type_id].as_simple() {
            Some(_) => format!("a kind of xs:{}", schema.builtin(type_id).name()),
            None => "a type without a name".to_owned(),
        },
    }
}

fn use_name(use_: Use) -> &'static str {
    if use_ == Use::Required { "required" } else { "optional" }
}

fn wildcard(wildcard: &Wildcard, of: &str) -> String {
    let namespaces = match &wildcard.namespaces {
        NamespaceConstraint::Any => "of any namespace".to_owned(),
        NamespaceConstraint::Not(namespace) => format!("of any namespace but {namespace:?}"),
        NamespaceConstraint::OneOf(list) => {
            let shown: Vec<String> = list.iter().take(5).map(|namespace| format!("{namespace:?}")).collect();
            let more = if list.len() > shown.len() { ", …" } else { "" };
            format!("of {}{more}", shown.join(", "))
        }
    };
    let checked = match wildcard.process_contents {
        ProcessContents::Strict => "that is declared",
        ProcessContents::Lax => "valid if it is declared",
        ProcessContents::Skip => "not checked",
    };
    format!("any {of} {namespaces}, {checked}")
}
