//! Header blocks that only a layer understands.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs;
use std::path::Path;

use castile_codegen::{Options, generate};

/// A service that takes `wsse:Security` for understood since its contract declares it would take messages whose signatures
/// nobody looks at (SOAP 1.1 §4.2.3).
#[test]
fn declared_security_headers_are_not_treated_as_understood() {
    let contract = fs::read_to_string("tests/features/header_blocks/service.wsdl").unwrap();
    let declared = |namespace: &str| {
        let schema = format!(
            "<xs:schema targetNamespace=\"{namespace}\"><xs:element name=\"Security\"><xs:complexType><xs:sequence>\
             <xs:any minOccurs=\"0\" maxOccurs=\"unbounded\" processContents=\"skip\"/></xs:sequence></xs:complexType>\
             </xs:element></xs:schema></wsdl:types><wsdl:message name=\"security\">\
             <wsdl:part name=\"security\" element=\"w:Security\" xmlns:w=\"{namespace}\"/></wsdl:message>"
        );
        let block = "<soap:body use=\"literal\" parts=\"body\"/>";
        let with = format!("{block}<soap:header message=\"t:security\" part=\"security\" use=\"literal\"/>");
        assert!(contract.contains(block));
        contract.replace("</wsdl:types>", &schema).replace(block, &with)
    };
    for (number, namespace, is_understood) in [
        (0, "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd", false),
        (1, "http://schemas.xmlsoap.org/ws/2002/12/secext", false),
        (2, "urn:security", true),
    ] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("security-{number}.wsdl"));
        fs::write(&path, declared(namespace)).unwrap();
        let source = generate(&path, &Options::default()).unwrap().source;
        // Whoever wants to has it as a value all the same.
        assert!(
            source.contains(
                "::Security {\n    const ELEMENT: &'static Element = &Element::new(NAMESPACE_2, \"Security\""
            ),
            "{namespace}: {source}"
        );
        let (_, operations) = source.split_once("static FEATURE_OPERATIONS").unwrap();
        assert!(operations.contains("<Session as ::castile::Header>::ELEMENT"), "{operations}");
        assert_eq!(operations.contains("::Security as ::castile::Header>::ELEMENT"), is_understood, "{namespace}");
    }
}
