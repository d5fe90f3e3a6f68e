//! Elements and types as trees. Each type is shown once and referred to afterwards.

use std::collections::{HashMap, HashSet, VecDeque};

use castile_xsd::Limits;

use super::contract::{Attribute, Complex, Contract, Element, Kind, Particle, Simple, Term, Type, Value, Variety};
use super::names::{Names, split};
use super::paint::{DIM, NAME, OCCURS, TYPE};
use super::tree::Node;
use crate::contracts::describe::contract::{PartContent, Wildcard};

/// Marks a type that was shown above.
const ABOVE: &str = " ↑";
/// Marks a type that is shown below.
const BELOW: &str = " ↓";
/// Marks a type that contains itself.
const WITHIN: &str = " ↻";

/// The maximum width of a line with enumeration values.
const WIDTH: usize = 90;

/// Shows elements and types, and remembers which ones.
pub(super) struct Types<'c> {
    pub(super) names: Names,
    types: HashMap<&'c str, &'c Type>,
    elements: HashMap<&'c str, &'c Element>,
    /// How many levels of named types are nested.
    depth: usize,
    documentation: bool,
    shown_types: HashSet<&'c str>,
    /// The names of the global elements that were shown.
    shown_elements: HashSet<&'c str>,
    /// The types that are currently being shown.
    open_types: Vec<&'c str>,
    pending: VecDeque<Pending<'c>>,
    /// The approximate size, in bytes, of the types shown so far.
    size: usize,
    queued: HashSet<&'c str>,
}

/// An element or type that was referred to and isn't shown yet.
#[derive(Clone, Copy)]
pub(super) enum Pending<'c> {
    Element(&'c Element),
    Type(&'c Type),
}

impl<'c> Types<'c> {
    pub(super) fn new(contract: &'c Contract, depth: usize, documentation: bool) -> Self {
        Self {
            names: Names::new(&contract.target_namespace, &contract.prefixes),
            types: contract.types.iter().map(|one| (one.id.as_str(), one)).collect(),
            elements: contract.elements.iter().map(|one| (one.name.as_str(), one)).collect(),
            depth,
            documentation,
            shown_types: HashSet::new(),
            shown_elements: HashSet::new(),
            open_types: Vec::new(),
            pending: VecDeque::new(),
            size: 0,
            queued: HashSet::new(),
        }
    }

    /// Returns whether the size limit is reached. From then on, types are only named.
    pub(super) fn is_full(&self) -> bool {
        self.size > Limits::default().output
    }

    /// Shows a message part: an element, or the name of a type.
    pub(super) fn part(&mut self, name: &'c str, content: &'c PartContent) -> Node {
        match content {
            PartContent::Element(element) => self.reference(element, "", self.depth),
            PartContent::Type(type_id) => {
                let (text, children, more) = self.of_type(type_id, self.depth);
                let mut node = Node::new(format!("{NAME}{name}{NAME:#}{text}")).with(children);
                node.more = more;
                node
            }
        }
    }

    /// Returns whether an element or a type was shown.
    pub(super) fn is_shown(&self, what: Pending<'c>) -> bool {
        match what {
            Pending::Element(element) => self.shown_elements.contains(element.name.as_str()),
            Pending::Type(of) => self.shown_types.contains(of.id.as_str()),
        }
    }

    /// Shows the next element or type that was only referred to so far.
    pub(super) fn next_pending(&mut self) -> Option<Node> {
        loop {
            let later = self.pending.pop_front()?;
            if !self.is_shown(later) {
                return Some(self.root(later));
            }
        }
    }

    /// Shows an element or a type at the left margin.
    pub(super) fn root(&mut self, what: Pending<'c>) -> Node {
        match what {
            Pending::Element(element) => {
                let mut node = self.element(element, "", self.depth);
                node.line = format!("element {}", node.line);
                node
            }
            Pending::Type(of) => {
                let (text, children, more) = self.of_type(&of.id, self.depth);
                let mut node = Node::new(format!("type {}", text.trim_start())).with(children);
                node.more = more;
                node
            }
        }
    }

    fn queue(&mut self, what: Pending<'c>) {
        let key = match what {
            Pending::Element(element) => &element.name,
            Pending::Type(of) => &of.id,
        };
        if self.queued.insert(key) {
            self.pending.push_back(what);
        }
    }

    /// Shows a global element at a reference.
    fn reference(&mut self, name: &'c str, occurs: &str, depth: usize) -> Node {
        match self.elements.get(name) {
            Some(element) => self.element(element, occurs, depth),
            // An undefined element was reported as a problem.
            None => Node::new(format!("{NAME}{}{NAME:#}{occurs}", self.names.short(name))),
        }
    }

    /// Shows a global element.
    fn element(&mut self, element: &'c Element, occurs: &str, depth: usize) -> Node {
        let name = self.names.short(&element.name);
        // Elements that refer to one another nest as deep as types do.
        let is_anonymous = element.type_id.starts_with('#') && self.mark(&element.type_id) == BELOW;
        if is_anonymous && depth == 0 {
            self.queue(Pending::Element(element));
            return Node::new(format!("{NAME}{name}{NAME:#}{occurs}{BELOW}"));
        }
        self.shown_elements.insert(&element.name);
        self.named(name, element, occurs, if is_anonymous { depth - 1 } else { depth })
    }

    /// Shows a local element. Its namespace is that of the type or none, so it isn't shown.
    fn local(&mut self, element: &'c Element, occurs: &str, depth: usize) -> Node {
        self.named(split(&element.name).1.to_owned(), element, occurs, depth)
    }

    fn named(&mut self, name: String, element: &'c Element, occurs: &str, depth: usize) -> Node {
        let is_shown = self.mark(&element.type_id) == ABOVE;
        let (text, mut children, mut more) = self.of_type(&element.type_id, depth);
        let mut line = format!("{NAME}{name}{NAME:#}{occurs}{text}");
        if element.is_abstract {
            line.push_str("  abstract element");
        }
        if element.nillable {
            line.push_str("  nillable");
        }
        line.push_str(&self.value(&element.value));
        if is_shown {
            return Node { line, more, children };
        }
        for constraint in &element.identity_constraints {
            let mut text = format!(
                "{DIM}{} {} of {}: {}",
                constraint.category,
                self.names.short(&constraint.name),
                constraint.selector,
                constraint.fields.join(", ")
            );
            if let Some(refer) = &constraint.refer {
                text.push_str(&format!(" → {}", self.names.short(refer)));
            }
            children.push(Node::new(format!("{text}{DIM:#}")));
        }
        if !element.substitutes.is_empty() {
            let names = element.substitutes.iter().map(|name| {
                let known = self.elements.get(name.as_str()).copied();
                let mark = known.map_or("", |substitute| self.mark(&substitute.type_id));
                if let Some(substitute) = known.filter(|_| mark == BELOW) {
                    self.queue(Pending::Element(substitute));
                }
                format!("{}{mark}", self.names.short(name))
            });
            let names: Vec<String> = names.collect();
            children.push(Node::new(format!("{DIM}or in its place:{DIM:#} {}", names.join(", "))));
        }
        more.extend(self.documentation(element.documentation.as_deref()));
        Node { line, more, children }
    }

    /// Shows a type at its use. Returns the text after the name, the children, and further lines.
    fn of_type(&mut self, type_id: &'c str, depth: usize) -> (String, Vec<Node>, Vec<String>) {
        let described = self.describe_type(type_id, depth);
        // 40 bytes account for the branches around a line.
        self.size += 40 + described.0.len();
        described
    }

    fn describe_type(&mut self, type_id: &'c str, depth: usize) -> (String, Vec<Node>, Vec<String>) {
        if self.is_full() {
            return ("  …".to_owned(), Vec::new(), Vec::new());
        }
        let Some(&of) = self.types.get(type_id) else {
            return (format!("  {TYPE}{}{TYPE:#}", self.names.short(type_id)), Vec::new(), Vec::new());
        };
        let is_named = !of.id.starts_with('#');
        let name = if is_named { format!("  {TYPE}{}{TYPE:#}", self.names.short(&of.id)) } else { String::new() };
        match &of.kind {
            Kind::Simple(simple) => {
                if !simple.enumeration.is_empty() && self.shown_types.contains(type_id) && is_named {
                    return (format!("{name}{ABOVE}"), Vec::new(), Vec::new());
                }
                self.shown_types.insert(type_id);
                let text = self.simple(simple);
                let text = if is_named { format!("{name} {DIM}={DIM:#} {text}") } else { format!("  {text}") };
                (text, Vec::new(), self.enumeration(simple))
            }
            Kind::Complex(complex) => {
                let mark = self.mark(type_id);
                if mark != BELOW {
                    return (format!("{name}{mark}"), Vec::new(), Vec::new());
                }
                if depth == 0 && is_named {
                    self.queue(Pending::Type(of));
                    return (format!("{name}{BELOW}"), Vec::new(), Vec::new());
                }
                self.shown_types.insert(type_id);
                self.open_types.push(type_id);
                let depth = if is_named { depth.saturating_sub(1) } else { depth };
                let described = self.complex(of, complex, depth);
                self.open_types.pop();
                let (text, children, more) = described;
                (format!("{name}{text}"), children, more)
            }
        }
    }

    fn mark(&self, type_id: &str) -> &'static str {
        match self.types.get(type_id) {
            None => "",
            Some(of) if matches!(of.kind, Kind::Simple(_)) => "",
            _ if self.open_types.contains(&type_id) => WITHIN,
            _ if self.shown_types.contains(type_id) => ABOVE,
            _ => BELOW,
        }
    }

    fn complex(&mut self, of: &'c Type, complex: &'c Complex, depth: usize) -> (String, Vec<Node>, Vec<String>) {
        let mut text = String::new();
        let is_any = of.base.ends_with("/XMLSchema}anyType");
        if !is_any && complex.value.is_none() {
            let verb = if complex.derivation == "extension" { "extends" } else { "restricts" };
            text.push_str(&format!("  {DIM}{verb}{DIM:#} {TYPE}{}{TYPE:#}", self.base(&of.base)));
        }
        let (mut children, mut more) = (Vec::new(), Vec::new());
        if let Some(value) = &complex.value {
            let (value, _, values) = self.of_type(value, depth);
            text.push_str(&format!(" {DIM}={DIM:#}{}", value.strip_prefix(' ').unwrap_or(&value)));
            more = values;
        }
        if complex.is_abstract {
            text.push_str("  abstract");
        }
        if complex.mixed {
            text.push_str("  mixed");
        }
        for attribute in &complex.attributes {
            children.push(self.attribute(attribute));
        }
        if let Some(any) = &complex.any_attribute {
            children.push(Node::new(format!("@any attribute{}", wildcard(any))));
        }
        if let Some(particle) = &complex.content {
            match &particle.term {
                Term::Sequence(particles) if (particle.min, particle.max) == (1, Some(1)) => {
                    children.extend(particles.iter().map(|particle| self.particle(particle, depth)));
                }
                _ => children.push(self.particle(particle, depth)),
            }
        }
        if !of.derived.is_empty() {
            let names: Vec<String> = of.derived.iter().map(|derived| self.derived(derived)).collect();
            children.push(Node::new(format!("{DIM}or by xsi:type:{DIM:#} {}", names.join(", "))));
        }
        if children.is_empty() && complex.value.is_none() {
            text.push_str(&format!("  {DIM}empty{DIM:#}"));
        }
        more.extend(self.documentation(of.documentation.as_deref()));
        (text, children, more)
    }

    /// Returns the name of a base type. An anonymous base is a redefined type.
    fn base(&mut self, type_id: &str) -> String {
        if type_id.starts_with('#') { "what it redefines".to_owned() } else { self.names.short(type_id) }
    }

    fn derived(&mut self, type_id: &'c str) -> String {
        let mark = self.mark(type_id);
        if type_id.starts_with('#') {
            return format!("{DIM}a type without a name{DIM:#}");
        }
        if let Some(&of) = self.types.get(type_id).filter(|_| mark == BELOW) {
            self.queue(Pending::Type(of));
        }
        format!("{TYPE}{}{TYPE:#}{mark}", self.names.short(type_id))
    }

    fn particle(&mut self, particle: &'c Particle, depth: usize) -> Node {
        let occurs = occurs(particle);
        let (word, particles) = match &particle.term {
            Term::Element(element) => return self.local(element, &occurs, depth),
            Term::Reference(name) => return self.reference(name, &occurs, depth),
            Term::Any(any) => return Node::new(format!("any element{occurs}{}", wildcard(any))),
            Term::Sequence(particles) => ("sequence", particles),
            Term::Choice(particles) => ("choice", particles),
            Term::All(particles) => ("all, in any order", particles),
        };
        let children = particles.iter().map(|particle| self.particle(particle, depth)).collect();
        Node::new(format!("{DIM}{word}{DIM:#}{occurs}")).with(children)
    }

    fn attribute(&mut self, attribute: &'c Attribute) -> Node {
        let (text, _, mut more) = self.of_type(&attribute.type_id, 0);
        let occurs = if attribute.required { String::new() } else { format!(" {OCCURS}[0..1]{OCCURS:#}") };
        let mut line = format!("{NAME}@{}{NAME:#}{occurs}{text}", self.names.short(&attribute.name));
        if let Some(array_type) = &attribute.array_type {
            let item = item_type(array_type);
            let mark = self.mark(item);
            if let Some(&of) = self.types.get(item).filter(|_| mark == BELOW) {
                self.queue(Pending::Type(of));
            }
            line.push_str(&format!("  array of {}{mark}", self.names.short(array_type)));
        }
        line.push_str(&self.value(&attribute.value));
        more.extend(self.documentation(attribute.documentation.as_deref()));
        Node { line, more, children: Vec::new() }
    }

    /// Describes the values of a simple type, except an enumeration.
    fn simple(&mut self, simple: &'c Simple) -> String {
        let mut text = match &simple.variety {
            Variety::Atomic { builtin } => format!("{TYPE}xs:{builtin}{TYPE:#}"),
            Variety::List { item } => format!("list of {}", self.value_type(item)),
            Variety::Union { members } => {
                let members: Vec<String> = members.iter().map(|member| self.value_type(member)).collect();
                members.join(" or ")
            }
        };
        for facet in &simple.facets {
            text.push_str(&format!("  {DIM}{}{DIM:#} {}", facet.facet, facet.value));
        }
        for step in &simple.patterns {
            text.push_str(&format!("  {DIM}pattern{DIM:#} {}", step.join(&format!(" {DIM}or{DIM:#} "))));
        }
        text
    }

    /// Describes a simple type that is part of another simple type.
    fn value_type(&mut self, type_id: &'c str) -> String {
        let (text, _, more) = self.of_type(type_id, 0);
        let values: String = more.iter().map(|line| format!(" {line}")).collect();
        format!("{}{values}", text.trim_start())
    }

    /// Returns the values of an enumeration, in lines of limited width.
    fn enumeration(&mut self, simple: &Simple) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        let mut length = WIDTH;
        for (index, one) in simple.enumeration.iter().enumerate() {
            let documentation = one.documentation.as_deref().filter(|_| self.documentation);
            let added = one.value.chars().count() + 3;
            let bar = if index == 0 { "one of " } else { "| " };
            match lines.last_mut() {
                Some(line) if length + added <= WIDTH => {
                    line.push_str(&format!(" {DIM}|{DIM:#} {}", one.value));
                    length += added;
                }
                _ => {
                    lines.push(format!("{DIM}{bar}{DIM:#}{}", one.value));
                    length = added;
                }
            }
            if let (Some(documentation), Some(line)) = (documentation, lines.last_mut()) {
                line.push_str(&format!("  {DIM}{}{DIM:#}", documentation.replace('\n', " ")));
                length = WIDTH;
            }
        }
        self.count(&lines);
        lines
    }

    fn value(&mut self, value: &Value) -> String {
        let text = match (&value.default, &value.fixed) {
            _ if self.is_full() => String::new(),
            (Some(default), _) => format!("  {DIM}default{DIM:#} {default:?}"),
            (_, Some(fixed)) => format!("  {DIM}fixed{DIM:#} {fixed:?}"),
            (None, None) => String::new(),
        };
        self.size += text.len();
        text
    }

    /// Returns documentation as further lines, if requested.
    fn documentation(&mut self, text: Option<&str>) -> Vec<String> {
        let lines = text.filter(|_| self.documentation && !self.is_full()).into_iter().flat_map(str::lines);
        let lines: Vec<String> = lines.map(|line| format!("{DIM}{line}{DIM:#}")).collect();
        self.count(&lines);
        lines
    }

    fn count(&mut self, lines: &[String]) {
        self.size += lines.iter().map(|line| 20 + line.len()).sum::<usize>();
    }
}

/// Returns the item type of an array type such as `{urn:orders}Item[,][2]`. The namespace may contain brackets.
fn item_type(array_type: &str) -> &str {
    let name = array_type.rfind('}').map_or(0, |end| end + 1);
    array_type[name..].find('[').map_or(array_type, |dimensions| &array_type[..name + dimensions])
}

/// Returns `[0..1]` and the like, or an empty string for exactly once.
fn occurs(particle: &Particle) -> String {
    let text = match (particle.min, particle.max) {
        (1, Some(1)) => return String::new(),
        (min, Some(max)) if min == max => format!("[{min}]"),
        (min, Some(max)) => format!("[{min}..{max}]"),
        (min, None) => format!("[{min}..*]"),
    };
    format!(" {OCCURS}{text}{OCCURS:#}")
}

fn wildcard(any: &Wildcard) -> String {
    let namespaces = match any.namespaces.as_str() {
        "##any" => String::new(),
        namespaces => format!(" of {namespaces}"),
    };
    format!("{namespaces}  {DIM}{}{DIM:#}", any.process_contents)
}
