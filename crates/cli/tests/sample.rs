//! The messages that `castile load` sends by default.

#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::path::Path;
use std::process::Command;

const SESSION: &str = r#"<ns1:session xmlns:ns1="urn:shop"><ns1:user>a sample</ns1:user></ns1:session>"#;
const LOCALE: &str = r#"<ns1:locale xmlns:ns1="urn:shop">en</ns1:locale>"#;
const ORDER: &str = concat!(
    r#"<soap:Body><ns1:order xmlns:ns1="urn:shop"><ns1:customer>a sample</ns1:customer><ns1:street>a sample</ns1:street>"#,
    "<ns1:city>a sample</ns1:city><ns1:note>a sample</ns1:note><ns1:remark>a sample</ns1:remark><ns1:article>A</ns1:article>",
    "<ns1:page>urn:sample</ns1:page><ns1:other>urn:sample</ns1:other><ns1:amount>42</ns1:amount>",
    "<ns1:least>42</ns1:least><ns1:due>2004-02-29</ns1:due><ns1:text>some text <ns1:b>a sample</ns1:b> and more</ns1:text></ns1:order>",
);

fn sent(arguments: &[&str]) -> String {
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample");
    let command = ["load", "shop.wsdl", "--operation", "order", "--dry-run"];
    let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
    let output = castile.args(command).args(arguments).current_dir(files).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A new service must accept the sample: it has the header blocks that the contract declares, and texts with only simple characters.
#[test]
fn a_sample_is_what_a_person_would_send() {
    let told = sent(&[]);
    assert!(told.contains(&format!("<soap:Header>{SESSION}{LOCALE}</soap:Header>{ORDER}")), "{told}");
}

#[test]
fn a_given_header_block_replaces_the_declared_one() {
    let told = sent(&["--soap-header", "session.xml"]);
    let session = r#"<s:session xmlns:s="urn:shop"><s:user>me</s:user></s:session>"#;
    assert!(told.contains(&format!("<soap:Header>{session}{LOCALE}</soap:Header>{ORDER}")), "{told}");
}
