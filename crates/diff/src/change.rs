//! Changes, and who is broken by each.

/// The direction of a message. Clients write requests and servers read them; for responses and faults it is the other
/// way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Request,
    Response,
}

/// The reason why a message can't be read. In the text `{w}` stands for the writers and `{r}` for the readers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reason {
    /// No reader of the contract can read it.
    All(&'static str),
    /// Only strict readers reject it. Readers that skip unknown elements and accept elements in any order can read it.
    Strict(&'static str),
}

impl From<&'static str> for Reason {
    fn from(why: &'static str) -> Self {
        Self::All(why)
    }
}

impl Reason {
    fn into_broken(self, writers: &str, readers: &str) -> Broken {
        let (Self::All(why) | Self::Strict(why)) = self;
        let why = why.replace("{w}", writers).replace("{r}", readers);
        Broken { why, is_strict: matches!(self, Self::Strict(_)) }
    }
}

/// Why messages that one contract allows can't be read by the other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Effect {
    /// The writer uses the old contract, and the reader the new one.
    pub(crate) old_to_new: Option<Reason>,
    /// The writer uses the new contract, and the reader the old one.
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

    /// Creates an effect with this reason for each direction whose condition is true.
    pub(crate) fn of(old_to_new: bool, new_to_old: bool, why: impl Into<Reason>) -> Self {
        let why = why.into();
        Self { old_to_new: old_to_new.then_some(why), new_to_old: new_to_old.then_some(why) }
    }

    /// Returns who is broken by this effect in messages of a direction.
    pub(crate) fn breaks(self, direction: Direction) -> Breaks {
        let as_broken =
            |why: Option<Reason>, writers: &str, readers: &str| why.map(|why| why.into_broken(writers, readers));
        match direction {
            Direction::Request => Breaks {
                old_clients: as_broken(self.old_to_new, "old clients", "new servers"),
                new_clients: as_broken(self.new_to_old, "new clients", "old servers"),
            },
            Direction::Response => Breaks {
                old_clients: as_broken(self.new_to_old, "new servers", "old clients"),
                new_clients: as_broken(self.old_to_new, "old servers", "new clients"),
            },
        }
    }
}

/// Who is broken by a change, and why.
#[derive(Debug, Clone, Default)]
pub struct Breaks {
    /// Old clients with a new server.
    pub old_clients: Option<Broken>,
    /// New clients with an old server.
    pub new_clients: Option<Broken>,
}

/// The reason why clients are broken.
#[derive(Debug, Clone)]
pub struct Broken {
    /// The reason as text.
    pub why: String,
    /// Whether only strict readers are affected.
    is_strict: bool,
}

impl From<&str> for Broken {
    fn from(why: &str) -> Self {
        Self { why: why.to_owned(), is_strict: false }
    }
}

impl Breaks {
    pub(crate) fn none() -> Self {
        Self::default()
    }

    pub(crate) fn old_clients(why: &str) -> Self {
        Self { old_clients: Some(why.into()), new_clients: None }
    }

    pub(crate) fn new_clients(why: &str) -> Self {
        Self { old_clients: None, new_clients: Some(why.into()) }
    }

    /// Removes what only affects strict readers.
    fn of_lenient(self) -> Self {
        let is_of_all = |broken: &Broken| !broken.is_strict;
        Self { old_clients: self.old_clients.filter(is_of_all), new_clients: self.new_clients.filter(is_of_all) }
    }

    /// Returns true if any clients are broken.
    pub fn any(&self) -> bool {
        self.old_clients.is_some() || self.new_clients.is_some()
    }

    /// Creates a value in which both are broken for the same reason.
    pub(crate) fn all(why: &str) -> Self {
        Self { old_clients: Some(why.into()), new_clients: Some(why.into()) }
    }
}

/// A change between two contracts.
#[derive(Debug, Clone)]
pub struct Change {
    /// One of [`kinds`](crate::kinds).
    pub kind: &'static str,
    /// The heading of the change in the text: `operation Place`, `service Orders`.
    pub group: String,
    /// The path of the changed component: `Place/order.customer.@priority`.
    pub path: String,
    /// The kind of the message that contains it: `request`, `response` or `fault`.
    pub message: Option<&'static str>,
    /// The old value.
    pub was: String,
    /// The new value.
    pub is: String,
    /// Who is broken by it.
    pub breaks: Breaks,
    /// In how many other places the same type has the same change.
    pub also: usize,
}

/// All changes, in the order in which they were found.
#[derive(Debug, Default)]
pub struct Changes {
    /// The changes.
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

    /// Removes what only affects strict readers.
    pub fn make_lenient(&mut self) {
        for change in &mut self.list {
            change.breaks = std::mem::take(&mut change.breaks).of_lenient();
        }
    }

    /// Returns how many changes break old clients, and how many break new clients.
    pub fn broken(&self) -> (usize, usize) {
        let count = |breaks: fn(&Breaks) -> bool| self.list.iter().filter(|change| breaks(&change.breaks)).count();
        (count(|breaks| breaks.old_clients.is_some()), count(|breaks| breaks.new_clients.is_some()))
    }
}

/// Shortens a text, because texts of a contract can have any length.
pub(crate) fn shortened(mut text: String) -> String {
    const MAX_LENGTH: usize = 1_000;
    if text.len() > MAX_LENGTH {
        text.truncate(text.floor_char_boundary(MAX_LENGTH));
        text.push('…');
    }
    text
}
