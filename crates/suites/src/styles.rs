//! The styles of the report on Axis of 2004. The same document is sent as objects in SOAP encoding, as XML that is not
//! decoded, as text in a CDATA section, and as an attachment.

use std::fmt::Write;

use castile::codegen::{FromXml, Operation, SoapVersion};
use castile::{AnyType, Fault, Raw, Request, Response, soap};
use castile_load::{Case, Requests};
use castile_report::{Method, Published, PublishedFigure};

use crate::case::{TEXT_XML, message, operation_named};

/// The contract, generated.
pub mod contract {
    castile::include_contract!("styles");
}

use contract::*;

/// The path of the document service.
pub const PATH: &str = "/styles/doc";
/// The path of the rpc service.
pub const RPC_PATH: &str = "/styles/rpc";

/// The combined size of request and response in bytes, as the report counts it, with the shortest possible response. So the
/// requests are the same for all engines, and an engine that writes longer responses has a larger sum.
const SIZES: [(&str, usize); 3] = [("2KB", 2_048), ("50KB", 51_200), ("200KB", 204_800)];

/// The service of the report, which ignores its requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

/// The text in each record.
const NOTE: &str = "Lorem ipsum dolor sit amet, consectetur adipiscing";
const ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";
const RECEIPT: &str = "<receipt xmlns=\"urn:axis-styles\"><status>OK</status></receipt>";
const STRING_RECEIPT: &str =
    "<submitStringResponse xmlns=\"urn:axis-styles\"><return>OK</return></submitStringResponse>";
const ATTACHMENT_RECEIPT: &str =
    "<submitAttachmentResponse xmlns=\"urn:axis-styles\"><return>OK</return></submitAttachmentResponse>";
/// The boundary between the parts of a message with an attachment.
const BOUNDARY: &str = "MIMEBoundary";

impl DocPt for Service {
    async fn submit_doc(&self, _: Request<Raw>) -> Result<Response<Raw>, Fault> {
        Ok(Raw::new(RECEIPT).into())
    }

    async fn submit_string(&self, _: Request<SubmitString>) -> Result<Response<SubmitStringResponse>, Fault> {
        Ok(SubmitStringResponse { r#return: "OK".into() }.into())
    }

    async fn submit_attachment(
        &self,
        request: Request<SubmitAttachment>,
    ) -> Result<Response<SubmitAttachmentResponse>, Fault> {
        let (request, mut attachments) = request.into_parts();
        let mut document = attachments.by_url(request.document.href.as_ref()).await?;
        while document.data().await?.is_some() {}
        Ok(SubmitAttachmentResponse { r#return: "OK".into() }.into())
    }
}

impl RpcPt for Service {
    async fn submit_document(
        &self,
        _: Request<SubmitDocumentRequest>,
    ) -> Result<Response<SubmitDocumentResponse>, Fault> {
        Ok(rpc_receipt().into())
    }
}

fn rpc_receipt() -> SubmitDocumentResponse {
    SubmitDocumentResponse { submit_document_return: Some("OK".into()) }
}

/// Returns the cases of the report, each style in three sizes.
pub fn cases() -> Vec<Case> {
    let rpc = operation_named(&RPC_PT_OPERATIONS, "submitDocument");
    let doc = |name| operation_named(&DOC_PT_OPERATIONS, name);
    let in_envelope = |wrap: fn(&str) -> String, receipt: &str, bytes: usize| {
        let around = request(&wrap("")).len() + request(receipt).len();
        request(&wrap(&document(bytes - around)))
    };
    let mut cases = Vec::new();
    for (size, bytes) in SIZES {
        let body = rpc_request(bytes - rpc_response(rpc).len());
        cases.push(case("rpc-encoded", size, rpc, TEXT_XML, body, |answer: &SubmitDocumentResponse| {
            *answer == rpc_receipt()
        }));
    }
    for (size, bytes) in SIZES {
        let body = in_envelope(str::to_owned, RECEIPT, bytes);
        cases.push(case("document", size, doc("submitDoc"), TEXT_XML, body, |answer: &AnyType| {
            answer.elements().any(|status| status.read::<String>().is_ok_and(|status| status == "OK"))
        }));
    }
    for (size, bytes) in SIZES {
        let body = in_envelope(in_cdata, STRING_RECEIPT, bytes);
        cases.push(case("cdata", size, doc("submitString"), TEXT_XML, body, |answer: &SubmitStringResponse| {
            answer.r#return == "OK"
        }));
    }
    let package = format!("multipart/related; type=\"text/xml\"; start=\"<root>\"; boundary=\"{BOUNDARY}\"");
    for (size, bytes) in SIZES {
        let around = in_package("").len() + request(ATTACHMENT_RECEIPT).len();
        let body = in_package(&document(bytes - around));
        let operation = doc("submitAttachment");
        cases.push(case("attachment", size, operation, &package, body, |answer: &SubmitAttachmentResponse| {
            answer.r#return == "OK"
        }));
    }
    cases
}

/// Returns the published figures: users at the exit, failed transactions, and mean response times.
pub fn published_figures() -> Vec<Published> {
    vec![Published {
        system: "Apache Axis".into(),
        source: "G. Shah, R. Apte: load tests of Apache Axis, 16 July 2004".into(),
        machine: "client and server on one machine with 2 processors, Linux and Tomcat".into(),
        method: Method::Ramp,
        figures: FIGURES.lines().map(figure).collect(),
    }]
}

/// Case, users at the exit, failed transactions, mean response time in milliseconds, and remarks.
const FIGURES: &str = include_str!("../data/styles-published.tsv");

fn figure(line: &str) -> PublishedFigure {
    let fields: Vec<&str> = line.split('\t').collect();
    let [case, users, failed, mean, note] = fields[..] else { return PublishedFigure::default() };
    PublishedFigure {
        case: case.to_owned(),
        users_at_exit: users.parse().ok(),
        failed: failed.parse().ok(),
        mean_us: mean.parse::<f64>().ok().map(|milliseconds| milliseconds * 1e3),
        note: Some(note.to_owned()),
        ..PublishedFigure::default()
    }
}

fn case<R: FromXml + 'static>(
    style: &str,
    size: &str,
    operation: &'static Operation,
    content_type: &str,
    body: String,
    is_right: impl Fn(&R) -> bool + Send + Sync + 'static,
) -> Case {
    let judge = move |answer: &R| match is_right(answer) {
        true => Ok(0),
        false => Err("the answer is not a receipt".to_owned()),
    };
    let message = message(operation, content_type, body.into(), &soap::Options::default(), judge);
    Case {
        suite: "styles".into(),
        name: format!("{style}-{size}"),
        style: Some(style.to_owned()),
        path: if style == "rpc-encoded" { RPC_PATH } else { PATH }.to_owned(),
        requests: Requests::Raw(vec![message]),
    }
}

/// Returns the response of the rpc service.
fn rpc_response(operation: &Operation) -> Vec<u8> {
    let written = operation
        .response
        .as_ref()
        .map(|root| castile_soap::message::write(SoapVersion::Soap11, root, &rpc_receipt(), Vec::new()));
    match written {
        Some(Ok(response)) => response,
        _ => panic!("the receipt of submitDocument can't be written"),
    }
}

/// Creates a document of this many bytes, including the envelope, in which every value has an `xsi:type`.
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

fn in_cdata(document: &str) -> String {
    format!("<submitString xmlns=\"urn:axis-styles\"><xml><![CDATA[{document}]]></xml></submitString>")
}

/// Creates a message that refers to a document, and the document as the second part.
fn in_package(document: &str) -> String {
    let root = request("<submitAttachment xmlns=\"urn:axis-styles\"><document href=\"cid:doc\"/></submitAttachment>");
    format!(
        "--{BOUNDARY}\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-ID: <root>\r\n\r\n{root}\r\n\
         --{BOUNDARY}\r\nContent-Type: text/xml\r\nContent-ID: <doc>\r\n\r\n{document}\r\n--{BOUNDARY}--\r\n"
    )
}

/// Creates a document of this many bytes: as many records as fit, and padding.
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
                let text = String::from_utf8_lossy(&case.messages()[0].body);
                let records = text.matches("<record>").count() + text.matches("<item ").count();
                (case.name.clone(), text.len(), records)
            })
            .collect();
        let [doc, string, attachment] =
            [RECEIPT, STRING_RECEIPT, ATTACHMENT_RECEIPT].map(|receipt| request(receipt).len());
        let rpc = rpc_response(operation_named(&RPC_PT_OPERATIONS, "submitDocument")).len();
        let expected = [
            ("rpc-encoded", rpc, [3, 204, 829]),
            ("document", doc, [12, 352, 1_403]),
            ("cdata", string, [11, 352, 1_403]),
            ("attachment", attachment, [10, 350, 1_401]),
        ];
        let expected: Vec<_> = expected
            .into_iter()
            .flat_map(|(style, response, records)| {
                SIZES
                    .iter()
                    .zip(records)
                    .map(move |((size, bytes), records)| (format!("{style}-{size}"), bytes - response, records))
            })
            .collect();
        assert_eq!(found, expected);
    }
}
