//! When a message without an answer is sent again.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, StatusCode, header};

use crate::error::{Error, ErrorKind};

/// Whether a message without an answer is sent again. A streamed message never is.
///
/// By default nothing is retried. With [`attempts`](Self::attempts) set, a call is retried if no connection was made. A
/// call marked `repeatable` is also retried after a broken exchange and after 429, 502, 503 or 504. The client then
/// waits for the time in `Retry-After`, if that ends before the request timeout. All attempts share this timeout.
/// Redirects and logins don't count as retries.
///
/// ```
/// use std::time::Duration;
/// use castile_http::client::Options;
///
/// let mut options = Options::default();
/// options.retries.attempts = 3;
/// options.retries.max_backoff = Duration::from_secs(2);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Retries {
    /// The most further attempts. 0 by default: no retries.
    pub attempts: u32,
    /// The longest wait before the first retry; it doubles with each further one. The actual wait is random and not
    /// longer, so clients that failed together don't return at the same moment. 100 ms by default.
    pub backoff: Duration,
    /// The upper limit of the doubled wait. It doesn't limit a `Retry-After` of the server. 5 s by default.
    pub max_backoff: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Retries { attempts: 0, backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(5) }
    }
}

/// An extension of requests that the server may act on twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeatable;

impl Retries {
    /// Returns how long to wait before a failed message is sent again; `None` if it isn't. `attempt` is the number of
    /// this retry, from 1.
    pub(super) fn after_failure(&self, attempt: u32, error: &Error, is_repeatable: bool) -> Option<Duration> {
        let was_not_seen = error.kind() == ErrorKind::Connect && !error.repeats_itself();
        let is_worth_it = was_not_seen || (is_repeatable && error.kind() == ErrorKind::Exchange);
        (is_worth_it && attempt <= self.attempts).then(|| self.wait(attempt))
    }

    /// Returns how long to wait before a message with this answer is sent again; `None` if it isn't.
    pub(super) fn after_answer(
        &self,
        attempt: u32,
        status: StatusCode,
        headers: &HeaderMap,
        is_repeatable: bool,
    ) -> Option<Duration> {
        let passes = [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::GATEWAY_TIMEOUT,
        ];
        let is_worth_it = is_repeatable && attempt <= self.attempts && passes.contains(&status);
        is_worth_it.then(|| retry_after(headers, SystemTime::now()).unwrap_or_else(|| self.wait(attempt)))
    }

    fn wait(&self, attempt: u32) -> Duration {
        let factor = 1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let longest = self.backoff.saturating_mul(factor).min(self.max_backoff);
        longest.mul_f64(fastrand::f64())
    }
}

/// Returns how long a server asks to wait (RFC 9110 §10.2.3).
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit_and_are_drawn_by_lot() {
        let retries = Retries { attempts: 100, ..Retries::default() };
        for (attempt, longest) in [(1, 100), (2, 200), (3, 400), (7, 5_000), (60, 5_000)] {
            let waits: Vec<_> = (0..200).map(|_| retries.wait(attempt).as_millis()).collect();
            assert!(waits.iter().all(|&wait| wait <= longest), "{attempt}: {waits:?}");
            assert!(waits.iter().any(|&wait| wait > longest / 2), "{attempt}: {waits:?}");
            assert!(waits.iter().any(|&wait| wait < longest / 2), "{attempt}: {waits:?}");
        }
    }

    #[test]
    fn a_server_may_set_the_delay() {
        let asked = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, value.parse().unwrap());
            retry_after(&headers, httpdate::parse_http_date("Fri, 31 Dec 1999 23:59:00 GMT").unwrap())
        };
        assert_eq!(asked("120"), Some(Duration::from_secs(120)));
        assert_eq!(asked("Fri, 31 Dec 1999 23:59:59 GMT"), Some(Duration::from_secs(59)));
        assert_eq!(asked("Fri, 31 Dec 1999 23:58:59 GMT"), Some(Duration::ZERO));
        assert_eq!(asked("soon"), None);
        assert_eq!(asked("-1"), None);
    }

    #[test]
    fn requests_that_the_server_may_have_seen_are_repeated_only_if_allowed() {
        let retries = Retries { attempts: 2, ..Retries::default() };
        let again = |kind, is_repeatable| retries.after_failure(1, &Error::new(kind, "x"), is_repeatable).is_some();
        assert!(again(ErrorKind::Connect, false));
        assert!(!again(ErrorKind::Exchange, false));
        assert!(again(ErrorKind::Exchange, true));
        for kind in [ErrorKind::Timeout, ErrorKind::Request, ErrorKind::Credentials, ErrorKind::Tls] {
            assert!(!again(kind, true), "{kind:?}");
        }
        let connect = Error::new(ErrorKind::Connect, "x");
        assert!(retries.after_failure(2, &connect, false).is_some());
        assert!(retries.after_failure(3, &connect, false).is_none());
        let answered =
            |status, is_repeatable| retries.after_answer(1, status, &HeaderMap::new(), is_repeatable).is_some();
        assert!(answered(StatusCode::SERVICE_UNAVAILABLE, true));
        assert!(!answered(StatusCode::SERVICE_UNAVAILABLE, false));
        assert!(!answered(StatusCode::INTERNAL_SERVER_ERROR, true));
    }

    #[test]
    fn changed_waits_are_read() {
        let seeds: [&[u8]; 5] = [
            b"120",
            b"Fri, 31 Dec 1999 23:59:59 GMT",
            b"Friday, 31-Dec-99 23:59:59 GMT",
            b"Fri Dec 31 23:59:59 1999",
            b"18446744073709551615",
        ];
        let retries = Retries { attempts: 2, ..Retries::default() };
        crate::mutations::check_mutations(&seeds, |text, _| {
            let Ok(value) = http::HeaderValue::from_bytes(text) else { return };
            let mut headers = HeaderMap::new();
            headers.insert(header::RETRY_AFTER, value);
            let wait = retries.after_answer(1, StatusCode::SERVICE_UNAVAILABLE, &headers, true);
            // Whatever the wait is, the clock can represent its end.
            crate::timeout::after(wait.unwrap());
        });
    }
}
