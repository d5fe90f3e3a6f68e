//! Finds similar names, for hints about misspelled ones.

/// Returns the edit distance of two texts (inserted, removed and replaced characters), or `None` if it exceeds `most`.
#[must_use]
pub fn edits(one: &str, other: &str, most: usize) -> Option<usize> {
    let one: Vec<char> = one.chars().collect();
    if one.len().abs_diff(other.chars().count()) > most {
        return None;
    }
    // Distances between each prefix of `one` and the part of `other` read so far (Wagner and Fischer 1974).
    let mut edits: Vec<usize> = (0..=one.len()).collect();
    for (row, c) in other.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut edits[0], row + 1);
        for column in 0..one.len() {
            let changed = diagonal + usize::from(one[column] != c);
            diagonal = edits[column + 1];
            edits[column + 1] = changed.min(diagonal + 1).min(edits[column] + 1);
        }
    }
    edits.last().copied().filter(|edits| *edits <= most)
}

/// Returns up to `count` known names that are similar to `name`, most similar first. Similar names differ in case or by
/// a few edits, or contain `name`.
pub fn similar<'n>(name: &str, known: impl IntoIterator<Item = &'n str>, count: usize) -> Vec<&'n str> {
    let lower = name.to_lowercase();
    let most = (lower.chars().count() / 4).clamp(1, 3);
    // Among the names that contain it, those that begin with it are first, then the shortest.
    let rank = |known: &str| {
        let known = known.to_lowercase();
        let holds = lower.len() > 2 && known.contains(&lower);
        let length = known.len().abs_diff(lower.len());
        match edits(&lower, &known, most) {
            Some(edits) => Some((edits, false, length)),
            None => holds.then_some((most + 1, !known.starts_with(&lower), length)),
        }
    };
    let mut found: Vec<_> = known.into_iter().filter_map(|known| Some((rank(known)?, known))).collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(count).map(|(_, known)| known).collect()
}

/// Lists the known names for a message about the unknown `name`. If there are many, it lists the similar ones and the
/// first of the rest, and states how many more there are.
#[must_use]
pub fn candidates(name: &str, known: &[&str]) -> String {
    const LISTED: usize = 20;
    if known.len() <= LISTED {
        return known.join(", ");
    }
    let mut listed = similar(name, known.iter().copied(), LISTED);
    let others = known.iter().filter(|known| !listed.contains(known)).take(LISTED - listed.len()).copied();
    listed.extend(others.collect::<Vec<_>>());
    format!("{} and {} more", listed.join(", "), known.len() - listed.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted_as_far_as_they_matter() {
        for (one, other, expected) in
            [("", "", Some(0)), ("soap", "saop", Some(2)), ("Ordr", "Order", Some(1)), ("kitten", "sitting", Some(3))]
        {
            assert_eq!((edits(one, other, 3), edits(other, one, 3)), (expected, expected), "{one} {other}");
        }
        assert_eq!([edits("a", "abcd", 2), edits("abc", "xyz", 2)], [None; 2]);
    }

    #[test]
    fn the_nearest_comes_first() {
        let known = ["Order", "OrderLine", "Orders", "Invoice", "order", "ArrayOfOrder"];
        assert_eq!(similar("Ordr", known, 9), ["Order", "order"]);
        assert_eq!(similar("ORDER", known, 4), ["Order", "order", "Orders", "OrderLine"]);
        assert!(similar("nothing", known, 9).is_empty());
    }

    #[test]
    fn of_many_names_the_nearest_are_listed_first() {
        assert_eq!(candidates("Ordr", &["Invoice", "Order"]), "Invoice, Order");
        let many: Vec<String> = (0..25).map(|number| format!("name{number}x")).chain(["Order".to_owned()]).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let listed = candidates("Ordr", &many);
        assert!(listed.starts_with("Order, name0x, ") && listed.ends_with(", name18x and 6 more"), "{listed}");
    }
}
