//! Changes to lines: heads of HTTP and of MIME parts, boundaries.

use std::ops::Range;

use super::Change;

/// Words of heads.
const WORDS: [&[u8]; 34] = [
    b"GET",
    b"POST",
    b"HEAD",
    b"/",
    b"?wsdl",
    b"?",
    b"text/xml",
    b"text/xml; charset=utf-8",
    b"application/soap+xml",
    b"application/xop+xml",
    b"multipart/related",
    b"charset=",
    b"utf-16",
    b"iso-8859-1",
    b"\"\"",
    b"\"",
    b"type=\"text/xml\"",
    b"start=\"<root>\"",
    b"boundary=b",
    b"boundary=\"\"",
    b"action=\"\"",
    b"--",
    b"--b",
    b"--b--",
    b"Content-Type: text/xml",
    b"Content-ID: <root>",
    b"Content-Transfer-Encoding: base64",
    b"Content-Transfer-Encoding: quoted-printable",
    b"Content-Encoding: gzip",
    b"SOAPAction: \"\"",
    b"Host: a",
    b"Expect: 100-continue",
    b"Accept: multipart/related",
    b"; a=b",
];

impl Change<'_> {
    pub(super) fn lines(&mut self) {
        let mut lines: Vec<Range<usize>> = Vec::new();
        for line in self.text.split_inclusive(|&byte| byte == b'\n') {
            let start = lines.last().map_or(0, |line| line.end);
            lines.push(start..start + line.len());
        }
        // Lines of a head are short, and the important ones come first.
        let heads: Vec<_> = lines.into_iter().filter(|line| line.len() < 300).take(60).collect();
        let (Some(one), Some(other)) = (self.pick(&heads), self.pick(&heads)) else { return };
        let bytes = self.text[one.clone()].to_vec();
        let word = self.pick(&WORDS).unwrap_or_default();
        match self.random.u32(0..7) {
            0 => self.replace(one, b""),
            1 => {
                let times = self.times(bytes.len());
                self.replace(one.start..one.start, &bytes.repeat(times));
            }
            2 => {
                let other = self.text[other].to_vec();
                self.replace(one, &other);
            }
            3 => self.replace(one.start..one.start, &[word, b"\r\n"].concat()),
            4 => {
                // After the colon, or at one of the parameters.
                let from = bytes.iter().position(|byte| matches!(byte, b':' | b';' | b'=')).map_or(0, |at| at + 1);
                let line_end = bytes.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
                let end = (bytes.len() - line_end).max(from);
                self.replace(one.start + from..one.start + end, word);
            }
            5 => {
                let at = self.random.usize(one.start..=one.end);
                let times = self.times(word.len());
                self.replace(at..at, &word.repeat(times));
            }
            _ => {
                // Changes the line end.
                let end = *self
                    .random
                    .choice([b"\n".as_slice(), b"\r\n", b"\r", b"\r\n ", b"\r\n\r\n"].as_slice())
                    .unwrap_or(&b"\n".as_slice());
                let white = bytes.iter().rev().take_while(|byte| byte.is_ascii_whitespace()).count();
                self.replace(one.end - white..one.end, end);
            }
        }
    }
}
