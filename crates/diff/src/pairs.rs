//! Finds which components of two contracts are the same one.

use std::collections::{HashMap, HashSet, VecDeque};

use castile_xsd::ExpandedName;

/// Pairs components by a key, and the remaining ones by another key. `None` stands for a missing partner.
pub(crate) fn pairs<'a, T>(
    (old, new): (impl IntoIterator<Item = &'a T>, impl IntoIterator<Item = &'a T>),
    key: impl Fn(&T) -> String,
    other_key: impl Fn(&T) -> Option<String>,
) -> Vec<(Option<&'a T>, Option<&'a T>)> {
    let (old, new): (Vec<&T>, Vec<&T>) = (old.into_iter().collect(), new.into_iter().collect());
    let numbered = |list: &[&'a T]| {
        let mut times: HashMap<String, usize> = HashMap::new();
        let mut keyed = Vec::with_capacity(list.len());
        for one in list {
            let times = times.entry(key(one)).or_insert(0);
            *times += 1;
            keyed.push((key(one), *times));
        }
        keyed
    };
    let (old_keys, new_keys) = (numbered(&old), numbered(&new));
    let by_key: HashMap<&(String, usize), usize> = new_keys.iter().zip(0..).collect();
    let mut partner: Vec<Option<usize>> = old_keys.iter().map(|key| by_key.get(key).copied()).collect();
    let mut taken: HashSet<usize> = partner.iter().flatten().copied().collect();
    let mut left: HashMap<String, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (index, one) in old.iter().enumerate().filter(|(index, _)| partner[*index].is_none()) {
        other_key(one).into_iter().for_each(|key| left.entry(key).or_default().0.push(index));
    }
    for (index, one) in new.iter().enumerate().filter(|(index, _)| !taken.contains(index)) {
        other_key(one).into_iter().for_each(|key| left.entry(key).or_default().1.push(index));
    }
    for (of_old, of_new) in left.into_values() {
        if let ([one], [other]) = (of_old.as_slice(), of_new.as_slice()) {
            partner[*one] = Some(*other);
            taken.insert(*other);
        }
    }
    let both = old.iter().zip(partner).map(|(one, partner)| (Some(*one), partner.map(|index| new[index])));
    let added = new.iter().enumerate().filter(|(index, _)| !taken.contains(index)).map(|(_, one)| (None, Some(*one)));
    both.chain(added).collect()
}

/// Pairs names, first by equal names and then by equal local names, each in order. Returns the partner of each name,
/// and the remaining others.
pub(crate) fn paired(names: &[ExpandedName], others: &[ExpandedName]) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut partners = vec![None; names.len()];
    let mut taken = vec![false; others.len()];
    for is_local in [false, true] {
        let key = |name: &ExpandedName| match is_local {
            true => (String::new(), name.local().to_owned()),
            false => (name.namespace().to_owned(), name.local().to_owned()),
        };
        let mut left: HashMap<_, VecDeque<usize>> = HashMap::new();
        for (index, name) in others.iter().enumerate().filter(|(index, _)| !taken[*index]) {
            left.entry(key(name)).or_default().push_back(index);
        }
        for (name, partner) in names.iter().zip(&mut partners).filter(|(_, partner)| partner.is_none()) {
            *partner = left.get_mut(&key(name)).and_then(VecDeque::pop_front);
            if let Some(partner) = *partner {
                taken[partner] = true;
            }
        }
    }
    (partners, (0..others.len()).filter(|index| !taken[*index]).collect())
}
