//! Unchanged messages written by other engines, from the tests of Apache Axiom.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod splits;

use std::path::Path;

use bytes::Bytes;
use castile_mime::{Limits, Message, Related, TransferEncoding};
use futures_util::FutureExt;
use http_body_util::Full;

/// A message: its Content-Type without the boundary, the number of its attachments, and the URL and content of one of
/// them. The lengths were computed with Python (`split`, `quopri`).
struct Case {
    file: &'static str,
    start: Option<&'static str>,
    attachments: usize,
    url: &'static str,
    length: usize,
    encoding: TransferEncoding,
    action: Option<&'static str>,
}

const CASES: &[Case] = &[
    Case {
        file: "axiom-api/src/test/resources/mtom/ImageMTOMOut.bin",
        start: Some("<SOAPPart>"),
        attachments: 1,
        url: "cid:-4737226364955758283",
        length: 77_244,
        encoding: TransferEncoding::Binary,
        action: None,
    },
    Case {
        file: "axiom-legacy-attachments/src/test/resources/mtom/msg-soap-wls81.txt",
        start: Some("__WLS__1188904239161__SOAP__"),
        attachments: 1,
        url: "cid:__WLS__1188904239162__SOAP__",
        length: 25_831,
        encoding: TransferEncoding::SevenBit,
        action: None,
    },
    Case {
        file: "axiom-legacy-attachments/src/test/resources/mtom/zero-length-attachment.bin",
        start: None,
        attachments: 1,
        url: "cid:1.urn:uuid:0549F3F826EC3041861188639371827@apache.org",
        length: 0,
        encoding: TransferEncoding::Binary,
        action: None,
    },
    Case {
        file: "testing/soap-testsuite/src/main/resources/org/apache/axiom/ts/soap/mtom/quoted-printable.msg",
        start: Some("<rootpart@soapui.org>"),
        attachments: 1,
        url: "cid:SDESS_COREP_00000_KO_SNG.xml",
        length: 7_641,
        encoding: TransferEncoding::QuotedPrintable,
        action: Some("receive"),
    },
    Case {
        file: "testing/soap-testsuite/src/main/resources/org/apache/axiom/ts/soap/mtom/sample1.msg",
        start: Some("<0.urn:uuid:A3ADBAEE51A1A87B2A11443668160702@apache.org>"),
        attachments: 2,
        url: "cid:1.urn:uuid:A3ADBAEE51A1A87B2A11443668160943@apache.org",
        length: 47_999,
        encoding: TransferEncoding::Binary,
        action: None,
    },
    Case {
        file: "testing/soap-testsuite/src/main/resources/org/apache/axiom/ts/soap/mtom/sample2.msg",
        start: Some("SOAPPart"),
        attachments: 1,
        url: "cid:-1609420109260943731",
        length: 10,
        encoding: TransferEncoding::Binary,
        action: None,
    },
    Case {
        file: "testing/soap-testsuite/src/main/resources/org/apache/axiom/ts/soap/swa/sample1.msg",
        start: Some("<0.urn:uuid:A3ADBAEE51A1A87B2A11443668160702@apache.org>"),
        attachments: 2,
        url: "cid:BAttachment",
        length: 48_314,
        encoding: TransferEncoding::Binary,
        action: None,
    },
    Case {
        file: "testing/xml-testsuite/src/main/resources/org/apache/axiom/ts/xml/xop/spec-sample.msg",
        start: Some("<mymessage.xml@example.org>"),
        attachments: 2,
        url: "cid:http://example.org/me.png",
        length: 8,
        encoding: TransferEncoding::Base64,
        action: None,
    },
];

#[castile_corpus::needs("corpus/conformance/mtom/axiom")]
#[test]
fn messages_of_others() {
    let folder = Path::new(castile_corpus::path!("corpus/conformance/mtom/axiom"));
    for case in CASES {
        case.check(folder);
    }
}

impl Case {
    fn check(&self, folder: &Path) {
        let body = Bytes::from(std::fs::read(folder.join(self.file)).unwrap());
        // The files have no HTTP head. The boundary is in their first line.
        let line = body.split(|&byte| byte == b'\r').next().unwrap();
        let boundary = std::str::from_utf8(line.strip_prefix(b"--").unwrap()).unwrap();
        let start = self.start.map_or(String::new(), |start| format!("; start=\"{start}\""));
        let related = format!("multipart/related; boundary=\"{boundary}\"{start}");
        let related = Related::parse(&related).unwrap();

        let read = async {
            let mut message = Message::read(&related, Full::new(body.clone()), Limits::default()).await?;
            assert_eq!(message.action(&related).as_deref(), self.action, "{}", self.file);
            let root = String::from_utf8(message.root.to_vec()).unwrap();
            let is_mtom = message.head.content_type().unwrap().starts_with("application/xop+xml");
            assert_eq!(is_mtom, root.contains("Include"), "{}", self.file);
            assert!(
                !is_mtom
                    || root.contains(&format!("href=\"{}\"", self.url))
                    || root.contains(&format!("href='{}'", self.url))
            );
            let attachment = message.attachments.by_url(self.url).await?;
            assert_eq!(attachment.head().transfer_encoding(), self.encoding, "{}", self.file);
            let content = attachment.collect(1 << 20).await?;
            let others = message.attachments.collect(1 << 20).await?;
            Ok::<_, castile_mime::Error>((content, others))
        };
        let (content, others) = read.now_or_never().unwrap().unwrap_or_else(|error| panic!("{}: {error}", self.file));
        assert_eq!((others.len() + 1, content.len()), (self.attachments, self.length), "{}", self.file);
        self.check_content(&content);
        if self.file.ends_with("mtom/sample1.msg") {
            let original = folder.join("axiom-api/src/test/resources/mtom/img/test.jpg");
            assert_eq!(content, std::fs::read(original).unwrap());
        }

        let every = if body.len() < 1_000 { 1 } else { 1_009 };
        for cut in (0..body.len()).step_by(every) {
            let outcome = splits::compare(related.boundary(), Limits::default(), &body, &[cut, 3, body.len()]);
            assert_eq!((outcome.parts.len(), outcome.error), (self.attachments + 1, None));
        }
    }

    fn check_content(&self, content: &[u8]) {
        match self.encoding {
            TransferEncoding::Base64 => assert_eq!(content, b"\xfd\xa5\x8a\x29\xaa\x46\x1b\x24"),
            TransferEncoding::QuotedPrintable => {
                assert!(
                    content.starts_with(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<ds:Signature xmlns:ds=\"")
                );
                assert!(content.ends_with(b"</ds:KeyInfo>\r\n</ds:Signature>"));
                assert!(memchr::memmem::find(content, b"Id=\"IndependentSignature-5817F18CC37E\"").is_some());
            }
            _ if self.file.contains("wls81") => {
                assert!(content.starts_with(b"%PDF-1.3") && content.ends_with(b"%%EOF\r\n"))
            }
            _ if self.length > 1_000 => assert!(content.starts_with(b"\xff\xd8") && content.ends_with(b"\xff\xd9")),
            _ => {}
        }
    }
}
