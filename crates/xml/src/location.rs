use std::collections::HashMap;
use std::fmt;

use crate::{Limits, Memory, Reader, StartTag, Token};

/// A location in a document, in a form for people.
///
/// It is computed only when an error is shown, by reading the document again up to the offset of the error. Otherwise
/// each message would pay for counting siblings and lines, although errors are rare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The elements that are open at the location, outermost first. An element has its number among the siblings of its
    /// name, unless it is the first of them: `Order/line[2]/quantity`.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
}

/// How many steps are shown at each end of a long path.
const SHOWN_STEPS: usize = 8;

impl Location {
    /// Returns the location of the byte at `offset`. `within` is the local name of an element: the path begins below
    /// the outermost element of that name. So a SOAP envelope can be left out of the path.
    pub fn of(input: &[u8], offset: usize, limits: Limits, within: Option<&str>) -> Location {
        let location = Location::of_each(input, &[offset], limits, within).pop();
        location.unwrap_or_else(|| unreachable!("an offset has a location"))
    }

    /// Returns the locations of the bytes at `offsets`, in the order of `offsets`. The document is read only as often
    /// as for one.
    pub fn of_each(input: &[u8], offsets: &[usize], limits: Limits, within: Option<&str>) -> Vec<Location> {
        let mut sorted = offsets.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let located = paths(input, &sorted, limits, within).into_iter().zip(lines(input, &sorted));
        let located: Vec<Location> = located.map(|(path, (line, column))| Location { path, line, column }).collect();
        let found = |offset| sorted.binary_search(offset).ok().and_then(|at| located.get(at)).cloned();
        offsets.iter().filter_map(found).collect()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Returns line and column of each offset. The offsets must be sorted.
fn lines(input: &[u8], offsets: &[usize]) -> Vec<(usize, usize)> {
    let (mut from, mut line, mut column) = (0, 1, 1);
    let next = |&offset: &usize| {
        let passed = &input[from..offset.min(input.len())];
        from += passed.len();
        let newlines = passed.iter().filter(|&&byte| byte == b'\n').count();
        let in_line = passed.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        line += newlines;
        column = if newlines > 0 { 1 } else { column } + String::from_utf8_lossy(&passed[in_line..]).chars().count();
        (line, column)
    };
    offsets.iter().map(next).collect()
}

/// An element on the path to an offset.
struct Step<'a> {
    parent: usize,
    local: &'a str,
    /// Its number among the siblings of its name.
    number: u32,
    /// How many children were counted so far, for each name that a step below it has.
    counts: HashMap<&'a str, u32>,
}

/// Returns the path to each offset. The offsets must be sorted.
///
/// Reads the document twice: first to find the elements that are open at the offsets, then to count their siblings. So
/// it takes memory only for the paths, however many elements and names the document has.
fn paths<'a>(input: &'a [u8], offsets: &[usize], limits: Limits, within: Option<&str>) -> Vec<String> {
    let Some(&last) = offsets.last() else { return Vec::new() };
    // The first step is the document itself.
    let mut steps = vec![Step { parent: 0, local: "", number: 0, counts: HashMap::new() }];
    let mut by_offset: HashMap<usize, usize> = HashMap::new();
    let mut ends: Vec<usize> = Vec::new();
    let mut open: Vec<(StartTag<'a>, Option<usize>)> = Vec::new();
    let mut reach = |open: &mut Vec<(StartTag<'a>, Option<usize>)>, until: usize| {
        while offsets.get(ends.len()).is_some_and(|&offset| offset < until) {
            let known = open.iter().rposition(|(_, step)| step.is_some());
            let mut parent = known.and_then(|at| open[at].1).unwrap_or(0);
            for (tag, step) in &mut open[known.map_or(0, |at| at + 1)..] {
                let local = tag.name.local();
                steps[parent].counts.insert(local, 0);
                steps.push(Step { parent, local, number: 0, counts: HashMap::new() });
                parent = steps.len() - 1;
                by_offset.insert(tag.offset, parent);
                *step = Some(parent);
            }
            ends.push(parent);
        }
    };
    read_to(input, last, limits, |tag, at| {
        reach(&mut open, at);
        match tag {
            Some(tag) => open.push((tag, None)),
            None => drop(open.pop()),
        }
    });
    reach(&mut open, usize::MAX);
    let mut open: Vec<Option<usize>> = vec![Some(0)];
    read_to(input, last, limits, |tag, _| {
        let Some(tag) = tag else {
            open.pop();
            return;
        };
        let count = open.last().copied().flatten().and_then(|parent| steps[parent].counts.get_mut(tag.name.local()));
        let number = count.map(|count| {
            *count += 1;
            *count
        });
        let step = number.and_then(|number| {
            let step = *by_offset.get(&tag.offset)?;
            steps[step].number = number;
            Some(step)
        });
        open.push(step);
    });
    let path = |&end: &usize| {
        let mut path: Vec<(&str, u32)> = Vec::new();
        let mut step = end;
        while step != 0 {
            path.push((steps[step].local, steps[step].number));
            step = steps[step].parent;
        }
        path.reverse();
        let first = within.and_then(|name| path.iter().position(|(local, _)| *local == name)).map_or(0, |at| at + 1);
        render(&path[first..])
    };
    ends.iter().map(path).collect()
}

/// Calls `tell` for each tag up to `offset`. A start tag is passed with the offset where it begins; an end tag is
/// `None`, with the offset where it ends.
fn read_to<'a>(input: &'a [u8], offset: usize, limits: Limits, mut tell: impl FnMut(Option<StartTag<'a>>, usize)) {
    // What precedes a byte that is not UTF-8 can still be read.
    let readable = input.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let Ok(mut reader) = Reader::decoded(readable, limits, &mut Memory::default()) else { return };
    while reader.offset() <= offset {
        match reader.next() {
            Ok(Token::StartTag(tag)) if tag.offset <= offset => tell(Some(tag), tag.offset),
            // An end tag is a part of its element.
            Ok(Token::EndTag(_)) if reader.offset() <= offset => tell(None, reader.offset()),
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

    /// The location of an offset does not depend on which other offsets are requested.
    #[test]
    fn many_places_are_found_in_one_reading() {
        let input = "<e><Body>\n<o a='é'><l/><l>é<q>ten</q>\n<q/>t</l><m/></o><l/> <o><l>1</l></o></Body></e>";
        let offsets = (0..input.len() + 3).rev().chain([7, 7]);
        let offsets: Vec<usize> = offsets.filter(|&at| at > input.len() || input.is_char_boundary(at)).collect();
        for (limits, within) in [(Limits::default(), Some("Body")), (Limits { depth: 3, ..Limits::default() }, None)] {
            let each = Location::of_each(input.as_bytes(), &offsets, limits, within);
            assert_eq!(each.len(), offsets.len());
            for (&offset, found) in offsets.iter().zip(&each) {
                assert_eq!(*found, Location::of(input.as_bytes(), offset, limits, within), "{offset}");
            }
        }
        assert_eq!(Location::of_each(input.as_bytes(), &[], Limits::default(), None), []);
    }

    #[test]
    fn survives_a_broken_document() {
        let location = Location::of(b"<a><b></a>", 6, Limits::default(), None);
        assert_eq!(location.path, "a/b");
        assert_eq!(Location::of(b"", 7, Limits::default(), None).column, 1);
    }
}
