//! The operations with their names in generated code, and their implementation for every style.

/// Passes the table of echoes to a macro: operation, method, request of wrapped style, request of rpc style, response of
/// both, value. The caller adds further operations to those that all contracts have.
macro_rules! echoes {
    ($then:ident, $($more:tt)*) => {
        $then! {
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

/// The echoes of literal contracts.
macro_rules! literal_echoes {
    ($then:ident) => {
        echoes! {
            $then,
            "echoList" echo_list EchoList EchoListRequest EchoListResponse List;
            "echoChoice" echo_choice EchoChoice EchoChoiceRequest EchoChoiceResponse Choice;
            "echoMarked" echo_marked EchoMarked EchoMarkedRequest EchoMarkedResponse Marked;
            "echoDrawing" echo_drawing EchoDrawing EchoDrawingRequest EchoDrawingResponse Drawing;
        }
    };
}

/// The echoes of contracts in SOAP encoding.
macro_rules! encoded_echoes {
    ($then:ident) => {
        echoes! {
            $then,
            "echoInts" echo_ints EchoInts EchoIntsRequest EchoIntsResponse ArrayOfInt;
            "echoStrings" echo_strings EchoStrings EchoStringsRequest EchoStringsResponse ArrayOfString;
            "echoStructs" echo_structs EchoStructs EchoStructsRequest EchoStructsResponse ArrayOfStruct;
            "echoShapes" echo_shapes EchoShapes EchoShapesRequest EchoShapesResponse ArrayOfShape;
            "echoPair" echo_pair EchoPair EchoPairRequest EchoPairResponse Pair;
        }
    };
}

/// The echoes of the WS-Addressing contract.
macro_rules! addressing_echoes {
    ($then:ident) => {
        $then! {
            "echoString" echo_string EchoString EchoStringRequest EchoStringResponse String;
            "echoStruct" echo_struct EchoStruct EchoStructRequest EchoStructResponse Struct;
        }
    };
}

/// Implements the service. The calling module must define the macros `request_type`, `response_type`, `value`,
/// `response`, `answer` and `present`, which describe the messages of the style, and `header_method` for the operation
/// with header blocks.
macro_rules! service {
    ($($name:literal $method:ident $wrapped:ident $rpc:ident $response:ident $bare:ident;)*) => {
        impl contract::Echo for Service {
            $(async fn $method(
                &self,
                request: Request<request_type!($wrapped $rpc $bare)>,
            ) -> Result<Response<response_type!($response $bare)>, Fault> {
                Ok(answer!($response, request.into_inner()).into())
            })*

            async fn echo_void(
                &self,
                _: Request<request_type!(EchoVoid EchoVoidRequest Nothing)>,
            ) -> Result<Response<response_type!(EchoVoidResponse Nothing)>, Fault> {
                Ok(Response::default())
            }

            header_method!();

            async fn fail(
                &self,
                request: Request<request_type!(Fail FailRequest String)>,
            ) -> Result<Response<response_type!(FailResponse String)>, Fault<FailFault>> {
                let refusal = Refusal { reason: present!(value!(request.into_inner())), code: present!(REFUSAL_CODE) };
                Err(Fault::receiver("refused").with_detail(FailFault::Refusal(refusal)))
            }

            async fn notify(
                &self,
                request: Request<request_type!(Notify NotifyRequest String)>,
            ) -> Result<Response<()>, Fault> {
                Service::notify(self, value!(request.into_inner()));
                Ok(Response::default())
            }

            async fn last_notice(
                &self,
                _: Request<request_type!(LastNotice LastNoticeRequest Nothing)>,
            ) -> Result<Response<response_type!(LastNoticeResponse String)>, Fault> {
                Ok(response!(LastNoticeResponse, Service::last_notice(self)).into())
            }
        }
    };
}

/// The server's operation with declared header blocks.
macro_rules! header_method {
    () => {
        async fn echo_header(
            &self,
    request: Request<request_type!(EchoHeader EchoHeaderRequest String)>,
) -> Result<Response<response_type!(EchoHeaderResponse String)>, Fault> {
            let token = request.header::<TokenHeader>()?;
            let response = Response::new(response!(EchoHeaderResponse, value!(request.into_inner())));
            Ok(match token {
                Some(TokenHeader(token)) => response.with_header(ReceiptHeader(receipt(&token))),
                None => response,
            })
        }
    };
}

/// Calls the operation with declared header blocks.
macro_rules! header_call {
    ($client:ident, $case:ident) => {{
        let token = TokenHeader($case.text("token"));
        let request = request!(EchoHeader EchoHeaderRequest, $case.text("value"));
        let response = $client.echo_header(&request).header(&token).send().await?;
        let receipt = response.header::<ReceiptHeader>()?.map(|ReceiptHeader(receipt)| receipt);
        Outcome::Value(json!({ "result": result!(response.into_inner()), "receipt": receipt }))
    }};
}

/// Returns a required member of a struct: the member itself, since its type isn't optional.
macro_rules! present {
    ($value:expr) => {
        $value
    };
}

/// Defines the function that calls all cases of a job. In addition to the macros of `service`, the calling module must
/// define `request` and `result`, which describe the messages of the style, and `header_call` for the operation with
/// header blocks.
macro_rules! client {
    ($($name:literal $method:ident $wrapped:ident $rpc:ident $response:ident $bare:ident;)*) => {
        pub(crate) async fn call(job: &Job) -> anyhow::Result<()> {
            let client = EchoClient::new(&job.url)?.with_options(options(job)?);
            for case in &job.cases {
                let outcome = outcome(&client, case).await.unwrap_or_else(|error| Outcome::Error(error.to_string()));
                report(job, case, outcome)?;
            }
            Ok(())
        }

        async fn outcome(client: &EchoClient, case: &Case) -> Result<Outcome, Box<dyn Error>> {
            Ok(match case.operation.as_str() {
                $($name => {
                    let value = Any::parse(&case.xml)?.read()?;
                    let response = client.$method(&request!($wrapped $rpc, value)).await?;
                    as_xml(&ECHO_OPERATIONS, $name, &response)?
                })*
                "echoVoid" => {
                    client.echo_void(&Default::default()).await?;
                    Outcome::Value(Value::Null)
                }
                "echoHeader" => header_call!(client, case),
                "fail" => match client.fail(&request!(Fail FailRequest, case.text(""))).await {
                    Err(CallError::Fault { fault: Fault { detail: Detail::Declared(FailFault::Refusal(refusal)), .. }, .. }) => {
                        Outcome::Value(json!({ "reason": refusal.reason, "code": refusal.code }))
                    }
                    Err(other) => Outcome::Error(other.to_string()),
                    Ok(_) => Outcome::Error("a response, expected the declared fault".to_owned()),
                },
                "notify" => {
                    client.notify(&request!(Notify NotifyRequest, case.text(""))).await?;
                    let mut notice = String::new();
                    for _ in 0..NOTICE_TRIES {
                        notice = result!(client.last_notice(&Default::default()).await?);
                        if !notice.is_empty() {
                            break;
                        }
                        sleep(NOTICE_PAUSE).await;
                    }
                    Outcome::Value(notice.into())
                }
                other => Outcome::Error(format!("no operation is called {other}")),
            })
        }
    };
}

pub(crate) use {
    addressing_echoes, client, echoes, encoded_echoes, header_call, header_method, literal_echoes, present, service,
};
