//! Places for details that are read, so that reading a fault is compiled once for all types of details.

use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Deviations};

use super::{Detail, Fault, FaultDetail};
use crate::blocks::Read;
use crate::envelope::HeaderBlock;
use crate::error::Error;

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

impl Read<'_> {
    /// Reads the detail of a fault from the header, if it is there.
    pub(crate) fn fault_detail(self, detail: &mut dyn DecodesDetail) -> Result<Option<Deviations>, Error> {
        let (details, blocks) = elements_of(detail);
        let is_one = |block: &HeaderBlock| blocks.iter().position(|element| element.is(&block.namespace, &block.local));
        let read = self.one(is_one, |decoder, index| detail.decode(decoder, details + index))?;
        Ok(read.map(|((), deviations)| deviations))
    }
}

/// Returns how many elements are in the fault's detail, and the elements that are header blocks.
pub(crate) fn elements_of(detail: &dyn DecodesDetail) -> (usize, &'static [Element]) {
    let elements = detail.elements();
    let details = elements.len().saturating_sub(detail.header_blocks());
    (details, &elements[details..])
}
