//! A document that arrives in pieces has the tokens and the errors of the whole document, wherever it is cut.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod splits;

use std::path::{Path, PathBuf};

use castile_xml::{Chunk, Error, ErrorKind, Limits, PushReader, Token};
use splits::compare;

/// Returns the documents in a directory, with their names.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "xml"));
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Returns the documents of `pieces/documents.txt`.
fn documents() -> Vec<Vec<u8>> {
    include_str!("pieces/documents.txt").lines().skip(1).map(unescaped).collect()
}

fn unescaped(line: &str) -> Vec<u8> {
    let mut parts = line.split('\\');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        let (what, rest) = part.split_at(1);
        let (number, rest) = match rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            Some((number, rest)) => (u32::from_str_radix(number, 16).unwrap(), rest),
            None => (0, rest),
        };
        match what {
            "n" => bytes.push(b'\n'),
            "t" => bytes.push(b'\t'),
            "r" => bytes.push(b'\r'),
            "x" => bytes.push(u8::try_from(number).unwrap()),
            "u" => bytes.extend(char::from_u32(number).unwrap().to_string().bytes()),
            other => panic!("\\{other} in {line}"),
        }
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

fn read(mut piece: Chunk<'_>) -> Result<(), Error> {
    while piece.next()?.is_some() {}
    Ok(())
}

/// Returns the default limits with some changes.
fn limits(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

#[test]
fn documents_are_the_same_wherever_they_are_cut() {
    let files = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pieces"));
    assert!(files.len() > 5, "{} documents", files.len());
    for bytes in documents().into_iter().chain(files.into_iter().map(|(_, bytes)| bytes)) {
        compare(&bytes, Limits::default(), (0..=bytes.len()).map(|at| vec![at]));
        compare(&bytes, Limits::default(), (2..9).map(|length| vec![length; bytes.len()]));
    }
}

/// Each limit is exceeded by a document, and at the same offset.
#[test]
fn limits_are_the_same_wherever_a_document_is_cut() {
    let documents = [
        documents(),
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pieces"))
            .into_iter()
            .map(|(_, bytes)| bytes)
            .collect(),
        vec![
            b"<a>123456<![CDATA[1234567]]>123<!--12345678-->1234567890</a>".to_vec(),
            b"<a><![CDATA[12345678901234567890]]></a>".to_vec(),
            b"<a><![CDATA[1234567890\x01]]></a>".to_vec(),
            b"<a>1234567890]]>1</a>".to_vec(),
            b"<a>1234567890\xC3</a>".to_vec(),
            b"<a>1&lt;&lt;&lt;&bad;</a>".to_vec(),
            b"<a                                                    >1</a>".to_vec(),
            b"<a></a                                                    >".to_vec(),
            b"<a></b                                                    >".to_vec(),
            b"</a                                                    >".to_vec(),
            b"<a b='1' c='                                                    ".to_vec(),
            b"<?xml version='1.0'                                  ?><a/>".to_vec(),
            b"<a>&#0000000000000000000000000000000000000000000000065;</a>".to_vec(),
            b"<a b='&nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn;'/>".to_vec(),
        ],
    ]
    .concat();
    for length in 1..20 {
        for limits in [
            limits(|limits| limits.message_size = 3 * length),
            limits(|limits| limits.text_length = length - 1),
            limits(|limits| (limits.markup_length, limits.name_length) = (2 * length, 6)),
            limits(|limits| {
                (limits.markup_length, limits.name_length, limits.text_length) = (20 + 2 * length, 6, length)
            }),
            limits(|limits| limits.name_length = length),
            limits(|limits| (limits.depth, limits.attributes, limits.namespaces) = (length, length, length)),
        ] {
            for bytes in documents.iter().filter(|bytes| bytes.len() < 200) {
                compare(bytes, limits, (0..=bytes.len()).step_by(3).map(|at| vec![at]));
            }
        }
    }
}

/// The messages of the codec workloads.
#[castile_corpus::needs("workloads/codec")]
#[test]
fn messages_are_the_same_wherever_they_are_cut() {
    for (path, bytes) in files(Path::new(castile_corpus::path!("workloads/codec"))) {
        if bytes.len() < 20_000 {
            println!("{}", path.display());
            compare(&bytes, Limits::default(), (0..=bytes.len()).step_by(61).map(|at| vec![at]));
            compare(&bytes, Limits::default(), [7, 100, 1_000, 4_096].map(|length| vec![length; bytes.len()]));
        }
    }
}

#[test]
fn memory_does_not_grow_with_the_document() {
    let limits = limits(|limits| (limits.message_size, limits.text_length) = (usize::MAX, usize::MAX));
    let record = "<record number='1'><name>é&amp;</name><![CDATA[ ]]]]><!-- --><empty/></record>\r\n";
    let line = "0123456789abcdef".repeat(4) + "\n";
    for (begin, repeated, end, size) in [
        ("<a>", record, "</a>", 2 << 20),
        ("<a>", &line, "</a>", 64 << 20),
        ("<a><![CDATA[", &line, "]]></a>", 4 << 20),
        ("<a/>", " \r\n\t", "", 1 << 20),
    ] {
        let body = repeated.repeat(8_192 / repeated.len());
        let mut pieces = PushReader::new(None, limits);
        let (mut capacity, mut read, mut texts) = (0, 0, 0);
        let mut push = |bytes: &[u8]| {
            let mut piece = pieces.push(bytes);
            while let Some(token) = piece.next().unwrap() {
                texts += if let Token::Text(text) = token { text.len() } else { 0 };
            }
            read = piece.offset();
            drop(piece);
            capacity = capacity.max(pieces.capacity());
        };
        push(begin.as_bytes());
        let count = size / body.len() + 1;
        for _ in 0..count {
            push(body.as_bytes());
        }
        push(end.as_bytes());
        assert_eq!(read, begin.len() + count * body.len() + end.len());
        assert_eq!(pieces.end().next(), Ok(None));
        assert!(capacity < 32 << 10, "{capacity} bytes for {repeated}");
        if repeated == line {
            assert_eq!(texts, count * body.len());
        }
    }
}

/// Incomplete markup is not scanned again for each byte that arrives, and the names of open elements are not moved for
/// it.
#[test]
fn long_markup_and_deep_elements_cost_what_they_are_long() {
    let limits = limits(|limits| limits.depth = 50_000);
    let long = "x".repeat(300_000);
    let deep = "<element>".repeat(50_000);
    for document in [
        format!("<a b='{long}'/>"),
        format!("<a><!--{long}--></a>"),
        format!("<a><?p {long}?></a>"),
        format!("<a {}/>", " ".repeat(300_000)),
        deep + &"</element>".repeat(50_000),
    ] {
        let mut pieces = PushReader::new(None, limits);
        for byte in document.as_bytes().chunks(1) {
            read(pieces.push(byte)).unwrap();
        }
        assert_eq!(pieces.end().next(), Ok(None));
    }
}

/// A tag or a reference without an end is rejected, and not buffered without limit.
#[test]
fn markup_is_not_stored_forever() {
    let limits = limits(|limits| (limits.message_size, limits.markup_length) = (usize::MAX, 10_000));
    let markup = ["<a ", "<a b='", "<a b\"", "<!--", "<?p ", "<a></a "].map(|begin| (begin, b' ', 10_000));
    let references = ["<a>&#", "<a>x&"].map(|begin| (begin, b'0', limits.name_length));
    for (begin, filler, longest) in markup.into_iter().chain(references) {
        let mut pieces = PushReader::new(None, limits);
        let mut pushed = 0;
        let error = loop {
            let bytes = if pushed == 0 { begin.as_bytes() } else { &[filler; 1_000] };
            pushed += bytes.len();
            if let Err(error) = read(pieces.push(bytes)) {
                break error;
            }
        };
        assert_eq!((error.kind(), pushed), (ErrorKind::Limit, begin.len() + longest), "{begin}: {error}");
    }
}

#[test]
fn the_unread_end_of_a_chunk_is_read_with_the_next() {
    let mut pieces = PushReader::new(None, Limits::default());
    for bytes in [&b"<a>"[..], b"te", b"xt<b", b"/></a>"] {
        pieces.push(bytes);
    }
    let mut piece = pieces.end();
    let mut tokens = Vec::new();
    while let Some(token) = piece.next().unwrap() {
        tokens.push(format!("{token:?}"));
    }
    assert_eq!(tokens.len(), 5, "{tokens:?}");
}

/// Once, each reference caused another search of the rest of the text for tags.
#[test]
fn many_references_in_one_long_text_take_linear_time() {
    for (repeated, behind) in [("&amp;", "</a>"), ("\r", "</a>"), ("&amp;", "<!-- --></a>")] {
        let document = format!("<a>{}{behind}", repeated.repeat(1 << 20));
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut limits = Limits::default();
            limits.text_length = document.len();
            let mut pieces = PushReader::new(None, limits);
            let mut length = 0;
            let mut piece = pieces.push(document.as_bytes());
            while let Some(token) = piece.next().unwrap() {
                length += if let Token::Text(text) = token { text.len() } else { 0 };
            }
            let _ = sender.send(length);
        });
        let outcome = receiver.recv_timeout(std::time::Duration::from_secs(60));
        assert_eq!(outcome, Ok(1 << 20), "{repeated:?} before {behind}");
    }
}
