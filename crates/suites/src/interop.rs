//! Interoperability tests of SOAP engines: the SOAPBuilders' second round, base and group B, and the calls of the W3C's
//! test collection for SOAP 1.2. All are rpc/encoded, in both versions of SOAP.
//!
//! The services echo their requests. `castile serve` mounts them in addition to the benchmarks, so that any client can
//! call them.

use castile::http::server::Routes;
use castile::{Fault, Request, Response};

/// The base contract, generated.
pub mod base {
    castile::include_contract!("interop_base");
}

/// The contract of group B, generated.
pub mod group_b {
    castile::include_contract!("interop_group_b");
}

/// The contract of the collection's calls, generated.
pub mod collection {
    castile::include_contract!("soap12_collection");
}

/// The path of the base service.
pub const BASE_PATH: &str = "/interop/base";
/// The path of the group B service.
pub const GROUP_B_PATH: &str = "/interop/group-b";
/// The path of the collection's service.
pub const COLLECTION_PATH: &str = "/interop/soap12";

/// The implementation of all three services.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service;

/// Adds the three services to other routes.
pub fn routes(routes: Routes) -> Routes {
    routes
        .route(BASE_PATH, base::InteropBaseServer::new(Service))
        .route(GROUP_B_PATH, group_b::InteropGroupBServer::new(Service))
        .route(COLLECTION_PATH, collection::Soap12CollectionServer::new(Service))
}

/// Implements methods that echo an accessor in the response.
macro_rules! echo {
    ($($method:ident($request:ident $input:ident) -> $response:ident $output:ident;)*) => {
        $(async fn $method(&self, request: Request<$request>) -> Result<Response<$response>, Fault> {
            Ok($response { $output: request.into_inner().$input }.into())
        })*
    };
}

mod of_base {
    use super::base::*;
    use super::{Fault, Request, Response, Service};

    impl InteropBase for Service {
        echo! {
            echo_string(EchoStringRequest input_string) -> EchoStringResponse output_string;
            echo_string_array(EchoStringArrayRequest input_string_array) -> EchoStringArrayResponse output_string_array;
            echo_integer(EchoIntegerRequest input_integer) -> EchoIntegerResponse output_integer;
            echo_integer_array(EchoIntegerArrayRequest input_integer_array)
                -> EchoIntegerArrayResponse output_integer_array;
            echo_float(EchoFloatRequest input_float) -> EchoFloatResponse output_float;
            echo_float_array(EchoFloatArrayRequest input_float_array) -> EchoFloatArrayResponse output_float_array;
            echo_struct(EchoStructRequest input_struct) -> EchoStructResponse output_struct;
            echo_struct_array(EchoStructArrayRequest input_struct_array) -> EchoStructArrayResponse output_struct_array;
            echo_base64(EchoBase64Request input_base64) -> EchoBase64Response output_base64;
            echo_date(EchoDateRequest input_date) -> EchoDateResponse output_date;
            echo_hex_binary(EchoHexBinaryRequest input_hex_binary) -> EchoHexBinaryResponse output_hex_binary;
            echo_decimal(EchoDecimalRequest input_decimal) -> EchoDecimalResponse output_decimal;
            echo_boolean(EchoBooleanRequest input_boolean) -> EchoBooleanResponse output_boolean;
        }

        async fn echo_void(&self, _: Request<EchoVoidRequest>) -> Result<Response<EchoVoidResponse>, Fault> {
            Ok(EchoVoidResponse {}.into())
        }
    }
}

mod of_group_b {
    use super::group_b::xsd::SoapStruct;
    use super::group_b::*;
    use super::{Fault, Request, Response, Service};

    impl InteropGroupB for Service {
        echo! {
            echo2_d_string_array(Echo2DStringArrayRequest input2_d_string_array) -> Echo2DStringArrayResponse r#return;
            echo_nested_struct(EchoNestedStructRequest input_struct) -> EchoNestedStructResponse r#return;
            echo_nested_array(EchoNestedArrayRequest input_struct) -> EchoNestedArrayResponse r#return;
        }

        async fn echo_struct_as_simple_types(
            &self,
            request: Request<EchoStructAsSimpleTypesRequest>,
        ) -> Result<Response<EchoStructAsSimpleTypesResponse>, Fault> {
            let SoapStruct { var_string, var_int, var_float } = request.into_inner().input_struct.unwrap_or_default();
            Ok(EchoStructAsSimpleTypesResponse {
                output_string: var_string,
                output_integer: var_int,
                output_float: var_float,
            }
            .into())
        }

        async fn echo_simple_types_as_struct(
            &self,
            request: Request<EchoSimpleTypesAsStructRequest>,
        ) -> Result<Response<EchoSimpleTypesAsStructResponse>, Fault> {
            let EchoSimpleTypesAsStructRequest { input_string, input_integer, input_float } = request.into_inner();
            let value = SoapStruct { var_string: input_string, var_int: input_integer, var_float: input_float };
            Ok(EchoSimpleTypesAsStructResponse { r#return: Some(value) }.into())
        }
    }
}

mod of_collection {
    use super::collection::xsd::SoapStruct;
    use super::collection::*;
    use super::{Fault, Request, Response, Service};

    impl Soap12Collection for Service {
        echo! {
            echo_struct(EchoStructRequest input_struct) -> EchoStructResponse r#return;
            echo_struct_array(EchoStructArrayRequest input_struct_array) -> EchoStructArrayResponse r#return;
            echo_nested_struct(EchoNestedStructRequest input_struct) -> EchoNestedStructResponse r#return;
            echo_nested_array(EchoNestedArrayRequest input_struct) -> EchoNestedArrayResponse r#return;
            echo_float_array(EchoFloatArrayRequest input_float_array) -> EchoFloatArrayResponse r#return;
            echo_string_array(EchoStringArrayRequest input_string_array) -> EchoStringArrayResponse r#return;
            echo_integer_array(EchoIntegerArrayRequest input_integer_array) -> EchoIntegerArrayResponse r#return;
            echo_base64(EchoBase64Request input_base64) -> EchoBase64Response r#return;
            echo_boolean(EchoBooleanRequest input_boolean) -> EchoBooleanResponse r#return;
            echo_date(EchoDateRequest input_date) -> EchoDateResponse r#return;
            echo_decimal(EchoDecimalRequest input_decimal) -> EchoDecimalResponse r#return;
            echo_float(EchoFloatRequest input_float) -> EchoFloatResponse r#return;
            echo_string(EchoStringRequest input_string) -> EchoStringResponse r#return;
        }

        async fn return_void(&self, _: Request<ReturnVoidRequest>) -> Result<Response<ReturnVoidResponse>, Fault> {
            Ok(ReturnVoidResponse {}.into())
        }

        async fn echo_struct_as_simple_types(
            &self,
            request: Request<EchoStructAsSimpleTypesRequest>,
        ) -> Result<Response<EchoStructAsSimpleTypesResponse>, Fault> {
            let SoapStruct { var_string, var_int, var_float } = request.into_inner().input_struct.unwrap_or_default();
            Ok(EchoStructAsSimpleTypesResponse {
                output_string: var_string,
                output_integer: var_int,
                output_float: var_float,
            }
            .into())
        }

        async fn echo_simple_types_as_struct(
            &self,
            request: Request<EchoSimpleTypesAsStructRequest>,
        ) -> Result<Response<EchoSimpleTypesAsStructResponse>, Fault> {
            let EchoSimpleTypesAsStructRequest { input_string, input_int, input_float } = request.into_inner();
            let value = SoapStruct { var_string: input_string, var_int: input_int, var_float: input_float };
            Ok(EchoSimpleTypesAsStructResponse { r#return: Some(value) }.into())
        }

        async fn count_items(
            &self,
            request: Request<CountItemsRequest>,
        ) -> Result<Response<CountItemsResponse>, Fault> {
            let count = request.into_inner().input_string_array.map_or(0, |array| array.0.len());
            // A message can't contain more items than that.
            Ok(CountItemsResponse { r#return: Some(i32::try_from(count).unwrap_or(i32::MAX)) }.into())
        }

        async fn is_nil(&self, request: Request<IsNilRequest>) -> Result<Response<IsNilResponse>, Fault> {
            Ok(IsNilResponse { r#return: Some(request.into_inner().input_string.is_none()) }.into())
        }

        async fn echo_header(&self, request: Request<String>) -> Result<Response<String>, Fault> {
            let header = request.header::<RequiredHeader>()?;
            Ok(header.map_or_else(String::new, |RequiredHeader(text)| text).into())
        }
    }
}
