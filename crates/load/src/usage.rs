//! CPU time and memory of a process. Measured on Linux; `None` on other systems, reported as "not measured".

use std::time::Duration;

/// What a process uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    /// User and system time of all threads since the start of the process.
    pub(crate) cpu: Duration,
    /// Resident memory in bytes.
    pub(crate) memory: Option<u64>,
}

impl Usage {
    pub(crate) fn of(process: u32) -> Option<Self> {
        Some(Usage { cpu: cpu_time(process)?, memory: memory(process) })
    }
}

/// Raises the limit of file descriptors of this process, and of those it starts, to what the system permits, since a user needs
/// one or two. If the system refuses, running out of them is reported when it happens. Returns the limit, if it is known.
#[cfg(target_os = "linux")]
pub fn allow_descriptors() -> Option<u64> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    let is_raised = soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok();
    Some(if is_raised { hard } else { soft })
}

/// Returns the user and system time of all threads of this process, and its resident memory in bytes.
pub fn own_usage() -> (Option<Duration>, Option<u64>) {
    let memory = Usage::of(std::process::id()).and_then(|usage| usage.memory);
    (own_cpu_time(), memory)
}

/// Returns the user and system time of all threads of this process.
#[cfg(target_os = "linux")]
pub(crate) fn own_cpu_time() -> Option<Duration> {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID).ok()?;
    Some(time.into())
}

/// Returns the user and system time of another process and of all running processes that it started, for all threads. It uses
/// CPU clocks with nanosecond resolution, not the ticks of `/proc`.
#[cfg(target_os = "linux")]
pub(crate) fn cpu_time(process: u32) -> Option<Duration> {
    let of_one = |process| {
        let clock = nix::time::clock_getcpuclockid(pid(process)?).ok()?;
        Some(Duration::from(nix::time::clock_gettime(clock).ok()?))
    };
    let own = of_one(process)?;
    Some(own + descendants(process).into_iter().filter_map(of_one).sum::<Duration>())
}

/// Returns the peak resident memory of a process in bytes, since it started or since [`forget_peak_memory`]. If it has started
/// other processes, returns their current memory instead, with shared memory counted once: the system has no peak for several
/// processes.
#[cfg(target_os = "linux")]
pub(crate) fn peak_memory(process: u32) -> Option<u64> {
    let started = descendants(process);
    if started.is_empty() {
        return status(process, "VmHWM:");
    }
    let peak = || of_all(process, &started, |process| status(process, "VmHWM:"));
    of_all(process, &started, proportional_memory).or_else(peak)
}

/// Returns the resident memory of a process and of each process that it started, in bytes. Shared memory is counted for each of
/// them: this is called often, and an exact figure costs too much.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> Option<u64> {
    of_all(process, &descendants(process), |process| status(process, "VmRSS:"))
}

/// Returns the sum over a process and those it started. Returns `None` if the value of the process itself is not known.
#[cfg(target_os = "linux")]
fn of_all(process: u32, started: &[u32], of: impl Fn(u32) -> Option<u64>) -> Option<u64> {
    Some(of(process)? + started.iter().filter_map(|process| of(*process)).sum::<u64>())
}

/// Returns resident memory, with memory shared by several processes divided among them. Returns `None` if it may not be read.
#[cfg(target_os = "linux")]
fn proportional_memory(process: u32) -> Option<u64> {
    field(&format!("/proc/{process}/smaps_rollup"), "Pss:")
}

/// Returns how long these cores together were idle or served interrupts, since the machine started. No process used that time.
#[cfg(target_os = "linux")]
pub(crate) fn idle_time(cores: &[usize]) -> Option<Duration> {
    idle_in(&std::fs::read_to_string("/proc/stat").ok()?, cores)
}

#[cfg(target_os = "linux")]
fn idle_in(stat: &str, cores: &[usize]) -> Option<Duration> {
    /// Ticks per second: proc(5)'s USER_HZ, which is the same on every machine that matters here.
    const TICKS: u64 = 100;
    let of = |core: &usize| {
        let name = format!("cpu{core}");
        let mut line =
            stat.lines().map(str::split_whitespace).find_map(|mut line| (line.next()? == name).then_some(line))?;
        // proc(5): user nice system idle iowait irq softirq …
        let mut next = |skipped| line.nth(skipped)?.parse::<u64>().ok();
        Some(next(3)? + next(0)? + next(0)? + next(0)?)
    };
    let ticks = cores.iter().map(of).sum::<Option<u64>>()?;
    Some(Duration::from_millis(ticks * 1000 / TICKS))
}

/// Returns the processes that a process started, directly or indirectly, since some servers consist of several. For the usual
/// single process this takes some microseconds.
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

/// Returns a field of `/proc/PID/status` in bytes; the file has kilobytes.
#[cfg(target_os = "linux")]
fn status(process: u32, name: &str) -> Option<u64> {
    field(&format!("/proc/{process}/status"), name)
}

#[cfg(target_os = "linux")]
fn field(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Resets the peak that [`peak_memory`] returns to the current memory, so that each case has its own peak. If the system
/// refuses, peaks count from the start of the process, so they may be too large but never too small.
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

    /// Does nothing: the limit of file descriptors is not known on this system.
    pub fn allow_descriptors() -> Option<u64> {
        None
    }

    pub(crate) fn own_cpu_time() -> Option<Duration> {
        None
    }

    pub(crate) fn cpu_time(_process: u32) -> Option<Duration> {
        None
    }

    pub(crate) fn idle_time(_cores: &[usize]) -> Option<Duration> {
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
pub use unmeasured::allow_descriptors;
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
        // Other tests make the process grow meanwhile, so the peak is read after the memory.
        let now = memory(process).unwrap();
        assert!(peak_memory(process).unwrap() >= now);
        assert!(now > 100_000);
    }

    #[test]
    fn idle_time_of_cores_is_read() {
        let stat = "cpu  9 9 9 9 9 9 9 0 0 0\ncpu0 1 2 3 100 20 3 4 5 0 0\ncpu1 1 2 3 200 0 0 0 5 0 0\ncpu10 1 1 1 1 1 1 1 0 0 0\n";
        assert_eq!(idle_in(stat, &[0]), Some(Duration::from_millis(1_270)));
        assert_eq!(idle_in(stat, &[0, 1]), Some(Duration::from_millis(3_270)));
        assert_eq!(idle_in(stat, &[2]), None);
        assert!(idle_time(&[0]).unwrap() > Duration::ZERO);
    }

    #[test]
    fn child_processes_count_for_their_parent() {
        // The shell starts a second shell, which starts `cat`.
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
        // The processes share most of their pages, which count once.
        assert!(peak_memory(process).unwrap() < memory(process).unwrap());
        // Closing the input ends all of them.
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(cpu_time(process), None);
    }
}
