/// Makes a simple type of an enum that has `as_str` and is made from any text: `enumeration!(Color, "Color", Collapse)`.
/// What follows the type is its name in the schema, and what becomes of white space (XSD Part 2 §4.3.6).
#[macro_export]
macro_rules! enumeration {
    ($type:ty, $name:literal, $white_space:ident) => {
        impl $crate::datatypes::SimpleType for $type {
            const NAME: &'static str = $name;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                Ok(Self::from(&*$crate::datatypes::WhiteSpace::$white_space.normalise(text)))
            }

            fn write(&self, out: &mut Vec<u8>) -> bool {
                $crate::escape::push_text(out, self.as_str()).is_ok()
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
