//! Calls the SOAPBuilders' interoperability tests, round 2, on any server, and checks the answers.
//!
//! ```text
//! cargo run -p castile-suites --example interop_client -- BASE_URL GROUP_B_URL [1.1|1.2]
//! ```
//!
//! Prints one line for each call: its name, and `ok` or what is wrong. The exit code is 0 if all
//! are right.

use std::error::Error;
use std::fmt::Debug;
use std::process::ExitCode;

use castile::datatypes::{Base64Binary, HexBinary};
use castile::soap::Version;
use castile::{Array, CallError, ClientOptions};
use castile_suites::interop::{base, group_b};

const USAGE: &str = "usage: interop_client BASE_URL GROUP_B_URL [1.1|1.2]";

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (base, group_b, version) = match arguments.as_slice() {
        [base, group_b] => (base, group_b, "1.1"),
        [base, group_b, version] => (base, group_b, version.as_str()),
        _ => return Err(USAGE.into()),
    };
    let version = match version {
        "1.1" => Version::Soap11,
        "1.2" => Version::Soap12,
        _ => return Err(USAGE.into()),
    };
    let mut wrong = 0;
    of_base(base, version, &mut wrong).await?;
    of_group_b(group_b, version, &mut wrong).await?;
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints whether the answer equals the request.
fn tell<T: PartialEq + Debug>(call: &str, sent: &T, came: Result<T, CallError>, wrong: &mut u32) {
    match came {
        Ok(came) if came == *sent => println!("{call}\tok"),
        Ok(came) => {
            *wrong += 1;
            println!("{call}\tfound {came:?}, where {sent:?} was expected");
        }
        Err(error) => {
            *wrong += 1;
            println!("{call}\t{error}");
        }
    }
}

/// Calls a method with one accessor and compares it with the accessor of the answer.
macro_rules! echo {
    ($client:ident, $wrong:ident, $module:ident, $($method:ident($request:ident $input:ident) $output:ident: $value:expr;)*) => {
        $(
            let value = Some($value);
            let came = $client.$method(&$module::$request { $input: value.clone() }).await;
            tell(stringify!($method), &value, came.map(|response| response.$output), $wrong);
        )*
    };
}

fn in_version(version: Version) -> ClientOptions {
    let mut options = ClientOptions::default();
    options.version = Some(version);
    options
}

async fn of_base(url: &str, version: Version, wrong: &mut u32) -> Result<(), Box<dyn Error>> {
    use base::xsd::{ArrayOfSoapStruct, ArrayOffloat, ArrayOfint, ArrayOfstring, SoapStruct};
    let client = base::InteropBaseClient::new(url)?.with_options(in_version(version));
    let structure = SoapStruct { var_string: Some("a<b & c".into()), var_int: Some(42), var_float: Some(0.5) };
    echo! { client, wrong, base,
        echo_string(EchoStringRequest input_string) output_string: "Grüße, <world> & \"all\"".to_owned();
        echo_string_array(EchoStringArrayRequest input_string_array) output_string_array:
            ArrayOfstring::from(vec!["a".to_owned(), "b".to_owned()]);
        echo_integer(EchoIntegerRequest input_integer) output_integer: i32::MIN;
        echo_integer_array(EchoIntegerArrayRequest input_integer_array) output_integer_array:
            ArrayOfint::from(vec![1, -2, 3]);
        echo_float(EchoFloatRequest input_float) output_float: 342.25;
        echo_float_array(EchoFloatArrayRequest input_float_array) output_float_array:
            ArrayOffloat::from(vec![1.5, -0.25]);
        echo_struct(EchoStructRequest input_struct) output_struct: structure.clone();
        echo_struct_array(EchoStructArrayRequest input_struct_array) output_struct_array:
            ArrayOfSoapStruct::from(vec![structure.clone(), structure.clone()]);
        echo_base64(EchoBase64Request input_base64) output_base64: Base64Binary(b"\0\xFFbytes".to_vec());
        echo_date(EchoDateRequest input_date) output_date: "2002-02-22T02:02:02Z".parse()?;
        echo_hex_binary(EchoHexBinaryRequest input_hex_binary) output_hex_binary: HexBinary(b"\0\xFFbytes".to_vec());
        echo_decimal(EchoDecimalRequest input_decimal) output_decimal: "12345.67891".parse()?;
        echo_boolean(EchoBooleanRequest input_boolean) output_boolean: true;
    }
    let nothing = base::EchoStringRequest { input_string: None };
    tell("nil", &None, client.echo_string(&nothing).await.map(|response| response.output_string), wrong);
    tell("echo_void", &base::EchoVoidResponse {}, client.echo_void(&base::EchoVoidRequest {}).await, wrong);
    Ok(())
}

async fn of_group_b(url: &str, version: Version, wrong: &mut u32) -> Result<(), Box<dyn Error>> {
    use group_b::xsd::{ArrayOfString2D, ArrayOfstring, SoapArrayStruct, SoapStruct, SoapStructStruct};
    let client = group_b::InteropGroupBClient::new(url)?.with_options(in_version(version));
    let structure = SoapStruct { var_string: Some("text".into()), var_int: Some(42), var_float: Some(0.5) };
    let items = ["00", "01", "02", "10", "11", "12"].map(str::to_owned);
    echo! { client, wrong, group_b,
        echo2_d_string_array(Echo2DStringArrayRequest input2_d_string_array) r#return:
            ArrayOfString2D(Array::new(vec![2, 3], items.clone()).ok_or("six items are two rows of three")?);
        echo_nested_struct(EchoNestedStructRequest input_struct) r#return: SoapStructStruct {
            var_string: Some("outer".into()),
            var_int: Some(1),
            var_float: Some(2.5),
            var_struct: Some(structure.clone()),
        };
        echo_nested_array(EchoNestedArrayRequest input_struct) r#return: SoapArrayStruct {
            var_string: Some("outer".into()),
            var_int: Some(1),
            var_float: Some(2.5),
            var_array: Some(ArrayOfstring::from(vec!["a".to_owned(), "b".to_owned()])),
        };
    }
    let SoapStruct { var_string, var_int, var_float } = structure.clone();
    let simple = group_b::EchoStructAsSimpleTypesResponse {
        output_string: var_string.clone(),
        output_integer: var_int,
        output_float: var_float,
    };
    let request = group_b::EchoStructAsSimpleTypesRequest { input_struct: Some(structure.clone()) };
    tell("echo_struct_as_simple_types", &simple, client.echo_struct_as_simple_types(&request).await, wrong);
    let request = group_b::EchoSimpleTypesAsStructRequest {
        input_string: var_string,
        input_integer: var_int,
        input_float: var_float,
    };
    let came = client.echo_simple_types_as_struct(&request).await.map(|response| response.r#return);
    tell("echo_simple_types_as_struct", &Some(structure), came, wrong);
    Ok(())
}
