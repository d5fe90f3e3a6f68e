//! Finds the secrets in a message.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::{Bound, Range};

use castile_databinding::ExpandedName;
use castile_xml::{Memory, Reader, Token};

use super::{Redaction, is_secret_name};

/// The text that replaces a secret.
const REDACTED: &str = "***";

/// The length in bytes from which the beginning of a word counts as the word, because errors truncate what they quote.
const MIN_PREFIX: usize = 8;

/// The secrets in a message.
#[derive(Debug, Default)]
pub(super) struct Found<'m> {
    text: &'m str,
    /// The ranges of the secrets in document order: contents of elements and values of attributes.
    secret: Vec<Range<usize>>,
    /// The texts and attribute values with their offsets, if they were requested.
    texts: Vec<(usize, Cow<'m, str>)>,
    /// The secret elements with their tags, whose references are not followed yet.
    elements: Vec<Range<usize>>,
    /// The offsets and ids of references to elements.
    references: Vec<(usize, Cow<'m, str>)>,
    targets: Vec<Target<'m>>,
}

/// An element that can be referred to (SOAP 1.1 §5.4.1, SOAP 1.2 Part 2 §3.1.5).
#[derive(Debug)]
struct Target<'m> {
    id: Cow<'m, str>,
    element: Range<usize>,
    content: Option<Range<usize>>,
    is_followed: bool,
}

/// An element whose end tag is not read yet.
struct Open<'m> {
    begin: usize,
    content: usize,
    is_secret: bool,
    id: Option<Cow<'m, str>>,
}

impl<'m> Found<'m> {
    /// Returns `None` if the text is not XML. If `is_said_kept`, texts are stored for [`secrets`](Self::secrets) and
    /// [`tells`](Self::tells).
    pub(super) fn read(text: &'m str, redaction: &Redaction, is_said_kept: bool) -> Option<Self> {
        let mut reader = Reader::decoded(text, redaction.limits, &mut Memory::default()).ok()?;
        let mut found = Found { text, ..Found::default() };
        let mut open: Vec<Open<'_>> = Vec::new();
        // Adjacent text tokens are joined. CDATA sections and comments separate them.
        let mut is_text = false;
        loop {
            let begin = reader.offset();
            match reader.next().ok()? {
                Token::StartTag(tag) => {
                    is_text = false;
                    let mut id = None;
                    for attribute in reader.attributes() {
                        let (namespace, local) = (attribute.namespace, attribute.name.local());
                        let place = value(text, attribute.offset)?;
                        let said = || as_written(text.get(place.clone()), attribute.value);
                        match local {
                            "id" => id = Some(id_of(said())),
                            "href" | "ref" => found.references.push((place.start, id_of(said()))),
                            _ => {}
                        }
                        if is_said_kept {
                            found.texts.push((place.start, said()));
                        }
                        if redaction.by_name && is_secret_name(local)
                            || is_among(&redaction.attributes, namespace, local)
                        {
                            found.secret.push(place);
                        }
                    }
                    let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
                    let is_secret =
                        redaction.by_name && is_secret_name(local) || is_among(&redaction.elements, namespace, local);
                    open.push(Open { begin: tag.offset, content: reader.offset(), is_secret, id });
                }
                Token::EndTag(_) => {
                    is_text = false;
                    let Open { begin: start, content, is_secret, id } = open.pop()?;
                    let end = reader.offset();
                    // An empty-element tag such as `<a/>` has no content.
                    let content = (end > begin).then_some(content..begin);
                    if is_secret {
                        found.secret.extend(content.clone());
                        found.elements.push(start..end);
                    }
                    if let Some(id) = id {
                        found.targets.push(Target { id, element: start..end, content, is_followed: false });
                    }
                }
                Token::Text(said) if is_said_kept => match found.texts.last_mut().filter(|_| is_text) {
                    Some((_, before)) => before.to_mut().push_str(&said),
                    None => {
                        found.texts.push((begin, said));
                        is_text = true;
                    }
                },
                Token::End => break,
                _ => {}
            }
        }
        found.follow();
        found.secret.sort_unstable_by_key(|range| (range.start, Reverse(range.end)));
        found.secret.dedup();
        // Remove ranges that are inside another range.
        let mut end = 0;
        found.secret.retain(|range| {
            let is_within = range.start < end;
            end = end.max(range.end);
            !is_within
        });
        Some(found)
    }

    /// Marks the elements that a secret element refers to as secret too, recursively. Follows each reference only once.
    fn follow(&mut self) {
        self.targets.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        let Found { secret, elements, references, targets, .. } = self;
        // For each index, the next reference that was not followed yet.
        let mut next: Vec<usize> = (0..=references.len()).collect();
        while let Some(element) = elements.pop() {
            let mut number = references.partition_point(|(offset, _)| *offset < element.start);
            loop {
                while next[number] != number {
                    next[number] = next[next[number]];
                    number = next[number];
                }
                let Some((_, id)) = references.get(number).filter(|(offset, _)| *offset < element.end) else { break };
                next[number] = number + 1;
                let first = targets.partition_point(|target| target.id < *id);
                for target in targets[first..].iter_mut().take_while(|target| target.id == *id) {
                    if std::mem::replace(&mut target.is_followed, true) {
                        break;
                    }
                    secret.extend(target.content.clone());
                    elements.push(target.element.clone());
                }
            }
        }
    }

    /// Returns the text with the secrets replaced.
    pub(super) fn shown(&self) -> String {
        let (mut shown, mut copied) = (String::new(), 0);
        for range in &self.secret {
            shown += self.text.get(copied..range.start).unwrap_or_default();
            shown += REDACTED;
            copied = range.end;
        }
        shown + self.text.get(copied..).unwrap_or_default()
    }

    /// Returns the words in the secrets.
    pub(super) fn secrets(&self) -> BTreeSet<String> {
        let secret = self.texts.iter().filter(|(offset, _)| self.is_secret(*offset));
        secret.flat_map(|(_, said)| words(said)).map(str::to_owned).collect()
    }

    /// Returns whether texts that are shown contain words of these secrets.
    pub(super) fn shows_any(&self, secrets: &BTreeSet<String>) -> bool {
        let is_told = |text: &str| words(text).any(|word| is_of(secrets, word));
        let mut shown = self.texts.iter().filter(|(offset, _)| !self.is_secret(*offset));
        shown.any(|(_, said)| is_told(said) || is_told(&without_escapes(said)))
    }

    fn is_secret(&self, offset: usize) -> bool {
        let behind = self.secret.partition_point(|range| range.start <= offset);
        self.secret[..behind].last().is_some_and(|range| offset < range.end)
    }
}

/// Splits a text into words. Quoting doesn't change the words.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_word = |c: char| c.is_alphanumeric() && c.escape_debug().next() == Some(c);
    text.split(move |c| !is_of_word(c)).filter(|word| !word.is_empty())
}

/// Replaces the escapes of Rust's `{:?}` with spaces, because a text may quote another text.
fn without_escapes(text: &str) -> String {
    let (mut without, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, behind)) = rest.split_once('\\') {
        without += before;
        without.push(' ');
        rest = match behind.strip_prefix('u') {
            Some(number) => {
                let number = number.trim_start_matches('{').trim_start_matches(|c: char| c.is_ascii_hexdigit());
                number.strip_prefix('}').unwrap_or(number)
            }
            None => behind.strip_prefix(|_: char| true).unwrap_or_default(),
        };
    }
    without + rest
}

/// Returns whether a word is in the set, or is the beginning of one that is.
fn is_of(words: &BTreeSet<String>, word: &str) -> bool {
    let from = (Bound::Included(word), Bound::Unbounded);
    let next = words.range::<str, _>(from).next();
    next.is_some_and(|next| next == word || (word.len() >= MIN_PREFIX && next.starts_with(word)))
}

fn is_among(names: &[ExpandedName], namespace: &str, local: &str) -> bool {
    names.iter().any(|name| name.is(namespace, local))
}

/// Returns the range between the quotes of the attribute whose name begins at `offset`.
fn value(text: &str, offset: usize) -> Option<Range<usize>> {
    let rest = text.get(offset..)?;
    let quote_at = rest.find(['"', '\''])?;
    let quote = rest[quote_at..].chars().next()?;
    let from = quote_at + 1;
    let length = rest.get(from..)?.find(quote)?;
    Some(offset + from..offset + from + length)
}

/// Borrows a value from the message if it has no references; otherwise copies it.
fn as_written<'m>(written: Option<&'m str>, value: &str) -> Cow<'m, str> {
    match written {
        Some(written) if written == value => written.into(),
        _ => value.to_owned().into(),
    }
}

/// Returns the id in an attribute's value: an id, or a reference to one.
fn id_of(value: Cow<'_, str>) -> Cow<'_, str> {
    fn id(value: &str) -> &str {
        let value = value.trim();
        value.strip_prefix('#').unwrap_or(value)
    }
    match value {
        Cow::Borrowed(value) => id(value).into(),
        Cow::Owned(value) => id(&value).to_owned().into(),
    }
}
