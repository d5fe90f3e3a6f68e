/// Implements a simple type for an enum whose variants are the values that a schema lists, and one variant for any other
/// text:
///
/// ```
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// pub enum Color {
///     Red,
///     DarkBlue,
///     Other(String),
/// }
///
/// castile_databinding::enumeration! {
///     Color: "Color", Collapse, Other;
///     Red = "red",
///     DarkBlue = "dark blue",
/// }
///
/// assert_eq!(Color::from("dark blue"), Color::DarkBlue);
/// assert_eq!(Color::Other("pink".to_owned()).as_str(), "pink");
/// ```
///
/// The arguments after the type are its name in the schema and its white space handling (XSD Part 2 §4.3.6). With `no Other`,
/// a text that would be `Other` is rejected when it is read.
///
/// All functions are `#[inline]`, so unused ones are not compiled.
#[macro_export]
macro_rules! enumeration {
    ($type:ident: $name:literal, $white_space:ident, no $other:ident; $($variant:ident = $text:literal,)*) => {
        $crate::enumeration!(@ $type $name $white_space $other [$($variant $text)*] [$($text)*]);
    };
    ($type:ident: $name:literal, $white_space:ident, $other:ident; $($variant:ident = $text:literal,)*) => {
        $crate::enumeration!(@ $type $name $white_space $other [$($variant $text)*]);
    };
    (@ $type:ident $name:literal $white_space:ident $other:ident [$($variant:ident $text:literal)*] $([$($listed:literal)*])?) => {
        impl $type {
            /// Returns the text of the value.
            #[inline]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::$other(text) => text,
                }
            }
        }

        impl From<&str> for $type {
            #[inline]
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    _ => Self::$other(text.to_owned()),
                }
            }
        }

        $crate::simple_type!($type);

        impl $crate::datatypes::SimpleType for $type {
            const NAME: &'static str = $name;
            const IS_OF_CONTRACT: bool = true;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                let value = Self::from(&*$crate::datatypes::WhiteSpace::$white_space.normalise(text));
                $(if matches!(value, Self::$other(_)) {
                    return Err(Some($crate::facets::not_listed(&[$($listed),*])));
                })?
                Ok(value)
            }

            $(fn parse_beyond_facets(text: &str) -> Option<Self> {
                let _: &[&str] = &[$($listed),*];
                Some(Self::from(&*$crate::datatypes::WhiteSpace::$white_space.normalise(text)))
            })?

            fn write(&self, out: &mut Vec<u8>) -> bool {
                $crate::escape::push_text(out, self.as_str()).is_ok()
            }
        }

        impl $crate::facets::FacetValue for $type {
            #[inline]
            fn compare(&self, other: &Self) -> Option<std::cmp::Ordering> {
                (self == other).then_some(std::cmp::Ordering::Equal)
            }

            fn shown(&self) -> String {
                self.as_str().to_owned()
            }

            #[inline]
            fn length(&self) -> Option<$crate::facets::Length> {
                $crate::facets::FacetValue::length(&self.as_str().to_owned())
            }
        }

        impl std::fmt::Display for $type {
            #[inline]
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = std::convert::Infallible;

            #[inline]
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Ok(Self::from(text))
            }
        }
    };
}

/// Implements [`FromXml`](crate::FromXml) and [`ToXml`](crate::ToXml) for a simple type, so that elements can have its
/// values. Generic parameters of the type follow it.
#[macro_export]
macro_rules! simple_type {
    ($type:ty $(, $($generics:tt)+)?) => {
        impl $(<$($generics)+>)? $crate::FromXml for $type {
            const TYPE: Option<$crate::schema::TypeName> = $crate::elements::type_name::<Self>();
            const TYPE_IS_FIXED: bool = true;
            const MAY_BE_RESTRICTED: bool = true;

            #[inline]
            fn cached(
                decoder: &mut $crate::Decoder<'_>,
                element: &'static $crate::schema::Element,
            ) -> Option<Result<Self, $crate::Error>> {
                $crate::elements::cached(decoder, element)
            }

            #[inline]
            fn cached_restricted(
                decoder: &mut $crate::Decoder<'_>,
                element: &'static $crate::schema::Element,
            ) -> Option<Result<Self, $crate::Error>> {
                $crate::elements::cached_restricted(decoder, element)
            }

            #[inline]
            fn content(
                decoder: &mut $crate::Decoder<'_>,
                element: &'static $crate::schema::Element,
            ) -> Result<Self, $crate::Error> {
                decoder.simple(element)
            }
        }

        impl $(<$($generics)+>)? $crate::ToXml for $type {
            #[cfg_attr(not(debug_assertions), inline(always))]
            #[cfg_attr(debug_assertions, inline)]
            fn content(&self, out: &mut $crate::Encoder) {
                out.simple(self);
            }
        }
    };
}

/// Implements `From` for the contents of an enum's variants, boxed or not:
///
/// ```
/// enum Thing {
///     Number(i32),
///     Name(castile_databinding::Recursive<String>),
/// }
///
/// castile_databinding::conversions! {
///     Thing;
///     Number = i32,
///     Name = String,
/// }
///
/// assert!(matches!(Thing::from(1), Thing::Number(1)));
/// ```
#[macro_export]
macro_rules! conversions {
    ($type:ident; $($variant:ident = $of:ty,)*) => {$(
        impl From<$of> for $type {
            #[inline]
            fn from(value: $of) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

/// Implements conversions from items to an array type of generated code: `array! { Numbers, i32 }`.
#[doc(hidden)]
#[macro_export]
macro_rules! array {
    ($type:ident, $item:ty) => {
        impl From<Vec<$item>> for $type {
            fn from(items: Vec<$item>) -> Self {
                Self(items.into_iter().map(Some).collect())
            }
        }

        impl ::core::iter::FromIterator<$item> for $type {
            fn from_iter<I: ::core::iter::IntoIterator<Item = $item>>(items: I) -> Self {
                Self(items.into_iter().map(Some).collect())
            }
        }
    };
}
