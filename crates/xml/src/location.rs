use std::fmt;

use crate::{Limits, Memory, Reader, StartTag, Token};

/// A place in a document as people look for it.
///
/// It is worked out only when an error is to be shown, by reading the document once more up to the place: a reader
/// that keeps count of siblings and lines for every message would pay for errors that don't come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The elements that are open at the place, outermost first, each with its number among siblings of its name
    /// where that is not the first: `Order/line[2]/quantity`.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

/// Steps of a path that are shown at either end of a long one.
const SHOWN_STEPS: usize = 8;

impl Location {
    /// The location of the byte at `offset`. `within` is the local name of an element: the path begins below the
    /// first one of that name, so that a SOAP envelope doesn't stand before every path.
    pub fn of(input: &[u8], offset: usize, limits: Limits, within: Option<&str>) -> Location {
        let before = &input[..offset.min(input.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        Location {
            path: path_to(input, offset, limits, within),
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            column: 1 + String::from_utf8_lossy(&before[line_start..]).chars().count(),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Reads the document twice: first for what is open at the place, then for the siblings of that. So the memory it takes
/// is that of the path, however many elements of however many names there are.
fn path_to(input: &[u8], offset: usize, limits: Limits, within: Option<&str>) -> String {
    let mut open: Vec<StartTag<'_>> = Vec::new();
    read_to(input, offset, limits, |tag| match tag {
        Some(tag) => open.push(tag),
        None => drop(open.pop()),
    });
    let mut steps: Vec<(&str, u32)> = open.iter().map(|tag| (tag.name.local(), 0)).collect();
    let (mut depth, mut on_path) = (0, 0);
    read_to(input, offset, limits, |tag| match tag {
        Some(tag) => {
            if depth == on_path
                && let Some((local, number)) = steps.get_mut(depth)
            {
                *number += u32::from(*local == tag.name.local());
                on_path += usize::from(open[depth].offset == tag.offset);
            }
            depth += 1;
        }
        None => depth -= 1,
    });
    let first = within.and_then(|name| steps.iter().position(|(local, _)| *local == name)).map_or(0, |at| at + 1);
    render(&steps[first..])
}

/// Tells `tell` of the tags up to `offset`; `None` is an end tag.
fn read_to<'a>(input: &'a [u8], offset: usize, limits: Limits, mut tell: impl FnMut(Option<StartTag<'a>>)) {
    // What stands before a byte that is not UTF-8 can be read all the same.
    let readable = input.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let Ok(mut reader) = Reader::decoded(readable, limits, &mut Memory::default()) else { return };
    while reader.offset() <= offset {
        match reader.next() {
            Ok(Token::StartTag(tag)) if tag.offset <= offset => tell(Some(tag)),
            // The end tag itself still belongs to its element.
            Ok(Token::EndTag(_)) if reader.offset() <= offset => tell(None),
            Ok(Token::Text(_) | Token::Comment(_) | Token::Instruction { .. }) => {}
            _ => break,
        }
    }
}

fn render(steps: &[(&str, u32)]) -> String {
    let mut path = String::new();
    for (index, (local, number)) in steps.iter().enumerate() {
        if index >= SHOWN_STEPS && index + SHOWN_STEPS < steps.len() {
            if index == SHOWN_STEPS {
                path.push_str("/…");
            }
            continue;
        }
        if index > 0 {
            path.push('/');
        }
        path.push_str(local);
        if *number > 1 {
            path.push_str(&format!("[{number}]"));
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_path_line_and_column() {
        let input = "<e><Body>\n<o><l/><l>é<q>ten</q></l></o></Body></e>";
        let offset = input.find("ten").unwrap();
        let location = Location::of(input.as_bytes(), offset, Limits::default(), Some("Body"));
        assert_eq!(location, Location { path: "o/l[2]/q".into(), line: 2, column: 15 });
        assert_eq!(Location::of(input.as_bytes(), 0, Limits::default(), None).path, "e");
    }

    #[test]
    fn survives_a_broken_document() {
        let location = Location::of(b"<a><b></a>", 6, Limits::default(), None);
        assert_eq!(location.path, "a/b");
        assert_eq!(Location::of(b"", 7, Limits::default(), None).column, 1);
    }
}
