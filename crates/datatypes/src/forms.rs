//! Macros for implementations that several datatypes share.

/// Implements `Display` and `FromStr` for a type whose text needs no escaping.
macro_rules! text_form {
    ($type:ty) => {
        impl std::fmt::Display for $type {
            /// Writes the text of the value; nothing if the value is invalid.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // Most texts are shorter.
                let mut out = Vec::with_capacity(32);
                $crate::SimpleType::write(self, &mut out);
                f.write_str(&String::from_utf8_lossy(&out))
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::parse(text)
            }
        }
    };
}

/// Implements equality, order and hash by the position on the time line.
macro_rules! time_line {
    ($type:ty, |$value:ident| $instant:expr) => {
        impl $type {
            fn on_time_line(&self) -> $crate::calendar::Instant {
                let $value = self;
                $instant
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.on_time_line() == other.on_time_line()
            }
        }

        impl Eq for $type {}

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.on_time_line().order(other.on_time_line())
            }
        }

        impl std::hash::Hash for $type {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.on_time_line().hash(state);
            }
        }
    };
}

/// Implements the conversions of a newtype of bytes.
macro_rules! bytes_form {
    ($type:ident) => {
        impl std::ops::Deref for $type {
            type Target = [u8];

            fn deref(&self) -> &[u8] {
                &self.0
            }
        }

        impl AsRef<[u8]> for $type {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl From<Vec<u8>> for $type {
            fn from(bytes: Vec<u8>) -> Self {
                $type(bytes)
            }
        }

        impl From<&[u8]> for $type {
            fn from(bytes: &[u8]) -> Self {
                $type(bytes.to_vec())
            }
        }

        impl From<$type> for Vec<u8> {
            fn from(value: $type) -> Self {
                value.0
            }
        }
    };
}

pub(super) use {bytes_form, text_form, time_line};
