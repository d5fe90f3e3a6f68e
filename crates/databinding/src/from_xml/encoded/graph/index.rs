//! Which elements of a document have an id.

use std::borrow::Cow;

use castile_budget::Exhausted;
use castile_xml::{Limits, Memory, Reader, Token};

use super::behind::{Behind, Unsure};
use super::ids::{Found, Ids};
use super::room::{Refused, Room};
use super::tag::{Shapes, find};
use crate::encoded::SOAP12;
use crate::from_xml::charges::BLOCK;

/// The elements that references lead to, as far as they are known, and those around them.
pub(super) struct Index<'a> {
    text: &'a str,
    limits: Limits,
    /// In the order of the document.
    pub(super) elements: Vec<Extent<'a>>,
    shapes: Shapes<'a>,
    ids: Known<'a>,
}

enum Known<'a> {
    /// Those behind the call. There may be others.
    Behind(Behind<'a>),
    /// All.
    All(Ids<'a, Identified<'a>>),
}

/// Where an element lies. It is within a message, and so within 4 GiB.
#[derive(Clone, Copy)]
pub(super) struct Extent<'a> {
    pub(super) start: u32,
    /// The length of the start tag, 0 if that isn't known.
    pub(super) tag: u32,
    /// Where it ends; where it starts as long as that isn't known.
    pub(super) end: u32,
    /// Where the value of its id begins, if it is known to have one and to refer to nothing; else 0.
    pub(super) id: u32,
    /// The number of the element around it; of itself for the root.
    pub(super) parent: u32,
    /// Whether all of it was read, and so checked.
    pub(super) is_read: bool,
    /// The number of its start tag's shape, 0 if it has none that is known, and the prefix in that.
    pub(super) shape: u16,
    pub(super) prefix: &'a str,
}

struct Identified<'a> {
    element: u32,
    /// What it refers to itself.
    to: Option<Cow<'a, str>>,
}

/// What an id is the id of.
pub(super) enum Target<'a> {
    /// The element of this number.
    Element(u32),
    /// What another id is the id of.
    Reference(Cow<'a, str>),
    None,
    /// Two elements, which begin there.
    Several([u32; 2]),
}

impl<'a> Extent<'a> {
    /// An element of which nothing but its place is known.
    pub(super) fn starting_at(start: usize) -> Self {
        let start = start as u32;
        Extent { start, tag: 0, end: start, id: 0, parent: 0, is_read: false, shape: 0, prefix: "" }
    }

    pub(super) fn is_ended(&self) -> bool {
        self.end > self.start
    }
}

/// Why there is no index.
#[derive(Debug)]
pub(super) enum Stop {
    /// The document is not well-formed.
    Xml(castile_xml::Error),
    Exhausted(Exhausted),
}

impl From<castile_xml::Error> for Stop {
    fn from(error: castile_xml::Error) -> Self {
        Stop::Xml(error)
    }
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Self {
        Stop::Exhausted(exhausted)
    }
}

/// The numbers that elements had before, to those that they have.
pub(super) struct Renumbered(Vec<u32>);

impl Renumbered {
    pub(super) fn number(&self, before: u32) -> u32 {
        self.0.get(before as usize).copied().unwrap_or(u32::MAX)
    }
}

const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];

/// An element that is open, and its number if it is in the index.
struct Open {
    start: usize,
    tag: usize,
    number: Option<u32>,
}

impl<'a> Index<'a> {
    /// The index of a document, where the first reference is met: `open` are the offsets of the elements around it, outermost
    /// first.
    ///
    /// # Errors
    /// That the document is not well-formed, which may also come out later, when what is wrong is read. That there is too
    /// little room.
    pub(super) fn new(
        text: &'a str,
        limits: Limits,
        open: impl Iterator<Item = usize>,
        room: &mut Room<'_>,
    ) -> Result<Self, Stop> {
        let shapes = Shapes::default();
        match Behind::new(text, open, room) {
            Ok((behind, elements)) => Ok(Index { text, limits, elements, shapes, ids: Known::Behind(behind) }),
            Err(Unsure) => Index::whole(text, limits, shapes, room),
        }
    }

    /// The index of a document with all elements that have an id. There is no other one.
    fn whole(text: &'a str, limits: Limits, mut shapes: Shapes<'a>, room: &mut Room<'_>) -> Result<Self, Stop> {
        room.is_granted()?;
        room.begin();
        let Elements { elements, ids } = match Elements::glanced(text, limits.depth, &mut shapes, room) {
            Some(found) => found,
            None => {
                room.is_granted()?;
                room.begin();
                Elements::read(text, limits, room)?
            }
        };
        let ids = Ids::new(ids, |found| found.element);
        Ok(Index { text, limits, elements, shapes, ids: Known::All(ids) })
    }

    /// What `id` is the id of. `None` if that takes a look at the [whole document](Self::complete), which also tells if it
    /// takes more room than there is.
    #[inline]
    pub(super) fn find(&mut self, id: &str, room: &mut Room<'_>) -> Option<Target<'a>> {
        let ids = match &mut self.ids {
            Known::Behind(behind) => {
                return match behind.find(id, self.text, &mut self.elements, &mut self.shapes, room) {
                    Ok(Some(number)) => Some(Target::Element(number)),
                    Ok(None) => Some(Target::None),
                    Err(Unsure) => None,
                };
            }
            Known::All(ids) => ids,
        };
        let start_of = |found: &Identified<'_>| self.elements.get(found.element as usize).map_or(0, |it| it.start);
        Some(match ids.find(id) {
            Found::None => Target::None,
            Found::One(Identified { to: Some(to), .. }) => Target::Reference(to.clone()),
            Found::One(Identified { element, .. }) => Target::Element(*element),
            Found::Several(first, again) => Target::Several([start_of(first), start_of(again)]),
        })
    }

    /// Looks at the whole document. Elements have other numbers then.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    #[cold]
    pub(super) fn complete(&mut self, room: &mut Room<'_>) -> Result<Renumbered, Stop> {
        // What is known goes before the other comes, but for a few bytes of each element.
        self.ids = Known::All(Ids::new(Vec::new(), |found| found.element));
        let before = std::mem::take(&mut self.elements);
        let mut before: Vec<_> = before.into_iter().map(|was| (was.start, was.is_read.then_some(was.end))).collect();
        before.shrink_to_fit();
        *self = Index::whole(self.text, self.limits, std::mem::take(&mut self.shapes), room)?;
        let renumbered = before.iter().map(|&(start, read_end)| {
            let Some(number) = self.number_at(start as usize) else { return u32::MAX };
            let is = &mut self.elements[number];
            (is.is_read, is.end) = (read_end.is_some(), read_end.unwrap_or(is.end));
            number as u32
        });
        Ok(Renumbered(renumbered.collect()))
    }

    /// The number of the element that begins at `offset`, if it is known.
    pub(super) fn number_at(&self, offset: usize) -> Option<usize> {
        self.elements.binary_search_by_key(&offset, |extent| extent.start as usize).ok()
    }
}

/// What is found in a document.
#[derive(Default)]
struct Elements<'a> {
    /// Those with an id and those around them, in the order of the document.
    elements: Vec<Extent<'a>>,
    ids: Vec<(Cow<'a, str>, Identified<'a>)>,
}

impl<'a> Elements<'a> {
    /// What is found by looking at tags alone: a fraction of the work of a reader, which checks it all when it comes to
    /// read it. `None` for a document in which more than tags and plain ids must be understood, and for one that is not
    /// well-formed as far as that was noticed, or nests more than `depth` deep, or takes more room than there is.
    fn glanced(text: &'a str, depth: usize, shapes: &mut Shapes<'a>, room: &mut Room<'_>) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut found = Elements::default();
        let mut open: Vec<Open> = Vec::new();
        let mut at = match bytes.strip_prefix(b"<?xml") {
            Some(_) => text.find("?>")? + 2,
            None => 0,
        };
        loop {
            at = match find(bytes, at, b'<') {
                Some(at) => at,
                None if open.is_empty() => return Some(found),
                None => return None,
            };
            let is_closed = match *bytes.get(at + 1)? {
                b'/' => {
                    at = find(bytes, at + 2, b'>')? + 1;
                    true
                }
                // Where these stand, not every `<` begins a tag.
                b'!' | b'?' => return None,
                _ => {
                    let tag = shapes.glance(text, at)?;
                    if open.len() >= depth {
                        return None;
                    }
                    open.push(Open { start: at, tag: tag.end - at, number: None });
                    if let Some(id) = tag.id {
                        found.add(&mut open, id.into(), tag.href.map(Cow::from), room).ok()?;
                        if let Some(extent) = found.elements.last_mut() {
                            (extent.shape, extent.prefix) = (tag.shape, tag.prefix);
                        }
                    }
                    at = tag.end;
                    tag.is_empty
                }
            };
            if is_closed
                && let Some(number) = open.pop()?.number
                && let Some(extent) = found.elements.get_mut(number as usize)
            {
                extent.end = at as u32;
            }
        }
    }

    /// All elements with an id, found by a reader.
    fn read(text: &'a str, limits: Limits, room: &mut Room<'_>) -> Result<Self, Stop> {
        let mut found = Elements::default();
        let mut reader = Reader::decoded(text, limits, &mut Memory::default())?;
        let mut open: Vec<Open> = Vec::new();
        loop {
            match reader.next()? {
                Token::StartTag(tag) => {
                    open.push(Open { start: tag.offset, tag: reader.offset() - tag.offset, number: None });
                    let (mut id, mut to) = (None, None);
                    for (number, namespace, name) in reader.attribute_names() {
                        match (namespace, name) {
                            ("", "id") | (SOAP12, "id") => id = Some(number),
                            ("", "href") | (SOAP12, "ref") => to = Some(number),
                            _ => {}
                        }
                    }
                    let value = |number: Option<usize>| Some(trimmed(reader.kept_attribute_value(number?)?.0));
                    if let Some(id) = value(id) {
                        let to = value(to);
                        // Texts take no more than the document, but each that is not in it is a block.
                        let is_block = |text: &Cow<'_, str>| matches!(text, Cow::Owned(_));
                        let blocks = usize::from(is_block(&id)) + usize::from(to.as_ref().is_some_and(is_block));
                        let added = room.take(blocks * BLOCK).and_then(|()| found.add(&mut open, id, to, room));
                        added.or_else(|Refused| room.is_granted())?;
                    }
                }
                Token::EndTag(_) => {
                    let Some(Open { number: Some(number), .. }) = open.pop() else { continue };
                    if let Some(extent) = found.elements.get_mut(number as usize) {
                        extent.end = reader.offset() as u32;
                    }
                }
                Token::End => return Ok(found),
                _ => {}
            }
        }
    }

    /// Adds the element that was opened last, and those around it, outermost first.
    fn add(
        &mut self,
        open: &mut [Open],
        id: Cow<'a, str>,
        to: Option<Cow<'a, str>>,
        room: &mut Room<'_>,
    ) -> Result<(), Refused> {
        // Those around one that is there are there too.
        let known = open.iter().rposition(|open| open.number.is_some());
        let mut parent = known.and_then(|known| open.get(known)?.number);
        for open in &mut open[known.map_or(0, |known| known + 1)..] {
            let number = self.elements.len() as u32;
            let (tag, parent_number) = (open.tag as u32, parent.unwrap_or(number));
            let extent = Extent { tag, parent: parent_number, ..Extent::starting_at(open.start) };
            room.push(&mut self.elements, extent)?;
            open.number = Some(number);
            parent = Some(number);
        }
        let Some(element) = parent else { return Ok(()) };
        room.push(&mut self.ids, (id, Identified { element, to }))
    }
}

/// A value without the white space around it, which hardly any has.
pub(super) fn trim(value: &str) -> &str {
    match value.as_bytes() {
        [first, .., last] if *first > b' ' && *last > b' ' => value,
        _ => value.trim_matches(WHITE),
    }
}

fn trimmed(value: Cow<'_, str>) -> Cow<'_, str> {
    match value {
        Cow::Borrowed(value) => Cow::Borrowed(trim(value)),
        Cow::Owned(value) => Cow::Owned(trim(&value).to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use castile_budget::Allowance;

    use super::*;
    use crate::from_xml::encoded::graph::room::Charges;

    /// Room for anything.
    macro_rules! room {
        () => {
            &mut Room::new(&mut Allowance::unlimited(), &mut Charges::default())
        };
    }

    /// What is found in a document, to be compared.
    fn shown(found: &Elements<'_>) -> Vec<String> {
        let mut ids: Vec<_> =
            found.ids.iter().map(|(id, found)| format!("{id} {} {:?}", found.element, found.to)).collect();
        ids.sort();
        let extent = |extent: &Extent<'_>| {
            let Extent { start, tag, end, parent, .. } = *extent;
            format!("{start}+{tag}..{end} in {parent}")
        };
        found.elements.iter().map(extent).chain(ids).collect()
    }

    fn glanced(text: &str) -> Option<Elements<'_>> {
        Elements::glanced(text, Limits::default().depth, &mut Shapes::default(), room!())
    }

    #[test]
    fn what_a_glance_finds_is_what_a_reader_finds() {
        for (text, is_enough) in [
            ("<?xml version='1.0'?>\n<a><b id='1'/><c id = \"2\" x='>' ><d href='#1'/>></c ></a>\n", true),
            ("<a id='1'><a id=' 2 ' href=\"#1\"><b><c id='1'/></b></a><b/><b id='3'></b></a>", true),
            ("<a>\n<a\n\tid\n=\n'x>\"/a>'>/></a></a>", true),
            ("<a ident='1' xid='2' id='3'/>", true),
            // Tags of one shape.
            ("<a><b id='1' x='y'>1</b><b id='2' x='y'>2</b><b id='3' x='z'>3</b></a>", true),
            // Only a reader knows.
            ("<a><!--<b id='1'/>--><b id='2'/></a>", false),
            ("<a><![CDATA[<b id='1'>]]><b id='2'/></a>", false),
            ("<a><?b <c id='1'>?><b id='2'/></a>", false),
            ("<a id='&#49;'/>", false),
            ("<a id='1\n2'/>", false),
            ("<a id='1\t2'/>", false),
            ("<a xmlns:e='http://www.w3.org/2003/05/soap-encoding'><b e:id='1'/><c e:id='2' e:ref='1'/></a>", false),
        ] {
            let read = Elements::read(text, Limits::default(), room!()).map(|found| shown(&found));
            let read = read.unwrap_or_else(|error| panic!("{text}: {error:?}"));
            let glanced = glanced(text).map(|found| shown(&found));
            assert_eq!(glanced, is_enough.then_some(read), "{text}");
        }
        for broken in ["<a>", "</a>", "<a", "<a x", "<a x=", "<a x='", "<a x=1>", "<a/", "<a/x>", "<", "<a></a", "<a><"]
        {
            assert!(glanced(broken).is_none(), "{broken}");
            assert!(Index::whole(broken, Limits::default(), Shapes::default(), room!()).is_err(), "{broken}");
        }
    }

    /// An index as it is when the first reference is met in the third element of the document.
    fn behind(text: &str) -> Index<'_> {
        let tags = text.match_indices('<').filter(|(at, _)| !text[at + 1..].starts_with(['?', '!', '/']));
        let open: Vec<usize> = tags.map(|(at, _)| at).take(3).collect();
        Index::new(text, Limits::default(), open.into_iter(), room!()).unwrap()
    }

    /// Asks for all ids, each twice, and compares what is found behind the call with what is found in the whole document. Tells
    /// how many were found behind the call.
    fn compare(text: &str, order: impl Fn(&mut Vec<String>)) -> usize {
        let Ok(mut whole) = Index::whole(text, Limits::default(), Shapes::default(), room!()) else { return 0 };
        let Known::All(all) = &whole.ids else { panic!("all are known") };
        let mut ids: Vec<String> = all.iter().map(|(id, _)| id.clone().into_owned()).collect();
        order(&mut ids);
        let mut index = behind(text);
        let mut count = 0;
        for id in ids.iter().chain(&ids) {
            let Some(expected) = whole.find(id, room!()) else { panic!("all are known") };
            let is_behind = matches!(index.ids, Known::Behind(_));
            let Some(found) = index.find(id, room!()) else {
                let numbers = index.complete(room!()).unwrap();
                assert!(numbers.0.iter().all(|&number| number == u32::MAX || index.elements.len() > number as usize));
                continue;
            };
            match (expected, found) {
                (Target::Element(expected), Target::Element(found)) => {
                    let [expected, found] = [whole.elements[expected as usize], index.elements[found as usize]];
                    assert_eq!((found.start, found.tag), (expected.start, expected.tag), "{id} in {text}");
                    assert!(!found.is_ended() || found.end == expected.end, "{id} in {text}");
                    assert!(
                        !is_behind
                            || index.elements[found.parent as usize].start
                                == whole.elements[expected.parent as usize].start
                    );
                    count += usize::from(is_behind);
                }
                (Target::Reference(expected), Target::Reference(found)) => assert_eq!(expected, found),
                (Target::Several(expected), Target::Several(found)) => assert_eq!(expected, found),
                (Target::None, Target::None) => {}
                _ => panic!("{id} in {text}"),
            }
        }
        count
    }

    #[test]
    fn what_is_found_behind_the_call_is_what_is_there() {
        let envelope = |body: &str| format!("<?xml version='1.0'?><e><b><c><r href='#1'/></c>{body}</b></e>");
        for (body, count) in [
            ("<m id='1'>1</m><m id='2'>2</m><m id='3'>3</m>", 6),
            ("\n<m id='1'>1</m>\n<m a='b' id = '2' >2</m>\n<n/><m>0</m><m id='3'>3</m>", 6),
            // Elements of one name in each other, others whose names begin so, and texts that look like them.
            ("<m id='1'><m><m/><mm/></m>m&lt;/m></m ><m id='2'>2</m>", 4),
            ("<m id='1'><mm></mm></m><mm id='2'>2</mm><m.x id='3'></m.x>", 6),
            ("<m id='1' x='/>'/><m id='2' x='a id=\"5\"'>2</m><m id='4' x='>'>2</m>", 6),
            // Not behind the call.
            ("<m id='1'><n id='2'/></m><m id='3'/>", 1),
            ("<m id='1'/>, <m id='2'/>", 1),
            ("<m id='1'/><!-- <m id='2'/> --><m id='3'/>", 1),
            ("<m id='1'><![CDATA[</m>]]></m><m id='2'/>", 1),
            // More than a glance.
            ("<m id='1'/><m id='&#50;'/>", 0),
            ("<m id='1'/><m id='2' href='#1'/>", 1),
            ("<m id='1'/><m id='1'/>", 0),
            ("<m id='1'/><m xml:id='1'/><m id='2'/>", 0),
        ] {
            assert_eq!(compare(&envelope(body), |_| {}), count, "{body}");
            compare(&envelope(body), |ids| ids.reverse());
        }
        assert_eq!(compare("<a><b id='1'/></a>", |_| {}), 0, "there is nothing behind it");
        // Two letters that are no attribute.
        let mut index = behind("<?xml version='1.0' id='2'?><e><b><c> id='3'</c><m id='1'> id='4'</m><m/></b></e>");
        assert!(matches!(index.find("1", room!()), Some(Target::Element(_))));
        assert!(["2", "3", "4"].iter().all(|id| index.find(id, room!()).is_none()));
        assert!(matches!(index.find("5", room!()), Some(Target::None)));
    }

    /// Runs `search` on a thread of its own and panics if it does not end: one that hangs must not hang the tests.
    fn ends(text: &'static str, search: fn(&'static str)) {
        let (done, is_done) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            search(text);
            let _ = done.send(());
        });
        let outcome = is_done.recv_timeout(std::time::Duration::from_secs(60));
        outcome.unwrap_or_else(|error| panic!("the search in {text}: {error}"));
    }

    #[test]
    fn a_tag_without_a_name_hangs_the_search_for_its_end() {
        for text in [
            "<e><b><c><r/></c><> id='1'>v</m></b></e>",
            "<e><b><c><r/></c>< id='1'>v</m></b></e>",
            "<e><b><c><r/></c><m id='2'/>< x='y'>v</></b> id='1'</e>",
        ] {
            ends(text, |text| {
                let mut index = behind(text);
                assert!(index.find("1", room!()).is_none(), "{text}: a glance is not enough");
                assert!(index.complete(room!()).is_err(), "{text} is not well-formed");
            });
        }
    }

    #[test]
    fn tags_of_one_shape_have_their_own_prefixes() {
        let tag =
            |id: u32, prefix: &str| format!("<m id='{id}' x:type='{prefix}:T' xmlns:y='u' xmlns:{prefix}='u'>{id}</m>");
        let tags =
            [tag(1, "ns9"), tag(2, "ns10"), tag(3, "a"), tag(4, "ns-1.2"), tag(5, "1"), tag(6, "y"), tag(7, "é")];
        let text = format!("<e xmlns:x='x'><b><c><r/></c>{}</b></e>", tags.concat());
        let mut index = behind(&text);
        let found = [1, 2, 3, 4, 5, 6, 7].map(|id| match index.find(&id.to_string(), room!()) {
            Some(Target::Element(number)) => {
                let extent = index.elements[number as usize];
                (extent.shape, extent.prefix)
            }
            _ => panic!("{id}"),
        });
        // One that isn't of ASCII is not changed, nor one that is used for something else.
        let expected = [(1, "ns9"), (1, "ns10"), (1, "a"), (1, "ns-1.2"), (2, ""), (1, "y"), (3, "")];
        assert_eq!(found, expected);
        // What declares a prefix called `type` says no type.
        let text = "<e><b><c><r/></c><m id='1' xmlns:type='urn:t' xmlns:urn='u'>1</m></b></e>";
        let mut index = behind(text);
        let Some(Target::Element(number)) = index.find("1", room!()) else { panic!("it is there") };
        assert_eq!(index.elements[number as usize].prefix, "");
    }
}
