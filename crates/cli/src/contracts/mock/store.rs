//! The store of rules, which lasts between requests.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value as Json;

use super::placeholder::size;

/// The maximum number of entries, and the maximum approximate memory of entries and keys in bytes.
const MAX_ENTRIES: usize = 10_000;
const MAX_BYTES: usize = 64 << 20;
/// The maximum size of a list, in bytes.
const MAX_LIST_SIZE: usize = 16 << 20;

/// Entries by key, in order of creation. An entry that exceeds the limits is refused.
#[derive(Debug, Default)]
pub(super) struct Store {
    kinds: HashMap<String, Kind>,
    entries: usize,
    bytes: usize,
    next: u64,
}

/// The entries of one kind.
#[derive(Debug, Default)]
struct Kind {
    numbers: HashMap<String, u64>,
    entries: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    value: Json,
    bytes: usize,
}

/// An action on the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Create,
    Get,
    Update,
    Delete,
    List,
}

impl Action {
    pub(super) const ALL: [(&'static str, Action); 5] = [
        ("create", Action::Create),
        ("get", Action::Get),
        ("update", Action::Update),
        ("delete", Action::Delete),
        ("list", Action::List),
    ];
}

impl Store {
    /// Performs an action on the entry `key` of `kind`. Returns the entry, or all entries for `List`.
    ///
    /// # Errors
    /// The entry already exists, doesn't exist, or exceeds a limit.
    pub(super) fn perform(
        &mut self,
        action: Action,
        kind: &str,
        key: &str,
        value: Option<Json>,
    ) -> Result<Json, String> {
        let found = self.kinds.get(kind).and_then(|kind| kind.numbers.get(key)).copied();
        let absent = || format!("there is no {key:?} in {kind}");
        match action {
            Action::List => {
                let entries = || self.kinds.get(kind).into_iter().flat_map(|kind| kind.entries.values());
                // Checked first, so that entries aren't copied for a refused answer.
                if entries().map(|entry| entry.bytes).sum::<usize>() > MAX_LIST_SIZE {
                    return Err(format!("the entries of {kind} have more than {} MiB", MAX_LIST_SIZE >> 20));
                }
                Ok(Json::Array(entries().map(|entry| entry.value.clone()).collect()))
            }
            Action::Get => {
                let entry = found.and_then(|number| self.kinds.get(kind)?.entries.get(&number));
                entry.map(|entry| entry.value.clone()).ok_or_else(absent)
            }
            Action::Create => match found {
                Some(_) => Err(format!("{key:?} exists already in {kind}")),
                None => {
                    let number = self.next;
                    self.put(kind, key, number, value.unwrap_or(Json::Null))?;
                    self.next += 1;
                    self.perform(Action::Get, kind, key, None)
                }
            },
            Action::Update => {
                let number = found.ok_or_else(absent)?;
                self.put(kind, key, number, value.unwrap_or(Json::Null))?;
                self.perform(Action::Get, kind, key, None)
            }
            Action::Delete => {
                let entry = found.and_then(|number| {
                    let kind = self.kinds.get_mut(kind)?;
                    kind.numbers.remove(key);
                    kind.entries.remove(&number)
                });
                let entry = entry.ok_or_else(absent)?;
                self.entries -= 1;
                self.bytes -= entry.bytes;
                Ok(entry.value)
            }
        }
    }

    fn put(&mut self, kind: &str, key: &str, number: u64, value: Json) -> Result<(), String> {
        let bytes = key.len() + size(&value);
        let known = self.kinds.get(kind).and_then(|kind| kind.entries.get(&number)).map(|entry| entry.bytes);
        let entries = self.entries + usize::from(known.is_none());
        let all = self.bytes - known.unwrap_or(0) + bytes;
        if entries > MAX_ENTRIES {
            return Err(format!("the store of the mock is full: it has {MAX_ENTRIES} entries"));
        }
        if all > MAX_BYTES {
            return Err(format!("the store of the mock is full: the limit is {} MiB", MAX_BYTES >> 20));
        }
        (self.entries, self.bytes) = (entries, all);
        let kind = self.kinds.entry(kind.to_owned()).or_default();
        kind.numbers.insert(key.to_owned(), number);
        kind.entries.insert(number, Entry { value, bytes });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_until_they_are_deleted() {
        let mut store = Store::default();
        let mut act = |action, key: &str, value: Option<u32>| {
            store.perform(action, "orders", key, value.map(Json::from)).map(|json| json.to_string())
        };
        let absent = || Err("there is no \"a\" in orders".to_owned());
        assert_eq!(act(Action::Get, "a", None), absent());
        assert_eq!(act(Action::Update, "a", Some(1)), absent());
        assert_eq!(act(Action::Create, "b", Some(1)), Ok("1".to_owned()));
        assert_eq!(act(Action::Create, "a", Some(2)), Ok("2".to_owned()));
        assert_eq!(act(Action::Create, "a", Some(3)), Err("\"a\" exists already in orders".to_owned()));
        assert_eq!(act(Action::Update, "b", Some(4)), Ok("4".to_owned()));
        assert_eq!(act(Action::List, "", None), Ok("[4,2]".to_owned()));
        assert_eq!(act(Action::Delete, "a", None), Ok("2".to_owned()));
        assert_eq!(act(Action::Delete, "a", None), absent());
        assert_eq!(act(Action::List, "", None), Ok("[4]".to_owned()));
        assert_eq!((store.entries, store.bytes), (1, 33));
    }

    #[test]
    fn entries_beyond_the_limits_are_rejected() {
        let mut store = Store::default();
        let large = Json::from("x".repeat(MAX_BYTES / 2));
        store.perform(Action::Create, "k", "1", Some(large.clone())).unwrap();
        let refused = store.perform(Action::Create, "k", "2", Some(large)).unwrap_err();
        assert!(refused.starts_with("the store of the mock is full: the limit is 64 MiB"), "{refused}");
        let refused = store.perform(Action::List, "k", "", None).unwrap_err();
        // A short text takes more memory as a value.
        let many = Json::from(vec![0; MAX_BYTES / 64]);
        let refused_too = store.perform(Action::Create, "k", "3", Some(many)).unwrap_err();
        assert!(refused_too.starts_with("the store of the mock is full: the limit is 64 MiB"), "{refused_too}");
        assert!(refused.starts_with("the entries of k have more than 16 MiB"), "{refused}");
        store.perform(Action::Delete, "k", "1", None).unwrap();
        for number in 0..MAX_ENTRIES {
            store.perform(Action::Create, "k", &number.to_string(), None).unwrap();
        }
        let refused = store.perform(Action::Create, "l", "1", None).unwrap_err();
        assert!(refused.starts_with("the store of the mock is full: it has 10000 entries"), "{refused}");
    }
}
