//! Decides which cores the server and the driver run on.
//!
//! On a machine with few cores, the two would take turns on the same core, and the scheduler's decisions would be
//! measured.

use std::fmt;
use std::sync::Arc;

use crate::{Error, ErrorKind};

/// Up to this many cores, server and driver get cores of their own.
const SEPARATE_UP_TO: usize = 4;

/// Where server and driver run. Processes inherit their cores, so a server runs on its cores from its very start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// The server and the driver each have cores of their own.
    Apart {
        /// The cores of the server: the lower half, rounded down, at least one.
        server: Vec<usize>,
        /// The cores of the driver: the rest.
        driver: Vec<usize>,
    },
    /// The system decides.
    Free {
        /// How many cores this process may use.
        cores: usize,
        /// The reason, in words.
        reason: &'static str,
    },
    /// The system places the driver. The server was started by somebody else.
    External {
        /// How many cores the driver may use.
        cores: usize,
    },
}

impl Placement {
    /// Gives server and driver separate cores, if cores are few and the system supports it.
    pub fn apart() -> Self {
        match allowed_cores() {
            Some(cores) => Self::divide(cores),
            None => Placement::Free { cores: available(), reason: "this system can't pin processes" },
        }
    }

    /// Leaves both to the system, as requested.
    pub fn free() -> Self {
        Placement::Free { cores: available(), reason: "as requested" }
    }

    /// Leaves the driver to the system; the server was started by somebody else.
    pub fn external() -> Self {
        Placement::External { cores: available() }
    }

    fn divide(cores: Vec<usize>) -> Self {
        match cores.len() {
            0 | 1 => Placement::Free { cores: 1, reason: "there is only one core" },
            2..=SEPARATE_UP_TO => {
                let (server, driver) = cores.split_at(cores.len() / 2);
                Placement::Apart { server: server.to_vec(), driver: driver.to_vec() }
            }
            many => Placement::Free { cores: many, reason: "there are enough cores" },
        }
    }

    /// Returns the number of cores for both.
    pub fn cores(&self) -> usize {
        match self {
            Placement::Apart { server, driver } => server.len() + driver.len(),
            Placement::Free { cores, .. } | Placement::External { cores } => *cores,
        }
    }

    /// Returns how many threads the driver uses: one for each of its cores, or half of all cores if it has none of
    /// its own.
    pub fn driver_threads(&self) -> usize {
        match self {
            Placement::Apart { driver, .. } => driver.len(),
            Placement::Free { cores, .. } | Placement::External { cores } => (cores / 2).max(1),
        }
    }

    /// Returns how many cores the server can use.
    pub fn server_cores(&self) -> usize {
        match self {
            Placement::Apart { server, .. } => server.len(),
            Placement::Free { cores, .. } | Placement::External { cores } => *cores,
        }
    }

    /// Returns the cores of server and driver, if each has its own.
    pub(crate) fn sides(&self) -> Option<[Cores; 2]> {
        match self {
            Placement::Apart { server, driver } => Some([server, driver].map(|cores| Cores(cores.as_slice().into()))),
            Placement::Free { .. } | Placement::External { .. } => None,
        }
    }

    /// Moves this thread, and what it starts from now on, to the server's cores.
    pub(crate) fn enter_server(&self) -> Result<(), Error> {
        match self {
            Placement::Apart { server, .. } => pin_this_thread(server),
            Placement::Free { .. } | Placement::External { .. } => Ok(()),
        }
    }

    /// Moves this thread, and what it starts from now on, to the driver's cores.
    pub fn enter_driver(&self) -> Result<(), Error> {
        match self {
            Placement::Apart { driver, .. } => pin_this_thread(driver),
            Placement::Free { .. } | Placement::External { .. } => Ok(()),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Apart { server, driver } => {
                let [server, driver] = [server, driver].map(|cores| Cores(cores.as_slice().into()));
                write!(f, "server on {server}, driver on {driver}")
            }
            Placement::Free { cores, reason } => {
                write!(f, "server and driver share {cores} cores, not pinned ({reason})")
            }
            Placement::External { cores: 1 } => f.write_str("driver on the only core of this machine"),
            Placement::External { cores } => write!(f, "driver on any of the {cores} cores of this machine"),
        }
    }
}

/// A set of cores.
#[derive(Clone, Debug)]
pub(crate) struct Cores(Arc<[usize]>);

impl Cores {
    /// Moves this thread, and what it starts from now on, to these cores.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        pin_this_thread(&self.0)
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.len() == 1 { "core " } else { "cores " })?;
        for (index, core) in self.0.iter().enumerate() {
            write!(f, "{}{core}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(target_os = "linux")]
fn allowed_cores() -> Option<Vec<usize>> {
    use nix::sched::{CpuSet, sched_getaffinity};
    use nix::unistd::Pid;

    let set = sched_getaffinity(Pid::from_raw(0)).ok()?;
    Some((0..CpuSet::count()).filter(|core| set.is_set(*core).unwrap_or(false)).collect())
}

#[cfg(target_os = "linux")]
fn pin_this_thread(cores: &[usize]) -> Result<(), Error> {
    use nix::sched::{CpuSet, sched_setaffinity};
    use nix::unistd::Pid;

    let mut set = CpuSet::new();
    cores
        .iter()
        .try_for_each(|core| set.set(*core))
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .map_err(|error| Error::new(ErrorKind::Machine, format!("can't pin to {}", Cores(cores.into()))).because(error))
}

#[cfg(not(target_os = "linux"))]
fn allowed_cores() -> Option<Vec<usize>> {
    None
}

#[cfg(not(target_os = "linux"))]
fn pin_this_thread(cores: &[usize]) -> Result<(), Error> {
    Err(Error::new(ErrorKind::Machine, format!("this system can't pin to {}", Cores(cores.into()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_cores_are_divided() {
        let cases = [
            (vec![3], "server and driver share 1 cores, not pinned (there is only one core)", 1),
            (vec![0, 1], "server on core 0, driver on core 1", 1),
            (vec![2, 4, 6], "server on core 2, driver on cores 4, 6", 2),
            (vec![0, 1, 2, 3], "server on cores 0, 1, driver on cores 2, 3", 2),
            ((0..16).collect(), "server and driver share 16 cores, not pinned (there are enough cores)", 8),
        ];
        for (cores, expected, threads) in cases {
            let placement = Placement::divide(cores);
            assert_eq!(placement.to_string(), expected);
            assert_eq!(placement.driver_threads(), threads, "{expected}");
        }
    }
}
