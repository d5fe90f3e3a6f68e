use crate::components::{Variety, WhiteSpace};

/// The namespace of XML Schema and of its built-in datatypes.
pub const XSD_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema";

/// The namespace of `xsi:type`, `xsi:nil` and the schema location hints.
pub(crate) const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";

macro_rules! builtins {
    ($($variant:ident $name:literal < $base:ident, $white_space:ident;)*) => {
        /// The built-in types of every schema (XSD Part 2 §3, and the two ur-types of Part 1 §3.4.7 and §3.14.7).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Builtin {
            $(#[doc = concat!("`xs:", $name, "`")] $variant,)*
        }

        impl Builtin {
            /// All built-in types, in the order of their ids.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$variant),*];

            /// Returns the local name, in [`XSD_NAMESPACE`].
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// Returns the base type. `anyType` is its own base.
            #[must_use]
            pub fn base(self) -> Builtin {
                match self { $(Self::$variant => Builtin::$base),* }
            }

            /// Returns how white space in values is normalized before they are read (Part 2 §4.3.6).
            #[must_use]
            pub fn white_space(self) -> WhiteSpace {
                match self { $(Self::$variant => WhiteSpace::$white_space),* }
            }
        }
    };
}

builtins! {
    AnyType "anyType" < AnyType, Preserve;
    AnySimpleType "anySimpleType" < AnyType, Preserve;
    String "string" < AnySimpleType, Preserve;
    Boolean "boolean" < AnySimpleType, Collapse;
    Decimal "decimal" < AnySimpleType, Collapse;
    Float "float" < AnySimpleType, Collapse;
    Double "double" < AnySimpleType, Collapse;
    Duration "duration" < AnySimpleType, Collapse;
    DateTime "dateTime" < AnySimpleType, Collapse;
    Time "time" < AnySimpleType, Collapse;
    Date "date" < AnySimpleType, Collapse;
    GYearMonth "gYearMonth" < AnySimpleType, Collapse;
    GYear "gYear" < AnySimpleType, Collapse;
    GMonthDay "gMonthDay" < AnySimpleType, Collapse;
    GDay "gDay" < AnySimpleType, Collapse;
    GMonth "gMonth" < AnySimpleType, Collapse;
    HexBinary "hexBinary" < AnySimpleType, Collapse;
    Base64Binary "base64Binary" < AnySimpleType, Collapse;
    AnyUri "anyURI" < AnySimpleType, Collapse;
    QName "QName" < AnySimpleType, Collapse;
    Notation "NOTATION" < AnySimpleType, Collapse;
    NormalizedString "normalizedString" < String, Replace;
    Token "token" < NormalizedString, Collapse;
    Language "language" < Token, Collapse;
    Nmtoken "NMTOKEN" < Token, Collapse;
    Nmtokens "NMTOKENS" < AnySimpleType, Collapse;
    Name "Name" < Token, Collapse;
    NcName "NCName" < Name, Collapse;
    Id "ID" < NcName, Collapse;
    Idref "IDREF" < NcName, Collapse;
    Idrefs "IDREFS" < AnySimpleType, Collapse;
    Entity "ENTITY" < NcName, Collapse;
    Entities "ENTITIES" < AnySimpleType, Collapse;
    Integer "integer" < Decimal, Collapse;
    NonPositiveInteger "nonPositiveInteger" < Integer, Collapse;
    NegativeInteger "negativeInteger" < NonPositiveInteger, Collapse;
    Long "long" < Integer, Collapse;
    Int "int" < Long, Collapse;
    Short "short" < Int, Collapse;
    Byte "byte" < Short, Collapse;
    NonNegativeInteger "nonNegativeInteger" < Integer, Collapse;
    UnsignedLong "unsignedLong" < NonNegativeInteger, Collapse;
    UnsignedInt "unsignedInt" < UnsignedLong, Collapse;
    UnsignedShort "unsignedShort" < UnsignedInt, Collapse;
    UnsignedByte "unsignedByte" < UnsignedShort, Collapse;
    PositiveInteger "positiveInteger" < NonNegativeInteger, Collapse;
}

impl Builtin {
    /// Returns the built-in type with this local name.
    #[must_use]
    pub fn from_name(local: &str) -> Option<Builtin> {
        Self::ALL.iter().copied().find(|builtin| builtin.name() == local)
    }

    /// Returns the primitive type that it is derived from (Part 2 §3.2). For the ur-types and the list types it returns
    /// the type itself.
    #[must_use]
    pub fn primitive(self) -> Builtin {
        let mut builtin = self;
        while !matches!(builtin.base(), Builtin::AnySimpleType | Builtin::AnyType) {
            builtin = builtin.base();
        }
        builtin
    }

    /// Returns true if it is `other` or is derived from it by restriction.
    #[must_use]
    pub fn is_derived_from(self, other: Builtin) -> bool {
        let mut builtin = self;
        while builtin != other && builtin != Builtin::AnyType {
            builtin = builtin.base();
        }
        builtin == other
    }

    pub(crate) fn variety(self) -> Variety {
        match self {
            Self::Nmtokens => Variety::List { item: Builtin::Nmtoken.into() },
            Self::Idrefs => Variety::List { item: Builtin::Idref.into() },
            Self::Entities => Variety::List { item: Builtin::Entity.into() },
            _ => Variety::Atomic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_bases() {
        for &builtin in Builtin::ALL {
            assert_eq!(Builtin::from_name(builtin.name()), Some(builtin));
            assert!(builtin.is_derived_from(Builtin::AnyType));
            let base = Some(builtin.base().name()).filter(|_| builtin != Builtin::AnyType);
            assert_eq!(castile_datatypes::base_of(builtin.name()), base);
        }
        assert_eq!(Builtin::UnsignedByte.primitive(), Builtin::Decimal);
        assert_eq!(Builtin::Id.primitive(), Builtin::String);
        assert_eq!(Builtin::DateTime.primitive(), Builtin::DateTime);
        assert!(Builtin::Int.is_derived_from(Builtin::Integer));
        assert!(!Builtin::Int.is_derived_from(Builtin::Short));
    }
}
