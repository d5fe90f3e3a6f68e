//! Changes, and whom each breaks.

/// Which way a message goes: clients write requests and servers read them, with responses and faults it is the other way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    Request,
    Response,
}

/// Why what one contract allows to write can't be read by the other. In the text `{w}` is who writes, `{r}` who reads; where it says
/// `strict {r}`, readers that skip what they don't know read it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Effect {
    /// The writer keeps to the old contract, the reader to the new one.
    pub(super) old_to_new: Option<&'static str>,
    /// The other way round.
    pub(super) new_to_old: Option<&'static str>,
}

impl Effect {
    pub(super) const fn old_to_new(why: &'static str) -> Self {
        Self { old_to_new: Some(why), new_to_old: None }
    }

    pub(super) const fn new_to_old(why: &'static str) -> Self {
        Self { old_to_new: None, new_to_old: Some(why) }
    }

    pub(super) const fn both(why: &'static str) -> Self {
        Self { old_to_new: Some(why), new_to_old: Some(why) }
    }

    /// The reasons as far as the conditions hold.
    pub(super) fn of(old_to_new: bool, new_to_old: bool, why: &'static str) -> Self {
        Self { old_to_new: old_to_new.then_some(why), new_to_old: new_to_old.then_some(why) }
    }

    /// Whom it breaks in messages of a direction.
    pub(super) fn breaks(self, direction: Direction) -> Breaks {
        let told = |why: Option<&str>, writers: &str, readers: &str| {
            why.map(|why| why.replace("{w}", writers).replace("{r}", readers))
        };
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
pub(super) struct Breaks {
    /// Old clients on a new server.
    pub(super) old_clients: Option<String>,
    /// New clients on an old server.
    pub(super) new_clients: Option<String>,
}

impl Breaks {
    pub(super) fn nobody() -> Self {
        Self::default()
    }

    pub(super) fn old_clients(why: &str) -> Self {
        Self { old_clients: Some(why.to_owned()), new_clients: None }
    }

    pub(super) fn new_clients(why: &str) -> Self {
        Self { old_clients: None, new_clients: Some(why.to_owned()) }
    }

    /// Without what breaks strict readers alone.
    fn of_lenient(self) -> Self {
        let is_of_all = |why: &String| !why.contains("strict old ") && !why.contains("strict new ");
        Self { old_clients: self.old_clients.filter(is_of_all), new_clients: self.new_clients.filter(is_of_all) }
    }

    /// Whether somebody breaks.
    pub(super) fn somebody(&self) -> bool {
        self.old_clients.is_some() || self.new_clients.is_some()
    }

    /// Both, with one reason.
    pub(super) fn all(why: &str) -> Self {
        Self { old_clients: Some(why.to_owned()), new_clients: Some(why.to_owned()) }
    }
}

/// What changed.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// One of [`kinds`](super::kinds).
    pub(super) kind: &'static str,
    /// What it is shown below: `operation Place`, `service Orders`.
    pub(super) group: String,
    /// Where it is: `Place/order.customer.@priority`.
    pub(super) path: String,
    /// The message it is in: `request`, `response` or `fault`.
    pub(super) message: Option<&'static str>,
    pub(super) was: String,
    pub(super) is: String,
    pub(super) breaks: Breaks,
    /// In how many other places the same type changed in the same way.
    pub(super) also: usize,
}

/// All changes, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) list: Vec<Change>,
}

impl Changes {
    /// Adds a change outside of messages.
    pub(super) fn add(
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
    pub(super) fn make_lenient(&mut self) {
        for change in &mut self.list {
            change.breaks = std::mem::take(&mut change.breaks).of_lenient();
        }
    }

    /// How many changes break old clients, and how many break new ones.
    pub(super) fn broken(&self) -> (usize, usize) {
        let count = |breaks: fn(&Breaks) -> bool| self.list.iter().filter(|change| breaks(&change.breaks)).count();
        (count(|breaks| breaks.old_clients.is_some()), count(|breaks| breaks.new_clients.is_some()))
    }
}

/// A text as it is told: those of a contract may be of any length.
pub(super) fn shortened(mut text: String) -> String {
    const LONGEST: usize = 1_000;
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}
