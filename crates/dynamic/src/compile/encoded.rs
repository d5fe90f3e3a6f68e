//! Makes the types of SOAP encoding.

use castile_databinding::encoded::ArrayType;
use castile_plan::plan;

use super::Maker;
use crate::leak::{leak, leak_all, leak_text};
use crate::types::{Accessor, Base, ElementType, EncodedArray, EncodedStruct, Nil};

/// Maximum number of dimensions of an array, which is the limit of the decoder.
const MAX_DIMENSIONS: usize = 1_000;

impl Maker {
    fn encoded_type(&mut self, value: &'static plan::EncodedValue) -> &'static ElementType {
        let inner = self.element_type(&value.base, Nil::Never);
        match (value.is_shared, inner.base) {
            (false, _) | (true, Base::Shared(_)) => inner,
            (true, _) => leak(ElementType { base: Base::Shared(inner), nil: Nil::Never }),
        }
    }

    pub(super) fn encoded(&mut self, name: &'static str, of: &'static plan::EncodedStruct) -> EncodedStruct {
        let (type_name, is_call, result) = match &of.role {
            plan::EncodedRole::Value(name) => (name.as_ref().map(|name| self.type_name(name)), false, None),
            plan::EncodedRole::Call { result } => (None, true, result.as_deref()),
        };
        let mut table = Vec::new();
        let mut accessors = Vec::new();
        for accessor in &of.accessors {
            let plan::Accessor { element, value, is_repeated, is_optional, start, .. } = accessor;
            let of = self.encoded_type(value);
            table.push(self.element(element, of));
            accessors.push(Accessor {
                is_repeated: *is_repeated,
                is_optional: *is_optional,
                start,
                end: leak_text(format!("</{}>", element.name)),
            });
        }
        EncodedStruct { name, type_name, is_call, result, table: leak_all(table), accessors }
    }

    pub(super) fn array(&mut self, of: &'static plan::EncodedArray) -> EncodedArray {
        let item = self.encoded_type(&of.value);
        let array = leak(ArrayType {
            item: self.element(&of.item, item),
            item_type: self.type_name(&of.item_type),
            ranks: &of.ranks,
            // A plan from a file may have any number here.
            rank: of.rank.min(MAX_DIMENSIONS),
        });
        let end = format!("</{}>", of.item.name);
        EncodedArray { array, tag: &of.tag, start: &of.start, end: leak_text(end) }
    }
}
