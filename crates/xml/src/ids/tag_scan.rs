//! A scan of start tags, which is a fraction of the work of a reader. The reader checks the tags when it reads them.

use memchr::memchr;

use super::trim;

/// The attributes of a start tag that are needed for references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) end: usize,
    pub(super) is_empty: bool,
    pub(super) id: Option<&'a str>,
    pub(super) href: Option<&'a str>,
    /// The offset of the value of `id` or `href`, whichever is last.
    pub(super) value: usize,
    /// The value of an attribute with a prefix and the local name `type`.
    type_name: Option<&'a str>,
    /// The number of its shape, 0 if the shape was not seen before.
    pub(super) shape: u16,
    /// The variable prefix of the shape, as it is in this tag. Empty if there is none.
    pub(super) prefix: &'a str,
}

impl<'a> Tag<'a> {
    /// Scans the start tag at `at`. Only the bounds of attribute values and the names before them are examined. Returns
    /// `None` if the tag has something that only a reader understands.
    pub(super) fn scan(text: &'a str, at: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        // A tag without a name is an error, which the reader reports. A search for tags of an empty name would not
        // advance.
        if matches!(bytes.get(at + 1)?, b' ' | b'\t' | b'\n' | b'\r' | b'>' | b'/') {
            return None;
        }
        let mut tag = Tag::default();
        let mut at = at + 1;
        loop {
            at = find_any(bytes, at, [b'>', b'"', b'\''])?;
            let quote = bytes[at];
            if quote == b'>' {
                tag.is_empty = bytes[at - 1] == b'/';
                tag.end = at + 1;
                return Some(tag);
            }
            let name = before(bytes, at).strip_suffix(b"=")?;
            let name = before(name, name.len());
            let (place, is_reference) = match name {
                [.., b' ' | b'\t' | b'\n' | b'\r', b'i', b'd'] => (Some(&mut tag.id), true),
                [.., b' ' | b'\t' | b'\n' | b'\r', b'h', b'r', b'e', b'f'] => (Some(&mut tag.href), true),
                // The prefix may be bound to the namespace of SOAP 1.2.
                [.., b':', b'i', b'd'] | [.., b':', b'r', b'e', b'f'] => return None,
                [.., b'x', b'm', b'l', b'n', b's', b':', b't', b'y', b'p', b'e'] => (None, false),
                [.., b':', b't', b'y', b'p', b'e'] => (Some(&mut tag.type_name), false),
                _ => (None, false),
            };
            let start = at + 1;
            at = find(bytes, start, quote)?;
            if let Some(place) = place {
                let value = text.get(start..at)?;
                *place = Some(trim(value));
                if is_reference {
                    // References and white space that is normalised are left to the reader.
                    if trim(value).bytes().any(|byte| matches!(byte, b'&' | b'\t' | b'\n' | b'\r')) {
                        return None;
                    }
                    tag.value = start;
                }
            }
            at += 1;
        }
    }
}

/// The shapes of start tags with an id. Tags that differ only in a plain id have the same meaning. So do tags that
/// differ only in the prefix that they declare and use for the type: Apache Axis numbers its prefixes.
#[derive(Default)]
pub(super) struct Shapes<'a> {
    /// Their numbers begin at 1.
    shapes: Vec<Shape<'a>>,
    /// The index of the shape that was seen last.
    guess: usize,
}

/// How many shapes are stored.
const MAX_SHAPES: usize = 8;

/// The constant parts of a tag, each with the variable part that follows it.
struct Shape<'a> {
    literals: Vec<(&'a [u8], Variable)>,
    /// The variable prefix in the tag that this shape was made from. Empty if there is none.
    prefix: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    Id,
    Prefix,
    Nothing,
}

impl<'a> Shapes<'a> {
    /// Scans the start tag at `at`, as [`Tag::scan`] does but faster for a known shape. If the tag has an id, its
    /// shape is stored.
    pub(super) fn scan(&mut self, text: &'a str, at: usize) -> Option<Tag<'a>> {
        if let Some(tag) = self.shapes.get(self.guess).and_then(|shape| shape.tag(text, at)) {
            return Some(Tag { shape: self.guess as u16 + 1, ..tag });
        }
        for (place, shape) in self.shapes.iter().enumerate() {
            if place != self.guess
                && let Some(tag) = shape.tag(text, at)
            {
                self.guess = place;
                return Some(Tag { shape: place as u16 + 1, ..tag });
            }
        }
        let tag = Tag::scan(text, at)?;
        let shape = if self.shapes.len() < MAX_SHAPES { Shape::of(&tag, text, at) } else { None };
        let Some(shape) = shape else { return Some(tag) };
        let prefix = shape.prefix;
        self.guess = self.shapes.len();
        self.shapes.push(shape);
        Some(Tag { shape: self.shapes.len() as u16, prefix, ..tag })
    }
}

impl<'a> Shape<'a> {
    /// Returns the shape of a tag that has an id and no reference, and is not an empty-element tag.
    fn of(tag: &Tag<'a>, text: &'a str, at: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let id = tag.id.filter(|id| tag.href.is_none() && !tag.is_empty && is_plain(id))?;
        // The id is all of the value, without white space.
        if bytes[tag.value - 1] != bytes[tag.value + id.len()] {
            return None;
        }
        let prefix = prefix_of_type(tag, text, at);
        let mut holes = vec![(tag.value, id.len(), Variable::Id)];
        holes.extend(prefix.iter().flat_map(|(prefix, places)| places.map(|at| (at, prefix.len(), Variable::Prefix))));
        holes.sort_unstable_by_key(|(at, ..)| *at);
        let mut literals = Vec::with_capacity(holes.len() + 1);
        let mut begin = at;
        for (hole, length, variable) in holes {
            literals.push((bytes.get(begin..hole)?, variable));
            begin = hole + length;
        }
        literals.push((bytes.get(begin..tag.end)?, Variable::Nothing));
        Some(Shape { literals, prefix: prefix.map_or("", |(prefix, _)| prefix) })
    }

    /// Returns the tag at `at`, if it has this shape.
    #[inline]
    fn tag(&self, text: &'a str, at: usize) -> Option<Tag<'a>> {
        let bytes = text.as_bytes();
        let mut tag = Tag::default();
        let mut at = at;
        for (literal, variable) in &self.literals {
            let end = at + literal.len();
            if bytes.get(at..end)? != *literal {
                return None;
            }
            at = end;
            match variable {
                Variable::Id => {
                    at = find(bytes, end, *literal.last()?)?;
                    tag.id = Some(text.get(end..at).filter(|id| is_plain(id))?);
                    tag.value = end;
                }
                Variable::Prefix if tag.prefix.is_empty() => {
                    at = end_of_prefix(bytes, end)?;
                    tag.prefix = text.get(end..at)?;
                }
                Variable::Prefix => {
                    at = end + tag.prefix.len();
                    if bytes.get(end..at)? != tag.prefix.as_bytes() {
                        return None;
                    }
                }
                Variable::Nothing => {}
            }
        }
        tag.end = at;
        Some(tag)
    }
}

/// Returns the prefix in the type of the tag at `at`, and the two offsets where it occurs, if the tag declares it and
/// does not use it for anything else.
fn prefix_of_type<'a>(tag: &Tag<'a>, text: &'a str, at: usize) -> Option<(&'a str, [usize; 2])> {
    let (prefix, _) = tag.type_name?.split_once(':')?;
    if end_of_prefix(prefix.as_bytes(), 0)? != prefix.len() {
        return None;
    }
    let text = text.get(..tag.end)?;
    // An occurrence counts as a use of the prefix, whatever it is a part of.
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') || !c.is_ascii();
    let mut places = text[at..]
        .match_indices(prefix)
        .map(|(place, _)| at + place)
        .filter(|&place| !text[..place].ends_with(is_name) && !text[place + prefix.len()..].starts_with(is_name));
    let both = [places.next()?, places.next()?];
    let declares = |place: usize| text[..place].ends_with("xmlns:") && text[place + prefix.len()..].starts_with('=');
    let types = |place: usize| text[..place].ends_with(['"', '\'']) && text[place + prefix.len()..].starts_with(':');
    let is_so = match both.map(|place| (types(place), declares(place))) {
        [(true, _), (_, true)] | [(_, true), (true, _)] => places.next().is_none(),
        _ => false,
    };
    is_so.then_some((prefix, both))
}

/// Returns the end of the ASCII prefix at `at`. `None` if there is none, or if it is long.
#[inline]
fn end_of_prefix(bytes: &[u8], at: usize) -> Option<usize> {
    /// Few prefixes are longer.
    const MAX_PREFIX_LENGTH: usize = 16;
    let rest = bytes.get(at..)?;
    if !matches!(rest.first()?, b'a'..=b'z' | b'A'..=b'Z' | b'_') {
        return None;
    }
    let is_over = |byte: &u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    let length = rest.iter().take(MAX_PREFIX_LENGTH + 1).position(is_over).unwrap_or(rest.len());
    (length <= MAX_PREFIX_LENGTH).then_some(at + length)
}

/// Whether an attribute value is certainly legal, without references and white space.
#[inline]
pub(crate) fn is_plain(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'#'))
}

// ---- bytes ----

/// Returns the bytes before `at`, without white space at their end.
#[inline]
fn before(bytes: &[u8], mut at: usize) -> &[u8] {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = at.checked_sub(1).and_then(|last| bytes.get(last)) {
        at -= 1;
    }
    &bytes[..at]
}

const ONES: u64 = u64::MAX / 255;

/// Returns the highest bit of each byte of a word that equals `byte`. The lowest of these bits is correct, higher ones
/// may not be.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    let other = word ^ (ONES * u64::from(byte));
    other.wrapping_sub(ONES) & !other & (ONES << 7)
}

/// Returns the offset of the first `byte` from `at` on. The next eight bytes are compared first, because most are near,
/// and `memchr` is slower for these.
#[inline]
pub(crate) fn find(bytes: &[u8], at: usize, byte: u8) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if let Some(chunk) = rest.first_chunk() {
        let hits = equal(u64::from_le_bytes(*chunk), byte);
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
    }
    memchr(byte, rest).map(|length| at + length)
}

/// Returns the offset of the first of three bytes from `at` on, which is usually near.
#[inline]
fn find_any(bytes: &[u8], mut at: usize, [one, two, three]: [u8; 3]) -> Option<usize> {
    while let Some(chunk) = bytes.get(at..)?.first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let hits = equal(word, one) | equal(word, two) | equal(word, three);
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes[at..].iter().position(|byte| [one, two, three].contains(byte)).map(|length| at + length)
}
