//! Changes as JSON.

use castile_diff::{Change, Changes};
use serde::Serialize;

/// The version of the JSON form.
const FORMAT: u32 = 1;

#[derive(Serialize)]
pub(super) struct Report<'c> {
    format: u32,
    old: &'c str,
    new: &'c str,
    /// How many changes break old clients, and how many break new clients.
    breaks_old_clients: usize,
    breaks_new_clients: usize,
    changes: Vec<ReportChange<'c>>,
}

#[derive(Serialize)]
struct ReportChange<'c> {
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

/// Returns the changes for JSON output.
pub(super) fn report<'c>(changes: &'c Changes, names: &'c (String, String)) -> Report<'c> {
    let (breaks_old_clients, breaks_new_clients) = changes.broken();
    let one = |change: &'c Change| ReportChange {
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
