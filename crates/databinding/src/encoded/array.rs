use crate::schema::{Element, TypeName};

/// The description of an array type (SOAP 1.1 §5.4.2, WSDL 1.1 §2.2).
#[derive(Debug)]
pub struct ArrayType {
    /// The element of an item. Its name in a message may be any.
    pub item: Element,
    /// The type of the items. If the items are arrays without a type name of their own, the type of the innermost items.
    pub item_type: TypeName,
    /// The array suffix of the items as in `wsdl:arrayType` before the last bracket: `[]` or `[,][]`; empty if the items are
    /// not arrays.
    pub ranks: &'static str,
    /// The number of dimensions.
    pub rank: usize,
}

/// An array of more than one dimension. Its items are stored with the last dimension varying fastest (SOAP 1.1 §5.4.2).
///
/// An item is `None` if it is nil or was not sent.
///
/// ```
/// use castile_databinding::encoded::Array;
///
/// let array = Array::new(vec![2, 3], (1..=6).collect::<Vec<i32>>()).unwrap();
/// assert_eq!(array.get(&[1, 0]), Some(&4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Array<T> {
    dimensions: Vec<usize>,
    items: Vec<Option<T>>,
}

impl<T> Array<T> {
    /// Creates an array. Returns `None` if the number of items is not the product of the dimensions.
    pub fn new<I: Into<Option<T>>>(dimensions: Vec<usize>, items: impl IntoIterator<Item = I>) -> Option<Self> {
        let items: Vec<Option<T>> = items.into_iter().map(Into::into).collect();
        let count = dimensions.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
        (count == items.len()).then_some(Array { dimensions, items })
    }

    pub(crate) fn from_parts(dimensions: Vec<usize>, items: Vec<Option<T>>) -> Self {
        Array { dimensions, items }
    }

    /// Returns the size of each dimension.
    pub fn dimensions(&self) -> &[usize] {
        &self.dimensions
    }

    /// Returns all items, with the last dimension varying fastest.
    pub fn items(&self) -> &[Option<T>] {
        &self.items
    }

    /// Returns all items by value.
    pub fn into_items(self) -> Vec<Option<T>> {
        self.items
    }

    /// Returns the item at a position, given as one index per dimension; `None` if there is no item.
    pub fn get(&self, place: &[usize]) -> Option<&T> {
        if place.len() != self.dimensions.len() {
            return None;
        }
        let mut index = 0_usize;
        for (at, size) in place.iter().zip(&self.dimensions) {
            if at >= size {
                return None;
            }
            index = index * size + at;
        }
        self.items.get(index)?.as_ref()
    }
}

/// The default array has no dimensions and no items. It is written with the number of dimensions of its type, each of size 0.
impl<T> Default for Array<T> {
    fn default() -> Self {
        Array { dimensions: Vec::new(), items: Vec::new() }
    }
}
