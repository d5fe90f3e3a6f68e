//! Parsers for numbers, times, rates and addresses on the command line. Errors say what was expected; clap adds what was found.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

/// Parses a whole number from 0.
pub(crate) fn whole<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| match text.parse::<u128>() {
        Ok(_) => "the number is too large".to_owned(),
        Err(_) => "expected a whole number".to_owned(),
    })
}

/// Parses a whole number from 1.
pub(crate) fn count<N: FromStr>(text: &str) -> Result<N, String> {
    match text.parse::<u128>() {
        Ok(0) | Err(_) => Err("expected a whole number above 0".to_owned()),
        Ok(_) => whole(text),
    }
}

/// Parses a number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}

/// Parses a final HTTP status.
pub(crate) fn status(text: &str) -> Result<u16, String> {
    let status = text.parse().ok().filter(|status| (200..600).contains(status));
    status.ok_or_else(|| "expected a status from 200 to 599".to_owned())
}

/// The maximum time of any command.
const MAX_DAYS: u64 = 365;

/// Parses a time; a bare number is seconds.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    match any_time(text)? {
        time if time > Duration::from_secs(MAX_DAYS * 24 * 3_600) => Err(format!("expected at most {MAX_DAYS} days")),
        time => Ok(time),
    }
}

fn any_time(text: &str) -> Result<Duration, String> {
    const EXPECTED: &str = "expected a time such as 500ms, 10s, 2min or 1h; a bare number is seconds";
    let time = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    time.ok_or_else(|| EXPECTED.to_owned())
}

/// Parses a time above 0.
pub(crate) fn positive_time(text: &str) -> Result<Duration, String> {
    match time(text)? {
        Duration::ZERO => Err("expected a time above 0".to_owned()),
        time => Ok(time),
    }
}

/// How far another clock is ahead of ours, or behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offset {
    time: Duration,
    is_behind: bool,
}

impl Offset {
    /// Returns the time of the other clock when ours has this time.
    pub(crate) fn of(self, ours: SystemTime) -> SystemTime {
        let there = match self.is_behind {
            true => ours.checked_sub(self.time),
            false => ours.checked_add(self.time),
        };
        there.unwrap_or(ours)
    }
}

/// Parses an offset such as `90s`, or `-2h` for a clock that is behind. It may be decades: a clock without power begins anew.
pub(crate) fn offset(text: &str) -> Result<Offset, String> {
    let (text, is_behind) = match text.strip_prefix('-') {
        Some(text) => (text, true),
        None => (text, false),
    };
    Ok(Offset { time: any_time(text)?, is_behind })
}

/// Parses a rate above 0, and converts it to a rate per second. A bare number is per second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    rate_from_zero(text).and_then(|rate| if rate > 0.0 { Ok(rate) } else { Err("expected a rate above 0".to_owned()) })
}

/// Parses a rate that may be 0, and converts it to a rate per second.
pub(crate) fn rate_from_zero(text: &str) -> Result<f64, String> {
    let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
    let seconds = match unit.trim() {
        "s" | "sec" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let rate = seconds.and_then(|seconds| Some(number.trim().parse::<f64>().ok()? / seconds));
    rate.filter(|rate| rate.is_finite() && *rate >= 0.0)
        .ok_or_else(|| "expected a rate such as 50, 50/s, 600/min or 100/h; a bare number is per second".to_owned())
}

/// The addresses to listen on, in the order in which they are tried. A host name may have several addresses.
#[derive(Clone, Debug)]
pub(crate) struct Listen {
    text: String,
    pub(crate) addresses: Vec<SocketAddr>,
}

impl std::fmt::Display for Listen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Parses `HOST:PORT`.
pub(crate) fn listen(text: &str) -> Result<Listen, String> {
    const EXPECTED: &str = "expected HOST:PORT, such as 127.0.0.1:8080, localhost:8080 or [::]:8080";
    let (host, port) = text.rsplit_once(':').ok_or(EXPECTED)?;
    port.parse::<u16>().map_err(|_| format!("found the port {port:?}, {EXPECTED}"))?;
    if host.is_empty() || host.contains(':') && !host.starts_with('[') {
        return Err(EXPECTED.to_owned());
    }
    let found = text.to_socket_addrs().map_err(|_| format!("the host {host:?} has no address"))?;
    Ok(Listen { text: text.to_owned(), addresses: found.collect() })
}

/// Parses an IP address.
pub(crate) fn ip_address(text: &str) -> Result<IpAddr, String> {
    text.parse().map_err(|_| "expected an IP address such as 127.0.0.2 or ::1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_clock_is_ahead_or_behind() {
        assert_eq!(offset("90s"), Ok(Offset { time: Duration::from_secs(90), is_behind: false }));
        assert_eq!(offset("-2h"), Ok(Offset { time: Duration::from_secs(7_200), is_behind: true }));
        assert!(offset("-26years").is_ok());
        assert!(offset("--2h").is_err());
        let now = SystemTime::now();
        assert_eq!(offset("1h").unwrap().of(now), now + Duration::from_secs(3_600));
        assert_eq!(offset("-1h").unwrap().of(now), now - Duration::from_secs(3_600));
    }

    #[test]
    fn times_are_seconds_or_have_a_unit() {
        for (text, milliseconds) in [("2", 2_000), ("0.5", 500), ("250ms", 250), ("1m", 60_000), ("1h 1s", 3_601_000)] {
            assert_eq!(time(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for wrong in ["-1", "soon", "", "1x", "nan", "1e300"] {
            assert!(time(wrong).unwrap_err().starts_with("expected a time such as"), "{wrong}");
        }
        assert_eq!(time("365d"), Ok(Duration::from_secs(365 * 24 * 3_600)));
        assert_eq!(time("99999999999h"), Err("expected at most 365 days".to_owned()));
        assert_eq!((time("0"), positive_time("0s")), (Ok(Duration::ZERO), Err("expected a time above 0".to_owned())));
    }

    #[test]
    fn rates_are_in_a_second_or_have_a_unit() {
        for (text, expected) in [("50", 50.0), ("0.5/s", 0.5), ("600/min", 10.0), ("7200 / h", 2.0)] {
            assert_eq!(rate(text), Ok(expected), "{text}");
        }
        for wrong in ["x", "", "5/day", "-1", "inf", "nan", "1e308/x", "/s"] {
            assert!(rate(wrong).unwrap_err().starts_with("expected a rate such as"), "{wrong}");
        }
        assert_eq!((rate("0").is_err(), rate_from_zero("0/min")), (true, Ok(0.0)));
    }

    #[test]
    fn numbers_are_whole_and_fit() {
        assert_eq!((count("7"), whole("0")), (Ok(7u16), Ok(0u16)));
        for wrong in ["0", "-1", "x", "", "1.5"] {
            assert_eq!(count::<u16>(wrong), Err("expected a whole number above 0".to_owned()), "{wrong}");
        }
        assert_eq!(count::<u16>("65536"), Err("the number is too large".to_owned()));
    }

    #[test]
    fn a_status_is_one_that_an_answer_can_end_with() {
        assert_eq!((status("200"), status("599")), (Ok(200), Ok(599)));
        for wrong in ["100", "600", "999", "0", "-1", "OK", "20"] {
            assert_eq!(status(wrong), Err("expected a status from 200 to 599".to_owned()), "{wrong}");
        }
    }

    #[test]
    fn a_place_to_listen_has_a_host_and_a_port() {
        assert_eq!(listen("127.0.0.1:0").unwrap().addresses, ["127.0.0.1:0".parse().unwrap()]);
        assert_eq!(listen("[::1]:80").unwrap().addresses, ["[::1]:80".parse().unwrap()]);
        assert!(listen("localhost:8080").unwrap().addresses.iter().all(|address| address.ip().is_loopback()));
        for (wrong, expected) in [
            ("localhost", "expected HOST:PORT"),
            (":80", "expected HOST:PORT"),
            ("::1:80", "expected HOST:PORT"),
            ("localhost:x", "found the port \"x\", expected HOST:PORT"),
            ("localhost:65536", "found the port \"65536\""),
        ] {
            assert!(listen(wrong).unwrap_err().starts_with(expected), "{wrong}");
        }
    }
}
