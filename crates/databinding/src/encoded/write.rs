//! Values as SOAP encoding has them. Shared ones stand where they are met first, with an `id`.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use super::{Encoding, RPC};
use crate::to_xml::{BETWEEN_LOOKS, Encoder, ToXml};

/// What an encoder has to remember of a graph.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The numbers of the nodes that were written, by their addresses, and the nodes, so that the addresses stay theirs.
    ids: HashMap<usize, (usize, Arc<dyn Any + Send + Sync>)>,
}

impl Encoder {
    /// Writes by the rules of `encoding` from here on. Without this they are those of SOAP 1.1.
    pub fn encode(&mut self, encoding: Encoding) {
        self.encoding = encoding;
    }

    /// Writes an accessor: one without a value is nil.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn accessor<T: ToXml>(&mut self, start: &str, value: &Option<T>, end: &str) {
        match value {
            Some(value) => value.element(self, start, end),
            None => self.nil_accessor(start),
        }
    }

    /// Writes an accessor whose value stands in a box: one without a value is nil.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn accessor_boxed<T: ToXml>(&mut self, start: &str, value: &Option<Box<T>>, end: &str) {
        match value {
            Some(value) => T::element(value, self, start, end),
            None => self.nil_accessor(start),
        }
    }

    /// Writes an accessor for each value: items of an array too.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn accessors<T: ToXml>(&mut self, start: &str, values: &[Option<T>], end: &str) {
        for values in values.chunks(BETWEEN_LOOKS) {
            if self.is_outgrown() {
                return;
            }
            for value in values {
                self.accessor(start, value, end);
            }
        }
    }

    /// Writes an element that stands by itself in SOAP encoding, a header block or what a fault says, if there is a value:
    /// `start` declares `xsi`. No other element refers to it.
    pub fn independent<T: ToXml>(&mut self, start: &str, value: Option<&T>, end: &str) {
        let Some(value) = value else { return };
        self.raw(start.strip_suffix('>').unwrap_or(start));
        self.raw(self.encoding.attributes());
        self.has_xsi = true;
        value.attributes(self);
        self.has_xsi = false;
        value.rest(self, end);
    }

    /// Writes an empty element with `xsi:nil="true"`, whose prefix is declared.
    pub(crate) fn nil_accessor(&mut self, start: &str) {
        self.raw(name(start));
        self.raw(" xsi:nil=\"true\"/>");
    }

    /// Writes what an array says of its items: the name of their type, which arrays they are (`[]`, see
    /// [`ArrayType::ranks`](super::ArrayType::ranks)), how many dimensions there are and how many items in each.
    pub fn array_type(&mut self, item: &str, ranks: &str, rank: usize, dimensions: &[usize]) {
        // One that was never filled has no dimensions.
        let sizes = (0..rank).map(|index| dimensions.get(index).copied().unwrap_or_default().to_string());
        let sizes: Vec<String> = sizes.collect();
        match self.encoding {
            Encoding::Soap11 => {
                for piece in [" soapenc:arrayType=\"", item, ranks, "[", &sizes.join(","), "]\""] {
                    self.raw(piece);
                }
            }
            // An array has no name there but that of its type (SOAP 1.2 Part 2 §3.1.4.3, §3.1.6).
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

    /// Writes which accessor of a response has its result (SOAP 1.2 Part 2 §4.2.1); SOAP 1.1 has no word for that.
    pub fn rpc_result(&mut self, accessor: &str) {
        if self.encoding == Encoding::Soap12 {
            for piece in ["<rpc:result xmlns:rpc=\"", RPC, "\">", accessor, "</rpc:result>"] {
                self.raw(piece);
            }
        }
    }

    /// The number of a node that was not written yet. `None` if it was: then a reference to it is written, in an element
    /// that is called as `start`.
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

    /// Writes the number of a node as an attribute.
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

/// The beginning of a start tag up to the end of its name.
fn name(start: &str) -> &str {
    start.split_once([' ', '>']).map_or(start, |(name, _)| name)
}
