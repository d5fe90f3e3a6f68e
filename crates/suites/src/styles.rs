//! The styles of the report on Axis of 2004: one document as XML that nobody binds, as text in a CDATA section, and as
//! objects in SOAP encoding.

use std::fmt::Write;

use castile::codegen::{Operation, SoapVersion};
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
/// Where the one of rpc style is mounted.
pub const RPC_PATH: &str = "/styles/rpc";

/// How many bytes request and response have together, as the report counts them.
const SIZES: [(&str, usize); 3] = [("2K", 2_048), ("50K", 51_200), ("200K", 204_800)];

/// The service of the report: it does nothing with what it gets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

/// What each record says.
const NOTE: &str = "Lorem ipsum dolor sit amet, consectetur adipiscing";
const ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";
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

impl RpcPt for Service {
    async fn submit_document(&self, _: SubmitDocumentRequest) -> Result<SubmitDocumentResponse, Fault> {
        Ok(rpc_receipt())
    }
}

fn rpc_receipt() -> SubmitDocumentResponse {
    SubmitDocumentResponse { submit_document_return: Some("OK".into()) }
}

/// What the report measures, each style in three sizes.
pub fn cases() -> Vec<Case> {
    type Wrap = fn(&str) -> String;
    let styles: [(&str, Wrap, &str); 2] =
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
    cases.extend(SIZES.map(|(size, bytes)| {
        let operation = operation_named(&RPC_PT_OPERATIONS, "submitDocument");
        let body = rpc_request(bytes - rpc_response(operation).len());
        let name = format!("submitDocument-{size}");
        of_body("styles", RPC_PATH, name, operation, body.into(), |answer: &SubmitDocumentResponse| {
            *answer == rpc_receipt()
        })
    }));
    cases
}

/// What the service of rpc style answers.
fn rpc_response(operation: &Operation) -> Vec<u8> {
    let written = operation
        .response
        .as_ref()
        .map(|root| castile::soap::message::write(SoapVersion::Soap11, root, &rpc_receipt(), Vec::new()));
    match written {
        Some(Ok(response)) => response,
        _ => panic!("the receipt of submitDocument can't be written"),
    }
}

/// A document of this many bytes, envelope included, in which every value says of which type it is.
fn rpc_request(bytes: usize) -> String {
    let record = |key: usize| {
        format!(
            "<item xsi:type=\"t:Record\"><key xsi:type=\"xsd:int\">{key}</key><name xsi:type=\"xsd:string\">Record name {key}</name>\
             <amount xsi:type=\"xsd:double\">{key}.25</amount><note xsi:type=\"xsd:string\">{NOTE}</note></item>"
        )
    };
    let request = |count: usize, records: &str, padding: usize| {
        let envelope = SoapVersion::Soap11.namespace();
        format!(
            "<S:Envelope xmlns:S=\"{envelope}\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" \
             xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:e=\"{ENCODING}\" xmlns:n=\"urn:axis-styles\" \
             xmlns:t=\"urn:axis-styles:enc\"><S:Body S:encodingStyle=\"{ENCODING}\"><n:submitDocument>\
             <doc xsi:type=\"t:Document\"><id xsi:type=\"xsd:string\">DOC-1</id>\
             <created xsi:type=\"xsd:dateTime\">2004-07-16T09:00:00Z</created>\
             <records xsi:type=\"e:Array\" e:arrayType=\"t:Record[{count}]\">{records}</records>\
             <pad xsi:type=\"xsd:string\">{:x<padding$}</pad></doc></n:submitDocument></S:Body></S:Envelope>",
            ""
        )
    };
    let (mut count, mut records) = (0, String::new());
    loop {
        let next = record(count);
        if request(count + 1, "", 0).len() + records.len() + next.len() > bytes {
            break;
        }
        records += &next;
        count += 1;
    }
    let padding = bytes - request(count, &records, 0).len();
    request(count, &records, padding)
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
                let records = text.matches("<record>").count() + text.matches("<item ").count();
                (case.name.clone(), text.len(), records)
            })
            .collect();
        let [doc, string] = [RECEIPT, STRING_RECEIPT].map(|receipt| response(receipt).len());
        let rpc = rpc_response(operation_named(&RPC_PT_OPERATIONS, "submitDocument")).len();
        let expected = [
            ("submitDoc-2K", 2_048 - doc, 12),
            ("submitDoc-50K", 51_200 - doc, 352),
            ("submitDoc-200K", 204_800 - doc, 1_403),
            ("submitString-2K", 2_048 - string, 11),
            ("submitString-50K", 51_200 - string, 352),
            ("submitString-200K", 204_800 - string, 1_403),
            ("submitDocument-2K", 2_048 - rpc, 3),
            ("submitDocument-50K", 51_200 - rpc, 204),
            ("submitDocument-200K", 204_800 - rpc, 829),
        ];
        assert_eq!(found, expected.map(|(name, length, records)| (name.to_owned(), length, records)));
    }
}
