/// Makes a simple type of an enum that has `as_str` and is made from any text: `enumeration!(Color, "Color", Collapse)`.
/// What follows the type is its name in the schema, and what becomes of white space (XSD Part 2 §4.3.6).
/// With `, Other, ["red", "green"]` behind it, what would be `Other` is refused when it is read.
#[macro_export]
macro_rules! enumeration {
    ($type:ty, $name:literal, $white_space:ident $(, $other:ident, [$($listed:literal),*])?) => {
        impl $crate::datatypes::SimpleType for $type {
            const NAME: &'static str = $name;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                let value = Self::from(&*$crate::datatypes::WhiteSpace::$white_space.normalise(text));
                $(if matches!(value, Self::$other(_)) {
                    return Err(Some($crate::facets::not_listed(&[$($listed),*])));
                })?
                Ok(value)
            }

            $(fn parse_beyond_facets(text: &str) -> Option<Self> {
                let _ = stringify!($other);
                Some(Self::from(&*$crate::datatypes::WhiteSpace::$white_space.normalise(text)))
            })?

            fn write(&self, out: &mut Vec<u8>) -> bool {
                $crate::escape::push_text(out, self.as_str()).is_ok()
            }
        }

        impl $crate::facets::FacetValue for $type {
            fn compare(&self, other: &Self) -> Option<std::cmp::Ordering> {
                (self == other).then_some(std::cmp::Ordering::Equal)
            }

            fn length(&self) -> Option<$crate::facets::Length> {
                $crate::facets::FacetValue::length(&self.as_str().to_owned())
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = std::convert::Infallible;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ok(Self::from(text))
            }
        }
    };
}

/// Makes an enum for a union, which is a simple type, a value that facets can look at.
#[macro_export]
macro_rules! union_value {
    ($type:ty) => {
        impl $crate::facets::FacetValue for $type {
            fn compare(&self, other: &Self) -> Option<std::cmp::Ordering> {
                (self == other).then_some(std::cmp::Ordering::Equal)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut out = Vec::new();
                $crate::datatypes::SimpleType::write(self, &mut out);
                f.write_str(&String::from_utf8_lossy(&out))
            }
        }
    };
}
