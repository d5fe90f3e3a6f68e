//! Schemas that contracts import without a usable location, written here from their specifications.

use crate::Request;

const SCHEME: &str = "castile:";

/// (namespace, text)
const SCHEMAS: &[(&str, &str)] = &[
    ("http://www.w3.org/XML/1998/namespace", include_str!("../schemas/xml.xsd")),
    ("http://schemas.xmlsoap.org/soap/encoding/", include_str!("../schemas/soap-encoding.xsd")),
    ("http://xml.apache.org/xml-soap", include_str!("../schemas/apache-soap.xsd")),
];

pub(crate) fn locate(request: &Request<'_>) -> Option<String> {
    let (namespace, _) = SCHEMAS.iter().find(|(namespace, _)| *namespace == request.namespace)?;
    Some(format!("{SCHEME}{namespace}"))
}

pub(crate) fn read(uri: &str) -> Option<&'static str> {
    let wanted = uri.strip_prefix(SCHEME)?;
    SCHEMAS.iter().find(|(namespace, _)| *namespace == wanted).map(|(_, text)| *text)
}
