//! `castile lint` with contracts that are expensive to check; tests/examples.rs runs those in tests/lint.
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

fn printed<'a>(folder: &Path, arguments: impl Iterator<Item = &'a str>) -> String {
    let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
    let output = castile.args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let [told, noted] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    format!("{told}{noted}exit code {}\n", output.status.code().unwrap())
}

fn repeated(count: usize, mut one: impl FnMut(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        write!(text, "{}", one(number)).unwrap();
        text
    })
}

/// A message with many parts that many operations bind, an operation with many faults, policies that refer to one another many times, and
/// more findings than are stored.
#[test]
fn hostile_contracts_take_seconds() {
    const POLICY: &str = "http://www.w3.org/ns/ws-policy";
    let definitions = |content: &str| {
        format!(
            "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
             xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:wsp='{POLICY}' xmlns:t='urn:t' targetNamespace='urn:t'>\
             {content}</definitions>"
        )
    };
    let parts = repeated(1_000, |number| format!("<part name='p{number}' type='xs:int'/>"));
    let operations =
        repeated(1_000, |number| format!("<operation name='o{number}'><input message='t:In'/></operation>"));
    let bound = repeated(1_000, |number| {
        format!("<operation name='o{number}'><soap:operation/><input><soap:body use='literal'/></input></operation>")
    });
    let wide = definitions(&format!(
        "<message name='In'>{parts}</message><portType name='P'>{operations}</portType><binding name='B' type='t:P'>\
         <soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>{bound}</binding>"
    ));
    let policies = repeated(40, |number| {
        let reference = format!("<wsp:PolicyReference URI='#p{}'/>", number + 1);
        format!("<wsp:Policy xml:id='p{number}'>{reference}{reference}{reference}{reference}</wsp:Policy>")
    });
    let deep = definitions(&format!(
        "{policies}<wsp:Policy xml:id='p40'/><message name='In'/><portType name='P'><operation name='o'><input message='t:In'/>\
         </operation></portType><binding name='B' type='t:P'><wsp:PolicyReference URI='#p0'/>\
         <soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>\
         <operation name='o'><soap:operation/><input><soap:body use='literal'/></input></operation></binding>\
         <service name='S'><port name='P' binding='t:B'><soap:address location='http://a.example/'/></port></service>"
    ));
    let faults = repeated(20_000, |number| format!("<fault name='f{number}' message='t:F'/>"));
    let bound = repeated(20_000, |number| {
        format!("<fault name='f{number}'><soap:fault name='f{number}' use='literal'/></fault>")
    });
    let faulty = definitions(&format!(
        "<message name='In'/><message name='F'><part name='p' type='xs:int'/></message>\
         <portType name='P'><operation name='o'><input message='t:In'/><output message='t:In'/>{faults}</operation></portType>\
         <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o'>\
         <soap:operation/><input><soap:body use='literal'/></input><output><soap:body use='literal'/></output>{bound}\
         </operation></binding>"
    ));
    let folder = tempfile::tempdir().unwrap();
    for (name, contract) in [("wide", wide), ("deep", deep), ("faulty", faulty)] {
        std::fs::write(folder.path().join("contract.wsdl"), contract).unwrap();
        let begun = Instant::now();
        let told = printed(folder.path(), ["lint", "contract.wsdl", "--all"].into_iter());
        let took = begun.elapsed();
        assert!(!told.ends_with("exit code 2\n"), "{name}: {}", told.lines().last().unwrap_or_default());
        assert!(took.as_secs() < 60 && told.len() < 1 << 20, "{name} took {took:?} and {} bytes", told.len());
    }
}
