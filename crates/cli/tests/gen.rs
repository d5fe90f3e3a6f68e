//! `castile gen`: what is written is what the build script writes.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn contract() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites/contracts/codec.wsdl")
}

fn run<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_castile")).args(arguments).output().unwrap()
}

fn generate(wsdl: &Path, out: &Path, more: &[&str]) -> Output {
    let more = more.iter().map(OsStr::new);
    run(["gen".as_ref(), wsdl.as_os_str(), "-o".as_ref(), out.as_os_str()].into_iter().chain(more))
}

#[track_caller]
fn succeeded(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The source without what it says of the documents beside it, which a build script's doesn't.
fn without_records(path: &Path) -> String {
    let source = fs::read_to_string(path).unwrap();
    source.split_inclusive('\n').filter(|line| !line.starts_with("// SHA-256 of ")).collect()
}

#[test]
fn a_folder_gets_the_source_and_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("new/folder");
    let output = generate(&contract(), &out, &[]);
    succeeded(&output);
    let expected = castile_codegen::generate(&contract(), &castile_codegen::Options::default()).unwrap();
    assert_eq!(without_records(&out.join("codec.rs")), expected.source);
    assert_eq!(fs::read_to_string(out.join("codec.wsdl")).unwrap(), expected.documents[0].text);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("codec.rs") && told.contains("codec.wsdl"), "{told}");
    // Once more, over what was generated.
    succeeded(&generate(&contract(), &out, &[]));
}

#[test]
fn the_source_is_called_as_modules_are() {
    let folder = tempfile::tempdir().unwrap();
    let wsdl = folder.path().join("CodecService-v1.wsdl");
    fs::copy(contract(), &wsdl).unwrap();
    let out = folder.path().join("src");
    succeeded(&generate(&wsdl, &out, &[]));
    let source = fs::read_to_string(out.join("codec_service_v1.rs")).unwrap();
    assert!(source.contains("include_str!(\"CodecService-v1.wsdl\")") && out.join("CodecService-v1.wsdl").exists());
}

#[test]
fn what_ends_in_wsdl_twice_is_called_once() {
    let folder = tempfile::tempdir().unwrap();
    let wsdl = folder.path().join("Codec.WSDL.xml");
    fs::copy(contract(), &wsdl).unwrap();
    let out = folder.path().join("src");
    succeeded(&generate(&wsdl, &out, &[]));
    let source = fs::read_to_string(out.join("codec.rs")).unwrap();
    assert!(source.contains("include_str!(\"Codec.wsdl\")") && out.join("Codec.wsdl").exists());
}

#[test]
fn a_hyphen_is_standard_output() {
    let output = generate(&contract(), Path::new("-"), &[]);
    succeeded(&output);
    let expected = castile_codegen::generate(&contract(), &castile_codegen::Options::default()).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected.source);
}

#[test]
fn quiet_is_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let wsdl = folder.path().join("a.wsdl");
    let text =
        fs::read_to_string(contract()).unwrap().replace("maxOccurs=\"unbounded\"", "maxOccurs=\"unbounded\" huh=\"\"");
    fs::write(&wsdl, text).unwrap();
    let out = folder.path().join("out");
    let loud = generate(&wsdl, &out, &[]);
    succeeded(&loud);
    let told = String::from_utf8(loud.stderr).unwrap();
    assert!(told.matches("has an attribute `huh`").count() == 1 && told.contains("= also: "), "{told}");
    let quiet = generate(&wsdl, &out, &["--quiet"]);
    succeeded(&quiet);
    assert!(quiet.stdout.is_empty() && quiet.stderr.is_empty(), "{quiet:?}");
    fs::write(&wsdl, "<broken").unwrap();
    assert!(!generate(&wsdl, &out, &["-q"]).stderr.is_empty());
}

#[test]
fn a_file_gets_the_half_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for (flag, has, has_not) in [("--client", "CodecClient", "CodecServer"), ("--server", "CodecServer", "CodecClient")]
    {
        let out = folder.path().join(flag).join("mod.rs");
        succeeded(&generate(&contract(), &out, &[flag]));
        let source = fs::read_to_string(&out).unwrap();
        assert!(source.contains(has) && !source.contains(has_not), "{flag}");
        let is_served = out.with_file_name("codec.wsdl").exists();
        assert_eq!(is_served, source.contains("include_str!"), "the contract is there where it is included");
    }
}

#[test]
fn an_operation_comes_with_the_types_that_it_reaches() {
    let folder = tempfile::tempdir().unwrap();
    succeeded(&generate(&contract(), folder.path(), &["--operation", "order"]));
    let source = fs::read_to_string(folder.path().join("codec.rs")).unwrap();
    for (name, is_there) in [("LineItem", true), ("EchoStructs", false)] {
        assert_eq!(source.contains(&format!("pub struct {name} ")), is_there, "{name}");
    }
    let output = generate(&contract(), folder.path(), &["--operation", "odrer"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.contains("odrer") && message.contains("order"), "{message}");
}

#[test]
fn facets_are_checked_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let wsdl = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen/tests/features/facets/service.wsdl");
    for (more, has_facets) in [(&[][..], false), (&["--facets"][..], true)] {
        succeeded(&generate(&wsdl, folder.path(), more));
        let mut options = castile_codegen::Options::default();
        options.facets = has_facets;
        let expected = castile_codegen::generate(&wsdl, &options).unwrap().source;
        assert_eq!(without_records(&folder.path().join("service.rs")), expected, "{more:?}");
        assert_eq!(expected.contains("xs::Facets"), has_facets);
    }
}

#[test]
fn what_a_page_shows_is_written_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (plain, shown) = (folder.path().join("plain"), folder.path().join("shown"));
    succeeded(&generate(&contract(), &plain, &[]));
    assert!(!plain.join("codec.page").exists());
    succeeded(&generate(&contract(), &shown, &["--page"]));
    let page = fs::read_to_string(shown.join("codec.page")).unwrap();
    for expected in
        ["\noperation echoStructs\n", "\n\tAnswers with the items", "\n\t1e\titem\t", "\ntype Item\t", "\n\t<"]
    {
        assert!(page.contains(expected), "{expected} in {page}");
    }
    let source = fs::read_to_string(shown.join("codec.rs")).unwrap();
    assert!(
        source.contains("// SHA-256 of codec.page: ") && source.contains("include_str!(\"codec.page\")"),
        "{source}"
    );
    // A client has no page.
    succeeded(&generate(&contract(), &folder.path().join("client"), &["--page", "--client"]));
    assert!(!folder.path().join("client/codec.page").exists());
    // The file beside the contract may ask for it.
    let wsdl = folder.path().join("codec.wsdl");
    fs::copy(contract(), &wsdl).unwrap();
    fs::write(folder.path().join("codec.castile.toml"), "page = true\n").unwrap();
    succeeded(&generate(&wsdl, &folder.path().join("beside"), &[]));
    assert_eq!(fs::read_to_string(folder.path().join("beside/codec.page")).unwrap(), page);
}

#[test]
fn what_others_wrote_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("main.rs");
    fs::write(&own, "fn main() {}").unwrap();
    let output = generate(&contract(), &own, &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.contains("was not generated by Castile"), "{message}");
    assert_eq!(fs::read_to_string(&own).unwrap(), "fn main() {}");
}

#[test]
fn in_the_folder_of_the_contract_its_copy_has_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    // In another encoding, and with the name of an import.
    let text = fs::read_to_string(contract()).unwrap();
    let utf16: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    fs::write(path("codec.wsdl"), &utf16).unwrap();
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen/tests/kept");
    fs::create_dir(path("types")).unwrap();
    for name in ["depot.wsdl", "depot-abstract.wsdl", "types/common.xsd", "types/parcel types.xsd"] {
        fs::copy(kept.join(name), path(name)).unwrap();
    }
    let depot = fs::read(path("depot.wsdl")).unwrap();
    for _ in 0..2 {
        succeeded(&generate(&path("codec.wsdl"), folder.path(), &[]));
        succeeded(&generate(&path("depot.wsdl"), folder.path(), &[]));
    }
    assert_eq!((fs::read(path("codec.wsdl")).unwrap(), fs::read(path("depot.wsdl")).unwrap()), (utf16, depot));
    assert_eq!(fs::read_to_string(path("codec.served.wsdl")).unwrap(), text);
    let served = fs::read_to_string(path("depot.served.wsdl")).unwrap();
    assert_eq!(served, fs::read_to_string(kept.join("expected/depot.wsdl")).unwrap());
    assert!(fs::read_to_string(path("depot.rs")).unwrap().contains("include_str!(\"depot.served.wsdl\")"));
}

#[test]
fn errors_are_all_told_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let wsdl = folder.path().join("a.wsdl");
    let text = fs::read_to_string(contract()).unwrap();
    fs::write(&wsdl, text.replace("type=\"xs:int\"", "type=\"xs:integr\"")).unwrap();
    let out = folder.path().join("out");
    let output = generate(&wsdl, &out, &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    let errors = message.matches("error[src-resolve]: type {http://www.w3.org/2001/XMLSchema}integr is not").count();
    assert_eq!(errors, text.matches("type=\"xs:int\"").count(), "{message}");
    assert!(message.trim_end().lines().last().unwrap().starts_with("error: "), "{message}");
    assert!(!out.exists());
}

#[test]
fn a_schema_and_a_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/describe/shelf.xsd");
    let output = generate(&schema, folder.path(), &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.contains("is an XML Schema"), "{message}");

    let bundle = folder.path().join("codec.castile");
    let arguments = ["bundle".into(), contract().as_os_str().to_owned(), "-o".into(), bundle.as_os_str().to_owned()];
    succeeded(&run(arguments));
    succeeded(&generate(&bundle, folder.path(), &[]));
    let direct = castile_codegen::generate(&contract(), &castile_codegen::Options::default()).unwrap();
    let source = without_records(&folder.path().join("codec.rs"));
    let code = |source: &str| source.split_once('\n').unwrap().1.to_owned();
    assert_eq!(code(&source), code(&direct.source), "but for the line that names the file");
    assert!(folder.path().join("codec.wsdl").exists());
    let files = castile_codegen::generate(&bundle, &castile_codegen::Options::default()).unwrap().files;
    assert_eq!(files, [bundle.display().to_string()]);
}

#[test]
fn a_contract_that_somebody_else_wrote_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("codec.wsdl");
    fs::write(&theirs, "theirs").unwrap();
    let output = generate(&contract(), folder.path(), &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("codec.wsdl is there and was not generated by Castile"), "{message}");
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
    assert!(!folder.path().join("codec.rs").exists(), "nothing is written");

    // Nor is it beside a source that was generated without it.
    succeeded(&generate(&contract(), folder.path(), &["--client"]));
    let output = generate(&contract(), folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
}

/// Names of files that differ in a mark are one name of a module: the second replaced the first.
#[test]
fn what_was_generated_from_another_contract_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["a-b.wsdl", "a_b.wsdl"].map(|name| folder.path().join(name));
    let out = folder.path().join("out");
    for path in [&one, &other] {
        fs::copy(contract(), path).unwrap();
    }
    succeeded(&generate(&one, &out, &[]));
    let output = generate(&other, &out, &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("a_b.rs was generated from a-b.wsdl, and would be replaced"), "{message}");
    succeeded(&generate(&one, &out, &[]));
}

#[test]
fn an_edited_copy_of_a_contract_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (wsdl, out) = (folder.path().join("codec.wsdl"), folder.path().join("out"));
    let text = fs::read_to_string(contract()).unwrap();
    fs::write(&wsdl, &text).unwrap();
    succeeded(&generate(&wsdl, &out, &[]));
    // What Castile wrote, it replaces when the contract is another.
    let changed = text + "<!-- a later version -->";
    fs::write(&wsdl, &changed).unwrap();
    succeeded(&generate(&wsdl, &out, &[]));
    let copy = out.join("codec.wsdl");
    assert_eq!(fs::read_to_string(&copy).unwrap(), changed);

    let edited = changed + "<!-- edited -->";
    fs::write(&copy, &edited).unwrap();
    let source = fs::read_to_string(out.join("codec.rs")).unwrap();
    let output = generate(&wsdl, &out, &[]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("codec.wsdl was changed since it was generated"), "{message}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), edited);
    assert_eq!(fs::read_to_string(out.join("codec.rs")).unwrap(), source);
    // What was edited here and there alike is no loss.
    fs::write(&wsdl, &edited).unwrap();
    succeeded(&generate(&wsdl, &out, &[]));
}

fn defect(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../codegen/tests/defects").join(name)
}

#[test]
fn what_is_left_out_is_said_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let output = generate(&defect("operation.wsdl"), folder.path(), &[]);
    succeeded(&output);
    let told = String::from_utf8(output.stderr).unwrap();
    let expected =
        "warning: 1 of 3 operations; left out: sell, give (element {urn:shop}nowhere of part p is not defined)";
    assert_eq!(told.lines().last(), Some(expected));
    assert!(folder.path().join("operation.rs").exists());
    let strict = generate(&defect("operation.wsdl"), &folder.path().join("strict"), &["--strict"]);
    let told = String::from_utf8(strict.stderr).unwrap();
    assert!(strict.status.code() == Some(2) && told.contains("error: 1 of 3 operations"), "{told}");
    assert!(!folder.path().join("strict").exists());
}

#[test]
fn a_port_type_is_generated_when_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let types = generate(&defect("no_binding.wsdl"), folder.path(), &[]);
    succeeded(&types);
    let told = String::from_utf8(types.stderr).unwrap();
    assert!(told.contains("its types alone are generated") && told.contains("--port-type Shop"), "{told}");
    succeeded(&generate(&defect("no_binding.wsdl"), folder.path(), &["--port-type", "Shop"]));
    assert!(fs::read_to_string(folder.path().join("no_binding.rs")).unwrap().contains("pub fn buy<"));
}

/// Of a contract whose operations are all left out it said "it has " and nothing.
#[test]
fn operations_that_are_left_out_are_named_where_one_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let output = generate(&defect("operation.wsdl"), folder.path(), &["--operation", "Nosuch"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("sell (left out)"), "{told}");
}

/// That there is none was all it said.
#[test]
fn a_type_that_is_nearly_there_is_proposed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("a.rs");
    let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../suites/contracts/codec.wsdl");
    let said = |name: &str| {
        let command = ["gen", contract, "--type", name, "-o", out.to_str().unwrap()];
        let output = Command::new(env!("CARGO_BIN_EXE_castile")).args(command).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let list = format!("`castile describe {contract} --all` shows all ");
    let near = said("Adress");
    assert!(near.contains(&format!("= note: is Address meant? {list}")), "{near}");
    let expanded = said("{http://example.com/bench}adress");
    assert!(expanded.contains("is {http://example.com/bench}Address meant?"), "{expanded}");
    let far = said("Nothing");
    assert!(far.contains(&format!("= note: {list}")) && !far.contains("meant"), "{far}");
}
