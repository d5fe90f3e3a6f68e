//! Runs the checks on inputs that fuzzing found, and on inputs that are known to be hard.

use std::path::Path;

#[test]
fn inputs_of_old() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    for check in castile_fuzz::CHECKS {
        let folder = root.join(check.name);
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut files: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{} is empty", folder.display());
        for file in files {
            let input = std::fs::read(&file).expect("a readable file");
            // Prints the name, because the message of a failed check has only the input.
            println!("{}", file.display());
            (check.run)(&input);
        }
    }
}

/// A check that is not in `fuzz/run` would never be fuzzed.
#[test]
fn each_check_is_a_target() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/run");
    let script = std::fs::read_to_string(script).expect("a readable script");
    let listed =
        script.lines().find_map(|line| line.strip_prefix("all=(")?.strip_suffix(')')).expect("a list of all targets");
    let listed: Vec<&str> = listed.split(' ').collect();
    for check in castile_fuzz::CHECKS {
        assert!(listed.contains(&check.name), "{} is none of {listed:?}", check.name);
    }
}
