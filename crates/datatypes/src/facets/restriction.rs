//! The facets of a type as the tables of generated code refer to them, and the check of a value against them.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

use super::{FacetValue, Facets, Pattern};
use crate::{Invalid, List, QName, Scope, SimpleType, words};

/// The facets of a schema type, which restrict the values of its Rust type.
///
/// Tables of elements refer to facets through this trait, which hides the type of the value.
pub trait Check: fmt::Debug + Sync {
    /// Checks a value that was read from `text`.
    ///
    /// # Errors
    /// The facet that is violated: `"x" is not a valid y: …`.
    fn check(&self, text: &str, value: &dyn Any) -> Result<(), Invalid>;

    /// Reads a value and checks it.
    ///
    /// # Errors
    /// The text is not in the lexical space, or the facet that is violated: `"x" is not a valid y: …`.
    fn check_text(&self, text: &str) -> Result<(), Invalid>;
}

/// A type with facets and with values of type `T`.
///
/// ```
/// use std::sync::LazyLock;
/// use castile_datatypes::facets::{Check, Facets, Restriction};
///
/// static PERCENT: Restriction<i32> = Restriction::new("Percent", || {
///     static FACETS: LazyLock<Facets<i32>> =
///         LazyLock::new(|| Facets { max_inclusive: Some(100), ..Facets::default() });
///     &FACETS
/// });
///
/// let problem = PERCENT.check("101", &101).unwrap_err();
/// assert_eq!(problem.message(), "\"101\" is not a valid Percent: it must be not more than 100, its maxInclusive");
/// ```
pub struct Restriction<T: 'static> {
    name: &'static str,
    /// A function, since a constant can't refer to a value that is created at run time.
    facets: fn() -> &'static Facets<T>,
    base: Option<&'static dyn Check>,
}

impl<T> Restriction<T> {
    /// Creates a type.
    pub const fn new(name: &'static str, facets: fn() -> &'static Facets<T>) -> Self {
        Restriction { name, facets, base: None }
    }

    /// Creates a restriction of `base`, which is checked first.
    pub const fn of(base: &'static dyn Check, name: &'static str, facets: fn() -> &'static Facets<T>) -> Self {
        Restriction { name, facets, base: Some(base) }
    }
}

impl<T: FacetValue + SimpleType> Restriction<T> {
    /// Parses and checks a text. `scope` has the declarations around the text.
    ///
    /// # Errors
    /// What is wrong with the text, if known, as text that follows `"x" is not a valid y:`.
    #[doc(hidden)]
    pub fn parse(&self, text: &str, scope: &dyn Scope) -> Result<T, Option<String>> {
        let value = T::parse_in(text, scope)?;
        self.problem(text, &value).map_or(Ok(value), |problem| Err(Some(problem)))
    }

    fn problem(&self, text: &str, value: &T) -> Option<String> {
        let facets = (self.facets)();
        let normal = facets.white_space.normalise(text);
        // The Rust type may retain white space that the facet `whiteSpace` removes.
        let changed = if *normal == *text || T::HAS_NAMES { None } else { T::parse(&normal).ok() };
        facets.check(&normal, changed.as_ref().unwrap_or(value)).err()
    }
}

impl<T: FacetValue + SimpleType> Check for Restriction<T> {
    fn check(&self, text: &str, value: &dyn Any) -> Result<(), Invalid> {
        let Some(value) = value.downcast_ref::<T>() else { return self.check_text(text) };
        if let Some(base) = self.base {
            base.check(text, value)?;
        }
        match self.problem(text, value) {
            Some(problem) => Err(Invalid::text(text, self.name, Some(problem))),
            None => Ok(()),
        }
    }

    fn check_text(&self, text: &str) -> Result<(), Invalid> {
        let value = T::parse(text).map_err(|problem| Invalid::text(text, self.name, problem))?;
        self.check(text, &value)
    }
}

impl<T> fmt::Debug for Restriction<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Restriction").field(&self.name).finish()
    }
}

/// A list type whose items, of type `T`, have facets.
pub struct Items<T> {
    name: &'static str,
    item: &'static dyn Check,
    of: PhantomData<fn() -> T>,
}

impl<T> Items<T> {
    /// Creates a list type.
    pub const fn new(name: &'static str, item: &'static dyn Check) -> Self {
        Items { name, item, of: PhantomData }
    }
}

impl<T: SimpleType> Check for Items<T> {
    fn check(&self, text: &str, value: &dyn Any) -> Result<(), Invalid> {
        let Some(List(items)) = value.downcast_ref::<List<T>>() else { return self.check_text(text) };
        let checked = words(text).zip(items).try_for_each(|(text, item)| self.item.check(text, item));
        checked.map_err(|problem| Invalid::text(text, self.name, Some(problem.message().to_owned())))
    }

    fn check_text(&self, text: &str) -> Result<(), Invalid> {
        let value: List<T> = List::parse(text).map_err(|problem| Invalid::text(text, self.name, problem))?;
        self.check(text, &value)
    }
}

impl<T> fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Items").field(&self.name).field(&self.item).finish()
    }
}

/// A union type whose members have the same Rust type. One of them must accept the text.
#[derive(Debug)]
pub struct AnyOf {
    name: &'static str,
    members: &'static [&'static dyn Check],
}

impl AnyOf {
    /// Creates a union type.
    pub const fn new(name: &'static str, members: &'static [&'static dyn Check]) -> Self {
        AnyOf { name, members }
    }
}

impl Check for AnyOf {
    fn check(&self, text: &str, _: &dyn Any) -> Result<(), Invalid> {
        self.check_text(text)
    }

    fn check_text(&self, text: &str) -> Result<(), Invalid> {
        let is_taken = self.members.iter().any(|member| member.check_text(text).is_ok());
        if is_taken { Ok(()) } else { Err(Invalid::text(text, self.name, None)) }
    }
}

/// Parses the value of a bound. The generator has checked it.
pub fn bound<T: SimpleType>(text: &str) -> Option<T> {
    T::parse(text).ok()
}

/// Parses the values of an enumeration. The generator has checked them.
pub fn values<T: SimpleType>(texts: &[&str]) -> Vec<T> {
    texts.iter().filter_map(|text| bound(text)).collect()
}

/// Converts the values of an enumeration of names, given as namespaces and local names.
pub fn names<T: From<QName>>(names: &[(&str, &str)]) -> Vec<T> {
    let names = names.iter().filter_map(|(namespace, local)| QName::new(*namespace, *local).ok());
    names.map(T::from).collect()
}

/// Parses the values of an enumeration of lists or unions that contain names. Each value has the prefixes and namespaces that
/// are declared around it.
pub fn scoped_values<T: SimpleType>(texts: &[(&str, &[(&str, &str)])]) -> Vec<T> {
    texts.iter().filter_map(|(text, declarations)| T::parse_in(text, &Declared(declarations)).ok()).collect()
}

/// Prefixes with their namespaces.
struct Declared<'d>(&'d [(&'d str, &'d str)]);

impl Scope for Declared<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        let (_, namespace) = self.0.iter().find(|(known, _)| *known == prefix)?;
        Some(namespace)
    }
}

/// Compiles the patterns of each derivation step. The generator has checked them.
pub fn patterns(steps: &[&[&str]]) -> Vec<Pattern> {
    steps.iter().filter_map(|alternatives| Pattern::new(alternatives).ok()).collect()
}

/// Returns the message that a value is not in an enumeration, as text that follows `"x" is not a valid y:`.
#[cold]
pub fn not_listed(values: &[&str]) -> String {
    super::not_among(values, |value| (*value).to_owned())
}
