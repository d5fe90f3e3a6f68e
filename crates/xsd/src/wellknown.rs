//! Built-in schemas that contracts often import without a usable location, written from their specifications.

use crate::Request;

pub(crate) const SCHEME: &str = "castile:";

/// (namespace, text).
const SCHEMAS: &[(&str, &str)] = &[
    ("http://www.w3.org/XML/1998/namespace", include_str!("../schemas/xml.xsd")),
    ("http://schemas.xmlsoap.org/soap/encoding/", include_str!("../schemas/soap-encoding-1.1.xsd")),
    ("http://schemas.xmlsoap.org/soap/envelope/", include_str!("../schemas/soap-envelope-1.1.xsd")),
    ("http://www.w3.org/2003/05/soap-encoding", include_str!("../schemas/soap-encoding-1.2.xsd")),
    ("http://www.w3.org/2003/05/soap-envelope", include_str!("../schemas/soap-envelope-1.2.xsd")),
    ("http://schemas.xmlsoap.org/wsdl/", include_str!("../schemas/wsdl.xsd")),
    ("http://www.w3.org/2005/05/xmlmime", include_str!("../schemas/xmlmime.xsd")),
    ("http://www.w3.org/2004/08/xop/include", include_str!("../schemas/xop-include.xsd")),
    ("http://ws-i.org/profiles/basic/1.1/xsd", include_str!("../schemas/swaref.xsd")),
    ("http://www.w3.org/2005/08/addressing", include_str!("../schemas/ws-addressing-1.0.xsd")),
    ("http://www.w3.org/2006/05/addressing/wsdl", include_str!("../schemas/ws-addressing-wsdl.xsd")),
    ("http://schemas.xmlsoap.org/ws/2004/08/addressing", include_str!("../schemas/ws-addressing-2004-08.xsd")),
    ("http://www.w3.org/2000/09/xmldsig#", include_str!("../schemas/xmldsig.xsd")),
    (
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd",
        include_str!("../schemas/wss-utility.xsd"),
    ),
    (
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd",
        include_str!("../schemas/wss-secext.xsd"),
    ),
    ("http://xml.apache.org/xml-soap", include_str!("../schemas/apache-soap.xsd")),
];

/// Returns the namespaces of the built-in schemas. An import of such a namespace without a usable location uses the
/// built-in schema, unless the contract has its own copy.
pub fn builtin_namespaces() -> impl ExactSizeIterator<Item = &'static str> {
    SCHEMAS.iter().map(|(namespace, _)| *namespace)
}

pub(crate) fn locate(request: &Request<'_>) -> Option<String> {
    let (namespace, _) = SCHEMAS.iter().find(|(namespace, _)| *namespace == request.namespace)?;
    Some(format!("{SCHEME}{namespace}"))
}

pub(crate) fn read(uri: &str) -> Option<&'static str> {
    let wanted = uri.strip_prefix(SCHEME)?;
    SCHEMAS.iter().find(|(namespace, _)| *namespace == wanted).map(|(_, text)| *text)
}
