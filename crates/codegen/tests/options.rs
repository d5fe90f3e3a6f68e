//! What a program says of types, and the file beside a contract that says it.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use castile_codegen::{Options, generate};

const CONTRACT: &str = "tests/features/adjusted/service.wsdl";

/// The contract in a folder of its own, with a file of options beside it.
fn beside(test: &str, options: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("options-{test}"));
    fs::create_dir_all(&folder).unwrap();
    let contract = folder.join("service.wsdl");
    fs::copy(CONTRACT, &contract).unwrap();
    fs::write(folder.join("service.castile.toml"), options).unwrap();
    contract
}

#[test]
fn errors_in_the_options_file_have_a_position() {
    for (number, (options, expected)) in [
        ("facet = true", "1: there is no option facet"),
        ("\nfacets = 1", "2: facets is integer, where true or false was expected"),
        ("derives = 'Eq'", "1: derives is string, where an array of strings was expected"),
        ("faults = 'some'", "1: faults is \"some\", where \"none\", \"declared\" or \"all\" was expected"),
        ("[type.Value]\ncalled = 'Order'", "2: there is no option called of the type Value"),
        ("[type", "1: unclosed table, expected `]`"),
    ]
    .into_iter()
    .enumerate()
    {
        let diagnostics = generate(&beside(&format!("wrong-{number}"), options), &Options::default()).unwrap_err();
        let [diagnostic] = &diagnostics[..] else { panic!("{diagnostics:?}") };
        assert!(diagnostic.file.ends_with("service.castile.toml"), "{diagnostic}");
        assert_eq!(format!("{}: {}", diagnostic.line, diagnostic.message), expected);
    }
}

/// Each file of `options` says something wrong of the contract. `BLESS=1` writes `NAME.txt` anew.
#[test]
fn errors_in_options_are_reported() {
    let mut files: Vec<PathBuf> = fs::read_dir("tests/options").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == "toml"));
    files.sort();
    let mut different = Vec::new();
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy();
        let contract = beside(&name, &fs::read_to_string(&path).unwrap());
        let folder = format!("{}/", contract.parent().unwrap().display());
        let told: Vec<String> = match generate(&contract, &Options::default()) {
            Ok(_) => vec!["generated".to_owned()],
            Err(diagnostics) => diagnostics.iter().map(|one| one.to_string().replace(&folder, "")).collect(),
        };
        different.extend(support::compare(&path.with_extension("txt"), Some(&(told.join("\n\n") + "\n"))));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn options_for_unknown_names_are_errors() {
    let contract = beside("nothing", "");
    for (number, (change, expected)) in [
        (
            (|options| options.of_type("Valu").name = Some("Order".into())) as fn(&mut Options),
            "the type Valu can't be renamed to Order: it doesn't exist",
        ),
        (
            |options| options.of_type("Value").name = Some("an order".into()),
            "the type Value can't be named an order, which is not a valid Rust name",
        ),
        (
            |options| options.of_type("xs:date").name = Some("Day".into()),
            "xs:date is built in and can't be renamed to Day: use `rust` to replace it by a Rust type",
        ),
        (
            |options| options.of_type("Value").rust = Some("f64".into()),
            "f64 can't replace {urn:adjusted}Value: it is not a simple type",
        ),
        (
            |options| options.of_type("xs:int").rust = Some("i 32".into()),
            "i 32, which replaces xs:int, is not the path of a type",
        ),
        (|options| options.of_type("Valu").derives.push("Eq".into()), "no generated type has the name Valu"),
        (|options| options.derives.push("E q".into()), "E q, which types should derive, is not the path of a macro"),
        (|options| options.attributes.push("#[x]".into()), "#[x], which types should have, is not an attribute"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut options = Options::default();
        change(&mut options);
        let diagnostics = generate(&contract, &options).unwrap_err();
        let messages: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert!(messages.contains(&expected), "{number}: {messages:?}");
    }
}

#[test]
fn the_program_has_the_last_word() {
    let file = "operations = ['echo']\n[type.Value]\nname = 'Order'\nmembers = { a = 'quantity', '@kind' = 'sort' }";
    let contract = beside("last-word", file);
    let mut options = Options::default();
    options.of_type("Value").name = Some("Purchase".to_owned());
    let generated = generate(&contract, &options).unwrap();
    for line in ["pub struct Purchase {", "    pub quantity: i32,", "    pub sort: Option<enumerations::Kind>,"] {
        assert!(generated.source.lines().any(|known| known == line), "{line} in {}", generated.source);
    }
    assert!(!generated.source.contains("fn other("));
    assert!(generated.files.iter().any(|file| file.ends_with("service.castile.toml")));
}
