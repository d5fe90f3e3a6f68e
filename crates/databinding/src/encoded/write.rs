//! Writes values in SOAP encoding. A shared value is written with an `id` where it is met first.

use std::any::Any;
use std::sync::Arc;

use super::{Encoding, RPC};
use crate::to_xml::{CHECK_INTERVAL, Encoder, ToXml};

impl Encoder {
    /// Sets the version of SOAP encoding for what follows. The default is SOAP 1.1.
    pub fn encode(&mut self, encoding: Encoding) {
        self.encoding = encoding;
    }

    /// Writes an accessor. Without a value it is nil.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn accessor<T: ToXml>(&mut self, start: &str, value: &Option<T>, end: &str) {
        match value {
            Some(value) => value.element(self, start, end),
            None => self.nil_accessor(start),
        }
    }

    /// Writes an accessor with a boxed value. Without a value it is nil.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn accessor_boxed<T: ToXml>(&mut self, start: &str, value: &Option<Box<T>>, end: &str) {
        match value {
            Some(value) => T::element(value, self, start, end),
            None => self.nil_accessor(start),
        }
    }

    /// Writes an accessor for each value; also the items of an array.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn accessors<T: ToXml>(&mut self, start: &str, values: &[Option<T>], end: &str) {
        for values in values.chunks(CHECK_INTERVAL) {
            if self.is_outgrown() {
                return;
            }
            for value in values {
                self.accessor(start, value, end);
            }
        }
    }

    /// Writes an independent element in SOAP encoding (a header block or a fault detail), if there is a value. `start` must
    /// declare `xsi`. No other element refers to it.
    pub fn independent<T: ToXml>(&mut self, start: &str, value: Option<&T>, end: &str) {
        let Some(value) = value else { return };
        self.raw(start.strip_suffix('>').unwrap_or(start));
        self.raw(self.encoding.attributes());
        self.has_xsi = true;
        value.attributes(self);
        self.has_xsi = false;
        value.rest(self, end);
    }

    /// Writes an empty element with `xsi:nil="true"`. The prefix must be declared.
    pub(crate) fn nil_accessor(&mut self, start: &str) {
        self.raw(name(start));
        self.raw(" xsi:nil=\"true\"/>");
    }

    /// Writes the attributes of an array: the type name of its items, their array suffix (`[]`,
    /// [`ArrayType::ranks`](super::ArrayType::ranks)), and the size of each of the `rank` dimensions.
    pub fn array_type(&mut self, item: &str, ranks: &str, rank: usize, dimensions: &[usize]) {
        // A default array has no dimensions.
        let sizes = (0..rank).map(|index| dimensions.get(index).copied().unwrap_or_default().to_string());
        let sizes: Vec<String> = sizes.collect();
        match self.encoding {
            Encoding::Soap11 => {
                for piece in [" soapenc:arrayType=\"", item, ranks, "[", &sizes.join(","), "]\""] {
                    self.raw(piece);
                }
            }
            // `itemType` names a type; it has no notation for an array of arrays (SOAP 1.2 Part 2 §3.1.4.3, §3.1.6).
            Encoding::Soap12 => {
                if ranks.is_empty() {
                    for piece in [" soapenc:itemType=\"", item, "\""] {
                        self.raw(piece);
                    }
                }
                for piece in [" soapenc:arraySize=\"", &sizes.join(" "), "\""] {
                    self.raw(piece);
                }
            }
        }
    }

    /// Writes which accessor of a response has the result (SOAP 1.2 Part 2 §4.2.1). SOAP 1.1 has no such element, and nothing
    /// is written.
    pub fn rpc_result(&mut self, accessor: &str) {
        if self.encoding == Encoding::Soap12 {
            for piece in ["<rpc:result xmlns:rpc=\"", RPC, "\">", accessor, "</rpc:result>"] {
                self.raw(piece);
            }
        }
    }

    /// Returns the number for a node that was not written before. Otherwise writes a reference to it, in an element with the
    /// name in `start`, and returns `None`.
    pub(crate) fn identify(
        &mut self,
        address: usize,
        start: &str,
        keep: impl FnOnce() -> Arc<dyn Any + Send + Sync>,
    ) -> Option<usize> {
        let written = self.written.get_or_insert_default();
        let next = written.ids.len() + 1;
        let Some((id, _)) = written.ids.get(&address) else {
            written.ids.insert(address, (next, keep()));
            return Some(next);
        };
        let id = id.to_string();
        let attribute = match self.encoding {
            Encoding::Soap11 => " href=\"#id",
            Encoding::Soap12 => " soapenc:ref=\"id",
        };
        for piece in [name(start), attribute, &id, "\"/>"] {
            self.raw(piece);
        }
        None
    }

    /// Writes the number of a node as its `id`.
    pub(crate) fn id(&mut self, id: usize) {
        let attribute = match self.encoding {
            Encoding::Soap11 => " id=\"id",
            Encoding::Soap12 => " soapenc:id=\"id",
        };
        for piece in [attribute, &id.to_string(), "\""] {
            self.raw(piece);
        }
    }
}

/// Returns the beginning of a start tag up to the end of its name.
fn name(start: &str) -> &str {
    start.split_once([' ', '>']).map_or(start, |(name, _)| name)
}
