use super::*;

/// A generator of pseudo-random numbers, always the same ones.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn bytes(&mut self, of: &[u8], most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| of[self.below(of.len())]).collect()
    }
}

fn decode<'a>(encoding: TransferEncoding, pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, Invalid> {
    let mut decoder = Decoder::new(encoding);
    let mut content = Vec::new();
    for piece in pieces {
        content.extend_from_slice(&decoder.decode(Bytes::copy_from_slice(piece))?);
    }
    decoder.finish().map(|()| content)
}

/// Decodes the content as a whole and in chunks of different lengths, and checks that the results are equal.
fn decode_all(encoding: TransferEncoding, encoded: &[u8]) -> Result<Vec<u8>, Invalid> {
    let whole = decode(encoding, [encoded]);
    for length in [1, 2, 3, 4, 5, 76, 78] {
        assert_eq!(decode(encoding, encoded.chunks(length)), whole, "{} by {length}", encoded.escape_ascii());
    }
    whole
}

#[test]
fn base64_of_any_bytes_on_lines_of_any_length() {
    let all: Vec<u8> = (0..=255).collect();
    let mut numbers = Numbers(1);
    for _ in 0..500 {
        let content = numbers.bytes(&all, 400);
        let text = ::base64::Engine::encode(&::base64::engine::general_purpose::STANDARD, &content);
        let length = 1 + numbers.below(100);
        let lines: Vec<u8> = text
            .as_bytes()
            .chunks(length)
            .flat_map(|line| [line, [&b"\r\n"[..], b"\n", b" \t ", b"\t"][numbers.below(4)]].concat())
            .collect();
        assert_eq!(decode_all(TransferEncoding::Base64, &lines), Ok(content));
    }
    let long = b"QUJD".repeat(10_000);
    assert_eq!(decode(TransferEncoding::Base64, [&long[..]]), Ok(b"ABC".repeat(10_000)));
}

#[test]
fn invalid_base64_is_an_error() {
    for (encoded, at, message) in [
        ("QUJ", 3, "base64 ends with 3 characters of a group of four"),
        ("QUJD\r\nQ \r\n", 10, "base64 ends with 1 characters of a group of four"),
        ("QUJD QU!D", 7, "found \"!\", expected base64"),
        ("QU\r\n\r\nJDQ!==", 9, "found \"!\", expected base64"),
        ("Q\u{fc}==", 1, "found \"\u{fffd}\", expected base64"),
        ("QQ==\r\nQQ==", 6, "found \"Q\" after the padding of base64, expected the end of the part"),
        ("QQ== =", 5, "found \"=\" after the padding of base64, expected the end of the part"),
        ("QQ=Q", 2, "found \"=\", expected base64"),
        ("Q===", 1, "found \"=\", expected base64"),
        ("====", 0, "found \"=\", expected base64"),
        ("QR==", 1, "found \"R\", expected base64"),
    ] {
        let invalid = decode_all(TransferEncoding::Base64, encoded.as_bytes()).unwrap_err();
        assert_eq!((invalid.at, &*invalid.message), (at, message), "{encoded}");
    }
}

#[test]
fn broken_base64_gives_the_same_error_in_any_pieces() {
    let mut numbers = Numbers(2);
    for _ in 0..5_000 {
        let encoded = numbers.bytes(b"AQgw==\r\n \t!\xff", 40);
        let _ = decode_all(TransferEncoding::Base64, &encoded);
    }
}

#[test]
fn quoted_printable_as_another_decoder_reads_it() {
    let mut numbers = Numbers(3);
    for _ in 0..500 {
        let content = numbers.bytes(b"ab =.\t\r\n\0\xc3\xbc", 300);
        let encoded = ::quoted_printable::encode(&content);
        assert_eq!(decode_all(TransferEncoding::QuotedPrintable, &encoded).as_ref(), Ok(&content));
        // As lines of text, whose line ends are unchanged.
        let text: Vec<u8> = numbers.bytes(b"ab \t=\r\xc3\xbc", 100).into_iter().filter(|&byte| byte != b'\r').collect();
        let lines = [&text[..], b"x\r\n", &text, b"x\r\n"].concat();
        let encoded = ::quoted_printable::encode(&lines);
        assert_eq!(decode_all(TransferEncoding::QuotedPrintable, &encoded), Ok(lines));
    }
}

#[test]
fn quoted_printable_of_others() {
    for (encoded, content) in [
        ("=c3=BC=3d", "ü="),
        ("a  \r\nb\t\nc \r", "a\r\nb\nc"),
        ("a =\r\n b=\nc=\t \r\nd= \ne=", "a  bcde"),
        ("a \rb\r\r\n", "a \rb\r\r\n"),
        ("ü\0", "ü\0"),
        (" \t =41 \t", " \t A"),
    ] {
        let found = decode_all(TransferEncoding::QuotedPrintable, encoded.as_bytes());
        assert_eq!(found.as_deref(), Ok(content.as_bytes()), "{encoded:?}");
    }
    for (encoded, at, message) in [
        ("ab=4", 4, "quoted-printable ends with \"=4\", expected a second digit"),
        ("ab=4g", 4, "found \"g\" after \"=\" in quoted-printable, expected two digits or the end of the line"),
        ("ab==", 3, "found \"=\" after \"=\" in quoted-printable, expected two digits or the end of the line"),
        ("= a", 2, "found \"a\" after \"=\" in quoted-printable, expected two digits or the end of the line"),
        ("=\r\r", 2, "found \"\\r\" after \"=\" in quoted-printable, expected two digits or the end of the line"),
        (&" ".repeat(999), 998, "white space of more than 998 bytes in quoted-printable"),
    ] {
        let invalid = decode_all(TransferEncoding::QuotedPrintable, encoded.as_bytes()).unwrap_err();
        assert_eq!((invalid.at, &*invalid.message), (at, message), "{encoded:?}");
    }
}
