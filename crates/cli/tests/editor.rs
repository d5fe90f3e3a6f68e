//! `castile call --edit`: the result of the editor is sent, or kept if it isn't a valid request.
#![cfg(feature = "contracts")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

/// Returns the output and the exit code of a dry run with this editor.
fn edited(editor: &str) -> (String, i32) {
    edited_for(editor, &["--dry-run"])
}

fn edited_for(editor: &str, options: &[&str]) -> (String, i32) {
    let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
    castile.args(["call", "tests/validate/orders.wsdl", "Place", "--edit"]).args(options).env_remove("VISUAL");
    let output = castile.env("EDITOR", editor).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let [told, noted] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (told + &noted, output.status.code().unwrap())
}

#[test]
fn the_edited_request_is_sent() {
    let (printed, code) = edited("sed -i s/<ns1:quantity>1</<ns1:quantity>17</");
    assert!(printed.contains("quantity>17</") && !printed.contains("<!--"), "{printed}");
    assert_eq!(code, 0);
}

#[test]
fn an_invalid_request_is_saved() {
    let (printed, code) = edited("sed -i s/<ns1:quantity>1</<ns1:quantity>few</");
    let (kept, said) = printed.split_once('\n').unwrap();
    let kept = kept.strip_prefix("the edited request was saved to ").unwrap();
    assert_eq!(code, 2);
    let expected =
        "error: Place can't be called with the edited request: place/item/quantity: \"few\" is not a valid xs:int";
    assert!(said.starts_with(expected), "{said}");
    assert!(std::fs::read_to_string(kept).unwrap().contains(">few<"));
    std::fs::remove_file(Path::new(kept)).unwrap();
}

#[test]
fn nothing_is_sent_without_a_request() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", server.local_addr().unwrap());
    for editor in ["false", "truncate -s 0", "sed -i 2,$d", "/nowhere/editor"] {
        let (printed, code) = edited_for(editor, &["--url", &url]);
        assert_eq!(code, 2, "{editor}: {printed}");
        assert!(printed.starts_with("error: "), "{editor}: {printed}");
        assert_eq!(server.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "{editor}: {printed}");
    }
    // A request that is sent arrives at this server.
    let (printed, code) = edited_for("true", &["--url", &url, "--timeout", "100ms"]);
    assert!(code == 3 && printed.starts_with("the edited request was saved to "), "{printed}");
    std::fs::remove_file(printed.lines().next().unwrap().trim_start_matches("the edited request was saved to "))
        .unwrap();
    assert!(server.accept().is_ok(), "{printed}");
}

/// The written request was once lost in that case.
#[test]
fn other_errors_are_reported_before_the_editor_opens() {
    let folder = tempfile::tempdir().unwrap();
    let opened = folder.path().join("opened");
    let editor = format!("touch {}", opened.display());
    for options in [
        &["--attach", "/nowhere/file"][..],
        &["--url", "orders"],
        &["--soap-header", "/nowhere/file"],
        &["--header", "none"],
        &["--ca", "/nowhere/file", "--url", "https://localhost/"],
        &["--bearer", "/nowhere/file"],
    ] {
        let (printed, code) = edited_for(&editor, options);
        assert!(code == 2 && printed.starts_with("error: ") && !opened.exists(), "{options:?}: {printed}");
    }
    let (_, code) = edited_for(&editor, &["--dry-run"]);
    assert!(code == 0 && opened.exists());
}
