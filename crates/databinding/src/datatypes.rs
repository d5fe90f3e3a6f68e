//! The built-in datatypes (XSD Part 2): conversions between texts and values.

pub use castile_datatypes::{
    AnyUri, Base64Binary, Datatype, Date, DateTime, Decimal, Duration, Entities, Entity, GDay, GMonth, GMonthDay,
    GYear, GYearMonth, HexBinary, Id, Idref, Idrefs, Integer, Invalid, Language, List, Name, NcName, NegativeInteger,
    Nmtoken, Nmtokens, NonNegativeInteger, NonPositiveInteger, NormalizedString, Notation, PositiveInteger, Prefixes,
    QName, Scope, SimpleType, StreamedBinary, Time, Token, Unscoped, Value, WhiteSpace, base_of, quoted, text_of,
};
