//! A sorted index of ids.

use std::borrow::Cow;
use std::cmp::Ordering;

/// A map from ids, which is fast if ids are looked up in order.
pub(super) struct Ids<'a, T> {
    /// In the order of [`by_length`]. Equal ids are in document order.
    ids: Vec<(Cow<'a, str>, T)>,
    /// Whether there are equal ids.
    has_duplicates: bool,
    /// The index of the entry that will probably be looked up next.
    guess: usize,
}

/// The result of a lookup.
pub(super) enum Found<'i, T> {
    None,
    One(&'i mut T),
    /// At least these two.
    Several(&'i T, &'i T),
}

impl<'a, T> Ids<'a, T> {
    /// Creates a map. `place` returns a number that increases in document order.
    pub(super) fn new(mut ids: Vec<(Cow<'a, str>, T)>, place: impl Fn(&T) -> u32) -> Self {
        // If the ids are already in that order, this takes one pass. Unlike a stable sort, it allocates nothing.
        ids.sort_unstable_by(|(one, first), (other, second)| {
            by_length(one, other).then_with(|| place(first).cmp(&place(second)))
        });
        let has_duplicates = ids.windows(2).any(|pair| pair[0].0 == pair[1].0);
        Ids { ids, has_duplicates, guess: 0 }
    }

    /// Looks up an id. Most references are in the order of ids.
    #[inline]
    pub(super) fn find(&mut self, id: &str) -> Found<'_, T> {
        let is_guessed = !self.has_duplicates && self.ids.get(self.guess).is_some_and(|(found, _)| **found == *id);
        if !is_guessed && !self.seek(id) {
            return Found::None;
        }
        let place = self.guess;
        self.guess += 1;
        match self.has_duplicates && self.ids.get(place + 1).is_some_and(|(found, _)| **found == *id) {
            false => Found::One(&mut self.ids[place].1),
            true => Found::Several(&self.ids[place].1, &self.ids[place + 1].1),
        }
    }

    /// Sets the guess to the first entry with this id, if there is one.
    fn seek(&mut self, id: &str) -> bool {
        let place = self.ids.partition_point(|(found, _)| by_length(found, id) == Ordering::Less);
        let is_there = self.ids.get(place).is_some_and(|(found, _)| **found == *id);
        if is_there {
            self.guess = place;
        }
        is_there
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &(Cow<'a, str>, T)> {
        self.ids.iter()
    }
}

/// Orders ids by length first. So numbers at the end of ids are in their order.
fn by_length(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_any_order() {
        let names = ["id9", "id10", "a", "id11", "a", "id9"];
        let named = names.iter().zip(0..).map(|(name, number)| (Cow::from(*name), number));
        let mut ids = Ids::new(named.collect(), |number| *number);
        for (id, expected) in [
            ("id10", vec![1]),
            ("id11", vec![3]),
            ("id12", vec![]),
            ("id10", vec![1]),
            ("a", vec![2, 4]),
            ("a", vec![2, 4]),
            ("id9", vec![0, 5]),
            ("", vec![]),
            ("id9", vec![0, 5]),
            ("id10", vec![1]),
        ] {
            let found = match ids.find(id) {
                Found::None => vec![],
                Found::One(one) => vec![*one],
                Found::Several(one, other) => vec![*one, *other],
            };
            assert_eq!(found, expected, "{id}");
        }
    }
}
