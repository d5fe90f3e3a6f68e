//! What a process has used: CPU time and memory. Measured on Linux; `None` elsewhere, said as "not measured".

use std::time::Duration;

/// What a process uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// User and system time since it began, all threads.
    pub(crate) cpu: Duration,
    /// Resident memory in bytes.
    pub(crate) memory: Option<u64>,
}

impl Usage {
    pub(crate) fn of(process: u32) -> Option<Self> {
        Some(Usage { cpu: cpu_time(process)?, memory: memory(process) })
    }
}

/// Lets this process, and those it starts, have as many file descriptors as the system allows: a user is one, or two.
/// Where the system refuses, running out of them is told when it happens.
#[cfg(target_os = "linux")]
pub(crate) fn allow_descriptors() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
        && soft < hard
    {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// User and system time of this process, all threads.
#[cfg(target_os = "linux")]
pub(crate) fn own_cpu_time() -> Option<Duration> {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID).ok()?;
    Some(time.into())
}

/// User and system time of another process, all threads, to the nanosecond (its CPU clock, not `/proc`'s ticks).
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time(process: u32) -> Option<Duration> {
    let clock = nix::time::clock_getcpuclockid(pid(process)?).ok()?;
    Some(nix::time::clock_gettime(clock).ok()?.into())
}

/// The most memory a process has had resident, in bytes, since it began or since [`forget_peak_memory`].
#[cfg(target_os = "linux")]
pub(crate) fn peak_memory(process: u32) -> Option<u64> {
    status(process, "VmHWM:")
}

/// The memory a process has resident, in bytes.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> Option<u64> {
    status(process, "VmRSS:")
}

/// A field of `/proc/PID/status` that is in kilobytes, as bytes.
#[cfg(target_os = "linux")]
fn status(process: u32, field: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Lets [`peak_memory`] begin anew from what the process has now, so that each case shows its own peak.
/// Where the system refuses, peaks are those since the process began: larger, never smaller.
#[cfg(target_os = "linux")]
pub(crate) fn forget_peak_memory(process: u32) {
    // proc(5): "5" resets the peak resident set size.
    let _ = std::fs::write(format!("/proc/{process}/clear_refs"), "5");
}

#[cfg(target_os = "linux")]
fn pid(process: u32) -> Option<nix::unistd::Pid> {
    Some(nix::unistd::Pid::from_raw(i32::try_from(process).ok()?))
}

#[cfg(not(target_os = "linux"))]
mod unmeasured {
    use super::Duration;

    pub(crate) fn allow_descriptors() {}

    pub(crate) fn own_cpu_time() -> Option<Duration> {
        None
    }

    pub(crate) fn cpu_time(_process: u32) -> Option<Duration> {
        None
    }

    pub(crate) fn peak_memory(_process: u32) -> Option<u64> {
        None
    }

    pub(crate) fn memory(_process: u32) -> Option<u64> {
        None
    }

    pub(crate) fn forget_peak_memory(_process: u32) {}
}
#[cfg(not(target_os = "linux"))]
pub(crate) use unmeasured::*;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn our_own_figures() {
        let process = std::process::id();
        assert!(cpu_time(process).unwrap() > Duration::ZERO);
        assert!(own_cpu_time().unwrap() > Duration::ZERO);
        assert!(peak_memory(process).unwrap() >= memory(process).unwrap());
        assert!(memory(process).unwrap() > 100_000);
    }
}
