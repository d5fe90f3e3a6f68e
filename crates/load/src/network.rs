//! A network between driver and server, simulated on one machine.
//!
//! Each side has its own network namespace (network_namespaces(7)). A pair of virtual Ethernet devices connects them, and a
//! token bucket on each device limits the rate (tc-tbf(8)). No cleanup is needed: the namespaces have no names, so the kernel
//! removes them with their devices when their last process has ended, however it ended. The machine's own interfaces are in
//! neither namespace.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use crate::{Error, ErrorKind};

/// Addresses reserved for documentation (RFC 5737). In these namespaces any address would do.
const DRIVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
/// Slower networks take hours for the suites, and faster ones are limited by the processor that simulates them.
const BITS_PER_SECOND: std::ops::RangeInclusive<f64> = 1e6..=1e10;

/// An Ethernet that carries so many bits per second in each direction at the same time, including the gaps between frames. It
/// adds no delay of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    bits_per_second: u64,
}

impl Network {
    /// The address of the server on this network.
    pub const SERVER: IpAddr = IpAddr::V4(SERVER);

    /// Returns the rate in the form in which it is parsed: `100Mbit`.
    pub fn rate(&self) -> String {
        format!("{}Mbit", self.bits_per_second as f64 / 1e6)
    }

    /// Moves this process, and those that it will start, into a network with only a loopback interface.
    ///
    /// The process must have a single thread. If the system doesn't permit a new network namespace, the process enters a new
    /// user namespace as well, which many systems permit to everybody.
    ///
    /// # Errors
    /// [`ErrorKind::Machine`]: the system doesn't permit it, or has no `ip`.
    pub fn enter() -> Result<(), Error> {
        system::enter()
    }

    /// Moves this process, a server that still has a single thread, into its own network. Connects that to the network of its
    /// parent process, the driver, which has to call [`connect`](Self::connect) then.
    ///
    /// # Errors
    /// [`ErrorKind::Machine`]: the system doesn't permit it, or lacks `ip`, `tc` or the kernel features that they need.
    pub fn serve(&self) -> Result<(), Error> {
        system::serve(self)
    }

    /// Sets up the driver's end of the connection that a server made.
    ///
    /// # Errors
    /// [`ErrorKind::Machine`]: the system doesn't permit it, or lacks `ip`, `tc` or the kernel features that they need.
    pub fn connect(&self) -> Result<(), Error> {
        system::take_up(self, DRIVER)
    }
}

impl FromStr for Network {
    type Err = Error;

    /// Parses a rate as `tc` writes it: `100Mbit`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor = match unit {
            "Mbit" | "mbit" => 1e6,
            "Gbit" | "gbit" => 1e9,
            _ => 0.0,
        };
        let rate = number.parse::<f64>().unwrap_or(0.0) * factor;
        match BITS_PER_SECOND.contains(&rate) {
            true => Ok(Network { bits_per_second: rate as u64 }),
            false => {
                let message = format!("found {text:?}, expected a rate from 1Mbit to 10Gbit, such as 100Mbit");
                Err(Error::new(ErrorKind::Input, message))
            }
        }
    }
}

/// Formats the rate for people: `100 Mbit/s`.
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mbit/s", self.bits_per_second as f64 / 1e6)
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::net::Ipv4Addr;
    use std::os::unix::process::parent_id;
    use std::process::Command;

    use nix::errno::Errno;
    use nix::sched::{CloneFlags, unshare};
    use nix::unistd::{getgid, getuid};

    use super::{Network, SERVER};
    use crate::{Error, ErrorKind};

    /// The name of the device, on both sides.
    const DEVICE: &str = "wire";
    /// The largest frame as devices see it: addresses and type, then 1,500 bytes.
    const FRAME: u64 = 1_514;
    /// The bytes that Ethernet sends around each frame: preamble, checksum, gap.
    const AROUND: u64 = 24;
    /// How many frames the queue holds, which is usual for Ethernet on Linux.
    const QUEUE: u64 = 1_000;
    /// How many frames may be sent in a burst after a pause, to make up for a late timer.
    const BURST: u64 = 10;

    pub(super) fn enter() -> Result<(), Error> {
        let (user, group) = (getuid(), getgid());
        match unshare(CloneFlags::CLONE_NEWNET) {
            Err(Errno::EPERM) => {
                unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET).map_err(|error| {
                    refused(
                        "only root may create a network namespace on this machine, and other users may not create \
                        a user namespace",
                    )
                    .because(error)
                })?;
                let written = write("setgroups", "deny")
                    .and_then(|()| write("uid_map", &format!("0 {user} 1")))
                    .and_then(|()| write("gid_map", &format!("0 {group} 1")));
                written.map_err(|error| refused("this user can't be root in a user namespace").because(error))?;
            }
            made => made.map_err(|error| refused("this machine can't create a network namespace").because(error))?,
        }
        run("ip", "link set lo up")
    }

    pub(super) fn serve(network: &Network) -> Result<(), Error> {
        unshare(CloneFlags::CLONE_NEWNET)
            .map_err(|error| refused("can't create a network namespace for the server").because(error))?;
        let driver = parent_id();
        run("ip", &format!("link add {DEVICE} type veth peer name {DEVICE} netns {driver}"))?;
        take_up(network, SERVER)
    }

    pub(super) fn take_up(network: &Network, address: Ipv4Addr) -> Result<(), Error> {
        let rate = network.bits_per_second;
        // At least what a millisecond carries: on a busy machine, timers are not finer.
        let burst = (BURST * FRAME).max(rate / 8 / 1_000);
        let queue = QUEUE * FRAME;
        // The token bucket counts single frames: with one segment per packet, the device gets no larger packets to split.
        run("ip", &format!("link set {DEVICE} gso_max_segs 1"))?;
        run("ip", &format!("address add {address}/30 dev {DEVICE}"))?;
        run("ip", &format!("link set {DEVICE} up"))?;
        run(
            "tc",
            &format!("qdisc add dev {DEVICE} root tbf rate {rate}bit burst {burst} limit {queue} overhead {AROUND}"),
        )
    }

    fn write(file: &str, text: &str) -> io::Result<()> {
        std::fs::write(format!("/proc/self/{file}"), text)
    }

    /// Runs a tool of iproute2, which may be in a directory that is not in `PATH`.
    fn run(tool: &str, arguments: &str) -> Result<(), Error> {
        let mut found = Err(io::ErrorKind::NotFound.into());
        for directory in ["", "/usr/sbin/", "/sbin/"] {
            found = Command::new(format!("{directory}{tool}")).args(arguments.split(' ')).output();
            if !matches!(&found, Err(error) if error.kind() == io::ErrorKind::NotFound) {
                break;
            }
        }
        let output = found.map_err(|error| refused(&format!("{tool} of iproute2 can't be run")).because(error))?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
                Err(refused(&format!("`{tool} {arguments}` failed: {said}")))
            }
        }
    }

    fn refused(what: &str) -> Error {
        Error::new(ErrorKind::Machine, format!("no network can be simulated: {what}"))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::net::Ipv4Addr;

    use super::Network;
    use crate::{Error, ErrorKind};

    pub(super) fn enter() -> Result<(), Error> {
        Err(Error::new(ErrorKind::Machine, "no network can be simulated: only Linux has network namespaces"))
    }

    pub(super) fn serve(_: &Network) -> Result<(), Error> {
        enter()
    }

    pub(super) fn take_up(_: &Network, _: Ipv4Addr) -> Result<(), Error> {
        enter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_tc_writes_them() {
        let told = |text: &str| {
            let network = text.parse::<Network>().ok()?;
            assert_eq!(network.rate().parse::<Network>().unwrap(), network);
            Some(network.to_string())
        };
        assert_eq!(told("100Mbit").as_deref(), Some("100 Mbit/s"));
        assert_eq!(told("2.5Gbit").as_deref(), Some("2500 Mbit/s"));
        for wrong in ["100", "Mbit", "100Mbyte", "-1Mbit", "1e3Mbit", "0.5Mbit", "11Gbit", "NaNMbit", ""] {
            assert_eq!(told(wrong), None, "{wrong:?}");
        }
    }
}
