//! Changes as text, grouped by service and operation.

use std::collections::HashMap;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use castile_xml::visible;

use crate::change::{Change, Changes};

/// The styles for parts of the text.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Styles {
    /// The names of contracts, services and operations.
    pub head: Style,
    /// The path of a change.
    pub path: Style,
    /// A change that breaks nobody.
    pub fine: Style,
    /// A change that breaks clients.
    pub broken: Style,
    /// Less important text.
    pub dim: Style,
}

impl Styles {
    /// Returns styles with terminal colors. The default styles have none.
    pub fn colored() -> Self {
        Styles {
            head: Style::new().bold(),
            path: AnsiColor::Cyan.on_default(),
            fine: AnsiColor::Green.on_default().bold(),
            broken: AnsiColor::Red.on_default().bold(),
            dim: Style::new().dimmed(),
        }
    }
}

impl Changes {
    /// Formats the changes as text, grouped by service and operation. `names` are the names of the old and of the new
    /// contract.
    pub fn text(&self, names: (&str, &str), styles: &Styles) -> String {
        let mut out = String::new();
        let (old, new) = (visible(names.0), visible(names.1));
        let Styles { head, fine, broken: error, .. } = styles;
        let count = self.list.len();
        let how_many = if count == 0 { "no change".to_owned() } else { counted(count, "change") };
        // Writing to a string can't fail.
        let _ = writeln!(out, "{head}{old} → {new}{head:#}: {how_many}");
        let mut groups: Vec<&str> = Vec::new();
        let mut by_group: HashMap<&str, Vec<&Change>> = HashMap::new();
        for change in &self.list {
            let group = by_group.entry(&change.group).or_default();
            if group.is_empty() {
                groups.push(&change.group);
            }
            group.push(change);
        }
        for group in groups {
            let _ = writeln!(out, "\n{head}{}{head:#}", visible(group));
            for change in &by_group[group] {
                one(change, &mut out, styles);
            }
        }
        let (old_clients, new_clients) = self.broken();
        out.push('\n');
        for (who, broken) in
            [("old clients on a new server", old_clients), ("new clients on an old server", new_clients)]
        {
            let _ = match broken {
                0 => writeln!(out, "{who}: {fine}nothing breaks{fine:#}"),
                _ => writeln!(out, "{who}: {error}break{error:#}, by {}", counted(broken, "change")),
            };
        }
        out
    }
}

fn one(change: &Change, out: &mut String, styles: &Styles) {
    let Styles { path, dim, broken: error, .. } = styles;
    let message = change.message.map(|message| format!("{dim} in the {message}{dim:#}")).unwrap_or_default();
    let _ = writeln!(out, "  {}", change.kind);
    let _ = writeln!(out, "    {path}{}{path:#}{message}", visible(&change.path));
    let _ = writeln!(out, "    was {}, is {}", visible(&change.was), visible(&change.is));
    if change.also > 0 {
        let _ = writeln!(out, "    {dim}and so in {}{dim:#}", counted(change.also, "other place"));
    }
    let breaks = &change.breaks;
    for (who, broken) in [("old clients", &breaks.old_clients), ("new clients", &breaks.new_clients)] {
        if let Some(broken) = broken {
            let _ = writeln!(out, "    {error}breaks {who}{error:#}: {}", visible(&broken.why));
        }
    }
    if !breaks.any() {
        let _ = writeln!(out, "    {dim}breaks nothing{dim:#}");
    }
}

/// Returns a number with the noun that it counts.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
