//! Thousands of random documents show that no broken document makes the reader panic or read past its input, and that
//! each is read the same way in pieces.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod splits;

use castile_xml::{Error, Limits, Location, Reader, Token};

const PIECES: [&str; 48] = [
    "<",
    "</",
    "/>",
    ">",
    "<!",
    "<!--",
    "-->",
    "--",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<?xml version='1.0'",
    "<?xml",
    "encoding='",
    "<!DOCTYPE",
    "&",
    "&#",
    "&#x",
    ";",
    "&amp;",
    "'",
    "\"",
    "=",
    " ",
    "\n",
    "\r",
    "\t",
    ":",
    "a",
    "b:",
    "a:b",
    "xmlns",
    "xmlns:a='u'",
    "xmlns=''",
    " a='1'",
    "<a>",
    "</a>",
    "<a:b>",
    "<a/>",
    "-",
    "×",
    "é",
    "\u{FFFE}",
    "\u{1F600}",
    "\0",
    "\u{FEFF}",
    "text",
];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % end
    }
}

/// Reads to the end or the first error, and calls every method that returns something about the document.
fn read(input: &[u8], limits: Limits) -> Result<usize, Error> {
    let mut reader = Reader::new(input, limits)?;
    let mut tokens = 0;
    loop {
        let before = reader.offset();
        let token = reader.next()?;
        assert!(reader.offset() >= before && reader.offset() <= input.len());
        assert!(reader.depth() <= limits.depth);
        tokens += 1;
        match token {
            Token::StartTag(tag) => {
                assert_eq!(input[tag.offset], b'<');
                assert!(!tag.name.local().is_empty());
                for attribute in reader.attributes() {
                    assert!(!attribute.name.local().is_empty() && attribute.offset < input.len());
                }
            }
            Token::End => return Ok(tokens),
            _ => {}
        }
    }
}

#[test]
fn nothing_panics() {
    let mut random = Random(0x5DEE_CE66_D1CE_4E5B);
    let (mut right, mut refused) = (0, 0);
    for _ in 0..60_000 {
        let mut input = String::new();
        for _ in 0..1 + random.below(12) {
            input.push_str(PIECES[random.below(PIECES.len())]);
        }
        if random.below(3) > 0 {
            input = format!("<r xmlns:a='v'>{input}</r>");
        }
        let mut bytes = input.into_bytes();
        if random.below(10) == 0 {
            let at = random.below(bytes.len());
            bytes[at] = random.below(256) as u8;
        }
        let mut limits = Limits::default();
        if random.below(4) == 0 {
            (limits.depth, limits.attributes, limits.namespaces, limits.name_length) = (2, 1, 2, 3);
        }
        if random.below(4) == 0 {
            (limits.text_length, limits.name_length) = (random.below(20), 1 + random.below(5));
            limits.markup_length = random.below(40);
        }
        let lengths = [(); 3].map(|()| 1 + random.below(9));
        splits::compare(&bytes, limits, [lengths.repeat(bytes.len()), vec![random.below(bytes.len() + 1)]]);
        match read(&bytes, limits) {
            Ok(tokens) => right += usize::from(tokens > 3),
            Err(error) => {
                assert!(error.offset() <= bytes.len(), "{error}: {:?}", String::from_utf8_lossy(&bytes));
                assert!(!error.message().is_empty());
                refused += 1;
                for offset in [error.offset(), random.below(bytes.len() + 2)] {
                    let location = Location::of(&bytes, offset, limits, Some("r"));
                    assert!(location.line >= 1 && location.column >= 1);
                }
            }
        }
    }
    assert!(right > 1_000 && refused > 30_000, "{right} were right, {refused} refused: no fair attack");
}

/// The time is linear, whatever is repeated. Otherwise these would take hours.
#[test]
fn nothing_is_quadratic() {
    const SIZE: usize = 1 << 18;
    let mut limits = Limits::default();
    (limits.depth, limits.namespaces, limits.attributes) = (SIZE, SIZE, 1 << 12);
    for (before, piece, after) in [
        ("<a b='", "\t", "'/>"),
        ("<a b='", "\n", "'/>"),
        ("<a b='", "\r\n", "'/>"),
        ("<a b='", "&#9;", "'/>"),
        ("<a b='", "\u{FF0C}", "'/>"),
        ("<a b='", "\"", "'/>"),
        ("<a>", "\t", "</a>"),
        ("<a>", "\r", "</a>"),
        ("<a>", "]", "</a>"),
        ("<a>", "]] >", "</a>"),
        ("<a>", "&lt;", "</a>"),
        ("<a>", "&#x000000000000000000000000000000000000000000041;", "</a>"),
        ("<a>", "\u{FF0C}", "</a>"),
        ("<a>", "<![CDATA[]]>", "</a>"),
        ("<a><![CDATA[", "]", "]]></a>"),
        ("<a><!--", "- ", "--></a>"),
        ("<a><?b ", "?", "?></a>"),
        ("<a>", "<b/>", "</a>"),
        ("<a>", "<b x='1' y='2'></b>", "</a>"),
        ("<a", " ", "/>"),
        ("<a>", "<b>", ""),
        ("<a>", "<b xmlns:b='urn:b'>", ""),
        ("<", "a", "/>"),
        ("<a>&", "a", ";</a>"),
        ("", " ", "<a/>"),
        ("", "<!---->", "<a/>"),
    ] {
        let document = format!("{before}{}{after}", piece.repeat(SIZE / piece.len()));
        let mut reader = Reader::new(document.as_bytes(), limits).unwrap();
        while reader.next().is_ok_and(|token| token != Token::End) {}
    }
}
