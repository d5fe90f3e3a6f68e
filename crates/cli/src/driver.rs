//! The limits of one load driver, for `bench` and `load`.

use anyhow::bail;

use crate::quantity;

/// The maximum number of users, or of requests in flight, of one driver.
const MAX_USERS: usize = 100_000;
/// The number of the driver's open files that aren't connections.
const OWN_FILES: u64 = 32;
/// The maximum rate in requests per second.
pub(crate) const MAX_RATE: f64 = 1e7;

/// Returns the maximum number of users for a limit of open files.
pub(crate) fn max_users(files: Option<u64>) -> usize {
    let spare = files.and_then(|files| usize::try_from(files.saturating_sub(OWN_FILES)).ok());
    spare.unwrap_or(MAX_USERS).min(MAX_USERS)
}

/// Checks that a process with this limit of open files can have this many users.
pub(crate) fn check_users(name: &str, users: usize, files: Option<u64>) -> anyhow::Result<()> {
    let most = max_users(files);
    match files {
        _ if users <= most => Ok(()),
        Some(files) if most < MAX_USERS => bail!(
            "found {name} {users}, expected at most {most}: each is a connection, and the system allows this process {files} \
             open files (`ulimit -Hn` shows the limit)"
        ),
        _ => bail!("found {name} {users}, expected at most {MAX_USERS}, the limit of the driver"),
    }
}

/// Parses a rate above 0, up to the driver's maximum.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    sendable(quantity::rate(text)?)
}

/// Parses a rate of at least 0, up to the driver's maximum.
pub(crate) fn rate_from_zero(text: &str) -> Result<f64, String> {
    sendable(quantity::rate_from_zero(text)?)
}

fn sendable(rate: f64) -> Result<f64, String> {
    match rate <= MAX_RATE {
        true => Ok(rate),
        false => Err("expected at most 10,000,000 requests per second".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A huge number of users once used up all memory.
    #[test]
    fn users_are_limited_by_the_open_files_and_by_a_maximum() {
        let checked = |users, files| check_users("--users", users, files).map_err(|error| error.to_string());
        assert_eq!((checked(1_000, Some(1_032)), checked(100_000, None)), (Ok(()), Ok(())));
        assert!(
            checked(1_001, Some(1_032)).unwrap_err().starts_with("found --users 1001, expected at most 1000: each is")
        );
        assert!(
            checked(100_001, Some(u64::MAX)).unwrap_err().starts_with("found --users 100001, expected at most 100000")
        );
    }
}
