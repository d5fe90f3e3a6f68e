//! The second version of the contract: wrappers have the names of their operations, and arrays have no element
//! around them.

use castile::codegen::{FromXml, ToXml};
use castile::{Fault, Request, Response};
use castile_load::Case;

use super::{SIZES, Service, string};
use crate::case::{body, of_body, operation_named};

/// The contract, generated.
pub mod contract {
    castile::include_contract!("benchmark1_round2");
}

use contract::*;

/// The path of the service.
pub const PATH: &str = "/benchmark1/round2";

/// The name of this version in reports.
const STYLE: &str = "round2";

impl Benchmark for Service {
    async fn echo_void(&self, _: Request<EchoVoid>) -> Result<Response<EchoVoidResponse>, Fault> {
        Ok(EchoVoidResponse {}.into())
    }

    async fn echo_ints(&self, request: Request<EchoInts>) -> Result<Response<EchoIntsResponse>, Fault> {
        Ok(EchoIntsResponse { echo_ints_return: request.into_inner().input }.into())
    }

    async fn echo_doubles(&self, request: Request<EchoDoubles>) -> Result<Response<EchoDoublesResponse>, Fault> {
        Ok(EchoDoublesResponse { echo_doubles_return: request.into_inner().input }.into())
    }

    async fn echo_strings(&self, request: Request<EchoStrings>) -> Result<Response<EchoStringsResponse>, Fault> {
        Ok(EchoStringsResponse { echo_strings_return: request.into_inner().input }.into())
    }

    async fn echo_mesh_interface_objects(
        &self,
        request: Request<EchoMeshInterfaceObjects>,
    ) -> Result<Response<EchoMeshInterfaceObjectsResponse>, Fault> {
        Ok(EchoMeshInterfaceObjectsResponse { item: request.into_inner().input }.into())
    }

    async fn echo_simple_events(
        &self,
        request: Request<EchoSimpleEvents>,
    ) -> Result<Response<EchoSimpleEventsResponse>, Fault> {
        Ok(EchoSimpleEventsResponse { echo_simple_events_return: request.into_inner().input }.into())
    }
}

/// Returns the cases of the first version, with the same names.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![echo("echoVoid".into(), "echoVoid", EchoVoid {}, |_, _: &EchoVoidResponse| true)];
    for size in SIZES {
        let numbers = 0..size;
        let name = |operation: &str| format!("{operation}-{size}");
        let request = EchoInts { input: numbers.clone().collect() };
        cases.push(echo(name("echoInts"), "echoInts", request, |sent, answer: &EchoIntsResponse| {
            answer.echo_ints_return == sent.input
        }));
        let request = EchoDoubles { input: numbers.clone().map(f64::from).collect() };
        cases.push(echo(name("echoDoubles"), "echoDoubles", request, |sent, answer: &EchoDoublesResponse| {
            answer.echo_doubles_return == sent.input
        }));
        let request = EchoStrings { input: numbers.clone().map(string).collect() };
        cases.push(echo(name("echoStrings"), "echoStrings", request, |sent, answer: &EchoStringsResponse| {
            answer.echo_strings_return == sent.input
        }));
        let operation = "echoMeshInterfaceObjects";
        let request = EchoMeshInterfaceObjects { input: numbers.clone().map(mesh).collect() };
        cases.push(echo(name(operation), operation, request, |sent, answer: &EchoMeshInterfaceObjectsResponse| {
            answer.item == sent.input
        }));
        let operation = "echoSimpleEvents";
        let request = EchoSimpleEvents { input: numbers.map(event).collect() };
        cases.push(echo(name(operation), operation, request, |sent, answer: &EchoSimpleEventsResponse| {
            answer.echo_simple_events_return == sent.input
        }));
    }
    cases
}

fn mesh(i: i32) -> MeshInterfaceObject {
    let super::contract::MeshInterfaceObject { x, y, value } = super::mesh(i);
    MeshInterfaceObject { x, y, value }
}

fn event(i: i32) -> SimpleEvent {
    let super::contract::SimpleEvent { sequence_number, timestamp, message } = super::event(i);
    SimpleEvent { sequence_number, timestamp, message }
}

fn echo<Q: ToXml + Send + Sync + 'static, R: FromXml + 'static>(
    name: String,
    operation: &str,
    request: Q,
    is_right: impl Fn(&Q, &R) -> bool + Send + Sync + 'static,
) -> Case {
    let operation = operation_named(&BENCHMARK_OPERATIONS, operation);
    let body = body(operation, &request);
    let case = of_body("benchmark1", PATH, name, operation, body, move |answer: &R| is_right(&request, answer));
    Case { style: Some(STYLE.into()), ..case }
}
