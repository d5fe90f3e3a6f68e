//! Plans model groups: fields for sequences, enums for choices, structs for nested groups.

use std::collections::{HashMap, HashSet};

use castile_xsd::components::{Compositor, NamespaceConstraint, Wildcard};
use castile_xsd::{ExpandedName, Location, Severity};

use super::particles::{Group, Node, NodeTerm, Origin};
use super::{Key, Planner};
use crate::names::{Ident, Scope};
use crate::plan::{
    Choice, Content, Field, Item, Made, Occurrence, Particle, ParticleKind, Path, Role, Storage, Struct, Term,
};
use crate::stack::grown;

impl Planner<'_> {
    /// Returns names for the nodes that are elements or substitution groups, and `None` for the others. Call it before
    /// any other name is assigned, so that these names take precedence.
    pub(super) fn element_names(&self, nodes: &[Node], names: &mut Scope) -> Vec<Option<Ident>> {
        nodes.iter().map(|node| self.element_name(node).map(|name| names.lower(name))).collect()
    }

    fn element_name(&self, node: &Node) -> Option<&str> {
        match &node.term {
            NodeTerm::Element(id) | NodeTerm::Group(Group { origin: Origin::Head(id), .. }) => {
                Some(self.schema[*id].name.local())
            }
            _ => None,
        }
    }

    /// Returns a name for a node that is not an element: `any`, the name of its group, or the compositor of an inline
    /// group.
    fn group_name(&self, node: &Node) -> &str {
        match &node.term {
            NodeTerm::Element(id) => self.schema[*id].name.local(),
            NodeTerm::Any(_) => "any",
            NodeTerm::Group(group) => match group.origin {
                Origin::Definition(id) => self.schema[id].name.local(),
                Origin::Head(id) => self.schema[id].name.local(),
                Origin::Inline | Origin::Step(..) => group.compositor.name(),
            },
        }
    }

    /// Returns a field for each node of a group. `idents` are the names that `element_names` returned.
    pub(super) fn content(
        &mut self,
        group: Group,
        idents: Vec<Option<Ident>>,
        owner: &str,
        names: &mut Scope,
        location: Location,
    ) -> Content {
        let mut fields = Vec::new();
        for (node, ident) in group.nodes.iter().zip(idents) {
            let ident = ident.unwrap_or_else(|| names.lower(self.group_name(node)));
            if !self.count(1) {
                break;
            }
            let mut field = self.field(node, ident, owner);
            field.streams = field.occurrence() == Occurrence::Repeated && self.take_stream_request(node, owner);
            fields.push(field);
        }
        self.disambiguate(&mut fields, group.compositor, location);
        match group.compositor {
            Compositor::All if fields.iter().all(|field| field.element().is_some()) => Content::All(fields),
            _ => Content::Sequence(fields),
        }
    }

    fn field(&mut self, node: &Node, ident: Ident, owner: &str) -> Field {
        // Groups may nest deeply in a type, and each level is a recursive call.
        grown(|| self.planned_field(node, ident, owner))
    }

    fn planned_field(&mut self, node: &Node, ident: Ident, owner: &str) -> Field {
        let (documentation, term) = match &node.term {
            NodeTerm::Element(id) => {
                let declaration = &self.schema[*id];
                let documentation = self.value_documentation(
                    &[&declaration.annotation.documentation],
                    "element",
                    declaration.name.local(),
                    &ident,
                    declaration.type_id,
                );
                let value = self.value(*id);
                let element = self.element(declaration);
                (documentation, Term::Element { element, value, tag: String::new(), counted: false })
            }
            NodeTerm::Any(any) => ("Any element.".to_owned(), Term::Any(self.wildcard(&any.namespaces))),
            NodeTerm::Group(group) => {
                let documentation = self.group_documentation(group);
                let is_unbounded = node.max.is_none();
                (documentation, Term::Group(self.group(group, is_unbounded, owner, &ident)))
            }
        };
        let (min_occurs, max_occurs) = (node.min, node.max);
        Field {
            ident,
            documentation,
            min_occurs,
            max_occurs,
            term,
            storage: Storage::InPlace,
            streams: false,
            adapter: None,
        }
    }

    /// Returns true if this element was requested as a stream, and removes the request.
    fn take_stream_request(&mut self, node: &Node, owner: &str) -> bool {
        let Some(name) = self.element_name(node).filter(|_| !self.streamed.is_empty()) else { return false };
        self.streamed.remove(&format!("{owner}/{name}"))
    }

    fn group_documentation(&mut self, group: &Group) -> String {
        match group.origin {
            Origin::Definition(id) => {
                let definition = &self.schema[id];
                self.text(&[&definition.annotation.documentation])
                    .unwrap_or_else(|| format!("The group `{}`.", definition.name.local()))
            }
            Origin::Head(id) => {
                let declaration = &self.schema[id];
                self.text(&[&declaration.annotation.documentation]).unwrap_or_else(|| {
                    format!("The element `{}`, or a member of its substitution group.", declaration.name.local())
                })
            }
            Origin::Inline | Origin::Step(..) => match group.compositor {
                Compositor::Choice => "One of several.".to_owned(),
                Compositor::Sequence | Compositor::All => "Elements that belong together.".to_owned(),
            },
        }
    }

    /// Plans the type of a group, unless it was planned before, and returns its path.
    fn group(&mut self, group: &Group, is_unbounded: bool, owner: &str, field: &Ident) -> Path {
        let key = Key::Group(group.origin, is_unbounded);
        let outside = self.module;
        let in_place = |owner: &str| format!("{owner} {}", field.to_string().trim_start_matches("r#"));
        let path = match group.origin {
            Origin::Inline => self.item(&in_place(owner)),
            origin => {
                if let Some(path) = self.paths.get(&key) {
                    return path.clone();
                }
                let (module, name) = match origin {
                    Origin::Head(id) => {
                        let name = &self.schema[id].name;
                        (self.module_of(name.namespace()), format!("{} element", name.local()))
                    }
                    Origin::Definition(id) => {
                        let name = &self.schema[id].name;
                        (self.module_of(name.namespace()), name.local().to_owned())
                    }
                    // The group is named after the type that declares it, even if only a derived type is needed.
                    Origin::Step(id, _) => match self.reserved.get(&id) {
                        Some(Path { module, ident }) => (*module, in_place(ident.as_str())),
                        None => (self.module, in_place(owner)),
                    },
                    Origin::Inline => (self.module, in_place(owner)),
                };
                self.module = module;
                let path = self.item(&name);
                self.paths.insert(key, path.clone());
                path
            }
        };
        let documentation = self.group_documentation(group);
        let item = match group.compositor {
            Compositor::Choice => self.choice(group, &path, documentation),
            _ => self.sequence(group, &path, documentation),
        };
        self.items.push(item);
        self.module = outside;
        path
    }

    fn sequence(&mut self, group: &Group, path: &Path, documentation: String) -> Item {
        let mut names = Scope::default();
        let idents = self.element_names(&group.nodes, &mut names);
        let location = self.group_location(group);
        let mut content = self.content(group.clone(), idents, &path.ident.to_string(), &mut names, location);
        if let Content::Sequence(fields) = &mut content {
            // Another occurrence of the group may follow directly, and may begin with the same element. So a field with
            // a fixed number of elements ends after this number.
            for field in fields.iter_mut().filter(|field| field.max_occurs == Some(field.min_occurs)) {
                if let Term::Element { counted, .. } = &mut field.term {
                    *counted = true;
                }
            }
        }
        Item::Struct(Struct {
            path: path.clone(),
            table: self.table(&path.ident.to_string()),
            documentation,
            role: Role::Group,
            attributes: Vec::new(),
            attribute_table: None,
            any_attributes: None,
            content,
            made: Made::Whole,
        })
    }

    fn choice(&mut self, group: &Group, path: &Path, documentation: String) -> Item {
        let mut names = Scope::default();
        let variants = self.variants(&group.nodes, &mut names, &path.ident.to_string());
        Item::Choice(Choice {
            path: path.clone(),
            table: self.table(&path.ident.to_string()),
            documentation,
            text: None,
            order: None,
            variants,
        })
    }

    /// Returns a variant for each branch. If two branches are the same element, the second is reported and left out.
    fn variants(&mut self, nodes: &[Node], names: &mut Scope, owner: &str) -> Vec<Field> {
        let mut seen = HashSet::new();
        let mut kept: Vec<&Node> = Vec::new();
        for node in nodes {
            if let NodeTerm::Element(id) = &node.term {
                let name = &self.schema[*id].name;
                if !seen.insert(name) {
                    let message = format!("<{}> begins two branches of a choice: the first one is used", name.local());
                    self.report(Severity::Warning, self.schema[*id].location, message);
                    continue;
                }
            }
            kept.push(node);
        }
        let idents: Vec<Option<Ident>> =
            kept.iter().map(|node| self.element_name(node).map(|name| names.variant(name))).collect();
        let mut variants = Vec::new();
        for (node, ident) in kept.into_iter().zip(idents) {
            let ident = ident.unwrap_or_else(|| names.variant(self.group_name(node)));
            if !self.count(1) {
                break;
            }
            variants.push(self.field(node, ident, owner));
        }
        variants
    }

    /// Plans the enum for the pieces of mixed content. It has a variant for text, one for each element that may occur,
    /// and one for all wildcards.
    pub(super) fn mixed_content(&mut self, group: &Group, owner: &str) -> Path {
        let path = self.item(&format!("{owner} content"));
        let mut nodes: Vec<Node> = Vec::new();
        let mut any: Option<NamespaceConstraint> = None;
        self.leaves(&group.nodes, &mut HashSet::new(), &mut nodes, &mut any);
        if let Some(namespaces) = any {
            let process_contents = castile_xsd::components::ProcessContents::Lax;
            let term = NodeTerm::Any(Wildcard { namespaces, process_contents });
            nodes.push(Node { min: 1, max: Some(1), term });
        }
        let mut names = Scope::default();
        let text = names.variant("Text");
        let variants = self.variants(&nodes, &mut names, &path.ident.to_string());
        let table = self.table(&path.ident.to_string());
        let order = (!is_in_any_order(group)).then(|| self.order(group, &variants));
        self.items.push(Item::Choice(Choice {
            path: path.clone(),
            table,
            documentation: format!("A piece of the content of a `{owner}`."),
            text: Some(text),
            order,
            variants,
        }));
        path
    }

    /// Returns the order in which the pieces of mixed content may occur. `variants` are all allowed pieces.
    fn order(&mut self, group: &Group, variants: &[Field]) -> Particle {
        let elements = variants.iter().filter_map(Field::element).enumerate();
        let numbers = elements.map(|(number, one)| ((one.namespace.as_str(), one.name.as_str()), number));
        self.ordered(group, 1, Some(1), &numbers.collect())
    }

    /// Returns the particle for a group. `elements` has the index of each element among the pieces. An index is missing
    /// only after a limit was exceeded.
    fn ordered(
        &mut self,
        group: &Group,
        min: u32,
        max: Option<u32>,
        elements: &HashMap<(&str, &str), usize>,
    ) -> Particle {
        let particles = group.nodes.iter().map(|Node { min, max, term }| {
            let kind = match term {
                NodeTerm::Group(group) => return self.ordered(group, *min, *max, elements),
                NodeTerm::Any(any) => ParticleKind::Any(self.wildcard(&any.namespaces)),
                NodeTerm::Element(id) => {
                    let name = &self.schema[*id].name;
                    ParticleKind::Element(elements.get(&(name.namespace(), name.local())).copied().unwrap_or_default())
                }
            };
            Particle { min: *min, max: *max, kind }
        });
        let particles = particles.collect();
        let kind = match group.compositor {
            Compositor::Sequence => ParticleKind::Sequence(particles),
            Compositor::Choice => ParticleKind::Choice(particles),
            Compositor::All => ParticleKind::All(particles),
        };
        Particle { min, max, kind }
    }

    /// Collects the elements in a group and in the groups within it, each name once, and the union of all wildcards.
    fn leaves<'s>(
        &'s self,
        nodes: &[Node],
        seen: &mut HashSet<&'s ExpandedName>,
        found: &mut Vec<Node>,
        any: &mut Option<NamespaceConstraint>,
    ) {
        for node in nodes {
            match &node.term {
                NodeTerm::Group(group) => self.leaves(&group.nodes, seen, found, any),
                NodeTerm::Any(wildcard) => {
                    *any = Some(match any.take() {
                        Some(others) => others.union(&wildcard.namespaces),
                        None => wildcard.namespaces.clone(),
                    });
                }
                NodeTerm::Element(id) => {
                    if seen.insert(&self.schema[*id].name) {
                        found.push(Node { min: 1, max: Some(1), term: node.term.clone() });
                    }
                }
            }
        }
    }

    fn group_location(&self, group: &Group) -> Location {
        let of_node = |node: &Node| match &node.term {
            NodeTerm::Element(id) => Some(self.schema[*id].location),
            NodeTerm::Group(group) => Some(self.group_location(group)),
            NodeTerm::Any(_) => None,
        };
        match group.origin {
            Origin::Definition(id) => self.schema[id].location,
            Origin::Head(id) => self.schema[id].location,
            Origin::Inline | Origin::Step(..) => group.nodes.iter().find_map(of_node).unwrap_or(self.location),
        }
    }

    // ---- fields that end after a number of elements ----

    /// Marks fields as counted if another element of the same name may follow. Only the number of elements then
    /// determines where such a field ends.
    ///
    /// If the number doesn't determine it either, the schema violates unique particle attribution (XSD Part 1 §3.8.6).
    /// This is reported.
    fn disambiguate(&mut self, fields: &mut [Field], compositor: Compositor, location: Location) {
        let follows = same_name_may_follow(fields, compositor);
        for index in 0..fields.len() {
            let Some(element) = fields[index].element() else { continue };
            let (min, max) = (fields[index].min_occurs, fields[index].max_occurs);
            // A field that occurs exactly once ends after its element. In `xs:all` the element may belong to either of
            // two fields.
            if compositor == Compositor::Sequence && (min, max) == (1, Some(1)) {
                continue;
            }
            if !follows[index] {
                continue;
            }
            if !(compositor == Compositor::Sequence && max == Some(min)) {
                let message = format!(
                    "<{name}> may be followed by another <{name}>, which is ambiguous (XSD Part 1 §3.8.6): the first \
                     gets as many as it allows",
                    name = element.name
                );
                self.report(Severity::Warning, location, message);
            }
            if let Term::Element { counted, .. } = &mut fields[index].term {
                *counted = true;
            }
        }
    }
}

/// Returns, for each field, whether another element of its name may follow. In a sequence, a required field between the
/// two prevents this.
fn same_name_may_follow(fields: &[Field], compositor: Compositor) -> Vec<bool> {
    let mut follows = vec![false; fields.len()];
    // The next index of each name, and the next required index.
    let mut next: HashMap<(&str, &str), usize> = HashMap::new();
    let mut required = usize::MAX;
    for (index, field) in fields.iter().enumerate().rev() {
        if let Some(element) = field.element() {
            let name = (element.namespace.as_str(), element.name.as_str());
            let is_near = |at: &usize| compositor != Compositor::Sequence || *at <= required;
            follows[index] = next.get(&name).is_some_and(is_near);
            next.insert(name, index);
        }
        if field.min_occurs > 0 {
            required = index;
        }
    }
    follows
}

/// Returns true if a group is an element or wildcard, or a choice of them, repeated any number of times. Then any order
/// is allowed.
fn is_in_any_order(group: &Group) -> bool {
    let [Node { min: 0, max: None, term }] = group.nodes.as_slice() else { return false };
    let is_leaf = |node: &Node| (node.min, node.max) == (1, Some(1)) && !matches!(node.term, NodeTerm::Group(_));
    match term {
        NodeTerm::Group(group) => group.compositor == Compositor::Choice && group.nodes.iter().all(is_leaf),
        NodeTerm::Element(_) | NodeTerm::Any(_) => true,
    }
}
