//! The schedule of a bench: its suites in turn, its planned time, and its text for `--dry-run`.

use std::fmt::Write;
use std::time::Duration;

use castile_load::Load;
use castile_report::{Client, Method};

use super::adjust::{client_of, method_of};
use super::participants::Participants;

/// Returns a line for each load and each target that is warmed up, and the total planned time.
pub(super) fn text(loads: &[Load], participants: &Participants) -> String {
    let mut text = String::new();
    let mut total = Duration::ZERO;
    for loads in suites_of(loads) {
        for (peer, least) in participants.warmed(loads) {
            // Writing to a `String` can't fail.
            let _ = writeln!(text, "{} {}: warm-up of at least {}", loads[0].case.suite, peer.name, time(least));
        }
        total += warming(loads, participants);
        for load in loads {
            let targets = participants.names(load);
            if targets.is_empty() {
                continue;
            }
            let each = load.planned();
            total += each * targets.len() as u32;
            let _ = writeln!(
                text,
                "{} {}, {}: {}; {} against {}",
                load.case.suite,
                case(load),
                users(load),
                runs(load),
                time(each),
                targets.join(" and "),
            );
        }
    }
    let peers: Vec<&str> = participants.peers.iter().map(|peer| &*peer.name).collect();
    let beside = match peers.len() {
        0 => String::new(),
        1 => format!(" with 1 peer ({})", peers[0]),
        many => format!(" with {many} peers ({})", peers.join(", ")),
    };
    let _ = writeln!(text, "total: {}{beside}, plus the runs that end with their last request", time(total));
    text
}

/// Returns the name of a load's case, its style and its client.
pub(super) fn case(load: &Load) -> String {
    let style = load.case.style.iter().map(|style| format!(" {style}")).collect::<String>();
    let client = match client_of(load) {
        Client::Raw => "raw",
        Client::Typed => "typed",
        Client::Ab => "ab",
    };
    format!("{}{style}, {client}", load.case.name)
}

/// Groups the loads by suite. Loads of a suite are adjacent.
pub(super) fn suites_of(loads: &[Load]) -> impl Iterator<Item = &[Load]> {
    loads.chunk_by(|one, other| one.case.suite == other.case.suite)
}

/// Returns the minimum time to warm up targets for the loads of a suite.
pub(super) fn warming(loads: &[Load], participants: &Participants) -> Duration {
    participants.warmed(loads).map(|(_, least)| least).sum()
}

fn users(load: &Load) -> String {
    let plan = &load.plan;
    let keep_alive = if plan.keep_alive { "kept alive" } else { "one request each" };
    let count = |number: usize, name: &str| format!("{number} {name}{}", if number == 1 { "" } else { "s" });
    let connections = match method_of(load) {
        Method::Closed => count(plan.connections, "connection"),
        Method::Sequence => count(plan.connections, "client"),
        Method::Open => format!("at most {}", count(plan.connections, "connection")),
        Method::Users | Method::Ramp => match &load.search {
            Some(search) => format!("{} to {} users", search.first, search.max),
            None => format!("up to {}", count(plan.connections, "user")),
        },
    };
    let period = plan.pace.period();
    let pace = match method_of(load) {
        Method::Users => format!(", thinking {}", time(period)),
        Method::Ramp => format!(", one request every {} each", time(period)),
        Method::Closed | Method::Open | Method::Sequence => String::new(),
    };
    format!("{connections}{pace}, {keep_alive}")
}

fn runs(load: &Load) -> String {
    let plan = &load.plan;
    let window = match (plan.stop.after, plan.stop.requests) {
        (Some(after), _) => time(after),
        (None, Some(1)) => "1 request".to_owned(),
        (None, Some(requests)) => format!("{requests} requests"),
        (None, None) => "without limit".to_owned(),
    };
    let run = if plan.warmup.is_zero() { window } else { format!("({} + {window})", time(plan.warmup)) };
    let slices = load.slices().map(|each| format!(" in slices of {}", time(each))).unwrap_or_default();
    match (&load.search, load.discard) {
        (Some(search), _) => {
            format!(
                "steps of {run}, each {:.2} times the previous load, at most {} steps",
                search.growth,
                search.steps()
            )
        }
        (None, 0) => format!("{} × {run}{slices}", load.runs),
        (None, discard) => format!("{} × {run}{slices}, first {discard} discarded", load.runs),
    }
}

/// Formats a duration in milliseconds, the precision of schedules.
pub(crate) fn time(time: Duration) -> String {
    humantime::format_duration(Duration::from_millis(time.as_millis() as u64)).to_string()
}
