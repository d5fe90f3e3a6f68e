//! Checks answers without their catalogue.

use castile::datatypes::DateTime;

use super::catalogue::{Quake, Query};
use super::time::millis;

/// Checks that an answer's counts are right and that its quakes match the query.
pub(super) struct Judge<'a> {
    query: &'a Query,
    matches: u64,
}

impl<'a> Judge<'a> {
    pub(super) fn new(query: &'a Query) -> Self {
        Judge { query, matches: 0 }
    }

    /// Compares a declared count with the actual one.
    pub(super) fn count(&self, what: &str, declared: Option<i32>, found: usize) -> Result<(), String> {
        match declared {
            Some(declared) if usize::try_from(declared) == Ok(found) => Ok(()),
            _ => Err(format!("found {found} {what}, but a count of {declared:?}")),
        }
    }

    /// Checks a quake whose time is given as whole seconds and milliseconds.
    pub(super) fn quake(
        &mut self,
        (time, part): (Option<&DateTime>, Option<i32>),
        latitude: Option<f32>,
        longitude: Option<f32>,
        depth: Option<f32>,
        magnitude: Option<f32>,
    ) -> Result<(), String> {
        let found = (|| {
            let millis = millis(time?) + i64::from(part?);
            let (latitude, longitude) = (latitude?, longitude?);
            Some(Quake { millis, latitude, longitude, depth: depth?, magnitude: magnitude?, method: 0, region: 0 })
        })();
        self.take(&found.ok_or("found a quake without all its values")?)
    }

    pub(super) fn take(&mut self, quake: &Quake) -> Result<(), String> {
        if !self.query.matches(quake) {
            return Err(format!("found {quake:?}, which doesn't match the query {:?}", self.query));
        }
        self.matches += 1;
        Ok(())
    }

    /// Returns how many quakes were checked.
    pub(super) fn matches(&self) -> u64 {
        self.matches
    }
}
