/// A locustfile for a master whose workers are Castile's: a class of users, exact percentiles, and Castile's report at the end.
pub const PLUGIN: &str = include_str!("plugin.py");
