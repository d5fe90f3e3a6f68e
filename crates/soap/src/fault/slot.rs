//! Places for details that are read, so that reading a fault is compiled once for all types of details.

use castile_databinding::Decoder;
use castile_databinding::schema::Element;

use super::{Detail, Fault, FaultDetail};

/// A place for a detail that a contract declares.
pub(crate) trait DecodesDetail {
    /// [`FaultDetail::ELEMENTS`].
    fn elements(&self) -> &'static [Element];

    /// [`FaultDetail::HEADER_BLOCKS`].
    fn header_blocks(&self) -> usize;

    /// Reads the detail as [`FaultDetail::read`] does, and stores it.
    fn decode(&mut self, decoder: &mut Decoder<'_>, index: usize) -> Result<(), castile_databinding::Error>;
}

/// A place for a detail of the type `D`.
pub(crate) struct DetailSlot<D>(Option<D>);

impl<D> DetailSlot<D> {
    /// Creates an empty slot.
    pub(crate) fn new() -> Self {
        DetailSlot(None)
    }

    /// Puts the stored detail into a fault that was read with this slot.
    pub(crate) fn fill(self, fault: Fault<()>) -> Fault<D> {
        let Fault { code, subcodes, reason, node, role, detail, extras } = fault;
        let detail = match detail {
            Detail::None => Detail::None,
            Detail::OfHeader => Detail::OfHeader,
            Detail::Declared(()) => self.0.map_or(Detail::None, Detail::Declared),
            Detail::Other(xml) => Detail::Other(xml),
        };
        Fault { code, subcodes, reason, node, role, detail, extras }
    }
}

impl<D: FaultDetail> DecodesDetail for DetailSlot<D> {
    fn elements(&self) -> &'static [Element] {
        D::ELEMENTS
    }

    fn header_blocks(&self) -> usize {
        D::HEADER_BLOCKS
    }

    fn decode(&mut self, decoder: &mut Decoder<'_>, index: usize) -> Result<(), castile_databinding::Error> {
        self.0 = Some(D::read(decoder, index)?);
        Ok(())
    }
}
