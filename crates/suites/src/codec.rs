//! The codec contract: what decoding and encoding cost, without a network.

use castile::Fault;
use castile::codegen::{FromXml, Operation, ToXml};
use castile::soap::{Error, Version, message};
use castile::xml::Limits;

use crate::case::operation_named;

/// The contract, generated.
pub mod contract {
    castile::include_contract!("codec");
}

use contract::*;

/// Where the service is mounted.
pub const PATH: &str = "/codec";

/// The service: it echoes structs and takes orders.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

impl Codec for Service {
    async fn echo_structs(&self, request: EchoStructs) -> Result<EchoStructsResponse, Fault> {
        Ok(EchoStructsResponse { item: request.item })
    }

    async fn order(&self, _: Order) -> Result<OrderResponse, Fault> {
        Ok(OrderResponse {})
    }
}

/// A kind of message, to be decoded and encoded by itself.
pub trait Message: FromXml + ToXml {
    /// The operation it is the request of.
    fn operation() -> &'static Operation;

    /// Decodes a whole message, envelope included, with every check on.
    ///
    /// # Errors
    /// That it is not such a message.
    fn decode(message: &[u8]) -> Result<Self, Error> {
        message::read(&Self::operation().request, message, Limits::default())
    }

    /// Encodes a whole message into `out`, whose memory is used again.
    ///
    /// # Errors
    /// That a value holds what XML can't carry.
    fn encode(&self, out: Vec<u8>) -> Result<Vec<u8>, Error> {
        message::write(Version::default(), &Self::operation().request, self, out)
    }
}

impl Message for EchoStructs {
    fn operation() -> &'static Operation {
        operation_named(&CODEC_OPERATIONS, "echoStructs")
    }
}

impl Message for Order {
    fn operation() -> &'static Operation {
        operation_named(&CODEC_OPERATIONS, "order")
    }
}
