//! Canonical forms are those that the recommendations require. The documents are in `c14n/`; `c14n/cases.tsv` lists the
//! expected forms.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

#[path = "w3c/catalogue.rs"]
#[allow(dead_code, reason = "only the documents of the suite are read here")]
mod catalogue;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use castile_xml::c14n::{
    Algorithm, CanonicalRuns, FindRuns, Form, Method, Sink, Subset, Version, canonical, write_all, write_known,
};
use castile_xml::{DocumentEntity, Error, ErrorKind, Limits, Reader, Token, decode};

const CANONICAL_10: Algorithm = Algorithm { version: Version::Canonical10, with_comments: false };
const CANONICAL_11: Algorithm = Algorithm { version: Version::Canonical11, with_comments: false };
const EXCLUSIVE_10: Algorithm = Algorithm { version: Version::Exclusive10, with_comments: false };

#[test]
fn canonical_forms_are_as_expected() {
    for case in Case::all() {
        let found = case.canonical(&fs::read(&case.input).unwrap()).unwrap_or_else(|error| error.to_string());
        let expected = fs::read_to_string(&case.expected).unwrap();
        assert_eq!(found, expected, "{}", case.expected.display());
    }
}

#[test]
fn canonical_forms_are_their_own() {
    for case in Case::all() {
        let expected = fs::read_to_string(&case.expected).unwrap();
        let again = write(&case.method, &expected, Subset::default());
        assert_eq!(again.as_ref(), Ok(&expected), "{}", case.expected.display());
    }
}

#[test]
fn messages_have_the_form_that_documents_have() {
    for case in Case::all() {
        let input = fs::read(&case.input).unwrap();
        let Ok(mut reader) = Reader::new(&input, Limits::default()) else { continue };
        let mut found = String::new();
        match case.method.write(&mut reader, case.subset(&input), |piece| found.push_str(piece)) {
            Ok(()) => assert_eq!(found, fs::read_to_string(&case.expected).unwrap(), "{}", case.expected.display()),
            Err(error) => assert!([ErrorKind::Doctype, ErrorKind::Encoding].contains(&error.kind()), "{error}"),
        }
    }
}

#[test]
fn every_file_belongs_to_a_case() {
    let cases = Case::all();
    let known: BTreeSet<&Path> = cases.iter().flat_map(|case| [&*case.input, &*case.expected]).collect();
    for folder in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            // These are only rejected.
            assert!(known.contains(&*file) || file.ends_with("spec/3.5.xml"), "{} is in no case", file.display());
        }
    }
}

#[test]
fn algorithms_have_uris() {
    for version in [Version::Canonical10, Version::Canonical11, Version::Exclusive10] {
        for with_comments in [false, true] {
            let algorithm = Algorithm { version, with_comments };
            assert_eq!(Algorithm::from_uri(algorithm.uri()), Some(algorithm));
            assert_eq!(algorithm.uri().ends_with("#WithComments"), with_comments);
        }
    }
    assert_eq!(Algorithm::from_uri("http://www.w3.org/2001/10/xml-exc-c14n"), None);
    assert_eq!(Method::new(CANONICAL_11).algorithm(), CANONICAL_11);
}

#[test]
fn documents_without_a_canonical_form_are_errors() {
    let external = fs::read_to_string(folder().join("spec/3.5.xml")).unwrap();
    let in_attribute = "<!DOCTYPE a SYSTEM 'd' [<!ENTITY % p SYSTEM 'p'> %p;]><a b='&e;'/>";
    for algorithm in [CANONICAL_10, CANONICAL_11, EXCLUSIVE_10] {
        for (document, apex, without, kind, message) in [
            ("<a xmlns='b'/>", None, None, ErrorKind::Namespace, "the relative namespace name \"b\""),
            ("<a><b xmlns:p='../x:y'/></a>", None, None, ErrorKind::Namespace, "\"../x:y\", where an absolute one"),
            ("<a xmlns='b'><c xmlns=''/></a>", Some("<c"), None, ErrorKind::Namespace, "\"b\""),
            ("<a><b xmlns='b'/></a>", Some("<b"), None, ErrorKind::Namespace, "\"b\""),
            ("<a/>", Some("a"), None, ErrorKind::Absent, "no element begins here, where an element to make canonical"),
            ("<a b='<'/>", None, None, ErrorKind::WellFormedness, "\"<\" in the value"),
            ("<a><b></a>", Some("<b"), None, ErrorKind::WellFormedness, "</b> was expected"),
            ("<a>", None, None, ErrorKind::Syntax, "where </a> was expected"),
            ("<a><b/></a>", None, Some("b"), ErrorKind::Absent, "where an element to leave out was expected"),
            (
                "<a><b/><c/></a>",
                Some("<b"),
                Some("<c"),
                ErrorKind::Absent,
                "where an element to leave out was expected",
            ),
            ("<a><b/></a>", Some("<b"), Some("<b"), ErrorKind::Absent, "where an element to leave out was expected"),
            (&external, None, None, ErrorKind::Absent, "reference to the entity \"ent2\" outside the document"),
            (in_attribute, None, None, ErrorKind::Absent, "reference to the entity \"e\" outside the document"),
        ] {
            let subset = subset(document, apex, without);
            let error = write(&Method::new(algorithm), document, subset).expect_err(document);
            assert_eq!(error.kind(), kind, "{document}: {error}");
            assert!(error.message().contains(message), "{document}: {error}");
        }
    }
}

#[derive(Default)]
struct Omitted {
    text: String,
    prefixes: Vec<String>,
}

impl Sink for &mut Omitted {
    fn text(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    fn wants_omitted_prefixes(&self) -> bool {
        true
    }

    fn omitted_prefix(&mut self, prefix: &str, offset: usize) {
        self.prefixes.push(format!("{prefix} {offset}"));
    }
}

#[test]
fn prefixes_that_only_values_use_are_noticed() {
    let around = |content: &str| {
        format!("<e xmlns='urn:d' xmlns:p='urn:p' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>{content}</e>")
    };
    let start = around("").find("</e>").unwrap();
    for (content, list, expected) in [
        ("<a xmlns=''>p:t</a>", "", &["p 0"][..]),
        ("<a xmlns=''> p:t </a>", "", &["p 0"]),
        ("<a xmlns=''>x p:t y:z</a>", "", &["p 0"]),
        ("<a xmlns=''>/p:a/p:b[1]</a>", "", &["p 0", "p 0"]),
        ("<a xmlns=''>1-p:t .p:t</a>", "", &["p 0", "p 0"]),
        ("<a xmlns='' b='p:t'/>", "", &["p 0"]),
        ("<a xmlns=''><b>p:t</b></a>", "", &["p 12"]),
        ("<a xmlns=''><b xmlns:q='urn:q'>q:t</b></a>", "", &["q 12"]),
        // Nor do many characters of names before it.
        (&*format!("<a xmlns=''>{}p:t</a>", "1".repeat(5_000)), "", &["p 0"]),
        (&*format!("<a xmlns=''>{}p:t</a>", "-1<!-- -->\u{b7}".repeat(2_000)), "", &["p 0"]),
        (&*format!("<a xmlns=''>{}p:t</a>", "p".repeat(5_000)), "", &[]),
        (&*format!("<a xmlns=''>1{0}:t</a>", "\u{e9}".repeat(497)), "", &[]),
        // Comments, instructions and sections don't hide it.
        ("<a xmlns=''>p<!-- -->:t</a>", "", &["p 0"]),
        ("<a xmlns=''>p<?x?><![CDATA[:]]>t</a>", "", &["p 0"]),
        ("<a xmlns=''>&#112;:t</a>", "", &["p 0"]),
        // The form has the declaration.
        ("<p:a>p:t</p:a>", "", &[]),
        ("<a xmlns='' p:b='p:t'/>", "", &[]),
        ("<a xmlns=''>p:t</a>", "p", &[]),
        ("<a xmlns=''><b xmlns:q='urn:q'>q:t</b></a>", "q", &[]),
        // It has another one.
        ("<p:a><b xmlns='' xmlns:p='urn:q'>p:t</b></p:a>", "", &["p 5"]),
        // No prefix, or not one that is declared.
        ("<a xmlns=''>q:t 12:00 xp:t p<b/>:t</a>", "", &[]),
        // A default namespace.
        ("<p:a xsi:type='t'/>", "", &["#default 0"]),
        ("<p:a xsi:type='t'/>", "#default", &[]),
        ("<a xsi:type='t'/>", "", &[]),
        ("<p:a xmlns='' xsi:type='t'/>", "", &[]),
        ("<p:a xsi:type='p:t'/>", "", &[]),
    ] {
        let document = around(content);
        let method = Method::new(EXCLUSIVE_10).with_inclusive_namespaces(list);
        let subset = Subset { apex: Some(start), without: None };
        let mut omitted = Omitted::default();
        let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
        write_all(&mut reader, vec![Form { method: &method, subset, out: &mut omitted }]).unwrap();
        let relative = |prefix: &String| {
            let (prefix, offset) = prefix.split_once(' ').unwrap();
            format!("{prefix} {}", offset.parse::<usize>().unwrap() - start)
        };
        let found: Vec<String> = omitted.prefixes.iter().map(relative).collect();
        assert_eq!(found, expected, "{content} {list}");
        assert_eq!(write(&method, &document, subset), Ok(omitted.text));
        // Canonical XML omits no declaration.
        let mut omitted = Omitted::default();
        let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
        let method = Method::new(CANONICAL_10);
        write_all(&mut reader, vec![Form { method: &method, subset, out: &mut omitted }]).unwrap();
        assert_eq!(omitted.prefixes, [""; 0]);
    }
}

/// Writes a text in place of some elements.
struct Replacing {
    at: Vec<usize>,
    text: String,
}

impl Sink for &mut Replacing {
    fn text(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    fn next_replaced(&self, offset: usize) -> Option<usize> {
        self.at.iter().copied().filter(|at| *at >= offset).min()
    }

    fn replace(&mut self, _: usize) {
        self.text.push('!');
    }
}

#[test]
fn something_else_stands_for_elements() {
    let document = "<a xmlns:q='urn:q'><b><x q:y='p:q' xmlns:p='urn:p'>t<x/><!-- --></x></b><c> <x/><p:d xmlns:p='urn:p'/></c><x/></a>";
    let at = document.match_indices("<x").map(|(offset, _)| offset).collect::<Vec<_>>();
    for (apex, expected) in [
        (None, "<a><b>!</b><c> !<p:d xmlns:p=\"urn:p\"></p:d></c>!</a>"),
        (Some("<b"), "<b>!</b>"),
        (Some("<c"), "<c> !<p:d xmlns:p=\"urn:p\"></p:d></c>"),
    ] {
        let mut out = Replacing { at: at.clone(), text: String::new() };
        let subset = subset(document, apex, None);
        let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
        write_all(&mut reader, vec![Form { method: &Method::new(EXCLUSIVE_10), subset, out: &mut out }]).unwrap();
        assert_eq!(out.text, expected);
    }
    // An element that is left out for another reason is not asked for.
    let mut out = Replacing { at, text: String::new() };
    let subset = subset(document, None, Some("<b"));
    let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
    write_all(&mut reader, vec![Form { method: &Method::new(EXCLUSIVE_10), subset, out: &mut out }]).unwrap();
    assert_eq!(out.text, "<a><c> !<p:d xmlns:p=\"urn:p\"></p:d></c>!</a>");
}

/// Every element of every document is a part, with and without one of its own elements.
#[test]
fn forms_written_together_are_those_written_alone() {
    let methods = [CANONICAL_10, CANONICAL_11, EXCLUSIVE_10].map(Method::new);
    let mut compared = 0;
    for case in Case::all() {
        let input = decode(&fs::read(&case.input).unwrap(), None).unwrap().into_owned();
        let Ok(document) = DocumentEntity::new(&input, Limits::default()) else { continue };
        let offsets = input.match_indices('<').map(|(offset, _)| offset);
        let subsets: Vec<Subset> = std::iter::once(None)
            .chain(offsets.clone().map(Some))
            .flat_map(|apex| {
                [None, offsets.clone().find(|&offset| Some(offset) > apex)].map(|without| Subset { apex, without })
            })
            .filter(|&subset| write(&methods[0], &input, subset).is_ok())
            .collect();
        let mut texts = vec![String::new(); subsets.len() * methods.len()];
        let wanted: Vec<_> =
            subsets.iter().flat_map(|&subset| methods.iter().map(move |method| (method, subset))).collect();
        let forms = wanted.iter().zip(&mut texts).map(|(&(method, subset), text)| Form {
            method,
            subset,
            out: |piece: &str| text.push_str(piece),
        });
        write_all(&mut document.reader(), forms.collect()).unwrap();
        for ((method, subset), together) in wanted.into_iter().zip(texts) {
            assert_eq!(write(method, &input, subset), Ok(together), "{} {subset:?}", case.input.display());
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared} forms are too few to be all");
}

#[test]
fn content_after_the_apex_is_not_read() {
    let document = "<a><b>1</b><c></a>";
    let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
    let mut found = String::new();
    let subset = subset(document, Some("<b"), None);
    Method::new(CANONICAL_10).write(&mut reader, subset, |piece| found.push_str(piece)).unwrap();
    assert_eq!((found.as_str(), &document[reader.offset()..]), ("<b>1</b>", "<c></a>"));
}

#[test]
fn a_joined_base_is_limited() {
    let limits = Limits::default();
    let base = "a/".repeat(limits.name_length / 2 - 1);
    for (more, is_accepted) in [("b/", true), ("bc/", false)] {
        let document = format!("<a xml:base='{base}'><b xml:base='{more}'><c/></b></a>");
        let found = write(&Method::new(CANONICAL_11), &document, subset(&document, Some("<c"), None));
        match found {
            Ok(found) => assert_eq!((found, is_accepted), (format!("<c xml:base=\"{base}{more}\"></c>"), true)),
            Err(error) => assert_eq!((error.kind(), is_accepted), (ErrorKind::Limit, false), "{error}"),
        }
    }
}

/// Inherited attributes and namespaces in scope are as many as the limits allow.
#[test]
fn crowded_ancestors_cost_no_more_than_they_say() {
    let limits = Limits::default();
    let mut document = String::new();
    for depth in 0..limits.depth - 1 {
        document.push_str("<a");
        (0..limits.attributes - 1).for_each(|index| document.push_str(&format!(" xml:a{depth}-{index}=''")));
        document.push_str(&if depth < limits.namespaces {
            format!(" xmlns:n{depth}='urn:{depth}'>")
        } else {
            ">".into()
        });
    }
    document.push_str("<b/>");
    document.push_str(&"</a>".repeat(limits.depth - 1));
    let found = write(&Method::new(CANONICAL_10), &document, subset(&document, Some("<b"), None)).unwrap();
    assert_eq!(found.matches(" xml:a").count(), (limits.depth - 1) * (limits.attributes - 1));
    assert_eq!(found.matches(" xmlns:n").count(), limits.namespaces);
}

#[test]
fn equivalent_documents_have_the_same_canonical_form() {
    let same = canonical(b"<a xmlns='urn:a' xmlns:b='urn:b' y='2' b:x='1'><c>&#x41;</c></a>").unwrap();
    for document in [
        "<?xml version='1.0'?><a b:x=\"1\" y='2' xmlns:unused='urn:u' xmlns:b='urn:b' xmlns='urn:a'><c><![CDATA[A]]></c ></a>",
        "<!DOCTYPE a [<!ATTLIST a xmlns CDATA 'urn:a' y CDATA '2'>]><a xmlns:b='urn:b' b:x='1'><c>A<!-- --></c></a>\n",
    ] {
        assert_eq!(canonical(document.as_bytes()).as_ref(), Ok(&same));
    }
    for document in ["<a/>", "<a xmlns='urn:a' xmlns:b='urn:b' y='2' b:x='1'><c> A</c></a>"] {
        assert_ne!(canonical(document.as_bytes()).as_ref(), Ok(&same));
    }
}

/// For every document of the W3C's suite, the canonical form is a document, and is its own canonical form.
#[castile_corpus::needs("corpus/conformance/xml/xmlts20130923.zip")]
#[test]
fn documents_of_the_w3c_have_one_form() {
    let suite = catalogue::Suite::open(Path::new(castile_corpus::path!("corpus/conformance/xml/xmlts20130923.zip")));
    let mut count = 0;
    for case in suite.cases() {
        let Ok(text) = decode(suite.file(&case.uri), None) else { continue };
        for version in [Version::Canonical10, Version::Exclusive10] {
            let method = Method::new(Algorithm { version, with_comments: true });
            let Ok(form) = write(&method, &text, Subset::default()) else { continue };
            assert_eq!(write(&method, &form, Subset::default()).as_ref(), Ok(&form), "{}", case.uri);
            count += 1;
        }
    }
    println!("{count} canonical forms are their own");
    assert!(count > 1_000, "{count}");
}

/// A line of `cases.tsv`.
struct Case {
    input: PathBuf,
    expected: PathBuf,
    method: Method,
    apex: Option<&'static str>,
    without: Option<&'static str>,
}

impl Case {
    fn all() -> Vec<Case> {
        let lines = include_str!("c14n/cases.tsv").lines().filter(|line| !line.starts_with('#'));
        let cases: Vec<Case> = lines.map(Case::read).collect();
        assert!(!cases.is_empty());
        cases
    }

    fn read(line: &'static str) -> Case {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |index: usize| fields.get(index).copied().filter(|field| !field.is_empty());
        let algorithm = Algorithm::from_uri(fields[2]).expect(line);
        let input = folder().join(fields[0]);
        Case {
            expected: input.with_file_name(fields[1]),
            input,
            method: Method::new(algorithm).with_inclusive_namespaces(field(3).unwrap_or_default()),
            apex: field(4),
            without: field(5),
        }
    }

    fn canonical(&self, input: &[u8]) -> Result<String, Error> {
        write(&self.method, &decode(input, None)?, self.subset(input))
    }

    fn subset(&self, input: &[u8]) -> Subset {
        subset(&String::from_utf8_lossy(input), self.apex, self.without)
    }
}

/// Returns the subset whose tags begin with these texts.
fn subset(document: &str, apex: Option<&str>, without: Option<&str>) -> Subset {
    let offset = |text: &str| document.find(text).expect(text);
    Subset { apex: apex.map(offset), without: without.map(offset) }
}

/// Returns a form. It is the same whether runs are passed over, or text is copied from the document or made anew.
fn write(method: &Method, document: &str, subset: Subset) -> Result<String, Error> {
    let entity = DocumentEntity::new(document, Limits::default())?;
    let (known, none) = (canonical_runs(&entity), CanonicalRuns::default());
    let [known, copied, made] = [(true, &known), (true, &none), (false, &none)].map(|(copies, known)| {
        let mut text = String::new();
        let method = method.clone().switch_copies(copies);
        let form = Form { method: &method, subset, out: |piece: &str| text.push_str(piece) };
        write_known(&mut entity.reader(), known, vec![form]).map(|()| text)
    });
    assert_eq!(copied, made, "{document}");
    assert_eq!(known, made, "{document}");
    known
}

/// Returns what of a document is canonical as it is written, however short; nothing, if it is not well-formed.
fn canonical_runs<'a>(entity: &'a DocumentEntity<'a>) -> CanonicalRuns<'a> {
    let (mut reader, mut find) = (entity.reader(), FindRuns::with_min_length(0));
    loop {
        match find.next(&mut reader, |_, _| false) {
            Ok(Token::End) => return find.finish(&reader),
            Ok(_) => {}
            Err(_) => return CanonicalRuns::default(),
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c14n")
}
