//! The codec contracts, which measure the cost of decoding and encoding without a network.

use castile::codegen::{FromXml, Root, ToXml};
use castile::{Fault, Request, Response};
use castile_soap::{Error, Version, message};
use castile_xml::Limits;

use crate::case::operation_named;
use crate::open::contract as open;
use crate::seismic::document::contract as seismic;
use crate::wstest::contract as wstest;

/// The contract, generated.
pub mod contract {
    castile::include_contract!("codec");
}

/// The rpc/encoded contract, generated.
pub mod encoded {
    castile::include_contract!("encoded");
}

use contract::*;

/// The path of the service.
pub const PATH: &str = "/codec";

/// The service: it echoes structs and accepts orders.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

impl Codec for Service {
    async fn echo_structs(&self, request: Request<EchoStructs>) -> Result<Response<EchoStructsResponse>, Fault> {
        Ok(EchoStructsResponse { item: request.into_inner().item }.into())
    }

    async fn order(&self, _: Request<Order>) -> Result<Response<OrderResponse>, Fault> {
        Ok(OrderResponse {}.into())
    }
}

/// A type of message that can be decoded and encoded on its own.
pub trait Message: FromXml + ToXml {
    /// Returns its root in the body of a message.
    fn root() -> &'static Root;

    /// Decodes a complete message with its envelope, with all checks enabled.
    ///
    /// # Errors
    /// The bytes are not such a message.
    fn decode(message: &[u8]) -> Result<Self, Error> {
        message::read(Self::root(), message, Limits::default())
    }

    /// Encodes a complete message into `out`, whose memory is reused.
    ///
    /// # Errors
    /// A value contains something that XML can't represent.
    fn encode(&self, out: Vec<u8>) -> Result<Vec<u8>, Error> {
        message::write(Version::default(), Self::root(), self, out)
    }
}

impl Message for EchoStructs {
    fn root() -> &'static Root {
        &operation_named(&CODEC_OPERATIONS, "echoStructs").request
    }
}

impl Message for Order {
    fn root() -> &'static Root {
        &operation_named(&CODEC_OPERATIONS, "order").request
    }
}

impl Message for open::Any {
    fn root() -> &'static Root {
        &operation_named(&open::OPEN_OPERATIONS, "echoAny").request
    }
}

impl Message for wstest::EchoStruct {
    fn root() -> &'static Root {
        &operation_named(&wstest::TEST_SERVICE_SOAP_OPERATIONS, "EchoStruct").request
    }
}

impl Message for wstest::EchoList {
    fn root() -> &'static Root {
        &operation_named(&wstest::TEST_SERVICE_SOAP_OPERATIONS, "EchoList").request
    }
}

impl Message for seismic::quakes::Results {
    fn root() -> &'static Root {
        let process = operation_named(&seismic::QUAKE_INTERFACE_OPERATIONS, "process");
        process.response.as_ref().unwrap_or(&process.request)
    }
}

impl Message for encoded::EchoStructsRequest {
    fn root() -> &'static Root {
        &operation_named(&encoded::ENCODED_OPERATIONS, "echoStructs").request
    }
}

/// Creates a document/literal message of this many structs.
pub fn structs(count: usize) -> EchoStructs {
    EchoStructs { item: values(count).map(|(i, f, s)| Item { i, f, s }).collect() }
}

/// Creates a message of this many structs as an array in SOAP encoding.
pub fn encoded_structs(count: usize) -> encoded::EchoStructsRequest {
    let items = values(count).map(|(i, f, s)| encoded::Item { i: Some(i), f: Some(f), s: Some(s) });
    encoded::EchoStructsRequest { items: Some(items.collect()) }
}

/// Returns the content of the structs.
fn values(count: usize) -> impl Iterator<Item = (i32, f64, String)> {
    // No message has more structs than an i32 can count.
    (0..i32::try_from(count).unwrap_or(i32::MAX))
        .map(|number| (12_345_678 + number, f64::from(number) * 3.16227, format!("The quick brown fox {number}")))
}

/// Where the namespaces of independent elements are declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// Once, in the envelope, as gSOAP does.
    Once,
    /// In each of the elements, with a separate prefix, as Apache Axis 1.4 does.
    Each,
}

/// Writes the message of [`encoded_structs`] with references. Each struct is an independent element after the call, with an
/// `id`, and the items of the array refer to them (SOAP 1.1 §5.1, §5.4.1).
pub fn multiref(count: usize, declared: Declared) -> String {
    const NAMESPACE: &str = "http://example.com/bench";
    const ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";
    let (mut items, mut structs) = (String::new(), String::new());
    for (number, (i, f, s)) in values(count).enumerate() {
        let (prefix, declarations) = match declared {
            Declared::Once => ("n".to_owned(), String::new()),
            Declared::Each => {
                (format!("ns{number}"), format!(" xmlns:ns{number}=\"{NAMESPACE}\" xmlns:soapenc=\"{ENCODING}\""))
            }
        };
        items += &format!("<items href=\"#id{number}\"/>");
        structs += &format!(
            "<multiRef id=\"id{number}\" soapenc:root=\"0\" soapenv:encodingStyle=\"{ENCODING}\" xsi:type=\"{prefix}:Item\"{declarations}>\
             <i xsi:type=\"xsd:int\">{i}</i><f xsi:type=\"xsd:double\">{f}</f><s xsi:type=\"xsd:string\">{s}</s></multiRef>"
        );
    }
    format!(
        "<soapenv:Envelope xmlns:soapenv=\"http://schemas.xmlsoap.org/soap/envelope/\" \
         xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
         xmlns:soapenc=\"{ENCODING}\" xmlns:n=\"{NAMESPACE}\"><soapenv:Body>\
         <n:echoStructs soapenv:encodingStyle=\"{ENCODING}\">\
         <items soapenc:arrayType=\"n:Item[{count}]\" xsi:type=\"soapenc:Array\">{items}</items></n:echoStructs>\
         {structs}</soapenv:Body></soapenv:Envelope>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The measured structs are the same in every form.
    #[test]
    fn structs_are_the_same_in_all_messages() {
        let literal = structs(100).encode(Vec::new()).expect("structs can be written");
        assert_eq!(EchoStructs::decode(&literal).expect("what was written can be read"), structs(100));
        let plain = encoded_structs(100).encode(Vec::new()).expect("structs can be written");
        let messages = [Declared::Once, Declared::Each].map(|declared| multiref(100, declared).into_bytes());
        for message in [plain].iter().chain(&messages) {
            let read = encoded::EchoStructsRequest::decode(message);
            assert_eq!(read.expect("it is such a message"), encoded_structs(100));
        }
    }
}
