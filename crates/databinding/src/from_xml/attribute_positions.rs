use castile_xml::AttributeIndex;

use crate::schema::Attributes;

/// How many attributes of a table are located in one pass. Those of larger tables are searched one by one.
const LOCATED_ATTRIBUTES: usize = 64;

/// The positions of the attributes of a table in a start tag.
#[derive(Debug)]
pub(crate) struct AttributePositions {
    pub(super) table: &'static Attributes,
    /// The offset of the end of the tag.
    pub(super) offset: usize,
    /// Whether the tag has attributes that are not in the table.
    pub(super) others: bool,
    /// A bit for each attribute of the table that is present.
    pub(super) present: u64,
    /// The positions of these attributes in the tag.
    pub(super) numbers: [u8; LOCATED_ATTRIBUTES],
    /// The position of `xsi:nil` in the tag, if it is present.
    pub(super) nil: Option<u32>,
    /// The position of `xsi:type` in the tag, if it is present.
    pub(super) type_name: Option<u32>,
}

impl AttributePositions {
    pub(super) const NONE: AttributePositions = AttributePositions {
        table: &Attributes::NONE,
        offset: 0,
        others: false,
        present: 0,
        numbers: [0; LOCATED_ATTRIBUTES],
        nil: None,
        type_name: None,
    };

    pub(super) fn begin(&mut self, table: &'static Attributes, offset: usize) {
        self.table = table;
        self.offset = offset;
        self.others = false;
        self.present = 0;
        (self.nil, self.type_name) = (None, None);
    }

    /// Records that `table[index]` is at position `number` in the tag.
    pub(super) fn put(&mut self, index: usize, number: usize) {
        match (self.numbers.get_mut(index), u8::try_from(number)) {
            (Some(place), Ok(number)) => {
                *place = number;
                self.present |= 1 << index;
            }
            // If it can't be recorded, all are searched one by one. Otherwise it would seem to be absent.
            _ => self.table = &Attributes::NONE,
        }
    }

    /// Restores the positions from the cached attribute index of an equal tag.
    #[inline]
    pub(super) fn restore(&mut self, table: &'static Attributes, offset: usize, placement: &AttributeIndex) {
        self.begin(table, offset);
        self.others = placement.others;
        self.present = placement.present;
        (self.nil, self.type_name) = (placement.nil, placement.type_name);
        self.numbers[..AttributeIndex::MAX_TABLE_LENGTH].copy_from_slice(&placement.numbers);
    }

    /// Returns the attribute index to cache, if it is for `table` and the table is not too large.
    pub(super) fn to_index(&self, table: &'static Attributes) -> Option<AttributeIndex> {
        let fits = std::ptr::eq(self.table, table) && table.declared.len() <= AttributeIndex::MAX_TABLE_LENGTH;
        let AttributePositions { present, others, nil, type_name, .. } = *self;
        let numbers = *self.numbers.first_chunk()?;
        fits.then_some(AttributeIndex { table: address(table), present, numbers, others, nil, type_name })
    }

    /// Returns the position of `table[index]` in the tag, or `Some(None)` if it is absent. `None` if the positions are not
    /// known for this table and tag.
    #[inline]
    pub(super) fn number(&self, table: &'static Attributes, offset: usize, index: usize) -> Option<Option<usize>> {
        if !self.is_of(table, offset) {
            return None;
        }
        let number = *self.numbers.get(index)?;
        Some((self.present >> index & 1 == 1).then_some(number.into()))
    }

    /// Records the position of an attribute in the `xsi` namespace with this local name.
    pub(super) fn put_own(&mut self, name: &str, number: usize) {
        let number = u32::try_from(number).ok();
        match name {
            "nil" => self.nil = number,
            "type" => self.type_name = number,
            _ => {}
        }
    }

    /// Whether the positions are for the tag that ends at `offset`, and for this table.
    #[inline]
    pub(super) fn is_of(&self, table: &'static Attributes, offset: usize) -> bool {
        offset == self.offset && std::ptr::eq(self.table, table)
    }
}

/// Returns an identifier that no other table has.
pub(super) fn address(table: &'static Attributes) -> usize {
    std::ptr::from_ref(table).addr()
}
