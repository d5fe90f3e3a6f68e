/// Implements `FacetValue` and `Display` for an enum that is a union type, so that facets can check its values.
#[macro_export]
macro_rules! union_value {
    ($type:ty) => {
        $crate::facet_value!($type);

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&$crate::text_of(self))
            }
        }
    };
}

/// Implements `FacetValue` for a simple type: by equality only, or by the value in a newtype.
#[doc(hidden)]
#[macro_export]
macro_rules! facet_value {
    ($type:ty) => {
        impl $crate::facets::FacetValue for $type {
            fn compare(&self, other: &Self) -> ::core::option::Option<::core::cmp::Ordering> {
                (self == other).then_some(::core::cmp::Ordering::Equal)
            }

            fn shown(&self) -> ::std::string::String {
                $crate::text_of(self)
            }
        }
    };
    ($type:ty as $held:ty) => {
        impl $crate::facets::FacetValue for $type {
            fn compare(&self, other: &Self) -> ::core::option::Option<::core::cmp::Ordering> {
                <$held as $crate::facets::FacetValue>::compare(&self.0, &other.0)
            }

            fn shown(&self) -> ::std::string::String {
                <$held as $crate::facets::FacetValue>::shown(&self.0)
            }

            fn length(&self) -> ::core::option::Option<$crate::facets::Length> {
                <$held as $crate::facets::FacetValue>::length(&self.0)
            }

            fn digits(&self) -> ::core::option::Option<$crate::facets::Digits> {
                <$held as $crate::facets::FacetValue>::digits(&self.0)
            }
        }
    };
}
