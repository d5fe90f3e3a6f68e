//! Values as JSON, and JSON as values. `docs/json.md` has the mapping.
//!
//! Elements are members of an object by their local names, attributes have an `@` before theirs. What XML has beside that has names that
//! begin with `$`, which no element has.

mod read;
mod write;

use std::collections::{HashMap, HashSet};

pub use read::JsonError;
pub(crate) use read::{Held, escaped_from_json, parse, simple_from_json};
pub use write::with_files;

use castile_databinding::deeper;
use castile_databinding::schema::{Element, XSD_NAMESPACE};

use crate::types::{Group, GroupKind, Particle, Particles, Term};

/// The value of a type with simple content, and the pieces of mixed content.
pub(crate) const CONTENT: &str = "$";
/// The type that an element says it is of.
const TYPE: &str = "$type";
/// That an element with attributes is nil.
const NIL: &str = "$nil";
/// An element as XML.
const XML: &str = "$xml";
/// The file that has the bytes of a value.
const FILE: &str = "$file";
/// The number of a node of a graph, and a reference to one.
const ID: &str = "$id";
const REF: &str = "$ref";
/// The sizes and the items of an array of several dimensions.
const SIZES: &str = "$sizes";
const ITEMS: &str = "$items";

/// Numbers of more digits are texts: programs that read JSON hold no more of them.
const DIGITS: usize = 15;

/// What stands for a particle in an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A member of this name.
    Member(&'static str),
    /// The members of the group are those of the object around it.
    Flat,
}

/// A name with its namespace, where that tells it from others.
pub(crate) fn expanded(namespace: &str, local: &str) -> String {
    if namespace.is_empty() { local.to_owned() } else { format!("{{{namespace}}}{local}") }
}

/// The name of a type: `xs:int`, `{namespace}local`, or `{}local` in no namespace.
pub(crate) fn type_text(namespace: &str, local: &str) -> String {
    match namespace {
        XSD_NAMESPACE => format!("xs:{local}"),
        namespace => format!("{{{namespace}}}{local}"),
    }
}

/// What stands for each of the particles, none of which has a name that another one has.
pub(crate) fn keys(table: &[Element], list: &[Particle], mut keep: impl FnMut(String) -> &'static str) -> Vec<Key> {
    let mut count: HashMap<&str, usize> = HashMap::new();
    let mut expanded_count: HashMap<(&str, &str), usize> = HashMap::new();
    for element in table {
        *count.entry(element.name).or_default() += 1;
        *expanded_count.entry((element.namespace, element.name)).or_default() += 1;
    }
    let mut keys: Vec<Key> = Vec::with_capacity(list.len());
    let mut taken: HashSet<&'static str> = HashSet::new();
    // Each name goes on where it ended: a type may have one many times.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut unique = |taken: &mut HashSet<&'static str>, name: String| {
        let mut numbered = name.clone();
        if taken.contains(numbered.as_str()) {
            let number = numbers.entry(name.clone()).or_insert(1);
            while taken.contains(numbered.as_str()) {
                *number += 1;
                numbered = format!("{name}#{number}");
            }
        }
        let kept = keep(numbered);
        taken.insert(kept);
        kept
    };
    // Elements first: a group whose members have their names stands apart.
    let mut of_elements = HashMap::new();
    for (number, particle) in list.iter().enumerate() {
        if let Term::Element { index, .. } = particle.term {
            let element = &table[index];
            let is_one = count.get(element.name) == Some(&1);
            let is_one_thing = expanded_count.get(&(element.namespace, element.name)) == count.get(element.name);
            let name = if is_one || is_one_thing {
                element.name.to_owned()
            } else {
                expanded(element.namespace, element.name)
            };
            let name = unique(&mut taken, name);
            of_elements.insert(number, name);
        }
    }
    for (number, particle) in list.iter().enumerate() {
        let key = match &particle.term {
            Term::Element { .. } => Key::Member(of_elements[&number]),
            Term::Any(..) => Key::Member(unique(&mut taken, "$any".to_owned())),
            Term::Group(group) => {
                let members = group.members();
                if is_single(particle) && !members.iter().any(|member| taken.contains(member)) {
                    taken.extend(members);
                    Key::Flat
                } else {
                    let name = if matches!(group.kind, GroupKind::Choice(_)) { "$choice" } else { "$group" };
                    Key::Member(unique(&mut taken, name.to_owned()))
                }
            }
        };
        keys.push(key);
    }
    keys
}

/// Whether there is one of it at most.
fn is_single(particle: &Particle) -> bool {
    particle.max == Some(1)
}

impl Group {
    /// The names of all members that it has in an object.
    fn members(&self) -> Vec<&'static str> {
        members(self.particles())
    }
}

/// The names of all members that stand for particles.
fn members(particles: &Particles) -> Vec<&'static str> {
    let mut names = Vec::new();
    add_members(particles, &mut names);
    names
}

fn add_members(particles: &Particles, names: &mut Vec<&'static str>) {
    for (particle, key) in particles.list.iter().zip(&particles.keys) {
        match (key, &particle.term) {
            (Key::Member(name), _) => names.push(*name),
            (Key::Flat, Term::Group(group)) => deeper::<Particle, _>(|| add_members(group.particles(), names)),
            (Key::Flat, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(names: &[&'static str]) -> Vec<String> {
        let table: Vec<Element> = names.iter().map(|name| Element::new("urn:a", name, 0)).collect();
        let particle = |index| Particle {
            min: 1,
            max: Some(1),
            term: Term::Element { index, start: "", end: "", is_counted: false },
        };
        let list: Vec<Particle> = (0..names.len()).map(particle).collect();
        let keys = keys(&table, &list, |name| Box::leak(name.into_boxed_str()));
        let name = |key: Key| match key {
            Key::Member(name) => name.to_owned(),
            Key::Flat => String::new(),
        };
        keys.into_iter().map(name).collect()
    }

    #[test]
    fn elements_of_one_name_are_numbered() {
        assert_eq!(keys_of(&["a", "b", "a", "a"]), ["a", "b", "a#2", "a#3"]);
    }

    /// It took the cube of their number.
    #[test]
    fn many_elements_take_linear_time() {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let _ = sender.send(keys_of(&["a"; 50_000]).pop());
        });
        let last = receiver.recv_timeout(std::time::Duration::from_secs(60));
        assert_eq!(last, Ok(Some("a#50000".to_owned())));
    }
}
