//! Where something secret is in a message.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::Range;

use castile_databinding::ExpandedName;
use castile_xml::{Memory, Reader, Token};

use super::{Redaction, says_secret};

/// What stands where something secret was.
const REDACTED: &str = "***";

/// What is secret in a message.
#[derive(Debug, Default)]
pub(super) struct Found<'m> {
    text: &'m str,
    /// Where it is: contents and values, in their order. Some may be within others.
    secret: Vec<Range<usize>>,
    /// The elements that are secret, with their tags. What they refer to is not looked for yet.
    elements: Vec<Range<usize>>,
    /// Where references to elements are, and to which.
    references: Vec<(usize, Cow<'m, str>)>,
    targets: Vec<Target<'m>>,
}

/// An element that references may lead to (SOAP 1.1 §5.4.1, SOAP 1.2 Part 2 §3.1.5).
#[derive(Debug)]
struct Target<'m> {
    id: Cow<'m, str>,
    element: Range<usize>,
    content: Option<Range<usize>>,
    is_followed: bool,
}

/// An element whose end has not come.
struct Open<'m> {
    begin: usize,
    content: usize,
    is_secret: bool,
    id: Option<Cow<'m, str>>,
}

impl<'m> Found<'m> {
    /// `None` if the text is no XML.
    pub(super) fn read(text: &'m str, redaction: &Redaction) -> Option<Self> {
        let mut reader = Reader::decoded(text, redaction.limits, &mut Memory::default()).ok()?;
        let mut found = Found { text, ..Found::default() };
        let mut open: Vec<Open<'_>> = Vec::new();
        loop {
            let begin = reader.offset();
            match reader.next().ok()? {
                Token::StartTag(tag) => {
                    let mut id = None;
                    for attribute in reader.attributes() {
                        let (namespace, local) = (attribute.namespace, attribute.name.local());
                        let place = value(text, attribute.offset)?;
                        let as_id = || named(text.get(place.clone()), attribute.value);
                        match local {
                            "id" => id = Some(as_id()),
                            "href" | "ref" => found.references.push((place.start, as_id())),
                            _ => {}
                        }
                        if redaction.by_name && says_secret(local) || is_among(&redaction.attributes, namespace, local)
                        {
                            found.secret.push(place);
                        }
                    }
                    let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
                    let is_secret =
                        redaction.by_name && says_secret(local) || is_among(&redaction.elements, namespace, local);
                    open.push(Open { begin: tag.offset, content: reader.offset(), is_secret, id });
                }
                Token::EndTag(_) => {
                    let Open { begin: start, content, is_secret, id } = open.pop()?;
                    let end = reader.offset();
                    // `<a/>` has no end tag, and no content.
                    let content = (end > begin).then_some(content..begin);
                    if is_secret {
                        found.secret.extend(content.clone());
                        found.elements.push(start..end);
                    }
                    if let Some(id) = id {
                        found.targets.push(Target { id, element: start..end, content, is_followed: false });
                    }
                }
                Token::End => break,
                _ => {}
            }
        }
        found.follow();
        found.secret.sort_unstable_by_key(|range| (range.start, Reverse(range.end)));
        found.secret.dedup();
        Some(found)
    }

    /// What a secret element refers to is secret as well, and what that refers to. Each reference is looked at once.
    fn follow(&mut self) {
        self.targets.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        let Found { secret, elements, references, targets, .. } = self;
        // The next one from each that was not looked at.
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

    /// The text without what is secret.
    pub(super) fn shown(&self) -> String {
        let (mut shown, mut copied) = (String::new(), 0);
        for range in &self.secret {
            // What is within another one is left out with that.
            if let Some(before) = self.text.get(copied..range.start) {
                shown += before;
                shown += REDACTED;
                copied = range.end;
            }
        }
        shown + self.text.get(copied..).unwrap_or_default()
    }
}

fn is_among(names: &[ExpandedName], namespace: &str, local: &str) -> bool {
    names.iter().any(|name| name.is(namespace, local))
}

/// Where the value of the attribute is whose name begins at `offset`, between its quotes.
fn value(text: &str, offset: usize) -> Option<Range<usize>> {
    let rest = text.get(offset..)?;
    let quote_at = rest.find(['"', '\''])?;
    let quote = rest[quote_at..].chars().next()?;
    let from = quote_at + 1;
    let length = rest.get(from..)?.find(quote)?;
    Some(offset + from..offset + from + length)
}

/// The id that a value is, or refers to: as it stands in the message, where that says it.
fn named<'m>(written: Option<&'m str>, value: &str) -> Cow<'m, str> {
    let id = |value| {
        let value = str::trim(value);
        value.strip_prefix('#').unwrap_or(value)
    };
    match written {
        Some(written) if written == value => id(written).into(),
        _ => id(value).to_owned().into(),
    }
}
