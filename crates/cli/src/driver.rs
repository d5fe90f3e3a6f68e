//! The limits of one load driver, for `bench` and `load`.

use anyhow::bail;

use crate::quantity;

/// The maximum number of users, or of requests in flight, of one driver.
const MAX_USERS: usize = 100_000;
/// The number of a driver's open files that are neither connections nor those of its threads: 11 were counted. The rest is for what it
/// inherits, and for what it opens for a moment.
const OWN_FILES: u64 = 27;
/// The number of open files of each thread: an event loop has two and an eventfd, a socket for signals, and a timer.
const THREAD_FILES: u64 = 5;
/// The maximum rate in requests per second.
pub(crate) const MAX_RATE: f64 = 1e7;

/// How many users a load can have. Each is a connection, and so an open file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    /// The number of processes, which have equal parts of the users.
    processes: usize,
    /// The limit of open files of each process, if it is known.
    files: Option<u64>,
    /// How many threads each has at most: no more than users.
    threads: usize,
    /// How many of the files are neither connections of users nor those of threads.
    own: u64,
}

impl Capacity {
    /// Returns what processes can have that have this many threads each, and `more` files of their own. Raises the limit of open files as
    /// far as the system allows.
    pub(crate) fn new(processes: usize, threads: usize, more: u64) -> Self {
        Capacity::of(processes, threads, more, castile_load::allow_descriptors())
    }

    fn of(processes: usize, threads: usize, more: u64, files: Option<u64>) -> Self {
        Capacity { processes, files, threads, own: OWN_FILES + more }
    }

    /// Returns the maximum number of users of all processes.
    pub(crate) fn users(self) -> usize {
        self.users_beside(self.threads).saturating_mul(self.processes)
    }

    /// Returns the maximum number of users of one process with this many threads.
    fn users_beside(self, threads: usize) -> usize {
        let own = self.own + THREAD_FILES * threads as u64;
        let spare = self.files.and_then(|files| usize::try_from(files.saturating_sub(own)).ok());
        spare.unwrap_or(MAX_USERS).min(MAX_USERS)
    }

    /// Checks that there can be this many users. An error begins with the name of the option.
    pub(crate) fn check(self, name: &str, users: usize) -> anyhow::Result<()> {
        let threads = self.threads.min(users.div_ceil(self.processes));
        let (of_one, own) = (self.users_beside(threads), self.own + THREAD_FILES * threads as u64);
        let most = of_one.saturating_mul(self.processes);
        let each = if self.processes > 1 { "each process" } else { "this process" };
        match self.files {
            _ if users <= most => Ok(()),
            Some(files) if of_one < MAX_USERS => bail!(
                "found {name} {users}, expected at most {most}: each is a connection, and the system allows {each} {files} open files \
                 (`ulimit -Hn` shows the limit), of which {own} are for the driver itself"
            ),
            _ => bail!("found {name} {users}, expected at most {most}, the limit of the driver"),
        }
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

    fn checked(capacity: Capacity, users: usize) -> Result<(), String> {
        capacity.check("--users", users).map_err(|error| error.to_string())
    }

    /// A huge number of users once used up all memory.
    #[test]
    fn users_are_limited_by_the_open_files_and_by_a_maximum() {
        let of = |files| Capacity::of(1, 1, 0, files);
        assert_eq!((checked(of(Some(1_032)), 1_000), checked(of(None), 100_000)), (Ok(()), Ok(())));
        let error = checked(of(Some(1_032)), 1_001).unwrap_err();
        assert!(error.starts_with("found --users 1001, expected at most 1000: each is"), "{error}");
        let error = checked(of(Some(u64::MAX)), 100_001).unwrap_err();
        assert!(error.starts_with("found --users 100001, expected at most 100000,"), "{error}");
    }

    /// Users were once refused that several processes could have had, and the files of threads were not counted.
    #[test]
    fn each_process_has_open_files_for_its_part_of_the_users() {
        let capacity = Capacity::of(3, 8, 0, Some(1_067));
        assert_eq!((capacity.users(), checked(capacity, 3_000)), (3_000, Ok(())));
        assert!(checked(capacity, 3_001).unwrap_err().contains("the system allows each process 1067 open files"));
        assert_eq!(Capacity::of(2, 1, 0, None).users(), 2 * MAX_USERS);
        assert_eq!(Capacity::of(1, 8, 22, Some(64)).users(), 0);
    }
}
