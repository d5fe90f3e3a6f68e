//! Changes, and whom each breaks.

use crate::text::{self, Styles};

/// Which way a message goes: clients write requests and servers read them, with responses and faults it is the other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Request,
    Response,
}

/// Why a message can't be read. In the text `{w}` is who writes, `{r}` who reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reason {
    /// No reader of the contract reads it.
    All(&'static str),
    /// Readers that skip what they don't know, and take elements in any order, read it.
    Strict(&'static str),
}

impl From<&'static str> for Reason {
    fn from(why: &'static str) -> Self {
        Self::All(why)
    }
}

impl Reason {
    fn told(self, writers: &str, readers: &str) -> Broken {
        let (Self::All(why) | Self::Strict(why)) = self;
        let why = why.replace("{w}", writers).replace("{r}", readers);
        Broken { why, is_strict: matches!(self, Self::Strict(_)) }
    }
}

/// Why what one contract allows to write can't be read by the other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Effect {
    /// The writer keeps to the old contract, the reader to the new one.
    pub(crate) old_to_new: Option<Reason>,
    /// The other way round.
    pub(crate) new_to_old: Option<Reason>,
}

impl Effect {
    pub(crate) fn old_to_new(why: impl Into<Reason>) -> Self {
        Self { old_to_new: Some(why.into()), new_to_old: None }
    }

    pub(crate) fn new_to_old(why: impl Into<Reason>) -> Self {
        Self { old_to_new: None, new_to_old: Some(why.into()) }
    }

    pub(crate) fn both(why: impl Into<Reason>) -> Self {
        let why = Some(why.into());
        Self { old_to_new: why, new_to_old: why }
    }

    /// The reasons as far as the conditions hold.
    pub(crate) fn of(old_to_new: bool, new_to_old: bool, why: impl Into<Reason>) -> Self {
        let why = why.into();
        Self { old_to_new: old_to_new.then_some(why), new_to_old: new_to_old.then_some(why) }
    }

    /// Whom it breaks in messages of a direction.
    pub(crate) fn breaks(self, direction: Direction) -> Breaks {
        let told = |why: Option<Reason>, writers: &str, readers: &str| why.map(|why| why.told(writers, readers));
        match direction {
            Direction::Request => Breaks {
                old_clients: told(self.old_to_new, "old clients", "new servers"),
                new_clients: told(self.new_to_old, "new clients", "old servers"),
            },
            Direction::Response => Breaks {
                old_clients: told(self.new_to_old, "new servers", "old clients"),
                new_clients: told(self.old_to_new, "old servers", "new clients"),
            },
        }
    }
}

/// Who breaks, and why.
#[derive(Debug, Clone, Default)]
pub struct Breaks {
    /// Old clients on a new server.
    pub old_clients: Option<Broken>,
    /// New clients on an old server.
    pub new_clients: Option<Broken>,
}

/// Why somebody breaks.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The reason, for people.
    pub why: String,
    /// Whether only because the readers are strict ones.
    is_strict: bool,
}

impl From<&str> for Broken {
    fn from(why: &str) -> Self {
        Self { why: why.to_owned(), is_strict: false }
    }
}

impl Breaks {
    pub(crate) fn nobody() -> Self {
        Self::default()
    }

    pub(crate) fn old_clients(why: &str) -> Self {
        Self { old_clients: Some(why.into()), new_clients: None }
    }

    pub(crate) fn new_clients(why: &str) -> Self {
        Self { old_clients: None, new_clients: Some(why.into()) }
    }

    /// Without what breaks strict readers alone.
    fn of_lenient(self) -> Self {
        let is_of_all = |broken: &Broken| !broken.is_strict;
        Self { old_clients: self.old_clients.filter(is_of_all), new_clients: self.new_clients.filter(is_of_all) }
    }

    /// Whether somebody breaks.
    pub fn somebody(&self) -> bool {
        self.old_clients.is_some() || self.new_clients.is_some()
    }

    /// Both, with one reason.
    pub(crate) fn all(why: &str) -> Self {
        Self { old_clients: Some(why.into()), new_clients: Some(why.into()) }
    }
}

/// What changed.
#[derive(Debug, Clone)]
pub struct Change {
    /// One of [`kinds`](crate::kinds).
    pub kind: &'static str,
    /// What it is shown below: `operation Place`, `service Orders`.
    pub group: String,
    /// Where it is: `Place/order.customer.@priority`.
    pub path: String,
    /// The message it is in: `request`, `response` or `fault`.
    pub message: Option<&'static str>,
    /// What it was.
    pub was: String,
    /// What it is.
    pub is: String,
    /// Whom that breaks.
    pub breaks: Breaks,
    /// In how many other places the same type changed in the same way.
    pub also: usize,
}

/// All changes, in the order in which they were found.
#[derive(Debug, Default)]
pub struct Changes {
    /// Each of them.
    pub list: Vec<Change>,
}

impl Changes {
    /// Adds a change outside of messages.
    pub(crate) fn add(
        &mut self,
        kind: &'static str,
        (group, path): (&str, &str),
        (was, is): (impl Into<String>, impl Into<String>),
        breaks: Breaks,
    ) {
        self.list.push(Change {
            kind,
            group: group.to_owned(),
            path: path.to_owned(),
            message: None,
            was: shortened(was.into()),
            is: shortened(is.into()),
            breaks,
            also: 0,
        });
    }

    /// Takes readers for lenient ones.
    pub fn make_lenient(&mut self) {
        for change in &mut self.list {
            change.breaks = std::mem::take(&mut change.breaks).of_lenient();
        }
    }

    /// The changes for people, grouped by service and operation. `names` are those of the contracts, the old one first.
    pub fn text(&self, names: (&str, &str), styles: &Styles) -> String {
        text::text(self, names, styles)
    }

    /// How many changes break old clients, and how many break new ones.
    pub fn broken(&self) -> (usize, usize) {
        let count = |breaks: fn(&Breaks) -> bool| self.list.iter().filter(|change| breaks(&change.breaks)).count();
        (count(|breaks| breaks.old_clients.is_some()), count(|breaks| breaks.new_clients.is_some()))
    }
}

/// A text as it is told: those of a contract may be of any length.
pub(crate) fn shortened(mut text: String) -> String {
    const LONGEST: usize = 1_000;
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}
