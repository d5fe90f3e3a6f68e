//! Changes to texts.

use super::Change;
use super::markup::Markup;

/// Values that are hard to parse as some simple type, and texts that are hard to parse as XML.
pub(super) const VALUES: [&[u8]; 44] = [
    b"",
    b" ",
    b"0",
    b"-0",
    b"1",
    b"-1",
    b"+1",
    b"true",
    b"127",
    b"256",
    b"65536",
    b"2147483647",
    b"-2147483649",
    b"9223372036854775807",
    b"18446744073709551616",
    b"99999999999999999999999999999999999999999999",
    b"0.1",
    b"1e400",
    b"-INF",
    b"NaN",
    b"2004-02-30",
    b"2004-02-29T24:00:00Z",
    b"-0001-01-01T00:00:00.999999999999+14:00",
    b"PT1S",
    b"-P99999999999Y",
    b"AAAA",
    b"A===",
    b"0f",
    b"xsd:int",
    b"xsd:int[4294967295]",
    b"xsd:string[2,2][]",
    b"[1]",
    b"a:b",
    b"#1",
    b"#id1",
    b"cid:a",
    b"&lt;&amp;&#x10FFFF;",
    b"&#0;",
    b"&nosuch;",
    b"<![CDATA[x]]>",
    b"]]>",
    b"\xC3\xA9\xF0\x9F\x98\x80",
    b"\xE2\x80\xAE",
    b"\x00",
];

impl Change<'_> {
    pub(super) fn texts(&mut self, markup: &Markup) {
        let Some(one) = self.pick(&markup.texts) else { return };
        let bytes = self.text[one.clone()].to_vec();
        match self.random.u32(0..6) {
            0 => self.replace(one, b""),
            1 | 2 => {
                let value = self.pick(&VALUES).unwrap_or_default();
                self.replace(one, value);
            }
            3 => {
                let Some(other) = self.pick(&markup.texts) else { return };
                let other = self.text[other].to_vec();
                self.replace(one, &other);
            }
            4 => {
                let times = self.times(bytes.len());
                self.replace(one.end..one.end, &bytes.repeat(times));
            }
            _ => {
                let value = self.pick(&VALUES).unwrap_or_default();
                let times = self.times(value.len());
                let at = self.random.usize(one.start..=one.end);
                self.replace(at..at, &value.repeat(times));
            }
        }
    }
}
