//! `castile diff` with contracts that are expensive to compare; tests/examples.rs runs those in tests/diff.
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

/// Returns a contract with one message that uses these types.
fn contract(types: &str) -> String {
    format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' \
         xmlns:xs='http://www.w3.org/2001/XMLSchema' xmlns:t='urn:t' targetNamespace='urn:t'>\
         <types><xs:schema targetNamespace='urn:t' elementFormDefault='qualified'><xs:element name='Go' type='t:T0'/>{types}</xs:schema></types>\
         <message name='In'><part name='parameters' element='t:Go'/></message>\
         <portType name='P'><operation name='Go'><input message='t:In'/></operation></portType>\
         <binding name='B' type='t:P'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/>\
         <operation name='Go'><soap:operation/><input><soap:body use='literal'/></input></operation></binding>\
         <service name='S'><port name='P' binding='t:B'><soap:address location='http://localhost/'/></port></service></definitions>"
    )
}

/// Returns a cycle of types, each with an element of the next type.
fn circle(length: usize) -> String {
    (0..length).fold(String::new(), |mut types, number| {
        let next = (number + 1) % length;
        write!(
            types,
            "<xs:complexType name='T{number}'><xs:sequence><xs:element name='next' minOccurs='0' type='t:T{next}'/>\
             </xs:sequence></xs:complexType>"
        )
        .unwrap();
        types
    })
}

/// Two cycles with as many pairs of types as the product of their lengths, groups that expand to a hundred thousand elements, and a
/// thousand types derived from the first.
#[test]
fn hostile_contracts_take_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let elements = (0..100).fold(String::new(), |mut text, number| {
        write!(text, "<xs:element name='e{number}' type='xs:int' minOccurs='0'/>").unwrap();
        text
    });
    let mut groups = format!("<xs:group name='G0'><xs:sequence>{elements}</xs:sequence></xs:group>");
    for number in 1..10 {
        let inner = number - 1;
        let reference = format!("<xs:group ref='t:G{inner}'/>");
        write!(groups, "<xs:group name='G{number}'><xs:sequence>{reference}{reference}</xs:sequence></xs:group>")
            .unwrap();
    }
    groups += "<xs:complexType name='T0'><xs:group ref='t:G9'/></xs:complexType>";
    let derived = (1..1000).fold(
        "<xs:complexType name='T0'><xs:sequence/></xs:complexType>".to_owned(),
        |mut types, number| {
            write!(
                types,
                "<xs:complexType name='T{number}'><xs:complexContent><xs:extension base='t:T0'><xs:sequence>\
                 <xs:element name='other' type='t:T0'/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>"
            )
            .unwrap();
            types
        },
    );
    // Each of these groups has one element, as often as others have elements.
    let mut uses =
        "<xs:group name='G0'><xs:sequence><xs:element name='e' type='xs:int'/></xs:sequence></xs:group>".to_owned();
    for number in 1..16 {
        let reference = format!("<xs:group ref='t:G{}'/>", number - 1);
        write!(uses, "<xs:group name='G{number}'><xs:sequence>{reference}{reference}</xs:sequence></xs:group>")
            .unwrap();
    }
    uses += "<xs:complexType name='T0'><xs:sequence>";
    (1..2000).for_each(|number| write!(uses, "<xs:element name='e{number}' type='t:T{number}'/>").unwrap());
    uses += "</xs:sequence></xs:complexType>";
    for number in 1..2000 {
        write!(uses, "<xs:complexType name='T{number}'><xs:group ref='t:G15'/></xs:complexType>").unwrap();
    }
    for (name, old, new, codes) in [
        ("circles", circle(400), circle(401), &[0][..]),
        ("groups", groups.replace("'e7'", "'f7'"), groups, &[0, 1, 2]),
        ("uses", uses.replace("'xs:int'", "'xs:long'"), uses, &[2]),
        ("derived", derived.replace("'other'", "'another'"), derived, &[1]),
    ] {
        std::fs::write(folder.path().join("old.wsdl"), contract(&old)).unwrap();
        std::fs::write(folder.path().join("new.wsdl"), contract(&new)).unwrap();
        let begun = Instant::now();
        let told = printed(folder.path(), ["diff", "old.wsdl", "new.wsdl"].into_iter());
        let took = begun.elapsed();
        let code: i32 = told.lines().last().unwrap().strip_prefix("exit code ").unwrap().parse().unwrap();
        let end: String = told.chars().take(2000).collect();
        assert!(codes.contains(&code), "{name}: {end}");
        assert!(took.as_secs() < 60 && told.len() < 10 << 20, "{name} took {took:?} and {} bytes", told.len());
    }
}
