//! The feature `serde`: serialisation of generated types. Datatypes are serialised as their XML text, elements of any kind as
//! XML.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::datatypes::*;
use crate::{Any, AnyContent, AnyElements, AnyPiece, Nillable, Recursive};

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

/// Nil is serialised as none.
impl<T: Serialize> Serialize for Nillable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Nillable::Nil => serializer.serialize_none(),
            Nillable::Value(value) => serializer.serialize_some(value),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nillable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(|value| value.map_or(Nillable::Nil, Nillable::Value))
    }
}

impl<T: Serialize> Serialize for Recursive<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de> + Send + Sync + 'static> Deserialize<'de> for Recursive<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Recursive::new)
    }
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

impl Serialize for Any {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.xml())
    }
}

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Any::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Serialize for AnyElements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for AnyElements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Any>::deserialize(deserializer)?.into_iter().collect())
    }
}

impl Serialize for AnyContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for AnyContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<AnyPiece>::deserialize(deserializer)?.into_iter().collect())
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
        survives(vec![Nillable::Nil, Nillable::Value(1)], "[null,1]");
        survives(Recursive::new(List::<i32>(vec![1, 2])), "[1,2]");
        survives(Any::parse("<a xmlns='' b='c'/>").unwrap(), "\"<a xmlns='' b='c'/>\"");
        assert!(serde_json::from_str::<Nmtokens>("[]").is_err());
        assert!(serde_json::from_str::<Date>("\"soon\"").is_err());
    }
}
