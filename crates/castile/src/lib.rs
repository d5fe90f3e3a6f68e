//! SOAP web services from a WSDL: typed server and client.
//!
//! A build script compiles the contract, and [`include_contract!`] brings in what came out: a struct for each type, a
//! trait to be implemented by the service, a server and a client.
//!
//! ```ignore
//! // build.rs
//! fn main() {
//!     castile_codegen::compile("contracts/orders.wsdl");
//! }
//! ```
//!
//! ```ignore
//! mod orders {
//!     castile::include_contract!("orders");
//! }
//! ```
//!
//! Everything a message can do wrong is answered with a [`Fault`] that says where. Sizes, depth and times are bounded
//! by default.

mod client;

pub use castile_budget::Budget;
pub use castile_databinding::encoded::{Array, Shared};
pub use castile_databinding::{
    Any, AnyAttribute, AnyContent, AnyElements, AnyElementsIter, AnyPiece, AnyType, Deviations, ExpandedName, Nillable,
    NillableWithAttributes, Recursive, datatypes,
};
pub use castile_http as http;
pub use castile_mime as mime;
pub use castile_soap as soap;
pub use castile_soap::{AnyHeader, Context, Detail, Fault, FaultCode, Leniency, NoDetail, Raw};
pub use castile_xml as xml;
pub use client::{CallError, HttpService};
pub use codegen::RequestBody;

/// Includes the module that `castile_codegen::compile("….wsdl")` wrote in the build script, by the name of the file
/// without its ending.
#[macro_export]
macro_rules! include_contract {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}

/// What generated code is written with. Nothing else should be: it changes as the generator does.
#[doc(hidden)]
pub mod codegen {
    pub use std::convert::Infallible;
    pub use std::future::Future;
    pub use std::sync::Arc;
    pub use std::task::{Context, Poll};

    pub use castile_databinding::datatypes::SimpleType;
    pub use castile_databinding::schema::Element;
    pub use castile_databinding::{
        Boxed, ComplexType, Decoder, Encoder, Error, FromXml, Group, Mixed, Nillable, Recursive, ToXml, array,
        conversions, enumeration, simple_type, union_value,
    };
    pub use castile_http::Error as HttpError;
    pub use castile_http::client::Transport;
    pub use castile_http::server::{Endpoint, Options as EndpointOptions};
    pub use castile_soap::{
        Actions, AnyHeader, Description, Dispatch, Document as SoapDocument, Error as SoapError, Fault, FaultDetail,
        Header, Leniency, NoDetail, Operation, Payload, Pending, Root, Service as SoapService, SizeHint,
        Version as SoapVersion,
    };
    pub use castile_xml::Limits;
    pub use http::Request as HttpRequest;
    pub use tower_service::Service as TowerService;

    pub use crate::client::{CallError, Caller, HttpService};

    /// The tables.
    pub mod xs {
        pub use std::sync::LazyLock;

        pub use castile_databinding::datatypes::WhiteSpace;
        pub use castile_databinding::encoded::ArrayType;
        pub use castile_databinding::facets::{
            AnyOf, Check, Facets, Items, Restriction, bound, names, patterns, scoped_values, values,
        };
        pub use castile_databinding::model::{Order, Particle};
        pub use castile_databinding::schema::*;
    }

    /// The body of a request that a server can read.
    pub trait RequestBody:
        http_body::Body<Data = bytes::Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static
    {
    }

    impl<B> RequestBody for B where
        B: http_body::Body<Data = bytes::Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static
    {
    }

    /// What a server answers.
    pub type HttpResponse = http::Response<castile_http::Body>;

    /// A response that is being worked on.
    pub type ResponseFuture = std::pin::Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;
}
