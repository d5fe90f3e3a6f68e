//! Faults without the types of their details, so that writing a fault is compiled once for all of them.

use castile_databinding::Encoder;
use castile_databinding::datatypes::QName;

use super::headers::FaultExtras;
use super::{Detail, Fault, FaultCode, FaultDetail, Reason};

/// A fault to be written.
#[derive(Clone, Copy)]
pub(crate) struct View<'f> {
    pub(crate) code: &'f FaultCode,
    pub(crate) subcodes: &'f [QName],
    pub(crate) reason: &'f Reason,
    pub(crate) node: Option<&'f str>,
    pub(crate) role: Option<&'f str>,
    pub(crate) detail: Part<'f>,
    pub(crate) extras: Option<&'f FaultExtras>,
}

/// The detail of a fault to be written, as in [`Detail`].
#[derive(Clone, Copy)]
pub(crate) enum Part<'f> {
    None,
    OfHeader,
    Declared(&'f dyn WriteDetail),
    Other(&'f str),
}

/// A detail to be written, as in [`FaultDetail`].
pub(crate) trait WriteDetail {
    fn write(&self, out: &mut Encoder);

    fn index(&self) -> usize;

    fn is_header(&self) -> bool;
}

impl<D: FaultDetail> WriteDetail for D {
    fn write(&self, out: &mut Encoder) {
        FaultDetail::write(self, out);
    }

    fn index(&self) -> usize {
        FaultDetail::index(self)
    }

    fn is_header(&self) -> bool {
        FaultDetail::is_header(self)
    }
}

impl<D: FaultDetail> Fault<D> {
    /// Returns the fault without the type of its detail.
    pub(crate) fn view(&self) -> View<'_> {
        let Fault { code, subcodes, reason, node, role, detail, extras } = self;
        let detail = match detail {
            Detail::None => Part::None,
            Detail::OfHeader => Part::OfHeader,
            Detail::Declared(detail) => Part::Declared(detail),
            Detail::Other(xml) => Part::Other(xml),
        };
        let (node, role, extras) = (node.as_deref(), role.as_deref(), extras.as_deref());
        View { code, subcodes, reason, node, role, detail, extras }
    }
}
