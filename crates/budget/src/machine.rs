//! How much memory and how many file descriptors this process may use.
//!
//! The memory is the smallest of
//!
//! - the machine's physical memory (`/proc/meminfo`),
//! - the limits of the container: `memory.max` and `memory.high` of the process's control group and its ancestors, and
//!   `memory.limit_in_bytes` with version 1 of control groups,
//! - the process limits for address space and data (`ulimit -v` and `ulimit -d`), less what the process already uses of
//!   them: an allocator may reserve a gigabyte of addresses at its start.
//!
//! If none of them can be read, as on systems other than Linux, [`FALLBACK`] is assumed.

use std::fs;
use std::path::{Path, PathBuf};

/// The share of the memory that [`Budget::process`](crate::Budget::process) gets: one half.
///
/// The other half is for memory that isn't counted: the program, stacks, connection buffers, allocations of handlers,
/// and fragmentation in the allocator.
pub const SHARE: f64 = 0.5;

/// The memory that is assumed if the system reports none: 2 GiB.
pub const FALLBACK: usize = 2 << 30;

/// Returns [`SHARE`] of [`memory`], or of [`FALLBACK`] if the memory is unknown.
pub fn share() -> usize {
    (memory().unwrap_or(FALLBACK) as f64 * SHARE) as usize
}

/// Returns how much memory this process may use, in bytes. `None` if the system doesn't report it.
pub fn memory() -> Option<usize> {
    below(Path::new("/"))
}

/// Returns how many file descriptors this process may have open (`ulimit -n`). `None` if the system doesn't report it.
pub fn descriptors() -> Option<usize> {
    open_files(&fs::read_to_string("/proc/self/limits").ok()?)
}

/// Reads `Max open files            1024                 524288               files`: the first number is the limit in
/// effect.
fn open_files(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Reads the memory from the files below `root`. A file that can't be read is ignored.
fn below(root: &Path) -> Option<usize> {
    let physical = fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|text| physical(&text));
    let status = fs::read_to_string(root.join("proc/self/status")).unwrap_or_default();
    let process = fs::read_to_string(root.join("proc/self/limits")).ok().and_then(|text| process(&text, &status));
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let container = groups.lines().filter_map(|line| group(root, line)).min();
    let bytes = [physical, process, container].into_iter().flatten().min()?;
    // A 32-bit process can't address all the memory of its machine.
    Some(usize::try_from(bytes).unwrap_or(usize::MAX).min(isize::MAX as usize))
}

fn physical(meminfo: &str) -> Option<u64> {
    field(meminfo, "MemTotal:")
}

/// Reads the bytes of a line such as `MemTotal:       24684084 kB`.
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Reads `Max address space         2147483648           unlimited            bytes`: the first number is the limit in
/// effect.
fn process(limits: &str, status: &str) -> Option<u64> {
    let left = |line: &str| {
        let of = |limit, used| Some((line.strip_prefix(limit)?, field(status, used).unwrap_or_default()));
        let (rest, used) = of("Max address space", "VmSize:").or_else(|| of("Max data size", "VmData:"))?;
        let limit: u64 = rest.split_whitespace().next()?.parse().ok()?;
        Some(limit.saturating_sub(used))
    };
    limits.lines().filter_map(left).min()
}

/// Reads the limits for a line of `/proc/self/cgroup`, `ID:CONTROLLERS:PATH`. The line of version 2 has no controllers.
fn group(root: &Path, line: &str) -> Option<u64> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let (mount, files): (_, &[_]) = match controllers {
        "" => ("sys/fs/cgroup", &["memory.max", "memory.high"]),
        _ if controllers.split(',').any(|name| name == "memory") => {
            ("sys/fs/cgroup/memory", &["memory.limit_in_bytes"])
        }
        _ => return None,
    };
    // Within a container the path can be that of the host, which doesn't exist there. The mount is then the container's
    // group.
    let path: PathBuf = Path::new(path).strip_prefix("/").ok()?.into();
    let limits = path.ancestors().flat_map(|group| files.iter().map(move |file| group.join(file)));
    limits.filter_map(|file| fs::read_to_string(root.join(mount).join(file)).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each directory has the files of a machine as below `/`, and the expected result.
    #[test]
    fn limits_are_read_from_machine_and_container() {
        let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
        let mut seen = 0;
        for machine in fs::read_dir(machines).unwrap() {
            let machine = machine.unwrap().path();
            let expected = fs::read_to_string(machine.join("expected")).unwrap();
            let found = below(&machine).map_or("unknown".into(), |bytes| bytes.to_string());
            assert_eq!(found, expected.trim(), "{}", machine.display());
            seen += 1;
        }
        assert!(seen >= 8, "{seen}");
    }

    #[test]
    fn linux_reports_limits() {
        assert_eq!(memory().is_some(), cfg!(target_os = "linux"));
        assert_eq!(descriptors().is_some(), cfg!(target_os = "linux"));
        assert!(share() > 0);
    }

    #[test]
    fn the_soft_limit_of_descriptors_holds() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
                      Max processes             96000                96000                processes \n\
                      Max open files            1024                 524288               files     \n";
        assert_eq!(open_files(limits), Some(1024));
        assert_eq!(open_files(&limits.replace("1024 ", "unlimited ")), None);
        assert_eq!(open_files(""), None);
    }
}
