//! The styles of the report on Axis of 2004: one document as XML that nobody binds, and as text in a CDATA section.

use std::fmt::Write;

use castile::codegen::SoapVersion;
use castile::{AnyType, Fault, Raw};
use castile_load::Case;

use crate::case::{of_body, operation_named};

/// The contract, generated.
pub mod contract {
    castile::include_contract!("styles");
}

use contract::*;

/// Where the service is mounted.
pub const PATH: &str = "/styles/doc";

/// How many bytes request and response have together, as the report counts them.
const SIZES: [(&str, usize); 3] = [("2K", 2_048), ("50K", 51_200), ("200K", 204_800)];

/// The service of the report: it does nothing with what it gets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

const RECEIPT: &str = "<receipt xmlns=\"urn:axis-styles\"><status>OK</status></receipt>";
const STRING_RECEIPT: &str =
    "<submitStringResponse xmlns=\"urn:axis-styles\"><return>OK</return></submitStringResponse>";

impl DocPt for Service {
    async fn submit_doc(&self, _: Raw) -> Result<Raw, Fault> {
        Ok(Raw::new(RECEIPT))
    }

    async fn submit_string(&self, _: SubmitString) -> Result<SubmitStringResponse, Fault> {
        Ok(SubmitStringResponse { r#return: "OK".into() })
    }
}

/// What the report measures, each style in three sizes.
pub fn cases() -> Vec<Case> {
    let styles: [(&str, fn(&str) -> String, &str); 2] =
        [("submitDoc", str::to_owned, RECEIPT), ("submitString", in_cdata, STRING_RECEIPT)];
    let mut cases = Vec::new();
    for (operation, wrap, receipt) in styles {
        for (size, bytes) in SIZES {
            let around = request(&wrap("")).len() + response(receipt).len();
            let body = request(&wrap(&document(bytes - around)));
            let name = format!("{operation}-{size}");
            let operation = operation_named(&DOC_PT_OPERATIONS, operation);
            cases.push(of_body("styles", PATH, name, operation, body.into(), |answer: &AnyType| {
                answer.elements().any(|status| status.read::<String>().is_ok_and(|status| status == "OK"))
            }));
        }
    }
    cases
}

fn request(payload: &str) -> String {
    let namespace = SoapVersion::Soap11.namespace();
    format!("<S:Envelope xmlns:S=\"{namespace}\"><S:Body>{payload}</S:Body></S:Envelope>")
}

/// What the service answers.
fn response(payload: &str) -> String {
    let namespace = SoapVersion::Soap11.namespace();
    format!("<soap:Envelope xmlns:soap=\"{namespace}\"><soap:Body>{payload}</soap:Body></soap:Envelope>")
}

fn in_cdata(document: &str) -> String {
    format!("<submitString xmlns=\"urn:axis-styles\"><xml><![CDATA[{document}]]></xml></submitString>")
}

/// A document of this many bytes: as many records as it has room for, and padding.
fn document(bytes: usize) -> String {
    const NOTE: &str = "Lorem ipsum dolor sit amet, consectetur adipiscing";
    const END: &str = "</pad></document>";
    let mut document =
        String::from("<document xmlns=\"urn:axis-styles\"><id>DOC-1</id><created>2004-07-16T09:00:00Z</created>");
    let room = bytes - END.len() - "<pad>".len();
    for key in 0.. {
        let record = format!(
            "<record><key>{key}</key><name>Record name {key}</name><amount>{key}.25</amount><note>{NOTE}</note></record>"
        );
        if document.len() + record.len() > room {
            break;
        }
        document.push_str(&record);
    }
    document.push_str("<pad>");
    let padding = bytes - END.len() - document.len();
    // Writing to a string doesn't fail.
    let _ = write!(document, "{:x<padding$}{END}", "");
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_sizes_and_records_of_the_report() {
        let found: Vec<(String, usize, usize)> = cases()
            .iter()
            .map(|case| {
                let text = String::from_utf8_lossy(&case.body);
                (case.name.clone(), text.len(), text.matches("<record>").count())
            })
            .collect();
        let [doc, string] = [RECEIPT, STRING_RECEIPT].map(|receipt| response(receipt).len());
        let expected = [
            ("submitDoc-2K", 2_048 - doc, 12),
            ("submitDoc-50K", 51_200 - doc, 352),
            ("submitDoc-200K", 204_800 - doc, 1_403),
            ("submitString-2K", 2_048 - string, 11),
            ("submitString-50K", 51_200 - string, 352),
            ("submitString-200K", 204_800 - string, 1_403),
        ];
        assert_eq!(found, expected.map(|(name, length, records)| (name.to_owned(), length, records)));
    }
}
