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

/// User and system time of another process and of all that it started and that live, all threads, to the nanosecond (CPU
/// clocks, not `/proc`'s ticks).
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time(process: u32) -> Option<Duration> {
    let of_one = |process| {
        let clock = nix::time::clock_getcpuclockid(pid(process)?).ok()?;
        Some(Duration::from(nix::time::clock_gettime(clock).ok()?))
    };
    let own = of_one(process)?;
    Some(own + descendants(process).into_iter().filter_map(of_one).sum::<Duration>())
}

/// The most memory a process, and each of those it started, has had resident, in bytes, since it began or since
/// [`forget_peak_memory`]. What they share is counted for each.
#[cfg(target_os = "linux")]
pub(crate) fn peak_memory(process: u32) -> Option<u64> {
    of_all(process, "VmHWM:")
}

/// The memory a process, and each of those it started, has resident, in bytes.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> Option<u64> {
    of_all(process, "VmRSS:")
}

#[cfg(target_os = "linux")]
fn of_all(process: u32, field: &str) -> Option<u64> {
    let own = status(process, field)?;
    Some(own + descendants(process).into_iter().filter_map(|process| status(process, field)).sum::<u64>())
}

/// The processes that a process started, and that they started: some servers are several. Most are one, and a look at that takes
/// some microseconds.
#[cfg(target_os = "linux")]
fn descendants(process: u32) -> Vec<u32> {
    let mut found: Vec<u32> = Vec::new();
    let mut looked_at = 0;
    let mut next = Some(process);
    while let Some(process) = next {
        let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
        found.extend(children.split_whitespace().filter_map(|id| id.parse::<u32>().ok()));
        next = found.get(looked_at).copied();
        looked_at += 1;
    }
    found
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
    for process in descendants(process).into_iter().chain([process]) {
        // proc(5): "5" resets the peak resident set size.
        let _ = std::fs::write(format!("/proc/{process}/clear_refs"), "5");
    }
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

    #[test]
    fn what_a_process_started_counts_as_its_own() {
        // The shell has a child, which has one, both of them shells that wait for it.
        let mut shell = std::process::Command::new("sh");
        let mut shell =
            shell.args(["-c", "sh -c 'cat; true'; true"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let process = shell.id();
        let begun = std::time::Instant::now();
        while descendants(process).len() < 2 && begun.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(descendants(process).len(), 2);
        assert!(memory(process).unwrap() > status(process, "VmRSS:").unwrap());
        // Its input ends, so all do.
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(cpu_time(process), None);
    }
}
