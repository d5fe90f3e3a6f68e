//! The serialized form of a plan in a file. Nested structures are stored as flat lists, so that a file can't make its
//! reader recurse deeper than the limit here.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::plan::fields::{self, Wildcard};
use crate::plan::particles::{Particle, ParticleKind};
use crate::plan::path::Path;

/// Maximum number of lists and nodes around a type, and maximum nesting of groups in mixed content.
const DEPTH: usize = 200;

/// All names that a plan may contain. Their positions must never change.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    // Primitive types of Rust.
    "String", "bool", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
    // Types of `castile::datatypes`.
    "AnyUri", "Base64Binary", "Date", "DateTime", "Decimal", "Duration", "Entities", "Entity", "GDay", "GMonth", "GMonthDay", "GYear",
    "GYearMonth", "HexBinary", "Id", "Idref", "Idrefs", "Integer", "Language", "Name", "NcName", "NegativeInteger", "Nmtoken", "Nmtokens",
    "NonNegativeInteger", "NonPositiveInteger", "NormalizedString", "Notation", "PositiveInteger", "QName", "StreamedBinary", "Time",
    "Token",
    // Facets.
    "length", "min_length", "max_length", "total_digits", "fraction_digits", "min_inclusive", "min_exclusive", "max_inclusive",
    "max_exclusive", "Preserve", "Replace", "Collapse",
];

/// A name, stored as its position in [`NAMES`].
#[derive(Clone, Copy)]
struct Name(&'static str);

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number = NAMES.iter().position(|name| *name == self.0);
        let number = number.and_then(|number| u8::try_from(number).ok());
        number.ok_or_else(|| ser::Error::custom(format!("{} is not a known name", self.0)))?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = usize::from(u8::deserialize(deserializer)?);
        NAMES.get(number).map(|name| Name(name)).ok_or_else(|| de::Error::custom(format!("there is no name {number}")))
    }
}

pub(crate) mod name {
    use super::{Deserialize, Deserializer, Name, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(name: &&'static str, serializer: S) -> Result<S::Ok, S::Error> {
        Name(name).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
        Name::deserialize(deserializer).map(|name| name.0)
    }
}

/// A type with the lists and nodes around it, outermost first.
#[derive(Deserialize, Serialize)]
struct Base {
    around: Vec<Wrapper>,
    inner: Inner,
}

#[derive(Deserialize, Serialize)]
enum Wrapper {
    List,
    Shared,
}

#[derive(Deserialize, Serialize)]
enum Inner {
    Primitive(Name),
    Datatype(Name),
    Rust(Box<str>),
    AnyType,
    Nothing,
    Raw,
    Item(Path),
}

impl Serialize for fields::Base {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Base::from(self.clone()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for fields::Base {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Base::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl From<fields::Base> for Base {
    fn from(mut base: fields::Base) -> Self {
        let mut around = Vec::new();
        let inner = loop {
            base = match base {
                fields::Base::List(item) => {
                    around.push(Wrapper::List);
                    *item
                }
                fields::Base::Shared(value) => {
                    around.push(Wrapper::Shared);
                    *value
                }
                fields::Base::Primitive(name) => break Inner::Primitive(Name(name)),
                fields::Base::Datatype(name) => break Inner::Datatype(Name(name)),
                fields::Base::Rust(path) => break Inner::Rust(path),
                fields::Base::AnyType => break Inner::AnyType,
                fields::Base::Nothing => break Inner::Nothing,
                fields::Base::Raw => break Inner::Raw,
                fields::Base::Item(path) => break Inner::Item(path),
            };
        };
        Base { around, inner }
    }
}

impl TryFrom<Base> for fields::Base {
    type Error = String;

    fn try_from(Base { around, inner }: Base) -> Result<Self, String> {
        if around.len() > DEPTH {
            return Err(format!("found a type within {} others, expected at most {DEPTH}", around.len()));
        }
        let inner = match inner {
            Inner::Primitive(Name(name)) => fields::Base::Primitive(name),
            Inner::Datatype(Name(name)) => fields::Base::Datatype(name),
            Inner::Rust(path) => fields::Base::Rust(path),
            Inner::AnyType => fields::Base::AnyType,
            Inner::Nothing => fields::Base::Nothing,
            Inner::Raw => fields::Base::Raw,
            Inner::Item(path) => fields::Base::Item(path),
        };
        Ok(around.into_iter().rev().fold(inner, |inner, around| match around {
            Wrapper::List => fields::Base::List(Box::new(inner)),
            Wrapper::Shared => fields::Base::Shared(Box::new(inner)),
        }))
    }
}

/// A particle of mixed content. It precedes the particles in it.
#[derive(Deserialize, Serialize)]
struct Row {
    min: u32,
    max: Option<u32>,
    kind: RowKind,
}

/// Groups store their number of particles.
#[derive(Deserialize, Serialize)]
enum RowKind {
    Element(usize),
    Any(Wildcard),
    Sequence(usize),
    Choice(usize),
    All(usize),
}

pub(crate) mod order {
    use super::{Deserialize, Deserializer, Particle, Row, Serialize, Serializer, de, rows, tree};

    pub(crate) fn serialize<S: Serializer>(order: &Option<Particle>, serializer: S) -> Result<S::Ok, S::Error> {
        let mut all = Vec::new();
        if let Some(order) = order {
            rows(order, &mut all);
        }
        all.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Particle>, D::Error> {
        let rows = Vec::<Row>::deserialize(deserializer)?;
        if rows.is_empty() {
            return Ok(None);
        }
        tree(&mut rows.into_iter(), 0).map(Some).map_err(de::Error::custom)
    }
}

fn rows(Particle { min, max, kind }: &Particle, out: &mut Vec<Row>) {
    let (kind, inner): (_, &[Particle]) = match kind {
        ParticleKind::Element(number) => (RowKind::Element(*number), &[]),
        ParticleKind::Any(any) => (RowKind::Any(any.clone()), &[]),
        ParticleKind::Sequence(particles) => (RowKind::Sequence(particles.len()), particles),
        ParticleKind::Choice(particles) => (RowKind::Choice(particles.len()), particles),
        ParticleKind::All(particles) => (RowKind::All(particles.len()), particles),
    };
    out.push(Row { min: *min, max: *max, kind });
    for particle in inner {
        rows(particle, out);
    }
}

fn tree(rows: &mut impl Iterator<Item = Row>, depth: usize) -> Result<Particle, String> {
    let Row { min, max, kind } = rows.next().ok_or("found fewer particles than a group declares")?;
    if depth > DEPTH {
        return Err(format!("found groups nested too deep, expected at most {DEPTH}"));
    }
    let mut inner = |count: usize| (0..count).map(|_| tree(rows, depth + 1)).collect::<Result<Vec<_>, _>>();
    let kind = match kind {
        RowKind::Element(number) => ParticleKind::Element(number),
        RowKind::Any(any) => ParticleKind::Any(any),
        RowKind::Sequence(count) => ParticleKind::Sequence(inner(count)?),
        RowKind::Choice(count) => ParticleKind::Choice(inner(count)?),
        RowKind::All(count) => ParticleKind::All(inner(count)?),
    };
    Ok(Particle { min, max, kind })
}

pub(crate) mod version {
    use castile_wsdl::Version;

    use super::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(version: &Version, serializer: S) -> Result<S::Ok, S::Error> {
        (*version == Version::Soap12).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Version, D::Error> {
        let is_soap12 = bool::deserialize(deserializer)?;
        Ok(if is_soap12 { Version::Soap12 } else { Version::Soap11 })
    }
}

pub(crate) mod versions {
    use castile_wsdl::Version;

    use super::{Deserialize, Deserializer, Serialize, Serializer, version};

    /// A wrapper that serializes a version.
    #[derive(Deserialize, Serialize)]
    struct SerializedVersion(#[serde(with = "version")] Version);

    pub(crate) fn serialize<S: Serializer>(versions: &[Version], serializer: S) -> Result<S::Ok, S::Error> {
        versions.iter().map(|version| SerializedVersion(*version)).collect::<Vec<_>>().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Version>, D::Error> {
        Ok(Vec::<SerializedVersion>::deserialize(deserializer)?
            .into_iter()
            .map(|SerializedVersion(version)| version)
            .collect())
    }
}

pub(crate) mod addressing {
    use castile_wsdl::{Addressing, Responses};

    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize, Serialize)]
    enum SerializedResponses {
        Anywhere,
        Anonymous,
        NonAnonymous,
    }

    pub(crate) fn serialize<S: Serializer>(of: &Option<Addressing>, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = of.map(|Addressing { required, responses }| {
            let to = match responses {
                Responses::Anywhere => SerializedResponses::Anywhere,
                Responses::Anonymous => SerializedResponses::Anonymous,
                Responses::NonAnonymous => SerializedResponses::NonAnonymous,
            };
            (required, to)
        });
        stored.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Addressing>, D::Error> {
        let stored = Option::<(bool, SerializedResponses)>::deserialize(deserializer)?;
        Ok(stored.map(|(required, to)| {
            let responses = match to {
                SerializedResponses::Anywhere => Responses::Anywhere,
                SerializedResponses::Anonymous => Responses::Anonymous,
                SerializedResponses::NonAnonymous => Responses::NonAnonymous,
            };
            Addressing { required, responses }
        }))
    }
}
