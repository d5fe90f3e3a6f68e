//! Converts values to JSON and JSON to values. `docs/json.md` describes the mapping.
//!
//! Elements are members of an object by their local names, and attributes have an `@` before theirs. Everything else
//! has names that begin with `$`, which can't begin an element's name.

mod read;
mod write;

use std::collections::{HashMap, HashSet};

pub use read::JsonError;
pub(crate) use read::{Constraints, escaped_from_json, parse, simple_from_json};
pub use write::with_files;

use castile_databinding::deeper;
use castile_databinding::schema::{Element, XSD_NAMESPACE};

use crate::types::{Group, GroupKind, Key, Particle, Particles, Term};

/// The member for the value of a type with simple content, and for the pieces of mixed content.
pub(crate) const CONTENT: &str = "$";
/// The member for the type that an element declares.
const TYPE: &str = "$type";
/// The member which states that an element with attributes is nil.
const NIL: &str = "$nil";
/// The member for an element as XML.
const XML: &str = "$xml";
/// The member for the file with the bytes of a value.
const FILE: &str = "$file";
/// The members for the number of a graph node, and for a reference to one.
const ID: &str = "$id";
const REF: &str = "$ref";
/// The members for the sizes and the items of an array with several dimensions.
const SIZES: &str = "$sizes";
const ITEMS: &str = "$items";

/// Maximum number of digits in a JSON number. Longer numbers are written as strings, because most JSON readers lose
/// further digits.
const DIGITS: usize = 15;

/// Returns a name with its namespace, if it has one.
pub(crate) fn expanded(namespace: &str, local: &str) -> String {
    if namespace.is_empty() { local.to_owned() } else { format!("{{{namespace}}}{local}") }
}

/// Returns the name of a type: `xs:int`, `{namespace}local`, or `{}local` for no namespace.
pub(crate) fn type_text(namespace: &str, local: &str) -> String {
    match namespace {
        XSD_NAMESPACE => format!("xs:{local}"),
        namespace => format!("{{{namespace}}}{local}"),
    }
}

/// Returns the keys of the particles. Their names are unique.
pub(crate) fn keys(table: &[Element], list: &[Particle], mut keep: impl FnMut(String) -> &'static str) -> Vec<Key> {
    let mut count: HashMap<&str, usize> = HashMap::new();
    let mut expanded_count: HashMap<(&str, &str), usize> = HashMap::new();
    for element in table {
        *count.entry(element.name).or_default() += 1;
        *expanded_count.entry((element.namespace, element.name)).or_default() += 1;
    }
    let mut keys: Vec<Key> = Vec::with_capacity(list.len());
    let mut taken: HashSet<&'static str> = HashSet::new();
    // The last number used for each name, since a type may use a name many times.
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
    // Elements are named first. If a member of a group has the same name as an element, the group becomes a member of
    // its own.
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

/// Returns true if the particle occurs at most once.
fn is_single(particle: &Particle) -> bool {
    particle.max == Some(1)
}

impl Group {
    /// Returns the names of all its members in an object.
    fn members(&self) -> Vec<&'static str> {
        members(self.particles())
    }
}

/// Returns the names of all members that represent particles.
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

    /// It took time proportional to the cube of their number.
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
