//! Is a message in time?

use std::time::{Duration, SystemTime};

use castile::datatypes::DateTime;
use castile_wss::message::Policy;
use castile_wss::{ExplainedAssertion, ExplainedConfirmation};
use serde::Serialize;

/// Whether something is in time, as a policy with the usual limits sees it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Verdict {
    pub(super) in_time: bool,
    pub(super) verdict: String,
}

/// Judges the times that a message states.
pub(super) fn of_message(created: Option<DateTime>, expires: Option<DateTime>, now: SystemTime) -> Verdict {
    let wrong = |verdict: String| Verdict { in_time: false, verdict };
    if let Some(ago) = expires.and_then(|expires| since(expires, now)).filter(|ago| !ago.is_zero()) {
        return wrong(format!("it expired {} ago", shown(ago)));
    }
    let Some(created) = created else { return wrong("it doesn't say when it was made".to_owned()) };
    match (since(created, now), until(created, now)) {
        (Some(age), _) if age > Policy::DEFAULT_MAX_AGE => wrong(format!(
            "it was made {} ago, where {} s are the usual limit",
            shown(age),
            Policy::DEFAULT_MAX_AGE.as_secs()
        )),
        (_, Some(ahead)) if ahead > Policy::DEFAULT_CLOCK_SKEW => {
            let (ahead, skew) = (shown(ahead), Policy::DEFAULT_CLOCK_SKEW.as_secs());
            wrong(format!("it was made {ahead} in the future, where {skew} s are the usual limit: the clocks differ"))
        }
        (_, Some(ahead)) if ahead.as_secs() > 0 => {
            let verdict = format!("it was made {} in the future, as the clocks may differ", shown(ahead));
            Verdict { in_time: true, verdict }
        }
        (Some(_), _) | (_, Some(_)) => Verdict { in_time: true, verdict: "in time".to_owned() },
        (None, None) => wrong("its time is none that this machine knows".to_owned()),
    }
}

/// Judges when an assertion is valid, and its confirmations, of which one is enough.
pub(super) fn of_assertion(explained: &ExplainedAssertion, now: SystemTime) -> Verdict {
    let ExplainedAssertion { assertion, confirmations, .. } = explained;
    let wrong = |verdict: String| Verdict { in_time: false, verdict };
    if let Some(ahead) = until(assertion.issued, now).filter(|ahead| *ahead > Policy::DEFAULT_CLOCK_SKEW) {
        return wrong(format!("it was issued {} in the future: the clocks differ", shown(ahead)));
    }
    if let Some(problem) = outside(assertion.not_before, assertion.not_on_or_after, now) {
        return wrong(problem);
    }
    let problem = |one: &ExplainedConfirmation| {
        let ends = assertion.not_on_or_after.or(one.not_on_or_after);
        let endless = ends.is_none().then(|| "without end, which is refused".to_owned());
        outside(one.not_before, one.not_on_or_after, now).or(endless)
    };
    let problems: Option<Vec<String>> = confirmations.iter().map(problem).collect();
    match problems.as_deref() {
        Some([]) if assertion.not_on_or_after.is_none() => wrong("it has no end, which is refused".to_owned()),
        Some([first, ..]) => wrong(format!("the confirmation of its subject is {first}")),
        Some([]) | None => Verdict { in_time: true, verdict: "valid now".to_owned() },
    }
}

/// Returns why it is too early or too late for something.
fn outside(begins: Option<DateTime>, ends: Option<DateTime>, now: SystemTime) -> Option<String> {
    let ahead = begins.and_then(|begins| until(begins, now)).filter(|ahead| *ahead > Policy::DEFAULT_CLOCK_SKEW);
    let ago = ends.and_then(|ends| since(ends, now)).filter(|ago| *ago >= Policy::DEFAULT_CLOCK_SKEW);
    let expired = ago.map(|ago| format!("expired {} ago", shown(ago)));
    expired.or_else(|| ahead.map(|ahead| format!("not valid yet, but in {}", shown(ahead))))
}

/// Returns how long a moment is over.
fn since(moment: DateTime, now: SystemTime) -> Option<Duration> {
    now.duration_since(SystemTime::try_from(moment).ok()?).ok()
}

/// Returns how long it is to a moment.
fn until(moment: DateTime, now: SystemTime) -> Option<Duration> {
    SystemTime::try_from(moment).ok()?.duration_since(now).ok()
}

/// Formats the largest two units, such as `2h 5m`, or days.
fn shown(time: Duration) -> String {
    const DAY: u64 = 86_400;
    if time.as_secs() >= 2 * DAY {
        return format!("{} days", time.as_secs() / DAY);
    }
    let text = humantime::format_duration(Duration::from_secs(time.as_secs())).to_string();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_in_time_or_not() {
        let now = humantime::parse_rfc3339("2026-11-30T01:00:00Z").unwrap();
        let moment = |offset: i64| {
            let time = Duration::from_secs(offset.unsigned_abs());
            DateTime::from(if offset < 0 { now - time } else { now + time })
        };
        for (created, expires, expected) in [
            (Some(-10), Some(290), Ok("in time")),
            (Some(0), None, Ok("in time")),
            (Some(30), None, Ok("it was made 30s in the future, as the clocks may differ")),
            (
                Some(7_265),
                None,
                Err("it was made 2h 1m in the future, where 60 s are the usual limit: the clocks differ"),
            ),
            (Some(-301), Some(10), Err("it was made 5m 1s ago, where 300 s are the usual limit")),
            (Some(-301), Some(-1), Err("it expired 1s ago")),
            // It was once "2years 11h".
            (Some(-63_154_801), Some(-63_154_800), Err("it expired 730 days ago")),
            (None, Some(10), Err("it doesn't say when it was made")),
        ] {
            let found = of_message(created.map(moment), expires.map(moment), now);
            let found = if found.in_time { Ok(found.verdict) } else { Err(found.verdict) };
            assert_eq!(found.as_deref().map_err(|verdict| verdict.as_str()), expected);
        }
    }
}
