//! The order in which a lenient decoder reads the children of an element.

use castile_xml::{StartTag, Token};

use super::super::tags::is_result;
use super::super::{Decoder, Error, Expected};
use super::state::{Child, Extent, ParticlePosition, Plan};
use crate::schema::{Content, Element, First};

impl Decoder<'_> {
    /// Makes the plan for an element. The reader is after its start tag.
    pub(super) fn make(&mut self, plan: &mut Plan, children: &[Extent], end_tag: usize) -> Result<(), Error> {
        plan.is_made = true;
        plan.end_tag = end_tag;
        self.check_text_between(children, end_tag)?;
        if children.is_empty() {
            return Ok(());
        }
        plan.children = match plan.content {
            Content::Open => Vec::new(),
            Content::Sequence(table) => self.sequence(plan.element, table, children)?,
            Content::Among(first) => self.among(first, children)?,
        };
        Ok(())
    }

    /// Reports text between the children.
    fn check_text_between(&mut self, children: &[Extent], end_tag: usize) -> Result<(), Error> {
        let starts = children.iter().map(|child| (child.start as usize, child.end as usize));
        let mut from = self.reader.offset();
        for (start, end) in starts.chain([(end_tag, end_tag)]) {
            if self.reader.end_of_white_space(from) < start {
                self.reader.seek(from);
                while self.reader.offset() < start {
                    let offset = self.reader.offset();
                    if let Token::Text(text) = self.reader.next()?
                        && let Some(error) = self.stray(&text, offset)
                    {
                        self.tolerate(error)?;
                    }
                }
            }
            from = end;
        }
        Ok(())
    }

    /// Makes the plan of a sequence: children that are not in it are omitted, and the others are sorted.
    fn sequence(
        &mut self,
        parent: &'static Element,
        table: &'static [Element],
        children: &[Extent],
    ) -> Result<Vec<Child>, Error> {
        let mut places: Vec<(ParticlePosition, bool)> = Vec::with_capacity(children.len());
        let mut total = vec![0_usize; table.len()];
        for child in children {
            let place = self.with_tag(child, |decoder, tag| {
                let (namespace, local) = (decoder.reader.namespace(tag.namespace), tag.name.local());
                (position_of(table, namespace, local), is_result(namespace, local))
            })?;
            if let Some((index, _)) = place.0 {
                total[index] += 1;
            }
            places.push(place);
        }
        let mut seen = vec![0_usize; table.len()];
        // Required elements that were missing when a later one was found.
        let mut is_late = vec![false; table.len()];
        // The particle of the last child that was in order.
        let mut at = 0;
        let mut order: Vec<(usize, Child)> = Vec::with_capacity(children.len());
        for (child, (place, is_result)) in children.iter().zip(places) {
            let due = (at, seen.get(at).copied().unwrap_or(0));
            // A strict decoder skips it too, so it is not a deviation.
            let mut is_right = is_result && element_due(table, due).is_some_and(|element| element.namespace.is_empty());
            if let Some((index, is_exact)) = place {
                is_right = is_exact && (index >= at || is_late[index]);
                // A required element without any occurrence is missing, not late. That is reported when it is read.
                for skipped in at..index {
                    if table[skipped].min_occurs > 0 && seen[skipped] == 0 && total[skipped] > 0 {
                        is_late[skipped] = true;
                        is_right = false;
                    }
                }
                at = at.max(index);
                seen[index] += 1;
                let declared = if is_exact { None } else { table.get(index) };
                order.push((index, Child { start: child.start as usize, declared }));
            }
            if !is_right {
                self.report_misplaced(child, |namespace, local| {
                    let expected = due_words(parent, table, due);
                    match near(table, due, namespace, local) {
                        Some(element) => expected.also(element),
                        None => expected,
                    }
                })?;
            }
        }
        order.sort_by_key(|(index, _)| *index);
        Ok(order.into_iter().map(|(_, child)| child).collect())
    }

    /// Returns the children that are allowed at all, in document order.
    fn among(&mut self, first: &'static [First], children: &[Extent]) -> Result<Vec<Child>, Error> {
        let mut order = Vec::with_capacity(children.len());
        for child in children {
            let start = child.start as usize;
            let found = self.with_tag(child, |decoder, tag| {
                let (namespace, local) = (decoder.reader.namespace(tag.namespace), tag.name.local());
                let is_taken = First::takes(first, namespace, local);
                (is_taken, if is_taken { None } else { similar(first, namespace, local) })
            })?;
            if let (true, declared) | (_, declared @ Some(_)) = found {
                order.push(Child { start, declared });
            }
            if !found.0 {
                self.report_misplaced(child, |_, _| Expected::first(first))?;
            }
        }
        Ok(order)
    }

    /// Reads the start tag of a child, calls `look` with it and skips the child.
    fn with_tag<T>(&mut self, child: &Extent, look: impl FnOnce(&Self, StartTag<'_>) -> T) -> Result<T, Error> {
        self.reader.seek(child.start as usize);
        let Token::StartTag(tag) = self.reader.next()? else { return Err(self.ended()) };
        let seen = look(self, tag);
        self.reader.close_at(child.end as usize);
        Ok(seen)
    }

    /// Reports a child that is not the expected one.
    #[cold]
    fn report_misplaced(&mut self, child: &Extent, due: impl FnOnce(&str, &str) -> Expected) -> Result<(), Error> {
        if let Some(lenient) = &mut self.lenient
            && lenient.deviations.is_full()
        {
            lenient.deviations.count_one();
            return Ok(());
        }
        let error = self.with_tag(child, |decoder, tag| {
            let due = due(decoder.reader.namespace(tag.namespace), tag.name.local());
            decoder.unexpected(tag, &due)
        })?;
        self.tolerate(error)
    }
}

/// Returns the position of an element in a sequence. If no element matches exactly, one with the same local name matches if
/// only one of the two has a namespace (`elementFormDefault`).
fn position_of(table: &[Element], namespace: &str, local: &str) -> ParticlePosition {
    let exact = table.iter().position(|element| element.is(namespace, local)).map(|index| (index, true));
    exact.or_else(|| table.iter().position(|element| is_similar(element, namespace, local)).map(|index| (index, false)))
}

fn is_similar(element: &Element, namespace: &str, local: &str) -> bool {
    element.name == local && element.namespace.is_empty() != namespace.is_empty()
}

/// Returns the element of a group that has the same local name, if only one of the two has a namespace.
fn similar(first: &'static [First], namespace: &str, local: &str) -> Option<&'static Element> {
    first.iter().find_map(|first| match first {
        First::Elements(table) => table.iter().find(|element| is_similar(element, namespace, local)),
        First::Wildcard(_) => None,
        First::Group(first) => similar(first, namespace, local),
    })
}

/// Describes the next required element of a sequence.
#[cold]
fn due_words(parent: &Element, table: &[Element], due: (usize, usize)) -> Expected {
    match element_due(table, due) {
        Some(element) => Expected::elements([element]),
        None => Expected::end_of(parent),
    }
}

/// Returns an element that could occur here and has this local name but another namespace. `at` and `count` are those of
/// [`element_due`].
#[cold]
fn near<'t>(table: &'t [Element], (at, count): (usize, usize), namespace: &str, local: &str) -> Option<&'t Element> {
    let last = element_due(table, (at, count));
    for (index, element) in table.iter().enumerate().skip(at) {
        let is_full = index == at && element.max_occurs.is_some_and(|max| count as u64 >= u64::from(max));
        if element.name == local && element.namespace != namespace && !is_full {
            return Some(element);
        }
        if last.is_some_and(|last| std::ptr::eq(last, element)) {
            break;
        }
    }
    None
}

/// Returns the next required element of a sequence, after `count` occurrences of the particle `at`.
fn element_due(table: &[Element], (at, count): (usize, usize)) -> Option<&Element> {
    let is_due = |(index, element): &(usize, &Element)| {
        let count = if *index == at { count } else { 0 };
        (count as u64) < u64::from(element.min_occurs)
    };
    table.iter().enumerate().skip(at).find(is_due).map(|(_, element)| element)
}
