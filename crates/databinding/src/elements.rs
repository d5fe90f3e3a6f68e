//! Elements with values of simple types: the implementations for the types of this crate and of other crates, and the
//! functions that [`simple_type`] calls.

use castile_datatypes::*;

use crate::Error;
use crate::from_xml::Decoder;
use crate::schema::{Element, TypeName};
use crate::simple_type;

macro_rules! simple_types {
    ($($type:ty)*) => {$(
        simple_type!($type);
    )*};
}

simple_types! {
    String bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64
    Decimal Integer NonNegativeInteger PositiveInteger NonPositiveInteger NegativeInteger
    Duration DateTime Time Date GYearMonth GYear GMonthDay GDay GMonth
    HexBinary Base64Binary StreamedBinary QName Notation
    NormalizedString Token Language Nmtoken Name NcName Id Idref Entity AnyUri
}

simple_type!(List<T, MIN>, T: SimpleType, const MIN: usize);

#[cfg(feature = "chrono")]
simple_types! {
    chrono::NaiveDateTime chrono::DateTime<chrono::FixedOffset> chrono::DateTime<chrono::Utc>
    chrono::NaiveDate chrono::NaiveTime chrono::TimeDelta
}

#[cfg(feature = "jiff")]
simple_types! { jiff::civil::DateTime jiff::Timestamp jiff::civil::Date jiff::civil::Time }

#[cfg(feature = "num-bigint")]
simple_types!(num_bigint::BigInt);

#[cfg(feature = "rust_decimal")]
simple_types!(rust_decimal::Decimal);

/// Returns the type that `xsi:type` may name.
pub const fn type_name<T: SimpleType>() -> Option<TypeName> {
    TypeName::of_builtin(T::NAME)
}

#[inline]
pub fn cached<T: SimpleType>(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<T, Error>> {
    if T::IS_OF_CONTRACT { decoder.cached_by_text(element, false) } else { decoder.cached_simple(element) }
}

#[inline]
pub fn cached_restricted<T: SimpleType>(
    decoder: &mut Decoder<'_>,
    element: &'static Element,
) -> Option<Result<T, Error>> {
    if T::IS_OF_CONTRACT { decoder.cached_by_text(element, true) } else { decoder.cached_restricted(element) }
}
