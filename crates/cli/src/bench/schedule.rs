//! The schedule of a bench in words: what `--dry-run` shows.

use std::fmt::Write;
use std::time::Duration;

use castile_load::report::{Client, Method};
use castile_load::{Against, Load, Network};

use super::adjust::{client_of, method_of};

/// A line for each load, and how long all take together, as far as that is planned.
pub(crate) fn text(loads: &[Load], with_floor: bool, network: Option<Network>) -> String {
    let mut text = String::new();
    let mut total = Duration::ZERO;
    for load in loads {
        let Some(targets) = targets(load, with_floor, network) else { continue };
        let case = &load.case;
        let style = case.style.iter().map(|style| format!(" {style}")).collect::<String>();
        let client = match client_of(load) {
            Client::Raw => "raw",
            Client::Typed => "typed",
            Client::Ab => "ab",
        };
        let each = load.planned();
        total += each * targets.len() as u32;
        let targets = targets.join(" and ");
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "{} {}{style}, {client}, {}: {}; {} against {targets}",
            case.suite,
            case.name,
            users(load),
            runs(load),
            time(each),
        );
    }
    let _ = writeln!(text, "{} in all, and what ends with its last request", time(total));
    text
}

/// `None` where there is none.
fn targets(load: &Load, with_floor: bool, network: Option<Network>) -> Option<Vec<String>> {
    let across = network.map(|network| format!("castile across {network}"));
    let servers = || std::iter::once("castile".to_owned()).chain(across.clone());
    let floor = || std::iter::once("floor".to_owned());
    match (load.against, with_floor && load.case.count() == 1) {
        (Against::Floor, false) => None,
        (Against::Floor, true) => Some(floor().collect()),
        (Against::Servers, _) | (Against::All, false) => Some(servers().collect()),
        (Against::All, true) => Some(servers().chain(floor()).collect()),
    }
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
            Some(search) => format!("{} to {} users", search.first, search.most),
            None => format!("up to {}", count(plan.connections, "user")),
        },
    };
    let period = plan.pace.period();
    let pace = match method_of(load) {
        Method::Users => format!(", thinking {}", time(period)),
        Method::Ramp => format!(", each every {}", time(period)),
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
        (None, None) => "without end".to_owned(),
    };
    let run = if plan.warmup.is_zero() { window } else { format!("({} + {window})", time(plan.warmup)) };
    match (&load.search, load.discard) {
        (Some(search), _) => {
            format!("steps of {run}, each {:.2} times the last, at most {}", search.growth, search.steps())
        }
        (None, 0) => format!("{} × {run}", load.runs),
        (None, discard) => format!("{} × {run}, first {discard} discarded", load.runs),
    }
}

/// A length of time, no finer than a schedule is meant.
pub(crate) fn time(time: Duration) -> String {
    humantime::format_duration(Duration::from_millis(time.as_millis() as u64)).to_string()
}
