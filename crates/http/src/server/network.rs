//! IP networks of proxies.

use std::net::IpAddr;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// IP addresses and networks.
#[derive(Clone, Debug)]
pub(super) struct Networks(Vec<Network>);

impl Networks {
    /// # Errors
    /// [`ErrorKind::Request`] names the text that isn't an address or network.
    pub(super) fn read<P: AsRef<str>>(texts: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        let read = |text: P| {
            let text = text.as_ref();
            Network::read(text).ok_or_else(|| {
                let message = format!("found {text:?}, expected an address or a network such as 10.0.0.0/24");
                Error::new(ErrorKind::Request, message)
            })
        };
        texts.into_iter().map(read).collect::<Result<_, _>>().map(Networks)
    }

    pub(super) fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// Parses a number of digits only. `parse` would accept a sign as well.
pub(super) fn number<T: FromStr>(digits: &str) -> Option<T> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// The addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    fn read(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(number(bits)?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits: u32 = bits.unwrap_or(most);
        // In an IPv4 address written as IPv6, the first 96 bits are fixed.
        let (canonical, ahead) = match address.to_canonical() {
            IpAddr::V4(canonical) if address.is_ipv6() => (canonical.into(), 96),
            canonical => (canonical, 0),
        };
        let bits = bits.checked_sub(ahead).filter(|_| bits <= most)?;
        Some(Network { address: canonical, bits })
    }

    fn contains(self, address: IpAddr) -> bool {
        // A dual-stack socket reports IPv4 addresses as IPv6.
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let differs = u32::from(network) ^ u32::from(address);
                differs.checked_shr(32 - self.bits).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let differs = u128::from(network) ^ u128::from(address);
                differs.checked_shr(128 - self.bits).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_have_bits() {
        for (network, address, expected) in [
            ("10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false),
            ("10.0.0.0/24", "10.0.0.255", true),
            ("10.0.0.0/24", "10.0.1.0", false),
            ("10.0.0.0/24", "::ffff:10.0.0.9", true),
            ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "::1", false),
            ("2001:db8::/32", "2001:db8:1::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::/0", "::1", true),
            ("::ffff:10.0.0.0/104", "10.255.0.1", true),
            ("::ffff:10.0.0.0/104", "::ffff:10.255.0.1", true),
            ("::ffff:10.0.0.0/104", "11.0.0.1", false),
            ("::ffff:10.0.0.1", "10.0.0.1", true),
            ("::ffff:10.0.0.1", "10.0.0.2", false),
            ("::ffff:0.0.0.0/96", "192.0.2.1", true),
        ] {
            let network = Network::read(network).unwrap();
            assert_eq!(network.contains(address.parse().unwrap()), expected, "{network:?} {address}");
        }
        for text in [
            "",
            "10.0.0.0/33",
            "10.0.0/8",
            "::/129",
            "::ffff:10.0.0.0/95",
            "::ffff:10.0.0.0/129",
            "10.0.0.0/-1",
            "10.0.0.0/+8",
            "10.0.0.0/",
            "host",
        ] {
            assert_eq!(Network::read(text), None, "{text}");
        }
    }
}
