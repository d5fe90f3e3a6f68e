//! Arrays (SOAP 1.1 §5.4.2, SOAP 1.2 Part 2 §3.1.4.3 and §3.1.6).

use std::sync::Arc;

use castile_datatypes::quoted;

use crate::encoded::{Array, ArrayType, ItemType, SOAP11, SOAP12};
use crate::error::{Error, ErrorKind};
use crate::from_xml::types::{Rules, is_simple};
use crate::from_xml::{Decoder, FromXml, Next};
use crate::name::ExpandedName;
use crate::schema::{Element, TypeName};

const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// The markup of an item without a value, except its name.
const NIL: &str = "< xsi:nil=\"true\"/>";

/// The attributes of an array.
#[derive(Default)]
struct Shape {
    /// The size of each dimension, `None` if it is not given; empty if no sizes are given.
    sizes: Vec<Option<usize>>,
    /// The position of the first item that was sent.
    first: usize,
    /// The offset of the sizes.
    offset: usize,
    /// The type of items without an `xsi:type`, if it differs from the contract's.
    items: Option<ItemType>,
}

/// Returns the type of an item.
fn type_of<T: FromXml>(item: &Element) -> Option<TypeName> {
    item.run_time_type().map_or(T::TYPE, |of| of.type_name())
}

impl Decoder<'_> {
    /// Reads content and end tag of an array of one dimension. Items that are nil or missing are `None`.
    ///
    /// # Errors
    /// The content doesn't match the schema or is not well-formed; there are more items than the size allows; or missing
    /// items would take more memory than the limits allow.
    pub fn items<T: FromXml>(
        &mut self,
        element: &'static Element,
        array: &'static ArrayType,
    ) -> Result<Vec<Option<T>>, Error> {
        let shape = self.shape(element, array, 1, type_of::<T>(&array.item))?;
        self.items_of(element, array, &shape)
    }

    /// Reads content and end tag of an array of several dimensions, whose sizes must be given. An array of arrays of equal
    /// size is accepted, too: senders that know neither the contract nor multi-dimensional arrays write one.
    ///
    /// # Errors
    /// The content doesn't match the schema or is not well-formed; there are more items than the sizes allow; or missing
    /// items would take more memory than the limits allow.
    pub fn array<T: FromXml>(
        &mut self,
        element: &'static Element,
        array: &'static ArrayType,
    ) -> Result<Array<T>, Error> {
        self.array_of(element, array, array.rank)
    }

    /// Reads an array of `rank` dimensions, or of arrays with one dimension less. The recursion is bounded by the rank in the
    /// contract.
    fn array_of<T: FromXml>(
        &mut self,
        element: &'static Element,
        array: &'static ArrayType,
        rank: usize,
    ) -> Result<Array<T>, Error> {
        let shape = self.shape(element, array, rank, type_of::<T>(&array.item))?;
        if rank > 1 && shape.sizes.len() == 1 {
            return self.rows(element, array, &shape, rank);
        }
        let items = self.items_of(element, array, &shape)?;
        let dimensions = match shape.sizes.split_first() {
            // The first dimension is as large as the number of items requires.
            Some((None, inner)) => {
                let row: usize = inner.iter().flatten().product();
                let rows = items.len().checked_div(row).unwrap_or_default();
                std::iter::once(rows).chain(inner.iter().copied().flatten()).collect()
            }
            Some(_) => shape.sizes.iter().copied().flatten().collect(),
            None if rank == 1 => vec![items.len()],
            None if items.is_empty() => vec![0; rank],
            None => {
                let message = format!("the array <{}> doesn't give its size in each dimension", element.name);
                return Err(Error::new(ErrorKind::Structure, shape.offset, message));
            }
        };
        Ok(Array::from_parts(dimensions, items))
    }

    /// Reads the arrays of an array.
    fn rows<T: FromXml>(
        &mut self,
        element: &'static Element,
        array: &'static ArrayType,
        shape: &Shape,
        rank: usize,
    ) -> Result<Array<T>, Error> {
        let outer = self.enter(element);
        let most = shape.max_items();
        let mut dimensions = vec![0; rank];
        let mut items = Vec::new();
        while let Next::Start(tag) = self.peek()? {
            let count = dimensions[0];
            if most.is_some_and(|most| count >= most) {
                return Err(self.too_many(element, most.unwrap_or_default(), tag.offset));
            }
            if self.reader.is_before_text() {
                let message = format!(
                    "<{}> is an array of one dimension, where one of {} was expected",
                    element.name,
                    dimensions_of(rank)
                );
                return Err(Error::new(ErrorKind::Structure, tag.offset, message));
            }
            let row = self.encoded_by(&array.item, |decoder| decoder.array_of::<T>(&array.item, array, rank - 1))?;
            let found = row.as_ref().map_or(&[][..], Array::dimensions);
            if count > 0 && found != &dimensions[1..] || found.is_empty() {
                let message = format!(
                    "arrays of different sizes in <{}>, which is an array of {} dimensions",
                    element.name, array.rank
                );
                return Err(Error::new(ErrorKind::Structure, tag.offset, message));
            }
            dimensions[1..].copy_from_slice(found);
            dimensions[0] += 1;
            let row = row.map_or_else(Vec::new, Array::into_items);
            self.reserve(&mut items, row.len())?;
            items.extend(row);
        }
        // Missing rows have no items.
        dimensions[0] = most.unwrap_or(dimensions[0]);
        let size = dimensions.iter().try_fold(1_usize, |size, dimension| size.checked_mul(*dimension));
        self.fill(&mut items, size.unwrap_or(usize::MAX), array, shape.offset, &mut 0)?;
        self.leave(element, outer)?;
        Ok(Array::from_parts(dimensions, items))
    }

    fn items_of<T: FromXml>(
        &mut self,
        element: &'static Element,
        array: &'static ArrayType,
        shape: &Shape,
    ) -> Result<Vec<Option<T>>, Error> {
        let outer = self.enter(element);
        let outside = self.given.take();
        let mut items: Vec<Option<T>> = Vec::new();
        let most = shape.max_items();
        // Items of another type than the contract's are checked one by one.
        let most_known = if shape.items.is_none() { most.unwrap_or(usize::MAX) } else { 0 };
        let mut charged = 0;
        self.fill(&mut items, shape.first, array, shape.offset, &mut charged)?;
        let mut next = shape.first;
        let start = self.reader.offset();
        let mut again = None;
        loop {
            if items.len() == 1 {
                items.reserve(self.capacity_for(start, 1, size_of::<Option<T>>()));
            }
            if items.capacity() != charged {
                self.charge_capacity(&mut charged, items.capacity(), size_of::<Option<T>>())?;
            }
            let is_due = self.next.is_none();
            let may_be_known = is_due && next < most_known;
            if may_be_known {
                if let Some(again) = &again
                    && !matches!(items.get(next), Some(Some(_)))
                    && let Some(reference) = self.refers_again(again)
                {
                    let value = self.referred(&reference, &array.item)?;
                    put(&mut items, next, value);
                    next += 1;
                    continue;
                }
                if let Some(value) = T::cached(self, &array.item) {
                    put(&mut items, next, Some(value?));
                    next += 1;
                    continue;
                }
            }
            let begin = is_due.then(|| self.reader.offset());
            if may_be_known {
                if self.is_at_cached_end() {
                    break;
                }
                self.is_at_cached_start(&array.item);
            }
            let Next::Start(tag) = self.peek()? else { break };
            if let Some(place) = self.position(shape, array)? {
                self.fill(&mut items, place, array, tag.offset, &mut charged)?;
                next = place;
            }
            if most.is_some_and(|most| next >= most) {
                return Err(self.too_many(element, most.unwrap_or_default(), tag.offset));
            }
            if matches!(items.get(next), Some(Some(_))) {
                let message = format!("a second item for the same position of the array <{}>", element.name);
                return Err(Error::new(ErrorKind::Structure, tag.offset, message));
            }
            self.item_type.clone_from(&shape.items);
            let value = self.encoded(&array.item)?;
            self.check_given(array, tag.offset)?;
            put(&mut items, next, value);
            next += 1;
            again = begin.and_then(|begin| self.referred_from(begin));
        }
        let size = match (most, shape.sizes.split_first()) {
            (Some(most), _) => most,
            // The last row is filled up.
            (None, Some((None, inner))) => {
                let row: usize = inner.iter().flatten().product();
                items.len().next_multiple_of(row.max(1))
            }
            (None, _) => items.len(),
        };
        self.fill(&mut items, size, array, shape.offset, &mut charged)?;
        self.charge_capacity(&mut charged, items.capacity(), size_of::<Option<T>>())?;
        self.leave(element, outer)?;
        self.given = outside;
        Ok(items)
    }

    /// Adds missing items up to the position `place`, and charges them. Their size when written counts as well, since an
    /// answer that returns the array has an element for each.
    fn fill<T>(
        &mut self,
        items: &mut Vec<Option<T>>,
        place: usize,
        array: &ArrayType,
        offset: usize,
        charged: &mut usize,
    ) -> Result<(), Error> {
        let missing = place.saturating_sub(items.len());
        if missing > 0 {
            self.count_expansion(missing.saturating_mul(NIL.len() + array.item.name.len()), offset)?;
            self.charge_expansion(missing.saturating_mul(size_of::<Option<T>>()), offset)?;
            *charged += missing;
            items.resize_with(place, || None);
        }
        Ok(())
    }

    #[cold]
    fn too_many(&self, element: &Element, size: usize, offset: usize) -> Error {
        let message = format!("more than {size} items in the array <{}>, which is its declared size", element.name);
        Error::new(ErrorKind::Structure, offset, message)
    }

    // ---- attributes ----

    /// Reads the attributes of an array of `rank` dimensions from the start tag that was read last.
    fn shape(
        &mut self,
        element: &'static Element,
        array: &'static ArrayType,
        rank: usize,
        of: Option<TypeName>,
    ) -> Result<Shape, Error> {
        let mut shape = Shape { offset: self.reader.offset().saturating_sub(1), ..Shape::default() };
        if self.reader.is_plain() {
            return Ok(shape);
        }
        // The name of the array's type isn't known here, but it must be a valid name.
        if let Err(error) = self.named_type() {
            self.tolerate_type(error)?;
        }
        let (mut first, mut wrong) = (None, None);
        for (number, namespace, name) in self.reader.attribute_names() {
            let Some((text, offset)) = self.reader.attribute_value(number) else { continue };
            let fail = |message: String| Error::new(ErrorKind::Lexical, offset, message);
            match (namespace, name) {
                (SOAP11, "arrayType") => {
                    let invalid = || fail(format!("{} is not a valid soapenc:arrayType", quoted(text)));
                    let text = text.trim();
                    let (item, ranks) = text.split_at(text.find('[').ok_or_else(invalid)?);
                    let (ranks, sizes) = ranks.split_at(ranks.rfind('[').ok_or_else(invalid)?);
                    let inner = sizes.strip_prefix('[').and_then(|sizes| sizes.strip_suffix(']'));
                    shape.sizes = sizes11(inner.ok_or_else(invalid)?).ok_or_else(invalid)?;
                    shape.offset = offset;
                    let ranks = match shape.sizes.len() {
                        // The suffix of the inner arrays, if an array of arrays stands for one of more dimensions.
                        1 => ranks.strip_suffix("[]".repeat(rank - 1).as_str()).unwrap_or(ranks),
                        _ => ranks,
                    };
                    (shape.items, wrong) = self.check_item(item, ranks, array, element, of, offset)?;
                }
                (SOAP11, "offset") => first = Some((text, offset)),
                (SOAP12, "itemType") => {
                    (shape.items, wrong) = self.check_item(text.trim(), array.ranks, array, element, of, offset)?;
                }
                (SOAP12, "arraySize") => {
                    let invalid = || {
                        fail(format!(
                            "{} is not a valid enc:arraySize: numbers were expected; only the first may be *",
                            quoted(text)
                        ))
                    };
                    shape.sizes = sizes12(text).ok_or_else(invalid)?;
                    shape.offset = offset;
                }
                _ => {}
            }
        }
        self.check_sizes(&mut shape, rank, element)?;
        if let Some((text, offset)) = first {
            shape.first = self.parse_position(text, &shape, array, offset)?;
        }
        if let Some(wrong) = wrong {
            self.tolerate_type(wrong)?;
        }
        Ok(shape)
    }

    /// Checks the number of dimensions, and that the product of their sizes doesn't overflow.
    fn check_sizes(&self, shape: &mut Shape, rank: usize, element: &Element) -> Result<(), Error> {
        let fail = |kind, message: String| Error::new(kind, shape.offset, message);
        // A single size, as in `*` and `[]`, is accepted for any number of dimensions.
        if shape.sizes.is_empty() {
            return Ok(());
        }
        if shape.sizes.len() != 1 && shape.sizes.len() != rank {
            let [found, expected] = [shape.sizes.len(), rank].map(dimensions_of);
            let message =
                self.is_instead(element, format_args!("an array of {found}"), format_args!("one of {expected}"));
            return Err(fail(ErrorKind::Structure, message));
        }
        if shape.sizes.iter().skip(1).any(Option::is_none) {
            // Without inner sizes, rows have no known end. That is fine for an array without items.
            shape.sizes = Vec::new();
            return Ok(());
        }
        let sizes = shape.sizes.iter().copied().flatten();
        if sizes.into_iter().try_fold(1_usize, usize::checked_mul).is_none() {
            return Err(fail(
                ErrorKind::Structure,
                format!("<{}> is larger than the largest possible array", element.name),
            ));
        }
        Ok(())
    }

    /// Checks the type of an array's items, which are read as values of the type `of`. It must be the contract's type, a type
    /// that any item may have, or a simple type from whose text the value can be read. Returns the item type if it differs
    /// from the contract's, and an error that may be tolerated.
    fn check_item(
        &self,
        item: &str,
        ranks: &str,
        array: &ArrayType,
        element: &Element,
        of: Option<TypeName>,
        offset: usize,
    ) -> Result<(Option<ItemType>, Option<Error>), Error> {
        let (prefix, local) = item.split_once(':').unwrap_or(("", item));
        let Some(namespace) = self.reader.resolve(prefix) else {
            let message = format!("{} is not a valid xs:QName: its prefix is not declared", quoted(item));
            return Err(Error::new(ErrorKind::Lexical, offset, message));
        };
        let TypeName { namespace: expected_namespace, name: expected } = array.item_type;
        let is_builtin = |namespace: &str| namespace.ends_with("XMLSchema") || matches!(namespace, SOAP11 | SOAP12);
        let is_any = |local: &str| matches!(local, "anyType" | "ur-type" | "anySimpleType" | "Struct");
        let is_array = |local: &str| local == "Array" && matches!(namespace, SOAP11 | SOAP12);
        let is_fine = (namespace == expected_namespace && local == expected)
            || (expected_namespace == XSD && expected == "anyType")
            || (is_builtin(namespace) && (is_any(local) || is_array(local)))
            || (is_builtin(namespace) && expected_namespace == XSD);
        let same_ranks = ranks == array.ranks;
        let is_same = namespace == expected_namespace && local == expected;
        // Items that are arrays declare the types of their own items.
        if same_ranks && ranks.is_empty() && !is_same && !(is_builtin(namespace) && (is_any(local) || is_array(local)))
        {
            if let Some(rules) = is_simple(&array.item, of.as_ref(), Rules::Encoded) {
                let judged = self.check_named_type(&array.item, of.as_ref(), rules, namespace, local);
                let error =
                    judged.error.map(|error| Error::new(ErrorKind::Structure, offset, error.message().to_owned()));
                return Ok((judged.reading.map(ItemType::Simple), error));
            }
            // It may be one of several types, which the items check.
            if of.is_none() && !is_fine {
                return Ok((Some(ItemType::Derived(Arc::new(ExpandedName::new(namespace, local)))), None));
            }
        }
        if is_fine && same_ranks || is_any(local) && ranks.is_empty() && is_builtin(namespace) {
            return Ok((None, None));
        }
        let found = ExpandedName::new(namespace, local);
        let expected = format!("one of {}{}", ExpandedName::new(expected_namespace, expected), array.ranks);
        let message = self.is_instead(element, format_args!("an array of {found}{ranks}"), expected);
        let error = Error::new(ErrorKind::Structure, offset, message);
        // If one has arrays as items and the other has not, the items can't be read, so this is never tolerated.
        if same_ranks { Ok((None, Some(error))) } else { Err(error) }
    }

    /// Checks that an item has used the type that its array gives it. Otherwise the item's type has no derived types.
    fn check_given(&mut self, array: &ArrayType, offset: usize) -> Result<(), Error> {
        let Some((_, name)) = self.given.take() else { return Ok(()) };
        let TypeName { namespace, name: expected } = array.item_type;
        let message = format!(
            "the array of <{}> gives it the type {name}, where {} was expected",
            array.item.name,
            ExpandedName::new(namespace, expected)
        );
        self.tolerate_type(Error::new(ErrorKind::Structure, offset, message))
    }

    /// Returns the position that an item declares. Its start tag was read and not yet used.
    fn position(&self, shape: &Shape, array: &ArrayType) -> Result<Option<usize>, Error> {
        if self.reader.is_plain() {
            return Ok(None);
        }
        match self.reader.qualified_attribute(SOAP11, "position") {
            None => Ok(None),
            Some(position) => self.parse_position(position.value, shape, array, position.offset).map(Some),
        }
    }

    /// Parses a position in an array: `[3]` or `[1,2]`.
    fn parse_position(&self, text: &str, shape: &Shape, array: &ArrayType, offset: usize) -> Result<usize, Error> {
        let numbers = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        // One number too many is enough to detect an error.
        let numbers: Option<Vec<usize>> =
            numbers.and_then(|text| text.split(',').take(array.rank + 1).map(number).collect());
        let fail = |message: &str| {
            let message = format!("{} is not a position in this array: {message}", quoted(text));
            Error::new(ErrorKind::Lexical, offset, message)
        };
        let numbers = numbers.ok_or_else(|| fail("numbers in brackets were expected"))?;
        if numbers.len() != array.rank || (array.rank > 1 && shape.sizes.len() != array.rank) {
            return Err(fail("it has a different number of dimensions"));
        }
        let mut place = 0_usize;
        for (index, number) in numbers.iter().enumerate() {
            let size = shape.sizes.get(index).copied().flatten();
            if size.is_some_and(|size| *number >= size) {
                return Err(fail("it is beyond the size of the array"));
            }
            // Only the first size may be unknown, and it is not needed here.
            let row = if index == 0 { 0 } else { size.unwrap_or_default() };
            let next = place.checked_mul(row).and_then(|place| place.checked_add(*number));
            place = next.ok_or_else(|| fail("it is beyond the largest possible array"))?;
        }
        Ok(place)
    }
}

impl Shape {
    /// Returns the maximum number of items, if the sizes are given.
    fn max_items(&self) -> Option<usize> {
        if self.sizes.is_empty() {
            return None;
        }
        self.sizes.iter().copied().try_fold(1_usize, |count, size| count.checked_mul(size?))
    }
}

/// Describes a number of dimensions, for messages.
#[cold]
fn dimensions_of(count: usize) -> String {
    if count == 1 { "one dimension".to_owned() } else { format!("{count} dimensions") }
}

/// Puts an item at its position: at the end, or in place of a missing one.
fn put<T>(items: &mut Vec<Option<T>>, place: usize, value: Option<T>) {
    match items.get_mut(place) {
        Some(missing) => *missing = value,
        None => items.push(value),
    }
}

/// The maximum number of dimensions that an array may declare. It bounds the work for a message with millions of commas.
const MAX_DIMENSIONS: usize = 1_000;

/// Parses the sizes of SOAP 1.1: `2,3`. A size may be absent.
fn sizes11(text: &str) -> Option<Vec<Option<usize>>> {
    let size = |text: &str| if text.trim().is_empty() { Some(None) } else { number(text).map(Some) };
    sizes(text.split(',').map(size))
}

/// Parses the sizes of SOAP 1.2: `2 3` or `* 3`.
fn sizes12(text: &str) -> Option<Vec<Option<usize>>> {
    let sizes = text.split_ascii_whitespace().enumerate();
    let sizes = sizes.map(|(index, text)| match text {
        "*" if index == 0 => Some(None),
        text => number(text).map(Some),
    });
    self::sizes(sizes).filter(|sizes| !sizes.is_empty())
}

/// Returns all sizes, if all are valid and there aren't too many.
fn sizes(sizes: impl Iterator<Item = Option<Option<usize>>>) -> Option<Vec<Option<usize>>> {
    let sizes: Vec<_> = sizes.take(MAX_DIMENSIONS + 1).collect::<Option<_>>()?;
    (sizes.len() <= MAX_DIMENSIONS).then_some(sizes)
}

fn number(text: &str) -> Option<usize> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_as_many_sizes_are_stored_as_arrays_have_dimensions() {
        assert_eq!(sizes11("2,,3"), Some(vec![Some(2), None, Some(3)]));
        assert_eq!(sizes12("* 3"), Some(vec![None, Some(3)]));
        assert_eq!(sizes11(&",".repeat(MAX_DIMENSIONS - 1)).map(|sizes| sizes.len()), Some(MAX_DIMENSIONS));
        assert_eq!(sizes11(&",".repeat(MAX_DIMENSIONS)), None);
        assert_eq!(sizes12(&"1 ".repeat(MAX_DIMENSIONS + 1)), None);
    }
}
