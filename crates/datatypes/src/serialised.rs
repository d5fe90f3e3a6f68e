//! The feature `serde`: datatypes are serialised as their XML text, lists as sequences.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::*;

macro_rules! texts {
    ($($type:ident)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

texts! {
    AnyUri Base64Binary Date DateTime Decimal Duration Entity GDay GMonth GMonthDay GYear GYearMonth HexBinary Id Idref Integer
    Language Name NcName NegativeInteger Nmtoken NonNegativeInteger NonPositiveInteger NormalizedString PositiveInteger Time Token
}

impl<T: Serialize, const MIN: usize> Serialize for List<T, MIN> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>, const MIN: usize> Deserialize<'de> for List<T, MIN> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items: Vec<T> = Vec::deserialize(deserializer)?;
        if items.len() < MIN {
            return Err(D::Error::custom(format!(
                "a list has {} items, where at least {MIN} were expected",
                items.len()
            )));
        }
        Ok(List(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_json() {
        fn survives<T: Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug>(value: T, json: &str) {
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
            assert_eq!(serde_json::from_str::<T>(json).unwrap(), value);
        }
        survives("10.50".parse::<Decimal>().unwrap(), "\"10.50\"");
        survives("2026-11-24T12:00:00Z".parse::<DateTime>().unwrap(), "\"2026-11-24T12:00:00Z\"");
        survives(List::<i32>(vec![1, 2]), "[1,2]");
        assert!(serde_json::from_str::<Nmtokens>("[]").is_err());
        assert!(serde_json::from_str::<Date>("\"soon\"").is_err());
    }
}
