use crate::schema::{Element, TypeName};

/// What the contract says of an array (SOAP 1.1 §5.4.2, WSDL 1.1 §2.2).
#[derive(Debug)]
pub struct ArrayType {
    /// An item, whatever its element is called.
    pub item: Element,
    /// The type of the items; of the innermost ones, if these are arrays without a name of their type.
    pub item_type: TypeName,
    /// The arrays that the items are, as `wsdl:arrayType` has it before the last bracket: `[]` or `[,][]`, empty if the
    /// items are none.
    pub ranks: &'static str,
    /// How many dimensions it has.
    pub rank: usize,
}

/// An array of more than one dimension: its items with the last dimension running fastest (SOAP 1.1 §5.4.2).
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
    /// An array of these items; `None` if they are not as many as the dimensions say.
    pub fn new<I: Into<Option<T>>>(dimensions: Vec<usize>, items: impl IntoIterator<Item = I>) -> Option<Self> {
        let items: Vec<Option<T>> = items.into_iter().map(Into::into).collect();
        let count = dimensions.iter().try_fold(1_usize, |count, size| count.checked_mul(*size))?;
        (count == items.len()).then_some(Array { dimensions, items })
    }

    pub(crate) fn from_parts(dimensions: Vec<usize>, items: Vec<Option<T>>) -> Self {
        Array { dimensions, items }
    }

    /// How many items there are in each dimension.
    pub fn dimensions(&self) -> &[usize] {
        &self.dimensions
    }

    /// All items, with the last dimension running fastest.
    pub fn items(&self) -> &[Option<T>] {
        &self.items
    }

    /// All items, to be moved out.
    pub fn into_items(self) -> Vec<Option<T>> {
        self.items
    }

    /// The item at a place, which has a number for each dimension; `None` if there is none.
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

/// No items, in no dimension: what has another number of dimensions is written with each of them empty.
impl<T> Default for Array<T> {
    fn default() -> Self {
        Array { dimensions: Vec::new(), items: Vec::new() }
    }
}
