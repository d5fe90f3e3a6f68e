//! Describes the machine that a measurement is made on.

use castile_report::Machine;

/// Describes this machine, of which `cores` cores may be used.
pub fn this_machine(cores: usize) -> Machine {
    let kernel = read("/proc/sys/kernel/osrelease");
    Machine {
        cpu: field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores,
        memory_bytes: field("/proc/meminfo", "MemTotal").and_then(|value| {
            let kilobytes: u64 = value.strip_suffix("kB")?.trim().parse().ok()?;
            Some(kilobytes * 1024)
        }),
        os: format!("{} {}", std::env::consts::OS, kernel.trim()).trim().to_owned(),
    }
}

/// Returns the value of the first `name: value` line.
fn field(file: &str, name: &str) -> Option<String> {
    read(file).lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

/// Returns the file's text. Empty if there is no such file, as on systems other than Linux.
fn read(file: &str) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}
