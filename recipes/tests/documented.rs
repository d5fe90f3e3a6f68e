//! Tests that docs/recipes.md shows the compiled code and its output.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: impl AsRef<Path>) -> String {
    let file = file.as_ref();
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn document() -> String {
    read(package().join("../docs/recipes.md"))
}

/// Returns the examples: their names, and their main files.
fn examples() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(package().join("examples")).expect("the folder is there");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let named = |path: PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name, if path.is_dir() { path.join("main.rs") } else { path })
    };
    paths.map(named).collect()
}

#[test]
fn the_recipes_show_the_code() {
    let document = document();
    let mut files: Vec<PathBuf> = examples().into_iter().map(|(_, file)| file).collect();
    files.extend(
        ["build.rs", "src/lib.rs", "tests/without_sockets.rs", "tests/kept.rs"].map(|file| package().join(file)),
    );
    for file in files {
        let text = read(&file);
        let (_, code) = text.split_once("\n\n").expect("documentation, then code");
        let shown = file.strip_prefix(package()).unwrap_or(&file).display();
        assert!(
            document.contains(&format!("```rust,ignore\n{code}```")),
            "recipes/{shown} changed; docs/recipes.md shows its code behind the documentation"
        );
        assert!(document.contains(&format!("](../recipes/{shown})")), "docs/recipes.md has no link to recipes/{shown}");
    }
}

#[test]
fn the_recipes_print_what_is_shown() {
    let document = document();
    let manifest = read(package().join("Cargo.toml"));
    for (name, _) in examples() {
        // Examples that need a feature can't be built everywhere; .ci/run runs them.
        if manifest.contains(&format!("name = \"{name}\"\nrequired-features")) {
            continue;
        }
        let mut command = match built(&name) {
            Some(program) => Command::new(program),
            None => {
                let mut cargo = Command::new(env!("CARGO"));
                cargo.args(["run", "--quiet", "--example", &name]);
                cargo
            }
        };
        let output = command.current_dir(package()).output().expect("the example runs");
        let [printed, logged] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        // .ci/run stores this output and searches it for secrets.
        println!("{name}:\n{printed}{logged}");
        assert!(output.status.success(), "{name}: {logged}");
        assert!(document.contains(&format!("```text\n{printed}```")), "{name} prints\n{printed}");
    }
}

/// Returns an example that `cargo test` built beside this test, if none of its sources is newer. `cargo run` would build it again with
/// all its dependencies, since other packages of the workspace enable other features.
fn built(name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let folder = test.parent()?.parent()?.join("examples");
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let modified = |path: &Path| path.metadata().ok()?.modified().ok();
    let at = modified(&program)?;
    let rule = fs::read_to_string(folder.join(format!("{name}.d"))).ok()?;
    let (_, sources) = rule.trim_end().split_once(": ")?;
    // Make's escape for a space in a name.
    let sources = sources.replace("\\ ", "\0");
    // Two packages may have examples of the same name, and only one of them is in the folder.
    let own = [format!("{name}.rs"), format!("{name}/main.rs")].map(|file| package().join("examples").join(file));
    let is_own = sources.split(' ').any(|source| own.contains(&PathBuf::from(source.replace('\0', " "))));
    let is_older = |source: &str| modified(Path::new(&source.replace('\0', " "))).is_some_and(|changed| changed <= at);
    (is_own && sources.split(' ').all(is_older)).then_some(program)
}
