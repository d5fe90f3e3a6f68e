//! Built-in types and values that are known only at run time, for schemas and for readers that use them.

use std::cmp::Ordering;
use std::fmt;

use crate::*;

/// A value of any simple type (XSD Part 2 §2.2). Values of derived types are values of their primitive types.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "each variant is the value space of the type it is named after")]
pub enum Value {
    String(String),
    Boolean(bool),
    Decimal(Decimal),
    Float(f32),
    Double(f64),
    Duration(Duration),
    DateTime(DateTime),
    Time(Time),
    Date(Date),
    GYearMonth(GYearMonth),
    GYear(GYear),
    GMonthDay(GMonthDay),
    GDay(GDay),
    GMonth(GMonth),
    HexBinary(HexBinary),
    Base64Binary(Base64Binary),
    AnyUri(AnyUri),
    QName(QName),
    Notation(Notation),
    /// A value of a list type.
    List(Vec<Value>),
}

impl Value {
    /// Compares two values. In value spaces without an order, values are equal or `None`. Values of different primitive types
    /// are never comparable.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        fn equal<T: PartialEq>(a: &T, b: &T) -> Option<Ordering> {
            (a == b).then_some(Ordering::Equal)
        }
        match (self, other) {
            (Value::String(a), Value::String(b)) => equal(a, b),
            (Value::Boolean(a), Value::Boolean(b)) => equal(a, b),
            (Value::Decimal(a), Value::Decimal(b)) => Some(a.cmp(b)),
            // NaN equals itself (XSD Part 2 §3.2.4).
            (Value::Float(a), Value::Float(b)) if a.is_nan() && b.is_nan() => Some(Ordering::Equal),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
            (Value::Double(a), Value::Double(b)) if a.is_nan() && b.is_nan() => Some(Ordering::Equal),
            (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
            (Value::Duration(a), Value::Duration(b)) => a.partial_cmp(b),
            (Value::DateTime(a), Value::DateTime(b)) => a.partial_cmp(b),
            (Value::Time(a), Value::Time(b)) => a.partial_cmp(b),
            (Value::Date(a), Value::Date(b)) => a.partial_cmp(b),
            (Value::GYearMonth(a), Value::GYearMonth(b)) => a.partial_cmp(b),
            (Value::GYear(a), Value::GYear(b)) => a.partial_cmp(b),
            (Value::GMonthDay(a), Value::GMonthDay(b)) => a.partial_cmp(b),
            (Value::GDay(a), Value::GDay(b)) => a.partial_cmp(b),
            (Value::GMonth(a), Value::GMonth(b)) => a.partial_cmp(b),
            (Value::HexBinary(a), Value::HexBinary(b)) => equal(a, b),
            (Value::Base64Binary(a), Value::Base64Binary(b)) => equal(a, b),
            (Value::AnyUri(a), Value::AnyUri(b)) => equal(a, b),
            (Value::QName(a), Value::QName(b)) => equal(a, b),
            (Value::Notation(a), Value::Notation(b)) => equal(a, b),
            (Value::List(a), Value::List(b)) => equal(a, b),
            _ => None,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::String(value) => value.fmt(f),
            Value::Boolean(value) => value.fmt(f),
            Value::Decimal(value) => value.fmt(f),
            Value::Float(value) => display_number(value, f),
            Value::Double(value) => display_number(value, f),
            Value::Duration(value) => value.fmt(f),
            Value::DateTime(value) => value.fmt(f),
            Value::Time(value) => value.fmt(f),
            Value::Date(value) => value.fmt(f),
            Value::GYearMonth(value) => value.fmt(f),
            Value::GYear(value) => value.fmt(f),
            Value::GMonthDay(value) => value.fmt(f),
            Value::GDay(value) => value.fmt(f),
            Value::GMonth(value) => value.fmt(f),
            Value::HexBinary(value) => value.fmt(f),
            Value::Base64Binary(value) => value.fmt(f),
            Value::AnyUri(value) => value.fmt(f),
            Value::QName(value) => value.fmt(f),
            Value::Notation(value) => value.fmt(f),
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index > 0 { " " } else { "" })?;
                    item.fmt(f)?;
                }
                Ok(())
            }
        }
    }
}

/// Writes `INF` instead of Rust's `inf`.
fn display_number(value: &impl SimpleType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut out = Vec::new();
    value.write(&mut out);
    f.write_str(&String::from_utf8_lossy(&out))
}

macro_rules! datatypes {
    ($($variant:ident $name:literal $type:ty, $value:expr, $white_space:ident;)*) => {
        /// The built-in simple types (XSD Part 2 §3).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Datatype {
            $(#[doc = concat!("`xs:", $name, "`")] $variant,)*
        }

        impl Datatype {
            /// All built-in simple types.
            pub const ALL: &'static [Datatype] = &[$(Datatype::$variant),*];

            /// Returns the local name, in the namespace of XML Schema.
            pub fn name(self) -> &'static str {
                match self { $(Datatype::$variant => $name),* }
            }

            /// Parses a text whose white space is not normalised.
            ///
            /// # Errors
            /// The text is not in the lexical space. The error says what is wrong, if that is known.
            pub fn parse(self, text: &str, scope: &dyn Scope) -> Result<Value, Option<String>> {
                match self {
                    $(Datatype::$variant => <$type as SimpleType>::parse_in(text, scope).map($value),)*
                }
            }

            /// Returns how the type treats white space.
            pub fn white_space(self) -> WhiteSpace {
                match self { $(Datatype::$variant => WhiteSpace::$white_space),* }
            }
        }
    };
}

fn decimal(value: impl Into<Integer>) -> Value {
    Value::Decimal(Decimal::from(value.into()))
}

fn string(value: impl Into<String>) -> Value {
    Value::String(value.into())
}

fn strings<T: Into<String>>(List(items): List<T, 1>) -> Value {
    Value::List(items.into_iter().map(string).collect())
}

datatypes! {
    AnySimpleType "anySimpleType" String, Value::String, Preserve;
    String "string" String, Value::String, Preserve;
    Boolean "boolean" bool, Value::Boolean, Collapse;
    Decimal "decimal" Decimal, Value::Decimal, Collapse;
    Float "float" f32, Value::Float, Collapse;
    Double "double" f64, Value::Double, Collapse;
    Duration "duration" Duration, Value::Duration, Collapse;
    DateTime "dateTime" DateTime, Value::DateTime, Collapse;
    Time "time" Time, Value::Time, Collapse;
    Date "date" Date, Value::Date, Collapse;
    GYearMonth "gYearMonth" GYearMonth, Value::GYearMonth, Collapse;
    GYear "gYear" GYear, Value::GYear, Collapse;
    GMonthDay "gMonthDay" GMonthDay, Value::GMonthDay, Collapse;
    GDay "gDay" GDay, Value::GDay, Collapse;
    GMonth "gMonth" GMonth, Value::GMonth, Collapse;
    HexBinary "hexBinary" HexBinary, Value::HexBinary, Collapse;
    Base64Binary "base64Binary" Base64Binary, Value::Base64Binary, Collapse;
    AnyUri "anyURI" AnyUri, Value::AnyUri, Collapse;
    QName "QName" QName, Value::QName, Collapse;
    Notation "NOTATION" Notation, Value::Notation, Collapse;
    NormalizedString "normalizedString" NormalizedString, string, Replace;
    Token "token" Token, string, Collapse;
    Language "language" Language, string, Collapse;
    Nmtoken "NMTOKEN" Nmtoken, string, Collapse;
    Nmtokens "NMTOKENS" Nmtokens, strings, Collapse;
    Name "Name" Name, string, Collapse;
    NcName "NCName" NcName, string, Collapse;
    Id "ID" Id, string, Collapse;
    Idref "IDREF" Idref, string, Collapse;
    Idrefs "IDREFS" Idrefs, strings, Collapse;
    Entity "ENTITY" Entity, string, Collapse;
    Entities "ENTITIES" Entities, strings, Collapse;
    Integer "integer" Integer, decimal, Collapse;
    NonPositiveInteger "nonPositiveInteger" NonPositiveInteger, decimal, Collapse;
    NegativeInteger "negativeInteger" NegativeInteger, decimal, Collapse;
    Long "long" i64, decimal, Collapse;
    Int "int" i32, decimal, Collapse;
    Short "short" i16, decimal, Collapse;
    Byte "byte" i8, decimal, Collapse;
    NonNegativeInteger "nonNegativeInteger" NonNegativeInteger, decimal, Collapse;
    UnsignedLong "unsignedLong" u64, decimal, Collapse;
    UnsignedInt "unsignedInt" u32, decimal, Collapse;
    UnsignedShort "unsignedShort" u16, decimal, Collapse;
    UnsignedByte "unsignedByte" u8, decimal, Collapse;
    PositiveInteger "positiveInteger" PositiveInteger, decimal, Collapse;
}

impl Datatype {
    /// Returns the type with this local name.
    pub fn from_name(local: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|datatype| datatype.name() == local)
    }
}
