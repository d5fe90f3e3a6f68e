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
/// Where the system refuses, running out of them is told when it happens. Gives how many there may be then, where that is known.
#[cfg(target_os = "linux")]
pub fn allow_descriptors() -> Option<u64> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};

    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    let is_raised = soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok();
    Some(if is_raised { hard } else { soft })
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

/// The most memory a process has had resident, in bytes, since it began or since [`forget_peak_memory`]. Of several, what they
/// have now, with what they share counted once: the system knows no peak of that.
#[cfg(target_os = "linux")]
pub(crate) fn peak_memory(process: u32) -> Option<u64> {
    let started = descendants(process);
    if started.is_empty() {
        return status(process, "VmHWM:");
    }
    let peak = || of_all(process, &started, |process| status(process, "VmHWM:"));
    of_all(process, &started, proportional_memory).or_else(peak)
}

/// The memory a process, and each of those it started, has resident, in bytes. What they share is counted for each: it is
/// looked at often, and no more is to be had cheaply.
#[cfg(target_os = "linux")]
fn memory(process: u32) -> Option<u64> {
    of_all(process, &descendants(process), |process| status(process, "VmRSS:"))
}

/// The sum over a process, of which it must be known, and those it started.
#[cfg(target_os = "linux")]
fn of_all(process: u32, started: &[u32], of: impl Fn(u32) -> Option<u64>) -> Option<u64> {
    Some(of(process)? + started.iter().filter_map(|process| of(*process)).sum::<u64>())
}

/// Resident memory, where of what several processes share each has its part; `None` where it is not for us to read.
#[cfg(target_os = "linux")]
fn proportional_memory(process: u32) -> Option<u64> {
    field(&format!("/proc/{process}/smaps_rollup"), "Pss:")
}

/// How long these cores together had nothing to do, or served devices, since the machine began: nobody's time.
#[cfg(target_os = "linux")]
pub(crate) fn idle_time(cores: &[usize]) -> Option<Duration> {
    idle_in(&std::fs::read_to_string("/proc/stat").ok()?, cores)
}

#[cfg(target_os = "linux")]
fn idle_in(stat: &str, cores: &[usize]) -> Option<Duration> {
    /// Of a second: proc(5)'s USER_HZ, which is the same on every machine that matters here.
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

    /// Nothing: here nothing says how many file descriptors there may be.
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
        assert!(peak_memory(process).unwrap() >= memory(process).unwrap());
        assert!(memory(process).unwrap() > 100_000);
    }

    #[test]
    fn what_nobody_used_of_cores_is_read() {
        let stat = "cpu  9 9 9 9 9 9 9 0 0 0\ncpu0 1 2 3 100 20 3 4 5 0 0\ncpu1 1 2 3 200 0 0 0 5 0 0\ncpu10 1 1 1 1 1 1 1 0 0 0\n";
        assert_eq!(idle_in(stat, &[0]), Some(Duration::from_millis(1_270)));
        assert_eq!(idle_in(stat, &[0, 1]), Some(Duration::from_millis(3_270)));
        assert_eq!(idle_in(stat, &[2]), None);
        assert!(idle_time(&[0]).unwrap() > Duration::ZERO);
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
        // All of them are mostly the same pages, which count once.
        assert!(peak_memory(process).unwrap() < memory(process).unwrap());
        // Its input ends, so all do.
        drop(shell.stdin.take());
        shell.wait().unwrap();
        assert_eq!(cpu_time(process), None);
    }
}
