//! Maps the catalogue to both XML styles. Their contracts use the same names, so the generated structs have the same fields.

/// Defines functions that convert queries and quakes. The calling module must have the types `Query` and `Quake`.
macro_rules! mapping {
    (method: $method:ty, region: $region:ty) => {
        /// Returns the query of the catalogue for a request.
        fn asked(query: &Query) -> $crate::seismic::catalogue::Query {
            use $crate::seismic::catalogue::Bounds;
            use $crate::seismic::time::millis;

            $crate::seismic::catalogue::Query {
                from: query.min_date.as_ref().map(millis),
                to: query.max_date.as_ref().map(millis),
                longitude: Bounds { least: query.min_long, below: query.max_long },
                latitude: Bounds { least: query.min_lat, below: query.max_lat },
                magnitude: Bounds { least: query.min_mag, below: query.max_mag },
                depth: Bounds { least: query.min_depth, below: query.max_depth },
            }
        }

        /// Returns a query of the catalogue as an element.
        fn query(asked: &$crate::seismic::catalogue::Query) -> Query {
            use $crate::seismic::time::moment_of_millis;

            Query {
                min_date: asked.from.map(moment_of_millis),
                max_date: asked.to.map(moment_of_millis),
                min_long: asked.longitude.least,
                max_long: asked.longitude.below,
                min_lat: asked.latitude.least,
                max_lat: asked.latitude.below,
                min_mag: asked.magnitude.least,
                max_mag: asked.magnitude.below,
                min_depth: asked.depth.least,
                max_depth: asked.depth.below,
            }
        }

        /// Returns a quake as an element.
        fn quake(found: &$crate::seismic::catalogue::Quake, method: Option<$method>, region: Option<$region>) -> Quake {
            Quake {
                time: Some($crate::seismic::time::moment(found.millis.div_euclid(1_000))),
                millis: Some(found.millis.rem_euclid(1_000) as i32),
                latitude: Some(found.latitude),
                longitude: Some(found.longitude),
                depth: Some(found.depth),
                magnitude: Some(found.magnitude),
                method,
                region,
            }
        }

        /// Checks a quake of an answer.
        fn judge_quake(judge: &mut $crate::seismic::judge::Judge<'_>, quake: &Quake) -> Result<(), String> {
            let at = (quake.time.as_ref(), quake.millis);
            judge.quake(at, quake.latitude, quake.longitude, quake.depth, quake.magnitude)
        }
    };
}

pub(super) use mapping;
