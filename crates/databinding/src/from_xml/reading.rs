/// The conversion of a text whose type differs from that of its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Base64,
    Hex,
    /// A number of a decimal type, for an element of a binary floating-point type.
    Decimal,
    /// A number of a binary floating-point type, for another element of such a type.
    Float,
}
