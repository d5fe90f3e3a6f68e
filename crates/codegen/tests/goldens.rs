//! What is generated from each directory of `features` is what stands there: `expected.rs`, or `diagnostics.txt` with
//! the problems of the contract. `sizes.rs` says how many bytes each type takes at most, which the compiler checks in the tests
//! that run the feature. `pages` has what pages for people show of some of them.
//!
//! `BLESS=1 cargo test -p castile-codegen` writes both anew, and the texts of errors that `features.rs` compares; the
//! difference in git is the review. When what was generated before doesn't compile: `BLESS=1 cargo test -p
//! castile-codegen --test goldens`.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use castile_codegen::{Document, Generated, Options, generate};

/// The directories, in order.
fn features() -> Vec<String> {
    let directory = fs::read_dir("tests/features").unwrap();
    let mut names: Vec<String> = directory.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn options(feature: &str) -> Options {
    let mut options = Options::default();
    options.server = feature != "client_only";
    options.client = feature != "server_only";
    options.facets = matches!(feature, "facets" | "lenient" | "nasty_texts");
    options.lenient = matches!(feature, "header_blocks" | "lenient" | "rpc_literal" | "typed_faults");
    if feature == "raw" {
        options.raw = ["submit", "forward", "note"].map(str::to_owned).into();
    }
    if feature == "streams" {
        options.streams = vec!["Value/item".to_owned()];
    }
    options.stream_binaries = feature == "stream_binaries";
    options
}

/// Code that doesn't compile where a type takes more than the planner reckons, or than it may.
fn checks(sizes: &[(String, usize)]) -> String {
    // Clippy has something to say of what is at most 0.
    let checks = sizes
        .iter()
        .filter(|(_, size)| *size > 0)
        .map(|(name, size)| format!("const _: () = assert!(size_of::<{name}>() <= {size} && {size} <= 1024);\n"));
    checks.collect()
}

#[test]
fn generated_code_is_as_expected() {
    let mut different = Vec::new();
    for feature in features() {
        let directory = Path::new("tests/features").join(&feature);
        let (source, sizes, documents, diagnostics) =
            match generate(&directory.join("service.wsdl"), &options(&feature)) {
                Ok(Generated { source, sizes, documents, diagnostics, .. }) => {
                    (Some(source), Some(checks(&sizes)), documents, diagnostics)
                }
                Err(diagnostics) => (None, None, Vec::new(), diagnostics),
            };
        let diagnostics: String = diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n\n")).collect();
        let diagnostics = (!diagnostics.is_empty()).then_some(diagnostics);
        for (file, found) in [("expected.rs", source), ("sizes.rs", sizes), ("diagnostics.txt", diagnostics)] {
            different.extend(support::compare(&directory.join(file), found.as_deref()));
        }
        for Document { file, text, .. } in documents.iter().skip(1) {
            different.extend(support::compare(&directory.join(file), Some(text)));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn page_data_is_as_expected() {
    let pages = fs::read_dir("tests/pages").unwrap().map(|entry| entry.unwrap().path());
    let mut different = Vec::new();
    for page in pages {
        let feature = page.file_stem().unwrap().to_str().unwrap();
        let mut options = options(feature);
        options.page = true;
        let contract = Path::new("tests/features").join(feature).join("service.wsdl");
        let generated = generate(&contract, &options).unwrap();
        different.extend(support::compare(&page, generated.page.as_ref().map(|page| &*page.text)));
        // The source has one line more.
        assert!(
            generated
                .source
                .contains(".with_page(::castile::codegen::ServicePage::new(include_str!(\"service.page\"), 0))")
        );
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// With fewer operations a type became another header block.
#[test]
fn the_type_of_a_header_block_does_not_depend_on_the_operations() {
    let operation = |name: &str, block: &str| {
        let header = format!("<soap:header message='t:{block}' part='block' use='literal'/>");
        let body = "<soap:body use='literal'/>";
        let bound = format!("<input>{body}{header}</input><output>{body}</output>");
        format!("<operation name='{name}'><soap:operation soapAction=''/>{bound}</operation>")
    };
    let declared =
        |name: &str| format!("<operation name='{name}'><input message='t:m'/><output message='t:m'/></operation>");
    let block = |name: &str| format!("<message name='{name}'><part name='block' element='t:{name}'/></message>");
    let wsdl = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/'
          xmlns:t='urn:t' xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'>
          <types><xs:schema targetNamespace='urn:t'>
            <xs:complexType name='Who'><xs:sequence><xs:element name='name' type='xs:string'/></xs:sequence></xs:complexType>
            <xs:element name='first' type='t:Who'/><xs:element name='second' type='t:Who'/>
            <xs:element name='m' type='xs:string'/>
          </xs:schema></types>
          <message name='m'><part name='m' element='t:m'/></message>{}{}
          <portType name='P'>{}{}</portType>
          <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>{}{}</binding>
          <service name='S'><port name='P' binding='t:B'><soap:address location='http://localhost/'/></port></service>
        </definitions>",
        block("first"),
        block("second"),
        declared("a"),
        declared("b"),
        operation("a", "first"),
        operation("b", "second"),
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("blocks_of_one_type.wsdl");
    fs::write(&path, wsdl).unwrap();
    let blocks = |operations: &[&str]| -> Vec<String> {
        let mut options = Options::default();
        options.operations = operations.iter().map(ToString::to_string).collect();
        let source = generate(&path, &options).unwrap().source;
        let blocks = source.split("impl ::castile::Header for ").skip(1);
        blocks.map(|block| block.split(' ').next().unwrap().to_owned()).collect()
    };
    assert_eq!(blocks(&[]), ["FirstHeader", "SecondHeader"]);
    assert_eq!(blocks(&["b"]), ["SecondHeader"]);
}

/// Each operation had an enum of its own, and a contract of hundreds of operations hundreds that were alike.
#[test]
fn operations_that_declare_the_same_faults_have_one_type() {
    // The name of a fault, and that of its message.
    let operations = [
        ("a", "xx yy"),
        ("b", "yy xx"),
        ("c", "xx yy"),
        ("d", "xx"),
        ("e", "yy xx"),
        ("f", ""),
        ("g", "xy"),
        ("h", "xz"),
        ("i", "xx"),
    ];
    let each = |make: &dyn Fn(&str, &str) -> String| -> String {
        operations.iter().map(|(name, faults)| make(name, faults)).collect()
    };
    let faults = |faults: &str, make: fn(&str) -> String| faults.split_whitespace().map(make).collect::<String>();
    let contract = format!(
        "<w:definitions name='N' targetNamespace='urn:n' xmlns:t='urn:n' xmlns:w='http://schemas.xmlsoap.org/wsdl/' \
         xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:xs='http://www.w3.org/2001/XMLSchema'>\
         <w:types><xs:schema targetNamespace='urn:n'><xs:element name='x' type='xs:string'/>\
         <xs:element name='y' type='xs:string'/><xs:element name='z' type='xs:string' nillable='true'/>{}</xs:schema></w:types>\
         <w:message name='x'><w:part name='p' element='t:x'/></w:message>\
         <w:message name='y'><w:part name='p' element='t:y'/></w:message>\
         <w:message name='z'><w:part name='p' element='t:z'/></w:message>{}<w:portType name='P'>{}</w:portType>\
         <w:binding name='B' type='t:P'><s:binding transport='http://schemas.xmlsoap.org/soap/http'/>{}</w:binding>\
         <w:service name='S'><w:port name='P' binding='t:B'><s:address location='http://localhost/'/></w:port></w:service>\
         </w:definitions>",
        each(&|name, _| format!("<xs:element name='{name}' type='xs:string'/>")),
        each(&|name, _| format!("<w:message name='{name}'><w:part name='p' element='t:{name}'/></w:message>")),
        each(&|name, declared| format!(
            "<w:operation name='{name}'><w:input message='t:{name}'/><w:output message='t:{name}'/>{}</w:operation>",
            faults(declared, |fault| {
                let (name, message) = fault.split_at(1);
                format!(
                    "<w:fault name='{name}' message='t:{message}'><w:documentation>{name}</w:documentation></w:fault>"
                )
            }),
        )),
        each(&|name, declared| format!(
            "<w:operation name='{name}'><s:operation soapAction=''/><w:input><s:body use='literal'/></w:input>\
             <w:output><s:body use='literal'/></w:output>{}</w:operation>",
            faults(declared, |fault| {
                let name = &fault[..1];
                format!("<w:fault name='{name}'><s:fault name='{name}' use='literal'/></w:fault>")
            }),
        )),
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("faults.wsdl");
    fs::write(&path, contract).unwrap();
    let types = |operations: &[&str]| -> Vec<String> {
        let mut options = Options::default();
        options.operations = operations.iter().map(ToString::to_string).collect();
        let source = generate(&path, &options).unwrap().source;
        let types = source.lines().filter(|line| line.starts_with("pub enum ") || line.starts_with("pub type "));
        types.filter(|line| line.contains("Fault")).map(str::to_owned).collect()
    };
    // The order of faults is that in which they are looked for.
    let expected = "pub enum AFault {|pub enum BFault {|pub type CFault = AFault;|pub enum DFault {|pub type EFault = BFault;|\
                    pub enum GFault {|pub enum HFault {|pub type IFault = DFault;";
    assert_eq!(types(&[]).join("|"), expected);
    assert_eq!(types(&["c", "e"]), ["pub enum CFault {", "pub enum EFault {"]);
}

/// A named simple type has a table in the module of the service, which was taken for a type there.
#[test]
fn message_types_are_generated_for_a_service_without_types() {
    let contract = "<w:definitions name='N' targetNamespace='urn:s' xmlns:v='urn:s' xmlns:t='urn:typ' xmlns:w='http://schemas.xmlsoap.org/wsdl/' \
         xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:xs='http://www.w3.org/2001/XMLSchema'>\
         <w:types><xs:schema targetNamespace='urn:typ'>\
         <xs:simpleType name='Speed'><xs:restriction base='xs:string'><xs:enumeration value='a'/></xs:restriction></xs:simpleType>\
         <xs:simpleType name='Code'><xs:restriction base='xs:string'><xs:pattern value='a+'/></xs:restriction></xs:simpleType>\
         <xs:element name='ask'><xs:complexType><xs:sequence><xs:element name='speed' type='t:Speed'/>\
         <xs:element name='code' type='t:Code'/></xs:sequence></xs:complexType></xs:element></xs:schema></w:types>\
         <w:message name='ask'><w:part name='p' element='t:ask'/></w:message>\
         <w:portType name='P'><w:operation name='ask'><w:input message='v:ask'/></w:operation></w:portType>\
         <w:binding name='B' type='v:P'><s:binding transport='http://schemas.xmlsoap.org/soap/http'/>\
         <w:operation name='ask'><s:operation soapAction=''/><w:input><s:body use='literal'/></w:input></w:operation></w:binding>\
         </w:definitions>";
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("beside.wsdl");
    fs::write(&path, contract).unwrap();
    for facets in [false, true] {
        let mut options = Options::default();
        options.facets = facets;
        let source = generate(&path, &options).unwrap().source;
        assert!(source.contains("SPEED_TYPES") && source.contains("pub use self::typ::*;"), "{source}");
    }
}

/// What is served, and what cargo watches.
#[test]
fn the_contract_is_served_as_it_was_read() {
    let generated = generate(Path::new("tests/features/imports/service.wsdl"), &Options::default()).unwrap();
    let read = fs::read_to_string("tests/features/imports/service.wsdl").unwrap();
    let [contract, types] = &generated.documents[..] else { panic!("{:?}", generated.documents) };
    assert_eq!(contract.text, read.replace("iso-8859-1", "UTF-8"));
    assert_eq!(contract.imports, [("service.1.xsd".to_owned(), "xsd=1".to_owned())]);
    assert_eq!((&*types.file, &*types.query), ("service.1.xsd", "xsd=1"));
    assert_eq!(types.text, fs::read_to_string("tests/features/imports/service.1.xsd").unwrap());
    assert_eq!(generated.files, ["tests/features/imports/service.wsdl", "tests/features/imports/service.1.xsd"]);
}

/// The copy of a contract named what it imports as the contract does, and not as the copies of that are called.
#[test]
fn the_copy_of_a_contract_could_not_be_read_again() {
    let generated = generate(Path::new("tests/kept/depot.wsdl"), &Options::default()).unwrap();
    let expected = Path::new("tests/kept/expected");
    let different: Vec<String> = generated
        .documents
        .iter()
        .filter_map(|Document { file, text, .. }| support::compare(&expected.join(file), Some(text)))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
    let again = generate(&expected.join("depot.wsdl"), &Options::default()).unwrap();
    assert_eq!((again.source, again.documents), (generated.source, generated.documents));
}

#[test]
fn the_copy_of_each_contract_gives_the_same_code() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("service.wsdl");
    for feature in features() {
        let contract = Path::new("tests/features").join(&feature).join("service.wsdl");
        let Ok(generated) = generate(&contract, &options(&feature)) else { continue };
        for Document { file, text, .. } in &generated.documents {
            fs::write(folder.path().join(file), text).unwrap();
        }
        let said = contract.with_file_name("service.castile.toml");
        let beside = copy.with_file_name("service.castile.toml");
        fs::write(beside, fs::read(said).unwrap_or_default()).unwrap();
        let again = generate(&copy, &options(&feature)).expect(&feature);
        assert_eq!((again.source, again.documents), (generated.source, generated.documents), "{feature}");
    }
}

/// Names of types don't change with what is left out.
#[test]
fn operations_can_be_picked() {
    let with = |operations: &[&str]| {
        let mut options = Options::default();
        options.operations = operations.iter().map(ToString::to_string).collect();
        generate(Path::new("tests/features/two_namespaces/service.wsdl"), &options)
    };
    let types = |source: &str| -> Vec<String> {
        let types = source.lines().filter_map(|line| line.trim().strip_prefix("pub struct "));
        types.filter_map(|line| line.strip_suffix(" {")).map(str::to_owned).collect()
    };
    assert_eq!(types(&with(&[]).unwrap().source), ["Value", "Part", "Parts"]);
    assert_eq!(types(&with(&["echo"]).unwrap().source), ["Value", "Part", "Parts"]);
    let other = with(&["other"]).unwrap();
    assert_eq!(types(&other.source), ["Part"]);
    assert!(other.source.contains("fn other(") && !other.source.contains("fn echo("));
    let diagnostics = with(&["other", "more"]).unwrap_err();
    let [diagnostic] = diagnostics.as_slice() else { panic!("{diagnostics:?}") };
    assert_eq!(diagnostic.message, "found operation \"more\", expected one of echo, other");
}

/// Circles are cut and large fields are boxed where the contract says, and not where a walk over it begins.
#[test]
fn how_types_hold_others_does_not_depend_on_the_operations() {
    let text = |fields: &str| format!("<xs:sequence>{fields}</xs:sequence>");
    let element = |name: &str, of: &str| format!("<xs:element name='{name}' type='t:{of}' minOccurs='0'/>");
    let large: String = (0..50).map(|n| format!("<xs:element name='e{n}' type='xs:string'/>")).collect();
    let types = [
        ("C", element("a", "A") + &element("large", "Large")),
        ("A", element("b", "B") + &element("large", "Large")),
        ("B", element("c", "C") + &element("own", "B")),
        ("Large", large),
    ];
    let types = types.map(|(name, fields)| format!("<xs:complexType name='{name}'>{}</xs:complexType>", text(&fields)));
    let operations = ["A", "B", "C"];
    let each = |make: fn(&str) -> String| operations.map(make).concat();
    let contract = format!(
        "<w:definitions name='N' targetNamespace='urn:n' xmlns:t='urn:n' xmlns:w='http://schemas.xmlsoap.org/wsdl/' \
         xmlns:s='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:xs='http://www.w3.org/2001/XMLSchema'>\
         <w:types><xs:schema targetNamespace='urn:n'>{}{}</xs:schema></w:types>{}<w:portType name='P'>{}</w:portType>\
         <w:binding name='B' type='t:P'><s:binding transport='http://schemas.xmlsoap.org/soap/http'/>{}</w:binding>\
         <w:service name='S'><w:port name='P' binding='t:B'><s:address location='http://localhost/'/></w:port></w:service>\
         </w:definitions>",
        types.concat(),
        each(|name| format!("<xs:element name='get{name}' type='t:{name}'/>")),
        each(|name| format!("<w:message name='m{name}'><w:part name='p' element='t:get{name}'/></w:message>")),
        each(|name| format!("<w:operation name='o{name}'><w:input message='t:m{name}'/></w:operation>")),
        each(|name| format!(
            "<w:operation name='o{name}'><s:operation soapAction=''/><w:input><s:body use='literal'/></w:input></w:operation>"
        )),
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("circle.wsdl");
    fs::write(&path, contract).unwrap();
    let fields = |operations: &[&str]| -> Vec<String> {
        let mut options = Options::default();
        options.operations = operations.iter().map(ToString::to_string).collect();
        let source = generate(&path, &options).unwrap().source;
        let mut fields: Vec<String> = source
            .lines()
            .filter(|line| line.starts_with("    pub ") && line.ends_with(">,"))
            .map(str::to_owned)
            .collect();
        fields.sort();
        fields
    };
    let expected = [
        "    pub a: Option<Recursive<A>>,",
        "    pub b: Option<Box<B>>,",
        "    pub c: Option<Box<C>>,",
        "    pub large: Option<Box<Large>>,",
        "    pub large: Option<Box<Large>>,",
        "    pub own: Option<Recursive<B>>,",
    ];
    assert_eq!(fields(&[]), expected);
    for operation in ["oA", "oB", "oC"] {
        assert_eq!(fields(&[operation]), expected, "{operation}");
    }
}

#[test]
fn every_feature_is_run() {
    let files = ["features", "bindings", "addressing", "encoded", "attachments", "stack"]
        .map(|file| format!("tests/{file}.rs"));
    let tests = files.each_ref().map(|file| fs::read_to_string(file).unwrap()).concat();
    for feature in features() {
        let has_code = Path::new("tests/features").join(&feature).join("expected.rs").exists();
        let is_run = tests.contains(&format!("!({feature})")) || tests.contains(&format!("!({feature} {{"));
        assert_eq!(has_code, is_run, "{} and the directory {feature}", files.join(", "));
    }
}

/// The lint `missing_docs` doesn't look into tests, so it is done here.
#[test]
fn everything_public_is_documented() {
    for feature in features() {
        let Ok(source) = fs::read_to_string(format!("tests/features/{feature}/expected.rs")) else { continue };
        let lines: Vec<&str> = source.lines().map(str::trim).collect();
        let mut in_trait = false;
        for (index, line) in lines.iter().enumerate() {
            in_trait =
                line.starts_with("pub trait") || in_trait && !source.lines().nth(index).unwrap().starts_with('}');
            let is_public = line.starts_with("pub ") || in_trait && line.starts_with("fn ");
            let above = lines[..index].iter().rev().find(|line| !line.starts_with("#["));
            assert!(
                !is_public || above.is_some_and(|above| above.starts_with("///")),
                "{feature}/expected.rs:{}: {line} has no documentation",
                index + 1
            );
        }
    }
}

/// Texts of a contract may hold anything; rustdoc warns of nothing in them, and takes none of them for a test.
#[test]
fn rustdoc_is_content() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut documented = String::from(
        "//! Documentation of generated code.\n\n/// Port types.\npub trait Feature {}\n/// Another.\npub trait Other {}\n",
    );
    let mut number = 0;
    for feature in features() {
        let Ok(source) = fs::read_to_string(format!("tests/features/{feature}/expected.rs")) else { continue };
        let mut lines = source.lines().map(str::trim).peekable();
        while let Some(line) = lines.next() {
            if line.starts_with("///") {
                documented.push_str(&format!("{line}\n"));
                if !lines.peek().is_some_and(|next| next.starts_with("///")) {
                    documented.push_str(&format!("pub struct Documented{number};\n"));
                    number += 1;
                }
            }
        }
    }
    assert!(number > 100, "only {number} documented items were found");
    let file = directory.join("documented.rs");
    fs::write(&file, documented).unwrap();

    let rustdoc = std::env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    let run = |more: &[&str]| {
        let output = Command::new(&rustdoc)
            .args(["--edition=2024", "-Dwarnings", "--crate-type=lib"])
            .args(more)
            .arg(&file)
            .current_dir(directory)
            .output()
            .unwrap();
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(output.status.success(), "{printed}");
        printed
    };
    run(&[]);
    let tests = run(&["--test"]);
    assert!(tests.contains("running 0 tests"), "{tests}");
}

#[test]
fn a_missing_file_is_a_diagnostic() {
    let diagnostics = generate(Path::new("tests/features/none.wsdl"), &Options::default()).unwrap_err();
    let [diagnostic] = diagnostics.as_slice() else { panic!("{diagnostics:?}") };
    let expected = "error: tests/features/none.wsdl can't be read: ";
    assert!(diagnostic.to_string().starts_with(expected), "{diagnostic}");
    assert!(diagnostic.to_string().ends_with("\n --> tests/features/none.wsdl"), "{diagnostic}");
}
