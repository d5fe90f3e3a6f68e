//! The messages of both sides, as MessagePack: an array of a type, of data and of the worker's name.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::Violation;
use crate::{Entry, Failure};

/// How deep arrays and maps of a master may be nested. The options of a test are at most lists in a map.
const MAX_DEPTH: usize = 32;
/// The most classes of users that a master may have.
const MAX_CLASSES: usize = 1_000;
/// A worker gives no version, so a master doesn't compare it with its own.
pub(crate) const ANY_VERSION: i8 = -1;

/// The kind of the messages between a worker and Castile's plugin of a master.
pub(crate) const PLUGIN_KIND: &str = "castile";

/// What a master says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FromMaster {
    Ack(Ack),
    Spawn(Spawn),
    Stop,
    Heartbeat,
    Reconnect,
    Quit,
    /// The master has Castile's plugin, and this time on its clock.
    Plugin(PluginTime),
    /// Something that doesn't concern this worker.
    Other,
}

/// A worker is known to its master.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Ack {
    /// The worker's number, from 0.
    #[serde(default)]
    pub(crate) index: Option<u64>,
}

/// The clock of the master.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(crate) struct PluginTime {
    /// Seconds since 1970.
    pub(crate) time: f64,
}

/// How many users a worker is to have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Spawn {
    pub(crate) timestamp: f64,
    #[serde(deserialize_with = "classes")]
    pub(crate) user_classes_count: BTreeMap<String, u64>,
    #[serde(default)]
    pub(crate) stop_timeout: Option<f64>,
}

impl FromMaster {
    /// Reads a message.
    ///
    /// # Errors
    /// It is none of Locust.
    pub(crate) fn read(frame: &[u8]) -> Result<Self, Violation> {
        let mut deserializer = rmp_serde::Deserializer::from_read_ref(frame);
        deserializer.set_max_depth(MAX_DEPTH);
        // The reason may quote the message, which may be long.
        deserializer.deserialize_seq(Parts).map_err(|_| Violation::new("found a message that isn't one of Locust"))
    }
}

/// Reads the parts of a message.
struct Parts;

impl<'de> Visitor<'de> for Parts {
    type Value = FromMaster;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message of Locust")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<FromMaster, A::Error> {
        let missing = || A::Error::custom("a part is missing");
        let kind: &str = parts.next_element()?.ok_or_else(missing)?;
        let message = match kind {
            "ack" => FromMaster::Ack(parts.next_element::<Option<Ack>>()?.ok_or_else(missing)?.unwrap_or_default()),
            "spawn" => FromMaster::Spawn(parts.next_element()?.ok_or_else(missing)?),
            PLUGIN_KIND => FromMaster::Plugin(parts.next_element()?.ok_or_else(missing)?),
            other => {
                parts.next_element::<IgnoredAny>()?.ok_or_else(missing)?;
                match other {
                    "stop" => FromMaster::Stop,
                    "heartbeat" => FromMaster::Heartbeat,
                    "reconnect" => FromMaster::Reconnect,
                    "quit" => FromMaster::Quit,
                    _ => FromMaster::Other,
                }
            }
        };
        parts.next_element::<IgnoredAny>()?.ok_or_else(missing)?;
        match parts.next_element::<IgnoredAny>()? {
            None => Ok(message),
            Some(_) => Err(A::Error::custom("there are too many parts")),
        }
    }
}

fn classes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, u64>, D::Error> {
    struct Classes;

    impl<'de> Visitor<'de> for Classes {
        type Value = BTreeMap<String, u64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the number of users of each class")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut classes = BTreeMap::new();
            while let Some((class, users)) = map.next_entry()? {
                classes.insert(class, users);
                if classes.len() > MAX_CLASSES {
                    return Err(A::Error::custom("there are too many classes"));
                }
            }
            Ok(classes)
        }
    }

    deserializer.deserialize_map(Classes)
}

/// The users of a worker, by class and in all.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Counts<'a> {
    pub(crate) user_classes_count: &'a BTreeMap<String, u64>,
    pub(crate) user_count: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Heartbeat {
    pub(crate) state: &'static str,
    pub(crate) current_cpu_usage: f64,
    pub(crate) current_memory_usage: u64,
}

/// What the users of a worker did, as a message.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Stats<'a> {
    pub(crate) stats: &'a [Entry],
    pub(crate) stats_total: &'a Entry,
    pub(crate) errors: &'a BTreeMap<String, Failure>,
    pub(crate) user_classes_count: &'a BTreeMap<String, u64>,
    pub(crate) user_count: u64,
}

/// A failure that isn't one of a request.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Exception<'a> {
    pub(crate) msg: &'a str,
    pub(crate) traceback: &'a str,
}

/// Writes a message of the worker of this name.
pub(crate) fn write(kind: &str, data: impl Serialize, id: &str) -> Vec<u8> {
    // It can't fail: all that is written has a form in MessagePack, and memory takes all bytes.
    rmp_serde::to_vec_named(&(kind, data, id)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages that a master of Locust 2.47 sent, and hostile ones.
    #[test]
    fn messages_of_a_master_are_read() {
        let spawn = b"\x93\xa5spawn\x85\xa9timestamp\xcb\x41\xd9\x00\x00\x00\x80\x00\x00\xb2user_classes_count\x82\xa7Castile\x04\xa5Other\
            \x00\xa4host\xc0\xacstop_timeout\x02\xaeparsed_options\x82\xa4tags\x91\xa1a\x07\xc3\xa1w";
        let users = BTreeMap::from([("Castile".to_owned(), 4), ("Other".to_owned(), 0)]);
        let expected = Spawn { timestamp: 1_677_721_602.0, user_classes_count: users, stop_timeout: Some(2.0) };
        let ack = |index| FromMaster::Ack(Ack { index });
        for (bytes, message) in [
            (&b"\x93\xa3ack\x81\xa5index\x02\xa1w"[..], ack(Some(2))),
            (b"\x93\xa3ack\xc0\xa1w", ack(None)),
            (b"\x93\xa3ack\x81\xa5other\x02\xa1w", ack(None)),
            (spawn, FromMaster::Spawn(expected)),
            (b"\x93\xa4stop\xc0\xa1w", FromMaster::Stop),
            (b"\x93\xa9heartbeat\xc0\xa1w", FromMaster::Heartbeat),
            (b"\x93\xa9reconnect\xc0\xa1w", FromMaster::Reconnect),
            (b"\x93\xa4quit\xc0\xa1w", FromMaster::Quit),
            (b"\x93\xa7castile\x81\xa4time\x07\xa1w", FromMaster::Plugin(PluginTime { time: 7.0 })),
            (b"\x93\xb1spawning_complete\x81\xaauser_count\x08\xa1w", FromMaster::Other),
            (b"\x93\xa3new\x81\x92\x01\x02\xc4\x01x\xc0", FromMaster::Other),
        ] {
            assert_eq!(FromMaster::read(bytes), Ok(message), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn other_messages_are_refused() {
        let deep = [&b"\x93\xa1x"[..], &[0x91; 100], b"\xc0\xa1w"].concat();
        let mut many = b"\x93\xa5spawn\x82\xa9timestamp\x01\xb2user_classes_count\xde\xff\xff".to_vec();
        for class in 0..0xffff_u32 {
            many.extend_from_slice(format!("\u{a5}{class:05}").as_bytes().strip_prefix(b"\xc2").unwrap());
            many.push(1);
        }
        for bytes in [
            &b""[..],
            b"\xc0",
            b"\x90",
            b"\x92\xa4stop\xc0",
            b"\x94\xa4stop\xc0\xa1w\xc0",
            b"\x93\x01\xc0\xa1w",
            b"\x93\xa5spawn\xc0\xa1w",
            b"\x93\xa7castile\x80\xa1w",
            b"\x93\xa5spawn\x81\xa9timestamp\x01\xa1w",
            b"\x93\xa5spawn\x82\xa9timestamp\x01\xb2user_classes_count\x81\xa1a\xff\xa1w",
            b"\x93\xa5spawn\x82\xa9timestamp\x01\xb2user_classes_count\xdf\xff\xff\xff\xff",
            b"\x93\xa4stop\xdd\xff\xff\xff\xff",
            b"\x93\xdb\xff\xff\xff\xffstop",
            &deep,
            &many,
        ] {
            assert!(FromMaster::read(bytes).is_err(), "{}", bytes[..bytes.len().min(80)].escape_ascii());
        }
    }

    #[test]
    fn messages_of_a_worker_have_names_and_numbers() {
        fn of(kind: &str, data: impl Serialize) -> String {
            write(kind, data, "w").escape_ascii().to_string()
        }
        assert_eq!(of("client_ready", ANY_VERSION), "\\x93\\xacclient_ready\\xff\\xa1w");
        assert_eq!(of("client_stopped", ()), "\\x93\\xaeclient_stopped\\xc0\\xa1w");
        let users = BTreeMap::from([("A".to_owned(), 3)]);
        let counts = Counts { user_classes_count: &users, user_count: 3 };
        let text = "\\x93\\xb1spawning_complete\\x82\\xb2user_classes_count\\x81\\xa1A\\x03\\xaauser_count\\x03\\xa1w";
        assert_eq!(of("spawning_complete", counts), text);
        let heartbeat = Heartbeat { state: "ready", current_cpu_usage: 0.5, current_memory_usage: 9 };
        let text = "\\x93\\xa9heartbeat\\x83\\xa5state\\xa5ready\\xb1current_cpu_usage\\xcb?\\xe0\\x00\\x00\\x00\\x00\\x00\\x00\
            \\xb4current_memory_usage\\t\\xa1w";
        assert_eq!(of("heartbeat", heartbeat), text);
        let entry = Entry { response_times: vec![(0.25, 3)], ..Entry::default() };
        let stats = Stats {
            stats: std::slice::from_ref(&entry),
            stats_total: &entry,
            errors: &BTreeMap::new(),
            user_classes_count: &users,
            user_count: 3,
        };
        let stats = of("stats", stats);
        let times = "\\xaeresponse_times\\x81\\xcb?\\xd0\\x00\\x00\\x00\\x00\\x00\\x00\\x03";
        assert!(stats.contains(times) && stats.ends_with("\\xaauser_count\\x03\\xa1w"), "{stats}");
    }
}
