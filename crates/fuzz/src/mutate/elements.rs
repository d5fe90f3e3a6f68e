//! Changes to elements and to tags.

use super::Change;
use super::markup::{Kind, Markup};

impl Change<'_> {
    /// Changes whole elements. A well-formed message usually stays well-formed.
    pub(super) fn elements(&mut self, markup: &Markup) {
        let Some(one) = self.pick(&markup.elements) else { return };
        let Some(other) = self.pick(&markup.elements) else { return };
        let bytes = self.text[one.clone()].to_vec();
        match self.random.u32(0..8) {
            0 => self.replace(one, b""),
            1 | 2 => {
                let times = self.times(bytes.len());
                self.replace(one.start..one.start, &bytes.repeat(times));
            }
            3 => self.replace(other, &bytes),
            4 => {
                let at = *self.random.choice([other.start, other.end].as_slice()).unwrap_or(&other.start);
                self.replace(at..at, &bytes);
            }
            5 if one.end <= other.start || other.end <= one.start => {
                let (first, second) = if one.start < other.start { (one, other) } else { (other, one) };
                let first_bytes = self.text[first.clone()].to_vec();
                let second_bytes = self.text[second.clone()].to_vec();
                self.replace(second, &first_bytes);
                self.replace(first, &second_bytes);
            }
            6 => self.nest(markup),
            _ => {
                let others = Markup::read(self.other);
                let Some(from) = self.pick(&others.elements) else { return };
                let at = if self.random.bool() { one } else { one.start..one.start };
                self.replace(at, &self.other[from]);
            }
        }
    }

    /// Wraps an element in the tags of an element of the message, once or many times.
    fn nest(&mut self, markup: &Markup) {
        let Some(element) = self.pick(&markup.elements) else { return };
        let starts: Vec<_> = markup.tags.iter().filter(|tag| tag.kind == Kind::Start).collect();
        let Some(tag) = self.pick(&starts) else { return };
        let begin = self.text[tag.range.clone()].to_vec();
        let end = [b"</", &self.text[tag.name.clone()], b">"].concat();
        let times = self.times(begin.len() + end.len());
        let wrapped = [begin.repeat(times), self.text[element.clone()].to_vec(), end.repeat(times)].concat();
        self.replace(element, &wrapped);
    }

    /// Changes single tags. Few messages stay well-formed.
    pub(super) fn tags(&mut self, markup: &Markup) {
        let Some(tag) = self.pick(&markup.tags) else { return };
        let Some(other) = self.pick(&markup.tags) else { return };
        match self.random.u32(0..9) {
            0 => self.replace(tag.range, b""),
            1 => {
                let bytes = self.text[tag.range.clone()].to_vec();
                let times = self.times(bytes.len());
                self.replace(tag.range.start..tag.range.start, &bytes.repeat(times));
            }
            2 => {
                let bytes = self.text[other.range.clone()].to_vec();
                self.replace(tag.range, &bytes);
            }
            3 | 4 => {
                let name = self.name(markup);
                self.replace(tag.name, &name);
            }
            5 => {
                // Renames both tags of an element. The end tag comes first, so that the offsets of the start tag stay
                // valid.
                let name = self.name(markup);
                let Some(element) = self.pick(&markup.elements) else { return };
                let of = |at: usize| markup.tags.iter().find(|tag| tag.range.start == at || tag.range.end == at);
                let (Some(start), Some(end)) = (of(element.start), of(element.end)) else { return };
                if end.kind == Kind::End && start.name.end <= end.name.start {
                    self.replace(end.name.clone(), &name);
                }
                self.replace(start.name.clone(), &name);
            }
            6 => {
                // Turns an empty-element tag into a start tag, or adds `/` to another tag.
                let end = tag.range.end.saturating_sub(1);
                match tag.kind {
                    Kind::Empty => self.replace(end.saturating_sub(1)..end, b""),
                    _ => self.replace(end..end, b"/"),
                }
            }
            7 => {
                const OTHER: [&[u8]; 5] = [
                    b"<!-- <a id='1'> -->",
                    b"<?p <b id='1'?>",
                    b"<![CDATA[<c id='1'>]]>",
                    b"<!DOCTYPE a []>",
                    b"<?xml version='1.0' encoding='utf-16'?>",
                ];
                let at = if self.random.bool() { tag.range.start } else { tag.range.end };
                let piece = self.pick(&OTHER).unwrap_or_default();
                let times = self.times(piece.len());
                self.replace(at..at, &piece.repeat(times));
            }
            _ => {
                const WHITE: [&[u8]; 5] = [b" ", b"\n  ", b"\t", b"\r\n", b"\xC2\xA0"];
                let at =
                    self.pick(&[tag.name.start, tag.name.end, tag.range.end.saturating_sub(1)]).unwrap_or_default();
                let white = self.pick(&WHITE).unwrap_or_default();
                let times = self.times(white.len());
                self.replace(at..at, &white.repeat(times));
            }
        }
    }

    /// Returns a name for a tag: the name of another tag, also with another prefix or repeated, or an unusual name.
    fn name(&mut self, markup: &Markup) -> Vec<u8> {
        const NAMES: [&[u8]; 11] =
            [b"a", b":", b"a:", b":a", b"a:b:c", b"xml:a", b"xmlns", b"1", b"Fault", b"x:Include", b"\xC3\xA9"];
        let other = self.pick(&markup.tags).map(|tag| self.text[tag.name].to_vec()).unwrap_or_default();
        match self.random.u32(0..4) {
            0 => self.pick(&NAMES).unwrap_or_default().to_vec(),
            1 => {
                let once = self.pick(&markup.tags).map(|tag| self.text[tag.name].to_vec()).unwrap_or_default();
                let prefix = once.split(|&byte| byte == b':').next().unwrap_or_default();
                let local = other.rsplit(|&byte| byte == b':').next().unwrap_or_default();
                [prefix, b":", local].concat()
            }
            2 if other.len() < 16 => {
                let times = self.times(other.len());
                other.repeat(times)
            }
            _ => other,
        }
    }
}
