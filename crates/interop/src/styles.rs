//! The contracts of all styles. The generated type of a message depends on the style: a struct for the element around
//! the value, a struct for the parts, or the type of the value. [`Message`] hides the difference.

use std::error::Error;

use anyhow::bail;
use castile::codegen::{FromXml, Operation, ToXml};
use castile::soap::Version;
use castile::{Any, ClientOptions};

use crate::plan::{Job, Outcome};

/// A style of messages.
pub(crate) trait Style {
    /// The member of a message that holds its value.
    type Member<T>: From<T> + Into<Option<T>>;
}

/// The message is an element around the value.
pub(crate) struct Wrapped;

/// The message is the value.
pub(crate) struct Bare;

/// The message is an element around parts.
pub(crate) struct Rpc;

/// The message is an element around parts that may be absent.
pub(crate) struct Encoded;

impl Style for Wrapped {
    type Member<T> = T;
}

impl Style for Bare {
    type Member<T> = T;
}

impl Style for Rpc {
    type Member<T> = T;
}

impl Style for Encoded {
    type Member<T> = Option<T>;
}

/// A request or response with one value.
pub(crate) trait Message<S: Style>: FromXml + ToXml + Send + Sync + 'static {
    type Value: FromXml;

    fn new(member: S::Member<Self::Value>) -> Self;
    fn into_member(self) -> S::Member<Self::Value>;

    fn of(value: Self::Value) -> Self {
        Self::new(value.into())
    }
}

impl<T: FromXml + ToXml + Send + Sync + 'static> Message<Bare> for T {
    type Value = T;

    fn new(value: T) -> Self {
        value
    }

    fn into_member(self) -> T {
        self
    }
}

/// A request or response with a text.
pub(crate) trait Text<S: Style>: Message<S, Value = String> {
    /// Returns the text, which is empty if it is absent.
    fn into_text(self) -> String {
        self.into_member().into().unwrap_or_default()
    }
}

impl<S: Style, T: Message<S, Value = String>> Text<S> for T {}

/// Calls `contract` with the operations that the contracts of all styles have, and with further ones. The columns are:
/// name, method, request in wrapped style, request in rpc style, response in both, and value, which is the message in
/// bare style.
macro_rules! echoes {
    ($style:ident; $($more:tt)*) => {
        contract! {
            $style EchoHeader EchoHeaderRequest EchoHeaderResponse;
            "echoString" echo_string EchoString EchoStringRequest EchoStringResponse String;
            "echoBoolean" echo_boolean EchoBoolean EchoBooleanRequest EchoBooleanResponse bool;
            "echoByte" echo_byte EchoByte EchoByteRequest EchoByteResponse i8;
            "echoShort" echo_short EchoShort EchoShortRequest EchoShortResponse i16;
            "echoInt" echo_int EchoInt EchoIntRequest EchoIntResponse i32;
            "echoLong" echo_long EchoLong EchoLongRequest EchoLongResponse i64;
            "echoUnsignedByte" echo_unsigned_byte EchoUnsignedByte EchoUnsignedByteRequest EchoUnsignedByteResponse u8;
            "echoUnsignedShort" echo_unsigned_short EchoUnsignedShort EchoUnsignedShortRequest EchoUnsignedShortResponse
                u16;
            "echoUnsignedInt" echo_unsigned_int EchoUnsignedInt EchoUnsignedIntRequest EchoUnsignedIntResponse u32;
            "echoUnsignedLong" echo_unsigned_long EchoUnsignedLong EchoUnsignedLongRequest EchoUnsignedLongResponse u64;
            "echoInteger" echo_integer EchoInteger EchoIntegerRequest EchoIntegerResponse Integer;
            "echoDecimal" echo_decimal EchoDecimal EchoDecimalRequest EchoDecimalResponse Decimal;
            "echoFloat" echo_float EchoFloat EchoFloatRequest EchoFloatResponse f32;
            "echoDouble" echo_double EchoDouble EchoDoubleRequest EchoDoubleResponse f64;
            "echoDateTime" echo_date_time EchoDateTime EchoDateTimeRequest EchoDateTimeResponse DateTime;
            "echoDate" echo_date EchoDate EchoDateRequest EchoDateResponse Date;
            "echoBase64" echo_base64 EchoBase64 EchoBase64Request EchoBase64Response Base64Binary;
            "echoHexBinary" echo_hex_binary EchoHexBinary EchoHexBinaryRequest EchoHexBinaryResponse HexBinary;
            "echoColour" echo_colour EchoColour EchoColourRequest EchoColourResponse Colour;
            "echoStruct" echo_struct EchoStruct EchoStructRequest EchoStructResponse Struct;
            "echoNested" echo_nested EchoNested EchoNestedRequest EchoNestedResponse Nested;
            "echoAbsence" echo_absence EchoAbsence EchoAbsenceRequest EchoAbsenceResponse Absence;
            "echoShape" echo_shape EchoShape EchoShapeRequest EchoShapeResponse ShapeOrDerived;
            $($more)*
        }
    };
}

/// Calls `contract` with the operations of contracts with literal use.
macro_rules! literal {
    ($style:ident) => {
        echoes! {
            $style;
            "echoList" echo_list EchoList EchoListRequest EchoListResponse List;
            "echoChoice" echo_choice EchoChoice EchoChoiceRequest EchoChoiceResponse Choice;
            "echoMarked" echo_marked EchoMarked EchoMarkedRequest EchoMarkedResponse Marked;
            "echoDrawing" echo_drawing EchoDrawing EchoDrawingRequest EchoDrawingResponse Drawing;
        }
    };
}

/// The type of a request in a style.
macro_rules! request {
    (Wrapped $wrapped:ident $rpc:ident $value:ident) => {
        $wrapped
    };
    (Bare $wrapped:ident $rpc:ident $value:ident) => {
        $value
    };
    ($style:ident $wrapped:ident $rpc:ident $value:ident) => {
        $rpc
    };
}

/// The type of a response in a style.
macro_rules! response {
    (Bare $response:ident $value:ident) => {
        $value
    };
    ($style:ident $response:ident $value:ident) => {
        $response
    };
}

/// Implements [`Message`] for a generated struct.
macro_rules! message {
    (Bare $message:ty, $member:ident: $value:ident) => {};
    ($style:ident $message:ty, $member:ident: $value:ident) => {
        impl Message<$style> for $message {
            type Value = $value;

            fn new($member: <$style as Style>::Member<$value>) -> Self {
                Self { $member }
            }

            fn into_member(self) -> <$style as Style>::Member<$value> {
                self.$member
            }
        }
    };
}

/// Implements the service, the client and the messages of a contract.
macro_rules! contract {
    (
        $style:ident $($header:ident $rpc_header:ident $answered_header:ident)?;
        $($name:literal $method:ident $wrapped:ident $rpc:ident $response:ident $value:ident;)*
    ) => {
        $(
            message!($style request!($style $wrapped $rpc $value), value: $value);
            message!($style response!($style $response $value), answer: $value);
        )*
        $(
            message!($style request!($style $header $rpc_header String), value: String);
            message!($style response!($style $answered_header String), answer: String);
        )?
        message!($style request!($style Fail FailRequest String), value: String);
        message!($style response!($style FailResponse String), answer: String);
        message!($style request!($style Notify NotifyRequest String), value: String);
        message!($style response!($style LastNoticeResponse String), answer: String);

        fn refusal(reason: String, code: i32) -> FailFault {
            FailFault::Refusal(Refusal { reason: reason.into(), code: code.into() })
        }

        impl Echo for Service {
            $(async fn $method(
                &self,
                request: Request<request!($style $wrapped $rpc $value)>,
            ) -> Answer<response!($style $response $value)> {
                self.echo($style, request)
            })*

            async fn echo_void(
                &self,
                _: Request<request!($style EchoVoid EchoVoidRequest Nothing)>,
            ) -> Answer<response!($style EchoVoidResponse Nothing)> {
                Ok(Response::default())
            }

            $(async fn echo_header(
                &self,
                request: Request<request!($style $header $rpc_header String)>,
            ) -> Answer<response!($style $answered_header String)> {
                self.echo_header($style, request, |TokenHeader(token)| ReceiptHeader(operations::receipt(&token)))
            })?

            async fn fail(
                &self,
                request: Request<request!($style Fail FailRequest String)>,
            ) -> Answer<response!($style FailResponse String), FailFault> {
                self.fail($style, request, refusal)
            }

            async fn notify(&self, request: Request<request!($style Notify NotifyRequest String)>) -> Answer<()> {
                self.notify($style, request)
            }

            async fn last_notice(
                &self,
                _: Request<request!($style LastNotice LastNoticeRequest Nothing)>,
            ) -> Answer<response!($style LastNoticeResponse String)> {
                self.last_notice($style)
            }
        }

        pub(crate) async fn call(job: &Job) -> anyhow::Result<()> {
            let client = &EchoClient::new(&job.url)?.with_options(options(job)?);
            call_all(job, async |case| match case.operation.as_str() {
                $($name => operations::echo($style, client, EchoClient::$method, &ECHO_OPERATIONS, case).await,)*
                "echoVoid" => operations::echo_void(client, EchoClient::echo_void).await,
                $("echoHeader" => {
                    let method: Method<_, request!($style $header $rpc_header String), _> = EchoClient::echo_header;
                    let receipt = |ReceiptHeader(receipt)| receipt;
                    operations::echo_header($style, client, method, TokenHeader, receipt, case).await
                })?
                "fail" => {
                    let refusal =
                        |FailFault::Refusal(Refusal { reason, code }): &_| json!({ "reason": reason, "code": code });
                    operations::fail($style, client, EchoClient::fail, refusal, case).await
                }
                "notify" => {
                    operations::notify($style, client, EchoClient::notify, EchoClient::last_notice, case).await
                }
                other => Ok(Outcome::Error(format!("there is no operation {other}"))),
            })
            .await
        }
    };
}

/// The imports of the modules of contracts.
mod prelude {
    pub(super) use castile::datatypes::{Base64Binary, Date, DateTime, Decimal, HexBinary, Integer};
    pub(super) use castile::{Request, Response};
    pub(super) use serde_json::json;

    pub(super) use super::{Bare, Encoded, Message, Rpc, Style, Wrapped, options};
    pub(super) use crate::Service;
    pub(super) use crate::operations::{self, Answer, Method};
    pub(super) use crate::plan::{Job, Outcome, call_all};
}

/// Document style: the request is an element that has the operation's name and contains the value.
pub(crate) mod wrapped {
    pub(crate) mod contract {
        castile::include_contract!("wrapped");
    }

    use super::prelude::*;
    use contract::*;

    literal!(Wrapped);
}

/// Document style: the request is an element of the value's type.
pub(crate) mod bare {
    pub(crate) mod contract {
        castile::include_contract!("bare");
    }

    use super::prelude::*;
    use contract::*;

    literal!(Bare);
}

/// Rpc style: the request has a part for the value.
pub(crate) mod rpc {
    pub(crate) mod contract {
        castile::include_contract!("rpc");
    }

    use super::prelude::*;
    use contract::*;

    literal!(Rpc);
}

/// Rpc style in SOAP encoding: every part may be absent.
pub(crate) mod encoded {
    pub(crate) mod contract {
        castile::include_contract!("encoded");
    }

    use super::prelude::*;
    use contract::*;

    echoes! {
        Encoded;
        "echoInts" echo_ints EchoInts EchoIntsRequest EchoIntsResponse ArrayOfInt;
        "echoStrings" echo_strings EchoStrings EchoStringsRequest EchoStringsResponse ArrayOfString;
        "echoStructs" echo_structs EchoStructs EchoStructsRequest EchoStructsResponse ArrayOfStruct;
        "echoShapes" echo_shapes EchoShapes EchoShapesRequest EchoShapesResponse ArrayOfShape;
        "echoPair" echo_pair EchoPair EchoPairRequest EchoPairResponse Pair;
    }
}

/// Document style as in [`wrapped`], with WS-Addressing. The contract requires it, and no further code is needed.
pub(crate) mod addressing {
    pub(crate) mod contract {
        castile::include_contract!("addressing");
    }

    use super::prelude::*;
    use contract::*;

    contract! {
        Wrapped;
        "echoString" echo_string EchoString EchoStringRequest EchoStringResponse String;
        "echoStruct" echo_struct EchoStruct EchoStructRequest EchoStructResponse Struct;
    }
}

/// Returns the client's options for a job.
pub(crate) fn options(job: &Job) -> anyhow::Result<ClientOptions> {
    let mut options = ClientOptions::default();
    options.version = Some(match job.version.as_str() {
        "11" => Version::Soap11,
        "12" => Version::Soap12,
        other => bail!("there is no SOAP version {other}"),
    });
    Ok(options)
}

/// Returns a response as XML, in the response element of its operation.
pub(crate) fn as_xml<T: ToXml>(operations: &[Operation], name: &str, response: &T) -> Result<Outcome, Box<dyn Error>> {
    let root = operations.iter().find(|operation| operation.name == name).and_then(|found| found.response.as_ref());
    let root = root.ok_or("the operation has no response")?;
    Ok(Outcome::Xml(Any::from_value(root.start, response, root.end)?.xml().into_owned()))
}
