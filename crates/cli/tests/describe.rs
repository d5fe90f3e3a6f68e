//! `castile describe`: compares its text and JSON output with the files in tests/describe. `BLESS=1` rewrites these.
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn castile(arguments: &[&str]) -> Output {
    // Runs in the folder of the files, so that the output contains no absolute paths.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/describe");
    Command::new(env!("CARGO_BIN_EXE_castile")).args(arguments).current_dir(folder).output().unwrap()
}

fn describe(arguments: &[&str]) -> Output {
    castile(&[&["describe"], arguments].concat())
}

/// Compares the output with a file, or rewrites the file.
fn expect(name: &str, found: &[u8]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/describe").join(name);
    let found = String::from_utf8(found.to_vec()).unwrap();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name} differs; BLESS=1 writes it anew");
}

#[test]
fn a_hyphen_is_standard_input() {
    use std::io::Write;
    use std::process::Stdio;

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/describe");
    for (file, expected) in [("library.wsdl", "library.txt"), ("shelf.xsd", "shelf.txt")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
        command.args(["describe", "-"]).current_dir(&folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&std::fs::read(folder.join(file)).unwrap()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let expected = std::fs::read_to_string(folder.join(expected)).unwrap().replace(file, "standard input");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
}

/// The item type was once only named, and counted as unused by operations.
#[test]
fn items_of_an_encoded_array_are_shown() {
    let text = String::from_utf8(describe(&["../diff/encoded-array/old.wsdl"]).stdout).unwrap();
    assert!(
        text.contains("array of Line[]") && text.contains("type Line") && text.contains("article  xs:string"),
        "{text}"
    );
    assert!(!text.contains("are not used by"), "{text}");
}

#[test]
fn a_url_of_another_scheme_is_no_file() {
    for command in [&["describe", "ftp://h/a.wsdl"][..], &["bundle", "ftp://h/a.wsdl", "--fetch", "-o", "b"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_castile")).args(command).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let expected = "found the scheme ftp of ftp://h/a.wsdl, expected a file, or a URL of http or https";
        assert!(told.contains(expected), "{told}");
    }
    let told = String::from_utf8(describe(&["http://h/a?wsdl&b"]).stderr).unwrap();
    assert!(told.contains("`castile bundle 'http://h/a?wsdl&b' --fetch"), "{told}");
}

#[test]
fn left_out_operations_are_shown_with_the_reason() {
    let broken = describe(&["../../../codegen/tests/defects/operation.wsdl", "--operation", "sell"]);
    // The exit code was once 0, though the requested operation can't be used.
    assert_eq!(broken.status.code(), Some(2));
    let error = String::from_utf8(broken.stderr).unwrap();
    assert!(error.contains("error: the operation sell is left out: element {urn:shop}nowhere"), "{error}");
    let told = String::from_utf8(broken.stdout).unwrap();
    let expected = "sell  left out: element {urn:shop}nowhere of part p is not defined (../../../codegen/tests/defects/operation.wsdl, line 11)";
    assert!(told.contains(expected), "{told}");
    let json = describe(&["../../../codegen/tests/defects/port.wsdl", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["left_out"][0]["name"], "port Next");
    let refused = describe(&["../../../codegen/tests/defects/every_operation.wsdl"]);
    assert!(refused.status.code() == Some(2) && !refused.stdout.is_empty());
}

#[test]
fn descriptions_are_as_expected() {
    for (arguments, expected) in [
        (&["library.wsdl"][..], "library.txt"),
        (&["library.wsdl", "--depth", "1", "--all", "--documentation"], "library-all.txt"),
        (&["library.wsdl", "--operation", "Scan"], "library-scan.txt"),
        (&["library.wsdl", "--json"], "library.json"),
        (&["shelf.xsd"], "shelf.txt"),
        (&["shelf.xsd", "--json"], "shelf.json"),
    ] {
        let output = describe(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        expect(expected, &output.stdout);
    }
}

#[test]
fn names_in_the_json_lead_to_what_it_defines() {
    let json: Value = serde_json::from_slice(&describe(&["library.wsdl", "--json"]).stdout).unwrap();
    let names = |list: &str, key: &str| -> Vec<String> {
        json[list].as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
    };
    let (types, elements) = (names("types", "id"), names("elements", "name"));
    let mut references = 0;
    let mut open = vec![&json];
    while let Some(value) = open.pop() {
        let (key, known) = match value {
            Value::Object(object) if object.contains_key("reference") => ("reference", &elements),
            Value::Object(object) if object.contains_key("type") => ("type", &types),
            _ => ("", &types),
        };
        if let Some(name) = value.get(key).and_then(Value::as_str) {
            let builtin = name.starts_with("{http://www.w3.org/2001/XMLSchema}");
            assert!(builtin || known.iter().any(|one| one == name), "{name}");
            references += 1;
        }
        match value {
            Value::Object(object) => open.extend(object.values()),
            Value::Array(array) => open.extend(array),
            _ => {}
        }
    }
    assert!(references > 20, "{references}");
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/describe");
    let run = |variable: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
        command.args(["describe", "library.wsdl"]).current_dir(&folder).env_remove("NO_COLOR");
        String::from_utf8(command.env(variable, "1").output().unwrap().stdout).unwrap()
    };
    let (plain, coloured) = (run("NO_COLOR"), run("CLICOLOR_FORCE"));
    assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
}

#[test]
fn files_that_are_not_contracts_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let html = file("page.wsdl", "<!DOCTYPE html><html><br></html>");
    let wsdl20 = file("two.wsdl", "<description xmlns='http://www.w3.org/ns/wsdl'/>");
    let broken = file("broken.wsdl", "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'>\n  <service name=");
    let other = file("other.wsdl", "<a/>");
    let cases: [(&[&str], &str); 7] = [
        (&[&html], "is an HTML page"),
        (&[&wsdl20], "is WSDL 2.0, expected WSDL 1.1"),
        (&[&broken], "broken.wsdl:2:"),
        (&[&other], "expected <definitions>"),
        (&["absent.wsdl"], "absent.wsdl can't be read: "),
        (&["http://127.0.0.1:1/a?wsdl"], "castile bundle 'http://127.0.0.1:1/a?wsdl' --fetch"),
        (&["library.wsdl", "--operation", "Fined"], "expected one of Find, Scan, Tell"),
    ];
    for (arguments, expected) in cases {
        let output = describe(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(message.contains(expected) && message.contains("error: "), "{message}");
        assert!(output.stdout.is_empty());
    }
}

/// Deep or large contracts exhaust neither stack nor memory.
#[test]
fn contracts_that_go_deep_or_wide() {
    let folder = tempfile::tempdir().unwrap();
    let describe_schema = |content: &str| {
        let path = folder.path().join("a.xsd");
        std::fs::write(&path, format!("<s:schema xmlns:s='http://www.w3.org/2001/XMLSchema'>{content}</s:schema>"))
            .unwrap();
        describe(&[&path.display().to_string(), "--depth", "10"])
    };
    let element = |index: usize| {
        let next = index + 1;
        format!(
            "<s:element name='e{index}'><s:complexType><s:sequence><s:element ref='e{next}'/></s:sequence></s:complexType></s:element>"
        )
    };
    let chain: String = (0..5_000).map(element).collect();
    let output = describe_schema(&format!("{chain}<s:element name='e5000'/>"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains("e5000  xs:anyType"));

    // Each group contains the next one twice, and many types contain the first group.
    let group = |index: usize| {
        let next = format!("<s:group ref='g{}'/>", index + 1);
        format!("<s:group name='g{index}'><s:sequence>{next}{next}</s:sequence></s:group>")
    };
    let groups: String = (0..14).map(group).collect();
    let types: String =
        (0..20).map(|index| format!("<s:complexType name='T{index}'><s:group ref='g0'/></s:complexType>")).collect();
    let last = "<s:group name='g14'><s:sequence><s:element name='a'/><s:element name='b'/></s:sequence></s:group>";
    let output = describe_schema(&format!("{groups}{last}{types}"));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && told.contains("more than 500000 elements"), "{told}");
}

/// A broken part doesn't affect the rest, and the reason for leaving it out is shown.
#[test]
fn problems_are_shown_with_the_description() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wsdl");
    let library = include_str!("describe/library.wsdl").replace("type=\"c:Price\"", "type=\"c:Cost\"");
    std::fs::write(&path, library).unwrap();
    let output = describe(&[&path.display().to_string()]);
    let (text, problems) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0));
    assert!(text.contains("service Library") && text.contains("price"), "{text}");
    assert!(text.contains("left out: type {urn:library:catalogue}Cost is not defined"), "{text}");
    assert!(problems.trim_end().lines().last().unwrap().contains("warning"), "{problems}");
}

#[test]
fn the_readme_shows_what_comes_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let (_, shown) = readme.split_once("$ castile describe ").unwrap();
    let (arguments, shown) = shown.split_once('\n').unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    let output = command.arg("describe").args(arguments.split(' ')).current_dir(root).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), shown);
}

/// One contract of each family in the corpus.
#[castile_corpus::needs("corpus/wsdl")]
#[test]
fn the_corpus_is_described() {
    let corpus = Path::new(castile_corpus::path!("corpus/wsdl"));
    let mut families: Vec<PathBuf> = std::fs::read_dir(corpus).unwrap().flatten().map(|entry| entry.path()).collect();
    families.sort();
    let mut described = 0;
    for family in families.iter().filter(|family| family.is_dir()) {
        let Some(path) = first_wsdl(family) else { continue };
        let path = path.display().to_string();
        let output = describe(&[&path]);
        // Without catalogs, some contracts lack imports, but each has a description.
        assert!(matches!(output.status.code(), Some(0 | 2)), "{path}: {:?}", output.status);
        let problems = String::from_utf8_lossy(&output.stderr);
        let is_page = problems.contains("is an HTML page");
        assert!(is_page || output.stdout.iter().filter(|&&byte| byte == b'\n').count() > 3, "{path}: {problems}");
        described += 1;
    }
    assert!(described >= 30, "{described}");
}

fn first_wsdl(folder: &Path) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let is_wsdl = |path: &&PathBuf| path.is_file() && path.extension().is_some_and(|extension| extension == "wsdl");
    let here = entries.iter().find(is_wsdl).cloned();
    here.or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| first_wsdl(path)))
}

#[test]
fn the_cost_of_a_contract_is_shown() {
    let contract = "../../../codegen/tests/reach/vm.wsdl";
    let output = describe(&[contract, "--cost", "--operation", "put"]);
    let told = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let rows: Vec<&str> = told.lines().collect();
    assert!(rows.iter().any(|row| row.ends_with("the faults of all operations")), "{told}");
    assert!(rows.iter().any(|row| row.ends_with("type Full")), "{told}");
    assert!(told.contains("with --faults declared:") && told.contains("with --faults none:"), "{told}");
    assert_eq!(describe(&["shelf.xsd", "--cost"]).status.code(), Some(2));
    assert_eq!(describe(&[contract, "--cost", "--operation", "pot"]).status.code(), Some(2));
}

/// The costs were once only readable for people.
#[test]
fn the_cost_of_a_contract_is_there_for_machines() {
    let output = describe(&["../../../codegen/tests/reach/vm.wsdl", "--cost", "--json", "--operation", "put"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let costs = json["costs"].as_array().unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!(
        (&json["format"], number(&json["lines"])),
        (&1.into(), costs.iter().map(|one| number(&one["lines"])).sum())
    );
    assert!(costs.iter().all(|one| number(&one["alone"]) >= number(&one["lines"])), "{json}");
    let none = number(&json["with_faults"]["none"]);
    assert!(none < number(&json["with_faults"]["declared"]) && none > 0, "{json}");
}

/// The lines between items were once not counted: imports, modules and blank lines.
#[test]
fn the_cost_is_of_all_lines_that_are_generated() {
    let contract = "../../../codegen/tests/reach/vm.wsdl";
    let folder = tempfile::tempdir().unwrap();
    let generated = |faults: &str| {
        let file = folder.path().join(format!("{faults}.rs"));
        let arguments = ["gen", contract, "--operation", "put", "--faults", faults, "-o", file.to_str().unwrap()];
        assert!(castile(&arguments).status.success());
        std::fs::read_to_string(file).unwrap().lines().count() as u64
    };
    let output = describe(&[contract, "--cost", "--json", "--operation", "put"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["lines"], generated("all"));
    assert_eq!(json["with_faults"]["declared"], generated("declared"));
    assert_eq!(json["with_faults"]["none"], generated("none"));
    let text = String::from_utf8(describe(&[contract, "--cost", "--operation", "put"]).stdout).unwrap();
    assert!(text.starts_with(&format!("{} lines", generated("all"))), "{text}");
    assert!(text.contains("  imports, modules and blank lines\n"), "{text}");
}

/// Prefixes were once invented, so XPath in `castile load` didn't know them.
#[test]
fn prefixes_are_those_of_the_contract() {
    let output = describe(&["library.wsdl", "--json"]);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["prefixes"]["c"], "urn:library:catalogue");
    let text = String::from_utf8(describe(&["library.wsdl"]).stdout).unwrap();
    assert!(text.contains("c = urn:library:catalogue\n") && text.contains("c:item [0..*]  c:Item"), "{text}");
}

/// A label was once printed, but it wasn't accepted as an operation name and wasn't in the JSON.
#[test]
fn the_label_of_an_operation_is_in_the_json_and_asks_for_it() {
    let json = |arguments: &[&str]| -> Value {
        let output = describe(&[&["../sample/overloads.wsdl", "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let operations = |json: &Value| -> Vec<(String, Option<String>)> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let all = json["bindings"][0]["operations"].as_array().unwrap().iter();
        all.map(|one| (text(&one["name"]).unwrap(), text(&one["label"]))).collect()
    };
    let inputs = |json: &Value| -> Vec<String> {
        let all = json["port_types"][0]["operations"].as_array().unwrap().iter();
        all.map(|one| one["input"]["name"].as_str().unwrap_or("none").to_owned()).collect()
    };
    let pair = |name: &str, label: Option<&str>| (name.to_owned(), label.map(str::to_owned));
    let find = [pair("find", None), pair("find", Some("find.2")), pair("find", Some("find.3"))];
    let add = [pair("add", None), pair("add", Some("add.3")), pair("add.2", None)];
    assert_eq!(operations(&json(&[])), [find.clone(), add].concat());
    let second = json(&["--operation", "find.2"]);
    assert_eq!((operations(&second), inputs(&second)), (vec![find[1].clone()], vec!["good".to_owned()]));
    let all = json(&["--operation", "find"]);
    assert_eq!((operations(&all), inputs(&all).len()), (find.to_vec(), 3));
}

/// Diagnostics were once lost, and only the first operation was reported.
#[test]
fn all_requested_operations_that_are_left_out_are_listed_after_the_problems() {
    let contract = "../../../codegen/tests/defects/operation.wsdl";
    let told = describe(&[contract, "--problems", "--operation", "sell"]);
    let error = String::from_utf8(told.stderr).unwrap();
    let (problems, last) = error.split_once("error: the operation sell is left out: ").unwrap();
    assert!(problems.contains("warning: element {urn:shop}nowhere of part p is not defined\n  --> "), "{error}");
    assert!(last.ends_with("operation.wsdl, line 11)\n") && last.lines().count() == 1, "{error}");
    assert_eq!(told.status.code(), Some(2));

    let text = include_str!("../../codegen/tests/defects/every_operation.wsdl");
    let line = |line: &str| match line.contains("<operation name=\"sell\">") {
        true => format!("{line}\n{}\n", line.replace("sell", "buy")),
        false => format!("{line}\n"),
    };
    let folder = tempfile::tempdir().unwrap();
    let contract = folder.path().join("shop.wsdl");
    std::fs::write(&contract, text.lines().map(line).collect::<String>()).unwrap();
    let names = ["--operation", "buy", "--operation", "sell"];
    let error = describe(&[&[contract.to_str().unwrap()], &names[..]].concat()).stderr;
    let error = String::from_utf8(error).unwrap();
    for name in ["buy", "sell"] {
        assert!(error.contains(&format!("error: the operation {name} is left out: ")), "{error}");
    }
}
