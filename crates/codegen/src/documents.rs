//! The documents of a contract as they are served.

use std::collections::HashMap;

use castile_xml::tree;
use castile_xsd::{FileId, Sources, XSD_NAMESPACE};

/// A document of a contract, for a server to serve from a file beside its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The name of the file: `orders.wsdl` of `orders.wsdl.xml`, `orders.1.xsd` for what it imports.
    pub file: String,
    /// What a client asks for it by, behind the `?` of a URL: `wsdl`, `xsd=1`.
    pub query: String,
    /// The text, in UTF-8 whatever its file was in.
    pub text: String,
    /// The locations of the documents that it imports or includes, and what those are asked for by.
    pub imports: Vec<(String, String)>,
}

/// The WSDL and all that it imports by location, but for schemas that the library brings: those are where they are said to be.
pub(crate) fn documents(sources: &Sources, stem: &str) -> Vec<Document> {
    let is_own = |file: &FileId| !sources.name(*file).starts_with("castile:");
    let files: Vec<FileId> = sources.imported().into_iter().filter(is_own).collect();
    let mut named: HashMap<FileId, (String, String)> = HashMap::new();
    let (mut schemas, mut contracts) = (0, 0);
    for &file in &files {
        let names = if named.is_empty() {
            (format!("{stem}.wsdl"), "wsdl".to_owned())
        } else {
            let (kind, count) =
                if is_schema(sources.text(file)) { ("xsd", &mut schemas) } else { ("wsdl", &mut contracts) };
            *count += 1;
            (format!("{stem}.{count}.{kind}"), format!("{kind}={count}"))
        };
        named.insert(file, names);
    }
    let query_of = |to: FileId| named.get(&to).map(|(_, query)| query.clone());
    let document = |file: FileId| {
        let (name, query) = named.get(&file)?.clone();
        let imports = sources.imports(file).filter_map(|(location, to)| Some((location.to_owned(), query_of(to)?)));
        Some(Document { file: name, query, text: in_utf8(sources.text(file)), imports: imports.collect() })
    };
    files.into_iter().filter_map(document).collect()
}

/// Whether the document element is a schema. The text is read as it was loaded: decoded, whatever it declares, and maybe with
/// a document type.
fn is_schema(text: &str) -> bool {
    tree::Document::parse(text).is_ok_and(|document| document.root().namespace() == XSD_NAMESPACE)
}

/// The text of a document as it is served: whatever encoding its file had, it is UTF-8 now, and says so if it says
/// anything.
fn in_utf8(text: &str) -> String {
    let declared = text.strip_prefix("<?xml").filter(|rest| rest.starts_with([' ', '\t', '\r', '\n']));
    match declared.and_then(|rest| rest.split_once("?>")) {
        Some((_, rest)) => format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{rest}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_of_another_encoding_is_one() {
        let schema = format!("<schema xmlns='{XSD_NAMESPACE}' id='é'/>");
        for text in [
            schema.clone(),
            format!("<?xml version='1.0' encoding='ISO-8859-1'?>{schema}"),
            format!(
                "<?xml version='1.0' encoding='utf-16'?><!DOCTYPE schema [<!ATTLIST schema b CDATA #IMPLIED>]>{schema}"
            ),
        ] {
            assert!(is_schema(&text), "{text}");
        }
        assert!(!is_schema("<definitions/>") && !is_schema("<schema/>") && !is_schema("<"));
    }

    #[test]
    fn what_is_served_says_its_encoding() {
        const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
        for (text, expected) in [
            ("<a/>", "<a/>".to_owned()),
            ("<?xml version='1.0'?><a/>", format!("{DECLARATION}<a/>")),
            (
                "<?xml\tversion='1.0' encoding='UTF-16' standalone='yes' ?>\n<?b?><a/>",
                format!("{DECLARATION}\n<?b?><a/>"),
            ),
            ("<?xml-stylesheet href='a'?><a/>", "<?xml-stylesheet href='a'?><a/>".to_owned()),
        ] {
            assert_eq!(in_utf8(text), expected);
        }
    }
}
