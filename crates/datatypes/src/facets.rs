//! Constraining facets (XSD Part 2 §4.3): the restrictions of a type as data, and the one checker for them.
//!
//! Generated code stores the facets of a type in a static, to which its tables refer. A value is checked right after it was
//! read.
//!
//! ```
//! use std::sync::LazyLock;
//! use castile_datatypes::Token;
//! use castile_datatypes::facets::{Check, Facets, Pattern, Restriction};
//!
//! static CODE: Restriction<Token> = Restriction::new("Code", || {
//!     static FACETS: LazyLock<Facets<Token>> = LazyLock::new(|| Facets {
//!         max_length: Some(5),
//!         patterns: vec![Pattern::new(&["[A-Z].*"]).expect("the generator compiled it")],
//!         ..Facets::default()
//!     });
//!     &FACETS
//! });
//!
//! let problem = CODE.check_text("Ten thousand").unwrap_err();
//! assert_eq!(
//!     problem.message(),
//!     "\"Ten thousand\" is not a valid Code: it is longer than the 5 characters of maxLength"
//! );
//! ```
//!
//! [`SimpleTypeDefinition`] checks values of types that are known only at run time.

mod blocks;
mod consistency;
mod definition;
mod facet_value;
mod pattern;
mod restriction;

pub use definition::{Constraint, SimpleTypeDefinition};
pub use facet_value::{Digits, FacetValue, Length};
pub use pattern::{Pattern, PatternError};
pub use restriction::{AnyOf, Check, Items, Restriction, bound, names, not_listed, patterns, scoped_values, values};

use std::cmp::Ordering;

use crate::WhiteSpace;

/// The facets of a type with values of type `T`, from one derivation step or from all steps together.
#[derive(Clone, Debug)]
pub struct Facets<T> {
    /// `whiteSpace`: how the text is normalised before patterns are matched.
    pub white_space: WhiteSpace,
    /// `length`, in characters, bytes or items.
    pub length: Option<u64>,
    /// `minLength`
    pub min_length: Option<u64>,
    /// `maxLength`
    pub max_length: Option<u64>,
    /// `pattern`: all of these must match. The alternatives of one derivation step are one [`Pattern`].
    pub patterns: Vec<Pattern>,
    /// `enumeration`: the allowed values; if empty, all are allowed.
    pub enumeration: Vec<T>,
    /// `minInclusive`
    pub min_inclusive: Option<T>,
    /// `minExclusive`
    pub min_exclusive: Option<T>,
    /// `maxInclusive`
    pub max_inclusive: Option<T>,
    /// `maxExclusive`
    pub max_exclusive: Option<T>,
    /// `totalDigits`
    pub total_digits: Option<u64>,
    /// `fractionDigits`
    pub fraction_digits: Option<u64>,
}

impl<T> Default for Facets<T> {
    /// No facets: every value is valid.
    fn default() -> Self {
        Facets {
            white_space: WhiteSpace::Collapse,
            length: None,
            min_length: None,
            max_length: None,
            patterns: Vec::new(),
            enumeration: Vec::new(),
            min_inclusive: None,
            min_exclusive: None,
            max_inclusive: None,
            max_exclusive: None,
            total_digits: None,
            fraction_digits: None,
        }
    }
}

impl<T: FacetValue> Facets<T> {
    /// Checks a value and the text that it was read from.
    ///
    /// # Errors
    /// The first facet that is violated, as text that follows `"x" is not a valid y:`.
    pub fn check(&self, text: &str, value: &T) -> Result<(), String> {
        self.check_patterns(text)?;
        self.check_length(value)?;
        self.check_bounds(value)?;
        self.check_digits(value)?;
        self.check_enumeration(value)
    }

    fn check_patterns(&self, text: &str) -> Result<(), String> {
        if self.patterns.is_empty() {
            return Ok(());
        }
        let text = self.white_space.normalise(text);
        match self.patterns.iter().find(|pattern| !pattern.matches(&text)) {
            None => Ok(()),
            Some(pattern) => Err(format!("it doesn't match the pattern {pattern}")),
        }
    }

    fn check_length(&self, value: &T) -> Result<(), String> {
        if self.length.is_none() && self.min_length.is_none() && self.max_length.is_none() {
            return Ok(());
        }
        let Some(Length { count, unit }) = value.length() else { return Ok(()) };
        let count = count as u64;
        let problem = |words: &str, limit: u64, facet: &str| {
            let unit = if limit == 1 { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
            Err(format!("it {words} the {limit} {unit} of {facet}"))
        };
        match (self.length, self.min_length, self.max_length) {
            (Some(length), _, _) if count < length => problem("is shorter than", length, "length"),
            (Some(length), _, _) if count > length => problem("is longer than", length, "length"),
            (_, Some(min), _) if count < min => problem("is shorter than", min, "minLength"),
            (_, _, Some(max)) if count > max => problem("is longer than", max, "maxLength"),
            _ => Ok(()),
        }
    }

    fn check_bounds(&self, value: &T) -> Result<(), String> {
        let check = |bound: &Option<T>, is_within: fn(Ordering) -> bool, words: &str, name: &str| match bound {
            // A value that is not comparable with the bound is outside of it.
            Some(bound) if !value.compare(bound).is_some_and(is_within) => {
                Err(format!("it must be {words} {}, its {name}", bound.shown()))
            }
            _ => Ok(()),
        };
        check(&self.min_inclusive, Ordering::is_ge, "not less than", "minInclusive")?;
        check(&self.min_exclusive, Ordering::is_gt, "more than", "minExclusive")?;
        check(&self.max_inclusive, Ordering::is_le, "not more than", "maxInclusive")?;
        check(&self.max_exclusive, Ordering::is_lt, "less than", "maxExclusive")
    }

    fn check_digits(&self, value: &T) -> Result<(), String> {
        if self.total_digits.is_none() && self.fraction_digits.is_none() {
            return Ok(());
        }
        let Some(Digits { total, fraction }) = value.digits() else { return Ok(()) };
        match (self.total_digits, self.fraction_digits) {
            (Some(max), _) if total as u64 > max => {
                Err(format!("it has {total} digits, more than the {max} of totalDigits"))
            }
            (_, Some(max)) if fraction as u64 > max => {
                Err(format!("it has {fraction} digits after the point, more than the {max} of fractionDigits"))
            }
            _ => Ok(()),
        }
    }

    fn check_enumeration(&self, value: &T) -> Result<(), String> {
        let is_equal = |allowed: &T| value.compare(allowed) == Some(Ordering::Equal);
        if self.enumeration.is_empty() || self.enumeration.iter().any(is_equal) {
            return Ok(());
        }
        Err(not_among(&self.enumeration, T::shown))
    }
}

/// Returns the message that a value is not in an enumeration. It shows the first values.
fn not_among<T>(values: &[T], shown: impl Fn(&T) -> String) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = values.iter().take(SHOWN).map(|value| format!("\"{}\"", shown(value))).collect();
    let more = if values.len() > SHOWN { ", …" } else { "" };
    format!("it is not in the enumeration: {}{more}", shown.join(", "))
}
