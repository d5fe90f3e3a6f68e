//! Detects whether other processes used the cores of server or driver during a run. Works on Linux, if both have cores of their
//! own.

use std::time::{Duration, Instant};

use crate::{Placement, usage};

/// A shorter time shows nothing, since the system counts in hundredths of a second.
const SHORTEST: Duration = Duration::from_millis(200);

/// The cores of server or driver, and the CPU time that it used itself.
struct CoreGroup {
    cores: Vec<usize>,
    used: Box<dyn Fn() -> Option<Duration>>,
}

/// Measures the cores of server and driver.
pub(crate) struct BackgroundLoad(Vec<CoreGroup>);

/// One sample: for each side, how long its cores were idle and how much CPU time it used itself.
#[derive(Debug)]
pub(crate) struct Sample {
    at: Instant,
    sides: Vec<Option<(Duration, Duration)>>,
}

impl BackgroundLoad {
    /// Measures beside a server's process and all it started, and beside this process if it is the driver.
    pub(crate) fn for_server(server: u32, is_driver: bool, placement: &Placement) -> Self {
        let Placement::Apart { server: servers, driver: drivers } = placement else {
            return BackgroundLoad(Vec::new());
        };
        let mut sides = vec![CoreGroup { cores: servers.clone(), used: Box::new(move || usage::cpu_time(server)) }];
        if is_driver {
            sides.push(CoreGroup { cores: drivers.clone(), used: Box::new(usage::own_cpu_time) });
        }
        BackgroundLoad(sides)
    }

    /// Measures beside the processes of several servers and this one, which all use each other's cores.
    pub(crate) fn among(servers: Vec<u32>, placement: &Placement) -> Self {
        let Placement::Apart { server, driver } = placement else { return BackgroundLoad(Vec::new()) };
        let used = move || servers.iter().map(|process| usage::cpu_time(*process)).chain([usage::own_cpu_time()]).sum();
        BackgroundLoad(vec![CoreGroup { cores: [&server[..], driver].concat(), used: Box::new(used) }])
    }

    pub(crate) fn sample(&self) -> Sample {
        let of = |side: &CoreGroup| usage::idle_time(&side.cores).zip((side.used)());
        Sample { at: Instant::now(), sides: self.0.iter().map(of).collect() }
    }

    /// Returns the share of a side's cores that other processes have used since an earlier sample. Of the two sides, the larger
    /// share counts.
    pub(crate) fn share_since(&self, before: &Sample) -> Option<f64> {
        let now = self.sample();
        let elapsed = now.at - before.at;
        if elapsed < SHORTEST {
            return None;
        }
        let shares = self.0.iter().zip(before.sides.iter().zip(now.sides)).filter_map(|(side, (before, now))| {
            let ((idle_before, used_before), (idle, used)) = (*before).zip(now)?;
            let all = elapsed * side.cores.len() as u32;
            let own = idle.saturating_sub(idle_before) + used.saturating_sub(used_before);
            Some(all.saturating_sub(own).as_secs_f64() / all.as_secs_f64())
        });
        shares.max_by(f64::total_cmp)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Compares an idle process with one that uses a full core.
    #[test]
    fn processes_that_use_a_core_are_detected() {
        let placement = Placement::apart();
        let Placement::Apart { server, .. } = &placement else {
            println!("SKIPPED: server and driver have no cores of their own here");
            return;
        };
        let core = server[0].to_string();
        let start = |script: &str| {
            let mut command = std::process::Command::new("sh");
            command.args(["-c", script, "sh", &core]);
            crate::Process::start("sh", command).unwrap()
        };
        let idle = start("exec sleep 60");
        let busy = start("taskset -cp \"$1\" $$ >/dev/null && while :; do :; done");
        let share_beside = |process: &crate::Process| {
            let others = BackgroundLoad::for_server(process.id(), false, &placement);
            let before = others.sample();
            std::thread::sleep(SHORTEST * 3);
            others.share_since(&before).unwrap()
        };
        // Other processes on this machine take some time from one and add some to the other.
        assert!(share_beside(&idle) > 0.8);
        assert!(share_beside(&busy) < share_beside(&idle) - 0.1);
        let others = BackgroundLoad::for_server(idle.id(), false, &placement);
        assert_eq!(others.share_since(&others.sample()), None, "too short");
    }
}
