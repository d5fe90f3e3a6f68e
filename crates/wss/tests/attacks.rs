//! Attacks on signatures, and constructs that are refused because attacks need them.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_wss::document::{DocumentSigner, DocumentVerifier};
use castile_wss::{Algorithms, ErrorKind, Limits, Secret, SigningKey, Trust, VerifiedContent};
use castile_xml::c14n::{Algorithm, Method, Subset, Version};
use futures_util::FutureExt;

const TRANSFER: &str = "<t:transfer xmlns:t='urn:t'><t:order Id='o1'><t:to>Alice</t:to></t:order></t:transfer>";
const FORGED: &str = "<t:order Id='o2'><t:to>Mallory</t:to></t:order>";

fn secret() -> Secret {
    Secret::new(*b"nobody guesses this")
}

fn verifier() -> DocumentVerifier {
    DocumentVerifier::new(Trust::new().with_secret("s", secret())).with_doctype()
}

/// Returns the document with a signature of the order at its end.
fn signed() -> String {
    let signed = DocumentSigner::new(secret()).sign_element(TRANSFER.as_bytes(), "o1").now_or_never().unwrap().unwrap();
    String::from_utf8(signed).unwrap()
}

/// Returns a document, signed as a whole.
fn enveloped(document: &str) -> String {
    let signed = DocumentSigner::new(secret()).sign(document.as_bytes()).now_or_never().unwrap().unwrap();
    String::from_utf8(signed).unwrap()
}

/// Returns the order, the signature, and the document around them: before, between and after.
fn taken_apart() -> (String, String) {
    let document = signed();
    let order = &document[document.find("<t:order").unwrap()..document.find("<ds:Signature").unwrap()];
    let signature = &document[document.find("<ds:Signature").unwrap()..document.find("</t:transfer>").unwrap()];
    (order.to_owned(), signature.to_owned())
}

/// Returns the document with another value of its signature, if its canonicalization is known.
fn signed_again(document: &str) -> String {
    let mut info = String::new();
    let exclusive = Algorithm { version: Version::Exclusive10, with_comments: false };
    let mut reader = castile_xml::Reader::new(document.as_bytes(), castile_xml::Limits::default()).unwrap();
    let subset = Subset { apex: document.find("<ds:SignedInfo"), without: None };
    Method::new(exclusive).write(&mut reader, subset, |piece| info.push_str(piece)).unwrap();
    let value = STANDARD.encode(secret().sign(info.as_bytes()).now_or_never().unwrap().unwrap());
    let at = document.find("<ds:SignatureValue>").unwrap() + "<ds:SignatureValue>".len();
    let end = at + document[at..].find('<').unwrap();
    format!("{}{value}{}", &document[..at], &document[end..])
}

/// Signature wrapping (McIntosh and Austel 2005, Somorovsky 2012). The signature stays valid, because what it signs is still
/// somewhere. What is verified is a place, so that the forged order is not taken for the signed one.
#[test]
fn a_moved_element_is_verified_where_it_is() {
    let (order, signature) = taken_apart();
    let with_object = signature.replace("</ds:Signature>", &format!("<ds:Object>{order}</ds:Object></ds:Signature>"));
    let around_order = order.replace("<t:to>Alice</t:to>", &format!("<t:to>Alice</t:to>{FORGED}"));
    for (body, is_valid) in [
        // Beside the signed one, before and after it.
        (format!("{FORGED}{order}{signature}"), true),
        (format!("{order}{FORGED}{signature}"), true),
        // The signed one is in an element that nobody reads.
        (format!("{FORGED}<t:unread>{order}</t:unread>{signature}"), true),
        (format!("{FORGED}{signature}<unread>{order}</unread>"), true),
        // The signed one is in the forged one, and the other way around.
        (FORGED.replace("</t:order>", &format!("{order}</t:order>{signature}")), true),
        (format!("{around_order}{signature}"), false),
        // The signed one is in the signature.
        (format!("{FORGED}{with_object}"), true),
        // The forged one has the id.
        (format!("{}{signature}", FORGED.replace("o2", "o1")), false),
        (format!("{}{order}{signature}", FORGED.replace("o2", "o1")), false),
        (format!("{order}{}{signature}", FORGED.replace("o2", "o1")), false),
        (format!("{order}{}{signature}", FORGED.replace("Id='o2'", "xml:id='o1'")), false),
        // An attribute of another kind is no id.
        (format!("{order}{}{signature}", FORGED.replace("Id='o2'", "id='o1' ID='o1' t:Id='o1'")), true),
    ] {
        let document = format!("<t:transfer xmlns:t='urn:t'>{body}</t:transfer>");
        match verifier().verify(document.as_bytes()) {
            Ok(verified) => {
                assert!(is_valid, "{document}");
                assert!(!verified.covers_document());
                let VerifiedContent::Element { range, .. } = &verified.signatures()[0].references[0].content else {
                    panic!("{document}")
                };
                assert_eq!(verified.text()[range.clone()], order);
            }
            Err(error) => {
                let expected = [ErrorKind::Reference, ErrorKind::Digest];
                assert!(!is_valid && expected.contains(&error.kind()), "{document}: {error}");
            }
        }
    }
}

/// What a signature has twice, or in the wrong place, one reader may take from here and another from there
/// (CVE-2025-29774, CVE-2025-29775).
#[test]
fn a_signature_has_one_of_each() {
    let document = signed();
    let part = |name: &str| {
        let (start, end) = (format!("<ds:{name}"), format!("</ds:{name}>"));
        document[document.find(&start).unwrap()..document.find(&end).unwrap() + end.len()].to_owned()
    };
    let [info, value, digest] = ["SignedInfo", "SignatureValue", "DigestValue"].map(part);
    let digest_text = digest.replace("</ds:DigestValue>", "").split_off("<ds:DigestValue>".len());
    for (from, to, expected) in [
        (&info, format!("{info}{info}"), "where <SignatureValue> was expected"),
        (&info, format!("<ds:Object>{info}</ds:Object>{info}"), "where <SignedInfo> was expected"),
        (&info, format!("text{info}"), "text in <Signature>, where an element was expected"),
        (&info, String::new(), "where <SignedInfo> was expected"),
        (&value, format!("{value}{value}"), "where <KeyInfo> or <Object> was expected"),
        (&value, format!("{value}{info}"), "where <KeyInfo> or <Object> was expected"),
        (&value, String::new(), "where <SignatureValue> was expected"),
        (&digest, format!("{digest}{digest}"), "where no further element was expected"),
        (
            &digest,
            digest.replace(&digest_text, &format!("<x/>{digest_text}")),
            "<x> in <Signature>, where text was expected",
        ),
        (&digest, digest.replace(&digest_text, "?"), "<ds:DigestValue> is not base64"),
        (&digest, String::new(), "where <DigestValue> was expected"),
    ] {
        let changed = document.replace(from, &to);
        let error = verifier().verify(changed.as_bytes()).expect_err(&changed);
        assert!(error.kind() == ErrorKind::Malformed && error.message().contains(expected), "{error}");
    }
    // A comment doesn't split the text of an element, and isn't signed.
    let half = digest_text.len() / 2;
    let split = format!("{}<!-- x -->{}", &digest_text[..half], &digest_text[half..]);
    assert!(verifier().verify(document.replace(&digest_text, &split).as_bytes()).is_ok());
}

#[test]
fn comments_do_not_hide_text() {
    let document = enveloped("<user>admin@example.com.evil.example</user>");
    let split = document.replace(".evil", "<!-- -->.evil");
    let verified = verifier().verify(split.as_bytes()).unwrap();
    // A reader that joins text, as ours does, reads what was signed.
    let mut reader = castile_xml::Reader::new(verified.text().as_bytes(), castile_xml::Limits::default()).unwrap();
    let mut text = String::new();
    while reader.depth() < 2 {
        if let castile_xml::Token::Text(piece) = reader.next().unwrap() {
            text.push_str(&piece);
        } else if reader.depth() == 2 {
            break;
        }
    }
    assert_eq!(text, "admin@example.com.evil.example");
}

/// A canonical form that can't be made is an error, and not an empty text, whose digest everybody knows.
#[test]
fn content_without_a_canonical_form_is_refused() {
    let document = enveloped("<a>1</a>").replace("<a>1", "<a xmlns:x='relative'>1");
    let error = verifier().verify(document.as_bytes()).unwrap_err();
    assert!(error.kind() == ErrorKind::Malformed && error.message().contains("relative namespace name"), "{error}");
    for entity in ["SYSTEM 'file:///etc/passwd'", "SYSTEM 'http://127.0.0.1/'"] {
        let document =
            format!("<!DOCTYPE a [<!ENTITY e {entity}>]>{}", document.replace("xmlns:x='relative'>1", ">&e;"));
        let error = verifier().verify(document.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
    }
}

/// The last transform of what is signed here.
const EXCLUSIVE_TRANSFORM: &str = "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"><ec:InclusiveNamespaces xmlns:ec=\"http://www.w3.org/2001/10/xml-exc-c14n#\" PrefixList=\"#default\"/></ds:Transform>";

#[test]
fn dangerous_constructs_are_refused_by_name() {
    let document = enveloped("<a>1</a>");
    let exclusive = EXCLUSIVE_TRANSFORM;
    let enveloped = "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"/>";
    let transform = |uri: &str| format!("<ds:Transform Algorithm=\"{uri}\"><x/></ds:Transform>");
    let method = "<ds:SignatureMethod Algorithm=\"http://www.w3.org/2001/04/xmldsig-more#hmac-sha256\"/>";
    let digest = "http://www.w3.org/2001/04/xmlenc#sha256";
    for (from, to, expected) in [
        (
            exclusive,
            transform("http://www.w3.org/TR/1999/REC-xslt-19991116"),
            "the transform \"http://www.w3.org/TR/1999/REC-xslt-19991116\"",
        ),
        (exclusive, transform("http://www.w3.org/TR/1999/REC-xpath-19991116"), "the transform"),
        (exclusive, transform("http://www.w3.org/2002/06/xmldsig-filter2"), "the transform"),
        (exclusive, transform("urn:mine"), "the transform \"urn:mine\""),
        (enveloped, exclusive.to_owned(), "transforms other than"),
        (exclusive, format!("{exclusive}{enveloped}"), "transforms other than"),
        ("URI=\"\"", "URI=\"#xpointer(/)\"".to_owned(), "the XPointer \"xpointer(/)\""),
        ("URI=\"\"", "Type=\"http://www.w3.org/2000/09/xmldsig#Manifest\" URI=\"\"".to_owned(), "Manifest"),
        ("URI=\"\"", String::new(), "a reference without URI"),
        (
            method,
            method.replace("/>", "><ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>"),
            "HMACOutputLength",
        ),
        (method, method.replace("xmldsig-more#hmac-sha256", "xmldsig-more#hmac-md5"), "the signature algorithm"),
        (method, method.replace("xmldsig-more#hmac-sha256", "none"), "the signature algorithm"),
        (digest, "http://www.w3.org/2001/04/xmldsig-more#md5".to_owned(), "the digest algorithm"),
        (
            "CanonicalizationMethod Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"",
            "CanonicalizationMethod Algorithm=\"urn:none\"".to_owned(),
            "the canonicalization algorithm",
        ),
    ] {
        let changed = document.replacen(from, &to, 1);
        assert_ne!(changed, document, "{from}");
        // Whoever signs may write them, so the signature is right.
        let changed = signed_again(&changed);
        let error = verifier().verify(changed.as_bytes()).expect_err(&changed);
        assert!(error.kind() == ErrorKind::Unsupported && error.message().contains(expected), "{error}: {changed}");
    }
}

/// Whoever signs may still refer to what must not be fetched.
#[test]
fn nothing_is_fetched() {
    for uri in ["http://127.0.0.1:9/", "file:///etc/passwd", "cid:a", "other.xml", "javascript:alert(1)", " "] {
        let document = DocumentSigner::new(secret()).sign_detached(&[(uri, b"x")]).now_or_never().unwrap().unwrap();
        let error = verifier().verify(&document).unwrap_err();
        assert!(error.kind() == ErrorKind::Reference && error.message().contains("nothing is fetched"), "{error}");
    }
}

#[test]
fn signatures_have_limits() {
    let many = |count: usize| {
        let contents: Vec<(&str, &[u8])> = vec![("a", b"x"); count];
        DocumentSigner::new(secret()).sign_detached(&contents).now_or_never().unwrap().unwrap()
    };
    let verifier = verifier().with_content("a", *b"x");
    assert!(verifier.verify(&many(30)).is_ok());
    assert_eq!(verifier.verify(&many(31)).unwrap_err().kind(), ErrorKind::Limit);
    let mut limits = Limits::default();
    limits.content = 2;
    let limited = verifier.clone().with_limits(limits);
    assert!(limited.verify(&many(2)).is_ok());
    assert_eq!(limited.verify(&many(3)).unwrap_err().kind(), ErrorKind::Limit);

    let one = String::from_utf8(many(1)).unwrap();
    for (count, is_accepted) in [(8, true), (9, false)] {
        let result = verifier.verify(format!("<a>{}</a>", one.repeat(count)).as_bytes());
        assert_eq!(result.is_ok(), is_accepted, "{result:?}");
        assert!(result.err().is_none_or(|error| error.kind() == ErrorKind::Limit));
    }
    let document = enveloped("<a/>").replace(EXCLUSIVE_TRANSFORM, &EXCLUSIVE_TRANSFORM.repeat(4));
    assert_eq!(verifier.verify(document.as_bytes()).unwrap_err().kind(), ErrorKind::Limit);
    for (count, kind) in [(999, ErrorKind::Signature), (1_000, ErrorKind::Limit)] {
        let prefixes = format!("#default{}", " a".repeat(count));
        let document = enveloped("<a/>").replace("#default", &prefixes);
        assert_eq!(verifier.verify(document.as_bytes()).unwrap_err().kind(), kind);
    }
    let name = "<ds:KeyInfo><ds:KeyName>s</ds:KeyName></ds:KeyInfo>";
    for count in [16, 17] {
        let names = name.replace("<ds:KeyName>s</ds:KeyName>", &"<ds:KeyName>s</ds:KeyName>".repeat(count));
        let document = enveloped("<a/>").replace("</ds:Signature>", &format!("{names}</ds:Signature>"));
        assert_eq!(verifier.verify(document.as_bytes()).is_ok(), count == 16);
    }
}

#[test]
fn documents_without_a_signature_are_errors() {
    for document in ["<a/>", "<Signature/>", "<Signature xmlns='http://www.w3.org/2000/09/xmldsig'/>"] {
        assert_eq!(verifier().verify(document.as_bytes()).unwrap_err().kind(), ErrorKind::Unsigned);
    }
    for document in ["", "<a>", "<Signature xmlns='http://www.w3.org/2000/09/xmldsig#'/>", "<a/><a/>"] {
        assert_eq!(verifier().verify(document.as_bytes()).unwrap_err().kind(), ErrorKind::Malformed, "{document}");
    }
    let all = verifier().with_algorithms(Algorithms::default().with_legacy());
    assert!(all.verify(signed().as_bytes()).is_ok());
}

/// The parts of an entity are all at the offset of its reference, so that a place would be ambiguous.
#[test]
fn signed_elements_are_not_in_entities() {
    let (order, signature) = taken_apart();
    let order = order.replace('\'', "\"");
    let document = format!(
        "<!DOCTYPE t:transfer [<!ENTITY o '<x>{order}</x>'>]><t:transfer xmlns:t='urn:t'>&o;{signature}</t:transfer>"
    );
    let error = verifier().verify(document.as_bytes()).unwrap_err();
    assert!(error.kind() == ErrorKind::Unsupported && error.message().contains("in an entity"), "{error}");
}

/// One expression of XPath is known, which says the same as the transform for enveloped signatures, unless there are several.
#[test]
fn one_xpath_expression_is_the_enveloped_signature() {
    let document = enveloped("<a>1</a>");
    let transform = "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"/>";
    let known = |expression: &str| {
        let xpath = format!("<ds:XPath>{expression}</ds:XPath>");
        let by_xpath =
            format!("<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xpath-19991116\">{xpath}</ds:Transform>");
        let error = verifier().verify(document.replace(transform, &by_xpath).as_bytes()).unwrap_err();
        // It is read, and the signature is that of the other transform.
        error.kind() == ErrorKind::Signature
    };
    assert!(known("not(ancestor-or-self::ds:Signature)") && known("\n not(ancestor-or-self::ds:Signature) "));
    for expression in [
        "",
        "true()",
        "not(ancestor-or-self::x:Signature)",
        "not(ancestor-or-self::Signature)",
        "not(ancestor-or-self::ds:Signature) or 1",
        "not(ancestor-or-self::ds:Object)",
    ] {
        assert!(!known(expression), "{expression}");
    }
}
