use std::ops::{Deref, DerefMut};

use castile_budget::BLOCK;

use crate::{Entity, Idref, Invalid, Nmtoken, Prefixes, Scope, SimpleType, Unscoped, parse, words};

/// A list type (XSD Part 2 §2.5.1.2): values separated by white space, at least `MIN` of them.
///
/// ```
/// use castile_datatypes::List;
///
/// let primes: List<i32> = "2 3\n 5".parse()?;
/// assert_eq!(*primes, [2, 3, 5]);
/// assert_eq!(primes.to_string(), "2 3 5");
/// # Ok::<(), castile_datatypes::Invalid>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Hash)]
pub struct List<T, const MIN: usize = 0>(pub Vec<T>);

/// `xs:NMTOKENS` (XSD Part 2 §3.3.5).
pub type Nmtokens = List<Nmtoken, 1>;
/// `xs:IDREFS` (XSD Part 2 §3.3.10).
pub type Idrefs = List<Idref, 1>;
/// `xs:ENTITIES` (XSD Part 2 §3.3.12).
pub type Entities = List<Entity, 1>;

impl<T: SimpleType, const MIN: usize> SimpleType for List<T, MIN> {
    const NAME: &'static str = "list";
    const HAS_NAMES: bool = T::HAS_NAMES;
    // The memory of a list depends on its text, so the text is read first.
    const IS_OF_CONTRACT: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        Self::parse_in(text, &Unscoped)
    }

    fn parse_in(text: &str, scope: &dyn Scope) -> Result<Self, Option<String>> {
        let item = |text| {
            T::parse_in(text, scope).map_err(|problem| Some(Invalid::text(text, T::NAME, problem).message().to_owned()))
        };
        let items: Vec<T> = words(text).map(item).collect::<Result<_, _>>()?;
        if items.len() < MIN {
            return Err(Some(format!("it has {} of {}, where at least {MIN} were expected", items.len(), T::NAME)));
        }
        Ok(List(items))
    }

    /// A vector may have twice the capacity that it needs.
    fn heap_size(text: &str) -> usize {
        let block = if std::mem::needs_drop::<T>() { BLOCK } else { 0 };
        words(text).count().saturating_mul(2 * size_of::<T>() + block)
    }

    fn parse_beyond_facets(text: &str) -> Option<Self> {
        let item = |text| T::parse(text).ok().or_else(|| T::parse_beyond_facets(text));
        let items: Vec<T> = words(text).map(item).collect::<Option<_>>()?;
        (items.len() >= MIN).then_some(List(items))
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.write_items(out, |item, out| item.write(out))
    }

    fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
        self.write_items(out, |item, out| item.write_in(out, prefixes))
    }
}

impl<T, const MIN: usize> List<T, MIN> {
    /// Writes the items, separated by spaces. Returns `false` if an item has an empty text or white space in it, since the
    /// list would be read back with other items.
    fn write_items(&self, out: &mut Vec<u8>, mut write: impl FnMut(&T, &mut Vec<u8>) -> bool) -> bool {
        let mut fine = self.0.len() >= MIN;
        for (index, item) in self.0.iter().enumerate() {
            if index > 0 {
                out.push(b' ');
            }
            let start = out.len();
            fine &= write(item, out);
            let text = &out[start..];
            // A carriage return is written as a reference.
            fine &= !text.is_empty() && !text.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'\n'));
            fine &= !text.windows(5).any(|part| part == b"&#xD;");
        }
        fine
    }
}

impl<T: SimpleType, const MIN: usize> std::fmt::Display for List<T, MIN>
where
    T: std::fmt::Display,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

impl<T: SimpleType, const MIN: usize> std::str::FromStr for List<T, MIN> {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        parse(text)
    }
}

/// The empty list, even if `MIN` is greater than 0.
impl<T, const MIN: usize> Default for List<T, MIN> {
    fn default() -> Self {
        List(Vec::new())
    }
}

impl<T, const MIN: usize> Deref for List<T, MIN> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T, const MIN: usize> DerefMut for List<T, MIN> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T, const MIN: usize> From<Vec<T>> for List<T, MIN> {
    fn from(items: Vec<T>) -> Self {
        List(items)
    }
}

impl<T, const MIN: usize> FromIterator<T> for List<T, MIN> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        List(items.into_iter().collect())
    }
}

impl<T, const MIN: usize> IntoIterator for List<T, MIN> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
