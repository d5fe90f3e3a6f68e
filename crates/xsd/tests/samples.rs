//! Tests that samples generated from the schemas of the corpus are valid according to the validator, which is
//! independent of the generator.
//!
//! A run tests a part of the schemas, a different one each day; `CASTILE_ALL=1` tests all. `tests/interop/samples`
//! validates the same samples with libxml2.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use castile_xsd::sample::Samples;
use castile_xsd::validate::Validator;
use castile_xsd::{Documents, ExpandedName, Files, read};

/// The number of parts of the corpus.
const PARTS: usize = 40;

/// The sample generator recurses up to the maximum depth of a document.
const STACK: usize = 64 << 20;

#[castile_corpus::needs("corpus/wsdl")]
#[test]
fn samples_of_the_corpus_are_valid() {
    let run = std::thread::Builder::new().stack_size(STACK).spawn(judge_corpus).unwrap().join();
    let failures = run.unwrap();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Returns the invalid samples in this run's part of the corpus.
fn judge_corpus() -> Vec<String> {
    let corpus = Path::new(castile_corpus::path!("corpus/wsdl"));
    let schemas = schemas_in(corpus);
    let days = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() / 86_400;
    let part = days as usize % PARTS;
    let is_all = std::env::var_os("CASTILE_ALL").is_some();
    let taken = schemas.iter().enumerate().filter(|(index, _)| is_all || index % PARTS == part);
    let (mut count, mut samples) = (0, 0);
    let mut failures = Vec::new();
    for (_, path) in taken {
        count += 1;
        let (made, problems) = judge(path);
        samples += made;
        for (problem, times) in problems {
            failures.push(format!("{}: {times} times: {problem}", path.strip_prefix(corpus).unwrap().display()));
        }
    }
    let which = if is_all { "all".to_owned() } else { format!("part {part} of {PARTS}") };
    eprintln!("{samples} samples of {count} schemas ({which}): {} problems", failures.len());
    failures
}

/// Returns the number of samples of a schema, and the problems in them.
fn judge(path: &Path) -> (usize, BTreeMap<String, usize>) {
    let (schema, _) = read(&path.to_string_lossy(), &Files::new());
    let mut validator = Validator::new(&schema);
    let (mut count, mut found) = (0, BTreeMap::new());
    for element in schema.global_elements() {
        // Elements without samples are covered by another test.
        for sample in Samples::new(&schema, element).flatten() {
            count += 1;
            // The samples don't have the IDs that their references need, which libxml2 doesn't report.
            if let Some(problem) = validator.validate(sample.as_bytes()).iter().find(|one| one.rule != "cvc-id.1") {
                *found.entry(format!("{}: {problem}", schema[element].name)).or_default() += 1;
            }
        }
    }
    (count, found)
}

fn schemas_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "xsd") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn impossible_content_is_left_out() {
    for (body, expected) in [
        // No type is derived from the abstract type.
        (
            r#"<xs:complexType name="Nothing" abstract="true"/>
               <xs:element name="a"><xs:complexType><xs:sequence>
                 <xs:element name="b" type="Nothing" minOccurs="0"/>
               </xs:sequence></xs:complexType></xs:element>"#,
            &["<a/>"][..],
        ),
        // A type that extends a simple type doesn't replace it.
        (
            r#"<xs:simpleType name="Word"><xs:restriction base="xs:string"><xs:enumeration value="w"/></xs:restriction></xs:simpleType>
               <xs:complexType name="Marked"><xs:simpleContent><xs:extension base="Word"><xs:attribute name="m"/></xs:extension></xs:simpleContent></xs:complexType>
               <xs:element name="a" type="Word"/>"#,
            &["<a>w</a>"],
        ),
        // A name has a namespace, so that it can also be written where a default namespace is declared.
        (
            r#"<xs:element name="a" type="xs:QName"/>"#,
            &[
                r#"<a xmlns:ns1="urn:sample">ns1:sample</a>"#,
                r#"<a xmlns:xs="http://www.w3.org/2001/XMLSchema">xs:string</a>"#,
            ],
        ),
    ] {
        let schema = format!(r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{body}</xs:schema>"#);
        let (schema, _) = read("a.xsd", &Documents::new().with("a.xsd", schema));
        let element = schema.find_element(&ExpandedName::new("", "a")).unwrap();
        let samples: Vec<String> = Samples::new(&schema, element).collect::<Result<_, _>>().unwrap();
        assert_eq!(samples, expected, "{body}");
    }
}

/// A strict wildcard was filled with the first element that it allows. If that was the element that contains the
/// wildcard, it nested up to the maximum depth of a document.
#[test]
fn a_strict_wildcard_gets_an_element_with_a_finite_instance() {
    let any = |name: &str, content: &str| {
        format!(
            "<xs:element name='{name}'><xs:complexType><xs:sequence>{content}</xs:sequence></xs:complexType></xs:element>"
        )
    };
    let undeclared = "xsi:type=\"xs:string\">any element</ns1:sample></a>";
    for (body, expected) in [
        (any("a", "<xs:any/>") + "<xs:element name='b' type='xs:string'/>", "<a><b>a sample</b></a>"),
        // A declared element with content is preferred to an undeclared one, and another element to the wildcard's own.
        (any("a", "<xs:any/>") + &any("b", "<xs:element name='c'/>"), "<a><b><c>any type</c></b></a>"),
        (any("a", "<xs:any minOccurs='0'/>") + &any("b", "<xs:any minOccurs='0'/>"), "<a><b/></a>"),
        (any("a", "<xs:any/>") + &any("b", "<xs:any/>"), undeclared),
        (any("a", "<xs:any namespace='##local'/>"), ">any element</sample>"),
        // An undeclared element is used only where an element is required, because many validators reject it.
        (any("a", "<xs:any namespace='##other' minOccurs='0'/>"), "<a/>"),
        (
            any("a", "<xs:choice><xs:any namespace='##other'/><xs:element name='b' type='xs:string'/></xs:choice>"),
            "<a><b>a sample</b></a>",
        ),
    ] {
        let schema = format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>{body}</xs:schema>");
        let (schema, problems) = read("a.xsd", &Documents::new().with("a.xsd", schema));
        assert!(problems.is_empty(), "{problems:?}");
        let element = schema.find_element(&ExpandedName::new("", "a")).unwrap();
        let first = Samples::new(&schema, element).with_plain_values().next().unwrap().unwrap();
        assert!(first.contains(expected), "{first}, expected {expected}: {body}");
        let mut validator = Validator::new(&schema);
        let is_declared = !expected.contains("any element");
        for sample in Samples::new(&schema, element) {
            assert_eq!(validator.validate(sample.as_ref().unwrap().as_bytes()), [], "{sample:?}");
            assert!(!is_declared || !sample.as_ref().unwrap().contains("any element"), "{sample:?}");
        }
    }
}

/// The error gives the reason why there is no instance.
#[test]
fn infinite_content_is_an_error() {
    for (body, expected) in [
        (
            "<xs:element name='a'><xs:complexType><xs:sequence><xs:element ref='a'/></xs:sequence></xs:complexType></xs:element>",
            "the element or attribute a has no finite instance: each possible content requires the element itself again",
        ),
        (
            "<xs:element name='a' abstract='true'/>",
            "the element or attribute a is abstract, and no element is declared that may substitute it",
        ),
    ] {
        let schema = format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>{body}</xs:schema>");
        let (schema, _) = read("a.xsd", &Documents::new().with("a.xsd", schema));
        let element = schema.find_element(&ExpandedName::new("", "a")).unwrap();
        let error = Samples::new(&schema, element).next().unwrap().unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

/// Each of many elements may contain each other one. The heights are computed for all wildcards of a kind together.
#[test]
fn many_wildcards_take_bounded_work() {
    let one = |n: usize| {
        format!(
            "<xs:element name='e{n}'><xs:complexType><xs:sequence><xs:any/></xs:sequence></xs:complexType></xs:element>"
        )
    };
    let body: String = (0..5_000).map(one).collect();
    let schema = format!("<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>{body}</xs:schema>");
    let (schema, _) = read("a.xsd", &Documents::new().with("a.xsd", schema));
    let element = schema.find_element(&ExpandedName::new("", "e0")).unwrap();
    let mut samples = Samples::new(&schema, element);
    let first = samples.next().unwrap().unwrap();
    assert!(first.starts_with("<e0><ns1:sample "), "{first}");
    assert!(samples.steps() < 200_000, "{} steps", samples.steps());
}

/// In all samples keys are present and unique, and references lead to keys.
#[test]
fn identity_constraints_hold() {
    let (schema, problems) =
        castile_xsd::read("keys.xsd", &Documents::new().with("keys.xsd", include_str!("samples/keys.xsd")));
    assert!(problems.is_empty(), "{problems:?}");
    let element = schema.find_element(&ExpandedName::new("urn:t", "order")).unwrap();
    let samples: Vec<String> = Samples::new(&schema, element).collect::<Result<_, _>>().unwrap();
    let mut validator = Validator::new(&schema);
    let mut wrong = Vec::new();
    for sample in &samples {
        wrong.extend(validator.validate(sample.as_bytes()).iter().map(|problem| format!("{problem}: {sample}")));
    }
    assert!(wrong.is_empty(), "{} of {}: {}", wrong.len(), samples.len(), wrong.join("\n"));
    for shown in ["line number=", "article>", "first=", "head name=", "seen>", "<ns1:order xmlns:ns1=\"urn:t\"/>"] {
        assert!(samples.iter().any(|sample| sample.contains(shown)), "{shown}: {samples:#?}");
    }
    let most = |part: &str| samples.iter().map(|sample| sample.matches(part).count()).max().unwrap();
    assert!(most(":line ") >= 2 && most(":code>") >= 4 && most(":member") >= 3 && most("kind=") >= 2, "{samples:#?}");
}

#[test]
fn a_part_of_a_message_has_a_type_and_a_name() {
    let documents = Documents::new().with(
        "a.xsd",
        r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="urn:t" targetNamespace="urn:t">
             <xs:complexType name="Node"><xs:sequence>
               <xs:element name="value" type="xs:int"/><xs:element name="next" type="Node" minOccurs="0"/>
             </xs:sequence><xs:attribute name="key" type="xs:token" use="required"/></xs:complexType>
           </xs:schema>"#,
    );
    let (schema, diagnostics) = castile_xsd::read("a.xsd", &documents);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let node = schema.find_type(&ExpandedName::new("urn:t", "Node")).unwrap();
    let first = |name: &str, type_id, depth| {
        Samples::of_type(&schema, ExpandedName::new("", name), type_id).with_depth(depth).next().unwrap().unwrap()
    };
    assert_eq!(first("n", castile_xsd::Builtin::Boolean.into(), 12), "<n>true</n>");
    let nodes = |depth| first("n", node, depth).matches("<value>").count();
    assert_eq!((nodes(0), nodes(12)), (1, 2), "what is optional is there, but not too deep");
}

/// Sample generation does bounded work for any schema, and reports an error if the bound is exceeded.
#[test]
fn hostile_schemas_take_bounded_work() {
    /// Maximum size in bytes of all samples of an element: 80 MB for 10,000,000 steps, and the last instance.
    const MOST_TEXT: usize = 88 << 20;
    let doubling = |levels: usize| {
        let types: String = (1..levels)
            .map(|level| {
                let e = format!("<xs:element name='e' type='T{}' minOccurs='9' maxOccurs='9'/>", level - 1);
                format!("<xs:complexType name='T{level}'><xs:sequence>{e}</xs:sequence></xs:complexType>")
            })
            .collect();
        let last = levels - 1;
        format!("<xs:complexType name='T0'/>{types}<xs:element name='r' type='T{last}'/>")
    };
    let long = "x".repeat(1 << 20);
    let fixed = format!("<xs:element name='v' type='xs:string' fixed='{long}' minOccurs='4000' maxOccurs='4000'/>");
    let (open, close) = ("<xs:sequence minOccurs='9' maxOccurs='9'>".repeat(60), "</xs:sequence>".repeat(60));
    let nested = format!("{open}<xs:element name='e' minOccurs='0'/>{close}");
    let complex =
        |content: &str| format!("<xs:element name='r'><xs:complexType>{content}</xs:complexType></xs:element>");
    for (body, expected) in [
        (doubling(6), None),
        (doubling(60), Some("takes more than 1000000 steps")),
        // The optional element is in 60 nested sequences that each occur nine times.
        (complex(&nested), Some("takes more than 1000000 steps")),
        (complex(&format!("<xs:sequence>{fixed}</xs:sequence>")), Some("takes more than 1000000 steps")),
    ] {
        let schema = format!(r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{body}</xs:schema>"#);
        let (schema, _) = read("a.xsd", &Documents::new().with("a.xsd", schema));
        let element = schema.find_element(&ExpandedName::new("", "r")).unwrap();
        let samples: Vec<_> = Samples::new(&schema, element).collect();
        let bytes: usize = samples.iter().flatten().map(String::len).sum();
        assert!(bytes <= MOST_TEXT, "{bytes} bytes: {body:.200}");
        let error = samples.last().unwrap().as_ref().err().map(ToString::to_string);
        match expected {
            Some(expected) => {
                assert!(error.as_ref().is_some_and(|error| error.contains(expected)), "{error:?}: {body:.200}")
            }
            None => assert_eq!(error, None, "{body:.200}"),
        }
    }
}

/// If constraints can't be satisfied the error is found with bounded work.
#[test]
fn constraints_that_can_not_hold_take_bounded_work() {
    let attribute = |uses: &str| format!("<xs:complexType><xs:attribute name='a' {uses}/></xs:complexType>");
    let list = |count: u32, uses: &str| {
        let e =
            format!("<xs:element name='e' minOccurs='{count}' maxOccurs='{count}'>{}</xs:element>", attribute(uses));
        format!("<xs:complexType><xs:sequence>{e}</xs:sequence></xs:complexType>")
    };
    let key = "<xs:key name='k'><xs:selector xpath='.//e'/><xs:field xpath='@a'/></xs:key>";
    let keys: String = (0..500).map(|n| key.replace("'k'", &format!("'k{n}'"))).collect();
    let reference = "<xs:keyref name='r' refer='k'><xs:selector xpath='e'/><xs:field xpath='@a'/></xs:keyref>";
    let none = key.replace("'.//e'", "'none'");
    let deep = "<xs:complexType><xs:sequence><xs:element ref='r' minOccurs='0' maxOccurs='3'/></xs:sequence>
        <xs:attribute name='a' type='xs:string' use='required'/></xs:complexType>
        <xs:key name='k'><xs:selector xpath='.//*'/><xs:field xpath='@a'/></xs:key>
        <xs:keyref name='of' refer='k'><xs:selector xpath='.//*'/><xs:field xpath='@a'/></xs:keyref>";
    let (least, fixed) = ("type='xs:boolean' use='required'", "type='xs:int' fixed='1' use='required'");
    for (body, expected) in [
        (list(2, least) + key, None),
        (list(3, least) + key, Some("whose identity constraints hold")),
        (list(2, fixed) + key, Some("whose identity constraints hold")),
        (list(2, "type='xs:int' use='required'") + &none + reference, Some("whose identity constraints hold")),
        // The reference is optional.
        (list(2, "type='xs:int'") + &none + reference, None),
        (list(5_000, "type='xs:int'") + key, None),
        (list(5_000, "type='xs:int'") + &keys, Some("takes more than 1000000 steps")),
        (deep.to_owned(), None),
    ] {
        let schema = format!(
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='r'>{body}</xs:element></xs:schema>"
        );
        let (schema, problems) = read("a.xsd", &Documents::new().with("a.xsd", schema));
        assert!(problems.is_empty(), "{problems:?}");
        let element = schema.find_element(&ExpandedName::new("", "r")).unwrap();
        let mut validator = Validator::new(&schema);
        let mut error = None;
        for sample in Samples::new(&schema, element) {
            match sample {
                Ok(sample) => assert_eq!(validator.validate(sample.as_bytes()), [], "{sample:.2000}"),
                Err(found) => error = Some(found.to_string()),
            }
        }
        match expected {
            Some(expected) => {
                assert!(error.as_ref().is_some_and(|error| error.contains(expected)), "{error:?}: {body:.300}")
            }
            None => assert_eq!(error, None, "{body:.300}"),
        }
    }
}

/// An array in SOAP encoding may have any number of dimensions, each of size two.
#[test]
fn arrays_of_many_dimensions_take_bounded_work() {
    let commas = ",".repeat(99);
    let schema = format!(
        r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"
             xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" targetNamespace="urn:t">
             <xs:import namespace="http://schemas.xmlsoap.org/soap/encoding/"/>
             <xs:complexType name="A"><xs:complexContent><xs:restriction base="soapenc:Array">
               <xs:attribute ref="soapenc:arrayType" wsdl:arrayType="xs:int[{commas}]"/>
             </xs:restriction></xs:complexContent></xs:complexType>
           </xs:schema>"#
    );
    let (schema, _) = castile_xsd::read("a.xsd", &Documents::new().with("a.xsd", schema));
    let array = schema.find_type(&ExpandedName::new("urn:t", "A")).unwrap();
    let name = ExpandedName::new("urn:t", "call");
    let samples = Samples::of_call(&schema, castile_xsd::encoded::Encoding::Soap11, name, [("a".to_owned(), array)]);
    let samples: Vec<_> = samples.collect();
    let error = samples.last().unwrap().as_ref().unwrap_err().to_string();
    assert!(error.contains("takes more than 1000000 steps"), "{error}");
}
