//! The second version of the contract: wrappers have the names of their operations, and arrays have no element
//! around them.

use castile::{Fault, Request, Response};
use castile_load::Case;

use super::{SIZES, Service, string};
use crate::case::Port;
use crate::client::Counting;

/// The contract, generated.
pub mod contract {
    castile::include_contract!("benchmark1_round2");
}

use contract::*;

/// The path of the service.
pub const PATH: &str = "/benchmark1/round2";

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

const PORT: Port<BenchmarkClient<Counting>> = Port {
    suite: "benchmark1",
    style: Some("round2"),
    path: PATH,
    operations: &BENCHMARK_OPERATIONS,
    client: BenchmarkClient::with_transport,
};

/// Returns the cases of the first version, with the same names.
pub fn cases() -> Vec<Case> {
    let void = PORT.raw("echoVoid", "", (EchoVoid {}, EchoVoidResponse {}));
    std::iter::once(void).chain(SIZES.into_iter().flat_map(of_size)).collect()
}

fn of_size(size: i32) -> [Case; 5] {
    let of_size = format!("-{size}");
    let ints: Vec<i32> = (0..size).collect();
    let doubles: Vec<f64> = (0..size).map(f64::from).collect();
    let strings: Vec<String> = (0..size).map(string).collect();
    let objects: Vec<MeshInterfaceObject> = (0..size).map(mesh).collect();
    let events: Vec<SimpleEvent> = (0..size).map(event).collect();
    let ints = (EchoInts { input: ints.clone() }, EchoIntsResponse { echo_ints_return: ints });
    let doubles = (EchoDoubles { input: doubles.clone() }, EchoDoublesResponse { echo_doubles_return: doubles });
    let strings = (EchoStrings { input: strings.clone() }, EchoStringsResponse { echo_strings_return: strings });
    let objects =
        (EchoMeshInterfaceObjects { input: objects.clone() }, EchoMeshInterfaceObjectsResponse { item: objects });
    let events =
        (EchoSimpleEvents { input: events.clone() }, EchoSimpleEventsResponse { echo_simple_events_return: events });
    [
        PORT.raw("echoInts", &of_size, ints),
        PORT.raw("echoDoubles", &of_size, doubles),
        PORT.raw("echoStrings", &of_size, strings),
        PORT.raw("echoMeshInterfaceObjects", &of_size, objects),
        PORT.raw("echoSimpleEvents", &of_size, events),
    ]
}

fn mesh(i: i32) -> MeshInterfaceObject {
    let super::contract::MeshInterfaceObject { x, y, value } = super::mesh(i);
    MeshInterfaceObject { x, y, value }
}

fn event(i: i32) -> SimpleEvent {
    let super::contract::SimpleEvent { sequence_number, timestamp, message } = super::event(i);
    SimpleEvent { sequence_number, timestamp, message }
}
