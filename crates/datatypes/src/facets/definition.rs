use std::sync::Arc;

use super::{Facets, Pattern, consistency};
use crate::{Datatype, Decimal, Invalid, NonNegativeInteger, Scope, Value, WhiteSpace, parse, words};

/// How deep lists and unions may be nested, since reading them recurses, and how many restrictions may follow each other,
/// since each type has the facets of its base.
const MAX_DEPTH: usize = 64;

/// How many member types of a union a message names.
const SHOWN: usize = 8;

/// A simple type definition (XSD Part 1 §3.14) that is known only at run time. Clones share their parts.
///
/// ```
/// use castile_datatypes::Datatype;
/// use castile_datatypes::facets::{Constraint, SimpleTypeDefinition};
/// # use castile_datatypes::Scope;
/// # struct Nothing;
/// # impl Scope for Nothing { fn namespace(&self, _: &str) -> Option<&str> { None } }
/// # let scope = &Nothing;
///
/// let percent = SimpleTypeDefinition::built_in(Datatype::Decimal)
///     .restriction("Percent", &[Constraint { facet: "maxInclusive", value: "100", scope }])?;
/// assert_eq!(percent.read("99.50", scope)?, percent.read("99.5", scope)?);
/// assert_eq!(
///     percent.read("101", scope).unwrap_err().message(),
///     "\"101\" is not a valid Percent: it must be not more than 100, its maxInclusive"
/// );
/// # Ok::<(), castile_datatypes::Invalid>(())
/// ```
#[derive(Clone, Debug)]
pub struct SimpleTypeDefinition {
    name: Arc<str>,
    variety: Variety,
    /// `None` for a union, whose members decide.
    white_space: Option<WhiteSpace>,
    /// The facets of each restriction, from the first to the last.
    restrictions: Arc<[Arc<Facets<Value>>]>,
    depth: usize,
}

#[derive(Clone, Debug)]
enum Variety {
    Atomic(Datatype),
    List(Arc<SimpleTypeDefinition>),
    Union(Arc<[SimpleTypeDefinition]>),
}

/// A facet as it is in a schema.
#[derive(Clone, Copy)]
pub struct Constraint<'a> {
    /// The name, such as `maxLength`.
    pub facet: &'a str,
    /// The value.
    pub value: &'a str,
    /// The declarations in scope, for names.
    pub scope: &'a dyn Scope,
}

impl SimpleTypeDefinition {
    /// Creates the definition of a built-in type.
    pub fn built_in(datatype: Datatype) -> Self {
        let white_space = Some(datatype.white_space());
        let built_in = Self::new(&format!("xs:{}", datatype.name()), Variety::Atomic(datatype), white_space, 1);
        SimpleTypeDefinition { restrictions: implied(datatype).into_iter().map(Arc::new).collect(), ..built_in }
    }

    /// Creates a list type (XSD Part 2 §4.1.2.2).
    ///
    /// # Errors
    /// Types are nested too deep.
    pub fn list(name: &str, item: SimpleTypeDefinition) -> Result<Self, Invalid> {
        let depth = below(name, item.depth)?;
        Ok(Self::new(name, Variety::List(Arc::new(item)), Some(WhiteSpace::Collapse), depth))
    }

    /// Creates a union type (XSD Part 2 §4.1.2.3).
    ///
    /// # Errors
    /// Types are nested too deep.
    pub fn union(name: &str, members: Vec<SimpleTypeDefinition>) -> Result<Self, Invalid> {
        let depth = below(name, members.iter().map(|member| member.depth).max().unwrap_or_default())?;
        Ok(Self::new(name, Variety::Union(members.into()), None, depth))
    }

    fn new(name: &str, variety: Variety, white_space: Option<WhiteSpace>, depth: usize) -> Self {
        SimpleTypeDefinition { name: name.into(), variety, white_space, restrictions: Arc::new([]), depth }
    }

    /// Creates a restriction of this type (XSD Part 2 §4.1.2.1) by one step.
    ///
    /// # Errors
    /// The first facet with an invalid value, such as a pattern that is not a regular expression or a bound that is not of
    /// this type; or the first two facets that contradict each other, or a facet that doesn't narrow that of the base.
    pub fn restriction(&self, name: &str, constraints: &[Constraint<'_>]) -> Result<Self, Invalid> {
        if self.restrictions.len() >= MAX_DEPTH {
            return Err(Invalid::new(format!(
                "{name} is more than {MAX_DEPTH} restrictions away from its primitive type"
            )));
        }
        let mut facets = Facets::default();
        let mut white_space = self.white_space;
        let mut patterns = Vec::new();
        for &Constraint { facet, value, scope } in constraints {
            let of_type = || self.read(value, scope);
            // A bound may be equal to an exclusive bound of the base, and so not be a value of the base.
            let bound = || self.without_restrictions().read(value, scope).map(Some);
            match facet {
                "length" => facets.length = Some(count(value)?),
                "minLength" => facets.min_length = Some(count(value)?),
                "maxLength" => facets.max_length = Some(count(value)?),
                "totalDigits" => facets.total_digits = Some(count(value)?),
                "fractionDigits" => facets.fraction_digits = Some(count(value)?),
                "minInclusive" => facets.min_inclusive = bound()?,
                "minExclusive" => facets.min_exclusive = bound()?,
                "maxInclusive" => facets.max_inclusive = bound()?,
                "maxExclusive" => facets.max_exclusive = bound()?,
                "enumeration" => facets.enumeration.push(of_type()?),
                "pattern" => patterns.push(value),
                "whiteSpace" => white_space = Some(self.white_space_below(by_name(value)?)?),
                _ => return Err(Invalid::new(format!("\"{facet}\" is not a facet"))),
            }
        }
        if !patterns.is_empty() {
            facets.patterns.push(Pattern::new(&patterns).map_err(|error| Invalid::new(error.to_string()))?);
        }
        // Patterns are matched against text that is already normalised.
        facets.white_space = WhiteSpace::Preserve;
        consistency::check(&facets, &self.restrictions).map_err(Invalid::new)?;
        let restrictions = self.restrictions.iter().cloned().chain([Arc::new(facets)]).collect();
        Ok(SimpleTypeDefinition { name: name.into(), white_space, restrictions, ..self.clone() })
    }

    fn without_restrictions(&self) -> Self {
        SimpleTypeDefinition { restrictions: Arc::new([]), ..self.clone() }
    }

    /// Returns the `whiteSpace` of a restriction, which can't be weaker than that of its base (§4.3.6.4).
    fn white_space_below(&self, white_space: WhiteSpace) -> Result<WhiteSpace, Invalid> {
        if self.white_space.is_some_and(|of_base| white_space < of_base) {
            return Err(Invalid::new("whiteSpace is weaker than that of the base type"));
        }
        Ok(white_space)
    }

    /// Returns the name, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the patterns of each restriction, from the first to the last. A text must match all of them.
    pub fn patterns(&self) -> impl DoubleEndedIterator<Item = &Pattern> {
        self.restrictions.iter().flat_map(|facets| &facets.patterns)
    }

    /// Parses and checks a text.
    ///
    /// # Errors
    /// The text is not of this type. The message has the text, the type and what is wrong.
    pub fn read(&self, text: &str, scope: &dyn Scope) -> Result<Value, Invalid> {
        match self.parse(text, scope) {
            Ok((value, _)) => Ok(value),
            Err(problem) => Err(Invalid::text(text, &self.name, problem)),
        }
    }

    /// Returns the value of a text, and the `whiteSpace` of the type that accepted it.
    fn parse(&self, text: &str, scope: &dyn Scope) -> Result<(Value, WhiteSpace), Option<String>> {
        let (value, white_space) = match &self.variety {
            Variety::Atomic(datatype) => {
                let white_space = self.white_space.unwrap_or(datatype.white_space());
                (datatype.parse(&white_space.normalise(text), scope)?, white_space)
            }
            Variety::List(item) => {
                let item = |text| item.read(text, scope).map_err(|error| Some(error.message().to_owned()));
                (Value::List(words(text).map(item).collect::<Result<_, _>>()?), WhiteSpace::Collapse)
            }
            Variety::Union(members) => {
                let value = members.iter().find_map(|member| member.parse(text, scope).ok());
                value.ok_or_else(|| {
                    let names: Vec<&str> = members.iter().take(SHOWN).map(|member| &*member.name).collect();
                    let more = if members.len() > SHOWN { ", …" } else { "" };
                    Some(format!("it is not one of {}{more}", names.join(", ")))
                })?
            }
        };
        let normalised = white_space.normalise(text);
        self.restrictions.iter().try_for_each(|facets| facets.check(&normalised, &value))?;
        Ok((value, white_space))
    }
}

/// Returns the facets that a built-in type has by itself, if a restriction may narrow them (XSD Part 2 §3.3). Parsing checks
/// them first.
fn implied(datatype: Datatype) -> Option<Facets<Value>> {
    let (min, max): (Option<i128>, Option<i128>) = match datatype {
        Datatype::Nmtokens | Datatype::Idrefs | Datatype::Entities => {
            return Some(Facets { min_length: Some(1), ..Facets::default() });
        }
        Datatype::NonNegativeInteger => (Some(0), None),
        Datatype::PositiveInteger => (Some(1), None),
        Datatype::NonPositiveInteger => (None, Some(0)),
        Datatype::NegativeInteger => (None, Some(-1)),
        Datatype::Long => (Some(i64::MIN.into()), Some(i64::MAX.into())),
        Datatype::Int => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        Datatype::Short => (Some(i16::MIN.into()), Some(i16::MAX.into())),
        Datatype::Byte => (Some(i8::MIN.into()), Some(i8::MAX.into())),
        Datatype::UnsignedLong => (Some(0), Some(u64::MAX.into())),
        Datatype::UnsignedInt => (Some(0), Some(u32::MAX.into())),
        Datatype::UnsignedShort => (Some(0), Some(u16::MAX.into())),
        Datatype::UnsignedByte => (Some(0), Some(u8::MAX.into())),
        _ => return None,
    };
    let bound = |bound: Option<i128>| bound.map(|bound| Value::Decimal(Decimal::from(bound)));
    Some(Facets { min_inclusive: bound(min), max_inclusive: bound(max), ..Facets::default() })
}

/// Returns the depth of a type that contains types of the depth `depth`.
fn below(name: &str, depth: usize) -> Result<usize, Invalid> {
    if depth < MAX_DEPTH {
        return Ok(depth + 1);
    }
    Err(Invalid::new(format!("{name} has lists and unions nested more than {MAX_DEPTH} deep")))
}

/// Parses a number of characters, items or digits. One that is too large becomes the largest possible.
fn count(value: &str) -> Result<u64, Invalid> {
    let count: NonNegativeInteger = parse(value)?;
    Ok(count.as_ref().try_into().unwrap_or(u64::MAX))
}

fn by_name(value: &str) -> Result<WhiteSpace, Invalid> {
    match value {
        "preserve" => Ok(WhiteSpace::Preserve),
        "replace" => Ok(WhiteSpace::Replace),
        "collapse" => Ok(WhiteSpace::Collapse),
        _ => Err(Invalid::text(value, "whiteSpace", Some("expected preserve, replace or collapse".into()))),
    }
}
