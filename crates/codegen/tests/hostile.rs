//! Contracts that are made to be expensive, or to put something into what is generated from them.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

#[path = "../../xsd/tests/hostile/shapes.rs"]
#[allow(dead_code, reason = "some of it is for tests of other crates")]
mod shapes;

use std::fs;
use std::path::Path;

use castile_codegen::{Generated, Options, Severity, generate};

fn generated(folder: &Path, name: &str, text: &str, facets: bool) -> Result<Generated, Vec<String>> {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    let mut options = Options::default();
    options.facets = facets;
    generate(&path, &options).map_err(|diagnostics| {
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        errors.map(ToString::to_string).collect()
    })
}

#[test]
fn every_shape_ends_with_source_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for shape in shapes::SHAPES {
        let text = shape.contract(shape.size_of(10_000));
        match generated(folder.path(), "a.wsdl", &text, true) {
            // Source is some hundred times its contract at most: a declaration of forty bytes is a type with its code.
            Ok(generated) => assert!(generated.source.len() <= 400 * 10_000, "{}", shape.name),
            Err(errors) => assert!(!errors.is_empty(), "{}", shape.name),
        }
    }
}

#[test]
fn a_chain_of_types_does_not_overflow_the_stack() {
    let folder = tempfile::tempdir().unwrap();
    let chain = shapes::shape("types_in_a_chain").unwrap();
    let source = generated(folder.path(), "a.wsdl", &chain.contract(1_000), false).unwrap().source;
    assert!(source.contains("pub struct T0 ") && source.contains("pub struct T999 "));
    let errors = generated(folder.path(), "a.wsdl", &chain.contract(3_000), false).unwrap_err();
    assert!(errors[0].contains("more than 2000 deep") && errors[0].contains("`type_depth`"), "{errors:?}");
    assert!(errors[0].contains("a.wsdl:"), "{errors:?}");
}

#[test]
fn a_type_with_thousands_of_services_is_generated_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let services = shapes::shape("services_of_one_binding").unwrap();
    let errors = generated(folder.path(), "a.wsdl", &services.contract(3_000), false).unwrap_err();
    assert!(errors[0].contains("`generated`"), "{errors:?}");
}

/// What comes from a contract: its file name, and texts that XML allows.
const HOSTILE: &str = "a&#10;}&#13;mod evil {}&#9;*/ \\ &quot; \u{202e}\u{2066}\u{2028}\u{9b}";

#[test]
fn nothing_of_a_contract_is_code_or_turns_it() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "<definitions xmlns='http://schemas.xmlsoap.org/wsdl/' xmlns:soap='http://schemas.xmlsoap.org/wsdl/soap/' xmlns:t='urn:t{HOSTILE}' xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t{HOSTILE}'>
        <documentation>{HOSTILE} `{HOSTILE}` http://a/{HOSTILE}</documentation>
        <types>
        <xs:schema targetNamespace='urn:t{HOSTILE}'><xs:element name='r'><xs:annotation><xs:documentation>`a\u{202e}`</xs:documentation></xs:annotation><xs:complexType><xs:sequence>
        <xs:element name='a' type='xs:string' default='{HOSTILE}'/><xs:element name='b' type='xs:string' fixed='{HOSTILE}'/>
        <xs:element name='c'><xs:simpleType><xs:restriction base='xs:string'><xs:enumeration value='{HOSTILE}'/><xs:pattern value='{HOSTILE}|.*'/></xs:restriction></xs:simpleType></xs:element>
        <xs:any namespace='{HOSTILE}'/></xs:sequence><xs:attribute name='d' default='{HOSTILE}'/></xs:complexType></xs:element></xs:schema>
        <xs:schema targetNamespace='urn:u{HOSTILE}'><xs:element name='r'><xs:complexType/></xs:element></xs:schema></types>
        <message name='in'><part name='p' element='t:r'/></message>
        <portType name='P{HOSTILE}'><operation name='o{HOSTILE}'><input message='t:in'/></operation></portType>
        <binding name='P' type='t:P{HOSTILE}'><soap:binding transport='http://schemas.xmlsoap.org/soap/http'/><operation name='o{HOSTILE}'><soap:operation soapAction='{HOSTILE}'/><input><soap:body use='literal'/></input></operation></binding>
        <service name='P{HOSTILE}'><port name='P{HOSTILE}' binding='t:P'><soap:address location='http://h/{HOSTILE}'/></port></service>
        </definitions>"
    );
    for facets in [false, true] {
        // Names that are no names may be refused, each in its place; a contract of names has the rest.
        let names = ["P", "o"].iter().fold(text.clone(), |text, name| {
            text.replace(&format!("'{name}{HOSTILE}'"), &format!("'{name}'"))
                .replace(&format!("t:{name}{HOSTILE}"), &format!("t:{name}"))
        });
        for text in [&text, &names] {
            let source = match generated(folder.path(), "a\nmod evil {}\r\u{202e}.wsdl", text, facets) {
                Ok(generated) => generated.source,
                Err(errors) => {
                    assert!(text != &names, "{errors:?}");
                    continue;
                }
            };
            let turns = source.chars().find(|&c| castile_xml::turns_text(c) || (c.is_control() && c != '\n'));
            assert_eq!(turns, None, "{source}");
            assert!(
                source.starts_with(
                    "// @generated by castile-codegen from a\\nmod evil {}\\r\\u{202e}.wsdl. Do not edit.\n"
                )
            );
            let file = syn::parse_file(&source).unwrap();
            let is_evil = |item: &syn::Item| matches!(item, syn::Item::Mod(module) if module.ident == "evil");
            assert!(!file.items.iter().any(is_evil));
        }
    }
}
