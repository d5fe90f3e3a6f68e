//! `castile call --edit`: what an editor leaves is sent, or kept if it is no request.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::path::Path;
use std::process::Command;

/// What is printed, and the exit code, with this editor.
fn edited(editor: &str) -> (String, i32) {
    let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
    castile.args(["call", "tests/validate/orders.wsdl", "Place", "--edit", "--dry-run"]).env_remove("VISUAL");
    let output = castile.env("EDITOR", editor).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let [told, noted] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (told + &noted, output.status.code().unwrap())
}

#[test]
fn what_an_editor_leaves_is_sent() {
    let (printed, code) = edited("sed -i s/<ns1:quantity>1</<ns1:quantity>17</");
    assert!(printed.contains("quantity>17</") && !printed.contains("<!--"), "{printed}");
    assert_eq!(code, 0);
}

#[test]
fn what_is_no_request_is_kept() {
    let (printed, code) = edited("sed -i s/<ns1:quantity>1</<ns1:quantity>few</");
    let (kept, said) = printed.split_once('\n').unwrap();
    let kept = kept.strip_prefix("what you wrote is in ").unwrap();
    assert_eq!(code, 2);
    let expected = "error: Place can't be called with this: place/item/quantity: \"few\" is not a valid xs:int";
    assert!(said.starts_with(expected), "{said}");
    assert!(std::fs::read_to_string(kept).unwrap().contains(">few<"));
    std::fs::remove_file(Path::new(kept)).unwrap();
}

#[test]
fn nothing_is_sent_without_a_request() {
    for editor in ["false", "truncate -s 0", "sed -i 2,$d", "/nowhere/editor"] {
        let (printed, code) = edited(editor);
        assert_eq!(code, 2, "{editor}: {printed}");
        assert!(printed.starts_with("error: ") && !printed.contains("POST"), "{editor}: {printed}");
    }
}
