//! Tests that the built-in schemas have no problems and are equivalent to the published schemas.

#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

mod describe;

use std::collections::BTreeSet;
use std::path::Path;

use castile_xsd::{Documents, Files, Schema, builtin_namespaces};

fn importing(namespace: &str) -> (Schema, Vec<String>) {
    let document = format!(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'><xs:import namespace='{namespace}'/></xs:schema>"
    );
    let (schema, diagnostics) = castile_xsd::read("t.xsd", &Documents::new().with("t.xsd", document));
    (schema, diagnostics.iter().map(ToString::to_string).collect())
}

#[test]
fn each_is_read_without_a_problem() {
    for namespace in builtin_namespaces() {
        let (schema, problems) = importing(namespace);
        assert_eq!(problems, [""; 0], "{namespace}");
        let names = describe::components(&schema, namespace);
        assert!(!names.is_empty(), "{namespace}");
    }
}

/// (published copy, namespace)
const PUBLISHED: [(&str, &str); 13] = [
    ("wellknown/schemas.xmlsoap.org_soap_encoding.xsd", "http://schemas.xmlsoap.org/soap/encoding/"),
    ("wellknown/schemas.xmlsoap.org_soap_envelope.xsd", "http://schemas.xmlsoap.org/soap/envelope/"),
    ("wellknown/schemas.xmlsoap.org_ws_2004_08_addressing.xsd", "http://schemas.xmlsoap.org/ws/2004/08/addressing"),
    ("wellknown/schemas.xmlsoap.org_wsdl.xsd", "http://schemas.xmlsoap.org/wsdl/"),
    ("wellknown/ws-i.org_profiles_basic_1.1_swaref.xsd", "http://ws-i.org/profiles/basic/1.1/xsd"),
    ("wellknown/www.w3.org_2003_05_soap-encoding.xsd", "http://www.w3.org/2003/05/soap-encoding"),
    ("wellknown/www.w3.org_2003_05_soap-envelope.xsd", "http://www.w3.org/2003/05/soap-envelope"),
    ("wellknown/www.w3.org_2004_08_xop_include.xsd", "http://www.w3.org/2004/08/xop/include"),
    ("wellknown/www.w3.org_2005_05_xmlmime.xsd", "http://www.w3.org/2005/05/xmlmime"),
    ("wellknown/www.w3.org_2006_03_addressing_ws-addr.xsd", "http://www.w3.org/2005/08/addressing"),
    (
        "wellknown/www.w3.org_TR_2002_REC-xmldsig-core-20020212_xmldsig-core-schema.xsd",
        "http://www.w3.org/2000/09/xmldsig#",
    ),
    (
        "wsdl/gematik-ti/ext/oasis-200401-wss-wssecurity-secext-1.0.xsd",
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd",
    ),
    (
        "wsdl/gematik-ti/ext/oasis-200401-wss-wssecurity-utility-1.0.xsd",
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd",
    ),
];

/// This built-in schema leaves out what contracts never refer to.
const IN_PART: &str = "http://schemas.xmlsoap.org/wsdl/";

#[castile_corpus::needs("corpus/wellknown")]
#[test]
fn each_equals_the_published_schema() {
    let corpus = Path::new(castile_corpus::path!("corpus"));
    for (path, namespace) in PUBLISHED {
        let (published, _) = castile_xsd::read(&corpus.join(path).to_string_lossy(), &Files::new());
        let published: BTreeSet<String> = describe::components(&published, namespace).into_iter().collect();
        let own: BTreeSet<String> = describe::components(&importing(namespace).0, namespace).into_iter().collect();
        assert!(!published.is_empty(), "{path}");
        let ours: Vec<&String> = own.difference(&published).collect();
        let theirs: Vec<&String> = published.difference(&own).collect();
        assert!(ours.is_empty(), "{namespace}: ours {ours:#?}, theirs {theirs:#?}");
        assert!(theirs.is_empty() || namespace == IN_PART, "{namespace}: missing {theirs:#?}");
    }
}
