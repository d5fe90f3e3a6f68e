//! SOAP web services from a WSDL: typed server and client.
//!
//! A build script compiles the contract:
//!
//! ```no_run
//! # mod castile_codegen { pub fn compile(_: &str) {} }
//! // build.rs
//! fn main() {
//!     castile_codegen::compile("contracts/orders.wsdl");
//! }
//! ```
//!
//! [`include_contract!`] includes the generated code in a module: `mod orders { castile::include_contract!("orders"); }`. The
//! module has a struct for each type. For each service it has a trait to implement, a server and a client.
//!
//! ```
//! # mod orders {
//! #     pub struct Place { pub item: String }
//! #     pub struct PlaceResponse { pub number: i32 }
//! #     pub trait Orders: Send + Sync + 'static {
//! #         fn place(&self, request: castile::Request<Place>)
//! #         -> impl Future<Output = Result<castile::Response<PlaceResponse>, castile::Fault>> + Send;
//! #     }
//! # }
//! use castile::{Fault, Request, Response};
//! use orders::{Orders, Place, PlaceResponse};
//!
//! struct Shop;
//!
//! impl Orders for Shop {
//!     async fn place(&self, request: Request<Place>) -> Result<Response<PlaceResponse>, Fault> {
//!         match request.into_inner().item.as_str() {
//!             "tea" => Ok(PlaceResponse { number: 7 }.into()),
//!             other => Err(Fault::sender(format!("{other} is not sold"))),
//!         }
//!     }
//! }
//! ```
//!
//! `OrdersServer::new(Shop)` is a tower service. `OrdersClient::new(url)?.place(&order).await` calls it. A [`Request`] and a
//! [`Response`] carry header blocks and attachments in addition to the message; a client sets them on a [`Call`]. [`ServerOptions`]
//! and [`ClientOptions`] configure limits and behaviour. With the feature `tls`, which is on by default, clients call `https` URLs
//! and servers speak TLS. `docs/recipes.md` in the repository has programs for common tasks.
//!
//! The server answers a message that violates the contract with a [`Fault`] that names the place of the error. Sizes, depth and
//! times are limited by default.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "macros")]
mod own;
#[cfg(feature = "server")]
mod server;

pub use castile_budget::{Budget, Charged, Reservation};
#[cfg(feature = "macros")]
pub use castile_contract::Error as ContractError;
#[cfg(feature = "macros")]
pub use castile_databinding::Adapter;
pub use castile_databinding::document::Document;
pub use castile_databinding::encoded::{Array, Shared};
pub use castile_databinding::{
    Any, AnyAttribute, AnyContent, AnyElements, AnyPiece, AnyType, Decoder, Deviations, Encoder, ExpandedName, FromXml,
    Items, Nillable, NillableWithAttributes, Recursive, ToXml,
};
#[cfg(feature = "server")]
pub use castile_http::server::Options as ServerOptions;
/// Compile errors in the code that the macros generate for types and traits of a program. The macros themselves report all other
/// errors.
///
/// A value larger than 1 KiB:
///
/// ```compile_fail,E0080
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a", unqualified)]
/// struct Large {
///     a: Part, b: Part, c: Part, d: Part, e: Part, f: Part, g: Part, h: Part,
/// }
///
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a", unqualified)]
/// struct Part {
///     a: String, b: String, c: String, d: String, e: String, f: String, g: String, h: String,
/// }
/// ```
///
/// A type that a contract can't declare:
///
/// ```compile_fail,E0277
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a")]
/// struct Order {
///     within: std::time::Instant,
/// }
/// ```
///
/// A default for a type that is not a simple type:
///
/// ```compile_fail,E0277
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a")]
/// struct Order {
///     #[xml(default = "x")]
///     inner: Option<Box<Order>>,
/// }
/// ```
///
/// A variant whose type doesn't extend the type of the enum:
///
/// ```compile_fail,E0080
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a", derived)]
/// enum Shape {
///     Circle(Circle),
/// }
///
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a")]
/// struct Circle {
///     radius: i32,
/// }
/// ```
///
/// A type that extends another type but doesn't have its fields:
///
/// ```compile_fail,E0080
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a", derived)]
/// enum Shape {
///     #[xml(itself)]
///     Plain(Plain),
///     Circle(Circle),
/// }
///
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a", name = "Shape")]
/// struct Plain {
///     name: String,
/// }
///
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a", extends = Shape)]
/// struct Circle {
///     radius: i32,
/// }
/// ```
///
/// A type that extends a struct instead of an enum:
///
/// ```compile_fail,E0080
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a")]
/// struct Shape {
///     name: String,
/// }
///
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a", extends = Shape)]
/// struct Circle {
///     name: String,
///     radius: i32,
/// }
/// ```
///
/// A type that replaces a type of a contract but differs from it:
///
/// ```compile_fail,E0080
/// use castile::codegen::declared::{Declared, ExpectedContent, ExpectedType, fits};
///
/// #[derive(Clone, Debug, castile::Xml)]
/// #[xml(namespace = "urn:a")]
/// struct Order {
///     number: i32,
/// }
///
/// const _: () = fits(
///     <Order as Declared>::DECLARATION,
///     &ExpectedType {
///         name: None,
///         attributes: &[],
///         any_attributes: None,
///         content: ExpectedContent::Sequence(&[]),
///         other_name: "",
///         more_attributes: "",
///         other_content: "`Order` is not what the contract says",
///     },
/// );
/// ```
#[cfg(all(doctest, feature = "macros"))]
struct Refused;

#[cfg(feature = "macros")]
pub use castile_macros::{Document, FaultDetail, Header, Xml, service};
pub use castile_soap::{
    AnyHeader, Detail, Directed, Fault, FaultCode, Header, Leniency, NoDetail, Raw, Request, Response, WriteHeader,
};
#[cfg(feature = "client")]
pub use client::{AnswerHead, Call, CallError, ClientOptions, HttpService, ItemStream};
#[cfg(feature = "server")]
pub use server::ContractServer;

/// The simple types of XML Schema that have no equivalent in Rust, and the types and traits that simple types of your own need.
pub mod datatypes {
    pub use castile_databinding::datatypes::{
        AnyUri, Base64Binary, Date, DateTime, Decimal, Duration, Entities, Entity, GDay, GMonth, GMonthDay, GYear,
        GYearMonth, HexBinary, Id, Idref, Idrefs, Integer, Invalid, Language, List, Name, NcName, NegativeInteger,
        Nmtoken, Nmtokens, NonNegativeInteger, NonPositiveInteger, NormalizedString, Notation, PositiveInteger,
        Prefixes, QName, Scope, SimpleType, StreamedBinary, Time, Token, Unscoped,
    };
}

/// Documents: XML with a typed root element, without a SOAP envelope. `castile gen` and `castile::include_contract!` generate types
/// that implement [`Document`] from a schema.
///
/// ```
/// # mod orders {
/// #     use castile::codegen::*;
/// #     pub struct Order { pub item: String }
/// #     static ORDER: [Element; 1] = [Element::new("urn:orders", "item", 1)];
/// #     impl ComplexType for Order {
/// #         fn read(decoder: &mut Decoder<'_>) -> Result<Self, Error> {
/// #             Ok(Order { item: decoder.required(&ORDER, 0)? })
/// #         }
/// #         fn write(&self, out: &mut Encoder) { out.element("<item>", &self.item, "</item>"); }
/// #     }
/// #     impl castile::Document for Order {
/// #         const ELEMENT: &'static Element = &Element::new("urn:orders", "order", 0);
/// #         fn read(decoder: &mut Decoder<'_>) -> Result<Self, Error> { decoder.root(Self::ELEMENT) }
/// #         fn write(&self, out: &mut Encoder) { out.element("<order xmlns=\"urn:orders\">", self, "</order>"); }
/// #     }
/// # }
/// use castile::document;
/// use orders::Order;
///
/// let order: Order = document::from_str("<order xmlns='urn:orders'><item>tea</item></order>")?;
/// assert_eq!(order.item, "tea");
/// assert!(document::to_string(&order)?.ends_with("<order xmlns=\"urn:orders\"><item>tea</item></order>"));
/// # Ok::<(), document::Error>(())
/// ```
pub mod document {
    pub use castile_databinding::document::{
        Items, Options, Repeats, Source, from_slice, from_str, open, to_string, to_vec,
    };
    pub use castile_databinding::{Error, ErrorKind};
}

/// SOAP over HTTP.
pub mod http {
    pub use castile_http::{Body, Error, ErrorKind, Workers};

    /// The HTTP client: transport, connections and their options.
    #[cfg(feature = "client")]
    pub mod client {
        pub use castile_http::client::{
            ConnectTimes, Credentials, Options, Proxies, Redirects, ResponseBody, Retries, Transport,
        };
        #[cfg(feature = "openssl")]
        pub use castile_http::client::{Legacy, LegacyVersion};
        #[cfg(feature = "tls")]
        pub use castile_http::client::{Roots, Tls, TlsOptions};
    }

    /// Endpoints, and an HTTP/1 server to run them.
    #[cfg(feature = "server")]
    pub mod server {
        #[cfg(feature = "metrics")]
        pub use castile_http::server::Metrics;
        pub use castile_http::server::{
            AccessLog, Address, Authentication, ClientAddress, Connection, CutOff, Endpoint, Exchange,
            HandshakeFailure, Listener, Load, Observer, ObserverLayer, Options, Outcome, ProxiedStream, Proxies,
            ProxyHeader, ProxyProtocol, Routes, Server, Shutdown, Status, TlsPeer, share_port, shutdown_signal,
        };
        #[cfg(feature = "tls")]
        pub use castile_http::server::{ClientCertificates, ClientRoots, Tls, TlsListener, TlsOptions, TlsStream};
        #[cfg(feature = "tracing")]
        pub use castile_http::server::{Events, Spans};
    }

    /// TLS identities, certificates and versions, for clients and servers.
    #[cfg(feature = "tls")]
    pub mod tls {
        pub use castile_http::tls::{Identity, Pem, TlsVersion};
    }
}

/// Attachments: SOAP Messages with Attachments, and MTOM.
pub mod mime {
    pub use castile_mime::{
        Attachment, Attachments, Content, ContentId, Error, ErrorKind, Inspector, Limits, Packaging, Part, PartHead,
        UnverifiedAttachment,
    };
}

/// Messages as layers see them, between the network and the methods of a service.
pub mod soap {
    pub use castile_soap::{
        Description, Direction, Document, Error, ErrorKind, FromFn, Layer, MessageLog, MessageSecurity, Mtom, Next,
        Offloading, Operation, Options, Page, Pending, Reason, ReasonText, Received, Redaction, ReplyMessage,
        RequestMessage, SecuredRequest, Service, Step, Trace, Version, from_fn, layer_fn,
    };

    /// WS-Addressing: endpoint references, message properties, and where replies are sent.
    pub mod addressing {
        pub use castile_soap::addressing::{
            EndpointReference, FaultKind, Policy, Problem, Properties, RelatesTo, Replies, Usage, Version,
        };
    }
}

/// WS-Security and signatures of documents.
#[cfg(feature = "wss")]
pub mod wss {
    pub use castile_wss::{
        Algorithms, Certificate, Curve, DigestAlgorithm, Error, ErrorKind, ExplainedAssertion, ExplainedAttachment,
        ExplainedConfirmation, ExplainedContent, ExplainedKey, ExplainedPart, ExplainedReference, ExplainedSecurity,
        ExplainedSignature, ExplainedUsername, Explainer, Explanation, Limits, PrivateKey, PublicKey, RevocationList,
        Secret, SignatureAlgorithm, Signer, SigningKey, Trust, VerifiedContent, VerifiedReference, VerifiedSignature,
        explain, explain_message,
    };

    /// Signatures of documents, without SOAP: enveloped, enveloping and detached.
    pub mod document {
        pub use castile_wss::document::{DocumentSigner, DocumentVerifier, Place, VerifiedDocument};
    }

    /// Security of SOAP messages.
    pub mod message {
        pub use castile_wss::message::{
            Assertion, AssertionAttribute, AssertionPolicy, AttributeValue, Authentication, CertificateForm,
            ClientSecurity, ConfirmationMethod, OutgoingSecurity, Part, PasswordForm, Passwords, Policy, Remembered,
            ReplayCache, ReplayMemory, SamlVersion, Secured, SecurityLayer, Subject, UsernameToken, VerifiedMessage,
        };
    }
}

/// XML as tokens, for programs that parse messages themselves.
pub mod xml {
    pub use castile_xml::{
        Attribute, Charset, Error, ErrorKind, Limits, NamespaceId, Reader, StartTag, Token, visible,
    };

    /// Canonical forms, for signatures of documents.
    pub mod c14n {
        pub use castile_xml::c14n::{Algorithm, Version};
    }
}

/// Includes the module that `castile_codegen::compile("….wsdl")` generated in the build script. The name is the name of the
/// contract's file without its extension.
#[macro_export]
macro_rules! include_contract {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}

/// Declares a header block that is in no contract, for example an API key or a token. The type works like a header block of a
/// contract: it is sent with [`Call::header`](crate::Call::header) and read with [`Request::header`]. Its content is a value of a
/// simple type: a text, a number, or one of [`datatypes`]. A service that accepts the block with `mustUnderstand` lists it in
/// [`soap::Options::understood`].
///
/// ```
/// castile::header! {
///     /// Who asks.
///     pub struct ApiKey(String) = "urn:example:keys", "key";
/// }
///
/// let request = castile::Request::new(()).with_header(ApiKey("open sesame".into()));
/// let key = request.header::<ApiKey>()?.map(|ApiKey(key)| key);
/// assert_eq!(key.as_deref(), Some("open sesame"));
/// # Ok::<(), castile::soap::Error>(())
/// ```
#[macro_export]
macro_rules! header {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident($held:ty) = $namespace:literal, $local:literal;) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $name(pub $held);

        const _: fn() = || {
            fn is_simple<T: $crate::codegen::SimpleType>() {}
            is_simple::<$held>();
        };

        impl $crate::Header for $name {
            // The tags of this element are not cached, so it needs no slot of its own.
            const ELEMENT: &'static $crate::codegen::Element =
                &$crate::codegen::Element::new($namespace, $local, u16::MAX);

            fn read(
                decoder: &mut $crate::Decoder<'_>,
            ) -> ::core::result::Result<::core::option::Option<Self>, $crate::codegen::Error> {
                ::core::result::Result::Ok(::core::option::Option::Some(Self(decoder.root(Self::ELEMENT)?)))
            }

            fn write(&self, out: &mut $crate::Encoder) {
                out.raw(concat!("<own:", $local));
                out.attribute("xmlns:own", &::std::string::String::from($namespace));
                out.raw(">");
                $crate::ToXml::content(&self.0, out);
                out.raw(concat!("</own:", $local, ">"));
            }
        }
    };
}

/// The items that generated code uses. Do not use them elsewhere: they change together with the generator.
#[doc(hidden)]
pub mod codegen {
    pub use std::future::Future;

    pub use castile_databinding::datatypes::SimpleType;
    pub use castile_databinding::document::ItemPath;
    pub use castile_databinding::schema::Element;
    pub use castile_databinding::{
        Boxed, ComplexType, Decoder, Encoder, Error, FromXml, Group, Mixed, Nillable, Recursive, ToXml, array,
        conversions, enumeration, facet_value, simple_type, union_value,
    };
    pub use castile_http::Error as HttpError;
    #[cfg(feature = "client")]
    pub use castile_http::client::Transport;
    pub use castile_soap::{
        Description, Document as SoapDocument, Error as SoapError, Fault, FaultDetail, NoDetail, Operation, Payload,
        Pending, Root, Shared, Version as SoapVersion, addressing,
    };

    #[cfg(feature = "macros")]
    pub use crate::own::{
        are_small, can_be_declared, has_elements_alone, is_called, is_of, is_simple, is_small, paged, push_text,
        required_header,
    };
    #[cfg(feature = "macros")]
    pub use castile_contract as contract;
    pub use castile_databinding::declared;
    #[cfg(feature = "macros")]
    pub use castile_databinding::{Adapted, deeper, facets::not_listed};

    // Code that was generated with a page fails to compile without the feature, instead of silently serving no page.
    #[cfg(feature = "page")]
    pub use castile_soap::Page as ServicePage;

    #[cfg(feature = "client")]
    pub use crate::client::{Caller, HttpService};
    #[cfg(feature = "client")]
    pub use crate::constructors;
    #[cfg(feature = "server")]
    pub use crate::server::{Contract, ContractServer};

    /// The tables of generated code.
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
}
