//! Invalid packages, each in a file, and their errors.
//!
//! A file begins with lines of our own, up to an empty one: `Content-Type`; `Limits`, if the defaults don't apply;
//! `Get`, the URL of a requested attachment, if they are not all read in order. The expected error is in a file next to
//! it. `BLESS=1 cargo test -p castile-mime --test bad` writes the errors again: review the diff.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod splits;

use std::path::Path;

use bytes::Bytes;
use castile_mime::{Error, Limits, Message, Related};
use futures_util::{FutureExt, StreamExt, stream};
use http_body::Frame;
use http_body_util::StreamBody;

struct Case<'a> {
    content_type: &'a str,
    limits: Limits,
    get: Option<&'a str>,
    body: &'a [u8],
}

impl<'a> Case<'a> {
    fn parse(file: &'a [u8]) -> Self {
        let empty = file.windows(4).position(|window| window == b"\r\n\r\n").expect("an empty line");
        let mut case = Case { content_type: "", limits: Limits::default(), get: None, body: &file[empty + 4..] };
        for line in std::str::from_utf8(&file[..empty]).unwrap().lines() {
            match line.split_once(": ").expect("a name and a value") {
                ("Content-Type", value) => case.content_type = value,
                ("Limits", value) => limit(&mut case.limits, value),
                ("Get", value) => case.get = Some(value),
                (name, _) => panic!("{name} means nothing"),
            }
        }
        case
    }

    /// Reads everything, from a body in chunks of this length.
    fn read(&self, length: usize) -> Result<(), Error> {
        let related = Related::parse(self.content_type)?;
        let pieces: Vec<Bytes> = self.body.chunks(length).map(Bytes::copy_from_slice).collect();
        let frames = stream::iter(pieces).map(|piece| Ok::<_, std::io::Error>(Frame::data(piece)));
        let read = async {
            let mut message = Message::read(&related, StreamBody::new(frames), self.limits).await?;
            if let Some(url) = self.get {
                message.attachments.by_url(url).await?;
            }
            message.attachments.collect(1 << 20).await.map(drop)
        };
        read.now_or_never().expect("all is at hand")
    }
}

fn limit(limits: &mut Limits, line: &str) {
    let (name, value) = line.split_once('=').unwrap();
    let value: u32 = value.parse().unwrap();
    match name {
        "body_size" => limits.body_size = value.into(),
        "root_size" => limits.root_size = value as usize,
        "parts" => limits.parts = value,
        "head_lines" => limits.head_lines = value as usize,
        "head_size" => limits.head_size = value as usize,
        "preamble_size" => limits.preamble_size = value as usize,
        "stored" => limits.stored = value.into(),
        name => panic!("{name} is no limit"),
    }
}

#[test]
fn each_error_is_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|extension| extension == "msg")).collect();
    files.sort();
    assert!(files.len() > 40, "{} files are too few to be all", files.len());
    let mut wrong = String::new();
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        let case = Case::parse(&bytes);
        let error = case.read(bytes.len()).expect_err(&file.display().to_string());
        let said = format!("{:?}: {error}\n", error.kind());
        for length in [1, 7] {
            assert_eq!(case.read(length).unwrap_err().to_string(), error.to_string(), "{}", file.display());
        }
        if let Ok(related) = Related::parse(case.content_type) {
            splits::compare(related.boundary(), case.limits, case.body, &[1, 5, 11]);
        }
        let expected = file.with_extension("error");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(expected, said).unwrap();
        } else if std::fs::read_to_string(&expected).ok().as_ref() != Some(&said) {
            wrong.push_str(&format!("{}: {said}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "these errors are not as expected:\n{wrong}");
}
