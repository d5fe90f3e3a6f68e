//! Changes as text, grouped by service and operation, and as JSON.

use std::collections::HashMap;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use castile_xml::visible;
use serde::Serialize;

use super::change::{Change, Changes};
use crate::problems::{ERROR, counted};

const HEAD: Style = Style::new().bold();
const PATH: Style = AnsiColor::Cyan.on_default();
const FINE: Style = AnsiColor::Green.on_default().bold();
const DIM: Style = Style::new().dimmed();

/// The changes for people. `names` are those of the contracts.
pub(super) fn text(changes: &Changes, names: &(String, String)) -> String {
    let mut out = String::new();
    let (old, new) = (visible(&names.0), visible(&names.1));
    let count = changes.list.len();
    let how_many = if count == 0 { "no change".to_owned() } else { counted(count, "change") };
    // Writing to a string can't fail.
    let _ = writeln!(out, "{HEAD}{old} → {new}{HEAD:#}: {how_many}");
    let mut groups: Vec<&str> = Vec::new();
    let mut by_group: HashMap<&str, Vec<&Change>> = HashMap::new();
    for change in &changes.list {
        let group = by_group.entry(&change.group).or_default();
        if group.is_empty() {
            groups.push(&change.group);
        }
        group.push(change);
    }
    for group in groups {
        let _ = writeln!(out, "\n{HEAD}{}{HEAD:#}", visible(group));
        for change in &by_group[group] {
            one(change, &mut out);
        }
    }
    let (old_clients, new_clients) = changes.broken();
    out.push('\n');
    for (who, broken) in [("old clients on a new server", old_clients), ("new clients on an old server", new_clients)] {
        let _ = match broken {
            0 => writeln!(out, "{who}: {FINE}nothing breaks{FINE:#}"),
            _ => writeln!(out, "{who}: {ERROR}break{ERROR:#}, by {}", counted(broken, "change")),
        };
    }
    out
}

fn one(change: &Change, out: &mut String) {
    let message = change.message.map(|message| format!("{DIM} in the {message}{DIM:#}")).unwrap_or_default();
    let _ = writeln!(out, "  {}", change.kind);
    let _ = writeln!(out, "    {PATH}{}{PATH:#}{message}", visible(&change.path));
    let _ = writeln!(out, "    was {}, is {}", visible(&change.was), visible(&change.is));
    if change.also > 0 {
        let _ = writeln!(out, "    {DIM}and so in {}{DIM:#}", counted(change.also, "other place"));
    }
    let breaks = &change.breaks;
    for (who, broken) in [("old clients", &breaks.old_clients), ("new clients", &breaks.new_clients)] {
        if let Some(broken) = broken {
            let _ = writeln!(out, "    {ERROR}breaks {who}{ERROR:#}: {}", visible(&broken.why));
        }
    }
    if !breaks.somebody() {
        let _ = writeln!(out, "    {DIM}breaks nobody{DIM:#}");
    }
}

/// The form of the JSON.
const FORMAT: u32 = 1;

#[derive(Serialize)]
pub(super) struct Report<'c> {
    format: u32,
    old: &'c str,
    new: &'c str,
    /// How many changes break them.
    breaks_old_clients: usize,
    breaks_new_clients: usize,
    changes: Vec<One<'c>>,
}

#[derive(Serialize)]
struct One<'c> {
    kind: &'c str,
    group: &'c str,
    path: &'c str,
    message: Option<&'c str>,
    was: &'c str,
    is: &'c str,
    also: usize,
    old_clients: Option<&'c str>,
    new_clients: Option<&'c str>,
}

/// The changes for machines.
pub(super) fn report<'c>(changes: &'c Changes, names: &'c (String, String)) -> Report<'c> {
    let (breaks_old_clients, breaks_new_clients) = changes.broken();
    let one = |change: &'c Change| One {
        kind: change.kind,
        group: &change.group,
        path: &change.path,
        message: change.message,
        was: &change.was,
        is: &change.is,
        also: change.also,
        old_clients: change.breaks.old_clients.as_ref().map(|broken| &*broken.why),
        new_clients: change.breaks.new_clients.as_ref().map(|broken| &*broken.why),
    };
    Report {
        format: FORMAT,
        old: &names.0,
        new: &names.1,
        breaks_old_clients,
        breaks_new_clients,
        changes: changes.list.iter().map(one).collect(),
    }
}
